"""The TOML file of a league.

    name = "evening"
    format = "swiss"         # round-robin, swiss, ladder
    rounds = 5
    table_size = 4
    tables = ["t1", "t2"]

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
from salvo.topics import check_name
from salvo_server.settings import MAX_PACE_SECONDS
from salvo_server.tournament.file import Integer, Kind, Model, Seed, number

#: Turns of a game, all players together, by the number of players: means of hunters against each other (salvo play).
TURNS: Final = {2: 41, 3: 136, 4: 234, 5: 339, 6: 464, 7: 583, 8: 703}
#: How long a result stands if nothing opens the next game: as long as a server allows.
OVER_SECONDS: Final = 86_400


class LeagueError(SalvoError):
    """``bad_league``: a file that is no league; ``bad_results``: a record that is not of this one; ``league_in_use``;
    ``no_hosts``; ``rosters_differ``: one of several servers does not know a team.
    """


class Format(StrEnum):
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


Table = Annotated[str, BeforeValidator(partial(_name, "table"))]
Team = Annotated[str, BeforeValidator(partial(_name, "team"))]
Real = Annotated[float, BeforeValidator(number)]
Seconds = Annotated[Integer, Field(ge=1, le=86_400)]


class League(Model):
    """The content of a file.

    Attributes:
        rounds: of swiss.
        games: of a ladder, in all.
        hours: how long a ladder is open.
        table_size: the most players of a game.
        tables: names of the server's tables; ``""`` is the default one.
        minutes: how long a game takes at most, when its teams use all of their time and it has as many turns as most.
        placement_seconds: for a fleet.
        turn_seconds, pace_seconds: of a game, where its length is not given in minutes; None for the server's.
        wait_seconds: for further teams before the first round, from the second team on.
        result_seconds: how long a result stands before the next game at its table.
        away_seconds: how long one of several servers may be away before its games are played again at another one.
        patience_seconds: how long somebody waits on a ladder for opponents that are nearer in rating.
        teams: the only ones that take part; any when empty.
        plain: teams whose clients know no seats, and play at the default table; others are noticed.
        fill: accounts of built-in bots: name to the environment variable that has the secret.
        seed: decides all that is drawn; empty when the file has none: then the first run draws a secret one.
    """

    name: Annotated[str, Field(min_length=1, max_length=100)]
    format: Format = Format.SWISS
    rounds: Annotated[Integer, Field(ge=1, le=1000)] | None = None
    games: Annotated[Integer, Field(ge=1, le=100_000)] | None = None
    hours: Annotated[Real, Field(ge=0.01, le=1000, allow_inf_nan=False)] | None = None
    table_size: Annotated[Integer, Field(ge=2, le=8)] = 4
    tables: Annotated[tuple[Table, ...], Field(min_length=1, max_length=64)] = ("",)
    minutes: Annotated[Real, Field(ge=0.5, le=240, allow_inf_nan=False)] | None = None
    placement_seconds: Seconds = 30
    turn_seconds: Seconds | None = None
    pace_seconds: Annotated[Real, Field(ge=0, le=MAX_PACE_SECONDS, allow_inf_nan=False)] | None = None
    wait_seconds: Annotated[Integer, Field(ge=0, le=86_400)] = 60
    result_seconds: Annotated[Integer, Field(ge=0, le=3600)] = 10
    away_seconds: Annotated[Integer, Field(ge=1, le=86_400)] = 60
    patience_seconds: Annotated[Integer, Field(ge=0, le=3600)] = 20
    teams: Annotated[tuple[Team, ...], Field(max_length=1000)] = ()
    plain: Annotated[tuple[Team, ...], Field(max_length=1000)] = ()
    fill: dict[Team, Annotated[str, Field(min_length=1)]] = Field(default_factory=dict, max_length=7)
    seed: Seed = ""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        _only(self.rounds, "rounds", self.format is Format.SWISS, "swiss")
        _only(self.games, "games", self.format is Format.LADDER, "ladder")
        _only(self.hours, "hours", self.format is Format.LADDER, "ladder")
        if self.format is Format.SWISS and self.rounds is None:
            raise PydanticCustomError("rounds", "swiss needs a number of rounds; write rounds = 5")
        if self.format is Format.LADDER and self.games is None and self.hours is None:
            raise PydanticCustomError("hours", "a ladder ends at a time or after a number of games; write hours = 2")
        for key in ("tables", "teams", "plain"):
            names = [name.lower() for name in getattr(self, key)]
            if len(set(names)) < len(names):
                raise PydanticCustomError(key, "a name stands there twice")
        for key in ("turn_seconds", "pace_seconds"):
            if self.minutes is not None and getattr(self, key) is not None:
                raise PydanticCustomError(key, "it follows from minutes; leave one of the two out")
        if self.minutes is not None and self.minutes * 60 < TURNS[self.table_size]:
            least = math.ceil(TURNS[self.table_size] / 6) / 10
            text = f"a game of {self.table_size} takes {least:g} minutes or more, at a second a turn"
            raise PydanticCustomError("minutes", text)
        both = {name.lower() for name in self.fill} & {name.lower() for name in (*self.teams, *self.plain)}
        if both:
            raise PydanticCustomError("fill", f"{min(both)} is a team, too")
        return self

    def settings(self, teams: tuple[str, ...]) -> m.NextGame:
        """Return what a host sets for a game of these teams.

        Of the time that ``minutes`` leaves for a turn one half is the team's, rounded up to a whole second, and the
        rest is the pace.
        """
        turn, pace = self.turn_seconds, self.pace_seconds
        if self.minutes is not None:
            whole = self.minutes * 60 / TURNS[len(teams)]
            turn = max(1, math.ceil(whole / 2))
            pace = min(60, max(0, math.floor(whole - turn)))
        return m.NextGame(
            players=len(teams),
            placement_seconds=self.placement_seconds,
            turn_seconds=turn,
            over_seconds=OVER_SECONDS,
            teams=teams,
            **({} if pace is None else m.NextGame.pace(pace)),
        )

    def game_seconds(self, teams: int) -> float | None:
        """Return how long a game takes at most if it has as many turns as most; None where the server decides that."""
        settings = self.settings(("",) * teams)
        if settings.turn_seconds is None:
            return None
        pace_ms = settings.limits(m.Limits()).pace_ms or 0
        return TURNS[teams] * (settings.turn_seconds + pace_ms / 1000)

    def seconds(self, teams: int) -> float | None:
        """Return how long the league takes at most if all games take as long as most; None where nobody knows."""
        if self.format is Format.LADDER:
            return None if self.hours is None else 3600 * self.hours
        size = min(self.table_size, teams)
        game = self.game_seconds(size)
        if game is None:
            return None
        rounds = self.rounds or math.ceil((teams - 1) / (size - 1))
        games = math.ceil(math.ceil(teams / size) / len(self.tables))
        return rounds * games * (game + self.result_seconds + self.placement_seconds)

    def with_seed(self, seed: str) -> Self:
        """Return the same league with the seed that was drawn for it."""
        return self.model_copy(update={"seed": seed})


def _only(value: object, key: str, allowed: bool, of: str) -> None:
    if value is not None and not allowed:
        raise PydanticCustomError(key, f"it belongs to {of}; leave it out")


#: The file of ``salvo league``.
LEAGUE: Final = Kind(
    League,
    {"fill": None},
    "a league",
    partial(LeagueError, "bad_league"),
    {"tables": "1..64", "teams": "0..1000", "plain": "0..1000", "fill": "0..7"},
)


def load_league(path: Path) -> League:
    """Return the league of a file.

    Raises:
        LeagueError: ``bad_league``; the text names file and line.
    """
    return LEAGUE.load(path)
