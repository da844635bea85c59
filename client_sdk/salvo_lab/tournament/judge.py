"""A bot under time limits: what it gets wrong is a strike and costs that turn, and no more than itself.

In the arena a bot that fails ends the game. :class:`Judged` stands between the two: it asks the bot, and where that
raises, takes too long or answers with something illegal, it answers in its place with no shots, or with a drawn fleet.
Nothing else is changed, so a game without strikes is the one that ``salvo play`` shows.
"""

from __future__ import annotations

import math
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from random import Random
from types import FrameType
from typing import Any, Final, Protocol

from salvo.adapter import Adapter, made
from salvo.bot_errors import described
from salvo.chat import clean_text
from salvo.errors import BotError, SalvoError
from salvo.messages import PlayerStats, SalvoResolved
from salvo.player import MAX_UNSAID, Bot, Line
from salvo.programs.exec_bot import QUESTION_SECONDS, ExecBot
from salvo.rules import Fleet, RuleBook, generator
from salvo.view import Shot, View
from salvo_lab.programs.apart import Apart, Lost
from salvo_lab.tournament.file import TimeLimits

#: Seconds after which a bot that swallows the alarm hears it again.
_AGAIN_SECONDS: Final = 0.5
#: Salvos of a bot for each cell of its rivals' boards, after which the game is one that never ends.
_SALVOS_A_CELL: Final = 10
#: How long a bot may take to release its resources: a program that does not exit within a second is killed.
_CLOSE_SECONDS: Final = 3.0
#: How long a program may take to its first answer: the question's own limit ends it before.
_START_SECONDS: Final = QUESTION_SECONDS + 1
#: The text of a strike for which only the clock counts.
_TOO_LONG: Final = "took longer than"
_USED_UP: Final = "for a game are used up"
#: The text of a strike whose bot no alarm reached.
HUNG: Final = "hung beyond its time"
#: Letters of a strike's cause.
_CAUSE_LETTERS: Final = 300


class OverTime(BaseException):
    """A decision takes too long. No Exception, so that a bot's ``except Exception`` lets it pass."""


class Watch(Protocol):
    """Notes that a bot is asked, for an observer in another process."""

    def asks(self, seconds: float) -> None: ...
    def answered(self) -> None: ...


class NoWatch:
    """There is no observer."""

    def asks(self, seconds: float) -> None: ...
    def answered(self) -> None: ...


class Alarm:
    """Raises :class:`OverTime` wherever the main thread is."""

    def __init__(self) -> None:
        self._armed = False
        self._parent = os.getppid()
        self._works = hasattr(signal, "SIGALRM")  # else only an observer ends a bot that hangs
        if self._works:
            signal.signal(signal.SIGALRM, self._ring)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        if os.getppid() != self._parent:
            os._exit(1)  # nothing else is left to end a bot that hears no alarm
        if self._armed:
            raise OverTime

    def set(self, seconds: float) -> None:
        """Ring after that many seconds; never if they are infinite."""
        if self._works and seconds != math.inf:
            self._armed = True
            signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001), _AGAIN_SECONDS)

    def off(self) -> None:
        """Ring no more."""
        self._armed = False
        if self._works:
            signal.setitimer(signal.ITIMER_REAL, 0)


class Seated(Bot):
    """A bot at a table, and what came of it.

    Attributes:
        strikes: what it got wrong, each in a line.
        forfeited: whether it is out of this game.
        thinking: seconds in all its methods; ``longest`` in a single one.
        decisions: fleets and salvos that it was asked for.
    """

    def __init__(self) -> None:
        self.strikes: list[str] = []
        self.forfeited = False
        self.thinking = self.longest = 0.0
        self.decisions = 0
        super().__init__()


class Absent(Seated):
    """Takes the place of a bot that cannot be made."""

    def __init__(self, error: BotError) -> None:
        super().__init__()
        self.strikes.append(str(error)[:_CAUSE_LETTERS])
        self.forfeited = True

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        return ()


