"""What pages of other sites try at the web front."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from starlette.applications import Starlette

from kit.golden_games import GOLDEN
from kit.patches import Patch
from kit.twin_games import draw_plan, play, read_by
from kit.unconnected_front import Front
from kit.web_front import WebFront, in_this_process
from salvo.messages import State
from salvo.wire import topics
from salvo.wire.roles_and_rights import Role
from salvo_display.replay import Replay
from salvo_game.recordings import Recording, open_recordings
from salvo_watch.archive import Archive
from salvo_watch.commands.web import web as web_command
from salvo_watch.web import app as web
from salvo_watch.web.games import routes
from salvo_watch.web.relay import Ended, Page, Relay
from simulation import crypto


def _be_served_under_a_name_of_another_site() -> bool:
    """A page reads the hall in a visitor's network when its own name leads there."""
    spoken: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        spoken.append(message)

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/qr.svg",
        "query_string": b"",
        "headers": [(b"host", b"evil.example")],
    }

    async def ask() -> None:
        await pages(scope, receive, send)

    pages = web.application(Relay([]), web.Front("http://127.0.0.1", ""))
    asyncio.run(ask())
    return bool(spoken[0]["status"] == 200)


def _know_every_host(patch: Patch) -> None:
    patch.setattr(web, "is_known_host", lambda *given: True)


def test_a_page_under_a_name_of_another_site_is_not_served_and_would_be_without_the_check(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert not _be_served_under_a_name_of_another_site()
    _know_every_host(monkeypatch)
    assert _be_served_under_a_name_of_another_site()


def _read_a_rivals_fleet_from_the_hall(*, boards: bool) -> bool:
    """A bot reads every stream, live and not, and every chunk, while its game is played and a referee is there."""
    front, game = Front(boards=boards), play(draw_plan(3))
    pages = (Page(""), Page("", live=True), None)
    for page in pages:
        front.relay.head(page)
    for message in read_by(Role.REFEREE, "ref", game):
        if topics.parse(message.topic).topic is not topics.REFEREE or boards:
            front.receive(message.topic, message.payload)
        table = front.relay.tables.get("")
        if table is None or table.shown.state is not State.TURN:
            continue
        seen = [front.relay.picture(page) for page in pages if page is not None]
        players = [player for picture in (*seen, *front.relay.overview()["tables"]) for player in picture["players"]]
        if any("a" in "".join(player.get("board") or ()) for player in players):
            return True
    return False


def test_a_rivals_fleet_is_in_no_stream_and_would_be_on_a_page_of_commentators(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in crypto.DERIVING:
        monkeypatch.setattr(module, "derive_key", crypto.derive_key)
    assert not _read_a_rivals_fleet_from_the_hall(boards=False)
    assert _read_a_rivals_fleet_from_the_hall(boards=True)


class _Listens(Exception):
    pass


def _open_the_commentators_pages_to_other_machines() -> bool:
    result = CliRunner().invoke(web_command, ["--referee", "--listen", "0.0.0.0:0"])
    return isinstance(result.exception, _Listens)


def test_commentators_pages_listen_on_their_machine_alone_and_would_elsewhere_without_the_check(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def listen(*given: object) -> None:
        raise _Listens

    monkeypatch.setattr("salvo_watch.commands.web.end_with_input", listen)
    assert not _open_the_commentators_pages_to_other_machines()
    monkeypatch.setattr("salvo_watch.commands.web.is_loopback", lambda host: True)
    assert _open_the_commentators_pages_to_other_machines()


def _learn_a_result_from_the_list_of_games(folder: Path, withholds: Callable[[str, int], bool]) -> bool:
    """Somebody looks at the list of games while the tape of the newest one still runs."""
    app = Starlette(routes=list(routes(Archive([folder]), withholds=withholds)))
    with in_this_process(app) as port:
        return b"wins" in WebFront(f"http://127.0.0.1:{port}/").get("/games")[2]


def test_a_game_is_listed_once_its_tape_has_been_shown_and_would_be_at_its_end_without_that(tmp_path: Path) -> None:
    front = Front()
    shutil.copy(GOLDEN / "2-players-1.jsonl.gz", tmp_path)
    game = open_recordings(str(tmp_path / "2-players-1.jsonl.gz"))
    assert isinstance(game, Recording)
    header = Replay(*game.executed()).header
    front.relay._untold[Ended(header.rules.table, header.game)] = {""}
    assert not _learn_a_result_from_the_list_of_games(tmp_path, front.relay.withholds)
    assert _learn_a_result_from_the_list_of_games(tmp_path, lambda table, game: False)
