"""What a notebook shows as a picture. How that looks is the business of :mod:`salvo.pages`, and of nobody here."""

from __future__ import annotations

import importlib
from typing import Final

#: Loaded by its name when somebody looks, so ``import salvo`` stays quick, and what has a picture imports no drawing.
_PAGES: Final = "salvo.pages"


class Pictured:
    """Has a picture in a notebook."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Return the picture for a notebook's cell."""
        return str(importlib.import_module(_PAGES).page_of(self))
