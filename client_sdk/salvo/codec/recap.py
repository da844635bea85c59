"""The recap: the game so far as one player may know it, as numbers, so that a long game still fits into one message.

Players are indices into ``players`` and ships indices into ``fleet``, from 0; lists are flat and read in groups of two,
three or four (SALVO-JOIN-12). If a game is too long even so, its oldest turns are summed up (SALVO-JOIN-13).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Annotated, Final, TypeVar

from salvo import messages as m
from salvo.codec.json_codec import Codec
from salvo.errors import WireError
from salvo.rules import Grid, Placement
from salvo.rules.book import MAX_SIDE
from salvo.seal import MAX_RECAP_BLOB_BYTES, NONCE_BYTES, PADDING_BYTES, SALT_BYTES, TAG_BYTES
from salvo.shape import Bounds, Flat, Strict, Via

#: The longest text of a recap: padded, it makes a blob of exactly the largest size.
MAX_RECAP_BYTES: Final = (MAX_RECAP_BLOB_BYTES - SALT_BYTES - NONCE_BYTES - TAG_BYTES) // PADDING_BYTES * PADDING_BYTES
#: Shots on the own board that are kept in order when there is no room for all: about three per cell of a board.
_MAX_HITS: Final = 1024
#: Four cells per hexadecimal digit, on the largest board.
_MAX_DIGITS: Final = MAX_SIDE * MAX_SIDE // 4

_Count = Annotated[int, Bounds(ge=0, le=10**9)]
_Cells = Annotated[str, Bounds(pattern=r"^[0-9a-f]*$", max_length=_MAX_DIGITS)]
_Twos = Annotated[tuple[tuple[int, int], ...], Flat(2)]
_Threes = Annotated[tuple[tuple[int, int, int], ...], Flat(3)]
_Fours = Annotated[tuple[tuple[int, int, int, int], ...], Flat(4)]
_Of = TypeVar("_Of")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapBefore(Strict):
    """A summary of what is left out."""

    tallies: _Threes
    sunk: _Twos
    defeated: tuple[_Count, ...]
    shots: _Count
    aimed: tuple[_Cells, ...]
    hits: _Count
    struck: _Cells
    met: tuple[_Cells, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapBody(Strict):
    """The content of the blob on ``.../recap``."""

    game: _Count
    turn: _Count
    players: tuple[str, ...]
    fleet: tuple[Annotated[Placement, Via(m.ShipPlace)], ...]
    first: Annotated[int, Bounds(ge=1, le=10**9)]
    results: _Threes
    sunk: _Threes
    defeated: _Twos
    shots: _Fours
    hits: _Twos
    outcomes: Annotated[str, Bounds(pattern=r"^[01]*$")] | None = None
    aims: _Threes | None = None
    before: RecapBefore | None = None


RECAP: Final[Codec[RecapBody]] = Codec(RecapBody, largest=MAX_RECAP_BLOB_BYTES, own=True)


# --- writing ------------------------------------------------------------------------------------------------------


def write_recap(recap: m.Recap, grid: Grid) -> bytes:
    """Return the plaintext of a whole recap, at most :data:`MAX_RECAP_BYTES`; the publisher seals it.

    Args:
        grid: numbers the cells of shots that are left out.
    """
    text = RECAP.write(_body(recap, recap.results, recap.shots, recap.landed))
    return text if len(text) <= MAX_RECAP_BYTES else RECAP.write(_shortened(recap, grid))


def _body(
    recap: m.Recap,
    results: Sequence[m.SalvoResolved],
    shots: Sequence[m.OwnShot],
    landed: tuple[tuple[int, int], ...],
    before: RecapBefore | None = None,
) -> RecapBody:
    """Return a recap with these of its results, shots and hits."""
    player, ship = _numbers(recap)
    told = any(each.outcomes is not None for each in results)
    aimed = any(each.aims is not None for each in results)
    return RecapBody(
        game=recap.game,
        turn=recap.turn,
        players=recap.players,
        fleet=recap.fleet,
        first=results[0].turn if results else recap.results[-1].turn + 1 if recap.results else 1,
        results=tuple((player[each.player], each.shots, each.hits) for each in results),
        sunk=tuple((r.turn, player[sunk.player], ship[sunk.ship]) for r in results for sunk in r.sunk),
        defeated=tuple((r.turn, player[name]) for r in results for name in r.defeated),
        shots=tuple((shot.turn, player[shot.target], shot.x, shot.y) for shot in shots),
        hits=landed,
        outcomes="".join("01"[hit] for each in results for hit in each.outcomes or ()) if told else None,
        aims=tuple((player[to], x, y) for each in results for to, x, y in each.aims or ()) if aimed else None,
        before=before,
    )


def _numbers(recap: m.Recap) -> tuple[dict[str, int], dict[str, int]]:
    """Return the numbers of players and ships."""
    player = {name: number for number, name in enumerate(recap.players)}
    return player, {placement.ship: number for number, placement in enumerate(recap.fleet)}


def _shortened(recap: m.Recap, grid: Grid) -> RecapBody:
    """Leave out as many of the oldest turns as necessary."""
    landed = recap.landed[-_MAX_HITS:]
    # Numbers never get longer when less is left out, so what fits next to this summary fits next to the final one.
    bare = _body(recap, (), (), landed, _before(recap, recap.results, recap.shots, landed, grid))
    if recap.results:
        latest = recap.results[-1]
        bare = replace(bare, outcomes=None if latest.outcomes is None else "", aims=None if latest.aims is None else ())
    kept, shots = _latest(recap, MAX_RECAP_BYTES - len(RECAP.write(bare)))
    older, results = recap.results[: len(recap.results) - kept], recap.results[len(recap.results) - kept :]
    left_out = recap.shots[: len(recap.shots) - shots]
    before = _before(recap, older, left_out, landed, grid)
    return _body(recap, results, recap.shots[len(left_out) :], landed, before)


def _latest(recap: m.Recap, room: int) -> tuple[int, int]:
    """Return how many of the latest results, and of the latest own shots, fit into this many bytes."""
    last = recap.results[-1].turn if recap.results else 0
    shots = sum(
        shot.turn > last for shot in recap.shots
    )  # of the current salvo: without them, its next shot would have no number
    room -= sum(_length(recap.players, shot) for shot in recap.shots[len(recap.shots) - shots :])
    for kept, result in enumerate(reversed(recap.results)):
        room -= _length_of_result(recap.players, result)
        fired = shots
        while fired < len(recap.shots) and recap.shots[-fired - 1].turn == result.turn:
            fired += 1
            room -= _length(recap.players, recap.shots[-fired])
        if room < 0:
            return kept, shots
        shots = fired
    return len(recap.results), shots


def _length_of_result(players: Sequence[str], result: m.SalvoResolved) -> int:
    numbers = f"{len(players)},{result.shots},{result.hits}," + "".join(
        f"{len(players)},{x},{y}," for _, x, y in result.aims or ()
    )
    # Sinkings and defeats are always included, but only a result that is kept adds their turns.
    turns = (len(result.sunk) + len(result.defeated)) * len(f"{result.turn},")
    return len(numbers) + len(result.outcomes or ()) + turns


def _length(players: Sequence[str], shot: m.OwnShot) -> int:
    return len(f"{shot.turn},{len(players)},{shot.x},{shot.y},")


def _before(
    recap: m.Recap,
    results: Sequence[m.SalvoResolved],
    shots: Sequence[m.OwnShot],
    told: Sequence[tuple[int, int]],
    grid: Grid,
) -> RecapBefore:
    """Sum up what is left out.

    Args:
        results: those that are left out; likewise ``shots``.
        told: the shots on the own board that are kept.
    """
    player, ship = _numbers(recap)
    aimed, met = _known_cells(recap, results, shots, grid)
    hidden = recap.landed[: len(recap.landed) - len(told)]
    return RecapBefore(
        tallies=_tallies(recap.players, results),
        sunk=tuple((player[sunk.player], ship[sunk.ship]) for r in results for sunk in r.sunk),
        defeated=tuple(player[name] for r in results for name in r.defeated),
        shots=len(shots),
        aimed=tuple(_digits(aimed[name], grid) for name in recap.players),
        hits=len(hidden),
        struck=_digits({grid.cell(x, y) for x, y in hidden}, grid),
        met=None if met is None else tuple(_digits(met[name], grid) for name in recap.players),
    )


def _tallies(players: Sequence[str], results: Iterable[m.SalvoResolved]) -> tuple[m.Tally, ...]:
    tallies = dict.fromkeys(players, m.Tally(0, 0, 0))
    for each in results:
        turns, shots, hits = tallies[each.player]
        tallies[each.player] = m.Tally(turns + 1, shots + each.shots, hits + each.hits)
    return tuple(tallies.values())


def _known_cells(
    recap: m.Recap, results: Sequence[m.SalvoResolved], shots: Sequence[m.OwnShot], grid: Grid
) -> tuple[dict[str, set[int]], dict[str, set[int]] | None]:
    """Return, by target, the cells that the reader knows were shot at, and which were hits, if that is announced."""
    aimed: dict[str, set[int]] = {name: set() for name in recap.players}
    own: dict[int, list[tuple[str, int, int]]] = {}
    for shot in shots:
        aimed[shot.target].add(grid.cell(shot.x, shot.y))
        own.setdefault(shot.turn, []).append((shot.target, shot.x, shot.y))
    if not any(result.outcomes is not None for result in results):
        return aimed, None
    met: dict[str, set[int]] = {name: set() for name in recap.players}
    for result in results:
        aims = own.get(result.turn, ()) if result.aims is None else result.aims
        for (target, x, y), hit in zip(aims, result.outcomes or (), strict=False):
            aimed[target].add(grid.cell(x, y))
            if hit:
                met[target].add(grid.cell(x, y))
    return aimed, met


def _digits(cells: set[int], grid: Grid) -> str:
    """Return a set of cells as hexadecimal digits, four cells each, the first most significant; empty for none."""
    digits = -(-grid.size // 4)
    return f"{sum(1 << (4 * digits - 1 - cell) for cell in cells):0{digits}x}" if cells else ""


# --- reading ------------------------------------------------------------------------------------------------------


def read_recap(player: str, plaintext: bytes) -> m.Recap:
    """Read the plaintext of a recap.

    Raises:
        WireError: the server at the other end is not one of ours.
    """
    body = RECAP.read(plaintext)
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
        raise ValueError("a ship sank in a turn that is not told")
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
        tallies=dict(zip(names, (m.Tally(*each) for each in before.tallies), strict=True)),
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
