"""Where the server's time goes: samples of its stack, each put down to the innermost part that it is in."""

from __future__ import annotations

import atexit
import re
import signal
from collections import Counter
from types import FrameType
from typing import Final

from bench.children import answer, process
from bench.figures import row
from bench.teams import Door, Teams
from kit.mosquitto import Mosquitto

_EVERY_SECONDS: Final = 0.001
#: The first that fits a frame's file, from the innermost frame outwards.
_PARTS: Final = {
    "waiting for messages": r"/selectors\.py",
    "libsodium": r"/nacl/",
    "journal": r"/storage/journal/|/sqlalchemy/|/salvo_game/journal_interface\.py",
    "MQTT client": r"/paho/|/salvo/net/",
    "signed log": r"/(salvo_game|codec)/log\.py",
    "reading and writing messages": r"/salvo/(codec/|shape|topics|seal|messages)|/json/|/base64\.py",
    "authenticator": r"/core/(authenticator|keyring)\.py|/salvo_game/rate_limit\.py|/salvo_server/foresight\.py",
    "referee": r"/salvo_game/(referee|transitions|lobby|game_states|match|table)\.py|/salvo/rules/",
    "loop and effects": r"/salvo_server/(service|core/)",
}
_PLACES: Final = {part: re.compile(pattern) for part, pattern in _PARTS.items()}


class Sampler:
    """Looks at the stack every millisecond, or as often as the system's clock allows; for the main thread.

    Attributes:
        counts: samples by part.
        looking: whether to count; the clock goes on in any case.
    """

    def __init__(self, *, cpu: bool) -> None:
        """Begin.

        Args:
            cpu: by processor time, else by the clock.
        """
        self.counts: Counter[str] = Counter()
        self.looking = True
        timer = signal.ITIMER_PROF if cpu else signal.ITIMER_REAL
        signal.signal(signal.SIGPROF if cpu else signal.SIGALRM, self._look)
        signal.setitimer(timer, _EVERY_SECONDS, _EVERY_SECONDS)
        atexit.register(signal.setitimer, timer, 0.0)  # the interpreter's end ends the handler first

    def _look(self, _: int, frame: FrameType | None) -> None:
        if self.looking:
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


def bench_shares(share: float) -> None:
    """A salvo's way through the service, and one shot's turnaround on a broker, both with journal and signed log."""
    found = answer("tables", 1, "--signed", "--journal", "process", "--shares", "--seconds", 10.0 * share)
    _report(f"service without a broker, {5 * found['us']:.0f} us a salvo", found["shares"])
    for journal in ("process", "power"):
        with (
            Mosquitto() as broker,
            process("server", broker.url, "--signed", "--journal", journal, "--shares") as server,
        ):
            with Teams(Door(broker.url)) as teams:
                teams.round_trips(int(2000 * share))
            _report(f"turnaround, journal that survives {journal}", server.ask())


def _report(what: str, counts: dict[str, int]) -> None:
    for part, share in shares(counts):
        row(f"{what}: {part}", f"{share:.0%}")
