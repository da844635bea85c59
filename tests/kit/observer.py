"""Somebody who subscribes to everything.

observer = Observer(broker.url)
observer.until(lambda seen: any(x.topic == "/game/winner" for x in seen))
observer.close()
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable

from kit.players import SECONDS
from salvo.net.inbound import Inbound
from salvo.net.mqtt import Connection

observers = itertools.count()


class Observer:
    """Subscribes to ``#`` and keeps everything."""

    def __init__(self, url: str) -> None:
        self.seen: list[Inbound] = []
        self._connection = Connection(url, f"observer-{next(observers)}", clean_session=True)
        self._connection.on_connect = lambda _: self._connection.subscribe(["#"])
        self._connection.connect(60)
        assert self._connection.flush(60)

    def until(self, holds: Callable[[list[Inbound]], bool]) -> list[Inbound]:
        end = time.monotonic() + SECONDS
        while not holds(self.seen):
            assert time.monotonic() < end, [message.topic for message in self.seen[-20:]]
            for message in self._connection.poll(0.2):
                self._connection.acknowledge(message)
                self.seen.append(message)
        return self.seen

    def close(self) -> None:
        self._connection.close()


def announced(topic: str, payload: bytes) -> Callable[[list[Inbound]], bool]:
    return lambda seen: any((message.topic, message.payload) == (topic, payload) for message in seen)


def placed(seen: list[Inbound], name: str) -> int:
    prefix = f"/players/{name}/ships/"
    return len({x.topic for x in seen if x.topic.startswith(prefix) and x.topic.endswith("/approved")})
