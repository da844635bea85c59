"""``salvo health``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from salvo.cli.checked import DEFAULT_BROKER, refuse_unused
from salvo.cli.options import URL
from salvo.cli.output import with_secret
from salvo.errors import ConnectionLost, SalvoError
from salvo.net.mqtt import BrokerUrl, without_password
from salvo_server.contest import DEFAULT_TABLE
from salvo_server.operations.local_servers import only_server, running_servers
from salvo_server.operations.status import ask_status
from salvo_server.settings import roster_if_any
from salvo_server.storage.register import Account
from salvo_server.storage.roster import Roster, has_begun

_ANSWER_SECONDS: Final = 5.0


@click.command()
@click.argument("broker", metavar="[URL]", required=False, type=URL, envvar="SALVO_BROKER")
@click.option("--roster", type=click.Path(path_type=Path), envvar="SALVO_ROSTER", help="The server's roster.")
@click.option("--standby", is_flag=True, help="Ask for the standby on this machine instead.")
def health(broker: str | None, roster: Path | None, standby: bool) -> None:
    """Exit with 0 if the server behind the broker at URL is online, else with 1 and a line with the reason.

    Without a URL, and SALVO_BROKER, it is the server that runs here. On a machine with the server's
    roster, this uses one of the server's own read-only users; elsewhere the user in the URL,
    with the secret in SALVO_SECRET.
    """
    if "@" in (broker or ""):
        refuse_unused("roster", "with a URL that has a user, which is used; leave one of them out")
    if standby:
        waiting = [server.url for server in running_servers(roster_if_any(roster), standby=True)]
        if (broker is not None and str(BrokerUrl.parse(broker)) not in waiting) or not waiting:
            raise SalvoError("no_standby", f"no standby{f' for {broker}' if broker else ''} waits on this machine")
        click.echo("standby: waits for the end of another server")
        return
    broker = broker or server_here(roster)
    answer = ask_status(with_secret(BrokerUrl.parse(broker)), DEFAULT_TABLE, _ANSWER_SECONDS, _watcher(broker, roster))
    if answer is None:
        raise ConnectionLost("no_server", f"nothing is known of a server at {without_password(broker)}")
    status = answer.status
    if not status.online:
        raise ConnectionLost("offline", f"the server at {without_password(broker)} is offline")
    click.echo(f"online: version {status.version}, game {status.game}, profile {status.profile}")


def server_here(file: Path | None) -> str:
    server = only_server(roster_if_any(file), "name the URL of one")
    return DEFAULT_BROKER if server is None else server.url


def _watcher(broker: str, file: Path | None) -> Account | None:
    path = roster_if_any(file)
    if path is None or BrokerUrl.parse(broker).username is not None or not has_begun(path):
        return None
    return Roster(path).watcher
