"""Results from signed logs, where everybody can check them; the same ones as in the server's journal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from salvo_server.core.results import Result, result_of
from salvo_server.standings.chronicle import Chronicle
from salvo_server.verify import Finding, LoggedGame, verify_file


def read_logs(paths: Iterable[Path]) -> tuple[Chronicle, list[Finding]]:
    """Return the results of the games that are over and fair, and what is wrong with others, which do not count.

    Games of several servers, or of one that has begun a new journal, may have the same number: an annulment is of the
    latest result that it can mean.

    Raises:
        ProofError: ``proof_missing`` or ``proof_unreadable``.
    """
    games: dict[str, LoggedGame] = {}
    findings = []
    for path in paths:
        report = verify_file(path)
        findings += [each for each in (report.stray, *(game.finding for game in report.games)) if each is not None]
        for game in report.games:
            if game.finding is None and (game.of not in games or game.ended):
                games[game.of] = game
    return Chronicle(_results(games.values())), findings


def _results(games: Iterable[LoggedGame]) -> Iterator[Result]:
    for game in games:
        opening = game.opening
        if game.ended:
            for step in game.told:
                result = result_of(opening.table, opening.game, step.at, opening.rules.book.name, step.said)
                if result is not None:
                    yield result
