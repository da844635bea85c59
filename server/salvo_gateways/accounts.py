"""Names of guests, and the secrets with which their players sit at the table.

A guest has no secret of ours: a program that knows its name and reaches the gateway is that player, as in the system
that it comes from. But it gets no name that was added elsewhere: a gateway plays only with names that it added itself.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

from salvo.errors import SalvoError
from salvo.wire.roles_and_rights import Role
from salvo.wire.topics import check_name
from salvo_gateways.errors import GatewayError
from salvo_server.storage.roster import Credentials, Roster
from salvo_server.storage.roster_watcher import LOOK_SECONDS
from salvo_server.storage.vault import Vault

#: Until the broker knows an account that was just added; it logs an earlier connection as a stranger's.
_KNOWN_SECONDS: Final = LOOK_SECONDS + 0.5


#: Accounts that one gateway keeps on the roster, each five users at the broker: as many as programs can be connected.
MAX_GUEST_ACCOUNTS: Final = 128


class Accounts(Protocol):
    """Where a gateway finds its guests' accounts."""

    def secret_of(self, name: str) -> str:
        """Return the secret of a guest, always the same one, even after a restart of the gateway.

        Raises:
            WireError: ``bad_name``.
            GatewayError: ``name_taken``: the name is another player's; ``gateway_full``: there is room for no more.
        """
        ...

    def release(self, name: str) -> None:
        """Note that a guest has left: its account may make room for another one's."""
        ...

    def spelled_otherwise(self, name: str) -> bool:
        """Whether an account has this name in another spelling, so that there can be none with this one."""
        ...

    def onlooker(self, table: str) -> Credentials | None:
        """Return the account of the gateway's own connection, which only listens; None where it needs none.

        Each table has a separate one: a user has one connection to the broker.
        """
        ...


class OpenAccounts:
    """For an open broker and the profile open: any name, with a secret drawn from a key of the gateway's."""

    def __init__(self, key: Path, door: str) -> None:
        """Use a key file, which the first call makes.

        Raises:
            GatewayError: ``gateway_key``.
        """
        self._vault = Vault.at(key, "gateway", GatewayError)
        self._door = door

    def secret_of(self, name: str) -> str:
        """Return the secret of a guest; whether the name is free the server says (SALVO-JOIN-4)."""
        return self._vault.secret(f"{self._door} {check_name(name)}")

    def release(self, name: str) -> None:
        """What the gateway does not write down takes no room."""

    def spelled_otherwise(self, name: str) -> bool:
        """What the gateway does not write down it does not know."""
        return False

    def onlooker(self, table: str) -> None:
        """Listening needs no account here."""
        return None


class RosterAccounts:
    """For a contest: guests are written into the roster when they first come, with the gateway's mark.

    A gateway keeps :data:`MAX_GUEST_ACCOUNTS` of them; a further guest takes the place of the one that was added first
    of those that are not here. A guest that comes back after that has another secret, and plays on (SALVO-ACCESS-8).
    """

    def __init__(self, roster: Roster, door: str, sleep: Callable[[float], None] = time.sleep) -> None:
        """Use a roster; a new account is there when the server has had time to look at it again."""
        self._roster = roster
        self._door = door
        self._sleep = sleep
        self._here: Counter[str] = Counter()
        self._lock = threading.Lock()

    def secret_of(self, name: str) -> str:
        """Return the secret of a guest, which is on the roster from then on."""
        check_name(name)
        with self._lock:
            self._here[name] += 1
        try:
            return self._account(name, Role.TEAM)
        except SalvoError:
            self.release(name)
            raise

    def release(self, name: str) -> None:
        """Note that a guest has left; it may have come more than once."""
        with self._lock:
            self._here -= Counter([name])

    def spelled_otherwise(self, name: str) -> bool:
        """Whether the roster has this name in another spelling only."""
        return any(member.name != name and member.name.lower() == name.lower() for member in self._roster.members())

    def onlooker(self, table: str) -> Credentials:
        """Return the watcher ``<door>-gateway`` of the roster, or ``<door>-<table>-gateway``.

        Raises:
            WireError: ``bad_name``: the table's name is too long for that.
        """
        name = "-".join(filter(None, (self._door, table, "gateway")))
        return Credentials(name, self._account(name, Role.WATCHER))

    def _account(self, name: str, role: Role) -> str:
        check_name(name)
        for member in self._roster.members():
            if member.name == name and member.door == self._door and member.role is role:
                return member.secret
            if member.name.lower() == name.lower():
                raise GatewayError("name_taken", f"{name!r} is a name on the roster that this gateway did not add")
        with self._lock:
            self._make_room()
            secret = self._roster.add(name, role, door=self._door)
        self._sleep(_KNOWN_SECONDS)
        return secret

    def _make_room(self) -> None:
        ours = [
            member.name for member in self._roster.members() if member.door == self._door and member.role is Role.TEAM
        ]
        if len(ours) >= MAX_GUEST_ACCOUNTS:
            away = next((name for name in ours if name not in self._here), None)
            if away is None:
                raise GatewayError("gateway_full", f"{len(ours)} guests play through this gateway; it takes no more")
            self._roster.remove(away)
