"""Built-in hunters of many teams in one process: ``many_bots.py URL FOLDER < {"name": "secret", ...}``.

Each follows its seats, as ``salvo join`` does, and writes its proof into the folder; with ``SALVO_KNOWN_SERVERS`` it
compares the servers' keys. They end with SIGTERM.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import sys
import threading
from pathlib import Path

from salvo.errors import SalvoError
from salvo.join.client import play
from salvo.wire import seal
from salvo_lab.bots.hunter import Hunter

#: A team has one secret and one salt all evening, and each of its games would derive their key once more: for all teams
#: of a contest on one machine, that is most of the work.
seal.derive_key = functools.cache(seal.derive_key)


def main() -> None:
    url, folder = sys.argv[1], Path(sys.argv[2])
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())

    def run(name: str, secret: str) -> None:
        with contextlib.suppress(SalvoError):
            play(
                Hunter(), url, name, secret, games=None, strict=False, stop=stop,
                pin="SALVO_KNOWN_SERVERS" in os.environ, proof=folder / f"{name}.proof.jsonl",
            )  # fmt: skip

    teams = [threading.Thread(target=run, args=each) for each in json.loads(sys.stdin.read()).items()]
    for team in teams:
        team.start()
    for team in teams:
        team.join()


if __name__ == "__main__":
    main()
