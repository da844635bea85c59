"""A person who plays at a terminal."""

from __future__ import annotations

import contextlib
import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kit import players
from kit.processes import without_settings
from kit.terminal import Terminal
from salvo.rules import RuleBook
from salvo.rules.board import BoardRules
from salvo_server.contest import Contest
from salvo_server.settings import ServerSettings

SALVO = str(Path(sysconfig.get_path("scripts")) / "salvo")


#: A game that is soon over by the rules of a book.
POND = """\
name = "pond"
like = "{}"
width = 8
height = 6
[fleet]
cruiser = 3
raft = 1
"""


#: By which a page would be opened on the screen of whoever runs the tests.
_WINDOWS = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")


def clean_environment(folder: Path) -> dict[str, str]:
    """The environment of a person without settings and without a window."""
    clean = {name: value for name, value in without_settings().items() if name not in _WINDOWS}
    return clean | {"XDG_STATE_HOME": str(folder / "state"), "XDG_CONFIG_HOME": str(folder / "config")}


def square_of(rules: BoardRules, x: int, y: int) -> list[str]:
    """The keys that lead to a square: its row's letter, its column's digits."""
    return list(rules.grid.name(rules.grid.cell(x, y)))


def shoot_cells(person: Terminal, book: RuleBook, left: list[tuple[int, int]]) -> str:
    turn, longest = 0, 0
    while True:
        page = person.until(lambda text: "q: exit" in text or turn_of(text)[0] > turn)  # noqa: B023
        if "q: exit" in page:  # the last line: all of the page is drawn
            assert page.startswith("End")
            return page
        turn, shots = turn_of(page)
        longest = max(longest, shots)
        salvo, left = left[:shots], left[shots:]
        for x, y in salvo:
            person.press(*square_of(book, x, y), "enter")
        if shots > 1 and salvo:
            person.until_seen(f"{len(salvo)} of {shots} shots chosen")
            person.press("f")
        if len(salvo) < shots and book.skipping:
            person.until_seen(f"{shots - len(salvo)} shots left" if salvo else "your turn")
            person.press("s")
        assert longest <= book.longest_salvo


def turn_of(page: str) -> tuple[int, int]:
    """Turn and shots that the title line tells when it is the person's turn; else zeros."""
    title = re.match(r"Your turn .*turn (\d+) +(\d+) shot", page)
    return (int(title[1]), int(title[2])) if title is not None else (0, 0)


def pond_file(folder: Path, like: str) -> str:
    file = folder / "pond.toml"
    file.write_text(POND.format(like))
    return str(file)


@contextlib.contextmanager
def contest_on(folder: Path, like: str = "streak", **settings: Any) -> Iterator[str]:
    """A server with its own broker, for games of two; gives its address."""
    given = {"listen": "127.0.0.1:0", "profile": "open", "players": 2, "over_seconds": 60, "journal": "none"}
    contest = Contest(ServerSettings(**{**given, "rules": pond_file(folder, like), **settings}))
    try:
        with contest.in_background():
            yield contest.url
    finally:
        players.send_all_home()
