"""nginx before a web front, with ``deploy/cache.conf`` or other lines, and its record of what it has asked."""

from __future__ import annotations

import contextlib
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from kit.processes import started, without_settings
from kit.programs import path_of
from kit.waiting import until

_CONFIGURATION: Final = Path(__file__).parents[2] / "deploy" / "cache.conf"
#: Workers share the connections; each may have as many as a crowd, and as the machine lets it.
_FRAME: Final = """daemon off; user root; pid {folder}/pid; error_log {folder}/errors; worker_processes {workers};
events {{ worker_connections {connections}; }}
http {{
map $upstream_cache_status $has_asked {{ HIT 0; STALE 0; UPDATING 0; default 1; }}
log_format asked '$msec $request_uri';
access_log {folder}/asked asked if=$has_asked; log_subrequest on; keepalive_requests 1000000;
client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
{configuration}
}}
"""


class Nginx(NamedTuple):
    """A running nginx.

    Attributes:
        pid: of its master.
    """

    pid: int
    record: Path

    def asked(self) -> list[tuple[float, str]]:
        """Return when it has asked the front for what: seconds since 1970 and path."""
        lines = (line.split() for line in self.record.read_text().splitlines())
        return [(float(at), path) for at, path in lines]


@contextlib.contextmanager
def nginx_before(web: str, cache: str, folder: Path, workers: int = 1, connections: int = 512) -> Iterator[Nginx]:
    """Run nginx until the end of the block; it answers when this begins.

    Args:
        web: ``HOST:PORT`` of the front, and ``cache`` of nginx.
        folder: an empty one, for its cache and its record.
        connections: of each worker.
    """
    written = _CONFIGURATION.read_text()
    listen = f"listen {cache} reuseport backlog=4096"
    for place, here in (("listen 80", listen), ("web:8080", web), ("/var/cache/nginx", str(folder))):
        assert place in written
        written = written.replace(place, here)
    with nginx(written, f"http://{cache}/healthz", folder, workers, connections) as running:
        yield running


@contextlib.contextmanager
def nginx(http: str, health: str, folder: Path, workers: int = 1, connections: int = 512) -> Iterator[Nginx]:
    """Run nginx until the end of the block; it answers when this begins.

    Args:
        http: what is in its http block.
        health: the address of a front's ``/healthz`` behind it.
    """
    configuration = folder / "nginx.conf"
    configuration.write_text(_FRAME.format(folder=folder, configuration=http, workers=workers, connections=connections))

    def answers() -> bool:
        with contextlib.suppress(OSError), urllib.request.urlopen(health, timeout=60) as answer:
            return bool(answer.read() == b"ok\n")
        return False

    with started([path_of("nginx"), "-c", str(configuration)], env=without_settings()) as process:
        try:
            until(answers)
            yield Nginx(process.pid, folder / "asked")
        finally:
            process.terminate()  # a master that is killed leaves its workers
            process.wait(60)
