"""A bot that takes down each salvo that it chose, so that nobody has to believe the server."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import salvo
from salvo.view import View


class Witness(salvo.Bot):
    """Fires at random, at its leisure."""

    def choose_salvo(self, view: View) -> salvo.Answer:
        time.sleep(float(os.environ.get("WITNESS_SLEEP", "0.05")))
        shots = view.untouched.sample(view.shots)
        with Path(os.environ["WITNESS_FILE"]).open("a") as file:
            chosen = [[shot.player, shot.x, shot.y] for shot in shots]
            print(json.dumps({"me": view.me, "game": view.game, "turn": view.turn, "shots": chosen}), file=file)
        return shots


salvo.run(Witness)
