"""What a session does, as six state machines; ``proto/README.md`` is printed from this file.

Read it first. A session turns what it receives into the events of these machines; a transition changes the state and
names the function that is called then. An event without a transition changes nothing: so a late or repeated message
that no longer fits is ignored. :mod:`.machine_states` describes each state and event, and each function its effect.

    joining    the request to take part, and the old place
    placing    the fleet of one game
    playing    the salvo of a turn
    returning  the recap after an absence, or a doubt
    following  the state of the table
    server     whether the server is there
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from salvo.join.session import following, joining, placing, playing
from salvo.join.session.machine_states import (
    JoiningEvent,
    JoiningState,
    PlacingEvent,
    PlacingState,
    PlayingEvent,
    PlayingState,
    ReturningEvent,
    ReturningState,
    ServerEvent,
    ServerState,
    TableEvent,
    TablePhase,
)
from salvo.join.session.state import SessionAction
from salvo.state_machine import Machine, Transition

_REQUESTED = (JoiningState.ASKING, JoiningState.DISPUTED)
JOINING: tuple[Transition[JoiningState, JoiningEvent, SessionAction], ...] = (
    Transition(tuple(JoiningState), JoiningEvent.WANTED, JoiningState.MEETING, joining.await_server),
    Transition((JoiningState.MEETING,), JoiningEvent.SERVER_MET, JoiningState.ASKING, joining.send_request),
    Transition((JoiningState.MEETING,), JoiningEvent.SERVER_SILENT, JoiningState.ASKING, joining.send_request),
    Transition(_REQUESTED, JoiningEvent.NO_ANSWER, None, joining.send_request),
    Transition((JoiningState.LEAVING,), JoiningEvent.NO_ANSWER, None, joining.send_leave),
    Transition((JoiningState.MEETING, *_REQUESTED), JoiningEvent.ANSWERED, JoiningState.IDLE, joining.forget),
    Transition(_REQUESTED, JoiningEvent.GAME_ON, JoiningState.IDLE, joining.forget),
    Transition((JoiningState.ASKING,), JoiningEvent.NAME_REFUSED, JoiningState.DISPUTED, joining.send_at_once),
    Transition((JoiningState.DISPUTED,), JoiningEvent.STILL_REFUSED, JoiningState.ASKING, joining.report_refusal),
    Transition((JoiningState.MEETING,), JoiningEvent.LEFT_UNLISTED, JoiningState.IDLE, joining.forget),
    Transition((JoiningState.MEETING, *_REQUESTED), JoiningEvent.UNWANTED, JoiningState.IDLE, joining.forget),
    Transition(tuple(JoiningState), JoiningEvent.LEFT, JoiningState.LEAVING, joining.send_leave),
    Transition(_REQUESTED, JoiningEvent.LEFT_UNLISTED, JoiningState.IDLE, joining.send_leave),
    Transition((JoiningState.LEAVING,), JoiningEvent.STRUCK_OFF, JoiningState.IDLE),
    Transition((JoiningState.IDLE, *_REQUESTED), JoiningEvent.UNUSABLE, JoiningState.ASKING, joining.send_later),
)

PLACING: tuple[Transition[PlacingState, PlacingEvent, SessionAction], ...] = (
    Transition(
        (PlacingState.NO_FLEET, PlacingState.CHOOSING),
        PlacingEvent.NEEDED,
        PlacingState.CHOOSING,
        placing.ask_player,
    ),
    Transition((PlacingState.PLACING,), PlacingEvent.NEEDED, None, placing.send),
    Transition(tuple(PlacingState), PlacingEvent.CHOSEN, PlacingState.PLACING, placing.send),
    Transition((PlacingState.PLACING,), PlacingEvent.APPROVED, PlacingState.PLACED),
    Transition((PlacingState.PLACING,), PlacingEvent.NO_ANSWER, None, placing.send),
    Transition((PlacingState.PLACED,), PlacingEvent.DOUBTED, PlacingState.PLACING),
    Transition(tuple(PlacingState), PlacingEvent.RECALLED, PlacingState.PLACED),
    Transition(
        (PlacingState.CHOOSING, PlacingState.PLACING, PlacingState.PLACED),
        PlacingEvent.DROPPED,
        PlacingState.NO_FLEET,
        placing.forget,
    ),
)

_OWN_TURN = (PlayingState.DECIDING, PlayingState.FIRED, PlayingState.SKIPPED)
_IN_GAME = (PlayingState.WAITING, *_OWN_TURN)
PLAYING: tuple[Transition[PlayingState, PlayingEvent, SessionAction], ...] = (
    Transition(tuple(PlayingState), PlayingEvent.TAKEN_UP, PlayingState.WAITING),
    Transition(_IN_GAME, PlayingEvent.OWN_TURN, PlayingState.DECIDING, playing.ask_player),
    Transition(_OWN_TURN, PlayingEvent.OTHERS_TURN, PlayingState.WAITING),
    Transition((PlayingState.DECIDING,), PlayingEvent.FIRED, PlayingState.FIRED),
    Transition((PlayingState.DECIDING, PlayingState.FIRED), PlayingEvent.SKIPPED, PlayingState.SKIPPED),
    Transition((PlayingState.FIRED,), PlayingEvent.NO_RESULT, None, playing.send_shots),
    Transition((PlayingState.SKIPPED,), PlayingEvent.NO_RESULT, None, playing.send_shots_and_skip),
    Transition((PlayingState.SKIPPED,), PlayingEvent.RECALLED, None, playing.send_skip),
    Transition(_OWN_TURN, PlayingEvent.RESOLVED, PlayingState.WAITING),
    Transition(_OWN_TURN, PlayingEvent.TIME_UP, PlayingState.WAITING),
    Transition(_IN_GAME, PlayingEvent.ENDED, PlayingState.ENDED, playing.report_end),
    Transition(tuple(PlayingState), PlayingEvent.FORGOTTEN, PlayingState.NO_GAME, playing.forget),
)

RETURNING: tuple[Transition[ReturningState, ReturningEvent, SessionAction], ...] = (
    Transition((ReturningState.CURRENT,), ReturningEvent.CONNECTED, ReturningState.RETURNING),
    Transition(tuple(ReturningState), ReturningEvent.CONNECTED_NEW, ReturningState.CURRENT),
    Transition((ReturningState.CURRENT,), ReturningEvent.UNUSABLE, ReturningState.RETURNING),
    Transition(tuple(ReturningState), ReturningEvent.TAKEN_UP, ReturningState.CURRENT),
    Transition(tuple(ReturningState), ReturningEvent.NOTHING_MISSED, ReturningState.CURRENT),
    Transition((ReturningState.CURRENT,), ReturningEvent.DOUBTED, ReturningState.DOUBTING, joining.want),
    Transition(tuple(ReturningState), ReturningEvent.FORGOTTEN, ReturningState.CURRENT),
)
_OF_GAME = (TablePhase.TURN, TablePhase.OVER, TablePhase.DOUBTED)
FOLLOWING: tuple[Transition[TablePhase, TableEvent, SessionAction], ...] = (
    Transition((TablePhase.UNHEARD,), TableEvent.LOBBY, TablePhase.LOBBY),
    Transition(_OF_GAME, TableEvent.LOBBY, TablePhase.LOBBY, following.open_lobby),
    Transition(tuple(TablePhase), TableEvent.OLD_LOBBY, TablePhase.DOUBTED),
    Transition(tuple(TablePhase), TableEvent.TURN, TablePhase.TURN),
    Transition(tuple(TablePhase), TableEvent.OVER, TablePhase.OVER),
    Transition((TablePhase.DOUBTED,), TableEvent.CONFIRMED, TablePhase.LOBBY, following.forget_game),
    Transition((TablePhase.DOUBTED,), TableEvent.DENIED, TablePhase.TURN),
)
SERVER: tuple[Transition[ServerState, ServerEvent, SessionAction], ...] = (
    Transition((ServerState.AWAY,), ServerEvent.ONLINE, ServerState.HERE, following.resume),
    Transition((ServerState.AWAY,), ServerEvent.ONLINE_NEWS, ServerState.HERE, following.resume),
    Transition((ServerState.HERE,), ServerEvent.ONLINE_NEWS, None, following.confirm),
    Transition((ServerState.HERE,), ServerEvent.OFFLINE, ServerState.AWAY),
)


def machines() -> dict[type[Enum], Machine[Any, Any, SessionAction]]:
    """Return the six machines of a new session, by their events."""
    return {
        JoiningEvent: Machine(JOINING, JoiningState.IDLE),
        PlacingEvent: Machine(PLACING, PlacingState.NO_FLEET),
        PlayingEvent: Machine(PLAYING, PlayingState.NO_GAME),
        ReturningEvent: Machine(RETURNING, ReturningState.CURRENT),
        TableEvent: Machine(FOLLOWING, TablePhase.UNHEARD),
        ServerEvent: Machine(SERVER, ServerState.HERE),
    }
