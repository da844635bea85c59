"""Describe an error of a bot: its own line, the cause, and what was probably meant.

A bot's code is its module's file and whatever Python finds in the folder of that file. Salvo's own lines are left out.

Whatever code of a bot raises goes through :func:`blame`, also what is not an ``Exception``. Nothing of the error is
trusted: neither that it can be printed, nor what its attributes are.
"""

from __future__ import annotations

import builtins
import difflib
import inspect
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from traceback import format_exception, walk_tb
from types import TracebackType
from typing import Final

from salvo.bots.player import Bot, FunctionBot
from salvo.errors import MAX_SHOWN, BotError, SalvoError, let_interruptions_pass, plain, quietly, shown

_OURS: Final = str(Path(__file__).parents[1])
#: The package of a bot's folder, see :mod:`salvo.bots.file_loader`, before the names that its code has for its modules.
_FOLDER: Final = re.compile(r"\bsalvo\.bots\.file_loader\.[^.]*\.")

_TRACEBACK: Final = vars(BaseException)["__traceback__"]


class Described(BotError):
    """An error that has the bot's line already."""


def blame(error: BaseException, code: type[Bot] | str, otherwise: str = "bot_raised") -> Described:
    """Return what a bot's code has raised as its error; re-raise what is not the bot's.

    Args:
        code: the bot's class, or a file that is imported.
        otherwise: the error's code, unless it is a ``BotError`` with one of its own.
    """
    let_interruptions_pass(error)
    if type(error) is Described:
        return error
    file = code if isinstance(code, str) else _file_of(code)
    at = _line_in(file, error) or ("" if isinstance(code, str) else place_of(code))
    text = quietly(
        lambda: described_in(code, error) if isinstance(code, str) else described(error, code),
        f"{at}{type(error).__name__}, which cannot be described",
    )
    trace = quietly(lambda: trace_in(code, error) if isinstance(code, str) else trace_of(error, code), "")
    own = quietly(lambda: plain(error.code) if isinstance(error, BotError) else None, None) or ""
    return Described(own if own.isidentifier() else otherwise, text, trace)


def described(error: BaseException, kind: type[Bot]) -> str:
    """Return what a bot raised: ``mybot.py:7: NameError: name 'gird' is not defined; did you mean 'grid'?``.

    The line is that of the bot's file, or of one next to it, or where the bot begins if neither is involved. A syntax
    error has its source line and a caret below.
    """
    file = _file_of(kind)
    at = "" if isinstance(error, SyntaxError) or _line_in(file, error) else place_of(kind)
    return f"{at}{described_in(file, error)}{_missing_method(kind, error) if at else ''}"


def described_in(file: str | None, error: BaseException) -> str:
    """Return what the code of a file raised, see :func:`described`; None for a bot that is in no file."""
    name = type(error).__name__
    if isinstance(error, SyntaxError) and error.lineno is not None and str(error.filename).endswith(".py"):
        path = _shown(str(error.filename), file)
        line = (error.text or "").rstrip()
        code = line.lstrip()
        column = max(0, (error.offset or 1) - 1 - (len(line) - len(code)))
        return f"{path}:{error.lineno}: {name}: {error.msg}\n    {code}\n    {' ' * column}^"
    text = (plain(error.text) if isinstance(error, BotError) else None) or shown(error, 2 * MAX_SHOWN, str)
    if not isinstance(error, SalvoError):
        text = f"{name}: {text}".removesuffix(": ")
    return f"{_line_in(file, error)}{_FOLDER.sub('', text)}{quietly(lambda: _hint(error), '')}"


def placed(text: str, where: str) -> str:
    """Return an error's text with where it happened, which stands before a syntax error's source line."""
    first, line, source = text.partition("\n")
    return f"{first} ({where}){line}{source}"


def place_of(kind: type[Bot], name: str = "choose_salvo") -> str:
    """Return where a bot answers, as ``mybot.py:5: ``; empty if that is not in a file of its own."""
    return quietly(lambda: _place_of(kind, name), "")


