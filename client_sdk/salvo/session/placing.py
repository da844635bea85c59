"""Placing: the fleet of one game, until the server has all of it."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from typing import Final

from salvo.events import Event, FleetWanted, Refused
from salvo.rules import Fleet, Placement
from salvo.session.machine import Arrow, Machine
from salvo.session.outbox import Outbox
from salvo.session.table import PATIENCE_SECONDS, Table

#: Refusals by which the server says that it has every ship of the team (SALVO-PLACE-7, SALVO-JOIN-5).
_WHOLE_FLEET: Final = frozenset({"fleet_final", "wrong_state"})


class PlacingState(Enum):
    """How far the fleet is."""

    NO_FLEET = "there is no fleet for this game"
    CHOOSING = "the player was asked for a fleet"
    PLACING = "the fleet is known, but not every ship is approved"
    PLACED = "every ship is approved, or is in a recap"


class PlacingEvent(Enum):
    """What can happen to the fleet."""

    NEEDED = "the team is listed, as news, or a recap lacks ships"
    CHOSEN = "the player gives a fleet"
    APPROVED = "the last missing ship is approved"
    NO_ANSWER = f"listed in the lobby with ships missing, and no answer for {PATIENCE_SECONDS:g} s"
    DOUBTED = "in the lobby, the server was away or a recap lacks ships"
    RECALLED = "a recap has the whole fleet"
    DROPPED = "the team left or was removed, or another game begins"


class Placing(Machine[PlacingState, PlacingEvent]):
    """The fleet of this game.

    Attributes:
        fleet: the one to place, or the one that the server has; None before there is one.
        sent_at: when ships were sent last, in seconds on the monotonic clock.
    """

    def __init__(self, table: Table, outbox: Outbox) -> None:
        super().__init__(self, PLACING, PlacingState.NO_FLEET)
        self.fleet: Fleet | None = None
        self.sent_at = 0.0
        self._table = table
        self._outbox = outbox
        self._approved: set[str] = set()

    def choose(self, fleet: Fleet, now: float) -> None:
        """Place a fleet, ship by ship."""
        self.fleet, self._approved = fleet, set()
        self.handle(PlacingEvent.CHOSEN, now)

    def approve(self, ship: str) -> None:
        """Note that the server has a ship."""
        self._approved.add(ship)
        if self.fleet is not None and self._approved >= self.fleet.book.ship_number.keys():
            self.handle(PlacingEvent.APPROVED)

    def refused(self, ship: str, refusal: Refused) -> list[Event]:
        """Pass on the refusal of a ship that the server lacks; that of a ship sent twice is no news."""
        if refusal.code in _WHOLE_FLEET:
            self.approve(ship)
        return [] if ship in self._approved else [refusal]

    def doubt(self, placed: Collection[Placement] = ()) -> None:
        """Take no ships for approved but those that the server says it has."""
        if self.fleet is not None:
            self._approved = {placement.ship for placement in placed if placement in self.fleet.placements}
        self.handle(PlacingEvent.DOUBTED)

    def recall(self, fleet: Fleet) -> None:
        """Take over the fleet that the server has."""
        self.fleet, self._approved = fleet, set(fleet.book.ship_number)
        self.handle(PlacingEvent.RECALLED)

    def tick(self, now: float) -> list[Event]:
        """Let time pass in a lobby that lists the team."""
        return self.handle(PlacingEvent.NO_ANSWER, now) if now - self.sent_at > PATIENCE_SECONDS else []

    # --- actions ------------------------------------------------------------------------------------------------

    def _ask(self, now: float) -> list[Event]:
        """Ask the player for a fleet."""
        rules = self._table.rules
        return [] if rules is None else [FleetWanted(rules, self._table.game)]

    def _send(self, now: float) -> None:
        """Send the ships that are not approved."""
        placements = () if self.fleet is None else self.fleet.placements
        missing = [placement for placement in placements if placement.ship not in self._approved]
        self.sent_at = now
        if missing:
            self._outbox.place(missing)

    def _forget(self, now: float) -> None:
        """Forget the fleet."""
        self.fleet, self._approved = None, set()


_S, _E = PlacingState, PlacingEvent
PLACING = (
    Arrow((_S.NO_FLEET, _S.CHOOSING), _E.NEEDED, _S.CHOOSING, Placing._ask),
    Arrow((_S.PLACING,), _E.NEEDED, None, Placing._send),
    Arrow(tuple(_S), _E.CHOSEN, _S.PLACING, Placing._send),
    Arrow((_S.PLACING,), _E.APPROVED, _S.PLACED),
    Arrow((_S.PLACING,), _E.NO_ANSWER, None, Placing._send),
    Arrow((_S.PLACED,), _E.DOUBTED, _S.PLACING),
    Arrow(tuple(_S), _E.RECALLED, _S.PLACED),
    Arrow((_S.CHOOSING, _S.PLACING, _S.PLACED), _E.DROPPED, _S.NO_FLEET, Placing._forget),
)
