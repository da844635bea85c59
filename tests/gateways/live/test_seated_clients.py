"""Guests are players like any other: with rights of their own, on both brokers."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from kit.guarded import Guarded, guarded, play
from kit.programs import BROKERS
from salvo.errors import ConnectionLost
from salvo.events import Event, FleetWanted, GameEnded, SalvoWanted
from salvo_gateways.accounts import OpenAccounts, RosterAccounts
from salvo_gateways.errors import GatewayError
from salvo_gateways.host import GatewayDoor, Host
from salvo_gateways.peer import Broken
from salvo_gateways.table_watch import TableWatch
from salvo_gateways.xbs.seated import SeatedHandler


class Parrot(SeatedHandler):
    """Sits down as whom the program names, plays at random and tells what happens."""

    def message_received(self, message: str) -> None:
        if not self.seated:
            try:
                self.sit_down(message)
            except GatewayError as error:
                self.peer.send(f"refused {error.code}")
        elif message == "leave":
            self.end()

    def invalid_message_received(self, broken: Broken) -> None:
        self.peer.send(f"broken {broken.code}")

    def event_received(self, event: Event) -> None:
        match event:
            case FleetWanted(rules, _):
                self.session.place(rules.random_fleet(Random(1)), time.monotonic())
                self.peer.send("placed")
            case SalvoWanted(view):
                self.session.fire(view.untouched.sample(view.shots))
                self.peer.send(f"turn {view.turn}")
            case GameEnded(_, winner, _):
                self.peer.send(f"won by {winner}")
            case _:
                pass


class Program:
    """The foreign program."""

    def __init__(self, host: Host) -> None:
        self.socket = socket.create_connection(host.address, timeout=60)
        self.lines = self.socket.makefile("rw", encoding="utf-8", newline="\n")

    def say(self, line: str) -> None:
        self.lines.write(f"{line}\n")
        self.lines.flush()

    def until(self, beginning: str) -> str:
        for line in self.lines:
            if line.startswith(beginning):
                return line.strip()
        raise AssertionError(f"no {beginning!r} before the end")

    def close(self) -> None:
        self.lines.close()
        self.socket.close()


@contextlib.contextmanager
def parrots(contest: Guarded) -> Iterator[Host]:
    house = TableWatch(contest.url, "", RosterAccounts(contest.roster, "parrot"), pin=False)
    with contextlib.closing(house):
        house.open()
        host = Host(GatewayDoor(lambda peer: Parrot(peer, house)))
        host.open("127.0.0.1", 0)
        with contextlib.closing(host):
            yield host


@pytest.mark.parametrize("kind", BROKERS)
def test_a_guest_gets_an_account_when_it_first_comes_and_plays_a_whole_game(kind: str, tmp_path: Path) -> None:
    with guarded(kind, tmp_path) as contest:
        contest.account("red")
        threads = play(contest, ["red"])
        with parrots(contest) as host, contextlib.closing(Program(host)) as program:
            program.say("polly")
            assert program.until("won by") in ("won by polly", "won by red")
        for thread in threads:
            thread.join(60)
        assert {member.name: member.door for member in contest.roster.members()} == {
            "red": "",
            "polly": "parrot",
            "parrot-gateway": "parrot",
        }


def test_a_gateway_to_a_table_that_is_not_there_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("salvo_gateways.table_watch.ACCOUNT_SECONDS", 1.0)
    monkeypatch.setattr("salvo_gateways.table_watch.TABLE_SECONDS", 2.0)
    with guarded("embedded", tmp_path) as contest:
        house = TableWatch(contest.url, "elsewhere", RosterAccounts(contest.roster, "parrot"), pin=False)
        with contextlib.closing(house), pytest.raises(GatewayError, match="no server has table 'elsewhere'"):
            house.open()
        stranger = TableWatch(contest.url, "", OpenAccounts(tmp_path / "key", "parrot"), pin=False)
        with contextlib.closing(stranger), pytest.raises(ConnectionLost, match="wants a user and a password"):
            stranger.open()


def test_an_open_gateway_draws_the_same_secret_for_a_name_again(tmp_path: Path) -> None:
    first = OpenAccounts(tmp_path / "key", "parrot")
    again = OpenAccounts(tmp_path / "key", "parrot")
    assert first.secret_of("polly") == again.secret_of("polly")
    assert first.secret_of("polly") != first.secret_of("coco")
    assert first.secret_of("polly") != OpenAccounts(tmp_path / "key", "other").secret_of("polly")
