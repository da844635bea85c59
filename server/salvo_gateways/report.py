"""What a gateway logs: a line for each client, game and refusal, with the option that is likely to help."""

from __future__ import annotations

import logging
import re
import threading
import time
from typing import Final

from salvo.errors import printable
from salvo.system.log_throttle import Throttle
from salvo_game.rate_limit import Bucket, Rate

log = logging.getLogger(__name__)

#: Between two refusals of a kind, which a client can bring about as often as it likes.
REFUSAL_SECONDS: Final = 1.0
#: Lines about clients and games: more than a room full of programs has, and less than would fill a disk.
LINES: Final = Rate(200.0, 5.0)
#: How the programs of each system begin, to recognise one at another one's gateway.
_SIGNS: Final = {
    "smackdown": re.compile(r"\|(RESPONSE|INFO|QUERY)\|"),
    "xbs": re.compile(r"[GJPSMTL](\|.*)?"),
    "jsonline": re.compile(r'\s*\{\s*"(type|body)".*'),
    "classic": re.compile(r"[CZD]|S[A-Z][1-9a-z]"),
}
_BROWSER: Final = re.compile(r"[A-Z]{3,7} \S+ HTTP/\S*")


class GatewayReport:
    """The lines of one gateway, for the threads of all its clients."""

    def __init__(self) -> None:
        self._seldom = Throttle(log, REFUSAL_SECONDS)
        self._lines = Bucket(LINES, _now_ms())
        self._lock = threading.Lock()

    def happened(self, text: str) -> None:
        """Report what a client or a game does, unless too much happens."""
        text = printable(text)
        with self._lock:
            if self._lines.take(_now_ms()):
                log.info("%s", text)
            else:
                self._seldom.warn("flood", f"clients come and go faster than lines are written; not reported: {text}")

    def refused(self, kind: str, text: str, hint: str = "") -> None:
        """Report what a client cannot have, at most once a second and kind.

        Args:
            kind: chosen by the program, never by a client.
            hint: what is likely to help, such as an option; empty where nothing is known.
        """
        with self._lock:
            self._seldom.warn(kind, printable(f"{text}; {hint}" if hint else text))


def hint_of_system(message: str, own: str) -> str:
    """Return the gateway for a program that came to the wrong one; empty for a message that no other system has.

    Args:
        own: the system of the gateway that has received it.
    """
    if _BROWSER.match(message):
        return "this is a browser's; salvo web shows games to browsers"
    message = message.rstrip("\r\n")
    for system, sign in _SIGNS.items():
        if system != own and (sign.match(message) if system == "smackdown" else sign.fullmatch(message)):
            return f"this looks like a program of {system}: salvo gateway {system}"
    return ""


def _now_ms() -> int:
    return round(time.monotonic() * 1000)
