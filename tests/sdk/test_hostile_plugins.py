"""Packages that add what cannot be used: each is named, and ends no command that does without it."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import pytest

from kit.command_line import run
from kit.patches import Patch
from salvo.bots.player import Bot
from salvo.system import plugins
from salvo.system.plugins import PluginError
from salvo_lab.bots.hunter import Hunter

EVIL = """
import sys
import click


class Lies:
    @property
    def __class__(self):
        raise RuntimeError("it has no class")


class Closed(dict):
    def items(self):
        raise RuntimeError("it has no items")


class Silent(click.Command):
    def get_short_help_str(self, limit=45):
        raise RuntimeError("it has no help")


class Quiet(Exception):
    def __str__(self):
        raise ValueError


lies, closed, silent = Lies(), Closed(), Silent("silent")
number, numbers, unnamed = 3, {"number": 3}, {3: silent}


def __getattr__(name):
    if name == "exits":
        sys.exit("\\x1b]0;owned\\x07")
    if name == "quiet":
        raise Quiet
    if name == "endless":
        return __getattr__(name)
    raise AttributeError(name)
"""
HOSTILE = ("lies", "exits", "quiet", "endless", "number", "missing")


class Installed:
    """All that is installed, and one thing more."""

    def __init__(self, added: EntryPoint) -> None:
        self._added = added

    def select(self, group: str) -> list[EntryPoint]:
        return [*entry_points(group=group), *([self._added] if self._added.group == group else [])]


@pytest.fixture
def add(tmp_path: Path, monkeypatch: Patch) -> Iterator[Any]:
    """Let a package add what the module ``evil`` has."""
    (tmp_path / "evil.py").write_text(EVIL)
    monkeypatch.syspath_prepend(tmp_path)

    def install(group: str, what: str, name: str = "") -> None:
        monkeypatch.setattr(plugins, "_installed", lambda: Installed(EntryPoint(name or what, f"evil:{what}", group)))
        plugins.found.cache_clear()

    yield install
    sys.modules.pop("evil", None)
    plugins.found.cache_clear()


@pytest.mark.parametrize("what", HOSTILE)
def test_what_a_package_adds_in_vain_is_an_error_with_its_name(what: str, add: Any) -> None:
    add(plugins.BOTS, what)
    with pytest.raises(PluginError, match=f"bad_plugin: bot {what} of a package ") as caught:
        plugins.load(plugins.BOTS, what, Bot)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("what", [*HOSTILE, "closed", "silent", "numbers", "unnamed"])
def test_no_command_of_a_package_ends_the_help(what: str, add: Any) -> None:
    add(plugins.COMMANDS, what)
    done = run("--help")
    assert done.returncode == 0, done.stderr
    assert "play" in done.stdout
    named = run("numbers" if what == "numbers" else what)
    assert (named.returncode, "Traceback" in named.stderr) == ({"silent": 0}.get(what, named.returncode or 99), False)


def test_a_package_takes_no_name_of_ours(add: Any, caplog: pytest.LogCaptureFixture) -> None:
    add(plugins.BOTS, "exits", "hunter")
    with caplog.at_level(logging.WARNING):
        assert plugins.load(plugins.BOTS, "hunter", Bot) is Hunter
    assert "bot hunter of a package is skipped: another package already adds hunter" in caplog.text


def test_what_lies_about_its_class_ends_a_command_without_that_defence(add: Any, monkeypatch: Patch) -> None:
    monkeypatch.setattr(plugins, "quietly", lambda look, otherwise: look())
    add(plugins.BOTS, "lies")
    with pytest.raises(RuntimeError):
        plugins.load(plugins.BOTS, "lies", Bot)
