"""Every ruleset over a real broker, by two bots: the arena's game, kept, recovered and looked at again."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from kit.players import Heard, join, over, retained_of
from salvo import messages as m
from salvo import topics
from salvo.codec.announcement_reader import read_announcement
from salvo.codec.recap_writer import write_recap
from salvo.messages import SalvoResolved
from salvo.net.mqtt import Connection
from salvo.player import Bot
from salvo.rules import ALTERNATE, BOOKS, SALVO, SMACKDOWN, SPACED, STREAK, XBS, RuleBook
from salvo_lab import arena
from salvo_lab.bots.hunter import Hunter
from salvo_lab.bots.random_bot import RandomBot
from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_server.brokers.embedded.limits import SERVER_CLIENT_ID
from salvo_server.contest import Contest
from salvo_server.recordings import open_recordings
from salvo_server.settings import ServerSettings

SEED = "11"
TEAMS: dict[str, type[Bot]] = {"ann": Hunter, "bob": RandomBot}


def in_arena(book: RuleBook, teams: dict[str, type[Bot]] = TEAMS, seed: str = SEED) -> tuple[list[SalvoResolved], Any]:
    heard: list[SalvoResolved] = []
    bots = {name: kind() for name, kind in teams.items()}
    outcome = arena.play(bots, seed=seed, book=book, listener=lambda _, result: heard.append(result))
    return heard, outcome


def complete(count: int, book: RuleBook) -> Any:
    return lambda said: sum(isinstance(a, m.PlacementJudged) and a.approved for a in said) >= count * len(book.fleet)


def seat(url: str, heard: Heard, book: RuleBook, teams: dict[str, type[Bot]] = TEAMS, seed: str = SEED) -> None:
    """Let teams come one after the other, so that the play order is the arena's."""
    for number, (name, kind) in enumerate(teams.items(), start=1):
        join(url, name, kind(), seed=seed)
        heard.until(complete(number, book))


def settings(broker: EmbeddedBroker, book: str, **given: Any) -> ServerSettings:
    values: dict[str, Any] = {
        "broker": broker.url,
        "seed": SEED,
        "players": 2,
        "rules": book,
        "over_seconds": 600,
    } | given
    return ServerSettings(**values)


@pytest.mark.long
@pytest.mark.parametrize("book", [BOOKS["streak"], BOOKS["smackdown"]], ids=lambda book: book.name)
def test_the_same_seed_is_the_same_game_in_the_arena_and_over_mqtt(book: RuleBook, tmp_path: Path) -> None:
    heard, journal = Heard(), str(tmp_path / "a.journal")
    with EmbeddedBroker() as broker:
        contest = Contest(settings(broker, book.name, journal=journal), heard)
        with contest.in_background():
            seat(contest.url, heard, book)
            heard.until(over)
            fleets = [f"/players/{name}/fleet" for name in TEAMS] if book.reveal else []
            retained = retained_of(broker.url, {"/game/state": b"over"}, "/game/stats/bob", *fleets)
    results, outcome = in_arena(book)
    assert [each._replace(sunk=()) for each in heard.of(m.SalvoResolved)] == [
        each._replace(sunk=()) for each in results
    ]
    assert {each.player: each for each in heard.of(m.PlayerStats)} == outcome.stats
    [won] = heard.of(m.GameWon)
    assert won.winners == outcome.winners
    assert not heard.of(m.CommandRefused)
    check_retained(book, retained, outcome)
    [checked] = open_recordings(journal).check()
    assert checked[0] > 10 + len(results)
    written = tmp_path / "game.jsonl.gz"
    open_recordings(journal).export(written)
    assert list(open_recordings(str(written)).check()) == [checked]


def check_retained(book: RuleBook, retained: dict[str, bytes], outcome: Any) -> None:
    rules = read_announcement(topics.parse("/game/rules"), retained["/game/rules"])
    assert isinstance(rules, m.RulesAnnounced)
    assert rules.book == book
    boards = {topic: payload for topic, payload in retained.items() if topic.endswith("/board")}
    fleets = {topic: payload for topic, payload in retained.items() if topic.endswith("/fleet")}
    if book in (XBS, STREAK, ALTERNATE, SPACED):
        for name, fleet in outcome.fleets.items():
            shown = boards[f"/players/{name}/board"].decode()
            assert len(shown) == book.grid.size
            assert {cell for cell, letter in enumerate(shown) if letter == "X"} <= set(fleet.cells)
            assert not {cell for cell, letter in enumerate(shown) if letter == "0"} & set(fleet.cells)
    else:
        assert not boards
    assert set(fleets) == ({f"/players/{name}/fleet" for name in outcome.fleets} if book.reveal else set())
    sunk = [topic for topic in retained if topic.endswith("/sunk")]
    assert bool(sunk) == (book not in (SMACKDOWN, XBS))


def test_a_team_gets_the_recap_of_a_long_game_from_the_embedded_broker() -> None:
    """Where every shot is told a recap has more than the 16 KiB that others may send in a packet."""
    results = tuple(SalvoResolved(1, turn, "ann", 1, 0, (), (), (False,), (("bob", 1, 1),)) for turn in range(1, 2001))
    recap = write_recap(m.Recap("ann", 1, 2001, (), (), (), results, ("ann", "bob")), SALVO.grid)
    with EmbeddedBroker() as broker:
        server, team = (Connection(broker.url, name, clean_session=True) for name in (SERVER_CLIENT_ID, "salvo-ann"))
        team.on_connect = lambda _: team.subscribe(["/players/ann/recap"])
        for connection in (team, server):
            connection.connect(60)
        assert team.flush(60)
        server.publish("/players/ann/recap", recap)
        assert server.flush(60)
        heard: list[bytes] = []
        end = time.monotonic() + 60
        while not heard and time.monotonic() < end:
            heard += [message.payload for message in team.poll(0.1)]
        assert heard == [recap]
        team.publish("/players/bob/fire", recap)  # nobody else may
        assert not team.flush(1)
        for connection in (server, team):
            connection.close()
