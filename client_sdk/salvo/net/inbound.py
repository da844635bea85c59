"""What a connection delivers and does, for modules that do not make one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol


class Inbound(NamedTuple):
    """A message that arrived.

    Attributes:
        mid: for its acknowledgement, as ``qos``.
        connection: number of the connection that it came on, from 1; the broker numbers its messages per connection.
        team: the team that published it, empty for another account; None where the broker does not report that.
        publisher: the client that published it, where that stands for no team; None where that is not reported.
    """

    topic: str
    payload: bytes
    retain: bool
    mid: int
    qos: int
    connection: int = 0
    team: str | None = None
    publisher: str | None = None


class Link(Protocol):
    """What a session or a server needs of its connection; :class:`salvo.net.mqtt.Connection` is the one to a broker."""

    on_connect: Callable[[bool], None] | None
    connected: bool

    def poll(self, timeout_seconds: float) -> Sequence[Inbound]: ...
    def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> None: ...
    def subscribe(self, filters: Iterable[str]) -> None: ...
    def unsubscribe(self, filters: Iterable[str]) -> None: ...
    def acknowledge(self, message: Inbound) -> None: ...


class TeamLink(Link, Protocol):
    """The connection of a team, which may go at any time."""

    def close(self, timeout_seconds: float = ...) -> None: ...
