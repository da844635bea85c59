"""A person against bots in this process."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from salvo.bots.player import Answer, Bot
from salvo.messages import SalvoResolved
from salvo.rules import Fleet, RuleBook
from salvo.view import View
from salvo_lab.arena import Outcome
from salvo_lab.human.channel import Again, Channel, FiredSalvo, GameOver, Notice, PlaceFleet, Seen
from salvo_lab.human.snapshot import Snapshot, result_words


class Human(Bot):
    """Takes a bot's place in the arena; asks the person at the desk."""

    def __init__(self, desk: Channel) -> None:
        self._desk = desk
        self._game = 1
        self._view: View | None = None
        self._unheard: list[SalvoResolved] = []

    def prepare(self, name: str, seed: int | str, game: int = 1) -> None:
        """Take a seat."""
        super().prepare(name, seed, game)
        self._game, self._view, self._unheard = game, None, []

    def place_fleet(self, rules: RuleBook) -> Fleet:
        """Ask for a fleet."""
        self._desk.show(PlaceFleet(rules, self.name, self._game, Random(self.random.random())))
        return self._desk.wait(Fleet)

    def choose_salvo(self, view: View) -> Answer:
        """Ask for shots."""
        self._view = view
        self._show_results()
        self._desk.show(Seen(Snapshot.of(view)))
        return self._desk.wait(FiredSalvo).shots

    def on_result(self, result: SalvoResolved) -> None:
        """Show the result of a salvo, and with the first one what happened before the player's first turn."""
        self._unheard.append(result)
        if self._view is not None:
            self._show_results()
            self._desk.show(Seen(Snapshot.of(self._view)))

    def _show_results(self) -> None:
        assert self._view is not None
        unheard, self._unheard = self._unheard, []
        for result in unheard:
            self._desk.show(Notice(result_words(result, self._view), result.player, result.turn))


def play_here(
    desk: Channel,
    sit_down: Callable[[Channel, Callable[[], None]], None],
    play_one: Callable[[int], Outcome],
    replayed_by: Callable[[Outcome], tuple[str, Callable[[], str] | None]],
    first: int,
    *,
    again: bool = True,
) -> list[Outcome]:
    """Let a person play at a table with bots until it leaves.

    Args:
        sit_down: lets the person see and answer while games are played.
        play_one: plays the game of a number; one of its bots is a :class:`Human` at this desk.
        replayed_by: returns the command that replays a game, and what makes the page that does.
        first: number of the first game; the next one has the next number, so the starter alternates where the rules
            have that.
        again: whether more than one game may be played.

    Returns:
        How the games came out that were played to their end.

    Raises:
        KeyboardInterrupt: the person pressed Ctrl-C.
        BotError: a bot failed.
    """
    outcomes: list[Outcome] = []

    def play() -> None:
        number = first
        while True:
            outcome = play_one(number)
            outcomes.append(outcome)
            command, page = replayed_by(outcome)
            desk.show(
                GameOver(number, outcome.winner, outcome.places, outcome.fleets, again, command=command, page=page)
            )
            desk.wait(Again)
            number += 1

    sit_down(desk, play)
    return outcomes
