"""Plays a tournament to its end, from wherever it was left."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from salvo.text_files import read_text
from salvo_lab.tournament.file import Tournament, mistake
from salvo_lab.tournament.games import GamesFile, Played
from salvo_lab.tournament.schedule import Match, Pairing, games_of, number_of_games, swiss_round, whole_schedule
from salvo_lab.tournament.standings import Standings, points_by_bot, standings
from salvo_lab.tournament.workers import Workers

if TYPE_CHECKING:
    from salvo_lab.cluster import Cluster


def games_path(file: Path) -> Path:
    """Return where the games of a tournament's file are."""
    return file.with_suffix(".games.jsonl")


def schedule(tournament: Tournament, games: Iterable[Played]) -> list[Match]:
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


def stand(tournament: Tournament, games: Sequence[Played]) -> Standings:
    """Return the standings after some games.

    Raises:
        MissingExtra: ``tournament`` is not installed.
    """
    return standings(tournament, schedule(tournament, games), games, number_of_games(tournament))


def check_bots(path: Path, tournament: Tournament, workers: Workers) -> None:
    """Make every bot once.

    Raises:
        TournamentError: ``bad_tournament``; the text names the line of the first that cannot be made.
    """
    for name, source in tournament.bots.items():
        reason = workers.try_out(source)
        if reason:
            raise mistake(path, read_text(path), name, f"{name}: {reason}", "bots")


def play_tournament(
    path: Path,
    tournament: Tournament,
    file: GamesFile,
    jobs: int,
    played: Callable[[int], None],
    cluster: Cluster | None = None,
) -> None:
    """Play what the file of games does not have yet; every game is in it before ``played`` is called with the count.

    Args:
        cluster: hosts that play the games; the bots are tried out here.

    Raises:
        TournamentError: ``bad_tournament`` for a bot that cannot be made, ``bad_results``.
        SalvoError: with hosts, as :meth:`salvo_lab.cluster.Cluster.play`.
        MissingExtra: ``tournament`` is not installed.
    """
    in_all = number_of_games(tournament)
    if len(file.games) >= in_all:
        return
    with Workers(tournament, jobs) as workers:
        check_bots(path, tournament, workers)
        while len(file.games) < in_all:
            there = {(game.match, game.index) for game in file.games}
            matches = schedule(tournament, file.games)
            missing = [
                game
                for match in matches
                for game in games_of(match, tournament)
                if (game.match, game.index) not in there
            ]
            for games in workers.play(missing) if cluster is None else _on_hosts(cluster, tournament, missing):
                file.add(games)
                played(len(games))


def _on_hosts(cluster: Cluster, tournament: Tournament, pairings: Sequence[Pairing]) -> Iterator[list[Played]]:
    from salvo_lab.tournament.on_hosts import play_on_hosts

    return play_on_hosts(cluster, tournament, pairings)
