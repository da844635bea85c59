"""The states of a session's six machines, and their events; :mod:`.tables` has the transitions.

The value of a state says what it means, that of an event when it happens.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

#: How long a placement, a salvo or a request for the recap may go unanswered before it is sent again. A server that
#: derives keys for a full queue answers within three seconds; under a flood it may drop the first message, which a
#: second one makes up for.
PATIENCE_SECONDS: Final = 3.0
#: The shortest and the longest pause between two requests to take part. Each is random, so that teams whose requests
#: were lost in one flood do not all ask again at once.
ASK_AGAIN_SECONDS: Final = (3.0, 8.0)
#: How long to wait for ``/game/server``, which tells whether to seal the secret. It is retained, so it comes with the
#: first messages; a server of the plain specification has no such topic, and its teams have a minute to place.
SERVER_SECONDS: Final = 2.0


# --- joining ----------------------------------------------------------------------------------------------------------


class JoiningState(Enum):
    """What has become of the request to take part."""

    IDLE = "requests nothing: the team has its place, waits for the next lobby, or wants no game"
    MEETING = "wants to send a request, and waits for `/game/server`, which says whether to seal it"
    ASKING = "has sent a request, and has no answer"
    DISPUTED = "has sent a request; its name was refused, perhaps to another program that used it"
    LEAVING = "has left the lobby, and is still listed"


class JoiningEvent(Enum):
    """What can happen to the request."""

    WANTED = "a place, the old place, or the recap is wanted"
    SERVER_MET = "`/game/server` is known"
    SERVER_SILENT = f"no `/game/server` for {SERVER_SECONDS:g} s, from a server not known to have a key"
    NO_ANSWER = (
        f"no answer for {ASK_AGAIN_SECONDS[0]:g} to {ASK_AGAIN_SECONDS[1]:g} s, at random (SALVO-JOIN-16); for "
        f"{PATIENCE_SECONDS:g} s while waiting for a recap or leaving"
    )
    ANSWERED = "the name is listed, as news, or the recap arrives"
    GAME_ON = "`wrong_state`: a game is running without the team"
    NAME_REFUSED = "`not_in_roster` or `sealed_required`"
    STILL_REFUSED = f"in the lobby, {PATIENCE_SECONDS:g} s without being listed"
    UNWANTED = "the player wants no game"
    LEFT = "the player leaves the lobby while it is listed"
    LEFT_UNLISTED = "the player leaves the lobby before it is listed"
    STRUCK_OFF = "the name is no longer listed, as news"
    UNUSABLE = "a recap arrives before the rules or the list that it belongs to"


# --- placing ----------------------------------------------------------------------------------------------------------


class PlacingState(Enum):
    """How far the fleet is."""

    NO_FLEET = "the game has no fleet yet"
    CHOOSING = "the player was asked for a fleet"
    PLACING = "the fleet is known, but not every ship is approved"
    PLACED = "every ship is approved, or is in a recap"


class PlacingEvent(Enum):
    """What can happen to the fleet."""

    NEEDED = "the team is listed, as news, or a recap lacks ships"
    CHOSEN = "the player gives a fleet"
    APPROVED = "the last missing ship is approved"
    NO_ANSWER = f"listed in the lobby with ships missing, and no answer for {PATIENCE_SECONDS:g} s"
    DOUBTED = "in the lobby, the server was away or a recap lacks ships"
    RECALLED = "a recap has the whole fleet"
    DROPPED = "the team left or was removed, or another game begins"


# --- playing ----------------------------------------------------------------------------------------------------------


#: A salvo is sent again after at most this share of the turn's time, so that even a short turn has room for it.
PATIENCE_SHARE: Final = 1 / 3


class PlayingState(Enum):
    """Whose move it is."""

    NO_GAME = "the team plays no game"
    WAITING = "it is another player's turn, or the team's own turn is over"
    DECIDING = "the player was asked for a salvo"
    FIRED = "the turn's shots are sent, and the result is not known yet"
    SKIPPED = "a skip is sent, and the result is not known yet"
    ENDED = "the game is over, and the player knows how it ended"


class PlayingEvent(Enum):
    """What can happen in a game."""

    TAKEN_UP = "the first turn begins, or a recap is about an unknown game"
    OWN_TURN = "a turn begins in which this team has shots left"
    OTHERS_TURN = "another turn begins"
    FIRED = "the player fires, and its shots are sent"
    SKIPPED = "the player skips, and its skip is sent"
    NO_RESULT = (
        f"no result for {PATIENCE_SECONDS:g} s, or a third of the turn if that is less; before the deadline, while the "
        "server is online and no recap is awaited"
    )
    RESOLVED = "the result arrives, or a recap shows that the turn is over"
    TIME_UP = "`turn_timeout` or `bank_empty`"
    RECALLED = "the awaited recap arrives during the turn"
    ENDED = "state `over`, last result, winner and all statistics have arrived, and agree"
    FORGOTTEN = "a lobby opens"


# --- returning, following, server -------------------------------------------------------------------------------------


class ReturningState(Enum):
    """Whether the team knows how its game stands."""

    CURRENT = "has missed nothing"
    RETURNING = "may have missed news: begins no turn and repeats no salvo before the recap"
    DOUBTING = "the signed log contradicts the news: as `returning`, and trusts only a recap"


class ReturningEvent(Enum):
    """What can happen to that knowledge."""

    CONNECTED = "the connection or the server is back, and the session has a fleet or a game"
    CONNECTED_NEW = "the connection is back, and the session has neither fleet nor game"
    UNUSABLE = "a recap arrives before the rules or the list that it belongs to"
    TAKEN_UP = "a recap is accepted"
    NOTHING_MISSED = "outside of a game, the team is listed, as news, or `wrong_state`"
    DOUBTED = "in a game, the signed log does not confirm the news"
    FORGOTTEN = "a lobby opens"


class TablePhase(Enum):
    """What the team takes the table's state to be."""

    UNHEARD = "no message about it yet"
    LOBBY = "the lobby is open"
    TURN = "a game is running"
    OVER = "a game is over"
    DOUBTED = "a game was running; a broker that was killed says that the lobby is open, perhaps an old message"


class TableEvent(Enum):
    """What can be heard of the table's state."""

    LOBBY = "state `lobby`"
    OLD_LOBBY = "state `lobby`, retained, while the team plays the game that the server names"
    TURN = "state `turn`"
    OVER = "state `over`"
    CONFIRMED = "the team is listed, as news, the server names another game, or a recap of a lobby arrives"
    DENIED = "a recap of a game is accepted"


class ServerState(Enum):
    """Whether the server is there, as far as is known.

    Only the first table's status says so (SALVO-MQTT-5). At a further table it stays here: its message, as news, means
    that the server is online, perhaps after an absence.
    """

    HERE = "online"
    AWAY = "offline, or paused by its journal"


class ServerEvent(Enum):
    """What `/game/server` can say."""

    ONLINE = "online, retained"
    ONLINE_NEWS = (
        "online, or a further table's message, as news: a server publishes it after every connection, even if its "
        "absence went unnoticed"
    )
    OFFLINE = "offline or paused"
