"""Check that a game was fair: compare its log with what was revealed and with the rules (SALVO-LOG-11).

Works offline, on files. What the server signed is checked line by line: signatures, numbers, links. Once a game is won,
all that was hidden is known: then the game is executed again, and the log that an honest server would have written is
compared with the one that was. The server is to blame for what differs, since it has signed it; what is not signed was
changed by someone else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from salvo.codec.log import MAX_ENTRY_BYTES
from salvo.codec.log_reader import Fault
from salvo.system.text_files import lines_of, missing_file, unread
from salvo_game.log_verification.equivocation import Agreement, agreements, compare_stories
from salvo_game.log_verification.findings import (
    BLAME,
    UNPROVEN,
    Finding,
    LoggedGame,
    LogVerdict,
    ProofError,
    ProofReport,
    Wrong,
    remarks_on,
)
from salvo_game.log_verification.reading import check_chain, check_ends, read_lines, what_it_is
from salvo_game.log_verification.reexecute import Repetition
from salvo_game.log_verification.team_notes import check_sent

__all__ = [
    "BLAME",
    "UNPROVEN",
    "Agreement",
    "Finding",
    "LogVerdict",
    "LoggedGame",
    "ProofError",
    "ProofReport",
    "agreements",
    "compare_stories",
    "verify_file",
    "verify_lines",
]


def verify_file(path: Path, key: str | bytes | None = None) -> ProofReport:
    """Check a proof file.

    Args:
        key: whose games these must be: a signing key, or its fingerprint.

    Raises:
        ProofError: ``proof_missing`` or ``proof_unreadable``.
    """
    try:
        other = what_it_is(path)
        if other is not None:
            finding = Finding(str(path), 1, Fault.NO_PROOF, other)
            return ProofReport(str(path), finding=finding, stray=finding)
        with path.open("rb") as file:
            return verify_lines(lines_of(file, MAX_ENTRY_BYTES + 1), str(path), key)
    except FileNotFoundError:
        raise ProofError("proof_missing", missing_file(path)) from None
    except OSError as error:
        raise ProofError("proof_unreadable", unread(path, error)) from None


def verify_lines(lines: Iterator[bytes], name: str, key: str | bytes | None = None) -> ProofReport:
    """Check a proof file's lines, each with its line feed."""
    report = ProofReport(name)
    wrong = read_lines(lines, report, key)
    for game in report.games:
        try:
            check_chain(game)
            if game.ended:
                Repetition(game).run()
        except Wrong as each:
            each.of = game.of
            wrong.append(each)
    wrong += check_ends(report)
    _find_homes(report, wrong)
    fair = [game for game in report.games if all(each.of != game.of for each in wrong)]
    report.remarks += [remark for game in fair for remark in remarks_on(report, game)]
    if not wrong:
        wrong = check_sent(report)
    report.finding = _first(name, wrong)
    report.stray = _first(name, [each for each in wrong if not each.of])
    for game in report.games:
        game.finding = _first(name, [each for each in wrong if each.of == game.of])
    return report


def _find_homes(report: ProofReport, wrong: Sequence[Wrong]) -> None:
    """Assign an unsigned line to the game that lacks an entry at its place, if there is only one."""
    lacking = {each.of for each in wrong if each.fault is Fault.INCOMPLETE}
    spans = [
        (game.of, game.lines[0].number, max(line.number for line in game.lines) + (not game.ended))
        for game in report.games
        if game.of in lacking or not game.ended
    ]
    for each in wrong:
        homes = [of for of, first, last in spans if first < each.line <= last]
        if not each.of and len(homes) == 1:
            [each.of] = homes


def _first(name: str, wrong: Sequence[Wrong]) -> Finding | None:
    """Return what is wrong first; what is missing only where no one is to blame for anything."""
    blamed = [each for each in wrong if each.fault is not Fault.INCOMPLETE]
    if not wrong:
        return None
    first = min(blamed or wrong, key=lambda each: each.line)
    return Finding(name, first.line, first.fault, first.text)
