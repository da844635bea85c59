"""Every ruleset through what stands beside the referee: recap and session, the referee's view, who watches.

The games are whole ones, on the boards of the books; everybody fires at random at what the rules allow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import TypeVar

import pytest

from kit.scripted_server import ScriptedServer
from salvo import messages as m
from salvo.codec.announcement_reader import read_announcement
from salvo.codec.announcements import Publication
from salvo.codec.recap_reader import read_recap
from salvo.codec.recap_writer import write_recap
from salvo.join.events import GameTakenUp
from salvo.join.session import Session
from salvo.messages import Draw, Limits, State
from salvo.rules import BOOKS, Announce, Ending, Fleet, Repeats, RuleBook, Sinkings, generator
from salvo.view import Shot, View
from salvo.wire import topics
from salvo.wire.seal import Sealer
from salvo_game.referee import Referee
from salvo_game.table import Table
from salvo_game.table_step import Step
from salvo_game.transcript import no_status
from salvo_server.spectators.referee_view import RefereeViews

SEALER = Sealer("secret", bytes(16))
_A = TypeVar("_A")
NOW = 1_760_000_000_000
#: Books that tell of each shot whether it was a hit, but not where it fell.
EACH_SHOT_ANNOUNCED = [
    replace(book, name=f"{book.name} each", announce=Announce.EACH_SHOT)
    for book in BOOKS.values()
    if book.announce is not Announce.CELLS
]
EVERY_BOOK = pytest.mark.parametrize("book", BOOKS.values(), ids=BOOKS)


@dataclass(frozen=True)
class Moment:
    """What came of a command, and the referee's snapshots."""

    step: Step
    snapshots: tuple[Publication, ...]


class Game:
    """A game at a table, with the referee's view."""

    def __init__(self, book: RuleBook, players: int, seed: int) -> None:
        self.random = Random(f"{book.name} {seed}")
        self.names = [f"team{number}" for number in range(players)]
        self.table = Table(Referee("11" * 32, "", book, Limits(players=players), 1, Draw.FAIR), no_status)
        self.views = RefereeViews()
        self.now = NOW
        self.table.open()
        self.moments: list[Moment] = []
        self.spent: set[Shot] = set()
        self.fleets: dict[str, Fleet] = {}
        for name in self.names:
            self.do(m.Participate(name, name.encode()))
        for name in self.names:
            self.fleets[name] = fleet = book.random_fleet(self.random)
            for number, placement in enumerate(fleet.placements):
                self.do(m.PlaceShip(name, placement.ship, placement, f"{name}{number}".encode().ljust(16)))

    @property
    def referee(self) -> Referee:
        return self.table.referee

    def do(self, command: m.Input) -> Step:
        self.now += 1
        step = self.table.carry_out(command, self.now)
        assert step.recorded, command
        self.moments.append(Moment(step, tuple(self.views.follow(self.table, step))))
        return step

    def targets(self, shooter: str) -> Iterator[Shot]:
        """Cells of players that stand, in a random order: those where nobody has fired, now and then after others."""
        game, grid = self.referee.game, self.referee.book.grid
        assert game is not None
        rivals = [p.name for p in self.referee.match.players.values() if p.name != shooter and not game.out[p.seat]]
        cells = [Shot(rival, *grid.xy(cell)) for rival in rivals for cell in range(grid.size)]
        self.random.shuffle(cells)
        if self.spent and self.referee.book.repeats is not Repeats.REFUSED and self.random.random() < 0.1:
            yield from (shot for shot in cells[:50] if shot in self.spent)
        yield from (shot for shot in cells if shot not in self.spent)

    def turn(self) -> None:
        """Let whoever is asked fire all shots; where it can be, now and then skip the rest."""
        referee = self.referee
        assert referee.game is not None
        assert referee.current is not None
        name, turn, shots = referee.current.name, referee.game.turn, referee.game.shots_left
        chosen = self.targets(name)
        for number in range(1, shots + 1):
            if referee.state is not State.TURN:
                return
            if referee.book.skipping and self.random.random() < 0.05:
                self.do(m.Skip(name, m.TurnContext(1, turn)))
                return
            shot = next(chosen, None) or Shot(next(n for n in self.names if n != name), 1, 1)
            self.spent.add(shot)
            self.do(m.Fire(name, *shot, m.ShotContext(1, turn, number, shot.player)))

    def play(self, turns: int = 10**9) -> Game:
        until = len(self.referee.results) + turns
        while self.referee.state is State.TURN and len(self.referee.results) < until:
            self.turn()
        return self


@cache
def finished(book: RuleBook, players: int = 3, seed: int = 1) -> Game:
    return Game(book, players, seed).play()


def announced(game: Game, kind: type[_A]) -> list[_A]:
    return [each for moment in game.moments for each in moment.step.announcements if isinstance(each, kind)]


# --- recap and session ----------------------------------------------------------------------------------------------


def recap_of(referee: Referee, name: str) -> m.Recap:
    recap = referee.recap(name)
    assert recap is not None
    return recap


