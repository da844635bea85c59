"""One player's side of the protocol, without a socket and without a clock.

A :class:`Session` takes in what arrived and when, and returns events: what to ask the bot, and what the bot may learn.
Messages to publish come out as :class:`~salvo.codec.Publication`. It asks to take part, notices when it is listed,
builds the :class:`~salvo.view.View` from the news, or from the recap when the team comes back in mid-game, and
recognises repetitions by game and turn.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from random import Random

from salvo import codec, topics
from salvo import messages as m
from salvo.codec.log import message_digest
from salvo.errors import CODES, IllegalCommand, ImpostorError, SealError, WireError
from salvo.events import (
    Event,
    FleetWanted,
    GameEnded,
    GameTakenUp,
    Refused,
    Said,
    SalvoHeard,
    SalvoWanted,
    ServerMet,
    ServerSeen,
    Waits,
)
from salvo.fairness.witness import Witness
from salvo.messages import State
from salvo.rules import Fleet, Placement, RuleBook, generator
from salvo.seal import MAX_RECAP_BLOB_BYTES, Sealer, derive_key, fingerprint, key_to_team, open_blob, parse_blob
from salvo.topics import Reader
from salvo.view import Shot, View

#: How long a placement or a salvo may go unanswered before it is sent again. A server that derives keys for a
#: full queue answers within three seconds; under a flood it may drop the first message, which a second one makes up
#: for.
PATIENCE_SECONDS = 3.0
#: The shortest and the longest pause between two requests to take part. Each is random, so that teams whose requests
#: were lost in one flood do not all ask again at once.
ASK_AGAIN_SECONDS = (3.0, 8.0)
#: A salvo is sent again after at most this share of the turn's time, so that even a short turn has room for it.
PATIENCE_SHARE = 1 / 3
#: How long to wait for ``/game/server``, which tells whether to seal the secret. It is retained, so it comes with the
#: first messages; a server of the plain specification has no such topic, and its teams have a minute to place.
SERVER_SECONDS = 2.0
#: After this long without news, the cause is probably wrong settings: retained messages come at once, answers soon.
SILENCE_SECONDS = 5.0


class Session:
    """One team at one table.

    Attributes:
        wants_to_play: whether to ask for a seat in the next lobby.
        view: what the player knows of the game in play; None between games.
        outbox: messages to publish, in order; the owner sends and clears them with :meth:`take_outbox`.
        chat: whether the server lets players chat (SALVO-CHAT-7).
        witness: compares what the server says with what it signs.
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
        """Prepare a session; deriving the key takes about 50 ms unless a sealer is given.

        Args:
            always_seal: never send the secret openly, because this server is known to have keys: an attacker who
                suppressed its status could read the secret.
            random: source of the bot's draws, passed to the view; :meth:`reseed` changes it for the next game.

        Raises:
            WireError: ``bad_name``.
        """
        self.name = topics.check_name(name)
        self.table = table
        self.wants_to_play = True
        self.chat = True
        self.view: View | None = None
        self.rules: RuleBook | None = None
        self.game = 0
        self.state: State | None = None
        self._secret = secret
        self._random = random
        self._sealer = sealer or Sealer(secret)
        self._outbox: list[codec.Publication] = []
        self._players: tuple[str, ...] = ()
        self._left_out_of: int | None = None  # the game whose lobby the team left without a complete fleet
        self._listed = False
        self._fleet: Fleet | None = None
        self._approved: set[str] = set()
        self._placed_at = 0.0
        self._turn: m.TurnBegan | None = None
        self._turn_ms = 0
        self._turn_deadline: float | None = None
        self._asked: tuple[int, int] | None = None
        self._skipped: m.TurnContext | None = None
        self._answered: m.TurnContext | None = None  # the last turn in which the player fired or skipped
        self._salvo_sent_at: float | None = None  # while its result is awaited
        self._asked_to_return_at: float | None = None  # while the recap is awaited
        self._last_recap: m.Recap | None = None  # the newest one of this game
        self._doubting = False  # whether to rely on the recap alone
        self._server_away = False
        self._doubtful_lobby = False
        self._stats: dict[str, m.PlayerStats] = {}
        self._winners: tuple[str, ...] = ()
        self._ended_game = 0
        self.witness = Witness(name)
        self.tap: Callable[[m.Announcement, bool], None] | None = None
        self._always_seal = always_seal
        self._keys: m.ServerKeys | None = None
        self._server_met = False
        self._waits_since: float | None = None  # with the request, for /game/server
        self._connected_at: float | None = None
        self._heard_of_table = False
        self._unanswered_since: float | None = None  # the request to take part
        self._ask_again_at: float | None = None  # while there is neither a seat nor a recap
        self._pauses = generator(name, "pauses")  # not the bot's: a lost message must not change what it draws
        self._told: set[tuple[str, int]] = set()  # reasons to wait that were reported, and in which game
        self._rejection: tuple[float, Refused] | None = None  # it may be meant for another program that used the name

    # --- the owner's side ---------------------------------------------------------------------------------------

    @property
    def fleet(self) -> Fleet | None:
        """The fleet of this game: the one to place, or the one that the server has; None before there is one."""
        return self._fleet

    def filters(self) -> list[str]:
        """Return the topics to subscribe to: exactly those that this player may read."""
        own = [topic for topic in topics.TOPICS if topic.reader is Reader.OWNER]
        public = [topic for topic in topics.TOPICS if topic.reader is Reader.EVERYBODY and topic in _HEARD]
        filters = [topic.filter(self.table) for topic in [*public, *own]]
        everybody_s = topics.FLEET.filter(self.table)
        return [
            wanted if wanted == everybody_s else wanted.replace("/players/+/", f"/players/{self.name}/", 1)
            for wanted in filters
        ]

    def connected(self, now: float = 0.0) -> None:
        """The connection is up and the topics are subscribed: ask for a seat, or for the old one.

        In a game, no turn is answered before the recap has come: the last salvo's result may have been missed, and its
        shots would pass for shots of the current turn. A game may also have begun since the fleet was placed.
        """
        self._listed = False
        self.witness.connected_anew()
        self._asked_to_return_at = now if self.view is not None or self._fleet is not None else None
        self._waits_since = None
        self._forget_request()
        self._connected_at = now
        if self.wants_to_play or self.view is not None:
            self._ask_to_take_part(now)

    def take_outbox(self) -> list[codec.Publication]:
        """Return the messages to publish, and clear them."""
        outbox, self._outbox = self._outbox, []
        return outbox

    def reseed(self, random: Random) -> None:
        """Use another source of randomness from now on."""
        self._random = random
        if self.view is not None:
            self.view.reseed(random)

    def place(self, fleet: Fleet, now: float) -> None:
        """Place a fleet, ship by ship; ``now`` is on the monotonic clock."""
        self._fleet = fleet
        self._approved = set()
        self._send_fleet(now)

    def handle_timer(self, now: float) -> list[Event]:
        """Send again what the server has not answered, since the broker may have lost it; call it regularly."""
        waiting = self.state is State.LOBBY and self._listed and self._fleet is not None
        if waiting and now - self._placed_at > PATIENCE_SECONDS:
            self._send_fleet(now)
        if self._asked_to_return_at is not None and now - self._asked_to_return_at > PATIENCE_SECONDS:
            self._asked_to_return_at = now
            self._ask_to_take_part(now)
        self._ask_again(now)
        self._send_salvo_again(now)
        if self._waits_since is not None and now - self._waits_since > SERVER_SECONDS and not self._always_seal:
            self._send_request(now)
        doubts = self.witness.doubts(now)
        if doubts and self.view is not None and self._asked_to_return_at is None:
            self._doubting = True  # the recap is sealed with the team's key, so it is genuine
            self._ask_to_take_part(now)
        self._outbox += self.missed_log(now)
        return [*doubts, *self._turned_away(now), *self._waiting(now)]

    def _waiting(self, now: float) -> list[Event]:
        """Report why nothing happens, if nothing does."""
        if self._connected_at is None or self._listed or self.view is not None:
            return []
        if not self._heard_of_table:
            if now - self._connected_at <= SILENCE_SECONDS:
                return []
            where = f"table {self.table!r}" if self.table else "the default table"
            return self._wait("no_server", f"nothing is heard at {where}: there is no such table, or no server yet")
        asked = self._unanswered_since
        if asked is None or now - asked <= SILENCE_SECONDS or self._server_away:
            return []
        return self._wait(
            "no_answer",
            f"the request to take part is not answered; is {self.name!r} a team of this contest? From others, such as "
            "watchers, the broker drops it without a word",
        )

    def _wait(self, code: str, text: str, game: int = 0) -> list[Event]:
        return self._once(code, game, Waits(code, f"{text}; waiting"))

    def _once(self, code: str, game: int, event: Event) -> list[Event]:
        if (code, game) in self._told:
            return []
        self._told.add((code, game))
        return [event]

    def missed_log(self, now: float) -> list[codec.Publication]:
        """Return a request for missed entries of the log, if one is due (SALVO-LOG-12)."""
        if self.state not in (State.TURN, State.OVER) or self.name not in self._players:
            return []
        first = self.witness.missed(now)
        if first is None:
            return []
        topic = topics.RESEND.of(self.table, player=self.name)
        return [codec.Publication(topic, codec.write_resend(first), False)]

    def _send_fleet(self, now: float) -> None:
        assert self._fleet is not None
        self._placed_at = now
        missing = [placement for placement in self._fleet.placements if placement.ship not in self._approved]
        messages = []
        for placement in missing:
            topic = topics.PLACE.of(self.table, player=self.name, ship=placement.ship)
            payload = codec.write_placement(placement, self._sealer)
            messages.append(message_digest(topic, payload))
            self._outbox.append(codec.Publication(topic, payload, False))
        if missing:
            self.witness.placed(self.game, missing, messages)

    def fire(self, shots: Sequence[Shot]) -> None:
        """Fire shots of the current turn, signed for exactly this game, turn, shot and target."""
        view = self.view
        assert view is not None, "fire() answers SalvoWanted"
        self._send_shots(view, shots)
        view.shots -= len(shots)
        self._answered = m.TurnContext(view.game, view.turn)

    def skip(self) -> None:
        """End the current turn with the shots fired so far (SALVO-BOOK-7)."""
        view = self.view
        assert view is not None, "skip() answers SalvoWanted"
        self._answered = m.TurnContext(view.game, view.turn)
        self._send_skip(self._answered)
        view.shots = 0

    def leave(self) -> None:
        """Leave the lobby, even with a complete fleet (SALVO-JOIN-15); in a game nothing is sent.

        If it is set to play again, the session asks for a new place once it is off the list.
        """
        self.wants_to_play = False
        self._waits_since = None
        self._forget_request()
        if self.state is State.LOBBY:
            self._fleet = None
            payload = codec.write_leave(self.game or None, self._sealer)
            self._outbox.append(codec.Publication(topics.LEAVE.of(self.table, player=self.name), payload, False))

    def say(self, text: str, to: str = "") -> codec.Publication:
        """Return the message for a chat line to everybody, or to one other player; it is not part of the game.

        Raises:
            WireError: ``bad_text``, or ``chat_off`` where nobody may say anything.
        """
        if not self.chat:
            raise WireError("chat_off", "whoever runs this contest has turned the chat off")
        return codec.Publication(topics.SAY.of(self.table, player=self.name), codec.write_say(text, to), False)

    def _send_skip(self, context: m.TurnContext) -> None:
        self._skipped = context
        payload = codec.write_skip(context, self._sealer)
        self.witness.skipped(context)
        self._outbox.append(codec.Publication(topics.SKIP.of(self.table, player=self.name), payload, False))

    def _send_shots(self, view: View, shots: Sequence[Shot]) -> None:
        """Send shots after those of this turn that the view has as fired, and add them to the view."""
        self._send_numbered(view, shots, len(view.fired_this_turn) + 1)
        view.fired(shots)

    def _send_numbered(self, view: View, shots: Sequence[Shot], first: int) -> None:
        """Sign shots for the view's turn, numbered from ``first``, and send them."""
        for number, shot in enumerate(shots, start=first):
            context = m.ShotContext(view.game, view.turn, number, shot.player)
            payload = codec.write_shot(shot.x, shot.y, context, self._sealer)
            self.witness.fired(context, shot)
            self._outbox.append(codec.Publication(topics.FIRE.of(self.table, player=shot.player), payload, False))

    def _send_salvo_again(self, now: float) -> None:
        """Send the shots and the skip of the own turn again if no result has followed (SALVO-FIRE-13).

        Game, turn and number keep each from counting twice. They are signed again, because nonces are used up.
        """
        view, turn = self.view, self._turn
        if view is None or turn is None or not self._awaits_result(view, turn, now):
            self._salvo_sent_at = None
        elif self._salvo_sent_at is None:
            self._salvo_sent_at = now
        elif now - self._salvo_sent_at > min(PATIENCE_SECONDS, PATIENCE_SHARE * (turn.deadline - turn.now) / 1000):
            self._salvo_sent_at = now
            self._send_numbered(view, view.fired_this_turn, 1)
            if self._skipped is not None and self._skipped == self._answered:
                self._send_skip(self._skipped)

    def _awaits_result(self, view: View, turn: m.TurnBegan, now: float) -> bool:
        """Whether the player has answered a turn that is still on, while the server was online."""
        answered = self._answered == m.TurnContext(turn.game, turn.turn) and view.game == turn.game
        on = view.resolved_turn < turn.turn and self._turn_deadline is not None and now < self._turn_deadline
        return answered and on and not self._server_away and self._asked_to_return_at is None

    def receive(self, topic: str, payload: bytes, retained: bool, now: float) -> list[Event]:
        """Take in one message.

        Args:
            retained: whether it was a retained message.
            now: seconds on the monotonic clock.

        Raises:
            WireError: the server at the other end follows another contract.
            ImpostorError: ``impostor``: the sender is not the known server.
            UnfairGame: ``unfair``: the server has signed a contradiction.
        """
        try:
            address = topics.parse(topic)
        except WireError:
            return []
        if address.table != self.table or address.topic not in _HEARD_OR_OWN:
            return []
        if address.player not in ("", self.name) and address.topic not in _OF_ALL_PLAYERS:
            return []
        if address.topic is topics.RECAP:
            return self._recalled(payload, now)
        if address.topic is topics.LOG:
            return list(self.witness.logged(payload))
        announcement = codec.read_announcement(address, payload)
        self._heard_of_table = True
        if self.tap is not None and announcement is not None:
            self.tap(announcement, retained)
        if not retained:
            self.witness.heard(announcement, now)
        return self._heard(announcement, retained, now)

    def _heard(self, announcement: m.Announcement | None, retained: bool, now: float) -> list[Event]:
        match announcement:
            case m.RulesAnnounced():
                self.rules = announcement.book
                self._turn_ms = announcement.turn_seconds * 1000
            case m.ServerStatus():
                return self._server_seen(announcement, retained, now)
            case m.StateChanged(state):
                return self._state_changed(state, retained, now)
            case m.PlayersListed(names):
                return self._players_listed(names, retained, now)
            case m.TurnBegan():
                return self._turn_began(announcement, now)
            case m.ShotLanded(to=_, x=x, y=y):
                if self.view is not None:
                    self.view.landed(Shot(self.name, x, y))
            case m.SalvoResolved():
                return self._salvo_resolved(announcement)
            case m.PlayerStats(player=player):
                self._stats[player] = announcement
                return self._game_ended()
            case m.GameWon():
                self._winners = announcement.winners
                return self._game_ended()
            case m.FleetRevealed(player, fleet):
                self._reveal(player, fleet)
            case m.ChatSaid(sender, text) if not retained:
                return [Said(sender, text, False)]
            case m.MessageSaid(_, sender, text) if not retained:
                return [Said(sender, text, True)]
            case m.PlacementJudged(_, ship, True):
                self._approved.add(ship)
            case m.CommandRefused(_, code, text) | m.PlacementRefused(_, _, code, text):
                if isinstance(announcement, m.PlacementRefused):
                    self.witness.refused(self.game)
                return self._refused(code, text, now)
            case _:
                pass
        return []

    # --- lobby --------------------------------------------------------------------------------------------------

    def _ask_to_take_part(self, now: float) -> None:
        """Ask, as soon as it is known whether to seal the secret (SALVO-IDENT-4)."""
        if self._server_met:
            self._send_request(now)
        elif self._waits_since is None:
            self._waits_since = now

    def _ask_again(self, now: float) -> None:
        """Ask again for a seat, or for the old one, while there is no answer (SALVO-JOIN-16).

        So does a team that was refused in a lobby: the refusal may be meant for another program that used its name,
        and a seat may become free at a full table.
        """
        due = self._ask_again_at is not None and now > self._ask_again_at
        wanted = self.wants_to_play or self.view is not None
        if due and wanted and self.state is not None and not self._server_away:
            self._send_request(now)

    def _send_request(self, now: float) -> None:
        self._waits_since = None
        self._ask_again_at = now + self._pauses.uniform(*ASK_AGAIN_SECONDS)
        if self._unanswered_since is None:
            self._unanswered_since = now
        sealing_key = None if self._keys is None else self._keys.seal
        payload = codec.write_participation(self.name, self._secret, sealing_key)
        self._outbox.append(codec.Publication(topics.REQUEST_PARTICIPATION.of(self.table), payload, False))

    def _meet(self, keys: m.ServerKeys | None, profile: str) -> list[Event]:
        """Take in the server's identity, which is fixed for the length of the session (SALVO-IDENT-2).

        Only the key ``sign`` identifies it. A server without keys may be given some at any time.
        """
        if self._keys is not None and (keys is None or keys.sign != self._keys.sign):
            now_known = "has no key" if keys is None else f"is {fingerprint(keys.sign)}"
            raise ImpostorError(
                "impostor",
                f"the server is {fingerprint(self._keys.sign)}, but who speaks in its place now {now_known}; start "
                "again if the operator says that the server has a new identity",
            )
        if keys is None and self._always_seal:
            return [ServerMet(None, profile)]  # and the request keeps waiting
        met, self._server_met = self._server_met and self._keys == keys, True
        self._keys = keys
        if keys is not None:
            self.witness.key = keys.sign
        return [] if met else [ServerMet(keys, profile)]

    def _server_seen(self, status: m.ServerStatus, retained: bool, now: float) -> list[Event]:
        self.chat = status.chat
        events = [*self._meet(status.keys, status.profile), *self._status_seen(status, retained, now)]
        if self._waits_since is not None and self._server_met:
            self._send_request(now)
        return events

    def _status_seen(self, status: m.ServerStatus, retained: bool, now: float) -> list[Event]:
        if status.game:
            if self._doubtful_lobby and status.game != self.game:
                self._believe_lobby()
            if self.state is State.LOBBY and self.game and status.game != self.game:
                self._fleet = None
            self.game = status.game
        if status.status_topic:
            return []
        here = status.online and not status.paused
        was_away, self._server_away = self._server_away, not here
        # A server publishes its status after every connection, even if its absence went unnoticed.
        if here and (was_away or not retained):
            self._server_is_here(status, was_away, now)
        return [ServerSeen(here)]

    def _server_is_here(self, status: m.ServerStatus, was_away: bool, now: float) -> None:
        if self.view is not None:
            if was_away or self.view.game == status.game:
                self.connected(now)  # it may repeat old news: only the recap counts
        elif self.wants_to_play and (
            was_away or self.state in (None, State.TURN) or (self.state is State.LOBBY and not self._listed)
        ):
            # The request may have been lost, or the server may have lost its list; otherwise it answers with the recap.
            # It also publishes its status when a game without this team is cleared; then a lobby begins, where the team
            # asks anyway.
            self._listed = False
            self._approved = set()
            self._ask_to_take_part(now)

    def _state_changed(self, state: State, retained: bool, now: float) -> list[Event]:
        if state is State.LOBBY and retained and self.view is not None and self.view.game == self.game:
            self._doubtful_lobby = True  # a broker that was killed may have kept an old one; wait and see
            return []
        self._doubtful_lobby = False
        before, self.state = self.state, state
        if state is State.LOBBY and before not in (None, State.LOBBY):
            self._forget_game()
            if self.wants_to_play:
                self._ask_to_take_part(now)
        return self._game_ended()

    def _believe_lobby(self) -> None:
        """The game in play is gone: the server opens another one, or has listed the team again."""
        self._doubtful_lobby = False
        self.state = State.LOBBY
        self._forget_game()

    def _forget_game(self) -> None:
        self.view = None
        self._fleet = None
        self._turn = None
        self._asked = None
        self._skipped = None
        self._asked_to_return_at = None
        self._last_recap = None
        self._doubting = False
        self._rejection = None
        self._listed = False
        self._players = ()
        self._stats = {}
        self._winners = ()

    def _players_listed(self, names: tuple[str, ...], retained: bool, now: float) -> list[Event]:
        if self._doubtful_lobby and not retained and self.name in names:
            self._believe_lobby()
        if self.view is None and self.state is State.LOBBY and not retained and self.name in names:
            self._asked_to_return_at = None  # listed again: there is no game to come back to
        self._players = names
        was_listed, self._listed = self._listed, self.name in names
        if was_listed and not self._listed:
            self.witness.struck_off(self.game)
        if self.state is not State.LOBBY:
            return []
        if was_listed and not self._listed and self.wants_to_play:
            self._fleet = None
            self._ask_to_take_part(now)  # removed from the list: the fleet was not complete in time
        # A retained list that already has the name means that the team comes back; then the recap has what to place.
        if self._listed:
            self._left_out_of = None
        if self._listed and not was_listed and not retained:
            self._forget_request()
            return self._want_fleet(now)
        return []

    def _forget_request(self) -> None:
        self._unanswered_since = self._ask_again_at = None

    def _want_fleet(self, now: float) -> list[Event]:
        """Send the missing ships of this game's fleet; ask the player for a fleet if there is none yet."""
        if self._fleet is not None:
            self._send_fleet(now)
            return []
        return [FleetWanted(self.rules, self.game)] if self.rules is not None else []

    def _refused(self, code: str, text: str, now: float) -> list[Event]:
        self._unanswered_since = None
        if code == "placement_timeout":
            self._left_out_of = self.game
            text = CODES[code].meaning  # the server's text is about the time, even if the game began early
        if code in _OF_THE_NAME:
            if self._rejection is None and not self._has_place:
                self._ask_again_at = now  # our own request may be lost
            self._rejection = self._rejection or (now, Refused(code, text))
            return []
        if code == "wrong_state":
            self._ask_again_at = None
        if code in ("turn_timeout", "bank_empty"):
            self._answered = None  # further shots would be out of turn, though the result may not be here yet
        if code == "wrong_state" and self.view is None:
            self._asked_to_return_at = None
        if code == "wrong_state" and not self._listed:
            if self.view is not None:
                return []
            game = f"game {self.game}" if self.game else "a game"
            how = "over" if self.state is State.OVER else "on"
            if self._left_out_of == self.game and self.state is State.TURN:
                how = f"on; it began with {', '.join(self._players)}, whose fleets were complete first"
            return self._wait("game_on", f"{game} is {how}; {self.name} plays the next one", self.game)
        if code == "name_taken" and (self._listed or self._fleet is not None):
            return []  # another program asked for this name and was refused; the name is ours
        if code == "table_full":
            return self._once(code, self.game, Refused(code, text))
        return [Refused(code, text)]

    @property
    def _has_place(self) -> bool:
        return self._listed or self._fleet is not None or self.view is not None

    def _turned_away(self, now: float) -> list[Event]:
        """Accept a refusal once a lobby has not listed the team in spite of its request.

        The refusal goes to the name, and anyone can ask in this name with a wrong secret; but a team that asks with the
        right one is listed at once.
        """
        if self._rejection is None or self._has_place:
            self._rejection = None
            return []
        heard, refused = self._rejection
        if self.state is not State.LOBBY or now - heard <= PATIENCE_SECONDS:
            return []
        self._rejection = None
        return [refused]

    # --- the game -----------------------------------------------------------------------------------------------

    def _turn_began(self, turn: m.TurnBegan, now: float) -> list[Event]:
        if self._turn is not None and (turn.game, turn.turn) < (self._turn.game, self._turn.turn):
            return []
        known = self._turn is not None and (turn.game, turn.turn) == (self._turn.game, self._turn.turn)
        self._turn = turn
        self._turn_deadline = now + (turn.deadline - turn.now) / 1000
        if known:  # repeated, or its time started again
            if self.view is not None:
                self.view.extend(self._turn_deadline)
            return []
        if self._fleet is not None and self.rules is not None and self.name in self._players:
            if self.view is None or self.view.game != turn.game:
                self.view = View(self.rules, self.name, self._players, turn.game, self._fleet, self._random)
            return self._consider_turn()
        return []

    def _consider_turn(self) -> list[Event]:
        """Ask the player, once per turn, for the shots that it has not fired yet."""
        turn, view = self._turn, self.view
        if turn is None or view is None or view.game != turn.game or self._asked == (turn.game, turn.turn):
            return []
        if self._asked_to_return_at is not None:
            return []
        if view.resolved_turn >= turn.turn:
            return []  # the recap knows more than the news so far
        self._asked = (turn.game, turn.turn)
        mine = turn.player == self.name
        left = turn.shots - len(view.fired_this_turn) if mine else 0
        self._begin_turn(view, turn, left)
        return [SalvoWanted(view)] if left else []

    def _begin_turn(self, view: View, turn: m.TurnBegan, left: int) -> None:
        view.begin_turn(turn.turn, left, self._turn_deadline)
        view.limited_by = "bank_empty" if turn.deadline - turn.now < self._turn_ms else "turn_timeout"

    def _salvo_resolved(self, result: m.SalvoResolved) -> list[Event]:
        view = self.view
        if view is None or result.game != view.game:
            return []
        if result.turn <= view.resolved_turn:
            return []
        view.resolved(result)
        return [SalvoHeard(result), *self._game_ended()]

    def _game_ended(self) -> list[Event]:
        """Report how the game ended, once everything about its end is there.

        After a broker was killed, state, winner and statistics come in any order, and some may belong to another game:
        they count only if they agree with the view.
        """
        view = self.view
        if view is None or self.state is not State.OVER or self._ended_game == view.game:
            return []
        winners = view.winners
        if not winners or set(winners) != set(self._winners) or not self._stats.keys() >= set(view.players):
            return []
        self._ended_game = view.game
        winner = winners[0] if len(winners) == 1 else ""
        return [GameEnded(view.game, winner, {player: self._stats[player] for player in view.players})]

    def _reveal(self, player: str, ships: tuple[Placement, ...]) -> None:
        if self.view is not None and self.rules is not None and player in self.view.players:
            with contextlib.suppress(IllegalCommand):  # from another game: a broker that was killed may have kept it
                self.view.revealed[player] = Fleet(self.rules, ships)

    # --- coming back --------------------------------------------------------------------------------------------

    def _recalled(self, payload: bytes, now: float) -> list[Event]:
        """Take up the game where the server has it; a recap that does not open is ignored."""
        try:
            blob = parse_blob(payload.decode(), MAX_RECAP_BLOB_BYTES)
            key = self._sealer.key if blob.salt == self._sealer.salt else derive_key(self._secret, blob.salt)
            recap = codec.read_recap(self.name, open_blob(blob, key_to_team(key)))
        except (SealError, WireError, UnicodeDecodeError):
            return []
        if self._is_old(recap):
            return []
        self._listed = True
        self._players = recap.players or self._players
        if self.rules is None or (recap.turn and not self._players):
            self._asked_to_return_at = now  # a broker that was killed has lost the rules; the server repeats them
            return []
        awaited, self._asked_to_return_at = self._asked_to_return_at is not None, None
        self._forget_request()
        self._last_recap, self._doubting = recap, False
        self.game = recap.game
        if recap.turn == 0:
            self.witness.came_back(recap.game)
        if self._doubtful_lobby and recap.turn == 0:
            self._believe_lobby()
            self._listed = True
        self._doubtful_lobby = False
        if len(recap.fleet) < len(self.rules.fleet):
            if self._fleet is not None:
                self._approved = {place.ship for place in recap.fleet if place in self._fleet.placements}
            on_its_way = self._fleet is not None and self._placed_at >= (self._connected_at or 0.0)
            return self._want_fleet(now) if self.state is State.LOBBY and not on_its_way else []
        try:
            self._fleet = Fleet(self.rules, recap.fleet)
        except IllegalCommand:  # forged rules on an open broker; the server's come again
            self._asked_to_return_at = now
            return []
        self._approved = set(self.rules.ship_number)
        if recap.turn == 0:
            return []
        known = self.view
        if known is None:
            self.witness.took_up(recap.game, recap.turn)
        self.view = self._rebuild(recap, self._fleet)
        if known is not None and known.game == self.view.game:
            self._go_on_from(known, self.view, awaited)
        else:
            self._asked = None
        begun: list[Event] = [] if known is not None else [GameTakenUp(recap.game)]
        if self.state is State.OVER:
            return begun + self._game_ended()
        return begun + self._consider_turn()

    def _go_on_from(self, known: View, view: View, awaited: bool) -> None:
        """Take over what the recap lacks: messages on their way, and how much of a turn is still unanswered."""
        on_their_way = known.fired_this_turn[len(view.fired_this_turn) :]
        if known.turns_known != view.turns_known:
            pass
        elif not awaited:  # a second one, requested before the first had come: what it lacks has been sent again
            view.fired(on_their_way)
        else:
            # A broker that was killed may have lost them, or only the first, in which case the others were refused and
            # their nonces are used up. So they are signed again; game, turn and number keep each from counting twice.
            self._send_shots(view, on_their_way)
        view.untouched.go_on_from(known.untouched)
        turn = self._turn
        if turn is None or self._asked != (turn.game, turn.turn) or view.resolved_turn >= turn.turn:
            return
        # The player may still be thinking: it is not asked again, and its answer stays valid.
        self._begin_turn(view, turn, min(known.shots, turn.shots - len(view.fired_this_turn)))
        skip = m.TurnContext(turn.game, turn.turn)
        if awaited and self._skipped == skip:
            self._send_skip(skip)

    def _is_old(self, recap: m.Recap) -> bool:
        """Whether a recap is late, or replayed by an attacker (SALVO-JOIN-14).

        The server never knows less than it has announced. So if a view is ahead of a recap, either the view contains
        something untrue or the recap is old. The team's own state tells them apart: it trusts a recap that it waits
        for, or requested because of doubts, unless it has already taken up the same one.
        """
        newest, view = self._last_recap, self.view
        if newest is not None and recap.progress < newest.progress:
            return True
        if view is None:
            return self.state is State.LOBBY and recap.game < self.game
        if recap.game != view.game:
            return recap.game < view.game
        less = recap.resolved_turn < view.resolved_turn
        if self._doubting:
            return False
        if self._asked_to_return_at is not None:
            return less and newest is not None and recap.progress == newest.progress
        if recap.resolved_turn == view.resolved_turn:
            less = recap.turn < view.turn or recap.progress[-1] < len(view.incoming)
        return less

    def _rebuild(self, recap: m.Recap, fleet: Fleet) -> View:
        assert self.rules is not None
        view = View(self.rules, self.name, self._players, recap.game, fleet, self._random)
        if recap.earlier is not None:
            view.summed_up(recap.earlier)
        shots: dict[int, list[Shot]] = {}
        for shot in recap.shots:
            shots.setdefault(shot.turn, []).append(Shot(shot.target, shot.x, shot.y))
        for result in recap.results:
            view.fired(shots.pop(result.turn, []))
            view.resolved(result)
        for late in shots.values():
            view.fired(late)
        for x, y in recap.landed:
            view.landed(Shot(self.name, x, y))
        view.turn = recap.turn
        return view


#: Refusals that are sent to a name, whichever program used it.
_OF_THE_NAME = frozenset({"not_in_roster", "sealed_required"})
#: Public topics that a session listens to; the others repeat them in the specification's form.
_HEARD = frozenset(
    {
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
    }
)
#: Topics that a session hears for all players; of the others, only those of its own player.
_OF_ALL_PLAYERS = frozenset({topics.STATS, topics.FLEET})
_OWN = frozenset(topic for topic in topics.TOPICS if topic.reader is Reader.OWNER)
_HEARD_OR_OWN = _HEARD | _OWN
