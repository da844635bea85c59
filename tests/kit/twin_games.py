"""Pairs of games that differ in hidden cells only, played through the whole service with real cryptography."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Final, NamedTuple

from kit.deriver import Deriver
from kit.services import serve
from kit.stage import secret
from kit.unbrokered import Wire
from salvo import messages as m
from salvo.codec.command_writer import write_participation, write_placement, write_shot
from salvo.net.inbound import Inbound
from salvo.rules import SALVO, Fleet, Orientation, Placement
from salvo.rules.game import Game
from salvo.rules.starter import draw_starter
from salvo.wire import roles_and_rights, topics
from salvo.wire.roles_and_rights import Action, Role
from salvo.wire.seal import SALT_BYTES, Sealer
from salvo_server.contest import Followers
from salvo_server.core.authenticator import Authenticator
from salvo_server.spectators.headlines import Headlines
from salvo_server.spectators.referee_view import RefereeViews
from salvo_server.storage.identity import Identity

NAMES: Final = ("ann", "bob", "cy", "dan")
SIDE: Final = SALVO.grid.width
CELLS: Final = range(SALVO.grid.size)
Shot = tuple[int, int]  # seat of the target, cell


# --- games to play ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """A whole game beforehand.

    Attributes:
        turns: who fires, and what; a turn without shots ends by its deadline.
        seed: decides the noise between the shots, which is the same in both games of a pair.
    """

    seed: int
    fleets: tuple[Fleet, ...]
    turns: tuple[tuple[int, tuple[Shot, ...]], ...]

    def outcomes(self) -> list[tuple[int, int, Sequence[Shot], Sequence[int]]]:
        """Return what everybody may know of each salvo, by the rules alone."""
        game = Game(SALVO, self.fleets, self.turns[0][0])
        for _, shots in self.turns:
            if shots:
                game.fire(shots)
            game.end_turn()
        return [(salvo.seat, salvo.hits, salvo.sunk, salvo.defeated) for salvo in game.salvos]


def draw_plan(seed: int) -> Plan:
    """Return a game of 2, 3 or 4 players who aim well, badly, and at boards that make no sense."""
    random = Random(seed)
    players = 2 + seed % 3
    fleets = tuple(SALVO.random_fleet(random) for _ in range(players))
    game = Game(SALVO, fleets, draw_starter(SALVO, 7, "", 1, players))
    intact = [list(fleet.cells) for fleet in fleets]
    turns = []
    while not game.over:
        seat, shots = game.current, []
        fired = 0 if random.random() < 0.02 else game.shots_left
        for _ in range(fired):
            rivals = [other for other in range(players) if other != seat and intact[other]]
            target = random.choice(rivals or [seat])
            if intact[target] and random.random() < 0.6:
                shot = (target, intact[target].pop(random.randrange(len(intact[target]))))
            else:
                shot = (random.randrange(players), random.choice(CELLS))
                if shot[1] in intact[shot[0]]:
                    intact[shot[0]].remove(shot[1])
            game.fire([shot])
            shots.append(shot)
            if game.over:
                break
        turns.append((seat, tuple(shots)))
        if not game.over:
            game.end_turn()
    return Plan(seed, fleets, tuple(turns))


# --- what is hidden, changed --------------------------------------------------------------------------------------


class Twin(NamedTuple):
    """The same game but for hidden cells, and the seats that know of the difference.

    Attributes:
        shooters: whose own shots differ.
        struck: whose own board differs, or the shots at it.
    """

    plan: Plan
    shooters: frozenset[int] = frozenset()
    struck: frozenset[int] = frozenset()

    def uninvolved(self) -> list[int]:
        """Return the seats that know of no difference."""
        return [seat for seat in range(len(self.plan.fleets)) if seat not in self.shooters | self.struck]


def _with_shots(plan: Plan, change: Callable[[int, int, Shot], Shot]) -> Twin:
    """Change single shots; their shooter, the old and the new target know."""
    turns = tuple(
        (seat, tuple(change(turn, seat, shot) for shot in shots)) for turn, (seat, shots) in enumerate(plan.turns)
    )
    changed = [
        (seat, before[0], after[0])
        for (seat, shots), (_, other) in zip(plan.turns, turns, strict=True)
        for before, after in zip(shots, other, strict=True)
        if before != after
    ]
    shooters = frozenset(seat for seat, _, _ in changed)
    struck = frozenset(target for _, *targets in changed for target in targets)
    return Twin(replace(plan, turns=turns), shooters, struck)


def _some(seats: int, random: Random) -> list[int]:
    """All seats, or a few, so that some know of nothing."""
    return random.sample(range(seats), random.choice((1, 1, 1, seats)))


def _symmetry(random: Random) -> Callable[[int], int]:
    """One of the seven ways to turn or mirror a square board."""
    transposed, flip_x, flip_y = random.choice([(t, x, y) for t in (0, 1) for x in (0, 1) for y in (0, 1)][1:])

    def moved(cell: int) -> int:
        y, x = divmod(cell, SIDE)
        x, y = (y, x) if transposed else (x, y)
        return (SIDE - 1 - y if flip_y else y) * SIDE + (SIDE - 1 - x if flip_x else x)

    return moved


def _placement(ship: str, cells: Sequence[int]) -> Placement:
    x, y = SALVO.grid.xy(min(cells))
    return Placement(ship, x, y, Orientation.VERTICAL if max(cells) - min(cells) >= SIDE else Orientation.HORIZONTAL)


def turn_a_board(plan: Plan, random: Random) -> Twin:
    """Turn or mirror somebody's board together with all shots at it."""
    player, moved = random.randrange(len(plan.fleets)), _symmetry(random)
    placements = [
        _placement(place.ship, [moved(cell) for cell in place.cells(SALVO)]) for place in plan.fleets[player].placements
    ]
    fleets = tuple(Fleet(SALVO, placements) if seat == player else fleet for seat, fleet in enumerate(plan.fleets))
    changed = _with_shots(plan, lambda _, seat, shot: (player, moved(shot[1])) if shot[0] == player else shot)
    return Twin(replace(changed.plan, fleets=fleets), changed.shooters, changed.struck | {player})


