"""Whatever a bot raises or returns costs it a turn and is shown with its line: never the process, nor the game."""

from __future__ import annotations

import asyncio
import pickle
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from dataclasses import replace as replace_dataclass
from decimal import Decimal
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest
from click.testing import CliRunner

import salvo
from kit.scripted_server import sent_in_a_turn
from salvo import messages as m
from salvo.bots.adapter import Adapter, closing, made, replace
from salvo.bots.sources import load, name_here
from salvo.errors import BotError, Interruption
from salvo.rules import ALTERNATE, SALVO, STREAK, Fleet, RuleBook, generator
from salvo.rules.files import load_book
from salvo.system import plugins
from salvo.view import View
from salvo_lab import arena
from salvo_lab.arena import Supervision
from salvo_lab.bots.random_bot import RandomBot
from salvo_lab.commands.bots import bots
from salvo_lab.solo import clear
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


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("name", ["prepare", "place_fleet", "choose_salvo"])
def test_a_contest_goes_on_whatever_a_bot_raises(
    name: str, error: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    commands = sent_in_a_turn(_raising(name, error)())
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


class Signalled(SystemExit):
    """As a signal handler raises it."""


@pytest.mark.parametrize("later", [False, True], ids=["at once", "awaited"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, Signalled, Interruption])
def test_what_ends_a_program_is_no_bots_error(error: type[BaseException], later: bool) -> None:
    bot = _raising("choose_salvo", error, later=later)
    with pytest.raises(error):
        arena.play({"mine": bot(), "rival": RandomBot()}, seed=7, supervision=Supervision())
    with pytest.raises(error):
        sent_in_a_turn(bot())


@pytest.mark.parametrize("error", ERRORS)
def test_ctrl_c_works_after_whatever_an_async_bot_raises(error: type[BaseException]) -> None:
    """asyncio prints a task's error before it restores the handler."""
    before = signal.getsignal(signal.SIGINT)
    arena.play({"mine": _raising("choose_salvo", error, later=True)(), "rival": RandomBot()}, supervision=Supervision())
    assert signal.getsignal(signal.SIGINT) is before


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
        choose_salvo = property(lambda self: 1 / 0)

    with pytest.raises(BotError, match=rf"bot_raised: {HERE}:\d+: ZeroDivisionError"):
        arena.play({"mine": Seeing(), "rival": RandomBot()}, seed=7)
    with pytest.raises(BotError, match=rf"bot_raised: {HERE}:\d+: ZeroDivisionError"):
        limit_time(Seeing(), TimeLimits(turn_seconds=60))
    with pytest.raises(BotError, match=r"bad_bot: Seeing\.choose_salvo must stay a method"):
        replace(Seeing(), "choose_salvo", None)


# --- what they answer ---------------------------------------------------------------------------------------------


class Scalar:
    """One element of a tensor: no int, but with ``__index__``, as ``range()`` and lists take it."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


class Subclassed(int):
    """Is no key of a dict."""

    __hash__ = None  # type: ignore[assignment]


WHOLE: list[Callable[[int], Any]] = [Scalar, Subclassed, float, Decimal, np.int8, np.uint64, np.float32, np.array]


@pytest.mark.parametrize("book", [SALVO, STREAK], ids=["at one stroke", "shot by shot"])
@pytest.mark.parametrize("number", WHOLE)
def test_a_whole_number_of_any_type_is_a_coordinate(number: Callable[[int], Any], book: RuleBook) -> None:
    def play(number: Callable[[int], Any]) -> arena.Outcome:
        @salvo.bot
        def fires(view: View) -> list[Any]:
            return [(player, number(x), number(y)) for player, x, y in view.untouched.sample(view.shots)]

        return arena.play({"mine": fires(), "rival": RandomBot()}, seed=7, book=book)

    assert play(number) == play(int)


def test_true_is_1_as_everywhere_in_python() -> None:
    assert SALVO.grid.cell(True, True) == SALVO.grid.cell(1, 1)


@pytest.mark.parametrize(
    "number", [1.5, "1", None, [1], 1 + 1j, np.array([1, 2]), np.array([1]), float("inf")], ids=str
)
def test_what_is_no_whole_number_is_no_coordinate(number: Any) -> None:
    @salvo.bot
    def fires(view: View) -> list[Any]:
        return [("rival", number, 1)]

    with pytest.raises(BotError, match=rf"bad_salvo: {HERE}:\d+: .* is off the grid; x is 1..10 .* whole numbers"):
        arena.play({"mine": fires(), "rival": RandomBot()}, seed=7)


@pytest.mark.parametrize("number", WHOLE)
def test_a_fleet_has_plain_coordinates_whatever_it_was_made_of(number: Callable[[int], Any]) -> None:
    laid = SALVO.random_fleet(generator(1))

    class Places(RandomBot):
        def place_fleet(self, rules: RuleBook) -> Fleet:
            return Fleet(
                rules, [replace_dataclass(each, x=number(each.x), y=number(each.y)) for each in laid.placements]
            )

    fleet = Adapter(Places()).fleet(SALVO)
    assert fleet == laid
    assert {type(value) for each in fleet.placements for value in (each.x, each.y)} == {int}


class Thorny:
    """Raises at every touch."""

    def __eq__(self, other: object) -> bool:
        raise Panic("==")

    def __getattribute__(self, name: str) -> Any:
        raise Panic(name)

    def __repr__(self) -> str:
        raise Panic("repr")

    def __index__(self) -> int:
        raise Panic("index")

    __hash__ = __len__ = __iter__ = __index__


class Endless(Sequence[Any]):
    """Never ends, though it has a length."""

    def __len__(self) -> int:
        return 1

    def __getitem__(self, at: Any) -> Any:
        return ("board", 1, 1)

    def __iter__(self) -> Iterator[Any]:
        return iter(lambda: ("board", 1, 1), None)


class ThornyList(list[Any]):
    def __len__(self) -> int:
        raise Panic("len")

    __repr__ = __len__  # type: ignore[assignment]


class TwoFaced(int):
    """Equals a number when it is looked up, and raises later."""

    looked = 0

    def __eq__(self, other: object) -> bool:
        self.looked += 1
        if self.looked > 2:
            raise Panic("==")
        return int(self) == other

    def __hash__(self) -> int:
        return hash(int(self))


@pytest.mark.parametrize(
    "answer",
    [
        Thorny,
        lambda: [Thorny()] * 5,
        lambda: [("rival", Thorny(), 1)] * 5,
        lambda: [(Thorny(), 1, 1)] * 5,
        ThornyList,
        lambda: [ThornyList()],
        lambda: (ThornyList(),),
    ],
    ids=["answer", "shots", "coordinate", "player", "list", "shot", "shot of a tuple"],
)
def test_a_game_goes_on_whatever_a_bot_answers(answer: Callable[[], Any]) -> None:
    @salvo.bot
    def fires(view: View) -> Any:
        return answer()

    supervision = Supervision()
    assert arena.play({"mine": fires(), "rival": RandomBot()}, seed=7, supervision=supervision).winner == "rival"
    [failure] = supervision.failures
    assert failure.text.startswith(f"{HERE}:")
    assert sent_in_a_turn(fires())[-1:] == [m.Skip("me", m.TurnContext(1, 1))]


def test_an_answer_is_read_no_further_than_its_length() -> None:
    @salvo.bot
    def fires(view: View) -> Any:
        return Endless()

    with pytest.raises(BotError, match="not_cleared"):  # it goes on for ever, which is another matter
        clear(fires, 1)


@pytest.mark.parametrize("bot", [Thorny, lambda: RandomBot, lambda: 5])
def test_what_is_no_bot_is_refused(bot: Callable[[], Any]) -> None:
    with pytest.raises(BotError, match=r"bad_bot: .* is not a bot; .* makes one of its class"):
        Adapter(bot())


def test_a_view_holds_nothing_of_a_bots_own() -> None:
    @salvo.bot
    def fires(view: View) -> Any:
        return [(player, TwoFaced(x), y) for player, x, y in view.untouched.sample(view.shots)]

    for book in (SALVO, ALTERNATE):
        assert arena.play({"mine": fires(), "rival": RandomBot()}, seed=7, book=book).winner


class Strange(Fleet):
    """A fleet that is not what it says."""

    book = property(lambda self: 1 / 0)

    def __init__(self) -> None:
        pass


@pytest.mark.parametrize("fleet", [Strange, Thorny, ThornyList, lambda: SALVO])
def test_what_is_no_fleet_is_the_bots_error(fleet: Callable[[], Any]) -> None:
    class Places(RandomBot):
        def place_fleet(self, rules: RuleBook) -> Fleet:
            return fleet()  # type: ignore[no-any-return]

    with pytest.raises(BotError, match=rf"(bad_fleet|bot_raised): {HERE}:\d+: "):
        Adapter(Places()).fleet(SALVO)


def test_a_fleet_that_was_changed_after_it_was_made_is_checked_again() -> None:
    class Places(RandomBot):
        def place_fleet(self, rules: RuleBook) -> Fleet:
            fleet = super().place_fleet(rules)
            fleet.placements = (fleet.placements[0],) * 5
            return fleet

    bot = Adapter(Places())
    bot.prepare("mine", 1, 1)
    with pytest.raises(BotError, match="bad_fleet"):
        bot.fleet(SALVO)


# --- what else they are -------------------------------------------------------------------------------------------


class Renamed(RandomBot):
    """Takes another name and another source of randomness than those of its seat."""

    def prepare(self, name: str, seed: int | str, game: int = 1) -> None:
        super().prepare(name, seed, game)
        self.name = "somebody else"
        self.random = Thorny()  # type: ignore[assignment]

    def place_fleet(self, rules: RuleBook) -> Fleet:
        return rules.random_fleet(generator(1))

    def choose_salvo(self, view: View) -> Any:
        if view.turn < 3:
            self.say("hello")
        return view.untouched.sample(view.shots)


class Listening(RandomBot):
    heard: ClassVar[list[tuple[str, str]]] = []

    def on_message(self, sender: str, text: str, private: bool) -> None:
        self.heard.append((sender, text))


def test_a_bot_that_renames_itself_keeps_its_seat_and_its_lines() -> None:
    Listening.heard.clear()
    assert arena.play({"mine": Renamed(), "rival": Listening()}, seed=7).winner
    assert Listening.heard == [("mine", "hello")]
    assert len(sent_in_a_turn(Renamed())) == 5


@pytest.mark.parametrize(("text", "to"), [(5, ""), (Thorny, ""), ("hello", Thorny), (None, None)])
def test_a_line_that_is_no_text_is_the_bots_error(text: Any, to: Any, caplog: pytest.LogCaptureFixture) -> None:
    class Says(RandomBot):
        def choose_salvo(self, view: View) -> Any:
            if view.turn < 3:
                said: tuple[Any, Any] = text() if text is Thorny else text, to() if to is Thorny else to
                self.say(*said)
            return super().choose_salvo(view)

    supervision = Supervision(strikes=2)
    assert arena.play({"mine": Says(), "rival": RandomBot()}, seed=7, supervision=supervision).winner
    [failure] = supervision.failures
    assert failure.code == "bad_text"
    assert len(sent_in_a_turn(Says())) == 5
    assert "bad_text: a line is a text" in caplog.text


class Closed(RandomBot):
    """Has no lines that could be read or taken."""

    unsaid = property(lambda self: 1 / 0)


def test_a_bot_whose_lines_nobody_may_read_says_nothing() -> None:
    assert arena.play({"mine": Closed(), "rival": RandomBot()}, seed=7).winner
    assert len(sent_in_a_turn(Closed())) == 5


# --- what packages add --------------------------------------------------------------------------------------------

ADDED = """
from dataclasses import replace
import salvo
from salvo.rules import SALVO
from salvo_lab.bots.hunter import Hunter

LAGOON = replace(SALVO, name="lagoon")

class Heir(Hunter):
    pass

class Told(salvo.Bot):
    '''Is told \\x1b[31m of.

    And more.'''
"""


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a_package_that_adds.py").write_text(ADDED)
    (tmp_path / "a_package_that_panics.py").write_text(
        "class Panic(BaseException): ...\nraise Panic('index out of bounds')"
    )
    monkeypatch.syspath_prepend(tmp_path)
    points = {
        plugins.BOTS: {"heir": "a_package_that_adds:Heir", "told": "a_package_that_adds:Told"},
        plugins.RULESETS: {"badname": "a_package_that_adds:LAGOON", "panic": "a_package_that_panics:BOOK"},
    }
    found = {
        group: {name: EntryPoint(name, value, group) for name, value in values.items()}
        for group, values in points.items()
    }
    monkeypatch.setattr(plugins, "found", found.__getitem__)


@pytest.mark.usefixtures("added")
def test_a_ruleset_has_the_name_that_it_is_installed_under() -> None:
    with pytest.raises(plugins.PluginError, match="ruleset badname of a package is named 'lagoon' itself"):
        load_book("badname")


@pytest.mark.usefixtures("added")
def test_a_package_that_panics_is_named() -> None:
    with pytest.raises(plugins.PluginError, match="panic of a package cannot be loaded: Panic: index out of bounds"):
        load_book("panic")


@pytest.mark.usefixtures("added")
def test_a_bot_is_listed_with_its_own_words_or_with_its_package() -> None:
    heir, told, *_ = CliRunner().invoke(bots).output.splitlines()
    assert heir == "heir       Of a package, which says no more."
    assert told == "told       Is told \ufffd[31m of."


def test_a_bot_of_a_notebook_is_named_as_its_class(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/usr/lib/ipykernel_launcher.py"])
    monkeypatch.setitem(sys.modules, "__main__", main := ModuleType("__main__"))
    assert name_here(Renamed) == "Renamed"
    main.__file__ = sys.argv[0] = "/home/me/mybot.py"
    assert name_here(Renamed) == "mybot"
