"""The two dialects that clients speak: MQTT 3.1.1, which is the broker's own, and MQTT 5 as a translation of it.

Properties are read, checked and bounded. Those that bind the broker are obeyed: how long a session stays, how many
messages and how large ones a client takes, when a message expires, how long a will waits. Those of a message are passed
on with it, though no message of a contest has any.

Topic aliases, subscription identifiers, shared subscriptions and authentication in several steps are
optional for a server; this one says in its CONNACK that it has none. Layouts are those of MQTT 5, chapters 2 and 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from salvo_server.brokers.embedded import packets as p
from salvo_server.brokers.embedded.limits import BrokerLimits
from salvo_server.brokers.embedded.packets import Message, ProtocolFault, Reason

#: Bytes of properties that a packet may have, and their number; explorers send some twenty bytes. More would only cost
#: the others' time: a packet has the same price with properties as without.
MAX_PROPERTY_BYTES: Final = 1024
MAX_PROPERTIES: Final = 16
_MAX_PACKET_BYTES: Final = 1 << 28
_MESSAGE_EXPIRY, _RESPONSE_TOPIC = 2, 8
_SESSION_EXPIRY, _AUTHENTICATION, _WILL_DELAY, _RECEIVE_MAXIMUM = 17, 21, 24, 33
_REASON, _CORRELATION, _AUTHENTICATION_DATA = 31, 9, 22
_TOPIC_ALIAS, _USER_PROPERTY, _PACKET_BYTES = 35, 38, 39
#: Bytes of a number; 0 for a text or bytes with their length in front, -2 for a pair of texts, -1 for a number that
#: tells its own length.
_SIZES: Final = {
    **dict.fromkeys((1, 23, 25), 1),
    **dict.fromkeys((33, 34, 35), 2),
    **dict.fromkeys((2, 17, 24, 39), 4),
    **dict.fromkeys((3, 8, 9, 21, 22, 31), 0),
    11: -1,
    38: -2,
}
_WILL: Final = 0
#: Passed on as they are; the time until a message expires becomes less.
_PASSED_ON: Final = {1, 3, _RESPONSE_TOPIC, _CORRELATION, _USER_PROPERTY}
_ABOUT_A_MESSAGE: Final = {_MESSAGE_EXPIRY, *_PASSED_ON}
#: What a client may say in each packet.
_ALLOWED: Final = {
    p.CONNECT: {17, 21, 22, 23, 25, 33, 34, 38, 39},
    _WILL: {_WILL_DELAY, *_ABOUT_A_MESSAGE},
    p.PUBLISH: {_TOPIC_ALIAS, *_ABOUT_A_MESSAGE},
    p.PUBACK: {_REASON, _USER_PROPERTY},
    p.PUBREL: {_REASON, _USER_PROPERTY},
    p.SUBSCRIBE: {11, _USER_PROPERTY},
    p.UNSUBSCRIBE: {_USER_PROPERTY},
    p.DISCONNECT: {_SESSION_EXPIRY, _REASON, _USER_PROPERTY},
}
#: What 3.1.1 has for a refusal; a CONNECT that is malformed has no answer (3.1.4).
_REFUSALS: Final = {
    Reason.BAD_CLIENT_ID: p.BAD_ID,
    Reason.BAD_CREDENTIALS: p.BAD_CREDENTIALS,
    Reason.NOT_AUTHORISED: p.NOT_AUTHORISED,
}
#: An acknowledgement may have a reason and properties, and a goodbye, too.
_FORMS_5: Final = p.FORMS | {
    kind: p.FORMS[kind]._replace(most=p.ANY_LENGTH) for kind in (p.PUBACK, p.PUBREL, p.DISCONNECT)
}
#: The reason of a DISCONNECT after which the will is published all the same.
_WITH_WILL: Final = b"\4"


class Properties(NamedTuple):
    """What a packet has besides its content.

    Attributes:
        found: the numbers among them, 0 in place of a text.
        about: those that are passed on, as on the wire.
        end: where they end in the packet.
    """

    found: Mapping[int, int]
    about: bytes
    end: int

    def of(self, message: Message) -> Message:
        """Return a message that has them."""
        seconds = self.found.get(_MESSAGE_EXPIRY)
        if seconds is None and not self.about:
            return message
        return message._replace(about=self.about, expires=None if seconds is None else p.clock() + seconds)


_NO_PROPERTIES: Final = Properties({}, b"", 0)


class Mqtt311:
    """What a client says and is told, as the broker has it.

    Attributes:
        forms: what a packet of a client looks like, by its kind.
        connect_flags: what the flags in a CONNECT may be.
        session_stays: whether the session outlives the connection; None where the greeting's clean flag says it.
        in_flight: QoS 1 messages that the client takes at once.
        keeps_will: whether a client that said goodbye wants its will to be published.
        properties: those of the message read last.
        will_properties: those of the will.
    """

    forms: Mapping[int, p.Form] = p.FORMS
    connect_flags = p.CONNECT_FLAGS
    session_stays: bool | None = None
    in_flight = 65_535
    keeps_will = False
    properties = will_properties = _NO_PROPERTIES

    @property
    def will_delay(self) -> int:
        """Seconds that the will waits for the client to come back."""
        return self.will_properties.found.get(_WILL_DELAY, 0)

    def read(self, first: int, body: bytes) -> bytes:
        """Return a packet as 3.1.1 has it.

        Raises:
            ProtocolFault: it is malformed, or wants what this broker does not have.
        """
        p.check(self.forms, first, body)
        if first >> 4 == p.CONNECT and body[7] not in self.connect_flags:
            raise ProtocolFault(f"sent a malformed CONNECT: its flags are {body[7]:08b}", Reason.MALFORMED)
        return self._translate(first, body)

    def _translate(self, first: int, body: bytes) -> bytes:
        return body

    def read_options(self, options: int) -> tuple[int, int]:
        """Return a subscription's options, and when it wants retained messages: 0 now, 1 now if it is new, 2 not now.

        Raises:
            ProtocolFault: there are no such options.
        """
        if options > 2:
            raise ProtocolFault("subscribed at a QoS above 2", Reason.MALFORMED)
        return options, 0

    def connack(self, present: bool, assigned: str, limits: BrokerLimits) -> bytes:
        """The answer to a greeting.

        Args:
            assigned: the client id that the broker has chosen; empty if the client brought one.
        """
        return p.connack(p.ACCEPTED, present)

    def refusal(self, reason: Reason, advice: str = "") -> bytes:
        """The answer to a greeting that ends the connection; empty where the protocol has none.

        Args:
            advice: for whoever wrote the client; MQTT 3.1.1 has no place for it.
        """
        return p.connack(_REFUSALS[reason]) if reason in _REFUSALS else b""

    def answer(self, kind: int, mid: bytes, reason: Reason = Reason.SUCCESS) -> bytes:
        """PUBACK, PUBREC or PUBCOMP."""
        return p.answer(kind, mid)

    def suback(self, mid: bytes, granted: list[int]) -> bytes:
        """The granted QoS or the reason of refusal for each filter."""
        return p.packet(p.SUBACK << 4, mid + bytes(min(each, Reason.UNSPECIFIED) for each in granted))

    def unsuback(self, mid: bytes, reasons: list[Reason]) -> bytes:
        """One reason for each filter."""
        return p.answer(p.UNSUBACK, mid)

    def farewell(self, reason: Reason) -> bytes:
        """What the broker says before it ends a connection; empty where the protocol has no word for it."""
        return b""

    def message(self, packet: bytes, about: bytes) -> bytes | None:
        """Return a PUBLISH with its properties as the client reads it; None if it is larger than it takes."""
        return packet


class Bridge311(Mqtt311):
    """The same of a bridge of mosquitto, which says by its protocol level that it wants no message of its own back.

    And live messages with their retain flag, to retain them on its side: 3.1.1 has no options for that.
    """

    def read_options(self, options: int) -> tuple[int, int]:
        qos, when = super().read_options(options)
        return qos | p.NO_LOCAL | p.AS_PUBLISHED, when


class Mqtt5(Mqtt311):
    """The same in MQTT 5."""

    forms = _FORMS_5
    connect_flags = p.CONNECT_FLAGS_5

    def __init__(self) -> None:
        self._packet_bytes = _MAX_PACKET_BYTES

    # --- what the client says -----------------------------------------------------------------------------------

    def _read_connect(self, body: bytes) -> bytes:
        wanted, _, start = read_properties(body, 10, p.CONNECT)
        if _AUTHENTICATION in wanted:
            raise ProtocolFault("wants to authenticate in several steps", Reason.BAD_AUTHENTICATION_METHOD)
        self.session_stays = wanted.get(_SESSION_EXPIRY, 0) > 0
        self.in_flight = wanted.get(_RECEIVE_MAXIMUM, self.in_flight)
        self._packet_bytes = wanted.get(_PACKET_BYTES, self._packet_bytes)
        if not self.in_flight or not self._packet_bytes:
            raise ProtocolFault("takes no message at all", Reason.PROTOCOL_ERROR)
        text, end = p.sized(body, start, len(body))
        greeting = body[:6] + b"\4" + body[7:10] + p.with_length(text)
        if not body[7] & 4:  # no will
            return greeting + body[end:]
        self.will_properties = read_properties(body, end, _WILL)
        return greeting + body[self.will_properties.end :]

    def _translate(self, first: int, body: bytes) -> bytes:
        match first >> 4:
            case p.CONNECT:
                return self._read_connect(body)
            case p.PUBLISH:
                start = 2 + int.from_bytes(body[:2], "big") + 2 * bool(first & 6)
                self.properties = read_properties(body, start, p.PUBLISH)
                if _TOPIC_ALIAS in self.properties.found:
                    raise ProtocolFault("uses a topic alias; this broker has none", Reason.BAD_TOPIC_ALIAS)
                return body[:start] + body[self.properties.end :]
            case p.SUBSCRIBE | p.UNSUBSCRIBE as kind:
                found, _, end = read_properties(body, 2, kind)
                if len(found) > (_USER_PROPERTY in found):
                    raise ProtocolFault("wants an identifier for its subscription", Reason.NO_SUBSCRIPTION_IDS)
                return body[:2] + body[end:]
            case p.PUBACK | p.PUBREL as kind:
                _read_reason(body, 2, kind)
            case p.DISCONNECT:
                self._disconnected_by_peer(_read_reason(body, 0, p.DISCONNECT), body[:1] == _WITH_WILL)
        return body

    def _disconnected_by_peer(self, found: Mapping[int, int], keeps_will: bool) -> None:
        self.keeps_will = keeps_will
        expiry = found.get(_SESSION_EXPIRY)
        if expiry and not self.session_stays:
            raise ProtocolFault("wants its session to stay after all")
        self.session_stays = self.session_stays and expiry != 0

    def read_options(self, options: int) -> tuple[int, int]:
        when = options >> 4 & 3
        if options & 3 == 3 or when == 3 or options & 0xC0:
            raise ProtocolFault(f"subscribed with the options {options:#x}", Reason.MALFORMED)
        return options & 15, when

    # --- what the client is told --------------------------------------------------------------------------------

    def connack(self, present: bool, assigned: str, limits: BrokerLimits) -> bytes:
        properties = b"\x21" + limits.in_flight.to_bytes(2, "big") + b"\x27" + limits.packet_bytes.to_bytes(4, "big")
        properties += b"\x29\0\x2a\0"  # neither subscription identifiers nor shared subscriptions
        if self.session_stays:
            properties += b"\x11\xff\xff\xff\xff"  # never expires, as in 3.1.1: a server may decide
        if assigned:
            properties += b"\x12" + p.with_length(assigned)
        return p.packet(p.CONNACK << 4, bytes((present, 0)) + p.number(len(properties)) + properties)

    def refusal(self, reason: Reason, advice: str = "") -> bytes:
        properties = bytes((_REASON,)) + p.with_length(advice) if advice else b""
        whole = p.packet(p.CONNACK << 4, bytes((0, reason)) + p.number(len(properties)) + properties)
        return whole if len(whole) <= self._packet_bytes or not advice else self.refusal(reason)

    def answer(self, kind: int, mid: bytes, reason: Reason = Reason.SUCCESS) -> bytes:
        return p.packet(kind << 4, mid + bytes((reason,))) if reason else p.answer(kind, mid)

    def suback(self, mid: bytes, granted: list[int]) -> bytes:
        return p.packet(p.SUBACK << 4, mid + b"\0" + bytes(granted))

    def unsuback(self, mid: bytes, reasons: list[Reason]) -> bytes:
        return p.packet(p.UNSUBACK << 4, mid + b"\0" + bytes(reasons))

    def farewell(self, reason: Reason) -> bytes:
        return bytes((p.DISCONNECT << 4, 2, reason, 0))

    def message(self, packet: bytes, about: bytes) -> bytes | None:
        start, end = p.header_of(packet)
        whole = p.packet(packet[0], packet[start:end] + p.number(len(about)) + about + packet[end:])
        return whole if len(whole) <= self._packet_bytes else None


#: By what a CONNECT has as protocol level.
DIALECTS: Final[Mapping[int, type[Mqtt311]]] = {4: Mqtt311, 5: Mqtt5, 0x84: Bridge311}


def _read_reason(body: bytes, at: int, kind: int) -> Mapping[int, int]:
    """Return the properties after the reason with which a packet may end."""
    if len(body) <= at + 1:
        return {}
    found, _, end = read_properties(body, at + 1, kind)
    if end < len(body):
        raise ProtocolFault(f"sent a malformed packet: {len(body) - end} bytes too many", Reason.MALFORMED)
    return found


def read_properties(body: bytes, at: int, kind: int) -> Properties:
    """Read a packet's properties.

    Raises:
        ProtocolFault: they are malformed, too long or too many, given twice, or not for this packet.
    """
    length, at = _read_number(body, at)
    if length > MAX_PROPERTY_BYTES:
        text = f"sent {length} bytes of properties; at most {MAX_PROPERTY_BYTES} are read"
        raise ProtocolFault(text, Reason.TOO_LARGE)
    end, found, about, count = at + length, dict[int, int](), b"", 0
    if end > len(body):
        raise ProtocolFault("sent properties that are cut off", Reason.MALFORMED)
    while at < end:
        name = body[at]
        if name not in _ALLOWED[kind] or (name in found and name != _USER_PROPERTY):
            raise ProtocolFault(
                f"sent the property {name} where or as often as it is not allowed", Reason.PROTOCOL_ERROR
            )
        if (count := count + 1) > MAX_PROPERTIES:
            raise ProtocolFault(f"sent more than {MAX_PROPERTIES} properties", Reason.TOO_LARGE)
        start = at
        found[name], at = _value(body, start + 1, end, name)
        if name in _PASSED_ON:
            about += body[start:at]
    return Properties(found, about, end)


def _value(body: bytes, at: int, end: int, name: int) -> tuple[int, int]:
    if (size := _SIZES[name]) > 0:
        if at + size > end:
            raise ProtocolFault("sent a property that is cut off", Reason.MALFORMED)
        value = int.from_bytes(body[at : at + size], "big")
        if size == 1 and value > 1:
            raise ProtocolFault(f"sent the property {name} as {value}; it is 0 or 1")
        return value, at + size
    if size == -1:
        return _read_number(body[:end], at)
    for _ in range(2 if size else 1):
        encoded, at = p.sized(body, at, end)
        if name not in (_CORRELATION, _AUTHENTICATION_DATA):  # any bytes
            text = p.text_of(encoded)
            if name == _RESPONSE_TOPIC and ("+" in text or "#" in text):
                raise ProtocolFault("wants the answers on a topic filter, which is not a topic")
    return 0, at


def _read_number(body: bytes, at: int) -> tuple[int, int]:
    """Return a number of one to four bytes, and where it ends."""
    number = 0
    for place, digit in enumerate(body[at : at + 4]):
        number |= (digit & 127) << 7 * place
        if digit < 128:
            return number, at + place + 1
    raise ProtocolFault("sent a malformed length", Reason.MALFORMED)
