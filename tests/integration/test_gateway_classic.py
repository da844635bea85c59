"""Programs of the two-player game over MQTT topics, with rights of their own, and through gateways that die."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections import deque
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.classic_client import Program, Tcp
from conformance.gateway_stage import Winners, served, until
from integration.conftest import Broker, StartServer
from integration.gateway_process import GatewayProcess
from integration.guarded import guarded
from salvo.net.mqtt import Connection
from salvo.rules import CLASSIC
from salvo_server.cli.gateway_classic import command
from salvo_server.gateways.accounts import OpenAccounts, RosterAccounts
from salvo_server.gateways.classic import Role, door
from salvo_server.gateways.classic.caller import call_again_and_again
from salvo_server.gateways.classic.mqtt_transport import Carrier
from salvo_server.gateways.host import Host
from salvo_server.gateways.table_watch import TableWatch


class Topics:
    """A program's end of a channel."""

    def __init__(self, url: str, channel: str, role: Role) -> None:
        heard, self._said = f"/classic/{channel}/to-{role}", f"/classic/{channel}/to-{_other(role)}"
        self._inbox: deque[str] = deque()
        self._connection = Connection(url, f"program-{role}", clean_session=True)
        self._connection.on_connect = lambda _: self._connection.subscribe([heard])
        self._connection.connect(60)
        self._connection.flush(60)

    def send(self, message: str) -> None:
        self._connection.publish(self._said, message.encode())
        self._connection.flush(60)

    def receive(self, seconds: float) -> str | None:
        end = time.monotonic() + seconds
        while not self._inbox and (left := end - time.monotonic()) > 0:
            for message in self._connection.poll(left):
                self._inbox.append(message.payload.decode())
                self._connection.acknowledge(message)
        return self._inbox.popleft() if self._inbox else None

    def close(self) -> None:
        self._connection.close()


def _other(role: Role) -> Role:
    return Role.CLIENT if role is Role.SERVER else Role.SERVER


@pytest.mark.long
@pytest.mark.parametrize("role", list(Role))
def test_two_topics_carry_the_game(role: Role, broker: Broker, start_server: StartServer, tmp_path: Path) -> None:
    winners, stop = Winners(), threading.Event()
    with start_server(winners, rules="classic", players=2, over_seconds=1) as contest, contextlib.ExitStack() as stack:
        house = TableWatch(contest.url, "", OpenAccounts(tmp_path / "key", "classic"), pin=False)
        stack.enter_context(contextlib.closing(house))
        opening = door(house.open(), role=role, end_seconds=0, games=tmp_path / "games", lasting=True)
        host = stack.enter_context(contextlib.closing(Host(house, opening)))
        program = Program(Topics(contest.url, "one", _other(role)), 1, leads=role is Role.CLIENT)
        stack.callback(program.line.close)
        carrier = threading.Thread(target=Carrier(contest.url, "one", role, host).run, args=(stop,))
        carrier.start()
        stack.callback(carrier.join)
        stack.callback(stop.set)
        program.connect()
        program.play(2)
        until(lambda: len(winners.by_table.get("", [])) == 2)
        assert [name == "classic-guest" for name in winners.by_table[""]] == program.won
        # A payload that is no message, even one of several lines or one that is far too long, ends in E.
        if role is Role.SERVER:
            assert program.next() == "Z"
            for wrong in ("D\nD", "S" * 10_000, "\n"):
                program.line.send(wrong)
                heard = program.next()
                assert heard in ("D", "E")
                program = Program(program.line, 2)
                while heard != "E":
                    heard = program.next()
                program.connect()


def test_a_game_is_played_again_by_accounts_of_the_roster(tmp_path: Path) -> None:
    winners = Winners()
    with guarded("embedded", tmp_path, book=CLASSIC, listener=winners) as contest, contextlib.ExitStack() as stack:
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


@pytest.mark.long
def test_over_topics_a_game_goes_on_where_it_was_when_the_gateway_was_killed(tmp_path: Path) -> None:
    winners = Winners()
    with served(winners, rules="classic") as contest, contextlib.ExitStack() as stack:
        program = Program(Topics(contest.url, "one", Role.CLIENT), 5)
        stack.callback(program.line.close)
        arguments = (
            "classic",
            "--role",
            "server",
            "--broker",
            contest.url,
            "--no-pin",
            "--games",
            str(tmp_path / "games"),
        )
        gateway = stack.enter_context(GatewayProcess(*arguments, channel="one"))
        program.connect()

        shoot = program.shoot
        fired = iter(range(1000))

        def shoot_through_a_gateway_that_dies() -> str:
            if next(fired) in (4, 9):
                gateway.kill()
                gateway.start()
            return shoot()

        program.shoot = shoot_through_a_gateway_that_dies  # type: ignore[method-assign]
        program.play(1)
        until(lambda: bool(winners.by_table))
        assert winners.by_table == {"": ["classic-guest" if program.won[0] else "bot-classic-guest"]} or (
            winners.by_table == {"": ["house-classic-guest"]} and not program.won[0]
        )


def test_over_tcp_a_program_whose_gateway_was_killed_begins_anew(tmp_path: Path) -> None:
    """A lost peer counts as E there, so the game is over for the program, too."""
    with (
        served(rules="classic") as contest,
        GatewayProcess("classic", "--broker", contest.url, "--no-pin", "--games", str(tmp_path / "games")) as gateway,
    ):
        for turns in (5, None):
            with contextlib.closing(Tcp(gateway.address)) as line:
                program = Program(line, 5)
                program.connect()
                program.play_one(begins=False, turns=turns)
                if turns:
                    gateway.kill()
                    gateway.start()


def test_a_gateway_that_is_client_calls_a_server_and_again_when_that_has_hung_up(tmp_path: Path) -> None:
    winners, stop = Winners(), threading.Event()
    with served(winners, rules="classic") as contest, contextlib.ExitStack() as stack:
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
    assert "say where, --call HOST:PORT" in ended.output


class _SaysC:
    """A host whose guest says C as soon as it is admitted."""

    def __init__(self) -> None:
        self.guests: list[socket.socket] = []

    def admit(self, sock: socket.socket, name: str) -> None:
        self.guests.append(sock)
        sock.sendall(b"C\n")


def test_nothing_is_said_before_the_topic_of_the_answers_is_subscribed() -> None:
    stop, host = threading.Event(), _SaysC()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"mqtt://127.0.0.1:{listening.getsockname()[1]}"
        carrier = Carrier(url, "one", Role.CLIENT, host)  # type: ignore[arg-type]
        running = threading.Thread(target=carrier.run, args=(stop,))
        running.start()
        with listening.accept()[0] as broker:
            assert broker.recv(1024)[0] == 0x10
            until(
                lambda: bool(carrier._said) or carrier._connection._unsent()
            )  # C is there, and nothing is accepted yet
            broker.sendall(b"\x20\2\0\0")
            assert broker.recv(1024)[0] == 0x82
            stop.set()
            running.join()
    for guest in host.guests:
        guest.close()
