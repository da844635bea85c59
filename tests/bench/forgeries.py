"""What forged shots cost clients that take a fresh salt for each message, on each broker, with and without its defence.

Two such clients play turns of five seconds, each with its five shots at water, while a stranger forges shots at a rate;
in a contest the stranger is a third team. A client with one salt loses none anywhere (SALVO-FRESH-7).
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from multiprocessing.synchronize import Event
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from bench.figures import row
from kit.forgeries import HONEST, STRANGER, Stage, forged_shot, know_no_publishers, stage
from kit.secured import Client
from salvo import topics
from salvo.permissions import Role
from salvo.rules import SALVO
from salvo_server.storage.register import Account

_TURN_SECONDS: Final = 5
_TURNS: Final = 6
_RATES: Final = (5, 50, 500)
#: Connections of the stranger, where it may have several: the front lets some fifty shots a second through on each.
_CONNECTIONS: Final = 10
_WHERE: Final = (
    ("open", "embedded", True),
    ("open", "embedded", False),
    ("open", "front", True),
    ("open", "front without marks", False),
    ("open", "mosquitto", False),
    ("contest", "embedded", True),
    ("contest", "front", True),
    ("contest", "front without marks", False),
    ("contest", "mosquitto", False),
)


def bench_forgeries(share: float) -> None:
    """How many shots are lost, at each rate and place."""
    turns = max(2, round(_TURNS * share))
    for profile, place, defended in _WHERE:
        for rate in _RATES:
            with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory(prefix="bench-") as folder:
                if place == "embedded" and not defended:
                    know_no_publishers(patch)
                with stage(profile, place, Path(folder), turn_seconds=_TURN_SECONDS) as game:
                    lost = _lost(game, turns, rate, several=profile == "open")
            how = place if defended or place != "embedded" else "embedded without publishers"
            what = f"{rate} forged shots a second, {profile}, {how}"
            load = f"of {5 * turns}, in {turns} turns of {_TURN_SECONDS} s; load {os.getloadavg()[0]:.1f}"
            row(f"{what}: shots lost", str(lost), load)


def _lost(game: Stage, turns: int, rate: int, *, several: bool) -> int:
    game.join()
    lost = played = 0
    with _stranger(game, rate, _CONNECTIONS if several and rate > 50 else 1) as begin:
        game.place(0)
        begin()
        while played < turns and not _is_over(game):
            results = _results(game)
            if len(results) > played:
                lost += 5 - results[played]
                played += 1
            else:
                _fire(game, played + 1)
    return lost + 5 * (turns - played)


def _is_over(game: Stage) -> bool:
    """A team that fires nothing for some turns is out."""
    return any(topic == "/game/winner" and payload for topic, payload, _ in game.clients["ann"].heard.copy())


def _results(game: Stage) -> list[int]:
    """How many shots each turn so far had."""
    results = [json.loads(p) for t, p, _ in game.clients["ann"].heard.copy() if t == "/game/result" and p]
    return [result["shots"] for result in sorted(results, key=lambda result: result["turn"])]


def _fire(game: Stage, turn: int) -> None:
    """Wait for a turn, fire its salvo, and wait for its result."""
    client = game.clients["ann"]

    def current() -> str | None:
        return next((p["player"] for p in _turns(game) if p["turn"] == turn), None)

    client.until(lambda: current() or _is_over(game))
    shooter = current()
    if shooter is None:
        return
    target = next(name for name in HONEST if name != shooter)
    fleet = SALVO.random_fleet(Random(target)).placements
    ships = {SALVO.grid.xy(cell) for placement in fleet for cell in placement.cells(SALVO)}
    water = [(x, y) for x in range(1, 11) for y in range(1, 11) if (x, y) not in ships]
    for x, y in water[:5]:
        shot = game.sealer(shooter).sign({"x": x, "y": y}).decode()
        game.clients[shooter].publish([topics.FIRE.of(player=target)], shot)
    client.until(lambda: len(_results(game)) >= turn or _is_over(game))


def _turns(game: Stage) -> Iterator[dict[str, Any]]:
    return (json.loads(p) for t, p, _ in game.clients["ann"].heard.copy() if t == "/game/turn" and p)


@contextlib.contextmanager
def _stranger(game: Stage, rate: int, connections: int) -> Iterator[Callable[[], None]]:
    """Yield what lets a stranger begin to forge shots at both teams, in a process of its own."""
    game.clients[STRANGER].close()
    context = multiprocessing.get_context("spawn")
    ready, begin = context.Event(), context.Event()
    given = game.port, game.ca, game.secrets[STRANGER], rate, connections, ready, begin
    stranger = context.Process(target=_forge, args=given, daemon=True)
    stranger.start()
    try:
        assert ready.wait(60)
        yield begin.set
    finally:
        stranger.kill()
        stranger.join()


def _forge(port: int, ca: str | None, secret: str, rate: int, connections: int, ready: Event, begin: Event) -> None:
    with contextlib.ExitStack() as stack:
        names = [f"{STRANGER}{number or ''}" for number in range(connections)]
        accounts = [Account(name, name, Role.TEAM, secret) for name in names]
        clients = [stack.enter_context(Client(port, each, each.user, ca=ca)) for each in accounts]
        ready.set()
        begin.wait()
        began, sent = time.monotonic(), 0
        while True:
            while sent < (time.monotonic() - began) * rate:
                topic = topics.FIRE.of(player=HONEST[sent % 2])
                clients[sent % connections].publish_at_once(topic, forged_shot(os.urandom(16)))
                sent += 1
            time.sleep(0.01)
