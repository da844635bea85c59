"""What a player could infer before a salvo, what the salvo promised, and how it ended: luck and skill apart.

    explainer = Explainer(seed=7)
    outlook = explainer.look(view)  # when the turn begins; nothing is read but the player's own view
    told = outlook.judge(shots, result)  # when it has ended
    print(told.maps["bob"], told.expected, told.hits)
    print(account([told]))

Fleets are drawn evenly from all that agree with the player's information; the share that covers a cell is the chance of
a hit there, and the *expected hits* of a salvo are the sum of its chances. Hits minus expected hits are *luck*, which
averages out over many salvos. The *best* salvo has the most expected hits on cells not fired at before. The difference
to that is *lost*, and the ratio to it is the player's *skill*. A bot that fires for information, to hit more later,
loses a little by this measure, and wins the game; so does one that leaves a weak rival alone. All fleets are assumed to
be equally likely: a well-hidden one is bad luck for its seeker.

If others fire, too, at targets that are not announced, their hits are assumed to be anywhere on their rivals' ships: so
what sank, and what did not, says a little more. One thing is left out, and makes luck look worse than it was: if
repeated shots are misses and others' targets are not announced, they may have hit the same cells before.

The parts of the draws are independent; their differences show the sampling error. The best salvo for a part is chosen
by the other parts: chosen and counted by the same draws, it would profit from their noise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Final, NamedTuple

from salvo.errors import SalvoError
from salvo.messages import SalvoResolved
from salvo.rules import Announce, Repeats, Sinkings, generator
from salvo.view import Shot, View
from salvo_display.boards import HeatMap
from salvo_display.boards.views import known_marks
from salvo_lab.bots.chances import map_of
from salvo_lab.bots.clues import Clue, announced_numbers, cells_of, cells_of_shots, clues, mask_of
from salvo_lab.explaining.beliefs import PARTS, Belief, infer, spread
from salvo_lab.explaining.beliefs import numbers as numbers_of

#: Fleets drawn per board by default: a chance of 0.2 is right within 0.01.
FLEETS: Final = 2000
#: Allowed numbers of fleets; the largest takes a second or more per board.
FEWEST_FLEETS: Final = 100
MAX_FLEETS: Final = 100_000


class Estimate(NamedTuple):
    """A figure that was estimated by drawing.

    Attributes:
        error: its standard error, from the draws alone; 0 if nothing was drawn.
    """

    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:.2f} +- {self.error:.2f}"


class Knowledge(NamedTuple):
    """What a player knows about a board.

    Attributes:
        afloat: names of ships; None if the rules do not tell what sinks.
        shots: cells known to have been shot at.
        hits: known to be on this board.
        answers: if the rules announce counts only, each salvo's shots at this board and their hits; None for an answer
            about several boards at once, or a meaningless one because others may have hit the same cells before.
        unused: how many of these the chances leave out.
    """

    afloat: tuple[str, ...] | None
    sunk: tuple[str, ...]
    shots: int
    hits: int
    answers: tuple[tuple[int, int | None], ...] = ()
    unused: int = 0


class Aimed(NamedTuple):
    """A shot.

    Attributes:
        chance: that it hits.
        fresh: whether it is at a rival's cell that the player had not fired at.
        hit: None if the player is not told.
    """

    at: Shot
    chance: float
    fresh: bool
    hit: bool | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """One salvo of one player. Hits are those on the boards of others.

    Attributes:
        allowed: shots that the salvo could have had.
        known: by rival, what the player knew before.
        maps: by rival, for the targets of this salvo and of the best one.
        expected: hits.
        spread: standard deviation of the hits of such a salvo: the usual amount of luck.
        promised: expected hits on fresh cells; fewer than ``expected`` if shots are repeated.
        best: the shots with most expected hits, as many as were allowed.
        loss: how many more expected hits the best salvo has; below 0 only by a sampling error.
        exact: whether all chances are shares of whole fleets that agree with all answers but those left out.
    """

    turn: int
    player: str
    allowed: int
    shots: tuple[Aimed, ...]
    hits: int
    known: Mapping[str, Knowledge]
    maps: Mapping[str, HeatMap]
    expected: Estimate
    spread: float
    promised: float
    best: tuple[Aimed, ...]
    loss: Estimate
    exact: bool

    @property
    def luck(self) -> Estimate:
        """Hits beyond those that were expected."""
        return Estimate(self.hits - self.expected.value, self.expected.error)

    @property
    def best_expected(self) -> float:
        """Expected hits of the best salvo, counted by draws that had no part in its choice."""
        return self.promised + self.loss.value


class GameAccount(NamedTuple):
    """Luck and skill of one player over several salvos.

    Attributes:
        luck: hits less expected hits.
        spread: standard deviation of the luck of any player that fires these salvos.
        best: expected hits of the best salvos.
        skill: expected hits on fresh cells as a share of those of the best salvos; above 1 only by a sampling error.
        exact: whether all chances are shares of whole fleets.
    """

    turns: int
    shots: int
    hits: int
    expected: float
    luck: Estimate
    spread: float
    best: float
    skill: Estimate
    exact: bool


def account(explanations: Iterable[Explanation]) -> GameAccount:
    """Return the totals of one player's salvos."""
    salvos = list(explanations)
    hits, expected = sum(one.hits for one in salvos), fsum(one.expected.value for one in salvos)
    best, promised = fsum(one.best_expected for one in salvos), fsum(one.promised for one in salvos)
    lost_error = _together(one.loss.error for one in salvos)
    return GameAccount(
        len(salvos),
        sum(len(one.shots) for one in salvos),
        hits,
        expected,
        Estimate(hits - expected, _together(one.expected.error for one in salvos)),
        _together(one.spread for one in salvos),
        best,
        Estimate(promised / best, lost_error / best) if best else Estimate(1.0, 0.0),
        all(one.exact for one in salvos),
    )


