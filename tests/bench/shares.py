"""Where the server's time goes, ``make bench``: samples of its stack while two teams play on a mosquitto.

Each is put down to the innermost part that it is in.
"""

from __future__ import annotations

import atexit
import re
import signal
import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.children import process
from bench.teams import Teams
from kit.mosquitto import Mosquitto

_EVERY_SECONDS: Final = 0.001
_SALVOS: Final = 1000
#: The first that fits a frame's file, from the innermost frame outwards.
_PARTS: Final = {
    "waiting for messages": r"/selectors\.py",
    "libsodium": r"/nacl/",
    "journal": r"/storage/journal/|/sqlalchemy/|/core/journal_interface\.py",
    "MQTT client": r"/paho/|/salvo/net/",
    "signed log": r"/(core|codec)/log\.py",
    "reading and writing messages": r"/salvo/(codec/|shape|topics|seal|messages)|/json/|/base64\.py",
    "authenticator": r"/core/(authenticator|keyring|key_worker|rate_limit)\.py",
    "referee": r"/core/(referee|transitions|lobby|turn|match|table|team|terms)\.py|/salvo/rules/",
    "loop and effects": r"/salvo_server/(service|core/)",
}
_PLACES: Final = {part: re.compile(pattern) for part, pattern in _PARTS.items()}


class Sampler:
    """Looks at the stack every millisecond, or as often as the system's clock allows; for the main thread.

    Attributes:
        counts: samples by part.
    """

    def __init__(self) -> None:
        """Begin."""
        self.counts: Counter[str] = Counter()
        signal.signal(signal.SIGALRM, self._look)
        signal.setitimer(signal.ITIMER_REAL, _EVERY_SECONDS, _EVERY_SECONDS)
        atexit.register(signal.setitimer, signal.ITIMER_REAL, 0.0)  # the interpreter's end ends the handler first

    def _look(self, _: int, frame: FrameType | None) -> None:
        self.counts[part_of(frame)] += 1


def part_of(frame: FrameType | None) -> str:
    """Return the part that a stack is in."""
    while frame is not None:
        for part, place in _PLACES.items():
            if place.search(frame.f_code.co_filename):
                return part
        frame = frame.f_back
    return "others"


def shares(counts: dict[str, int]) -> list[tuple[str, float]]:
    """Return the share of each part in the time that was not spent waiting, the largest first."""
    busy = {part: count for part, count in counts.items() if part != "waiting for messages"}
    total = sum(busy.values())
    return sorted(((part, count / total) for part, count in busy.items()), key=lambda each: -each[1])


def main() -> None:
    for journal in ("process", "power"):
        with Mosquitto() as broker, process("server", broker.url, journal) as server:
            with Teams(broker.url) as teams:
                teams.salvos(_SALVOS)
            for part, share in shares(server.ask()):
                print(f"journal that survives {journal}: {part:30} {share:.0%}", flush=True)


if __name__ == "__main__":
    main()
