"""Cards to print: what they say, whose their file is, and what becomes of the secrets when it cannot be written."""

from __future__ import annotations

import re
import subprocess
from html import unescape
from pathlib import Path

import pytest

from kit import command_line
from salvo.cli import output
from salvo.wire.roles_and_rights import Role
from salvo_server.host.cards import Venue, cards_page
from salvo_server.operations.local_servers import announced
from salvo_server.settings import load_settings
from salvo_server.storage.identity import load_identity
from salvo_server.storage.roster import Member, Roster

_ADDRESS = "mqtt://192.0.2.7:1883"
_WEB = "http://192.0.2.7:8080"
_HOSTILE = "<img src=x onerror=alert(1)>'\"&amp;"


@pytest.fixture
def roster(tmp_path: Path) -> Roster:
    return Roster(tmp_path / "roster.json")


def teams(roster: Roster, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Call ``salvo teams`` with a roster and an identity of its own."""
    folder = roster.path.parent
    own = {"XDG_STATE_HOME": str(folder), "SALVO_IDENTITY": str(folder / "identity.key")}
    return command_line.run("teams", "--roster", str(roster.path), *arguments, cwd=folder, environment=own)


def shown(page: str) -> str:
    """Return the page without pictures, and without what only changes how words look."""
    body = re.sub(r"<(style|svg).*?</\1>", "", page, flags=re.DOTALL)
    return unescape(re.sub(r"</?(span|i|b)\b[^>]*>", "", body))


def test_a_card_prints_what_a_team_types(roster: Roster) -> None:
    done = teams(roster, "add", "red", "--cards", "cards.html", "--url", "192.0.2.7", "--web", f"{_WEB}/")
    [red] = roster.members()
    prints = load_identity(roster.path.parent / "identity.key").fingerprint
    page = (roster.path.parent / "cards.html").read_text()
    text = shown(page)
    for line in (" red<", f">{red.secret}<", f">{_ADDRESS}<", f">{prints}<"):
        assert line in text, line
    assert f"salvo join {_ADDRESS} mybot.py --team red<" in text
    assert f"{_WEB}/sdk" in text
    assert page.count("QR code of http://192.0.2.7:8080/") == 2  # the hall's, and the team's
    assert done.stdout.startswith(f"cards.html: 1 card for {_ADDRESS}, server {prints}, web front {_WEB}/\n")
    assert red.secret not in done.stdout + done.stderr


def test_the_sheet_for_the_wall_and_each_card_have_the_evenings_name(
    roster: Roster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    settings = load_settings({"listen": "127.0.0.1:0", "profile": "contest", "roster": roster.path})
    with announced(settings, _ADDRESS, None, league="Hack Night Cup"):
        done = teams(roster, "add", "red", "blue", "--cards", "cards.html", "--web", _WEB)
    assert done.returncode == 0, done.stderr
    page = shown((tmp_path / "cards.html").read_text())
    assert re.search(r"<h1[^>]*>Hack Night Cup<", page)
    assert page.count("It asks for the secret above. Hack Night Cup<") == 2


def test_a_name_or_an_address_on_a_card_cannot_leave_its_place() -> None:
    member = Member(_HOSTILE, Role.TEAM, "", 4, _HOSTILE)
    page = cards_page([member], Venue(_HOSTILE, _HOSTILE, _HOSTILE, _HOSTILE))
    assert "<img" not in page
    assert '"&amp;' not in page
    assert "<script" not in page
    assert re.search(
        r"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-[^;]*'; base-uri", page
    )


def test_secrets_are_printed_when_the_page_of_cards_cannot_be_written(
    roster: Roster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(output, "replace_file", full)
    done = teams(roster, "add", "red", "--cards", "cards.html")
    assert done.returncode == 1
    assert "No space left" in done.stderr
    assert roster.members()[0].secret in done.stdout


@pytest.mark.parametrize(
    "web",
    [
        *("192.0.2.7:8080", "ftp://a", "http://", "http://a:b", "http://a:99999", "http://a b", "http://a\u200b"),
        *("http://me:hush@a", "http://a/?q", "http://a/#x", "javascript:alert(1)", f"http://{'a' * 200}", "http://[a"),
    ],
)
def test_a_web_address_that_no_browser_opens_is_refused(roster: Roster, web: str) -> None:
    done = teams(roster, "add", "red", "--cards", "cards.html", "--url", _ADDRESS, "--web", web)
    assert done.stderr.startswith("error: bad_url: ")
    assert roster.members() == ()
