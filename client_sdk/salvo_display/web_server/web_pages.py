"""What pages may do that a server of ours has: their own files and nothing else, no inline script, no other host."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_ALWAYS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",  # a page and its files are of one version
}
#: Pages and files that are reached through a cache, which may be of two versions for as long after an update.
_CACHED: Final = "public, max-age=10"
#: Of a stream of pictures: none of it is stored on the way.
STREAM_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class _Number(IntegerConvertor):
    """A number in an address: starlette's own may be longer than Python reads."""

    regex = "[0-9]{1,12}"


register_url_convertor("number", _Number())


def number(name: str) -> str:
    """Return the part of a route's path that is a number, by its name."""
    return f"{{{name}:number}}"


#: A path under which a proxy shows these pages: nothing that leads to another host, up, or out of an attribute.
_PREFIX: Final = re.compile("(/[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,99}){1,8}")


def is_prefix(path: str) -> bool:
    """Whether pages may be under a path, such as ``/salvo``."""
    return _PREFIX.fullmatch(path) is not None


def under(scope: Scope, prefix: str) -> Scope:
    """Return a request as it was at the proxy that shows these pages under a path."""
    return {**scope, "root_path": prefix, "path": prefix + scope["path"]}


def to_root(request: Request) -> str:
    """Return the way from a page to its server's other addresses: however long a path is before them, it stays."""
    asked = request.scope.get("raw_path") or request.scope["path"].encode()
    return "../" * (asked.count(b"/") - 1) or "./"


def static_files(package: str) -> StaticFiles:
    """Return a package's own files, beside those that all pages share."""
    return StaticFiles(packages=[(package, "static"), ("salvo_display.web_page", "static")])


class Guarded:
    """Adds the policy to every answer, also to refusals; the first of these is of other names than this server's."""

    def __init__(
        self, app: ASGIApp, knows: Callable[[str], bool], refusal: str, cached: str = "", prefix: str = ""
    ) -> None:
        """Guard an application.

        Args:
            knows: whether a request's ``Host`` is a name of this server.
            refusal: what a browser reads that used another one.
            cached: the ``Host`` of a cache in front, which may store what is not new every time; empty without one.
            prefix: the path under which that one has these pages; empty without one.
        """
        self._app, self._knows, self._refusal, self._cached, self._prefix = app, knows, refusal, cached, prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        host = Headers(scope=scope).get("host", "")

        async def guarded(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                headers = MutableHeaders(scope=message)
                if self._cached and host == self._cached and message.get("status") == 200:
                    headers.setdefault("Cache-Control", _CACHED)
                for name, value in _ALWAYS.items():
                    headers.setdefault(name, value)
            await send(message)

        if self._prefix and host == self._cached and not scope.get("root_path"):
            scope = under(scope, self._prefix)
        answer = self._app if self._knows(host) else PlainTextResponse(f"{self._refusal}\n", 421)
        await answer(scope, receive, guarded)
