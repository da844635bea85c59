"""A team without manners: it plays legal salvos, and in between commits one rudeness after the other.

No bot could, because that needs separate connections. ``PIECES`` has the requirement that protects against each; its
seed decides the order. Anyone can do all of this on an open broker; what no server could prevent there, such as
impersonating the server, is left out. Each piece has an end of its own: a number of messages, or of sockets, and at
most five seconds.

With a secret it comes as a team of the roster: it plays as NAME, listens as NAME.1 and opens more connections as
NAME.2. It cannot replay what it may not read there.

    rude = Troublemaker(broker.url, seed=1)
    threading.Thread(target=rude.run, args=(stop,), daemon=True).start()
    ...
    assert rude.report.done["forged shots"]
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from kit.probe import Login, Probe, ProbeError
from kit.raw import subscribe_packet
from salvo import events as e
from salvo import messages as m
from salvo import topics
from salvo.client import FINAL
from salvo.codec.command_reader import SignedShot, read_command
from salvo.codec.command_writer import (
    write_chat,
    write_leave,
    write_participation,
    write_placement,
    write_resend,
    write_shot,
)
from salvo.codec.strict_json import MAX_PAYLOAD_BYTES
from salvo.errors import ConnectionLost, SalvoError, WireError
from salvo.messages import State
from salvo.net.inbound import Inbound
from salvo.net.mqtt import BrokerUrl, Connection
from salvo.rules import SALVO, Orientation, Placement, RuleBook, generator
from salvo.seal import KEY_BYTES, SALT_BYTES, Sealer, make_blob
from salvo.session import Session
from salvo.topics import Topic
from salvo.view import View

#: More fresh salts than a bucket of 12 and the derivations of a second can take (SALVO-FRESH-6).
FLOOD_MESSAGES: Final = 60
#: One ship again and again, more often than is accepted (SALVO-PLACE-7).
PLACEMENTS: Final = 30
#: How often a lobby is left and entered again; more would only cost the server derivations (SALVO-JOIN-17).
DEPARTURES: Final = 3
#: A tenth of a second's work for the server, and half of what a team may send at once (SALVO-ACCESS-9).
SINGLE_BYTES: Final = 500
#: More than a player has of lines (SALVO-CHAT-4), of the log (SALVO-LOG-12), and of filters at the embedded broker.
LINES, RESENDS, FILTERS = 30, 50, 100
INVENTED_NAMES: Final = 20
PINGS: Final = 300
SILENT_SOCKETS: Final = 100
#: Above the packets that either broker reads: 16 KiB the embedded one, 256 KiB the contest's mosquitto.
HUGE_BYTES: Final = 300_000
#: How long a broker may take to hang up.
HANG_UP_SECONDS: Final = 5.0
#: Used as codes for what the broker does: it ends a connection, lets one in or does not, answers the last ping.
HUNG_UP: Final = "hung_up"
LET_IN: Final = "let_in"
SHUT_OUT: Final = "shut_out"
ANSWERED: Final = "pings_answered"


@dataclass(slots=True)
class TroubleReport:
    """What was done, and the answers.

    Attributes:
        done: how often, by piece.
        heard: error codes on the error topics that it may read, and what the broker did: ``hung_up``, ``let_in``,
            ``shut_out``, ``pings_answered``.
        winners: of the games that are over; empty after a tie, None where the host has aborted the game.
    """

    done: Counter[str] = field(default_factory=Counter)
    heard: Counter[str] = field(default_factory=Counter)
    winners: list[str | None] = field(default_factory=list)


class Troublemaker:
    """One rude team at one table. The seed decides what is done, when, and to whom; keys, salts and nonces are fresh.

    Attributes:
        report: what was done so far, and the answers.
    """

    def __init__(
        self,
        url: str,
        *,
        seed: int | str = 0,
        team: str = "rude",
        table: str = "",
        secret: str | None = None,
        rate: float = 50.0,
    ) -> None:
        """Prepare everything; nothing is sent before :meth:`run`.

        Args:
            rate: pieces a second at the table, at most.
            secret: the team's, where the broker knows its users; else it is drawn.

        Raises:
            ConnectionLost: ``bad_url``: raw connections are plain TCP, ``mqtt://``.
            WireError: ``bad_name``.
        """
        self.report = TroubleReport()
        self._url = BrokerUrl.parse(url)
        if self._url.scheme != "mqtt":
            raise ConnectionLost("bad_url", f"{self._url} is not mqtt://; raw connections are plain TCP")
        self._table = table
        self._random = generator(seed, team, 1)
        self._login = None if secret is None else Login(team, secret)
        secret = secret or os.urandom(16).hex()
        self._sealer = Sealer(secret)
        self._session = Session(team, secret, self._random, table=table, sealer=self._sealer)
        self._seat = self._connection(f"salvo-{team}", self._login)
        self._noise = self._connection(f"{team}-noise-{os.urandom(4).hex()}", self._screen(1))
        self._listed: list[str] = []
        self._overheard: deque[_Overheard] = deque(maxlen=10)
        self._own: set[bytes] = set()
        self._to_do: list[Piece] = []
        self._clients = 0
        self._pause_seconds, self._next_piece_at = 1 / rate, 0.0
        self._stop = threading.Event()
        self._departures: Counter[int] = Counter()  # by game

    def _screen(self, number: int) -> Login | None:
        """Return one of the account's read-only users (SALVO-ACCESS-5)."""
        return self._login and Login(f"{self._login.user}.{number}", self._login.secret)

    def _connection(self, client_id: str, login: Login | None) -> Connection:
        user, secret = (None, None) if login is None else login
        return Connection(self._url, client_id, username=user, password=secret, clean_session=True)

    @property
    def name(self) -> str:
        """The team's name."""
        return self._session.name

    @property
    def rules(self) -> RuleBook:
        """The rules of the table, as far as they are known."""
        return self._session.rules or SALVO

    @property
    def view(self) -> View:
        """The own seat's view; only during a game."""
        assert self._session.view is not None
        return self._session.view

    def run(self, stop: threading.Event, games: int | None = None) -> TroubleReport:
        """Play and make trouble until ``stop`` is set or this many games are over.

        Raises:
            ConnectionLost: ``not_authorised``, ``account_in_use``, ``unreachable``.
            SalvoError: the server does not let this team play.
        """
        self._stop = stop
        self._seat.on_connect = self._take_seat
        self._noise.on_connect = lambda _: self._noise.subscribe(self._ears())
        try:
            self._noise.connect(HANG_UP_SECONDS)
            while not stop.is_set() and (games is None or len(self.report.winners) < games):
                self._step()
        finally:
            self._go()
        return self.report

    def _go(self) -> None:
        """Leave nobody waiting in the lobby."""
        if self._session.state is State.LOBBY:
            self._session.leave()
            self._send_outbox()
        self._seat.close()
        self._noise.close()

    def _take_seat(self, session_present: bool) -> None:
        self._seat.subscribe(self._session.filters())
        self._session.connected(time.monotonic())

    def _ears(self) -> list[str]:
        return [topic.filter(self._table) for topic in (topics.LIST, topics.FIRE, topics.ERROR, topics.PLACEMENT_ERROR)]

    def _step(self) -> None:
        for message in self._noise.poll(0):
            self._noise.acknowledge(message)
            with suppress(WireError, ValueError):  # noise of other clients
                self._overhear(message)
        for message in self._seat.poll(0.05):
            for event in self._session.receive(message.topic, message.payload, message.retain, time.monotonic()):
                self._handle(event)
            self._seat.acknowledge(message)
        self._session.handle_timer(time.monotonic())
        self._send_outbox()

    def _send_outbox(self) -> None:
        for publication in self._session.take_outbox():
            self._own.add(publication.payload)
            self._seat.publish(publication.topic, publication.payload)

    def _overhear(self, message: Inbound) -> None:
        address = topics.parse(message.topic)
        match address.topic:
            case topics.LIST if message.payload:
                self._listed = json.loads(message.payload)
            case topics.ERROR | topics.PLACEMENT_ERROR:
                self.report.heard[message.payload.decode().partition(":")[0]] += 1
            case topics.FIRE if message.payload not in self._own:
                shot = read_command(address, message.payload, self.rules)
                if isinstance(shot, SignedShot):
                    self._overheard.append(_Overheard(shot.player, message.payload, shot.blob.salt))

    def _handle(self, event: e.Event) -> None:
        match event:
            case e.FleetWanted(rules):
                if self._departures[self._session.game] < DEPARTURES:
                    self._do_all("arrival")  # and the session asks for its place again
                    return
                self._do_all("lobby")
                self._session.place(rules.random_fleet(self._random), time.monotonic())
                self._send_outbox()
                self._do_all("placed")
            case e.SalvoWanted(view):
                self._do_all("before the salvo")
                self._session.fire(view.untouched.sample(view.shots))
                self._send_outbox()
                self._do_all("after the salvo")
            case e.SalvoReported(result) if result.player != self.name:
                self._stop.wait(self._next_piece_at - time.monotonic())
                self._next_piece_at = time.monotonic() + self._pause_seconds
                self._do(self._next_piece())
            case e.GameEnded(_, winner, aborted=aborted):
                self.report.winners.append(None if aborted else winner)
            case e.Refused(code, text) if code in FINAL:
                raise SalvoError(code, text)
            case _:
                pass

    def _next_piece(self) -> Piece:
        if not self._to_do:
            self._to_do = [piece for piece in PIECES if piece.when == "game"]
            self._random.shuffle(self._to_do)
        return self._to_do.pop()

    def _do_all(self, when: str) -> None:
        for piece in PIECES:
            if piece.when == when:
                self._do(piece)

    def _do(self, piece: Piece) -> None:
        try:
            self.report.done[piece.name] += piece.act(self)
        except ProbeError:  # one more connection, which the broker did not take
            self.report.done[piece.name] += 1
            self.report.heard[SHUT_OUT] += 1

    # --- means --------------------------------------------------------------------------------------------------

    def victim(self) -> str:
        """Return the name of another player at the table, or of a possible one."""
        return self._random.choice(self.others() or ["anybody"])

    def others(self) -> list[str]:
        """Return the names of the others at the table, in order of arrival."""
        return [name for name in self._listed if name != self.name]

    def say(self, topic: Topic, payload: bytes, *, player: str = "", ship: str = "", retain: bool = False) -> None:
        """Publish on the own seat's connection, so that messages keep their order."""
        self._own.add(payload)
        self._seat.publish(topic.of(self._table, player=player, ship=ship), payload, retain=retain)

    def ask(self, name: str) -> None:
        """Ask to take part under a name."""
        self.say(topics.REQUEST_PARTICIPATION, write_participation(name, "a guess"))

    def fire_at(self, target: str, payload: bytes, *, retain: bool = False) -> None:
        """Publish anything where shots at a player go."""
        self.say(topics.FIRE, payload, player=target, retain=retain)

    def leave(self) -> None:
        """Leave the lobby, which the session does not know about."""
        game = self._session.game
        self._departures[game] += 1
        self.say(topics.LEAVE, write_leave(game, self._sealer), player=self.name)

    def place(self, player: str, ship: str, x: int, y: int) -> None:
        """Place a ship, one's own or another player's, with the own key."""
        placement = Placement(ship, x, y, Orientation.HORIZONTAL)
        self.say(topics.PLACE, write_placement(placement, self._sealer), player=player, ship=ship)

    def signed(self, x: int, y: int, context: m.ShotContext | None = None) -> bytes:
        """Return an authentic shot of the own team that its session does not know about."""
        return write_shot(x, y, context, self._sealer)

    def probe(self, will: tuple[str, bytes] | None = None) -> Probe:
        """Return one more connection, which the broker lets in.

        Raises:
            ProbeError: it does not.
        """
        self._clients += 1
        probe = Probe(self._url)
        greeting = probe.greet(f"{self.name}-raw-{self._clients}", self._screen(2), will=will)
        if not greeting.accepted:
            probe.cut()
            raise ProbeError("unreachable", str(greeting))
        return probe

    def hang_up(self, topic: str, payload: bytes) -> bool:
        """Publish what makes the broker end a connection."""
        with self.probe() as probe:
            probe.publish(topic, payload)
            self.report.heard[HUNG_UP] += probe.wait_for_end()
        return True

    def silent_sockets(self, number: int) -> bool:
        """Hold connections that say nothing while another one logs in."""
        with ExitStack() as stack:
            for _ in range(number):
                with suppress(OSError):
                    silent = socket.create_connection((self._url.host, self._url.port), HANG_UP_SECONDS)
                    stack.enter_context(silent)
            self.probe().cut()
            self.report.heard[LET_IN] += 1
        return True

    def topic(self, topic: Topic, player: str, ship: str = "") -> str:
        """Return a full topic at the table."""
        return topic.of(self._table, player=player, ship=ship)

    def last_overheard(self) -> _Overheard | None:
        """Return the last shot of another player."""
        return self._overheard[-1] if self._overheard else None


