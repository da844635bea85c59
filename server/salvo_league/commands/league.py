"""``salvo league``: games over the tables of a running contest server."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import click

from salvo.cli.checked import DEFAULT_BROKER, Suggesting, refuse_unused_ca
from salvo.cli.options import CA, URL, json_option
from salvo.cli.output import end_with_input, host_account
from salvo.cli.service_output import print_without_waiting
from salvo.net.mqtt import without_password
from salvo.table_places import cells_of, place_name
from salvo_display.replay_text import counted
from salvo_lab.commands.series import print_series, standings_of
from salvo_lab.series.lines import (
    Annulled,
    Assigned,
    Back,
    Began,
    Closing,
    Drawn,
    FixtureEnded,
    LeagueLine,
    LeagueResult,
    Plain,
    SeriesKind,
    Voided,
    write_line,
)
from salvo_lab.series.record import read_record, record_path
from salvo_league.all_brokers import AllBrokers
from salvo_league.commands.league_show import show
from salvo_league.director import Director
from salvo_league.house_bots import house_bots
from salvo_league.league_file import load_league
from salvo_league.league_state import LeagueState
from salvo_league.run import play_league
from salvo_server.operations.supervisor import programs_beside
from salvo_server.spectators.game_lengths import duration


class _RunningLeague(Suggesting):
    """A group whose command ``run`` needs not be named: ``salvo league FILE.toml URL``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the command in front where there is none."""
        named = {*self.commands, *ctx.help_option_names}
        if args and args[0] not in named and (args[0].startswith("-") or Path(args[0]).suffix):
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_RunningLeague)
def league() -> None:
    """Play a league over the tables of a running contest server (salvo league FILE.toml URL), or show standings."""


league.add_command(show)


@league.command()
@click.argument("file", metavar="FILE.toml", type=click.Path(path_type=Path))
@click.argument("urls", metavar="[URL]...", nargs=-1, type=URL)
@click.option("--fill", metavar="BOT", help="Fill empty seats with this built-in bot, on the accounts in [fill].")
@CA
@json_option("JSON lines: what happens, and the table at the end.")
def run(
    file: Path,
    urls: tuple[str, ...],
    fill: str | None,
    ca: str | None,
    as_json: bool,
) -> None:
    """Play the league of FILE.toml at the tables of the contest at URL, or what is left of it.

    FILE.toml is that of an evening, whose section [league] salvo serve plays by itself, or has a league alone.
    With several URLs, the teams are seated at the tables of all these servers, which share nothing but the roster; the
    addresses are those that teams reach. By default, URL is mqtt://127.0.0.1:1883.

    It acts as a host: salvo teams add NAME --role host. The account is in the first URL, mqtt://NAME@HOST, or in
    SALVO_TEAM and SALVO_SECRET. Teams ask to take part at the default table; salvo join without --table goes from there
    to the seats that they get.

    What was decided and what came of it is saved at once, in FILE.league.jsonl. After an interruption, by Ctrl-C or a
    power failure, the same command continues it; when the league is over, it shows the table and changes nothing.
    """
    beside_server = end_with_input()
    refuse_unused_ca(*urls)
    given = load_league(file)
    if _show_end(file, as_json):
        return
    urls = urls or (DEFAULT_BROKER,)
    team, secret = host_account(urls[0])
    print_without_waiting(as_json=as_json)
    urls = tuple(without_password(url) for url in urls)
    brokers = cells_of(urls)
    if len(brokers) < len(urls):
        raise click.UsageError("the same URL is given twice; each is another server's broker")
    house = house_bots(file, given, urls[0], fill, ca) if fill is not None else []
    record = given.record(file)
    try:
        state = LeagueState(given.with_seed(record.seed), record.lines, filling=bool(house))
        director = Director(state, team, list(brokers))
        cells = AllBrokers(brokers, team, secret, director.tables, ca=ca)
        if record.lines:
            report_progress(director.book, as_json)
        try:
            with programs_beside(house, lambda name, line: None):
                published = play_league(director, record, cells, _teller(as_json, director), waiting(as_json))
                print_series(director.book.standings(), file, as_json=as_json)
                if published:
                    opens = shlex.join(["salvo", "control", "next", urls[0], "--all"])
                    click.echo(f"podium and table stay until a host opens the tables: {opens}", err=True)
                else:
                    click.echo("a server did not answer, and does not know that the league is over", err=True)
        except (KeyboardInterrupt, SystemExit):
            again = shlex.join(["salvo", "league", str(file), *urls])
            if not beside_server:
                click.echo(f"\n{counted(len(record.lines), 'line')} written; to continue: {again}", err=True)
            raise
        finally:
            cells.close()
    finally:
        record.close()


def _show_end(file: Path, as_json: bool) -> bool:
    """Print the table of a league that is over; return whether it is."""
    recorded = read_record(record_path(file, SeriesKind.LEAGUE))
    if recorded is None or not any(isinstance(line, FixtureEnded) for line in recorded.lines):
        return False
    print_series(standings_of(recorded), file, as_json=as_json)
    click.echo(f"it is over; rename {record_path(file, SeriesKind.LEAGUE)} to play it again", err=True)
    return True


def _teller(as_json: bool, director: Director) -> Callable[[LeagueLine], None]:
    def tell(line: LeagueLine) -> None:
        if as_json:
            click.echo(json.dumps(write_line(line)))
        else:
            for text in news_of(line, director.book, director.rules):
                click.echo(text)

    return tell


def news_of(line: LeagueLine, book: LeagueState, rules: str) -> list[str]:
    """Return what a line says to people."""
    match line:
        case Began():
            return [f"{book.league.name} begins"]
        case Drawn():
            return [
                _round(line),
                *([*how_long(book, rules), *who_follows_no_seat(book, rules)] if line.drawn == 1 else ()),
            ]
        case Assigned(_, at, game, teams):
            return [f"{place_name(at)}, game {game}: {', '.join(teams)}"]
        case Closing(match, there):
            why = f"only {there[0]} has come" if there else "nobody has come"
            return [f"game of {', '.join(book.matches[match].teams)}: {why}"]
        case LeagueResult(teams=teams, places=places, absent=absent):
            seats = sorted(zip(places, teams, absent, strict=True))
            ranks = [f"{place}. {team}" for place, team, out in seats if not out]
            ranks += [f"{team} did not come" for _, team, out in seats if out]
            return [f"{_game(line)}, result: {', '.join(ranks)}"]
        case Voided(match, why):
            return [f"game of {', '.join(book.matches[match].teams)} is played again: {why}"]
        case Plain() if book.round:  # else it is printed with the first round, when the teams are known
            return who_follows_no_seat(book, rules)
        case Back(team):
            return [f"{team} is back"]
        case Annulled(match, by):
            return [f"{_game(book.results[match])} no longer counts: annulled by {by}"]
    return []


def _round(line: Drawn) -> str:
    byes = [teams[0] for teams in line.matches if len(teams) == 1]
    games = len(line.matches) - len(byes)
    return f"round {line.drawn}: {counted(games, 'game')}" + (f", {byes[0]} has a bye" if byes else "")


def who_follows_no_seat(book: LeagueState, rules: str) -> list[str]:
    """Return which teams share the default table, and how much longer the rest of the league takes for them."""
    names, teams, league = sorted(book.plain & book.teams.keys()), max(2, len(book.teams)), book.league
    if not names or not any(league.tables):
        return []
    where = f"{names[0]} follows no seat, and plays at the default table"
    if len(names) > 1:
        who = f"{', '.join(names[:-1])} and {names[-1]}"
        where = f"{who} follow no seat, and play at the default table, one game after the other"
    with_them, without = (league.seconds(teams, rules, plain) for plain in (len(names), 0))
    if with_them is None or without is None:
        return [where]
    left = 1.0 if league.rounds is None else (league.rounds + 1 - book.round) / league.rounds
    more = (with_them - without) * left
    return [f"{where}: the league takes {f'about {duration(more)}' if more else 'no'} longer for that"]


def how_long(book: LeagueState, rules: str) -> list[str]:
    """Return how long a game and all of them take; nothing where the server's settings decide that."""
    league, teams = book.league, max(2, len(book.teams))
    game, whole = (
        league.game_seconds(min(league.table_size, teams), rules),
        league.seconds(teams, rules, len(book.plain)),
    )
    if game is None and league.minutes is not None:
        return [f"nobody knows how many turns a game has by {rules}, so the server's pace holds; write pace_seconds"]
    if game is None:
        return []
    evening = "" if whole is None else f", all games of {teams} teams about {duration(whole)}"
    return [f"a game takes about {duration(game)}{evening}, longer where teams use their time"]


