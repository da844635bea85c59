"""Read results from signed logs, which everybody can check; the server's journal has the same results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from salvo import messages as m
from salvo.codec.log_reader import Fault
from salvo_game.journal_interface import Result, ResultAnnulled, result_of
from salvo_game.log_verification import Finding, LoggedGame, verify_file
from salvo_game.standings.chronicle import Chronicle


def read_logs(paths: Iterable[Path]) -> tuple[Chronicle, list[Finding]]:
    """Return the results of games that were fair, and what is wrong with others; a game that is still on has neither.

    A game may be in several files. A host that annuls a result says so at its table, in the log of the game that is on
    there by then. Where logs are of several servers, it is a game that the same one has signed.

    Raises:
        ProofError: ``proof_missing`` or ``proof_unreadable``.
    """
    results: defaultdict[bytes, dict[str, Result]] = defaultdict(dict)  # by server
    annulled: defaultdict[bytes, set[ResultAnnulled]] = defaultdict(set)
    findings: list[Finding] = []
    for path in paths:
        report = verify_file(path)
        stray = report.stray
        if stray is not None and not (report.games and stray.fault is Fault.INCOMPLETE):  # such as the next game's log
            findings.append(stray)
        for game in report.games:
            result = _result(game)
            holds = game.finding is None or game.finding.fault is Fault.INCOMPLETE
            if holds:
                annulled[game.opening.key].update(_annulled(game))
            if game.finding is None and result is not None:
                results[game.opening.key][game.of] = result
            elif game.finding is not None and not (holds and result is None):
                findings.append(game.finding)
    chronicles = [_of_server(own.values(), annulled[key]) for key, own in results.items()]
    return Chronicle(result for chronicle in chronicles for result in chronicle.results), findings


def _of_server(results: Iterable[Result], annulled: Iterable[ResultAnnulled]) -> Chronicle:
    chronicle = Chronicle(results)
    for each in sorted(annulled, key=lambda each: each.at):
        chronicle.annul(each)
    return chronicle


def _result(game: LoggedGame) -> Result | None:
    opening = game.opening
    where = (opening.table, opening.game)
    found = (result_of(*where, step.at, opening.rules.book.name, step.announcements) for step in game.published_steps)
    return next(filter(None, found), None)


def _annulled(game: LoggedGame) -> Iterator[ResultAnnulled]:
    for step in game.published_steps:
        for each in step.announcements:
            if isinstance(each, m.HostActed) and each.do is m.HostAction.ANNUL and each.game is not None:
                yield ResultAnnulled(game.opening.table, each.game, each.by, step.at)
