"""Was it fair? A game's log, held against what was revealed and against the rules (SALVO-LOG-11).

Works offline, on files. What the server signed is checked line by line: signatures, numbers, links. Once a game is
won, all that was hidden is known: then the game is executed again, and the log that an honest server would have
written is compared with the one that was. Whatever differs, the server has signed; whatever is not signed, somebody
else has changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

from salvo import messages as m
from salvo import topics
from salvo.errors import SalvoError, WireError
from salvo.messages import Draw
from salvo.proof import SENT, has_begun
from salvo.seal import fingerprint
from salvo.wire import read_ship
from salvo.wire.log import (
    LARGEST_ENTRY_BYTES,
    Entry,
    Fault,
    LogChain,
    LogEnd,
    LogError,
    LogStep,
    Opening,
    Reveal,
    blind,
    entry_digest,
    read_entry,
    read_hidden,
    seed_commitment,
    take_apart,
)
from salvo.wire.strict_json import Strict, parse_json, same_value, validate
from salvo.wire.transcript import Header, write_input
from salvo_server.log import GameLog
from salvo_server.table import Step, Table, seat
from salvo_server.transcript import no_status

#: What people are told of whose fault it is.
BLAME: Final = {
    Fault.FILE: "the file was changed",
    Fault.SERVER: "the server cheated",
    Fault.INCOMPLETE: "the file is incomplete",
}


class ProofError(SalvoError):
    """A file that cannot be read at all."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong.

    Attributes:
        line: the first bad one, from 1; the next one when the file ends too early.
    """

    file: str
    line: int
    fault: Fault
    text: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {BLAME[self.fault]}: {self.text}"


class _Wrong(Exception):
    def __init__(self, line: int, fault: Fault, text: str) -> None:
        super().__init__(text)
        self.line, self.fault, self.text = line, fault, text


class Line(NamedTuple):
    """An entry and where it stands."""

    number: int
    text: bytes
    entry: Entry


class _SentBody(Strict):
    team: str
    topic: str
    message: str
    body: dict[str, Any] | None = None


class _SentLine(Strict):
    sent: _SentBody


class _ShotBody(Strict):
    """An open body of a shot as the team sent it."""

    x: int
    y: int | str
    g: int | None = None
    t: int | None = None
    n: int | None = None
    to: str | None = None


class Sent(NamedTuple):
    """A command of the file's team, as the team noted it."""

    line: int
    team: str
    address: topics.Address
    message: bytes
    shot: _ShotBody | None


@dataclass(slots=True)
class LoggedGame:
    """One game of a file, with its lines.

    Attributes:
        steps: executed again; empty when something is wrong.
        header: what it was played by, once that is revealed.
    """

    opening: Opening
    lines: list[Line] = field(default_factory=list)
    header: Header | None = None
    steps: list[Step] = field(default_factory=list)

    @property
    def of(self) -> bytes:
        """Stands for the game."""
        return entry_digest(self.lines[0].text)

    @property
    def told(self) -> list[LogStep]:
        """What everybody heard."""
        return [line.entry.body for line in self.lines if isinstance(line.entry.body, LogStep)]

    @property
    def ended(self) -> bool:
        """Whether the last entry is there."""
        return any(isinstance(line.entry.body, LogEnd) for line in self.lines)

    @property
    def winner(self) -> str:
        """Who won, of several that tie all; empty while nobody has."""
        won = next((each["won"] for step in self.told for each in step.said if "won" in each), {"winner": ""})
        return " and ".join(won.get("tied", ())) or won["winner"]

    @property
    def players(self) -> tuple[str, ...]:
        """Who takes part, by the last list."""
        lists = [each["players"]["names"] for step in self.told for each in step.said if "players" in each]
        return tuple(lists[-1]) if lists else ()


@dataclass(slots=True)
class ProofReport:
    """What is to be said of a file.

    Attributes:
        key: the server's; None when not even the first line holds.
        sent: what the file's team sent, as it noted it.
        finding: what is wrong first; None when all is well.
        remarks: what is no fault and worth knowing.
    """

    file: str
    key: bytes | None = None
    games: list[LoggedGame] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    finding: Finding | None = None
    remarks: list[str] = field(default_factory=list)


# --- one file -----------------------------------------------------------------------------------------------------


