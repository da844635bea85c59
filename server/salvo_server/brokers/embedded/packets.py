"""MQTT 3.1.1 packets as bytes: what crosses the broker with every message is written and cut here, without objects.

Layouts are those of chapters 2 and 3. For MQTT 5 see :mod:`.dialects`. amqtt's decoders are not used: they accept what
the norm calls malformed (reserved bits, packet id 0, texts that are not UTF-8, packets that are cut off or too long).
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Mapping
from enum import IntEnum
from typing import Final, NamedTuple

from salvo_server.brokers.embedded.limits import MESSAGE_BYTES

CONNECT, CONNACK, PUBLISH, PUBACK, PUBREC, PUBREL, PUBCOMP = 1, 2, 3, 4, 5, 6, 7
SUBSCRIBE, SUBACK, UNSUBSCRIBE, UNSUBACK, PINGREQ, DISCONNECT = 8, 9, 10, 11, 12, 14
ACCEPTED, BAD_PROTOCOL, BAD_ID, BAD_CREDENTIALS, NOT_AUTHORISED = 0, 1, 2, 4, 5
PINGRESP = b"\xd0\x00"
#: In the options of a subscription: nothing that the same client has published; live messages with their retain flag.
NO_LOCAL: Final = 4
AS_PUBLISHED: Final = 8
clock = time.monotonic


class Reason(IntEnum):
    """Why the broker refuses something, in the numbers of MQTT 5; 3.1.1 has only ``0x80``, for a subscription."""

    SUCCESS = 0x00
    NO_SUBSCRIPTION = 0x11
    UNSPECIFIED = 0x80
    MALFORMED = 0x81
    PROTOCOL_ERROR = 0x82
    BAD_CLIENT_ID = 0x85
    BAD_CREDENTIALS = 0x86
    NOT_AUTHORISED = 0x87
    BAD_AUTHENTICATION_METHOD = 0x8C
    KEEP_ALIVE_TIMEOUT = 0x8D
    TAKEN_OVER = 0x8E
    BAD_FILTER = 0x8F
    NO_PACKET_ID = 0x92
    RECEIVE_MAXIMUM_EXCEEDED = 0x93
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
    """The client speaks well and may not come in.

    Attributes:
        advice: told to a client that speaks MQTT 5, besides the reason.
        expected: whether the client came to be turned away, which is nothing to warn of.
    """

    def __init__(self, text: str, reason: Reason, advice: str = "", *, expected: bool = False) -> None:
        super().__init__(text, reason)
        self.advice, self.expected = advice, expected


class Form(NamedTuple):
    """What the norm lays down of a kind of packet that clients send, whatever its content.

    Attributes:
        flags: the values that the low half of its first byte may have.
        least: the bytes of its shortest body.
        most: those of its longest body.
        has_id: whether its body begins with a packet id, which is never 0.
    """

    name: str
    flags: Collection[int]
    least: int
    most: int
    has_id: bool = False


ANY_LENGTH: Final = 1 << 28
_NONE, _RESERVED = (0,), (2,)
#: DUP, QoS and RETAIN: no QoS above 2, and no DUP at QoS 0.
_PUBLISH_FLAGS: Final = frozenset({0, 1, 2, 3, 4, 5, 10, 11, 12, 13})
#: Of 3.1.1. Every other kind of packet ends the connection.
FORMS: Final = {
    CONNECT: Form("CONNECT", _NONE, 12, ANY_LENGTH),
    PUBLISH: Form("PUBLISH", _PUBLISH_FLAGS, 3, ANY_LENGTH),
    PUBACK: Form("PUBACK", _NONE, 2, 2, True),
    PUBREL: Form("PUBREL", _RESERVED, 2, 2, True),
    SUBSCRIBE: Form("SUBSCRIBE", _RESERVED, 5, ANY_LENGTH, True),
    UNSUBSCRIBE: Form("UNSUBSCRIBE", _RESERVED, 4, ANY_LENGTH, True),
    PINGREQ: Form("PINGREQ", _NONE, 0, 0),
    DISCONNECT: Form("DISCONNECT", _NONE, 0, 0),
}
#: The flags in a CONNECT of MQTT 5: bit 0 is reserved; without a will it has no QoS and is not retained.
CONNECT_FLAGS_5: Final = frozenset(
    flags for flags in range(256) if not flags & 1 and flags & 0x18 != 0x18 and (flags & 4 or not flags & 0x38)
)
#: Of 3.1.1: no password without a user name either.
CONNECT_FLAGS: Final = frozenset(flags for flags in CONNECT_FLAGS_5 if flags & 0x80 or not flags & 0x40)


def check(forms: Mapping[int, Form], first: int, body: bytes) -> None:
    """Hold a packet of a client to its form.

    Raises:
        ProtocolFault: it breaks it, or clients send no such packet.
    """
    form = forms.get(first >> 4)
    if form is None:
        raise ProtocolFault(f"sent a packet of type {first >> 4}, which this broker takes from no client")
    if first & 15 not in form.flags:
        raise ProtocolFault(f"sent a malformed {form.name}: flags {first & 15:04b}", Reason.MALFORMED)
    if not form.least <= len(body) <= form.most:
        raise ProtocolFault(f"sent a malformed {form.name} of {len(body)} bytes", Reason.MALFORMED)
    if form.has_id and body[:2] == b"\0\0":
        raise ProtocolFault(f"sent a {form.name} with packet id 0")


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


class Message(NamedTuple):
    """What a client publishes.

    Attributes:
        topic: with its length in front, as on the wire.
        about: the properties that go with it, as on the wire in MQTT 5.
        expires: by :data:`clock`; after it, it is not sent any more.
        sender: the client id of its publisher.
    """

    topic: bytes
    payload: bytes
    about: bytes = b""
    expires: float | None = None
    sender: str = ""

    @property
    def size(self) -> int:
        """Bytes that it says."""
        return len(self.topic) + len(self.payload) + len(self.about)

    @property
    def cost(self) -> int:
        """Bytes that it takes to keep."""
        return self.size + MESSAGE_BYTES

    def dated(self) -> Message | None:
        """Return it with the properties that it has now; None when it has expired."""
        if self.expires is None:
            return self
        left = self.expires - clock()
        about = self.about + b"\2" + math.ceil(left).to_bytes(4, "big") if left > 0 else b""
        return self._replace(about=about, expires=None) if about else None


def publish_packet(message: Message, retain: bool, mid: int, *, again: bool = False) -> bytes:
    """A PUBLISH, at QoS 1 if it has a packet id."""
    topic, payload, *_ = message
    length = len(topic) + len(payload)
    if not mid:
        return b"".join((_fixed_header(PUBLISH << 4 | retain, length), topic, payload))
    header = _fixed_header(PUBLISH << 4 | again << 3 | 2 | retain, length + 2)
    return b"".join((header, topic, mid.to_bytes(2, "big"), payload))


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


def sized(body: bytes, at: int, end: int) -> tuple[bytes, int]:
    """Return bytes that have their length in front, and where they end.

    Raises:
        ProtocolFault: they are cut off.
    """
    start = at + 2
    after = start + int.from_bytes(body[at:start], "big")
    if start > end or after > end:
        raise ProtocolFault("sent a text that is cut off", Reason.MALFORMED)
    return body[start:after], after


def text_of(encoded: bytes) -> str:
    """Return a text (MQTT 3.1.1, 1.5.3).

    Raises:
        ProtocolFault: it is not UTF-8, or has the character U+0000.
    """
    try:
        text = encoded.decode()
    except UnicodeDecodeError:
        raise ProtocolFault(f"sent a text that is not UTF-8: {encoded[:40]!r}", Reason.MALFORMED) from None
    if "\0" in text:
        raise ProtocolFault(f"sent a text with the character U+0000: {text[:40]!r}", Reason.MALFORMED)
    return text


class Greeting(NamedTuple):
    """A CONNECT.

    Attributes:
        will: with its QoS and whether it is retained.
    """

    client_id: str
    clean: bool
    keep_alive: int
    will: tuple[Message, int, bool] | None
    username: str | None
    password: str | None


def read_connect(body: bytes) -> Greeting:
    """Read a CONNECT whose form and flags are right, in the layout of 3.1.1.

    Raises:
        ProtocolFault: it is cut off or goes on, or a text in it is none.
    """
    flags, end = body[7], len(body)
    client_id, at = sized(body, 10, end)
    will = username = password = None
    if flags & 0x04:
        topic, at = sized(body, at, end)
        payload, at = sized(body, at, end)
        will = Message(with_length(topic), payload), flags >> 3 & 3, bool(flags & 0x20)
    if flags & 0x80:
        username, at = sized(body, at, end)
    if flags & 0x40:
        password, at = sized(body, at, end)
    if at != end:
        raise ProtocolFault(f"sent a malformed CONNECT: {end - at} bytes too many", Reason.MALFORMED)
    return Greeting(
        text_of(client_id),
        bool(flags & 2),
        int.from_bytes(body[8:10], "big"),
        will,
        None if username is None else text_of(username),
        None if password is None else password.decode(errors="replace"),  # any bytes: what is not text is not a secret
    )


def topic_filters(body: bytes, options: int) -> list[tuple[str, int]]:
    """Return the filters of a SUBSCRIBE with their QoS, or of an UNSUBSCRIBE with 0.

    Args:
        options: bytes after each filter: 1 for a SUBSCRIBE, its QoS; 0 for an UNSUBSCRIBE.

    Raises:
        ProtocolFault: it names no filter, its last one is not all there, or one is not text.
    """
    found, at = [], 2
    while at < len(body):
        start = at + 2
        end = start + int.from_bytes(body[at:start], "big")
        at = end + options
        found.append((text_of(body[start:end]), int.from_bytes(body[end:at], "big")))
    if not found or at != len(body):
        raise ProtocolFault(f"sent a malformed list of {len(found)} topic filters", Reason.MALFORMED)
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
