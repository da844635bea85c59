"""A program in any language as a bot: ``exec:COMMAND`` wherever a bot's source is wanted (SALVO-EXEC).

A mistake costs the program its turn, as in a contest, and is reported in one line with its cause; for the first ones,
also with a command that feeds the program the same lines again.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import shlex
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Final

from salvo.bots.player import Bot, check_salvo
from salvo.bots.programs.debugger import is_debugged
from salvo.bots.programs.process import MAX_ANSWER_BYTES, Program
from salvo.bots.programs.process_pool import ProgramPool
from salvo.codec.program_lines import (
    PROTOCOL,
    Answer,
    EndTold,
    FleetAsked,
    GameTold,
    HeardBody,
    LineSaid,
    ResultTold,
    TurnAsked,
    answered_fleet,
    read_answer,
    write_for_program,
)
from salvo.errors import BotError, IllegalCommand, SalvoError, WireError
from salvo.messages import PlayerStats, SalvoResolved
from salvo.rules import Announce, Fleet, RuleBook, Sinkings
from salvo.system.user_folders import NoHome, private_folder, user_folder
from salvo.view import Shot, View
from salvo.wire.chat_text import clean_text

log = logging.getLogger(__name__)

#: How long a question may take by default: as long as a turn (SALVO-TURN-5).
QUESTION_SECONDS: Final = 30.0
#: Part of a turn's time that is kept back for the way to the server.
LEEWAY_SECONDS: Final = 0.05
#: After this many crashes, the process is not started again in the same game; after this many silent turns in a row, it
#: is considered hung, and ended.
MAX_CRASHES: Final = 3
MAX_SILENT: Final = 2
_MAX_CHAT: Final = 20
#: Lines that a program failed at are stored for so long.
FORGOTTEN_SECONDS: Final = 7 * 86_400


@dataclass(slots=True)
class _Failures:
    """Reports of a command's failures: how many lines and files, and counts by code of those not reported."""

    lines: int = 0
    files: int = 0
    untold: Counter[str] = field(default_factory=Counter)