class _Overheard(NamedTuple):
    """A shot of another player."""

    target: str
    payload: bytes
    salt: bytes


# --- the pieces: each returns whether there was an occasion for it --------------------------------------------------


def _strange_blob(salt: bytes | None = None) -> str:
    """A blob under an unknown key, and a new salt unless one is given."""
    return make_blob(b'{"x": 1, "y": 1}', os.urandom(KEY_BYTES), salt or os.urandom(SALT_BYTES))


def _shot_with(blob: str) -> bytes:
    return json.dumps({"data": {"x": 1, "y": 1}, "signature": blob}).encode()


def _ask_under_impossible_names(rude: Troublemaker) -> bool:
    for name in ("+", "#", "a/b", "/game", "players", "$SYS", "..", "a\0b", "", "x" * 33, "\u0430nn"):
        rude.ask(name)
    return True


def _ask_under_taken_names(rude: Troublemaker) -> bool:
    for name in (*rude.others(), rude.name.swapcase()):
        rude.ask(name)
    return True


def _place_impossible_ships(rude: Troublemaker) -> bool:
    rude.place(rude.name, "carrier", 10, 10)
    rude.place(rude.name, "carrier", 0, 1)
    rude.place(rude.name, "cruiser", 1, 1)
    return True


def _place_for_others(rude: Troublemaker) -> bool:
    rude.place(rude.victim(), "carrier", 1, 1)
    return True


