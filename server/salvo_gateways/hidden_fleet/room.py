"""Where a gateway plays games against programs that keep their fleet to themselves: one at a time.

The room outlives connections and, with its file, the gateway: a game that is on waits for its program to come back, and
one that is over waits until it was played again at the table.
"""

from __future__ import annotations

import json
import logging
import secrets
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

from salvo.adapter import Adapter
from salvo.atomic_file import replace_file
from salvo.errors import SalvoError
from salvo.player import Bot
from salvo.rules import Fleet, RuleBook
from salvo.topics import check_name
from salvo.user_folders import private_folder
from salvo_gateways.asking import fleet_of, seated
from salvo_gateways.hidden_fleet.game import HOUSE, NAMES, UnseenGame
from salvo_gateways.hidden_fleet.reenact import both_sides_of, play_again
from salvo_gateways.table_watch import TableWatch
from salvo_server.settings import gateway_games_path

log = logging.getLogger(__name__)

#: Games that wait to be played again; with that many the room is busy.
MAX_WAITING: Final = 8
#: At playing a game again: another player may get in between.
_ATTEMPTS: Final = 3


class Placed(NamedTuple):
    """The house's player of a game that is about to begin."""

    bot: Adapter
    fleet: Fleet
    number: int


class Room:
    """One game at a time.

    Attributes:
        guest: the program's name at the table; followed by that of a further table, once the room is open.
        houses: the other side's, likewise; see :func:`~salvo_gateways.hidden_fleet.reenact.play_again`.
        finished: how many games were played again at the table.
    """

    def __init__(
        self,
        door: str,
        book: RuleBook,
        bot: Callable[[], Bot],
        guest: str,
        house_name: str | None = None,
        file: Path | None = None,
    ) -> None:
        """Prepare; :meth:`open` reads what was kept.

        Args:
            door: the protocol's name.
            bot: makes the house's player, a fresh one for every game.
            house_name: the other side's at the table; None for names on both sides of the guest's, which tables need
                whose players take turns at beginning.
            file: where games are kept; one for each table in the user's state when not given.
        """
        self._door = door
        self.book = book
        self._bot = bot
        self.guest = guest
        self.houses = ("", "")
        self._house_name = house_name
        self.finished = 0
        self._file = file
        self._owner: object | None = None
        self._game: UnseenGame | None = None
        self._notes: dict[str, Any] = {}
        self._waiting: list[UnseenGame] = []
        self._watch: TableWatch | None = None
        self._changed = threading.Condition()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._play_again, name="again", daemon=True)

    def open(self, watch: TableWatch) -> None:
        """Read what was kept and begin to play again what waits for it.

        Raises:
            WireError: ``bad_name``: a player's and the table's name are too long together.
        """
        self._watch = watch
        at_table = f"-{watch.table}" if watch.table else ""  # a user is at the broker once: each table has its names
        self.guest = check_name(f"{self.guest}{at_table}")
        if self._house_name is None:
            self.houses = both_sides_of(self.guest)
        else:
            self.houses = (check_name(f"{self._house_name}{at_table}"),) * 2
        self._file = self._file or gateway_games_path(self._door, watch.url, watch.table)
        self._read()
        self._thread.start()

    def close(self) -> None:
        """Stop; what is not done is kept."""
        with self._changed:
            self._stop.set()
            self._changed.notify_all()
        if self._thread.ident is not None:
            self._thread.join(10)

    # --- whose it is ------------------------------------------------------------------------------------------------

    def claim(self, owner: object) -> bool:
        """Give the room to a guest that wants to begin; an unfinished game whose program has left is forgotten."""
        with self._changed:
            if self._owner not in (None, owner) or len(self._waiting) >= MAX_WAITING:
                return False
            if self._game is not None and self._game.over:
                self._waiting.append(self._game)
                self._changed.notify_all()
            self._owner, self._game, self._notes = owner, None, {}
            self._keep()
        return True

    def place(self, number: int = 1) -> Placed:
        """Let the house's player place its fleet for a game, which takes a person some time."""
        bot = seated(self._bot(), NAMES[HOUSE], secrets.token_hex(8), number)
        return Placed(bot, fleet_of(bot, self.book), number)

    def begin(self, owner: object, *, guest_begins: bool = True, placed: Placed | None = None) -> UnseenGame:
        """Begin a game in the owner's room."""
        bot, fleet, number = placed or self.place()
        seed = secrets.token_hex(8)
        game = UnseenGame(self.book, bot, seed, guest_begins=guest_begins, fleet=fleet, number=number)
        with self._changed:
            assert self._owner is owner, "claim it first"
            self._game = game
            self._keep()
        return game

    def take_up(self, owner: object) -> tuple[UnseenGame | None, dict[str, Any]]:
        """Give the room to a guest that continues a game whose program has left; return game and notes."""
        with self._changed:
            if self._owner is not None or (self._game is None and not self._notes):
                return None, {}
            self._owner = owner
            return self._game, self._notes

    def note(self, owner: object, **notes: Any) -> None:
        """Keep what is not in the game itself, or the game after a move."""
        with self._changed:
            if self._owner is owner:
                self._notes |= notes
                self._keep()

    def leave(self, owner: object) -> None:
        """The owner has gone; its game stays until another guest takes it up or claims the room."""
        with self._changed:
            if self._owner is owner:
                self._owner = None

    def give_up(self, owner: object) -> None:
        """Forget the owner's game."""
        with self._changed:
            if self._owner is owner:
                self._owner, self._game, self._notes = None, None, {}
                self._keep()

    def finish(self, owner: object) -> None:
        """The owner's game is over and to be played again; the room is free."""
        with self._changed:
            if self._owner is owner and self._game is not None:
                self._waiting.append(self._game)
                self._owner, self._game, self._notes = None, None, {}
                self._keep()
                self._changed.notify_all()

    # --- playing again ----------------------------------------------------------------------------------------------

    def _play_again(self) -> None:
        assert self._watch is not None
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._waiting) or self._stop.is_set())
                if self._stop.is_set():
                    return
                game = self._waiting[0]
            try:
                for _ in range(_ATTEMPTS):
                    if play_again(self._watch, game, self.guest, self.houses, self._stop):
                        break
            except Exception:
                log.exception("a game could not be played again; it is given up")
            with self._changed:
                if self._stop.is_set():
                    return
                self._waiting.pop(0)
                self.finished += 1
                self._keep()
                self._changed.notify_all()

    # --- the file -----------------------------------------------------------------------------------------------------

    def _keep(self) -> None:
        """Write everything; a file that cannot be written costs the games' safety, not the games."""
        assert self._file is not None, "open it first"
        kept = {
            "playing": None if self._game is None else self._game.to_json(),
            "notes": self._notes,
            "waiting": [game.to_json() for game in self._waiting],
        }
        try:
            private_folder(self._file.parent)
            replace_file(self._file, json.dumps(kept).encode(), 0o600)
        except OSError as error:
            log.error("%s: %s; games are lost when the gateway ends", self._file, error.strerror)

    def _read(self) -> None:
        assert self._file is not None
        if not self._file.exists():
            return
        try:
            kept = json.loads(self._file.read_text("utf-8"))
            self._notes = dict(kept["notes"])
            self._waiting = [self._game_of(each) for each in kept["waiting"]]
            self._game = None if kept["playing"] is None else self._game_of(kept["playing"])
        except (OSError, SalvoError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            log.error("%s has no games of these rules: %s", self._file, error)
            self._notes, self._waiting, self._game = {}, [], None

    def _game_of(self, kept: dict[str, Any]) -> UnseenGame:
        return UnseenGame.from_json(self.book, self._bot(), secrets.token_hex(8), kept)