def _game(result: LeagueResult) -> str:
    return f"{place_name(result.table)}, game {result.game}"


def report_progress(book: LeagueState, as_json: bool) -> None:
    """Print what an earlier run has left."""
    games = list(book.assigned.values())
    if as_json:
        click.echo(json.dumps({"goes_on": len(book.results), "games": [write_line(line) for line in games]}))
        return
    click.echo(f"{book.league.name}: continues, {counted(len(book.results), 'game')} played, {len(games)} on")
    for line in games:
        click.echo("".join(news_of(line, book, "")))


def waiting(as_json: bool) -> Callable[[list[str], list[str]], None]:
    """Return what says who waits, and for which tables the league waits, whenever that has changed."""
    reported: dict[str, list[str]] = {"waiting": [], "busy": []}

    def tell(teams: list[str], tables: list[str]) -> None:
        for what, names in (("waiting", teams), ("busy", tables)):
            if names == reported[what]:
                continue
            reported[what] = names
            if as_json:
                click.echo(json.dumps({what: names}))
            elif what == "waiting" and names:
                click.echo(f"waiting: {', '.join(names)}")
            elif names:
                where = ", ".join(map(place_name, names))
                click.echo(
                    f"a game that is not the league's is on at {where}; the league waits until its result was shown"
                )

    return tell
