"""``salvo web``."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

import click

from salvo.cli.checked import DEFAULT_BROKER, refuse_unused_ca
from salvo.cli.options import CA, URL, json_option
from salvo.cli.output import end_with_input, watch_line
from salvo.cli.service_output import print_without_waiting
from salvo.errors import MissingExtra
from salvo.net.addresses import split_web_url
from salvo.net.mqtt import BrokerUrl, Connection, without_password
from salvo.table_places import cells_of
from salvo_server.brokers.embedded import open_files
from salvo_server.brokers.embedded.addresses import (
    host_of,
    is_loopback,
    joined,
    lan_addresses,
    listening,
    reachable,
    split_address,
)
from salvo_server.brokers.embedded.tls import ServerTls
from salvo_server.screen_users import ScreenUsers, watching_account
from salvo_watch.archive import Archive

try:
    import uvicorn

    from salvo_display.web_server.web_limits import Door, behind_a_door
    from salvo_display.web_server.web_pages import is_prefix
    from salvo_watch.web.app import Front, application
    from salvo_watch.web.games import routes
    from salvo_watch.web.hatch import Hatch
    from salvo_watch.web.mqtt_channel import MAX_MESSAGE_BYTES, Upstream
    from salvo_watch.web.relay import Relay, WatchedBroker
except ModuleNotFoundError:
    raise MissingExtra("the web front", "server") from None

DEFAULT_LISTEN = "127.0.0.1:8080"
#: Browsers at once; further ones get 503, Service Unavailable.
MAX_CONNECTIONS = 4000


@click.command()
@click.argument("urls", metavar="[URL]...", nargs=-1, type=URL)
@click.option("--listen", metavar="HOST:PORT", default=DEFAULT_LISTEN, show_default=True, help="Where browsers come.")
@click.option(
    "--referee",
    is_flag=True,
    help="Show all boards while a game is played, to commentators: who sees these pages can help a player. Needs a "
    "referee's account and an address of this machine.  [default: boards of games that are over]",
)
@click.option(
    "--games",
    metavar="DIR|JOURNAL",
    multiple=True,
    envvar="SALVO_WEB_GAMES",
    help="Offer the games that are over, from a folder of transcripts or a journal; may be repeated.",
)
@click.option(
    "--host",
    "hosts",
    metavar="NAME",
    multiple=True,
    help="A name by which browsers reach these pages, besides this machine's own; may be repeated.",
)
@click.option(
    "--public",
    metavar="URL",
    help="The address of a cache in front of these pages, which carries a crowd: pages reached there poll small files "
    "that it stores, instead of a stream each. Its path is the one under which the cache has them.",
)
@click.option(
    "--proxy-protocol",
    is_flag=True,
    help="Give the broker, which has to expect it, the address of each visitor of /mqtt.",
)
@CA
@click.option("--tls-cert", type=click.Path(path_type=Path), help="Certificate for https, PEM.")
@click.option("--tls-key", type=click.Path(path_type=Path), help="Its private key, PEM.")
@json_option("Print where it listens as a JSON line.")
def web(
    urls: tuple[str, ...],
    listen: str,
    referee: bool,
    games: tuple[str, ...],
    hosts: tuple[str, ...],
    public: str | None,
    proxy_protocol: bool,
    ca: str | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    as_json: bool,
) -> None:
    """Show a contest to browsers: halls, phones, the games that are over, and this SDK for those who want to join.

    At /mqtt teams and pages play: MQTT over WebSocket, handed to the broker as it is, the first of several. SALVO_JOIN
    is the broker's address that the pages tell teams, where that is not URL.

    With several URLs it shows the tables of all these servers, with the broker's address where two have the same name.

    URL is mqtt://127.0.0.1:1883 by default. The account is a watcher's, or with --referee a referee's: in the URL, or
    in SALVO_TEAM and SALVO_SECRET.
    """
    refuse_unused_ca(*urls)
    if (tls_cert is None) != (tls_key is None):
        raise click.UsageError("--tls-cert and --tls-key belong together")
    if referee and not is_loopback(host_of(listen)):
        raise click.BadParameter(
            f"{listen!r} can be reached from other machines, and with --referee these pages show hidden boards; "
            "take 127.0.0.1:PORT, behind a proxy with a login if commentators sit elsewhere",
            param_hint="'--listen'",
        )
    if tls_cert is not None and tls_key is not None:
        tls = ServerTls(tls_cert, tls_key)
        doubt = tls.doubt(tls.context(), time.time())
        if doubt and not as_json:  # beside a server, which reports it
            click.echo(doubt, err=True)
    end_with_input()
    print_without_waiting(as_json=as_json)
    urls = urls or (DEFAULT_BROKER,)
    brokers = cells_of(urls)
    if len(brokers) < len(urls):
        raise click.UsageError("the same URL is given twice; each is another server's broker")
    cached = "" if public is None else _cached(public)
    given = BrokerUrl.parse(join) if (join := os.environ.get("SALVO_JOIN")) else None
    sources = [_source(cell, address, ca) for cell, address in brokers.items()]
    sock = listening(*split_address(listen))
    pages = _addresses(listen, sock, secure=tls_cert is not None)
    relay = Relay(sources, boards=referee)
    upstream = Upstream(next(iter(brokers.values())), ca, proxy_protocol)
    leads_on = upstream.address.scheme in ("mqtt", "mqtts")
    where = str(given or where_teams_join(upstream.address, pages[0] if leads_on and not public else ""))
    names = {host_of(listen), BrokerUrl.parse(where).host, host_of(cached), *hosts} - {""}
    front = Front((public or pages[0]).rstrip("/"), where, frozenset(names), cached)
    app = application(
        relay,
        front,
        routes(Archive(games), relay.badges, relay.withholds) if games else (),
        upstream if leads_on else None,
    )
    server = behind_a_door(
        app,
        Door,
        MAX_CONNECTIONS,
        ws=Hatch,
        ws_max_size=MAX_MESSAGE_BYTES,
        ws_per_message_deflate=False,
        # MQTT has a keep-alive of its own, and paho answers a ping of WebSocket unmasked, which ends its connection.
        ws_ping_interval=None,
        ssl_certfile=tls_cert,
        ssl_keyfile=tls_key,
    )
    click.echo(json.dumps({"event": "listening", "urls": pages}) if as_json else watch_line(pages))
    open_files.allow(MAX_CONNECTIONS)
    asyncio.run(_serve(server, sock, relay))


def _cached(public: str) -> str:
    """Return the host of a cache, with its port, as browsers name it."""
    try:
        parts = split_web_url(public)
        if parts.path.strip("/") and not is_prefix(parts.path.rstrip("/")):
            raise ValueError("its path has other characters than letters, digits and ._~-")
    except ValueError as error:
        raise click.BadParameter(f"{without_password(public)[:200]!r}: {error}", param_hint="'--public'") from None
    return parts.netloc


def where_teams_join(broker: BrokerUrl, page: str) -> str:
    """Return the broker's address, or where that is of this machine alone, the way to it through a page of others."""
    here, there = urlsplit(str(broker)), urlsplit(page)
    if is_loopback(here.hostname or "") and there.hostname and not is_loopback(there.hostname):
        return f"{there.scheme.replace('http', 'ws')}://{there.netloc}/mqtt"
    return str(broker)


