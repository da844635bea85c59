"""A bot follows the seats that a host gives, and one that was told its table stays there (SALVO-SEAT-2)."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest

from salvo import messages as m
from salvo.client import LEAVING_SECONDS, Contestant
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.announcements import SEAT
from salvo.lab.bots.random_bot import RandomBot
from salvo.messages import SeatGiven, State
from salvo.rules import SALVO
from salvo.seal import Sealer
from salvo.session import Session
from unbrokered import Wire

SEAT_TOPIC = "/players/me/seat"
STATUS, RULES = m.ServerStatus(True, "0", 1, "contest"), m.RulesAnnounced(SALVO, "", 60, 30, 300, 3)


class Stage:
    """A bot on a wire, and a server of two tables at its other end."""

    def __init__(self, *, follows: bool = True, table: str = "") -> None:
        self.now = 0.0
        self.wire = Wire()
        self.bot = RandomBot()
        self.bot.prepare("me", 1)
        self.sessions = [self._session(table)]
        self.player = Contestant(
            self.bot,
            self.sessions[0],
            self.wire,
            seed=1,
            games=None,
            clock=lambda: self.now,
            elsewhere=self._elsewhere if follows else None,
        )
        self.wire.connect()

    def _session(self, table: str) -> Session:
        return Session("me", "secret", self.bot.random, table=table, sealer=Sealer("secret", bytes(16)))

    def _elsewhere(self, table: str) -> Session:
        self.sessions.append(self._session(table))
        return self.sessions[-1]

    @property
    def table(self) -> str:
        """Where the bot is."""
        return self.sessions[-1].table

    def say(self, table: str, *announcements: m.Announcement) -> None:
        for announcement in announcements:
            for topic, payload, _ in write_announcement(announcement, table):
                self.wire.give(topic, payload)
        self.step()

    def seat(self, table: str | None, broker: str = "") -> None:
        self.wire.give(SEAT_TOPIC, b"" if table is None else SEAT.write(SeatGiven(table, broker)))
        self.step()

    def open(self, table: str) -> None:
        """Open a lobby that lists the bot."""
        self.say(table, STATUS, RULES, m.StateChanged(State.LOBBY))
        self.say(table, m.PlayersListed(("me",)))

    def step(self) -> None:
        self.player.step(0)
        self.player.step(0)

    def said(self) -> list[str]:
        topics = self.wire.topics_said()
        self.wire.said.clear()
        return topics


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_it_leaves_the_lobby_and_asks_at_its_table(stage: Stage) -> None:
    stage.open("")
    stage.said()
    stage.seat("t3")
    assert stage.table == ""
    assert stage.said() == ["/players/me/leave"]
    stage.say("", m.PlayersListed(()))
    assert stage.table == "t3"
    stage.open("t3")
    said = stage.said()
    assert said[0] == "/t3/game/request_participation"
    assert said[-1].startswith("/t3/players/me/ships/")


def test_it_goes_although_nobody_takes_it_off_the_list(stage: Stage) -> None:
    stage.open("")
    stage.seat("t3")
    stage.now = LEAVING_SECONDS + 1
    stage.step()
    assert stage.table == "t3"


def test_without_a_seat_it_goes_back_and_says_that_it_waits(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    stage.seat("t3")
    assert stage.table == "t3"
    with caplog.at_level(logging.INFO):
        stage.seat(None)
    assert stage.table == ""
    assert "me: waits for its next seat" in caplog.messages
    stage.open("")
    assert "/game/request_participation" in stage.said()


def test_a_seat_that_is_said_again_is_told_once(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        for _ in range(2):
            stage.seat("t3")
    assert caplog.messages.count("me: has a seat at table t3") == 1


def test_a_seat_that_is_taken_back_at_once_keeps_it_where_it_is(stage: Stage) -> None:
    stage.open("")
    stage.seat("t3")
    stage.seat(None)
    stage.say("", m.PlayersListed(()))
    assert stage.table == ""
    assert stage.said().count("/game/request_participation") == 2


def test_a_game_is_played_to_its_end_first(stage: Stage) -> None:
    stage.open("")
    session, view = stage.sessions[0], stage.sessions[0].view
    assert view is None
    stage.say("", m.PlayersListed(("me", "you")), m.StateChanged(State.TURN))
    stage.say("", m.TurnBegan(1, 1, "you", 5, 0, 30_000))
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


@pytest.mark.parametrize(
    "give",
    [lambda stage: stage.seat("t3", "mqtt://elsewhere"), lambda stage: stage.wire.give(SEAT_TOPIC, b'{"table":3}')],
)
def test_a_seat_that_it_cannot_follow_keeps_it_where_it_is(stage: Stage, give: Callable[[Stage], None]) -> None:
    stage.open("")
    give(stage)
    stage.step()
    assert stage.table == ""
    assert "/players/me/leave" not in stage.said()


def test_one_that_was_told_its_table_stays_there() -> None:
    stage = Stage(follows=False, table="t2")
    stage.open("t2")
    stage.seat("t3")
    assert stage.table == "t2"
    assert "/t2/players/me/leave" not in stage.said()


def test_a_seat_of_another_player_or_table_is_none(stage: Stage) -> None:
    stage.open("")
    stage.wire.give("/players/you/seat", SEAT.write(SeatGiven("t3")))
    stage.wire.give("/t1/players/me/seat", SEAT.write(SeatGiven("t3")))
    stage.step()
    assert stage.table == ""
