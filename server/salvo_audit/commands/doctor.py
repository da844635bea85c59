"""``salvo doctor``."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from salvo.cli.checked import refuse_unused_ca
from salvo.cli.options import URL
from salvo.cli.output import has_terminal, with_secret
from salvo.errors import SalvoError
from salvo.net.mqtt import BrokerUrl, without_password
from salvo.net.tls import client_context
from salvo_audit.doctor import CheckFinding, CheckVerdict, ExaminedContest, examine, is_here
from salvo_display.replay_text import counted
from salvo_server.operations.local_servers import RunningServer, running_servers
from salvo_server.settings import ServerSettings, load_settings, roster_if_any, roster_path
from salvo_server.storage.roster import Roster, RosterError, has_begun

_STYLES = {
    CheckVerdict.PASS: "green",
    CheckVerdict.WARN: "yellow",
    CheckVerdict.FAIL: "red",
    CheckVerdict.SKIP: "bright_black",
}


@click.command()
@click.argument("url", required=False, type=URL)
@click.option(
    "--ca", type=click.Path(path_type=Path), envvar="SALVO_CA", help="CA that signs the broker's certificate, PEM."
)
@click.option("--roster", type=click.Path(path_type=Path), help="The roster's file.  [default: one per user]")
@click.option("--config", type=click.Path(path_type=Path), help="The server's TOML file with its settings.")
def doctor(url: str | None, ca: Path | None, roster: Path | None, config: Path | None) -> None:
    """Examine the configuration of a contest at URL, or of the one on this machine.

    Prints a line for each check, PASS, WARN, FAIL or SKIP, with the reason and the fix; exits with 1 when anything
    fails. It changes nothing, disconnects no one, and may run during a game.

    On the server's machine it finds the running server, and reads its status with the server's own account; anywhere
    else, give URL the user of a team's viewer, as mqtt://red.1@HOST, and SALVO_SECRET the team's secret. The profile
    that it expects is that of the settings, also in SALVO_PROFILE; with open, a missing login is not a failure.
    """
    if url is not None:
        refuse_unused_ca(url)
    settings = load_settings({}, config)
    if roster is not None:
        settings = settings.model_copy(update={"roster": roster})
    target = _target(url, settings, here=config is not None or roster is not None)
    wanted = settings.profile if "profile" in settings.model_fields_set else None
    if wanted is None and target.serves and target.settings is not None and target.settings.profile == "open":
        wanted = "open"  # that of the running server
    target.profile = wanted
    if (trusted := ca or (target.settings or settings).tls_ca) is not None:
        target.ca = str(trusted)
        client_context(target.ca)  # a missing file is the caller's mistake, not the contest's
    if url is None:
        target.use_certified_name()
    counts = Counter[CheckVerdict]()
    for finding in examine(target):
        counts[finding.verdict] += 1
        click.echo(_line(finding))
    totals = ", ".join(f"{counts[verdict]} {verdict}" for verdict in CheckVerdict if counts[verdict])
    click.echo(f"{counted(counts.total(), 'check')}: {totals}")
    if counts[CheckVerdict.FAIL]:
        sys.exit(1)


def _line(finding: CheckFinding) -> str:
    if not has_terminal():
        return finding.line
    verdict = finding.verdict.value
    return click.style(verdict, fg=_STYLES[finding.verdict]) + finding.line.removeprefix(verdict)


def _target(url: str | None, settings: ServerSettings, *, here: bool) -> ExaminedContest:
    """Return what to examine; settings and roster count when this is the server's machine.

    Those of a running server are its own: it may have been started with others than the doctor.
    """
    running = running_servers(roster_if_any(settings.roster))
    if url is None:
        url, here = _only(running) if running else _configured(settings), True
        if not running:
            click.echo(f"no server of this user runs here; looking at {without_password(url)}", err=True)
    target = ExaminedContest(with_secret(BrokerUrl.parse(url)))
    if not (here or is_here(target.url.host)):
        return target
    if settings.websocket is not None:
        target.websocket = BrokerUrl.parse(
            f"{'wss' if settings.tls_cert is not None else 'ws'}://{settings.websocket}/mqtt"
        )
    for server in running:
        served = BrokerUrl.parse(server.url)
        if served.port == target.url.port and (served.host == target.url.host or is_here(served.host)):
            settings, target.serves = server.settings, True
            target.websocket = None if server.websocket_url is None else BrokerUrl.parse(server.websocket_url)
    target.settings = settings
    path = roster_path(settings.roster)
    try:
        if target.url.username is None and has_begun(path):
            target.account = Roster(path).watcher
    except RosterError as error:  # another user's, say: then what needs no account is examined
        click.echo(f"the server's status is not examined: {error.text}", err=True)
    return target


def _only(running: Sequence[RunningServer]) -> str:
    urls = sorted(server.url for server in running)
    if len(urls) > 1:
        raise SalvoError("bad_url", f"several servers run here, at {', '.join(urls)}; name the one to examine")
    return urls[0]


def _configured(settings: ServerSettings) -> str:
    """Return where a server would be that is started with these settings."""
    scheme = "mqtts" if settings.tls_cert is not None else "mqtt"
    host, _, port = settings.listen.rpartition(":")
    reachable = "127.0.0.1" if host in ("0.0.0.0", "[::]", "::", "") else host
    return settings.broker or f"{scheme}://{reachable}:{port}"
