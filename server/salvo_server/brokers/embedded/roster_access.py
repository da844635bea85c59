"""The embedded broker's rights in a contest: accounts on the roster are admitted, with the topic table's rights."""

from __future__ import annotations

import hmac
import secrets
from collections import Counter
from collections.abc import Callable, Iterable

from salvo.wire import roles_and_rights, topics
from salvo.wire.roles_and_rights import Role
from salvo.wire.topics import Publisher
from salvo_server.brokers.embedded.limits import Access, LimitAction
from salvo_server.storage.register import Account

#: Decisions that are remembered, some 250 bytes each: a thousand users of one table, or a dozen tables of a hundred.
_REMEMBERED = 32_768
#: What any team may publish, or any host, and whose topic names nobody.
_OF_ANYBODY = tuple(
    topic.pattern.rpartition("}")[2]
    for topic in topics.TOPICS
    if topic.publisher is Publisher.TEAM or topic is topics.LEAGUE_REPORT
)


class RosterAccess(Access):
    """Admits the accounts that it was given last, each with the rights of its role (SALVO-ACCESS-1).

    The user's name replaces the client id that a client sends. So no client can take over another user's session, and a
    user has one connection: the newest (SALVO-ACCESS-4). Any subscription is granted; what is delivered obeys the
    rights. Only the server leaves a retained message or a last will, and a host the seats (SALVO-ACCESS-6).

    :meth:`replace` may be called from any thread; everything else belongs to the broker's thread.
    """

    #: The fastest bots fire some 200 shots a second when none of them thinks, and get their turns one by one. That many
    #: messages from each of 64 teams are more than a server takes, but each is read in its turn (sessions.py).
    messages_a_second = 1000

    def __init__(self, accounts: Iterable[Account] = (), tables: Iterable[str] = ("",)) -> None:
        self.revision = self._current = _Snapshot(accounts, tables)
        self._changed: Callable[[], None] | None = None

    def replace(self, accounts: Iterable[Account], tables: Iterable[str]) -> None:
        """Admit these accounts from now on; one that is gone, or has a new secret or role, is disconnected.

        Raises:
            WireError: ``bad_name`` for a team; those from before stay.
        """
        self.revision = self._current = _Snapshot(accounts, tables)
        changed = self._changed
        if changed is not None:
            changed()

    def watch(self, changed: Callable[[], None]) -> None:
        self._changed = changed

    def admits(self, client_id: str, username: str | None, password: str | None) -> bool:
        return self._current.admits(username, password)

    def grant(self, username: str | None) -> object:
        return self._current.grants.get(username)

    def payer(self, username: str | None) -> tuple[str, int]:
        account = self._current.accounts.get(username)
        name = "" if account is None else account.name
        return name, self._current.users[name]

    def session_id(self, client_id: str, username: str | None) -> str:
        return username or ""

    def allows(self, client_id: str, username: str | None, action: LimitAction, topic: str) -> bool:
        # Runs for every message, and for every subscriber at each subscription: nothing is computed twice.
        current = self._current
        key = username, action, topic
        decided = current.decided.get(key)
        return current.decide(key) if decided is None else decided

    def may_leave_messages(self, client_id: str, username: str | None, topic: str = "") -> bool:
        account = self._current.accounts.get(username)
        if account is None or account.role is not Role.HOST or not topic:
            return self.is_server(client_id, username)
        return topics.parse(topic).topic in (topics.SEAT, topics.LEAGUE)  # of those who may publish there

    def team_of(self, client_id: str, topic: str) -> str | None:
        # Of these alone: every other command names its player in the topic, where no other team may publish.
        if not topic.endswith(_OF_ANYBODY):
            return None
        account = self._current.accounts.get(client_id)
        return "" if account is None else account.name

    def is_server(self, client_id: str, username: str | None) -> bool:
        account = self._current.accounts.get(username)
        return account is not None and account.role is Role.SERVER


class _Snapshot:
    """The accounts of one moment; immutable, except for a cache of its decisions.

    Attributes:
        grants: what a session was admitted with, by user: as long as it is the same, the session may stay.
        users: number of users of each name.
        decided: by user, action and topic.
    """

    def __init__(self, accounts: Iterable[Account], tables: Iterable[str]) -> None:
        self.accounts: dict[str | None, Account] = {account.user: account for account in accounts}
        self.grants: dict[str | None, tuple[str, Role, str]] = {
            user: (account.name, account.role, account.secret) for user, account in self.accounts.items()
        }
        self.users = Counter(account.name for account in self.accounts.values())
        self.decided: dict[tuple[str | None, LimitAction, str], bool] = {}
        self._tables = frozenset(tables)
        for account in self.accounts.values():
            roles_and_rights.rights(account.role, account.name, self._tables)  # refuses a name that is none
        self._nobodys_secret = secrets.token_urlsafe(16).encode()

    def admits(self, username: str | None, password: str | None) -> bool:
        """Compare in a time that tells neither how much of a secret is right nor whether there is such a user."""
        account = self.accounts.get(username)
        wanted = self._nobodys_secret if account is None else account.secret.encode()
        same = hmac.compare_digest(wanted, (password or "").encode())
        return same and account is not None

    def decide(self, key: tuple[str | None, LimitAction, str]) -> bool:
        username, action, topic = key
        account = self.accounts.get(username)
        if account is None:
            return False
        if action == "subscribe":
            return True
        if len(self.decided) >= _REMEMBERED:
            self.decided.clear()
        allowed = roles_and_rights.may(account.role, account.name, self._tables, roles_and_rights.Action(action), topic)
        self.decided[key] = allowed
        return allowed
