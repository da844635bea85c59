"""A team as a witness of its own games: compares what the server announces with what it signs (SALVO-LOG).

During a game, the signed log confirms the news on the plain topics, entry by entry; at its end the server reveals what
it had committed to, and the witness checks that, and that the team's own commands are in it. It also compares the
log's times with the clock of its caller. No socket and no clock of its own.
Whether the other teams were treated by the rules is for ``salvo verify`` to find out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Final

from salvo import messages as m
from salvo.codec import log, log_reader
from salvo.codec.steps import write_announcement_line
from salvo.errors import ImpostorError, UnfairGame, WireError
from salvo.join.events import GameVerified, LogDoubted
from salvo.rules import Placement
from salvo.view import Shot
from salvo.wire.seal import fingerprint

#: How long the log may lag behind the news. The server publishes both together; the broker may be slow.
CONFIRM_SECONDS: Final = 10.0
#: How long entries may be missing before a request: when a game begins, the server repeats its lobby unasked.
ASK_SECONDS: Final = 1.0
#: How far the log's clock may run ahead of the team's: so much a message may have been on its way without any harm.
CLOCK_SECONDS: Final = 5.0
_NO_STEP: Final = float("inf")
#: Pauses between unanswered requests grow up to this.
MAX_PAUSE_SECONDS: Final = 8.0
#: Games followed at once: replayed entries of old games must not displace the current one.
_MAX_GAMES: Final = 4
#: Unconfirmed news to remember; more means a flood, for which one warning is enough.
_MAX_PENDING: Final = 256
#: Caused by a server without a journal that starts again with game 1 and the same seed.
_REPEATED: Final = frozenset({"log_forked", "log_broken"})
#: Announcements that a game's log repeats word for word.
_COMPARED: Final = (
    m.StateChanged,
    m.PlayersListed,
    m.PlacementJudged,
    m.TurnBegan,
    m.SalvoResolved,
    m.BoardShown,
    m.FleetRevealed,
    m.PlayerStats,
    m.GameWon,
)


@dataclass(slots=True)
class _Sent:
    """What the team sent for one game; only what it knows from the start is compared with the log.

    Attributes:
        messages: digests of all placements that were sent, including repetitions.
    """

    fleet: dict[str, Placement] = field(default_factory=dict)  # by ship, the latest
    placements: set[Placement] = field(default_factory=set)  # all of them
    messages: set[bytes] = field(default_factory=set)
    refused: bool = False
    elsewhere: bool = False  # whether an earlier run of this program may have sent placements, too
    shots: dict[int, set[tuple[int, Shot]]] = field(default_factory=dict)  # number and shot, by turn
    from_first_shot: set[int] = field(default_factory=set)  # turns
    skipped: set[int] = field(default_factory=set)  # turns
    taken_up: int = 0  # the turn that was on; an earlier run of this program may have fired in it


@dataclass(slots=True)
class _WitnessedGame:
    """The log of one game, as far as it was heard.

    Attributes:
        of: identifies the game.
        chain: everything from the opening to the first missing entry.
        early: entries after a missing one, with their texts.
        at: time of the latest step, epoch ms of the server.
        over: whether the end was heard.
        aborted: whether a host has ended the game, perhaps within a turn.
        whole: whether everything was heard.
        excluded: whether the last list lacks this team, so that its fleet is in no game.
    """

    of: str
    chain: log_reader.LogChain
    early: dict[int, tuple[bytes, log.Entry]] = field(default_factory=dict)
    at: int = 0
    over: bool = False
    aborted: bool = False
    whole: bool = False
    excluded: bool = False
    confirmed: set[m.Announcement] = field(default_factory=set)
    hidden: list[bytes] = field(default_factory=list)
    approved: list[bool] = field(default_factory=list)  # of each hidden input, whether it is a placement that counts
    texts: list[str] = field(default_factory=list)
    steps: int = 0
    shots: dict[int, int] = field(default_factory=dict)  # of this team, by turn, according to the log
    revealed: log.Reveal | None = None

    @property
    def number(self) -> int:
        """The game's number; 0 while the opening is missing."""
        return 0 if self.chain.opening is None else self.chain.opening.game

    @property
    def empty(self) -> bool:
        """Whether only its opening was heard."""
        return self.chain.next_number == 1 and not self.early

    def hold(self, text: bytes, entry: log.Entry) -> bool:
        """Keep an entry until all earlier ones are there; return whether it is new.

        Raises:
            log_reader.LogError: ``log_forked``, or one of :meth:`LogChain.link`.
        """
        if entry.number < self.chain.next_number:
            return self.chain.link(text, entry)
        known, _ = self.early.setdefault(entry.number, (text, entry))
        if known != text:
            raise log_reader.forked(entry.number)
        return known is text

    def take_ready(self) -> log.Entry | None:
        """Return the next entry in order; None when it is missing.

        Raises:
            log_reader.LogError: it does not continue the one before.
        """
        if self.chain.next_number not in self.early:
            return None
        text, entry = self.early.pop(self.chain.next_number)
        self.chain.link(text, entry)
        return entry


