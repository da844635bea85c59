"""A person in a contest: a separate thread keeps the team's connection up, however long the person thinks."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from random import Random
from typing import Final

from salvo import messages as m
from salvo.bots.player import check_salvo
from salvo.errors import CODES, BotError, IllegalCommand, SalvoError, WireError
from salvo.join import events as e
from salvo.join.client import FINAL, MAX_WAIT_SECONDS, GameReport
from salvo.join.events import Event, GameVerified, LogDoubted
from salvo.join.seat import Seat
from salvo.join.seated_team import SeatedTeam
from salvo.join.session import Session
from salvo.messages import State
from salvo.rules import Fleet, Placement
from salvo.view import Shot, View
from salvo.wire.seal import fingerprint
from salvo_lab.human.channel import (
    Channel,
    Clock,
    DeskAnswer,
    FiredSalvo,
    GameOver,
    Line,
    LinkState,
    Notice,
    PlaceFleet,
    Revealed,
    RulesTold,
    Seen,
    TakeBack,
    Taunt,
)
from salvo_lab.human.snapshot import Snapshot, result_words

#: A deadline that moved by less has not moved: it is computed again for every picture.
_SAME_DEADLINE_SECONDS: Final = 0.5


class Person:
    """A team for which a person answers; all of it happens on the connection's thread.

    Attributes:
        reports: of the games that are over.
    """

    def __init__(
        self,
        desk: Channel,
        seat: Seat,
        random: Random,
        games: int | None = None,
        listener: Callable[[Event], None] | None = None,
    ) -> None:
        """Take the seat, which :meth:`play` closes; nothing is sent before.

        Args:
            random: to fill fleets with.
            games: how many to play; None for as many as there are.
            listener: gets every event first.
        """
        self.reports: list[GameReport] = []
        self._desk = desk
        self._seat = seat
        self._random = random
        self._games = games
        self._listener = listener
        self._team = SeatedTeam(
            seat.session,
            seat.connection,
            meet=seat.meet,
            elsewhere=seat.elsewhere,
            tap=self._observe,
        )
        self._team.on_event = self.handle
        self._fleet_wanted = False
        self._server_trouble = ""
        self._was_connected = False
        self._trouble = ""
        self._shown: Snapshot | None = None
        self._taunts: dict[bool, list[str]] = {True: [], False: []}
        self._placing_seconds: int | None = None
        self._listed: frozenset[str] = frozenset()  # since the lobby opened
        self._notified: set[tuple[str, int]] = set()  # notices that come once a game
        self._shown_players: tuple[str, ...] = ()
        self._struck = 0  # shots at the own board that were answered with a taunt, if there was one
        desk.wake = lambda: seat.connection.wake()
        desk.chat = desk.lobbies = True

    def play(self) -> None:
        """Keep the connection up, tell the person what happens and send what it answers, until it leaves.

        Raises:
            PersonLeft: at the end.
            SalvoError: what :func:`salvo.join.client.play` raises.
        """
        try:
            with self._team.leaving():
                while True:
                    self.show()
                    self._team.receive(MAX_WAIT_SECONDS)
                    for answer in self._desk.answers():
                        self.take(answer)
                    self._team.follow(wants_to_play=self._games is None or len(self.reports) < self._games)
        finally:
            self._seat.connection.finish_proof(len(self.reports))
            self._seat.close()

    @property
    def _session(self) -> Session:
        """The session at the table where the person is now."""
        return self._team.session

    # --- from the table to the person

    def handle(self, event: Event) -> None:
        if self._listener is not None:
            self._listener(event)
        match event:
            case e.FleetWanted(rules, game):
                self._fleet_wanted, self._struck = True, 0
                self._desk.show(PlaceFleet(rules, self._session.name, game, self._random, self._team.is_awaited))
            case e.GameTakenUp(game):
                self._struck = len(self._session.view.incoming) if self._session.view is not None else 0
                self._notify(f"back in game {game}")
            case e.SalvoReported(result) if self._session.view is not None:
                self._desk.show(Notice(result_words(result, self._session.view), result.player, result.turn))
                self._taunt(result.player, self._session.view)
            case e.GameEnded():
                self._ended(event)
            case e.Seated() if not self._team.in_league:  # whose lines name the table
                self._notify(str(event))
            case e.LeagueSeen(text):
                self._notify(text)
            case e.HostSeen(acted):
                self._notify(str(acted))
            case e.Refused(code, text):
                if code in FINAL:
                    raise SalvoError(code, text)
                if code == "placement_timeout" and self._was_notified(code):
                    return  # a person who is away is listed and left out again and again
                self._notify(text)
            case e.Said(sender, text, private):
                who = "you say" if sender == self._session.name else f"{sender or 'the server'} says"
                self._notify(f"{who}{' to you' * private}: {text}")
            case e.Waits(_, text):
                self._notify(text)
            case e.ServerSeen(online, presence):
                self._server_trouble = "" if online else f"the server is {presence}"
            case e.ServerMet(keys) if keys is not None:
                self._notify(f"the server is {fingerprint(keys.sign)}")
            case LogDoubted(text):
                self._notify(f"{text}; asked the server how the game stands")
            case GameVerified(game, True, placed):
                self._notify(f"game {game} agrees with the server's commitment")
                self._reveal(game, placed)

    def _observe(self, announcement: m.Announcement, retained: bool) -> None:
        """Tell what no event of the session's tells: who is in the lobby, and whose time runs."""
        now = time.monotonic()
        match announcement:
            case m.RulesAnnounced():
                self._placing_seconds = announcement.placing_clock_seconds
                self._desk.show(RulesTold(announcement.book, announcement.turn_seconds))
            case m.StateChanged(State.LOBBY):
                self._listed, self._shown_players = frozenset(), ()
                self._desk.show(Clock())
            case m.PlayersListed(names) if self._session.state is State.LOBBY and names:
                if names != self._shown_players:
                    self._notify(f"players: {', '.join(names)}")
                self._shown_players = names
                if not retained and not self._listed.issuperset(names):  # each newcomer starts the time again
                    self._desk.show(Clock("", None if self._placing_seconds is None else now + self._placing_seconds))
                self._listed = self._listed.union(names)
            case m.TurnBegan():
                seconds = (announcement.deadline - announcement.now) / 1000
                self._desk.show(Clock(announcement.player, None if retained else now + seconds))
            case m.SalvoResolved():
                self._desk.show(Clock())

    def _reveal(self, game: int, placed: Mapping[str, Collection[Placement]]) -> None:
        """Show the fleets that the log of a game has revealed to everybody, whatever its rules show."""
        view = self._session.view
        if view is None or view.game != game:
            return
        fleets = {}
        for player in view.players:
            with contextlib.suppress(IllegalCommand):  # somebody was out before all its ships were placed
                fleets[player] = Fleet(view.rules, list(placed.get(player, ())))
        self._desk.show(Revealed(game, fleets))

    def _was_notified(self, code: str) -> bool:
        known = (code, self._session.game) in self._notified
        self._notified.add((code, self._session.game))
        return known

    def _notify(self, text: str) -> None:
        self._desk.show(Notice(text))

    def _ended(self, ended: e.GameEnded) -> None:
        self.show()
        places = {name: stats.place for name, stats in sorted(ended.stats.items(), key=lambda pair: pair[1].place)}
        view = self._session.view
        self._desk.show(
            GameOver(ended.game, ended.winner, places, dict(view.revealed) if view else {}, aborted=ended.aborted)
        )
        if ended.missed:
            return
        place = places.get(self._session.name, 0)
        self.reports.append(GameReport(ended.game, ended.winner, place, ended.stats, ended.aborted))

    def show(self) -> None:
        """Tell how the connection and the game stand, when that has changed."""
        trouble = self._server_trouble
        if self._seat.connection.connected:
            self._was_connected = True
        else:
            trouble = "connection lost" if self._was_connected else f"connecting to {self._seat.connection.url}"
        if trouble != self._trouble:
            self._trouble = trouble
            self._desk.show(LinkState(trouble))
        view = self._session.view
        if view is None:
            return
        sight = Snapshot.of(view)
        if self._shown != sight or _moved(self._shown.deadline, sight.deadline):
            self._shown = sight
            self._desk.show(Seen(sight))

    # --- from the person to the table

    def take(self, answer: DeskAnswer) -> None:
        view = self._session.view
        match answer:
            case Fleet():
                if self._fleet_wanted and self._session.state is State.LOBBY and answer.book == self._session.rules:
                    self._fleet_wanted = False
                    self._team.place(answer)
                else:
                    self._notify(f"the fleet came too late: {CODES['placement_timeout'].meaning}")
            case TakeBack():
                if self._session.state is State.LOBBY:
                    self._session.leave()  # a complete fleet is final: it asks for a new place
            case FiredSalvo(game, turn, shots):
                if view is None or (view.game, view.turn) != (game, turn) or not view.shots:
                    self._notify(f"too late for turn {turn}")
                elif shots:
                    self._fire(shots, view)
                else:
                    self._session.skip()

            case Line(text, to):
                self._chat(text, to)
            case Taunt(hit, text):
                self._taunts[hit] = [*self._taunts[hit], text] if text else []
                texts = ", ".join(self._taunts[hit]) or "nothing"
                self._notify(f"taunts for anyone who {'hits' if hit else 'misses'} you: {texts}")

    def _taunt(self, shooter: str, view: View) -> None:
        """Answer a salvo at the own board with one of the person's texts."""
        struck = view.incoming
        fresh, self._struck = struck[self._struck :], len(struck)
        fleet = {view.rules.grid.xy(cell) for cell in view.fleet.cells}
        texts = self._taunts[any(cell in fleet for cell in fresh)]
        if fresh and texts and shooter != view.me:
            self._chat(self._random.choice(texts), shooter)

    def _chat(self, text: str, to: str) -> None:
        try:
            self._team.say(text, to)
        except WireError as error:
            self._notify(error.text)
        else:
            if to:  # the server returns to its sender only what everybody reads
                self._notify(f"you say to {to}: {text}")

    def _fire(self, shots: Sequence[Shot], view: View) -> None:
        try:
            self._session.fire(check_salvo(shots, view))
        except BotError as error:  # the view has changed meanwhile
            self._notify(error.text)


def _moved(before: float | None, after: float | None) -> bool:
    if before is None or after is None:
        return before is not after
    return abs(after - before) > _SAME_DEADLINE_SECONDS


def play_there(
    desk: Channel,
    sit_down: Callable[[Channel, Callable[[], None]], None],
    seat: Seat,
    random: Random,
    games: int | None,
    listener: Callable[[Event], None] | None = None,
) -> list[GameReport]:
    """Let a person play in a contest until it leaves; see :class:`Person`.

    Returns:
        How the games came out that were played to their end.

    Raises:
        KeyboardInterrupt: the person pressed Ctrl-C.
        SalvoError: what :func:`salvo.join.client.play` raises.
    """
    person = Person(desk, seat, random, games, listener)
    sit_down(desk, person.play)
    return person.reports
