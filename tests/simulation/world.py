"""The world: simulated time, one queue of events, and the points at which something can go wrong.

Everything that happens is an event in the queue, and every draw comes from a generator of its own, made of the seed and
a purpose. So one seed is one course of events, and taking a fault away changes no draw elsewhere.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from random import Random

from simulation.faults import Fault

#: No contest has more: whatever goes round in circles ends here.
MAX_EVENTS = 400_000


class Crashed(BaseException):
    """Ends the step of a process that was killed in its middle; nothing in the real code catches it."""


class Broken(Exception):
    """An invariant does not hold."""


class Process:
    """Something that runs, is woken by events, and can be killed.

    Attributes:
        alive: whether it runs.
        incarnation: how often it was started.
    """

    def __init__(self, world: World, name: str) -> None:
        self.world = world
        self.name = name
        self.alive = False
        self.incarnation = 0
        self._next = float("inf")

    def start(self) -> None:
        """Come to life, unless somebody else was faster."""
        if self.alive:
            return
        self.alive = True
        self.incarnation += 1
        self._next = float("inf")
        self.world.say("%s starts", self.name)
        self._guarded(self.begin)

    def begin(self) -> None:
        """What a start does."""

    def step(self) -> None:
        """What a waking does; it wakes itself again as it likes."""

    def kill(self) -> None:
        """Lose everything that is not durable, at once."""
        self.alive = False
        self.world.say("%s is killed", self.name)

    def wake(self, delay: float) -> None:
        """Run :meth:`step` so many seconds from now, or earlier."""
        when = self.world.now + delay
        if when < self._next:
            self._next = when
            self.world.at(when, self._woken, when, self.incarnation)

    def _woken(self, when: float, incarnation: int) -> None:
        if self.alive and self.incarnation == incarnation and self._next == when:
            self._next = float("inf")
            self._guarded(self.step)

    def _guarded(self, action: Callable[..., None], *given: object) -> None:
        former, self.world.running = self.world.running, self
        try:
            action(*given)
        except Crashed:
            pass
        finally:
            self.world.running = former


class World:
    """Time and what is to happen.

    Attributes:
        now: seconds since the world began.
        phase: the state of the table, as the last round of the server left it; :meth:`enter` changes it.
        calm: while set, nothing goes wrong any more.
        running: the process whose step it is.
        act: carries out a fault.
        counts: how often each point was passed, by phase.
        happened: the faults that did happen.
    """

    def __init__(self, seed: int | str, faults: Sequence[Fault], trace: Callable[[str], None] | None = None) -> None:
        self.now = 0.0
        self.phase = "lobby"
        self.calm = False
        self.running: Process | None = None
        self.act: Callable[[Fault], None] = lambda fault: None
        self.counts: dict[str, dict[str, int]] = {"lobby": {}, "turn": {}, "over": {}}
        self._passed = self.counts[self.phase]
        self.happened: list[Fault] = []
        self.events = 0
        self._seed = seed
        self._trace = trace
        self._queue: list[tuple[float, int, Callable[..., None], tuple[object, ...]]] = []
        self._order = 0
        self._armed: dict[tuple[str, str, int], list[Fault]] = {}
        for fault in faults:
            self._armed.setdefault((fault.phase, fault.point, fault.nth), []).append(fault)
        self._points = {fault.point for fault in faults}

    def random(self, *purpose: object) -> Random:
        """Return a generator for one purpose."""
        return Random("/".join(map(str, (self._seed, *purpose))))

    def at(self, when: float, action: Callable[..., None], *given: object) -> None:
        """Let something happen at a time."""
        self._order += 1
        heapq.heappush(self._queue, (when, self._order, action, given))

    def after(self, seconds: float, action: Callable[..., None], *given: object) -> None:
        """Let something happen in a while."""
        self.at(self.now + seconds, action, *given)

    def run(self, until: float, ended: Callable[[], bool] = lambda: False) -> bool:
        """Let things happen until a time or until it ended; return whether it did."""
        queue, pop = self._queue, heapq.heappop
        while queue and queue[0][0] <= until:
            self.now, _, action, given = pop(queue)
            self.events += 1
            if self.events > MAX_EVENTS:
                raise Broken(f"something goes round in circles: {self.events} events in {self.now:.1f} s")
            action(*given)
            if ended():
                return True
        self.now = max(self.now, until)
        return False

    def enter(self, phase: str) -> None:
        """Count the points of another phase from here on."""
        self.phase = phase
        self._passed = self.counts[phase]

    def hit(self, point: str) -> None:
        """Pass a point.

        Raises:
            Crashed: the process whose step it is was killed here.
        """
        try:
            self._passed[point] += 1
        except KeyError:
            self._passed[point] = 1
        if point in self._points:
            key = (self.phase, point, self._passed[point])
            if key in self._armed and not self.calm:
                self._go_wrong(self._armed.pop(key))

    def _go_wrong(self, faults: list[Fault]) -> None:
        process = self.running
        for fault in faults:
            self.say("FAULT %s", fault)
            self.happened.append(fault)
            self.act(fault)
        if process is not None and not process.alive:
            raise Crashed

    def say(self, text: str, *given: object) -> None:
        """Write a line of the trace."""
        if self._trace is not None:
            self._trace(f"{self.now:10.4f} {text % given}")
