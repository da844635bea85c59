"""Bots that fail, and what their authors read."""

from __future__ import annotations

import re
from pathlib import Path

#: Every method with the arguments of the guide; the helper raises in the one that is asked for.
BOT = """\
import salvo
import weights


class Mine(salvo.Bot):
    def __init__(self):
        weights.read("__init__")

    {kind}def prepare(self, name, seed, game):
        weights.read("prepare")
        super().prepare(name, seed, game)

    {kind}def place_fleet(self, rules):
        weights.read("place_fleet")
        return super().place_fleet(rules)

    {kind}def choose_salvo(self, view):
        weights.read("choose_salvo")
        return view.untouched.sample(view.shots)

    {kind}def on_result(self, result):
        weights.read("on_result")

    {kind}def on_game_over(self, winner, stats):
        weights.read("on_game_over")

    {kind}def close(self):
        weights.read("close")


salvo.run(Mine)
"""


LINE = "weights.py:3: ValueError: no weights"


#: What a server of an older system says first.
GREETING = "G|2.0.1|Friday|N|2|4|1|17|10|10|5|A5|B4|C3|D3|E2"


#: A line of ours; the bot's author has no use for it.
OURS = re.compile(r"[/\"](client_sdk|server)/|salvo(_server)?/[a-z_/]+\.py")


def failing_bot(folder: Path, method: str, kind: str = "") -> Path:
    (folder / "mine.py").write_text(BOT.format(kind=kind))
    (folder / "weights.py").write_text(
        f"def read(method):\n    if method == {method!r}:\n        raise ValueError('no weights')\n"
    )
    return folder / "mine.py"
