"""The referee's theory in one table: the effect of every input in every state.

:data:`TABLE` has a transition for each pair, and the referee takes its steps from it, so table and code cannot differ.
The published table and the state diagram are printed from it. A step is a function of state, input and time; it returns
what is announced and the next state. A step that is not allowed raises :class:`~salvo.errors.IllegalCommand` before it
has changed anything.

What changes: a :class:`Lobby` changes itself, until its game begins or a host opens the next one. :class:`Turn`,
:class:`Pause` and :class:`Over` are values, new ones with each change; they have the one
:class:`~salvo_game.match.Match` of a game in common, which changes itself with every shot. So a state that was
replaced is of no further use.

What no table can know, such as the profile, the roster and the other tables, is decided before; a command that it
forbids gets here as :class:`~salvo.messages.Unreadable`, with the code of its refusal.

To follow an input, read from the end: :func:`event_of` finds its event, ``_TRANSITIONS`` the transition in each state,
and what a transition calls stands above it or in the states' own classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any, NamedTuple, NoReturn

from salvo import messages as m
from salvo.errors import IllegalCommand
from salvo_game.game_states import Announcements, Hosted, InGame, Over, Pause, Turn
from salvo_game.lobby import Lobby
from salvo_game.match import Team, Terms

TableState = Lobby | Turn | Pause | Over
STATES: tuple[type[TableState], ...] = (Lobby, Turn, Pause, Over)


class Event(StrEnum):
    """An input, as far as its sender and the list of players make a difference.

    A value is what the published table prints: the name of the input's class, where that says all.
    """

    NEW = "Participate, a new name"
    BACK = "Participate, a listed team"
    TAKEN = "Participate, a listed name with another secret or spelling"
    LEAVE = "Leave"
    STRUCK_OFF = "StruckOff"
    PLACE = "PlaceShip"
    FIRE = "Fire"
    SKIP = "Skip"
    REPEATED = "Fire or Skip, the repetition of one that counted or fell void"
    UNREADABLE = "Unreadable"
    UNLISTED = "Leave, StruckOff, PlaceShip, Fire, Skip or Unreadable, a name that is not listed"
    DEADLINE = "TimePassed at the deadline"
    RESUMED = "Resumed"
    DELIVERED = "TurnDelivered"
    HOST_START = "HostCommand start"
    HOST_SKIP = "HostCommand skip"
    HOST_PAUSE = "HostCommand pause"
    HOST_RESUME = "HostCommand resume"
    HOST_EXTEND = "HostCommand extend"
    HOST_ABORT = "HostCommand abort"
    HOST_REMOVE = "HostCommand remove"
    HOST_NEXT = "HostCommand next"
    HOST_ANNUL = "HostCommand annul"
    HOST_SPEAK = "HostCommand announce, set, or one for all tables"


class Answer(StrEnum):
    """What follows from an input that is not refused by one of the transition's codes."""

    ACCEPTED = "accepted"
    RECAP = "recap"
    OWN_CODE = "refused with its own code"
    REFUSED = "refused"
    IGNORED = "ignored"


class TransitionTarget(NamedTuple):
    """A state that may follow; one with a description is drawn in the diagram."""

    state: type[TableState]
    event: str = ""
    sentence: str = ""


class Transition(NamedTuple):
    """What follows from an input in a state.

    Attributes:
        step: of (state, input, now); the input of a deadline is the terms of the game after this one, a host's is a
            :class:`~salvo_game.game_states.Hosted`.
        codes: refusals that may follow; at a deadline, what a player may be told.
        targets: all states that may follow; none where the state stays.
    """

    step: Callable[[Any, Any, int], tuple[Announcements, TableState]]
    answer: Answer
    sentence: str
    codes: tuple[str, ...] = ()
    targets: tuple[TransitionTarget, ...] = ()


# --- steps that are the same in several states --------------------------------------------------------------------


def _ignore(state: TableState, command: object, now: int) -> tuple[Announcements, TableState]:
    return [], state


def _recap(state: TableState, command: m.Participate, now: int) -> tuple[Announcements, TableState]:
    return [state.recap(command.name)], state


