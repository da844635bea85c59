"""This very version as a wheel, so that a room needs no package index for us.

An installed package has no source tree to build from (which is what the library ``build`` needs), but its files and its
metadata are what a wheel is: a zip of both with a list of their hashes.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from functools import cache
from importlib.metadata import Distribution, distribution
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from typing import Final, NamedTuple

from salvo.system.distribution import NAME, PACKAGES

_ABOUT: Final = "Wheel-Version: 1.0\nGenerator: salvo\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
#: Of a zip, which knows no earlier date: the same files make the same wheel.
_DATE: Final = (1980, 1, 1, 0, 0, 0)


class Wheel(NamedTuple):
    """A wheel: the name of its file, and its bytes."""

    name: str
    content: bytes


@cache
def wheel() -> Wheel:
    """Return the installed version as a wheel."""
    installed = distribution(NAME)
    stem = f"{NAME.replace('-', '_')}-{installed.version}"
    entries: list[tuple[str, bytes]] = [*_sources(), *_metadata(installed, f"{stem}.dist-info")]
    record = "".join(f"{name},sha256={_hash(content)},{len(content)}\n" for name, content in entries)
    record_name = f"{stem}.dist-info/RECORD"
    entries.append((record_name, f"{record}{record_name},,\n".encode()))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            entry = zipfile.ZipInfo(name, _DATE)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, content)
    return Wheel(f"{stem}-py3-none-any.whl", packed.getvalue())


def _sources() -> Iterator[tuple[str, bytes]]:
    for package in filter(find_spec, PACKAGES):
        yield from _walk(files(package), package)


def _walk(folder: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    for entry in sorted(folder.iterdir(), key=lambda found: found.name):
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _walk(entry, f"{path}/{entry.name}")
        elif entry.is_file() and not entry.name.endswith((".pyc", ".pyo")):
            yield f"{path}/{entry.name}", entry.read_bytes()


def _metadata(installed: Distribution, folder: str) -> Iterator[tuple[str, bytes]]:
    for name in ("METADATA", "entry_points.txt", "licenses/LICENSE"):
        text = installed.read_text(name)
        if text is not None:
            yield f"{folder}/{name}", text.encode()
    yield f"{folder}/WHEEL", _ABOUT.encode()


def _hash(content: bytes) -> str:
    return urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
