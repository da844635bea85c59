"""The web front's pages in a real browser: with a real server, and with a broker on which anybody says anything."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kit.browser import Browser, text, until
from kit.ports import Port
from kit.processes import started, without_settings
from kit.programs import needs
from kit.web_front import WebFront, web_front
from salvo.net.mqtt import Connection
from salvo_lab.commands.play import play
from salvo_server.brokers.embedded import EmbeddedBroker

pytestmark = [needs("chromium"), pytest.mark.long]

_SALVO = (sys.executable, "-m", "salvo")
_SECONDS = 120.0
STATUS = {
    "status": "online",
    "version": "1",
    "game": 1,
    "profile": "open",
    "protocol": {"major": 1, "minor": 0},
}


@pytest.fixture
def window(shared: Browser) -> Iterator[Browser]:
    shared.resize(1280, 720)
    shared.open("about:blank")
    shared.complaints()
    yield shared
    shared.open("about:blank")
    shared.tell("Emulation.setEmulatedMedia", features=[])


def says(selector: str, words: str) -> str:
    return f"document.querySelector({json.dumps(selector)})?.textContent.includes({json.dumps(words)})"


# --- with a real server -----------------------------------------------------------------------------------------------


def test_a_game_is_seen_to_its_end_though_the_server_is_killed_on_the_way(window: Browser, tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        mqtt, web = (stack.enter_context(Port()).address for _ in range(2))
        clean = without_settings()
        environment = clean | {"XDG_STATE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
        words = ["--profile", "open", "--json", "--listen", mqtt, "--web", web, "--players", "2"]
        words += ["--pace", "0.1", "--over-seconds", "600", "--journal", str(tmp_path / "j")]

        def serve() -> subprocess.Popen[str]:
            command = [*_SALVO, "serve", *words]
            server = stack.enter_context(started(command, stdout=subprocess.PIPE, env=environment))
            assert server.stdout is not None
            next(line for line in server.stdout if json.loads(line)["event"] == "web")
            return server

        server = serve()
        window.open(f"http://{web}/")
        until(window, says("#headline", "The lobby is open"))
        until(window, says(".watch", "Only this machine reaches this page"))
        until(window, says(".arrived .join", f"salvo join mqtt://{mqtt} mybot.py"))
        assert window.complaints() == []
        for team in ("red", "blue"):
            null = subprocess.DEVNULL
            command = [*_SALVO, "join", f"mqtt://{mqtt}", "hunter", "--team", team, "--games", "1"]
            stack.enter_context(started(command, stdout=null, stderr=null, env=environment))
        until(window, "document.querySelectorAll('#feed-list li').length >= 2")
        server.kill()
        until(window, "!document.getElementById('trouble').hidden")
        serve()
        until(window, "document.getElementById('trouble').hidden")
        until(window, says("#headline", " wins by "))
        until(window, says("#comment", "\u2019s last ship"))
        until(window, says("#again", "Watch again"))
        winner = text(window, "#headline").split()[0]
        until(window, says("#standings-list li:nth-child(2)", winner))
        until(window, says("#feed-list li:first-child", f"{winner} wins"))


# --- with a broker on which anybody says anything ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("games")
    CliRunner().invoke(play, ["hunter", "random", "--seed", "1", "--record", f"{folder}/game-1.jsonl.gz"])
    return folder


@pytest.fixture
def rude(games: Path) -> Iterator[tuple[Connection, WebFront]]:
    """Somebody on an open broker, and a web front before it that shows boards."""
    with EmbeddedBroker() as broker, web_front(broker.url, "--referee", "--games", str(games)) as web:
        connection = Connection(broker.url, "rude", clean_session=True)
        connection.connect(_SECONDS)
        yield connection, web
        connection.close()


def say(rude: Connection, topic: str, payload: Any, *, retain: bool = True) -> None:
    rude.publish(topic, (payload if isinstance(payload, str) else json.dumps(payload)).encode(), retain=retain)
    assert rude.flush(_SECONDS)


def names_of(players: int) -> list[str]:
    return [f"team-with-a-name-{number}" if number % 3 == 0 else f"t{number}" for number in range(players)]


def a_game(rude: Connection, players: int = 2, turn: int = 8) -> None:
    """All that a page shows of a game whose boards are seen."""
    names = names_of(players)
    rows = ["aaaaA" + "." * 5, "." * 10, "BBBB" + "*" * 6, *["." * 9 + "*"] * 7]
    boards = [{"player": name, "rows": rows, "shots": 40, "hits": 11, "out": False} for name in names]
    last = {"player": names[0], "shots": [{"to": names[1], "x": 1, "y": 3, "hit": True}]}
    shown = {"game": 1, "turn": turn, "at": 0, "player": names[1], "shots": 5, "boards": boards, "last": last}
    next_turn = {"game": 1, "turn": turn + 1, "player": names[1], "shots": 5, "now": 0, "deadline": 3_600_000}
    for topic, payload in (
        ("/game/server", STATUS),
        ("/players/list", names),
        ("/game/state", "turn"),
        ("/game/referee", shown),
        ("/game/turn", next_turn),
    ):
        say(rude, topic, payload)


def opened(window: Browser, web: WebFront, path: str = "") -> None:
    window.open(web.url + path)
    until(window, "document.getElementById('headline')?.textContent")


def test_hostile_published_text_is_shown_as_text_and_breaks_nothing(
    window: Browser, rude: tuple[Connection, WebFront]
) -> None:
    connection, web = rude
    a_game(connection)
    opened(window, web)
    evil = [
        "<img src=x onerror=window.owned=1>",
        "<script>window.owned=1</script>",
        "'\"><svg onload=window.owned=1>",
        "javascript:window.owned=1",
        "</title><script src=//elsewhere.example/x.js></script>",
        "{{ 7*7 }} ${window.owned=1}",
        "\u202eright to left\u2066",
        "x" * 200,
        "\u0000\u0001\u001b[2J",
        "&lt;b&gt;",
    ]
    for each in evil:
        for topic in ("rules", "turn", "result", "winner", "server", "state", "referee", "stats/x"):
            for payload in (each, [each], {"player": each, "game": 1, "name": each}, {"text": each, "from": each}):
                connection.publish(f"/game/{topic}", json.dumps(payload).encode())
        connection.publish("/players/list", json.dumps([each, "team-with-a-name-0", "t1"]).encode())
        connection.publish(f"/players/{each.replace('/', '').replace(chr(0), '')}/defeated", b"true")
        for number in range(100):
            line = {"from": "t1", "text": f"{each} {number}"}
            connection.publish("/game/chat", json.dumps(line).encode())
    assert connection.flush(_SECONDS)
    say(connection, "/game/chat", {"from": "t1", "text": "<b>that was all</b>"}, retain=False)
    until(window, says("#chat-list", "<b>that was all</b>"))
    assert window.run("return window.owned === undefined")
    assert (
        window.run("return document.querySelectorAll('#chat-list b b, #chat-list img, #chat-list script').length") == 0
    )
    assert "49" not in window.run("return document.title")
    assert window.complaints() == []


def test_a_lobby_announces_a_start_only_where_two_fleets_are_complete(
    window: Browser, rude: tuple[Connection, WebFront]
) -> None:
    opened(window, rude[1])
    word = (
        "return import('./static/words.js').then(({ atZero }) => atZero(arguments[0].map((placed) => ({placed})), 5))"
    )
    starts, places = "the game starts in", "left to place ships"
    for placed, expected in (
        ([5], ""),
        ([], ""),
        ([2], places),
        ([5, 0], places),
        ([5, 5], starts),
        ([5, 5, 1], starts),
    ):
        assert window.run(word, placed) == expected


def test_arrivals_count_down_to_the_first_round(window: Browser, rude: tuple[Connection, WebFront]) -> None:
    connection, web = rude
    rows = [{"place": 1, "team": name, "points": 0, "games": 0, "wins": 0} for name in ("ann", "bob")]
    cup = {"name": "cup", "round": 0, "teams": 2, "rows": rows, "matches": [], "at": 1, "phase": "arrivals"}
    say(connection, "/game/league", cup)
    say(connection, "/game/state", "lobby")
    opened(window, web)
    until(window, says("#headline", "cup waits for its teams"))
    assert window.run("return document.getElementById('clock').hidden")
    say(connection, "/game/league", {**cup, "begins": 1000 * int(time.time() + 3600)})
    until(window, "!document.getElementById('clock').hidden")
    assert text(window, "#clockword") == "round 1 begins in"
    assert text(window, "#left").split(":")[0] in ("59", "60")


def test_chances_are_whole_percents_that_add_up_to_100(window: Browser, rude: tuple[Connection, WebFront]) -> None:
    connection, web = rude
    a_game(connection)
    opened(window, web)
    rounded = "return import('./static/words.js').then(({ percents }) => percents(arguments[0]))"
    for shares in (
        [0.475, 0.525],
        [0.235, 0.295, 0.235, 0.235],
        [0.57, 0.43],
        [1.0, 0.0],
        [1 / 3] * 3,
        [0.5, 0.4],
        [0.0, 0.0],
    ):
        whole = window.run(rounded, shares)
        assert sum(whole) == (100 if any(shares) else 0)
        assert all(
            abs(percent - 100 * share / (sum(shares) or 1)) < 1 for percent, share in zip(whole, shares, strict=True)
        )
    until(window, "!document.getElementById('chances').hidden")
    shown = window.run(
        "return [...document.querySelectorAll('#chances-list b')].map((each) => parseInt(each.innerText))"
    )
    assert sum(shown) == 100


def test_the_page_of_a_team_follows_it_and_has_its_board_first(
    window: Browser, rude: tuple[Connection, WebFront]
) -> None:
    connection, web = rude
    a_game(connection, 8)
    opened(window, web, "?team=team-with-a-name-6")
    until(window, "document.querySelector('#features article')")
    assert window.run("return document.querySelector('#features .name').textContent") == "team-with-a-name-6"
    line = window.run("return document.getElementById('own-line').textContent")
    assert line == "team-with-a-name-6, 4 of 5 ships afloat against 7 teams"
    assert (
        window.run("return document.querySelector('#own a').getAttribute('href')") == "./games?teams=team-with-a-name-6"
    )
    assert window.complaints() == []
    say(connection, "/game/state", "over")
    say(connection, "/t9/players/list", ["team-with-a-name-6", "t4"])
    say(connection, "/t9/game/state", "lobby")
    until(window, says("#own-line", "next game at table t9 against t4"))
    assert web.get("/?team=%3Cb%3E")[0] == 400


def test_the_page_of_a_team_that_is_not_there_says_so_and_which_there_are_until_it_comes(
    window: Browser, rude: tuple[Connection, WebFront]
) -> None:
    connection, web = rude
    a_game(connection, 2)
    row = {"place": 1, "team": "gone", "points": 1000, "games": 1, "wins": 1}
    league = {"name": "cup", "round": 1, "teams": 1, "rows": [row], "matches": [], "phase": "round", "at": 1}
    say(connection, "/game/league", league)
    opened(window, web, "?team=nobody")
    until(window, says("#own-line", "No team nobody is here"))
    line = window.run("return document.getElementById('own-line').textContent")
    there = "gone, t1 and team-with-a-name-0"
    assert line == f"No team nobody is here, but {there}; this page follows it once it comes"
    assert "Waiting" not in window.run("return document.body.innerText")
    opened(window, web, "?team=gone")
    until(window, says("#own-line", "gone is at no table now"))
    of = "gameOf({ table: '', game: 5, tape: { table: arguments[0] } })"
    game = f"return import('./static/state.js').then(({{ gameOf }}) => {of})"
    assert window.run(game, "t1") != window.run(game, "t3")  # games of two tables may have one number
    say(connection, "/game/league", {**league, "missing": ["late"]})
    opened(window, web, "?team=late")
    until(window, says("#own-line", "late has not come yet; this page follows it once it comes"))
    opened(window, web, "?team=nobody")
    until(window, says("#own-line", "No team nobody is here"))
    say(connection, "/t9/players/list", ["nobody", *(f"crowd-{number}" for number in range(20))])
    say(connection, "/t9/game/state", "lobby")
    until(window, says("#own-line", "nobody: next game at table t9"))
    opened(window, web, "?team=no-one")
    until(window, says("#own-line", "No team no-one is here, but 24 others"))


def test_the_page_of_an_evening_has_all_games_the_table_and_a_card_in_a_break(
    window: Browser, rude: tuple[Connection, WebFront]
) -> None:
    connection, web = rude
    rows = [{"place": 1, "team": name, "points": 1000, "games": 1, "wins": 1} for name in ("ann", "bob", "cy", "dan")]
    matches = [{"teams": ["ann", "bob"], "table": "t1"}, {"teams": ["cy", "dan"], "table": None, "places": [2, 1]}]
    cup = {"name": "cup", "round": 2, "rounds": 3, "teams": 4, "rows": rows, "matches": matches, "at": 1}
    cup |= {"left": 600, "missing": ["eve"], "badges": {"ann": 0, "fay": 1}}
    say(connection, "/game/league", {**cup, "phase": "round"})
    say(connection, "/game/state", "lobby")
    a_public_game(connection, "/t1", "ann", "bob")
    opened(window, web)
    until(window, says("#games .turn li.fires", "ann"))
    assert text(window, "#games .card.over").split() == ["Played", "1.", "dan", "2.", "cy"]
    assert (
        text(window, "#next")
        == "Next: round 3 of 3, when the games of round 2 are over, without tapes, since this page has been away. "
        "Podium in about 12 minutes"
    )
    assert window.run("return document.querySelectorAll('#standings-list .team').length") == 6
    late = window.run("return [...document.querySelectorAll('#standings-list .absent')].map((each) => each.innerText)")
    assert [each.split("\n") for each in late] == [["fay", "next round"], ["eve", "not here yet"]]
    host = {"by": "desk", "do": "pause", "text": "Pizza is here", "paused": True}
    say(connection, "/game/hosted", host)
    say(connection, "/game/league", {**cup, "phase": "break", "resumes": "round"})
    until(window, says("#pause-words", "Pizza is here"))
    assert window.run("return document.getElementById('host').hidden")
    say(connection, "/game/league", {**cup, "phase": "round"})
    until(window, "document.getElementById('pause').hidden")
    assert window.complaints() == []


def test_without_a_league_the_page_goes_to_a_table_that_plays_until_somebody_chooses_one(
    window: Browser, rude: tuple[Connection, WebFront]
) -> None:
    connection, web = rude
    say(connection, "/game/state", "lobby")
    a_public_game(connection, "/t9", "eve", "dan")
    opened(window, web)
    until(window, says("#headline", "eve to fire"))
    assert window.run("return document.getElementById('table').value") == "t9"
    window.open(f"{web.url}?table=")
    until(window, says("#headline", "The lobby is open"))
    assert window.complaints() == []


_FLEET = ["aaaaa.....", "bbbb......", "ccc.......", "ddd.......", "ee........", *["." * 10] * 5]


def boards_after(turn: int, damaged: list[str], *shots: tuple[int, int, bool]) -> dict[str, Any]:
    """The boards of ann and bob, after a salvo of ann's at bob."""
    boards = [
        {"player": name, "rows": rows, "shots": 5, "hits": 2, "out": False}
        for name, rows in (("ann", _FLEET), ("bob", damaged))
    ]
    fired = [{"to": "bob", "x": x, "y": y, "hit": hit} for x, y, hit in shots]
    last = {"last": {"player": "ann", "shots": fired}} if shots else {}
    return {"game": 1, "turn": turn, "at": 1, "player": "bob", "shots": 5, "boards": boards, **last}


