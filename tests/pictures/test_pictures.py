"""The pictures of the documents are of this version, light enough for a page, and all of them are shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kit.documents import ROOT
from pictures.game import Film
from pictures.make import FILM, FOLDER
from pictures.tree import topic_tree

_DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_the_drawn_game_is_that_of_this_version() -> None:
    drawn = Film(*FILM).svg()
    assert (FOLDER / "game.svg").read_text(encoding="utf-8") == drawn, "make pictures"


@pytest.mark.slow  # on a busy machine a later count of hits can overtake what else an explorer reads of a salvo
def test_the_drawn_topics_are_those_of_this_version() -> None:
    assert (FOLDER / "topics.svg").read_text(encoding="utf-8") == topic_tree(), "make pictures"


def test_every_picture_is_shown_and_is_there_and_is_light() -> None:
    shown: set[Path] = set()
    for document in _DOCUMENTS:
        for place in re.findall(r"!\[[^]]+\]\(([^)]+)\)", document.read_text(encoding="utf-8")):
            shown.add((document.parent / place).resolve())
    assert {picture for picture in shown if picture.parent == FOLDER} == set(FOLDER.iterdir())
    assert all(picture.stat().st_size < 1_000_000 for picture in shown)
