"""The four other rulesets once more, slowly: one class each, written from their prose, with sets and dicts only.

Nothing of ours is imported. A property test gives the same commands to these and to the referee and compares. Commands
return a refusal's code, or None when they are accepted. Cells are (x, y).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

Cell = tuple[int, int]
Ships = dict[str, set[Cell]]


@dataclass
class Resolved:
    """What everybody is told of a turn."""

    player: str
    outcomes: list[bool]
    sunk: list[tuple[str, str]]
    defeated: list[str]


class NaiveGame(ABC):
    """What the four have in common: players on a ring, a grid, an own board that is no target."""

    def __init__(self, grid: Cell, fleets: dict[str, Ships], starter: str, most_silent: int) -> None:
        self.grid = grid
        self.fleets = fleets
        self.names = list(fleets)
        self.current = starter
        self.most_silent = most_silent
        self.struck: dict[str, set[Cell]] = {name: set() for name in fleets}
        self.silent = dict.fromkeys(fleets, 0)
        self.out: list[str] = []
        self.resolved: list[Resolved] = []
        self.over = False
        self.late = ""  # who ended the game by a turn without a shot: what it still fires is void, not refused

    # --- questions ------------------------------------------------------------------------------------------------

    def occupied(self, name: str) -> set[Cell]:
        return set().union(*self.fleets[name].values())

    def sunk(self, name: str) -> set[str]:
        return {ship for ship, cells in self.fleets[name].items() if not cells - self.struck[name]}

    def afloat(self, name: str) -> int:
        return len(self.fleets[name]) - len(self.sunk(name))

    def standing(self) -> list[str]:
        return [name for name in self.names if name not in self.out]

    def next_after(self, name: str) -> str:
        ring = self.names[self.names.index(name) + 1 :] + self.names[: self.names.index(name) + 1]
        return next(each for each in ring if each not in self.out)

    # --- commands -------------------------------------------------------------------------------------------------

    def fire(self, name: str, target: str, x: int, y: int) -> str | None:
        if self.over and self.late == name:
            self.late = ""
            return None
        code = self._why_not(name)
        if code is None and target not in self.fleets:
            code = "unknown_target"
        if code is None and not (1 <= x <= self.grid[0] and 1 <= y <= self.grid[1]):
            code = "off_grid"
        if code is None and target == name:
            code = "own_board"
        if code is None and self.is_spent(target, (x, y)):
            code = "shot_before"
        if code is None:
            self.take(target, (x, y))
        return code

    def skip(self, name: str) -> str | None:
        if self.over:
            return "wrong_state"
        code = self._why_not(name)
        if code is None:
            self.stop()
        return code

    def _why_not(self, name: str) -> str | None:
        if self.over:
            return "wrong_state"
        return None if name == self.current else "not_your_turn"

    def is_spent(self, target: str, cell: Cell) -> bool:
        return False

    @abstractmethod
    def take(self, target: str, cell: Cell) -> None:
        """Take a legal shot of the current player."""

    @abstractmethod
    def stop(self) -> None:
        """End the current turn early, by a skip or by the clock."""

    @abstractmethod
    def places(self) -> dict[str, int]:
        """Place by player, once it is over."""


class OneShot(NaiveGame):
    """A shot a turn; the last one left wins."""

    repeat_is_hit = True

    def take(self, target: str, cell: Cell) -> None:
        shooter, before = self.current, self.sunk(target)
        hit = cell in self.occupied(target) and (self.repeat_is_hit or cell not in self.struck[target])
        self.struck[target].add(cell)
        self.silent[shooter] = 0
        resolved = Resolved(shooter, [hit], [(target, ship) for ship in self.sunk(target) - before], [])
        if not self.afloat(target) and target not in self.out:
            self.out.append(target)
            resolved.defeated.append(target)
        self.resolved.append(resolved)
        self.over = len(self.standing()) == 1
        if not (hit and self.hit_goes_on()):
            self.current = self.next_after(shooter)

    def stop(self) -> None:
        name = self.current
        self.silent[name] += 1
        resolved = Resolved(name, [], [], [])
        self.current = self.next_after(name)
        if self.silent[name] >= self.most_silent:
            self.out.append(name)
            resolved.defeated.append(name)
        self.resolved.append(resolved)
        self.over = len(self.standing()) == 1
        self.late = name if self.over else ""

    def hit_goes_on(self) -> bool:
        return False

    def places(self) -> dict[str, int]:
        return {n: 1 if n not in self.out else len(self.names) - self.out.index(n) for n in self.names}


class Streak(OneShot):
    """A hit shoots again; a cell is shot at once."""

    def is_spent(self, target: str, cell: Cell) -> bool:
        return cell in self.struck[target]

    def hit_goes_on(self) -> bool:
        return True


class Alternate(Streak):
    """The next player has the next turn."""

    def hit_goes_on(self) -> bool:
        return False


class Spaced(OneShot):
    """A repeated shot is a miss."""

    repeat_is_hit = False


class Xbs(NaiveGame):
    """Points, equal turns, nobody is out."""

    def __init__(self, grid: Cell, fleets: dict[str, Ships], starter: str, most_silent: int) -> None:
        super().__init__(grid, fleets, starter, most_silent)
        self.points = dict.fromkeys(fleets, 0)
        self.goal = len(self.occupied(self.names[0]))

    def is_spent(self, target: str, cell: Cell) -> bool:
        return cell in self.struck[target]

    def take(self, target: str, cell: Cell) -> None:
        hit = cell in self.occupied(target)
        self.struck[target].add(cell)
        self.points[self.current] += hit
        self.silent[self.current] = 0
        self._end([hit])

    def stop(self) -> None:
        name = self.current
        self.silent[name] += 1
        self._end([])
        self.late = name if self.over else ""

    def _end(self, outcomes: list[bool]) -> None:
        self.resolved.append(Resolved(self.current, outcomes, [], []))
        had = {name: sum(resolved.player == name for resolved in self.resolved) for name in self.names}
        reached = max(self.points.values()) >= self.goal
        asleep = all(count >= self.most_silent for count in self.silent.values())
        self.over = len(set(had.values())) == 1 and (reached or asleep)
        self.current = self.next_after(self.current)

    def places(self) -> dict[str, int]:
        return {name: 1 + sum(other > points for other in self.points.values()) for name, points in self.points.items()}


class Smackdown(NaiveGame):
    """Rounds: everybody gives, then everything happens."""

    def __init__(self, grid: Cell, fleets: dict[str, Ships], starter: str, most_silent: int) -> None:
        super().__init__(grid, fleets, starter, most_silent)
        self.starter = starter
        self.ranking: list[set[str]] = []  # who fell together, the first ones first
        self._begin_round()

    def _begin_round(self) -> None:
        first = self.names.index(self.starter)
        self.to_come = [n for n in self.names[first:] + self.names[:first] if n not in self.out]
        self.allowed = {name: self.afloat(name) for name in self.to_come}
        self.given: dict[str, list[tuple[str, Cell]]] = {}
        self._begin_turn()

    def _begin_turn(self) -> None:
        self.current = self.to_come.pop(0)
        self.given[self.current] = []

    def take(self, target: str, cell: Cell) -> None:
        mine = self.given[self.current]
        mine.append((target, cell))
        if len(mine) == self.allowed[self.current]:
            self._end()

    def stop(self) -> None:
        self._end()

    def _end(self) -> None:
        self.silent[self.current] = 0 if self.given[self.current] else self.silent[self.current] + 1
        if self.to_come:
            self._begin_turn()
        else:
            self._resolve()

    def _resolve(self) -> None:
        fell: list[str] = []
        for name, shots in self.given.items():
            resolved = Resolved(name, [cell in self.occupied(target) for target, cell in shots], [], [])
            for target, cell in shots:
                self.struck[target].add(cell)
                if not self.afloat(target) and target not in [*self.out, *fell]:
                    fell.append(target)
                    resolved.defeated.append(target)
            if self.silent[name] >= self.most_silent and name not in fell:
                fell.append(name)
                resolved.defeated.append(name)
            self.resolved.append(resolved)
        if fell:
            self.ranking.append(set(fell))
        self.out += fell
        self.over = len(self.standing()) <= 1
        if not self.over:
            self._begin_round()

    def places(self) -> dict[str, int]:
        ranking = [*self.ranking, set(self.standing())] if self.standing() else self.ranking
        places: dict[str, int] = {}
        better = 0
        for group in reversed(ranking):
            places |= dict.fromkeys(group, 1 + better)
            better += len(group)
        return places
