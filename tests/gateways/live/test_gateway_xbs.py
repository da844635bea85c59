"""Clients of Xterm Boat Sinker at tables of a contest, with one another and with bots."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gateways.gateway_stage import open_door
from gateways.xbs_client import FATAL, HARMLESS, REFUSED, Client, Gone, Outcome
from gateways.xbs_games import SECONDS, Patient, Playing, Slow, small
from kit.brokers import StartServer
from kit.mosquitto import Mosquitto
from kit.players import Heard, join, over, salvos
from kit.ports import Port
from kit.programs import needs
from salvo import Bot, View
from salvo import messages as m
from salvo.net.mqtt import Connection
from salvo.player import Answer
from salvo_gateways.xbs import door
from salvo_lab.bots.hunter import Hunter
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


def check_points(outcome: Outcome, heard: Heard) -> None:
    """What the clients were told is what the referee said, whose news may come here a little later than to them."""
    heard.until(over)
    stats = {each.player: each for each in heard.of(m.PlayerStats)}
    told = {name: [int(value) for value in values] for name, *values in (each[:4] for each in outcome.results)}
    assert told == {name: [s.hits, s.turns - s.shots, s.turns] for name, s in stats.items()}
    assert {s.turns for s in stats.values()} == {outcome.turns}


@contextlib.contextmanager
def table(folder: Path, *, rules: str = "", **given: Any) -> Iterator[tuple[str, Heard]]:
    """Run a server with its broker; yield the broker's address."""
    heard = Heard()
    with EmbeddedBroker() as broker:
        values: dict[str, Any] = {"broker": broker.url, "seed": "7", "players": 2, "over_seconds": 600}
        values["rules"] = rules or small(folder)
        with Contest(ServerSettings(**(values | given)), heard).in_background():
            yield broker.url, heard


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


def test_clients_play_a_whole_game_on_both_brokers(start_server: StartServer, tmp_path: Path) -> None:
    heard = Heard()
    with (
        start_server(heard, players=3, rules="xbs") as contest,
        open_door(contest.url, tmp_path, door) as address,
    ):
        outcome = Playing([Client(*address, name, seed) for seed, name in enumerate(("ann", "bob", "cy"))]).wait()
    assert outcome.state == "finished"
    assert max(int(values[1]) for values in outcome.results) >= 17
    check_points(outcome, heard)


@pytest.mark.long
def test_a_bot_and_clients_play_at_one_table_which_a_watcher_sees(tmp_path: Path) -> None:
    with table(tmp_path, rules="xbs", players=3) as (url, heard), open_door(url, tmp_path, door) as address:
        watcher = Connection(url, "watcher", clean_session=True)
        watcher.on_connect = lambda _: watcher.subscribe(["/game/state", "/players/+/board", "/game/winner"])
        seen: dict[str, bytes] = {}
        join(url, "an_SDK_hunter", Hunter())
        clients = [Client(*address, name, seed) for seed, name in enumerate(("ann", "bob"))]
        playing = Playing(clients)
        while seen.get("/game/state") != b"over":
            for message in watcher.poll(1):
                watcher.acknowledge(message)
                seen[message.topic] = message.payload
        watcher.close()
        outcome = playing.wait()
    shown = {"ann": "ann", "bob": "bob", "an_SDK_hunter": "an_SDK_h~1"}
    for name, called in shown.items():
        assert all(client.players[called].board == seen[f"/players/{name}/board"].decode() for client in clients)
    for values in outcome.results:
        values[0] = values[0].replace("an_SDK_h~1", "an_SDK_hunter")
    check_points(outcome, heard)
    assert {values[0] for values in outcome.results} == {*shown}
    assert outcome.results[0][0].encode() in seen["/game/winner"]  # mostly the hunter; the others may be lucky, or tie


@pytest.mark.slow
def test_many_games_with_wrong_late_partial_doubled_and_oversized_lines(tmp_path: Path) -> None:
    games, tables = int(os.environ.get("SALVO_GATEWAY_GAMES", "8")), ("", "two", "three", "four")
    ended: list[Outcome] = []
    tried: list[str] = []
    began = time.monotonic()

    def play(address: tuple[str, int], first: int) -> None:
        for game in range(first, games, len(tables)):
            playing = Playing([Client(*address, name, 2 * game + n, 0.25) for n, name in enumerate(("ann", "bob"))])
            ended.append(playing.wait())
            tried.extend(what for client in playing.clients for what in client.tried)

    with contextlib.ExitStack() as stack:
        given: dict[str, Any] = {"tables": tables[1:], "over_seconds": 1}
        url, heard = stack.enter_context(table(tmp_path, **given))
        threads = []
        for number, name in enumerate(tables):
            address = stack.enter_context(open_door(url, tmp_path, door, table=name))
            threads.append(threading.Thread(target=play, args=(address, number), daemon=True))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SECONDS + 10 * games)
    print(f"{len(ended)} games in {time.monotonic() - began:.0f} s, {len(tried)} times what should not be")
    assert len(ended) == games
    assert {outcome.state for outcome in ended} == {"finished"}
    assert {*tried} == {*REFUSED, *FATAL, *HARMLESS}
    assert len(heard.of(m.GameWon)) == games


