"""How the code is laid out: its layers as CONTRIBUTING draws them, and what some modules must not import."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
_FOLDERS = {"salvo": "client_sdk", "salvo_server": "server"}


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
