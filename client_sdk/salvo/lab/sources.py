"""Where bots come from: a team's file, a program in any language, or the bots that ship.

:mod:`salvo.player` defines what a bot is; this module finds one by what people type on a command line.
"""

from __future__ import annotations

import difflib
import inspect
import os
import re
import shlex
import shutil
import sys
from pathlib import Path
from traceback import format_exception, walk_tb
from typing import Any, Final

from salvo import topics
from salvo.errors import BotError, WireError, let_signals_pass
from salvo.lab.bot_folder import is_beside, load_module
from salvo.lab.bots import HOUSE_BOTS
from salvo.lab.programs.process_pool import ProgramPool
from salvo.lab.versions import path_of, revision_of, split
from salvo.player import Bot

#: Prefix of the command of a program that speaks JSON lines (SALVO-EXEC-1).
EXEC: Final = "exec:"


def load(source: str, *, strict: bool = False, staying: ProgramPool | None = None) -> type[Bot]:
    """Return a bot class: ``file.py``, ``file.py:Name``, ``exec:COMMAND``, or the name of a bot that ships.

    ``HEAD:file.py`` is the file as git has it, with everything next to it then (:mod:`salvo.lab.versions`).

    Args:
        strict: whether a program's mistake is raised, like a Python bot's, instead of just costing the turn.
        staying: where a program's processes wait between games of different bots; None ends each with its bot.

    Raises:
        BotError: ``bad_bot`` when there is no such file, name, program or bot, or when the file itself fails;
            ``bad_version`` when git has no such version.
    """
    if source.startswith(EXEC):
        return _program(source, strict, staying)
    path, name = split(source)
    if path.endswith(".py"):
        return _choose(_load_module(path), name, path)
    if source in HOUSE_BOTS:
        return HOUSE_BOTS[source]()
    near = f"; did you mean {guess}?" if (guess := _guessed(source)) else ""
    raise BotError(
        "bad_bot", f"no bot {source!r}; give a file.py, exec:COMMAND or one of {', '.join(HOUSE_BOTS)}{near}"
    )


def _guessed(source: str) -> str:
    """Return a suggestion for a mistyped source; may be empty."""
    if Path(source).is_file():
        return f"'{EXEC}COMMAND {source}'" if not os.access(source, os.X_OK) else f"'{EXEC}./{source}'"
    return next(iter(difflib.get_close_matches(source, HOUSE_BOTS, n=1)), "")


def make(source: str, *, staying: ProgramPool | None = None) -> Bot:
    """Return an instance of :func:`load`'s class.

    Args:
        staying: see :func:`load`.

    Raises:
        BotError: ``bad_bot``: see :func:`load`, or its class cannot be called.
    """
    kind = load(source, staying=staying)
    try:
        return kind()
    except (Exception, SystemExit) as error:
        let_signals_pass(error)
        text = f"{source} cannot be made: {type(error).__name__}: {error}{line_of(error, kind)}"
        raise BotError("bad_bot", text, trace_of(error, kind)) from error


def line_of(error: BaseException, kind: type[Bot]) -> str:
    """Return where in the bot's file, or one next to it, an error arose, as `` (mybot.py, line 7)``; else empty."""
    return _line_in(getattr(sys.modules.get(kind.__module__), "__file__", None), error)


def trace_of(error: BaseException, kind: type[Bot]) -> str:
    """Return a bot's traceback from the bot's own code on; empty if none of it is involved."""
    return _trace_in(getattr(sys.modules.get(kind.__module__), "__file__", None), error)


def _trace_in(file: str | None, error: BaseException) -> str:
    trace = error.__traceback__
    while file is not None and trace is not None and not is_beside(trace.tb_frame, Path(file)):
        trace = trace.tb_next
    if file is None or (trace is None and not isinstance(error, SyntaxError)):
        return ""
    return "".join(format_exception(type(error), error, trace))


