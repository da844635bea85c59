"""What a gateway knows of its table, against the table of what every follower shows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kit.followed_tables import CASES, Case, Outside
from salvo import messages as m
from salvo.codec.announcement_writer import write_announcement
from salvo.net.mqtt import Connection
from salvo_gateways.accounts import OpenAccounts
from salvo_gateways.table_watch import TableWatch


class Guests(Outside):
    def __init__(self, folder: Path) -> None:
        self.watch = TableWatch("mqtt://127.0.0.1", "", OpenAccounts(folder / "key", "test"), pin=False)

    def receive(self, topic: str, payload: bytes, *, retained: bool) -> None:
        self.watch.receive(topic, payload)

    def connect(self) -> None:
        self.watch.connected(cast(Connection, SimpleNamespace(subscribe=list)))

    def known(self) -> Mapping[str, Any]:
        news = self.watch.news
        current = news.turn.player if news.turn is not None else ""
        return {"state": news.state, "players": news.players, "current": current}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_gateway_knows_of_a_table_what_every_follower_shows(case: Case, tmp_path: Path) -> None:
    case.check(Guests(tmp_path))


def test_a_gateway_at_a_further_table_knows_with_how_many_players_a_game_begins(tmp_path: Path) -> None:
    """Such a table's status has no word of the server, which the gateway took for a last will."""
    watch = TableWatch("mqtt://127.0.0.1", "two", OpenAccounts(tmp_path / "key", "test"), pin=False)
    status = m.ServerStatus(False, "1", 1, "open", "/game/server", players=3)
    for announcement in (status, m.StateChanged(m.State.LOBBY)):
        [message] = write_announcement(announcement, "two")
        watch.receive(message.topic, message.payload)
    assert watch.news.wanted == 3
