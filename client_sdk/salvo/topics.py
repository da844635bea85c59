"""Every topic, once: who publishes it, who may read it, whether it is retained, what it carries.

Everything that needs a topic's name or a right uses this table: the codecs, the server's subscriptions, a broker's
access rules, the published contract. Nothing here reads payloads.

A table's topics begin with its prefix: none for the default table (which keeps the specification's topics as they are),
``/NAME`` for an additional one (SALVO-TOPIC-1).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

from salvo.errors import WireError


class Publisher(StrEnum):
    """Who may publish a topic."""

    SERVER = "server"
    TEAM = "team"  # any team
    OWNER = "owner"  # the player whose name stands in the topic
    HOST = "host"


class Reader(StrEnum):
    """Who may read a topic."""

    EVERYBODY = "everybody"
    SERVER = "server"
    OWNER = "owner"  # the player whose name stands in the topic
    REFEREE = "referee"  # may see the boards during the game, and publishes nothing


class Role(StrEnum):
    """What an account on the broker is for."""

    SERVER = "server"  # the contest server
    TEAM = "team"  # plays under the account's name
    SCREEN = "screen"  # reads what the team of the account's name reads: a second, read-only connection
    WATCHER = "watcher"  # reads what is public
    REFEREE = "referee"  # reads what is public, and all boards
    HOST = "host"  # reads what is public, and acts at the tables
    ANYBODY = "anybody"  # any client of an open contest: plays under any name, and reads all but what is the server's


class Action(StrEnum):
    """What an account does to a topic."""

    PUBLISH = "publish"
    RECEIVE = "receive"


class Right(NamedTuple):
    """Permission to do something to all topics that an MQTT topic filter matches."""

    action: Action
    filter: str


@dataclass(frozen=True, slots=True, eq=False)
class Topic:
    """One row of the topic table.

    Attributes:
        name: what the code calls it.
        pattern: the levels below the table's prefix, with ``{player}`` and ``{ship}`` for the variable ones.
        retained: whether the broker keeps its last value.
        payload: what it carries, for people.
        source: ``S`` for the specification, ``X`` for an addition.
    """

    name: str
    pattern: str
    publisher: Publisher
    reader: Reader
    retained: bool
    payload: str
    source: str

    @property
    def levels(self) -> tuple[str, ...]:
        """The pattern's levels, without the empty one before the first slash."""
        return tuple(self.pattern.split("/")[1:])

    def of(self, table: str = "", *, player: str = "", ship: str = "") -> str:
        """Return the full topic at a table (``""`` is the default table)."""
        path = self.pattern
        if "{" in path:
            path = path.replace("{player}", player).replace("{ship}", ship)
        return f"{prefix(table)}{path}" if table else path

    def filter(self, table: str = "", *, player: str = "+", ship: str = "+") -> str:
        """Return the MQTT topic filter that matches this topic for all players and ships, or one of them."""
        return self.of(table, player=player, ship=ship)


_rows: list[Topic] = []


def _row(name: str, pattern: str, publisher: str, reader: str, retained: bool, payload: str, source: str) -> Topic:
    _rows.append(Topic(name, pattern, Publisher(publisher), Reader(reader), retained, payload, source))
    return _rows[-1]


_SHIP = "/players/{player}/ships/{ship}"

