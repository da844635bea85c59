"""Admission: what profile and roster ask of a request to take part, and of a shot (SALVO-ACCESS)."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import Final

from salvo import messages as m
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.announcements import Publication
from salvo.codec.command_reader import OpenedCommand, SealedParticipation, read_participation
from salvo.codec.commands import ParticipationRequest
from salvo.errors import IllegalCommand, SealError
from salvo.system.log_throttle import Throttle
from salvo_game.log import ServerIdentity
from salvo_game.table import Table
from salvo_server.core.effects import Effects
from salvo_server.core.play import Play
from salvo_server.core.refusals import Refusals
from salvo_server.core.senders import EntryList, Sender

log = logging.getLogger(__name__)

_CONTEXTS: Final[dict[type, str]] = {
    m.Fire: "a shot has g, t, n and to: game, turn, shot and target",
    m.Skip: "a skip has g and t: game and turn",
    m.Leave: "leaving the lobby has g: the game",
    m.HostCommand: "a host's command has g: the game",
}


@dataclass(slots=True)
class Admission:
    """The entrance to all tables of a server.

    Attributes:
        register: the teams that may take part; None admits every team.
        identity: what requests are sealed for; None where none can be.
    """

    profile: str
    register: EntryList | None
    identity: ServerIdentity | None
    play: Play
    refusals: Refusals
    _seen: object = None
    _seldom: Throttle = field(default_factory=lambda: Throttle(log))

    def participate(
        self,
        table: Table,
        request: ParticipationRequest,
        now: int,
        *,
        sealed: bool = False,
        sender: Sender,
    ) -> Effects:
        """Return what follows from a request to take part.

        Args:
            sender: the account that published it, if the broker reports that.
        """
        refused = self.why_not(request, sealed)
        if refused is not None:
            return Effects(publications=self._turn_away(table, refused, sender.name, now))
        effects = self.play.pass_time(table, now)
        command = m.Participate(request.name, self.play.keyring.credential(request.name, request.secret))
        known = table.referee.players.get(request.name)
        if known is not None and self.register is not None and known.credential != command.credential:
            known.credential = command.credential  # the roster vouches for the secret: the team plays on with it
            effects.records.append(self.play.admit(table, request.name, request.secret, now))
        step = table.carry_out(command, now)
        if step.recorded:
            effects.records.append(self.play.admit(table, request.name, request.secret, now))
        elif not self.refusals.may_answer(f"{table.name}/{request.name}", type(step.announcements[0]).__name__, now):
            return effects
        effects += self.play.follow(table, step)
        return effects

    def _turn_away(self, table: Table, refused: m.CommandRefused, user: str, now: int) -> list[Publication]:
        """Answer where the client may read it: at its user's name, or without a name to everybody (SALVO-ERR-7)."""
        self.refusals.counts[refused.code] += 1
        self._seldom.warn(
            refused.code, f"{user or 'a client'} asks to take part as {refused.to} and may not: {refused.code}"
        )
        answers: list[Publication] = []
        if not user and refused.code == "not_in_roster":
            answers += self.refusals.answer_everybody(table, refused.code, now)
        elif user not in ("", refused.to):
            refused = replace(refused, to=user, text=f"{refused.text}; you are connected as {user!r}")
        if self.refusals.may_answer(refused.to, refused.code, now):
            answers += write_announcement(refused, table.name)
        return answers

    def strike_off(self, now: int) -> Effects:
        """Take teams that the roster no longer has out of their lobbies (SALVO-ACCESS-8), which they would hold up."""
        effects = Effects()
        if self.register is None or self.register.revision is self._seen:
            return effects
        self._seen = self.register.revision
        self.play.keyring.renew_hosts(self.register.host, now)
        if self.play.keyring.foresight is not None:
            self.play.keyring.foresight.foresee(self.register.teams())
        for table in self.play.tables.values():
            teams = self.play.keyring.teams(table.name)
            gone = [name for name, secret in teams if not self.register.has(name, secret)]
            if gone:
                effects += self.play.pass_time(table, now)
            for name in gone:
                if table.referee.state is m.State.LOBBY:
                    effects += self.play.carry_out(table, m.StruckOff(name), now)[1]
        return effects

    def unseal(self, table: str, request: SealedParticipation) -> ParticipationRequest:
        """Open a request that is sealed for this server.

        Raises:
            SealError: it does not open.
            WireError: what was sealed is not a request.
        """
        if self.identity is None:
            raise SealError("sealed_unreadable", "this server has no key that anything could be sealed for")
        return read_participation(table, self.identity.open(request.sealed))

    def why_not(self, request: ParticipationRequest, sealed: bool) -> m.CommandRefused | None:
        """Return why a team may not take part in this contest; None when it may."""
        if self.profile == "strict" and not sealed:
            text = "in profile strict a request to take part is sealed with the key in /game/server"
            return m.CommandRefused(request.name, "sealed_required", text)
        if self.register is not None and not self.register.has(request.name, request.secret):
            text = f"the roster has no team {request.name!r} with this secret; ask the operator of the contest"
            return m.CommandRefused(request.name, "not_in_roster", text)
        return None

    def check(self, table: Table, command: OpenedCommand) -> None:
        """Make sure that profile, roster and evening have nothing against a command, which no table knows.

        In strict, all but placements say what they are meant for. A host sets teams that there are (SALVO-HOST-7).

        Raises:
            IllegalCommand: ``not_in_roster``, ``context_required`` or a code of :meth:`Play.check_host`.
        """
        if isinstance(command, m.HostCommand):
            teams = () if command.settings is None else command.settings.teams or ()
            if self.register is not None and (gone := self.register.lacks(teams)):
                raise IllegalCommand("not_in_roster", f"the roster has no team {gone[0]!r}")
        if self.profile == "strict" and not isinstance(command, m.PlaceShip):
            context = command.game if isinstance(command, m.Leave) else command.context
            if context is None:
                text = f"in profile strict the body of {_CONTEXTS[type(command)]}"
                raise IllegalCommand("context_required", text)
        if isinstance(command, m.HostCommand):
            self.play.check_host(table, command)
