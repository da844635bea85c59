"""A roll call: which teams follow seats, found out before they are drawn, so that it costs nobody a match.

The teams get a seat in a lobby that is open to all, at a table that is free. Who comes there follows seats. Who stays
in the hall instead, and asks to take part in a lobby that has opened there after the seat was given, follows none: to
be listed there is no proof alone, since a team whose machine sleeps cannot leave.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from salvo.messages import State
from salvo.table_places import cell_of
from salvo_league.table_desk import TableDesk

#: How long teams have to come to their seat, and then how long one has to stay in the hall. Where there are several
#: cells, it may be looking for a broker that is there.
SEAT_SECONDS: Final = 5.0
CELL_SEAT_SECONDS: Final = 30.0
#: Teams that are called together: fewer than a lobby lets in.
MOST: Final = 32


class RollCall:
    """The one that goes on, if one does.

    Attributes:
        at: the table of its lobby; None while there is none.
        follows: teams that came to one.
        silent: teams that were called, and neither came nor stayed, with the round in which that was.
        called: teams that are called now.
    """

    def __init__(self, desks: Mapping[str, TableDesk], *, several: bool) -> None:
        """Call nobody yet.

        Args:
            desks: of all tables.
            several: whether there are several cells.
        """
        self.at: str | None = None
        self.follows: set[str] = set()
        self.silent: dict[str, int] = {}
        self.called: tuple[str, ...] = ()
        self._desks = desks
        self._patience = CELL_SEAT_SECONDS if several else SEAT_SECONDS
        self._since: float | None = None  # when they got their seats

    @property
    def seated(self) -> tuple[str, ...]:
        """The teams that have a seat at its table now."""
        return () if self._since is None else self.called

    def end(self) -> None:
        """Let all go back to the hall."""
        self.at, self.called, self._since = None, (), None

    def begin(self, teams: Sequence[str], seen: Mapping[str, str], free: Sequence[str]) -> None:
        """Call teams at a free table of their cell; those of one cell, and no more than a lobby has room for.

        Args:
            teams: at least one.
            seen: the hall of each.
        """
        cell = cell_of(seen[teams[0]])
        tables = [at for at in free if cell_of(at) == cell]
        if tables:
            self.at, self.called = tables[0], tuple(team for team in teams if cell_of(seen[team]) == cell)[:MOST]

    def step(
        self, now: float, number: int, seen: Mapping[str, str], known: Collection[str], busy: Collection[str]
    ) -> list[str]:
        """Return the teams that are found to follow no seat.

        Args:
            number: of the round.
            seen: the hall of each team.
            known: teams of which that was found before; they are called to see whether it still holds.
            busy: places where the league plays.
        """
        if self.at is None:
            return []
        desk = self._desks[self.at]
        if not desk.view.here or desk.view.state is State.TURN:
            self.end()
            return []
        if not desk.is_open:
            desk.open_hall()
            return []
        self._since = now if self._since is None else self._since
        self.follows.update(team for team in self.called if team in desk.view.listed)
        left = [team for team in self.called if team not in self.follows]
        if left and now - self._since < self._patience:
            return []
        left = [team for team in left if team not in known]
        hall = self._desks[seen[left[0]]] if left else desk
        if left and hall.at not in busy and hall.view.here and hall.view.state is not State.TURN:
            if hall.opened <= self._since:
                hall.close_hall()
                return []
            if not hall.is_open or now - hall.opened < self._patience:
                return []
        elif left:
            return []
        staying = [team for team in left if team in hall.view.listed]
        self.silent |= {team: number for team in left if team not in staying}
        self.end()
        return staying
