"""The lobby, a table's state before its game begins: teams join, leave and place their ships."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import ClassVar

from salvo import messages as m
from salvo.errors import IllegalCommand
from salvo.rules import RuleBook, check_placement
from salvo.rules.starter import draw_fair_starter, draw_starter, set_starter
from salvo_game.game_states import Announcements, Hosted, InMatch, Turn, extended, unknown_team
from salvo_game.match import Match, Team, Terms

#: Accepted placements of each ship while its team is listed (SALVO-PLACE-7): each is a log entry, and a nonce for ever.
MAX_PLACEMENTS = 20
#: How many times its length the placement time lasts at most (SALVO-JOIN-17): teams that come one by one have minutes.
MAX_PLACEMENT_TIMES = 5


@dataclass(slots=True)
class Entrant(Team):
    """A team that is listed and places its ships.

    Attributes:
        messages: what stands for the message that a good placement came with, by ship.
        placed: number of accepted placements, by ship.
        answered: the spelling used in the last answer, by ship.
    """

    messages: dict[str, bytes] = field(default_factory=dict)
    placed: Counter[str] = field(default_factory=Counter)
    answered: dict[str, str] = field(default_factory=dict)

    def check_count(self, ship: str) -> None:
        """Make sure that a ship may be placed once more.

        Raises:
            IllegalCommand: ``rate_limited``.
        """
        placed = self.placed.get(ship, 0)
        if placed >= MAX_PLACEMENTS:
            text = f"{ship} was placed {placed} times, {MAX_PLACEMENTS} at most; its last place stays"
            raise IllegalCommand("rate_limited", text)

    def take(self, command: m.PlaceShip, book: RuleBook) -> Announcements:
        """Keep a good placement, and answer it."""
        ship = command.placement.ship
        self.placements[ship] = command.placement
        self.placed[ship] += 1
        self.spellings[ship] = command.spelling
        self.messages[ship] = command.message
        self.refill(len(book.fleet))
        return self.judge(command, approved=True)

    def judge(self, command: m.PlaceShip, *, approved: bool) -> Announcements:
        """Answer under the spelling that the team used last, and under no other one (SALVO-PLACE-6)."""
        ship, spelling = command.placement.ship, command.spelling
        former = self.answered.get(ship, spelling)
        self.answered[ship] = spelling
        dropped: Announcements = [m.SpellingDropped(self.name, former)] if former != spelling else []
        return [*dropped, m.PlacementJudged(self.name, spelling, approved)]


@dataclass(slots=True)
class Lobby:
    """A table that waits for fleets.

    Attributes:
        players: the listed teams by name, in order of arrival.
        complete: those with all their ships, in the order in which they were completed (SALVO-TURN-2).
        deadline: when the placement time ends, in epoch ms; None when it does not run: before the first team, and
            after it has ended without a game, and in a host's pause.
        extensions: how often the placement time has been restarted since the newest team was listed.
        began: when it began that runs, in epoch ms.
        restarted_by: the teams whose listing has restarted it since it began.
        paused: whether a host has paused the table, so that no game begins.
        removed: teams that a host has removed from this game.
    """

    state: ClassVar[m.State] = m.State.LOBBY
    terms: Terms
    players: dict[str, Entrant] = field(default_factory=dict)
    complete: list[Entrant] = field(default_factory=list)
    deadline: int | None = None
    extensions: int = 0
    began: int = 0
    restarted_by: set[str] = field(default_factory=set)
    paused: bool = False
    removed: set[str] = field(default_factory=set)

    def recap(self, name: str) -> m.Recap:
        """Return what a team may know: who is listed, and its own ships."""
        fleet = tuple(self.players[name].placements.values())
        return m.Recap(name, self.terms.number, 0, fleet, (), (), (), tuple(self.players))

    def has_had(self, command: m.Fire | m.Skip) -> bool:
        """Return False: a lobby knows no shot and no skip of an earlier game."""
        return False

    @property
    def standing(self) -> list[str]:
        """Those whom a host can remove."""
        return list(self.players)

    @property
    def _waits_for_host(self) -> bool:
        """Whether no game begins by itself; a host can still start one."""
        return self.paused or self.terms.limits.held

    def _is_complete(self, entrant: Entrant) -> bool:
        return len(entrant.placements) == len(self.terms.book.fleet)

    def _listing(self) -> m.PlayersListed:
        return m.PlayersListed(tuple(self.players))

    # --- participation (SALVO-JOIN) -----------------------------------------------------------------------------

    def admit(self, command: m.Participate, now: int) -> tuple[Announcements, Lobby]:
        """List a new team, and restart the placement time for all (SALVO-JOIN-4, SALVO-JOIN-17)."""
        invited = self.terms.limits.teams
        if invited is not None and command.name not in invited:
            raise IllegalCommand("not_invited", f"this game is for {', '.join(invited)}")
        if command.name in self.removed:
            raise IllegalCommand("removed", "the host has removed you from this game; wait for the next one")
        if len(self.players) >= self.terms.limits.most_players:
            raise IllegalCommand("table_full", f"{len(self.players)} teams take part already; a game takes no more")
        self.players[command.name] = Entrant(command.name, command.credential)
        if self._may_restart(command.name, now):
            self._restart(now)
        for entrant in self.players.values():
            entrant.refill(len(self.terms.book.fleet))
        return [self._listing()], self

    def _may_restart(self, name: str, now: int) -> bool:
        """Whether a team's listing restarts the placement time; one that comes and goes must not hold up the others."""
        if self.deadline is None:
            self.restarted_by.clear()
            self.began = now
        elif name in self.restarted_by or len(self.restarted_by) >= self.terms.limits.most_players:
            return False
        self.restarted_by.add(name)
        return True

    def _restart(self, now: int) -> None:
        """Restart the placement time, as long as it has not lasted too long in all."""
        limits = self.terms.limits
        ends = now + limits.placement_ms
        if self.deadline is not None:
            ends = min(ends, self.began + MAX_PLACEMENT_TIMES * limits.placement_ms)
            if ends <= self.deadline:
                return
        self.extensions, self.deadline = 0, None if self._waits_for_host else ends

    def leave(self, command: m.Leave, now: int) -> tuple[Announcements, Lobby]:
        """Let a team leave by its own will (SALVO-JOIN-15)."""
        if command.game not in (None, self.terms.number):
            text = f"signed for game {command.game}; this is game {self.terms.number}"
            raise IllegalCommand("stale_context", text)
        return self._take_off_list(command.player)

    def strike_off(self, command: m.StruckOff, now: int) -> tuple[Announcements, Lobby]:
        """Take a team off the list, with a fleet that is complete, too (SALVO-ACCESS-8)."""
        return self._take_off_list(command.name)

    def _take_off_list(self, name: str) -> tuple[Announcements, Lobby]:
        gone = self.players.pop(name)
        self.complete = [entrant for entrant in self.complete if entrant is not gone]
        return [m.PlayerLeft(name), self._listing()], self

    # --- placement (SALVO-PLACE) --------------------------------------------------------------------------------

    def place(self, command: m.PlaceShip, now: int) -> tuple[Announcements, Lobby | InMatch]:
        """Judge a placement; the game begins with the fleet that was still missing (SALVO-JOIN-6).

        Raises:
            LookupError: the rules have no such ship, which the reader of commands makes sure of.
        """
        entrant, placement, book = self.players[command.player], command.placement, self.terms.book
        if placement.ship not in book.ship_number:
            raise LookupError(f"the rules have no ship {placement.ship!r}")
        if self._is_complete(entrant):
            raise IllegalCommand("fleet_final", f"all {len(book.fleet)} ships are placed; the fleet is final")
        entrant.check_count(placement.ship)
        try:
            others = [other for ship, other in entrant.placements.items() if ship != placement.ship]
            check_placement(book, placement, others)
        except IllegalCommand as error:
            refused = entrant.refuse(command, error)
            return [*entrant.judge(command, approved=False), *refused] if refused else [], self
        return self._accept(entrant, command, now)

    def _accept(self, entrant: Entrant, command: m.PlaceShip, now: int) -> tuple[Announcements, Lobby | InMatch]:
        announced = entrant.take(command, self.terms.book)
        if not self._is_complete(entrant):
            return announced, self
        self.complete.append(entrant)
        if self._waits_for_host or len(self.complete) != self.terms.limits.players:
            return announced, self
        started, turn = self._start(now)
        return announced + started, turn

    # --- the host (SALVO-HOST) ----------------------------------------------------------------------------------

    def start(self, by: Hosted, now: int) -> tuple[Announcements, Lobby | InMatch]:
        """Begin with the fleets that are complete, even in a pause (SALVO-HOST-3)."""
        if len(self.complete) < 2:
            text = f"{len(self.complete)} fleets are complete; a game needs two"
            raise IllegalCommand("too_few_fleets", text)
        return self._start(now)

    def pause(self, by: Hosted, now: int) -> tuple[Announcements, Lobby]:
        """Stop the placement time; no game begins (SALVO-HOST-4)."""
        self.paused, self.deadline = True, None
        return [], self

    def resume_paused(self, by: Hosted, now: int) -> tuple[Announcements, Lobby | InMatch]:
        """Begin, if the pause alone has prevented it, or restart the placement time (SALVO-HOST-4)."""
        self.paused = False
        if self._waits_for_host:
            return [], self
        if self.terms.limits.players is not None and len(self.complete) >= self.terms.limits.players:
            return self._start(now)
        if self.players:
            self.began, self.deadline = now, now + self.terms.limits.placement_ms
        return [], self

    def extend(self, by: Hosted, now: int) -> tuple[Announcements, Lobby]:
        """Give the teams more time to place their ships (SALVO-HOST-4)."""
        self.deadline = extended(self.deadline, by)
        return [], self

    def remove(self, by: Hosted, now: int) -> tuple[Announcements, Lobby]:
        """Take a team off the list, and keep it off until the next lobby (SALVO-HOST-6)."""
        team = by.command.team
        if team not in self.players:
            raise unknown_team(team, self.players)
        self.removed.add(team)
        refusal = m.CommandRefused(team, "removed", "the host has removed you from this game")
        announced, _ = self._take_off_list(team)
        return [refusal, *announced], self

    # --- the placement time (SALVO-JOIN-4) ----------------------------------------------------------------------

    def resume(self, command: m.Resumed, now: int) -> tuple[Announcements, Lobby]:
        """Restart the placement time, because no team could place (SALVO-BACK-2)."""
        if self.deadline is not None:
            self.extensions += 1
            self.deadline = now + self.terms.limits.placement_ms
        return [], self

    def end_placement_time(self, following: Terms, now: int) -> tuple[Announcements, Lobby | InMatch]:
        """Begin with the fleets that are complete, or wait on with them (SALVO-JOIN-5)."""
        if len(self.complete) >= 2:
            return self._start(now)
        self.deadline = None
        return self._dismiss_incomplete(), self

    def _dismiss_incomplete(self) -> Announcements:
        """Strike all teams without a complete fleet off the list."""
        leaving = [entrant for entrant in self.players.values() if not self._is_complete(entrant)]
        announced: Announcements = []
        for entrant in leaving:
            placed = f"{len(entrant.placements)} of {len(self.terms.book.fleet)} ships were placed in time"
            text = f"{placed}; ask to take part again"
            announced += [m.CommandRefused(entrant.name, "placement_timeout", text), m.PlayerLeft(entrant.name)]
            del self.players[entrant.name]
        return [*announced, self._listing()] if leaving else []

    def _start(self, now: int) -> tuple[Announcements, InMatch]:
        announced = self._dismiss_incomplete()
        match = Match(self.terms, self.complete, self._starter())
        if list(match.players) != list(self.players):  # in play order from now on (SALVO-JOIN-10)
            announced.append(m.PlayersListed(tuple(match.players)))
        began, turn = Turn.begin(match, now)
        return [*announced, m.StateChanged(m.State.TURN), *began], turn

    def _starter(self) -> int:
        terms = self.terms
        names = [entrant.name for entrant in self.complete]
        seat = set_starter(terms.book, terms.number, names)
        if seat is not None:
            return seat
        if terms.draw is m.Draw.SEED:
            return draw_starter(terms.book, terms.seed, terms.table, terms.number, len(names))
        messages = [entrant.messages[ship.name] for entrant in self.complete for ship in terms.book.fleet]
        return draw_fair_starter(terms.book, bytes.fromhex(str(terms.seed)), messages, len(names))
