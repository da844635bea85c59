"""What each command of a host would do at a table now, in a sentence that is read before it is sent."""

from __future__ import annotations

from typing import Final, NamedTuple

from salvo import messages as m
from salvo.codec.commands import HOST_ARGUMENTS
from salvo.messages import HostAction, State
from salvo.table_state import TableState
from salvo_display.replay_text import in_words
from salvo_game.transitions import STATES, TABLE, Answer, event_of

#: How many names a sentence has.
_MANY: Final = 6


class Offer(NamedTuple):
    """A command that a host may give.

    Attributes:
        takes: what else it needs; empty for nothing.
        means: what it would do now.
        ready: whether the table would carry it out now.
    """

    do: HostAction
    takes: str
    means: str
    ready: bool


def offers(table: TableState) -> list[Offer]:
    """Return all commands, in the order of the command line."""
    of_tables = [do for do in HostAction if do is not HostAction.FINISH]
    return [Offer(do, HOST_ARGUMENTS.get(do, ""), _means(do, table), _is_ready(do, table)) for do in of_tables]


def _is_ready(do: HostAction, table: TableState) -> bool:
    if do is HostAction.START and len(table.complete) < 2:
        return False
    if (do is HostAction.PAUSE and table.paused) or (do is HostAction.RESUME and not table.paused):
        return False
    if do is HostAction.REMOVE and not _standing(table):
        return False
    event = event_of(m.HostCommand("", do), {})
    return any(TABLE[each][event].answer is Answer.ACCEPTED for each in STATES if each.state is table.state)


def _standing(table: TableState) -> list[str]:
    return [name for name in table.names if name not in table.game.out | table.game.removed]


def _means(do: HostAction, table: TableState) -> str:
    game = table.status.game if table.status is not None else 0
    turn, over = table.playing, table.state is State.OVER
    whose = f"turn {turn.turn} of {turn.player}" if turn is not None else "the turn"
    what = "the result" if over else whose if table.state is State.TURN else "the lobby"
    match do:
        case HostAction.START:
            return _start(table, game)
        case HostAction.SKIP:
            return f"End {whose}, as if its time had run out."
        case HostAction.PAUSE:
            return (
                f"Stop the clock of game {game}. A turn that is on can be finished; no other begins until you resume."
            )
        case HostAction.RESUME:
            return f"Start the clock of game {game} again, with the whole time for {what}."
        case HostAction.EXTEND:
            return f"Give {what} that many seconds more."
        case HostAction.ABORT:
            return f"End game {game} without a winner. It counts for nobody, and cannot be taken back."
        case HostAction.REMOVE if table.state is State.LOBBY:
            return f"Take a team off the list of game {game}, with its fleet; it cannot come back to this game."
        case HostAction.REMOVE:
            return f"Take a team out of game {game} with the end of {whose}; its places are counted as a defeat."
        case HostAction.ANNOUNCE:
            return "Everybody at this table and in the hall reads it."
        case HostAction.NEXT:
            cleared = "the result" if over else f"this lobby with {_named(table.names)}"
            return f"Clear {cleared}, and open the lobby of game {game + 1}."
        case HostAction.SET:
            return f"Change settings for game {game + 1} alone; nothing changes in game {game}."
        case HostAction.ANNUL:
            return "No longer count the result of an earlier game of this table in the standings."
        case HostAction.FINISH:
            return "Bring what is on to its end."


def _start(table: TableState, game: int) -> str:
    late = [name for name in table.names if name not in table.complete]
    out = f" {_named(late)} would leave the list." if late else ""
    return f"Begin game {game} at once with {_named([name for name in table.names if name in table.complete])}.{out}"


def _named(names: list[str] | tuple[str, ...]) -> str:
    if not names:
        return "nobody"
    if len(names) > _MANY:
        return f"{len(names)} teams"
    return in_words(names)
