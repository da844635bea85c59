"""A host's messages at the server: who is believed, what a copy is worth, and what a restart makes of them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from kit.journals import export
from kit.proofs import IDENTITY, verify
from kit.recovery import SEALERS, LoggedWorld, state
from kit.stage import Stage, secret
from salvo import messages as m
from salvo.codec.command_writer import write_host
from salvo.messages import Limits, State
from salvo.wire import topics
from salvo.wire.roles_and_rights import Role
from salvo.wire.seal import Sealer, derive_key
from salvo_game.journal_interface import SavedGame
from salvo_game.log import proof_lines
from salvo_game.rate_limit import DERIVATIONS
from salvo_game.transcript import check, execute, read_transcript, repeat_game
from salvo_server.service import Service
from salvo_server.storage.register import Account, Register

Do = m.HostAction
TEAMS = ("ann", "bob")
HOST = topics.HOST.of()
DESK_SALT = b"desk............"


def accounts(*hosts: str, teams: tuple[str, ...] = TEAMS, **secrets: str) -> list[Account]:
    """Return a roster; secrets are those of :func:`attacks.stage.secret` unless given."""
    roles = [*((name, Role.TEAM) for name in teams), *((name, Role.HOST) for name in hosts)]
    return [Account(name, name, role, secrets.get(name, secret(name))) for name, role in roles]


def command(do: m.HostAction, by: str = "desk", **arguments: Any) -> m.HostCommand:
    return m.HostCommand(by, do, **arguments)


def signed(given: m.HostCommand, with_secret: str = "", salt: bytes = DESK_SALT) -> bytes:
    """Return a host's message, under its own secret or another one."""
    return write_host(given, Sealer(with_secret or secret(given.by), salt))


@pytest.fixture
def register() -> Register:
    return Register(accounts("desk"))


@pytest.fixture
def stage(register: Register) -> Stage:
    stage = Stage(TEAMS, register=register)
    stage.hush()
    return stage


def acted(stage: Stage) -> list[str]:
    """Return what hosts did since the last hush."""
    return [json.loads(payload)["do"] for topic, payload in stage.received if topic == "/game/hosted" and payload]


# --- who is believed (SALVO-HOST-1) ---------------------------------------------------------------------------------


def test_a_host_command_is_published_before_its_effects(stage: Stage) -> None:
    stage.say(HOST, signed(command(Do.ABORT, context=1)))
    topics_of = [topic for topic, _ in stage.received if topic != "/game/log"]
    assert topics_of[0] == "/game/hosted"
    assert topics_of[-2:] == ["/game/winner", "/game/state"]
    assert dict(stage.received)["/game/winner"] == b"[]"
    assert stage.referee.state is State.OVER
    assert stage.edge.retained["/game/hosted"] == b'{"by":"desk","do":"abort"}'
    stage.wait(61)
    assert stage.edge.retained["/game/hosted"] == b""


def test_no_team_is_called_as_the_host_at_the_servers_terminal_is() -> None:
    stage = Stage((), play=False)
    stage.join("host")
    assert list(stage.referee.players) == []
    stage.service.act("", command(Do.PAUSE, by="host"))
    stage.service.step()
    assert acted(stage) == ["pause"]


def test_a_host_that_becomes_a_team_plays_and_acts_no_more(stage: Stage, register: Register) -> None:
    stage.say(HOST, signed(command(Do.ABORT)))
    stage.say(HOST, signed(command(Do.NEXT)))
    register.replace(accounts("boss", teams=(*TEAMS, "desk")))
    stage.hush()
    stage.join("desk")
    assert list(stage.referee.players) == ["desk"]
    stage.say(HOST, signed(command(Do.PAUSE)))
    assert acted(stage) == []
    leaving = Sealer(secret("desk"), DESK_SALT).sign({"g": 2})
    stage.say(topics.LEAVE.of(player="desk"), leaving)
    assert list(stage.referee.players) == []


