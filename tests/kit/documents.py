"""The documents that people read, and the blocks of code in them."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
#: The pages for teams and for organisers, in the order in which their readers come.
TEAMS = tuple(
    DOCS / f"{name}.md" for name in ("bot", "measure", "rules", "any-language", "join", "play-yourself", "replay")
)
ORGANISERS = tuple(
    DOCS / f"{name}.md"
    for name in (
        *("evening", "accounts", "brokers", "docker", "watching", "host", "monitoring", "settings"),
        *("recovery", "standby", "standings", "fairness", "troubleshooting", "attacks", "gateways"),
        *("league", "tournament"),
    )
)
#: Those whose commands are run.
GUIDES = (README, *TEAMS, *ORGANISERS)
#: The tutorial for authors of clients.
FIRST_CLIENT = DOCS / "first-client.md"

_BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A block of code, without the indentation that a list gives it."""

    language: str
    text: str


def blocks(document: Path) -> list[Block]:
    """Return all blocks of code, in order."""
    return [Block(language, dedent(text)) for _, language, text in _BLOCK.findall(document.read_text())]


def prose(document: Path) -> str:
    """Return the text without its blocks of code."""
    return _BLOCK.sub("", document.read_text())
