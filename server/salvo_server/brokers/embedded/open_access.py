"""The embedded broker's rights in an open contest: any client is admitted, only the server reads what is sent to it."""

from __future__ import annotations

import hmac
from collections.abc import Iterable

from salvo.wire import roles_and_rights
from salvo.wire.roles_and_rights import Role
from salvo_server.brokers.embedded.limits import SERVER_CLIENT_ID, Access, LimitAction
from salvo_server.storage.register import Account

#: In front of the client id of a client that calls itself what the server is called.
_NOT_THE_SERVER = "not "


class OpenAccess(Access):
    """Admits any client, under any client id, user and password, with the rights of anybody (SALVO-ACCESS-10).

    Only the server proves who it is, by the secret of its account.
    """

    def __init__(self, server: Account, tables: Iterable[str]) -> None:
        self._server = server
        self._tables = frozenset(tables)

    def admits(self, client_id: str, username: str | None, password: str | None) -> bool:
        if username != self._server.user:
            return True
        return hmac.compare_digest(self._server.secret.encode(), (password or "").encode())

    def session_id(self, client_id: str, username: str | None) -> str:
        if self.is_server(client_id, username):
            return SERVER_CLIENT_ID
        return _NOT_THE_SERVER + client_id if client_id == SERVER_CLIENT_ID else client_id

    def may_leave_messages(self, client_id: str, username: str | None, topic: str = "") -> bool:
        return self.is_server(client_id, username)

    def may_have_will(self, client_id: str, username: str | None) -> bool:
        return True

    def allows(self, client_id: str, username: str | None, action: LimitAction, topic: str) -> bool:
        if action == "subscribe":
            return True
        role = Role.SERVER if self.is_server(client_id, username) else Role.ANYBODY
        return roles_and_rights.may(role, "", self._tables, roles_and_rights.Action(action), topic)

    def publisher_of(self, client_id: str) -> str | None:
        return client_id

    def is_server(self, client_id: str, username: str | None) -> bool:
        return username == self._server.user
