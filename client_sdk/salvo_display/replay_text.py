"""Formats replays: as plain lines for people, and as JSON-ready records for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from salvo.codec.announcements import RESULT
from salvo.messages import Fate
from salvo.rules import Grid
from salvo_display.boards import text_boards
from salvo_display.boards.marks import PLAIN, Mark
from salvo_display.replay import REFEREE, Frame, Replay, Sea

#: Times before 2001 are not real ones: a game from the arena begins at 0.
FIRST_REAL_TIME_MS: Final = 978_307_200_000
#: How a game without a winner has ended (SALVO-HOST-5).
ABORTED: Final = "aborted by the host"
LEGEND: Final = (
    (Mark.SHIP, "ship"),
    (Mark.HIT, "hit"),
    (Mark.MISS, "miss"),
    (Mark.FIRED, "fired at"),
)


def heading(replay: Replay, view: str = REFEREE) -> str:
    """Return a line that identifies the game; only the referee sees the seed, from which fleets may be drawn."""
    rules, grid = replay.header.rules, replay.header.rules.book.grid
    table = f" at table {rules.table}" if rules.table else ""
    began = when(replay.frames(REFEREE)[0].at) if replay.turns else ""
    parts = [
        f"game {replay.header.game}{table}: {rules.book.name} on {grid.width} x {grid.height}",
        f"{len(replay.players)} players: {', '.join(replay.players)}",
        *([f"seed {replay.header.seed}"] if view == REFEREE else []),
        *([f"began {began}"] if began else []),
    ]
    return "; ".join(parts)


def when(at: int) -> str:
    """Return a time, epoch ms, as text; empty for one that is not real."""
    return f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC" if at >= FIRST_REAL_TIME_MS else ""


def counted(count: int, noun: str) -> str:
    """Return a number with its noun: ``1 game``, ``2 games``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def in_words(names: Sequence[str]) -> str:
    """Return names as a sentence has them: ``a``, ``a and b``, ``a, b and c``; empty for none."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def clock(frame: Frame) -> str:
    """Return how long the game has been on, such as ``1:02``."""
    return length(frame.clock)


def length(milliseconds: int) -> str:
    """Return a time as minutes and seconds, such as ``1:02``."""
    minutes, seconds = divmod(milliseconds // 1000, 60)
    return f"{minutes}:{seconds:02}"


def salvo_line(frame: Frame, name_width: int = 0, turn_width: int = 0) -> str:
    """Return a salvo as one line; the widths, in characters, align the columns of several."""
    result = frame.result
    if result is None:
        return f"turn {0:>{turn_width}}  before the first salvo"
    of_allowed = "" if result.shots == frame.allowed else f" of {frame.allowed}"
    return text_boards.salvo_line(result, name_width, turn_width, of_allowed, news(frame))


def news(frame: Frame) -> list[str]:
    """Return what a salvo brought about: sunk ships, defeated players, the end of the game."""
    removed = [name for name, sea in frame.seas.items() if sea.fate is Fate.REMOVED]
    return [] if frame.result is None else [*text_boards.news(frame.result, removed), *_end(frame)]


def _end(frame: Frame) -> list[str]:
    return [outcome(frame.tied or ((frame.winner,) if frame.winner else ()))] if frame.places else []


def salvo_lines(replay: Replay, view: str) -> Iterator[str]:
    """Return a line for each salvo."""
    width = max(map(len, replay.players), default=0)
    for frame in replay.frames(view)[1:]:
        yield salvo_line(frame, width, len(str(replay.turns)))


def frame_lines(replay: Replay, frame: Frame, view: str) -> list[str]:
    """Return everything that a view sees after a turn."""
    grid = replay.header.rules.book.grid
    legend = ", ".join(f"{mark.translate(PLAIN)} {text}" for mark, text in LEGEND)
    sunk = [f"sunk of {name}: {', '.join(sea.sunk)}" for name, sea in frame.seas.items() if sea.sunk]
    return [
        f"{salvo_line(frame)}   clock {clock(frame)}   {_what_next(frame)}".rstrip(),
        *frame.notes,
        "",
        *text_boards.board_lines({name: (_state(sea), sea.marks) for name, sea in frame.seas.items()}, grid),
        *sunk,
        f"view: {view}   {legend}",
    ]


def _state(sea: Sea) -> str:
    if sea.fate is Fate.REMOVED:
        return "removed by the host"
    return "defeated" if sea.out else f"{len(sea.afloat)} afloat"


def _what_next(frame: Frame) -> str:
    """Return who fires next, or who has won; empty for a salvo of a round that is being resolved."""
    if frame.current:
        return f"next: {frame.current} with {frame.shots} shot{'s' * (frame.shots != 1)}"
    return won_line(frame.winner, frame.tied) if frame.places else ""


def won_line(winner: str, tied: Sequence[str]) -> str:
    """Return who has won, as text; of an aborted game that it is one."""
    return f"tie: {', '.join(tied)}" if tied else f"winner: {winner}" if winner else ABORTED


def outcome(winners: Sequence[str]) -> str:
    """Return who has won, as a sentence's beginning: ``ann wins``, ``ann and bob tie``; of an aborted game, so."""
    if not winners:
        return ABORTED
    return f"{' and '.join(winners)} {'tie' if len(winners) > 1 else 'wins'}"


def record(frame: Frame) -> dict[str, Any]:
    """Return a turn as a record for programs."""
    fields: dict[str, Any] = {"turn": frame.turn, "at": frame.at, "clock": frame.clock}
    if frame.result is not None:
        fields |= RESULT.value(frame.result)
        fields["allowed"] = frame.allowed
    fields["fired"] = [_fired(shot, mark) for shot, mark in frame.fired]
    fields["notes"] = list(frame.notes)
    if frame.places:
        fields |= {"winner": frame.winner, "places": dict(frame.places)}
        fields |= {"tied": list(frame.tied)} if frame.tied else {}
    elif frame.current:
        fields["next"] = {"player": frame.current, "shots": frame.shots}
    return fields


def _fired(shot: tuple[str, int, int], mark: Mark) -> dict[str, Any]:
    player, x, y = shot
    known = {} if mark is Mark.FIRED else {"hit": mark is Mark.HIT}
    return {"player": player, "x": x, "y": y, **known}


def boards_record(frame: Frame, grid: Grid) -> dict[str, Any]:
    """Return the boards after a turn as a record for programs, rows in plain letters."""
    return {
        name: {
            "rows": [
                sea.marks[first : first + grid.width].translate(PLAIN) for first in range(0, grid.size, grid.width)
            ],
            "afloat": list(sea.afloat),
            "sunk": list(sea.sunk),
            "defeated": sea.out,
        }
        for name, sea in frame.seas.items()
    }
