"""``salvo demo``."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Sequence

import click

from salvo import messages as m
from salvo.bots.replay_command import again, seat_names
from salvo.bots.sources import load
from salvo.cli.options import RULES
from salvo.cli.output import Integer, has_terminal, places_line, winner_line
from salvo.errors import SalvoError
from salvo.join.client import play as play_contest
from salvo.messages import State
from salvo.rules import RuleBook
from salvo.rules.files import load_book
from salvo.table_state import TableState
from salvo.view import Shot
from salvo_display.boards.text_boards import TextBoards
from salvo_display.boards.watched_game import Watched
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
    show = DemoView(load_book(rules), Watched(moving=True, pause=lambda seconds: None) if live else TextBoards())
    settings = ServerSettings(
        listen="127.0.0.1:0",
        players=players,
        seed=seed,
        rules=rules,
        pace_seconds=_PACE_ON_SCREEN_SECONDS if live else 0,
        over_seconds=3600,
        profile="open",
    )
    contest = show.contest = Contest(settings, show, identity=Identity.fresh())
    with show.boards, contest.in_background():
        click.echo(f"broker for an MQTT explorer: {contest.url}")
        threads = [_join(contest.url, name, bot, seed, show) for name, bot in _seats(bots)]
        while not show.over.wait(0.1):
            if show.failure is not None:
                raise show.failure
        for thread in threads:
            thread.join(5)
    _print_result(show, again(bots, seed, rules=rules), seed)


def _seats(bots: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip(seat_names(bots), bots, strict=True))


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
    """Follows the server from inside: a demo may look at every board.

    Attributes:
        boards: of the game, which they may show as it goes.
        contest: set once it exists.
    """

    def __init__(self, book: RuleBook, boards: TextBoards) -> None:
        self._book = book
        self.boards = boards
        self.contest: Contest | None = None
        self.over = threading.Event()
        self.complete: dict[str, threading.Event] = {}
        self.failure: SalvoError | None = None
        self.seen = TableState()
        self._shots: list[Shot] = []

    def __call__(self, table: str, now: int, command: m.Input | None, announcements: Sequence[m.Announcement]) -> None:
        for announcement in announcements:
            self.seen.apply(announcement)
            match announcement:
                case m.PlacementJudged(player) if len(self.seen.approved.get(player, ())) == len(self._book.fleet):
                    self.complete.setdefault(player, threading.Event()).set()
                case m.StateChanged(State.TURN):
                    self._begin(table)
                case m.ShotLanded(to, x, y):
                    self._shots.append(Shot(to, x, y))
                case m.SalvoResolved():
                    count = announcement.shots
                    self.boards.follow(self._shots[:count], announcement)
                    del self._shots[:count]
                case m.StateChanged(State.OVER):
                    self.over.set()
                case _:
                    pass

    def _begin(self, table: str) -> None:
        assert self.contest is not None
        referee = self.contest.service.tables[table].referee
        assert referee.game is not None
        self.boards.begin({name: referee.game.fleets[one.seat] for name, one in referee.match.players.items()})


def _print_result(show: DemoView, command: str, seed: str) -> None:
    game = show.seen.game
    winner, places = game.won.winner if game.won is not None else "", game.places
    click.echo(f"{winner_line(winner, places)} after {game.last_turn} salvos")
    click.echo(f"places: {places_line(places)}")
    click.echo(f"seed:   {seed}")
    click.echo(f"again:  {command}")
