"""The command line as programs and people use it: mistakes, files, and real processes where a process is the point."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import pytest

from kit import players
from kit.command_line import run
from kit.processes import started, without_settings
from salvo.cli.output import places_line, winner_line
from salvo_lab.bots.slow import Slow
from salvo_server.brokers.embedded.addresses import lan_addresses

SALVO = str(Path(sysconfig.get_path("scripts")) / "salvo")
#: A game that is quickly played, and quickly explained.
POND = """\
name = "pond"
like = "salvo"
width = 5
height = 5
[fleet]
cruiser = 3
raft = 1
"""


@pytest.fixture(autouse=True)
def _nobody_stays() -> Iterator[None]:
    yield
    players.send_all_home()


def _start(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a process of its own."""
    return subprocess.run(
        [SALVO, *arguments], capture_output=True, text=True, timeout=60, env=without_settings(), check=False
    )


@contextmanager
def _serve(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a server; give its process and its address."""
    command = [SALVO, "serve", "--listen", "127.0.0.1:0", "--profile", "open", "--json", *arguments]
    with started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=without_settings()) as server:
        assert server.stdout is not None
        yield server, str(json.loads(server.stdout.readline())["url"])


def _until_said(server: subprocess.Popen[str], words: str) -> str:
    """Return the line of a server's that has these words."""
    assert server.stdout is not None
    for line in server.stdout:
        if words in line:
            return line
    raise AssertionError(f"{words} is not said")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_server_ends_cleanly_on_signals(number: signal.Signals) -> None:
    with _serve("--players", "2") as (server, url):
        assert url.startswith("mqtt://127.0.0.1:")
        _until_said(server, '"lobby"')
        assert run("health", url).stdout.startswith("online")
        server.send_signal(number)
        out, err = server.communicate(timeout=60)
    assert (server.returncode, err) == (0, "")
    last = json.loads(out.splitlines()[-1])
    assert last["event"] == "ended"
    assert datetime.fromisoformat(last["at"]).tzinfo is not None


def test_health_tells_why_not() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        done = run("health", f"mqtt://127.0.0.1:{closed.getsockname()[1]}")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("error: unreachable: ")


def test_play_in_json_is_the_same_game_for_the_same_seed() -> None:
    words = ("play", "hunter", "random", "--seed", "7", "--json")
    one, two = run(*words), _start(*words)
    assert (one.returncode, one.stdout, one.stderr) == (two.returncode, two.stdout, two.stderr)
    assert set(json.loads(one.stdout)) == {"winner", "places", "turns", "seed", "game", "stats"}


def test_the_demo_names_the_same_game() -> None:
    _, result, places, seed, command = run("demo", "--players", "2").stdout.splitlines()
    words = command.removeprefix("again:  salvo ").split()
    assert words == ["play", "hunter", "random", "--seed", seed.removeprefix("seed:   ")]
    again = json.loads(run(*words, "--json").stdout)
    assert result == f"{winner_line(again['winner'], again['places'])} after {again['turns']} salvos"
    assert places == f"places: {places_line(again['places'])}"


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (("play", "nobody", "hunter"), 1, "error: bad_bot: no bot 'nobody'"),
        (("play", "hunter"), 1, "error: too_few_players: 1 bot"),
        (("play", "missing.py", "hunter"), 1, "error: bad_bot: no file missing.py"),
        (("play", "rude", "hunter", "--seed", "1"), 1, "error: bad_salvo: rude.py:"),
        (("serve", "--profile", "shut"), 2, "error: bad_setting: --profile: 'shut': give open, contest or strict"),
        (("serve", "--turn-seconds", "0"), 2, "error: bad_setting: --turn-seconds: '0': give 1 to 86400 s"),
        (("serve", "--table", "game"), 1, "error: bad_name: table name 'game'"),
        (("serve", "--listen", "nowhere"), 2, "error: bad_address: 'nowhere' is not HOST:PORT"),
        (("serve", "--broker", "http://x"), 2, "error: bad_url: 'http://x' is not mqtt://"),
        (("replay", "none.jsonl"), 1, "error: transcript_missing: no file none.jsonl"),
        (("replay", "none.jsonl", "--game", "2"), 1, "error: not_a_journal: none.jsonl is no journal"),
        (("explain", "none.jsonl"), 1, "error: transcript_missing: no file none.jsonl"),
        (("replay", "x", "--check", "--games"), 2, "Error: --check, --export, --html and --games are different things"),
        (("play", "random", "hunter", "--games", "2", "--record", "g.jsonl"), 2, "2 games need {game} in the name"),
        (("play", "random", "hunter", "--record", "/none/g.jsonl"), 1, "error: transcript_unwritable: /none/g.jsonl"),
        (("serve", "--transcripts", "/dev/null/x"), 1, "error: transcript_unwritable: /dev/null/x: Not a directory"),
        (
            ("play", "random", "hunter", "--rules", "slavo"),
            2,
            "error: bad_rules: no ruleset 'slavo'; did you mean salvo",
        ),
        (("serve", "--rules", "none.toml"), 2, "error: bad_rules: no file none.toml"),
        (("demo", "--rules", "spacd"), 2, "did you mean spaced?"),
        (("nonsense",), 2, "Error: No such command 'nonsense'"),
    ],
)
def test_a_mistake_is_one_clear_line(arguments: tuple[str, ...], code: int, error: str) -> None:
    done = run(*arguments)
    assert done.returncode == code
    assert error in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [("play", "nobody", "hunter"), ("nonsense",)])
