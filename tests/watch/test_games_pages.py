"""The addresses of games that are over, asked for as a browser asks: over HTTP, of a real server."""

from __future__ import annotations

import asyncio
import contextlib
import re
import shutil
import socket
import struct
import threading
import zlib
from collections.abc import Iterator, Sequence
from email.message import Message
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode, urljoin

import pytest
import uvicorn
from starlette.applications import Starlette

from kit.archives import commit
from kit.golden_games import GOLDEN
from kit.pages import RUDE, Read, badges_on
from kit.web_front import WebFront
from salvo import messages as m
from salvo.badges import Badge, Badges
from salvo.codec.announcements import EVENING
from salvo_display.replay import Replay
from salvo_display.web_page import html_page
from salvo_game.recordings import open_recordings
from salvo_game.transcript import check, read_transcript
from salvo_watch.archive import Archive, ArchiveEntry, Query
from salvo_watch.games_page import Part, served_list
from salvo_watch.web.games import routes

_GAMES = [
    file
    for kind in ("2-players-[1-3]", "8-players-*", "spaced-2-*")
    for file in sorted(GOLDEN.glob(f"{kind}.jsonl.gz"))
]


class Answer(NamedTuple):
    status: int
    headers: Message
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


class Site:
    def __init__(self, address: str) -> None:
        self._front = WebFront(address, 0)

    def get(self, path: str, **query: str) -> Answer:
        return Answer(*self._front.get(f"{path}?{urlencode(query)}"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    games = tmp_path_factory.mktemp("evening") / "games"
    games.mkdir()
    for file in _GAMES:
        shutil.copy(file, games)
    (games / "cut.jsonl.gz").write_bytes((GOLDEN / "2-players-1.jsonl.gz").read_bytes()[:2000])
    return games


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[Site]:
    journal = folder.parent / "contest.journal"
    commit(journal, 1, 1)
    commit(journal, 2, 2, 0.5)
    with _served(Archive([folder, journal], rest=0)) as served:
        yield served


@contextlib.contextmanager
def _served(archive: Archive, badges: Badges | None = None) -> Iterator[Site]:
    archive.look(None)
    app = Starlette(routes=routes(archive, badges))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([listening])))
        thread.start()
        yield Site(f"http://127.0.0.1:{listening.getsockname()[1]}")
        server.should_exit = True
        thread.join()


def _ids(answer: Answer) -> list[str]:
    return re.findall(r'class="game-line" href="games/([A-Za-z0-9_-]+)"', answer.text)


@pytest.fixture(scope="module")
def id_(site: Site) -> str:
    [found] = _ids(site.get("/games", text="2-players-1"))
    return found


def test_pages_of_the_list_follow_each_other() -> None:
    [entry] = _listed(GOLDEN / "2-players-1.jsonl.gz")
    many = [entry._replace(id=f"game-{number}") for number in range(120)]
    shown: list[str] = []
    query = Query(text="random & co")
    for page in (1, 2, 3, 99):
        text, _ = served_list(many, many, Part(query, page, 0))
        shown += _ids(Answer(200, Message(), text.encode()))
        links = dict(re.findall(r'href="([^"]+)" rel="(prev|next)"', text))
        expected = {n: word for n, word in ((page - 1, "prev"), (page + 1, "next")) if 1 <= n <= 3 and page <= 3}
        if page <= 3:
            assert links == {f"games?text=random+%26+co&amp;page={n}": word for n, word in expected.items()}
    assert shown == [each.id for each in many] + [each.id for each in many[100:]]


def _listed(path: Path) -> Sequence[ArchiveEntry]:
    archive = Archive([path])
    archive.look(None)
    return archive.listed


@pytest.mark.parametrize(
    "query",
    [
        {"text": RUDE, "teams": RUDE, "table": RUDE},
        {"since": "yesterday", "until": "2026-13-45", "page": "-1"},
        {"page": "99999999999"},
        {"page": "²"},
        {"text": "\x00\u202e" * 20},
    ],
)
def test_a_search_query_appears_on_the_page_only_as_text(site: Site, query: dict[str, str]) -> None:
    answer = site.get("/games", **query)
    assert answer.status == 200
    read = Read(answer.text)
    assert not [tag for tag, _ in read.tags if tag in ("script", "img", "iframe")]
    assert not [name for _, attributes in read.tags for name in attributes if name.startswith("on")]


def test_a_game_is_the_page_that_replay_writes_with_links_and_its_own_policy(site: Site, id_: str) -> None:
    answer = site.get(f"/games/{id_}")
    assert answer.status == 200
    assert "executed again: every announcement agrees" in answer.text
    policy = answer.headers["Content-Security-Policy"]
    in_page = re.findall(r'Content-Security-Policy" content="([^"]*)"', answer.text)
    assert policy == in_page[0] + "; frame-ancestors 'none'"
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    links = [attributes["href"] for tag, attributes in Read(answer.text).tags if tag == "a"]
    for link in links:
        assert link.startswith("#turn=") or site.get(urljoin(f"/games/{id_}", link)).status == 200, link


def test_a_game_is_handed_out_as_one_file_and_as_a_transcript(site: Site, id_: str, tmp_path: Path) -> None:
    source = GOLDEN / "2-players-1.jsonl.gz"
    answer = site.get(f"/games/{id_}.html")
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{id_}.html"'
    assert answer.text == html_page(Replay(*open_recordings(str(source)).executed()))
    answer = site.get(f"/games/{id_}.jsonl.gz")
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{id_}.jsonl.gz"'
    file = tmp_path / "game.jsonl.gz"
    file.write_bytes(answer.body)
    assert check(read_transcript(file)) == check(read_transcript(source))


