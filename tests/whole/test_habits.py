"""What no test may do, because a busy machine would fail it, or because nobody could move or delete it alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

_TESTS = Path(__file__).parents[1]
_WALL_CLOCKS = {"monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "time", "time_ns"}
#: What a test that reads one has in it; to parse the others would take seconds.
_CLOCK = re.compile(rf"\btime\.({'|'.join(_WALL_CLOCKS)})\b")
_IMPORT = re.compile(r"^ *from +([\w.]+) +import ", re.MULTILINE)


def _reads_the_clock(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and (node.func.value.id, node.func.attr in _WALL_CLOCKS) == ("time", True)
    )


def _is_elapsed(node: ast.AST, names: set[str]) -> bool:
    """Whether it is the clock less something, or a name that stands for that."""
    if isinstance(node, ast.Name):
        return node.id in names
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and _reads_the_clock(node.left)


def _elapsed_names(tree: ast.AST) -> set[str]:
    """Return what an elapsed time is assigned to, or appended to."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and _is_elapsed(node.value, set()):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        if isinstance(node, ast.Call) and any(_is_elapsed(each, set()) for each in node.args):
            called = node.func.value if isinstance(node.func, ast.Attribute) else None
            found |= {called.id} if isinstance(called, ast.Name) else set()
    return found


def _measurements(path: Path) -> Iterator[str]:
    text = path.read_text()
    if not _CLOCK.search(text):
        return
    tree = ast.parse(text)
    names = _elapsed_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and any(_is_elapsed(each, names) for each in ast.walk(node.test)):
            yield f"{path.relative_to(_TESTS)}, line {node.lineno}"


@pytest.mark.long
def test_no_test_asserts_how_long_something_took() -> None:
    """A bound on waiting for an event is none: the clock is compared with an end there, and nothing is subtracted."""
    assert [found for path in _TESTS.rglob("test_*.py") for found in _measurements(path)] == []


@pytest.mark.long
def test_no_test_takes_helpers_from_another_test() -> None:
    """They are in ``tests/kit``, or in the package's folder in a module that is no test."""
    imports = [(path.name, module) for path in _TESTS.rglob("*.py") for module in _IMPORT.findall(path.read_text())]
    assert imports
    assert [each for each in imports if each[1].rpartition(".")[2].startswith("test_")] == []
