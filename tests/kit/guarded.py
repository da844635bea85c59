"""A contest on a broker that asks for names: roster, broker of either kind, server; in this process but mosquitto."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kit.marked import MarkedConnection
from kit.mosquitto import ContestMosquitto
from kit.raw import ACCEPTED, Raw
from kit.services import serve
from kit.waiting import until
from salvo.join.client import play as play_contest
from salvo.messages import Limits
from salvo.net.mqtt import BrokerUrl
from salvo.net.tls import client_context
from salvo.rules import SALVO
from salvo.wire.roles_and_rights import Role
from salvo_lab.bots.random_bot import RandomBot
from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_server.brokers.embedded.attached import AttachedLink
from salvo_server.brokers.embedded.roster_access import RosterAccess
from salvo_server.brokers.mosquitto.dynamic_security import DynamicSecurity
from salvo_server.core.server_status import last_will
from salvo_server.service import Service
from salvo_server.spectators.referee_view import RefereeViews
from salvo_server.storage.register import Account, Register
from salvo_server.storage.roster import SERVER_USER, Roster
from salvo_server.storage.roster_watcher import RosterWatcher


@dataclass
class Guarded:
    """A contest that runs.

    Attributes:
        server_url: the listener that mosquitto has for the server alone; empty at the server's own broker.
    """

    url: str
    websocket_url: str
    roster: Roster
    service: Service
    server_url: str

    def account(self, name: str, role: Role = Role.TEAM) -> str:
        """Put somebody on the roster; return the URL with user and password."""
        return self.url_of(name, self.roster.add(name, role))

    def url_of(self, user: str, secret: str) -> str:
        return self.url.replace("://", f"://{user}:{secret}@")


def wait_for_users(url: str, user: str, secret: str, *, admitted: bool = True, ca: str | None = None) -> None:
    """Return when the broker lets a user in, or no longer: it is furnished a moment after the roster has changed."""

    trusted = None if ca is None else client_context(ca)

    def is_let_in() -> bool:
        with Raw(BrokerUrl.parse(url).port, user, user=user, password=secret, tls=trusted) as raw:
            return raw.read() == ACCEPTED

    until(lambda: is_let_in() is admitted)


@contextlib.contextmanager
def guarded(kind: str, folder: Path, *, tables: Sequence[str] = ("",), **given: Any) -> Iterator[Guarded]:
    """Run a contest for the length of a ``with`` block."""
    roster = Roster(folder / "roster.json")
    register = Register()
    with contextlib.ExitStack() as stack:
        if kind == "embedded":
            access = RosterAccess(roster.accounts(), tables)
            broker: Any = stack.enter_context(EmbeddedBroker(websocket="127.0.0.1:0", access=access))

            def furnish(accounts: Sequence[Account]) -> None:
                access.replace(accounts, tables)
        else:
            broker = stack.enter_context(ContestMosquitto(roster.server, roster.keeper, tuple(tables)))
            ships = [ship.name for ship in given.get("book", SALVO).fleet]
            security = DynamicSecurity(broker.url, roster.keeper, ships=ships).start()
            stack.callback(security.close)

            def furnish(accounts: Sequence[Account]) -> None:
                security.sync(accounts, tables)

        doorkeeper = RosterWatcher(roster, register, furnish)
        doorkeeper.look()
        doorkeeper.start()
        stack.callback(doorkeeper.stop)
        own = roster.server
        connection: AttachedLink | MarkedConnection
        if kind == "embedded":
            connection = broker.attach(own.user)
        else:
            connection = MarkedConnection(
                broker.url,
                SERVER_USER,
                username=own.user,
                password=own.secret,
                will=last_will(tables[0], "contest"),
            )
        values: dict[str, Any] = {"seed": "7", "profile": "contest", "limits": Limits(players=2)} | given
        if values.pop("referee", False):
            values["follower"] = RefereeViews()
        service = serve(connection, list(tables), register=register, **values)
        stop = threading.Event()
        thread = threading.Thread(target=service.run, args=(stop,), daemon=True)
        thread.start()

        def end() -> None:
            stop.set()
            connection.wake()
            thread.join(60)
            connection.close()
            service.gate.close()

        stack.callback(end)
        # It says what is retained once it has subscribed; the broker has that when all is acknowledged.
        until(lambda: 0 < connection.published <= connection.delivered)
        yield Guarded(broker.url, broker.websocket_url, roster, service, getattr(broker, "server_url", ""))


def play(contest: Guarded, names: Sequence[str], seed: int = 1, games: int = 1) -> list[threading.Thread]:
    """Let built-in bots of the roster play; return their threads."""
    secrets = {member.name: member.secret for member in contest.roster.members()}

    def run(name: str) -> None:
        url = contest.url_of(name, secrets[name])
        play_contest(RandomBot(), url, name, secrets[name], games=games, seed=seed)

    for name in names:
        wait_for_users(contest.url, f"{name}.4", secrets[name])
    threads = [threading.Thread(target=run, args=(name,), daemon=True) for name in names]
    for thread in threads:
        thread.start()
    return threads
