"""What onlookers see of a game, and that nobody sees what he may not."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kit.golden_games import ALICE, AT_ALICE, AT_BOB, BOB, GOLDEN, hidden_from_alice, play
from salvo.rules import SALVO
from salvo_display import replay_text
from salvo_display.boards.marks import Mark
from salvo_display.replay import REFEREE, Replay, ReplayError
from salvo_game.transcript import execute, read_transcript


def test_the_referee_sees_everything() -> None:
    replay = play({"alice": ALICE, "bob": BOB}, [*AT_BOB, *AT_ALICE])
    bob = replay.frame(REFEREE, 1).seas["bob"]
    assert bob.marks[:10] == "········✖✖"
    assert bob.marks[20:30] == "○○○·······"
    assert bob.marks[60:70] == "■■■·······"
    assert (bob.afloat, bob.sunk) == (("carrier", "battleship", "destroyer", "submarine"), ("patrolboat",))
    assert bob.latest == {8, 9, 20, 21, 22}


def test_a_player_sees_its_own_ships_and_where_it_fired_but_not_what_it_hit() -> None:
    replay = play({"alice": ALICE, "bob": BOB}, [*AT_BOB, *AT_ALICE])
    seas = replay.frame("alice", 2).seas
    assert seas["bob"].marks[:30] == "········●●" + Mark.BLANK * 10 + "●●●·······"
    assert set(seas["bob"].marks[30:]) == {Mark.BLANK}
    assert seas["bob"].sunk == ("patrolboat",)
    assert seas["alice"].marks[:20] == "■■■■✖○○○··■■■■······"
    assert seas["alice"].latest == {4, 5, 6, 7}


def test_a_view_or_turn_that_is_not_there_is_named_with_those_that_are() -> None:
    replay = play({"alice": ALICE, "bob": BOB}, AT_BOB)
    with pytest.raises(ReplayError, match="unknown_view: no view 'carol'; the views are referee, alice, bob"):
        replay.frames("carol")
    with pytest.raises(ReplayError, match="unknown_turn: no turn 9; the turns are 0, before the first salvo, to 1"):
        replay.frame(REFEREE, 9)
    lobby = play({"alice": ALICE, "bob": BOB}, ())
    assert lobby.turns == 0
    with pytest.raises(ReplayError, match="not_begun: test: the game has not begun; at the table: alice"):
        Replay("test", lobby.header, lobby.steps[:1]).frame(REFEREE, 0)


@pytest.mark.long
@pytest.mark.parametrize("name", ["2-players-clock", "4-players-4", "4-players-silent", "4-players-small"])
def test_everybody_sees_every_turn_of_a_golden_game(name: str) -> None:
    transcript = read_transcript(GOLDEN / f"{name}.jsonl.gz")
    replay = Replay(name, transcript.header, execute(transcript))
    public = [replace(frame, seas={}, fired=(), notes=()) for frame in replay.frames(REFEREE)]
    for view in replay.views:
        frames = replay.frames(view)
        assert [frame.turn for frame in frames] == list(range(replay.turns + 1))
        assert [replace(frame, seas={}, fired=(), notes=()) for frame in frames] == public
        assert frames[-1].winner in replay.players
        if view != REFEREE:
            own = [frame.seas[view] for frame in frames]
            assert own == [
                replace(frame.seas[view], latest=own[n].latest) for n, frame in enumerate(replay.frames(REFEREE))
            ]


def test_only_the_referees_view_of_a_replay_shows_the_seed() -> None:
    """Who has it draws the fleets of an arena's bots."""
    transcript = read_transcript(GOLDEN / "streak-4-1.jsonl.gz")
    replay = Replay("streak", transcript.header, execute(transcript))
    seed = f"seed {replay.header.seed}"
    assert seed in replay_text.heading(replay)
    assert not any(seed in replay_text.heading(replay, player) for player in replay.players)


# --- nothing leaks ------------------------------------------------------------------------------------------------


def _everything_shown(replay: Replay, view: str) -> str:
    """All that any output makes of a view: lines and records."""
    shown = [*replay_text.salvo_lines(replay, view)]
    for frame in replay.frames(view):
        shown += replay_text.frame_lines(replay, frame, view)
        shown.append(json.dumps([replay_text.record(frame), replay_text.boards_record(frame, SALVO.grid)]))
    return "\n".join(shown)


@pytest.mark.long
@given(seed=st.integers(0, 10**6), other_seed=st.integers(0, 10**6), shots=st.integers(1, 40))
@settings(max_examples=30)
def test_two_games_that_differ_only_in_hidden_cells_look_the_same(seed: int, other_seed: int, shots: int) -> None:
    one, other = hidden_from_alice(seed, other_seed, shots)
    for view in ("alice", "carol"):
        assert one.frames(view) == other.frames(view)
        assert _everything_shown(one, view) == _everything_shown(other, view)
    for view in (REFEREE, "bob"):
        assert one.frames(view) != other.frames(view)
