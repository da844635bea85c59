"""Programs that speak JSON lines: with rights of their own, against other teams, through gateways that die."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path

import pytest

from conformance.gateway_stage import Winners, gateway, served, until
from conformance.jsonline_client import Client
from integration.gateway_process import GatewayProcess
from integration.guarded import guarded, play
from integration.players import Heard, over, salvos
from salvo.messages import GameWon, Limits
from salvo.rules import ALTERNATE, STREAK, RuleBook
from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_server.contest import Contest
from salvo_server.gateways.accounts import RosterAccounts
from salvo_server.gateways.host import Host
from salvo_server.gateways.jsonline import door
from salvo_server.gateways.table_watch import TableWatch
from salvo_server.settings import ServerSettings


@pytest.mark.parametrize(("book", "xy"), [(STREAK, False), (ALTERNATE, True)], ids=["streak", "alternate, from 0"])
def test_a_program_plays_another_team_at_the_table_when_it_shows_its_board_first(
    book: RuleBook, xy: bool, tmp_path: Path
) -> None:
    limits = Limits(players=2, over_ms=600_000)
    with guarded("embedded", tmp_path, book=book, limits=limits) as contest, contextlib.ExitStack() as stack:
        contest.account("red")
        house = TableWatch(contest.url, "", RosterAccounts(contest.roster, "jsonline"), pin=False)
        stack.enter_context(contextlib.closing(house))
        host = Host(house, door(house.open(), opponent="none", games=tmp_path / "games"))
        host.open("127.0.0.1", 0)
        stack.enter_context(contextlib.closing(host))
        client = stack.enter_context(contextlib.closing(Client(host.address, 3, xy=xy, alternate=book is ALTERNATE)))
        client.good("GAME_INVITATION")
        refused = client.say("SHOT", client.cell((0, 0)))
        assert (refused["status"], "Send BOARD" in refused["message"]) == (2, True)
        client.close()
        client.connect()
        threads: list[threading.Thread] = []

        def others_come() -> None:
            until(lambda: "jsonline-client" in house.news.players)
            threads.extend(play(contest, ["red"], seed=4))

        client.play(early_board=True, invited=others_come)
        for thread in threads:
            thread.join(60)
        refused = client.say("SHOT_REQUEST")
        assert (refused["status"], refused["message"]) == (2, "The game is over.")
        history = client.good("BOARD_HISTORY")
        assert sum(each["player"] == "client" for each in history) == client.shots


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
@pytest.mark.parametrize("early_board", [False, True], ids=["in the gateway", "at the table"])
def test_a_game_goes_on_where_it_was_when_the_gateway_was_killed(early_board: bool, tmp_path: Path) -> None:
    winners, games = Winners(), ("--games", str(tmp_path / "games"))
    with (
        served(winners, rules="streak", over_seconds=600) as contest,
        GatewayProcess("jsonline", "--broker", contest.url, "--no-pin", *games) as process,
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

        client.play(early_board=early_board, before_shot=killed)
        until(lambda: bool(winners.by_table))
        assert kills == [5, 12]
        assert winners.by_table == {"": ["jsonline-client" if client.won else "hunter-jsonline"]}


@pytest.mark.long
@pytest.mark.parametrize("early_board", [False, True], ids=["played again", "at the table"])
def test_a_server_that_is_started_again_in_mid_game_changes_nothing(early_board: bool, tmp_path: Path) -> None:
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
        client.play(early_board=early_board)
        restart.join()
        second.until(over)
        [won] = second.of(GameWon)
        assert won.winners == ("jsonline-client" if client.won else "hunter-jsonline",)
        assert not first.of(GameWon)
