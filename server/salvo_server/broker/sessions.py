"""What the broker keeps: sessions with their queues, and retained messages. No socket and no clock in here."""

from __future__ import annotations

import logging
from collections import deque
from typing import Protocol

from paho.mqtt.client import topic_matches_sub

from salvo_server.broker.limits import BrokerLimits
from salvo_server.broker.packets import publish_packet

log = logging.getLogger(__name__)


class Receiver(Protocol):
    """The connection of a session."""

    writable: bool

    def send(self, packet: bytes) -> None: ...
    def drop(self, reason: str) -> None: ...


class Session:
    """What the broker keeps of a client, connected or not.

    Attributes:
        subscriptions: granted QoS by topic filter.
        in_flight: PUBLISH packets sent and not acknowledged, by packet id, oldest first.
        waiting: (topic, payload, qos, retain) that wait for room in flight or for the client to come back.
        unreleased: packet ids of QoS 2 messages that were taken and whose PUBREL has not come.
    """

    def __init__(self, client_id: str, clean: bool, limits: BrokerLimits) -> None:
        self.client_id = client_id
        self.clean = clean
        self.username: str | None = None
        self.subscriptions: dict[str, int] = {}
        self.in_flight: dict[int, bytes] = {}
        self.waiting: deque[tuple[bytes, bytes, int, bool]] = deque()
        self.unreleased: set[int] = set()
        self.peer: Receiver | None = None
        self._limits = limits
        self._last_mid = 0

    def deliver(self, topic: bytes, payload: bytes, qos: int, retain: bool) -> None:
        """Send now or as soon as possible; QoS 0 and clean sessions lose what comes while they are away."""
        if self.peer is None and (self.clean or not qos):
            return
        if len(self.waiting) >= self._limits.queued_messages:
            self._overflow()
            return
        self.waiting.append((topic, payload, qos, retain))
        self.pump()

    def _overflow(self) -> None:
        if self.peer is not None:
            self.peer.drop(f"does not read: {len(self.waiting)} messages wait")
        else:
            log.warning("%s is away and %d messages wait; a new one is lost", self.client_id, len(self.waiting))

    def pump(self) -> None:
        """Send what waits, as far as there is room in flight."""
        peer, waiting, in_flight = self.peer, self.waiting, self.in_flight
        while peer is not None and waiting and len(in_flight) < self._limits.in_flight:
            topic, payload, qos, retain = waiting.popleft()
            mid = self._next_mid() if qos else 0
            packet = publish_packet(topic, payload, qos, retain, mid)
            if qos:
                in_flight[mid] = packet
            peer.send(packet)

    def _next_mid(self) -> int:
        self._last_mid = self._last_mid % 65_535 + 1
        while self._last_mid in self.in_flight:
            self._last_mid = self._last_mid % 65_535 + 1
        return self._last_mid

    def acknowledged(self, mid: int) -> None:
        """The client has taken a message."""
        if self.in_flight.pop(mid, None) is not None and self.waiting:
            self.pump()

    def resume(self) -> None:
        """Send again what was in flight when the connection ended, marked as a duplicate, then what waits."""
        assert self.peer is not None
        for packet in self.in_flight.values():
            self.peer.send(bytes((packet[0] | 8,)) + packet[1:])
        self.pump()


class Retained:
    """The last retained payload of each topic."""

    def __init__(self) -> None:
        self.payloads: dict[str, tuple[bytes, int]] = {}

    def keep(self, topic: str, payload: bytes, qos: int) -> None:
        """Keep a payload; an empty one clears the topic."""
        if payload:
            self.payloads[topic] = (payload, qos)
        else:
            self.payloads.pop(topic, None)

    def matching(self, topic_filter: str) -> list[tuple[str, bytes, int]]:
        """Return (topic, payload, qos) of every topic that a filter matches."""
        return [(t, payload, qos) for t, (payload, qos) in self.payloads.items() if topic_matches_sub(topic_filter, t)]
