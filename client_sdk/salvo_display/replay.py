"""A game as a row of pictures: what the referee, or one player, sees after every salvo.

Every onlooker gets news and nothing else, and draws its frames from them. :func:`news_for` alone decides which news
each one gets. A player's frames are drawn from its :class:`salvo.view.View`, the same that its bot would have
had, so what the view does not know is in no frame.
"""

from __future__ import annotations

import string
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Final, NamedTuple

from salvo import messages as m
from salvo.codec.header import Header
from salvo.errors import SalvoError
from salvo.messages import State
from salvo.rules import Fleet, Order, Placement, Repeats, RuleBook
from salvo.view import Feed, Shot, View
from salvo_display.boards.marks import Mark, picture
from salvo_game.table_step import Step

#: The view that knows everything.
REFEREE: Final = "referee"


class ReplayError(SalvoError):
    """A view or a turn that the game does not have."""


class ShipPlaced(NamedTuple):
    """A player's ship is here now."""

    player: str
    placement: Placement


class Fired(NamedTuple):
    """A shot that counted; in a round it is news when it is accepted."""

    player: str
    shot: Shot


ReplayNews = m.Announcement | ShipPlaced | Fired


@dataclass(frozen=True, slots=True)
class Sea:
    """One player's board and figures, as an onlooker knows them.

    Attributes:
        marks: one letter a cell.
        latest: cells that the last salvo fell on.
        last: hits of the player's last salvo, such as ``2 of 5``.
        fate: why the player is out; None while it is not.
    """

    marks: str
    afloat: tuple[str, ...]
    sunk: tuple[str, ...] = ()
    shots: int = 0
    hits: int = 0
    last: str = ""
    fate: m.Fate | None = None
    latest: frozenset[int] = frozenset()

    @property
    def out(self) -> bool:
        """Whether the player is out."""
        return self.fate is not None


@dataclass(frozen=True, slots=True)
class Frame:
    """The game after a salvo.

    Attributes:
        turn: how many turns have ended; 0 before the first.
        at: when that was, epoch ms.
        clock: milliseconds since the first turn began, without a host's breaks.
        allowed: how many shots the salvo could have had.
        result: what came of it; None before the first.
        fired: its shots, where the onlooker knows them, and what is known of each.
        notes: what else happened since the frame before, such as refusals.
        current: who is to fire next; empty when the game is over.
        shots: how many shots that player has.
        seas: by player, in play order.
        winner: once the game is over; empty after a tie, and if a host has aborted the game.
        tied: who shares the first place then.
        places: by player, once the game is over.
    """

    turn: int
    at: int
    clock: int
    allowed: int
    result: m.SalvoResolved | None
    fired: tuple[tuple[Shot, Mark], ...]
    notes: tuple[str, ...]
    current: str
    shots: int
    seas: Mapping[str, Sea]
    winner: str = ""
    tied: tuple[str, ...] = ()
    places: Mapping[str, int] = field(default_factory=dict)


# --- which news each onlooker gets --------------------------------------------------------------------------------


def ship_letter(number: int) -> str:
    """Return the letter of a fleet's ship, by its number from 0 on, on the referee's boards (SALVO-VIEW-5).

    A fleet with more ships than letters gives its last ones the same letter.
    """
    return string.ascii_lowercase[min(number, 25)]


def news_for(view: str, step: Step, book: RuleBook) -> list[ReplayNews]:
    """Return an onlooker's news of a step, in the order of the announcements.

    A player gets public and private announcements, and of its own commands those that counted, as its recap has them
    (SALVO-JOIN-7).
    """
    knows_all, in_rounds = view == REFEREE, book.order is Order.ROUNDS
    news: list[ReplayNews] = []
    for announcement in step.announcements:
        match announcement, step.command:
            case m.ShotAccepted(player, to, x, y), _ if knows_all or player == view:
                news.append(Fired(player, Shot(to, x, y)))
            case m.ShotLanded(to, x, y), m.Fire(player=player) if not in_rounds and (knows_all or player == view):
                news.append(Fired(player, Shot(to, x, y)))
            case m.PlacementJudged(player, _, True), m.PlaceShip(placement=placement) if knows_all or player == view:
                news.append(ShipPlaced(player, placement))
        if knows_all or getattr(announcement, "to", view) == view:
            news.append(announcement)
    return news


# --- onlookers ----------------------------------------------------------------------------------------------------


