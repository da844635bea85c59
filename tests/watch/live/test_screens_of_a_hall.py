"""Screens of one hall on a real broker: whoever was there stays, and a newcomer finds a free user or ends.

The story: a fifth ``salvo watch`` ended the oldest screen, the projector, with ``account_in_use``.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.guarded import Guarded, guarded, wait_for_users
from kit.programs import BROKERS
from salvo.net.takeover import ESTABLISHED_SECONDS
from salvo.wire.roles_and_rights import Role

_SECONDS = 60.0


class Screen:
    """A ``salvo watch`` in a process of its own."""

    def __init__(self, contest: Guarded, secret: str, log: Path, *options: str) -> None:
        self.log = log
        with log.open("w") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-u", "-m", "salvo", "watch", contest.url, *options],
                env={**os.environ, "SALVO_TEAM": "hall", "SALVO_SECRET": secret},
                stdout=file,
                stderr=subprocess.STDOUT,
            )

    @property
    def printed(self) -> str:
        return self.log.read_text()

    @property
    def is_on(self) -> bool:
        return self.process.poll() is None

    def until_on(self) -> None:
        """Return when it has held its user for so long that it is no newcomer any more.

        On its way to a free user it says what each of those in use was shown, so what counts is when it said the last.
        """
        end = time.monotonic() + _SECONDS
        printed, since = "", time.monotonic()
        while "state lobby" not in printed or time.monotonic() < since + ESTABLISHED_SECONDS + 0.5:
            assert self.is_on, self.printed
            assert time.monotonic() < end
            time.sleep(0.05)
            if self.printed != printed:
                printed, since = self.printed, time.monotonic()


@contextlib.contextmanager
def hall(kind: str, folder: Path) -> Iterator[tuple[Guarded, str, list[Screen]]]:
    screens: list[Screen] = []
    with guarded(kind, folder, tables=("", "second")) as contest:
        secret = contest.roster.add("hall", Role.WATCHER, screens=2)
        wait_for_users(contest.url, "hall.2", secret)
        try:
            yield contest, secret, screens
        finally:
            for screen in screens:
                screen.process.kill()
                screen.process.wait()


@pytest.mark.long
@pytest.mark.parametrize("kind", BROKERS)
def test_viewers_stay_connected_and_one_without_a_free_user_ends(kind: str, tmp_path: Path) -> None:
    with hall(kind, tmp_path) as (contest, secret, screens):
        for number in range(2):
            screens.append(Screen(contest, secret, tmp_path / f"screen-{number}"))
            screens[-1].until_on()
        late = Screen(contest, secret, tmp_path / "late")
        screens.append(late)
        assert late.process.wait(_SECONDS) == 1, late.printed
        assert "error: account_in_use: all viewers of this account are in use: hall.1, hall.2; let " in late.printed
        assert all(screen.is_on for screen in screens[:2]), [screen.printed for screen in screens]
        # Its interruptions were too short to report; before, it may have tried users that do not exist.
        shown = re.sub(r"\A(watching as hall\.\d now\n)*", "", screens[0].printed)
        assert shown == "state lobby\nplayers: none\nserver online\n"

        contest.roster.give_screens("hall", 6)
        wait_for_users(contest.url, "hall.6", secret)
        screens.append(Screen(contest, secret, tmp_path / "more", "--table", "second"))
        screens[-1].until_on()
        assert "server online" in screens[-1].printed
        assert "server offline" not in screens[-1].printed
        assert all(screen.is_on for screen in (*screens[:2], screens[-1]))


def test_a_viewer_with_a_wrong_secret_is_refused_before_it_prints_anything(tmp_path: Path) -> None:
    with hall("embedded", tmp_path) as (contest, _, screens):
        screens.append(Screen(contest, "wrong", tmp_path / "wrong"))
        assert screens[0].process.wait(_SECONDS) == 1
        assert screens[0].printed.startswith("error: not_authorised: ")
