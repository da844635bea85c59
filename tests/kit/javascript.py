"""The JavaScript SDK as authors have it: packed by npm, and installed where bots are."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

import pytest

from kit.programs import path_of

ROOT: Final = Path(__file__).parents[2]
PACKAGE: Final = ROOT / "client_sdk" / "javascript"
#: No question of the registry that the installation does not need.
QUIETLY: Final = ("--prefer-offline", "--no-audit", "--no-fund")
EXAMPLE: Final = ROOT / "examples" / "three_lines.js"


def run(folder: Path, program: str, *words: str) -> str:
    """Run a program that has to succeed; what it prints."""
    done = subprocess.run([path_of(program), *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def install(checkout: Path, folder: Path) -> None:
    """Pack a copy of the SDK, whose types are checked with that, and install the package in an empty folder.

    Args:
        checkout: where the copy is made, beside the specification, so that what npm installs is in no checkout.
    """
    (checkout / "proto").symlink_to(ROOT / "proto")
    (checkout / "docs").symlink_to(ROOT / "docs")
    copy = copy_in(checkout)
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("node_modules", "types"))
    run(copy, "npm", "ci", *QUIETLY)
    run(copy, "npm", "pack", "--pack-destination", str(folder))
    (folder / "package.json").write_text('{"type": "module"}')
    [package] = folder.glob("*.tgz")
    run(folder, "npm", "install", *QUIETLY, f"./{package.name}")


def copy_in(checkout: Path) -> Path:
    """Return where the copy of the SDK is."""
    return checkout / "client_sdk" / "javascript"


def installed(factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return checkout and folder of :func:`install`, which one worker does for all of a run."""
    base = factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "javascript"
    checkout, folder, done = shared / "checkout", shared / "bots", shared / "done"
    shared.mkdir(exist_ok=True)
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            checkout.mkdir()
            folder.mkdir()
            install(checkout, folder)
            done.touch()
    return checkout, folder


def in_one_file(factory: pytest.TempPathFactory, file: Path, platform: str) -> Path:
    """Bundle a bot or the script of a page with the SDK, as authors do; return the file, which is beside it."""
    bundle = file.with_suffix(".bundle.mjs")
    words = ("--bundle", "--format=esm", f"--platform={platform}", f"--outfile={bundle}")
    run(copy_in(installed(factory)[0]), "npm", "exec", "--no", "--", "esbuild", str(file), *words)
    return bundle


def bot_of_three_lines(factory: pytest.TempPathFactory) -> Path:
    """Write the example into a folder of its own, where the package is installed."""
    file = Path(tempfile.mkdtemp(dir=installed(factory)[1])) / "mybot.js"
    file.write_text(EXAMPLE.read_text())
    return file
