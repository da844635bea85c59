"""``salvo verify``: what it prints of proofs, of several files of one game, and of files that are no proof."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kit.proofs import IDENTITY, LOOSE, SMALL, Entries, Played, cheated
from salvo.cli import cli
from salvo.wire.seal import fingerprint
from salvo_game.recordings import open_recordings
from salvo_server.storage.identity import Identity

HONEST = Played("honest", SMALL, trouble=0.1).play()
LINES = HONEST.proof()


# --- several files ----------------------------------------------------------------------------------------------------


def test_a_part_of_a_game_is_compared_with_the_whole(tmp_path: Path) -> None:
    files = {"full": LINES, "middle": LINES[10:30], "begin": LINES[:12]}
    for name, lines in files.items():
        (tmp_path / name).write_bytes(b"".join(lines))
    code, printed = _run(*(str(tmp_path / name) for name in files))
    assert code == 1
    assert f"{tmp_path / 'middle'}, line 1: NOT PROVEN: the file is incomplete: the opening" in printed
    assert "3 files: the same story of game 1, 30 entries compared" in printed
    code, printed = _run(str(tmp_path / "full"), str(tmp_path / "full"))
    assert code == 0
    assert f"2 files: the same story of game 1, {len(LINES)} entries compared" in printed
    record = json.loads(_run(str(tmp_path / "full"), str(tmp_path / "middle"), "--json")[1].splitlines()[1])
    files_of_it = [str(tmp_path / "full"), str(tmp_path / "middle")]
    assert record["same_story"] == [{"files": files_of_it, "entries": 20}]


def test_a_partial_proof_that_contradicts_a_full_one_convicts_the_server(tmp_path: Path) -> None:
    other = Played("honest", SMALL, trouble=0.1).lobby()
    other.random.seed(9)
    theirs = other.fight().proof()
    first = next(number for number, line in enumerate(theirs) if line != LINES[number])
    (tmp_path / "full").write_bytes(b"".join(LINES))
    (tmp_path / "part").write_bytes(b"".join(theirs[first - 2 :]))
    code, printed = _run(str(tmp_path / "full"), str(tmp_path / "part"))
    assert code == 1
    verdict = (
        f"part, line 3: NOT FAIR: the server contradicts itself: of game 1 two histories were signed after entry "
        f"{first - 1}: by a lost journal or on purpose, the log cannot show; entry {first} is another one in"
    )
    assert verdict in printed
    assert f"full, line {first + 1}, and both are signed" in printed
    assert "the same story" not in printed


# --- the command ------------------------------------------------------------------------------------------------------


def _run(*given: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli, ["verify", *given])
    return done.exit_code, done.output


def _another_winner(entries: Entries) -> None:
    [won] = [
        printed["won"] for entry in entries for printed in entry.get("step", {}).get("said", []) if "won" in printed
    ]
    won["winner"] = "team1" if won["winner"] == "team0" else "team0"


def _nothing_revealed(entries: Entries) -> None:
    entries[:] = [entry for entry in entries if "reveal" not in entry]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "game.proof.jsonl"
    path.write_bytes(b"".join(LINES))
    return path


def test_the_command_names_file_line_and_who_is_at_fault(file: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.proof.jsonl"
    [won] = [number for number, line in enumerate(LINES) if b'"won"' in line]
    bad.write_bytes(b"".join(cheated(LINES, _another_winner)))
    code, printed = _run(str(file), str(bad))
    assert code == 1
    assert f"{bad}, line {won + 1}: NOT FAIR: the server cheated: by the rules" in printed
    code, printed = _run(str(bad), "--json")
    record = json.loads(printed)
    assert (code, record["fair"], record["line"], record["fault"]) == (1, False, won + 1, "server")


@pytest.fixture
def four() -> list[list[bytes]]:
    """Three games and a fourth, one after the other."""
    return [LINES, *(Played(f"game {number}", LOOSE).play().proof() for number in (2, 3, 4))]


def _verdicts(path: Path, games: list[list[bytes]]) -> tuple[int, str, dict[str, Any]]:
    path.write_bytes(b"".join(line for lines in games for line in lines))
    code, printed = _run(str(path))
    return code, printed, json.loads(_run(str(path), "--json")[1])


def test_a_last_game_that_is_under_way_is_no_fault_of_the_others(tmp_path: Path, four: list[list[bytes]]) -> None:
    won = next(number for number, line in enumerate(four[3]) if b'"won"' in line)
    begun = next(number for number, line in enumerate(four[3]) if b'"state":"turn"' in line)
    code, printed, record = _verdicts(tmp_path / "a", [*four[:3], four[3][:won]])
    assert (code, printed.count(": fair: game 1: "), record["fair"]) == (0, 3, True)
    assert (
        f": under way: game 1: team0, team1; nothing is revealed yet; starter chosen fairly; {won} entries" in printed
    )
    assert [game["verdict"] for game in record["games"]] == ["fair", "fair", "fair", "under way"]
    assert _verdicts(tmp_path / "a", [*four[:3], four[3][:begun]])[2]["games"][3]["verdict"] == "not begun"
    for games, line in (
        ([*four[:3], four[3][: won + 1]], sum(map(len, four[:3])) + won + 2),  # now the server owes what was hidden
        ([*four[:2], four[3][:won], four[2]], sum(map(len, four[:2])) + won + 1),  # another one has begun since
    ):
        code, printed, record = _verdicts(tmp_path / "a", games)
        assert (code, record["line"], record["fault"], printed.count(": fair: ")) == (
            1,
            line,
            "incomplete",
            len(games) - 1,
        )
    assert _verdicts(tmp_path / "a", [four[3][:won]])[0] == 1  # nothing is known of it


def test_a_gap_or_a_changed_line_in_one_game_hides_no_verdict_on_the_others(
    tmp_path: Path, four: list[list[bytes]]
) -> None:
    gap = [LINES[:7] + LINES[8:], *four[1:3], cheated(four[3], _nothing_revealed)[:-1]]
    gap[3] = cheated(four[3], lambda entries: entries[-1]["end"].update(steps=1))
    code, printed, record = _verdicts(tmp_path / "a", gap)
    assert code == 1
    assert "line 8: NOT PROVEN: the file is incomplete: entry 7 is missing before entry 8 of game 1" in printed
    assert printed.count(": fair: ") == 2
    assert "NOT FAIR: the server cheated: by the rules the entry" in printed
    assert [game["verdict"] for game in record["games"]] == ["not proven", "fair", "fair", "not fair"]
    assert record["games"][0]["line"] == 8
    assert (record["line"], record["fault"]) == (sum(map(len, gap)), "server")  # of all, who is to blame goes first
    changed = [*LINES[:7], LINES[7].replace(b'"at":1', b'"at":2', 1), *LINES[8:]]
    code, printed, record = _verdicts(tmp_path / "a", [*four[1:3], changed])
    assert (code, printed.count(": fair: "), printed.count("NOT ")) == (1, 2, 1)
    assert f"line {len(four[1]) + len(four[2]) + 8}: NOT FAIR: the file was changed" in printed
    assert [game["fault"] for game in record["games"]] == [None, None, "file"]


def test_a_file_that_is_no_proof_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "red.txt").write_text("hunter2 is the secret\nof red\n")
    for given in ([], ["--json"]):
        code, printed = _run(str(tmp_path / "red.txt"), *given)
        assert (code, "hunter2" in printed, "this is not a proof" in printed or "no_proof" in printed) == (
            1,
            False,
            True,
        )


@pytest.mark.parametrize("spaces", [True, False])
def test_a_pinned_key_is_compared(file: Path, spaces: bool) -> None:
    mine, other = fingerprint(IDENTITY.signing_key), fingerprint(Identity(bytes(32)).signing_key)
    if not spaces:
        mine, other = mine.replace(" ", ""), other.replace(" ", "")
    assert _run(str(file), "--key", mine)[0] == 0
    code, printed = _run(str(file), "--key", other)
    assert code == 1
    assert "line 1: NOT PROVEN: another server signed it: signed by the server" in printed
    assert "--key asks for" in printed
    key = base64.b64encode(IDENTITY.signing_key).decode()
    assert _run(str(file), "--key", key)[0] == 0
    code, printed = _run(str(file), "--key", "what")
    assert code == 2
    assert "neither a fingerprint of 16 hexadecimal digits nor a key" in printed


def test_verify_names_what_a_file_is_that_is_no_proof(file: Path, tmp_path: Path) -> None:
    packed, plain = tmp_path / "game.jsonl.gz", tmp_path / "other.jsonl"
    for path in (packed, plain):
        open_recordings(str(file)).export(path)
    verdict = f"{packed}, line 1: NOT PROVEN: this is not a proof: a transcript, which is unsigned; the proof is {file}"
    code, printed = _run(str(packed))
    assert (code, verdict in printed) == (1, True)
    assert "a server writes its proof next to it, other.proof.jsonl" in _run(str(plain))[1]
    for name, content in (("a.txt", b"hello\nworld\n"), ("b.bin", bytes(range(256))), ("c.gz", b"\x1f\x8bnonsense")):
        other = tmp_path / name
        other.write_bytes(content)
        code, printed = _run(str(other))
        assert code == 1
        assert f"{other}, line 1: NOT PROVEN: this is not a proof: " in printed
        assert json.loads(_run(str(other), "--json")[1])["fault"] == "no_proof"
