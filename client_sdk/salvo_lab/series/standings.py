"""What a series came to: its results counted, byes and mishaps with them.

Everything follows from the record: from the matches and results of a league (:func:`of_league`), and from those of a
tournament, whose matches follow from its settings (:func:`salvo_lab.tournament.run.stand`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from salvo.bots.replay_command import again
from salvo_game.standings.points_and_ratings import Counting, Meeting, Rating, Score, points_of, score_record
from salvo_lab.series.lines import (
    Annulled,
    Badged,
    Drawn,
    Entered,
    Head,
    LeagueResult,
    SeriesKind,
    SeriesLine,
    SeriesResult,
    TournamentGame,
)
from salvo_lab.series.schedule import Fixture


@dataclass(frozen=True, slots=True)
class Series:
    """What a series is.

    Attributes:
        format: who meets whom, as its file says it.
        names: who is in the table without a game.
        fills: built-in bots that fill the seats of a league.
        games: of a match.
        all_games: how many there will be; None where nobody knows.
        rules, seed, sources, limits: of a tournament: its ruleset, what was drawn, the bots' sources by name, and the
            settings of its time.
    """

    kind: SeriesKind
    name: str
    format: str
    names: Collection[str] = ()
    fills: Collection[str] = ()
    games: int = 1
    all_games: int | None = None
    rules: str = ""
    seed: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class SeriesRow(Score):
    """A line of the table. A bye counts as a match won, and so does a match to which nobody else came.

    Attributes:
        missed: matches of a league that it did not come to.
        fills: whether it is a built-in bot that fills seats of a league.
        source: of a tournament's bot; ``version`` what counts of it.
        strikes, forfeits: games' strikes, and games that a bot was out of before the end.
        seconds, longest, decisions: of thinking, wall time.
    """

    missed: int = 0
    fills: bool = False
    source: str = ""
    version: str = ""
    strikes: int = 0
    forfeits: int = 0
    seconds: float = 0.0
    longest: float = 0.0
    decisions: int = 0


@dataclass(slots=True)
class EarlierVersion:
    """What a version of a bot came to that does not count any more, in all of its games."""

    entered: Entered
    games: int = 0
    wins: int = 0
    ties: int = 0
    losses: int = 0
    points: float = 0.0


@dataclass(frozen=True)
class SeriesStandings:
    """All that a series came to so far.

    Attributes:
        rows: best first.
        meetings: by name and opponent.
        games: results that count, in the order of their matches; also of matches to which one team came, or none.
        course: the rating of each after each match, for a plot.
        matches: those that are known by now.
        annulled: results that do not count, each with the host that has annulled it.
        earlier: versions of bots that are gone, in the order in which they entered.
        badges: those that a server has given, as numbers by name.
    """

    series: Series
    rows: list[SeriesRow]
    meetings: Mapping[str, Mapping[str, Meeting]]
    games: list[SeriesResult]
    course: dict[str, list[float]]
    matches: Sequence[Fixture] = ()
    annulled: Sequence[tuple[LeagueResult, str]] = ()
    earlier: Sequence[EarlierVersion] = ()
    badges: Mapping[str, int] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether all games are played, as far as one can know."""
        return self.series.all_games is not None and len(self.games) >= self.series.all_games

    @property
    def byes(self) -> list[tuple[int, str]]:
        """Who had one, and in which round."""
        return [(match.round, match.teams[0]) for match in self.matches if len(match.teams) == 1]


def points(
    names: Iterable[str], matches: Iterable[Fixture], results: Iterable[SeriesResult], *, games: int = 1
) -> dict[str, float]:
    """Return the points of all that are named, of some matches and results; others are left out.

    Args:
        matches: of which only byes count, each as a match won.
        results: that count. Who did not come neither wins nor loses; who came alone has won the match.
        games: of a match.
    """
    got: defaultdict[str, float] = defaultdict(float)
    for match in matches:
        if len(match.teams) == 1:
            got[match.teams[0]] += games
    for result in results:
        there = result.there
        if len(there) == 1:
            got[result.teams[there[0]]] += 1
        elif there:
            for seat, share in zip(there, points_of([result.places[seat] for seat in there]), strict=True):
                got[result.teams[seat]] += share
    return {name: got[name] for name in names}


