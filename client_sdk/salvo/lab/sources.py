"""Where bots come from: a team's file, a program in any language, or the bots that ship.

:mod:`salvo.player` defines what a bot is; this module finds one by what people type on a command line.
"""

from __future__ import annotations

import builtins
import difflib
import inspect
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from traceback import format_exception, walk_tb
from typing import Any, Final

from salvo import topics
from salvo.errors import BotError, WireError, let_signals_pass
from salvo.lab.bot_folder import PREFIX, is_beside, load_module, without_folders
from salvo.lab.bots import HOUSE_BOTS
from salvo.lab.programs.process_pool import ProgramPool
from salvo.lab.versions import path_of, revision_of, split
from salvo.player import Bot, FunctionBot
from salvo.text_files import missing_file

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
    near = f"did you mean {guess}? Otherwise " if (guess := _guessed(source)) else ""
    raise BotError(
        "bad_bot", f"no bot {source!r}; {near}give a file.py, exec:COMMAND or one of {', '.join(HOUSE_BOTS)}"
    )


def _guessed(source: str) -> str:
    """Return a suggestion for a mistyped source; may be empty."""
    if Path(source).is_file():
        return f"'{EXEC}COMMAND {source}'" if not os.access(source, os.X_OK) else f"'{EXEC}./{source}'"
    if Path(f"{source}.py").is_file():
        return f"{source}.py"
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
        text = f"{described(error, kind)} (creating {source})"
        raise BotError("bad_bot", text, trace_of(error, kind)) from error


def described(error: BaseException, kind: type[Bot]) -> str:
    """Return what a bot raised: ``mybot.py:7: NameError: name 'gird' is not defined; did you mean 'grid'?``.

    The line is that of the bot's file, or of one next to it, or where the bot begins if neither is involved. A syntax
    error has its source line and a caret below.
    """
    file = _file_of(kind)
    at = "" if isinstance(error, SyntaxError) or _line_in(file, error) else place_of(kind)
    return f"{at}{_described(file, error)}{_missing_method(kind) if at else ''}"


def place_of(kind: type[Bot]) -> str:
    """Return where a bot answers, as ``mybot.py:5: ``; empty if that is not in a file of its own."""
    method = kind.function if issubclass(kind, FunctionBot) else kind.choose_salvo
    code = getattr(inspect.unwrap(method), "__code__", None)
    file = _file_of(kind)
    if file is None or code is None or (code.co_filename != file and method is not Bot.choose_salvo):
        return ""
    first = code.co_firstlineno if code.co_filename == file else inspect.getsourcelines(kind)[1]
    return f"{Path(file).name}:{first}: "


def _missing_method(kind: type[Bot]) -> str:
    """Return a hint for a class without ``choose_salvo``, or a function that cannot be called; may be empty."""
    if issubclass(kind, FunctionBot):
        return "; a bot is a function of one view, such as def fire(view)"
    if kind.choose_salvo is not Bot.choose_salvo:
        return ""
    near = difflib.get_close_matches("choose_salvo", vars(kind), n=1)
    return f"; is {near[0]!r} a misspelling of it?" if near else "; write one, which returns shots"


def _file_of(kind: type[Bot]) -> str | None:
    return getattr(sys.modules.get(kind.__module__), "__file__", None)


def trace_of(error: BaseException, kind: type[Bot]) -> str:
    """Return a bot's traceback from the bot's own code on; empty if none of it is involved."""
    if isinstance(error, BotError) and error.trace:  # from the bot's own process
        return error.trace
    return _trace_in(_file_of(kind), error)


def _trace_in(file: str | None, error: BaseException) -> str:
    trace = error.__traceback__
    while file is not None and trace is not None and not is_beside(trace.tb_frame, Path(file)):
        trace = trace.tb_next
    if file is None or (trace is None and not isinstance(error, SyntaxError)):
        return ""
    own = None
    if file is not None and isinstance(error, BotError):  # its sentence says what our own lines would
        beside = [number for number, (frame, _) in enumerate(walk_tb(trace), 1) if is_beside(frame, Path(file))]
        own = beside[-1] if beside else None
    return without_folders("".join(format_exception(type(error), error, trace, limit=own)))


def _described(file: str | None, error: BaseException) -> str:
    name = type(error).__name__
    if isinstance(error, SyntaxError) and error.lineno is not None and str(error.filename).endswith(".py"):
        shown = _shown(Path(str(error.filename)), file) if file else Path(str(error.filename)).name
        line = (error.text or "").rstrip()
        code = line.lstrip()
        column = max(0, (error.offset or 1) - 1 - (len(line) - len(code)))
        return f"{shown}:{error.lineno}: {name}: {error.msg}\n    {code}\n    {' ' * column}^"
    said = error.text if isinstance(error, BotError) else f"{name}: {error}"
    return f"{_line_in(file, error)}{without_folders(said)}{_hint(error)}"


def _line_in(file: str | None, error: BaseException) -> str:
    if file is None:
        return ""
    lines = [
        (Path(frame.f_code.co_filename), number)
        for frame, number in walk_tb(error.__traceback__)
        if is_beside(frame, Path(file))
    ]
    return f"{_shown(lines[-1][0], file)}:{lines[-1][1]}: " if lines else ""


def _shown(path: Path, file: str) -> str:
    """Return the path of a bot's code as it is from the bot's folder."""
    return path.name if str(path) == file else os.path.relpath(path, Path(file).resolve().parent)


def _hint(error: BaseException) -> str:
    """Return what is probably meant, or what to do; may be empty."""
    match error:
        case ModuleNotFoundError(name=str(name)):
            word = name.partition(".")[0]
            return "; correct the name" + ("" if name.startswith(PREFIX) else f", or install it: pip install {word}")
        case AttributeError(name=str(name)):
            known: Iterable[str] = [*dir(error.obj), *getattr(error.obj, "__all__", ())]
        case NameError(name=str(name)):
            *_, (frame, _) = walk_tb(error.__traceback__)
            known = [*frame.f_locals, *frame.f_globals, *dir(builtins)]
        case _:
            return ""
    near = difflib.get_close_matches(name, [each for each in known if not each.startswith("_")], n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def team_name(source: str) -> str:
    """Return a team name for a bot's source: the file's, the program's or the built-in bot's, made legal."""
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
    file = path_of(path)
    if not file.is_file():
        raise BotError("bad_bot", missing_file(Path(path)))
    try:
        return load_module(file)
    except (Exception, SystemExit) as error:
        let_signals_pass(error)
        own = str(file.absolute())
        first, line, source = _described(own, error).partition("\n")
        raise BotError("bad_bot", f"{first} (importing {path}){line}{source}", _trace_in(own, error)) from error


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
