"""The standings of a tournament: its games counted, byes and mishaps with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from salvo.replay_command import again
from salvo_game.standings.points_and_ratings import Counting, Meeting, Score, points_of, score_record
from salvo_lab.tournament.file import Tournament
from salvo_lab.tournament.games import TournamentGame
from salvo_lab.tournament.schedule import Match


@dataclass(slots=True)
class Row(Score):
    """A line of the table. A bye counts as a match won; it is none of the games played.

    Attributes:
        strikes, forfeits: games' strikes, and games that a bot was out of before the end.
        seconds, longest, decisions: of thinking, wall time.
    """

    source: str = ""
    strikes: int = 0
    forfeits: int = 0
    seconds: float = 0.0
    longest: float = 0.0
    decisions: int = 0


@dataclass(frozen=True)
class Standings:
    """All that a tournament came to so far.

    Attributes:
        rows: best first.
        meetings: by bot and opponent.
        games: by number.
        course: the rating of each bot after each match, for a plot.
        byes: (round, bot).
        all_games: how many there will be.
        matches: those that are known by now.
    """

    tournament: Tournament
    rows: list[Row]
    meetings: Mapping[str, Mapping[str, Meeting]]
    games: list[TournamentGame]
    course: dict[str, list[float]]
    byes: list[tuple[int, str]]
    all_games: int
    matches: Sequence[Match] = ()

    @property
    def complete(self) -> bool:
        """Whether all games are played."""
        return len(self.games) == self.all_games


def points_by_bot(
    tournament: Tournament, matches: Iterable[Match], games: Iterable[TournamentGame]
) -> dict[str, float]:
    """Return all bots' points of some matches; a bye counts as a match won."""
    points = dict.fromkeys(tournament.bots, 0.0)
    for match in matches:
        if len(match.bots) == 1:
            points[match.bots[0]] += tournament.games
    for game in games:
        for bot, got in zip(game.bots, points_of(game.places), strict=True):
            points[bot] += got
    return points


def standings(
    tournament: Tournament, matches: Sequence[Match], games: Iterable[TournamentGame], all_games: int
) -> Standings:
    """Return the standings after some games, the same in whatever order those are given.

    Args:
        matches: all that are known by now.

    Raises:
        MissingExtra: ``tournament`` is not installed.
    """
    games = sorted(games, key=lambda game: (game.match, game.index))
    counting = Counting(lambda name: Row(name, source=tournament.bots[name]), tournament.bots)
    rows = counting.scores
    for name, points in points_by_bot(tournament, matches, ()).items():
        rows[name].points = points
    course = {name: [row.rating.mu] for name, row in rows.items()}
    for index, game in enumerate(games):
        counting.add(game.bots, game.places, game.shots, game.hits)
        _note_mishaps(game, rows)
        if index + 1 == len(games) or games[index + 1].match != game.match:
            for bot in game.bots:
                course[bot].append(rows[bot].rating.mu)
    byes = [(match.round, match.bots[0]) for match in matches if len(match.bots) == 1]
    return Standings(tournament, counting.ranked(), counting.meetings, games, course, byes, all_games, matches)


def _note_mishaps(game: TournamentGame, rows: Mapping[str, Row]) -> None:
    for seat, bot in enumerate(game.bots):
        row = rows[bot]
        row.strikes += len(game.strikes[seat])
        row.forfeits += game.forfeited[seat]
        row.seconds += game.seconds[seat]
        row.longest = max(row.longest, game.longest[seat])
        row.decisions += game.decisions[seat]


def command_of(game: TournamentGame, tournament: Tournament) -> str:
    """Return the command that plays a game again."""
    return again([tournament.bots[bot] for bot in game.bots], game.seed, game.game, rules=tournament.rules)


def record(standings: Standings) -> dict[str, Any]:
    """Return standings for programs: all that comes out the same whenever the tournament is played."""
    tournament = standings.tournament
    return {
        "name": tournament.name,
        "format": tournament.format.value,
        "rules": tournament.rules,
        "seed": tournament.seed,
        "complete": standings.complete,
        "games_played": len(standings.games),
        "games_in_all": standings.all_games,
        "table": [_row_record(row) for row in standings.rows],
        "meetings": {
            bot: {other: asdict(met) for other, met in against.items() if met.games}
            for bot, against in standings.meetings.items()
        },
        "byes": [{"round": number, "bot": bot} for number, bot in standings.byes],
        "games": [
            {
                "match": game.match,
                "bots": list(game.bots),
                "places": list(game.places),
                "turns": game.turns,
                "strikes": {bot: list(causes) for bot, causes in zip(game.bots, game.strikes, strict=True) if causes},
                "forfeited": [bot for bot, out in zip(game.bots, game.forfeited, strict=True) if out],
                "again": command_of(game, tournament),
            }
            for game in standings.games
        ],
    }


def _row_record(row: Row) -> dict[str, Any]:
    own = {"strikes": row.strikes, "forfeits": row.forfeits}
    return {"bot": row.name, "source": row.source, **score_record(row), **own}
