"""A journal on a simulated disk.

What was committed is durable. Before that, records are written one by one, and a crash leaves any number of them behind
without the mark that makes them count: the torn last write, which a reader must not take for records. A full disk takes
nothing; a database across a network may take a batch whose answer is then lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from salvo_game.journal_interface import (
    Batch,
    BurnedMessage,
    EveningChanged,
    GameClosed,
    GameConcluded,
    GameOpened,
    Journal,
    JournalProgress,
    JournalUnavailable,
    KeyLearned,
    Record,
    Result,
    Saved,
    SavedGame,
    SavedTeam,
    StepTaken,
    TeamAdmitted,
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

    def records(self) -> list[Record]:
        """Return what counts."""
        return [record for record in self.log[: self._whole()] if record is not _MARK]


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
        steps = [record.id for record in batch if isinstance(record, StepTaken)]
        if steps and steps[0] != self.last_step + 1:
            raise Broken(f"step {steps[0]} follows on step {self.last_step} in the journal")
        for record in batch:
            world.hit("server.append.before")
            disk.log.append(record)
            world.hit("server.append.after")
        world.hit("server.commit.before")
        if world.now < disk.full_until:
            disk.mend()
            raise JournalUnavailable("journal_full", "the simulated disk is full")
        disk.log.append(_MARK)
        self.last_step = max([self.last_step, *steps])
        world.hit("server.commit.after")
        if world.now < disk.unheard_until:
            self._last = batch
            raise JournalUnavailable("journal_away", "the simulated database did not answer")

    def load(self) -> Saved:
        """Read what counts."""
        games: dict[int, GameOpened] = {}
        steps: dict[int, list[StepTaken]] = {}
        teams: dict[tuple[int, str], SavedTeam] = {}
        burned: list[BurnedMessage] = []
        sent_through, ended, evening = 0, True, ""
        for record in self._disk.records():
            match record:
                case GameOpened():
                    games[record.id] = record
                case StepTaken():
                    steps.setdefault(record.game, []).append(record)
                    self.last_step = record.id
                    if record.proof is not None:
                        burned.append(record.proof)
                case TeamAdmitted(game, name, secret):
                    teams[game, name] = SavedTeam(name, secret, [])
                case KeyLearned(game, name, salt, key) if (game, name) in teams:
                    known = teams[game, name]
                    teams[game, name] = known._replace(keys=[*known.keys, (salt, key)])
                case GameClosed(closed):
                    for place in [place for place in teams if place[0] == closed]:
                        del teams[place]
                case JournalProgress():
                    sent_through = sent_through if record.sent_through is None else record.sent_through
                    ended = ended if record.ended is None else record.ended
                case EveningChanged(evening):
                    pass
                case _:
                    pass
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
        return Saved(
            saved,
            max(games, default=0),
            self.last_step,
            sent_through,
            ended,
            iter(burned),
            former,
            evening=evening,
        )

    def results(self) -> list[Result]:
        """Return what games came to; a database refuses a second result of one."""
        ended = [record for record in self._disk.records() if isinstance(record, GameConcluded)]
        if len({each.id for each in ended}) != len(ended):
            raise Broken("the journal has two results of one game")
        return sorted((each.result for each in ended), key=when)

    def close(self) -> None:
        """There is nothing to let go of."""


def _same(one: Batch, other: Batch) -> bool:
    first, second = ([record for record in batch if not isinstance(record, JournalProgress)] for batch in (one, other))
    return first == second


def every_game(disk: Disk) -> Sequence[SavedGame]:
    """Return all games of a journal with their steps, the oldest first."""
    opened: dict[int, GameOpened] = {}
    steps: dict[int, list[StepTaken]] = {}
    for record in disk.records():
        if isinstance(record, GameOpened):
            opened[record.id] = record
        elif isinstance(record, StepTaken):
            steps.setdefault(record.game, []).append(record)
    games = list(opened.values())
    return [
        SavedGame(game, steps.get(game.id, []), [], then) for game, then in zip(games, [*games, None][1:], strict=True)
    ]
