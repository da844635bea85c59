"""The rules of a table and a ruleset as JSON, in one flat object (SALVO-GAME-7)."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Final

from salvo import messages as m
from salvo.errors import WireError
from salvo.rules import (
    Announce,
    Ending,
    Grid,
    Order,
    Repeats,
    RuleBook,
    ShipClass,
    Shots,
    Sinkings,
    Spacing,
    Starter,
    Targets,
    check_room,
    generator,
)
from salvo.wire.json_shape import UNLESS_EMPTY, Count, Strict, Via, unless


@dataclass
class _Always(Strict):
    rules: str
    width: Count
    height: Count
    first: Count
    fleet: dict[str, int]
    spacing: Spacing
    shots: Shots
    order: Order
    announce: Announce
    ending: Ending
    starter: Starter


@dataclass
class _Times(Strict):
    placement_seconds: Count
    turn_seconds: Count
    over_seconds: Count
    empty_turns: Count
    table: str


@dataclass
class _UnlikeSalvo(Strict):
    """Salvo uses none of these, so its rules read as they always did."""

    sinkings: Sinkings = field(default=Sinkings.TOLD, metadata=unless(Sinkings.TOLD))
    targets: Targets = field(default=Targets.EVERYBODY, metadata=unless(Targets.EVERYBODY))
    repeats: Repeats = field(default=Repeats.HIT, metadata=unless(Repeats.HIT))
    goal: Count | None = None
    reveal: bool = field(default=False, metadata=UNLESS_EMPTY)
    skipping: bool = field(default=False, metadata=UNLESS_EMPTY)


@dataclass
class _Bank(Strict):
    bank_seconds: Count | None = None
    increment_seconds: Count | None = None


@dataclass
class BookBody(_UnlikeSalvo, _Always):
    """A ruleset."""

    @classmethod
    def of(cls, book: RuleBook) -> BookBody:
        """Return a ruleset as it is in JSON."""
        return cls(**_flat(book))

    def value(self) -> RuleBook:
        """Return the ruleset.

        Raises:
            WireError: ``wrong_shape`` when it cannot be played.
        """
        return _book_of(self)


@dataclass
class RulesBody(_Bank, _UnlikeSalvo, _Times, _Always):
    """What ``/game/rules`` carries."""

    @classmethod
    def of(cls, rules: m.RulesAnnounced) -> RulesBody:
        """Return a table's rules as they are in JSON."""
        return cls(**_flat(rules.book), **_some(rules, _OF_A_TABLE))

    def value(self) -> m.RulesAnnounced:
        """Return a table's rules.

        Raises:
            WireError: ``wrong_shape`` when they cannot be played.
        """
        return m.RulesAnnounced(_book_of(self), **_some(self, _OF_A_TABLE))


Book = Annotated[RuleBook, Via(BookBody)]
Rules = Annotated[m.RulesAnnounced, Via(RulesBody)]

#: Fields that have the same names and values in both.
_OF_A_BOOK: Final = tuple(each.name for each in fields(RuleBook) if each.name not in ("name", "grid", "fleet"))
_OF_A_TABLE: Final = tuple(each.name for each in fields(m.RulesAnnounced) if each.name != "book")


def _some(source: object, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(source, name) for name in names}


def _flat(book: RuleBook) -> dict[str, Any]:
    fleet = {ship.name: ship.length for ship in book.fleet}
    size = {"width": book.grid.width, "height": book.grid.height, "first": 1}
    return {"rules": book.name, **size, "fleet": fleet, **_some(book, _OF_A_BOOK)}


def _book_of(body: BookBody | RulesBody) -> RuleBook:
    try:
        fleet = tuple(ShipClass(name, length) for name, length in body.fleet.items())
        return RuleBook(body.rules, Grid(body.width, body.height), fleet, **_some(body, _OF_A_BOOK))
    except ValueError as error:
        raise _unplayable(error) from None


def check_playable(book: RuleBook) -> None:
    """Make sure that a fleet can be drawn by a ruleset.

    Raises:
        WireError: ``wrong_shape``.
    """
    try:
        check_room(book, generator("room"))
    except ValueError as error:
        raise _unplayable(error) from None


def _unplayable(error: ValueError) -> WireError:
    return WireError("wrong_shape", f"rules this SDK cannot play: {str(error)[:160]}")
