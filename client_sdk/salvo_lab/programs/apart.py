"""A bot in a process of its own, in which nobody else can be blamed for what happens.

Games are quick with all of their bots in one process. When that ends or hangs, it does not show whose doing it was: a
bot's thread may run while another bot is asked, and in a later game. So a game that such a process did not finish is
played again with each bot apart, and that is the result. Only a bot whose own process ends or hangs is at fault.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from typing import Any, ClassVar, Final, NamedTuple

from salvo.bots.adapter import Adapter, made, overrides
from salvo.bots.player import Bot
from salvo.bots.programs.keeper import how_it_ended
from salvo.bots.sources import load
from salvo.errors import BotError
from salvo.messages import PlayerStats, SalvoResolved
from salvo.rules import Fleet, RuleBook
from salvo.view import Feed, Shot, View
from salvo_lab.loaded_code import LoadedCode
from salvo_lab.programs.worker_process import LOOK_SECONDS, WorkerProcess

#: The beginning of the text of an error.
ENDED: Final = "ended the process"


class Lost(BotError):
    """The bot's process has ended or hangs: ``bot_crashed`` or ``bot_hangs``."""


class _News(NamedTuple):
    """What a view has that the bot's own does not have yet."""

    results: Sequence[SalvoResolved] = ()
    landed: Sequence[tuple[int, int]] = ()


class _Reply(NamedTuple):
    """What came of a call: its value, or an error's code, text and trace.

    Attributes:
        lines: as :meth:`salvo.bots.adapter.Adapter.lines`.
        code: as :meth:`salvo_lab.loaded_code.LoadedCode.fresh`.
    """

    value: Any = None
    error: tuple[str, str, str] | None = None
    lines: Sequence[tuple[Any, Any]] = ()
    code: Mapping[str, str] = {}


class Apart(Bot):
    """A bot whose methods run in its own process; :func:`apart` makes a class of each.

    Attributes:
        process: has one bot at a time.
        listens: whether the bot wants to learn the results of salvos.
        draws_fleet: whether it leaves its fleet to chance.
        code: digests of the files that it has loaded so far.
    """

    process: ClassVar[WorkerProcess]
    listens: ClassVar[bool]
    draws_fleet: ClassVar[bool]
    code: ClassVar[dict[str, str]]
    _seconds: ClassVar[float]
    _waiting: Callable[[], object]

    def __init__(self) -> None:
        self._view: View | None = None
        self._results = self._landed = 0
        self._call("make")

    def prepare(self, name: str, seed: int | str, game: int = 1) -> None:
        super().prepare(name, seed, game)
        self._call("prepare", name, seed, game)

    def place_fleet(self, rules: RuleBook) -> Fleet:
        fleet: Fleet = self._call("fleet", rules)
        return fleet

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        if self._view is None:
            self._view = view
            self._call("sit", view.rules, view.players, view.game, view.fleet)
        shots: Sequence[Shot] = self._call("choose_salvo", view.turn, view.shots)
        return shots

    def on_result(self, result: SalvoResolved) -> None:
        if self.listens:
            self._call("on_result", result)

    def on_message(self, sender: str, text: str, private: bool) -> None:
        self._call("on_message", sender, text, private)

    def on_game_over(self, winner: str | None, stats: Mapping[str, PlayerStats]) -> None:
        self._call("on_game_over", winner, dict(stats))

    def close(self) -> None:
        with suppress(Lost):
            self._call("close")

    def _call(self, method: str, *given: object) -> Any:
        """Return what a method of the bot returns.

        Raises:
            BotError: the bot's own; :class:`Lost`.
        """
        self.process.give((method, given, self._news()))
        reply = _reply(self.process, self._seconds, self._waiting)
        for text, to in reply.lines:
            self.say(text, to)
        self.code.update(reply.code)
        if reply.error is not None:
            raise BotError(*reply.error)
        return reply.value

    def _news(self) -> _News:
        if self._view is None:
            return _News()
        news = _News(self._view.results[self._results :], self._view.incoming[self._landed :])
        self._results += len(news.results)
        self._landed += len(news.landed)
        return news