class OnlyAtAnn(Bot):
    """Leaves it to ann to be taunted by who else is there; a taunt may be heard only so often."""

    def choose_salvo(self, view: View) -> Answer:
        return view.untouched.of("ann")[: view.shots]


def test_what_is_said_reaches_whom_it_is_meant_for(tmp_path: Path) -> None:
    with table(tmp_path, players=3) as (url, _), open_door(url, tmp_path, door) as address:
        ann, bob = sit_down(address, "ann", "bob dylan"[:6].replace(" ", "_"))
        bot = join(url, "the-longest-name-in-town", OnlyAtAnn())
        long = until(ann, "J", "the-~1")
        assert long == until(bob, "J", "the-~1")
        ann.send("M||hello, everybody")
        assert until(bob, "M") == ["M", "ann", "hello, everybody", "All"]
        bob.send(f"M|ann|in your ear|{'x' * 50}")
        assert until(ann, "M") == ["M", bob.name, "in your ear"]
        ann.send("M|nobody|where are you?")  # which is dropped in silence
        ann.send(f"M||{'x' * 201}")
        assert until(ann, "M")[:2] == ["M", ""]
        for client in (ann, bob):
            client.send("T|hit|ouch!")
            client.send("T|miss|splash!")
            client.send("T|nothing|of the kind")
        finish_all(ann, bob)
        bot.join(0)
        heard = [line for line in ann.lines if line.startswith(f"M|{bob.name}|")]
        assert {line.split("|")[2] for line in heard} <= {"in your ear", "ouch!", "splash!"}
        assert len(heard) > 1


def test_chat_sent_right_behind_a_request_is_delivered_once_it_is_granted(tmp_path: Path) -> None:
    with table(tmp_path, players=3) as (url, _), open_door(url, tmp_path, door) as address:
        [ann] = sit_down(address, "ann")
        bob = Client(*address, "bob")
        bob.connect()
        bob.send(f"J|bob|{bob.draw_board()}")
        bob.send("M||hello from the doorstep")
        assert until(ann, "M") == ["M", "bob", "hello from the doorstep", "All"]


def test_where_the_chat_is_off_they_are_told(tmp_path: Path) -> None:
    with table(tmp_path, chat=False) as (url, _), open_door(url, tmp_path, door) as address:
        ann, bob = sit_down(address, "ann", "bob")
        ann.send("M||hello?")
        assert until(ann, "M") == ["M", "", "chat is off"]
        ann.send("T|hit|ouch!")
        ann.send("T|miss|splash!")
        finish_all(ann, bob)
        assert not [line for line in bob.lines if line.startswith("M|ann")]


def test_names_of_others_are_taken_and_full_tables_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ServerSettings, "limits", m.Limits(players=4, most_players=3))
    with (
        table(tmp_path) as (url, heard),
        open_door(url, tmp_path, door) as address,
        open_door(url, tmp_path, partial(door, most=2)) as narrow,
    ):
        join(url, "bob", Hunter())
        heard.until(lambda said: any(isinstance(each, m.PlayersListed) for each in said))
        ann = Client(*address, "bob")
        assert ann.join() == ["E", "name in use"]
        ann.name = "Bob"  # in another spelling it is another player's
        ann.send(f"J|Bob|{ann.own}")
        assert ann.hear() == ["J", "Bob"]
        until(ann, "J", "bob")
        late = Client(*narrow, "cy")
        while late.connect()[5] != "2":
            pass
        late.send(f"J|cy|{late.draw_board()}")
        assert late.hear() == ["game is full"]
        sit_down(address, "cy")
        assert Client(*address, "dan").join() == ["game is full"]


