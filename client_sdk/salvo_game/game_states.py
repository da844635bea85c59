"""The states of a table with a game: a turn, the pause after its result, and the result of the game.

Values: a step returns what is announced and the next one. What happened in the game is in the :class:`Match` that they
pass on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, NoReturn, TypeAlias

from salvo import messages as m
from salvo.errors import IllegalCommand
from salvo_game.match import Match, Player, Terms

Announcements = list[m.Announcement]
InMatch: TypeAlias = "Turn | Pause | Over"


class Hosted(NamedTuple):
    """A host's command, and the terms of the game after this one."""

    command: m.HostCommand
    following: Terms

    @property
    def ms(self) -> int:
        """Its seconds, in milliseconds."""
        return 1000 * (self.command.seconds or 0)


def extended(deadline: int | None, by: Hosted) -> int:
    """Return a deadline that a host has extended.

    Raises:
        IllegalCommand: ``clock_stopped``.
    """
    if deadline is None:
        raise IllegalCommand("clock_stopped", "no time is running that could be extended")
    return deadline + by.ms


def unknown_team(name: str, names: Iterable[str]) -> IllegalCommand:
    """Return the refusal to remove a team that is not there."""
    return IllegalCommand(
        "unknown_target", f"no team {name[:40]!r} to remove; the teams are {', '.join(names) or 'none'}"
    )


@dataclass(frozen=True, slots=True)
class InGame:
    """What these states have in common.

    Attributes:
        deadline: when the state ends by itself, in epoch ms; None in a host's pause (SALVO-HOST-4).
    """

    state: ClassVar[m.State]
    match: Match
    deadline: int | None

    @property
    def paused(self) -> bool:
        """Whether a host has paused the table."""
        return self.deadline is None

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

    def has_had(self, command: m.Fire | m.Skip) -> bool:
        """Whether a player's shot or skip is the repetition of one that counted (SALVO-FIRE-13)."""
        return self.match.has_had(command)

    # --- the host (SALVO-HOST) ----------------------------------------------------------------------------------

    def pause(self, by: Hosted, now: int) -> tuple[Announcements, Any]:
        """Stop the clock; a turn can still be finished, but none begins (SALVO-HOST-4)."""
        return [], replace(self, deadline=None)

    def extend(self, by: Hosted, now: int) -> tuple[Announcements, Any]:
        """Give what is going on more time (SALVO-HOST-4)."""
        return [], replace(self, deadline=extended(self.deadline, by))

    def abort(self, by: Hosted, now: int) -> tuple[Announcements, Over]:
        """End the game without a winner; what was fired in the turn that is going on does not count (SALVO-HOST-5)."""
        figures = self.match.figures()
        return [*figures, m.StateChanged(m.State.OVER)], Over(self.match, now + self.terms.limits.over_ms, 0)

    def remove(self, by: Hosted, now: int) -> tuple[Announcements, Any]:
        """Defeat a player with the end of the turn; its own turn ends at once (SALVO-HOST-6)."""
        team = by.command.team
        if team not in self.standing:
            raise unknown_team(team, self.standing)
        self.match.removed.append(team)
        refusal = m.CommandRefused(team, "removed", "the host has removed you from this game")
        announced, state = self.end_removed(now)
        return [refusal, *announced], state

    def end_removed(self, now: int) -> tuple[Announcements, Any]:
        """End the turn of a player that a host has removed."""
        return [], self

    @property
    def standing(self) -> list[str]:
        """Those whom a host can remove."""
        out, removed = self.match.game.out, self.match.removed
        return [name for name, player in self.players.items() if not out[player.seat] and name not in removed]