def taken_up(recap: m.Recap, book: RuleBook) -> View:
    """What a killed team's new process knows, which has nothing but the rules and its recap."""
    session = Session(recap.to, "secret", generator(2), sealer=SEALER)
    server = ScriptedServer(session, book)
    server.say(m.ServerStatus(True, "0", recap.game, "open"), m.RulesAnnounced(book, "", 60, 30, 300, 3))
    server.say(m.StateChanged(State.TURN), retained=True)
    session.connected()
    assert server.say_recap(recap, SEALER) == [GameTakenUp(recap.game)]
    assert session.view is not None
    return session.view


def present(view: View) -> dict[str, object]:
    """All that a view says of how things stand, whatever is told of the past."""
    book = view.rules
    known: dict[str, object] = {
        "opponents": (view.opponents, view.defeated, view.winners),
        "turn": (view.turn, view.resolved_turn, view.turns_known),
        "fired": view.fired_this_turn,
        "untouched": set(view.untouched),
        "incoming": set(view.incoming),
    }
    if book.sinkings is Sinkings.TOLD:
        known["sunk"] = (view.sunk, view.ships_afloat)
    if book.ending is Ending.GOAL:
        known["points"] = view.points
    if book.announce is not Announce.COUNT:
        known["marks"] = {player: view.marks(player) for player in view.players}
    return known


@EVERY_BOOK
@pytest.mark.parametrize("turns", [7, 10**9])
def test_a_session_takes_up_a_recap_in_mid_game(book: RuleBook, turns: int) -> None:
    game = Game(book, 3, turns).play(turns)
    if game.referee.state is State.TURN:  # a shot that waits for its result, and in a round a whole salvo
        game.do(m.Fire(game.referee.current.name, *next(game.targets(game.referee.current.name))))  # type: ignore[union-attr]
    for name, player in game.referee.match.players.items():
        view = taken_up(recap_of(game.referee, name), book)
        assert view.results == [
            each._replace(sunk=tuple(m.SunkShip(s.player, s.ship, s.ship) for s in each.sunk))
            for each in game.referee.results
        ]
        assert view.incoming == player.landed
        if book.announce is Announce.CELLS:
            assert {n: view.marks(n) for n in game.names if n != name} == {
                n: other.seen for n, other in game.referee.match.players.items() if n != name
            }
        if game.referee.state is State.OVER:
            assert view.winners == announced(game, m.GameWon)[0].winners


@pytest.mark.long
@pytest.mark.parametrize(
    ("book", "turns"),
    [(book, turns) for book in BOOKS.values() for turns in (60, 10**9)] + [(book, 60) for book in EACH_SHOT_ANNOUNCED],
    ids=lambda value: value.name if isinstance(value, RuleBook) else str(value),
)
def test_a_recap_that_omits_turns_still_gives_the_present_state(
    book: RuleBook, turns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = Game(book, 3, 1).play(turns)
    recaps = {name: recap_of(game.referee, name) for name in game.names[:2]}
    whole = {name: present(taken_up(recap, book)) for name, recap in recaps.items()}
    monkeypatch.setattr("salvo.codec.recap_writer._MAX_HITS", 10)
    lengths = {name: len(write_recap(recap, book.grid)) for name, recap in recaps.items()}
    # Whether a round had several winners is known from its results only, which are the last to be left out.
    for share in (0.0, 0.7) if game.referee.state is State.TURN else (0.7,):
        for name, recap in recaps.items():
            bound = int(share * lengths[name])
            monkeypatch.setattr("salvo.codec.recap_writer.MAX_RECAP_BYTES", bound)
            text = write_recap(recap, book.grid)
            read_back = read_recap(name, text)
            assert read_back.earlier is not None
            assert read_back.progress == recap.progress
            assert len(text) <= bound or not read_back.results
            assert present(taken_up(recap, book)) == whole[name]


# --- who looks on ---------------------------------------------------------------------------------------------------


@EVERY_BOOK
def test_the_referee_s_view_shows_every_salvo_of_every_book(book: RuleBook) -> None:
    game = finished(book)
    address = topics.parse("/game/referee")
    shown = [read_announcement(address, each.payload) for moment in game.moments for each in moment.snapshots]
    views = [view for view in shown if isinstance(view, m.RefereeView)]
    assert [view.turn for view in views] == [0, *(result.turn for result in game.referee.results)]
    for view, result in zip(views[1:], game.referee.results, strict=True):
        assert view.last is not None
        assert (view.last.player, len(view.last.shots)) == (result.player, result.shots)
        assert sum(shot.hit for shot in view.last.shots) == result.hits
    assert [view.winners for view in views[:-1]] == [()] * (len(views) - 1)
    assert views[-1].winners == announced(game, m.GameWon)[0].winners
    for each in views[-1].boards:
        cells = game.fleets[each.player].cells
        ships = {cell for cell, letter in enumerate("".join(each.rows)) if letter.isalpha()}
        assert ships == set(cells)
