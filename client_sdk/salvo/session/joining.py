"""Joining: from a connection to a place at the table, in a lobby or in a game that is on."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final

from salvo import messages as m
from salvo.errors import ImpostorError
from salvo.events import Event, Refused, ServerMet
from salvo.rules import generator
from salvo.seal import fingerprint
from salvo.session.machine import Arrow, Machine
from salvo.session.outbox import Outbox
from salvo.session.table import PATIENCE_SECONDS, SILENCE_SECONDS, Table

#: The shortest and the longest pause between two requests to take part. Each is random, so that teams whose requests
#: were lost in one flood do not all ask again at once.
ASK_AGAIN_SECONDS: Final = (3.0, 8.0)
#: How long to wait for ``/game/server``, which tells whether to seal the secret. It is retained, so it comes with the
#: first messages; a server of the plain specification has no such topic, and its teams have a minute to place.
SERVER_SECONDS: Final = 2.0


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


class Joining(Machine[JoiningState, JoiningEvent]):
    """The request to take part.

    Attributes:
        awaits_recap: whether the answer is a recap, for which the team should not wait long.
    """

    def __init__(self, table: Table, outbox: Outbox, *, always_seal: bool) -> None:
        super().__init__(self, JOINING, JoiningState.IDLE)
        self.awaits_recap = False
        self._table = table
        self._outbox = outbox
        self._always_seal = always_seal
        self._met = False
        self._keys: m.ServerKeys | None = None
        self._entered = 0.0  # when the machine came to wait: for the server, or for the end of a dispute
        self._due: float | None = None  # when to send again; None: not before time was told
        self._unanswered_since: float | None = None
        self._refused: Refused | None = None
        self._pauses = generator(table.team, "pauses")  # not the bot's: a lost message must not change what it draws

    # --- the server ---------------------------------------------------------------------------------------------

    def meet(self, keys: m.ServerKeys | None, profile: str) -> list[Event]:
        """Take in the server's identity, which is fixed for the length of the session (SALVO-IDENT-2).

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

    # --- what comes from the session ----------------------------------------------------------------------------

    def want(self, now: float) -> list[Event]:
        """Ask, at once if the server is known."""
        events = self.handle(JoiningEvent.WANTED, now)
        return [*events, *self.go_on(now)]

    def go_on(self, now: float) -> list[Event]:
        """Ask if the server is known by now and there is something to ask."""
        return self.handle(JoiningEvent.SERVER_MET, now) if self._met else []

    def refuse_name(self, refused: Refused, now: float) -> None:
        """Note a refusal that was sent to the name, whichever program used it."""
        self.handle(JoiningEvent.NAME_REFUSED, now)
        if self.state is JoiningState.DISPUTED:
            self._refused = refused

    def heard_refusal(self) -> None:
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
            events += self.handle(JoiningEvent.SERVER_SILENT, now)
        if self._due is None:
            self._due = now + PATIENCE_SECONDS
        if now > self._due and may_ask:
            events += self.handle(JoiningEvent.NO_ANSWER, now)
        if refusal_counts and waited > PATIENCE_SECONDS:
            events += self.handle(JoiningEvent.STILL_REFUSED, now)
        return events

    # --- actions ------------------------------------------------------------------------------------------------

    def _wait(self, now: float) -> None:
        """Wait for the server, unless it is known."""
        self._forget(now)
        self._entered = now

    def _send(self, now: float) -> None:
        """Send the request, sealed if the server has a key (SALVO-IDENT-4)."""
        pause = PATIENCE_SECONDS if self.awaits_recap else self._pauses.uniform(*ASK_AGAIN_SECONDS)
        self._due = now + pause
        if self._unanswered_since is None:
            self._unanswered_since = now
        self._outbox.ask_for_place(None if self._keys is None else self._keys.seal)

    def _forget(self, now: float) -> None:
        """Forget the request."""
        self._unanswered_since = self._refused = None

    def _dispute(self, now: float) -> None:
        """Send the request again at once: it may be lost, and the refusal may be for another program."""
        self._entered = self._due = now

    def _report(self, now: float) -> Sequence[Event]:
        """Tell the player that it was refused."""
        refused, self._refused = self._refused, None
        return [] if refused is None else [refused]

    def _ask_later(self, now: float) -> None:
        """Send the request again later: the server repeats what is missing."""
        self._forget(now)
        self._due = now + PATIENCE_SECONDS

    def _leave(self, now: float) -> None:
        """Send a message that the team leaves (SALVO-JOIN-15)."""
        self._forget(now)
        self._due = None
        self._outbox.leave()


_S, _E = JoiningState, JoiningEvent
_OUT = (_S.ASKING, _S.DISPUTED)
JOINING = (
    Arrow(tuple(_S), _E.WANTED, _S.MEETING, Joining._wait),
    Arrow((_S.MEETING,), _E.SERVER_MET, _S.ASKING, Joining._send),
    Arrow((_S.MEETING,), _E.SERVER_SILENT, _S.ASKING, Joining._send),
    Arrow(_OUT, _E.NO_ANSWER, None, Joining._send),
    Arrow((_S.LEAVING,), _E.NO_ANSWER, None, Joining._leave),
    Arrow((_S.MEETING, *_OUT), _E.ANSWERED, _S.IDLE, Joining._forget),
    Arrow(_OUT, _E.GAME_ON, _S.IDLE, Joining._forget),
    Arrow((_S.ASKING,), _E.NAME_REFUSED, _S.DISPUTED, Joining._dispute),
    Arrow((_S.DISPUTED,), _E.STILL_REFUSED, _S.ASKING, Joining._report),
    Arrow((_S.MEETING, *_OUT), _E.UNWANTED, _S.IDLE, Joining._forget),
    Arrow(tuple(_S), _E.LEFT, _S.LEAVING, Joining._leave),
    Arrow(tuple(_S), _E.LEFT_UNLISTED, _S.IDLE, Joining._leave),
    Arrow((_S.LEAVING,), _E.STRUCK_OFF, _S.IDLE),
    Arrow((_S.IDLE, *_OUT), _E.UNUSABLE, _S.ASKING, Joining._ask_later),
)
