"""Our bots on servers of older systems, as clients in the system's own protocol: no table, no MQTT.

    xbs://HOST:PORT         a player of a game on an Xterm Boat Sinker server
    jsonline://HOST:PORT    the program that asks, against a JSON-lines server
    smackdown:              a child process of a Code Smackdown referee, on standard streams

Each visit is a state machine without input or output: it gets the server's messages and returns what the bot answers.
:mod:`~salvo_server.gateways.visits.line` carries them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from salvo.client import GameReport
from salvo.errors import SalvoError

SCHEMES = ("xbs", "jsonline", "smackdown")


class TryLater(SalvoError):
    """The server plays without us: ``server_busy``."""


class Visit(Protocol):
    """One game of a bot on another system's server.

    Attributes:
        report: how the game ended; None until it has.
    """

    report: GameReport | None

    def begin(self) -> Sequence[str]:
        """Return the first messages."""
        ...

    def hear(self, message: str) -> Sequence[str]:
        """Return the answers to a message, without line ends.

        Raises:
            TryLater: the server is in another game.
            GatewayError: ``refused_there``, ``wrong_rules``, ``contradiction``: the visit cannot go on.
        """
        ...
