"""The session of one team at one table, without a socket and without a clock.

A :class:`Session` is a reducer: what arrived and when changes its state, and brings about events, what to ask the
player and what it may learn, and messages to publish. Read :mod:`salvo.join.session.tables` first: it says what follows
from what. Here messages become calls of the functions in ``joining``, ``placing``, ``playing``, ``returning`` and
``following``, which turn them into the events of those tables, and do what the tables ask for. All that is known stands
in :class:`~salvo.join.session.state.SessionState`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from salvo import messages as m
from salvo.codec.announcement_reader import read_announcement, read_seat
from salvo.codec.announcements import Publication
from salvo.errors import WireError
from salvo.join.events import Event, HostSeen, Refused, Said, Seated
from salvo.join.fairness.witness import Witness
from salvo.join.session import following, joining, placing, playing, returning
from salvo.join.session.known_table import KnownTable
from salvo.join.session.machine_states import ReturningEvent
from salvo.join.session.outbox import Outbox
from salvo.join.session.state import PendingRequest, SessionState
from salvo.join.session.tables import machines
from salvo.messages import State
from salvo.rules import Fleet, RuleBook, generator
from salvo.view import Feed, Shot, View
from salvo.wire import topics
from salvo.wire.seal import Sealer
from salvo.wire.topics import Reader


class Session:
    """One team at one table; every method but the queries changes this object.

    Attributes:
        name: the team's.
        witness: compares what the server announces with what it signs.
        tap: if set, called with every announcement, and whether it was retained, before its consequences are handled;
            for gateways that translate the news.
    """

    def __init__(
        self,
        name: str,
        secret: str,
        random: Random,
        *,
        table: str = "",
        sealer: Sealer | None = None,
        always_seal: bool = False,
    ) -> None:
        """Prepare a session. Its first command takes 50 ms more than others, to derive the key.

        Args:
            sealer: to use instead of one for the team's secret.
            always_seal: never send the secret openly, because this server is known to have keys: an attacker who
                suppressed its status could read the secret.
            random: source of the bot's draws, passed to the view; :meth:`reseed` changes it for the next game.

        Raises:
            WireError: ``bad_name``.
        """
        self.name = topics.check_name(name)
        self.tap: Callable[[m.Announcement, bool], None] | None = None
        self.witness = Witness(name)
        news = KnownTable(table, name)
        outbox = Outbox(news, secret, sealer, self.witness)
        request = PendingRequest(generator(name, "pauses"), always_seal)
        self._state = SessionState(news, outbox, machines(), request, random)

    # --- what is known ------------------------------------------------------------------------------------------

    @property
    def wants_to_play(self) -> bool:
        """Whether to ask for a seat, in the lobby that is open or in the next one."""
        return self._state.wants_to_play

    @wants_to_play.setter
    def wants_to_play(self, wants: bool) -> None:
        following.wish(self._state, wants)

    @property
    def chat(self) -> bool:
        """Whether the server lets players chat (SALVO-CHAT-7)."""
        return self._state.chat

    @property
    def table(self) -> str:
        """The table's name; empty for the default table."""
        return self._state.table.name

    @property
    def rules(self) -> RuleBook | None:
        """The table's rules; None before they were announced."""
        return self._state.table.rules

    @property
    def game(self) -> int:
        """The number of the table's game; 0 before it was announced."""
        return self._state.table.game

    @property
    def state(self) -> State | None:
        """The state of the table; None before it was announced."""
        return self._state.table_state

    @property
    def fleet(self) -> Fleet | None:
        """The fleet of this game: the one to place, or the one that the server has; None before there is one."""
        return self._state.fleet

    @property
    def view(self) -> View | None:
        """What the player knows of the game in play; None between games."""
        return self._state.view

    @property
    def listed(self) -> bool:
        """Whether the table's list has this player."""
        return self._state.table.listed

    def filters(self) -> list[str]:
        """Return the topics to subscribe to: exactly those that this player may read."""
        filters = [
            topic.filter(self.table, player="+" if topic in _OF_ALL_PLAYERS else self.name)
            for topic in topics.TOPICS
            if topic in _READ
        ]
        return [topics.SEAT.filter(player=self.name), *filters]

    # --- the owner's side ---------------------------------------------------------------------------------------

    def connected(self, now: float = 0.0) -> None:
        """The connection is up and the topics are subscribed: ask for a seat, or for the old one.

        Args:
            now: seconds on the monotonic clock, as everywhere here.
        """
        self._state.now = now
        returning.come_back(self._state)

    def take_outbox(self) -> list[Publication]:
        """Return the messages to publish, and clear them."""
        return self._state.outbox.take()

    def reseed(self, random: Random) -> None:
        """Use another source of randomness from now on."""
        self._state.random = random
        if self.view is not None:
            Feed(self.view).reseed(random)

    def place(self, fleet: Fleet, now: float) -> None:
        """Place a fleet, ship by ship."""
        self._state.now = now
        placing.choose(self._state, fleet)

    def fire(self, shots: Sequence[Shot]) -> None:
        """Fire shots of the current turn, signed for exactly this game, turn, shot and target.

        Raises:
            IllegalCommand: ``wrong_state``: there is no game.
        """
        playing.fire(self._state, shots)

    def skip(self) -> None:
        """End the current turn with the shots fired so far (SALVO-BOOK-7).

        Raises:
            IllegalCommand: ``wrong_state``: there is no game.
        """
        playing.skip(self._state)

    def leave(self) -> None:
        """Leave the lobby, even with a complete fleet (SALVO-JOIN-15); in a game nothing is sent.

        If it is set to play again, the session asks for a new place once it is off the list.
        """
        following.leave(self._state)

    def say(self, text: str, to: str = "") -> Publication:
        """Return the message for a chat line to everybody, or to one other player; it is not part of the game.

        Raises:
            WireError: ``bad_text``, or ``chat_off`` if the chat is off.
        """
        if not self.chat:
            raise WireError("chat_off", "the operator has turned the chat off")
        return self._state.outbox.say(text, to)

    def missed_log(self, now: float) -> list[Publication]:
        """Return a request for missed entries of the log, if one is due (SALVO-LOG-12)."""
        if self.state not in (State.TURN, State.OVER) or self.name not in self._state.table.players:
            return []
        first = self.witness.missed(now)
        return [] if first is None else [self._state.outbox.resend(first)]

    def handle_timer(self, now: float) -> list[Event]:
        """Send again what the server has not answered, since the broker may have lost it; call it regularly."""
        state = self._state
        state.now = now
        doubts = self.witness.doubts(now)
        state.events += doubts
        placing.tick(state)
        joining.tick(state)
        playing.tick(state)
        if doubts and state.in_game:
            state.take(ReturningEvent.DOUBTED)
        for request in self.missed_log(now):
            state.outbox.add(request)
        joining.report_waiting(state)
        return self._take_events()

    # --- the news -----------------------------------------------------------------------------------------------

    def receive(self, topic: str, payload: bytes, retained: bool, now: float) -> list[Event]:
        """Apply one message.

        Args:
            retained: whether it was a retained message.

        Raises:
            WireError: the server at the other end follows another contract.
            ProtocolError: ``other_protocol``: it speaks another major version (SALVO-VERSION-4).
            ImpostorError: ``impostor``: the sender is not the known server.
            UnfairGame: ``unfair``: the server has signed a contradiction.
        """
        self._state.now = now
        try:
            address = topics.parse(topic)
        except WireError:
            return []
        if address.topic is topics.SEAT and not address.table and address.player == self.name:
            return [Seated(read_seat(payload))]
        if not self._reads(address):
            return []
        if address.topic is topics.LOG:
            return list(self.witness.logged(payload, now))
        if address.topic is topics.RECAP:
            returning.recalled(self._state, payload)
        else:
            self._announced(read_announcement(address, payload), retained)
        return self._take_events()

    def _reads(self, address: topics.Address) -> bool:
        if address.table != self.table or address.topic not in _READ:
            return False
        return address.player in ("", self.name) or address.topic in _OF_ALL_PLAYERS

    def _announced(self, announcement: m.Announcement | None, retained: bool) -> None:
        self._state.reports.table_known = True
        if self.tap is not None and announcement is not None:
            self.tap(announcement, retained)
        if not retained:
            self.witness.receive(announcement, self._state.now)
        if announcement is not None:
            _apply(self._state, announcement, retained)

    def _take_events(self) -> list[Event]:
        events, self._state.events = self._state.events, []
        return events


