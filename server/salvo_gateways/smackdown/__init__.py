"""Code Smackdown: ``|QUERY|shots|5|END|``, with child processes on their standard streams, or over TCP.

The gateway is the system's server, and referees games of two programs, or of a program and a bot of ours:

    INFO grid size, num ships, ship sizes   to both, when the second one has come; the shortest ship first, and
                                            locations are read in that order
    QUERY / RESPONSE ship locations         of player 1, then of player 2. ``H`` is horizontal, anything else vertical
    QUERY / RESPONSE shots                  of player 1, then of player 2: as many as ships afloat at the beginning of
                                            the round, or fewer; both salvos count before either is reported
    INFO you hit / miss                     the outcomes of the own salvo, shot by shot
    INFO opponent hit / miss                the shots on the own board
    INFO won / lost / tie game, end game    the end; then the gateway hangs up, and for the next game the program
                                            comes again

Order of results: both read the outcomes of their own shots first, as in the example run of the protocol's text. The
system's own server resolves one salvo after the other, so that player 2 reads the shots on its board first: that is
the dialect ``opponent_first``, which no program shows in its messages.

A shot off the grid is a miss, which the other program does not read. A cell that was shot at before is a hit or a miss
again. Answers may come ahead of the queries, also from a program that has ended since.

Forfeit: a bad placement, no shot, more shots than allowed, something unreadable, no answer in time, or an end while an
answer is due. The program reads ``lost game`` and ``end game``, the other one ``won game`` and ``end game``.
"""

from __future__ import annotations

from typing import Final

from salvo.rules import Announce, Ending, Order, Repeats, RuleBook, Shots, Spacing
from salvo_gateways.errors import GatewayError
from salvo_gateways.listener import GatewayDoor
from salvo_gateways.smackdown.client_handler import SmackdownHandler
from salvo_gateways.smackdown.match import ANYBODY, SmackdownLobby

__all__ = ["ANYBODY", "SmackdownLobby", "check", "door"]

#: The protocol's ships are 1 to 10 squares long.
_MAX_SHIP_LENGTH: Final = 10
#: The only values of a book's fields that the protocol can express.
_NEEDED: Final = {
    "announce": Announce.EACH_SHOT,
    "shots": Shots.AFLOAT,
    "order": Order.ROUNDS,
    "ending": Ending.LAST_AFLOAT,
    "repeats": Repeats.HIT,
    "spacing": Spacing.TOUCH,
    "skipping": True,
}


def check(book: RuleBook) -> None:
    """Make sure that the protocol can express what is played.

    Raises:
        GatewayError: ``wrong_rules``.
    """
    for key, needed in _NEEDED.items():
        if (value := getattr(book, key)) != needed:
            raise GatewayError("wrong_rules", f"the rules {book.name!r} have {key} {value}; smackdown needs {needed}")
    if max(ship.length for ship in book.fleet) > _MAX_SHIP_LENGTH:
        raise GatewayError("wrong_rules", f"the rules {book.name!r} have a ship longer than {_MAX_SHIP_LENGTH} cells")


def door(lobby: SmackdownLobby, place: str = ANYBODY) -> GatewayDoor:
    """Return the door for TCP clients, or for the child processes of one name."""
    return GatewayDoor(lambda peer: SmackdownHandler(peer, lobby, place), report=lobby.report)
