"""Servers that cheat and sign what they say, and what `salvo verify` makes of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import chain, repeat
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kit.proofs import BOOKS, IDENTITY, LOOSE, SMALL, Entries, Played, cheated, entries_of, notes_of, signed, verify
from salvo import messages as m
from salvo.codec.log import MAX_ENTRY_BYTES, message_digest
from salvo.codec.log_reader import Fault
from salvo.errors import SalvoError
from salvo.fairness.proof import Proof, write_sent
from salvo.messages import Draw
from salvo.rules import RuleBook
from salvo_server.log_verification import compare_stories, verify_file, verify_lines
from salvo_server.recordings import open_recordings
from salvo_server.storage.identity import Identity
from salvo_server.storage.transcript_folder import proof_lines

HONEST = Played("honest", SMALL, trouble=0.1).play()
LINES = HONEST.proof()
ENTRIES = entries_of(LINES)


def _line(kind: str, nth: int = 0) -> int:
    """The line of the nth entry in which something of a kind is said, or which is of that kind."""
    found = [
        number
        for number, entry in enumerate(ENTRIES, start=1)
        if kind in entry or any(kind in each for each in entry.get("step", {}).get("said", []))
    ]
    return found[nth]


def _said(entries: Entries, kind: str, nth: int = 0) -> dict[str, Any]:
    step = entries[_line(kind, nth) - 1]["step"]
    found: dict[str, Any] = next(each[kind] for each in step["said"] if kind in each)
    return found


def _reveal(entries: Entries) -> dict[str, Any]:
    found: dict[str, Any] = entries[_line("reveal") - 1]["reveal"]
    return found


def _cut_a_shot(entries: Entries) -> None:
    """Leave a shot out: as if it had never come, and the salvo had been as good without it."""
    step = entries[_line("result") - 1]["step"]
    number = sum(len(entry["step"]["hidden"]) for entry in entries[: _line("result") - 1] if "step" in entry)
    del step["hidden"][0]
    texts = _reveal(entries)["texts"]
    del texts[number]
    entries[-1]["end"]["hidden"] -= 1


def _text(entries: Entries, change: Callable[[str], str]) -> None:
    texts = _reveal(entries)["texts"]
    changed = next(number for number, text in enumerate(texts) if change(text) != text)
    texts[changed] = change(texts[changed])


@pytest.mark.parametrize("book", BOOKS, ids=[book.name for book in BOOKS])
@pytest.mark.parametrize("seed", range(2))
def test_a_game_by_any_book_is_proven_fair(book: RuleBook, seed: int) -> None:
    report = verify(Played(seed, book, players=3, trouble=0.1).play().proof())
    assert report.finding is None
    assert [game.ended for game in report.games] == [True]


CHEATS: dict[str, tuple[Callable[[Entries], object], int | None, str]] = {
    "a board changed after its commitment": (
        lambda e: _text(e, lambda text: text.replace("HORIZONTAL", "VERTICAL")),
        _line("reveal"),
        "does not open the commitment of line",
    ),
    "a shot at another cell than it was fired at": (
        lambda e: _text(e, lambda text: text.replace('"x":1', '"x":2') if "fire" in text else text),
        _line("reveal"),
        "does not open the commitment of line",
    ),
    "a starter of its choice": (
        lambda e: _said(e, "turn").update(player="team1" if _said(e, "turn")["player"] == "team0" else "team0"),
        _line("turn"),
        "by the rules the server says",
    ),
    "a dropped shot": (_cut_a_shot, _line("reveal"), "does not open the commitment"),
    "a hit too many": (
        lambda e: _said(e, "result").update(hits=_said(e, "result")["hits"] + 1),
        _line("result"),
        "by the rules the server says",
    ),
    "a ship that did not sink": (
        lambda e: _said(e, "result", -1).update(sunk=[]),
        _line("result", -1),
        "by the rules the server says",
    ),
    "another winner": (
        lambda e: _said(e, "won").update(winner="team1" if _said(e, "won")["winner"] == "team0" else "team0"),
        _line("won"),
        "by the rules the server says",
    ),
    "a better place": (lambda e: _said(e, "stats").update(shots=1), _line("stats"), "by the rules the server says"),
    "more time for a friend": (
        lambda e: _said(e, "turn").update(deadline=_said(e, "turn")["deadline"] + 1),
        _line("turn"),
        "by the rules the server says",
    ),
    "a secret that does not open": (
        lambda e: _reveal(e).update(secret="00" * 32),
        _line("reveal"),
        "do not open the commitment of line 1",
    ),
    "another seed": (
        lambda e: _reveal(e).update(seed="00" * 32),
        _line("reveal"),
        "do not open the commitment of line 1",
    ),
    "a salvo that nobody hears of": (
        lambda e: e.pop(_line("result") - 1),
        _line("reveal") - 1,
        "does not open the commitment",
    ),
    "a salvo that nobody fired": (
        lambda e: e.insert(_line("result") - 1, {"step": {**e[_line("result") - 1]["step"], "hidden": []}}),
        _line("result"),
        "nothing led to what is said here",
    ),
    "an approval for a rival's placement": (
        lambda e: _said(e, "judged").update(player="team1"),
        _line("judged"),
        "by the rules the server says",
    ),
    "a team that never asked": (
        lambda e: e[1]["step"].update(
            said=[{"players": {"names": ["ghost"]}}], input={"participate": {"name": "ghost"}}
        ),
        None,
        "by the rules the server says",
    ),
    "another message for a placement": (
        lambda e: e[_line("judged") - 1]["step"].update(message="00" * 16),
        _line("judged"),
        "the message was",
    ),
    "time that goes back": (lambda e: e[2]["step"].update(at=1), 3, "is before the one of what came before"),
    "another time for a placement": (
        lambda e: e[_line("judged") - 1]["step"].update(at=e[_line("judged") - 1]["step"]["at"] + 1),
        _line("judged"),
        "what led to it was at",
    ),
    "texts kept back": (lambda e: _reveal(e)["texts"].pop(), _line("end"), "texts revealed"),
    "nothing revealed": (lambda e: e.pop(_line("reveal") - 1), _line("reveal"), "nothing was revealed"),
    "an end that counts otherwise": (lambda e: e[-1]["end"].update(steps=1), _line("end"), "by the rules the entry"),
    "a word behind the end": (lambda e: e.append(e[2]), _line("end") + 1, "comes after the end"),
    "an end before the end": (
        lambda e: e.__delitem__(slice(_line("result"), _line("reveal") - 1)),
        None,
        "",
    ),
    "something that is no entry": (lambda e: e[3]["step"].update(more=1), 4, "signed by the server, and no entry"),
    "an announcement that is none": (
        lambda e: e[3]["step"]["said"].append({"landed": {"to": "team0", "x": 1, "y": 1}}),
        4,
        "signed by the server, and no entry",
    ),
    "a refused command among the hidden ones": (
        lambda e: e[_line("judged", 3) - 1]["step"]["hidden"].append("00" * 32),
        None,
        "",
    ),
}


@pytest.mark.parametrize("name", CHEATS)
def test_a_server_that_cheats_is_found_out(name: str) -> None:
    cheat, line, text = CHEATS[name]
    finding = verify(cheated(LINES, cheat)).finding
    assert finding is not None
    assert finding.fault is Fault.SERVER
    assert text in finding.text
    if line is not None:
        assert finding.line == line


def test_the_honest_game_of_these_cheats_is_fair() -> None:
    report = verify(LINES)
    assert (report.finding, report.remarks) == (None, [])
    assert verify(signed(ENTRIES)).finding is None


def test_a_ship_that_the_rules_do_not_have_is_the_servers_doing() -> None:
    played = Played("crooked", SMALL).lobby()
    played.fight()
    step = next(step for step in played.steps if isinstance(step.command, m.PlaceShip))
    crooked = step.text.replace('"spelling":"raft', '"spelling":"ghost')
    steps = [each._replace(text=crooked) if each is step else each for each in played.steps]
    finding = verify(proof_lines(played.header, steps, IDENTITY)).finding
    assert finding is not None
    assert finding.fault is Fault.SERVER
    assert "cannot be carried out" in finding.text


def test_a_teams_message_has_a_say_in_the_draw() -> None:
    """The same secret and the same boards; only the random bytes of one message differ."""
    starters = set()
    for number in range(20):
        played = Played("same", SMALL)
        played.message = number * 100
        referee = played.lobby().table.referee
        assert referee.current is not None
        starters.add(referee.current.name)
    assert starters == {"team0", "team1"}


# --- two stories ------------------------------------------------------------------------------------------------------


def test_a_server_that_tells_two_stories_of_a_game_is_found_out_though_both_are_consistent() -> None:
    one, other = Played("story", SMALL).lobby(), Played("story", SMALL).lobby()
    other.random.seed(5)
    first, second = (
        verify_named("one", one.fight().proof()),
        verify_named("two", other.fight().proof()),
    )
    assert first.finding is None
    assert second.finding is None
    [finding] = compare_stories([first, second])
    assert finding.fault is Fault.SERVER
    begun = next(n for n, line in enumerate(one.proof(), start=1) if line != other.proof()[n - 1])
    assert (finding.file, finding.line) == ("two", begun)
    assert f"in one, line {begun}, and both are signed" in finding.text


def verify_named(name: str, lines: list[bytes]) -> Any:
    return verify_lines(iter(lines), name)


def test_two_openings_of_one_game_are_two_stories_when_both_games_were_on_at_a_time() -> None:
    one, other = Played("first", SMALL).play(), Played("second", SMALL).play()
    [finding] = compare_stories([verify_named("one", one.proof()), verify_named("two", other.proof())])
    assert (finding.line, finding.fault) == (1, Fault.SERVER)


def test_two_games_at_a_time_are_two_stories_whatever_their_numbers() -> None:
    one, other = Played("first", SMALL).play(), Played("second", SMALL)
    renumbered = entries_of(other.play().proof())
    for entry in renumbered:
        text = json.dumps(entry).replace('"game": 1', '"game": 2')
        entry.update(json.loads(text))
    second = verify_named("two", signed(renumbered))
    [finding] = compare_stories([verify_named("one", one.proof()), second])
    assert (finding.line, finding.fault) == (1, Fault.SERVER)


def test_games_that_one_listener_heard_both_of_are_two_though_a_clock_was_set_back() -> None:
    one, other = Played("first", SMALL).play().proof(), Played("second", SMALL).play().proof()
    assert compare_stories([verify_named("both", [*one, *other]), verify_named("two", [*one, *other])]) == []
    assert compare_stories([verify_named("both", [*one, *other]), verify_named("two", other)]) == []


def test_the_same_story_twice_is_one_story_and_a_cut_one_is_none_of_its_own() -> None:
    reports = [verify_named(name, lines) for name, lines in (("one", LINES), ("two", LINES), ("cut", LINES[:9]))]
    assert compare_stories(reports) == []


# --- a team's own commands --------------------------------------------------------------------------------------------


def test_a_team_finds_all_its_own_commands_in_the_log() -> None:
    report = verify([*LINES, *notes_of(HONEST, "team0"), *notes_of(HONEST, "team1")])
    assert report.finding is None
    for team in HONEST.names:
        assert any(re.match(rf"{team} in game 1: .* \d+ placements are proven", each) for each in report.remarks)
        assert any(re.match(rf"{team} in game 1: .* \d+ shots fit .* own word", each) for each in report.remarks)


def test_a_shot_that_is_not_noted_decides_nothing() -> None:
    """Who deletes a line of a team's notes makes no cheat out of an honest server."""
    notes = notes_of(HONEST, "team0")
    shots = [note for note in notes if b"/fire" in note]
    counted = next(
        note for note in shots if verify([*LINES, *(each for each in notes if each is not note)]).finding is not None
    )
    finding = verify([*LINES, *(note for note in notes if note is not counted)]).finding
    assert finding is not None
    assert (finding.line, finding.fault) == (_line("reveal"), Fault.UNDECIDED)
    assert re.search(r"a shot at [A-J]\d+ of ", finding.text)
    assert "of team0 counted that team0 has not noted" in finding.text


