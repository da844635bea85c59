"""A bot of the SDK as a program on standard streams: ``python -m salvo_lab.programs mybot.py`` (SALVO-EXEC).

With the same seed it plays the same game as the bot itself. So a bot can run in its own process, with limits that hold;
and this is a reference for the same in another language.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from contextlib import closing
from typing import IO

from salvo import messages as m
from salvo.bots.adapter import Adapter, made
from salvo.bots.errors import placed
from salvo.bots.player import Bot
from salvo.bots.programs.process import answers_apart
from salvo.bots.sources import load
from salvo.codec.program_lines import (
    Answer,
    EndTold,
    FleetAsked,
    GameTold,
    HeardBody,
    LineSaid,
    ResultTold,
    TurnAsked,
    read_from_lab,
    write_answer,
)
from salvo.codec.rules import check_playable
from salvo.errors import BotError, WireError
from salvo.rules import Fleet, RuleBook
from salvo.view import Feed, Shot, View


class _Game:
    """One game of a bot: the lines that it gets become its view."""

    def __init__(self, kind: type[Bot], first: GameTold) -> None:
        self._adapter = Adapter(made(kind))
        self._book = first.rules
        check_playable(self._book)
        self._number = first.game
        self._view: View | None = None
        self._adapter.prepare(first.me, first.seed_text, first.game)

    def fleet(self, asked: FleetAsked) -> Answer:
        fleet = tuple(map(m.ShipPlace.of, self._adapter.fleet(self._book).placements))
        return Answer(id=asked.id, fleet=fleet, say=self._new_lines(), stays=True)

    def turn(self, asked: TurnAsked) -> Answer:
        view = self._view
        if view is None:
            view = self._view = _new_view(self._adapter, self._book, asked)
        self._receive(asked.results, asked.heard)
        for x, y in asked.landed:
            Feed(view).landed(Shot(view.me, x, y))
        already = len(view.fired_this_turn)
        Feed(view).fired(asked.fired[already:])
        limit = asked.milliseconds
        Feed(view).begin_turn(asked.turn, asked.shots, None if limit is None else time.monotonic() + limit / 1000)
        shots = self._adapter.salvo(view)
        Feed(view).fired(shots)
        fired = tuple(shots) or None
        return Answer(id=asked.id, shots=fired, skip=None if fired else True, say=self._new_lines(), stays=True)

    def end(self, last: EndTold) -> None:
        self._receive(last.results, last.heard)
        stats = {name: m.PlayerStats(name, **item) for name, item in last.stats.items()}
        self._adapter.on_game_over("" if isinstance(last.winner, list) else last.winner, stats)

    def close(self) -> None:
        self._adapter.close()

    def _new_lines(self) -> tuple[LineSaid, ...]:
        """Return the bot's chat lines since the last call; what is not text is left out."""
        return tuple(LineSaid(text, to) for text, to in self._adapter.lines() if text is not None and to is not None)

    def _receive(self, results: Iterable[ResultTold], heard: Iterable[HeardBody]) -> None:
        for news in results:
            if self._view is not None:
                if news.fired is not None and not self._view.fired_this_turn:  # from before this process was started
                    Feed(self._view).fired(news.fired)
                Feed(self._view).resolved(news.result)
            self._adapter.on_result(news.result)
        for line in heard:
            self._adapter.on_message(line.sender, line.text, line.private)


def _new_view(bot: Adapter, book: RuleBook, asked: TurnAsked) -> View:
    fleet = Fleet(book, asked.fleet)
    return View(book, bot.name, asked.players, asked.game, fleet, bot.random)


class BotServer:
    """Answers lines with a new bot for every game, so that the process can stay (SALVO-EXEC-10)."""

    def __init__(self, kind: type[Bot]) -> None:
        self._kind = kind
        self._game: _Game | None = None

    def answer(self, line: bytes, out: IO[bytes]) -> None:
        """Handle a line, and write the answer if it needs one.

        Raises:
            BotError: the bot fails.
            WireError: it is not a line of this protocol.
        """
        line_read = read_from_lab(line)
        where = {GameTold: "prepare", EndTold: "on_game_over", FleetAsked: "place_fleet"}.get(type(line_read), "turn")
        try:
            self._answer(line_read, out)
        except BotError as error:
            raise BotError(error.code, placed(error.text, where), error.trace) from error.__cause__

    def _answer(self, line_read: GameTold | FleetAsked | TurnAsked | EndTold, out: IO[bytes]) -> None:
        if isinstance(line_read, GameTold):
            self.close()
            self._game = _Game(self._kind, line_read)
            return
        if self._game is None:
            raise WireError("wrong_shape", f"{line_read.type}: the first line has the type game")
        if isinstance(line_read, EndTold):
            self._game.end(line_read)
            return
        answer = self._game.fleet(line_read) if isinstance(line_read, FleetAsked) else self._game.turn(line_read)
        out.write(write_answer(answer))
        out.flush()

    def close(self) -> None:
        """Let the bot of the last game release its resources."""
        game, self._game = self._game, None
        if game is not None:
            game.close()


def main() -> None:
    """Play the bot whose source is the only argument; whatever it prints goes to standard error."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m salvo_lab.programs BOT, where BOT is as in salvo play")
    try:
        with answers_apart() as out, closing(BotServer(load(sys.argv[1]))) as answering:
            for line in sys.stdin.buffer:
                answering.answer(line, out)
    except BotError as error:
        raise SystemExit(f"{error.trace}{error}") from None
