"""What all clients of one door share: the game that is offered, who gets which name, and who cannot come in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random
from threading import Lock
from typing import Final

from salvo.messages import State
from salvo.rules import RuleBook
from salvo_gateways.table_watch import TableNews, TableWatch
from salvo_gateways.xbs.name_registry import NamedClient, NameRegistry
from salvo_gateways.xbs.protocol_text import name_fault, seated_name, second_seated_name, write

#: Clients of 1.1 take 1.1 or later.
VERSION: Final = "2.0.0"
#: Players that a game takes.
FEWEST_PLAYERS: Final = 2
#: A client that wants to join waits for a result that stays no longer than this; the system's own server has none.
MAX_REOPENING_SECONDS: Final = 5
#: What the log has of a turn without a shot; the client reads it of its result.
OUT_OF_TIME: Final = "out of time"
#: What clients are answered, and the log has once a second each.
ANSWERS: Final = frozenset(
    {
        *("game is full", "game is already started", "invalid board", "protocol error", "invalid name"),
        *("name too long", "name in use", "the table does not answer", "the rules of this table have changed"),
        *("game hasn't started", "it is not your turn!", "invalid target player name", "don't shoot at yourself!"),
        *("illegal coordinates", "that spot has already been shot", "chat is off", OUT_OF_TIME),
    }
)


@dataclass(frozen=True, slots=True)
class Doorway:
    """What all clients of one door share.

    Attributes:
        title: what ``G`` calls the game.
        most: players that make the game full where the table sets no number.
    """

    book: RuleBook
    title: str
    most: int
    company: NameRegistry = field(default_factory=NameRegistry)
    random: Random = field(default_factory=Random)
    _admission: Lock = field(default_factory=Lock)

    def bounds(self, news: TableNews) -> tuple[int, int]:
        """Return with how many players the game can start, and how many make it full."""
        return (FEWEST_PLAYERS, self.most) if news.wanted is None else (news.wanted, news.wanted)

    def reopens(self, news: TableNews) -> bool:
        """Whether the last game is over and the next lobby about to open."""
        soon = news.rules is not None and news.rules.over_seconds <= MAX_REOPENING_SECONDS
        return news.state is State.OVER and soon

    def game_info(self, news: TableNews) -> str:
        """Return the message ``G``."""
        book, reopens = self.book, self.reopens(news)
        joined = 0 if reopens else len(news.players)
        least, most = self.bounds(news)
        return write(
            "G",
            VERSION,
            self.title,
            "N" if news.state is State.LOBBY or reopens else "Y",
            least,
            max(most, joined),  # clients believe in no game with more players than fit
            joined,
            book.goal,
            book.grid.width,
            book.grid.height,
            len(book.fleet),
            *(f"{ship.name.upper()}{ship.length}" for ship in book.fleet),
        )

    def hint(self, answer: str, news: TableNews) -> str:
        """Return what is likely to help a client with this answer; empty where nothing is known."""
        match answer:
            case "game is full" if news.wanted is None:
                return f"a game takes {self.most} without salvo serve --players"
            case "game is full":
                return f"a game has {news.wanted} players by salvo serve --players, or by a host"
            case "game is already started" if news.state is State.OVER and news.rules is not None:
                over = f"a result stands for {news.rules.over_seconds} s"
                return f"{over}: salvo serve --over-seconds {MAX_REOPENING_SECONDS} lets clients wait for the next game"
            case "invalid board":
                boats = " ".join(f"{ship.name.upper()}{ship.length}" for ship in self.book.fleet)
                size = f"{self.book.grid.width} x {self.book.grid.height}"
                return f"the rules {self.book.name} have {size} and {boats}: salvo serve --rules"
            case "name too long":
                return f"names have {self.book.grid.width} bytes, as many as boards have columns"
            case "the table does not answer":
                return "is its server there? --broker, --table"
            case _ if answer == OUT_OF_TIME and news.rules is not None:
                return f"a turn has {news.rules.turn_seconds} s, and people take longer: salvo serve --turn-seconds 300"
        return ""

    def seat_of(self, name: str, watch: TableWatch) -> str:
        """Return a client's name at the table, where spellings of one name exclude one another; here they do not."""
        seat, second = seated_name(name), second_seated_name(name)
        players = watch.news.players
        spellings = _spellings(seat, (*players, *self.company.names()))
        called = self.company.called(seat)
        taken = any(other != seat for other in spellings) or called not in ("", name)
        return second if second in players or taken or watch.spelled_otherwise(seat) else seat

    def admit(self, client: NamedClient, seat: str, news: TableNews, *, board: bool) -> str:
        """Give a client its name; return what to answer one that cannot join, else an empty text.

        Clients that come at once are admitted one after the other, since the table lists them only later.

        Args:
            board: whether it has given one that is legal, or needs none.
        """
        with self._admission:
            why = self._why_not(client.called, seat, news, board=board)
            return why or ("" if self.company.claim(seat, client) else write("E", "name in use"))

    def _why_not(self, name: str, seat: str, news: TableNews, *, board: bool) -> str:
        listed, fault = seat in news.players, name_fault(name, self.book.grid.width)
        there = {*news.players, *self.company.in_lobby()}
        if seat not in there and news.state is State.LOBBY and len(there) >= self.bounds(news)[1]:
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
