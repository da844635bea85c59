"""The accounts of a contest as they are now, and which of them are teams that may take part."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from dataclasses import dataclass, field

from salvo.topics import Role


@dataclass(frozen=True, slots=True)
class Account:
    """A user of the broker.

    Attributes:
        user: the name that the broker knows; it is the client id, too.
        name: the team, watcher or referee that it belongs to.
    """

    user: str
    name: str
    role: Role
    secret: str = field(repr=False)


class Register:
    """Who may take part: the teams of a roster as they are at the moment.

    Thread-safe by replacement, without locks: a reader sees one state of the roster or the next.

    Attributes:
        revision: another object for every state.
    """

    def __init__(self, accounts: Iterable[Account] = ()) -> None:
        self.replace(accounts)

    def replace(self, accounts: Iterable[Account]) -> None:
        """Go by another state of the roster."""
        self.revision = self._teams = {
            account.name: account.secret for account in accounts if account.role is Role.TEAM
        }

    def has(self, name: str, secret: str) -> bool:
        """Whether this is a team of the roster and its secret (SALVO-ACCESS-3)."""
        known = self._teams.get(name)
        return known is not None and hmac.compare_digest(known.encode(), secret.encode())
