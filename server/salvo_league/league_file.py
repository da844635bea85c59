"""The league of an evening: a section of the contest's TOML file, or a file of its own with the same keys.

    tables = ["t1", "t2"]

    [league]
    name = "evening"
    format = "swiss"         # round-robin, swiss, ladder
    rounds = 5
    table_size = 4

Every value is looked at: a mistake names file, line and the nearest thing that exists.
"""

from __future__ import annotations

import math
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from salvo import messages as m
from salvo.errors import SalvoError, WireError
from salvo.system.text_files import read_toml
from salvo.wire.chat_text import clean_text
from salvo.wire.topics import check_name
from salvo_lab.series.lines import SeriesKind
from salvo_lab.series.record import SeriesRecord, record_path
from salvo_lab.tournament.file import Kind, Model, Seed, WholeNumber, number
from salvo_server.spectators.game_lengths import longest, turns_of

#: Characters of a league's name.
MAX_NAME: Final = 100
#: The shortest length of a game.
MIN_MINUTES: Final = 0.5
#: Between two games at a table: until the teams have followed their seats and placed their ships.
CHANGE_SECONDS: Final = 5.0
#: How long a result stands if nothing opens the next game: as long as a server allows.
OVER_SECONDS: Final = 86_400


class LeagueError(SalvoError):
    """``bad_league``: a file that is not a league; ``league_in_use``; ``no_hosts``; ``rosters_differ``: one of several
    servers does not know a team.
    """


class LeagueFormat(StrEnum):
    """Who meets whom."""

    ROUND_ROBIN = "round-robin"  # until each has met each
    SWISS = "swiss"  # in each round those who are about equal
    LADDER = "ladder"  # whoever waits longest, and who is nearest in rating


def _name(what: str, value: object) -> object:
    if not isinstance(value, str):
        raise PydanticCustomError("name", "input should be a name")
    try:
        return check_name(value, what) if value or what != "table" else value
    except WireError as error:
        raise PydanticCustomError("name", "{text}", {"text": error.text}) from None


def _line(value: object) -> object:
    """Accept a line that can be said to everybody in the hall."""
    if not isinstance(value, str):
        raise PydanticCustomError("line", "input should be a text")
    try:
        return clean_text(value)
    except WireError as error:
        raise PydanticCustomError("line", "{text}", {"text": error.text}) from None


Table = Annotated[str, BeforeValidator(partial(_name, "table"))]
TeamName = Annotated[str, BeforeValidator(partial(_name, "team"))]
Real = Annotated[float, BeforeValidator(number)]
Seconds = Annotated[WholeNumber, Field(ge=1, le=86_400)]


