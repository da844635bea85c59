"""The states of a table with a game: a turn, the pause after its result, and the result of the game.

Values: a step returns what is announced and the next one. What happened in the game is in the :class:`Match` that they
pass on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NoReturn

from salvo import messages as m
from salvo.errors import IllegalCommand
from salvo.messages import State
from salvo_server.core.match import Match, Player
from salvo_server.core.terms import Terms

Said = list[m.Announcement]


@dataclass(frozen=True, slots=True)
class InGame:
    """What these states have in common.

    Attributes:
        deadline: when the state ends by itself, in epoch ms.
    """

    state: ClassVar[State]
    match: Match
    deadline: int

    @property
    def terms(self) -> Terms:
        """What the game is played by."""
        return self.match.terms

    @property
    def players(self) -> dict[str, Player]:
        """All players by name, in play order."""
        return self.match.players

    def recap(self, name: str) -> m.Recap:
        """Return all that a player may know of the game so far."""
        return self.match.recap(name)


@dataclass(frozen=True, slots=True)
class Turn(InGame):
    """A player may fire.

    Attributes:
        delivered: since when the player's bank counts; None as long as it does not (SALVO-TIME-2).
        bank_ends: whether the deadline is the end of the bank.
    """

    state = State.TURN
    delivered: int | None = None
    bank_ends: bool = False

    @classmethod
    def begin(cls, match: Match, now: int) -> tuple[Said, Turn]:
        """Begin the next turn of a match."""
        match.begin_turn()
        turn = cls._starting(match, now)
        return [m.TurnBegan(*turn._told(now))], turn

    @classmethod
    def _starting(cls, match: Match, now: int) -> Turn:
        return cls(match, now + match.turn_ms(match.current))

    def _told(self, now: int) -> tuple[int, int, str, int, int, int]:
        """Game, turn, player, shots, time and end, as if the begin had been delivered already (SALVO-TIME-4)."""
        match, game, player = self.match, self.match.game, self.match.current
        end = self.deadline if match.terms.limits.bank_ms is None else min(self.deadline, now + player.bank_ms)
        return match.terms.number, game.turn, player.name, game.shots_fired + game.shots_left, now, end

    @property
    def awaits_delivery(self) -> bool:
        """Whether there is a bank that does not count yet."""
        return self.terms.limits.bank_ms is not None and self.delivered is None

    def count_from(self, command: m.TurnDelivered, now: int) -> tuple[Said, Turn]:
        """Let the player's bank count (SALVO-TIME-2); unannounced, since no player has less time by it."""
        if not self.awaits_delivery or command.turn != self.match.game.turn:
            return [], self
        empty = now + self.match.current.bank_ms
        return [], Turn(self.match, min(self.deadline, empty), now, empty < self.deadline)

    def resume(self, command: m.Resumed, now: int) -> tuple[Said, Turn]:
        """Restart the time to act, because no player could act (SALVO-BACK-2)."""
        turn = self._starting(self.match, now)
        return [m.TurnResumed(*turn._told(now))], turn

    def fire(self, command: m.Fire, now: int) -> tuple[Said, Turn | Pause | Over]:
        """Carry out a shot, and end the turn with the last one (SALVO-FIRE)."""
        match = self.match
        player = match.players[command.player]
        if player is not match.current:
            raise match.out_of_turn(player, self._whose(), f", not {player.name}'s")
        told = match.fire(player, command)
        if match.game.shots_left and not match.game.over:
            return [told], self
        player.silent_turns = 0
        return self._end([told], now)

    def skip(self, command: m.Skip, now: int) -> tuple[Said, Turn | Pause | Over]:
        """End the turn of a player that wants no more of it (SALVO-BOOK-7)."""
        match = self.match
        check_skipping(self.terms)
        player = match.players[command.player]
        if player is not match.current:
            raise IllegalCommand("not_your_turn", f"{self._whose()}, not {player.name}'s")
        self._check_context(command)
        player.missed_turns = 0
        player.skipped = match.game.turn
        match.cut_turn_short()
        return self._end([], now)

    def _check_context(self, command: m.Skip) -> None:
        expected = m.TurnContext(self.terms.number, self.match.game.turn)
        if command.context is not None and command.context != expected:
            raise IllegalCommand(
                "stale_context",
                f"signed for game {command.context.game}, turn {command.context.turn}; "
                f"this is game {expected.game}, turn {expected.turn}",
            )

    def _whose(self) -> str:
        return f"it is {self.match.current.name}'s turn"

    def run_out(self, following: Terms, now: int) -> tuple[Said, Turn | Pause | Over]:
        """Close a turn whose deadline has passed (SALVO-TURN-5, SALVO-TURN-6)."""
        match = self.match
        game, player = match.game, match.current
        code, reason = "turn_timeout", f"turn {game.turn} ended after {match.turn_ms(player) // 1000} s"
        if self.bank_ends:
            seconds = (self.terms.limits.bank_ms or 0) // 1000
            code = "bank_empty"
            reason = f"turn {game.turn} ended when your {seconds} s for this game were used up,"
        reason += f" with {game.shots_left} shots not fired"
        if match.cut_turn_short():
            reason += f"; {player.silent_turns} empty turns in a row are a defeat"
        player.missed_turns = 0 if game.shots_fired else player.missed_turns + 1
        if match.is_absent(player):
            reason += f"; your turns have {match.turn_ms(player) // 1000} s until you fire or skip"
        return self._end([m.CommandRefused(player.name, code, reason)], now)

    def _end(self, said: Said, now: int) -> tuple[Said, Turn | Pause | Over]:
        match = self.match
        if self.delivered is not None:
            match.current.bank_ms = max(0, match.current.bank_ms - (now - self.delivered))
        told, resolved = match.end_turn()
        said += told
        if match.game.over:
            over = Over(match, now + self.terms.limits.over_ms, match.game.shots_left)
            return [*said, *match.figures(), m.StateChanged(State.OVER)], over
        pause_ms = (self.terms.limits.pace_ms or 0) * resolved
        if pause_ms:
            return said, Pause(match, now + pause_ms, pause_ms)
        began, turn = Turn.begin(match, now)
        return said + began, turn


