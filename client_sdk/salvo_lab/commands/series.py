"""``show`` of ``salvo tournament`` and ``salvo league``: the standings of a series, from its record alone."""

from __future__ import annotations

import csv
import io
import json
import shlex
from collections.abc import Callable, Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any, Final

import click

from salvo.cli.output import print_table, write_page
from salvo.errors import SalvoError
from salvo.system.atomic_file import replace_file
from salvo.table_places import place_name
from salvo_display.replay_text import counted
from salvo_game.standings.points_and_ratings import Score, score_cells, score_record
from salvo_lab.series.lines import SeriesKind, TournamentGame
from salvo_lab.series.page import page
from salvo_lab.series.record import Recorded, SeriesError, changed_settings, read_record, record_path
from salvo_lab.series.standings import SeriesRow, SeriesStandings, command_of, of_league, record
from salvo_lab.tournament.file import load_tournament
from salvo_lab.tournament.games import entered, replaced, versions_now
from salvo_lab.tournament.run import stand_of_record

_FILE: Final = click.Path(path_type=Path)
CSV: Final = click.option(
    "--csv", "csv_file", type=_FILE, help="Also write the table to this file, with a comma between cells."
)
PAGE: Final = click.option("--page", "page_file", type=_FILE, help="Also write a page for a browser to this file.")


def show_series(
    file: Path,
    kind: SeriesKind,
    begun: Callable[[Path], SeriesStandings],
    *,
    as_json: bool,
    csv_file: Path | None,
    page_file: Path | None,
) -> None:
    """Print what a series came to, and write that to files.

    Args:
        file: the TOML file of a tournament or league, or its record.
        kind: of series that the command is for.
        begun: returns the standings of such a TOML file of which no game is played.

    Raises:
        SeriesError: ``bad_results``.
        SalvoError: what ``begun`` raises, ``file_unusable`` or ``html_unwritable``.
    """
    path, recorded = _record_of(file, kind)
    came_to = begun(file) if recorded is None else standings_of(recorded)
    print_series(came_to, file, as_json=as_json)
    if csv_file is not None:
        write_csv(came_to.rows, came_to.series.kind.noun, csv_file)
    if page_file is not None:
        write_page(page_file, page(came_to))
    if came_to.series.kind is not SeriesKind.TOURNAMENT or path == file:
        return
    changed = "" if recorded is None else _changed(file, recorded)
    if changed:
        click.echo(f"note: games were played before {changed} changed", err=True)
    if (changed or not came_to.complete) and not as_json:
        click.echo(f"go on:  {shlex.join(['salvo', 'tournament', 'run', str(file)])}")


def _record_of(file: Path, kind: SeriesKind) -> tuple[Path, Recorded | None]:
    """Return where the record of a file is, and what it has; None where nothing was played."""
    if file.is_dir():
        return file, None  # of bots that come and go: what counts is not in the record alone
    if file.suffix != ".toml" and file.is_file():
        recorded = read_record(file)
        if recorded is None:
            raise SeriesError("bad_results", f"{file}: nothing is in it")
        return file, recorded
    kinds = sorted(SeriesKind, key=lambda other: other is not kind)
    for path in [record_path(file, kind) for kind in kinds]:
        if (recorded := read_record(path)) is not None:
            return path, recorded
    return record_path(file, kind), None


def standings_of(recorded: Recorded) -> SeriesStandings:
    """Return what a record comes to.

    Raises:
        MissingExtra: ``tournament`` is not installed.
    """
    if recorded.head.kind is SeriesKind.TOURNAMENT:
        return stand_of_record(recorded)
    return of_league(recorded.head, recorded.lines)


def _changed(file: Path, recorded: Recorded) -> str:
    """Return what of a tournament has changed since its games were played: settings, and bots."""
    with chdir(file.parent):
        given = load_tournament(Path(file.name))
        bots = replaced(entered(recorded.lines), versions_now(given, recorded.lines))
        return ", ".join([*changed_settings(recorded.head, given.settings()), *bots])


def print_series(came_to: SeriesStandings, file: Path, *, as_json: bool) -> None:
    """Print what a series came to.

    Args:
        file: its TOML file, or its record: commands that play a game again are for its folder.
    """
    if as_json:
        click.echo(json.dumps(record(came_to)))
        return
    series, noun = came_to.series, came_to.series.kind.noun
    own = "strikes" if series.kind is SeriesKind.TOURNAMENT else "missed"
    click.echo(_title(came_to))
    headings = ("place", noun, "points", "games", "won", "tied", "lost", own, "rating", "95%")
    print_table(headings, [score_cells(row, _own(row, series.kind)) for row in came_to.rows])
    _print_strikes(came_to, "" if file.parent == Path() else f"cd {shlex.quote(str(file.parent))} && ")
    for result, by in came_to.annulled:
        click.echo(f"not counted: {place_name(result.table)}, game {result.game}, annulled by {by}")
    for gone in came_to.earlier:
        figures = f"{counted(gone.games, 'game')}, {gone.points:.6g} points"
        click.echo(f"earlier: {gone.entered.entered} {gone.entered.version}, {gone.entered.source}: {figures}")


def _title(came_to: SeriesStandings) -> str:
    series = came_to.series
    if series.kind is SeriesKind.LEAGUE:
        return f"{series.name}: {series.format}, {counted(len(came_to.games), 'game')}"
    played = f"{'' if came_to.complete else f'{len(came_to.games)} of '}{counted(series.all_games or 0, 'game')}"
    return f"{series.name}: {series.format}, rules {series.rules}, seed {series.seed or 'not chosen yet'}, {played}"


def _own(row: SeriesRow, kind: SeriesKind) -> str:
    if kind is SeriesKind.LEAGUE:
        return str(row.missed)
    return str(row.strikes) if not row.forfeits else f"{row.strikes} ({row.forfeits} out)"


def _print_strikes(came_to: SeriesStandings, there: str) -> None:
    """Print each bot's first strike, and the command that shows it."""
    games = [game for game in came_to.games if isinstance(game, TournamentGame)]
    for row in [row for row in came_to.rows if row.strikes]:
        game = next(game for game in games if row.name in game.teams and game.strikes[game.teams.index(row.name)])
        cause = game.strikes[game.teams.index(row.name)][0]
        click.echo(f"strike: {row.name}, the first of {row.strikes}: {cause}")
        click.echo(f"        see it: {there}{command_of(game, came_to.series)}")


def write_csv(ranked: Sequence[Score], noun: str, path: Path) -> None:
    """Write a table of standings for a spreadsheet.

    Args:
        noun: the heading of the names.

    Raises:
        SalvoError: ``file_unusable``.
    """
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    figures: list[dict[str, Any]] = [{noun: score.name, **score_record(score)} for score in ranked]
    for row in figures:
        row |= {key: round(value, 3) for key, value in row.pop("rating").items() if key != "sigma"}
    names = ("place", noun, "points", "games", "wins", "ties", "losses", "opposition", "shots", "hits")
    columns = [*names, "mu", "low", "high"]
    rows.writerow([*names, "rating", "low", "high"])
    rows.writerows([[row[column] for column in columns] for row in figures])
    try:
        replace_file(path, text.getvalue().encode())
    except OSError as error:
        raise SalvoError("file_unusable", f"{path}: {error.strerror}; name another file with --csv") from None
