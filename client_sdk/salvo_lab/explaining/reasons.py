"""An explained game told: in lines for people, as records for programs, and as a page with heat maps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from salvo.rules import Announce, Grid, RuleBook
from salvo_display import replay_text
from salvo_display.page.rendering import render
from salvo_display.pictures import HeatMap
from salvo_display.pictures.heat import percentage
from salvo_display.pictures.marks import PLAIN, Mark
from salvo_display.replay import REFEREE, Replay
from salvo_lab.explaining.explain import Account, Aimed, Estimate, Explanation, Knowledge, News, account


def salvo_lines(told: Explanation, book: RuleBook) -> list[str]:
    """Return what there is to say of one salvo, but for the maps."""
    grid = book.grid
    fired = f"{len(told.shots)} of {told.allowed}" if len(told.shots) != told.allowed else str(told.allowed)
    of = "the number of hits" if book.announce is Announce.COUNT else "hit or miss of each shot"
    bits = f"{told.news.told:.2f} bits by {of}, {told.news.expected:.2f} typical"
    return [
        f"fired: {_named(told.shots, grid) or 'nothing'}",
        f"best:  {_named(told.best, grid) or 'nothing was left to fire at'}",
        f"hits:  {told.hits} with {fired} shots, {told.expected} expected, {told.best_expected:.2f} at best",
        f"luck:  {_signed(told.luck.value, 2)} hits; such a salvo usually has +- {told.spread:.2f}",
        f"lost:  {told.loss} expected hits, against the best salvo",
        f"news:  {bits}; one bit halves the possible fleets",
    ]


def knowledge_line(rival: str, known: Knowledge) -> str:
    """Return what a player knew of a rival's board."""
    each = ", ".join(f"{'?' if hits is None else hits} of {shots}" for shots, hits in known.answers)
    told = [f"{known.shots} cells shot at", f"{known.hits} hits" + (f": {each}" if each else "")]
    if known.afloat is not None:
        told.insert(0, f"afloat: {', '.join(known.afloat) or 'nothing'}")
        told.insert(1, f"sunk: {', '.join(known.sunk) or 'nothing'}")
    return f"knew of {rival}: {'; '.join(told)}"


def _named(shots: Sequence[Aimed], grid: Grid) -> str:
    """Return shots with their chances, a rival at a time."""
    by_rival: dict[str, list[str]] = {}
    for each in shots:
        name = grid.name(grid.cell(each.shot.x, each.shot.y))
        told = "" if each.hit is None else " hit" if each.hit else " miss"
        by_rival.setdefault(each.shot.player, []).append(f"{name} {percentage(each.chance)}%{told}")
    return "; ".join(f"{rival} {', '.join(cells)}" for rival, cells in by_rival.items())


def _signed(hits: float, digits: int) -> str:
    return f"{round(hits, digits) + 0.0:+.{digits}f}"  # nothing is +0.00, never -0.00


#: What the columns of :func:`table_lines` are.
LEGEND: Final = (
    "expected: hits that the shots promised, as far as the player knew; best: of the best salvo; luck: hits - expected",
    "bits: what the answer told, where one bit halves the possible fleets; typical: the bits to expect of such a salvo",
)


def table_lines(told: Sequence[Explanation]) -> list[str]:
    """Return a line for each of one salvo or more, under a line of headings."""
    names = max(6, *(len(each.player) for each in told))
    turns = max(4, len(str(told[-1].turn)))
    lines = [f"{'turn':>{turns}}  {'player':<{names}}  shots  hits  expected  best   luck  bits  typical"]
    for each in told:
        # What was fired may seem better than the best by an error of sampling.
        best = max(each.best_expected, each.promised)
        lines.append(
            f"{each.turn:>{turns}}  {each.player:<{names}}  {len(each.shots):>5}  {each.hits:>4}"
            f"  {each.expected.value:>8.2f}  {best:>4.2f}  {_signed(each.luck.value, 2):>5}"
            f"  {each.news.told:>4.2f}  {each.news.expected:>7.2f}"
        )
    return lines


def verdict_line(player: str, came: str, found: Account) -> str:
    """Return a player's luck and skill in a sentence.

    Args:
        came: what became of the player, such as ``won``.
    """
    error = f" (+- {100 * found.skill.error:.1f}%)" if found.skill.error else ""
    return (
        f"{player} {came}: luck {_signed(found.luck.value, 1)} hits (usually +- {found.spread:.1f}),"
        f" {found.hits} where {found.expected:.1f} were expected;"
        f" its shots were {min(100.0, 100 * found.skill.value):.0f}% of the best there were{error}"
    )


