"""Where bots come from: a team's file, a program in any language, or the bots that ship.

:mod:`salvo.bots.player` defines what a bot is; this module finds one by what people type on a command line.
"""

from __future__ import annotations

import difflib
import os
import re
import shlex
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from salvo.bots import adapter
from salvo.bots.errors import blame, placed
from salvo.bots.file_loader import load_module
from salvo.bots.player import Answer, Bot
from salvo.bots.programs.process_pool import ProgramPool
from salvo.bots.versions import path_of, revision_of, split
from salvo.errors import BotError, WireError
from salvo.system import plugins
from salvo.system.text_files import missing_file
from salvo.view import View
from salvo.wire import topics

if TYPE_CHECKING:
    from salvo.bots.programs.exec_bot import ExecBot

#: Prefix of the command of a program that speaks JSON lines (SALVO-EXEC-1).
EXEC: Final = "exec:"
#: Prefix of a source that is played in a sandbox (:mod:`salvo.bots.programs.sandbox`).
SANDBOX: Final = "sandbox:"
#: The program of a file whose name ends so.
_RUNS: Final = {".js": "node", ".mjs": "node"}
#: What a folder's bot is called, and how it is run; else it is the only file of a kind.
_IN_A_FOLDER: Final = ("bot.py", "bot.js", "bot.mjs", "bot")


def load(source: str, *, strict: bool = False, staying: ProgramPool | None = None) -> type[Bot]:
    """Return a bot class: ``file.py``, ``file.py:Name``, ``file.js``, a folder, ``exec:COMMAND``, or an installed bot.

    ``hunter@0.5`` plays as an installed bot in that share of its turns, and otherwise at random.
    ``HEAD:file.py`` is the file as git has it, with everything next to it then (:mod:`salvo.bots.versions`). A
    folder's bot is its ``bot.py``, ``bot.js``, ``bot.mjs`` or program ``bot``, or its only file in Python or
    JavaScript.
    ``sandbox:SOURCE`` plays a file, a folder or a command in a sandbox (:mod:`salvo.bots.programs.sandbox`).

    Args:
        strict: whether a program's mistake is raised, like a Python bot's, instead of just costing the turn.
        staying: where a program's processes wait between games of different bots; None ends each with its bot.

    Raises:
        BotError: ``bad_bot`` when there is no such file, name, program or bot, or when the file itself fails;
            ``bad_version`` when git has no such version; ``sandbox_missing``, ``sandbox_forbidden``.
        PluginError: ``bad_plugin``: another package adds a bot that cannot be loaded.
    """
    try:
        source.encode()  # its name is part of seeds and messages
    except UnicodeEncodeError:
        raise BotError("bad_bot", f"{source!r}: the name is not UTF-8; rename the file") from None
    source = in_folder(source)
    if is_program(source):
        return _program(source, strict, staying)
    path, name = split(source)
    if path.endswith(".py"):
        return _choose(_load_bots(path), name, path)
    if is_mixture(source):
        return _mixture(source)
    if source in plugins.found(plugins.BOTS):
        added: type[Bot] = plugins.load(plugins.BOTS, source, Bot)
        return added
    near = f"did you mean {guess}? Otherwise " if (guess := _guessed(source)) else ""
    installed = ", ".join(plugins.found(plugins.BOTS))
    raise BotError("bad_bot", f"no bot {source!r}; {near}give a file.py, file.js, exec:COMMAND or one of {installed}")


def is_program(source: str) -> bool:
    """Whether a bot is a program: ``exec:COMMAND``, a file of JavaScript, or anything in a sandbox."""
    return source.startswith((EXEC, SANDBOX)) or Path(source).suffix in _RUNS


def in_sandbox(source: str) -> str:
    """Return a source as it is with ``--sandbox``; one that is installed is our own, and needs none.

    Raises:
        BotError: ``bad_bot``: it is a version that git has.
    """
    path = split(source)[0]
    if revision_of(path)[0] and path.endswith(".py"):
        raise BotError("bad_bot", f"{source!r}: a sandbox takes files as they are; leave the version out")
    files = is_program(source) or path.endswith(".py") or "/" in source or in_folder(source) != source
    return SANDBOX + source if files and not source.startswith(SANDBOX) else source


