"""Synchronises the broker's retained messages: none of another server or game may remain, and none may be missing.

After every connection the server subscribes to all of its tables' topics. The broker answers a subscription with what
it retains, then sends what is published; so a message of our own, published after the subscription, shows that
everything has arrived. Only what differs is published again, because a client that knows only the base specification
would answer a second ``/game/current`` with another salvo.

A table that the settings no longer have would stay an open lobby, in which teams wait for ever. So a sweep looks at all
tables, and clears those whose status names ours as their server's (SALVO-MQTT-5), but leaves another server's alone.
"""

from __future__ import annotations

import contextlib
import logging
from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from salvo import messages as m
from salvo.codec.announcement_reader import read_announcement
from salvo.codec.announcements import Publication
from salvo.errors import SalvoError, WireError
from salvo.net.inbound import Inbound
from salvo.wire import topics
from salvo_game.table import Table

log = logging.getLogger(__name__)

#: For a table's status to come back after it was published; a broker takes a moment.
ECHO_MS: Final = 2_000
#: Topics of commands whose clearing has not come back yet; beyond that they are forgotten.
MAX_CLEARED: Final = 4096
_CURE: Final = (
    "nobody can play there until the broker gives the server its rights at this table: name it in `salvo mosquitto` or "
    "in the broker's files, and restart the broker"
)


