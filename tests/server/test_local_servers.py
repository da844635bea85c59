"""A server that runs is found beside its roster; one that was killed is not."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from salvo_server.operations.local_servers import announced, running_servers
from salvo_server.settings import ServerSettings


def settings(tmp_path: Path, **given: Any) -> ServerSettings:
    known: dict[str, Any] = {"roster": tmp_path / "roster.json", "journal": "none", "listen": "0.0.0.0:0"}
    return ServerSettings(**known | given)


def file_of(tmp_path: Path) -> Path:
    [file] = tmp_path.glob("*.serving")
    return file


def test_a_server_is_found_as_long_as_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    given = settings(tmp_path, journal="a.journal", identity=Path("id.key"), tables=("blue",), profile="open")
    roster = tmp_path / "roster.json"
    with announced(given, "mqtt://127.0.0.1:7000", "ws://127.0.0.1:7001/mqtt"):
        [found] = running_servers(roster)
        assert running_servers(tmp_path / "other.json") == []
        assert stat.S_IMODE(file_of(tmp_path).stat().st_mode) == 0o600
    assert (found.url, found.websocket_url) == ("mqtt://127.0.0.1:7000", "ws://127.0.0.1:7001/mqtt")
    assert (found.settings.listen, found.settings.tables, found.settings.profile) == (
        "0.0.0.0:7000",
        ("blue",),
        "open",
    )
    # as they are found from any folder
    assert (found.settings.journal, found.settings.identity) == (str(tmp_path / "a.journal"), tmp_path / "id.key")
    assert running_servers(roster) == []
    assert list(tmp_path.iterdir()) == []


def test_the_file_of_a_running_server_has_no_password(tmp_path: Path) -> None:
    given = settings(
        tmp_path, broker="mqtt://me:hush@far:1883", journal="postgresql://me:hush@far/games", seed="hush", listen="x:1"
    )
    with announced(given, "mqtt://far:1883", None):
        assert "hush" not in file_of(tmp_path).read_text()
        [found] = running_servers(tmp_path / "roster.json")
    assert (found.settings.broker, found.settings.journal) == ("mqtt://far:1883", "postgresql://")


def test_the_announcement_file_of_a_killed_server_is_removed(tmp_path: Path) -> None:
    with announced(settings(tmp_path), "mqtt://127.0.0.1:7000", None):
        left = file_of(tmp_path).with_name("roster.json.left.serving")
        left.write_bytes(file_of(tmp_path).read_bytes())  # but nobody holds this one
        assert len(running_servers(tmp_path / "roster.json")) == 1
        assert not left.exists()