def a_public_game(rude: Connection, table: str, *names: str) -> None:
    for topic, payload in (
        ("/game/server", STATUS),
        ("/players/list", names),
        ("/game/state", "turn"),
        ("/game/turn", {"game": 1, "turn": 1, "player": names[0], "shots": 5, "now": 0, "deadline": 3_600_000}),
    ):
        say(rude, f"{table}{topic}", payload)


def test_shots_fall_where_they_were_aimed_and_a_ship_breaks(window: Browser, rude: tuple[Connection, WebFront]) -> None:
    connection, web = rude
    a_public_game(connection, "", "ann", "bob")
    say(connection, "/game/referee", boards_after(1, [*_FLEET[:4], "Ee........", *_FLEET[5:]], (1, 5, True)))
    opened(window, web)
    until(window, "document.querySelectorAll('.board').length === 2")
    window.run("""window.flew_ = window.broke_ = 0; new MutationObserver(() => {
        flew_ = Math.max(flew_, document.querySelectorAll('#sky .ball').length);
        broke_ = Math.max(broke_, document.querySelectorAll('.breaking').length);
    }).observe(document.body, { subtree: true, childList: true })""")
    after = [*_FLEET[:4], "EE........", ".........*", *_FLEET[6:]]
    say(connection, "/game/referee", boards_after(2, after, (2, 5, True), (10, 6, False)))
    until(window, says("#headline", "ann draws first blood"))
    until(window, says("#comment", "ann takes the lead \u00b7 ann sinks bob\u2019s patrolboat"))
    until(window, "broke_ === 2 && !document.querySelector('.breaking') && !document.querySelector('#sky *')")
    assert window.run("return flew_") == 2
    drawn = "return document.querySelectorAll('.board')[1].querySelector(arguments[0]).getAttribute('d')"
    assert window.run(drawn, ".misses") == "M95 55h0"
    assert window.run(drawn, ".wrecks") == "M5 45L15 45"
    assert window.run(drawn, ".latest").count("M") == 2
    assert "ann sinks bob\u2019s patrolboat" in window.run(
        "return document.querySelector('#feed-list li:first-child').textContent"
    )
    assert window.label(".board").startswith("Board of ann: 5 ships afloat")
    assert window.complaints() == []


