"""Who takes part: the real server and real teams as processes of the world, a client of the plain specification, and
somebody who writes down everything that the broker passes on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from random import Random
from typing import Any, NamedTuple

from kit.services import serve
from salvo import messages as m
from salvo.bots.player import Answer, Bot
from salvo.bots.sources import load
from salvo.codec.command_writer import write_host
from salvo.join.client import Contestant
from salvo.join.events import Event, GameEnded, Refused
from salvo.join.seated_team import SeatedTeam
from salvo.join.session import Session
from salvo.net.inbound import Inbound
from salvo.rules import RuleBook
from salvo.view import View
from salvo.wire.seal import NONCE_BYTES, Sealer, make_blob
from salvo_game.referee import Referee
from salvo_server.core.authenticator import Authenticator, Opened, Waiting
from salvo_server.core.server_status import last_will
from salvo_server.service import Resume, Service
from salvo_server.storage.identity import Identity
from salvo_server.storage.register import Register
from simulation import crypto
from simulation.broker import BrokerProcess
from simulation.disk import Disk, SimJournal
from simulation.edge import SimConnection, SimLink
from simulation.world import Broken, Process, World

#: What a derivation takes.
DERIVATION_SECONDS = 0.045
#: What passes between two jobs of the worker.
HAND_OVER_SECONDS = 0.002
#: Nobody waits longer than so for the next message.
MAX_WAIT_SECONDS = 1.0
#: The world begins at this time of the server's clock.
EPOCH_MS = 1_800_000_000_000


class Member(Process):
    """A process with a connection to the broker."""

    def __init__(self, world: World, broker: BrokerProcess, name: str) -> None:
        super().__init__(world, name)
        self.broker = broker
        self.ended = False
        self.edge = self.connect(clean=True)

    def connect(self, *, clean: bool, will: tuple[str, bytes] | None = None) -> SimLink:
        """Return a connection for this incarnation."""
        return SimConnection(self.world, self.broker, self.name, self.waker(), clean=clean, will=will)

    def waker(self) -> Callable[[float], None]:
        """Return what wakes this incarnation alone, with seconds from now."""
        incarnation = self.incarnation

        def wake(delay: float) -> None:
            if self.alive and self.incarnation == incarnation:
                self.wake(delay)

        return wake

    def kill(self) -> None:
        self.edge.drop()
        super().kill()

    def end(self) -> None:
        """End in good order."""
        if self.alive:
            self.edge.close()
            self.alive = False
            self.ended = True
            self.world.say("%s ends", self.name)


# --- the server ---------------------------------------------------------------------------------------------------


class SimExecutor(Executor):
    """Does derivations one after the other, in simulated time."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._free_at = 0.0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        before = crypto.asked
        result = fn(*args, **kwargs)
        seconds = (crypto.asked - before) * DERIVATION_SECONDS
        self._free_at = max(self._free_at, self._world.now) + seconds + HAND_OVER_SECONDS
        self._world.at(self._free_at, self._finish, future, result)
        return future

    def _finish(self, future: Future[Any], result: Any) -> None:
        if not future.cancelled():
            future.set_result(result)


class _Gate(Authenticator):
    """The gate, with the points before and after a message is opened."""

    world: World

    def open(self, *given: Any, **named: Any) -> Opened | Waiting | None:
        self.world.hit("server.decode.before")
        opened = super().open(*given, **named)
        self.world.hit("server.decode.after")
        return opened


class Setup(NamedTuple):
    """What a server is started with.

    Attributes:
        register: None where anybody may play, and nobody is a host.
    """

    book: RuleBook
    limits: m.Limits
    seed: str
    resume: Resume
    draw: m.Draw
    register: Register | None = None


