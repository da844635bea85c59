"""Where a gateway plays games against programs that hide their fleet: one at a time."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from typing import NamedTuple

from salvo.bots.adapter import Adapter
from salvo.bots.player import Bot
from salvo.rules import Fleet, RuleBook
from salvo_gateways.asking import fleet_of, seated
from salvo_gateways.client_handler import ClientHandler
from salvo_gateways.hidden_fleet.game import HOUSE, NAMES, PROGRAM, HiddenGame
from salvo_gateways.transcripts import NO_TRANSCRIPTS, Transcripts


class PlacedFleet(NamedTuple):
    """The house's player of a game that is about to begin."""

    bot: Adapter
    fleet: Fleet
    number: int


class Room:
    """One program plays at a time; a game whose program has left waits until another program claims the room."""

    def __init__(self, book: RuleBook, bot: Callable[[], Bot], transcripts: Transcripts = NO_TRANSCRIPTS) -> None:
        """Open it.

        Args:
            bot: makes the house's player, a fresh one for every game.
        """
        self.book = book
        self._bot = bot
        self._transcripts = transcripts
        self._owner: ClientHandler | None = None
        self._former: ClientHandler | None = None
        self._lock = threading.Lock()

    # --- whose it is ------------------------------------------------------------------------------------------------

    def claim(self, client: ClientHandler) -> bool:
        """Give the room to a client that wants to begin; False while another one plays."""
        with self._lock:
            if self._owner not in (None, client):
                return False
            self._owner, self._former = client, None
            return True

    def take_up(self, client: ClientHandler) -> ClientHandler | None:
        """Give the room to a client that continues the game of one that has left, and return the one that has."""
        with self._lock:
            former = self._former
            if former is not None:
                self._owner, self._former = client, None
            return former

    def leave(self, client: ClientHandler, *, in_game: bool = False) -> None:
        """Free the room of a client, if it has it.

        Args:
            in_game: whether another connection may continue its game.
        """
        with self._lock:
            if self._owner is client:
                self._owner, self._former = None, client if in_game else None

    # --- what is played ---------------------------------------------------------------------------------------------

    def place(self, number: int = 1) -> PlacedFleet:
        """Let the house's player place its fleet for a game, which takes a person some time."""
        bot = seated(self._bot(), NAMES[HOUSE], secrets.token_hex(8), number)
        return PlacedFleet(bot, fleet_of(bot, self.book), number)

    def begin(self, placed: PlacedFleet | None = None, *, program_begins: bool = True) -> HiddenGame:
        """Begin a game."""
        bot, fleet, number = placed or self.place()
        seed = secrets.token_hex(8)
        return HiddenGame(self.book, bot, seed, program_begins=program_begins, fleet=fleet, number=number)

    def record(self, game: HiddenGame) -> None:
        """Write the transcript of a game that is over, if a fleet agrees with what the program has answered."""
        hidden = game.program_fleet
        if hidden is None:
            return
        fleets = {NAMES[PROGRAM]: hidden, NAMES[HOUSE]: game.fleet}
        first = PROGRAM if game.program_begins else HOUSE
        salvos = [(NAMES[move.side], [(NAMES[1 - move.side], move.cell)]) for move in game.moves]
        self._transcripts.write(game.book, fleets, salvos, first=NAMES[first])
