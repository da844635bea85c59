"""Servers that cheat and sign what they say, and what `salvo verify` makes of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import chain, repeat
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kit.proofs import (
    BOOKS,
    IDENTITY,
    LOOSE,
    SMALL,
    Entries,
    Played,
    cheated,
    entries_of,
    notes_of,
    random_games,
    signed,
    verify,
)
from salvo import messages as m
from salvo.codec.log import message_digest
from salvo.codec.log_reader import Fault
from salvo.join.fairness.proof import Proof, write_sent
from salvo.messages import Draw
from salvo.rules import RuleBook
from salvo_game.log_verification import compare_stories, verify_lines
from salvo_server.storage.identity import Identity

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


def _announced(entries: Entries, kind: str, nth: int = 0) -> dict[str, Any]:
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
def test_the_log_of_a_game_by_any_rule_book_verifies_as_fair(book: RuleBook, seed: int) -> None:
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
        lambda e: _announced(e, "turn").update(
            player="team1" if _announced(e, "turn")["player"] == "team0" else "team0"
        ),
        _line("turn"),
        "by the rules the server announces",
    ),
    "a dropped shot": (_cut_a_shot, _line("reveal"), "does not open the commitment"),
    "a hit too many": (
        lambda e: _announced(e, "result").update(hits=_announced(e, "result")["hits"] + 1),
        _line("result"),
        "by the rules the server announces",
    ),
    "a ship that did not sink": (
        lambda e: _announced(e, "result", -1).update(sunk=[]),
        _line("result", -1),
        "by the rules the server announces",
    ),
    "another winner": (
        lambda e: _announced(e, "won").update(winner="team1" if _announced(e, "won")["winner"] == "team0" else "team0"),
        _line("won"),
        "by the rules the server announces",
    ),
    "a better place": (
        lambda e: _announced(e, "stats").update(shots=1),
        _line("stats"),
        "by the rules the server announces",
    ),
    "more time for a friend": (
        lambda e: _announced(e, "turn").update(deadline=_announced(e, "turn")["deadline"] + 1),
        _line("turn"),
        "by the rules the server announces",
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
        "no input led to these announcements",
    ),
    "an approval for a rival's placement": (
        lambda e: _announced(e, "judged").update(player="team1"),
        _line("judged"),
        "by the rules the server announces",
    ),
    "a team that never asked": (
        lambda e: e[1]["step"].update(
            said=[{"players": {"names": ["ghost"]}}], input={"participate": {"name": "ghost"}}
        ),
        None,
        "by the rules the server announces",
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
    "something that is no entry": (lambda e: e[3]["step"].update(more=1), 4, "signed by the server, but not an entry"),
    "an announcement that is none": (
        lambda e: e[3]["step"]["said"].append({"landed": {"to": "team0", "x": 1, "y": 1}}),
        4,
        "signed by the server, but not an entry",
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


def test_a_teams_message_influences_the_draw_of_the_starter() -> None:
    """The same secret and the same boards; only the random bytes of one message differ."""
    starters = set()
    for number in range(20):
        played = Played("same", SMALL)
        played.message = number * 100
        referee = played.lobby().table.referee
        assert referee.current is not None
        starters.add(referee.current.name)
    assert starters == {"team0", "team1"}


# --- two stories -------------------------------------------------------------------------------------------------


def test_two_consistent_but_different_logs_of_a_game_convict_the_server() -> None:
    one, other = Played("story", SMALL).lobby(), Played("story", SMALL).lobby()
    other.random.seed(5)
    first, second = (
        verify_named("one", one.fight().proof()),
        verify_named("two", other.fight().proof()),
    )
    assert first.finding is None
    assert second.finding is None
    [finding] = compare_stories([first, second])
    assert finding.fault is Fault.FORKED
    begun = next(n for n, line in enumerate(one.proof(), start=1) if line != other.proof()[n - 1])
    assert (finding.file, finding.line) == ("two", begun)
    assert f"in one, line {begun}, and both are signed" in finding.text


def verify_named(name: str, lines: list[bytes]) -> Any:
    return verify_lines(iter(lines), name)


def test_the_same_story_twice_is_one_story_and_a_cut_one_is_none_of_its_own() -> None:
    reports = [verify_named(name, lines) for name, lines in (("one", LINES), ("two", LINES), ("cut", LINES[:9]))]
    assert compare_stories(reports) == []


# --- a team's own commands ---------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_note_that_was_changed_accuses_nobody_and_a_changed_message_does_not_pass() -> None:
    notes = notes_of(HONEST, "team1")
    counted = {step.command.message.hex() for step in HONEST.steps if isinstance(step.command, m.PlaceShip)}
    steps_read = {entry.get("step", {}).get("message") for entry in ENTRIES}
    for place, note in enumerate(notes):
        sent = json.loads(note)["sent"]
        changes: list[dict[str, Any]] = [{**sent, "team": "team0"}]
        if "body" in sent:
            changes.append({**sent, "body": {**sent["body"], "x": sent["body"]["x"] % 4 + 1}})
        if sent.get("message") in counted & steps_read:
            changes.append({**sent, "message": "ab" * 16})
        lines = [json.dumps({"sent": changed}).replace(" ", "").encode() + b"\n" for changed in changes]
        for stored in ([], *([line] for line in lines)):
            report = verify([*LINES, *notes[:place], *stored, *notes[place + 1 :]])
            assert report.finding is None or report.finding.fault is Fault.UNDECIDED
            if stored and "ab" * 16 in stored[0].decode():
                assert report.finding is not None


def test_a_proofs_note_of_a_sent_command_contains_nothing_secret() -> None:
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


# --- proof files in the making -----------------------------------------------------------------------------------


def test_verification_stops_after_a_thousand_bad_lines_and_names_the_first() -> None:
    read = 0

    def lines() -> Iterator[bytes]:
        nonlocal read
        for line in chain(LINES[:2], repeat(b"{}\n", 3000)):
            read += 1
            yield line

    report = verify_lines(lines(), "junk")
    assert report.finding is not None
    assert (report.finding.line, report.finding.fault) == (3, Fault.FILE)
    assert "1000 lines are wrong; it was not read beyond line 1002" in report.remarks
    assert read == 1002


@pytest.mark.parametrize("killed", [0, 30])
def test_a_bot_that_was_killed_goes_on_with_its_proof(tmp_path: Path, killed: int) -> None:
    whole, path = tmp_path / "whole.proof.jsonl", tmp_path / "a.proof.jsonl"
    with closing(Proof(whole)) as first:
        first.sent("team0", "/players/team0/ships/raft0/place", b"blob")
        for line in LINES[:killed]:
            first.receive(line[:-1])
        path.write_bytes(whole.read_bytes() + LINES[killed][:50])  # it was writing
    with closing(Proof(path)) as proof:
        assert proof.games == 0
        for line in [*LINES[killed + 3 :], *LINES]:
            proof.receive(line[:-1])
        assert proof.games == 1
        assert proof.summary() == f"{path}: game 1 is whole"
    noted, *lines = path.read_bytes().splitlines(keepends=True)
    assert noted.startswith(b'{"sent":')
    assert lines == LINES


# --- any order ---------------------------------------------------------------------------------------------------


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
    assert f"two histories were signed after entry {number - 1}: by a lost journal or on purpose" in finding.text
    assert f"the other entry {number} is line {number + 1}" in finding.text
    assert finding.fault is (Fault.FORKED if draw is Draw.FAIR else Fault.UNDECIDED)


# --- a team that goes from table to table ------------------------------------------------------------------------


def _own(*parts: list[bytes], team: str = "team0") -> list[bytes]:
    """Return a team's own file: a whole game that it has played, and then what it heard elsewhere."""
    return [*LINES, *notes_of(HONEST, team), *(line for part in parts for line in part)]


