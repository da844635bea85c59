"""Games as JSON lines: a header, one line for each step of the referee, an end (SALVO-FILE).

A step is an input with its time and all that the referee said to it. Header and inputs decide everything else, so
they are read strictly; what was said is there for readers in other languages and for comparing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any, Final, NamedTuple

from pydantic import Field

from salvo import messages as m
from salvo.errors import WireError
from salvo.rules import Orientation, Placement
from salvo.wire.announcements import RulesBody, fleet_body, result_body, rules_announced, rules_body
from salvo.wire.strict_json import Strict, parse_json, same_value, validate

#: The version of the form; readers read this one and every earlier one (SALVO-FILE-2).
TRANSCRIPT_VERSION: Final = 1
#: The last salvo of a game with 64 players and its statistics are the longest line.
LONGEST_LINE_BYTES: Final = 64 * 1024
_DEEPEST_LINE: Final = 8
#: What stands for a message (:func:`salvo.wire.log.message_digest`).
MESSAGE_BYTES: Final = 16
_HEXADECIMAL: Final = frozenset("0123456789abcdef")
#: What every step has beside its input.
STEP_FIELDS: Final = ("n", "at", "says", "check")

_Count = Annotated[int, Field(ge=0)]
_Text = Annotated[str, Field(max_length=1000)]


class LimitsBody(Strict):
    """The numbers that the operator set; times in milliseconds."""

    players: _Count | None = None
    placement_ms: _Count
    turn_ms: _Count
    over_ms: _Count
    empty_turns: _Count
    most_players: _Count
    bank_ms: _Count | None = None
    increment_ms: _Count | None = None
    absent_ms: _Count | None = None
    pace_ms: _Count | None = None


class HeaderBody(Strict):
    """The first line of a transcript."""

    transcript: Annotated[int, Field(ge=1)]
    version: str
    game: _Count
    seed: str
    rules: RulesBody
    limits: LimitsBody
    draw: str | None = None
    check: str | None = None


@dataclass(frozen=True, slots=True)
class Header:
    """What a game is played by.

    Attributes:
        version: of the server that wrote it.
        game: its running number at the table.
        seed: what the draws come from; with a fair draw 32 bytes in hexadecimal, of this game alone.
    """

    version: str
    game: int
    seed: str
    rules: m.RulesAnnounced
    limits: m.Limits
    draw: m.Draw = m.Draw.SEED


class ParticipateBody(Strict):
    """A new team was listed. What stands for its secret is no part of the game."""

    name: str


class LeaveInputBody(Strict):
    """A team left the lobby."""

    player: str
    game: int | None = None


class StrikeBody(Strict):
    """A team was struck off the roster while it sat in the lobby."""

    name: str


class PlaceBody(Strict):
    """A ship was placed."""

    player: str
    spelling: str
    ship: str
    x: int
    y: int
    orientation: str
    message: str | None = None


class ContextBody(Strict):
    """The occasion that a shot was signed for."""

    game: int
    turn: int
    shot: int
    target: str


class FireBody(Strict):
    """A shot was fired."""

    player: str
    target: str
    x: int
    y: int
    context: ContextBody | None = None


class TurnContextBody(Strict):
    """The occasion that a skip was signed for."""

    game: int
    turn: int


class SkipInputBody(Strict):
    """The rest of a turn was given up."""

    player: str
    context: TurnContextBody | None = None


class UnreadableBody(Strict):
    """Something under a player's name that was no command."""

    player: str
    spelling: str
    code: str
    text: _Text
    proven: bool


class DeliveredBody(Strict):
    """The broker has confirmed what was said at the begin of a turn."""

    turn: _Count


class NothingBody(Strict):
    """An input that says all by its kind."""


class EndBody(Strict):
    """How long the game is, and what it comes to."""

    steps: _Count
    check: str


class EndLine(Strict):
    """The last line of a transcript."""

    end: EndBody


