"""Games with rude names and large ones, and the page of a game as a program reads it."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from typing import Any

from kit.golden_games import ALICE, AT_BOB, BOB, play
from salvo.badges import Badge
from salvo.rules import SALVO, Fleet, Grid, ShipClass, Shots, generator, random_fleet
from salvo_display.replay import Replay

#: What somebody might call himself to get out of wherever a name stands.
RUDE = "</script></style>--><img src=x onerror=alert(1)>\"'&amp;"


class Read(HTMLParser):
    """A page as it is read: its tags, and texts by the tag that they stand in.

    Attributes:
        unclosed: tags that are open at its end, or were closed out of order.
    """

    _VOID = frozenset(("meta", "br", "link", "img"))

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.texts: list[tuple[str, str]] = []
        self.unclosed: list[str] = []
        self._tag = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self._tag = tag
        self.tags.append((tag, dict(attrs)))
        if tag not in self._VOID:
            self.unclosed.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self._tag = ""
        if self.unclosed[-1:] == [tag]:
            self.unclosed.pop()

    def handle_data(self, data: str) -> None:
        self.texts.append((self._tag, data))

    def shown(self, *tags: str) -> str:
        return " ".join(" ".join(text for tag, text in self.texts if not tags or tag in tags).split())


@cache
def large_game() -> Replay:
    """Return the beginning of a game of 8 players with 26 ships on 26 x 26."""
    ships = tuple(ShipClass(f"ship{number}", 2 + number % 5) for number in range(26))
    book = replace(SALVO, name="ocean", grid=Grid(26, 26), fleet=ships, shots=Shots.ONE)
    names = [f"bot{seat}" for seat in range(8)]
    fleets = {name: random_fleet(book, generator(7, name)) for name in names}
    random = generator(7, "shots")
    aims = [(random.choice(names), *book.grid.xy(random.randrange(book.grid.size))) for _ in range(400)]
    return play(fleets, [(names[turn % 8], *aim) for turn, aim in enumerate(aims)], book, every_ms=10)


def rude_game() -> Replay:
    book = replace(SALVO, name=RUDE)
    script = [(RUDE if by == "alice" else by, RUDE if at == "alice" else at, x, y) for by, at, x, y in AT_BOB]
    fleets = {RUDE: Fleet(book, ALICE.placements), "bob": Fleet(book, BOB.placements)}
    return play(fleets, script, book)


def badges_on(page: str) -> dict[str, Badge]:
    """Return the badges that a page draws beside names, and make sure that it draws one of each name only."""
    drawn = r'class="badge c(\d+)"[^>]*><use href="#e(\d+)"/></svg>\s*(?:<[^>]+>)*([\w-]+)'
    found = {(name, Badge(int(colour), int(emblem))) for colour, emblem, name in re.findall(drawn, page)}
    badges = dict(found)
    assert len(found) == len(badges), found
    return badges
