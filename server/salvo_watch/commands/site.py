"""``salvo site``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from salvo.cli.output import progress_bar
from salvo.errors import SalvoError
from salvo_watch.archive import Archive
from salvo_watch.site import make_site_of_games
from salvo_watch.site_folder import INDEX


@click.command()
@click.argument("places", metavar="FOLDER|FILE|JOURNAL...", nargs=-1, required=True)
@click.option("--out", metavar="DIR", required=True, type=click.Path(path_type=Path), help="The site's folder.")
def site(places: tuple[str, ...], out: Path) -> None:
    """Write the games that are over as a small site: a list to search, and a page to watch each game.

    The games come from folders of transcripts, files, and journals, also while a server is writing them. The site needs
    no special server: open DIR/index.html in a browser, or put DIR on any web server. An older site of games in DIR is
    replaced.
    """
    archive = Archive(places)
    archive.look(None)
    troubles = Counter(entry.trouble for entry in archive.listed)
    if len(archive.listed) == troubles.total() - troubles[""]:
        why = "; ".join(f"{entry.name}: {entry.trouble}" for entry in archive.listed[:3])
        raise SalvoError("no_such_game", f"no game that is over is there{': ' if why else ''}{why}")
    with progress_bar(troubles[""], "games") as show_progress:
        listed = make_site_of_games(archive, out, show_progress)
    games = sum(not entry.trouble for entry in listed)
    click.echo(f"site:   {out / INDEX}, {games} game{'s' * (games != 1)}")
    for entry in listed:
        if entry.trouble:
            click.echo(f"not shown: {entry.name}: {entry.trouble}")
