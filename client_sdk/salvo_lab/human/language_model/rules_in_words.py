"""The rules of a game as sentences, for players who have read nothing else about it."""

from __future__ import annotations

from typing import Final

from salvo.rules import (
    Announce,
    Ending,
    Grid,
    Order,
    Repeats,
    RuleBook,
    Shots,
    Sinkings,
    Spacing,
    Starter,
    Targets,
)
from salvo_display.replay_text import counted

_SPACING: Final = {
    Spacing.TOUCH: "may touch, but not overlap",
    Spacing.NO_COMMON_EDGE: "have no common edge; corners may meet",
    Spacing.APART: "have no edge and no corner in common",
}
_STARTER: Final = {
    Starter.RANDOM: "Who begins is drawn.",
    Starter.FIRST: "The first player in the order of play begins.",
    Starter.ALTERNATING: "Another player begins in each game.",
}
_ORDER: Final = {
    Order.ROTATION: "Then the players take turns, one after the other.",
    Order.STREAK: "After a hit the same player has another turn; after a miss it is the next player's.",
    Order.ROUNDS: "In each round every player gives a salvo; all of them are resolved at its end, at once: a ship that "
    "sinks in a round has still shot.",
}
_SHOTS: Final = {
    Shots.AFLOAT: "A turn is a salvo of as many shots as you have ships afloat when it begins.",
    Shots.ONE: "A turn is one shot.",
    Shots.UNTIL_MISS: "A turn has shots until one misses; you learn of them after the turn.",
}
_TARGETS: Final = {
    Targets.EVERYBODY: "Each shot is at a cell of any player's board, also of your own, which is a waste.",
    Targets.OTHERS: "Each shot is at a cell of another player's board.",
}
_REPEATS: Final = {
    Repeats.HIT: "A shot at a ship's cell that was hit before counts as a hit again, without more damage.",
    Repeats.MISS: "A shot at a cell that anybody has shot at before is a miss.",
    Repeats.REFUSED: "A cell that anybody has shot at before cannot be shot at.",
}
_OWN_BOARD: Final = "You see every shot at your own board."
_ANNOUNCE: Final = {
    Announce.COUNT: f"Everybody learns how many shots of a salvo hit, but not which, or where they fell. {_OWN_BOARD}",
    Announce.EACH_SHOT: f"Everybody learns which shots of a salvo hit, but not where they fell. {_OWN_BOARD}",
    Announce.CELLS: "Everybody learns the cell of every shot, and whether it hit.",
}
_SINKINGS: Final = {
    Sinkings.TOLD: "A ship sinks when all its cells are hit; everybody learns which ships have sunk.",
    Sinkings.UNTOLD: "A ship sinks when all its cells are hit; nobody learns which ships have sunk.",
}


def rules_in_words(book: RuleBook, turn_seconds: int | None = None) -> list[str]:
    """Return all rules of a game, a sentence or two each.

    Args:
        turn_seconds: how long a turn may take; None where no clock runs, or none is known.
    """
    fewer = "You may fire fewer shots, or none." if book.skipping else "You must fire all shots of a turn."
    clock = [] if turn_seconds is None else [f"A turn takes {turn_seconds} seconds at most; shots not fired are lost."]
    return [
        f"Each player has a board with hidden ships: {_ships(book)}. A ship lies in a row or in a column. Ships of a "
        f"player {_SPACING[book.spacing]}.",
        _cells(book.grid),
        f"{_STARTER[book.starter]} {_ORDER[book.order]}",
        f"{_SHOTS[book.shots]} {fewer}",
        *clock,
        f"{_TARGETS[book.targets]} {_REPEATS[book.repeats]}",
        _ANNOUNCE[book.announce],
        _SINKINGS[book.sinkings],
        _end(book),
        *(["All fleets are shown when the game is over."] if book.reveal else []),
    ]


def _ships(book: RuleBook) -> str:
    return ", ".join(f"{ship.name} of {counted(ship.length, 'cell')}" for ship in book.fleet)


def _cells(grid: Grid) -> str:
    return (
        f"A board has {grid.height} rows and {grid.width} columns. A cell is its row's letter and its column's number, "
        f"from {grid.name(0)} to {grid.name(grid.size - 1)}: {grid.name(grid.width - 1)} is the last of the first row."
    )


def _end(book: RuleBook) -> str:
    if book.ending is Ending.GOAL:
        return (
            f"A hit is a point. The game is over when a player has {book.goal} points and all have had equally many "
            f"turns; most points win. Nobody is ever out, not even with all ships sunk."
        )
    tie = " If the last ones lose it in the same round, they tie." if book.order is Order.ROUNDS else ""
    return f"A player without a ship afloat is out; the last player with one wins.{tie}"
