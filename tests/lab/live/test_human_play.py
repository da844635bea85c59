"""A person at a keyboard: the real program at a pseudo-terminal, nothing but keys."""

from __future__ import annotations

import contextlib
import re
import signal
import subprocess
from pathlib import Path

import pytest

from kit import players
from kit.cable import Cable
from kit.clicking import Clicker
from kit.command_line import run
from kit.killed import Stage, kill
from kit.person import fleet_of_random
from kit.person_at_a_terminal import SALVO, clean_environment, contest_on, pond_file, shoot_cells, square_of, turn_of
from kit.processes import started
from kit.terminal import Terminal
from salvo.net.mqtt import BrokerUrl
from salvo.rules import Fleet, Orientation, RuleBook
from salvo.rules.files import load_book
from salvo_display.boards.marks import display_name


def _play(folder: Path, *words: str, hangs_up: bool = False) -> Terminal:
    return Terminal([SALVO, "play", *words], clean_environment(folder), hangs_up=hangs_up)


def _place_by_hand(person: Terminal, fleet: Fleet) -> None:
    """Ship by ship: number, one end, the other end; then Done."""
    book = fleet.book
    for number, place in enumerate(fleet.placements, start=1):
        person.press("1", *square_of(book, place.x, place.y), "enter")
        length = book.fleet[number - 1].length
        if length > 1:
            person.until_seen("choose the other one")
            lying = place.orientation is Orientation.HORIZONTAL
            other = (place.x + length - 1, place.y) if lying else (place.x, place.y + length - 1)
            person.press(*square_of(book, *other), "enter")
        person.until_seen(f"{display_name(place.ship)} placed at ")
    person.until_seen("Done")
    person.press("enter")


def _shoot(person: Terminal, book: RuleBook, targets: Fleet) -> str:
    """Fire at every cell of a fleet, turn by turn; return the last page."""
    return shoot_cells(person, book, [book.grid.xy(cell) for cell in targets.cells])


def test_a_person_wins_a_game_by_keys_alone(tmp_path: Path) -> None:
    rules = pond_file(tmp_path, "salvo")  # by spaced and streak, a turn of one shot, a person plays further below
    book = load_book(rules)
    with _play(tmp_path, "human", "random", "--rules", rules, "--seed", "7") as person:
        person.until_seen("Setup   game 1, pond")
        _place_by_hand(person, fleet_of_random(book, "mine"))
        page = _shoot(person, book, fleet_of_random(book, "7"))
        assert "You win. human wins game 1. Places: 1. human, 2. random" in page
        person.press("q")
        assert person.end() == 0
        assert person.is_restored
        assert "winner: human after" in person.screen.text
        assert "salvo play human random --seed 7 --rules " in person.screen.text


@pytest.mark.long
@pytest.mark.parametrize("way", ["key", "SIGTERM"])
def test_an_interrupted_game_gives_the_terminal_back(way: str, tmp_path: Path) -> None:
    with _play(tmp_path, "human", "hunter") as person:
        person.until_seen("Setup   game 1")
        if way == "key":
            person.press("ctrl+c")
        else:
            person.signal(signal.Signals[way])
        assert person.end() == (130 if way == "key" else 143)
        assert person.is_restored


@pytest.mark.long
@pytest.mark.parametrize("hangs_up", [True, False])
def test_a_game_ends_with_its_terminal(hangs_up: bool, tmp_path: Path) -> None:
    """Two processes stayed, and read and wrote at the terminal for ever."""
    with _play(tmp_path, "human", "hunter", hangs_up=hangs_up) as person:
        person.until_seen("Setup   game 1")
        assert person.close() == 143


@pytest.mark.parametrize("words", [("play", "human", "hunter"), ("join", "mqtt://127.0.0.1:9", "human")])
def test_human_play_without_a_terminal_is_refused(words: tuple[str, ...]) -> None:
    done = run(*words)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: no_terminal: human plays at a terminal, but standard input")


