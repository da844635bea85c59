"""The pictures of the documents are of this version, light enough for a page, and all of them are shown."""

from __future__ import annotations

import re
from pathlib import Path

from kit.documents import ROOT
from pictures.make import FOLDER, drawings

_DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_the_drawn_pictures_are_those_of_this_version() -> None:
    drawn = drawings()
    assert {name: (FOLDER / name).read_text(encoding="utf-8") for name in drawn} == drawn, "make pictures"


def test_every_picture_is_shown_and_is_there_and_is_light() -> None:
    shown: set[Path] = set()
    for document in _DOCUMENTS:
        for place in re.findall(r"!\[[^]]+\]\(([^)]+)\)", document.read_text(encoding="utf-8")):
            shown.add((document.parent / place).resolve())
    assert {picture for picture in shown if picture.parent == FOLDER} == set(FOLDER.iterdir())
    assert all(picture.stat().st_size < 1_000_000 for picture in shown)
