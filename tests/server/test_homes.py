"""Users without a home, or with one that they may not write to; folders that others may not write to."""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NoReturn

import pytest

from kit.command_line import run
from salvo.bots.versions import keep_content
from salvo.errors import SalvoError
from salvo.join.fairness.known_servers import KnownServers
from salvo_server.contest import open_identity, open_journal
from salvo_server.settings import ServerSettings, roster_path
from salvo_server.storage.identity import load_identity
from salvo_server.storage.roster import Roster
from salvo_server.storage.vault import Vault

#: What HOME may be, besides right; the last one stands for a folder that this user may not look into, which root may.
HOMES: Final = {"none": None, "a file": "/dev/null", "unwritable": "/proc", "unreadable": "/" + 300 * "h"}


@pytest.fixture(params=HOMES)
def home(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The kind of home that this user has now."""

    def no_entry(number: int) -> NoReturn:
        raise KeyError(f"getpwuid(): uid not found: {number}")

    monkeypatch.chdir(tmp_path)
    for variable in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "HOME", "SALVO_PROFILE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", no_entry)
    if (value := HOMES[request.param]) is not None:
        monkeypatch.setenv("HOME", value)
    return str(request.param)


@pytest.mark.parametrize(
    "command",
    [
        "teams add red",
        "teams list",
        "teams add red --cards cards.html",
        "serve --listen 127.0.0.1:0",
        "serve --listen 127.0.0.1:0 --profile open",
        "serve --listen 127.0.0.1:1 --profile open",
        "backup archive.tar.gz",
        "mosquitto folder",
    ],
)
def test_a_command_that_cannot_store_its_state_fails_and_names_what_to_set(home: str, command: str) -> None:
    done = run(*command.split())
    assert done.returncode == 1
    assert done.stderr.startswith("error: no_home: " if home == "none" else "error: ")
    cures = ("XDG_STATE_HOME", "SALVO_ROSTER", "SALVO_IDENTITY", "--journal FILE", "name it as", "name another one")
    assert any(cure in done.stderr for cure in cures)


# --- folders that others may not write to -----------------------------------------------------------------------------


@pytest.fixture
def no_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def _state(home: Path) -> list[Callable[[], Any]]:
    """What makes each kind of file that a user's folders have."""
    settings = ServerSettings(listen="127.0.0.1:1")
    return [
        lambda: open_identity(settings),
        lambda: Roster(roster_path(None)).add("red"),
        lambda: open_journal(settings).close(),
        lambda: KnownServers(home / "config" / "salvo" / "known_servers.json").meet("broker:1883", bytes(32)),
        lambda: keep_content({"bot.py": b""}),
    ]


def test_state_is_its_owners_alone_whatever_the_umask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_umask: None
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "local" / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for number in range(len(_state(tmp_path))):
        _state(tmp_path)[number]()
    folders = [tmp_path / name for name in ("local", "local/state", "local/state/salvo", "config/salvo", "cache/salvo")]
    assert all(folder.is_dir() for folder in folders)
    left = [*folders, *(tmp_path / "local").rglob("*"), *(tmp_path / "config").rglob("*")]
    assert len(left) > 2 * len(folders)
    open_to_others = {str(path): oct(path.stat().st_mode) for path in left if path.stat().st_mode & 0o077}
    assert not open_to_others


OPENERS: Final[dict[str, Callable[[Path], Any]]] = {
    "identity": lambda folder: load_identity(folder / "identity.key"),
    "roster": lambda folder: Roster(folder / "roster.json"),
    "key": lambda folder: Vault.at(folder / "roster.json.key", "roster", SalvoError),
    "journal": lambda folder: open_journal(ServerSettings(journal=str(folder / "contest.journal"))).close(),
}


@pytest.mark.parametrize("kind", OPENERS)
def test_an_open_folder_of_another_user_is_refused_with_what_to_do(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    with pytest.raises(SalvoError) as refused:
        OPENERS[kind](folder)
    assert f"anyone may replace the files in {folder}: chmod o-w {folder}, or use" in refused.value.text
    assert not list(folder.iterdir())
    OPENERS[kind](folder / "salvo")  # as the text says
