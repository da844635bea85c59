"""Errors in a table of a machine: every transition dropped, and every field of it exchanged by others of its column."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from mutants.mutators import Mutant, Slot


class _Cell(NamedTuple):
    """One field of a row."""

    column: str
    slot: Slot


class _Row(NamedTuple):
    """One row: the ``at``-th element of each list, which are two in a dict; ``parts`` are its keys and its value."""

    lists: tuple[list[ast.expr], ...]
    at: int
    parts: list[Slot]
    cells: list[_Cell]

    @property
    def line(self) -> int:
        line: int = self.parts[-1].node.lineno
        return line

    @property
    def text(self) -> str:
        return ": ".join(ast.unparse(part.node) for part in self.parts)


def transition_mutants(file: str, source: str, table: str) -> Iterator[Mutant]:
    """Yield the errors in a table: a tuple, list, set or dict at the level of the module.

    Its rows are calls (of a named tuple), tuples or single values; a dict's key is a field of its row, and a dict of
    dicts has rows with two keys.

    Raises:
        ValueError: there is no such table, or it is not written out.
    """
    tree = ast.parse(source)
    rows = list(_rows(_find(tree, table)))
    for row in rows:
        yield Mutant(file, row.line, table, row.text, "no such row", partial(_without, tree, row))
    columns: defaultdict[str, dict[str, ast.expr]] = defaultdict(dict)
    for row in rows:
        for cell in row.cells:
            columns[cell.column].setdefault(ast.unparse(cell.slot.node), cell.slot.node)
    for row in rows:
        for cell in row.cells:
            yield from _exchanged(file, table, tree, row, cell, columns[cell.column])


def _without(tree: ast.Module, row: _Row) -> str:
    taken = [each.pop(row.at) for each in row.lists]
    text = ast.unparse(tree)
    for each, value in zip(row.lists, taken, strict=True):
        each.insert(row.at, value)
    return text


def _exchanged(
    file: str, table: str, tree: ast.Module, row: _Row, cell: _Cell, column: dict[str, ast.expr]
) -> Iterator[Mutant]:
    original, before = cell.slot.node, row.text
    for text, other in column.items():
        if text != ast.unparse(original):
            after = cell.slot.written_with(other, lambda: row.text)
            write = partial(cell.slot.written_with, other, partial(ast.unparse, tree))
            yield Mutant(file, row.line, table, before, after, write)


def _find(tree: ast.Module, table: str) -> ast.expr:
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(name)], value=value) | ast.AnnAssign(
                ast.Name(name), value=ast.expr() as value
            ):
                if name == table:
                    return value
    raise ValueError(f"no table {table}")


def _rows(node: ast.expr, keys: tuple[_Cell, ...] = ()) -> Iterator[_Row]:
    match node:
        case ast.Call(args=[ast.Tuple() | ast.List() | ast.Set() | ast.Dict() as inner], keywords=[]):
            yield from _rows(inner, keys)  # a frozenset, or a read-only view
        case ast.Tuple(elts) | ast.List(elts) | ast.Set(elts):
            for index in range(len(elts)):
                yield _Row((elts,), index, [Slot(node, "elts", index)], _cells(node, "elts", index))
        case ast.Dict(names, values):
            for index, value in enumerate(values):
                own = (*keys, _Cell(f"key {len(keys)}", Slot(node, "keys", index)))
                if isinstance(value, ast.Dict):
                    yield from _rows(value, own)
                else:
                    parts = [*(key.slot for key in own), Slot(node, "values", index)]
                    yield _Row((names, values), index, parts, [*own, *_cells(node, "values", index)])  # type: ignore[arg-type]
        case _:
            raise ValueError(f"a table has to be written out, row by row: {ast.unparse(node)[:60]}")


def _cells(owner: ast.AST, name: str, index: int) -> list[_Cell]:
    match getattr(owner, name)[index]:
        case ast.Call(ast.Name("frozenset" | "set")):
            pass
        case ast.Call(args=args, keywords=keywords) as row:
            named = [_Cell(each.arg or "", Slot(each, "value", None)) for each in keywords]
            return [_Cell(f"{number}", Slot(row, "args", number)) for number in range(len(args))] + named
        case ast.Tuple(elts) as row:
            return [_Cell(f"{number}", Slot(row, "elts", number)) for number in range(len(elts))]
    return [_Cell("value", Slot(owner, name, index))]
