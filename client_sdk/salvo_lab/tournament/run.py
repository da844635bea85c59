"""Plays a tournament to its end, from wherever it was left."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from salvo.errors import BotError
from salvo.text_files import read_text
from salvo_lab.tournament.file import Tournament, TournamentError, mistake
from salvo_lab.tournament.games import GamesFile, TournamentGame
from salvo_lab.tournament.playing import play_games
from salvo_lab.tournament.schedule import Match, games_of, number_of_games, swiss_round, whole_schedule
from salvo_lab.tournament.standings import Standings, points_by_bot, standings


def games_path(file: Path) -> Path:
    """Return where the games of a tournament's file are."""
    return file.with_suffix(".games.jsonl")


def schedule(tournament: Tournament, games: Iterable[TournamentGame]) -> list[Match]:
    """Return all matches that are certain after some games.

    Raises:
        MissingExtra: ``tournament`` is not installed.
    """
    whole = whole_schedule(tournament)
    if whole is not None:
        return whole
    played = list(games)
    matches: list[Match] = []
    for number in range(1, tournament.number_of_rounds + 1):
        if len([game for game in played if game.match <= len(matches)]) < _games_in(matches, tournament):
            break  # the round before is not over
        before = [game for game in played if game.match <= len(matches)]
        points = points_by_bot(tournament, matches, before)
        matches += swiss_round(number, len(matches) + 1, points, matches, tournament.seed)
    return matches


def _games_in(matches: Sequence[Match], tournament: Tournament) -> int:
    return tournament.games * sum(len(match.bots) > 1 for match in matches)


def stand(tournament: Tournament, games: Sequence[TournamentGame]) -> Standings:
    """Return the standings after some games.

    Raises:
        MissingExtra: ``tournament`` is not installed.
    """
    return standings(tournament, schedule(tournament, games), games, number_of_games(tournament))


def play_tournament(
    path: Path, tournament: Tournament, file: GamesFile, jobs: int, played: Callable[[int], None]
) -> None:
    """Play what the file of games does not have yet; every game is in it before ``played`` is called with the count.

    Raises:
        TournamentError: ``bad_tournament`` for a bot that cannot be made, ``bad_results``.
        MissingExtra: ``tournament`` is not installed.
    """
    in_all = number_of_games(tournament)
    while len(file.games) < in_all:
        there = {(game.match, game.index) for game in file.games}
        matches = schedule(tournament, file.games)
        missing = [
            game for match in matches for game in games_of(match, tournament) if (game.match, game.index) not in there
        ]
        try:
            for games in play_games(tournament, missing, jobs):
                file.add(games)
                played(len(games))
        except BotError as error:
            raise _explained(path, tournament, file, error) from None


def _explained(path: Path, tournament: Tournament, file: GamesFile, error: BotError) -> TournamentError:
    """Return an error that ended the games, with the line of the tournament's file where a bot cannot be made."""
    if error.code == "code_changed":
        return file.changed(error)
    name = next((name for name in tournament.bots if error.text.startswith((f"{name}: ", f"{name}, "))), "")
    return mistake(path, read_text(path), name, error.text, "bots")
