"""What lobby and match both know of a team, and how much it is answered."""

from __future__ import annotations

from dataclasses import dataclass, field

from salvo import messages as m
from salvo.errors import IllegalCommand
from salvo.rules import Placement

#: Answers a player gets to refused commands, for each ship it has afloat, in one turn (SALVO-ERR-4).
ANSWERS_PER_SHIP = 3


@dataclass(slots=True)
class Team:
    """One team at the table.

    Attributes:
        placements: good placements so far, by ship.
        spellings: how the team wrote a ship's name when it placed it, by ship.
        answers: refusals that may still be answered.
        open_answers: the same for what came under its name without proof, kept apart so that a rival's noise does
            not silence the answers to the team itself.
    """

    name: str
    credential: bytes = field(repr=False)
    placements: dict[str, Placement] = field(default_factory=dict)
    spellings: dict[str, str] = field(default_factory=dict)
    answers: int = 0
    open_answers: int = 0

    def refill(self, ships_afloat: int) -> None:
        """Allow the answers of a new turn."""
        self.answers = self.open_answers = ANSWERS_PER_SHIP * max(ships_afloat, 1)

    def refuse(self, command: m.Command, error: IllegalCommand) -> list[m.Announcement]:
        """Answer a command that is not allowed, as long as there are answers left."""
        if not self._may_answer(proven=True):
            return []
        if isinstance(command, m.PlaceShip):
            return [m.PlacementRefused(self.name, command.spelling, error.code, error.text)]
        return [m.CommandRefused(self.name, error.code, error.text)]

    def answer_unreadable(self, command: m.Unreadable) -> list[m.Announcement]:
        """Answer what is no command (SALVO-ERR-3)."""
        if not self._may_answer(proven=command.proven):
            return []
        if command.spelling:
            return [m.PlacementRefused(self.name, command.spelling, command.code, command.text)]
        return [m.CommandRefused(self.name, command.code, command.text)]

    def _may_answer(self, *, proven: bool) -> bool:
        left = self.answers if proven else self.open_answers
        if left and proven:
            self.answers -= 1
        elif left:
            self.open_answers -= 1
        return left > 0