class Server(Member):
    """The real service, started again after every crash on what disk and broker have kept.

    Attributes:
        change: returns what the next server is started with, which may be other settings than the one before had.
    """

    def __init__(self, world: World, broker: BrokerProcess, disk: Disk, setup: Setup) -> None:
        super().__init__(world, broker, "server")
        self.disk = disk
        self.setup = setup
        self.stopping = False
        self.received: Callable[[str, int, m.Input | None, Sequence[m.Announcement]], None] = lambda *news: None
        self.after_step: Callable[[], None] = lambda: None
        self.change: Callable[[Setup], Setup] = lambda setup: setup
        self._jump_ms = 0
        self._clock_random = world.random("clock")
        self._secrets = world.random("secrets")
        self.identity = Identity(world.random("identity").randbytes(32))
        self.service: Service
        self.journal: SimJournal

    @property
    def referee(self) -> Referee:
        """The one table's."""
        return self.service.tables[""].referee

    def begin(self) -> None:
        self.ended = False
        if self.incarnation > 1:
            self.setup = self.change(self.setup)
        setup, world = self.setup, self.world
        if self.incarnation > 1 and self._clock_random.random() < 0.2:
            self._jump_ms += self._clock_random.randint(-5_000, 5_000)  # somebody has set the computer's clock
        self.stopping = False
        self.edge = self.connect(clean=False, will=last_will("", "open", self.identity))
        self.journal = SimJournal(world, self.disk)
        gate = _Gate(
            wake=self.edge.wake,
            executor=SimExecutor(world),
            pepper=self.disk.pepper,
            random_bytes=crypto.random_bytes("gate", world.random("gate", self.incarnation)),
        )
        gate.world = world
        self.service = serve(
            self.edge,
            [""],
            seed=setup.seed,
            limits=setup.limits,
            book=setup.book,
            clock=lambda: EPOCH_MS + self._jump_ms + int(world.now * 1000),
            gate=gate,
            journal=self.journal,
            identity=self.identity,
            draw=setup.draw,
            fresh_secret=lambda: self._secrets.randbytes(32),
            resume=setup.resume,
            register=setup.register,
            listener=lambda *news: self.received(*news),
        )
        self.edge.checked = self._check_durable
        self.wake(0.0)

    def step(self) -> None:
        if self.stopping:
            self.service.go_offline()
            self.after_step()
            return self.end()
        self.service.step(MAX_WAIT_SECONDS)
        self.after_step()
        self.wake(self.service.wait_seconds(MAX_WAIT_SECONDS))

    def _check_durable(self, topic: str | None) -> None:
        """Nothing leaves before the journal has what it follows from (SALVO-BACK-1)."""
        if self.service.last_step != self.journal.last_step and topic != "/game/server":
            what = "acknowledged" if topic is None else f"said on {topic}"
            raise Broken(
                f"{what} while the journal ends at step {self.journal.last_step}, not {self.service.last_step}"
            )

    def kill(self) -> None:
        super().kill()
        self.disk.tear()


# --- teams --------------------------------------------------------------------------------------------------------


class Choice(NamedTuple):
    """What a bot answered."""

    incarnation: int
    game: int
    turn: int
    shots: tuple[tuple[str, int, int], ...]


class _Recorder(Bot):
    """Writes down what a bot of the house chooses."""

    def __init__(self, bot: Bot, team: Team) -> None:
        self._bot = bot
        self._team = team

    def prepare(self, name: str, seed: int | str, game: int = 1) -> None:
        self._bot.prepare(name, seed, game)
        self.name, self.random = self._bot.name, self._bot.random

    def choose_salvo(self, view: View) -> Answer:
        shots = self._bot.choose_salvo(view)
        assert isinstance(shots, Sequence)
        team = self._team
        team.choices.append(Choice(team.incarnation, view.game, view.turn, tuple(map(tuple, shots))))  # type: ignore[arg-type]
        return shots


