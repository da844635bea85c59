"""Clients of Xterm Boat Sinker at tables of a contest, with one another and with bots."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateways.gateway_stage import open_door
from gateways.xbs_client import Client, Gone, Outcome
from gateways.xbs_games import SECONDS, Playing, small
from kit.guarded import guarded
from kit.mosquitto import Mosquitto
from kit.players import Announced, over, salvos
from kit.programs import needs
from salvo import messages as m
from salvo.errors import ConnectionLost
from salvo.rules import XBS
from salvo_gateways.accounts import OpenAccounts, RosterAccounts
from salvo_gateways.errors import GatewayError
from salvo_gateways.table_watch import TableWatch
from salvo_gateways.xbs import door
from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_server.contest import Contest
from salvo_server.settings import ServerSettings


@pytest.fixture(autouse=True)
def _hang_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close what a test leaves open."""
    made: list[Client] = []
    begin = Client.__init__

    def noted(client: Client, *given: Any) -> None:
        begin(client, *given)
        made.append(client)

    monkeypatch.setattr(Client, "__init__", noted)
    yield
    for client in made:
        client.close()


def check_points(outcome: Outcome, received: Announced) -> None:
    """What the clients were told is what the referee said, whose news may come here a little later than to them."""
    received.until(over)
    stats = {each.player: each for each in received.of(m.PlayerStats)}
    shown = {name: [int(value) for value in values] for name, *values in (each[:4] for each in outcome.results)}
    assert shown == {name: [s.hits, s.turns - s.shots, s.turns] for name, s in stats.items()}
    assert {s.turns for s in stats.values()} == {outcome.turns}


@contextlib.contextmanager
def table(folder: Path, *, rules: str = "", **given: Any) -> Iterator[tuple[str, Announced]]:
    """Run a server with its broker; yield the broker's address."""
    received = Announced()
    with EmbeddedBroker() as broker:
        values: dict[str, Any] = {"broker": broker.url, "seed": "7", "players": 2, "over_seconds": 600}
        values["rules"] = rules or small(folder)
        with Contest(ServerSettings(**(values | given)), received).in_background():
            yield broker.url, received


def open_gateway(url: str, folder: Path) -> contextlib.AbstractContextManager[tuple[str, int]]:
    """Run a gateway to the table of an open broker."""
    return open_door(url, OpenAccounts(folder / "gateway.key", "xbs"), door)


def sit_down(address: tuple[str, int], *names: str) -> list[Client]:
    clients = []
    for name in names:
        client = Client(*address, name)
        assert client.join() == ["J", name]
        clients.append(client)
    return clients


def finish(client: Client) -> Outcome:
    """Play on from where a test has left a client."""
    while True:
        message = client.hear()
        client.note(message)
        if message[0] == "F":
            return client.hear_results(message)
        if message == ["N", client.name]:
            client.take_turn()


