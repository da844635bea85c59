"""Every command and every block of code in README.md and in the guides for teams and organisers runs."""

from __future__ import annotations

import inspect
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import sysconfig
import urllib.request
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import pytest

from kit import command_line, players
from kit.documents import FIRST_CLIENT, GUIDES, ROOT, blocks
from kit.processes import started, without_settings
from salvo.messages import SalvoResolved, SunkShip
from salvo.view import OwnSalvo
from salvo_league.league_file import load_league
from salvo_server.commands.serve import serve
from salvo_server.operations.gateway_calls import read_gateway, with_rules_of_gateways
from salvo_server.settings import load_settings
from salvo_server.spectators.game_lengths import turns_of

pytestmark = pytest.mark.quick

TEXT = "".join(guide.read_text() for guide in GUIDES)
BLOCKS = [block for guide in GUIDES for block in blocks(guide)]
PYTHON = [code for language, code in BLOCKS if language == "python"]
#: Each once, wherever it stands.
COMMANDS = list(dict.fromkeys(line for language, code in BLOCKS if language == "sh" for line in code.splitlines()))
POND, CONTEST, SECOND = (text for language, text in BLOCKS if language == "toml")
[TEAMS] = [text for language, text in BLOCKS if language == "csv"]
THREE_LINES, CLASS, TESTING, HEAT_MAP, PROGRAM = PYTHON

