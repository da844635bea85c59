"""A whole game among users who may do no more than they must: no right is missing."""

from __future__ import annotations

import threading

import pytest

from kit.accounts import SERVER, contest
from kit.players import Heard, join, over
from kit.programs import BROKERS
from kit.secured import Client, secured
from kit.services import serve
from salvo.messages import Limits
from salvo.net.mqtt import Connection
from salvo.permissions import Role
from salvo_server.storage.register import Account

TEAMS = ("red", "blue", "green")
HALL = Account("hall", "hall", Role.WATCHER, "secret-of-hall")


@pytest.mark.long
@pytest.mark.parametrize("kind", BROKERS)
def test_a_whole_game_needs_no_more_than_the_rights_of_the_table(kind: str) -> None:
    table, heard = "final", Heard()
    with secured(kind, contest(*TEAMS, others=[HALL]), ("", "final")) as broker:
        url = f"mqtt://127.0.0.1:{broker.port}"
        connection = Connection(url, "", username=SERVER.user, password=SERVER.secret, clean_session=True)
        limits = Limits(players=len(TEAMS), over_ms=600_000)
        service = serve(connection, ["", "final"], seed=7, limits=limits, listener=heard)
        stop = threading.Event()
        serving = threading.Thread(target=service.run, args=(stop,), daemon=True)
        serving.start()
        with Client(broker.port, HALL) as hall:
            hall.subscribe(["#"])
            players = [
                join(f"mqtt://{name}:secret-of-{name}@127.0.0.1:{broker.port}", name, table=table) for name in TEAMS
            ]
            heard.until(over)
            winner = f"/{table}/game/winner"
            hall.until(lambda: any(topic == winner for topic, _, _ in hall.heard))
            private = {topic for topic, _, _ in hall.heard if topic.endswith(("/hit", "/recap", "/place", "/fire"))}
            assert private == set()
        for player in players:
            player.join(60)
        stop.set()
        connection.wake()
        serving.join(60)
        connection.close()
        service.gate.close()
