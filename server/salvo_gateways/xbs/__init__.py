"""A door for clients of Xterm Boat Sinker: lines over TCP, many players, points.

What a client says, and what becomes of it at the table:

    G                  G|version|title|started|least|most|joined|goal|width|height|boats|A5|..., as the table announces
                       it; the number of players with which the table starts, else 2 and 9. Again before the game
                       where a host sets another number
    P|text             the same line again
    J|name|board       a request to take part, and the board as its fleet; J|name when it is listed, J|other for each
                       other player. During a game, a player of it comes back: J, Y|board, J and B for each
                       other, S, N, the own B, and M||name reconnected. E|... where another try may help. Where a
                       result stands for a few seconds only, it is answered when the next lobby opens
    S|player|X|Y       a shot at column X, row Y; refused ones get M||reason and the turn stays. The player may be the
                       beginning of a name that no other one has, or a number in turn order
    K|reason           the turn is skipped; ignored out of turn
    M|player|text      a line of chat to that player, or to all, and to nobody where the name is unknown; after J it is
                       held until that is answered
    T|type|text        kept here; an empty text clears the type. A client of this door that shoots at this one gets
                       one of them each time; players from elsewhere, privately in the chat, once in two seconds at most
    L|reason           the end of the connection, as hanging up is. In the lobby the player leaves it, and may come back
                       with another board; in a game its turns pass until it comes back

What happens at the table, and what the client reads:

    listed, off the list      J|player, L|player|reason, with a reason that was given at this door
    the game begins           B for each board, S|player|... from the first turn's player on
    a turn                    N|player; the client's own turn once its session knows all that led to it
    a salvo                   H|shooter|target|d5 for a hit, to the shooter M|target|taunt, B of the shooter and target
    a turn without a shot     K|player|reason and B of the player, with a reason that was given at this door; not K for
                              a skip that the client asked for itself
    a line of chat            M|sender|text|All, M|sender|text when it is private; | becomes /
    a player hangs up         B with the status disconnected, if it connected at this door
    the end                   F|finished|turns|players and R|player|score|skips|turns|status, best first, and the end
                              of the connection; F|aborted when the table gives the game up
    anything that is no message, longer than 4095 bytes, or no UTF-8     protocol error, and the end of the connection

Of the system's two generations the older one sends a hit after the boards and the next turn. Both kinds of client take
either order, and only hit, boards, turn keeps points right in clients that count hits themselves and has boards up to
date when a bot is asked; so there is one order here.

A board has its boats in capitals, also in Y, where the protocol's text has small letters for what was hit: every client
of the system ends at one.

Names are compared as they are written, so ``wopr`` and ``WOPR`` are two players. At a table they cannot be: the second
spelling sits there as ``WOPR-40fd``, always the same. Characters that a table's name cannot have become ``_`` there.
The clients see one another's names as they are; :class:`~salvo_gateways.xbs.protocol_text.Names` says how they see
names that their system does not allow.
"""

from __future__ import annotations

from typing import Final

from salvo.rules import Announce, Ending, Order, Repeats, RuleBook, Shots, Spacing, Targets
from salvo_gateways.errors import GatewayError
from salvo_gateways.listener import GatewayDoor
from salvo_gateways.table_watch import TableWatch
from salvo_gateways.xbs.client_handler import XbsHandler
from salvo_gateways.xbs.doorway import Doorway

#: Players of a game, as many as the system's own server takes by default.
MAX_PLAYERS: Final = 9
_LETTERS: Final = frozenset("abcdefghijklmnopqrstuvw")
#: What the protocol says without saying it: the only values of a book's fields that its clients can play by.
_NEEDED: Final = {
    "announce": Announce.CELLS,
    "shots": Shots.ONE,
    "order": Order.ROTATION,
    "ending": Ending.GOAL,
    "targets": Targets.OTHERS,
    "repeats": Repeats.REFUSED,
    "spacing": Spacing.TOUCH,
    "skipping": True,
}


def check(book: RuleBook) -> None:
    """Make sure that the protocol can express what is played.

    Raises:
        GatewayError: ``wrong_rules``.
    """
    for key, needed in _NEEDED.items():
        value = getattr(book, key)
        if value != needed:
            raise GatewayError("wrong_rules", f"the rules {book.name!r} have {key} {value}; xbs needs {needed}")
    for ship in book.fleet:
        if ship.name not in _LETTERS or ship.length < 2:
            text = f"the rules {book.name!r} have the ship {ship.name} of {ship.length}"
            raise GatewayError("wrong_rules", f"{text}; xbs needs ships called a to w of 2 cells or more")


def door(watch: TableWatch, book: RuleBook, *, title: str = "Salvo", most: int = MAX_PLAYERS) -> GatewayDoor:
    """Return the door to a table.

    Args:
        watch: the table, opened.
        title: what the clients call the game.
        most: players that make the game full where the table sets no number, 2 or more.

    Raises:
        GatewayError: ``wrong_rules``: the protocol cannot express the table's rules.
    """
    check(book)
    doorway = Doorway(book, title, most)
    return GatewayDoor(lambda peer: XbsHandler(peer, watch, doorway), report=watch.report)
