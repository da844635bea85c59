"""A bot follows the seats that a host gives, and one that was told its table stays there (SALVO-SEAT-2)."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from kit.unbrokered import Wire
from salvo import messages as m
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.announcements import SEAT
from salvo.errors import ConnectionLost, ImpostorError
from salvo.join.client import Contestant
from salvo.join.destination import LOST_SECONDS
from salvo.join.fairness.known_servers import KnownServers
from salvo.join.seat import Seat
from salvo.join.seated_team import LEAVING_SECONDS, SeatedTeam
from salvo.join.session import Session
from salvo.messages import SeatGiven, State
from salvo.net.inbound import Inbound, TeamLink
from salvo.rules import SALVO
from salvo.wire.seal import Sealer
from salvo_lab.bots.random_bot import RandomBot

Monkey = pytest.MonkeyPatch
SEAT_TOPIC = "/players/me/seat"
STATUS, RULES = m.ServerStatus(True, "0", 1, "contest"), m.RulesAnnounced(SALVO, "", 60, 30, 300, 3)


class Stage:
    """A bot on a wire, and a server of two tables at its other end."""

    def __init__(self, *, follows: bool = True, table: str = "") -> None:
        self.now = 0.0
        self.wire = self.home = Wire()
        self.brokers: list[str] = []  # to which it has gone
        self.bot = RandomBot()
        self.bot.prepare("me", 1)
        self.sessions = [self._session(table)]
        self.player = Contestant(
            self.bot,
            SeatedTeam(
                self.sessions[0],
                self.wire,
                clock=lambda: self.now,
                elsewhere=self._elsewhere if follows else None,
            ),
            seed=1,
            games=None,
        )
        self.wire.connect()

    def _session(self, table: str) -> Session:
        return Session("me", "secret", self.bot.random, table=table, sealer=Sealer("secret", bytes(16)))

    def _elsewhere(self, place: SeatGiven) -> tuple[Session, TeamLink]:
        if place.broker == "nonsense":
            raise ConnectionLost("bad_url", "no broker")
        if place.broker:
            self.brokers.append(place.broker)
            self.wire = Wire()
        self.sessions.append(self._session(place.table))
        return self.sessions[-1], self.wire

    @property
    def table(self) -> str:
        """Where the bot is."""
        return self.sessions[-1].table

    def say(self, table: str, *announcements: m.Announcement) -> None:
        for announcement in announcements:
            for topic, payload, _ in write_announcement(announcement, table):
                self.wire.give(topic, payload)
        self.step()

    def seat(self, table: str | None, broker: str = "", brokers: tuple[str, ...] = ()) -> None:
        self.wire.give(SEAT_TOPIC, b"" if table is None else SEAT.write(SeatGiven(table, broker, brokers)))
        self.step()

    def begin(self) -> None:
        """Begin a game with the bot."""
        self.say("", m.PlayersListed(("me", "you")), m.StateChanged(State.TURN))
        self.say("", m.TurnBegan(1, 1, "you", 5, 0, 30_000))

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.step()

    def lose(self) -> None:
        """Let the broker be away for so long that the bot goes elsewhere."""
        self.wire.connected = False
        self.wait(0)
        self.wait(LOST_SECONDS)

    def open(self, table: str) -> None:
        """Open a lobby that lists the bot."""
        self.say(table, STATUS, RULES, m.StateChanged(State.LOBBY))
        self.say(table, m.PlayersListed(("me",)))

    def step(self) -> None:
        self.player.step(0)
        self.player.step(0)

    def announced(self) -> list[str]:
        topics = self.wire.topics_announced()
        self.wire.announced.clear()
        return topics


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_a_client_with_a_seat_leaves_the_lobby_and_asks_at_its_table(stage: Stage) -> None:
    stage.open("")
    stage.announced()
    stage.seat("t3")
    assert stage.table == ""
    assert stage.announced() == ["/players/me/leave"]
    stage.say("", m.PlayersListed(()))
    assert stage.table == "t3"
    stage.open("t3")
    announced = stage.announced()
    assert announced[0] == "/t3/game/request_participation"
    assert announced[-1].startswith("/t3/players/me/ships/")


@pytest.mark.parametrize("known", [(), (RULES, m.StateChanged(State.LOBBY))], ids=["nothing", "the lobby"])
def test_a_client_that_has_asked_and_is_not_listed_yet_takes_back_its_request(
    stage: Stage, known: tuple[m.Announcement, ...]
) -> None:
    stage.say("", STATUS, *known)
    assert stage.announced() == ["/game/request_participation"]
    stage.seat("t3")
    assert stage.announced() == ["/players/me/leave"]


def test_a_client_without_a_seat_returns_to_the_lobby_and_logs_that_it_waits(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    stage.seat("t3")
    assert stage.table == "t3"
    with caplog.at_level(logging.INFO):
        stage.seat(None)
    assert stage.table == ""
    assert "me: waits for its next seat" in caplog.messages
    stage.open("")
    assert "/game/request_participation" in stage.announced()


def test_a_client_whose_seat_returns_while_it_leaves_asks_there_again(stage: Stage) -> None:
    """A league's game was played without the team: it was off the list already, and asked for nothing."""
    stage.seat("t3")
    stage.open("t3")
    stage.seat(None)
    stage.announced()
    for topic, payload, _ in write_announcement(m.PlayersListed(()), "t3"):
        stage.wire.give(topic, payload)
    stage.seat("t3")
    assert stage.table == "t3"
    assert stage.announced() == ["/t3/game/request_participation"]


