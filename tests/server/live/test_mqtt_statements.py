"""What MQTT says of any broker, asked of the embedded one without rights, in both versions.

The statements are those of Eclipse Paho's interoperability suite. What the embedded broker does not have is in a table,
which is that of the manual.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from queue import Queue
from typing import Any, NamedTuple

import paho.mqtt.client as paho
import pytest
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.subscribeoptions import SubscribeOptions

from kit.brokers import new_broker
from kit.documents import DOCS
from kit.raw import PATIENCE_SECONDS, Raw, packet, text

_numbers = itertools.count()
#: What a subscription is granted at most.
MOST_QOS = 1


class Received(NamedTuple):
    """A message as it came."""

    payload: str
    qos: int
    retain: bool


def _properties(kind: int, values: dict[str, Any]) -> Properties:
    made = Properties(kind)  # type: ignore[no-untyped-call]
    for name, value in values.items():
        setattr(made, name, value)
    return made


@dataclass(frozen=True)
class World:
    """A broker, a version of MQTT, and topics that no other test has."""

    port: int
    version: int
    number: int

    def topic(self, name: str) -> str:
        return f"t{self.number}/{name}"

    def raw(self, name: str, **given: Any) -> Raw:
        return Raw(self.port, f"{name}-{self.number}", level=self.version, **given)


class Client:
    """paho in either version, which waits for every answer."""

    def __init__(self, world: World, name: str, *, clean: bool = True, stays: bool = False, will: str = "") -> None:
        self._world = world
        self._news: Queue[Any] = Queue()
        self.messages: Queue[paho.MQTTMessage] = Queue()
        newer = world.version == 5
        self.paho = paho.Client(
            CallbackAPIVersion.VERSION2,
            f"{name}-{world.number}",
            clean_session=None if newer else clean,
            protocol=paho.MQTTv5 if newer else paho.MQTTv311,
        )
        self.paho.on_connect = lambda c, u, flags, reason, p: self._news.put((flags.session_present, p))
        self.paho.on_message = lambda c, u, message: self.messages.put(message)
        self.paho.on_subscribe = lambda c, u, mid, reasons, p: self._news.put([reason.value for reason in reasons])
        self.paho.on_unsubscribe = lambda *_: self._news.put(None)
        self.paho.on_publish = lambda c, u, mid, reason, p: self._news.put(reason.value)
        if will:
            self.paho.will_set(world.topic("will"), will, 1)
        given: dict[str, Any] = {}
        if newer:
            expiry = {"SessionExpiryInterval": 3600} if stays or not clean else {}
            given = {"clean_start": clean, "properties": _properties(PacketTypes.CONNECT, expiry)}
        self.paho.connect("127.0.0.1", world.port, **given)
        self.paho.loop_start()
        self.session_present, self.connack = self.next()

    def next(self) -> Any:
        return self._news.get(timeout=PATIENCE_SECONDS)

    def subscribe(self, *names: str, qos: int = 2, **options: Any) -> list[int]:
        topics = [self._world.topic(name) for name in names]
        if self._world.version == 5:
            self.paho.subscribe([(topic, SubscribeOptions(qos, **options)) for topic in topics])
        else:
            self.paho.subscribe([(topic, qos) for topic in topics])
        granted: list[int] = self.next()
        return granted

    def unsubscribe(self, name: str) -> None:
        self.paho.unsubscribe(self._world.topic(name))
        self.next()

    def publish(self, name: str, payload: str, qos: int = 1, retain: bool = False, **properties: Any) -> int:
        about = _properties(PacketTypes.PUBLISH, properties) if properties else None
        self.paho.publish(self._world.topic(name), payload, qos, retain, about)
        reason: int = self.next()
        return reason

    def receive(self) -> Received:
        message = self.messages.get(timeout=PATIENCE_SECONDS)
        return Received(message.payload.decode(), message.qos, message.retain)

    def receive_until(self, payload: str) -> list[Received]:
        """Return what comes before a message with this payload."""
        return list(itertools.takewhile(lambda received: received.payload != payload, iter(self.receive, None)))

    def leave(self) -> None:
        self.paho.disconnect()
        self.paho.loop_stop()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with new_broker("embedded") as broker:
        yield broker.port


@pytest.fixture(params=[4, 5], ids=["3.1.1", "5"])
def world(port: int, request: pytest.FixtureRequest) -> World:
    return World(port, request.param, next(_numbers))


@pytest.fixture
def newer(port: int) -> World:
    """In MQTT 5 alone."""
    return World(port, 5, next(_numbers))


# --- messages -----------------------------------------------------------------------------------------------------


def test_messages_arrive_at_the_lower_of_two_qos(world: World) -> None:
    with Client(world, "a") as client:
        for granted in range(3):
            assert client.subscribe("x", qos=granted) == [min(granted, MOST_QOS)]
            for qos in range(3):
                client.publish("x", f"{qos}", qos)
                assert client.receive() == (f"{qos}", min(qos, granted, MOST_QOS), False)


def test_retained_messages_come_to_new_subscriptions_until_they_are_cleared(world: World) -> None:
    with Client(world, "a") as client:
        for qos in range(3):
            client.publish(f"kept/{qos}", f"{qos}", qos, retain=True)
        client.subscribe("kept/+", "end")
        client.publish("end", "end", 2)
        found = client.receive_until("end")
        assert sorted(found) == [(f"{qos}", min(qos, MOST_QOS), True) for qos in range(3)]
        client.unsubscribe("kept/+")
        for qos in range(3):
            client.publish(f"kept/{qos}", "", qos, retain=True)
        client.subscribe("kept/+")
        client.publish("end", "end", 2)
        assert client.receive_until("end") == []


# --- sessions -----------------------------------------------------------------------------------------------------


def test_a_session_stores_what_comes_at_qos_1_and_2_while_its_client_is_away(world: World) -> None:
    with Client(world, "away", clean=False) as away:
        assert not away.session_present
        away.subscribe("+")
    with Client(world, "b") as other:
        for qos in range(3):
            other.publish("x", f"{qos}", qos)
        other.publish("x", "end", 2)
    with Client(world, "away", clean=False) as away:
        assert away.session_present
        assert [received for received in away.receive_until("end") if received.qos] == [
            (f"{qos}", min(qos, MOST_QOS), False) for qos in (1, 2)
        ]
    with Client(world, "away") as away:
        assert not away.session_present
    with Client(world, "away", clean=False) as away:
        assert not away.session_present


# --- the end of a connection --------------------------------------------------------------------------------------


def test_a_will_is_published_when_its_client_is_gone_and_not_when_it_takes_leave(world: World) -> None:
    with Client(world, "b") as witness:
        witness.subscribe("will")
        Client(world, "a", will="left").leave()
        with world.raw("cut", will=(world.topic("will"), "cut"), will_retained=False) as cut:
            assert cut.read() is not None
        assert witness.receive().payload == "cut"


# --- MQTT 5 -------------------------------------------------------------------------------------------------------


def test_properties_go_with_a_message_live_and_retained(newer: World) -> None:
    about = {
        "UserProperty": [("a", "2"), ("c", "3")],
        "PayloadFormatIndicator": 1,
        "ContentType": "text",
        "ResponseTopic": "answers",
        "CorrelationData": b"id",
    }
    with Client(newer, "a") as client, Client(newer, "b") as late:
        client.subscribe("x")
        for qos in range(3):
            client.publish("x", f"{qos}", qos, retain=True, **about)
            assert _about(client.messages.get(timeout=PATIENCE_SECONDS)) == about
        late.subscribe("x")
        assert _about(late.messages.get(timeout=PATIENCE_SECONDS)) == about
        client.publish("x", "", retain=True)


def _about(message: paho.MQTTMessage) -> dict[str, Any]:
    assert message.properties is not None
    names = ("UserProperty", "PayloadFormatIndicator", "ContentType", "ResponseTopic", "CorrelationData")
    return {name: getattr(message.properties, name) for name in names}


def test_a_subscription_without_local_messages_gets_none_of_its_client(newer: World) -> None:
    with Client(newer, "a") as one, Client(newer, "b") as other:
        for client in (one, other):
            client.subscribe("x", noLocal=True)
        one.publish("x", "of one")
        other.publish("x", "of the other")
        assert one.receive().payload == "of the other"
        assert other.receive().payload == "of one"


def test_the_retain_flag_comes_as_published_where_that_is_wanted(newer: World) -> None:
    with Client(newer, "a") as client:
        client.subscribe("x", retainAsPublished=True)
        for retain in (False, True):
            client.publish("x", "x", retain=retain)
            assert client.receive().retain is retain
        client.publish("x", "", retain=True)


def test_retained_messages_come_as_the_subscription_has_it(newer: World) -> None:
    with Client(newer, "a") as client:
        client.publish("kept", "kept", retain=True)
        client.subscribe("end")
        for handling, times in ((2, 0), (1, 0), (0, 1), (0, 1)):
            client.subscribe("kept", retainHandling=handling)
            client.publish("end", "end", 2)
            assert len(client.receive_until("end")) == times
        client.unsubscribe("kept")
        client.subscribe("kept", retainHandling=1)
        assert client.receive().payload == "kept"
        client.publish("kept", "", retain=True)


# --- what the embedded broker does not have -----------------------------------------------------------------------


def _granted(filter_: str, qos: int) -> Callable[[World], str]:
    def ask(world: World) -> str:
        with Client(world, "a") as client:
            client.paho.subscribe(filter_, qos)
            [granted] = client.next()
            return f"SUBACK {granted:#04x}"

    return ask


def _published_to_a_dollar(world: World) -> str:
    with Client(world, "a") as client:
        client.paho.publish("$topic", "x", 1)
        return f"PUBACK {client.next():#04x}"


def _greeted_by(greeting: bytes) -> Callable[[World], str]:
    def ask(world: World) -> str:
        with Raw(world.port, greeting=greeting) as client:
            answer = client.read() or b""
        return f"CONNACK {answer[3]:#04x}"

    return ask


def _answered_by(sent: bytes) -> Callable[[World], str]:
    def ask(world: World) -> str:
        with world.raw("raw") as client:
            assert (client.read() or b"")[3] == 0
            client.send(sent)
            answer = client.read() or b""
        assert answer[0] == 0xE0
        return f"DISCONNECT {answer[2]:#04x}"

    return ask


def _session_expiry(world: World) -> str:
    with Client(world, "a", clean=False) as client:
        expiry = getattr(client.connack, "SessionExpiryInterval", None)
    return "served" if expiry is None else f"CONNACK {expiry:#x}"


_OLD = packet(0x10, text("MQIsdp") + b"\3\2\0\x3c" + text("old"))
_STEPS = packet(0x10, b"\0\4MQTT\5\2\0\x3c\x08\x15" + text("SCRAM") + text("steps"))
_ALIAS = packet(0x32, text("x") + b"\0\1\3\x23\0\1" + b"x")
_IDENTIFIER = packet(0x82, b"\0\1\2\x0b\1" + text("x") + b"\1")


class Refusal(NamedTuple):
    """Something a client may ask for, and how it does so in 3.1.1 and in 5; None where there is no such thing."""

    what: str
    old: Callable[[World], str] | None
    new: Callable[[World], str] | None


REFUSALS = [
    Refusal("QoS 2 to a subscriber", _granted("x", 2), _granted("x", 2)),
    Refusal("a shared subscription, `$share/...`", _granted("$share/g/x", 1), _granted("$share/g/x", 1)),
    Refusal("to publish below `$`", _published_to_a_dollar, _published_to_a_dollar),
    Refusal("an identifier for a subscription", None, _answered_by(_IDENTIFIER)),
    Refusal("a topic alias", None, _answered_by(_ALIAS)),
    Refusal("authentication in several steps", None, _greeted_by(_STEPS)),
    Refusal("a session that ends some time after its connection", None, _session_expiry),
    Refusal("MQTT 3.1, protocol level 3", _greeted_by(_OLD), None),
]
_MANUAL = DOCS / "brokers.md"
_ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| [^|]+ \|$", re.MULTILINE)


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: refusal.what)
def test_a_refusal_of_the_broker_is_in_the_table_of_the_manual(refusal: Refusal, port: int) -> None:
    answers = tuple(
        "-" if ask is None else f"`{ask(World(port, version, next(_numbers)))}`"
        for version, ask in ((4, refusal.old), (5, refusal.new))
    )
    manual = {what: (old, new) for what, old, new in _ROW.findall(_MANUAL.read_text())}
    assert manual[refusal.what] == answers


def test_the_table_of_the_manual_has_nothing_else() -> None:
    _, _, section = _MANUAL.read_text().partition("## MQTT on the server's own broker\n")
    rows = [what for what, *_ in _ROW.findall(section.partition("\n#")[0])]
    assert rows[1:] == [refusal.what for refusal in REFUSALS]