class StepLine(NamedTuple):
    """A line between the first and the last: one input, and all that the referee said to it.

    Attributes:
        number: of the step, from 1.
        said: the announcements as JSON values.
        check: what the game comes to up to here, shortened.
    """

    number: int
    at: int
    command: m.Input
    said: Sequence[Any]
    check: str


def write_header(header: Header) -> str:
    """Return what a game is played by, as a journal keeps it."""
    return _json(_header_body(header))


def write_first_line(header: Header, check: str) -> str:
    """Return a transcript's first line; ``check`` tells whether it was changed."""
    return _json({**_header_body(header), "check": check})


def _header_body(header: Header) -> dict[str, Any]:
    body = {
        "transcript": TRANSCRIPT_VERSION,
        "version": header.version,
        "game": header.game,
        "seed": header.seed,
        "rules": rules_body(header.rules),
        "limits": limits_body(header.limits),
    }
    # The games of before have no such field, and must come to the same check.
    return body if header.draw is m.Draw.SEED else {**body, "draw": header.draw.value}


def limits_body(limits: m.Limits) -> dict[str, int]:
    """Return a table's limits as JSON has them."""
    return {name: number for name, number in asdict(limits).items() if number is not None}


def read_header(line: str) -> Header:
    """Read what a game is played by.

    Raises:
        WireError: ``unknown_version`` for a later form than this reader's, else the codes of strict JSON.
    """
    return read_first_line(line)[0]


def read_first_line(line: str) -> tuple[Header, str]:
    """Read a transcript's first line; return its check as well, empty when it has none.

    Raises:
        WireError: see :func:`read_header`.
    """
    value = parse_line(line)
    form = value.get("transcript") if isinstance(value, dict) else None
    if type(form) is int and form > TRANSCRIPT_VERSION:
        writer = str(value.get("version"))[:40]
        raise WireError(
            "unknown_version",
            f"a transcript of form {form}, written by Salvo {writer}; this one reads the forms 1..{TRANSCRIPT_VERSION}",
        )
    body = validate(HeaderBody, value)
    limits = m.Limits(**body.limits.model_dump())
    header = Header(body.version, body.game, body.seed, rules_announced(body.rules), limits, _read_draw(body))
    check = {} if body.check is None else {"check": body.check}
    if not same_value(value, {**_header_body(header), **check}):
        raise WireError("wrong_shape", "the header has a value that it cannot have, such as cells counted from 0")
    return header, body.check or ""


def _read_draw(body: HeaderBody) -> m.Draw:
    if body.draw is None:
        return m.Draw.SEED
    if body.draw != m.Draw.FAIR or not is_hexadecimal(body.seed, 32):
        raise WireError("wrong_shape", "a draw that is named is fair, and its seed is 32 bytes in hexadecimal")
    return m.Draw.FAIR


def is_hexadecimal(text: str, count: int) -> bool:
    """Whether a text is so many bytes in hexadecimal, in small letters."""
    return len(text) == 2 * count and set(text) <= _HEXADECIMAL


def write_step(number: int, at: int, text: str, announcements: Sequence[m.Announcement], check: str) -> str:
    """Return a step's line; ``text`` is the input as :func:`write_input` makes it."""
    return _json({"n": number, "at": at, **json.loads(text), "says": said(announcements), "check": check})


def write_end(steps: int, check: str) -> str:
    """Return a transcript's last line."""
    return _json({"end": {"steps": steps, "check": check}})


def read_line(line: str) -> StepLine | EndBody:
    """Read any line but the first.

    Raises:
        WireError: the codes of strict JSON.
    """
    value = parse_line(line)
    if isinstance(value, dict) and "end" in value:
        return validate(EndLine, value).end
    return _read_step(value)


