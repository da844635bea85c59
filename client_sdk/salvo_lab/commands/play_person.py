"""Games of ``salvo play`` with a person, or a language model, at a desk in the command's own process."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import click

from salvo.errors import SalvoError
from salvo_display.boards.text_boards import TextBoards
from salvo_display.opener import OpenPage
from salvo_lab.arena import Outcome
from salvo_lab.commands.play_here import LocalTable, supervise
from salvo_lab.commands.play_plan import GAME, PlayPlan, record_of, write_again, write_game
from salvo_lab.commands.supervised_game import SupervisedGame
from salvo_lab.human import AT_DESKS, HUMAN, MCP
from salvo_lab.simulation import Seats

if TYPE_CHECKING:
    from salvo_lab.human.skins import SitDown


def play_with_person(ctx: click.Context, plan: PlayPlan, open_page: OpenPage | None) -> None:
    """Play game after game until the person leaves.

    Args:
        open_page: opens the page of a person who plays in a browser.
    """
    # Standard output is the protocol of a model, also when it has gone.
    write = partial(click.echo, file=sys.stderr if MCP in plan.bots else sys.stdout)

    def play(supervised: SupervisedGame) -> None:
        with contextlib.ExitStack() as leaving:
            if MCP in plan.bots:
                leaving.enter_context(contextlib.redirect_stdout(sys.stderr))
            outcomes = _at_desk(LocalTable(plan, supervised, leaving), open_page)
            for outcome in outcomes:
                if plan.as_json:
                    write(json.dumps(record_of(outcome)))
                else:
                    write_game(outcome, write)
            if not plan.as_json:
                write_again(plan, write, explained=bool(outcomes))

    supervise(ctx, plan, play)


def _at_desk(table: LocalTable, open_page: OpenPage | None) -> list[Outcome]:
    """Play games, and return how those that were played to their end came out.

    Raises:
        SalvoError: ``one_human``, ``no_terminal`` or ``missing_extra``.
    """
    plan = table.plan
    people = [bot for bot in plan.bots if bot in AT_DESKS]
    if len(people) > 1:
        raise SalvoError("one_human", f"{' and '.join(people)}; one person or model plays in one process")
    from salvo_lab.human.channel import Channel
    from salvo_lab.human.places.in_process import Human, play_here

    desk, boards = Channel(), TextBoards()
    seated = table.seat(person=Human(desk))
    return play_here(
        desk,
        _sitting_down(people[0], open_page),
        lambda game: table.play(seated, game, boards),
        partial(_replayed_by, table, boards),
        plan.game,
        again=people == [HUMAN] and (plan.record is None or GAME in plan.record),
    )


def _sitting_down(person: str, open_page: OpenPage | None) -> SitDown:
    """Return what lets a person, or a model, see and answer.

    Raises:
        SalvoError: ``no_terminal`` or ``missing_extra``.
    """
    if person == MCP:
        from salvo_lab.human.language_model import tools

        return tools.sit_down
    from salvo_lab.human.skins import skin

    return skin(open_page)


def _replayed_by(table: LocalTable, boards: TextBoards, outcome: Outcome) -> tuple[str, Callable[[], str] | None]:
    """Return the command that replays a person's game, or plays it again, and what makes the page of it.

    There is no page where seats are paired, since at a table the seed draws who begins.
    """
    plan, salvos = table.plan, list(boards.salvos)

    def page() -> str:
        from salvo_display.replay import Replay
        from salvo_display.web_page import html_page
        from salvo_lab.recording import take_down

        recorded = take_down(outcome.fleets, salvos, seed=plan.seed, game=outcome.game, book=table.book)
        return html_page(Replay(f"game {outcome.game}", *recorded))

    return plan.command_for(outcome.game), None if plan.seats is Seats.PAIRED else page
