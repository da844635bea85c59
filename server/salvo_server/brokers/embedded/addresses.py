"""The addresses of a broker on this machine, as it listens and as others call it."""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import re
import socket
from collections.abc import Collection, Iterator
from typing import Final

from salvo.errors import SalvoError
from salvo.net.addresses import MAX_PORT, check_host

#: Connections that wait to be accepted; a contest's teams may all come back at once.
BACKLOG: Final = 128
_PORT: Final = re.compile(r"[0-9]{1,5}")
_AUTHORITY: Final = re.compile(
    r"(?:(?P<name>[A-Za-z0-9._-]{1,253})|\[(?P<address>[0-9A-Fa-f:.]{2,45})\])(?::[0-9]{1,5})?"
)
#: What means every address of the machine.
_EVERY: Final = ("0.0.0.0", "::", "")
#: Nets of virtual machines and containers on this one, from which no team comes.
_VIRTUAL: Final = ("docker", "br-", "veth", "virbr", "vmnet", "vboxnet", "lxc", "podman", "cni")


class BrokerError(SalvoError):
    """The embedded broker cannot start."""


def split_address(address: str, *, least_port: int = 0) -> tuple[str, int]:
    """Read ``HOST:PORT``.

    Args:
        least_port: 0 where the system may choose one.

    Raises:
        BrokerError: ``bad_address``.
    """
    host, _, port = address.rpartition(":")
    if not host or _PORT.fullmatch(port) is None or not least_port <= int(port) <= MAX_PORT:
        text = f"{address[:200]!r} is not HOST:PORT with a port of {least_port}..{MAX_PORT}"
        raise BrokerError("bad_address", text)
    try:
        return check_host(host.strip("[]")), int(port)
    except ValueError as error:
        raise BrokerError("bad_address", str(error)) from None


def joined(host: str, port: int) -> str:
    """Return ``HOST:PORT``."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def reachable(host: str) -> str:
    """The address to tell people for a host that means every interface."""
    if host in ("0.0.0.0", "::", ""):
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens; from here on no other program can take the port that the system chose for 0.

    A name is bound to one of its addresses, an IPv4 one if it has one.

    Raises:
        BrokerError: ``address_in_use``, ``bad_address``.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        raise BrokerError("bad_address", f"{host}: {error}") from None
    family, kind, protocol, _, address = min(found, key=lambda entry: entry[0] is not socket.AF_INET)
    sock = socket.socket(family, kind, protocol)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(BACKLOG)
    except OSError as error:
        sock.close()
        cure = "; end the program that listens there, or take another port" if error.errno == errno.EADDRINUSE else ""
        raise BrokerError("address_in_use", f"cannot listen on {host}:{port}: {error.strerror}{cure}") from None
    return sock


def check_free(address: str) -> None:
    """Find out whether a broker could listen on an address, before anything else is made.

    Raises:
        BrokerError: ``address_in_use``, ``bad_address``.
    """
    listening(*split_address(address)).close()


def host_of(authority: str) -> str:
    """Return the host of ``HOST``, ``HOST:PORT`` or ``[HOST]:PORT``, in small letters."""
    found = _AUTHORITY.fullmatch(authority)
    return "" if found is None else (found["address"] or found["name"]).lower().removesuffix(".")


def is_known_host(authority: str, names: Collection[str] = ()) -> bool:
    """Whether a request's ``Host`` is a name of this machine: no other site can have a page that is sent there.

    A page of another site reaches a server on this machine or in this network by letting its own name point there (DNS
    rebinding), and a name that it can own has a dot.

    Args:
        names: other names by which browsers reach this server.
    """
    host = host_of(authority)
    own = socket.gethostname().lower()
    if _is_address(host) or host in {own, f"{own}.local", *(name.lower() for name in names)}:
        return True
    return bool(host) and ("." not in host or host.endswith(".localhost"))


def is_known_origin(origin: str, authority: str, names: Collection[str] = ()) -> bool:
    """Whether a page of this ``Origin`` may open a WebSocket here.

    A page of this server may, one of the visitor's own machine, and one of a host among the names. Programs send no
    origin or one of their own, such as ``file://``, which no page of another site has; ``null`` is what a page has that
    hides where it is from.

    Args:
        authority: the request's ``Host``.
    """
    scheme, _, rest = origin.partition("://")
    if scheme.lower() not in ("http", "https", "null"):
        return True
    host = host_of(rest)
    if host == host_of(authority) or host in {name.lower() for name in names}:
        return bool(host)
    return is_loopback(host)


def is_loopback(host: str) -> bool:
    """Whether a host name or address is of this machine alone."""
    host = host.strip("[]")
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(host: str) -> bool:
    with contextlib.suppress(ValueError):
        return bool(ipaddress.ip_address(host))
    return False


def lan_addresses(host: str) -> list[str]:
    """Return where other machines reach a broker that listens on a host, the likeliest first.

    Those of this machine for a host that means all of them; none for one that is not reachable from outside.
    """
    if host not in _EVERY:
        return [] if is_loopback(host) else [host]
    families = (socket.AF_INET, socket.AF_INET6) if host == "::" else (socket.AF_INET,)
    found = [*filter(None, map(_outgoing, families)), *_of_interfaces()]
    return [address for address in dict.fromkeys(found) if _is_outward(address)]


def _is_outward(address: str) -> bool:
    found = ipaddress.ip_address(address)
    return not (found.is_loopback or found.is_link_local or found.is_unspecified)


def _outgoing(family: socket.AddressFamily) -> str:
    """Return the address that this machine has towards the internet; nothing is sent to find out."""
    far = "198.51.100.1" if family is socket.AF_INET else "2001:db8::1"
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as sock:
            sock.connect((far, 9))
            return str(sock.getsockname()[0])
    except OSError:  # no way there
        return ""


def _of_interfaces() -> Iterator[str]:
    """Return the IPv4 addresses of all interfaces, also in a hall whose net leads nowhere."""
    import psutil  # which commands that listen nowhere need not load

    for name, addresses in psutil.net_if_addrs().items():
        if not name.startswith(_VIRTUAL):
            yield from (address.address for address in addresses if address.family is socket.AF_INET)
