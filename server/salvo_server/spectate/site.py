"""Static sites: their folders, and the site of the games of an evening.

index.html              the list, which a script filters
games/ID.html           the page of a game
games/ID.jsonl.gz       its transcript, and games/ID.proof.jsonl its proof where there is one
site.json               the manifest: which files these are, so that nothing else is ever removed
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, NamedTuple

from salvo.errors import SalvoError
from salvo_server.spectate.archive import Archive, Entry, transcript_of
from salvo_server.spectate.page import Setting, html_page
from salvo_server.spectate.page.games import note_page, site_list
from salvo_server.storage.atomic_file import replace_file
from salvo_server.storage.transcript_folder import PROOF

#: The first page of a site.
INDEX: Final = "index.html"
#: What a page says of a game that was executed for it.
CHECKED: Final = "executed again: every announcement agrees"
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


_GAMES: Final = Kind(
    "games", re.compile(r"index\.html|games/[A-Za-z0-9_-]+(\.html|\.jsonl\.gz|\.proof\.jsonl)"), ("games",)
)


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


def make_site_of_games(
    archive: Archive, folder: Path, title: str, progress: Callable[[int], None] = lambda done: None
) -> list[Entry]:
    """Write or rewrite the site of an archive's games, as of its last look; return its list.

    Every file is replaced atomically, the first page last. A game that cannot be executed has no page, and the list
    says so.

    Args:
        progress: called with the number of games written so far.

    Raises:
        SalvoError: ``not_a_site``: there is something else in the folder; ``html_unwritable``: it cannot be written.
    """
    games = [entry for entry in archive.listed if entry.id]
    neighbours = zip([None, *games], games, [*games[1:], None], strict=False)
    listed: dict[str, Entry] = {}
    with SiteFolder(folder, _GAMES, "") as site:
        for done, (later, entry, earlier) in enumerate(neighbours, start=1):
            links = [(title, f"../{INDEX}")]
            links += [("Game before", f"{earlier.id}.html")] if earlier else []
            links += [("Next game", f"{later.id}.html")] if later else []
            listed[entry.id] = _write_game(archive, site, entry, links)
            progress(done)
        whole = [listed.get(entry.id, entry) for entry in archive.listed]
        site.write(INDEX, site_list(whole, title))
    return whole


def _write_game(archive: Archive, site: SiteFolder, entry: Entry, links: list[tuple[str, str]]) -> Entry:
    """Write a game's files; return what the list has of it."""
    name = f"games/{entry.id}"
    try:
        replay, proof = archive.replay(entry.id), archive.proof(entry.id)
    except SalvoError as error:
        text = f"{error.code}: its record cannot be executed; salvo replay --check says where."
        site.write(f"{name}.html", note_page("This game cannot be shown", text, links))
        return entry._replace(id="", trouble=error.code)
    links += [("Transcript", f"{entry.id}.jsonl.gz"), *([("Proof", f"{entry.id}{PROOF}")] if proof else [])]
    site.write(f"{name}.html", html_page(replay, setting=Setting(links=links, checked=CHECKED)))
    site.write(f"{name}.jsonl.gz", transcript_of(replay))
    if proof is not None:
        site.write(f"{name}{PROOF}", proof.read_bytes())
    return entry
