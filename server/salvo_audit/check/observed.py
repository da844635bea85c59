"""The client under test as the judge's broker meets it: what it does, judged as it comes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from salvo.wire import topics
from salvo_audit.check.answers import Judge, ServerAnswers
from salvo_audit.check.commands import CommandReader, JudgedCommand
from salvo_audit.check.own_broker import MOST_BYTES, Guest, ReceivedPublication, matches


class ObservedClient:
    """Learns what the client does; a :class:`~salvo_audit.check.own_broker.DoorListener`.

    Attributes:
        guests: its connections, in order.
        filters: its subscriptions, each with its QoS.
        commands: what it has sent, judged and read, in order.
        table: where it is to play; empty for the default table.
        state_published: whether the server has said in which state the table is.
        answers: what the server does with its commands; set before any comes.
    """

    def __init__(self, team: str, secret: str, judge: Judge, notify: Callable[[], object]) -> None:
        """Wait for the client.

        Args:
            notify: called whenever something has happened.
        """
        self.guests: list[Guest] = []
        self.filters: dict[str, int] = {}
        self.commands: list[JudgedCommand] = []
        self.table = ""
        self.state_published = False
        self.answers: ServerAnswers
        self._team, self._secret = team, secret
        self._judge, self._notify = judge, notify
        self._arrived: asyncio.Queue[ReceivedPublication] = asyncio.Queue()
        self._reading = 0
        self._nonces: dict[bytes, ReceivedPublication] = {}
        self.play_at("")

    def play_at(self, table: str) -> None:
        """Expect the client at a table."""
        self.table = table
        self._reader = CommandReader(self._secret, self._team, table, self._judge_message)

    def seal_requests(self, private_key: bytes | None) -> None:
        """Let requests be sealed for the owner of this key."""
        self._reader.sealing_key = private_key

    def topic(self, name: str) -> str:
        """Return a topic of the client's table."""
        return f"/{self.table}{name}" if self.table else name

    def has_subscribed(self, name: str) -> bool:
        """Whether a filter of the client has a topic of its table."""
        return any(matches(each, self.topic(name)) for each in self.filters)

    @property
    def is_judged(self) -> bool:
        """Whether all that the client has sent is judged."""
        return self._arrived.empty() and not self._reading

    @property
    def shots(self) -> list[JudgedCommand]:
        """What the client has sent on fire topics."""
        return self.sent(topics.FIRE)

    def sent(self, kind: topics.Topic) -> list[JudgedCommand]:
        """What the client has sent on topics of a kind."""
        return [command for command in self.commands if command.kind == kind.name]

    # --- at the door ------------------------------------------------------------------------------------------------

    def connected(self, guest: Guest, others: Sequence[str]) -> None:
        """Judge a CONNECT."""
        self.guests.append(guest)
        greeting = guest.greeting
        self._judge("mqtt/connects", True, "")
        self._judge(
            "mqtt/no-will",
            greeting.will is None,
            "a CONNECT with a last will",
            expected="a CONNECT without a last will",
        )
        login = (greeting.username, greeting.password)
        seen = f"the user {greeting.username!r} with {self._password_name(greeting.password)}"
        fine = login in ((None, None), (self._team, self._secret))
        self._judge(
            "mqtt/user-is-team", fine, seen, expected=f"the user {self._team!r} with the team's secret, or no login"
        )
        several = any(client_id != greeting.client_id for client_id in others)
        self._judge("mqtt/one-connection", not several, f"{len(others) + 1} connections at once")
        self._notify()

    def _password_name(self, password: str | None) -> str:
        if password == self._secret:
            return "the team's secret"
        return "no password" if password is None else "another password"

    def subscribed(self, filters: Sequence[tuple[str, int]]) -> None:
        """Judge a SUBSCRIBE."""
        self.filters |= dict(filters)
        low = [name for name, qos in filters if not qos]
        self._judge("mqtt/qos-subscribe", not low, f"QoS 0 for {', '.join(low)}")
        greedy = [name for name, _ in filters if matches(name, self.topic("/game/request_participation"))]
        self._judge("mqtt/no-greedy-filter", not greedy, f"the filter {', '.join(greedy)}")
        self._notify()

    def published(self, publication: ReceivedPublication) -> None:
        """Judge a PUBLISH; its message is read in turn."""
        self._judge("mqtt/qos-publish", publication.qos == 1, f"QoS {publication.qos}", publication=publication)
        self._judge("mqtt/no-retain", not publication.retain, "the retain flag", publication=publication)
        self._judge(
            "join/waits-for-state",
            self.state_published and self.has_subscribed("/game/state"),
            "a message before /game/state has come",
            publication=publication,
        )
        self._arrived.put_nowait(publication)
        self._reading += 1
        self._notify()

    def noticed(self) -> None:
        """Something else has happened."""
        self._notify()

    def broke(self, fault: str) -> None:
        """Note that the client has broken the rules of MQTT."""
        self._judge("mqtt/well-formed", False, fault)
        self._notify()

    def flooded(self) -> None:
        """Note that the client has sent far more than any game needs."""
        self._judge(
            "turn/no-flood", False, f"{MOST_BYTES // 1_000_000} MB of packets and connections; nothing more is read"
        )
        self._notify()

    # --- messages ---------------------------------------------------------------------------------------------------

    async def read_all(self) -> None:
        """Judge and answer message after message, until this is cancelled."""
        while True:
            publication = await self._arrived.get()
            command = await self._reader.read(publication)
            self._judge_command(command)
            self.commands.append(command)
            self.answers.answer(command)
            self._reading -= 1
            self._notify()

    def _judge_message(self, case: str, fine: bool, expected: str, seen: str, publication: ReceivedPublication) -> None:
        self._judge(case, fine, seen, expected=expected, publication=publication)

    def _judge_command(self, command: JudgedCommand) -> None:
        publication = command.publication
        is_request = command.kind == topics.REQUEST_PARTICIPATION.name
        leaks = self._secret.encode() in publication.payload or self._secret in publication.topic
        self._judge(
            "sec/secret-stays-secret", is_request or not leaks, "the secret in another message", publication=publication
        )
        if not command.nonce:
            return
        before = self._nonces.setdefault(command.nonce, publication)
        repeated = before is not publication and before[1:3] != publication[1:3]
        self._judge("seal/nonce-once", not repeated, f"the nonce {command.nonce.hex()} again", publication=publication)
        salts = self.answers.salts
        if command.opened and command.salt not in salts:
            salts.append(command.salt)
        self._judge("seal/one-salt", len(salts) < 2, f"{len(salts)} salts", publication=publication)
