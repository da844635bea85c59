"""How a person puts a fleet together, without a screen: choose a ship, one end of it, then the other one.

What is legal is the ruleset's business alone (:func:`salvo.rules.check_placement`); refusals are in its words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Final

from salvo.errors import IllegalCommand
from salvo.rules import Fleet, Orientation, Placement, RuleBook, check_placement
from salvo.rules.board import mask_of, with_margin
from salvo_display.boards.marks import Mark, display_name

#: Tries to find room for the ships that are missing; each lays them all, the longest first.
_TRIES: Final = 50


class Setup:
    """A fleet that is being put together.

    Attributes:
        placed: by ship.
        ship: the one that is being set; None between two.
        end: the cell that was chosen for one of its ends.
        deleting: whether the next click on a ship removes it.
    """

    def __init__(self, book: RuleBook, fleet: Fleet | None = None) -> None:
        """Begin with an empty grid, or with a fleet."""
        self.book = book
        self.placed = {} if fleet is None else {placement.ship: placement for placement in fleet.placements}
        self.ship: str | None = None
        self.end: int | None = None
        self.deleting = False
        self._offered: dict[int, Placement] = {}  # by the cell of the other end
        self._before: list[dict[str, Placement]] = []

    @property
    def can_undo(self) -> bool:
        """Whether there is a change to take back."""
        return bool(self._before)

    @property
    def missing(self) -> tuple[str, ...]:
        """The ships that are not placed, in the order of the book."""
        return tuple(ship.name for ship in self.book.fleet if ship.name not in self.placed)

    @property
    def offered(self) -> Mapping[int, Placement]:
        """The ship's possible places, by the cell of its other end."""
        return self._offered

    @property
    def marks(self) -> str:
        """The board, one letter a cell."""
        taken = {cell for placement in self.placed.values() for cell in placement.cells(self.book)}
        if self.end is not None:
            taken.add(self.end)
        water = [Mark.OFFERED if cell in self._offered else Mark.BLANK for cell in range(self.book.grid.size)]
        return "".join(Mark.SHIP if cell in taken else mark for cell, mark in enumerate(water))

    def choose(self, ship: str) -> None:
        """Begin to set a ship that is not placed."""
        self.cancel()
        self.ship = ship

    def cancel(self) -> None:
        """Neither set a ship nor delete one after all."""
        self.ship = self.end = None
        self.deleting = False
        self._offered = {}

    def delete(self) -> None:
        """Let the next click remove a ship."""
        self.cancel()
        self.deleting = True

    def click(self, cell: int) -> str:
        """Do what a click on a square does; return what came of it.

        Raises:
            IllegalCommand: the click is not valid; says why.
        """
        if self.deleting:
            return self._remove(cell)
        if self.ship is None:
            raise IllegalCommand("no_ship_chosen", "choose a ship of the list first")
        if self.end is None or cell not in self._offered:
            return self._begin_at(self.ship, cell)
        return self._place(self._offered[cell])

    def _begin_at(self, ship: str, cell: int) -> str:
        offered = self._offers(ship, cell)
        if len(offered) == 1 and cell in offered:
            return self._place(offered[cell])  # a ship of one cell
        self.end, self._offered = cell, offered
        return f"{display_name(ship)}: one end is {self.book.grid.name(cell)}; choose the other one"

    def _offers(self, ship: str, cell: int) -> dict[int, Placement]:
        """Return the up to four places of a ship that has one end at a cell, by its other end."""
        grid, length = self.book.grid, self.book.fleet[self.book.ship_number[ship]].length
        x, y = grid.xy(cell)
        back = length - 1
        ways = {
            Placement(ship, x, y, Orientation.HORIZONTAL): (x + back, y),
            Placement(ship, x - back, y, Orientation.HORIZONTAL): (x - back, y),
            Placement(ship, x, y, Orientation.VERTICAL): (x, y + back),
            Placement(ship, x, y - back, Orientation.VERTICAL): (x, y - back),
        }
        offered: dict[int, Placement] = {}
        refusals: list[IllegalCommand] = []
        for placement, other_end in ways.items():
            try:
                check_placement(self.book, placement, self.placed.values())
            except IllegalCommand as error:
                refusals.append(error)
            else:
                offered.setdefault(grid.cell(*other_end), placement)
        if not offered:
            # Another ship in the way says more than the edge of the grid.
            refusal = min(refusals, key=lambda refused: refused.code == "off_grid")
            raise IllegalCommand(
                refusal.code, f"no room for {display_name(ship)} from {grid.name(cell)}: {refusal.text}"
            )
        return offered

    def put(self, ship: str, x: int, y: int, orientation: Orientation) -> str:
        """Place a ship with its anchor at a cell, wherever it was before; return what came of it.

        Args:
            x: column, from 1.
            y: row, from 1.

        Raises:
            IllegalCommand: it does not fit there, or there is no such ship; nothing has changed then, but for a ship
                that was being set.
        """
        self.cancel()
        placement = Placement(ship, x, y, orientation)
        check_placement(self.book, placement, [other for name, other in self.placed.items() if name != ship])
        return self._place(placement)

    def room(self, ship: str) -> list[bool]:
        """Return by cell whether a part of a ship may be there, with the others where they are."""
        others = [placement for name, placement in self.placed.items() if name != ship]
        taken = 0
        for other in others:
            taken |= with_margin(mask_of(other.cells(self.book)), self.book.grid, self.book.spacing)
        return [not taken >> cell & 1 for cell in range(self.book.grid.size)]

    def undo(self) -> str:
        """Take the last change back; return what came of it."""
        self.cancel()
        if not self._before:
            return "nothing to take back"
        self.placed = self._before.pop()
        return "taken back"

    def _change(self, placed: dict[str, Placement]) -> None:
        self._before.append(self.placed)
        self.placed = placed

    def _place(self, placement: Placement) -> str:
        self._change({**self.placed, placement.ship: placement})
        self.cancel()
        cells = placement.cells(self.book)
        name = self.book.grid.name
        return f"{display_name(placement.ship)} placed at {name(cells[0])}" + (
            f"-{name(cells[-1])}" if len(cells) > 1 else ""
        )

    def _remove(self, cell: int) -> str:
        for ship, placement in self.placed.items():
            if cell in placement.cells(self.book):
                self._change({name: other for name, other in self.placed.items() if name != ship})
                self.cancel()
                return f"{display_name(ship)} removed"
        raise IllegalCommand("no_ship_there", f"no ship at {self.book.grid.name(cell)}")

    def fill(self, random: Random) -> str:
        """Place at random what is missing.

        Raises:
            IllegalCommand: ``no_room``; nothing has changed then, but for a ship that was being set.
        """
        self.cancel()
        if not self.placed:
            self._change({placement.ship: placement for placement in self.book.random_fleet(random).placements})
            return "all ships placed at random"
        placed = list(self.placed.values())
        hopeless = any(not self._free_places(ship, placed) for ship in self.missing)
        for _ in range(0 if hopeless else _TRIES):
            laid = self._lay_rest(random)
            if laid is not None:
                self._change(laid)
                return "the rest placed at random"
        missing = ", ".join(map(display_name, self.missing))
        raise IllegalCommand("no_room", f"found no room for {missing} next to the others; delete one")

    def _lay_rest(self, random: Random) -> dict[str, Placement] | None:
        laid = dict(self.placed)
        for ship in sorted(self.missing, key=lambda name: -self.book.fleet[self.book.ship_number[name]].length):
            free = self._free_places(ship, list(laid.values()))
            if not free:
                return None
            laid[ship] = free[random.randrange(len(free))]
        return laid

    def _free_places(self, ship: str, others: Sequence[Placement]) -> list[Placement]:
        free = []
        for cell in range(self.book.grid.size):
            for orientation in Orientation:
                placement = Placement(ship, *self.book.grid.xy(cell), orientation)
                try:
                    check_placement(self.book, placement, others)
                except IllegalCommand:
                    continue
                free.append(placement)
        return free

    def fleet(self) -> Fleet:
        """Return the complete fleet.

        Raises:
            IllegalCommand: ``fleet_incomplete``.
        """
        return Fleet(self.book, list(self.placed.values()))
