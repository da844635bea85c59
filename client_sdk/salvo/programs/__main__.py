"""``python -m salvo.programs mybot.py`` plays a bot of the SDK as a program."""

from __future__ import annotations

from salvo.programs.answering import main

main()
