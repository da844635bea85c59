"""Requests to the front before everything."""

from __future__ import annotations

import contextlib
import http.client

from kit.accounts import team
from kit.front import Front

RED = team("red")[0]


def answer(front: Front, path: str) -> tuple[int, str | None, bytes]:
    """Status, policy and body."""
    trusted = front.certificate.trusted()
    with contextlib.closing(http.client.HTTPSConnection("127.0.0.1", front.web_port, context=trusted)) as asking:
        asking.request("GET", path, headers={"Host": "contest.example"})
        with asking.getresponse() as given:
            return given.status, given.headers["Content-Security-Policy"], given.read()


def statuses(front: Front, path: str, number: int) -> list[int]:
    """Ask again and again on one connection, as a browser does."""
    trusted = front.certificate.trusted()
    with contextlib.closing(http.client.HTTPSConnection("127.0.0.1", front.web_port, context=trusted)) as asking:
        found = []
        for _ in range(number):
            asking.request("GET", path)
            with asking.getresponse() as given:
                given.read()
                found.append(given.status)
        return found
