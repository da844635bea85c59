"""The users of an account's screens: NAME.1, NAME.2 ..., one connection each (SALVO-ACCESS-5).

A broker does not tell which of them is free, nor how many there are: a new connection as a user disconnects the former
one. So a watcher begins with any of the first few; if that was in use, its owner reconnects at once, which disconnects
the watcher, and the watcher tries another one (:mod:`salvo.net.takeover`). It tries higher numbers first, where fewer
are in use: a user that does not exist is refused, and costs no one the connection.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from random import Random
from typing import Final, NamedTuple, Protocol, TypeVar

from salvo.cli.output import given_secret, with_secret
from salvo.errors import ConnectionLost
from salvo.net.mqtt import BrokerUrl
from salvo_server.storage.register import MAX_SCREENS, SCREENS

#: What stays, such as a host's page, begins with one of these, and a command, which is over in a moment, with another:
#: it could not know whether what it sent before its user turned out to be in use has arrived.
OF_PAGES: Final = range(1, SCREENS // 2 + 1)
OF_COMMANDS: Final = range(SCREENS // 2 + 1, SCREENS + 1)
#: After this many that were in use the account counts as full; with one in ten free that is wrong once in five times.
MAX_TRIES: Final = 16
#: A watcher that keeps its user for this long forgets which ones were in use.
SETTLED_SECONDS: Final = 60.0

_ScreenNews = TypeVar("_ScreenNews", covariant=True)


class _Watching(Protocol[_ScreenNews]):
    def poll(self, timeout_seconds: float) -> Sequence[_ScreenNews]: ...
    def change_user(self, user: str) -> None: ...


class ViewerAccount(NamedTuple):
    """What a broker asks for at a connection that watches."""

    user: str | None
    secret: str | None


def watching_account(url: BrokerUrl) -> ViewerAccount:
    """Return the account to watch with: that of the URL, where it has one, else that of the environment."""
    if not url.username:
        return ViewerAccount(os.environ.get("SALVO_TEAM") or None, given_secret())
    return ViewerAccount(url.username, with_secret(url).password)


class ScreenUsers:
    """Tries one user after another, until one is free.

    Attributes:
        user: the one to watch as now; that of the account when it names one, and None without an account.
    """

    def __init__(self, account: str | None, random: Random, first: Sequence[int] = range(1, SCREENS + 1)) -> None:
        """Begin with one of the first users of an account.

        Args:
            account: its name, or one of its users, ``NAME.3``, which is the only one then.
            first: the numbers to begin with one of.
        """
        self._random = random
        self._name = account if account is not None and "." not in account else None
        self._taken: set[int] = set()
        self._most = MAX_SCREENS  # as far as is known
        self._near, self._reach = 0, SCREENS  # how far was looked and is looked
        self._number = 0
        self._since = 0.0
        self.user = account
        if self._name is not None:
            self._take(random.choice(first))

    def _take(self, number: int) -> None:
        self._number = number
        self.user = f"{self._name}.{number}"

    def poll(self, connection: _Watching[_ScreenNews], seconds: float) -> Sequence[_ScreenNews]:
        """Return what a connection brings within a time; where its user is in use, nothing, and it has another one.

        Raises:
            ConnectionLost: where another user is not a cure.
        """
        try:
            return connection.poll(seconds)
        except ConnectionLost as error:
            connection.change_user(self.go_on(error, time.monotonic()))
            return ()

    def go_on(self, error: ConnectionLost, now: float) -> str:
        """Return the next user to try after what ended the connection.

        Args:
            now: seconds that never go back.

        Raises:
            ConnectionLost: the given one, where another user is not a cure; ``account_in_use`` when all are in use.
        """
        if self._name is None:
            raise error
        if error.code == "not_authorised" and self._number > 1:
            self._most = self._number - 1  # there are not so many
        elif error.code == "account_in_use":
            if now - self._since > SETTLED_SECONDS:
                self._taken.clear()
                self._most = MAX_SCREENS  # the operator may have given more
            self._taken.add(self._number)
            self._near, self._reach = self._reach, self._reach * 2
        else:
            raise error
        self._since = now
        self._take(self._choose(error))
        return f"{self._name}.{self._number}"

    def _choose(self, error: ConnectionLost) -> int:
        if len(self._taken) < MAX_TRIES:
            reach = min(self._reach, self._most)
            free = sorted(set(range(1, reach + 1)) - self._taken)
            if free:
                return self._random.choice([number for number in free if number > self._near] or free)
        tried = ", ".join(f"{self._name}.{number}" for number in sorted(self._taken))
        raise ConnectionLost(
            "account_in_use",
            f"all viewers of this account are in use: {tried}; let the operator give more: salvo teams screens NAME N",
        ) from error