def _together(errors: Iterable[float]) -> float:
    """Return the error of a sum of independent figures."""
    return float(fsum(error**2 for error in errors) ** 0.5)


class Explainer:
    """Draws fleets for the views of one game. Its draws for a turn do not depend on the turns it saw before."""

    def __init__(self, seed: int | str = 0, fleets: int = FLEETS) -> None:
        """Draw this many fleets for each board.

        Raises:
            SalvoError: ``bad_fleets``.
        """
        if not FEWEST_FLEETS <= fleets <= MAX_FLEETS:
            raise SalvoError("bad_fleets", f"{fleets} fleets to sample; {FEWEST_FLEETS}..{MAX_FLEETS}")
        self._seed = seed
        self._count = fleets
        self._latest: dict[tuple[str, str], tuple[list[Clue], Belief]] = {}

    def look(self, view: View) -> Outlook:
        """Return what a player can infer now, at the beginning of its turn."""
        known_clues = {player: clues(view, player) for player in view.players if player != view.me}
        beliefs = {player: self._belief(view, player, known) for player, known in known_clues.items()}
        return Outlook(view, known_clues, beliefs)

    def _belief(self, view: View, target: str, known_clues: list[Clue]) -> Belief:
        """Draw again only if there is new information; if all players have the same, once for all of them."""
        whose = "" if view.rules.announce is Announce.CELLS else view.me
        latest = self._latest.get((whose, target))
        if latest is None or latest[0] != known_clues:
            random = generator("explain", self._seed, target, len(known_clues))
            latest = self._latest[whose, target] = (known_clues, infer(view, target, known_clues, random, self._count))
        return latest[1]


class _Fired(NamedTuple):
    """A shot as it was fired; ``void`` if the rules call it a miss in any case."""

    at: Shot
    cell: int
    fresh: bool
    void: bool


