"""What a page shows of a sitting, JSON-ready: all that the person may know, and nothing else.

There is no key in it and no cell of another player's ship that the rules have not shown. A board has one letter a cell,
as the hall's boards: ``.`` water or unknown, ``*`` miss, ``!`` hit on what is not known, a ship's letter, upper-case
where it was hit.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping
from typing import Any, Final

from salvo.rules import Announce, Grid, Orientation, Placement
from salvo_display.boards.marks import Mark, display_name
from salvo_lab.human.setup import Setup
from salvo_lab.human.setup_actions import SetupAction
from salvo_lab.human.sitting import BoardPicture, Mode, Sitting, rivals_of, standing_of
from salvo_lab.human.snapshot import SUNK, Snapshot

_LETTERS: Final = string.ascii_lowercase
_PLAIN: Final[Mapping[str, str]] = {Mark.MISS: "*", Mark.HIT: "!"}


def picture_of(sitting: Sitting) -> dict[str, Any]:
    """Return the picture without its number and its clock."""
    sight = None if sitting.mode is Mode.SETUP else sitting.sight
    return {
        "mode": sitting.mode,
        "title": _title(sitting),
        "about": [*sitting.about, *([] if sight is None else [f"you are {sight.me}"])],
        "turn": _whose_time(sitting),
        "trouble": sitting.trouble,
        "message": sitting.message,
        "news": sitting.news,
        "replay": None if sitting.over is None else [sitting.over.command, sitting.over.page is not None],
        "volleys": {} if sight is None else _volleys(sight, sitting),
        "outcome": sitting.outcome if sight is not None else "",
        "incoming": sitting.incoming(sight) if sight is not None else "",
        "grid": None if sitting.grid is None else [sitting.grid.width, sitting.grid.height],
        "boards": list(_boards(sitting, sight)),
        "target": sitting.target if sight is not None else "",
        "setup": None if sitting.setting_up is None else _setup(sitting.setting_up.setup),
        "fires": sight is not None and sight.shots == 1,
        "actions": [[action.word, action.text, action.key, action.ready] for action in _actions(sitting)],
        "chat": sitting.chat,
        "ended": sitting.ended,
        "error": "" if sitting.error is None else str(sitting.error),
    }


def _title(sitting: Sitting) -> str:
    """Return what the person is at; before there is anything to do, what it waits for."""
    return sitting.trouble if sitting.trouble and sitting.grid is None else sitting.mode.value


def _whose_time(sitting: Sitting) -> str:
    """Return whose time runs, where the title does not say so already."""
    if sitting.whose_turn:
        return f"{sitting.whose_turn}'s turn"
    return "to set up" if sitting.before_turns and sitting.seconds_left is not None else ""


def _actions(sitting: Sitting) -> Iterable[SetupAction]:
    setting_up = sitting.setting_up
    for action in sitting.actions():
        if not action.word.startswith("ship "):  # those are dragged, or chosen, where they lie
            yield action
    if setting_up is not None and not setting_up.in_grid:
        yield SetupAction("undo", "Undo", "u", ready=setting_up.setup.can_undo)
    yield SetupAction("leave", _leave_text(sitting), "q")


def _leave_text(sitting: Sitting) -> str:
    if sitting.mode is Mode.END:
        return "Exit"
    return "Leave the game" if sitting.leaving else "Leave"


def _setup(setup: Setup) -> dict[str, Any]:
    """Return the ships: those in the list, those that stand, and where there is room for each."""
    ships = []
    for ship in setup.book.fleet:
        placement = setup.placed.get(ship.name)
        ships.append(
            {
                "name": ship.name,
                "label": display_name(ship.name),
                "length": ship.length,
                "at": None if placement is None else setup.book.grid.cell(placement.x, placement.y),
                "down": placement is not None and placement.orientation is Orientation.VERTICAL,
                "room": "".join("01"[free] for free in setup.room(ship.name)),
            }
        )
    return {"ships": ships, "setting": setup.ship or "", "deleting": setup.deleting}


# --- boards -------------------------------------------------------------------------------------------------------


def _boards(sitting: Sitting, sight: Snapshot | None) -> Iterable[dict[str, Any]]:
    own = sitting.own_board()
    if own is None:
        return
    if sight is None:
        setup = sitting.fleet
        assert setup is not None
        yield _board(own, own.marks, _ships_in_setup(setup), setup.book.grid, []) | {"own": True, "name": own.heading}
        return
    names = [ship.name for ship in sight.rules.fleet]
    ships = _letters(sight.fleet.placements, names, sight.rules)
    marks = _without_aims(own.marks, sight.boards[sight.me])
    standing = {player: ", ".join(standing_of(sight, player)) for player in sight.players}
    own_words = {"own": True, "name": "you", "standing": standing[sight.me]}
    yield _board(own, marks, ships, sight.rules.grid, _own_fleet(sight)) | own_words
    for player in rivals_of(sight):
        rival = sitting.rival_board(sight, player)
        fleet = sitting.fleets_shown.get(player)
        shown = _letters(fleet.placements, names, sight.rules) if fleet is not None else {}
        marks = _without_aims(rival.marks, sight.boards[player])
        board = _board(rival, marks, shown, sight.rules.grid, _fleet(sight, player))
        yield board | {"own": False, "standing": standing[player]}


def _volleys(sight: Snapshot, sitting: Sitting) -> dict[int, dict[str, Any]]:
    """Return by turn the salvos of the news, and all whose results are only counted: number, hits, and squares."""
    wanted = {turn for _, turn in sitting.news} if sight.rules.announce is not Announce.COUNT else sight.volleys
    cell = sight.rules.grid.cell
    return {
        turn: {
            "number": number,
            "hits": str(volley),
            "shots": [(shot.player, cell(*shot[1:])) for shot in volley.shots],
        }
        for number, (turn, volley) in enumerate(sight.volleys.items())
        if turn in wanted
    }


def _ships_in_setup(setup: Setup) -> dict[int, str]:
    """Return the letters of ships by cell, with the end of the one that is being set."""
    names = [ship.name for ship in setup.book.fleet]
    ships = _letters(setup.placed.values(), names, setup.book)
    if setup.end is not None and setup.ship is not None:
        ships[setup.end] = _LETTERS[names.index(setup.ship)]
    return ships


def _board(
    board: BoardPicture, marks: str, ships: Mapping[int, str], grid: Grid, fleet: list[tuple[str, int, bool]]
) -> dict[str, Any]:
    known = {**_sunk_ships(marks, grid), **ships}
    return {
        "player": board.player,
        "name": board.player,
        "standing": "",
        "cells": "".join(_cell(mark, known.get(cell)) for cell, mark in enumerate(marks)),
        "aimed": _cells_with(Mark.AIMED, board.marks),
        "offered": _cells_with(Mark.OFFERED, marks),
        "fired": _cells_with(Mark.FIRED, marks),
        "active": board.active,
        "named": bool(ships),
        "fleet": fleet,
    }


def _cell(mark: str, ship: str | None) -> str:
    if mark == Mark.SHIP:
        assert ship is not None
        return ship
    if mark in (Mark.HIT, SUNK):
        return "!" if ship is None else ship.upper()
    return _PLAIN.get(mark, ".")


def _letters(placements: Iterable[Placement], names: list[str], rules: Any) -> dict[int, str]:
    """Return the letters of ships by cell: the first ship of the rules is a."""
    letter = dict(zip(names, _LETTERS, strict=False))
    return {cell: letter[place.ship] for place in placements for cell in place.cells(rules)}


def _sunk_ships(marks: str, grid: Grid) -> dict[int, str]:
    """Return a letter by cell for ships that have sunk, where hits of those stand out: they touch no other one."""
    found: dict[int, str] = {}
    letters = iter(_LETTERS)
    for cell in _cells_with(SUNK, marks):
        if cell not in found:
            _spread(found, cell, next(letters), marks, grid)
    return found


def _spread(found: dict[int, str], cell: int, letter: str, marks: str, grid: Grid) -> None:
    found[cell] = letter
    x, y = grid.xy(cell)
    for column, row in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)):
        if 1 <= column <= grid.width and 1 <= row <= grid.height:
            beside = grid.cell(column, row)
            if marks[beside] == SUNK and beside not in found:
                _spread(found, beside, letter, marks, grid)


def _without_aims(marks: str, below: str) -> str:
    return "".join(before if mark == Mark.AIMED else mark for mark, before in zip(marks, below, strict=True))


def _cells_with(wanted: str, marks: str) -> list[int]:
    return [cell for cell, mark in enumerate(marks) if mark == wanted]


def _own_fleet(sight: Snapshot) -> list[tuple[str, int, bool]]:
    """Return the ships of the person: name, length, whether each has sunk."""
    board = sight.boards[sight.me]
    lost = {
        place.ship for place in sight.fleet.placements
        if all(board[cell] == Mark.HIT for cell in place.cells(sight.rules))
    }  # fmt: skip
    return [(display_name(ship.name), ship.length, ship.name in lost) for ship in sight.rules.fleet]


def _fleet(sight: Snapshot, player: str) -> list[tuple[str, int, bool]]:
    """Return the ships of another player; which have sunk, as far as the rules tell."""
    sunk = sight.sunk.get(player, ())
    return [(display_name(ship.name), ship.length, ship.name in sunk) for ship in sight.rules.fleet]