STATE = _row("state", "/game/state", "server", "everybody", True, "`lobby`, `turn` or `over`", "S")
REQUEST_PARTICIPATION = _row(
    "request_participation",
    "/game/request_participation",
    "team",
    "server",
    False,
    '`{"name": "...", "secret": "..."}`, open or sealed for the server',
    "S",
)
REQUEST_ERROR = _row(
    "request_error",
    "/game/error",
    "server",
    "everybody",
    False,
    "`<code>: <meaning>` for a request to take part that cannot be read",
    "X",
)
LEAVE = _row(
    "leave",
    "/players/{player}/leave",
    "owner",
    "server",
    False,
    '`{"data": {"g": 1}, "signature": "<blob>"}`, out of the lobby',
    "X",
)
COUNT = _row("count", "/players/count", "server", "everybody", True, "`2`", "S")
LIST = _row("list", "/players/list", "server", "everybody", True, '`["a", "b"]`', "S")
PLACE = _row(
    "place",
    f"{_SHIP}/place",
    "owner",
    "server",
    False,
    'blob of `{"coordinates": "<x>;<y>", "Orientation": "HORIZONTAL"}`',
    "S",
)
APPROVED = _row("approved", f"{_SHIP}/approved", "server", "everybody", True, "`true` or `false`", "S")
PLACEMENT_ERROR = _row("placement_error", f"{_SHIP}/error", "server", "owner", False, "`<code>: <sentence>`", "S")
CURRENT = _row("current", "/game/current", "server", "everybody", True, "a player's name", "S")
FIRE = _row(
    "fire",
    "/players/{player}/fire",
    "team",
    "server",
    False,
    '`{"data": {"x": 3, "y": 4}, "signature": "<blob>"}`, one shot a message',
    "S",
)
SKIP = _row(
    "skip",
    "/players/{player}/skip",
    "owner",
    "server",
    False,
    '`{"data": {"g": 1, "t": 9}, "signature": "<blob>"}`, where the rules have it',
    "X",
)
HIT = _row("hit", "/players/{player}/hit", "server", "owner", False, '`{"x": 3, "y": 4}` for every shot', "S")
HITS = _row("hits", "/game/hits", "server", "everybody", False, "`2`", "S")
SUNK = _row("sunk", f"{_SHIP}/sunk", "server", "everybody", True, "`true`", "S")
SUNK_AS_PRINTED = _row(
    "sunk_as_printed", "/player/{player}/ships/{ship}/sunk", "server", "everybody", True, "`true`", "S"
)
DEFEATED = _row("defeated", "/players/{player}/defeated", "server", "everybody", True, "`true`", "S")
DEFEATED_AS_PRINTED = _row(
    "defeated_as_printed", "/player/{player}/defeated", "server", "everybody", True, "`true`", "S"
)
WINNER = _row(
    "winner",
    "/game/winner",
    "server",
    "everybody",
    True,
    'a player\'s name; after a tie `["a", "b"]`, where the rules have it; `[]` after a host has aborted the game',
    "S",
)
STATS = _row(
    "stats",
    "/game/stats/{player}",
    "server",
    "everybody",
    True,
    '`{"shots": 80, "hits": 19, "sunk": 6, "turns": 18, "place": 1}`',
    "S",
)
ERROR = _row("error", "/players/{player}/error", "server", "owner", False, "`<code>: <sentence>`", "X")
RULES = _row("rules", "/game/rules", "server", "everybody", True, "JSON: ruleset, grid, fleet, time limits", "X")
SERVER = _row("server", "/game/server", "server", "everybody", True, "JSON: status, version, game, profile, keys", "X")
TURN = _row(
    "turn",
    "/game/turn",
    "server",
    "everybody",
    True,
    "JSON: game, turn, player, shots, now and deadline (epoch ms of the server)",
    "X",
)
RESULT = _row(
    "result",
    "/game/result",
    "server",
    "everybody",
    True,
    "JSON: game, turn, player, shots, hits, sunk, defeated of the last salvo; outcomes, aims where announced",
    "X",
)
BOARD = _row(
    "board",
    "/players/{player}/board",
    "server",
    "everybody",
    True,
    "a letter a cell: `.`, `X` hit, `0` miss, where the rules announce cells",
    "X",
)
FLEET = _row(
    "fleet",
    "/players/{player}/fleet",
    "server",
    "everybody",
    True,
    "JSON: all ships, at the end, where the rules reveal them",
    "X",
)
RECAP = _row("recap", "/players/{player}/recap", "server", "owner", False, "blob: own fleet, shots, results", "X")
LOG = _row("log", "/game/log", "server", "everybody", False, "signed, hash-chained public events", "X")
RESEND = _row(
    "resend", "/players/{player}/resend", "owner", "server", False, '`{"log": 17}`: the log again from there', "X"
)
REFEREE = _row("referee", "/game/referee", "server", "referee", True, "JSON: all boards", "X")
STANDINGS = _row(
    "standings",
    "/game/standings",
    "server",
    "everybody",
    True,
    "JSON: places, points and ratings of an evening and over all; on the first table only",
    "X",
)
SAY = _row("say", "/players/{player}/say", "owner", "server", False, '`{"text": "..."}`, with `"to": "b"` for one', "X")
CHAT = _row("chat", "/game/chat", "server", "everybody", False, '`{"from": "a", "text": "..."}`', "X")
MESSAGE = _row("message", "/players/{player}/message", "server", "owner", False, '`{"from": "a", "text": "..."}`', "X")
HOST = _row(
    "host",
    "/game/host",
    "host",
    "server",
    False,
    '`{"data": {"by": "desk", "do": "extend", "seconds": 60, "g": 1}, "signature": "<blob>"}`',
    "X",
)
HOSTED = _row(
    "hosted",
    "/game/hosted",
    "server",
    "everybody",
    True,
    '`{"by": "desk", "do": "pause", "paused": true}`: what a host did last at this table',
    "X",
)
SEAT = _row(
    "seat", "/players/{player}/seat", "host", "owner", True, '`{"table": "t3"}`: where the player plays next', "X"
)

