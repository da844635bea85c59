"""``salvo explain``: a whole game from what each player was told, in lines, for programs and as a page."""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from kit.golden_games import ALICE, AT_ALICE, AT_BOB, BOB, GOLDEN, play
from kit.page_games import golden_replay
from kit.proofs import OTHERS, SMALL
from salvo.errors import SalvoError
from salvo.rules import Fleet, RuleBook
from salvo_display.replay import REFEREE, Replay
from salvo_game.recordings import open_recordings
from salvo_game.transcript import write_transcript
from salvo_lab.bots.random_bot import RandomBot
from salvo_lab.commands.explain import explain as command
from salvo_lab.explaining.explain import Estimate, Explainer, GameAccount
from salvo_lab.explaining.reasons import accounts, luck_of, meaning, outcome
from salvo_lab.explaining.replays import explain
from salvo_lab.recording import play_at_table

FEW = ("--fleets", "100")


def _run(name: str, *arguments: str) -> str:
    done = CliRunner().invoke(command, [str(GOLDEN / f"{name}.jsonl.gz"), *FEW, *arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("book", [SMALL, *OTHERS], ids=lambda book: book.name)
def test_the_games_of_every_rule_book_have_a_line_a_salvo_and_one_a_player(book: RuleBook, tmp_path: Path) -> None:
    _, header, steps = play_at_table({"a": RandomBot(), "b": RandomBot()}, seed=3, book=book)
    file = tmp_path / "game.jsonl"
    write_transcript(file, header, steps)
    replay = Replay(*open_recordings(str(file)).executed())
    results = [frame.result for frame in replay.frames(REFEREE) if frame.result is not None]
    salvos = explain(replay, Explainer(fleets=100))
    assert [(salvo.turn, salvo.player, salvo.hits) for salvo in salvos] == [
        (result.turn, result.player, result.hits) for result in results
    ]
    found = accounts(replay, salvos)
    assert list(found) == list(replay.players)
    for player, account in found.items():
        own = [salvo for salvo in salvos if salvo.player == player]
        assert (account.turns, account.hits) == (len(own), sum(salvo.hits for salvo in own))
        assert account.luck.value == pytest.approx(sum(salvo.luck.value for salvo in own))
        assert account.luck.value == pytest.approx(account.hits - account.expected)
        assert 0 <= account.skill.value < 1.1
        assert account.exact
    assert {outcome(replay, player) for player in replay.players} in ({"won", "lost"}, {"tied"})


def test_an_unfinished_recording_is_explained_up_to_its_last_whole_line(tmp_path: Path) -> None:
    lines = gzip.decompress((GOLDEN / "2-players-1.jsonl.gz").read_bytes()).splitlines(keepends=True)
    part = tmp_path / "part.jsonl"
    part.write_bytes(b"".join(lines[:40]))
    shown = CliRunner().invoke(command, [str(part), *FEW], catch_exceptions=False).stdout
    assert " so far: luck " in shown
    part.write_bytes(b"".join(lines[:40])[:-10])
    with pytest.raises(SalvoError, match=r"transcript_cut: .*, line 40: the line is not whole"):
        CliRunner().invoke(command, [str(part), *FEW], catch_exceptions=False)
    begun = next(count for count, line in enumerate(lines) if b'"fire"' in line)
    part.write_bytes(b"".join(lines[:begun]))
    page = tmp_path / "part.html"
    with_page = CliRunner().invoke(command, [str(part), *FEW, "--html", str(page)], catch_exceptions=False)
    assert with_page.stdout.splitlines()[1:] == ["no salvo was fired"]
    assert with_page.stderr == f"page: {page}\n"
    assert "<pre>no salvo was fired</pre>" in page.read_text()
    part.write_bytes(b"".join(lines[:3]))
    with pytest.raises(SalvoError, match=r"not_begun: .*: the game has not begun; at the table: "):
        CliRunner().invoke(command, [str(part), *FEW], catch_exceptions=False)


def test_a_page_has_the_maps_of_the_salvos(tmp_path: Path) -> None:
    page = tmp_path / "turn.html"
    _run("2-players-1", "--turn", "6", "--html", str(page))
    written = page.read_text()
    assert written.startswith("<!doctype html>")
    assert """content="default-src 'none'; style-src 'unsafe-inline'\"""" in written
    assert " src=" not in written
    assert written.count("<table") == 1
    assert "fired: " in written
    assert len(re.findall('<td title="[A-J][0-9]+: [0-9.]+%', written)) == 100
    assert "<script" not in written


# --- luck and skill -----------------------------------------------------------------------------------------------


def test_a_page_draws_the_luck_and_skill_that_the_lines_have(tmp_path: Path) -> None:
    page = tmp_path / "game.html"
    luck = luck_of(_run("2-players-small", "--html", str(page)))
    replay = golden_replay("2-players-small")
    found = accounts(replay, explain(replay, Explainer(f"{replay.header.seed}/{replay.header.game}", 100)))
    assert [one.player for one in luck.fortunes] == list(found)
    for one, own in zip(luck.fortunes, found.values(), strict=True):
        assert (one.came, one.hits) == (outcome(replay, one.player), own.hits)
        assert (one.luck, one.expected) == pytest.approx((own.luck.value, own.expected), abs=0.06)
        assert one.skill == pytest.approx(min(1, own.skill.value), abs=0.006)
    written = page.read_text()
    assert written.count('<rect class="promised"') == len(found)
    assert written.index(luck.meaning) < written.index('<rect class="promised"') < written.index(luck.lines[0])


@pytest.mark.parametrize(
    ("skill", "luck", "received", "why"),
    [
        (
            (0.9, 0.8, 0.7),
            (1, 0, 0),
            (9, 9, 9),
            "a won by skill: its shots were 90% of the best, those of b 80%; it had",
        ),
        ((0.9, 0.8, 0.7), (1, 0, 2), (9, 9, 9), "those of b 80%; c had the most luck."),
        ((0.5, 0.6, 0.7), (1, 0, 0), (9, 9, 9), "a won by luck: its shots were 50% of the best, those of c 70%."),
        ((0.5, 0.6, 0.7), (0, 1, 0), (1, 9, 9), "a won, since few fired at it, 1 of 19 shots: its shots were 50%"),
        ((0.5, 0.6, 0.7), (0, 1, 0), (9, 9, 9), "a won all the same: its shots were 50% of the best, those of c 70%;"),
    ],
)
def test_a_sentence_has_what_decided_a_game(
    skill: Sequence[float], luck: Sequence[float], received: Sequence[int], why: str
) -> None:
    found = {
        name: GameAccount(1, 1, 1, 1.0, Estimate(luck[seat], 0), 1.0, 1.0, Estimate(skill[seat], 0), True)
        for seat, name in enumerate("abc")
    }
    came = {"a": "won", "b": "lost", "c": "lost"}
    assert why in meaning(found, came, dict(zip("abc", received, strict=True)))
    assert meaning(found, dict.fromkeys(came, "tied"), {}) == "Nobody won alone."


# --- nothing leaks ------------------------------------------------------------------------------------------------


def test_what_is_explained_of_two_games_that_differ_only_in_hidden_cells_is_the_same() -> None:
    moved = Fleet(BOB.book, [*BOB.placements[1:], replace(BOB.placements[0], x=6)])
    one, other = (
        explain(play({"alice": ALICE, "bob": bob}, [*AT_BOB, *AT_ALICE]), Explainer(fleets=100)) for bob in (BOB, moved)
    )
    assert [each.player for each in one] == ["alice", "bob"]
    assert one == other
    assert one[0].hits == 2
