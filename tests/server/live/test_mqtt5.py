"""MQTT 5 on the embedded broker, byte by byte, and what it does not have of either version.

The rights in MQTT 5 are tried with all the others, in test_access_matrix.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

import pytest

from kit.documents import DOCS
from kit.raw import Raw, connect_packet, packet, publish_packet, subscribe_packet, text
from salvo_server.brokers.embedded import EmbeddedBroker, packets
from salvo_server.brokers.embedded.limits import Access, BrokerLimits, LimitAction

#: CONNACK: messages at QoS 2 at once, largest packet, no subscription identifiers, no shared subscriptions.
_REASONS = (
    b"\x21" + struct.pack("!H", BrokerLimits().in_flight) + b"\x27" + struct.pack("!I", BrokerLimits().packet_bytes)
)
_REASONS += b"\x29\0\x2a\0"


def connack(present: bool = False, more: bytes = b"") -> bytes:
    return packet(0x20, bytes((present, 0, len(_REASONS + more))) + _REASONS + more)


class OnlyAliceWrites(Access):
    """Anybody reads; ``alice`` alone publishes, below ``/a``."""

    def allows(self, client_id: str, username: str | None, action: LimitAction, topic: str) -> bool:
        return action != "publish" or (client_id == "alice" and topic.startswith("/a"))


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(access=OnlyAliceWrites()) as running:
        yield running


def connect(client_id: str, properties: bytes = b"", flags: int = 2, after: bytes = b"") -> bytes:
    head = b"\0\4MQTT\5" + bytes((flags,)) + b"\0\x3c"
    return packet(0x10, head + bytes((len(properties),)) + properties + text(client_id) + after)


def raw(broker: EmbeddedBroker, greeting: bytes) -> Raw:
    """A socket on which this greeting has been sent."""
    return Raw(broker.port, greeting=greeting)


def greeted(broker: EmbeddedBroker, client_id: str, properties: bytes = b"", flags: int = 2) -> Raw:
    found = raw(broker, connect(client_id, properties, flags))
    answer = found.read()
    assert answer is not None
    assert answer[3] == 0, answer
    return found


def publish(topic: str, payload: bytes, mid: int = 1, first: int = 0x32, properties: bytes = b"") -> bytes:
    number = struct.pack("!H", mid) if first & 6 else b""
    return packet(first, text(topic) + number + bytes((len(properties),)) + properties + payload)


def subscribe(topic: str, options: int = 1, properties: bytes = b"") -> bytes:
    return packet(0x82, b"\0\1" + bytes((len(properties),)) + properties + text(topic) + bytes((options,)))


# --- greetings ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("properties", "flags", "answer"),
    [
        (b"", 2, connack()),
        (b"\x26" + text("a") + text("b") + b"\x26" + text("a") + text("b"), 2, connack()),
        (b"\x11\0\0\0\1\x21\0\1\x27\0\0\0\x80\x22\0\7\x19\1\x17\0", 2, connack(more=b"\x11\xff\xff\xff\xff")),
        (b"\x15" + text("SCRAM"), 2, b"\x20\3\0\x8c\0"),
        (b"\x15" + text("SCRAM") + b"\x16" + text("data"), 2, b"\x20\3\0\x8c\0"),
        (b"\x21\0\0", 2, b"\x20\3\0\x82\0"),
        (b"\x27\0\0\0\0", 2, b"\x20\3\0\x82\0"),
        (b"\x11\0\0\0\1\x11\0\0\0\1", 2, b"\x20\3\0\x82\0"),
        (b"\x23\0\1", 2, b"\x20\3\0\x82\0"),
        (b"\x7f", 2, b"\x20\3\0\x82\0"),
        (b"\x11\0\0", 2, b"\x20\3\0\x81\0"),
        (b"\x26" + text("a") + b"\0\x09b", 2, b"\x20\3\0\x81\0"),
    ],
)
def test_a_greeting_is_answered_by_what_its_properties_want(
    broker: EmbeddedBroker, properties: bytes, flags: int, answer: bytes
) -> None:
    with raw(broker, connect("erin", properties, flags)) as client:
        assert client.read() == answer
        if answer[3]:
            assert client.read() == b""


STAYS = b"\x11\0\0\0\1"


def leave_with_a_will(broker: EmbeddedBroker, delay: int, properties: bytes = STAYS) -> None:
    """Alice's connection is cut; her will waits for these seconds."""
    will = b"\5\x18" + struct.pack("!I", delay) + text("/a/will") + text("gone")
    with raw(broker, connect("alice", properties, 6, will)) as client:
        answer = client.read()
        assert answer is not None
        assert answer[3] == 0


