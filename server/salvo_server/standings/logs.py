"""Results from signed logs, where everybody can check them; the same ones as in the server's journal."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from salvo.codec.log import Fault
from salvo_server.core.results import Result, result_of
from salvo_server.standings.chronicle import Chronicle
from salvo_server.verify import Finding, LoggedGame, verify_file


def read_logs(paths: Iterable[Path]) -> tuple[Chronicle, list[Finding]]:
    """Return the results of games that were fair, and what is wrong with others; a game that is still on has neither.

    A game may be in several files.

    Raises:
        ProofError: ``proof_missing`` or ``proof_unreadable``.
    """
    results: dict[str, Result] = {}
    findings: list[Finding] = []
    for path in paths:
        report = verify_file(path)
        findings += [] if report.stray is None else [report.stray]
        for game in report.games:
            result = _result(game)
            if game.finding is None and result is not None:
                results[game.of] = result
            elif game.finding is not None and (result is not None or game.finding.fault is not Fault.INCOMPLETE):
                findings.append(game.finding)
    return Chronicle(results.values()), findings


def _result(game: LoggedGame) -> Result | None:
    opening = game.opening
    where = (opening.table, opening.game)
    found = (result_of(*where, step.at, opening.rules.book.name, step.said) for step in game.told)
    return next(filter(None, found), None)
