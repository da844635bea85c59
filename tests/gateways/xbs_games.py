"""Programs at an xbs gateway, and a small game for them."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from gateways.xbs_client import Client, Gone, Outcome

#: A quick game: seven cells to hit on a small board, with letters and lengths that are not the usual ones.
SMALL = 'name = "pond"\nlike = "xbs"\nwidth = 6\nheight = 5\n\n[fleet]\nq = 3\nb = 2\nw = 2\n'


SECONDS = 60.0


class Playing:
    """Clients that play on threads."""

    def __init__(self, clients: Sequence[Client]) -> None:
        self.clients = clients
        self.outcomes: dict[str, Outcome] = {}
        self._threads = [threading.Thread(target=self._play, args=(client,), daemon=True) for client in clients]
        for thread in self._threads:
            thread.start()

    def _play(self, client: Client) -> None:
        self.outcomes[client.name] = client.play()

    def wait(self) -> Outcome:
        """Return how the game ended, which all were told alike, and without a fault."""
        for thread in self._threads:
            thread.join(SECONDS)
        assert [fault for client in self.clients for fault in client.faults] == []
        assert self.outcomes.keys() == {client.name for client in self.clients}
        first, *others = self.outcomes.values()
        for other in others:
            assert (other.state, other.turns) == (first.state, first.turns)
            assert [values[:4] for values in other.results] == [values[:4] for values in first.results]
        return first


class Slow(Client):
    """Leaves time to kill something in mid-game."""

    def choose(self) -> str:
        time.sleep(0.02)
        return super().choose()


def small(folder: Path, goal: int = 7) -> str:
    (folder / "pond.toml").write_text(SMALL.replace("[fleet]", f"goal = {goal}\n\n[fleet]"))
    return str(folder / "pond.toml")


class Patient(Slow):
    """Comes back to a gateway that is not there yet."""

    def play(self) -> Outcome:
        while True:
            with contextlib.suppress(ConnectionError, Gone):
                return super().play()
            time.sleep(0.05)
