"""The last retained message of each topic."""

from __future__ import annotations

import re

from salvo_server.brokers.embedded.limits import MESSAGE_BYTES, BrokerLimits


class Retained:
    """Retained payloads, bounded in number and bytes; what the server retains takes the place of what others did.

    Attributes:
        payloads: (payload, qos) by topic.
        bytes: what they cost.
    """

    def __init__(self, limits: BrokerLimits) -> None:
        self.payloads: dict[str, tuple[bytes, int]] = {}
        self.bytes = 0
        self._limits = limits
        self._of_others: dict[str, None] = {}

    def keep(self, topic: str, payload: bytes, qos: int, from_server: bool) -> bool:
        """Keep a payload, an empty one clears the topic; return False when there is no room for it."""
        known = self.payloads.get(topic)
        self._drop(topic)
        if not payload:
            return True
        while not self._has_room(topic, payload):
            if not (from_server and self._of_others):
                if known is not None:
                    self._put(topic, *known, from_server)
                return False
            self._drop(next(iter(self._of_others)))
        self._put(topic, payload, qos, from_server)
        return True

    def _put(self, topic: str, payload: bytes, qos: int, from_server: bool) -> None:
        self.payloads[topic] = payload, qos
        self.bytes += _cost(topic, payload)
        if not from_server:
            self._of_others[topic] = None

    def _drop(self, topic: str) -> None:
        known = self.payloads.pop(topic, None)
        if known is not None:
            self.bytes -= _cost(topic, known[0])
            self._of_others.pop(topic, None)

    def _has_room(self, topic: str, payload: bytes) -> bool:
        fits = self.bytes + _cost(topic, payload) <= self._limits.retained_bytes
        return fits and len(self.payloads) < self._limits.retained_topics

    def matching(self, topic_filter: str) -> list[str]:
        """Return the topics that a filter matches and that have a retained payload."""
        if not has_wildcards(topic_filter):
            return [topic_filter] if topic_filter in self.payloads else []
        matches = _pattern(topic_filter).fullmatch
        return [topic for topic in self.payloads if matches(topic)]


def has_wildcards(topic_filter: str) -> bool:
    """Whether a filter may match more than one topic."""
    return "+" in topic_filter or "#" in topic_filter


def _cost(topic: str, payload: bytes) -> int:
    return len(topic) + len(payload) + MESSAGE_BYTES


def _pattern(topic_filter: str) -> re.Pattern[str]:
    """A good filter as a regular expression: ``a/#`` also matches ``a`` (MQTT 3.1.1, 4.7.1.2)."""
    whole = re.escape(topic_filter).replace(r"\+", "[^/]*")
    if whole == r"\#":
        return re.compile(".*", re.DOTALL)
    return re.compile(whole.removesuffix(r"/\#") + "(/.*)?" * whole.endswith(r"/\#"), re.DOTALL)
