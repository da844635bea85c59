"""Whether each annex can be deleted: ``make annexes``.

In a copy of the project the annex's folder, its tests and those of others that import it, its page in docs/ and its
blocks in pyproject.toml and docker-compose.yml are removed; then formatter, linter, types, import contracts and the
quick tests that remain have to pass, and its commands are gone. The documents' own tests are left out: they describe
the whole.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import tomllib
import venv
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
#: Package -> its tests, and its page.
ANNEXES: Final = {
    "salvo_watch": ("tests/watch", ""),
    "salvo_league": ("tests/league", ""),
    "salvo_gateways": ("tests/gateways", "docs/gateways.md"),
    "salvo_audit": ("tests/audit", "docs/check.md"),
}
QUICK: Final = "not needs and not long and not slow"
#: Tests of the whole, which are not in the copy: of documents, and of files that several packages' commands read.
OF_THE_WHOLE: Final = (
    "tests/whole/test_document_000.py",
    "tests/whole/test_documents.py",
    "tests/whole/test_files_of_releases.py",
    "tests/whole/live/test_readme.py",
)
#: Tests of what some package has to use.
USED_SOMEWHERE: Final = (
    "--deselect=tests/whole/test_contract.py::test_the_table_of_errors_has_the_cause_and_the_fix_of_every_code",
    "--deselect=tests/server/test_environment.py::test_every_variable_known_as_another_programs_is_used_somewhere",
)


class Copy:
    """The project without one annex, and an environment in which nothing else of the project can be imported."""

    def __init__(self, folder: Path, annex: str) -> None:
        self._folder = folder
        self._annex = annex
        self.lines, self.tests = self._remove(*ANNEXES[annex])
        self._python = self._environment()

    def _remove(self, tests: str, page: str) -> tuple[int, int]:
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
        gone = tuple(f"{path}/" for path in (f"server/{self._annex}", tests))
        names = [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]
        using = users_of(self._annex, [name for name in names if re.match(r"tests/.*\.py$", name)])
        lines = found = 0
        for name in names:
            if name in (page, *OF_THE_WHOLE) or (name in using and not name.startswith(gone)):
                continue
            if name.startswith(gone):
                text = (ROOT / name).read_text() if name.endswith(".py") else ""
                lines += len(text.splitlines()) if name.startswith("server/") else 0
                found += len(re.findall(r"^def test_", text, re.MULTILINE))
                continue
            (self._folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, self._folder / name)
        project = self._folder / "pyproject.toml"
        project.write_text(self._without(project.read_text()))
        compose = self._folder / "docker-compose.yml"
        compose.write_text(
            re.sub(rf"  # annex {self._annex}\n.*?  # end of {self._annex}\n", "", compose.read_text(), flags=re.DOTALL)
        )
        return lines, found

    def _without(self, project: str) -> str:
        """Return pyproject.toml without the lines that name the annex, and the annex's name among its neighbours."""
        left = []
        for line in project.splitlines():
            if " | " in line:
                line = re.sub(rf"{self._annex} \| | \| {self._annex}\b", "", line)
            if self._annex not in line:
                left.append(line)
        return "\n".join(left) + "\n"

    def _environment(self) -> Path:
        """Make an environment with the libraries of this one, and the entry points of the copy."""
        project = tomllib.loads((self._folder / "pyproject.toml").read_text())["project"]
        name, version = project["name"], project["version"]
        about = self._folder / "about" / f"{name.replace('-', '_')}-{version}.dist-info"
        about.mkdir(parents=True)
        python = project["requires-python"]
        (about / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Python: {python}\n"
        )
        groups = {"console_scripts": project["scripts"]} | project["entry-points"]
        (about / "entry_points.txt").write_text(
            "\n".join(
                f"[{group}]\n" + "\n".join(f"{k} = {v}" for k, v in names.items()) for group, names in groups.items()
            )
        )
        home = self._folder / ".venv"
        venv.create(home, symlinks=True)
        [site] = home.glob("lib/python*/site-packages")
        paths = [self._folder / name for name in ("client_sdk", "server", "about")]
        (site / "copy.pth").write_text("\n".join(map(str, [*paths, sysconfig.get_path("purelib")])) + "\n")
        for program in Path(sysconfig.get_path("scripts")).iterdir():  # those that tests call
            if not (home / "bin" / program.name).exists():
                (home / "bin" / program.name).symlink_to(program)
        (home / "bin" / "salvo").unlink()
        (home / "bin" / "salvo").write_text(f"#!{home / 'bin' / 'python'}\nfrom salvo.cli import main\n\nmain()\n")
        (home / "bin" / "salvo").chmod(0o755)
        return home / "bin" / "python"

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run Python in the copy."""
        return subprocess.run([self._python, *words], cwd=self._folder, capture_output=True, text=True, check=False)

    def ruff(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the formatter or linter, a program of this environment."""
        ruff = Path(sysconfig.get_path("scripts")) / "ruff"
        return subprocess.run([ruff, *words, "."], cwd=self._folder, capture_output=True, text=True, check=False)


