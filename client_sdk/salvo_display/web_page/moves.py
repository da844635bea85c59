"""A game as what changed from salvo to salvo, as far as its onlooker knows: what a page shows, in words and numbers.

Players are *seats* here, 0..n-1 in play order, and ships are numbers in the order of the ruleset.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Final, NamedTuple

from salvo.rules import Ending, Placement, Sinkings
from salvo_display.boards.marks import Mark
from salvo_display.replay import Frame, Onlooker
from salvo_display.web_page.drawing import cells_of

#: Stands in a page's numbers for what is known of a cell; a ship that was not struck is of its board.
CODES: Final[Mapping[str, int]] = {Mark.BLANK: 0, Mark.SHIP: 0, Mark.HIT: 1, Mark.MISS: 2, Mark.FIRED: 3}


class AimedCell(NamedTuple):
    """A cell that was shot at: whose board, which cell, and what is known of it."""

    seat: int
    cell: int
    mark: Mark


class Ship(NamedTuple):
    """A player's ship."""

    seat: int
    ship: int


class Move(NamedTuple):
    """A salvo, as its onlooker knows it.

    Attributes:
        seat: who fired.
        frame: the game after it.
        fired: its shots in order, where they are known; a repeated one may be called a miss at a cell that is a hit.
        landed: cells that it struck and that ``fired`` does not tell, or not right.
        sunk: what is known to have sunk by it.
    """

    seat: int
    frame: Frame
    fired: tuple[AimedCell, ...]
    landed: tuple[AimedCell, ...]
    sunk: tuple[Ship, ...]

    @property
    def aims(self) -> tuple[AimedCell, ...]:
        """All shots of which it is known where they fell."""
        struck = {(aim.seat, aim.cell) for aim in self.fired}
        better = {(aim.seat, aim.cell): aim for aim in self.landed}
        fired = [better.get((aim.seat, aim.cell), aim) for aim in self.fired]
        return (*fired, *(aim for aim in self.landed if (aim.seat, aim.cell) not in struck))


def moves_of(seen: Onlooker) -> list[Move]:
    """Return a game's salvos in order; none before the first."""
    return [_move(seen, before, after) for before, after in pairwise(seen.frames)]


def _move(seen: Onlooker, before: Frame, after: Frame) -> Move:
    assert after.result is not None
    seats = {name: seat for seat, name in enumerate(after.seas)}
    cell = seen.book.grid.cell
    fired = tuple(AimedCell(seats[shot.player], cell(shot.x, shot.y), mark) for shot, mark in after.fired)
    was = [sea.marks for sea in before.seas.values()]
    outcomes: dict[tuple[int, int], str] = {}
    for seat, struck, mark in fired:
        met = outcomes.get((seat, struck), was[seat][struck]) == Mark.HIT
        outcomes[seat, struck] = Mark.HIT if met else mark
    landed = tuple(
        AimedCell(seat, struck, Mark(sea.marks[struck]))
        for seat, sea in enumerate(after.seas.values())
        for struck in sorted(sea.latest)
        if outcomes.get((seat, struck)) != sea.marks[struck]
    )
    return Move(seats[after.result.player], after, fired, landed, tuple(_sunk(seen, before, after)))


def tells_sinkings(seen: Onlooker, player: str) -> bool:
    """Whether it is known which ships of a player have sunk."""
    return seen.book.sinkings is Sinkings.TOLD or player in seen.fleets


def _sunk(seen: Onlooker, before: Frame, after: Frame) -> Iterable[Ship]:
    """Return the ships that sank in between: the announced ones, else those that the onlooker sees."""
    for seat, (name, sea) in enumerate(after.seas.items()):
        was = before.seas[name]
        if seen.book.sinkings is Sinkings.TOLD:
            yield from (Ship(seat, seen.book.ship_number[ship]) for ship in sea.sunk[len(was.sunk) :])
        elif name in seen.fleets and sea.marks != was.marks:
            struck = [
                {number for number, place in enumerate(seen.fleets[name].placements) if _is_struck(place, marks, seen)}
                for marks in (was.marks, sea.marks)
            ]
            yield from (Ship(seat, number) for number in sorted(struck[1] - struck[0]))


def _is_struck(ship: Placement, marks: str, seen: Onlooker) -> bool:
    return all(marks[cell] == Mark.HIT for cell in ship.cells(seen.book))


def strengths(seen: Onlooker) -> list[dict[str, int]]:
    """Return by frame how strong each player is: by its cells that were not hit, or by the rules by its points.

    Only who knows all fleets sees that; for others there is nothing.
    """
    by_points = seen.book.ending is Ending.GOAL
    if not all(name in seen.fleets for name in seen.names):
        return []
    sizes = {name: len(fleet.cells) for name, fleet in seen.fleets.items()}
    return [
        {
            name: sea.hits if by_points else 0 if sea.out else sizes[name] - sea.marks.count(Mark.HIT)
            for name, sea in frame.seas.items()
        }
        for frame in seen.frames
    ]


def numbers(seen: Onlooker, moves: Iterable[Move]) -> str:
    """Return a game for a page's script: JSON of numbers and boards alone, so that no name can inject anything.

    Boards are those of the fleets by seat, one letter a cell: known from the beginning, or revealed at the end.
    A turn is the seat, the number of shots and hits, then aims in order of fire, aims that landed, ships that sank, and
    seats that are out. An aim is (seat * cells + cell) * 4 + code, a ship is seat * ships + ship. Times are those of
    the first turn's beginning and of each salvo's result, milliseconds since that beginning.
    """
    size, ships = seen.book.grid.size, len(seen.book.fleet)
    turns = []
    for move in moves:
        result = move.frame.result
        assert result is not None
        fired, landed = ([(seat * size + cell) * 4 + CODES[mark] for seat, cell, mark in aims] for aims in move[2:4])
        sunk = [seat * ships + ship for seat, ship in move.sunk]
        out = [list(move.frame.seas).index(name) for name in result.defeated]
        turns.append([move.seat, result.shots, result.hits, fired, landed, sunk, out])
    grid = seen.book.grid
    shape = {"width": grid.width, "height": grid.height, "ships": ships, "players": len(seen.frames[0].seas)}
    boards = {
        name: [
            cells_of(Mark.BLANK * size, fleets[player]) if player in fleets else "" for player in seen.frames[0].seas
        ]
        for name, fleets in (("fleets", seen.fleets), ("revealed", seen.revealed))
    }
    times = [frame.clock for frame in seen.frames]
    return json.dumps({**shape, **boards, "turns": turns, "times": times}, separators=(",", ":"))
