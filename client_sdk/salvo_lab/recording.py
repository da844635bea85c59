"""Games of the arena as the games at a table that they would have been: the steps of a transcript."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from salvo import messages as m
from salvo.bots.adapter import Adapter
from salvo.bots.player import Bot
from salvo.codec.header import Header
from salvo.rules import SALVO, Fleet, RuleBook
from salvo.view import Shot
from salvo.wire.topics import check_name
from salvo_display.boards.text_boards import TextBoards
from salvo_game.referee import Referee
from salvo_game.table import Table
from salvo_game.table_step import Step
from salvo_game.transcript import no_status
from salvo_lab import arena
from salvo_lab.arena import Outcome


def play_at_table(
    bots: Mapping[str, Bot | Adapter],
    *,
    seed: int | str = 0,
    game: int = 1,
    book: RuleBook = SALVO,
    fleets: Mapping[str, Fleet] | None = None,
    boards: TextBoards | None = None,
) -> tuple[Outcome, Header, list[Step]]:
    """Play a game in the arena and record it as the game that a contest with this seed would have been.

    Fleets are those of players who are not asked to place theirs; boards follow the game.

    The clock is made up: it begins at 0, advances a second with every step, and runs out where a bot fires fewer shots
    than it may and cannot skip the rest.

    Raises:
        BotError: see :func:`salvo_lab.arena.play`.
        WireError: ``bad_name``: no player at a table could have this name.
    """
    for name in bots:
        check_name(name, "player")
    boards = boards or TextBoards()
    outcome = arena.play(
        bots, seed=seed, game=game, book=book, fleets=fleets, opening=boards.begin, listener=boards.follow
    )
    return outcome, *take_down(outcome.fleets, boards.salvos, seed=seed, game=game, book=book)


def take_down(
    fleets: Mapping[str, Fleet],
    salvos: Iterable[tuple[str, Sequence[Shot]]],
    *,
    seed: int | str,
    game: int,
    book: RuleBook,
) -> tuple[Header, list[Step]]:
    """Return a game of the arena as the game at a table that it would have been; see :func:`play_at_table`.

    Args:
        fleets: by player, in play order.
        salvos: who fired, and the shots, of every turn.
    """
    table = Table(Referee(seed, "", book, m.Limits(players=len(fleets)), game), no_status)
    table.open()
    header = table.header
    return header, list(_take_down(table, fleets, salvos))


def _take_down(
    table: Table, fleets: Mapping[str, Fleet], salvos: Iterable[tuple[str, Sequence[Shot]]]
) -> Iterator[Step]:
    at = 0
    inputs: list[m.Input] = [m.Participate(name, b"") for name in fleets]
    inputs += [m.PlaceShip(name, place.ship, place) for name, fleet in fleets.items() for place in fleet.placements]
    hurry = min(1000, table.referee.limits.placement_ms // len(inputs))  # many large fleets, and a minute for all
    for step_input in inputs:
        yield table.carry_out(step_input, at)
        at += hurry
    for turn, (player, shots) in enumerate(salvos, start=1):
        for shot in shots:
            yield table.carry_out(m.Fire(player, shot.player, shot.x, shot.y), at)
            at += 1000
        game, deadline = table.referee.game, table.referee.deadline()
        if game is None or game.turn != turn or game.over or deadline is None:
            continue
        if game.book.skipping:
            yield table.carry_out(m.Skip(player), at)
            at += 1000
        else:
            yield table.carry_out(m.TimePassed(), deadline)
            at = deadline + 1000
