"""``salvo mosquitto``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from salvo.system.atomic_file import replace_file
from salvo.wire.topics import check_name
from salvo_server.brokers.embedded.addresses import split_address
from salvo_server.brokers.mosquitto.config import (
    LISTENERS,
    MosquittoTls,
    open_server,
    write,
    write_open,
)
from salvo_server.contest import DEFAULT_TABLE
from salvo_server.settings import roster_path
from salvo_server.storage.roster import Roster


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--roster", "file", type=click.Path(path_type=Path), envvar="SALVO_ROSTER", help="The server's roster.")
@click.option(
    "--profile",
    type=click.Choice(["open", "contest", "strict"]),
    default="contest",
    envvar="SALVO_PROFILE",
    help="The server's profile; with open, any client is admitted without a login.",
)
@click.option("--table", "tables", metavar="NAME", multiple=True, help="A further table; may be repeated.")
@click.option(
    "--server-listen",
    metavar="HOST:PORT",
    default="127.0.0.1:1884",
    show_default=True,
    help="Where only the server connects, so that others cannot lock it out.",
)
@click.option("--plugin", type=click.Path(path_type=Path), help="Where mosquitto finds mosquitto_dynamic_security.so.")
@click.option(
    "--web-secret",
    type=click.Path(path_type=Path),
    help="Also write the web front's secret there; its user is printed.",
)
@click.option("--tls-cert", type=click.Path(path_type=Path), help="Certificate, PEM, as mosquitto finds it.")
@click.option("--tls-key", type=click.Path(path_type=Path), help="Its private key, PEM, as mosquitto finds it.")
def mosquitto(
    folder: Path,
    file: Path | None,
    profile: str,
    tables: tuple[str, ...],
    server_listen: str,
    plugin: Path | None,
    web_secret: Path | None,
    tls_cert: Path | None,
    tls_key: Path | None,
) -> None:
    """Write to FOLDER a configuration that makes mosquitto a contest's broker; the server adds all teams to it.

    Teams connect at port 1883, and over WebSocket at 9001, which may be changed in the file.

    It has only the server's own two users, with passwords that are derived from the key of the server's roster. With
    the profile open, mosquitto has no users: it admits any client, and recognises the server by a name that is derived
    from that key.
    """
    if (tls_cert is None) != (tls_key is None):
        raise click.UsageError("--tls-cert and --tls-key belong together")
    tls = None if tls_cert is None or tls_key is None else MosquittoTls(tls_cert, tls_key)
    roster = Roster(roster_path(file))
    named = [DEFAULT_TABLE, *(check_name(table, "table") for table in tables)]
    host, port = split_address(server_listen)
    *of_teams, of_server = LISTENERS
    listeners = (*of_teams, replace(of_server, host=host, port=port))
    is_open = profile == "open"
    if web_secret is not None:
        replace_file(web_secret, roster.web.secret.encode(), 0o600)
    if is_open:
        own = open_server(roster.server)
        config = write_open(folder, own, named, listeners=listeners, tls=tls)
        click.echo(
            f"mosquitto -c {config}\nsalvo serve --profile open --broker mqtt://{server_listen} --roster {roster.path}"
        )
        return
    config = write(folder, roster.server, roster.keeper, named, listeners=listeners, plugin=plugin, tls=tls)
    click.echo(f"mosquitto -c {config}")