def _source(cell: str, address: BrokerUrl, ca: str | None) -> WatchedBroker:
    account = watching_account(address)
    users = ScreenUsers(account.user, Random())
    connection = Connection(
        address._replace(username=users.user, password=account.secret),
        f"salvo-web-{os.getpid()}",
        clean_session=True,
        ca=ca,
        newcomer_gives_way=True,
    )
    return WatchedBroker(cell, connection, users)


async def _serve(server: uvicorn.Server, sock: socket.socket, relay: Relay) -> None:
    """Serve until a signal, or until the broker refuses the account."""
    open_files.report_in(asyncio.get_running_loop())
    following = asyncio.create_task(relay.run())
    serving = asyncio.create_task(server.serve([sock]))
    following.add_done_callback(lambda _: setattr(server, "should_exit", True))
    try:
        await serving
    finally:
        relay.stop()
        await following


def _addresses(listen: str, sock: socket.socket, *, secure: bool) -> list[str]:
    """Return where people find the pages, the likeliest address for other machines first."""
    host, _ = split_address(listen)
    port = sock.getsockname()[1]
    scheme = "https" if secure else "http"
    hosts = [*(joined(address, port) for address in lan_addresses(host)), f"{reachable(host)}:{port}"]
    return list(dict.fromkeys(f"{scheme}://{host}/" for host in hosts))
