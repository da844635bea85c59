"""Following: the state of the table, its list, and whether the server is online."""

from __future__ import annotations

from salvo import messages as m
from salvo.join.events import ServerSeen
from salvo.join.session import joining, placing, playing, returning
from salvo.join.session.machine_states import (
    JoiningEvent,
    PlacingEvent,
    PlayingEvent,
    ReturningEvent,
    ServerEvent,
    TableEvent,
)
from salvo.join.session.state import SessionState
from salvo.messages import State


def server_seen(session: SessionState, status: m.ServerStatus, retained: bool) -> None:
    """Apply what the server publishes of itself."""
    session.chat = status.chat
    session.witness.newer = status.protocol > m.PROTOCOL
    joining.meet(session, status.keys, status.profile)
    if status.keys is not None:
        session.witness.key = status.keys.sign
        session.outbox.meet(status.keys.sign)
    if status.game:
        _note_game(session, status.game)
    if status.status_topic:  # a further table's message has no status, but comes after every connection as well
        if not retained:
            session.take(ServerEvent.ONLINE_NEWS)
    else:
        here = status.online and not status.paused
        online = ServerEvent.ONLINE if retained else ServerEvent.ONLINE_NEWS
        session.take(online if here else ServerEvent.OFFLINE)
        session.events.append(ServerSeen(here, status.presence))
    joining.proceed(session)


def _note_game(session: SessionState, game: int) -> None:
    former = session.table.game
    if game != former:
        session.take(TableEvent.CONFIRMED)
    if former and game != former and session.table_state is State.LOBBY:
        session.take(PlacingEvent.DROPPED)
    session.table.game = game


def state_changed(session: SessionState, state: State, retained: bool) -> None:
    """Apply the table's state."""
    event = TableEvent[state.name]
    view = session.view
    if event is TableEvent.LOBBY and retained and view is not None and view.game == session.table.game:
        event = TableEvent.OLD_LOBBY
    session.take(event)
    playing.end(session)


def players_listed(session: SessionState, names: tuple[str, ...], retained: bool) -> None:
    """Apply the list of players."""
    table = session.table
    named = not retained and table.team in names
    if named:
        session.take(TableEvent.CONFIRMED)
    was_listed, table.players, table.listed = table.listed, names, table.team in names
    struck_off = was_listed and not table.listed
    if struck_off:
        session.witness.struck_off(table.game)
    if session.table_state is not State.LOBBY:
        return
    if named and not session.in_game:
        session.take(ReturningEvent.NOTHING_MISSED)
    if struck_off:
        _lose_place(session)
    # A retained list that already has the name means that the team rejoins; then the recap has what to place.
    elif named and not was_listed:
        session.take(JoiningEvent.ANSWERED)
        session.take(PlacingEvent.NEEDED)


def _lose_place(session: SessionState) -> None:
    session.take(JoiningEvent.STRUCK_OFF)
    session.take(PlacingEvent.DROPPED)
    if session.wants_to_play:
        joining.want(session)


def wish(session: SessionState, wants_to_play: bool) -> None:
    """Note whether a place is wanted; in a lobby that the team has left, one that is wanted again is asked for."""
    again = wants_to_play and not session.wants_to_play
    session.wants_to_play = wants_to_play
    if again and session.table_state is State.LOBBY and not session.has_place:
        joining.want(session)


def leave(session: SessionState) -> None:
    """Leave the lobby, even with a complete fleet (SALVO-JOIN-15); in a game nothing is sent."""
    session.wants_to_play = False
    if session.table_state not in (None, State.LOBBY):  # None: it may have asked before anything was known of the table
        session.take(JoiningEvent.UNWANTED)
        return
    session.take(PlacingEvent.DROPPED)
    session.take(JoiningEvent.LEFT if session.table.listed else JoiningEvent.LEFT_UNLISTED)


# --- actions ----------------------------------------------------------------------------------------------------------


def open_lobby(session: SessionState) -> None:
    """Forget the game, and ask for a place if one is wanted."""
    forget_game(session)
    if session.wants_to_play:
        joining.want(session)


def forget_game(session: SessionState) -> None:
    """Forget the game; a place that is wanted is still asked for."""
    session.take(PlayingEvent.FORGOTTEN)
    session.take(PlacingEvent.DROPPED)
    session.take(ReturningEvent.FORGOTTEN)
    if not session.wants_to_play:
        session.take(JoiningEvent.UNWANTED)
    session.newest_recap = None
    session.table.players, session.table.listed = (), False


def resume(session: SessionState) -> None:
    """In a game as after a new connection; otherwise ask for a place, and treat no ship as approved."""
    if session.in_game:
        returning.come_back(session)  # it may repeat old news: only the recap counts
    elif session.wants_to_play:
        _rejoin(session)


def confirm(session: SessionState) -> None:
    """In its game as after a new connection; otherwise ask, unless listed or in state `over`."""
    state = session.table_state
    settled = state is State.OVER or (state is State.LOBBY and session.table.listed)
    if session.view is not None:
        if session.view.game == session.table.game:
            returning.come_back(session)
    elif session.wants_to_play and not settled:
        # The request may have been lost. A status comes when a game without this team is cleared, too; then a lobby
        # begins, where the team asks anyway.
        _rejoin(session)


def _rejoin(session: SessionState) -> None:
    """Ask a server that may have lost its list; otherwise it answers with the recap."""
    session.table.listed = False
    placing.doubt(session)
    joining.want(session)