class Onlooker(ABC):
    """Draws frames from news; this half handles the public ones.

    Attributes:
        frames: one before the first salvo and one after each.
        names: who takes part.
        stats: figures by player, once the game is over.
        fleets: by player, those that are known from the beginning.
        revealed: by player, those that the rules show when the game is over.
    """

    def __init__(self, header: Header) -> None:
        self.book: RuleBook = header.rules.book
        self.frames: list[Frame] = []
        self.names: tuple[str, ...] = ()
        self.stats: dict[str, m.PlayerStats] = {}
        self.fleets: dict[str, Fleet] = {}
        self.revealed: dict[str, Fleet] = {}
        self._game = header.game
        self._seas: dict[str, Sea] = {}
        self._next = Frame(0, 0, 0, 0, None, (), (), "", 0, {})
        self._resolved = False
        self._begun_at: int | None = None
        self._paused = False
        self._breaks = 0  # ms since then
        self._notes: list[str] = []
        self._removed: set[str] = set()
        self._allowed: dict[int, int] = {}  # shots by turn

    def receive(self, at: int, news: Iterable[ReplayNews]) -> None:
        """Take in the news of a time, epoch ms."""
        if self._begun_at is None:
            clock = 0
        else:
            self._breaks += at - self._next.at if self._paused else 0
            clock = at - self._begun_at - self._breaks
        self._next = replace(self._next, at=at, clock=clock)
        hosted = False
        for announcement in news:
            hosted = hosted or isinstance(announcement, m.HostActed)
            if not (hosted and isinstance(announcement, m.TurnResumed)):
                self._apply(announcement)
        self._draw()

    def _apply(self, news: ReplayNews) -> None:
        match news:
            case m.PlayersListed(names):
                self.names = names
            case m.StateChanged(State.TURN):
                self._begin()
            case m.TurnBegan():
                self._turn_began(news)
            case m.TurnResumed():
                self._notes.append("the turn's time was restarted after an outage")
            case m.SalvoResolved():
                self._draw()
                self._salvo(news)
            case m.FleetRevealed(player, placements) if player not in self.fleets:
                self.revealed[player] = Fleet(self.book, placements)
            case m.PlayerStats(player=player):
                self.stats[player] = news
            case m.GameWon(winner, tied):
                in_order = sorted(self.stats.items(), key=lambda pair: pair[1].place)
                places = {player: one.place if news.winners else 0 for player, one in in_order}
                self._next = replace(self._next, winner=winner, tied=tied, places=places)
                if not news.winners:
                    self._abort()
            case m.HostActed():
                self._host_acted(news)
            case m.CommandRefused(code="removed"):
                pass  # said by what the host has done, in the third person
            case m.CommandRefused(to, code, text) | m.PlacementRefused(to, _, code, text) if self._begun_at is not None:
                self._notes.append(f"{to}: {code}: {text}")
            case _:
                pass

    def _host_acted(self, acted: m.HostActed) -> None:
        self._paused = acted.paused
        if self._begun_at is None:
            return
        self._notes.append(str(acted))
        if acted.do is m.HostAction.REMOVE:
            self._removed.add(acted.team)

    def _begin(self) -> None:
        ships = tuple(ship.name for ship in self.book.fleet)
        self._seas = {name: Sea(Mark.BLANK * self.book.grid.size, ships) for name in self.names}

    def _abort(self) -> None:
        """End the game with the last frame there is, for no salvo ends it; one that was taken already comes again."""
        self._next = replace(self._next, current="", shots=0)
        if self.frames and not self._resolved:
            self.frames.pop()
        self._resolved = True

    def _turn_began(self, turn: m.TurnBegan) -> None:
        if self._begun_at is None:
            self._begun_at = turn.now
            self._resolved = True  # the frame before the first salvo
        self._allowed[turn.turn] = turn.shots
        if self.frames and not (self._resolved or self.frames[-1].current):  # a pause was between (SALVO-PACE-1)
            self.frames[-1] = replace(self.frames[-1], current=turn.player, shots=turn.shots)
        self._next = replace(self._next, current=turn.player, shots=turn.shots)

    def _salvo(self, result: m.SalvoResolved) -> None:
        self._resolved = True
        self._next = replace(
            self._next,
            turn=result.turn,
            allowed=self._allowed[result.turn],
            result=result,
            fired=self.take_fired(result),
            current="",
            shots=0,
        )
        shooter = self._seas[result.player]
        score = f"{result.hits} of {result.shots}"
        self._change(result.player, shots=shooter.shots + result.shots, hits=shooter.hits + result.hits, last=score)
        for ship in result.sunk:
            self._sunk(ship.player, ship.ship)
        for player in result.defeated:
            self._change(player, fate=result.fate(player, self._removed))

    def _sunk(self, player: str, ship: str) -> None:
        sea = self._seas[player]
        self._change(player, afloat=tuple(other for other in sea.afloat if other != ship), sunk=(*sea.sunk, ship))

    def _change(self, player: str, **changed: object) -> None:
        self._seas[player] = replace(self._seas[player], **changed)  # type: ignore[arg-type]

    def _draw(self) -> None:
        """Finish the frame of the last salvo, with all that was announced right after it."""
        if not self._resolved:
            return
        self._resolved = False
        for player in self._seas:
            marks, latest = self.look_at(player)
            self._change(player, marks=marks, latest=latest)
        self.frames.append(replace(self._next, seas=dict(self._seas), notes=tuple(self._notes)))
        self._notes.clear()

    @abstractmethod
    def take_fired(self, result: m.SalvoResolved) -> tuple[tuple[Shot, Mark], ...]:
        """Return the salvo's shots as far as they are known here, and what is known of each."""

    @abstractmethod
    def look_at(self, player: str) -> tuple[str, frozenset[int]]:
        """Return a player's board as it is known here, and which cells the last salvo fell on."""


