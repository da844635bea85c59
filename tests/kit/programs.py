"""Programs beside Python, git and make that some tests need: who needs which, where it is, how to install it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest

#: Debian's packages, by the name that ``needs`` takes.
PACKAGES: Final = {
    "mosquitto": "mosquitto",
    "postgresql": "postgresql",
    "node": "nodejs",
    "npm": "npm",
    "perl": "perl",
    "chromium": "chromium chromium-driver",
    "haproxy": "haproxy",
    "prometheus": "prometheus",
    "nginx": "nginx-light",
    "mqtt.js": "node-mqtt",
    "mosquitto_sub": "mosquitto-clients",
    "bwrap": "bubblewrap",
}
_PROGRAMS: Final = {"postgresql": "initdb", "chromium": "chromedriver", "mqtt.js": "mqtt"}
#: Not a program: some tests mount a small file system.
ROOT: Final = "root"

#: What the running test says that it needs; None outside of pytest.
declared: set[str] | None = None


def needs(name: str) -> pytest.MarkDecorator:
    """Mark a test that needs a program, so that ``make test`` leaves it out."""
    assert name in PACKAGES or name == ROOT, name
    return pytest.mark.needs(name)


#: Only for what the brokers do differently: delivery, retained messages, rights, takeover, outages.
BROKERS: Final = ["embedded", pytest.param("mosquitto", marks=needs("mosquitto"))]
on_both_brokers = pytest.mark.parametrize("broker", BROKERS, indirect=True)


def path_of(name: str, program: str = "") -> str:
    """Return a program's path; a test that did not declare the need fails, wherever it runs."""
    assert declared is None or name in declared, f"mark this test with needs({name!r})"
    found = _find(program or name)
    assert found is not None, install_line({name})
    return found


def install_line(names: Iterable[str]) -> str:
    """Return the command that installs these on Debian."""
    return "apt-get install " + " ".join(PACKAGES[name] for name in PACKAGES if name in names)


def absent() -> list[str]:
    """Return what of them is not installed."""
    return [name for name in PACKAGES if _find(_PROGRAMS.get(name, name)) is None]


def main() -> None:
    """End with an error where something is missing that ``make check`` needs: it skips nothing."""
    if missing := absent():
        sys.exit(f"{', '.join(missing)} missing, which some tests need: {install_line(missing)}")
    if os.getuid():
        sys.exit("some tests mount a small file system, which needs root")


def _find(program: str) -> str | None:
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return shutil.which(program, path=":".join([os.environ["PATH"], "/usr/sbin", *map(str, folders)]))


if __name__ == "__main__":
    main()
