"""``python -m salvo_lab.programs mybot.py`` plays a bot of the SDK as a program."""

from __future__ import annotations

from salvo_lab.programs.bot_server import main

main()
