"""``salvo play``."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import click

from salvo.bots.adapter import Adapter, closing
from salvo.bots.replay_command import again, seat_names
from salvo.bots.sources import EXEC, SANDBOX, in_folder, in_sandbox, is_program, make
from salvo.cli.checked import refuse_unused, refuse_unused_sandbox
from salvo.cli.options import JOBS, RULES, SANDBOXED, SEED, TRACEBACK, json_option
from salvo.cli.output import (
    SECONDS,
    Integer,
    has_terminal,
    keep_recorded,
    look_again,
    places_line,
    progress_bar,
    winner_line,
)
from salvo.errors import BotError, SalvoError
from salvo.rules import RuleBook
from salvo.rules.files import load_book
from salvo.rules.starter import draw_starter
from salvo_display.boards.text_boards import TextBoards
from salvo_display.boards.watched_game import Watched
from salvo_display.opener import OpenPage, opener
from salvo_lab import arena
from salvo_lab.arena import Outcome
from salvo_lab.chance import warn_of_chance
from salvo_lab.commands.failures import failure_lines, repeated_by
from salvo_lab.commands.on_hosts import connected, hosts
from salvo_lab.commands.supervised_game import SupervisedGame, who_ended
from salvo_lab.human import AT_DESKS, HUMAN, MCP
from salvo_lab.intervals import rate_and_error
from salvo_lab.simulation import Played, Seats, simulate, stream
from salvo_lab.simulation.seats import places_alike, seating
from salvo_lab.time_limits import TURN_SECONDS, TimeLimits, limit_time, telling_of_waits

if TYPE_CHECKING:
    from salvo_lab.human.skins import SitDown

#: Stands for the game's number in the name of a file.
_GAME = "{game}"


class _Recording(NamedTuple):
    """Where games are recorded."""

    name: str

    def file(self, game: int) -> Path:
        return Path(self.name.replace(_GAME, str(game)))

    def check(self, game: int) -> None:
        """Raise before the game is played, not when it is lost."""
        keep_recorded(self.file(game))

    def play(self, bots: Mapping[str, Adapter], *, game: int, **how: Any) -> Outcome:
        """Play and write a game; ``how`` is what :func:`~salvo_lab.recording.play_at_table` takes."""
        # The referee and its codec take as long to import as a game takes to play.
        from salvo_game.transcript import write_transcript
        from salvo_lab.recording import play_at_table

        outcome, header, steps = play_at_table(bots, game=game, **how)
        write_transcript(self.file(game), header, steps)
        return outcome


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
    bots: tuple[str, ...],
    seed: str | None,
    rules: str,
    game: int,
    games: int,
    seats: str,
    jobs: int | None,
    scheduler: str | None,
    tls: Path | None,
    turn_seconds: float | None,
    bank: float | None,
    record: str | None,
    sandbox: bool,
    traceback: bool,
    watch: bool,
    browser: bool,
    as_json: bool,
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
    programs = any(is_program(bot) for bot in bots)
    at_once = games > 1 and record is None and bank is None and not programs
    _refuse_unused(bots, games, at_once=at_once, as_json=as_json)
    if len(bots) < 2:
        first = shlex.quote(bots[0]) if bots else "mybot.py"
        raise BotError(
            "too_few_players",
            f"{len(bots)} bot{'' if bots else 's'}; a game has two or more, such as: salvo play {first} hunter",
        )
    if record is not None and games > 1 and _GAME not in record:
        raise click.UsageError(f"--record {record}: {games} games need {_GAME} in the name, such as g-{_GAME}.jsonl.gz")
    if _has_person(bots) and games > 1:
        raise click.UsageError(f"--games {games}: {HUMAN} asks for the next game by r; {MCP} plays one")
    if record is not None and seats == Seats.PAIRED and len(bots) > 2:
        raise click.UsageError(
            f"--record: with {len(bots)} bots seats are {Seats.FIXED} or {Seats.ROTATED}, not {seats}"
        )
    recording = None if record is None else _Recording(record)
    if recording is not None:
        for number in range(game, game + games):
            recording.check(number)
    seed = seed or secrets.token_hex(16)
    timed = [f" --{name} {value:g}" for name, value in (("turn-seconds", turn_seconds), ("bank", bank)) if value]
    command = again(bots, seed, game, games, rules, seats) + "".join(timed)

    def shown_by(number: int) -> str:
        if recording is not None:
            return look_again(recording.file(number)).removeprefix("show:").strip()
        return again(bots, seed, number, 1, rules, seats) + "".join(timed)

    if at_once:
        how = {"games": games, "seed": seed, "rules": rules, "jobs": jobs, "seats": Seats(seats), "first": game}
        how["turn_seconds"] = turn_seconds or TURN_SECONDS
        with connected(scheduler, tls) as how["cluster"]:
            _play_many(bots, how, command, traceback=traceback, as_json=as_json)
        return
    limits = TimeLimits(turn_seconds, bank) if turn_seconds is not None or bank is not None else None
    # Standard output is the protocol of a model, also when it has gone.
    write = partial(click.echo, file=sys.stderr if MCP in bots else sys.stdout)
    boards = Watched(moving=has_terminal()) if watch else TextBoards()
    supervised = SupervisedGame(game)
    open_page = opener() if browser else None

    def play_here() -> None:
        with contextlib.ExitStack() as leaving:
            if games > 1:
                nowhere = leaving.enter_context(open(os.devnull, "w", encoding="utf-8"))
                leaving.enter_context(contextlib.redirect_stdout(nowhere))
            elif MCP in bots or (as_json and HUMAN not in bots):
                leaving.enter_context(contextlib.redirect_stdout(sys.stderr))
            table = _Table(
                load_book(rules), seed, game, games, Seats(seats), recording, supervised, open_page, shown_by
            )
            outcomes = _seat(bots, table, partial(_make, limits, leaving, _warn, games == 1), boards)
            leaving.enter_context(repeated_by(command))
            if watch:
                with boards:
                    outcomes = iter((next(outcomes),))
            warning = ""
            if games == 1 and recording is None and limits is None and not programs and not _has_person(bots):
                outcome = next(outcomes)
                once_more = partial(_make, limits, leaving, lambda text: None, True)
                warning = warn_of_chance(outcome, boards, lambda other: next(_seat(bots, table, once_more, other)))
                outcomes = iter((outcome,))
            if not (as_json or _has_person(bots)) and has_terminal():
                outcomes = _with_boards(outcomes, boards)
            _play_on(outcomes, bots, seed, game, games, recording, command, as_json, write)
        if warning:
            _warn(warning)

    @repeated_by(command)
    def blame(code: int) -> NoReturn:
        raise who_ended(bots, supervised.game, seed, rules, Seats(seats), code)

    supervised.play(ctx, play_here, blame)


def _refuse_unused(bots: Sequence[str], games: int, *, at_once: bool, as_json: bool) -> None:
    """Refuse options that have no effect with these.

    Args:
        at_once: whether several games are played at the same time.
    """
    for option in () if at_once else ("jobs", "scheduler", "tls"):
        why = "for one game, with --record or --bank, or where programs play: those play one by one; leave it out"
        refuse_unused(option, why)
    if HUMAN not in bots:
        refuse_unused("browser", f"without {HUMAN} among the bots, who plays there")
    if as_json:
        refuse_unused("watch", "with --json, which is for programs; leave one of them out")
    if _has_person(bots):
        refuse_unused("watch", f"with {HUMAN} or {MCP}, who see the game; leave it out")
    if games > 1:
        refuse_unused("watch", "in several games; leave out --games, and choose one of them with --game")


def _warn(text: str) -> None:
    click.echo(f"warning: {text}", err=True)


def _with_boards(outcomes: Iterator[Outcome], boards: TextBoards) -> Iterator[Outcome]:
    """Show the boards as a game has left them."""
    for outcome in outcomes:
        if boards.salvos:
            click.echo("\n".join(boards.lines(outcome.fleets, coloured=not os.environ.get("NO_COLOR"))))
        yield outcome


def _make(
    limits: TimeLimits | None,
    leaving: contextlib.ExitStack,
    report: Callable[[str], object],
    alone: bool,
    source: str,
) -> Adapter:
    """Return a bot that is closed when all games are over; what goes wrong then is reported.

    Args:
        alone: whether it plays a single game, which stops at the error of a bot, but not of a foreign program.
    """
    [name] = seat_names([source])
    # A late answer is an error of a program, and with a time limit it costs the turn, as it does a bot in Python.
    bot = make(source, strict=alone and limits is None and not source.removeprefix(SANDBOX).startswith(EXEC))
    if is_program(in_folder(source)):
        from salvo.bots.programs.exec_bot import ExecBot

        assert isinstance(bot, ExecBot)
        bot.show = click.echo
    adapter = leaving.enter_context(closing(bot, name, report))
    if limits is not None:
        limit_time(adapter.bot, limits)
    leaving.enter_context(telling_of_waits(adapter.bot, name))
    return adapter


def _play_on(
    outcomes: Iterator[Outcome],
    bots: Sequence[str],
    seed: str,
    game: int,
    games: int,
    recording: _Recording | None,
    command: str,
    as_json: bool,
    write: Callable[[str], None],
) -> None:
    """Play one game after the other with the same bots."""
    wins: Counter[str] = Counter()
    ties = 0
    for outcome in _with_progress(outcomes, games) if games > 1 and not as_json else outcomes:
        wins.update(outcome.winners)
        ties += not outcome.winner
        if as_json:
            write(json.dumps(_record(outcome)))
        elif games == 1:
            write(f"{winner_line(outcome.winner, outcome.places)} after {outcome.turns} salvos")
            write(f"places: {places_line(outcome.places)}")
            for name in outcome.silent:
                write(f"out:    {name}, after {arena.EMPTY_TURNS} turns in a row without a shot")
    if not as_json:
        if games > 1:
            lost = {name: games - ties - wins[name] for name in seat_names(bots)}
            scores = {name: [1.0] * wins[name] + [1 / len(bots)] * ties + [0.0] * lost[name] for name in lost}
            write(_wins_line(wins, ties, games, {name: rate_and_error(worth) for name, worth in scores.items()}))
        write(f"seed:   {seed}")
        write(f"again:  {command}")
        if recording is not None and wins:
            write(f"why:    salvo explain {shlex.quote(str(recording.file(game)))}")
            write(look_again(recording.file(game)))


def _with_progress(outcomes: Iterator[Outcome], games: int) -> Iterator[Outcome]:
    """Say now and then how far it is; a bar would be among what bots print to standard error."""
    with progress_bar(games, "games", plain=True) as show:
        for done, outcome in enumerate(outcomes, start=1):
            show(done)
            yield outcome


def _play_many(bots: Sequence[str], how: Mapping[str, Any], command: str, *, traceback: bool, as_json: bool) -> None:
    """Play games on all cores; ``how`` is what :func:`~salvo_lab.simulation.simulate` takes."""
    games = how["games"]
    if as_json:
        for played in stream(bots, **how):
            click.echo(json.dumps(_record(played)))
        return
    with progress_bar(games, "games") as show:
        simulation = simulate(bots, **how, progress=lambda done, _: show(done), waiting=show)
    if has_terminal():
        click.echo(f"{games / simulation.seconds:,.0f} games a second", err=True)
    wins = Counter({name: sum(name in played.winners for played in simulation) for name in simulation.bots})
    rates = {name: (simulation.rate(name), simulation.error(name)) for name in simulation.bots}
    click.echo(_wins_line(wins, simulation.ties, games, rates))
    for line in failure_lines(simulation.failures, simulation.again, traceback=traceback):
        click.echo(line)
    click.echo(f"seed:   {how['seed']}")
    click.echo(f"again:  {command}")


def _wins_line(wins: Counter[str], ties: int, games: int, rates: Mapping[str, tuple[float, float]]) -> str:
    """Return the wins of each bot.

    Args:
        rates: by name, the mean score, in which a tie counts in part, and half the width of its 95 % interval.
    """
    tied = f", ties: {ties}, of which each has a share" if ties else ""
    shown = [f"{name} {wins[name]} of {games} ({rate:.1%} +- {error:.1%})" for name, (rate, error) in rates.items()]
    return "wins:   " + ", ".join(shown) + tied


class _Table(NamedTuple):
    """What games are played by.

    Attributes:
        supervised: learns which game is on.
        open_page: opens the page of a person who plays in a browser.
        command: returns the command that replays a game, or plays it again.
    """

    book: RuleBook
    seed: str
    first: int
    games: int
    seats: Seats
    recording: _Recording | None
    supervised: SupervisedGame
    open_page: OpenPage | None
    command: Callable[[int], str]


def _seat(bots: Sequence[str], table: _Table, make: Callable[[str], Adapter], boards: TextBoards) -> Iterator[Outcome]:
    """Return the outcomes of games to be played; those with a person are played already."""
    if not _has_person(bots):
        seated = {name: make(bot) for name, bot in zip(seat_names(bots), bots, strict=True)}
        return _games(seated, table, boards)
    people = [bot for bot in bots if bot in AT_DESKS]
    if len(people) > 1:
        raise SalvoError("one_human", f"{' and '.join(people)}; one person or model plays in one process")
    from salvo_lab.human.channel import Channel
    from salvo_lab.human.places.in_process import Human, play_here

    desk = Channel()
    names = zip(seat_names(bots), bots, strict=True)
    seated = {name: Adapter(Human(desk)) if bot in AT_DESKS else make(bot) for name, bot in names}
    again = people == [HUMAN] and (table.recording is None or _GAME in table.recording.name)
    return iter(
        play_here(
            desk,
            _sitting_down(people[0], table.open_page),
            lambda game: next(_games(seated, table._replace(first=game, games=1), boards)),
            partial(_replayed_by, table, boards),
            table.first,
            again=again,
        )
    )


def _replayed_by(table: _Table, boards: TextBoards, outcome: Outcome) -> tuple[str, Callable[[], str] | None]:
    """Return the command that replays a person's game, or plays it again, and what makes the page of it.

    There is no page where seats are paired, since at a table the seed draws who begins.
    """
    salvos = list(boards.salvos)

    def page() -> str:
        from salvo_display.replay import Replay
        from salvo_display.web_page import html_page
        from salvo_lab.recording import take_down

        book, seed = table.book, table.seed
        recorded = take_down(outcome.fleets, salvos, seed=seed, game=outcome.game, book=book)
        return html_page(Replay(f"game {outcome.game}", *recorded))

    return table.command(outcome.game), None if table.seats is Seats.PAIRED else page


def _has_person(bots: Sequence[str]) -> bool:
    return any(bot in AT_DESKS for bot in bots)


def _sitting_down(person: str, open_page: OpenPage | None) -> SitDown:
    """Return what lets a person, or a model, see and answer.

    Raises:
        SalvoError: ``no_terminal`` or ``missing_extra``.
    """
    if person == MCP:
        from salvo_lab.human.language_model import tools as mcp

        return mcp.sit_down
    from salvo_lab.human.skins import skin

    return skin(open_page)


def _games(bots: dict[str, Adapter], table: _Table, boards: TextBoards) -> Iterator[Outcome]:
    book, seed, first, count, seats, recording, supervised, *_ = table
    exchanged = places_alike([type(adapter.bot) for adapter in bots.values()])
    for number in range(first, first + count):
        supervised.game = number
        order, fleets, starter = seating(seats, list(bots), seed, number, book, exchanged=exchanged)
        if recording is None:
            seated = {name: bots[name] for name in order}
            yield arena.play(
                seated,
                seed=seed,
                game=number,
                book=book,
                fleets=fleets,
                starter=starter,
                opening=boards.begin,
                listener=boards.follow,
            )
        else:
            recording.check(number)
            if starter is not None:  # at a table the seed draws who begins: let that be the same player's seat
                turn = starter - draw_starter(book, seed, "", number, len(order))
                order = order[turn:] + order[:turn]
            seated = {name: bots[name] for name in order}
            yield recording.play(seated, seed=seed, game=number, book=book, fleets=fleets, boards=boards)


def _record(outcome: Outcome | Played) -> dict[str, object]:
    failures = outcome.failures if isinstance(outcome, Played) else ()
    failed = {"failures": [{"player": f.player, "turn": f.turn, "code": f.code, "text": f.text} for f in failures]}
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
        **(failed if failures else {}),
    }
