"""Corrects what the broker retains: nothing of another server or another game may remain, and nothing may be missing.

After every connection the broker is asked for all that it has below the tables' topics. It answers a subscription with
what is retained, then sends what is published; so a message of our own, published after the subscription, shows that
everything has arrived. Only what differs is published again, because a client of the plain specification would answer a
second ``/game/current`` with another salvo.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from salvo import topics
from salvo.codec import Publication
from salvo.net.inbound import Inbound
from salvo_server.core.table import Table

log = logging.getLogger(__name__)


class RetainedSync:
    """One server's look at what is kept.

    Attributes:
        on: whether the answer to the subscription is still coming in.
    """

    def __init__(self, tables: Mapping[str, Table], first_table: str, beside: Mapping[str, bytes]) -> None:
        """Look after these tables.

        Args:
            first_table: whose status shows that everything has arrived.
            beside: payload by topic, of what else the broker should retain.
        """
        self.on = False
        self._tables = tables
        self._marker = topics.SERVER.of(first_table)
        self._first_table = first_table
        self._beside = beside
        self._kept: dict[str, bytes] = {}
        self._fresh: set[str] = set()  # said since the subscription

    def filters(self) -> list[str]:
        """Return what is subscribed for the length of a sweep."""
        names = {"+" if table else "" for table in self._tables}
        return [f"{topics.prefix(name)}/{root}/#" for name in sorted(names) for root in sorted(topics.ROOTS)]

    def begin(self) -> None:
        """The subscription is on its way."""
        self.on = True
        self._kept, self._fresh = {}, set()

    def said(self, topic: str) -> None:
        """Something retained was published by us: no older one counts any more."""
        if self.on:
            self._fresh.add(topic)

    def hear(self, address: topics.Address, message: Inbound) -> list[Publication]:
        """Take in a message on a topic of the server's; return what puts things right."""
        if address.table not in self._tables:
            return []
        if not self.on:
            return self._correct_one(address, message) if message.retain else []
        if message.retain:
            if message.payload:
                self._kept[message.topic] = message.payload
            return []
        if address.topic.retained:
            self._kept[message.topic] = message.payload  # our own, under way when the connection was lost
        if message.topic != self._marker:
            return []
        if message.payload != self._tables[self._first_table].retained[self._marker]:
            return []
        self.on = False
        return self._corrections()

    def _corrections(self) -> list[Publication]:
        own = {topic: payload for table in self._tables.values() for topic, payload in table.retained.items()}
        own |= self._beside
        known = own.keys() | self._fresh
        strange = [topic for topic, kept in self._kept.items() if kept and topic not in known]
        for topic in strange:
            log.info("cleared %s, left by an earlier server", topic)
        missing = [
            Publication(topic, payload, True)
            for topic, payload in own.items()
            if self._kept.get(topic) != payload and topic not in self._fresh
        ]
        self._kept, self._fresh = {}, set()
        return [*(Publication(topic, b"", True) for topic in strange), *missing]

    def _correct_one(self, address: topics.Address, message: Inbound) -> list[Publication]:
        """Something kept comes late: the status that ended the sweep was one from the connection before."""
        retained = self._tables[address.table].retained
        own = retained.get(message.topic) or self._beside.get(message.topic, b"")
        return [] if message.payload == own else [Publication(message.topic, own, True)]