def _answer(state: TableState, command: m.Unreadable, now: int) -> tuple[Announcements, TableState]:
    return state.players[command.player].answer_unreadable(command), state


def _refuse_name(state: TableState, command: m.Participate, now: int) -> NoReturn:
    raise IllegalCommand("name_taken", f"{command.name!r} is taken, by a team with another secret or spelling")


#: What a refusal calls a command, for the person who reads it.
_WORDS: dict[type[m.Input], str] = {
    m.Participate: "a request to take part",
    m.Leave: "leaving",
    m.PlaceShip: "a placement",
    m.Fire: "a shot",
    m.Skip: "a skip",
}


def _refuse(state: TableState, command: m.Command, now: int) -> NoReturn:
    kind = type(command)
    raise _wrong_state(_WORDS[kind], ACCEPTED[kind], state)


def _wrong_state(what: str, accepted: Iterable[m.State], state: TableState) -> IllegalCommand:
    now = f"{state.state}{', between two turns' if isinstance(state, Pause) else ''}"
    text = f"{what} is accepted in state {' and '.join(accepted)}; the state is {now}"
    return IllegalCommand("wrong_state", text)


def _fire_after_the_end(over: Over, command: m.Fire, now: int) -> tuple[Announcements, TableState]:
    if not over.is_void(command):
        _refuse(over, command, now)
    return [], replace(over, void_shots=over.void_shots - 1)


def reopen(state: TableState, following: Terms) -> tuple[Announcements, TableState]:
    """Forget the game, its secrets and its boards, and open the next lobby."""
    former, terms = state.terms, replace(following, number=state.terms.number + 1)
    changed = [] if terms.rules == former.rules else [terms.rules]
    return [m.TableReset(), m.TableOpened(terms.number), *changed, m.StateChanged(m.State.LOBBY)], Lobby(terms)


def _reopen(state: Over | Lobby, following: Terms, now: int) -> tuple[Announcements, TableState]:
    return reopen(state, following)


def _reopen_by_host(state: Over | Lobby, by: Hosted, now: int) -> tuple[Announcements, TableState]:
    return _reopen(state, by.following, now)


def _annul(state: TableState, by: Hosted, now: int) -> tuple[Announcements, TableState]:
    number = by.command.game
    if number is None or number >= state.terms.number:
        raise IllegalCommand("stale_context", f"game {number} has no result here; this is game {state.terms.number}")
    return [], state


def _annul_later(over: Over, by: Hosted, now: int) -> NoReturn:
    """Say when: the log of this game has ended with its result, so an annulment is for the log of the next one."""
    due = "when the time of the result ends" if over.deadline is None else f"in {-((now - over.deadline) // 1000)} s"
    text = f"annul is accepted as soon as the next lobby is open, {due} or at once after next; the state is over"
    raise IllegalCommand("wrong_state", text)


def _refuse_host(state: TableState, by: Hosted, now: int) -> NoReturn:
    do = by.command.do
    raise _wrong_state(do, _accepting(_BY_HOST[do]), state)


def _announcing(
    step: Callable[[Any, Hosted, int], tuple[Announcements, TableState]],
) -> Callable[[Any, Hosted, int], tuple[Announcements, TableState]]:
    """Return a step of a host that everybody is told of before anything follows from it (SALVO-HOST-2)."""

    def announced_step(state: TableState, by: Hosted, now: int) -> tuple[Announcements, TableState]:
        _check_host(by.command, state)
        announced, following = step(state, by, now)
        return [m.HostActed.of(by.command, paused=following.paused), *announced], following

    return announced_step


def _check_host(command: m.HostCommand, state: TableState) -> None:
    number = state.terms.number
    if command.context not in (None, number):
        raise IllegalCommand("stale_context", f"signed for game {command.context}; this is game {number}")
    if command.everywhere:
        return
    if state.paused and command.do is m.HostAction.PAUSE:
        raise IllegalCommand("clock_stopped", "the table is paused already")
    if not state.paused and command.do is m.HostAction.RESUME:
        raise IllegalCommand("not_paused", "the table is not paused")


