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

RefereeState = Lobby | Turn | Pause | Over
STATES: tuple[type[RefereeState], ...] = (Lobby, Turn, Pause, Over)


class RefereeEvent(StrEnum):
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


class Decision(StrEnum):
    """What follows from an input that is not refused by one of the transition's codes."""

    ACCEPTED = "accepted"
    RECAP = "recap"
    OWN_CODE = "refused with its own code"
    REFUSED = "refused"
    IGNORED = "ignored"


class TransitionTarget(NamedTuple):
    """A state that may follow; one with a description is drawn in the diagram."""

    state: type[RefereeState]
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

    step: Callable[[Any, Any, int], tuple[Announcements, RefereeState]]
    decision: Decision
    sentence: str
    codes: tuple[str, ...] = ()
    targets: tuple[TransitionTarget, ...] = ()


# --- steps that are the same in several states --------------------------------------------------------------------


def _ignore(state: RefereeState, command: object, now: int) -> tuple[Announcements, RefereeState]:
    return [], state


def _recap(state: RefereeState, command: m.Participate, now: int) -> tuple[Announcements, RefereeState]:
    return [state.recap(command.name)], state


def _answer(state: RefereeState, command: m.Unreadable, now: int) -> tuple[Announcements, RefereeState]:
    return state.players[command.player].answer_unreadable(command), state


def _refuse_name(state: RefereeState, command: m.Participate, now: int) -> NoReturn:
    raise IllegalCommand("name_taken", f"{command.name!r} is taken, by a team with another secret or spelling")


#: What a refusal calls a command, for the person who reads it.
_WORDS: dict[type[m.Input], str] = {
    m.Participate: "a request to take part",
    m.Leave: "leaving",
    m.PlaceShip: "a placement",
    m.Fire: "a shot",
    m.Skip: "a skip",
}


def _refuse(state: RefereeState, command: m.Command, now: int) -> NoReturn:
    kind = type(command)
    raise _wrong_state(_WORDS[kind], ACCEPTED[kind], state)


def _wrong_state(what: str, accepted: Iterable[m.State], state: RefereeState) -> IllegalCommand:
    now = f"{state.state}{', between two turns' if isinstance(state, Pause) else ''}"
    text = f"{what} is accepted in state {' and '.join(accepted)}; the state is {now}"
    return IllegalCommand("wrong_state", text)


def _fire_after_the_end(over: Over, command: m.Fire, now: int) -> tuple[Announcements, RefereeState]:
    if not over.is_void(command):
        _refuse(over, command, now)
    return [], replace(over, void_shots=over.void_shots - 1)


def reopen(state: RefereeState, following: Terms) -> tuple[Announcements, RefereeState]:
    """Forget the game, its secrets and its boards, and open the next lobby."""
    former, terms = state.terms, replace(following, number=state.terms.number + 1)
    changed = [] if terms.rules == former.rules else [terms.rules]
    return [m.TableReset(), m.TableOpened(terms.number), *changed, m.StateChanged(m.State.LOBBY)], Lobby(terms)


def _reopen(state: Over | Lobby, following: Terms, now: int) -> tuple[Announcements, RefereeState]:
    return reopen(state, following)


def _reopen_by_host(state: Over | Lobby, by: Hosted, now: int) -> tuple[Announcements, RefereeState]:
    return _reopen(state, by.following, now)


def _annul(state: RefereeState, by: Hosted, now: int) -> tuple[Announcements, RefereeState]:
    number = by.command.game
    if number is None or number >= state.terms.number:
        raise IllegalCommand("stale_context", f"game {number} has no result here; this is game {state.terms.number}")
    return [], state


def _annul_later(over: Over, by: Hosted, now: int) -> NoReturn:
    """Say when: the log of this game has ended with its result, so an annulment is for the log of the next one."""
    due = "when the time of the result ends" if over.deadline is None else f"in {-((now - over.deadline) // 1000)} s"
    text = f"annul is accepted as soon as the next lobby is open, {due} or at once after next; the state is over"
    raise IllegalCommand("wrong_state", text)


def _refuse_host(state: RefereeState, by: Hosted, now: int) -> NoReturn:
    do = by.command.do
    raise _wrong_state(do, _accepting(_BY_HOST[do]), state)