def standings(
    series: Series,
    matches: Sequence[Fixture],
    results: Iterable[SeriesResult],
    *,
    annulled: Sequence[tuple[LeagueResult, str]] = (),
    versions: Mapping[str, Entered] | None = None,
    earlier: Sequence[EarlierVersion] = (),
) -> SeriesStandings:
    """Return the standings after some results, the same in whatever order those are given.

    Args:
        matches: all that are known by now.
        results: all that count.
        versions: of a tournament's bots, those that count.

    Raises:
        MissingExtra: ``tournament`` is not installed.
    """
    ordered = sorted(results, key=lambda result: result.order)
    versions = versions or {}

    def row(name: str) -> SeriesRow:
        version = versions[name].version if name in versions else ""
        return SeriesRow(name, fills=name in series.fills, source=series.sources.get(name, ""), version=version)

    counting = Counting(row, series.names)
    rows = counting.scores
    course = {name: [row.rating.mu] for name, row in rows.items()}
    for index, game in enumerate(ordered):
        seats = game.there
        if len(seats) < 2:
            continue
        names = [game.teams[seat] for seat in seats]
        counting.add(names, *([each[seat] for seat in seats] for each in (game.places, game.shots, game.hits)))
        if index + 1 == len(ordered) or ordered[index + 1].result != game.result:
            for name in names:
                course.setdefault(name, [Rating().mu]).append(rows[name].rating.mu)
    unplayed = [result for result in ordered if len(result.there) == 1]
    for name, won in points(rows, matches, unplayed, games=series.games).items():
        rows[name].points += won
    for result in [*ordered, *(result for result, _ in annulled)]:
        _note_mishaps(result, rows)
    return SeriesStandings(series, counting.ranked(), counting.meetings, ordered, course, matches, annulled, earlier)


def _note_mishaps(result: SeriesResult, rows: Mapping[str, SeriesRow]) -> None:
    for seat, name in enumerate(result.teams):
        row = rows.get(name)
        if row is None:
            continue  # one that fills seats, and had no game
        if isinstance(result, TournamentGame):
            row.strikes += len(result.strikes[seat])
            row.forfeits += result.forfeited[seat]
            row.seconds += result.seconds[seat]
            row.longest = max(row.longest, result.longest[seat])
            row.decisions += result.decisions[seat]
        else:
            row.missed += seat not in result.there


def of_league(head: Head, lines: Iterable[SeriesLine]) -> SeriesStandings:
    """Return the standings of a league's record.

    Raises:
        MissingExtra: ``tournament`` is not installed.
    """
    matches: list[Fixture] = []
    results: dict[int, LeagueResult] = {}
    annulled: dict[int, str] = {}
    badges: dict[str, int] = {}
    for line in lines:
        match line:
            case Drawn(number, first, tables):
                matches += [Fixture(first + place, number, teams) for place, teams in enumerate(tables)]
            case LeagueResult():
                results[line.result] = line
            case Annulled(number, by):
                annulled[number] = by
            case Badged(given):
                badges |= given
    name, form, fills = (head.settings.get(key, "") for key in ("name", "format", "fills"))
    series = league(str(name), str(form), matches, fills if isinstance(fills, list) else ())
    return replace(standings_of_matches(series, matches, results, annulled), badges=badges)


def league(name: str, form: str, matches: Iterable[Fixture], fills: Collection[str]) -> Series:
    """Return the series of a league after some matches: who was drawn is in its table."""
    drawn = sorted({(match.round, team) for match in matches for team in match.teams if team not in fills})
    return Series(SeriesKind.LEAGUE, name, form, dict.fromkeys(team for _, team in drawn), fills)


def standings_of_matches(
    series: Series, matches: Sequence[Fixture], results: Mapping[int, LeagueResult], annulled: Mapping[int, str]
) -> SeriesStandings:
    """Return the standings of a league.

    Args:
        results: by match, also those that are annulled.
        annulled: the host that has annulled it, by match.

    Raises:
        MissingExtra: ``tournament`` is not installed.
    """
    counted = [result for number, result in results.items() if number not in annulled]
    uncounted = [(results[number], by) for number, by in annulled.items() if number in results]
    return standings(series, matches, counted, annulled=uncounted)


