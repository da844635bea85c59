"""Short runs of the chaos that are not in the long ones, ``make chaos``."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaos.league import PARTS, play_evening
from chaos.run import parse, prepare
from kit.programs import needs


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        "--broker embedded --games 2 --server-kills 3 --stops 1 --ends 1 --deaths 0",
        pytest.param(
            "--games 2 --server-kills 1 --broker-kills 2 --journal-kills 2 --stops 0 --ends 0 --deaths 0 --flood 1000",
            marks=[needs("mosquitto"), needs("postgresql")],
            id="journal and broker are killed during a flood",
        ),
    ],
)
def test_nothing_is_lost_or_doubled_however_often_it_is_killed(tmp_path: Path, arguments: str) -> None:
    report = prepare(tmp_path, parse(arguments.split())).run(lambda line: None)
    assert report.wrong == []
    assert report.games >= 2
    assert report.recovered > 0


@pytest.mark.slow
def test_an_evening_goes_on_round_by_round_and_its_hall_shows_nothing_untrue_whatever_is_killed(tmp_path: Path) -> None:
    killed, hall = play_evening(tmp_path, 2)
    assert killed == dict.fromkeys(PARTS, 2)
    assert [seen.wrong for seen in hall.seen.values() if seen.wrong] == []
