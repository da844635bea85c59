"""Where a person sits: at this terminal, or at a browser of this machine."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from salvo_display.opener import OpenPage
from salvo_lab.human.channel import Channel

SitDown = Callable[[Channel, Callable[[], None]], None]


def skin(open_page: OpenPage | None) -> SitDown:
    """Return what lets a person see and answer while a game is played on another thread.

    Args:
        open_page: opens a page in the person's browser; None for a person at this terminal.

    Raises:
        SalvoError: ``no_terminal`` or ``missing_extra``: it cannot here.
    """
    if open_page is not None:
        from salvo_lab.human.browser import at_browser

        return partial(at_browser.sit_down, open_page)
    from salvo_lab.human.terminal import at_terminal

    at_terminal.check_terminal()
    return at_terminal.sit_down
