"""Which code bots run, by file, so that games of two versions of a bot are not added up.

Of a Python bot that is its file and whatever it imports from its folder: what its code names (:func:`code_of`), and
what it has imported besides (:class:`LoadedCode`). Of a program, it is every file that its command names. Not seen is
what a bot reads or executes by itself, what a program loads, and what is installed.
"""

from __future__ import annotations

import ast
import hashlib
import os
import shutil
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from importlib.machinery import all_suffixes
from pathlib import Path
from typing import Final

from salvo.bots.file_loader import PREFIX
from salvo.bots.sources import SANDBOX, in_folder, is_program, words_of
from salvo.bots.versions import revision_of, split
from salvo.errors import BotError

#: Of each file, when it was read: time of its last change, size and number, and its digest.
_digests: Final[dict[str, tuple[tuple[int, int, int], str]]] = {}


#: Endings of files that hold data or a log, and no ending at all, unless the file can be executed.
_OF_DATA: Final = frozenset(
    ("", ".csv", ".db", ".json", ".jsonl", ".log", ".out", ".sqlite", ".toml", ".txt", ".yaml", ".yml")
)


class LoadedCode:
    """The code of some bots, as this process runs it."""

    def __init__(self, sources: Iterable[str], base: str) -> None:
        """Begin with nothing loaded.

        Args:
            sources: of the bots.
            base: the folder that files are named from.
        """
        sources = [in_folder(source.removeprefix(SANDBOX)) for source in sources]
        self._base = base
        self._named = [name for source in sources if is_program(source) for name in files_named(source, base)]
        self._folders = _folders_of(sources, base)
        self._modules = 0  # how many there were
        self._shown: dict[str, str] = {}

    def fresh(self) -> dict[str, str]:
        """Return the digests by file that are new since the last call."""
        found = {name: digest for name in self._named if (digest := digest_of(name, self._base))}
        if len(sys.modules) != self._modules:
            self._modules = len(sys.modules)
            for file in _files_of_bots():
                name = self._name_of(file)
                if name and name not in self._shown:  # later changes do not change what is loaded
                    found[name] = digest_of(file)
        fresh = {name: digest for name, digest in found.items() if self._shown.get(name) != digest}
        self._shown |= fresh
        return fresh

    def _name_of(self, file: str) -> str:
        for folder, called in self._folders.items():
            if file.startswith(folder + os.sep):
                return os.path.normpath(os.path.join(called, os.path.relpath(file, folder)))
        return ""


def _files_of_bots() -> set[str]:
    modules = [module for name, module in list(sys.modules.items()) if name.startswith(PREFIX)]
    return {os.path.realpath(file) for module in modules if (file := getattr(module, "__file__", None))}


def _folders_of(sources: Iterable[str], base: str) -> dict[str, str]:
    """Return the folders of Python bots, and how they are called; what git has does not change."""
    files = [split(source)[0] for source in sources if not is_program(source)]
    plain = [file for file in files if file.endswith(".py") and not revision_of(file)[0]]
    folders = {os.path.dirname(os.path.realpath(os.path.join(base, file))) for file in plain}
    return {folder: os.path.relpath(folder, base) for folder in folders}


def code_of(source: str, base: str = "") -> dict[str, str]:
    """Return the digests of a bot's code by file, as far as that is known before it plays.

    Of a Python bot it is its file and the modules of its folder that it names, also where it imports them late, and
    those that they name. There are none of a bot that git has, or that is installed.

    Of a folder, it is all files in it but hidden ones, and outside of a sandbox those of data, which a bot may write.

    Args:
        base: the folder that files are named from.
    """
    guarded, source = source.startswith(SANDBOX), source.removeprefix(SANDBOX)
    if in_folder(source) != source:
        inside = [str(Path(folder, file)) for folder, _, files in os.walk(Path(base, source)) for file in files]
        named = sorted(
            os.path.relpath(file, base or ".")
            for file in inside
            if (guarded or _is_code(Path(file))) and not _is_hidden(os.path.relpath(file, os.path.join(base, source)))
        )
        return {name: digest for name in named if (digest := digest_of(name, base))}
    if is_program(source):
        return {name: digest for name in files_named(source, base) if (digest := digest_of(name, base))}
    file, _ = split(source)
    folders = _folders_of([source], base)
    if not folders:
        return {}
    [(folder, called)] = folders.items()
    todo, found = [os.path.realpath(os.path.join(base, file))], dict[str, str]()
    while todo:
        path = todo.pop()
        name = os.path.normpath(os.path.join(called, os.path.relpath(path, folder)))
        if name not in found and (digest := digest_of(path)):
            found[name] = digest
            todo += _files_imported(path, folder)
    return found


