"""A team that follows the seats that a host gives (SALVO-SEAT): the one follower of bots, people and language models.

It leaves a lobby for its seat, or plays its game to the end first, and goes on at another table, perhaps of another
broker. It also reads how the league stands for it (SALVO-LEAGUE), as a line for each thing that happens.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final

from salvo import messages as m
from salvo.codec.announcement_reader import read_announcement
from salvo.errors import ConnectionLost, WireError, printable
from salvo.join.destination import Destination
from salvo.join.events import Event, GameEnded, LeagueSeen, Seated, ServerMet
from salvo.join.league_news import LeagueNews
from salvo.join.session import Session
from salvo.join.team import TeamSession
from salvo.messages import SeatGiven, ServerKeys, State
from salvo.net.inbound import Inbound, TeamLink
from salvo.system.log_throttle import SELDOM
from salvo.wire import topics

log = logging.getLogger(__name__)

#: How long to wait for what the server reveals in its log, after a game.
LAST_WORDS_SECONDS: Final = 3.0
#: How long to wait until the server has taken a player off the list of the lobby that it leaves for its seat.
LEAVING_SECONDS: Final = 5.0


class SeatedTeam(TeamSession):
    """A session on a connection, at the table where its seat is.

    The owner calls :meth:`receive`, then :meth:`follow`, in a loop.

    Attributes:
        seat: what was published last; None for none.
    """

    def __init__(
        self,
        session: Session,
        link: TeamLink,
        *,
        clock: Callable[[], float] = time.monotonic,
        meet: Callable[[ServerKeys | None], None] | None = None,
        elsewhere: Callable[[SeatGiven], tuple[Session, TeamLink]] | None = None,
        tap: Callable[[m.Announcement, bool], None] | None = None,
        last_words_seconds: float = LAST_WORDS_SECONDS,
    ) -> None:
        """Take the connection's ``on_connect``; what is not described here is as for
        :class:`~salvo.join.team.TeamSession`.

        Args:
            elsewhere: returns a session at another table and the connection to its broker, to follow the seats that a
                host gives (SALVO-SEAT); None to stay where it is.
            tap: see :class:`~salvo.join.session.Session`; for the session at each table.
            last_words_seconds: how long to wait for the rest of a game's log before leaving its table or the contest.
        """
        super().__init__(session, link, clock=clock, meet=meet)
        self.seat: SeatGiven | None = None
        self._elsewhere = elsewhere
        self._tap = session.tap = tap
        self._last_words_seconds = last_words_seconds
        self._last_words_by: float | None = None  # how long to wait for the log before leaving the contest
        self._last_game = 0  # that was played to its end here
        self._destination = Destination(session.table, clock())
        self._leaving_since: float | None = None
        self._league = LeagueNews(session.name)

    @property
    def in_league(self) -> bool:
        """Whether a league is on, whose host draws the games at all tables."""
        return self._league.is_on

    @property
    def is_awaited(self) -> bool:
        """Whether a host decides where it plays: its rivals wait for its fleet."""
        return self.in_league or self.seat is not None

    def has_last_words(self) -> bool:
        """Whether the log of the last game has ended, or was waited for long enough since the first call."""
        if self._last_words_by is None:
            self._last_words_by = self._clock() + self._last_words_seconds
        return self._has_whole_log or self._clock() >= self._last_words_by

    @property
    def _has_whole_log(self) -> bool:
        """Whether the log of the last game, if there was one, was received to its end."""
        return not self._last_game or not self.session.witness.follows(self._last_game)

    def receive(self, longest_seconds: float) -> None:
        """Wait at most this long for the next message, and handle everything that has arrived."""
        try:
            super().receive(longest_seconds)
        except ConnectionLost as error:
            if not self._destination.has_brokers or error.code == "account_in_use":
                raise
            log.error("%s: %s", self.session.name, error)
            self._destination.note_lost()

    def follow(self, *, wants_to_play: bool = True) -> None:
        """Go to where the seat is, or stay there; then act."""
        now = self._clock()
        if self._link.connected:
            self._destination.note_connected(now)
        if (broker := self._destination.next_broker(now)) is not None:
            self._go(broker, now)
        if (place := self._destination.next_place(self.session.table, now)) is not None:
            self._leave_for(place, now)
        else:
            self._leaving_since = None
            self.session.wants_to_play = wants_to_play
        self.act()

    def _leave_for(self, place: SeatGiven, now: float) -> None:
        """Go to another table: after the game, with the last of its log, or off the list of the lobby.

        A seat at another broker in mid-game means that the host has given up the game here (SALVO-SEAT-5).
        """
        session = self.session
        waits = session.view is not None and session.state is not State.OVER
        if waits and not place.broker:
            return
        if self._leaving_since is None:
            self._leaving_since = now
            session.leave()
            self._send()  # who is not listed yet goes at once, and would be listed here while it plays there
        waits = waits or (session.state is State.LOBBY and session.listed)
        patience = LEAVING_SECONDS if waits else self._last_words_seconds
        if (waits or not self._has_whole_log) and now - self._leaving_since < patience:
            return
        self._go(place, now)

    def _go(self, place: SeatGiven, now: float) -> None:
        assert self._elsewhere is not None
        self._leaving_since = None
        try:
            session, link = self._elsewhere(place)
        except ConnectionLost as error:
            log.error("%s: the seat at %s: %s", self.session.name, place.broker, error)
            place = SeatGiven(self.session.table)
        else:
            session.tap, self._last_game = self._tap, 0
            self._move(session, link)
        self._destination.arrive(place.table, now)

    def _move(self, session: Session, link: TeamLink) -> None:
        """Switch to another session of the same player, at another table, and perhaps on another connection."""
        former, self.session = self.session, session
        if link is not self._link:
            self._link, link.on_connect = link, self._connected
        elif link.connected:
            wanted = session.filters()
            self._link.unsubscribe(topic for topic in former.filters() if topic not in wanted)
            self._connected(False)

    # --- what arrives ---------------------------------------------------------------------------------------------

    def _filters(self) -> list[str]:
        return [*super()._filters(), *([topics.LEAGUE.of()] if self._elsewhere is not None else [])]

    def _read(self, message: Inbound) -> list[Event]:
        if message.topic == topics.LEAGUE.of():
            try:
                shown = read_announcement(topics.Address(topics.LEAGUE), message.payload)
            except WireError as error:
                log.warning("ignored noise on %s: %s", printable(message.topic, 200), error, extra=SELDOM)
                return []
            assert shown is None or isinstance(shown, m.EveningShown)
            return [LeagueSeen(line) for line in self._league.lines(shown)]
        events = []
        for event in super()._read(message):
            match event:
                case ServerMet(profile=profile):
                    self._destination.is_guarded = profile != "open"
                case GameEnded(game, missed=False):
                    self._last_game = game
                case Seated(seat):
                    if self._elsewhere is not None:
                        self._destination.give_seat(seat)
                    if seat == self.seat:
                        continue  # at each table the broker publishes again what it retains
                    self.seat = seat
            events.append(event)
        return events
