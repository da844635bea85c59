"""Both brokers with users and rights, and clients that try what they may not."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from kit.accounts import KEEPER, SERVER
from kit.mosquitto import ContestMosquitto
from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_server.brokers.embedded.roster_access import RosterAccess
from salvo_server.brokers.mosquitto.dynamic_security import DynamicSecurity
from salvo_server.storage.register import Account

SECONDS = 60.0


@dataclass(frozen=True)
class Secured:
    """A broker whose users and tables can be changed while it runs."""

    kind: str
    port: int
    replace: Callable[[Iterable[Account], Iterable[str]], None]


@contextlib.contextmanager
def secured(
    kind: str, accounts: Iterable[Account], tables: Iterable[str], *, ships: Iterable[str] = ("+",)
) -> Iterator[Secured]:
    """A broker of a kind with these accounts."""
    if kind == "embedded":
        access = RosterAccess(accounts, tables)
        with EmbeddedBroker(access=access) as broker:
            yield Secured(kind, broker.port, access.replace)
    else:
        with (
            ContestMosquitto(SERVER, KEEPER) as mosquitto,
            DynamicSecurity(mosquitto.url, KEEPER, ships=ships) as security,
        ):

            def replace(accounts: Iterable[Account], tables: Iterable[str]) -> None:
                security.sync(accounts, tables)
                security.wait(SECONDS)

            replace(accounts, tables)
            yield Secured(kind, mosquitto.port, replace)


class Client:
    """A connection of plain paho: what it was sent, and whether it still stands.

    Attributes:
        refusal: why the broker did not accept it; None when it did.
        received: (topic, payload, retained) of everything that came.
        lost: how often the connection ended without having been closed.
    """

    def __init__(
        self,
        port: int,
        user: Account | None,
        client_id: str = "",
        *,
        clean: bool = True,
        secret: str | None = None,
        mqtt: MQTTProtocolVersion = paho.MQTTv311,
        ca: str | None = None,
        websocket: bool = False,
    ) -> None:
        self.received: set[tuple[str, str, bool]] = set()
        self.refusal: str | None = None
        self.lost = 0
        self.session_present = False
        self._news = threading.Condition()
        self._done: set[int] = set()
        self._granted: dict[int, list[int]] = {}
        self._closing = False
        self._answered = False
        self._paho = paho.Client(
            CallbackAPIVersion.VERSION2,
            client_id=client_id or (user.user if user else "nobody"),
            clean_session=clean if mqtt == paho.MQTTv311 else None,
            protocol=mqtt,
            reconnect_on_failure=False,
            transport="websockets" if websocket else "tcp",
        )
        self._paho.max_inflight_messages_set(1000)
        if user is not None:
            self._paho.username_pw_set(user.user, secret or user.secret)
        if ca is not None:
            self._paho.tls_set(ca)
        self._paho.on_connect = self._connected
        self._paho.on_disconnect = self._disconnected
        self._paho.on_message = self._message
        self._paho.on_publish = self._published
        self._paho.on_subscribe = self._subscribed
        self._paho.on_unsubscribe = self._published
        start = paho.MQTT_CLEAN_START_FIRST_ONLY if mqtt == paho.MQTTv311 else clean
        self._paho.connect("127.0.0.1", port, clean_start=start)
        self._paho.loop_start()
        self._wait(lambda: self._answered)

    def _wait(self, holds: Any) -> None:
        with self._news:
            assert self._news.wait_for(holds, SECONDS), "the broker fell silent"

    def _connected(self, client: Any, userdata: Any, flags: Any, reason: Any, properties: Any) -> None:
        with self._news:
            self.refusal = str(reason) if reason.is_failure else None
            self.session_present = flags.session_present
            self._answered = True
            self._news.notify_all()

    def _disconnected(self, *_: Any) -> None:
        with self._news:
            self.lost += not self._closing and self.refusal is None
            self._answered = True
            self._news.notify_all()

    def _message(self, client: Any, userdata: Any, message: paho.MQTTMessage) -> None:
        with self._news:
            self.received.add((message.topic, message.payload.decode(), message.retain))
            self._news.notify_all()

    def _published(self, client: Any, userdata: Any, mid: int, *_: Any) -> None:
        with self._news:
            self._done.add(mid)
            self._news.notify_all()

    def _subscribed(self, client: Any, userdata: Any, mid: int, reasons: Any, properties: Any) -> None:
        with self._news:
            self._granted[mid] = [reason.value for reason in reasons]
            self._news.notify_all()

    @property
    def stands(self) -> bool:
        return self._answered and self.refusal is None and not self.lost

    def publish(self, topics: Iterable[str], payload: str, *, retain: bool = False) -> None:
        """Publish at QoS 1 and wait until the broker has taken all of it: by then it is routed, or refused."""
        mids = [self._paho.publish(topic, payload, qos=1, retain=retain).mid for topic in topics]
        self._wait(lambda: self._done.issuperset(mids) or self.lost)

    def subscribe(self, filters: Iterable[str]) -> list[int]:
        """Subscribe at QoS 1; return what was granted."""
        mid = self._paho.subscribe([(name, 1) for name in filters])[1]
        assert mid is not None
        self._wait(lambda: mid in self._granted)
        return self._granted[mid]

    def unsubscribe(self, filters: Iterable[str]) -> None:
        mid = self._paho.unsubscribe(list(filters))[1]
        assert mid is not None
        self._wait(lambda: mid in self._done)

    def wait_for(self, topic: str, payload: str) -> None:
        """Return when a message has come; what was sent before it on this connection has come by then, too."""
        self._wait(lambda: any((t, p) == (topic, payload) for t, p, _ in self.received) or self.lost)

    def until(self, holds: Any) -> None:
        self._wait(holds)

    def forget(self) -> None:
        self.received.clear()

    def close(self) -> None:
        self._closing = True
        self._paho.disconnect()
        self._paho.loop_stop()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
