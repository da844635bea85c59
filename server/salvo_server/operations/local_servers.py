"""Finds the servers that run on this machine with a roster: each writes a small file beside the roster while it runs.

A server holds a lock on its file, so the file of a killed server is recognised, and removed the next time anyone looks.
It contains no secrets.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from salvo.errors import ConnectionLost, SalvoError
from salvo.net.mqtt import BrokerUrl
from salvo.system.user_folders import NoHome, private_folder
from salvo_server.brokers.embedded.addresses import joined, lan_addresses, split_address
from salvo_server.settings import RecordedSettings, ServerSettings, identity_path, roster_path

try:
    import fcntl
except ModuleNotFoundError:  # this system has no such locks: no file is written, and no server found
    fcntl = None  # type: ignore[assignment]

log = logging.getLogger(__name__)

_SUFFIX: Final = ".serving"
_PUBLISHED: Final = {"listen", "websocket", "tables", "profile"}


class RunningServer(NamedTuple):
    """A running server.

    Attributes:
        url: where clients on this machine connect, without a user.
        websocket_url: where it offers MQTT over WebSocket; None if it does not.
        settings: those that its file has: addresses, paths, tables and profile; defaults for the rest.
        standby: whether it waits for another server's end, and serves nobody.
        league: the name of the league that it plays; empty for none.
    """

    url: str
    websocket_url: str | None
    settings: ServerSettings
    standby: bool = False
    league: str = ""


@contextlib.contextmanager
def announced(
    settings: ServerSettings, url: str, websocket_url: str | None, *, standby: bool = False, league: str = ""
) -> Iterator[None]:
    """Let :func:`running_servers` find this server during a ``with`` block, if its file can be written."""
    with contextlib.ExitStack() as cleanup:
        try:
            _write(settings, RunningServer(url, websocket_url, settings, standby, league), cleanup)
        except (OSError, NoHome) as error:
            log.info("salvo doctor will not find this server by itself: %s", error)
        yield


def _write(settings: ServerSettings, server: RunningServer, cleanup: contextlib.ExitStack) -> None:
    if fcntl is None:
        return
    roster = roster_path(settings.roster)
    private_folder(roster.parent)
    descriptor, part = tempfile.mkstemp(prefix=f"{roster.name}.", dir=roster.parent)
    cleanup.callback(os.close, descriptor)
    file = Path(part + _SUFFIX)
    cleanup.callback(file.unlink, missing_ok=True)
    try:
        record = {**server._asdict(), "settings": _record(settings, server.url)}
        os.write(descriptor, json.dumps(record).encode())
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.rename(part, file)
    except OSError:
        os.unlink(part)
        raise


def _record(settings: ServerSettings, url: str) -> dict[str, Any]:
    """Return the settings that another program needs to examine this server, without the broker's user and password."""
    record = settings.model_dump(mode="json", include=_PUBLISHED)
    if settings.broker is None:
        record["listen"] = f"{settings.listen.rpartition(':')[0]}:{BrokerUrl.parse(url).port}"
    else:
        record["broker"] = url
    journal = settings.with_journal().journal or "none"
    place, remote, _ = journal.partition("://")
    record["journal"] = place + remote if remote or journal == "none" else os.path.abspath(journal)
    for name, path in (
        ("roster", roster_path(settings.roster)),
        ("identity", identity_path(settings.identity)),
        ("journal_key", settings.journal_key),
        ("tls_cert", settings.tls_cert),
        ("tls_key", settings.tls_key),
        ("tls_ca", settings.tls_ca),
    ):
        record[name] = None if path is None else os.path.abspath(path)
    return record


def reached_at(url: str, settings: ServerSettings) -> list[str]:
    """Return where teams on other machines reach a server's embedded broker, the likeliest address first.

    Args:
        url: where clients on this machine connect.
    """
    if settings.broker is not None:
        return []
    here = BrokerUrl.parse(url)
    host, _ = split_address(settings.listen)
    return [f"{here.scheme}://{joined(address, here.port)}" for address in lan_addresses(host)]


def running_servers(roster: Path | None, *, standby: bool = False) -> list[RunningServer]:
    """Return the servers on this machine that use this roster file, in no particular order.

    Args:
        roster: None for a user without one.
        standby: whether to return those that wait, instead of those that serve.
    """
    if roster is None:
        return []
    try:
        found = [_read(file) for file in roster.parent.glob(f"{roster.name}.*{_SUFFIX}")]
    except OSError:  # this user may not look there
        return []
    return [server for server in found if server is not None and server.standby is standby]


def only_server(roster: Path | None, name_one: str) -> RunningServer | None:
    """Return the server on this machine that uses this roster file; None if there is none.

    Args:
        name_one: what to do where there are several.

    Raises:
        SalvoError: ``bad_setting``: there are several.
    """
    servers = running_servers(roster)
    if len(servers) > 1:
        urls = ", ".join(server.url for server in servers)
        raise SalvoError("bad_setting", f"several servers run here, {urls}: {name_one}")
    return servers[0] if servers else None


def _read(file: Path) -> RunningServer | None:
    if fcntl is None:
        return None
    try:
        with file.open("rb") as opened:
            try:
                fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                record = json.loads(opened.read())
            else:  # its server is gone
                file.unlink(missing_ok=True)
                return None
        BrokerUrl.parse(record["url"])
        return RunningServer(**{**record, "settings": RecordedSettings(**record["settings"])})
    except (OSError, ValueError, TypeError, KeyError, ConnectionLost):
        return None  # it belongs to another user, or to another version of salvo
