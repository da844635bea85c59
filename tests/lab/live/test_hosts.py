"""Games on other hosts: a real scheduler and workers, each a process of its own.

Hosts that are killed and links that are cut are in ``make failover``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from kit.processes import started, without_settings
from salvo_server.commands.tls import make_certificates

SALVO = [sys.executable, "-m", "salvo"]
#: Reads a file beside it, raises, and ends its process, now and then.
FRAIL = """\
import os
from pathlib import Path

import helper
import salvo


@salvo.bot
def fire(view):
    shots = view.untouched.sample(view.shots)
    mark = sum(map(ord, str(shots))) % int((Path(__file__).parent / "data" / "modulus.txt").read_text())
    if mark == 3:
        os._exit(helper.CODE)
    if mark == 4:
        raise ValueError("four")
    return shots
"""
POND = """\
name = "pond"
like = "salvo"
width = 6
height = 6
[fleet]
cruiser = 3
raft = 1
"""


def _environment(cache: Path) -> dict[str, str]:
    tls = os.environ["SALVO_LAB_TLS"]
    return without_settings(PYTHONUNBUFFERED="1", XDG_CACHE_HOME=str(cache), SALVO_LAB_TLS=tls)


class Hosts:
    """A scheduler and its workers, in folders of their own."""

    def __init__(self, folder: Path, leaving: ExitStack, *options: str) -> None:
        self.folder = folder
        self._leaving = leaving
        self._options = options
        output = self._start("scheduler", "--listen", "127.0.0.1:0", *options).stdout
        assert output is not None
        self.url = output.readline().split()[1]

    def add(self) -> str:
        """Start a worker, wait until it says that it is connected, and return what it is called."""
        output = self._start("worker", self.url, "--jobs", "1", *self._options).stdout
        assert output is not None
        connected = re.match(r"host (\S+): plays at t", output.readline())
        assert connected is not None
        return connected[1]

    def _start(self, *words: str) -> subprocess.Popen[str]:
        folder = self.folder / "-".join(words[:1] + words[-1:]).replace("/", "-")
        folder.mkdir(exist_ok=True)
        return self._leaving.enter_context(
            started([*SALVO, "lab", *words], stdout=subprocess.PIPE, cwd=folder, env=_environment(folder))
        )


@pytest.fixture(autouse=True)
def _certificates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_certificates(tmp_path / "keys", ["localhost", "127.0.0.1"])
    monkeypatch.setenv("SALVO_LAB_TLS", str(tmp_path / "keys"))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Where the command is given: no host has its files."""
    home = tmp_path / "home"
    (home / "data").mkdir(parents=True)
    (home / "mine.py").write_text(FRAIL)
    (home / "helper.py").write_text("CODE = 9\n")
    (home / "data" / "modulus.txt").write_text("211")
    (home / "pond.toml").write_text(POND)
    return home


def _run(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*SALVO, *words],
        capture_output=True,
        text=True,
        timeout=240,
        env=_environment(home / "cache"),
        cwd=home,
        check=False,
    )


@pytest.mark.slow
def test_a_host_with_other_code_does_not_play(tmp_path: Path, home: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "sitecustomize.py").write_text(
        "import salvo_lab.blocks as blocks\nblocks.software = lambda: {'Python': '3.11', \"Salvo's code\": 'old'}\n"
    )
    with ExitStack() as leaving, pytest.MonkeyPatch.context() as patched:
        hosts = Hosts(tmp_path, leaving)
        patched.setenv("PYTHONPATH", str(other))
        old = hosts.add()
        patched.delenv("PYTHONPATH")
        found = _run(home, "play", "hunter", "random", "--games", "5", "--scheduler", hosts.url)
    assert found.returncode == 1
    assert re.search(rf"error: host_versions: Salvo's code is \w+ on host {re.escape(old)}, and \w+ here", found.stderr)


@pytest.mark.slow
def test_only_clients_with_the_clusters_certificates_may_connect(tmp_path: Path, home: Path) -> None:
    for folder in ("ours", "theirs"):
        assert _run(home, "tls", str(tmp_path / folder)).returncode == 0
    ours, theirs = ("--tls", str(tmp_path / "ours")), ("--tls", str(tmp_path / "theirs"))
    command = ("play", "mine.py", "hunter", "--games", "60", "--seed", "5", "--rules", "pond.toml", "--json")
    with ExitStack() as leaving:
        hosts = Hosts(tmp_path, leaving, *ours)
        assert hosts.url.startswith("tls://127.0.0.1:")
        hosts.add()
        stranger = _run(home, *command, "--scheduler", hosts.url, *theirs)
        plain = _run(home, *command, "--scheduler", hosts.url.replace("tls", "tcp"))
        found = _run(home, *command, "--scheduler", hosts.url, *ours)
    assert found.stdout == _run(home, *command).stdout
    assert (stranger.returncode, stranger.stdout) == (1, "")
    assert "error: bad_tls: the scheduler at tls://127.0.0.1:" in stranger.stderr
    assert (plain.returncode, plain.stdout) == (2, "")
    assert "error: lab_without_tls:" in plain.stderr


def test_another_user_of_the_machine_reaches_no_host(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither without TLS, as Dask itself connects, nor with certificates of their own."""
    with ExitStack() as leaving:
        hosts = Hosts(tmp_path, leaving)
        hosts.add()
        connect = "import distributed, sys; distributed.Client(sys.argv[1], timeout=30); print('connected')"
        plain = subprocess.run(
            [sys.executable, "-c", connect, hosts.url.replace("tls", "tcp")],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (plain.returncode, plain.stdout) == (1, ""), plain.stderr
        make_certificates(tmp_path / "theirs", ["localhost", "127.0.0.1"])
        monkeypatch.setenv("SALVO_LAB_TLS", str(tmp_path / "theirs"))
        play = ("play", "hunter", "random", "--games", "2", "--scheduler", hosts.url)
        stranger = _run(home, *play)
        assert (stranger.returncode, "error: bad_tls: the scheduler at" in stranger.stderr) == (1, True), (
            stranger.stderr
        )
