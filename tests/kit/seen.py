"""What an observer has seen."""

from __future__ import annotations

from collections.abc import Callable

from salvo.net.inbound import Inbound


def said(topic: str, payload: bytes) -> Callable[[list[Inbound]], bool]:
    return lambda seen: any((message.topic, message.payload) == (topic, payload) for message in seen)


def placed(seen: list[Inbound], name: str) -> int:
    prefix = f"/players/{name}/ships/"
    return len({x.topic for x in seen if x.topic.startswith(prefix) and x.topic.endswith("/approved")})