def move_ships_that_were_never_hit(plan: Plan, random: Random) -> Twin:
    """Put them where nobody fired; only their owner knows."""
    fleets = list(plan.fleets)
    for player in _some(len(fleets), random):
        fleet = plan.fleets[player]
        struck = {cell for _, shots in plan.turns for target, cell in shots if target == player}
        for place in fleet.placements:
            if struck.isdisjoint(place.cells(SALVO)):
                others = [other for other in fleets[player].placements if other.ship != place.ship]
                taken = struck.union(*(other.cells(SALVO) for other in others))
                places = [other for other in _places(place.ship) if taken.isdisjoint(other.cells(SALVO))]
                fleets[player] = Fleet(SALVO, [*others, random.choice(places)])
    moved = frozenset(player for player, fleet in enumerate(fleets) if fleet != plan.fleets[player])
    return Twin(replace(plan, fleets=tuple(fleets)), struck=moved)


@cache
def _places(ship: str) -> list[Placement]:
    found = []
    for orientation in Orientation:
        for x in range(1, SIDE + 1):
            for y in range(1, SIDE + 1):
                place = Placement(ship, x, y, orientation)
                try:
                    place.cells(SALVO)
                except Exception:
                    continue
                found.append(place)
    return found


def miss_elsewhere(plan: Plan, random: Random) -> Twin:
    """Let shots that missed miss in another cell, and some of them on another board."""
    water = [sorted(set(CELLS).difference(fleet.cells)) for fleet in plan.fleets]
    shooters, targets = _some(len(plan.fleets), random), _some(len(plan.fleets), random)
    retarget = random.random() < 0.5

    def change(turn: int, seat: int, shot: Shot) -> Shot:
        target, cell = shot
        if seat not in shooters or target not in targets or cell in plan.fleets[target].cells:
            return shot
        other = random.choice(targets) if retarget else target
        return other, random.choice(water[other])

    return _with_shots(plan, change)


def fire_in_another_order(plan: Plan, random: Random) -> Twin:
    """Shuffle salvos in which nothing sank: the number of hits is all that is said of them."""
    sank = [bool(sunk or defeated) for _, _, sunk, defeated in plan.outcomes()]
    shooters = _some(len(plan.fleets), random)
    shuffled = {
        turn: tuple(random.sample(shots, len(shots)))
        for turn, (seat, shots) in enumerate(plan.turns)
        if seat in shooters and not sank[turn]
    }
    places = iter([shot for turn, (_, shots) in enumerate(plan.turns) for shot in shuffled.get(turn, shots)])
    return _with_shots(plan, lambda *_: next(places))


CHANGES = (turn_a_board, move_ships_that_were_never_hit, miss_elsewhere, fire_in_another_order)