def test_a_game_that_is_not_over_or_not_there_is_not_found(site: Site, tmp_path: Path) -> None:
    whole = tmp_path / "whole.journal"
    commit(whole, 2, 2)
    [over] = _listed(whole)
    for name in (over.id, "nope", "..%2f..%2fetc%2fpasswd", "%00", RUDE.replace("/", "%2f").replace(" ", "%20")):
        for path in (f"/games/{name}", f"/games/{name}.html", f"/games/{name}.jsonl.gz", f"/games/{name}/explain"):
            answer = site.get(path)
            assert answer.status == 404, path
            assert b"carrier" not in answer.body
    assert site.get(f"/games/at/game/{'9' * 4400}").status == 404


@pytest.mark.slow
def test_luck_and_skill_are_reckoned_once_and_are_then_on_the_games_page(site: Site) -> None:
    [found] = _ids(site.get("/games", text="spaced-2-1"))
    path = f"/games/{found}/explain"
    while 'http-equiv="refresh"' in (answer := site.get(path)).text:
        assert "is being analysed" in answer.text
    assert len(re.findall(r"<li>[^<]* (won|lost): luck [+-][0-9.]+ hits", answer.text)) == 2
    assert site.get(path).body == answer.body
    lines = re.findall(r"<li>([^<]*: luck [^<]*)</li>", answer.text)
    page = site.get(f"/games/{found}").text
    assert all(line in page for line in lines)


def test_a_game_that_cannot_be_replayed_is_an_error_page_without_its_content(folder: Path, site: Site) -> None:
    [found] = _ids(site.get("/games", text="spaced-2-2"))
    file = folder / "spaced-2-2.jsonl.gz"
    whole = file.read_bytes()
    try:
        file.write_bytes(whole[:3000])
        answer = site.get(f"/games/{found}.html")
    finally:
        file.write_bytes(whole)
    assert answer.status == 422
    assert "transcript_cut: its record cannot be executed" in answer.text
    assert str(folder) not in answer.text


# --- badges ----------------------------------------------------------------------------------------------------------


def test_a_page_that_was_made_before_a_badge_was_known_shows_the_one_that_a_team_was_given(tmp_path: Path) -> None:
    games = tmp_path / "games"
    games.mkdir()
    shutil.copy(GOLDEN / "2-players-1.jsonl.gz", games)
    badges = Badges()
    with _served(Archive([games], rest=0), badges) as site:
        [id_] = _ids(site.get("/games"))
        paths = ("/games", f"/games/{id_}", f"/games/{id_}.html")

        def shown() -> dict[str, Badge]:
            found = [badges_on(site.get(path).text) for path in paths]
            assert found == [found[0]] * len(found)
            return found[0]

        first, second = shown()
        stored, told = Badge(5, 9), Badge(11, 2)
        (games / "evening.json").write_bytes(EVENING.write(m.EveningShown(badges={first: stored.number})))
        assert shown()[first] == stored
        badges.take({first: told.number, second: stored.number})
        assert shown() == {first: told, second: stored}


# --- what a link says ------------------------------------------------------------------------------------------------


def text_of(page: str) -> dict[str, str]:
    return dict(re.findall(r'<meta property="og:([a-z_:]+)" content="([^"]*)">', page))


def pixels(png: bytes) -> list[bytes]:
    """Return the rows of a palette PNG, each a byte a pixel."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    chunks, at = {}, 8
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        body = png[at + 8 : at + 8 + length]
        assert struct.pack(">I", zlib.crc32(kind + body)) == png[at + 8 + length : at + 12 + length]
        chunks[kind], at = body, at + 12 + length
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    assert (width, height) == (1200, 630)
    lines = zlib.decompress(chunks[b"IDAT"])
    assert len(lines) == height * (width + 1)
    return [lines[first + 1 : first + 1 + width] for first in range(0, len(lines), width + 1)]


def test_a_link_preview_of_a_game_or_turn_has_the_players_and_a_picture(site: Site, id_: str) -> None:
    whole, turn = (text_of(site.get(f"/games/{id_}", **query).text) for query in ({}, {"turn": "3"}))
    names, _, game = whole["title"].partition(": game ")
    first, second = names.split(" against ")
    assert re.fullmatch(rf"({first}|{second}) wins after \d+ salvos", whole["description"])
    assert turn["title"] == f"{whole['title']}, turn 3"
    assert game.isdecimal()
    assert re.fullmatch(rf"turn 3 ({first}|{second}) \d shots? \d hits?.*", turn["description"])
    assert "wins" not in turn["description"]
    assert turn["url"].endswith(f"/games/{id_}?turn=3")
    assert turn["image"].endswith(f"/games/{id_}.png?turn=3")
    struck = []
    for query in ({"turn": "3"}, {}):
        answer = site.get(f"/games/{id_}.png", **query)
        assert answer.headers["content-type"] == "image/png"
        struck.append(sum(row.count(3) for row in pixels(answer.body)))
    assert struck[0] < struck[1]


def test_a_link_to_a_turn_that_there_is_not_shows_the_game(site: Site, id_: str) -> None:
    whole = text_of(site.get(f"/games/{id_}").text)["title"]
    for turn in ("", "x", "-1", "9" * 10, "999999999", "\u0663"):
        assert text_of(site.get(f"/games/{id_}", turn=turn).text)["title"].startswith(whole)
    assert len(pixels(site.get(f"/games/{id_}.png", turn="999999999").body)) == 630
