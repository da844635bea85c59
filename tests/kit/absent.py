"""A library that is not installed: ``hide("textual", monkeypatch)``; what is imported already stays so."""

from __future__ import annotations

import importlib.abc
import sys
from collections.abc import Sequence
from types import ModuleType

import pytest


class _Absent(importlib.abc.MetaPathFinder):
    """Hides a package from ``import``."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.hides = False

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if self.hides and name.partition(".")[0] == self.name:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def hide(package: str, patch: pytest.MonkeyPatch) -> None:
    """Hide a package until the patch is undone.

    The list of finders is changed in place: a copy that is put back would lose those that packages add meanwhile.
    """
    finder = _Absent(package)
    sys.meta_path.insert(0, finder)
    patch.setattr(finder, "hides", True)
