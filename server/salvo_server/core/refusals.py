"""Refuse what reaches no table: messages that cannot be read, and senders that are not listed or may not take part.

Any client can send in any name, and no broker throttles the server. So each name is answered so many times, and what
names nobody is answered where every client reads it, without a value of it (SALVO-ERR-6, SALVO-ERR-7, SALVO-ERR-8).
"""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from salvo import messages as m
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.announcements import Publication
from salvo.errors import CODES, Answered, SealError, WireError
from salvo.net.inbound import Inbound
from salvo.system.log_throttle import Throttle
from salvo.wire import topics
from salvo_game.rate_limit import DERIVATIONS, Buckets
from salvo_game.table import Table

log = logging.getLogger(__name__)

#: Names whose answers are counted, 300 bytes each: a flood in more names than that drowns out no other team.
MAX_ASKERS: Final = 4096
#: Teams that were reported to the operator; beyond that they are forgotten.
MAX_REPORTED: Final = 4096


@dataclass(slots=True)
class Refusals:
    """The refusals at all tables of a server.

    Attributes:
        counts: refused inputs by error code.
    """

    counts: Counter[str]
    _askers: Buckets[tuple[str, str]] = field(default_factory=lambda: Buckets(MAX_ASKERS, DERIVATIONS))
    _reported: set[tuple[str, int, str]] = field(default_factory=set)
    _seldom: Throttle = field(default_factory=lambda: Throttle(log))

    def count(self, error: SealError | WireError, message: Inbound) -> None:
        """Count a message that is refused, for the log."""
        self.counts[error.code] += 1
        # A text names the value that was wrong; of a request to take part that may be the secret, in the wrong place.
        asked = message.topic.endswith(topics.REQUEST_PARTICIPATION.pattern)
        log.debug("refused a message on %r: %s", message.topic[:120], error.code if asked else error)

    def may_answer(self, name: str, kind: str, now: int) -> bool:
        """Whether one more message in a name is answered (SALVO-ERR-6).

        If every one were, a rival's flood would come out at the team's own topics. Answers that only the team's secret
        earns are counted separately.
        """
        return self._askers.take((name, kind), now)

    def answer_everybody(self, table: Table, code: str, now: int) -> list[Publication]:
        """Answer what names no team where every client reads it, so without a value of it (SALVO-ERR-7)."""
        known = CODES[code]
        if known.answered is Answered.NOBODY or not self.may_answer(f"{table.name}/", code, now):
            return []
        text = f"{code}: {known.meaning}"
        return [Publication(topics.REQUEST_ERROR.of(table.name), text.encode(), topics.REQUEST_ERROR.retained)]

    def refuse_nameless(self, table: Table, address: topics.Address, code: str, now: int) -> list[Publication]:
        """Answer everybody what cannot be read and names no team, and report it to the operator."""
        what = "a shot" if address.topic is topics.FIRE else "a request to take part"
        self._seldom.warn(f"unreadable {what}", f"{table.title}: {what} cannot be read: {code}")
        return self.answer_everybody(table, code, now)

    def refuse_unlisted(self, table: Table, name: str, now: int) -> list[Publication]:
        """Answer a team that is not listed, as often as a request in its name (SALVO-ERR-8)."""
        if not topics.is_name(name):
            return []
        listed = f"wait until {topics.LIST.of(table.name)} has its name"
        text = f"{name!r} is not listed at this table; ask to take part, and {listed}"
        self._seldom.warn("unlisted", f"{table.title}: {name} sends commands without being listed")
        answered = self.may_answer(f"{table.name}/{name}", "unknown_player", now)
        return write_announcement(m.CommandRefused(name, "unknown_player", text), table.name) if answered else []

    def report_forged(self, table: Table, name: str) -> None:
        """Report to the operator, once a game for each name, that what comes under it does not open.

        The team is not answered (SALVO-SEAL-8); but it may be the team's own client, with a wrong key.
        """
        reported = table.name, table.referee.number, name
        if reported in self._reported:
            return
        if len(self._reported) >= MAX_REPORTED:
            self._reported.clear()
        self._reported.add(reported)
        cause = "another secret, or another key than SALVO-SEAL-2 describes (Argon2id 1.3, opslimit 2, 64 MiB)"
        log.warning("%s: messages under the name %s do not open: %s, or not its own", table.title, name, cause)
