"""A tournament of the bots in a folder: a subfolder each, filled by scp, a share or git; they come, change and go.

What is played is a copy, so that nobody's upload ends a run. Each bot is tried before it plays: it has to load, and to
place a legal fleet. Why one does not play is in a file beside its folder. All that can play meet each other; what was
played stays, so that only what is new or has changed plays again.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from salvo.bots.adapter import closing, made
from salvo.bots.sources import in_sandbox, load_program
from salvo.bots.versions import MAX_BYTES, MAX_FILES
from salvo.errors import BotError
from salvo.system.atomic_file import replace_file
from salvo.system.text_files import read_toml
from salvo_lab.series.lines import Entered, SeriesLine
from salvo_lab.tournament.file import MAX_BOTS, NAME, TOURNAMENT, Format, Tournament, TournamentError
from salvo_lab.tournament.games import entered, versions_now

#: What a folder may say of its tournament: all that a tournament's file has, but ``bots``.
SETTINGS: Final = "tournament.toml"
#: How the file beside a subfolder ends that says why its bot does not play.
PROBLEM: Final = ".problem.txt"
#: Seconds without a change after which a subfolder counts as whole, and how often to wait for that.
QUIET_SECONDS: Final = 1.0
_WAITS: Final = 20
#: What tells one state of a folder from another: by path, time of the last change in ns, and size.
_Signature = dict[str, tuple[int, int]]


class TeamFolder:
    """A folder of bots, and the copy from which they play."""

    def __init__(self, folder: Path, copy: Path) -> None:
        """Read the settings.

        Args:
            folder: an absolute path.
            copy: an empty folder.

        Raises:
            TournamentError: ``bad_tournament``.
        """
        self._folder = folder
        self._copy = copy
        self._path = folder / SETTINGS
        self._text, values = read_toml(self._path, TOURNAMENT.error) if self._path.is_file() else ("", {})
        if "bots" in values or values.get("format", Format.ROUND_ROBIN) != Format.ROUND_ROBIN:
            text = f"{self._path}: a folder's bots are its subfolders, each against each"
            raise TournamentError("bad_tournament", text)
        self._values = {"name": folder.name, **values}
        #: The tournament before its bots are known; two are enough to read the settings.
        self.empty = self._with(dict.fromkeys("ab", "random"), ())

    def _with(self, bots: Mapping[str, str], entrants: tuple[str, ...]) -> Tournament:
        return TOURNAMENT.of(self._path, self._text, {**self._values, "bots": bots}).of_folder(entrants)

    def tournament(self, names: Iterable[str], lines: Iterable[SeriesLine]) -> Tournament:
        """Return the tournament of some bots, as seen from the copy.

        Raises:
            TournamentError: ``bad_tournament``: less than two.
        """
        names, came = list(names), dict.fromkeys(line.entered for line in lines if isinstance(line, Entered))
        if len(names) < 2:
            text = f"{self._folder}: {len(names)} of {len(self.names())} subfolders have a bot that plays; two do"
            raise TournamentError("bad_tournament", text)
        if len(names) > MAX_BOTS:
            text = f"{self._folder}: {len(names)} subfolders have a bot; a tournament has at most {MAX_BOTS}"
            raise TournamentError("bad_tournament", text)
        return self._with({name: f"./{name}" for name in names}, tuple(came | dict.fromkeys(names)))

    def names(self) -> list[str]:
        """Return the subfolders that are there, but for hidden ones."""
        return sorted(each.name for each in self._folder.iterdir() if each.is_dir() and each.name[0] not in "._")

    def those_that_played(self, lines: Iterable[SeriesLine]) -> Tournament:
        """Return the tournament of the bots that have played and are there, without a problem now."""
        known = entered(lines)
        return self.tournament(
            [name for name in self.names() if name in known and not self.problem_file(name).exists()], lines
        )

    def try_out(self, lines: Iterable[SeriesLine]) -> Tournament:
        """Copy what is there, and return the tournament of the bots that can play; write why others do not.

        This process works in the copy.

        Raises:
            TournamentError: ``bad_tournament``: less than two.
        """
        lines = list(lines)
        for file in self._folder.glob("*.toml"):
            self._copy_file(file)  # rules, as seen from here
        names = self.names()
        moving, known, playing = self._still_moving(names), entered(lines), []
        for name in names:
            problem = _problem_of_name(name, self._folder / name)
            if not problem and name in moving:
                problem = "it is still being copied; it plays in a later run"
            if not problem:
                problem = self._copied(name) or _problem_of(name, self.empty, known)
            if not problem:
                playing.append(name)
            elif (self._folder / name).is_dir():  # and has not gone meanwhile
                self.note(name, problem)
        self._forget_problems_but_of(set(names) - set(playing))
        return self.tournament(playing, lines)

    # --- problems -------------------------------------------------------------------------------------------------

    def problem_file(self, name: str) -> Path:
        """Return where it stands why a bot does not play."""
        return self._folder / f"{re.sub(r'[^A-Za-z0-9 _.-]', '_', name)[:64]}{PROBLEM}"

    def note(self, name: str, problem: str) -> None:
        """Write why a bot does not play."""
        file = self.problem_file(name)
        if file.is_symlink():
            file.unlink()  # whoever may write here does not choose what is replaced
        replace_file(file, f"{problem}\n".encode(errors="replace"))

    def _forget_problems_but_of(self, names: Iterable[str]) -> None:
        left = {self.problem_file(name) for name in names}
        for file in self._folder.glob(f"*{PROBLEM}"):
            if file not in left:
                file.unlink(missing_ok=True)

    # --- copies ---------------------------------------------------------------------------------------------------

    def _still_moving(self, names: Iterable[str]) -> list[str]:
        """Wait until nothing changes any more; return the subfolders in which something does to the end."""
        seen = {name: _signature(self._folder / name) for name in names}
        now = time.time_ns()
        moving = [name for name in seen if any(now - at < QUIET_SECONDS * 1e9 for at, _ in seen[name].values())]
        for _ in range(_WAITS):
            if not moving:
                break
            time.sleep(QUIET_SECONDS)
            before = {name: seen[name] for name in moving}
            seen |= {name: _signature(self._folder / name) for name in moving}
            moving = [name for name in moving if seen[name] != before[name]]
        return moving

    def _copied(self, name: str) -> str:
        """Copy a subfolder, without hidden files and links; return why that cannot be."""
        top = self._folder / name
        before = _signature(top)
        files, size = len(before), sum(size for _, size in before.values())
        if files > MAX_FILES or size > MAX_BYTES:
            has = f"the folder has {files:,} files, {size / 1e6:.1f} MB"
            return f"bad_bot: {has}; a bot's has at most {MAX_FILES:,} and {MAX_BYTES / 1e6:g} MB"
        for path in before:
            self._copy_file(top / path)
        return "" if _signature(top) == before else "it was changed while it was copied; it plays in a later run"

    def _copy_file(self, file: Path) -> None:
        there = self._copy / file.relative_to(self._folder)
        there.parent.mkdir(parents=True, exist_ok=True)
        try:
            opened = os.open(file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        except OSError:  # it has gone, or is a link by now
            return
        with open(opened, "rb") as source:
            status = os.fstat(opened)
            if stat.S_ISREG(status.st_mode):
                there.write_bytes(source.read(MAX_BYTES + 1))
                is_program = status.st_mode & 0o111 or file.name == "bot"  # the way here may have lost that
                there.chmod(0o700 if is_program else 0o600)


def _signature(folder: Path) -> _Signature:
    """Return the files of a folder, as they are now."""
    found: _Signature = {}
    for path, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name[0] != "." and name != "__pycache__"]
        for name in files:
            try:
                status = os.lstat(os.path.join(path, name))
            except OSError:  # it has gone
                continue
            if name[0] != "." and stat.S_ISREG(status.st_mode):
                found[os.path.relpath(os.path.join(path, name), folder)] = (status.st_mtime_ns, status.st_size)
    return found


def _problem_of_name(name: str, folder: Path) -> str:
    if NAME.fullmatch(name) is None:
        return (
            f"bad_tournament: the folder's name is {name[:60]!r}; 1..32 letters, digits, blanks and _ . - are allowed"
        )
    return "bad_tournament: it is a link; copy the folder itself" if folder.is_symlink() else ""


def _problem_of(name: str, given: Tournament, known: Mapping[str, Entered]) -> str:
    """Return why a bot cannot play, which is tried if it is not known."""
    if not Path(name).is_dir():
        return "bad_bot: its folder is empty"
    source = f"./{name}"
    now = versions_now(given.model_copy(update={"bots": {name: source}}), known.values())[name]
    if known.get(name) == now:
        return ""  # it has played
    try:
        kind = load_program(in_sandbox(source) if given.sandbox else source)
        with closing(made(kind), "trial", lambda trouble: None) as bot:
            bot.prepare("trial", "0", 1)
            bot.fleet(given.book)
    except BotError as error:
        return str(error)
    return ""