def test_a_process_ends_with_the_line_and_the_code_of_the_mistake(arguments: tuple[str, ...]) -> None:
    called, ended = run(*arguments), _start(*arguments)
    assert ended.returncode != 0
    assert (ended.returncode, ended.stdout, ended.stderr) == (called.returncode, called.stdout, called.stderr)


def test_a_mistake_in_a_file_names_line_and_nearest_setting(tmp_path: Path) -> None:
    config = tmp_path / "salvo.toml"
    config.write_text('# a contest\nprofile = "open"\nplacement_second = 60\n')
    done = run("serve", "--config", str(config))
    assert (done.returncode, done.stderr.strip()) == (
        2,
        f"error: unknown_setting: {config}, line 3: 'placement_second' is no setting; did you mean placement_seconds?",
    )


@pytest.mark.parametrize(
    ("option", "setting"),
    [("pace", "pace_seconds"), ("table", "tables"), ("gateway", "gateways")],
)
def test_the_name_of_an_option_in_a_file_gets_the_name_of_its_setting(
    tmp_path: Path, option: str, setting: str
) -> None:
    config = tmp_path / "salvo.toml"
    config.write_text(f'{option} = "x"\n')
    done = run("serve", "--config", str(config))
    assert f"line 1: '{option}' is no setting; did you mean {setting}?" in done.stderr
    if option != "table":  # SALVO_TABLE is for teams and viewers
        done = run("serve", environment={f"SALVO_{option.upper()}": "x"})
        assert f"did you mean SALVO_{setting.upper()}?" in done.stderr


def test_a_mistake_in_the_environment_names_the_variable() -> None:
    done = run("serve", environment={"SALVO_TURN_SECOND": "5"})
    assert "environment variable SALVO_TURN_SECOND is no setting; did you mean SALVO_TURN_SECONDS?" in done.stderr
    done = run("serve", environment={"SALVO_TURN_SECONDS": "soon"})
    assert "environment variable SALVO_TURN_SECONDS: 'soon'" in done.stderr


def test_a_taken_port_is_one_clear_line() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = run("serve", "--listen", f"127.0.0.1:{taken.getsockname()[1]}")
    assert done.returncode == 1
    assert done.stderr.startswith("error: address_in_use: cannot listen on 127.0.0.1:")


def test_a_name_that_somebody_else_has_is_one_clear_line() -> None:
    with _serve("--players", "3") as (server, url):
        players.join(url, "a")
        _until_said(server, '"names": ["a"]')
        second = run("join", url, "random", "--team", "A", "--games", "1", environment={"SALVO_SECRET": "two"})
    assert second.returncode == 1
    assert "error: name_taken: 'A' is taken" in second.stderr


