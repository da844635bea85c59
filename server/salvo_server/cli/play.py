"""``salvo play``."""

from __future__ import annotations

import contextlib
import json
import secrets
import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import click

from salvo import arena
from salvo.arena import Outcome
from salvo.errors import BotError, SalvoError
from salvo.player import Bot
from salvo.rules import RuleBook
from salvo.rules.files import load_book
from salvo.sources import EXEC, make
from salvo.time_limits import TimeLimits, limit_time
from salvo_server.cli.output import (
    again,
    has_terminal,
    leave_on_sigterm,
    look_again,
    places_line,
    seat_names,
    winner_line,
)
from salvo_server.human import HUMAN
from salvo_server.transcript import play_at_table, write_transcript

#: Stands for the game's number in the name of a file.
_GAME = "{game}"
_SECONDS = click.FloatRange(min=0, min_open=True)


@click.command()
@click.argument("bots", nargs=-1)
@click.option("--exec", "commands", metavar="CMD", multiple=True, help="A program; it sits before BOTS. As exec:CMD.")
@click.option("--seed", help="Decides the whole game; drawn when not given.")
@click.option("--rules", default="salvo", help="Rule book: a name, or a TOML file.")
@click.option("--game", default=1, show_default=True, help="Number of the (first) game; one seed has many games.")
@click.option("--games", type=click.IntRange(min=1), default=1, help="How many games, seats fixed.")
@click.option(
    "--record", metavar="FILE", help="Write the game to a transcript; for several, {game} in the name is the number."
)
@click.option("--turn-seconds", type=_SECONDS, help="Time for a salvo, by the wall's clock.  [default: no limit]")
@click.option("--bank", type=_SECONDS, help="Seconds for all salvos of a bot in a game.  [default: no limit]")
@click.option("--json", "as_json", is_flag=True, help="One JSON line a game.")
def play(
    bots: tuple[str, ...],
    commands: tuple[str, ...],
    seed: str | None,
    rules: str,
    game: int,
    games: int,
    record: str | None,
    turn_seconds: float | None,
    bank: float | None,
    as_json: bool,
) -> None:
    """Play BOTS (files, file.py:Name, exec:CMD, or house bots) against each other, in play order.

    One of them may be human: you, at this terminal. CMD is a program in any language, which is told and answers JSON
    lines; a mistake of its costs it the turn.
    """
    bots = tuple(EXEC + command for command in commands) + bots
    if len(bots) < 2:
        first = shlex.quote(bots[0]) if bots else "mybot.py"
        raise BotError(
            "too_few_players",
            f"{len(bots)} bot{'' if bots else 's'}; a game has two or more, such as: salvo play {first} hunter",
        )
    if record is not None and games > 1 and _GAME not in record:
        raise click.UsageError(f"--record {record}: {games} games need {_GAME} in the name, such as g-{_GAME}.jsonl.gz")
    if HUMAN in bots and games > 1:
        raise click.UsageError(f"--games {games}: {HUMAN} asks for the next game by r, when one is over")
    book = load_book(rules)
    seed = seed or str(secrets.randbits(32))
    limits = TimeLimits(turn_seconds, bank) if turn_seconds is not None or bank is not None else None
    if any(bot.startswith(EXEC) for bot in bots):
        leave_on_sigterm()
    with contextlib.ExitStack() as leaving:
        outcomes = _seat(bots, book, seed, game, games, record, partial(_make, limits, leaving))
        timed = [f" --{name} {value:g}" for name, value in (("turn-seconds", turn_seconds), ("bank", bank)) if value]
        command = again(bots, seed, game, games, rules) + "".join(timed)
        _play_all(outcomes, bots, seed, game, games, record, command, as_json)


def _make(limits: TimeLimits | None, leaving: contextlib.ExitStack, source: str) -> Bot:
    """Return a bot that is closed when all games are over."""
    bot = make(source)
    leaving.callback(bot.close)
    return bot if limits is None else limit_time(bot, limits)


def _play_all(
    outcomes: Iterator[Outcome],
    bots: Sequence[str],
    seed: str,
    game: int,
    games: int,
    record: str | None,
    command: str,
    as_json: bool,
) -> None:
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
        click.echo(f"again:  {command}")
        if record is not None and wins:
            click.echo(look_again(_file_of(record, game)))


def _seat(
    bots: Sequence[str],
    book: RuleBook,
    seed: str,
    first: int,
    count: int,
    record: str | None,
    make: Callable[[str], Bot],
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