class Judged(Seated):
    """A bot that costs no other bot a game."""

    def __init__(self, kind: type[Bot], others: Sequence[str], limits: TimeLimits, alarm: Alarm, watch: Watch) -> None:
        """Sit down at a table with others."""
        super().__init__()
        self._kind = kind
        self._others = frozenset(others)
        self._limits = limits
        self._alarm = alarm
        self._watch = watch
        self._bot: Adapter | None = None
        self._salvos = 0

    def forfeit(self, cause: str) -> None:
        """Be out of the game."""
        self.strikes.append(cause[:_CAUSE_LETTERS])
        self.forfeited = True

    def prepare(self, name: str, seed: int | str, game: int = 1) -> None:
        """Take a seat, with a new bot: what it learned in other games is not for this one."""
        super().prepare(name, seed, game)
        if self.forfeited:
            return
        bot = self._ask("its making", made, self._kind)
        if bot is None:
            self.forfeited = True
            return
        self._bot = Adapter(bot)
        if isinstance(bot, ExecBot):
            bot.most_files = 0  # as many as games, and another name in every run's strikes
        bot.unsaid = deque(maxlen=MAX_UNSAID)
        self._ask("prepare", self._bot.prepare, name, seed, game)
        if isinstance(bot.random, Random):
            self.random = bot.random

    def place_fleet(self, rules: RuleBook) -> Fleet:
        """Ask for a fleet; draw one in place of none."""
        if self._bot is not None and not self.forfeited:
            self.decisions += 1
            fleet: Fleet | None = self._ask("place_fleet", self._bot.fleet, rules)
            if fleet is not None:
                return fleet
        return rules.random_fleet(generator("judge", self.name, self.random.random()))

    def choose_salvo(self, view: View) -> Any:
        """Ask for shots; give none in place of an illegal salvo."""
        if self._bot is None or self.forfeited:
            return ()
        if self._salvos >= _SALVOS_A_CELL * view.rules.grid.size * (len(view.players) - 1):
            self.forfeit(f"turn {view.turn}: the game does not end, after {self._salvos} salvos")
            return ()
        before = len(self.strikes)
        self._salvos += 1
        self.decisions += 1
        answer = self._ask(f"turn {view.turn}", self._bot.salvo, view)
        return () if len(self.strikes) > before or self.forfeited else list(answer)

    def on_game_over(self, winner: str | None, stats: Mapping[str, PlayerStats]) -> None:
        """Tell how it ended; the result stands, so what goes wrong now costs nothing."""
        if self._bot is not None and not self.forfeited:
            self._ask("on_game_over", self._bot.on_game_over, winner, stats)
            self.forfeited = False

    def close(self) -> None:
        """Have the bot release its resources; the result stands, so what goes wrong now costs nothing."""
        if self._bot is None:
            return
        forfeited = self.forfeited
        self._watch.asks(_CLOSE_SECONDS)
        with suppress(BaseException):
            try:
                self._alarm.set(_CLOSE_SECONDS)
                self._bot.close()
            except BotError as error:
                self._strike(f"close: {error.text}")
                self.forfeited = forfeited
            finally:
                self._alarm.off()
        self._watch.answered()
        self._bot = None

    def on_message(self, sender: str, text: str, private: bool) -> None:
        """Tell what another one said."""
        if self._bot is not None and not self.forfeited:
            self._ask("on_message", self._bot.on_message, sender, text, private)

    def hears(self, result: SalvoResolved) -> None:
        """Tell what came of a salvo."""
        if self._bot is not None and not self.forfeited:
            self._ask(f"turn {result.turn}, on_result", self._bot.on_result, result)

    def _ask(self, where: str, method: Callable[..., Any], *given: Any) -> Any:
        """Return what a method of the bot answers; None, and a strike, where it does not come to an answer.

        The first answer of a program's process is not charged: its start is no decision, as an import is none.
        """
        limits = self._limits
        starts = self._bot is not None and method == self._bot.fleet and getattr(self._bot.bot, "starts_now", False)
        left = min(limits.decision_seconds, limits.bank_seconds - self.thinking)
        seconds = max(_START_SECONDS, left) if starts else left
        cause = ""
        answer: Any = None
        self._watch.asks(seconds)
        began = time.perf_counter()
        try:
            try:
                self._alarm.set(seconds)
                answer = method(*given)
            finally:
                self._alarm.off()
        except OverTime:
            answer = None
        except BotError as error:
            cause = f"{error.code}: {error.text}" if error.code == "bad_salvo" else error.text
        except BaseException as error:  # such as one that would end the process
            cause = described(error, self._kind)
        took = 0.0 if starts else time.perf_counter() - began
        self._watch.answered()
        self.thinking += took
        self.longest = max(self.longest, took)
        self.decisions += 1
        # Whether or not it noticed. The time itself is not told: it would never come out the same again.
        if took >= limits.decision_seconds:
            cause = f"{_TOO_LONG} {limits.decision_seconds:g} s"
        if cause:
            self._strike(f"{where}: {cause}")
        if self.thinking >= limits.bank_seconds and not self.forfeited:
            self.forfeit(f"{where}: its {limits.bank_seconds:g} s {_USED_UP}")
        if self._bot is not None and self._bot.bot.unsaid:
            self._pass_on(self._bot.bot.unsaid)
        return None if cause else answer

    def _strike(self, cause: str) -> None:
        self.strikes.append(" ".join(cause.split())[:_CAUSE_LETTERS])
        self.forfeited = self.forfeited or len(self.strikes) >= self._limits.strikes

    def _pass_on(self, said: deque[Line]) -> None:
        """Let others hear what may be said; the rest is dropped, as on a server."""
        lines: Sequence[Any] = list(said)
        said.clear()
        for line in lines:
            try:
                _, text, to = line
                clean_text(text)
                known = self.unsaid is not None and (not to or (to != self.name and to in self._others))
            except (SalvoError, TypeError, ValueError):
                continue
            if known:
                self.say(text, to)


