"""A person in place of a gateway's bot, at the gateway's terminal or at a browser."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from threading import Event
from typing import Final

from salvo.bots.player import Answer, Bot
from salvo.messages import SalvoResolved
from salvo.rules import Fleet, RuleBook
from salvo.view import View
from salvo_display.opener import opener
from salvo_lab.human.channel import Again, Channel, GameOver, LinkState, Notice, PersonLeft
from salvo_lab.human.places.in_process import Human
from salvo_lab.human.skins import skin

#: Whose part it is to restart, in the words of the title.
LEADER: Final = "server"


class GatewayPlace:
    """Where a person sits opposite of programs that come and go."""

    def __init__(self, role: str, *, browser: bool) -> None:
        """Take the place.

        Args:
            role: what the person's side is connecting as, in the words of the title.
            browser: whether the person plays on a page instead of at the terminal.

        Raises:
            SalvoError: ``no_terminal`` or ``missing_extra``.
        """
        self._sit_down = skin(opener() if browser else None)
        self._desk = Channel()
        self._role = role

    def player(self) -> Bot:
        """Return the person's player for one game."""
        return _Player(self._desk, leads=self._role == LEADER)

    def restarts(self) -> bool:
        """Whether the person, who leads, has asked for another game since it was asked last."""
        with _ending_the_thread():
            return any(isinstance(answer, Again) for answer in self._desk.answers())

    def is_alone(self) -> None:
        """Show that no program is connected."""
        self._desk.show(LinkState(f"Connecting as {self._role}"))

    def serve(self, serve: Callable[[Event, Callable[[str], object]], None]) -> None:
        """Show the game until the person leaves.

        Args:
            serve: serves programs until an event is set, which the person does that leaves; may say something to it.
        """
        self.is_alone()
        self._sit_down(self._desk, lambda: serve(self._desk.left, lambda line: self._desk.show(Notice(line))))


class _ThreadEnds(SystemExit):
    """Ends a program's thread without a word, and is not an error of a bot."""


@contextlib.contextmanager
def _ending_the_thread() -> Iterator[None]:
    """End a program's thread when the person leaves."""
    try:
        yield
    except PersonLeft:
        raise _ThreadEnds from None


class _Player(Human):
    """Asks the person at the desk, and shows it the end of its game."""

    def __init__(self, desk: Channel, *, leads: bool) -> None:
        super().__init__(desk)
        self._leads = leads

    def place_fleet(self, rules: RuleBook) -> Fleet:
        """Ask for a fleet: somebody has come to play."""
        self._desk.show(LinkState(""))
        with _ending_the_thread():
            return super().place_fleet(rules)

    def choose_salvo(self, view: View) -> Answer:
        """Ask for a shot."""
        with _ending_the_thread():
            return super().choose_salvo(view)

    def on_result(self, result: SalvoResolved) -> None:
        """Show the result of a shot; in a game of two, one that defeats a player ends it."""
        super().on_result(result)
        if result.defeated and self._view is not None:
            places = {name: 1 + (name in result.defeated) for name in self._view.players}
            winner = next(name for name, place in places.items() if place == 1)
            self._desk.show(GameOver(self._view.game, winner, places, again=self._leads))