def _begun(lines: list[bytes]) -> int:
    """Return the number of the entry with which a game begins."""
    steps = [entry.get("step", {}).get("said", []) for entry in entries_of(lines)]
    return next(number for number, announced in enumerate(steps) if any("turn" in each for each in announced))


def test_partly_received_lobbies_are_no_fault_of_a_teams_proof() -> None:
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


def test_a_forgery_in_a_partly_received_lobby_is_found() -> None:
    elsewhere = Played("elsewhere", SMALL, number=2).play().proof()
    begun = _begun(elsewhere)
    other = cheated(elsewhere, lambda entries: entries[3]["step"].update(at=7))
    unlinked = verify(_own([elsewhere[3], *other[4:begun]])).finding
    assert unlinked is not None
    assert (unlinked.fault, unlinked.line) == (Fault.FORKED, len(_own()) + 2)
    forked = verify(_own([elsewhere[3], other[3]])).finding
    assert forked is not None
    assert forked.fault is Fault.UNDECIDED
    forged = signed(entries_of(elsewhere), Identity(bytes(32)))[3:begun]
    finding = verify(_own(forged)).finding
    assert finding is not None
    assert finding.fault is Fault.FILE
    compared = compare_stories([verify(_own(elsewhere[3:begun])), verify(other)])
    assert any(
        "of game 2 two histories were signed after entry 2: " in each.text and each.fault is Fault.FORKED
        for each in compared
    )


# --- random games -------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_honest_games_pass() -> None:
    steps_read = 0
    for played in random_games(30):
        report = verify(played.proof())
        assert report.finding is None, report.finding
        assert report.key == IDENTITY.signing_key
        [game] = report.games
        assert game.winner in game.players
        assert sum(bool(step.announcements) for step in game.steps) <= len(played.steps)
        steps_read += len(game.published_steps)
    assert steps_read > 600


@pytest.mark.long
def test_a_changed_byte_is_found_and_its_line_named() -> None:
    random = Random(0)
    for played in random_games(20):
        lines = played.proof()
        for _ in range(3):
            number = random.randrange(len(lines))
            changed = bytearray(lines[number])
            place = random.randrange(len(changed))
            changed[place] ^= random.randrange(1, 256)
            finding = verify(_split(b"".join([*lines[:number], bytes(changed), *lines[number + 1 :]]))).finding
            assert finding is not None, (number, place)
            assert finding.line == number + 1, (number, place, finding)
            assert finding.fault is not Fault.SERVER, (number, place, finding)


def _split(file: bytes) -> list[bytes]:
    """As a file is read: line feeds end lines, carriage returns do not."""
    parts = file.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def test_a_file_that_was_cut_anywhere_is_not_taken_for_a_whole_one() -> None:
    lines = Played("b", SMALL, trouble=0.2).play().proof()
    for count in range(len(lines)):
        finding = verify(lines[:count]).finding
        assert finding is not None
        assert (finding.line, finding.fault) == (count + 1, Fault.INCOMPLETE)
        finding = verify([*lines[:count], lines[count][:40]]).finding
        assert finding is not None
        assert (finding.line, finding.fault) == (count + 1, Fault.INCOMPLETE)
