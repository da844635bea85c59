"""``stream.js`` in a browser, before a front whose network goes away, on a machine where somebody sets the clock."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Mount, Route

from kit.browser import Browser, move_clock, until
from kit.programs import needs
from kit.web_front import in_this_process
from salvo_display.web_server.web_pages import static_files

pytestmark = [needs("chromium"), pytest.mark.long]

_PAGE = """<script type="module">
    import { follow } from "/static/stream.js";
    Object.assign(window, { pictures: 0, lost: [], looks: 0 });
    setInterval(() => looks++, 1000); // as often as the stream is looked at
    follow("/events", () => pictures++, (away) => lost.push(away));
</script>"""
_HOUR_MS = 3_600_000


@pytest.mark.parametrize("hours", [-1, 2])
def test_a_page_misses_its_front_after_half_a_minute_whoever_sets_the_clock(shared: Browser, hours: int) -> None:
    """The story: an hour back, a page did not notice for an hour that the front was gone; forth, it did at once."""

    async def events(_: Request) -> Response:
        async def silent() -> AsyncIterator[str]:
            yield "data: 1\n\n"
            await anyio.sleep_forever()

        return StreamingResponse(silent(), media_type="text/event-stream")

    routes = [Route("/", lambda _: HTMLResponse(_PAGE)), Route("/events", events)]
    with in_this_process(Starlette(routes=[*routes, Mount("/static", static_files("salvo_watch.web"))])) as port:
        shared.open(f"http://127.0.0.1:{port}/")
        until(shared, "window.pictures === 1")
        move_clock(shared, wall_ms=hours * _HOUR_MS)
        shared.run("looks = 0")
        until(shared, "looks > 2")
        assert shared.run("return [pictures, ...lost]") == [1, False]
        move_clock(shared, wall_ms=hours * _HOUR_MS, steady_ms=30_000)
        until(shared, "pictures === 2")
        assert shared.run("return lost.slice(1)") == [True, False]
        shared.open("about:blank")
