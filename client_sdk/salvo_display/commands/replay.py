"""``salvo replay``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, TypeVar

import click

from salvo.cli.checked import refuse_unused
from salvo.cli.options import json_option
from salvo.cli.output import Integer, has_terminal, keep_recorded, look_again, places_line, write_page
from salvo.messages import State
from salvo_display import replay_text
from salvo_display.replay import REFEREE, Replay
from salvo_display.web_page import html_page
from salvo_game.recordings import JournalGames, Recording, RecordingSummary, open_recordings

_Item = TypeVar("_Item")

#: What each thing to do with a game leaves aside.
_LEAVES_ASIDE: Final = {
    "--games": ("view", "turn"),
    "--check": ("view", "turn"),
    "--export": ("view", "turn", "as_json"),
    "--html": ("as_json",),
}


@click.command()
@click.argument("file")
@click.option("--view", default=REFEREE, help="Whose view: referee, or a player's name.")
@click.option("--turn", type=Integer(min=0), help="Show only this turn; a page starts at it.")
@json_option("One JSON line per turn, or per game with --games.")
@click.option("--check", "checked", is_flag=True, help="Replay the game and compare every announcement.")
@click.option("--export", type=click.Path(path_type=Path), help="Write the game as a transcript, .jsonl or .jsonl.gz.")
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Write the game as a page for a browser.")
@click.option("--games", "listed", is_flag=True, help="List the games of a journal.")
@click.option("--table", help="Table of a journal; the default table is ''.  [default: any]")
@click.option("--game", type=int, help="Game of a journal.  [default: the latest that has begun]")
def replay(
    file: str,
    view: str,
    turn: int | None,
    as_json: bool,
    checked: bool,
    export: Path | None,
    html: Path | None,
    listed: bool,
    table: str | None,
    game: int | None,
) -> None:
    """Show a game again. FILE is a transcript, a proof file, or a server's journal: a file, or postgresql://..."""
    asked = [option for option, given in zip(_LEAVES_ASIDE, (listed, checked, export, html), strict=True) if given]
    if len(asked) > 1:
        raise click.UsageError("--check, --export, --html and --games are different things; ask for one at a time")
    for action in asked:
        for option in _LEAVES_ASIDE[action]:
            refuse_unused(option, f"with {action}; leave one of them out")
    recordings = open_recordings(file, table, game)
    if listed:
        _list_games(recordings, as_json)
    elif checked:
        _check(recordings, as_json)
    elif export is not None:
        keep_recorded(export)
        steps = recordings.export(export)
        click.echo(f"{export}: {steps} steps; {look_again(export)}", err=not export.is_file())
    elif html is not None:
        _write(Replay(*recordings.executed()), view, turn, html)
    else:
        _print(Replay(*recordings.executed()), view, turn, as_json)


def _write(shown: Replay, view: str, turn: int | None, path: Path) -> None:
    write_page(path, html_page(shown, view, turn or 0))
    whose = "all boards" if view == REFEREE else f"what {view} knew"
    click.echo(f"{path}: {shown.turns} salvos, {whose}; open it in a browser")


def _print(shown: Replay, view: str, turn: int | None, as_json: bool) -> None:
    grid = shown.header.rules.book.grid
    if turn is not None:
        frame = shown.frame(view, turn)
        if as_json:
            click.echo(json.dumps({**replay_text.record(frame), "boards": replay_text.boards_record(frame, grid)}))
        else:
            click.echo("\n".join([replay_text.heading(shown, view), *replay_text.frame_lines(shown, frame, view)]))
        return
    frames = shown.frames(view)
    shown.frame(view, 0)
    if as_json:
        for frame in frames[1:]:
            click.echo(json.dumps(replay_text.record(frame)))
        return
    click.echo(replay_text.heading(shown, view))
    for line in replay_text.salvo_lines(shown, view):
        click.echo(line)
    click.echo("\n".join(["", *replay_text.frame_lines(shown, frames[-1], view)]))
    if frames[-1].places:
        click.echo(f"places: {places_line(frames[-1].places)}")


def _check(recordings: Recording | JournalGames, as_json: bool) -> None:
    games = steps = announcements = 0
    for of_game, announced in _with_progress(recordings.check(), len(recordings)):
        games += 1
        steps += of_game
        announcements += announced
    if as_json:
        click.echo(json.dumps({"games": games, "steps": steps, "announcements": announcements}))
    else:
        counted = f"{games} game{'s' * (games != 1)}, {steps} steps, {announcements} announcements"
        click.echo(f"{recordings.name}: {counted}: all come out as they are recorded")


def _with_progress(items: Iterator[_Item], count: int) -> Iterator[_Item]:
    if count == 1 or not has_terminal():
        yield from items
        return
    with click.progressbar(items, length=count, label="games", file=sys.stderr) as progress:
        yield from progress


def _list_games(recordings: Recording | JournalGames, as_json: bool) -> None:
    summaries = list(_with_progress(recordings.summaries(), len(recordings)))
    if as_json:
        for summary in summaries:
            click.echo(json.dumps(summary._asdict()))
        return
    for line in _columns(summaries):
        click.echo(line)


def _columns(summaries: Iterable[RecordingSummary]) -> Iterator[str]:
    rows = [("table", "game", "opened", "steps", "state", "players")]
    rows += [
        (
            game.table or "-",
            str(game.game),
            replay_text.when(game.at) or "-",
            str(game.steps),
            f"won by {game.winner}" if game.winner else "aborted" if game.state == State.OVER else game.state,
            game.trouble or ", ".join(game.players) or "-",
        )
        for game in summaries
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
