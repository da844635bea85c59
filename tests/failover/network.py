"""Hosts of servers, each of which can be cut from the database or from the broker.

In network namespaces, whose packets a firewall drops without a word, as a dead switch does; or, for whoever is not
root, behind cables that end their connections.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Protocol, Self

from kit.cable import Cable

#: What cuts hosts off, and Debian's package of it.
_PROGRAMS: Final = {"ip": "iproute2", "iptables": "iptables"}


class Network(Protocol):
    """Hosts, by number, and the services that they reach, by name.

    Attributes:
        name: what it is, for the report.
    """

    name: str

    def prefix(self, host: int) -> list[str]:
        """Return what a command has in front of it to run on a host."""

    def address(self, host: int, service: str) -> str:
        """Return ``HOST:PORT`` of a service, as a host reaches it."""

    def cut(self, host: int, service: str) -> None:
        """Cut a host from a service."""

    def heal(self, host: int) -> None:
        """Mend all that was cut at a host."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...


class Namespaces:
    """Network namespaces around the one that this process is in; it is to be one of its own.

    They have no names, and are gone with their processes.
    """

    name = "network namespaces, packets dropped"

    def __init__(self, hosts: int, services: Mapping[str, int]) -> None:
        self._services = services
        self._hosts = range(hosts)
        self._keepers: list[subprocess.Popen[bytes]] = []
        self._slow: set[int] = set()

    def __enter__(self) -> Self:
        if missing := [package for program, package in _PROGRAMS.items() if shutil.which(program) is None]:
            raise SystemExit(
                f"hosts that can be cut off need {' and '.join(missing)}: apt-get install {' '.join(missing)}"
            )
        _call("ip", "link", "set", "lo", "up")
        for host in self._hosts:
            keeper = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo; exec sleep infinity"], stdout=-1)
            self._keepers.append(keeper)
            assert keeper.stdout is not None
            keeper.stdout.readline()  # it is in its namespace by now
            _call("ip", "link", "add", f"hub{host}", "type", "veth", "peer", "name", "host", "netns", str(keeper.pid))
            _call("ip", "address", "add", f"10.77.{host}.1/24", "dev", f"hub{host}")
            _call("ip", "link", "set", f"hub{host}", "up")
            self._on(host, "ip", "address", "add", f"10.77.{host}.2/24", "dev", "host")
            for link in ("host", "lo"):
                self._on(host, "ip", "link", "set", link, "up")
            self._on(host, "ip", "route", "add", "default", "via", f"10.77.{host}.1")
        Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
        return self

    def __exit__(self, *error: object) -> None:
        for keeper in self._keepers:
            with keeper:
                keeper.kill()

    def prefix(self, host: int) -> list[str]:
        return ["nsenter", f"--net=/proc/{self._keepers[host].pid}/ns/net"]

    def address(self, host: int, service: str) -> str:
        return f"10.77.{host}.1:{self._services[service]}"

    def cut(self, host: int, service: str) -> None:
        for chain, side in (("OUTPUT", "--dport"), ("INPUT", "--sport")):
            port = str(self._services[service])
            self._on(host, "iptables", "-A", chain, "-p", "tcp", side, port, "-j", "DROP")

    def heal(self, host: int) -> None:
        self._on(host, "iptables", "-F")
        if host in self._slow:
            self._slow.remove(host)
            self._on(host, "tc", "qdisc", "del", "dev", "host", "root")

    def slow(self, host: int, *limit: str) -> None:
        """Slow a host's link down to what a token bucket of ``tc`` lets through, until it is mended."""
        self._on(host, "tc", "qdisc", "add", "dev", "host", "root", "tbf", *limit)
        self._slow.add(host)

    def _on(self, host: int, *words: str) -> None:
        _call(*self.prefix(host), *words)


class Cables:
    """Cables of this machine's, which a cut ends, and which refuse new connections until they are mended."""

    name = "cables, connections ended"

    def __init__(self, hosts: int, services: Mapping[str, int]) -> None:
        self._cables = [{name: Cable(port) for name, port in services.items()} for _ in range(hosts)]
        self._opened = contextlib.ExitStack()

    def __enter__(self) -> Self:
        for cables in self._cables:
            for cable in cables.values():
                self._opened.enter_context(cable)
        return self

    def __exit__(self, *error: object) -> None:
        self._opened.close()

    def prefix(self, host: int) -> list[str]:
        return []

    def address(self, host: int, service: str) -> str:
        return f"127.0.0.1:{self._cables[host][service].port}"

    def cut(self, host: int, service: str) -> None:
        cable = self._cables[host][service]
        cable.plugged = False
        cable.cut()

    def heal(self, host: int) -> None:
        for cable in self._cables[host].values():
            cable.plugged = True


def _call(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)
