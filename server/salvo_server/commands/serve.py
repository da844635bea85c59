"""``salvo serve``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from salvo.cli.logs import VARIABLE, set_log_format
from salvo.cli.service_output import print_without_waiting
from salvo.net.mqtt import BrokerUrl, without_password
from salvo.system import plugins
from salvo.wire.roles_and_rights import Role
from salvo_game.journal_interface import Journal
from salvo_game.standings.points_and_ratings import plackett_luce
from salvo_server.brokers.embedded.addresses import joined, lan_addresses, split_address
from salvo_server.commands.serve_keys import host_keys
from salvo_server.commands.serve_report import LEAGUE, WEB_FRONT, ServeReport
from salvo_server.commands.setting_options import setting_options
from salvo_server.contest import Contest, check_start, open_identity, open_journal
from salvo_server.garbage import collect_in_portions
from salvo_server.operations.gateway_calls import GatewayCall, read_gateway, with_rules_of_gateways
from salvo_server.operations.local_servers import announced, reached_at
from salvo_server.operations.supervisor import SupervisedProgram, programs_beside
from salvo_server.service import ServiceListener
from salvo_server.settings import ServerSettings, SettingsError, league_name, load_settings
from salvo_server.standby import Interrupted, Standby
from salvo_server.storage.journal.games_in_play import GamesInPlay
from salvo_server.storage.transcript_folder import TranscriptFolder

if TYPE_CHECKING:
    from salvo_server.operations.metrics import Metrics

#: What any client of the broker can read and do, by profile.
PROFILES = {
    "open": "no login: any client plays under any name and reads what is announced to any team; only the server "
    "reads what is sent to it, and makes announcements",
    "contest": "users of the roster only: each reads what is public and its own, publishes its own fleet and shots",
    "strict": "users of the roster only, under TLS: each reads what is public and its own, publishes its own fleet and "
    "shots, sealed and signed for the very occasion",
}

#: The same of the profile open on a broker that we have not set up.
UNGUARDED = (
    "no login, on a broker with rights of its own: unless those forbid it, any client reads teams' secrets in open "
    "requests, and makes announcements; salvo mosquitto FOLDER --profile open sets up a broker that keeps both from it"
)

#: What runs a league, if it is installed.
_LEAGUE_PACKAGE = "salvo_league"

_ROLES = {Role.TEAM: "teams", Role.WATCHER: "watchers", Role.REFEREE: "referees", Role.HOST: "hosts"}


@click.command()
@setting_options()
@click.option("--config", type=click.Path(path_type=Path), help="A TOML file with these settings.")
def serve(config: Path | None, **given: Any) -> None:
    """Run the contest server until Ctrl-C. Settings come from here, from SALVO_* variables and from --config."""
    set_log_format(given["log_format"] or "")  # also of what is logged of the settings
    settings = with_rules_of_gateways(load_settings(given, config)).with_journal()
    set_log_format(settings.log_format)
    print_without_waiting(as_json=settings.log_format == "json")
    check_start(settings)
    league = _league_of(config, settings)
    metrics = _metrics(settings)
    gateways = [read_gateway(line, settings.book) for line in settings.gateways]
    report = ServeReport(settings.log_format == "json", settings.games)
    identity = open_identity(settings)
    try:
        journal = _take_place(settings, report)
    except Interrupted:
        report.say("ended", event="ended")
        return
    games_in_play: GamesInPlay | None = None
    if settings.transcripts is not None:
        journal = games_in_play = GamesInPlay(journal, report.evening_changed, report.game_closed)
        report.folder = TranscriptFolder(settings.transcripts, report.written, identity, games_in_play.file)
    tables: dict[str, bool] = {}
    for call in gateways:
        if call.table is not None:
            tables[call.table] = tables.get(call.table, False) or call.for_people
    listener: ServiceListener = report if metrics is None else metrics.counting(report)
    if metrics is not None:
        journal = metrics.timed(journal)
    contest = Contest(settings, listener, journal=journal, identity=identity, gateway_tables=tables)
    report.contest, report.games_in_play = contest, games_in_play
    contest.end_on_signals()
    _report_addresses(report, contest, settings)
    _report_rules(report, contest, settings)
    report.report_resumed_games()
    if report.folder is not None and settings.journal not in (None, "none"):
        report.folder.complete(str(settings.journal))
    programs = [*_web_front(contest, settings), *_gateways(contest, gateways, settings)]
    if config is not None and league:
        programs.append(_league(contest, config, settings))
    collect_in_portions(embedded=settings.broker is None)
    with (
        announced(settings, contest.url, contest.websocket_url, league=league),
        _scraped(metrics, contest, settings, report),
        host_keys(contest, report.print_for_person) if settings.log_format == "text" else contextlib.nullcontext(),
    ):
        contest.run(programs_beside(programs, report.report_output))
    report.report_unfinished_games(settings)
    if report.folder is not None:
        report.folder.close()
    report.say("ended", event="ended")


def _take_place(settings: ServerSettings, report: ServeReport) -> Journal:
    """Return the journal; a standby waits until it has it.

    Raises:
        Interrupted: the operator has ended the wait.
    """
    if not settings.standby or settings.broker is None:
        return open_journal(settings)
    waited_for = {"journal": "another server to end", "broker": f"the broker {without_password(settings.broker)}"}

    def say(waits_for: str) -> None:
        report.say(f"standby: waits for {waited_for[waits_for]}", event="standby", waits_for=waits_for)

    plackett_luce()  # whose import need not wait for the moment of the take-over
    standby = Standby(settings.broker, say)
    with standby.until_signalled(), announced(settings, str(BrokerUrl.parse(settings.broker)), None, standby=True):
        journal = open_journal(settings, standby)
    report.say("active: takes over" if standby.waited else "active", event="active", waited=standby.waited)
    return journal


def _metrics(settings: ServerSettings) -> Metrics | None:
    """Return what counts for Prometheus, whose library only such a server loads.

    Raises:
        MissingExtra: the library is not installed.
    """
    if settings.metrics is None:
        return None
    from salvo_server.operations.metrics import Metrics

    return Metrics()


@contextlib.contextmanager
def _scraped(
    metrics: Metrics | None, contest: Contest, settings: ServerSettings, report: ServeReport
) -> Iterator[None]:
    """Answer Prometheus during a ``with`` block, and print where."""
    if metrics is None or settings.metrics is None:
        yield
        return
    metrics.watch(contest.service, contest.connection, contest.embedded)
    with metrics.served(settings.metrics, settings.hosts) as url:
        host, _ = split_address(settings.metrics)
        who = "; no login and no TLS: anyone who reaches this address reads them" if lan_addresses(host) else ""
        report.say(f"metrics {url}{who}", event="metrics", url=url)
        yield


def _gateways(
    contest: Contest, gateways: Sequence[GatewayCall], settings: ServerSettings
) -> Iterator[SupervisedProgram]:
    """Return the gateways, and where they find this server; they need not know it by its key."""
    accounts = ["--roster", "none"] if contest.roster is None else ["--roster", str(contest.roster.path)]
    options = ["--broker", contest.own_url, *accounts, *_trusted(contest, settings)]
    for call in gateways:
        words = ["gateway", *call.words, *(options if call.table is not None else ())]
        yield SupervisedProgram(
            f"gateway {call.words[0]}", words, {VARIABLE: settings.log_format, "SALVO_KNOWN_SERVERS": "none"}
        )


def _league_of(config: Path | None, settings: ServerSettings) -> str:
    """Return the name of the file's league; empty for none. One with a mistake is refused before anything starts.

    Raises:
        SettingsError: ``bad_setting``: the package that runs it is not here, or nobody can be a host.
        SalvoError: the league's own, ``bad_league``.
    """
    name = league_name(config)
    if name is None:
        return ""
    if not plugins.is_there(_LEAGUE_PACKAGE):
        text = f"{config}: [league] needs the package {_LEAGUE_PACKAGE}, which is not installed; leave it out"
        raise SettingsError("bad_setting", text)
    if settings.profile == "open":
        text = f"{config}: [league] needs a host, and nobody can be one with --profile open; take contest"
        raise SettingsError("bad_setting", text)
    plugins.imported(f"{_LEAGUE_PACKAGE}.league_file:load_league")(config)
    return name


def _league(contest: Contest, config: Path, settings: ServerSettings) -> SupervisedProgram:
    """Return the league of a file, which runs on an account of its own."""
    assert contest.roster is not None
    account = contest.roster.league
    environment = {VARIABLE: settings.log_format, "SALVO_TEAM": account.user, "SALVO_SECRET": account.secret}
    as_json = ["--json"] if settings.log_format == "json" else []
    words = ["league", "run", str(config), contest.own_url, *as_json, *_trusted(contest, settings)]
    return SupervisedProgram(LEAGUE, words, environment, ends=True)


def _web_front(contest: Contest, settings: ServerSettings) -> Iterator[SupervisedProgram]:
    """Return the web front."""
    if settings.web is None:
        return
    account = None if contest.roster is None else contest.roster.web
    environment: dict[str, str] = {VARIABLE: settings.log_format}
    if account is not None:
        environment |= {"SALVO_TEAM": account.user, "SALVO_SECRET": account.secret}
    options = ["--listen", settings.web, "--json", *_trusted(contest, settings)]
    if settings.broker is None:
        options += ["--proxy-protocol"]
    if settings.tls_cert is not None:
        options += ["--tls-cert", str(settings.tls_cert), "--tls-key", str(settings.tls_key)]
    if (games := _games_of(settings)) is not None:
        options += ["--games", games]
    if others := reached_at(contest.url, settings):
        environment["SALVO_JOIN"] = others[0]
    options += [word for name in settings.hosts for word in ("--host", name)]
    yield SupervisedProgram(WEB_FRONT, ["web", contest.own_url, *options], environment)


def _games_of(settings: ServerSettings) -> str | None:
    """Return where the games that are over are, for other programs: a database's URL may have a password in it."""
    if settings.transcripts is not None:
        return str(settings.transcripts)
    return None if settings.journal in (None, "none") or "://" in str(settings.journal) else settings.journal


