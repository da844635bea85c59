"""From a file's lines to its games: signatures line by line, then numbers and links in the order of the entries.

A file is in any order, and entries may come twice: its writer may have lost the connection, and was sent again what it
missed (SALVO-LOG-12). The position of a line proves nothing.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import pairwise
from pathlib import Path
from typing import Final

from salvo import messages as m
from salvo.codec.log import MAX_ENTRY_BYTES, LogEnd, LogStep, Opening, Reveal, entry_digest
from salvo.codec.log_reader import Fault, LogError, game_of, not_continued, read_signed, two_histories
from salvo.join.fairness.proof import PROOF_LINES, SENT, has_begun, proof_path
from salvo.messages import Draw
from salvo.system.text_files import lines_of
from salvo.wire import topics
from salvo.wire.seal import fingerprint
from salvo_game.log_verification.findings import LoggedGame, LoggedLine, Loose, ProofReport, Wrong, blame_server
from salvo_game.log_verification.team_notes import read_sent

#: With so many wrong lines a file is not read on: one is enough to know, and each costs a kilobyte.
MAX_WRONG: Final = 1000
_GZIP: Final = b"\x1f\x8b"
_TRANSCRIPT: Final = b'{"transcript":'


def what_it_is(path: Path) -> str | None:
    """Return what a file is if it is not a proof, and where the proof may be; None for one that may be a proof.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        begin = file.read(len(_GZIP))
        file.seek(0)
        first = next(lines_of(file, 64), b"")
    if begin.startswith(_GZIP):
        try:
            with gzip.open(path) as packed:
                first = next(lines_of(packed, 64), b"")
        except (OSError, EOFError):
            return "a packed file"
    if not first.startswith(_TRANSCRIPT):
        return None
    proof = proof_path(path)
    where = f"the proof is {proof}" if proof.exists() else f"a server writes its proof next to it, {proof.name}"
    return f"a transcript, which is unsigned; {where}"


