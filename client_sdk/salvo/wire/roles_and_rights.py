"""What an account on the broker may publish and receive, as the table of topics says; a broker enforces it."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from salvo.errors import WireError
from salvo.wire.topics import ERROR, ROOTS, TOPICS, Publisher, Reader, Topic, check_name, parse, prefix


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


def rights(
    role: Role, name: str, tables: Iterable[str], *, players: Iterable[str] = ("+",), ships: Iterable[str] = ("+",)
) -> tuple[Right, ...]:
    """Return everything that an account may publish and receive, as topic filters (SALVO-ACCESS-1, SALVO-ACCESS-5).

    Everything else is forbidden.

    A team's name and a table's stand in the filters as they are:
    what :func:`~salvo.wire.topics.check_name` passes holds no wildcard.
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
    logged_at = {Publisher.OWNER: (name,), Publisher.TEAM: tuple(players), Publisher.HOST: ("+",)}
    named = tuple(ships)
    allowed = [(topic, _may_publish(role, topic, own=True), _may_receive(role, topic, own=True)) for topic in TOPICS]
    found = []
    for table in tables:
        for topic, publishes, receives in allowed:
            if publishes:
                cells = itertools.product(logged_at[topic.publisher], named)
                found += [
                    Right(Action.PUBLISH, topic.filter(table, player=player, ship=ship)) for player, ship in cells
                ]
            if receives:
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
