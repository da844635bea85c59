"""``salvo control``."""

from __future__ import annotations

import difflib
import os
import shlex
import time
from random import Random
from typing import Any, Final

import click

from salvo import messages as m
from salvo.cli.checked import DEFAULT_BROKER, refuse_unused, refuse_unused_ca
from salvo.cli.options import CA, URL
from salvo.cli.output import host_account, table_name
from salvo.codec.commands import HOST_ARGUMENTS
from salvo.codec.published import read_published
from salvo.errors import ConnectionLost, MissingExtra, SalvoError
from salvo.net.mqtt import BrokerUrl, Connection, without_password
from salvo.table_places import MAX_TABLES
from salvo.table_state import TableState
from salvo.wire import topics
from salvo_display.opener import opener
from salvo_display.replay_text import counted
from salvo_server.host.hosting import HostAnswer, HostDesk, read_argument
from salvo_server.screen_users import OF_COMMANDS, ScreenUsers

#: What a command without an argument takes, for people.
_WANTED: Final = {"seconds": "SECONDS", "team": "TEAM", "text": "TEXT", "game": "GAME", "settings": "NAME=VALUE ..."}
#: For a server that is busy.
_ANSWER_SECONDS: Final = 20.0
#: How many tables an error names.
_MANY: Final = 6
#: What people call an action instead.
_MEANT: Final = {
    "kick": m.HostAction.REMOVE,
    "ban": m.HostAction.REMOVE,
    "stop": m.HostAction.PAUSE,
    "continue": m.HostAction.RESUME,
    "unpause": m.HostAction.RESUME,
    "cancel": m.HostAction.ABORT,
    "end": m.HostAction.ABORT,
    "say": m.HostAction.ANNOUNCE,
}


