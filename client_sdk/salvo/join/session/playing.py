"""Playing: the view of one game, and the salvo of one turn until its result arrives."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from salvo import messages as m
from salvo.errors import IllegalCommand
from salvo.join.events import GameEnded, SalvoReported, SalvoWanted
from salvo.join.session.machine_states import PATIENCE_SECONDS, PATIENCE_SHARE, PlayingEvent
from salvo.join.session.state import GameProgress, SessionState
from salvo.messages import State
from salvo.rules import Fleet, Placement
from salvo.view import Feed, Shot, View

# --- the player -------------------------------------------------------------------------------------------------------


def fire(session: SessionState, shots: Sequence[Shot]) -> None:
    """Fire shots of the current turn.

    Raises:
        IllegalCommand: ``wrong_state``: there is no game.
    """
    view = session.game_in_play()
    send_on(session, view, shots)
    view.shots -= len(shots)
    session.play.due = None
    session.take(PlayingEvent.FIRED)


def skip(session: SessionState) -> None:
    """Give up the shots that are left.

    Raises:
        IllegalCommand: ``wrong_state``: there is no game.
    """
    view = session.game_in_play()
    view.shots = 0
    session.play.due = None
    session.outbox.skip(m.TurnContext(view.game, view.turn))
    session.take(PlayingEvent.SKIPPED)


def tick(session: SessionState) -> None:
    """Let time pass; while the server is away, or a recap is awaited, a salvo is not sent again."""
    play, now = session.play, session.now
    may_send = session.server_here and not session.missed_news
    turn, due = play.turn, play.due
    if turn is None or not may_send or now >= play.deadline:
        play.due = None
    elif due is None or now > due:
        play.due = now + min(PATIENCE_SECONDS, PATIENCE_SHARE * (turn.deadline - turn.now) / 1000)
        if due is not None:
            session.take(PlayingEvent.NO_RESULT)


# --- the news ---------------------------------------------------------------------------------------------------------


def turn_began(session: SessionState, turn: m.TurnBegan) -> None:
    """Apply the announcement of a turn, and begin it unless a recap has to come first."""
    _note_turn(session, turn)
    if not session.missed_news:
        begin_turn(session)


def _note_turn(session: SessionState, turn: m.TurnBegan) -> None:
    play, table, view = session.play, session.table, session.view
    last = play.turn
    if last is not None and (turn.game, turn.turn) < (last.game, last.turn):
        return
    play.turn, play.deadline = turn, session.now + (turn.deadline - turn.now) / 1000
    if last is not None and (turn.game, turn.turn) == (last.game, last.turn):
        if view is not None:
            Feed(view).extend(play.deadline)  # repeated, or its time began again
        return
    known = view is not None and view.game == turn.game
    if not known and session.fleet is not None and table.rules is not None and table.team in table.players:
        session.view = View(table.rules, table.team, table.players, turn.game, session.fleet, session.random)
        session.take(PlayingEvent.TAKEN_UP)


def begin_turn(session: SessionState) -> None:
    """Begin the last turn that was announced, once: ask the player for the shots that it has not fired yet."""
    play, view = session.play, session.view
    turn = play.turn
    if turn is None or view is None or view.game != turn.game:
        return
    occasion = m.TurnContext(turn.game, turn.turn)
    if play.begun == occasion or view.resolved_turn >= turn.turn:
        return
    play.begun = occasion
    left = turn.shots - len(view.fired_this_turn) if turn.player == session.table.team else 0
    put_in_turn(session, view, turn, left)
    session.take(PlayingEvent.OWN_TURN if left else PlayingEvent.OTHERS_TURN)


def put_in_turn(session: SessionState, view: View, turn: m.TurnBegan, left: int) -> None:
    """Show the player a turn, with the shots that it has left."""
    Feed(view).begin_turn(turn.turn, left, session.play.deadline)
    view.limited_by = "bank_empty" if turn.deadline - turn.now < session.table.turn_ms else "turn_timeout"


def landed(session: SessionState, x: int, y: int) -> None:
    """Note a shot at the own board."""
    if session.view is not None:
        Feed(session.view).landed(Shot(session.table.team, x, y))


def resolved(session: SessionState, result: m.SalvoResolved) -> None:
    """Apply a result to the view, once."""
    view, turn = session.view, session.play.turn
    if view is not None and result.game == view.game and result.turn > view.resolved_turn:
        Feed(view).resolved(result)
        if turn is None or result.turn >= turn.turn:
            session.take(PlayingEvent.RESOLVED)
        session.events.append(SalvoReported(result))
    end(session)


def reveal(session: SessionState, player: str, ships: tuple[Placement, ...]) -> None:
    """Note a fleet that is shown at the end."""
    view = session.view
    if view is not None and player in view.players:
        # One from another game may not fit: a broker that was killed may have retained it.
        with contextlib.suppress(IllegalCommand):
            view.revealed[player] = Fleet(view.rules, ships)


def end(session: SessionState) -> None:
    """Report how the game ended, once everything about its end is there.

    After a broker was killed, state, winner and statistics come in any order, and some may belong to another game:
    they count only if they agree with the view.
    """
    view, winners, stats = session.view, session.play.winners, session.play.stats
    if session.table_state is not State.OVER or view is None or winners is None:
        return
    if winners and {*view.winners} != {*winners}:
        return
    if not winners and stats.keys() - view.players:
        return  # the view was begun with an old list of players; a recap has the whole one
    if stats.keys() >= set(view.players):
        session.take(PlayingEvent.ENDED)


# --- messages ---------------------------------------------------------------------------------------------------------


def send_on(session: SessionState, view: View, shots: Sequence[Shot]) -> None:
    """Send shots after those of this turn that the view has as fired, and add them to the view."""
    _send(session, view, shots, len(view.fired_this_turn) + 1)
    Feed(view).fired(shots)


def _send(session: SessionState, view: View, shots: Sequence[Shot], first: int) -> None:
    for number, shot in enumerate(shots, start=first):
        session.outbox.fire(m.ShotContext(view.game, view.turn, number, shot.player), shot)


# --- actions ----------------------------------------------------------------------------------------------------------


def ask_player(session: SessionState) -> None:
    """Ask the player for its shots."""
    session.events.append(SalvoWanted(session.game_in_play()))


def send_shots(session: SessionState) -> None:
    """Send the turn's shots again, newly signed (SALVO-FIRE-13)."""
    view = session.game_in_play()
    _send(session, view, view.fired_this_turn, 1)


def send_skip(session: SessionState) -> None:
    """Send the skip again, newly signed."""
    if session.play.begun is not None:
        session.outbox.skip(session.play.begun)


def send_shots_and_skip(session: SessionState) -> None:
    """Send the turn's shots and the skip again, newly signed."""
    send_shots(session)
    send_skip(session)


def report_end(session: SessionState) -> None:
    """Tell the player how the game ended."""
    view, winners = session.game_in_play(), session.play.winners or ()
    winner = winners[0] if len(winners) == 1 else ""
    stats = {player: session.play.stats[player] for player in view.players}
    session.events.append(GameEnded(view.game, winner, stats, not winners, session.play.missed))


def forget(session: SessionState) -> None:
    """Forget the game."""
    session.view, session.play = None, GameProgress()
