"""Each command loads with the optional part that it names, and without it names what to install."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from importlib.metadata import packages_distributions, requires
from typing import Final

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from salvo.cli.listing import Listed
from salvo.system import plugins
from salvo.system.distribution import NAME, PACKAGES

pytestmark = pytest.mark.long

COMMANDS: Final[dict[str, Listed]] = {
    name: command
    for package in filter(plugins.found(plugins.COMMANDS).__contains__, PACKAGES)
    for name, command in plugins.load(plugins.COMMANDS, package, dict).items()
    if isinstance(command, Listed)
}
PARTS: Final = sorted({command.extra for command in COMMANDS.values()})
#: Prints what each command's import raises, empty if nothing; the given modules are as if they were not installed.
LOAD: Final = """
import json, sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

missing, names = map(json.loads, sys.argv[1:])
sys.meta_path.insert(0, Missing())
import click
from salvo.cli import cli
from salvo.errors import SalvoError

errors = {}
for name in names:
    try:
        errors[name] = "" if cli.get_command(click.Context(cli), name) else "no such command"
    except SalvoError as error:
        errors[name] = str(error)
print(json.dumps(errors))
"""


def _installed(part: str) -> set[str]:
    """Return the distributions that pip installs with a part; the base alone with an empty one."""
    found: set[tuple[str, str]] = set()
    wanted = [(NAME, "")] + [(NAME, part)] * bool(part)
    while wanted:
        name, extra = wanted.pop()
        if (name, extra) in found:
            continue
        found.add((name, extra))
        for requirement in map(Requirement, requires(name) or ()):
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                wanted += [(canonicalize_name(requirement.name), each) for each in ("", *requirement.extras)]
    return {name for name, _ in found}


@cache
def _errors(part: str) -> dict[str, str]:
    installed = _installed(part)
    missing = [
        module
        for module, distributions in packages_distributions().items()
        if installed.isdisjoint(map(canonicalize_name, distributions))
    ]
    words = [sys.executable, "-c", LOAD, json.dumps(missing), json.dumps(list(COMMANDS))]
    errors: dict[str, str] = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    return errors


@pytest.mark.long
@pytest.mark.parametrize("part", PARTS, ids=lambda part: part or "base")
def test_a_command_loads_with_the_optional_part_that_it_names(part: str) -> None:
    loaded = {name for name, error in _errors(part).items() if not error}
    assert {name for name, command in COMMANDS.items() if command.extra in ("", part)} <= loaded


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name, command in COMMANDS.items() if command.extra])
def test_a_command_without_its_optional_part_names_what_installs_it(name: str) -> None:
    wanted = f'missing_extra: salvo {name} needs an optional part: pip install "{NAME}[{COMMANDS[name].extra}]"'
    assert _errors("")[name] == wanted
