#!/usr/bin/env python3
"""A bot as a program, with the standard library only: it reads JSON lines and answers with JSON lines (SALVO-EXEC).

salvo play 'exec:python3 program.py' hunter

It fires at the opponent with the most unknown cells: beside the hits first, then at every second cell.
"""

import json
import random
import sys
from typing import Any

Suspects = dict[tuple[str, int, int], float]


def main() -> None:
    game: dict[str, Any] = {}
    suspects: Suspects = {}
    for line in sys.stdin:
        question = json.loads(line)
        if question["type"] == "game":  # has the rules; needs no answer
            game = question
            draw = random.Random(question["seed"])  # the same seed, the same game
            suspects = {}  # by cell beside our shots: the sum of their shares of hits
        elif question["type"] == "fleet":
            answer(question, fleet=place(game["rules"], draw))
        elif question["type"] == "turn":
            shots = choose(question, game["rules"], suspects, draw)
            answer(question, shots=shots)


def answer(question: dict[str, Any], **answers: object) -> None:
    # `stays` promises that each game starts afresh: then one process quickly plays many. Without `flush`, the answer
    # stays in a buffer.
    print(json.dumps({"id": question["id"], "stays": True, **answers}), flush=True)


def place(rules: dict[str, Any], draw: random.Random) -> list[dict[str, Any]]:
    """Draw places until all ships have room, with water between them: that is legal by every ruleset."""
    while True:
        ships, taken = [], set()
        for name, length in rules["fleet"].items():
            across = draw.random() < 0.5
            width, height = (length, 1) if across else (1, length)
            if width > rules["width"] or height > rules["height"]:
                break
            x, y = draw.randint(1, rules["width"] - width + 1), draw.randint(1, rules["height"] - height + 1)
            cells = {(x + i, y) if across else (x, y + i) for i in range(length)}
            if any((cx + dx, cy + dy) in taken for cx, cy in cells for dx in (-1, 0, 1) for dy in (-1, 0, 1)):
                break
            taken |= cells
            orientation = "HORIZONTAL" if across else "VERTICAL"
            ships.append({"ship": name, "coordinates": f"{x};{y}", "Orientation": orientation})
        else:
            return ships


def choose(
    turn: dict[str, Any], rules: dict[str, Any], suspects: Suspects, draw: random.Random
) -> list[dict[str, Any]]:
    learn(turn["results"], suspects)
    target, *others = sorted(turn["opponents"], key=lambda rival: -turn["boards"][rival].count("."))
    width = rules["width"]
    open_cells = []
    for number, letter in enumerate(turn["boards"][target]):
        x, y = number % width + 1, number // width + 1
        if letter == ".":
            open_cells.append((suspects.get((target, x, y), 0), (x + y) % 2, draw.random(), x, y))
    open_cells.sort(reverse=True)
    shots = [{"player": target, "x": x, "y": y} for *_, x, y in open_cells[: turn["shots"]]]
    for rival in others:  # when a board has too few cells, fire at the next one
        for number, letter in enumerate(turn["boards"][rival]):
            if letter == "." and len(shots) < turn["shots"]:
                shots.append({"player": rival, "x": number % width + 1, "y": number // width + 1})
    return shots


def learn(results: list[dict[str, Any]], suspects: Suspects) -> None:
    """Note the neighbours of our shots, by the share of the salvo that hit."""
    for result in results:
        for number, shot in enumerate(result.get("fired", [])):
            hit = result["outcomes"][number] if "outcomes" in result else result["hits"] / result["shots"]
            for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                beside = (shot["player"], shot["x"] + dx, shot["y"] + dy)
                suspects[beside] = suspects.get(beside, 0) + hit


if __name__ == "__main__":
    main()