class ExecBot(Bot):
    """A program that speaks JSON lines; :mod:`salvo.bots.sources` makes a class of each command.

    The process is started for its first question, plays all games of this bot, and ends with :meth:`close`; or, with a
    pool, it waits there for the next bot with the same command.

    Attributes:
        command: the program and its arguments, with those of a sandbox.
        written: without these, for people; empty where it is the same.
        strict: whether a failure is raised, instead of costing the turn.
        show: takes each line that the program writes to standard error; by default, it is logged.
        staying: where processes wait between games; None ends each with its bot.
        most_files: how many of its command's failures are kept as files.
        most_lines: how many are reported in a line each; :meth:`close` reports the number of the others. None
            for all.
    """

    command: ClassVar[tuple[str, ...]] = ()
    written: ClassVar[tuple[str, ...]] = ()
    strict: bool = False
    staying: ClassVar[ProgramPool | None] = None
    most_files: int = 3
    most_lines: int | None = 5
    _failures: ClassVar[_Failures] = _Failures()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._failures = _Failures()  # shared by all its bots: there may be one for each of many games

    def __init__(self) -> None:
        waiting = self.staying.take(self.command) if self.staying is not None else None
        self._program = waiting or Program(self.command)
        self.show: Callable[[str], None] = self._log
        self._program.attend(lambda line: self.show(line))
        self._seed: int | str = 0
        self._game = 0
        self._begin_game()

    def _begin_game(self) -> None:
        self._introduced = False  # whether this process has got this game's first line
        self._ended = False  # and its last one
        self._clean = True  # whether every question was answered well
        self._crashes = 0
        self._silent = 0
        self._results: dict[int, SalvoResolved] = {}
        self._turn_sent = 0
        self._landed_sent = 0
        self._chat: deque[HeardBody] = deque(maxlen=_MAX_CHAT)
        self._players: tuple[str, ...] = ()

    def prepare(self, name: str, seed: int | str, game: int = 1) -> None:
        super().prepare(name, seed, game)
        self._seed, self._game = seed, game
        self._begin_game()

    def place_fleet(self, rules: RuleBook) -> Fleet:
        try:
            answer = self._ask(rules, FleetAsked("fleet", 0, self._game), QUESTION_SECONDS, "bot_timeout")
            fleet = self._fleet_of(rules, answer)
        except BotError as error:
            self._lose("fleet", error, "a random fleet is placed instead")
            fleet = None
        return super().place_fleet(rules) if fleet is None else fleet

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        self._players = view.players
        left = view.seconds_left
        seconds = QUESTION_SECONDS if left is None else max(0.0, left - LEEWAY_SECONDS)
        try:
            answer = self._ask(view.rules, self._turn(view), seconds, view.limited_by, lambda: self._turn(view))
            if answer.fleet is not None:
                raise BotError("bot_unreadable", "it answers with a fleet; answer a turn with shots or skip")
            shots = check_salvo(answer.shots or (), view)
        except BotError as error:
            self._lose(f"turn {view.turn}", error, "the turn is lost")
            return ()
        return shots

    def on_result(self, result: SalvoResolved) -> None:
        self._results[result.turn] = result

    def on_message(self, sender: str, text: str, private: bool) -> None:
        self._chat.append(HeardBody(sender, text, private))

    def on_game_over(self, winner: str | None, stats: Mapping[str, PlayerStats]) -> None:
        if not self._program.running or not self._introduced:
            return
        winners = [name for name, each in stats.items() if each.place == 1] if winner == "" else winner
        results = tuple(ResultTold(each) for turn, each in sorted(self._results.items()) if turn > self._turn_sent)
        chat = tuple(self._chat)
        end = EndTold("end", game=self._game, winner=winners, stats=dict(stats), results=results, heard=chat)
        self._program.send(write_for_program(end))
        self._chat.clear()
        self._ended = True

    def close(self) -> None:
        if self.staying is not None:
            self._part(self.staying)
            return
        self._program.close()
        untold = self._failures.untold
        if untold:
            counts = ", ".join(f"{code} {count}" for code, count in untold.most_common())
            log.error("%s: %d failures more: %s", self.name, untold.total(), counts)
            untold.clear()

    def _part(self, staying: ProgramPool) -> None:
        """Let the process wait for its next game after a clean one; else dismiss it."""
        program, self._program = self._program, Program(self.command)
        program.attend()
        if program.stays and program.idle and self._clean and (self._ended or not self._introduced):
            staying.store(program)
        else:
            staying.dismiss(program)

    # --- questions ----------------------------------------------------------------------------------------------

    def _ask(
        self,
        rules: RuleBook,
        question: FleetAsked | TurnAsked,
        seconds: float,
        limit: str,
        again: Callable[[], FleetAsked | TurnAsked] | None = None,
    ) -> Answer:
        """Ask; if the process ended between two games, start it again and ask what ``again`` returns."""
        of_former_game = self._program.running and not self._introduced
        try:
            return self._ask_once(rules, question, seconds, limit)
        except BotError as error:
            if of_former_game and error.code == "bot_unreadable":
                text = f"{error.text}; it is a line between two games, when no answer is wanted"
                raise BotError(error.code, text) from None
            if error.code != "bot_crashed" or not of_former_game:
                raise
            self._crashes -= 1
            self._clean = True
            return self._ask_once(rules, again() if again is not None else question, seconds, limit)

    def _ask_once(self, rules: RuleBook, question: FleetAsked | TurnAsked, seconds: float, limit: str) -> Answer:
        clean, self._clean = self._clean, False  # stays so if anything goes wrong below
        try:
            self._introduce(rules)
            wanted, longest = self._program.asked + 1, None if is_debugged() else seconds
            milliseconds = None if longest is None else int(longest * 1000)
            line = write_for_program(replace(question, id=wanted, milliseconds=milliseconds))
            answer = self._program.ask(line, longest, lambda output: _answer_to(wanted, output), limit)
        except BotError as error:
            raise self._noted(error) from None
        self._clean = clean
        self._program.stays = self._program.stays or answer.stays is not None
        self._silent = 0
        if isinstance(question, TurnAsked):
            self._chat.clear()
        self._send_chat(answer.say)
        return answer

    def _introduce(self, rules: RuleBook) -> None:
        """Introduce the game to the process, once; start the process if necessary."""
        if not self._program.running:
            if self._crashes >= MAX_CRASHES:
                raise BotError(
                    "bot_crashed", f"it has crashed {MAX_CRASHES} times in this game and is not started again"
                )
            self._program.start()
            self._introduced = False
        if self._introduced:
            return
        self._program.begin_game()
        text = f"{self._seed}/{self.name}/{self._game}".encode()
        seed = int.from_bytes(hashlib.blake2b(text, digest_size=4).digest()) >> 1
        self._program.send(
            write_for_program(GameTold("game", PROTOCOL, self._game, self.name, seed, str(self._seed), rules))
        )
        self._introduced = True

    def _noted(self, error: BotError) -> BotError:
        """Take note of a failure, and return it as it is to be reported."""
        if error.code in ("turn_timeout", "bank_empty", "bot_timeout"):
            self._silent += 1
            if self._silent >= MAX_SILENT:
                self._silent = 0
                self._program.close()
                error = BotError(error.code, f"{error.text}; silent {MAX_SILENT} times in a row, it was ended")
        if not self._program.running:
            self._crashes += 1
            self._introduced = False
        return error

    def _turn(self, view: View) -> TurnAsked:
        """Return a turn's question, with the news since this process's previous one."""
        if not self._introduced or not self._program.running:
            self._turn_sent = self._landed_sent = 0
        results, incoming = view.results, view.incoming
        fired = {own.turn: own.shots for own in view.salvos}
        news = tuple(ResultTold(result, fired.get(result.turn)) for result in results if result.turn > self._turn_sent)
        landed = tuple(incoming[self._landed_sent :])
        self._turn_sent, self._landed_sent = view.resolved_turn, len(incoming)
        announced = view.rules.sinkings is not Sinkings.UNTOLD
        names = (view.me, *view.opponents)
        return TurnAsked(
            "turn",
            0,
            self._game,
            turn=view.turn,
            shots=view.shots,
            players=tuple(view.players),
            opponents=tuple(view.opponents),
            fleet=view.fleet.placements,
            fired=view.fired_this_turn,
            boards={name: _board(view, name) for name in names},
            afloat={name: view.afloat(name) for name in names} if announced else None,
            results=news,
            landed=landed,
            heard=tuple(self._chat),
        )

    # --- answers ------------------------------------------------------------------------------------------------

    def _fleet_of(self, rules: RuleBook, answer: Answer) -> Fleet | None:
        """Return the fleet of an answer; None if the program wants one drawn."""
        if answer.shots is not None:
            raise BotError("bot_unreadable", "it answers with shots; answer with a fleet, or skip for a random one")
        if answer.fleet is None:
            return None
        try:
            return answered_fleet(rules, answer.fleet)
        except (IllegalCommand, WireError) as error:
            raise BotError("bad_fleet", str(error)) from None

    def _send_chat(self, lines: Collection[LineSaid]) -> None:
        """Send the lines that can be sent; a bad one costs nothing but itself."""
        for line in lines:
            try:
                text = clean_text(line.text)
            except WireError as error:
                log.warning("%s, game %d: not said: %s", self.name, self._game, error)
                continue
            if line.to and (line.to == self.name or line.to not in self._players):
                log.warning("%s, game %d: not sent: no other player is called %.40r", self.name, self._game, line.to)
                continue
            self.say(text, line.to)

    def _lose(self, where: str, error: BotError, consequence: str) -> None:
        """Report in one line how a question failed and why."""
        self._clean = False
        failures = self._failures
        if not self.strict and self.most_lines is not None and failures.lines >= self.most_lines:
            failures.untold[error.code] += 1
            return
        failures.lines += 1
        at = f"game {self._game}, {where}"
        again = (
            f"; again: {self._save_lines()}" if self._program.game_lines and failures.files < self.most_files else ""
        )
        if self.strict:
            raise BotError("bot_failed", f"{self.name}, {at}: {error}{again}") from None
        last = "; further failures are only counted" if failures.lines == self.most_lines else ""
        log.error("%s, %s: %s; %s%s%s", self.name, at, error, consequence, again, last)

    def _save_lines(self) -> str:
        """Write this process's lines of this game to a file; return the command that replays them."""
        self._failures.files += 1
        try:
            handle, path = tempfile.mkstemp(f"-{self.name}-game-{self._game}.jsonl", "", _folder_of_failures())
            with os.fdopen(handle, "wb") as file:
                file.writelines(self._program.game_lines or ())
        except (OSError, NoHome) as error:
            return f"cannot be stored as a file: {error.strerror if isinstance(error, OSError) else error.text}"
        return f"{shlex.join(self.written or self.command)} < {shlex.quote(path)}"

    def _log(self, line: str) -> None:
        log.info("%s: %s", self.name, line)


