"""How the code is laid out: its layers as CONTRIBUTING draws them, and how much of it the core is."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from functools import cache
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
_FOLDERS = {"salvo": "client_sdk", "salvo_server": "server"}
_NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


@pytest.mark.parametrize("package", _FOLDERS)
def test_the_picture_of_the_layers_is_the_contract(package: str) -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    [layers] = [each["layers"] for each in contracts if each.get("containers") == [package]]
    drawn = CONTRIBUTING.partition(f"    {_FOLDERS[package]}/{package}/\n")[2].partition("\n\n")[0]
    assert [re.split(r"\s{2,}", line.strip())[0] for line in drawn.splitlines()] == layers


@pytest.mark.parametrize("package", _FOLDERS)
def test_every_module_stands_in_a_layer(package: str) -> None:
    drawn = CONTRIBUTING.partition(f"    {_FOLDERS[package]}/{package}/\n")[2].partition("\n\n")[0]
    named = {name for line in drawn.splitlines() for name in re.split(r"\s{2,}", line.strip())[0].split(" | ")}
    folder = ROOT / _FOLDERS[package] / package
    found = {path.stem for path in folder.glob("[a-z]*.py")} | {
        path.parent.name for path in folder.glob("*/__init__.py")
    }
    assert found - {"v1"} == named


def test_the_ten_files_to_read_first_have_the_lines_that_are_told() -> None:
    told = re.findall(r"^\| `(\S+\.py)` \| (\d+) \|", CONTRIBUTING, re.MULTILINE)
    assert len(told) == 10
    for name, lines in told:
        assert abs(len((ROOT / name).read_text().splitlines()) - int(lines)) <= 50, name


@pytest.mark.parametrize(
    ("module", "package", "most"),
    [
        ("salvo_server.service", "salvo_server", 2880),
        ("salvo_server.service", "salvo", 3000),
        ("salvo.client", "salvo", 5750),
    ],
)
def test_what_is_imported_stays_small(module: str, package: str, most: int) -> None:
    """Lines of code, without comments and docstrings, of all that a module imports, directly or not."""
    imported = _graph().find_upstream_modules(module) | {module}
    packages = {name.rsplit(".", depth)[0] for name in imported for depth in range(1, name.count(".") + 1)}
    assert sum(_lines(name) for name in imported | packages if name.split(".")[0] == package) <= most


def test_only_one_environment_of_templates_escapes_what_the_server_puts_into_html() -> None:
    used: dict[str, set[str]] = {}
    for path in sorted((ROOT / "server").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            found = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            found += [f"{node.module}"] if isinstance(node, ast.ImportFrom) else []
            for name in found:
                used.setdefault(name.partition(".")[0], set()).add(path.name)
    assert used["jinja2"] == {"rendering.py"}
    assert not used.keys() & {"html", "markupsafe"}


def test_a_command_that_makes_no_page_imports_no_templates() -> None:
    code = "import sys, salvo_server.cli as c; c.cli(['--help'], standalone_mode=False); import salvo_server.cli.replay"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; print('jinja2' in sys.modules)"], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "False"


@cache
def _graph() -> grimp.ImportGraph:
    return grimp.build_graph(*_FOLDERS)


def _lines(module: str) -> int:
    path = ROOT / _FOLDERS[module.split(".")[0]] / module.replace(".", "/")
    text = (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text()
    code = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in _NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(code - _docstrings(text))


def _docstrings(text: str) -> set[int]:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, documented) and ast.get_docstring(node)]
    return {line for node in nodes for line in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)}
