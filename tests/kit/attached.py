"""A server's link to an embedded broker, for tests."""

from __future__ import annotations

import time

from kit.raw import PATIENCE_SECONDS
from salvo.net.inbound import Inbound
from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_server.brokers.embedded.attached import AttachedLink


def attached(broker: EmbeddedBroker, user: str, *filters: str) -> AttachedLink:
    """The link of a server that has subscribed."""
    link = broker.attach(user)
    link.on_connect = lambda _: link.subscribe(filters)
    link.subscribe_first(PATIENCE_SECONDS)
    return link


def receive(link: AttachedLink, count: int, *, acknowledge: bool = True) -> list[Inbound]:
    """Wait for so many messages."""
    end, arrived = time.monotonic() + PATIENCE_SECONDS, list[Inbound]()
    while len(arrived) < count:
        assert time.monotonic() < end, len(arrived)
        messages = link.poll(0.2)
        arrived += messages
        for message in messages if acknowledge else ():
            link.acknowledge(message)
    return arrived
