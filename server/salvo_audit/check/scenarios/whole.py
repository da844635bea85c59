"""Whole games on the contest server as it is, against a built-in bot: nothing is lost, repeated or made up."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import threading
from collections.abc import Iterator, Sequence
from typing import Final

from salvo import messages as m
from salvo.errors import SalvoError
from salvo.join.client import play
from salvo.rules import BOOKS
from salvo_audit.check.results import Case
from salvo_audit.check.scenario import scenario
from salvo_audit.check.stage import Stage, Unreached
from salvo_lab.bots.hunter import Hunter
from salvo_server.contest import Contest
from salvo_server.settings import ServerSettings
from salvo_server.storage.identity import Identity

RIVAL: Final = "hunter"
#: A whole game, of which no turn may take longer than the contest allows.
_GAME_SECONDS: Final = 1200.0


class _Observer:
    """What the server has announced, told to the stage from the server's thread."""

    def __init__(self, stage: Stage) -> None:
        self.listed: set[str] = set()
        self.refused: list[m.CommandRefused] = []
        self.fired = 0
        self.won: m.GameWon | None = None
        self._stage = stage
        self._loop = asyncio.get_running_loop()

    def __call__(self, table: str, now: int, command: m.Input | None, announcements: Sequence[m.Announcement]) -> None:
        with contextlib.suppress(RuntimeError):  # the judge has just ended
            self._loop.call_soon_threadsafe(self._take, announcements)

    def _take(self, announcements: Sequence[m.Announcement]) -> None:
        for announcement in announcements:
            match announcement:
                case m.PlayersListed(names):
                    self.listed.update(names)
                case m.CommandRefused(to=self._stage.team):
                    self.refused.append(announcement)
                case m.SalvoResolved(player=self._stage.team, shots=shots):
                    self.fired += shots
                case m.GameWon():
                    self.won = announcement
                case _:
                    pass
        self._stage.client.noticed()


@contextlib.contextmanager
def _contest(rules: str, observer: _Observer) -> Iterator[str]:
    """Serve a table for two by a ruleset; yield its address."""
    settings = ServerSettings(listen="127.0.0.1:0", players=2, rules=rules, profile="open", over_seconds=3600)
    contest = Contest(settings, observer, identity=Identity.fresh())
    with contest.in_background():
        yield contest.url


@contextlib.contextmanager
def _rival(url: str) -> Iterator[None]:
    """Let a built-in bot play there."""
    stop = threading.Event()

    def run() -> None:
        with contextlib.suppress(SalvoError):  # the game has ended without it
            play(Hunter(), url, RIVAL, secrets.token_urlsafe(16), pin=False, stop=stop)

    thread = threading.Thread(target=run, name=RIVAL, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()


def _whole_game(rules: str) -> None:
    """Register a whole game by a ruleset; the game's own needs no claim."""
    case = f"whole/{rules}"

    async def whole(stage: Stage) -> None:
        observer = _Observer(stage)
        with _contest(rules, observer) as url, _rival(url):
            stage.elsewhere = url
            await stage.launch()
            await stage.must(
                case, lambda: stage.team in observer.listed, stage.limits.connecting + stage.limits.asking, "a request"
            )
            await stage.until(lambda: observer.won or observer.refused, _GAME_SECONDS)
            if observer.refused:
                refused = observer.refused[0]
                stage.judge(case, False, f"{refused.code}: {refused.text}", expected="nothing is refused")
            elif observer.won is None:
                stage.judge(case, False, stage.ended or f"no end after {_GAME_SECONDS:g} s", expected="a winner")
            else:
                stage.judge(case, observer.fired > 0, "no shot in the whole game")
            if stage.program is not None:
                await stage.program.kill()
        if observer.won is None:
            raise Unreached.after(case)

    whole.__name__ = f"a_whole_game_of_{rules}"
    of_salvo = rules == "salvo"
    scenario(
        Case.of(
            case,
            "END-1 GAME-1" if of_salvo else "END-1 BOOK-1",
            f"lets the contest server play a whole game by the ruleset {rules} with the client and a built-in bot",
            "nothing that the client sends is refused or comes too late, and the game has a winner",
            "The error says what was wrong; /game/rules has what a ruleset changes.",
        ),
        claim="" if of_salvo else rules,
    )(whole)


for _name in BOOKS:
    _whole_game(_name)
