"""Every topic, once: who publishes it, who may read it, whether it is retained, what it carries.

Everything that needs a topic's name uses this table: the codecs, the server's subscriptions, the rights that a broker
enforces (:mod:`salvo.wire.roles_and_rights`), the published contract. Nothing here reads payloads.

A table's topics begin with its prefix: none for the default table (which keeps the specification's topics as they are),
``/NAME`` for an additional one (SALVO-TOPIC-1).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

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


def _row(name: str, pattern: str, publisher: Publisher, reader: Reader, retained: bool, *about: str) -> Topic:
    _rows.append(Topic(name, pattern, publisher, reader, retained, *about))
    return _rows[-1]


def _announced(name: str, pattern: str, payload: str, source: str = "X", *, retained: bool = True) -> Topic:
    return _row(name, pattern, Publisher.SERVER, Reader.EVERYBODY, retained, payload, source)


def _addressed(name: str, pattern: str, payload: str, source: str = "X") -> Topic:
    return _row(name, pattern, Publisher.SERVER, Reader.OWNER, False, payload, source)


def _asked(name: str, publisher: Publisher, pattern: str, payload: str, source: str = "X") -> Topic:
    return _row(name, pattern, publisher, Reader.SERVER, False, payload, source)


_SHIP = "/players/{player}/ships/{ship}"

STATE = _announced("state", "/game/state", "`lobby`, `turn` or `over`", "S")
REQUEST_PARTICIPATION = _asked(
    "request_participation",
    Publisher.TEAM,
    "/game/request_participation",
    '`{"name": "...", "secret": "..."}`, open or sealed for the server',
    "S",
)
REQUEST_ERROR = _announced(
    "request_error", "/game/error", "`<code>: <meaning>` for what cannot be read and names nobody", retained=False
)
LEAVE = _asked(
    "leave", Publisher.OWNER, "/players/{player}/leave", '`{"data": {"g": 1}, "signature": "<blob>"}`, out of the lobby'
)
COUNT = _announced("count", "/players/count", "`2`", "S")
LIST = _announced("list", "/players/list", '`["a", "b"]`', "S")
PLACE = _asked(
    "place", Publisher.OWNER, f"{_SHIP}/place", 'blob of `{"coordinates": "<x>;<y>", "Orientation": "HORIZONTAL"}`', "S"
)
APPROVED = _announced("approved", f"{_SHIP}/approved", "`true` or `false`", "S")
PLACEMENT_ERROR = _addressed("placement_error", f"{_SHIP}/error", "`<code>: <sentence>`", "S")
CURRENT = _announced("current", "/game/current", "a player's name", "S")
FIRE = _asked(
    "fire",
    Publisher.TEAM,
    "/players/{player}/fire",
    '`{"data": {"x": 3, "y": 4}, "signature": "<blob>"}`, one shot a message',
    "S",
)
SKIP = _asked(
    "skip",
    Publisher.OWNER,
    "/players/{player}/skip",
    '`{"data": {"g": 1, "t": 9}, "signature": "<blob>"}`, the end of its turn',
)
HIT = _addressed("hit", "/players/{player}/hit", '`{"x": 3, "y": 4}` for every shot', "S")
HITS = _announced("hits", "/game/hits", "`2`", "S", retained=False)
SUNK = _announced("sunk", f"{_SHIP}/sunk", "`true`", "S")
SUNK_AS_PRINTED = _announced("sunk_as_printed", "/player/{player}/ships/{ship}/sunk", "`true`", "S")
DEFEATED = _announced("defeated", "/players/{player}/defeated", "`true`", "S")
DEFEATED_AS_PRINTED = _announced("defeated_as_printed", "/player/{player}/defeated", "`true`", "S")
WINNER = _announced(
    "winner",
    "/game/winner",
    'a player\'s name; after a tie `["a", "b"]`, where the rules have it; `[]` after a host has aborted the game',
    "S",
)
STATS = _announced(
    "stats", "/game/stats/{player}", '`{"shots": 80, "hits": 19, "sunk": 6, "turns": 18, "place": 1}`', "S"
)
ERROR = _addressed("error", "/players/{player}/error", "`<code>: <sentence>`")
RULES = _announced("rules", "/game/rules", "JSON: ruleset, grid, fleet, time limits")
SERVER = _announced("server", "/game/server", "JSON: status, version, game, profile, keys, players")
TURN = _announced("turn", "/game/turn", "JSON: game, turn, player, shots, now and deadline (epoch ms of the server)")
RESULT = _announced(
    "result",
    "/game/result",
    "JSON: game, turn, player, shots, hits, sunk, defeated of the last salvo; outcomes, aims where announced",
)
BOARD = _announced(
    "board", "/players/{player}/board", "a letter a cell: `.`, `X` hit, `0` miss, where the rules announce cells"
)
FLEET = _announced("fleet", "/players/{player}/fleet", "JSON: all ships, at the end, where the rules reveal them")
RECAP = _addressed("recap", "/players/{player}/recap", "blob: own fleet, shots, results")
LOG = _announced("log", "/game/log", "signed, hash-chained public events", retained=False)
RESEND = _asked("resend", Publisher.OWNER, "/players/{player}/resend", '`{"log": 17}`: the log again from there')
REFEREE = _row("referee", "/game/referee", Publisher.SERVER, Reader.REFEREE, True, "JSON: all boards", "X")
STANDINGS = _announced(
    "standings",
    "/game/standings",
    "JSON: places, points and ratings of an evening and over all; on the first table only",
)
SAY = _asked("say", Publisher.OWNER, "/players/{player}/say", '`{"text": "..."}`, with `"to": "b"` for one')
CHAT = _announced("chat", "/game/chat", '`{"from": "a", "text": "..."}`', retained=False)
MESSAGE = _addressed("message", "/players/{player}/message", '`{"from": "a", "text": "..."}`')
HOST = _asked(
    "host",
    Publisher.HOST,
    "/game/host",
    '`{"data": {"by": "desk", "do": "extend", "seconds": 60, "g": 1}, "signature": "<blob>"}`',
)
HOSTED = _announced(
    "hosted", "/game/hosted", '`{"by": "desk", "do": "pause", "paused": true}`: what a host did last at this table'
)
HEADLINE = _announced(
    "headline", "/game/headline", "one line for people: the state, the turn, who is to fire, the last result"
)
LEAGUE = _announced(
    "league",
    "/game/league",
    "JSON: what is on, and round, matches and table of a league; on the first table only",
)
LEAGUE_REPORT = _asked(
    "league_report", Publisher.HOST, "/game/host/league", "JSON: how a league stands, from the host that runs it"
)
SEAT = _row(
    "seat",
    "/players/{player}/seat",
    Publisher.HOST,
    Reader.OWNER,
    True,
    '`{"table": "t3"}`: where the player plays next',
    "X",
)

TOPICS: Final = tuple(_rows)


#: Words that may not be names of players or tables: they are levels of the topic tree (SALVO-NAME-3).
RESERVED = frozenset(level for topic in TOPICS for level in topic.levels if not level.startswith("{"))

NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")


#: Characters of a topic: more than names and words of any topic have.
_LONGEST: Final = 200


def prefix(table: str) -> str:
    """Return the prefix of a table's topics."""
    return f"/{table}" if table else ""


def is_name(name: str) -> bool:
    """Whether a player or table may have this name; the level of a topic may be anything."""
    return NAME_PATTERN.fullmatch(name) is not None and name.lower() not in RESERVED


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
    if levels[0] == "" and len(levels) > 2 and len(topic) <= _LONGEST and topic.isprintable():
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
