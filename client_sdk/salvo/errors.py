"""Every error that Salvo raises, by the party at fault.

Each error carries a stable ``code`` for programs and a text for people that names the
value and the allowed range; ``str(error)`` is ``<code>: <text>``, the form that travels in error topics
(SALVO-ERR-1).

Besides, what is none of them: interruptions, and the texts of objects that may raise when they are looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final, NamedTuple, TypeVar


class Answered(StrEnum):
    """The recipient of an answer with a code."""

    SENDER = "sender"  # the team whose key opened the message
    #: While nothing proves a sender: the topic's player, for a shot whose turn it is, for a request every client.
    ADDRESSED = "addressed"
    NAME = "name"  # the name that asked to take part
    PLAYER = "player"  # the one to whom it happens
    NOBODY = "nobody"  # the server counts and logs it


class Code(NamedTuple):
    """An error code: its meaning, its recipient, and the requirement."""

    meaning: str
    answered: Answered
    sentence: str


#: Every code in error topics and log lines. proto/README.md prints it.
CODES = {
    "not_utf8": Code("the payload, or a text in it, is not UTF-8", Answered.ADDRESSED, "SALVO-WIRE-1"),
    "not_json": Code("the payload is not JSON", Answered.ADDRESSED, "SALVO-WIRE-1"),
    "duplicate_key": Code("a key appears twice in a JSON object", Answered.ADDRESSED, "SALVO-WIRE-2"),
    "not_integer": Code("a number has a point or exponent, or is NaN or infinite", Answered.ADDRESSED, "SALVO-WIRE-3"),
    "too_deep": Code("JSON is nested deeper than 4 levels", Answered.ADDRESSED, "SALVO-WIRE-4"),
    "too_large": Code("the payload has more than 4096 bytes", Answered.ADDRESSED, "SALVO-WIRE-5"),
    "wrong_shape": Code("a field is missing, unknown or of the wrong type", Answered.ADDRESSED, "SALVO-WIRE-4"),
    "blob_not_base64": Code("a blob is not canonical standard base64 with padding", Answered.ADDRESSED, "SALVO-SEAL-1"),
    "blob_length": Code("a blob decodes to fewer than 58 or more than 1024 bytes", Answered.ADDRESSED, "SALVO-SEAL-6"),
    "forged": Code("a blob does not open with the team's key", Answered.NOBODY, "SALVO-SEAL-8"),
    "sealed_unreadable": Code(
        "a request is neither a JSON object nor canonical base64 that opens with the server's key",
        Answered.ADDRESSED,
        "SALVO-IDENT-5",
    ),
    "body_mismatch": Code("the open body and the signed one are not equal values", Answered.SENDER, "SALVO-SEAL-5"),
    "nonce_reused": Code("the nonce was used before by this team", Answered.SENDER, "SALVO-FRESH-1"),
    "rate_limited": Code(
        "too many messages under fresh salts, refused commands, placements of one ship, or chat lines",
        Answered.ADDRESSED,
        "SALVO-FRESH-6",
    ),
    "retained_command": Code("a command was retained; it is dropped and cleared", Answered.NOBODY, "SALVO-FRESH-4"),
    "stale_context": Code(
        "g, t, n, to are incomplete or do not match the game, turn, shot and target", Answered.SENDER, "SALVO-FRESH-5"
    ),
    "unknown_topic": Code("clients do not send to the server on this topic", Answered.NOBODY, "SALVO-ERR-3"),
    "unknown_ship": Code("the fleet has no such ship", Answered.ADDRESSED, "SALVO-NAME-5"),
    "bad_name": Code(
        "the name is not 1..32 of A-Z a-z 0-9 _ -, or is a word of the topic tree", Answered.ADDRESSED, "SALVO-NAME-1"
    ),
    "bad_coordinates": Code("coordinates are not x;y, or y is not a number or letter", Answered.SENDER, "SALVO-GAME-3"),
    "bad_orientation": Code("Orientation is neither HORIZONTAL nor VERTICAL", Answered.SENDER, "SALVO-PLACE-2"),
    "not_in_roster": Code("the roster has no team of this name and secret", Answered.NAME, "SALVO-ACCESS-3"),
    "context_required": Code(
        "in the profile strict, a shot must have g, t, n and to", Answered.SENDER, "SALVO-ACCESS-7"
    ),
    "sealed_required": Code(
        "in the profile strict, a request to take part must be sealed", Answered.NAME, "SALVO-ACCESS-7"
    ),
    "name_taken": Code("another team has this name, or this name in another spelling", Answered.NAME, "SALVO-JOIN-8"),
    "table_full": Code("the table has no seat left", Answered.NAME, "SALVO-JOIN-11"),
    "wrong_state": Code("the command is not accepted in the table's state", Answered.SENDER, "SALVO-GAME-6"),
    "placement_timeout": Code(
        "the fleet was not complete when the game began, or its time ended; the team left the list",
        Answered.PLAYER,
        "SALVO-JOIN-5",
    ),
    "fleet_final": Code("the fleet is complete and cannot be changed", Answered.SENDER, "SALVO-PLACE-7"),
    "off_grid": Code("a cell or a ship is not on the grid", Answered.SENDER, "SALVO-GAME-2"),
    "overlap": Code("a ship overlaps another one", Answered.SENDER, "SALVO-PLACE-4"),
    "too_close": Code("a ship is closer to another one than the ruleset allows", Answered.SENDER, "SALVO-PLACE-8"),
    "not_your_turn": Code("it is another player's turn, or nobody's, in a pause", Answered.SENDER, "SALVO-FIRE-6"),
    "too_many_shots": Code("the salvo is already complete", Answered.SENDER, "SALVO-FIRE-3"),
    "unknown_target": Code("no player has this name", Answered.SENDER, "SALVO-FIRE-6"),
    "own_board": Code("these rules do not allow shots at your own board", Answered.SENDER, "SALVO-BOOK-6"),
    "shot_before": Code("the cell was shot at before, which these rules do not allow", Answered.SENDER, "SALVO-BOOK-6"),
    "turn_timeout": Code(
        "the turn's deadline has passed; the text says how many shots were lost", Answered.PLAYER, "SALVO-TURN-5"
    ),
    "bank_empty": Code(
        "the time bank is empty; the text says how many shots were lost", Answered.PLAYER, "SALVO-TIME-3"
    ),
    "unknown_player": Code(
        "sender or recipient is not a player of the table, or both are the same", Answered.ADDRESSED, "SALVO-ERR-8"
    ),
    "bad_text": Code(
        "the chat line is not one line of 1..200 printable characters", Answered.ADDRESSED, "SALVO-CHAT-3"
    ),
    "chat_off": Code("the operator has turned chat off", Answered.ADDRESSED, "SALVO-CHAT-7"),
    "not_a_host": Code("the roster has no host of this name", Answered.NOBODY, "SALVO-HOST-1"),
    "too_few_fleets": Code("fewer than two fleets are complete", Answered.SENDER, "SALVO-HOST-3"),
    "clock_stopped": Code("no time is running that could be stopped or extended", Answered.SENDER, "SALVO-HOST-4"),
    "not_paused": Code("no host has paused the table", Answered.SENDER, "SALVO-HOST-4"),
    "removed": Code("a host has removed the team from this game", Answered.PLAYER, "SALVO-HOST-6"),
    "not_invited": Code("a host has set which teams play this game", Answered.NAME, "SALVO-HOST-7"),
}


#: Characters of a text by others that are shown: more than any text of this project has.
MAX_SHOWN: Final = 4000


def printable(text: str, most: int = MAX_SHOWN, *, lines: bool = False) -> str:
    """Return text of others for a terminal or a log: nothing in it controls the terminal or turns lines around.

    Args:
        most: characters; the end of a longer text is cut off.
        lines: whether line feeds and tabs stay.
    """
    if len(text) > most:
        text = f"{text[: most - 4]} ..."
    printed = "\n\t" if lines else ""
    return text if text.isprintable() else "".join(c if c.isprintable() or c in printed else "\ufffd" for c in text)


class SalvoError(Exception):
    """Root of all errors of this project; their texts may have parts of others' texts, so they are made printable."""

    def __init__(self, code: str, text: str) -> None:
        self.code = code
        self.text = printable(text, lines=True)
        super().__init__(f"{code}: {self.text}")