def test_who_never_reads_or_never_stops_holds_up_nobody(tmp_path: Path) -> None:
    rules = small(tmp_path, goal=2)
    with (
        table(tmp_path, rules=rules, players=3, turn_seconds=1) as (url, heard),
        open_door(url, tmp_path, door) as address,
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
        check_points(outcome, heard)


def test_a_server_that_ends_in_mid_game_goes_on_with_its_clients(tmp_path: Path) -> None:
    first, second = Heard(), Heard()
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
            address = stack.enter_context(open_door(broker.url, tmp_path, door))
            playing = Playing([Client(*address, name, seed) for seed, name in enumerate(("ann", "bob"))])
            first.until(salvos(9))
        assert not over(first.all)
        with Contest(settings, second).in_background():
            outcome = playing.wait()
    assert outcome.state == "finished"
    assert max(int(values[1]) for values in outcome.results) >= 7
    check_points(outcome, second)
    assert any("server is away" in line for line in playing.clients[0].lines)


class Thoughtful(Client):
    """Thinks over the table's turn 10 until the server has told again how the game stands, and its rival nudges it."""

    heard: Heard
    rival: Client
    asked: threading.Event

    def choose(self) -> str:
        if sum(line.startswith("N|") for line in self.lines) == 10:
            self.asked.set()
            self.heard.until(lambda said: {each.to for each in said if isinstance(each, m.Recap)} == {"ann", "bob"})
            self.rival.send(f"M|{self.name}|well?")  # goes through the server, and comes after the recap
            self.hear_until(lambda message: message == ["M", self.rival.name, "well?"])
        return super().choose()


def play_over_a_kill(kind: type[Client], folder: Path, may_kill: threading.Event) -> None:
    heard = Heard()
    with Mosquitto() as broker:

        def kill() -> None:
            assert may_kill.wait(SECONDS)
            broker.kill()

        settings = ServerSettings(broker=broker.url, rules=small(folder), players=2, over_seconds=600)
        heard.once = salvos(9), kill  # of fourteen at least
        with Contest(settings, heard).in_background(), open_door(broker.url, folder, door) as address:
            clients = [kind(*address, name, seed) for seed, name in enumerate(("ann", "bob"))]
            for client, rival in zip(clients, reversed(clients), strict=True):
                if isinstance(client, Thoughtful):
                    client.heard, client.rival, client.asked = heard, rival, may_kill
            playing = Playing(clients)
            heard.until(salvos(9))
            broker.start()
            outcome = playing.wait()
    assert outcome.state == "finished"
    check_points(outcome, heard)
    assert heard.of(m.CommandRefused) == []
    assert {(turn.player, turn.shots) for turn in heard.of(m.SalvoResolved)} == {("ann", 1), ("bob", 1)}


@needs("mosquitto")
def test_a_broker_that_is_killed_in_mid_game_costs_no_client_its_game(tmp_path: Path) -> None:
    at_once = threading.Event()
    at_once.set()
    play_over_a_kill(Slow, tmp_path, at_once)


@needs("mosquitto")
def test_a_slow_player_keeps_the_turn_over_an_outage_of_the_broker(tmp_path: Path) -> None:
    """It was told that it was not its turn, and sat out the 30 seconds."""
    play_over_a_kill(Thoughtful, tmp_path, threading.Event())


def test_a_game_that_the_server_gives_up_is_aborted(tmp_path: Path) -> None:
    with EmbeddedBroker() as broker, contextlib.ExitStack() as stack:
        settings = ServerSettings(broker=broker.url, rules=small(tmp_path), players=2, turn_seconds=600, journal="none")
        with Contest(settings).in_background():
            address = stack.enter_context(open_door(broker.url, tmp_path, door))
            ann, bob = sit_down(address, "ann", "bob")
            until(ann, "N")
        with Contest(settings).in_background():
            finished = until(ann, "F")
            assert finished[:2] == ["F", "aborted"]
            assert len(ann.hear_results(finished).results) == 2
            bob.close()


# --- the gateway as a process -----------------------------------------------------------------------------------------


@contextlib.contextmanager
def gateway_process(url: str, listen: str) -> Iterator[tuple[subprocess.Popen[str], tuple[str, int]]]:
    command = [sys.executable, "-m", "salvo", "gateway", "xbs", "--broker", url, "--listen", listen]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            host, _, port = process.stdout.readline().split()[-1].rpartition(":")
            yield process, (host, int(port))
        finally:
            process.kill()


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_gateway_that_dies_and_comes_back_finds_its_players_where_they_were(
    number: signal.Signals, tmp_path: Path, port: Port
) -> None:
    with table(tmp_path, rules="xbs") as (url, heard):
        with gateway_process(url, port.address) as (process, address):
            playing = Playing([Patient(*address, name, seed) for seed, name in enumerate(("ann", "bob"))])
            heard.until(salvos(21))
            process.send_signal(number)
            process.wait(60)
        before = len(heard.of(m.SalvoResolved))
        with gateway_process(url, f"{address[0]}:{address[1]}"):
            outcome = playing.wait()
        heard.until(over)
    assert outcome.state == "finished"
    assert before < len(heard.of(m.SalvoResolved))
    check_points(outcome, heard)
    assert all(any(line.startswith("Y|") for line in client.lines) for client in playing.clients)


def test_what_the_host_does_reaches_the_clients_in_their_own_words(tmp_path: Path) -> None:
    heard = Heard()
    with EmbeddedBroker() as broker:
        contest = Contest(ServerSettings(broker=broker.url, seed="7", over_seconds=600, rules=small(tmp_path)), heard)

        def act(do: m.HostAction, **argument: Any) -> None:
            contest.service.act("", m.HostCommand(m.TERMINAL_HOST, do, **argument))

        with contest.in_background(), open_door(broker.url, tmp_path, door) as address:
            clients = sit_down(address, "ann", "bob")
            heard.until(lambda said: sum(isinstance(each, m.PlacementJudged) for each in said) == 6)
            act(m.HostAction.START)
            [first] = {until(client, "N")[1] for client in clients}
            act(m.HostAction.ANNOUNCE, text="Lunch is at noon")
            for client in clients:
                assert until(client, "M") == ["M", "", "Lunch is at noon"]
            act(m.HostAction.SKIP)
            for client in clients:
                assert until(client, "K") == ["K", first, "skipped by the host"]
            act(m.HostAction.ABORT)
            for client in clients:
                assert until(client, "F")[:2] == ["F", "aborted"]
