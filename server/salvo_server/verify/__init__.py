"""Was it fair? A game's log, held against what was revealed and against the rules (SALVO-LOG-11).

Works offline, on files. What the server signed is checked line by line: signatures, numbers, links. Once a game is
won, all that was hidden is known: then the game is executed again, and the log that an honest server would have
written is compared with the one that was. Whatever differs, the server has signed; whatever is not signed, somebody
else has changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from salvo.wire.log import LARGEST_ENTRY_BYTES, Fault
from salvo_server.verify.again import Repetition
from salvo_server.verify.notes import check_sent
from salvo_server.verify.reading import check_chain, check_ends, read_lines, what_it_is
from salvo_server.verify.remarks import remarks_on
from salvo_server.verify.report import BLAME, UNPROVEN, Finding, LoggedGame, ProofError, ProofReport, Wrong
from salvo_server.verify.stories import Agreement, agreements, compare_stories

__all__ = [
    "BLAME",
    "UNPROVEN",
    "Agreement",
    "Finding",
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
            return ProofReport(str(path), finding=Finding(str(path), 1, Fault.NO_PROOF, other))
        with path.open("rb") as file:
            return verify_lines(iter(lambda: file.readline(LARGEST_ENTRY_BYTES + 1), b""), str(path), key)
    except FileNotFoundError:
        raise ProofError("proof_missing", f"no file {path}") from None
    except OSError as error:
        raise ProofError("proof_unreadable", f"{path}: {error.strerror}") from None


def verify_lines(lines: Iterator[bytes], name: str, key: str | bytes | None = None) -> ProofReport:
    """Check a proof file's lines, each with its line feed."""
    report = ProofReport(name)
    wrong = read_lines(lines, report, key)
    missing: list[Wrong] = []
    for game in report.games:
        try:
            check_chain(game)
            if game.ended:
                Repetition(game).run()
        except Wrong as each:
            (missing if each.fault is Fault.INCOMPLETE else wrong).append(each)
    if not wrong:
        try:
            check_ends(report)
            report.remarks += [remark for game in report.games for remark in remarks_on(report, game)]
            if not missing:
                report.remarks += check_sent(report)
        except Wrong as each:
            missing.append(each)
    if wrong or missing:
        first = min(wrong or missing, key=lambda each: each.line)
        report.finding = Finding(name, first.line, first.fault, first.text)
    return report