def _line_in(file: str | None, error: BaseException) -> str:
    if file is None or (isinstance(error, SyntaxError) and str(error.filename).endswith(".py")):
        return ""  # a syntax error already has its line
    lines = [
        (Path(frame.f_code.co_filename), number)
        for frame, number in walk_tb(error.__traceback__)
        if is_beside(frame, Path(file))
    ]
    return f" ({lines[-1][0].relative_to(Path(file).parent)}, line {lines[-1][1]})" if lines else ""


def is_loading() -> bool:
    """Whether a bot's file is being read by :func:`load`; ``salvo.run`` at its end does nothing then."""
    return _loading


_loading = False


def team_name(source: str) -> str:
    """Return a team name for a bot's source: the file's, the program's or the house bot's, made legal."""
    stem = re.sub(r"[^A-Za-z0-9_-]", "-", stem_of(source)).strip("-_")[:24] or "bot"
    try:
        return topics.check_name(stem)
    except WireError:
        return f"team-{stem}"


def stem_of(source: str) -> str:
    """Return a source's short name: that of its file or program, without folder and suffix.

    Raises:
        BotError: ``bad_bot``: there is no command after ``exec:``.
    """
    if not source.startswith(EXEC):
        revision, path = revision_of(split(source)[0])
        version = re.sub(r"[^A-Za-z0-9_]+", "-", revision).strip("-")[:12]
        return f"{Path(path).stem}-{version}" if version else Path(path).stem
    return script_of(source).stem


def script_of(source: str) -> Path:
    """Return the file that people edit behind ``exec:COMMAND``: the first with a suffix, else the program itself.

    Raises:
        BotError: ``bad_bot``: there is no command.
    """
    words = _words(source)
    return Path(next((word for word in words if Path(word).suffix and Path(word).is_file()), words[0]))


def _words(source: str) -> list[str]:
    try:
        words = shlex.split(source.removeprefix(EXEC))
    except ValueError as error:
        raise BotError("bad_bot", f"{source!r}: {str(error).lower()}") from None
    if not words:
        raise BotError(
            "bad_bot", f"{source!r} names no program; such as {EXEC}./mybot, or '{EXEC}perl mybot.pl --fast'"
        )
    return words


def _program(source: str, strict: bool, staying: ProgramPool | None) -> type[Bot]:
    from salvo.lab.programs.exec_bot import ExecBot

    words = _words(source)
    if shutil.which(words[0]) is None:
        raise BotError("bad_bot", f"no program {words[0]!r} that may be executed; a file here is ./{words[0]}")
    members = {"command": tuple(words), "strict": strict, "staying": staying, "__module__": __name__}
    return type("Program", (ExecBot,), members)


def _load_module(path: str) -> Any:
    global _loading
    file = path_of(path)
    if not file.is_file():
        raise BotError("bad_bot", f"no file {path}")
    _loading = True
    try:
        return load_module(file)
    except (Exception, SystemExit) as error:
        let_signals_pass(error)
        line = _line_in(str(file.absolute()), error)
        text = f"{path} fails when it is imported: {type(error).__name__}: {error}{line}"
        raise BotError("bad_bot", text, _trace_in(str(file.absolute()), error)) from error
    finally:
        _loading = False


def _choose(module: Any, name: str, path: str) -> type[Bot]:
    found = {
        key: value
        for key, value in vars(module).items()
        if inspect.isclass(value) and issubclass(value, Bot) and value.__module__ == module.__name__
    }
    if name:
        if name not in found:
            raise BotError("bad_bot", f"{path} has no bot {name!r}; it has {', '.join(found) or 'none'}")
        return found[name]
    if not found:
        wanted = "a class derived from salvo.Bot or a function under @salvo.bot"
        raise BotError("bad_bot", f"{path} has no bot: {wanted}; a program is named by its command, {EXEC}COMMAND")
    return list(found.values())[-1]
