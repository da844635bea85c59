"""Where a game and the person meet: the game runs on a separate thread, the screen on the main one.

Both only put messages down and pick up the other's. The game sends :data:`News`, the person an :data:`Answer`; all of
them are immutable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from random import Random
from threading import Event, Thread
from typing import Final, TypeVar

from salvo.errors import Interruption
from salvo.rules import Fleet, RuleBook
from salvo.view import Shot
from salvo_lab.human.snapshot import Snapshot

_Wanted = TypeVar("_Wanted")
#: How long a game's thread may take to end when the person leaves; a bot may never return.
_GOODBYE_SECONDS: Final = 3.0


class PersonLeft(Interruption):
    """The person has left: the game's thread ends."""


# --- what the game tells ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RulesTold:
    """The rules of the table, which it has before a game is joined.

    Attributes:
        turn_seconds: how long a turn may take.
    """

    rules: RuleBook
    turn_seconds: int


@dataclass(frozen=True, slots=True)
class PlaceFleet:
    """The person is to place a fleet.

    Attributes:
        random: to fill the rest of a fleet with; belongs to the person from here on.
        awaited: whether a host has drawn the game, so that rivals wait for the fleet.
    """

    rules: RuleBook
    me: str
    game: int
    random: Random
    awaited: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """How the game stands; with ``sight.shots`` it is the person's turn."""

    sight: Snapshot


@dataclass(frozen=True, slots=True)
class Notice:
    """What came of a salvo, or anything else in a line.

    Attributes:
        player: who has fired; empty for anything else.
        turn: of the salvo; 0 for anything else.
    """

    text: str
    player: str = ""
    turn: int = 0


@dataclass(frozen=True, slots=True)
class GameOver:
    """The game is over.

    Attributes:
        winner: empty after a tie, and after a host has aborted the game.
        fleets: by player, where the rules show them.
        again: whether the person may begin another one.
        command: replays the game, or plays it again; empty where nothing does.
        page: makes the page that replays it; None where there is none.
    """

    game: int
    winner: str
    places: Mapping[str, int]
    fleets: Mapping[str, Fleet] = field(default_factory=dict)
    again: bool = False
    aborted: bool = False
    command: str = ""
    page: Callable[[], str] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Revealed:
    """The fleets of a game that is over or about to be, by player: its log has revealed them."""

    game: int
    fleets: Mapping[str, Fleet]


@dataclass(frozen=True, slots=True)
class Clock:
    """Whose time runs.

    Attributes:
        player: whose turn it is; empty before the game, when all set up their fleets, and between two turns.
        deadline: on the monotonic clock; None where it is not known.
    """

    player: str = ""
    deadline: float | None = None


@dataclass(frozen=True, slots=True)
class LinkState:
    """Whether there is a connection, and a server behind it."""

    trouble: str


@dataclass(frozen=True, slots=True)
class Broken:
    """The game cannot go on."""

    error: BaseException


DeskMessage = RulesTold | PlaceFleet | Seen | Notice | GameOver | Revealed | Clock | LinkState | Broken


# --- what the person answers --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FiredSalvo:
    """Shots of a turn; none to skip what is left of it."""

    game: int
    turn: int
    shots: tuple[Shot, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A chat line.

    Attributes:
        to: the player who alone reads it; empty for everybody.
    """

    text: str
    to: str = ""


@dataclass(frozen=True, slots=True)
class Taunt:
    """What is said to anyone who hits, or misses, the person's board.

    Attributes:
        text: empty to say nothing any more.
    """

    hit: bool
    text: str


@dataclass(frozen=True, slots=True)
class Again:
    """Another game."""


@dataclass(frozen=True, slots=True)
class TakeBack:
    """The fleet that was placed in this lobby is to be placed again."""


@dataclass(frozen=True, slots=True)
class PersonLeaves:
    """The person goes."""


DeskAnswer = Fleet | FiredSalvo | Line | Taunt | Again | TakeBack | PersonLeaves


class Channel:
    """Holds news and answers until the other side picks them up.

    Attributes:
        wake: called after every answer, to wake a game that waits for something else, too; on the screen's thread.
        chat: whether the person may write a :class:`Line`.
        lobbies: whether a fleet may be changed until its game begins (:class:`TakeBack`).
        left: set when the person goes.
    """

    def __init__(self) -> None:
        self.wake: Callable[[], None] = lambda: None
        self.chat = self.lobbies = False
        self.left = Event()
        self._news: SimpleQueue[DeskMessage] = SimpleQueue()
        self._answers: SimpleQueue[DeskAnswer] = SimpleQueue()

    # --- the game's side

    def show(self, news: DeskMessage) -> None:
        """Tell the person."""
        self._news.put(news)

    def wait(self, wanted: type[_Wanted]) -> _Wanted:
        """Return the next answer of a wanted kind; others came too late.

        Raises:
            PersonLeft: nobody will answer any more.
        """
        while True:
            answer = self._answers.get()
            if isinstance(answer, PersonLeaves):
                raise PersonLeft
            if isinstance(answer, wanted):
                return answer

    def answers(self) -> list[DeskAnswer]:
        """Return what was answered since the last time, without waiting.

        Raises:
            PersonLeft: nobody will answer any more.
        """
        answers = _all_of(self._answers)
        if any(isinstance(answer, PersonLeaves) for answer in answers):
            raise PersonLeft
        return answers

    # --- the person's side

    def news(self) -> list[DeskMessage]:
        """Return the news since the last time."""
        return _all_of(self._news)

    def answer(self, answer: DeskAnswer) -> None:
        """Answer the game."""
        if isinstance(answer, PersonLeaves):
            self.left.set()
        self._answers.put(answer)
        self.wake()


@contextmanager
def game_thread(desk: Channel, play: Callable[[], None]) -> Iterator[Thread]:
    """Yield the thread on which a game is played, not started yet; the end of the block ends the game.

    Args:
        play: plays games over the channel, and ends by ``PersonLeft``; whatever else it raises is news.
    """
    game = Thread(target=_play, args=(desk, play), name="game", daemon=True)
    try:
        yield game
    finally:
        desk.answer(PersonLeaves())
        if game.is_alive():
            game.join(_GOODBYE_SECONDS)


def _play(desk: Channel, play: Callable[[], None]) -> None:
    try:
        play()
    except PersonLeft:
        pass
    except BaseException as error:
        desk.show(Broken(error))


_Each = TypeVar("_Each")


def _all_of(queue: SimpleQueue[_Each]) -> list[_Each]:
    taken: list[_Each] = []
    while True:
        try:
            taken.append(queue.get_nowait())
        except Empty:
            return taken
