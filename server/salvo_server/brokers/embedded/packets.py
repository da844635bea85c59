"""MQTT 3.1.1 packets as bytes: what crosses the broker with every message is written and cut here, without objects.

A greeting is decoded by amqtt. Layouts are those of chapters 2 and 3. For MQTT 5 see :mod:`.dialects`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from amqtt.adapters import BufferReader
from amqtt.errors import AMQTTError, MQTTError, NoDataError

CONNECT, CONNACK, PUBLISH, PUBACK, PUBREC, PUBREL, PUBCOMP = 1, 2, 3, 4, 5, 6, 7
SUBSCRIBE, SUBACK, UNSUBSCRIBE, UNSUBACK, PINGREQ, DISCONNECT = 8, 9, 10, 11, 12, 14
ACCEPTED, BAD_PROTOCOL, BAD_ID, NOT_AUTHORISED = 0, 1, 2, 5
PINGRESP = b"\xd0\x00"


class Reason(IntEnum):
    """Why the broker refuses something, in the numbers of MQTT 5; 3.1.1 has only ``0x80``, for a subscription."""

    SUCCESS = 0x00
    NO_SUBSCRIPTION = 0x11
    UNSPECIFIED = 0x80
    MALFORMED = 0x81
    PROTOCOL_ERROR = 0x82
    NOT_SERVED = 0x83
    BAD_CLIENT_ID = 0x85
    NOT_AUTHORISED = 0x87
    BAD_AUTHENTICATION_METHOD = 0x8C
    KEEP_ALIVE_TIMEOUT = 0x8D
    TAKEN_OVER = 0x8E
    BAD_FILTER = 0x8F
    NO_PACKET_ID = 0x92
    BAD_TOPIC_ALIAS = 0x94
    TOO_LARGE = 0x95
    QUOTA_EXCEEDED = 0x97
    ADMINISTRATIVE_ACTION = 0x98
    NO_SHARED_SUBSCRIPTIONS = 0x9E
    NO_SUBSCRIPTION_IDS = 0xA1


class ProtocolFault(Exception):
    """The client broke the protocol; its connection ends.

    Attributes:
        reason: told to a client that speaks MQTT 5.
    """

    def __init__(self, text: str, reason: Reason = Reason.PROTOCOL_ERROR) -> None:
        super().__init__(text)
        self.reason = reason


class Unwelcome(ProtocolFault):
    """The client is refused, which its operator wants to find in the log."""


def packet(first: int, body: bytes) -> bytes:
    """A whole packet: first byte, remaining length, body."""
    return _fixed_header(first, len(body)) + body


def _fixed_header(first: int, length: int) -> bytes:
    if length < 128:
        return bytes((first, length))
    return bytes((first,)) + number(length)


def number(number: int) -> bytes:
    """A number of one to four bytes, as lengths are written."""
    digits = bytearray()
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    digits.append(number)
    return bytes(digits)


def publish_packet(topic: bytes, payload: bytes, qos: int, retain: bool, mid: int) -> bytes:
    """A PUBLISH; ``topic`` comes with its length in front, as on the wire."""
    length = len(topic) + len(payload)
    if not qos:
        return b"".join((_fixed_header(PUBLISH << 4 | retain, length), topic, payload))
    header = _fixed_header(PUBLISH << 4 | 2 | retain, length + 2)
    return b"".join((header, topic, mid.to_bytes(2, "big"), payload))


def mid_of(packet: bytes) -> int:
    """The packet id of a PUBLISH at QoS 1."""
    _, end = header_of(packet)
    return int.from_bytes(packet[end - 2 : end], "big")


def header_of(packet: bytes) -> tuple[int, int]:
    """Return where a PUBLISH's topic begins with its length, and where its payload does."""
    start = 2
    while packet[start - 1] > 127:
        start += 1
    return start, start + 2 + int.from_bytes(packet[start : start + 2], "big") + 2 * bool(packet[0] & 6)


def answer(kind: int, mid: bytes) -> bytes:
    """PUBACK, PUBREC, PUBCOMP or UNSUBACK."""
    return bytes((kind << 4, 2)) + mid


def connack(code: int, session_present: bool = False) -> bytes:
    return bytes((CONNACK << 4, 2, session_present, code))


def with_length(text: str | bytes) -> bytes:
    """A string as on the wire."""
    encoded = text.encode() if isinstance(text, str) else text
    return len(encoded).to_bytes(2, "big") + encoded


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
        raise ProtocolFault("malformed remaining length", Reason.MALFORMED)
    if length > most:
        raise ProtocolFault(f"a packet of {length} bytes; at most {most} are read", Reason.TOO_LARGE)
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