def _place_without_end(rude: Troublemaker) -> bool:
    ship = rude.rules.fleet[0].name
    for number in range(PLACEMENTS):
        rude.place(rude.name, ship, 1, 1 + number % 2)
    return True


def _leave_and_come_again(rude: Troublemaker) -> bool:
    rude.leave()
    return True


def _flood_own_ships(rude: Troublemaker) -> bool:
    for _ in range(FLOOD_MESSAGES):
        rude.say(topics.PLACE, _strange_blob().encode(), player=rude.name, ship="carrier")
    return True


def _place_late(rude: Troublemaker) -> bool:
    rude.place(rude.name, "carrier", 1, 1)
    return True


def _fire_at_nothing(rude: Troublemaker) -> bool:
    """Off the grid, at an unknown player, and signed for another turn."""
    target, view = rude.victim(), rude.view
    rude.fire_at(target, rude.signed(0, 11))
    rude.fire_at("nobody", rude.signed(1, 1))
    rude.fire_at(target, rude.signed(1, 1, m.ShotContext(view.game, view.turn + 1, 1, target)))
    return True


def _fire_one_more(rude: Troublemaker) -> bool:
    rude.fire_at(rude.victim(), rude.signed(1, 1))
    return True


def _fire_out_of_turn(rude: Troublemaker) -> bool:
    view = rude.view
    standing = [name for name in view.players if name not in view.defeated]
    last = view.results[-1].player
    if last not in standing or standing[(standing.index(last) + 1) % len(standing)] == rude.name:
        return False  # it is our turn now, or hard to tell whose it is
    rude.fire_at(rude.victim(), rude.signed(1, 1))
    return True


