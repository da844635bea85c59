"""Accounts for tests: a contest's users as the roster makes them."""

from __future__ import annotations

from collections.abc import Iterable

from salvo.wire.roles_and_rights import Role
from salvo_server.storage.register import Account
from salvo_server.storage.roster import Credentials

SERVER = Account("salvo-server", "salvo-server", Role.SERVER, "secret-of-the-server")
KEEPER = Credentials("salvo-roster", "secret-of-the-keeper")


def team(name: str, secret: str | None = None) -> list[Account]:
    """A team and its first screen."""
    secret = secret or f"secret-of-{name}"
    return [Account(name, name, Role.TEAM, secret), Account(f"{name}.1", name, Role.SCREEN, secret)]


def contest(*teams: str, others: Iterable[Account] = ()) -> list[Account]:
    """The server, teams, and whoever else."""
    return [SERVER, *(user for name in teams for user in team(name)), *others]
