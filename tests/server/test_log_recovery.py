"""The log of a server that ends anywhere: the next one goes on with it, bit by bit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.proofs import IDENTITY, entries_of, verify
from kit.recovery import LoggedWorld
from kit.services import serve
from kit.unbrokered import Wire
from salvo.codec.header import read_header
from salvo.codec.log_reader import LogChain, read_entry, take_apart
from salvo.messages import Draw, Limits, State
from salvo_server.storage.transcript_folder import TranscriptFolder


@pytest.fixture
def world(tmp_path: Path) -> Iterator[LoggedWorld]:
    world = LoggedWorld(tmp_path / "a.journal")
    yield world
    world.journal.close()


def test_the_log_over_many_kills_is_the_one_of_the_journal_and_fair(world: LoggedWorld) -> None:
    world.restart()
    world.join()
    for fired in range(7):
        world.restart(away=100)
        world.fire(fired)
    world.play()
    lines = [payload + b"\n" for payload in world.first_heard()]
    assert lines == world.from_journal()
    report = verify(lines)
    assert report.finding is None
    assert sum("resume" in entry.get("step", {}).get("input", {}) for entry in entries_of(lines)) == 7


def test_a_server_that_was_killed_says_again_what_nobody_may_have_heard_and_no_more(world: LoggedWorld) -> None:
    world.join()
    world.fire(5)
    world.wire.delivered = world.wire.published
    world.fire(5)
    heard = len(world.heard)
    before = list(world.heard)
    world.restart()
    again = [payload for payload in world.heard[heard:] if payload in before]
    assert again == before[-1:]  # the fifth shot of the first salvo is heard of; the second salvo's result is not


def test_without_any_acknowledgement_the_whole_log_is_said_again(world: LoggedWorld) -> None:
    world.join()
    world.fire(3)
    before = world.first_heard()
    heard = len(world.heard)
    world.restart()
    assert list(dict.fromkeys(world.heard[heard:]))[: len(before)] == before


def test_a_lobby_in_which_nothing_happened_is_opened_with_the_same_commitment(world: LoggedWorld) -> None:
    [opening] = world.heard
    world.restart()
    assert world.heard == [opening, opening]
    world.restart("never")
    assert world.heard == [opening] * 3


def test_every_game_has_a_secret_of_its_own(world: LoggedWorld) -> None:
    world.join()
    world.play()
    world.now += 300_000
    world.run()
    assert world.table.referee.state is State.LOBBY
    entries = [read_entry(take_apart(payload)[0]) for payload in world.first_heard()]
    openings = [entry.body for entry in entries if entry.number == 0]
    assert [(opening.game, opening.draw) for opening in openings] == [(1, Draw.FAIR), (2, Draw.FAIR)]  # type: ignore[union-attr]
    seeds = [read_header(game.opened.header).seed for game in world.journal.load().games]
    assert seeds == [world.table.header.seed]
    assert json.dumps(seeds[0]).encode() not in b"".join(world.heard)
    chain = LogChain(IDENTITY.signing_key)
    for payload in world.heard:
        chain.take_in(payload)
    assert chain.opening is not None
    assert chain.opening.game == 2


def test_a_game_of_before_goes_on_and_only_the_next_one_is_drawn_otherwise(tmp_path: Path) -> None:
    """A journal that a server without an identity has begun, with headers that name no draw."""
    world = LoggedWorld(tmp_path / "a.journal", identity=None, draw="seed")
    world.join()
    world.fire(2)
    assert '"draw"' not in world.journal.load().games[0].opened.header
    world.given = {"identity": IDENTITY, "draw": "fair"}
    world.restart()
    assert world.table.header.draw is Draw.SEED
    assert world.table.referee.current is not None
    world.play()
    assert verify(world.from_journal()).finding is None
    world.now += 300_000
    world.run()
    assert world.table.header.draw.value == "fair"
    world.journal.close()


def test_a_game_that_one_version_began_is_logged_alike_by_the_next_one(
    world: LoggedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.join()
    before = world.first_heard()
    monkeypatch.setattr("salvo_server.core.table.__version__", "9.9")
    world.restart()
    assert world.first_heard()[: len(before)] == before
    assert b'"version":"9.9"' not in b"".join(world.heard)


def test_a_server_without_identity_says_nothing_in_the_log(tmp_path: Path) -> None:
    world = LoggedWorld(tmp_path / "a.journal", identity=None)
    world.join()
    world.fire(7)
    world.restart()
    assert world.heard == []
    world.journal.close()


def test_with_an_explicit_seed_the_same_game_has_the_same_log(tmp_path: Path) -> None:
    heard = []
    for number in range(2):
        world = LoggedWorld(tmp_path / f"{number}.journal", draw="seed", identity=IDENTITY)
        world.join()
        heard.append(world.heard)
        world.journal.close()
    assert heard[0] == heard[1]


def test_what_somebody_left_retained_on_the_log_is_cleared() -> None:
    edge = Wire()
    edge.retained["/game/log"] = b'{"entry":{},"sign":""}'
    service = serve(edge, [""], seed=1, limits=Limits(players=2), identity=IDENTITY)
    edge.connect()
    for _ in range(3):
        service.step()
    assert edge.retained["/game/log"] == b""
    said = [payload for topic, payload in edge.said if topic == "/game/log"]
    assert [bool(payload) for payload in said] == [True, False]
    service.gate.close()


def test_a_folder_has_the_proof_of_every_game_beside_its_transcript(world: LoggedWorld, tmp_path: Path) -> None:
    world.join()
    world.play()
    written: list[Path] = []
    folder = TranscriptFolder(tmp_path / "games", lambda _, path: written.append(path), IDENTITY)
    folder.write(world.journal.game("", 1))
    folder.close()
    assert {path.name for path in (tmp_path / "games").iterdir()} == {"game-1.jsonl.gz", "game-1.proof.jsonl"}
    assert [path.name for path in written] == ["game-1.jsonl.gz"]
    proof = (tmp_path / "games" / "game-1.proof.jsonl").read_bytes()
    assert proof.splitlines() == world.first_heard()
