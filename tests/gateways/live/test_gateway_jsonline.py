"""Programs that speak JSON lines: with rights of their own, through gateways that die."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path

import pytest

from gateways.gateway_process import GatewayProcess
from gateways.gateway_stage import Winners, gateway, served, until
from gateways.jsonline_client import Client
from kit.guarded import guarded
from kit.players import Heard, over, salvos
from salvo.messages import GameWon
from salvo.rules import STREAK
from salvo_gateways.accounts import RosterAccounts
from salvo_gateways.host import Host
from salvo_gateways.jsonline import door
from salvo_gateways.table_watch import TableWatch
from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_server.contest import Contest
from salvo_server.settings import ServerSettings


@pytest.mark.quick
def test_a_game_is_played_again_by_accounts_of_the_roster(tmp_path: Path) -> None:
    winners = Winners()
    with guarded("embedded", tmp_path, book=STREAK, listener=winners) as contest, contextlib.ExitStack() as stack:
        house = TableWatch(contest.url, "", RosterAccounts(contest.roster, "jsonline"), pin=False)
        stack.enter_context(contextlib.closing(house))
        host = Host(house, door(house.open(), opponent="random", games=tmp_path / "games"))
        host.open("127.0.0.1", 0)
        stack.enter_context(contextlib.closing(host))
        client = stack.enter_context(contextlib.closing(Client(host.address, 3)))
        client.play()
        until(lambda: bool(winners.by_table))
        assert winners.by_table == {"": ["jsonline-client" if client.won else "random-jsonline"]}
        assert {member.name: member.door for member in contest.roster.members()} == {
            "jsonline-client": "jsonline",
            "random-jsonline": "jsonline",
            "jsonline-gateway": "jsonline",
        }


@pytest.mark.long
def test_a_game_goes_on_where_it_was_when_the_gateway_was_killed(tmp_path: Path) -> None:
    winners, games = Winners(), ("--games", str(tmp_path / "games"))
    with (
        served(winners, rules="streak", over_seconds=600) as contest,
        GatewayProcess("jsonline", "--broker", contest.url, *games) as process,
        contextlib.closing(Client(process.address, 5, xy=True)) as client,
    ):
        kills: list[int] = []

        def killed(shots: int) -> None:
            if shots in (5, 12):
                kills.append(shots)
                process.kill()
                client.close()
                process.start()
                client.connect(process.address)

        client.play(before_shot=killed)
        until(lambda: bool(winners.by_table))
        assert kills == [5, 12]
        assert winners.by_table == {"": ["jsonline-client" if client.won else "hunter-jsonline"]}


@pytest.mark.long
def test_a_server_that_is_started_again_in_mid_game_changes_nothing(tmp_path: Path) -> None:
    first, second = Heard(), Heard()
    with EmbeddedBroker() as broker, contextlib.ExitStack() as stack:
        settings = ServerSettings(
            broker=broker.url,
            rules="streak",
            players=2,
            over_seconds=600,
            journal=str(tmp_path / "journal"),
            resume="always",
        )

        def end_and_begin_again() -> None:
            first.until(salvos(8))
            server.close()
            stack.enter_context(Contest(settings, second).in_background())

        server = contextlib.ExitStack()
        contest = Contest(settings, first)
        first.once = salvos(8), contest.stop.set
        server.enter_context(contest.in_background())
        host = stack.enter_context(
            gateway(broker.url, "jsonline", tmp_path, lambda book: door(book, games=tmp_path / "games"))
        )
        client = stack.enter_context(contextlib.closing(Client(host.address, 1)))
        restart = threading.Thread(target=end_and_begin_again)
        restart.start()
        client.play()
        restart.join()
        second.until(over)
        [won] = second.of(GameWon)
        assert won.winners == ("jsonline-client" if client.won else "hunter-jsonline",)
        assert not first.of(GameWon)
