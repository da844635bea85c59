"""The contest that the doctor examines, and the accounts that it uses."""

from __future__ import annotations

import contextlib
import datetime
import ipaddress
import secrets
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from salvo import messages as m
from salvo.net.mqtt import BrokerUrl
from salvo.permissions import Role
from salvo_audit.doctor.probe import Greeting, Login, Probe, ProbeError, certified_names
from salvo_server.settings import ServerSettings
from salvo_server.storage.roster import Roster, RosterError

#: What the names of the doctor's accounts begin with. One older than any examination was left by a killed doctor.
PREFIX: Final = "doctor-"
_MAX_EXAMINATION: Final = datetime.timedelta(minutes=10)


@dataclass(slots=True)
class Target:
    """A contest, as the doctor sees it.

    Attributes:
        url: the broker's address, without a user.
        settings: the server's, if it runs on this machine; else None.
        roster: the server's, if there is one on this machine; else None.
        profile: the one expected of the broker, if given; with ``open`` an open broker is not a failure.
        ca: a PEM file with the CAs to trust; the system's by default.
        websocket: where MQTT over WebSocket should be available.
        server: where the server itself connects to a broker of its own, if that is known; else None.
        serves: whether the settings are those of a running server, which then holds the ports.
        tables: the server's; ``""`` is the default one.
        is_open: whether the broker admits anonymous clients; None while that is unknown.
        no_accounts: why there are no accounts, if the roster on this machine cannot be used.
        named: whether the operator named the accounts; those teams may be playing.
        victim: a team's account, used only for listening.
        attacker: another team's account.
        control: the victim's connection, which receives all that a team may; None before it is made.
        status: the content of ``/game/server``; None before it is read.
        reachable: whether the broker accepts connections.
    """

    url: BrokerUrl
    settings: ServerSettings | None = None
    roster: Roster | None = None
    profile: str | None = None
    ca: str | None = None
    websocket: BrokerUrl | None = None
    server: BrokerUrl | None = None
    serves: bool = False
    tables: Sequence[str] = ("",)
    is_open: bool | None = None
    no_accounts: str = ""
    named: bool = False
    victim: Login | None = None
    attacker: Login | None = None
    control: Probe | None = None
    status: m.ServerStatus | None = None
    reachable: bool = False

    @property
    def teams(self) -> tuple[str, str]:
        """The names of victim and attacker; made-up ones if there are no accounts."""
        if self.victim is None or self.attacker is None:
            return (f"{PREFIX}victim", f"{PREFIX}attacker")
        return (self.victim.user, self.attacker.user)

    @property
    def meant_to_be_open(self) -> bool:
        """Whether the broker admits anonymous clients because the profile wants it (SALVO-ACCESS-10)."""
        return bool(self.is_open) and self.profile == "open"

    @property
    def guards_itself(self) -> bool:
        """Whether an open contest's broker has its rights from us: the server's own, or one that we have set up."""
        return self.settings is not None and (self.settings.broker is None or self.settings.roster is not None)

    def use_certified_name(self) -> None:
        """Replace the URL's host by a name of this machine in the broker's certificate, if the host is not in it.

        A server that is found by its settings is at 127.0.0.1, which few certificates include.
        """
        if self.url.scheme != "mqtts" or not is_loopback(self.url.host):
            return
        names = certified_names(self.url, self.ca)
        if self.url.host in names:
            return
        for name in sorted(names, key=lambda name: not is_loopback(name)):
            if is_here(name):
                self.url = self.url._replace(host=name)
                if self.websocket is not None:
                    self.websocket = self.websocket._replace(host=name)
                return

    def connect(self) -> Probe:
        """Open a connection to the broker.

        Raises:
            ProbeError: it cannot be reached.
        """
        return Probe(self.url, self.ca)

    def log_in(self, login: Login | None, client_id: str = "") -> tuple[Probe, Greeting]:
        """Connect with an account; the client id is the user's name unless another one is given.

        Raises:
            ProbeError: the broker cannot be reached, or does not answer.
        """
        probe = self.connect()
        name = client_id or (login.user if login is not None else f"{PREFIX}{secrets.token_hex(4)}")
        try:
            return probe, probe.greet(name, login)
        except ProbeError:
            probe.cut()
            raise

    @contextlib.contextmanager
    def attacking(self) -> Iterator[Probe]:
        """Connect as the attacker for the length of a ``with`` block."""
        probe, _ = self.log_in(self.attacker, self.teams[1])
        with probe:
            yield probe

    def listen(self) -> Probe:
        """Return the control connection, which receives all that the victim may; reconnected if it was lost."""
        if self.control is None or not self.control.ping():
            self.hang_up()
            self.control, _ = self.log_in(self.victim, self.teams[0])
            self.control.subscribe("#")
            self.control.ping()
        return self.control

    def hang_up(self) -> None:
        """Close the control connection."""
        if self.control is not None:
            self.control.close()
            self.control = None


def is_here(host: str) -> bool:
    """Whether a host name or address is this machine's."""
    if is_loopback(host):
        return True
    try:
        found = socket.getaddrinfo(host, 0, type=socket.SOCK_DGRAM)
    except (OSError, UnicodeError):
        return False
    for family, kind, protocol, _, address in found:
        with contextlib.suppress(OSError), socket.socket(family, kind, protocol) as sock:
            sock.bind(address)  # only an address of this machine can be bound
            return True
    return False


def is_loopback(host: str) -> bool:
    """Whether a host name or address is a loopback one."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@contextlib.contextmanager
def temporary_teams(roster: Roster) -> Iterator[tuple[Login, Login]]:
    """Add two teams to a roster for the length of a ``with`` block.

    Raises:
        RosterError: the roster cannot be changed.
    """
    _remove_stale(roster)
    names: list[str] = []
    try:
        logins = []
        for _ in range(2):
            names.append(f"{PREFIX}{secrets.token_hex(4)}")
            logins.append(Login(names[-1], roster.add(names[-1], Role.TEAM)))
        yield logins[0], logins[1]
    finally:
        for name in names:
            with contextlib.suppress(RosterError):  # it was not added, or another program has removed it
                roster.remove(name)


def _remove_stale(roster: Roster) -> None:
    now = datetime.datetime.now(datetime.UTC)
    for member in roster.members():
        if member.name.startswith(PREFIX) and member.role is Role.TEAM:
            since = datetime.datetime.fromisoformat(member.since)
            if now - since > _MAX_EXAMINATION:
                roster.remove(member.name)
