"""Compares a team's notes of what it sent with the commands that counted (SALVO-LOG-10).

Notes are unsigned. The note of a placement is proven if the log has the same message; those of shots and skips are only
the team's claim. So a missing note proves nothing against anyone: the finding is ``UNDECIDED``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final, NoReturn

from salvo import messages as m
from salvo.codec.commands import SHOT, SKIP, Shot, Skip, read_ship
from salvo.codec.log import LogStep
from salvo.codec.log_reader import Fault, read_hidden
from salvo.errors import WireError
from salvo.join.fairness.proof import SENT_LINE, SentBody
from salvo.messages import Draw
from salvo.rules.board import MAX_SIDE, Grid
from salvo.wire import topics
from salvo.wire.coordinates import read_row
from salvo_game.log_verification.findings import LoggedGame, LoggedLine, LogVerdict, ProofReport, Sent, Wrong
from salvo_game.log_verification.reexecute import texts_of

#: Commands whose notes have the open body; the note of a placement has the digest of its message instead.
_Noted = m.Fire | m.Skip | m.Leave


def read_sent(number: int, line: bytes) -> Sent:
    """Read a note.

    Args:
        number: its line in the file, from 1.
        line: without the line break.

    Raises:
        Wrong: the line is not a valid note (``FILE``).
    """
    try:
        noted = SENT_LINE.read(line)
        address = topics.parse(noted.topic)
        topics.check_name(noted.team)
        placed = address.topic is topics.PLACE
        if not (placed or address.topic in (topics.FIRE, topics.SKIP, topics.LEAVE)) or placed != (noted.body is None):
            raise WireError("wrong_shape", "a team sends placements, and shots, skips and leaving with their open body")
    except WireError as error:
        raise Wrong(number, Fault.FILE, f"no note of what was sent: {error}") from None
    return Sent(number, noted.team, address, noted.message or b"" if placed else b"", noted.body)


def check_sent(report: ProofReport) -> list[Wrong]:
    """Compare the commands that counted with the team's notes; add remarks to the report.

    A command that was noted and did not count may have been refused or late, so it proves nothing and is only worth a
    remark. While a game is under way, it is not yet known which of the commands sent since its opening count.

    Returns:
        for each game, the first command that counted without a note, as ``UNDECIDED``.
    """
    waiting = list(report.sent)
    logged = {step.message for game in report.games_read for step in game.published_steps if step.message}
    strays = [sent for sent in waiting if sent.message and sent.message not in logged]
    wrong: list[Wrong] = []
    for game in report.games:
        try:
            for team in dict.fromkeys(sent.team for sent in report.sent):
                if game.ended and team in game.players:
                    report.remarks += _Notes(game, team, waiting, strays).check()
        except Wrong as each:
            wrong.append(each)
    if wrong:
        return wrong
    for game in report.games:
        if game.verdict is LogVerdict.UNDER_WAY:
            begin, table = game.lines[0].number, game.opening.table
            waiting = [each for each in waiting if each.line < begin or each.address.table != table]
    for what, those in (("placements", (topics.PLACE,)), ("shots or skips", (topics.FIRE, topics.SKIP))):
        left = [each for each in waiting if each.address.topic in those]
        if left:
            first = f"first that of line {left[0].line}"
            did_not_count = f"{len(left)} {what} that were sent did not count, {first}"
            report.remarks.append(f"{did_not_count}: refused, late, void or lost")
    return []


_UNLESS: Final = "unless a note was changed or lost, or another program of its sent it, the server made it up"


class _Notes:
    """Checks the notes of one team about one game."""

    def __init__(self, game: LoggedGame, team: str, waiting: list[Sent], strays: list[Sent]) -> None:
        """Prepare the check.

        Args:
            waiting: notes of all teams and games without a command yet; :meth:`check` removes those that counted.
            strays: notes of placements that are in no game's log.
        """
        self._game = game
        self._team = team
        self._waiting = waiting
        self._strays = any(sent.team == team for sent in strays)

    def check(self) -> list[str]:
        """Find the notes of all commands that counted; return remarks.

        Raises:
            Wrong: a command counted without a note (``UNDECIDED``).
        """
        proven, remarks = self._check_placements()
        commands = [(line, read_hidden(text).command) for line in self._game.lines for text in texts_of(line)]
        shots = self._take((line, c) for line, c in commands if isinstance(c, m.Fire))
        skips = self._take((line, c) for line, c in commands if isinstance(c, m.Skip))
        leaves = self._take((line, c) for line, c in commands if isinstance(c, m.Leave))
        of = f"{self._team} in {self._game}"
        if proven:
            remarks.append(f"{of}: its notes of {proven} placements are proven by the messages in the log")
        if shots or skips or leaves:
            counted = ((shots, "shots"), (skips, "skips"), (leaves, "leaves"))
            what = " and ".join(f"{n} {kind}" for n, kind in counted if n)
            remarks.append(f"{of}: its notes of {what} fit the log; they are its own word")
        return remarks

    def _check_placements(self) -> tuple[int, list[str]]:
        """Find the note of each placement in the log; return how many, and remarks.

        A program that comes back to a complete fleet places none, and one that comes back to a few ships places all of
        them again. So a file without any placement decides nothing, and neither does one that was refused or replaced,
        unless there is a note of another message in its place.
        """
        table = self._game.opening.table
        placements = [s for s in self._waiting if s.address.topic is topics.PLACE and s.address.table == table]
        mine = [sent for sent in placements if sent.team == self._team]
        if self._game.opening.draw is not Draw.FAIR:  # the log has no messages
            self._waiting[:] = [each for each in self._waiting if each not in mine]
            return 0, []
        logged = [(line, step.message, judged) for line, step, judged in self._judged() if step.message]
        notes = {sent.message: sent for sent in mine}
        noted = [message for _, message, _ in logged if message in notes]
        if logged and not noted and not self._strays:
            text = f"{self._team} has not noted any placement in {self._game}"
            return 0, [f"{text}: if no other program of its placed, it did not place at all"]
        for message in noted:
            self._waiting.remove(notes[message])
        missing = [line for line, message, _ in logged if message not in notes]
        book = self._game.opening.rules.book
        in_force = {read_ship(judged.spelling, book): line for line, _, judged in logged if judged.approved}
        for line in missing:
            if line in in_force.values() or self._strays:
                self._undecided(line, "a placement")
        lost = f"{len(missing)} placements of {self._team} that were refused or replaced are not noted"
        return len(noted), [lost] if missing else []

    def _judged(self) -> Iterator[tuple[LoggedLine, LogStep, m.PlacementJudged]]:
        """Yield the log's verdicts on the team's placements, each with its line and step."""
        for line in self._game.lines:
            body = line.entry.body
            if isinstance(body, LogStep):
                for each in body.announcements:
                    if isinstance(each, m.PlacementJudged) and each.player == self._team:
                        yield line, body, each

    def _take(self, counted: Iterable[tuple[LoggedLine, _Noted]]) -> int:
        """Remove the note of each of the team's commands among these; return how many there are."""
        found = 0
        for line, command in counted:
            if command.player != self._team:
                continue
            sent = next((each for each in self._waiting if self._is_note_of(each, command)), None)
            if sent is None:
                self._undecided(line, _describe(command))
            self._waiting.remove(sent)
            found += 1
        return found

    def _is_note_of(self, sent: Sent, command: _Noted) -> bool:
        address, body = sent.address, sent.body
        kind = {m.Fire: topics.FIRE, m.Skip: topics.SKIP, m.Leave: topics.LEAVE}[type(command)]
        player = command.target if isinstance(command, m.Fire) else command.player
        if (sent.team, address.topic, address.table) != (self._team, kind, self._game.opening.table):
            return False
        if body is not None and isinstance(body.y, str) and body.y.isalpha():
            body = replace(body, y=read_row(body.y))
        return address.player == player and body == _body(command)

    def _undecided(self, line: LoggedLine, what: str) -> NoReturn:
        text = f"{what} of {self._team} counted that {self._team} has not noted: {_UNLESS}"
        raise Wrong(line.number, Fault.UNDECIDED, text, self._game.of)


def _describe(command: _Noted) -> str:
    if isinstance(command, m.Skip):
        return "a skip"
    if isinstance(command, m.Leave):
        return "leaving the lobby"
    on_board = 1 <= command.y <= MAX_SIDE  # a log may have any row
    cell = Grid.name_at(command.x, command.y) if on_board else f"({command.x}, {command.y})"
    return f"a shot at {cell} of {command.target},"


def _body(command: _Noted) -> SentBody:
    """Return a command's open body, as a team notes it; the row is a number."""
    if isinstance(command, m.Leave):
        return SentBody(g=command.game)
    if isinstance(command, m.Fire):
        return SentBody(**SHOT.value(Shot.of(command.x, command.y, command.context)))
    return SentBody(**SKIP.value(Skip.of(command.context)))
