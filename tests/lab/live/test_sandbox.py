"""A bot in a sandbox: what it tries there is refused, and would succeed without the defence."""

from __future__ import annotations

import os
import platform
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from kit.documents import DOCS
from kit.programs import needs
from salvo.bots.programs import linux, sandbox
from salvo.bots.programs.sandbox import sandboxed
from salvo.bots.sources import in_sandbox, load
from salvo.errors import BotError

pytestmark = needs("bwrap")

#: Takes a defence away from a command's words.
Without = Callable[[list[str]], list[str]]

_TRY: Final = """
import ctypes, mmap, os, socket, subprocess, sys
from pathlib import Path
from typing import Final
try:
    {attempt}
except (AssertionError, LookupError, MemoryError, OSError) as error:
    print("refused:", type(error).__name__)
else:
    print("done")
"""


def changed(word: str, *others: str) -> Without:
    def change(words: list[str]) -> list[str]:
        place = words.index(word)
        return [*words[:place], *others, *words[place + 1 :]]

    return change


def without_limits(words: list[str]) -> list[str]:
    place = words.index("-I") - 1
    return [*words[:place], *words[place + 6 :]]


def without_last(word: str, count: int) -> Without:
    def change(words: list[str]) -> list[str]:
        place = len(words) - words[::-1].index(word) - 1
        return [*words[:place], *words[place + count :]]

    return change


def writable(words: list[str]) -> list[str]:
    place = len(words) - words[::-1].index("--ro-bind-try") - 1
    return [*words[:place], "--bind", *words[place + 1 :]]


_SEES_PROCESSES: Final = changed("--unshare-all", "--unshare-user", "--unshare-net")
ATTEMPTS: Final[dict[str, tuple[str, Without]]] = {
    "it forks": ("os.fork() or os._exit(0)", without_limits),
    "it starts a program": ('subprocess.run(["true"])', without_limits),
    "it takes memory": (
        f"mmap.mmap(-1, {linux.most_memory() + (1 << 30)}, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)",
        without_limits,
    ),
    "it fills the scratch folder": (
        'Path("/tmp/long").write_bytes(bytes(70 << 20))',
        changed(str(sandbox._SCRATCH), str(200 << 20)),
    ),
    "it reads a file of others": ('Path("SECRET").read_text()', changed("--chdir", "--ro-bind", "/", "/", "--chdir")),
    "it changes its own code": ('open(__file__, "a")', writable),
    "it sees other processes": ('assert len([p for p in os.listdir("/proc") if p.isdigit()]) > 4', _SEES_PROCESSES),
    "it reaches the network": (
        'socket.create_connection(("127.0.0.1", PORT), 5)',
        changed("--unshare-all", "--unshare-all", "--share-net"),
    ),
    "it reads a secret": ('os.environ["SALVO_SECRET"]', changed("-i")),
    "it reads a secret of what has started it": (
        'assert "swordfish" in Path("/proc/1/environ").read_text()',
        changed("-i"),
    ),
    "it fills shared memory": (
        'Path("/dev/shm/long").write_bytes(bytes(20 << 20))',
        changed(str(sandbox._SHARED), str(200 << 20)),
    ),
    "it fills memory by a file elsewhere": ('Path("/new").write_text("")', without_last("--remount-ro", 2)),
}
#: Makes what is mounted read-only writable.
_REMOUNT: Final = 'assert ctypes.CDLL(None).mount(b"none", b"/usr", None, 32 | 4096, None) == 0'


