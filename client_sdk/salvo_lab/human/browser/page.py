"""A sitting on a page of the person's own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final

from pydantic import Field
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from salvo.rules import Orientation
from salvo_display.web_page.rendering import policy_of
from salvo_display.web_server.own_page import OwnPage, PageCommand, PageRefusal
from salvo_lab.human.browser.picture import picture_of
from salvo_lab.human.channel import Channel
from salvo_lab.human.sitting import Mode, Sitting

#: The person is gone when no page was open for so long, and no game is on.
ALONE_SECONDS: Final = 600.0


class _Click(PageCommand):
    act: str | None = Field(None, max_length=100)
    click: tuple[str, int] | None = None
    fires: bool = True
    put: tuple[str, int, bool] | None = None
    write: str | None = Field(None, max_length=2000)

    @property
    def done(self) -> list[str]:
        return [name for name in super().done if name != "fires"]


class SittingPage(OwnPage):
    """A person who plays by clicking."""

    template = "salvo_lab/human/browser/play.html.j2"
    package = "salvo_lab.human.browser"
    command = _Click
    words = frozenset({"message", "news", "trouble", "outcome", "incoming", "turn", "volleys"})

    def __init__(self, desk: Channel, port: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin to serve a desk; the other arguments are those of a page."""
        self.sitting = Sitting(desk)
        self._desk = desk
        super().__init__(port, clock)

    @property
    def ended(self) -> bool:
        """Whether the person has left, or the game cannot go on."""
        return bool(self.sitting.ended)

    def picture(self) -> dict[str, Any]:
        """Return all that the person may know, and nothing else."""
        return picture_of(self.sitting)

    @property
    def seconds_left(self) -> float | None:
        """Of what the person is at."""
        return self.sitting.seconds_left

    def routes(self) -> list[BaseRoute]:
        """Return the addresses, with the one that replays the game that is over."""
        return [*super().routes(), Route("/replay", self._replay)]

    async def _replay(self, request: Request) -> Response:
        self.check_cookie(request)
        over = self.sitting.over
        if over is None or over.page is None:
            return PlainTextResponse("no game that is over\n", 404)
        page = await asyncio.to_thread(over.page)
        return HTMLResponse(page, headers={"Content-Security-Policy": policy_of(page)})

    def take_in(self) -> bool:
        """Apply what has come from the game."""
        news = self._desk.news()
        for item in news:
            self.sitting.receive(item)
        in_game = self.sitting.grid is not None and self.sitting.mode is not Mode.END
        if not in_game and self.alone_for() > ALONE_SECONDS:
            self.sitting.ended = "left"
        return bool(news)

    def is_for_any_picture(self, command: _Click) -> bool:
        """Whether it is a chat line."""
        return command.write is not None

    def carry_out(self, command: _Click) -> None:
        """Click, place, write or act."""
        sitting = self.sitting
        if command.click is not None:
            player, cell = command.click
            self._check_cell(cell)
            sitting.click(player, cell, fires=command.fires)
        elif command.put is not None:
            ship, cell, down = command.put
            self._check_cell(cell)
            sitting.put(ship, cell, Orientation.VERTICAL if down else Orientation.HORIZONTAL)
        elif command.write is not None:
            sitting.write(command.write)
        elif command.act is not None:
            sitting.act(command.act)

    def _check_cell(self, cell: int) -> None:
        size = 0 if self.sitting.grid is None else self.sitting.grid.size
        if not 0 <= cell < size:
            raise PageRefusal(400, "off_grid", f"cell {cell} is not one of this board's 0..{size - 1}")