def _read_step(value: Any) -> StepLine:
    if not isinstance(value, dict) or not value.keys() >= set(STEP_FIELDS):
        raise WireError("wrong_shape", f"a step has {', '.join(STEP_FIELDS)} and one input")
    number, at, says, check = (value.pop(name) for name in STEP_FIELDS)
    if type(number) is not int or type(at) is not int:
        raise WireError("wrong_shape", "n and at are integers")
    if not isinstance(says, list) or not isinstance(check, str):
        raise WireError("wrong_shape", "says is a list, check a text")
    return StepLine(number, at, read_input(value), says, check)


def write_input(command: m.Input) -> str:
    """Return an input as JSON: an object whose one key is the kind."""
    return _INPUT_WRITERS[type(command)](command)


def read_input(value: Any) -> m.Input:
    """Read an input, an object whose one key is the kind.

    Raises:
        WireError: ``wrong_shape``.
    """
    if not isinstance(value, dict) or len(value) != 1 or (kind := next(iter(value))) not in _INPUT_READERS:
        raise WireError("wrong_shape", f"an input has one key of {', '.join(_INPUT_READERS)}")
    return _INPUT_READERS[kind](value[kind])


def parse_line(line: str) -> Any:
    """Read one line of strict JSON.

    Raises:
        WireError: the codes of strict JSON.
    """
    return parse_json(line.encode(), LONGEST_LINE_BYTES, _DEEPEST_LINE)


def said(announcements: Sequence[m.Announcement]) -> list[dict[str, Any]]:
    """Return what the referee said, as JSON values: objects whose one key is the kind.

    A recap, which changes nothing and repeats what was said, is left out.
    """
    return [_SAID[type(each)](each) for each in announcements if not isinstance(each, m.Recap)]


_ENCODER: Final = json.JSONEncoder(separators=(",", ":"))


def _json(value: Any) -> str:
    return _ENCODER.encode(value)


# --- inputs -----------------------------------------------------------------------------------------------------


def _write_fire(c: m.Fire) -> str:
    body: dict[str, Any] = {"player": c.player, "target": c.target, "x": c.x, "y": c.y}
    if c.context is not None:
        context = c.context
        body["context"] = {"game": context.game, "turn": context.turn, "shot": context.shot, "target": context.target}
    return _json({"fire": body})


def _write_leave(c: m.Leave) -> str:
    return _json({"leave": {"player": c.player} if c.game is None else {"player": c.player, "game": c.game}})


def _write_skip(c: m.Skip) -> str:
    body: dict[str, Any] = {"player": c.player}
    if c.context is not None:
        body["context"] = {"game": c.context.game, "turn": c.context.turn}
    return _json({"skip": body})


def _write_place(c: m.PlaceShip) -> str:
    p = c.placement
    body = {
        "player": c.player,
        "spelling": c.spelling,
        "ship": p.ship,
        "x": p.x,
        "y": p.y,
        "orientation": p.orientation.value,
    }
    if c.message:
        body["message"] = c.message.hex()
    return _json({"place": body})


def _write_unreadable(c: m.Unreadable) -> str:
    body = {"player": c.player, "spelling": c.spelling, "code": c.code, "text": c.text[:1000], "proven": c.proven}
    return _json({"unreadable": body})


_INPUT_WRITERS: dict[type, Callable[[Any], str]] = {
    m.Participate: lambda c: _json({"participate": {"name": c.name}}),
    m.Leave: _write_leave,
    m.PlaceShip: _write_place,
    m.Fire: _write_fire,
    m.Skip: _write_skip,
    m.Unreadable: _write_unreadable,
    m.StruckOff: lambda c: _json({"strike": {"name": c.name}}),
    m.TimePassed: lambda c: '{"time":{}}',
    m.Resumed: lambda c: '{"resume":{}}',
    m.TurnDelivered: lambda c: _json({"delivered": {"turn": c.turn}}),
}


def _read_participate(value: Any) -> m.Participate:
    return m.Participate(validate(ParticipateBody, value).name, b"")


