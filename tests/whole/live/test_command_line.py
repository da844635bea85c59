"""The command line as programs and people use it: mistakes, files, and real processes where a process is the point."""

from __future__ import annotations

import json
import os
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


def _until_printed(server: subprocess.Popen[str], words: str) -> str:
    """Return the line of a server's that has these words."""
    assert server.stdout is not None
    for line in server.stdout:
        if words in line:
            return line
    raise AssertionError(f"{words} is not said")


def test_a_server_ends_cleanly_on_a_signal_with_the_programs_beside_it() -> None:
    """Its web front outlived the broker, and warned that it could not reach it."""
    with _serve("--players", "2", "--web", "127.0.0.1:0") as (server, url):
        assert url.startswith("mqtt://127.0.0.1:")
        _until_printed(server, '"web"')
        assert run("health", url).stdout.startswith("online")
        server.send_signal(signal.SIGTERM)
        out, err = server.communicate(timeout=60)
    assert (server.returncode, err) == (0, "")
    last = json.loads(out.splitlines()[-1])
    assert last["event"] == "ended"
    assert datetime.fromisoformat(last["at"]).tzinfo is not None


def test_play_in_json_is_the_same_game_for_the_same_seed() -> None:
    words = ("play", "hunter", "random", "--seed", "7", "--json")
    one, two = run(*words), _start(*words)
    assert (one.returncode, one.stdout, one.stderr) == (two.returncode, two.stdout, two.stderr)
    assert set(json.loads(one.stdout)) == {"winner", "places", "turns", "seed", "game", "stats"}


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (("play", "nobody", "hunter"), 1, "error: bad_bot: no bot 'nobody'"),
        (("play", "hunter"), 1, "error: too_few_players: 1 bot"),
        (("play", "rude", "hunter", "--seed", "1"), 1, "error: bad_salvo: rude.py:"),
        (("serve", "--profile", "shut"), 2, "error: bad_setting: --profile: 'shut': give open, contest or strict"),
        (("serve", "--table", "game"), 1, "error: bad_name: table name 'game'"),
        (("serve", "--listen", "nowhere"), 2, "error: bad_address: 'nowhere' is not HOST:PORT"),
        (("replay", "none.jsonl"), 1, "error: transcript_missing: no file none.jsonl"),
        (("replay", "x", "--check", "--games"), 2, "Error: --check, --export, --html and --games are different things"),
        (("play", "random", "hunter", "--games", "2", "--record", "g.jsonl"), 2, "2 games need {game} in the name"),
        (
            ("serve", "--listen", "127.0.0.1:0", "--transcripts", "/dev/null/x"),
            1,
            "error: transcript_unwritable: /dev/null/x: Not a directory",
        ),
        (("demo", "--rules", "spacd"), 2, "did you mean spaced?"),
        (("nonsense",), 2, "Error: No such command 'nonsense'"),
    ],
)
def test_a_mistake_is_one_clear_line(arguments: tuple[str, ...], code: int, error: str) -> None:
    done = run(*arguments)
    assert done.returncode == code
    assert error in done.stderr
    assert "Traceback" not in done.stderr


def test_a_process_ends_with_the_line_and_the_code_of_the_mistake() -> None:
    arguments = ("play", "nobody", "hunter")
    called, ended = run(*arguments), _start(*arguments)
    assert ended.returncode != 0
    assert (ended.returncode, ended.stdout, ended.stderr) == (called.returncode, called.stdout, called.stderr)


def test_a_mistake_in_a_file_names_line_and_nearest_setting(tmp_path: Path) -> None:
    config = tmp_path / "salvo.toml"
    config.write_text('# a contest\nprofile = "open"\nplacement_second = 60\n')
    done = run("serve", "--config", str(config))
    assert (done.returncode, done.stderr.strip()) == (
        2,
        f"error: unknown_setting: {config}, line 3: 'placement_second' is not a setting; "
        "did you mean placement_seconds?",
    )


