"""Accounts for tests: a contest's users as the roster makes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from salvo.topics import Role


@dataclass(frozen=True)
class User:
    """A user of a broker."""

    user: str
    name: str
    role: Role
    secret: str


SERVER = User("salvo-server", "salvo-server", Role.SERVER, "secret-of-the-server")
KEEPER = User("salvo-roster", "salvo-roster", Role.WATCHER, "secret-of-the-keeper")


def team(name: str, secret: str | None = None) -> list[User]:
    """A team and its first screen."""
    secret = secret or f"secret-of-{name}"
    return [User(name, name, Role.TEAM, secret), User(f"{name}.1", name, Role.SCREEN, secret)]


def contest(*teams: str, others: Iterable[User] = ()) -> list[User]:
    """The server, teams, and whoever else."""
    return [SERVER, *(user for name in teams for user in team(name)), *others]
