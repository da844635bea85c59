"""A package of somebody else's, that of docs/plugins.md: installed, used, broken, and uninstalled without a trace."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from kit.documents import ROOT, blocks

[PROJECT, CODE] = [block.text for block in blocks(ROOT / "docs" / "plugins.md")]
pytestmark = pytest.mark.long


class Environment:
    """An environment with Salvo as it is installed here."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder)
        self._python = folder / "bin" / "python"
        self.site = Path(self._run("-c", "import sysconfig; print(sysconfig.get_path('purelib'))").stdout.strip())
        (self.site / "salvo_is_here.pth").write_text(
            f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
        )

    def _run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([self._python, *words], capture_output=True, text=True, check=False)

    def pip(self, *words: str) -> None:
        command = [sys.executable, "-m", "pip", "--python", str(self._python), "--disable-pip-version-check", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def salvo(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self._run("-m", "salvo", *words)

    def files(self) -> set[Path]:
        return {path for path in self.site.rglob("*") if path.suffix != ".pyc" and path.name != "__pycache__"}


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return Environment(tmp_path / "venv")


def built(folder: Path) -> Path:
    """Build the package as its build backend would, which is not installed here: a module and its metadata."""
    project = tomllib.loads(PROJECT)["project"]
    name, version = project["name"], project["version"]
    about = f"{name.replace('-', '_')}-{version}"
    points = "\n".join(
        f"[{group}]\n" + "\n".join(f"{point} = {value}" for point, value in names.items())
        for group, names in project["entry-points"].items()
    )
    files = {
        "salvo_pond.py": CODE,
        f"{about}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{about}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}.dist-info/entry_points.txt": points,
    }
    record = "".join(f"{file},,\n" for file in files)
    wheel = folder / f"{about}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for file, text in (files | {f"{about}.dist-info/RECORD": record}).items():
            archive.writestr(file, text)
    return wheel


def test_a_package_adds_a_bot_a_ruleset_and_a_command_is_named_when_broken_and_leaves_no_trace(
    environment: Environment, tmp_path: Path
) -> None:
    before, commands = environment.files(), environment.salvo("--help").stdout
    environment.pip("install", "--no-deps", "--no-index", str(built(tmp_path)))
    try:
        assert "Fires along diagonals" in environment.salvo("bots").stdout
        assert environment.salvo("splash", "--games", "4").stdout.endswith(" of 4 games\n")
        played = environment.salvo("play", "ripple", "hunter", "--rules", "pond", "--seed", "1")
        assert "winner: " in played.stdout
        assert (played.returncode, played.stderr) == (0, "")
        assert ", xbs, pond, or a file" in environment.salvo("play", "hunter", "slow", "--rules", "lake").stderr
        assert "splash" in environment.salvo("--help").stdout.partition("More:")[2]
        (environment.site / "salvo_pond.py").write_text("import a_library_that_is_missing\n")
        helped = environment.salvo("--help")
        assert (helped.returncode, "splash" in helped.stdout) == (0, False)
        assert "command splash of salvo-pond 1.0 cannot be loaded: ModuleNotFoundError" in helped.stderr
        assert environment.salvo("play", "random", "hunter", "--seed", "1").stderr == ""
        for words in (["splash"], ["play", "ripple", "hunter"], ["play", "random", "hunter", "--rules", "pond"]):
            failed = environment.salvo(*words)
            assert failed.returncode == 1
            assert failed.stderr.startswith("error: bad_plugin: ")
            assert "a_library_that_is_missing" in failed.stderr
    finally:
        environment.pip("uninstall", "--yes", "salvo-pond")
    assert environment.files() == before
    assert environment.salvo("--help").stdout == commands
