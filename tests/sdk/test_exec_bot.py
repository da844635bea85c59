"""Programs on their standard streams: what they are told, and what becomes of them that misbehave."""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import re
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kit.processes import processes
from kit.programs import needs
from salvo.bots.player import Bot
from salvo.bots.programs import exec_bot, process
from salvo.bots.programs.exec_bot import ExecBot
from salvo.bots.sources import load, make, team_name
from salvo.codec.program_lines import TurnAsked
from salvo.errors import BotError
from salvo.messages import SalvoResolved
from salvo.rules import BOOKS, SALVO, Grid, RuleBook, ShipClass
from salvo.view import Feed, Shot, View
from salvo_lab import arena
from salvo_lab.bots.random_bot import RandomBot
from salvo_lab.templates import FOLDER

ROOT = Path(__file__).parents[2]
RUDE = ROOT / "tests" / "kit" / "rude_program.py"
PYTHON = f"{shlex.quote(sys.executable)} -I -S"
KITS = [
    pytest.param(f"exec:{PYTHON} {FOLDER}/program.py", id="python"),
    pytest.param(f"exec:perl {FOLDER}/program.pl", id="perl", marks=needs("perl")),
    pytest.param(f"exec:node {FOLDER}/program.js", id="javascript", marks=needs("node")),
]

SMALL_BOOKS = [
    replace(BOOKS[name], grid=Grid(6, 6), fleet=(ShipClass("cruiser", 3), ShipClass("raft", 2)))
    for name in ("salvo", "streak")
]

Salvos = list[tuple[tuple[Shot, ...], SalvoResolved]]


def rude(*arguments: object) -> ExecBot:
    bot = make(f"exec:{PYTHON} {RUDE} {' '.join(map(str, arguments))}")
    assert isinstance(bot, ExecBot)
    return bot


def play(bots: dict[str, Bot], seed: str = "7", game: int = 1, book: RuleBook = SALVO) -> tuple[Any, Salvos]:
    salvos: Salvos = []
    received = arena.play(bots, seed=seed, game=game, book=book, listener=lambda s, r: salvos.append((tuple(s), r)))
    return received, salvos


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the questions are stored; afterwards no child is left, not even as a zombie."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    before = _children()  # of other tests, such as a pool's helpers that live as long as this process
    yield tmp_path / "salvo" / "failures"
    assert _children() <= before


def _children() -> set[str]:
    """The processes that this one has started and not collected, by number."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has just ended
            _, _, rest = stat.read_text().rpartition(")")
            if int(rest.split()[1]) == os.getpid():
                found.add(stat.parent.name)
    return found


def test_an_exec_source_is_a_command_whose_program_names_the_team() -> None:
    assert team_name("exec:./my.bot --fast") == "my"
    assert team_name(f"exec:perl {FOLDER}/program.pl --seed 3") == "program"
    assert load("exec:perl -e 'print 1'").command == ("perl", "-e", "print 1")  # type: ignore[attr-defined]
    for source, text in (("exec:", "names no program"), ("exec:'", "no closing quotation"), ("exec:nope", "'nope'")):
        with pytest.raises(BotError, match=rf"^bad_bot: .*{text}"):
            load(source)


@pytest.mark.long
def test_a_bot_plays_the_same_games_as_a_program() -> None:
    with closing(make(f"exec:{shlex.quote(sys.executable)} -m salvo_lab.programs hunter")) as program:
        for game, book in enumerate((SALVO, *BOOKS.values()), start=1):
            mine = play({"ann": make("hunter"), "bob": RandomBot()}, game=game, book=book)
            its = play({"ann": program, "bob": RandomBot()}, game=game, book=book)
            assert its == mine


@pytest.mark.long
@pytest.mark.parametrize("book", SMALL_BOOKS, ids=lambda book: book.name)
@pytest.mark.parametrize("source", KITS)
def test_a_kit_plays_whole_games_the_same_for_the_same_seed(
    source: str, book: RuleBook, caplog: pytest.LogCaptureFixture
) -> None:
    played = []
    for _ in range(2):
        with closing(make(source)) as program:
            played.append([play({"ann": program, "bob": RandomBot()}, game=game, book=book) for game in (1, 2)])
    assert played[0] == played[1]
    assert played[0][0][1] != played[0][1][1]
    assert caplog.messages == []


def hurry(bot: ExecBot, turn: int, seconds: float) -> None:
    """Limit the time of one of its own turns, counted from 1; the machine may be slow in all the others."""
    choose, turns = bot.choose_salvo, itertools.count(1)

    def choose_salvo(view: View) -> Sequence[Shot]:
        Feed(view).extend(time.monotonic() + (seconds if next(turns) == turn else exec_bot.QUESTION_SECONDS))
        return choose(view)

    bot.choose_salvo = choose_salvo  # type: ignore[method-assign]


CASES = {
    "crash": r"bot_crashed: it ended with exit code 3; its last words: the pond is dry",
    "leaves-a-child": r"bot_crashed: it ended with exit code 4",
    "dies": r"bot_crashed: it was killed by SIGKILL",
    "closes": r"bot_crashed: it closed its standard output",
    "silence": r"turn_timeout: no answer in 0\.\d\d s",
    "garbage": r"bot_unreadable: its answer is 'Hello, pond!': not_json: .*",
    "not-utf8": r"bot_unreadable: its answer is '.*': not_utf8: .*",
    "half-a-line": r"turn_timeout: no answer in 1\.\d\d s; 20 bytes without a line's end came",
    "half-a-line-and-dies": r"bot_crashed: it ended with exit code 0, after 20 bytes without a line's end",
    "long-line": r"bot_flood: a line of more than 65536 bytes; it was killed",
    "flood": r"bot_flood: more than 100 answers to questions of before; it was killed",
    "wrong-id": r"bot_unreadable: its answer has id 4; the question has 3",
    "two-things": r"bot_unreadable: .*wrong_shape: it has shots and skip of fleet, shots and skip; give exactly one",
    "off-grid": r"bad_salvo: .*",
    "nobody": r"bad_salvo: no player 'x'; the players are ann, bob",
    "fraction": r"bot_unreadable: .*not_integer: .*",
}


@pytest.mark.parametrize("misdeed", CASES)
def test_a_program_failure_costs_one_turn_and_is_logged_in_one_line(
    misdeed: str, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(rude(misdeed, 2)) as program:
        if "turn_timeout" in CASES[misdeed]:
            hurry(program, 2, 1.5 if misdeed == "half-a-line" else 0.5)  # the half has to come in that time
        _, salvos = play({"ann": program, "bob": RandomBot()})
    [line] = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    head, _, again = line.partition("; the turn is lost; again: ")
    where, _, cause = head.partition(": ")
    turn = int(where.removeprefix("ann, game 1, turn "))
    assert len(line.splitlines()) == 1

    assert re.fullmatch(CASES[misdeed], cause), cause
    own = [result for _, result in salvos if result.player == "ann"]
    assert [result.turn for result in own if not result.shots] == [turn] == [own[1].turn]
    assert again.startswith(shlex.join(program.command) + " < ")


@pytest.mark.long
@pytest.mark.parametrize("name", ["salvo.py", "mybot.py"])
def test_a_file_that_hides_the_package_from_a_program_is_named(
    name: str, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    for file in ("salvo.py", "mybot.py"):
        (tmp_path / file).write_text("import salvo\n\n@salvo.bot\ndef fire(view):\n    return ()\n")
    with closing(make(f"exec:{shlex.quote(sys.executable)} {shlex.quote(str(tmp_path / name))}")) as program:
        play({"ann": program, "bob": RandomBot()})
    [first, *_] = caplog.messages
    assert re.search(
        r"; rename the file salvo\.py beside it|consider renaming '.*salvo\.py'", first
    )  # Python 3.13 says so


@pytest.mark.parametrize("misdeed", ["twice", "error-flood", "children"])
def test_a_harmless_misdeed_of_a_program_costs_no_turn(
    misdeed: str, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    caplog.set_level(logging.INFO)
    before = _children()
    with closing(rude(misdeed, 2)) as program:
        _, salvos = play({"ann": program, "bob": RandomBot()})
        [group] = map(int, _children() - before)
    assert all(result.shots for _, result in salvos if result.player == "ann")
    assert all(record.levelno < logging.WARNING for record in caplog.records)
    assert len(caplog.records) <= process.MAX_ERROR_LINES + 1
    assert _is_gone(group)


def _is_gone(group: int) -> bool:
    """Whether nobody of a process group is left; who was killed may take a moment to be so."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if all(each.state == "Z" for each in processes() if each.group == group):
            return True  # whose parent was killed: init's, or nobody's in a container without one
    return False