@pytest.mark.long
def test_a_note_that_was_changed_accuses_nobody_and_a_changed_message_does_not_pass() -> None:
    notes = notes_of(HONEST, "team1")
    counted = {step.command.message.hex() for step in HONEST.steps if isinstance(step.command, m.PlaceShip)}
    told = {entry.get("step", {}).get("message") for entry in ENTRIES}
    for place, note in enumerate(notes):
        sent = json.loads(note)["sent"]
        changes: list[dict[str, Any]] = [{**sent, "team": "team0"}]
        if "body" in sent:
            changes.append({**sent, "body": {**sent["body"], "x": sent["body"]["x"] % 4 + 1}})
        if sent.get("message") in counted & told:
            changes.append({**sent, "message": "ab" * 16})
        lines = [json.dumps({"sent": changed}).replace(" ", "").encode() + b"\n" for changed in changes]
        for kept in ([], *([line] for line in lines)):
            report = verify([*LINES, *notes[:place], *kept, *notes[place + 1 :]])
            assert report.finding is None or report.finding.fault is Fault.UNDECIDED
            if kept and "ab" * 16 in kept[0].decode():
                assert report.finding is not None


@pytest.mark.parametrize("context", [m.TurnContext(1, 1), None])
def test_a_teams_skips_are_in_its_proof(context: m.TurnContext | None) -> None:
    played = Played("skips", BOOKS[3]).lobby()
    current = played.table.referee.current
    assert current is not None
    assert played.header.rules.book.skipping
    played.do(m.Skip(current.name, context))
    lines, notes = played.fight().proof(), notes_of(played, current.name)
    report = verify([*lines, *notes])
    assert report.finding is None
    assert any("shots and 1 skips fit the log" in remark for remark in report.remarks)
    finding = verify([*lines, *(note for note in notes if b"/skip" not in note)]).finding
    assert finding is not None
    assert (finding.fault, f"a skip of {current.name} counted" in finding.text) == (Fault.UNDECIDED, True)


