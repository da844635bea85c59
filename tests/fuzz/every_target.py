"""Every parser of untrusted input: those of all packages, and those of the gateways where they are there."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import Final

from fuzz import targets

TARGETS: Final[tuple[targets.Target, ...]] = (
    *targets.TARGETS,
    *(importlib.import_module("gateways.fuzz_targets").TARGETS if find_spec("salvo_gateways") else ()),
)
