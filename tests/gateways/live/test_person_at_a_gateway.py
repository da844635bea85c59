"""A person at the terminal of a gateway, against a program."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gateways.classic_client import Program, Tcp
from kit.clicking import Clicker
from kit.person_at_a_terminal import SALVO, clean_environment, shoot_cells
from kit.ports import Port
from kit.processes import started
from kit.terminal import Terminal
from salvo.rules import SPACED


@pytest.mark.long
def test_a_person_at_a_gateway_plays_a_program_of_the_older_system(tmp_path: Path, port: Port) -> None:
    broken: list[BaseException] = []
    goodbye: list[str] = []

    def play() -> None:
        try:
            program.connect()
            program.play(2)
            goodbye.append(program.next())
        except BaseException as error:
            broken.append(error)
        finally:
            program.line.close()

    words = ["classic", "--listen", port.address, "--opponent", "human"]
    with Terminal([SALVO, "gateway", *words], clean_environment(tmp_path)) as person:
        assert "Waiting   ! Connecting as server" in person.until_seen(f"play against you on {port.address}")
        program = Program(Tcp(("127.0.0.1", port.number)), 1)
        thread = threading.Thread(target=play, daemon=True)
        thread.start()
        for game in (1, 2):
            person.until_seen(f"Setup   game {game}, spaced")
            person.press("r", "enter")
            person.until_seen(f"Your turn   game {game}, spaced   turn {game}")  # the server begins, then the client
            cells = [(column + 1, row + 1) for _, ship in program.fleet for row, column in ship]
            assert f"You win. house wins game {game}" in shoot_cells(person, SPACED, cells)
            if game == 1:
                person.until_seen("r: restart")  # who leads decides, and not a clock
                person.press("r")
        person.press("q")
        assert person.end() == 0
        assert person.is_restored
        thread.join(60)
    assert goodbye == ["E"]
    assert (program.won, program.begun, broken) == ([False, False], [False, True], [])


@pytest.mark.long
def test_a_person_who_clicks_at_a_gateway_plays_a_program_of_the_older_system(tmp_path: Path, port: Port) -> None:
    words = ["gateway", "classic", "--listen", port.address, "--opponent", "human", "--browser"]
    with (
        ThreadPoolExecutor(1) as thread,
        started([SALVO, *words], stdout=subprocess.PIPE, env=clean_environment(tmp_path)) as process,
    ):
        assert process.stdout is not None
        with contextlib.closing(Clicker(process.stdout.readline().strip())) as person:
            assert person.picture["title"] == "Connecting as server"
            assert (person.picture["boards"], [word for word, *_ in person.picture["actions"]]) == ([], ["leave"])
            person.until(lambda picture: any(port.address in line for line, _ in picture["news"]))
            program = Program(Tcp(("127.0.0.1", port.number)), 1)
            program.connect()
            played = thread.submit(program.play, 1)
            person.until(lambda picture: picture["title"] == "Setup")
            person.do(act="random")
            person.do(act="done")
            for _, ship in program.fleet:
                for row, column in ship:
                    person.until(lambda picture: picture["title"] == "Your turn")
                    person.do(click=[person.picture["target"], row * 10 + column])
            person.until(lambda picture: picture["title"] == "End")
            assert person.picture["message"].startswith("You win. house wins game 1.")
            played.result(60)
            person.do(act="leave")
        assert program.next() == "E"
        program.line.close()
        assert process.wait(60) == 0
    assert program.won == [False]
