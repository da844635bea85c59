"""A bot's file as a module, which may import the modules of its own folder, and of no other bot's.

A script finds the modules next to it. So does a bot, but several bots play in one process, of two teams or in two
versions, and each folder may have its own ``helper.py``, while Python keeps only one module of a name. So each folder
keeps its own modules, which are installed while a module of this folder imports, whether at the top of a file or in
mid-game. The folder is invisible to other code.
"""

from __future__ import annotations

import builtins
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

#: Modules that no folder may replace.
_OURS = frozenset({"salvo", "salvo_server"})

_folders: dict[Path, _Folder] = {}
#: The installed modules are the same for all threads.
_lock = threading.RLock()


def load_module(file: Path) -> ModuleType:
    """Execute a Python file as a module of its folder; it stays in ``sys.modules`` under a unique name.

    Raises:
        Exception: whatever the file raises.
    """
    file = file.absolute()
    folder = _folders.setdefault(file.parent, _Folder(file.parent))
    folder.look()
    return folder.execute(_name_of(file), str(file))


def is_beside(frame: FrameType, file: Path) -> bool:
    """Whether a frame runs code of a bot's file, or of a module next to it."""
    if frame.f_code.co_filename == str(file):
        return True
    folder = _folders.get(file.parent)
    return folder is not None and frame.f_globals.get("__builtins__") is folder.builtins


def _name_of(file: Path) -> str:
    """Return the module's name: the file's, with a number if a file of another folder has the same."""
    name, number = f"salvo_bot_{file.stem}", 1
    while getattr(sys.modules.get(name), "__file__", str(file)) != str(file):
        number += 1
        name = f"salvo_bot_{file.stem}_{number}"
    return name


class _Folder(MetaPathFinder):
    """The modules of one folder.

    Attributes:
        names: what can be imported from it, first words only.
        modules: those that were imported, by name.
        builtins: the builtins of its modules.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.names: frozenset[str] = frozenset()
        self.modules: dict[str, ModuleType] = {}
        # Functions look up __import__ in the builtins of their module.
        self.builtins = vars(builtins) | {"__import__": self._import}

    def look(self) -> None:
        """List what can be imported."""
        files = {file.stem for file in self.path.glob("*.py")}
        packages = {file.parent.name for file in self.path.glob("*/__init__.py")}
        self.names = frozenset(files | packages) - _OURS - sys.stdlib_module_names

    def execute(self, name: str, file: str) -> ModuleType:
        """Execute a file as a module of this name."""
        spec = spec_from_loader(name, _Loader(name, file, self.builtins))
        assert spec is not None
        module = sys.modules[name] = module_from_spec(spec)
        with self._in_place():
            module.__loader__.exec_module(module)  # type: ignore[union-attr]
        return module

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module of this folder, or of a package in it."""
        if fullname.partition(".")[0] not in self.names:
            return None
        spec = PathFinder.find_spec(fullname, [str(self.path)] if path is None else path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _Loader(fullname, spec.loader.path, self.builtins)
        return spec

    def _import(
        self, name: str, globals: Any = None, locals: Any = None, fromlist: Sequence[str] | None = (), level: int = 0
    ) -> ModuleType:
        first = name.partition(".")[0]
        if not level and not any(first in folder.names for folder in _folders.values()):  # no bot's
            return builtins.__import__(name, globals, locals, fromlist or ())
        with self._in_place():
            return builtins.__import__(name, globals, locals, fromlist or (), level)

    @contextmanager
    def _in_place(self) -> Iterator[None]:
        """Make this folder's modules importable, and no other bot's."""
        with _lock:
            if sys.meta_path[0] is self:
                yield
                return
            hidden = self.names.union(*(folder.names for folder in _folders.values()))
            others = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] in hidden}
            sys.modules.update(self.modules)
            sys.meta_path.insert(0, self)
            try:
                yield
            finally:
                sys.meta_path.remove(self)
                mine = [name for name in sys.modules if name.partition(".")[0] in self.names]
                self.modules = {name: sys.modules.pop(name) for name in mine}
                sys.modules.update(others)


class _Loader(SourceFileLoader):
    """Gives a module the builtins of its folder."""

    def __init__(self, name: str, path: str, builtins: dict[str, Any]) -> None:
        super().__init__(name, path)
        self._builtins = builtins

    def exec_module(self, module: ModuleType) -> None:
        """Execute it."""
        vars(module)["__builtins__"] = self._builtins
        super().exec_module(module)
