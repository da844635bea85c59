"""``salvo tournament``: run one, show it again, begin a file."""

from __future__ import annotations

import errno
import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Final

import click

from salvo.atomic_file import create_file
from salvo.cli.checked import Suggesting
from salvo.cli.options import JOBS, json_option
from salvo.cli.output import print_table
from salvo.programs.linux import cores
from salvo_display.replay_text import counted
from salvo_game.standings.points_and_ratings import plackett_luce, score_cells
from salvo_lab.tournament.file import TournamentError, load_tournament
from salvo_lab.tournament.games import GamesFile, check_code, read_games
from salvo_lab.tournament.page import write_page
from salvo_lab.tournament.run import games_path, play_tournament, stand
from salvo_lab.tournament.schedule import number_of_games
from salvo_lab.tournament.standings import Row, Standings, command_of, record

_EXAMPLE: Final = """\
# A tournament of bots: salvo tournament run FILE
name = "spring cup"
format = "round_robin"   # each against each; swiss: about equals, round by round; free_for_all: several at a table
games = 10               # of each pairing or table; the seats go round
# rounds = 5             # of swiss and free_for_all; as many as needed when not given
# seats = 4              # the most players of a game in free_for_all
rules = "salvo"          # a ruleset that ships, or a TOML file
# seed = 1               # decides all that is drawn; a bot can guess a short one: leave it out among rivals

[bots]                   # name = file.py, file.py:Name, file.js, exec:COMMAND, as seen from here, or one of salvo bots
hunter = "hunter"
random = "random"

[time]                   # wall time; what takes longer, raises or is illegal costs the turn and is a strike
decision_seconds = 5     # for a salvo
bank_seconds = 60        # for all of a game
strikes = 3              # with this many a bot is out of that game
"""
_HEADINGS: Final = ("place", "bot", "points", "games", "won", "tied", "lost", "strikes", "rating", "95%")
_FILE = click.argument("file", metavar="FILE.toml", type=click.Path(path_type=Path))


@click.group(cls=Suggesting)
def tournament() -> None:
    """Let bots play a tournament in processes of this machine, without a broker."""


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
@click.option("--fresh", is_flag=True, help="Set aside the games that were played, and play everything again.")
@json_option("One JSON object in place of the table.")
@click.pass_context
def run(
    ctx: click.Context,
    file: Path,
    jobs: int | None,
    fresh: bool,
    as_json: bool,
) -> None:
    """Play the tournament of a file, or what is left of it.

    The paths of bots and rules are relative to FILE's folder. Games are saved as they end, in FILE.games.jsonl. After
    an interruption, by Ctrl-C or a power failure, the same command continues with the same results. Bots play in
    separate processes; what they print is discarded.
    """
    page = file.with_suffix(".html")
    path, written = ctx.with_resource(_beside(file, page))
    given = load_tournament(path)
    plackett_luce()  # a missing package is reported before anything is played
    marks = given.fingerprint()
    games = GamesFile(games_path(path), marks, seed=given.seed, fresh=fresh)
    if games.aside is not None:
        click.echo(f"the games of before are in {file.with_name(games.aside.name)}", err=True)
    given = given.with_seed(games.seed)
    try:
        with _progress(number_of_games(given), len(games.games)) as played:
            play_tournament(path, given, games, jobs or cores(), played)
    except KeyboardInterrupt:
        so_far = f"{len(games.games)} of {number_of_games(given)} games are played and kept"
        click.echo(f"\n{so_far}; go on: {_command('run', file)}", err=True)
        raise
    finally:
        if changed := games.mend():
            click.echo(f"warning: {changed}", err=True)
        games.close()
    came_to = stand(given, games.games)
    _print(came_to, file, as_json)
    write_page(came_to, written)
    if not as_json:
        click.echo(f"page:   {page}")
        click.echo(f"games:  {games_path(file)}")
        click.echo(f"again:  {_command('show', file)}")


@tournament.command()
@_FILE
@json_option("One JSON object in place of the table.")
@click.pass_context
def show(ctx: click.Context, file: Path, as_json: bool) -> None:
    """Print the table of the games played so far, even during a tournament."""
    path, _ = ctx.with_resource(_beside(file, file))
    given = load_tournament(path)
    seed, games = read_games(games_path(path), given.fingerprint())
    came_to = stand(given.with_seed(seed or given.seed), games)
    _print(came_to, file, as_json)
    with _as_a_note():
        check_code(games_path(path), games)
    if not came_to.complete and not as_json:
        click.echo(f"go on:  {_command('run', file)}")


@contextmanager
def _as_a_note() -> Iterator[None]:
    """Say that the bots have changed; what their games came to stands."""
    try:
        yield
    except TournamentError as error:
        click.echo(f"note: {error.text}", err=True)


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


def _print(came_to: Standings, file: Path, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(record(came_to)))
        return
    given = came_to.tournament
    played = f"{'' if came_to.complete else f'{len(came_to.games)} of '}{counted(came_to.all_games, 'game')}"
    click.echo(f"{given.name}: {given.format}, rules {given.rules}, seed {given.seed or 'not chosen yet'}, {played}")
    print_table(_HEADINGS, [score_cells(row, _strikes(row)) for row in came_to.rows])
    there = "" if file.parent == Path() else f"cd {shlex.quote(str(file.parent))} && "
    for row in [row for row in came_to.rows if row.strikes]:
        game = next(game for game in came_to.games if row.name in game.bots and game.strikes[game.bots.index(row.name)])
        cause = game.strikes[game.bots.index(row.name)][0]
        click.echo(f"strike: {row.name}, the first of {row.strikes}: {cause}")
        click.echo(f"        see it: {there}{command_of(game, given)}")


def _strikes(row: Row) -> str:
    return str(row.strikes) if not row.forfeits else f"{row.strikes} ({row.forfeits} out)"
