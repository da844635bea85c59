"""What matters about a salvo: from this the hall has its sentences, ``static/words.js``, and their size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from salvo.messages import Fate

#: So many turns in a row without a shot are worth a sentence when the team is back.
_MISSED_TURNS: Final = 2
#: More that are level at the top lead nobody.
_MOST_LEADERS: Final = 2


class ShownSalvo(NamedTuple):
    """What a picture shows of a turn.

    Attributes:
        defeated: players that are out with it, and why.
        given_up: whether the player's program ended the turn, by rules without skipping: it has failed.
        aims: target, x, y and whether it hit, None where that is not told; empty where targets are not known.
    """

    game: int
    turn: int
    player: str
    shots: int
    hits: int
    sunk: tuple[tuple[str, str], ...]
    defeated: Mapping[str, Fate]
    aims: tuple[tuple[str, int, int, bool | None], ...] = ()
    given_up: bool = False


class Lead(NamedTuple):
    """Who leads, and by how many points or ships."""

    first: tuple[str, ...]
    by: int


class ShooterStanding(NamedTuple):
    """The state of a game.

    Attributes:
        worth: what decides the game, by player: ships afloat, or points; empty if that is not known.
        out: the defeated players.
        lost: ships that have sunk in all.
    """

    worth: Mapping[str, int]
    out: frozenset[str] = frozenset()
    lost: int = 0

    @property
    def left(self) -> list[str]:
        """Who is not out."""
        return [name for name in self.worth if name not in self.out]

    def lead(self) -> Lead | None:
        """Return who leads those who are not out: one player, or two; None if nobody does, or it is not known."""
        left = self.left
        most = max((self.worth[name] for name in left), default=0)
        first = tuple(name for name in left if self.worth[name] == most)
        if len(first) > _MOST_LEADERS or len(first) == len(left):
            return None
        return Lead(first, most - max(self.worth[name] for name in left if name not in first))


class Moment(NamedTuple):
    """Something that matters, such as a lead that changes, and whom it is about."""

    kind: str
    teams: tuple[str, ...]


def moments(
    salvo: ShownSalvo, before: ShooterStanding, after: ShooterStanding, missed: int, *, by_ships: bool
) -> Iterator[Moment]:
    """Yield what matters about a salvo, the most important first; nothing for a miss or plain hits.

    Args:
        before: the state of the game before the salvo.
        after: its state now.
        missed: how many turns in a row its player had not fired.
        by_ships: whether ships decide the game, which are told.
    """
    player, left = salvo.player, after.left
    if salvo.defeated:
        yield Moment("defeated", tuple(salvo.defeated))
        if len(left) == 2:
            yield Moment("duel", tuple(left))
    owners = dict.fromkeys(owner for owner, _ in salvo.sunk)
    if by_ships and (last := tuple(owner for owner in owners if owner in left and after.worth[owner] == 1)):
        yield Moment("last_ship", last)
    if salvo.sunk and not before.lost:
        yield Moment("first_blood", (player,))
    first, was = after.lead(), before.lead()
    if len(left) > 1 and (first and first.first) != (was and was.first):
        if first is not None:
            yield Moment("lead", first.first)
        elif len(left) == 2:
            yield Moment("level", tuple(left))
    if salvo.shots and missed >= _MISSED_TURNS:
        yield Moment("back", (player,))
    if salvo.sunk:
        yield Moment("sunk", tuple(owners))
