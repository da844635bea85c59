"""``salvo play``."""

from __future__ import annotations

import secrets
import shlex
from pathlib import Path
from typing import Any

import click

from salvo.bots.sources import in_sandbox
from salvo.cli.checked import refuse_unused, refuse_unused_sandbox
from salvo.cli.options import JOBS, RULES, SANDBOXED, SEED, TRACEBACK, json_option
from salvo.cli.output import SECONDS, Integer
from salvo.errors import BotError
from salvo_display.opener import opener
from salvo_lab.commands.on_hosts import hosts
from salvo_lab.commands.play_here import play_in_turn, play_one
from salvo_lab.commands.play_many import play_many
from salvo_lab.commands.play_person import play_with_person
from salvo_lab.commands.play_plan import GAME, PlayPlan
from salvo_lab.human import AT_DESKS, HUMAN, MCP
from salvo_lab.simulation import Seats
from salvo_lab.time_limits import TURN_SECONDS


@click.command()
@click.argument("bots", nargs=-1)
@SEED
@RULES
@click.option("--game", type=Integer(min=1), default=1, help="Number of the (first) game of the seed.")
@click.option("--games", type=Integer(min=1), default=1, help="How many games.")
@click.option(
    "--seats",
    type=click.Choice([seat.value for seat in Seats]),
    default=Seats.FIXED.value,
    help="From game to game: fixed, rotated by one seat, or paired: the same fleets and start from every side.",
)
@JOBS
@hosts
@click.option(
    "--turn-seconds",
    type=SECONDS,
    help=f"Seconds for a salvo, in wall-clock time.  [default: {TURN_SECONDS:g} in several games, else no limit]",
)
@click.option("--bank", type=SECONDS, help="Time bank: seconds for all salvos of a bot in a game.  [default: no limit]")
@click.option(
    "--record", metavar="FILE", help="Write the game to a transcript; for several, {game} in the name is the number."
)
@SANDBOXED
@TRACEBACK
@click.option("--watch", is_flag=True, help="Show the boards during the game; without a terminal, a line per salvo.")
@click.option("--browser", is_flag=True, help=f"Play as {HUMAN} by clicking: print the address of a page, and open it.")
@json_option("One JSON line per game.")
@click.pass_context
def play(
    ctx: click.Context,
    /,
    bots: tuple[str, ...],
    seed: str | None,
    seats: str,
    jobs: int | None,
    scheduler: str | None,
    tls: Path | None,
    sandbox: bool,
    traceback: bool,
    watch: bool,
    browser: bool,
    **planned: Any,
) -> None:
    """Play BOTS (files, file.py:Name, HEAD:file.py, exec:CMD, or built-in bots) against each other, in play order.

    One of them may be human: you, at this terminal, or with --browser by clicking. CMD is a program in any language,
    which reads JSON lines and answers with them; if it fails, it loses the turn. A file.js is run by node.

    A single game stops at the error of a bot, and shows where it is. Several games use all cores, discard bot output,
    and continue without a bot that fails. In a single game with --json, bot output goes to standard error.
    """
    if sandbox:
        given, bots = bots, tuple(bot if bot in AT_DESKS else in_sandbox(bot) for bot in bots)
        refuse_unused_sandbox(given, bots)
    plan = PlayPlan(bots, seed or secrets.token_hex(16), seats=Seats(seats), **planned)
    _refuse_unused(plan)
    _check(plan)
    if plan.at_once:
        play_many(plan, jobs, scheduler, tls, traceback=traceback)
    elif plan.has_person:
        play_with_person(ctx, plan, opener() if browser else None)
    elif plan.games > 1:
        play_in_turn(ctx, plan)
    else:
        play_one(ctx, plan, watch=watch)


def _refuse_unused(plan: PlayPlan) -> None:
    """Refuse options that have no effect with these."""
    for option in () if plan.at_once else ("jobs", "scheduler", "tls"):
        why = "for one game, with --record or --bank, or where programs play: those play one by one; leave it out"
        refuse_unused(option, why)
    if HUMAN not in plan.bots:
        refuse_unused("browser", f"without {HUMAN} among the bots, who plays there")
    if plan.as_json:
        refuse_unused("watch", "with --json, which is for programs; leave one of them out")
    if plan.has_person:
        refuse_unused("watch", f"with {HUMAN} or {MCP}, who see the game; leave it out")
    if plan.games > 1:
        refuse_unused("watch", "in several games; leave out --games, and choose one of them with --game")


def _check(plan: PlayPlan) -> None:
    """Refuse what cannot be played, or not be recorded.

    Raises:
        BotError: ``too_few_players``.
        SalvoError: the transcript of another game is in the way.
    """
    bots, games, record, seats = plan.bots, plan.games, plan.record, plan.seats
    if len(bots) < 2:
        first = shlex.quote(bots[0]) if bots else "mybot.py"
        raise BotError(
            "too_few_players",
            f"{len(bots)} bot{'' if bots else 's'}; a game has two or more, such as: salvo play {first} hunter",
        )
    if record is not None and games > 1 and GAME not in record:
        raise click.UsageError(f"--record {record}: {games} games need {GAME} in the name, such as g-{GAME}.jsonl.gz")
    if plan.has_person and games > 1:
        raise click.UsageError(f"--games {games}: {HUMAN} asks for the next game by r; {MCP} plays one")
    if record is not None and seats == Seats.PAIRED and len(bots) > 2:
        raise click.UsageError(
            f"--record: with {len(bots)} bots seats are {Seats.FIXED} or {Seats.ROTATED}, not {seats}"
        )
    if record is not None:
        for number in range(plan.game, plan.game + games):
            plan.check_transcript(number)