# --- copies, context, floods ----------------------------------------------------------------------------------------


def test_an_invalid_host_command_is_answered_to_the_host_alone(stage: Stage) -> None:
    for payload in ({"by": "desk", "do": "set", "settings": {}}, {"by": "desk", "do": "abort", "g": 2}):
        stage.say(HOST, Sealer(secret("desk"), DESK_SALT).sign(payload))
    assert [topic for topic, _ in stage.received if topic != "/game/log"] == ["/players/desk/error"] * 2
    assert stage.codes() == ["wrong_shape", "stale_context"]


def test_a_flood_of_forgeries_costs_few_derivations_and_delays_neither_host_nor_team(stage: Stage) -> None:
    stage.say(HOST, signed(command(Do.PAUSE)))
    stage.say(HOST, signed(command(Do.RESUME)))
    stage.worker.held = True
    shooter, target = stage.current, stage.others()[0]
    for number in range(300):
        stage.say(HOST, signed(command(Do.ABORT), salt=b"%16d" % number))
    assert len(stage.worker.waiting) <= 13
    stage.hush()
    stage.say(HOST, signed(command(Do.EXTEND, seconds=1)))  # its salt is proven
    assert acted(stage) == ["extend"]
    stage.fire(target, stage.shot(shooter))
    assert stage.fired() == 1


def test_a_fresh_salt_costs_only_what_is_refused(stage: Stage) -> None:
    at_once = int(DERIVATIONS.size)
    for number in range(2 * at_once):
        stage.say(HOST, signed(command(Do.EXTEND, seconds=1), salt=b"accepted%8d" % number))
    assert acted(stage) == ["extend"] * 2 * at_once
    for number in range(at_once + 1):
        stage.say(HOST, signed(command(Do.ABORT, context=2), salt=b"refused %8d" % number))
    assert stage.codes() == ["stale_context"] * at_once + ["rate_limited"]


# --- after a restart (SALVO-BACK-1) ---------------------------------------------------------------------------------


class HostedWorld(LoggedWorld):
    """A server with a host and a journal that outlives it."""

    def __init__(self, path: Path, **given: Any) -> None:
        roster = [Account(name, name, Role.TEAM, f"secret {name}") for name in SEALERS]
        self.desk = Sealer(secret("desk"), DESK_SALT)
        self.register = Register([*roster, Account("desk", "desk", Role.HOST, secret("desk"))])
        super().__init__(path, register=self.register, **given)

    def open_service(self, **given: Any) -> Service:
        service = super().open_service(**given)
        service.gate.keyring.admit_host("desk", secret("desk"), self.now)
        member = service.gate.keyring.member("", "desk", host=True)
        assert member is not None
        member.learn(DESK_SALT, derive_key(secret("desk"), DESK_SALT))
        return service

    def message(self, do: m.HostAction, **arguments: Any) -> bytes:
        return write_host(command(do, **arguments), self.desk)

    def act(self, do: m.HostAction, **arguments: Any) -> bytes:
        payload = self.message(do, **arguments)
        self.wire.give(HOST, payload)
        self.run()
        return payload


@pytest.fixture
def world(tmp_path: Path) -> Iterator[HostedWorld]:
    world = HostedWorld(tmp_path / "a.journal")
    yield world
    world.journal.close()


def test_a_lobby_that_a_host_has_set_is_the_same_after_a_restart(world: HostedWorld) -> None:
    """Nothing has happened in it yet; an operator's new settings hold for such a lobby, but not against the host's."""
    world.act(Do.SET, settings=m.NextGame(turn_seconds=5, teams=("ann", "bob")))
    world.act(Do.NEXT)
    header = world.table.header
    world.restart(limits=Limits(players=2, turn_ms=40_000))
    assert world.table.header == header
    assert world.table.referee.number == 2
    world.act(Do.NEXT)
    assert (world.table.referee.limits.turn_ms, world.table.referee.limits.teams) == (40_000, None)


