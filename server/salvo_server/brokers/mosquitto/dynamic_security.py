"""Synchronise mosquitto's users and rights with the roster, through its plugin (SALVO-ACCESS-1).

Every user has the roles that :func:`roles_of` makes of the topic table: one for what all accounts of its kind may do,
and one for the topics with its own name. Only users with our mark in their description, and roles whose name begins
with :data:`ROLE_PREFIX`, are ever deleted: what an operator has added stays.

The plugin answers commands on a separate topic. It disconnects a user that is deleted, or has a new password or role
(mosquitto 2.0.11), so a team that is struck off is gone at once.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from salvo.errors import ConnectionLost, SalvoError
from salvo.net.mqtt import BrokerUrl, Connection
from salvo.wire import roles_and_rights
from salvo.wire.roles_and_rights import Action, Right, Role
from salvo_server.storage.register import Account
from salvo_server.storage.roster import Credentials

log = logging.getLogger(__name__)

COMMANDS = "$CONTROL/dynamic-security/v1"
RESPONSES = f"{COMMANDS}/response"
#: What the names of our roles begin with; no user of ours can have a blank in its name.
ROLE_PREFIX = "salvo "
#: What the descriptions of our users begin with; a fingerprint of the secret follows.
_MARK = "salvo "
#: What the plugin decides where no role says anything. Subscribing is free, as rights are looked at on delivery: an
#: explorer may ask for everything and gets what it may read.
DEFAULT_ACCESS = {"publishClientSend": False, "publishClientReceive": False, "subscribe": True, "unsubscribe": True}
_ACL_TYPES = {Action.PUBLISH: "publishClientSend", Action.RECEIVE: "publishClientReceive"}
#: Commands sent in one message: the plugin writes its file after each, so these some 50 hold up the broker for 0.3 s
#: at worst, with a thousand users.
_MAX_BYTES = 16 * 1024
#: Asked for at a time: a role of a dozen tables is listed in some 10 KiB.
_PAGE = 50
#: Teams times tables that a role lists: it is changed by one message, which mosquitto takes up to 256 KiB. In a larger
#: contest a team may shoot at any name.
_MAX_TARGETS = 2000
#: For the plugin to answer; many times what a message of commands takes it.
_ANSWER_SECONDS = 5.0
#: Between two attempts after an error.
_PAUSE_SECONDS = 2.0
_POLL_SECONDS = 1.0

Acl = tuple[str, str]
DynsecCommand = dict[str, Any]


class DynamicSecurityError(SalvoError):
    """The broker's plugin is not there, or refuses something."""


def roles_of(
    account: Account, tables: Iterable[str], players: Iterable[str] = ("+",), ships: Iterable[str] = ("+",)
) -> dict[str, frozenset[Acl]]:
    """Return the roles of an account: by name, each right as the plugin's type and topic filter.

    mosquitto cannot refuse a retained message on a topic that a team may publish. So whoever may shoot at any name, or
    place any ship, fills its memory with messages that stay.

    Args:
        players: who may be shot at.
        ships: which may be placed.

    Raises:
        WireError: ``bad_name``.
    """
    tables, players, ships = tuple(tables), tuple(players), tuple(ships)
    common = _common_acls(account.role, tables, players, ships)
    # Without those who may be shot at, whom all accounts of the kind have in common: each has 300 of them among 300.
    own = _own_acls(account.role, account.name, tables, ships) - common
    roles = {f"{ROLE_PREFIX}{account.role}": common}
    if own:
        roles[f"{ROLE_PREFIX}{account.role} {account.name}"] = own
    return roles


@lru_cache(maxsize=16)
def _common_acls(
    role: Role, tables: tuple[str, ...], players: tuple[str, ...], ships: tuple[str, ...]
) -> frozenset[Acl]:
    """Return the rights that do not depend on an account's name."""
    one, another = (_acls(roles_and_rights.rights(role, name, tables, players=players, ships=ships)) for name in "ab")
    return one & another


@lru_cache(maxsize=16)  # the users of an account have the same
def _own_acls(role: Role, name: str, tables: tuple[str, ...], ships: tuple[str, ...]) -> frozenset[Acl]:
    return _acls(roles_and_rights.rights(role, name, tables, players=(), ships=ships))


def _acls(rights: Iterable[Right]) -> frozenset[Acl]:
    return frozenset((_ACL_TYPES[right.action], right.filter) for right in rights)


