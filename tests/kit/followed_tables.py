"""One table of what every program has to show that follows a table without playing there.

The rows are here; each package that has followers runs them against its own:

    @pytest.mark.parametrize("case", CASES, ids=str)
    def test_a_page_shows_of_a_table_what_every_follower_shows(case: Case) -> None:
        case.check(Page())
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from salvo import messages as m
from salvo.codec.announcement_writer import write_announcement
from salvo.messages import State
from salvo.rules import SALVO
from salvo.wire import topics


class Follower(Protocol):
    """A program under test.

    A follower inside the server receives announcements only: nothing that it follows is lost or arrives again.
    """

    def announce(self, announcement: m.Announcement) -> None:
        """Receive what the server announces, inside it."""

    def receive(self, topic: str, payload: bytes, *, retained: bool) -> None:
        """Receive a message from the broker."""

    def connect(self) -> None:
        """Have a new connection, before anything arrives on it."""

    def known(self) -> Mapping[str, Any]:
        """Return what is shown, under the names that the cases use."""


class Inside:
    """A follower inside the server."""

    def receive(self, topic: str, payload: bytes, *, retained: bool) -> None: ...

    def connect(self) -> None: ...


class Outside:
    """A follower behind a broker."""

    def announce(self, announcement: m.Announcement) -> None: ...


class Server:
    """A server and its broker, as a follower meets them."""

    def __init__(self, follower: Follower) -> None:
        self.follower = follower
        self._retained: dict[str, bytes] = {}
        self._cut = False

    def announce(self, *announcements: m.Announcement) -> None:
        for announcement in announcements:
            self.follower.announce(announcement)
            for topic, payload, retain in write_announcement(announcement):
                if retain:
                    self._retained[topic] = payload
                if not self._cut:
                    self.follower.receive(topic, payload, retained=False)

    def clear(self, topic: str, instead: m.Announcement) -> None:
        """Clear a topic, which an announcement stands for inside the server."""
        self.follower.announce(instead)
        self._retained.pop(topic, None)
        if not self._cut:
            self.follower.receive(topic, b"", retained=False)

    def cut(self) -> None:
        self._cut = True

    def connect(self, step: int = 1) -> None:
        self._cut = False
        self.follower.connect()
        for topic, payload in [*self._retained.items()][::step]:
            self.follower.receive(topic, payload, retained=True)


@dataclass(frozen=True)
class Case:
    """A row: what happens, and what every follower shows then, of what it shows at all."""

    name: str
    happens: Callable[[Server], None]
    shown: Mapping[str, Any]

    def __str__(self) -> str:
        return self.name

    def check(self, follower: Follower) -> None:
        server = Server(follower)
        _begin(server)
        self.happens(server)
        known = follower.known()
        assert {name: known[name] for name in self.shown if name in known} == {
            name: value for name, value in self.shown.items() if name in known
        }


def _turn(number: int, player: str) -> m.TurnBegan:
    return m.TurnBegan(1, number, player, 5, 1000 * number, 1000 * number + 30_000)


def _salvo(turn: int, player: str, hits: int = 1, defeated: tuple[str, ...] = ()) -> m.SalvoResolved:
    return m.SalvoResolved(1, turn, player, 5, hits, (), defeated)


def _begin(server: Server) -> None:
    """Two salvos, and the third turn begins."""
    server.follower.announce(m.TableOpened(1))
    server.announce(m.RulesAnnounced(SALVO, "", 60, 30, 300, 3), m.ServerStatus(True, "1", 1, "contest"))
    server.announce(m.StateChanged(State.LOBBY), m.PlayersListed(("ann", "bob", "cat")), m.StateChanged(State.TURN))
    server.announce(_turn(1, "ann"), _salvo(1, "ann"), _turn(2, "bob"), _salvo(2, "bob"), _turn(3, "cat"))


def _end(server: Server, *won: m.GameWon) -> None:
    server.announce(_salvo(3, "cat", 5, ("bob",)))
    server.announce(*(m.PlayerStats(name, 5, 1, 0, 1, 1) for name in ("ann", "bob", "cat")))
    server.announce(*won, m.StateChanged(State.OVER))


def _second_winner(server: Server) -> None:
    _end(server, m.GameWon("cat"), m.GameWon("ann"))
    server.cut()
    server.connect()


def _lost_in_a_turn(step: int) -> Callable[[Server], None]:
    def happens(server: Server) -> None:
        server.cut()
        server.connect(step)
        server.announce(_salvo(3, "cat"), _turn(4, "ann"))

    return happens


def _lost_twice_in_a_turn(server: Server) -> None:
    server.cut()
    server.follower.connect()
    server.connect()
    server.announce(_salvo(3, "cat"), _turn(4, "ann"))


def _salvo_missed(server: Server) -> None:
    server.cut()
    server.announce(_salvo(3, "cat"), _turn(4, "ann"))
    server.connect()
    server.announce(_salvo(4, "ann"), _turn(5, "bob"))


def _repeated(server: Server) -> None:
    server.announce(_salvo(2, "bob"), _salvo(1, "ann"))


def _another_lobby(server: Server) -> None:
    _end(server, m.GameWon("cat"))
    server.announce(m.StateChanged(State.LOBBY))


def _cleared_while_away(server: Server) -> None:
    server.cut()
    server.clear(topics.TURN.of(), m.TableReset())
    server.clear(topics.LIST.of(), m.TableReset())
    server.connect()


def _cleared(server: Server) -> None:
    server.clear(topics.TURN.of(), m.TableReset())
    server.clear(topics.LIST.of(), m.TableReset())


_IN_TURN_4: Mapping[str, Any] = {
    "state": "turn",
    "players": ("ann", "bob", "cat"),
    "turn": 3,
    "current": "ann",
    "shots": {"ann": 5, "bob": 5, "cat": 5},
    "winners": (),
}

CASES = (
    Case(
        "a game is won",
        lambda server: _end(server, m.GameWon("cat")),
        {"state": "over", "winners": ("cat",), "aborted": False, "turn": 3, "out": {"bob"}, "ends": 1},
    ),
    Case(
        "two players tie",
        lambda server: _end(server, m.GameWon("", ("ann", "cat"))),
        {"state": "over", "winners": ("ann", "cat"), "aborted": False, "ends": 1},
    ),
    Case("a second winner is announced", _second_winner, {"state": "over", "ends": 1, "turn": 3}),
    Case(
        "a host aborts the game",
        lambda server: server.announce(m.GameWon(""), m.StateChanged(State.OVER)),
        {"state": "over", "winners": (), "aborted": True, "turn": 2, "out": set()},
    ),
    Case("the connection is lost in a turn", _lost_in_a_turn(1), _IN_TURN_4),
    Case("the connection is lost in a turn, and all arrives in another order", _lost_in_a_turn(-1), _IN_TURN_4),
    Case("the connection is lost twice in a turn", _lost_twice_in_a_turn, _IN_TURN_4),
    Case(
        "a salvo is missed while the connection is lost",
        _salvo_missed,
        {"state": "turn", "turn": 4, "current": "bob", "whole": False},
    ),
    Case(
        "salvos are repeated",
        _repeated,
        {"turn": 2, "current": "cat", "shots": {"ann": 5, "bob": 5, "cat": 0}, "winners": ()},
    ),
    Case("topics are cleared", _cleared, {"players": (), "current": ""}),
    Case("topics are cleared while the connection is lost", _cleared_while_away, {"players": (), "current": ""}),
    Case(
        "the next lobby opens",
        _another_lobby,
        {"state": "lobby", "turn": 0, "current": "", "winners": (), "aborted": False, "out": set()},
    ),
)
