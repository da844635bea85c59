"""A host's connection, on a thread of its own: announcements of the tables come in, its commands go out."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from random import Random
from typing import Any, Final

from salvo import messages as m
from salvo.codec.announcements import Publication
from salvo.codec.published import read_published
from salvo.errors import ConnectionLost
from salvo.net.inbound import Inbound
from salvo.net.mqtt import BrokerUrl, Connection
from salvo.wire import topics
from salvo_server.host.console.evening import TOPICS, ConsoleEvening
from salvo_server.host.hosting import HostDesk
from salvo_server.screen_users import OF_PAGES, ScreenUsers

_POLL_SECONDS: Final = 1.0


class HostLine:
    """Follows all tables, and gives commands.

    Attributes:
        error: what ended the connection for good.
    """

    def __init__(self, url: str, name: str, secret: str, ca: str | None) -> None:
        """Prepare; :meth:`open` connects.

        Raises:
            ConnectionLost: ``bad_url`` or ``bad_ca``.
        """
        self.error: ConnectionLost | None = None
        self._desk = HostDesk(name, secret)
        self._users = ScreenUsers(name, Random(), OF_PAGES)
        address = BrokerUrl.parse(url)._replace(username=self._users.user, password=secret)
        client = f"salvo-control-{os.getpid()}"
        self._connection = Connection(address, client, clean_session=True, ca=ca, newcomer_gives_way=True)
        self._connection.on_connect = self._connected
        self._arrived: SimpleQueue[Inbound | None] = SimpleQueue()  # None: all that is retained arrives again
        self._given: SimpleQueue[Publication] = SimpleQueue()
        self._stop = threading.Event()

    def _connected(self, session_present: bool) -> None:
        self._arrived.put(None)
        own = topics.ERROR.filter(player=self._desk.name)
        filters = [topic.filter() for topic in TOPICS]
        self._connection.subscribe([f"{place}{each}" for each in (*filters, own) for place in ("", "/+")])

    @contextmanager
    def open(self) -> Iterator[None]:
        """Keep the connection for the length of a ``with`` block."""
        thread = threading.Thread(target=self._run, name="host", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            self._connection.wake()
            thread.join()
            self._send()
            self._connection.close()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._send()
            try:
                arrived = self._users.poll(self._connection, _POLL_SECONDS)
            except ConnectionLost as error:
                self.error = error
                return
            for received in arrived:
                self._arrived.put(received)
                self._connection.acknowledge(received)

    def _send(self) -> None:
        while not self._given.empty():
            message = self._given.get()
            self._connection.publish(message.topic, message.payload)

    def take_in(self, evening: ConsoleEvening) -> bool:
        """Give an evening what has arrived; return whether anything has changed."""
        reached = self._connection.connected
        changed, evening.reached = reached != evening.reached, reached
        while True:
            try:
                message = self._arrived.get_nowait()
            except Empty:
                return changed
            changed = True
            if message is None:
                evening.connect()
                continue
            if (published := read_published(message.topic, message.payload)) is None:
                continue
            address, announcement = published
            self._desk.receive(address.table, announcement, retained=message.retain)
            evening.receive(address, announcement, payload=message.payload != b"", retained=message.retain)

    def give(self, table: str, do: m.HostAction, given: dict[str, Any]) -> None:
        """Send a command for the game that a table has now.

        Raises:
            WireError: see :func:`salvo.codec.commands.check_host`.
        """
        _, message = self._desk.command(table, do, **given)
        self._given.put(message)
        self._connection.wake()