def test_a_bot_that_came_back_and_placed_all_anew_accuses_nobody() -> None:
    played = Played("anew", SMALL)
    for name in played.names:
        played.do(m.Participate(name, b""))
    first = played.header.rules.book.random_fleet(played.random).placements[0]
    played.place("team0", first)
    lost = played.steps[-1].command
    assert isinstance(lost, m.PlaceShip)
    for name in played.names:
        for placement in played.header.rules.book.random_fleet(played.random).placements:
            played.place(name, placement)
    lines = played.fight().proof()
    notes = [note for note in notes_of(played, "team0") if lost.message.hex().encode() not in note]
    assert len(notes) < len(notes_of(played, "team0"))
    assert verify([*lines, *notes]).finding is None


def test_a_lobby_that_was_given_up_for_another_is_remarked() -> None:
    """The server knows the secret, so it might have seen that its friend would not begin."""
    given_up = Played("first try", SMALL).lobby()
    cut = next(n for n, line in enumerate(given_up.proof()) if b'"state":"turn"' in line)
    report = verify([*given_up.proof()[:cut], *LINES])
    assert report.finding is None
    placed = sum(b'"message"' in line for line in given_up.proof()[:cut])
    assert any(f"gave it up after {placed} placements" in remark for remark in report.remarks)
    assert not any("gave it up" in remark for remark in verify([*LINES, *given_up.proof()[:cut]]).remarks)