def test_the_end_of_a_game_shows_the_margin_and_the_board_that_was_hit_last(
    window: Browser, rude: tuple[Connection, WebFront]
) -> None:
    connection, web = rude
    a_public_game(connection, "", "ann", "bob")
    sunk = [row.replace(".", "~").upper().replace("~", ".") for row in _FLEET]
    say(connection, "/game/referee", boards_after(1, [*sunk[:4], "Ee........", *sunk[5:]], (1, 5, True)))
    opened(window, web)
    until(window, says("#progress", "ann leads by 4 ships"))
    last = boards_after(2, sunk, (2, 5, True)) | {"player": "", "shots": 0, "winner": "ann"}
    last["boards"][1]["out"] = True
    say(connection, "/game/referee", last)
    say(connection, "/game/winner", "ann")
    say(connection, "/game/state", "over")
    until(window, says("#end .wins", "wins by 5 ships"))  # which stays there when the card has gone by itself
    assert "ann sank bob\u2019s last ship, the patrolboat, with salvo 2" in text(window, "#end .why")
    drawn = "return document.querySelector('#end .board').getAttribute('aria-label')"
    assert window.run(drawn) == "Board of bob"
    assert window.run("return document.querySelector('#end .latest').getAttribute('d')").count("M") == 1
    window.press("\ue00c")
    until(window, "document.getElementById('end').hidden")
    assert window.run("return document.querySelector('#again a').getAttribute('href')") == "games/at/game/1"
    assert window.complaints() == []


