"""Returning: a recap has all that a team missed (SALVO-JOIN-12); an old one is refused."""

from __future__ import annotations

from salvo import messages as m
from salvo.codec.recap_reader import read_recap
from salvo.errors import IllegalCommand, SealError, WireError
from salvo.join.events import GameTakenUp
from salvo.join.session import joining, placing, playing
from salvo.join.session.machine_states import (
    JoiningEvent,
    PlacingEvent,
    PlayingEvent,
    ReturningEvent,
    ReturningState,
    TableEvent,
)
from salvo.join.session.state import SessionState
from salvo.messages import State
from salvo.rules import Fleet, RuleBook
from salvo.view import Feed, Shot, View
from salvo.wire.seal import MAX_RECAP_BLOB_BYTES, Sealer, derive_key, key_to_team, open_blob, parse_blob


def come_back(session: SessionState) -> None:
    """Ask for a seat, or for the old one: the connection is up again, or the server is back.

    In a game, no turn is answered before the recap has come: the last salvo's result may have been missed, and its
    shots would pass for shots of the current turn. A game may also have begun since the fleet was placed.
    """
    session.connected_at = session.now
    session.table.listed = False
    session.witness.connected_anew()
    rejoins = session.in_game or session.has_fleet
    session.take(ReturningEvent.CONNECTED if rejoins else ReturningEvent.CONNECTED_NEW)
    if session.wants_place:
        joining.want(session)
    else:
        session.take(JoiningEvent.UNWANTED)


def open_recap(payload: bytes, name: str, secret: str, sealer: Sealer) -> m.Recap | None:
    """Open a sealed recap; None if it does not open, or is not readable."""
    try:
        blob = parse_blob(payload.decode(), MAX_RECAP_BLOB_BYTES)
        key = sealer.key if blob.salt == sealer.salt else derive_key(secret, blob.salt)
        return read_recap(name, open_blob(blob, key_to_team(key)))
    except (SealError, WireError, UnicodeDecodeError):
        return None


def recalled(session: SessionState, payload: bytes) -> None:
    """Take up the game where the server has it."""
    table, state = session.table, session.returning
    if payload == session.recap_payload:  # delivered again: the server never seals two alike
        return
    recap = open_recap(payload, table.team, session.outbox.secret, session.outbox.sealer)
    if recap is None or _is_old(recap, session):
        return
    players = table.players = recap.players or table.players
    if table.rules is None or (recap.turn and not players):
        _await_recap(session)  # a broker that was killed has lost the rules; the server repeats them
        return
    session.take(TableEvent.DENIED if recap.turn else TableEvent.CONFIRMED)
    session.newest_recap, table.players, table.listed, table.game = recap, players, True, recap.game
    if not recap.turn:
        session.witness.came_back(recap.game)
    whole = len(recap.fleet) == len(table.rules.fleet)
    try:
        fleet = Fleet(table.rules, recap.fleet) if whole else None
    except IllegalCommand:  # forged rules on an open broker; the server's come again
        _await_recap(session)
        return
    session.recap_payload = payload
    session.take(ReturningEvent.TAKEN_UP)
    session.take(JoiningEvent.ANSWERED)
    if fleet is None:
        _complete_fleet(session, recap)
        return
    if session.table_state is State.OVER and not session.has_fleet:
        session.play.missed = True
    placing.recall(session, fleet)
    if recap.turn:
        _take_up(session, recap, table.rules, fleet, awaited=state is not ReturningState.CURRENT)


