"""``salvo check``."""

from __future__ import annotations

import asyncio
import datetime
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from salvo.system.distribution import __version__
from salvo.system.text_files import read_text, unread
from salvo_audit.check import report
from salvo_audit.check.catalog import ADDITIONS, CASES, CLAIMS
from salvo_audit.check.run import check as try_cases
from salvo_audit.check.run import check_again, select
from salvo_audit.check.scenario import Scenario
from salvo_audit.check.stage import Stage, Subject, WaitLimits
from salvo_server.brokers.embedded.addresses import check_free, split_address

_ALL: Final = "all"
#: How long a person may take to start the client.
_STARTING_SECONDS: Final = 3600.0


def _read_claims(ctx: click.Context, param: click.Parameter, value: Sequence[str]) -> frozenset[str]:
    """Return the claims, which may be given one by one or with commas between."""
    given = {each.strip() for part in value for each in part.split(",") if each.strip()}
    if unknown := sorted(given - CLAIMS.keys() - {_ALL}):
        raise click.BadParameter(f"{unknown[0]!r} is not a claim; the claims are {', '.join(CLAIMS)} and all")
    return frozenset(given - {_ALL}) | (ADDITIONS if _ALL in given else frozenset())


def _read_cases(ctx: click.Context, param: click.Parameter, value: Sequence[str]) -> list[str]:
    try:
        return select(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def _read_expected(ctx: click.Context, param: click.Parameter, value: Path | None) -> frozenset[str] | None:
    """Return the cases that a file names, one a line; the rest of a line from # on is for people."""
    if value is None:
        return None
    try:
        lines = [line.partition("#")[0].strip() for line in read_text(value).split("\n")]
    except (OSError, UnicodeDecodeError) as error:
        raise click.BadParameter(unread(value, error)) from None
    for number, name in enumerate(lines, 1):
        if name and name not in CASES:
            raise click.BadParameter(f"{value}, line {number}: no case is called {name[:80]!r}; --list lists them")
    return frozenset(filter(None, lines))


@click.command()
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--case", "cases", metavar="NAME", multiple=True, callback=_read_cases, help="Only this case, or such as 'turn/*'."
)
@click.option(
    "--claims",
    metavar="NAME,...",
    multiple=True,
    callback=_read_claims,
    help="What the client does beyond the requirements for all; all for all but basics.",
)
@click.option(
    "--expected",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=_read_expected,
    help="A file of cases known to fail, one a line; any other failure is an error, and so is a known one that passes.",
)
@click.option("--listen", metavar="HOST:PORT", help="Wait here for a client that is started by hand.")
@click.option("--list", "as_list", is_flag=True, help="List the cases, a line each, and the claims.")
@click.option("--json", "as_json", is_flag=True, help="One JSON line per case.")
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Write a page to publish here.")
def check(
    command: tuple[str, ...],
    cases: list[str],
    claims: frozenset[str],
    expected: frozenset[str] | None,
    listen: str | None,
    as_list: bool,
    as_json: bool,
    html: Path | None,
) -> None:
    """Judge a client in any language: salvo check -- node mybot.js

    COMMAND starts the client, once for each game, against a broker and a server of its own. SALVO_URL, SALVO_TEAM,
    SALVO_SECRET and SALVO_TABLE have the address, the account and the table; {url}, {host}, {port}, {team} and {secret}
    in COMMAND are replaced by the same.

    For each failed case it prints what was expected, what came instead, the rule, and the fix. Exit code 0: no
    case has failed, or with --expected exactly those of the file.
    """
    if as_list:
        _list(cases)
        return
    if bool(command) is bool(listen):
        raise click.UsageError("name the client once: behind --, or with --listen to start it by hand")
    subject = Subject(command or None, claims)
    if listen:
        check_free(listen)
        host, port = split_address(listen)
        subject = Subject(None, claims, WaitLimits(connecting=_STARTING_SECONDS), host, port)
    began = time.monotonic()
    outcomes = asyncio.run(try_cases(subject, cases, begin=_ask_for if listen else None, progress=_show))
    if expected is not None:
        outcomes = asyncio.run(check_again(subject, outcomes, expected))
    run = report.CheckRun(
        shlex.join(command) if command else "started by hand",
        __version__,
        sorted(claims),
        outcomes,
        time.monotonic() - began,
        datetime.datetime.now(datetime.UTC).date().isoformat(),
        len(cases) < len(CASES),
        expected,
    )
    _tell(run, as_json)
    if html is not None:
        html.write_text(report.page(run), encoding="utf-8")
    sys.exit(1 if run.surprising else 0)


def _list(cases: Sequence[str]) -> None:
    for name in cases:
        case = CASES[name]
        claim = f" [{case.claim}]" if case.claim else ""
        click.echo(f"{name}  {case.grade}  {','.join(case.requirements)}  {case.rule}{claim}")


def _tell(run: report.CheckRun, as_json: bool) -> None:
    if as_json:
        for outcome in run.outcomes:
            click.echo(report.json_line(outcome))
        return
    for line, colour in report.lines(run):
        click.secho(line, fg=colour or None)


def _ask_for(stage: Stage) -> None:
    """Say where a client that is started by hand finds the next scenario."""
    click.echo(f"{stage.name}: {stage.url}, team {stage.team}, secret {stage.secret}", err=True)


def _show(scenario: Scenario, done: int, of: int) -> None:
    """Say how far it is, where somebody looks."""
    if sys.stderr.isatty():
        end = "\n" if done == of else ""
        sys.stderr.write(f"\r\x1b[K{done}/{of} {scenario.name}{end}")
        sys.stderr.flush()
