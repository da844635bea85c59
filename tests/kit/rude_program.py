"""A program that plays legally, but in its turn of a number, or from it on: MISDEED [TURN [always]]."""

import json
import os
import subprocess
import sys
import time
from typing import Any

misdeed, when = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
misdeed_stays = sys.argv[3:] == ["always"]
own_results = 0
owed = ""  # written after the next question has come, however slow the machine is


def write(text: str) -> None:
    os.write(1, text.encode())


def misbehave(asked: dict[str, Any], answer: str) -> None:
    global owed
    match misdeed:
        case "crash":
            print("the pond is dry", file=sys.stderr)
            sys.exit(3)
        case "leaves-a-child":  # which has its streams open
            subprocess.Popen(["sleep", "600"])
            os._exit(4)
        case "dies":
            os.kill(os.getpid(), 9)
        case "closes":
            os.close(1)
            time.sleep(60)
        case "silence":
            pass
        case "garbage":
            write("Hello, pond!\n" + answer)
        case "not-utf8":
            os.write(1, b"\xff\xfe\n")
        case "half-a-line":
            write(answer[:20])
            owed = answer[20:]
        case "half-a-line-and-dies":
            write(answer[:20])
            sys.exit(0)
        case "long-line":
            write("x" * 200_000 + "\n")
            write(answer)
        case "flood":
            while True:
                write('{"id":1,"skip":true}\n' * 1000)
        case "error-flood":
            for _ in range(5000):
                os.write(2, b"e" * 99 + b"\n")
            write(answer)
        case "wrong-id":
            write(json.dumps({"id": asked["id"] + 1, "skip": True}) + "\n")
        case "two-things":
            write(json.dumps({"id": asked["id"], "skip": True, "shots": []}) + "\n")
        case "off-grid":
            shot = {"player": asked["opponents"][0], "x": 11, "y": 1}
            write(json.dumps({"id": asked["id"], "shots": [shot]}) + "\n")
        case "nobody":
            write(json.dumps({"id": asked["id"], "shots": [{"player": "x", "x": 1, "y": 1}]}) + "\n")
        case "fraction":
            shot = {"player": asked["opponents"][0], "x": 1.0, "y": 1}
            write(json.dumps({"id": asked["id"], "shots": [shot]}) + "\n")
        case "twice":
            write(answer * 2)
        case "children":
            subprocess.Popen([sys.executable, "-c", f"import time; time.sleep(60)  # {os.getcwd()}"])
            write(answer)
        case "says":
            lines = [{"text": "Ahoy!"}, {"text": "you are next", "to": asked["opponents"][0]}, {"text": "\n"}]
            lines.append({"text": "who?", "to": "nobody"})
            write(json.dumps(json.loads(answer) | {"say": lines}) + "\n")


for line in sys.stdin:
    question = json.loads(line)
    write(owed)
    owed = ""
    if question["type"] == "fleet":
        write(json.dumps({"id": question["id"], "skip": True}) + "\n")
    elif question["type"] == "turn":
        own_results += sum("fired" in result for result in question["results"])
        target = question["opponents"][0]
        cells = [number for number, letter in enumerate(question["boards"][target]) if letter == "."][
            : question["shots"]
        ]
        shots = [{"player": target, "x": cell % 10 + 1, "y": cell // 10 + 1} for cell in cells]
        answered = json.dumps({"id": question["id"], "shots": shots}) + "\n"
        if own_results + 1 == when or (misdeed_stays and own_results + 1 > when):
            misbehave(question, answered)
        else:
            write(answered)
