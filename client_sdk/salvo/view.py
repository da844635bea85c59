"""What one player may know of a game, and nothing else.

A :class:`View` starts from the player's own fleet and the list of players, and is fed with that player's news: its
turns, its own shots, the shots that landed on its board, the result of every salvo. Session and arena feed it in the
same way, so a bot cannot tell them apart.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import floor
from operator import is_
from random import Random
from typing import Final, NamedTuple

from salvo.errors import BotError, shown
from salvo.messages import Earlier, SalvoResolved, SunkShip, Tally
from salvo.rules import Announce, Ending, Fleet, Grid, RuleBook, Sinkings

#: Loaded on first use, so that a bot that shows nothing imports no drawing code.
_PICTURES: Final = "salvo_display.boards.views"


class Shot(NamedTuple):
    """A shot at a player's board: x = column and y = row, both from 1."""

    player: str
    x: int
    y: int


class OwnSalvo(NamedTuple):
    """One of the player's own salvos and its result, such as ``view.salvos[-1].result.hits``."""

    turn: int
    shots: tuple[Shot, ...]
    result: SalvoResolved


@lru_cache(maxsize=1024)
def board_shots(player: str, grid: Grid) -> tuple[Shot, ...]:
    """Return the shots at every cell of a player's board, in the order of the cells."""
    return tuple(Shot(player, *grid.xy(cell)) for cell in range(grid.size))


@lru_cache(maxsize=256)
def _shots_at_all(players: tuple[str, ...], grid: Grid) -> tuple[Shot, ...]:
    """The shots at every cell of these players' boards."""
    return tuple(chain.from_iterable([board_shots(player, grid) for player in players]))


def check_player(player: object, players: Collection[str]) -> None:
    """Make sure that one of the players has this name.

    Raises:
        BotError: ``unknown_player``.
    """
    if player not in players:
        raise BotError("unknown_player", f"no player {shown(player)}; the players are {', '.join(players)}")


#: Cards shuffled at a time, about five salvos: a bot that draws only once does not pay for a whole deck.
BATCH = 24