class RetainedSync:
    """Compares what the broker retains with what it should, in a sweep after every connection.

    Attributes:
        active: whether a sweep is under way: the answer to the subscription is still coming in.
        unheard: tables whose status was published, and has not come back, with the time; a broker that lacks the
            server's rights at a table acknowledges what it drops.
        ahead: tables of which the broker retains more than has happened there, found by the latest sweep.
    """

    def __init__(self, tables: Mapping[str, Table], first_table: str, others: Mapping[str, bytes]) -> None:
        """Synchronise these tables.

        Args:
            first_table: the table whose status shows that everything has arrived.
            others: payloads by topic of everything else that the broker should retain.
        """
        self.active = False
        self.unheard: dict[str, int] = {}
        self.ahead: list[str] = []
        self._tables = tables
        self._marker = topics.SERVER.of(first_table)
        self._first_table = first_table
        self._others = others
        self._retained: dict[str, bytes] = {}
        self._fresh: set[str] = set()  # topics published since the subscription
        self._elsewhere: defaultdict[str, set[str]] = defaultdict(set)  # topics of tables that are not ours
        self._former: set[str] = set()  # those of them that were ours
        self._cleared: set[str] = set()  # topics of commands whose clearing has not come back yet

    def filters(self) -> list[str]:
        """Return the topic filters to subscribe to during a sweep."""
        return [f"{topics.prefix(name)}/{root}/#" for name in ("", "+") for root in sorted(topics.ROOTS)]

    def begin(self) -> None:
        """Begin a sweep: the subscription has been sent."""
        self.active = True
        self.unheard = {}
        self._forget()

    def _forget(self) -> None:
        self._retained, self._fresh = {}, set()
        self._elsewhere.clear()
        self._former.clear()

    @property
    def listens(self) -> bool:
        """Whether the subscription is still of use."""
        return self.active or bool(self.unheard)

    def published(self, topic: str, now: int) -> None:
        """Note that this server published a retained message on a topic: older ones no longer count."""
        if self.active:
            self._fresh.add(topic)
            if topic.endswith(topics.SERVER.pattern):
                self.unheard[topics.parse(topic).table] = now

    def report_unheard(self, now: int) -> None:
        """Report the tables where nothing that is published comes back, once after each connection."""
        for name, since in list(self.unheard.items()):
            if now >= since + ECHO_MS:
                del self.unheard[name]
                log.error("%s: nothing that the server publishes comes back; %s", self._tables[name].title, _CURE)

    @staticmethod
    def is_of_server(message: Inbound) -> bool:
        """Whether a message is on a topic where only the server publishes."""
        try:
            return topics.parse(message.topic).topic.publisher is topics.Publisher.SERVER
        except WireError:
            return False

    def clear_command(self, topic: str) -> list[Publication]:
        """Return what clears a command that was left on the broker (SALVO-FRESH-4)."""
        if len(self._cleared) >= MAX_CLEARED:
            self._cleared.clear()
        self._cleared.add(topic)
        return [Publication(topic, b"", True)]

    def has_cleared(self, topic: str) -> bool:
        """Whether an empty message is no command, but such a clearing that comes back; once for each."""
        if topic not in self._cleared:
            return False
        self._cleared.remove(topic)
        return True

    def receive(self, address: topics.Address, message: Inbound) -> list[Publication]:
        """Take a message on one of the server's topics; return the corrections to publish."""
        if address.table not in self._tables:
            if self.active and message.retain and message.payload:
                self._note_elsewhere(address, message)
            return []
        if address.topic is topics.SERVER and not message.retain:
            self.unheard.pop(address.table, None)
        if not self.active:
            return self._correct_one(address, message) if message.retain else []
        if message.retain:
            if message.payload:
                self._retained[message.topic] = message.payload
            return []
        if address.topic.retained:
            self._retained[message.topic] = message.payload  # our own, in flight when the connection was lost
        if message.topic != self._marker:
            return []
        if message.payload != self._tables[self._first_table].retained[self._marker]:
            return []
        self.active = False
        self.ahead = [name for name, table in self._tables.items() if self._is_ahead(table)]
        return self._corrections()

    def _note_elsewhere(self, address: topics.Address, message: Inbound) -> None:
        self._elsewhere[address.table].add(message.topic)
        if address.topic is topics.SERVER:
            with contextlib.suppress(SalvoError):  # no server of ours has published that
                status = read_announcement(address, message.payload)
                if isinstance(status, m.ServerStatus) and status.status_topic == self._marker:
                    self._former.add(address.table)

    def _clearing(self) -> list[Publication]:
        """Return what clears the tables that were ours: each status last, for a sweep that must begin again."""
        cleared = []
        for name in sorted(self._former):
            log.info("cleared table %s, which this server does not have any more", name)
            status = topics.SERVER.of(name)
            cleared += sorted(self._elsewhere[name], key=lambda topic: (topic == status, topic))
        return [Publication(topic, b"", True) for topic in cleared]

    def _is_ahead(self, table: Table) -> bool:
        """Whether the broker retains a turn, or the result of one, to which this table has not come."""
        referee, retained = table.referee, []
        for topic in (topics.TURN.of(table.name), topics.RESULT.of(table.name)):
            try:
                retained.append(read_announcement(topics.parse(topic), self._retained.get(topic, b"")))
            except SalvoError:
                continue  # not of a server of ours
        turns = [(each.game, each.turn) for each in retained if isinstance(each, m.TurnBegan)]
        results = [(each.game, each.turn) for each in retained if isinstance(each, m.SalvoResolved)]
        last = referee.results[-1].turn if referee.results else 0
        now = 0 if referee.game is None else referee.game.turn
        return max(turns, default=(0, 0)) > (referee.number, now) or max(results, default=(0, 0)) > (
            referee.number,
            last,
        )

    def _corrections(self) -> list[Publication]:
        own = {topic: payload for table in self._tables.values() for topic, payload in table.retained.items()}
        own |= self._others
        # The states first: a list that comes before them, as news, tells a team that its game has made way for a lobby.
        own = dict(sorted(own.items(), key=lambda each: not each[0].endswith(topics.STATE.pattern)))
        known = own.keys() | self._fresh
        stale = [topic for topic, payload in self._retained.items() if payload and topic not in known]
        for topic in stale:
            log.info("cleared %s, left by an earlier server", topic)
        missing = [
            Publication(topic, payload, True)
            for topic, payload in own.items()
            if self._retained.get(topic) != payload and topic not in self._fresh
        ]
        clearing = self._clearing()
        self._forget()
        return [*(Publication(topic, b"", True) for topic in stale), *missing, *clearing]

    def _correct_one(self, address: topics.Address, message: Inbound) -> list[Publication]:
        """Correct a retained message that comes late: the status that ended the sweep was of an earlier connection."""
        retained = self._tables[address.table].retained
        own = retained.get(message.topic) or self._others.get(message.topic, b"")
        return [] if message.payload == own else [Publication(message.topic, own, True)]
