"""One table of a league from poll to poll: its state, and the commands that a host gives there.

A command names the game that it is for, so that none counts twice; it is given again after a while, because the broker
may have lost it. Nothing here knows of matches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from salvo import messages as m
from salvo.messages import HostAction, State
from salvo_league.league_file import OVER_SECONDS
from salvo_league.table_views import TableView

#: Between two commands that say the same.
AGAIN_SECONDS: Final = 2.0
#: How long teams have to come into the hall between two games there.
HALL_SECONDS: Final = 3.0
#: The most teams of a game, and so the most that a host sets at once.
MAX_TEAMS: Final = 64


@dataclass(frozen=True, slots=True)
class TableCommand:
    """A host's command for a table."""

    table: str
    command: m.HostCommand


class TableDesk:
    """What is remembered of a table, and what follows from it now.

    Attributes:
        at: where the table is.
        view: what is seen of it.
        opened, quiet_since: when its lobby was first seen, and when something last happened in it.
        over_since, odd_since, away_since: since when it was seen so; None while it is not.
        known: teams that the server's roster has, as far as it was asked here.
        hall: of a hall, the game in whose lobby teams come in.
        seated: the game for which seats were given here.
    """

    def __init__(self, at: str, host: str, result_seconds: float, give: Callable[[TableCommand], object]) -> None:
        """Know nothing yet.

        Args:
            host: the account's name.
            result_seconds: how long a result of the league is shown.
            give: takes what is to be commanded.
        """
        self.at = at
        self.view = TableView()
        self.opened = self.quiet_since = 0.0
        self.over_since: float | None = None
        self.odd_since: float | None = None
        self.away_since: float | None = None
        self.known: set[str] = set()
        self.hall = 0
        self.seated = 0
        self._host = host
        self._give = give
        self._result_seconds = result_seconds
        self._now = 0.0
        self._game = 0  # that the times are of
        self._progress: object = None  # of its lobby
        self._hall_since = 0.0
        self._sent: m.HostCommand | None = None
        self._sent_at = 0.0
        self._left = 0  # the lobby that makes way for a new one

    def look(self, view: TableView, now: float) -> None:
        """Take in what is seen; an absence of the server stops all times."""
        self.view, self._now = view, now
        if not view.here:
            self._game, self.odd_since = 0, None
            self.away_since = now if self.away_since is None else self.away_since
            return
        self.away_since = None
        progress = (view.listed, view.complete)
        if view.game != self._game:
            self._game, self.opened, self.quiet_since = view.game, now, now
            self.over_since = self.odd_since = None
        elif progress != self._progress:
            self.quiet_since = now
        self._progress = progress
        if view.state is not State.OVER:
            self.over_since = None
        elif self.over_since is None:
            self.over_since = now

    # --- what follows -----------------------------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        """Whether it is a hall where teams come in."""
        return self.view.here and self.view.state is State.LOBBY and self.view.game == self.hall

    @property
    def was_open(self) -> bool:
        """Whether teams had time to come into this hall."""
        return self.is_open and self._now - max(self._hall_since, self.opened) >= HALL_SECONDS

    @property
    def shows_result(self) -> bool:
        """Whether a result still stands: that of a game of others for as long as the server says."""
        shown = self.view.over_seconds if self.shows_result_of_others else self._result_seconds
        return self.over_since is not None and self._now - self.over_since < shown

    @property
    def shows_result_of_others(self) -> bool:
        """Whether a result is shown that is none of the league's."""
        return self.view.state is State.OVER and self.view.over_seconds != OVER_SECONDS and bool(self.view.winners)

    def is_set(self, settings: m.NextGame) -> bool:
        """Whether the table has taken these settings."""
        return self.view.hosted == m.HostActed(self._host, HostAction.SET, settings=settings)

    # --- what is commanded ------------------------------------------------------------------------------------------

    def command(self, do: HostAction, settings: m.NextGame | None = None) -> None:
        """Give a command for the table's game, again after a while."""
        command = m.HostCommand(self._host, do, settings=settings, context=self.view.game)
        if command == self._sent and self._now - self._sent_at < AGAIN_SECONDS:
            return
        self._sent, self._sent_at = command, self._now
        self._give(TableCommand(self.at, command))

    def open(self, settings: m.NextGame) -> None:
        """Set the next game, and once that is accepted open its lobby; a game of others is played to its end."""
        if self.view.state is State.TURN:
            return
        sent = self._sent
        ours = sent is not None and sent.context == self.view.game and sent.do in (HostAction.SET, HostAction.NEXT)
        if ours and sent is not None and sent.do is HostAction.NEXT and self._now - self._sent_at < AGAIN_SECONDS:
            return  # it is on its way: the table forgets first what was set, and only then says that it has obeyed
        if ours and self.is_set(settings):
            self.command(HostAction.NEXT)
        else:
            self.command(HostAction.SET, settings)

    def open_hall(self) -> None:
        """Let teams come in.

        While a league runs, the server holds every lobby for which no host has set anything (SALVO-EVENING-2). One that
        was set for a match is for its teams alone, and makes way.
        """
        view = self.view
        if not view.here or view.state is State.TURN or self.is_open or self.shows_result:
            return
        if view.state is State.LOBBY and view.over_seconds != OVER_SECONDS and view.game != self._left:
            self.hall, self._hall_since = view.game, self._now
        else:
            self.command(HostAction.NEXT)

    def close_hall(self) -> None:
        """Let the lobby make way for a new one, which shows who is here now."""
        self.hall, self._left = 0, self.view.game
