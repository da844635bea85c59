"""A person who clicks, by the addresses of the page alone: no browser is needed to play."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable
from http.client import HTTPResponse
from typing import Any

_SECONDS = 60.0


class Clicker:
    """Somebody on a page; ``picture`` is the latest one."""

    def __init__(self, address: str) -> None:
        """Come in by the address that the command has printed."""
        self._base, _, key = address.partition("/#")
        self._cookie = ""
        with self._ask("/enter", key.encode()) as answer:
            self._cookie = answer.headers["set-cookie"].partition(";")[0]
        self._stream = self._ask("/events")
        self.picture = self._next()

    def close(self) -> None:
        self._stream.close()

    def _ask(self, path: str, body: bytes | None = None) -> HTTPResponse:
        request = urllib.request.Request(self._base + path, body, {"Origin": self._base, "Cookie": self._cookie})
        answer: HTTPResponse = urllib.request.urlopen(request, timeout=_SECONDS)
        return answer

    def _next(self) -> dict[str, Any]:
        for line in self._stream:
            if line.startswith(b"data: {"):
                picture: dict[str, Any] = json.loads(line[6:])
                return picture
        raise AssertionError("the page has ended")

    def until(self, holds: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """Return the first picture of which this holds."""
        while not holds(self.picture):
            self.picture = self._next()
        return self.picture

    def do(self, **command: Any) -> None:
        """Do something, and wait for the picture that shows it."""
        body = json.dumps({"tab": self.picture["tab"], "n": self.picture["n"], **command}).encode()
        with self._ask("/do", body) as answer:
            number = json.load(answer)["n"]
        self.until(lambda picture: picture["n"] >= number)
