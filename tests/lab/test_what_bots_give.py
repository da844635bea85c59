"""Whatever a bot raises or returns costs it a turn and is shown with its line: never the process, nor the game."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import salvo
from kit.scripted_server import ScriptedServer
from kit.unbrokered import Wire
from salvo import messages as m
from salvo.adapter import Adapter, closing, made, replace
from salvo.bot_sources import load
from salvo.client import Contestant
from salvo.errors import BotError
from salvo.messages import State
from salvo.rules import SALVO, generator
from salvo.seal import Sealer
from salvo.session import Session
from salvo.view import View
from salvo_lab import arena
from salvo_lab.arena import Supervision
from salvo_lab.bots.random_bot import RandomBot
from salvo_lab.time_limits import TimeLimits, limit_time

HERE = Path(__file__).name


class Panic(BaseException):
    """As an extension in Rust raises it."""


class Unprintable(Exception):
    def __str__(self) -> str:
        raise Panic

    __repr__ = __str__


@dataclass(frozen=True)
class Frozen(Exception):
    """Takes no attributes: not even ``__traceback__``, which contextlib sets."""

    cause: str = "frozen"


class Faceless(Exception):
    """Has no attribute that could be read."""

    def __getattribute__(self, name: str) -> Any:
        raise Panic(name)


class Pretender(BotError):
    """Says of itself what is no code, and no text."""

    def __init__(self) -> None:
        super().__init__("bot_raised", "")
        self.code, self.text, self.trace = 5, Unprintable(), Unprintable()  # type: ignore[assignment]

    __str__ = Unprintable.__str__


class Undirected(AttributeError):
    """Of an object that does not tell what it has."""

    def __init__(self) -> None:
        super().__init__("gone", name="gone", obj=self)

    def __dir__(self) -> Sequence[str]:
        raise Panic


ERRORS = [Panic, Unprintable, Frozen, Faceless, Pretender, Undirected, GeneratorExit, StopIteration, SystemExit]
METHODS = ["__init__", "prepare", "place_fleet", "choose_salvo", "on_result", "on_game_over", "close"]


def _raising(name: str, error: type[BaseException], *, later: bool = False) -> type[salvo.Bot]:
    """Return a bot one of whose methods raises."""

    def fails(*_: object) -> Any:
        raise error()

    async def fails_later(*_: object) -> Any:
        raise error()

    members = {name: fails_later if later else fails, "__module__": __name__}
    return type("Raising", (RandomBot,), members)


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("name", METHODS)
def test_whatever_a_method_raises_is_the_bots_error_with_its_line(name: str, error: type[BaseException]) -> None:
    told: list[str] = []
    try:
        with closing(made(_raising(name, error)), "mine", told.append) as bot:
            arena.play({"mine": bot, "rival": RandomBot()}, seed=7)
    except BotError as raised:
        told.append(str(raised))
    [text] = told
    assert text.startswith(f"{'bad_bot' if name == '__init__' else 'bot_raised'}: {HERE}:")


@pytest.mark.parametrize("later", [False, True], ids=["at once", "awaited"])
@pytest.mark.parametrize("error", ERRORS)
def test_a_game_goes_on_without_a_bot_whatever_it_raises(error: type[BaseException], later: bool) -> None:
    supervision = Supervision()
    bots = {"mine": _raising("choose_salvo", error, later=later)(), "rival": RandomBot()}
    assert arena.play(bots, seed=7, supervision=supervision).winner == "rival"
    [failure] = supervision.failures
    assert failure.code == "bot_raised"
    assert failure.text.startswith(f"{HERE}:")
    assert pickle.loads(pickle.dumps(failure)) == failure


def _answer_in_a_contest(bot: salvo.Bot) -> list[Any]:
    """Return what is sent for a bot that has the turn."""
    sealer = Sealer("secret", bytes(16))
    session = Session("me", "secret", generator(2), sealer=sealer)
    playing = Contestant(bot, session, Wire(), seed=1, strict=False)
    server = ScriptedServer(session, SALVO)
    for event in server.open_lobby("me", "you"):
        playing.handle(event)
    server.say(m.ServerStatus(True, "0", 1, "open"), retained=True)
    server.say(m.StateChanged(State.TURN))
    session.take_outbox()
    for event in server.begin_turn(1, "me", 5):
        playing.handle(event)
    playing.close()
    return list(server.commands(sealer))


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("name", ["prepare", "place_fleet", "choose_salvo"])
def test_a_contest_goes_on_whatever_a_bot_raises(
    name: str, error: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    commands = _answer_in_a_contest(_raising(name, error)())
    if name == "choose_salvo":
        assert commands == [m.Skip("me", m.TurnContext(1, 1))]
    else:
        assert len(commands) == 5
    assert f"bot_raised: {HERE}:" in caplog.text


@pytest.mark.parametrize("error", ERRORS)
def test_a_time_limit_changes_nothing_of_what_a_bot_raises(error: type[BaseException]) -> None:
    bot = limit_time(_raising("choose_salvo", error)(), TimeLimits(turn_seconds=60))
    with pytest.raises(BotError, match=rf"bot_raised: {HERE}:\d+: <?{error.__name__}"):
        arena.play({"mine": bot, "rival": RandomBot()}, seed=7)


def test_a_task_that_a_bot_leaves_behind_ends_no_game(caplog: pytest.LogCaptureFixture) -> None:
    async def lingers() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise SystemExit(3)

    class Leaving(salvo.Bot):
        async def choose_salvo(self, view: View) -> Any:
            if view.turn < 3:
                self.task = asyncio.create_task(lingers())
            await asyncio.sleep(0)
            return view.untouched.sample(view.shots)

    assert arena.play({"mine": Leaving(), "rival": RandomBot()}, seed=7).winner
    assert "SystemExit: 3" in caplog.text


@pytest.mark.parametrize(
    "error", ["class Panic(BaseException): ...\nraise Panic('at import')", "import sys; sys.exit()"]
)
def test_a_file_that_fails_without_an_exception_is_refused_with_its_line(tmp_path: Path, error: str) -> None:
    file = tmp_path / "mine.py"
    file.write_text(f"import salvo\n{error}\n")
    with pytest.raises(BotError, match=r"bad_bot: mine.py:\d: (Panic: at import|SystemExit) \(importing"):
        load(str(file))


@dataclass(frozen=True)
class Rigid(RandomBot):
    """Takes no attributes."""


def test_a_bot_that_takes_no_attributes_is_timed_as_any_other() -> None:
    replace(bot := Rigid(), "choose_salvo", lambda view: [])
    assert bot.choose_salvo(None) == []  # type: ignore[arg-type]
    with pytest.raises(BotError, match="bot_raised: FrozenInstanceError: cannot assign to field 'name'"):
        Adapter(bot).prepare("mine", 1, 1)


def test_a_property_in_place_of_a_method_is_the_bots_error() -> None:
    class Seeing(RandomBot):
        choose_salvo = property(lambda self: 1 / 0)  # type: ignore[assignment]

    with pytest.raises(BotError, match=rf"bot_raised: {HERE}:\d+: ZeroDivisionError"):
        arena.play({"mine": Seeing(), "rival": RandomBot()}, seed=7)
    with pytest.raises(BotError, match=rf"bot_raised: {HERE}:\d+: ZeroDivisionError"):
        limit_time(Seeing(), TimeLimits(turn_seconds=60))
    with pytest.raises(BotError, match=r"bad_bot: Seeing\.choose_salvo is no method"):
        replace(Seeing(), "choose_salvo", None)
