"""Calls a bot's methods, wherever it plays: with the arguments that the guide lists, and errors that all read alike.

What a method raises is a :class:`~salvo.errors.BotError` with the bot's own line and traceback; what is lost by it, and
how to repeat it, is for the caller to add. Any method may be ``async``.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from salvo import bot_surroundings
from salvo.bot_errors import described, place_of, placed, trace_of
from salvo.errors import BotError, IllegalCommand, let_signals_pass
from salvo.messages import PlayerStats, SalvoResolved
from salvo.player import Bot, check_salvo
from salvo.rules import Fleet, RuleBook
from salvo.view import Shot, View

if TYPE_CHECKING:
    import asyncio

log = logging.getLogger(__name__)


def made(kind: type[Bot]) -> Bot:
    """Return a bot of a class.

    Raises:
        BotError: ``bad_bot``.
    """
    bot_surroundings.watch()
    try:
        bot: Bot = bot_surroundings.call(kind.__module__, kind)
    except (Exception, SystemExit) as error:
        let_signals_pass(error)
        code = error.code if isinstance(error, BotError) else "bad_bot"
        raise BotError(code, described(error, kind), trace_of(error, kind)) from error
    return bot


@contextmanager
def closing(bot: Bot, name: str, report: Callable[[str], object] = log.warning) -> Iterator[Adapter]:
    """Close a bot after its last game; what goes wrong then is reported and not raised, since no game is lost by it.

    Args:
        name: what the bot is called.
    """
    adapter = Adapter(bot)
    try:
        yield adapter
    finally:
        try:
            adapter.close()
        except BotError as error:
            report(f"{error.code}: {placed(error.text, f'{name}, close')}; nothing is lost")


class _Described(BotError):
    """An error that has the bot's line already."""


