"""The live page: one HTML file that follows a contest in a browser, over MQTT on a WebSocket.

It contains no contest data and no secret: all that it shows comes from the broker, read with the viewer's account.
"""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Final, Literal

from salvo.errors import ConnectionLost
from salvo.topics import check_name
from salvo_server.brokers.embedded.http_page import FrontPage
from salvo_server.spectate.page import house_style
from salvo_server.spectate.page.rendering import policy, render

_HERE: Final = files(__name__)
_SCRIPTS: Final = ("mqtt.js", "table.js", "live.js")

#: Also part of the page's policy, where a semicolon would begin another rule.
_BROKER: Final = re.compile(r"wss?://(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+):[0-9]+/[!#-~]*")

#: Whether the page asks for a name before it tries without one; with ``try`` it finds out.
Login = Literal["yes", "no", "try"]


def live_page(broker: str = "", table: str = "", login: Login = "try") -> FrontPage:
    """Return the page.

    Args:
        broker: ``ws://`` or ``wss://`` and no user; the page's own host when empty.
        table: that it opens with.

    Raises:
        WireError: ``bad_name`` for a table.
        ConnectionLost: ``bad_url`` for a broker's address that is none.
    """
    if table:
        check_name(table, "table")
    if broker and _BROKER.fullmatch(broker) is None:
        raise ConnectionLost("bad_url", f"{broker[:200]!r} is not ws://HOST:PORT/PATH or wss://HOST:PORT/PATH")
    style, script = house_style() + _text("live.css"), _script()
    own = policy(style, script, f"connect-src {_origin(broker)}", "img-src data:")
    given = {"broker": broker, "table": table, "login": login}
    html = render("spectate/live/live.html.j2", style=style, script=script, policy=own, **given)
    return FrontPage(html.encode(), own)


def _script() -> str:
    return '"use strict";\n' + "".join(map(_text, _SCRIPTS))


def _origin(broker: str) -> str:
    """Return what the page may connect to."""
    return "/".join(broker.split("/")[:3]) if broker else "'self'"


def _text(name: str) -> str:
    return _HERE.joinpath(name).read_text(encoding="utf-8")