def _is_old(recap: m.Recap, session: SessionState) -> bool:
    """Whether a recap is late, or replayed by an attacker (SALVO-JOIN-14).

    The server never knows less than it has announced. So if a view is ahead of a recap, either the view contains
    something untrue or the recap is old. The team's own state tells them apart: it trusts a recap that it waits
    for, or requested because of doubts, unless it has already taken up the same one.
    """
    newest, view = session.newest_recap, session.view
    if newest is not None and recap.progress < newest.progress:
        return True
    if view is None:
        return session.table_state is State.LOBBY and recap.game < session.table.game
    if recap.game != view.game:
        return recap.game < view.game
    less = recap.resolved_turn < view.resolved_turn
    if session.returning is ReturningState.DOUBTING:
        return False
    if session.returning is ReturningState.RETURNING:
        return less and newest is not None and recap.progress == newest.progress
    if recap.resolved_turn == view.resolved_turn:
        less = recap.turn < view.turn or recap.progress[-1] < len(view.incoming)
    return less


def _await_recap(session: SessionState) -> None:
    session.take(ReturningEvent.UNUSABLE)
    session.request.awaits_recap = True
    session.take(JoiningEvent.UNUSABLE)


def _complete_fleet(session: SessionState, recap: m.Recap) -> None:
    """Send what the recap lacks, unless it has only just been sent."""
    placing.doubt(session, recap.fleet)
    on_its_way = session.has_fleet and session.fleet_sent_at >= (session.connected_at or 0.0)
    if not on_its_way and session.table_state is State.LOBBY:
        session.take(PlacingEvent.NEEDED)


# --- a game -----------------------------------------------------------------------------------------------------------


def _take_up(session: SessionState, recap: m.Recap, rules: RuleBook, fleet: Fleet, *, awaited: bool) -> None:
    known = session.view
    if known is None:
        session.witness.took_up(recap.game, recap.turn)
        session.events.append(GameTakenUp(recap.game))
    view = session.view = _rebuild(session, recap, rules, fleet)
    if known is None or known.game != view.game:
        session.play.begun = None
        session.take(PlayingEvent.TAKEN_UP)
    else:
        _continue(session, known, view, awaited)
    if session.table_state is State.OVER:
        playing.end(session)
    else:
        playing.begin_turn(session)


def _continue(session: SessionState, known: View, view: View, awaited: bool) -> None:
    """Go on with a game that the team was in."""
    _take_over_shots(session, known, view, awaited)
    view.untouched.continue_from(known.untouched)
    turn = session.play.turn
    if turn is None or session.play.begun != m.TurnContext(turn.game, turn.turn) or view.resolved_turn >= turn.turn:
        session.take(PlayingEvent.RESOLVED)
        return
    # The player may still be thinking: it is not asked again, and its answer stays valid.
    playing.put_in_turn(session, view, turn, min(known.shots, turn.shots - len(view.fired_this_turn)))
    if awaited:
        session.take(PlayingEvent.RECALLED)


def _take_over_shots(session: SessionState, known: View, view: View, awaited: bool) -> None:
    """Take over shots on their way, which the recap lacks."""
    on_their_way = known.fired_this_turn[len(view.fired_this_turn) :]
    if known.turns_known != view.turns_known:
        return
    if awaited:
        # A broker that was killed may have lost them, or only the first, in which case the others were refused and
        # their nonces are used up. So they are signed again; game, turn and number prevent that one counts twice.
        playing.send_on(session, view, on_their_way)
    else:
        # A second recap, requested before the first came: what it lacks is sent already.
        Feed(view).fired(on_their_way)


def _rebuild(session: SessionState, recap: m.Recap, rules: RuleBook, fleet: Fleet) -> View:
    table = session.table
    view = View(rules, table.team, table.players, recap.game, fleet, session.random)
    feed = Feed(view)
    if recap.earlier is not None:
        feed.summed_up(recap.earlier)
    shots: dict[int, list[Shot]] = {}
    for shot in recap.shots:
        shots.setdefault(shot.turn, []).append(Shot(shot.target, shot.x, shot.y))
    for result in recap.results:
        feed.fired(shots.pop(result.turn, []))
        feed.resolved(result)
    for late in shots.values():
        feed.fired(late)
    for x, y in recap.landed:
        feed.landed(Shot(table.team, x, y))
    view.turn = recap.turn
    return view
