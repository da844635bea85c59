"""How long a result stands at a table of older systems, whose own servers open the next game at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from salvo.rules import XBS
from salvo_server.cli.gateway import read_gateway
from salvo_server.contest import Contest
from salvo_server.settings import GATEWAY_OVER_SECONDS, ServerSettings, load_settings


@pytest.mark.parametrize(
    ("line", "table"),
    [
        ("xbs", ""),
        ("xbs --table friday --title 'a --table'", "friday"),
        ("smackdown --table=b --exec 'bot --table c' --name ann", "b"),
    ],
)
def test_a_gateways_table_is_read_off_its_options(line: str, table: str) -> None:
    rules = "xbs" if line.startswith("xbs") else "smackdown"
    assert read_gateway(line, load_settings({"rules": rules}).book).table == table


def over_seconds(settings: ServerSettings) -> dict[str, int]:
    """Return how long a result stands at each table, of which two have a gateway; no broker is reached for that."""
    contest = Contest(settings, gateway_tables=["", "b"])
    found = {name: table.referee.rules.over_seconds for name, table in contest.service.tables.items()}
    contest.end()
    contest.run()  # closes all
    return found


GIVEN: dict[str, Any] = {"tables": ("b", "c"), "broker": "mqtt://127.0.0.1:1", "journal": "none", "rules": "xbs"}


def test_it_is_a_second_there_and_as_long_as_ever_elsewhere() -> None:
    assert load_settings(GIVEN).book == XBS
    assert over_seconds(load_settings(GIVEN)) == {"": GATEWAY_OVER_SECONDS, "b": GATEWAY_OVER_SECONDS, "c": 300}


@pytest.mark.parametrize("source", ["option", "file", "environment"])
def test_what_somebody_has_said_holds_at_every_table(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "contest.toml"
    file.write_text("over_seconds = 300\n" if source == "file" else "")
    if source == "environment":
        monkeypatch.setenv("SALVO_OVER_SECONDS", "300")
    said = {"over_seconds": 300} if source == "option" else {}
    assert over_seconds(load_settings(GIVEN | said, file)) == {"": 300, "b": 300, "c": 300}
    assert load_settings(GIVEN | said, file).with_journal().gateway_limits.over_ms == 300_000
