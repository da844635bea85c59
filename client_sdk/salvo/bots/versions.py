"""Versions of a bot, from git (``HEAD:mybot.py``) or another machine: a copy of its file's folder.

So old code plays with its old helpers and weights. Versions are stored under ``~/.cache/salvo/versions``
(``XDG_CACHE_HOME``), named after their content, so that a command plays the same version tomorrow, until it has not
been used for 90 days.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping
from importlib.machinery import all_suffixes
from pathlib import Path
from typing import Final

from salvo.errors import BotError
from salvo.system.user_folders import private_folder, user_folder

#: For one version; a larger folder is not a bot's.
MAX_FILES: Final = 1000
MAX_BYTES: Final = 20_000_000
#: A version that was not used for this long is deleted.
FORGOTTEN_SECONDS: Final = 90 * 86_400
#: How files of code end, compiled ones included.
_CODE: Final = tuple(all_suffixes())
#: Neither ``exec:./bot.py`` nor ``C:bot.py``.
_IN_GIT: Final = re.compile(r"(?!exec:|sandbox:|.*\.py:)(?P<revision>@|[^:]{2,}):(?P<file>.+\.py)")


def split(source: str) -> tuple[str, str]:
    """Split ``file.py:Name`` into file and name; the name may be empty."""
    file, _, name = source.rpartition(":") if ".py:" in source else (source, "", "")
    return file, name


def revision_of(file: str) -> tuple[str, str]:
    """Split ``REVISION:file.py`` into revision and file; the revision is empty for a plain file."""
    found = _IN_GIT.fullmatch(file)
    return (found["revision"], found["file"]) if found and not Path(file).is_file() else ("", file)


def path_of(file: str) -> Path:
    """Return the path of a file, or of a version of it, which is extracted from git.

    Raises:
        BotError: ``bad_version``: no git, no repository, no such revision or file, or too much in the folder.
    """
    revision, plain = revision_of(file)
    return _from_git(revision, Path(plain)) if revision else Path(file)


def pinned(source: str) -> str:
    """Return a source with the commit in place of a revision, which may change its meaning.

    Raises:
        BotError: ``bad_version``.
    """
    file, name = split(source)
    revision, plain = revision_of(file)
    if not revision:
        return source
    folder = Path(plain).parent
    commit = _git(folder, "rev-parse", "--short", _commit(folder, revision)).decode().strip()
    return f"{commit}:{plain}" + (f":{name}" if name else "")


def contents_of(folder: Path) -> dict[str, bytes]:
    """Return all files of a folder and of those in it, by path in it, but for hidden and compiled ones.

    Raises:
        BotError: ``bad_version``: more than 1,000 files or 20 MB.
    """
    found: list[Path] = []
    for path, folders, files in os.walk(folder, followlinks=True):
        folders[:] = sorted(name for name in folders if name[0] != "." and name != "__pycache__")
        found += (Path(path, name) for name in sorted(files) if name[0] != ".")
        _check(folder, len(found), 0)
    _check(folder, len(found), sum(file.stat().st_size for file in found))
    try:
        return {str(file.relative_to(folder)): file.read_bytes() for file in found}
    except OSError as error:
        raise BotError("bad_version", f"{error.filename}: {error.strerror}") from None


def code_files(folder: Path) -> Iterator[Path]:
    """Yield the code of a folder, also compiled, and of the packages in it, by name; none if there is no folder."""
    try:
        with os.scandir(folder) as found:
            entries = sorted((entry for entry in found if entry.name[0] != "."), key=lambda entry: entry.name)
    except FileNotFoundError:
        return
    for entry in entries:
        if entry.name.endswith(_CODE):
            if entry.is_file():
                yield Path(entry.path)
        elif entry.is_dir(follow_symlinks=False) and _is_package(entry.path):
            yield from code_files(Path(entry.path))


def _is_package(folder: str) -> bool:
    """Whether a folder has code directly in it; one without, such as a virtual environment, is not looked through."""
    if not os.path.basename(folder).isidentifier() or os.path.basename(folder) == "__pycache__":
        return False
    with contextlib.suppress(OSError), os.scandir(folder) as found:
        return any(entry.name.endswith(_CODE) for entry in found)
    return False


def _check(folder: Path, files: int, size: int) -> None:
    if files > MAX_FILES or size > MAX_BYTES:
        raise BotError(
            "bad_version",
            f"{files:,} files, {size / 1e6:,.1f} MB, in {folder}; a version has at most {MAX_FILES:,} and "
            f"{MAX_BYTES / 1e6:g} MB: put the bot into a folder of its own",
        )


def keep_content(contents: Mapping[str, bytes]) -> Path:
    """Return the folder of a version, by the path of each file in it; it is either complete or absent.

    Raises:
        BotError: ``bad_version``: no place to keep it.
    """
    home = user_folder("XDG_CACHE_HOME", ".cache", "versions of bots") / "versions"
    version = home / _digest(contents)
    try:
        if not version.is_dir():
            private_folder(home.parent)
            private_folder(home)
            _forget(home)
            part = Path(tempfile.mkdtemp(dir=home, prefix="part-"))
            for name, data in contents.items():
                (part / name).parent.mkdir(parents=True, exist_ok=True)
                (part / name).write_bytes(data)
            try:
                part.rename(version)
            except OSError:  # another process was quicker
                shutil.rmtree(part)
                if not version.is_dir():
                    raise
        os.utime(version)
    except OSError as error:
        raise BotError(
            "bad_version", f"{error.filename}: {error.strerror}; XDG_CACHE_HOME names a folder for versions"
        ) from None
    return version


def _forget(home: Path) -> None:
    for version in home.iterdir():
        with contextlib.suppress(FileNotFoundError):
            if time.time() - version.stat().st_mtime > FORGOTTEN_SECONDS:
                shutil.rmtree(version, ignore_errors=True)


def _digest(contents: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, data in sorted(contents.items()):
        digest.update(f"\n{name} {len(data)}\n".encode("utf-8", "surrogateescape") + data)
    return digest.hexdigest()[:16]


# --- git ----------------------------------------------------------------------------------------------------------


def _from_git(revision: str, file: Path) -> Path:
    folder = file.parent.absolute()
    commit = _commit(folder, revision)
    found = _git(folder, "rev-parse", "--show-toplevel", "--show-prefix").splitlines()
    top, prefix = Path(os.fsdecode(found[0])), os.fsdecode(found[1]).rstrip("/")
    tree = f"{commit}:{prefix}"
    if prefix and not _git(top, "ls-tree", "-d", commit, prefix):
        raise BotError("bad_version", f"no folder {prefix} in revision {revision!r}")
    listed = _git(top, "ls-tree", "-r", "-z", "--long", tree).split(b"\0")[:-1]
    names = [os.fsdecode(line.partition(b"\t")[2]) for line in listed]
    if file.name not in names:
        raise BotError(
            "bad_version",
            f"no file {file} in revision {revision!r}; files are as seen from here, not from the repository's top",
        )
    _check(folder, len(listed), sum(int(line.split()[3]) for line in listed if line.split()[3].isdigit()))
    return keep_content(dict(_unpacked(_git(top, "archive", "--format=tar", tree)))) / file.name


def _commit(folder: Path, revision: str) -> str:
    """Return the name of a commit."""
    if not folder.is_dir():
        raise BotError("bad_version", f"no folder {folder}; a version in git is REVISION:file.py, as seen from here")
    _git(folder, "rev-parse", "--git-dir")
    try:
        found = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    except BotError:
        raise BotError(
            "bad_version",
            f"no revision {revision!r} in the git repository of {folder.absolute()}; give HEAD, HEAD~1, a branch, tag "
            "or a commit",
        ) from None
    return found.decode().strip()


def _unpacked(archive: bytes) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            with contextlib.suppress(KeyError):  # a link to something outside
                if (inside := tar.extractfile(member)) is not None:
                    yield member.name, inside.read()


def _git(folder: Path, *words: str) -> bytes:
    try:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, check=False)
    except FileNotFoundError:
        raise BotError("bad_version", "no program git; REVISION:file.py is a version that git has") from None
    if done.returncode:
        errors = done.stderr.decode(errors="replace").strip().splitlines() or [f"exit code {done.returncode}"]
        text = errors[0].removeprefix("fatal: ")
        if "not a git repository" in text:
            text = "is in no git repository; REVISION:file.py is a version that git has"
            raise BotError("bad_version", f"{folder.absolute()} {text}")
        raise BotError("bad_version", f"git {words[0]} in {folder.absolute()}: {text}")
    return done.stdout
