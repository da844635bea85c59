"""What bots, sessions and onlookers make of the chat; what the server makes of it is in test_chat."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from kit.scripted_server import ScriptedServer
from kit.sessions import SEALER
from kit.unbrokered import Wire
from salvo import messages as m
from salvo.bots.player import Bot
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.command_reader import read_chat
from salvo.codec.commands import Line
from salvo.errors import BotError, WireError
from salvo.join.client import Contestant
from salvo.join.events import Said
from salvo.join.seated_team import SeatedTeam
from salvo.join.session import Session
from salvo.messages import State
from salvo.rules import SALVO, Fleet, RuleBook, generator
from salvo.wire import roles_and_rights
from salvo_lab import arena
from salvo_lab.bots.random_bot import RandomBot

# --- a session ----------------------------------------------------------------------------------------------------


def test_a_session_receives_public_chat_and_private_messages_to_itself(session: Session) -> None:
    server = ScriptedServer(session)
    assert server.say(m.ChatPublished("you", "Ahoy!")) == [Said("you", "Ahoy!", False)]
    assert server.say(m.MessagePublished("me", "", "welcome")) == [Said("", "welcome", True)]
    assert server.say(m.MessagePublished("they", "you", "psst")) == []


def test_a_session_posts_chat_at_its_own_table() -> None:
    session = Session("me", "secret", generator(2), table="blue", sealer=SEALER)
    line = session.say(" Ahoy! ", "you")
    assert (line.topic, line.retain) == ("/blue/players/me/say", False)
    assert read_chat(line.payload) == Line(" Ahoy!", "you")
    assert roles_and_rights.may(roles_and_rights.Role.TEAM, "me", ["blue"], roles_and_rights.Action.PUBLISH, line.topic)
    with pytest.raises(WireError, match="bad_text"):
        session.say("two\nlines")


def test_a_session_refuses_chat_at_once_where_it_is_off(session: Session) -> None:
    server = ScriptedServer(session)
    server.say(m.ServerStatus(True, "1", 1, "open", chat=False))
    with pytest.raises(WireError, match="chat_off"):
        session.say("Ahoy!")
    server.say(m.ServerStatus(True, "1", 1, "open"))
    assert session.say("Ahoy!").payload == b'{"text": "Ahoy!"}'


# --- a bot in a contest -------------------------------------------------------------------------------------------


class Chatty(RandomBot):
    """Greets, answers in private, and keeps what it hears."""

    greeting = "Ahoy!"

    def __init__(self) -> None:
        self.received: list[tuple[str, str, bool]] = []

    def place_fleet(self, rules: RuleBook) -> Fleet:
        self.say(self.greeting)
        return super().place_fleet(rules)

    def on_message(self, sender: str, text: str, private: bool) -> None:
        self.received.append((sender, text, private))
        if not private and sender:
            self.say(f"hello {sender}", to=sender)


def contestant(bot: Bot, session: Session, **given: Any) -> tuple[Contestant, Wire]:
    edge = Wire()
    bot.prepare("me", 1)
    playing = Contestant(bot, SeatedTeam(session, edge, clock=lambda: 0.0), seed=1, **given)
    edge.connect()
    return playing, edge


def tell(playing: Contestant, edge: Wire, *announcements: m.Announcement) -> None:
    for announcement in announcements:
        for topic, payload, _ in write_announcement(announcement):
            edge.give(topic, payload)
    playing.step(0)


def listed(playing: Contestant, edge: Wire, *, chat: bool = True) -> None:
    status = m.ServerStatus(True, "1", 1, "open", chat=chat)
    tell(playing, edge, status, m.RulesAnnounced(SALVO, "", 60, 30, 300, 3), m.StateChanged(State.LOBBY))
    tell(playing, edge, m.PlayersListed(("me", "you")))


def announced(edge: Wire) -> list[Line]:
    return [read_chat(payload) for topic, payload in edge.announced if topic == "/players/me/say"]


def test_a_bot_posts_messages_and_receives_those_of_others_but_not_its_own(
    session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    bot = Chatty()
    playing, edge = contestant(bot, session)
    listed(playing, edge)
    with caplog.at_level(logging.INFO):
        tell(
            playing,
            edge,
            m.ChatPublished("me", "Ahoy!"),
            m.ChatPublished("you", "hi"),
            m.MessagePublished("me", "", "welcome"),
        )
    assert bot.received == [("you", "hi", False), ("", "welcome", True)]
    assert announced(edge) == [Line("Ahoy!"), Line("hello you", "you")]
    assert "me: you says: hi" in caplog.messages
    assert "me: the server says to us: welcome" in caplog.messages


def test_chat_posted_when_the_last_game_is_over_is_still_sent(session: Session) -> None:
    class Polite(RandomBot):
        def on_game_over(self, winner: str | None, stats: Any) -> None:
            self.say("gg")

    playing, edge = contestant(Polite(), session)
    listed(playing, edge)
    tell(playing, edge, m.StateChanged(State.TURN), m.TurnBegan(1, 1, "you", 5, 0, 30_000))
    tell(playing, edge, m.SalvoResolved(1, 1, "you", 5, 5, (), ("me",)), m.GameWon("you"), m.StateChanged(State.OVER))
    tell(playing, edge, *(m.PlayerStats(name, 0, 0, 0, 1, place) for place, name in enumerate(("you", "me"), start=1)))
    assert playing.done
    assert announced(edge) == [Line("gg")]


def test_an_invalid_chat_line_stops_a_bot_in_development_but_not_in_a_contest(
    session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    bot = Chatty()
    bot.greeting = "two\nlines"
    playing, edge = contestant(bot, session)
    with pytest.raises(BotError, match="bad_text"):
        listed(playing, edge)
    again = Session("me", "secret", generator(2), sealer=SEALER)
    playing, edge = contestant(bot, again, strict=False)
    listed(playing, edge)
    assert "/players/me/ships/carrier/place" in edge.topics_announced()
    assert announced(edge) == []
    assert "bad_text" in caplog.text


# --- bots in the arena --------------------------------------------------------------------------------------------


def test_bots_receive_each_others_chat_in_the_arena() -> None:
    bots = {name: Chatty() for name in ("ann", "bob", "cy")}
    arena.play(bots, seed=3)
    received = bots["ann"].received
    assert received[:2] == [("bob", "Ahoy!", False), ("cy", "Ahoy!", False)]
    assert sorted(received[2:]) == [("bob", "hello ann", True), ("cy", "hello ann", True)]
