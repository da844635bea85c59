"""What a person is shown of a game: a picture of the view, and what came of salvos in words.

A :class:`~salvo.view.View` changes while the game goes on, on the game's thread. A picture of it does not, so the
screen may look at it for as long as the person thinks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Final, NamedTuple

from salvo.messages import SalvoResolved
from salvo.rules import Announce, Ending, Fleet, Grid, Repeats, RuleBook, Shots, Sinkings, Spacing
from salvo.view import Shot, View
from salvo_display.boards.marks import Mark, display_name, picture
from salvo_display.boards.views import known_marks
from salvo_display.replay_text import counted

#: A hit of a ship that has sunk, where that tells which cells it had: it stands apart from others, and has one shot.
SUNK: Final = "✘"


class Volley(NamedTuple):
    """A salvo whose squares the person knows: its own, or one that was announced."""

    hits: int
    shots: tuple[Shot, ...]

    def __str__(self) -> str:
        """Return how many of its shots hit, as ``2 of 5``."""
        return f"{self.hits} of {len(self.shots)}"


@dataclass(frozen=True)
class Snapshot:
    """A view as it was at one moment; :func:`salvo.bots.player.check_salvo` takes it for one.

    Attributes:
        shots: that may be fired in this turn; 0 when it is another player's.
        boards: by player, one letter a cell.
        incoming: shots at the player's own board, as (x, y), in order.
        results: of all players' salvos, as far as they are known.
        own: the squares of the player's own salvos, by turn.
        out: who is defeated.
        sunk: by player, where the rules tell.
        points: by player, where there are any.
        deadline: of the turn, on the monotonic clock; None where no clock runs.
        known: by player, which cells were hits; empty where the rules don't tell cells.
        volleys: salvos by their turn, the latest last.
    """

    rules: RuleBook
    me: str
    players: tuple[str, ...]
    game: int
    turn: int
    shots: int
    fleet: Fleet
    fired_this_turn: tuple[Shot, ...]
    boards: Mapping[str, str]
    incoming: tuple[tuple[int, int], ...]
    results: tuple[SalvoResolved, ...] = field(repr=False)
    own: Mapping[int, tuple[Shot, ...]] = field(compare=False, repr=False)
    out: tuple[str, ...]
    sunk: Mapping[str, tuple[str, ...]]
    points: Mapping[str, int]
    winners: tuple[str, ...]
    deadline: float | None = field(compare=False)
    known: Mapping[str, dict[tuple[int, int], bool]] = field(compare=False, repr=False)
    volleys: dict[int, Volley] = field(repr=False)

    @classmethod
    def of(cls, view: View) -> Snapshot:
        """Take a picture, on the thread on which the view changes."""
        rules, left = view.rules, view.seconds_left
        rivals = [player for player in view.players if player != view.me]
        announced = rules.announce is not Announce.COUNT
        known = {player: view.marks(player) for player in view.players if announced or player == view.me}
        struck = {rules.grid.cell(x, y) for x, y in view.incoming}
        boards = {player: _board(view, player) for player in rivals}
        return cls(
            rules,
            view.me,
            view.players,
            view.game,
            view.turn,
            view.shots,
            view.fleet,
            view.fired_this_turn,
            {view.me: picture(view.fleet.board, struck)} | boards,
            tuple(view.incoming),
            tuple(view.results),
            {salvo.turn: salvo.shots for salvo in view.salvos},
            view.defeated,
            dict(view.sunk) if rules.sinkings is Sinkings.TOLD else {},
            view.points if rules.ending is Ending.GOAL else {},
            view.winners,
            None if left is None else monotonic() + left,
            known,
            _volleys(view),
        )

    @property
    def tells_sunk_cells(self) -> bool:
        """Whether hits of ships that have sunk are marked as such."""
        return _tells_sunk_cells(self.rules)

    def marks(self, player: str) -> dict[tuple[int, int], bool]:
        """Return what the view has said of a board; nothing where the rules don't tell cells."""
        return self.known.get(player, {})

    def before(self, shot: Shot) -> str:
        """Return what is known of a square that was fired at: ``B3 was fired at in turn 7: 2 of 5 hit``; or nothing."""
        cell = self.rules.grid.cell(shot.x, shot.y)
        mark = self.boards[shot.player][cell]
        turn = next((turn for turn, volley in reversed(self.volleys.items()) if shot in volley.shots), 0)
        if mark in (Mark.BLANK, Mark.SHIP):
            return ""
        if mark == Mark.FIRED:
            when = f"in turn {turn}: {self.volleys[turn]} hit" if turn else "before"
        else:
            when = f"before: {'missed' if mark == Mark.MISS else 'hit'}"
        return f"{self.rules.grid.name(cell)} was fired at {when}"

    def after(self, shots: Sequence[Shot]) -> Snapshot:
        """Return the picture after these shots were sent."""
        boards = dict(self.boards)
        for player in {shot.player for shot in shots} - {self.me}:
            boards[player] = _overlaid(boards[player], self.rules.grid, player, shots, Mark.FIRED)
        fired = (*self.fired_this_turn, *shots)
        return replace(self, shots=self.shots - len(shots), fired_this_turn=fired, boards=boards)

    def aimed(self, player: str, shots: Sequence[Shot]) -> str:
        """Return a board with squares that are chosen as targets."""
        return _overlaid(self.boards[player], self.rules.grid, player, shots, Mark.AIMED)

    def revealed(self, player: str, fleet: Fleet) -> str:
        """Return a board with all its ships."""
        struck = {cell for cell, mark in enumerate(self.boards[player]) if mark not in (Mark.BLANK, Mark.SHIP)}
        return picture(fleet.board, struck)


