"""Battleship in JSON lines: the program asks, the server answers and plays itself.

A message is a JSON object; the server reads them with or without line breaks between them, and writes one a line. The
program always begins. The text says that shots alternate, and that a hit shoots again; its programs alternate strictly,
so the gateway's own rules are those of ``alternate``, and the other ones have the name ``streak``. One program plays at
a time, under one name.

    GAME_INVITATION  a game; status 1 while another one is on
    SHOT             -> HIT, MISS or SINKING; status 2 off the board, out of turn, and where was shot at before
    SHOT_REQUEST     -> the server's shot; the same one until it is answered
    RESULT           the answer; status 2 when no such ship can have sunk there, and it can be given again
    BOARD            the fleet, after the game: compared with every answer; status 2 names a cell that differs
    BOARD_HISTORY    -> after the game all its shots
    anything else    UNKNOWN, status 4

Programs of the system differ from its text, and one of these signs of another dialect brings the others:

    cells as {"x": 1, "y": 0}, from 0    detected; the server writes as the program wrote last
    statuses as names                    named by the operator, as a program does not write any
    bodies that are never null           for both: RESULT has the result again, a refusal what its type has
    BOARD as a list of ships             detected, {"position": [...], "isShipSinking": ...} each, as the server's then
    the winner                           for all of these, in the message of the answer to BOARD
    SAVE_WINNER, body null               -> CLIENT WINS ! or SERVER WINS !, by the gateway's game; with names alone

Status 3 is a fault of the server's and ends the game. Coordinates off the board, and fields that are missing or of the
wrong type, are status 2; further fields are not looked at.

The program's fleet is not known before the end, so the gateway referees the game itself, without a table
(:mod:`salvo_gateways.hidden_fleet`). After a broken connection a program continues as if nothing had happened, unless
its invitation was refused since; only a GAME_INVITATION starts over.
"""

from __future__ import annotations

from collections.abc import Callable

from salvo.bots.player import Bot
from salvo.rules import Announce, Ending, Order, Repeats, RuleBook, Shots, Sinkings, Spacing, Starter
from salvo_gateways.errors import GatewayError
from salvo_gateways.hidden_fleet.room import Room
from salvo_gateways.jsonline.client_handler import JsonHandler
from salvo_gateways.jsonline.protocol_text import Values, Wording
from salvo_gateways.listener import GatewayDoor
from salvo_gateways.transcripts import NO_TRANSCRIPTS, Transcripts

__all__ = ["check", "door"]


def door(
    book: RuleBook,
    opponent: Callable[[], Bot],
    *,
    status_names: bool = False,
    transcripts: Transcripts = NO_TRANSCRIPTS,
) -> GatewayDoor:
    """Return a door to games by a ruleset.

    Args:
        opponent: makes a player for each game.
        status_names: whether a status is written as its name instead of its number.

    Raises:
        GatewayError: ``wrong_rules``: the protocol cannot express the rules.
    """
    check(book)
    room = Room(book, opponent, transcripts)
    return GatewayDoor(lambda peer: JsonHandler(peer, room, Wording(book, names=status_names)), Values)


def check(book: RuleBook) -> None:
    """Make sure that the protocol can express what is played.

    Raises:
        GatewayError: ``wrong_rules``.
    """
    for fits, why in (
        (book.shots is Shots.ONE, "a message is one shot"),
        (book.order is not Order.ROUNDS, "the answer to a shot comes at once"),
        (book.announce is Announce.CELLS, "both sides learn where a shot fell"),
        (book.sinkings is Sinkings.TOLD, "an answer shows that a ship sank"),
        (
            book.spacing is not Spacing.TOUCH,
            "an answer must name the ship that sank, as it does where ships keep apart",
        ),
        (book.ending is Ending.LAST_AFLOAT, "it ends when a fleet has sunk"),
        (book.starter is Starter.FIRST, "the client begins"),
        (book.repeats is not Repeats.HIT, "a second shot at a hit cell is a miss"),
        (book.grid.width <= 99 and book.grid.height <= 26, "rows are letters"),
        (max(ship.length for ship in book.fleet) <= 10, "ships have up to ten cells"),
    ):
        if not fits:
            raise GatewayError("wrong_rules", f"ruleset {book.name!r} cannot be played in JSON lines: {why}")
