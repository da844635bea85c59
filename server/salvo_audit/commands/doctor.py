"""``salvo doctor``."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import FrameType

import click

from salvo.cli.checked import NO_TLS, given
from salvo.cli.output import has_terminal
from salvo.errors import SalvoError
from salvo.net.mqtt import BrokerUrl, without_password
from salvo.net.tls import client_context
from salvo.text_files import read_secret
from salvo.unused import Unused, refuse_unused
from salvo_audit.doctor import Finding, Login, Target, Verdict, examine, is_here, temporary_teams
from salvo_display.replay_text import counted
from salvo_server.running import RunningServer, running_servers
from salvo_server.settings import OPEN_PROFILES, ServerSettings, load_settings, roster_if_any, roster_path
from salvo_server.storage.roster import Roster, RosterError, has_begun

_STYLES = {Verdict.PASS: "green", Verdict.WARN: "yellow", Verdict.FAIL: "red", Verdict.SKIP: "dim"}


@click.command()
@click.argument("url", required=False)
@click.option(
    "--as",
    "accounts",
    metavar="NAME:SECRETFILE",
    multiple=True,
    help="A team that nobody uses; give two.",
)
@click.option(
    "--profile",
    type=click.Choice([*OPEN_PROFILES, "contest", "strict"]),
    help="The expected profile; with open, a missing login is not a failure.",
    show_default=False,
)
@click.option("--table", "tables", metavar="NAME", multiple=True, help="A further table; may be repeated.")
@click.option("--websocket", metavar="URL", help="Address of MQTT over WebSocket.")
@click.option(
    "--ca", type=click.Path(path_type=Path), envvar="SALVO_CA", help="CA that signs the broker's certificate, PEM."
)
@click.option("--roster", type=click.Path(path_type=Path), help="The roster's file.  [default: one per user]")
@click.option("--config", type=click.Path(path_type=Path), help="The server's TOML file with its settings.")
@click.option("--json", "as_json", is_flag=True, help="One JSON line per finding.")
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
    """Examine a contest at URL, or the one on this machine, and try to break in.

    Prints a line for each check, PASS, WARN, FAIL or SKIP, with the reason and the fix; exits with 1 when anything
    fails.

    On the server's machine it finds the running server, and adds two teams to its roster for the attempts, which it
    removes at the end; anywhere else, name two teams with --as that no one uses. No one is disconnected, nothing is
    left behind, and running games continue.

    Unless a game is running, it floods the server for two seconds, during which no one may get in; so run it before the
    contest.
    """
    if len(accounts) not in (0, 2):
        raise click.UsageError("--as is needed twice: one team attacks, the other is attacked")
    settings = load_settings({"tables": tables}, config)
    if roster is not None:
        settings = settings.model_copy(update={"roster": roster})
    target = _target(url, settings, here=config is not None or roster is not None)
    named = profile or (settings.profile if "profile" in settings.model_fields_set else None)
    if named is None and target.serves and target.settings is not None and target.settings.profile == "open":
        named = "open"  # as the running server was told to be
    target.profile = "open" if named in OPEN_PROFILES else named
    if tables:
        target.tables = ("", *tables)
    if websocket is not None:
        target.websocket = BrokerUrl.parse(websocket)
    encrypted = any(each and each.scheme in ("mqtts", "wss") for each in (target.url, target.websocket))
    context = click.get_current_context()
    refuse_unused([Unused("ca", lambda _: not encrypted, NO_TLS)], given(context), context.params, lambda _: "--ca")
    if (trusted := ca or (target.settings or settings).tls_ca) is not None:
        target.ca = str(trusted)
        client_context(target.ca)  # a missing file is the caller's mistake, not the contest's
    if url is None:
        target.use_certified_name()
    counts = Counter[Verdict]()
    interruption = _Interruption()
    with interruption.noted(), _accounts(target, accounts), interruption.raised(), _reporting(as_json) as (trying, say):
        for finding in examine(target, trying):
            interruption.check()
            counts[finding.verdict] += 1
            say(finding)
    if not as_json:
        told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
        click.echo(f"{counted(counts.total(), 'check')}: {told}")
    if counts[Verdict.FAIL]:
        sys.exit(1)


def _target(url: str | None, settings: ServerSettings, *, here: bool) -> Target:
    """Return what to examine; settings and roster count when this is the server's machine.

    Those of a running server are its own: it may have been started with others than the doctor.
    """
    running = running_servers(roster_if_any(settings.roster))
    if url is None:
        url, here = _only(running) if running else _configured(settings), True
        if not running:
            click.echo(f"no server of this user runs here; looking at {without_password(url)}", err=True)
    address = BrokerUrl.parse(url)
    if address.scheme in ("ws", "wss"):
        raise SalvoError(
            "bad_url", f"{url} is a WebSocket; name the broker's mqtt:// address, and this one as --websocket"
        )
    target = Target(address._replace(username=None, password=None), tables=("", *settings.tables))
    if here or is_here(address.host):
        websocket, serves = None, False
        if settings.websocket is not None:
            websocket = f"{'wss' if settings.tls_cert is not None else 'ws'}://{settings.websocket}/mqtt"
        for server in running:
            served = BrokerUrl.parse(server.url)
            if served.port == address.port and (served.host == address.host or is_here(served.host)):
                settings, websocket = server.settings, server.websocket_url
                serves = True
                target.tables = ("", *settings.tables)
        target.settings, target.serves = settings, serves
        broker = running[0].settings.broker if len(running) == 1 else settings.broker
        target.server = None if broker is None else BrokerUrl.parse(broker)._replace(username=None, password=None)
        target.websocket = None if websocket is None else BrokerUrl.parse(websocket)
        _open_roster(target, roster_path(settings.roster))
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


def _open_roster(target: Target, path: Path) -> None:
    try:
        target.roster = Roster(path) if has_begun(path) else None
    except RosterError as error:  # another user's, say: then strangers' attempts alone are made
        target.no_accounts = error.text


@contextlib.contextmanager
def _accounts(target: Target, named: tuple[str, ...]) -> Iterator[None]:
    """Give the target its two accounts for the length of a ``with`` block."""
    if named:
        target.victim, target.attacker = (_login(each) for each in named)
        target.named = True
        yield
        return
    with contextlib.ExitStack() as added:
        if target.roster is not None:
            try:
                target.victim, target.attacker = added.enter_context(temporary_teams(target.roster))
            except RosterError as error:
                target.no_accounts = f"no teams can be added for the length of this examination: {error.text}"
        yield


def _login(text: str) -> Login:
    name, colon, file = text.partition(":")
    if not (name and colon and file):
        raise click.UsageError(f"--as {text!r} is not NAME:SECRETFILE")
    return Login(name, read_secret(Path(file), partial(SalvoError, "bad_setting")))


class _Interruption:
    """SIGINT and SIGTERM: both end the examination as Ctrl-C does, and what was begun is undone.

    While accounts are added or removed, a signal is only noted: an exception that a handler raises inside a finalizer,
    such as that of the roster's lock, is printed and lost.
    """

    def __init__(self) -> None:
        self._came = self._raising = False

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        """Only note a signal; raise KeyboardInterrupt at the end of the ``with`` block if one came."""
        numbers = [each for each in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(each) is not signal.SIG_IGN]
        before = {number: signal.signal(number, self._handle) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        self.check()

    @contextlib.contextmanager
    def raised(self) -> Iterator[None]:
        """Raise KeyboardInterrupt when a signal comes, or has come already."""
        self._raising = True
        try:
            self.check()
            yield
        finally:
            self._raising = False

    def check(self) -> None:
        """Raise KeyboardInterrupt if a signal has come, even if that of its handler was lost."""
        if self._came:
            raise KeyboardInterrupt

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._came = True
        if self._raising:
            raise KeyboardInterrupt


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
