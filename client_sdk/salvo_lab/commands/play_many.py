"""Several games of ``salvo play`` on all cores, or on the hosts of a scheduler."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from salvo.cli.output import has_terminal, progress_bar
from salvo_lab.commands.failures import failure_lines
from salvo_lab.commands.on_hosts import connected
from salvo_lab.commands.play_plan import PlayPlan, record_of, wins_line, write_again
from salvo_lab.simulation import simulate, stream
from salvo_lab.time_limits import TURN_SECONDS


def play_many(plan: PlayPlan, jobs: int | None, scheduler: str | None, tls: Path | None, *, traceback: bool) -> None:
    """Play games at the same time, and print how they ended."""
    how: dict[str, Any] = {
        "games": plan.games,
        "seed": plan.seed,
        "rules": plan.rules,
        "seats": plan.seats,
        "first": plan.game,
        "turn_seconds": plan.turn_seconds or TURN_SECONDS,
        "jobs": jobs,
    }
    with connected(scheduler, tls) as cluster:
        if plan.as_json:
            for played in stream(plan.bots, **how, cluster=cluster):
                click.echo(json.dumps(record_of(played)))
            return
        with progress_bar(plan.games, "games") as show:
            simulation = simulate(plan.bots, **how, progress=lambda done, _: show(done), waiting=show, cluster=cluster)
        if has_terminal():
            click.echo(f"{plan.games / simulation.seconds:,.0f} games a second", err=True)
        wins = {name: sum(name in played.winners for played in simulation) for name in simulation.bots}
        rates = {name: (simulation.rate(name), simulation.error(name)) for name in simulation.bots}
        click.echo(wins_line(wins, simulation.ties, plan.games, rates))
        for line in failure_lines(simulation.failures, simulation.again, traceback=traceback):
            click.echo(line)
        write_again(plan, click.echo, explained=False)
