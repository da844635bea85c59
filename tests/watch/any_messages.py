"""Contests of small books in which anything is published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from salvo import messages as m
from salvo.codec.announcements import Publication
from salvo.messages import Limits, State
from salvo.rules import BOOKS, Grid, Order, RuleBook, ShipClass, Sinkings
from salvo.wire import topics
from salvo_game.referee import Referee
from salvo_game.table import Table
from salvo_game.transcript import no_status
from salvo_watch.live_views import Watcher
from watch.watchers import connected

SHIPS = (ShipClass("destroyer", 2), ShipClass("patrolboat", 1), ShipClass("dinghy", 1))


#: Of every kind, on boards so small that games end, and the next ones begin.
SMALL_BOOKS = {name: replace(book, grid=Grid(4, 4), fleet=SHIPS, goal=None) for name, book in BOOKS.items()}


class Contest:
    """A table, its broker's retained messages, and one who looks on all the time, but for cuts."""

    def __init__(self, book: RuleBook, players: int, seed: int, pace_ms: int | None) -> None:
        self.random = Random(seed)
        self.book, self.names = book, [f"team{number}" for number in range(players)]
        self.limits = Limits(players=players, empty_turns=2, pace_ms=pace_ms)
        self.now = 1_000_000
        self.stored: dict[str, bytes] = {}
        self.held, self.watcher = connected(Watcher, "")
        self.hears = True
        self.missed = False  # something of the game in play
        self.ends_seen: set[tuple[int, int]] = set()  # by server and game
        self.servers = 0
        self.start_server()

    def start_server(self) -> None:
        """Start a server that knows nothing of the one before; it clears what that one has left (SALVO-BACK-2)."""
        self.servers += 1
        self.table = Table(Referee(self.servers, "", self.book, self.limits), no_status)
        self.publish(self.table.open()[1])
        own = self.table.retained
        self.publish([Publication(topic, b"", True) for topic in sorted(self.stored.keys() - own.keys())])
        self.publish([Publication(*each, True) for each in own.items() if self.stored.get(each[0]) != each[1]])

    @property
    def referee(self) -> Referee:
        return self.table.referee

    def publish(self, publications: Sequence[Publication]) -> None:
        for topic, payload, retain in publications:
            if topics.parse(topic).topic.reader is not topics.Reader.EVERYBODY:
                continue
            if retain:
                self.stored[topic] = payload
                if not payload:
                    del self.stored[topic]
            if self.hears:
                self.held.deliver(topic, payload)
            self.missed |= not self.hears

    def do(self, command: m.Input) -> None:
        self.now += 1
        self.publish(self.table.carry_out(command, self.now).publications)
        if self.referee.state is State.LOBBY:
            self.missed = not self.hears
        elif self.hears and self.referee.state is State.OVER:
            self.ends_seen.add((self.servers, self.referee.number))

    def cut(self) -> None:
        self.watcher.poll(0)
        self.hears = False

    def wait(self) -> None:
        """Let time pass until something happens by itself."""
        self.now = max(self.now, self.referee.deadline() or 0)
        self.do(m.TimePassed())

    def act(self) -> None:
        """Do what comes next, by chance."""
        referee, random = self.referee, self.random
        if referee.state is State.LOBBY:
            self.enter()
        elif referee.state is State.OVER and random.random() < 0.8:
            self.do(m.Participate(self.names[0], b""))  # the result stands for a while
        elif referee.current is None or random.random() < 0.05:
            self.wait()
        elif self.book.skipping and random.random() < 0.1:
            self.do(m.Skip(referee.current.name))
        else:
            target = random.choice([name for name in self.names if name != referee.current.name])
            self.do(m.Fire(referee.current.name, target, random.randint(1, 4), random.randint(1, 4)))

    def enter(self) -> None:
        missing = [name for name in self.names if name not in self.referee.players]
        if missing:
            self.do(m.Participate(missing[0], b""))
            return
        name = self.random.choice(self.names)
        if len(self.referee.players[name].placements) < len(SHIPS):
            for place in self.book.random_fleet(self.random).placements:
                self.do(m.PlaceShip(name, place.ship.upper(), place))

    def shuffled(self) -> list[tuple[str, bytes]]:
        return self.random.sample(sorted(self.stored.items()), len(self.stored))

    def look(self) -> None:
        """Compare what a newcomer knows, and who was there before, with the referee."""
        held, newcomer = connected(Watcher, "")
        held.connect(self.shuffled())
        newcomer.poll(0)
        check(newcomer, self.referee)
        assert newcomer.games_ended == (self.referee.state is State.OVER)
        if not self.hears:
            self.hears = True
            self.held.connect(self.shuffled())
        self.watcher.poll(0)
        check(self.watcher, self.referee)
        if not self.missed:
            assert not any(board.partial for board in self.watcher.figures.values())
        if self.referee.state is State.OVER:
            self.ends_seen.add((self.servers, self.referee.number))
        assert self.watcher.games_ended == len(self.ends_seen)

    def live(self) -> None:
        """Play for a while, with cuts and other servers, and look now and then."""
        for _ in range(150):
            whim = self.random.random()
            if whim < 0.1:
                self.cut()
            elif whim < 0.12:
                self.do(m.Resumed())  # with its journal
            elif whim < 0.125:
                self.start_server()
            self.act()
            if self.random.random() < 0.3:
                self.look()
        self.look()


def check(watcher: Watcher, referee: Referee) -> None:
    results, boards = referee.results, watcher.figures
    assert (watcher.seen.state, list(boards)) == (referee.state, list(referee.players))
    if referee.state is not State.LOBBY:
        assert referee.game is not None
        assert watcher.seen.game.turn is not None
        assert (watcher.seen.game.turn.game, watcher.seen.game.turn.turn) == (referee.number, turn_announced(referee))
        assert ("has had its turn" in watcher.heading()) == (referee.state is State.TURN and referee.current is None)
    if referee.current is not None:
        assert watcher.current == referee.current.name
    sunk = {(ship.player, ship.ship) for result in results for ship in result.sunk}
    defeated = {name for result in results for name in result.defeated}
    for name, board in boards.items():
        tells = referee.book.sinkings is Sinkings.TOLD
        assert board.ships == ({ship.name: (name, ship.name) not in sunk for ship in SHIPS} if tells else {})
        assert board.out == (name in defeated)
        own = [result for result in results if result.player == name]
        shots, hits = sum(result.shots for result in own), sum(result.hits for result in own)
        assert (board.shots, board.hits) == (shots, hits) or (board.partial and board.shots <= shots)
        assert board.last in ("", f"{own[-1].hits} of {own[-1].shots}" if own else "")
    check_with_the_engine(watcher, referee)


def turn_announced(referee: Referee) -> int:
    """In a pause and after the end the last turn is still told, whose number the engine has left behind."""
    assert referee.game is not None
    return referee.game.turn if referee.current is not None else referee.results[-1].turn


def check_with_the_engine(watcher: Watcher, referee: Referee) -> None:
    """Between two turns everybody is told all that is so, where the rules tell it."""
    game, book = referee.game, referee.book
    if game is None or book.order is Order.ROUNDS or (game.shots_fired and not game.over):
        return
    for player in referee.match.players.values():
        board = watcher.figures[player.name]
        assert board.out == game.out[player.seat]
        if book.sinkings is Sinkings.TOLD:
            assert sum(board.ships.values()) == game.afloat[player.seat]