def test_the_end_of_a_league_enters_step_by_step_and_stays_until_something_else_is_on(
    window: Browser, rude: tuple[Connection, WebFront]
) -> None:
    connection, web = rude
    teams = ["W" * 32, "ann", "a-team-with-a-name-of-32-letters", "bob"]
    rows = [
        {"place": place, "team": team, "points": 4000 - place, "games": 2, "wins": 1}
        for place, team in zip((1, 1, 3, 4), teams, strict=True)
    ]
    cup = "The Great Winter Hack Night Salvo Cup 26"
    league = {"name": cup, "round": 2, "rounds": 2, "teams": 4, "at": 1, "rows": rows, "matches": [], "phase": "round"}
    for topic, payload in (("server", STATUS), ("state", "lobby"), ("league", league)):
        say(connection, f"/game/{topic}", payload)
    opened(window, web)
    until(window, says("#headline", "Round 2 of 2"))
    say(connection, "/game/league", league | {"phase": "final", "over": True})
    until(window, says("#end .cup", cup))
    enters = "return [...document.querySelectorAll(arguments[0])].map((each) => getComputedStyle(each).animationDelay)"
    assert window.run(enters, ".step, .final") == ["3s", "0s", "6s"]
    for width in (1280, 390):
        window.resize(width, 720)
        opened(window, web)
        until(window, says("#end .cup", cup))
        assert window.run("return document.getElementById('end').getAnimations({ subtree: true }).length") == 0
        steps = "return [...document.querySelectorAll('.step')].map((each) => each.innerText.split(/\\s+/).join(' '))"
        assert window.run(steps) == [f"{teams[0]} ann 1 4 points", f"{teams[2]} 3 4 points"]
        wide, tall = window.run("const { scrollWidth: w, scrollHeight: h } = document.body; return [w, h]")
        assert wide <= width
        assert width < 700 or tall <= 720
        assert window.run("const end = document.getElementById('end'); return end.scrollHeight <= end.clientHeight")
    say(connection, "/game/league", league | {"phase": "free", "over": True})
    until(window, "document.getElementById('end').hidden")
    assert window.complaints() == []


