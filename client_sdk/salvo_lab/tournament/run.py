"""Plays a tournament to its end, from wherever it was left, and returns what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from pydantic import ValidationError

from salvo.bots.sources import in_sandbox
from salvo.errors import BotError, SalvoError
from salvo.system.text_files import read_text
from salvo_lab.series.lines import Entered, SeriesKind, SeriesLine
from salvo_lab.series.record import Recorded, SeriesError
from salvo_lab.series.standings import Series, SeriesStandings, earlier_versions, standings
from salvo_lab.tournament.file import Tournament, mistake
from salvo_lab.tournament.games import GamesFile, entered, games_between
from salvo_lab.tournament.pairings import games_of, number_of_games, schedule
from salvo_lab.tournament.playing import play_games


def stand(
    tournament: Tournament, lines: Iterable[SeriesLine] = (), versions: Mapping[str, Entered] | None = None
) -> SeriesStandings:
    """Return the standings after the lines of a record.

    Args:
        versions: of bots, whose games count.

    Raises:
        MissingExtra: ``tournament`` is not installed.
    """
    lines, versions = list(lines), versions or {}
    matches, games = schedule(tournament, games_between(lines, versions))
    series = Series(
        SeriesKind.TOURNAMENT,
        tournament.name,
        tournament.format.value,
        names=list(tournament.bots),
        games=tournament.games,
        all_games=number_of_games(tournament),
        rules=tournament.rules,
        seed=tournament.seed,
        sources={name: in_sandbox(bot) if tournament.sandbox else bot for name, bot in tournament.bots.items()},
        limits=tournament.time.model_dump(),
    )
    return standings(series, matches, games, versions=versions, earlier=earlier_versions(lines, versions))


def stand_of_record(recorded: Recorded) -> SeriesStandings:
    """Return the standings of a tournament's record, which needs neither its file nor its bots.

    Raises:
        SeriesError: ``bad_results``: its settings are none of a tournament.
        MissingExtra: ``tournament`` is not installed.
    """
    versions, head = entered(recorded.lines), recorded.head
    settings = {key: value for key, value in head.settings.items() if key in Tournament.model_fields}
    try:
        bots = {name: versions[name].source if name in versions else "?" for name in settings["bots"]}
        given = Tournament(**{**settings, "bots": bots, "seed": head.seed})
    except (KeyError, TypeError, ValidationError):
        raise SeriesError("bad_results", "the first line of the record was not written by salvo tournament") from None
    return stand(given, recorded.lines, versions)


def play_tournament(
    path: Path,
    tournament: Tournament,
    file: GamesFile,
    jobs: int,
    played: Callable[[int], None],
    left_out: Callable[[str, str], object] | None = None,
) -> Tournament:
    """Play what the file of games does not have yet; every game is in it before ``played`` is called with the count.

    Args:
        left_out: learns the name of a bot that cannot be made, and why; the others go on without it. None raises that.

    Returns:
        The tournament of the bots that could be made.

    Raises:
        TournamentError: ``bad_tournament`` for a bot that cannot be made.
        SeriesError: ``bad_results``.
        MissingExtra: ``tournament`` is not installed.
    """
    while True:
        matches, games = schedule(tournament, file.games)
        if len(games) >= number_of_games(tournament):
            file.enter()
            return tournament
        there = {(game.result, game.index) for game in games}
        missing = [
            game for match in matches for game in games_of(match, tournament) if (game.match, game.index) not in there
        ]
        try:
            for batch in play_games(tournament, missing, jobs):
                file.add_games(batch)
                played(len(batch))
        except BotError as error:
            name = _named(tournament, error)
            if left_out is None or not name or error.code != "bad_bot":
                raise _explained(path, tournament, file, error) from None
            left_out(name, str(error))
            tournament = tournament.without(name, entered(file.lines))
            file.take(tournament)


def _named(tournament: Tournament, error: BotError) -> str:
    """Return the bot that an error is about; empty if it is about none."""
    return next((name for name in tournament.bots if error.text.startswith((f"{name}: ", f"{name}, "))), "")


def _explained(path: Path, tournament: Tournament, file: GamesFile, error: BotError) -> SalvoError:
    """Return an error that ended the games, with the line of the tournament's file where a bot cannot be made."""
    if error.code == "code_changed":
        return file.changed(error)
    text = read_text(path) if path.is_file() else ""
    return mistake(path, text, _named(tournament, error), error.text, "bots")
