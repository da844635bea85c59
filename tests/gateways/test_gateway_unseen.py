"""Games against fleets that nobody has seen: what answers tell, when they contradict each other, what is kept."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from salvo.errors import WireError
from salvo.player import Bot
from salvo.rules import SALVO, SPACED, STREAK, Fleet, RuleBook
from salvo_gateways.accounts import GatewayError
from salvo_gateways.hidden_fleet import house_bot, replies
from salvo_gateways.hidden_fleet.game import UnseenGame
from salvo_gateways.hidden_fleet.house_bot import Sitting
from salvo_gateways.hidden_fleet.reenact import both_sides_of
from salvo_gateways.hidden_fleet.replies import Replies, Word, kind_of
from salvo_gateways.hidden_fleet.room import MAX_WAITING, Room
from salvo_lab.bots.hunter import Hunter
from salvo_lab.bots.random_bot import RandomBot

BOOKS = {book.name: book for book in (STREAK, SPACED)}


class Honest:
    """A program that answers for a fleet of its own."""

    def __init__(self, book: RuleBook, seed: int) -> None:
        self.draw = Random(seed)
        self.fleet = book.random_fleet(self.draw)
        self.ships = {place.ship: set(place.cells(book)) for place in self.fleet.placements}
        self.cells = list(range(book.grid.size))
        self.draw.shuffle(self.cells)

    def answer(self, cell: int) -> tuple[Word, str]:
        for ship, cells in self.ships.items():
            if cell in cells:
                cells.discard(cell)
                return (Word.HIT, "") if cells else (Word.SUNK, kind_of(ship))
        return Word.MISS, ""

    def move(self, game: UnseenGame) -> None:
        if game.guests_turn:
            game.guest_fires(self.cells.pop())
        else:
            game.guest_replies(*self.answer(game.house_fires()))


@pytest.mark.parametrize("book", BOOKS.values(), ids=BOOKS)
@pytest.mark.parametrize("kind", [Hunter, RandomBot])
def test_an_honest_program_is_never_taken_for_a_liar(book: RuleBook, kind: type[Bot]) -> None:
    winners = set()
    for seed in range(6):
        game, program = UnseenGame(book, kind(), str(seed), guest_begins=seed % 2 == 0), Honest(book, seed)
        while not game.over:
            program.move(game)
        game.reveal(program.fleet)
        winners.add(game.guest_won)
    assert False in winners


def test_of_a_lost_game_every_ship_is_known_and_of_a_won_one_the_rest_is_thought_up() -> None:
    for seed in range(6):
        game, program = UnseenGame(SPACED, RandomBot(), str(seed)), Honest(SPACED, seed)
        while not game.over:
            program.move(game)
        thought = {place.cells(SPACED) for place in game.guest_fleet.placements}
        true = {place.cells(SPACED) for place in program.fleet.placements}
        assert (thought == true) or game.guest_won
        Replies.check(game._replies, game.guest_fleet)


def cell(name: str) -> int:
    return STREAK.grid.cell(int(name[1:]), ord(name[0]) - 64)


def told(*answers: tuple[str, Word]) -> Replies:
    heard = Replies(STREAK)
    for where, word in answers:
        heard.note(cell(where), word)
    return heard


@pytest.mark.parametrize(
    ("before", "last"),
    [
        ([("B2", Word.SUNK)], ("B3", Word.HIT)),  # touches a ship that has sunk
        ([("B2", Word.SUNK)], ("C3", Word.SUNK)),  # at the corner
        ([("B2", Word.HIT), ("B3", Word.HIT)], ("C2", Word.HIT)),  # round a corner
        ([("A1", Word.HIT), ("A2", Word.MISS)], ("B1", Word.MISS)),  # a hit whose ship has no room
        ([(f"B{x}", Word.HIT) for x in (2, 3, 4)], ("B5", Word.HIT)),  # the longest has sunk, and is not said to
        ([("A1", Word.HIT)], ("B2", Word.HIT)),  # two ships at one corner
        ([(f"{row}1", Word.SUNK) for row in "ACEG"], ("I1", Word.SUNK)),  # a fifth one of one cell
    ],
)
def test_answers_that_no_fleet_can_give_are_refused_and_change_nothing(
    before: list[tuple[str, Word]], last: tuple[str, Word]
) -> None:
    heard = told(*before)
    fleet = heard.fleet
    with pytest.raises(GatewayError, match="contradiction"):
        heard.note(cell(last[0]), last[1])
    assert heard.fleet is fleet
    if last[1] is not Word.MISS:
        heard.note(cell(last[0]), Word.MISS if last[0] != "B5" else Word.SUNK)


def test_a_ship_is_the_kind_that_it_is_said_to_be() -> None:
    heard = Replies(SPACED)
    heard.note(0, Word.HIT)
    for kind in ("cruiser", "yacht"):
        with pytest.raises(GatewayError, match=f"no {kind} of 2 cells afloat"):
            heard.note(1, Word.SUNK, kind)
    heard.note(1, Word.SUNK, "submarine")
    heard.note(1, Word.MISS)
    with pytest.raises(GatewayError, match="shot at before, so it is a miss"):
        heard.note(1, Word.HIT)


def test_where_ships_touch_answers_tell_too_little() -> None:
    with pytest.raises(ValueError, match="ships touch"):
        Replies(SALVO)


def test_a_search_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replies, "MAX_TRIES", 3)
    with pytest.raises(GatewayError, match="no fleet was found"):
        Replies(STREAK)


@pytest.mark.parametrize("book", BOOKS.values(), ids=BOOKS)
def test_a_game_goes_on_out_of_what_was_kept_of_it(book: RuleBook) -> None:
    game, program = UnseenGame(book, RandomBot(), "1"), Honest(book, 1)
    while not game.over:
        program.move(game)
        if game.houses_turn:
            game.house_fires()
        if len(game.moves) % 5 == 0 or game.over:
            kept = json.loads(json.dumps(game.to_json()))
            game = UnseenGame.from_json(book, RandomBot(), "other", kept)
            assert game.to_json() == kept
    assert len(game.moves) == len(kept["moves"])


@pytest.mark.parametrize("name", ["classic-guest", "Anna", "zoe", "0-0", "00", "house-x", "9_9"])
def test_there_is_a_name_on_either_side_of_every_name(name: str) -> None:
    before, behind = both_sides_of(name)
    assert sorted([behind, name, before], key=str.lower) == [before, name, behind]


@pytest.mark.parametrize("name", ["0", "x" * 30])
def test_a_name_without_room_beside_it_is_refused(name: str) -> None:
    with pytest.raises(WireError, match="bad_name"):
        both_sides_of(name)


class Broken(Bot):
    def place_fleet(self, rules: RuleBook) -> Fleet:
        raise RuntimeError("no")

    def on_result(self, result: Any) -> None:
        raise RuntimeError("no")


def test_a_house_bot_that_fails_spoils_no_game() -> None:
    game, program = UnseenGame(STREAK, Broken(), "1"), Honest(STREAK, 1)
    for _ in range(50):
        program.move(game)


def room(file: Path) -> Room:
    opened = Room("jsonline", STREAK, RandomBot, "guest", "house", file)
    nowhere: Any = SimpleNamespace(url="mqtt://127.0.0.1:1", table="", news=SimpleNamespace(state=None))
    opened.open(nowhere)
    return opened


def test_a_gateways_bot_draws_from_what_nobody_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its seed was 0 once: everybody could draw the fleet that it would place."""
    seeds: list[str] = []

    class Stays(SimpleNamespace):
        def __init__(self, *_: object, seed: str, **__: object) -> None:
            super().__init__(done=True, reports=[SimpleNamespace(winner="")], close=lambda: None)
            seeds.append(seed)

    monkeypatch.setattr(house_bot, "Contestant", Stays)
    seat = SimpleNamespace(session=SimpleNamespace(), connection=None, meet=None, close=lambda: None)
    house: Any = SimpleNamespace(seat=lambda name: seat)
    for _ in range(2):
        Sitting(house, "house", RandomBot(), threading.Event()).start().join()
    assert [len(seed) for seed in seeds] == [32, 32]
    assert seeds[0] != seeds[1]