def is_of_the_clock(cause: str) -> bool:
    """Whether a strike is one for thinking too long, which a quicker machine does not give again."""
    return _TOO_LONG in cause or _USED_UP in cause


class Listening(Judged):
    """One whose bot wants to hear of every salvo: for the others this costs nothing."""

    def on_result(self, result: SalvoResolved) -> None:
        """Tell what came of a salvo."""
        self.hears(result)


def judged(kind: type[Bot], others: Sequence[str], limits: TimeLimits, alarm: Alarm, watch: Watch) -> Judged:
    """Return a bot of a class under limits; see there."""
    wrapper = Judged if kind.on_result is Bot.on_result else Listening
    return wrapper(kind, others, limits, alarm, watch)


# --- in a process of its own ----------------------------------------------------------------------------------------

#: What the bot in the process has, and the one here shows.
SHOWN: Final = ("strikes", "forfeited", "thinking", "longest", "decisions")


def judged_there(others: Sequence[str], limits: TimeLimits, kind: type[Bot]) -> Judged:
    """Return a bot of a class under limits, in a process of its own."""
    return judged(kind, others, limits, Alarm(), NoWatch())


class JudgedApart(Seated, Apart):
    """:class:`Judged` in a process of its own; when that ends, or hangs, the bot is out."""

    _is_lost = False

    def place_fleet(self, rules: RuleBook) -> Fleet:
        """Ask for a fleet; draw one in place of none."""
        fleet: Fleet | None = self._call("place_fleet", rules)
        return fleet or rules.random_fleet(generator("judge", self.name, self.random.random()))

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        """Ask for shots; give none once the process is gone."""
        return super().choose_salvo(view) or ()

    def on_game_over(self, winner: str | None, stats: Mapping[str, PlayerStats]) -> None:
        """Tell how it ended; the result stands, so what goes wrong now costs nothing."""
        forfeited = self.forfeited
        super().on_game_over(winner, stats)
        self.forfeited = forfeited

    def _call(self, method: str, *given: object) -> Any:
        if self._is_lost:
            return None
        try:
            return super()._call(method, *given)
        except Lost as error:
            self._is_lost = True
            if method != "close":
                cause = f"{HUNG}, and its process was ended" if error.code == "bot_hangs" else error.text
                where = f"turn {given[0]}" if method == "choose_salvo" else method
                self.strikes = [*self.strikes, f"{where}: {cause}"]
                self.forfeited = True
            return None