class IllegalCommand(SalvoError):
    """A readable command broke a rule of the game: the player is at fault."""


class WireError(SalvoError):
    """Bytes that are not a message: the sender's program is at fault."""


class SealError(SalvoError):
    """A blob that does not come from its alleged sender."""


class ImpostorError(SalvoError):
    """The server is not the one that this client knows: nothing more is sent or trusted."""


class ProtocolError(SalvoError):
    """The server speaks another major version of the protocol: none of its messages can be relied on."""


class UnfairGame(SalvoError):
    """The server has signed a contradiction: the server is at fault, and its signature proves it."""


class BotError(SalvoError):
    """A bot raised, or answered with something that is not a salvo: the bot's author is at fault.

    Attributes:
        trace: the traceback, from the bot's own code on; empty if the bot did not raise, or is not a Python.
        again: the command that plays the same once more; empty if there is none.
    """

    def __init__(self, code: str, text: str, trace: str = "") -> None:
        super().__init__(code, text)
        self.trace = printable(trace, 5 * MAX_SHOWN, lines=True)
        self.again = ""


class ConnectionLost(SalvoError):
    """The broker cannot be reached or has hung up: no command was wrong."""


class MissingExtra(SalvoError):
    """An optional part of the distribution is not installed; the text names the command that installs it."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__("missing_extra", f'{feature} needs an optional part: pip install "battleship-salvo[{extra}]"')


#: What an error was raised from, whatever its class says.
_CAUSE: Final = vars(BaseException)["__cause__"]


class Interruption(BaseException):
    """Ends what is played from inside a bot's method, such as a person's: no error, and not to be taken for a bot's."""


