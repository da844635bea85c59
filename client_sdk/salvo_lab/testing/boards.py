"""Boards as pictures: a letter for each ship, a dot for water, a line for each row."""

from __future__ import annotations

from salvo.rules import SALVO, Fleet, Orientation, Placement, RuleBook
from salvo_display.boards.marks import column_heads, letters_of

WATER = "."


def board(picture: str, book: RuleBook = SALVO) -> Fleet:
    """Return the fleet that a picture shows.

    Args:
        picture: as many lines as the grid has rows, cells apart or not; ``A`` carrier, ``B`` battleship, ``D``
            destroyer, ``S`` submarine, ``P`` patrolboat, ``.`` water.

    Raises:
        ValueError: the picture has another size than the grid, an unknown letter, or a ship that is not straight.
        IllegalCommand: the fleet is against the rules.
    """
    rows = ["".join(line.split()) for line in picture.splitlines() if line.strip()]
    grid = book.grid
    if len(rows) != grid.height or any(len(row) != grid.width for row in rows):
        raise ValueError(f"a picture has {grid.height} rows of {grid.width} cells, not {[len(row) for row in rows]}")
    cells: dict[str, list[tuple[int, int]]] = {}
    for y, row in enumerate(rows, start=1):
        for x, letter in enumerate(row, start=1):
            if letter != WATER:
                cells.setdefault(letter.upper(), []).append((x, y))
    ships = {letter: ship for ship, letter in letters_of(book).items()}
    unknown = set(cells) - set(ships)
    if unknown:
        raise ValueError(f"no ship has the letter {sorted(unknown)}; the letters are {ships}")
    return Fleet(book, [_placement(ships[letter], places, book) for letter, places in cells.items()])


def _placement(ship: str, places: list[tuple[int, int]], book: RuleBook) -> Placement:
    (x, y), last = places[0], places[-1]
    placement = Placement(ship, x, y, Orientation.HORIZONTAL if last[1] == y else Orientation.VERTICAL)
    if [book.grid.xy(cell) for cell in placement.cells(book)] != places:
        raise ValueError(f"{ship} is not a straight line of its length: {places}")
    return placement


def draw(fleet: Fleet) -> str:
    """Return the picture of a fleet, with row letters and column numbers."""
    grid = fleet.book.grid
    letters = [WATER, *letters_of(fleet.book).values()]
    lines = ["  " + " ".join(column_heads(grid.width))]
    for y in range(grid.height):
        row = fleet.board[y * grid.width : (y + 1) * grid.width]
        lines.append(f"{grid.name(y * grid.width)[0]} " + " ".join(letters[owner] for owner in row))
    return "\n".join(lines)
