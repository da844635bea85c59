"""A tournament as a small site of files: the table first, a page of each bot's games, and a page of each game to watch.

    index.html          the page of the tournament, whose cells lead to games
    bots/3.html         the games of the third bot of the file, by opponent
    games/12-1.html     the first game of match 12
    site.json           which files these are, so that nothing else is ever removed

It needs no server, no network and no third-party script. No name of a bot is in the name of a file, and no file
contains an absolute path of this machine. A game's moves come from playing it again (:mod:`.recorded`).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any, Final, NamedTuple

from salvo.rules import RuleBook
from salvo_server.spectate.page import Setting, html_page
from salvo_server.tournament.file import Tournament, TournamentError
from salvo_server.tournament.games import Played
from salvo_server.tournament.highlights import Chosen, is_odd, key_of
from salvo_server.tournament.judge import is_of_the_clock
from salvo_server.tournament.page import page, rendered, write_whole
from salvo_server.tournament.recorded import Recorded, is_the_same, replay_of
from salvo_server.tournament.schedule import Pairing
from salvo_server.tournament.standings import Row, Standings, command_of
from salvo_server.tournament.workers import Task, Workers

_FORM: Final = 1
_MARK: Final = "site.json"
_INDEX: Final = "index.html"
#: The files of a site, besides the mark.
_FILES: Final = re.compile(r"index\.html|bots/[0-9]{1,3}\.html|games/[0-9]{1,9}-[0-9]{1,9}\.html")
#: Odd games on the first page; the others are on their bots' pages.
_MAX_ODD: Final = 200
#: An absolute path in a text; its folders are not shown.
_PATH: Final = re.compile(
    r"(?<![\w/.…~-])(?:file://)?(?:/|[A-Za-z]:\\)(?:[^\s/\\'\":;,()<>]+[/\\])*([^\s/\\'\":;,()<>]+)"
)


class Made(NamedTuple):
    """What a site came to.

    Attributes:
        games: how many have a page, and ``of`` how many that were played.
        otherwise: those whose page has no moves, since they came out otherwise when they were played again.
    """

    first_page: Path
    games: int
    of: int
    otherwise: list[Played]


def make_site(
    came_to: Standings, chosen: Chosen, folder: Path, jobs: int, progress: Callable[[int], None] = lambda done: None
) -> Made:
    """Write or rewrite the site of the games that were played.

    Every file is replaced as a whole, the first page last, so that a concurrent reader sees nothing half-written.

    Args:
        chosen: of the games of these standings, those that get a page.
        progress: called with the number of those pages that are written.

    Raises:
        TournamentError: ``not_a_site``: the folder has something else in it; ``bad_results``: it cannot be written.
        SalvoError: ``worker_died``, see :class:`.Workers`.
    """
    site = _Site(came_to, chosen, folder)
    with site.folder:
        for done, _ in enumerate(site.write_games(jobs), start=1):
            progress(done)
        site.write_bots()
        site.write_index()
    return Made(folder / _INDEX, len(chosen.games), len(came_to.games), site.otherwise)


# --- the folder ---------------------------------------------------------------------------------------------------


class SiteFolder:
    """A folder for a site, as a context: at its end the former site's remaining files are removed."""

    def __init__(self, path: Path, tournament: str) -> None:
        """Look whether a site of this tournament is there, or may be.

        Raises:
            TournamentError: ``not_a_site``.
        """
        self._path = path
        self._tournament = tournament
        self._former = self._read()
        self._written: set[str] = set()

    def _read(self) -> set[str]:
        cure = "name an empty folder, or a new one"
        try:
            if not self._path.exists() or (self._path.is_dir() and not any(self._path.iterdir())):
                return set()
            told = json.loads((self._path / _MARK).read_bytes())
            if told["form"] != _FORM:
                raise ValueError
            whose, files = told["tournament"], [str(name) for name in told["files"]]
        except (FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError):
            text = f"{self._path} is there and is no tournament's site; {cure}"
            raise TournamentError("not_a_site", text) from None
        except OSError as error:
            raise TournamentError("bad_results", f"{self._path}: {error.strerror}; {cure}") from None
        if whose != self._tournament:
            text = f"{self._path} is the site of another tournament, {whose!r:.100}, not of {self._tournament!r:.100}"
            raise TournamentError("not_a_site", f"{text}; {cure}")
        return {name for name in files if _FILES.fullmatch(name)}

    def __enter__(self) -> SiteFolder:
        try:
            for name in ("", "bots", "games"):
                (self._path / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise TournamentError("bad_results", f"{self._path}: {error.strerror}; name another folder") from None
        self._mark(self._former)  # what is interrupted is a site, too
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self._mark(self._former | self._written)
            return
        for name in self._former - self._written:
            (self._path / name).unlink(missing_ok=True)
        self._mark(self._written)

    def write(self, name: str, text: str) -> None:
        """Write a file of the site.

        Raises:
            TournamentError: ``bad_results``.
        """
        write_whole(self._path / name, text, "name another folder")
        self._written.add(name)

    def _mark(self, files: Iterable[str]) -> None:
        told = {"form": _FORM, "tournament": self._tournament, "files": sorted(files)}
        write_whole(self._path / _MARK, json.dumps(told, indent=1) + "\n", "name another folder")


# --- the pages ----------------------------------------------------------------------------------------------------


class _Site:
    """The pages of a site; what they say has no absolute path in it.

    Attributes:
        odd, odd_in_all, otherwise: see :class:`.page.Links` and :class:`Made`.
    """

    def __init__(self, came_to: Standings, chosen: Chosen, folder: Path) -> None:
        self.folder = SiteFolder(folder, came_to.tournament.name)
        self.otherwise: list[Played] = []
        self._played_as = came_to.tournament
        self._kept = {key_of(game): game for game in chosen.games}
        self._told = _without_paths(came_to)
        self._chosen = replace(chosen, games=[_game_without_paths(game) for game in chosen.games])
        self._number = {bot: number for number, bot in enumerate(came_to.tournament.bots, start=1)}
        self._lost: Counter[tuple[str, str]] = Counter()
        for game in came_to.games:
            self._lost.update(pair for pair in permutations(game.bots, 2) if not _worth(game, *pair)[0])
        self._between: dict[tuple[str, str], list[Played]] = {}
        for game in self._chosen.games:
            for pair in permutations(game.bots, 2):
                self._between.setdefault(pair, []).append(game)
        self.odd = [game for game in self._chosen.games if is_odd(game)][:_MAX_ODD]
        self.odd_in_all = sum(map(is_odd, came_to.games))

    def bot(self, bot: str, against: str = "") -> str:
        """Return the address of a bot's games from the first page."""
        return f"bots/{self._number[bot]}.html" + (f"#against-{self._number[against]}" if against else "")

    def game(self, game: Played) -> str:
        """Return the address of a game from the first page."""
        return f"games/{game.match}-{game.index + 1}.html"

    def write_index(self) -> None:
        """Write the first page."""
        self.folder.write(_INDEX, page(self._told, self))

    # --- games ------------------------------------------------------------------------------------------------------

    def write_games(self, jobs: int) -> Iterator[Played]:
        """Play the games again and write their pages; return each when its page is there."""
        told = {key_of(game): game for game in self._chosen.games}
        links = dict(self._links())
        with Workers(self._played_as, jobs) as workers:
            for ended in workers.record(map(task_of, self._kept.values())):
                for recorded in ended:
                    key = key_of(recorded.played)
                    self._write_game(told[key], self._kept[key], recorded, links[key])
                    yield told[key]
        self.otherwise.sort(key=key_of)

    def _write_game(self, told: Played, kept: Played, recorded: Recorded, links: list[tuple[str, str]]) -> None:
        if is_the_same(recorded.played, kept):
            setting = Setting(_called(told), links, self._notes(told))
            text = html_page(replay_of(recorded, self._book), setting=setting)
        else:
            self.otherwise.append(told)
            given = {"called": _called(told), "places": _places(told), "turns": told.turns}
            notes = self._notes(told)
            text = rendered("game.html.j2", given=self._told.tournament, links=links, notes=notes, **given)
        self.folder.write(self.game(told), text)

    @property
    def _book(self) -> RuleBook:
        return self._played_as.book

    def _notes(self, game: Played) -> list[str]:
        """Return what went wrong in a game, and the command that plays it, once it cannot reveal any fleets."""
        again = command_of(game, self._told.tournament)
        commands = [f"Play it again, in the folder of the tournament's file: {again}"] if self._told.complete else []
        return [*_strikes(game), *commands]

    def _links(self) -> Iterator[tuple[tuple[int, int], list[tuple[str, str]]]]:
        """Return each game's links: all games, those of its bots, the ones next to it."""
        tables: dict[frozenset[str], list[Played]] = {}
        for game in self._chosen.games:
            tables.setdefault(frozenset(game.bots), []).append(game)
        for table in tables.values():
            for before, game, after in zip([None, *table], table, [*table[1:], None], strict=False):
                beside = [("Game before", before), ("Next game", after)]
                yield (
                    key_of(game),
                    [
                        (self._told.tournament.name, f"../{_INDEX}"),
                        *((f"Games of {bot}", f"../{self._from_game(bot, game)}") for bot in game.bots),
                        *((words, f"../{self.game(other)}") for words, other in beside if other is not None),
                    ],
                )

    def _from_game(self, bot: str, game: Played) -> str:
        rivals = [other for other in game.bots if other != bot]
        return self.bot(bot, rivals[0] if len(rivals) == 1 else "")

    # --- bots -------------------------------------------------------------------------------------------------------

    def write_bots(self) -> None:
        """Write the page of every bot."""
        for row in self._told.rows:
            self.folder.write(self.bot(row.bot), self._bot_page(row))

    def _bot_page(self, row: Row) -> str:
        return rendered(
            "bot.html.j2",
            given=self._told.tournament,
            row=row,
            number=self._number[row.bot],
            complete=self._told.complete,
            most=self._chosen.most,
            opponents=[
                {
                    "number": self._number[other.bot],
                    "name": other.bot,
                    "points": met.points,
                    "in_all": met.games,
                    "lost": self._lost[row.bot, other.bot],
                    "games": self._against(row.bot, other.bot),
                }
                for other in self._told.rows
                if other.bot != row.bot and (met := self._told.meetings[row.bot][other.bot]).games
            ],
        )

    def _against(self, bot: str, other: str) -> list[dict[str, Any]]:
        """Return the games of two bots as they went for the first, the worst first."""
        games = sorted(self._between.get((bot, other), ()), key=lambda game: _worth(game, bot, other))
        return [self._line(game, bot, other) for game in games]

    def _line(self, game: Played, bot: str, other: str) -> dict[str, Any]:
        seat, rival = game.bots.index(bot), game.bots.index(other)
        worth, _ = _worth(game, bot, other)
        return {
            "file": self.game(game),
            "called": f"{game.match}.{game.index + 1}",
            "word": ("lost", "tied", "won")[worth],
            "why": self._chosen.lost.get(key_of(game), {}).get(bot, "").removeprefix("lost "),
            "places": _places(game),
            "turns": game.turns,
            "hits": game.hits[seat],
            "theirs": game.hits[rival],
            "odd": _in_short(game),
        }


def task_of(game: Played) -> Task:
    """Return how a game is played again: who ended its process or was never made is not asked again."""
    absent = {
        seat: game.strikes[seat][-1]
        for seat, out in enumerate(game.forfeited)
        if out and not game.decisions[seat] and game.strikes[seat]
    }
    pairing = Pairing(game.match, 0, game.index, game.bots, game.seed, game.game)
    return Task(pairing, absent, patient=not any(map(is_of_the_clock, _causes(game))))


def _causes(game: Played) -> Iterator[str]:
    for told in game.strikes:
        yield from told


def _called(game: Played) -> str:
    return f"match {game.match}, game {game.index + 1}"


def _places(game: Played) -> str:
    in_order = sorted(zip(game.places, game.bots, strict=True), key=lambda pair: pair[0])
    return ", ".join(f"{place}. {bot}" for place, bot in in_order)


def _strikes(game: Played) -> list[str]:
    return [f"{bot}: {cause}" for bot, told in zip(game.bots, game.strikes, strict=True) for cause in told]


def _in_short(game: Played) -> list[str]:
    """Return who got how many strikes; which, the game's own page tells."""
    told = zip(game.bots, map(len, game.strikes), game.forfeited, strict=True)
    return [f"{bot}: {count} strike{'s' * (count != 1)}{', out' * out}" for bot, count, out in told if count or out]


def _worth(game: Played, bot: str, other: str) -> tuple[int, int]:
    """Return what a game was to a bot against another: 0 lost, 1 tied, 2 won, and by how many hits it was ahead."""
    seat, rival = game.bots.index(bot), game.bots.index(other)
    own, others = game.places[seat], game.places[rival]
    return 1 + (own < others) - (own > others), game.hits[seat] - game.hits[rival]


# --- no paths -----------------------------------------------------------------------------------------------------


def without_paths(text: str) -> str:
    """Return a text with nothing but the last part of every absolute path: ``…/mybot.py``."""
    return _PATH.sub(r"…/\1", text)


def _without_paths(came_to: Standings) -> Standings:
    given = came_to.tournament
    bots: Mapping[str, str] = {bot: without_paths(source) for bot, source in given.bots.items()}
    told: Tournament = given.model_copy(update={"bots": bots, "rules": without_paths(given.rules)})
    rows = [replace(row, source=bots[row.bot]) for row in came_to.rows]
    return replace(came_to, tournament=told, rows=rows, games=[_game_without_paths(game) for game in came_to.games])


def _game_without_paths(game: Played) -> Played:
    return replace(game, strikes=tuple(tuple(map(without_paths, told)) for told in game.strikes))