def users_of(package: str, names: list[str]) -> set[str]:
    """Return the tests that import a package, or a module of the tests that does."""
    texts = {name: (ROOT / name).read_text() for name in names}
    found: set[str] = set()
    modules = [package]
    while modules:
        imports = re.compile(rf"^ *(?:from|import) (?:{'|'.join(map(re.escape, modules))})\b", re.MULTILINE)
        new = {name for name, text in texts.items() if name not in found and imports.search(text)}
        found |= new
        modules = [name.removeprefix("tests/").removesuffix(".py").replace("/", ".") for name in new]
    return found


def commands(helped: str) -> set[str]:
    """Return the commands that ``salvo --help`` lists."""
    return set(re.findall(r"^  ([a-z]+) {2,}\S", helped.partition("\nPlay:")[2], re.MULTILINE))


def try_without(annex: str, tests: list[str]) -> bool:
    """Print what passes without an annex; return whether all does."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder).resolve(), annex)
        helped = copy.run("-m", "salvo", "--help")
        whole = subprocess.run([sys.executable, "-m", "salvo", "--help"], capture_output=True, text=True, check=True)
        gone = commands(whole.stdout) - commands(helped.stdout)
        lint = "from importlinter.cli import lint_imports_command; lint_imports_command()"
        steps = {
            "help": helped,
            "format": copy.ruff("format", "--check", "--quiet"),
            "lint": copy.ruff("check", "--quiet"),
            "types": copy.run("-m", "mypy"),
            "contracts": copy.run("-c", lint),
            "tests": copy.run(
                "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "-m", QUICK, *USED_SOMEWHERE, *tests
            ),
        }
        failed = [name for name, done in steps.items() if done.returncode or (name == "help" and done.stderr)]
        for name in failed:
            print(f"--- {annex}: {name}\n{steps[name].stdout[-6000:]}{steps[name].stderr[-2000:]}")
        passed = not failed and bool(gone)
        took = f"{copy.lines} lines, {copy.tests} tests, {time.monotonic() - start:.0f} s"
        print(f"{annex}: {'ok' if passed else 'FAILED'}; without {', '.join(sorted(gone))}; {took}", flush=True)
        return passed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("annexes", nargs="*", default=list(ANNEXES), help="which to remove, one at a time")
    parser.add_argument("--tests", nargs="+", default=["tests"], help="which tests to run")
    given = parser.parse_args()
    unknown = [name for name in given.annexes if name not in ANNEXES]
    if unknown:
        parser.error(f"{unknown[0]} is none of {', '.join(ANNEXES)}")
    passed = [try_without(annex, given.tests) for annex in given.annexes]
    sys.exit(not all(passed))


if __name__ == "__main__":
    main()
