"""What a client's packets cost, and how much of that is read in a second of all who belong together (SALVO-ACCESS-9).

The unit is a message that a team publishes, some 10 us of the broker's time. Every packet has a price by what the
broker has to do for it, in proportion as measured. What the broker waits for has none, as it is as much as the broker
has sent: who follows everything acknowledges a great deal.
"""

from __future__ import annotations

from typing import Final

#: A greeting: its account is looked up, and an older connection may end.
CONNECT_PRICE: Final = 10
#: A SUBSCRIBE or UNSUBSCRIBE, beside 1 for each of its filters.
FILTERS_PRICE: Final = 2
#: Handled in a row; then it is the next connection's turn, as often as the loop comes round.
MAX_TURN_PRICE: Final = 32
#: Who has used up the allowance is read again when this much of it is there, so that a flood comes in small portions.
REST_SECONDS: Final = 0.1
#: The longest rest, well below any client's keep-alive, however much is to be paid off.
MAX_DEBT_SECONDS: Final = 20.0
#: So many screens of a hall have as much together as a team: after a restart of the server 200 of them, which share an
#: account, have all they ask for again within seconds.
_SCREENS: Final = 40


def retained_price(wildcards: bool, kept: int, found: int) -> int:
    """Price of looking up what is retained below a filter.

    Args:
        kept: topics with something retained, which a filter with wildcards is compared with one by one.
        found: how many of them match and are sent.
    """
    return (10 + kept // 64 if wildcards else 0) + found // 8


class Pace:
    """What all connections of one payer may cost together: so much a second in the long run, twice as much at a go."""

    __slots__ = ("_left", "_most", "_rate", "_seen")

    def __init__(self, a_second: int, users: int, now: float) -> None:
        """Begin with all that is allowed at a go.

        Args:
            users: how many the payer has.
        """
        self._rate = a_second * max(1.0, users / _SCREENS)
        self._most = self._left = 2.0 * self._rate
        self._seen = now

    def wait_seconds(self, price: int, now: float) -> float:
        """Take a price off; return for how long the connection that brought it is not to be read."""
        left = min(self._most, self._left + (now - self._seen) * self._rate) - price
        self._left = max(left, -MAX_DEBT_SECONDS * self._rate)
        self._seen = now
        return 0.0 if self._left >= 1 else REST_SECONDS - self._left / self._rate
