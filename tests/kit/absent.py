"""A library that is not installed."""

from __future__ import annotations

import importlib.abc
from collections.abc import Sequence
from types import ModuleType


class Absent(importlib.abc.MetaPathFinder):
    """Hides a package from ``import``."""

    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if name.partition(".")[0] == self._name:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