def test_a_room_has_one_owner_and_remembers_games(tmp_path: Path) -> None:
    file, me, you = tmp_path / "games", object(), object()
    first = room(file)
    assert first.claim(me)
    assert not first.claim(you)
    game, program = first.begin(me), Honest(STREAK, 1)
    program.move(game)
    first.note(me, said="this")
    first.close()
    assert file.stat().st_mode & 0o077 == 0, "it has the house's fleet"
    second = room(file)
    taken, notes = second.take_up(you)
    assert taken is not None
    assert (taken.to_json(), notes) == (game.to_json(), {"said": "this"})
    assert second.take_up(me) == (None, {})
    while not taken.over:
        program.move(taken)
    second.finish(you)
    assert second.claim(me)
    second.close()
    third = room(file)
    assert [game.to_json() for game in third._waiting] == [taken.to_json()]
    third.close()


def test_a_room_with_many_games_to_play_again_is_busy(tmp_path: Path) -> None:
    crowded = room(tmp_path / "games")
    for seed in range(MAX_WAITING):
        assert crowded.claim(crowded)
        game, program = crowded.begin(crowded), Honest(STREAK, seed)
        while not game.over:
            program.move(game)
        crowded.finish(crowded)
    assert not crowded.claim(crowded)
    crowded.close()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"playing": 1, "notes": {}, "waiting": []}', "\x00"])
def test_a_file_that_has_no_games_is_no_obstacle(text: str, tmp_path: Path) -> None:
    file = tmp_path / "games"
    file.write_text(text)
    opened = room(file)
    assert opened.claim(opened)
    opened.close()
