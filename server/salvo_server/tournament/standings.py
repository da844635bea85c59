"""What the games say: points, the table, who beat whom, and OpenSkill ratings with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from salvo.errors import MissingExtra
from salvo.lab.replay_command import again
from salvo_server.tournament.file import Tournament
from salvo_server.tournament.games import Played
from salvo_server.tournament.schedule import Match

#: The middle 95 % of a normal distribution, in standard deviations to either side.
_INTERVAL: Final = 1.96


@dataclass(frozen=True, slots=True)
class Rating:
    """How good a bot is by OpenSkill, where all begin at 25 +- 8.33; low..high is a 95 % interval."""

    mu: float = 25.0
    sigma: float = 25.0 / 3

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.mu - _INTERVAL * self.sigma

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.mu + _INTERVAL * self.sigma


@dataclass(slots=True)
class Row:
    """A line of the table.

    Attributes:
        points: 1 a win, 1/2 a tie of two; among n players for each that is beaten 1/(n-1), half that for a tie. A bye
            counts as a match won.
        games: played; byes do not count.
        opposition: the points of the opponents of all games, which decide between equal points.
        strikes, forfeits: games' strikes, and games that a bot was out of before the end.
        seconds, longest, decisions: of thinking, wall time.
    """

    bot: str
    source: str
    place: int = 0
    points: float = 0.0
    games: int = 0
    wins: int = 0
    ties: int = 0
    losses: int = 0
    opposition: float = 0.0
    strikes: int = 0
    forfeits: int = 0
    shots: int = 0
    hits: int = 0
    seconds: float = 0.0
    longest: float = 0.0
    decisions: int = 0
    rating: Rating = field(default_factory=Rating)


@dataclass(slots=True)
class Meeting:
    """What one bot scored against another: games, and points of 1 for each in which it was placed better."""

    games: int = 0
    points: float = 0.0


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
    meetings: dict[str, dict[str, Meeting]]
    games: list[Played]
    course: dict[str, list[float]]
    byes: list[tuple[int, str]]
    all_games: int
    matches: Sequence[Match] = ()

    @property
    def complete(self) -> bool:
        """Whether all games are played."""
        return len(self.games) == self.all_games


def points_of(places: Sequence[int]) -> list[float]:
    """Return what each seat of a game gets: the share of the others that it is placed before, a tie is half."""
    others = len(places) - 1
    return [
        sum((1.0 if own < other else 0.5) for seat, other in enumerate(places) if seat != mine and own <= other)
        / others
        for mine, own in enumerate(places)
    ]


def points_by_bot(tournament: Tournament, matches: Iterable[Match], games: Iterable[Played]) -> dict[str, float]:
    """Return all bots' points of some matches; a bye counts as a match won."""
    points = dict.fromkeys(tournament.bots, 0.0)
    for match in matches:
        if len(match.bots) == 1:
            points[match.bots[0]] += tournament.games
    for game in games:
        for bot, got in zip(game.bots, points_of(game.places), strict=True):
            points[bot] += got
    return points


def standings(tournament: Tournament, matches: Sequence[Match], games: Iterable[Played], all_games: int) -> Standings:
    """Return the standings after some games, the same in whatever order those are given.

    Args:
        matches: all that are known by now.

    Raises:
        MissingExtra: ``tournament`` is not installed.
    """
    games = sorted(games, key=lambda game: (game.match, game.index))
    rows = {name: Row(name, source) for name, source in tournament.bots.items()}
    meetings = {name: {other: Meeting() for other in rows if other != name} for name in rows}
    for game in games:
        _count(game, rows, meetings)
    for name, points in points_by_bot(tournament, matches, games).items():
        rows[name].points = points
    for name, row in rows.items():
        row.opposition = sum(met.games * rows[other].points for other, met in meetings[name].items())
    course = _rate(rows, games)
    ordered = sorted(rows.values(), key=lambda row: (-round(row.points, 6), -round(row.opposition, 6), -row.rating.mu))
    for number, row in enumerate(ordered, start=1):
        above = ordered[number - 2] if number > 1 else None
        same = above is not None and _worth(above) == _worth(row)
        row.place = above.place if same and above is not None else number
    byes = [(match.round, match.bots[0]) for match in matches if len(match.bots) == 1]
    return Standings(tournament, ordered, meetings, games, course, byes, all_games, matches)


def _worth(row: Row) -> tuple[float, float]:
    return round(row.points, 6), round(row.opposition, 6)


def _count(game: Played, rows: Mapping[str, Row], meetings: Mapping[str, Mapping[str, Meeting]]) -> None:
    firsts = game.places.count(1)
    for seat, (bot, place) in enumerate(zip(game.bots, game.places, strict=True)):
        row = rows[bot]
        row.games += 1
        row.wins += place == 1 and firsts == 1
        row.ties += place == 1 and firsts > 1
        row.losses += place > 1
        row.strikes += len(game.strikes[seat])
        row.forfeits += game.forfeited[seat]
        row.shots += game.shots[seat]
        row.hits += game.hits[seat]
        row.seconds += game.seconds[seat]
        row.longest = max(row.longest, game.longest[seat])
        row.decisions += game.decisions[seat]
        for other, others in zip(game.bots, game.places, strict=True):
            if other != bot:
                meetings[bot][other].games += 1
                meetings[bot][other].points += 1.0 if place < others else 0.5 * (place == others)


def _rate(rows: Mapping[str, Row], games: Sequence[Played]) -> dict[str, list[float]]:
    """Rate all bots from the games in their order; return the course of the ratings."""
    model = plackett_luce()
    ratings = {name: model.rating(name=name) for name in rows}
    course = {name: [float(rating.mu)] for name, rating in ratings.items()}
    for index, game in enumerate(games):
        rated = model.rate([[ratings[bot]] for bot in game.bots], ranks=[float(place) for place in game.places])
        for bot, [rating] in zip(game.bots, rated, strict=True):
            ratings[bot] = rating
        if index + 1 == len(games) or games[index + 1].match != game.match:
            for bot in game.bots:
                course[bot].append(float(ratings[bot].mu))
    for name, row in rows.items():
        row.rating = Rating(float(ratings[name].mu), float(ratings[name].sigma))
    return course


def plackett_luce() -> Any:
    """Return OpenSkill's model for players who do not change: nothing is added to what is unknown of them.

    Raises:
        MissingExtra: ``tournament`` is not installed.
    """
    try:
        from openskill.models import PlackettLuce
    except ModuleNotFoundError:
        raise MissingExtra("rating bots", "tournament") from None
    return PlackettLuce(tau=0.0)


def command_of(game: Played, tournament: Tournament) -> str:
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
                "strikes": {bot: list(told) for bot, told in zip(game.bots, game.strikes, strict=True) if told},
                "forfeited": [bot for bot, out in zip(game.bots, game.forfeited, strict=True) if out],
                "again": command_of(game, tournament),
            }
            for game in standings.games
        ],
    }


def _row_record(row: Row) -> dict[str, Any]:
    told = {key: value for key, value in asdict(row).items() if key not in ("seconds", "longest", "decisions")}
    rating = row.rating
    told["rating"] = {"mu": rating.mu, "sigma": rating.sigma, "low": rating.low, "high": rating.high}
    return {"place": told.pop("place"), **told}
