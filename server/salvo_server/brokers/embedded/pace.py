"""What each packet costs, and how much the users of one payer may spend (SALVO-ACCESS-9).

The unit is one published message, about 10 us of the broker's time; the other prices are in proportion, as measured.
An acknowledgement that the broker waits for is free: there are only as many as it has sent messages, and a client that
follows every table sends thousands a second.
"""

from __future__ import annotations

from typing import Final

#: A CONNECT: it checks a password, and may end an older connection.
CONNECT_PRICE: Final = 10
#: A SUBSCRIBE or UNSUBSCRIBE, plus 1 for each of its filters.
FILTERS_PRICE: Final = 2
#: What one connection may spend before the loop serves the others.
MAX_TURN_PRICE: Final = 32
#: A connection that overspent is read again when its payer has this much of its rate: a flood comes in small portions.
REST_SECONDS: Final = 0.1
#: The longest that a debt may take to pay off: well below any client's keep-alive.
MAX_DEBT_SECONDS: Final = 20.0
#: Screens of a hall that share as much as one team has: after a restart, 200 of them must be up again within seconds.
_SCREENS: Final = 40


def retained_price(wildcards: bool, retained: int, found: int) -> int:
    """Return the price of finding and sending the retained messages that match a filter.

    Args:
        retained: number of retained topics; a filter with wildcards is compared with each of them.
        found: number of them that match and are sent.
    """
    return (10 + retained // 64 if wildcards else 0) + found // 8


class Pace:
    """A payer's allowance, shared by all its connections: a rate, with bursts of two seconds' worth."""

    __slots__ = ("_left", "_most", "_rate", "_seen")

    def __init__(self, a_second: int, users: int, now: float) -> None:
        """Begin with a whole burst.

        Args:
            a_second: units that a team may spend a second.
            users: number of users of the payer; a hall with many screens has a higher rate.
        """
        self._rate = a_second * max(1.0, users / _SCREENS)
        self._most = self._left = 2.0 * self._rate
        self._seen = now

    def wait_seconds(self, price: int, now: float) -> float:
        """Charge a price; return for how many seconds the connection must not be read."""
        left = min(self._most, self._left + (now - self._seen) * self._rate) - price
        self._left = max(left, -MAX_DEBT_SECONDS * self._rate)
        self._seen = now
        return 0.0 if self._left >= 1 else REST_SECONDS - self._left / self._rate
