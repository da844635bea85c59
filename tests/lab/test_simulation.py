"""Many games on all cores: the same whatever the number of processes, and none that a bot can take down."""

from __future__ import annotations

import math
import os
import re
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from salvo.bots.player import Bot
from salvo.bots.programs import linux
from salvo.bots.programs.linux import is_single_threaded
from salvo.errors import BotError
from salvo.rules import BOOKS, SALVO, Starter
from salvo.view import Shot, View
from salvo_lab import arena
from salvo_lab.bots.hunter import Hunter
from salvo_lab.bots.random_bot import RandomBot
from salvo_lab.simulation import Seats, simulate, stream
from salvo_lab.simulation.seats import seating


class Fickle(RandomBot):
    """Fails in its own way in some games."""

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        if view.turn > 8:
            if view.game == 3:
                os._exit(3)
            if view.game == 5:
                time.sleep(60)
            if view.game == 7:
                raise KeyError("oops")
            if view.game == 9:
                return [Shot("nobody", 1, 1)]
        return super().choose_salvo(view)


@pytest.mark.long
@pytest.mark.parametrize("seats", list(Seats))
def test_the_same_seed_is_the_same_whatever_the_number_of_processes(seats: Seats) -> None:
    runs = [simulate(["hunter", "random", "random"], games=12, seed=7, jobs=jobs, seats=seats) for jobs in (0, 2)]
    assert all(run == runs[0] for run in runs)
    assert list(runs[0]) == list(runs[1])
    other = simulate(["hunter", "random", "random"], games=12, seed=8, jobs=0, seats=seats)
    assert list(other) != list(runs[0])


@pytest.mark.long
@pytest.mark.parametrize("rules", ["salvo", "smackdown"])
def test_a_simulation_plays_the_same_games_as_the_arena(rules: str) -> None:
    simulation = simulate(["hunter", "random"], games=6, seed=7, rules=rules, jobs=1)
    for played in simulation:
        bots: dict[str, Bot] = {"hunter": Hunter(), "random": RandomBot()}
        outcome = arena.play(bots, seed=7, game=played.game, book=BOOKS[rules])
        assert (played.winner, played.turns, played.stats) == (outcome.winner, outcome.turns, outcome.stats)
        assert (played.places, played.winners) == (outcome.places, outcome.winners)


def test_the_totals_of_a_simulation_are_those_of_its_games() -> None:
    simulation = simulate(["hunter", "random", "random"], games=20, seed=1, rules="smackdown")
    for name in simulation.bots:
        assert simulation.wins[name] == sum(played.winner == name for played in simulation)
        places = [played.places[name] for played in simulation]
        assert simulation.places[name] == [places.count(place) for place in (1, 2, 3)]
        shares = [1 / len(played.winners) for played in simulation if name in played.winners]
        assert math.isclose(simulation.rate(name), sum(shares) / 20)
    assert simulation.ties == sum(not played.winner for played in simulation)
    assert len(simulation) == 20
    assert simulation[-1].game == 20


@pytest.mark.long
def test_a_bot_that_fails_loses_its_own_games_only() -> None:
    """It ends the process, never answers, raises, answers nonsense: each time its rival wins, and the run goes on."""
    limit = 4  # seconds, which nobody else needs on the busiest machine; it is waited for twice
    simulation = simulate({"bad": Fickle, "good": "random"}, games=12, seed=1, jobs=2, turn_seconds=limit)
    assert [(f.player, f.game, f.code) for f in simulation.failures] == [
        ("bad", 3, "bot_crashed"),
        ("bad", 5, "bot_hangs"),
        ("bad", 7, "bot_raised"),
        ("bad", 9, "bad_salvo"),
    ]
    texts = [failure.text for failure in simulation.failures]
    assert "ended the process: exit code 3" in texts[0]
    assert f"did not answer within {limit} s" in texts[1]
    assert re.match(r"test_simulation.py:\d+: KeyError: 'oops' \(bad, turn", texts[2])
    assert all(9 <= failure.turn <= 10 for failure in simulation.failures)
    assert {simulation[failure.game - 1].winner for failure in simulation.failures} == {"good"}
    assert simulation[2].failures == (simulation.failures[0],)
    well = simulate({"bad": "random", "good": "random"}, games=12, seed=1, jobs=1)
    assert [game for game in range(12) if well[game] != simulation[game]] == [2, 4, 6, 8]


