"""Writes the recap: whole, or with its oldest turns summed up (SALVO-JOIN-13)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from salvo import messages as m
from salvo.codec.recap import RECAP, RecapBefore, RecapBody
from salvo.rules import Grid
from salvo.wire.seal import MAX_RECAP_BLOB_BYTES, NONCE_BYTES, PADDING_BYTES, SALT_BYTES, TAG_BYTES

#: The longest text of a recap: padded, it makes a blob of exactly the largest size.
MAX_RECAP_BYTES: Final = (MAX_RECAP_BLOB_BYTES - SALT_BYTES - NONCE_BYTES - TAG_BYTES) // PADDING_BYTES * PADDING_BYTES
#: If there is no room for all shots on the player's own board, this many of the latest are kept in order: about ten per
#: cell of a standard board.
_MAX_HITS: Final = 1024


def write_recap(recap: m.Recap, grid: Grid) -> bytes:
    """Return the plaintext of a recap, at most :data:`MAX_RECAP_BYTES` long; the publisher seals it.

    Args:
        grid: of the boards; cells of shots that are left out are numbered by it.
    """
    text = RECAP.write(body(recap, recap.results, recap.shots, recap.landed))
    return text if len(text) <= MAX_RECAP_BYTES else RECAP.write(_shortened(recap, grid))


def body(
    recap: m.Recap,
    results: Sequence[m.SalvoResolved],
    shots: Sequence[m.OwnShot],
    landed: tuple[tuple[int, int], ...],
    before: RecapBefore | None = None,
) -> RecapBody:
    """Return the body of a recap with only these of its results, own shots and shots on the own board."""
    player, ship = _numbers(recap)
    has_outcomes = any(result.outcomes_if_announced is not None for result in results)
    has_aims = any(result.aims_if_announced is not None for result in results)
    outcomes = "".join("01"[hit] for result in results for hit in result.outcomes_if_announced or ())
    aims = tuple((player[to], x, y) for result in results for to, x, y in result.aims_if_announced or ())
    return RecapBody(
        game=recap.game,
        turn=recap.turn,
        players=recap.players,
        fleet=recap.fleet,
        first=results[0].turn if results else recap.resolved_turn + 1,
        results=tuple((player[result.player], result.shots, result.hits) for result in results),
        sunk=tuple((r.turn, player[sunk.player], ship[sunk.ship]) for r in results for sunk in r.sunk),
        defeated=tuple((r.turn, player[name]) for r in results for name in r.defeated),
        shots=tuple((shot.turn, player[shot.target], shot.x, shot.y) for shot in shots),
        hits=landed,
        outcomes=outcomes if has_outcomes else None,
        aims=aims if has_aims else None,
        before=before,
    )


def _numbers(recap: m.Recap) -> tuple[dict[str, int], dict[str, int]]:
    """Return the numbers, from 0, by which a recap refers to players and ships."""
    player = {name: number for number, name in enumerate(recap.players)}
    return player, {placement.ship: number for number, placement in enumerate(recap.fleet)}


def _shortened(recap: m.Recap, grid: Grid) -> RecapBody:
    """Return the body with as few of the oldest turns summed up as the size allows."""
    landed = recap.landed[-_MAX_HITS:]
    # Numbers never get longer when less is left out, so what fits next to this summary fits next to the final one.
    bare = body(recap, (), (), landed, _before(recap, recap.results, recap.shots, landed, grid))
    if recap.results:
        latest = recap.results[-1]
        bare = replace(
            bare,
            outcomes=None if latest.outcomes_if_announced is None else "",
            aims=None if latest.aims_if_announced is None else (),
        )
    count, shots = _latest(recap, MAX_RECAP_BYTES - len(RECAP.write(bare)))
    older, results = recap.results[: len(recap.results) - count], recap.results[len(recap.results) - count :]
    left_out = recap.shots[: len(recap.shots) - shots]
    before = _before(recap, older, left_out, landed, grid)
    return body(recap, results, recap.shots[len(left_out) :], landed, before)


def _latest(recap: m.Recap, room: int) -> tuple[int, int]:
    """Return how many of the latest results, and of the latest own shots, fit into this many bytes."""
    last = recap.results[-1].turn if recap.results else 0
    # Those of the current salvo always: without them, its next shot would have no number.
    shots = sum(shot.turn > last for shot in recap.shots)
    room -= sum(_length_of_shot(recap.players, shot) for shot in recap.shots[len(recap.shots) - shots :])
    for count, result in enumerate(reversed(recap.results)):
        room -= _length_of_result(recap.players, result)
        fired = shots
        while fired < len(recap.shots) and recap.shots[-fired - 1].turn == result.turn:
            fired += 1
            room -= _length_of_shot(recap.players, recap.shots[-fired])
        if room < 0:
            return count, shots
        shots = fired
    return len(recap.results), shots


def _length_of_result(players: Sequence[str], result: m.SalvoResolved) -> int:
    """Return the most bytes that a result adds."""
    numbers = f"{len(players)},{result.shots},{result.hits}," + "".join(
        f"{len(players)},{x},{y}," for _, x, y in result.aims_if_announced or ()
    )
    # Sinkings and defeats are always included, but only a result that is kept adds their turns.
    turns = (len(result.sunk) + len(result.defeated)) * len(f"{result.turn},")
    return len(numbers) + len(result.outcomes_if_announced or ()) + turns


def _length_of_shot(players: Sequence[str], shot: m.OwnShot) -> int:
    """Return the most bytes that a shot of the player adds."""
    return len(f"{shot.turn},{len(players)},{shot.x},{shot.y},")


def _before(
    recap: m.Recap,
    results: Sequence[m.SalvoResolved],
    shots: Sequence[m.OwnShot],
    landed: Sequence[tuple[int, int]],
    grid: Grid,
) -> RecapBefore:
    """Sum up what is left out.

    Args:
        results: those that are left out; likewise ``shots``.
        landed: the shots on the own board that are kept.
    """
    player, ship = _numbers(recap)
    aimed, met = _known_cells(recap, results, shots, grid)
    older = recap.landed[: len(recap.landed) - len(landed)]
    return RecapBefore(
        tallies=_tallies(recap.players, results),
        sunk=tuple((player[sunk.player], ship[sunk.ship]) for r in results for sunk in r.sunk),
        defeated=tuple(player[name] for r in results for name in r.defeated),
        shots=len(shots),
        aimed=tuple(_digits(aimed[name], grid) for name in recap.players),
        hits=len(older),
        struck=_digits({grid.cell(x, y) for x, y in older}, grid),
        met=None if met is None else tuple(_digits(met[name], grid) for name in recap.players),
    )


def _tallies(players: Sequence[str], results: Iterable[m.SalvoResolved]) -> tuple[m.Tally, ...]:
    tallies = dict.fromkeys(players, m.Tally(0, 0, 0))
    for result in results:
        turns, shots, hits = tallies[result.player]
        tallies[result.player] = m.Tally(turns + 1, shots + result.shots, hits + result.hits)
    return tuple(tallies.values())


def _known_cells(
    recap: m.Recap, results: Sequence[m.SalvoResolved], shots: Sequence[m.OwnShot], grid: Grid
) -> tuple[dict[str, set[int]], dict[str, set[int]] | None]:
    """Return, by target, the cells that the player knows were shot at, and those that were hits.

    The second is None if the rules do not announce hits by cell.
    """
    aimed: dict[str, set[int]] = {name: set() for name in recap.players}
    own: dict[int, list[tuple[str, int, int]]] = {}
    for shot in shots:
        aimed[shot.target].add(grid.cell(shot.x, shot.y))
        own.setdefault(shot.turn, []).append((shot.target, shot.x, shot.y))
    if not any(result.outcomes_if_announced is not None for result in results):
        return aimed, None
    met: dict[str, set[int]] = {name: set() for name in recap.players}
    for result in results:
        aims = own.get(result.turn, ()) if result.aims_if_announced is None else result.aims_if_announced
        for (target, x, y), hit in zip(aims, result.outcomes_if_announced or (), strict=False):
            aimed[target].add(grid.cell(x, y))
            if hit:
                met[target].add(grid.cell(x, y))
    return aimed, met


def _digits(cells: set[int], grid: Grid) -> str:
    """Return a set of cells as a bit mask in hexadecimal, cell 0 in the most significant bit; empty for no cells."""
    digits = -(-grid.size // 4)
    return f"{sum(1 << (4 * digits - 1 - cell) for cell in cells):0{digits}x}" if cells else ""
