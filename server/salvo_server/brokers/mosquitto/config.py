"""What a mosquitto needs to start as a contest's broker: its configuration, and the first users.

Only the server's two users are in it. All others come at run time, see
:mod:`salvo_server.brokers.mosquitto.dynamic_security`.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from salvo.errors import SalvoError
from salvo.system.atomic_file import create_file, replace_file
from salvo.wire import roles_and_rights
from salvo.wire.roles_and_rights import Action, Role
from salvo_server.brokers.mosquitto.dynamic_security import (
    COMMANDS,
    DEFAULT_ACCESS,
    RESPONSES,
    acl_entries,
    fingerprint,
    roles_of,
)
from salvo_server.storage.register import Account
from salvo_server.storage.roster import Credentials

#: Where systems have the plugin: Debian and Ubuntu on both processors, Fedora, Alpine and the image eclipse-mosquitto.
PLUGINS = (
    Path("/usr/lib/x86_64-linux-gnu/mosquitto_dynamic_security.so"),
    Path("/usr/lib/aarch64-linux-gnu/mosquitto_dynamic_security.so"),
    Path("/usr/lib64/mosquitto_dynamic_security.so"),
    Path("/usr/lib/mosquitto_dynamic_security.so"),
)
CONFIG_NAME = "mosquitto.conf"
MOSQUITTO_USER = "mosquitto"
USERS_NAME = "dynamic-security.json"
RIGHTS_NAME = "rights.acl"
#: The role of the user that commands the plugin. It is not one of those that are kept equal to the roster.
_KEEPER_ROLE = "salvo-roster"
#: As the plugin makes them: 12 bytes of salt (others it does not read), PBKDF2-SHA512. The secrets have 128 bits, so
#: iterations protect nothing; mosquitto does them on its one thread at every connection.
_SALT_BYTES = 12
_ITERATIONS = 101


#: At a listener: 64 teams, each with a bot and four explorers, and those that a broken line has left.
MAX_CONNECTIONS = 512
#: At the server's: its own, its keeper's, those of both that a broken line has left, and a doctor's.
MAX_SERVER_CONNECTIONS = 16


class MosquittoConfigError(SalvoError):
    """The configuration cannot be written."""


@dataclass(frozen=True, slots=True)
class MosquittoListener:
    """Where mosquitto listens.

    Attributes:
        host: an address, or empty for all of them.
        websocket: whether MQTT over WebSocket is spoken there.
        max_connections: that mosquitto holds there at once; it closes every further one.
    """

    port: int
    host: str = ""
    websocket: bool = False
    max_connections: int = MAX_CONNECTIONS


@dataclass(frozen=True, slots=True)
class MosquittoTls:
    """The operator's certificate, with what leads to its authority, and its key, where mosquitto finds them."""

    cert: Path
    key: Path


#: MQTT's own port and the one that most brokers have for WebSockets on all addresses, and the server's on this machine.
#: Silent sockets of strangers fill the first two; clients that are connected play on, but the server has to come back.
LISTENERS = (
    MosquittoListener(1883),
    MosquittoListener(9001, websocket=True),
    MosquittoListener(1884, "127.0.0.1", max_connections=MAX_SERVER_CONNECTIONS),
)

_LIMITS = """\
# What clients may cost. mosquitto has no limit to a user's rate of messages: it reads the sockets in turn, takes one
# packet of each, acknowledges it, and puts it into the queue of a slow reader. The first wall against a flood is one
# connection a user (below). The second one is deploy/front.cfg, which slows each connection down and marks what it
# sends, so that nobody pays for another's forgeries; among strangers, let nobody in who does not come through it. The
# third one are the bounds here, and the fourth one is the server, which derives keys at a bounded rate (SALVO-FRESH-6)
# and answers each player a bounded number of times (SALVO-ERR-4).

# The largest message is the server's: an entry of the log may have 262,144 bytes, a recap has at most 65,536. A command
# has at most 4096, but mosquitto has one bound for all. Accounts are sent in messages of 16 KiB, the rights of all
# teams in one of up to 240 KB. What a team can leave behind as retained messages, one for each topic that it may
# publish, is therefore below 20 MB with 64 teams, and the server clears it.
max_packet_size 262144

# QoS 1 messages on their way to one client without its acknowledgement: as many as it may get at once. More only
# fill the buffers of a network.
max_inflight_messages 256

# What waits for one client, in messages and bytes. More than that mosquitto drops, what it has acknowledged, too. The
# numbers are the server's, for which all commands wait: it takes some 10,000 messages a second, so 40,000 are four
# seconds of its time, all that 64 teams say in ten turns, or what 25 connections behind the front send at once. A queue
# that no flood overflows is worse: with room for a million messages, 566,000 that one team had sent in five seconds
# delayed every other team's shots for 35 s, and with them their turns; of what is dropped, a team's SDK sends its shots
# and placements again (SALVO-FIRE-13). Anybody else who misses something asks for the recap.
max_queued_messages 40000
max_queued_bytes 33554432

# All that together, and subscriptions, whose number mosquitto does not bound, is for the system to bound: MemoryMax of
# systemd, mem_limit of Docker; 384 MB are plenty. Never set mosquitto's own memory_limit: with this plugin its count
# goes below zero at the first command, and from then on 2.0.11 is "out of memory" and delivers nothing.
"""


