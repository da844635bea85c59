"""One simulated contest: drawn from a seed, played with its faults, checked while it goes on and at its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b

from salvo.errors import SalvoError
from salvo.messages import Draw, Limits, State
from salvo.rules import BOOKS, SALVO, Grid, RuleBook, ShipClass
from salvo.wire.roles_and_rights import Role
from salvo_server.storage.register import Account, Register
from simulation import checks, faults, settings, sharing
from simulation.actors import Desk, Observer, Server, Setup, SpecTeam, Team
from simulation.attached import EmbeddedServer, EmbeddedSimBroker
from simulation.broker import BrokerProcess, SimBroker
from simulation.disk import Disk
from simulation.faults import Fault
from simulation.world import Broken, World

SMALL = RuleBook(
    name="small",
    grid=Grid(6, 6),
    fleet=(ShipClass("destroyer", 3), ShipClass("patrolboat", 2), ShipClass("dinghy", 1)),
    spacing=SALVO.spacing,
    shots=SALVO.shots,
    order=SALVO.order,
    announce=SALVO.announce,
    ending=SALVO.ending,
    starter=SALVO.starter,
)

#: A time that no outage of these faults reaches: then no turn may run out.
AMPLE_TURN_MS = 120_000
OVER_MS = 60_000
#: When a result has stood for so long, nothing goes wrong any more, and some time later all must have settled.
CALM_AFTER_SECONDS = 10.0
SETTLED_AFTER_SECONDS = 30.0
#: No contest of these teams lasts longer, in simulated time, with turns that may run out three times each.
MAX_SECONDS = 12 * 3600.0


@dataclass(slots=True)
class Scenario:
    """What a seed decides before anything happens."""

    seed: int
    book: RuleBook
    teams: dict[str, str]
    limits: Limits
    games: int
    faults: list[Fault]
    window: int
    overlaps: bool
    shuffles: bool
    will_at_takeover: bool
    draw: Draw
    hosted: bool
    embedded: bool = False

    @property
    def strict(self) -> bool:
        """Whether turns are so long that none of ours may run out, and no host ends one."""
        return self.limits.turn_ms == AMPLE_TURN_MS and not self.hosted

    def __str__(self) -> str:
        return (
            f"seed {self.seed}: book {self.book.name}, {self.games} game(s), teams {self.teams}, "
            f"turn {self.limits.turn_ms} ms, pace {self.limits.pace_ms or 0} ms, window {self.window}"
        )


def draw(seed: int, rules: str | None = None, *, embedded: bool = False) -> Scenario:
    """Return what a seed decides; by other rules, the same on a small board, without clients that know Salvo only.

    Args:
        embedded: whether the server has the broker in its own process.
    """
    scenario = replace(_draw(seed), embedded=embedded)
    if rules is None:
        return scenario
    teams = {name.replace("spec", "other"): bot.replace("spec", "random") for name, bot in scenario.teams.items()}
    book = replace(BOOKS[rules], grid=SMALL.grid, fleet=SMALL.fleet, goal=None)
    return replace(scenario, book=book, teams=teams)


def _draw(seed: int) -> Scenario:
    random = World(seed, []).random("scenario")
    book = SMALL if random.random() < 0.3 else SALVO
    count = random.choices((2, 3, 4), (8, 2, 1) if book is SALVO else (5, 3, 2))[0]
    teams = {f"team{number}": random.choice(("random", "random", "hunter")) for number in range(count)}
    if count > 2 and random.random() < 0.5:
        del teams[f"team{count - 1}"]
        teams["spec0"] = "spec"
    patience = random.choice((AMPLE_TURN_MS, AMPLE_TURN_MS, 4_000))
    limits = Limits(
        players=count if random.random() < 0.8 else None,
        placement_ms=20_000,
        turn_ms=patience,
        over_ms=OVER_MS,
    )
    if (bank := World(seed, []).random("bank")).random() < 0.3:  # drawn apart: all other seeds stay what they were
        of_all_turns = AMPLE_TURN_MS if patience == AMPLE_TURN_MS else bank.choice((2_000, 10_000))
        limits = replace(limits, bank_ms=of_all_turns, increment_ms=bank.choice((None, 500)))
    if (pace := World(seed, []).random("pace")).random() < 0.25:
        limits = replace(limits, pace_ms=pace.choice((40, 800, 5_000)))
    scale = (count / 2) * (0.25 if book is SMALL else 1.0)
    drawn = faults.Draw(random, list(teams), scale).faults(random.choice((0, 1, 1, 2, 2, 3, 4, 6, 8)))
    drawn += faults.Draw(World(seed, []).random("losses"), list(teams), scale).losses()  # drawn apart, too
    return Scenario(
        seed=seed,
        book=book,
        teams=teams,
        limits=limits,
        games=2 if book is SMALL and random.random() < 0.3 else 1,
        faults=drawn,
        window=random.choice((1, 20, 20, 1000)),
        overlaps=random.random() < 0.3,
        shuffles=random.random() < 0.3,
        will_at_takeover=random.random() < 0.5,
        draw=random.choice((Draw.FAIR, Draw.FAIR, Draw.SEED)),
        hosted=World(seed, []).random("hosted").random() < 0.2,  # drawn apart, too
    )


@dataclass(slots=True)
class Report:
    """How a contest went.

    Attributes:
        wrong: what does not hold; empty when all does.
        counts: how often each point was passed, by phase.
        digest: stands for everything that the broker took in.
    """

    seed: int
    wrong: str = ""
    games: int = 0
    seconds: float = 0.0
    events: int = 0
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    happened: list[Fault] = field(default_factory=list)
    statistics: Counter[str] = field(default_factory=Counter)
    digest: str = ""


class Contest:
    """The world of one seed."""

    def __init__(self, scenario: Scenario, trace: Callable[[str], None] | None = None) -> None:
        self.scenario = scenario
        self.world = world = World(scenario.seed, scenario.faults, trace)
        world.act = self._act
        self.disk = Disk(world)
        accounts: list[Account] = []
        setup = Setup(scenario.book, scenario.limits, f"seed {scenario.seed}", "always", scenario.draw)
        if scenario.hosted:
            accounts = [Account(name, name, Role.TEAM, f"secret of {name}") for name in scenario.teams]
            accounts.append(Account(Desk.NAME, Desk.NAME, Role.HOST, Desk.SECRET))
            setup = setup._replace(register=Register(accounts))
        self.broker: BrokerProcess
        self.server: Server
        if scenario.embedded:
            self.broker = embedded = EmbeddedSimBroker(world, accounts)
            self.server = EmbeddedServer(world, embedded, self.disk, setup)
        else:
            self.broker = SimBroker(
                world,
                window=scenario.window,
                overlaps=scenario.overlaps,
                shuffles=scenario.shuffles,
                will_at_takeover=scenario.will_at_takeover,
            )
            self.server = Server(world, self.broker, self.disk, setup)
        self.server.after_step = self._look
        self.server.change = self._change
        self._settings = world.random("settings")
        self.observer = Observer(world, self.broker)
        self.teams = [Team(world, self.broker, name, bot) for name, bot in scenario.teams.items() if bot != "spec"]
        self.spec = [
            SpecTeam(world, self.broker, name, scenario.book) for name, bot in scenario.teams.items() if bot == "spec"
        ]
        self.desks = [Desk(world, self.broker)] * scenario.hosted
        everybody = [self.server, self.observer, *self.teams, *self.spec, *self.desks]
        self._members = {each.name: each for each in everybody}
        self.announced: list[tuple[str, bytes]] = []
        self.broker.received = self._received
        self.digest = blake2b(digest_size=8)
        self.statistics: Counter[str] = Counter()

    # --- what goes wrong ------------------------------------------------------------------------------------------

    def _act(self, fault: Fault) -> None:
        match fault.action, fault.given:
            case "crash", ("broker", _, keep) if not self.scenario.embedded:
                if self.broker.alive:
                    self.broker.crash(keep)
                    self.world.after(fault.seconds(1), self.broker.start)
            case "crash", (name, _, *_):  # an embedded broker's end is its server's
                member = self._members["server" if name == "broker" else name]
                if member.alive:
                    member.kill()
                    self.world.after(fault.seconds(1), member.start)
            case "cut", (name, _, _):
                self._members[name].edge.cut(fault.seconds(1), fault.seconds(2))
            case "disk", ("full", _):
                self.disk.full_until = self.world.now + fault.seconds(1)
            case "disk", ("unheard", _):
                self.disk.unheard_until = self.world.now + fault.seconds(1)
            case "slow", (name, _):
                self._members[name].edge.slow_until = self.world.now + fault.seconds(1)
            case "lose", (_, count):
                self.broker.losing[fault.point] += int(count)
            case "stop", (_,):
                self.server.stopping = True
                self.server.wake(0.0)
                self.world.after(5.0 + fault.seconds(0), self._start_again)

    def _start_again(self) -> None:
        if not self.server.alive:
            self.server.start()

    def _change(self, setup: Setup) -> Setup:
        """The operator starts the server again, and every other time with other settings."""
        if self._settings.random() < 0.5:
            return setup
        other = settings.other(setup, self._settings, len(self.scenario.teams))
        if other != setup:
            self.world.say("other settings: %s", other)
            self.statistics["servers with other settings"] += 1
        return other

    # --- the course of events -------------------------------------------------------------------------------------

    def _received(self, client: str, topic: str, payload: bytes, retain: bool) -> None:
        self.world.say("%s > %s%s %s", client, topic, " (retained)" if retain else "", payload[:100])
        self.digest.update(topic.encode() + b"\0" + payload)
        if client == "server":
            self.announced.append((topic, payload))

    def _look(self) -> None:
        """After a round of the server: note the table's state."""
        state = self.server.referee.state.value
        if state != self.world.phase:
            self.world.say("the table is in state %s", state)
            self.world.enter(state)

    def play(self) -> None:
        """Play to the end.

        Raises:
            Broken: an invariant does not hold.
        """
        self.broker.start()
        self.observer.start()
        self._until(lambda: self.observer.edge.quiet, "the observer does not come")  # its session has all from here on
        self.server.start()
        arrivals = self.world.random("arrivals")
        for team in [*self.teams, *self.spec]:
            self.world.after(arrivals.uniform(0.0, 1.0), team.start)
        for desk in self.desks:
            desk.start()
        for number in range(1, self.scenario.games + 1):
            self._play_game(last=number == self.scenario.games)
        checks.at_the_end(self)

    def _play_game(self, *, last: bool) -> None:
        world = self.world
        self._until(lambda: world.phase == "over", "the game does not end")
        began = world.now
        self._pause(CALM_AFTER_SECONDS)
        world.calm = True
        self._until(lambda: world.now > began + SETTLED_AFTER_SECONDS and self.quiet, "it does not settle")
        if self.server.referee.state is not State.OVER:
            raise Broken("the result did not stand")
        checks.when_over(self)
        world.calm = False
        if last:
            for member in [*self.teams, *self.spec, *self.desks]:
                member.end()
        self._until(lambda: world.phase == "lobby", "the table is not reset")
        if last:
            self._pause(CALM_AFTER_SECONDS)
            world.calm = True
            self._until(lambda: self.quiet, "it does not settle after the reset")

    def _pause(self, seconds: float) -> None:
        self.world.run(self.world.now + seconds)

    def _until(self, ended: Callable[[], bool], otherwise: str) -> None:
        end = self.world.now + MAX_SECONDS
        while not ended():
            if self.world.now >= end:
                raise Broken(f"{otherwise}, {self.world.now:.0f} s and {self.world.events} events from the start")
            if self.world.run(min(end, self.world.now + 1.0), ended):
                return

    @property
    def quiet(self) -> bool:
        """Whether everybody is there, and nothing is on its way or waits."""
        there = [member for member in self._members.values() if member.incarnation]
        running = self.broker.alive and all(
            member.alive and member.edge.quiet for member in there if not member.ended or member is self.server
        )
        return running and self.broker.quiet and not self.server.service.pending.publications


