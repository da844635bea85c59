"""The lesson for a class: its bots are whole, and its commands print what it says."""

from __future__ import annotations

from pathlib import Path

from kit import command_line
from kit.documents import DOCS, blocks

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
