"""A real chromium without a window, driven over chromedriver's HTTP (W3C WebDriver); it asks nobody but us."""

from __future__ import annotations

import base64
import json
import os
import re
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, STDOUT
from typing import Any, Final

from kit import waiting
from kit.processes import started
from kit.programs import path_of
from salvo_display.boards.colours import Colour, luminance

_START_SECONDS: Final = 60.0
_SCRIPT_SECONDS: Final = 50.0
_WAIT_SECONDS: Final = 120.0
#: Between two looks into a page, which cost more than most pages do.
_PAUSE_SECONDS: Final = 0.1
_STARTS: Final = 10
_ARGUMENTS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--disable-features=BackForwardCache",  # pages that were left would keep streams, of which a host has six
)
_MOVED_CLOCK: Final = """
    const moved = { wall: arguments[0], steady: arguments[1] };
    if (window.movedClock) return void Object.assign(window.movedClock, moved);
    window.movedClock = moved;
    const TrueDate = Date, now = performance.now.bind(performance);
    window.Date = class extends TrueDate {
        constructor(...given) { super(...(given.length ? given : [TrueDate.now() + window.movedClock.wall])); }
        static now() { return TrueDate.now() + window.movedClock.wall; }
    };
    performance.now = () => now() + window.movedClock.steady;"""
#: WebDriver's name for an element, and its letters for keys.
_ELEMENT: Final = "element-6066-11e4-a52e-4f735466cecf"
HOME, END, LEFT, RIGHT, SPACE, TAB, ENTER = "\ue011", "\ue010", "\ue012", "\ue014", " ", "\ue004", "\ue007"


