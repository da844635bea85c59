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
from salvo_server.spectators.referee_view import Charts, snapshot
from salvo_watch.web.chances import Race, chances
from salvo_watch.web.commentary import ShooterStanding, ShownSalvo, moments


def standing(out: str = "", lost: int = 3, **afloat: int) -> ShooterStanding:
    return ShooterStanding(afloat, frozenset(out.split()), lost)


def salvo(sunk: str = "", defeated: str = "", shots: int = 5) -> ShownSalvo:
    lost = tuple((name, "carrier") for name in sunk.split())
    return ShownSalvo(1, 7, "ann", shots, len(lost), lost, dict.fromkeys(defeated.split(), m.Fate.SUNK))


_DUEL = standing(ann=5, bob=5)


@pytest.mark.parametrize(
    ("of", "missed", "before", "after", "expected"),
    [
        (salvo(), 1, _DUEL, _DUEL, []),
        (salvo(shots=0), 2, _DUEL, _DUEL, []),
        (salvo(), 2, _DUEL, _DUEL, ["back ann"]),
        (
            salvo("bob"),
            0,
            standing(lost=0, ann=5, bob=5),
            standing(ann=5, bob=4),
            ["first_blood ann", "lead ann", "sunk bob"],
        ),
        (salvo("bob"), 0, standing(ann=5, bob=4), standing(ann=5, bob=3), ["sunk bob"]),
        (salvo("bob"), 0, standing(ann=4, bob=5), standing(ann=4, bob=4), ["level ann bob", "sunk bob"]),
        (salvo("ann"), 0, standing(ann=3, bob=3), standing(ann=2, bob=3), ["lead bob", "sunk ann"]),
        (salvo("bob"), 0, standing(ann=5, bob=2), standing(ann=5, bob=1), ["last_ship bob", "sunk bob"]),
        (
            salvo("bob"),
            0,
            standing(ann=3, bob=4, cat=3, dan=1),
            standing(ann=3, bob=3, cat=3, dan=1),
            ["sunk bob"],
        ),
        (salvo("bob"), 0, standing(ann=3, bob=4, cat=1), standing(ann=3, bob=3, cat=1), ["lead ann bob", "sunk bob"]),
        (salvo("bob", "bob"), 0, standing(ann=5, bob=1), standing("bob", ann=5, bob=0), ["defeated bob", "sunk bob"]),
        (
            salvo("bob", "bob"),
            0,
            standing(ann=5, bob=1, cat=2),
            standing("bob", ann=5, bob=0, cat=2),
            ["defeated bob", "duel ann cat", "sunk bob"],
        ),
        (salvo("bob"), 0, standing(), standing(), ["sunk bob"]),
    ],
)
def test_a_sinking_a_last_ship_a_lead_that_changes_and_a_return_matter_and_a_miss_does_not(
    of: ShownSalvo, missed: int, before: ShooterStanding, after: ShooterStanding, expected: list[str]
) -> None:
    found = moments(of, before, after, missed, by_ships=True)
    assert [" ".join((moment.kind, *moment.teams)) for moment in found] == expected


@pytest.mark.parametrize(
    ("afloat", "expected"),
    [
        ({"ann": 5, "bob": 5}, None),
        ({"ann": 5, "bob": 3}, (("ann",), 2)),
        ({"ann": 4, "bob": 4, "cat": 3}, (("ann", "bob"), 1)),
        ({"ann": 4, "bob": 4, "cat": 4, "dan": 3}, None),
        ({}, None),
    ],
)
def test_one_team_leads_or_two_and_nobody_where_more_are_level(
    afloat: dict[str, int], expected: tuple[tuple[str, ...], int] | None
) -> None:
    assert ShooterStanding(afloat).lead() == expected


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
