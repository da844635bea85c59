"""What takes a defence away."""

from __future__ import annotations

import pytest

Patch = pytest.MonkeyPatch