def _volleys(view: View) -> dict[int, Volley]:
    own = {salvo.turn: salvo.shots for salvo in view.salvos}
    aims = (own.get(each.turn) or tuple(Shot(*aim) for aim in each.aims_if_announced or ()) for each in view.results)
    return {each.turn: Volley(each.hits, shots) for each, shots in zip(view.results, aims, strict=True) if shots}


def _board(view: View, player: str) -> str:
    """Return another player's board."""
    marks: dict[int, str] = {**known_marks(view, player), **_shown_by_counts(view, player)}
    for result in view.results if _tells_sunk_cells(view.rules) else ():
        if any(ship.player == player for ship in result.sunk) and result.aims_if_announced:
            _, x, y = result.aims_if_announced[0]
            _mark_sunk(marks, view.rules.grid, view.rules.grid.cell(x, y))
    return "".join(marks.get(cell, Mark.BLANK) for cell in range(view.rules.grid.size))


def _shown_by_counts(view: View, player: str) -> dict[int, Mark]:
    """Return what the number of hits of own salvos shows of every square: none hit, or all did."""
    if view.rules.announce is not Announce.COUNT or view.rules.repeats is not Repeats.HIT:
        return {}
    return {
        view.rules.grid.cell(shot.x, shot.y): Mark.HIT if salvo.result.hits else Mark.MISS
        for salvo in view.salvos
        if salvo.result.hits in (0, len(salvo.shots))
        for shot in salvo.shots
        if shot.player == player
    }


def _tells_sunk_cells(rules: RuleBook) -> bool:
    apart = rules.spacing is not Spacing.TOUCH
    return apart and rules.sinkings is Sinkings.TOLD and rules.announce is Announce.CELLS and rules.shots is Shots.ONE


def _mark_sunk(marks: dict[int, str], grid: Grid, cell: int) -> None:
    """Mark a hit and all that have a border in common with it, or with one of those."""
    marks[cell] = SUNK
    x, y = grid.xy(cell)
    for column, row in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)):
        if 1 <= column <= grid.width and 1 <= row <= grid.height:
            beside = grid.cell(column, row)
            if marks.get(beside) == Mark.HIT:
                _mark_sunk(marks, grid, beside)


def _overlaid(board: str, grid: Grid, player: str, shots: Sequence[Shot], mark: Mark) -> str:
    cells = {grid.cell(shot.x, shot.y) for shot in shots if shot.player == player}
    return "".join(mark if cell in cells else before for cell, before in enumerate(board))


# --- in words -----------------------------------------------------------------------------------------------------


def result_words(result: SalvoResolved, view: View) -> str:
    """Return what came of a salvo as far as the rules tell this player: ``E8 Cruiser sunk``, or ``3 shots: 1 hit``."""
    rules, many = view.rules, len(view.players) > 2
    shots: Sequence[Shot] = [Shot(*aim) for aim in result.aims_if_announced or ()]
    if not shots and result.player == view.me:
        shots = next((salvo.shots for salvo in reversed(view.salvos) if salvo.turn == result.turn), ())
    sunk = [f"{display_name(ship.ship)} of {ship.player} sunk" for ship in result.sunk]
    if not result.shots:
        words = ["no shot"]
    elif result.outcomes_if_announced is not None and shots:
        words = [
            _fate(shot, hit, rules.grid, many) for shot, hit in zip(shots, result.outcomes_if_announced, strict=False)
        ]
        if len(words) == len(sunk) == 1:  # this shot has sunk it
            words, sunk = [words[0].removesuffix("hit") + _sunk(result.sunk[0].ship)], []
    else:
        words = [f"{counted(result.shots, 'shot')}: {counted(result.hits, 'hit')}"]
    return ", ".join([*words, *sunk, *(f"{name} defeated" for name in result.defeated if many)])


def _fate(shot: Shot, hit: bool, grid: Grid, many: bool) -> str:
    of_whom = f" of {shot.player}" if many else ""
    return f"{grid.name(grid.cell(shot.x, shot.y))}{of_whom} {'hit' if hit else 'missed'}"


def _sunk(ship: str) -> str:
    return f"{display_name(ship)} sunk"


def incoming_words(sight: Snapshot, first: int) -> list[str]:
    """Return what shots did to the player's own board, from number ``first`` on, counted from 0: ``D4 hit``."""
    grid, fleet = sight.rules.grid, sight.fleet
    left = {placement.ship: set(placement.cells(sight.rules)) for placement in fleet.placements}
    struck: set[int] = set()
    words = []
    for number, (x, y) in enumerate(sight.incoming):
        cell = grid.cell(x, y)
        ship = next((p.ship for p in fleet.placements if cell in p.cells(sight.rules)), None)
        if ship is None or (cell in struck and sight.rules.repeats is Repeats.MISS):
            fate = "missed"
        else:
            afloat = bool(left[ship])
            left[ship].discard(cell)
            fate = _sunk(ship) if afloat and not left[ship] else "hit"
        struck.add(cell)
        if number >= first:
            words.append(f"{grid.name(cell)} {fate}")
    return words