@pytest.fixture(autouse=True)
def _looks_again() -> Iterator[None]:
    sandbox.check.cache_clear()
    yield
    sandbox.check.cache_clear()


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_what_a_bot_tries_in_a_sandbox_is_refused_and_succeeds_without_the_defence(
    attempt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SALVO_SECRET", "swordfish")
    (tmp_path / "secret").write_text("swordfish")
    folder = tmp_path / "its"
    folder.mkdir()
    tried, without = ATTEMPTS[attempt]
    with socket.create_server(("127.0.0.1", 0)) as door:
        tried = tried.replace("SECRET", str(tmp_path / "secret"), "open" not in tried and "environ" not in tried)
        tried = tried.replace("PORT", str(door.getsockname()[1]))
        (folder / "bot.py").write_text(_TRY.format(attempt=tried))
        words = sandboxed([sys.executable, str(folder / "bot.py")], folder)
        assert outcome(words).startswith("refused: ")
        assert outcome(without(words)) == "done"


@needs("root")
def test_root_has_no_rights_in_a_sandbox_by_which_it_could_write_to_the_system(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(_TRY.format(attempt=_REMOUNT))
    words = sandboxed([sys.executable, str(tmp_path / "bot.py")], tmp_path)
    assert outcome(words) == "refused: AssertionError"
    place = words.index("--cap-drop")
    assert outcome([*words[:place], *words[place + 2 :]]) == "done"


def outcome(words: list[str]) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_bot_may_have_threads_and_write_to_its_scratch_folder(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(
        "import threading\n"
        "thread = threading.Thread(target=lambda: open('/tmp/notes', 'w').write('mine'))\n"
        "thread.start(); thread.join(); print(open('/tmp/notes').read())\n"
    )
    assert outcome(sandboxed([sys.executable, str(tmp_path / "bot.py")], tmp_path)) == "mine"
    assert not Path("/tmp/notes").exists()


def test_a_bot_plays_the_same_game_in_a_sandbox(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import salvo\n\n@salvo.bot\ndef fire(view):\n    return view.untouched.sample(view.shots)\n"
    )
    (tmp_path / "two" / "mine").mkdir(parents=True)
    (tmp_path / "two" / "mine" / "bot.py").write_text((tmp_path / "mine.py").read_text())
    played = [
        subprocess.run(
            [sys.executable, "-m", "salvo", "play", *words, "hunter", "--seed", "7"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout
        for words in (["mine.py"], ["--sandbox", "mine.py"], ["--sandbox", "two/mine"])
    ]
    assert played[0].splitlines()[:3] == played[1].splitlines()[:3] == played[2].splitlines()[:3]
    assert played[1].splitlines()[3] == "again:  salvo play sandbox:mine.py hunter --seed 7"


def test_a_folder_that_is_not_a_bots_own_is_not_shown_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text("import salvo\n")
    load(in_sandbox(str(tmp_path / "mine.py")))
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(BotError, match=r"bad_bot: .* is of others, too; give it a folder of its own"):
        load(in_sandbox(str(tmp_path / "mine.py")))
    monkeypatch.undo()
    (tmp_path / "cup.games.jsonl").write_text("")  # with the seed
    with pytest.raises(BotError, match=r"bad_bot: .* is of others, too; give it a folder of its own"):
        load(in_sandbox(str(tmp_path / "mine.py")))


def test_without_bubblewrap_the_error_names_what_installs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text("import salvo\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BotError, match=r"sandbox_missing: no program 'bwrap' .*apt-get install bubblewrap"):
        load(in_sandbox(str(tmp_path / "mine.py")))


@pytest.mark.parametrize(("system", "machine"), [("darwin", "arm64"), ("win32", "AMD64"), ("linux", "riscv64")])
def test_a_system_without_a_sandbox_plays_no_bot_that_should_have_one(
    system: str, machine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text("import salvo\n")
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    text = f"sandbox_missing: {system} on {machine} has no sandbox; Linux on x86_64 or aarch64 has"
    with pytest.raises(BotError, match=text):
        load(in_sandbox(str(tmp_path / "mine.py")))
    [row] = [line for line in (DOCS / "systems.md").read_text().splitlines() if "sandbox" in line]
    assert all(each in row for each in (*sandbox._MACHINES, "bubblewrap", "sandbox_missing"))


def test_where_the_system_forbids_a_sandbox_no_bot_is_played_without_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text("import salvo\n")
    forbidden = tmp_path / "bwrap"
    forbidden.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    forbidden.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(BotError, match=r"sandbox_forbidden: .*No permissions to create new namespace.*user namespaces"):
        load(in_sandbox(str(tmp_path / "mine.py")))


def test_built_in_bots_need_no_sandbox_and_versions_of_git_are_refused() -> None:
    assert in_sandbox("hunter") == "hunter"
    with pytest.raises(BotError, match=r"bad_bot: 'HEAD:mine.py': a sandbox takes files as they are"):
        in_sandbox("HEAD:mine.py")
