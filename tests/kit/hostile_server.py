"""What a hostile server publishes: a text of its own in every field of every announcement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from salvo import messages as m
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.announcements import SEAT, Publication
from salvo.messages import State
from salvo.messages.commands import HostAction
from salvo.messages.standings import LeagueMatch, LeagueStanding, Standing, StandingsTable
from salvo.rules import SALVO, Orientation, Placement
from salvo.wire import topics

#: Sets a window's title, clears the screen, turns lines around, forges a line.
EVIL = "\x1b]0;owned\x07\x1b[2J\x9b1A\u202e\nowned"


def published(text: str, team: str = "red") -> Iterator[Publication]:
    """Yield it for a team, each with the text in one field or two."""
    book = replace(SALVO, name=text)
    board = Placement("carrier", 1, 1, Orientation.HORIZONTAL)
    row = Standing(1, text, 1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0)
    standings = StandingsTable(1, 2, 1, 1, (row,))
    announcements: list[m.Announcement] = [
        m.ServerStatus(True, text, 1, "open"),
        m.ServerStatus(True, "1.0", 1, text),
        m.RulesAnnounced(SALVO, text, 60, 30, 300, 3),
        m.RulesAnnounced(book, "", 60, 30, 300, 3),
        m.PlayersListed((team, text)),
        m.StateChanged(State.TURN),
        m.TurnBegan(1, 1, text, 5, 0, 30_000),
        m.SalvoResolved(1, 1, text, 1, 1, (), ()),
        m.SalvoResolved(1, 1, team, 1, 1, (m.SunkShip(team, text, "carrier"),), ()),
        m.SalvoResolved(1, 1, team, 1, 1, (), (), aims_if_announced=((text, 1, 1),)),
        m.BoardShown(team, text),
        m.FleetRevealed(team, (board, replace(board, ship=text))),
        m.PlayerStats(f"{text}'s", 1, 1, 1, 1, 1),
        m.PlayerStats(team, 1, 1, 1, 1, 1),
        m.GameWon(text),
        m.GameWon("", (text, team)),
        m.HostActed(by=text, do=HostAction.PAUSE),
        m.HostActed(by="desk", do=HostAction.ANNOUNCE, text=text),
        m.ChatPublished(text, "well fired"),
        m.ChatPublished("", text),
        m.MessagePublished(team, "blue", text),
        m.CommandRefused(team, text, text),
        m.PlacementRefused(team, "carrier", text, text),
        m.StandingsShown(standings, standings),
        m.EveningShown(name=text, round=1, rounds=2, matches=(LeagueMatch((team, "blue"), "t1"),)),
        m.EveningShown(name="cup", round=1, rounds=2, matches=(LeagueMatch((team, text), text),)),
        m.EveningShown(name="cup", round=1, over=True, rows=(LeagueStanding(1, text, 1, 1, 1),)),
    ]
    for announcement in announcements:
        yield from write_announcement(announcement, "")
    yield Publication(topics.SEAT.of(player=team), SEAT.write(m.SeatGiven(text)), False)
    for topic in (topics.LOG, topics.RECAP, topics.REQUEST_ERROR, topics.HEADLINE):
        yield Publication(topic.of(player=team), text.encode(), False)