def earlier_versions(lines: Iterable[SeriesLine], current: Mapping[str, Entered]) -> list[EarlierVersion]:
    """Return what the versions of bots came to that are none of these, those without a game left out."""
    earlier: dict[tuple[str, str], EarlierVersion] = {}
    for line in lines:
        match line:
            case Entered(name, version) if name not in current or current[name].version != version:
                earlier.setdefault((name, version), EarlierVersion(line)).entered = line
            case TournamentGame():
                firsts = line.places.count(1)
                figures = zip(line.teams, line.versions, line.places, points_of(line.places), strict=True)
                for name, version, place, got in figures:
                    found = earlier.get((name, version))
                    if found is not None:
                        found.games += 1
                        found.wins += place == 1 and firsts == 1
                        found.ties += place == 1 and firsts > 1
                        found.losses += place > 1
                        found.points += got
    return [version for version in earlier.values() if version.games]


def command_of(game: TournamentGame, series: Series) -> str:
    """Return the command that plays a game again."""
    return again([series.sources[bot] for bot in game.teams], game.seed, game.game, rules=series.rules)


# --- for programs -----------------------------------------------------------------------------------------------------


def record(came_to: SeriesStandings) -> dict[str, Any]:
    """Return standings for programs: all that comes out the same whenever the series is played."""
    series, noun = came_to.series, came_to.series.kind.noun
    head: dict[str, Any] = {"name": series.name, "format": series.format}
    if series.kind is SeriesKind.TOURNAMENT:
        head |= {"rules": series.rules, "seed": series.seed, "complete": came_to.complete}
    head["games_played"] = len(came_to.games)
    if series.all_games is not None:
        head["games_in_all"] = series.all_games
    return {
        **head,
        "table": [_row_record(row, series) for row in came_to.rows],
        "meetings": {
            name: {other: asdict(met) for other, met in against.items() if met.games}
            for name, against in came_to.meetings.items()
        },
        "byes": [{"round": number, noun: name} for number, name in came_to.byes],
        "games": [_game_record(game, series) for game in came_to.games],
        **_uncounted_record(came_to),
    }


def _row_record(row: SeriesRow, series: Series) -> dict[str, Any]:
    if series.kind is SeriesKind.LEAGUE:
        return {"team": row.name, "fills": row.fills, "missed": row.missed, **score_record(row)}
    own = {"strikes": row.strikes, "forfeits": row.forfeits, "version": row.version}
    return {"bot": row.name, "source": row.source, **score_record(row), **own}


def _game_record(game: SeriesResult, series: Series) -> dict[str, Any]:
    played = {
        "match": game.result,
        f"{series.kind.noun}s": list(game.teams),
        "places": list(game.places),
        "turns": game.turns,
    }
    if isinstance(game, TournamentGame):
        strikes = {bot: list(causes) for bot, causes in zip(game.teams, game.strikes, strict=True) if causes}
        out = [bot for bot, out in zip(game.teams, game.forfeited, strict=True) if out]
        return played | {"strikes": strikes, "forfeited": out, "again": command_of(game, series)}
    if isinstance(game, LeagueResult):
        absent = [team for team, absent in zip(game.teams, game.absent, strict=True) if absent]
        return played | {"table": game.table, "game": game.game, "absent": absent}
    return played


def _uncounted_record(came_to: SeriesStandings) -> dict[str, Any]:
    if came_to.series.kind is SeriesKind.LEAGUE:
        return {"annulled": [{"table": result.table, "game": result.game, "by": by} for result, by in came_to.annulled]}
    return {"earlier": [_version_record(version) for version in came_to.earlier]}


def _version_record(version: EarlierVersion) -> dict[str, Any]:
    of = {"bot": version.entered.entered, "version": version.entered.version, "source": version.entered.source}
    return of | {key: value for key, value in asdict(version).items() if key != "entered"}
