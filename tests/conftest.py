"""What all tests share."""

from __future__ import annotations

import functools
import gc
import os
import signal
import sys
from collections.abc import Generator, Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import hypothesis
import pytest

from kit import programs
from kit.cheap_keys import cheap_keys
from kit.ports import Port

if TYPE_CHECKING:
    from kit.brokers import Broker, StartServer
    from kit.browser import Browser
    from kit.observer import Observer

_TESTS: Final = Path(__file__).parent
#: Folders of tests that each are of a package, and ``whole``; inside, ``live`` are those with brokers and processes.
_OF_PACKAGES: Final = (
    "attacks",
    "audit",
    "display",
    "game",
    "gateways",
    "lab",
    "league",
    "sdk",
    "server",
    "simulation",
    "watch",
    "whole",
)
#: Folders of tests with real processes and brokers.
_REAL: Final = "live"
#: Modules whose tests fork, send signals or open terminals as POSIX has them; elsewhere they are left out.
_POSIX: Final = (
    "lab/test_comparison.py",
    "lab/test_series.py",
    "lab/test_simulation.py",
    "lab/test_staying.py",
    "lab/test_where_teams_sit.py",
    "lab/test_worker_process.py",
    "sdk/test_service_output.py",
)
collect_ignore = [] if hasattr(os, "fork") else list(_POSIX)

# The same examples on every run, and no limit to their time: a busy machine fails no test.
hypothesis.settings.register_profile(
    "gate", deadline=None, derandomize=True, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("gate")

# Where bytecode is not to be written beside the code, every run and a hundred programs would compile all of it again.
if sys.dont_write_bytecode:
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(Path(__file__).parents[1] / ".pytest_cache" / "bytecode")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A shell starts what it runs in the background with Ctrl-C ignored, and what we start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def _configurations(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder to come for every test: most need none, and to make it took longer than many a test."""
    folder = tmp_path_factory.mktemp("configurations")
    return (folder / str(number) for number in count())


@pytest.fixture(autouse=True)
def _servers_known_of_their_own(_configurations: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Bots that tests start remember servers away from the user's, and of one test only: ports come again."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(next(_configurations)))


@pytest.fixture
def port() -> Iterator[Port]:
    """A port that nobody else has, and on which nobody listens before the test lets somebody."""
    with Port() as stored:
        yield stored


@pytest.fixture
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    """A broker of the test's own: the embedded one, or what ``on_both_brokers`` says."""
    from kit.brokers import new_broker

    with new_broker(getattr(request, "param", "embedded")) as running:
        yield running


@pytest.fixture
def start_server(broker: Broker) -> StartServer:
    """Start a server on the broker: ``with start_server(players=2) as contest: ...``."""
    from kit.brokers import server_on

    return functools.partial(server_on, broker)


@pytest.fixture
def observer(broker: Broker) -> Iterator[Observer]:
    """Somebody on the broker who subscribes to everything, see ``kit.observer``."""
    from kit.observer import Observer

    observing = Observer(broker.url)
    yield observing
    observing.close()


@pytest.fixture(autouse=True)
def _nobody_stays() -> Iterator[None]:
    yield
    if players := sys.modules.get("kit.players"):
        players.send_all_home()


@pytest.fixture(scope="module")
def shared() -> Iterator[Browser]:
    """One window for a module: to start a browser takes longer than most of its tests."""
    from kit.browser import browser

    with browser() as window:
        yield window


@pytest.fixture(scope="module", autouse=True)
def _keys_cost_little_in_process(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let tests of a package derive keys cheaply, except where other processes take part."""
    folder, *more = request.path.relative_to(_TESTS).parts
    if folder in _OF_PACKAGES and more[0] != "live":
        with cheap_keys():
            yield
    else:
        yield


@pytest.fixture(scope="session", autouse=True)
def _journals_of_their_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Servers that tests start keep their journals, and bots their versions, away from the user's."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
    os.environ["SALVO_PROFILE"] = "open"  # most tests are about the game; those about rights name their profile
    yield
    del os.environ["XDG_STATE_HOME"], os.environ["XDG_CACHE_HOME"], os.environ["SALVO_PROFILE"]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage among what is imported and collected: all of it stays, here and later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import what has no test of ``make test``: every process of it would."""
    if "not long" not in config.option.markexpr or collection_path.suffix != ".py":
        return None
    text = collection_path.read_text()
    is_real = _REAL in collection_path.parts and "pytest.mark.quick" not in text
    return is_real or "\npytestmark = pytest.mark.long" in text or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What starts real processes and brokers is long by its folder, but for what is marked quick."""
    for item in items:
        if _REAL in item.path.parts and item.get_closest_marker("quick") is None:
            item.add_marker(pytest.mark.long)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    programs.declared = {mark.args[0] for mark in item.iter_markers("needs")}


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if "not long" in config.option.markexpr:
        absent = programs.absent()
        install = f"{programs.install_line(absent)}, then " if absent else ""
        terminalreporter.write_line(f"for the tests with real programs, brokers and browsers: {install}make check")