class League(Model):
    """The content of a file.

    Attributes:
        rounds: of swiss.
        games: of a ladder, in all.
        hours: how long a ladder is open.
        table_size: the most players of a game.
        tables: names of the server's tables; ``""`` is the default one. A section has those of its contest.
        minutes: how long a game takes whose teams answer at once, if it has as many turns as most; gives the pace.
        placement_seconds: for a fleet.
        turn_seconds: None for the server's.
        pace_seconds: of a game, where its length is not given in minutes; None for the server's.
        wait_seconds: for further teams before the first round, from the second team on.
        result_seconds: how long a result stands before the next game at its table.
        away_seconds: how long one of several servers may be away before its games are played again at another one.
        patience_seconds: how long somebody waits on a ladder for opponents that are nearer in rating.
        teams: the only ones that take part; any when empty.
        plain: teams whose clients know no seats, and play at the default table; the league finds out by itself.
        fill: accounts of built-in bots: name to the environment variable that has the secret.
        seed: decides all that is drawn; empty when the file has none: then the first run draws a secret one.
    """

    name: Annotated[str, BeforeValidator(_line), Field(max_length=MAX_NAME)]
    format: LeagueFormat = LeagueFormat.SWISS
    rounds: Annotated[WholeNumber, Field(ge=1, le=1000)] | None = None
    games: Annotated[WholeNumber, Field(ge=1, le=100_000)] | None = None
    hours: Annotated[Real, Field(ge=0.01, le=1000, allow_inf_nan=False)] | None = None
    table_size: Annotated[WholeNumber, Field(ge=2, le=8)] = 4
    tables: Annotated[tuple[Table, ...], Field(min_length=1, max_length=64)] = ("",)
    minutes: Annotated[Real, Field(ge=MIN_MINUTES, le=240, allow_inf_nan=False)] | None = None
    placement_seconds: Seconds = 30
    turn_seconds: Seconds | None = None
    pace_seconds: Annotated[Real, Field(ge=0, le=m.MAX_PACE_SECONDS, allow_inf_nan=False)] | None = None
    wait_seconds: Annotated[WholeNumber, Field(ge=0, le=86_400)] = 60
    result_seconds: Annotated[WholeNumber, Field(ge=0, le=3600)] = 10
    away_seconds: Annotated[WholeNumber, Field(ge=1, le=86_400)] = 60
    patience_seconds: Annotated[WholeNumber, Field(ge=0, le=3600)] = 20
    teams: Annotated[tuple[TeamName, ...], Field(max_length=1000)] = ()
    plain: Annotated[tuple[TeamName, ...], Field(max_length=1000)] = ()
    fill: dict[TeamName, Annotated[str, Field(min_length=1)]] = Field(default_factory=dict, max_length=7)
    seed: Seed = ""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        _only(self.rounds, "rounds", self.format is LeagueFormat.SWISS, "swiss")
        _only(self.games, "games", self.format is LeagueFormat.LADDER, "ladder")
        _only(self.hours, "hours", self.format is LeagueFormat.LADDER, "ladder")
        if self.format is LeagueFormat.SWISS and self.rounds is None:
            raise PydanticCustomError("rounds", "swiss needs a number of rounds; write rounds = 5")
        if self.format is LeagueFormat.LADDER and self.games is None and self.hours is None:
            raise PydanticCustomError("hours", "a ladder ends at a time or after a number of games; write hours = 2")
        for key in ("tables", "teams", "plain"):
            names = [name.lower() for name in getattr(self, key)]
            if len(set(names)) < len(names):
                raise PydanticCustomError(key, "a name is given twice")
        if self.minutes is not None and self.pace_seconds is not None:
            raise PydanticCustomError("pace_seconds", "it follows from minutes; leave one of the two out")
        both = {name.lower() for name in self.fill} & {name.lower() for name in (*self.teams, *self.plain)}
        if both:
            raise PydanticCustomError("fill", f"{min(both)} is a team, too")
        return self

    def settings(self, teams: tuple[str, ...], rules: str) -> m.NextGame:
        """Return what a host sets for a game of these teams by a ruleset."""
        pace = self.pace(len(teams), rules)
        return m.NextGame(
            players=len(teams),
            placement_seconds=self.placement_seconds,
            turn_seconds=self.turn_seconds,
            over_seconds=OVER_SECONDS,
            teams=teams,
            pace_ms=None if pace is None else round(1000 * pace),
        )

    def pace(self, teams: int, rules: str) -> float | None:
        """Return the pace of a game of so many teams, in seconds; None for the server's."""
        turns = turns_of(rules, teams)
        if self.minutes is None or turns is None:
            return self.pace_seconds
        return min(m.MAX_PACE_SECONDS, round(60 * self.minutes / turns, 2))

    def game_seconds(self, teams: int, rules: str) -> float | None:
        """Return how long a game takes whose teams answer at once; None where nobody knows."""
        pace, turns = self.pace(teams, rules), turns_of(rules, teams)
        return None if pace is None or turns is None else pace * turns

    def seconds(self, teams: int, rules: str, plain: int = 0) -> float | None:
        """Return how long the league takes if all teams answer at once; None where nobody knows.

        Args:
            plain: how many of the teams follow no seat, and share the default table.
        """
        if self.format is LeagueFormat.LADDER:
            return None if self.hours is None else 3600 * self.hours
        size = min(self.table_size, teams)
        game = self.game_seconds(size, rules)
        if game is None:
            return None
        rounds = self.rounds or math.ceil((teams - 1) / (size - 1))
        games = math.ceil(teams / size)
        together = min(games, len(self.tables))
        longest_game = game * longest(together)
        after_another = math.ceil(games / together)
        if any(self.tables):  # else all games are at the default table anyway
            after_another = max(after_another, math.ceil(plain / size))
        return rounds * after_another * (longest_game + self.result_seconds + CHANGE_SECONDS)

    def record(self, file: Path) -> SeriesRecord:
        """Open or make the record of this league, whose file is given.

        Raises:
            SeriesError: ``league_in_use``: another process plays this league; ``bad_results``: it is of another league,
                or of a changed one, or it cannot be written.
        """
        same = self.model_dump(mode="json", include={"name", "format", "rounds", "table_size", "seed"})
        path = record_path(file, SeriesKind.LEAGUE)
        return SeriesRecord(path, SeriesKind.LEAGUE, same, more={"fills": list(self.fill)}, seed=self.seed)

    def with_seed(self, seed: str) -> Self:
        """Return the same league with the seed that was drawn for it."""
        return self.model_copy(update={"seed": seed})


def _only(value: object, key: str, allowed: bool, of: str) -> None:
    if value is not None and not allowed:
        raise PydanticCustomError(key, f"it belongs to {of}; leave it out")


#: The section of a contest's file.
_SECTION: Final = "league"
#: The file of ``salvo league``.
LEAGUE: Final = Kind(
    League,
    {"fill": None},
    "a league",
    partial(LeagueError, "bad_league"),
    {"tables": "1..64", "teams": "0..1000", "plain": "0..1000", "fill": "0..7"},
)


def load_league(path: Path) -> League:
    """Return the league of a file: that of its section ``[league]``, or the whole of it.

    Raises:
        LeagueError: ``bad_league``; the text names file and line.
    """
    text, values = read_toml(path, LEAGUE.error)
    section = values.get(_SECTION)
    if not isinstance(section, dict):
        return LEAGUE.of(path, text, values)
    tables = {"tables": values["tables"]} if values.get("tables") else {}
    return LEAGUE.of(path, text, tables | section, _SECTION)
