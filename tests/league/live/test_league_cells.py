"""``salvo league`` over several servers: teams go from one to another, and one that dies moves nobody else's games."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest

from chaos.cells import CellsStage, TurnTimes, summary
from chaos.league import points_of_logs
from kit.programs import needs

#: How long a part of a cell is gone: less than ``away_seconds`` and a start.
SECONDS = 6.0
TEAMS = [f"bot{number}" for number in range(8)]
CUP = """\
name = "cup"
format = "swiss"
rounds = {rounds}
table_size = 2
tables = ["t1", "t2"]
wait_seconds = 30
result_seconds = 0
pace_seconds = {pace}
away_seconds = {away}
teams = {teams}
seed = 7
"""


def cup(rounds: int, *, pace: int = 0, away: int = 60) -> str:
    return CUP.format(rounds=rounds, pace=pace, away=away, teams=json.dumps(TEAMS))


@pytest.mark.slow
@needs("mosquitto")
def test_a_league_over_two_cells_agrees_with_the_signed_logs_despite_kills(tmp_path: Path) -> None:
    with CellsStage(tmp_path, cup(2), TEAMS, ["t1", "t2"]) as stage:
        stage.until(lambda: stage.results(), "a game is over")
        stage.league.end(signal.SIGKILL)
        stage.league.start()
        stage.start_again(0)
        stage.until(stage.league.ended, "the league is over")
        assert stage.league.child is not None
        assert stage.league.child.returncode == 0, stage.announced()
        counted = stage.counted()
        assert counted == stage.logged()
        assert len(counted) == 8
        assert {place for place, _ in counted} == {f"{at}@{cell.name}" for at in ("t1", "t2") for cell in stage.cells}
        assert {row["team"]: round(row["points"], 6) for row in stage.table()} == points_of_logs(counted)
        known = json.loads((tmp_path / "known_servers.json").read_text())
        assert known.keys() == {cell.name for cell in stage.cells}
        assert len(set(known.values())) == 2, "each cell's server has its own key"


@pytest.mark.slow
@needs("mosquitto")
def test_while_one_cell_dies_part_by_part_the_games_of_the_other_go_on(tmp_path: Path) -> None:
    stage = CellsStage(tmp_path, cup(1, pace=1, away=15), TEAMS, ["t1", "t2"])
    with stage, TurnTimes(stage, stage.cells[0]) as turns, TurnTimes(stage, stage.cells[1]) as others:
        mine, other = stage.cells
        stage.until(lambda: sum("assigned" in line for line in stage.lines()) == 4, "the round is seated")
        stage.until(lambda: len(turns.between(0, time.monotonic())) > 10, "games are on")
        here = [line["assigned"] for line in stage.lines() if "assigned" in line and line["table"].endswith(mine.name)]
        assert len(here) == 2
        pairs = {}
        for what in (["broker"], ["server"], ["broker", "server"], ["server", "broker"]):
            before = time.monotonic()
            for part in what:
                other.kill(part)
            stage.until(lambda: time.monotonic() > before + SECONDS, "it is gone for a while")  # noqa: B023
            pairs[" and ".join(what)] = turns.between(before - SECONDS, before), turns.between(before, before + SECONDS)
            assert not [line for line in stage.lines() if "voided" in line], "no game had to be played again so far"
            if what == ["server", "broker"]:
                break  # gone for good
            for part in what:
                other.start(part)
            back = time.monotonic()
            stage.until(lambda: others.between(back, time.monotonic()), "its games go on")  # noqa: B023
        stage.until(stage.league.ended, "the league is over", 600)
        voided = [line["voided"] for line in stage.lines() if "voided" in line]
        assert len(voided) == 2, stage.announced()
        assert not set(voided) & set(here), "a game of the cell that lives was played again"
        counted = stage.counted()
        assert len(counted) == 4
        assert all(place.endswith(mine.name) for place, _ in counted)
        assert counted == {key: places for key, places in stage.logged().items() if key[0].endswith(mine.name)}
        (tmp_path / "turns.txt").write_text(summary(pairs))
        print(summary(pairs))
