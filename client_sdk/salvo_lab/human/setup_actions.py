"""A person who puts a fleet together: what its keys, clicks and choices from the list do to a :class:`Setup`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from salvo.rules import Fleet, Orientation
from salvo_display.boards.marks import Mark, display_name
from salvo_lab.human.channel import PlaceFleet
from salvo_lab.human.cursor import Cursor
from salvo_lab.human.keys import CHOOSE, IN_SETUP, STEPS, TO_A_SQUARE
from salvo_lab.human.setup import Setup

#: Actions that a digit chooses; 0 is the last of them.
NUMBERED: Final = 10


@dataclass(frozen=True, slots=True)
class SetupAction:
    """What a person may do now.

    Attributes:
        word: for :meth:`Sitting.act`.
        text: for the person.
        key: which does the same; empty for none.
        ready: whether it would do anything now.
    """

    word: str
    text: str
    key: str = ""
    ready: bool = True


class SettingUp:
    """The list of what may be done, beside a grid.

    What does something returns what came of it, for the person; None if that changes nothing that was said before.

    Attributes:
        asked: what asks for the fleet.
        setup: the fleet.
        at: the number of the action that keys have chosen, from 0.
    """

    def __init__(
        self, asked: PlaceFleet, cursor: Cursor, send: Callable[[Fleet], None], fleet: Fleet | None = None
    ) -> None:
        """Begin with an empty grid, or with a fleet that needs no more than Done.

        Args:
            cursor: goes over the grid while a square is wanted.
            send: takes the fleet.
        """
        self.asked = asked
        self.setup = Setup(asked.rules, fleet)
        self.at = 0 if fleet is None else len(self.actions()) - 1
        self._cursor = cursor
        self._cursor.go(asked.rules.grid, 0)
        self._send = send

    # --- what the person does -------------------------------------------------------------------------------------

    def press(self, key: str) -> str | None:
        """Do what a key does."""
        if key in IN_SETUP:
            return self.act(IN_SETUP[key])
        if self.in_grid and key in CHOOSE:
            return self.click()
        if self.in_grid:
            self._cursor.press(self.setup.book.grid, key)
        elif key in STEPS:
            self.at = (self.at + STEPS[key]) % len(self.actions())
        elif key.isdecimal():
            return self._choose((int(key) or NUMBERED) - 1)
        elif key in CHOOSE:
            return self._choose(self.highlighted)
        return None

    def _choose(self, number: int) -> str | None:
        actions = self.actions()
        return self.act(actions[number].word) if number < len(actions) else None

    def act(self, word: str) -> str | None:
        """Do what a word of :meth:`actions` says; at another time it does nothing."""
        setup = self.setup
        match word.split(maxsplit=1):
            case ["ship", ship] if ship in setup.missing:
                setup.choose(ship)
                return f"{display_name(ship)}: choose a square for one end"
            case ["cancel"]:
                setup.cancel()
                return ""
            case ["delete"] if setup.placed:
                setup.delete()
                return "choose a ship on the grid to remove it"
            case ["random"] if setup.missing:
                return self._changed(setup.fill(self.asked.random))
            case ["undo"]:
                return self._changed(setup.undo())
            case ["done"]:
                self._send(setup.fleet())
                return "your fleet is set; the game begins when all fleets are"
        return None

    def click(self) -> str:
        """Click on the square under the cursor."""
        return self._changed(self.setup.click(self._cursor.cell(self.setup.book.grid)))

    def put(self, ship: str, cell: int, orientation: Orientation) -> str:
        """Place a ship from a cell on, to the right or downwards, wherever it was before."""
        return self._changed(self.setup.put(ship, *self.setup.book.grid.xy(cell), orientation))

    def _changed(self, words: str) -> str:
        """Unless a ship is being set, point at the next ship, or at what ends the set-up."""
        if self.setup.ship is None:
            self.at = 0 if self.setup.missing else len(self.actions()) - 1
        return words

    # --- what is drawn --------------------------------------------------------------------------------------------

    @property
    def in_grid(self) -> bool:
        """Whether a square is wanted."""
        return self.setup.ship is not None or self.setup.deleting

    def actions(self) -> list[SetupAction]:
        """Return what the person may do besides choosing squares, in the order of its numbers."""
        return list(self._actions())

    def _actions(self) -> Iterator[SetupAction]:
        if self.in_grid:
            yield SetupAction("cancel", "Cancel", "Esc")
            return
        setup = self.setup
        length = {ship.name: ship.length for ship in setup.book.fleet}
        for name in setup.missing:
            yield SetupAction(f"ship {name}", f"{Mark.SHIP * length[name]} {display_name(name)}")
        if setup.placed:
            yield SetupAction("delete", "Delete a ship", "d")
        yield SetupAction("random", "Random rest", "r") if setup.missing else SetupAction("done", "Done")

    @property
    def highlighted(self) -> int:
        """The number of the action that keys have chosen, from 0; where there is only Cancel, its place is not lost."""
        return 0 if self.in_grid else min(self.at, len(self.actions()) - 1)

    def hints(self) -> list[str]:
        """Return what keys do now."""
        hints = [TO_A_SQUARE, "Esc: cancel"] if self.in_grid else ["1-9, or Tab and Enter: choose"]
        return [*hints, "d: delete", "r: random rest", *["u: undo"] * self.setup.can_undo]

    @property
    def next_click(self) -> str:
        """What the next click does."""
        if self.setup.ship is not None:
            return f"setting {display_name(self.setup.ship)}"
        return "deleting" if self.setup.deleting else ""