class _Action(click.Choice[str]):
    """An action of a host; for a word that is none, the error names the nearest."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if ctx is not None and ctx.params.get("browser"):
            return URL.convert(value, param, ctx)
        near = _MEANT.get(value) or next(iter(difflib.get_close_matches(value, self.choices, n=1)), "")
        if near and value not in self.choices:
            self.fail(f"{value!r} is not a command of a host; did you mean {near}?", param, ctx)
        return str(super().convert(value, param, ctx))


@click.command()
@click.argument("command", type=_Action([action.value for action in m.HostAction]), required=False, metavar="COMMAND")
@click.argument("url", required=False, metavar="URL", type=URL)
@click.argument("arguments", nargs=-1)
@click.option(
    "--browser",
    is_flag=True,
    is_eager=True,
    help="A page in place of COMMAND: print its address, and open it.",
)
@click.option(
    "--table",
    "tables",
    multiple=True,
    type=table_name,
    metavar="NAME",
    envvar="SALVO_TABLE",
    help="Name of the table; may be repeated.  [default: the default table]",
)
@click.option("--all", "everywhere", is_flag=True, help="For all tables and the league.")
@CA
def control(
    command: str | None,
    url: str | None,
    arguments: tuple[str, ...],
    browser: bool,
    tables: tuple[str, ...],
    everywhere: bool,
    ca: str | None,
) -> None:
    """Act as the host at a table of the contest at URL.

    \b
    start              begin with the fleets that are complete, two at least
    skip               end the turn as if its time had run out
    pause, resume      stop the clock; start it again
    extend SECONDS     give the lobby, the turn or the result more time
    abort              end the game without a winner
    remove TEAM        take a team out of this game
    announce TEXT      send everybody a line of text
    next               open the next lobby at once
    set NAME=VALUE ... for the next game: players, placement_seconds,
                       turn_seconds, over_seconds, pace_seconds, teams=a,b
    annul GAME         stop counting the result of a game
    finish             end the league after its round; without one, the evening

    With --all, for all tables: pause and resume are a break in the league, too, remove takes a team out of it, start
    begins its next round, and next opens all tables after its end. finish is always for all, announce without --table;
    skip, set and annul never.

    salvo control --browser URL is a page of all tables: who is here, late, thinking or failing, how long it will take,
    and these commands, each with what it will do. It is for this machine alone.

    The host is an account of the roster: salvo teams add NAME --role host. It is in the URL, mqtt://NAME@HOST, or in
    SALVO_TEAM and SALVO_SECRET; at a terminal it asks for a secret that is missing. Everybody sees what it does.
    """
    refuse_unused_ca(command, url)
    if browser:
        refuse_unused("tables", "with --browser, whose page has all tables")
        refuse_unused("everywhere", "with --browser, whose page has all tables")
        if url is not None:
            raise click.UsageError("with --browser, the only argument is URL")
        return _open_page(command or DEFAULT_BROKER, ca)
    if command is None or url is None:
        raise click.UsageError(f"Missing argument '{'COMMAND' if command is None else 'URL'}'.")
    do = m.HostAction(command)
    _check_count(do, arguments)
    try:
        given = read_argument(do, " ".join(arguments))
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    to_everybody = do is m.HostAction.ANNOUNCE and not tables
    if everywhere or to_everybody or do is m.HostAction.FINISH:
        if do not in m.EVERYWHERE:
            raise click.UsageError(f"{do} is for one table; leave out --all")
        refuse_unused("tables", f"with {'--all' if everywhere else do}, which is for all tables")
        everywhere, tables, given = True, (), given | {"everywhere": True}
    name, key = host_account(url)
    desk = HostDesk(name, key)
    wanted = tables or ("",)
    end = time.monotonic() + _ANSWER_SECONDS
    connection = _connected(desk, url, wanted, ca, key, end)
    refused = None
    try:
        if wanted == ("",) and not everywhere:
            _check_default_table(connection, end, do, _typed(do, url, arguments))
        for table in wanted:
            answer = _act(connection, desk, table, do, given, end)
            refused = refused or (answer.outcome if isinstance(answer.outcome, m.CommandRefused) else None)
            _print(answer)
    finally:
        connection.close()
    if refused is not None:
        raise SalvoError(refused.code, refused.text)


def _open_page(url: str, ca: str | None) -> None:
    try:
        from salvo_display.web_server.own_page import listen, serve
        from salvo_server.host.console.line import HostLine
        from salvo_server.host.console.page import ConsolePage
    except ModuleNotFoundError:
        raise MissingExtra("a page for hosts", "server") from None
    name, secret = host_account(url)
    line = HostLine(url, name, secret, ca)
    open_page = opener()
    sock, port = listen()
    with sock, line.open():
        serve(ConsolePage(line, f"{name} at {BrokerUrl.parse(url)}", port), sock, open_page)
    if line.error is not None:
        raise line.error


def _check_count(do: m.HostAction, given: tuple[str, ...]) -> None:
    """Make sure that a command has its argument, and that only texts and settings have several words."""
    name = HOST_ARGUMENTS.get(do)
    if bool(given) != (name is not None) or (len(given) > 1 and name not in ("settings", "text")):
        words = "" if name is not None else ", without words; for the room, use: salvo control announce URL TEXT"
        raise click.UsageError(f"use: salvo control {do} URL {_WANTED.get(name or '', '')}".rstrip() + words)


def _connected(
    desk: HostDesk, url: str, tables: tuple[str, ...], ca: str | None, secret: str, end: float
) -> Connection:
    """Return a connection as one of the host's further users, so that none of its programs is disconnected."""
    users = ScreenUsers(desk.name, Random(), OF_COMMANDS)
    while True:
        address = BrokerUrl.parse(url)._replace(username=users.user, password=secret)
        name = f"salvo-control-{os.getpid()}"
        connection = Connection(address, name, clean_session=True, ca=ca, newcomer_gives_way=True)
        connection.on_connect = lambda _, connection=connection: connection.subscribe(desk.filters(tables))
        try:
            connection.connect(max(0.1, end - time.monotonic()))
            while not desk.statuses.keys() >= set(tables):
                _receive(connection, desk, end, f"nothing is known of {_named(tables)} there; is the server online?")
        except ConnectionLost as error:
            connection.close()
            users.go_on(error, time.monotonic())
        except BaseException:
            connection.close()
            raise
        else:
            return connection


