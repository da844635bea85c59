"""The rows of the contract's access matrix."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

README = Path(__file__).parents[2] / "proto" / "README.md"


def rows() -> Iterator[tuple[str, str, str]]:
    """Topic (without its table), publisher and reader, as the contract prints them."""
    table = README.read_text().partition("<!-- topics -->")[2].partition("<!-- /topics -->")[0]
    for line in table.splitlines():
        found = re.match(r"\| `\{T\}(\S+)` \| (\w+) \| (\w+) \| ", line)
        if found:
            yield found[1].replace("<p>", "red").replace("<ship>", "carrier"), found[2], found[3]


ROWS = list(rows())
