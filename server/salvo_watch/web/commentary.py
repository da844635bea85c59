"""What a commentator would say about a salvo: one sentence, on its most important result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from salvo.messages import Fate
from salvo_display.replay_text import in_words


class Salvo(NamedTuple):
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


class Standing(NamedTuple):
    """The state of a game.

    Attributes:
        afloat: number of ships afloat by player; empty if the rules do not announce sinkings.
        out: the defeated players.
    """

    afloat: Mapping[str, int]
    out: frozenset[str]

    def leader(self) -> str:
        """Return the player with the most ships afloat; empty if several have as many, or it is not known."""
        if not self.afloat:
            return ""
        most = max(self.afloat.values())
        leaders = [name for name, ships in self.afloat.items() if ships == most]
        return leaders[0] if len(leaders) == 1 else ""


def comment(salvo: Salvo, before: Standing, after: Standing) -> str:
    """Return a sentence about a salvo; empty where there is nothing to add to its figures.

    Args:
        before: the state of the game before the salvo.
        after: its state now.
    """
    player = salvo.player
    if salvo.defeated:
        return _fall(salvo, [name for name in after.afloat if name not in after.out])
    if salvo.sunk:
        return f"{player} sinks {_ships(salvo)}{_lead(player, before, after)}."
    if salvo.shots > 1 and salvo.hits == salvo.shots:
        return f"{player} hits with every one of {salvo.shots} shots."
    if salvo.shots > 2 and salvo.hits * 2 > salvo.shots:
        return f"{player} finds a target: {salvo.hits} of {salvo.shots} hit."
    if not salvo.shots:
        return f"{player}'s bot gave up the turn." if salvo.given_up else f"{player} lets the turn pass."
    return ""


def _fall(salvo: Salvo, left: list[str]) -> str:
    """Return who is out with a salvo and why, and who is left."""
    player, beaten, fates = salvo.player, " and ".join(salvo.defeated), set(salvo.defeated.values())
    out = sentence = f"{beaten} {'is' if len(salvo.defeated) == 1 else 'are'} out"
    if fates == {Fate.REMOVED}:
        out = sentence = f"the host takes {beaten} out"
    elif fates == {Fate.SILENT}:
        out = sentence = f"{out} after turns without a shot"
    elif fates == {Fate.SUNK} and player not in salvo.defeated:
        sentence = f"{player} defeats {beaten}"
    if len(left) == 1:
        winner = " and" if sentence.startswith(f"{left[0]} defeats ") else f", and {left[0]}"
        return f"{sentence}{winner} is the last one afloat."
    if len(left) == 2:
        return f"{out}: {left[0]} against {left[1]} now."
    return f"{sentence}; {len(left)} are left." if left else f"{sentence}."


def _ships(salvo: Salvo) -> str:
    return in_words([f"{player}'s {ship}" for player, ship in salvo.sunk])


def _lead(player: str, before: Standing, after: Standing) -> str:
    """Return how the sinking changes the lead, to end the sentence with; empty if there is nothing to say."""
    leader = after.leader()
    if not leader or len(after.afloat) < 2:
        return " and draws level" if before.leader() and before.leader() != player and not leader else ""
    if leader != before.leader():
        return " and takes the lead" if leader == player else f"; {leader} leads now"
    others = [ships for name, ships in after.afloat.items() if name != leader]
    ahead = after.afloat[leader] - max(others)
    return f" and is {ahead} ship{'s' * (ahead != 1)} ahead" if leader == player else ""
