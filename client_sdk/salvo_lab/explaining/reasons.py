"""An explained game: in lines, and as a page with heat maps."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from salvo.badges import Badges
from salvo.rules import Grid
from salvo_display import replay_text
from salvo_display.boards import HeatMap
from salvo_display.boards.heat_map import percentage
from salvo_display.replay import REFEREE, Replay
from salvo_display.web_page import emblems, team_style
from salvo_display.web_page.drawing import Fortune, Luck
from salvo_display.web_page.rendering import render
from salvo_lab.explaining.explain import Aimed, Explanation, GameAccount, Knowledge, account


def salvo_lines(salvo: Explanation, grid: Grid) -> list[str]:
    """Return what there is to say of one salvo, but for the maps."""
    fired = f"{len(salvo.shots)} of {salvo.allowed}" if len(salvo.shots) != salvo.allowed else str(salvo.allowed)
    return [
        f"fired: {_named(salvo.shots, grid) or 'nothing'}",
        f"best:  {_named(salvo.best, grid) or 'nothing was left to fire at'}",
        f"hits:  {salvo.hits} with {fired} shots, {salvo.expected} expected, {salvo.best_expected:.2f} at best",
        f"luck:  {_signed(salvo.luck.value, 2)} hits; such a salvo usually has +- {salvo.spread:.2f}",
        f"lost:  {salvo.loss} expected hits, against the best salvo",
    ]


def knowledge_line(rival: str, known: Knowledge) -> str:
    """Return what a player knew of a rival's board."""
    answers = ", ".join(f"{'?' if hits is None else hits} of {shots}" for shots, hits in known.answers)
    parts = [f"{known.shots} cells shot at", f"{known.hits} hits" + (f": {answers}" if answers else "")]
    if known.afloat is not None:
        parts.insert(0, f"afloat: {', '.join(known.afloat) or 'nothing'}")
        parts.insert(1, f"sunk: {', '.join(known.sunk) or 'nothing'}")
    return f"knew of {rival}: {'; '.join(parts)}"


def _named(shots: Sequence[Aimed], grid: Grid) -> str:
    """Return shots with their chances, a rival at a time."""
    by_rival: dict[str, list[str]] = {}
    for shot in shots:
        name = grid.name(grid.cell(shot.at.x, shot.at.y))
        outcome_word = "" if shot.hit is None else " hit" if shot.hit else " miss"
        by_rival.setdefault(shot.at.player, []).append(f"{name} {percentage(shot.chance)}%{outcome_word}")
    return "; ".join(f"{rival} {', '.join(cells)}" for rival, cells in by_rival.items())


def _signed(hits: float, digits: int) -> str:
    return f"{round(hits, digits) + 0.0:+.{digits}f}"  # nothing is +0.00, never -0.00


#: What the columns of :func:`table_lines` are.
LEGEND: Final = (
    "expected: hits that the shots promised, as far as the player knew; best: of the best salvo; luck: hits - expected"
)


def table_lines(salvos: Sequence[Explanation]) -> list[str]:
    """Return a line for each of one salvo or more, under a line of headings."""
    names = max(6, *(len(salvo.player) for salvo in salvos))
    turns = max(4, len(str(salvos[-1].turn)))
    lines = [f"{'turn':>{turns}}  {'player':<{names}}  shots  hits  expected  best   luck"]
    for salvo in salvos:
        # What was fired may seem better than the best by an error of sampling.
        best = max(salvo.best_expected, salvo.promised)
        lines.append(
            f"{salvo.turn:>{turns}}  {salvo.player:<{names}}  {len(salvo.shots):>5}  {salvo.hits:>4}"
            f"  {salvo.expected.value:>8.2f}  {best:>4.2f}  {_signed(salvo.luck.value, 2):>5}"
        )
    return lines


def verdict_line(player: str, came: str, found: GameAccount) -> str:
    """Return a player's luck and skill in a sentence, which :func:`luck_of` reads.

    Args:
        came: what became of the player, such as ``won``.
    """
    error = f" (+- {100 * found.skill.error:.1f}%)" if found.skill.error else ""
    return (
        f"{player} {came}: luck {_signed(found.luck.value, 1)} hits (usually +- {found.spread:.1f}),"
        f" {found.hits} where {found.expected:.1f} were expected;"
        f" its shots were {_percent(found)} of the best there were{error}"
    )


_VERDICT: Final = re.compile(
    r"(?P<player>.+) (?P<came>won|lost|tied|so far): luck (?P<luck>[+-][0-9.]+) hits \(.*\), (?P<hits>[0-9]+) where"
    r" (?P<expected>[0-9.]+) were expected; its shots were (?P<skill>[0-9]+)%.*"
)


