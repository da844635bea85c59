"""A team's bot is not asked again while nobody can hear it, and a turn that it loses ends at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import salvo
from kit.scripted_server import ScriptedServer
from kit.unbrokered import Wire
from salvo import messages as m
from salvo.client import Contestant
from salvo.codec.announcement_writer import write_announcement
from salvo.messages import State
from salvo.rules import SALVO, XBS, RuleBook, generator
from salvo.seal import Sealer
from salvo.session import Session
from salvo.view import Shot, View
from salvo_lab.bots.random_bot import RandomBot


def test_a_client_repeats_no_message_while_disconnected() -> None:
    """It would wait in front of the connection, and a broker that is away for an hour would get it all at once."""
    now, edge, bot = [0], Wire(), RandomBot()
    bot.prepare("me", 1)
    session = Session("me", "secret", bot.random, sealer=Sealer("secret", bytes(16)))
    playing = Contestant(bot, session, edge, seed=1, clock=lambda: now[0])
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
@pytest.mark.parametrize("minor", [1, 2])
def test_a_turn_that_a_bot_loses_ends_at_once(answer: Callable[[View], Any], book: RuleBook, minor: int) -> None:
    """In a rehearsal, one bot that failed in each turn cost the room a quarter of the evening."""
    sealer = Sealer("secret", bytes(16))
    session = Session("me", "secret", generator(2), sealer=sealer)
    playing = Contestant(salvo.bot(answer)(), session, Wire(), seed=1, strict=False)
    server = ScriptedServer(session, book)
    for event in server.open_lobby("me", "you"):
        playing.handle(event)
    server.say(m.ServerStatus(True, "0", 1, "open", protocol=m.Protocol(1, minor)), retained=True)
    server.say(m.StateChanged(State.TURN))
    session.take_outbox()
    for event in server.begin_turn(1, "me", 5):
        playing.handle(event)
    playing.close()
    skips = [m.Skip("me", m.TurnContext(1, 1))]
    assert server.commands(sealer) == (skips if minor >= 2 or book.skipping else [])
