"""A team as a witness of its own games: what the server says is held against what it signs (SALVO-LOG).

The signed log confirms what is heard on the plain topics, entry by entry, while the game is on; at its end the server
reveals what it had committed to, and the witness looks whether that is so and whether the team's own commands are in
it. No socket and no clock. Whether all the others were treated by the rules, ``salvo verify`` finds out.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from salvo import messages as m
from salvo.errors import ImpostorError, UnfairGame, WireError
from salvo.rules import Placement
from salvo.seal import fingerprint
from salvo.view import Shot
from salvo.wire.log import (
    Entry,
    Fault,
    LogChain,
    LogEnd,
    LogError,
    LogStep,
    Opening,
    Reveal,
    blind,
    entry_digest,
    read_hidden,
    seed_commitment,
    take_apart,
)
from salvo.wire.transcript import said

#: How long the log may be behind what is heard. The server publishes both in one go; the broker may be slow.
CONFIRM_SECONDS: Final = 10.0
#: Games whose entries are followed at once: old ones that somebody says again must not displace the one that is on.
_MOST_GAMES: Final = 4
#: Unconfirmed news that are remembered; more comes from a flood, of which one warning tells enough.
_MOST_PENDING: Final = 256
#: What a server does that begins with game 1 and the same seed again, because it keeps no journal.
_REPEATED: Final = frozenset({"log_forked", "log_broken"})
#: What is said of a game in its log, word for word.
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


@dataclass(frozen=True, slots=True)
class LogDoubted:
    """Something was heard that the log does not confirm: somebody may be playing the server."""

    text: str


@dataclass(frozen=True, slots=True)
class GameVerified:
    """The log of a game has ended, and nothing in it is against what this team knows.

    Attributes:
        whole: whether all of it was heard, so that what was revealed could be held against the commitments.
    """

    game: int
    whole: bool


@dataclass(slots=True)
class _Sent:
    """What the team sent for one game; only what it knows from the begin is held against the log.

    Attributes:
        messages: what stands for each placement that was sent, also for those that were sent again.
    """

    fleet: dict[str, Placement] = field(default_factory=dict)
    messages: set[bytes] = field(default_factory=set)
    refused: bool = False
    elsewhere: bool = False  # whether an earlier run of this program may have sent placements, too
    shots: dict[int, set[tuple[int, Shot]]] = field(default_factory=dict)  # number and shot, by turn
    from_first_shot: set[int] = field(default_factory=set)  # turns
    skipped: set[int] = field(default_factory=set)  # turns


@dataclass(slots=True)
class _Game:
    """The log of one game as far as it was heard.

    Attributes:
        opening: digest of the first entry; None when it was not heard.
        whole: whether nothing is missing since the opening.
    """

    chain: LogChain
    opening: bytes | None = None
    whole: bool = False
    first: Opening | None = None
    over: bool = False
    confirmed: set[str] = field(default_factory=set)
    hidden: list[bytes] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    steps: int = 0
    shots: dict[int, int] = field(default_factory=dict)  # of this team, by turn, as the log tells
    revealed: Reveal | None = None


class Witness:
    """Holds what one team hears and has sent against the server's signed log.

    Attributes:
        key: the server's signing key; nothing is checked before it is known.
    """

    def __init__(self, name: str) -> None:
        self.key: bytes | None = None
        self._name = name
        self._games: list[_Game] = []  # the latest first
        self._pending: OrderedDict[str, float] = OrderedDict()
        self._doubted_at: float | None = None
        self._sent: dict[int, _Sent] = {}

    def follows(self, game: int) -> bool:
        """Whether the end of a game's log is still to come."""
        return any(not each.over and (each.first is None or each.first.game == game) for each in self._games)

    # --- what the team does ---------------------------------------------------------------------------------------

    def placed(self, game: int, placements: Iterable[Placement], messages: Iterable[bytes]) -> None:
        """Note a fleet that was sent, in place of the one before, and what stands for its messages (SALVO-LOG-8)."""
        sent = self._of(game)
        sent.fleet = {placement.ship: placement for placement in placements}
        sent.messages.update(messages)

    def refused(self, game: int) -> None:
        """Note that a placement was refused: perhaps the fleet of an earlier run of this program stands."""
        self._of(game).refused = True

    def came_back(self, game: int) -> None:
        """Note that the server knew the team before it had placed: messages of an earlier run may still count."""
        self._of(game).elsewhere = True

    def fired(self, context: m.ShotContext, shot: Shot) -> None:
        """Note a shot that was sent."""
        sent = self._of(context.game)
        if context.shot == 1:
            sent.from_first_shot.add(context.turn)
        sent.shots.setdefault(context.turn, set()).add((context.shot, shot))

    def skipped(self, context: m.TurnContext) -> None:
        """Note that the rest of a turn was given up."""
        self._of(context.game).skipped.add(context.turn)

    def _of(self, game: int) -> _Sent:
        for older in [number for number in self._sent if number < game - 1]:
            del self._sent[older]
        return self._sent.setdefault(game, _Sent())

    # --- what it hears --------------------------------------------------------------------------------------------

    def heard(self, announcement: m.Announcement | None, now: float) -> None:
        """Take in what was said on a plain topic just now, not what the broker had kept."""
        if not isinstance(announcement, _COMPARED) or not self._games or self._games[0].over:
            return
        fact = _fact(said([announcement])[0])
        if not any(fact in game.confirmed for game in self._games) and len(self._pending) < _MOST_PENDING:
            self._pending.setdefault(fact, now)

    def connected_anew(self) -> None:
        """Forget what waits to be confirmed: that may have been said while the connection was lost."""
        self._pending.clear()

    def doubts(self, now: float) -> list[LogDoubted]:
        """Return what the log should have confirmed by now; nothing twice, and one at a time."""
        late = [fact for fact, since in self._pending.items() if now - since > CONFIRM_SECONDS]
        if not late:
            return []
        for fact in late:
            del self._pending[fact]
        if self._doubted_at is not None and now - self._doubted_at < CONFIRM_SECONDS:
            return []
        self._doubted_at = now
        more = f" and {len(late) - 1} more" if len(late) > 1 else ""
        return [LogDoubted(f"the server's log does not confirm within {CONFIRM_SECONDS:g} s: {late[0][:200]}{more}")]

    def logged(self, payload: bytes) -> list[GameVerified]:
        """Take in a payload of ``/game/log``.

        Raises:
            ImpostorError: ``impostor``: the server has not signed it.
            UnfairGame: ``unfair``: it has, and it cannot be true.
            WireError: ``wrong_shape`` or ``unknown_version``: nothing that this SDK can read.
        """
        if self.key is None:
            return []
        try:
            game, entry = self._take_in(payload)
        except LogError as error:
            raise self._explain(error) from None
        if entry is None:
            return []
        match entry.body:
            case LogStep():
                self._confirm(game, entry.body)
            case Reveal():
                game.texts += entry.body.texts
                game.revealed = game.revealed or entry.body
            case LogEnd():
                game.over = True
                self._pending.clear()
                return [self._judge(game, entry.body)]
        return []

    def _explain(self, error: LogError) -> ImpostorError | UnfairGame | WireError:
        assert self.key is not None
        if error.code == "log_forged":
            text = f"an entry of the log is not signed by the server {fingerprint(self.key)}: somebody is playing it"
            return ImpostorError("impostor", text)
        if error.fault is Fault.SERVER:
            return UnfairGame("unfair", f"{error.code}: {error.text}")
        return WireError("unknown_version" if error.code == "unknown_version" else "wrong_shape", error.text)

    def _take_in(self, payload: bytes) -> tuple[_Game, Entry | None]:
        """Find the game that a payload belongs to; one that continues none of them begins where it is."""
        opening = _opening_digest(payload)
        if opening is not None:
            known = next((game for game in self._games if game.opening == opening), None)
            if known is not None and known.whole:
                return known, None
            self._games = [game for game in self._games if game is not known]  # what it lacks may come now
            return self._begin(payload, opening)
        for game in self._games:
            try:
                return game, game.chain.take_in(payload)
            except LogError as error:
                if error.code == "log_gap" or (error.code in _REPEATED and _has_seed(game)):
                    return self._go_on_behind_gap(game, payload)
                if error.code != "log_foreign":
                    raise
        return self._begin(payload, None)

    def _begin(self, payload: bytes, opening: bytes | None) -> tuple[_Game, Entry | None]:
        game = _Game(LogChain(self.key), opening, opening is not None)
        entry = game.chain.take_in(payload)
        game.first = game.chain.opening
        if opening is not None:
            self._pending.clear()  # was said of the lobby that just opened, or of a game that is no more
        self._games.insert(0, game)
        del self._games[_MOST_GAMES:]
        return game, entry

    def _go_on_behind_gap(self, game: _Game, payload: bytes) -> tuple[_Game, Entry | None]:
        """Entries were missed while the connection was lost: the game is followed on, but not judged as a whole."""
        chain = LogChain(self.key)
        entry = chain.take_in(payload)
        game.chain, game.whole = chain, False
        self._pending.clear()  # what was missed may have confirmed it
        return game, entry

    def _confirm(self, game: _Game, step: LogStep) -> None:
        game.steps += 1
        game.hidden += step.hidden
        for announcement in step.said:
            fact = _fact(announcement)
            game.confirmed.add(fact)
            self._pending.pop(fact, None)
            result = announcement.get("result")
            if result is not None and result["player"] == self._name:
                game.shots[result["turn"]] = result["shots"]

    # --- the end --------------------------------------------------------------------------------------------------

    def _judge(self, game: _Game, end: LogEnd) -> GameVerified:
        """Hold what was revealed against the commitments, and against what this team has sent."""
        opening = game.first
        if not game.whole or opening is None:
            return GameVerified(0 if opening is None else opening.game, False)
        if (end.steps, end.hidden) != (game.steps, len(game.texts)) or len(game.hidden) != len(game.texts):
            raise _unfair(
                opening,
                f"it has {game.steps} steps, {len(game.hidden)} commitments and {len(game.texts)} revealed texts, and "
                f"its end tells of {end.steps} and {end.hidden}",
            )
        self._check_commitments(game, opening)
        self._check_own(game, opening)
        return GameVerified(opening.game, True)

    def _check_commitments(self, game: _Game, opening: Opening) -> None:
        revealed = game.revealed
        if revealed is None or revealed.secret is None or revealed.seed is None:
            raise _unfair(opening, "its secret was not revealed")
        if seed_commitment(revealed.secret, revealed.seed) != opening.seed:
            raise _unfair(opening, "the seed that was revealed is not the one that was committed to")
        for number, (commitment, text) in enumerate(zip(game.hidden, game.texts, strict=True)):
            if blind(revealed.secret, number, text) != commitment:
                raise _unfair(opening, f"hidden input {number} is not what was committed to: {text[:200]}")

    def _check_own(self, game: _Game, opening: Opening) -> None:
        sent = self._sent.pop(opening.game, None)
        if sent is None:
            return
        commands = [_read_hidden(text, opening) for text in game.texts]
        mine = [c for c in commands if isinstance(c, (m.PlaceShip, m.Fire, m.Skip)) and c.player == self._name]
        self._check_placements(opening, sent, [c for c in mine if isinstance(c, m.PlaceShip)])
        self._check_shots(game, opening, sent, [c for c in mine if isinstance(c, m.Fire)])
        self._check_skips(opening, sent, [c for c in mine if isinstance(c, m.Skip)])

    def _check_placements(self, opening: Opening, sent: _Sent, counted: Sequence[m.PlaceShip]) -> None:
        """What counted last of each ship must be what was sent, in a message that was: it decides who begins."""
        if sent.refused:
            return
        last = {command.placement.ship: command for command in counted}
        for ship, placement in sent.fleet.items():
            command = last.get(ship)
            if command is None or command.placement != placement:
                told = f"no {ship}" if command is None else command.placement
                raise _unfair(opening, f"{told} counted for {self._name}, which sent {placement}")
            if opening.draw is m.Draw.FAIR and not sent.elsewhere and command.message not in sent.messages:
                text = f"the {ship} of {self._name} came with the message {command.message.hex()}, which it never sent"
                raise _unfair(opening, text)

    def _check_shots(self, game: _Game, opening: Opening, sent: _Sent, counted: Sequence[m.Fire]) -> None:
        """In every turn that this program played from its first shot, what counted must be what was sent.

        Shots without their occasion are another program's with the same secret; then nobody here knows all.
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
            if len(shots) != game.shots.get(turn, 0):
                announced = game.shots.get(turn, 0)
                raise _unfair(opening, f"turn {turn}: it announced {announced} shots, and revealed {len(shots)}")

    def _check_skips(self, opening: Opening, sent: _Sent, counted: Sequence[m.Skip]) -> None:
        """No turn that this program played from its first shot was ended early but by itself."""
        for c in counted:
            if c.context is not None and c.context.turn in sent.from_first_shot - sent.skipped:
                raise _unfair(opening, f"turn {c.context.turn}: a skip of {self._name} counted that was never sent")


def _read_hidden(text: str, opening: Opening) -> m.Input:
    try:
        return read_hidden(text)[1]
    except WireError as error:
        raise _unfair(opening, f"a revealed text is no input: {error.text}") from None


def _unfair(opening: Opening, text: str) -> UnfairGame:
    return UnfairGame("unfair", f"the log of game {opening.game}, which the server signed: {text}")


def _has_seed(game: _Game) -> bool:
    """Whether the draws come from an explicit seed, so that another game may have the very same opening."""
    return game.first is not None and game.first.draw is m.Draw.SEED


def _opening_digest(payload: bytes) -> bytes | None:
    """What stands for a game, when the payload looks like its opening."""
    try:
        text, _ = take_apart(payload)
    except WireError:
        return None
    return entry_digest(text) if text.startswith(b'{"n":0,') else None


def _fact(announcement: dict[str, Any]) -> str:
    """One text for the same news on the plain topic and in the log.

    A turn whose time begins anew is the same topic there.
    """
    [(kind, body)] = announcement.items()
    return json.dumps({"turn" if kind == "turn_resumed" else kind: body}, separators=(",", ":"), sort_keys=True)
