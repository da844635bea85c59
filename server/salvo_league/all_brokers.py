"""The desks of a league as one: each on a thread of its own, so that a broker that does not answer delays no other."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from salvo import messages as m
from salvo.errors import ConnectionLost
from salvo.net.mqtt import BrokerUrl
from salvo.table_places import cell_of
from salvo_league.one_broker import OneBroker
from salvo_league.table_desk import TableCommand
from salvo_league.table_views import TableView

log = logging.getLogger(__name__)

#: How long a desk waits for news unless it is woken.
_LOOK_SECONDS: Final = 0.5
#: Before a broker that has refused us in mid-league is asked again.
_AGAIN_SECONDS: Final = 5.0
#: For a thread to end: an attempt to reach a broker takes as long.
_END_SECONDS: Final = 10.0


class AllBrokers:
    """A host's place at the tables of one server or of several."""

    def __init__(
        self,
        brokers: Mapping[str, BrokerUrl],
        name: str,
        secret: str,
        places: Sequence[str],
        *,
        ca: str | None = None,
    ) -> None:
        """Prepare everything; nothing is sent before the first :meth:`look`.

        Args:
            brokers: by the cell's name, as :func:`~salvo.table_places.cells_of` returns them.
            name: the host's, on the roster.
            places: all tables.

        Raises:
            ConnectionLost: ``bad_ca``.
        """
        self._news = threading.Event()
        several = len(brokers) > 1
        self._brokers = {cell: str(broker) for cell, broker in brokers.items()} if several else {}
        self._cells = {}
        for cell, broker in brokers.items():
            own = [place for place in places if cell_of(place) == cell]

            def make(cell: str = cell, broker: BrokerUrl = broker, own: list[str] = own) -> OneBroker:
                return OneBroker(broker, name, secret, own, cell=cell, ca=ca)

            self._cells[cell] = _Cell(make, own, self._news, several=several)

    def look(self, longest_seconds: float) -> dict[str, TableView]:
        """Wait at most this long for news; return what is known of the tables, by place.

        Raises:
            LeagueError: ``no_hosts``: a contest is open.
            ConnectionLost: a broker refuses this client, or another program runs as this host.
        """
        for cell in self._cells.values():
            cell.start()
        self._news.wait(longest_seconds)
        self._news.clear()
        return {place: view for cell in self._cells.values() for place, view in cell.views().items()}

    def act(self, given: TableCommand) -> None:
        """Give a command."""
        self._cells[cell_of(given.table)].act(given.table, given.command)

    def seat(self, seats: Mapping[str, str | None], *, last: bool = False) -> None:
        """Tell the teams where their seats are, on all brokers: each team hears the one where it is.

        Args:
            last: whether the league is over, and no team needs to know of other brokers any more.
        """
        for cell in self._cells.values():
            cell.seat(seats, {} if last else self._brokers)

    def report(self, league: bytes) -> None:
        """Report to all servers how the league stands."""
        for cell in self._cells.values():
            cell.report(league)

    def close(self) -> None:
        """Disconnect from all brokers."""
        for cell in self._cells.values():
            cell.stop()
        for cell in self._cells.values():
            cell.join()


class _Cell:
    """One desk and its thread."""

    def __init__(
        self, make: Callable[[], OneBroker], places: Sequence[str], news: threading.Event, *, several: bool
    ) -> None:
        self._make = make
        self._news = news
        self._several = several
        self._nothing = {place: TableView() for place in places}
        self._views: Mapping[str, TableView] = self._nothing
        self._commands: deque[tuple[str, m.HostCommand]] = deque()
        self._seats: tuple[Mapping[str, str | None], Mapping[str, str]] = ({}, {})
        self._reported = b""
        self._error: Exception | None = None
        self._stop = threading.Event()
        self._desk = make()
        self._thread = threading.Thread(target=self._run, name="cell", daemon=True)

    def start(self) -> None:
        """Begin, once."""
        if self._thread.ident is None:
            self._thread.start()

    def views(self) -> Mapping[str, TableView]:
        """Return what is known; raises what has ended the thread."""
        if self._error is not None:
            raise self._error
        return self._views

    def act(self, place: str, command: m.HostCommand) -> None:
        """Give a command."""
        self._commands.append((place, command))
        self._desk.wake()

    def seat(self, seats: Mapping[str, str | None], brokers: Mapping[str, str]) -> None:
        """Replace the seats."""
        if self._seats != (seats, brokers):
            self._seats = (seats, brokers)
            self._desk.wake()

    def report(self, league: bytes) -> None:
        """Replace what is reported."""
        if self._reported != league:
            self._reported = league
            self._desk.wake()

    def stop(self) -> None:
        """Let the thread end."""
        self._stop.set()
        self._desk.wake()

    def join(self) -> None:
        """Wait until it has."""
        if self._thread.ident is not None:
            self._thread.join(_END_SECONDS)

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                try:
                    self._turn()
                except ConnectionLost as error:
                    if not (self._several and self._desk.reached) or error.code == "account_in_use":
                        raise
                    self._begin_again(error)
        except Exception as error:  # the owner's thread raises it
            self._error = error
            self._news.set()
        finally:
            self._desk.close()

    def _turn(self) -> None:
        while self._commands:
            self._desk.act(*self._commands.popleft())
        self._desk.seat(*self._seats)
        if self._reported:
            self._desk.report(self._reported)
        self._views = self._desk.look(_LOOK_SECONDS)
        self._news.set()

    def _begin_again(self, error: ConnectionLost) -> None:
        """Take a broker that no longer lets us in for one that is away: the others go on."""
        log.warning("%s; asking again", error)
        self._views = self._nothing
        self._news.set()
        self._desk.close()
        self._stop.wait(_AGAIN_SECONDS)
        self._commands.clear()
        self._desk = self._make()
        self._desk.reached = True