#: Commands that another test runs for real: (where, what it says there).
ELSEWHERE = {
    "make test": (".ci/run", "make check"),
    "salvo dev mybot.py --against hunter": ("tests/lab/live/test_laboratory.py", '"hunter"'),
    "SALVO_ADDRESS=0.0.0.0 SALVO_PLAYERS=2 docker compose up --detach": ("tests/compose/run.py", "docker-compose.yml"),
    "docker compose exec server salvo teams add red blue": (
        "tests/compose/run.py",
        'roster(used, "add", "red", "blue"',
    ),
    'docker compose run --rm --no-deps --user "$(id -u)" --volume "$PWD:/here" --workdir /here server evening cup '
    "--teams 12 --hours 2": ("tests/compose/run.py", '"server", "evening", "cup"'),
    "SALVO_ADDRESS=0.0.0.0 SALVO_EVENING=./cup docker compose "
    "-f docker-compose.yml -f deploy/evening.yml up --detach": (
        "tests/compose/run.py",
        'ROOT / "deploy" / "evening.yml"',
    ),
    "docker compose exec server salvo teams add --csv /evening/teams.csv --cards /var/lib/salvo/cards.html "
    "--web http://HOST:8080": ("tests/compose/run.py", '"--csv", "/evening/teams.csv"'),
    "docker compose cp server:/var/lib/salvo/cards.html cup/": (
        "tests/compose/run.py",
        ':/var/lib/salvo/cards.html", str(where)',
    ),
    "SALVO_JOIN=mqtts://contest.example:8883 docker compose --profile public up --detach": (
        "tests/compose/run.py",
        '"COMPOSE_PROFILES": "public"',
    ),
    "SALVO_JOURNAL=postgresql://salvo@postgres/salvo docker compose --profile postgres up --detach": (
        "tests/compose/run.py",
        '"COMPOSE_PROFILES": "postgres"',
    ),
    "prometheus --config.file=deploy/prometheus.yml": (
        "tests/server/live/test_alerts.py",
        '"deploy" / "prometheus.yml"',
    ),
    "salvo tls keys --host 192.0.2.1": ("tests/lab/live/test_hosts.py", '_run(home, "tls"'),
    "salvo lab scheduler --listen 192.0.2.1:8786 --tls keys": (
        "tests/lab/live/test_hosts.py",
        '"scheduler", "--listen"',
    ),
    "salvo lab worker tls://192.0.2.1:8786 --tls keys": ("tests/lab/live/test_hosts.py", '"worker", self.url'),
    "salvo compare mybot.py hunter --scheduler tls://192.0.2.1:8786 --tls keys": (
        "tests/lab/live/test_hosts.py",
        '"--scheduler", hosts.url, *ours',
    ),
    "docker compose exec server salvo doctor": ("tests/compose/run.py", '"server", "salvo", "doctor"'),
    "docker compose exec server rm -f /var/lib/salvo/evening.tar.gz": (
        "tests/compose/run.py",
        '"server", "rm", "-f", archive',
    ),
    "docker compose exec server salvo backup /var/lib/salvo/evening.tar.gz": (
        "tests/compose/run.py",
        '"server", "salvo", "backup", archive',
    ),
    "docker compose exec -T server cat /var/lib/salvo/evening.tar.gz > evening.tar.gz": (
        "tests/compose/run.py",
        '"server", "cat", archive',
    ),
    "docker compose run --rm --no-deps -T --entrypoint tee server /var/lib/salvo/evening.tar.gz "
    "< evening.tar.gz > /dev/null": ("tests/compose/run.py", '"--entrypoint", "tee", "server", archive'),
    "docker compose run --rm --no-deps -T server restore /var/lib/salvo/evening.tar.gz": (
        "tests/compose/run.py",
        '"server", "restore", *options, archive',
    ),
    "SALVO_RESUME=crash docker compose up --detach": ("tests/compose/run.py", '"SALVO_RESUME": "crash"'),
    "salvo serve --broker mqtt://BROKER:1884 --journal postgresql://salvo@DATABASE/salvo --standby": (
        "tests/failover/run.py",
        '"--standby"',
    ),
    "salvo backup evening.tar.gz --config cup/contest.toml": (
        "tests/server/test_backup.py",
        'machine.run("backup", archive, "--config"',
    ),
    "salvo restore evening.tar.gz --config cup/contest.toml": (
        "tests/server/test_backup.py",
        'empty.run("restore", archive, "--config"',
    ),
    "salvo mosquitto broker": ("tests/server/live/test_contest_profile.py", 'organiser.run("mosquitto"'),
    "mosquitto -c broker/mosquitto.conf": ("tests/server/live/test_contest_profile.py", "start_mosquitto(folder"),
    "salvo serve --broker mqtt://127.0.0.1:1884": (
        "tests/server/live/test_contest_profile.py",
        'serve("--broker", own)',
    ),
    "salvo mosquitto open-broker --profile open --roster open.json": (
        "tests/server/live/test_open_profile.py",
        '"--profile", "open", "--roster"',
    ),
    "mosquitto -c open-broker/mosquitto.conf": ("tests/server/live/test_open_profile.py", "OpenMosquitto("),
    "salvo serve --profile open --broker mqtt://127.0.0.1:1884 --roster open.json": (
        "tests/server/live/test_open_profile.py",
        'values |= {"broker": running_broker.url, "roster": folder / "roster.json"}',
    ),
    "salvo join xbs://HOST:7948 mybot.py --team red": (
        "tests/gateways/live/test_gateways_beside.py",
        '"join", f"xbs://',
    ),
    "salvo join jsonline://HOST:4001 mybot.py": (
        "tests/gateways/live/test_gateway_jsonline.py",
        '"join", f"jsonline://',
    ),
    "salvo gateway smackdown --listen 0.0.0.0:7949": (
        "tests/gateways/live/test_gateway_smackdown.py",
        '"gateway", "smackdown"',
    ),
    "salvo gateway jsonline --listen 0.0.0.0:4001": (
        "tests/gateways/live/test_gateway_jsonline.py",
        '"gateway", "jsonline"',
    ),
    "salvo gateway classic --bus 234.7.6.5:21210": ("tests/gateways/live/test_gateway_classic.py", '"234.7.6.5"'),
    "salvo join smackdown: mybot.py": ("tests/gateways/live/test_gateway_smackdown.py", "join smackdown: hunter"),
    "SALVO_TEAM=commentator SALVO_SECRET=the-one-of-the-commentator salvo web mqtt://HOST --referee "
    "--listen 127.0.0.1:8081": ("tests/watch/live/test_web_front.py", '"--referee", account'),
    "salvo web mqtt://HOST --listen 0.0.0.0:8080 --public https://battleship.example": (
        "tests/watch/live/test_web_through_a_cache.py",
        '"--json", "--public"',
    ),
    "pipx install '.[server]'": ("tests/release/environments.py", '"install"'),
    'salvo evening cup --teams 12 --hours 2 --name "Hack Night Cup"': (
        "tests/whole/live/test_readme.py",
        "test_the_guides_contest_is_the_file_that_its_command_writes",
    ),
    "salvo evening cup --rehearse": ("tests/league/live/test_rehearsal.py", '[folder.name, "--rehearse"]'),
    "SALVO_TEAM=desk SALVO_SECRET=the-one-of-the-desk salvo league cup/contest.toml mqtt://HOST": (
        "tests/chaos/league.py",
        '"league", str(self.file), self.url',
    ),
    "scp roster.json roster.json.key 10.0.0.2:": ("tests/chaos/cells.py", "shutil.copy(name, folder)"),
    "salvo mosquitto broker --roster roster.json": ("tests/chaos/cells.py", 'run("mosquitto", str(folder / "broker")'),
    "salvo serve --broker mqtt://127.0.0.1:1884 --roster roster.json --table t1 --table t2": (
        "tests/chaos/cells.py",
        '"serve", "--broker"',
    ),
    "SALVO_TEAM=desk SALVO_SECRET=the-one-of-the-desk salvo league cup/contest.toml mqtt://10.0.0.1 mqtt://10.0.0.2": (
        "tests/chaos/cells.py",
        '"league", str(self.file), *(cell.url for cell in self.cells)',
    ),
    "SALVO_TEAM=hall SALVO_SECRET=the-one-of-the-hall salvo web mqtt://10.0.0.1 mqtt://10.0.0.2 "
    "--listen 0.0.0.0:8080": ("tests/watch/live/test_web_front.py", "web_front(brokers[0].url, brokers[1].url)"),
    "salvo teams add desk --role host": ("tests/server/live/test_host.py", 'added_account("desk", "host")'),
    "salvo control pause mqtt://HOST --all": (
        "tests/server/live/test_host.py",
        'printed("control", "pause", url, "--all"',
    ),
    "salvo control resume mqtt://HOST --all": (
        "tests/server/live/test_host.py",
        'printed("control", "resume", url, "--all"',
    ),
    "salvo control extend mqtt://HOST 60 --table t1": (
        "tests/server/live/test_host.py",
        'printed("control", "extend", url, "60", "--table"',
    ),
    "salvo control announce mqtt://HOST Lunch is at noon": (
        "tests/server/live/test_host.py",
        'printed("control", "announce", url',
    ),
    "salvo control --browser mqtt://HOST": (
        "tests/server/live/test_console.py",
        'sitting(shared, tmp_path, "control", evening.contest.url',
    ),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mybot.py").write_text(THREE_LINES)
    (tmp_path / "pond.toml").write_text(POND)
    (tmp_path / "cup").mkdir()
    (tmp_path / "cup/contest.toml").write_text(CONTEST.replace("0.0.0.0:8080", "127.0.0.1:0"))
    return tmp_path


def _environment(folder: Path) -> dict[str, str]:
    scripts = sysconfig.get_path("scripts")
    clean = without_settings()
    own = {"XDG_STATE_HOME": str(folder / "state"), "XDG_CONFIG_HOME": str(folder / "configuration")}
    return clean | own | {"PATH": f"{scripts}:{os.environ['PATH']}", "PYTHONWARNINGS": "error"}


def _run(command: str, folder: Path) -> str:
    """Run a command in ``folder``; ``salvo`` in this process, where the same warnings are errors."""
    words = shlex.split(command)
    if words[0] != "salvo":
        return _start(command, folder)
    own = {name: value for name, value in _environment(folder).items() if name.startswith("XDG_")}
    return _output(command, command_line.run(*words[1:], cwd=folder, environment=own))


def _start(command: str, folder: Path) -> str:
    """Run a command as a process of its own."""
    given: dict[str, Any] = {"cwd": folder, "env": _environment(folder)}
    done = subprocess.run(shlex.split(command), **given, capture_output=True, text=True, timeout=60, check=False)
    return _output(command, done)


def _output(command: str, done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def _fewer(command: str) -> str:
    """Return a command that counts many games or boards with as many as show that it runs."""
    return re.sub(r"(--(?:games|boards)) \d{3,}", r"\1 20", command)


@pytest.fixture
def secrets(folder: Path) -> dict[str, str]:
    """The guides' teams, watcher and referee, by name."""
    [command] = [line for line in COMMANDS if line.startswith("salvo teams add --csv")]
    (folder / "cup/teams.csv").write_text(TEAMS)
    lines = _run(f"{command} --json", folder).splitlines()
    found = {account["name"]: account["secret"] for account in map(json.loads, lines)}
    page = (folder / "cup/cards.html").read_text()
    printed = [team or screen for team, screen in re.findall(r"--team (\w+)|mqtt://<span>(\w+)@", page)]
    assert list(found) == ["red", "blue", "projector", "commentator", "desk"] == printed
    return found


def _address(line: str) -> str:
    found = re.search(r"mqtt://[^\s,]+(?=$| and )", line)
    assert found is not None, line
    return found[0]


SERVES = [line for line in COMMANDS if line.startswith("salvo serve") and line not in ELSEWHERE]


@pytest.fixture
def contest(folder: Path, secrets: dict[str, str]) -> Iterator[str]:
    """The README's server, on a port of its own, for one game."""
    command = SERVES[0]
    words = shlex.split(re.sub(r"0\.0\.0\.0:\d+", "127.0.0.1:0", command) + " --games 1")
    with started(words, cwd=folder, env=_environment(folder), stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        broker = _address(server.stdout.readline())
        page = next(found[1] for line in server.stdout if (found := re.search(r"watch: (http://[^\s,]+)", line)))
        with urllib.request.urlopen(page, timeout=60) as answer:
            assert b"<!doctype html>" in answer.read()
        yield broker
        assert server.wait(60) == 0
        assert re.search(r"^\S+ game 1: players: (red, blue|blue, red)$", server.stdout.read(), re.MULTILINE)


@pytest.mark.long
def test_the_demo_ends_with_the_command_that_plays_the_same_game_again() -> None:
    assert "make demo" in COMMANDS
    recipe = (ROOT / "Makefile").read_text().split("demo: $(DEMO)")[1].split("\n\n")[0]
    assert "$(BIN)/salvo demo" in recipe
    output = _start("salvo demo", ROOT)
    again = re.search(r"^again:  (.*)$", output, re.MULTILINE)
    assert again is not None
    repeated = _run(again[1], ROOT)
    assert [line for line in output.splitlines() if line.startswith(("winner", "places", "seed"))] == [
        line for line in repeated.splitlines() if line.startswith(("winner", "places", "seed"))
    ]
    assert re.search(r"^broker for an MQTT explorer: mqtt://127\.0\.0\.1:\d+$", output, re.MULTILINE)


@pytest.mark.long
@pytest.mark.parametrize("command", [line for line in COMMANDS if line.startswith("salvo demo")])
def test_the_demo_plays_by_other_rules(command: str, folder: Path) -> None:
    again = re.search(r"^again:  (.*--rules .*)$", _run(command, folder), re.MULTILINE)
    assert again is not None
    assert re.search(r"^(winner|tie): ", _run(again[1], folder), re.MULTILINE)


def test_the_three_lines_play_a_local_game(folder: Path) -> None:
    assert "wins after" in _run("python mybot.py", folder)
    assert "python mybot.py" in COMMANDS


#: Those with a person are test_human_play's.
PLAYED_BY_BOTS = [line for line in COMMANDS if line.startswith("salvo play mybot.py") and "--record" not in line]


@pytest.mark.parametrize("command", PLAYED_BY_BOTS)
def test_the_guides_play_commands_run(command: str, folder: Path) -> None:
    assert re.search(r"^again:  salvo play mybot.py ", _run(_fewer(command), folder), re.MULTILINE)


def test_the_guides_bot_class_plays(folder: Path) -> None:
    (folder / "corners.py").write_text(CLASS)
    assert "wins after" in _run("python corners.py", folder)
    assert "winner" in _run("salvo play corners.py mybot.py", folder)


def test_salvo_and_result_have_the_documented_fields() -> None:
    listed = (("Each of your salvos has", OwnSalvo), ("A result has", SalvoResolved), ("sunk, each with", SunkShip))
    for text, kind in listed:
        output = re.search(rf"{text}((?:, | )`\w+`)+", " ".join(TEXT.split()))
        assert output is not None, f"docs/bot.md lacks {text!r} and names behind it"
        names = re.findall(r"`(\w+)`", output[0])
        fields = [name.removesuffix("_if_announced") for name in inspect.signature(kind).parameters]
        assert names == fields[: len(names)]


def test_the_plain_program_plays_without_a_mistake(folder: Path) -> None:
    (folder / "plain.py").write_text(PROGRAM)
    [command] = re.findall(r"`(salvo play 'exec:.*?)`", TEXT)
    for rules in ("salvo", "xbs", "pond.toml"):
        done = command_line.run(*shlex.split(command)[1:], "--rules", rules, cwd=folder)
        assert (done.returncode, done.stderr) == (0, "")
        assert re.search("^(winner|tie): ", done.stdout)


def test_the_testing_example_holds(folder: Path) -> None:
    (folder / "mytest.py").write_text(TESTING)
    assert "A A A A A" in _run("python mytest.py", folder)


def test_the_example_of_a_heat_map_prints_it(folder: Path) -> None:
    (folder / "cell.py").write_text(HEAT_MAP)
    output_of = _run("python cell.py", folder).splitlines()
    assert output_of[0] == "blue: chance of a ship in %"
    assert [line[:2] for line in output_of[2:12]] == [f" {letter}" for letter in "ABCDEFGHIJ"]


def test_the_contest_is_served_joined_watched_and_verified(folder: Path, contest: str, secrets: dict[str, str]) -> None:
    host = contest.removeprefix("mqtt://")
    [play] = [line for line in COMMANDS if line.startswith("salvo join") and line not in ELSEWHERE]
    watching = [line for line in COMMANDS if line.startswith("salvo watch") and line not in ELSEWHERE]
    [look, watch] = sorted(watching, key=len)
    assert look == "salvo watch mqtt://HOST"
    [export] = [line for line in COMMANDS if line.startswith("export SALVO_TEAM=red SALVO_SECRET=")]
    assert export.endswith("=the-one-that-it-was-given")
    [verify] = [line for line in COMMANDS if line == "salvo verify game.proof.jsonl"]

    def start(command: str, team: str) -> AbstractContextManager[subprocess.Popen[str]]:
        words, pipe = shlex.split(command.replace("HOST", host)), subprocess.PIPE
        account = {"SALVO_TEAM": team, "SALVO_SECRET": secrets[team]}
        return started(words, cwd=folder, env=_environment(folder) | account, stdout=pipe, stderr=pipe)

    hunter = play.replace("mybot.py", "hunter")
    with start(watch, "projector") as looking_on, ExitStack() as stack:
        assert looking_on.stdout is not None
        # It comes before the game: what it writes down is whole from the game's opening on.
        assert any("state lobby" in line for line in looking_on.stdout)
        commands = {"red": f"{play} --games 1", "blue": f"{hunter} --games 1"}
        teams = [stack.enter_context(start(command, team)) for team, command in commands.items()]
        output = [process.communicate(timeout=60) for process in (looking_on, *teams)]
    assert [process.returncode for process in (looking_on, *teams)] == [0, 0, 0], output
    winner = re.search(r"^winner: (\w+)", output[0][0], re.MULTILINE)
    assert winner is not None
    assert all(f"{winner[1]} wins" in out for out, _ in output[1:])
    assert "fair" in _run(verify, folder)


def _serving(command: str, folder: Path, stack: ExitStack) -> subprocess.Popen[str]:
    """Start one of the guides' servers, where nobody else is."""
    anywhere = re.sub(r"0\.0\.0\.0:\d+", "127.0.0.1:0", command) + " --listen 127.0.0.1:0"
    return stack.enter_context(
        started(shlex.split(anywhere), cwd=folder, env=_environment(folder), stdout=subprocess.PIPE)
    )


def _end(server: subprocess.Popen[str]) -> None:
    assert server.stdout is not None
    server.send_signal(signal.SIGINT)
    server.stdout.read()
    assert server.wait(60) == 0


GATEWAYS = [line for line in SERVES if "--gateway" in line]


@pytest.mark.long
def test_a_gateway_listens_beside_its_server(folder: Path) -> None:
    with ExitStack() as stack:
        server = _serving(GATEWAYS[0], folder, stack)
        assert server.stdout is not None
        output = next(line for line in server.stdout if " gateway " in line)
        assert re.search(r"gateway \w+: .* on 127\.0\.0\.1:\d+$", output)
        _end(server)


@pytest.mark.parametrize("command", GATEWAYS)
def test_gateways_fit_their_servers(command: str) -> None:
    given = serve.make_context("salvo serve", shlex.split(command)[2:]).params
    given = {name: value for name, value in given.items() if name != "config"}
    settings = with_rules_of_gateways(load_settings(given))
    [protocol] = re.findall(r'--gateway "(\w+)', command)
    assert [read_gateway(line, settings.book).words[0] for line in settings.gateways] == [protocol]


@pytest.mark.long
def test_the_server_of_the_settings_is_examined_by_the_doctor(folder: Path, secrets: dict[str, str]) -> None:
    [command] = [line for line in SERVES if "--config" in line]
    [health] = [line for line in COMMANDS if line.startswith("salvo health")]
    assert "salvo doctor" in COMMANDS
    with ExitStack() as stack:
        server = _serving(command, folder, stack)
        assert server.stdout is not None
        host = _address(server.stdout.readline()).removeprefix("mqtt://")
        assert "lobby is open" in next(line for line in server.stdout if " game 1: " in line)
        assert _run(health.replace("HOST", host), folder).startswith("online: ")
        assert re.search(r"^\d+ checks: (?!.*FAIL)", _run("salvo doctor", folder), re.MULTILINE)
        _end(server)


@pytest.mark.long
def test_prometheus_reads_what_the_guide_lists_and_the_alerts_ask_for(folder: Path) -> None:
    [command] = [line for line in SERVES if "--metrics" in line]
    with ExitStack() as stack:
        server = _serving(command.replace(":9464", ":0"), folder, stack)
        assert server.stdout is not None
        url = next(found[1] for line in server.stdout if (found := re.search(r" metrics (http://\S+)$", line)))
        with urllib.request.urlopen(url, timeout=60) as answer:
            text = answer.read().decode()
        _end(server)
    there = {name for name in re.findall(r"^# TYPE (\S+) ", text, re.MULTILINE) if not name.endswith("_created")}
    rows = TEXT.partition("| metric |")[2].partition("\n\n")[0]
    listed = set(re.findall(r"`(\w+_\w+)`", re.sub(r"\|[^|]*\|$", "", rows, flags=re.MULTILINE)))
    assert {name for name in there if name.startswith("salvo_")} == {name for name in listed if name[:6] == "salvo_"}
    assert listed <= there
    asked = set(re.findall(r"\b(?:salvo|process)_\w+", (ROOT / "deploy" / "alerts.yml").read_text()))
    assert {re.sub(r"_(bucket|count|sum)$", "", name) for name in asked} <= there


@pytest.mark.long
def test_a_server_listens_with_the_certificate_that_was_made_for_practice(folder: Path) -> None:
    [make] = [line for line in COMMANDS if line.startswith("salvo tls") and line not in ELSEWHERE]
    [command] = [line for line in SERVES if "--tls-cert" in line]
    assert "--tls-cert tls/server.pem --tls-key tls/server.key" in _run(make, folder)
    with ExitStack() as stack:
        server = _serving(command, folder, stack)
        assert server.stdout is not None
        assert "mqtts://127.0.0.1:" in server.stdout.readline()
        _end(server)


def test_teams_are_added_by_name(folder: Path) -> None:
    [command] = [line for line in COMMANDS if line not in ELSEWHERE and re.match("salvo teams add (?!-)", line)]
    assert re.findall(r"^team (\w+), secret", _run(command, folder), re.MULTILINE) == ["red", "blue"]


def test_the_roster_is_listed_and_changed(folder: Path, secrets: dict[str, str]) -> None:
    look, rotate, screens, remove = [line for line in COMMANDS if re.match("salvo teams (?!add)", line)]
    assert [line.split()[0] for line in _run(look, folder).splitlines()] == list(secrets)
    assert re.search("^team red, secret ", _run(rotate, folder))
    assert "projector.1 to projector.60" in _run(screens, folder)
    assert _run(remove, folder) == "blue is struck off\n"


def test_a_new_bot_plays_and_wins(folder: Path) -> None:
    [new] = [line for line in COMMANDS if line.startswith("salvo new")]
    [play] = [line for line in COMMANDS if line.startswith(f"salvo play {new.split()[-1]}")]
    _run(new, folder)
    assert "winner: hunting after" in _run(play, folder)


MEASURED = [line for line in COMMANDS if line.startswith(("salvo solo", "salvo compare")) and line not in ELSEWHERE]


@pytest.mark.parametrize("command", MEASURED)
def test_the_guides_measuring_commands_run(command: str, folder: Path) -> None:
    assert re.search(r"\bmybot\b", _run(_fewer(command), folder))


@pytest.mark.long
def test_a_tournament_is_made_run_and_shown(folder: Path) -> None:
    make, run, show = [line for line in COMMANDS if line.startswith("salvo tournament")]
    _run(make, folder)
    cup = folder / "cup.toml"
    cup.write_text(cup.read_text().replace("games = 10 ", "games = 2 "))
    _run(run, folder)
    assert json.loads(_run(show, folder))
    assert (folder / "cup.html").exists()


@pytest.mark.long
def test_a_game_is_recorded_and_looked_at_again(folder: Path) -> None:
    of_file = [line for line in COMMANDS if "game.jsonl.gz" in line and "contest.journal" not in line]
    [record, *look] = [line for line in of_file if not line.startswith("salvo explain")]
    [explain, turn] = [line for line in of_file if line.startswith("salvo explain")]
    recorded = _run(record, folder)
    output_of = {line: _run(line, folder) for line in look}
    assert recorded.splitlines()[-1] == f"show:   {look[0]}"
    assert re.search(r"^winner: .*$", recorded, re.MULTILINE)
    assert output_of[look[0]].splitlines()[-1] in recorded  # the places
    assert "view: mybot" in output_of[look[1]]
    assert "what mybot knew; open it in a browser" in output_of[look[3]]
    assert "Content-Security-Policy" in (folder / "game.html").read_text()
    assert "all come out as they are recorded" in output_of[look[4]]
    assert len(look) == 5
    assert re.search(r"^mybot (won|lost): luck ", _run(explain, folder), re.MULTILINE)
    assert ": chance of a ship in %" in _run(turn, folder)
    assert "<table" in (folder / "turn.html").read_text()


@pytest.mark.long
def test_a_journal_is_looked_at(folder: Path) -> None:
    command = "salvo serve --listen 127.0.0.1:0 --players 2 --games 1 --profile open --journal contest.journal"
    command += " --transcripts games"
    given: dict[str, Any] = {"cwd": folder, "env": _environment(folder)}
    with started(shlex.split(command), stdout=subprocess.PIPE, **given) as server:
        assert server.stdout is not None
        address = server.stdout.readline().split()[-1]
        for name in ("red", "blue"):
            players.join(address, name, games=1)
        assert "show:   salvo replay games/game-1.jsonl.gz" in server.stdout.read()
    players.send_all_home()
    games, show, export, check = [line for line in COMMANDS if line.startswith("salvo replay contest.journal")]
    [verify] = [line for line in COMMANDS if line.startswith("salvo verify games/")]
    winner = re.search(r"won by (\w+)", _run(games, folder))
    assert winner is not None
    assert f"1. {winner[1]}" in _run(show, folder)
    _run(export, folder)
    assert _run("salvo replay game.jsonl.gz", folder) == _run("salvo replay games/game-1.jsonl.gz", folder)
    assert "1 game, " in _run(check, folder)
    assert "fair: game 1" in _run(verify, folder)
    evening, whole, logs = [line for line in COMMANDS if line.startswith("salvo league show")]
    for standings in (evening, whole, logs):
        assert re.search(rf"^ *1  {winner[1]} +1 +1 +1 ", _run(standings, folder), re.MULTILINE)
    assert (folder / "standings.csv").read_text().splitlines()[1].startswith(f"1,{winner[1]},1.0,1,")
    assert "<table" in (folder / "standings.html").read_text()
    [site] = [line for line in COMMANDS if line.startswith("salvo site")]
    assert _run(site, folder) == "site:   site/index.html, 1 game\n"
    assert list((folder / "site/games").glob("game-1-*.proof.jsonl"))


def test_the_client_without_the_sdk_is_the_example_file() -> None:
    [printed] = [code for language, code in blocks(FIRST_CLIENT) if language == "python"]
    assert (ROOT / "examples" / "client.py").read_text() == printed


def test_the_guides_contest_is_the_file_that_its_command_writes(tmp_path: Path) -> None:
    [command] = [command for command in COMMANDS if command.startswith("salvo evening cup --teams")]
    done = command_line.run(*shlex.split(command)[1:], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "cup/contest.toml").read_text() == CONTEST
    assert "\n  salvo serve --config cup/contest.toml\n" in done.stdout
    [add] = [line.split(" http:")[0] for line in COMMANDS if line.startswith("salvo teams add --csv")]
    assert f"\n  {add} http://" in done.stdout


def test_the_guides_second_league_plays_at_the_tables_of_the_first_one(tmp_path: Path) -> None:
    for name, text in {"first.toml": CONTEST, "second.toml": SECOND}.items():
        (tmp_path / name).write_text(text)
    first, second = load_league(tmp_path / "first.toml"), load_league(tmp_path / "second.toml")
    assert (first.tables, first.minutes) == (second.tables, second.minutes)
    assert first.name != second.name


def test_the_guides_game_lengths_are_those_of_the_server() -> None:
    rows = re.findall(r"^\| (\d+) \| (\d+) \| \d+ % \|", TEXT, re.MULTILINE)
    assert len(rows) == 6
    assert all(turns_of("salvo", int(teams)) == int(turns) for teams, turns in rows)
    assert f"a game of 12 teams has about {turns_of('salvo', 12)} turns" in TEXT


def test_every_command_of_the_guides_is_run_by_a_test() -> None:
    run_above = (
        "make demo",
        "salvo demo",
        "salvo doctor",
        "salvo health",
        "salvo new",
        "python mybot.py",
        "salvo play",
        "salvo replay",
        "salvo explain",
        "salvo teams",
        "salvo tls",
        "salvo serve",
        "export SALVO_TEAM=",
        "salvo join",
        "salvo watch",
        "salvo verify",
        "salvo solo",
        "salvo compare",
        "salvo tournament",
        "salvo site",
        "salvo league show",
    )
    for command in COMMANDS:
        if command in ELSEWHERE:
            place, text = ELSEWHERE[command]
            assert text in (ROOT / place).read_text()
        else:
            assert command.startswith(run_above), command


def test_importing_the_sdk_takes_less_than_what_it_promises() -> None:
    """The promise is 0.3 s; counted in modules, because a clock would fail on a busy machine."""
    heavy = ("pydantic", "paho", "nacl", "google")
    code = f"import sys, salvo; print(sum(name.split('.')[0] in {heavy} for name in sys.modules))"
    assert _run(f'{shlex.quote(sys.executable)} -c "{code}"', ROOT).strip() == "0"
