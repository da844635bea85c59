"""The static site of the games of an evening.

index.html              the list, which a script filters
games/ID.html           the page of a game
games/ID.jsonl.gz       its transcript, and games/ID.proof.jsonl its proof where there is one
site.json               the manifest: which files these are, so that nothing else is ever removed
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from salvo.badges import Badges
from salvo.errors import SalvoError
from salvo.fairness.proof import PROOF
from salvo_display.web_page import Setting, html_page
from salvo_watch.archive import Archive, Entry, transcript_of
from salvo_watch.games_page import TITLE, note_page, site_list
from salvo_watch.site_folder import GAMES, INDEX, SiteFolder

#: What a page says of a game that was executed for it.
CHECKED: Final = "executed again: every announcement agrees"


def make_site_of_games(
    archive: Archive, folder: Path, progress: Callable[[int], None] = lambda done: None
) -> list[Entry]:
    """Write or rewrite the site of an archive's games, as of its last look; return its list.

    Every file is replaced atomically, the first page last. A game that cannot be executed has no page, and the list
    says so.

    Args:
        progress: called with the number of games written so far.

    Raises:
        SalvoError: ``not_a_site``: there is something else in the folder; ``html_unwritable``: it cannot be written.
    """
    games = [entry for entry in archive.listed if entry.id]
    neighbours = zip([None, *games], games, [*games[1:], None], strict=False)
    listed: dict[str, Entry] = {}
    badges = Badges(archive.badges)
    for entry in reversed(games):  # of teams whose badge nobody knows, the oldest first: a new game changes none
        badges.of(entry.players)
    with SiteFolder(folder) as site:
        for done, (later, entry, earlier) in enumerate(neighbours, start=1):
            links = [(TITLE, f"../{INDEX}")]
            links += [("Game before", f"{earlier.id}.html")] if earlier else []
            links += [("Next game", f"{later.id}.html")] if later else []
            listed[entry.id] = _write_game(archive, site, entry, Setting(links, checked=CHECKED, badges=badges))
            progress(done)
        whole = [listed.get(entry.id, entry) for entry in archive.listed]
        site.write(INDEX, site_list(whole, badges, archive.leagues))
    return whole


def _write_game(archive: Archive, site: SiteFolder, entry: Entry, setting: Setting) -> Entry:
    """Write a game's files; return what the list has of it."""
    name = f"{GAMES}/{entry.id}"
    try:
        replay, proof = archive.replay(entry.id), archive.proof(entry.id)
    except SalvoError as error:
        text = f"{error.code}: its record cannot be executed; salvo replay --check says where."
        site.write(f"{name}.html", note_page("This game cannot be shown", text, setting.links))
        return entry._replace(id="", trouble=error.code)
    files = [("Transcript", f"{entry.id}.jsonl.gz"), *([("Proof", f"{entry.id}{PROOF}")] if proof else [])]
    site.write(f"{name}.html", html_page(replay, setting=setting._replace(links=[*setting.links, *files])))
    site.write(f"{name}.jsonl.gz", transcript_of(replay))
    if proof is not None:
        site.write(f"{name}{PROOF}", proof.read_bytes())
    return entry