def find_plugin(given: Path | None = None) -> Path:
    """Return where the plugin is, in what mosquitto sees as its file system.

    Raises:
        MosquittoConfigError: ``no_plugin``.
    """
    if given is not None:
        return given
    for path in PLUGINS:
        if path.exists():
            return path
    places = ", ".join(str(path) for path in PLUGINS)
    raise MosquittoConfigError("no_plugin", f"mosquitto's plugin is not installed here, looked for {places}; name it")


def write(
    folder: Path,
    server: Account,
    keeper: Credentials,
    tables: Iterable[str],
    *,
    listeners: Sequence[MosquittoListener] = LISTENERS,
    plugin: Path | None = None,
    tls: MosquittoTls | None = None,
) -> Path:
    """Write what mosquitto starts from, and return its configuration's path.

    The users' file is mosquitto's own from then on, so it is never written again; the configuration is.

    Args:
        server: who speaks and hears at the tables.
        keeper: who commands the plugin.
        plugin: where mosquitto finds its plugin; looked for when None.

    Raises:
        MosquittoConfigError: ``no_plugin``, or ``file_unusable``.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        config = folder / CONFIG_NAME
        replace_file(config, configuration(folder.absolute(), find_plugin(plugin), listeners, tls).encode())
        users = folder / USERS_NAME
        create_file(users, json.dumps(first_users(server, keeper, tables), indent=1).encode() + b"\n")
        _hand_over(folder, users)
    except OSError as error:
        raise MosquittoConfigError("file_unusable", f"{folder}: {error.strerror}") from None
    return config


def _hand_over(*paths: Path) -> None:
    """Give files that mosquitto writes to the user that it becomes when root starts it."""
    if os.geteuid() == 0:
        with contextlib.suppress(KeyError):  # no such user here: in a container, or nothing is installed
            import pwd  # which Windows does not have; all commands of contests import this module

            owner = pwd.getpwnam(MOSQUITTO_USER)
            for path in paths:
                os.chown(path, owner.pw_uid, owner.pw_gid)


def configuration(folder: Path, plugin: Path, listeners: Sequence[MosquittoListener], tls: MosquittoTls | None) -> str:
    """Return the text of mosquitto.conf."""
    return f"""\
# The broker of a contest, written by Salvo. What you change here is lost when it is written again; put your own into
# a separate file and name it with include_dir.

# One set of users and rights for all listeners. Never set per_listener_settings, which mosquitto 2.1 deprecates: a
# plugin would guard the listener above it only, and the others would be open.
allow_anonymous false
plugin {plugin}
plugin_opt_config_file {folder / USERS_NAME}

{_memory(folder)}
# Every listener with the next two lines: above the first one they would open another, on port 1883, and mean that one.
# A client's id is its user's name, whatever it says: no client takes over another's session, and a user has one
# connection, the newest.
{"".join(_listener(listener, tls, logins=True) for listener in listeners)}"""


def _memory(folder: Path) -> str:
    """Return what mosquitto keeps, and what it says of itself."""
    return f"""\
# A client, or the server, that comes back finds its session, and a restarted broker its retained topics.
persistence true
persistence_location {folder}/
autosave_interval 30
persistent_client_expiration 1d

{_LIMITS}
# Without it a QoS 1 round trip takes 44 ms instead of 0.3.
set_tcp_nodelay true