class Untouched(Collection[Shot]):
    """The cells of standing opponents that this player has not fired at yet, as shots, board by board.

    Simulations draw and fire all the time, so that is the cheapest: samples are dealt from a deck of cards, shuffled
    from the top only as far as needed, and shots that were fired as dealt are removed all at once. The boards are
    updated when they are read.
    """

    __slots__ = ("_all", "_deck", "_drawn", "_grid", "_known", "_left", "_players", "_random", "_spent", "_unshuffled")

    def __init__(self, players: Sequence[str], grid: Grid, random: Random, known: Collection[str] = ()) -> None:
        """Start with every cell of these players' boards.

        Args:
            known: all players of the table, if there are more.
        """
        self._known = known or tuple(players)
        self._grid = grid
        self._players = list(players)  # those whose boards are left
        self._left: dict[str, dict[Shot, None]] | None = None  # created on first use
        self._all: tuple[Shot, ...] | None = _shots_at_all(tuple(players), grid)  # until a shot is taken out
        self._spent: list[Shot] = []  # discarded, but still in ``_left``
        self._random = random
        self._deck: list[Shot] | None = None
        self._unshuffled = 0  # how many cards at the bottom of the deck are not shuffled yet
        self._drawn = 0  # cards at the top that were shown and not discarded

    def __len__(self) -> int:
        return sum(map(len, self._boards().values()))

    def __iter__(self) -> Iterator[Shot]:
        return chain.from_iterable(self._boards().values())

    def __contains__(self, shot: object) -> bool:
        return isinstance(shot, tuple) and len(shot) == 3 and shot in self._boards().get(shot[0], ())

    def of(self, player: str) -> list[Shot]:
        """Return the shots at one player's board, none at your own or at that of a player who is out.

        Raises:
            BotError: ``unknown_player``: nobody at the table has this name.
        """
        check_player(player, self._known)
        return list(self._boards().get(player, ()))

    def sample(self, count: int) -> list[Shot]:
        """Return ``count`` different shots drawn with the bot's own randomness, or all of them if there are fewer."""
        deck = self._deck
        if deck is None or self._drawn:
            deck = self._gather()
        size = len(deck)
        rest = size - count if count < size else 0
        if rest < self._unshuffled:
            self._shuffle(deck, rest)
        self._drawn = size - rest
        return deck[rest:]

    def _gather(self) -> list[Shot]:
        """Rebuild the deck, with the cards that were shown and not fired, to be shuffled from scratch."""
        if self._deck is None:
            self._deck = list(self if self._all is None else self._all)
            self._all = None
        self._unshuffled = len(self._deck)
        return self._deck

    def _shuffle(self, deck: list[Shot], rest: int) -> None:
        """Continue the Fisher-Yates shuffle until at most ``rest`` cards are left unshuffled."""
        random = self._random.random
        top = min(self._unshuffled, len(deck))
        self._unshuffled = bottom = max(0, min(rest, top - BATCH))
        for place in range(top - 1, bottom - 1, -1):
            other = floor(random() * (place + 1))  # quicker than int() by half of this line
            deck[place], deck[other] = deck[other], deck[place]

    def discard_dealt(self, shots: list[Shot]) -> bool:
        """Take shots out if they are the very objects that were dealt last; none of a bot's own is compared."""
        deck, count = self._deck, len(shots)
        if not count or not deck or len(deck) < count or not all(map(is_, shots, deck[-count:])):
            return False
        self._spent += shots
        del deck[-count:]
        self._drawn -= count
        return True

    def discard(self, shots: list[Shot]) -> None:
        """Take shots out, wherever they are."""
        self._spent += shots
        deck, count = self._deck, len(shots)
        if deck and deck[-count:] == shots:
            del deck[-count:]
            self._drawn -= count
        elif count:
            self._deck = self._all = None

    def discard_those_left(self, shots: Iterable[Shot]) -> None:
        """Take out shots of other players that are still in; repeating that changes nothing, not even the deck."""
        fresh = [shot for shot in shots if shot in self]
        if fresh:
            self.discard(fresh)

    def restore(self, shots: Iterable[Shot]) -> None:
        """Put shots back that did not count."""
        boards = self._boards()
        for shot in shots:
            if shot.player in boards:
                boards[shot.player][shot] = None
                self._deck = None

    def discard_player(self, player: str) -> None:
        """Take out the whole board of a defeated player; repeating that changes nothing."""
        if player in self._players:
            self._players.remove(player)
            if self._left is not None:
                del self._left[player]
            self._deck = self._all = None

    def continue_from(self, former: Untouched) -> None:
        """Draw on as an earlier set of the same game would have, so that coming back does not change the game."""
        if self._boards() == former._boards():
            self._deck, self._unshuffled, self._drawn = former._deck, former._unshuffled, former._drawn

    def _boards(self) -> dict[str, dict[Shot, None]]:
        if self._left is None:
            self._left = {player: dict.fromkeys(board_shots(player, self._grid)) for player in self._players}
        left = self._left
        for shot in self._spent:
            if shot[0] in left:
                left[shot[0]].pop(shot, None)
        self._spent.clear()
        return left


_NO_TALLY = Tally(0, 0, 0)
#: A player's news of one salvo: its result, its shots if it was the player's own, those at the player's board.
SalvoNews = tuple[SalvoResolved, Sequence[Shot], Sequence[Shot]]


