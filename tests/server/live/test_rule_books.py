"""A game by other rules over a real broker: it is the arena's, and is kept and looked at again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kit.players import Announced, join, over, retained_of
from salvo import messages as m
from salvo.player import Bot
from salvo.rules import STREAK
from salvo_lab import arena
from salvo_lab.bots.hunter import Hunter
from salvo_lab.bots.random_bot import RandomBot
from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_server.contest import Contest
from salvo_server.recordings import open_recordings
from salvo_server.settings import ServerSettings

SEED = "11"
TEAMS: dict[str, type[Bot]] = {"ann": Hunter, "bob": RandomBot}


def complete(count: int) -> Any:
    """Whether so many fleets are placed."""
    return lambda announced: (
        sum(isinstance(a, m.PlacementJudged) and a.approved for a in announced) >= count * len(STREAK.fleet)
    )


def test_the_same_seed_is_the_same_game_in_the_arena_and_over_mqtt(tmp_path: Path) -> None:
    played: list[m.SalvoResolved] = []
    bots = {name: kind() for name, kind in TEAMS.items()}
    outcome = arena.play(bots, seed=SEED, book=STREAK, listener=lambda _, result: played.append(result))
    received, journal = Announced(), str(tmp_path / "a.journal")
    given: dict[str, Any] = {"seed": SEED, "players": 2, "rules": "streak", "over_seconds": 600, "journal": journal}
    with EmbeddedBroker() as broker:
        contest = Contest(ServerSettings(broker=broker.url, **given), received)
        with contest.in_background():
            for number, (name, kind) in enumerate(TEAMS.items(), start=1):  # in the arena's order
                join(contest.url, name, kind(), seed=SEED)
                received.until(complete(number))
            received.until(over)
            fleets = [f"/players/{name}/fleet" for name in TEAMS]
            retained = retained_of(broker.url, {"/game/state": b"over"}, "/game/stats/bob", *fleets)
    assert [each._replace(sunk=()) for each in received.of(m.SalvoResolved)] == [
        each._replace(sunk=()) for each in played
    ]
    assert {each.player: each for each in received.of(m.PlayerStats)} == outcome.stats
    [won] = received.of(m.GameWon)
    assert won.winners == outcome.winners
    assert not received.of(m.CommandRefused)
    for name, fleet in outcome.fleets.items():
        shown = retained[f"/players/{name}/board"].decode()
        assert {cell for cell, letter in enumerate(shown) if letter == "X"} <= set(fleet.cells)
        assert not {cell for cell, letter in enumerate(shown) if letter == "0"} & set(fleet.cells)
    [checked] = open_recordings(journal).check()
    written = tmp_path / "game.jsonl.gz"
    open_recordings(journal).export(written)
    assert list(open_recordings(str(written)).check()) == [checked]
