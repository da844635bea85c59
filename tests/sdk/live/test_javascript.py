"""The JavaScript SDK: its own tests, and its bots in contests, installed from the package that authors get."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from dataclasses import replace
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from typing import Any

import pytest

import salvo
from kit import command_line, javascript
from kit.brokers import Broker, StartServer
from kit.browser import browser, text, until
from kit.javascript import PACKAGE, ROOT
from kit.person_at_a_terminal import pond_file
from kit.players import SECONDS, join, over
from kit.processes import started
from kit.programs import needs, path_of
from kit.same_games import SEED, AnnouncedAndSent, in_arena, one_fleet
from kit.secured import Client
from kit.web_front import web_front
from salvo import messages as m
from salvo.codec.announcements import EVENING
from salvo.join.league_news import LeagueNews
from salvo.net.mqtt import BrokerUrl
from salvo.wire import topics
from salvo_lab.bots.random_bot import RandomBot

pytestmark = [needs("node"), needs("npm"), pytest.mark.long]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the package is installed."""
    return javascript.installed(tmp_path_factory)[1]


@pytest.fixture
def mybot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bot of three lines, each test's own."""
    return javascript.bot_of_three_lines(tmp_path_factory)


CUP = """\
name = "two"
games = 2
seed = 1
[bots]
hunting = "hunting.js"
mine = "mybot.js"
"""


@salvo.bot
def fire(view: salvo.View) -> Any:
    """The same strategy in Python."""
    return view.untouched.sample(view.shots)


