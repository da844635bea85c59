"""Our bots on servers of older systems, as clients in the system's own protocol: no table, no MQTT.

    xbs://HOST:PORT         a player of a game on an Xterm Boat Sinker server
    jsonline://HOST:PORT    the program that asks, against a JSON-lines server; ?cells=xy has the first one from 0
    smackdown:              a child process of a Code Smackdown referee, on standard streams

Each is a state machine without input or output: it receives the server's messages and returns the bot's answers.
:mod:`~salvo_gateways.bot_clients.connection` carries them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from salvo.errors import SalvoError
from salvo.join.client import GameReport


class TryLater(SalvoError):
    """The server plays without us: ``server_busy``."""


class BotClient(ABC):
    """One game of a bot on another system's server.

    Attributes:
        report: how the game ended; None until the server has ended it, too, or was cut off.
    """

    report: GameReport | None = None

    @property
    @abstractmethod
    def over(self) -> bool:
        """Whether the game is decided: whatever the server does from now on, it counts."""

    def begin(self) -> Sequence[str]:
        """Return the first messages; none where the server speaks first."""
        return ()

    @abstractmethod
    def receive(self, message: str) -> Sequence[str]:
        """Return the answers to a message, without line ends.

        Raises:
            TryLater: the server is in another game.
            GatewayError: ``refused_there``, ``wrong_rules``, ``contradiction``: the game cannot continue.
        """

    def cut_off(self) -> None:
        """Report a game that is over although the server sends no more, or nothing that can be read."""
        if self.over and self.report is None:
            self.end()

    @abstractmethod
    def end(self) -> None:
        """Show the bot how the game ended, and report it."""
