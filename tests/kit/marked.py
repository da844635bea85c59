"""A server's connection to a mosquitto behind the front, for tests that put a server together themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from salvo.net.inbound import Inbound
from salvo.net.mqtt import Connection
from salvo_server.brokers.mosquitto.marks import Marks


class MarkedConnection(Connection):
    """Takes the front's marks off, as the contest's own connection does."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._marks = Marks()

    def poll(self, timeout_seconds: float) -> Sequence[Inbound]:
        return self._marks.take_off(super().poll(timeout_seconds))