Acts = Sequence[tuple[m.HostAction, dict[str, Any]]]
FIRST_LOBBY: Acts = (
    (Do.ANNOUNCE, {"text": "Welcome"}),
    (Do.PAUSE, {}),
    (Do.RESUME, {}),
    (Do.SET, {"settings": m.NextGame(players=3)}),
    (Do.NEXT, {}),
)
SECOND_LOBBY: Acts = (
    (Do.EXTEND, {"seconds": 60}),
    (Do.START, {}),
    (Do.SET, {"settings": m.NextGame(turn_seconds=50, over_seconds=20, teams=("ann", "bob"))}),
)
IN_MID_SALVO: Acts = (
    (Do.PAUSE, {}),
    (Do.RESUME, {}),
    (Do.EXTEND, {"seconds": 60}),
    (Do.SKIP, {}),
    (Do.PAUSE, {}),
)
BETWEEN_TURNS: Acts = ((Do.RESUME, {}), (Do.ABORT, {}), (Do.ANNUL, {"game": 2}), (Do.NEXT, {}))


def hosted_match(world: HostedWorld) -> Iterator[None]:
    """Play two games with every command of a host; stop after every step."""

    def act(acts: Acts) -> Iterator[None]:
        for do, given in acts:
            world.act(do, **given)
            yield

    yield from act(FIRST_LOBBY)
    world.join()
    yield
    yield from act(SECOND_LOBBY)
    world.fire(2)
    yield
    yield from act(IN_MID_SALVO)
    world.fire(world.table.referee.match.game.shots_left)
    yield
    yield from act(BETWEEN_TURNS)
    world.join()
    world.fire(1)
    yield
    assert world.table.referee.current is not None
    yield from act([(Do.REMOVE, {"team": world.table.referee.current.name}), (Do.EXTEND, {"seconds": 1})])


def test_a_match_with_every_command_is_recovered_after_a_crash_at_any_step(tmp_path: Path) -> None:
    """Bit by bit: state, retained messages and the signed log; and it is executed again, replayed and verified."""
    world = HostedWorld(tmp_path / "a.journal")
    games: dict[int, SavedGame] = {}
    for number, _ in enumerate(hosted_match(world)):
        before, retained, log = state(world.table), dict(world.table.retained), world.first_received()
        deadline, last = world.table.referee.deadline(), world.table.referee.number
        for each in (last - 1, last):
            with contextlib.suppress(ValueError):  # over before the last crash
                games[each] = world.journal.game("", each)
        world.restart()
        assert state(world.table)[:-1] == before[:-1], number  # type: ignore[index]
        for topic in ("/game/server", "/game/turn"):  # the time to act begins anew
            retained.pop(topic, None)
        assert retained.items() <= world.table.retained.items(), number
        assert world.first_received()[: len(log)] == log, number
        assert (world.table.referee.deadline() is None) == (deadline is None), number
    games[3] = world.journal.game("", 3)
    done = [json.loads(step.text).get("host", {}).get("do") for game in games.values() for step in game.steps]
    assert set(done) - {None} == set(m.HostAction) - {Do.FINISH}  # which is for all tables
    lines = []
    for game in games.values():
        header, steps = repeat_game(game)
        lines += proof_lines(header, list(steps), IDENTITY)
    assert [payload + b"\n" for payload in world.first_received()] == lines
    report = verify(lines)
    assert report.finding is None
    assert [(game.ended, bool(game.winner)) for game in report.games] == [(False, False), (True, False), (True, True)]
    for number, game in games.items():
        file = tmp_path / f"game-{number}.jsonl"
        export(game, file)
        if number > 1:
            check(read_transcript(file))
        else:  # no more than a lobby, and its last step opened the next one
            assert len(list(execute(read_transcript(file)))) == len(game.steps) - 1
    world.journal.close()
