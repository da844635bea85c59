"""What arrives, read: from bytes on a topic to what follows from them."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from salvo import messages as m
from salvo import topics
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.announcements import LEAGUE, Publication
from salvo.codec.command_reader import Sealed, SealedParticipation, SignedHost, SignedShot, SignedSkip, read_command
from salvo.codec.commands import ParticipationRequest, ResendRequest
from salvo.errors import IllegalCommand, SealError, WireError
from salvo.log_throttle import SELDOM, Throttle
from salvo.net.inbound import Inbound
from salvo.topics import Publisher, Reader
from salvo_game.log import Resends
from salvo_game.referee import Referee
from salvo_game.table import Table
from salvo_server.core.admission import Admission
from salvo_server.core.authenticator import WAITING, Authenticator, Opened, Waiting
from salvo_server.core.chat_relay import Chat
from salvo_server.core.effects import Effects
from salvo_server.core.play import Play
from salvo_server.core.retained_sync import RetainedSync

log = logging.getLogger(__name__)

#: Topics whose clearing has not come back yet, and teams that were reported; beyond that they are forgotten.
_MAX_NOTED: Final = 4096
#: What a team sends that plays at the table.
_OF_PLAYERS: Final = (topics.PLACE, topics.SKIP, topics.LEAVE, topics.FIRE)


@dataclass(slots=True)
class Inbox:
    """Reads the messages of all teams at all tables.

    Attributes:
        counts: refused inputs by error code.
    """

    play: Play
    gate: Authenticator
    admission: Admission
    chat: Chat
    resends: Resends
    sync: RetainedSync
    counts: Counter[str]
    _cleared: set[str] = field(default_factory=set)
    _reported: set[tuple[str, int, str]] = field(default_factory=set)
    _seldom: Throttle = field(default_factory=lambda: Throttle(log))

    @staticmethod
    def is_of_server(message: Inbound) -> bool:
        """Whether a message is on a topic where only the server publishes."""
        try:
            return topics.parse(message.topic).topic.publisher is Publisher.SERVER
        except WireError:
            return False

    def receive(self, message: Inbound, now: int) -> Effects:
        """Return what follows from a message, its receipt at the end; nothing while it waits for a key."""
        try:
            address = topics.parse(message.topic)
        except WireError as error:
            self._count(error, message)
            return Effects(receipts=[message])
        table = self.play.tables.get(address.table)
        if address.topic.publisher is Publisher.SERVER:
            return Effects(publications=self.sync.receive(address, message), receipts=[message])
        if table is None or address.topic.reader is not Reader.SERVER:
            return Effects(receipts=[message])
        if message.retain:
            self._count(WireError("retained_command", "commands must not be retained"), message)
            _note(self._cleared, message.topic)
            return Effects(publications=[Publication(message.topic, b"", True)], receipts=[message])
        if not message.payload and message.topic in self._cleared:
            self._cleared.remove(message.topic)
            return Effects(receipts=[message])
        effects = self._read(table, address, message, now)
        if effects is WAITING:
            return Effects()
        effects.receipts.append(message)
        return effects

    def finished(self, now: int) -> Effects:
        """Return what follows from the messages whose key is there now."""
        effects = Effects()
        for receipt, opened in self.gate.finished():
            if opened is not None and isinstance(receipt, Inbound):
                effects += self._take(opened, receipt, now)
            if isinstance(receipt, Inbound):
                effects.receipts.append(receipt)
        return effects

    def _read(self, table: Table, address: topics.Address, message: Inbound, now: int) -> Effects | Waiting:
        """Read a command of a table; ``WAITING`` when its key must be derived first."""
        if address.topic is topics.SAY:
            return Effects(publications=self.chat.receive(address, message.payload, table.referee.players, now))
        if address.topic is topics.LEAGUE_REPORT:
            return self._take_report(table, message, now)
        try:
            request = read_command(address, message.payload, table.referee.book)
            if sealed := isinstance(request, SealedParticipation):
                request = self.admission.unseal(table.name, request)
        except (SealError, WireError) as error:
            self._count(error, message)
            return self._answer_unreadable(table, address, message, error, now)
        sender = message.team
        if isinstance(request, ParticipationRequest):
            effects = self.admission.participate(table, request, now, sealed=sealed, sender=sender or None)
            self._bind(table, request.name, self.gate.keyring.credential(request.name, request.secret), message)
            return effects
        if isinstance(request, SignedHost) and not self._admit_host(request.player, message, now):
            return Effects()
        if isinstance(request, ResendRequest):
            if request.player not in table.referee.players:
                return Effects()
            self.resends.ask(table.name, request.player, request.first, now)
            if self.resends.is_beyond(table.name, request.first) and self._is_from(table, request.player, message):
                return self.play.doubt(table, request.player, now)
            return Effects()
        likely, expected = _senders(table.referee, request, sender, self._bound(table, message))
        result = self.gate.open(request, likely, now, expected=expected, receipt=message)
        if result is None:  # forged or a duplicate; only a sender that is no player at all is answered
            return Effects(publications=self._refuse_unlisted(table, self._unlisted(table, address, sender), now))
        return self._take(result, message, now) if isinstance(result, Opened) else result

    def _bind(self, table: Table, name: str, credential: bytes, message: Inbound) -> None:
        """Count what comes from where this message came from as the team's, if its secret is the right one."""
        if message.publisher is not None:
            self.gate.keyring.bind(table.name, name, credential, message.publisher)

    def _bound(self, table: Table, message: Inbound) -> set[str] | None:
        """Return the teams that the publisher of a message plays for; None if nobody knows the publisher."""
        return None if message.publisher is None else self.gate.keyring.bound(table.name, message.publisher)

    def _take(self, opened: Opened, message: Inbound, now: int) -> Effects:
        """Carry out or refuse what was opened, from wherever it was published."""
        table, sender = self.play.tables[opened.table], opened.sender
        member = self.gate.keyring.member(table.name, sender, host=opened.host)
        if opened.proof is None and not opened.host:
            bound = self._bound(table, message)
            # Nothing proves the sender; if the publisher plays for others, the team has nothing to do with the refusal.
            strange = bound is not None and sender not in bound
            if strange or not self._may_answer(table, sender, message):
                return Effects()
        elif member is not None and not opened.host:
            self._bind(table, sender, member.credential, message)
        return self._carry_out(opened, now)

    def _is_from(self, table: Table, name: str, message: Inbound) -> bool:
        """Whether the broker knows that a message is from a team."""
        return message.team == name or name in (self._bound(table, message) or ())

    def _shooter(self, table: Table, current: str, message: Inbound) -> str:
        """Return whom an unreadable shot is from: the current player, unless its publisher plays for another team."""
        bound = self._bound(table, message)
        return current if not bound or current in bound else min(bound)

    def _may_answer(self, table: Table, name: str, message: Inbound) -> bool:
        """Whether a team is answered what is not proven to be its own: where anybody may have sent it, once a turn."""
        member = self.gate.keyring.member(table.name, name)
        if member is None or self._is_from(table, name, message):
            return True
        if self.admission.register is not None and topics.parse(message.topic).topic is not topics.FIRE:
            return True  # the team's own topic, where no other one may publish
        referee = table.referee
        turn = referee.number, referee.deadline() if referee.game is None else referee.game.turn
        before, member.answered = member.answered, turn
        return before != turn

    def _host_secret(self, name: str) -> str | None:
        return None if self.admission.register is None else self.admission.register.host(name)

    def _admit_host(self, name: str, message: Inbound, now: int) -> bool:
        """Let a host of the roster act; an open contest has none (SALVO-HOST-1)."""
        secret = self._host_secret(name)
        if secret is None:
            self._count(WireError("not_a_host", f"the roster has no host {name!r}"), message)
            return False
        self.gate.keyring.admit_host(name, secret, now)
        return True

    def _carry_out(self, opened: Opened, now: int) -> Effects:
        """Give a table what a team or a host has said, and settle what that costs its sender."""
        table, sender = self.play.tables[opened.table], opened.sender
        effects = self.play.pass_time(table, now)  # a step of its own in the journal, without the command's proof
        command = self._hold_to_evening(table, self.admission.hold_to_profile(opened.command))
        if isinstance(command, m.PlaceShip):
            command = table.referee.one_too_many(command) or command
        refused = True
        if isinstance(command, m.Unreadable) and opened.host:
            if opened.proof is not None:  # it is burned for ever, though the table makes nothing of it (SALVO-FRESH-2)
                effects += self.play.follow(table, table.carry_out(command, now), opened.proof)
            effects.publications += write_announcement(m.CommandRefused(sender, command.code, command.text), table.name)
        # A repetition changes nothing, so it need not be remembered either; its fresh nonce is burned, so it counts as
        # refused.
        elif not table.referee.has_had(command):
            step = table.carry_out(command, now)
            effects += self.play.follow(table, step, opened.proof)
            refused = isinstance(command, m.Unreadable) or _refused(step.announcements, sender)
        if opened.spent is not None and not refused:
            opened.spent.give_back()
        if refused and opened.proof is not None:
            self.gate.keyring.penalize(opened.table, sender, now, host=opened.host)
        return effects

    def _hold_to_evening(self, table: Table, command: m.Input) -> m.Input:
        """Return a command, or for all tables one that is not possible now its refusal."""
        try:
            self.play.check_host(table, command)
        except IllegalCommand as error:
            assert isinstance(command, m.HostCommand)
            return m.Unreadable(command.by, "", error.code, error.text, proven=True)
        return command

    def _take_report(self, table: Table, message: Inbound, now: int) -> Effects:
        """Let the evening take how a league stands (SALVO-LEAGUE-1)."""
        effects = Effects()
        try:
            league = LEAGUE.read(message.payload)
            if not league.name:
                raise WireError("wrong_shape", "a league has a name")
        except WireError as error:
            self._count(error, message)
            log.warning("refused a league's report: %s", error, extra=SELDOM)
            if message.team and self._host_secret(message.team) is not None:
                refusal = m.CommandRefused(message.team, error.code, error.text)
                effects.publications += write_announcement(refusal, table.name)
            return effects
        if message.team not in (None, league.by) or not self._admit_host(league.by, message, now):
            return effects
        try:
            self.play.evening.report(league, now)
        except IllegalCommand as error:
            refusal = m.CommandRefused(league.by, error.code, error.text)
            effects.publications += write_announcement(refusal, table.name)
        effects += self.play.settle_evening(now)
        return effects

    def _answer_unreadable(
        self, table: Table, address: topics.Address, message: Inbound, error: SealError | WireError, now: int
    ) -> Effects:
        """Answer the player in the topic, or for a shot its sender; where that is not known, whose turn it is.

        Where it is nobody's turn, or nobody is named, every client reads the answer (SALVO-ERR-7).
        """
        if address.topic not in (topics.REQUEST_PARTICIPATION, *_OF_PLAYERS):
            return Effects()
        sender = message.team
        if unlisted := self._unlisted(table, address, sender):
            return Effects(publications=self._refuse_unlisted(table, unlisted, now))
        player, spelling = address.player, address.ship if error.code != "unknown_ship" else ""
        if address.topic is topics.FIRE:
            current = table.referee.current
            player = sender or ("" if current is None else self._shooter(table, current.name, message))
        if address.topic is topics.REQUEST_PARTICIPATION or not player:
            what = "a shot" if address.topic is topics.FIRE else "a request to take part"
            self._seldom.warn(f"unreadable {what}", f"{table.title}: {what} cannot be read: {error.code}")
            return Effects(publications=self.admission.answer_everybody(table, error.code, now))
        if not self._may_answer(table, player, message):
            return Effects()
        command = m.Unreadable(player, spelling, error.code, error.text)
        effects = self.play.pass_time(table, now)
        effects += self.play.carry_out(table, command, now)
        return effects

    @staticmethod
    def _unlisted(table: Table, address: topics.Address, sender: str | None) -> str:
        """Return who sends a player's command without being one; empty if it is a player, or nobody knows who it is."""
        name = (sender or "") if address.topic is topics.FIRE else address.player
        return "" if name in table.referee.players or address.topic not in _OF_PLAYERS else name

    def _refuse_unlisted(self, table: Table, name: str, now: int) -> list[Publication]:
        """Answer a team that is not listed, as often as a request in its name (SALVO-ERR-8)."""
        if not topics.is_name(name):
            return []
        listed = f"wait until {topics.LIST.of(table.name)} has its name"
        text = f"{name!r} is not listed at this table; ask to take part, and {listed}"
        self._seldom.warn("unlisted", f"{table.title}: {name} sends commands without being listed")
        answered = self.admission.may_answer(f"{table.name}/{name}", "unknown_player", now)
        return write_announcement(m.CommandRefused(name, "unknown_player", text), table.name) if answered else []

    def note_forged(self, request: Sealed, message: object) -> None:
        """Report to the operator, once a game for each team, that what comes under its name does not open.

        The team is not answered (SALVO-SEAL-8); but it may be the team's own client, with a wrong key.
        """
        name = request.player
        if isinstance(request, SignedShot):
            name = (message.team if isinstance(message, Inbound) else None) or ""
        table = self.play.tables[request.table]
        known = name in table.referee.players or isinstance(request, SignedHost)
        reported = table.name, table.referee.number, name
        if known and reported not in self._reported:
            _note(self._reported, reported)
            cause = "another secret, or another key than SALVO-SEAL-2 describes (Argon2id 1.3, opslimit 2, 64 MiB)"
            log.warning("%s: messages under the name %s do not open: %s, or not its own", table.title, name, cause)

    def _count(self, error: SealError | WireError, message: Inbound) -> None:
        self.counts[error.code] += 1
        # A text names the value that was wrong; of a request to take part that may be the secret, in the wrong place.
        asked = message.topic.endswith(topics.REQUEST_PARTICIPATION.pattern)
        log.debug("refused a message on %r: %s", message.topic[:120], error.code if asked else error)