def _place_of(kind: type[Bot], name: str) -> str:
    method = kind.function if issubclass(kind, FunctionBot) else getattr(kind, name)
    code = getattr(inspect.unwrap(method), "__code__", None)
    file = _file_of(kind)
    if file is None or code is None or (code.co_filename != file and method is not getattr(Bot, name)):
        return ""
    first = code.co_firstlineno if code.co_filename == file else inspect.getsourcelines(kind)[1]
    return f"{Path(file).name}:{first}: "


def trace_of(error: BaseException, kind: type[Bot]) -> str:
    """Return a bot's traceback from the bot's own code on; empty if none of it is involved."""
    if isinstance(error, BotError) and (trace := plain(error.trace)):  # from the bot's own process
        return trace
    return trace_in(_file_of(kind), error)


def trace_in(file: str | None, error: BaseException) -> str:
    """Return a traceback from the code of a file on, or of its folder; see :func:`trace_of`."""
    trace = _trace(error)
    while file is not None and trace is not None and not _is_own(trace, file):
        trace = trace.tb_next
    if file is None or (trace is None and not isinstance(error, SyntaxError)):
        return ""
    own = None
    if isinstance(error, BotError):  # its sentence says what our own lines would
        own = max((number for number, step in enumerate(_steps(trace), 1) if _is_own(step, file)), default=None)
    return _FOLDER.sub("", "".join(format_exception(type(error), error, trace, limit=own)))


def _steps(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _is_own(step: TracebackType, file: str) -> bool:
    """Whether it is code of a file, or such as Python finds in the file's folder rather than in any other.

    Of a bot that ships, it is only the file.
    """
    path = step.tb_frame.f_code.co_filename
    folder = str(Path(file).resolve().parent)
    if path == file or folder.startswith(_OURS):
        return path == file
    homes = {folder, *(os.path.abspath(each) for each in sys.path if isinstance(each, str))}
    return max((home for home in homes if path.startswith(home + os.sep)), key=len, default="") == folder


def _missing_method(kind: type[Bot], error: BaseException) -> str:
    """Return a hint for a class without ``choose_salvo``, or a function that cannot be called; may be empty."""
    if issubclass(kind, FunctionBot):
        return "" if isinstance(error, BotError) else "; a bot is a function of one view, such as def fire(view)"
    if kind.choose_salvo is not Bot.choose_salvo:
        return ""
    near = difflib.get_close_matches("choose_salvo", vars(kind), n=1)
    return f"; is {near[0]!r} a misspelling of it?" if near else "; write one, which returns shots"


def module_of(kind: type[Bot]) -> str:
    """Return the name of a class's module; empty if it has none."""
    return plain(quietly(lambda: kind.__module__, "")) or ""


def _file_of(kind: type[Bot]) -> str | None:
    return plain(quietly(lambda: getattr(sys.modules.get(module_of(kind)), "__file__", None), None))


def _trace(error: BaseException) -> TracebackType | None:
    """Return where it was raised, whatever its class says."""
    trace: TracebackType | None = _TRACEBACK.__get__(error)
    return trace


def _line_in(file: str | None, error: BaseException) -> str:
    own = [step for step in _steps(_trace(error)) if file is not None and _is_own(step, file)]
    return f"{_shown(own[-1].tb_frame.f_code.co_filename, file)}:{own[-1].tb_lineno}: " if own else ""


def _shown(path: str, file: str | None) -> str:
    """Return the path of a bot's code as it is from the bot's folder."""
    return Path(path).name if file in (None, path) else os.path.relpath(path, Path(file or "").resolve().parent)


def _hint(error: BaseException) -> str:
    """Return what is probably meant, or what to do; may be empty."""
    match error:
        case ModuleNotFoundError(name=str(name)):
            install = f", or install it: pip install {name.partition('.')[0]}"
            return "; correct the name" + ("" if _FOLDER.match(name) else install)
        case AttributeError(name=str(name)):
            known: Iterable[str] = [*dir(error.obj), *getattr(error.obj, "__all__", ())]
        case NameError(name=str(name)):
            *_, (frame, _) = walk_tb(error.__traceback__)
            known = [*frame.f_locals, *frame.f_globals, *dir(builtins)]
        case _:
            return ""
    near = difflib.get_close_matches(name, [each for each in known if not each.startswith("_")], n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
