"""``salvo league show``: the standings of a contest."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from salvo.atomic_file import replace_file
from salvo.cli.checked import refuse_unused
from salvo.cli.options import json_option
from salvo.cli.output import print_table, write_page
from salvo.errors import SalvoError
from salvo_display.replay_text import counted
from salvo_display.replay_text import when as time_of
from salvo_display.standings_page import page
from salvo_game.journal_interface import JournalError, Result
from salvo_game.log_verification import Finding
from salvo_game.standings.chronicle import Chronicle, Standings
from salvo_game.standings.from_logs import read_logs
from salvo_game.standings.points_and_ratings import Score, score_cells, score_record
from salvo_server.commands.backup import settings_of
from salvo_server.storage.journal.database import DatabaseReader

_HEADINGS: Final = ("place", "team", "points", "games", "won", "tied", "lost", "hits", "shots", "rating", "95%")
_FILE: Final = click.Path(path_type=Path)


@click.command()
@click.argument("files", nargs=-1, type=_FILE, metavar="[FILE]...")
@click.option("--logs", is_flag=True, help="Count the signed logs FILE..., as salvo verify reads them.")
@click.option(
    "--journal",
    "journals",
    metavar="FILE|URL",
    multiple=True,
    help="The server's journal; may be repeated, for a contest at several.  [default: that of the server here]",
)
@click.option("--config", type=_FILE, help="A TOML file with the server's settings.")
@click.option("--all", "overall", is_flag=True, help="Count all games, not only those of the latest evening.")
@json_option("One JSON object in place of the table.")
@click.option("--csv", "csv_file", type=_FILE, help="Also write the table to this file, with a comma between cells.")
@click.option("--page", "page_file", type=_FILE, help="Also write a page for a browser to this file.")
def show(
    files: Sequence[Path],
    logs: bool,
    journals: Sequence[str],
    config: Path | None,
    overall: bool,
    as_json: bool,
    csv_file: Path | None,
    page_file: Path | None,
) -> None:
    """Print the standings of the latest evening, or over all games, also while the server runs.

    An evening is a run of games with less than six hours between the ends of one and the next. The results are those of
    the servers' journals, or with --logs those of signed logs, which anybody can check: the standings are the same.

    Exit code 1: a log does not hold; its games are left out, and the text names what is wrong.
    """
    for option in ("journals", "config") if logs else ():
        refuse_unused(option, "with --logs, which needs no journal; leave one of them out")
    findings: list[Finding] = []
    if files and not logs:
        raise click.UsageError("FILE is a signed log, for --logs; name a journal with --journal FILE|URL.")
    if logs and not files:
        raise click.UsageError("Missing argument 'FILE...': the signed logs that --logs counts.")
    if logs:
        chronicle, findings = read_logs(files)
    else:
        chronicle = _read_journals(tuple(dict.fromkeys(journals)) or (None,), config)
    evening, whole = chronicle.standings()
    standings = whole if overall else evening
    title = "Standings" if overall else "Standings of the evening"
    if as_json:
        click.echo(json.dumps(_record(standings)))
    else:
        _tell(standings, title)
    if csv_file is not None:
        _write_csv(standings.ranked(), csv_file)
    if page_file is not None:
        write_page(page_file, page(standings, title))
    for finding in findings:
        click.echo(f"left out: {finding}", err=True)
    if findings:
        sys.exit(1)


def _read_journals(journals: Sequence[str | None], config: Path | None) -> Chronicle:
    try:
        places = [_journal(journal, config) for journal in journals]
        return Chronicle(result for place in places for result in DatabaseReader(place).results())
    except JournalError as error:
        if error.code != "journal_missing" or config is not None or any(journals):
            raise
        cure = "no server runs here now; name its journal with --journal FILE|URL, or its settings with --config FILE"
        raise JournalError(error.code, f"{error.text.partition(';')[0]}: {cure}") from None


def _journal(journal: str | None, config: Path | None) -> str:
    settings = settings_of({"journal": journal}, config)
    if settings.journal in (None, "none"):
        text = "this server keeps no journal; name one with --journal FILE|URL, or count signed logs: --logs FILE..."
        raise JournalError("journal_missing", text)
    return str(settings.journal)


def _tell(standings: Standings, title: str) -> None:
    results = standings.results
    if not results:
        click.echo("no game is over yet")
        return
    click.echo(f"{title}: {counted(standings.counted, 'game')}, {time_of(results[0].at)} to {time_of(results[-1].at)}")
    ranked = standings.ranked()
    print_table(_HEADINGS, [score_cells(score, str(score.hits), str(score.shots), decimals=3) for score in ranked])
    for result in standings.uncounted:
        where = f" of table {result.table}" if result.table else ""
        why = "ended without a winner" if result.aborted else f"annulled by {result.annulled_by}"
        click.echo(f"not counted: game {result.number}{where}, {time_of(result.at)}, {why}")


def _record(standings: Standings) -> dict[str, Any]:
    """Return standings for programs."""
    ranked = standings.ranked()
    return {
        "games": standings.counted,
        "table": [{"team": score.name, **score_record(score)} for score in ranked],
        "meetings": {
            score.name: {
                other: {"games": met.games, "points": met.points}
                for other, met in standings.meetings[score.name].items()
            }
            for score in ranked
        },
        "results": [_result_record(result) for result in standings.results],
    }


def _result_record(result: Result) -> dict[str, Any]:
    players = [
        {
            "player": player.player,
            "place": player.place,
            "shots": player.shots,
            "hits": player.hits,
            "sunk": player.sunk,
        }
        for player in result.players
    ]
    record = {"table": result.table, "game": result.number, "at": result.at, "rules": result.rules, "players": players}
    annulled = {"annulled_at": result.annulled_at, "annulled_by": result.annulled_by}
    return record | {"counts": result.counts, "aborted": result.aborted} | (annulled if result.annulled_at else {})


def _write_csv(ranked: Sequence[Score], path: Path) -> None:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    figures = [{"team": score.name, **score_record(score)} for score in ranked]
    for row in figures:
        row |= {key: round(value, 3) for key, value in row.pop("rating").items() if key != "sigma"}
    names = ("place", "team", "points", "games", "wins", "ties", "losses", "opposition", "shots", "hits")
    columns = [*names, "mu", "low", "high"]
    rows.writerow([*names, "rating", "low", "high"])
    rows.writerows([[row[column] for column in columns] for row in figures])
    try:
        replace_file(path, text.getvalue().encode())
    except OSError as error:
        raise SalvoError("csv_unwritable", f"{path}: {error.strerror}; name another file with --csv") from None