def verify_file(path: Path, key: str | bytes | None = None) -> ProofReport:
    """Check a proof file.

    Args:
        key: whose games these must be: a signing key, or its fingerprint.

    Raises:
        ProofError: ``proof_missing`` or ``proof_unreadable``.
    """
    try:
        with path.open("rb") as file:
            return verify_lines(iter(lambda: file.readline(LARGEST_ENTRY_BYTES + 1), b""), str(path), key)
    except FileNotFoundError:
        raise ProofError("proof_missing", f"no file {path}") from None
    except OSError as error:
        raise ProofError("proof_unreadable", f"{path}: {error.strerror}") from None


def verify_lines(lines: Iterator[bytes], name: str, key: str | bytes | None = None) -> ProofReport:
    """Check a proof file's lines, each with its line feed."""
    report = ProofReport(name)
    wrong: list[_Wrong] = []
    try:
        _read_lines(lines, report, key)
        _check_whole(report)
    except _Wrong as each:
        wrong.append(each)
    for game in report.games:
        try:
            if game.ended:
                _Check(game).run()
                report.remarks += [*_struck_off(game), *_begun_anew(game)]
        except _Wrong as each:
            wrong.append(each)
    if not wrong:
        try:
            _check_sent(report)
        except _Wrong as each:
            wrong.append(each)
    if wrong:
        first = min(wrong, key=lambda each: each.line)
        report.finding = Finding(name, first.line, first.fault, first.text)
    return report


def _read_lines(lines: Iterator[bytes], report: ProofReport, key: str | bytes | None) -> None:
    chain = LogChain()
    number = 0
    for number, line in enumerate(lines, start=1):
        if not line.endswith(b"\n"):
            raise _Wrong(number, Fault.INCOMPLETE, "the line is not whole")
        if line.startswith(SENT):
            report.sent.append(_read_sent(number, line[:-1]))
            continue
        payload = line[:-1]
        try:
            entry = chain.take_in(payload)
        except LogError as error:
            raise _Wrong(number, error.fault, error.text) from None
        if entry is None:
            raise _Wrong(number, Fault.FILE, "this entry stands in the file twice")
        if isinstance(entry.body, Opening):
            report.key = chain.key
            _check_key(number, entry.body.key, key)
            report.games.append(LoggedGame(entry.body))
        game = report.games[-1]
        if game.ended:
            raise _Wrong(number, Fault.SERVER, f"entry {entry.number} stands behind the end")
        game.lines.append(Line(number, take_apart(payload)[0], entry))
    if not report.games:
        raise _Wrong(number + 1, Fault.INCOMPLETE, "the file is empty" if not number else "no entry of a log is in it")


def _check_key(line: int, found: bytes, wanted: str | bytes | None) -> None:
    if isinstance(wanted, bytes) and wanted != found:
        wanted = fingerprint(wanted)
    if isinstance(wanted, str) and wanted.replace(" ", "").lower() != fingerprint(found).replace(" ", ""):
        text = f"signed by the server {fingerprint(found)}, not by {wanted}"
        raise _Wrong(line, Fault.FILE, text)


def _read_sent(number: int, line: bytes) -> Sent:
    try:
        body = validate(_SentLine, parse_json(line)).sent
        address = topics.parse(body.topic)
        topics.check_name(body.team)
        if address.topic.name not in ("place", "fire") or (body.body is None) == (address.topic.name == "fire"):
            raise WireError("wrong_shape", "a team sends placements, and shots with their open body")
        shot = None if body.body is None else validate(_ShotBody, body.body)
        return Sent(number, body.team, address, bytes.fromhex(body.message), shot)
    except (WireError, ValueError) as error:
        raise _Wrong(number, Fault.FILE, f"no note of what was sent: {error}") from None


def _check_whole(report: ProofReport) -> None:
    """Every game that has begun must be in the file up to its end, and one at least."""
    for game in report.games:
        if game.ended:
            continue
        if has_begun(game.told) or not any(other.ended for other in report.games):
            text = f"{_called(game)} does not end here, and nothing is revealed"
            raise _Wrong(game.lines[-1].number + 1, Fault.INCOMPLETE, text)
        if game.told:
            report.remarks.append(_not_begun(report, game))


def _struck_off(game: LoggedGame) -> list[str]:
    """Return who had to leave the list by the operator's will: no rule forbids it, and it may decide who begins."""
    struck = [step.command.name for step in game.told if isinstance(step.command, m.StruckOff)]
    names = ", ".join(dict.fromkeys(struck))
    return [f"before {_called(game)} began the operator struck off {names}"] if struck else []


