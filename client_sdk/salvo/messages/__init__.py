"""What teams and hosts send (commands) and what the server publishes (announcements), as values.

A command is authentic and readable; whether it is allowed is up to the referee. What only one player may know has
announcement types of its own, which name their reader in ``to``: what a type does not hold cannot leak. Coordinates are
x = column and y = row, from 1; times are epoch milliseconds of the server.

The classes are also the one definition of their JSON (:mod:`salvo.wire.json_shape`), which :mod:`salvo.codec` reads and
writes. Start with ``commands``, then ``announcements``; ``views`` are whole games in one message, ``standings`` many
games.
"""

from __future__ import annotations

from salvo.messages.announcements import *
from salvo.messages.commands import *
from salvo.messages.standings import *
from salvo.messages.values import *
from salvo.messages.views import *

Announcement = (
    TableOpened
    | StateChanged
    | PlayersListed
    | PlacementJudged
    | SpellingDropped
    | TurnBegan
    | TurnResumed
    | SalvoResolved
    | BoardShown
    | FleetRevealed
    | PlayerStats
    | GameWon
    | PlayerLeft
    | TableReset
    | RulesAnnounced
    | HostActed
    | ServerStatus
    | ShotLanded
    | ShotAccepted
    | PlacementRefused
    | CommandRefused
    | Recap
    | RefereeView
    | StandingsShown
    | EveningShown
    | ChatPublished
    | MessagePublished
)
