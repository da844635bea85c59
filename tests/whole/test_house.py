"""How the code is laid out: its layers as CONTRIBUTING draws them, and what some modules must not import."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from salvo.system.distribution import PACKAGES

ROOT = Path(__file__).parents[2]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
_FOLDERS = {"salvo": "client_sdk", "salvo_game": "client_sdk", "salvo_lab": "client_sdk", "salvo_server": "server"}


def test_the_picture_of_the_packages_is_the_contract() -> None:
    [layers] = [each["layers"] for each in CONTRACTS if each["type"] == "layers" and "containers" not in each]
    picture = CONTRIBUTING.partition("    salvo_watch")[2].partition("\n\n")[0]
    drawn = [re.split(r"\s{2,}", line.strip())[0].split(" | ") for line in f"salvo_watch{picture}".splitlines()]
    here = [[name for name in layer if find_spec(name)] for layer in drawn]  # without an annex that was deleted
    assert [layer for layer in here if layer] == [layer.split(" | ") for layer in layers]
    assert sorted(name for layer in drawn for name in layer) == sorted(PACKAGES)


@pytest.mark.parametrize("package", _FOLDERS)
def test_every_module_stands_in_a_layer(package: str) -> None:
    [layers] = [contract["layers"] for contract in CONTRACTS if contract.get("containers") == [package]]
    folder = ROOT / _FOLDERS[package] / package
    found = {path.stem for path in folder.glob("[a-z]*.py")} | {
        path.parent.name for path in folder.glob("*/__init__.py")
    }
    assert found - {"v1"} == {name for layer in layers for name in layer.split(" | ")}


def test_only_one_environment_of_templates_escapes_what_the_server_puts_into_html() -> None:
    imports = re.compile(r"^\s*(?:from|import) (jinja2|html|markupsafe)\b", re.MULTILINE)
    used = {
        (path.name, name)
        for folder in ("server", "client_sdk")
        for path in (ROOT / folder).rglob("*.py")
        for name in imports.findall(path.read_text())
    }
    assert used == {("rendering.py", "jinja2")}


@pytest.mark.parametrize("words", [[], ["--help"], ["play", "random", "hunter", "--seed", "1"]], ids=" ".join)
def test_the_salvo_command_imports_no_heavy_package_that_it_does_not_need(words: list[str]) -> None:
    call = f"from salvo.cli import main\ntry: main({words})\nexcept SystemExit as end: assert not end.code"
    code = f"import sys, salvo\n{call if words else ''}\nprint('\\n', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "salvo" in loaded
    assert not loaded & {"google.protobuf", "rich", "textual", "sqlalchemy", "distributed", "paho.mqtt.client"}
    assert not loaded & {"asyncio", "multiprocessing"}
