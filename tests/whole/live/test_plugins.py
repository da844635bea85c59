"""A package of somebody else's, that of docs/plugins.md: installed, used, broken, and uninstalled without a trace."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

from kit.documents import ROOT, blocks

[PROJECT, CODE] = [block.text for block in blocks(ROOT / "docs" / "plugins.md")]
pytestmark = pytest.mark.long
#: Runs commands one after the other in one process, which starts once for all of them.
RUN = """
import json, sys
from kit.command_line import run
done = [run(*words) for words in json.loads(sys.argv[1])]
print(json.dumps([(each.returncode, each.stdout, each.stderr) for each in done]))
"""


class Ended(NamedTuple):
    """How a command has ended."""

    code: int
    stdout: str
    stderr: str


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

    def salvo(self, *commands: str) -> list[Ended]:
        """Run some commands in this environment; return how each has ended."""
        words = json.dumps([command.split() for command in commands])
        done = self._run("-c", f"import sys; sys.path.append({str(ROOT / 'tests')!r}){RUN}", words)
        assert done.returncode == 0, done.stderr
        return [Ended(*each) for each in json.loads(done.stdout)]

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
    before, [unchanged] = environment.files(), environment.salvo("--help")
    environment.pip("install", "--no-deps", "--no-index", str(built(tmp_path)))
    try:
        bots, splashed, played, unknown, helped = environment.salvo(
            "bots",
            "splash --games 4",
            "play ripple hunter --rules pond --seed 1",
            "play hunter slow --rules lake",
            "--help",
        )
        assert "Fires along diagonals" in bots.stdout
        assert splashed.stdout.endswith(" of 4 games\n")
        assert "winner: " in played.stdout
        assert (played.code, played.stderr) == (0, "")
        assert ", xbs, pond, or a file" in unknown.stderr
        assert "splash" in helped.stdout.partition("More:")[2]
        (environment.site / "salvo_pond.py").write_text("import a_library_that_is_missing\n")
        helped, without, *with_it = environment.salvo(
            "--help",
            "play random hunter --seed 1",
            "splash",
            "play ripple hunter",
            "play random hunter --rules pond",
        )
        assert (helped.code, "splash" in helped.stdout) == (0, False)
        assert "command splash of salvo-pond 1.0 cannot be loaded: ModuleNotFoundError" in helped.stderr
        assert without.stderr == ""
        for failed in with_it:
            assert failed.code == 1
            assert failed.stderr.startswith("error: bad_plugin: ")
            assert "a_library_that_is_missing" in failed.stderr
    finally:
        environment.pip("uninstall", "--yes", "salvo-pond")
    assert environment.files() == before
    assert environment.salvo("--help") == [unchanged]
