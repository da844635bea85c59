"""What docstrings name exists: each entry under ``Args`` is a parameter, each under ``Attributes`` an attribute."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = [
    path
    for folder in ("client_sdk", "server")
    for path in (ROOT / folder).rglob("*.py")
    if "_pb2" not in path.name and "node_modules" not in path.parts
]


def _entries(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, section: str) -> Iterator[str]:
    """Yield the names that a section of a docstring describes."""
    found = re.search(rf"(?m)^{section}:\n((?: {{4}}.*\n?|\n)+)", ast.get_docstring(node) or "")
    for names in re.findall(r"(?m)^ {4}(\w+(?:, \w+)*): ", found[1] if found else ""):
        yield from names.split(", ")


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    given = node.args
    more = [each for each in (given.vararg, given.kwarg) if each is not None]
    return {each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs, *more)}


def _attributes(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> set[str]:
    """Return all names in the body of a class and of its bases in the same module."""
    bases = [classes[base.id] for base in node.bases if isinstance(base, ast.Name) and base.id in classes]
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    names |= {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
    names |= {each.name for each in ast.walk(node) if isinstance(each, ast.FunctionDef)}
    return names.union(*(_attributes(base, classes) for base in bases))


def _strangers(text: str) -> list[str]:
    tree = ast.parse(text)
    classes = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found += [f"{node.name}: {name}" for name in _entries(node, "Args") if name not in _parameters(node)]
        elif isinstance(node, ast.ClassDef):
            known = _attributes(node, classes)
            found += [f"{node.name}: {name}" for name in _entries(node, "Attributes") if name not in known]
    return found


def test_docstrings_describe_the_parameters_and_attributes_that_exist() -> None:
    assert len(SOURCES) > 300
    strangers = {str(path.relative_to(ROOT)): _strangers(path.read_text(encoding="utf-8")) for path in SOURCES}
    assert {path: names for path, names in strangers.items() if names} == {}


def test_a_docstring_that_describes_a_former_name_is_found() -> None:
    assert _strangers('def f(new):\n    """Do.\n\n    Args:\n        old: gone.\n    """\n') == ["f: old"]
    assert _strangers('class C:\n    """A.\n\n    Attributes:\n        old: gone.\n    """\n    new: int\n') == [
        "C: old"
    ]
