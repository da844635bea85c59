"""What all clients of one door share: the game that is offered, who gets which name, and who cannot come in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random
from typing import Final

from salvo.messages import State
from salvo.rules import RuleBook
from salvo_gateways.table_watch import TableNews, TableWatch
from salvo_gateways.xbs.name_registry import NameRegistry
from salvo_gateways.xbs.protocol_text import name_fault, seated_name, second_seated_name, write

#: Clients of 1.1 take 1.1 or later.
VERSION: Final = "2.0.0"
#: Players that a game takes.
FEWEST_PLAYERS: Final = 2
#: A client that wants to join waits for a result that stays no longer than this; the system's own server has none.
MAX_REOPENING_SECONDS: Final = 5


@dataclass(frozen=True, slots=True)
class Doorway:
    """What all clients of one door share.

    Attributes:
        title: what ``G`` calls the game.
        most: players that ``G`` allows, and that make the game full.
        least: players with which ``G`` says that the game can start.
    """

    book: RuleBook
    title: str
    most: int
    least: int = FEWEST_PLAYERS
    company: NameRegistry = field(default_factory=NameRegistry)
    random: Random = field(default_factory=Random)

    def reopens(self, news: TableNews) -> bool:
        """Whether the last game is over and the next lobby about to open."""
        soon = news.rules is not None and news.rules.over_seconds <= MAX_REOPENING_SECONDS
        return news.state is State.OVER and soon

    def game_info(self, news: TableNews) -> str:
        """Return the message ``G``."""
        book, reopens = self.book, self.reopens(news)
        joined = 0 if reopens else len(news.players)
        return write(
            "G",
            VERSION,
            self.title,
            "N" if news.state is State.LOBBY or reopens else "Y",
            self.least,
            max(self.most, joined),  # clients believe in no game with more players than fit
            joined,
            book.goal,
            book.grid.width,
            book.grid.height,
            len(book.fleet),
            *(f"{ship.name.upper()}{ship.length}" for ship in book.fleet),
        )

    def seat_of(self, name: str, watch: TableWatch) -> str:
        """Return a client's name at the table, where spellings of one name exclude one another; here they do not."""
        seat, second = seated_name(name), second_seated_name(name)
        players = watch.news.players
        spellings = _spellings(seat, (*players, *self.company.names()))
        called = self.company.called(seat)
        taken = any(other != seat for other in spellings) or called not in ("", name)
        return second if second in players or taken or watch.spelled_otherwise(seat) else seat

    def why_not(self, name: str, seat: str, news: TableNews, *, board: bool) -> str:
        """Return what to answer a client that cannot join; empty for one that can.

        Args:
            board: whether it has given one that is legal, or needs none.
        """
        listed, fault = seat in news.players, name_fault(name, self.book.grid.width)
        if not listed and news.state is State.LOBBY and len(news.players) >= self.most:
            return "game is full"
        if fault:
            return write("E", fault)
        if not listed and news.state is not State.LOBBY:
            return "game is already started"
        return "" if board else "invalid board"


def _spellings(name: str, names: Iterable[str]) -> list[str]:
    return [other for other in names if other.lower() == name.lower()]


class Taunts:
    """The texts that one client has set for who shoots at it."""

    #: Of each kind; more are forgotten.
    MOST: Final = 100

    def __init__(self) -> None:
        self._texts: dict[str, tuple[str, ...]] = {"hit": (), "miss": ()}

    def add(self, kind: str, text: str) -> None:
        """Add a text for ``hit`` or ``miss``; an empty one clears them, and other kinds are ignored."""
        texts = self._texts.get(kind.lower())
        if texts is None:
            return
        if not text:
            self._texts[kind.lower()] = ()
        elif len(texts) < self.MOST:
            self._texts[kind.lower()] = (*texts, text)

    def draw(self, kind: str, random: Random) -> str:
        """Return one of the texts; empty when there is none."""
        texts = self._texts[kind]
        return random.choice(texts) if texts else ""
