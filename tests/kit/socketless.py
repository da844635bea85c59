"""The embedded broker without sockets, on simulated time: what it does between two turns of its loop can be counted."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from kit.raw import connect_packet
from salvo_server.brokers.embedded.broker import HardenedBroker
from salvo_server.brokers.embedded.limits import READ_BYTES, Access, BrokerLimits
from salvo_server.brokers.embedded.peers import Peer

#: From a timer to what is said: it lets go, what was put off happens, the connection is read.
_STEPS = 4


class _Loop(asyncio.SelectorEventLoop):
    now = 0.0

    def time(self) -> float:
        return self.now


def run(scene: Coroutine[Any, Any, None]) -> None:
    """Run a scene on a loop whose time stands still but for :meth:`Hall.wait`."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        runner.run(scene)


class Line:
    """A client's end of a connection; the broker reads as much as from a socket, and only when it wants to.

    Attributes:
        received: what the broker sent.
        to_send: what it has not read yet.
        is_open: whether the broker has not ended it.
    """

    def __init__(self, broker: HardenedBroker, user: str, *, greets: bool = True) -> None:
        self.received = bytearray()
        self.to_send = b""
        self.is_open = True
        self._is_read = True
        peer = broker.welcome(self, user)
        assert peer is not None
        self.peer: Peer = peer
        if greets:
            peer.feed(connect_packet(user, user=user, password=f"pw {user}", keep_alive=0))

    def send(self, packets: bytes) -> None:
        self.to_send += packets

    def transmit(self) -> None:
        """Give the broker what a socket would give it at a time."""
        if self._is_read and self.is_open and self.to_send:
            chunk, self.to_send = self.to_send[:READ_BYTES], self.to_send[READ_BYTES:]
            self.peer.feed(chunk)

    # --- what a peer needs of its connection ----------------------------------------------------------------------

    def write(self, packets: bytes) -> None:
        self.received += packets

    def pause_reading(self) -> None:
        self._is_read = False

    def resume_reading(self) -> None:
        self._is_read = True

    def close(self, reason: str = "") -> None:
        self.is_open = False

    def abort(self) -> None:
        self.is_open = False


class Hall:
    """A broker with its clients; to be made within :func:`run`."""

    def __init__(self, access: Access, **limits: Any) -> None:
        config = {"listeners": {"default": {"type": "tcp", "bind": "127.0.0.1:0"}}, "plugins": {}}
        self.broker = HardenedBroker(config, {}, BrokerLimits(**limits), access)
        self.lines: list[Line] = []

    def connect(self, *users: str) -> list[Line]:
        """Connect these users."""
        lines = [Line(self.broker, user) for user in users]
        self.lines += lines
        return lines

    async def turn(self) -> None:
        """Let the loop come round once: what was put off happens, then every connection gives what it has."""
        await asyncio.sleep(0)
        for line in self.lines:
            line.transmit()

    async def wait(self, seconds: float, steps: int = 1) -> None:
        """Let time go by in steps, with so much work in each as there is."""
        loop = asyncio.get_running_loop()
        assert isinstance(loop, _Loop)
        for _ in range(steps):
            loop.now += seconds / steps
            await self.settle()

    async def settle(self) -> None:
        """Let the loop come round until nothing more is read or said at this time."""
        before = None
        while before != (
            now := [(len(line.to_send), len(line.peer._unread), len(line.received)) for line in self.lines]
        ):
            before = now
            for _ in range(_STEPS):
                await self.turn()