@dataclass(frozen=True, slots=True)
class Pause(InGame):
    """Nobody may fire until the next turn begins (SALVO-PACE).

    Attributes:
        pause_ms: how long it is.
    """

    state = State.TURN
    pause_ms: int

    def end(self, following: Terms, now: int) -> tuple[Said, Turn]:
        """Begin the next turn."""
        return Turn.begin(self.match, now)

    def resume(self, command: m.Resumed, now: int) -> tuple[Said, Pause]:
        """Begin the pause again, because no one could watch (SALVO-PACE-5)."""
        return [], replace(self, deadline=now + self.pause_ms)

    def fire(self, command: m.Fire, now: int) -> NoReturn:
        """Refuse a shot (SALVO-PACE-2)."""
        raise self.match.out_of_turn(self.match.players[command.player], self._whose())

    def skip(self, command: m.Skip, now: int) -> NoReturn:
        """Refuse a skip (SALVO-PACE-2)."""
        check_skipping(self.terms)
        raise IllegalCommand("not_your_turn", self._whose())

    def _whose(self) -> str:
        turn, following = self.match.game.turn, self.match.current.name
        return f"it is nobody's turn: turn {turn}, {following}'s, begins {self.pause_ms} ms after the last result"


@dataclass(frozen=True, slots=True)
class Over(InGame):
    """The result stands (SALVO-END-4).

    Attributes:
        void_shots: those of the salvo that won which may still come (SALVO-FIRE-12).
    """

    state = State.OVER
    void_shots: int

    def is_void(self, command: m.Fire) -> bool:
        """Whether a shot belongs to the rest of the salvo that won the game."""
        return self.void_shots > 0 and self.match.results[-1].player == command.player

    def fell_void(self, command: m.Input) -> bool:
        """Whether a shot was among the void ones, which have all come already."""
        if self.void_shots or not isinstance(command, m.Fire) or command.context is None:
            return False
        last, of = self.match.results[-1], command.context
        return (last.game, last.turn, last.player) == (of.game, of.turn, command.player)


def check_skipping(terms: Terms) -> None:
    """Make sure that the rules have skipping.

    Raises:
        IllegalCommand: ``no_skipping``.
    """
    if not terms.book.skipping:
        text = f"the rules {terms.book.name} have no skipping; a turn ends with its last shot or at its deadline"
        raise IllegalCommand("no_skipping", text)
