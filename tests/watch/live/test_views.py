"""``salvo watch`` in a contest with accounts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from kit.guarded import guarded, play, wait_for_users
from kit.person_at_a_terminal import SALVO, clean_environment, contest_on
from kit.processes import started, without_settings
from kit.proofs import SMALL
from kit.terminal import Terminal
from salvo.wire.roles_and_rights import Role


def test_the_view_at_a_terminal_ends_with_it(tmp_path: Path) -> None:
    with contest_on(tmp_path) as url, Terminal([SALVO, "watch", url], clean_environment(tmp_path)) as view:
        view.until_seen("lobby")
        assert view.close() == 143


def test_the_command_follows_a_game_to_its_end_and_shows_no_board(tmp_path: Path) -> None:
    with guarded("embedded", tmp_path, referee=True, book=SMALL) as contest:
        for name in ("red", "blue"):
            contest.roster.add(name)
        secret = contest.roster.add("judge", Role.REFEREE)
        wait_for_users(contest.url, "judge.1", secret)
        command = [sys.executable, "-m", "salvo", "watch", contest.url, "--json", "--games", "1"]
        environment = without_settings(SALVO_TEAM="judge", SALVO_SECRET=secret)
        with started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as running:
            assert running.stdout is not None
            first = json.loads(running.stdout.readline())
            play(contest, ["red", "blue"])
            out, err = running.communicate(timeout=60)
        records = [first, *map(json.loads, out.splitlines())]
        assert (running.returncode, err) == (0, "")
        salvos = [record["turn"] for record in records if record["event"] == "salvo"]
        assert salvos == list(range(1, len(salvos) + 1))
        events = {record["event"] for record in records}
        assert "won" in events
        assert events <= {"server", "players", "state", "salvo", "won"}
