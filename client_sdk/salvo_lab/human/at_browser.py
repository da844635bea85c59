"""A person sits down at a browser: its page is served on this machine while the game is played on another thread."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable
from typing import Final

import click

from salvo.errors import MissingExtra
from salvo_lab.human.channel import Channel, game_thread
from salvo_lab.human.desk_log import log_at
from salvo_lab.human.opener import OpenPage

try:
    import uvicorn

    from salvo_lab.human.own_page import OwnPage
    from salvo_server.web_door import Door, behind_a_door
except ModuleNotFoundError:
    raise MissingExtra("playing in a browser", "server") from None

#: How often the page looks at its desk: no person notices.
_LOOK_SECONDS: Final = 0.03
#: Connections at once; further ones get 503, Service Unavailable.
_MAX_CONNECTIONS: Final = 64


class _OwnDoor(Door):
    most = _MAX_CONNECTIONS


def sit_down(open_page: OpenPage, desk: Channel, play: Callable[[], None]) -> None:
    """Serve the page until the person leaves or the game fails; print its address, and open it in a browser.

    Args:
        open_page: opens an address in a browser.
        play: plays games over the channel; runs on a separate thread and ends by ``PersonLeft``.

    Raises:
        KeyboardInterrupt: the person pressed Ctrl-C.
        Exception: whatever the game raised.
    """
    with socket.create_server(("127.0.0.1", 0)) as sock, log_at(desk), game_thread(desk, play) as game:
        port = sock.getsockname()[1]
        page = OwnPage(desk, port)
        address = f"http://127.0.0.1:{port}/#{page.key}"
        click.echo(address)
        open_page(address)
        game.start()
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # which ends the game's connection, too
        try:
            asyncio.run(_serve(page, sock))
        finally:
            signal.signal(signal.SIGTERM, before)
    if page.sitting.error is not None:
        raise page.sitting.error
    if not page.sitting.ended:
        raise KeyboardInterrupt


async def _serve(page: OwnPage, sock: socket.socket) -> None:
    server = behind_a_door(page.application(), _OwnDoor, _MAX_CONNECTIONS, ws="none")
    looking = asyncio.create_task(_look(page, server))
    try:
        await server.serve([sock])
    finally:
        looking.cancel()


async def _look(page: OwnPage, server: uvicorn.Server) -> None:
    """Look at the desk until the person is gone; the page still gets the last picture."""
    while not page.sitting.ended:
        page.look()
        await asyncio.sleep(_LOOK_SECONDS)
    page.look()
    server.should_exit = True
