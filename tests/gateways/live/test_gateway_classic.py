"""Programs of the two-player game on its bus, with rights of their own, and through gateways that die."""

from __future__ import annotations

import contextlib
import socket
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

from gateways.classic_client import Bus, Program, Tcp
from gateways.gateway_process import GatewayProcess
from gateways.gateway_stage import Winners, served, until
from kit.guarded import guarded
from salvo.rules import SPACED
from salvo_gateways.accounts import OpenAccounts, RosterAccounts
from salvo_gateways.classic import Role, bus, door
from salvo_gateways.classic.caller import call_again_and_again
from salvo_gateways.commands import gateway_classic
from salvo_gateways.commands.gateway_classic import command
from salvo_gateways.host import Host
from salvo_gateways.table_watch import TableWatch


@pytest.mark.long
@pytest.mark.parametrize("calling", [True, False], ids=["it calls", "it is called"])
@pytest.mark.parametrize("role", list(Role))
def test_programs_find_the_gateway_on_the_bus_and_play(
    role: Role, calling: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    winners, stop = Winners(), threading.Event()
    monkeypatch.setattr(bus, "_address_towards", lambda _: "127.0.0.1")
    monkeypatch.setattr(gateway_classic, "ended_by_signals", lambda: stop)
    monkeypatch.setenv("SALVO_KNOWN_SERVERS", "none")
    with served(winners, rules="spaced") as contest, contextlib.ExitStack() as stack:
        line = stack.enter_context(contextlib.closing(Bus("234.7.6.5")))
        arguments = [
            "--bus",
            f"{line.group[0]}:{line.group[1]}",
            "--role",
            role.value,
            "--broker",
            contest.url,
        ]
        arguments += ["--end-seconds", "0"] if role is Role.SERVER else []
        arguments += ["--games", str(tmp_path / "games"), "--roster", "none"]
        running = threading.Thread(target=command.main, args=(arguments,), kwargs={"standalone_mode": False})
        running.start()
        stack.callback(running.join)
        stack.callback(stop.set)
        line.meet(calling=calling)
        for noise in (
            "",
            "P/",
            "A/nobody:1",
            "P/127.0.0.1:99999",
            "D/127.0.0.1:1",
            "A/\0:1",
            "A/127.0.0.1:²",
            "\0" * 2000,
        ):
            line.say(noise)
        program = Program(line, 1, leads=role is Role.CLIENT)
        program.connect()
        program.play(2)
        until(lambda: len(winners.by_table.get("", [])) == 2)
        assert [name == "classic-guest" for name in winners.by_table[""]] == program.won


def test_a_game_is_played_again_by_accounts_of_the_roster(tmp_path: Path) -> None:
    winners = Winners()
    with guarded("embedded", tmp_path, book=SPACED, listener=winners) as contest, contextlib.ExitStack() as stack:
        house = TableWatch(contest.url, "", RosterAccounts(contest.roster, "classic"), pin=False)
        stack.enter_context(contextlib.closing(house))
        host = Host(house, door(house.open(), rounds=1, games=tmp_path / "games"))
        host.open("127.0.0.1", 0)
        stack.enter_context(contextlib.closing(host))
        program = Program(Tcp(host.address), 3)
        stack.callback(program.line.close)
        program.connect()
        program.play(1)
        until(lambda: bool(winners.by_table))
        assert winners.by_table[""][0] == "classic-guest" or not program.won[0]


def test_over_tcp_a_program_whose_gateway_was_killed_begins_anew(tmp_path: Path) -> None:
    """A lost peer counts as E there, so the game is over for the program, too."""
    with (
        served(rules="spaced") as contest,
        GatewayProcess("classic", "--broker", contest.url, "--games", str(tmp_path / "games")) as gateway,
    ):
        for turns in (5, None):
            with contextlib.closing(Tcp(gateway.address)) as line:
                program = Program(line, 5)
                program.connect()
                program.play_one(begins=False, turns=turns)
                if turns:
                    gateway.kill()
                    gateway.start()


@pytest.mark.quick
def test_a_gateway_that_is_client_calls_a_server_and_again_when_that_has_hung_up(tmp_path: Path) -> None:
    winners, stop = Winners(), threading.Event()
    with served(winners, rules="spaced") as contest, contextlib.ExitStack() as stack:
        house = TableWatch(contest.url, "", OpenAccounts(tmp_path / "key", "classic"), pin=False)
        stack.enter_context(contextlib.closing(house))
        host = Host(house, door(house.open(), role="client", games=tmp_path / "games"))
        stack.enter_context(contextlib.closing(host))
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        calling = threading.Thread(target=call_again_and_again, args=(host, server.getsockname()[:2], stop))
        calling.start()
        stack.callback(calling.join)
        stack.callback(stop.set)
        for seed, games in ((1, 1), (2, 2)):
            with contextlib.closing(Tcp(server.accept()[0])) as line:
                program = Program(line, seed, leads=True)
                program.connect()
                program.play(games)
                line.send("E")
                assert program.begun == [True, False][:games]
        until(lambda: len(winners.by_table.get("", [])) == 3)


def test_a_client_needs_a_server_to_call() -> None:
    ended = CliRunner().invoke(command, ["--role", "client"])
    assert ended.exit_code == 2
    assert "say where, --call HOST:PORT or --bus" in ended.output