def draw_pair(seed: int) -> tuple[Plan, Twin]:
    """Return a game and its twin, by one kind of change or by several."""
    plan, random = draw_plan(seed), Random(f"twin {seed}")
    twin = Twin(plan)
    for change in random.sample(CHANGES, random.choice((1, 1, 1, 1, 2, 4))):
        changed = change(twin.plan, random)
        twin = Twin(changed.plan, twin.shooters | changed.shooters, twin.struck | changed.struck)
    assert twin.plan.outcomes() == plan.outcomes()
    return plan, twin


# --- playing them -------------------------------------------------------------------------------------------------


class Recorded(NamedTuple):
    """What the server published.

    Attributes:
        after: the number of the message that it followed.
    """

    after: int
    topic: str
    payload: bytes
    retain: bool


class Edge(Wire):
    """Takes down what is published, and after which message."""

    def __init__(self) -> None:
        super().__init__()
        self.given = 0
        self.recorded: list[Recorded] = []

    def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        super().publish(topic, payload, retain=retain)
        self.recorded.append(Recorded(self.given, topic, payload, retain))


class Played(NamedTuple):
    """A game as it went over the wire.

    Attributes:
        sent: topic, and length of the payload, of what teams published.
    """

    announced: list[Recorded]
    sent: list[tuple[str, int]]


def play(plan: Plan, draw: m.Draw = m.Draw.SEED) -> Played:
    """Play a game to its end, and until the table is cleared."""
    random, clock = Random(plan.seed), iter(range(1_000_000, 10**9))
    names = NAMES[: len(plan.fleets)]
    now = [1_000_000]
    edge, sent = Edge(), []
    service = serve(
        edge,
        [""],
        seed=7,
        limits=m.Limits(players=len(names)),
        clock=lambda: now[0],
        gate=Authenticator(executor=Deriver(), pepper=bytes(32), random_bytes=Random("gate").randbytes),
        identity=Identity(bytes(range(32))),
        draw=draw,
        fresh_secret=lambda: bytes(32),
        follower=Followers(Headlines(), RefereeViews()),
    )
    sealers = {
        name: Sealer(secret(name), name.encode().ljust(SALT_BYTES, b"."), Random(name).randbytes) for name in names
    }
    referee = service.tables[""].referee

    def say(to: topics.Topic, payload: bytes, player: str = "", ship: str = "") -> None:
        edge.given, now[0] = edge.given + 1, now[0] + 11
        topic = to.of(player=player, ship=ship)
        sent.append((topic if to is not topics.FIRE else "fire", len(payload)))
        edge.inbox.append(Inbound(topic, payload, False, next(clock), 1))
        service.step()

    def wait(seconds: float) -> None:
        edge.given, now[0] = edge.given + 1, now[0] + round(seconds * 1000)
        service.step()

    def noise() -> None:
        """What the involved and the uninvolved do beside playing; it is the same in both games."""
        who, kind = random.choice(names), random.random()
        if kind < 0.04:
            say(topics.REQUEST_PARTICIPATION, write_participation(who, secret(who)))
        elif kind < 0.06:
            say(topics.FIRE, sealers[who].sign({"x": 0, "y": 11}), random.choice(names))
        elif kind < 0.08:
            say(topics.FIRE, b"noise", random.choice(names))

    edge.connect()
    service.step()
    for name in names:
        say(topics.REQUEST_PARTICIPATION, write_participation(name, secret(name)))
    for name, fleet in zip(names, plan.fleets, strict=True):
        for placement in fleet.placements:
            say(topics.PLACE, write_placement(placement, sealers[name]), name, placement.ship)
    for turn, (seat, shots) in enumerate(plan.turns, start=1):
        for number, (target, cell) in enumerate(shots, start=1):
            noise()
            assert referee.current is not None
            assert referee.current.name == names[seat]
            context = m.ShotContext(1, turn, number, names[target]) if random.random() < 0.5 else None
            x, y = SALVO.grid.xy(cell)
            say(topics.FIRE, write_shot(x, y, context, sealers[names[seat]]), names[target])
        if not shots:
            wait(31)
    assert referee.state is m.State.OVER
    wait(301)
    assert referee.number == 2
    return Played(edge.recorded, sent)


@cache
def _reads(role: Role, name: str, topic: str) -> bool:
    return roles_and_rights.may(role, name, ("",), Action.RECEIVE, topic)


def read_by(role: Role, name: str, played: Played) -> list[Recorded]:
    """Return all that a reader is sent, in order."""
    return [each for each in played.announced if _reads(role, name, each.topic)]
