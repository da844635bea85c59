"""What ``salvo serve`` prints about its tables: lines for people, or JSON records for programs."""

from __future__ import annotations

import json
import shlex
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import click

from salvo import messages as m
from salvo.cli.output import look_again, places_line, watch_line
from salvo.codec.announcements import HOSTED
from salvo.codec.commands import HOST_ARGUMENTS
from salvo.join.fairness.proof import proof_path
from salvo.messages import State
from salvo.table_state import GameForgotten, SalvoCounted, TableState
from salvo_display.boards.text_boards import OUT
from salvo_game.journal_interface import GameOpened, SavedGame
from salvo_game.referee import Referee
from salvo_server.contest import Contest
from salvo_server.settings import ServerSettings
from salvo_server.spectators.game_lengths import duration, turns_of
from salvo_server.storage.journal.games_in_play import GamesInPlay
from salvo_server.storage.transcript_folder import TranscriptFolder

#: What a server calls the web front that it runs.
WEB_FRONT: Final = "web front"
#: And the league.
LEAGUE: Final = "league"
#: Games of more teams are better played as several.
MANY_TEAMS: Final = 6
NEW_LEAGUE: Final = "salvo evening DIR --teams N --hours H"


class ServeReport:
    """Prints what happens at the tables.

    Attributes:
        contest: the contest reported on; set once it exists.
        games_in_play: the games of this run; None when no transcripts are written.
        folder: where transcripts go; None when none are written.
    """

    def __init__(self, as_json: bool, games: int | None) -> None:
        self._as_json = as_json
        self._games = games
        self._tables: defaultdict[str, TableState] = defaultdict(TableState)
        self._ended: Counter[str] = Counter()  # games by table
        self._absent: set[tuple[str, str]] = set()  # table and player
        self._advised: dict[str, int] = {}  # for how many teams, by table
        self.contest: Contest | None = None
        self.games_in_play: GamesInPlay | None = None
        self.folder: TranscriptFolder | None = None

    def report_unfinished_games(self, settings: ServerSettings) -> None:
        """Report the unfinished games in the journal."""
        assert self.contest is not None
        if settings.journal in (None, "none"):
            return
        for table in self.contest.service.tables.values():
            referee = table.referee
            if referee.state is State.TURN:
                prefix = _prefix(referee.table)
                self.say(
                    f"{prefix}game {referee.number} is not over; it resumes if the server starts with --resume always",
                    event="unfinished",
                    table=referee.table,
                    game=referee.number,
                )

    def report_output(self, program: str, line: str) -> None:
        """Print a line of a program that runs beside this server; the web front prints JSON."""
        if program == WEB_FRONT:
            try:
                urls = json.loads(line)["urls"]
            except (ValueError, KeyError):  # a line that is cut, or the number of those that are missing
                self.say(f"{program}: {line}", event="web", text=line)
            else:
                self.say(watch_line(urls), event="web", urls=urls)
            return
        if program == LEAGUE:
            self.say(f"{program}: {line}", event="league", text=line)
            return
        protocol = program.removeprefix("gateway ")
        self.say(f"{program}: {line}", event="gateway", protocol=protocol, text=line)

    def report_resumed_games(self) -> None:
        """Report which games were resumed from the journal, and their state."""
        assert self.contest is not None
        if self.folder is not None and self.games_in_play is not None:
            for game in self.games_in_play.games():  # the former server may have died before it wrote them
                self.folder.write_annulments(game)
        resumed = self.contest.service.play.resumed
        for table in self.contest.service.tables.values():
            referee = table.referee
            if table.name not in resumed:
                continue
            self._tables[referee.table].apply(m.TableOpened(referee.number))
            turn, current = (0 if referee.game is None else referee.game.turn), referee.current
            if referee.state is State.TURN and current is not None:
                status = f"game {referee.number} resumes: turn {turn}, {current.name}'s"
            elif referee.state is State.TURN:
                status = f"game {referee.number} resumes: a pause before turn {turn}"
            elif referee.state is State.LOBBY:
                status = f"game {referee.number}: its lobby continues"
            else:
                status = f"game {referee.number} is over, and its result stands"
            if referee.stage.paused:
                status += "; paused by a host, until one resumes it"
            players = list(referee.players)
            is_new = referee.next_differs and not referee.limits.by_host  # what a host has set holds for one game
            new_from = referee.number + 1 if is_new else None
            new = "" if new_from is None else f"; the new settings hold from game {new_from} on"
            self.say(
                f"{_prefix(referee.table)}{status}; players: {', '.join(players) or 'none'}{new}",
                event="resumed",
                table=referee.table,
                game=referee.number,
                state=referee.state.value,
                turn=turn,
                current=None if current is None else current.name,
                players=players,
                new_settings_from=new_from,
                paused=referee.stage.paused,
            )

    def say(self, line: str, **record: Any) -> None:
        """Print an event with the current time; ``record`` is its form for programs."""
        now = datetime.now().astimezone()
        record["at"] = now.isoformat(timespec="milliseconds")
        click.echo(json.dumps(record) if self._as_json else f"{now:%H:%M:%S} {line}")
        sys.stdout.flush()

    def print_for_person(self, line: str) -> None:
        """Print a line that no event causes."""
        click.echo(f"{datetime.now().astimezone():%H:%M:%S} {line}")

    def __call__(self, table: str, now: int, command: m.Input | None, announcements: Sequence[m.Announcement]) -> None:
        prefix = _prefix(table)
        if isinstance(command, m.Skip):
            self._report_given_up(table, command, announcements)
        seen = self._tables[table]
        for announcement in announcements:
            for change in seen.apply(announcement):
                if isinstance(change, SalvoCounted):
                    self._report_defeats(table, change.result, change.fates)
                elif isinstance(change, GameForgotten):
                    self._absent = {(where, name) for where, name in self._absent if where != table}
            match announcement:
                case m.TableOpened(opened):
                    self.say(f"{prefix}game {opened}: lobby is open", event="lobby", table=table, game=opened)
                case m.PlayersListed(names):
                    listed = f"{prefix}{self._in_game(table)}players: {', '.join(names) or 'none'}"
                    self.say(listed, event="players", table=table, game=seen.opened or None, names=names)
                    self._advise(table, len(names))
                case m.StateChanged(State.TURN):
                    foreseen = self._foreseen(table)
                    begins = f"{prefix}{self._in_game(table)}the game begins{foreseen and f': {foreseen}'}"
                    self.say(begins, event="begin", table=table, game=seen.opened or None)
                case m.HostActed():
                    done = f"{prefix}{self._in_game(table)}{announcement}"
                    fields = HOSTED.value(announcement)
                    argument = {key: fields[key] for key in HOST_ARGUMENTS.values() if key in fields}
                    self.say(done, event="host", table=table, by=announcement.by, do=announcement.do.value, **argument)
                    if (
                        self.folder is not None
                        and self.games_in_play is not None
                        and announcement.do is m.HostAction.ANNUL
                    ):
                        self.folder.write_annulments(self.games_in_play.game(table, seen.opened))
                case m.CommandRefused(by, code, text) if isinstance(command, m.HostCommand) and by == command.by:
                    refused = f"{prefix}{self._in_game(table)}{command.who} cannot {command.do}: {text}"
                    self.say(refused, event="host_refused", table=table, by=by, do=command.do.value, code=code)
                case m.CommandRefused(player, "placement_timeout" as code, _) if (
                    m.StateChanged(State.TURN) in announcements
                ):
                    left_out = f"{player}: left out; the game begins with those whose fleets are complete"
                    self.say(f"{prefix}{left_out}", event="missed", table=table, player=player, code=code)
                case m.CommandRefused(player, "turn_timeout" | "bank_empty" | "placement_timeout" as code, text):
                    if (table, player) not in self._absent:
                        self.say(f"{prefix}{player}: {text}", event="missed", table=table, player=player, code=code)
                        self._report_if_absent(table, player)
                case m.SalvoResolved(player=player, shots=shots) if shots:
                    self._absent.discard((table, player))
                case m.GameWon():
                    self._report_end(table, seen, announcement)
                case _:
                    pass

    def evening_changed(self) -> None:
        """Write the table of a league that is over; while it runs, that is done with each game."""
        if self.folder is not None and self.contest is not None:
            evening = self.contest.service.play.evening.shown
            if evening.over:
                self.folder.write_evening(evening)

    def game_closed(self, game: SavedGame) -> None:
        """Look soon whether a game that is closed ever began."""
        if self.folder is not None:
            self.folder.read_lobby(game)

    def written(self, game: GameOpened, file: Path) -> None:
        """Report where a game's transcript and its proof are."""
        proof = proof_path(file)
        verify = f"; was it fair: salvo verify {shlex.quote(str(proof))}"
        self.say(
            f"{_prefix(game.table)}game {game.number}: {look_again(file)}{verify}",
            event="transcript",
            table=game.table,
            game=game.number,
            file=str(file),
            proof=str(proof),
        )

    def _referee(self, table: str) -> Referee | None:
        return None if self.contest is None else self.contest.service.tables[table].referee

    def _foreseen(self, table: str, teams: int | None = None) -> str:
        """Return how long a game of those who are listed, or of so many teams, will take; empty if nobody knows."""
        referee = self._referee(table)
        if referee is None:
            return ""
        teams = len(referee.players) if teams is None else teams
        turns, pace_ms = turns_of(referee.book.name, teams), referee.limits.pace_ms or 0
        if turns is None:
            return ""
        at_this_pace = f", {duration(turns * pace_ms / 1000)} at this pace" if pace_ms else ""
        return f"{teams} teams, about {turns} turns{at_this_pace}"

    def _advise(self, table: str, teams: int) -> None:
        """Report once how long the game of a lobby gets that should be several games."""
        referee = self._referee(table)
        if referee is None or referee.state is not State.LOBBY or referee.limits.by_host or referee.limits.held:
            return
        if teams <= max(MANY_TEAMS, self._advised.get(table, 0)) or not (foreseen := self._foreseen(table, teams)):
            return
        self._advised[table] = teams
        advice = f"places of such a game are mostly luck; a league plays at small tables: {NEW_LEAGUE}"
        self.say(f"{_prefix(table)}{foreseen}; {advice}", event="many_teams", table=table, teams=teams)

    def _in_game(self, table: str) -> str:
        return f"game {opened}: " if (opened := self._tables[table].opened) else ""

    def _report_if_absent(self, table: str, name: str) -> None:
        """Report once that a player is absent, and gets short turns; its further missed turns are not reported."""
        referee = self._referee(table)
        if referee is not None and referee.is_absent(name):
            self._absent.add((table, name))
            self.say(
                f"{_prefix(table)}{name} is passed over quickly until it comes back",
                event="absent",
                table=table,
                player=name,
            )

    def _report_defeats(self, table: str, salvo: m.SalvoResolved, fates: Mapping[str, m.Fate]) -> None:
        for name, fate in fates.items():
            by = f" by {salvo.player}" if fate is m.Fate.SUNK and name != salvo.player else ""
            self.say(
                f"{_prefix(table)}turn {salvo.turn}: {name} {OUT[fate]}{by}",
                event="defeated",
                table=table,
                game=salvo.game,
                turn=salvo.turn,
                player=name,
                by=salvo.player if by else None,
                fate=fate.value,
            )

    def _report_given_up(self, table: str, skip: m.Skip, announcements: Sequence[m.Announcement]) -> None:
        """Report a turn that a program gave up, where the rules have no skipping: it has failed."""
        refused = any(isinstance(answer, m.CommandRefused) and answer.to == skip.player for answer in announcements)
        book = None if self.contest is None else self.contest.service.tables[table].referee.terms.book
        if refused or not announcements or book is None or book.skipping:
            return
        turn = "its turn" if skip.context is None else f"turn {skip.context.turn}"
        text = f"{_prefix(table)}{skip.player}'s bot gave up {turn}"
        self.say(text, event="given_up", table=table, player=skip.player)

    def _report_end(self, table: str, seen: TableState, won: m.GameWon) -> None:
        assert self.contest is not None
        game, places = seen.opened, seen.game.places
        if self.folder is not None and self.games_in_play is not None:
            self.folder.write(self.games_in_play.game(table, game), self.contest.service.play.evening.shown)
        drawn = "starter chosen fairly" if self.contest.seed is None else f"seed {self.contest.seed}"
        self.say(
            f"{_prefix(table)}game {game}: {_outcome(won)}{f'; places: {places_line(places)}' * bool(places)}; {drawn}",
            event="won",
            table=table,
            game=game,
            winner=won.winner,
            places=places,
            seed=self.contest.seed,
        )
        self._ended[table] += 1
        tables = self.contest.service.tables
        if self._games is not None and all(self._ended[name] >= self._games for name in tables):
            self.contest.end()


def _outcome(won: m.GameWon) -> str:
    if not won.winners:
        return "no winner: the host has aborted it"
    return f"{' and '.join(won.tied)} tie" if won.tied else f"{won.winner} wins"


def _prefix(table: str) -> str:
    return f"table {table}: " if table else ""
