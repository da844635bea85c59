"""What takes a defence away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Patch = pytest.MonkeyPatch


def without(*defence: Any) -> Callable[[Patch], None]:
    """Return what puts something else in the place of a defence, as in ``without(Class, "method", instead)``."""
    return lambda patch: patch.setattr(*defence)
