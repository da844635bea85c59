"""The accounts of a contest as they are now, and which of them are teams that may take part."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from salvo.wire.roles_and_rights import Role

#: Further users of a team or watcher, for people who watch: one for each of a team of four.
SCREENS: Final = 4
#: A hall of watchers may have as many.
MAX_SCREENS: Final = 200


@dataclass(frozen=True, slots=True)
class Account:
    """A user of the broker.

    Attributes:
        user: the name that the broker knows; it is the client id, too.
        name: the team, watcher or referee that it belongs to.
        badge: a team's; None where it has none yet.
    """

    user: str
    name: str
    role: Role
    secret: str = field(repr=False)
    badge: int | None = None


class Register:
    """Who may take part, act as a host, or see all boards, by a roster as it is at the moment.

    Thread-safe by replacement, without locks: a reader sees one state of the roster or the next.

    Attributes:
        revision: another object for every state.
        badges: of the teams, by name.
    """

    def __init__(self, accounts: Iterable[Account] = ()) -> None:
        self.replace(accounts)

    def replace(self, accounts: Iterable[Account]) -> None:
        """Go by another state of the roster."""
        accounts = list(accounts)
        self.badges = {account.name: account.badge for account in accounts if account.badge is not None}
        self.revision = self._secrets = {
            (account.role, account.name): account.secret
            for account in accounts
            if account.role in (Role.TEAM, Role.HOST, Role.REFEREE)
        }

    def has(self, name: str, secret: str) -> bool:
        """Whether this is a team of the roster and its secret (SALVO-ACCESS-3)."""
        known = self._secrets.get((Role.TEAM, name))
        return known is not None and hmac.compare_digest(known.encode(), secret.encode())

    def teams(self) -> list[tuple[str, str]]:
        """Return name and secret of every team."""
        return [(name, secret) for (role, name), secret in self._secrets.items() if role is Role.TEAM]

    def lacks(self, names: Iterable[str]) -> list[str]:
        """Return which of these names are not teams of the roster."""
        return [name for name in names if (Role.TEAM, name) not in self._secrets]

    def has_referee(self) -> bool:
        """Whether anybody may read the referee's view (SALVO-VIEW-4)."""
        return any(role is Role.REFEREE for role, _ in self._secrets)

    def host(self, name: str) -> str | None:
        """Return the secret of a host; None for any other name (SALVO-HOST-1)."""
        return self._secrets.get((Role.HOST, name))
