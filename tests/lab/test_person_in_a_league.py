"""A person in a league: it follows its seats as a bot does, and its fleet goes with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from types import SimpleNamespace
from typing import cast

import pytest

from kit.unbrokered import Wire
from salvo import messages as m
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.announcements import EVENING, SEAT
from salvo.join.seat import Seat
from salvo.join.session import Session
from salvo.messages import EveningShown, LeagueMatch, LeagueStanding, SeatGiven, State
from salvo.net.inbound import Inbound, TeamLink
from salvo.net.mqtt import BrokerUrl
from salvo.rules import BOOKS
from salvo.wire.seal import Sealer
from salvo_lab.human.channel import Channel, PersonLeaves, PersonLeft
from salvo_lab.human.places.in_contest import Person
from salvo_lab.human.sitting import Mode, Sitting

BOOK = BOOKS["salvo"]
Steps = Iterator[None]


class Evening(Wire):
    """A connection on which a script announces, and a person at its desk, of any skin."""

    def __init__(self) -> None:
        super().__init__()
        self.url = BrokerUrl.parse("mqtt://host:1883")
        self.desk = Channel()
        self.sitting = Sitting(self.desk)
        self.sessions = [self._session("")]
        self.script: Steps = iter(())
        seat = SimpleNamespace(
            session=self.sessions[0], connection=self, meet=None, elsewhere=self._elsewhere, close=self.close
        )
        self.person = Person(self.desk, cast(Seat, seat), Random(1))

    def _session(self, table: str) -> Session:
        return Session("me", "secret", Random(1), table=table, sealer=Sealer("secret", bytes(16)))

    def _elsewhere(self, place: SeatGiven) -> tuple[Session, TeamLink]:
        self.sessions.append(self._session(place.table))
        return self.sessions[-1], self

    def poll(self, timeout_seconds: float) -> Sequence[Inbound]:
        for news in self.desk.news():
            self.sitting.receive(news)
        if next(self.script, self) is self:
            self.desk.answer(PersonLeaves())
        return super().poll(timeout_seconds)

    def finish_proof(self, games: int) -> str:
        return ""

    def play(self, script: Callable[[Evening], Steps]) -> None:
        self.script = script(self)
        with pytest.raises(PersonLeft):
            self.person.play()

    # --- what is announced

    def announce(self, table: str, *announcements: m.Announcement) -> None:
        for announcement in announcements:
            for topic, payload, _ in write_announcement(announcement, table):
                self.give(topic, payload)

    def open(self, table: str, game: int) -> None:
        rules = m.RulesAnnounced(BOOK, "", 60, 30, 300, 3)
        self.announce(table, m.ServerStatus(True, "0", game, "contest"), rules, m.StateChanged(State.LOBBY))
        self.announce(table, m.PlayersListed(("me",)))

    def seat(self, table: str | None) -> None:
        self.give("/players/me/seat", b"" if table is None else SEAT.write(SeatGiven(table)))

    def show(self, shown: EveningShown) -> None:
        self.give("/game/league", EVENING.write(shown))

    @property
    def table(self) -> str:
        return self.sessions[-1].table

    def placed(self, table: str) -> int:
        prefix = f"/{table}/players/me/ships/" if table else "/players/me/ships/"
        return sum(topic.startswith(prefix) and topic.endswith("/place") for topic in self.topics_announced())


def until(holds: Callable[[], object]) -> Steps:
    for _ in range(20):
        if holds():
            return
        yield
    raise AssertionError("not within twenty looks")


def go_to(evening: Evening, table: str, game: int) -> Steps:
    evening.seat(table)
    yield from until(lambda: "/players/me/leave" in evening.topics_announced())
    evening.announce(evening.table, m.PlayersListed(()))
    yield from until(lambda: evening.table == table)
    evening.open(table, game)


def in_the_hall(evening: Evening) -> Steps:
    yield
    evening.connect()
    evening.open("", 7)
    yield from until(lambda: evening.sitting.mode is Mode.SETUP)
    evening.sitting.press("r")


def test_a_person_follows_its_seat_and_the_fleet_that_it_has_placed_is_placed_there_at_once() -> None:
    def script(evening: Evening) -> Steps:
        yield from in_the_hall(evening)
        evening.sitting.act("done")
        yield from until(lambda: evening.placed("") == len(BOOK.fleet))
        yield from go_to(evening, "t3", 7)  # a number that the table before has had, too
        yield from until(lambda: evening.placed("t3") == len(BOOK.fleet))
        assert evening.sitting.mode is Mode.WAITING
        assert evening.sitting.message == "your fleet is placed as before; c changes it"
        evening.announced.clear()
        evening.sitting.press("c")
        yield from until(lambda: "/t3/players/me/leave" in evening.topics_announced())
        evening.announce("t3", m.PlayersListed(()))
        yield
        evening.announce("t3", m.PlayersListed(("me",)))
        yield from until(lambda: evening.sitting.mode is Mode.SETUP)
        assert evening.placed("t3") == 0
        fleet = evening.sitting.fleet
        assert fleet is not None
        assert not fleet.missing
        evening.sitting.press("enter")
        yield from until(lambda: evening.placed("t3") == len(BOOK.fleet))

    Evening().play(script)


def test_ships_that_stand_when_a_seat_is_given_still_stand_at_its_table() -> None:
    def script(evening: Evening) -> Steps:
        yield from in_the_hall(evening)
        evening.sitting.act("delete")
        [fleet] = [evening.sitting.fleet]
        assert fleet is not None
        evening.sitting.click("me", next(iter(fleet.placed.values())).cells(BOOK)[0])
        missing = fleet.missing
        assert missing
        yield from go_to(evening, "t3", 9)
        yield from until(lambda: "game 9" in evening.sitting.about[0])
        assert (evening.sitting.mode, fleet.missing) == (Mode.SETUP, missing)
        assert evening.sitting.fleet is fleet

    Evening().play(script)


def test_a_person_sees_its_round_table_and_rivals_and_how_it_stands_in_a_line_each() -> None:
    rows = (LeagueStanding(1, "you", 1000, 1, 1), LeagueStanding(2, "me", 500, 1, 0))
    shown = EveningShown(
        "desk", "cup", 1, 2, teams=4, matches=(LeagueMatch(("me", "you"), "t3"), LeagueMatch(("ann", "bob")))
    )
    ended = EveningShown(
        "desk",
        "cup",
        1,
        2,
        teams=4,
        matches=(LeagueMatch(("me", "you"), None, (2, 1)), LeagueMatch(("ann", "bob"))),
        rows=rows,
    )

    at_once = EveningShown("desk", "cup", 3, 3, teams=4, matches=(LeagueMatch(("ann", "me"), ""),), rows=rows)
    over = EveningShown("desk", "cup", 3, 3, over=True, teams=4, rows=rows)

    def script(evening: Evening) -> Steps:
        yield
        evening.connect()
        for league in (shown, shown, ended, ended, at_once, over):
            evening.show(league)
        yield
        yield
        assert [line for line, _ in evening.sitting.news if "cup" in line] == [
            "cup, round 1 of 2: plays you at table t3",
            "cup, round 1 of 2: 2nd of 2; stands 2nd of 4 with 0.5 points so far; "
            "the next round begins when 1 more game is over",
            "cup, round 3 of 3: stands 2nd of 4 with 0.5 points; plays ann at the default table",
            "cup is over: stands 2nd of 4 with 0.5 points",
        ]

    Evening().play(script)