class RefereeOnlooker(Onlooker):
    """Knows every fleet and every shot."""

    def __init__(self, header: Header) -> None:
        super().__init__(header)
        self._ships: dict[str, dict[str, Placement]] = {}
        self._fleets: dict[str, bytes] = {}  # as boards
        self._struck: dict[str, set[int]] = {}
        self._fired: dict[str, list[Shot]] = {}  # not resolved yet, by player
        self._salvo_of: dict[str, set[int]] = {}

    def _apply(self, news: ReplayNews) -> None:
        match news:
            case m.PlayerLeft(player):
                self._ships.pop(player, None)
            case ShipPlaced(player, placement):
                self._ships.setdefault(player, {})[placement.ship] = placement
            case Fired(player, shot):
                self._draw()
                self._fired.setdefault(player, []).append(shot)
            case _:
                super()._apply(news)

    def _begin(self) -> None:
        super()._begin()
        self.fleets = {name: Fleet(self.book, list(self._ships[name].values())) for name in self.names}
        self._fleets = {name: fleet.board for name, fleet in self.fleets.items()}
        self._struck = {name: set() for name in self.names}

    def take_fired(self, result: m.SalvoResolved) -> tuple[tuple[Shot, Mark], ...]:
        fired = self._fired.pop(result.player, [])
        self._salvo_of = {name: set() for name in self.names}
        marked = []
        for shot in fired:
            cell, struck = self.book.grid.cell(shot.x, shot.y), self._struck[shot.player]
            counts = cell not in struck or self.book.repeats is not Repeats.MISS
            struck.add(cell)
            self._salvo_of[shot.player].add(cell)
            marked.append((shot, Mark.HIT if counts and self._fleets[shot.player][cell] else Mark.MISS))
        return tuple(marked)

    def look_at(self, player: str) -> tuple[str, frozenset[int]]:
        marks = picture(self._fleets[player], self._struck[player])
        return marks, frozenset(self._salvo_of.get(player, ()))


