"""No page, stream or chunk depends on a hidden cell: twin games look the same on all of them until they are over."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import pytest

from kit.twin_games import draw_pair, play, read_by
from kit.unconnected_front import Front
from salvo.codec.log import HEAD
from salvo.wire.roles_and_rights import Role
from salvo_watch.web import app as web
from salvo_watch.web.chunks import Chunks
from salvo_watch.web.relay import Page, json_of
from simulation import crypto

_STREAMS: Final = (Page(""), Page("", live=True), None)
_PAGES: Final = ("/", "/?live", "/?team=ann", "/tables", "/sdk", "/qr.svg")
_FILES: Final = ("/live/head.json?table=", "/live/head.json?table=&live", "/live/head.json", "/healthz")


class Hall:
    """A front of a game, and all that browsers get from it."""

    def __init__(self, *, boards: bool = False) -> None:
        self.front = Front(boards=boards)
        self._app = web.application(self.front.relay, web.Front("http://127.0.0.1:8080", "mqtt://127.0.0.1"))
        for page in _STREAMS:
            self.front.relay.head(page)

    def pictures(self) -> list[bytes]:
        relay = self.front.relay
        return [json_of(relay.overview() if page is None else relay.picture(page)) for page in _STREAMS]

    def answers(self) -> list[Any]:
        """Return the answers to every address, and every chunk that there is."""
        relay, got = self.front.relay, [self._get(address) for address in (*_PAGES, *_FILES)]
        newest = int(self.front.loop.now)
        return got + [relay.chunk(page, second) for page in _STREAMS for second in range(newest - 9, newest)]

    def _get(self, address: str) -> list[Any]:
        answer: list[Any] = []
        path, _, query = address.partition("?")
        scope = {"type": "http", "method": "GET", "path": path, "query_string": query.encode(), "scheme": "http"}
        scope |= {"headers": [(b"host", b"127.0.0.1:8080")], "client": ("127.0.0.1", 5)}

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            answer.append(message)

        async def ask() -> None:
            await self._app(scope, receive, send)

        asyncio.run(ask())
        assert answer[0]["status"] in (200, 503)
        return answer


def differ(seed: int, patch: pytest.MonkeyPatch, *, boards: bool = False) -> bool:
    """Show twin games to two halls, message by message; return whether the halls ever differ."""
    for module in crypto.DERIVING:
        patch.setattr(module, "derive_key", crypto.derive_key)
    now = 0.0
    patch.setattr("salvo_watch.web.relay.Chunks", lambda: Chunks(lambda: now))
    plan, twin = draw_pair(seed)
    halls = [Hall(boards=boards) for _ in range(2)]
    reader = (Role.REFEREE, "ref") if boards else (Role.WATCHER, "hall")
    for number, messages in enumerate(zip(*(read_by(*reader, play(game)) for game in (plan, twin.plan)), strict=False)):
        if messages[0].payload.startswith(HEAD) and b'"reveal":' in messages[0].payload[:200]:
            break
        assert messages[0].topic == messages[1].topic
        now += 0.2
        for hall, message in zip(halls, messages, strict=True):
            hall.front.receive(message.topic, message.payload)
            hall.front.loop.run_to(now)
        one, other = (hall.pictures() + (hall.answers() if number % 50 == 0 else []) for hall in halls)
        if one != other:
            return True
    return False


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_twin_games_look_the_same_on_every_page_until_they_are_over(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not differ(seed, monkeypatch)


@pytest.mark.long
def test_pages_of_commentators_show_the_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the test above could not fail."""
    assert differ(0, monkeypatch, boards=True)