class View:
    """One player's knowledge of one game.

    Attributes:
        shots: how many to fire now; 0 in another player's turn.
        untouched: cells of opponents not fired at yet, as shots; if cells are announced, by any player.
            ``untouched.of(player)``, ``untouched.sample(count)``.
        fleet: your ships; ``fleet.board`` has one byte per cell, 0 for water, row by row.
        rules: the ruleset. ``rules.grid`` has ``width``, ``height``, ``at("B3")``, which is (3, 2), and
            ``name_at(3, 2)``, which is B3; ``rules.fleet`` the ships with ``name`` and ``length``.
        me: your name.
        players: all names in play order.
        game: the game's number at the table.
        turn: the number of the turn, from 1; 0 before the first.
        random: the only source of randomness to use; then the same seed gives the same game.
        limited_by: the code of the limit that ends your turn.
        revealed: all fleets by player, once the game is over, if the rules reveal them.
    """

    def __init__(
        self,
        rules: RuleBook,
        me: str,
        players: Sequence[str],
        game: int,
        fleet: Fleet,
        random: Random,
        news: Callable[[int], Iterable[SalvoNews]] | None = None,
    ) -> None:
        """Start before the first turn.

        Args:
            news: returns this player's news of the salvos from an index on, counted from 0. A view with ``news`` calls
                it only when it is read, and needs no :class:`Feed` for results and shots.
        """
        self.rules = rules
        self.me = me
        self.players = tuple(players)
        self.game = game
        self.turn = 0
        self.shots = 0
        self.fleet = fleet
        self.random = random
        rivals = tuple([player for player in self.players if player != me])
        self.untouched = Untouched(rivals, rules.grid, random, self.players)
        self._news = news
        self._opponents = rivals
        self._defeated: tuple[str, ...] = ()
        self._ships_afloat = dict.fromkeys(players, len(rules.fleet))
        self._sunk: dict[str, tuple[str, ...]] = dict.fromkeys(players, ())
        self._fired: list[Shot] = []
        self._landed: list[Shot] = []
        self._salvos: list[OwnSalvo] = []
        self._results: list[SalvoResolved] = []
        self._marks: dict[str, dict[tuple[int, int], bool]] = {}
        self.revealed: dict[str, Fleet] = {}
        self._untold: frozenset[Shot] = frozenset()  # own shots of salvos whose results are lost
        self._untold_turns = 0
        self._untold_tallies: Mapping[str, Tally] = {}
        self._deadline: float | None = None  # on the monotonic clock
        self.limited_by = "turn_timeout"

    @property
    def seconds_left(self) -> float | None:
        """Time left in your turn; None without a clock."""
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    @property
    def opponents(self) -> tuple[str, ...]:
        """The other players that are still in the game, in play order."""
        self._read_news()
        return self._opponents

    @property
    def defeated(self) -> tuple[str, ...]:
        """The players that are out, in the order of their defeat."""
        self._read_news()
        return self._defeated

    @property
    def ships_afloat(self) -> dict[str, int]:
        """How many ships are afloat, by player.

        Raises:
            BotError: ``not_told``: these rules do not reveal which ships sank.
        """
        self._check_sinkings()
        self._read_news()
        return self._ships_afloat

    @property
    def sunk(self) -> dict[str, tuple[str, ...]]:
        """Names of the ships sunk, by player.

        Raises:
            BotError: ``not_told``: these rules do not reveal which ships sank.
        """
        self._check_sinkings()
        self._read_news()
        return self._sunk

    @property
    def salvos(self) -> list[OwnSalvo]:
        """Your own salvos, each with its result; empty before your second turn."""
        self._read_news()
        return self._salvos

    @property
    def results(self) -> list[SalvoResolved]:
        """The results of all salvos of all players, in order.

        A team that came back late in a game of very many turns lacks the oldest ones (SALVO-JOIN-13), and its own
        salvos of that time; everything else here is still right.
        """
        self._read_news()
        return self._results

    @property
    def resolved_turn(self) -> int:
        """The last turn that has ended; 0 before the first has."""
        results = self.results
        return results[-1].turn if results else self._untold_turns

    @property
    def turns_known(self) -> int:
        """Number of turns whose result is known; fewer than have ended if one was missed."""
        return self._untold_turns + len(self.results)

    @property
    def incoming(self) -> list[tuple[int, int]]:
        """Cells of your board that were shot at, as (x, y), in order; of very many, the oldest appear only once."""
        self._read_news()
        return [(x, y) for _, x, y in self._landed]

    @property
    def fired_this_turn(self) -> tuple[Shot, ...]:
        """Your shots of this turn, whose result is not known yet, if you are asked again within it."""
        return tuple(self._fired)

    @property
    def points(self) -> dict[str, int]:
        """Points by player: a hit is one.

        Raises:
            BotError: ``not_told``: these rules have no points.
        """
        if self.rules.ending is not Ending.GOAL:
            raise self._not_announced("points", "view.results has the hits of every salvo")
        return {player: tally.hits for player, tally in self.tallies.items()}

    @property
    def tallies(self) -> dict[str, Tally]:
        """Turns, shots and hits by player."""
        tallies = {player: self._untold_tallies.get(player, _NO_TALLY) for player in self.players}
        for result in self.results:
            if result.player not in tallies:  # noise on an open broker
                continue
            turns, shots, hits = tallies[result.player]
            tallies[result.player] = Tally(turns + 1, shots + result.shots, hits + result.hits)
        return tallies

    @property
    def winners(self) -> tuple[str, ...]:
        """The winners: several after a tie, none while the game is running."""
        results, count = self.results, len(self.players)
        if self.rules.ending is Ending.GOAL:
            points, goal = self.points, self.rules.goal or 0
            unfired = count <= len(results) and not any(result.shots for result in results[-count:])
            ended = self.turns_known % count == 0 and (max(points.values()) >= goal or unfired)
            return tuple(name for name in self.players if ended and points[name] == max(points.values()))
        standing = [name for name in self.players if name not in self._defeated]
        if standing:
            return tuple(standing) if len(standing) == 1 else ()
        had: set[str] = set()  # a turn in the last round; players that fell in it were standing when it began
        for result in reversed(results):
            if result.player in had:
                break
            had.add(result.player)
        return tuple(name for name in self.players if name in had)

    def afloat(self, player: str) -> list[str]:
        """Return the names of the player's ships still afloat.

        Raises:
            BotError: ``not_told``: these rules do not reveal which ships sank; ``unknown_player``.
        """
        check_player(player, self.players)
        sunk = self.sunk[player]
        return [ship.name for ship in self.rules.fleet if ship.name not in sunk]

    def marks(self, player: str) -> dict[tuple[int, int], bool]:
        """Return the known shots at a board: for each cell (x, y), whether it was a hit.

        For your own board that is every shot; for others your shots, or all if cells are announced.

        Raises:
            BotError: ``not_told``: these rules only reveal the number of hits of a salvo; ``unknown_player``.
        """
        check_player(player, self.players)
        if player == self.me:
            occupied = {self.rules.grid.xy(cell) for cell in self.fleet.cells}
            return {cell: cell in occupied for cell in self.incoming}
        if self.rules.announce is Announce.COUNT:
            raise self._not_announced("which shot was a hit", "view.salvos has every own salvo with its number of hits")
        self._read_news()
        return dict(self._marks.get(player, {}))

    def __str__(self) -> str:
        """Return all boards as text, as far as this player knows them."""
        return str(importlib.import_module(_PICTURES).view_text(self))

    def _check_sinkings(self) -> None:
        if self.rules.sinkings is Sinkings.UNTOLD:
            instead = "view.marks(player) has the hits" if self.rules.announce is not Announce.COUNT else "count hits"
            raise self._not_announced("which ships sank", instead)

    def _not_announced(self, what: str, instead: str) -> BotError:
        return BotError("not_told", f"the rules {self.rules.name!r} do not reveal {what}; {instead}")

    def _read_news(self) -> None:
        if self._news is not None:
            for result, fired, landed in self._news(len(self._results)):
                self._landed += landed
                self._record(result, fired)

    def _record(self, result: SalvoResolved, fired: Sequence[Shot]) -> None:
        self._results.append(result)
        if result.player == self.me:
            counted = fired[: result.shots]
            if len(fired) > result.shots:
                self._take_back(fired[result.shots :], counted)
            self._salvos.append(OwnSalvo(result.turn, tuple(counted), result))
            fired = counted
        if result.outcomes_if_announced is not None:
            self._mark(result, fired)
        if result.sunk or result.defeated:
            self._note_losses(result.sunk, result.defeated)

    def _note_losses(self, sunk: Iterable[SunkShip], defeated: Iterable[str]) -> None:
        for ship in sunk:
            self._ships_afloat[ship.player] -= 1
            self._sunk[ship.player] += (ship.ship,)
        for player in defeated:
            self._defeated += (player,)
            self._opponents = tuple(other for other in self._opponents if other != player)
            self.untouched.discard_player(player)

    def _mark(self, result: SalvoResolved, fired: Sequence[Shot]) -> None:
        """Note where shots fell, as far as this player knows; a repeated shot announced as a miss undoes no hit."""
        announced = result.aims_if_announced
        aims = list(fired) if announced is None else [Shot(*aim) for aim in announced]
        if announced is None and result.player != self.me:
            return
        for (player, x, y), hit in zip(aims, result.outcomes, strict=False):
            marks = self._marks.setdefault(player, {})
            marks[x, y] = hit or marks.get((x, y), False)
        self.untouched.discard_those_left(aims)

    def _take_back(self, lost: Sequence[Shot], counted: Sequence[Shot]) -> None:
        """Forget the last shots of a salvo that came too late, or after the game was won: they did not count."""
        known = {shot for salvo in self._salvos for shot in salvo.shots}.union(counted, self._untold)
        marks = self._marks  # if cells are announced, others may have fired there, too
        self.untouched.restore(s for s in lost if s not in known and s[1:] not in marks.get(s.player, ()))


