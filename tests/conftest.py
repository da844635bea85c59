"""What all tests share."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

# A shell starts what it runs in the background with Ctrl-C ignored, and what we start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _servers_known_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bots that tests start remember servers away from the user's, and of one test only: ports come again."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))


@pytest.fixture(scope="session", autouse=True)
def _compiled_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Where bytecode is not to be written beside the code, each of some hundred programs would compile all of it."""
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        os.environ["PYTHONPYCACHEPREFIX"] = str(tmp_path_factory.mktemp("bytecode"))


@pytest.fixture(scope="session", autouse=True)
def _journals_of_their_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Servers that tests start keep their journals, and bots their versions, away from the user's."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
    os.environ["SALVO_PROFILE"] = "literal"  # most tests are about the game; those about rights name their profile
    yield
    del os.environ["XDG_STATE_HOME"], os.environ["XDG_CACHE_HOME"], os.environ["SALVO_PROFILE"]