def test_a_note_has_nothing_secret() -> None:
    assert write_sent("a", "/game/request_participation", b'{"name":"a","secret":"x"}') is None
    payload = b'{"data":{"x":3,"y":4},"signature":"sealed"}'
    note = write_sent("a", "/players/b/fire", payload)
    assert note is not None
    body = {"team": "a", "topic": "/players/b/fire", "body": {"x": 3, "y": 4}}
    assert json.loads(note) == {"sent": body}
    placed = write_sent("a", "/players/a/ships/raft/place", b"blob")
    assert placed is not None
    digest = message_digest("/players/a/ships/raft/place", b"blob").hex()
    body = {"team": "a", "topic": "/players/a/ships/raft/place", "message": digest}
    assert json.loads(placed) == {"sent": body}


# --- proof files in the making ----------------------------------------------------------------------------------------


def test_a_proof_has_every_entry_once_and_in_order_however_it_was_heard(tmp_path: Path) -> None:
    path = tmp_path / "a.proof.jsonl"
    begun = _line("turn")
    heard = [*LINES[3:begun], *LINES[: begun + 2], *LINES[begun - 2 :]]
    with closing(Proof(path)) as proof:
        for line in heard:
            proof.hear(line[:-1])
        assert proof.games == 1
    assert path.read_bytes() == b"".join(LINES)


