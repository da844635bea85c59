"""The recap as a team reads it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TypeVar

from salvo import messages as m
from salvo.codec.recap import RECAP, RecapBefore, RecapBody
from salvo.errors import WireError
from salvo.wire.chat_text import check_shown

_Of = TypeVar("_Of")


def read_recap(player: str, plaintext: bytes) -> m.Recap:
    """Read the plaintext of a recap.

    Raises:
        WireError: the server at the other end is not one of ours.
    """
    body = RECAP.read(plaintext)
    check_shown(plaintext, longest=len(plaintext))  # all shots of a long game are one text
    try:
        return _recap(player, body)
    except (IndexError, ValueError):
        raise WireError("wrong_shape", "the recap's lists do not fit together (SALVO-JOIN-12)") from None


def _recap(player: str, body: RecapBody) -> m.Recap:
    """Replace the numbers with names.

    Raises:
        IndexError: a number has no name.
        ValueError: lists are of different length.
    """
    names, fleet = body.players, body.fleet
    sunk: dict[int, tuple[m.SunkShip, ...]] = {}
    for turn, owner, number in body.sunk:
        sunk[turn] = (*sunk.get(turn, ()), m.SunkShip(names[owner], fleet[number].ship))
    defeated: dict[int, tuple[str, ...]] = {}
    for turn, number in body.defeated:
        defeated[turn] = (*defeated.get(turn, ()), names[number])
    outcomes = None if body.outcomes is None else iter(body.outcomes)
    aims = None if body.aims is None else iter(body.aims)
    results = tuple(
        m.SalvoResolved(
            body.game,
            turn,
            names[shooter],
            shots,
            hits,
            sunk.pop(turn, ()),
            defeated.pop(turn, ()),
            None if outcomes is None else tuple(letter == "1" for letter in _take(outcomes, shots)),
            None if aims is None else tuple((names[target], x, y) for target, x, y in _take(aims, shots)),
        )
        for turn, (shooter, shots, hits) in enumerate(body.results, start=body.first)
    )
    if sunk or defeated:
        raise ValueError("a ship sank in a turn that the recap lacks")
    shots = tuple(m.OwnShot(turn, names[target], x, y) for turn, target, x, y in body.shots)
    earlier = None if body.before is None else _earlier(body, body.before)
    return m.Recap(player, body.game, body.turn, fleet, shots, body.hits, results, names, earlier)


def _take(of_shots: Iterator[_Of], shots: int) -> list[_Of]:
    taken = list(islice(of_shots, shots))
    if len(taken) != shots:
        raise ValueError("outcomes or aims of fewer shots than there were")
    return taken


def _earlier(body: RecapBody, before: RecapBefore) -> m.Earlier:
    names = body.players
    return m.Earlier(
        turns=body.first - 1,
        tallies=dict(zip(names, (m.Tally(*tally) for tally in before.tallies), strict=True)),
        sunk=tuple(m.SunkShip(names[owner], body.fleet[number].ship) for owner, number in before.sunk),
        defeated=tuple(names[number] for number in before.defeated),
        shots=before.shots,
        aimed=dict(zip(names, map(_cells, before.aimed), strict=True)),
        hits=before.hits,
        struck=_cells(before.struck),
        met=None if before.met is None else dict(zip(names, map(_cells, before.met), strict=True)),
    )


def _cells(digits: str) -> tuple[int, ...]:
    bits = f"{int(digits, 16):0{4 * len(digits)}b}" if digits else ""
    return tuple(cell for cell, bit in enumerate(bits) if bit == "1")
