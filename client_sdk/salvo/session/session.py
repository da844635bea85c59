"""The session of one team at one table, without a socket and without a clock.

A :class:`Session` is a reducer: :meth:`Session.receive` and :meth:`Session.handle_timer` take what arrived and when,
change the session, and return events: what to ask the player, and what it may learn. Messages to publish wait in
:meth:`Session.take_outbox`. Read :mod:`salvo.session.tables` first: it says what follows from what. Here messages
become the events of those tables; ``joining``, ``placing`` and ``playing`` carry out what the tables ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import ClassVar

from salvo import messages as m
from salvo import topics
from salvo.codec.announcement_reader import read_announcement
from salvo.codec.announcements import SEAT, Publication
from salvo.errors import CODES, IllegalCommand, WireError
from salvo.events import Event, GameTakenUp, HostSeen, Refused, Said, Seated, ServerSeen
from salvo.fairness.witness import Witness
from salvo.messages import State
from salvo.rules import Fleet, RuleBook
from salvo.seal import Sealer
from salvo.session.joining import Joining
from salvo.session.news import Reports, Table
from salvo.session.outbox import Outbox
from salvo.session.placing import Placing
from salvo.session.playing import Playing
from salvo.session.returning import is_old, open_recap
from salvo.session.tables import (
    FOLLOWING,
    RETURNING,
    SERVER,
    JoiningEvent,
    JoiningState,
    PlacingEvent,
    PlayingEvent,
    ReturningEvent,
    ReturningState,
    ServerEvent,
    ServerState,
    SessionAction,
    TableEvent,
    TableState,
)
from salvo.state_machine import E, Machine, S
from salvo.topics import Reader
from salvo.view import Shot, View


class Session:
    """One team at one table; every method but the queries changes this object.

    Attributes:
        wants_to_play: whether to ask for a seat in the next lobby.
        chat: whether the server lets players chat (SALVO-CHAT-7).
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
        self.wants_to_play = True
        self.chat = True
        self.tap: Callable[[m.Announcement, bool], None] | None = None
        self.witness = Witness(name)
        self._table = Table(table, name)
        self._outbox = Outbox(self._table, secret, sealer, self.witness)
        self._joining = Joining(self._table, self._outbox, always_seal=always_seal)
        self._placing = Placing(self._table, self._outbox)
        self._playing = Playing(self._table, self._outbox, random)
        self._returning = Machine(RETURNING, ReturningState.CURRENT)
        self._following = Machine(FOLLOWING, TableState.UNHEARD)
        self._server = Machine(SERVER, ServerState.HERE)
        self._newest_recap: m.Recap | None = None  # of this game
        self._connected_at: float | None = None
        self._reports = Reports(self._table)

    # --- the owner's side ---------------------------------------------------------------------------------------

    @property
    def table(self) -> str:
        """The table's name; empty for the default table."""
        return self._table.name

    @property
    def rules(self) -> RuleBook | None:
        """The table's rules; None before they were announced."""
        return self._table.rules

    @property
    def game(self) -> int:
        """The number of the table's game; 0 before it was announced."""
        return self._table.game

    @property
    def state(self) -> State | None:
        """The state of the table; None before it was announced."""
        state = self._following.state
        if state is TableState.UNHEARD:
            return None
        return State.TURN if state is TableState.DOUBTED else State[state.name]

    @property
    def fleet(self) -> Fleet | None:
        """The fleet of this game: the one to place, or the one that the server has; None before there is one."""
        return self._placing.fleet

    @property
    def view(self) -> View | None:
        """What the player knows of the game in play; None between games."""
        return self._playing.view

    @property
    def listed(self) -> bool:
        """Whether the table's list has this player."""
        return self._table.listed

    def filters(self) -> list[str]:
        """Return the topics to subscribe to: exactly those that this player may read."""
        filters = [
            topic.filter(self.table, player="+" if topic in _OF_ALL_PLAYERS else self.name)
            for topic in topics.TOPICS
            if topic in _READ
        ]
        return [topics.SEAT.filter(player=self.name), *filters]

    def connected(self, now: float = 0.0) -> None:
        """The connection is up and the topics are subscribed: ask for a seat, or for the old one.

        In a game, no turn is answered before the recap has come: the last salvo's result may have been missed, and its
        shots would pass for shots of the current turn. A game may also have begun since the fleet was placed.
        """
        self._connected_at = now
        self._table.listed = False
        self.witness.connected_anew()
        rejoins = self.view is not None or self.fleet is not None
        self._take(self._returning, ReturningEvent.CONNECTED if rejoins else ReturningEvent.CONNECTED_NEW)
        if self._wanted:
            self._ask(now)
        else:
            self._joining.take(JoiningEvent.UNWANTED)

    def take_outbox(self) -> list[Publication]:
        """Return the messages to publish, and clear them."""
        return self._outbox.take()

    def reseed(self, random: Random) -> None:
        """Use another source of randomness from now on."""
        self._playing.reseed(random)

    def place(self, fleet: Fleet, now: float) -> None:
        """Place a fleet, ship by ship; ``now`` is on the monotonic clock."""
        self._placing.choose(fleet, now)

    def fire(self, shots: Sequence[Shot]) -> None:
        """Fire shots of the current turn, signed for exactly this game, turn, shot and target.

        Raises:
            IllegalCommand: ``wrong_state``: there is no game.
        """
        self._playing.fire(shots)

    def skip(self) -> None:
        """End the current turn with the shots fired so far (SALVO-BOOK-7).

        At a server before protocol 1.2, and by rules without skipping, it does nothing: the turn ends at its deadline.

        Raises:
            IllegalCommand: ``wrong_state``: there is no game.
        """
        rules, protocol = self._table.rules, self._table.protocol
        if self.view is None or protocol >= m.V1_2 or (rules is not None and rules.skipping):
            self._playing.skip()

    def leave(self) -> None:
        """Leave the lobby, even with a complete fleet (SALVO-JOIN-15); in a game nothing is sent.

        If it is set to play again, the session asks for a new place once it is off the list.
        """
        self.wants_to_play = False
        if self.state is not State.LOBBY:
            self._joining.take(JoiningEvent.UNWANTED)
            return
        self._placing.take(PlacingEvent.DROPPED)
        self._joining.take(JoiningEvent.LEFT if self._table.listed else JoiningEvent.LEFT_UNLISTED)

    def say(self, text: str, to: str = "") -> Publication:
        """Return the message for a chat line to everybody, or to one other player; it is not part of the game.

        Raises:
            WireError: ``bad_text``, or ``chat_off`` if the chat is off.
        """
        if not self.chat:
            raise WireError("chat_off", "the operator has turned the chat off")
        return self._outbox.say(text, to)

    def missed_log(self, now: float) -> list[Publication]:
        """Return a request for missed entries of the log, if one is due (SALVO-LOG-12)."""
        if self.state not in (State.TURN, State.OVER) or self.name not in self._table.players:
            return []
        first = self.witness.missed(now)
        return [] if first is None else [self._outbox.resend(first)]

    def handle_timer(self, now: float) -> list[Event]:
        """Send again what the server has not answered, since the broker may have lost it; call it regularly."""
        lobby, here = self.state is State.LOBBY, self._server.state is ServerState.HERE
        listed = lobby and self._table.listed
        events = self._placing.tick(now) if listed else []
        wanted = listed if self._joining.state is JoiningState.LEAVING else self._wanted
        may_ask = here and wanted and self._following.state is not TableState.UNHEARD
        events += self._joining.tick(now, may_ask=may_ask, refusal_counts=lobby and not self._has_place)
        self._playing.tick(now, may_send=here and self._returning.state is ReturningState.CURRENT)
        doubts = self.witness.doubts(now)
        if doubts and self.view is not None:
            events += self._take(self._returning, ReturningEvent.DOUBTED, now)
        for request in self.missed_log(now):
            self._outbox.add(request)
        return [*doubts, *events, *self._waiting(now)]

    def receive(self, topic: str, payload: bytes, retained: bool, now: float) -> list[Event]:
        """Apply one message.

        Args:
            retained: whether it was a retained message.
            now: seconds on the monotonic clock.

        Raises:
            WireError: the server at the other end follows another contract.
            ProtocolError: ``other_protocol``: it speaks another major version (SALVO-VERSION-4).
            ImpostorError: ``impostor``: the sender is not the known server.
            UnfairGame: ``unfair``: the server has signed a contradiction.
        """
        try:
            address = topics.parse(topic)
        except WireError:
            return []
        if address.topic is topics.SEAT and not address.table and address.player == self.name:
            return [Seated(SEAT.read(payload) if payload else None)]
        if address.table != self.table or address.topic not in _READ:
            return []
        if address.player not in ("", self.name) and address.topic not in _OF_ALL_PLAYERS:
            return []
        if address.topic is topics.RECAP:
            recap = open_recap(payload, self.name, self._outbox.secret, self._outbox.sealer)
            return [] if recap is None else self._recalled(recap, now)
        if address.topic is topics.LOG:
            return list(self.witness.logged(payload, now))
        announcement = read_announcement(address, payload)
        self._reports.table_known = True
        if self.tap is not None and announcement is not None:
            self.tap(announcement, retained)
        if not retained:
            self.witness.heard(announcement, now)
        return self._apply(announcement, retained, now)

    def _apply(self, announcement: m.Announcement | None, retained: bool, now: float) -> list[Event]:
        playing, table = self._playing, self._table
        match announcement:
            case m.RulesAnnounced():
                table.rules = announcement.book
                table.turn_ms = announcement.turn_seconds * 1000
            case m.ServerStatus():
                return self._server_seen(announcement, retained, now)
            case m.StateChanged(state):
                return self._state_changed(state, retained, now)
            case m.PlayersListed(names):
                return self._players_listed(names, retained, now)
            case m.TurnBegan():
                playing.turn_began(announcement, now, self.fleet)
                return playing.begin_turn() if self._returning.state is ReturningState.CURRENT else []
            case m.ShotLanded(to=_, x=x, y=y):
                playing.landed(x, y)
            case m.SalvoResolved():
                return [*playing.resolved(announcement), *self._end()]
            case m.PlayerStats():
                playing.stats[announcement.player] = announcement
                return self._end()
            case m.GameWon():
                playing.winners = announcement.winners
                return self._end()
            case m.FleetRevealed(player, fleet):
                playing.reveal(player, fleet)
            case m.HostActed() if not retained:
                return [HostSeen(announcement)]
            case m.ChatSaid(sender, text) if not retained:
                return [Said(sender, text, False)]
            case m.MessageSaid(_, sender, text) if not retained:
                return [Said(sender, text, True)]
            case m.PlacementJudged(_, ship, True):
                self._placing.approve(ship)
            case m.CommandRefused(_, code, text):
                return self._refused(code, text, now)
            case m.PlacementRefused(_, ship, code, text):
                self.witness.refused(self.game)
                return self._placing.refused(ship, Refused(code, text))
            case _:
                pass
        return []

    def _take(self, machine: Machine[S, E, SessionAction], event: E, now: float = 0.0) -> list[Event]:
        """Change a machine's state and act as its table says."""
        action = machine.handle(event)
        return [] if action is None else self.DOES[action](self, now) or []

    @property
    def _wanted(self) -> bool:
        """Whether a place, or what happened in its game, is worth asking for."""
        return self.wants_to_play or self.view is not None

    @property
    def _has_place(self) -> bool:
        return self._table.listed or self.fleet is not None or self.view is not None

    def _ask(self, now: float) -> list[Event]:
        """Ask for a place, for the old one, or for the recap."""
        self._joining.awaits_recap = self._returning.state is not ReturningState.CURRENT
        return self._joining.want(now)

    # --- the server and the table -------------------------------------------------------------------------------

    def _server_seen(self, status: m.ServerStatus, retained: bool, now: float) -> list[Event]:
        self.chat = status.chat
        self._table.protocol = status.protocol
        self.witness.newer = status.protocol > m.PROTOCOL
        events = self._joining.meet(status.keys, status.profile)
        if status.keys is not None:
            self.witness.key = status.keys.sign
            self._outbox.meet(status.keys.sign)
        if status.game:
            self._note_game(status.game)
        if not status.status_topic:
            here = status.online and not status.paused
            online = ServerEvent.ONLINE if retained else ServerEvent.ONLINE_NEWS
            self._take(self._server, online if here else ServerEvent.OFFLINE, now)
            events.append(ServerSeen(here))
        return [*events, *self._joining.proceed(now)]

    def _note_game(self, game: int) -> None:
        former = self.game
        if game != former:
            self._take(self._following, TableEvent.CONFIRMED)
        if former and game != former and self.state is State.LOBBY:
            self._placing.take(PlacingEvent.DROPPED)
        self._table.game = game

    def _resume(self, now: float) -> None:
        """In a game as after a new connection; otherwise ask for a place, and treat no ship as approved."""
        if self.view is not None:
            self.connected(now)  # it may repeat old news: only the recap counts
        elif self.wants_to_play:
            self._rejoin(now)

    def _confirm(self, now: float) -> None:
        """In its game as after a new connection; otherwise ask, unless listed or in state `over`."""
        settled = self.state is State.OVER or (self.state is State.LOBBY and self._table.listed)
        if self.view is not None:
            if self.view.game == self.game:
                self.connected(now)
        elif self.wants_to_play and not settled:
            # The request may have been lost. A status comes when a game without this team is cleared, too; then a lobby
            # begins, where the team asks anyway.
            self._rejoin(now)

    def _rejoin(self, now: float) -> None:
        """Ask a server that may have lost its list; otherwise it answers with the recap."""
        self._table.listed = False
        self._placing.doubt()
        self._ask(now)

    def _state_changed(self, state: State, retained: bool, now: float) -> list[Event]:
        event = TableEvent[state.name]
        if event is TableEvent.LOBBY and retained and self.view is not None and self.view.game == self.game:
            event = TableEvent.OLD_LOBBY
        return [*self._take(self._following, event, now), *self._end()]

    def _open_lobby(self, now: float) -> list[Event]:
        """Forget the game, and ask for a place if one is wanted."""
        self._forget_game(now)
        return self._ask(now) if self.wants_to_play else []

    def _forget_game(self, now: float) -> None:
        """Forget the game."""
        self._playing.take(PlayingEvent.FORGOTTEN)
        self._placing.take(PlacingEvent.DROPPED)
        self._take(self._returning, ReturningEvent.FORGOTTEN)
        self._joining.take(JoiningEvent.UNWANTED)
        self._newest_recap = None
        self._table.players, self._table.listed = (), False

    def _players_listed(self, names: tuple[str, ...], retained: bool, now: float) -> list[Event]:
        named = not retained and self.name in names
        if named:
            self._take(self._following, TableEvent.CONFIRMED)
        table = self._table
        was_listed, table.players, table.listed = table.listed, names, self.name in names
        struck_off = was_listed and not table.listed
        if struck_off:
            self.witness.struck_off(self.game)
        if self.state is not State.LOBBY:
            return []
        if named and self.view is None:
            self._take(self._returning, ReturningEvent.NOTHING_MISSED)
        if struck_off:
            self._joining.take(JoiningEvent.STRUCK_OFF)
            self._placing.take(PlacingEvent.DROPPED)
            return self._ask(now) if self.wants_to_play else []
        # A retained list that already has the name means that the team rejoins; then the recap has what to place.
        if named and not was_listed:
            self._joining.take(JoiningEvent.ANSWERED)
            return self._placing.take(PlacingEvent.NEEDED, now)
        return []

    # --- refusals -----------------------------------------------------------------------------------------------

    def _refused(self, code: str, text: str, now: float) -> list[Event]:
        self._joining.answered()
        match code:
            case "not_in_roster" | "sealed_required":
                if not self._has_place:
                    self._joining.refuse_name(Refused(code, text), now)
                return []
            case "name_taken" if self._table.listed or self.fleet is not None:
                if self.fleet is not None or self._joining.state is JoiningState.IDLE:
                    return []  # another program asked for this name and was refused; the name is ours
                return self._reports.name_in_use()
            case "wrong_state":
                return self._refused_by_state(text)
            case "table_full" | "not_invited" | "removed" if not self._table.listed:
                return self._reports.once(code, self.game, Refused(code, text))
            case "placement_timeout":
                self._reports.left_out_of = self.game
                text = CODES[code].meaning  # the server's text is about the time, even if the game began early
            case "turn_timeout" | "bank_empty":
                self._playing.take(PlayingEvent.TIME_UP)
        return [Refused(code, text)]

    def _refused_by_state(self, text: str) -> list[Event]:
        if self.view is None:
            self._joining.take(JoiningEvent.GAME_ON)
            self._take(self._returning, ReturningEvent.NOTHING_MISSED)
        if self._table.listed:
            return [Refused("wrong_state", text)]
        return [] if self.view is not None else self._reports.game_on(self.state)

    def _waiting(self, now: float) -> list[Event]:
        """Report why nothing happens, if nothing does."""
        if self._connected_at is None or self._table.listed or self.view is not None:
            return []
        here = self._server.state is ServerState.HERE
        return self._reports.silence(now - self._connected_at, here and self._joining.unanswered(now))

    # --- the game -----------------------------------------------------------------------------------------------

    def _end(self) -> list[Event]:
        return self._playing.end() if self.state is State.OVER else []

    def _recalled(self, recap: m.Recap, now: float) -> list[Event]:
        """Take up the game where the server has it."""
        table, state = self._table, self._returning.state
        if is_old(recap, self._newest_recap, self.view, self.game, self.state, state):
            return []
        players = table.players = recap.players or table.players
        rules = table.rules
        if rules is None or (recap.turn and not players):
            return self._await_recap(now)  # a broker that was killed has lost the rules; the server repeats them
        self._take(self._following, TableEvent.DENIED if recap.turn else TableEvent.CONFIRMED)
        self._newest_recap, table.players, table.listed, table.game = recap, players, True, recap.game
        if not recap.turn:
            self.witness.came_back(recap.game)
        whole = len(recap.fleet) == len(rules.fleet)
        try:
            fleet = Fleet(rules, recap.fleet) if whole else None
        except IllegalCommand:  # forged rules on an open broker; the server's come again
            return self._await_recap(now)
        self._take(self._returning, ReturningEvent.TAKEN_UP)
        self._joining.take(JoiningEvent.ANSWERED)
        if fleet is None:
            return self._complete_fleet(recap, now)
        self._placing.recall(fleet)
        return self._take_up(recap, rules, fleet, state is not ReturningState.CURRENT) if recap.turn else []

    def _await_recap(self, now: float) -> list[Event]:
        self._take(self._returning, ReturningEvent.UNUSABLE)
        self._joining.awaits_recap = True
        return self._joining.take(JoiningEvent.UNUSABLE, now)

    def _complete_fleet(self, recap: m.Recap, now: float) -> list[Event]:
        """Send what the recap lacks, unless it has only just been sent."""
        self._placing.doubt(recap.fleet)
        on_its_way = self.fleet is not None and self._placing.sent_at >= (self._connected_at or 0.0)
        if on_its_way or self.state is not State.LOBBY:
            return []
        return self._placing.take(PlacingEvent.NEEDED, now)

    def _take_up(self, recap: m.Recap, rules: RuleBook, fleet: Fleet, awaited: bool) -> list[Event]:
        known = self.view is not None
        if not known:
            self.witness.took_up(recap.game, recap.turn)
        self._playing.take_up(recap, rules, fleet, awaited=awaited)
        begun: list[Event] = [] if known else [GameTakenUp(recap.game)]
        return [*begun, *(self._end() if self.state is State.OVER else self._playing.begin_turn())]

    DOES: ClassVar[Mapping[SessionAction, Callable[[Session, float], list[Event] | None]]] = {
        SessionAction.REQUEST_RECAP: _ask,
        SessionAction.OPEN_LOBBY: _open_lobby,
        SessionAction.FORGET_GAME: _forget_game,
        SessionAction.RESUME: _resume,
        SessionAction.CONFIRM: _confirm,
    }


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
