"""The lesson for a class: its bots are whole, and its commands print what it says."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kit import command_line
from kit.documents import DOCS, blocks
from kit.programs import needs

LESSON = blocks(DOCS / "lesson.md")
SECOND_AND_THIRD = "return max(heat.get(cell, 0) for cell in beside)"


def test_the_bots_of_the_lesson_play_as_it_prints(tmp_path: Path) -> None:
    first, second, line = (text for language, text in LESSON if language == "python")
    assert SECOND_AND_THIRD in second
    third = second.replace(SECOND_AND_THIRD, line.strip())
    for name, text in (("first.py", first), ("second.py", second), ("third.py", third)):
        (tmp_path / name).write_text(text)
    shells = [text for language, text in LESSON if language == "sh"]
    commands = [line for text in shells for line in text.splitlines() if line.startswith(("salvo solo", "salvo play"))]
    printed = [text.strip() for language, text in LESSON if language == "text"]
    assert len(commands) == len(printed) == 4
    for command, expected in zip(commands, printed, strict=True):
        done = command_line.run(*command.split()[1:], cwd=tmp_path)
        assert expected in done.stdout.splitlines(), done.stderr


@pytest.mark.slow
@needs("bwrap")
def test_the_script_of_a_class_gives_marks_by_the_rungs_that_bots_beat(tmp_path: Path) -> None:
    """It plays some hundred games."""
    [script] = [code for language, code in blocks(DOCS / "class.md") if language == "python"]
    (tmp_path / "marks.py").write_text(script)
    codes = {
        "chance": "@salvo.bot\ndef fire(view):\n    return view.untouched.sample(view.shots)\n",
        "hunters": "from salvo_lab.bots.hunter import Hunter\n\n\nclass Mine(Hunter):\n    pass\n",
        "density": "import nothing_here\n",  # and not the built-in bot of this name
    }
    for name, code in codes.items():
        (tmp_path / "course" / name).mkdir(parents=True)
        (tmp_path / "course" / name / "bot.py").write_text(f"import salvo\n{code}")
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [sys.executable, "marks.py", "course"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    table = {row["team"]: row for row in csv.DictReader(done.stdout.splitlines())}
    assert (table["density"]["mark"], table["density"]["beats"]) == ("-", "0")
    assert table["chance"]["mark"] == "-"
    assert table["hunters"]["mark"] in ("pass", "good")
    assert float(table["hunters"]["from"]) < 464 < float(table["hunters"]["to"])
