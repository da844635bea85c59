"""A channel of the web front: frames for any number of browsers, and a word when there is none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from salvo_watch.web import relay
from salvo_watch.web.relay import FrameStream, frame_of

_ALIVE = b"event: alive\ndata:\n\n"
_NEWS = frame_of(b'"news"')


def test_an_idle_event_stream_sends_keep_alives_and_continues(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "ALIVE_SECONDS", 0.0)

    async def run() -> None:
        channel = FrameStream()
        stream = channel.follow(b"first")
        assert [await anext(stream) for _ in range(3)] == [b"first", _ALIVE, _ALIVE]
        channel.send("news")
        assert [await anext(stream) for _ in range(2)] == [_NEWS, _ALIVE]

    asyncio.run(run())


def test_a_slow_browser_gets_the_newest_of_what_came_while_it_was_busy() -> None:
    async def run() -> None:
        channel = FrameStream()
        stream = channel.follow(b"first")
        assert await anext(stream) == b"first"
        channel.send("1")
        assert await anext(stream) == frame_of(b'"1"')
        channel.send("2")
        channel.send("3")
        assert await anext(stream) == frame_of(b'"3"')

    asyncio.run(run())


def test_a_browser_that_goes_takes_nothing_from_the_others() -> None:
    async def run() -> None:
        channel = FrameStream()
        received: list[bytes] = []

        async def follow() -> None:
            stream = channel.follow(b"first")
            while True:
                received.append(await anext(stream))

        going, staying = (asyncio.create_task(follow()) for _ in range(2))
        await _until(lambda: len(received) == 2)
        going.cancel()
        await asyncio.wait([going])
        assert channel.watchers == 1
        channel.send("news")
        await _until(lambda: len(received) == 3)
        channel.send("more")
        await _until(lambda: len(received) == 4)
        assert received[2:] == [_NEWS, frame_of(b'"more"')]
        staying.cancel()

    asyncio.run(run())


async def _until(done: Callable[[], bool]) -> None:
    while not done():
        await asyncio.sleep(0)
