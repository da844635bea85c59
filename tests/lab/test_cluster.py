"""What hosts are given and asked, without any: bots by content, addresses, and games with patience."""

from __future__ import annotations

import sys
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from distributed import CancelledError, KilledWorker

from salvo.bots.versions import MAX_FILES
from salvo.errors import BotError, MissingExtra, SalvoError
from salvo_lab import cluster
from salvo_lab.cluster import Cluster, security_for
from salvo_lab.simulation.on_hosts import ship
from salvo_server.commands.tls import make_certificates

BOT = "import salvo\n\n\n@salvo.bot\ndef fire(view):\n    return view.untouched.sample(view.shots)\n"

#: The host that was lost last, of which its error names the address.
LAST: Any = SimpleNamespace(address="tls://192.0.2.1:1")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_a_bot_is_unpacked_with_all_that_is_in_its_folder(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "weights" / "deep").mkdir(parents=True)
    (home / "mine.py").write_text(BOT)
    (home / "weights" / "deep" / "a.bin").write_bytes(b"\0" * 2_000_000)
    (home / ".secret").write_text("not for hosts")
    [bot, builtin] = ship([f"{home / 'mine.py'}:fire", "hunter"])
    assert builtin.unpacked() == "hunter"
    there = bot.unpacked()
    assert there.endswith("/mine.py:fire")
    folder = Path(there).parent
    assert sorted(path.name for path in folder.rglob("*") if path.is_file()) == ["a.bin", "mine.py"]
    assert bot.unpacked() == there
    text = f"bad (importing {folder / 'mine.py'}); {folder / 'helper.py'}"
    assert bot.seen_there(text) == f"bad (importing {home / 'mine.py'}); {home / 'helper.py'}"


def test_a_bot_that_cannot_be_sent_to_other_hosts_is_refused(tmp_path: Path) -> None:
    for source, code in (("exec:perl mybot.pl", "bad_bot"), (str(tmp_path / "none.py"), "bad_bot")):
        with pytest.raises(BotError) as raised:
            ship([source])
        assert raised.value.code == code
    (tmp_path / "mine.py").write_text(BOT)
    for number in range(MAX_FILES):
        (tmp_path / f"{number}.txt").touch()
    with pytest.raises(BotError, match="put the bot into a folder of its own"):
        ship([str(tmp_path / "mine.py")])


@pytest.mark.parametrize(
    ("url", "tls", "code"),
    [
        ("127.0.0.1:8786", None, "bad_lab_url"),
        ("tcp://127.0.0.1", None, "bad_lab_url"),
        ("tcp://127.0.0.1:many", None, "bad_lab_url"),
        ("mqtt://127.0.0.1:1", None, "bad_lab_url"),
        ("tls://lab..example:1", None, "bad_lab_url"),
        ("tls://[::1:1", None, "bad_lab_url"),
        ("tcp://192.0.2.1:8786", None, "lab_without_tls"),
        ("tcp://0.0.0.0:8786", None, "lab_without_tls"),
        ("tcp://lab.example:8786", None, "lab_without_tls"),
        ("tls://192.0.2.1:8786", None, "lab_without_tls"),
        ("tcp://127.0.0.1:8786", Path(), "lab_without_tls"),
        ("tls://127.0.0.1:8786", None, "lab_without_tls"),
        ("tls://127.0.0.1:8786", Path("nowhere"), "bad_tls"),
    ],
)
def test_an_address_that_anybody_could_use_to_run_code_is_refused(url: str, tls: Path | None, code: str) -> None:
    with pytest.raises(SalvoError) as raised:
        security_for(url, tls)
    assert raised.value.code == code


def test_without_dask_the_error_names_the_extra_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.setattr(cluster, "knock", lambda *_: None)
    make_certificates(tmp_path, ["localhost"])
    with pytest.raises(MissingExtra, match=r"battleship-salvo\[cluster\]"):
        Cluster("tls://127.0.0.1:1", tmp_path)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OSError("the connection broke while the result was fetched"), "host_failed"),
        (KilledWorker("block", LAST, 20), "host_failed"),
        (CancelledError("the scheduler went away"), "scheduler_lost"),
    ],
    ids=["connection", "hosts", "scheduler"],
)
def test_a_block_whose_result_never_comes_is_an_error_with_a_code(error: BaseException, code: str) -> None:
    class Lost:
        is_released = False

        def result(self) -> Any:
            raise error

        def release(self) -> None:
            self.is_released = True

    block: Future[Any] = Future()
    task: Any = Lost()
    cluster._answer(block, task)
    failed = block.exception(timeout=0)
    assert isinstance(failed, SalvoError)
    assert failed.code == code
    assert task.is_released
