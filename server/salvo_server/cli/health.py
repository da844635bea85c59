"""``salvo health``."""

from __future__ import annotations

import os
import time

import click

from salvo import topics, wire
from salvo.errors import ConnectionLost
from salvo.messages import ServerStatus
from salvo.mqtt import Connection
from salvo.topics import BY_NAME


@click.command()
@click.option("--broker", metavar="URL", envvar="SALVO_BROKER", default="mqtt://127.0.0.1:1883", help="Where to ask.")
@click.option("--table", default="", help="The server's first table, when it is not the default one.")
@click.option("--timeout", "timeout_seconds", default=5.0, help="Seconds to wait for an answer.")
def health(broker: str, table: str, timeout_seconds: float) -> None:
    """Exit with 0 when the server behind a broker is online, else with 1 and a line that says why."""
    status = ask(broker, table, timeout_seconds)
    if status is None:
        raise ConnectionLost("no_server", f"nothing is known of a server at {broker}")
    if not status.online:
        raise ConnectionLost("offline", f"the server at {broker} is offline")
    click.echo(f"online: version {status.version}, game {status.game}, profile {status.profile}")


def ask(broker: str, table: str, timeout_seconds: float) -> ServerStatus | None:
    """Return what the server's retained status says; None when there is none in time."""
    topic = BY_NAME["server"].of(table)
    connection = Connection(broker, f"salvo-health-{os.getpid()}", clean_session=True)
    connection.on_connect = lambda _: connection.subscribe([topic])
    end = time.monotonic() + timeout_seconds
    try:
        connection.connect(timeout_seconds)
        while (left := end - time.monotonic()) > 0:
            for message in connection.poll(left):
                found = wire.read_announcement(topics.parse(message.topic), message.payload)
                if isinstance(found, ServerStatus):
                    return found
        return None
    finally:
        connection.close()
