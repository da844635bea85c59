"""What ``salvo new`` writes: a starter bot in one file, for each language, or a small project.

Its reader writes a first bot, so each is short, explains why, and plays by every ruleset. A new file has its own name
in place of the template's.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Template:
    """Starter bot.

    Attributes:
        file: its name in :data:`FOLDER`.
        runs: the command in front of the new file's path where it is a program; empty for a bot of our SDK.
        about: for people.
    """

    file: str
    runs: str
    about: str

    @property
    def suffix(self) -> str:
        """What the name of the new file ends in."""
        return Path(self.file).suffix

    def text(self, name: str) -> str:
        """Return what a new file of this name has."""
        return (FOLDER / self.file).read_text(encoding="utf-8").replace(self.file, name)


#: What ``salvo new folder/`` writes.
PROJECT = (FOLDER / "bot.py", *(FOLDER / "project" / name for name in ("test_bot.py", "README.md", "AGENTS.md")))
KITS = (
    Template("bot.py", "", "a bot of the SDK, in Python"),
    Template("program.py", "python3", "a program in plain Python"),
    Template("bot.js", "", "a bot of the SDK, in JavaScript"),
    Template("program.js", "node", "a program in plain JavaScript, for Node.js"),
    Template("program.pl", "perl", "a program in Perl"),
)
