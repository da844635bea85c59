"""A team whose program is ended leaves the lobby, so that no game begins against nobody; in a game it can come back."""

from __future__ import annotations

import signal
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from kit import javascript
from kit.brokers import Broker, StartServer
from kit.players import SECONDS, Announced, join
from kit.processes import started, without_settings
from kit.programs import needs, path_of
from salvo import messages as m

SALVO = str(Path(sysconfig.get_path("scripts")) / "salvo")
BOT = """\
import salvo


@salvo.bot
def fire(view):
    return view.untouched.sample(view.shots)


salvo.run(fire)
"""


def listed(*names: str) -> Callable[[list[m.Announcement]], bool]:
    return lambda announced: m.PlayersListed(names) in announced


def placed(ships: int) -> Callable[[list[m.Announcement]], bool]:
    return lambda announced: sum(isinstance(each, m.PlacementJudged) for each in announced) >= ships


def join_command(url: str, folder: Path) -> list[str]:
    return [SALVO, "join", url, "random"]


def file_of_python(url: str, folder: Path) -> list[str]:
    (folder / "mybot.py").write_text(BOT)
    return [sys.executable, "mybot.py"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "number", "code"),
    [(join_command, signal.SIGINT, 130), (join_command, signal.SIGTERM, 143), (file_of_python, signal.SIGTERM, 143)],
)
def test_a_program_that_is_ended_in_the_lobby_takes_its_team_off_the_list(
    command: Callable[[str, Path], list[str]],
    number: signal.Signals,
    code: int,
    broker: Broker,
    start_server: StartServer,
    tmp_path: Path,
) -> None:
    _end_in_the_lobby(command(broker.url, tmp_path), tmp_path, number, code, broker, start_server)


@pytest.mark.long
@needs("node")
@needs("npm")
def test_a_program_in_javascript_that_is_ended_in_the_lobby_takes_its_team_off_the_list(
    broker: Broker, start_server: StartServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = javascript.bot_of_three_lines(tmp_path_factory)
    _end_in_the_lobby([path_of("node"), str(file)], file.parent, signal.SIGTERM, 143, broker, start_server)


def _end_in_the_lobby(
    command: list[str], folder: Path, number: signal.Signals, code: int, broker: Broker, start_server: StartServer
) -> None:
    received = Announced()
    environment = without_settings(SALVO_URL=broker.url, SALVO_TEAM="ann", SALVO_SECRET="ashes")
    with (
        start_server(received, players=2),
        started(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as program,
    ):
        received.until(placed(5))
        program.send_signal(number)
        _, err = program.communicate(timeout=SECONDS)
        received.until(listed())
        join(broker.url, "bob")
        received.until(listed("bob"))  # and with nobody else
    assert program.returncode == code, err
    assert "Traceback" not in err


def test_each_team_of_a_process_leaves_the_lobby_by_itself(broker: Broker, start_server: StartServer) -> None:
    received, stop = Announced(), threading.Event()
    with start_server(received, players=3):
        teams = [join(broker.url, name, stop=stop) for name in ("ann", "bob")]
        received.until(placed(10))
        stop.set()
        for team in teams:
            team.join(SECONDS)
        received.until(lambda announced: announced[-1] == m.PlayersListed(()))
