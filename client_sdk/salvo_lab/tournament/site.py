"""Writes a tournament as a static site: its standings, a page for each bot, and a page to watch each game.

    index.html          the standings, whose cells link to games
    bots/3.html         the games of the third bot of the tournament's file, by opponent
    games/12-1.html     the first game of match 12
    site.json           the manifest: which files these are, so that nothing else is ever removed

The site needs no server, no network and no third-party script. File names contain no bot's name, and no file contains
an absolute path of this machine. A game's moves come from playing it again (:mod:`.recorded`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, permutations
from pathlib import Path
from typing import Any, Final, NamedTuple

from salvo_display.page import Setting, emblems, html_page
from salvo_display.site_folder import INDEX, Kind, SiteFolder
from salvo_lab.tournament.file import Tournament
from salvo_lab.tournament.games import Played
from salvo_lab.tournament.highlights import Selection, by_bots, is_odd, key_of
from salvo_lab.tournament.judge import is_of_the_clock, is_of_the_process
from salvo_lab.tournament.page import page, rendered
from salvo_lab.tournament.recorded import Recorded, is_the_same, replay_of
from salvo_lab.tournament.schedule import Pairing
from salvo_lab.tournament.standings import Row, Standings, command_of
from salvo_lab.tournament.workers import Task, Workers

KIND: Final = Kind(
    "tournament",
    re.compile(r"index\.html|bots/[0-9]{1,3}\.html|games/[0-9]{1,9}-[0-9]{1,9}\.html"),
    ("bots", "games"),
)
#: Odd games on the first page; the others are on their bots' pages.
_MAX_ODD: Final = 200
#: An absolute path in a text, whose folders are left out.
_PATH: Final = re.compile(
    r"(?<![\w/.…~-])(?:file://)?(?:/|[A-Za-z]:\\)(?:[^\s/\\'\":;,()<>]+[/\\])*([^\s/\\'\":;,()<>]+)"
)


class SiteSummary(NamedTuple):
    """What was written.

    Attributes:
        index_page: the first page.
        games: how many games have a page.
        played: how many games were played.
        differing: the games whose page has no moves, because they ended differently when played again.
    """

    index_page: Path
    games: int
    played: int
    differing: list[Played]


def make_site(
    standings: Standings,
    selection: Selection,
    folder: Path,
    jobs: int,
    progress: Callable[[int], None] = lambda done: None,
) -> SiteSummary:
    """Write or rewrite the site of a tournament.

    Every file is replaced atomically, the first page last, so that a concurrent reader sees nothing half-written.

    Args:
        selection: the games of these standings that get a page.
        jobs: how many processes play games again.
        progress: called with the number of game pages written so far.

    Raises:
        SalvoError: ``not_a_site``: there is something else in the folder; ``html_unwritable``: it cannot be written.
    """
    site = _Site(standings, selection, folder)
    with site.folder:
        for done, _ in enumerate(site.write_games(jobs), start=1):
            progress(done)
        site.write_bots()
        site.write_index()
    return SiteSummary(folder / INDEX, len(selection.games), len(standings.games), site.differing)


# --- the pages ----------------------------------------------------------------------------------------------------


class _Site:
    """The pages of a site, from which absolute paths are removed.

    Attributes:
        odd, odd_in_all, differing: see :class:`.page.Links` and :class:`SiteSummary`.
    """

    def __init__(self, standings: Standings, selection: Selection, folder: Path) -> None:
        self.folder = SiteFolder(folder, KIND, standings.tournament.name)
        self.differing: list[Played] = []
        self._tournament = standings.tournament
        self._original = {key_of(game): game for game in selection.games}
        self._standings = _without_paths(standings)
        self._selection = replace(selection, games=[_game_without_paths(game) for game in selection.games])
        self._number = {bot: number for number, bot in enumerate(standings.tournament.bots, start=1)}
        self._losses: Counter[tuple[str, str]] = Counter()
        for game in standings.games:
            self._losses.update(pair for pair in permutations(game.bots, 2) if not _result(game, *pair)[0])
        self._meetings: dict[tuple[str, str], list[Played]] = {}
        for game in self._selection.games:
            for pair in permutations(game.bots, 2):
                self._meetings.setdefault(pair, []).append(game)
        self._of_match = {game.match: game for game in reversed(self._selection.games)}
        self.odd = [game for game in self._selection.games if is_odd(game)][:_MAX_ODD]
        self.odd_in_all = sum(map(is_odd, standings.games))

    def bot(self, bot: str, against: str = "") -> str:
        """Return the link from the first page to a bot's games."""
        return f"bots/{self._number[bot]}.html" + (f"#against-{self._number[against]}" if against else "")

    def game(self, game: Played) -> str:
        """Return the link from the first page to a game."""
        return f"games/{game.match}-{game.index + 1}.html"

    def match(self, number: int) -> str:
        """Return the link from the first page to a game of a match; empty if none has a page."""
        return self.game(self._of_match[number]) if number in self._of_match else ""

    def write_index(self) -> None:
        """Write the first page."""
        self.folder.write(INDEX, page(self._standings, self))

    # --- games ------------------------------------------------------------------------------------------------------

    def write_games(self, jobs: int) -> Iterator[Played]:
        """Play the games again and write their pages; yield each game when its page is written."""
        shown = {key_of(game): game for game in self._selection.games}
        links = dict(self._links())
        with Workers(self._tournament, jobs) as workers:
            for batch in workers.record(map(task_of, self._original.values())):
                for recorded in batch:
                    key = key_of(recorded.played)
                    self._write_game(shown[key], self._original[key], recorded, links[key])
                    yield shown[key]
        self.differing.sort(key=key_of)

    def _write_game(self, shown: Played, original: Played, recorded: Recorded, links: list[tuple[str, str]]) -> None:
        if is_the_same(recorded.played, original):
            setting = Setting(_title(shown), links, self._notes(shown))
            text = html_page(replay_of(recorded, self._tournament.book), setting=setting)
        else:
            self.differing.append(shown)
            facts = {"called": _title(shown), "places": _places(shown), "turns": shown.turns}
            notes = self._notes(shown)
            text = rendered("game.html.j2", given=self._standings.tournament, links=links, notes=notes, **facts)
        self.folder.write(self.game(shown), text)

    def _notes(self, game: Played) -> list[str]:
        """Return the strikes of a game, and the command that plays it again, once that cannot reveal any fleets."""
        again = command_of(game, self._standings.tournament)
        commands = (
            [f"Play it again, in the folder of the tournament's file: {again}"] if self._standings.complete else []
        )
        return [*_strikes(game), *commands]

    def _links(self) -> Iterator[tuple[tuple[int, int], list[tuple[str, str]]]]:
        """Yield each game's links: to the first page, its bots' pages, and the games before and after it."""
        for group in by_bots(self._selection.games):
            for before, game, after in zip([None, *group], group, [*group[1:], None], strict=False):
                neighbours = [("Game before", before), ("Next game", after)]
                yield (
                    key_of(game),
                    [
                        (self._standings.tournament.name, f"../{INDEX}"),
                        *((f"Games of {bot}", f"../{self._from_game(bot, game)}") for bot in game.bots),
                        *((words, f"../{self.game(other)}") for words, other in neighbours if other is not None),
                    ],
                )

    def _from_game(self, bot: str, game: Played) -> str:
        rivals = [other for other in game.bots if other != bot]
        return self.bot(bot, rivals[0] if len(rivals) == 1 else "")

    # --- bots -------------------------------------------------------------------------------------------------------

    def write_bots(self) -> None:
        """Write the page of every bot."""
        for row in self._standings.rows:
            self.folder.write(self.bot(row.name), self._bot_page(row))

    def _bot_page(self, row: Row) -> str:
        return rendered(
            "bot.html.j2",
            given=self._standings.tournament,
            emblems=emblems(self._number),
            row=row,
            number=self._number[row.name],
            complete=self._standings.complete,
            most=self._selection.max_games,
            opponents=[
                {
                    "number": self._number[other.name],
                    "name": other.name,
                    "points": met.points,
                    "in_all": met.games,
                    "lost": self._losses[row.name, other.name],
                    "games": self._against(row.name, other.name),
                }
                for other in self._standings.rows
                if other.name != row.name and (met := self._standings.meetings[row.name][other.name]).games
            ],
        )

    def _against(self, bot: str, other: str) -> list[dict[str, Any]]:
        """Return the games of two bots from the first one's view, its worst first."""
        games = sorted(self._meetings.get((bot, other), ()), key=lambda game: _result(game, bot, other))
        return [self._line(game, bot, other) for game in games]

    def _line(self, game: Played, bot: str, other: str) -> dict[str, Any]:
        seat, rival = game.bots.index(bot), game.bots.index(other)
        result, _ = _result(game, bot, other)
        return {
            "file": self.game(game),
            "called": f"{game.match}.{game.index + 1}",
            "word": ("lost", "tied", "won")[result],
            "why": self._selection.losses.get(key_of(game), {}).get(bot, "").removeprefix("lost "),
            "places": _places(game),
            "turns": game.turns,
            "hits": game.hits[seat],
            "theirs": game.hits[rival],
            "odd": _strike_counts(game),
        }


