"""The bus that carries the two-player game: programs find each other by multicast, and connect over TCP.

    P/192.0.2.7:4001   to the group: here is a program, which takes calls at that address; A where it repeats this
    D/192.0.2.7:4001   to the group: it has gone

Of two programs one calls the other (:func:`calls`). A message on the call is two 32-bit words, 21 and its length, and
its text. The first one is the caller's own ``P/...``; what follows is the game.
"""

from __future__ import annotations

import contextlib
import ipaddress
import select
import socket
import struct
import threading
from collections.abc import Iterable
from typing import Final

from salvo_gateways.classic.protocol_text import MAX_BYTES
from salvo_gateways.errors import GatewayError
from salvo_gateways.listener import Listener
from salvo_gateways.peer import PeerBroken
from salvo_gateways.report import GatewayReport
from salvo_server.brokers.embedded.addresses import BrokerError, joined, split_address

_KIND: Final = 21
_HEAD: Final = struct.Struct(">II")
_PRESENT: Final = (b"A/", b"P/")
_GONE: Final = b"D/"
#: The longest such message: a letter, an address and a port.
_ADDRESS_BYTES: Final = 64
#: Addresses that are remembered: more than one bus ever has.
_MAX_ADDRESSES: Final = 128
_CALL_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 0.5


class Frames:
    """Messages behind their length; a program's address, which it sends first, is left out."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> Iterable[bytes | PeerBroken]:
        """Return what has ended."""
        self._rest += data
        found: list[bytes | PeerBroken] = []
        while len(self._rest) >= _HEAD.size:
            kind, length = _HEAD.unpack_from(self._rest)
            if kind != _KIND or length > MAX_BYTES:
                self._rest.clear()  # where the next one begins cannot be known
                found.append(
                    PeerBroken("not_understood", f"a message is {_KIND}, a length up to {MAX_BYTES}, and a text")
                )
            elif len(self._rest) < _HEAD.size + length:
                break
            else:
                text = bytes(self._rest[_HEAD.size : _HEAD.size + length])
                del self._rest[: _HEAD.size + length]
                if not text.startswith(_PRESENT):
                    found.append(text)
        return found

    def write(self, message: str) -> bytes:
        """Return a message as it is sent."""
        text = message.encode()
        return _HEAD.pack(_KIND, len(text)) + text


class Bus:
    """The gateway as a program on the bus; each other one is a client."""

    def __init__(self, group: tuple[str, int], host: Listener, interface: str = "") -> None:
        """Join the group.

        Args:
            group: a multicast address and a port, by which programs find each other.
            host: admits the programs.
            interface: the address of the network interface; by default the one that leads to the group.

        Raises:
            GatewayError: ``address_in_use``.
        """
        self._group = group
        self._host = host
        self._report = GatewayReport()
        self._calls: dict[str, socket.socket | None] = {}  # by address; with the call to it, if this side calls
        try:
            own = interface or _address_towards(group[0])
            self._listener = socket.create_server((own, 0))
            self._multicast = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self._multicast.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._multicast.bind(("", group[1]))
            member = socket.inet_aton(group[0]) + socket.inet_aton(own)
            self._multicast.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, member)
            self._multicast.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(own))
        except OSError as error:
            raise GatewayError("address_in_use", f"{joined(*group)}: {error.strerror or error}") from None
        self._own = joined(own, self._listener.getsockname()[1])

    def run(self, stop: threading.Event) -> None:
        """Meet other programs until ``stop`` is set, which is noticed within half a second."""
        with self._multicast, self._listener:
            self._announce(b"P/")
            while not stop.is_set():
                ready, _, _ = select.select([self._multicast, self._listener], [], [], _POLL_SECONDS)
                if self._multicast in ready:
                    text, (source, _) = self._multicast.recvfrom(_ADDRESS_BYTES)
                    self.receive(text[:2], text[2:].decode(errors="replace"), source)
                if self._listener in ready:
                    try:
                        line, address = self._listener.accept()
                    except OSError:  # out of file descriptors: retry until some are free
                        stop.wait(_POLL_SECONDS)
                    else:
                        self._host.admit(line, joined(*address))
            self._announce(_GONE)

    def _announce(self, sign: bytes) -> None:
        with contextlib.suppress(OSError):  # without a network nobody is reached
            self._multicast.sendto(sign + self._own.encode(), self._group)

    def receive(self, sign: bytes, where: str, source: str) -> None:
        call = self._calls.get(where)
        if where == self._own or (call is not None and call.fileno() != -1):  # its handler closes it when it leaves
            return
        if sign == _GONE:
            self._calls.pop(where, None)
        elif sign in _PRESENT and (where in self._calls or len(self._calls) < _MAX_ADDRESSES):
            try:
                self._meet(where, source)
            except (BrokerError, OSError) as error:
                self._report.refused("bus", f"{where} from {source}: {error}")

    def _meet(self, where: str, source: str) -> None:
        """Call a program, or let it call; nobody on another machine can name a third one to be called."""
        first = calls(self._own, where)
        if source not in (where.rpartition(":")[0], self._own.rpartition(":")[0], "127.0.0.1"):
            self._report.refused("third", f"{source} announces that {where} is on the bus, which is not called")
        elif first:
            self._calls[where] = self._call(where)
        elif where not in self._calls:
            self._calls[where] = None
            self._announce(b"P/")  # so that it calls

    def _call(self, where: str) -> socket.socket:
        line = socket.create_connection(split_address(where, least_port=1), _CALL_SECONDS)
        line.settimeout(None)
        line.sendall(Frames().write(f"P/{self._own}"))
        self._host.admit(line, where)
        return line


def calls(own: str, other: str) -> bool:
    """Whether the program at the first address calls the one at the second: the one that is less.

    By the last digits, of which each is less than the next four and 9 is followed by 0; where they are equal, by all.

    Raises:
        BrokerError: ``bad_address``.
    """
    first, second = _number(own), _number(other)
    digit, others = first % 10, second % 10
    return first < second if digit == others else (digit < others) is (abs(digit - others) < 5)


def _number(where: str) -> int:
    """Return an address as digits: three for each byte, five for the port."""
    host, port = split_address(where, least_port=1)
    try:
        address = ipaddress.IPv4Address(host).packed
    except ValueError as error:
        raise BrokerError("bad_address", str(error)) from None
    return int("".join(f"{byte:03}" for byte in address) + f"{port:05}")


def _address_towards(group: str) -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((group, 9))  # which sends nothing
        except OSError:
            return "127.0.0.1"  # programs may meet on a machine without a network, too
        return str(probe.getsockname()[0])