def test_the_hall_page_reports_trouble_and_lets_a_table_be_chosen(
    window: Browser, rude: tuple[Connection, WebFront]
) -> None:
    connection, web = rude
    opened(window, web)
    until(window, says("#headline", "No contest here yet"))
    a_public_game(connection, "", "ann", "bob")
    until(window, "!document.getElementById('clock').hidden")
    for status, words in (("paused", "The server is paused"), ("offline", "The server is offline")):
        say(connection, "/game/server", {**STATUS, "status": status})
        until(window, says("#trouble", words))
        assert window.run("return document.getElementById('clock').hidden")
    for table in ("", "/t10", "/t9"):
        a_public_game(connection, table, "eve" if table else "ann", "dan")
    until(window, "document.getElementById('trouble').hidden && document.querySelector('#table option[value=t9]')")
    window.run("document.getElementById('table').value = 't9'")
    window.run("document.getElementById('table').dispatchEvent(new Event('change'))")
    until(window, says("#headline", "eve to fire"))
    assert window.run("return location.search") == "?table=t9"
    window.run("history.back()")
    until(window, says("#headline", "ann to fire"))
    window.open(f"{web.url}tables")
    until(window, "document.querySelectorAll('#cards .card').length === 3")
    titles = window.run("return [...document.querySelectorAll('#cards h2 a')].map(e => e.textContent)")
    assert titles == ["Main table", "Table t9", "Table t10"]
    assert window.complaints() == []
