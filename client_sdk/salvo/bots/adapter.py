"""Call a bot's methods, wherever it plays, with the arguments that the guide lists, and describe its errors.

What a method raises is a :class:`~salvo.errors.BotError` with the bot's own line and traceback; what is lost by it, and
how to repeat it, is for the caller to add. Any method may be ``async``.

Nobody else touches a bot: what is read of it, and what it returns, comes from here as objects of no class of its own,
since each attribute, comparison or iteration may raise. Only the arena calls ``choose_salvo`` directly, and hands what
that raises to :meth:`Adapter.failure`.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from random import Random
from typing import TYPE_CHECKING, Any, Final, cast

from salvo.bots import surroundings
from salvo.bots.errors import Described, blame, module_of, place_of, placed
from salvo.bots.player import MAX_UNSAID, Bot, Line, check_salvo
from salvo.errors import BotError, IllegalCommand, let_interruptions_pass, plain, quietly, shown
from salvo.messages import PlayerStats, SalvoResolved
from salvo.rules import Fleet, RuleBook, generator
from salvo.view import Shot, View

if TYPE_CHECKING:
    import asyncio

log = logging.getLogger(__name__)

#: What is wrong with a line that is not text.
NO_TEXT: Final = "a line is a text for all, or for the player whose name is given"
#: What a bot draws from that has no seat yet.
_NONE: Final = Random(0)
#: What a bot has that its class has not, whatever that says of itself.
_OWN: Final = vars(Bot)["__dict__"].__get__


def made(kind: type[Bot]) -> Bot:
    """Return a bot of a class.

    Raises:
        BotError: ``bad_bot``.
    """
    surroundings.watch()
    try:
        return _checked_bot(surroundings.call(module_of(kind), kind))
    except BaseException as error:
        raise blame(error, kind, "bad_bot") from error


def _checked_bot(bot: object) -> Bot:
    """Return a bot.

    Raises:
        BotError: ``bad_bot``: it is none, but perhaps its class.
    """
    if not issubclass(type(bot), Bot):
        name = quietly(lambda: bot.__name__ if isinstance(bot, type) else "", "")
        raise BotError("bad_bot", f"{name or shown(bot)} is not a bot; {name or 'a bot'}() makes one of its class")
    return cast(Bot, bot)


def method(bot: Bot, name: str) -> Callable[..., Any]:
    """Return a method of a bot, which may be another one than its class has.

    Raises:
        BotError: it has none.
    """
    try:
        found: Callable[..., Any] = getattr(bot, name)
    except BaseException as error:
        raise blame(error, type(bot)) from error
    return found


def overrides(kind: type[Bot], name: str) -> bool:
    """Whether a class has a method of its own in place of what every bot has."""
    return quietly(lambda: getattr(kind, name), None) is not getattr(Bot, name)


def texts_of(line: Line) -> tuple[str | None, str | None]:
    """Return the text of a bot's line and to whom it goes; None for what is not text."""
    return quietly(lambda: plain(line.text), None), quietly(lambda: plain(line.to), None)


def replace(bot: Bot, name: str, value: object) -> None:
    """Give a bot another method or attribute than its class has, also where that refuses assignments.

    Raises:
        BotError: ``bad_bot``: its class has a property of this name.
    """
    try:
        object.__setattr__(bot, name, value)
    except AttributeError:
        text = f"{type(bot).__name__}.{name} must stay a method or attribute, as in salvo.Bot; give yours another name"
        raise BotError("bad_bot", text) from None


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