@dataclass(frozen=True, slots=True)
class Turn(InGame):
    """A player may fire.

    Attributes:
        delivered: since when the player's bank counts; None as long as it does not (SALVO-TIME-2).
        bank_ends: whether the deadline is the end of the bank.
    """

    state = m.State.TURN
    delivered: int | None = None
    bank_ends: bool = False

    @classmethod
    def begin(
        cls, match: Match, now: int, *, extra_ms: int = 0, skipped: bool = False
    ) -> tuple[Announcements, InMatch]:
        """Begin the next turn of a match; that of a removed player ends at once.

        Args:
            extra_ms: time that a host has given it before it began.
            skipped: whether a host has ended it before it began.
        """
        match.begin_turn()
        turn = cls(match, now + match.turn_ms(match.current) + extra_ms)
        began = m.TurnBegan(*turn._announced_as(now))
        if skipped and match.current.name not in match.removed:
            announced, state = turn._run_out_by_host(now)
        else:
            announced, state = turn.end_removed(now)
        return [began, *announced], state

    def _announced_as(self, now: int) -> tuple[int, int, str, int, int, int]:
        """Game, turn, player, shots, time and end, as if the begin had been delivered already (SALVO-TIME-4)."""
        match, game, player = self.match, self.match.game, self.match.current
        end = self.deadline or now
        if match.terms.limits.bank_ms is not None:
            end = min(end, now + player.bank_ms)
        return match.terms.number, game.turn, player.name, game.shots_fired + game.shots_left, now, end

    @property
    def awaits_delivery(self) -> bool:
        """Whether there is a bank that does not count yet."""
        return self.terms.limits.bank_ms is not None and self.delivered is None and self.deadline is not None

    def count_from(self, command: m.TurnDelivered, now: int) -> tuple[Announcements, Turn]:
        """Let the player's bank count (SALVO-TIME-2); unannounced, since no player has less time by it."""
        if not self.awaits_delivery or command.turn != self.match.game.turn or self.deadline is None:
            return [], self
        empty = now + self.match.current.bank_ms
        return [], Turn(self.match, min(self.deadline, empty), now, empty < self.deadline)

    def resume(self, command: m.Resumed, now: int) -> tuple[Announcements, Turn]:
        """Restart the time to act, because no player could act (SALVO-BACK-2)."""
        return ([], self) if self.deadline is None else self._restart(now)

    def _restart(self, now: int) -> tuple[Announcements, Turn]:
        turn = Turn(self.match, now + self.match.turn_ms(self.match.current))
        return [m.TurnResumed(*turn._announced_as(now))], turn

    def resume_paused(self, by: Hosted, now: int) -> tuple[Announcements, Turn]:
        """Restart the time of the turn (SALVO-HOST-4)."""
        return self._restart(now)

    def pause(self, by: Hosted, now: int) -> tuple[Announcements, Turn]:
        """Stop the clock, that of the player's bank, too (SALVO-HOST-4)."""
        return [], Turn(self.match, None)

    def extend(self, by: Hosted, now: int) -> tuple[Announcements, Turn]:
        """Give the player more time, in its bank, too (SALVO-HOST-4)."""
        turn = replace(self, deadline=extended(self.deadline, by))
        self.match.give_time(by.ms)
        return [m.TurnResumed(*turn._announced_as(now))], turn

    def skip_by_host(self, by: Hosted, now: int) -> tuple[Announcements, InMatch]:
        """End the turn as if its time had run out (SALVO-HOST-3)."""
        return self._run_out_by_host(now)

    def _run_out_by_host(self, now: int) -> tuple[Announcements, InMatch]:
        return self._run_out("turn_timeout", f"the host ended turn {self.match.game.turn}", now)

    def end_removed(self, now: int) -> tuple[Announcements, InMatch]:
        """End the turn of a player that a host has removed (SALVO-HOST-6)."""
        if self.match.current.name not in self.match.removed:
            return [], self
        self.match.cut_turn_short()
        return self._end([], now)

    def fire(self, command: m.Fire, now: int) -> tuple[Announcements, InMatch]:
        """Carry out a shot, and end the turn with the last one (SALVO-FIRE)."""
        match = self.match
        player = match.players[command.player]
        if player is not match.current:
            raise match.out_of_turn(player, self._whose(), f", not {player.name}'s")
        accepted = match.fire(player, command)
        if match.game.shots_left and not match.game.over:
            return [accepted], self
        player.silent_turns = 0
        return self._end([accepted], now)

    def skip(self, command: m.Skip, now: int) -> tuple[Announcements, InMatch]:
        """End the turn of a player that wants no more of it (SALVO-BOOK-7)."""
        match = self.match
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

    def run_out(self, following: Terms, now: int) -> tuple[Announcements, InMatch]:
        """Close a turn whose deadline has passed (SALVO-TURN-5, SALVO-TURN-6)."""
        ended = f"turn {self.match.game.turn} ended"
        if self.bank_ends:
            bank = f"your {(self.terms.limits.bank_ms or 0) // 1000} s for this game were used up"
            return self._run_out("bank_empty", f"{ended} when {bank},", now)
        return self._run_out("turn_timeout", f"{ended} after {self.match.turn_ms(self.match.current) // 1000} s", now)

    def _run_out(self, code: str, reason: str, now: int) -> tuple[Announcements, InMatch]:
        match = self.match
        game, player = match.game, match.current
        reason += f" with {game.shots_left} shots not fired"
        if match.cut_turn_short():
            reason += f"; {player.silent_turns} empty turns in a row are a defeat"
        player.missed_turns = 0 if game.shots_fired else player.missed_turns + 1
        if match.is_absent(player):
            reason += f"; your turns have {match.turn_ms(player) // 1000} s until you fire or skip"
        return self._end([m.CommandRefused(player.name, code, reason)], now)

    def _end(self, announced: Announcements, now: int) -> tuple[Announcements, InMatch]:
        match = self.match
        if self.delivered is not None:
            match.current.bank_ms = max(0, match.current.bank_ms - (now - self.delivered))
        results, resolved = match.end_turn()
        announced += results
        if match.game.over:
            over = Over(match, now + self.terms.limits.over_ms, match.game.shots_left)
            return [*announced, *match.figures(), m.StateChanged(m.State.OVER)], over
        pause_ms = (self.terms.limits.pace_ms or 0) * resolved
        if self.deadline is None:
            return announced, Pause(match, None, pause_ms)
        if pause_ms:
            return announced, Pause(match, now + pause_ms, pause_ms)
        began, turn = Turn.begin(match, now)
        return announced + began, turn