def method_line(told: Sequence[Explanation], fleets: int) -> str:
    """Return how all this was reckoned."""
    guessed = sum(not each.exact for each in told)
    vague = sum(any(known.unused for known in each.known.values()) for each in told)
    parts = [f"chances: up to {fleets} fleets sampled for each board", "+- in brackets: sampling error"]
    if guessed:
        parts[0] += f"; estimated ship by ship, without an error, in {guessed} of {len(told)} salvos"
    if vague:
        parts.append(
            f"luck is rough in {vague} of {len(told)} salvos: answers that are too hard to take in are left out"
        )
    return "; ".join(parts)


def accounts(replay: Replay, told: Sequence[Explanation]) -> dict[str, Account]:
    """Return luck and skill of all players who have fired."""
    own = {player: [each for each in told if each.player == player] for player in replay.players}
    return {player: account(each) for player, each in own.items() if each}


def game_lines(replay: Replay, told: Sequence[Explanation], fleets: int) -> list[str]:
    """Return what there is to say of a whole game: all salvos, luck and skill of each player."""
    if not told:
        return ["no salvo was fired"]
    verdicts = [verdict_line(player, outcome(replay, player), own) for player, own in accounts(replay, told).items()]
    return [*table_lines(told), *LEGEND, "", *verdicts, method_line(told, fleets)]


def html_page(replay: Replay, told: Sequence[Explanation], fleets: int | None) -> str:
    """Return a page with the heat maps of salvos, and what there is to say of each.

    Args:
        fleets: drawn of each board, where it is the whole game; else None.
    """
    return render(
        "salvo_lab/explaining/reasons.html.j2",
        name=replay.name,
        heading=replay_text.heading(replay),
        game=None if fleets is None else game_lines(replay, told, fleets),
        salvos=[_salvo(replay, each) for each in told],
    )


def _salvo(replay: Replay, told: Explanation) -> tuple[str, Iterable[HeatMap], list[str]]:
    """Return the heading, the heat maps and the lines of a salvo."""
    known = [knowledge_line(rival, told.known[rival]) for rival in told.maps]
    lines = [*known, *salvo_lines(told, replay.header.rules.book)]
    return replay_text.salvo_line(replay.frame(told.player, told.turn)), told.maps.values(), lines


def outcome(replay: Replay, player: str) -> str:
    """Return what became of a player."""
    last = replay.frames(REFEREE)[-1]
    if not last.places:
        return "so far"
    if player in last.tied:
        return "tied"
    return "won" if player == last.winner else "lost"


# --- told for programs --------------------------------------------------------------------------------------------


def salvo_record(told: Explanation) -> dict[str, Any]:
    """Return a salvo for programs."""
    return {
        "turn": told.turn,
        "player": told.player,
        "allowed": told.allowed,
        "shots": [_shot_record(each) for each in told.shots],
        "hits": told.hits,
        "expected": _estimate_record(told.expected),
        "luck": _estimate_record(told.luck),
        "spread": round(told.spread, 4),
        "best": {"expected": round(told.best_expected, 4), "shots": [_shot_record(each) for each in told.best]},
        "lost": _estimate_record(told.loss),
        "bits": _news_record(told.news),
        "exact": told.exact,
    }


def boards_record(told: Explanation) -> dict[str, Any]:
    """Return for programs what was known of the rivals' boards before a salvo."""
    return {rival: _board_record(each, told.known[rival]) for rival, each in told.maps.items()}


def _board_record(drawn: HeatMap, known: Knowledge) -> dict[str, Any]:
    width, size = drawn.grid.width, drawn.grid.size
    rows = [range(first, first + width) for first in range(0, size, width)]
    return {
        **known._asdict(),
        "exact": drawn.exact,
        "marks": ["".join(drawn.marks.get(cell, Mark.BLANK) for cell in row).translate(PLAIN) for row in rows],
        "chances": [[round(drawn.chances[cell], 4) for cell in row] for row in rows],
    }


def account_record(player: str, came: str, found: Account) -> dict[str, Any]:
    """Return a player's luck and skill for programs."""
    return {
        "player": player,
        "outcome": came,
        "turns": found.turns,
        "shots": found.shots,
        "hits": found.hits,
        "expected": round(found.expected, 4),
        "luck": _estimate_record(found.luck),
        "spread": round(found.spread, 4),
        "best": round(found.best, 4),
        "skill": _estimate_record(found.skill),
        "bits": _news_record(found.news),
        "exact": found.exact,
    }


def _shot_record(each: Aimed) -> dict[str, Any]:
    told = {} if each.hit is None else {"hit": each.hit}
    return {**each.shot._asdict(), "chance": round(each.chance, 4), "fresh": each.fresh, **told}


def _estimate_record(found: Estimate) -> dict[str, float]:
    return {"value": round(found.value, 4), "error": round(found.error, 4)}


def _news_record(news: News) -> dict[str, float]:
    return {"told": round(news.told, 4), "expected": round(news.expected, 4)}
