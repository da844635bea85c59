"""What a program's answers tell of its hidden fleet, and a fleet that agrees with all of them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from salvo.errors import IllegalCommand
from salvo.rules import Fleet, Orientation, Placement, Repeats, RuleBook, Spacing
from salvo_gateways.accounts import GatewayError

#: Places that a search tries. Honest games need some hundreds; see tests/gateways/test_gateway_unseen.py.
MAX_TRIES: Final = 100_000


class Word(StrEnum):
    """The answer to one shot."""

    MISS = "miss"
    HIT = "hit"
    SUNK = "sunk"


def kind_of(ship: str) -> str:
    """Return what ships of a kind have in common, ``submarine`` of ``submarine2``."""
    return ship.rstrip("0123456789")


class Replies:
    """The answers of one game, for rulesets whose ships keep their distance.

    There adjacent hits are one ship, so an answer that one sank says which cells it had.

    Attributes:
        fleet: one that agrees with every answer so far.
    """

    def __init__(self, book: RuleBook) -> None:
        """Begin without an answer.

        Raises:
            ValueError: the book's ships may touch.
        """
        if book.spacing is Spacing.TOUCH:
            raise ValueError(f"ruleset {book.name}: where ships touch, answers don't tell which one sank")
        self.book = book
        self._hits = 0
        self._misses = 0
        self._sunk: dict[str, int] = {}  # ship -> mask of its cells
        self._places = {
            ship.length: [(place, mask, margin) for place, _, mask, margin in choices]
            for ship, choices in zip(book.fleet, book.choices, strict=True)
        }
        self.fleet = self._find(0, 0, {})

    def note(self, cell: int, word: Word, kind: str = "") -> None:
        """Take in an answer; one that is refused changes nothing.

        Args:
            kind: of the ship that sank, in the words of :func:`kind_of`; empty where that is not told.

        Raises:
            GatewayError: ``contradiction``: no fleet of these rules agrees with it and with all that were given before.
        """
        bit, name = 1 << cell, self.book.grid.name(cell)
        if (self._hits | self._misses) & bit:
            if self.book.repeats is Repeats.MISS and word is not Word.MISS:
                raise GatewayError("contradiction", f"{name} was shot at before, so it is a miss, not {word}")
            return
        hits = self._hits | (0 if word is Word.MISS else bit)
        misses = self._misses | (bit if word is Word.MISS else 0)
        sunk = dict(self._sunk)
        if word is Word.SUNK:
            ship, mask = self._ship_at(cell, hits, kind)
            sunk[ship] = mask
        if word is Word.SUNK or not self._agrees(bit, word, hits):
            self.fleet = self._find(hits, misses, sunk, f"{word} at {name}")
        self._hits, self._misses, self._sunk = hits, misses, sunk

    def check(self, fleet: Fleet) -> None:
        """Compare a fleet with the answers.

        Raises:
            GatewayError: ``contradiction``, which names a cell.
        """
        masks = [sum(1 << cell for cell in place.cells(self.book)) for place in fleet.placements]
        occupied = sum(masks)
        for wrong, said in ((self._hits & ~occupied, "a hit"), (self._misses & occupied, "a miss")):
            if wrong:
                where = self.book.grid.name(_lowest(wrong))
                raise GatewayError("contradiction", f"{where} was answered as {said}, and the board says otherwise")
        sunk = {mask for mask in masks if not mask & ~self._hits}
        for mask in sunk.symmetric_difference(self._sunk.values()):
            where = self.book.grid.name(_lowest(mask))
            said = "was answered as sunk" if mask in self._sunk.values() else "was never answered as sunk"
            raise GatewayError("contradiction", f"a ship at {where} {said}, and the board says otherwise")

    @property
    def defeated(self) -> bool:
        """Whether every ship has sunk."""
        return len(self._sunk) == len(self.book.fleet)

    def _agrees(self, bit: int, word: Word, hits: int) -> bool:
        """Whether the fleet found last would have answered so, where nothing sank."""
        for place in self.fleet.placements:
            mask = sum(1 << cell for cell in place.cells(self.book))
            if mask & bit:
                return word is Word.HIT and bool(mask & ~hits)
        return word is Word.MISS

    def _ship_at(self, cell: int, hits: int, kind: str) -> tuple[str, int]:
        """Return the ship whose last cell was hit, with all its cells: the hits that hang together with it."""
        width, afloat = self.book.grid.width, hits & ~sum(self._sunk.values())
        group, edge = 1 << cell, [cell]
        while edge:
            at = edge.pop()
            beside = [at - width, at + width] + [at - 1] * (at % width > 0) + [at + 1] * (at % width < width - 1)
            for other in beside:
                if other >= 0 and 1 << other & afloat & ~group:
                    group |= 1 << other
                    edge.append(other)
        count = group.bit_count()
        line = any(mask == group for _, mask, _ in self._places.get(count, ()))
        for ship in self.book.fleet:
            if line and ship.name not in self._sunk and ship.length == count and kind in ("", kind_of(ship.name)):
                return ship.name, group
        what = f"{kind or 'ship'} of {count} cells"
        raise GatewayError("contradiction", f"no {what} afloat can have sunk at {self.book.grid.name(cell)}")

    def _find(self, hits: int, misses: int, sunk: dict[str, int], told: str = "") -> Fleet:
        return _Search(self.book, self._places, hits, misses, sunk).fleet(told)


class _Search:
    """Looks for one fleet: first ships for hits that no ship explains yet, then the longest of the others."""

    def __init__(
        self,
        book: RuleBook,
        everywhere: dict[int, list[tuple[Placement, int, int]]],
        hits: int,
        misses: int,
        sunk: dict[str, int],
    ) -> None:
        self._book = book
        self._tries = MAX_TRIES
        self._found: list[tuple[int, Placement]] = []  # length and place
        self._placements: list[Placement] = []
        self._possible = True
        blocked = misses
        for ship, mask in sunk.items():
            length = book.fleet[book.ship_number[ship]].length
            place, _, margin = next(each for each in everywhere[length] if each[1] == mask)
            self._placements.append(Placement(ship, place.x, place.y, place.orientation))
            self._possible &= not mask & blocked
            blocked |= margin
        self._unexplained = hits & ~sum(sunk.values())
        self._blocked = blocked
        self._ships = [ship for ship in book.fleet if ship.name not in sunk]
        # A ship afloat has a cell that was not hit: else its last one would have been answered as sunk.
        self._places = {
            length: [each for each in found if not each[1] & blocked and each[1] & ~hits]
            for length, found in everywhere.items()
        }

    def fleet(self, told: str) -> Fleet:
        left = dict.fromkeys(self._places, 0)
        for ship in self._ships:
            left[ship.length] += 1
        possible = self._possible and not self._unexplained & self._blocked
        if not possible or not self._place(self._unexplained, self._blocked, left, 0):
            how = "fits to the other answers" if self._tries > 0 else "was found that fits to the other answers"
            raise GatewayError("contradiction", f"{told}: no fleet {how}")
        for ship in self._ships:
            at = next(number for number, (length, _) in enumerate(self._found) if length == ship.length)
            _, place = self._found.pop(at)
            self._placements.append(Placement(ship.name, place.x, place.y, place.orientation))
        return Fleet(self._book, self._placements)

    def _place(self, unexplained: int, blocked: int, left: dict[int, int], first: int) -> bool:
        """Place what is left.

        Args:
            unexplained: hits that no ship placed so far has.
            blocked: cells that no further ship may have.
            left: how many ships of each length are still to be placed.
            first: where in the list of places the next one of the longest begins: ships of a length have no order.
        """
        if not any(left.values()):
            return not unexplained
        if not unexplained:
            longest = max(length for length, count in left.items() if count)
            for number in range(first, len(self._places[longest])):
                place, mask, margin = self._places[longest][number]
                if not mask & blocked:
                    after = number + 1 if left[longest] > 1 else 0
                    if self._try(longest, place, 0, blocked | margin, left, after):
                        return True
            return False
        for length, place, mask, margin in self._explaining(unexplained & -unexplained, left):
            if mask & blocked or margin & ~mask & unexplained:
                continue
            if self._try(length, place, unexplained & ~mask, blocked | margin, left, 0):
                return True
        return False

    def _explaining(self, bit: int, left: dict[int, int]) -> Iterator[tuple[int, Placement, int, int]]:
        for length in sorted(left, reverse=True):
            if left[length]:
                for place, mask, margin in self._places[length]:
                    if mask & bit:
                        yield length, place, mask, margin

    def _try(
        self, length: int, place: Placement, unexplained: int, blocked: int, left: dict[int, int], first: int
    ) -> bool:
        if self._tries <= 0:
            return False
        self._tries -= 1
        self._found.append((length, place))
        if self._place(unexplained, blocked, left | {length: left[length] - 1}, first):
            return True
        self._found.pop()
        return False


def _lowest(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


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
    raise GatewayError("bad_board", f"{where} is no {ship} in one line without a gap")
