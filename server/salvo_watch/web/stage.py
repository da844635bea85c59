"""What a page of the hall shows: the tapes of games that are over, and between them the table live.

A page is one game behind: while a game is played, the tape of the one before runs. A stage decides which tape that is,
and says when a tape has been shown, because nothing else in the hall may tell the end of a game before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from salvo.badges import Badges
from salvo.messages import State
from salvo.table_places import table_of
from salvo_watch.web.tables import Arrived, ShownTable
from salvo_watch.web.tapes import Tape

#: The end of a tape is shown for so long: the page's card takes seven.
END_SECONDS: Final = 8.0
#: A result is shown at the latest so many seconds after its game, whatever tapes are still to be shown.
LATEST_SECONDS: Final = 150.0


class _Waiting(NamedTuple):
    tape: Tape
    round: int
    final: bool
    begins_until: float


class Playing:
    """A tape that is running.

    Attributes:
        table: to which the tape plays; it is in the game's own time.
        round: see :meth:`Stage.offer`.
        again: whether it has been shown before.
        next_at: when the next cut is due, or since when the tape is at its end, by the clock of the event loop.
    """

    def __init__(self, tape: Tape, round_: int, badges: Badges, now: float, *, again: bool = False) -> None:
        self.tape, self.round, self.again = tape, round_, again
        self.table = ShownTable(tape.table, boards=True, badges=badges)
        self.next_at = now
        self._shown = 0

    @property
    def over(self) -> bool:
        """Whether it has shown its end."""
        return self._shown == len(self.tape.cuts)

    def advance(self, now: float) -> None:
        """Show the cuts that are due."""
        while not self.over and self.next_at <= now:
            cut = self.tape.cuts[self._shown]
            for news in cut.news:
                self.table.receive(Arrived(news), cut.at / 1000)
            self._shown += 1
            self.next_at += cut.ms / 1000

    def picture(self) -> dict[str, Any]:
        """Return the picture of the moment; the clock and the time left say nothing here."""
        cut = self.tape.cuts[self._shown - 1]
        picture = self.table.picture(cut.at / 1000)
        if picture["turn"] is not None:
            picture["turn"] |= {"left_ms": None, "whole_ms": None}
        of = {
            "table": self.tape.table,
            "round": max(0, self.round - 1),
            "ended": self.tape.ended,
            "at": cut.at,
            "ms": cut.ms,
        }
        return {**picture, "left": "", "tape": of}


class HallStage:
    """Which tape a page shows.

    Attributes:
        playing: the tape that is shown; None while the page is live.
    """

    def __init__(
        self, live: ShownTable, badges: Badges, shown: Callable[[Tape], None], idle: Callable[[], bool] = lambda: False
    ) -> None:
        """Begin live.

        Args:
            live: the table that is shown between tapes.
            shown: called with each tape when it is at its end, or will not be shown.
            idle: whether there is nothing else to see in the table's lobby, where the last tape runs again.
        """
        self._idle = idle
        self.playing: Playing | None = None
        self._live, self._badges, self._report = live, badges, shown
        self._waiting: list[_Waiting] = []

    def offer(self, tape: Tape, now: float, round_: int = 0, *, final: bool = False) -> None:
        """Take a tape that has just been made.

        Args:
            round_: of a league, in which a game of a later round matters more, and ends the tape of an earlier one; at
                a table alone, only the newest game waits.
            final: whether the game decides the league.
        """
        kept = [waiting for waiting in self._waiting if round_ and waiting.round >= round_]
        self._drop(waiting for waiting in self._waiting if waiting not in kept)
        self._waiting = [*kept, _Waiting(tape, round_, final, now + LATEST_SECONDS - tape.ms / 1000)]
        if self.playing is not None and (self.playing.again or self.playing.round < round_):
            self._report(self.playing.tape)
            self.playing = None
        self.advance(now)

    def advance(self, now: float) -> None:
        """Show what is due: the next cut, the next tape, or the table live."""
        if self.playing is not None and self.playing.again and not self._idles:
            self.playing = None
        playing = self.playing
        if playing is not None and not playing.over:
            playing.advance(now)
            if not playing.over:
                return
            self._report(playing.tape)
        if playing is not None and now < playing.next_at + END_SECONDS:
            return
        best = self._next(now)
        if best is not None:
            self.playing = Playing(best.tape, best.round, self._badges, now)
            self.playing.advance(now)
        elif playing is not None and self._idles:
            self.playing = Playing(playing.tape, playing.round, self._badges, now, again=True)
            self.playing.advance(now)
        elif playing is not None and not self._still_at(playing.tape):
            self.playing = None

    def next_due(self, now: float) -> float | None:
        """Return when there is something to do; None while that depends on the table."""
        if self.playing is None:
            return None
        due = self.playing.next_at + (END_SECONDS if self.playing.over else 0.0)
        return due if due > now or not self.playing.over else None

    def _next(self, now: float) -> _Waiting | None:
        """Take the best tape of those that wait: of a league's newest round, a final, else where most happened."""
        self._drop(waiting for waiting in self._waiting if waiting.begins_until < now)
        self._waiting = [waiting for waiting in self._waiting if waiting.begins_until >= now]
        best = max(self._waiting, key=lambda waiting: (waiting.round, waiting.final, waiting.tape.thrill), default=None)
        if best is not None:
            self._waiting.remove(best)
        return best

    def _drop(self, waiting: Iterable[_Waiting]) -> None:
        for dropped in waiting:
            self._report(dropped.tape)

    @property
    def _idles(self) -> bool:
        return self._live.shown.state is State.LOBBY and self._idle()

    def _still_at(self, tape: Tape) -> bool:
        """Whether the table still shows the result of the tape's game."""
        live = self._live
        return live.shown.state is State.OVER and (table_of(live.name), live.shown.game.number) == (
            tape.table,
            tape.game,
        )
