"""Why a game of two was won, told in up to three lines and for programs.

The account is the laboratory's (:mod:`.verdict`). Fleets are examined only here, and only of a game that is
over. No effect is reported that is smaller than its error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, hypot
from typing import Any, Final

from salvo.messages import Fate
from salvo.rules import Ending, Order, Shots, Sinkings
from salvo_display.pictures.marks import Mark
from salvo_display.replay import REFEREE, Replay
from salvo_display.replay_text import counted
from salvo_lab.explaining.explain import Estimate, Explanation
from salvo_lab.explaining.verdict import BOARDS, SURE, Verdict, clearing_cost, verdict

#: Cells of the largest grid on which it is counted what a fleet costs, which takes some three seconds there. Where a
#: turn has one shot it would take ten on 10 x 10.
MAX_CELLS: Final = 144
#: What each part of a lead is called where it decided.
_BY: Final = {
    "shooting": "better shooting",
    "shots": "more shots",
    "unfired": "shots that {loser} left unfired",
    "repeats": "hitting cells again",
    "luck": "luck",
}


@dataclass(frozen=True, slots=True)
class Why:
    """Why a game was won.

    Attributes:
        found: where the lead comes from; None where the loser was out with cells left.
        lacking: cells of the winner's ships that were not hit.
        left: cells of the loser's, where it was out for another reason.
        next_shots: that the loser would have had, had it fired first; 0 where that had made no turn more for it.
        empty_turns: the loser's, without a shot.
        removed: whether a host has removed the loser.
        costs: by player, shots that its fleet costs beyond one that is drawn; those only that are surely not 0.
    """

    winner: str
    loser: str
    found: Verdict | None
    lacking: int
    left: int
    next_shots: int
    empty_turns: int
    removed: bool
    costs: Mapping[str, Estimate]


def explain_end(replay: Replay, told: Sequence[Explanation], seed: str, boards: int = BOARDS) -> Why | None:
    """Return why a game was won.

    Args:
        told: all salvos of all players.
        seed: decides the games by which fleets are judged.
        boards: how many of them for each.

    Returns:
        None for a game that is not over, that is tied, or that more than two played; and where the loser has hit as
        much, or the chances are not known well enough.
    """
    last = replay.frames(REFEREE)[-1]
    if len(replay.players) != 2 or not last.winner:
        return None
    winner = last.winner
    [loser] = (name for name in replay.players if name != winner)
    own = {name: [each for each in told if each.player == name] for name in replay.players}
    found, fell = verdict(own[winner], own[loser]), last.seas[loser].out
    left = last.seas[loser].marks.count(Mark.SHIP) if fell else 0
    if found is None and not left:
        return None
    return Why(
        winner,
        loser,
        None if left else found,
        last.seas[winner].marks.count(Mark.SHIP),
        left,
        _next_shots(replay, winner, loser),
        sum(not each.shots and each.allowed > 0 for each in own[loser]),
        last.seas[loser].fate is Fate.REMOVED,
        {} if left else _costs(replay, seed, boards),
    )


def _next_shots(replay: Replay, winner: str, loser: str) -> int:
    """Return how many shots the loser would have had, had it fired first."""
    book, frames = replay.header.rules.book, replay.frames(REFEREE)
    results = [frame.result for frame in frames if frame.result is not None]
    turns = [result.player for result in results]
    if book.order is not Order.ROTATION or book.ending is Ending.GOAL or book.shots is Shots.UNTIL_MISS:
        return 0
    if turns.count(winner) != turns.count(loser) + 1 or book.sinkings is not Sinkings.TOLD:
        return 0
    return 1 if book.shots is Shots.ONE else len(frames[-2].seas[loser].afloat)


def _costs(replay: Replay, seed: str, boards: int) -> dict[str, Estimate]:
    book, fleets = replay.header.rules.book, replay.onlooker(REFEREE).fleets
    if book.grid.size > MAX_CELLS or book.shots is not Shots.AFLOAT:
        return {}
    drawn = clearing_cost(book, None, seed=seed, boards=boards)
    found = {name: clearing_cost(book, fleet, seed=seed, boards=boards) for name, fleet in fleets.items()}
    more = {name: Estimate(cost.value - drawn.value, hypot(cost.error, drawn.error)) for name, cost in found.items()}
    return {name: each for name, each in more.items() if abs(each.value) > SURE * each.error}


# --- in lines ---------------------------------------------------------------------------------------------------------


def lines(why: Why) -> list[str]:
    """Return it in up to three lines."""
    if why.found is None:
        return [f"why: {_out_line(why)}"]
    told = [f"why: {_headline(why, why.found)}", _parts_line(why, why.found)]
    if notes := _notes(why):
        told.append("; ".join(notes))
    return [told[0], *(f"{'':5}{line}" for line in told[1:])]


def _out_line(why: Why) -> str:
    if why.removed:
        return f"{why.winner} won because the host removed {why.loser}"
    silent = f", after {counted(why.empty_turns, 'turn')} without a shot" if why.empty_turns else ""
    left = f"with {counted(why.left, 'cell')} of its ships not hit"
    return f"{why.winner} won because {why.loser} was out, {left}{silent}"


def _headline(why: Why, found: Verdict) -> str:
    hits = f"{found.winner.account.hits} hits to {found.loser.account.hits}"
    if not found.by:
        return f"{why.winner} won, {hits}, and nothing stands out beyond the error"
    causes = [_BY[name].format(loser=why.loser) for name in found.by]
    most = "" if found.decisive else "above all "
    return f"{why.winner} won, {hits}, {most}by {' and '.join(causes)}"


def _parts_line(why: Why, found: Verdict) -> str:
    one, other = found.winner, found.loser
    left = [f"{name} {side.unfired}" for name, side in ((why.winner, one), (why.loser, other)) if side.unfired]
    beside = {
        "shooting": f"{one.rate.value:.2f} expected hits a shot; {why.loser} {other.rate.value:.2f}",
        "shots": f"{one.allowed} in {counted(one.account.turns, 'turn')}; {why.loser} {other.allowed} in "
        f"{other.account.turns}",
        "unfired": ", ".join(left),
        "luck": f"+- {found.usual_luck:.1f} is usual",
    }
    parts = []
    for name, part in found.parts.items():
        if name in ("unfired", "repeats") and not part.value:
            continue
        error = f" +- {ceil(10 * part.error) / 10}" if part.error else ""  # an error is never rounded away
        parts.append(f"{name} {_signed(part.value)}{error}" + (f" ({beside[name]})" if name in beside else ""))
    against = any(round(part.value, 1) < 0 for part in found.parts.values())
    minus = f"; what has a minus was in {why.loser}'s favour" if against else ""
    return f"its lead of {counted(found.lead, 'hit')}: {', '.join(parts)}{minus}"


def _notes(why: Why) -> list[str]:
    notes = []
    if 0 < why.lacking <= why.next_shots:
        notes.append(
            f"{why.winner} fired first: {why.loser}, which lacked {counted(why.lacking, 'hit')}, would have had a turn"
            f" of {counted(why.next_shots, 'shot')} more"
        )
    if why.empty_turns:
        notes.append(f"{why.loser} fired nothing in {counted(why.empty_turns, 'turn')}")
    if why.costs:
        each = []
        for player, more in why.costs.items():
            beside = f"{abs(more.value):.0f} +- {ceil(more.error)} shots {'more' if more.value > 0 else 'fewer'}"
            each.append(f"{player}'s fleet in {beside}")
        notes.append(f"density clears {', '.join(each)} than a random one, which counts as luck")
    return notes


def _signed(hits: float) -> str:
    return f"{round(hits, 1) + 0.0:+.1f}"


# --- for programs -----------------------------------------------------------------------------------------------------


def record(why: Why) -> dict[str, Any]:
    """Return it for programs."""
    told: dict[str, Any] = {"winner": why.winner, "loser": why.loser, "lines": lines(why), "lead": None}
    if why.found is not None:
        found = why.found
        told |= {
            "lead": found.lead,
            "by": list(found.by),
            "decisive": found.decisive,
            "parts": {name: _estimate(part) for name, part in found.parts.items()},
            "usual_luck": round(found.usual_luck, 4),
        }
    return told | {
        "lacking": why.lacking,
        "left": why.left,
        "empty_turns": why.empty_turns,
        "fleets_cost_more": {name: _estimate(more) for name, more in why.costs.items()},
    }


def _estimate(found: Estimate) -> dict[str, float]:
    return {"value": round(found.value, 4), "error": round(found.error, 4)}
