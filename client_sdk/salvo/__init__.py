"""The SDK of Battleship: Salvo: write a bot in three lines, play it anywhere.

    import salvo

    @salvo.bot
    def fire(view):
        return view.untouched.sample(view.shots)

    salvo.run(fire)

For a team in a contest. Nothing here imports another package. Start reading in ``rules/game``, then ``wire/topics``
and ``join/session/session``.

rules     the game itself; view: what one player may know of it
messages  what is sent, as values; codec: from bytes to messages and back; wire: topics and sealing; v1: generated
bots      what a bot is, where its code comes from, how it is called, and bots as programs in any language
net       the connection to a broker
join      a team in a contest: its seat, its session, and what it checks
cli       the command line that all packages share; commands: ``salvo join``
system    what this machine gives: files, streams, signals, logs, installed packages

Names are imported when they are first used: ``import salvo`` stays quick and a bot that plays in the arena needs
neither MQTT nor cryptography.
"""

from __future__ import annotations

import atexit
import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from salvo.bots.player import Bot as Bot
    from salvo.bots.player import bot as bot
    from salvo.errors import SalvoError as SalvoError
    from salvo.join.client import play as play
    from salvo.rules import SALVO as SALVO
    from salvo.rules import Fleet as Fleet
    from salvo.rules import Orientation as Orientation
    from salvo.rules import Placement as Placement
    from salvo.rules import RuleBook as RuleBook
    from salvo.script import run as run
    from salvo.system.distribution import __version__ as __version__
    from salvo.view import Shot as Shot
    from salvo.view import View as View

_NAMES = {
    "salvo.join.client": ("play",),
    "salvo.system.distribution": ("__version__",),
    "salvo.errors": ("SalvoError",),
    "salvo.bots.player": ("Bot", "bot"),
    "salvo.rules": ("SALVO", "Fleet", "Orientation", "Placement", "RuleBook"),
    "salvo.script": ("run",),
    "salvo.view": ("Shot", "View"),
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        if name in ("bot", "Bot"):
            atexit.register(lambda: importlib.import_module("salvo.script").remind())
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'salvo' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
