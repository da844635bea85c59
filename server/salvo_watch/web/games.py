"""The addresses of the games that are over.

    /games                   the list, fifty to a page, with filters
    /games/at/TABLE/GAME     leads to a game by its number, once it is there
    /games/ID                the replay page; ?turn=20 leads to a turn
    /games/ID.png            its boards, for who shares a link; likewise after a turn
    /games/ID/explain        luck and skill, once they are computed
    /games/ID.html           the replay page as one file, to share
    /games/ID.jsonl.gz       the transcript
    /games/ID.proof.jsonl    the signed log, where there is one

A page is the self-contained one of :mod:`salvo_display.web_page`, served with its own policy: by their hashes its
style and its script are allowed, and nothing else, not even files of this server.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import sys
import tempfile
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from datetime import date
from http import HTTPStatus
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from salvo.badges import Badges
from salvo.errors import SalvoError
from salvo.wire.seal import fingerprint
from salvo_display.replay import Replay
from salvo_display.web_page import Setting, html_page
from salvo_display.web_page.drawing import Luck
from salvo_display.web_page.rendering import policy_of
from salvo_display.web_page.shared import Shared
from salvo_display.web_server.web_pages import number, to_root
from salvo_game.log_verification import verify_file
from salvo_lab.explaining.explain import FLEETS
from salvo_lab.explaining.reasons import luck_of
from salvo_watch.archive import Archive, ArchiveEntry, Query, transcript_of
from salvo_watch.games_page import Part, note_page, served_list
from salvo_watch.site import CHECKED

#: Games that are executed again at once, and pages and verdicts that are cached.
_AT_ONCE: Final = 2
_CACHED: Final = 64
#: Fleets that are drawn for each board of a game of more than two, where it takes long.
_FEW_FLEETS: Final = 200
#: How long the analysis of a game may take, and how many games may wait for theirs.
_EXPLAIN_SECONDS: Final = 180
_MAX_WAITING: Final = 8
_WAIT: Final = (
    "The game is being analysed: how likely each shot was to hit, for all that its player knew. It takes seconds for a"
    " duel, a minute or two for a large table. The page shows it by itself."
)
_FRAMING: Final = "; frame-ancestors 'none'"
_STATUS: Final = {"no_such_game": HTTPStatus.NOT_FOUND, "analysis_busy": HTTPStatus.SERVICE_UNAVAILABLE}

_Answer = Callable[[Request], Awaitable[Response]]
#: The badges of a game's teams, as numbers.
_Given = frozenset[tuple[str, int]]


def routes(
    archive: Archive, badges: Badges | None = None, withholds: Callable[[str, int], bool] = lambda table, game: False
) -> list[Route]:
    """Return the addresses of an archive's games.

    Args:
        badges: of the contest's teams.
        withholds: whether a game, by its table and number, is not to be shown yet.
    """
    pages = _GamePages(archive, badges or Badges(), withholds)
    found: dict[str, _Answer] = {
        "/games": pages.listed,
        f"/games/at/{{table}}/{number('game')}": pages.numbered,
        "/games/{id}.html": pages.file,
        "/games/{id}.png": pages.picture,
        "/games/{id}.jsonl.gz": pages.transcript,
        "/games/{id}.proof.jsonl": pages.proof,
        "/games/{id}/explain": pages.explained,
        "/games/{id}": pages.game,
    }
    return [Route(path, _refusing(answer)) for path, answer in found.items()]


def _refusing(answer: _Answer) -> _Answer:
    async def answered(request: Request) -> Response:
        try:
            return await answer(request)
        except SalvoError as error:
            status = _STATUS.get(error.code, HTTPStatus.UNPROCESSABLE_ENTITY)
            # The text may have what a damaged file says of its boards, and where it lies.
            words = error.text if error.code in _STATUS else "its record cannot be executed; the organiser knows more"
            page = note_page(
                "This game cannot be shown", f"{error.code}: {words}.", [("All games", f"{to_root(request)}games")]
            )
            return _html(page, policy_of(page), status=status)

    return answered


class _GamePages:
    def __init__(self, archive: Archive, badges: Badges, withholds: Callable[[str, int], bool]) -> None:
        self._archive, self._badges, self._withholds = archive, badges, withholds
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._pages: OrderedDict[tuple[str, bool, _Given], str] = OrderedDict()
        self._heads: OrderedDict[tuple[str, int | None], Shared] = OrderedDict()
        self._verdicts = _Verdicts(archive, self._room)

    async def listed(self, request: Request) -> Response:
        given = request.query_params
        query = Query(
            teams=given.get("teams", "").strip(),
            table=given.get("table", ""),
            text=given.get("text", ""),
            since=_day(given.get("since", "")),
            until=_day(given.get("until", "")),
        )
        asked = given.get("page", "1")
        page = int(asked) if asked.isdecimal() and len(asked) < 7 else 1
        text, allowed = await asyncio.to_thread(self._list, query, page)
        return _html(text, allowed)

    def _list(self, query: Query, page: int) -> tuple[str, str]:
        waiting = self._archive.look()
        self._badges.remember(self._archive.badges)
        listed, found = self._shown(self._archive.listed), self._shown(self._archive.find(query))
        return served_list(listed, found, Part(query, page, waiting, self._badges))

    def _shown(self, entries: Sequence[ArchiveEntry]) -> list[ArchiveEntry]:
        """Leave out the games whose end their tapes have not shown yet."""
        return [entry for entry in entries if not self._withholds(entry.table, entry.game)]

    async def numbered(self, request: Request) -> Response:
        """Lead to the latest game of a table that has a number, as a page of the hall knows it."""
        await asyncio.to_thread(self._archive.look)
        table, game = request.path_params["table"], request.path_params["game"]
        found = (entry for entry in self._shown(self._archive.find(Query(table=table))) if entry.game == game)
        if (entry := next(found, None)) is not None:
            return RedirectResponse(f"{to_root(request)}games/{entry.id}", HTTPStatus.SEE_OTHER)
        text = "Its record is here soon after its end. The page shows it by itself."
        page = note_page("The game is not here yet", text, [("All games", f"{to_root(request)}games")], refresh=True)
        return _html(page, policy_of(page), status=HTTPStatus.NOT_FOUND)

    async def game(self, request: Request) -> Response:
        id_ = await self._known(request)
        luck, badges = self._verdicts.known(id_), self._given(id_)
        key = (id_, luck is not None, badges)  # a page that was made before a badge was known is another one
        if key not in self._pages:
            async with self._room:
                self._pages[key] = await asyncio.to_thread(self._page, id_, luck, badges)
            if len(self._pages) > _CACHED:
                self._pages.popitem(last=False)
        self._pages.move_to_end(key)
        text = self._pages[key]
        turn, front = (
            _turn(request),
            f"{request.url.scheme}://{request.headers['host']}{request.scope.get('root_path', '')}",
        )
        base = f"{front}/games/{id_}"
        at = "" if turn is None else f"?turn={turn}"
        head = (await self._shared(id_, turn)).head(f"{base}{at}", f"{base}.png{at}")
        return _html(text.replace("</title>", f"</title>\n{head}", 1), policy_of(text))

    async def picture(self, request: Request) -> Response:
        """Return the boards, as a messenger shows them beside a link."""
        shared = await self._shared(await self._known(request), _turn(request))
        async with self._room:
            picture = await asyncio.to_thread(shared.picture)
        return Response(picture, media_type="image/png", headers={"Cache-Control": "max-age=3600"})

    async def _shared(self, id_: str, turn: int | None) -> Shared:
        key = (id_, turn)
        if key not in self._heads:
            async with self._room:
                self._heads[key] = await asyncio.to_thread(lambda: Shared.of(self._archive.replay(id_), turn))
            if len(self._heads) > _CACHED:
                self._heads.popitem(last=False)
        self._heads.move_to_end(key)
        return self._heads[key]

    def _given(self, id_: str) -> _Given:
        self._badges.remember(self._archive.badges)
        of = self._badges.of(self._archive.entry(id_).players)
        return frozenset((name, badge.number) for name, badge in of.items())

    def _page(self, id_: str, luck: Luck | None, badges: _Given) -> str:
        replay, proof = self._archive.replay(id_), self._archive.proof(id_)
        links = [
            ("All games", "../games"),
            ("Luck and skill", f"{id_}/explain"),
            ("One file to share", f"{id_}.html"),
            ("Transcript", f"{id_}.jsonl.gz"),
            *([("Proof", f"{id_}.proof.jsonl")] if proof else []),
        ]
        checked = CHECKED + (_proven(proof) if proof else "")
        return html_page(replay, setting=Setting(links, luck, checked, Badges(dict(badges))))

    async def file(self, request: Request) -> Response:
        id_ = await self._known(request)
        badges = Badges(dict(self._given(id_)))
        async with self._room:
            text = await asyncio.to_thread(lambda: html_page(self._archive.replay(id_), setting=Setting(badges=badges)))
        return _html(text, policy_of(text), _attachment(f"{id_}.html"))

    async def transcript(self, request: Request) -> Response:
        id_ = await self._known(request)
        async with self._room:
            content = await asyncio.to_thread(lambda: transcript_of(self._archive.replay(id_)))
        return Response(content, media_type="application/gzip", headers=_attachment(f"{id_}.jsonl.gz"))

    async def proof(self, request: Request) -> Response:
        id_ = await self._known(request)
        proof = self._archive.proof(id_)
        if proof is None:
            raise SalvoError("no_such_game", "this game has no proof")
        return FileResponse(proof, media_type="application/jsonl", filename=f"{id_}.proof.jsonl")

    async def explained(self, request: Request) -> Response:
        id_ = await self._known(request)
        luck = await self._verdicts.ask(id_)
        links = [("Back to the game", f"../{id_}"), ("All games", "../../games")]
        badges = Badges(dict(self._given(id_))).of(self._archive.entry(id_).players)
        page = note_page("Luck and skill", "" if luck else _WAIT, links, refresh=luck is None, luck=luck, badges=badges)
        return _html(page, policy_of(page))

    async def _known(self, request: Request) -> str:
        """Return a game's id, after a look whether the game has come since the last one."""
        id_ = str(request.path_params["id"])
        try:
            self._archive.entry(id_)
        except SalvoError:
            await asyncio.to_thread(self._archive.look)
        entry = self._archive.entry(id_)
        if self._withholds(entry.table, entry.game):
            raise SalvoError("no_such_game", "its tape has not been shown to its end")
        return id_


