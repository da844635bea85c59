"""A league's connection to one broker: views of the tables come in, a host's commands and the teams' seats go out."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from salvo import messages as m
from salvo.codec.announcements import SEAT
from salvo.codec.published import read_published
from salvo.net.mqtt import BrokerUrl, Connection
from salvo.table_places import table_of
from salvo.wire import topics
from salvo_league.league_file import LeagueError
from salvo_league.seating import seat_at
from salvo_league.table_views import TableView, Views
from salvo_server.host.hosting import HostDesk

log = logging.getLogger(__name__)

#: A table of which nothing is heard for so long does not exist.
_UNKNOWN_SECONDS: Final = 5.0
#: How often the server is reported to; after fifteen seconds without, it calls a league silent (SALVO-EVENING-4).
_REPORT_SECONDS: Final = 4.0


class OneBroker:
    """A host's place at one server's tables.

    Attributes:
        reached: whether the broker has let it in.
    """

    def __init__(
        self, broker: BrokerUrl, name: str, secret: str, places: Iterable[str], *, cell: str = "", ca: str | None = None
    ) -> None:
        """Prepare everything; nothing is sent before the first :meth:`look`.

        Args:
            name: the host's, on the roster.
            places: of its tables.
            cell: the server's name among several.

        Raises:
            ConnectionLost: ``bad_ca``.
        """
        self.reached = False
        self._places = {table_of(place): place for place in places}
        self._cell = cell
        self._host = HostDesk(name, secret)
        self._views = Views(self._places)
        self._seats: dict[str, m.SeatGiven | None] = {}  # as they were said on this connection
        self._reported = b""  # on this connection
        self._report_again = 0.0
        self._connected_at = 0.0
        self._warned = False
        self._connection = Connection(
            broker,
            f"salvo-league-{name}",
            clean_session=True,
            username=name,
            password=secret,
            ca=ca,
            on_connect=self._connected,
            newcomer_gives_way=True,  # a league that runs is not ended by another one with its account
        )

    def _connected(self, session_present: bool) -> None:
        self.reached = True
        self._connected_at = time.monotonic()
        self._views.connected()
        self._seats.clear()
        self._reported = b""
        filters = dict.fromkeys([*self._host.filters(self._places), *self._views.filters()])
        self._connection.subscribe(filters)

    def look(self, longest_seconds: float) -> dict[str, TableView]:
        """Wait at most this long for news; return what is known of the tables, by place.

        Raises:
            LeagueError: ``no_hosts``: the contest is open.
            ConnectionLost: the broker refuses this client, or another program runs as this host.
        """
        for message in self._connection.poll(longest_seconds):
            if (published := read_published(message.topic, message.payload)) is not None:
                self._receive(*published, retained=message.retain)
            self._connection.acknowledge(message)
        self._check()
        views = {self._places[table]: view for table, view in self._views.all().items()}
        if self._connection.connected:
            return views
        return {at: replace(view, here=False) for at, view in views.items()}

    def _receive(self, address: topics.Address, announcement: m.Announcement | None, *, retained: bool) -> None:
        answer = self._host.receive(address.table, announcement, retained=retained)
        if answer is not None and isinstance(answer.outcome, m.CommandRefused):
            where = answer.table or "the default table"
            log.info("refused at %s: %s: %s", where, answer.outcome.code, answer.outcome.text)
            self._views.refuse(address.table, answer.outcome)
        self._views.receive(address, announcement, time.monotonic())

    def _check(self) -> None:
        """Make sure that this can go well.

        Raises:
            LeagueError: ``no_hosts``.
        """
        statuses, now = self._host.statuses, time.monotonic()
        if any(status.profile == "open" for status in statuses.values()):
            text = f"the contest at {self._connection.url} is open, where nobody can be a host"
            raise LeagueError("no_hosts", f"{text}; start the server with --profile contest")
        unknown = [table for table in self._places if table not in statuses]
        if unknown and statuses and now - self._connected_at > _UNKNOWN_SECONDS and not self._warned:
            self._warned = True
            which = f"the server at {self._cell}" if self._cell else "the server"
            log.warning("%s has no table %s; its games are played at the others", which, ", ".join(unknown))

    def act(self, place: str, command: m.HostCommand) -> None:
        """Give a command."""
        message = self._host.signed(table_of(place), command)
        self._connection.publish(message.topic, message.payload)

    def seat(self, seats: Mapping[str, str | None], brokers: Mapping[str, str]) -> None:
        """Tell the teams whose seats have changed, on a new connection all of them: the broker may have lost them.

        Args:
            seats: each team's place; None for nowhere.
            brokers: see :func:`~salvo_league.seating.seat_at`.
        """
        if not self._connection.connected:
            return
        for team, place in seats.items():
            seat = seat_at(place, self._cell, brokers)
            if team in self._seats and self._seats[team] == seat:
                continue
            payload = b"" if seat is None else SEAT.write(seat)
            self._connection.publish(topics.SEAT.of(player=team), payload, retain=True)
            self._seats[team] = seat

    def report(self, league: bytes) -> None:
        """Report to the server how the league stands: when that has changed, and again before it is called silent."""
        now = time.monotonic()
        if self._connection.connected and (league != self._reported or now >= self._report_again):
            self._connection.publish(topics.LEAGUE_REPORT.of(), league)
            self._reported, self._report_again = league, now + _REPORT_SECONDS

    def wake(self) -> None:
        """Make a waiting :meth:`look` return; from any thread."""
        self._connection.wake()

    def close(self) -> None:
        """Disconnect."""
        self._connection.close()
