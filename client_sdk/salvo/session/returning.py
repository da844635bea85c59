"""Reading recaps, which have all that a team missed (SALVO-JOIN-12), and refusing old ones."""

from __future__ import annotations

from salvo import messages as m
from salvo.codec.recap_reader import read_recap
from salvo.errors import SealError, WireError
from salvo.messages import State
from salvo.seal import MAX_RECAP_BLOB_BYTES, Sealer, derive_key, key_to_team, open_blob, parse_blob
from salvo.session.tables import ReturningState
from salvo.view import View


def open_recap(payload: bytes, name: str, secret: str, sealer: Sealer) -> m.Recap | None:
    """Open a sealed recap; None if it does not open, or is not readable."""
    try:
        blob = parse_blob(payload.decode(), MAX_RECAP_BLOB_BYTES)
        key = sealer.key if blob.salt == sealer.salt else derive_key(secret, blob.salt)
        return read_recap(name, open_blob(blob, key_to_team(key)))
    except (SealError, WireError, UnicodeDecodeError):
        return None


def is_old(
    recap: m.Recap, newest: m.Recap | None, view: View | None, game: int, table: State | None, state: ReturningState
) -> bool:
    """Whether a recap is late, or replayed by an attacker (SALVO-JOIN-14).

    The server never knows less than it has announced. So if a view is ahead of a recap, either the view contains
    something untrue or the recap is old. The team's own state tells them apart: it trusts a recap that it waits
    for, or requested because of doubts, unless it has already taken up the same one.

    Args:
        newest: the newest one of this game that was taken up.
        game: the number of the table's game.
    """
    if newest is not None and recap.progress < newest.progress:
        return True
    if view is None:
        return table is State.LOBBY and recap.game < game
    if recap.game != view.game:
        return recap.game < view.game
    less = recap.resolved_turn < view.resolved_turn
    if state is ReturningState.DOUBTING:
        return False
    if state is ReturningState.RETURNING:
        return less and newest is not None and recap.progress == newest.progress
    if recap.resolved_turn == view.resolved_turn:
        less = recap.turn < view.turn or recap.progress[-1] < len(view.incoming)
    return less
