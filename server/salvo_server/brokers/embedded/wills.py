"""Delayed last wills: none is sent if the client reconnects soon (MQTT 5, 3.1.3.2.2)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from salvo_server.brokers.embedded.sessions import MqttSession

Publish = Callable[[MqttSession], None]


class Wills:
    """The wills of those whose connection has ended, at most one of each session."""

    def __init__(self) -> None:
        self._waiting: dict[MqttSession, tuple[asyncio.TimerHandle, Publish]] = {}

    def leave(self, session: MqttSession, seconds: int, publish: Publish) -> None:
        """Publish a will after a while, or at once if the session ends with its connection."""
        if not seconds or session.clean or session.ended:
            publish(session)
        elif session.peer is None:  # else the client has come back already
            self._waiting[session] = asyncio.get_running_loop().call_later(seconds, self._publish, session), publish

    def drop(self, session: MqttSession) -> None:
        """The client is back."""
        if (waiting := self._waiting.pop(session, None)) is not None:
            waiting[0].cancel()

    def end(self, session: MqttSession) -> None:
        """The session has ended, so that its client cannot come back to it: publish the will in a moment."""
        if session in self._waiting:
            asyncio.get_running_loop().call_soon(self._publish, session)

    def _publish(self, session: MqttSession) -> None:
        if (waiting := self._waiting.pop(session, None)) is not None:
            timer, publish = waiting
            timer.cancel()
            publish(session)