# --- the table ----------------------------------------------------------------------------------------------------

_WAITS = TransitionTarget(Lobby)  # until the last fleet is complete
_COMPLETE = TransitionTarget(Turn, "the operator's number of fleets is complete", "SALVO-JOIN-6")
_IN_TIME = TransitionTarget(Turn, "placement time ends, two or more fleets complete", "SALVO-JOIN-5")
_TOO_FEW = TransitionTarget(Lobby, "placement time ends, fewer fleets complete", "SALVO-JOIN-5")
_BEGINS = TransitionTarget(Turn)  # after a pause
_SKIPPED = (TransitionTarget(Pause), TransitionTarget(Over))  # a host has ended the next turn before it began
_NEXT = TransitionTarget(Turn, "a turn ends, two or more players left", "SALVO-TURN-3")
_WON = TransitionTarget(Over, "one player left", "SALVO-END-1")
_FORGOTTEN = TransitionTarget(Lobby, "time of the result ends", "SALVO-END-4")
_STARTED = TransitionTarget(Turn, "the host starts the game, two or more fleets complete", "SALVO-HOST-3")
_ABORTED = TransitionTarget(Over, "the host aborts the game", "SALVO-HOST-5")
_TURN_ENDS = (_NEXT, _NEXT._replace(state=Pause), _WON)

_PLACING = ("fleet_final", "off_grid", "overlap", "too_close", "rate_limited")
_AIMING = ("unknown_target", "off_grid", "own_board", "shot_before", "stale_context")
_OUT_OF_TURN = ("not_your_turn", "too_many_shots")
_OUT_OF_TIME = ("turn_timeout", "bank_empty")

_OK, _NO, _IGNORED = Answer.ACCEPTED, Answer.REFUSED, Answer.IGNORED

_STATE = Transition(_refuse, _NO, "SALVO-GAME-6", ("wrong_state",))
_TAKEN = Transition(_refuse_name, _NO, "SALVO-JOIN-8", ("name_taken",))
_RECAP = Transition(_recap, Answer.RECAP, "SALVO-JOIN-7")
_NOISE = Transition(_answer, Answer.OWN_CODE, "SALVO-ERR-3")
_UNLISTED = Transition(_ignore, _IGNORED, "SALVO-ERR-8")

_ADMIT = Transition(Lobby.admit, _OK, "SALVO-JOIN-9", ("table_full", "not_invited", "removed"))
_LEAVE = Transition(Lobby.leave, _OK, "SALVO-JOIN-15", ("stale_context",))
_STRIKE = Transition(Lobby.strike_off, _OK, "SALVO-ACCESS-8")
_STAYS = Transition(_ignore, _IGNORED, "SALVO-ACCESS-8")
_PLACE = Transition(Lobby.place, _OK, "SALVO-PLACE-7", _PLACING, (_WAITS, _COMPLETE))

_FIRE = Transition(Turn.fire, _OK, "SALVO-FIRE-6", (*_OUT_OF_TURN, *_AIMING), _TURN_ENDS)
_EARLY = Transition(Pause.fire, _NO, "SALVO-PACE-2", _OUT_OF_TURN)
_VOID = Transition(_fire_after_the_end, _IGNORED, "SALVO-FIRE-12", ("wrong_state",))
_SKIP = Transition(Turn.skip, _OK, "SALVO-BOOK-7", ("not_your_turn", "stale_context"), _TURN_ENDS)
_REPEATED = Transition(_ignore, _IGNORED, "SALVO-FIRE-13")
_NO_SKIP = Transition(Pause.skip, _NO, "SALVO-PACE-2", ("not_your_turn",))

_START = Transition(Lobby.end_placement_time, _OK, "SALVO-JOIN-5", ("placement_timeout",), (_IN_TIME, _TOO_FEW))
_RUN_OUT = Transition(Turn.run_out, _OK, "SALVO-TURN-5", _OUT_OF_TIME, _TURN_ENDS)
_GO_ON = Transition(Pause.end, _OK, "SALVO-PACE-1", ("turn_timeout",), (_BEGINS, *_SKIPPED))
_REOPEN = Transition(_reopen, _OK, "SALVO-END-4", (), (_FORGOTTEN,))

