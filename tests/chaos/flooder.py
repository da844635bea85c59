"""Forged shots at a pace, as the front lets them through: ``python flooder.py PORT A_SECOND``, until it is killed.

It comes back as often as the broker does.
"""

from __future__ import annotations

import contextlib
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from kit.flood import _connect, _shots

_SHOTS, _AT_ONCE = 2000, 20
_AGAIN_SECONDS = 0.05


def _flood(port: int, a_second: int) -> None:
    shots = _shots(_SHOTS, 1)
    size = len(shots) // _SHOTS * _AT_ONCE
    with _connect(port) as client:
        while True:
            for at in range(0, len(shots), size):
                client.settimeout(60)
                client.sendall(shots[at : at + size])
                client.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    client.recv(65_536)
                time.sleep(_AT_ONCE / a_second)


if __name__ == "__main__":
    while True:
        with contextlib.suppress(OSError, AssertionError):
            _flood(*map(int, sys.argv[1:]))
        time.sleep(_AGAIN_SECONDS)
