"""Placing: the fleet of one game, until the server has all of it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from salvo.join.events import FleetWanted, Refused
from salvo.join.session.machine_states import PATIENCE_SECONDS, PlacingEvent
from salvo.join.session.state import SessionState
from salvo.messages import State
from salvo.rules import Fleet, Placement

#: Refusals that mean that the server has every ship of the team (SALVO-PLACE-7, SALVO-JOIN-5).
_WHOLE_FLEET: Final = frozenset({"fleet_final", "wrong_state"})


def choose(session: SessionState, fleet: Fleet) -> None:
    """Place a fleet, ship by ship."""
    session.fleet, session.approved = fleet, set()
    session.take(PlacingEvent.CHOSEN)


def approve(session: SessionState, ship: str) -> None:
    """Note that the server has a ship."""
    session.approved.add(ship)
    if session.fleet is not None and session.approved >= session.fleet.book.ship_number.keys():
        session.take(PlacingEvent.APPROVED)


def refused(session: SessionState, ship: str, refusal: Refused) -> None:
    """Pass on the refusal of a ship that the server lacks; that of a ship sent twice is no news."""
    session.witness.refused(session.table.game)
    if refusal.code in _WHOLE_FLEET:
        approve(session, ship)
    if ship not in session.approved:
        session.events.append(refusal)


def doubt(session: SessionState, placed: Collection[Placement] = ()) -> None:
    """Take no ships for approved but those that the server has, as its recap shows."""
    if session.fleet is not None:
        session.approved = {placement.ship for placement in placed if placement in session.fleet.placements}
    session.take(PlacingEvent.DOUBTED)


def recall(session: SessionState, fleet: Fleet) -> None:
    """Take over the fleet that the server has."""
    session.fleet, session.approved = fleet, set(fleet.book.ship_number)
    session.take(PlacingEvent.RECALLED)


def tick(session: SessionState) -> None:
    """Let time pass; in a lobby that does not list the team, nobody waits for its ships."""
    listed = session.table_state is State.LOBBY and session.table.listed
    if listed and session.now - session.fleet_sent_at > PATIENCE_SECONDS:
        session.take(PlacingEvent.NO_ANSWER)


# --- actions ----------------------------------------------------------------------------------------------------------


def ask_player(session: SessionState) -> None:
    """Ask the player for a fleet."""
    if session.table.rules is not None:
        session.events.append(FleetWanted(session.table.rules, session.table.game))


def send(session: SessionState) -> None:
    """Send the ships that are not approved."""
    placements = () if session.fleet is None else session.fleet.placements
    missing = [placement for placement in placements if placement.ship not in session.approved]
    session.fleet_sent_at = session.now
    if missing:
        session.outbox.place(missing)


def forget(session: SessionState) -> None:
    """Forget the fleet."""
    session.fleet, session.approved = None, set()
