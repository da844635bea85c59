"""What people read is plain English: phrases that readers stumbled over stay away."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator

import click
import pytest

from documents import ROOT, prose
from salvo.errors import CODES
from salvo_server.cli import COMMANDS

#: Each with what an English text says instead.
_INSTEAD = {
    "is told": "gets, is reported, is announced",
    "are told": "get, are reported, are announced",
    "anew": "again",
    "whoever": "anyone who",
    "looks on": "watches",
    "look on": "watch",
    "for ever": "until ..., permanently",
    "trying on": "retrying",
    "tries on": "retries",
    "furnish": "provision",
    "vouches for": "signs",
    "house bot": "built-in bot",
    "goes nowhere": "is discarded",
    "a bot to begin with": "a starter bot",
    "a laboratory on your laptop": "measuring your bot",
    "what was accepted is kept": "where accepted commands are stored",
    "somebody's noise": "invalid",
    "say who comes": "register the teams",
    "what sinks is told to all": "sunk ships are announced to everyone",
    "rooms of the house": "code layout",
    "let programs in": "accept clients",
    "is no key": "is not a key",
    "rule books?": "ruleset",
    "looking on": "watching",
    "known servers": "pinned server keys",
    "the contract": "the protocol specification",
    "drawn fleet": "random fleet",
    "fair draw": "chosen fairly",
    "is no team": "is not a team",
    "who still stands?": "still in the game",
    "by the wall": "in wall-clock time",
}
_DOCUMENTS = [
    *("README.md", "client_sdk/README.md", "server/README.md", "proto/README.md", "proto/CHANGELOG.md"),
    *(
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "docs/first-client.md",
        "docs/glossary.md",
        "docs/older-systems.md",
        "docs/scale.md",
    ),
]
_PAGES = sorted((ROOT / "server" / "salvo_server" / "spectate").rglob("*.j2"))


def _helps() -> Iterator[tuple[str, str]]:
    for name, text in COMMANDS.items():
        command = getattr(importlib.import_module(f"salvo_server.cli.{name}"), name)
        yield name, text
        yield from _help_of(name, command)


def _help_of(name: str, command: click.Command) -> Iterator[tuple[str, str]]:
    yield name, command.help or ""
    yield from ((f"{name} {each.name}", getattr(each, "help", None) or "") for each in command.params)
    if isinstance(command, click.Group):
        for part, inner in command.commands.items():
            yield from _help_of(f"{name} {part}", inner)


TEXTS = [
    *((path, prose(ROOT / path)) for path in _DOCUMENTS),
    *((str(path.relative_to(ROOT)), path.read_text()) for path in _PAGES),
    ("--help", "\n".join(f"{name}: {text}" for name, text in _helps())),
    ("error codes", "\n".join(f"{name}: {code.meaning}" for name, code in CODES.items())),
    ("fixes", (ROOT / "proto" / "error_codes.toml").read_text()),
]


@pytest.mark.parametrize(("name", "text"), TEXTS, ids=[name for name, _ in TEXTS])
def test_people_read_plain_english(name: str, text: str) -> None:
    found = [
        f"{phrase!r} (better: {better}): ...{match[0]}..."
        for phrase, better in _INSTEAD.items()
        for match in re.finditer(rf".{{0,40}}\b{phrase}\b.{{0,30}}", text.replace("\n", " "), re.IGNORECASE)
    ]
    assert not found, "\n".join([name, *found])


def test_there_is_text_to_read() -> None:
    assert len(TEXTS) >= 8
    assert all(len(text) > 400 for _, text in TEXTS[:4])
