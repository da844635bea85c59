"""A server that says what a test wants it to, for one session, without a socket."""

from __future__ import annotations

from kit.unbrokered import Wire
from salvo import messages as m
from salvo.bots.player import Bot
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.announcements import Publication
from salvo.codec.command_reader import (
    SealedParticipation,
    SealedPlacement,
    SignedHost,
    SignedLeave,
    SignedShot,
    SignedSkip,
    read_command,
    read_host,
    read_leave,
    read_placement,
    read_shot,
    read_skip,
)
from salvo.codec.commands import ParticipationRequest, ResendRequest
from salvo.codec.recap_writer import write_recap
from salvo.join.client import Contestant
from salvo.join.events import Event
from salvo.join.seated_team import SeatedTeam
from salvo.join.session import Session
from salvo.messages import State
from salvo.rules import SALVO, RuleBook, generator
from salvo.wire import topics
from salvo.wire.seal import Sealer, key_to_team, make_blob, open_blob

Command = m.PlaceShip | m.Fire | m.Skip | m.Leave | m.HostCommand | ParticipationRequest | ResendRequest


class ScriptedServer:
    """Speaks to a session and opens its answers.

    Attributes:
        now: the session's clock in seconds; a test sets it.
    """

    def __init__(self, session: Session, book: RuleBook = SALVO) -> None:
        """Take the session to speak to."""
        self.now = 0.0
        self._session = session
        self._book = book

    def say(self, *announcements: m.Announcement, retained: bool = False) -> list[Event]:
        """Publish announcements in order; return the session's events."""
        events: list[Event] = []
        for announcement in announcements:
            for publication in write_announcement(announcement, self._session.table):
                events += self._deliver(publication.topic, publication.payload, retained)
        return events

    def say_recap(self, recap: m.Recap, sealer: Sealer) -> list[Event]:
        """Publish a recap, sealed for the team."""
        blob = make_blob(write_recap(recap, self._book.grid), key_to_team(sealer.key), sealer.salt)
        topic = topics.RECAP.of(self._session.table, player=self._session.name)
        return self._deliver(topic, blob.encode(), False)

    def _deliver(self, topic: str, payload: bytes, retained: bool) -> list[Event]:
        if not any(_matches(wanted, topic) for wanted in self._session.filters()):
            return []
        return self._session.receive(topic, payload, retained, self.now)

    def open_lobby(self, *names: str) -> list[Event]:
        """Open the table with these players listed."""
        rules = m.RulesAnnounced(self._book, self._session.table, 60, 30, 300, 3)
        status = m.ServerStatus(True, "test", 1, "open")
        return self.say(status, rules, m.StateChanged(State.LOBBY), m.PlayersListed(names))

    def begin_turn(self, turn: int, player: str, shots: int) -> list[Event]:
        """Begin a turn of 30 seconds."""
        return self.say(m.TurnBegan(1, turn, player, shots, 1_000_000, 1_030_000))

    def commands(self, sealer: Sealer) -> list[Command]:
        """Return the session's messages, opened with its key."""
        return [self.read(publication, sealer) for publication in self._session.take_outbox()]

    def read(self, publication: Publication, sealer: Sealer) -> Command:
        """Return what a message says, opened with the session's key; no server takes one that is retained."""
        assert not publication.retain
        request = read_command(topics.parse(publication.topic), publication.payload, self._book)
        if isinstance(request, SealedPlacement):
            return read_placement(request, open_blob(request.blob, sealer.key))
        if isinstance(request, SignedSkip):
            return read_skip(request, open_blob(request.blob, sealer.key))
        if isinstance(request, SignedHost):
            return read_host(request, open_blob(request.blob, sealer.key))
        if isinstance(request, SignedLeave):
            return read_leave(request, open_blob(request.blob, sealer.key))
        if isinstance(request, SignedShot):
            return read_shot(request, self._session.name, open_blob(request.blob, sealer.key))
        assert not isinstance(request, SealedParticipation)
        return request


def _matches(topic_filter: str, topic: str) -> bool:
    wanted, levels = topic_filter.split("/"), topic.split("/")
    return len(wanted) == len(levels) and all(_level(*pair) for pair in zip(wanted, levels, strict=True))


def _level(wanted: str, level: str) -> bool:
    return wanted in ("+", level)


def sent_in_a_turn(bot: Bot, book: RuleBook = SALVO) -> list[Command]:
    """Return what is sent for a bot that plays in a contest, and has the turn with five shots."""
    sealer = Sealer("secret", bytes(16))
    session = Session("me", "secret", generator(2), sealer=sealer)
    playing = Contestant(bot, SeatedTeam(session, Wire()), seed=1, strict=False)
    server = ScriptedServer(session, book)
    for event in server.open_lobby("me", "you"):
        playing.handle(event)
    server.say(m.ServerStatus(True, "0", 1, "open"), retained=True)
    server.say(m.StateChanged(State.TURN))
    session.take_outbox()
    for event in server.begin_turn(1, "me", 5):
        playing.handle(event)
    playing.close()
    return server.commands(sealer)
