"""The two edges that a connection may stand on: TCP and WebSocket."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Final, NamedTuple

from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import Event, State
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from salvo_game.rate_limit import Bucket, Rate
from salvo_server.brokers.embedded.limits import WRITE_BYTES
from salvo_server.brokers.embedded.peers import Edge, Peer
from salvo_server.brokers.embedded.plain_http import MAX_HEAD_BYTES, head_of, refusal, wants_websocket
from salvo_server.brokers.embedded.proxied import is_cut_off, read_visitor

#: Pings, pongs and frames without payload: what a proxy or a library sends now and then.
IDLE_FRAMES: Final = Rate(32.0, 2.0)
#: How long a client is not read that sends more of them: as long as it takes until two are allowed again.
IDLE_REST_SECONDS: Final = 1.0
#: For a last packet, such as a refusal, to get out before the connection is cut.
FAREWELL_SECONDS: Final = 0.5
_MAX_REASON_BYTES: Final = 123
#: A head that is answered as none.
_BAD_REQUEST: Final = b""
#: Makes the peer of a new connection of this name; None when there are too many.
Welcome = Callable[[Edge, str], Peer | None]


class Listener(NamedTuple):
    """What the edges of a listener have in common.

    Attributes:
        open: those that are open, the oldest first.
        most: their number beyond which one that ends is not waited for.
        welcome: makes their peers.
        read_buffer: where all of them read into; one turn of the loop reads no more from each.
    """

    open: dict[TransportEdge, None]
    most: int
    welcome: Welcome
    read_buffer: memoryview


class TransportEdge(asyncio.BufferedProtocol, ABC):
    """What both have in common; asyncio has set TCP_NODELAY on the socket."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self.peer: Peer | None = None
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.set_write_buffer_limits(WRITE_BYTES)
        # The system would buffer megabytes of a flood, and whatever else the client is sent would come after them.
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, WRITE_BYTES)
        self.peer = self._listener.welcome(self, str(transport.get_extra_info("peername")))
        self._listener.open[self] = None
        if self.peer is None:
            self.abort()

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._listener.read_buffer

    def buffer_updated(self, nbytes: int) -> None:
        self.received(bytes(self._listener.read_buffer[:nbytes]))

    @abstractmethod
    def received(self, data: bytes) -> None:
        """Hand on what has come."""

    @abstractmethod
    def write(self, packets: bytes) -> None: ...

    @abstractmethod
    def close(self, reason: str = "") -> None:
        """End the connection in a moment; its peer has ended, and is let go of at once."""

    def pause_writing(self) -> None:
        if self.peer is not None:
            self.peer.edge_full(True)

    def resume_writing(self) -> None:
        if self.peer is not None:
            self.peer.edge_full(False)

    def connection_lost(self, error: Exception | None) -> None:
        self._listener.open.pop(self, None)
        if self.peer is not None:
            self.peer.lost()

    def pause_reading(self) -> None:
        assert self.transport is not None
        self.transport.pause_reading()

    def resume_reading(self) -> None:
        assert self.transport is not None
        self.transport.resume_reading()

    def abort(self) -> None:
        assert self.transport is not None
        self._listener.open.pop(self, None)
        self.transport.abort()

    def _write_last(self, last: bytes) -> None:
        """Write the last word, and read on: the system resets a connection that has something unread when it is closed.

        The word would be lost then on its way.
        """
        assert self.transport is not None
        self.transport.write(last)
        if self.transport.can_write_eof() and len(self._listener.open) <= self._listener.most:
            self.transport.write_eof()
            self.transport.resume_reading()
        else:  # TLS has a goodbye of its own
            self.transport.close()
        self._abort_soon()

    def _abort_soon(self) -> None:
        assert self.transport is not None
        self.peer = None
        asyncio.get_running_loop().call_later(FAREWELL_SECONDS, self.transport.abort)


class TcpEdge(TransportEdge):
    """A TCP connection; one from this very machine may be made for somebody else, and say so first."""

    #: What has come while it is not known whether it says so; None afterwards.
    _first: bytes | None = b""

    def received(self, data: bytes) -> None:
        if self._first is not None:
            data = self._introduced(self._first + data)
        if self.peer is not None and data:
            self.peer.feed(data)

    def _introduced(self, data: bytes) -> bytes:
        """Return what the client itself has sent, as soon as it is known what that is."""
        if not self._is_from_here():
            self._first = None
        elif is_cut_off(data):
            self._first = data
            return b""
        else:
            self._first = None
            visitor, data = read_visitor(data)
            if visitor and self.peer is not None:
                self.peer.name = visitor
        return data

    def _is_from_here(self) -> bool:
        assert self.transport is not None
        here, there = map(self.transport.get_extra_info, ("sockname", "peername"))
        return bool(here and there and here[0] == there[0])

    def write(self, packets: bytes) -> None:
        assert self.transport is not None
        self.transport.write(packets)

    def close(self, reason: str = "") -> None:
        self._write_last(b"")


