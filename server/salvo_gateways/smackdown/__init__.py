"""Code Smackdown: ``|QUERY|shots|5|END|``, with child processes on their standard streams, or over TCP.

The protocol's messages, and what they are at a table:

    INFO grid size, num ships, ship sizes   when a fleet is wanted, or when a program joins a running game;
                                            the shortest ship first, and locations are read in that order
    QUERY / RESPONSE ship locations         the fleet. Programs are asked one after the other, in the order of their
                                            names; who places first is player 1. ``H`` is horizontal, anything else
                                            vertical
    QUERY / RESPONSE shots                  a turn: as many shots as it has, or fewer; then the rest is skipped
    INFO you hit / miss                     the outcomes of the own salvo, shot by shot
    INFO opponent hit / miss                the shots on the own board, as they are told
    INFO won / lost / tie game, end game    the end; then the gateway hangs up, and for the next game the program
                                            comes again

Order of results: both read the outcomes of their own shots first, as in the example run of the protocol's text. The
system's own server resolves one salvo after the other, so that player 2 reads the shots on its board first: that is
the dialect ``opponent_first``, which no program tells by what it says.

A shot off the grid, which the server would refuse, is not fired, and is reported as a miss. A cell that was
shot at before is a hit or a miss again; where the rules refuse such a shot, the gateway reports that outcome without
firing. The rest of the turn is then skipped.

Forfeit: a bad placement, no shot, more shots than allowed, something unreadable, or no answer in time, which is the
turn's deadline if that comes first. The program reads ``lost game`` and ``end game``, and the other one of a game of
two ``won game`` and ``end game``. Their players stay until the server takes the loser out, after some empty turns: it
has a random fleet if it had none, and skips; the winner fires a shot a turn. A child process that ends while an answer
is due has forfeited too; answers that it sent ahead of the queries still count. A TCP client that is cut off may come
back: the name waits for it, and its turns pass in silence until then. A game that the server abandons is reported as a
tie.

A program that joins a running game, because it or the gateway was restarted, reads what any program reads at the start,
and is asked for its locations, because it may wait for the question. The answer is discarded: the fleet was placed
before. Then it reads all that is known: its shots so far, and those on its board.

A table with more than two players, or with other rules: all shots of a program go to one rival, the next in play order
that still stands. Where all cells are public, other players' shots at that rival are reported as ``you hit`` and
``you miss``, too, so a program knows which cells have been shot at. It reads nothing when its rival is defeated, nor
about the next one's board. All shots at its own board count as the opponent's.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from salvo.rules import Announce, RuleBook, Shots, Spacing
from salvo_gateways.accounts import GatewayError
from salvo_gateways.host import Door
from salvo_gateways.smackdown.guest import ANSWER_SECONDS, Player
from salvo_gateways.smackdown.names import Names

__all__ = ["ANSWER_SECONDS", "Names", "Player", "check", "child_door", "door"]

#: The protocol's ships are 1 to 10 squares long.
_MAX_SHIP_LENGTH: Final = 10


def check(book: RuleBook) -> None:
    """Make sure that a program can be told what is played.

    Raises:
        GatewayError: ``wrong_rules``.
    """
    reason = ""
    if book.announce is Announce.COUNT:
        reason = f"announce is {book.announce}, and a program must be told of every shot whether it hit"
    elif book.shots is Shots.UNTIL_MISS:
        reason = f"shots is {book.shots}, and a program must be told how many shots it has"
    elif book.spacing is not Spacing.TOUCH:
        reason = f"spacing is {book.spacing}, and a program cannot be told that ships keep their distance"
    elif max(ship.length for ship in book.fleet) > _MAX_SHIP_LENGTH:
        reason = f"a ship is longer than {_MAX_SHIP_LENGTH} cells"
    if reason:
        raise GatewayError("wrong_rules", f"the rules {book.name!r} do not go with Code Smackdown: {reason}")


def door(
    book: RuleBook,
    *,
    names: Names | Sequence[str] = (),
    answer_seconds: float = ANSWER_SECONDS,
    opponent_first: bool = False,
) -> Door:
    """Return the door for TCP clients.

    Args:
        names: given in order of arrival; ``guest-1`` and so on without any.
        answer_seconds: how long a program may take for an answer, more than 0.
        opponent_first: whether player 2 first reads of the shots on its board.

    Raises:
        GatewayError: ``wrong_rules``.
    """
    check(book)
    known = names if isinstance(names, Names) else Names(names)
    return Door(partial(Player, names=known, check=check, answer_seconds=answer_seconds, opponent_first=opponent_first))


def child_door(
    book: RuleBook,
    name: str,
    names: Names,
    *,
    answer_seconds: float = ANSWER_SECONDS,
    opponent_first: bool = False,
) -> Door:
    """Return the door for the child processes of one name, one at a time; see :func:`door`."""
    check(book)
    return Door(
        partial(
            Player, names=names, check=check, answer_seconds=answer_seconds, opponent_first=opponent_first, child=name
        )
    )
