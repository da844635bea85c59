"""A server's connection without a broker, for tests that ask what the service makes of each message.

wire = Wire()
service = serve(wire, [""], clock=lambda: now)
wire.connect()
wire.give("/game/request_participation", write_participation("ann", "secret"))
service.step()
assert wire.said, wire.acknowledged
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from salvo.net.inbound import Inbound
from salvo.wire.seal import Sealer
from salvo_server.core.authenticator import Authenticator


def learn(gate: Authenticator, name: str, sealer: Sealer) -> None:
    """Have a team of the default table known by its salt, as if it had proven it: a derivation takes 50 ms."""
    member = gate.keyring.member("", name)
    assert member is not None
    gate.keyring.learn("", member, sealer.salt, sealer.key)


class Wire:
    """A broker's place: keeps what was said, and the acknowledgements."""

    def __init__(self) -> None:
        self.on_connect: Callable[[bool], None] | None = None
        self.connected = False
        self.inbox: list[Inbound] = []
        self.announced: list[tuple[str, bytes]] = []
        self.retained: dict[str, bytes] = {}
        self.acknowledged: list[Inbound] = []
        self.published = self.delivered = 0
        self._mid = 0

    def connect(self) -> None:
        self.connected = True
        assert self.on_connect is not None
        self.on_connect(True)
        self.inbox += [Inbound(topic, payload, True, 0, 1) for topic, payload in self.retained.items()]

    def give(self, topic: str, payload: bytes) -> None:
        self._mid += 1
        self.inbox.append(Inbound(topic, payload, False, self._mid, 1))

    def poll(self, timeout_seconds: float) -> Sequence[Inbound]:
        arrived, self.inbox = self.inbox, []
        return arrived

    def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        self.published += 1
        self.announced.append((topic, payload))
        if retain:
            self.retained[topic] = payload
            self.inbox.append(Inbound(topic, payload, False, 0, 1))  # the server hears itself while it sweeps

    def acknowledge(self, message: Inbound) -> None:
        self.acknowledged.append(message)

    def subscribe(self, filters: Iterable[str]) -> None: ...
    def unsubscribe(self, filters: Iterable[str]) -> None: ...
    def wake(self) -> None: ...
    def close(self, timeout_seconds: float = 0.0) -> None: ...
    def flush(self, timeout_seconds: float) -> bool:
        self.delivered = self.published
        return True

    def topics_announced(self) -> list[str]:
        return [topic for topic, _ in self.announced]
