"""What the embedded broker says to whom it refuses, and what it costs to ask for rights at every delivery."""

from __future__ import annotations

import logging

import pytest

from kit.accounts import SERVER, contest, team
from kit.attached import attached, receive
from kit.raw import Raw, connect_packet, packet, text
from kit.secured import Client
from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_server.brokers.embedded.roster_access import RosterAccess

RED = team("red")[0]


def test_a_wrong_password_is_refused_and_the_log_begins_no_line_of_the_clients(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    with (
        EmbeddedBroker(access=RosterAccess(contest("red"))) as broker,
        Raw(broker.port, "a\nWARNING forged", user=RED.user, password="guess") as raw,
    ):
        assert raw.read() == b"\x20\2\0\4"
    assert "forged" in caplog.text
    assert "\nWARNING forged" not in caplog.text
    assert "guess" not in caplog.text
    assert RED.secret not in caplog.text


class _OutdatedAtOnce(RosterAccess):
    """The doorkeeper's thread gives red another secret just after its old one was found right."""

    def admits(self, client_id: str, username: str | None, password: str | None) -> bool:
        admitted = super().admits(client_id, username, password)
        if username == "red":
            self.replace([*contest("blue"), *team("red", "another")], ("",))
        return admitted


def test_a_client_does_not_stay_on_a_secret_that_changed_while_it_was_compared() -> None:
    with (
        EmbeddedBroker(access=_OutdatedAtOnce(contest("red", "blue"))) as broker,
        Raw(broker.port, user=RED.user, password=RED.secret) as red,
    ):
        got = b""
        while chunk := red.read():
            got += chunk
        assert chunk == b"", "the connection stands"
        assert got in (b"", b"\x20\2\0\0")


def test_the_server_may_send_what_no_team_may() -> None:
    """An entry of the log may have 262,144 bytes; a team's command has four thousand."""
    with EmbeddedBroker(access=RosterAccess(contest("red"))) as broker, Client(broker.port, SERVER) as server:
        with Client(broker.port, RED) as red:
            red.subscribe(["/game/log"])
            server.publish(["/game/log"], "x" * 200_000)
            red.wait_for("/game/log", "x" * 200_000)
            red.publish(["/players/red/fire"], "x" * 20_000)
            red.until(lambda: red.lost)
        server.publish(["/game/log"], "x" * 300_000)
        server.until(lambda: server.lost)


def test_the_broker_marks_shots_with_their_team_and_nothing_else() -> None:
    with (
        EmbeddedBroker(access=RosterAccess(contest("red", "blue"))) as broker,
        Client(broker.port, team("red")[0]) as red,
        Client(broker.port, team("blue")[0]) as blue,
    ):
        server = attached(broker, SERVER.user, "/players/+/fire", "/players/+/skip")
        red.publish(["/players/blue/fire"], "a shot")
        blue.publish(["/players/blue/fire"], "a shot")  # copied, and its own now
        blue.publish(["/players/blue/skip"], "a skip")
        arrived = receive(server, 3)
        server.close()
    assert [(message.topic, message.team) for message in arrived] == [
        ("/players/blue/fire", "red"),
        ("/players/blue/fire", "blue"),
        ("/players/blue/skip", None),
    ]


def test_a_client_without_an_account_reads_how_to_get_in_and_so_does_the_operator(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """MQTT 3.1.1 has a number for that and nothing else."""
    with EmbeddedBroker(access=RosterAccess(contest("red"))) as broker:
        with Raw(broker.port, greeting=connect_packet("literal")) as old:
            assert old.read() == b"\x20\2\0\4"
        with Raw(broker.port, greeting=connect_packet("literal", level=5)) as new:
            answer = new.read()
        small = b"\x27" + (20).to_bytes(4, "big")  # the largest packet that it takes
        head = b"\0\4MQTT\5\2\0\x3c" + bytes((len(small),)) + small
        with Raw(broker.port, greeting=packet(0x10, head + text("literal"))) as tiny:
            assert tiny.read() == b"\x20\3\0\x86\0"
    assert answer is not None
    assert (answer[0], answer[2:4], answer[5:6]) == (0x20, b"\0\x86", b"\x1f")
    assert b"a team's name as user and its secret as password" in answer
    [line] = [record.getMessage() for record in caplog.records]  # further ones are only counted
    assert line.startswith("literal brings no user name")
    assert "--profile open" in line
