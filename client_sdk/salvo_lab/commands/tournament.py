"""``salvo tournament``: run one, show it again, begin a file."""

from __future__ import annotations

import errno
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import click

from salvo.bots.programs.linux import cores
from salvo.bots.programs.sandbox import check as check_sandbox
from salvo.cli.checked import Suggesting
from salvo.cli.options import JOBS, json_option
from salvo.cli.output import write_page
from salvo.system.atomic_file import create_file
from salvo_display.replay_text import counted
from salvo_game.standings.points_and_ratings import plackett_luce
from salvo_lab.commands.series import CSV, PAGE, print_series, show_series
from salvo_lab.series.lines import SeriesKind
from salvo_lab.series.page import page
from salvo_lab.series.record import read_record, record_path
from salvo_lab.series.standings import SeriesStandings
from salvo_lab.tournament.file import TournamentError, load_tournament
from salvo_lab.tournament.folder import PROBLEM, SETTINGS, TeamFolder
from salvo_lab.tournament.games import GamesFile, entered
from salvo_lab.tournament.pairings import number_of_games, schedule
from salvo_lab.tournament.run import play_tournament, stand

_EXAMPLE: Final = """\
# A tournament of bots: salvo tournament run FILE
name = "spring cup"
format = "round_robin"   # each against each; swiss: about equals, round by round; free_for_all: several at a table
games = 10               # of each pairing or table; the seats go round
# rounds = 5             # of swiss and free_for_all; as many as needed when not given
# seats = 4              # the most players of a game in free_for_all
rules = "salvo"          # a ruleset that ships, or a TOML file
# seed = 1               # decides all that is drawn; a bot can guess a short one: leave it out among rivals
# sandbox = true         # for bots of strangers: no network, no process, no file but those of their folders

[bots]                   # name = file.py, file.py:Name, file.js, exec:COMMAND, as seen from here, or one of salvo bots
hunter = "hunter"
random = "random"

[time]                   # wall time; what takes longer, raises or is illegal costs the turn and is a strike
decision_seconds = 5     # for a salvo
bank_seconds = 60        # for all of a game
strikes = 3              # with this many a bot is out of that game
"""
_FILE = click.argument("file", metavar="FILE.toml", type=click.Path(path_type=Path))


class _OfFolders(Suggesting):
    """A group whose command ``run`` need not be named before a folder."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        folder = args[0] not in self.commands and Path(args[0]).is_dir()
        return super().resolve_command(ctx, ["run", *args] if folder else args)


@click.group(cls=_OfFolders)
def tournament() -> None:
    """Let bots play a tournament in processes of this machine, without a broker.

    ``salvo tournament FOLDER`` plays those in the subfolders of a folder.
    """


@tournament.command()
@_FILE
def init(file: Path) -> None:
    """Write an example file with comments."""
    try:
        file.parent.stat()  # a folder that is not there is a slip
        if not create_file(file, _EXAMPLE.encode(), 0o666):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    except OSError as error:
        raise TournamentError("bad_tournament", f"{file}: {error.strerror}; name another file") from None
    click.echo(f"play it: {_command('run', file)}")


@tournament.command()
@_FILE
@JOBS
@json_option("One JSON object instead of the table.")
@click.pass_context
def run(
    ctx: click.Context,
    file: Path,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Play the tournament of a file, or what is left of it.

    The paths of bots and rules are relative to FILE's folder. Games are saved as they end, in FILE.games.jsonl. After
    an interruption, by Ctrl-C or a power failure, the same command continues with the same results; when a bot has
    changed, it plays that one's games again. Rename the file of games to begin again. Bots play in separate processes;
    what they print is discarded.

    FILE may be a folder: each subfolder is a bot's, and what does not load, or places no legal fleet, reads why in
    NAME.problem.txt beside its folder. FOLDER/tournament.toml may have the settings.
    """
    plackett_luce()  # a missing package is reported before anything is played
    again, teams = file, None
    if file.is_dir():
        file = file / SETTINGS
        path = file.absolute()
        page_file, written = file.with_suffix(".html"), path.with_suffix(".html")
        copy = ctx.with_resource(TemporaryDirectory(prefix="salvo-", ignore_cleanup_errors=True))
        teams = TeamFolder(path.parent, Path(copy))
        given = teams.empty
        ctx.with_resource(chdir(copy))
    else:
        page_file = file.with_suffix(".html")
        path, written = ctx.with_resource(_beside(file, page_file))
        given = load_tournament(path)
    if given.sandbox:
        check_sandbox()
    games = GamesFile(record_path(path, SeriesKind.TOURNAMENT), given)
    if teams is not None:
        try:
            given = teams.try_out(games.lines)
            games.take(given)
        except BaseException:
            games.close()
            raise
        finally:
            for problem in sorted(path.parent.glob(f"*{PROBLEM}")):
                click.echo(f"{problem.name.removesuffix(PROBLEM)} does not play; {problem.name} says why", err=True)
    given = given.with_seed(games.seed)
    in_all, before = number_of_games(given), len(schedule(given, games.games)[1])
    if games.replaced:
        left = f"{in_all - before} of {counted(in_all, 'game')} are left to play"
        click.echo(f"{', '.join(games.replaced)} changed: {left}; earlier games stay in the record", err=True)
    try:
        with _progress(in_all, before) as played:
            given = play_tournament(path, given, games, jobs or cores(), played, _leaving_out(teams))
    except KeyboardInterrupt:
        so_far = f"{len(schedule(given, games.games)[1])} of {in_all} games are played and saved"
        click.echo(f"\n{so_far}; go on: {_command('run', again)}", err=True)
        raise
    finally:
        if changed := games.mend():
            click.echo(f"warning: {changed}", err=True)
        games.close()
    came_to = stand(given, games.lines, games.versions)
    print_series(came_to, file, as_json=as_json)
    write_page(written, page(came_to))
    if not as_json:
        click.echo(f"page:   {page_file}")
        click.echo(f"games:  {record_path(file, SeriesKind.TOURNAMENT)}")
        click.echo(f"again:  {_command('show', again)}")


