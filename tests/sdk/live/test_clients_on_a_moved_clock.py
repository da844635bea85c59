"""Clients on a machine whose clock somebody sets, or that sleeps in mid-turn: they play their games to the end.

While a machine is asleep its monotonic clock stands still: the client takes a turn for its own that the server has
ended meanwhile. Its connection is gone.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kit import javascript, moved_clock
from kit.brokers import Broker, StartServer
from kit.cable import Cable
from kit.players import SECONDS, Announced, join
from kit.processes import started, without_settings
from kit.programs import needs, path_of
from kit.waiting import until
from salvo import messages as m

pytestmark = pytest.mark.long
_HOUR = 3600.0
#: Bots that think for as long as a test wants, in their second turn.
_PYTHON = """
import salvo
turns = 0

@salvo.bot
def fire(view):
    global turns
    turns += 1
    if turns == 2:
        open({thinks!r}).read()
    return view.untouched.sample(view.shots)
"""
_JAVASCRIPT = """
import {{ readFileSync }} from "node:fs";
import {{ run }} from "battleship-salvo";
let turns = 0;
run((view) => {{
  turns += 1;
  if (turns === 2) readFileSync({thinks!r});
  return view.untouched.sample(view.shots);
}});
"""


def _in_python(url: str, folder: Path, thinks: str, _: pytest.TempPathFactory) -> list[str]:
    (folder / "mybot.py").write_text(_PYTHON.format(thinks=thinks))
    return [sys.executable, moved_clock.__file__, "join", url, str(folder / "mybot.py"), "--games", "1"]


def _in_javascript(_: str, __: Path, thinks: str, factory: pytest.TempPathFactory) -> list[str]:
    bot = javascript.bot_of_three_lines(factory)
    bot.write_text(_JAVASCRIPT.format(thinks=thinks))
    return [path_of("node"), "--import", str(Path(moved_clock.__file__).with_suffix(".mjs")), str(bot)]


def _opened(thinks: Path, process: subprocess.Popen[str]) -> int:
    """Return the pipe for which a bot waits in mid-turn; 0 while it does not."""
    assert process.poll() is None, process.communicate()
    with contextlib.suppress(OSError):  # nobody reads it
        return os.open(thinks, os.O_WRONLY | os.O_NONBLOCK)
    return 0


class Laptop:
    """The machine of a client that plays as ``plain``."""

    def __init__(self, process: subprocess.Popen[str], clock: Path, cable: Cable, skip: Callable[[], None]) -> None:
        self._process = process
        self._clock = clock
        self._cable = cable
        self._skip = skip

    def set_back(self) -> None:
        moved_clock.move(self._clock, wall=-_HOUR)

    def set_forth(self) -> None:
        moved_clock.move(self._clock, wall=2 * _HOUR)

    def sleep(self) -> None:
        """Be asleep until the turn is over."""
        began = time.monotonic()
        self._process.send_signal(signal.SIGSTOP)
        self._skip()
        self._cable.cut()
        moved_clock.move(self._clock, wall=_HOUR, asleep=time.monotonic() - began)
        self._process.send_signal(signal.SIGCONT)


@pytest.mark.parametrize(
    ("event", "missed"), [(Laptop.set_back, 0), (Laptop.set_forth, 0), pytest.param(Laptop.sleep, 1, id="sleep")]
)
@pytest.mark.parametrize("client", [_in_python, pytest.param(_in_javascript, marks=[needs("node"), needs("npm")])])
def test_a_client_plays_on_whatever_becomes_of_its_clock_in_mid_turn(
    client: Callable[..., list[str]],
    event: Callable[[Laptop], None],
    missed: int,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    broker: Broker,
    start_server: StartServer,
) -> None:
    clock, thinks, received = tmp_path / "clock", tmp_path / "thinks", Announced()
    moved_clock.move(clock)
    os.mkfifo(thinks)

    def salvos() -> list[m.SalvoResolved]:
        return [each for each in received.of(m.SalvoResolved) if each.player == "plain"]

    with Cable(broker.port) as cable, start_server(received, players=2) as contest:
        url = f"mqtt://127.0.0.1:{cable.port}"
        variables = {"SALVO_TEAM": "plain", "SALVO_SECRET": "secret plain", "SALVO_GAMES": "1"}
        variables |= {"SALVO_URL": url, moved_clock.VARIABLE: str(clock)}
        command, pipe = client(url, tmp_path, str(thinks), tmp_path_factory), subprocess.PIPE

        def skip() -> None:
            contest.service.act("", m.HostCommand(m.TERMINAL_HOST, m.HostAction.SKIP))
            received.until(lambda _: len(salvos()) == 2)

        with started(command, stdout=pipe, stderr=pipe, env=without_settings(**variables)) as process:
            join(broker.url, "rival")
            with os.fdopen(until(lambda: _opened(thinks, process), seconds=SECONDS), "w"):
                event(Laptop(process, clock, cable, skip))
            out, err = process.communicate(timeout=SECONDS)
    [won] = received.of(m.GameWon)
    assert (process.returncode, f"game 1: {won.winner} wins" in out) == (0, True), out + err
    assert sum(not salvo.shots for salvo in salvos()) == missed
    refused = {each.code for each in received.of(m.CommandRefused) if each.to == "plain"} - {"turn_timeout"}
    assert refused <= ({"stale_context", "not_your_turn"} if missed else set()), (
        err
    )  # a salvo of the turn that was over
