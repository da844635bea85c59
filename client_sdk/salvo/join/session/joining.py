"""Joining: from a connection to a place at the table, in a lobby or in a running game; refusals on the way."""

from __future__ import annotations

from salvo import messages as m
from salvo.errors import CODES, ImpostorError
from salvo.join.events import Refused, ServerMet
from salvo.join.session.known_table import SILENCE_SECONDS
from salvo.join.session.machine_states import (
    ASK_AGAIN_SECONDS,
    PATIENCE_SECONDS,
    SERVER_SECONDS,
    JoiningEvent,
    JoiningState,
    PlayingEvent,
    ReturningEvent,
    TablePhase,
)
from salvo.join.session.state import SessionState
from salvo.messages import State
from salvo.wire.seal import fingerprint


def meet(session: SessionState, keys: m.ServerKeys | None, profile: str) -> None:
    """Compare and store the server's identity, which is fixed for the length of the session (SALVO-IDENT-2).

    Only the key ``sign`` identifies it. A server without keys may be given some at any time.

    Raises:
        ImpostorError: ``impostor``.
    """
    request = session.request
    if request.keys is not None and (keys is None or keys.sign != request.keys.sign):
        now_known = "has no key" if keys is None else f"is {fingerprint(keys.sign)}"
        raise ImpostorError(
            "impostor",
            f"the server is {fingerprint(request.keys.sign)}, but what publishes in its place now {now_known}; start "
            "again if the operator says that the server has a new identity",
        )
    if keys is None and request.always_seal:
        session.events.append(ServerMet(None, profile))  # and the request keeps waiting
        return
    if not request.met or request.keys != keys:
        session.events.append(ServerMet(keys, profile))
    request.met, request.keys = True, keys


def want(session: SessionState) -> None:
    """Ask for a place, for the old one, or for the recap."""
    session.request.awaits_recap = session.missed_news
    session.take(JoiningEvent.WANTED)
    proceed(session)


def proceed(session: SessionState) -> None:
    """Ask if the server is known by now and there is something to ask."""
    if session.request.met:
        session.take(JoiningEvent.SERVER_MET)


def tick(session: SessionState) -> None:
    """Let time pass."""
    request, now = session.request, session.now
    lobby = session.table_state is State.LOBBY
    waited = now - request.entered
    if session.joining is JoiningState.MEETING and waited > SERVER_SECONDS and not request.always_seal:
        session.take(JoiningEvent.SERVER_SILENT)
    if request.due is None:
        request.due = now + PATIENCE_SECONDS
    if now > request.due and _may_repeat(session):
        session.take(JoiningEvent.NO_ANSWER)
    if lobby and not session.has_place and waited > PATIENCE_SECONDS:
        session.take(JoiningEvent.STILL_REFUSED)


def _may_repeat(session: SessionState) -> bool:
    """Whether a repeated request has a reader and a purpose."""
    in_lobby = session.table_state is State.LOBBY and session.table.listed
    wanted = in_lobby if session.joining is JoiningState.LEAVING else session.wants_place
    return session.server_here and wanted and session.following is not TablePhase.UNHEARD


def report_waiting(session: SessionState) -> None:
    """Report why nothing happens, if nothing does: probably wrong settings."""
    if session.connected_at is None or session.table.listed or session.in_game:
        return
    asked = session.request.unanswered_since
    unanswered = session.server_here and asked is not None and session.now - asked > SILENCE_SECONDS
    session.events += session.reports.silence(session.now - session.connected_at, unanswered)


# --- refusals ---------------------------------------------------------------------------------------------------------


def refused(session: SessionState, code: str, text: str) -> None:
    """Apply the refusal of a command."""
    session.request.unanswered_since = None
    listed = session.table.listed
    match code:
        case "not_in_roster" | "sealed_required":
            if not session.has_place:
                _refuse_name(session, Refused(code, text))
        case "name_taken" if listed or session.has_fleet:
            # Else another program asked for this name and was refused; the name is ours.
            if not session.has_fleet and session.joining is not JoiningState.IDLE:
                session.events += session.reports.name_in_use()
        case "wrong_state":
            _refused_by_state(session, text)
        case "table_full" | "not_invited" | "removed" if not listed:
            session.events += session.reports.once(code, session.table.game, Refused(code, text))
        case "unknown_player" if not listed:
            pass  # what it sent has crossed the news that it is off the list, and is for a place that it had
        case "placement_timeout":
            session.reports.left_out_of = session.table.game
            # The server's text is about the time, even if the game began early.
            session.events.append(Refused(code, CODES[code].meaning))
        case _:
            if code in ("turn_timeout", "bank_empty"):
                session.take(PlayingEvent.TIME_UP)
            session.events.append(Refused(code, text))


def _refuse_name(session: SessionState, refusal: Refused) -> None:
    """Note a refusal that was sent to the name, whichever program used it."""
    session.take(JoiningEvent.NAME_REFUSED)
    if session.joining is JoiningState.DISPUTED:
        session.request.refused = refusal


def _refused_by_state(session: SessionState, text: str) -> None:
    if not session.in_game:
        session.take(JoiningEvent.GAME_ON)
        session.take(ReturningEvent.NOTHING_MISSED)
    if session.table.listed:
        session.events.append(Refused("wrong_state", text))
    elif not session.in_game:
        session.events += session.reports.game_on(session.table_state)


# --- actions ----------------------------------------------------------------------------------------------------------


def await_server(session: SessionState) -> None:
    """Wait for the server, unless it is known."""
    forget(session)
    session.request.entered = session.now


def send_request(session: SessionState) -> None:
    """Send the request, sealed if the server has a key (SALVO-IDENT-4)."""
    request = session.request
    request.due = session.now + (
        PATIENCE_SECONDS if request.awaits_recap else request.pauses.uniform(*ASK_AGAIN_SECONDS)
    )
    if request.unanswered_since is None:
        request.unanswered_since = session.now
    session.outbox.ask_for_place(None if request.keys is None else request.keys.seal)


def send_leave(session: SessionState) -> None:
    """Send a message that the team leaves (SALVO-JOIN-15)."""
    forget(session)
    session.request.due = None
    session.outbox.leave()


def forget(session: SessionState) -> None:
    """Forget the request."""
    session.request.unanswered_since = session.request.refused = None


def send_at_once(session: SessionState) -> None:
    """Send the request again at once: it may be lost, and the refusal may be for another program."""
    session.request.entered = session.request.due = session.now


def report_refusal(session: SessionState) -> None:
    """Tell the player that it was refused."""
    if session.request.refused is not None:
        session.events.append(session.request.refused)
    session.request.refused = None


def send_later(session: SessionState) -> None:
    """Send the request again later: the server repeats what is missing."""
    forget(session)
    session.request.due = session.now + PATIENCE_SECONDS