@pytest.mark.parametrize(
    ("option", "setting"),
    [("table", "tables"), ("gateway", "gateways")],
)
def test_an_option_name_used_as_a_setting_is_refused_with_the_right_name(
    tmp_path: Path, option: str, setting: str
) -> None:
    config = tmp_path / "salvo.toml"
    config.write_text(f'{option} = "x"\n')
    done = run("serve", "--config", str(config))
    assert f"line 1: '{option}' is not a setting; did you mean {setting}?" in done.stderr
    if option != "table":  # SALVO_TABLE is for teams and viewers
        done = run("serve", environment={f"SALVO_{option.upper()}": "x"})
        assert f"did you mean SALVO_{setting.upper()}?" in done.stderr


def test_a_mistake_in_the_environment_names_the_variable() -> None:
    done = run("serve", environment={"SALVO_TURN_SECONDS": "soon"})
    assert "environment variable SALVO_TURN_SECONDS: 'soon'" in done.stderr


def test_a_secret_from_a_file_or_the_environment_is_in_no_list_of_processes(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("cockadoodledoo\n")
    pipe = subprocess.PIPE
    with _serve("--players", "3") as (server, url):
        for name, given in (
            ("a", {"SALVO_SECRET_FILE": str(file)}),
            ("b", {"SALVO_SECRET": "cockadoodledoo"}),
        ):
            command = [SALVO, "--log-level", "debug", "join", url, "random", "--team", name]
            with started(command, stdout=pipe, stderr=pipe, env=without_settings(**given)) as bot:
                _until_printed(server, f'"{name}"]')
                assert b"cockadoodledoo" not in Path(f"/proc/{bot.pid}/cmdline").read_bytes()
                bot.send_signal(signal.SIGINT)
                output = "".join(bot.communicate(timeout=60))
            assert bot.returncode == 130
            assert "the server is" in output
            assert "cockadoodledoo" not in output


@pytest.mark.parametrize(("content", "text"), [(None, "no file"), ("\n", "is empty")])
def test_a_file_without_a_secret_is_one_clear_line(tmp_path: Path, content: str | None, text: str) -> None:
    file = tmp_path / "secret"
    if content is not None:
        file.write_text(content)
    done = run("join", "mqtt://127.0.0.1:1", "random", environment={"SALVO_SECRET_FILE": str(file)})
    assert (done.returncode, text in done.stderr) == (1, True)
    assert str(file) in done.stderr


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


@pytest.mark.parametrize(
    ("command", "unread"),
    [
        ("serv", "both"),
        ("play random random --games 3 --json", "stdout"),
        ("bots", "both"),
    ],
)
def test_a_command_whose_output_nobody_reads_ends_quietly_as_others_do(command: str, unread: str) -> None:
    _check_unread([SALVO, *command.split()], unread, shows=command != "serv")


def test_a_bots_own_program_ends_quietly_when_its_output_is_closed(tmp_path: Path) -> None:
    bot = tmp_path / "mybot.py"
    method = "def choose_salvo(self, view):\n        return view.untouched.sample(view.shots)\n"
    bot.write_text(f"import salvo\n\n\nclass Mine(salvo.Bot):\n    {method}\n\nsalvo.run(Mine)\n")
    _check_unread([sys.executable, str(bot)], "stdout")


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


@pytest.mark.parametrize("unread", ["full", "gone"])
def test_games_go_on_when_nobody_reads_a_servers_output_and_a_signal_ends_it(unread: str, tmp_path: Path) -> None:
    """A full pipe stopped every game, and the server heard no signal; without a reader it ended at the next event."""
    rules = tmp_path / "pond.toml"
    rules.write_text(POND)
    reader, writer = os.pipe()
    command = [SALVO, "serve", "--listen", "127.0.0.1:0", "--profile", "open", "--players", "2", "--json"]
    command += ["--rules", str(rules)]
    with (
        started(
            [*command, "--journal", "none"], stdout=writer, stderr=subprocess.PIPE, env=without_settings()
        ) as server,
        open(reader, "rb", buffering=0) as output,
    ):
        os.close(writer)
        url = json.loads(output.read(4096).splitlines()[0])["url"]
        if unread == "gone":
            output.close()
        else:
            _fill(reader)
        join = [SALVO, "join", url, "random", "--games", "1", "--team"]
        with (
            started([*join, "a"], stdout=subprocess.PIPE, env=without_settings()) as one,
            started([*join, "b"], stdout=subprocess.PIPE, env=without_settings()) as two,
        ):
            said = [bot.communicate(timeout=60)[0] for bot in (one, two)]
        assert all("game 1" in text for text in said)
        assert run("health", url).stdout.startswith("online")
        server.send_signal(signal.SIGTERM)
        _, errors = server.communicate(timeout=60)
    assert server.returncode == 0
    assert ("standard output: Broken pipe" in errors) is (unread == "gone")


def _fill(reader: int) -> None:
    """Fill a pipe, by a way of its own to it, which alone does not wait."""
    way = os.open(f"/proc/self/fd/{reader}", os.O_WRONLY | os.O_NONBLOCK)
    with open(way, "wb", buffering=0) as pipe:
        while pipe.write(b"\n" * 4096) is not None:
            pass


def test_with_input_and_output_closed_commands_do_their_work(recorded: Path) -> None:
    """Most ended in a traceback, and the JSON of a game went to standard error."""
    for command in (["replay", str(recorded)], ["play", "hunter", "random", "--seed", "1", "--json"]):
        closed = ["sh", "-c", 'exec "$@" <&- >&-', "sh", SALVO, *command]
        ended = subprocess.run(closed, capture_output=True, check=False)
        assert (ended.returncode, ended.stderr) == (0, b"")


def test_a_full_output_is_reported_in_one_line() -> None:
    with open("/dev/full", "w") as full:
        ended = subprocess.run([SALVO, "bots"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr == "error: output_unwritable: standard output: No space left on device\n"


def test_replay_check_counts_the_games_or_names_the_line_that_differs(recorded: Path) -> None:
    good = run("replay", str(recorded), "--check")
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout.startswith(f"{recorded}: 1 game, ")
    lines = recorded.read_text().splitlines(keepends=True)
    lines[40] = lines[40].replace('"x":', '"x":1', 1)
    recorded.write_text("".join(lines))
    bad = run("replay", str(recorded), "--check")
    assert bad.returncode == 1
    assert bad.stderr.startswith(f"error: transcript_diverged: {recorded}, line 41: the referee announces ")


def test_a_recorded_game_is_not_replaced_unawares(recorded: Path) -> None:
    before = recorded.read_bytes()
    there = f"error: transcript_exists: {recorded} exists already; name another file, or remove it\n"
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


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--listen", "99"], "bad_address: '99' is not HOST:PORT"),
        (["--listen", "TAKEN"], "address_in_use: cannot listen on 127.0.0.1:"),
        (["--listen", "127.0.0.1:0", "--websocket", "TAKEN"], "address_in_use"),
        (["--listen", "127.0.0.1:0", "--metrics", "TAKEN"], "address_in_use"),
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


def test_every_line_of_a_server_that_logs_json_is_an_object(tmp_path: Path) -> None:
    """Its own and those of the programs beside it, such as a gateway that cannot listen."""
    config = tmp_path / "contest.toml"
    config.write_text('listen = "127.0.0.1:0"\n')
    environment = without_settings(SALVO_LOG_FORMAT="json")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        gateway = f"jsonline --listen 127.0.0.1:{taken.getsockname()[1]}"
        command = [SALVO, "serve", "--profile", "open", "--gateway", gateway, "--config", str(config)]
        with started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as server:
            assert server.stderr is not None
            output = [json.loads(server.stderr.readline()) for _ in range(2)]
            server.send_signal(signal.SIGINT)
            out, err = server.communicate(timeout=60)
    assert [(each["event"], each.get("code"), each.get("level")) for each in output] == [
        ("error", "address_in_use", None),
        ("log", None, "error"),
    ]
    assert "is started again" in output[1]["text"]
    for line in [*out.splitlines(), *err.splitlines()]:
        assert datetime.fromisoformat(json.loads(line)["at"]).tzinfo is not None
