"""A program that plays legally and stays for further games: FILE [MISDEED GAME].

Each line that it is told is added to FILE, after the number of its process and without its ``id``. In one game it does
something wrong.
"""

import json
import os
import random
import signal
import sys
import time
from typing import Any

file, misdeed, when = sys.argv[1], (sys.argv[2:] or [""])[0], int((sys.argv[3:] or ["0"])[0])
game, draw = 0, random.Random()


def write(answer: dict[str, Any]) -> None:
    os.write(1, (json.dumps(answer | ({} if misdeed == "is-silent-on-it" else {"stays": True})) + "\n").encode())


def choose(turn: dict[str, Any]) -> list[dict[str, Any]]:
    target = turn["opponents"][0]
    cells = [number for number, letter in enumerate(turn["boards"][target]) if letter == "."]
    aims = draw.sample(cells, min(turn["shots"], len(cells)))
    return [{"player": target, "x": cell % 10 + 1, "y": cell // 10 + 1} for cell in aims]


def misbehave(turn: dict[str, Any]) -> None:
    match misdeed:
        case "crashes":
            sys.exit(3)
        case "fires-off-grid":
            write({"id": turn["id"], "shots": [{"player": turn["opponents"][0], "x": 0, "y": 0}]})
        case "hangs":
            while True:
                pass


if misdeed == "lingers":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
for line in sys.stdin:
    asked = json.loads(line)
    number = asked.pop("id", 0)
    with open(file, "a") as notes:
        notes.write(f"{os.getpid()} {json.dumps(asked)}\n")
    asked["id"] = number
    if asked["type"] == "game":
        game, draw = asked["game"], random.Random(asked["seed"])
    elif asked["type"] == "fleet":
        write({"id": number, "skip": True})
    elif asked["type"] == "end" and misdeed == "leaves":
        sys.exit(0)
    elif asked["type"] == "end" and misdeed == "chats" and game == when:
        os.write(1, b"good game!\n")
    elif asked["type"] == "turn":
        shots = choose(asked)
        if game == when and misdeed in ("crashes", "fires-off-grid", "hangs"):
            misbehave(asked)
        else:
            write({"id": number, "shots": shots})
if misdeed == "lingers":
    time.sleep(60)
