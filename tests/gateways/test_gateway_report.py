"""What a gateway logs of clients, games and refusals, and which option it names to those who gave another one."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from gateways.gateway_hall import Hall, Program, Stage
from salvo import messages as m
from salvo.bots import sources
from salvo.rules import ALTERNATE, SMACKDOWN, SPACED, STREAK, XBS, RuleBook
from salvo.view import Shot, View
from salvo_gateways import classic, jsonline, smackdown, xbs
from salvo_gateways.classic import ClassicRole
from salvo_gateways.report import LINES, GatewayReport, hint_of_system
from salvo_gateways.smackdown import SmackdownLobby
from salvo_lab.bots.hunter import Hunter

SCRIPTS = Path(__file__).parent / "conversations" / "house_bots.py"
BOARD = ".........................B..EE.....B....CCC..B.........B....................DDD............AAAAA...."
PLACED = "|RESPONSE|ship locations|0 0 H|0 1 H|0 2 H|0 3 H|0 4 H|END|"


@pytest.fixture(autouse=True)
def _as_in_a_gateway(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "salvo_gateways")


def lines(caplog: pytest.LogCaptureFixture, level: int = logging.INFO) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= level]


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return lines(caplog, logging.WARNING)


def asking(rules: RuleBook, *, status_names: bool = False) -> Program:
    """Return a program of JSON lines that was admitted; the bot's ship of four is at A3 to A6."""
    house = sources.load(f"{SCRIPTS}:Picture")
    program = Stage().come(jsonline.door(rules, house, status_names=status_names), "program")
    ask(program, "GAME_INVITATION")
    return program


def ask(program: Program, kind: str, body: object = None) -> None:
    program.say(json.dumps({"type": kind, "body": body}))


def cell(row: str, column: int) -> dict[str, object]:
    return {"row": row, "column": column}


# --- JSON lines -------------------------------------------------------------------------------------------------------


def test_a_program_whose_hit_shoots_again_reads_which_rules_it_needs(caplog: pytest.LogCaptureFixture) -> None:
    """Its shots were refused, it printed None as the winner, and the gateway said nothing."""
    program = asking(ALTERNATE)
    ask(program, "SHOT", cell("A", 3))
    ask(program, "SHOT", cell("A", 4))
    [warning] = warnings(caplog)
    assert warning.startswith(
        "program: SHOT refused: it is the other side's turn; by the rules alternate sides alternate"
    )
    assert warning.endswith("--rules streak")


def test_a_program_that_alternates_reads_which_rules_it_needs(caplog: pytest.LogCaptureFixture) -> None:
    program = asking(STREAK)
    ask(program, "SHOT", cell("A", 3))
    ask(program, "SHOT_REQUEST")
    [warning] = warnings(caplog)
    assert warning.startswith("program: SHOT_REQUEST refused: it is your turn; by the rules streak a hit shoots again")
    assert warning.endswith("--rules alternate")


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ([("SAVE_WINNER", None)], "--status-names, by which it is answered"),
        ([("SHOT", cell("B", 1)), ("SHOT_REQUEST", None), ("BOARD", {"five": "A1-A5"})], "another fleet: --rules NAME"),
        ([("SHOT", cell("A", 11))], "not within the boundaries"),
    ],
)
def test_a_refused_request_of_json_lines_is_logged_with_what_may_help(
    asked: list[tuple[str, object]], hint: str, caplog: pytest.LogCaptureFixture
) -> None:
    program = asking(ALTERNATE)
    for kind, body in asked:
        ask(program, kind, body)
    assert hint in warnings(caplog)[-1]


def test_a_second_program_of_json_lines_reads_how_it_may_play_too(caplog: pytest.LogCaptureFixture) -> None:
    stage, opening = Stage(), jsonline.door(ALTERNATE, Hunter)
    for name in ("first", "second"):
        ask(stage.come(opening, name), "GAME_INVITATION")
    assert warnings(caplog) == [
        "second: GAME_INVITATION refused: Server is playing the other game.; "
        "a gateway plays with one program; for others start another one, with --listen"
    ]


@pytest.mark.parametrize(("names", "option"), [(False, "--status-names"), (True, "leave out --status-names")])
def test_a_program_that_leaves_after_its_invitation_reads_of_the_statuses(
    names: bool, option: str, caplog: pytest.LogCaptureFixture
) -> None:
    asking(ALTERNATE, status_names=names).go()
    assert lines(caplog) == [
        "program: connected",
        "program: a game begins, by the rules alternate",
        f"program: gone; it has not fired; if it did not understand the status of its invitation: {option}",
    ]


def test_a_game_that_a_program_leaves_is_reported_with_how_it_stands(caplog: pytest.LogCaptureFixture) -> None:
    program = asking(ALTERNATE)
    ask(program, "SHOT", cell("B", 1))
    program.go()
    assert lines(caplog)[-1] == "program: gone; its game, not over after 1 shot, waits for it"


