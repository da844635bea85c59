"""What a program's answers say of its hidden fleet, where ships keep their distance: adjacent hits are one ship."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Final

from salvo.errors import IllegalCommand
from salvo.rules import Fleet, Orientation, Placement, Repeats, RuleBook, Spacing
from salvo_gateways.errors import GatewayError

#: Places that a search for a fleet tries; honest answers need some hundreds.
MAX_TRIES: Final = 100_000


class ShotOutcome(StrEnum):
    """The answer to one shot."""

    MISS = "miss"
    HIT = "hit"
    SUNK = "sunk"


def kind_of(ship: str) -> str:
    """Return what ships of a kind have in common, ``submarine`` of ``submarine2``."""
    return ship.rstrip("0123456789")


class Answers:
    """The answers of one game.

    Attributes:
        sunk: the cells of each ship that has sunk, by name.
    """

    def __init__(self, book: RuleBook) -> None:
        """Begin without an answer.

        Raises:
            ValueError: the book's ships may touch.
        """
        if book.spacing is Spacing.TOUCH:
            raise ValueError(f"ruleset {book.name}: where ships touch, answers do not show which one sank")
        self.book = book
        self.sunk: dict[str, frozenset[int]] = {}
        self._hits: set[int] = set()
        self._misses: set[int] = set()
        self._beside_sunk = 0  # mask of the ships that have sunk and of what touches them

    @property
    def all_sunk(self) -> bool:
        """Whether every ship has sunk."""
        return len(self.sunk) == len(self.book.fleet)

    def add(self, cell: int, outcome: ShotOutcome, kind: str = "") -> str:
        """Note an answer and return the ship that sank; one that is refused changes nothing.

        Args:
            kind: of the ship that sank, in the words of :func:`kind_of`; empty where that is not said.

        Raises:
            GatewayError: ``contradiction``: it does not go with the rules and the answers before.
        """
        if cell in self._hits | self._misses:
            if self.book.repeats is Repeats.MISS and outcome is not ShotOutcome.MISS:
                name = self.book.grid.name(cell)
                raise GatewayError("contradiction", f"{name} was shot at before, so it is a miss, not {outcome}")
            return ""
        if outcome is not ShotOutcome.MISS and self._beside_sunk >> cell & 1:
            raise GatewayError("contradiction", f"{self.book.grid.name(cell)} touches a ship that has sunk")
        hits, misses = set(self._hits), set(self._misses)
        (misses if outcome is ShotOutcome.MISS else hits).add(cell)
        sunk, ship, margin = self.sunk, "", 0
        if outcome is ShotOutcome.SUNK:
            ship, cells, margin = self._ship_at(cell, hits, kind)
            sunk = sunk | {ship: cells}
        self._check_counts(cell, outcome, hits, misses, len(sunk))
        self._hits, self._misses, self.sunk = hits, misses, sunk
        self._beside_sunk |= margin
        return ship

    def check(self, fleet: Fleet) -> None:
        """Compare a fleet with the answers.

        Raises:
            GatewayError: ``contradiction``, which names a cell.
        """
        ships = [frozenset(place.cells(self.book)) for place in fleet.placements]
        occupied = frozenset[int]().union(*ships)
        for wrong, answer in ((self._hits - occupied, "a hit"), (self._misses & occupied, "a miss")):
            if wrong:
                raise self._denied(wrong, f"was answered as {answer}")
        sunk = {ship for ship in ships if ship <= self._hits}
        for ship in sunk.symmetric_difference(self.sunk.values()):
            raise self._denied(ship, "was answered as sunk" if ship not in sunk else "was never answered as sunk")

    def fleet(self) -> Fleet | None:
        """Return a fleet that agrees with all answers; None where none was found."""
        search = _Search(self.book, self._hits, self._misses, self.sunk)
        return next((Fleet(self.book, placements) for placements in search.layouts()), None)

    def _denied(self, cells: Iterable[int], what: str) -> GatewayError:
        name = self.book.grid.name(min(cells))
        return GatewayError("contradiction", f"{name} {what}, and the board says otherwise")

    def _check_counts(self, cell: int, outcome: ShotOutcome, hits: set[int], misses: set[int], sunk: int) -> None:
        """Refuse answers that leave too many hits or too little room, so that there is always a cell to shoot at."""
        fleet_cells, ships_afloat = len(self.book.ship_of_cell), len(self.book.fleet) - sunk
        left = fleet_cells - len(hits)
        room = self.book.grid.size - len(hits) - len(misses)
        if left < ships_afloat or left > room:
            name = self.book.grid.name(cell)
            raise GatewayError("contradiction", f"{outcome} at {name}: no fleet has so many cells that are hit or free")

    def _ship_at(self, cell: int, hits: set[int], kind: str) -> tuple[str, frozenset[int], int]:
        """Return the ship whose last cell was hit, its cells, which are connected hits, and the mask of its margin."""
        grid, group, edge = self.book.grid, {cell}, [cell]
        afloat = hits.difference(*self.sunk.values())
        while edge:
            x, y = grid.xy(edge.pop())
            for beside in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)):
                with contextlib.suppress(IllegalCommand):  # it is off the grid
                    other = grid.cell(*beside)
                    if other in afloat and other not in group:
                        group.add(other)
                        edge.append(other)
        for ship, choices in zip(self.book.fleet, self.book.choices, strict=True):
            if ship.name not in self.sunk and ship.length == len(group) and kind in ("", kind_of(ship.name)):
                for _, cells, _, margin in choices:
                    if group == {*cells} and not _mask(afloat - group) & margin:
                        return ship.name, frozenset(group), margin
        what = f"{kind or 'ship'} of {len(group)} cells"
        raise GatewayError("contradiction", f"no {what} afloat can have sunk at {grid.name(cell)}")


class _Search:
    """Looks for layouts: first ships for hits that no ship explains yet, then the longest of the others."""

    def __init__(self, book: RuleBook, hits: set[int], misses: set[int], sunk: dict[str, frozenset[int]]) -> None:
        self._book = book
        self._hits, self._misses = _mask(hits), _mask(misses)
        self._sunk = {ship: _mask(cells) for ship, cells in sunk.items()}
        self._tries = MAX_TRIES

    def layouts(self) -> Iterator[list[Placement]]:
        """Yield the placements of every ship."""
        order = sorted(range(len(self._book.fleet)), key=lambda ship: -self._book.fleet[ship].length)
        sunk = [ship for ship in order if self._book.fleet[ship].name in self._sunk]
        afloat = [ship for ship in order if ship not in sunk]
        return self._place(sunk, afloat, self._hits, self._misses)

    def _place(self, sunk: Sequence[int], afloat: Sequence[int], hits: int, blocked: int) -> Iterator[list[Placement]]:
        """Yield the placements of these ships.

        Args:
            hits: cells that none of the ships placed so far explains.
            blocked: cells that no further ship may occupy.
        """
        if not sunk and not afloat:
            if not hits:
                yield []
            return
        for ship in sunk[:1] or (afloat if hits else afloat[:1]):
            for place, _, mask, margin in self._choices(ship, lowest=0 if sunk else hits & -hits):
                self._tries -= 1
                if self._tries < 0 or mask & blocked or margin & ~mask & hits:
                    continue
                others = [other for other in afloat if other != ship]
                for rest in self._place(sunk[1:], others, hits & ~mask, blocked | margin):
                    yield [place, *rest]

    def _choices(self, ship: int, lowest: int) -> Iterator[tuple[Placement, tuple[int, ...], int, int]]:
        """Yield the places of a ship: the one where it sank, or those that have an unhit cell and the lowest hit."""
        sunk = self._sunk.get(self._book.fleet[ship].name)
        for choice in self._book.choices[ship]:
            mask = choice[2]
            if mask == sunk if sunk is not None else mask & ~self._hits and mask & lowest == lowest:
                yield choice


def _mask(cells: Iterable[int]) -> int:
    return sum(1 << cell for cell in cells)


def placement_of(cells: list[int], ship: str, book: RuleBook) -> Placement:
    """Return the placement of a ship by its cells, in any order.

    Raises:
        GatewayError: ``bad_board``: they are no ship of this length in one line.
    """
    ordered = sorted(cells)
    for orientation in Orientation:
        place = Placement(ship, *book.grid.xy(ordered[0]), orientation)
        with contextlib.suppress(IllegalCommand):  # in the other direction it may leave the grid
            if list(place.cells(book)) == ordered:
                return place
    where = ", ".join(map(book.grid.name, ordered[:6]))
    raise GatewayError("bad_board", f"{where} is not a {ship} in one line without a gap")