def finish_all(*clients: Client) -> list[Outcome]:
    outcomes: list[Outcome] = []
    threads = [threading.Thread(target=lambda c=c: outcomes.append(finish(c)), daemon=True) for c in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert len(outcomes) == len(clients)
    assert [fault for client in clients for fault in client.faults] == []
    return outcomes


def until(client: Client, *start: str) -> list[str]:
    return client.hear_until(lambda message: message[: len(start)] == list(start))


@needs("mosquitto")
def test_guests_get_accounts_when_they_first_come_and_play_a_whole_game(tmp_path: Path) -> None:
    received = Announced()
    with guarded("mosquitto", tmp_path, book=XBS, listener=received) as contest:
        with open_door(contest.url, RosterAccounts(contest.roster, "xbs"), door) as address:
            outcome = Playing([Client(*address, name, seed) for seed, name in enumerate(("ann", "bob"))]).wait()
        assert {member.name: member.door for member in contest.roster.members()} == dict.fromkeys(
            ("ann", "bob", "xbs-gateway"), "xbs"
        )
    assert outcome.state == "finished"
    assert max(int(values[1]) for values in outcome.results) >= 17
    check_points(outcome, received)


def test_a_gateway_to_a_missing_table_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("salvo_gateways.table_watch.ACCOUNT_SECONDS", 1.0)
    monkeypatch.setattr("salvo_gateways.table_watch.TABLE_SECONDS", 2.0)
    with guarded("embedded", tmp_path) as contest:
        house = TableWatch(contest.url, "elsewhere", RosterAccounts(contest.roster, "xbs"), pin=False)
        with contextlib.closing(house), pytest.raises(GatewayError, match="no server has table 'elsewhere'"):
            house.open()
        stranger = TableWatch(contest.url, "", OpenAccounts(tmp_path / "key", "xbs"), pin=False)
        with contextlib.closing(stranger), pytest.raises(ConnectionLost, match="wants a user and a password"):
            stranger.open()


def test_a_client_that_never_reads_or_floods_holds_up_no_other(tmp_path: Path) -> None:
    rules = small(tmp_path, goal=2)
    with (
        table(tmp_path, rules=rules, players=3, turn_seconds=1) as (url, received),
        open_gateway(url, tmp_path) as address,
    ):
        ann, bob, mute = sit_down(address, "ann", "bob", "mute")

        def flood() -> None:
            with contextlib.suppress(Gone, OSError):
                while True:
                    mute.send("P|" + "x" * 4000)

        threading.Thread(target=flood, daemon=True).start()
        outcome, _ = finish_all(ann, bob)
        [mutes] = [values for values in outcome.results if values[0] == "mute"]
        assert mutes[2] == mutes[3]
        check_points(outcome, received)


def test_a_server_that_ends_in_mid_game_goes_on_with_its_clients(tmp_path: Path) -> None:
    first, second = Announced(), Announced()
    with EmbeddedBroker() as broker, contextlib.ExitStack() as stack:
        settings = ServerSettings(
            broker=broker.url,
            rules=small(tmp_path),
            players=2,
            over_seconds=600,
            journal=str(tmp_path / "a.journal"),
            resume="always",
        )
        contest = Contest(settings, first)
        first.once = salvos(9), contest.stop.set
        with contest.in_background():
            address = stack.enter_context(open_gateway(broker.url, tmp_path))
            playing = Playing([Client(*address, name, seed) for seed, name in enumerate(("ann", "bob"))])
            first.until(salvos(9))
        assert not over(first.all)
        with Contest(settings, second).in_background():
            outcome = playing.wait()
    assert outcome.state == "finished"
    assert max(int(values[1]) for values in outcome.results) >= 7
    check_points(outcome, second)
    assert any("the server is offline; the game waits" in line for line in playing.clients[0].lines)


class Thoughtful(Client):
    """Thinks over the table's turn 10 until the server has told again how the game stands, and its rival nudges it."""

    received: Announced
    rival: Client
    asked: threading.Event

    def choose(self) -> str:
        if sum(line.startswith("N|") for line in self.lines) == 10:
            self.asked.set()
            self.received.until(
                lambda announced: {each.to for each in announced if isinstance(each, m.Recap)} == {"ann", "bob"}
            )
            self.rival.send(f"M|{self.name}|well?")  # goes through the server, and comes after the recap
            self.hear_until(lambda message: message == ["M", self.rival.name, "well?"])
        return super().choose()


@needs("mosquitto")
def test_a_slow_player_still_has_its_turn_after_the_broker_is_killed(tmp_path: Path) -> None:
    """The answer said that it was not its turn, so it sat out the 30 seconds."""
    received, may_kill = Announced(), threading.Event()
    with Mosquitto() as broker:

        def kill() -> None:
            assert may_kill.wait(SECONDS)
            broker.kill()

        settings = ServerSettings(broker=broker.url, rules=small(tmp_path), players=2, over_seconds=600)
        received.once = salvos(9), kill  # of fourteen at least
        with (
            Contest(settings, received).in_background(),
            open_gateway(broker.url, tmp_path) as address,
        ):
            clients = [Thoughtful(*address, name, seed) for seed, name in enumerate(("ann", "bob"))]
            for client, rival in zip(clients, reversed(clients), strict=True):
                client.received, client.rival, client.asked = received, rival, may_kill
            playing = Playing(clients)
            received.until(salvos(9))
            broker.start()
            outcome = playing.wait()
    assert outcome.state == "finished"
    check_points(outcome, received)
    assert received.of(m.CommandRefused) == []
    assert {(turn.player, turn.shots) for turn in received.of(m.SalvoResolved)} == {("ann", 1), ("bob", 1)}
