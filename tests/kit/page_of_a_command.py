"""A page that a command serves to its person, in a real browser."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit

from kit import moved_clock
from kit.browser import Browser, until
from kit.processes import started

#: The browser that a person has named; here it passes on what it was to open.
_OPENER = "#!/bin/sh\necho \"$1\" > '{}'\n"
_SECONDS = 120.0


@contextlib.contextmanager
def sitting(
    window: Browser, folder: Path, *words: str, title: str = "Setup", **variables: str
) -> Iterator[subprocess.Popen[str]]:
    """Start a command with ``--browser``; its page is open in the window.

    Args:
        variables: its environment, which may have that of :mod:`kit.moved_clock`.
    """
    pipe, opener = folder / "opened", folder / "opener"
    os.mkfifo(pipe)
    opener.write_text(_OPENER.format(pipe))
    opener.chmod(0o755)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SALVO_")}
    environment |= {"BROWSER": str(opener), "SALVO_SECRET": "of-mine", "XDG_STATE_HOME": str(folder / "state")}
    environment |= variables
    program = [moved_clock.__file__] if moved_clock.VARIABLE in variables else ["-m", "salvo"]
    command = [sys.executable, *program, *words, "--browser"]
    given = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment}
    with started(command, **given) as process, open(os.open(pipe, os.O_RDWR), "rb", 0) as opened:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert urlsplit(address).hostname == "127.0.0.1"
        assert select.select([opened], [], [], _SECONDS)[0]
        assert opened.readline().decode().strip() == address
        window.open(address)
        until(window, f"document.title.startsWith({json.dumps(title)})")
        assert window.run("return location.hash") == ""
        yield process


def faults(window: Browser) -> list[object]:
    """What axe finds on the page as it is."""
    window.run(files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    window.run("window.found = null; axe.run().then(all => (window.found = all.violations))")
    until(window, "window.found")
    found = window.run("return found.map(v => [v.id, v.nodes[0].html.slice(0, 200), v.nodes[0].failureSummary])")
    assert isinstance(found, list)
    return found
