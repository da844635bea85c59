"""Let a person play in a browser: serve the page on this machine, and play the game on another thread."""

from __future__ import annotations

from collections.abc import Callable

from salvo.errors import MissingExtra
from salvo_display.opener import OpenPage
from salvo_lab.human.channel import Channel, game_thread
from salvo_lab.human.desk_log import log_at

try:
    from salvo_display.web_server.own_page import listen, serve
    from salvo_lab.human.browser.page import SittingPage
except ModuleNotFoundError:
    raise MissingExtra("playing in a browser", "terminal") from None


def sit_down(open_page: OpenPage, desk: Channel, play: Callable[[], None]) -> None:
    """Serve the page until the person leaves or the game fails; print its address, and open it in a browser.

    Args:
        open_page: opens an address in a browser.
        play: plays games over the channel; runs on a separate thread and ends by ``PersonLeft``.

    Raises:
        KeyboardInterrupt: the person pressed Ctrl-C.
        Exception: whatever the game raised.
    """
    sock, port = listen()
    with sock, log_at(desk), game_thread(desk, play) as game:
        page = SittingPage(desk, port)
        serve(page, sock, open_page, game.start)
    if page.sitting.error is not None:
        raise page.sitting.error
    if not page.sitting.ended:
        raise KeyboardInterrupt
