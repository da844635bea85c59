"""Why a game of two was won: games made so that the reason is known, told in up to three lines and for programs."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from kit.proofs import SMALL
from salvo.player import Bot
from salvo.rules import SALVO, XBS, Fleet, Grid, RuleBook, generator
from salvo.view import Shot, View
from salvo_display.replay import REFEREE, Replay
from salvo_lab.bots.density import Density
from salvo_lab.bots.random_bot import RandomBot
from salvo_lab.commands.explain import explain as command
from salvo_lab.explaining.explain import Explainer
from salvo_lab.explaining.replays import explain
from salvo_lab.explaining.verdict import BOARDS, SURE, Verdict, clearing_cost
from salvo_lab.explaining.why import Why, explain_end, lines
from salvo_lab.recording import play_at_table
from salvo_server.storage.transcript import write_transcript

POND = replace(SALVO, name="pond", grid=Grid(7, 7), fleet=SALVO.fleet[2:])


class Knowing(Bot):
    """Is told where the ships lie, and fires at cells of theirs far from each other, as who guesses."""

    def __init__(self, fleet: Fleet) -> None:
        self._cells = sorted(fleet.cells, key=lambda cell: cell * 17 % 49)

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        cells, self._cells = self._cells[: view.shots], self._cells[view.shots :]
        return [Shot(view.opponents[0], *view.rules.grid.xy(cell)) for cell in cells]


class Rows(Bot):
    """Fires row after row, whatever it is told."""

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        return sorted(view.untouched, key=lambda shot: (shot.y, shot.x))[: view.shots]


class Sleepy(Density):
    """Fires well, but nothing in two of its first three turns."""

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        return [] if view.turn <= 6 and len(view.salvos) != 1 else super().choose_salvo(view)


class Mute(Bot):
    def choose_salvo(self, view: View) -> Sequence[Shot]:
        return []


def _fleet(name: str, seed: int) -> Fleet:
    return POND.random_fleet(generator(name, seed))


def _game(red: Bot, blue: Bot, seed: int = 1, book: RuleBook = POND) -> Replay:
    fleets = {name: _fleet(name, seed) for name in ("red", "blue")} if book is POND else None
    _, header, steps = play_at_table({"red": red, "blue": blue}, seed=seed, book=book, fleets=fleets)
    return Replay("test", header, steps)


def _why(replay: Replay, fleets: int = 400, boards: int = 2) -> Why | None:
    return explain_end(replay, explain(replay, Explainer(fleets=fleets)), "7", boards)


@cache
def _by_luck() -> Why:
    found = _why(_game(Knowing(_fleet("blue", 2)), Density(), 2), boards=BOARDS)
    assert found is not None
    return found


def _known(why: Why | None) -> Verdict:
    assert why is not None
    assert why.found is not None
    return why.found


def test_who_hits_where_nobody_could_know_it_won_by_luck() -> None:
    found = _known(_by_luck())
    assert found.by == ("luck",)
    assert found.parts["luck"].value > 3 * found.usual_luck
    first, second = lines(_by_luck())
    assert first == "why: red won, 8 hits to 0, above all by luck"
    assert re.search(r", luck \+6\.\d \+- 0\.\d \(\+- 1\.\d is usual\)$", second)


def test_better_shots_on_the_same_knowledge_win_by_better_shooting() -> None:
    why = _why(_game(Density(), Rows(), 2))
    found = _known(why)
    assert (found.by, found.decisive) == (("shooting",), True)
    assert found.winner.rate.value > 2 * found.loser.rate.value
    assert why is not None
    assert lines(why)[0] == "why: red won, 8 hits to 5, by better shooting"


def test_who_lost_turns_lost_by_the_shots_that_were_not_fired() -> None:
    why = _why(_game(Sleepy(), Density(), 4), boards=BOARDS)
    found = _known(why)
    assert (found.by, found.loser.unfired, found.winner.unfired) == (("unfired",), 6, 0)
    assert found.parts["unfired"].value == pytest.approx(6 * (found.winner.rate.value + found.loser.rate.value) / 2)
    assert why is not None
    first, second, third = lines(why)
    assert first == "why: blue won, 8 hits to 3, above all by shots that red left unfired"
    assert "unfired +1.7 +- 0.1 (red 6)" in second
    assert third.strip().startswith("red fired nothing in 2 turns")


def test_who_never_fires_is_out_and_nothing_else_is_said() -> None:
    why = _why(_game(Mute(), Density()))
    assert why is not None
    assert why.found is None
    [line] = lines(why)
    assert re.fullmatch(
        r"why: blue won because red was out, with \d cells of its ships not hit, after 3 turns without a shot", line
    )


@pytest.mark.long
def test_the_parts_add_up_to_the_lead_and_what_is_named_is_sure() -> None:
    named: set[str] = set()
    for seed in range(8):
        found = _known(_why(_game(RandomBot(), RandomBot(), seed), 200))
        assert sum(part.value for part in found.parts.values()) == pytest.approx(found.lead)
        for name in found.by:
            assert found.parts[name].value > SURE * found.parts[name].error
        if found.decisive:
            assert found.lead - sum(found.parts[name].value for name in found.by) <= 0
        named.update(found.by)
    assert named >= {"luck", "shots"}


def test_other_draws_give_the_same_parts_within_their_errors() -> None:
    replay = _game(Density(), Rows(), 2)
    drawn = [_known(explain_end(replay, explain(replay, Explainer(seed, 100)), "7", 2)).parts for seed in range(8)]
    for name in ("shooting", "luck"):
        values = [parts[name].value for parts in drawn]
        error = max(parts[name].error for parts in drawn)
        assert 0 < max(values) - min(values) < 6 * error


@pytest.mark.long
def test_a_fleet_that_is_hard_to_find_is_told_where_that_is_surely_so() -> None:
    hidden, usual = (clearing_cost(POND, fleet, seed=7) for fleet in (_fleet("blue", 4), None))
    assert hidden.value - usual.value > SURE * (hidden.error + usual.error)
    why = _why(_game(Sleepy(), Density(), 4), boards=BOARDS)
    assert why is not None
    assert set(why.costs) == {"red", "blue"}
    assert re.search(
        r"density clears red's fleet in \d+ \+- 2 shots fewer, blue's fleet in \d+ \+- 2 shots more than a random one, "
        r"which counts as luck$",
        lines(why)[-1],
    )
    assert not _by_luck().costs  # about as hard as others


def test_a_loser_one_turn_short_is_told_that_the_other_fired_first() -> None:
    told = []
    for seed in (0, 1, 9):  # the first one wins by far, the second one wins, the first one wins by a hit
        replay = _game(RandomBot(), RandomBot(), seed)
        why = _why(replay, 100)
        assert why is not None
        turns = [frame.result.player for frame in replay.frames(REFEREE) if frame.result is not None]
        first = [line for line in lines(why) if " fired first: " in line]
        assert bool(first) == (turns[0] == why.winner and why.lacking <= why.next_shots)
        told += first
    assert told


def test_a_tie_and_a_game_of_three_have_no_verdict_and_points_have_one() -> None:
    _, header, steps = play_at_table({name: RandomBot() for name in "abc"}, book=SMALL)
    assert _why(Replay("test", header, steps), 100) is None
    small = replace(XBS, name="sound", grid=Grid(6, 6), fleet=XBS.fleet[2:], goal=8)
    decided = [_why(_game(Density(), Rows(), seed, small), 100) for seed in range(4)]
    assert any(why is not None and _known(why).lead > 0 for why in decided)
    for why in decided:
        if why is not None:
            assert not any(" fired first: " in line for line in lines(why))  # all had equally many turns


@pytest.mark.long
def test_the_command_tells_it_in_lines_json_and_on_the_page(tmp_path: Path) -> None:
    _, header, steps = play_at_table(
        {"red": Density(), "blue": Rows()},
        seed=2,
        book=POND,
        fleets={name: _fleet(name, 2) for name in ("red", "blue")},
    )
    file, page = tmp_path / "game.jsonl", tmp_path / "page.html"
    write_transcript(file, header, steps)

    def told(*arguments: str) -> list[str]:
        done = CliRunner().invoke(command, [str(file), "--fleets", "200", *arguments], catch_exceptions=False)
        return done.stdout.splitlines()

    assert "why: red won, 8 hits to 5, by better shooting" in told()
    found = json.loads(told("--json", "--html", str(page))[-1])["why"]
    assert (found["winner"], found["lead"], found["by"], found["decisive"]) == ("red", 3, ["shooting"], True)
    assert sum(part["value"] for part in found["parts"].values()) == pytest.approx(3, abs=0.001)
    assert "why: red won, 8 hits to 5, by better shooting" in page.read_text()
    assert not [line for line in told("--player", "red") if "why" in line]


def test_a_part_that_spoke_for_the_loser_is_said_to() -> None:
    said = set()
    for seed in range(8):
        why = _why(_game(RandomBot(), RandomBot(), seed), 200)
        if why is not None and why.found is not None:
            parts = lines(why)[1]
            minus = any(round(part.value, 1) < 0 for part in why.found.parts.values())
            assert parts.endswith(f"; what has a minus was in {why.loser}'s favour") == minus
            said.add(minus)
    assert said == {True, False}
