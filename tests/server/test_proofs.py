"""Proofs of random games: honest ones pass, and no byte of one can be changed unnoticed."""

from __future__ import annotations

from random import Random

import pytest

from kit.proofs import IDENTITY, SMALL, Played, random_games, verify
from salvo.codec.log_reader import Fault


@pytest.mark.long
def test_honest_games_pass() -> None:
    told = 0
    for played in random_games(30):
        report = verify(played.proof())
        assert report.finding is None, report.finding
        assert report.key == IDENTITY.signing_key
        [game] = report.games
        assert game.winner in game.players
        assert sum(bool(step.announcements) for step in game.steps) <= len(played.steps)
        told += len(game.published_steps)
    assert told > 600


@pytest.mark.long
def test_a_changed_byte_is_found_and_its_line_named() -> None:
    random = Random(0)
    for played in random_games(40):
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