def _note(noted: set[Any], what: object) -> None:
    if len(noted) >= _MAX_NOTED:
        noted.clear()
    noted.add(what)


def _senders(referee: Referee, request: Sealed, sender: str | None, bound: set[str] | None) -> tuple[list[str], bool]:
    """Return who may have sent a message, the likeliest first, and whether it was to send such a one now.

    Args:
        sender: who has, if the broker tells; then nobody else pays for it (SALVO-FRESH-9).
        bound: the teams whose secret its publisher has shown, if the broker reports that; no other one pays for it.
    """
    current = referee.current
    if isinstance(request, SignedHost):
        return [request.player], True
    if sender is not None:
        return [sender] if sender in referee.players else [], True
    if isinstance(request, SignedShot):
        if current is None:
            return list(referee.players), False
        own = set() if bound is None else bound & set(referee.players)
        likely = sorted(referee.players, key=lambda name: (name not in own, name != current.name))
        return likely, bound is None or bool(own)
    theirs = bound is None or request.player in bound
    if isinstance(request, SignedSkip):
        return [request.player], theirs and current is not None and current.name == request.player
    return [request.player], theirs and referee.state is m.State.LOBBY


def _refused(announcements: Sequence[m.Announcement], player: str) -> bool:
    """Whether a step refused a command to its player; one that says nothing is a repetition or beyond the answers."""
    refusals = [
        announcement
        for announcement in announcements
        if isinstance(announcement, (m.CommandRefused, m.PlacementRefused))
    ]
    return not announcements or any(refusal.to == player for refusal in refusals)
