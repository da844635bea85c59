"""Tests run on a copy of the code with one error in it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Self

#: A mutant that hangs is killed. Others may take so many times as long as the code as it is, on a busy machine.
PATIENCE: Final = 5
MIN_SECONDS: Final = 30.0
_LEFT_BEHIND: Final = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", ".hypothesis")
_PYTEST: Final = (sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider")


class Copy:
    """A copy of the tree, in which one error at a time is planted.

    Args:
        root: of the tree.
        sources: folders in it that Python imports from.
    """

    def __init__(self, root: Path, sources: Sequence[str]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="mutants-")
        self.root = Path(self._folder.name, "tree")
        self._sources = sources
        self._running: subprocess.Popen[str] | None = None
        self._stamp = 0
        shutil.copytree(root, self.root, ignore=_LEFT_BEHIND)
        paths = os.pathsep.join(str(self.root / each) for each in sources)
        self._environment = {**os.environ, "PYTHONPATH": paths}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._folder.cleanup()

    def check(self, files: Sequence[str], tests: Sequence[str]) -> float:
        """Return the seconds that tests take without an error.

        Raises:
            ValueError: they fail, or they do not import the copy.
        """
        for file in files:
            self._check_import(file)
        self.run(tests, 600)  # the first run compiles
        began = time.monotonic()
        if killer := self.run(tests, 600):
            raise ValueError(f"{killer} fails without any error")
        return time.monotonic() - began

    def _check_import(self, file: str) -> None:
        source = next(each for each in self._sources if file.startswith(f"{each}/"))
        module = file.removeprefix(f"{source}/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        asked = f"from importlib.util import find_spec; print(find_spec({module!r}).origin)"
        found = subprocess.run(
            [sys.executable, "-c", asked], env=self._environment, cwd=self.root, capture_output=True, text=True
        ).stdout.strip()
        if Path(found).resolve() != (self.root / file).resolve():
            raise ValueError(f"{module} is imported from {found or 'nowhere'} and not from the copy")

    def try_out(self, file: str, text: str, tests: Sequence[str], seconds: float) -> str:
        """Run tests with another text of a module, as :meth:`run` does; without an error they take ``seconds``.

        Raises:
            ValueError: what failed fails with the module as it is, too: by luck, or because the machine is too busy.
        """
        path = self.root / file
        original = path.read_text()
        limit = max(MIN_SECONDS, PATIENCE * seconds)
        self._write(path, text)
        try:
            killer = self.run(tests, limit)
        finally:
            self._write(path, original)
        if killer and self.run([killer] if ".py" in killer else tests, limit):
            raise ValueError(f"{killer} fails without any error, though not always")
        return killer

    def _write(self, path: Path, text: str) -> None:
        """Write a module at a time of its own, else its bytecode is taken for that of the last one of its length."""
        path.write_text(text)
        self._stamp += 1
        os.utime(path, (self._stamp, self._stamp))

    def run(self, tests: Sequence[str], seconds: float) -> str:
        """Run tests until one fails; return it, or "hung" if they do not end in time, or "" if all pass."""
        command = [*_PYTEST, *tests]
        with subprocess.Popen(
            command,
            cwd=self.root,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as self._running:
            try:
                output, _ = self._running.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                self.stop()
                return "hung"
            except BaseException:
                self.stop()
                raise
            if not self._running.returncode:
                return ""
            summary = output.rpartition("short test summary info")[2]
            failed = re.search(r"^(?:FAILED|ERROR) ([^\s\[]+(?:\[.*?\])?)(?= - |$)", summary, re.MULTILINE)
            return failed[1] if failed else "the import"

    def stop(self) -> None:
        """End what runs, with all that it has started."""
        if self._running is not None and self._running.returncode is None:
            os.killpg(self._running.pid, signal.SIGKILL)