def test_a_proof_keeps_what_a_reader_must_see(tmp_path: Path) -> None:
    path = tmp_path / "a.proof.jsonl"
    with closing(Proof(path)) as proof:
        for line in LINES[2:9]:
            proof.hear(line[:-1])
        proof.hear(b"noise\nof somebody")
    finding = verify_file(path).finding
    assert finding is not None
    assert finding.line == 1
    assert path.read_bytes().count(b"\n") == 8


def test_a_file_of_wrong_lines_is_given_up_after_a_thousand_and_the_first_is_named() -> None:
    read = 0

    def lines() -> Iterator[bytes]:
        nonlocal read
        for line in chain(LINES[:2], repeat(b"{}\n")):
            read += 1
            yield line

    report = verify_lines(lines(), "junk")
    assert report.finding is not None
    assert (report.finding.line, report.finding.fault) == (3, Fault.FILE)
    assert "1000 lines are wrong; it was not read beyond line 1002" in report.remarks
    assert read == 1002


def test_a_line_that_is_too_long_is_one_line_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "long.proof.jsonl"
    file.write_bytes(b"".join([*LINES[:2], b"x" * 3 * MAX_ENTRY_BYTES + b"\n", b"\n", b"y\n"]))
    report = verify_file(file)
    assert report.finding is not None
    assert (report.finding.line, "longer than any entry" in report.finding.text) == (3, True)
    file.write_bytes(b"".join([*LINES[:2], b"\n", b"y" * 3 * MAX_ENTRY_BYTES]))
    report = verify_file(file)
    assert report.finding is not None
    assert report.finding.line == 4


@pytest.mark.parametrize("killed", [0, 1, 7, 30])
def test_a_bot_that_was_killed_goes_on_with_its_proof(tmp_path: Path, killed: int) -> None:
    path = tmp_path / "a.proof.jsonl"
    first = Proof(path)
    first.sent("team0", "/players/team0/ships/raft0/place", b"blob")
    for line in LINES[:killed]:
        first.hear(line[:-1])
    with path.open("ab") as file:
        file.write(LINES[killed][:50])  # it was writing
    first._file.close()
    with closing(Proof(path)) as proof:
        assert proof.games == 0
        for line in [*LINES[killed + 3 :], *LINES]:
            proof.hear(line[:-1])
        assert proof.games == 1
        assert proof.summary() == f"{path}: game 1 is whole"
    noted, *lines = path.read_bytes().splitlines(keepends=True)
    assert noted.startswith(b'{"sent":')
    assert lines == LINES


def test_a_file_with_something_else_in_it_is_no_proof_to_go_on_with(tmp_path: Path) -> None:
    path = tmp_path / "report.txt"
    path.write_text("a report\nof somebody\n")
    with pytest.raises(SalvoError, match=r"not_a_proof: .*report.txt is there, and no proof"):
        Proof(path)
    assert path.read_text() == "a report\nof somebody\n"


def test_a_proof_says_at_the_end_whether_it_is_whole(tmp_path: Path) -> None:
    more = Played("more", LOOSE).play().proof()
    for lines, told in (
        ([*LINES, *more], "game 1 is whole, game 1 is whole"),
        ([*LINES, *more[:3]], "game 1 is whole"),
        (LINES[:2], "no game has begun"),
        (LINES[:-1], f"game 1 ends with entry {len(LINES) - 2}, before the server has revealed it"),
        ([*LINES[:7], *LINES[9:]], "game 1 lacks entries from 7 on"),
        (LINES[30:], "a game lacks entries from 0 on"),
    ):
        path = tmp_path / "a.proof.jsonl"
        path.unlink(missing_ok=True)
        with closing(Proof(path)) as proof:
            for line in lines:
                proof.hear(line[:-1])
        assert proof.summary() == f"{path}: {told}"


