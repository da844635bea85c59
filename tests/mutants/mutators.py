"""Small errors, planted one at a time.

Nothing is planted where it would be cosmetic: in the text of a message, a log call, an assertion, a decorator,
``__repr__``, an overload, or what only a type checker reads.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple

_COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_STATEMENTS: Final = (ast.stmt, ast.match_case, ast.excepthandler)
_TESTED: Final = (ast.If, ast.While, ast.IfExp)
_LOGS: Final = frozenset({"log", "_log", "logger", "_logger", "logging"})


class Key(NamedTuple):
    """What identifies a mutant in every version of its module."""

    file: str
    place: str
    before: str
    after: str


@dataclass(frozen=True)
class Mutant:
    """One planted error.

    Attributes:
        file: relative to the root, with slashes.
        place: the function, with its class; empty at the level of the module.
        before: the first line of the statement.
        write: returns the whole module with the error.
    """

    file: str
    line: int
    place: str
    before: str
    after: str
    write: Callable[[], str] = field(repr=False)

    @property
    def key(self) -> Key:
        """What identifies it in every version of its module."""
        return Key(self.file, self.place, self.before, self.after)


@dataclass(frozen=True)
class Slot:
    """Where a node hangs in a tree: ``getattr(parent, name)``, or its element ``at``."""

    parent: ast.AST
    name: str
    at: int | None

    @property
    def node(self) -> Any:
        """What hangs there."""
        held = getattr(self.parent, self.name)
        return held if self.at is None else held[self.at]

    def written_with(self, changed: ast.AST, write: Callable[[], str]) -> str:
        """Return what is written while another node hangs there."""
        original = self.node
        self._put(changed)
        try:
            return write()
        finally:
            self._put(original)

    def _put(self, node: ast.AST) -> None:
        if self.at is None:
            setattr(self.parent, self.name, node)
        else:
            getattr(self.parent, self.name)[self.at] = node


@dataclass(frozen=True)
class _Spot:
    """A part of a tree that may be replaced, and what it is in."""

    slot: Slot
    place: str
    statement: ast.AST
    returns_bool: bool


def mutants(file: str, source: str) -> Iterator[Mutant]:
    """Yield every error that can be planted in a module, in the order of its lines."""
    tree = ast.parse(source)
    for spot in _spots(tree, "", None, False):
        slot, original = spot.slot, spot.slot.node
        for changed in _changes(original, spot):
            shown = changed if original is spot.statement else spot.statement
            after = slot.written_with(changed, partial(header, shown))
            write = partial(slot.written_with, changed, partial(ast.unparse, tree))
            yield Mutant(file, getattr(original, "lineno", 0), spot.place, header(spot.statement), after, write)


def header(node: ast.AST) -> str:
    """Return a statement as one line, a compound one without its body."""
    lines = ast.unparse(node).splitlines()
    return next(line for line in lines if line and not line.startswith("@"))


def _spots(node: ast.AST, place: str, statement: ast.AST | None, returns_bool: bool) -> Iterator[_Spot]:
    for name, value in ast.iter_fields(node):
        if name in ("decorator_list", "type_params"):
            continue
        for index, child in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(child, ast.AST) or _is_cosmetic(child):
                continue
            within = child if isinstance(child, _STATEMENTS) else statement
            here, answers = place, returns_bool
            if isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
                here = f"{place}.{child.name}".lstrip(".")
                answers = isinstance(child, _FUNCTIONS) and _is_bool(child.returns)
            if within is not None:
                slot = Slot(node, name, index if isinstance(value, list) else None)
                yield _Spot(slot, here, within, answers)
            yield from _spots(child, here, within, answers)


def _is_cosmetic(node: ast.AST) -> bool:
    match node:
        case ast.JoinedStr() | ast.Assert():
            return True
        case ast.FunctionDef(name=name, decorator_list=decorators):
            return name == "__repr__" or any(
                ast.unparse(each) in ("overload", "typing.overload") for each in decorators
            )
        case ast.If(test=ast.Name("TYPE_CHECKING")):
            return True
        case ast.keyword(arg="strict" | "frozen" | "slots"):
            return True  # zip's strict is an assertion, too
        case ast.Call(func=ast.Attribute(value=ast.Name(name))):
            return name in _LOGS
        case ast.Expr(value=ast.Call() as call):
            return _is_cosmetic(call)
    return False


def _is_bool(annotation: ast.expr | None) -> bool:
    return annotation is not None and ast.unparse(annotation) in ("bool", "'bool'")


def _changes(node: ast.AST, spot: _Spot) -> Iterator[ast.AST]:
    """Yield what this part may be replaced by."""
    match node:
        case ast.Compare(left, ops, comparators):
            for number, op in enumerate(ops):
                yield ast.Compare(left, [*ops[:number], _COMPARISONS[type(op)](), *ops[number + 1 :]], comparators)
        case ast.BoolOp(op, values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
        case ast.UnaryOp(ast.Not(), operand) | ast.UnaryOp(ast.USub(), (ast.Name() | ast.Attribute()) as operand):
            yield operand
        case ast.BinOp(left, (ast.Add() | ast.Sub()) as op, right):
            yield ast.BinOp(left, _other_sign(op), right)
        case ast.AugAssign(target, (ast.Add() | ast.Sub()) as op, value):
            yield ast.AugAssign(target, _other_sign(op), value)
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()
    if _may_be_dropped(node, spot.place):
        yield ast.Pass()
    if _may_be_negated(node, spot):
        assert isinstance(node, ast.expr)
        yield ast.UnaryOp(ast.Not(), node)


def _other_sign(op: ast.operator) -> ast.operator:
    return ast.Sub() if isinstance(op, ast.Add) else ast.Add()


def _may_be_dropped(node: ast.AST, place: str) -> bool:
    """Whether it is a call, or an assignment to what lives longer; without one in ``__init__`` nothing would work."""
    match node:
        case ast.Expr(value=ast.Call() | ast.Await()):
            return True
        case (
            ast.Assign(targets=[target, *_])
            | ast.AugAssign(target=target)
            | ast.AnnAssign(target=target, value=ast.expr())
        ):
            return isinstance(target, (ast.Attribute, ast.Subscript)) and not place.endswith("__init__")
    return False


def _may_be_negated(node: ast.AST, spot: _Spot) -> bool:
    """Whether it decides, and no other error here says nearly the same."""
    if isinstance(node, (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Constant)) or not isinstance(node, ast.expr):
        return False
    if isinstance(spot.slot.parent, ast.Return):
        return spot.returns_bool
    return (isinstance(spot.slot.parent, _TESTED) and spot.slot.name == "test") or spot.slot.name == "ifs"