class Browser:
    """One window."""

    def __init__(self, driver: str, session: str) -> None:
        self._session = f"{driver}/session/{session}"

    def open(self, address: str) -> None:
        """Load a page; another ``#part`` of the present one is loaded anew, too."""
        self._ask("url", {"url": "about:blank"})
        self._ask("url", {"url": address})

    def run(self, script: str, *given: Any) -> Any:
        """Return what a function's body returns in the page."""
        return self._ask("execute/sync", {"script": script, "args": given})

    def run_async(self, script: str) -> Any:
        """Return what a function's body hands to its last argument, a function."""
        return self._ask("execute/async", {"script": script, "args": []})

    def wait_for(self, condition: str) -> None:
        """Wait until an expression is true; it is looked at whenever the page changes."""
        script = f"""
            const done = arguments[0], look = () => ({condition}) && (watch.disconnect(), done());
            const watch = new MutationObserver(look);
            watch.observe(document, {{subtree: true, childList: true, attributes: true, characterData: true}});
            look();"""
        self.run_async(script)

    def click(self, selector: str) -> None:
        self._ask(f"element/{self._find(selector)}/click", {})

    def label(self, selector: str) -> str:
        """Return by what name a screen reader calls an element."""
        return str(self._ask(f"element/{self._find(selector)}/computedlabel"))

    def press(self, *keys: str) -> None:
        """Press keys one after the other, wherever the focus is."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._ask("actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def drag(self, start: str, end: str, *keys: str) -> None:
        """Drag the middle of an element to the middle of another one, and press keys before letting go."""

        def to(selector: str) -> dict[str, Any]:
            return {"type": "pointerMove", "duration": 0, "x": 0, "y": 0, "origin": {_ELEMENT: self._find(selector)}}

        pressed = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        moves = [to(start), {"type": "pointerDown", "button": 0}, to(end), *[{"type": "pause"}] * len(pressed)]
        mouse = {"type": "pointer", "id": "mouse", "actions": [*moves, {"type": "pointerUp", "button": 0}]}
        waits = [{"type": "pause"}] * 3
        self._ask("actions", {"actions": [mouse, {"type": "key", "id": "keyboard", "actions": [*waits, *pressed]}]})

    def tab(self) -> str:
        """Open another tab, and return its handle; it is in front."""
        handle = str(self._ask("window/new", {"type": "tab"})["handle"])
        self.switch(handle)
        return handle

    def switch(self, handle: str) -> None:
        """Bring a tab to the front."""
        self._ask("window", {"handle": handle})

    def tell(self, command: str, **given: Any) -> Any:
        """Say something in Chrome's own protocol; return its answer."""
        return self._ask("goog/cdp/execute", {"cmd": command, "params": given})

    def resize(self, width: int, height: int) -> None:
        """Be a screen of so many CSS pixels, from the next page on."""
        self.tell("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def picture(self) -> bytes:
        """Return what the window shows, as PNG."""
        return base64.b64decode(self._ask("screenshot"))

    def complaints(self) -> list[str]:
        """Return what stands in the console since the last time: errors, and what a page was not allowed."""
        return [entry["message"] for entry in self._ask("se/log", {"type": "browser"})]

    def _find(self, selector: str) -> str:
        return str(self._ask("element", {"using": "css selector", "value": selector})[_ELEMENT])

    def _ask(self, what: str, body: Any = None) -> Any:
        return ask(f"{self._session}/{what}", body)


def ask(address: str, body: Any = None, method: str | None = None) -> Any:
    """Return what a command comes to; no proxy is between us and this machine's own driver."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, data, {"Content-Type": "application/json"}, method=method)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _Answer)
    with opener.open(request, timeout=_START_SECONDS) as answer:
        value = json.load(answer)["value"]
    assert not (isinstance(value, dict) and "error" in value), f"{value['error']}: {value['message']}"
    return value


class _Answer(urllib.request.HTTPErrorProcessor):
    """An error of WebDriver is an answer that says why."""

    def http_response(self, request: Any, response: Any) -> Any:
        return response


def move_clock(window: Browser, *, wall_ms: int = 0, steady_ms: int = 0) -> None:
    """Set the clocks of a loaded page: that of its dates, and the one that never goes back."""
    window.run(_MOVED_CLOCK, wall_ms, steady_ms)


def until(window: Browser, condition: str) -> None:
    """Wait until an expression is true in the page."""
    waiting.until(
        lambda: window.run(f"return Boolean({condition})"),
        lambda: f"{condition}: {window.run('return document.body.innerText')}",
        _WAIT_SECONDS,
        _PAUSE_SECONDS,
    )


def text(window: Browser, selector: str) -> str:
    """Return what a person reads in an element."""
    return str(window.run("return document.querySelector(arguments[0]).innerText", selector))


@contextmanager
def browser() -> Iterator[Browser]:
    """Start a browser of its own, with a profile of its own."""
    with (
        tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True) as profile,
        _chromedriver(profile) as address,
    ):
        options = {"args": [*_ARGUMENTS, f"--user-data-dir={Path(profile) / 'data'}"]}
        wanted: dict[str, Any] = {"browserName": "chrome", "goog:chromeOptions": options}
        wanted |= {"goog:loggingPrefs": {"browser": "ALL"}, "timeouts": {"script": int(1000 * _SCRIPT_SECONDS)}}
        session = ask(f"{address}/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        try:
            yield Browser(address, session)
        finally:
            ask(f"{address}/session/{session}", method="DELETE")


@contextmanager
def _chromedriver(profile: str) -> Iterator[str]:
    """Start chromedriver, which ends when the port that it gets on IPv6 is in use on IPv4, and then once more."""
    command, environment = [path_of("chromium", "chromedriver"), "--port=0"], {**os.environ, "HOME": profile}
    printed = ""
    for _ in range(_STARTS):
        with started(command, stdout=PIPE, stderr=STDOUT, env=environment) as driver:
            assert driver.stdout is not None
            port, printed = _port_of(driver.stdout)
            if port is not None:
                yield f"http://127.0.0.1:{port}"
                return
    raise AssertionError(f"chromedriver ended: {printed}")


def _port_of(output: Iterator[str]) -> tuple[int | None, str]:
    """Return the port, None if the program has ended, and what it has said."""
    end, printed = time.monotonic() + _START_SECONDS, ""
    for line in output:
        printed += line
        found = re.search(r"started successfully on port (\d+)", line)
        if found:
            return int(found[1]), printed
        assert time.monotonic() < end, printed
    return None, printed


def colour(window: Browser, selector: str, what: str) -> Colour:
    script = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]].match(/[0-9.]+/g)"
    red, green, blue = (int(part) for part in window.run(script, selector, what)[:3])
    return red, green, blue


def contrast(one: Colour, other: Colour) -> float:
    """Return how much two colours differ, 1..21 (WCAG 2.2)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
