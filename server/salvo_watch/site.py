"""The static site of the games of an evening.

index.html              the list, which a script filters
games/ID.html           the page of a game
games/ID.jsonl.gz       its transcript, and games/ID.proof.jsonl its proof where there is one
site.json               the manifest: which files these are, so that nothing else is ever removed
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from salvo.badges import Badges
from salvo.errors import SalvoError
from salvo.join.fairness.proof import PROOF
from salvo.messages import Fate
from salvo.rules import Ending
from salvo_display.replay import REFEREE, Replay
from salvo_display.replay_text import counted
from salvo_display.web_page import Setting, html_page
from salvo_display.web_page.drawing import board, cells_of
from salvo_display.web_page.moves import strengths
from salvo_watch.archive import Archive, ArchiveEntry, transcript_of
from salvo_watch.games_page import TITLE, Best, note_page, site_list
from salvo_watch.site_folder import GAMES, INDEX, SiteFolder

#: What a page says of a game that was executed for it.
CHECKED: Final = "executed again: every announcement agrees"
#: Of how many games that were fought to the end three are the best, and from how many hits on a comeback is one.
_FEWEST: Final = 4
_COMEBACK: Final = 3


class _Fought(NamedTuple):
    """How a game went that one player won, and no other gave up.

    Attributes:
        margin: how much stronger the winner was at the end.
        behind: how much weaker it was at the most, and ``since`` which turn.
    """

    entry: ArchiveEntry
    margin: int
    behind: int
    since: int


def make_site_of_games(
    archive: Archive, folder: Path, progress: Callable[[int], None] = lambda done: None
) -> list[ArchiveEntry]:
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
    listed: dict[str, ArchiveEntry] = {}
    fought: list[_Fought] = []
    badges = Badges(archive.badges)
    for entry in reversed(games):  # of teams whose badge nobody knows, the oldest first: a new game changes none
        badges.of(entry.players)
    with SiteFolder(folder) as site:
        for done, (later, entry, earlier) in enumerate(neighbours, start=1):
            links = [(TITLE, f"../{INDEX}")]
            links += [("Game before", f"{earlier.id}.html")] if earlier else []
            links += [("Next game", f"{later.id}.html")] if later else []
            setting = Setting(links, checked=CHECKED, badges=badges)
            listed[entry.id] = _write_game(archive, site, entry, setting, fought)
            progress(done)
        whole = [listed.get(entry.id, entry) for entry in archive.listed]
        site.write(INDEX, site_list(whole, badges, archive.leagues, list(_best(archive, fought))))
    return whole


def _write_game(
    archive: Archive, site: SiteFolder, entry: ArchiveEntry, setting: Setting, fought: list[_Fought]
) -> ArchiveEntry:
    """Write a game's files, and add it to those that were fought; return what the list has of it."""
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
    fought += _fought(replay, entry)
    return entry


def _fought(replay: Replay, entry: ArchiveEntry) -> Iterator[_Fought]:
    last, strength = replay.frames(REFEREE)[-1], strengths(replay.onlooker(REFEREE))
    if last.winner and all(sea.fate in (None, Fate.SUNK) for sea in last.seas.values()):
        ahead = [one[last.winner] - max(one[name] for name in one if name != last.winner) for one in strength]
        yield _Fought(entry, ahead[-1], -min(ahead), ahead.index(min(ahead)))


def _best(archive: Archive, fought: Sequence[_Fought]) -> Iterator[Best]:
    """Return the games to see first, each of them once."""
    kinds: tuple[tuple[str, Callable[[_Fought], tuple[int, ...]]], ...] = (
        ("The greatest comeback", lambda one: (-one.behind, one.margin)),
        ("The closest game", lambda one: (one.margin, -one.entry.turns)),
        ("The fastest game", lambda one: (one.entry.turns, -one.margin)),
    )
    left = list(fought)
    for kind, order in kinds if len(fought) >= _FEWEST else ():
        one = min(left, key=order)
        if kind != "The greatest comeback" or one.behind >= _COMEBACK:
            left.remove(one)
            yield _drawn(archive.replay(one.entry.id), one, kind)


def _drawn(replay: Replay, one: _Fought, kind: str) -> Best:
    """Return a game with the board that shows what was special: the winner's, or of the fastest that of the second."""
    winner, second, *_ = one.entry.players
    what = "point" if replay.header.rules.book.ending is Ending.GOAL else "hit"
    behind = f"was {counted(one.behind, what)} behind after turn {one.since}, and won"
    whose, turn, words = {
        "The greatest comeback": (winner, one.since, behind),
        "The closest game": (winner, replay.turns, f"won with {counted(one.margin, what)} to spare"),
        "The fastest game": (second, replay.turns, f"won after {counted(replay.turns, 'salvo')}"),
    }[kind]
    seen, grid = replay.onlooker(REFEREE), replay.header.rules.book.grid
    sea = seen.frames[turn].seas[whose]
    paths = board(cells_of(sea.marks, seen.fleets[whose]), grid.width, sea.latest)
    return Best(kind, f"{GAMES}/{one.entry.id}.html#turn={turn}", one.entry.players, words, whose, paths, grid)
