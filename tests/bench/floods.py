"""How much one team's floods, from its five connections, slow the game at another table.

A duel in profile contest, on the server's own broker and on mosquitto behind the front, is timed alternately without
and with a flood. The ratio is the result: the machine's speed is in both halves. Every flood is bounded in time and
connections, and stays on loopback.
"""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

from bench.children import process, table_names
from bench.figures import percentiles, row
from bench.light import filters, login
from bench.profiles import RECEIVED
from bench.teams import NAMES, Door, Teams
from kit.front import Front
from kit.mosquitto import ContestMosquitto
from kit.raw import packet, text
from salvo_server.brokers.mosquitto.dynamic_security import DynamicSecurity
from salvo_server.storage.register import SCREENS
from salvo_server.storage.roster import Roster

FLOODER: Final = "red"
Stage = Callable[[Path, Roster, Mapping[str, str]], AbstractContextManager[Door]]
#: A flood ends by itself after this time if it is not stopped.
_MAX_FLOOD_SECONDS: Final = 120.0
#: The most that is timed under one flood, however slow the answers are.
_MAX_ROUND_SECONDS: Final = 20.0
_ROUNDS: Final = 3
_FIRST_SALVOS: Final = 20
#: Before each salvo behind the front, which else would pace the honest teams, too.
_REST_SECONDS: Final = 0.1


def _wildcards(number: int) -> bytes:
    """A SUBSCRIBE with 24 wildcard filters: 12 that match everything retained, and 12 that are new each time."""
    return filters(0x82, b"\0", *(f"{'+/' * (1 + n % 3)}{'#' if n % 2 else f'x{number}{n}/#'}" for n in range(24)))


#: What each flood sends again and again.
FLOODS: Final[dict[str, bytes]] = {
    "PINGREQ": b"\xc0\0" * 8000,
    "PUBACK": b"\x40\2\0\7" * 4000,
    "UNSUBSCRIBE": b"".join(filters(0xA2, b"", f"/x/{n}") for n in range(300)),
    "SUBSCRIBE": b"".join(filters(0x82, b"\0", f"/x/{n % 40}") for n in range(300)),
    "both": b"".join(filters(0x82, b"\0", "/x/y") + filters(0xA2, b"", "/x/y") for _ in range(300)),
    "24 wildcards": b"".join(map(_wildcards, range(300))),
    "PUBLISH": packet(0x30, text(f"/players/{NAMES[0]}/fire") + b"{}") * 300,
}


#: Those that mosquitto takes at any speed; the front paces its connections by their bytes.
_BEHIND_THE_FRONT: Final = ("PINGREQ", "SUBSCRIBE", "PUBLISH")


def run_floods(host: str, port: int, name: str, secret: str, ca: str) -> None:
    """Flood a broker from a team's five connections and read the answers, at the lowest priority of this machine.

    Args:
        ca: who signs the front's certificate; empty where there is no TLS.
    """
    os.nice(19)
    users = [FLOODER, *(f"{FLOODER}.{number}" for number in range(1, SCREENS + 1))]
    connections = [_login(host, port, user, secret, ca) for user in users]
    end = time.monotonic() + _MAX_FLOOD_SECONDS
    threads = [threading.Thread(target=_drain, args=(each,), daemon=True) for each in connections]
    threads += [threading.Thread(target=_send, args=(each, FLOODS[name], end)) for each in connections]
    for thread in threads:
        thread.start()
    print("ready", flush=True)
    for thread in threads:
        thread.join()


def _login(host: str, port: int, user: str, secret: str, ca: str) -> socket.socket:
    connection = socket.create_connection((host, port), 10)
    if ca:
        connection = ssl.create_default_context(cafile=ca).wrap_socket(connection, server_hostname=host)
    connection.settimeout(None)
    connection.sendall(login(user, secret))
    assert connection.recv(4) == b"\x20\2\0\0"
    return connection


def _send(connection: socket.socket, packets: bytes, end: float) -> None:
    with contextlib.suppress(OSError):
        while time.monotonic() < end:
            connection.sendall(packets)


def _drain(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while connection.recv(65_536):
            pass


def bench_floods(share: float) -> None:
    """Time from the last shot to the hits, alternately quiet and flooded, on a new server for each flood."""
    for name in FLOODS:
        _bench(name, "another table", _on_embedded, share)
    for name in _BEHIND_THE_FRONT:
        _bench(name, "another table behind the front", _behind_the_front, share, _REST_SECONDS)


def _bench(name: str, whose: str, stage: Stage, share: float, rest: float = 0.0) -> None:
    ratios, quiet, flooded = [], [], []
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        roster = Roster(Path(folder) / "roster.json")
        secrets = {team: roster.add(team) for team in NAMES}
        secret = roster.add(FLOODER)
        with stage(Path(folder), roster, secrets) as door, Teams(door) as teams:
            host, _, port = door.url.rpartition("/")[2].rpartition(":")
            for _ in range(_ROUNDS):
                teams.round_trips(_FIRST_SALVOS, rest)  # warm up, and let the rest of the last flood run out
                quiet.append(_p99(teams, int(400 * share), rest))
                with process("floods", host, port, name, secret, door.ca or ""):
                    flooded.append(_p99(teams, int(400 * share), rest))
                ratios.append(flooded[-1] / quiet[-1])
    figures = f"p99 {statistics.median(flooded):.1f} ms against {statistics.median(quiet):.1f} ms quiet"
    spread = f"{_ROUNDS} rounds, {min(ratios):.1f} to {max(ratios):.1f}"
    row(f"{whose} under {name} x 5 / quiet: p99", f"{statistics.median(ratios):.2f} x", f"{figures}; {spread}")


@contextlib.contextmanager
def _on_embedded(folder: Path, roster: Roster, secrets: Mapping[str, str]) -> Iterator[Door]:
    with process("server", "--tables", 2, "--signed", "--roster", roster.path) as server:
        yield Door(server.address, secrets, RECEIVED)


@contextlib.contextmanager
def _behind_the_front(folder: Path, roster: Roster, secrets: Mapping[str, str]) -> Iterator[Door]:
    names = table_names(2)
    with (
        ContestMosquitto(roster.server, roster.keeper, tuple(names)) as broker,
        DynamicSecurity(broker.server_url, roster.keeper) as security,
    ):
        security.sync(roster.accounts(), names)
        security.wait(15)
        with (
            process("server", broker.server_url, "--tables", 2, "--signed", "--roster", roster.path),
            Front(folder, broker.port, broker.websocket_port) as front,
        ):
            yield Door(front.url, secrets, RECEIVED, str(front.certificate.cert))


def _p99(teams: Teams, count: int, rest: float) -> float:
    """Return the p99 of ``count`` salvos in ms, or of those that fit into :data:`_MAX_ROUND_SECONDS`."""
    taken: list[float] = []
    end = time.monotonic() + _MAX_ROUND_SECONDS
    while len(taken) < count and time.monotonic() < end:
        taken += teams.round_trips(10, rest)
    return percentiles(taken)[1]
