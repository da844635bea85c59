"""A team's badge is the one of its card on every page, while the contest runs, after restarts, and on the site."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kit import command_line
from kit.killed import RULES, SALVO
from kit.pages import badges_on
from kit.ports import Port
from kit.processes import started
from kit.waiting import until
from kit.web_front import WebFront
from salvo.badges import Badge, badges_of
from salvo.join import client
from salvo_lab.bots.random_bot import RandomBot
from salvo_server.storage.roster import Roster

pytestmark = pytest.mark.long

_SECONDS = 60.0
_CREW = [f"team{number}" for number in range(14)]


def in_hall(web: WebFront) -> dict[str, Badge]:
    """Return the badges that the hall shows at the end of the game."""
    with web.pictures() as pictures:
        players = next(shown["players"] for shown in pictures if len(shown["players"]) == 2)
    return {player["name"]: Badge(player["colour"], player["emblem"]) for player in players}


class Place:
    """A server with its web front, that starts again with the same files."""

    def __init__(self, folder: Path, port: Port, *settings: str) -> None:
        self.folder, self.roster = folder, Roster(folder / "roster.json")
        self.journal, self.games = folder / "contest.journal", folder / "games"
        (folder / "pond.toml").write_text(RULES)
        self._address = port.address
        self.url = f"mqtt://{port.address}"
        self._settings = settings

    @contextlib.contextmanager
    def running(self) -> Iterator[WebFront]:
        files = {"roster": self.roster.path, "journal": self.journal, "identity": self.folder / "identity.key"}
        words = [word for name, path in files.items() for word in (f"--{name}", str(path))]
        words += ["--listen", self._address, "--web", "127.0.0.1:0", "--rules", str(self.folder / "pond.toml")]
        words += [
            "--players",
            "2",
            "--over-seconds",
            "600",
            "--json",
            "--profile",
            "contest",
            "--resume",
            "always",
            *self._settings,
        ]
        with started([SALVO, "serve", *words], env=os.environ, stdout=subprocess.PIPE) as server:
            assert server.stdout is not None
            records: Iterator[dict[str, Any]] = (json.loads(line) for line in server.stdout)
            yield WebFront(next(each for each in records if each["event"] == "web")["urls"][-1], server.pid)
            server.send_signal(signal.SIGINT)
            assert server.wait(_SECONDS) == 0

    def play(self, secrets: dict[str, str]) -> None:
        players = [SALVO, "join", self.url, "random", "--games", "1"]
        with started([*players, "--team", "team5"], env=os.environ | {"SALVO_SECRET": secrets["team5"]}) as other:
            client.play(RandomBot(), self.url, "team2", secrets["team2"], games=1)
            assert other.wait(_SECONDS) == 0


@pytest.fixture
def port() -> Iterator[Port]:
    with Port() as port:
        yield port


@pytest.mark.parametrize("recorded", ["folder", pytest.param("journal", marks=pytest.mark.slow)])
def test_card_hall_pages_and_site_show_a_team_with_one_badge_also_after_a_restart(
    recorded: str, tmp_path: Path, port: Port
) -> None:
    place = Place(tmp_path, port, *(["--transcripts", str(tmp_path / "games")] if recorded == "folder" else []))
    cards = ["--cards", "cards.html", "--url", "192.0.2.7"]
    own = {"XDG_STATE_HOME": str(tmp_path), "SALVO_IDENTITY": str(tmp_path / "identity.key")}
    done = command_line.run(
        "teams", "--roster", str(place.roster.path), "add", *_CREW, *cards, cwd=tmp_path, environment=own
    )
    assert done.returncode == 0, done.stderr
    carded = badges_on((tmp_path / "cards.html").read_text())
    pair = {name: carded[name] for name in ("team2", "team5")}
    assert pair != badges_of(pair), "these two alone would have others"
    secrets = {member.name: member.secret for member in place.roster.members()}
    with place.running() as web:
        place.play(secrets)
        assert in_hall(web) == pair
        id_ = _id_of_the_game(web)
        for _ in range(2):  # the second one is cached
            assert badges_on(web.get(f"/games/{id_}")[2].decode()) == pair
        assert badges_on(web.get("/games")[2].decode()) == pair
        assert badges_on(web.get(f"/games/{id_}.html")[2].decode()) == pair
    with place.running() as web:
        assert badges_on(web.get(f"/games/{_id_of_the_game(web)}")[2].decode()) == pair
        assert in_hall(web) == pair
        assert badges_on(web.get(f"/games/{id_}")[2].decode()) == pair
    for source in [place.journal, *([place.games] if recorded == "folder" else [])]:
        site = tmp_path / f"site-of-{source.name}"
        made = command_line.run("site", str(source), "--out", str(site))
        assert made.returncode == 0, made.stderr
        assert badges_on((site / "index.html").read_text()) == pair
        assert badges_on((site / "games" / f"{id_}.html").read_text()) == pair
    shown = command_line.run(
        "league", "show", "--journal", str(place.journal), "--page", "page.html", cwd=tmp_path, environment=own
    )
    assert shown.returncode == 0, shown.stderr
    assert badges_on((tmp_path / "page.html").read_text()) == pair
    if recorded == "folder":
        [proof] = map(str, place.games.glob("*.proof.jsonl"))
        shown = command_line.run("league", "show", "--logs", proof, "--page", "logs.html", cwd=tmp_path)
        assert shown.returncode == 0, shown.stderr
        assert badges_on((tmp_path / "logs.html").read_text()) == pair


def _id_of_the_game(web: WebFront) -> str:
    """Return the game's id, once its record is there."""

    def listed() -> list[str]:
        return re.findall(r'class="game-line" href="games/([A-Za-z0-9_-]+)"', web.get("/games")[2].decode())

    [id_] = until(listed, pause=0.1)
    return id_
