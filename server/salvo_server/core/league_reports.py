"""How a league stands, as its host reports it (SALVO-LEAGUE-1): read, and given to the evening."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from salvo import messages as m
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.announcements import LEAGUE
from salvo.errors import IllegalCommand, WireError
from salvo.net.inbound import Inbound
from salvo.system.log_throttle import SELDOM
from salvo_game.table import Table
from salvo_server.core.effects import Effects
from salvo_server.core.play import Play
from salvo_server.core.refusals import Refusals
from salvo_server.core.senders import Sender, Senders

log = logging.getLogger(__name__)


@dataclass(slots=True)
class LeagueReports:
    """The reports of leagues to a server."""

    play: Play
    senders: Senders
    refusals: Refusals

    def receive(self, table: Table, message: Inbound, sender: Sender, now: int) -> Effects:
        """Return what follows from a report.

        Args:
            sender: the account that has published it.
        """
        try:
            league = _read(message.payload)
        except WireError as error:
            self.refusals.count(error, message)
            log.warning("refused a league's report: %s", error, extra=SELDOM)
            return _refuse(table, sender.name, error) if self.senders.is_host(sender.name) else Effects()
        if sender.own and sender.name != league.by:
            return Effects()
        try:
            self.senders.host(league.by, now)
        except WireError as error:
            self.refusals.count(error, message)
            return Effects()
        effects = Effects()
        try:
            self.play.evening.report(league, now)
        except IllegalCommand as error:
            effects = _refuse(table, league.by, error)
        effects += self.play.settle_evening(now)
        return effects


def _read(payload: bytes) -> m.LeagueShown:
    league = LEAGUE.read(payload)
    if not league.name:
        raise WireError("wrong_shape", "a league has a name")
    return league


def _refuse(table: Table, host: str, error: IllegalCommand | WireError) -> Effects:
    return Effects(publications=write_announcement(m.CommandRefused(host, error.code, error.text), table.name))
