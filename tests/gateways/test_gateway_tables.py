"""What a table of older systems has of theirs: the next game opens at once, people take their time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from salvo.rules import XBS
from salvo_server.contest import Contest
from salvo_server.operations.gateway_calls import read_gateway, with_rules_of_gateways
from salvo_server.settings import PEOPLE_TURN_SECONDS, ServerSettings, load_settings


@pytest.mark.parametrize(
    ("line", "table"),
    [
        ("xbs", ""),
        ("xbs --table friday --listen 'a --table'", "friday"),
        ("smackdown --listen 127.0.0.1:0", None),
        ("jsonline", None),
    ],
)
def test_a_gateways_table_is_read_off_its_options(line: str, table: str | None) -> None:
    assert read_gateway(line, XBS).table == table


def limits(settings: ServerSettings) -> dict[str, tuple[int, int]]:
    """Return the time of a turn and of a result at each table, of which two have a gateway; no broker is reached."""
    contest = Contest(settings, gateway_tables={"": True, "b": False})
    found = {name: table.referee.rules for name, table in contest.service.tables.items()}
    contest.end()
    contest.run()  # closes all
    return {name: (rules.turn_seconds, rules.over_seconds) for name, rules in found.items()}


GIVEN: dict[str, Any] = {"tables": ("b", "c"), "broker": "mqtt://127.0.0.1:1", "journal": "none", "rules": "xbs"}


def test_a_result_stands_a_second_there_and_people_have_minutes_for_a_turn() -> None:
    assert load_settings(GIVEN).book == XBS
    assert limits(load_settings(GIVEN)) == {"": (PEOPLE_TURN_SECONDS, 1), "b": (30, 1), "c": (30, 300)}


@pytest.mark.parametrize("source", ["option", "file", "environment"])
def test_an_explicit_setting_holds_at_every_gateway_table(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = {"over_seconds": 300, "turn_seconds": 30}
    file = tmp_path / "contest.toml"
    file.write_text("".join(f"{key} = {value}\n" for key, value in changes.items()) if source == "file" else "")
    if source == "environment":
        for key, value in changes.items():
            monkeypatch.setenv(f"SALVO_{key.upper()}", str(value))
    given = GIVEN | (changes if source == "option" else {})
    assert set(limits(load_settings(given, file)).values()) == {(30, 300)}
    assert load_settings(given, file).with_journal().gateway_limits(for_people=True).turn_ms == 30_000


@pytest.mark.parametrize(
    ("lines", "rules"),
    [
        ([], "salvo"),
        (["telnet"], "salvo"),
        (["xbs --listen 127.0.0.1:0"], "xbs"),
        (["jsonline", "classic"], "salvo"),
    ],
)
def test_the_first_gateways_own_book_is_played_where_none_is_named(lines: list[str], rules: str) -> None:
    assert with_rules_of_gateways(load_settings({"gateways": tuple(lines)})).book.name == rules
    named = load_settings({"gateways": tuple(lines), "rules": "streak"})
    assert with_rules_of_gateways(named) is named


@pytest.mark.parametrize(("line", "people"), [("xbs", True), ("jsonline", False), ("classic", False)])
def test_people_sit_at_the_other_end_of_xbs(line: str, people: bool) -> None:
    settings = with_rules_of_gateways(load_settings({"gateways": (line,)}))
    assert read_gateway(line, settings.book).for_people is people