@pytest.mark.long
@pytest.mark.parametrize(
    ("method", "ends"),
    [
        *((method, "os._exit(1)") for method in ("place_fleet", "on_result", "on_game_over", "__init__")),
        *((method, "time.sleep(60)") for method in ("on_game_over", "__init__")),
        *((method, "1 / 0") for method in ("place_fleet", "on_result")),
    ],
)
def test_a_bot_that_fails_in_any_method_is_recorded_as_failed(method: str, ends: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.py"
    file.write_text(
        "import os, time, salvo\nclass Bad(salvo.Bot):\n    def choose_salvo(self, view):\n"
        f"        return view.untouched.sample(view.shots)\n    def {method}(self, *said):\n        {ends}\n"
    )
    seconds = 2.0 if "sleep" in ends else 60.0
    simulation = simulate([str(file), "random"], games=1, seed=1, jobs=1, turn_seconds=seconds)
    assert [failure.player for failure in simulation.failures] == ["bad"]
    if method != "on_game_over":
        assert simulation.wins["random"] == 1


def test_a_bot_that_cannot_be_loaded_is_reported_and_ends_the_simulation(tmp_path: Path) -> None:
    (tmp_path / "dies.py").write_text("import os\nos._exit(4)\n")
    (tmp_path / "fails.py").write_text("1 / 0\n")
    for source, text in (
        (str(tmp_path / "dies.py"), "dies, while it is loaded: ended the process: exit code 4"),
        (str(tmp_path / "fails.py"), "fails.py:1: ZeroDivisionError: division by zero"),
        ("nobody", "no bot 'nobody'"),
    ):
        with pytest.raises(BotError) as raised:
            simulate(["random", source], games=2, jobs=2)
        assert raised.value.code == "bad_bot"
        assert text in raised.value.text


@pytest.mark.long
def test_a_simulation_runs_in_a_process_with_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process with several threads is not forked: what the others hold would be held for ever."""
    monkeypatch.setattr(linux, "is_single_threaded", is_single_threaded)
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        assert simulate(["random", "random"], games=5, seed=7) == simulate(
            ["random", "random"], games=5, seed=7, jobs=0
        )
    finally:
        stop.set()
        thread.join()


def test_a_stream_hands_out_games_in_order_and_ends_its_processes_when_it_is_closed() -> None:
    before = _children()
    played = stream(["random", "random"], seed=7, jobs=2)
    assert [next(played).game for _ in range(50)] == list(range(1, 51))
    assert len(_children() - before) == 2
    played.close()
    assert not _children() - before


class Endless(RandomBot):
    """Never answers."""

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        while True:
            pass


def test_an_error_raised_while_waiting_for_the_first_game_ends_the_processes() -> None:
    before, calls = _children(), []

    def waiting() -> None:
        calls.append(len(_children() - before))
        if len(calls) == 3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        next(stream([Endless, "random"], jobs=2, turn_seconds=9999, waiting=waiting))
    assert calls == [2, 2, 2]
    assert not _children() - before


def _children() -> set[int]:
    path = Path(f"/proc/self/task/{os.getpid()}/children")
    return {int(number) for number in path.read_text().split()}


# --- seats --------------------------------------------------------------------------------------------------------


def test_paired_games_have_the_same_fleets_and_start_from_every_side() -> None:
    names = ("a", "b", "c")
    games = [seating(Seats.PAIRED, names, 7, game, SALVO, exchanged=True) for game in range(1, 7)]
    for block in (games[:3], games[3:]):
        assert {game.order for game in block} == {("a", "b", "c"), ("b", "c", "a"), ("c", "a", "b")}
        assert len({game.starter for game in block}) == 1
        assert len({tuple(game.fleets[name] for name in game.order) for game in block}) == 1
        for name in names:
            assert len({game.fleets[name] for game in block}) == 3
    assert games[0].fleets["a"] != games[3].fleets["a"]


def test_paired_games_respect_rules_that_fix_the_starter() -> None:
    for book in BOOKS.values():
        starter = seating(Seats.PAIRED, "ab", 7, 1, book, exchanged=False).starter
        assert (starter is None) == (book.starter is not Starter.RANDOM)


def test_games_with_the_same_fleets_count_as_one_in_the_error() -> None:
    paired = simulate({"a": "hunter", "b": "hunter"}, games=40, jobs=0, seats="paired")
    apart = replace(paired, seats=Seats.ROTATED)
    assert paired.error("a") != apart.error("a")
    assert paired.error("a") == pytest.approx(paired.error("b"))