def _begun_anew(game: LoggedGame) -> list[str]:
    """Return whose turns had more time than others: no rule forbids a server to have been away."""
    names = [each["turn_resumed"]["player"] for step in game.told for each in step.said if "turn_resumed" in each]
    told = ", ".join(f"{name} {names.count(name)}" for name in dict.fromkeys(names))
    text = f"in {_called(game)} the time of turns began anew, as it does when server or broker were away: {told}"
    return [text] if names else []


def _not_begun(report: ProofReport, game: LoggedGame) -> str:
    """Tell of a lobby that came to nothing: with its secret and some placements a server may foresee who begins."""
    text = f"{_called(game)} has not begun"
    placed = sum(bool(step.message) for step in game.told)
    later = any(other.opening.table == game.opening.table for other in report.games[report.games.index(game) + 1 :])
    if not later or not placed:
        return text
    return f"{text}: the server gave it up after {placed} placements and opened another one, with another secret"


def _called(game: LoggedGame) -> str:
    opening = game.opening
    return f"game {opening.game}" + (f" of table {opening.table}" if opening.table else "")


# --- one game -----------------------------------------------------------------------------------------------------


class _Hidden(NamedTuple):
    """A revealed input, with the lines of its commitment and of its text."""

    line: int
    revealed: int
    text: str
    at: int
    command: m.Input


class _Check:
    """Executes a game again, and compares the log that follows with the one that was signed."""

    def __init__(self, game: LoggedGame) -> None:
        self._game = game
        self._steps = [line for line in game.lines if isinstance(line.entry.body, LogStep)]
        self._rest = [line for line in game.lines[1:] if not isinstance(line.entry.body, LogStep)]
        self._at = 0

    def run(self) -> None:
        header, secret = self._open_seed()
        self._hidden = iter(self._open_hidden(secret))
        self._table = Table(seat(header), no_status)
        first = self._game.lines[0]
        if replace(self._table.header, version=header.version) != header:
            _server(first, "rules and limits do not say the same")
        self._table.open()
        self._log = GameLog(header, self._game.opening.key, secret)
        if self._log.opening != first.text:
            _server(first, "the opening is not the one of this game")
        self._game.header = header
        after: list[bytes] = []
        for line in self._steps:
            after = self._repeat(line)
        self._compare_rest(after)

    # --- what was revealed ----------------------------------------------------------------------------------------

    def _open_seed(self) -> tuple[Header, bytes]:
        opening, first = self._game.opening, self._game.lines[0]
        line = next((line for line in self._rest if isinstance(line.entry.body, Reveal)), None)
        if line is None:
            _server(self._rest[-1], "the game ended, and nothing was revealed")
        body = line.entry.body
        assert isinstance(body, Reveal)
        if body.seed is None or body.secret is None or body.first:
            _server(line, "the first entry that reveals anything has seed, secret, and the texts from 0 on")
        if seed_commitment(body.secret, body.seed) != opening.seed:
            _server(line, f"seed and secret do not open the commitment of line {first.number}")
        if opening.draw is Draw.FAIR and body.seed != body.secret.hex():
            _server(line, "with a fair draw the seed is the secret")
        header = Header(opening.version, opening.game, body.seed, opening.rules, opening.limits, opening.draw)
        return header, body.secret

    def _open_hidden(self, secret: bytes) -> list[_Hidden]:
        committed = [(line, commitment) for line in self._steps for commitment in _hidden_of(line)]
        texts = [(line, text) for line in self._rest for text in _texts_of(line)]
        opened = []
        for number, ((line, commitment), (revealed, text)) in enumerate(zip(committed, texts, strict=False)):
            if blind(secret, number, text) != commitment:
                told = f"text {number}, {text[:120]}, does not open the commitment of line {line.number}"
                _server(revealed, told)
            try:
                opened.append(_Hidden(line.number, revealed.number, text, *read_hidden(text)))
            except WireError as error:
                _server(revealed, f"text {number}: {error.text}")
        if len(committed) != len(texts):
            _server(self._rest[-1], f"{len(committed)} commitments, {len(texts)} texts revealed")
        return opened

    # --- executing ------------------------------------------------------------------------------------------------

    def _repeat(self, line: Line) -> list[bytes]:
        """Execute what led to an entry and compare it; return what follows on it."""
        body = line.entry.body
        assert isinstance(body, LogStep)
        due = [next(self._hidden) for _ in body.hidden]
        own = None if body.command is not None or not due else due.pop()
        for each in due:
            if self._carry_out(line, each.command, each.at):
                _server(line, f"everybody must hear of {each.text[:120]}, and the log has no entry of it")
        if body.command is not None:
            produced = self._carry_out(line, body.command, body.at)
        elif own is not None:
            produced = self._carry_out(line, own.command, own.at)
        else:
            _server(line, "nothing led to what is said here")
        if not produced:
            _server(line, "nobody but its sender hears of what led to this entry")
        if produced[0] != line.text:
            _server(line, _difference(read_entry(produced[0]), line.entry))
        return produced[1:]

    def _carry_out(self, line: Line, command: m.Input, at: int) -> list[bytes]:
        if at < self._at:
            _server(line, f"its time, {at}, is before the one of what came before it, {self._at}")
        self._at = at
        try:
            step = self._table.carry_out(command, at)
        except Exception as error:  # what no service gives to a referee, such as a ship that the rules don't have
            _server(line, f"{write_input(command)[:120]} cannot be carried out: {type(error).__name__}: {error}")
        self._game.steps.append(step)
        return self._log.take_in(step)

    def _compare_rest(self, expected: Sequence[bytes]) -> None:
        for line, text in zip(self._rest, expected, strict=False):
            if line.text != text:
                _server(line, _difference(read_entry(text), line.entry))
        if len(self._rest) > len(expected):
            _server(self._rest[len(expected)], "the game is not over, or all has been revealed before")
        if len(self._rest) < len(expected):
            _server(self._rest[-1], f"{len(self._rest)} entries reveal the game, not {len(expected)}")


