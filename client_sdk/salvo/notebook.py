"""What a notebook shows as a picture; :mod:`salvo.lab.notebook_html` alone decides how it looks."""

from __future__ import annotations

import importlib
from typing import Final

#: Loaded by its name when somebody looks, so ``import salvo`` stays quick, and what has a picture imports no drawing.
_PAGES: Final = "salvo.lab.notebook_html"


class Pictured:
    """Has a picture in a notebook."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Return the picture for a notebook's cell."""
        return str(importlib.import_module(_PAGES).page_of(self))
