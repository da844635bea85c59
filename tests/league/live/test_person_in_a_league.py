"""A person in a league of real processes: at a terminal, and on a page."""

from __future__ import annotations

import contextlib
import re
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from chaos.league import LeagueStage
from kit.clicking import Clicker
from kit.person_at_a_terminal import SALVO, clean_environment
from kit.processes import started
from kit.terminal import Terminal

CUP = """\
name = "cup"
format = "swiss"
rounds = 2
table_size = 2
tables = ["t1"]
wait_seconds = 2
result_seconds = 0
placement_seconds = 60
turn_seconds = 1
seed = 7
"""
#: Waits for a line of news that has a pattern.
Sees = Callable[[str], object]


@contextlib.contextmanager
def at_a_terminal(words: list[str], environment: dict[str, str]) -> Iterator[Sees]:
    with Terminal(words, environment) as person:
        person.until_seen("Random rest")
        person.press("r")
        person.until_seen("Done")
        person.press("enter")
        yield lambda pattern: person.until(partial(re.search, pattern))


@contextlib.contextmanager
def on_a_page(words: list[str], environment: dict[str, str]) -> Iterator[Sees]:
    with started([*words, "--browser"], stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        with contextlib.closing(Clicker(process.stdout.readline().strip())) as person:
            person.until(lambda picture: picture["title"] == "Setup")
            person.do(act="random")
            person.do(act="done")
            yield lambda pattern: person.until(
                lambda picture: any(re.search(pattern, line) for line, _ in picture["news"])
            )


@pytest.mark.slow
@pytest.mark.parametrize("plays", [at_a_terminal, on_a_page])
def test_a_person_sets_up_one_fleet_for_all_rounds_and_is_seated_like_a_bot(
    tmp_path: Path, plays: Callable[[list[str], dict[str, str]], contextlib.AbstractContextManager[Sees]]
) -> None:
    with LeagueStage(tmp_path, CUP, ["ann"], ["t1"], others=["me"]) as stage:
        environment = clean_environment(tmp_path) | {"SALVO_SECRET": stage.secrets["me"]}
        with plays([SALVO, "join", stage.url, "human", "--team", "me"], environment) as sees:
            for number in (1, 2):
                sees(f"round {number} of 2: (stands .+; )?plays ann at table t1")  # it stands if both come at once
            sees("cup is over: stands ")
            stage.until(stage.league.ended, "the league is over")
        results = stage.results()
        assert [line["table"] for line in results] == ["t1", "t1"]
        assert not any(absent for line in results for absent in line["absent"]), results
        assert not any("voided" in line or "plain" in line for line in stage.lines())
