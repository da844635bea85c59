"""Build what a release publishes, twice, from the last commit: ``make dist``.

In ``dist/``: the wheel, the source distribution, the npm package, an SBOM of what the server's image installs
(CycloneDX), and the SHA-256 of each. Both builds start from a copy of the commit in a folder of its own and have to be
the same, byte for byte. Times inside are the commit's.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
DIST: Final = ROOT / "dist"
JAVASCRIPT: Final = Path("client_sdk/javascript")
SUMS: Final = "SHA256SUMS"
_SBOM: Final = "battleship-salvo.cdx.json"


def git(*words: str) -> bytes:
    """Return what a git command prints."""
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True).stdout


def build(commit: str, folder: Path) -> Path:
    """Build wheel, source distribution and npm package from a commit; return the folder that has them."""
    source, built = folder / "source", folder / "built"
    with tarfile.open(fileobj=BytesIO(git("archive", commit))) as archive:
        archive.extractall(source, filter="data")
    environment = {**os.environ, "SOURCE_DATE_EPOCH": git("log", "-1", "--format=%ct", commit).decode().strip()}
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(built), str(source)]
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    for words in (("ci", "--no-audit", "--no-fund"), ("pack", "--pack-destination", str(built))):
        subprocess.run(["npm", *words, "--silent"], cwd=source / JAVASCRIPT, stdout=subprocess.DEVNULL, check=True)
    _write_sbom(source, built / _SBOM)
    return built


def _write_sbom(source: Path, path: Path) -> None:
    program = Path(sysconfig.get_path("scripts")) / "cyclonedx-py"
    what = ["requirements", "server/requirements.lock", "--pyproject", "pyproject.toml", "--output-reproducible"]
    subprocess.run([program, *what, "--output-file", path], cwd=source, stderr=subprocess.DEVNULL, check=True)


def sums(folder: Path) -> str:
    """Return the SHA-256 of every file of a folder, as ``sha256sum --check`` reads them."""
    files = sorted(folder.iterdir())
    return "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files)


def main() -> int:
    """Build twice, compare, and put one into ``dist/``; 1 if they differ."""
    if git("status", "--porcelain"):
        print("built from the last commit, without what is not committed", file=sys.stderr)
    commit = git("rev-parse", "HEAD").decode().strip()
    with tempfile.TemporaryDirectory() as folder:
        first, second = (build(commit, Path(folder) / name) for name in ("first", "second"))
        found, again = sums(first), sums(second)
        if found != again:
            print(f"two builds differ:\n{found}{again}", file=sys.stderr)
            return 1
        shutil.rmtree(DIST, ignore_errors=True)
        shutil.copytree(first, DIST)
    (DIST / SUMS).write_text(found)
    print(found, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
