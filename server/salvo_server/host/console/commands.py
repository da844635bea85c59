"""Describe what each command of a host would do now: a sentence to read before the command is sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from salvo import messages as m
from salvo.codec.commands import HOST_ARGUMENTS
from salvo.messages import HostAction, Phase, State
from salvo.table_state import TableState
from salvo_display.replay_text import in_words
from salvo_game.transitions import STATES, TABLE, Decision, event_of_host

#: What the buttons of a table say, in the order of the command line.
_LABELS: Final = {
    HostAction.START: "Start the game",
    HostAction.SKIP: "Skip the turn",
    HostAction.PAUSE: "Pause",
    HostAction.RESUME: "Resume",
    HostAction.EXTEND: "More time",
    HostAction.ABORT: "Abort the game",
    HostAction.REMOVE: "Take a team out of this game",
    HostAction.ANNOUNCE: "Announce",
    HostAction.NEXT: "Next game",
    HostAction.SET: "Settings",
    HostAction.ANNUL: "Annul a result",
}
#: How many names a sentence has.
_MANY: Final = 6


class Offer(NamedTuple):
    """A command that a host may give.

    Attributes:
        takes: what else it needs; empty for nothing.
        label: what its button says.
        means: what it would do now; ``{team}`` in it stands for the team that the host chooses. It names neither a turn
            nor whose turn it is, so that it stays the same while it is read.
        ready: whether it would be carried out now.
    """

    do: HostAction
    takes: str
    label: str
    means: str
    ready: bool

    @classmethod
    def of(cls, do: HostAction, label: str, means: str, *, ready: bool = True) -> Offer:
        """Return an offer of a command with its own argument."""
        return cls(do, HOST_ARGUMENTS.get(do, ""), label, means, ready)


def offers(table: TableState) -> list[Offer]:
    """Return all commands of a table, in the order of the command line."""
    return [Offer.of(do, label, _means(do, table), ready=_is_ready(do, table)) for do, label in _LABELS.items()]


def _is_ready(do: HostAction, table: TableState) -> bool:
    if do is HostAction.START and len(table.complete) < 2:
        return False
    if (do is HostAction.PAUSE and table.paused) or (do is HostAction.RESUME and not table.paused):
        return False
    if do is HostAction.REMOVE and not _standing(table):
        return False
    event = event_of_host(do)
    return any(TABLE[each][event].decision is Decision.ACCEPTED for each in STATES if each.state is table.state)


def _standing(table: TableState) -> list[str]:
    return [name for name in table.names if name not in table.game.out | table.game.removed]


def _means(do: HostAction, table: TableState) -> str:
    game = table.status.game if table.status is not None else 0
    over = table.state is State.OVER
    what = "the result" if over else "the turn" if table.state is State.TURN else "the lobby"
    match do:
        case HostAction.START:
            return _start(table, game)
        case HostAction.SKIP:
            return "End the turn that is on, as if its time had run out."
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
            return f"Take {{team}} off the list of game {game}, with its fleet; it cannot come back to this game."
        case HostAction.REMOVE:
            return f"Take {{team}} out of game {game} with the end of the turn that is on; that counts as a defeat."
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
            return ""  # for all tables alone


def offers_everywhere(evening: m.EveningShown, tables: Iterable[TableState]) -> list[Offer]:
    """Return what a host may do now for all tables and the evening (SALVO-EVENING-3)."""
    pause = (
        Offer.of(
            HostAction.RESUME,
            "Resume all",
            "End the break: all clocks resume, each with the whole time for its turn, and so does the league.",
        )
        if evening.phase is Phase.BREAK
        else Offer.of(
            HostAction.PAUSE,
            "Pause all",
            "Begin a break: all clocks stop. Turns that are on can be finished; until you resume, no other begins, and "
            "no round is drawn.",
        )
    )
    announce = Offer.of(HostAction.ANNOUNCE, "Announce", "Everybody reads it, at all tables and in the hall.")
    extend = Offer.of(HostAction.EXTEND, "More time", "Give each turn, lobby and result that many seconds more.")
    where = "its game and of the league, for good" if evening.league_runs else "its game"
    means = f"Take {{team}} out of {where}. A game that is on counts as a defeat, with the end of the present turn."
    remove = Offer.of(HostAction.REMOVE, "Take a team out", means)
    return [pause, announce, extend, *_phase_offers(evening, tables), remove]


def _phase_offers(evening: m.EveningShown, tables: Iterable[TableState]) -> Iterator[Offer]:
    """Yield what the phase allows."""
    phase, name = evening.phase_but_for_break, evening.name
    if evening.league_reports:
        following = evening.round + 1
        if evening.phase in (Phase.ARRIVALS, Phase.BETWEEN) and evening.began < following and not evening.last:
            means = f"Begin round {following} of {name} with the teams that are here, without waiting any longer."
            yield Offer.of(HostAction.START, "Start the round now", means)
        if not evening.last:
            last = max(1, evening.round)
            means = f"End {name} after round {last}: its matches are played to their end, and then its table is final."
            yield Offer.of(HostAction.FINISH, "End after this round", means)
        return
    if evening.phase in (Phase.ARRIVALS, Phase.FREE) and not name and any(_can_start(table) for table in tables):
        means = "Begin the game of every lobby in which two fleets at least are complete."
        yield Offer.of(HostAction.START, "Start all games", means)
    if name or phase is Phase.OVER:
        away = f"Put {name} and its table away, and o" if name else "O"
        means = f"{away}pen a lobby at every table, in which games begin by themselves again."
        yield Offer.of(HostAction.NEXT, "Open all tables", means)
    if phase is not Phase.OVER:
        means = (
            "End the evening: games that are on are played to their end, and no other begins until you open all tables."
        )
        yield Offer.of(HostAction.FINISH, "Good night", means)


def _can_start(table: TableState) -> bool:
    return table.state is State.LOBBY and len(table.complete) > 1


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