@pytest.mark.parametrize(
    ("delay", "properties", "back"),
    [
        pytest.param(1, STAYS, None, id="its time has come"),
        pytest.param(3600, b"", None, id="the session ends with the connection"),
        pytest.param(3600, STAYS, 2, id="the client begins a new session"),
    ],
)
def test_a_delayed_will_is_published(broker: EmbeddedBroker, delay: int, properties: bytes, back: int | None) -> None:
    with greeted(broker, "reader") as reader:
        reader.send(subscribe("/a/will"))
        assert reader.read() == b"\x90\4\0\1\0\1"
        leave_with_a_will(broker, delay, properties)
        if back is not None:
            greeted(broker, "alice", STAYS, back).close()
        reader.wait_for(b"gone")


def test_a_client_that_takes_leave_has_no_will(broker: EmbeddedBroker) -> None:
    will = b"\0" + text("/a/will") + text("gone")
    with greeted(broker, "reader") as reader, raw(broker, connect("alice", flags=6, after=will)) as alice:
        answered(reader, subscribe("/a/will"))
        alice.wait_for(connack())
        alice.send(b"\xe0\0")
        assert alice.read() == b""
        assert answered(reader, b"") == b""


# --- later packets ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (publish("/a/x", b"hi"), b"\x40\2\0\1"),
        (
            publish("/a/x", b"hi", properties=b"\1\1\2\0\0\0\1\3" + text("t") + b"\x26" + text("a") + text("")),
            b"\x40\2\0\1",
        ),
        (publish("/b/x", b"hi"), b"\x40\3\0\1\x87"),
        (publish("/b/x", b"hi", first=0x34), b"\x50\3\0\1\x87"),
        (subscribe("/a/#", 0x02), b"\x90\4\0\1\0\1"),
        (subscribe("/a/#", 0x0D), b"\x90\4\0\1\0\1"),
        (subscribe("/a/#/b"), b"\x90\4\0\1\0\x8f"),
        (subscribe("$share/g/a"), b"\x90\4\0\1\0\x9e"),
        (packet(0xA2, b"\0\1\0" + text("/never")), b"\xb0\4\0\1\0\x11"),
        (b"\x62\2\0\1", b"\x70\3\0\1\x92"),
        (b"\xc0\0", b"\xd0\0"),
    ],
)
def test_an_mqtt_5_answer_contains_the_reason_code(broker: EmbeddedBroker, sent: bytes, answer: bytes) -> None:
    with greeted(broker, "alice") as client:
        client.send(sent)
        assert client.read() == answer


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (publish("", b"hi", properties=b"\x23\0\1"), 0x94),
        (publish("/a/x", b"hi", properties=b"\x0b\1"), 0x82),
        (publish("/a/x", b"hi", properties=b"\1\2"), 0x82),
        (publish("/a/x", b"hi", properties=b"\x08" + text("/a/+")), 0x82),
        (b"".join(publish("/a/x", b"", mid, first=0x34) for mid in range(1, BrokerLimits().in_flight + 2)), 0x93),
        (publish("/a/x", b"hi", properties=b"\1"), 0x81),
        (packet(0x32, text("/a/x") + b"\0\1\x7f"), 0x81),
        (subscribe("/a/x", properties=b"\x0b\1"), 0xA1),
        (subscribe("/a/x", 0x03), 0x81),
        (subscribe("/a/x", 0x31), 0x81),
        (subscribe("/a/x", 0x41), 0x81),
        (packet(0xF0, b"\x18\0"), 0x82),
        (b"\xe0\7\0\5\x11\0\0\0\1", 0x82),
        (packet(0x32, text("/a/x") + b"\0\1\x81\x08"), 0x95),
        (publish("/a/x", b"hi", properties=(b"\x26" + text("") * 2) * 17), 0x95),
        (publish("/a/x", b"hi", properties=b"\3\0\1\xff"), 0x81),
        (publish("/a/x", b"hi", first=0x38), 0x81),
        (b"\x60\2\0\1", 0x81),
        (b"\x40\2\0\0", 0x82),
        (b"\x40\6\0\1\0\0\0\0", 0x81),
        (b"\x62\7\0\1\0\3\x11\0\0", 0x82),
        (b"\xe0\3\0\0\0", 0x81),
        (packet(0x80, b"\0\1\0" + text("/a/x") + b"\1"), 0x81),
    ],
)
def test_a_fault_ends_the_connection_with_its_reason(broker: EmbeddedBroker, sent: bytes, reason: int) -> None:
    with greeted(broker, "alice") as client:
        client.send(sent)
        got = b""
        while part := client.read():
            got += part
        assert got.endswith(bytes((0xE0, 2, reason, 0)))