TOPICS: Final = tuple(_rows)


#: Words that may not be names of players or tables: they are levels of the topic tree (SALVO-NAME-3).
RESERVED = frozenset(level for topic in TOPICS for level in topic.levels if not level.startswith("{"))

NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")


def prefix(table: str) -> str:
    """Return the prefix of a table's topics."""
    return f"/{table}" if table else ""


def check_name(name: str, what: str = "team") -> str:
    """Return a legal name of a player or table.

    Raises:
        WireError: ``bad_name`` (SALVO-NAME-1, SALVO-NAME-3).
    """
    if NAME_PATTERN.fullmatch(name) is None:
        raise WireError(
            "bad_name",
            f"{what} name {name[:40]!r} is not 1..32 of A-Z a-z 0-9 _ - that begin with a letter or digit",
        )
    if name.lower() in RESERVED:
        raise WireError("bad_name", f"{what} name {name!r} is a word of the topic tree: {', '.join(sorted(RESERVED))}")
    return name


@dataclass(frozen=True, slots=True)
class Address:
    """A parsed topic: its row, the table, and the variable levels (empty where the row has none)."""

    topic: Topic
    table: str = ""
    player: str = ""
    ship: str = ""


_BY_SHAPE: dict[tuple[str, ...], Topic] = {
    tuple("" if level.startswith("{") else level for level in topic.levels): topic for topic in TOPICS
}
ROOTS = frozenset(topic.levels[0] for topic in TOPICS)


@lru_cache(maxsize=4096)
def parse(topic: str) -> Address:
    """Parse a topic.

    Raises:
        WireError: ``unknown_topic``.
    """
    levels = topic.split("/")
    if levels[0] == "" and len(levels) > 2:
        table = "" if levels[1] in ROOTS else levels[1]
        rest = levels[2:] if table else levels[1:]
        for shape in _shapes(rest):
            found = _BY_SHAPE.get(shape)
            if found is not None:
                values = dict(zip(found.levels, rest, strict=True))
                return Address(found, table, values.get("{player}", ""), values.get("{ship}", ""))
    raise WireError("unknown_topic", f"{topic[:120]!r} is not a topic of the protocol")


