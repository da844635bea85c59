"""Route messages: subscriptions, and the way from a topic to its receivers."""

from __future__ import annotations

from typing import NamedTuple

from paho.mqtt.matcher import MQTTMatcher

from salvo_server.brokers.embedded.limits import Access, BrokerLimits
from salvo_server.brokers.embedded.packets import AS_PUBLISHED, NO_LOCAL, ProtocolFault, Reason, text_of, with_length
from salvo_server.brokers.embedded.retained import has_wildcards
from salvo_server.brokers.embedded.sessions import MqttSession

#: Topics whose receivers are cached between two changes of subscriptions; enough for a dozen tables.
_REMEMBERED_ROUTES = 256


class Route(NamedTuple):
    """Where a topic goes: to the subscribers that may receive it, each with the options of its subscriptions."""

    topic: str
    receivers: list[tuple[MqttSession, int]]


class Routes:
    """All subscriptions of all sessions."""

    def __init__(self, limits: BrokerLimits, access: Access) -> None:
        self._limits = limits
        self._access = access
        self._revision = access.revision
        self._matcher = MQTTMatcher()
        self._by_filter: dict[str, dict[MqttSession, int]] = {}
        self._count = 0
        self._found: dict[bytes, Route] = {}

    def subscribe(self, session: MqttSession, topic_filter: str, options: int) -> int:
        """Add a subscription or change its options; return its QoS, at most 1, or why the filter is refused."""
        qos = min(options & 3, 1)
        options = qos | options & (NO_LOCAL | AS_PUBLISHED)
        known = topic_filter in session.subscriptions
        if known and session.subscriptions[topic_filter] == options:
            return qos
        if topic_filter.startswith("$share/"):
            return Reason.NO_SHARED_SUBSCRIPTIONS
        if not known and not self._is_filter(topic_filter):
            return Reason.BAD_FILTER
        if not known and not self._has_room(session):
            return Reason.QUOTA_EXCEEDED
        self._count += not known
        session.subscriptions[topic_filter] = options
        if topic_filter not in self._by_filter:
            self._by_filter[topic_filter] = self._matcher[topic_filter] = {}
        self._by_filter[topic_filter][session] = options
        self._forget_routes(topic_filter)
        return qos

    def _is_filter(self, text: str) -> bool:
        levels = text.split("/")
        misplaced = any(("#" in level or "+" in level) and len(level) > 1 for level in levels) or "#" in levels[:-1]
        return bool(text) and not misplaced and levels[0] != "$share" and self._fits(text)

    def _fits(self, text: str) -> bool:
        limits = self._limits
        return len(text.encode()) <= limits.topic_bytes and text.count("/") < limits.topic_levels

    def _has_room(self, session: MqttSession) -> bool:
        return len(session.subscriptions) < self._limits.subscriptions and self._count < self._limits.all_subscriptions

    def unsubscribe(self, session: MqttSession, topic_filter: str) -> Reason:
        """Take a subscription back; return whether there was one."""
        if session.subscriptions.pop(topic_filter, None) is None:
            return Reason.NO_SUBSCRIPTION
        self._count -= 1
        subscribers = self._by_filter[topic_filter]
        del subscribers[session]
        if not subscribers:
            del self._by_filter[topic_filter]
            del self._matcher[topic_filter]
        self._forget_routes(topic_filter)
        return Reason.SUCCESS

    def _forget_routes(self, topic_filter: str) -> None:
        """Forget only the routes that a subscription may have changed: a client can subscribe as often as it likes."""
        if has_wildcards(topic_filter):
            self._found.clear()
        else:
            self._found.pop(with_length(topic_filter), None)

    def topic(self, name: bytes) -> str:
        """Return a topic, given as on the wire with its length in front.

        Raises:
            ProtocolFault: no client may publish to such a topic.
        """
        known = self._found.get(name)
        return known.topic if known is not None else self._read(name)

    def _read(self, name: bytes) -> str:
        topic = text_of(name[2:])
        if not topic or "+" in topic or "#" in topic or not self._fits(topic):
            raise ProtocolFault(f"published to {topic[:80]!r}")
        return topic

    def receivers(self, name: bytes) -> list[tuple[MqttSession, int]]:
        """Return who receives a topic that :meth:`topic` has read, each with the options of its subscriptions."""
        if self._access.revision is not self._revision:
            self._revision = self._access.revision
            self._found.clear()
        known = self._found.get(name)
        return known.receivers if known is not None else self._find(name)

    def _find(self, name: bytes) -> list[tuple[MqttSession, int]]:
        topic = name[2:].decode()
        receivers: dict[MqttSession, int] = {}
        for subscribers in self._matcher.iter_match(topic):
            for session, options in subscribers.items():
                receivers[session] = _joined(options, receivers.get(session, NO_LOCAL))
        may = self._access.allows
        receivers = {s: options for s, options in receivers.items() if may(s.client_id, s.username, "receive", topic)}
        if len(self._found) >= _REMEMBERED_ROUTES:
            self._found.clear()
        route = self._found[name] = Route(topic, list(receivers.items()))
        return route.receivers


def _joined(one: int, other: int) -> int:
    """The options under which one message is sent for two subscriptions: whatever one of them wants to have."""
    return (one | other) & ~NO_LOCAL | one & other & NO_LOCAL
