"""Placing: the fleet of one game, until the server has all of it."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar, Final

from salvo.events import Event, FleetWanted, Refused
from salvo.rules import Fleet, Placement
from salvo.session.actor import Actor, Does
from salvo.session.news import Table
from salvo.session.outbox import Outbox
from salvo.session.tables import PATIENCE_SECONDS, PLACING, PlacingAction, PlacingEvent, PlacingState

#: Refusals that mean that the server has every ship of the team (SALVO-PLACE-7, SALVO-JOIN-5).
_WHOLE_FLEET: Final = frozenset({"fleet_final", "wrong_state"})


class Placing(Actor[PlacingState, PlacingEvent, PlacingAction]):
    """The fleet of this game; every method changes this object.

    Attributes:
        fleet: the one to place, or the one that the server has; None before there is one.
        sent_at: when ships were sent last, in seconds on the monotonic clock.
    """

    def __init__(self, table: Table, outbox: Outbox) -> None:
        super().__init__(PLACING, PlacingState.NO_FLEET)
        self.fleet: Fleet | None = None
        self.sent_at = 0.0
        self._table = table
        self._outbox = outbox
        self._approved: set[str] = set()

    def choose(self, fleet: Fleet, now: float) -> None:
        """Place a fleet, ship by ship."""
        self.fleet, self._approved = fleet, set()
        self.take(PlacingEvent.CHOSEN, now)

    def approve(self, ship: str) -> None:
        """Note that the server has a ship."""
        self._approved.add(ship)
        if self.fleet is not None and self._approved >= self.fleet.book.ship_number.keys():
            self.take(PlacingEvent.APPROVED)

    def refused(self, ship: str, refusal: Refused) -> list[Event]:
        """Pass on the refusal of a ship that the server lacks; that of a ship sent twice is no news."""
        if refusal.code in _WHOLE_FLEET:
            self.approve(ship)
        return [] if ship in self._approved else [refusal]

    def doubt(self, placed: Collection[Placement] = ()) -> None:
        """Take no ships for approved but those that the server has, as its recap shows."""
        if self.fleet is not None:
            self._approved = {placement.ship for placement in placed if placement in self.fleet.placements}
        self.take(PlacingEvent.DOUBTED)

    def recall(self, fleet: Fleet) -> None:
        """Take over the fleet that the server has."""
        self.fleet, self._approved = fleet, set(fleet.book.ship_number)
        self.take(PlacingEvent.RECALLED)

    def tick(self, now: float) -> list[Event]:
        """Let time pass in a lobby that lists the team."""
        return self.take(PlacingEvent.NO_ANSWER, now) if now - self.sent_at > PATIENCE_SECONDS else []

    # --- actions ------------------------------------------------------------------------------------------------

    def _ask_player(self, now: float) -> list[Event]:
        rules = self._table.rules
        return [] if rules is None else [FleetWanted(rules, self._table.game)]

    def _send(self, now: float) -> None:
        placements = () if self.fleet is None else self.fleet.placements
        missing = [placement for placement in placements if placement.ship not in self._approved]
        self.sent_at = now
        if missing:
            self._outbox.place(missing)

    def _forget(self, now: float) -> None:
        self.fleet, self._approved = None, set()

    DOES: ClassVar[Does] = {
        PlacingAction.ASK_PLAYER: _ask_player,
        PlacingAction.SEND: _send,
        PlacingAction.FORGET: _forget,
    }
