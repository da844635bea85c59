"""The folder of a site of games: its manifest, ``site.json``, lists its files, so that nothing else is ever removed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from salvo.errors import SalvoError
from salvo.system.atomic_file import replace_file

#: The first page of a site.
INDEX: Final = "index.html"
_FORMAT: Final = 1
_MANIFEST: Final = "site.json"
_CURE: Final = "name another folder"
#: Where the games' pages are.
GAMES: Final = "games"
_FILES: Final = re.compile(rf"index\.html|{GAMES}/[A-Za-z0-9_-]+(\.html|\.jsonl\.gz|\.proof\.jsonl)")


class SiteFolder:
    """A site's folder, as a context manager that removes the files of the previous site which were not rewritten."""

    def __init__(self, path: Path) -> None:
        """Check that the folder is new or empty, or has a site of games.

        Raises:
            SalvoError: ``not_a_site``, ``html_unwritable``.
        """
        self._path = path
        self._previous = self._read_manifest()
        self._written: set[str] = set()

    def _read_manifest(self) -> set[str]:
        fix = "name an empty folder, or a new one"
        try:
            if not self._path.exists() or (self._path.is_dir() and not any(self._path.iterdir())):
                return set()
            manifest = json.loads((self._path / _MANIFEST).read_bytes())
            if manifest["form"] != _FORMAT or GAMES not in manifest:
                raise ValueError
            return {str(name) for name in manifest["files"] if _FILES.fullmatch(str(name))}
        except (FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError):
            raise SalvoError("not_a_site", f"{self._path} exists and is not a site of games; {fix}") from None
        except OSError as error:
            raise SalvoError("html_unwritable", f"{self._path}: {error.strerror}; {fix}") from None

    def __enter__(self) -> SiteFolder:
        try:
            (self._path / GAMES).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SalvoError("html_unwritable", f"{self._path}: {error.strerror}; {_CURE}") from None
        self._write_manifest(self._previous)  # an interrupted run leaves a valid site
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self._write_manifest(self._previous | self._written)
            return
        for name in self._previous - self._written:
            (self._path / name).unlink(missing_ok=True)
        self._write_manifest(self._written)

    def write(self, name: str, content: str | bytes) -> None:
        """Write a file of the site; a reader never sees half of it.

        Raises:
            SalvoError: ``html_unwritable``.
        """
        self._write(name, content)
        self._written.add(name)

    def _write_manifest(self, files: Iterable[str]) -> None:
        manifest = {"form": _FORMAT, GAMES: "", "files": sorted(files)}
        self._write(_MANIFEST, json.dumps(manifest, indent=1) + "\n")

    def _write(self, name: str, content: str | bytes) -> None:
        path = self._path / name
        try:
            replace_file(path, content.encode() if isinstance(content, str) else content)
        except OSError as error:
            raise SalvoError("html_unwritable", f"{path}: {error.strerror}; {_CURE}") from None
