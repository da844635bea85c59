"""The numbers of the embedded broker, and who may do what on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Action = Literal["publish", "subscribe", "receive"]


@dataclass(frozen=True, slots=True)
class BrokerLimits:
    """What one client may cost.

    Attributes:
        packet_bytes: largest packet that is read at all; a command is at most 4,096 bytes beside its topic.
        connections: clients at once; a contest of 64 teams with explorers stays below.
        in_flight: QoS 1 messages a client may leave without acknowledgement before the next one waits.
        queued_messages: messages that wait for one client; an eight-player game publishes about 2,000.
        queued_bytes: bytes written to a connection that its client does not read.
        connect_seconds: time for the first packet.
    """

    packet_bytes: int = 16_384
    connections: int = 512
    in_flight: int = 256
    queued_messages: int = 10_000
    queued_bytes: int = 4 * 1024 * 1024
    connect_seconds: float = 10.0


class Access:
    """Who may come in and do what; this one lets everybody do everything."""

    def admits(self, client_id: str, username: str | None, password: str | None) -> bool:
        """Whether these credentials may connect under this client id."""
        return True

    def allows(self, client_id: str, username: str | None, action: Action, topic: str) -> bool:
        """Whether a client may publish or receive a topic, or subscribe to a topic filter."""
        return True
