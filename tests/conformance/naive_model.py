"""The rules once more, slowly: dicts and sets, written from the contract's sentences alone.

Nothing of ours is imported. The stateful test gives every command to this model and to the referee and compares.
"""

from __future__ import annotations

from dataclasses import dataclass, field

LENGTHS = {"carrier": 5, "battleship": 4, "destroyer": 3, "submarine": 3, "patrolboat": 2}
Cell = tuple[int, int]


@dataclass
class Team:
    secret: str
    ships: dict[str, set[Cell]] = field(default_factory=dict)
    struck: set[Cell] = field(default_factory=set)
    empty_turns: int = 0
    shots: int = 0
    hits: int = 0
    sank: int = 0
    turns: int = 0

    def complete(self) -> bool:
        return len(self.ships) == len(LENGTHS)

    def sunk(self) -> set[str]:
        return {ship for ship, cells in self.ships.items() if cells <= self.struck}

    def afloat(self) -> int:
        return len(self.ships) - len(self.sunk())


def cells_of(ship: str, x: int, y: int, orientation: str) -> set[Cell]:
    dx, dy = (1, 0) if orientation == "HORIZONTAL" else (0, 1)
    return {(x + dx * step, y + dy * step) for step in range(LENGTHS[ship])}


class NaiveTable:
    """One table. Commands return a refusal's code, or None when they are accepted."""

    def __init__(
        self,
        players: int | None,
        placement_ms: int,
        turn_ms: int,
        over_ms: int,
        empty_turns: int,
        pace_ms: int = 0,
    ) -> None:
        self.wanted = players
        self.times = {"placement": placement_ms, "turn": turn_ms, "over": over_ms, "pace": pace_ms}
        self.paused = False
        self.extra, self.skip_next = 0, False
        self.most_empty = empty_turns
        self.state = "lobby"
        self.game = 1
        self.teams: dict[str, Team] = {}
        self.order: list[str] = []  # play order, as fleets were completed
        self.out: list[str] = []  # defeated, in that order
        self.removed: list[str] = []  # by the host
        self.current = ""
        self.shots_allowed = 0
        self.shots_fired = 0
        self.hits = 0
        self.sunk_before: set[tuple[str, str]] = set()
        self.deadline: int | None = None
        self.last_salvo: tuple[str, int, int] | None = None  # player, shots, hits
        self.starter_wanted = False
        self.winner = ""

    # The starter is drawn (SALVO-TURN-1); the test tells the model whom the referee drew.
    def set_starter(self, name: str) -> None:
        assert self.starter_wanted
        assert name in self.order
        self.starter_wanted = False
        self.current = name
        self._begin_turn()

    def tick(self, now: int) -> None:
        if self.deadline is None or now < self.deadline:
            return
        if self.state == "lobby":
            if len(self.order) >= 2:
                self._start(now)
            else:
                self._dismiss()
                self.deadline = None
        elif self.paused:
            self.now = now
            self._begin_turn()
        elif self.state == "turn":
            self.now = now
            self._cut_short()
        else:
            self._reset()

    def _reset(self) -> None:
        first = (self.wanted, self.times["placement"], self.times["turn"], self.times["over"])
        fresh = NaiveTable(*first, self.most_empty, self.times["pace"])
        fresh.game = self.game + 1
        self.__dict__.update(fresh.__dict__)

    def _cut_short(self) -> None:
        self._defeat_removed()
        team = self.teams[self.current]
        team.empty_turns = 0 if self.shots_fired else team.empty_turns + 1
        if team.empty_turns >= self.most_empty and self._standing() > 1 and self.current not in self.out:
            self.out.append(self.current)
        self._end_turn()

    def _defeat_removed(self) -> None:
        for name in self.removed:
            if name not in self.out and self._standing() > 1:
                self.out.append(name)

    def host(self, do: str, team: str, now: int) -> str | None:
        """What a host does (SALVO-HOST): start, skip, extend by a minute, remove, or next."""
        self.tick(now)
        lobby, playing = self.state == "lobby", self.state == "turn"
        allowed = {"start": lobby, "skip": playing, "remove": lobby or playing}
        if not allowed.get(do, do == "extend" or not playing):
            return "wrong_state"
        self.now = now
        if do == "start":
            if len(self.order) < 2:
                return "too_few_fleets"
            self._start(now)
        elif do == "skip" and self.paused:
            self.skip_next = True
        elif do == "skip":
            self._cut_short()
        elif do == "extend":
            if self.deadline is None:
                return "clock_stopped"
            if self.paused:
                self.extra += 60_000
            else:
                self.deadline += 60_000
        elif do == "next":
            self._reset()
        else:
            return self._remove(team)
        return None

    def _remove(self, team: str) -> str | None:
        if team not in self.teams or team in self.out or team in self.removed:
            return "unknown_target"
        self.removed.append(team)
        if self.state == "lobby":
            del self.teams[team]
            self.order = [name for name in self.order if name != team]
        elif team == self.current and not self.paused:
            self._cut_short()
        return None

    def participate(self, name: str, secret: str, now: int) -> str | None:
        self.tick(now)
        for other, team in self.teams.items():
            if other.lower() == name.lower():
                return None if (other, team.secret) == (name, secret) else "name_taken"
        if self.state != "lobby":
            return "wrong_state"
        if name in self.removed:
            return "removed"
        self.teams[name] = Team(secret)
        self.deadline = now + self.times["placement"]
        return None

    def place(self, name: str, ship: str, x: int, y: int, orientation: str, now: int) -> str | None:
        self.tick(now)
        if name not in self.teams:
            return "unknown"
        if self.state != "lobby":
            return "wrong_state"
        team = self.teams[name]
        if team.complete():
            return "fleet_final"
        cells = cells_of(ship, x, y, orientation)
        if not all(1 <= cx <= 10 and 1 <= cy <= 10 for cx, cy in cells):
            return "off_grid"
        if any(cells & taken for other, taken in team.ships.items() if other != ship):
            return "overlap"
        team.ships[ship] = cells
        if team.complete():
            self.order.append(name)
            if len(self.order) == self.wanted:
                self._start(now)
        return None

    def _dismiss(self) -> None:
        self.teams = {name: team for name, team in self.teams.items() if team.complete()}

    def _start(self, now: int) -> None:
        self._dismiss()
        self.teams = {name: self.teams[name] for name in self.order}
        self.state = "turn"
        self.removed = []
        self.now = now
        self.starter_wanted = True

    def _begin_turn(self) -> None:
        self.paused = False
        self.shots_allowed = self.teams[self.current].afloat()
        self.shots_fired = self.hits = 0
        self.deadline = self.now + self.times["turn"] + self.extra
        skipped = self.skip_next
        self.extra, self.skip_next = 0, False
        if self.current in self.removed or skipped:
            self._cut_short()

    def fire(self, name: str, target: str, x: int, y: int, now: int) -> str | None:
        self.tick(now)
        if name not in self.teams:
            return "unknown"
        if self.state == "over" and self.last_salvo and self.last_salvo[0] == name and self.void_shots:
            self.void_shots -= 1
            return "void"
        if self.state != "turn":
            return "wrong_state"
        if self.paused or name != self.current:
            full = self.last_salvo and self.last_salvo[0] == name and self.last_was_full
            return "too_many_shots" if full else "not_your_turn"
        if target not in self.teams:
            return "unknown_target"
        if not (1 <= x <= 10 and 1 <= y <= 10):
            return "off_grid"
        self.now = now
        victim, shooter = self.teams[target], self.teams[name]
        before = victim.sunk()
        self.shots_fired += 1
        shooter.shots += 1
        if any((x, y) in cells for cells in victim.ships.values()):
            self.hits += 1
            shooter.hits += 1
            victim.struck.add((x, y))
        shooter.sank += len(victim.sunk() - before)
        if not victim.afloat() and target not in self.out:
            self.out.append(target)
        if self.shots_fired == self.shots_allowed or self._standing() == 1:
            shooter.empty_turns = 0
            self._end_turn()
        return None

    def _standing(self) -> int:
        return len(self.order) - len(self.out)

    def _end_turn(self) -> None:
        self._defeat_removed()
        self.teams[self.current].turns += 1
        self.last_salvo = (self.current, self.shots_fired, self.hits)
        self.last_was_full = self.shots_fired == self.shots_allowed
        if self._standing() == 1:
            self.void_shots = self.shots_allowed - self.shots_fired
            self.state = "over"
            self.deadline = self.now + self.times["over"]
            [self.winner] = [name for name in self.order if name not in self.out]
            return
        seat = self.order.index(self.current)
        while True:
            seat = (seat + 1) % len(self.order)
            if self.order[seat] not in self.out:
                break
        self.current = self.order[seat]
        if self.times["pace"]:
            self.paused = True
            self.deadline = self.now + self.times["pace"]
        else:
            self._begin_turn()

    def places(self) -> dict[str, int]:
        places = dict.fromkeys(self.order, 1)
        for number, name in enumerate(self.out):
            places[name] = len(self.order) - number
        return places