class _LogReader:
    """Takes in a file line by line; what is wrong first is kept.

    Attributes:
        wrong: the first line that someone is to blame for, or that cannot be read.
        missing: what is not there, by the line where that shows.
    """

    def __init__(self, report: ProofReport, key: str | bytes | None) -> None:
        self._report = report
        self._key = key
        self._games: dict[str, dict[int, LoggedLine]] = {}  # entries by game and number
        self._openings: dict[str, Opening] = {}
        self._loose: list[Loose] = []

    def read(self, lines: Iterator[bytes]) -> list[Wrong]:
        """Read all lines, and return what is wrong with them."""
        wrong: list[Wrong] = []
        number, begun = 0, False
        for number, line in _numbered(lines):
            if line == b"\n":
                continue
            if not begun and not line.startswith(PROOF_LINES):
                second = next(lines, b"")
                if not second.startswith(PROOF_LINES):
                    # What it says stays in it: the wrong file may be one with a secret.
                    text = f"it does not begin with {_form()}, as every line of a proof does"
                    raise Wrong(number, Fault.NO_PROOF, text)
                raise Wrong(number, Fault.FILE, f"does not begin with {_form()}")
            if not begun and line.count(PROOF_LINES[0]) > 1:
                text = "its line endings are lost, as when a program copies it as text; copy the file byte by byte"
                raise Wrong(number, Fault.NO_PROOF, text)
            begun = True
            try:
                self._read_line(number, line)
            except Wrong as fault:
                wrong.append(fault)
                if len(wrong) == MAX_WRONG:
                    self._report.remarks.append(f"{MAX_WRONG} lines are wrong; it was not read beyond line {number}")
                    break
        if not number:
            raise Wrong(1, Fault.INCOMPLETE, "the file is empty")
        missing = self._settle()
        if not self._report.games and not self._report.loose and not wrong:
            missing.append(Wrong(number + 1, Fault.INCOMPLETE, "no entry of a log is in it"))
        return wrong or missing

    def _read_line(self, number: int, line: bytes) -> None:
        if len(line) > MAX_ENTRY_BYTES:
            raise Wrong(number, Fault.FILE, f"longer than any entry, which has at most {MAX_ENTRY_BYTES} bytes")
        if not line.endswith(b"\n"):
            raise Wrong(number, Fault.INCOMPLETE, "the line is not whole")
        if line.startswith(SENT):
            self._report.sent.append(read_sent(number, line[:-1]))
            return
        payload = line[:-1]
        try:
            text, entry = read_signed(payload, self._report.key)
        except LogError as error:
            if error.code == "log_gap":
                self._loose.append(Loose(number, payload))
                return
            raise self._explain(number, payload, error) from None
        of = game_of(text, entry)
        if isinstance(entry.body, Opening):
            _check_key(number, entry.body.key, self._key)
            self._report.key = entry.body.key
            self._games.setdefault(of, {})
            self._openings[of] = entry.body
        if of not in self._games:
            self._loose.append(Loose(number, payload))
            return
        known = self._games[of].setdefault(entry.number, LoggedLine(number, text, entry))
        if known.text != text:
            raise self._forked(known, number, of, self._openings[of])

    def _explain(self, number: int, payload: bytes, error: LogError) -> Wrong:
        """Say of another server's opening that it is another server's."""
        if error.code == "log_forged" and self._report.key is not None:
            try:
                _, entry = read_signed(payload, None)
            except LogError:
                pass
            else:
                assert isinstance(entry.body, Opening)
                text = f"signed by the server {fingerprint(entry.body.key)}, and what is before it by another one"
                return Wrong(number, Fault.STRANGER, text)
        return Wrong(number, error.fault, error.text)

    @staticmethod
    def _forked(known: LoggedLine, number: int, of: str, opening: Opening) -> Wrong:
        text = f"{two_histories(known.entry.number)}; the other entry {known.entry.number} is line {known.number}"
        if opening.draw is Draw.SEED:
            other = "; with an explicit seed it may have been restarted with the very same opening"
            return Wrong(number, Fault.UNDECIDED, text + other, of)
        return Wrong(number, Fault.FORKED, text, of)

    # --- all lines are there --------------------------------------------------------------------------------------

    def _settle(self) -> list[Wrong]:
        """Put the entries in order; return what is missing."""
        waiting, self._loose = self._loose, []
        wrong: list[Wrong] = []
        for number, payload in waiting:  # the opening may have come behind them, and with it the key
            if self._report.key is None:
                self._loose.append(Loose(number, payload))
                continue
            try:
                self._read_line(number, payload + b"\n")
            except Wrong as fault:
                wrong.append(fault)
                if len(wrong) == MAX_WRONG:
                    break
        for of, entries in self._games.items():
            self._report.games.append(LoggedGame(of, self._openings[of], _in_order(entries.values())))
        self._report.games.sort(key=lambda game: game.lines[0].number)
        self._report.loose = self._loose
        homeless = self._set_aside(wrong)
        return wrong + [self._homeless(number) for number in sorted(homeless)[:1]]

    def _set_aside(self, wrong: list[Wrong]) -> list[int]:
        """Set aside what the file need not have whole; return lines that lack an opening without such an excuse.

        A team that goes from table to table hears a part of many lobbies, and of games of others; its own games are
        whole. The file of no team, and one without any whole game, has no excuse (SALVO-LOG-10).
        """
        report = self._report
        if report.key is None:
            return [number for number, _ in self._loose]
        parts, teams = self._parts(report.key), {sent.team for sent in report.sent}
        own = bool(teams) and any(game.ended for game in report.games)
        gappy = [game for game in report.games if own and _has_gap(game.lines)]
        aside = [game for game in gappy if _is_aside(game.lines, teams - self._have_left(game))]
        report.aside = aside
        report.games = [game for game in report.games if game not in aside]
        excused = [part for part in parts if own and _is_aside(part, teams)]
        for lines in (*(game.lines for game in aside), *excused):
            wrong += _contradictions(lines)
        if aside or excused:
            what = "lobbies, or games of others, are recorded in part, and left out"
            report.remarks.append(f"{len(aside) + len(excused)} {what}")
        return [line.number for part in parts if part not in excused for line in part]

    def _have_left(self, game: LoggedGame) -> set[str]:
        """Return the teams whose last note at a game's table, before its last entry, is that they left this game."""
        end = max(line.number for line in game.lines)
        table, number = game.opening.table, game.opening.game
        last = {each.team: each for each in self._report.sent if each.address.table == table and each.line < end}
        left = (each for each in last.values() if each.address.topic is topics.LEAVE)
        return {each.team for each in left if each.body is not None and each.body.g == number}

    def _parts(self, key: bytes) -> list[list[LoggedLine]]:
        """Return the entries without an opening, by game."""
        parts: dict[str, list[LoggedLine]] = {}
        for number, payload in self._loose:
            text, entry = read_signed(payload, key)
            parts.setdefault(game_of(text, entry), []).append(LoggedLine(number, text, entry))
        return list(map(_in_order, parts.values()))

    def _homeless(self, number: int) -> Wrong:
        for game in self._report.games:
            lines = [line.number for line in game.lines]
            if min(lines) < number < max(lines):
                return Wrong(number, Fault.FILE, f"this entry belongs to another game than the lines around it, {game}")
        return Wrong(number, Fault.INCOMPLETE, "the opening of this entry's game, its entry 0, is not in the file")


