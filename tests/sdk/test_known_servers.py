"""The file of servers that were met, also with several bots at once."""

from __future__ import annotations

import contextlib
import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest

from salvo.errors import ImpostorError, SalvoError
from salvo.join.fairness.known_servers import KnownServers
from salvo.wire.seal import fingerprint

KEY, OTHER = bytes(range(32)), bytes(range(1, 33))


@pytest.fixture
def known(tmp_path: Path) -> KnownServers:
    return KnownServers(tmp_path / "folder" / "known_servers.json")


def test_a_servers_key_is_stored_at_first_contact_and_compared_later(known: KnownServers) -> None:
    assert known.key_of("a:1883") is None
    known.meet("a:1883", KEY)
    known.meet("a:1883", KEY)
    known.meet("b:1883", OTHER)
    assert (known.key_of("a:1883"), known.key_of("b:1883")) == (KEY, OTHER)
    assert list(json.loads(known.path.read_text())) == ["a:1883", "b:1883"]


@pytest.mark.parametrize("now", [OTHER, None])
def test_another_server_is_refused_with_both_fingerprints_and_a_cure(known: KnownServers, now: bytes | None) -> None:
    known.meet("a:1883", KEY)
    with pytest.raises(ImpostorError) as raised:
        known.meet("a:1883", now)
    assert raised.value.code == "server_changed"
    for part in (fingerprint(KEY), "without a key" if now is None else fingerprint(now), str(known.path), "a:1883"):
        assert part in raised.value.text
    assert known.key_of("a:1883") == KEY


@pytest.mark.parametrize(
    "content", ["", "[]", "3", '{"a:1": 3}', '{"a:1": "AAAA"}', '{"a:1": "?"}', '{"a:1":"x","a:1":"x"}', "\x00"]
)
def test_a_damaged_known_servers_file_is_reported_and_left_unchanged(known: KnownServers, content: str) -> None:
    known.path.parent.mkdir()
    known.path.write_text(content)
    damaged = r"known_servers: .*known_servers\.json is damaged .*: repair it, or remove it"
    with pytest.raises(SalvoError, match=damaged):
        known.key_of("a:1")
    with pytest.raises(SalvoError, match=damaged):
        known.meet("a:1", KEY)
    assert known.path.read_text() == content


def test_a_bot_plays_though_the_known_servers_file_cannot_be_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    with caplog.at_level(logging.WARNING):
        KnownServers(tmp_path / "file" / "known.json").meet("a:1", KEY)
    assert "cannot remember the server" in caplog.text


_MEET_MANY = """
import sys
from pathlib import Path
from salvo.join.fairness.known_servers import KnownServers
path, number, key = sys.argv[1:]
print("ready", flush=True)
sys.stdin.readline()
known = KnownServers(Path(path))
for server in range(20):
    known.meet(f"{number}:{server}", bytes.fromhex(key))
    known.meet(f"all:{server}", bytes.fromhex(key))
"""


@pytest.mark.long
def test_bots_that_start_at_once_lose_nothing_of_each_other(known: KnownServers) -> None:
    pipe = subprocess.PIPE
    with contextlib.ExitStack() as stack:
        bots = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", _MEET_MANY, str(known.path), str(number), KEY.hex()], stdin=pipe, stdout=pipe
                )
            )
            for number in range(4)
        ]
        for bot in bots:
            assert bot.stdout is not None
            assert bot.stdout.readline() == b"ready\n"
        for bot in bots:
            assert bot.stdin is not None
            bot.stdin.write(b"go\n")
            bot.stdin.flush()
        assert [bot.wait(60) for bot in bots] == [0, 0, 0, 0]
    assert len(json.loads(known.path.read_text())) == 4 * 20 + 20
    assert sorted(path.name for path in known.path.parent.iterdir()) == [
        "known_servers.json",
        "known_servers.json.lock",
    ]
