"""Code Smackdown: salvos at the same time.

Two or more players place five ships, 5, 4, 3, 3 and 2 cells long, on a grid of 10 x 10. Ships may touch but never
overlap. The game goes by rounds. In a round every player that is not defeated gives a salvo, as many shots as it
had ships afloat when the round began, or fewer, at the boards of others. Nothing is announced before all salvos of
the round are given. Then they are resolved at once: a ship that sinks in this round has still shot. For every shot,
the shooter and its target learn whether it hit; which ships sank is not announced. A cell that was hit is a hit
again, without more damage. A player with no ship afloat is defeated. The last one left wins; if the last ones fall
in the same round, they tie.
"""

from __future__ import annotations

from typing import Final

from salvo.rules.board import Grid, ShipClass, Spacing
from salvo.rules.book import Announce, Ending, Order, RuleBook, Shots, Sinkings, Starter, Targets

SMACKDOWN: Final = RuleBook(
    name="smackdown",
    grid=Grid(10, 10),
    fleet=(
        ShipClass("carrier", 5),
        ShipClass("battleship", 4),
        ShipClass("destroyer", 3),
        ShipClass("submarine", 3),
        ShipClass("patrolboat", 2),
    ),
    spacing=Spacing.TOUCH,
    shots=Shots.AFLOAT,
    order=Order.ROUNDS,
    announce=Announce.EACH_SHOT,
    ending=Ending.LAST_AFLOAT,
    starter=Starter.FIRST,
    sinkings=Sinkings.UNTOLD,
    targets=Targets.OTHERS,
    skipping=True,
)
