"""What the hall tells people to type or to scan: addresses that lead there, from where they are."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin

import pytest
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from kit.web_front import WebFront, in_this_process
from salvo.net.mqtt import BrokerUrl
from salvo_display.web_page.qr import qr_code
from salvo_watch.archive import Archive
from salvo_watch.commands.web import where_teams_join
from salvo_watch.web.app import Front, application
from salvo_watch.web.games import routes
from salvo_watch.web.relay import Relay


def hall(address: str, seen_as: str, *games: Route) -> str:
    """Return the hall's page as a browser gets it that calls the front so."""
    app = application(Relay([]), Front(address, "mqtt://10.1.2.3:1883"), games)
    with in_this_process(app) as port:
        return WebFront(f"http://127.0.0.1:{port}/").get("/", Host=seen_as)[2].decode()


@pytest.mark.parametrize("seen_as", ["127.0.0.1:8080", "localhost:8080", "[::1]:8080"])
def test_a_hall_that_others_reach_names_their_address_on_the_machine_itself_too(seen_as: str) -> None:
    page = hall("http://10.1.2.3:8080", seen_as)
    assert "<b>http://10.1.2.3:8080</b>" in page
    assert 'id="qr"' in page
    assert "http://10.1.2.3:8080/sdk" in page


def test_a_page_only_its_machine_reaches_has_no_qr_code_and_shows_how_to_open_it() -> None:
    page = hall("http://127.0.0.1:8080", "127.0.0.1:8080")
    assert "Only this machine reaches this page" in page
    assert "qr.svg" not in page
    assert "--web 0.0.0.0:8080" in page


def test_where_games_are_recorded_the_end_leads_to_them_and_elsewhere_it_names_the_option() -> None:
    address, here = "http://10.1.2.3:8080", "10.1.2.3:8080"
    recorded = hall(address, here, Route("/games", PlainTextResponse("games")))
    assert "Watch again" in recorded
    assert "<b>10.1.2.3:8080<wbr>/games</b>" in recorded
    unrecorded = hall(address, here)
    assert "Watch again" not in unrecorded
    assert "salvo serve --transcripts DIR" in unrecorded


@pytest.mark.parametrize(
    ("broker", "page", "shown"),
    [
        ("mqtt://127.0.0.1:1883", "http://10.1.2.3:8080/", "ws://10.1.2.3:8080/mqtt"),
        ("mqtt://localhost:1883", "https://10.1.2.3/", "wss://10.1.2.3/mqtt"),
        ("mqtt://10.1.2.3:1883", "http://10.1.2.3:8080/", "mqtt://10.1.2.3:1883"),
        ("mqtt://127.0.0.1:1883", "http://127.0.0.1:8080/", "mqtt://127.0.0.1:1883"),
        ("mqtt://127.0.0.1:1883", "", "mqtt://127.0.0.1:1883"),
    ],
)
def test_teams_are_led_through_the_page_to_a_broker_that_only_its_machine_reaches(
    broker: str, page: str, shown: str
) -> None:
    assert where_teams_join(BrokerUrl.parse(broker), page) == shown


#: Where a proxy shows the pages, and its header for that.
OUTSIDE, PREFIX = "https://example.org", {"X-Forwarded-Prefix": "/salvo", "X-Forwarded-Proto": "https"}


def links(page: str, address: str) -> set[str]:
    """Return where a page leads that a browser has at an address."""
    return {urljoin(address, found) for found in re.findall(r'(?:href|src|action)="([^"#]+)"', page)} - {"data:,"}


@pytest.mark.parametrize("path", ["/", "/tables", "/sdk", "/games", "/nothing/at/all", "/games/nope"])
@pytest.mark.parametrize("given", [PREFIX, {}], ids=["its proxy names the path", "its proxy does not"])
def test_every_link_of_a_page_under_a_path_stays_below_it(path: str, given: dict[str, str], tmp_path: Path) -> None:
    with under_a_path(tmp_path) as front:
        page = front.get(path, Host="example.org", **given)[2].decode()
    found = links(page, f"{OUTSIDE}/salvo{path}")
    assert len(found) > 1 or "games" in path
    assert {link for link in found if not link.startswith(f"{OUTSIDE}/salvo/")} == set()
    assert {f"{OUTSIDE}/salvo/", f"{OUTSIDE}/salvo/tables"} <= found or path == "/games/nope"


def test_addresses_to_type_or_scan_have_the_path_of_a_proxy_that_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def address(**given: str) -> str:
        page = front.get("/sdk", Host="example.org", **given)[2].decode()
        found = re.search(r"pip install (\S+)/sdk/", page)
        assert found is not None
        return found[1]

    with under_a_path(tmp_path) as front:
        assert address(**PREFIX) == f"{OUTSIDE}/salvo"
        assert front.get("/qr.svg", Host="example.org", **PREFIX)[2] == qr_code(f"{OUTSIDE}/salvo/").encode()
        assert address(**{"X-Forwarded-Prefix": "/a/b/"}) == "http://example.org/a/b"
        for odd in (
            "//evil.example",
            "/a//b",
            "/../x",
            "/a/..",
            "evil",
            '/a"b',
            "/a b",
            "/<b>",
            "/a?b",
            f"/{'a' * 101}",
        ):
            assert address(**{"X-Forwarded-Prefix": odd}) == "http://example.org"
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "10.1.2.3")
    with under_a_path(tmp_path) as front:
        assert address(**PREFIX) == "http://example.org"
    with under_a_path(tmp_path, cached="example.org") as front:
        assert address() == "http://example.org/salvo"


@contextlib.contextmanager
def under_a_path(folder: Path, cached: str = "") -> Iterator[WebFront]:
    front = Front(f"{OUTSIDE}/salvo" if cached else OUTSIDE, "", frozenset({"example.org"}), cached)
    app = application(Relay([]), front, routes(Archive([str(folder)])))
    with in_this_process(app) as port:
        yield WebFront(f"http://127.0.0.1:{port}/")
