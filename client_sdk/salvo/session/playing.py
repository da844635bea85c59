"""Playing: the view of one game, and the salvo of one turn until its result is there."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from random import Random
from typing import ClassVar

from salvo import messages as m
from salvo.errors import IllegalCommand
from salvo.events import Event, GameEnded, SalvoHeard, SalvoWanted
from salvo.rules import Fleet, Placement, RuleBook
from salvo.session.actor import Actor, Does
from salvo.session.news import Table
from salvo.session.outbox import Outbox
from salvo.session.tables import (
    PATIENCE_SECONDS,
    PATIENCE_SHARE,
    PLAYING,
    PlayingAction,
    PlayingEvent,
    PlayingState,
)
from salvo.view import Feed, Shot, View


class Playing(Actor[PlayingState, PlayingEvent, PlayingAction]):
    """The game that this team plays; every method changes this object and its view.

    Attributes:
        view: what the player knows; None between games.
        stats: what each player has achieved, as far as it was announced.
        winners: who has won; none of an aborted game, None before it was announced.
    """

    def __init__(self, table: Table, outbox: Outbox, random: Random) -> None:
        super().__init__(PLAYING, PlayingState.NO_GAME)
        self.view: View | None = None
        self.stats: dict[str, m.PlayerStats] = {}
        self.winners: tuple[str, ...] | None = None
        self._table = table
        self._outbox = outbox
        self._random = random
        self._turn: m.TurnBegan | None = None
        self._deadline = 0.0
        self._begun: m.TurnContext | None = None  # the turn that the view is in
        self._due: float | None = None  # when to send the salvo again; None: not before the next tick

    def reseed(self, random: Random) -> None:
        """Use another source of randomness from now on."""
        self._random = random
        if self.view is not None:
            Feed(self.view).reseed(random)

    # --- the player ---------------------------------------------------------------------------------------------

    def fire(self, shots: Sequence[Shot]) -> None:
        """Fire shots of the current turn.

        Raises:
            IllegalCommand: ``wrong_state``: there is no game.
        """
        view = self._playing()
        self._send_on(view, shots)
        view.shots -= len(shots)
        self._due = None
        self.take(PlayingEvent.FIRED)

    def skip(self) -> None:
        """Give up the shots that are left.

        Raises:
            IllegalCommand: ``wrong_state``: there is no game.
        """
        view = self._playing()
        view.shots = 0
        self._due = None
        self._outbox.skip(m.TurnContext(view.game, view.turn))
        self.take(PlayingEvent.SKIPPED)

    def _playing(self) -> View:
        if self.view is None:
            raise IllegalCommand("wrong_state", f"{self._table.team} plays no game; fire and skip answer SalvoWanted")
        return self.view

    # --- the news -----------------------------------------------------------------------------------------------

    def turn_began(self, turn: m.TurnBegan, now: float, fleet: Fleet | None) -> None:
        """Note a turn; :meth:`begin_turn` begins it."""
        last = self._turn
        if last is not None and (turn.game, turn.turn) < (last.game, last.turn):
            return
        self._turn, self._deadline = turn, now + (turn.deadline - turn.now) / 1000
        view, rules = self.view, self._table.rules
        if last is not None and (turn.game, turn.turn) == (last.game, last.turn):
            if view is not None:
                Feed(view).extend(self._deadline)  # repeated, or its time began again
            return
        known, team, players = view is not None and view.game == turn.game, self._table.team, self._table.players
        if not known and fleet is not None and rules is not None and team in players:
            self.view = View(rules, team, players, turn.game, fleet, self._random)
            self.take(PlayingEvent.TAKEN_UP)

    def begin_turn(self) -> list[Event]:
        """Begin the last turn that was announced, once: ask the player for the shots that it has not fired yet."""
        turn, view = self._turn, self.view
        if turn is None or view is None or view.game != turn.game:
            return []
        occasion = m.TurnContext(turn.game, turn.turn)
        if self._begun == occasion or view.resolved_turn >= turn.turn:
            return []
        self._begun = occasion
        left = turn.shots - len(view.fired_this_turn) if turn.player == self._table.team else 0
        self._put_in_turn(view, turn, left)
        return self.take(PlayingEvent.OWN_TURN if left else PlayingEvent.OTHERS_TURN)

    def _put_in_turn(self, view: View, turn: m.TurnBegan, left: int) -> None:
        Feed(view).begin_turn(turn.turn, left, self._deadline)
        view.limited_by = "bank_empty" if turn.deadline - turn.now < self._table.turn_ms else "turn_timeout"

    def landed(self, x: int, y: int) -> None:
        """Note a shot at the own board."""
        if self.view is not None:
            Feed(self.view).landed(Shot(self._table.team, x, y))

    def resolved(self, result: m.SalvoResolved) -> list[Event]:
        """Apply a result to the view, once."""
        view = self.view
        if view is None or result.game != view.game or result.turn <= view.resolved_turn:
            return []
        Feed(view).resolved(result)
        if self._turn is None or result.turn >= self._turn.turn:
            self.take(PlayingEvent.RESOLVED)
        return [SalvoHeard(result)]

    def reveal(self, player: str, ships: tuple[Placement, ...]) -> None:
        """Note a fleet that is shown at the end."""
        if self.view is not None and player in self.view.players:
            with contextlib.suppress(
                IllegalCommand
            ):  # from another game: a broker that was killed may have retained it
                self.view.revealed[player] = Fleet(self.view.rules, ships)

    def end(self) -> list[Event]:
        """Report how the game ended, once everything about its end is there.

        After a broker was killed, state, winner and statistics come in any order, and some may belong to another game:
        they count only if they agree with the view.
        """
        view = self.view
        if view is None or self.winners is None or (self.winners and {*view.winners} != {*self.winners}):
            return []
        if not self.winners and self.stats.keys() - view.players:
            return []  # the view was begun with an old list of players; a recap has the whole one
        return self.take(PlayingEvent.ENDED) if self.stats.keys() >= set(view.players) else []

    # --- time and recaps ----------------------------------------------------------------------------------------

    def tick(self, now: float, *, may_send: bool) -> None:
        """Let time pass.

        Args:
            may_send: whether the server is there, and no recap is awaited.
        """
        turn, due = self._turn, self._due
        if turn is None or not may_send or now >= self._deadline:
            self._due = None
        elif due is None or now > due:
            self._due = now + min(PATIENCE_SECONDS, PATIENCE_SHARE * (turn.deadline - turn.now) / 1000)
            if due is not None:
                self.take(PlayingEvent.NO_RESULT)

    def take_up(self, recap: m.Recap, rules: RuleBook, fleet: Fleet, *, awaited: bool) -> None:
        """Continue where the server has the game."""
        known = self.view
        view = self.view = self._rebuild(recap, rules, fleet)
        if known is None or known.game != view.game:
            self._begun = None
            self.take(PlayingEvent.TAKEN_UP)
            return
        self._take_over_shots(known, view, awaited)
        view.untouched.continue_from(known.untouched)
        turn = self._turn
        if turn is None or self._begun != m.TurnContext(turn.game, turn.turn) or view.resolved_turn >= turn.turn:
            self.take(PlayingEvent.RESOLVED)
            return
        # The player may still be thinking: it is not asked again, and its answer stays valid.
        self._put_in_turn(view, turn, min(known.shots, turn.shots - len(view.fired_this_turn)))
        if awaited:
            self.take(PlayingEvent.RECALLED)

    def _take_over_shots(self, known: View, view: View, awaited: bool) -> None:
        """Take over shots on their way, which the recap lacks."""
        on_their_way = known.fired_this_turn[len(view.fired_this_turn) :]
        if known.turns_known != view.turns_known:
            return
        if awaited:
            # A broker that was killed may have lost them, or only the first, in which case the others were refused and
            # their nonces are used up. So they are signed again; game, turn and number prevent that one counts twice.
            self._send_on(view, on_their_way)
        else:
            # A second recap, requested before the first came: what it lacks is sent already.
            Feed(view).fired(on_their_way)

    def _rebuild(self, recap: m.Recap, rules: RuleBook, fleet: Fleet) -> View:
        view = View(rules, self._table.team, self._table.players, recap.game, fleet, self._random)
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
            feed.landed(Shot(self._table.team, x, y))
        view.turn = recap.turn
        return view

    # --- messages -----------------------------------------------------------------------------------------------

    def _send_on(self, view: View, shots: Sequence[Shot]) -> None:
        """Send shots after those of this turn that the view has as fired, and add them to the view."""
        self._send(view, shots, len(view.fired_this_turn) + 1)
        Feed(view).fired(shots)

    def _send(self, view: View, shots: Sequence[Shot], first: int) -> None:
        for number, shot in enumerate(shots, start=first):
            context = m.ShotContext(view.game, view.turn, number, shot.player)
            self._outbox.fire(context, shot)

    # --- actions ------------------------------------------------------------------------------------------------

    def _ask_player(self, now: float) -> list[Event]:
        return [] if self.view is None else [SalvoWanted(self.view)]

    def _send_shots_again(self, now: float) -> None:
        if self.view is not None:
            self._send(self.view, self.view.fired_this_turn, 1)

    def _send_skip_again(self, now: float) -> None:
        if self._begun is not None:
            self._outbox.skip(self._begun)

    def _send_all_again(self, now: float) -> None:
        self._send_shots_again(now)
        self._send_skip_again(now)

    def _report_end(self, now: float) -> list[Event]:
        if self.view is None:
            return []
        winners = self.winners or ()
        winner = winners[0] if len(winners) == 1 else ""
        stats = {player: self.stats[player] for player in self.view.players}
        return [GameEnded(self.view.game, winner, stats, aborted=not self.winners)]

    def _forget(self, now: float) -> None:
        self.view = self._turn = self._begun = None
        self.stats, self.winners = {}, None

    DOES: ClassVar[Does] = {
        PlayingAction.ASK_PLAYER: _ask_player,
        PlayingAction.SEND_SHOTS: _send_shots_again,
        PlayingAction.SEND_SKIP: _send_skip_again,
        PlayingAction.SEND_SHOTS_AND_SKIP: _send_all_again,
        PlayingAction.REPORT_END: _report_end,
        PlayingAction.FORGET: _forget,
    }
