"""Make every picture of the documents again: ``make pictures``. Pages are photographed in a real chromium.

``game.svg`` and ``topics.svg`` come out the same every time, and a test compares them.
"""

from __future__ import annotations

import contextlib
import tempfile
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from click.testing import CliRunner

from kit.browser import Browser, browser, until
from kit.players import Announced, salvos
from pictures.game import Film
from pictures.tree import play, topic_tree
from salvo.wire.roles_and_rights import Role
from salvo_display.replay import Replay
from salvo_display.web_page import html_page
from salvo_game.recordings import open_recordings
from salvo_lab.commands.explain import explain
from salvo_lab.commands.play import play as play_here
from salvo_server.contest import Contest
from salvo_server.settings import ServerSettings
from salvo_server.storage.identity import Identity
from salvo_server.storage.roster import Roster

_TESTS: Final = Path(__file__).parents[1]
FOLDER: Final = _TESTS.parent / "examples" / "pictures"
#: Bots and seed of the drawn game.
FILM: Final = ("hunter", "density", "7")
#: At which the games of the pictures stand still.
_TURN: Final = 28
_SECONDS: Final = 60.0


def drawings() -> dict[str, str]:
    """Return the pictures that are drawn, by file name."""
    return {"game.svg": Film(*FILM).svg(), "topics.svg": topic_tree()}


def main() -> None:
    for name, drawing in drawings().items():
        (FOLDER / name).write_text(drawing, encoding="utf-8")
    with _photographer() as window, tempfile.TemporaryDirectory() as folder:
        recording = _record(Path(folder))
        photographs = {
            "hall.png": _hall(window, Path(folder)),
            "page.png": _game_page(window, recording),
            "explain.png": _heat_map(window, recording),
        }
    for name, photograph in photographs.items():
        (FOLDER / name).write_bytes(photograph)
    for file in sorted(FOLDER.iterdir()):
        print(f"{file.name}: {file.stat().st_size:,} bytes")


@contextlib.contextmanager
def _photographer() -> Iterator[Browser]:
    with browser() as window:
        window.tell("Emulation.setScrollbarsHidden", hidden=True)
        yield window


def _hall(window: Browser, folder: Path) -> bytes:
    """Four teams on a real server, seen in the hall with all boards."""
    received, held = Announced(), threading.Event()
    received.once = (salvos(_TURN + 2), partial(held.wait, _SECONDS))
    roster = Roster(folder / "roster.json")
    commentator = roster.add("commentator", Role.REFEREE)
    secrets = {name: roster.add(name) for name in ("red", "blue", "green", "otters")}
    settings = ServerSettings(
        listen="127.0.0.1:0",
        roster=roster.path,
        players=len(secrets),
        seed="7",
        journal="none",
    )
    contest = Contest(settings, received, identity=Identity(bytes(32)))
    window.resize(1280, 720)
    window.tell("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    with contest.in_background(), contextlib.ExitStack() as stack:
        from kit.web_front import web_front  # the drawn pictures need no package of web fronts

        web = stack.enter_context(web_front(contest.url, "--referee", account=("commentator", commentator)))
        window.open(web.url)
        for name, secret in secrets.items():
            play(stack, contest.url, name, secret)
        until(window, "document.querySelectorAll('#chances-list li').length === 4")
        until(window, "document.querySelectorAll('#feed-list li').length > 1")
        photograph = window.picture()
        held.set()
    window.tell("Emulation.setEmulatedMedia", features=[])
    return photograph


def _record(folder: Path) -> Path:
    file = folder / "game.jsonl.gz"
    command = ["hunter", "density", "admiral", "--seed", "7", "--record", str(file)]
    CliRunner().invoke(play_here, command, catch_exceptions=False)
    return file


def _game_page(window: Browser, recording: Path) -> bytes:
    file = recording.with_name("game.html")
    file.write_text(html_page(Replay(*open_recordings(str(recording)).executed()), turn=_TURN), encoding="utf-8")
    window.resize(1200, 780)
    window.open(file.as_uri())
    return window.picture()


def _heat_map(window: Browser, recording: Path) -> bytes:
    file = recording.with_name("turn.html")
    command = [str(recording), "--turn", str(_TURN), "--html", str(file)]
    CliRunner().invoke(explain, command, catch_exceptions=False)
    window.resize(1000, 620)
    window.open(file.as_uri())
    return window.picture()


if __name__ == "__main__":
    main()
