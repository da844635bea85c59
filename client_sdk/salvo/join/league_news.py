"""How a league stands for one team: a line for each thing that happens to it, from what everybody is shown."""

from __future__ import annotations

from salvo.messages import EveningShown, LeagueMatch


class LeagueNews:
    """Compares what is shown with what was shown before.

    Attributes:
        is_on: whether a league is there that is not over.
    """

    def __init__(self, team: str) -> None:
        self.is_on = False
        self._team = team
        self._stage: object = None  # what the last line was about
        self._has_stood = 0  # the last round of which a line had the team's place in the table

    def lines(self, shown: EveningShown | None) -> list[str]:
        """Return what is new for the team.

        Args:
            shown: None for no league.
        """
        self.is_on = shown is not None and shown.league_runs
        if shown is None or not (shown.round or shown.over):
            self._stage = None
            return []
        match = None if shown.over else next((each for each in shown.matches if self._team in each.teams), None)
        drawn = 0 if shown.rounds is None else shown.round  # on a ladder, each match is a round
        place = None if match is None else match.places or match.table
        stage = shown.name, shown.over, drawn, None if match is None else match.teams, place
        if stage == self._stage:
            return []
        self._stage = stage
        # The last result of a round and the next round may come at once.
        stands = (
            f"{self._standing(shown)}; " if shown.round > self._has_stood + 1 and match and not match.places else ""
        )
        stood = match is None or (match.places and not _left(shown))  # else the table of the round is still to come
        self._has_stood = shown.round - (0 if stood else 1)
        return [self._words(shown, match, stands)]

    def _words(self, shown: EveningShown, match: LeagueMatch | None, stands: str) -> str:
        if shown.over:
            return f"{shown.name} is over: {self._standing(shown)}"
        begun = shown.name if shown.rounds is None else f"{shown.name}, round {shown.round} of {shown.rounds}"
        if match is None:
            is_late = shown.rounds is not None and not any(row.team == self._team for row in shown.rows)
            waits = "joins from the next round on" if is_late else "waits for its next game"
            return f"{begun}: {self._standing(shown)}; {waits}"
        if len(match.teams) == 1:
            return f"{begun}: {stands}has a bye; {self._next(shown)}"
        if match.places:
            place = match.places[match.teams.index(self._team)]
            stands = f"{self._standing(shown)}{' so far' * bool(_left(shown))}"
            return f"{begun}: {_ordinal(place)} of {len(match.teams)}; {stands}; {self._next(shown)}"
        rivals = ", ".join(team for team in match.teams if team != self._team)
        if match.table is None:
            return f"{begun}: {stands}plays {rivals} when a table is free"
        return f"{begun}: {stands}plays {rivals} at {f'table {match.table}' if match.table else 'the default table'}"

    def _standing(self, shown: EveningShown) -> str:
        row = next((row for row in shown.rows if row.team == self._team), None)
        if row is None:
            return f"is below place {len(shown.rows)}" if shown.teams > len(shown.rows) else "has not played"
        points = row.points / 1000
        return f"stands {_ordinal(row.place)} of {shown.teams} with {points:g} point{'s' * (points != 1)}"

    @staticmethod
    def _next(shown: EveningShown) -> str:
        """Return when the team plays next."""
        left = _left(shown)
        if shown.rounds is not None and shown.round >= shown.rounds:
            what = "the league is over"
        else:
            what = "the next round begins"
        return f"{what} when {left} more game{'s are' if left > 1 else ' is'} over" if left else f"{what} now"


def _left(shown: EveningShown) -> int:
    """Return how many games of the round are not over."""
    return sum(len(match.teams) > 1 and not match.places for match in shown.matches)


def _ordinal(number: int) -> str:
    ending = "th" if number // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