# --- any order --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_entries_in_any_order_and_more_than_once_are_the_same_game(seed: int) -> None:
    random = Random(seed)
    other = Played(f"more {seed}", LOOSE)
    other.message = 1000
    more = other.play().proof()
    lines = [*LINES, *more]
    lines += [*random.sample(lines, 20), *notes_of(HONEST, "team0"), *notes_of(other, "team0")]
    random.shuffle(lines)
    report = verify(lines)
    assert report.finding is None
    assert sorted(len(game.lines) for game in report.games) == sorted((len(LINES), len(more)))
    changed = random.randrange(len(lines))
    place = random.randrange(9 if b'"sent"' in lines[changed] else len(lines[changed]) - 1)
    spoilt = bytearray(lines[changed])
    spoilt[place] ^= 1 << random.randrange(7)
    finding = verify([*lines[:changed], bytes(spoilt).replace(b"\n", b" ")[:-1] + b"\n", *lines[changed + 1 :]]).finding
    assert finding is not None
    assert (finding.line, finding.fault) == (changed + 1, Fault.FILE)


@pytest.mark.parametrize("draw", list(Draw))
def test_two_entries_of_a_number_in_one_file(draw: Draw) -> None:
    """With an explicit seed a server without a journal opens the next first game in the very same words."""
    one, other = Played(5, SMALL, draw=draw).lobby(), Played(5, SMALL, draw=draw).lobby()
    other.random.seed(5)
    first, second = one.fight().proof(), other.fight().proof()
    number = next(n for n, line in enumerate(first) if line != second[n])
    finding = verify([*first, second[number]]).finding
    assert finding is not None
    assert finding.line == len(first) + 1
    assert f"two entries {number} of this game, the other is line {number + 1}" in finding.text
    assert finding.fault is (Fault.SERVER if draw is Draw.FAIR else Fault.UNDECIDED)


def test_another_servers_games_in_one_file_are_called_so() -> None:
    other = Played("other", SMALL).lobby().fight()
    theirs = proof_lines(other.header, other.steps, Identity(bytes(32)))
    finding = verify([*LINES, *theirs]).finding
    assert finding is not None
    assert (finding.line, finding.fault) == (len(LINES) + 1, Fault.STRANGER)


# --- as a recording ---------------------------------------------------------------------------------------------------


def test_a_proof_is_shown_again_like_a_transcript(tmp_path: Path) -> None:
    file = tmp_path / "game.proof.jsonl"
    file.write_bytes(b"".join(LINES))
    recordings = open_recordings(str(file))
    replay = recordings.replay()
    assert replay.players == ("team0", "team1")
    assert replay.frames("referee")[-1].winner == verify(LINES).games[0].winner
    out = tmp_path / "game.jsonl"
    steps = recordings.export(out)
    assert [(steps, count) for steps, count in open_recordings(str(out)).check()] == list(recordings.check())
    assert steps == open_recordings(str(out)).export(tmp_path / "again.jsonl")


def test_what_is_not_fair_is_not_shown(tmp_path: Path) -> None:
    bad = tmp_path / "bad.proof.jsonl"
    bad.write_bytes(b"".join(cheated(LINES, CHEATS["another winner"][0])))
    with pytest.raises(SalvoError, match=r"not_fair: .*, line \d+: the server cheated: .*; see: salvo verify"):
        open_recordings(str(bad)).replay()


# --- a team that goes from table to table -----------------------------------------------------------------------------


def _own(*parts: list[bytes], team: str = "team0") -> list[bytes]:
    """Return a team's own file: a whole game that it has played, and then what it heard elsewhere."""
    return [*LINES, *notes_of(HONEST, team), *(line for part in parts for line in part)]


