"""A picture of the web front shows what is so, at whatever moment it connects and however retained messages arrive.

The contest is that of :mod:`.test_watching`: random games, silent players, a server that restarts. Figures that cannot
be known are None, and no figure is ever wrong.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from salvo import messages as m
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.announcements import Publication
from salvo.messages import State
from salvo.rules import RuleBook, Sinkings
from salvo.table_state import NewConnection
from salvo.wire import topics
from salvo_game.referee import Referee
from salvo_server.spectators.referee_view import RefereeViews
from salvo_watch.web.chances import chances
from salvo_watch.web.tables import Arrived, ShownTable
from watch.any_messages import SHIPS, SMALL_BOOKS, Contest
from watch.receiving import tell


def newcomer(messages: Sequence[tuple[str, bytes]]) -> dict[str, Any]:
    table = ShownTable("")
    for topic, payload in messages:
        tell(table, topic, payload, retained=True)
    return table.picture(0.0)


class Watched(Contest):
    """The contest with a page that is open all the time, but for cuts."""

    def __init__(self, book: RuleBook, players: int, seed: int, pace_ms: int | None) -> None:
        self.page, self.seconds = ShownTable(""), 0.0
        super().__init__(book, players, seed, pace_ms)

    def publish(self, publications: Sequence[Publication]) -> None:
        super().publish(publications)
        if self.hears:
            for topic, payload, _ in publications:
                if topics.parse(topic).topic.reader is topics.Reader.EVERYBODY:
                    tell(self.page, topic, payload, retained=False, now=self.seconds)
            self.seconds += 1.0

    def look(self) -> None:
        check(newcomer(self.shuffled()), self.referee)
        if not self.hears:
            self.hears = True
            self.page.receive(Arrived(NewConnection()), self.seconds)
            for topic, payload in self.shuffled():
                tell(self.page, topic, payload, retained=True, now=self.seconds)
        picture = self.page.picture(self.seconds)
        check(picture, self.referee)
        if not self.missed and self.referee.results:
            assert all(player["shots"] is not None for player in picture["players"])


def check(picture: dict[str, Any], referee: Referee) -> None:
    results, players = referee.results, {each["name"]: each for each in picture["players"]}
    assert (picture["state"], set(players)) == (referee.state, set(referee.players))
    if referee.state is State.TURN:
        assert list(players) == list(referee.players)
        assert picture["game"] == referee.number
        assert picture["turn"]["fired"] == (referee.current is None)
        if referee.current is not None:
            assert picture["turn"]["player"] == referee.current.name
    if referee.state is State.OVER:
        assert picture["winners"] == [each["name"] for each in players.values() if each["place"] == 1]
        assert [each["place"] for each in players.values()] == sorted(each["place"] for each in players.values())
    tells = referee.book.sinkings is Sinkings.TOLD
    sunk = {(ship.player, ship.ship) for result in results for ship in result.sunk}
    defeated = {name for result in results for name in result.defeated}
    for name, player in players.items():
        if tells or not player["board"]:
            assert player["sunk"] == ([ship.name for ship in SHIPS if (name, ship.name) in sunk] if tells else [])
        assert player["out"] == (name in defeated)
        own = [result for result in results if result.player == name]
        for figure, right in (
            ("shots", sum(result.shots for result in own)),
            ("hits", sum(result.hits for result in own)),
            ("turns", len(own)),
        ):
            assert player[figure] in (None, right), (name, figure)


@pytest.mark.long
@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    players=st.integers(2, 4),
    name=st.sampled_from(sorted(SMALL_BOOKS)),
    pace_ms=st.sampled_from((None, 800)),
)
def test_a_page_opened_at_any_time_shows_the_present_state(
    seed: int, players: int, name: str, pace_ms: int | None
) -> None:
    contest = Watched(SMALL_BOOKS[name], players, seed, pace_ms)
    contest.live()


class Overheard(Contest):
    """The contest, of which all that is said is kept."""

    def __init__(self, book: RuleBook, players: int, seed: int) -> None:
        self.announced: list[tuple[str, bytes]] = []
        self.views = RefereeViews()
        super().__init__(book, players, seed, None)

    def do(self, command: m.Input) -> None:
        self.now += 1000
        step = self.table.carry_out(command, self.now)
        views = self.views.follow(self.table, step)
        self.announced += [(topic, payload) for topic, payload, _ in [*step.publications, *views]]


@pytest.mark.long
@settings(max_examples=20)
@given(
    seed=st.integers(0, 10**6),
    name=st.sampled_from(sorted(SMALL_BOOKS)),
    other=st.sampled_from(sorted(SMALL_BOOKS)),
    boards=st.booleans(),
)
def test_the_web_page_has_a_picture_for_any_published_messages(seed: int, name: str, other: str, boards: bool) -> None:
    """On an open broker of somebody else's any client may publish all of it, in any order, changed at any place."""
    contests = [Overheard(SMALL_BOOKS[each], players, seed) for each, players in ((name, 2), (other, 4))]
    for contest in contests:
        for _ in range(120):
            contest.act()
    random = contests[0].random
    announced = [each for contest in contests for each in contest.announced]
    page = ShownTable("", boards=boards)
    now = 0.0
    for _ in range(1500):
        topic, payload = random.choice(announced)
        whim = random.random()
        if whim < 0.05:
            payload = bytes(byte ^ (1 << random.randrange(8)) if random.random() < 0.02 else byte for byte in payload)
        elif whim < 0.1:
            payload = (
                payload.replace(b"team0", b"team9").replace(b'"turn":', b'"turn":9').replace(b'"game":', b'"game":7')
            )
        elif whim < 0.12:
            payload = b""
        tell(page, topic, payload, retained=random.random() < 0.3, now=now)
        if random.random() < 0.02:
            page.receive(Arrived(NewConnection()), now)
        now += random.random() / 4
        if random.random() < 0.1:
            json.dumps(page.picture(now))
            json.dumps(page.picture(now, withheld=page.decided))
            json.dumps(page.screen.summary(withheld=page.decided))
            race = page.screen.race()
            if race is not None and random.random() < 0.1:
                chances(race, 2)