class _Verdicts:
    """Computes luck and skill of one game at a time, in a process of its own that may take its time."""

    def __init__(self, archive: Archive, room: asyncio.Semaphore) -> None:
        self._archive = archive
        self._room = room
        self._one = asyncio.Semaphore(1)
        self._tasks: OrderedDict[str, asyncio.Task[Luck]] = OrderedDict()

    def known(self, id_: str) -> Luck | None:
        """Return a game's verdict; None as long as there is none."""
        task = self._tasks.get(id_)
        return task.result() if task is not None and task.done() and task.exception() is None else None

    async def ask(self, id_: str) -> Luck | None:
        """Return a game's verdict, or None while it is computed.

        Raises:
            SalvoError: ``analysis_busy``, ``analysis_failed``, or why the game cannot be read.
        """
        task = self._tasks.get(id_)
        if task is None:
            if sum(not task.done() for task in self._tasks.values()) >= _MAX_WAITING:
                raise SalvoError("analysis_busy", "several games are being analysed; come back in a minute")
            self._tasks[id_] = task = asyncio.create_task(self._analyse(id_))
            done = [key for key, task in self._tasks.items() if task.done()]
            for key in done[: max(0, len(self._tasks) - _CACHED)]:
                del self._tasks[key]
        await asyncio.wait([task], timeout=2)
        return task.result() if task.done() else None

    async def _analyse(self, id_: str) -> Luck:
        async with self._one:
            async with self._room:
                replay = await asyncio.to_thread(self._archive.replay, id_)
                content = await asyncio.to_thread(transcript_of, replay)
            with tempfile.TemporaryDirectory(prefix="salvo-explain-") as folder:
                file = Path(folder) / "game.jsonl.gz"
                file.write_bytes(content)
                return await _explain(file, replay)