def _rival(url: str) -> None:
    players.join(url, "random", seed="5", games=1)


def _sit_down(url: str, folder: Path, *words: str) -> Terminal:
    return Terminal([SALVO, "join", url, "human", *words], clean_environment(folder) | {"SALVO_SECRET": "of-mine"})


@pytest.mark.long
def test_a_person_leaves_a_contest_with_its_terminal(tmp_path: Path) -> None:
    with contest_on(tmp_path, "spaced") as url, _sit_down(url, tmp_path) as person:
        person.until_seen("Setup   game 1, pond")
        assert person.close() == 143


@pytest.mark.long
def test_a_person_who_leaves_a_contest_comes_back_to_its_game_and_wins_it(tmp_path: Path) -> None:
    with contest_on(tmp_path, "spaced") as url:
        book = load_book(str(tmp_path / "pond.toml"))
        _rival(url)
        with _sit_down(url, tmp_path, "--games", "1") as person:
            person.until_seen("Setup   game 1, pond")
            person.press("r", "enter")
            turn, _ = turn_of(person.until(lambda text: turn_of(text)[0]))
            person.press("enter")
            person.until(lambda text: turn_of(text)[0] > turn)
            person.press("q", "q")
            assert person.end() == 0
        with _sit_down(url, tmp_path, "--games", "1") as person:
            person.until_seen("back in game 1")
            page = person.until_seen("Your turn")
            assert re.search(r"turn \d+ +1 shot +\d+ s left", page), page
            page = _shoot(person, book, fleet_of_random(book, "5"))
            assert "You win. human wins game 1. Places: 1. human, 2. random" in page
            person.until_seen("game 1 agrees with the server's commitment")
            person.press("q")
            assert person.end() == 0
            assert person.is_restored
            assert "game 1: human wins, human is number 1" in person.screen.text


@pytest.mark.long
def test_a_person_s_turn_goes_on_after_the_line_was_cut_and_after_the_server_was_killed(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    pond_file(tmp_path, "streak")
    book = load_book(str(stage.rules))
    patient = ["--turn-seconds", "600", "--placement-seconds", "600"]
    server = stage.serve(*patient)
    address = BrokerUrl.parse(stage.url)
    with contextlib.ExitStack() as stack:
        stack.callback(stage.end)
        cable = stack.enter_context(Cable(address.port))
        words = [SALVO, "join", f"mqtt://127.0.0.1:{cable.port}", "human", "--browser", "--games", "1"]
        given = clean_environment(tmp_path) | {"SALVO_SECRET": "of-mine"}
        process = stack.enter_context(started(words, stdout=subprocess.PIPE, env=given))
        assert process.stdout is not None
        person = stack.enter_context(contextlib.closing(Clicker(process.stdout.readline().strip())))
        players.join(stage.url, "random", seed="5", games=1, pin=False)
        person.until(lambda picture: picture["title"] == "Setup")
        person.do(act="random")
        person.do(act="done")
        person.until(lambda picture: picture["title"] == "Your turn" and not picture["trouble"])
        cable.plugged = False
        cable.cut()
        person.until(lambda picture: picture["trouble"] == "connection lost")
        cable.plugged = True
        person.until(lambda picture: picture["title"] == "Your turn" and not picture["trouble"])
        cable.plugged = False  # it ends at a server that is there
        kill(server)
        person.until(lambda picture: picture["trouble"])
        stage.serve(*patient)
        cable.plugged = True
        for cell in sorted(fleet_of_random(book, "5").cells):
            person.until(lambda picture: picture["title"] in ("Your turn", "End") and not picture["trouble"])
            person.do(click=[person.picture["target"], cell])
        person.until(lambda picture: picture["title"] == "End")
        assert person.picture["message"].startswith("You win. human wins game 1.")
        person.do(act="leave")
        assert process.wait(60) == 0
