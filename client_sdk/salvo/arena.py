"""Bots against bots in this process, without a broker: thousands of games a second.

The engine is the one the referee uses, the draws come from the same seeds and the views are fed with the same news in
the same order, so a game here is the game that a contest with that seed would see.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from salvo.errors import BotError, IllegalCommand
from salvo.messages import PlayerStats, SalvoResolved, SunkShip
from salvo.player import Bot, check_salvo
from salvo.rules import SALVO, Fleet, Game, Grid, RuleBook, Salvo, draw_starter
from salvo.view import Shot, View, board_shots

#: Turns in a row without a shot that defeat a player, as in a contest by default (SALVO-TURN-6).
EMPTY_TURNS = 3

Listener = Callable[[Sequence[Shot], SalvoResolved], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game ended.

    Attributes:
        stats: by player, in play order.
        turns: salvos of all players together.
        fleets: by player.
    """

    winner: str
    seed: int | str
    game: int
    turns: int
    stats: dict[str, PlayerStats]
    fleets: dict[str, Fleet] = field(repr=False)

    @property
    def places(self) -> dict[str, int]:
        """Place by player, 1 for the winner, best first."""
        return dict(sorted(((name, s.place) for name, s in self.stats.items()), key=lambda pair: pair[1]))


@lru_cache(maxsize=64)
def _aims(players: tuple[str, ...], grid: Grid) -> dict[Shot, tuple[int, int]]:
    """(seat, cell) by shot."""
    return {
        shot: (seat, cell) for seat, player in enumerate(players) for cell, shot in enumerate(board_shots(player, grid))
    }


def play(
    bots: Mapping[str, Bot],
    *,
    seed: int | str = 0,
    game: int = 1,
    table: str = "",
    book: RuleBook = SALVO,
    listener: Listener | None = None,
) -> Outcome:
    """Play one game to its end.

    Args:
        bots: by name, in play order; two or more.
        seed: decides everything that is drawn.
        game: the game's number; games of one seed with different numbers differ.
        listener: called after every salvo with its shots and its result.

    Raises:
        BotError: a bot raised, placed an illegal fleet or answered with an illegal salvo; the text names the bot,
            the turn and the seed.
    """
    return _Match(bots, seed, game, table, book, listener).play()


class _Match:
    def __init__(
        self,
        bots: Mapping[str, Bot],
        seed: int | str,
        game: int,
        table: str,
        book: RuleBook,
        listener: Listener | None,
    ) -> None:
        if len(bots) < 2:
            raise BotError("too_few_players", f"{len(bots)} bots; a game has two or more")
        self._names = tuple(bots)
        self._bots = list(bots.values())
        self._seed = seed
        self._number = game
        self._book = book
        self._listener = listener
        self._aims = _aims(self._names, book.grid)
        self._silent = [0] * len(bots)
        self._hearing = [bot for bot in self._bots if type(bot).on_result is not Bot.on_result]
        fleets = [self._place(name, bot) for name, bot in bots.items()]
        starter = draw_starter(book, seed, table, game, len(fleets))
        self._game = Game(book, fleets, starter)
        self._views = [
            View(book, name, self._names, game, fleet, bot.random)
            for name, bot, fleet in zip(self._names, self._bots, fleets, strict=True)
        ]
        self._landed = {view.me: view.landed for view in self._views}

    def _place(self, name: str, bot: Bot) -> Fleet:
        bot.prepare(name, self._seed, self._number)
        try:
            fleet = bot.place_fleet(self._book)
        except BotError:
            raise
        except IllegalCommand as error:
            raise self._error(name, "bad_fleet", str(error)) from error
        except Exception as error:
            raise self._error(name, "bot_raised", f"place_fleet: {type(error).__name__}: {error}") from error
        if not isinstance(fleet, Fleet) or fleet.book != self._book:
            raise self._error(name, "bad_fleet", f"place_fleet returned {fleet!r:.80}, no fleet of these rules")
        return fleet

    def play(self) -> Outcome:
        game, silent = self._game, self._silent
        while not game.over:
            seat = game.current
            fired = self._turn(seat, self._views[seat])
            silent[seat] = 0 if fired else silent[seat] + 1
            if silent[seat] == EMPTY_TURNS:
                game.defeat(seat)
            self._tell(fired, game.end_turn())
        return self._outcome()

    def _turn(self, seat: int, view: View) -> Sequence[Shot]:
        """Ask until the shots of the turn are spent or the bot gives up the rest."""
        game, aims = self._game, self._aims
        fired: Sequence[Shot] = ()
        while game.shots_left and not game.over:
            view.begin_turn(game.turn, game.shots_left)
            shots = self._ask(seat, view)
            if not shots:
                break
            game.fire([aims[shot] for shot in shots])
            view.fired(shots)
            fired = [*fired, *shots] if fired else shots
        return fired

    def _ask(self, seat: int, view: View) -> Sequence[Shot]:
        """Return the bot's salvo; anything but a short list of known shots goes the long way round."""
        aims = self._aims
        try:
            answer: object = self._bots[seat].choose_salvo(view)
            if type(answer) is list and len(answer) <= view.shots:
                if list(map(type, answer)).count(Shot) == len(answer) and all(shot in aims for shot in answer):
                    return answer
            elif isinstance(answer, Awaitable):
                answer = asyncio.run(_awaited(answer))
        except Exception as error:
            raise self._error(view.me, "bot_raised", f"turn {view.turn}: {type(error).__name__}: {error}") from error
        try:
            return check_salvo(answer, view)
        except BotError as error:
            raise self._error(view.me, error.code, f"turn {view.turn}: {error.text}") from None

    def _tell(self, fired: Sequence[Shot], salvo: Salvo) -> None:
        """Feed every view with what its player is told, in the order of the publications."""
        names, landed = self._names, self._landed
        for shot in fired[: salvo.shots]:
            landed[shot[0]](shot)
        result = SalvoResolved(
            self._number,
            salvo.turn,
            names[salvo.seat],
            salvo.shots,
            salvo.hits,
            self._sunk(salvo) if salvo.sunk else (),
            tuple([names[seat] for seat in salvo.defeated]) if salvo.defeated else (),
            salvo.announced_outcomes(self._book),
        )
        for view in self._views:
            view.resolved(result)
        for bot in self._hearing:
            bot.on_result(result)
        if self._listener is not None:
            self._listener(fired, result)

    def _sunk(self, salvo: Salvo) -> tuple[SunkShip, ...]:
        fleet, names = self._book.fleet, self._names
        return tuple(SunkShip(names[seat], fleet[ship].name, fleet[ship].name) for seat, ship in salvo.sunk)

    def _outcome(self) -> Outcome:
        game, places = self._game, self._game.places()
        stats = {
            name: PlayerStats(name, tally.shots, tally.hits, tally.sank, tally.turns, place)
            for name, tally, place in zip(self._names, game.tally(), places, strict=True)
        }
        winner = self._names[places.index(1)]
        for bot in self._bots:
            bot.on_game_over(winner, stats)
        fleets = dict(zip(self._names, game.fleets, strict=True))
        return Outcome(winner, self._seed, self._number, game.turn, stats, fleets)

    def _error(self, name: str, code: str, text: str) -> BotError:
        return BotError(code, f"{name}, seed {self._seed}, game {self._number}: {text}")


async def _awaited(answer: Awaitable[Sequence[tuple[str, int, int]]]) -> Sequence[tuple[str, int, int]]:
    return await answer