def _read_place(value: Any) -> m.PlaceShip:
    body = validate(PlaceBody, value)
    try:
        orientation = Orientation(body.orientation)
    except ValueError:
        raise WireError("wrong_shape", f"orientation {body.orientation[:40]!r}") from None
    if body.message is not None and not is_hexadecimal(body.message, MESSAGE_BYTES):
        raise WireError("wrong_shape", f"a message is {MESSAGE_BYTES} bytes in hexadecimal")
    message = bytes.fromhex(body.message or "")
    return m.PlaceShip(body.player, body.spelling, Placement(body.ship, body.x, body.y, orientation), message)


def _read_fire(value: Any) -> m.Fire:
    body = validate(FireBody, value)
    c = body.context
    context = None if c is None else m.ShotContext(c.game, c.turn, c.shot, c.target)
    return m.Fire(body.player, body.target, body.x, body.y, context)


def _read_leave(value: Any) -> m.Leave:
    body = validate(LeaveInputBody, value)
    return m.Leave(body.player, body.game)


def _read_skip(value: Any) -> m.Skip:
    body = validate(SkipInputBody, value)
    c = body.context
    return m.Skip(body.player, None if c is None else m.TurnContext(c.game, c.turn))


def _read_unreadable(value: Any) -> m.Unreadable:
    body = validate(UnreadableBody, value)
    return m.Unreadable(body.player, body.spelling, body.code, body.text, body.proven)


def _read_strike(value: Any) -> m.StruckOff:
    return m.StruckOff(validate(StrikeBody, value).name)


def _read_time(value: Any) -> m.TimePassed:
    validate(NothingBody, value)
    return m.TimePassed()


def _read_resume(value: Any) -> m.Resumed:
    validate(NothingBody, value)
    return m.Resumed()


def _read_delivered(value: Any) -> m.TurnDelivered:
    return m.TurnDelivered(validate(DeliveredBody, value).turn)


_INPUT_READERS: dict[str, Callable[[Any], m.Input]] = {
    "participate": _read_participate,
    "leave": _read_leave,
    "place": _read_place,
    "fire": _read_fire,
    "skip": _read_skip,
    "unreadable": _read_unreadable,
    "strike": _read_strike,
    "time": _read_time,
    "resume": _read_resume,
    "delivered": _read_delivered,
}


# --- announcements ----------------------------------------------------------------------------------------------


def _plainly(kind: str) -> Callable[[Any], dict[str, Any]]:
    """Write every field of a flat announcement under its own name."""

    def write(announcement: Any) -> dict[str, Any]:
        return {kind: {field.name: getattr(announcement, field.name) for field in fields(announcement)}}

    return write


def _won(a: m.GameWon) -> dict[str, Any]:
    return {"won": {"winner": a.winner, **({"tied": list(a.tied)} if a.tied else {})}}


_SAID: dict[type, Callable[[Any], dict[str, Any]]] = {
    m.TableOpened: _plainly("opened"),
    m.StateChanged: lambda a: {"state": {"state": a.state.value}},
    m.PlayersListed: lambda a: {"players": {"names": list(a.names)}},
    m.PlacementJudged: _plainly("judged"),
    m.SpellingDropped: _plainly("dropped"),
    m.TurnBegan: _plainly("turn"),
    m.TurnResumed: _plainly("turn_resumed"),
    m.SalvoResolved: lambda a: {"result": result_body(a)},
    m.PlayerStats: _plainly("stats"),
    m.GameWon: _won,
    m.BoardShown: _plainly("shown"),
    m.FleetRevealed: lambda a: {"revealed": {"player": a.player, "fleet": fleet_body(a.fleet)}},
    m.ShotGiven: _plainly("given"),
    m.PlayerLeft: _plainly("left"),
    m.GameForgotten: _plainly("forgotten"),
    m.RulesAnnounced: lambda a: {"rules": rules_body(a)},
    m.ShotLanded: _plainly("landed"),
    m.PlacementRefused: _plainly("placement_refused"),
    m.CommandRefused: _plainly("refused"),
}
