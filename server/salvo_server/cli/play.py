"""``salvo play``."""

from __future__ import annotations

import json
import secrets
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from salvo import arena
from salvo.arena import Outcome
from salvo.errors import BotError, SalvoError
from salvo.player import Bot
from salvo.rules import RuleBook
from salvo.rules.files import load_book
from salvo.sources import make
from salvo_server.cli.output import again, has_terminal, look_again, places_line, seat_names, winner_line
from salvo_server.human import HUMAN
from salvo_server.transcript import play_at_table, write_transcript

#: Stands for the game's number in the name of a file.
_GAME = "{game}"


@click.command()
@click.argument("bots", nargs=-1, required=True)
@click.option("--seed", help="Decides the whole game; drawn when not given.")
@click.option("--rules", default="salvo", help="Rule book: a name, or a TOML file.")
@click.option("--game", default=1, show_default=True, help="Number of the (first) game; one seed has many games.")
@click.option("--games", type=click.IntRange(min=1), default=1, help="How many games, seats fixed.")
@click.option(
    "--record", metavar="FILE", help="Write the game to a transcript; for several, {game} in the name is the number."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON line a game.")
def play(
    bots: tuple[str, ...], seed: str | None, rules: str, game: int, games: int, record: str | None, as_json: bool
) -> None:
    """Play BOTS (files, file.py:Name, or house bots) against each other, in play order.

    One of them may be human: you, at this terminal.
    """
    if len(bots) < 2:
        raise BotError(
            "too_few_players", f"{len(bots)} bot; a game has two or more, such as: salvo play {bots[0]} hunter"
        )
    if record is not None and games > 1 and _GAME not in record:
        raise click.UsageError(f"--record {record}: {games} games need {_GAME} in the name, such as g-{_GAME}.jsonl.gz")
    if HUMAN in bots and games > 1:
        raise click.UsageError(f"--games {games}: {HUMAN} asks for the next game by r, when one is over")
    book = load_book(rules)
    seed = seed or str(secrets.randbits(32))
    outcomes = _seat(bots, book, seed, game, games, record)
    wins: Counter[str] = Counter()
    ties = 0
    for outcome in _with_progress(outcomes, games, hidden=as_json):
        wins.update(outcome.winners)
        ties += not outcome.winner
        if as_json:
            click.echo(json.dumps(_record(outcome)))
        elif games == 1:
            click.echo(f"{winner_line(outcome.winner, outcome.places)} after {outcome.turns} salvos")
            click.echo(f"places: {places_line(outcome.places)}")
    if not as_json:
        if games > 1:
            tied = f", ties among them: {ties}" if ties else ""
            click.echo("wins:   " + ", ".join(f"{name} {wins[name]} of {games}" for name in seat_names(bots)) + tied)
        click.echo(f"seed:   {seed}")
        click.echo(f"again:  {again(bots, seed, game, games, rules)}")
        if record is not None and wins:
            click.echo(look_again(_file_of(record, game)))


def _seat(
    bots: Sequence[str], book: RuleBook, seed: str, first: int, count: int, record: str | None
) -> Iterator[Outcome]:
    """Return the outcomes of games to be played; those with a person are played already."""
    if HUMAN not in bots:
        seated = {name: make(bot) for name, bot in zip(seat_names(bots), bots, strict=True)}
        return _games(seated, book, seed, first, count, record)
    if bots.count(HUMAN) > 1:
        raise SalvoError("one_human", f"{bots.count(HUMAN)} times {HUMAN}; one person plays at a terminal")
    from salvo_server.human.desk import Desk
    from salvo_server.human.local import Human, play_here
    from salvo_server.human.sitting import check_terminal

    desk = Desk()
    names = zip(seat_names(bots), bots, strict=True)
    seated = {name: Human(desk) if bot == HUMAN else make(bot) for name, bot in names}
    check_terminal()
    again = record is None or _GAME in record
    return iter(play_here(desk, lambda game: next(_games(seated, book, seed, game, 1, record)), first, again=again))


def _games(
    bots: dict[str, Bot], book: RuleBook, seed: str, first: int, count: int, record: str | None
) -> Iterator[Outcome]:
    for number in range(first, first + count):
        if record is None:
            yield arena.play(bots, seed=seed, game=number, book=book)
        else:
            outcome, header, steps = play_at_table(bots, seed=seed, game=number, book=book)
            write_transcript(_file_of(record, number), header, steps)
            yield outcome


def _file_of(record: str, game: int) -> Path:
    return Path(record.replace(_GAME, str(game)))


def _with_progress(outcomes: Iterator[Outcome], count: int, *, hidden: bool) -> Iterator[Outcome]:
    """Show how far it is on a terminal when it takes longer than a glance."""
    if hidden or count == 1 or not has_terminal():
        yield from outcomes
        return
    start = time.monotonic()
    with click.progressbar(outcomes, length=count, label="games", file=sys.stderr) as progress:
        yield from progress
    click.echo(f"{count / (time.monotonic() - start):.0f} games a second", err=True)


def _record(outcome: Outcome) -> dict[str, object]:
    return {
        "winner": outcome.winner,
        "places": outcome.places,
        "turns": outcome.turns,
        "seed": outcome.seed,
        "game": outcome.game,
        "stats": {
            name: {"shots": s.shots, "hits": s.hits, "sunk": s.sunk, "turns": s.turns, "place": s.place}
            for name, s in outcome.stats.items()
        },
    }
