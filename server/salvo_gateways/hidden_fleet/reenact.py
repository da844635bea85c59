"""A game that is over, played at the table: with the fleets that are known now, shot by shot."""

from __future__ import annotations

import logging
import threading
from typing import Final

from salvo.errors import WireError
from salvo.messages import SalvoResolved, State
from salvo.player import Answer, Bot
from salvo.rules import Fleet, RuleBook, Starter
from salvo.rules.game import set_starter
from salvo.topics import check_name
from salvo.view import Shot, View
from salvo_gateways.hidden_fleet.game import GUEST, HOUSE, Move, UnseenGame
from salvo_gateways.hidden_fleet.house_bot import Sitting
from salvo_gateways.hidden_fleet.replies import Word
from salvo_gateways.table_watch import TableWatch

log = logging.getLogger(__name__)

_LOOK_SECONDS: Final = 0.1


class _Player(Bot):
    """Fires what was fired.

    Attributes:
        heard: (seat, word) of every shot, as the table tells it.
    """

    def __init__(self, game: UnseenGame, seat: int, fleet: Fleet, names: tuple[str, str]) -> None:
        self._names = names
        self._seat = seat
        self._fleet = fleet
        self._moves = game.moves
        self.heard: list[tuple[int, Word]] = []

    def place_fleet(self, rules: RuleBook) -> Fleet:
        self.heard = []
        return self._fleet

    def choose_salvo(self, view: View) -> Answer:
        move = self._moves[view.turn - 1] if view.turn <= len(self._moves) else None
        if move is None or move.seat != self._seat or set(view.players) != set(self._names):
            return ()  # another game than was wanted; what came of it is compared when it is over
        return [Shot(self._names[1 - self._seat], *view.rules.grid.xy(move.cell))]

    def on_result(self, result: SalvoResolved) -> None:
        if result.player in self._names and result.shots:
            word = Word.SUNK if result.sunk else Word.HIT if result.hits else Word.MISS
            self.heard.append((self._names.index(result.player), word))


def both_sides_of(name: str) -> tuple[str, str]:
    """Return a name that comes before this one in the order of names, and one that comes behind it.

    Raises:
        WireError: ``bad_name``: the name is too long for that, or it is the first of all names.
    """
    before = [other for other in (f"bot-{name}", f"0-{name}", f"0--{name}") if other.lower() < name.lower()]
    behind = [other for other in (f"house-{name}", f"{name}-house") if other.lower() > name.lower()]
    if not before:
        raise WireError("bad_name", f"no name comes before {name!r}, as the other side's must")
    return check_name(before[0]), check_name(behind[0])


def play_again(watch: TableWatch, game: UnseenGame, guest: str, houses: tuple[str, str], stop: threading.Event) -> bool:
    """Wait for a lobby, play the game there, and return whether it came out as it was.

    Args:
        guest: the program's name at the table.
        houses: two names for the other side, of which the first comes before ``guest`` in the order of names and the
            second behind it: where players take turns at beginning, the order of names says whose turn it is
            (SALVO-BOOK-10).
        stop: gives it up.
    """
    while not stop.is_set():
        names = _names_now(watch, game, guest, houses)
        if names is not None:
            return _sit(watch, game, names, stop)
        stop.wait(_LOOK_SECONDS)
    return False


def _names_now(watch: TableWatch, game: UnseenGame, guest: str, houses: tuple[str, str]) -> tuple[str, str] | None:
    """Return the names with which the right one begins; None while there is no lobby, or others are in it."""
    news = watch.news
    if news.state is not State.LOBBY or news.server is None or news.rules is None:
        return None
    if set(news.players) - {guest, *houses}:
        return None
    starter = GUEST if game.guest_begins else HOUSE
    for name in houses:
        names = (guest, name)
        if news.rules.book.starter is Starter.FIRST or set_starter(news.rules.book, news.server.game, names) == starter:
            return names
    return None


def _sit(watch: TableWatch, game: UnseenGame, names: tuple[str, str], stop: threading.Event) -> bool:
    players = [_Player(game, GUEST, game.guest_fleet, names), _Player(game, HOUSE, game.fleet, names)]
    sittings = [Sitting(watch, name, player, stop) for name, player in zip(names, players, strict=True)]
    first = GUEST if game.guest_begins else HOUSE
    sittings[first].start()
    while not stop.is_set() and not sittings[first].ended.is_set() and not sittings[first].placed.wait(_LOOK_SECONDS):
        pass
    sittings[1 - first].start()  # the first in play order begins, where no other rule says so
    for sitting in sittings:
        sitting.join()
    told = [(move.seat, move.word) for move in game.moves]
    winner = names[GUEST if game.guest_won else HOUSE]
    heard = next((player.heard for player in players if player.heard == told), players[GUEST].heard)
    same = heard == told and winner in [sitting.winner for sitting in sittings]
    if not same and not stop.is_set():
        log.error("a game of %s came out otherwise at the table%s", names[GUEST], _difference(game.moves, heard))
    return same


def _difference(moves: list[Move], heard: list[tuple[int, Word]]) -> str:
    for number, (move, (seat, word)) in enumerate(zip(moves, heard, strict=False), start=1):
        if (move.seat, move.word) != (seat, word):
            return f": shot {number} was {move.word}, and is {word}"
    return f": {len(heard)} of {len(moves)} shots were fired"
