"""Asks a broker for the server's status."""

from __future__ import annotations

import os
import time
from typing import NamedTuple

from salvo.codec.announcement_reader import read_announcement
from salvo.messages import ServerStatus
from salvo.net.mqtt import BrokerUrl, Connection
from salvo.wire import topics
from salvo_server.storage.register import Account


class StatusAnswer(NamedTuple):
    """What ``/game/server`` has, and how long it took from the subscription to the message, in milliseconds."""

    status: ServerStatus
    took_ms: float


def ask_status(
    broker: str | BrokerUrl, table: str, timeout_seconds: float, account: Account | None = None, ca: str | None = None
) -> StatusAnswer | None:
    """Return the server's retained status; None when it does not arrive in time.

    Raises:
        ConnectionLost: the broker is not reached, or refuses the account.
        WireError: the status is not readable.
    """
    topic = topics.SERVER.of(table)
    user, secret = (None, None) if account is None else (account.user, account.secret)
    name = f"salvo-health-{os.getpid()}"
    connection = Connection(broker, name, clean_session=True, username=user, password=secret, ca=ca)
    end = time.monotonic() + timeout_seconds
    try:
        connection.connect(timeout_seconds)
        asked = time.monotonic()
        connection.subscribe([topic])
        while (left := end - time.monotonic()) > 0:
            for message in connection.poll(left):
                found = read_announcement(topics.parse(message.topic), message.payload)
                if isinstance(found, ServerStatus):
                    return StatusAnswer(found, 1000 * (time.monotonic() - asked))
        return None
    finally:
        connection.close()
