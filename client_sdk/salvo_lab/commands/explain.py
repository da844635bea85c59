"""``salvo explain``."""

from __future__ import annotations

from pathlib import Path

import click

from salvo.cli.output import has_terminal, progress_bar, write_page
from salvo_display import replay_text
from salvo_display.boards.colours import Colour, ink
from salvo_display.boards.marks import PLAIN
from salvo_display.replay import Replay
from salvo_game.recordings import open_recordings
from salvo_lab.explaining import reasons
from salvo_lab.explaining.explain import FEWEST_FLEETS, FLEETS, MAX_FLEETS, Explainer, Explanation
from salvo_lab.explaining.replays import explain as explain_game
from salvo_lab.explaining.replays import salvos_of


@click.command()
@click.argument("file")
@click.option("--turn", type=int, help="Only this turn, with heat maps.  [default: all, in a table]")
@click.option("--fleets", default=FLEETS, help=f"Fleets to sample for each board, {FEWEST_FLEETS}..{MAX_FLEETS}.")
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Write the heat maps as a page, too.")
def explain(
    file: str,
    turn: int | None,
    fleets: int,
    html: Path | None,
) -> None:
    """Analyse what each bot knew, what its shots gained, and luck versus skill.

    FILE is a transcript, a proof file, or a server's journal: its latest game; salvo replay --export has the others.

    For each salvo, fleets are sampled evenly from all that agree with what its player knew; the share of them that
    covers a cell is the chance of a hit. So a well hidden fleet is bad luck for its opponent.
    """
    replay = Replay(*open_recordings(file).executed())
    header = replay.header
    seed = f"{header.seed}/{header.game}"
    explainer = Explainer(seed, fleets)
    count = len(salvos_of(replay, turn))
    with progress_bar(count, "salvos") as progress:
        explanations = explain_game(replay, explainer, turn=turn, progress=progress)
    if html is not None:
        write_page(html, reasons.html_page(replay, explanations, fleets if turn is None else None))
        click.echo(f"page: {html}", err=True)
    if turn is None:
        click.echo("\n".join([replay_text.heading(replay), *reasons.game_lines(replay, explanations, fleets)]))
    else:
        click.echo(replay_text.heading(replay))
        for explanation in explanations:
            _print_salvo(replay, explanation)


def _print_salvo(replay: Replay, explanation: Explanation) -> None:
    click.echo(replay_text.salvo_line(replay.frame(explanation.player, explanation.turn)))
    for rival, drawn in explanation.maps.items():
        click.echo()
        click.echo(reasons.knowledge_line(rival, explanation.known[rival]))
        click.echo(drawn.draw(_paint) if has_terminal() else str(drawn).translate(PLAIN))
    click.echo()
    click.echo("\n".join(reasons.salvo_lines(explanation, replay.header.rules.book.grid)))


def _paint(text: str, colour: Colour) -> str:
    return click.style(text, fg=_of_256(ink(colour)), bg=_of_256(colour))


def _of_256(colour: Colour) -> int:
    """Return the nearest colour of the cube of 6 x 6 x 6 that most terminals have."""
    red, green, blue = (round(part / 255 * 5) for part in colour)
    return 16 + 36 * red + 6 * green + blue
