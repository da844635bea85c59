"""A bot is not asked again while nobody can hear it; a turn that it loses ends at once; a team that goes has left."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import salvo
from kit.scripted_server import sent_in_a_turn
from kit.unbrokered import Wire
from salvo import messages as m
from salvo.codec.announcement_writer import write_announcement
from salvo.errors import BotError, SalvoError
from salvo.join.client import Contestant
from salvo.join.seated_team import SeatedTeam
from salvo.join.session import Session
from salvo.join.team import GOODBYE_SECONDS
from salvo.messages import State
from salvo.net.inbound import Inbound
from salvo.rules import SALVO, XBS, RuleBook
from salvo.view import Shot, View
from salvo.wire.seal import Sealer
from salvo_lab.bots.random_bot import RandomBot


def test_a_client_repeats_no_message_while_disconnected() -> None:
    """It would wait in front of the connection, and a broker that is away for an hour would get it all at once."""
    now, edge, bot = [0], Wire(), RandomBot()
    bot.prepare("me", 1)
    session = Session("me", "secret", bot.random, sealer=Sealer("secret", bytes(16)))
    playing = Contestant(bot, SeatedTeam(session, edge, clock=lambda: now[0]), seed=1)
    edge.connect()
    status, rules = m.ServerStatus(True, "0", 1, "open"), m.RulesAnnounced(SALVO, "", 60, 30, 300, 3)
    for announcement in (status, rules, m.StateChanged(State.LOBBY), m.PlayersListed(("me",))):
        for topic, payload, _ in write_announcement(announcement):
            edge.give(topic, payload)
    playing.step(0)
    fleet = edge.topics_announced()[-5:]
    edge.announced.clear()
    edge.connected = False
    for now[0] in range(1, 60):
        playing.step(0)
    assert edge.announced == []
    edge.connected = True
    playing.step(0)
    assert edge.topics_announced() == fleet


def _raises(view: View) -> list[Shot]:
    raise ZeroDivisionError


def _misspells(view: View) -> list[Shot]:
    return [Shot("nobody", 1, 1)]


async def _raises_later(view: View) -> list[Shot]:
    raise ZeroDivisionError


@pytest.mark.parametrize("book", [SALVO, XBS], ids=["without a skip", "with one"])
@pytest.mark.parametrize("answer", [_raises, _misspells, _raises_later, lambda view: [], lambda view: None])
def test_a_turn_that_a_bot_loses_ends_at_once(answer: Callable[[View], Any], book: RuleBook) -> None:
    """In a rehearsal, one bot that failed in each turn cost the room a quarter of the evening."""
    assert sent_in_a_turn(salvo.bot(answer)(), book) == [m.Skip("me", m.TurnContext(1, 1))]


class Going:
    """A bot that is listed in a lobby, and what happens to it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.wire = Wire()
        bot = RandomBot()
        bot.prepare("me", 1)
        self.session = Session("me", "secret", bot.random, sealer=Sealer("secret", bytes(16)))
        self.team = SeatedTeam(self.session, self.wire, clock=lambda: self.now)
        self.player = Contestant(bot, self.team, seed=1)
        self.wire.connect()
        status, rules = m.ServerStatus(True, "0", 1, "open"), m.RulesAnnounced(SALVO, "", 60, 30, 300, 3)
        self.hear(status, rules, m.StateChanged(State.LOBBY), m.PlayersListed(("me", "you")))
        self.wire.poll = self.poll  # type: ignore[method-assign]
        self.answers: list[Callable[[], object]] = []

    def hear(self, *announcements: m.Announcement) -> None:
        for announcement in announcements:
            for topic, payload, _ in write_announcement(announcement):
                self.wire.give(topic, payload)
        self.player.step(0)
        self.wire.announced.clear()

    def poll(self, timeout_seconds: float) -> Sequence[Inbound]:
        """Let the next thing happen, or the time pass."""
        if self.answers:
            self.answers.pop(0)()
        else:
            self.now += timeout_seconds
        return Wire.poll(self.wire, 0)

    def struck_off(self) -> None:
        for topic, payload, _ in write_announcement(m.PlayersListed(("you",))):
            self.wire.give(topic, payload)

    def end(self, error: type[BaseException] | BaseException) -> list[str]:
        with contextlib.suppress(error if isinstance(error, type) else type(error)), self.team.leaving():
            raise error
        return self.wire.topics_announced()


@pytest.mark.parametrize("error", [KeyboardInterrupt, BotError("bot_raised", "its own")])
def test_a_team_that_goes_in_the_lobby_leaves_the_list(error: type[BaseException] | BaseException) -> None:
    """It stayed listed with its fleet, and the next game began against nobody."""
    going = Going()
    going.answers = [going.struck_off]
    assert going.end(error) == ["/players/me/leave"]
    assert going.now == 0  # as soon as it is off the list


@pytest.mark.parametrize("error", [SalvoError("name_taken", "another's"), SystemExit(143)])
def test_a_team_that_was_refused_or_ends_with_its_server_leaves_nothing(error: BaseException) -> None:
    assert Going().end(error) == []


def test_a_team_that_goes_in_a_game_stays_listed_and_may_come_back() -> None:
    going = Going()
    going.hear(m.StateChanged(State.TURN), m.TurnBegan(1, 1, "you", 5, 0, 30_000))
    assert going.end(KeyboardInterrupt) == []


def test_a_team_that_goes_waits_for_a_silent_server_but_not_for_long() -> None:
    going = Going()
    assert going.end(KeyboardInterrupt)[0] == "/players/me/leave"
    assert going.now == GOODBYE_SECONDS


def test_a_team_without_a_connection_goes_at_once() -> None:
    going = Going()
    going.wire.connected = False
    assert going.end(KeyboardInterrupt) == []
    assert going.now == 0


def test_a_second_signal_ends_a_team_that_leaves_at_once() -> None:
    closed: list[float] = []

    def close(timeout_seconds: float = 2.0) -> None:
        closed.append(timeout_seconds)

    def interrupt() -> None:
        raise KeyboardInterrupt

    going = Going()
    going.wire.close = close  # type: ignore[method-assign]
    going.answers = [interrupt, going.struck_off]
    assert going.end(KeyboardInterrupt) == ["/players/me/leave"]
    assert closed == [0.0]
    assert going.session.listed  # it has not waited any longer
