"""The limits that uvicorn lacks for WebSockets: the cost of frames, and the errors of clients."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidState
from websockets.frames import Frame

if TYPE_CHECKING:
    from uvicorn._types import ASGISendEvent

#: Pieces of one WebSocket message; MQTT.js sends none in pieces.
MAX_PIECES: Final = 64


class Hatch(WebSocketsSansIOProtocol):
    """A WebSocket whose other side cannot make this one hold more than a message, and a buffer of answers.

    Nobody sends text here: what is in it is not read.
    """

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self.handshake_initiated:  # the head was whole: it is not a request for a WebSocket, and none will come
            self.transport.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            self.transport.close()

    def shutdown(self) -> None:
        with contextlib.suppress(InvalidState):  # the other side has ended it, and does not read that it is so
            super().shutdown()

    def send_receive_event_to_app(self) -> None:
        if self.curr_msg_data_type == "text":
            self.frames = [b""]
        super().send_receive_event_to_app()

    async def send(self, message: ASGISendEvent) -> None:
        await super().send(message)
        if self.initial_response is not None:  # uvicorn would log every refusal as an error of the application
            self.handshake_complete = self.close_sent

    def handle_ping(self) -> None:
        if self.writable.is_set():
            super().handle_ping()
        else:  # it reads none of the answers
            self.transport.abort()

    def handle_cont(self, event: Frame) -> None:
        if len(self.frames) < MAX_PIECES:
            super().handle_cont(event)
        else:
            self.transport.abort()