def _trusted(contest: Contest, settings: ServerSettings) -> list[str]:
    """Return what the server's own programs need to trust its broker."""
    on_tls = contest.own_url.startswith(("mqtts:", "wss:"))
    return ["--ca", str(settings.tls_ca)] if on_tls and settings.tls_ca is not None else []


def _report_addresses(report: ServeReport, contest: Contest, settings: ServerSettings) -> None:
    """Print where the contest is, and how teams on other machines reach it."""
    where = f"on the broker {contest.url}"
    others = reached_at(contest.url, settings)
    if settings.broker is None:
        host, _ = split_address(settings.listen)
        port = BrokerUrl.parse(contest.url).port
        all_of_them = f"{joined(host, port)}, here " if others and contest.url not in others else ""
        where = f"listening on {all_of_them}{contest.url}"
    also = f" and {contest.websocket_url}" if contest.websocket_url else ""
    report.say(where + also, event="listening", url=contest.url, websocket=contest.websocket_url)
    if others:
        more = f", or at {', '.join(others[1:])}" if others[1:] else ""
        report.say(f"teams: salvo join {others[0]} mybot.py{more}", event="reachable", urls=others)


def _report_rules(report: ServeReport, contest: Contest, settings: ServerSettings) -> None:
    """Print the profile, the server's identity, and where its games are kept."""
    report.say(
        _profile_line(settings, guarded=contest.guarded),
        event="profile",
        profile=settings.profile,
        encrypted=settings.encrypted,
    )
    report.say(
        f"server {contest.identity.fingerprint}, which clients remember",
        event="identity",
        fingerprint=contest.identity.fingerprint,
    )
    if contest.roster is not None:
        members = contest.roster.members()
        names = {role: [member.name for member in members if member.role is role] for role in _ROLES}
        texts = [f"{_ROLES[role]} {', '.join(names[role])}" for role in _ROLES if names[role]]
        if not names[Role.TEAM]:
            texts.insert(0, "no team yet; salvo teams add NAME, while this runs")
        report.say(
            f"roster {contest.roster.path}: {'; '.join(texts)}",
            event="roster",
            file=str(contest.roster.path),
            **{_ROLES[role]: names[role] for role in _ROLES},
        )
    report.say(f"journal {contest.journal.name}{_why_none(settings)}", event="journal", journal=contest.journal.name)


def _profile_line(settings: ServerSettings, *, guarded: bool) -> str:
    """Return what any client of this broker can read and do."""
    if not guarded:
        return f"profile {settings.profile}: {UNGUARDED}"
    line = f"profile {settings.profile}: {PROFILES[settings.profile]}"
    if settings.profile != "open" and not settings.encrypted:
        line += "; no TLS: anyone on the network can read passwords"
    if settings.profile != "open" and settings.broker is not None and "@" in settings.broker:
        line += "; the broker's own users and rights"
    return line


def _why_none(settings: ServerSettings) -> str:
    if settings.journal is not None:
        return ""
    return ": a broker whose port the system chooses is never found again; --journal FILE keeps one all the same"