log_dest stdout
log_type error
log_type warning
log_type notice
connection_messages false
"""


def _listener(listener: MosquittoListener, tls: MosquittoTls | None, *, logins: bool) -> str:
    text = f"listener {listener.port} {listener.host}".rstrip()
    text += f"\nprotocol {'websockets' if listener.websocket else 'mqtt'}\n"
    if logins:  # one connection a user; in an open contest two clients may have one name, or none
        text += "use_username_as_clientid true\n"
    # No short names for topics: the front reads topics, and remembers none.
    text += f"max_connections {listener.max_connections}\nmax_topic_alias 0\n"
    if tls is not None:
        text += f"certfile {tls.cert}\nkeyfile {tls.key}\ntls_version tlsv1.2\n"
    return text


def first_users(server: Account, keeper: Credentials, tables: Iterable[str]) -> dict[str, Any]:
    """Return the plugin's file with the server's two users."""
    roles = roles_of(server, tables)
    # The plugin's default rights do not hold below $CONTROL (mosquitto 2.0.11).
    commands = [("publishClientReceive", RESPONSES), ("publishClientSend", COMMANDS), ("subscribeLiteral", RESPONSES)]
    return {
        "clients": [
            _user(server.user, server.secret, list(roles), fingerprint(keeper, server)),
            _user(keeper.user, keeper.secret, [_KEEPER_ROLE], ""),
        ],
        "roles": [
            *({"rolename": name, "acls": acl_entries(acls)} for name, acls in roles.items()),
            {"rolename": _KEEPER_ROLE, "acls": acl_entries(commands)},
        ],
        "defaultACLAccess": DEFAULT_ACCESS,
    }


def _user(user: str, secret: str, roles: list[str], description: str) -> dict[str, Any]:
    salt = secrets.token_bytes(_SALT_BYTES)
    digest = hashlib.pbkdf2_hmac("sha512", secret.encode(), salt, _ITERATIONS)
    return {
        "username": user,
        "textdescription": description,
        "password": base64.b64encode(digest).decode(),
        "salt": base64.b64encode(salt).decode(),
        "iterations": _ITERATIONS,
        "roles": [{"rolename": name} for name in roles],
    }


# --- an open contest ----------------------------------------------------------------------------------------------
#
# Any client comes in, under any name (SALVO-ACCESS-10). A static list of rights is enough for that, without the plugin,
# which turns away every user that it does not know. mosquitto asks either all users for passwords or none, so what the
# server proves itself by is a user name that nobody can guess.

_ACL_WORDS = {Action.PUBLISH: "write", Action.RECEIVE: "read"}


def open_server(server: Account) -> Account:
    """Return the server's account at an open mosquitto: its user name, which is its client id, too, is secret.

    Args:
        server: its account by the roster's key, whose password does not follow from this name.
    """
    name = hashlib.blake2b(b"salvo open", key=server.secret.encode(), digest_size=16).hexdigest()
    return Account(f"{server.user}-{name}", server.name, Role.SERVER, "")


def write_open(
    folder: Path,
    server: Account,
    tables: Iterable[str],
    *,
    listeners: Sequence[MosquittoListener] = LISTENERS,
    tls: MosquittoTls | None = None,
) -> Path:
    """Write what mosquitto starts from as the broker of an open contest, and return its configuration's path.

    Args:
        server: who speaks and hears at the tables, as :func:`open_server` makes it.

    Raises:
        MosquittoConfigError: ``file_unusable``.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        config, rights = folder / CONFIG_NAME, folder / RIGHTS_NAME
        replace_file(rights, open_rights(server, tuple(tables)).encode(), 0o600)
        replace_file(config, open_configuration(folder.absolute(), listeners, tls).encode())
        _hand_over(folder, rights)
    except OSError as error:
        raise MosquittoConfigError("file_unusable", f"{folder}: {error.strerror}") from None
    return config


def open_rights(server: Account, tables: Sequence[str]) -> str:
    """Return the text of mosquitto's ``acl_file``, where a pattern without a variable is for all clients."""
    everything = dict.fromkeys(right.filter for right in roles_and_rights.rights(Role.SERVER, "", tables))
    lines = [
        "# Who may do what in an open contest, written by Salvo. This user's name is the server's secret.",
        f"user {server.user}",
        *(f"topic readwrite {each}" for each in everything),
        "",
        *(f"pattern {_ACL_WORDS[action]} {each}" for action, each in roles_and_rights.rights(Role.ANYBODY, "", tables)),
    ]
    return "\n".join(lines) + "\n"


def open_configuration(folder: Path, listeners: Sequence[MosquittoListener], tls: MosquittoTls | None) -> str:
    """Return the text of mosquitto.conf for an open contest."""
    return f"""\
# The broker of an open contest, written by Salvo: no login, any client. What you change here is lost when it is written
# again; put your own into a separate file and name it with include_dir.
allow_anonymous true
# mosquitto 2.1 deprecates acl_file, and still reads it; the plugin in its place is not in 2.0.
# mosquitto warns of every pattern there that has neither %c nor %u: they are meant for all clients.
acl_file {folder / RIGHTS_NAME}

{_memory(folder)}
{"".join(_listener(listener, tls, logins=False) for listener in listeners)}"""
