"""``salvo verify``."""

from __future__ import annotations

import base64
import binascii
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from salvo.cli.options import json_option
from salvo.codec.log import KEY_BYTES
from salvo.wire.seal import fingerprint
from salvo_display.replay_text import ABORTED
from salvo_game.log_verification import (
    BLAME,
    UNPROVEN,
    Agreement,
    Finding,
    LoggedGame,
    LogVerdict,
    ProofReport,
    agreements,
    compare_stories,
    verify_file,
)

#: Verdicts that get their own line; about a game that has not begun there may be a remark.
_COLORS: Final = {LogVerdict.FAIR: "green", LogVerdict.UNDER_WAY: "cyan"}
_FINGERPRINT: Final = re.compile(r"[0-9a-f]{16}")


def _read_key(ctx: click.Context, param: click.Parameter, value: str | None) -> str | bytes | None:
    """Return a signing key, or a fingerprint of four groups, with or without the spaces between."""
    if value is None:
        return None
    digits = re.sub(r"[\s:-]", "", value).lower()
    if _FINGERPRINT.fullmatch(digits):
        return " ".join(digits[start : start + 4] for start in range(0, 16, 4))
    try:
        key = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != KEY_BYTES:
        raise click.BadParameter(f"{value!r} is neither a fingerprint of 16 hexadecimal digits nor a key in base64")
    return key


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option(
    "--key",
    metavar="FINGERPRINT|BASE64",
    callback=_read_key,
    help="Fingerprint or key of the server that must have signed it.",
)
@json_option("One JSON line per file.")
def verify(files: Sequence[Path], key: str | bytes | None, as_json: bool) -> None:
    """Check offline that games were fair.

    FILE is a proof, from serve --transcripts, watch --proof or join --proof. Each game gets its own verdict. Several
    files of one game are also checked for the same log: the server may have signed another history for
    others.

    Exit code 0: everything is fair; the last game of a file may be unfinished. Exit code 1: something is not fair; the
    text names the first bad line and who is at fault.
    """
    reports = [verify_file(path, key) for path in files]
    stories = compare_stories(reports)
    same = [] if stories else agreements(reports)
    for report in reports:
        if as_json:
            click.echo(json.dumps(_record(report, stories, same)))
        else:
            _tell(report, bool(key))
    if not as_json:
        for story in stories:
            _print_finding(story)
        for each in same:
            _print_agreement(each)
    if stories or any(report.finding for report in reports):
        sys.exit(1)


def _tell(report: ProofReport, pinned: bool) -> None:
    for game in report.games:
        if game.finding is not None:
            named = len(report.games) < 2 or str(game) in game.finding.text
            _print_finding(game.finding, "" if named else f" ({game})")
        elif game.verdict in _COLORS:
            verdict = click.style(game.verdict, fg=_COLORS[game.verdict], bold=True)
            click.echo(f"{report.file}: {verdict}: {_summary(game)}")
    if report.stray is not None:
        _print_finding(report.stray)
    for remark in report.remarks:
        click.echo(f"{report.file}: {click.style('note', fg='yellow')}: {remark}")
    if report.key is not None:
        advice = "; compare it with the fingerprint that the operator announced, or give that with --key"
        known = "" if pinned else advice
        click.echo(f"{report.file}: signed by the server {fingerprint(report.key)}{known}")


def _print_finding(finding: Finding, of: str = "") -> None:
    where = f"{finding.file}, line {finding.line}"
    verdict = click.style(f"NOT FAIR: {BLAME[finding.fault]}", fg="red", bold=True)
    if finding.fault in UNPROVEN:
        verdict = click.style(f"NOT PROVEN: {BLAME[finding.fault]}", fg="yellow", bold=True)
    click.echo(f"{where}: {verdict}: {finding.text}{of}")


def _print_agreement(found: Agreement) -> None:
    verdict = click.style("the same story", fg="green", bold=True)
    if not found.compared:
        verdict = click.style("nothing to compare", fg="yellow", bold=True)
    files = ", ".join(found.files)
    click.echo(f"{len(found.files)} files: {verdict} of {found.game}, {found.compared} entries compared: {files}")


def _summary(game: LoggedGame) -> str:
    opening = game.opening
    drawn = "starter chosen fairly" if opening.draw == "fair" else "explicit seed"
    state = f"won by {game.winner}" if game.winner else ABORTED if game.won is not None else "nothing is revealed yet"
    return f"{game}: {', '.join(game.players)}; {state}; {drawn}; {len(game.lines)} entries"


def _record(report: ProofReport, stories: Sequence[Finding], same: Sequence[Agreement]) -> dict[str, Any]:
    found = report.finding or next((story for story in stories if story.file == report.file), None)
    return {
        "file": report.file,
        "fair": found is None,
        "line": found and found.line,
        "fault": found and found.fault.value,
        "text": found and found.text,
        "key": report.key and base64.b64encode(report.key).decode(),
        "fingerprint": report.key and fingerprint(report.key),
        "games": [
            {
                "table": game.opening.table,
                "game": game.opening.game,
                "players": list(game.players),
                "winner": game.winner,
                "draw": game.opening.draw.value,
                "entries": len(game.lines),
                "verdict": game.verdict.value,
                "line": game.finding and game.finding.line,
                "fault": game.finding and game.finding.fault.value,
                "text": game.finding and game.finding.text,
            }
            for game in report.games
        ],
        "notes": report.remarks,
        "same_story": [
            {"files": list(each.files), "entries": each.compared} for each in same if report.file in each.files
        ],
    }
