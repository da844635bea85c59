"""What pages of other sites try at the web front."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kit.patches import Patch
from salvo_watch.web import app as web
from salvo_watch.web.relay import Relay


def _be_served_under_a_name_of_another_site() -> bool:
    """A page reads the hall in a visitor's network when its own name leads there."""
    spoken: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        spoken.append(message)

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/qr.svg",
        "query_string": b"",
        "headers": [(b"host", b"evil.example")],
    }

    async def ask() -> None:
        await pages(scope, receive, send)

    pages = web.application(Relay([], boards=False, delay_seconds=0), web.Front("http://127.0.0.1", ""))
    asyncio.run(ask())
    return bool(spoken[0]["status"] == 200)


def _know_every_host(patch: Patch) -> None:
    patch.setattr(web, "is_known_host", lambda *given: True)


def test_a_page_under_a_name_of_another_site_is_not_served_and_would_be_without_the_check(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert not _be_served_under_a_name_of_another_site()
    _know_every_host(monkeypatch)
    assert _be_served_under_a_name_of_another_site()
