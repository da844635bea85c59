"""``salvo watch``."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections import deque
from pathlib import Path
from typing import Any

import click

from salvo import messages as m
from salvo import topics, wire
from salvo.errors import WireError
from salvo.messages import State
from salvo.proof import Proof, ProofConnection
from salvo.rules import SALVO, RuleBook
from salvo.topics import Reader
from salvo_server.cli.output import has_terminal, places_line
from salvo_server.screen import Board, draw_page, draw_players
from salvo_server.telling import won_line

#: Lines of news below the table.
_NEWS_LINES = 6


@click.command()
@click.argument("url")
@click.option("--table", default="", help="The table; the default one when not given.")
@click.option("--games", type=click.IntRange(min=1), help="End after so many games; never when not given.")
@click.option("--proof", type=click.Path(path_type=Path), help="Write the server's signed log here, for salvo verify.")
@click.option("--json", "as_json", is_flag=True, help="One JSON line an event.")
def watch(url: str, table: str, games: int | None, proof: Path | None, as_json: bool) -> None:
    """Follow a table at URL live, from its public topics only."""
    watcher = Watcher(url, table, proof)
    live = has_terminal() and not as_json
    try:
        with _live(watcher) if live else contextlib.nullcontext() as screen:
            while games is None or watcher.games_ended < games:
                for line, record in watcher.poll(0.25):
                    if not live:
                        click.echo(json.dumps(record) if as_json else line)
                if screen is not None:
                    screen.update(watcher.page(), refresh=True)
    finally:
        watcher.close()


def _live(watcher: Watcher) -> Any:
    from rich.live import Live

    return Live(watcher.page(), auto_refresh=False)


class Watcher:
    """What the public topics of a table tell."""

    def __init__(self, url: str, table: str, proof: Path | None = None) -> None:
        self.games_ended = 0
        self._url = url
        self._table = table
        self._book: RuleBook = SALVO
        self._boards: dict[str, Board] = {}
        self._state = ""
        self._turn: m.TurnBegan | None = None
        self._deadline = 0.0
        self._places: dict[str, int] = {}
        self._heard: tuple[int, int] = (0, 0)
        self._news: deque[str] = deque(maxlen=_NEWS_LINES)
        self._connection = ProofConnection(url, f"salvo-watch-{os.getpid()}", clean_session=True)
        if proof is not None:
            self._connection.record(Proof(proof), table)
        self._connection.on_connect = lambda _: self._connection.subscribe(_public_filters(table))

    def poll(self, timeout_seconds: float) -> list[tuple[str, dict[str, Any]]]:
        """Return what is new, as a line for people and a record for programs."""
        news = []
        for message in self._connection.poll(timeout_seconds):
            self._connection.acknowledge(message)
            try:
                announcement = wire.read_announcement(topics.parse(message.topic), message.payload)
            except WireError:
                continue
            if announcement is not None:
                news += self._take_in(announcement)
        self._news.extend(line for line, _ in news)
        return news

    def close(self) -> None:
        """Hang up."""
        self._connection.finish_proof(self.games_ended)
        self._connection.close()

    def page(self) -> Any:
        """Return the picture of the moment."""
        current = self._turn.player if self._turn and self._state == State.TURN else ""
        heading = f"{self._url}{self._table and f' table {self._table}'}   {self._state or 'waiting for a server'}"
        if current and self._turn is not None:
            left = max(0.0, self._deadline - time.monotonic())
            heading += f"   game {self._turn.game}, turn {self._turn.turn}: {current} has {left:.0f} s"
        return draw_page(heading, draw_players(self._boards, current), list(self._news))

    def _take_in(self, announcement: m.Announcement) -> list[tuple[str, dict[str, Any]]]:
        match announcement:
            case m.RulesAnnounced(book=book):
                self._book = book
            case m.ServerStatus(online=online):
                return [(f"server {'online' if online else 'offline'}", {"event": "server", "online": online})]
            case m.StateChanged(state):
                return self._state_changed(state)
            case m.PlayersListed(names):
                return self._listed(names)
            case m.TurnBegan():
                self._turn = announcement
                self._deadline = time.monotonic() + (announcement.deadline - announcement.now) / 1000
            case m.SalvoResolved():
                return self._salvo(announcement)
            case m.PlayerStats():
                self._places[announcement.player] = announcement.place
            case m.GameWon():
                return self._won(announcement)
            case _:
                pass
        return []

    def _state_changed(self, state: State) -> list[tuple[str, dict[str, Any]]]:
        self._state = state
        if state is State.LOBBY:
            self._boards, self._places, self._turn = {}, {}, None
        return [(f"state {state}", {"event": "state", "state": state})]

    def _listed(self, names: tuple[str, ...]) -> list[tuple[str, dict[str, Any]]]:
        ships = dict.fromkeys((ship.name for ship in self._book.fleet), True)
        self._boards = {name: self._boards.get(name) or Board(dict(ships)) for name in names}
        return [(f"players: {', '.join(names) or 'none'}", {"event": "players", "names": names})]

    def _salvo(self, result: m.SalvoResolved) -> list[tuple[str, dict[str, Any]]]:
        if (result.game, result.turn) <= self._heard:
            return []
        self._heard = (result.game, result.turn)
        shooter = self._boards.get(result.player)
        if shooter is not None:
            shooter.shots += result.shots
            shooter.hits += result.hits
            shooter.last = f"{result.hits} of {result.shots}"
        for ship in result.sunk:
            if ship.player in self._boards:
                self._boards[ship.player].ships[ship.ship] = False
        for name in result.defeated:
            if name in self._boards:
                self._boards[name].out = True
        line = f"turn {result.turn}: {result.player} hits {result.hits} of {result.shots}"
        line += "".join(f"; {ship.player}'s {ship.ship} sunk" for ship in result.sunk)
        line += "".join(f"; {name} defeated" for name in result.defeated)
        return [(line, {"event": "salvo", **wire.announcements.result_body(result)})]

    def _won(self, won: m.GameWon) -> list[tuple[str, dict[str, Any]]]:
        self.games_ended += 1
        line = f"{won_line(won.winner, won.tied)}; places: {places_line(self._places)}"
        return [(line, {"event": "won", "winner": won.winner, "places": self._places})]


def _public_filters(table: str) -> list[str]:
    return [topic.filter(table) for topic in topics.TOPICS if topic.reader is Reader.EVERYBODY and topic.retained]
