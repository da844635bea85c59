"""Make the golden games: ``python tests/golden/make.py``.

Each is a contest with all that goes wrong in one: refusals, shots that nobody waits for, deadlines that pass, outages,
teams that leave, names of ships in every spelling. A file that exists is never touched: those of an earlier form are
what proves that readers read them for ever. The games of another form go to a folder of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import NamedTuple

from salvo import messages as m
from salvo.bots.player import Bot
from salvo.bots.sources import load
from salvo.codec.header import TRANSCRIPT_VERSION
from salvo.messages import State
from salvo.rules import (
    ALTERNATE,
    APART,
    POMCP,
    SALVO,
    SCATTERED,
    SMACKDOWN,
    SPACED,
    STANDARD,
    STREAK,
    XBS,
    Fleet,
    Grid,
    Orientation,
    Placement,
    Repeats,
    RuleBook,
    ShipClass,
    Shots,
    Spacing,
)
from salvo.rules.book import Announce, Starter
from salvo.view import Feed, Shot, View
from salvo_game.referee import Referee
from salvo_game.table import Table
from salvo_game.table_step import Step
from salvo_game.transcript import no_status, write_transcript

FOLDER = Path(__file__).parent / f"v{TRANSCRIPT_VERSION}"

#: Another game of the family, so that the form is seen with every part of a ruleset.
SMALL = RuleBook(
    name="small",
    grid=Grid(8, 6),
    fleet=(ShipClass("cruiser", 3), ShipClass("gunboat", 2), ShipClass("raft", 1)),
    spacing=Spacing.APART,
    shots=Shots.UNTIL_MISS,
    order=SALVO.order,
    announce=Announce.EACH_SHOT,
    ending=SALVO.ending,
    starter=Starter.FIRST,
)


class Plan(NamedTuple):
    """A game to be made.

    Attributes:
        trouble: how often something goes wrong, 0..1.
        silent: how many players fall silent in the middle of the game.
        counted: whether the number of players starts the game; else the placement time does.
        bots: who plays, in turn.
        closed: whether the record goes on to the next lobby.
    """

    name: str
    players: int
    seed: str
    trouble: float = 0.1
    silent: int = 0
    counted: bool = True
    closed: bool = False
    table: str = ""
    book: RuleBook = SALVO
    bots: tuple[str, ...] = ("random", "hunter")


PLANS = (
    *(Plan(f"2-players-{n}", 2, f"two-{n}", trouble=n / 30) for n in range(1, 7)),
    Plan("2-players-silent", 2, "hush", silent=1),
    Plan("2-players-clock", 2, "late", 0.2, counted=False, closed=True),
    Plan("2-players-small", 2, "pond", 0.1, book=SMALL, closed=True),
    *(Plan(f"4-players-{n}", 4, f"four-{n}", trouble=n / 40, table="blue") for n in range(1, 5)),
    Plan("4-players-silent", 4, "mute", 0.15, silent=2, counted=False),
    Plan("4-players-small", 4, "lake", 0.1, book=SMALL, table="green"),
    *(Plan(f"8-players-{n}", 8, f"eight-{n}", trouble=n / 40) for n in range(1, 4)),
    Plan(
        "8-players-silent",
        8,
        "quiet",
        0.1,
        silent=3,
        counted=False,
        closed=True,
        table="a-long-name_of-a-table-32-chars",
    ),
    *(
        Plan(f"{book.name}-{players}-{n}", players, f"{book.name}-{players}-{n}", n / 20, book=book, closed=n == 2)
        for book in (SMACKDOWN, XBS, STREAK, ALTERNATE, SPACED, STANDARD, APART, SCATTERED, POMCP)
        for players, n in ((2, 1), (2, 2), (4, 1))
    ),
    *(
        Plan(f"{book.name}-3-silent", 3, f"{book.name}-hush", silent=3 if book is XBS else 1, counted=False, book=book)
        for book, silent in (
            (SMACKDOWN, 1),
            (XBS, 3),
            (STREAK, 1),
            (ALTERNATE, 1),
            (SPACED, 1),
            (STANDARD, 1),
            (APART, 1),
            (SCATTERED, 1),
            (POMCP, 1),
        )
    ),
    Plan("smackdown-2-tie", 2, "tie-115", book=SMACKDOWN, bots=("random",)),
    Plan("xbs-2-tie", 2, "tie-0", book=XBS, bots=("random",)),
)

#: How teams write the names of ships.
SPELLINGS = (
    str,
    str.upper,
    str.capitalize,
    lambda ship: f"{ship[:4]}-{ship[4:]}",
    lambda ship: f"{ship[:3]} {ship[3:]}",
)


class Made:
    """One contest in the making; :meth:`play` gives its steps."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.random = Random(plan.seed)
        self.at = 1_790_000_000_000 + self.random.randrange(10**9)
        limits = m.Limits(players=plan.players if plan.counted else None)
        self.table = Table(Referee(plan.seed, plan.table, plan.book, limits, 3), no_status)
        self.table.open()
        self.header = self.table.header
        self.referee = self.table.referee
        self.bots: dict[str, Bot] = {}
        for seat in range(plan.players):
            kind = plan.bots[seat % len(plan.bots)]
            self.bots[f"{kind}-{seat}"] = bot = load(kind)()
            bot.prepare(f"{kind}-{seat}", plan.seed)
        self.views: dict[str, View] = {}
        self.steps: list[Step] = []

    def do(self, command: m.Input, at: int | None = None) -> Step:
        self.at = max(self.at + self.random.randrange(1, 900), at or 0)
        step = self.table.carry_out(command, self.at)
        if step.recorded:
            self.steps.append(step)
        for announcement in step.announcements:
            self.tell(announcement)
        return step

    def tell(self, announcement: m.Announcement) -> None:
        match announcement:
            case m.ShotLanded(to, x, y):
                Feed(self.views[to]).landed(Shot(to, x, y))
            case m.SalvoResolved():
                for view in self.views.values():
                    Feed(view).resolved(announcement)

    def unlucky(self) -> bool:
        return self.random.random() < self.plan.trouble

    def wait(self) -> None:
        """Let the deadline come."""
        deadline = self.referee.deadline()
        assert deadline is not None
        self.do(m.TimePassed(), deadline)

    # --- lobby ----------------------------------------------------------------------------------------------------

    def gather(self) -> None:
        if not self.plan.counted:  # a lobby that comes to nothing
            self.do(m.Participate("too-early", b""))
            self.wait()
        for name in [*self.bots, "never-ready"]:
            self.do(m.Participate(name, b""))
            if self.unlucky():
                self.do(m.Resumed())
        fleets = {name: bot.place_fleet(self.plan.book) for name, bot in self.bots.items()}
        names = list(fleets)
        self.random.shuffle(names)
        first = fleets[names[0]].placements[0]
        self.do(m.PlaceShip("never-ready", first.ship, first))
        for name in names:
            self.place(name, fleets[name])
        if self.referee.state is State.LOBBY:
            self.wait()
        order = tuple(self.referee.players)
        self.views = {
            name: View(self.plan.book, name, order, 3, fleets[name], bot.random) for name, bot in self.bots.items()
        }

    def place(self, name: str, fleet: Fleet) -> None:
        for number, placement in enumerate(fleet.placements):
            spelling = self.random.choice(SPELLINGS)(placement.ship)
            if self.unlucky():
                self.do(m.PlaceShip(name, spelling, replace(placement, x=self.plan.book.grid.width + 1)))
            if self.unlucky() and number:
                there = replace(fleet.placements[number - 1], ship=placement.ship)
                self.do(m.PlaceShip(name, placement.ship, there))
            if self.unlucky():
                self.do(m.Unreadable(name, spelling, "bad_coordinates", "'Ä;9' is not x;y", proven=True))
            if self.unlucky():
                self.do(m.PlaceShip(name, placement.ship.upper(), placement))
            self.do(m.PlaceShip(name, spelling, placement))
        if self.referee.state is State.LOBBY:
            self.do(m.PlaceShip(name, fleet.placements[0].ship, fleet.placements[0]))

    # --- the game -------------------------------------------------------------------------------------------------

    def fight(self) -> None:
        hushed = list(self.referee.players)[: self.plan.silent]
        while (current := self.referee.current) is not None:
            assert self.referee.game is not None
            if current.name in hushed and self.referee.game.turn > 20:
                self.wait()
            else:
                self.turn(current.name)

    def turn(self, name: str) -> None:
        game, view = self.referee.game, self.views[name]
        assert game is not None
        turn = game.turn
        Feed(view).begin_turn(turn, game.shots_left)
        shots = list(self.bots[name].choose_salvo(view))  # type: ignore[arg-type]
        if shots and self.unlucky():
            shots = shots[: self.random.randrange(len(shots))]
        for target, x, y in shots:
            self.disturb(name, turn)
            number = game.shots_fired + 1
            context = m.ShotContext(3, turn, number, target) if self.random.random() < 0.5 else None
            if self.unlucky() and self.referee.state is State.TURN:
                self.do(m.Fire(name, target, x, y, m.ShotContext(3, turn, number + 1, target)))
            if game.turn == turn and not game.over:
                Feed(view).fired([Shot(target, x, y)])
            self.do(m.Fire(name, target, x, y, context))
        if game.over:  # a spare shot of the salvo that won, then one too many
            self.do(m.Fire(name, name, 1, 1))
            self.do(m.Fire(name, name, 1, 1))
        elif game.turn == turn and self.plan.book.skipping and not self.unlucky():
            self.do(m.Skip(name, self.random.choice((None, m.TurnContext(3, turn)))))
        elif game.turn == turn and self.plan.book.shots is not Shots.UNTIL_MISS:
            if self.unlucky():  # comes after its deadline, which passes with it
                late = self.referee.deadline()
                assert late is not None
                self.do(m.Fire(name, name, 1, 1), late + 5)
            else:
                self.wait()

    def disturb(self, current: str, turn: int) -> None:
        """Do something that changes nothing for the game."""
        if not self.unlucky() or self.referee.state is not State.TURN:
            return
        others = [name for name in self.referee.players if name != current]
        rival = self.random.choice(others)
        trouble: list[m.Input] = [
            m.Fire(rival, current, 1, 1),
            m.Fire(current, "nobody", 1, 1),
            m.Fire(current, rival, 0, self.plan.book.grid.height + 1),
            m.Fire(current, rival, 1, 1, m.ShotContext(2, turn, 1, rival)),
            m.Unreadable(current, "", "not_json", "not JSON: Expecting value: line 1 column 1 (char 0)"),
            m.Unreadable(rival, "", "body_mismatch", "the open body says x=1, the signed one x=2", proven=True),
            m.PlaceShip(rival, "raft", Placement(self.plan.book.fleet[-1].name, 1, 1, Orientation.VERTICAL)),
            m.Resumed(),
        ]
        if self.plan.book is not SALVO and self.plan.book is not SMALL:
            taken = [
                m.Fire(current, name, x, y) for name, p in self.referee.match.players.items() for x, y in p.landed[-1:]
            ]
            trouble += [m.Skip(rival), m.Skip(current, m.TurnContext(3, turn + 1)), m.Fire(current, current, 1, 1)]
            trouble += taken if self.plan.book.repeats is Repeats.REFUSED else []
        self.do(self.random.choice(trouble))

    def play(self) -> Iterator[Step]:
        self.gather()
        self.fight()
        if self.plan.closed:
            self.do(m.Resumed())
            self.wait()
        return iter(self.steps)


def main() -> None:
    """Write the games that are not there yet."""
    FOLDER.mkdir(exist_ok=True)
    for plan in PLANS:
        path = FOLDER / f"{plan.name}.jsonl.gz"
        if path.exists():
            print(f"{path}: is there, and stays as it is")
            continue
        made = Made(plan)
        write_transcript(path, made.header, made.play())
        print(f"{path}: {len(made.steps)} steps, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