_HostStep = Callable[[Any, Hosted, int], tuple[Announcements, RefereeState]]


def _announcing(step: _HostStep) -> _HostStep:
    """Return a step of a host that everybody is told of before anything follows from it (SALVO-HOST-2)."""

    def announced_step(state: RefereeState, by: Hosted, now: int) -> tuple[Announcements, RefereeState]:
        _check_host(by.command, state)
        announced, following = step(state, by, now)
        return [m.HostActed.of(by.command, paused=following.paused), *announced], following

    return announced_step


def _check_host(command: m.HostCommand, state: RefereeState) -> None:
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


def _by_host(
    step: _HostStep,
    sentence: str,
    *codes: str,
    targets: tuple[TransitionTarget, ...] = (),
    decision: Decision = Decision.ACCEPTED,
) -> Transition:
    """Return a host's transition; each may have been signed for another game."""
    return Transition(_announcing(step), decision, sentence, (*codes, "stale_context"), targets)


_TURN_ENDS = (
    TransitionTarget(Turn, "a turn ends, two or more players left", "SALVO-TURN-3"),
    TransitionTarget(Pause, "a turn ends, two or more players left", "SALVO-TURN-3"),
    TransitionTarget(Over, "one player left", "SALVO-END-1"),
)
#: A host may have ended the next turn before it began.
_PAUSE_ENDS = (TransitionTarget(Turn), TransitionTarget(Pause), TransitionTarget(Over))

_WRONG_STATE = Transition(_refuse, Decision.REFUSED, "SALVO-GAME-6", ("wrong_state",))
_NOT_NOW = _by_host(_refuse_host, "SALVO-HOST-2", "wrong_state", decision=Decision.REFUSED)

