"""A game executed again, and the log that follows compared with the one that was signed (SALVO-LOG-11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from salvo import messages as m
from salvo.codec.header import Header
from salvo.codec.log import Entry, LogEnd, LogStep, Opening, Reveal
from salvo.codec.log_reader import NotOpened, open_commitments, read_entry, read_hidden
from salvo.codec.steps import write_announcement_line, write_input
from salvo.errors import WireError
from salvo_game.log import GameLog
from salvo_game.log_verification.findings import LoggedGame, LoggedLine, blame_server
from salvo_game.table import Table, seat
from salvo_game.transcript import no_status


class _Hidden(NamedTuple):
    """A revealed input."""

    text: str
    at: int
    command: m.Input


class Repetition:
    """Executes a game again, step by step."""

    def __init__(self, game: LoggedGame) -> None:
        self._game = game
        self._steps = [line for line in game.lines if isinstance(line.entry.body, LogStep)]
        self._rest = [line for line in game.lines[1:] if not isinstance(line.entry.body, LogStep)]
        self._at = 0

    def run(self) -> None:
        """Check the whole game.

        Raises:
            Wrong: the first thing that the server has made up.
        """
        header, secret, hidden = self._open()
        self._hidden = iter(hidden)
        self._table = Table(seat(header), no_status)
        first = self._game.lines[0]
        if replace(self._table.header, version=header.version) != header:
            blame_server(first, "rules and limits contradict each other")
        self._table.open()
        self._log = GameLog(header, self._game.opening.key, secret)
        if self._log.entries[0] != first.text:
            blame_server(first, "the opening is not the one of this game")
        self._game.header = header
        after: list[bytes] = []
        for line in self._steps:
            after = self._repeat(line)
        self._compare_rest(after)

    # --- what was revealed ----------------------------------------------------------------------------------------

    def _open(self) -> tuple[Header, bytes, list[_Hidden]]:
        opening, first = self._game.opening, self._game.lines[0]
        reveals = [line for line in self._rest if isinstance(line.entry.body, Reveal)]
        if not reveals:
            blame_server(self._rest[-1], "the game ended, and nothing was revealed")
        committed = [(line, commitment) for line in self._steps for commitment in _hidden_of(line)]
        texts = [(line, text) for line in reveals for text in texts_of(line)]
        revealed = reveals[0].entry.body
        assert isinstance(revealed, Reveal)
        try:
            commitments = [commitment for _, commitment in committed]
            seed, secret = open_commitments(opening, revealed, commitments, [text for _, text in texts])
        except NotOpened as error:
            if error.number is None:
                blame_server(reveals[0], f"{error} of line {first.number}")
            blame_server(texts[error.number][0], f"{error} of line {committed[error.number][0].number}")
        if len(committed) != len(texts):
            blame_server(self._rest[-1], f"{len(committed)} commitments, {len(texts)} texts revealed")
        hidden = [_read(line, number, text) for number, (line, text) in enumerate(texts)]
        header = Header(opening.version, opening.game, seed, opening.rules, opening.limits, opening.draw)
        return header, secret, hidden

    # --- executing ------------------------------------------------------------------------------------------------

    def _repeat(self, line: LoggedLine) -> list[bytes]:
        """Execute what led to an entry and compare it; return what follows on it."""
        body = line.entry.body
        assert isinstance(body, LogStep)
        due = [next(self._hidden) for _ in body.hidden]
        own = None if body.command is not None or not due else due.pop()
        for each in due:
            if self._carry_out(line, each.command, each.at):
                blame_server(line, f"{each.text[:120]} must be announced, and the log has no entry of it")
        if body.command is not None:
            produced = self._carry_out(line, body.command, body.at)
        elif own is not None:
            produced = self._carry_out(line, own.command, own.at)
        else:
            blame_server(line, "no input led to these announcements")
        if not produced:
            blame_server(line, "what led to this entry is announced to its sender alone")
        if produced[0] != line.text:
            blame_server(line, _difference(read_entry(produced[0]), line.entry))
        return produced[1:]

    def _carry_out(self, line: LoggedLine, command: m.Input, at: int) -> list[bytes]:
        if at < self._at:
            blame_server(line, f"its time, {at}, is before the one of what came before it, {self._at}")
        self._at = at
        try:
            step = self._table.carry_out(command, at)
        except Exception as error:  # what no service gives to a referee, such as a ship that the rules don't have
            blame_server(line, f"{write_input(command)[:120]} cannot be carried out: {type(error).__name__}: {error}")
        self._game.steps.append(step)
        return self._log.take_in(step)

    def _compare_rest(self, expected: Sequence[bytes]) -> None:
        for line, text in zip(self._rest, expected, strict=False):
            if line.text != text:
                blame_server(line, _difference(read_entry(text), line.entry))
        if len(self._rest) > len(expected):
            blame_server(self._rest[len(expected)], "the game is not over, or all has been revealed before")
        if len(self._rest) < len(expected):
            blame_server(self._rest[-1], f"{len(self._rest)} entries reveal the game, not {len(expected)}")


def _read(line: LoggedLine, number: int, text: str) -> _Hidden:
    try:
        hidden = read_hidden(text)
        return _Hidden(text, hidden.at, hidden.command)
    except WireError as error:
        blame_server(line, f"text {number}: {error.text}")


def _hidden_of(line: LoggedLine) -> tuple[bytes, ...]:
    assert isinstance(line.entry.body, LogStep)
    return line.entry.body.hidden


def texts_of(line: LoggedLine) -> tuple[str, ...]:
    """Return the hidden inputs that an entry reveals."""
    return line.entry.body.texts if isinstance(line.entry.body, Reveal) else ()


def _difference(mine: Entry, its: Entry) -> str:
    """Return in what an entry differs from the one that the rules give."""
    if mine.number != its.number or type(mine.body) is not type(its.body):
        return f"entry {its.number} must be a {_kind(mine)}, and is a {_kind(its)}"
    if isinstance(mine.body, LogStep) and isinstance(its.body, LogStep):
        return _step_difference(mine.body, its.body)
    return f"by the rules the entry has {mine.body!r:.200}, the log has {its.body!r:.200}"


def _kind(entry: Entry) -> str:
    return {Opening: "open", LogStep: "step", Reveal: "reveal", LogEnd: "end"}[type(entry.body)]


def _step_difference(mine: LogStep, its: LogStep) -> str:
    for one, other in zip(mine.announcements, its.announcements, strict=False):
        if one != other:
            right, signed = (write_announcement_line(line)[:200] for line in (one, other))
            return f"by the rules the server announces {right}, it announced {signed}"
    if len(mine.announcements) != len(its.announcements):
        return (
            f"by the rules the server makes {len(mine.announcements)} announcements, it made {len(its.announcements)}"
        )
    if len(mine.hidden) != len(its.hidden):
        return f"{len(mine.hidden)} hidden inputs count, the entry commits to {len(its.hidden)}"
    if mine.at != its.at:
        return f"what led to it was at {mine.at}, the entry is of {its.at}"
    if mine.message != its.message:
        return f"the message was {mine.message.hex() or 'none'}, the entry has {its.message.hex() or 'none'}"
    return f"the input was {mine.command!r:.100}, the entry has {its.command!r:.100}"