def _apply(session: SessionState, announcement: m.Announcement, retained: bool) -> None:
    match announcement:
        case m.RulesAnnounced():
            session.table.rules = announcement.book
            session.table.turn_ms = announcement.turn_seconds * 1000
        case m.ServerStatus():
            following.server_seen(session, announcement, retained)
        case m.StateChanged(state):
            following.state_changed(session, state, retained)
        case m.PlayersListed(names):
            following.players_listed(session, names, retained)
        case m.TurnBegan():
            playing.turn_began(session, announcement)
        case m.ShotLanded(to=_, x=x, y=y):
            playing.landed(session, x, y)
        case m.SalvoResolved():
            playing.resolved(session, announcement)
        case m.PlayerStats():
            session.play.stats[announcement.player] = announcement
            playing.end(session)
        case m.GameWon():
            session.play.winners = announcement.winners
            playing.end(session)
        case m.FleetRevealed(player, fleet):
            playing.reveal(session, player, fleet)
        case m.HostActed():
            # What a host announced while the connection was down, such as why a game does not go on, is news.
            is_new = announcement != session.host_acted
            missed = announcement.do is m.HostAction.ANNOUNCE and is_new
            # A server that comes back publishes again what was done last; nobody pauses or resumes twice in a row.
            repeated = not is_new and announcement.do in (m.HostAction.PAUSE, m.HostAction.RESUME)
            session.host_acted = announcement
            if missed or not (retained or repeated):
                session.events.append(HostSeen(announcement))
        case m.ChatPublished(sender, text) if not retained:
            session.events.append(Said(sender, text, False))
        case m.MessagePublished(_, sender, text) if not retained:
            session.events.append(Said(sender, text, True))
        case m.PlacementJudged(_, ship, True):
            placing.approve(session, ship)
        case m.CommandRefused(_, code, text):
            joining.refused(session, code, text)
        case m.PlacementRefused(_, ship, code, text):
            placing.refused(session, ship, Refused(code, text))
        case _:
            pass


#: Topics of its table that a session reads; the other public ones repeat them in the specification's form.
_READ = frozenset(
    {
        *(topic for topic in topics.TOPICS if topic.reader is Reader.OWNER and topic is not topics.SEAT),
        topics.STATE,
        topics.LIST,
        topics.APPROVED,
        topics.TURN,
        topics.RESULT,
        topics.STATS,
        topics.WINNER,
        topics.RULES,
        topics.SERVER,
        topics.FLEET,
        topics.LOG,
        topics.CHAT,
        topics.HOSTED,
    }
)
#: Topics that a session reads for all players; of the others, only those of its own player.
_OF_ALL_PLAYERS = frozenset({topics.STATS, topics.FLEET})
