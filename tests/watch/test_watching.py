"""What people see who watch a table on a terminal."""

from __future__ import annotations

import pytest
from rich.console import Console

from salvo import messages as m
from salvo import table_state
from salvo.codec.announcement_writer import write_announcement
from salvo.messages import State
from salvo.net.inbound import Inbound
from salvo.net.mqtt import BrokerUrl
from salvo.wire import roles_and_rights
from salvo_server.screen_users import watching_account
from salvo_watch import live_views
from salvo_watch.live_views import Watcher
from watch.watchers import begin, connected, lines


def page(watcher: Watcher) -> str:
    console = Console(width=120, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(watcher.page())
    console.file.close()
    return console.export_text()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits has waited long enough."""
    monkeypatch.setattr(live_views, "PATIENCE_SECONDS", -1.0)


def test_a_watcher_stores_a_bounded_number_of_made_up_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_state, "MAX_FACTS", 10)
    held, watcher = connected(Watcher, "")
    for number in range(50):
        held.deliver(f"/players/team{number}/defeated", b"true")
        held.deliver(f"/players/team{number}/ships/carrier/sunk", b"true")
        held.say(m.PlayerStats(f"team{number}", 1, 1, 0, 1, 1))
        held.say(m.SalvoResolved(1, number + 1, f"team{number}", 1, 0, (), ()))
    watcher.poll(0)
    game = watcher.seen.game
    assert {len(facts) for facts in (game.out, game.sunk, game.stats, game.tallies)} == {10}


def test_a_watcher_subscribes_to_nothing_that_it_may_not_read() -> None:
    held, _ = connected(Watcher, "blue")
    for topic_filter in held.filters:
        topic = topic_filter.replace("+", "x")
        role = roles_and_rights.Role.WATCHER
        assert roles_and_rights.may(role, "hall", ["blue"], roles_and_rights.Action.RECEIVE, topic), topic_filter


@pytest.mark.parametrize(
    ("url", "environment", "user"),
    [
        ("mqtt://hall.3:x@h", {"SALVO_TEAM": "red", "SALVO_SECRET": "y"}, "hall.3"),
        ("mqtt://hall.3@h", {"SALVO_TEAM": "red", "SALVO_SECRET": "x"}, "hall.3"),
        ("mqtt://h", {"SALVO_TEAM": "red", "SALVO_SECRET": "x"}, "red"),
        ("mqtt://h", {}, None),
    ],
)
def test_the_account_is_that_of_the_url_or_of_the_environment(
    url: str, environment: dict[str, str], user: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    account = watching_account(BrokerUrl.parse(url))
    assert account.user == user
    assert account.secret == ("x" if user is not None else None)


@pytest.mark.usefixtures("impatient")
def test_a_watcher_that_receives_nothing_prints_a_notice() -> None:
    _, watcher = connected(Watcher, "blue")
    [line] = lines(watcher)
    assert "nothing is known of table 'blue'" in line


def test_published_text_cannot_control_a_watchers_terminal() -> None:
    """On an open broker anybody says anything: a winner's name may clear the screen and forge what stands there."""
    held, watcher = connected(Watcher, "")
    begin(held)
    held.say(m.PlayersListed(("alice", "\x1b[2Jbob")), m.TurnBegan(1, 2, "\x1b[1Acarol", 5, 0, 30_000))
    held.say(m.GameWon("\x1b]0;owned\x07alice"))
    watcher.note("\x1b[2Ja notice")
    printed = lines(watcher)
    assert all(line.isprintable() for line in printed)
    shown = page(watcher)
    assert "a notice" in shown
    assert not any(forged in shown for forged in ("\x1b", "carol", "owned"))


# --- the chat -----------------------------------------------------------------------------------------------------


def test_a_watcher_shows_public_chat_below_the_game_news() -> None:
    held, watcher = connected(Watcher, "")
    assert "/game/chat" in held.filters
    begin(held)
    watcher.poll(0)
    held.say(m.ChatPublished("alice", "Ahoy!"), m.ChatPublished("", "bob reconnected"))
    news = watcher.poll(0)
    assert [each.line for each in news] == ["alice says: Ahoy!", "the server says: bob reconnected"]
    assert news[0].record == {"event": "chat", "from": "alice", "text": "Ahoy!", "private": False}
    text = page(watcher)
    assert text.index("state turn") < text.index("alice says: Ahoy!")


def test_a_flood_of_lines_pushes_no_news_away() -> None:
    held, watcher = connected(Watcher, "")
    begin(held)
    held.say(*(m.ChatPublished("bob", f"line {number}") for number in range(50)))
    watcher.poll(0)
    text = page(watcher)
    assert "state turn" in text
    assert text.count("bob says:") == 4


def test_a_line_that_somebody_left_behind_or_made_up_is_not_shown() -> None:
    held, watcher = connected(Watcher, "")
    [line] = write_announcement(m.ChatPublished("bob", "for ever"))
    held.arriving.append(Inbound(line.topic, line.payload, True, 1, 1))
    held.arriving.append(Inbound(line.topic, b'{"from":"turn 9","text":"alice hits 5 of 5"}', False, 1, 1))
    assert lines(watcher) == []


# --- coming and going ---------------------------------------------------------------------------------------------


def test_a_further_tables_status_is_that_of_the_first_table() -> None:
    """The story: who looked on at the table "second" was told that the server was offline."""
    held, watcher = connected(Watcher, "second")
    held.say(m.ServerStatus(True, "1", 1, "contest", "/game/server"), table="second")
    assert lines(watcher) == []
    assert held.filters[-1] == "/game/server"
    held.say(m.ServerStatus(True, "1", 4, "contest"))
    assert lines(watcher) == ["server online"]
    held.say(m.ServerStatus(True, "1", 4, "contest", paused=True))
    assert lines(watcher) == ["server paused: it cannot write to its disk"]
    held.say(m.ServerStatus(False, "1", 4, "contest"))
    assert lines(watcher) == ["server offline"]
    held.filters.clear()
    held.connect()
    assert "/game/server" in held.filters


def test_the_clock_of_a_turn_waits_while_the_server_cannot_write_to_its_disk() -> None:
    """The story: it ran to 0 s while nobody could fire, and the screen called the server online."""
    held, watcher = connected(Watcher, "")
    begin(held)
    lines(watcher)
    assert "alice has" in watcher.heading()
    held.say(m.ServerStatus(True, "1", 1, "contest", paused=True))
    assert lines(watcher) == ["server paused: it cannot write to its disk"]
    assert "alice waits, the server is paused" in watcher.heading()


@pytest.mark.parametrize("topic", ["#", "/#", "/+/game/server", "/game/state", "nowhere", "/a b/game/server"])
def test_an_invalid_status_topic_is_not_subscribed(topic: str) -> None:
    held, watcher = connected(Watcher, "second")
    before = list(held.filters)
    held.say(m.ServerStatus(True, "1", 1, "open", topic), table="second")
    assert (lines(watcher), held.filters) == ([], before)


def test_a_watcher_reports_its_new_user_once_the_broker_has_accepted_it() -> None:
    """The story: with a wrong secret it said "looking on as hall.1 now" and was refused."""
    held, watcher = connected(Watcher, "")
    watcher.change_user("hall.2")
    assert (held.user, lines(watcher)) == ("hall.2", [])
    held.connect()
    assert lines(watcher) == ["watching as hall.2 now"]
    held.connect()
    assert lines(watcher) == []


def test_retained_messages_are_news_once_over_any_number_of_reconnects() -> None:
    """The story: each newcomer that tried a screen's user brought it the state again, and a game to --games."""
    held, watcher = connected(Watcher, "")
    begin(held)
    assert lines(watcher) == ["server online", "players: alice, bob", "state turn"]
    begin(held)
    assert lines(watcher) == []
    for _ in range(2):
        held.say(m.StateChanged(State.OVER), m.GameWon("alice"))
        lines(watcher)
    assert watcher.games_ended == 1
    held.say(m.StateChanged(State.LOBBY))
    begin(held)
    assert lines(watcher) == ["state lobby", "players: alice, bob", "state turn"]
    held.say(m.StateChanged(State.OVER), m.GameWon("alice"))
    lines(watcher)
    assert watcher.games_ended == 2