class Team(Member):
    """A team of ours: the SDK's session and one of its bots.

    Attributes:
        choices: every answer of the bot, over all incarnations.
        ends: what this incarnation has learnt of games that are over.
        refusals: codes of what the server refused.
    """

    def __init__(self, world: World, broker: BrokerProcess, name: str, bot: str) -> None:
        super().__init__(world, broker, name)
        self.choices: list[Choice] = []
        self.ends: list[GameEnded] = []
        self.refusals: list[str] = []
        self.session: Session
        self.contestant: Contestant
        self._bot = bot

    def begin(self) -> None:
        world = self.world
        self.ends = []
        self.edge = self.connect(clean=True)
        assert isinstance(self.edge, SimConnection)
        draw = crypto.random_bytes(self.name, world.random("seal", self.name, self.incarnation))
        sealer = Sealer(f"secret of {self.name}", crypto.salt(self.name, self.incarnation), draw)
        bot = _Recorder(load(self._bot)(), self)
        bot.prepare(self.name, str(world.random("bot").random()))
        self.session = Session(self.name, f"secret of {self.name}", bot.random, sealer=sealer)
        self.contestant = Contestant(
            bot,
            SeatedTeam(self.session, self.edge, clock=lambda: world.now),
            seed=str(world.random("bot").random()),
            games=None,
            listener=self._listen,
        )
        self.wake(0.0)

    def step(self) -> None:
        self.contestant.step(MAX_WAIT_SECONDS)
        self.wake(MAX_WAIT_SECONDS)

    def _listen(self, event: Event) -> None:
        if isinstance(event, GameEnded):
            self.ends.append(event)
        if isinstance(event, Refused):
            self.refusals.append(event.code)
            self.world.say("%s is refused: %s", self.name, event)


class SpecTeam(Member):
    """A client of the plain specification: no recap, no context, a fresh salt for every message.

    It asks to take part until it is listed, answers ``/game/current`` whenever it comes, places once, and knows nothing
    after a crash.
    """

    def __init__(self, world: World, broker: BrokerProcess, name: str, book: RuleBook) -> None:
        super().__init__(world, broker, name)
        self._book = book
        self._secret = f"secret of {name}"
        self._random: Random
        self._salts = 0

    def begin(self) -> None:
        self.edge = self.connect(clean=True)
        self.edge.on_connect = self._connected
        self._random = self.world.random("spec", self.name, self.incarnation)
        self._targets: dict[str, list[tuple[int, int]]] = {}
        self._sunk: set[str] = set()
        self._placed = False
        self._ask_at: float | None = None  # in a lobby that does not list it
        self.wake(0.0)

    def _connected(self, present: bool) -> None:
        topics = ["/game/state", "/game/current", "/game/winner", "/players/list", "/player/#"]
        self.edge.subscribe([*topics, f"/players/{self.name}/ships/+/error"])

    def step(self) -> None:
        for message in self.edge.poll(MAX_WAIT_SECONDS):
            self._hear(message)
            self.edge.acknowledge(message)
        if self._ask_at is not None and self.edge.connected and self.world.now >= self._ask_at:
            self._ask_at = self.world.now + self._random.uniform(3.0, 8.0)
            self._publish("/game/request_participation", json.dumps({"name": self.name, "secret": self._secret}))
        self.wake(MAX_WAIT_SECONDS)

    def _hear(self, message: Inbound) -> None:
        text = message.payload.decode()
        match message.topic.split("/")[1:]:
            case ["game", "state"]:
                self._ask_at = self.world.now if text == "lobby" else None
            case ["players", "list"] if text:
                self._listed(json.loads(text))
            case ["player", name, "ships", ship, "sunk"] if text == "true" and name == self.name:
                self._sunk.add(ship)
            case ["player", name, "defeated"] if text == "true":
                self._targets.pop(name, None)
            case ["game", "current"] if text == self.name:
                self._salvo()
            case _:
                pass

    def _listed(self, names: list[str]) -> None:
        grid = self._book.grid
        cells = [grid.xy(cell) for cell in range(grid.size)]
        if self.name in names:
            self._ask_at = None
        self._targets = {name: self._targets.get(name, cells.copy()) for name in names if name != self.name}
        if self.name in names and not self._placed:
            self._placed = True
            for placement in self._book.random_fleet(self._random).placements:
                place = {"coordinates": f"{placement.x};{placement.y}", "Orientation": placement.orientation.value}
                self._publish(f"/players/{self.name}/ships/{placement.ship}/place", self._blob(place))

    def _salvo(self) -> None:
        aims = [(name, cell) for name, cells in self._targets.items() for cell in cells]
        for target, (x, y) in self._random.sample(aims, min(len(self._book.fleet) - len(self._sunk), len(aims))):
            self._targets[target].remove((x, y))
            shot = {"x": x, "y": y}
            self._publish(f"/players/{target}/fire", json.dumps({"data": shot, "signature": self._blob(shot)}))

    def _blob(self, body: dict[str, Any]) -> str:
        self._salts += 1
        salt = crypto.salt(self.name, self._salts)
        key = crypto.derive_key(self._secret, salt)
        return make_blob(json.dumps(body).encode(), key, salt, self._random.randbytes(NONCE_BYTES))

    def _publish(self, topic: str, payload: str) -> None:
        self.edge.publish(topic, payload.encode())