class Feed(NamedTuple):
    """What a session or an arena tells a view that has no ``news``; it is not the bot's business, so not the view's."""

    view: View

    def reseed(self, random: Random) -> None:
        """Draw from another source from now on."""
        self.view.random = random
        self.view.untouched._random = random

    def extend(self, deadline: float) -> None:
        """The turn's time started again; ``deadline`` is on the monotonic clock."""
        self.view._deadline = deadline

    def begin_turn(self, turn: int, shots: int, deadline: float | None = None) -> None:
        """A turn began; ``shots`` is 0 in another player's, ``deadline`` is on the monotonic clock."""
        self.view.turn = turn
        self.view.shots = shots
        self.view._deadline = deadline

    def fired(self, shots: Sequence[Shot]) -> None:
        """This player fired."""
        self.view._fired += shots
        self.view.untouched.discard(list(shots))

    def landed(self, shot: Shot) -> None:
        """A shot fell on the own board."""
        self.view._landed.append(shot)

    def summed_up(self, earlier: Earlier) -> None:
        """Start from a summary of the oldest turns, whose results are not available."""
        xy = self.view.rules.grid.xy
        self.view._untold_turns = earlier.turns
        self.view._untold = frozenset(Shot(name, *xy(cell)) for name, cells in earlier.aimed.items() for cell in cells)
        self.view.untouched.discard(list(self.view._untold))
        self.view._landed += [Shot(self.view.me, *xy(cell)) for cell in earlier.struck]
        self.view._untold_tallies = earlier.tallies
        if earlier.met is not None:
            for name, cells in earlier.aimed.items():
                met = set(earlier.met[name])
                self.view._marks[name] = {xy(cell): cell in met for cell in cells}
        self.view._note_losses(earlier.sunk, earlier.defeated)

    def resolved(self, result: SalvoResolved) -> None:
        """A salvo was announced."""
        self.view._record(result, self.view._fired)
        if result.player == self.view.me:
            self.end_turn()

    def end_turn(self) -> None:
        """The own turn is over."""
        self.view.shots = 0
        self.view._fired = []