def acl_entries(acls: Iterable[Acl]) -> list[dict[str, Any]]:
    """The rights of a role, as the plugin reads and writes them."""
    return [{"acltype": kind, "topic": topic, "priority": 0, "allow": True} for kind, topic in sorted(acls)]


def fingerprint(keeper: Credentials, account: Account) -> str:
    """A user's description: tells a changed secret from the same one, and reveals nothing without the keeper's."""
    key = hashlib.blake2b(keeper.secret.encode(), digest_size=32, person=b"salvo fp").digest()
    text = f"{account.user}\0{account.secret}".encode()
    return _MARK + hashlib.blake2b(text, key=key, digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class _User:
    roles: frozenset[str]
    description: str
    odd: bool = False  # bound to a client id, or in a group: nothing of ours
    disabled: bool = False


@dataclass(slots=True)
class _State:
    """What the plugin has."""

    defaults: dict[str, bool]
    users: dict[str, _User]
    roles: dict[str, frozenset[Acl]]


class _WantedAccount:
    """What the plugin shall have."""

    def __init__(
        self, keeper: Credentials, accounts: Iterable[Account], tables: Iterable[str], ships: Iterable[str]
    ) -> None:
        tables, accounts = tuple(tables), tuple(accounts)
        teams = [account.name for account in accounts if account.role is Role.TEAM]
        players = teams if len(teams) * len(tables) <= _MAX_TARGETS else ["+"]
        self.users: dict[str, _User] = {}
        self.roles: dict[str, frozenset[Acl]] = {}
        self.secrets: dict[str, str] = {}
        self.others_stay = False
        self._servers = [account.user for account in accounts if account.role is Role.SERVER]
        for account in accounts:
            if account.user == keeper.user:
                continue  # the keeper would lose its own connection
            roles = roles_of(account, tables, players, ships)
            self.roles |= roles
            self.users[account.user] = _User(frozenset(roles), fingerprint(keeper, account))
            self.secrets[account.user] = account.secret

    def server_alone(self) -> _WantedAccount:
        """Return the server's part of this, beside which all others stay as they are."""
        alone = copy(self)
        alone.users = {user: self.users[user] for user in self._servers}
        alone.roles = {name: self.roles[name] for has in alone.users.values() for name in has.roles}
        alone.others_stay = True
        return alone

    def changes(self, state: _State, keeper: str) -> Iterator[DynsecCommand]:
        """Yield what makes the plugin's state this one; who loses something comes first."""
        if state.defaults != DEFAULT_ACCESS:
            acls = [{"acltype": kind, "allow": allow} for kind, allow in DEFAULT_ACCESS.items()]
            yield {"command": "setDefaultACLAccess", "acls": acls}
        for user, has in state.users.items():
            is_ours = has.description.startswith(_MARK) and user != keeper
            if user not in self.users and is_ours and not self.others_stay:
                yield {"command": "deleteClient", "username": user}
        for name, rights in self.roles.items():
            if state.roles.get(name) != rights:
                command = "modifyRole" if name in state.roles else "createRole"
                yield {"command": command, "rolename": name, "acls": acl_entries(rights)}
        for user, wanted in self.users.items():
            has = state.users.get(user, wanted)
            if has.disabled:
                yield {"command": "enableClient", "username": user}
            if state.users.get(user) != wanted:
                yield self._user_command(user, wanted, "modifyClient" if user in state.users else "createClient")
        for name in state.roles:
            if name.startswith(ROLE_PREFIX) and name not in self.roles and not self.others_stay:
                yield {"command": "deleteRole", "rolename": name}

    def _user_command(self, user: str, wanted: _User, command: str) -> DynsecCommand:
        # A new password also disconnects clients that used the old one.
        return {
            "command": command,
            "username": user,
            "password": self.secrets[user],
            "textdescription": wanted.description,
            "roles": [{"rolename": name, "priority": 0} for name in sorted(wanted.roles)],
            **({"groups": [], "clientid": ""} if command == "modifyClient" else {}),
        }


class DynamicSecurity:
    """Keeps a mosquitto's users and rights equal to the accounts that :meth:`sync` was given last.

    It has its own thread and connection. Whatever the broker has lost, or another client has changed, is put right at
    every reconnection.

    Attributes:
        problem: why the last attempt failed; None when it did not.
    """

    def __init__(
        self,
        url: str | BrokerUrl,
        keeper: Credentials,
        *,
        ca: str | None = None,
        ships: Iterable[str] = ("+",),
        server_first: bool = False,
    ) -> None:
        """Prepare; nothing is sent before :meth:`start`.

        Args:
            ca: the authority to trust for ``mqtts`` and ``wss``, see :class:`salvo.net.mqtt.Connection`.
            keeper: a user that may publish :data:`COMMANDS`, and subscribe to and receive :data:`RESPONSES`.
            ships: those that a team may place; all by default.
            server_first: whether only the server gets its account before :meth:`open`.

        Raises:
            ConnectionLost: ``bad_url``.
        """
        self._ships = tuple(ships)
        self.url = url if isinstance(url, BrokerUrl) else BrokerUrl.parse(url)
        self.problem: SalvoError | None = None
        self._keeper = keeper
        self._ca = ca
        self._everybody: _WantedAccount | None = None
        self._is_open = not server_first
        self._wanted: _WantedAccount | None = None
        self._applied: _WantedAccount | None = None
        self._news = threading.Condition()
        self._ended = False
        self._connection: Connection | None = None
        self._state: _State | None = None
        self._number = 0
        self._reported: str | None = None
        self._thread = threading.Thread(target=self._run, name="dynamic-security", daemon=True)

    # --- any thread -----------------------------------------------------------------------------------------------

    def start(self) -> DynamicSecurity:
        """Connect, and keep connected, on a separate thread."""
        self._thread.start()
        return self

    def sync(self, accounts: Iterable[Account], tables: Iterable[str]) -> None:
        """Want these accounts and no others; returns at once.

        Raises:
            WireError: ``bad_name`` for a team; what was wanted before still is.
        """
        wanted = _WantedAccount(self._keeper, accounts, tables, self._ships)
        with self._news:
            self._everybody = wanted
            self._wanted = wanted if self._is_open else wanted.server_alone()
            connection = self._connection
        if connection is not None:
            connection.wake()

    def open(self) -> None:
        """Let others have their accounts, after the server; harmless when it is done again."""
        with self._news:
            self._is_open = True
            self._wanted = self._everybody
            connection = self._connection
        if connection is not None:
            connection.wake()

    def wait(self, seconds: float) -> None:
        """Return when the broker has what was wanted last.

        Raises:
            DynamicSecurityError: ``no_dynamic_security`` or ``broker_refused``.
            ConnectionLost: the broker cannot be reached, or refuses the keeper.
        """
        with self._news:
            if self._news.wait_for(lambda: self._wanted is None or self._applied is self._wanted, seconds):
                return
        raise self.problem or ConnectionLost("unreachable", f"no broker answers at {self.url} within {seconds:g} s")

    def close(self) -> None:
        """Let go of the connection; may be called twice."""
        with self._news:
            self._ended = True
            self._news.notify_all()
            connection = self._connection
        if connection is not None:
            connection.wake()
        if self._thread.is_alive():
            self._thread.join(10)

    def __enter__(self) -> DynamicSecurity:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- its own thread -------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._ended:
            connection = Connection(
                self.url,
                self._keeper.user,
                username=self._keeper.user,
                password=self._keeper.secret,
                clean_session=True,
                on_connect=self._connected,
                ca=self._ca,
                gives_way=False,
            )
            with self._news:
                self._connection = connection
            try:
                self._serve(connection)
            except SalvoError as error:
                if not self._ended:
                    self._warn(error)
            finally:
                with self._news:
                    self._connection = None
                connection.close(0.5)
            with self._news:
                self._news.wait_for(lambda: self._ended, _PAUSE_SECONDS)

    def _warn(self, error: SalvoError) -> None:
        """Log an error once, not at every attempt."""
        self.problem = error
        if self._reported != str(error):
            self._reported = str(error)
            log.error("accounts are not at the broker yet: %s", error)

    def _connected(self, session_present: bool) -> None:
        """Everything may have changed meanwhile."""
        self._state = self._applied = None
        assert self._connection is not None
        self._connection.subscribe([RESPONSES])

    def _serve(self, connection: Connection) -> None:
        while not self._ended:
            for message in connection.poll(_POLL_SECONDS):
                connection.acknowledge(message)
            with self._news:
                wanted = self._wanted
            if not connection.connected or wanted is None or wanted is self._applied:
                continue
            try:
                self._apply(connection, wanted)
            except ConnectionLost as error:  # while it was answering: reconnect
                self._warn(error)

    def _apply(self, connection: Connection, wanted: _WantedAccount) -> None:
        state = self._state or self._read(connection)
        self._state = None  # until it is known again
        commands = list(wanted.changes(state, self._keeper.user))
        for batch in _batches(commands):
            for command, response in zip(batch, self._ask(connection, batch), strict=True):
                if "error" in response:
                    what = command.get("username") or command.get("rolename", "")
                    text = f"{self.url} refused {command['command']} {what}: {response['error']}"
                    raise DynamicSecurityError("broker_refused", text)
        stay = wanted.others_stay
        foreign = {user: has for user, has in state.users.items() if stay or not has.description.startswith(_MARK)}
        others = {name: acls for name, acls in state.roles.items() if stay or not name.startswith(ROLE_PREFIX)}
        self._state = _State(dict(DEFAULT_ACCESS), foreign | wanted.users, others | wanted.roles)
        if commands:
            log.info("%s has %d users now, after %d commands", self.url, len(wanted.users), len(commands))
        with self._news:
            self._applied = wanted
            self.problem = self._reported = None
            self._news.notify_all()

    def _read(self, connection: Connection) -> _State:
        [answer] = self._ask(connection, [{"command": "getDefaultACLAccess"}])
        defaults = {acl["acltype"]: acl["allow"] for acl in answer["data"]["acls"]}
        users = {
            each["username"]: _User(
                frozenset(role["rolename"] for role in each.get("roles", ())),
                each.get("textdescription", ""),
                bool(each.get("clientid") or each.get("groups")),
                bool(each.get("disabled")),
            )
            for each in self._list(connection, "listClients", "clients")
        }
        roles = {
            each["rolename"]: frozenset(
                (acl["acltype"] if acl["allow"] else f"not {acl['acltype']}", acl["topic"])
                for acl in each.get("acls", ())
            )
            for each in self._list(connection, "listRoles", "roles")
        }
        return _State(defaults, users, roles)

    def _list(self, connection: Connection, command: str, key: str) -> Iterator[Mapping[str, Any]]:
        offset, total = 0, 1
        while offset < total:
            page = {"command": command, "verbose": True, "count": _PAGE, "offset": offset}
            [answer] = self._ask(connection, [page])
            found = answer["data"][key]
            total = answer["data"]["totalCount"] if found else 0
            yield from found
            offset += len(found)

    def _ask(self, connection: Connection, commands: list[DynsecCommand]) -> list[dict[str, Any]]:
        """Have the plugin do something; return its answers.

        Raises:
            ConnectionLost: the broker has gone meanwhile.
            DynamicSecurityError: ``no_dynamic_security``: there is no answer.
        """
        self._number += 1
        mine = f"{id(self):x}-{self._number}"
        marked = [command | {"correlationData": mine} for command in commands]
        connection.publish(COMMANDS, json.dumps({"commands": marked}).encode())
        end = time.monotonic() + _ANSWER_SECONDS
        while time.monotonic() < end and not self._ended:
            for message in connection.poll(max(0.0, end - time.monotonic())):
                connection.acknowledge(message)
                responses = json.loads(message.payload)["responses"] if message.topic == RESPONSES else []
                if responses and responses[0].get("correlationData") == mine:
                    return list(responses)
            if not connection.connected:
                raise ConnectionLost("unreachable", f"{self.url} went away while it was given the accounts")
        raise DynamicSecurityError("no_dynamic_security", _NO_ANSWER.format(url=self.url, user=self._keeper.user))


_NO_ANSWER = (
    "{url} does not answer on "
    + COMMANDS
    + ". salvo mosquitto FOLDER writes what a mosquitto 2 needs: mosquitto.conf has "
    "'plugin /usr/lib/x86_64-linux-gnu/mosquitto_dynamic_security.so' (where your system has it) and "
    "'plugin_opt_config_file /var/lib/mosquitto/dynamic-security.json', and in that file {user} must have a role with "
    "publishClientSend on " + COMMANDS + ", and publishClientReceive and subscribeLiteral on " + RESPONSES
)


def _batches(commands: Iterable[DynsecCommand]) -> Iterator[list[DynsecCommand]]:
    """Cut commands into messages of a bounded length, in their order."""
    batch: list[DynsecCommand] = []
    size = 0
    for command in commands:
        length = len(json.dumps(command)) + len(_CORRELATION)
        if batch and size + length > _MAX_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(command)
        size += length
    if batch:
        yield batch


_CORRELATION = '"correlationData": "0123456789abcdef-1000000", '