@pytest.mark.parametrize("several", [False, True], ids=["one bot", "a bot for every game"])
def test_the_first_failures_of_a_program_are_logged_and_the_others_counted(
    several: bool, caplog: pytest.LogCaptureFixture, files: Path
) -> None:
    first = rude("garbage", 1, "always")
    lost = 0
    with contextlib.ExitStack() as leaving:
        for game in (1, 2):
            program = type(first)() if several else first
            leaving.callback(program.close)
            _, salvos = play({"ann": program, "bob": RandomBot()}, game=game)
            lost += sum(result.player == "ann" for _, result in salvos)
    *asked, last, counted = caplog.messages
    assert len(asked) + 1 == ExecBot.most_lines
    assert last.endswith("; the turn is lost; further failures are only counted")
    assert counted == f"ann: {lost - 5} failures more: bot_unreadable {lost - 5}"
    assert len([message for message in asked if "again: " in message]) == len(list(files.iterdir())) == 3


def test_the_lines_that_a_program_failed_at_are_forgotten_after_a_week(files: Path) -> None:
    files.mkdir(parents=True)
    for name, days in (("old", 8), ("new", 6)):
        (files / name).write_text("{}")
        os.utime(files / name, (0, time.time() - days * 86_400))
    with closing(rude("garbage", 1)) as program:
        play({"ann": program, "bob": RandomBot()})
    stored = {file.name for file in files.iterdir()}
    assert len(stored) == 2
    assert "new" in stored


def test_a_restarted_bot_process_receives_all_earlier_results_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[TurnAsked] = []
    turn = ExecBot._turn

    def noted(self: ExecBot, view: View) -> TurnAsked:
        asked.append(turn(self, view))
        return asked[-1]

    monkeypatch.setattr(ExecBot, "_turn", noted)
    with closing(rude("dies", 3)) as program:
        play({"ann": program, "bob": RandomBot()})
    again = asked[3].results
    assert [each.result.turn for each in again] == list(range(1, asked[3].turn))
    assert [len(each.fired or ()) for each in again if each.result.player == "ann"] == [5, 5, 0]
    assert len(asked[1].results) == 2


def test_a_bot_program_does_not_receive_our_secret_variables(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SALVO_SECRET", "cockadoodledoo")
    with closing(make("exec:sh -c 'env >&2; exit 1'")) as program:
        caplog.set_level(logging.INFO)
        play({"ann": program, "bob": RandomBot()})
    assert any("PATH=" in message for message in caplog.messages)
    assert "cockadoodledoo" not in caplog.text
