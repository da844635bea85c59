"""The last retained message of each topic."""

from __future__ import annotations

import re
from typing import NamedTuple

from salvo_server.brokers.embedded.limits import BrokerLimits
from salvo_server.brokers.embedded.packets import Message


class RetainedMessage(NamedTuple):
    """A retained message, and who has published it."""

    message: Message
    qos: int
    client_id: str


class Retained:
    """Retained messages, bounded in number and bytes; what the server retains takes the place of what others did.

    Attributes:
        messages: by topic.
        bytes: what they cost.
    """

    def __init__(self, limits: BrokerLimits) -> None:
        self.messages: dict[str, RetainedMessage] = {}
        self.bytes = 0
        self._limits = limits
        self._of_others: dict[str, None] = {}

    def store(self, topic: str, new: RetainedMessage, from_server: bool) -> bool:
        """Keep a message, one without payload clears the topic; return False when there is no room for it."""
        known = self.messages.get(topic)
        self._drop(topic)
        if not new.message.payload:
            return True
        while not self._has_room(new):
            if not (from_server and self._of_others):
                if known is not None:
                    self._put(topic, known, from_server)
                return False
            self._drop(next(iter(self._of_others)))
        self._put(topic, new, from_server)
        return True

    def _put(self, topic: str, new: RetainedMessage, from_server: bool) -> None:
        self.messages[topic] = new
        self.bytes += new.message.cost
        if not from_server:
            self._of_others[topic] = None

    def _drop(self, topic: str) -> None:
        known = self.messages.pop(topic, None)
        if known is not None:
            self.bytes -= known.message.cost
            self._of_others.pop(topic, None)

    def _has_room(self, new: RetainedMessage) -> bool:
        fits = self.bytes + new.message.cost <= self._limits.retained_bytes
        return fits and len(self.messages) < self._limits.retained_topics

    def matching(self, topic_filter: str) -> list[str]:
        """Return the topics that a filter matches and that have a retained message."""
        if not has_wildcards(topic_filter):
            return [topic_filter] if topic_filter in self.messages else []
        matches = _pattern(topic_filter).fullmatch
        return [topic for topic in self.messages if matches(topic)]


def has_wildcards(topic_filter: str) -> bool:
    """Whether a filter may match more than one topic."""
    return "+" in topic_filter or "#" in topic_filter


def _pattern(topic_filter: str) -> re.Pattern[str]:
    """A good filter as a regular expression: ``a/#`` also matches ``a`` (MQTT 3.1.1, 4.7.1.2)."""
    whole = re.escape(topic_filter).replace(r"\+", "[^/]*")
    if whole == r"\#":
        return re.compile(".*", re.DOTALL)
    return re.compile(whole.removesuffix(r"/\#") + "(/.*)?" * whole.endswith(r"/\#"), re.DOTALL)