def in_folder(source: str) -> str:
    """Return the source of a folder's bot; any other source as it is.

    Raises:
        BotError: ``bad_bot``: it has none, or several.
    """
    if source.startswith(SANDBOX):
        return SANDBOX + in_folder(source.removeprefix(SANDBOX))
    folder = Path(source)
    if source in plugins.found(plugins.BOTS) or source.startswith(EXEC) or not folder.is_dir():
        return source
    there = [folder / name for name in _IN_A_FOLDER if (folder / name).is_file()]
    files = there[:1] or [file for file in sorted(folder.iterdir()) if file.suffix in (".py", *_RUNS)]
    if len(files) != 1:
        found = f"it has {', '.join(file.name for file in files[:5])}" if files else "it has none of these"
        raise BotError("bad_bot", f"{source}: its bot is {', '.join(_IN_A_FOLDER)} or its only .py or .js; {found}")
    [file] = files
    return str(file) if file.suffix else f"{EXEC}{shlex.quote(str(file.absolute()))}"


def is_mixture(source: str) -> bool:
    """Whether a source is a mixture, such as ``hunter@0.5``, and no file."""
    return "@" in source and not source.endswith(".py")


def _mixture(source: str) -> type[Bot]:
    """Return a bot that plays as an installed one in a share of its turns, such as ``hunter@0.5``, else at random."""
    name, _, text = source.partition("@")
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise BotError("bad_bot", f"{source!r}: the share is {text!r}; above 0 and below 1, as in hunter@0.5")
    kind = load(name)

    def choose_salvo(self: Bot, view: View) -> Answer:
        if self.random.random() < share:
            return kind.choose_salvo(self, view)
        return view.untouched.sample(view.shots)

    return type("Mixture", (kind,), {"choose_salvo": choose_salvo, "__module__": __name__})


def _guessed(source: str) -> str:
    """Return a suggestion for a mistyped source; may be empty."""
    if Path(source).is_file():
        return f"'{EXEC}COMMAND {source}'" if not os.access(source, os.X_OK) else f"'{EXEC}./{source}'"
    if Path(f"{source}.py").is_file():
        return f"{source}.py"
    return next(iter(difflib.get_close_matches(source, plugins.found(plugins.BOTS), n=1)), "")


def make(source: str, *, strict: bool = False) -> Bot:
    """Return an instance of :func:`load`'s class.

    Args:
        strict: see :func:`load`.

    Raises:
        BotError: ``bad_bot``: see :func:`load`, or its class cannot be called.
    """
    kind = load(source, strict=strict)
    try:
        return adapter.made(kind)
    except BotError as error:
        raise BotError(error.code, placed(error.text, f"creating {source}"), error.trace) from error.__cause__


def team_name(source: str) -> str:
    """Return a team name for a bot's source: the file's, the program's or the built-in bot's, made legal."""
    stem = re.sub(r"[^A-Za-z0-9_-]", "-", stem_of(source)).strip("-_")[:24] or "bot"
    try:
        return topics.check_name(stem)
    except WireError:
        return f"team-{stem}"


def name_here(bot: type[Bot]) -> str:
    """Return a team name for a bot of the program that is running: the program's, or the bot's own in a notebook."""
    return team_name(sys.argv[0] if hasattr(sys.modules["__main__"], "__file__") else bot.__name__)


def stem_of(source: str) -> str:
    """Return a source's short name: that of its file or program, without folder and suffix.

    Raises:
        BotError: ``bad_bot``: there is no command after ``exec:``.
    """
    source = source.removeprefix(SANDBOX)
    if in_folder(source) != source:
        return Path(source).absolute().name
    if not is_program(source):
        revision, path = revision_of(split(source)[0])
        version = re.sub(r"[^A-Za-z0-9_]+", "-", revision).strip("-")[:12]
        stem = source if is_mixture(path) else Path(path).stem
        return f"{stem}-{version}" if version else stem
    return script_of(source).stem


def script_of(source: str) -> Path:
    """Return the file that people edit behind a program: the first with a suffix, else the program itself.

    Raises:
        BotError: ``bad_bot``: there is no command.
    """
    words = words_of(source)
    return Path(next((word for word in words if Path(word).suffix and Path(word).is_file()), words[0]))


