"""The folder of a static site: its manifest, ``site.json``, lists its files, so that nothing else is ever removed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from salvo.atomic_file import replace_file
from salvo.errors import SalvoError

#: The first page of a site.
INDEX: Final = "index.html"
_FORMAT: Final = 1
_MANIFEST: Final = "site.json"
_CURE: Final = "name another folder"


class Kind(NamedTuple):
    """What a site is of.

    Attributes:
        of: the word in the manifest before its name.
        files: matches the names of its files, except the manifest.
        folders: those inside.
    """

    of: str
    files: re.Pattern[str]
    folders: tuple[str, ...]


class SiteFolder:
    """A site's folder, as a context manager that removes the files of the previous site which were not rewritten."""

    def __init__(self, path: Path, kind: Kind, name: str) -> None:
        """Check that the folder is new or empty, or has a site of this kind and name.

        Raises:
            SalvoError: ``not_a_site``, ``html_unwritable``.
        """
        self._path = path
        self._kind = kind
        self._name = name
        self._previous = self._read_manifest()
        self._written: set[str] = set()

    def _read_manifest(self) -> set[str]:
        fix = "name an empty folder, or a new one"
        of = self._kind.of
        try:
            if not self._path.exists() or (self._path.is_dir() and not any(self._path.iterdir())):
                return set()
            manifest = json.loads((self._path / _MANIFEST).read_bytes())
            if manifest["form"] != _FORMAT:
                raise ValueError
            name, files = manifest[of], [str(name) for name in manifest["files"]]
        except (FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError):
            raise SalvoError("not_a_site", f"{self._path} is there and is no site of a {of}; {fix}") from None
        except OSError as error:
            raise SalvoError("html_unwritable", f"{self._path}: {error.strerror}; {fix}") from None
        if name != self._name:
            text = f"{self._path} is the site of another {of}, {name!r:.100}"
            raise SalvoError("not_a_site", f"{text}, not of {self._name!r:.100}; {fix}")
        return {name for name in files if self._kind.files.fullmatch(name)}

    def __enter__(self) -> SiteFolder:
        try:
            for name in ("", *self._kind.folders):
                (self._path / name).mkdir(parents=True, exist_ok=True)
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
        manifest = {"form": _FORMAT, self._kind.of: self._name, "files": sorted(files)}
        self._write(_MANIFEST, json.dumps(manifest, indent=1) + "\n")

    def _write(self, name: str, content: str | bytes) -> None:
        path = self._path / name
        try:
            replace_file(path, content.encode() if isinstance(content, str) else content)
        except OSError as error:
            raise SalvoError("html_unwritable", f"{path}: {error.strerror}; {_CURE}") from None