@dataclass(frozen=True, slots=True)
class Pause(InGame):
    """Nobody may fire until the next turn begins (SALVO-PACE).

    Attributes:
        pause_ms: how long it is.
        extra_ms: what a host has added to the time of the next turn.
        skipped: whether a host has ended the next turn before it begins.
    """

    state = m.State.TURN
    pause_ms: int
    extra_ms: int = 0
    skipped: bool = False

    def end(self, following: Terms, now: int) -> tuple[Announcements, InMatch]:
        """Begin the next turn."""
        return self._begin(now)

    def _begin(self, now: int) -> tuple[Announcements, InMatch]:
        return Turn.begin(self.match, now, extra_ms=self.extra_ms, skipped=self.skipped)

    def extend(self, by: Hosted, now: int) -> tuple[Announcements, Pause]:
        """Give the next turn more time, in its player's bank, too (SALVO-HOST-4)."""
        extended(self.deadline, by)  # refused where no time is running
        self.match.give_time(by.ms)
        return [], replace(self, extra_ms=self.extra_ms + by.ms)

    def skip_by_host(self, by: Hosted, now: int) -> tuple[Announcements, Pause]:
        """Let the next turn end as it begins (SALVO-HOST-3)."""
        return [], replace(self, skipped=True)

    def resume(self, command: m.Resumed, now: int) -> tuple[Announcements, Pause]:
        """Begin the pause again, because no one could watch (SALVO-PACE-5)."""
        return [], self if self.deadline is None else replace(self, deadline=now + self.pause_ms)

    def resume_paused(self, by: Hosted, now: int) -> tuple[Announcements, InMatch]:
        """Begin the pause again, or the next turn where there is none (SALVO-HOST-4)."""
        return ([], replace(self, deadline=now + self.pause_ms)) if self.pause_ms else self._begin(now)

    def fire(self, command: m.Fire, now: int) -> NoReturn:
        """Refuse a shot (SALVO-PACE-2)."""
        raise self.match.out_of_turn(self.match.players[command.player], self._whose())

    def skip(self, command: m.Skip, now: int) -> NoReturn:
        """Refuse a skip (SALVO-PACE-2)."""
        raise IllegalCommand("not_your_turn", self._whose())

    def _whose(self) -> str:
        turn, following = self.match.game.turn, self.match.current.name
        when = "when the host resumes" if self.deadline is None else f"{self.pause_ms} ms after the last result"
        return f"it is nobody's turn: turn {turn}, {following}'s, begins {when}"


@dataclass(frozen=True, slots=True)
class Over(InGame):
    """The result stands (SALVO-END-4).

    Attributes:
        void_shots: those of the salvo that won which may still come (SALVO-FIRE-12).
    """

    state = m.State.OVER
    void_shots: int

    def resume_paused(self, by: Hosted, now: int) -> tuple[Announcements, Over]:
        """Restart the time of the result (SALVO-HOST-4)."""
        return [], replace(self, deadline=now + self.terms.limits.over_ms)

    def is_void(self, command: m.Fire) -> bool:
        """Whether a shot belongs to the rest of the salvo that won the game."""
        return self.void_shots > 0 and self.match.results[-1].player == command.player

    def has_had(self, command: m.Fire | m.Skip) -> bool:
        """Whether it is the repetition of one that counted, or that fell void with the end (SALVO-FIRE-13)."""
        return self.match.has_had(command) or self._fell_void(command)

    def _fell_void(self, command: m.Fire | m.Skip) -> bool:
        """Whether a shot was among the void ones, which have all come already; an aborted game has none."""
        if self.void_shots or not self.match.game.over or not isinstance(command, m.Fire) or command.context is None:
            return False
        last, of = self.match.results[-1], command.context
        return (last.game, last.turn, last.player) == (of.game, of.turn, command.player)
