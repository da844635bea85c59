"""Faults: what goes wrong at which step, drawn from a seed beforehand, as text and back.

A fault is bound to a *point*, a boundary between two steps that the world counts, and to the number of times that the
point was passed in that phase of the game. So it hits the same place however many other faults are taken away, which
is what makes a failing list shrink.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

_PATTERN = re.compile(r"([a-z0-9.]+)@(lobby|turn|over)#(\d+)=([a-z-]+)((?::[a-z0-9.]+)*)")

#: Every boundary of the server's round, as the issue names them.
SERVER_POINTS = tuple(
    f"server.{step}.{side}"
    for step in ("receive", "decode", "append", "commit", "publish", "acknowledge")
    for side in ("before", "after")
)
BROKER_POINTS = ("broker.publish.before", "broker.publish.routed", "broker.publish.after", "broker.puback")
TEAM_STEPS = ("receive.before", "receive.after", "publish.before", "publish.after", "acknowledge.before")


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that goes wrong.

    Attributes:
        point: where; ``server.commit.before``, ``team0.publish.after``, ``link.server.down`` ...
        phase: in which state of the table.
        nth: how many times the point is passed in that phase, from 1.
        action: what goes wrong.
        given: the action's arguments.
    """

    point: str
    phase: str
    nth: int
    action: str
    given: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.point}@{self.phase}#{self.nth}={':'.join((self.action, *self.given))}"

    def seconds(self, place: int) -> float:
        """Return an argument as a number."""
        return float(self.given[place])


def parse(text: str) -> list[Fault]:
    """Read faults as they are printed, with commas between them.

    Raises:
        ValueError: one of them is no fault.
    """
    faults = []
    for each in filter(None, text.split(",")):
        found = _PATTERN.fullmatch(each)
        if found is None:
            raise ValueError(f"{each!r} is no fault, which looks like server.commit.before@turn#7=crash:server:0.5")
        point, phase, nth, action, given = found.groups()
        faults.append(Fault(point, phase, int(nth), action, tuple(given.split(":")[1:])))
    return faults


def write(faults: list[Fault]) -> str:
    """Return faults as text."""
    return ",".join(map(str, faults))


#: About how often a point is passed in a whole game of two random bots, by phase; where no number stands, see below.
_OFTEN = {
    "server.receive": (40, 320, 60),
    "server.decode": (12, 190, 1),
    "server.append": (20, 210, 2),
    "server.commit": (12, 130, 2),
    "server.publish": (25, 560, 40),
    "server.acknowledge": (25, 200, 4),
    "broker.publish": (35, 760, 50),
    "broker.puback": (100, 2000, 100),
    "link.server": (60, 760, 60),
    "link.observer": (30, 560, 60),
    "link.team": (40, 300, 20),
    "team.receive": (20, 200, 40),
    "team.publish": (6, 95, 1),
    "team.acknowledge": (20, 280, 14),
    "team.request": (2, 2, 1),
    "team.command": (5, 90, 1),
}
_PHASES = ("lobby", "turn", "over")


def often(point: str, phase: str) -> int:
    """Return about how often a point is passed in a phase."""
    parts = re.sub(r"^(link\.)?(team|spec)\d", r"\1team", point).split(".")
    return _OFTEN[".".join(parts[:2])][_PHASES.index(phase)]


def _seconds(random: Random) -> str:
    """Mostly short, at times nothing at all, at times long enough to be noticed."""
    kind = random.random()
    return f"{0.0 if kind < 0.2 else random.uniform(0.0, 0.3) if kind < 0.6 else random.uniform(0.3, 3.0):.3f}"


class Draw:
    """Draws faults for a game with these teams."""

    def __init__(self, random: Random, teams: list[str], scale: float) -> None:
        """Prepare; ``scale`` is how long the game is beside one of two random bots under the SALVO book."""
        self._random = random
        self._teams = teams
        self._scale = scale

    def faults(self, count: int) -> list[Fault]:
        """Return so many faults, in no order."""
        return [self._fault() for _ in range(count)]

    def losses(self) -> list[Fault]:
        """Return what a broker loses although it acknowledges it: in every other contest requests, commands or both.

        No team loses so many requests that it could come too late to a lobby of 20 s.
        """
        random = self._random
        kinds = random.choice(((), (), (), ("request",), ("command",), ("request", "command")))
        return [self._loss(kind, random.randint(1, 2 if kind == "request" else 6)) for kind in kinds]

    def _loss(self, kind: str, count: int) -> Fault:
        own = self._random.choice([team for team in self._teams if kind == "request" or not team.startswith("spec")])
        return self._at(f"{own}.{kind}.taken", "lose", kind, str(count))

    def _fault(self) -> Fault:
        random = self._random
        kind = random.random()
        if kind < 0.40:
            return self._at(random.choice(SERVER_POINTS), "crash", "server", _seconds(random))
        if kind < 0.50:
            return self._at(self._team_point(), "crash", self._own, _seconds(random))
        if kind < 0.62:
            keep = random.choice(("all", "old", "none"))
            point = random.choice(random.choice((BROKER_POINTS, SERVER_POINTS)))
            return self._at(point, "crash", "broker", _seconds(random), keep)
        if kind < 0.80:
            return self._cut()
        if kind < 0.88:
            how = random.choice(("full", "full", "unheard"))
            point = random.choice(("server.receive.after", "server.commit.before", "server.append.after"))
            return self._at(point, "disk", how, _seconds(random))
        if kind < 0.95:
            whom = random.choice(["server", "observer", *self._teams])
            point = f"link.{whom}.{random.choice(('up', 'down'))}"
            return self._at(point, "slow", whom, f"{random.uniform(0.2, 4.0):.3f}")
        return self._at(random.choice(SERVER_POINTS[:2]), "stop", _seconds(random))

    def _cut(self) -> Fault:
        random = self._random
        whom = random.choice(["server", "server", "observer", *self._teams])
        point = f"link.{whom}.{random.choice(('up', 'down'))}"
        broker_notices = random.choice(("0", "0", "0.5", "20"))
        return self._at(point, "cut", whom, random.choice(("0", "0", "0.3")), broker_notices)

    def _team_point(self) -> str:
        self._own = self._random.choice(self._teams)
        return f"{self._own}.{self._random.choice(TEAM_STEPS)}"

    def _at(self, point: str, action: str, *given: str) -> Fault:
        random = self._random
        phase = random.choices(_PHASES, (2, 7, 2))[0]
        most = max(2, int(often(point, phase) * (self._scale if phase == "turn" else 1.0)))
        nth = int(most ** random.random()) if random.random() < 0.3 else random.randint(1, most)
        return Fault(point, phase, nth, action, given)