class Adapter:
    """Calls one bot; :meth:`end` releases what ``async`` methods needed.

    Attributes:
        bot: the one that is called.
    """

    def __init__(self, bot: Bot) -> None:
        """Take a bot.

        Raises:
            BotError: ``bad_bot``: it is none, but perhaps its class.
        """
        if not isinstance(bot, Bot):
            name = getattr(bot, "__name__", "")
            raise BotError("bad_bot", f"{name or repr(bot)[:80]} is no bot; {name or 'a bot'}() makes one of its class")
        bot_surroundings.watch()
        self.bot = bot
        self._kind = type(bot)
        self._runner: asyncio.Runner | None = None

    @classmethod
    def of(cls, bot: Bot | Adapter) -> Adapter:
        """Return what calls a bot, which may be its adapter already.

        Raises:
            BotError: ``bad_bot``.
        """
        return bot if isinstance(bot, Adapter) else cls(bot)

    # --- its methods ------------------------------------------------------------------------------------------------

    def prepare(self, name: str, seed: int | str, game: int) -> None:
        """Give the bot a seat, with a name and randomness even if it overrides ``prepare`` and takes neither."""
        if self._kind.prepare is not Bot.prepare:
            Bot.prepare(self.bot, name, seed, game)
        self._call(self.bot.prepare, name, seed, game)

    def fleet(self, rules: RuleBook) -> Fleet:
        """Return the bot's fleet.

        Raises:
            BotError: ``bad_fleet``: it is illegal, or none of these rules.
        """
        try:
            fleet = self._call(self.bot.place_fleet, rules)
        except BotError as error:
            if isinstance(error.__cause__, IllegalCommand):
                raise _Described("bad_fleet", error.text, error.trace) from error.__cause__
            raise
        if not isinstance(fleet, Fleet) or (fleet.book is not rules and fleet.book != rules):
            at = place_of(self._kind, "place_fleet")
            raise _Described("bad_fleet", f"{at}returned {fleet!r:.80}, no fleet of these rules")
        return fleet

    def salvo(self, view: View) -> tuple[Shot, ...]:
        """Return the shots that the bot chooses.

        Raises:
            BotError: ``bad_salvo``: they are no salvo that it may fire.
        """
        return self.checked(self.choose(view), view)

    def choose(self, view: View) -> Any:
        """Return what the bot answers, which may be anything."""
        return self._call(self.bot.choose_salvo, view)

    def on_result(self, result: SalvoResolved) -> None:
        """Show the bot what came of a salvo."""
        self._call(self.bot.on_result, result)

    def on_game_over(self, winner: str | None, stats: Mapping[str, PlayerStats]) -> None:
        """Show the bot how a game ended."""
        self._call(self.bot.on_game_over, winner, stats)

    def on_message(self, sender: str, text: str, private: bool) -> None:
        """Show the bot a line of chat."""
        self._call(self.bot.on_message, sender, text, private)

    def close(self) -> None:
        """Let the bot release its resources, after its last game."""
        try:
            self._call(self.bot.close)
        finally:
            self.end()

    def end(self) -> None:
        """End what the bot's ``async`` methods have begun."""
        runner, self._runner = self._runner, None
        if runner is not None:
            _run(runner, runner.close)

    # --- what comes of them -----------------------------------------------------------------------------------------

    def settled(self, answer: Any) -> Any:
        """Return an answer, after running it to its end if it is awaitable, in the same loop as those before."""
        if not isinstance(answer, Awaitable):
            return answer
        import asyncio  # most bots never need it, and it takes 40 ms to import

        async def awaited() -> Any:
            return await answer

        runner = self._runner = self._runner or asyncio.Runner()
        try:
            return _run(runner, runner.run, awaited())
        except asyncio.CancelledError as error:
            text = "it awaits what was cancelled (asyncio.CancelledError)"
            raise RuntimeError(text).with_traceback(error.__traceback__) from error
        except BaseException as error:
            if not isinstance(error, Exception):
                self.end()  # what was interrupted shall not go on beside the next turn
            raise

    def checked(self, answer: Any, view: View) -> tuple[Shot, ...]:
        """Return an answer as shots.

        Raises:
            BotError: ``bad_salvo``: it is no salvo that the bot may fire.
        """
        try:
            return check_salvo(answer, view)
        except BotError as error:
            raise _Described(error.code, f"{place_of(self._kind)}{error.text}") from None
        except Exception as error:  # of a sequence of the bot's own make
            raise self.failure(error) from error

    def failure(self, error: BaseException) -> BotError:
        """Return what one of the bot's methods has raised as its error."""
        if isinstance(error, _Described):
            return error
        let_signals_pass(error)
        code = error.code if isinstance(error, BotError) else "bot_raised"
        return _Described(code, described(error, self._kind), trace_of(error, self._kind))

    def settle(self, seen: int) -> bool:
        """See to the surroundings after a method was called directly, and return whether it may be called so again."""
        bot_surroundings.settle(self._kind.__module__, seen)
        return not self.has_moved

    @property
    def has_moved(self) -> bool:
        """Whether the bot has changed its working directory, so that its methods cannot be called directly."""
        return bot_surroundings.has_moved(self._kind.__module__)

    def _call(self, method: Callable[..., Any], *given: Any) -> Any:
        try:
            return bot_surroundings.call(self._kind.__module__, self._settled, method, given)
        except (Exception, SystemExit) as error:
            raise self.failure(error) from error

    def _settled(self, method: Callable[..., Any], given: Sequence[Any]) -> Any:
        return self.settled(method(*given))


def _run(runner: asyncio.Runner, run: Callable[..., Any], *given: Any) -> Any:
    """Run a loop here, or in a thread if another one is running here: a notebook's, which waits for it."""
    import asyncio

    if asyncio._get_running_loop() is None:
        return run(*given)
    with ThreadPoolExecutor(1) as threads:
        future = threads.submit(run, *given)
        try:
            return future.result()
        finally:
            if not future.done():  # interrupted
                loop = runner.get_loop()
                loop.call_soon_threadsafe(lambda: [task.cancel() for task in asyncio.all_tasks(loop)])
