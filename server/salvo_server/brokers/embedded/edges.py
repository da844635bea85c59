"""The two edges that a connection may stand on: TCP and WebSocket."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any, cast

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode

from salvo_server.brokers.embedded.limits import WEBSOCKET_READ_BYTES, WRITE_BYTES
from salvo_server.brokers.embedded.peers import FAREWELL_SECONDS, Edge, Peer
from salvo_server.brokers.embedded.plain_http import MAX_HEAD_BYTES, head_of, refusal, wants_websocket
from salvo_server.core.rate_limit import Bucket, Rate

#: Frames without a packet, or with a part of a message: what a proxy or a library asks for now and then.
IDLE_FRAMES = Rate(32.0, 2.0)
#: The shortest packet.
_PACKET_BYTES = 2
#: What the library is given at a time: it reads all frames in it, and answers them, before any of them can be counted.
_SLICE_BYTES = 256
#: Makes the peer of a new connection of this name; None when there are too many.
Welcome = Callable[[Edge, str], Peer | None]


class TcpEdge(asyncio.BufferedProtocol):
    """A TCP connection; asyncio has set TCP_NODELAY on its socket. All of them read into one buffer."""

    def __init__(self, others: set[TcpEdge], welcome: Welcome, read_buffer: memoryview) -> None:
        """Prepare.

        Args:
            others: the open ones; it is among them from its first moment to its last.
        """
        self._others = others
        self._welcome = welcome
        self._read_buffer = read_buffer
        self._peer: Peer | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._others.add(self)
        transport.set_write_buffer_limits(WRITE_BYTES)
        # The system would buffer megabytes of a flood, and whatever else the client is sent would come after them.
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, WRITE_BYTES)
        self._peer = self._welcome(self, str(transport.get_extra_info("peername")))
        if self._peer is None:
            transport.abort()

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._read_buffer

    def buffer_updated(self, nbytes: int) -> None:
        if self._peer is not None:
            self._peer.feed(bytes(self._read_buffer[:nbytes]))

    def pause_writing(self) -> None:
        if self._peer is not None:
            self._peer.edge_full(True)

    def resume_writing(self) -> None:
        if self._peer is not None:
            self._peer.edge_full(False)

    def connection_lost(self, error: Exception | None) -> None:
        self._others.discard(self)
        if self._peer is not None:
            self._peer.lost()

    def write(self, packets: bytes) -> None:
        assert self._transport is not None
        self._transport.write(packets)

    def pause_reading(self) -> None:
        assert self._transport is not None
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        assert self._transport is not None
        self._transport.resume_reading()

    def close(self) -> None:
        assert self._transport is not None
        self._transport.close()

    def abort(self) -> None:
        assert self._transport is not None
        self._transport.abort()


class BoundedWebSocket(ServerConnection):
    """A WebSocket that counts from its first byte, and reads little at a time: frames may be of six bytes.

    Pings, empty frames and fragments cost the broker more than most packets, and have no price. No client of MQTT needs
    more than a few, so one that sends more is disconnected.

    What is no request for a WebSocket gets one plain refusal. To send the one and take the other, a client has as long
    as the library gives an opening handshake.
    """

    def __init__(
        self,
        others: dict[BoundedWebSocket, None],
        most: int,
        is_foreign: Callable[[bytes], bool],
        *arguments: Any,
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self._others = others
        self._most = most
        self._is_foreign = is_foreign
        self._received: bytes | None = b""  # None when the library reads
        self._answered = False
        self._idle_frames = Bucket(IDLE_FRAMES, self._now_ms())
        self.peer: Peer | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if len(self._others) >= self._most:
            self._make_room()
        if len(self._others) >= self._most:
            cast(asyncio.Transport, transport).abort()
        self._others[self] = None
        transport.max_size = WEBSOCKET_READ_BYTES  # type: ignore[attr-defined]  # asyncio reads 256 KiB by default
        super().connection_made(transport)

    def _make_room(self) -> None:
        """End the oldest without a CONNECT: it may be a client without an account that keeps others out."""
        for eldest in self._others:
            if eldest.peer is None or not eldest.peer.has_greeted:
                del self._others[eldest]
                eldest.transport.abort()
                break

    def connection_lost(self, exc: Exception | None) -> None:
        self._others.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._received is None:
            self._hand_on(data)
        elif not self._answered:
            self._received += data
            self._read_head(self._received)

    def _read_head(self, received: bytes) -> None:
        head = head_of(received)
        if head is None and len(received) < MAX_HEAD_BYTES:
            return
        foreign = False
        if head is not None and wants_websocket(head):
            foreign = self._is_foreign(head)
            if not foreign:
                self._received = None
                self._hand_on(received)
                return
        self._answered, self._received = True, b""
        self.transport.write(refusal(head, of_another_site=foreign))
        if self.transport.can_write_eof():  # not through TLS
            self.transport.write_eof()
        # Closed at once, with something of the request unread, the answer would be lost on its way.
        asyncio.get_running_loop().call_later(FAREWELL_SECONDS, self.transport.close)

    def _hand_on(self, data: bytes) -> None:
        for at in range(0, len(data), _SLICE_BYTES):
            if self.transport.is_closing():
                break
            super().data_received(data[at : at + _SLICE_BYTES])

    def process_event(self, event: Any) -> None:
        if isinstance(event, Frame) and _is_idle(event) and not self._idle_frames.take(self._now_ms()):
            if self.peer is not None:
                self.peer.drop("frames", "sends frames without packets")
            self.transport.abort()
            return
        super().process_event(event)

    @staticmethod
    def _now_ms() -> int:
        return int(1000 * asyncio.get_running_loop().time())

    def eof_received(self) -> None:
        if self._received is None:
            super().eof_received()
        # else it is closed as soon as its answer has been taken


def _is_idle(frame: Frame) -> bool:
    whole = frame.opcode in (Opcode.BINARY, Opcode.TEXT) and frame.fin
    return not whole or len(frame.data) < _PACKET_BYTES


class WebSocketEdge:
    """A WebSocket; its library wants to be awaited, so it costs two tasks."""

    def __init__(self, websocket: Any) -> None:
        self._websocket = websocket
        self._outgoing: list[bytes] = []
        self._outgoing_bytes = 0
        self._something_to_send = asyncio.Event()
        self._may_read = asyncio.Event()
        self._may_read.set()
        self._closed = False
        self._peer: Peer | None = None

    async def serve(self, welcome: Welcome) -> None:
        """Feed a peer until either side ends the connection."""
        self._peer = self._websocket.peer = welcome(self, str(self._websocket.remote_address))
        if self._peer is None:
            return
        writer = asyncio.create_task(self._write_loop())
        try:
            async for message in self._websocket:
                self._peer.feed(message.encode() if isinstance(message, str) else message)
                await asyncio.sleep(0)  # the library may have hundreds, and others want their turn
                await self._may_read.wait()
                if self._closed:
                    break
        except ConnectionClosed:
            pass
        finally:
            self._peer.lost()
            self.close()
            await asyncio.wait([writer], timeout=FAREWELL_SECONDS)
            writer.cancel()

    async def _write_loop(self) -> None:
        try:
            while not self._closed or self._outgoing:
                await self._something_to_send.wait()
                self._something_to_send.clear()
                if self._outgoing:
                    packets = b"".join(self._outgoing)
                    self._outgoing.clear()
                    await self._websocket.send(packets)
                    self._sent(len(packets))
        except ConnectionClosed:
            pass
        await self._websocket.close()

    def write(self, packets: bytes) -> None:
        self._outgoing.append(packets)
        self._outgoing_bytes += len(packets)
        self._something_to_send.set()
        if self._peer is not None and self._outgoing_bytes > WRITE_BYTES:
            self._peer.edge_full(True)

    def _sent(self, count: int) -> None:
        was_full = self._outgoing_bytes > WRITE_BYTES
        self._outgoing_bytes -= count
        if self._peer is not None and was_full and self._outgoing_bytes <= WRITE_BYTES:
            self._peer.edge_full(False)

    def pause_reading(self) -> None:
        self._may_read.clear()

    def resume_reading(self) -> None:
        self._may_read.set()

    def close(self) -> None:
        self._closed = True
        self._something_to_send.set()
        self._may_read.set()

    def abort(self) -> None:
        self._outgoing.clear()
        self.close()
        self._websocket.transport.abort()
