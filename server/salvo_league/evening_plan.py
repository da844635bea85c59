"""An evening for so many teams and so much time: at how many tables, how many rounds, and the files of its folder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import floor
from typing import Final, Self

from salvo_lab.series.schedule import sizes_of_tables
from salvo_league.league_file import CHANGE_SECONDS, MIN_MINUTES, League, LeagueError, LeagueFormat
from salvo_server.spectators.game_lengths import duration, longest, turns_of

#: The most teams of a game: of more, the result is mostly luck, and a late team waits long.
TABLE_SIZE: Final = 4
#: Seconds between salvos that people can follow; the first where the time would else not do for MIN_ROUNDS.
PACE: Final = (0.5, 1.25)
MIN_ROUNDS: Final = 8
#: The part of the time that is planned; the rest is for teams that use their time, and for a late start.
PLANNED: Final = 0.9
#: Between the ends of two games and the beginnings of the next ones.
BETWEEN_SECONDS: Final = CHANGE_SECONDS + League.model_fields["result_seconds"].default
#: Turns are counted by this one; by others games are as long, since a league counts theirs when it knows them.
_RULES: Final = "salvo"

_CONTEST: Final = """\
listen = "0.0.0.0:1883"      # for other machines; "127.0.0.1:1883" for this one alone
web = "0.0.0.0:8080"         # where people watch, on phones and on the projector
journal = "evening.journal"  # beside this file: what the same command goes on with
transcripts = "games"        # every game as a file, and its proof
turn_seconds = 10            # the longest time for a salvo
"""
_TABLE: Final = """\
players = {teams:<17}  # with so many fleets a game begins at once; with two or more after a minute
over_seconds = 10            # how long the final screen stays
pace_seconds = {pace:<12g}  # after each result, so that people can follow
"""
_LEAGUE: Final = """\
tables = [{tables}]  # where its games are played

[league]
name = {name}
format = "swiss"             # rounds among about equals; round-robin: until all have met; ladder: open
rounds = {rounds:<18}  # a ladder has hours = 2, or games = 100
table_size = {size:<14}  # the most teams of a game, 2 to 8
minutes = {minutes:<17g}  # a game of teams that answer at once; gives the pace. Or pace_seconds = 0.8
# wait_seconds = 60          # for more teams before the first round
# result_seconds = 10        # for a look at a result before the next game at its table
# teams = ["red", "blue"]    # the only ones that take part
"""
#: Accounts beside the teams': a screen for people who watch, and the host's.
_OTHERS: Final = ("projector,watcher", "desk,host")


@dataclass(frozen=True, slots=True)
class Plan:
    """How so many teams play for some hours.

    Attributes:
        size: the most teams of a game.
        tables: one for each game of a round.
        minutes: of a game.
        rounds: of a league; of a single table, games.
        seconds: in all.
    """

    teams: int
    size: int
    tables: tuple[str, ...]
    minutes: float
    rounds: int
    seconds: float

    @classmethod
    def of(cls, teams: int, hours: float) -> Self:
        """Return a plan for two teams or more.

        Raises:
            LeagueError: ``bad_league``: there is no time for a game.
        """
        sizes = sizes_of_tables(teams, TABLE_SIZE)
        tables = tuple(f"t{number}" for number in range(1, len(sizes) + 1))
        whole = 3600 * PLANNED * hours
        turns = turns_of(_RULES, max(sizes)) or 0
        pace = max(PACE[0], min(PACE[1], (whole / MIN_ROUNDS - BETWEEN_SECONDS) / turns / longest(len(tables))))
        minutes = max(MIN_MINUTES, floor(pace * turns / 6) / 10)

        def league(rounds: int) -> League:
            return League(
                name="evening",
                format=LeagueFormat.SWISS,
                rounds=rounds,
                table_size=max(sizes),
                tables=tables,
                minutes=minutes,
            )

        one = league(1).seconds(teams, _RULES)
        assert one is not None
        rounds = min(1000, int(whole / one))
        if not rounds:
            least = f"give {one / 3600 / PLANNED + 0.005:.2f} or more"
            text = f"{hours:g} hours are too short for a game of {minutes:g} minutes; {least}"
            raise LeagueError("bad_league", text)
        return cls(teams, max(sizes), tables, minutes, rounds, one * rounds)

    @property
    def is_league(self) -> bool:
        """Whether there is more than one table; else all play all games at the default one."""
        return self.teams > TABLE_SIZE

    def contest(self, name: str) -> str:
        """Return the file of the contest.

        Args:
            name: the evening's, printable.
        """
        if not self.is_league:
            pace = round(60 * self.minutes / (turns_of(_RULES, self.teams) or 1), 2)
            return _CONTEST + _TABLE.format(teams=self.teams, pace=pace)
        tables = ", ".join(f'"{table}"' for table in self.tables)
        quoted = json.dumps(name, ensure_ascii=False)  # which is how TOML has a text, too
        return _CONTEST + _LEAGUE.format(
            name=quoted, rounds=self.rounds, size=self.size, tables=tables, minutes=self.minutes
        )

    def accounts(self) -> str:
        """Return the table of accounts, in which teams have numbers for names."""
        teams = [f"team{number},team" for number in range(1, self.teams + 1)]
        return "\n".join(["name,role", *teams, *_OTHERS]) + "\n"

    def __str__(self) -> str:
        where = f"{len(self.tables)} tables of up to {self.size}" if self.is_league else "one table"
        what = "round" if self.is_league else "game"
        many = f"1 {what}" if self.rounds == 1 else f"{self.rounds} {what}s"
        return (
            f"{self.teams} teams at {where}, {many}, a game of about {self.minutes:g} minutes, "
            f"{duration(self.seconds)} in all if teams answer at once"
        )