def _begun(lines: list[bytes]) -> int:
    """Return the number of the entry with which a game begins."""
    steps = [entry.get("step", {}).get("said", []) for entry in entries_of(lines)]
    return next(number for number, said in enumerate(steps) if any("turn" in each for each in said))


def test_lobbies_of_which_a_team_heard_a_part_are_no_fault_of_its_proof() -> None:
    elsewhere = Played("elsewhere", SMALL, trouble=0.3, number=2).play().proof()
    begun = _begun(elsewhere)
    for lobby in (elsewhere[2:begun], [*elsewhere[:2], *elsewhere[4:begun]], elsewhere[begun - 1 : begun]):
        report = verify(_own(lobby))
        assert report.finding is None, report.finding
        assert [str(game) for game in report.games] == ["game 1"]
        assert any(remark.startswith("1 lobbies, or games of others") for remark in report.remarks)
        spectators = verify([*LINES, *lobby]).finding
        assert spectators is not None
        assert spectators.fault is Fault.INCOMPLETE


def test_a_game_of_which_a_team_heard_a_part_is_excused_only_if_others_played_it() -> None:
    elsewhere = Played("elsewhere", SMALL, players=3, number=2).play().proof()
    begun = _begun(elsewhere)
    for part in (elsewhere[begun + 1 :], [*elsewhere[:2], *elsewhere[begun + 1 :]]):
        own = verify(_own(part)).finding
        assert own is not None
        assert own.fault is Fault.INCOMPLETE
    others = [line.replace(b"team0", b"else0") for line in notes_of(HONEST, "team0")]
    for part in (elsewhere[begun + 1 :], [*elsewhere[:2], *elsewhere[begun + 1 :]]):
        report = verify([*LINES, *others, *part])
        assert report.finding is None, report.finding
        assert [game.verdict for game in report.games] == ["fair"]


def test_a_team_that_left_the_lobby_is_not_in_its_game_unless_it_returns() -> None:
    played = Played("left", SMALL, players=3, number=2)
    played.names.append("left")
    for name in played.names:
        played.do(m.Participate(name, b""))
    played.do(m.Leave("left", 2))
    heard = len(played.proof()) - 1
    played.names.pop()
    for name in played.names:
        for placement in SMALL.random_fleet(Random(1)).placements:
            played.place(name, placement)
    lines = played.fight().proof()
    own = [line.replace(b"team0", b"left") for line in notes_of(HONEST, "team0")]
    note = write_sent("left", "/players/left/leave", b'{"data":{"g":2},"signature":"x"}')
    again = write_sent("left", "/players/left/ships/raft0/place", b"blob")
    assert note is not None
    assert again is not None
    part = [*lines[:heard], note + b"\n", *lines[-4:]]
    assert verify([*LINES, *own, *part]).finding is None
    came_back = [*lines[:heard], note + b"\n", again + b"\n", *lines[-4:]]
    assert verify([*LINES, *own, *lines[:heard], *lines[-4:]]).finding is not None
    assert verify([*LINES, *own, *came_back]).finding is not None


def test_a_forgery_in_a_partly_heard_lobby_is_found() -> None:
    elsewhere = Played("elsewhere", SMALL, number=2).play().proof()
    begun = _begun(elsewhere)
    other = cheated(elsewhere, lambda entries: entries[3]["step"].update(at=7))
    unlinked = verify(_own([elsewhere[3], *other[4:begun]])).finding
    assert unlinked is not None
    assert (unlinked.fault, unlinked.line) == (Fault.SERVER, len(_own()) + 2)
    forked = verify(_own([elsewhere[3], other[3]])).finding
    assert forked is not None
    assert forked.fault is Fault.UNDECIDED
    forged = signed(entries_of(elsewhere), Identity(bytes(32)))[3:begun]
    finding = verify(_own(forged)).finding
    assert finding is not None
    assert finding.fault is Fault.FILE
    compared = compare_stories([verify(_own(elsewhere[3:begun])), verify(other)])
    assert any("two stories of game 2: entry 3 " in each.text and each.fault is Fault.SERVER for each in compared)
