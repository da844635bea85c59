"""Turns incoming messages into effects: who sent it, what it is, and what its table makes of it.

A message leaves by one of three ways. It is passed over, because it is no command for a table. It is refused, because
it cannot be read, or its sender has no place at the table. Or it is carried out: a key has shown who sent it, and the
referee alone decides. Who sent it is up to :mod:`.senders` and :mod:`.authenticator`, what it is to
:mod:`salvo.codec.command_reader`, what follows to :mod:`salvo_game.transitions`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from salvo import messages as m
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.command_reader import (
    Sealed,
    SealedParticipation,
    SealedPlacement,
    SignedHost,
    SignedShot,
    read_command,
    read_opened,
)
from salvo.codec.commands import ParticipationRequest, ResendRequest
from salvo.errors import IllegalCommand, SalvoError, SealError, WireError
from salvo.net.inbound import Inbound
from salvo.wire import topics
from salvo.wire.topics import Address, Publisher, Reader
from salvo_game.log import Resends
from salvo_game.table import Table
from salvo_game.table_step import Step
from salvo_server.core.admission import Admission
from salvo_server.core.authenticator import Authenticator, Opened, Waiting
from salvo_server.core.chat_relay import Chat
from salvo_server.core.effects import Effects
from salvo_server.core.league_reports import LeagueReports
from salvo_server.core.play import Play
from salvo_server.core.refusals import Refusals
from salvo_server.core.retained_sync import RetainedSync
from salvo_server.core.senders import Sender, Senders

#: Where what cannot be read is answered.
_ANSWERED: Final = (topics.REQUEST_PARTICIPATION, topics.PLACE, topics.SKIP, topics.LEAVE, topics.FIRE)


@dataclass(slots=True)
class Inbox:
    """Reads the messages of all teams at all tables."""

    play: Play
    senders: Senders
    gate: Authenticator
    admission: Admission
    refusals: Refusals
    chat: Chat
    reports: LeagueReports
    resends: Resends
    sync: RetainedSync

    def receive(self, message: Inbound, now: int) -> Effects:
        """Return what follows from a message, its receipt at the end; nothing while it waits for a key."""
        effects = self._read(message, now)
        if isinstance(effects, Waiting):
            return Effects()
        effects.receipts.append(message)
        return effects

    def finished(self, now: int) -> Effects:
        """Return what follows from the messages whose key is there now."""
        effects = Effects()
        for receipt, opened in self.gate.finished():
            if isinstance(receipt, Inbound):
                if opened is not None:
                    effects += self._carry_out(opened, receipt, now)
                effects.receipts.append(receipt)
        return effects

    def _read(self, message: Inbound, now: int) -> Effects | Waiting:
        """Pass a message over, or read it for its table; ``WAITING`` when its key must be derived first."""
        try:
            address = topics.parse(message.topic)
        except WireError as error:
            self.refusals.count(error, message)
            return Effects()
        if address.topic.publisher is Publisher.SERVER:
            return Effects(publications=self.sync.receive(address, message))
        table = self.play.tables.get(address.table)
        if table is None or address.topic.reader is not Reader.SERVER:
            return Effects()
        if message.retain:
            self.refusals.count(WireError("retained_command", "commands must not be retained"), message)
            return Effects(publications=self.sync.clear_command(message.topic))
        if not message.payload and self.sync.has_cleared(message.topic):
            return Effects()
        if address.topic is topics.SAY:
            return Effects(publications=self.chat.receive(address, message.payload, table.referee.players, now))
        sender = self.senders.of(table, address, message)
        if address.topic is topics.LEAGUE_REPORT:
            return self.reports.receive(table, message, sender, now)
        return self._read_command(table, address, sender, message, now)

    def _read_command(
        self, table: Table, address: Address, sender: Sender, message: Inbound, now: int
    ) -> Effects | Waiting:
        try:
            request = read_command(address, message.payload, table.referee.book)
            if sealed := isinstance(request, SealedParticipation):
                request = self.admission.unseal(table.name, request)
            elif isinstance(request, SignedHost):
                sender = self.senders.host(request.player, now)
        except (SealError, WireError) as error:
            self.refusals.count(error, message)
            return self._refuse(table, address, sender, error, now)
        if isinstance(request, ParticipationRequest):
            effects = self.admission.participate(table, request, now, sealed=sealed, sender=sender)
            self.senders.bind_asker(table, request.name, request.secret, message)
            return effects
        if isinstance(request, ResendRequest):
            return self._resend(table, request, sender, now)
        opened = self.gate.open(request, sender, now, receipt=message)
        if opened is None:  # forged or a duplicate
            return Effects() if sender.host else self._refuse_unlisted(table, sender, now)
        return opened if isinstance(opened, Waiting) else self._carry_out(opened, message, now)

    def _resend(self, table: Table, request: ResendRequest, sender: Sender, now: int) -> Effects:
        if request.player not in table.referee.players:
            return Effects()
        self.resends.ask(table.name, request.player, request.first, now)
        if sender.own and self.resends.is_beyond(table.name, request.first):
            return self.play.doubt(table, request.player, now)
        return Effects()

    # --- refused --------------------------------------------------------------------------------------------------

    def _refuse(
        self, table: Table, address: Address, sender: Sender, error: SealError | WireError, now: int
    ) -> Effects:
        """Answer a message that cannot be read: its sender, or every client where it names none (SALVO-ERR-7)."""
        if address.topic not in _ANSWERED:
            return Effects()
        if address.topic is topics.REQUEST_PARTICIPATION or not sender.name:
            return Effects(publications=self.refusals.refuse_nameless(table, address, error.code, now))
        if sender.name not in table.referee.players:
            return self._refuse_unlisted(table, sender, now)
        if not self.senders.may_answer(table, sender, address.topic):
            return Effects()
        spelling = "" if error.code == "unknown_ship" else address.ship
        command = m.Unreadable(sender.name, spelling, error.code, error.text)
        return self.play.carry_out(table, command, now)[1]

    def _refuse_unlisted(self, table: Table, sender: Sender, now: int) -> Effects:
        """Answer a team that plays without being listed (SALVO-ERR-8)."""
        if sender.name in table.referee.players:
            return Effects()
        return Effects(publications=self.refusals.refuse_unlisted(table, sender.name, now))

    def note_forged(self, request: Sealed, sender: Sender) -> None:
        """Report what no key opens, if it came in the name of a player or a host."""
        table, guessed = self.play.tables[request.table], isinstance(request, SignedShot) and not sender.own
        if not guessed and (sender.host or sender.name in table.referee.players):
            self.refusals.report_forged(table, sender.name)

    # --- carried out ----------------------------------------------------------------------------------------------

    def _carry_out(self, opened: Opened, message: Inbound, now: int) -> Effects:
        """Give a table what a team or host has sent, and settle what that costs its sender."""
        owner, table = opened.owner, self.play.tables[opened.request.table]
        if opened.proof is not None:
            self.senders.bind(owner, message)
        elif not owner.host and not self.senders.may_answer_owner(table, owner, message):
            return Effects()
        command = self._command(table, opened)
        step, effects = self.play.carry_out(table, command, now, opened.proof)
        refused = isinstance(command, m.Unreadable) or _is_refused(step, owner.name)
        if owner.host and isinstance(command, m.Unreadable):
            refusal = m.CommandRefused(owner.name, command.code, command.text)
            effects.publications += write_announcement(refusal, table.name)
        if opened.spent is not None and not refused:
            opened.spent.give_back()
        if refused and opened.proof is not None:
            owner.refused.take(now)
        return effects

    def _command(self, table: Table, opened: Opened) -> m.Input:
        """Return what a message says; what is refused before the referee has it becomes an input, too."""
        request, name = opened.request, opened.owner.name
        error: SalvoError | None = opened.refusal
        if error is None:
            try:
                command = read_opened(request, name, opened.plaintext)
                self.admission.check(table, command)
            except (WireError, IllegalCommand) as refusal:
                error = refusal
            else:
                return command
        spelling = request.spelling if isinstance(request, SealedPlacement) else ""
        return m.Unreadable(name, spelling, error.code, error.text, proven=opened.proof is not None)


def _is_refused(step: Step, name: str) -> bool:
    """Whether a step refused a command to its sender, or changed nothing: a repetition has burned a nonce, too."""
    for each in step.announcements:
        if isinstance(each, (m.CommandRefused, m.PlacementRefused)) and each.to == name:
            return True
    return not step.announcements