def luck_of(printed: str) -> Luck:
    """Return what :func:`game_lines`, as text, says of luck and skill."""
    meaning, *lines = printed.rpartition("\n\n")[2].splitlines()
    found = [match.groupdict() for line in lines if (match := _VERDICT.fullmatch(line))]
    fortunes = [
        Fortune(
            *(one["player"], one["came"], float(one["luck"])),
            *(int(one["hits"]), float(one["expected"]), int(one["skill"]) / 100),
        )
        for one in found
    ]
    return Luck(fortunes, meaning, [line.replace("+-", "±") for line in lines])


def meaning(found: Mapping[str, GameAccount], came: Mapping[str, str], received: Mapping[str, int]) -> str:
    """Return in a sentence what decided a game.

    Args:
        received: by player, the shots that were fired at it.
    """
    winner = next((player for player in found if came[player] == "won"), None)
    others = [player for player in found if player != winner]
    if winner is None or not others:
        return "The game is not over." if "so far" in came.values() else "Nobody won alone."
    own, shooter, lucky = (
        found[winner],
        *(max(others, key=lambda player: getattr(found[player], what).value) for what in ("skill", "luck")),
    )
    shots = f"its shots were {_percent(own)} of the best, those of {shooter} {_percent(found[shooter])}"
    luck = f"{'it' if own.luck.value >= found[lucky].luck.value else lucky} had the most luck"
    if own.skill.value >= found[shooter].skill.value:
        return f"{winner} won by skill: {shots}; {luck}."
    if luck.startswith("it "):
        return f"{winner} won by luck: {shots}."
    few = len(others) > 1 and received[winner] < sum(received.values()) / len(found)
    why = f", since few fired at it, {received[winner]} of {sum(received.values())} shots" if few else " all the same"
    return f"{winner} won{why}: {shots}; {luck}."


def _percent(found: GameAccount) -> str:
    return f"{min(100.0, 100 * found.skill.value):.0f}%"


def method_line(salvos: Sequence[Explanation], fleets: int) -> str:
    """Return how all this was reckoned."""
    guessed = sum(not salvo.exact for salvo in salvos)
    vague = sum(any(known.unused for known in salvo.known.values()) for salvo in salvos)
    parts = [f"chances: up to {fleets} fleets sampled for each board", "+- in brackets: sampling error"]
    if guessed:
        parts[0] += f"; estimated ship by ship, without an error, in {guessed} of {len(salvos)} salvos"
    if vague:
        parts.append(
            f"luck is rough in {vague} of {len(salvos)} salvos: answers that are too hard to compute with are left out"
        )
    return "; ".join(parts)


def accounts(replay: Replay, salvos: Sequence[Explanation]) -> dict[str, GameAccount]:
    """Return luck and skill of all players who have fired."""
    own = {player: [salvo for salvo in salvos if salvo.player == player] for player in replay.players}
    return {player: account(item) for player, item in own.items() if item}


def game_lines(replay: Replay, salvos: Sequence[Explanation], fleets: int) -> list[str]:
    """Return what there is to say of a whole game: all salvos, luck and skill of each player."""
    if not salvos:
        return ["no salvo was fired"]
    found = accounts(replay, salvos)
    came = {player: outcome(replay, player) for player in found}
    received = Counter(shot.at.player for salvo in salvos for shot in salvo.shots)
    verdicts = [verdict_line(player, came[player], own) for player, own in found.items()]
    means = meaning(found, came, received)
    return [*table_lines(salvos), LEGEND, "", means, *verdicts, method_line(salvos, fleets)]


def html_page(replay: Replay, salvos: Sequence[Explanation], fleets: int | None) -> str:
    """Return a page with the heat maps of salvos, and what there is to say of each.

    Args:
        fleets: drawn of each board, where it is the whole game; else None.
    """
    game = "" if fleets is None else "\n".join(game_lines(replay, salvos, fleets))
    badges = Badges().of(replay.players)
    return render(
        "salvo_lab/explaining/reasons.html.j2",
        style=team_style(),
        emblems=emblems(badges.values()),
        badges=badges,
        luck=luck_of(game) if game and salvos else None,
        name=replay.name,
        heading=replay_text.heading(replay),
        game=game.rpartition("\n\n")[0] if salvos else game,
        salvos=[_salvo(replay, salvo) for salvo in salvos],
    )


def _salvo(replay: Replay, salvo: Explanation) -> tuple[str, Iterable[HeatMap], list[str]]:
    """Return the heading, the heat maps and the lines of a salvo."""
    known = [knowledge_line(rival, salvo.known[rival]) for rival in salvo.maps]
    lines = [*known, *salvo_lines(salvo, replay.header.rules.book.grid)]
    return replay_text.salvo_line(replay.frame(salvo.player, salvo.turn)), salvo.maps.values(), lines


def outcome(replay: Replay, player: str) -> str:
    """Return what became of a player."""
    last = replay.frames(REFEREE)[-1]
    if not last.places:
        return "so far"
    if player in last.tied:
        return "tied"
    return "won" if player == last.winner else "lost"
