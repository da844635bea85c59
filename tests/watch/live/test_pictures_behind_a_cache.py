"""``live.js`` in a browser, before a server that gives it chunks."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route

from kit.browser import Browser, until
from kit.programs import needs
from kit.web_front import in_this_process
from salvo_display.web_server.web_pages import static_files

_PAGE = """<nav data-cached></nav><script type="module">
    import { live } from "/static/live.js";
    window.shown = [];
    live("", (picture) => shown.push(picture), () => {});
</script>"""


@needs("chromium")
def test_a_page_that_is_late_loads_what_is_newest_and_shows_no_picture_after_a_newer_one(shared: Browser) -> None:
    """It showed pictures of chunks that it had skipped between those of newer ones."""
    newest = iter((100, 110, 113, 116))
    loaded: list[int] = []

    def head(_: Request) -> Response:
        return JSONResponse({"chunks": list(range(100, next(newest, 116) + 1))[-10:]})

    def chunk(request: Request) -> Response:
        name = request.path_params["name"]
        loaded.append(name)
        return JSONResponse([[100 * number, 10 * name + number] for number in range(10)])

    app = Starlette(
        routes=[
            Route("/", lambda _: HTMLResponse(_PAGE)),
            Route("/live/head.json", head),
            Route("/live/{name:int}.json", chunk),
            Mount("/static", static_files("salvo_watch.web")),
        ]
    )
    with in_this_process(app) as port:
        shared.open(f"http://127.0.0.1:{port}/")
        until(shared, "window.shown && shown.at(-1) === 1169")
        shown = shared.run("return shown")
        shared.open("about:blank")
    assert loaded == [100, *range(108, 117)]
    assert shown == sorted(shown)
    assert shown[0] == 1009  # of the first chunk, the end
