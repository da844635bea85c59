"""Inputs and announcements in transcripts, journals and logs: JSON objects whose one key is the kind (SALVO-FILE)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Final

from salvo import messages as m
from salvo.codec.json_codec import Codec
from salvo.codec.rules import Rules
from salvo.wire.json_shape import OneOf

#: The last salvo of a game with 64 players and its statistics are the longest line.
MAX_LINE_BYTES: Final = 64 * 1024
MAX_LINE_DEPTH: Final = 8

#: Inputs, by the key under which they are recorded.
INPUTS: Final[dict[str, Any]] = {
    "participate": m.Participate,
    "leave": m.Leave,
    "place": m.PlaceShip,
    "fire": m.Fire,
    "skip": m.Skip,
    "unreadable": m.Unreadable,
    "host": m.HostCommand,
    "strike": m.StruckOff,
    "time": m.TimePassed,
    "resume": m.Resumed,
    "delivered": m.TurnDelivered,
}
#: The referee's announcements of a game, by the key under which they are recorded.
ANNOUNCEMENTS: Final[dict[str, Any]] = {
    "opened": m.TableOpened,
    "state": m.StateChanged,
    "players": m.PlayersListed,
    "judged": m.PlacementJudged,
    "dropped": m.SpellingDropped,
    "turn": m.TurnBegan,
    "turn_resumed": m.TurnResumed,
    "result": m.SalvoResolved,
    "stats": m.PlayerStats,
    "won": m.GameWon,
    "shown": m.BoardShown,
    "revealed": m.FleetRevealed,
    "given": m.ShotAccepted,
    "left": m.PlayerLeft,
    "forgotten": m.TableReset,
    "rules": Rules,
    "hosted": m.HostActed,
    "landed": m.ShotLanded,
    "placement_refused": m.PlacementRefused,
    "refused": m.CommandRefused,
}


Input = Annotated[m.Input, OneOf(INPUTS)]
PublicLine = Annotated[m.Announcement, OneOf(ANNOUNCEMENTS)]


def line_codec(shape: Any) -> Codec[Any]:
    """Return the codec of a line of our own."""
    return Codec(shape, largest=MAX_LINE_BYTES, deepest=MAX_LINE_DEPTH, own=True)


INPUT: Final[Codec[m.Input]] = line_codec(Input)
ANNOUNCEMENT: Final[Codec[m.Announcement]] = line_codec(PublicLine)


def write_input(command: m.Input) -> str:
    """Return an input as JSON: an object whose one key is the kind."""
    return INPUT.write(command).decode()


def read_input(text: str) -> m.Input:
    """Read an input, an object whose one key is the kind.

    Raises:
        WireError: the codes of strict JSON.
    """
    return INPUT.read(text.encode())


def write_announcement_line(announcement: m.Announcement) -> str:
    """Return an announcement as JSON: an object whose one key is the kind."""
    return ANNOUNCEMENT.write(announcement).decode()


def public_announcements(announcements: Iterable[m.Announcement]) -> tuple[m.Announcement, ...]:
    """Return the announcements that are recorded: all but recaps, which change nothing and repeat earlier ones."""
    return tuple([announcement for announcement in announcements if not isinstance(announcement, m.Recap)])