def _numbered(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield each line with its number, from 1; of one that comes in pieces, the first piece."""
    number, within = 0, False
    for line in lines:
        if not within:
            number += 1
            yield number, line
        within = not line.endswith(b"\n")


def _in_order(lines: Iterable[LoggedLine]) -> list[LoggedLine]:
    return sorted(lines, key=lambda line: line.entry.number)


def _has_gap(lines: Sequence[LoggedLine]) -> bool:
    return lines[-1].entry.number >= len(lines)


def _is_aside(lines: Sequence[LoggedLine], teams: Set[str]) -> bool:
    """Whether these entries tell of nothing but a lobby, or of a game in which none of these teams plays."""
    bodies = [line.entry.body for line in lines]
    steps = [body for body in bodies if isinstance(body, LogStep)]
    announcements = [each for step in steps for each in step.announcements]
    if not any(isinstance(body, (Reveal, LogEnd)) for body in bodies) and not any(map(_is_of_a_game, announcements)):
        return True
    lists = [announcement.names for announcement in announcements if isinstance(announcement, m.PlayersListed)]
    named = (
        set(lists[-1])
        if lists
        else {name for announcement in announcements if (name := getattr(announcement, "player", ""))}
    )
    return bool(named) and named.isdisjoint(teams)


def _is_of_a_game(announcement: m.Announcement) -> bool:
    """Whether something is said in a game that has begun."""
    if isinstance(announcement, m.StateChanged):
        return announcement.state is not m.State.LOBBY
    of_game = (m.TurnBegan, m.TurnResumed, m.SalvoResolved, m.BoardShown, m.FleetRevealed, m.PlayerStats, m.GameWon)
    return isinstance(announcement, of_game)


def _contradictions(lines: Sequence[LoggedLine]) -> Iterator[Wrong]:
    """Return where entries of one game do not go together, whatever is missing between them."""
    for before, line in pairwise(lines):
        step = line.entry.number - before.entry.number
        if not step and line.text != before.text:
            text = f"{two_histories(line.entry.number)}; the other entry is line {before.number}"
            yield Wrong(line.number, Fault.UNDECIDED, f"{text}, and its opening is not in the file")
        if step == 1 and line.entry.prev != entry_digest(before.text).hex():
            yield Wrong(line.number, Fault.FORKED, not_continued(line.entry.number))


def _form() -> str:
    return PROOF_LINES[0].decode()


def read_lines(lines: Iterator[bytes], report: ProofReport, key: str | bytes | None) -> list[Wrong]:
    """Read a file's lines into a report, and return what is wrong with them.

    Args:
        key: whose games these must be.
    """
    try:
        return _LogReader(report, key).read(lines)
    except Wrong as wrong:
        return [wrong]


def check_chain(game: LoggedGame) -> None:
    """Check that nothing is missing between a game's entries, and that each continues the one before (SALVO-LOG-4).

    Raises:
        Wrong: the first entry that does not.
    """
    for before, line in zip(game.lines, game.lines[1:], strict=False):
        number, due = line.entry.number, before.entry.number + 1
        if isinstance(before.entry.body, LogEnd):
            blame_server(line, f"entry {number} comes after the end")
        if number != due:
            missing = f"entry {due} is" if number == due + 1 else f"entries {due} to {number - 1} are"
            raise Wrong(line.number, Fault.INCOMPLETE, f"{missing} missing before entry {number} of {game}")
        for contradiction in _contradictions((before, line)):
            raise contradiction


def check_ends(report: ProofReport) -> list[Wrong]:
    """Return which games that have begun are not in the file up to their end, and all when none is.

    The last one of a table may still be under way, as long as it has no winner. A lobby in which a host has annulled a
    result may be in a file alone: that is all it is to prove.
    """
    wrong: list[Wrong] = []
    some = any(game.ended for game in report.games)
    last = {game.opening.table: game for game in report.games}
    for game in report.games:
        if has_begun(game.published_steps):
            excused = some and game is last[game.opening.table] and not _is_over(game)
        else:
            excused = some or bool(game.annulled)
        if not game.ended and not excused:
            text = f"{game} does not end here, and nothing is revealed"
            wrong.append(Wrong(max(line.number for line in game.lines) + 1, Fault.INCOMPLETE, text, game.of))
    return wrong


def _is_over(game: LoggedGame) -> bool:
    """Whether a game is won, or aborted, so that the server owes what was hidden."""
    return game.won is not None or any(isinstance(line.entry.body, Reveal) for line in game.lines)


def _check_key(line: int, found: bytes, wanted: str | bytes | None) -> None:
    if isinstance(wanted, bytes) and wanted != found:
        wanted = fingerprint(wanted)
    if isinstance(wanted, str) and wanted.replace(" ", "").lower() != fingerprint(found).replace(" ", ""):
        text = f"signed by the server {fingerprint(found)}, and --key asks for {wanted}"
        raise Wrong(line, Fault.STRANGER, text)
