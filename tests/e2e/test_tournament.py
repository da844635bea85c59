"""``salvo tournament`` as people use it: killed, interrupted, gone on with."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

from processes import started
from salvo_server.kits import FOLDER

SALVO = str(Path(sysconfig.get_path("scripts")) / "salvo")
EXAMPLES = Path(__file__).parents[2] / "examples"

CUP = f"""\
name = "eight"
format = "FORMAT"
games = GAMES
seed = 5

[bots]
hunter = "hunter"
staying = "exec:python3 {FOLDER / "program.py"}"
random = "random"
rude = "rude"
three = "{EXAMPLES / "three_lines.py"}"
advisers = "{EXAMPLES / "async_advisers.py"}"
hunting = "{FOLDER / "bot.py"}"
reading = "{EXAMPLES / "reads_everything.py"}"
"""


def _environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith("SALVO_")}


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [SALVO, *arguments], capture_output=True, text=True, timeout=100, env=_environment(), check=False, cwd=folder
    )


def _cup(folder: Path, form: str, games: int) -> Path:
    folder.mkdir()
    (folder / "cup.toml").write_text(CUP.replace("FORMAT", form).replace("GAMES", str(games)))
    return folder


def _interrupt(folder: Path, games: int, number: signal.Signals) -> str:
    """Start a run and send it a signal when so many games are on the disk; return what it said."""
    command, pipe = [SALVO, "tournament", "run", "cup.toml", "--jobs", "2"], subprocess.PIPE
    environment = _environment()
    with started(command, cwd=folder, env=environment, stdout=pipe, stderr=pipe, start_new_session=True) as running:
        kept = folder / "cup.games.jsonl"
        while running.poll() is None and (not kept.exists() or kept.read_bytes().count(b"\n") <= games):
            time.sleep(0.01)
        assert running.poll() is None, running.communicate()
        if number is signal.SIGINT:
            os.killpg(running.pid, number)  # as a terminal does
        else:
            running.send_signal(number)
        _, err = running.communicate(timeout=60)
    return err


@pytest.mark.parametrize(
    ("form", "each", "games"), [("round_robin", 4, 112), ("swiss", 8, 96), ("free_for_all", 12, 12)]
)
def test_a_killed_tournament_that_goes_on_ends_like_one_run_through(
    form: str, each: int, games: int, tmp_path: Path
) -> None:
    through, killed = (_cup(tmp_path / name, form, each) for name in ("through", "killed"))
    whole = _run(through, "tournament", "run", "cup.toml", "--jobs", "1")
    assert whole.returncode == 0, whole.stderr
    _interrupt(killed, games // 2, signal.SIGKILL)
    half = json.loads(_run(killed, "tournament", "show", "cup.toml", "--json").stdout)
    assert games // 2 <= half["games_played"] < games
    assert not half["complete"]
    rest = _run(killed, "tournament", "run", "cup.toml")
    assert rest.stdout == whole.stdout
    one, other = (_run(folder, "tournament", "show", "cup.toml", "--json").stdout for folder in (through, killed))
    assert one == other
    told = json.loads(one)
    assert (told["complete"], len(told["games"])) == (True, games)
    if form == "round_robin":
        assert [row["games"] for row in told["table"]] == [28] * 8
        assert told["table"][-1]["bot"] == "rude"


def test_ctrl_c_prints_the_command_that_goes_on(tmp_path: Path) -> None:
    folder = _cup(tmp_path / "cup", "round_robin", 4)
    err = _interrupt(folder, 20, signal.SIGINT)
    assert "Traceback" not in err
    said = re.search(r"(\d+) of 112 games are played and kept; go on: (salvo tournament run cup.toml)", err)
    assert said is not None
    assert int(said[1]) >= 20
    shown = _run(folder, "tournament", "show", "cup.toml")
    assert f"go on:  {said[2]}" in shown.stdout
    whole = _run(folder, *shlex.split(said[2])[1:])
    assert whole.returncode == 0
    assert "eight: round_robin, rules salvo, seed 5, 112 games" in whole.stdout


def test_the_command_of_a_game_plays_that_game(tmp_path: Path) -> None:
    folder = _cup(tmp_path / "cup", "free_for_all", 2)
    text = (folder / "cup.toml").read_text().replace("games = 2", 'games = 2\nrounds = 2\nseats = 3\nrules = "xbs"')
    (folder / "cup.toml").write_text(text)
    told = json.loads(_run(folder, "tournament", "run", "cup.toml", "--json").stdout)
    fair = [game for game in told["games"] if not game["strikes"]]
    assert {len(game["bots"]) for game in fair} >= {3}
    for game in fair[:3]:
        again = json.loads(_run(folder, *shlex.split(game["again"])[1:], "--json").stdout)
        assert again["turns"] == game["turns"]
        assert sorted(again["places"].values()) == sorted(game["places"])
    [struck, *_] = [game for game in told["games"] if game["strikes"]]
    again_struck = _run(folder, *shlex.split(struck["again"])[1:])
    assert "error: bad_salvo: rude" in again_struck.stderr


def test_an_example_file_is_a_tournament_and_what_goes_wrong_is_a_line(tmp_path: Path) -> None:
    assert _run(tmp_path, "tournament", "init", "my cup.toml").stdout == "play it: salvo tournament run 'my cup.toml'\n"
    again = _run(tmp_path, "tournament", "init", "my cup.toml")
    assert (again.returncode, again.stderr) == (
        2,
        "error: bad_tournament: my cup.toml: File exists; name another file\n",
    )
    done = _run(tmp_path, "tournament", "run", "my cup.toml", "--html", "page.html")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "page.html").read_text().startswith("<!DOCTYPE html>")
    assert "default-src 'none'" in (tmp_path / "page.html").read_text()
    quick = _run(tmp_path, "tournament", "run", "my cup.toml")
    assert quick.stdout.splitlines()[:4] == done.stdout.splitlines()[:4]
    unwritable = _run(tmp_path, "tournament", "show", "my cup.toml", "--html", "/none/page.html")
    text = "error: bad_results: /none/page.html: No such file or directory; name another file with --html\n"
    assert (unwritable.returncode, unwritable.stderr) == (1, text)
    file = tmp_path / "my cup.toml"
    file.write_text(file.read_text().replace('random = "random"', 'random = "randm"'))
    wrong = _run(tmp_path, "tournament", "run", "my cup.toml", "--fresh")
    assert wrong.returncode == 2
    assert wrong.stderr.startswith(
        "error: bad_tournament: my cup.toml, line 12: random: no bot 'randm'; give a file.py"
    )
    file.write_text(file.read_text().replace('"randm"', f'"exec:{shlex.quote(sys.executable)} none.py"'))
    wrong = _run(tmp_path, "tournament", "run", "my cup.toml", "--fresh")
    assert wrong.returncode == 2
    assert "error: bad_tournament: my cup.toml, line 12: random: trial, game 1, fleet: bot_crashed: " in wrong.stderr
    assert "none.py" in wrong.stderr
    wrong = _run(tmp_path, "tournament", "show", "my cup.toml")
    assert wrong.returncode == 0  # nothing is played yet


@pytest.mark.parametrize("debugged", [False, True], ids=["alone", "under a debugger"])
def test_under_a_debugger_nothing_times_out(tmp_path: Path, debugged: bool) -> None:
    (tmp_path / "slow.py").write_text(
        "import time, salvo\nfrom salvo.bots.random_bot import RandomBot\n"
        "class Slow(RandomBot):\n    def place_fleet(self, rules):\n        time.sleep(0.3)\n"
        "        return super().place_fleet(rules)\n"
    )
    (tmp_path / "cup.toml").write_text(
        'name = "two"\nformat = "round_robin"\ngames = 2\n\n[time]\ndecision_seconds = 0.1\n\n'
        '[bots]\nslow = "slow.py"\nrandom = "random"\n'
    )
    tracer = tmp_path / "tracer"
    tracer.mkdir()
    (tracer / "sitecustomize.py").write_text("import sys\nsys.settrace(lambda *_: None)\n" if debugged else "")
    path = os.pathsep.join([str(tracer), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [SALVO, "tournament", "run", "cup.toml", "--json"],
        capture_output=True,
        text=True,
        timeout=100,
        env=_environment() | {"PYTHONPATH": path},
        check=True,
        cwd=tmp_path,
    )
    strikes = {each["bot"]: each["strikes"] for each in json.loads(done.stdout)["table"]}
    assert (strikes["slow"] > 0) is not debugged


def test_a_file_names_bots_and_rules_as_seen_from_its_folder_from_wherever_it_is_played(tmp_path: Path) -> None:
    """From elsewhere a bot of the same name was played without a word."""
    folder = tmp_path / "cups"
    folder.mkdir()
    (tmp_path / "mine.py").write_text("oops")
    (folder / "mine.py").write_text((EXAMPLES / "three_lines.py").read_text())
    (folder / "plain.py").write_text((FOLDER / "program.py").read_text())
    (folder / "pond.toml").write_text('name = "pond"\nlike = "salvo"\nwidth = 8\nheight = 8\n')
    command = f"exec:{shlex.quote(sys.executable)} plain.py"
    (folder / "cup.toml").write_text(
        'name = "near"\ngames = 2\nseed = 5\nrules = "pond.toml"\n[bots]\nmine = "mine.py"\n'
        f'program = {json.dumps(command)}\nhunter = "hunter"\n'
    )
    from_elsewhere = _run(tmp_path, "tournament", "run", "cups/cup.toml")
    assert (from_elsewhere.returncode, from_elsewhere.stderr) == (0, "")
    assert "again:  salvo tournament show cups/cup.toml" in from_elsewhere.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"cups", "mine.py"}
    shown = [
        _run(at, "tournament", "show", name, "--json")
        for at, name in ((tmp_path, "cups/cup.toml"), (folder, "cup.toml"))
    ]
    assert shown[0].stdout == shown[1].stdout
    assert json.loads(shown[0].stdout)["complete"]