class Outlook:
    """What a player can infer when its turn begins."""

    def __init__(self, view: View, known_clues: Mapping[str, Sequence[Clue]], beliefs: Mapping[str, Belief]) -> None:
        """Copy what is needed of the view, which will change.

        Args:
            known_clues: by rival.
            beliefs: by rival.
        """
        self._book, self._me = view.rules, view.me
        self._turn, self._allowed = view.turn, view.shots
        self._known = {
            player: _knowledge(view, player, known_clues[player], beliefs[player].unused) for player in known_clues
        }
        self._marks = {player: known_marks(view, player) for player in known_clues}
        self._beliefs = beliefs
        self._open = [_Fired(shot, view.rules.grid.cell(shot.x, shot.y), True, False) for shot in view.untouched]
        self._fresh = {fired.at for fired in self._open}
        self._own = set(view.fleet.cells)
        self._struck = {view.rules.grid.cell(*cell) for cell in view.incoming}

    def judge(self, shots: Sequence[Shot], result: SalvoResolved, *, over: bool = False) -> Explanation:
        """Return what the turn's salvo promised, and how it ended.

        Args:
            shots: those that counted, in order.
            over: whether the salvo ended the game: if it is short, that is why.
        """
        fired = self._fired(shots)
        at_rivals = [shot for shot in fired if shot.at.player != self._me]
        hits = result.hits - sum(self._hits_itself(shot) for shot in fired)
        outcomes = [None] * len(shots) if result.outcomes_if_announced is None else list(result.outcomes_if_announced)
        aimed = [Aimed(shot.at, self._chance(shot), shot.fresh, hit) for shot, hit in zip(fired, outcomes, strict=True)]
        expected = [self._expected(at_rivals, part) for part in range(PARTS)]
        promised = [self._expected([shot for shot in at_rivals if shot.fresh], part) for part in range(PARTS)]
        best = self.best(len(shots) if over else max(self._allowed, len(shots)))
        cross = self._best_by_part(len(best))
        rivals = dict.fromkeys(
            shot.player for shot in [*shots, *(aimed_at.at for aimed_at in best)] if shot.player != self._me
        )
        return Explanation(
            self._turn,
            self._me,
            self._allowed,
            tuple(aimed),
            hits,
            self._known,
            {rival: self._map(rival, fired) for rival in rivals},
            _estimate(expected),
            spread(numbers_of(self._beliefs, self._by_rival(at_rivals))),
            _estimate(promised).value,
            best,
            _estimate([most - own for most, own in zip(cross, promised, strict=True)]),
            all(self._beliefs[rival].fleets for rival in rivals),
        )

    def best(self, count: int | None = None) -> tuple[Aimed, ...]:
        """Return the fresh shots with most expected hits, the likeliest first.

        Args:
            count: the most to return; by default as many as the turn has.
        """
        chosen = self._best(self._allowed if count is None else count)
        return tuple(Aimed(shot.at, self._chance(shot), True) for shot in chosen)

    def _fired(self, shots: Sequence[Shot]) -> list[_Fired]:
        fired: list[_Fired] = []
        once = self._book.repeats is Repeats.MISS
        before: set[Shot] = set()
        for shot in shots:
            cell = self._book.grid.cell(shot.x, shot.y)
            shot_at = self._struck if shot.player == self._me else self._marks[shot.player]
            void = once and (shot in before or cell in shot_at)
            fired.append(_Fired(shot, cell, shot in self._fresh and shot not in before, void))
            before.add(shot)
        return fired

    def _hits_itself(self, shot: _Fired) -> bool:
        return shot.at.player == self._me and shot.cell in self._own and not shot.void

    def _chance(self, shot: _Fired, part: int | None = None) -> float:
        """Return the chance of a hit, by all draws or a part of them."""
        if shot.void or shot.at.player == self._me:
            return float(self._hits_itself(shot))
        belief = self._beliefs[shot.at.player]
        return (belief.chances if part is None else belief.parts[part])[shot.cell]

    def _best(self, count: int, parts: Iterable[int] = range(PARTS)) -> list[_Fired]:
        """Return the fresh shots with most expected hits, counted by some parts of the draws."""
        chosen = list(parts)
        ranked = sorted(self._open, key=lambda shot: -fsum([self._chance(shot, part) for part in chosen]))
        return ranked[:count]

    def _best_by_part(self, count: int) -> list[float]:
        """Return, by part, the expected hits of the salvo that is best according to the others."""
        others = [[other for other in range(PARTS) if other != part] for part in range(PARTS)]
        return [self._expected(self._best(count, others[part]), part) for part in range(PARTS)]

    def _expected(self, shots: Iterable[_Fired], part: int) -> float:
        return fsum([self._chance(shot, part) for shot in shots])

    def _by_rival(self, fired: Iterable[_Fired]) -> dict[str, list[int]]:
        """Return by rival the cells at which a hit is possible."""
        cells: dict[str, list[int]] = {}
        for shot in fired:
            if shot.at.player != self._me and not shot.void:
                cells.setdefault(shot.at.player, []).append(shot.cell)
        return cells

    def _map(self, rival: str, fired: Iterable[_Fired]) -> HeatMap:
        belief = self._beliefs[rival]
        return map_of(
            rival,
            self._book.grid,
            belief.chances,
            marks=self._marks[rival],
            aimed=(shot.cell for shot in fired if shot.at.player == rival),
            fleets=len(belief.fleets),
            left_out=self._known[rival].unused,
        )


def _knowledge(view: View, target: str, known_clues: Sequence[Clue], unused: int) -> Knowledge:
    named = view.rules.sinkings is Sinkings.TOLD
    fired = [clue for clue in known_clues if clue.shots]
    shot = mask_of(cell for clue in fired for cell in cells_of_shots(clue))
    struck, answers = mask_of(cell for clue in fired for cell in cells_of(clue.struck)), announced_numbers(view, fired)
    return Knowledge(
        tuple(view.afloat(target)) if named else None,
        view.sunk[target] if named else (),
        shot.bit_count(),
        sum([hits or 0 for _, hits in answers]) if answers else struck.bit_count(),
        tuple(answers),
        unused,
    )


def _estimate(parts: Sequence[float]) -> Estimate:
    """Return the mean over the parts, and its standard error."""
    mean = fsum(parts) / len(parts)
    squares = fsum((part - mean) ** 2 for part in parts)
    return Estimate(mean, float((squares / (len(parts) - 1) / len(parts)) ** 0.5))
