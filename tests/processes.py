"""Programs that tests start: whatever becomes of the test, none is left, and none of its pipes is open."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


@contextmanager
def started(command: Sequence[str], **given: Any) -> Iterator[subprocess.Popen[str]]:
    """Run a program beside a test, and kill it at the end if it is there still.

    Left to the garbage collector it would be a warning, and so a failure, of whatever test is on by then.
    """
    with subprocess.Popen(command, text=True, **given) as process:
        try:
            yield process
        finally:
            process.kill()
