"""The recap: a game so far as one player may know it, as numbers, so that a long game is still one message.

Players are numbers into ``players`` and ships numbers into ``fleet``, from 0; lists are flat and read in steps of two,
three or four (SALVO-JOIN-12). Where a game is too long all the same, the oldest turns are summed up (SALVO-JOIN-13).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Annotated, Any, Final, TypeVar

from pydantic import Field

from salvo import messages as m
from salvo.errors import WireError
from salvo.rules import Grid, Placement
from salvo.rules.book import LARGEST_SIDE
from salvo.seal import LONGEST_RECAP_BYTES, NONCE_BYTES, PADDING_BYTES, SALT_BYTES, TAG_BYTES
from salvo.wire.announcements import ShipPlace, encode_json, fleet_body, read_fleet
from salvo.wire.strict_json import Strict, parse_json, validate

#: The longest text of a recap; with its padding the blob is just as long as it may be.
LARGEST_RECAP_BYTES: Final = (
    (LONGEST_RECAP_BYTES - SALT_BYTES - NONCE_BYTES - TAG_BYTES) // PADDING_BYTES * PADDING_BYTES
)
#: Shots on the own board that are told in their order when there is no room for all: some three a cell of a board.
_MOST_HITS: Final = 1024
#: Four cells a hexadecimal digit, on the largest board.
_MOST_DIGITS: Final = LARGEST_SIDE * LARGEST_SIDE // 4

_Count = Annotated[int, Field(ge=0, le=10**9)]
_Of = TypeVar("_Of")
_Cells = Annotated[str, Field(pattern=r"^[0-9a-f]*$", max_length=_MOST_DIGITS)]


class RecapBefore(Strict):
    """What is left out summed up to."""

    tallies: list[_Count]
    sunk: list[_Count]
    defeated: list[_Count]
    shots: _Count
    aimed: list[_Cells]
    met: list[_Cells] | None = None
    hits: _Count
    struck: _Cells


class RecapBody(Strict):
    """What the blob on ``.../recap`` holds."""

    game: _Count
    turn: _Count
    players: list[str]
    fleet: list[ShipPlace]
    first: Annotated[int, Field(ge=1, le=10**9)]
    results: list[_Count]
    sunk: list[_Count]
    defeated: list[_Count]
    shots: list[_Count]
    hits: list[_Count]
    outcomes: Annotated[str, Field(pattern=r"^[01]*$")] | None = None
    aims: list[_Count] | None = None
    before: RecapBefore | None = None


# --- writing ------------------------------------------------------------------------------------------------------


def write_recap(recap: m.Recap, grid: Grid) -> bytes:
    """Return the plaintext of a whole recap, at most :data:`LARGEST_RECAP_BYTES`; the publisher seals it.

    Args:
        grid: numbers the cells, where some are left out.
    """
    body = _body(recap, recap.results, recap.shots, recap.landed)
    text = encode_json(body)
    return text if len(text) <= LARGEST_RECAP_BYTES else encode_json(_shortened(recap, grid))


def _body(
    recap: m.Recap,
    results: Sequence[m.SalvoResolved],
    shots: Sequence[m.OwnShot],
    landed: Sequence[tuple[int, int]],
) -> dict[str, Any]:
    """Return a recap with these of its results, shots and hits."""
    player, ship = _numbers(recap)
    body: dict[str, Any] = {
        "game": recap.game,
        "turn": recap.turn,
        "players": list(recap.players),
        "fleet": fleet_body(recap.fleet),
        "first": results[0].turn if results else recap.results[-1].turn + 1 if recap.results else 1,
        "results": _flat((player[each.player], each.shots, each.hits) for each in results),
        "sunk": _flat((r.turn, player[sunk.player], ship[sunk.ship]) for r in results for sunk in r.sunk),
        "defeated": _flat((r.turn, player[name]) for r in results for name in r.defeated),
        "shots": _flat((shot.turn, player[shot.target], shot.x, shot.y) for shot in shots),
        "hits": _flat(landed),
    }
    if any(each.outcomes is not None for each in results):
        body["outcomes"] = "".join("01"[hit] for each in results for hit in each.outcomes or ())
    if any(each.aims is not None for each in results):
        body["aims"] = _flat((player[target], x, y) for each in results for target, x, y in each.aims or ())
    return body


def _numbers(recap: m.Recap) -> tuple[dict[str, int], dict[str, int]]:
    """Return the numbers of players and ships."""
    player = {name: number for number, name in enumerate(recap.players)}
    return player, {placement.ship: number for number, placement in enumerate(recap.fleet)}


def _flat(groups: Iterable[Sequence[int]]) -> list[int]:
    return list(chain.from_iterable(groups))


def _shortened(recap: m.Recap, grid: Grid) -> dict[str, Any]:
    """Leave out as many of the oldest turns as must be."""
    landed = recap.landed[-_MOST_HITS:]
    # No number gets longer when less is left out, so what fits beside this fits beside what it will be.
    bare = _body(recap, (), (), landed) | {"before": _before(recap, recap.results, recap.shots, landed, grid)}
    latest = recap.results[-1:]
    bare |= {"outcomes": ""} if any(each.outcomes is not None for each in latest) else {}
    bare |= {"aims": []} if any(each.aims is not None for each in latest) else {}
    kept, shots = _latest(recap, LARGEST_RECAP_BYTES - len(encode_json(bare)))
    older, results = recap.results[: len(recap.results) - kept], recap.results[len(recap.results) - kept :]
    left_out = recap.shots[: len(recap.shots) - shots]
    body = _body(recap, results, recap.shots[len(left_out) :], landed)
    return body | {"before": _before(recap, older, left_out, landed, grid)}


def _latest(recap: m.Recap, room: int) -> tuple[int, int]:
    """Return how many of the latest results, and of the latest own shots, go into so many bytes."""
    last = recap.results[-1].turn if recap.results else 0
    shots = sum(shot.turn > last for shot in recap.shots)  # of the salvo that is on: without them no shot has a number
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
    # What sank is told in any case, but only here with its turn; so who is out.
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
) -> dict[str, Any]:
    """Sum up what is left out.

    Args:
        results: those that are left out; so ``shots``.
        told: the shots on the own board that are told.
    """
    tallies = {name: [0, 0, 0] for name in recap.players}
    for result in results:
        tally = tallies[result.player]
        tally[0] += 1
        tally[1] += result.shots
        tally[2] += result.hits
    player, ship = _numbers(recap)
    aimed, met = _known_cells(recap, results, shots, grid)
    hidden = recap.landed[: len(recap.landed) - len(told)]
    return {
        "tallies": _flat(tallies.values()),
        "sunk": _flat((player[sunk.player], ship[sunk.ship]) for r in results for sunk in r.sunk),
        "defeated": [player[name] for r in results for name in r.defeated],
        "shots": len(shots),
        "aimed": [_digits(aimed[name], grid) for name in recap.players],
        "hits": len(hidden),
        "struck": _digits({grid.cell(x, y) for x, y in hidden}, grid),
        **({} if met is None else {"met": [_digits(met[name], grid) for name in recap.players]}),
    }


def _known_cells(
    recap: m.Recap, results: Sequence[m.SalvoResolved], shots: Sequence[m.OwnShot], grid: Grid
) -> tuple[dict[str, set[int]], dict[str, set[int]] | None]:
    """Return by target the cells that the reader knows to have been aimed at, and which were hits, if that is told."""
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
    """Return a set of cells, four a hexadecimal digit, the first of them the most significant; empty for none."""
    bits = "".join("01"[cell in cells] for cell in range(grid.size))
    return "".join(f"{int(bits[at : at + 4].ljust(4, '0'), 2):x}" for at in range(0, grid.size, 4)) if cells else ""


# --- reading ------------------------------------------------------------------------------------------------------


def read_recap(player: str, plaintext: bytes) -> m.Recap:
    """Read the plaintext of a recap.

    Raises:
        WireError: the server at the other end is not one of ours.
    """
    body = validate(RecapBody, parse_json(plaintext, LONGEST_RECAP_BYTES))
    fleet = read_fleet(body.fleet)
    try:
        return _recap(player, body, fleet)
    except (IndexError, ValueError):
        raise WireError("wrong_shape", "the recap's lists do not fit together (SALVO-JOIN-12)") from None


def _recap(player: str, body: RecapBody, fleet: tuple[Placement, ...]) -> m.Recap:
    """Put names for numbers.

    Raises:
        IndexError: a number has no name.
        ValueError: a list ends in the midst of a group.
    """
    names = body.players
    sunk: dict[int, tuple[m.SunkShip, ...]] = {}
    for turn, owner, number in _groups(body.sunk, 3):
        ship = fleet[number].ship
        sunk[turn] = (*sunk.get(turn, ()), m.SunkShip(names[owner], ship, ship))
    defeated: dict[int, tuple[str, ...]] = {}
    for turn, number in _groups(body.defeated, 2):
        defeated[turn] = (*defeated.get(turn, ()), names[number])
    outcomes = None if body.outcomes is None else iter(body.outcomes)
    aims = None if body.aims is None else _groups(body.aims, 3)
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
        for turn, (shooter, shots, hits) in enumerate(_groups(body.results, 3), start=body.first)
    )
    if sunk or defeated:
        raise ValueError("a ship sank in a turn that is not told")
    return m.Recap(
        player,
        body.game,
        body.turn,
        fleet,
        tuple(m.OwnShot(turn, names[target], x, y) for turn, target, x, y in _groups(body.shots, 4)),
        tuple((x, y) for x, y in _groups(body.hits, 2)),
        results,
        tuple(names),
        _earlier(body, fleet),
    )


def _take(of_shots: Iterator[_Of], shots: int) -> list[_Of]:
    taken = list(islice(of_shots, shots))
    if len(taken) != shots:
        raise ValueError("outcomes or aims of fewer shots than there were")
    return taken


def _earlier(body: RecapBody, fleet: tuple[Placement, ...]) -> m.Earlier | None:
    before, names = body.before, body.players
    if before is None:
        return None
    ships = [(names[owner], fleet[number].ship) for owner, number in _groups(before.sunk, 2)]
    tallies = [m.Tally(*group) for group in _groups(before.tallies, 3)]
    return m.Earlier(
        turns=body.first - 1,
        tallies=dict(zip(names, tallies, strict=True)),
        sunk=tuple(m.SunkShip(owner, ship, ship) for owner, ship in ships),
        defeated=tuple(names[number] for number in before.defeated),
        shots=before.shots,
        aimed=_of_players(names, before.aimed),
        hits=before.hits,
        struck=_cells(before.struck),
        met=None if before.met is None else _of_players(names, before.met),
    )


def _of_players(names: Sequence[str], sets: Sequence[str]) -> dict[str, tuple[int, ...]]:
    return {name: _cells(digits) for name, digits in zip(names, sets, strict=True)}


def _groups(numbers: Sequence[int], size: int) -> Iterator[tuple[int, ...]]:
    if len(numbers) % size:
        raise ValueError("a list ends in the midst of a group")
    return zip(*[iter(numbers)] * size, strict=True)


def _cells(digits: str) -> tuple[int, ...]:
    bits = "".join(f"{int(digit, 16):04b}" for digit in digits)
    return tuple(cell for cell, bit in enumerate(bits) if bit == "1")
