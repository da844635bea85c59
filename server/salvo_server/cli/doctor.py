"""``salvo doctor``."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import click

from salvo.errors import SalvoError
from salvo.mqtt import BrokerUrl
from salvo.tls import client_context
from salvo_server.cli.output import has_terminal
from salvo_server.doctor import Finding, Login, Patient, Verdict, examine, guests, is_here
from salvo_server.roster import Roster, has_begun
from salvo_server.settings import ServerSettings, load_settings, roster_path

_STYLES = {Verdict.PASS: "green", Verdict.FAIL: "red", Verdict.SKIP: "yellow"}


@click.command()
@click.argument("url", required=False)
@click.option("--as", "accounts", metavar="NAME:SECRETFILE", multiple=True, help="A team to try with; two are needed.")
@click.option("--profile", help="What the broker should be; literal: open, and that is no failure.")
@click.option("--table", "tables", metavar="NAME", multiple=True, help="A further table; may be repeated.")
@click.option("--websocket", metavar="URL", help="Where MQTT over WebSocket should be spoken.")
@click.option("--ca", type=click.Path(path_type=Path), help="Who vouches for the broker's certificate, PEM.")
@click.option("--roster", type=click.Path(path_type=Path), help="The roster's file.  [default: one a user]")
@click.option("--config", type=click.Path(path_type=Path), help="The server's TOML file with its settings.")
@click.option("--json", "as_json", is_flag=True, help="One JSON line a finding.")
def doctor(
    url: str | None,
    accounts: tuple[str, ...],
    profile: str | None,
    tables: tuple[str, ...],
    websocket: str | None,
    ca: Path | None,
    roster: Path | None,
    config: Path | None,
    as_json: bool,
) -> None:
    """Examine a contest at URL, or the one of this machine, and try to break in.

    Prints PASS, FAIL or SKIP a line, with the reason and the cure; exits with 1 when anything fails. On the server's
    machine it makes two accounts on the roster for the attempts and removes them in the end; anywhere else name two of
    your own with --as. Nothing is left behind, and games that are on go on; still, try it before the contest.
    """
    if len(accounts) not in (0, 2):
        raise click.UsageError("--as is needed twice: one team attacks, the other is attacked")
    given = {"profile": profile, "tables": tables, "roster": roster}
    settings = load_settings(given, config)
    patient = _patient(url, settings, here=config is not None or roster is not None)
    patient.open_wanted = settings.profile == "literal" and "profile" in settings.model_fields_set
    if websocket is not None:
        patient.websocket = BrokerUrl.parse(websocket)
    if (trusted := ca or settings.tls_ca) is not None:
        patient.ca = str(trusted)
        client_context(patient.ca)  # a file that is none is the caller's mistake, not the contest's
    failures = counted = 0
    with _ending_on_sigterm(), _accounts(patient, accounts), _reporting(as_json) as (trying, say):
        for finding in examine(patient, trying):
            counted += 1
            failures += finding.verdict is Verdict.FAIL
            say(finding)
    if not as_json:
        click.echo(f"{counted} findings, {failures} of them FAIL" if failures else f"{counted} findings, none is FAIL")
    if failures:
        sys.exit(1)


def _patient(url: str | None, settings: ServerSettings, *, here: bool) -> Patient:
    """Return whom to examine; settings and roster count when this is the server's machine."""
    if url is None:
        scheme = "mqtts" if settings.tls_cert is not None else "mqtt"
        host, _, port = settings.listen.rpartition(":")
        reachable = "127.0.0.1" if host in ("0.0.0.0", "[::]", "::", "") else host
        url = settings.broker or f"{scheme}://{reachable}:{port}"
        here = True
    address = BrokerUrl.parse(url)
    if address.scheme in ("ws", "wss"):
        raise SalvoError(
            "bad_url", f"{url} is a WebSocket; name the broker's mqtt:// address, and this one as --websocket"
        )
    patient = Patient(address._replace(username=None, password=None), tables=("", *settings.tables))
    if here or is_here(address.host):
        patient.settings = settings
        path = roster_path(settings.roster)
        patient.roster = Roster(path) if has_begun(path) else None
        if settings.websocket is not None:
            scheme = "wss" if settings.tls_cert is not None else "ws"
            patient.websocket = BrokerUrl.parse(f"{scheme}://{settings.websocket}/mqtt")
    return patient


@contextlib.contextmanager
def _accounts(patient: Patient, named: tuple[str, ...]) -> Iterator[None]:
    """Give the patient its two accounts for the length of a ``with`` block."""
    if named:
        patient.victim, patient.attacker = (_login(each) for each in named)
        yield
    elif patient.roster is not None:
        with guests(patient.roster) as (patient.victim, patient.attacker):
            yield
    else:
        yield


def _login(text: str) -> Login:
    name, colon, file = text.partition(":")
    if not (name and colon and file):
        raise click.UsageError(f"--as {text!r} is not NAME:SECRETFILE")
    try:
        return Login(name, Path(file).read_text().strip())
    except (OSError, UnicodeDecodeError) as error:
        raise SalvoError("bad_setting", f"--as {name}: {file}: {getattr(error, 'strerror', '') or error}") from None


@contextlib.contextmanager
def _ending_on_sigterm() -> Iterator[None]:
    """End as on Ctrl-C, so that what was begun is undone."""

    def ended(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, ended)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def _reporting(as_json: bool) -> Iterator[tuple[Callable[[str], None], Callable[[Finding], None]]]:
    """Return what tells of an attempt before it is made, which a terminal shows, and what prints a finding."""
    if as_json or not has_terminal() or importlib.util.find_spec("rich") is None:
        yield lambda _: None, lambda found: click.echo(json.dumps(found.record) if as_json else found.line)
        return
    from rich.console import Console
    from rich.text import Text

    def say(found: Finding) -> None:
        line = Text(found.line)
        line.stylize(_STYLES[found.verdict], 0, len(found.verdict.value))
        console.print(line, soft_wrap=True)

    console = Console()
    with console.status("") as status:
        yield status.update, say