def test_a_game_is_played_to_its_end_first(stage: Stage) -> None:
    stage.open("")
    session, view = stage.sessions[0], stage.sessions[0].view
    assert view is None
    stage.begin()
    assert session.view is not None
    stage.seat("t3")
    stage.now = 100.0
    stage.step()
    assert stage.table == ""
    stats = [m.PlayerStats(name, 5, 1, 0, 1, place) for place, name in enumerate(("you", "me"), start=1)]
    stage.say("", m.SalvoResolved(1, 1, "you", 5, 0, (), ("me",)), *stats, m.GameWon("you"), m.StateChanged(State.OVER))
    assert [report.place for report in stage.player.reports] == [2]
    stage.now = 110.0  # the log's last words were waited for
    stage.step()
    assert stage.table == "t3"


def test_a_client_with_a_fixed_table_does_not_follow_its_seat() -> None:
    stage = Stage(follows=False, table="t2")
    stage.open("t2")
    stage.seat("t3")
    assert stage.table == "t2"
    assert "/t2/players/me/leave" not in stage.announced()


def test_a_client_ignores_a_seat_of_another_player_or_table(stage: Stage) -> None:
    stage.open("")
    stage.wire.give("/players/you/seat", SEAT.write(SeatGiven("t3")))
    stage.wire.give("/t1/players/me/seat", SEAT.write(SeatGiven("t3")))
    stage.step()
    assert stage.table == ""


# --- at another broker ------------------------------------------------------------------------------------------------


def test_a_client_follows_its_seats_from_broker_to_broker(stage: Stage) -> None:
    stage.open("")
    stage.announced()
    stage.seat("t3", "mqtt://b")
    assert stage.announced() == ["/players/me/leave"]
    stage.say("", m.PlayersListed(()))
    assert (stage.brokers, stage.table) == (["mqtt://b"], "t3")
    stage.wire.connect()
    stage.seat("t3")  # here it is said without a broker
    stage.open("t3")
    assert stage.announced()[0] == "/t3/game/request_participation"
    stage.seat("", "mqtt://a")
    stage.say("t3", m.PlayersListed(()))
    assert (stage.brokers, stage.table) == (["mqtt://b", "mqtt://a"], "")


def test_on_an_open_broker_where_anybody_may_give_seats_it_sends_its_secret_nowhere_else() -> None:
    stage = Stage()
    stage.say("", m.ServerStatus(True, "0", 1, "open"))
    stage.seat("t3", "mqtt://b")
    stage.wait(100)
    assert (stage.brokers, stage.table) == ([], "")


def test_a_seat_at_another_broker_ends_a_game_that_the_host_has_given_up(stage: Stage) -> None:
    stage.open("")
    stage.begin()
    stage.seat("t3", "mqtt://b")
    assert stage.brokers == []
    stage.wait(LEAVING_SECONDS / 2)
    stage.seat("")  # an old seat, as a broker that was killed may have kept
    stage.wait(LEAVING_SECONDS)
    assert stage.brokers == []
    assert stage.sessions[-1].view is not None
    stage.seat("t3", "mqtt://b")
    stage.wait(LEAVING_SECONDS)
    assert (stage.brokers, stage.table) == (["mqtt://b"], "t3")