_AGAIN = Transition(lambda state, *given: state.resume(*given), _OK, "SALVO-BACK-2")
_PAUSE_AGAIN = Transition(Pause.resume, _OK, "SALVO-PACE-5")
_NO_MATTER = Transition(_ignore, _IGNORED, "SALVO-BACK-2")
_COUNT = Transition(Turn.count_from, _OK, "SALVO-TIME-2")
_NO_BANK = Transition(_ignore, _IGNORED, "SALVO-TIME-2")

_STALE = "stale_context"
_H_START = Transition(_announcing(Lobby.start), _OK, "SALVO-HOST-3", ("too_few_fleets", _STALE), (_STARTED,))
_H_SKIP = Transition(_announcing(Turn.skip_by_host), _OK, "SALVO-HOST-3", (_STALE,), _TURN_ENDS)
_H_SKIP_NEXT = Transition(_announcing(Pause.skip_by_host), _OK, "SALVO-HOST-3", (_STALE,))
_H_PAUSE = Transition(
    _announcing(lambda state, *given: state.pause(*given)), _OK, "SALVO-HOST-4", ("clock_stopped", _STALE)
)
_H_RESUME = Transition(
    _announcing(lambda state, *given: state.resume_paused(*given)), _OK, "SALVO-HOST-4", ("not_paused", _STALE)
)
_H_LOBBY_RESUME = _H_RESUME._replace(targets=(_WAITS, _BEGINS))
_H_PAUSE_RESUME = _H_RESUME._replace(targets=(_BEGINS, *_SKIPPED))
_H_EXTEND = Transition(
    _announcing(lambda state, *given: state.extend(*given)), _OK, "SALVO-HOST-4", ("clock_stopped", _STALE)
)
_H_ABORT = Transition(_announcing(InGame.abort), _OK, "SALVO-HOST-5", (_STALE,), (_ABORTED,))
_H_REMOVE = Transition(
    _announcing(lambda state, *given: state.remove(*given)), _OK, "SALVO-HOST-6", ("unknown_target", _STALE)
)
_H_TURN_REMOVE = _H_REMOVE._replace(targets=_TURN_ENDS)
_H_NEXT = Transition(_announcing(_reopen_by_host), _OK, "SALVO-HOST-7", (_STALE,), (TransitionTarget(Lobby),))
_H_SPEAK = Transition(_announcing(_ignore), _OK, "SALVO-HOST-7", (_STALE,))
_H_ANNUL = Transition(_announcing(_annul), _OK, "SALVO-STAND-4", (_STALE,))
_H_LATER = Transition(_announcing(_annul_later), _NO, "SALVO-STAND-4", ("wrong_state", _STALE))
_H_STATE = Transition(_announcing(_refuse_host), _NO, "SALVO-HOST-2", ("wrong_state", _STALE))

