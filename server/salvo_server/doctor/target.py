"""The contest that the doctor examines, and the accounts to do it with."""

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
from salvo.topics import Role
from salvo_server.doctor.probe import Greeting, Login, Probe, ProbeError, certified_names
from salvo_server.settings import ServerSettings
from salvo_server.storage.roster import Roster, RosterError

#: What the doctor's accounts are called; one that is older than an examination takes is left from a killed one.
PREFIX: Final = "doctor-"
_MAX_EXAMINATION: Final = datetime.timedelta(minutes=10)


@dataclass(slots=True)
class Patient:
    """A contest, as the doctor sees it.

    Attributes:
        settings: of the server, when this is its machine; None when it is elsewhere.
        profile: what the broker should be, if given; with ``literal`` an open one is no failure.
        ca: the authorities to trust, a PEM file; the system's by default.
        websocket: where MQTT over WebSocket should be available.
        serves: whether the settings are those of a server that runs, so that the ports are its own.
        tables: the server's, ``""`` for the default one.
        is_open: whether the broker admits clients without a name; None while that is unknown.
        no_guests: why there are no accounts, where the roster is here and takes none.
        named: whether the accounts are teams that the operator named, which may be playing.
        victim: an account of a team, used only for listening.
        attacker: an account of another team.
        control: the victim's connection, which hears all that a team may hear; None before it is made.
        status: what ``/game/server`` says.
    """

    url: BrokerUrl
    settings: ServerSettings | None = None
    roster: Roster | None = None
    profile: str | None = None
    ca: str | None = None
    websocket: BrokerUrl | None = None
    serves: bool = False
    tables: Sequence[str] = ("",)
    is_open: bool | None = None
    no_guests: str = ""
    named: bool = False
    victim: Login | None = None
    attacker: Login | None = None
    control: Probe | None = None
    status: m.ServerStatus | None = None
    reachable: bool = False

    @property
    def teams(self) -> tuple[str, str]:
        """The names of victim and attacker; made up where none are needed."""
        if self.victim is None or self.attacker is None:
            return (f"{PREFIX}victim", f"{PREFIX}attacker")
        return (self.victim.user, self.attacker.user)

    def go_by_certificate(self) -> None:
        """Call this machine by a name that the broker's certificate has, where it has not the one of the URL.

        A server that is found by its settings is at 127.0.0.1, for which few certificates are.
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

    def enter(self, login: Login | None, client_id: str = "") -> tuple[Probe, Greeting]:
        """Connect with an account; the user's name is the client id unless another one is given."""
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
        probe, _ = self.enter(self.attacker, self.teams[1])
        with probe:
            yield probe

    def listen(self) -> Probe:
        """Return the control connection, which hears all that the victim may hear; reconnected if it was lost."""
        if self.control is None or not self.control.ping():
            self.hang_up()
            self.control, _ = self.enter(self.victim, self.teams[0])
            self.control.subscribe("#")
            self.control.ping()
        return self.control

    def hang_up(self) -> None:
        """Close the control connection."""
        if self.control is not None:
            self.control.close()
            self.control = None


def is_here(host: str) -> bool:
    """Whether a host's name means this machine."""
    if is_loopback(host):
        return True
    try:
        found = socket.getaddrinfo(host, 0, type=socket.SOCK_DGRAM)
    except (OSError, UnicodeError):
        return False
    for family, kind, protocol, _, address in found:
        with contextlib.suppress(OSError), socket.socket(family, kind, protocol) as sock:
            sock.bind(address)  # only this machine's own addresses can be had
            return True
    return False


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@contextlib.contextmanager
def guests(roster: Roster) -> Iterator[tuple[Login, Login]]:
    """Put two teams on a roster for the length of a ``with`` block.

    Raises:
        RosterError: it cannot be changed.
    """
    _strike_off_forgotten(roster)
    names: list[str] = []
    try:
        logins = []
        for _ in range(2):
            names.append(f"{PREFIX}{secrets.token_hex(4)}")
            logins.append(Login(names[-1], roster.add(names[-1], Role.TEAM)))
        yield logins[0], logins[1]
    finally:
        for name in names:
            with contextlib.suppress(RosterError):  # it was not added, or another program has struck it off
                roster.remove(name)


def _strike_off_forgotten(roster: Roster) -> None:
    now = datetime.datetime.now(datetime.UTC)
    for member in roster.members():
        if member.name.startswith(PREFIX) and member.role is Role.TEAM:
            since = datetime.datetime.fromisoformat(member.since)
            if now - since > _MAX_EXAMINATION:
                roster.remove(member.name)
