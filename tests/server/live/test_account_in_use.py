"""One user has one connection, the newest: two programs as one user come to an end of it, a killed broker does not.

The story: two bots of one team, and two screens of the hall, threw each other out for ever with "unspecified error".
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

import pytest

from kit.brokers import Broker
from kit.mosquitto import Mosquitto
from kit.programs import needs
from kit.waiting import until
from salvo.errors import ConnectionLost
from salvo.net.mqtt import Connection
from salvo.net.takeover import MAX_THROWN_OUT


class Held:
    """A connection that a thread keeps up."""

    def __init__(self, url: str, name: str, *, gives_way: bool = True, thinks_seconds: float = 0.0) -> None:
        self._thinks_seconds = thinks_seconds
        self.error: ConnectionLost | None = None
        self.accepted = 0
        self._connection = Connection(url, name, clean_session=True, on_connect=self._count, gives_way=gives_way)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _count(self, session_present: bool) -> None:
        self.accepted += 1

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self._connection.poll(0.5)
                time.sleep(self._thinks_seconds)
        except ConnectionLost as error:
            self.error = error

    @property
    def connected(self) -> bool:
        return self._connection.connected

    def until(self, holds: Callable[[], bool]) -> None:
        until(holds, shown=lambda: f"ended with {self.error}" if self.error else "still waiting")

    def __enter__(self) -> Held:
        self._thread.start()
        self.until(lambda: self.accepted > 0)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._connection.wake()
        self._thread.join(60)
        self._connection.close()


def test_a_server_logs_once_that_another_program_uses_its_account(
    broker: Broker, caplog: pytest.LogCaptureFixture
) -> None:
    with Held(broker.url, "salvo-server", gives_way=False) as server:
        for _ in range(2):
            with Held(broker.url, "salvo-server") as other:
                other.until(lambda: server.connected or other.error is not None)
        for _ in range(MAX_THROWN_OUT + 1):
            before = server.accepted
            with Held(broker.url, "salvo-server"):
                pass
            server.until(lambda before=before: server.accepted > before)  # type: ignore[misc]
        assert server.error is None
    logged = [each.getMessage() for each in caplog.records if each.levelno == logging.ERROR]
    assert len(logged) == 1
    assert "another program connects as 'salvo-server'" in logged[0]


@needs("mosquitto")
def test_a_broker_that_is_killed_again_and_again_is_no_other_user() -> None:
    """The story: mosquitto is back after some 10 ms, and a bot that thinks for longer never met one that was away."""
    with (
        Mosquitto() as broker,
        Held(broker.url, "red", thinks_seconds=0.06) as red,
        Held(broker.url, "blue") as blue,
    ):
        for _ in range(8):
            before = red.accepted, blue.accepted
            broker.kill()
            broker.start()
            red.until(lambda before=before: red.accepted > before[0] and blue.accepted > before[1])  # type: ignore[misc]
        assert (red.error, blue.error) == (None, None)