def test_the_javascript_sdks_own_tests_pass(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Those of ``npm test`` that the making of the package has not done: it has checked the types."""
    checkout, _ = javascript.installed(tmp_path_factory)
    copy = javascript.copy_in(checkout)
    assert json.loads((copy / "package.json").read_text())["scripts"]["test"] == "npm run types && node --test test/"
    assert "# fail 0" in javascript.run(copy, "node", "--test", "test/")


@pytest.mark.parametrize("bundled", [False, True])
def test_the_same_strategy_fires_the_same_shots_in_both_languages(
    mybot: Path, bundled: bool, broker: Broker, start_server: StartServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    if bundled:
        mybot = javascript.in_one_file(tmp_path_factory, mybot, "node")
    received = AnnouncedAndSent()
    contest = {"SALVO_URL": broker.url, "SALVO_TEAM": "ann", "SALVO_SECRET": "ashes", "SALVO_GAMES": "1"}
    environment = os.environ | contest | {"SALVO_SEED": SEED}
    command = [path_of("node"), str(mybot)]
    pipe = subprocess.PIPE
    with (
        start_server(received, players=2, seed=SEED),
        started(command, env=environment, stdout=pipe, stderr=pipe) as program,
    ):
        received.until(one_fleet)  # so that the play order is the arena's
        join(broker.url, "bob", RandomBot(), seed=SEED)
        received.until(over)
        out, err = program.communicate(timeout=SECONDS)
    assert program.returncode == 0, err
    assert out.startswith("game 1: ")
    assert received.game() == in_arena(fire())


def test_a_new_bot_hunts_and_its_file_is_played_by_each_command(mybot: Path) -> None:
    folder = mybot.parent
    written = command_line.run("new", "hunting.js", cwd=folder)
    assert written.stdout.startswith("hunting.js is a bot of the SDK, in JavaScript\n")
    [play] = re.findall(r"a game to look at: salvo (.*)", written.stdout)
    assert re.search("(?m)^(winner|tie): ", command_line.run(*play.split(), "--seed", "7", cwd=folder).stdout)
    (folder / "cup.toml").write_text(CUP)
    ran = command_line.run("tournament", "run", "cup.toml", cwd=folder)
    assert ran.returncode == 0, ran.stderr
    compared = command_line.run("compare", "hunting.js", "random", "--seed", "1", "--games", "40", cwd=folder)
    assert "better than" in compared.stdout, compared


def test_a_single_game_shows_what_a_bot_prints_and_stops_where_it_fails(mybot: Path) -> None:
    """What it printed was nowhere to be seen, and the game went on without it to the other's victory."""
    failing = 'console.log("turn", view.turn);\n  if (view.turn > 2) view.nothing();\n  return'
    mybot.write_text(mybot.read_text().replace("return", failing))
    done = command_line.run("play", "mybot.js", "random", "--seed", "7", cwd=mybot.parent)
    assert done.returncode == 1
    assert done.stdout.startswith("turn 2\nturn 4\nerror: bot_raised: turn 4, chooseSalvo: TypeError: ")
    assert "winner" not in done.stdout
    assert "mybot.js:5:" in done.stderr
    several = command_line.run("play", "mybot.js", "random", "--seed", "7", "--games", "2", cwd=mybot.parent)
    assert several.stdout.startswith("wins:   mybot 0 of 2 ")


@contextlib.contextmanager
def pages_of(folder: Path) -> Iterator[str]:
    """Serve a folder; its address."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *given: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://localhost:{server.server_port}"
        finally:
            server.shutdown()
            thread.join(SECONDS)


def bundled_page(factory: pytest.TempPathFactory, folder: Path) -> None:
    """Bundle the script of the example's page, without its import map."""
    page = (PACKAGE / "examples" / "page.html").read_text()
    [script] = re.findall('(?s)<script type="module">(.*?)</script>', page)
    (folder / "page.js").write_text(script)
    bundle = javascript.in_one_file(factory, folder / "page.js", "browser")
    plain = re.sub("(?s)<script.*?</script>", "", page)
    (folder / "page.html").write_text(f'{plain}<script type="module" src="{bundle.name}"></script>')


@needs("chromium")
@pytest.mark.parametrize("bundled", [False, True])
def test_a_page_plays_through_the_web_front_at_the_table_of_its_seat(
    folder: Path,
    bundled: bool,
    broker: Broker,
    start_server: StartServer,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    if bundled:
        bundled_page(tmp_path_factory, folder)
    else:
        shutil.copy(PACKAGE / "examples" / "page.html", folder)
    received = AnnouncedAndSent()
    with (
        start_server(received, players=2, tables=("blue",), rules=pond_file(tmp_path, "salvo")),
        Client(BrokerUrl.parse(broker.url).port, None, "host") as host,
        web_front(broker.url) as web,
        pages_of(folder) as pages,
        browser() as window,
    ):
        window.open(f"{pages}/page.html#url=ws://127.0.0.1:{web.port}/mqtt&team=ann&secret=ashes")
        until(window, "/ann: listed for game 1/.test(document.body.innerText)")
        host.publish(["/players/ann/seat"], '{"table": "blue"}', retain=True)
        join(broker.url, "bob", RandomBot(), table="blue")
        until(window, "/^(ann|bob) wins$/m.test(document.body.innerText)")
        received.until(over)
        shown = text(window, "pre")
        assert "ann: has a seat at table blue" in shown
        [winner] = re.findall("(?m)^(ann|bob) wins$", shown)
    assert [won.winner for won in received.of(m.GameWon)] == [winner]


def evenings(random: Random) -> Iterator[m.EveningShown | None]:
    """Draw what is shown of leagues, each as a small change of the one before."""
    teams, league = ["ann", "bob", "cy", "dan", "eve"], m.EveningShown("desk", "cup", 0, 3)
    for _ in range(3_000):
        if random.random() < 0.01:
            league = replace(league, name=random.choice(["cup", "league", ""]), rounds=random.choice([1, 3, 22, None]))
        match random.randrange(9):
            case 0:
                league = replace(league, round=random.choice([0, 1, 1, 2, 3, 11, 21, 22]))
            case 1 | 2 | 3:
                drawn = random.sample(teams, random.randint(1, 5))
                cut = random.randint(1, len(drawn))
                league = replace(
                    league, matches=tuple(m.LeagueMatch(tuple(each)) for each in (drawn[:cut], drawn[cut:]))
                )
            case 4 | 5:
                at = random.choice(["", "t1", None])
                league = replace(league, matches=tuple(replace(match, table=at) for match in league.matches))
            case 6:
                places = [tuple(random.choices([1, 2, 3, 12, 13, 101], k=len(each.teams))) for each in league.matches]
                one = random.randrange(2)
                league = replace(
                    league,
                    matches=tuple(
                        replace(each, places=place if number == one else each.places)
                        for number, (each, place) in enumerate(zip(league.matches, places, strict=True))
                    ),
                )
            case 7:
                ranked = random.sample(teams, random.randint(0, 5))
                points = random.choices([0, 500, 1000, 333, 1234, 2667, 123_457, 12_345_678], k=len(ranked))
                rows = [
                    m.LeagueStanding(place, team, got, 1, 0)
                    for place, (team, got) in enumerate(
                        zip(ranked, points, strict=True), start=random.choice([1, 9, 20])
                    )
                ]
                league = replace(league, rows=tuple(rows), teams=random.randint(len(rows), 200))
            case 8:
                league = replace(league, over=random.random() < 0.3)
        yield league if random.random() < 0.99 else None


def test_a_team_reads_the_same_lines_of_its_league_in_both_languages(tmp_path_factory: pytest.TempPathFactory) -> None:
    checkout, _ = javascript.installed(tmp_path_factory)
    source = javascript.copy_in(checkout) / "src"
    shown = list(evenings(Random(7)))
    file = tmp_path_factory.mktemp("evenings") / "evenings.jsonl"
    file.write_text("".join("\n" if each is None else EVENING.write(each).decode() + "\n" for each in shown))
    program = f"""
        import {{ readFileSync }} from "node:fs";
        import {{ readEvening }} from "{source}/announcements.js";
        import {{ LeagueNews }} from "{source}/leagueNews.js";
        const news = new LeagueNews("ann");
        const lines = readFileSync("{file}", "utf8").split("\\n").slice(0, -1);
        const shown = lines.map((line) => readEvening(new TextEncoder().encode(line)));
        console.log(JSON.stringify(shown.map((each) => [news.lines(each), news.isOn])));
    """
    printed = json.loads(javascript.run(source, "node", "--input-type=module", "--eval", program))
    news = LeagueNews("ann")
    assert printed == [[news.lines(each), news.is_on] for each in shown]
    lines = {re.sub("[0-9.]+|cup|league|ann|bob|cy|dan|eve", "", line) for said, _ in printed for line in said}
    assert len(lines) > 50, "the leagues have come to few of the moments"


def test_bots_in_both_languages_log_how_their_league_stands_at_the_same_moments(
    mybot: Path, broker: Broker, start_server: StartServer
) -> None:
    cup = m.EveningShown("desk", "cup", 1, 2, teams=2, matches=(m.LeagueMatch(("ann", "bob"), ""),))
    rows = tuple(m.LeagueStanding(place, team, 2000 - 1000 * place, 1, 0) for place, team in ((1, "bob"), (2, "ann")))
    played = replace(cup, matches=(m.LeagueMatch(("ann", "bob"), None, (2, 1)),), rows=rows)
    moments = [cup, played, replace(played, round=2, over=True)]
    contest = os.environ | {"SALVO_URL": broker.url, "SALVO_SECRET": "ashes"}
    environment = contest | {"SALVO_GAMES": "1", "SALVO_KNOWN_SERVERS": "none"}
    python = [sys.executable, "-m", "salvo", "join", broker.url, "random"]
    programs = {"ann": [path_of("node"), str(mybot)], "bob": python}
    with (
        start_server(AnnouncedAndSent(), players=3),
        Client(BrokerUrl.parse(broker.url).port, None, "host") as host,
        contextlib.ExitStack() as stack,
    ):
        said = {}
        for team, command in programs.items():
            given = environment | {"SALVO_TEAM": team}
            program = stack.enter_context(started(command, env=given, stderr=subprocess.PIPE))
            assert program.stderr is not None
            said[team] = program.stderr
            for line in said[team]:
                if f"{team}: listed for game 1" in line:
                    break
        for moment in moments:
            host.publish([topics.LEAGUE.of()], EVENING.write(moment).decode())
            host.publish(["/players/ann/seat", "/players/bob/seat"], '{"table": ""}', retain=True)
        logged = {team: [_next_of_league(team, lines) for _ in moments] for team, lines in said.items()}
    for team, other, place in (("ann", "bob", "2nd"), ("bob", "ann", "1st")):
        points = {"ann": "0 points", "bob": "1 point"}[team]
        assert logged[team] == [
            f"{team}: cup, round 1 of 2: plays {other} at the default table",
            f"{team}: cup, round 1 of 2: {place} of 2; stands {place} of 2 with {points}; the next round begins now",
            f"{team}: cup is over: stands {place} of 2 with {points}",
        ]


def _next_of_league(team: str, lines: Iterable[str]) -> str:
    """Return the next line about the league, and make sure that nothing was logged of a seat meanwhile."""
    for line in lines:
        assert "seat" not in line
        if f"{team}: cup" in line:
            return line[line.index(team) :].rstrip()
    raise AssertionError("the program has ended")


def test_the_package_has_the_version_of_the_distribution_and_no_registry() -> None:
    described = json.loads((PACKAGE / "package.json").read_text())
    lock = json.loads((PACKAGE / "package-lock.json").read_text())
    assert f'version = "{described["version"]}"' in (ROOT / "pyproject.toml").read_text()
    assert not any("resolved" in package for package in lock["packages"].values())
    assert (PACKAGE / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()


@pytest.mark.slow
def test_the_javascript_bot_passes_the_check_of_all_claims(mybot: Path) -> None:
    command = [sys.executable, "-m", "salvo", "check", "--claims", "all", "--", "node", str(mybot)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