def _check_default_table(connection: Connection, end: float, do: m.HostAction, line: str) -> None:
    """Refuse a command at the default table while nobody plays there, and somebody elsewhere.

    Args:
        line: that the host has typed.

    Raises:
        click.UsageError: it names the lines that were probably meant.
    """
    states: dict[str, TableState] = {"": TableState()}
    league, complete = False, False
    followed = [f"{place}{topic.filter()}" for topic in (topics.STATE, topics.LIST) for place in ("", "/+")]
    connection.subscribe([*followed, topics.LEAGUE.of(), topics.SERVER.of()])  # all has arrived when the last has
    while not complete and (left := end - time.monotonic()) > 0:
        for message in connection.poll(left):
            connection.acknowledge(message)
            address, news = read_published(message.topic, message.payload) or (None, None)
            if address is None or news is None:
                continue
            complete = complete or address.topic is topics.SERVER
            if isinstance(news, m.EveningShown):
                league = news.league_runs
            elif len(states) < MAX_TABLES or address.table in states:
                states.setdefault(address.table, TableState()).apply(news)
    here = states.pop("")
    playing = sorted(table for table, state in states.items() if state.state is m.State.TURN)
    # In a league, who is listed at the default table waits there for a seat.
    if here.state is m.State.TURN or (here.names and not league) or not playing:
        return
    to_all = f"{line} --all\nor, for one of them: " if do in m.EVERYWHERE else ""
    games = f"{counted(len(playing), 'game')} at {', '.join(playing[:_MANY])}{', ...' * (len(playing) > _MANY)}"
    raise click.UsageError(
        f"nobody plays at the default table, but there {'are' if len(playing) > 1 else 'is'} {games}. "
        f"Type\n{to_all}{line} --table {playing[0]}"
    )


def _typed(do: m.HostAction, url: str, arguments: tuple[str, ...]) -> str:
    """Return the line that a host has typed, without a password."""
    user = BrokerUrl.parse(url).username
    scheme, slashes, rest = without_password(url).rpartition("://")
    return shlex.join(["salvo", "control", do, f"{scheme}{slashes}{f'{user}@' if user else ''}{rest}", *arguments])


def _act(
    connection: Connection, desk: HostDesk, table: str, do: m.HostAction, given: dict[str, Any], end: float
) -> HostAnswer:
    command, message = desk.command(table, do, **given)
    connection.publish(message.topic, message.payload)
    while True:
        for answer in _receive(
            connection, desk, end, f"no answer: is the server online, and {desk.name} a host on its roster?"
        ):
            if answer.table == table and answer.is_to(command):
                return answer


def _receive(connection: Connection, desk: HostDesk, end: float, otherwise: str) -> list[HostAnswer]:
    """Return the answers that have arrived.

    Raises:
        SalvoError: ``no_server``: the time is up, or the server is offline.
    """
    left = end - time.monotonic()
    if left <= 0:
        raise SalvoError("no_server", otherwise)
    answers = []
    for message in connection.poll(left):
        if (received := read_published(message.topic, message.payload)) is not None:
            address, announcement = received
            answers.append(desk.receive(address.table, announcement, retained=message.retain))
        connection.acknowledge(message)
    return [answer for answer in answers if answer is not None]


def _named(tables: tuple[str, ...]) -> str:
    return ", ".join(f"table {table}" if table else "the default table" for table in tables)


def _print(answer: HostAnswer) -> None:
    if isinstance(answer.outcome, m.HostActed):
        where = f"table {answer.table}: " if answer.table else ""
        click.echo(f"{where}{answer.outcome}")
