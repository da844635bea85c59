"""An async bot: asks several advisers at once and takes what most of them say before time is up.

An adviser here is a coroutine of this file; yours may be an HTTP service or another process. The event loop is the same
one for the whole game, so connections can be kept.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence

import salvo

#: Of a turn's time, what may be spent on waiting. In the arena no clock runs and `view.seconds_left` is None.
SHARE_OF_THE_TURN = 0.5


async def diagonals(view: salvo.View) -> list[salvo.Shot]:
    """Every third diagonal: no ship of three cells hides from them."""
    await asyncio.sleep(0)  # where a real one would wait for an answer
    return [shot for shot in view.untouched if (shot.x + shot.y) % 3 == 0]


async def middle(view: salvo.View) -> list[salvo.Shot]:
    """The middle of a board, where more ships fit than at its edges."""
    await asyncio.sleep(0)
    width, height = view.rules.grid.width, view.rules.grid.height
    return [shot for shot in view.untouched if 3 <= shot.x <= width - 2 and 3 <= shot.y <= height - 2]


async def weakest(view: salvo.View) -> list[salvo.Shot]:
    """Whoever has the fewest ships."""
    await asyncio.sleep(0)
    return view.untouched.of(min(view.opponents, key=lambda player: view.ships_afloat[player]))


class Advised(salvo.Bot):
    async def choose_salvo(self, view: salvo.View) -> Sequence[salvo.Shot]:
        budget = None if view.seconds_left is None else view.seconds_left * SHARE_OF_THE_TURN
        asked = [asyncio.create_task(adviser(view)) for adviser in (diagonals, middle, weakest)]
        answered, late = await asyncio.wait(asked, timeout=budget)
        for task in late:  # a turn that is over helps nobody: do without them
            task.cancel()
        votes = Counter(shot for task in asked if task in answered for shot in task.result())
        ballot = view.untouched.sample(len(view.untouched))  # shuffled, so that equal votes are drawn
        ballot.sort(key=lambda shot: votes[shot], reverse=True)
        return ballot[: view.shots]


salvo.run(Advised)