def play(scenario: Scenario, trace: Callable[[str], None] | None = None) -> Report:
    """Play a scenario and say how it went."""
    sharing.forget()
    contest = Contest(scenario, trace)
    report = Report(scenario.seed)
    try:
        contest.play()
    except Broken as broken:
        report.wrong = str(broken)
    except (AssertionError, LookupError, TypeError, ValueError, AttributeError, SalvoError) as error:
        place = error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        where = f"{place.tb_frame.f_code.co_filename}:{place.tb_lineno}" if place is not None else ""
        report.wrong = f"{type(error).__name__}: {error} at {where}"
        if trace is not None:
            import traceback

            trace("".join(traceback.format_exception(error)))
    world = contest.world
    report.games = scenario.games
    report.seconds = world.now
    report.events = world.events
    report.counts = world.counts
    report.happened = world.happened
    report.statistics = contest.statistics
    report.digest = contest.digest.hexdigest()
    return report


def run(
    seed: int,
    given: Sequence[Fault] | None = None,
    trace: Callable[[str], None] | None = None,
    rules: str | None = None,
    *,
    embedded: bool = False,
) -> Report:
    """Play a seed's contest, with its own faults or with these, by its own rules or by these."""
    scenario = draw(seed, rules, embedded=embedded)
    if given is not None:
        scenario.faults = list(given)
    if trace is not None:
        trace(f"{scenario}; faults {faults.write(scenario.faults) or 'none'}")
    return play(scenario, trace)
