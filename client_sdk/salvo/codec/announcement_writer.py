"""Writes what the server publishes; :mod:`salvo.codec.announcement_reader` reads it.

One announcement becomes one or more publications, in the order of SALVO-TOPIC-4. Announcements to one player go to
topics that only this player may read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from salvo import messages as m
from salvo.codec import announcements as body
from salvo.codec.announcements import Publication
from salvo.wire import topics
from salvo.wire.topics import Topic


def write_announcement(announcement: m.Announcement, table: str = "") -> list[Publication]:
    """Return the publications of an announcement.

    Not for every kind: a :class:`~salvo.messages.Recap` is sealed for its reader, so :mod:`salvo.codec.recap_writer`
    writes it; what ``PlayerLeft`` and ``TableReset`` clear depends on what is retained, which only the publisher knows.

    Args:
        table: its name; empty for the default table.
    """
    return [
        Publication(topic.of(table, player=player, ship=ship), payload, topic.retained)
        for topic, player, ship, payload in _WRITERS[type(announcement)](announcement)
    ]


_Part = tuple[Topic, str, str, bytes]  # topic, player, ship, payload


def _salvo(a: m.SalvoResolved) -> list[_Part]:
    parts = [(topics.HITS, "", "", b"%d" % a.hits), (topics.RESULT, "", "", body.RESULT.write(a))]
    for ship in a.sunk:
        parts += [
            (topic, ship.player, ship.spelling or ship.ship, b"true") for topic in (topics.SUNK, topics.SUNK_AS_PRINTED)
        ]
    for player in a.defeated:
        parts += [(topic, player, "", b"true") for topic in (topics.DEFEATED, topics.DEFEATED_AS_PRINTED)]
    return parts


def _refusal(a: m.PlacementRefused | m.CommandRefused) -> bytes:
    return f"{a.code}: {a.text}".encode()


_WRITERS: Final[dict[type, Callable[[Any], list[_Part]]]] = {
    m.StateChanged: lambda a: [(topics.STATE, "", "", a.state.encode())],
    m.PlayersListed: lambda a: [
        (topics.COUNT, "", "", b"%d" % len(a.names)),
        (topics.LIST, "", "", body.NAMES.write(a.names)),
    ],
    m.PlacementJudged: lambda a: [(topics.APPROVED, a.player, a.spelling, b"true" if a.approved else b"false")],
    m.SpellingDropped: lambda a: [(topics.APPROVED, a.player, a.spelling, b"")],
    m.TurnBegan: lambda a: [(topics.TURN, "", "", body.TURN.write(a)), (topics.CURRENT, "", "", a.player.encode())],
    # Not ``current``: a client of the plain specification would answer it with another salvo.
    m.TurnResumed: lambda a: [(topics.TURN, "", "", body.TURN_RESUMED.write(a))],
    m.SalvoResolved: _salvo,
    m.BoardShown: lambda a: [(topics.BOARD, a.player, "", a.cells.encode())],
    m.FleetRevealed: lambda a: [(topics.FLEET, a.player, "", body.FLEET.write(a))],
    m.PlayerStats: lambda a: [(topics.STATS, a.player, "", body.STATS.write(a))],
    m.GameWon: lambda a: [(topics.WINNER, "", "", a.winner.encode() or body.NAMES.write(a.tied))],
    m.ShotLanded: lambda a: [(topics.HIT, a.to, "", b'{"x": %d, "y": %d}' % (a.x, a.y))],
    m.ShotAccepted: lambda a: [],  # nothing is published before the end of the round
    m.PlacementRefused: lambda a: [(topics.PLACEMENT_ERROR, a.to, a.spelling, _refusal(a))],
    m.CommandRefused: lambda a: [(topics.ERROR, a.to, "", _refusal(a))],
    m.RulesAnnounced: lambda a: [(topics.RULES, "", "", body.RULES.write(a))],
    m.HostActed: lambda a: [(topics.HOSTED, "", "", body.HOSTED.write(a))],
    m.ServerStatus: lambda a: [(topics.SERVER, "", "", body.SERVER.write(a))],
    m.RefereeView: lambda a: [(topics.REFEREE, "", "", body.REFEREE.write(a))],
    m.StandingsShown: lambda a: [(topics.STANDINGS, "", "", body.STANDINGS.write(a))],
    m.EveningShown: lambda a: [(topics.LEAGUE, "", "", body.EVENING.write(a))],
    m.ChatPublished: lambda a: [(topics.CHAT, "", "", body.CHAT.write(a))],
    m.MessagePublished: lambda a: [(topics.MESSAGE, a.to, "", body.MESSAGE.write(a))],
}