def _folder_of_failures() -> Path:
    """Return where lines are stored that programs failed at, without those that nobody will read any more.

    Raises:
        NoHome: ``no_home``.
        OSError: it cannot be made.
    """
    folder = user_folder("XDG_CACHE_HOME", ".cache", "the lines that programs failed at") / "failures"
    private_folder(folder)
    for file in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # another process has found it, too
            if time.time() - file.stat().st_mtime > FORGOTTEN_SECONDS:
                file.unlink()
    return folder


def _answer_to(wanted: int, line: bytes) -> Answer | None:
    """Return an answer to the question of this number; None for one to an earlier question.

    Raises:
        BotError: ``bot_unreadable``.
    """
    try:
        answer = read_answer(line, MAX_ANSWER_BYTES)
    except SalvoError as error:
        shown = ascii(line[:60].decode(errors="replace"))
        raise BotError("bot_unreadable", f"its answer is {shown}: {error}") from None
    if answer.id > wanted:
        raise BotError("bot_unreadable", f"its answer has id {answer.id}; the question has {wanted}")
    return answer if answer.id == wanted else None


def _board(view: View, player: str) -> str:
    """Return what is known of a board, a letter per cell, row by row; ``?`` was shot at with unknown result."""
    grid = view.rules.grid
    cells = [grid.xy(cell) for cell in range(grid.size)]
    if player != view.me and view.rules.announce is Announce.COUNT:
        left = {(shot.x, shot.y) for shot in view.untouched.of(player)}
        return "".join("." if cell in left else "?" for cell in cells)
    marks = view.marks(player)
    return "".join("." if cell not in marks else "X" if marks[cell] else "0" for cell in cells)
