"""Games against fleets that nobody has seen: what answers say, when they cannot be true, what is written of them."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from random import Random

import pytest

from gateways.gateway_stage import written
from salvo.bots.player import Bot
from salvo.rules import SPACED, STREAK, Fleet, RuleBook
from salvo_gateways.errors import GatewayError
from salvo_gateways.hidden_fleet import answers
from salvo_gateways.hidden_fleet.answers import Answers, ShotOutcome, kind_of
from salvo_gateways.hidden_fleet.game import HiddenGame
from salvo_gateways.hidden_fleet.room import Room
from salvo_gateways.transcripts import Transcripts
from salvo_lab.bots.hunter import Hunter
from salvo_lab.bots.random_bot import RandomBot


class Honest:
    """A program that answers for a fleet of its own."""

    def __init__(self, book: RuleBook, seed: int) -> None:
        self.draw = Random(seed)
        self.fleet = book.random_fleet(self.draw)
        self.ships = {place.ship: set(place.cells(book)) for place in self.fleet.placements}
        self.cells = list(range(book.grid.size))
        self.draw.shuffle(self.cells)

    def answer(self, cell: int) -> tuple[ShotOutcome, str]:
        for ship, cells in self.ships.items():
            if cell in cells:
                cells.discard(cell)
                return (ShotOutcome.HIT, "") if cells else (ShotOutcome.SUNK, kind_of(ship))
        return ShotOutcome.MISS, ""

    def play(self, game: HiddenGame) -> None:
        while not game.over:
            if game.programs_turn:
                game.program_fires(self.cells.pop())
            else:
                game.program_answers(*self.answer(game.house_fires()))


def layout(fleet: Fleet | None) -> set[tuple[int, ...]]:
    assert fleet is not None
    return {tuple(place.cells(fleet.book)) for place in fleet.placements}


@pytest.mark.parametrize(("book", "kind"), [(STREAK, Hunter), (SPACED, RandomBot)])
def test_honest_programs_finish_games_that_are_written_and_replay(
    book: RuleBook, kind: type[Bot], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fleet that lost is known from the answers; one that won is completed with ships that agree with them."""
    drawn = count()
    monkeypatch.setattr("secrets.token_hex", lambda _: f"seed {next(drawn)}")  # who wins is no luck
    room, winners = Room(book, kind, Transcripts("pond", tmp_path)), set()
    for seed in range(6):
        game, program = room.begin(program_begins=seed % 2 == 0), Honest(book, seed)
        program.play(game)
        assert game.program_won or layout(game.program_fleet) == layout(program.fleet)
        room.record(game)
        game.reveal(program.fleet)
        assert game.program_fleet is program.fleet
        winners.add(game.program_won)
        course = written(tmp_path / f"pond-{seed + 1}.jsonl.gz")
        assert course.winners == ("guest" if game.program_won else "house",)
        assert course.turns == len(game.moves)
    assert False in winners


def cell(name: str) -> int:
    return STREAK.grid.cell(int(name[1:]), ord(name[0]) - 64)


@pytest.mark.parametrize(
    ("before", "last"),
    [
        ([("B2", ShotOutcome.HIT), ("B3", ShotOutcome.HIT)], ("C2", ShotOutcome.SUNK)),  # round a corner
        ([("B2", ShotOutcome.SUNK)], ("B3", ShotOutcome.HIT)),  # touches a ship that has sunk
        ([("B2", ShotOutcome.SUNK)], ("C3", ShotOutcome.SUNK)),  # at the corner
        ([("B2", ShotOutcome.HIT)], ("C3", ShotOutcome.SUNK)),  # touches a ship that is hit
        ([(f"B{x}", ShotOutcome.HIT) for x in (2, 3, 4, 5)], ("B6", ShotOutcome.SUNK)),  # longer than the longest
        ([(f"{row}1", ShotOutcome.SUNK) for row in "ACEG"], ("I1", ShotOutcome.SUNK)),  # a fifth one of one cell
        ([(STREAK.grid.name(at), ShotOutcome.HIT) for at in range(10)], ("B1", ShotOutcome.HIT)),  # none left to sink
        ([(STREAK.grid.name(at), ShotOutcome.MISS) for at in range(80)], ("I1", ShotOutcome.MISS)),  # no room left
    ],
)
def test_answers_that_no_fleet_can_give_are_refused_and_change_nothing(
    before: list[tuple[str, ShotOutcome]], last: tuple[str, ShotOutcome]
) -> None:
    given = Answers(STREAK)
    for name, outcome in before:
        given.add(cell(name), outcome)
    sunk = dict(given.sunk)
    for _ in range(2):
        with pytest.raises(GatewayError, match="contradiction"):
            given.add(cell(last[0]), last[1])
    assert given.sunk == sunk


def test_answers_that_contradict_each_other_leave_no_fleet_and_no_transcript(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = Answers(STREAK)
    for name, outcome in (("A1", ShotOutcome.HIT), ("B2", ShotOutcome.HIT)):  # two ships at one corner
        given.add(cell(name), outcome)
    assert given.fleet() is None
    monkeypatch.setattr(Answers, "fleet", lambda answers: None)
    Room(STREAK, RandomBot, Transcripts("pond", tmp_path)).record(HiddenGame(STREAK, RandomBot(), "1"))
    assert not list(tmp_path.iterdir())


def test_a_board_that_its_answers_deny_is_refused_with_the_cell() -> None:
    fleet = STREAK.random_fleet(Random(1))
    ships = [list(place.cells(STREAK)) for place in fleet.placements]
    water = next(at for at in range(100) if not any(at in ship for ship in ships))
    for at, outcome, why in (
        (water, ShotOutcome.HIT, "was answered as a hit"),
        (ships[0][0], ShotOutcome.MISS, "was answered as a miss"),
        (ships[0][0], ShotOutcome.SUNK, "was answered as sunk"),
        (ships[-1][0], ShotOutcome.HIT, "was never answered as sunk"),
    ):
        given = Answers(STREAK)
        given.add(at, outcome)
        with pytest.raises(GatewayError, match=why):
            given.check(fleet)


def test_a_ship_is_of_the_kind_that_is_named() -> None:
    given = Answers(SPACED)
    given.add(0, ShotOutcome.HIT)
    for kind in ("cruiser", "yacht"):
        with pytest.raises(GatewayError, match=f"no {kind} of 2 cells afloat"):
            given.add(1, ShotOutcome.SUNK, kind)
    assert given.add(1, ShotOutcome.SUNK, "submarine").startswith("submarine")
    assert given.add(1, ShotOutcome.MISS) == ""
    with pytest.raises(GatewayError, match="shot at before, so it is a miss"):
        given.add(1, ShotOutcome.HIT)


def test_the_search_for_a_fleet_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "MAX_TRIES", 3)
    assert Answers(STREAK).fleet() is None
