"""The frozen ladder: its rungs play as they always did, and a climb ends where a bot belongs."""

from __future__ import annotations

import json
from contextlib import nullcontext
from hashlib import sha256
from pathlib import Path

import pytest

from salvo.bots.sources import load
from salvo.errors import BotError
from salvo.rules import BOOKS
from salvo_lab import arena
from salvo_lab.commands import climbing
from salvo_lab.commands.climbing import climb_and_show, left, lines, record
from salvo_lab.ladder import Ladder, Rung, climb, frozen
from salvo_lab.solo import Target

#: By rung, a digest of its shots in one game. A rung that plays otherwise is another one: give it a new version.
GOLDEN = {
    "random-v1": "b5801fcec076",
    "hunter@0.15-v1": "c5298bd07fc1",
    "hunter@0.3-v1": "e6c650d1fa48",
    "hunter@0.45-v1": "af6e70995662",
    "hunter@0.65-v1": "3ebc1c80f670",
    "hunter@0.85-v1": "c9b868659a68",
    "hunter-v1": "960a1f550621",
    "density@0.85-v1": "e75b895aadd0",
    "density-v1": "7e317a2cc8f6",
    "admiral@0.6-v1": "7533810a68e0",
    "admiral@0.8-v1": "a62054e76aca",
    "admiral-v1": "c2ea282ae846",
}
RUNGS = pytest.mark.parametrize("rung", frozen().rungs, ids=lambda rung: rung.name)


def shots_of(rung: Rung) -> str:
    """Return a digest of the shots that clear a board which never shoots back."""
    fired: list[tuple[int, int]] = []
    bots = {"rung": load(rung.bot)(), "board": Target()}
    arena.play(
        bots,
        seed="golden",
        book=BOOKS[frozen().rules],
        listener=lambda shots, _: fired.extend((shot.x, shot.y) for shot in shots),
        passive=("board",),
    )
    return sha256(repr(fired).encode()).hexdigest()[:12]


@RUNGS
def test_a_rung_fires_the_same_shots_permanently(rung: Rung) -> None:
    assert shots_of(rung) == GOLDEN[rung.name]


def test_twelve_rungs_stand_from_weak_to_strong_with_their_versions() -> None:
    rungs = frozen().rungs
    strengths = [rung.strength for rung in rungs]
    assert len(rungs) == len(GOLDEN) == 12
    assert strengths == sorted(set(strengths))
    assert strengths[0] == 0
    assert all(rung.name.rpartition("-v")[0] == rung.bot for rung in rungs)


@pytest.mark.long
def test_a_bot_that_climbs_the_ladder_is_ranked_between_two_rungs() -> None:
    ladder = Ladder("short", "salvo", (Rung("random-v1", "random", 0), Rung("hunter-v1", "hunter", 463)))
    found = climb("hunter@0.5", ladder=ladder, games=200, jobs=1)
    assert (found.beats, found.level, list(found.met)) == (1, None, [1, 0])
    assert 0 < found.low < found.strength < found.high < 463
    assert found.in_words.startswith(
        "hunter@0.5 beats rung 1, random-v1, and loses to rung 2, hunter-v1; the chance that"
    )
    drawn = list(lines(found, "hunter@0.5", "0"))
    assert [line.split()[1] for line in drawn[1:4]] == ["hunter-v1", "hunter@0.5", "random-v1"]
    recorded = json.loads(json.dumps(record(found), allow_nan=False))
    assert (recorded["beats"], recorded["compared"][0]["rung"], recorded["rungs"][1]["name"]) == (1, 2, "hunter-v1")


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("hunter@", "the share is ''; above 0 and below 1, as in hunter@0.5"),
        ("hunter@1", "the share is '1'"),
        ("hunter@nan", "the share is 'nan'"),
        ("huntr@0.5", "no bot 'huntr'; did you mean hunter"),
    ],
)
def test_an_invalid_mixture_of_bots_is_refused_with_the_remedy(source: str, error: str) -> None:
    with pytest.raises(BotError, match=error):
        load(source)


def test_a_climb_shows_how_long_it_takes_at_most() -> None:
    assert left([100], 60) == "rung 1 of 4 at most; 15 min more at most"
    assert left([400, 400, 30, 400], 123) == "rung 4 of 4 at most; 0 min more at most"


@pytest.mark.long
def test_a_climb_shows_that_it_goes_on_before_the_first_games_are_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[int | None] = []

    def show(done: int | None = None, standing: str = "") -> None:
        shown.append(done)
        if len(shown) == 3:
            raise InterruptedError

    monkeypatch.setattr(climbing, "progress_bar", lambda *_, **how: nullcontext(show))
    (tmp_path / "endless.py").write_text("import salvo\n\n@salvo.bot\ndef fire(view):\n    while True: pass\n")
    bot = str(tmp_path / "endless.py")
    with pytest.raises(InterruptedError):
        climb_and_show(bot, "7", jobs=1, turn_seconds=5, cluster=None, as_json=False)
    assert shown == [None, None, None]
