"""What the web front says of a salvo, and the chances that it shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from salvo import messages as m
from salvo.rules import SALVO
from salvo_display.replay import REFEREE, Replay, news_for
from salvo_game.recordings import open_recordings
from salvo_lab.commands.play import play
from salvo_server.referee_view import Charts, snapshot
from salvo_watch.web.chances import Race, chances
from salvo_watch.web.commentary import Salvo, Standing, comment


def standing(out: str = "", **afloat: int) -> Standing:
    return Standing(afloat, frozenset(out.split()))


def salvo(
    hits: int = 0,
    shots: int = 5,
    sunk: str = "",
    defeated: str = "",
    fate: m.Fate = m.Fate.SUNK,
    given_up: bool = False,
) -> Salvo:
    lost = tuple((name, "carrier") for name in sunk.split())
    return Salvo(1, 7, "ann", shots, hits, lost, dict.fromkeys(defeated.split(), fate), (), given_up)


@pytest.mark.parametrize(
    ("of", "before", "after", "expected"),
    [
        (salvo(), standing(ann=5, bob=5), standing(ann=5, bob=5), ""),
        (salvo(1), standing(ann=5, bob=5), standing(ann=5, bob=5), ""),
        (salvo(5), standing(ann=5, bob=5), standing(ann=5, bob=5), "ann hits with every one of 5 shots."),
        (
            salvo(2, sunk="bob"),
            standing(ann=5, bob=5),
            standing(ann=5, bob=4),
            "ann sinks bob's carrier and takes the lead.",
        ),
        (
            salvo(2, sunk="ann"),
            standing(ann=3, bob=3),
            standing(ann=2, bob=3),
            "ann sinks ann's carrier; bob leads now.",
        ),
        (
            salvo(1, sunk="bob", defeated="bob"),
            standing(ann=5, bob=1),
            standing("bob", ann=5, bob=0),
            "ann defeats bob and is the last one afloat.",
        ),
        (
            salvo(1, sunk="bob", defeated="bob"),
            standing(ann=5, bob=1, cat=2),
            standing("bob", ann=5, bob=0, cat=2),
            "bob is out: ann against cat now.",
        ),
        (salvo(shots=0, given_up=True), standing(ann=5), standing(ann=5), "ann's bot gave up the turn."),
        (
            salvo(defeated="bob", fate=m.Fate.REMOVED),
            standing(ann=5, bob=1, cat=2, dan=2),
            standing("bob", ann=5, bob=1, cat=2, dan=2),
            "the host takes bob out; 3 are left.",
        ),
        (
            salvo(shots=0, defeated="ann", fate=m.Fate.SILENT),
            standing(ann=5, bob=1, cat=2),
            standing("ann", ann=5, bob=1, cat=2),
            "ann is out after turns without a shot: bob against cat now.",
        ),
    ],
)
def test_a_comment_on_a_salvo_names_its_most_important_effect(
    of: Salvo, before: Standing, after: Standing, expected: str
) -> None:
    assert comment(of, before, after) == expected


def views_of(recording: Path) -> list[m.RefereeView]:
    replay = Replay(*open_recordings(str(recording)).executed())
    charts, views = Charts(replay.header), []
    for step in replay.steps:
        charts.receive(step.at, news_for(REFEREE, step, replay.header.rules.book))
        views += [snapshot(1, charts, frame) for frame in charts.take_frames()]
    return views


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> list[list[m.RefereeView]]:
    folder = tmp_path_factory.mktemp("games")
    words = [
        "hunter",
        "density",
        "--games",
        "6",
        "--seed",
        "5",
        "--record",
        f"{folder}/{{game}}.jsonl.gz",
    ]
    CliRunner().invoke(play, words, catch_exceptions=False)
    return [views_of(file) for file in sorted(folder.iterdir())]


def test_chances_to_win_add_up_to_1_are_repeatable_and_follow_the_ships_left(games: list[list[m.RefereeView]]) -> None:
    for view in games[0][:-1:10]:
        shown = chances(Race.of(view, SALVO))
        assert sum(shown.of.values()) == pytest.approx(1)
        assert shown == chances(Race.of(view, SALVO))
    last = Race.of(games[0][-2], SALVO)
    winner = games[0][-1].winner
    assert chances(last).of[winner] > 0.8