def test_a_message_that_has_expired_is_not_sent_and_another_has_less_time_left(
    broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(packets, "clock", lambda: now)
    with greeted(broker, "away", STAYS, 0) as away:
        away.send(subscribe("/a/#"))
        assert away.read() == b"\x90\4\0\1\0\1"
        away.send(b"\xe0\0")
        assert away.read() == b""
    with greeted(broker, "alice") as alice:
        for mid, seconds in enumerate((5, 60), start=1):
            expiry = b"\2" + struct.pack("!I", seconds)
            alice.send(publish(f"/a/kept/{seconds}", b"%d" % seconds, mid, 0x33, expiry))
            assert alice.read() == b"\x40\2\0" + bytes((mid,))
        now += 10
        left = b"\2" + struct.pack("!I", 50)
        with raw(broker, connect("away", flags=0)) as away:
            away.wait_for(connack(True) + publish("/a/kept/60", b"60", 1, properties=left))
        with greeted(broker, "newcomer") as newcomer:
            newcomer.send(subscribe("/a/#"))
            newcomer.wait_for(publish("/a/kept/60", b"60", 1, 0x33, left))
            newcomer.send(publish("/b", b"", 9))  # refused, behind all that is retained
            assert newcomer.read() == b"\x40\3\0\x09\x87"


# --- messages -----------------------------------------------------------------------------------------------------


def answered(client: Raw, sent: bytes) -> bytes:
    """Send something; return what comes until a ping behind it is answered."""
    client.send(sent + b"\xc0\0")
    got = b""
    while not got.endswith(b"\xd0\0"):
        part = client.read()
        assert part, got
        got += part
    return got.removesuffix(b"\xd0\0")


def test_messages_arrive_at_the_lower_of_two_qos_and_1_at_most(broker: EmbeddedBroker) -> None:
    with greeted(broker, "alice") as alice, greeted(broker, "reader") as reader:
        for granted in range(3):
            assert answered(reader, subscribe("/a/x", granted)) == bytes((0x90, 4, 0, 1, 0, min(granted, 1)))
            for qos in range(3):
                answered(alice, publish("/a/x", b"%d" % qos, 10 * granted + qos + 1, 0x30 | qos << 1))
                received = answered(reader, b"")
                assert (received[0], received[-1:]) == (0x30 | min(qos, granted, 1) << 1, b"%d" % qos)


def test_a_session_stores_what_comes_above_qos_0_while_its_client_is_away(broker: EmbeddedBroker) -> None:
    with greeted(broker, "away", STAYS, 0) as away:
        answered(away, subscribe("/a/+"))
    with greeted(broker, "alice") as alice:
        answered(alice, publish("/a/x", b"one", first=0x32) + publish("/a/x", b"two", 2, first=0x34))
    with raw(broker, connect("away", STAYS, 0)) as away:
        received = answered(away, b"")
        assert received.startswith(connack(True, b"\x11\xff\xff\xff\xff"))
        assert re.findall(b"one|two", received) == [b"one", b"two"]
    for flags in (2, 0):  # the first one begins a new session, of which nothing is left
        with raw(broker, connect("away", flags=flags)) as away:
            assert answered(away, b"") == connack()


def test_properties_go_with_a_message_live_and_retained(broker: EmbeddedBroker) -> None:
    about = [b"\x26" + text("a") + text("2"), b"\x26" + text("c") + text("3"), b"\1\1", b"\3" + text("text")]
    about += [b"\x08" + text("answers"), b"\x09" + text("id")]
    with greeted(broker, "alice") as alice, greeted(broker, "reader") as reader:
        answered(reader, subscribe("/a/#"))
        answered(alice, publish("/a/x", b"hi", first=0x33, properties=b"".join(about)))
        for sent in (b"", subscribe("/a/x")):
            received = answered(reader, sent)
            assert [each for each in about if each not in received] == []


def test_a_subscription_has_its_options(broker: EmbeddedBroker) -> None:
    """Nothing of the own client; the flag as it was published; what is retained always, once or never."""
    with greeted(broker, "alice") as alice, greeted(broker, "reader") as reader:
        for client in (alice, reader):
            answered(client, subscribe("/a/x", 0b0000_1101))
        for flag in (0, 1):
            assert b"hi" not in answered(alice, publish("/a/x", b"hi", 1, 0x32 | flag))
            received = answered(reader, b"")
            assert (received[0], received[-2:]) == (0x32 | flag, b"hi")
        for handling, times in ((2, 0), (1, 0), (0, 1), (0, 1)):
            assert answered(reader, subscribe("/a/x", 1 | handling << 4)).count(b"hi") == times
        answered(reader, packet(0xA2, b"\0\1\0" + text("/a/x")))
        assert answered(reader, subscribe("/a/x", 0b0001_0001)).count(b"hi") == 1


# --- what the embedded broker does not have -------------------------------------------------------------------------

#: What a client may ask for, and what it sends for that in 3.1.1 and in 5; nothing where there is no such thing.
REFUSED = {
    "QoS 2 to a subscriber": (packet(0x82, b"\0\1" + text("x") + b"\2"), subscribe("x", 2)),
    "a shared subscription, `$share/...`": (subscribe_packet("$share/g/x"), subscribe("$share/g/x")),
    "to publish below `$`": (publish_packet("$topic", b"x"), publish("$topic", b"x")),
    "an identifier for a subscription": (b"", subscribe("x", properties=b"\x0b\1")),
    "a topic alias": (b"", publish("x", b"x", properties=b"\x23\0\1")),
    "authentication in several steps": (b"", connect("c", b"\x15" + text("SCRAM"))),
    "a session that ends some time after its connection": (b"", connect("c", STAYS)),
    "MQTT 3.1, protocol level 3": (packet(0x10, text("MQIsdp") + b"\3\2\0\x3c" + text("old")), b""),
}


def refusal(port: int, sent: bytes, level: int) -> str:
    """Return the answer as the manual writes it."""
    if not sent:
        return "-"
    greets = sent[0] == 0x10
    with Raw(port, greeting=sent if greets else connect_packet("c", level=level)) as client:
        answer = client.read() or b""
        if not greets:
            client.send(sent)
            answer = client.read() or b""
    kind = {0x20: "CONNACK", 0x40: "PUBACK", 0x90: "SUBACK", 0xE0: "DISCONNECT"}[answer[0]]
    if kind == "CONNACK":
        found = re.search(b"\x11(....)$", answer, re.DOTALL)  # how long the session is to stay
        return f"`CONNACK 0x{found[1].hex()}`" if found else f"`CONNACK {answer[3]:#04x}`"
    place = {"PUBACK": 4, "SUBACK": len(answer) - 1, "DISCONNECT": 2}[kind]
    return f"`{kind} {(answer + bytes(1))[place]:#04x}`"


def test_what_the_broker_refuses_is_in_the_table_of_the_manual() -> None:
    _, _, section = (DOCS / "brokers.md").read_text().partition("## MQTT on the server's own broker\n")
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| [^|]+ \|$", section.partition("\n#")[0], re.MULTILINE)[1:]
    with EmbeddedBroker() as broker:
        found = [
            (what, refusal(broker.port, old, 4), refusal(broker.port, new, 5)) for what, (old, new) in REFUSED.items()
        ]
    assert rows == found
