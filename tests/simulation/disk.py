"""A journal on a simulated disk.

What was committed is durable. Before that, records are written one by one, and a crash leaves any number of them behind
without the mark that makes them count: the torn last write, which a reader must not take for records. A full disk takes
nothing; a database across a network may take a batch whose answer is then lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from salvo_game.journal_interface import (
    Batch,
    GameOpened,
    Journal,
    JournalUnavailable,
    Proof,
    Result,
    Saved,
    SavedGame,
    SavedTeam,
    StepTaken,
    when,
)
from simulation.world import Broken, World

_MARK = object()


class Disk:
    """What outlives the server.

    Attributes:
        log: records, each batch followed by a mark.
        full_until: until when it takes nothing.
        unheard_until: until when it takes everything and the answers are lost.
        torn: how many records were left without their mark.
    """

    def __init__(self, world: World) -> None:
        self.log: list[Any] = []
        self.full_until = 0.0
        self.unheard_until = 0.0
        self.torn = 0
        self.pepper = world.random("pepper").randbytes(32)
        self._world = world
        self._tearing = world.random("tearing")

    def tear(self) -> None:
        """Lose any number of the records that no mark follows yet."""
        whole = self._whole()
        loose = len(self.log) - whole
        if loose:
            del self.log[whole + self._tearing.randint(0, loose) :]
            self.torn += len(self.log) > whole

    def _whole(self) -> int:
        """Return where the last mark ends."""
        for place in range(len(self.log), 0, -1):
            if self.log[place - 1] is _MARK:
                return place
        return 0

    def mend(self) -> None:
        """Cut off what no mark follows, as a database does when it is opened."""
        del self.log[self._whole() :]

    def batches(self) -> list[Batch]:
        """Return what counts."""
        return [record for record in self.log[: self._whole()] if isinstance(record, Batch)]


class SimJournal(Journal):
    """What the service holds of it; a restart makes a new one on the same disk."""

    name = "simulated"

    def __init__(self, world: World, disk: Disk) -> None:
        self.pepper: bytes | None = disk.pepper
        self.last_step = 0
        self._last_game = 0
        self._last: Batch | None = None
        self._world = world
        self._disk = disk
        disk.mend()

    def commit(self, batch: Batch) -> None:
        """Write record by record, then the mark."""
        world, disk = self._world, self._disk
        if self._last is not None and _same(self._last, batch):
            self._last = None  # committed before, and only the answer was lost
            return
        if batch.steps and batch.steps[0].id != self.last_step + 1:
            raise Broken(f"step {batch.steps[0].id} follows on step {self.last_step} in the journal")
        for _ in range(max(1, len(batch.steps))):
            world.hit("server.append.before")
            disk.log.append("a record")
            world.hit("server.append.after")
        world.hit("server.commit.before")
        if world.now < disk.full_until:
            disk.mend()
            raise JournalUnavailable("journal_full", "the simulated disk is full")
        disk.log.append(_copied(batch))
        disk.log.append(_MARK)
        if batch.steps:
            self.last_step = batch.steps[-1].id
        world.hit("server.commit.after")
        if world.now < disk.unheard_until:
            self._last = _copied(batch)
            raise JournalUnavailable("journal_away", "the simulated database did not answer")

    def load(self) -> Saved:
        """Read what counts."""
        games: dict[int, GameOpened] = {}
        steps: dict[int, list[StepTaken]] = {}
        teams: dict[tuple[int, str], SavedTeam] = {}
        burned: list[Proof] = []
        sent_through, ended = 0, True
        for batch in self._disk.batches():
            for game in batch.games:
                games[game.id] = game
            for step in batch.steps:
                steps.setdefault(step.game, []).append(step)
                self.last_step = step.id
                if step.proof is not None:
                    burned.append(step.proof)
            for team in batch.teams:
                teams[team.game, team.name] = SavedTeam(team.name, team.secret, [])
            for key in batch.keys:
                known = teams.get((key.game, key.name))
                if known is not None:
                    teams[key.game, key.name] = known._replace(keys=[*known.keys, (key.salt, key.key)])
            for closed in batch.closed:
                for place in [place for place in teams if place[0] == closed]:
                    del teams[place]
            sent_through = sent_through if batch.sent_through is None else batch.sent_through
            ended = ended if batch.ended is None else batch.ended
        latest = {game.table: game for game in games.values()}
        saved = [
            SavedGame(game, steps.get(game.id, []), [team for (of, _), team in teams.items() if of == game.id])
            for game in latest.values()
        ]
        former = [
            game
            for game in every_game(self._disk)
            if game.opened not in latest.values() and any(step.id > sent_through for step in game.steps)
        ]
        return Saved(saved, max(games, default=0), self.last_step, sent_through, ended, iter(burned), former)

    def results(self) -> list[Result]:
        """Return what games came to; a database refuses a second result of one."""
        ended = [each for batch in self._disk.batches() for each in batch.ended_games]
        if len({each.id for each in ended}) != len(ended):
            raise Broken("the journal has two results of one game")
        return sorted((each.result for each in ended), key=when)

    def close(self) -> None:
        """There is nothing to let go of."""


def _copied(batch: Batch) -> Batch:
    """The service may go on to fill a batch whose answer was lost."""
    lists: dict[str, Any] = {
        each.name: [*records] for each in fields(Batch) if isinstance(records := getattr(batch, each.name), list)
    }
    return replace(batch, **lists)


def _same(one: Batch, other: Batch) -> bool:
    return replace(one, sent_through=None, ended=None) == replace(other, sent_through=None, ended=None)


def every_game(disk: Disk) -> Sequence[SavedGame]:
    """Return all games of a journal with their steps, the oldest first."""
    opened: dict[int, GameOpened] = {}
    steps: dict[int, list[StepTaken]] = {}
    for batch in disk.batches():
        for game in batch.games:
            opened[game.id] = game
        for step in batch.steps:
            steps.setdefault(step.game, []).append(step)
    games = list(opened.values())
    return [
        SavedGame(game, steps.get(game.id, []), [], then) for game, then in zip(games, [*games, None][1:], strict=True)
    ]