def _server(line: Line, text: str) -> NoReturn:
    raise _Wrong(line.number, Fault.SERVER, text)


def _hidden_of(line: Line) -> tuple[bytes, ...]:
    assert isinstance(line.entry.body, LogStep)
    return line.entry.body.hidden


def _texts_of(line: Line) -> tuple[str, ...]:
    return line.entry.body.texts if isinstance(line.entry.body, Reveal) else ()


def _difference(mine: Entry, its: Entry) -> str:
    """Return in what an entry differs from the one that the rules give."""
    if mine.number != its.number or type(mine.body) is not type(its.body):
        return f"entry {its.number} is no {_kind(mine)}, as it must be, but a {_kind(its)}"
    if isinstance(mine.body, LogStep) and isinstance(its.body, LogStep):
        return _step_difference(mine.body, its.body)
    return f"by the rules the entry has {mine.body!r:.200}, the log has {its.body!r:.200}"


def _kind(entry: Entry) -> str:
    return {Opening: "open", LogStep: "step", Reveal: "reveal", LogEnd: "end"}[type(entry.body)]


def _step_difference(mine: LogStep, its: LogStep) -> str:
    for one, other in zip(mine.said, its.said, strict=False):
        if not same_value(one, other):
            return f"by the rules the server says {json.dumps(one)[:200]}, it said {json.dumps(other)[:200]}"
    if len(mine.said) != len(its.said):
        return f"by the rules the server says {len(mine.said)} things, it said {len(its.said)}"
    if len(mine.hidden) != len(its.hidden):
        return f"{len(mine.hidden)} hidden inputs count, the entry commits to {len(its.hidden)}"
    if mine.at != its.at:
        return f"what led to it was at {mine.at}, the entry is of {its.at}"
    if mine.message != its.message:
        return f"the message was {mine.message.hex() or 'none'}, the entry tells {its.message.hex() or 'none'}"
    return f"the input was {mine.command!r:.100}, the entry tells {its.command!r:.100}"


# --- what a team sent ---------------------------------------------------------------------------------------------


def _check_sent(report: ProofReport) -> None:
    """Hold what counted as a team's commands against what the team noted that it sent.

    What counted must have been sent: else it was made up, or stands in the place of something that was. What did not
    count may have been refused or late, so it is worth a remark and proves nothing.
    """
    waiting = list(report.sent)
    for game in report.games:
        for team in dict.fromkeys(sent.team for sent in report.sent):
            if game.ended and team in game.players:
                report.remarks += _check_placements(game, team, waiting)
                _check_shots(game, team, waiting)
    for what, left in (
        ("placements", [each for each in waiting if each.shot is None]),
        ("shots", [each for each in waiting if each.shot is not None]),
    ):
        if left:
            first = f"first that of line {left[0].line}"
            report.remarks.append(
                f"{len(left)} {what} that were sent did not count, {first}: refused, late, void or lost"
            )


_UNLESS: Final = "unless the notes in this file were changed, or another program of its sent it"


