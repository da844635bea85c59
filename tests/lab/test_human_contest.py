"""A person's place in a contest: what it is told, and which of its answers still count."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from types import SimpleNamespace
from typing import cast

import pytest

from kit.person import fleet_in_rows
from kit.scripted_server import ScriptedServer
from kit.unbrokered import Wire
from salvo import messages as m
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.announcements import Publication
from salvo.errors import SalvoError
from salvo.join import events as e
from salvo.join.seat import Seat
from salvo.join.session import Session
from salvo.messages import State
from salvo.net.inbound import Inbound
from salvo.net.mqtt import BrokerUrl
from salvo.rules import BOOKS
from salvo.view import Shot
from salvo.wire.seal import Sealer
from salvo_lab.human.channel import (
    Channel,
    Clock,
    DeskMessage,
    FiredSalvo,
    Line,
    LinkState,
    Notice,
    PersonLeaves,
    PersonLeft,
    PlaceFleet,
    Seen,
    Taunt,
)
from salvo_lab.human.places.in_contest import Person

BOOK = BOOKS["smackdown"]
FLEET = fleet_in_rows(BOOK)


class Place:
    """A person in a contest, and the server that it hears."""

    def __init__(self) -> None:
        self.desk = Channel()
        self.session = Session("me", "secret", Random(1), sealer=Sealer("secret", bytes(16)))
        self.wire = Wire()
        seat = SimpleNamespace(
            session=self.session, connection=self.wire, meet=None, elsewhere=None, close=self.wire.close
        )
        self.wire.url = BrokerUrl.parse("mqtt://host:1883")  # type: ignore[attr-defined]
        self.person = Person(self.desk, cast(Seat, seat), Random(1))
        self.server = ScriptedServer(self.session)

    def hear(self, *announced: m.Announcement, retained: bool = False) -> None:
        for event in self.server.say(*announced, retained=retained):
            self.person.handle(event)

    def lobby(self) -> None:
        self.hear(m.ServerStatus(True, "0", 1, "open"), m.RulesAnnounced(BOOK, "", 60, 30, 300, 3), retained=True)
        self.hear(m.StateChanged(State.LOBBY), retained=True)
        self.session.connected()
        self.hear(m.PlayersListed(("me", "ann")))

    def game(self) -> None:
        self.lobby()
        self.person.take(FLEET)
        self.hear(m.StateChanged(State.TURN))
        self.session.take_outbox()
        self.desk.news()

    def turn(self, turn: int, player: str) -> None:
        for event in self.server.begin_turn(turn, player, 5):
            self.person.handle(event)

    def sent(self) -> list[str]:
        return [publication.topic for publication in self.session.take_outbox()]

    def received(self) -> list[DeskMessage]:
        self.person.show()
        return [news for news in self.desk.news() if not isinstance(news, LinkState | Clock)]


def test_a_person_is_asked_for_a_fleet_once_it_is_listed_and_the_fleet_is_sent() -> None:
    place = Place()
    place.lobby()
    [asked] = [news for news in place.received() if isinstance(news, PlaceFleet)]
    assert (asked.rules, asked.me, asked.game) == (BOOK, "me", 1)
    place.session.take_outbox()
    place.person.take(FLEET)
    assert place.sent() == [f"/players/me/ships/{ship.name}/place" for ship in BOOK.fleet]
    place.person.take(FLEET)
    assert place.sent() == []
    assert place.received() == [
        Notice(
            "the fleet came too late: "
            "the fleet was not complete when the game began, or its time ended; the team left the list"
        )
    ]


def test_a_person_sees_the_players_and_the_time_left_to_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("salvo_lab.human.places.in_contest.time.monotonic", lambda: now)
    place = Place()
    place.lobby()
    place.desk.news()

    def received(*names: str) -> list[DeskMessage]:
        place.hear(m.PlayersListed(names))
        return place.desk.news()

    now = 10.0
    assert received("me", "ann", "bob") == [Notice("players: me, ann, bob"), Clock("", 70.0)]
    now = 20.0
    assert received("me", "bob") == [Notice("players: me, bob")]
    assert received("me", "bob", "ann") == [Notice("players: me, bob, ann")]  # who comes back starts no time


def test_a_person_talks_to_everybody_and_to_one_player() -> None:
    place = Place()
    place.lobby()
    place.received()
    place.person.take(Line("hello"))
    place.person.take(Line("you first", "ann"))
    assert [json.loads(payload) for _, payload in place.wire.announced[-2:]] == [
        {"text": "hello"},
        {"text": "you first", "to": "ann"},
    ]
    place.hear(m.ChatPublished("me", "hello"), m.MessagePublished("me", "ann", "thanks"))
    assert place.received() == [
        Notice("you say to ann: you first"),
        Notice("you say: hello"),
        Notice("ann says to you: thanks"),
    ]


def test_a_taunt_answers_the_team_that_shoots_at_the_person() -> None:
    place = Place()
    place.game()
    place.turn(1, "ann")
    for taunt in (Taunt(True, "ouch"), Taunt(False, "missed"), Taunt(False, "")):
        place.person.take(taunt)
    announced = len(place.wire.announced)
    hit, missed = BOOK.grid.xy(min(FLEET.cells)), BOOK.grid.xy(BOOK.grid.size - 1)
    for turn, (x, y) in enumerate((hit, missed), start=1):
        place.hear(m.ShotLanded("me", x, y))
        place.hear(m.SalvoResolved(1, turn, "ann", 1, int((x, y) == hit), (), (), ((x, y) == hit,)))
    assert [json.loads(payload) for _, payload in place.wire.announced[announced:]] == [{"text": "ouch", "to": "ann"}]


def test_shots_are_fired_and_what_is_left_of_the_turn_is_skipped() -> None:
    place = Place()
    place.game()
    place.turn(1, "me")
    assert [news.sight.shots for news in place.received() if isinstance(news, Seen)] == [5]
    place.person.take(FiredSalvo(1, 1, (Shot("ann", 1, 1), Shot("ann", 2, 1))))
    assert place.sent() == ["/players/ann/fire"] * 2
    assert [news.sight.shots for news in place.received() if isinstance(news, Seen)] == [3]
    place.person.take(FiredSalvo(1, 1, ()))
    assert place.sent() == ["/players/me/skip"]
    assert [news.sight.shots for news in place.received() if isinstance(news, Seen)] == [0]


def test_an_answer_to_a_turn_that_is_over_fires_nothing() -> None:
    place = Place()
    place.game()
    place.turn(1, "me")
    place.turn(2, "ann")
    place.received()
    place.person.take(FiredSalvo(1, 1, (Shot("ann", 1, 1),)))
    assert place.sent() == []
    assert place.received() == [Notice("too late for turn 1")]


def test_more_shots_than_are_left_fire_nothing() -> None:
    """A picture may be older than the person's own last answer."""
    place = Place()
    place.game()
    place.turn(1, "me")
    salvo = FiredSalvo(1, 1, tuple(Shot("ann", x, 1) for x in (1, 2, 3)))
    place.person.take(salvo)
    place.sent()
    place.received()
    place.person.take(salvo)
    assert place.sent() == []
    assert place.received() == [Notice("3 shots; this turn has 2")]


def test_a_refusal_is_reported_and_an_incurable_one_ends_the_game() -> None:
    place = Place()
    place.person.handle(e.Refused("turn_timeout", "2 shots lost"))
    assert place.received() == [Notice("2 shots lost")]
    with pytest.raises(SalvoError, match="not_in_roster: no such team"):
        place.person.handle(e.Refused("not_in_roster", "no such team"))


def test_a_person_who_goes_in_the_lobby_leaves_the_list() -> None:
    place = Place()
    struck_off: list[Publication] = []

    def poll(timeout_seconds: float) -> Sequence[Inbound]:
        if "/players/me/leave" in place.wire.topics_announced() and not struck_off:
            struck_off.extend(write_announcement(m.PlayersListed(("ann",))))
        return [Inbound(topic, payload, False, 0, 1) for topic, payload, _ in struck_off]

    place.lobby()
    place.wire.connected, place.wire.poll = True, poll  # type: ignore[method-assign]
    place.wire.finish_proof = place.wire.published.__add__  # type: ignore[attr-defined]
    place.desk.answer(PersonLeaves())
    with pytest.raises(PersonLeft):
        place.person.play()
    assert struck_off
    assert not place.session.listed