def _flood_shots(rude: Troublemaker) -> bool:
    for _ in range(FLOOD_MESSAGES):
        rude.fire_at(rude.victim(), _shot_with(_strange_blob()))
    return True


def _flood_with_single_bytes(rude: Troublemaker) -> bool:
    victim = rude.victim()
    for _ in range(SINGLE_BYTES):
        rude.fire_at(victim, b"x")
    return True


def _talk_without_end(rude: Troublemaker) -> bool:
    for number in range(LINES):
        rude.say(topics.SAY, write_chat(f"listen, {number}"), player=rude.name)
    return True


def _ask_for_the_log_without_end(rude: Troublemaker) -> bool:
    for _ in range(RESENDS):
        rude.say(topics.RESEND, write_resend(0), player=rude.name)
    return True


def _storm_with_subscriptions_and_pings(rude: Troublemaker) -> bool:
    probe = rude.probe()
    for number in range(FILTERS):
        probe.say(subscribe_packet(f"/storm/{number}"))
    rude.report.heard[ANSWERED] += probe.ping(PINGS)
    probe.cut()
    return True


def _keep_silent_sockets(rude: Troublemaker) -> bool:
    return rude.silent_sockets(SILENT_SOCKETS)


def _say_too_much(rude: Troublemaker) -> bool:
    rude.fire_at(rude.victim(), _shot_with(" " * MAX_PAYLOAD_BYTES))
    return True


