"""An async bot: it asks several advisers at once, and fires at the cells that most of them name in time.

Here an adviser is a coroutine of this file; yours may be an HTTP service or another process. One event loop runs for
the whole game, so a connection may stay open between turns.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence

import salvo

#: The share of a turn's time to wait for advice. In the arena no clock runs, and `view.seconds_left` is None.
SHARE_OF_THE_TURN = 0.5


async def diagonals(view: salvo.View) -> list[salvo.Shot]:
    """Every third diagonal, which meets every ship of three cells."""
    await asyncio.sleep(0)  # a real adviser would wait for an answer here
    return [shot for shot in view.untouched if (shot.x + shot.y) % 3 == 0]


async def middle(view: salvo.View) -> list[salvo.Shot]:
    """The middle of a board, where more ships fit than at its edges."""
    await asyncio.sleep(0)
    width, height = view.rules.grid.width, view.rules.grid.height
    return [shot for shot in view.untouched if 3 <= shot.x <= width - 2 and 3 <= shot.y <= height - 2]


async def weakest(view: salvo.View) -> list[salvo.Shot]:
    """The board of the opponent with the fewest ships."""
    await asyncio.sleep(0)
    return view.untouched.of(min(view.opponents, key=lambda player: view.ships_afloat[player]))


class Advised(salvo.Bot):
    async def choose_salvo(self, view: salvo.View) -> Sequence[salvo.Shot]:
        budget = None if view.seconds_left is None else view.seconds_left * SHARE_OF_THE_TURN
        asked = [asyncio.create_task(adviser(view)) for adviser in (diagonals, middle, weakest)]
        answered, late = await asyncio.wait(asked, timeout=budget)
        for task in late:  # an answer after the turn would be useless
            task.cancel()
        votes = Counter(shot for task in asked if task in answered for shot in task.result())
        ballot = view.untouched.sample(len(view.untouched))  # shuffled, so that a draw decides between equal votes
        ballot.sort(key=lambda shot: votes[shot], reverse=True)
        return ballot[: view.shots]


salvo.run(Advised)
