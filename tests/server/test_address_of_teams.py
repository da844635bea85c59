"""The address that `salvo teams` prints for a team to type: never one that only the server may use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from salvo_server.commands.teams import teams
from salvo_server.operations.local_servers import announced
from salvo_server.settings import ServerSettings

_PRIVATE = "mqtt://127.0.0.1:1884"
_OUTSIDE = "mqtt://192.0.2.7:1883"


@pytest.fixture
def roster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Run a server with this roster at a listener of a broker that is for it alone."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("SALVO_JOIN", raising=False)
    roster = tmp_path / "roster.json"
    settings = ServerSettings(roster=roster, journal="none", broker=_PRIVATE)
    with announced(settings, _PRIVATE, None):
        yield roster


def run(roster: Path, *words: str, join: str | None = None) -> Result:
    return CliRunner().invoke(teams, ["--roster", str(roster), *words], env={"SALVO_JOIN": join})


@pytest.mark.parametrize(
    ("options", "join", "address"),
    [
        pytest.param([], None, "mqtt://HOST:PORT", id="which the organiser alone knows"),
        pytest.param([], "", "mqtt://HOST:PORT", id="an empty variable"),
        pytest.param([], _OUTSIDE, _OUTSIDE, id="the variable that the pages have, too"),
        pytest.param(["--url", _OUTSIDE], "mqtt://elsewhere", _OUTSIDE, id="an option comes first"),
    ],
)
def test_a_team_never_reads_the_listener_of_the_server_alone(
    roster: Path, options: list[str], join: str | None, address: str
) -> None:
    for words in (["add", "red"], ["rotate", "red"]):
        done = run(roster, *words, *options, join=join)
        assert done.exit_code == 0, done.output
        assert f"  play:     salvo join {address} bot.py --team red\n" in done.output
        assert "1884" not in done.output


def test_cards_have_the_address_of_the_variable_and_none_without_it(roster: Path, tmp_path: Path) -> None:
    cards = ["--cards", str(tmp_path / "cards.html")]
    refused = run(roster, "add", "red", *cards)
    assert refused.exit_code == 1
    assert getattr(refused.exception, "code", "") == "bad_url"
    assert f" for {_OUTSIDE}, server " in run(roster, "add", "red", *cards, join=_OUTSIDE).output


def test_an_address_that_is_none_is_refused_before_a_secret_is_made(roster: Path) -> None:
    assert getattr(run(roster, "add", "red", "--url", "ftp://h").exception, "code", "") == "bad_url"
    assert "has no names yet" in run(roster, "list").output