def _shapes(levels: list[str]) -> list[tuple[str, ...]]:
    """The shapes that these levels may have: literal, or with a player, or with a player and a ship."""
    shapes = [tuple(levels)]
    if len(levels) > 1:
        shapes.append((levels[0], "", *levels[2:]))
    if len(levels) > 2:
        shapes.append((*levels[:2], "", *levels[3:]))
    if len(levels) > 3:
        shapes.append((levels[0], "", levels[2], "", *levels[4:]))
    return shapes


# --- rights -----------------------------------------------------------------------------------------------------------


def rights(
    role: Role, name: str, tables: Iterable[str], *, players: Iterable[str] = ("+",), ships: Iterable[str] = ("+",)
) -> tuple[Right, ...]:
    """Return everything that an account may publish and receive, as topic filters (SALVO-ACCESS-1, SALVO-ACCESS-5).

    Everything else is forbidden.

    A team's name and a table's stand in the filters as they are: what :func:`check_name` passes holds no wildcard.
    Subscribing needs no separate right, because rights are checked at delivery.

    Args:
        name: the player whose topics a team and its screens own.
        tables: the server's tables, ``""`` for the default one; no account has rights at any other.
        players: whose topics any team may publish; all by default.
        ships: the ships whose topics a team may publish; all by default.

    Raises:
        WireError: ``bad_name``: in a filter it would match other teams' topics, too.
    """
    if role in (Role.TEAM, Role.SCREEN, Role.HOST):
        check_name(name)
    if role is Role.ANYBODY:
        name = "+"
    if role is Role.SERVER:
        return tuple(Right(action, f"{place}/#") for place in _places(tables) for action in Action)
    said_at = {Publisher.OWNER: (name,), Publisher.TEAM: tuple(players), Publisher.HOST: ("+",)}
    named = tuple(ships)
    found = []
    for table in tables:
        for topic in TOPICS:
            if _may_publish(role, topic, own=True):
                cells = itertools.product(said_at[topic.publisher], named)
                found += [
                    Right(Action.PUBLISH, topic.filter(table, player=player, ship=ship)) for player, ship in cells
                ]
            if _may_receive(role, topic, own=True):
                player = name if topic.reader is Reader.OWNER else "+"
                found.append(Right(Action.RECEIVE, topic.filter(table, player=player)))
    return tuple(dict.fromkeys(found))


def may(role: Role, name: str, tables: Collection[str], action: Action, topic: str) -> bool:
    """Whether an account may publish or receive one topic; agrees exactly with the filters of :func:`rights`."""
    if role is Role.SERVER:
        return any(topic == place or topic.startswith(f"{place}/") for place in _places(tables))
    try:
        address = parse(topic)
    except WireError:
        return False
    if address.table not in tables:
        return False
    own = address.player == name
    allowed = _may_publish if action is Action.PUBLISH else _may_receive
    return allowed(role, address.topic, own=own)


def _places(tables: Iterable[str]) -> Iterator[str]:
    """Prefixes of the tables' topics, including the first level of the topic tree."""
    return (f"{prefix(table)}/{root}" for table in tables for root in sorted(ROOTS))


def _may_publish(role: Role, topic: Topic, *, own: bool) -> bool:
    match topic.publisher:
        case Publisher.TEAM:
            return role in (Role.TEAM, Role.ANYBODY)
        case Publisher.OWNER:
            return role is Role.ANYBODY or (own and role is Role.TEAM)
        case Publisher.HOST:
            return role is Role.HOST
        case Publisher.SERVER:
            return False


def _may_receive(role: Role, topic: Topic, *, own: bool) -> bool:
    match topic.reader:
        case Reader.EVERYBODY:
            return True
        case Reader.OWNER:
            if role is Role.HOST:
                return own and topic is ERROR  # not a seat of its own name: a host has none
            return role is Role.ANYBODY or (own and role in (Role.TEAM, Role.SCREEN))
        case Reader.REFEREE:
            return role is Role.REFEREE
        case Reader.SERVER:
            return False
