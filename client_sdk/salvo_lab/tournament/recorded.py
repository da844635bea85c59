"""A game with all its moves, to watch: a tournament keeps a game's outcome, and no shots.

It is played again from its seed and compared with what is kept of it. Players are called by their seat here, 0..n-1,
until the game is shown: two bots of one file have different names at the table and in the tournament.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, NamedTuple

from salvo import messages as m
from salvo.rules import Fleet, Placement, RuleBook
from salvo.step import Step
from salvo.view import Shot
from salvo_display.replay import Replay
from salvo_lab.recording import take_down
from salvo_lab.tournament.games import Played

#: A shot: seat, x, y.
SeatShot = tuple[int, int, int]


class Recorded(NamedTuple):
    """A game and its moves.

    Attributes:
        fleets: by seat.
        salvos: who fired, and the shots, of every turn.
    """

    played: Played
    fleets: tuple[tuple[Placement, ...], ...]
    salvos: tuple[tuple[int, tuple[SeatShot, ...]], ...]


class Moves:
    """Hears every salvo of a game."""

    def __init__(self, names: Sequence[str]) -> None:
        """Listen to players of these names at the table, by seat."""
        self._seats = {name: seat for seat, name in enumerate(names)}
        self._salvos: list[tuple[int, tuple[SeatShot, ...]]] = []

    def __call__(self, shots: Sequence[Shot], result: m.SalvoResolved) -> None:
        """Note a salvo."""
        aims = tuple((self._seats[player], x, y) for player, x, y in shots)
        self._salvos.append((self._seats[result.player], aims))

    def recorded(self, played: Played, fleets: Mapping[str, Fleet]) -> Recorded:
        """Return the game that they were made in."""
        return Recorded(played, tuple(tuple(fleets[name].placements) for name in self._seats), tuple(self._salvos))

    def digest(self, fleets: Mapping[str, Fleet]) -> str:
        """Return a digest of all fleets and shots: 16 letters."""
        digest = hashlib.blake2b(digest_size=8)
        for name in self._seats:
            digest.update(fleets[name].board)
        digest.update(repr(self._salvos).encode())
        return digest.hexdigest()


def is_the_same(again: Played, kept: Played) -> bool:
    """Whether a game came out as it was kept, except for thinking times and the words of strikes."""
    return _outcome(again) == _outcome(kept) and kept.moves in ("", again.moves)


def _outcome(game: Played) -> tuple[object, ...]:
    strikes = tuple(map(len, game.strikes))
    return game.bots, game.turns, game.places, game.shots, game.hits, strikes, game.forfeited


def replay_of(game: Recorded, book: RuleBook) -> Replay:
    """Return a game to look at, its players called as in the tournament.

    It is recorded under names that sort like those at the table, since by some rules the first of them begins; then all
    players get the names that people know.
    """
    played = game.played
    in_order = sorted(played.players, key=lambda name: (name.lower(), name))
    seated = [f"seat{in_order.index(name)}" for name in played.players]
    header, steps = take_down(
        {name: Fleet(book, fleet) for name, fleet in zip(seated, game.fleets, strict=True)},
        [(seated[seat], [Shot(seated[at], x, y) for at, x, y in shots]) for seat, shots in game.salvos],
        seed=played.seed,
        game=played.game,
        book=book,
    )
    return Replay(f"game {played.game}", header, _called(dict(zip(seated, played.bots, strict=True)), steps))


def _called(names: Mapping[str, str], steps: Iterable[Step]) -> Iterable[Step]:
    """Return steps with other names for the players, without refusals: those are of a clock that is made up."""
    for step in steps:
        said = [each for each in step.announcements if not isinstance(each, (m.CommandRefused, m.RulesAnnounced))]
        yield step._replace(command=_renamed(step.command, names), announcements=_renamed(tuple(said), names))


def _renamed(thing: Any, names: Mapping[str, str]) -> Any:
    if isinstance(thing, str):
        return names.get(thing, thing)
    if isinstance(thing, tuple):
        parts = [_renamed(part, names) for part in thing]
        return type(thing)(*parts) if hasattr(thing, "_fields") else tuple(parts)
    if is_dataclass(thing) and not isinstance(thing, type):
        said = {each.name: getattr(thing, each.name) for each in fields(thing)}
        changed = {name: new for name, old in said.items() if (new := _renamed(old, names)) is not old}
        return replace(thing, **changed) if changed else thing
    return thing