def test_a_page_shows_a_hosts_pause_its_last_line_and_an_aborted_game_until_the_next_lobby() -> None:
    table, now = ShownTable(""), 0.0

    def shows(topic: str, payload: bytes) -> tuple[bool, str, bool]:
        nonlocal now
        now += 1.0
        tell(table, topic, payload, retained=False, now=now)
        picture = table.picture(now)
        return picture["host"]["paused"], picture["host"]["text"], picture["aborted"]

    hosted = topics.HOSTED.of("")
    shows("/game/state", b"turn")
    assert shows(hosted, b'{"by":"desk","do":"announce","text":"Lunch"}') == (False, "Lunch", False)
    assert shows(hosted, b'{"by":"desk","do":"pause","paused":true}') == (True, "Lunch", False)
    assert table.screen.summary()["headline"] == "paused by the host"
    assert shows(hosted, b'{"by":"desk","do":"abort"}') == (False, "Lunch", False)
    shows("/game/winner", b"[]")
    assert shows("/game/state", b"over") == (False, "Lunch", True)
    shows("/game/winner", b"")
    assert shows(hosted, b"") == (False, "", False)


def test_all_tables_at_a_glance_have_the_turn_that_is_on_and_ships_only_in_a_game() -> None:
    table = ShownTable("")

    def card(*announcements: m.Announcement) -> tuple[int, list[int | None]]:
        for announcement in announcements:
            for topic, payload, _ in write_announcement(announcement):
                tell(table, topic, payload, retained=False)
        shown = table.screen.summary()
        return shown["turn"], [player["afloat"] for player in shown["players"]]

    assert card(m.PlayersListed(("ann", "bob")), m.StateChanged(State.LOBBY)) == (0, [None, None])
    assert card(m.StateChanged(State.TURN), m.TurnBegan(1, 1, "ann", 5, 0, 9000)) == (1, [5, 5])
    assert card(m.SalvoResolved(1, 1, "ann", 5, 0, (), ())) == (1, [5, 5])
    assert card(m.TurnBegan(1, 2, "bob", 5, 0, 9000)) == (2, [5, 5])
