"""Which names a browser may call a server by, and which pages may connect to it."""

from __future__ import annotations

import pytest

from salvo_server.brokers.embedded.addresses import is_known_host, is_known_origin
from salvo_server.brokers.embedded.plain_http import is_of_another_site

NAMES = ("battleship.example", "Games.Example")


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("127.0.0.1:8080", True),
        ("192.0.2.7", True),
        ("[2001:db8::7]:8080", True),
        ("localhost:8080", True),
        ("salvo.localhost", True),
        ("server:9464", True),  # in a network of containers
        ("battleship.example:8443", True),
        ("BATTLESHIP.example.", True),
        ("games.example", True),
        ("evil.example", False),
        ("battleship.example.evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("127.0.0.1:8080@evil.example", False),
        ("evil.example:80:80", False),
        ("", False),
    ],
)
def test_only_host_names_that_no_other_site_can_own_are_trusted(host: str, known: bool) -> None:
    assert is_known_host(host, NAMES) is known


@pytest.mark.parametrize(
    ("origin", "admitted"),
    [
        ("http://127.0.0.1:8080", True),  # the hall, at another port of the same address
        ("http://localhost:5173", True),  # a client that is being written
        ("http://127.0.0.9:3000", True),
        ("https://battleship.example", True),
        ("file://", True),  # an explorer that is a page in a program
        ("app://explorer", True),
        ("vscode-webview://1f2e", True),
        ("https://evil.example", False),
        ("HTTPS://evil.example:443", False),
        ("http://203.0.113.9", False),
        ("http://", False),
        ("null", False),  # a page in a frame that hides where it is from
    ],
)
def test_a_page_of_another_site_may_not_open_a_websocket(origin: str, admitted: bool) -> None:
    assert is_known_origin(origin, "127.0.0.1:9001", NAMES) is admitted
    head = f"GET /mqtt HTTP/1.1\r\nHost: 127.0.0.1:9001\r\noRIGIN: {origin}\r\nUpgrade: websocket\r\n\r\n".encode()
    assert is_of_another_site(head, NAMES) is not admitted


@pytest.mark.parametrize(
    ("lines", "foreign"),
    [
        (b"Host: 127.0.0.1:9001\r\n", False),  # a program, which sends no origin
        (b"Host: evil.example\r\n", False),  # neither does one that knows this machine by another name
        (b"Host: evil.example\r\nOrigin: http://evil.example\r\n", True),
        (b"Origin: http://localhost\r\n", True),
        (b"Host: localhost\r\nOrigin: \xff\r\n", True),
    ],
)
def test_a_page_is_judged_by_origin_and_host_and_a_program_by_neither(lines: bytes, foreign: bool) -> None:
    assert is_of_another_site(b"GET / HTTP/1.1\r\n" + lines + b"\r\n", ()) is foreign
