"""Built-in bots that play by a script, so that the examples of a protocol's text come out as they are printed."""

from __future__ import annotations

from typing import Any, ClassVar

from salvo import Bot
from salvo.rules import Fleet, RuleBook
from salvo.view import Shot, View
from salvo_gateways.jsonline.protocol_text import Wording


class Scripted(Bot):
    """Places ``board`` and fires at ``cells``, then wherever it has not fired yet."""

    board: ClassVar[dict[str, Any]]
    cells: ClassVar[str] = "A2"

    def place_fleet(self, rules: RuleBook) -> Fleet:
        return Wording(rules).read_board(self.board)

    def choose_salvo(self, view: View) -> list[Shot]:
        [target] = view.opponents
        for cell in self.cells.split():
            shot = Shot(target, int(cell[1:]), ord(cell[0]) - 64)
            if shot in view.untouched:
                return [shot]
        return view.untouched.sample(1)


class Picture(Scripted):
    """The fleet of the picture in the text; fires at the fleet of its example of BOARD, after one miss."""

    board: ClassVar[dict[str, Any]] = {
        "four": "A3-A6",
        "three": ["G7-G9", "I2-I4"],
        "two": ["D8-E8", "F5-G5", "I6-J6"],
        "one": ["A8", "C3", "D1", "G1"],
    }
    cells = "A2 B3 B4 B5 B6 E10 F10 G10 F3 G3 H3 A9 B9 D7 D8 I6 I7 D2 D5 F7 I9"


class LongAtA2(Scripted):
    board: ClassVar[dict[str, Any]] = {
        "four": "A2-A5",
        "three": ["C1-C3", "C5-C7"],
        "two": ["E1-E2", "E4-E5", "E7-E8"],
        "one": ["G1", "G3", "G5", "G7"],
    }


class ShortAtA2(Scripted):
    board: ClassVar[dict[str, Any]] = {
        "four": "C1-C4",
        "three": ["E1-E3", "E5-E7"],
        "two": ["G1-G2", "G4-G5", "G7-G8"],
        "one": ["A2", "A4", "A6", "A8"],
    }


class Corners(Scripted):
    """For the two-player game: the aircraft carrier ends at E6, the cruiser begins at F7."""

    board: ClassVar[dict[str, Any]] = {"five": "E2-E6", "four": "A1-A4", "three": "F7-H7", "two": ["A6-A7", "C1-C2"]}
    cells = "I10 E5 J1 J2 J3 J4 J5 J6 J7 J8 J9 J10 H1 H2 H3 H4 H5 H6"