@tournament.command()
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@json_option("One JSON object instead of the table.")
@CSV
@PAGE
def show(file: Path, as_json: bool, csv_file: Path | None, page_file: Path | None) -> None:
    """Print the standings of a tournament or league, even while it is played.

    FILE is its TOML file or its record, FILE.games.jsonl or FILE.league.jsonl. The record is enough: bots, rules and
    servers may be gone. Games of the bots' last versions count; what earlier versions came to is listed below.
    FILE may be a folder of bots, whose subfolders count that are there.
    """
    begun = _of_folder if file.is_dir() else _begun
    show_series(file, SeriesKind.TOURNAMENT, begun, as_json=as_json, csv_file=csv_file, page_file=page_file)


def _begun(file: Path) -> SeriesStandings:
    with _beside(file, file) as (path, _):
        return stand(load_tournament(path))


def _of_folder(folder: Path) -> SeriesStandings:
    recorded = read_record(record_path(folder / SETTINGS, SeriesKind.TOURNAMENT))
    lines = recorded.lines if recorded is not None else []
    with chdir(folder):
        given = TeamFolder(Path.cwd(), Path.cwd()).those_that_played(lines)
    seed = recorded.head.seed if recorded is not None else ""
    return stand(given.with_seed(seed), lines, entered(lines))


def _leaving_out(teams: TeamFolder | None) -> Callable[[str, str], None] | None:
    if teams is None:
        return None

    def note(name: str, problem: str) -> None:
        teams.note(name, problem)
        click.echo(f"{name} does not play any more; {teams.problem_file(name).name} says why", err=True)

    return note


@contextmanager
def _beside(file: Path, page: Path) -> Iterator[tuple[Path, Path]]:
    """Let what a file names be as seen from its folder, from wherever the command is given; return where both are."""
    if file.parent == Path() or not file.parent.is_dir():
        yield file, page
        return
    there = file.absolute(), page.absolute()
    with chdir(file.parent):
        yield there


def _command(name: str, file: Path) -> str:
    return shlex.join(["salvo", "tournament", name, str(file)])


@contextmanager
def _progress(in_all: int, before: int) -> Iterator[Callable[[int], None]]:
    """Show how far it is and how long it will take, on a terminal."""
    if not sys.stderr.isatty() or before >= in_all:
        yield lambda count: None
        return
    began, done = time.monotonic(), 0
    if before:
        click.echo(f"{before} of {in_all} games were played before", err=True)
    with click.progressbar(length=in_all - before, label="games", file=sys.stderr, show_pos=True) as bar:

        def played(count: int) -> None:
            nonlocal done
            done += count
            bar.update(count)

        yield played
    click.echo(f"{done / (time.monotonic() - began):.0f} games a second", err=True)