# --- the two-player game ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "said", "hint"),
    [
        (ClassicRole.SERVER, "Z", "the program is a server, too: --role client, with --call HOST:PORT or on the --bus"),
        (ClassicRole.CLIENT, "C", "the program is a client, too: --role server"),
        (ClassicRole.SERVER, "RE6SYacht", "for a program with other ships or squares: --rules FILE"),
        (ClassicRole.SERVER, "J|ann|....", "this looks like a program of xbs: salvo gateway xbs"),
    ],
)
def test_a_program_of_the_two_player_game_that_does_not_fit_reads_which_option_does(
    role: ClassicRole, said: str, hint: str, caplog: pytest.LogCaptureFixture
) -> None:
    program = Stage().come(classic.door(SPACED, Hunter, role=role), "program")
    program.say(said)
    assert warnings(caplog)[0].endswith(hint)
    assert program.hear_all()[-1] == "E"


def test_a_gateway_that_ends_sends_its_program_the_exit(caplog: pytest.LogCaptureFixture) -> None:
    stage = Stage()
    program = stage.come(classic.door(SPACED, Hunter), "program")
    program.say("C")
    program.say("D")
    assert [message[0] for message in program.hear_all()] == ["Z", "D", "S"]
    program.handler.dismiss()
    stage.settle()
    assert program.hear_all() == ["E"]
    assert lines(caplog) == [
        "program: connected",
        "program: game 1 begins, the gateway shoots first",
        "program: disconnected, the gateway ends; its game ends, not over after 0 shots",
    ]


class Left(SystemExit):
    """What ends a program's thread."""


class Leaving(Hunter):
    """A person who has left, as the program's thread knows it."""

    def choose_salvo(self, view: View) -> list[Shot]:
        raise Left


def test_a_person_who_leaves_in_mid_game_sends_the_exit() -> None:
    program = Stage().come(classic.door(SPACED, Leaving), "program")
    program.say("C")
    program.say("D")
    assert program.hear_all() == ["Z", "D", "E"]
    assert program.ended


def test_a_person_who_leads_restarts_and_no_clock_does() -> None:
    stage, chosen = Stage(), [False]
    house = sources.load(f"{SCRIPTS}:Corners")
    opening = classic.door(SPACED, house, end_seconds=5, restarts=lambda: chosen[0])
    program = stage.come(opening, "program")
    program.say("C")
    lose(program)
    stage.wait(100)
    assert program.hear_all() == []
    chosen[0] = True
    stage.settle()
    assert program.hear_all() == ["Z", "D"]


def lose(program: Program) -> None:
    """Sink all ships of the script, which misses."""
    ships = ("A1", "A2", "A3", "A4", "A6", "A7", "C1", "C2", "E2", "E3", "E4", "E5", "E6", "F7", "G7", "H7")
    program.say("D")
    assert [program.hear(), program.hear()] == ["Z", "D"]
    for target in ships:
        program.say(f"R{program.hear()[1:]}M")
        program.say(f"S{target}")
        reply = program.hear()
    assert reply == "RH7ECruiser"


# --- Code Smackdown ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "warning"),
    [
        (None, "forfeits: no shots within 10 s; it may not flush its output after each line, as python -u does"),
        ("thinking...", "what else it prints belongs on its standard error"),
        ("|RESPONSE|shots|0 0|0 0|0 0|0 0|0 0|0 0|END|", "6 shots; 1..5 are allowed; for programs with another grid"),
    ],
)
def test_a_forfeit_is_logged_with_what_may_help(
    answer: str | None, warning: str, caplog: pytest.LogCaptureFixture
) -> None:
    stage, lobby = Stage(), SmackdownLobby(SMACKDOWN)
    programs = [stage.come(smackdown.door(lobby), name) for name in ("first", "second")]
    for program in programs:
        program.say(PLACED)
    if answer is None:
        stage.wait(11)
    else:
        programs[0].say(answer)
    [logged] = warnings(caplog)
    assert logged.startswith("first forfeits: ")
    assert warning in logged
    assert lines(caplog)[:4] == [
        "first: connected",
        "first: waits for another program; with --opponent BOT it would play a bot",
        "second: connected",
        "a game begins: first and second",
    ]
    assert "the game is over after 0 rounds; first: lost game, second: won game" in lines(caplog)


# --- Xterm Boat Sinker ------------------------------------------------------------------------------------------------


def test_a_game_of_boat_sinkers_is_logged_from_its_players_to_their_places(caplog: pytest.LogCaptureFixture) -> None:
    hall = Hall(XBS, players=2)
    opening = xbs.door(hall.watch, XBS)
    ann, bob = (hall.come(opening, f"192.0.2.7:{port}") for port in (1, 2))
    ann.say(f"J|ann|{BOARD}")
    bob.say(f"J|bob|{BOARD}")
    hall.come(opening, "192.0.2.7:3").say(f"J|cid|{BOARD}")
    hall.service.act("", m.HostCommand("desk", m.HostAction.ABORT))
    hall.settle()
    told = lines(caplog)
    assert told[:4] == [
        "192.0.2.7:1: connected",
        "192.0.2.7:2: connected",
        "ann at 192.0.2.7:1: takes part",
        "bob at 192.0.2.7:2: takes part",
    ]
    assert sorted(told[4].removeprefix("a game is on: ").split(", ")) == ["ann", "bob"]
    assert "cid at 192.0.2.7:3: game is already started" in told
    assert "game 1 is over after 1 turns: a host has aborted it" in told
    assert [line for line in told if "disconnected" in line][1:] == [
        "ann at 192.0.2.7:1: disconnected",
        "bob at 192.0.2.7:2: disconnected",
    ]


