"""MQTT 3.1.1 packets as bytes: what crosses the broker with every message is written and cut here, without objects.

A greeting is decoded by amqtt. Layouts are those of chapters 2 and 3.
"""

from __future__ import annotations

from typing import Any

from amqtt.adapters import BufferReader
from amqtt.errors import AMQTTError, MQTTError, NoDataError

CONNECT, PUBLISH, PUBACK, PUBREC, PUBREL, PUBCOMP = 1, 3, 4, 5, 6, 7
SUBSCRIBE, SUBACK, UNSUBSCRIBE, UNSUBACK, PINGREQ, DISCONNECT = 8, 9, 10, 11, 12, 14
ACCEPTED, BAD_PROTOCOL, BAD_ID, NOT_AUTHORISED = 0, 1, 2, 5
REFUSED_SUBSCRIPTION = 0x80
#: CONNACK in the shape of MQTT 5: unsupported protocol version, no properties. A v5 client hangs on any other shape.
CONNACK_FOR_V5 = b"\x20\x03\x00\x84\x00"
PINGRESP = b"\xd0\x00"


class ProtocolFault(Exception):
    """The client broke the protocol; its connection ends."""


class Unwelcome(ProtocolFault):
    """The client is refused, which its operator wants to find in the log."""


def packet(first: int, body: bytes) -> bytes:
    """A whole packet: first byte, remaining length, body."""
    return _fixed_header(first, len(body)) + body


def _fixed_header(first: int, length: int) -> bytes:
    if length < 128:
        return bytes((first, length))
    header = bytearray((first,))
    while length > 127:
        header.append(length & 127 | 128)
        length >>= 7
    header.append(length)
    return bytes(header)


def publish_packet(topic: bytes, payload: bytes, qos: int, retain: bool, mid: int) -> bytes:
    """A PUBLISH; ``topic`` comes with its length in front, as on the wire."""
    length = len(topic) + len(payload)
    if not qos:
        return b"".join((_fixed_header(PUBLISH << 4 | retain, length), topic, payload))
    header = _fixed_header(PUBLISH << 4 | 2 | retain, length + 2)
    return b"".join((header, topic, mid.to_bytes(2, "big"), payload))


def answer(kind: int, mid: bytes) -> bytes:
    """PUBACK, PUBREC, PUBCOMP or UNSUBACK."""
    return bytes((kind << 4, 2)) + mid


def connack(code: int, session_present: bool = False) -> bytes:
    return bytes((0x20, 2, session_present, code))


def with_length(text: str) -> bytes:
    """A string as on the wire."""
    encoded = text.encode()
    return len(encoded).to_bytes(2, "big") + encoded


def client_id_of_v5(body: bytes) -> str:
    """Return the client id of an MQTT 5 CONNECT, for the log; empty when it has none or cannot be read."""
    length = shift = 0
    place = 10  # protocol name and level, flags, keep-alive; then properties with their length in front
    while place < len(body) and shift < 28:
        length |= (body[place] & 127) << shift
        shift += 7
        place += 1
        if body[place - 1] < 128:
            break
    start = place + length + 2
    end = start + int.from_bytes(body[start - 2 : start], "big")
    return body[start:end].decode(errors="replace")


def topic_filters(body: bytes, options: int) -> list[tuple[str, int]]:
    """Return the filters of a SUBSCRIBE with their QoS, or of an UNSUBSCRIBE with 0.

    amqtt's decoder is many times slower, which helps a flood, and accepts a list that is cut off.

    Args:
        options: bytes after each filter: 1 for a SUBSCRIBE, its QoS; 0 for an UNSUBSCRIBE.

    Raises:
        ProtocolFault: it names no filter, or its last one is not all there.
        UnicodeDecodeError: one is not UTF-8.
    """
    found, at = [], 2
    while at < len(body):
        start = at + 2
        end = start + int.from_bytes(body[at:start], "big")
        at = end + options
        found.append((body[start:end].decode(), int.from_bytes(body[end:at], "big")))
    if not found or at != len(body):
        raise ProtocolFault(f"sent a malformed list of {len(found)} topic filters")
    return found


def cut(stream: bytes, at: int, most: int) -> tuple[int, int] | None:
    """Return where the body of the packet at a place begins and ends; None while it is not all there.

    Raises:
        ProtocolFault: its length is malformed, or more than ``most`` bytes.
    """
    length = shift = 0
    for place in range(at + 1, at + 5):
        if place >= len(stream):
            return None
        digit = stream[place]
        length |= (digit & 127) << shift
        if digit < 128:
            break
        shift += 7
    else:
        raise ProtocolFault("malformed remaining length")
    if length > most:
        raise ProtocolFault(f"a packet of {length} bytes; at most {most} are read")
    end = place + 1 + length
    return (place + 1, end) if end <= len(stream) else None


def decode(kind: Any, first: int, body: bytes) -> Any:
    """Have one of amqtt's packet classes read a packet; all bytes are there, so its coroutine never waits.

    Raises:
        ProtocolFault: amqtt cannot read it.
    """
    reading = kind.from_stream(BufferReader(packet(first, body)))
    try:
        reading.send(None)
    except StopIteration as done:
        return done.value
    except (AMQTTError, MQTTError, NoDataError, UnicodeDecodeError) as error:
        raise ProtocolFault(f"sent an unreadable {kind.__name__}: {error}") from None
    reading.close()
    raise ProtocolFault(f"sent an incomplete {kind.__name__}")