async def _explain(file: Path, replay: Replay) -> Luck:
    fleets = FLEETS if len(replay.players) == 2 else _FEW_FLEETS
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "salvo", "explain", str(file), "--fleets", str(fleets)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        printed, _ = await asyncio.wait_for(process.communicate(), _EXPLAIN_SECONDS)
    except TimeoutError:
        raise SalvoError("analysis_failed", "the game is too long for this") from None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode:
        raise SalvoError("analysis_failed", "the game cannot be analysed")
    return luck_of(printed.decode())


def _proven(proof: Path) -> str:
    """Return what a game's proof is worth, in words."""
    report = verify_file(proof)
    if report.finding is not None or report.key is None:
        return "; its signed log does not agree: salvo verify says where"
    return f"; its signed log is fair, by the server {fingerprint(report.key)}"


def _html(
    text: str, allowed: str, headers: dict[str, str] | None = None, status: HTTPStatus = HTTPStatus.OK
) -> Response:
    return HTMLResponse(text, status, {"Content-Security-Policy": allowed + _FRAMING, **(headers or {})})


def _attachment(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}


def _turn(request: Request) -> int | None:
    """Return the turn that a link is to; None for the game as a whole."""
    turn = request.query_params.get("turn", "")
    return int(turn) if re.fullmatch("[0-9]{1,9}", turn) else None


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
