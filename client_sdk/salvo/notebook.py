"""Objects that a notebook shows as pictures; :mod:`salvo_lab.notebook_html` decides how they look."""

from __future__ import annotations

import importlib
from typing import Final

#: Loaded by name on first display, so that ``import salvo`` stays quick and these objects import no drawing code.
_PAGES: Final = "salvo_lab.notebook_html"


class Pictured:
    """Has a picture in a notebook."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Return the picture for a notebook's cell."""
        return str(importlib.import_module(_PAGES).page_of(self))
