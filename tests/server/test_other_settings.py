"""A server that is stopped and started again with other settings: what holds when, and every game stays as recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from kit.evening import LIMITS, POND, SEA, Evening
from kit.proofs import IDENTITY, verify
from salvo import messages as m
from salvo.messages import Limits, State
from salvo.rules import BOOKS
from salvo_display.replay import REFEREE, Replay
from salvo_game.recordings import RecordingSummary, open_recordings
from salvo_game.transcript import check, read_transcript
from salvo_server.storage.transcript_folder import TranscriptFolder

STREAM = replace(BOOKS["streak"], name="stream", **SEA)  # type: ignore[arg-type]
#: Another value of each limit.
OTHER: dict[str, Any] = {
    "players": None,
    "placement_ms": 20_000,
    "turn_ms": 7_000,
    "over_ms": 90_000,
    "empty_turns": 1,
    "most_players": 2,
    "bank_ms": 60_000,
    "increment_ms": 1_000,
    "absent_ms": 2_000,
    "pace_ms": 500,
    "teams": ("ann", "bob"),
}
CHANGES: dict[str, dict[str, Any]] = {
    "every limit": {"limits": replace(LIMITS, **OTHER)},
    "book": {"book": replace(BOOKS["xbs"], name="small", **SEA)},  # type: ignore[arg-type]
    "seed": {"draw": "seed", "seed": "other"},
    "profile": {"profile": "contest"},
    "chat": {"chat": False},
    "referee": {"referee": True},
}
#: Much at once.
ALL: dict[str, Any] = {"limits": replace(LIMITS, turn_ms=7_000, pace_ms=None, over_ms=90_000), "book": STREAM}


@pytest.fixture
def evening(tmp_path: Path) -> Iterator[Evening]:
    evening = Evening(tmp_path / "a.journal")
    yield evening
    evening.journal.close()


def inspected(evening: Evening) -> Sequence[RecordingSummary]:
    """Return the games of the journal; every one is executed, exported, looked at and verified."""
    path = str(evening.path)
    recordings = open_recordings(path)
    summaries = list(recordings.summaries())
    assert [each.trouble for each in summaries] == [""] * len(summaries)
    assert len(list(recordings.check())) == len(summaries)
    over = [each.game for each in summaries if each.state == State.OVER]
    for number in over:
        game, file = open_recordings(path, game=number), evening.path.with_name(f"{number}.jsonl")
        assert Replay(*game.executed()).frames(REFEREE)
        steps = game.export(file)
        assert check(read_transcript(file))[0] == steps
    report = verify([payload + b"\n" for payload in evening.first_received()])
    assert report.finding is None, report.finding
    assert {game.opening.game for game in report.games if game.ended} == set(over)
    return summaries


def played_by(evening: Evening) -> tuple[object, ...]:
    header = evening.table.header
    return header.limits, header.rules.book, header.draw.value


# --- what is recorded -------------------------------------------------------------------------------------------------


def test_the_test_of_other_settings_changes_every_limit() -> None:
    changed = {name for name, value in OTHER.items() if value != getattr(LIMITS, name)}
    assert changed == {field.name for field in fields(Limits)} - {"by_host", "held"}  # which no operator sets


@pytest.mark.parametrize("change", CHANGES)
def test_a_game_in_which_a_setting_changed_comes_out_as_it_was_recorded(evening: Evening, change: str) -> None:
    evening.join()
    evening.turn()
    before = played_by(evening)
    evening.change(**CHANGES[change])
    assert played_by(evening) == before
    evening.play()
    evening.forget()
    wanted = {"limits": LIMITS, "book": POND, "draw": "fair"} | CHANGES[change]
    assert played_by(evening) == (wanted["limits"], wanted["book"], wanted["draw"])
    assert [each.state for each in inspected(evening)] == [State.OVER, State.LOBBY]


def test_a_transcript_that_is_written_behind_the_next_lobby_ends_with_its_game(tmp_path: Path) -> None:
    """The broker is away when a game is won, and until the result's time is over: only then is anybody told."""
    evening = Evening(tmp_path / "a.journal")
    evening.join()
    evening.change(**ALL)
    written: list[Path] = []
    folder = TranscriptFolder(tmp_path / "evening" / "games", lambda _, path: written.append(path), IDENTITY)

    def listen(table: str, at: int, command: m.Input | None, announced: Sequence[m.Announcement]) -> None:
        if any(isinstance(each, m.GameWon) for each in announced):
            folder.write(evening.journal.game(table, 1), m.EveningShown())

    evening.service.listener = listen
    evening.wire.connected = False
    evening.play()
    evening.wire.connected = True
    evening.forget()
    folder.close()
    [file] = written
    steps, _ = check(read_transcript(file))
    assert steps == len(evening.journal.game("", 1).steps) - 1
    assert verify(file.with_name("game-1.proof.jsonl").read_bytes().splitlines(keepends=True)).finding is None
    evening.journal.close()
