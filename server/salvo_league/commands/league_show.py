"""``salvo league show``: the standings of a contest, or of a league or tournament."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from salvo.badges import first_given
from salvo.cli.checked import refuse_unused
from salvo.cli.options import json_option
from salvo.cli.output import print_table, write_page
from salvo_display.replay_text import counted
from salvo_display.replay_text import when as time_of
from salvo_display.standings_page import page
from salvo_game.journal_interface import JournalError, Result
from salvo_game.log_verification import Finding
from salvo_game.standings.chronicle import Chronicle, Standings
from salvo_game.standings.from_logs import read_logs
from salvo_game.standings.points_and_ratings import score_cells, score_record
from salvo_lab.commands.series import CSV, PAGE, show_series, write_csv
from salvo_lab.series.lines import SeriesKind
from salvo_lab.series.standings import SeriesStandings
from salvo_league.league_file import load_league
from salvo_league.league_state import LeagueState
from salvo_server.storage.transcript_folder import read_evening

_HEADINGS: Final = ("place", "team", "points", "games", "won", "tied", "lost", "hits", "shots", "rating", "95%")
_FILE: Final = click.Path(path_type=Path)


@click.command()
@click.argument("files", nargs=-1, type=_FILE, metavar="[FILE]...")
@click.option("--logs", is_flag=True, help="FILE... are signed logs, as salvo verify reads them.")
@click.option(
    "--journal",
    "journals",
    metavar="FILE|URL",
    multiple=True,
    help="The server's journal; may be repeated, for a contest at several.  [default: that of the server here]",
)
@click.option("--config", type=_FILE, help="A TOML file with the server's settings.")
@click.option("--all", "overall", is_flag=True, help="Count all games, not only those of the latest evening.")
@json_option("One JSON object instead of the table.")
@CSV
@PAGE
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
    """Print the standings of a league or tournament, or of a contest: of its latest evening or over all games.

    FILE is the TOML file of a league or tournament, or its record, FILE.league.jsonl or FILE.games.jsonl. The record is
    enough: servers and bots may be gone.

    Without FILE, they are those of a contest, also while its server runs. An evening is a run of games with less than
    six hours between the ends of one and the next. The results are those of the servers' journals, or with --logs those
    of signed logs, which anybody can check: the standings are the same.

    Exit code 1: a log does not hold; its games are left out, and the text names what is wrong.
    """
    for option in ("journals", "config") if logs else ("journals", "config", "overall") if files else ():
        which = "--logs, which needs no journal" if logs else "FILE, the record of a league or tournament"
        refuse_unused(option, f"with {which}; leave one of them out")
    findings: list[Finding] = []
    if len(files) > 1 and not logs:
        raise click.UsageError("several FILEs are signed logs, for --logs; of leagues, show one after the other.")
    if files and not logs:
        [file] = files
        show_series(file, SeriesKind.LEAGUE, _begun, as_json=as_json, csv_file=csv_file, page_file=page_file)
        return
    if logs and not files:
        raise click.UsageError("Missing argument 'FILE...': the signed logs that --logs counts.")
    if logs:
        chronicle, findings = read_logs(files)
        badges = first_given(read_evening(file.parent).badges for file in files)
    else:
        chronicle, badges = _read_journals(tuple(dict.fromkeys(journals)) or (None,), config)
    evening, whole = chronicle.standings()
    standings = whole if overall else evening
    title = "Standings" if overall else "Standings of the evening"
    if as_json:
        click.echo(json.dumps(_record(standings)))
    else:
        _tell(standings, title)
    if csv_file is not None:
        write_csv(standings.ranked(), "team", csv_file)
    if page_file is not None:
        write_page(page_file, page(standings, title, badges))
    for finding in findings:
        click.echo(f"left out: {finding}", err=True)
    if findings:
        sys.exit(1)


def _begun(file: Path) -> SeriesStandings:
    return LeagueState(load_league(file), ()).standings()


def _read_journals(journals: Sequence[str | None], config: Path | None) -> tuple[Chronicle, dict[str, int]]:
    """Return the results of some journals, and the badges that their servers have given."""
    from salvo_server.storage.journal.database import DatabaseReader  # which needs what a league does not

    try:
        readers = [DatabaseReader(_journal(journal, config)) for journal in journals]
        chronicle = Chronicle(result for reader in readers for result in reader.results())
        return chronicle, first_given(reader.evening().badges for reader in readers)
    except JournalError as error:
        if error.code != "journal_missing" or config is not None or any(journals):
            raise
        cure = "no server runs here now; name its journal with --journal FILE|URL, or its settings with --config FILE"
        raise JournalError(error.code, f"{error.text.partition(';')[0]}: {cure}") from None


def _journal(journal: str | None, config: Path | None) -> str:
    from salvo_server.commands.backup import settings_of

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