#: By event, then by the states that have the transition.
_TRANSITIONS: dict[RefereeEvent, dict[tuple[type[RefereeState], ...], Transition]] = {
    RefereeEvent.NEW: {
        (Lobby,): Transition(Lobby.admit, Decision.ACCEPTED, "SALVO-JOIN-9", ("table_full", "not_invited", "removed")),
        (Turn, Pause, Over): _WRONG_STATE,
    },
    RefereeEvent.BACK: {STATES: Transition(_recap, Decision.RECAP, "SALVO-JOIN-7")},
    RefereeEvent.TAKEN: {STATES: Transition(_refuse_name, Decision.REFUSED, "SALVO-JOIN-8", ("name_taken",))},
    RefereeEvent.LEAVE: {
        (Lobby,): Transition(Lobby.leave, Decision.ACCEPTED, "SALVO-JOIN-15", ("stale_context",)),
        (Turn, Pause, Over): _WRONG_STATE,
    },
    RefereeEvent.STRUCK_OFF: {
        (Lobby,): Transition(Lobby.strike_off, Decision.ACCEPTED, "SALVO-ACCESS-8"),
        (Turn, Pause, Over): Transition(_ignore, Decision.IGNORED, "SALVO-ACCESS-8"),
    },
    RefereeEvent.PLACE: {
        (Lobby,): Transition(
            Lobby.place,
            Decision.ACCEPTED,
            "SALVO-PLACE-7",
            ("fleet_final", "off_grid", "overlap", "too_close", "rate_limited"),
            (
                TransitionTarget(Lobby),
                TransitionTarget(Turn, "the operator's number of fleets is complete", "SALVO-JOIN-6"),
            ),
        ),
        (Turn, Pause, Over): _WRONG_STATE,
    },
    RefereeEvent.FIRE: {
        (Lobby,): _WRONG_STATE,
        (Turn,): Transition(
            Turn.fire,
            Decision.ACCEPTED,
            "SALVO-FIRE-6",
            (
                "not_your_turn",
                "too_many_shots",
                "unknown_target",
                "off_grid",
                "own_board",
                "shot_before",
                "stale_context",
            ),
            _TURN_ENDS,
        ),
        (Pause,): Transition(Pause.fire, Decision.REFUSED, "SALVO-PACE-2", ("not_your_turn", "too_many_shots")),
        (Over,): Transition(_fire_after_the_end, Decision.IGNORED, "SALVO-FIRE-12", ("wrong_state",)),
    },
    RefereeEvent.SKIP: {
        (Lobby, Over): _WRONG_STATE,
        (Turn,): Transition(
            Turn.skip, Decision.ACCEPTED, "SALVO-BOOK-7", ("not_your_turn", "stale_context"), _TURN_ENDS
        ),
        (Pause,): Transition(Pause.skip, Decision.REFUSED, "SALVO-PACE-2", ("not_your_turn",)),
    },
    RefereeEvent.REPEATED: {
        (Lobby,): _WRONG_STATE,
        (Turn, Pause, Over): Transition(_ignore, Decision.IGNORED, "SALVO-FIRE-13"),
    },
    RefereeEvent.UNREADABLE: {STATES: Transition(_answer, Decision.OWN_CODE, "SALVO-ERR-3")},
    RefereeEvent.UNLISTED: {STATES: Transition(_ignore, Decision.IGNORED, "SALVO-ERR-8")},
    RefereeEvent.DEADLINE: {
        (Lobby,): Transition(
            Lobby.end_placement_time,
            Decision.ACCEPTED,
            "SALVO-JOIN-5",
            ("placement_timeout",),
            (
                TransitionTarget(Turn, "placement time ends, two or more fleets complete", "SALVO-JOIN-5"),
                TransitionTarget(Lobby, "placement time ends, fewer fleets complete", "SALVO-JOIN-5"),
            ),
        ),
        (Turn,): Transition(
            Turn.run_out, Decision.ACCEPTED, "SALVO-TURN-5", ("turn_timeout", "bank_empty"), _TURN_ENDS
        ),
        (Pause,): Transition(Pause.end, Decision.ACCEPTED, "SALVO-PACE-1", ("turn_timeout",), _PAUSE_ENDS),
        (Over,): Transition(
            _reopen,
            Decision.ACCEPTED,
            "SALVO-END-4",
            targets=(TransitionTarget(Lobby, "time of the result ends", "SALVO-END-4"),),
        ),
    },
    RefereeEvent.RESUMED: {
        (Lobby,): Transition(Lobby.resume, Decision.ACCEPTED, "SALVO-BACK-2"),
        (Turn,): Transition(Turn.resume, Decision.ACCEPTED, "SALVO-BACK-2"),
        (Pause,): Transition(Pause.resume, Decision.ACCEPTED, "SALVO-PACE-5"),
        (Over,): Transition(_ignore, Decision.IGNORED, "SALVO-BACK-2"),
    },
    RefereeEvent.DELIVERED: {
        (Turn,): Transition(Turn.count_from, Decision.ACCEPTED, "SALVO-TIME-2"),
        (Lobby, Pause, Over): Transition(_ignore, Decision.IGNORED, "SALVO-TIME-2"),
    },
    RefereeEvent.HOST_START: {
        (Lobby,): _by_host(
            Lobby.start,
            "SALVO-HOST-3",
            "too_few_fleets",
            targets=(TransitionTarget(Turn, "the host starts the game, two or more fleets complete", "SALVO-HOST-3"),),
        ),
        (Turn, Pause, Over): _NOT_NOW,
    },
    RefereeEvent.HOST_SKIP: {
        (Turn,): _by_host(Turn.skip_by_host, "SALVO-HOST-3", targets=_TURN_ENDS),
        (Pause,): _by_host(Pause.skip_by_host, "SALVO-HOST-3"),
        (Lobby, Over): _NOT_NOW,
    },
    RefereeEvent.HOST_PAUSE: {
        STATES: _by_host(lambda state, *given: state.pause(*given), "SALVO-HOST-4", "clock_stopped"),
    },
    RefereeEvent.HOST_RESUME: {
        (Lobby,): _by_host(
            Lobby.resume_paused, "SALVO-HOST-4", "not_paused", targets=(TransitionTarget(Lobby), TransitionTarget(Turn))
        ),
        (Turn,): _by_host(Turn.resume_paused, "SALVO-HOST-4", "not_paused"),
        (Pause,): _by_host(Pause.resume_paused, "SALVO-HOST-4", "not_paused", targets=_PAUSE_ENDS),
        (Over,): _by_host(Over.resume_paused, "SALVO-HOST-4", "not_paused"),
    },
    RefereeEvent.HOST_EXTEND: {
        STATES: _by_host(lambda state, *given: state.extend(*given), "SALVO-HOST-4", "clock_stopped"),
    },
    RefereeEvent.HOST_ABORT: {
        (Turn, Pause): _by_host(
            InGame.abort,
            "SALVO-HOST-5",
            targets=(TransitionTarget(Over, "the host aborts the game", "SALVO-HOST-5"),),
        ),
        (Lobby, Over): _NOT_NOW,
    },
    RefereeEvent.HOST_REMOVE: {
        (Lobby,): _by_host(Lobby.remove, "SALVO-HOST-6", "unknown_target"),
        (Turn,): _by_host(Turn.remove, "SALVO-HOST-6", "unknown_target", targets=_TURN_ENDS),
        (Pause,): _by_host(Pause.remove, "SALVO-HOST-6", "unknown_target"),
        (Over,): _NOT_NOW,
    },
    RefereeEvent.HOST_NEXT: {
        (Lobby, Over): _by_host(_reopen_by_host, "SALVO-HOST-7", targets=(TransitionTarget(Lobby),)),
        (Turn, Pause): _NOT_NOW,
    },
    RefereeEvent.HOST_ANNUL: {
        (Lobby, Turn, Pause): _by_host(_annul, "SALVO-STAND-4"),
        (Over,): _by_host(_annul_later, "SALVO-STAND-4", "wrong_state", decision=Decision.REFUSED),
    },
    RefereeEvent.HOST_SPEAK: {STATES: _by_host(_ignore, "SALVO-HOST-7")},
}

