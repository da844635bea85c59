"""Golden games, and a small game that is replayed: ALICE's and BOB's fleets, their shots, and what each may see."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hypothesis import assume

from salvo import messages as m
from salvo.rules import SALVO, Fleet, RuleBook, generator, random_fleet
from salvo_display.replay import REFEREE, Replay
from salvo_game.referee import Referee
from salvo_game.table import Table
from salvo_game.table_step import Step
from salvo_game.transcript import no_status
from salvo_lab.testing import board

GOLDEN = Path(__file__).parents[1] / "golden" / "v1"


ALICE = board("""
    A A A A A . . . . .
    B B B B . . . . . .
    D D D . . . . . . .
    S S S . . . . . . .
    P P . . . . . . . .
    . . . . . . . . . .
    . . . . . . . . . .
    . . . . . . . . . .
    . . . . . . . . . .
    . . . . . . . . . .
""")


BOB = board("""
    . . . . . . . . P P
    . . . . . . . . . .
    . . . . . . . . . .
    . . . . . . . . . .
    . . . . . . . . . .
    . . . . . . . . . .
    S S S . . . . . . .
    D D D . . . . . . .
    B B B B . . . . . .
    A A A A A . . . . .
""")


#: Who fires at whom and where, shot by shot.
Script = Sequence[tuple[str, str, int, int]]


AT_BOB: Script = [("alice", "bob", 9, 1), ("alice", "bob", 10, 1), *[("alice", "bob", x, 3) for x in (1, 2, 3)]]


AT_ALICE: Script = [("bob", "alice", x, 1) for x in (5, 6, 7, 8)]


def play(
    fleets: dict[str, Fleet], script: Script, book: RuleBook = SALVO, seed: str = "2", every_ms: int = 1000
) -> Replay:
    """Play shots at a table; the turn of whoever has none left ends by its deadline."""
    table = Table(Referee(seed, "", book, m.Limits(players=len(fleets))), no_status)
    header = table.header
    steps: list[Step] = []
    inputs: list[m.Input] = [m.Participate(name, b"") for name in fleets]
    inputs += [m.PlaceShip(name, place.ship, place) for name, fleet in fleets.items() for place in fleet.placements]
    steps += [table.carry_out(each, every_ms * at) for at, each in enumerate(inputs)]
    queue = list(script)
    at = every_ms * len(inputs)
    while queue:
        current = table.referee.current
        if current is None:
            break
        index = next((n for n, shot in enumerate(queue) if shot[0] == current.name), None)
        command: m.Input = m.TimePassed() if index is None else m.Fire(*queue.pop(index))
        at = table.referee.deadline() or at if index is None else at + every_ms
        steps.append(table.carry_out(command, at))
    return Replay("test", header, steps)


def hidden_from_alice(seed: int, other_seed: int, shots: int) -> tuple[Replay, Replay]:
    """Two games that alice cannot tell apart: bob's fleets differ only where nobody has fired."""
    bobs = [random_fleet(SALVO, generator(one, "bob")) for one in (seed, other_seed)]
    assume(bobs[0] != bobs[1])
    alike = [cell for cell in range(SALVO.grid.size) if (bobs[0].board[cell] > 0) == (bobs[1].board[cell] > 0)]
    random = generator(seed, "shots")
    others = ["alice", "carol"]
    script = [
        *(
            (random.choice(others), "bob", *SALVO.grid.xy(cell))
            for cell in random.sample(alike, min(shots, len(alike)))
        ),
        *(("bob", random.choice(others), *SALVO.grid.xy(cell)) for cell in random.sample(range(100), shots)),
    ]
    carol = random_fleet(SALVO, generator(seed, "carol"))
    one, other = (play({"alice": ALICE, "bob": bob, "carol": carol}, script) for bob in bobs)
    public = [[frame.result for frame in replay.frames(REFEREE)] for replay in (one, other)]
    assume(public[0] == public[1])  # a ship may still have sunk in one of them only
    return one, other