def let_interruptions_pass(error: BaseException) -> None:
    """Re-raise what ends more than a bot: Ctrl-C, a subclass of ``SystemExit``, as signal handlers raise it, and ours.

    Everything else is the bot's error, and ends only its turn: also what is not an ``Exception``, as ``SystemExit``
    itself, which comes from its ``sys.exit``, or the panic of an extension in Rust. Python before 3.12 raises an error
    of its own from Ctrl-C while it names the attributes of a class.
    """
    for each in (error, _CAUSE.__get__(error)):
        kind = type(each)  # and not isinstance(): an error may lie about its class
        ends = issubclass(kind, SystemExit) and kind is not SystemExit
        if ends or issubclass(kind, (KeyboardInterrupt, Interruption)):
            raise each


# --- what others give, which may refuse to be looked at -----------------------------------------------------------

T = TypeVar("T")


def quietly(look: Callable[[], T], otherwise: T) -> T:
    """Return what a look at an object of a bot's finds, or what to take otherwise: all that it has may raise."""
    try:
        return look()
    except BaseException as error:
        let_interruptions_pass(error)
        return otherwise


def plain(text: object) -> str | None:
    """Return a text of no class of a bot's; None for anything else."""
    return str.__str__(text) if issubclass(type(text), str) else None


def shown(value: object, most: int = 80, write: Callable[[Any], str] = repr) -> str:
    """Return a value of a bot's as text, cut off after so many characters; its class if it cannot be printed."""
    return quietly(lambda: str.__str__(write(value))[:most], f"<{type(value).__name__} that cannot be printed>")