def task_of(game: Played) -> Task:
    """Return the task that plays a game again."""
    causes = list(chain.from_iterable(game.strikes))
    pairing = Pairing(game.match, 0, game.index, game.bots, game.seed, game.game)
    return Task(pairing, apart=any(map(is_of_the_process, causes)), patient=not any(map(is_of_the_clock, causes)))


def _title(game: Played) -> str:
    return f"match {game.match}, game {game.index + 1}"


def _places(game: Played) -> str:
    in_order = sorted(zip(game.places, game.bots, strict=True), key=lambda pair: pair[0])
    return ", ".join(f"{place}. {bot}" for place, bot in in_order)


def _strikes(game: Played) -> list[str]:
    return [f"{bot}: {cause}" for bot, causes in zip(game.bots, game.strikes, strict=True) for cause in causes]


def _strike_counts(game: Played) -> list[str]:
    """Return the number of strikes of each bot that has any; the game's own page lists them."""
    counted = zip(game.bots, map(len, game.strikes), game.forfeited, strict=True)
    return [f"{bot}: {count} strike{'s' * (count != 1)}{', out' * out}" for bot, count, out in counted if count or out]


def _result(game: Played, bot: str, other: str) -> tuple[int, int]:
    """Return a bot's result against another: 0 lost, 1 tied, 2 won; and by how many hits it was ahead."""
    seat, rival = game.bots.index(bot), game.bots.index(other)
    own, others = game.places[seat], game.places[rival]
    return 1 + (own < others) - (own > others), game.hits[seat] - game.hits[rival]


# --- hiding paths -------------------------------------------------------------------------------------------------


def without_paths(text: str) -> str:
    """Return a text with only the last part of every absolute path: ``…/mybot.py``."""
    return _PATH.sub(r"…/\1", text)


def _without_paths(standings: Standings) -> Standings:
    given = standings.tournament
    bots: Mapping[str, str] = {bot: without_paths(source) for bot, source in given.bots.items()}
    shown: Tournament = given.model_copy(update={"bots": bots, "rules": without_paths(given.rules)})
    rows = [replace(row, source=bots[row.name]) for row in standings.rows]
    return replace(
        standings, tournament=shown, rows=rows, games=[_game_without_paths(game) for game in standings.games]
    )


def _game_without_paths(game: Played) -> Played:
    return replace(game, strikes=tuple(tuple(map(without_paths, causes)) for causes in game.strikes))
