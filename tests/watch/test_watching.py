"""What people see who look on: everybody, a team's screen, the referee."""

from __future__ import annotations

import dataclasses

import pytest
from rich.console import Console

from salvo import messages as m
from salvo import permissions, seal, table_state
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.recap_writer import write_recap
from salvo.messages import State
from salvo.net.inbound import Inbound
from salvo.net.mqtt import BrokerUrl
from salvo.rules import SALVO, Grid, Orientation, Placement, generator, random_fleet
from salvo_display.boards.marks import Mark
from salvo_watch import live_views
from salvo_watch.live_views import (
    EVERYBODY,
    REFEREE,
    RefereeWatcher,
    TeamWatcher,
    Watcher,
    WatchError,
    screen_account,
)
from watch.watchers import begin, connected, lines

SHIPS = ("aaaaa.....", "bbbb......", "ccc.......", "ddd.......", "ee........")
ALICE = m.RefereeBoard("alice", (*SHIPS, *[".........."] * 5), 5, 2, False)
BOB = m.RefereeBoard("bob", ("EEa*......", *[".........."] * 9), 0, 0, False)
AFTER = m.RefereeView(
    1, 1, 1000, "bob", 4, (ALICE, BOB),
    m.RefereeSalvo("alice", (m.AimedShot("bob", 1, 1, True), m.AimedShot("bob", 4, 1, False))),
)  # fmt: skip


def page(watcher: Watcher) -> str:
    console = Console(width=120, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(watcher.page())
    console.file.close()
    return console.export_text()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits has waited long enough."""
    monkeypatch.setattr(live_views, "PATIENCE_SECONDS", -1.0)


def kept(*announcements: m.Announcement) -> list[tuple[str, bytes]]:
    """Return what the broker keeps of announcements, the last of each topic."""
    written = (each for announcement in announcements for each in write_announcement(announcement))
    return list({topic: payload for topic, payload, retain in written if retain}.items())


@pytest.mark.parametrize("step", [1, -1])
def test_the_boards_with_the_winner_and_the_news_of_it_are_one_game(step: int) -> None:
    """The story: who opened the referee's view after the end counted the game twice for --games."""
    last = dataclasses.replace(AFTER, turn=41, winner="bob")
    end = kept(last, m.StateChanged(State.OVER), m.TurnBegan(1, 41, "bob", 3, 0, 1), m.GameWon("bob"))
    held, referee = connected(RefereeWatcher, "")
    for _ in range(2):
        held.connect(end[::step])
        referee.poll(0)
    assert referee.games_ended == 1


def test_facts_that_somebody_makes_up_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
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


# --- what each asks for -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "given", "role", "name"),
    [
        (Watcher, (), permissions.Role.WATCHER, "hall"),
        (TeamWatcher, ("alice", "secret"), permissions.Role.SCREEN, "alice"),
        (RefereeWatcher, (), permissions.Role.REFEREE, "judge"),
    ],
)
def test_everything_that_is_asked_for_may_be_read(
    kind: type[Watcher], given: tuple[str, ...], role: permissions.Role, name: str
) -> None:
    held, _ = connected(kind, "blue", *given)
    for topic_filter in held.filters:
        topic = topic_filter.replace("+", "x")
        assert permissions.may(role, name, ["blue"], permissions.Action.RECEIVE, topic), topic_filter


# --- which account looks on ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "view", "environment", "user"),
    [
        ("mqtt://hall:x@h", EVERYBODY, (None, None), "hall"),
        ("mqtt://hall.3:x@h", EVERYBODY, (None, None), "hall.3"),
        ("mqtt://h", EVERYBODY, ("red", "x"), "red"),
        ("mqtt://h", EVERYBODY, (None, None), None),
        ("mqtt://judge:x@h", REFEREE, ("red", "y"), "judge"),
        ("mqtt://red:x@h", "red", (None, None), "red"),
        ("mqtt://red.2:x@h", "red", (None, None), "red.2"),
        ("mqtt://h", "red", (None, "x"), "red"),
        ("mqtt://h", "red", (None, None), None),
    ],
)
def test_the_account_is_that_of_the_url_or_of_the_environment(
    url: str, view: str, environment: tuple[str | None, str | None], user: str | None
) -> None:
    account = screen_account(BrokerUrl.parse(url), view, *environment)
    assert account.user == user
    assert account.secret == ("x" if user is not None else None)


@pytest.mark.parametrize("user", ["blue", "redo.1", "Red"])
def test_a_teams_view_is_for_its_own_screens(user: str) -> None:
    with pytest.raises(WatchError, match="not_your_view"):
        screen_account(BrokerUrl.parse(f"mqtt://{user}:x@h"), "red", None, None)


# --- the referee's view -------------------------------------------------------------------------------------------


def test_the_referee_sees_ships_hits_and_the_last_salvo() -> None:
    held, referee = connected(RefereeWatcher, "")
    begin(held)
    held.say(AFTER)
    assert lines(referee)[-1] == "turn 1: alice fired at bob A1 hit, A4 miss"
    boards = live_views.boards_of(AFTER, SALVO)
    assert boards["bob"].marks[:5] == f"{Mark.HIT}{Mark.HIT}{Mark.SHIP}{Mark.MISS}{Mark.BLANK}"
    assert boards["bob"].latest == {0, 3}
    assert boards["bob"].ships == {
        "carrier": True, "battleship": False, "destroyer": False, "submarine": False, "patrolboat": False
    }  # fmt: skip
    assert all(boards["alice"].ships.values())
    text = page(referee)
    assert "shown: game 1 after turn 1, bob to fire 4" in text
    assert f"{Mark.SHIP} {Mark.SHIP} {Mark.SHIP} {Mark.SHIP} {Mark.SHIP}" in text


