"""``salvo demo``."""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections import deque
from collections.abc import Sequence
from typing import Any

import click

from salvo import messages as m
from salvo.cli.options import RULES
from salvo.cli.output import Integer, has_terminal, places_line, winner_line
from salvo.client import play as play_contest
from salvo.errors import SalvoError
from salvo.messages import State
from salvo.replay_command import again, seat_names
from salvo.rules import Fleet, RuleBook
from salvo.rules.files import load_book
from salvo.sources import load
from salvo.table_state import SalvoCounted, TableState
from salvo_display.boards.rich_boards import Board, draw_boards, draw_page
from salvo_display.boards.text_boards import news
from salvo_server.contest import Contest
from salvo_server.settings import ServerSettings
from salvo_server.storage.identity import Identity

#: Pause after a salvo on a terminal, so that a whole game takes about a quarter of a minute.
_PACE_ON_SCREEN_SECONDS = 0.1
#: A bot that is not listed with a complete fleet by then never will be.
_JOIN_SECONDS = 30.0


@click.command()
@click.option("--players", type=Integer(2, 8), default=4, help="Number of bots, alternately hunter and random.")
@RULES
def demo(players: int, rules: str) -> None:
    """Watch built-in bots play a whole game over a real broker, with broker, server and bots in this process."""
    live = has_terminal()
    seed = secrets.token_hex(16)
    bots = ["hunter" if seat % 2 == 0 else "random" for seat in range(players)]
    show = DemoView(load_book(rules))
    settings = ServerSettings(
        listen="127.0.0.1:0",
        players=players,
        seed=seed,
        rules=rules,
        pace_seconds=_PACE_ON_SCREEN_SECONDS if live else 0,
        over_seconds=3600,
        profile="open",
    )
    contest = Contest(settings, show, identity=Identity.fresh())
    click.echo(f"broker for an MQTT explorer: {contest.url}")
    with contest.in_background(), _live(show) if live else contextlib.nullcontext() as screen:
        threads = [_join(contest.url, name, bot, seed, show) for name, bot in _seats(bots)]
        while not show.over.wait(0.1):
            if screen is not None:
                screen.update(show.page(contest), refresh=True)
            if show.failure is not None:
                raise show.failure
        if screen is not None:
            screen.update(show.page(contest), refresh=True)
        for thread in threads:
            thread.join(5)
    _print_result(show, again(bots, seed, rules=rules), seed)


def _seats(bots: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip(seat_names(bots), bots, strict=True))


def _live(show: DemoView) -> Any:
    from rich.live import Live

    return Live(auto_refresh=False)


def _join(url: str, name: str, source: str, seed: str, show: DemoView) -> threading.Thread:
    """Start a bot on its own thread; return once its fleet is complete, so that the play order is fixed."""
    complete = show.complete.setdefault(name, threading.Event())
    bot = load(source)()

    def run() -> None:
        try:
            play_contest(bot, url, name, secrets.token_urlsafe(16), seed=seed, pin=False)
        except SalvoError as error:
            show.failure = error
            complete.set()

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    if not complete.wait(_JOIN_SECONDS):
        raise SalvoError("demo_failed", f"{name} did not place its fleet within {_JOIN_SECONDS:g} s")
    return thread


class DemoView:
    """Follows the server from inside: a demo may look at every board."""

    def __init__(self, book: RuleBook) -> None:
        self._book = book
        self.over = threading.Event()
        self.complete: dict[str, threading.Event] = {}
        self.failure: SalvoError | None = None
        self.seen = TableState()
        self._struck: dict[str, set[int]] = {}
        self._news: deque[str] = deque(maxlen=5)

    def __call__(self, table: str, now: int, command: m.Input | None, announcements: Sequence[m.Announcement]) -> None:
        for announcement in announcements:
            self._receive(announcement)

    def _receive(self, announcement: m.Announcement) -> None:
        for change in self.seen.apply(announcement):
            if isinstance(change, SalvoCounted):
                self._news.extend(f"turn {change.result.turn}: {text}" for text in news(change.result))
        match announcement:
            case m.PlacementJudged(player) if len(self.seen.approved.get(player, ())) == len(self._book.fleet):
                self.complete.setdefault(player, threading.Event()).set()
            case m.ShotLanded(to, x, y):
                self._struck.setdefault(to, set()).add(self._book.grid.cell(x, y))
            case m.StateChanged(State.OVER):
                self.over.set()
            case _:
                pass

    @property
    def current(self) -> str:
        """Whose turn it is."""
        return self.seen.playing.player if self.seen.playing is not None else ""

    def page(self, contest: Contest) -> Any:
        """Return the picture of the moment, as the referee sees it."""
        game = contest.service.tables[""].referee.game
        boards = self.boards(game.fleets if game is not None else ())
        heading = f"{contest.url}   turn {self.seen.game.last_turn}   {self.current}" if self.current else contest.url
        return draw_page(heading, draw_boards(boards, self._book.grid, self.current), list(self._news))

    def boards(self, fleets: Sequence[Fleet]) -> dict[str, Board]:
        """Return the players' boards, in play order, with their fleets once the game has begun."""
        placed, game = dict(zip(self.seen.names, fleets, strict=False)), self.seen.game
        boards = {}
        for name in self.seen.names:
            ships = {ship.name: (name, ship.name) not in game.sunk for ship in self._book.fleet}
            tally = game.tallies.get(name)
            last = f"{tally.last.hits} of {tally.last.shots}" if tally is not None else ""
            struck = self._struck.get(name, set())
            boards[name] = Board(ships, last=last, out=name in game.out, struck=struck, fleet=placed.get(name))
        return boards


def _print_result(show: DemoView, command: str, seed: str) -> None:
    game = show.seen.game
    winner, places = game.won.winner if game.won is not None else "", game.places
    click.echo(f"{winner_line(winner, places)} after {game.last_turn} salvos")
    click.echo(f"places: {places_line(places)}")
    click.echo(f"seed:   {seed}")
    click.echo(f"again:  {command}")