def has_code(source: str, name: str, base: str = "") -> bool:
    """Whether a file may be a Python bot's: it is in its folder, or in one of those in it."""
    source = in_folder(source.removeprefix(SANDBOX))
    path = os.path.realpath(os.path.join(base, name))
    return any(
        path.startswith(folder + os.sep) for folder in ([] if is_program(source) else _folders_of([source], base))
    )


def _files_imported(path: str, folder: str) -> Iterator[str]:
    """Yield the files of a folder that a file of it imports by name."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python warns when it is loaded
            tree = ast.parse(Path(path).read_bytes()) if path.endswith(".py") else ast.Module([], [])
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return  # it shows when it is loaded
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                yield from _files_of_module(folder, each.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            within = Path(folder)
            if node.level:
                within = Path(path).parents[min(node.level, len(Path(path).parents)) - 1]
            for each in node.names:
                parts = [*(node.module or "").split("."), each.name]
                yield from _files_of_module(str(within), [part for part in parts if part])


def _files_of_module(folder: str, parts: list[str]) -> Iterator[str]:
    """Yield the files that importing a module by its name loads, its packages' first."""
    for count in range(1, len(parts) + 1):
        stem = os.path.join(folder, *parts[:count])
        for suffix in all_suffixes():
            for file in (os.path.join(stem, f"__init__{suffix}"), f"{stem}{suffix}"):
                if os.path.isfile(file):
                    yield os.path.realpath(file)


def files_named(source: str, base: str = "") -> list[str]:
    """Return the words of a program's command that are files of code, also behind ``=``; the first may be in PATH.

    Files of data are left out, which a program may write while it plays.

    Raises:
        BotError: ``bad_bot``: there is no command.
    """
    first, *words = words_of(source)
    parts = [part for word in words for part in (word, word.partition("=")[2])]
    return list(dict.fromkeys([first, *(part for part in parts if part and _is_code(Path(base, part)))]))


def _is_hidden(path: str) -> bool:
    return any(part.startswith(".") or part == "__pycache__" for part in Path(path).parts)


def _is_code(path: Path) -> bool:
    return path.is_file() and (os.access(path, os.X_OK) or path.suffix.lower() not in _OF_DATA)


def digest_of(name: str, base: str = "") -> str:
    """Return the digest of a file, or of a program that is found by PATH; empty if there is none."""
    path = Path(base, name)
    found = str(path) if path.is_file() else shutil.which(name) or ""
    try:
        status = os.stat(found)
        state = (status.st_mtime_ns, status.st_size, status.st_ino)
        if _digests.get(found, ((), ""))[0] != state:
            with open(found, "rb") as file:
                _digests[found] = (state, hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=8)).hexdigest())
    except OSError:
        return ""
    return _digests[found][1]


def changed(code: Mapping[str, str]) -> list[str]:
    """Return the files that are no longer what they were."""
    return [name for name, digest in code.items() if digest_of(name) != digest]


def check_same(code: dict[str, str], more: Mapping[str, str]) -> None:
    """Add what further games were played with.

    Raises:
        BotError: ``code_changed``: a file is another one than before.
    """
    differing = [name for name, digest in more.items() if code.setdefault(name, digest) != digest]
    if differing:
        raise BotError("code_changed", f"{', '.join(differing)} changed while games were played; start them again")
