"""Games of ``salvo play`` in the command's own process, one after the other: a single one, or several."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NoReturn

import click

from salvo.bots.adapter import Adapter, closing
from salvo.bots.player import Bot
from salvo.bots.replay_command import seat_names
from salvo.bots.sources import EXEC, SANDBOX, in_folder, is_program, make
from salvo.cli.output import has_terminal, progress_bar
from salvo.rules.files import load_book
from salvo.rules.starter import draw_starter
from salvo_display.boards.text_boards import TextBoards
from salvo_display.boards.watched_game import Watched
from salvo_lab import arena
from salvo_lab.arena import Outcome
from salvo_lab.chance import warn_of_chance
from salvo_lab.commands.failures import repeated_by
from salvo_lab.commands.play_plan import PlayPlan, record_of, warn, wins_line, write_again, write_game
from salvo_lab.commands.supervised_game import SupervisedGame, who_ended
from salvo_lab.human import AT_DESKS
from salvo_lab.intervals import rate_and_error
from salvo_lab.simulation.seats import places_alike, seating
from salvo_lab.time_limits import limit_time, telling_of_waits


class LocalTable:
    """Plays the games of a plan with bots in this process."""

    def __init__(self, plan: PlayPlan, supervised: SupervisedGame, leaving: contextlib.ExitStack) -> None:
        """Load the rules.

        Args:
            supervised: learns which game is played.
            leaving: closes the bots.
        """
        self.plan = plan
        self.book = load_book(plan.rules)
        self._supervised = supervised
        self._leaving = leaving

    def seat(self, report: Callable[[str], object] = warn, person: Bot | None = None) -> dict[str, Adapter]:
        """Make bots, by their names at the table.

        Args:
            report: what goes wrong when they are closed.
            person: sits where the plan has one.
        """
        return {
            name: Adapter(person) if person is not None and bot in AT_DESKS else self._make(bot, report)
            for name, bot in zip(seat_names(self.plan.bots), self.plan.bots, strict=True)
        }

    def _make(self, source: str, report: Callable[[str], object]) -> Adapter:
        [name] = seat_names([source])
        limits = self.plan.limits
        # A single game stops at the error of a bot, but not of a foreign program. A late answer is an error of a
        # program, and with a time limit it costs the turn, as it does a bot in Python.
        alone = self.plan.games == 1 and limits is None
        bot = make(source, strict=alone and not source.removeprefix(SANDBOX).startswith(EXEC))
        if is_program(in_folder(source)):
            from salvo.bots.programs.exec_bot import ExecBot

            assert isinstance(bot, ExecBot)
            bot.show = click.echo
        adapter = self._leaving.enter_context(closing(bot, name, report))
        if limits is not None:
            limit_time(adapter.bot, limits)
        self._leaving.enter_context(telling_of_waits(adapter.bot, name))
        return adapter

    def play(self, seated: Mapping[str, Adapter], game: int, boards: TextBoards) -> Outcome:
        """Play the game of a number, and record it if the plan says so."""
        plan, book = self.plan, self.book
        self._supervised.game = game
        exchanged = places_alike([type(adapter.bot) for adapter in seated.values()])
        order, fleets, starter = seating(plan.seats, list(seated), plan.seed, game, book, exchanged=exchanged)
        if plan.record is None:
            return arena.play(
                {name: seated[name] for name in order},
                seed=plan.seed,
                game=game,
                book=book,
                fleets=fleets,
                starter=starter,
                opening=boards.begin,
                listener=boards.follow,
            )
        plan.check_transcript(game)
        # The referee and its codec take as long to import as a game takes to play.
        from salvo_game.transcript import write_transcript
        from salvo_lab.recording import play_at_table

        if starter is not None:  # at a table the seed draws who begins: let that be the same player's seat
            turn = starter - draw_starter(book, plan.seed, "", game, len(order))
            order = order[turn:] + order[:turn]
        bots = {name: seated[name] for name in order}
        outcome, header, steps = play_at_table(bots, seed=plan.seed, game=game, book=book, fleets=fleets, boards=boards)
        write_transcript(plan.transcript(game), header, steps)
        return outcome


def supervise(ctx: click.Context, plan: PlayPlan, play: Callable[[SupervisedGame], None]) -> None:
    """Play in a copy of this process where that can be, and say which bot has ended it."""
    supervised = SupervisedGame(plan.game)

    @repeated_by(plan.command)
    def blame(code: int) -> NoReturn:
        raise who_ended(plan.bots, supervised.game, plan.seed, plan.rules, plan.seats, code)

    supervised.play(ctx, partial(play, supervised), blame)


def play_one(ctx: click.Context, plan: PlayPlan, *, watch: bool) -> None:
    """Play a single game.

    Args:
        watch: whether to show the boards during the game.
    """
    write = partial(click.echo, file=sys.stdout)
    boards = Watched(moving=has_terminal()) if watch else TextBoards()

    def play(supervised: SupervisedGame) -> None:
        warning = ""
        with contextlib.ExitStack() as leaving:
            if plan.as_json:
                leaving.enter_context(contextlib.redirect_stdout(sys.stderr))
            table = LocalTable(plan, supervised, leaving)
            seated = table.seat()
            leaving.enter_context(repeated_by(plan.command))
            with boards if isinstance(boards, Watched) else contextlib.nullcontext():
                outcome = table.play(seated, plan.game, boards)
            if plan.record is None and plan.limits is None and not plan.has_programs:
                quiet = partial(table.seat, lambda text: None)
                warning = warn_of_chance(outcome, boards, lambda other: table.play(quiet(), plan.game, other))
            if plan.as_json:
                write(json.dumps(record_of(outcome)))
            else:
                if boards.salvos and has_terminal():
                    click.echo("\n".join(boards.lines(outcome.fleets, coloured=not os.environ.get("NO_COLOR"))))
                write_game(outcome, write)
                write_again(plan, write, explained=True)
        if warning:
            warn(warning)

    supervise(ctx, plan, play)


def play_in_turn(ctx: click.Context, plan: PlayPlan) -> None:
    """Play several games with the same bots; what these print is discarded."""
    write = partial(click.echo, file=sys.stdout)

    def play(supervised: SupervisedGame) -> None:
        with contextlib.ExitStack() as leaving:
            nowhere = leaving.enter_context(open(os.devnull, "w", encoding="utf-8"))
            leaving.enter_context(contextlib.redirect_stdout(nowhere))
            table = LocalTable(plan, supervised, leaving)
            seated = table.seat()
            leaving.enter_context(repeated_by(plan.command))
            boards = TextBoards()
            outcomes = (table.play(seated, game, boards) for game in range(plan.game, plan.game + plan.games))
            if plan.as_json:
                for outcome in outcomes:
                    write(json.dumps(record_of(outcome)))
            else:
                write(_wins(plan, outcomes))
                write_again(plan, write, explained=True)

    supervise(ctx, plan, play)


def _wins(plan: PlayPlan, outcomes: Iterator[Outcome]) -> str:
    """Play, say now and then how far it is, and return the wins of each bot."""
    wins: Counter[str] = Counter()
    ties = 0
    with progress_bar(plan.games, "games", plain=True) as show:  # a bar would be among what bots print
        for done, outcome in enumerate(outcomes, start=1):
            show(done)
            wins.update(outcome.winners)
            ties += not outcome.winner
    rates = {}
    for name in seat_names(plan.bots):
        lost = plan.games - ties - wins[name]
        rates[name] = rate_and_error([1.0] * wins[name] + [1 / len(plan.bots)] * ties + [0.0] * lost)
    return wins_line(wins, ties, plan.games, rates)