def test_a_secret_from_a_file_or_the_environment_is_in_no_list_of_processes(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("cockadoodledoo\n")
    pipe = subprocess.PIPE
    with _serve("--players", "3") as (server, url):
        for name, extra, given in (
            ("a", ["--secret-file", str(file)], {}),
            ("b", [], {"SALVO_SECRET": "cockadoodledoo"}),
        ):
            command = [SALVO, "--log-level", "debug", "join", url, "random", "--team", name, *extra]
            with started(command, stdout=pipe, stderr=pipe, env=without_settings(**given)) as bot:
                _until_said(server, f'"{name}"]')
                assert b"cockadoodledoo" not in Path(f"/proc/{bot.pid}/cmdline").read_bytes()
                bot.send_signal(signal.SIGINT)
                said = "".join(bot.communicate(timeout=60))
            assert bot.returncode == 130
            assert "the server is" in said
            assert "cockadoodledoo" not in said


@pytest.mark.parametrize(("content", "text"), [(None, "no file"), ("\n", "is empty")])
def test_a_file_without_a_secret_is_one_clear_line(tmp_path: Path, content: str | None, text: str) -> None:
    file = tmp_path / "secret"
    if content is not None:
        file.write_text(content)
    done = run("join", "mqtt://127.0.0.1:1", "random", "--secret-file", str(file))
    assert (done.returncode, text in done.stderr) == (1, True)
    assert str(file) in done.stderr


def test_a_missing_extra_names_the_command_that_installs_it() -> None:
    code = "import sys; sys.modules['{module}'] = None\nfrom salvo.cli import main\nmain({command!r}.split())"
    for module, command, extra in (
        ("rich.columns", "watch --help", "terminal"),
        ("pydantic_settings", "serve --help", "server"),
        ("amqtt", "serve --listen 127.0.0.1:0", "server"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", code.format(module=module, command=command)],
            capture_output=True,
            text=True,
            env=without_settings(),
            check=False,
        )
        assert done.returncode == 1
        assert f'pip install "battleship-salvo[{extra}]"' in done.stderr


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("recording") / "game.jsonl"
    done = run("play", "hunter", "random", "--seed", "7", "--record", str(path))
    assert done.stdout.splitlines()[-1] == f"show:   salvo replay {path}"
    return path.read_bytes()


@pytest.fixture
def recorded(recording: bytes, tmp_path: Path) -> Path:
    path = tmp_path / "game.jsonl"
    path.write_bytes(recording)
    return path


def test_a_replay_is_told_in_lines_with_boards_and_places_at_the_end(recorded: Path) -> None:
    told = run("replay", str(recorded)).stdout.splitlines()
    assert told[0] == "game 1: salvo on 10 x 10; 2 players: hunter, random; seed 7"
    played = run("play", "hunter", "random", "--seed", "7").stdout.splitlines()
    turns = int(played[0].split()[3])
    assert [line.split()[1] for line in told[1 : turns + 1]] == [str(turn) for turn in range(1, turns + 1)]
    assert told[-1] == played[1]
    assert sum(line.startswith("J ") for line in told) == 1


@pytest.mark.parametrize("unread", ["stdout", "both"])
@pytest.mark.parametrize(
    "command",
    [
        "--version",
        "serve --help",
        "serv",
        "play random random --games 3 --json",
        "teams list",
        "serve --profile open --listen 127.0.0.1:0 --journal none",
    ],
)
def test_a_command_whose_output_nobody_reads_ends_quietly_as_others_do(command: str, unread: str) -> None:
    _check_unread([SALVO, *command.split()], unread, shows=command != "serv")


@pytest.mark.parametrize("unread", ["stdout", "both"])
def test_a_bots_own_program_whose_output_nobody_reads_ends_quietly_as_others_do(unread: str, tmp_path: Path) -> None:
    bot = tmp_path / "mybot.py"
    method = "def choose_salvo(self, view):\n        return view.untouched.sample(view.shots)\n"
    bot.write_text(f"import salvo\n\n\nclass Mine(salvo.Bot):\n    {method}\n\nsalvo.run(Mine)\n")
    _check_unread([sys.executable, str(bot)], unread)


def _check_unread(command: list[str], unread: str, *, shows: bool = True) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as pipe:
        errors = pipe if unread == "both" else subprocess.PIPE
        ended = subprocess.run(command, stdout=pipe, stderr=errors, env=without_settings(), check=False)
    if shows or unread == "both":
        assert (ended.returncode, ended.stderr or b"") == (128 + signal.SIGPIPE, b"")
    else:
        assert ended.returncode == 2


def test_python_m_salvo_is_the_command() -> None:
    called = [[sys.executable, "-m", "salvo"], [SALVO]]
    for words in (["--version"], ["serv"], ["play", "--help"]):
        done = [subprocess.run([*each, *words], capture_output=True, text=True, check=False) for each in called]
        module, command = ((each.returncode, each.stdout, each.stderr) for each in done)
        assert module == command


def test_with_input_and_output_closed_commands_do_their_work(recorded: Path) -> None:
    """Most ended in a traceback, and the JSON of a game went to standard error."""
    for command in (["replay", str(recorded)], ["play", "hunter", "random", "--seed", "1", "--json"]):
        closed = ["sh", "-c", 'exec "$@" <&- >&-', "sh", SALVO, *command]
        ended = subprocess.run(closed, capture_output=True, check=False)
        assert (ended.returncode, ended.stderr) == (0, b"")


@pytest.mark.parametrize("command", [["bots"], ["play", "hunter", "random", "--seed", "1"], ["--help"]])
def test_where_nothing_more_can_be_written_that_is_one_line(command: list[str]) -> None:
    with open("/dev/full", "w") as full:
        ended = subprocess.run([SALVO, *command], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr == "error: output_unwritable: standard output: No space left on device\n"


def test_a_turn_of_a_replay_is_shown_from_a_players_view(recorded: Path) -> None:
    seen = run("replay", str(recorded), "--turn", "6", "--view", "random").stdout
    assert "view: random" in seen
    record = json.loads(run("replay", str(recorded), "--turn", "6", "--view", "random", "--json").stdout)
    hunters = "".join(record["boards"]["hunter"]["rows"])
    assert set(hunters) == {".", "*"}
    assert {"#", "X"} & set("".join(record["boards"]["random"]["rows"]))
    wrong = run("replay", str(recorded), "--view", "carol")
    assert (wrong.returncode, wrong.stderr) == (
        1,
        "error: unknown_view: no view 'carol'; there are referee, hunter, random\n",
    )


def test_a_replay_in_json_has_a_line_a_turn(recorded: Path) -> None:
    lines = [json.loads(line) for line in run("replay", str(recorded), "--json").stdout.splitlines()]
    assert [line["turn"] for line in lines] == list(range(1, len(lines) + 1))
    assert all(len(line["fired"]) == line["shots"] for line in lines)
    assert sum(shot["hit"] for line in lines for shot in line["fired"]) == sum(line["hits"] for line in lines)
    assert set(lines[-1]["places"]) == {"hunter", "random"}


def test_a_check_counts_or_names_the_line(recorded: Path) -> None:
    good = run("replay", str(recorded), "--check")
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout.startswith(f"{recorded}: 1 game, ")
    lines = recorded.read_text().splitlines(keepends=True)
    lines[40] = lines[40].replace('"x":', '"x":1', 1)
    recorded.write_text("".join(lines))
    bad = run("replay", str(recorded), "--check")
    assert bad.returncode == 1
    assert bad.stderr.startswith(f"error: transcript_diverged: {recorded}, line 41: the referee says ")


def test_several_games_are_recorded_under_their_numbers(tmp_path: Path) -> None:
    run("play", "hunter", "random", "--games", "3", "--game", "5", "--record", str(tmp_path / "g-{game}.jsonl.gz"))
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"g-{game}.jsonl.gz" for game in (5, 6, 7)]


def test_a_recorded_game_is_not_replaced_unawares(recorded: Path) -> None:
    before = recorded.read_bytes()
    there = f"error: transcript_exists: {recorded} is there already; name another file, or remove it\n"
    other = ("play", "hunter", "random", "--seed", "8", "--record", str(recorded))
    for words in (other, ("replay", str(recorded), "--export", str(recorded))):
        done = run(*words)
        assert (done.returncode, done.stdout, done.stderr) == (1, "", there)
    assert recorded.read_bytes() == before
    recorded.unlink()
    assert run(*other).returncode == 0
    assert recorded.read_bytes() != before
    bot = recorded.with_name("mybot.py")
    bot.write_text("import salvo\n")
    assert "transcript_exists" in run(*other[:-1], str(bot)).stderr


def test_several_games_stop_before_the_first_where_one_is_recorded_already(tmp_path: Path) -> None:
    (tmp_path / "g-3.jsonl").write_text("")
    words = ("play", "hunter", "random", "--games", "3", "--record", str(tmp_path / "g-{game}.jsonl"))
    assert "g-3.jsonl is there already" in run(*words).stderr
    assert [path.name for path in tmp_path.iterdir()] == ["g-3.jsonl"]


def test_a_page_replaces_a_page_and_nothing_else(tmp_path: Path) -> None:
    recorded, page, pond = (tmp_path / name for name in ("game.jsonl", "game.html", "pond.toml"))
    pond.write_text(POND)
    assert run("play", "hunter", "random", "--rules", str(pond), "--record", str(recorded)).returncode == 0
    before = recorded.read_bytes()
    for command in ("replay", "explain"):
        refused = run(command, str(recorded), "--html", str(recorded))
        assert refused.stderr.splitlines()[-1].startswith(
            f"error: html_unwritable: {recorded} exists and is not a page; "
        )
        assert recorded.read_bytes() == before
        assert run(command, str(recorded), "--html", str(page)).returncode == 0


@pytest.mark.long
@pytest.mark.parametrize("journal", ["none", "contest.journal"])
def test_a_server_writes_its_games_to_a_folder_with_and_without_a_journal(tmp_path: Path, journal: str) -> None:
    where = journal if journal == "none" else str(tmp_path / journal)
    folder, pond = tmp_path / "games", tmp_path / "pond.toml"
    pond.write_text(POND)
    folder.mkdir()
    (folder / "game-1.jsonl.gz").write_text("of an earlier contest")
    given = ("--rules", str(pond), "--journal", where, "--transcripts", str(folder))
    with _serve("--players", "2", "--games", "1", *given) as (server, url):
        teams = [players.join(url, name, games=1) for name in ("ann", "bob")]
        out, err = server.communicate(timeout=60)
        for team in teams:
            team.join(60)
    assert (server.returncode, err) == (0, "")
    events = [json.loads(line) for line in out.splitlines()]
    [written] = [event for event in events if event["event"] == "transcript"]
    assert written["file"] == str(folder / "game-1.2.jsonl.gz")
    assert written["proof"] == str(folder / "game-1.2.proof.jsonl")
    assert run("verify", written["proof"]).returncode == 0
    assert (folder / "game-1.jsonl.gz").read_text() == "of an earlier contest"
    assert run("replay", written["file"], "--check").returncode == 0
    [won] = [event for event in events if event["event"] == "won"]
    assert run("replay", written["file"]).stdout.splitlines()[-1].startswith(f"places: 1. {won['winner']}")
    files = [written["file"], written["proof"], where] if journal != "none" else [written["proof"]]
    explained = [run("explain", file, "--fleets", "100").stdout.split("\n", 1) for file in files]
    assert {lines for _, lines in explained} == {explained[0][1]}  # whichever file it is told from
    assert f"\n{won['winner']} won: luck " in explained[0][1]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--listen", "99"], "bad_address: '99' is not HOST:PORT"),
        (["--listen", "127.0.0.1:0", "--websocket", "127.0.0.1"], "bad_address: '127.0.0.1' is not HOST:PORT"),
        (["--listen", "127.0.0.1:0", "--websocket", "TAKEN"], "address_in_use"),
        (["--listen", "nowhere.invalid:1"], "bad_address: nowhere.invalid"),
        (["--metrics", ":9464"], "bad_address: ':9464' is not HOST:PORT"),
        (["--metrics", "nowhere.invalid:1"], "bad_address: nowhere.invalid"),
        (["--metrics", "TAKEN"], "address_in_use"),
        (["--broker", "http://x"], "bad_url"),
        (["--listen", "127.0.0.1:0", "--tls-cert", "none.pem", "--tls-key", "none.key"], "bad_tls"),
    ],
)
def test_a_server_that_cannot_start_leaves_nothing_behind(arguments: list[str], error: str, tmp_path: Path) -> None:
    files = ["--profile", "contest", "--roster", "r.json", "--identity", "i.key"]
    files += ["--journal", "a.journal", "--transcripts", "games"]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        words = [address if word == "TAKEN" else word for word in arguments]
        done = run("serve", *words, *files, cwd=tmp_path)
    assert done.stderr.startswith(f"error: {error}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("how", ["option", "file", "environment"])
def test_every_line_of_a_server_that_logs_json_is_an_object(how: str, tmp_path: Path) -> None:
    """Its own and those of the programs beside it, such as a gateway that cannot listen."""
    config = tmp_path / "contest.toml"
    config.write_text('listen = "127.0.0.1:0"\n' + 'log_format = "json"\n' * (how == "file"))
    environment = without_settings(**({"SALVO_LOG_FORMAT": "json"} if how == "environment" else {}))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        gateway = f"jsonline --listen 127.0.0.1:{taken.getsockname()[1]}"
        command = [SALVO, "serve", "--profile", "open", "--gateway", gateway, "--config", str(config)]
        command += ["--json"] * (how == "option")
        with started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as server:
            assert server.stderr is not None
            said = [json.loads(server.stderr.readline()) for _ in range(2)]
            server.send_signal(signal.SIGINT)
            out, err = server.communicate(timeout=60)
    assert [(each["event"], each.get("code"), each.get("level")) for each in said] == [
        ("error", "cannot_listen", None),
        ("log", None, "error"),
    ]
    assert "is started again" in said[1]["text"]
    for line in [*out.splitlines(), *err.splitlines()]:
        assert datetime.fromisoformat(json.loads(line)["at"]).tzinfo is not None


@pytest.mark.long
def test_a_server_that_ends_in_mid_game_says_how_the_game_goes_on_and_the_next_one_that_it_does(tmp_path: Path) -> None:
    journal = str(tmp_path / "a.journal")
    command = [SALVO, "serve", "--players", "2", "--journal", journal, "--listen"]
    with started([*command, "0.0.0.0:0"], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        said = server.stdout.readline()
        url = said.split()[-1]
        reachable = [f"mqtt://{address}:{url.rpartition(':')[2]}" for address in lan_addresses("0.0.0.0")]
        if reachable:
            assert f"listening on 0.0.0.0:{url.rpartition(':')[2]}, here {url}" in said
            assert f" teams: salvo join {reachable[0]} mybot.py" in server.stdout.readline()
        for name in ("ann", "bob"):
            players.join(url, name, Slow())
        _until_said(server, "the game begins")
        server.send_signal(signal.SIGTERM)
        said = server.communicate(timeout=60)[0]
    assert "game 1 is not over; it goes on if the server starts with --resume always" in said
    assert server.returncode == 0
    with started([*command, "127.0.0.1:0", "--resume", "always"], stdout=subprocess.PIPE) as server:
        said = _until_said(server, "goes on")
        server.terminate()
        server.communicate(timeout=60)
    assert re.search(r" game 1 goes on: turn \d+, (ann|bob)'s; players: (ann, bob|bob, ann)$", said.rstrip())
