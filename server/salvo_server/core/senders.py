"""Who sent a message: one answer, made from its connection, the keyring and the roster.

A topic names a sender, and only a key proves one. Between the two stands what a broker reports of the connection: the
account that published a message, or, where no account stands for a team, the client, which may have shown a team's
secret before. All of that is read here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from salvo import messages as m
from salvo.errors import WireError
from salvo.net.inbound import Inbound
from salvo.wire import topics
from salvo.wire.topics import Publisher
from salvo_game.table import Table
from salvo_server.core.keyring import KeyOwner, Keyring


class EntryList(Protocol):
    """Who may take part, and who may act as a host: :class:`salvo_server.storage.register.Register`."""

    @property
    def revision(self) -> object: ...

    @property
    def badges(self) -> Mapping[str, int]: ...

    def has(self, name: str, secret: str) -> bool: ...
    def teams(self) -> Iterable[tuple[str, str]]: ...
    def lacks(self, names: Iterable[str]) -> list[str]: ...
    def host(self, name: str) -> str | None: ...


class Sender(NamedTuple):
    """Who has sent a message, as far as that is known before a key proves it.

    Attributes:
        name: the team or host that it is from; of a shot, the likeliest one. Empty where none is likelier than others.
        own: whether the broker reports that it is from that team, by its account or by a client that has shown its
            secret; None where the broker reports nothing.
        pays: whether it pays for the derivation of its key, since it was to send such a message now.
        others: who else may have sent it, perhaps with the name among them; the likeliest first.
        host: whether it is a host.
    """

    name: str
    own: bool | None = None
    pays: bool = True
    others: Iterable[str] = ()
    host: bool = False

    @property
    def candidates(self) -> Iterable[str]:
        """All who may have sent it, the likeliest first."""
        return dict.fromkeys((self.name, *self.others)) if self.others else (self.name,)


@dataclass(frozen=True, slots=True)
class Senders:
    """The senders at all tables of a server.

    Attributes:
        register: the roster's accounts; None in an open contest.
    """

    keyring: Keyring
    register: EntryList | None

    def of(self, table: Table, address: topics.Address, message: Inbound) -> Sender:
        """Return who has sent a message on a topic of teams; on one of hosts, which account has."""
        topic = address.topic
        if topic is topics.FIRE:
            return self._shooter(table, message)
        if topic is topics.REQUEST_PARTICIPATION or topic.publisher is Publisher.HOST:
            return Sender(message.team or "", own=None if message.team is None else True)
        name, referee = address.player, table.referee
        own = self._is_own(table, name, message)
        if topic is topics.SKIP:
            is_due = referee.current is not None and referee.current.name == name
        else:
            is_due = referee.state is m.State.LOBBY
        return Sender(name, own, pays=is_due and own is not False)

    def host(self, name: str, now: int) -> Sender:
        """Return the host whom a message names, and let it act at every table; an open contest has none.

        Raises:
            WireError: ``not_a_host`` (SALVO-HOST-1).
        """
        secret = self._host_secret(name)
        if secret is None:
            raise WireError("not_a_host", f"the roster has no host {name!r}")
        self.keyring.admit_host(name, secret, now)
        return Sender(name, host=True)

    def is_host(self, name: str) -> bool:
        """Whether the roster has such a host."""
        return self._host_secret(name) is not None

    def _host_secret(self, name: str) -> str | None:
        return None if self.register is None else self.register.host(name)

    def _shooter(self, table: Table, message: Inbound) -> Sender:
        """Return whom a shot is from, which its topic does not tell.

        That is the team that the broker reports, and then nobody else pays for it; or the current player, unless the
        shot's client has shown the secrets of other teams alone (SALVO-FRESH-9).
        """
        if message.team is not None:  # empty if the account is gone: then it is from nobody
            return Sender(message.team, own=True)
        current, players = table.referee.current, table.referee.stage.players
        if current is None:
            return Sender("", pays=False, others=players)
        if message.publisher is None:
            return Sender(current.name, others=players)
        if self._is_own(table, current.name, message):
            return Sender(current.name, own=True, others=players)
        shown = sorted(name for name in players if self._is_own(table, name, message))
        if not shown:
            return Sender(current.name, own=False, pays=False, others=players)
        return Sender(shown[0], own=True, others=(*shown, current.name, *players))

    def _is_own(self, table: Table, name: str, message: Inbound) -> bool | None:
        if message.team is not None:
            return message.team == name
        if message.publisher is None:
            return None
        owner = self.keyring.member(table.name, name)
        return owner is not None and message.publisher in owner.publishers

    def may_answer(self, table: Table, sender: Sender, topic: topics.Topic) -> bool:
        """Whether a team is answered what is not proven to be its own: where anybody may have sent it, once a turn."""
        owner = self.keyring.member(table.name, sender.name)
        if owner is None or sender.own:
            return True
        if self.register is not None and topic is not topics.FIRE:
            return True  # the team's own topic, where no other one may publish
        referee = table.referee
        turn = referee.number, referee.deadline() if referee.game is None else referee.game.turn
        before, owner.answered = owner.answered, turn
        return before != turn

    def may_answer_owner(self, table: Table, owner: KeyOwner, message: Inbound) -> bool:
        """Whether a team is answered why its message was not read, which somebody may have sent in its name.

        If the client that has sent it plays for others, the team has nothing to do with it.
        """
        sender = Sender(owner.name, self._is_own(table, owner.name, message))
        return sender.own is not False and self.may_answer(table, sender, topics.parse(message.topic).topic)

    def bind(self, owner: KeyOwner, message: Inbound) -> None:
        """Count what comes from the client of a message as a team's from now on: it has shown the team's secret."""
        if message.publisher is not None:
            owner.shown_by(message.publisher)

    def bind_asker(self, table: Table, name: str, secret: str, message: Inbound) -> None:
        """Do so for the client of a request to take part, if the team is listed with this secret."""
        owner = None if message.publisher is None else self.keyring.member(table.name, name)
        if owner is not None and owner.credential == self.keyring.credential(name, secret):
            self.bind(owner, message)
