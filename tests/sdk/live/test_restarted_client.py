"""Clients that are killed and started again in every state of a table: they play their games to the end.

They are the client of the tutorial and a bot of the SDK in JavaScript; that in Python is killed in other tests, too.

The story: the tutorial's client subscribed in the order that the tutorial printed. After a restart in mid-game it knew
that it was its turn before it knew who plays, fired at nobody, and lost the turn; and it placed its ships in a game
that was on.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kit import javascript
from kit.brokers import Broker, StartServer
from kit.players import SECONDS, Announced, join
from kit.programs import needs, path_of
from salvo import messages as m
from salvo.bots.player import Answer, Bot
from salvo.net.mqtt import Connection
from salvo.view import View
from salvo_server.contest import Contest

TUTORIAL = Path(__file__).parents[3] / "examples/client.py"
#: Runs it, and prints when the broker has acknowledged its subscription: retained messages follow at once.
PROGRAM = f"""
import runpy, sys
import paho.mqtt.client as mqtt
loop = mqtt.Client.loop_forever
def announced(client):
    client.on_subscribe = lambda *_: print("subscribed", file=sys.stderr, flush=True)
    return loop(client)
mqtt.Client.loop_forever = announced
runpy.run_path({str(TUTORIAL)!r})
"""


class Client(NamedTuple):
    """A program that plays one game as ``plain``.

    Attributes:
        command: with ``{port}``, or ``SALVO_URL`` and the other variables tell it.
        there: what it says when the broker has taken its subscription.
        result: how the line begins that it prints in the end.
        repeats: whether it sends again what a busy server has not answered in three seconds.
    """

    command: tuple[str, ...]
    there: str
    result: str
    repeats: bool = True

    def start(self, port: int) -> subprocess.Popen[str]:
        """Return its process, once it has subscribed."""
        where = {"SALVO_URL": f"mqtt://127.0.0.1:{port}", "SALVO_TEAM": "plain", "SALVO_SECRET": "secret plain"}
        command = [word.replace("{port}", str(port)) for word in self.command]
        pipe, environment = subprocess.PIPE, os.environ | where | {"SALVO_GAMES": "1"}
        process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment)
        until_announced(process, self.there)
        return process


def until_announced(process: subprocess.Popen[str], words: str) -> None:
    assert process.stderr is not None
    announced: list[str] = []
    while words not in (line := process.stderr.readline()):
        assert line, announced
        announced.append(line)


def tutorial(factory: pytest.TempPathFactory) -> Client:
    command = (sys.executable, "-c", PROGRAM, "127.0.0.1", "{port}", "plain", "secret plain")
    return Client(command, "subscribed", "winner: {winner}\n", repeats=False)


def sdk_in_python(factory: pytest.TempPathFactory) -> Client:
    command = (sys.executable, "-m", "salvo", "join", "mqtt://127.0.0.1:{port}", "random", "--games", "1")
    return Client(command, "the server is online", "game {game}: {winner} wins, ")


def sdk_in_javascript(factory: pytest.TempPathFactory) -> Client:
    command = (path_of("node"), str(javascript.bot_of_three_lines(factory)))
    return Client(command, "the server is online", "game {game}: {winner} wins, ")


NODE = (needs("node"), needs("npm"))
SDK_IN_JAVASCRIPT = pytest.param(sdk_in_javascript, marks=NODE)


class Rival(Bot):
    """Fires anywhere, and only while it may."""

    def __init__(self) -> None:
        self.may_fire = threading.Event()

    def choose_salvo(self, view: View) -> Answer:
        assert self.may_fire.wait(SECONDS)
        return view.untouched.sample(view.shots)


def _news_of(kind: type, player: str) -> Callable[[object], bool]:
    return lambda news: isinstance(news, kind) and getattr(news, "player") == player  # noqa: B009


def _is_pause(news: object) -> bool:
    return isinstance(news, m.HostActed) and news.do is m.HostAction.PAUSE


class Stage:
    """A table, the client and its rival."""

    def __init__(self, program: Client, broker: Broker, contest: Contest, received: Announced) -> None:
        self.program = program
        self.broker = broker
        self.contest = contest
        self.received = received
        self.rival = Rival()
        self.processes = contextlib.ExitStack()
        self.client: subprocess.Popen[str] | None = None

    def start(self) -> None:
        self.client = self.processes.enter_context(self.program.start(self.broker.port))

    def kill(self) -> None:
        assert self.client is not None
        self.client.kill()
        self.client.wait(SECONDS)

    def play(self) -> None:
        """Play a whole game."""
        self.start()
        self.call_rival()
        self.rival.may_fire.set()
        self.ends(1)

    def ends(self, game: int) -> None:
        """Wait until a game is over, and the client has printed how it has ended."""
        self.received.until(lambda announced: sum(isinstance(each, m.GameWon) for each in announced) == game)
        assert self.client is not None
        assert self.client.stdout is not None
        self.client.wait(SECONDS)
        winner = self.received.of(m.GameWon)[-1].winner
        assert self.client.stdout.read().startswith(self.program.result.format(game=game, winner=winner))

    def call_rival(self) -> None:
        join(self.broker.url, "rival", self.rival)

    def until(self, kind: type, player: str) -> None:
        self.received.until(lambda announced: any(map(_news_of(kind, player), announced)))

    def host(self, do: m.HostAction) -> None:
        self.contest.service.act("", m.HostCommand(m.TERMINAL_HOST, do))

    def pause_after(self, kind: type, player: str) -> bool:
        """Let a host pause the table when something new happens there; return whether it was between two turns."""
        known = len(self.received.all)

        wanted = _news_of(kind, player)
        self.received.once = (
            lambda announced: any(map(wanted, announced[known:])),
            lambda: self.host(m.HostAction.PAUSE),
        )
        self.received.until(lambda announced: any(map(_is_pause, announced[known:])))
        kinds = [
            type(each)
            for each in self.received.all
            if isinstance(each, (m.TurnBegan, m.SalvoResolved)) or _is_pause(each)
        ]
        return kinds[-2:] == [m.SalvoResolved, m.HostActed]


def _listed_without_a_ship(stage: Stage) -> None:
    request = json.dumps({"name": "plain", "secret": "secret plain"}).encode()
    connection = Connection(stage.broker.url, "plain before", clean_session=True)
    with contextlib.closing(connection):
        connection.on_connect = lambda _: connection.publish("/game/request_participation", request)
        connection.connect(60)
        stage.received.until(
            lambda announced: any(isinstance(each, m.PlayersListed) and each.names for each in announced)
        )
    stage.start()
    stage.call_rival()


def _while_its_ships_are_placed(stage: Stage) -> None:
    stage.start()
    assert stage.client is not None
    stage.received.once = (
        lambda announced: any(isinstance(each, m.PlacementJudged) for each in announced),
        stage.client.kill,
    )
    stage.until(m.PlacementJudged, "plain")
    stage.kill()
    stage.start()
    stage.call_rival()


def _with_a_complete_fleet(stage: Stage) -> None:
    stage.start()
    stage.received.until(lambda announced: sum(isinstance(each, m.PlacementJudged) for each in announced) == 5)
    stage.kill()
    stage.start()
    stage.call_rival()


def _in_the_rival_s_turn(stage: Stage) -> None:
    stage.start()
    stage.call_rival()
    stage.until(m.TurnBegan, "rival")
    stage.kill()
    stage.start()


def _in_its_own_turn(stage: Stage) -> None:
    stage.start()
    stage.call_rival()
    stage.until(m.TurnBegan, "rival")
    stage.kill()
    known = len(stage.received.all)
    stage.rival.may_fire.set()
    stage.received.until(lambda announced: any(map(_news_of(m.TurnBegan, "plain"), announced[known:])))
    stage.start()


def _while_a_host_has_paused_its_turn(stage: Stage) -> None:
    stage.start()
    stage.call_rival()
    stage.until(m.TurnBegan, "rival")
    stage.kill()
    stage.rival.may_fire.set()
    stage.pause_after(m.TurnBegan, "plain")
    stage.start()
    stage.host(m.HostAction.RESUME)


def _between_two_turns(stage: Stage) -> None:
    stage.start()
    stage.call_rival()
    stage.rival.may_fire.set()
    while not stage.pause_after(m.SalvoResolved, "plain"):
        stage.host(m.HostAction.RESUME)
    stage.kill()
    stage.start()
    stage.host(m.HostAction.RESUME)


@pytest.fixture
def stage(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, broker: Broker, start_server: StartServer
) -> Iterator[Stage]:
    received = Announced()
    with start_server(received, players=2, pace_seconds=0.02) as contest:
        found = Stage(request.param(tmp_path_factory), broker, contest, received)
        with found.processes:
            yield found
            found.kill()
            found.rival.may_fire.set()


#: What ships are answered with that come again when the fleet is there.
AGAIN = {"fleet_final", "wrong_state"}


def _killed(restart: Callable[[Stage], None], refused: set[str], *, slow: bool = False) -> Any:
    name = restart.__name__.strip("_").replace("_", " ")
    return pytest.param(restart, refused, id=name, marks=pytest.mark.slow if slow else ())


@pytest.mark.parametrize(
    ("restart", "refused"),
    [
        _killed(_listed_without_a_ship, set(), slow=True),
        _killed(_while_its_ships_are_placed, AGAIN),
        _killed(_with_a_complete_fleet, AGAIN, slow=True),
        _killed(_in_the_rival_s_turn, set(), slow=True),
        _killed(_in_its_own_turn, set()),
        _killed(_while_a_host_has_paused_its_turn, set(), slow=True),
        _killed(_between_two_turns, {"not_your_turn", "too_many_shots"}),
    ],
)
@pytest.mark.parametrize("stage", [pytest.param(tutorial, marks=pytest.mark.slow), SDK_IN_JAVASCRIPT], indirect=True)
def test_a_client_that_was_killed_plays_its_game_to_the_end(
    stage: Stage, restart: Callable[[Stage], None], refused: set[str]
) -> None:
    restart(stage)
    stage.rival.may_fire.set()
    stage.ends(1)
    refusals = [*stage.received.of(m.CommandRefused), *stage.received.of(m.PlacementRefused)]
    allowed = refused | AGAIN if stage.program.repeats else refused
    wrongly = [refusal for refusal in refusals if refusal.to == "plain" and refusal.code not in allowed]
    assert not wrongly, stage.received.all


@pytest.mark.parametrize("stage", [tutorial], indirect=True)
def test_a_one_game_client_restarted_after_the_end_receives_the_winner(stage: Stage) -> None:
    stage.play()
    stage.start()
    stage.ends(1)


@pytest.mark.parametrize(
    "stage", [sdk_in_python, pytest.param(sdk_in_javascript, marks=[*NODE, pytest.mark.slow])], indirect=True
)
def test_a_game_that_is_over_on_arrival_is_none_of_those_that_a_bot_is_to_play(stage: Stage) -> None:
    """A bot that was to play one game ended as soon as it was started again, with the result of the last one."""
    stage.play()
    stage.start()
    assert stage.client is not None
    until_announced(stage.client, "over already")
    stage.host(m.HostAction.NEXT)
    stage.call_rival()
    stage.ends(2)
