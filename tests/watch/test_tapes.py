"""A tape follows the record of its game exactly, shows its end last, and is edited for people."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kit.golden_games import GOLDEN
from kit.signed_games import play
from salvo import messages as m
from salvo.badges import Badges
from salvo.messages import State
from salvo_display.replay import REFEREE, Replay
from salvo_game.recordings import Recording, open_recordings
from salvo_watch.web.stage import Playing
from salvo_watch.web.tapes import (
    DECISIVE_MS,
    FLEETS_MS,
    HIT_MS,
    MAX_TAPE_MS,
    MISSED_MS,
    SUNK_MS,
    Logs,
    Tape,
    TapeCut,
    tape_of,
    tape_of_log,
)

#: One of each kind; those of many players are as the others, and take long.
GAMES = sorted(path.name for ending in ("1", "tie") for path in GOLDEN.glob(f"[!8]*-{ending}.jsonl.gz"))


def record(game: int = 1) -> list[bytes]:
    """A game's log, each entry once."""
    return list(dict.fromkeys(payload for moment in play(game) for payload in moment.log))


def replay_of(name: str) -> Replay:
    recording = open_recordings(str(GOLDEN / name))
    assert isinstance(recording, Recording)
    return Replay(*recording.executed())


def over(replay: Replay) -> bool:
    return any(isinstance(each, m.GameWon) for step in replay.steps for each in step.announcements)


def running(tape: Tape) -> Iterator[tuple[TapeCut, Playing]]:
    """Play a tape cut by cut."""
    playing, now = Playing(tape, 0, Badges(), 0.0), 0.0
    for cut in tape.cuts:
        playing.advance(now)
        yield cut, playing
        now = playing.next_at


@pytest.mark.long
@pytest.mark.parametrize("name", GAMES)
def test_a_tape_shows_every_salvo_of_the_record_and_its_boards(name: str) -> None:
    replay = replay_of(name)
    tape = tape_of(replay.header, replay.steps)
    if not over(replay):
        assert tape is None
        return
    assert tape is not None
    frames = list(replay.frames(REFEREE))
    shown: dict[int, tuple[str, int, int, list[bool]]] = {}
    for cut, playing in running(tape):
        picture, last = playing.picture(), playing.picture()["last"]
        assert picture["tape"]["at"] == cut.at
        if not playing.over:
            assert picture["state"] == State.TURN
            assert not picture["winners"]
        if last is not None:
            shown[last["turn"]] = (last["player"], last["shots"], last["hits"], [bool(aim[3]) for aim in last["aims"]])
    assert sorted(shown) == [frame.turn for frame in frames if frame.result is not None]
    for frame in frames:
        if frame.result is not None:
            player, shots, hits, marks = shown[frame.turn]
            assert (player, shots) == (frame.result.player, frame.result.shots)
            assert len(marks) == len(frame.fired)
            assert hits == sum(marks)
    end = playing.picture()
    assert end["state"] == State.OVER
    assert tuple(end["winners"]) == ((frames[-1].winner,) if frames[-1].winner else frames[-1].tied)
    assert (tape.game, tape.table) == (replay.header.game, replay.header.rules.table)


def test_the_news_of_a_tape_begin_with_the_beginning_of_its_game() -> None:
    tape = tape_of_log(record())
    assert tape is not None
    for _, playing in running(tape):
        picture = playing.picture()
        began, names = picture["feed"][-1], {player["name"] for player in picture["players"]}
        assert (began["kind"], began["game"], set(began["players"])) == ("began", tape.game, names)


def test_a_miss_runs_by_a_sinking_is_slow_and_the_decisive_salvo_slower() -> None:
    tape = tape_of_log(record())
    assert tape is not None
    assert MISSED_MS < HIT_MS < SUNK_MS < DECISIVE_MS
    salvos = {result.turn: cut for cut in tape.cuts for result in cut.news if isinstance(result, m.SalvoResolved)}
    lengths = {turn: cut.ms for turn, cut in salvos.items()}
    scale = lengths[max(lengths)] / DECISIVE_MS
    assert tape.cuts[0].ms == pytest.approx(FLEETS_MS * scale, abs=1)
    sinking = [turn for turn, cut in salvos.items() if any(isinstance(n, m.SalvoResolved) and n.sunk for n in cut.news)]
    assert sinking
    assert all(lengths[turn] >= round(SUNK_MS * scale) - 1 for turn in sinking)
    assert tape.ms <= MAX_TAPE_MS


def test_a_log_with_a_gap_or_a_changed_entry_has_no_tape() -> None:
    payloads = record()
    assert tape_of_log(payloads) is not None
    assert tape_of_log(payloads[:5] + payloads[6:]) is None
    changed = [payload.replace(b'"hits":1', b'"hits":2') for payload in payloads]
    assert changed != payloads
    assert tape_of_log(changed) is None


def test_the_log_of_a_game_is_complete_with_its_end_whatever_is_repeated() -> None:
    former, payloads = record(1), record(2)
    logs = Logs()
    for payload in (payloads[0], *former[-2:], payloads[0], *payloads[:-1], *payloads[3:6]):
        assert logs.add("t1", payload) is None
    assert logs.whole("t1")
    log = logs.add("t1", payloads[-1])
    assert log is not None
    assert (log.game, log.payloads) == (2, payloads)
    assert not logs.whole("t1")


def test_a_game_whose_beginning_was_missed_or_that_is_too_long_has_no_log() -> None:
    payloads = record()
    late, small = Logs(), Logs(most_bytes=sum(map(len, payloads[:10])))
    assert all(late.add("", payload) is None for payload in payloads[1:])
    assert not late.whole("")
    assert all(small.add("", payload) is None for payload in payloads)
    assert small.add("", record(2)[0]) is None
    assert small.whole("")
    assert all(late.add("", payload) is None for payload in (b"", b"{}", b'{"entry":{"n":', b"\xff" * 100))