def _send_a_huge_packet(rude: Troublemaker) -> bool:
    return rude.hang_up(rude.topic(topics.FIRE, rude.victim()), b" " * HUGE_BYTES)


def _publish_to_a_wildcard(rude: Troublemaker) -> bool:
    return rude.hang_up(rude.topic(topics.FIRE, "+"), b"{}")


def _break_json(rude: Troublemaker) -> bool:
    blob = _strange_blob()
    for payload in (
        b"B3",
        b'{"data": "\xff"}',
        b'{"data": {"x": 1, "x": 2, "y": 1}, "signature": ""}',
        b'{"data": {"x": 1.0, "y": 1}, "signature": ""}',
        b"[" * 5 + b"]" * 5,
        b"{}",
        _shot_with("?" + blob[1:]),
        _shot_with(blob[:40]),
    ):
        rude.fire_at(rude.victim(), payload)
    return True


def _forge_shots(rude: Troublemaker) -> bool:
    """An unknown key under a fresh salt, and under another team's salt."""
    overheard = rude.last_overheard()
    if overheard is None:
        return False
    for salt in (None, overheard.salt):
        rude.fire_at(rude.victim(), _shot_with(_strange_blob(salt)))
    return True


def _replay_shots(rude: Troublemaker) -> bool:
    """Another team's shot again on its own topic, as a duplicate, and at another target."""
    overheard = rude.last_overheard()
    if overheard is None:
        return False
    elsewhere = next(name for name in rude.view.players if name != overheard.target)
    for target in (overheard.target, elsewhere):
        rude.fire_at(target, overheard.payload)
    return True


def _leave_commands_behind(rude: Troublemaker) -> bool:
    rude.fire_at(rude.victim(), b"kept", retain=True)
    rude.say(topics.REQUEST_PARTICIPATION, write_participation("kept", "kept"), retain=True)
    return True


def _leave_commands_under_invented_names(rude: Troublemaker) -> bool:
    for _ in range(INVENTED_NAMES):
        rude.fire_at(f"nobody-{os.urandom(4).hex()}", b"kept", retain=True)
    return True


def _vanish_with_a_will(rude: Troublemaker) -> bool:
    """Go without a goodbye, and leave a retained will where placements go."""
    rude.probe((rude.topic(topics.PLACE, rude.victim(), "carrier"), b"the last will")).cut()
    return True