@pytest.mark.parametrize(
    ("said", "warning"),
    [
        (f"J|ann|{BOARD[:-1]}", "ann at x: invalid board; the rules xbs have 10 x 10 and A5 B4 C3 D3 E2: salvo serve"),
        (f"J|abcdefghijk|{BOARD}", "abcdefghijk at x: name too long; names have 10 bytes"),
        ('{"type": "GAME_INVITATION"}', "x: protocol error; this looks like a program of jsonline"),
        ("S|bob|1|1", "x: game hasn't started"),
    ],
)
def test_what_a_boat_sinker_is_refused_is_logged_with_what_may_help(
    said: str, warning: str, caplog: pytest.LogCaptureFixture
) -> None:
    hall = Hall(XBS, players=2)
    hall.come(xbs.door(hall.watch, XBS), "x").say(said)
    assert warnings(caplog)[0].startswith(warning)


@pytest.mark.parametrize(
    ("players", "hint"),
    [
        (None, "a game takes 2 without salvo serve --players"),
        (2, "a game has 2 players by salvo serve --players, or by a host"),
    ],
)
def test_a_game_that_is_full_says_which_option_counts(
    players: int | None, hint: str, caplog: pytest.LogCaptureFixture
) -> None:
    hall = Hall(XBS, players=players)
    opening = xbs.door(hall.watch, XBS, most=2)
    clients = [hall.come(opening, name) for name in ("ann", "bob", "cid")]
    for client in clients:
        client.say_at_once(f"J|{client.name}|{BOARD}")
    hall.settle()
    assert warnings(caplog) == [f"cid at cid: game is full; {hint}"]


@pytest.mark.parametrize(("over_seconds", "cure"), [(300, True), (1, False)])
def test_a_result_that_stands_for_long_is_logged_as_what_keeps_clients_out(
    over_seconds: int, cure: bool, caplog: pytest.LogCaptureFixture
) -> None:
    hall = Hall(XBS, players=2, over_ms=over_seconds * 1000)
    opening = xbs.door(hall.watch, XBS)
    for name in ("ann", "bob"):
        hall.come(opening, name).say(f"J|{name}|{BOARD}")
    hall.service.act("", m.HostCommand("desk", m.HostAction.ABORT))
    hall.settle()
    hall.come(opening, "cid").say(f"J|cid|{BOARD}")
    hint = "a result stands for 300 s: salvo serve --over-seconds 5 lets clients wait for the next game"
    assert warnings(caplog) == [f"cid at cid: game is already started; {hint}"] * cure


def test_a_turn_that_is_too_short_for_people_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    hall = Hall(XBS, players=2, turn_ms=30_000)
    opening = xbs.door(hall.watch, XBS)
    for name in ("ann", "bob"):
        hall.come(opening, name).say(f"J|{name}|{BOARD}")
    hall.wait(31)
    hint = "a turn has 30 s, and people take longer: salvo serve --turn-seconds 300"
    assert [line.partition(": ")[2] for line in warnings(caplog)] == [f"out of time; {hint}"]


# --- all of them ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "own", "hint"),
    [
        ("GET / HTTP/1.1", "xbs", "salvo web"),
        ('{"type": "GAME_INVITATION", "body": null}', "classic", "salvo gateway jsonline"),
        ("|RESPONSE|ship locations|0 0 H|END|", "xbs", "salvo gateway smackdown"),
        ("C", "xbs", "salvo gateway classic"),
        ("C", "classic", ""),
        ("J|ann|....", "jsonline", "salvo gateway xbs"),
        ("hello", "xbs", ""),
    ],
)
def test_a_program_at_another_systems_gateway_is_recognised(message: str, own: str, hint: str) -> None:
    found = hint_of_system(message, own)
    assert hint in found
    assert bool(hint) is bool(found)


def test_refusals_are_logged_once_a_second_and_kind(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("salvo.system.log_throttle.time.monotonic", lambda: now[0])
    report = GatewayReport()
    for second in (0.0, 0.9, 1.0):
        now[0] = 100.0 + second
        report.refused("full", f"refused at {second}")
        report.refused("late", "another kind\n\x1b[31m", "--rules streak")
    assert [line for line in lines(caplog) if "refused" in line] == [
        "refused at 0.0",
        "refused at 1.0 (and 1 more like it before)",
    ]
    assert lines(caplog)[1] == "another kind\ufffd\ufffd[31m; --rules streak"  # no line of its own


def test_clients_that_come_and_go_without_end_do_not_fill_the_log(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("salvo.system.log_throttle.time.monotonic", lambda: 100.0)
    report = GatewayReport()
    for number in range(10 * int(LINES.size)):
        report.happened(f"{number}: connected")
    assert len(lines(caplog)) == LINES.size + 1
    assert len(warnings(caplog)) == 1
