"""A short run of the chaos; the long one is ``make chaos``."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaos.run import parse, prepare
from kit.programs import needs


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(
            "--broker mosquitto --games 3 --server-kills 2 --broker-kills 2 --stops 1 --ends 1 --deaths 1",
            marks=needs("mosquitto"),
        ),
        "--broker embedded --games 2 --server-kills 3 --stops 1 --ends 1 --deaths 0",
        pytest.param(
            "--games 2 --server-kills 1 --broker-kills 2 --journal-kills 2 --stops 0 --ends 0 --deaths 0 --flood 1000",
            marks=[needs("mosquitto"), needs("postgresql")],
            id="journal and broker are killed during a flood",
        ),
        pytest.param("--accounts 40 --games 2 --server-kills 5", marks=needs("mosquitto"), id="a roster, mosquitto"),
        pytest.param(
            "--javascript 2 --games 3 --server-kills 2 --broker-kills 2 --team-kills 4 --stops 1 --ends 1 --deaths 0",
            marks=[needs("mosquitto"), needs("node"), needs("npm")],
            id="two bots in javascript, restarted as well",
        ),
        pytest.param("--accounts 40 --games 2 --server-kills 5 --broker embedded", id="a roster, embedded"),
    ],
)
def test_nothing_is_lost_or_doubled_however_often_it_is_killed(tmp_path: Path, arguments: str) -> None:
    report = prepare(tmp_path, parse(arguments.split())).run(lambda line: None)
    assert report.wrong == []
    assert report.games >= 2
    assert report.recovered > 0