class Piece(NamedTuple):
    """One kind of rudeness.

    Attributes:
        when: ``arrival`` in a lobby, which is left a few times; ``lobby`` before and ``placed`` after the own fleet is
            sent; ``before the salvo`` and ``after the salvo`` in every own turn; ``game`` after another player's.
        codes: those that the protocol specifies, each at least once; ``hung_up`` is the broker's answer.
        sentence: the one with that promise; empty for what is the broker's alone.
    """

    name: str
    when: str
    codes: tuple[str, ...]
    sentence: str
    act: Callable[[Troublemaker], bool]


_UNREADABLE = (
    "not_json",
    "not_utf8",
    "duplicate_key",
    "not_integer",
    "too_deep",
    "wrong_shape",
    "blob_not_base64",
    "blob_length",
)

PIECES: Final = (
    Piece("placements without end", "arrival", ("rate_limited",), "SALVO-PLACE-7", _place_without_end),
    Piece("coming and going", "arrival", (), "SALVO-JOIN-17", _leave_and_come_again),
    Piece("impossible names", "lobby", ("bad_name",), "SALVO-NAME-1", _ask_under_impossible_names),
    Piece("impossible ships", "lobby", ("off_grid", "unknown_ship"), "SALVO-GAME-2", _place_impossible_ships),
    Piece("somebody else's ships", "lobby", ("forged",), "SALVO-SEAL-8", _place_for_others),
    Piece("a flood of ships", "placed", ("rate_limited",), "SALVO-FRESH-6", _flood_own_ships),
    Piece(
        "shots at nothing",
        "before the salvo",
        ("off_grid", "unknown_target", "stale_context"),
        "SALVO-FIRE-6",
        _fire_at_nothing,
    ),
    Piece("one shot more", "after the salvo", ("too_many_shots",), "SALVO-FIRE-3", _fire_one_more),
    Piece("shots out of turn", "game", ("not_your_turn",), "SALVO-FIRE-6", _fire_out_of_turn),
    Piece("taken names", "game", ("name_taken",), "SALVO-JOIN-8", _ask_under_taken_names),
    Piece("late ships", "game", ("wrong_state",), "SALVO-GAME-6", _place_late),
    Piece("a flood of shots", "game", ("rate_limited",), "SALVO-FRESH-6", _flood_shots),
    Piece("a flood of single bytes", "game", ("not_json",), "SALVO-ERR-4", _flood_with_single_bytes),
    Piece("a flood of chat", "game", ("rate_limited",), "SALVO-CHAT-4", _talk_without_end),
    Piece("the log again and again", "game", (), "SALVO-LOG-12", _ask_for_the_log_without_end),
    Piece("a storm of filters and pings", "game", (ANSWERED,), "SALVO-ACCESS-9", _storm_with_subscriptions_and_pings),
    Piece("silent sockets", "game", (LET_IN,), "", _keep_silent_sockets),
    Piece("oversized bodies", "game", ("too_large",), "SALVO-WIRE-5", _say_too_much),
    Piece("a huge packet", "game", (HUNG_UP,), "SALVO-WIRE-5", _send_a_huge_packet),
    Piece("a wildcard as topic", "game", (HUNG_UP,), "SALVO-NAME-1", _publish_to_a_wildcard),
    Piece("broken JSON", "game", _UNREADABLE, "SALVO-ERR-3", _break_json),
    Piece("forged shots", "game", ("forged",), "SALVO-SEAL-8", _forge_shots),
    Piece("replayed shots", "game", ("nonce_reused", "duplicate"), "SALVO-FRESH-1", _replay_shots),
    Piece("retained commands", "game", ("retained_command",), "SALVO-FRESH-4", _leave_commands_behind),
    Piece(
        "retained commands under invented names",
        "game",
        ("retained_command",),
        "SALVO-ACCESS-6",
        _leave_commands_under_invented_names,
    ),
    Piece("a will without goodbye", "game", ("retained_command",), "SALVO-FRESH-4", _vanish_with_a_will),
)