@pytest.mark.usefixtures("impatient")
def test_a_referee_without_boards_is_told_what_is_probably_wrong_once() -> None:
    held, referee = connected(RefereeWatcher, "")
    begin(held)
    told = [line for line in lines(referee) if "role referee" in line]
    assert len(told) == 1
    assert "referee_delay_seconds" in told[0]
    assert lines(referee) == []


# --- a team's view ------------------------------------------------------------------------------------------------


def test_a_screen_shows_what_falls_on_the_own_board_as_it_falls() -> None:
    held, screen = connected(TeamWatcher, "", "alice", None)
    begin(held)
    held.say(m.ShotLanded("alice", 3, 2), m.CommandRefused("alice", "not_your_turn", "it is bob's"))
    told = lines(screen)
    assert [told[-3], told[-1]] == ["a shot at our B3", "error: not_your_turn: it is bob's"]
    assert told[-2].startswith("our fleet and where our bot has fired are not known here")
    held.say(m.ShotLanded("alice", 4, 2))
    assert lines(screen) == ["a shot at our B4"]
    assert screen.own_marks().index(Mark.FIRED) == 12
    assert Mark.FIRED in page(screen)
    assert Mark.SHIP not in page(screen).replace("▮", "")


def test_a_recap_that_the_team_asked_for_shows_its_fleet_and_shots() -> None:
    fleet = random_fleet(SALVO, generator(1))
    recap = m.Recap("alice", 1, 2, fleet.placements, (m.OwnShot(1, "bob", 9, 9),), ((1, 1),), (), ("alice", "bob"))
    held, screen = connected(TeamWatcher, "", "alice", "secret")
    begin(held)
    held.arriving.append(recap_message(recap))
    assert lines(screen)[-1] == "recap: game 1, turn 2"
    assert screen.own_marks()[0] in (Mark.HIT, Mark.MISS)
    assert screen.own_marks().count(Mark.SHIP) + screen.own_marks().count(Mark.HIT) == 17
    screen.body()
    assert screen.boards["bob"].marks.index(Mark.FIRED) == 88
    [cell] = [cell for cell, ship in enumerate(fleet.board) if ship == 1][:1]
    held.say(m.ShotLanded("alice", *SALVO.grid.xy(cell)))
    assert lines(screen) == [f"a shot at our {SALVO.grid.name(cell)}: carrier"]


def recap_message(recap: m.Recap, secret: str = "secret") -> Inbound:
    sealer = seal.Sealer(secret, bytes(16))
    blob = seal.make_blob(write_recap(recap, SALVO.grid), seal.key_to_team(sealer.key), sealer.salt)
    return Inbound(f"/players/{recap.to}/recap", blob.encode(), False, 1, 1)


def test_a_recap_that_does_not_fit_made_up_rules_is_told_and_changes_nothing() -> None:
    recap = m.Recap("alice", 1, 2, random_fleet(SALVO, generator(1)).placements, (), ((9, 9),), (), ("alice", "bob"))
    held, screen = connected(TeamWatcher, "", "alice", "secret")
    begin(held)
    held.say(m.RulesAnnounced(dataclasses.replace(SALVO, grid=Grid(5, 5)), "", 60, 30, 300, 3))
    held.arriving.append(recap_message(recap))
    assert "does not fit the rules" in lines(screen)[-1]
    assert set(screen.own_marks()) == {Mark.BLANK}


def test_a_recap_under_another_secret_is_told_and_changes_nothing() -> None:
    held, screen = connected(TeamWatcher, "", "alice", "secret")
    begin(held)
    recap = m.Recap("alice", 1, 2, (Placement("carrier", 1, 1, Orientation.VERTICAL),), (), (), ())
    held.arriving.append(recap_message(recap, "another"))
    assert "forged" in lines(screen)[-1]
    assert set(screen.own_marks()) == {Mark.BLANK}


def test_nobody_moves_the_cursor_of_whoever_looks_on() -> None:
    """On an open broker anybody says anything: a winner's name may clear the screen and forge what stands there."""
    held, watcher = connected(Watcher, "")
    begin(held)
    held.say(m.PlayersListed(("alice", "\x1b[2Jbob")), m.TurnBegan(1, 2, "\x1b[1Acarol", 5, 0, 30_000))
    held.say(m.GameWon("\x1b]0;owned\x07alice"))
    said = lines(watcher)
    assert any("owned" in line for line in said)
    assert all(line.isprintable() for line in said)
    shown = page(watcher)
    assert "carol" in shown
    assert "\x1b" not in shown


# --- the chat -----------------------------------------------------------------------------------------------------


def test_everybody_sees_what_is_said_to_everybody_below_the_news() -> None:
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
    held.say(m.ServerStatus(False, "1", 4, "contest"))
    assert lines(watcher) == ["server offline"]
    held.filters.clear()
    held.connect()
    assert "/game/server" in held.filters


@pytest.mark.parametrize("topic", ["#", "/#", "/+/game/server", "/game/state", "nowhere", "/a b/game/server"])
def test_a_status_topic_that_is_none_is_not_subscribed(topic: str) -> None:
    held, watcher = connected(Watcher, "second")
    before = list(held.filters)
    held.say(m.ServerStatus(True, "1", 1, "open", topic), table="second")
    assert (lines(watcher), held.filters) == ([], before)


def test_another_user_is_told_of_when_the_broker_has_let_it_in() -> None:
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