def test_a_broker_that_is_lost_is_left_for_the_next_one_even_in_a_game(stage: Stage) -> None:
    stage.open("")
    stage.seat("", "", ("mqtt://b", "mqtt://c", "mqtt://a"))
    stage.begin()
    stage.wire.connected = False
    stage.wait(LOST_SECONDS - 1)
    assert stage.brokers == []
    stage.wait(1)
    assert (stage.brokers, stage.table) == (["mqtt://b"], "")
    stage.lose()
    stage.lose()
    stage.lose()
    assert stage.brokers == ["mqtt://b", "mqtt://c", "mqtt://a", "mqtt://b"]


def test_a_broker_that_is_only_away_for_a_moment_is_waited_for(stage: Stage) -> None:
    stage.open("")
    stage.seat("", "", ("mqtt://b", "mqtt://a"))
    for _ in range(3):
        stage.wire.connected = False
        stage.wait(LOST_SECONDS - 1)
        stage.wire.connected = True
        stage.wait(1)
    assert stage.brokers == []


def test_a_client_does_not_return_at_once_to_the_broker_that_it_lost(stage: Stage) -> None:
    stage.open("")
    stage.seat("t1", "", ("mqtt://b", "mqtt://a"))
    stage.lose()
    stage.wire.connect()
    stage.open("")
    stage.announced()
    stage.seat("t1", "mqtt://a")  # the host has not noticed yet
    assert (stage.announced(), stage.brokers) == ([], ["mqtt://b"])
    stage.seat("t2")
    stage.say("", m.PlayersListed(()))
    assert (stage.brokers, stage.table) == (["mqtt://b"], "t2")
    stage.open("t2")
    stage.seat("t1", "mqtt://a")
    stage.wait(LOST_SECONDS)
    stage.say("t2", m.PlayersListed(()))
    assert (stage.brokers, stage.table) == (["mqtt://b", "mqtt://a"], "t1")


def test_a_refusing_broker_is_left_but_a_refusal_by_the_first_ends_the_client(
    stage: Stage, monkeypatch: Monkey
) -> None:
    def refuse(timeout_seconds: float) -> list[Inbound]:
        raise ConnectionLost("not_authorised", "mqtt://b refused the connection")

    stage.open("")
    stage.seat("", "", ("mqtt://b", "mqtt://a"))
    monkeypatch.setattr(stage.wire, "poll", refuse)
    stage.wire.connected = False
    stage.step()
    assert stage.brokers == ["mqtt://b"]
    alone = Stage()
    monkeypatch.setattr(alone.wire, "poll", refuse)
    with pytest.raises(ConnectionLost, match="not_authorised"):
        alone.step()


@pytest.fixture
def seat(monkeypatch: Monkey, tmp_path: Path) -> Iterator[Seat]:
    monkeypatch.setenv("SALVO_KNOWN_SERVERS", str(tmp_path / "known.json"))
    with contextlib.closing(Seat("mqtts://127.0.0.1:1", "me", "secret", Random(1))) as seat:
        yield seat


def test_each_server_is_known_by_its_own_broker(seat: Seat, tmp_path: Path) -> None:
    keys = [m.ServerKeys(bytes([number]) * 32, bytes([number]) * 32) for number in range(2)]
    seat.meet(keys[0])
    _, connection = seat.at(SeatGiven("t1", "mqtts://127.0.0.2:1"))
    assert connection is seat.connection
    seat.meet(keys[1])
    known = KnownServers(tmp_path / "known.json")
    assert [known.key_of(f"127.0.0.{number}:1") for number in (1, 2)] == [each.sign for each in keys]
    with pytest.raises(ImpostorError, match="server_changed"):
        seat.meet(keys[0])
    session, there = seat.at(SeatGiven("t2"))
    assert there is connection
    assert session.table == "t2"


@pytest.mark.parametrize(
    ("broker", "code"), [("mqtt://127.0.0.2:1", "tls_wanted"), ("127.0.0.2:1", "tls_wanted"), ("ftp://x", "bad_url")]
)
def test_a_secret_goes_to_no_broker_that_is_less_safe(seat: Seat, broker: str, code: str) -> None:
    before = seat.connection
    with pytest.raises(ConnectionLost, match=code):
        seat.at(SeatGiven("", broker))
    assert seat.connection is before