class WebSocketEdge(TransportEdge):
    """A WebSocket that counts from its first byte; packets need not be aligned with its frames (MQTT 5, 6).

    Pings and empty frames cost the broker more than most packets, and have no price. No client of MQTT needs more than
    a few, so one that sends more is read slowly.

    What is not a request for a WebSocket gets one plain refusal.
    """

    def __init__(self, listener: Listener, is_foreign: Callable[[bytes], bool], frame_bytes: int) -> None:
        super().__init__(listener)
        self._is_foreign = is_foreign
        self._head = b""
        self._library = ServerProtocol(subprotocols=[Subprotocol("mqtt")], max_size=frame_bytes)
        self._idle_frames = Bucket(IDLE_FRAMES, self._now_ms())

    def received(self, data: bytes) -> None:
        if self._library.state is not State.CONNECTING:
            self._library.receive_data(data)
            self._take(self._library.events_received())
        elif self.peer is not None:
            self._read_head(self.peer, data)

    # --- the request --------------------------------------------------------------------------------------------

    def _read_head(self, peer: Peer, data: bytes) -> None:
        self._head += data
        head = head_of(self._head)
        if head is None and len(self._head) < MAX_HEAD_BYTES:
            return
        received, self._head = self._head, b""
        foreign = False
        if head is not None and wants_websocket(head):
            foreign = self._is_foreign(head)
            if not foreign and self._open(head):
                self.received(received[len(head) :])
                return
            head = head if foreign else _BAD_REQUEST
        if not foreign:
            peer.turn_away("http", "sent something other than a WebSocket request")
        peer.lost()
        self._write_last(refusal(head, of_another_site=foreign))

    def _open(self, head: bytes) -> bool:
        """Answer a request that the library takes; return whether it has."""
        self._library.receive_data(head)
        for request in self._library.events_received():
            if isinstance(request, Request):
                with contextlib.suppress(UnicodeEncodeError):  # its refusal quotes bytes that are not text
                    response = self._library.accept(request)
                    if response.status_code == HTTPStatus.SWITCHING_PROTOCOLS:
                        self._library.send_response(response)
                        self._write_out()
        return self._library.state is State.OPEN

    # --- frames -------------------------------------------------------------------------------------------------

    def _take(self, frames: Sequence[Event]) -> None:
        for frame in frames:
            if self.peer is None or not isinstance(frame, Frame) or frame.opcode is Opcode.CLOSE:
                continue
            if frame.opcode is Opcode.TEXT:
                self._library.fail(CloseCode.UNSUPPORTED_DATA, "MQTT comes in binary frames")
                break
            elif frame.data and frame.opcode in (Opcode.BINARY, Opcode.CONT):
                self.peer.feed(bytes(frame.data))
            elif not self._idle_frames.take(self._now_ms()):
                self.peer.slow_down(IDLE_REST_SECONDS, "frames", "sends frames without packets")
        if self.peer is not None and self._library.close_expected():
            if self._library.close_rcvd is None:
                self.peer.turn_away("malformed", "broke the rules of WebSocket")
            self.peer.lost()
        self._write_out()

    def _write_out(self) -> None:
        """Write what the library has to send; nothing means the end."""
        assert self.transport is not None
        for data in self._library.data_to_send():
            if data:
                self.transport.write(data)
            else:
                self._write_last(b"")

    def write(self, packets: bytes) -> None:
        if self._library.state is State.OPEN:
            self._library.send_binary(packets)
            self._write_out()

    def close(self, reason: str = "") -> None:
        if self._library.state is State.OPEN:
            code = CloseCode.POLICY_VIOLATION if reason else CloseCode.NORMAL_CLOSURE
            self._library.send_close(code, reason.encode()[:_MAX_REASON_BYTES].decode(errors="ignore"))
            self._write_out()
            self.resume_reading()  # for the other side's goodbye
            self._abort_soon()
        elif self._library.state is State.CONNECTING:
            self.abort()

    @staticmethod
    def _now_ms() -> int:
        return int(1000 * asyncio.get_running_loop().time())