TABLE: dict[type[RefereeState], dict[RefereeEvent, Transition]] = {
    state: {event: row[states] for event, row in _TRANSITIONS.items() for states in row if state in states}
    for state in STATES
}

_PLAIN = (m.Leave, m.StruckOff, m.PlaceShip, m.Fire, m.Skip, m.Unreadable, m.Resumed, m.TurnDelivered)
_EVENTS: dict[type[m.Input], RefereeEvent] = {
    m.Participate: RefereeEvent.NEW,
    **{kind: RefereeEvent(kind.__name__) for kind in _PLAIN},
}

_BY_HOST = {
    action: RefereeEvent.__members__.get(f"HOST_{action.name}", RefereeEvent.HOST_SPEAK) for action in m.HostAction
}


def _accepting(event: RefereeEvent) -> list[m.State]:
    return sorted({state.state for state in STATES if TABLE[state][event].decision is Decision.ACCEPTED})


#: The states in which a command can be accepted, which a refusal names.
ACCEPTED: dict[type[m.Input], list[m.State]] = {kind: _accepting(event) for kind, event in _EVENTS.items()}


def event_of(command: m.Input, state: RefereeState) -> RefereeEvent:
    """Return what an input is in a state."""
    if isinstance(command, (m.Fire, m.Skip)):
        if command.player not in state.players:
            return RefereeEvent.UNLISTED
        return RefereeEvent.REPEATED if state.has_had(command) else _EVENTS[type(command)]
    if isinstance(command, (m.PlaceShip, m.Leave, m.Unreadable)):
        return _EVENTS[type(command)] if command.player in state.players else RefereeEvent.UNLISTED
    if isinstance(command, m.HostCommand):
        return RefereeEvent.HOST_SPEAK if command.everywhere else event_of_host(command.do)
    if isinstance(command, m.StruckOff):
        return RefereeEvent.STRUCK_OFF if command.name in state.players else RefereeEvent.UNLISTED
    if isinstance(command, m.Participate):
        return _asked(command, state.players)
    return _EVENTS[type(command)]


def event_of_host(action: m.HostAction) -> RefereeEvent:
    """Return what a host's action at one table is."""
    return _BY_HOST[action]


def _asked(command: m.Participate, players: Mapping[str, Team]) -> RefereeEvent:
    known = players.get(command.name)
    if known is not None and known.credential == command.credential:
        return RefereeEvent.BACK
    return RefereeEvent.TAKEN if any(command.name.lower() == other.lower() for other in players) else RefereeEvent.NEW
