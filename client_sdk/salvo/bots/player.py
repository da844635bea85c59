"""What a team writes: a function, or a class with a few methods.

    @salvo.bot
    def fire(view):
        return view.untouched.sample(view.shots)

Nothing here knows about MQTT, secrets or timeouts: the same bot plays in the arena and in a contest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import islice
from random import Random
from typing import Any, ClassVar, Final, NamedTuple, Protocol, TypeGuard

from salvo.errors import BotError, IllegalCommand, shown
from salvo.messages import PlayerStats, SalvoResolved
from salvo.rules import Fleet, Grid, Repeats, RuleBook, Targets, generator
from salvo.view import Shot, View, board_shots

ShotList = Sequence[tuple[str, int, int]]
Answer = ShotList | Awaitable[ShotList]

#: The most unsent chat lines that a bot may have: as many as a server accepts at once (SALVO-CHAT-4).
MAX_UNSAID: Final = 5


class Line(NamedTuple):
    """A chat line of a bot; ``to`` is empty for everybody."""

    sender: str
    text: str
    to: str


class Bot:
    """A player. Overriding :meth:`choose_salvo` is enough.

    Attributes:
        name: the name at the table.
        random: the only source of randomness a bot should use; same seed, same game.
        unsaid: lines from :meth:`say` that are not sent yet; None before the first line.
    """

    name: str = "bot"
    random: Random
    unsaid: deque[Line] | None = None

    def prepare(self, name: str, seed: int | str, game: int = 1) -> None:
        """Take a seat, before each game. Yours calls ``super().prepare(name, seed, game)`` first.

        Args:
            seed: for this player and this game alone, see :func:`salvo.rules.own_seed`.
        """
        self.name = name
        self.random = generator(seed, name, game)

    def place_fleet(self, rules: RuleBook) -> Fleet:
        """Return the fleet to play with; by default a random one.

        Another is ``salvo.Fleet(rules, [salvo.Placement("carrier", 1, 1, salvo.Orientation.HORIZONTAL), ...])``.
        """
        return rules.random_fleet(self.random)

    def choose_salvo(self, view: View) -> Answer:
        """Return up to ``view.shots`` shots, each (player, x, y), or none to give up the turn; may be ``async``."""
        raise BotError("bad_bot", f"{type(self).__name__} has no choose_salvo(view)")

    def on_result(self, result: SalvoResolved) -> None:
        """Learn the result of any player's salvo, which the view already has."""

    def on_game_over(self, winner: str | None, stats: Mapping[str, PlayerStats]) -> None:
        """Learn how the game ended.

        ``winner`` is empty after a tie, and None if the host has aborted the game (SALVO-HOST-5). ``stats`` has
        ``shots``, ``hits``, ``sunk``, ``turns`` and ``place`` by player.
        """

    def on_message(self, sender: str, text: str, private: bool) -> None:
        """Receive another player's chat line, public or private; ``sender`` is empty for the server."""

    def close(self) -> None:
        """Release resources outside this process, after the last game."""

    def say(self, text: str, to: str = "") -> None:
        """Send a line to everybody, or to one other player; it goes when the calling method has returned (SALVO-CHAT).

        Of more than five lines from one method, only the last five are sent; if chat is off, none.
        """
        if self.unsaid is None:
            self.unsaid = deque(maxlen=MAX_UNSAID)
        self.unsaid.append(Line(self.name, text, to))


class FunctionBot(Bot):
    """A bot made of one function by :func:`bot`."""

    function: ClassVar[Callable[[View], Answer]]

    def choose_salvo(self, view: View) -> Answer:
        return type(self).function(view)


def bot(function: Callable[[View], Answer]) -> type[Bot]:
    """Make a bot of a function that takes a view and returns shots."""
    members: dict[str, Any] = {
        "function": staticmethod(function),
        "__doc__": function.__doc__,
        "__module__": function.__module__,
    }
    return type(function.__name__, (FunctionBot,), members)


class TurnLimits(Protocol):
    """What a salvo is checked against: a :class:`~salvo.view.View`, or a picture of one."""

    @property
    def rules(self) -> RuleBook: ...
    @property
    def me(self) -> str: ...
    @property
    def players(self) -> tuple[str, ...]: ...
    @property
    def shots(self) -> int: ...
    @property
    def fired_this_turn(self) -> tuple[Shot, ...]: ...
    def marks(self, player: str) -> dict[tuple[int, int], bool]: ...


def check_salvo(shots: object, view: TurnLimits) -> tuple[Shot, ...]:
    """Return a bot's answer as shots, whatever sequences and whole numbers it is made of (:meth:`Grid.cell`).

    Raises:
        BotError: ``bad_salvo``, with what was wrong and what is allowed.
    """
    if not _is_sequence(shots):
        hint = "; did you forget return?" if shots is None else ""
        raise BotError("bad_salvo", f"a salvo is a list of (player, x, y), not {shown(shots)}{hint}")
    if len(shots) > view.shots:
        raise BotError("bad_salvo", f"{len(shots)} shots; this turn has {view.shots}")
    checked = tuple(_check_shot(shot, view) for shot in islice(shots, len(shots)))  # which need not end by itself
    if view.rules.repeats is Repeats.REFUSED:
        _check_repeats(checked, view)
    return checked


def _check_repeats(shots: Sequence[Shot], view: TurnLimits) -> None:
    seen = set(view.fired_this_turn)
    for shot in shots:
        if shot in seen or (shot.x, shot.y) in view.marks(shot.player):
            cell = view.rules.grid.name(view.rules.grid.cell(shot.x, shot.y))
            raise BotError("bad_salvo", f"{cell} of {shot.player} was shot at before; view.untouched has what was not")
        seen.add(shot)


def _check_shot(shot: object, view: TurnLimits) -> Shot:
    if not _is_sequence(shot) or len(shot) != 3:
        raise BotError("bad_salvo", f"a shot is (player, x, y), not {shown(shot)}{_as_shot(shot, view.rules.grid)}")
    player, x, y = shot
    if player not in view.players:
        raise BotError("bad_salvo", f"no player {shown(player)}; the players are {', '.join(view.players)}")
    if player == view.me and view.rules.targets is Targets.OTHERS:
        raise BotError("bad_salvo", f"the rules {view.rules.name!r} do not allow shots at your own board")
    grid = view.rules.grid
    try:
        cell = grid.cell(x, y)
    except IllegalCommand:
        allowed = f"x is 1..{grid.width} and y is 1..{grid.height}, whole numbers counted from 1"
        raise BotError("bad_salvo", f"{shown(shot)} is off the grid; {allowed}") from None
    return board_shots(view.players[view.players.index(player)], grid)[cell]


def _is_sequence(value: object) -> TypeGuard[Sequence[Any]]:
    return issubclass(type(value), Sequence) and not issubclass(type(value), (str, bytes))


def _as_shot(name: object, grid: Grid) -> str:
    """Return how to write a cell that was given by its name, such as ``B3``; empty for anything else."""
    try:
        x, y = grid.at(name) if isinstance(name, str) else (0, 0)
    except IllegalCommand:
        return ""
    return f"; {name} is (player, {x}, {y}): view.rules.grid.at({name!r}) returns ({x}, {y})" if x else ""
