"""What each player knew, salvo by salvo, and what the salvo gained: a game's replay with the laboratory's eyes.

A player's view is fed as for its frames (:class:`PlayerOnlooker`), and is all that an explanation is made of.
"""

from __future__ import annotations

from collections.abc import Callable

from salvo import messages as m
from salvo.codec.header import Header
from salvo.rules import Order
from salvo.view import Shot
from salvo_display.boards.marks import Mark
from salvo_display.replay import REFEREE, PlayerOnlooker, Replay, ReplayError
from salvo_lab.explaining.explain import Explainer, Explanation, Outlook


class Explained(PlayerOnlooker):
    """Explains one player's salvos.

    Attributes:
        explanations: in order.
    """

    def __init__(
        self, header: Header, me: str, explainer: Explainer, turn: int | None, tick: Callable[[], None]
    ) -> None:
        """Explain one turn, or all of them.

        Args:
            tick: called after each.
        """
        super().__init__(header, me)
        self.explanations: list[Explanation] = []
        self._explainer = explainer
        self._turn = turn
        self._tick = tick
        self._outlooks: dict[int, Outlook] = {}

    def _turn_began(self, turn: m.TurnBegan) -> None:
        super()._turn_began(turn)
        if turn.player == self._me and self._turn in (None, turn.turn) and turn.turn not in self._outlooks:
            assert self._view is not None
            self._outlooks[turn.turn] = self._explainer.look(self._view)

    def take_fired(self, result: m.SalvoResolved) -> tuple[tuple[Shot, Mark], ...]:
        fired = super().take_fired(result)
        if result.player == self._me and result.turn in self._outlooks:
            assert self._view is not None
            shots, in_rounds = self._view.salvos[-1].shots, self.book.order is Order.ROUNDS
            over = bool(set(result.defeated) - {self._me} and self._view.winners) and not in_rounds
            self.explanations.append(self._outlooks.pop(result.turn).judge(shots, result, over=over))
            self._tick()
        return fired


def salvos_of(replay: Replay, turn: int | None) -> list[int]:
    """Return the turns to explain.

    Args:
        turn: only this one; None for all.

    Raises:
        ReplayError: ``not_begun`` or ``unknown_turn``.
    """
    replay.frame(REFEREE, 0)
    fired = [frame.turn for frame in replay.frames(REFEREE) if frame.result is not None]
    if turn is None:
        return fired
    if turn not in fired:
        there = f"the turns are 1 to {replay.turns}" if fired else "nobody has fired yet"
        raise ReplayError("unknown_turn", f"no turn {turn}; {there}")
    return [turn]


def explain(
    replay: Replay,
    explainer: Explainer,
    *,
    turn: int | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> list[Explanation]:
    """Return what there is to say of the salvos of a game, in their order.

    Args:
        progress: called with the number of those that are done.

    Raises:
        ReplayError: see :func:`salvos_of`.
    """
    turns = salvos_of(replay, turn)
    done = iter(range(1, len(turns) + 1))
    onlookers = {
        name: Explained(replay.header, name, explainer, turn, lambda: progress(next(done))) for name in replay.players
    }
    replay.show(onlookers)
    return sorted(
        (salvo for onlooker in onlookers.values() for salvo in onlooker.explanations), key=lambda salvo: salvo.turn
    )