# fmt: off
_TRANSITIONS: dict[Event, tuple[Transition, Transition, Transition, Transition]] = {
    #                  lobby         turn         pause         over
    Event.NEW:        (_ADMIT,       _STATE,      _STATE,       _STATE),
    Event.BACK:       (_RECAP,       _RECAP,      _RECAP,       _RECAP),
    Event.TAKEN:      (_TAKEN,       _TAKEN,      _TAKEN,       _TAKEN),
    Event.LEAVE:      (_LEAVE,       _STATE,      _STATE,       _STATE),
    Event.STRUCK_OFF: (_STRIKE,      _STAYS,      _STAYS,       _STAYS),
    Event.PLACE:      (_PLACE,       _STATE,      _STATE,       _STATE),
    Event.FIRE:       (_STATE,       _FIRE,       _EARLY,       _VOID),
    Event.SKIP:       (_STATE,       _SKIP,       _NO_SKIP,     _STATE),
    Event.REPEATED:   (_STATE,       _REPEATED,   _REPEATED,    _REPEATED),
    Event.UNREADABLE: (_NOISE,       _NOISE,      _NOISE,       _NOISE),
    Event.UNLISTED:   (_UNLISTED,    _UNLISTED,   _UNLISTED,    _UNLISTED),
    Event.DEADLINE:   (_START,       _RUN_OUT,    _GO_ON,       _REOPEN),
    Event.RESUMED:    (_AGAIN,       _AGAIN,      _PAUSE_AGAIN, _NO_MATTER),
    Event.DELIVERED:  (_NO_BANK,     _COUNT,      _NO_BANK,     _NO_BANK),
    Event.HOST_START:  (_H_START,        _H_STATE,       _H_STATE,        _H_STATE),
    Event.HOST_SKIP:   (_H_STATE,        _H_SKIP,        _H_SKIP_NEXT,    _H_STATE),
    Event.HOST_PAUSE:  (_H_PAUSE,        _H_PAUSE,       _H_PAUSE,        _H_PAUSE),
    Event.HOST_RESUME: (_H_LOBBY_RESUME, _H_RESUME,      _H_PAUSE_RESUME, _H_RESUME),
    Event.HOST_EXTEND: (_H_EXTEND,       _H_EXTEND,      _H_EXTEND,       _H_EXTEND),
    Event.HOST_ABORT:  (_H_STATE,        _H_ABORT,       _H_ABORT,        _H_STATE),
    Event.HOST_REMOVE: (_H_REMOVE,       _H_TURN_REMOVE, _H_REMOVE,       _H_STATE),
    Event.HOST_NEXT:   (_H_NEXT,         _H_STATE,       _H_STATE,        _H_NEXT),
    Event.HOST_ANNUL:  (_H_ANNUL,        _H_ANNUL,       _H_ANNUL,        _H_LATER),
    Event.HOST_SPEAK:  (_H_SPEAK,        _H_SPEAK,       _H_SPEAK,        _H_SPEAK),
}
# fmt: on

TABLE: dict[type[TableState], dict[Event, Transition]] = {
    state: {event: rows[column] for event, rows in _TRANSITIONS.items()} for column, state in enumerate(STATES)
}

_PLAIN = (m.Leave, m.StruckOff, m.PlaceShip, m.Fire, m.Skip, m.Unreadable, m.Resumed, m.TurnDelivered)
_EVENTS: dict[type[m.Input], Event] = {
    m.Participate: Event.NEW,
    **{kind: Event(kind.__name__) for kind in _PLAIN},
}

_BY_HOST = {action: Event.__members__.get(f"HOST_{action.name}", Event.HOST_SPEAK) for action in m.HostAction}


def _accepting(event: Event) -> list[m.State]:
    return sorted({state.state for state in STATES if TABLE[state][event].answer is Answer.ACCEPTED})


#: The states in which a command can be accepted, which a refusal names.
ACCEPTED: dict[type[m.Input], list[m.State]] = {kind: _accepting(event) for kind, event in _EVENTS.items()}


def event_of(command: m.Input, state: TableState) -> Event:
    """Return what an input is in a state."""
    if isinstance(command, (m.Fire, m.Skip)):
        if command.player not in state.players:
            return Event.UNLISTED
        return Event.REPEATED if state.has_had(command) else _EVENTS[type(command)]
    if isinstance(command, (m.PlaceShip, m.Leave, m.Unreadable)):
        return _EVENTS[type(command)] if command.player in state.players else Event.UNLISTED
    if isinstance(command, m.HostCommand):
        return Event.HOST_SPEAK if command.everywhere else event_of_host(command.do)
    if isinstance(command, m.StruckOff):
        return Event.STRUCK_OFF if command.name in state.players else Event.UNLISTED
    if isinstance(command, m.Participate):
        return _asked(command, state.players)
    return _EVENTS[type(command)]


def event_of_host(action: m.HostAction) -> Event:
    """Return what a host's action at one table is."""
    return _BY_HOST[action]


def _asked(command: m.Participate, players: Mapping[str, Team]) -> Event:
    known = players.get(command.name)
    if known is not None and known.credential == command.credential:
        return Event.BACK
    return Event.TAKEN if any(command.name.lower() == other.lower() for other in players) else Event.NEW
