"""Relay chat between players, outside of the game (SALVO-CHAT).

A line becomes one publication or one refusal; only the number of each player's lines is stored. No input of
a table, no step and no commit follows from it, so it can neither move a game nor delay one by more than it takes to
read: what is beyond a player's rate is refused unread. How long a line may be stands in :mod:`salvo.wire.chat_text`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from typing import Final

from salvo import messages as m
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.announcements import Publication
from salvo.codec.command_reader import read_chat
from salvo.codec.commands import Line
from salvo.errors import WireError
from salvo.wire.topics import Address, is_name
from salvo_game.rate_limit import Buckets, Rate

#: What one player may say: lines at once, and lines a second after that (SALVO-CHAT-4). So many refusals it reads, too.
LINES_AT_ONCE: Final = 5
LINES_A_SECOND: Final = 0.5
#: What may be said at one table; eight teams that all say what they may, or a hall of 64 that is excited.
TABLE_LINES_AT_ONCE: Final = 20
TABLE_LINES_A_SECOND: Final = 4.0
#: Names whose lines and refusals are counted, 300 bytes each: a thousand seats at each of four tables.
MAX_NAMES: Final = 4096


class Chat:
    """The chat of all tables of a server.

    Attributes:
        on: whether players may chat at all.
    """

    def __init__(self, counts: Counter[str], *, on: bool) -> None:
        """Count refused lines in ``counts``, by code."""
        self.on = on
        self._counts = counts
        self._players: Buckets[tuple[str, str]] = Buckets(MAX_NAMES, Rate(LINES_AT_ONCE, LINES_A_SECOND))
        self._tables: Buckets[str] = Buckets(MAX_NAMES, Rate(TABLE_LINES_AT_ONCE, TABLE_LINES_A_SECOND))
        self._answers: Buckets[tuple[str, str]] = Buckets(MAX_NAMES, Rate(LINES_AT_ONCE, LINES_A_SECOND))

    def receive(self, address: Address, payload: bytes, players: Container[str], now: int) -> list[Publication]:
        """Return what comes of a payload on ``say``: the line for its readers, a refusal, or nothing.

        Args:
            players: who is listed at the table.
            now: epoch milliseconds.
        """
        speaker = address.player
        try:
            line = self._read(address, payload, players, now)
        except WireError as error:
            self._counts[error.code] += 1
            return self._answer(address, error, now)
        if line.to:
            return write_announcement(m.MessagePublished(line.to, speaker, line.text), address.table)
        return write_announcement(m.ChatPublished(speaker, line.text), address.table)

    def _read(self, address: Address, payload: bytes, players: Container[str], now: int) -> Line:
        """Return a line that may be said.

        Raises:
            WireError: a code of SALVO-CHAT or of SALVO-WIRE.
        """
        speaker = address.player
        if not self.on:
            raise WireError("chat_off", "the operator has turned the chat off")
        if speaker not in players:
            raise WireError("unknown_player", f"{speaker[:40]!r} is not listed at this table; only players may chat")
        if not self._players.take((address.table, speaker), now):
            raise _too_much("you", LINES_AT_ONCE, LINES_A_SECOND)
        line = read_chat(payload)
        if line.to == speaker or (line.to and line.to not in players):
            raise WireError(
                "unknown_player", f"to {line.to[:40]!r}: name another player of this table, or no one to address all"
            )
        if not self._tables.take(address.table, now):
            raise _too_much("this table", TABLE_LINES_AT_ONCE, TABLE_LINES_A_SECOND)
        return line

    def _answer(self, address: Address, error: WireError, now: int) -> list[Publication]:
        """Answer the player in the topic, unless that is not a name, or has had answers enough."""
        speaker = address.player
        if not is_name(speaker) or not self._answers.take((address.table, speaker), now):
            return []
        return write_announcement(m.CommandRefused(speaker, error.code, error.text), address.table)


def _too_much(who: str, at_once: int, a_second: float) -> WireError:
    return WireError("rate_limited", f"{who} sent too many lines; {at_once} at once, then {60 * a_second:.0f} a minute")
