"""A short, seeded run over every parser without atheris, so that it is part of every day's tests.

``make fuzz`` does it at length, guided by coverage.
"""

from __future__ import annotations

import logging
from random import Random

import pytest

from fuzz.every_target import TARGETS
from fuzz.targets import Target

#: Inputs a parser that is quick; all of them take some seconds together.
INPUTS = 200
_TOKENS = (
    *(bytes([byte]) for byte in b'"{}[]:,\\/+#= \n\0\xff01'),
    *(b"\\ud800", b"-1", b"1.0", b"1e9", b"true", b"null", b"9" * 400, b"\xed\xa0\x80"),
    *(b"\x80\x80\x80\x80", b"\xff\xff\xff\x7f"),
)


def mutated(random: Random, seeds: list[bytes], longest: int) -> bytes:
    """Return a seed with some damage: a changed byte, a piece cut, repeated, taken from another seed, or a token."""
    data = random.choice(seeds)
    for _ in range(random.randint(1, 5)):
        at = random.randint(0, len(data))
        piece = data[at : at + random.choice((1, 1, 2, 5, 30))]
        match random.randrange(6):
            case 0 if data:
                place = random.randrange(len(data))
                data = data[:place] + bytes([data[place] ^ 1 << random.randrange(8)]) + data[place + 1 :]
            case 1:
                data = data[:at] + data[at + len(piece) :]
            case 2:
                data = data[:at] + piece * random.choice((2, 3, 50, 700)) + data[at:]
            case 3:
                other = random.choice(seeds)
                start = random.randint(0, len(other))
                data = data[:at] + other[start : start + 40] + data[at:]
            case _:
                data = data[:at] + random.choice(_TOKENS) * random.choice((1, 1, 1, 600)) + data[at:]
    return data[:longest]


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_any_bytes_are_read_or_refused_by_name(target: Target, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    random, seeds = Random(f"salvo {target.name}"), target.seeds()
    for data in [*seeds, b"", *(mutated(random, seeds, target.longest) for _ in range(INPUTS // target.cost))]:
        try:
            target.read(data)
        except Exception as error:
            raise AssertionError(f"{target.name} raised {error!r} at {data!r}") from error
