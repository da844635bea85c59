"""A bot as the program that plays against a JSON-lines server."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from salvo.bots.adapter import Adapter
from salvo.bots.player import Bot
from salvo.codec.strict_json import parse_json
from salvo.join.client import GameReport
from salvo.messages import PlayerStats
from salvo.rules import RuleBook
from salvo.rules.books.alternate import ALTERNATE
from salvo.rules.books.streak import STREAK
from salvo_gateways.asking import call
from salvo_gateways.bot_clients import BotClient, TryLater
from salvo_gateways.errors import GatewayError
from salvo_gateways.hidden_fleet.answers import ShotOutcome
from salvo_gateways.hidden_fleet.game import HOUSE, PROGRAM, HiddenGame, HiddenMove
from salvo_gateways.jsonline.protocol_text import DEEPEST, MAX_BYTES, RESULTS, Dialect, Status, Wording

#: What the server is called; the protocol has no names.
SERVER: Final = "server"


class JsonBotClient(BotClient):
    """One game.

    Two things differ among servers, and are learned from what a server refuses: how a cell is written, and whether a
    hit shoots again.
    """

    def __init__(
        self,
        bot: Bot | Adapter,
        name: str,
        seed: str,
        last: JsonBotClient | None = None,
        *,
        cells: Dialect = Dialect.TEXT,
    ) -> None:
        """Place the fleet.

        Args:
            seed: for this game alone.
            last: the game before on this server, which has learned how it differs.
            cells: how the first one is written.
        """
        self._bot = Adapter.of(bot)
        self._name = name
        self._seed = seed
        self._game: HiddenGame = self._begin(last._game.book if last else ALTERNATE)
        self._wording: Wording = last._wording if last else Wording(ALTERNATE, cells)
        self._notations = {self._wording.dialect}
        self._hung_up_on: list[Dialect] = list(last._hung_up_on) if last and last.report is None else []
        self._asked = ""

    @property
    def over(self) -> bool:
        return self._game.over

    def begin(self) -> Sequence[str]:
        """Ask for a game."""
        return [self._ask("GAME_INVITATION")]

    def receive(self, message: str) -> Sequence[str]:
        """Return the next request."""
        if self._asked == "BOARD":  # what the server makes of it changes nothing
            self.end()
            return []
        answer = parse_json(message.encode(), MAX_BYTES, DEEPEST)
        if not isinstance(answer, dict):
            raise GatewayError("refused_there", f"the server sends {message[:60]!r}, which is not an answer")
        if answer.get("status") not in (Status.OK, Status.OK.name):
            return self._refused(answer)
        body = answer.get("body")
        match self._asked:
            case "SHOT":
                self._game.program_answers(self._wording.read_result(body))
            case "SHOT_REQUEST":
                move = self._game.program_fires(self._wording.read_cell(body))
                return [self._ask("RESULT", RESULTS[move.outcome])]
        return [self._next()]

    def lessons(self) -> JsonBotClient | None:
        """Return this client once its connection has ended, for the next one to begin with what it has learned.

        None unless it has a report, or the server hung up instead of an answer to the first shot, as some do that
        write cells otherwise.
        """
        if self.report is None:
            if self._asked != "SHOT" or self._game.moves:
                return None
            self._hung_up_on.append(self._wording.dialect)
            self._write_otherwise()
        return self

    @property
    def is_hung_up_on(self) -> bool:
        """Whether the server hung up, instead of an answer to the first shot, since the last report."""
        return self.report is None and bool(self._hung_up_on)

    @property
    def dialect(self) -> Dialect:
        """How the next cell is written."""
        return self._wording.dialect

    @property
    def has_tried_all(self) -> bool:
        """Whether it hung up on a shot in each notation."""
        return {*self._hung_up_on} == {*Dialect}

    def advice(self, where: str) -> str:
        """Return what to do about a server that the first shot ends.

        Args:
            where: its HOST:PORT.
        """
        if self.has_tried_all:
            return "it ends at the first shot, written as row and column or as x and y"
        return f"it ended at the first shot; start it again, and join jsonline://{where}?cells={self.dialect}"

    def _write_otherwise(self) -> None:
        self._wording.dialect = Dialect.XY if self._wording.dialect is Dialect.TEXT else Dialect.TEXT
        self._notations.add(self._wording.dialect)

    def _begin(self, book: RuleBook, moves: Sequence[HiddenMove] = ()) -> HiddenGame:
        """Begin, and repeat what has happened."""
        game = HiddenGame(book, self._bot, self._seed, program_begins=False)
        game.repeat(moves)
        return game

    def _next(self) -> str:
        if self._game.over:
            return self._ask("BOARD", self._board())
        if self._game.houses_turn:
            return self._ask("SHOT", self._wording.write_cell(self._game.house_fires()))
        return self._ask("SHOT_REQUEST")

    def _board(self) -> Any:
        """Return the fleet in the dialect that the cells have."""
        if self._wording.dialect is Dialect.TEXT:
            return self._wording.write_board(self._game.fleet)
        return self._wording.write_ships(
            self._game.fleet, {move.cell for move in self._game.moves if move.side == PROGRAM}
        )

    def _refused(self, answer: dict[str, Any]) -> Sequence[str]:
        """Try it in the other way, if there is one."""
        status, moves = answer.get("status"), self._game.moves
        if self._asked == "GAME_INVITATION" and status in (Status.SERVER_BUSY, Status.SERVER_BUSY.name):
            raise TryLater("server_busy", "the server plays with another program")
        if self._asked == "SHOT" and not moves and len(self._notations) < len(Dialect):
            self._write_otherwise()
            return [self._next()]
        hit_last = bool(moves) and moves[-1].outcome is not ShotOutcome.MISS
        if self._asked in ("SHOT", "SHOT_REQUEST") and hit_last and self._game.book == ALTERNATE:
            self._game = self._begin(STREAK, moves)
            return [self._next()]
        why = f"{str(status)[:20]} {str(answer.get('message') or '')[:80]}"
        raise GatewayError("refused_there", f"the server refuses {self._asked}: {why.strip()}")

    def _ask(self, kind: str, body: Any = None) -> str:
        self._asked = kind
        return json.dumps({"type": kind, "body": body})

    def end(self) -> None:
        names = {HOUSE: self._name, PROGRAM: SERVER}
        winner = names[PROGRAM if self._game.program_won else HOUSE]
        stats = {}
        for side, name in names.items():
            outcomes = [move.outcome for move in self._game.moves if move.side == side]
            hits, sunk = sum(outcome is not ShotOutcome.MISS for outcome in outcomes), outcomes.count(ShotOutcome.SUNK)
            stats[name] = PlayerStats(name, len(outcomes), hits, sunk, len(outcomes), 1 if name == winner else 2)
        call(self._bot.on_game_over, winner, stats)
        self.report = GameReport(1, winner, stats[self._name].place, stats)