# --- the host -----------------------------------------------------------------------------------------------------


class Desk(Member):
    """A host that does something every few seconds until a game is over, and ends every pause that it hears of.

    Attributes:
        done: what it sent, by action.
    """

    NAME = "desk"
    SECRET = "secret of desk"

    def __init__(self, world: World, broker: BrokerProcess) -> None:
        super().__init__(world, broker, self.NAME)
        self.done: Counter[m.HostAction] = Counter()
        self._random = world.random("desk")
        self._next_at = self._random.uniform(1.0, 5.0)
        self._paused = False
        self._names: list[str] = []
        self._sealer = Sealer(
            self.SECRET, crypto.salt(self.NAME, 1), crypto.random_bytes(self.NAME, world.random("seal", self.NAME))
        )

    def begin(self) -> None:
        self.edge = self.connect(clean=True)
        self.edge.on_connect = lambda present: self.edge.subscribe(["/game/hosted", "/players/list"])
        self.wake(0.0)

    def step(self) -> None:
        for message in self.edge.poll(MAX_WAIT_SECONDS):
            if message.topic == "/game/hosted":
                received = json.loads(message.payload or b"{}").get("do")
                self._paused = received == m.HostAction.PAUSE or (self._paused and received != m.HostAction.RESUME)
            elif message.payload:
                self._names = json.loads(message.payload)
            self.edge.acknowledge(message)
        if self.world.now >= self._next_at and self.edge.connected:
            self._next_at = self.world.now + self._random.uniform(2.0, 12.0)
            self._act()
        self.wake(MAX_WAIT_SECONDS)

    def _act(self) -> None:
        command = self._choose()
        if command is not None:
            self.done[command.do] += 1
            self.world.say("desk does %s", command)
            self.edge.publish("/game/host", write_host(command, self._sealer))

    def _choose(self) -> m.HostCommand | None:
        do, random = m.HostAction, self._random
        if self._paused:
            return m.HostCommand(self.NAME, do.RESUME)
        either: list[tuple[m.HostAction, dict[str, Any]]] = [
            (do.ANNOUNCE, {"text": "hello"}),
            (do.EXTEND, {"seconds": 30}),
            (do.PAUSE, {}),
            (do.RESUME, {}),
        ]
        if self.world.phase == "lobby":
            # A result stands as long as the checks need, and turns are as long as those that may not run out.
            settings = m.NextGame(turn_seconds=120, over_seconds=60, pace_ms=random.choice((0, 1_000)))
            given = random.choice([*either, (do.SET, {"settings": settings}), (do.NEXT, {}), (do.START, {})])
        elif self.world.phase == "turn":
            given = random.choice([*either, *either, (do.SKIP, {}), (do.ANNUL, {"game": 1})])
            if random.random() < 0.15 and self._names:
                given = random.choice([(do.ABORT, {}), (do.REMOVE, {"team": random.choice(self._names)})])
        else:
            return None
        action, arguments = given
        return m.HostCommand(self.NAME, action, **arguments)


# --- the observer -------------------------------------------------------------------------------------------------


class Observer(Member):
    """Has a persistent session on everything and keeps what it hears.

    Attributes:
        received: topic and payload, in order, repetitions and all.
    """

    def __init__(self, world: World, broker: BrokerProcess) -> None:
        super().__init__(world, broker, "observer")
        self.received: list[tuple[str, bytes]] = []

    def begin(self) -> None:
        self.edge = self.connect(clean=False)
        self.edge.on_connect = lambda present: self.edge.subscribe(["#"])
        self.wake(0.0)

    def step(self) -> None:
        for message in self.edge.poll(MAX_WAIT_SECONDS):
            if not message.retain:
                self.received.append((message.topic, message.payload))
            self.edge.acknowledge(message)
