"""Several files of one game: whether the server told them the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from salvo.codec.log import LogStep
from salvo.codec.log_reader import Fault, LogError, game_of, read_signed, two_histories
from salvo.messages import Draw
from salvo_game.log_verification.findings import Finding, LoggedGame, ProofReport


class Agreement(NamedTuple):
    """Files that tell the same of one game.

    Attributes:
        compared: how many entries are in two of them at least.
    """

    files: tuple[str, ...]
    game: str
    compared: int


class _Story(NamedTuple):
    """What a file has of a game: texts by number of the entry, and their lines."""

    file: str
    lines: dict[int, tuple[int, bytes]]


def compare_stories(reports: Sequence[ProofReport]) -> list[Finding]:
    """Return where the server told different files different things of one game."""
    findings = []
    games = [(report, game) for report in reports for game in report.games_read]
    for number, (report, game) in enumerate(games):
        for other_report, other in games[:number]:
            if report is not other_report and not _one_after_the_other(report, game, other_report, other):
                finding = _two_stories(_whole(report, game), game, _whole(other_report, other), other)
                findings += [] if finding is None else [finding]
    for game, parts in _loose(reports):
        for report, part in parts:
            finding = _two_stories(part, game, _whole(report, game), game)
            findings += [] if finding is None else [finding]
    return findings


def agreements(reports: Sequence[ProofReport]) -> list[Agreement]:
    """Return of which games several files tell the same; to be asked when :func:`compare_stories` finds nothing."""
    stories: dict[str, list[_Story]] = {}
    names: dict[str, str] = {}
    for report in reports:
        for game in report.games_read:
            names.setdefault(game.of, str(game))
            stories.setdefault(game.of, []).append(_whole(report, game))
    for game, parts in _loose(reports):
        stories[game.of] += [part for _, part in parts if part.file not in {each.file for each in stories[game.of]}]
    found = []
    for of, files in stories.items():
        numbers = [number for file in files for number in file.lines]
        if len(files) > 1:
            compared = sum(numbers.count(number) > 1 for number in set(numbers))
            found.append(Agreement(tuple(file.file for file in files), names[of], compared))
    return found


def _whole(report: ProofReport, game: LoggedGame) -> _Story:
    return _Story(report.file, {line.entry.number: (line.number, line.text) for line in game.lines})


def _loose(reports: Sequence[ProofReport]) -> Iterator[tuple[LoggedGame, list[tuple[ProofReport, _Story]]]]:
    """What files without a game's opening have of it, once for each game, with a file that has the opening."""
    seen: set[str] = set()
    for report in reports:
        for game in report.games_read:
            if game.of not in seen:
                seen.add(game.of)
                others = [each for each in reports if each is not report]
                parts = [_Story(other.file, _part(other, game)) for other in others]
                yield game, [(report, part) for part in parts if part.lines]


def _part(report: ProofReport, game: LoggedGame) -> dict[int, tuple[int, bytes]]:
    """What is signed, and of the game, among the entries that have no opening in a file."""
    part = {}
    for number, payload in report.loose:
        try:
            text, entry = read_signed(payload, game.opening.key)
        except LogError:
            continue
        if game_of(text, entry) == game.of:
            part[entry.number] = number, text
    return part


def _one_after_the_other(report: ProofReport, game: LoggedGame, other_report: ProofReport, other: LoggedGame) -> bool:
    """Whether one team numbers both games: then they are two, even if a clock was set back and their times overlap."""
    same = game.of == other.of
    return not same and (_has(report, other) or _has(other_report, game))


def _has(report: ProofReport, game: LoggedGame) -> bool:
    return any(each.of == game.of for each in report.games_read)


def _two_stories(mine: _Story, game: LoggedGame, theirs: _Story, other: LoggedGame) -> Finding | None:
    opening, its = game.opening, other.opening
    if (opening.key, opening.table) != (its.key, its.table):
        return None
    if game.of != other.of and not _overlap(game.published_steps, other.published_steps):
        return None  # two games; a server without a journal begins with game 1 again
    for number in sorted(mine.lines.keys() & theirs.lines.keys()):
        (line, text), (their_line, their_text) = mine.lines[number], theirs.lines[number]
        if text != their_text:
            where = f"entry {number} is another one in {theirs.file}, line {their_line}, and both are signed"
            return Finding(mine.file, line, *_fault(game, other, number, where))
    return None


def _fault(game: LoggedGame, other: LoggedGame, number: int, where: str) -> tuple[Fault, str]:
    difference = f"it signed two histories of {game}: {where}"
    if game.opening.draw is Draw.SEED:
        restarted = "it was restarted with the same explicit seed, and these are two games"
        return Fault.UNDECIDED, f"{difference}; or {restarted}"
    if game.of == other.of:
        return Fault.FORKED, f"of {game} {two_histories(number)}; {where}"
    return Fault.SERVER, difference


def _overlap(one: Sequence[LogStep], other: Sequence[LogStep]) -> bool:
    """Whether two games at one table were on at the same time."""
    return bool(one and other) and one[0].at <= other[-1].at and other[0].at <= one[-1].at
