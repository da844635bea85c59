"""The bots that ship, to play against and to read.

Each module is an example that stands alone: what it imports is what your own bot would import.
"""

from __future__ import annotations

from collections.abc import Callable

from salvo.player import Bot


def _random() -> type[Bot]:
    from salvo_lab.bots.random_bot import RandomBot

    return RandomBot


def _hunter() -> type[Bot]:
    from salvo_lab.bots.hunter import Hunter

    return Hunter


def _density() -> type[Bot]:
    from salvo_lab.bots.density import Density

    return Density


def _meanfield() -> type[Bot]:
    from salvo_lab.bots.meanfield import MeanField

    return MeanField


def _admiral() -> type[Bot]:
    from salvo_lab.bots.admiral import Admiral

    return Admiral


def _slow() -> type[Bot]:
    from salvo_lab.bots.slow import Slow

    return Slow


def _rude() -> type[Bot]:
    from salvo_lab.bots.rude import Rude

    return Rude


#: Bots by name, as functions, so that only those in use are imported.
HOUSE_BOTS: dict[str, Callable[[], type[Bot]]] = {
    "random": _random,
    "hunter": _hunter,
    "density": _density,
    "meanfield": _meanfield,
    "admiral": _admiral,
    "slow": _slow,
    "rude": _rude,
}