@contextmanager
def apart(
    context: Any,
    source: str | type[Bot],
    *,
    load_seconds: float,
    seconds: float,
    strict: bool = True,
    others: Sequence[WorkerProcess] = (),
    waiting: Callable[[], object] | None = None,
) -> Iterator[type[Apart]]:
    """Load a bot in a process of its own, which ends with the block.

    Args:
        context: how the process is started, from :func:`multiprocessing.get_context`.
        load_seconds: how long that may take.
        seconds: how long any of the bot's methods may take.
        strict: as in :func:`salvo.bots.sources.load`.
        others: as in :class:`WorkerProcess`.
        waiting: called about ten times a second; an exception from it ends the process.

    Raises:
        BotError: as :func:`salvo.bots.sources.load`; :class:`Lost`.
    """
    process = WorkerProcess(context, _serve, source, strict, others=others)
    try:
        process.tasks.append(None)
        loaded = _reply(process, load_seconds, waiting or _nothing)
        if loaded.error is not None:
            raise BotError(*loaded.error)
        members = {
            "process": process,
            "code": dict(loaded.code),
            "_seconds": seconds,
            "_waiting": staticmethod(waiting or _nothing),
        }
        # In a module without a file: an error from there has its line already.
        yield type("Apart", (Apart,), {**members, **loaded.value, "__module__": "builtins"})
    finally:
        process.dismiss()
        process.kill()


def _nothing() -> None:
    pass


def _reply(process: WorkerProcess, seconds: float, waiting: Callable[[], object]) -> _Reply:
    end = time.monotonic() + seconds
    while not (process.pipe.closed or wait([process.pipe, process.sentinel], min(LOOK_SECONDS, seconds))):
        waiting()
        if process.has_ended:
            break
        if time.monotonic() >= end:
            process.kill()
            raise Lost("bot_hangs", f"did not answer within {seconds:g} s")
    try:
        if process.pipe.closed or not process.pipe.poll():  # something that it has started holds the other end
            raise EOFError
        reply: _Reply = process.receive()
    except EOFError:
        raise Lost("bot_crashed", f"{ENDED}: {how_it_ended(process.kill())}") from None
    return reply


# --- in the process -------------------------------------------------------------------------------------------------


def _serve(pipe: Connection, source: str | type[Bot], strict: bool) -> None:
    base = os.getcwd()
    try:
        kind = load(source, strict=strict) if isinstance(source, str) else source
    except BotError as error:
        pipe.send(_Reply(error=(error.code, error.text, error.trace)))
        return
    code = LoadedCode([source] if isinstance(source, str) else [], base)
    loaded = _Reply({"listens": overrides(kind, "on_result"), "draws_fleet": not overrides(kind, "place_fleet")})
    pipe.send(loaded._replace(code=code.fresh()))
    seat = _BotSeat(kind)
    try:
        while True:
            pipe.send(seat.answer(*pipe.recv())._replace(code=code.fresh()))
    except (EOFError, OSError):
        os._exit(0)  # without waiting for the bot's threads


class _BotSeat:
    """The bot, and its view, which has the same news as the one that the game has."""

    def __init__(self, kind: type[Bot]) -> None:
        self._kind = kind
        self._adapter = Adapter(Bot())
        self._view: View | None = None

    def answer(self, method: str, given: Sequence[Any], news: _News) -> _Reply:
        """Carry out a call."""
        value, error = None, None
        try:
            self._read(news)
            value = getattr(self if hasattr(self, method) else self._adapter, method)(*given)
        except BotError as raised:
            error = (raised.code, raised.text, raised.trace)
        return _Reply(value, error, self._adapter.lines())

    def make(self) -> None:
        """Have a new bot from now on."""
        self._view = None
        self._adapter.end()
        self._adapter = Adapter(made(self._kind))

    def sit(self, rules: RuleBook, players: Sequence[str], game: int, fleet: Fleet) -> None:
        """Learn who plays, before the first turn."""
        self._view = View(rules, self._adapter.name, players, game, fleet, self._adapter.random)

    def choose_salvo(self, turn: int, shots: int) -> Sequence[Shot]:
        """Return the bot's salvo."""
        assert self._view is not None
        feed = Feed(self._view)
        feed.begin_turn(turn, shots)
        salvo = self._adapter.salvo(self._view)
        feed.fired(salvo)
        return salvo

    def _read(self, news: _News) -> None:
        if self._view is None:
            return
        for x, y in news.landed:
            Feed(self._view).landed(Shot(self._view.me, x, y))
        for result in news.results:
            Feed(self._view).resolved(result)