def words_of(source: str) -> list[str]:
    """Return the words of a program's command: ``node file.js`` for a file of JavaScript; without those of a sandbox.

    Raises:
        BotError: ``bad_bot``: there is none.
    """
    source = source.removeprefix(SANDBOX)
    if not source.startswith(EXEC):
        path = split(source)[0]
        if path.endswith(".py"):  # in a sandbox
            file = Path(path).absolute()
            return [sys.executable, "-P", "-m", "salvo_lab.programs", f"{file}{source.removeprefix(path)}"]
        if Path(source).suffix not in _RUNS:
            raise BotError("bad_bot", f"no file, folder or command {source!r}; a sandbox plays only these")
        return [_RUNS[Path(source).suffix], source]
    try:
        words = shlex.split(source.removeprefix(EXEC))
    except ValueError as error:
        raise BotError("bad_bot", f"{source!r}: {str(error).lower()}") from None
    if not words:
        raise BotError(
            "bad_bot", f"{source!r} names no program; such as {EXEC}./mybot, or '{EXEC}perl mybot.pl --fast'"
        )
    return words


def load_program(source: str) -> type[ExecBot]:
    """Return the class of any bot but an installed one as a program, whose mistakes are raised, and leave no file.

    Raises:
        BotError: as :func:`load`.
    """
    kind = _program(in_folder(source), strict=True, staying=None)
    kind.most_files = 0
    return kind


def _program(source: str, strict: bool, staying: ProgramPool | None) -> type[ExecBot]:
    from salvo.bots.programs.exec_bot import ExecBot

    words = words_of(source)
    written = tuple(words)
    _check_program(source.removeprefix(SANDBOX), words[0])
    if source.startswith(SANDBOX):
        from salvo.bots.programs.sandbox import sandboxed

        words = sandboxed(words, _folder_of(source.removeprefix(SANDBOX)))
    members = {
        "command": tuple(words),
        "written": written,
        "strict": strict,
        "staying": staying,
        "__module__": __name__,
    }
    return type("Program", (ExecBot,), members)


def _folder_of(source: str) -> Path | None:
    """Return the folder that a bot in a sandbox may read; None for a command that names no file.

    Raises:
        BotError: ``bad_bot``: there is more in it than a bot's own.
    """
    file = script_of(source) if source.startswith(EXEC) else Path(split(source)[0])
    if not file.is_file():
        return None
    folder = file.resolve().parent
    others = [Path(each).resolve() for each in (os.environ.get("HOME"), tempfile.gettempdir()) if each]
    if any(other.is_relative_to(folder) for other in others) or next(folder.glob("*.games.jsonl"), None):
        text = f"{source!r}: a bot in a sandbox reads its folder, and {folder} is of others, too"
        raise BotError("bad_bot", f"{text}; give it a folder of its own")
    return file.absolute().parent


def _check_program(source: str, program: str) -> None:
    is_file = not source.startswith(EXEC)
    if is_file and not Path(split(source)[0]).is_file():
        raise BotError("bad_bot", missing_file(Path(split(source)[0])))
    if shutil.which(program) is None:
        hint = f"{source} is run by it: install it" if is_file else f"a file here is ./{program}"
        raise BotError("bad_bot", f"no program {program!r} that may be executed; {hint}")


def _load_bots(path: str) -> dict[str, type[Bot]]:
    """Return the bots of a file by name, in the order of their definitions."""
    file = path_of(path)
    if not file.is_file():
        raise BotError("bad_bot", missing_file(Path(path)))
    try:
        module = load_module(file)
        return {
            key: value
            for key, value in vars(module).items()
            if issubclass(type(value), type) and issubclass(value, Bot) and value.__module__ == module.__name__
        }
    except BaseException as error:
        failure = blame(error, str(file.absolute()), "bad_bot")
        raise BotError("bad_bot", placed(failure.text, f"importing {path}"), failure.trace) from error


def _choose(found: dict[str, type[Bot]], name: str, path: str) -> type[Bot]:
    if name:
        if name not in found:
            raise BotError("bad_bot", f"{path} has no bot {name!r}; it has {', '.join(found) or 'none'}")
        return found[name]
    if not found:
        wanted = "a class derived from salvo.Bot or a function under @salvo.bot"
        raise BotError("bad_bot", f"{path} has no bot: {wanted}; a program is named by its command, {EXEC}COMMAND")
    return list(found.values())[-1]
