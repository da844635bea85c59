"""Battle Ship for two: a set-up, then shots and replies, each side with its own board.

A message is one line over TCP, or one on the bus of the text (:mod:`.bus`). The gateway is the protocol's server, which
leads and begins, and a program its client; or the other way round.

    C  a client is there, sent every second until Z comes; a server that gets it in mid-game has a new client
    Z  from the server: set-up, also for the next game
    D  set-up is done; when both have sent it the game begins, with the server and then by turns from game to game
    S  a shot: row letter and column, ``a`` for 10
    R  what came of it: M, H, S and the ship's name, E and the name of the last one; M again where was shot at before
    E  goodbye, also when the gateway ends or its person leaves

A message that is not understood, is out of turn, or cannot be true for any fleet, is answered with E, which ends the
game. So does a broken connection. A person at a gateway that is server restarts or exits at the end of a game. With a
bot the gateway begins the next one after some seconds, in which people see the end.
As client it calls a program, and calls again when that has ended.

The program never shows its fleet, so the gateway referees the game itself, without a table
(:mod:`salvo_gateways.hidden_fleet`); the opponent is a bot, or a person at the gateway.
"""

from __future__ import annotations

from collections.abc import Callable

from salvo.bots.player import Bot
from salvo.rules import Announce, Ending, Order, Repeats, RuleBook, Shots, Sinkings, Spacing, Starter
from salvo_gateways.classic.bus import Frames
from salvo_gateways.classic.client_handler import END_SECONDS, ClassicHandler, ClassicRole
from salvo_gateways.classic.protocol_text import MAX_BYTES, MAX_COLUMNS, MAX_ROWS
from salvo_gateways.errors import GatewayError
from salvo_gateways.hidden_fleet.room import Room
from salvo_gateways.listener import GatewayDoor
from salvo_gateways.peer import Lines
from salvo_gateways.transcripts import NO_TRANSCRIPTS, Transcripts

__all__ = ["ClassicRole", "check", "door"]


def door(
    book: RuleBook,
    opponent: Callable[[], Bot],
    *,
    role: ClassicRole = ClassicRole.SERVER,
    end_seconds: float = END_SECONDS,
    bus: bool = False,
    parted: Callable[[], None] = lambda: None,
    restarts: Callable[[], bool] | None = None,
    transcripts: Transcripts = NO_TRANSCRIPTS,
) -> GatewayDoor:
    """Return a door to games by a ruleset.

    Args:
        opponent: makes a player for each game.
        role: the gateway's.
        end_seconds: as server, from the end of a game to the next set-up.
        bus: whether messages come over the bus.
        parted: called when a program has left.
        restarts: as server with a person, whether that has chosen the next game since the end of the last one; without
            it, ``end_seconds`` decide.

    Raises:
        GatewayError: ``wrong_rules``: the protocol cannot express the rules.
    """
    check(book)
    room = Room(book, opponent, transcripts)
    return GatewayDoor(
        lambda peer: ClassicHandler(peer, room, role, end_seconds=end_seconds, parted=parted, restarts=restarts),
        Frames if bus else lambda: Lines(MAX_BYTES),
    )


def check(book: RuleBook) -> None:
    """Make sure that the protocol can express what is played.

    Raises:
        GatewayError: ``wrong_rules``.
    """
    for fits, why in (
        (book.shots is Shots.ONE and book.order is Order.ROTATION, "each side has one shot in turn"),
        (book.announce is Announce.CELLS, "both sides learn where a shot fell"),
        (book.sinkings is Sinkings.TOLD, "both sides learn which ship sank"),
        (book.spacing is not Spacing.TOUCH, "a reply must name the ship that sank, as it does where ships keep apart"),
        (book.ending is Ending.LAST_AFLOAT, "it ends when a fleet has sunk"),
        (book.starter is not Starter.RANDOM, "the sides take turns at beginning"),
        (book.repeats is Repeats.MISS, "a cell that was shot at before is a miss"),
        (book.grid.width <= MAX_COLUMNS and book.grid.height <= MAX_ROWS, "a cell is a letter and a sign"),
    ):
        if not fits:
            raise GatewayError("wrong_rules", f"ruleset {book.name!r} cannot be played in this protocol: {why}")