def _check_placements(game: LoggedGame, team: str, waiting: list[Sent]) -> list[str]:
    """Hold the fleet with which a team played against its notes; return remarks.

    A program that comes back to a complete fleet places none, and one that comes back to a few ships places all of them
    anew. So a file without any placement proves nothing, and neither does one that was replaced.
    """
    placements = [each for each in waiting if each.shot is None and each.address.table == game.opening.table]
    if game.opening.draw is not Draw.FAIR:  # no message is told
        waiting[:] = [each for each in waiting if each not in placements]
        return []
    noted = any(each.team == team for each in placements)
    in_force: dict[str, tuple[Line, Sent | None]] = {}
    for line in game.lines:
        body = line.entry.body
        judged = _judged(body, team) if isinstance(body, LogStep) and body.message else None
        if judged is None or not isinstance(body, LogStep):
            continue
        found = next((each for each in waiting if (each.team, each.message) == (team, body.message)), None)
        if found is not None:
            waiting.remove(found)
        if judged["approved"]:
            in_force[read_ship(judged["spelling"], game.opening.rules.book)] = line, found
    for line, found in in_force.values():
        if found is None and noted:
            _server(line, f"a placement counted for {team} that {team} did not send, {_UNLESS}")
    if noted or not in_force:
        return []
    return [f"{team} has not noted any placement in {_called(game)}: if no other program of its placed, nobody did"]


def _judged(step: LogStep, team: str) -> dict[str, Any] | None:
    return next((each["judged"] for each in step.said if each.get("judged", {}).get("player") == team), None)


def _check_shots(game: LoggedGame, team: str, waiting: list[Sent]) -> None:
    for line, text in ((each, text) for each in game.lines for text in _texts_of(each)):
        _, command = read_hidden(text)
        if not isinstance(command, m.Fire) or command.player != team:
            continue
        found = next((each for each in waiting if each.team == team and _is_shot(each, game, command)), None)
        if found is None:
            shot = f"({command.x}, {command.y}) at {command.target}"
            _server(line, f"a shot of {team} counted, {shot}, that {team} did not send, {_UNLESS}")
        waiting.remove(found)


def _is_shot(sent: Sent, game: LoggedGame, command: m.Fire) -> bool:
    shot = sent.shot
    if shot is None or sent.address.table != game.opening.table:
        return False
    y = shot.y if isinstance(shot.y, int) else ord(shot.y.upper()) - ord("A") + 1 if len(shot.y) == 1 else 0
    same = (sent.address.player, shot.x, y) == (command.target, command.x, command.y)
    context = command.context
    signed = None if context is None else (context.game, context.turn, context.shot, context.target)
    return same and signed == (None if shot.g is None else (shot.g, shot.t, shot.n, shot.to))


# --- several files ------------------------------------------------------------------------------------------------


def compare_stories(reports: Sequence[ProofReport]) -> list[Finding]:
    """Return where the server told different files different things of one game."""
    findings = []
    games = [(report, game) for report in reports for game in report.games]
    for number, (report, game) in enumerate(games):
        for other_report, other in games[:number]:
            if report is not other_report and not _one_after_the_other(report, game, other_report, other):
                finding = _two_stories(report.file, game, other_report.file, other)
                findings += [] if finding is None else [finding]
    return findings


def _one_after_the_other(report: ProofReport, game: LoggedGame, other_report: ProofReport, other: LoggedGame) -> bool:
    """Whether somebody heard both games: then they are two, also if their times overlap as a clock was set back."""
    same = game.of == other.of
    return not same and (_has(report, other) or _has(other_report, game))


def _has(report: ProofReport, game: LoggedGame) -> bool:
    return any(each.of == game.of for each in report.games)


def _two_stories(file: str, game: LoggedGame, other_file: str, other: LoggedGame) -> Finding | None:
    opening, its = game.opening, other.opening
    if (opening.key, opening.table) != (its.key, its.table):
        return None
    if game.of != other.of and not _overlap(game.told, other.told):
        return None  # two games; a server without a journal begins with game 1 again
    for mine, theirs in zip(game.lines, other.lines, strict=False):
        if mine.text != theirs.text:
            text = (
                f"it told two stories of game {opening.game}: entry {mine.entry.number} is another one in "
                f"{other_file}, line {theirs.number}, and both are signed"
            )
            return Finding(file, mine.number, Fault.SERVER, text)
    return None


def _overlap(one: Sequence[LogStep], other: Sequence[LogStep]) -> bool:
    """Whether two games at one table were on at the same time."""
    return bool(one and other) and one[0].at <= other[-1].at and other[0].at <= one[-1].at
