"""Every error Salvo raises, split by who is at fault.

Nothing else lives here. Each error carries a stable ``code`` for programs and a text for people that names the
value and the allowed range; ``str(error)`` is ``<code>: <text>``, the form that travels in error topics
(SALVO-ERR-1).
"""

from __future__ import annotations


class SalvoError(Exception):
    """Root of all errors of this project."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code
        self.text = text


class IllegalCommand(SalvoError):
    """A readable command broke a rule of the game: the player is at fault."""


class WireError(SalvoError):
    """Bytes that are not a message: the sender's program is at fault."""


class SealError(SalvoError):
    """A blob that does not come from whom it claims."""


class BotError(SalvoError):
    """A bot raised, or answered with something that is no salvo: the bot's author is at fault."""


class ConnectionLost(SalvoError):
    """The broker cannot be reached or has hung up: nobody's command was wrong."""


class MissingExtra(SalvoError):
    """An optional part of the distribution is not installed; the text names the command that installs it."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__("missing_extra", f"{feature} needs an optional part: pip install 'battleship-salvo[{extra}]'")
