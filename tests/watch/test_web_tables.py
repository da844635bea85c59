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
from salvo import topics
from salvo.codec.announcements import Publication
from salvo.messages import State
from salvo.rules import RuleBook, Sinkings
from salvo.table_state import NewConnection
from salvo_server.core.referee import Referee
from salvo_server.referee_view import RefereeViews
from salvo_watch.web.chances import chances
from salvo_watch.web.tables import END_SECONDS, PLAY_OUT_SECONDS, Arrived, Table
from watch.any_messages import SHIPS, SMALL_BOOKS, Contest
from watch.receiving import tell


def newcomer(messages: Sequence[tuple[str, bytes]]) -> dict[str, Any]:
    table = Table("")
    for topic, payload in messages:
        tell(table, topic, payload, retained=True)
    table.advance(0.0)
    return table.picture(0.0)


class Watched(Contest):
    """The contest with a page that is open all the time, but for cuts."""

    def __init__(self, book: RuleBook, players: int, seed: int, pace_ms: int | None) -> None:
        self.page, self.seconds = Table(""), 0.0
        super().__init__(book, players, seed, pace_ms)

    def publish(self, publications: Sequence[Publication]) -> None:
        super().publish(publications)
        if self.hears:
            for topic, payload, _ in publications:
                if topics.parse(topic).topic.reader is topics.Reader.EVERYBODY:
                    tell(self.page, topic, payload, retained=False, now=self.seconds)
            self.seconds += END_SECONDS
            self.page.advance(self.seconds)

    def look(self) -> None:
        check(newcomer(self.shuffled()), self.referee)
        if not self.hears:
            self.hears = True
            self.page.receive(Arrived(NewConnection()), self.seconds)
            for topic, payload in self.shuffled():
                tell(self.page, topic, payload, retained=True, now=self.seconds)
            self.page.advance(self.seconds)
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


DELAY = 60.0


class Broadcast(Contest):
    """The contest with a delayed page. Time is the contest's own, a second a step; boards come from the server late."""

    def __init__(self, book: RuleBook, players: int, seed: int) -> None:
        self.page = Table("", boards=True, delay_seconds=DELAY)
        self.views = RefereeViews(round(1000 * DELAY))
        self.happened: dict[tuple[int, int], float] = {}  # when the turn of a game was resolved
        super().__init__(book, players, seed, None)

    @property
    def seconds(self) -> float:
        return self.now / 1000

    def do(self, command: m.Input) -> None:
        self.now += 999
        step = self.table.carry_out(command, self.now + 1)
        self.now += 1
        self.publish(step.publications)
        for each in step.announcements:
            if isinstance(each, m.SalvoResolved):
                self.happened[each.game, each.turn] = self.seconds
        self.say(self.views.follow(self.table, step))
        self.say(self.views.take_due(self.now))
        self.page.advance(self.seconds)

    def publish(self, publications: Sequence[Publication]) -> None:
        super().publish(publications)
        self.say([each for each in publications if topics.parse(each.topic).topic.reader is topics.Reader.EVERYBODY])

    def say(self, publications: Sequence[Publication]) -> None:
        for topic, payload, _ in publications:
            tell(self.page, topic, payload, retained=False, now=self.seconds)

    def pass_time(self, seconds: float) -> None:
        """Let time pass in which nothing happens but what is due."""
        end = self.now + 1000 * seconds
        while self.now < end:
            self.now += 250
            self.say(self.views.take_due(self.now))
            self.page.advance(self.seconds)


@pytest.mark.long
@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), players=st.integers(2, 4), name=st.sampled_from(sorted(SMALL_BOOKS)))
def test_a_delayed_page_is_of_one_moment_and_shows_the_end(seed: int, players: int, name: str) -> None:
    contest = Broadcast(SMALL_BOOKS[name], players, seed)
    while contest.referee.state is not State.OVER:
        contest.act()
        picture = contest.page.picture(contest.seconds)
        if contest.referee.state is State.TURN:
            tells = [picture["last"], *picture["feed"]]
            turns = [each["turn"] for each in tells if each is not None and each["turn"]]
            for turn in turns:
                assert contest.happened[contest.referee.number, turn] + DELAY <= contest.seconds
            assert not picture["winners"]
            assert not any(each["kind"] == "won" for each in picture["feed"])
            shown = [each["board"] for each in picture["players"] if each["board"]]
            assert not shown or picture["at"] / 1000 + DELAY <= contest.seconds
    contest.pass_time(PLAY_OUT_SECONDS + 5)
    picture = contest.page.picture(contest.seconds)
    check(picture, contest.referee)
    assert picture["last"]["turn"] == contest.referee.results[-1].turn
    assert picture["feed"][0]["kind"] == "won"
    assert all(each["board"] for each in picture["players"])


class Overheard(Contest):
    """The contest, of which all that is said is kept."""

    def __init__(self, book: RuleBook, players: int, seed: int) -> None:
        self.announced: list[tuple[str, bytes]] = []
        self.views = RefereeViews(0)
        super().__init__(book, players, seed, None)

    def do(self, command: m.Input) -> None:
        self.now += 1000
        step = self.table.carry_out(command, self.now)
        views = [*self.views.follow(self.table, step), *self.views.take_due(self.now)]
        self.announced += [(topic, payload) for topic, payload, _ in [*step.publications, *views]]


@pytest.mark.long
@settings(max_examples=20)
@given(
    seed=st.integers(0, 10**6),
    name=st.sampled_from(sorted(SMALL_BOOKS)),
    other=st.sampled_from(sorted(SMALL_BOOKS)),
    delay=st.sampled_from((0.0, 60.0)),
)
def test_the_web_page_has_a_picture_for_any_published_messages(seed: int, name: str, other: str, delay: float) -> None:
    """On an open broker of somebody else's any client may publish all of it, in any order, changed at any place."""
    contests = [Overheard(SMALL_BOOKS[each], players, seed) for each, players in ((name, 2), (other, 4))]
    for contest in contests:
        for _ in range(120):
            contest.act()
    random = contests[0].random
    announced = [each for contest in contests for each in contest.announced]
    page = Table("", boards=bool(delay), delay_seconds=delay)
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
        page.advance(now)
        if random.random() < 0.1:
            json.dumps(page.picture(now))
            json.dumps(page.screen.summary())
            race = page.screen.race()
            if race is not None and random.random() < 0.1:
                chances(race, 2)


def test_a_page_shows_a_hosts_pause_its_last_line_and_an_aborted_game_until_the_next_lobby() -> None:
    table, now = Table(""), 0.0

    def shows(topic: str, payload: bytes) -> tuple[bool, str, bool]:
        nonlocal now
        now += END_SECONDS
        tell(table, topic, payload, retained=False, now=now)
        table.advance(now)
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