class Adapter:
    """Calls one bot; :meth:`end` releases what ``async`` methods needed.

    Attributes:
        bot: the one that is called.
        name: the one at the table.
        random: what the bot draws from.
    """

    def __init__(self, bot: Bot) -> None:
        """Take a bot.

        Raises:
            BotError: ``bad_bot``: it is none, but perhaps its class.
        """
        surroundings.watch()
        self.bot = _checked_bot(bot)
        self.name = ""
        self.random = _NONE
        self._kind = type(bot)
        self._module = module_of(self._kind)
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
        self.name = name
        try:
            if self.overrides("prepare"):
                self._guarded(Bot.prepare, self.bot, name, seed, game)
            self._call("prepare", name, seed, game)
        finally:
            random = quietly(lambda: self.bot.random, None)
            self.random = random if type(random) is Random else generator(seed, name, game)

    def fleet(self, rules: RuleBook) -> Fleet:
        """Return the bot's fleet.

        Raises:
            BotError: ``bad_fleet``: it is illegal, or none of these rules.
        """
        try:
            fleet = self._call("place_fleet", rules)
            if type(fleet) is Fleet and not self.overrides("place_fleet"):
                return fleet
            if isinstance(fleet, Fleet) and (fleet.book is rules or fleet.book == rules):
                return Fleet(rules, fleet.placements)
        except BaseException as error:
            failure = self.failure(error)
            cause = error.__cause__ if failure is error else error
            code = "bad_fleet" if issubclass(type(cause), IllegalCommand) else failure.code
            raise Described(code, failure.text, failure.trace) from cause
        at = place_of(self._kind, "place_fleet")
        raise Described("bad_fleet", f"{at}returned {shown(fleet)}, not a fleet of these rules")

    def salvo(self, view: View) -> tuple[Shot, ...]:
        """Return the shots that the bot chooses.

        Raises:
            BotError: ``bad_salvo``: they are no salvo that it may fire.
        """
        return self.checked(self.choose(view), view)

    def choose(self, view: View) -> Any:
        """Return what the bot answers, which may be anything."""
        return self._call("choose_salvo", view)

    def on_result(self, result: SalvoResolved) -> None:
        """Show the bot what came of a salvo."""
        self._call("on_result", result)

    def on_game_over(self, winner: str | None, stats: Mapping[str, PlayerStats]) -> None:
        """Show the bot how a game ended."""
        self._call("on_game_over", winner, stats)

    def on_message(self, sender: str, text: str, private: bool) -> None:
        """Show the bot a line of chat."""
        self._call("on_message", sender, text, private)

    def lines(self) -> list[tuple[str | None, str | None]]:
        """Take what the bot wants to say, each a text and to whom; None for what is not text."""
        nothing: list[Line] = []
        lines = quietly(lambda: list(islice(self.bot.unsaid or (), MAX_UNSAID)), nothing)
        self.collect(None)
        return [texts_of(line) for line in lines]

    def collect(self, lines: deque[Line] | None) -> None:
        """Let what the bot says from now on be appended here; None for :meth:`lines`."""
        quietly(lambda: object.__setattr__(self.bot, "unsaid", lines), None)

    def close(self) -> None:
        """Let the bot release its resources, after its last game."""
        try:
            self._call("close")
        finally:
            self.end()

    def end(self) -> None:
        """End what the bot's ``async`` methods have begun."""
        runner, self._runner = self._runner, None
        if runner is None:
            return
        try:
            _run(runner, runner.close)
        except BaseException as error:  # of a task that was still running; no turn is lost by it
            log.warning("%s", self.failure(error).text)

    # --- what comes of them -----------------------------------------------------------------------------------------

    def settled(self, answer: Any) -> Any:
        """Return an answer, after running it to its end if it is awaitable, in the same loop as those before."""
        if not isinstance(answer, Awaitable):
            return answer
        import asyncio  # most bots never need it, and it takes 40 ms to import

        settled: Any = None
        raised: BaseException | None = None

        async def awaited() -> None:
            nonlocal settled, raised  # and no result of the task: asyncio prints that, before it restores Ctrl-C
            try:
                settled = await answer
            except asyncio.CancelledError:
                raise
            except BaseException as error:
                let_interruptions_pass(error)
                raised = error

        runner = self._runner = self._runner or asyncio.Runner()
        try:
            _run(runner, runner.run, awaited())
        except asyncio.CancelledError as error:
            text = "it awaits what was cancelled (asyncio.CancelledError)"
            raise RuntimeError(text).with_traceback(error.__traceback__) from error
        except BaseException:
            self.end()  # what was interrupted shall not go on beside the next turn
            raise
        if raised is not None:
            raise raised
        return settled

    def checked(self, answer: Any, view: View) -> tuple[Shot, ...]:
        """Return an answer as shots.

        Raises:
            BotError: ``bad_salvo``: it is not a salvo that the bot may fire.
        """
        try:
            return check_salvo(answer, view)
        except BaseException as error:  # also of objects of the bot's own make
            raise self.failure(error) from error

    def failure(self, error: BaseException) -> BotError:
        """Return what the bot's code has raised as its error; re-raise what ends more than a bot."""
        return blame(error, self._kind)

    def overrides(self, name: str) -> bool:
        """Whether the bot has a method of its own in place of what every bot has."""
        return overrides(self._kind, name) or name in _OWN(self.bot)

    def chooser(self) -> Callable[[View], Any]:
        """Return what asks the bot for its salvo: directly, if it may; whatever it raises is for :meth:`failure`."""
        return self.choose if self.has_moved else quietly(lambda: self.bot.choose_salvo, self.choose)

    def settle(self, seen: int) -> bool:
        """See to the surroundings after a method was called directly, and return whether it may be called so again."""
        surroundings.settle(self._module, seen)
        return not self.has_moved

    @property
    def has_moved(self) -> bool:
        """Whether the bot has changed its working directory, so that its methods cannot be called directly."""
        return surroundings.has_moved(self._module)

    def _call(self, name: str, *given: Any) -> Any:
        return self._guarded(self._answer, name, given)

    def _answer(self, name: str, given: Sequence[Any]) -> Any:
        return self.settled(getattr(self.bot, name)(*given))

    def _guarded(self, method: Callable[..., Any], *given: Any) -> Any:
        try:
            return surroundings.call(self._module, method, *given)
        except BaseException as error:
            raise self.failure(error) from error


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
