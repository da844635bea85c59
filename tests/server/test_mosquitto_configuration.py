"""What ``salvo mosquitto`` writes, read as text; brokers that start from it are in ``live``."""

from __future__ import annotations

from pathlib import Path

from salvo_server.brokers.mosquitto.config import LISTENERS, configuration, open_configuration

#: By mosquitto 2.1; 3.0 will no longer read them.
DEPRECATED = {"acl_file", "password_file", "per_listener_settings"}


def _options(text: str) -> set[str]:
    return {line.split()[0] for line in text.splitlines() if line and not line.startswith("#")}


def test_only_an_open_contests_rights_need_an_option_that_mosquitto_deprecates() -> None:
    folder = Path("/broker")
    assert not DEPRECATED & _options(configuration(folder, folder / "plugin.so", LISTENERS, None))
    assert DEPRECATED & _options(open_configuration(folder, LISTENERS, None)) == {"acl_file"}
