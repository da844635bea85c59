"""Every error Salvo raises, split by who is at fault.

Nothing else lives here. Each error carries a stable ``code`` for programs and a text for people that names the
value and the allowed range; ``str(error)`` is ``<code>: <text>``, the form that travels in error topics
(SALVO-ERR-1).
"""

from __future__ import annotations

#: Every code that travels in an error topic or stands in a log line, and what it means. proto/README.md prints it.
CODES = {
    "not_utf8": "the payload, or a text in it, is not UTF-8",
    "not_json": "the payload is not JSON",
    "duplicate_key": "a key stands twice in a JSON object",
    "not_integer": "a number has a point or an exponent, or is NaN or infinite",
    "too_deep": "JSON is nested deeper than 4 levels",
    "too_large": "the payload has more than 4096 bytes",
    "wrong_shape": "a field is missing, unknown or of the wrong type",
    "blob_not_base64": "a blob is not canonical standard base64 with padding",
    "blob_length": "a blob decodes to fewer than 58 or more than 1024 bytes",
    "forged": "a blob does not open with the team's key; logged, never answered",
    "body_mismatch": "the open body and the signed one are not equal values",
    "nonce_reused": "the nonce was used before by this team",
    "rate_limited": "too many messages under fresh salts",
    "retained_command": "a command was published as a retained message; logged and cleared",
    "stale_context": "g, t, n, to are incomplete or do not match the game, turn, shot and target",
    "unknown_topic": "the topic is not in the topic table, or nothing is sent to the server there",
    "unknown_ship": "the fleet has no such ship",
    "bad_name": "the name is not 1..32 of A-Z a-z 0-9 _ -, or is a word of the topic tree",
    "bad_coordinates": "coordinates are not x;y, or y is neither a number nor a letter",
    "bad_orientation": "Orientation is neither HORIZONTAL nor VERTICAL",
    "name_taken": "another team has this name, or this name in another spelling",
    "table_full": "the table has no seat left",
    "wrong_state": "the command is not accepted in the table's state",
    "placement_timeout": "the fleet was not complete in time; the team left the list",
    "fleet_final": "the fleet is complete and cannot be changed",
    "off_grid": "a cell or a ship is not on the grid",
    "overlap": "a ship overlaps another one",
    "too_close": "a ship is closer to another one than the rule book allows",
    "not_your_turn": "it is another player's turn",
    "too_many_shots": "the salvo is complete already",
    "unknown_target": "no player has this name",
    "turn_timeout": "the turn's deadline passed; tells how many shots were lost",
}


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
