"""Joining: from a connection to a place at the table, in a lobby or in a game that is on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from salvo import messages as m
from salvo.errors import ImpostorError
from salvo.events import Event, Refused, ServerMet
from salvo.rules import generator
from salvo.seal import fingerprint
from salvo.session.actor import Actor, Does
from salvo.session.news import SILENCE_SECONDS, Table
from salvo.session.outbox import Outbox
from salvo.session.tables import (
    ASK_AGAIN_SECONDS,
    JOINING,
    PATIENCE_SECONDS,
    SERVER_SECONDS,
    JoiningAction,
    JoiningEvent,
    JoiningState,
)


class Joining(Actor[JoiningState, JoiningEvent, JoiningAction]):
    """The request to take part; every method changes this object.

    Attributes:
        awaits_recap: whether the answer is a recap, for which the team should not wait long.
    """

    def __init__(self, table: Table, outbox: Outbox, *, always_seal: bool) -> None:
        super().__init__(JOINING, JoiningState.IDLE)
        self.awaits_recap = False
        self._table = table
        self._outbox = outbox
        self._always_seal = always_seal
        self._met = False
        self._keys: m.ServerKeys | None = None
        self._entered = 0.0  # when the machine came to wait: for the server, or for the end of a dispute
        self._due: float | None = None  # when to send again; None: not before the next tick
        self._unanswered_since: float | None = None
        self._refused: Refused | None = None
        self._pauses = generator(table.team, "pauses")  # not the bot's: a lost message must not change what it draws

    # --- the server ---------------------------------------------------------------------------------------------

    def meet(self, keys: m.ServerKeys | None, profile: str) -> list[Event]:
        """Compare and store the server's identity, which is fixed for the length of the session (SALVO-IDENT-2).

        Only the key ``sign`` identifies it. A server without keys may be given some at any time.

        Raises:
            ImpostorError: ``impostor``.
        """
        if self._keys is not None and (keys is None or keys.sign != self._keys.sign):
            now_known = "has no key" if keys is None else f"is {fingerprint(keys.sign)}"
            raise ImpostorError(
                "impostor",
                f"the server is {fingerprint(self._keys.sign)}, but what publishes in its place now {now_known}; start "
                "again if the operator says that the server has a new identity",
            )
        if keys is None and self._always_seal:
            return [ServerMet(None, profile)]  # and the request keeps waiting
        met, self._met = self._met and self._keys == keys, True
        self._keys = keys
        return [] if met else [ServerMet(keys, profile)]

    # --- from the session ---------------------------------------------------------------------------------------

    def want(self, now: float) -> list[Event]:
        """Ask, at once if the server is known."""
        events = self.take(JoiningEvent.WANTED, now)
        return [*events, *self.proceed(now)]

    def proceed(self, now: float) -> list[Event]:
        """Ask if the server is known by now and there is something to ask."""
        return self.take(JoiningEvent.SERVER_MET, now) if self._met else []

    def refuse_name(self, refused: Refused, now: float) -> None:
        """Note a refusal that was sent to the name, whichever program used it."""
        self.take(JoiningEvent.NAME_REFUSED, now)
        if self.state is JoiningState.DISPUTED:
            self._refused = refused

    def answered(self) -> None:
        """Note that the server does answer."""
        self._unanswered_since = None

    def unanswered(self, now: float) -> bool:
        """Whether a request has had no answer for so long that the settings are probably wrong."""
        return self._unanswered_since is not None and now - self._unanswered_since > SILENCE_SECONDS

    def tick(self, now: float, *, may_ask: bool, refusal_counts: bool) -> list[Event]:
        """Let time pass.

        Args:
            may_ask: whether a repeated request has a reader and a purpose.
            refusal_counts: whether the lobby is open and has not listed the team.
        """
        events: list[Event] = []
        waited = now - self._entered
        if self.state is JoiningState.MEETING and waited > SERVER_SECONDS and not self._always_seal:
            events += self.take(JoiningEvent.SERVER_SILENT, now)
        if self._due is None:
            self._due = now + PATIENCE_SECONDS
        if now > self._due and may_ask:
            events += self.take(JoiningEvent.NO_ANSWER, now)
        if refusal_counts and waited > PATIENCE_SECONDS:
            events += self.take(JoiningEvent.STILL_REFUSED, now)
        return events

    # --- actions ------------------------------------------------------------------------------------------------

    def _await_server(self, now: float) -> None:
        self._forget(now)
        self._entered = now

    def _send_request(self, now: float) -> None:
        pause = PATIENCE_SECONDS if self.awaits_recap else self._pauses.uniform(*ASK_AGAIN_SECONDS)
        self._due = now + pause
        if self._unanswered_since is None:
            self._unanswered_since = now
        self._outbox.ask_for_place(None if self._keys is None else self._keys.seal)

    def _forget(self, now: float) -> None:
        self._unanswered_since = self._refused = None

    def _send_at_once(self, now: float) -> None:
        self._entered = self._due = now

    def _report_refusal(self, now: float) -> Sequence[Event]:
        refused, self._refused = self._refused, None
        return [] if refused is None else [refused]

    def _send_later(self, now: float) -> None:
        self._forget(now)
        self._due = now + PATIENCE_SECONDS

    def _send_leave(self, now: float) -> None:
        self._forget(now)
        self._due = None
        self._outbox.leave()

    DOES: ClassVar[Does] = {
        JoiningAction.AWAIT_SERVER: _await_server,
        JoiningAction.SEND_REQUEST: _send_request,
        JoiningAction.SEND_LEAVE: _send_leave,
        JoiningAction.FORGET: _forget,
        JoiningAction.SEND_AT_ONCE: _send_at_once,
        JoiningAction.REPORT_REFUSAL: _report_refusal,
        JoiningAction.SEND_LATER: _send_later,
    }
