"""Install the wheel of ``dist/`` into empty environments, and play: ``make wheel-test``.

For each Python that is here (of 3.11, 3.12 and 3.13; a missing one is named) and for the base and two extras: a new
environment, ``pip install``, the commands a newcomer begins with, and ``pip uninstall``, which leaves nothing. The
table has the seconds from ``pip install`` to the end of the first game.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from release.dist import DIST

_PYTHONS: Final = ("3.11", "3.12", "3.13")
_EXTRAS: Final = ("", "server", "terminal")
_BOT: Final = """import salvo


@salvo.bot
def fire(view):
    return view.untouched.sample(view.shots)


salvo.run(fire)
"""


def pythons() -> Iterator[tuple[str, str]]:
    """Yield every version with the program that runs it."""
    for version in _PYTHONS:
        several = sorted(Path.home().glob(f".pyenv/versions/{version}*/bin/python3"))
        for name in (f"python{version}", *map(str, several)):
            found = shutil.which(name)
            if found and _runs(found, version):
                yield version, found
                break
        else:
            print(f"no Python {version} here", file=sys.stderr)


def _runs(program: str, version: str) -> bool:
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([program, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() == version


def first_game(program: str, wheel: Path, extra: str) -> tuple[float, float, float]:
    """Return the seconds of the installation, until the first game was over, and the environment's megabytes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([program, "-m", "venv", folder / "v"], check=True)
        python, salvo = folder / "v/bin/python", folder / "v/bin/salvo"
        (folder / "mybot.py").write_text(_BOT)
        begin = time.perf_counter()
        what = f"battleship-salvo[{extra}] @ {wheel.as_uri()}" if extra else str(wheel)
        _run(folder, python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", what)
        installed = time.perf_counter() - begin
        assert "wins after" in _run(folder, python, "mybot.py")
        played = time.perf_counter() - begin
        size = sum(file.stat().st_size for file in (folder / "v").rglob("*") if file.is_file()) / 1e6
        _run(folder, python, "-m", "pip", "check")
        assert str(folder) in _run(folder, python, "-m", "salvo", "--version")
        assert "winner" in _run(folder, salvo, "play", "mybot.py", "hunter", "--seed", "7")
        if extra == "server":
            assert "winner" in _run(folder, salvo, "demo")
        _run(folder, python, "-m", "pip", "uninstall", "--quiet", "--yes", "battleship-salvo")
        assert not [path for path in (folder / "v").rglob("*") if "salvo" in path.name]
        return installed, played, size


def _run(folder: Path, *words: str | Path) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SALVO_", "PYTHON"))}
    done = subprocess.run(words, cwd=folder, env=clean, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, words))}: {done.stdout}{done.stderr}"
    return done.stdout


def main() -> int:
    """Print the table; an assertion says what does not work."""
    [wheel] = DIST.glob("*.whl")
    print("| Python | extra | installed, s | first game, s | MB |\n|---|---|---|---|---|")
    for version, program in pythons():
        for extra in _EXTRAS:
            installed, played, size = first_game(program, wheel, extra)
            print(f"| {version} | {extra or 'none'} | {installed:.1f} | {played:.1f} | {size:.0f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
