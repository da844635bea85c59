"""Load a bot's file as a module that imports the files beside it, as ``python mybot.py`` does.

Several bots play in one process, of two teams or in two versions, and each folder may have its own ``helper.py``, while
Python keeps one module of a name. So the modules of a folder are those of a package, which this module contains: where
a bot's code says ``import helper``, it imports ``salvo.bots.file_loader./home/me/bots.helper``. The name has the whole
path, so that any process finds the module by its name alone: a process of a pool unpickles a bot's functions.

A bot's folder is that of the real file: symbolic links are followed, as for ``sys.path[0]``. What is not in it comes
from where Python finds it; Salvo and the standard library always do.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, Final

from salvo.bots import surroundings
from salvo.system.distribution import PACKAGES

#: Folders are modules in this one.
__path__: list[str] = []
PREFIX: Final = f"{__name__}."
#: Modules that no folder may replace.
_OURS: Final = sys.stdlib_module_names | {*PACKAGES}
#: Stands before the number of a file that is loaded once more, as a module of its own.
_AGAIN: Final = "#"

_folders: dict[Path, _Folder] = {}


def load_module(file: Path) -> ModuleType:
    """Execute a Python file as a new module of its folder; it stays in ``sys.modules``.

    Raises:
        Exception: whatever the file raises.
    """
    return folder_of(file).execute(file.absolute(), file.resolve().stem)


def folder_of(file: Path) -> _Folder:
    """Return the folder that a bot's file is in."""
    path = file.resolve().parent
    return _folders.setdefault(path, _Folder(path))


class _Folder:
    """The modules of one folder.

    Attributes:
        name: of the package, with the path; a point would separate two packages.
        builtins: the builtins of its modules.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = PREFIX + str(path).replace("%", "%25").replace(".", "%2E")
        # Functions look up __import__ in the builtins of their module.
        self.builtins = vars(builtins) | {"__import__": self._import}
        self._has: dict[str, bool] = {}

    def execute(self, file: Path, stem: str) -> ModuleType:
        """Execute a file as a module that is called after it, whatever was loaded from it before."""
        import_module(self.name)
        name, number = f"{self.name}.{stem}", 1
        while name in sys.modules:
            number += 1
            name = f"{self.name}.{stem}{_AGAIN}{number}"
        self._has.clear()  # there may be new files
        spec = spec_from_loader(name, _FolderSource(name, str(file), self.builtins))
        assert spec is not None
        module = sys.modules[name] = module_from_spec(spec)
        try:
            surroundings.watch()
            surroundings.call(name, spec.loader.exec_module, module)  # type: ignore[union-attr]
        except BaseException:
            del sys.modules[name]
            raise
        return module

    def has(self, word: str) -> bool:
        """Whether ``import word`` means a module here."""
        if word not in self._has:
            self._has[word] = word not in _OURS and self._finds(word)
        return self._has[word]

    def module(self, name: str) -> ModuleType:
        """Return a module of this folder, by the name that its own code has for it."""
        return import_module(f"{self.name}.{name}")

    def _finds(self, word: str) -> bool:
        spec = PathFinder.find_spec(word, [str(self.path)])
        if spec is None or spec.loader is not None:
            return spec is not None
        # A folder without __init__.py is a package only if nothing else has its name.
        return not _is_elsewhere(word)

    def _import(
        self, name: str, globals: Any = None, locals: Any = None, fromlist: Sequence[str] | None = (), level: int = 0
    ) -> ModuleType:
        word = name.partition(".")[0]
        if level or not self.has(word):
            if not level and type(sys.modules.get(word)) is _Shared:
                raise ModuleNotFoundError(f"No module named {word!r}", name=word)
            try:
                return builtins.__import__(name, globals, locals, fromlist or (), level)
            except ModuleNotFoundError as error:
                if level or error.name != word or not self._finds(word):
                    raise
                self._has[word] = True  # it was written after the bot was loaded
        if fromlist is not None and not fromlist:  # no statement, but such as a pickle, which looks at sys.modules then
            import_module(name)
        found = builtins.__import__(f"{self.name}.{name}", globals, locals, fromlist or (), 0)
        return found if fromlist else sys.modules[f"{self.name}.{word}"]


def _is_elsewhere(word: str) -> bool:
    """Whether Python has or finds a module of this name without a bot."""
    if type(sys.modules.get(word, _FINDER)) not in (_Shared, _Finder):
        return True
    specs = (finder.find_spec(word, None) for finder in sys.meta_path if finder is not _FINDER)
    return any(spec is not None and spec.loader is not None for spec in specs)


class _FolderSource(SourceFileLoader):
    """Gives a module the builtins of its folder."""

    def __init__(self, name: str, path: str, builtins: dict[str, Any]) -> None:
        super().__init__(name, path)
        self._builtins = builtins

    def exec_module(self, module: ModuleType) -> None:
        """Execute it."""
        vars(module)["__builtins__"] = self._builtins
        super().exec_module(module)


# --- by plain names -------------------------------------------------------------------------------------------------


class _Shared(ModuleType):
    """A module by its plain name, for ``importlib``, pickles and compiled modules: each bot's code finds its own."""

    def __getattribute__(self, name: str) -> Any:
        own = object.__getattribute__(self, "__dict__")["__name__"]
        word = own.partition(".")[0]
        folder = running() or next(folder for folder in _folders.values() if folder.has(word))
        if not folder.has(word):
            raise AttributeError(f"no module named {own!r} is beside the bot", name=name)
        return getattr(folder.module(own), name)


class _SharedLoader(Loader):
    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Shared(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: each folder executes its own."""


def running() -> _Folder | None:
    """Return the folder whose code is running, innermost; None if it is not a bot's."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and _folder_of(frame) is None:
        frame = frame.f_back
    return frame and _folder_of(frame)


def _folder_of(frame: FrameType) -> _Folder | None:
    """Return the folder whose code a frame runs."""
    found = frame.f_globals.get("__builtins__")
    owner = getattr(found.get("__import__"), "__self__", None) if isinstance(found, dict) else None
    return owner if isinstance(owner, _Folder) else None


class _Finder(MetaPathFinder):
    """Finds folders, and the modules in them."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.startswith(PREFIX):
            return self._inside(fullname, path)
        word, _, more = fullname.partition(".")
        if more and type(sys.modules.get(word)) is not _Shared:
            return None
        folder = running()
        if folder is None or not folder.has(word) or (not more and _is_elsewhere(word)):
            return None
        folder.module(fullname)
        return ModuleSpec(fullname, _SharedLoader())

    def _inside(self, fullname: str, path: Sequence[str] | None) -> ModuleSpec | None:
        name, _, more = fullname.removeprefix(PREFIX).partition(".")
        folder = Path(name.replace("%2E", ".").replace("%25", "%"))
        if not more:
            spec = ModuleSpec(fullname, None, is_package=True)
            spec.submodule_search_locations = [str(folder)]
            return spec
        found = PathFinder.find_spec(fullname.partition(_AGAIN)[0], path, None)
        if found is not None and type(found.loader) is SourceFileLoader:
            loader = _FolderSource(fullname, found.loader.path, _folders.setdefault(folder, _Folder(folder)).builtins)
            return spec_from_loader(fullname, loader)
        return found


_FINDER: Final = _Finder()
sys.meta_path.insert(0, _FINDER)