class PlayerOnlooker(Onlooker):
    """Knows what one player may know, and draws it from that player's view."""

    def __init__(self, header: Header, me: str) -> None:
        super().__init__(header)
        self._me = me
        self._ships: dict[str, Placement] = {}
        self._view: View | None = None
        self._aimed: dict[str, dict[int, Mark]] = {}
        self._landed = 0
        self._salvo_of: dict[str, set[int]] = {}

    def _apply(self, news: ReplayNews) -> None:
        match news:
            case m.PlayerLeft(player) if player == self._me:
                self._ships.clear()
            case ShipPlaced(_, placement):
                self._ships[placement.ship] = placement
            case Fired(_, shot):
                self._draw()
                assert self._view is not None
                Feed(self._view).fired([shot])
            case m.ShotLanded(to, x, y):
                self._draw()
                assert self._view is not None
                Feed(self._view).landed(Shot(to, x, y))
            case _:
                super()._apply(news)

    def _begin(self) -> None:
        super()._begin()
        self.fleets = {self._me: Fleet(self.book, list(self._ships.values()))}
        self._view = View(self.book, self._me, self.names, self._game, self.fleets[self._me], Random(0))

    def _turn_began(self, turn: m.TurnBegan) -> None:
        super()._turn_began(turn)
        assert self._view is not None
        Feed(self._view).begin_turn(turn.turn, turn.shots if turn.player == self._me else 0)

    def take_fired(self, result: m.SalvoResolved) -> tuple[tuple[Shot, Mark], ...]:
        view = self._view
        assert view is not None
        Feed(view).resolved(result)
        self._salvo_of = {name: set() for name in self.names}
        for x, y in view.incoming[self._landed :]:
            self._salvo_of[self._me].add(self.book.grid.cell(x, y))
        self._landed = len(view.incoming)
        marked = self._known_shots(result, view)
        for (player, x, y), mark in marked:
            cell = self.book.grid.cell(x, y)
            aimed = self._aimed.setdefault(player, {})
            if aimed.get(cell) is not Mark.HIT:  # a repeated shot that is called a miss undoes no hit
                aimed[cell] = mark
            self._salvo_of[player].add(cell)
        return marked

    def _known_shots(self, result: m.SalvoResolved, view: View) -> tuple[tuple[Shot, Mark], ...]:
        """Return the player's own shots, and those of others where cells are public."""
        if result.aims_if_announced is not None:
            shots = tuple(Shot(*aim) for aim in result.aims_if_announced)
        elif result.player == self._me:
            shots = view.salvos[-1].shots
        else:
            return ()
        marks = [Mark.FIRED] * len(shots)
        if result.outcomes_if_announced is not None:
            marks = [Mark.HIT if hit else Mark.MISS for hit in result.outcomes_if_announced]
        return tuple(zip(shots, marks, strict=True))

    def look_at(self, player: str) -> tuple[str, frozenset[int]]:
        view = self._view
        assert view is not None
        latest = frozenset(self._salvo_of.get(player, ()))
        if player == self._me:
            return picture(view.fleet.board, {self.book.grid.cell(x, y) for x, y in view.incoming}), latest
        aimed = self._aimed.get(player, {})
        if player in self.revealed:
            return picture(self.revealed[player].board, set(aimed)), latest
        return "".join(aimed.get(cell, Mark.BLANK) for cell in range(self.book.grid.size)), latest


# --- the whole game -----------------------------------------------------------------------------------------------


class Replay:
    """A game that can be watched from every side.

    Attributes:
        name: the file, or the game of a journal.
        players: in play order; those at the table while the game has not begun.
        views: the names of its views.
    """

    def __init__(self, name: str, header: Header, steps: Iterable[Step]) -> None:
        """Execute a game's steps."""
        self.name = name
        self.header = header
        self._steps = [step._replace(publications=(), text="") for step in steps]
        self._onlookers: dict[str, Onlooker] = {}
        self.players = self._look(RefereeOnlooker(header), REFEREE).names
        self.views = (REFEREE, *self.players)

    @property
    def steps(self) -> Sequence[Step]:
        """The game's steps, without the messages that a server sends for them."""
        return self._steps

    @property
    def turns(self) -> int:
        """How many salvos there were."""
        return max(0, len(self.frames(REFEREE)) - 1)

    def frames(self, view: str) -> Sequence[Frame]:
        """Return what a view sees, turn by turn, from turn 0.

        Raises:
            ReplayError: ``unknown_view``.
        """
        return self.onlooker(view).frames

    def onlooker(self, view: str) -> Onlooker:
        """Return the onlooker that has seen the whole game with a view.

        Raises:
            ReplayError: ``unknown_view``.
        """
        if view not in self._onlookers:
            if view not in self.views:
                raise ReplayError("unknown_view", f"no view {view[:40]!r}; the views are {', '.join(self.views)}")
            self._look(PlayerOnlooker(self.header, view), view)
        return self._onlookers[view]

    def frame(self, view: str, turn: int) -> Frame:
        """Return what a view sees after a turn.

        Raises:
            ReplayError: ``unknown_view``, ``unknown_turn`` or ``not_begun``.
        """
        frames = self.frames(view)
        if not frames:
            at_table = ", ".join(self.players) or "nobody"
            raise ReplayError("not_begun", f"{self.name}: the game has not begun; at the table: {at_table}")
        if not 0 <= turn < len(frames):
            raise ReplayError(
                "unknown_turn", f"no turn {turn}; the turns are 0, before the first salvo, to {self.turns}"
            )
        return frames[turn]

    def show(self, onlookers: Mapping[str, Onlooker]) -> None:
        """Let onlookers receive the whole game in parallel, each the news of its view."""
        for step in self._steps:
            for view, onlooker in onlookers.items():
                onlooker.receive(step.at, news_for(view, step, self.header.rules.book))

    def _look(self, onlooker: Onlooker, view: str) -> Onlooker:
        self.show({view: onlooker})
        self._onlookers[view] = onlooker
        return onlooker