class Witness:
    """Compares what one team hears and has sent with the server's signed log.

    Attributes:
        key: the server's signing key; nothing is checked before it is known.
        newer: whether the server speaks a later minor version of the protocol: then an entry that cannot be read is
            no contradiction, and the log is compared no further (SALVO-VERSION-3).
    """

    def __init__(self, name: str) -> None:
        self.key: bytes | None = None
        self.newer = False
        self._name = name
        self._games: list[_WitnessedGame] = []  # the latest first
        self._pending: dict[m.Announcement, float] = {}  # when it was heard, the oldest first
        self._doubted_at: float | None = None
        # In seconds: the least that a step of this game came after its time in the log, and how far the log's clock has
        # run ahead since the last doubt.
        self._least_lag, self._ahead = _NO_STEP, 0.0
        # Sent since the comparison of clocks began: digests of placements, games and turns of salvos.
        self._asked: set[bytes | tuple[int, int]] = set()
        self._sent: dict[int, _Sent] = {}
        self._behind = False  # whether news may have been missed
        self._ask_at: float | None = None
        self._pause = ASK_SECONDS
        self._gave_up = False

    def follows(self, game: int) -> bool:
        """Whether part of a game's log is still to come."""
        return any(not each.whole and each.number in (0, game) for each in self._games)

    @property
    def _current(self) -> _WitnessedGame | None:
        """The current game, which replayed old entries do not change."""
        return max(self._games, key=attrgetter("at"), default=None)

    def missed(self, now: float) -> int | None:
        """Return the number of the first entry to request, if a request is due (SALVO-LOG-12).

        It is the last one before the gap, so that there is always an answer.
        """
        game = self._current
        gap = self._behind or (game is not None and not game.whole and bool(game.early))
        if self.key is None or self._gave_up or not gap:
            self._ask_at = None
            return None
        if self._ask_at is None:
            self._ask_at, self._pause = now + ASK_SECONDS, ASK_SECONDS
        if now < self._ask_at:
            return None
        in_vain = self._pause > ASK_SECONDS  # by now another game is on, with a shorter log, or there is no server
        self._pause = min(2 * self._pause, MAX_PAUSE_SECONDS)
        self._ask_at = now + self._pause
        return 0 if game is None or in_vain else max(0, game.chain.next_number - 1)

    # --- what the team does ---------------------------------------------------------------------------------------

    def placed(self, game: int, placements: Collection[Placement], messages: Iterable[bytes]) -> None:
        """Note ships that were sent, replacing earlier ones, and their messages' digests (SALVO-LOG-8)."""
        sent = self._of(game)
        sent.fleet |= {placement.ship: placement for placement in placements}
        sent.placements.update(placements)
        digests = set(messages)
        sent.messages |= digests
        self._asked |= digests

    def refused(self, game: int) -> None:
        """Note that a placement was refused: a fleet of an earlier run of this program may be in force."""
        self._of(game).refused = True

    def struck_off(self, game: int) -> None:
        """Note that the team left the list before the game began: its placements no longer count."""
        self._of(game).fleet = {}

    def came_back(self, game: int) -> None:
        """Note that the server knew the team before it had placed: messages of an earlier run may still count."""
        self._of(game).elsewhere = True

    def took_up(self, game: int, turn: int) -> None:
        """Note that an earlier run of this program has played up to a turn: its shots there may still count."""
        self._of(game).taken_up = turn

    def fired(self, context: m.ShotContext, shot: Shot) -> None:
        """Note a shot that was sent."""
        sent = self._of(context.game)
        self._asked.add((context.game, context.turn))
        if context.shot == 1 and context.turn > sent.taken_up:
            sent.from_first_shot.add(context.turn)
        sent.shots.setdefault(context.turn, set()).add((context.shot, shot))

    def skipped(self, context: m.TurnContext) -> None:
        """Note that the rest of a turn was given up."""
        self._asked.add((context.game, context.turn))
        self._of(context.game).skipped.add(context.turn)

    def _of(self, game: int) -> _Sent:
        for older in [number for number in self._sent if number < game - 1]:
            del self._sent[older]
        return self._sent.setdefault(game, _Sent())

    # --- what it hears --------------------------------------------------------------------------------------------

    def receive(self, announcement: m.Announcement | None, now: float) -> None:
        """Take in live news from a plain topic, not retained messages."""
        if not isinstance(announcement, _COMPARED) or (current := self._current) is None or current.over:
            return
        if isinstance(announcement, m.PlacementJudged) and not announcement.approved:
            return  # the log has those only that were judged by the rules (SALVO-PLACE-9)
        fact = _fact(announcement)
        if not any(fact in game.confirmed for game in self._games) and len(self._pending) < _MAX_PENDING:
            self._pending.setdefault(fact, now)

    def connected_anew(self) -> None:
        """Note that news and confirmations may have been missed while the connection was down."""
        self._pending.clear()
        self._behind = True
        self._begin_comparing_clocks()

    def doubts(self, now: float) -> list[LogDoubted]:
        """Return what contradicts the log by now, each only once: its clock, or news that it should have confirmed."""
        if self._ahead:
            ahead, self._ahead = self._ahead, 0.0
            text = f"the clock of the server's log has run {ahead:.1f} s ahead of this team's"
            return [LogDoubted(f"{text}, which shortens turns, unless this machine slept")]
        late = [fact for fact, since in self._pending.items() if now - since > CONFIRM_SECONDS]
        if not late:
            return []
        for fact in late:
            del self._pending[fact]
        if self._doubted_at is not None and now - self._doubted_at < CONFIRM_SECONDS:
            return []
        self._doubted_at = now
        text = write_announcement_line(late[0])
        more = f" and {len(late) - 1} more" if len(late) > 1 else ""
        return [LogDoubted(f"the server's log does not confirm within {CONFIRM_SECONDS:g} s: {text[:200]}{more}")]

    def logged(self, payload: bytes, now: float) -> list[GameVerified]:
        """Take in a payload of ``/game/log`` that arrived at ``now``, in seconds of any steady clock.

        Raises:
            ImpostorError: ``impostor``: the server has not signed it.
            UnfairGame: ``unfair``: it has, and it is a contradiction.
            WireError: ``wrong_shape`` or ``unknown_version``: this SDK cannot read it.
        """
        if self.key is None or self._gave_up:
            return []
        try:
            text, entry = log_reader.read_signed(payload, self.key)
            return self._take_in(text, entry, now)
        except log_reader.LogError as error:
            if self.newer and error.code in ("log_wrong", "unknown_version"):
                raise self._give_up() from None
            raise self._explain(error) from None

    def _give_up(self) -> WireError:
        """Compare nothing from now on: what cannot be read neither confirms nor contradicts."""
        self._gave_up, self._games = True, []
        self._pending.clear()
        return WireError(
            "unknown_version",
            "the server runs a later version, whose log this one cannot read: this team's games are not compared with "
            "it any more; install the server's version of battleship-salvo",
        )

    def _explain(self, error: log_reader.LogError) -> ImpostorError | UnfairGame | WireError:
        assert self.key is not None
        if error.code == "log_forged":
            text = f"an entry of the log is not signed by the server {fingerprint(self.key)}: it is from an impostor"
            return ImpostorError("impostor", text)
        if error.fault in (log_reader.Fault.SERVER, log_reader.Fault.FORKED):
            return UnfairGame("unfair", f"{error.code}: {error.text}")
        return WireError("unknown_version" if error.code == "unknown_version" else "wrong_shape", error.text)

    def _take_in(self, text: bytes, entry: log.Entry, now: float) -> list[GameVerified]:
        game = self._game_of(text, entry)
        try:
            return self._follow(game, text, entry, now)
        except log_reader.LogError as error:
            if error.code not in _REPEATED or not _has_seed(game):
                raise
        self._games.remove(game)  # the same seed again: another game with an identical opening
        return self._follow(self._game_of(text, entry), text, entry, now)

    def _game_of(self, text: bytes, entry: log.Entry) -> _WitnessedGame:
        of = log_reader.game_of(text, entry)
        latest = self._current
        if isinstance(entry.body, log.Opening):
            opened = entry.body.game  # an empty lobby may be opened again with other settings (SALVO-BACK-6)
            self._games = [each for each in self._games if each.of == of or each.number != opened or not each.empty]
        found = next((game for game in self._games if game.of == of), None)
        if found is not None:
            return found
        game = _WitnessedGame(of, log_reader.LogChain(self.key))
        if isinstance(entry.body, log.Opening):
            self._pending.clear()  # about the lobby that just opened, or a game that is gone
            self._begin_comparing_clocks()  # the operator may have set the server's clock
            if latest is not None and entry.body.game > latest.number:
                game.at = latest.at
        self._games.insert(0, game)
        if len(self._games) > _MAX_GAMES:
            self._games.remove(min(self._games[1:], key=attrgetter("at")))
        return game

    def _follow(self, game: _WitnessedGame, text: bytes, entry: log.Entry, now: float) -> list[GameVerified]:
        """Take in an entry of a game, and all entries that waited for it."""
        end, gap = game.chain.next_number, bool(game.early)
        news = game.hold(text, entry)
        if news and isinstance(entry.body, log.LogStep):
            self._confirm(game, entry.body)
            self._compare_clocks(entry.body, now)
        found: list[GameVerified] = []
        while (ready := game.take_ready()) is not None:
            self._ask_at = None  # there is an answer
            found += self._account(game, ready)
        if game.early and not gap:
            self._pending.clear()  # missing entries may have confirmed it
        if not game.early and entry.number >= end - 1:
            self._behind = False
        if news and isinstance(entry.body, log.LogEnd) and not game.whole:
            game.over = True
            found.append(GameVerified(game.number, False))
        return found

    def _confirm(self, game: _WitnessedGame, step: log.LogStep) -> None:
        game.at = max(game.at, step.at)
        for announcement in step.announcements:
            fact = _fact(announcement)
            game.confirmed.add(fact)
            self._pending.pop(fact, None)

    def _begin_comparing_clocks(self) -> None:
        self._least_lag = _NO_STEP
        self._asked.clear()

    def _compare_clocks(self, step: log.LogStep, now: float) -> None:
        """Hold a step's time against the team's clock (SALVO-LOG-13).

        Late arrivals and repetitions prove nothing. But no step can be earlier than the promptest one by much, unless
        the server's clock has jumped. The first one answers this team: others may be old entries, sent again.
        """
        if self._least_lag == _NO_STEP and not self._answers(step):
            return
        lag = now - step.at / 1000
        if lag + CLOCK_SECONDS < self._least_lag < _NO_STEP:
            self._ahead = self._least_lag - lag
        self._least_lag = min(self._least_lag, lag)

    def _answers(self, step: log.LogStep) -> bool:
        """Whether a step is new: whether it follows from what this team has sent since the comparison began."""
        own = (each for each in step.announcements if isinstance(each, m.SalvoResolved) and each.player == self._name)
        return step.message in self._asked or any((each.game, each.turn) in self._asked for each in own)

    def _account(self, game: _WitnessedGame, entry: log.Entry) -> list[GameVerified]:
        """Add an entry in its order; check the whole game after the last one."""
        match entry.body:
            case log.LogStep(announcements=announcements, hidden=hidden):
                game.steps += 1
                game.hidden += hidden
                approved = any(isinstance(each, m.PlacementJudged) and each.approved for each in announcements)
                game.approved += [approved] * len(hidden)
                for announcement in announcements:
                    if isinstance(announcement, m.SalvoResolved) and announcement.player == self._name:
                        game.shots[announcement.turn] = announcement.shots
                    if isinstance(announcement, m.PlayersListed):
                        game.excluded = self._name not in announcement.names
                    if isinstance(announcement, m.GameWon):
                        game.aborted = not announcement.winners
            case log.Reveal(texts=texts):
                game.texts += texts
                game.revealed = game.revealed or entry.body
            case log.LogEnd():
                game.over = game.whole = True
                self._pending.clear()
                return [self._judge(game, entry.body)]
        return []

    # --- the end --------------------------------------------------------------------------------------------------

    def _judge(self, game: _WitnessedGame, end: log.LogEnd) -> GameVerified:
        """Check what was revealed against the commitments, and against what this team has sent."""
        opening = game.chain.opening
        assert opening is not None
        if (end.steps, end.hidden) != (game.steps, len(game.texts)) or len(game.hidden) != len(game.texts):
            raise _unfair(
                opening,
                f"it has {game.steps} steps, {len(game.hidden)} commitments and {len(game.texts)} revealed texts, and "
                f"its end counts {end.steps} and {end.hidden}",
            )
        if game.revealed is None:
            raise _unfair(opening, "nothing was revealed")
        try:
            log_reader.open_commitments(opening, game.revealed, game.hidden, game.texts)
        except log_reader.NotOpened as error:
            raise _unfair(opening, str(error)) from None
        return GameVerified(opening.game, True, self._check_own(game, opening))

    def _check_own(self, game: _WitnessedGame, opening: log.Opening) -> dict[str, Collection[Placement]]:
        """Compare what was revealed with what this team has sent; return the ships of all players."""
        sent = self._sent.pop(opening.game, None)
        if sent is None:
            return {}
        commands = [_read_hidden(text, opening) for text in game.texts]
        mine = [c for c in commands if isinstance(c, (m.PlaceShip, m.Fire, m.Skip)) and c.player == self._name]
        if not game.excluded:
            self._check_placements(opening, sent, [c for c in mine if isinstance(c, m.PlaceShip)])
        self._check_shots(game, opening, sent, [c for c in mine if isinstance(c, m.Fire)])
        self._check_skips(opening, sent, [c for c in mine if isinstance(c, m.Skip)])
        placed: dict[str, dict[str, Placement]] = {}
        for command, approved in zip(commands, game.approved, strict=True):
            if approved and isinstance(command, m.PlaceShip):
                placed.setdefault(command.player, {})[command.placement.ship] = command.placement
        return {player: ships.values() for player, ships in placed.items()}

    def _check_placements(self, opening: log.Opening, sent: _Sent, counted: Sequence[m.PlaceShip]) -> None:
        """Each ship's final placement must be one that was sent, in its own message, which influences the starter.

        A placement does not say which game it is for. So one for a lobby that a host replaced may count in the next
        game, if the team heard of that too late to place again.
        """
        if sent.refused:
            return
        replaced = self._sent.get(opening.game - 1, _Sent())  # a game that ended is no longer there
        ours = sent.messages | replaced.messages
        last = {command.placement.ship: command for command in counted}
        for ship, placement in sent.fleet.items():
            command = last.get(ship)
            if command is None or command.placement not in {placement, *replaced.placements}:
                difference = f"no {ship}" if command is None else command.placement
                raise _unfair(opening, f"{difference} counted for {self._name}, which sent {placement}")
            if opening.draw is m.Draw.FAIR and not sent.elsewhere and command.message not in ours:
                text = f"the {ship} of {self._name} came with the message {command.message.hex()}, which it never sent"
                raise _unfair(opening, text)

    def _check_shots(self, game: _WitnessedGame, opening: log.Opening, sent: _Sent, counted: Sequence[m.Fire]) -> None:
        """In every turn that this program played from its first shot, only its own shots may have counted.

        Shots without context come from another program with the same secret; then this program does not know them all.
        """
        if any(c.context is None for c in counted):
            return
        for turn in sorted(sent.from_first_shot):
            shots = [c for c in counted if c.context is not None and c.context.turn == turn]
            for c in shots:
                assert c.context is not None
                if (c.context.shot, Shot(c.target, c.x, c.y)) not in sent.shots[turn]:
                    raise _unfair(
                        opening, f"turn {turn}: a shot at {c.target} ({c.x}, {c.y}) counted that was never fired"
                    )
            announced = game.shots.get(turn, 0)
            unfinished = game.aborted and turn not in game.shots  # a host ended the game in it (SALVO-HOST-5)
            if len(shots) != announced and not unfinished:
                raise _unfair(opening, f"turn {turn}: it announced {announced} shots, and revealed {len(shots)}")

    def _check_skips(self, opening: log.Opening, sent: _Sent, counted: Sequence[m.Skip]) -> None:
        """Of the turns that this program played from its first shot, only its own skips may have ended any early."""
        for c in counted:
            if c.context is not None and c.context.turn in sent.from_first_shot - sent.skipped:
                raise _unfair(opening, f"turn {c.context.turn}: a skip of {self._name} counted that was never sent")


def _read_hidden(text: str, opening: log.Opening) -> m.Input:
    try:
        return log_reader.read_hidden(text).command
    except WireError as error:
        raise _unfair(opening, f"a revealed text is not an input: {error.text}") from None


def _unfair(opening: log.Opening, text: str) -> UnfairGame:
    return UnfairGame("unfair", f"the log of game {opening.game}, which the server signed: {text}")


def _has_seed(game: _WitnessedGame) -> bool:
    """Whether the draws come from an explicit seed, so that another game may have an identical opening."""
    return game.chain.opening is not None and game.chain.opening.draw is m.Draw.SEED


def _fact(announcement: m.Announcement) -> m.Announcement:
    """Return news as both the plain topic and the log have it: a resumed turn uses the topic of a new one."""
    if isinstance(announcement, m.TurnResumed):
        return m.TurnBegan(*(getattr(announcement, each.name) for each in fields(announcement)))
    return announcement
