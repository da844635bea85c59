"""What the server publishes: writing it, and reading it on a team's side.

One announcement becomes one or more publications, in the order of SALVO-TOPIC-4. What is addressed to one player
goes to topics that this player alone may read.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Final, NamedTuple

from pydantic import Field

from salvo import messages as m
from salvo.chat import check_text
from salvo.errors import SealError, WireError
from salvo.rules import (
    Announce,
    Ending,
    Grid,
    Order,
    Orientation,
    Placement,
    Repeats,
    RuleBook,
    ShipClass,
    Shots,
    Sinkings,
    Spacing,
    Starter,
    Targets,
    check_room,
    generator,
)
from salvo.rules.book import LARGEST_SIDE
from salvo.seal import KEY_BYTES, read_base64, seal_for_server
from salvo.topics import BY_NAME, Address, check_name
from salvo.wire.commands import placement_body, read_coordinates
from salvo.wire.strict_json import Strict, parse_json, read_text, validate

#: The rules of a large fleet and a recap of a long game are bigger than any command.
LARGEST_ANNOUNCEMENT_BYTES: Final = 64 * 1024


class Publication(NamedTuple):
    """One MQTT message to publish; an empty retained payload clears the topic."""

    topic: str
    payload: bytes
    retain: bool


#: Made once: ``json.dumps`` makes an encoder at every call that asks for other separators.
_ENCODER: Final = json.JSONEncoder(separators=(",", ":"))


def encode_json(value: Any) -> bytes:
    """Return a value's JSON text, without white space."""
    return _ENCODER.encode(value).encode()


def write_announcement(announcement: m.Announcement, table: str = "") -> list[Publication]:
    """Return the publications of an announcement.

    A :class:`~salvo.messages.Recap` is sealed for its reader and therefore written by :func:`salvo.wire.write_recap`;
    what leaves a table (``PlayerLeft``, ``GameForgotten``) depends on what is retained, which the publisher knows.
    """
    return [
        Publication(BY_NAME[name].of(table, player=player, ship=ship), payload, BY_NAME[name].retained)
        for name, player, ship, payload in _WRITERS[type(announcement)](announcement)
    ]


_Part = tuple[str, str, str, bytes]  # topic's name, player, ship, payload


def _state(a: m.StateChanged) -> list[_Part]:
    return [("state", "", "", a.state.value.encode())]


def _players(a: m.PlayersListed) -> list[_Part]:
    return [("count", "", "", str(len(a.names)).encode()), ("list", "", "", encode_json(list(a.names)))]


def _judged(a: m.PlacementJudged) -> list[_Part]:
    return [("approved", a.player, a.spelling, b"true" if a.approved else b"false")]


def _dropped(a: m.SpellingDropped) -> list[_Part]:
    return [("approved", a.player, a.spelling, b"")]


def _turn_part(a: m.TurnBegan | m.TurnResumed) -> _Part:
    body = {
        "game": a.game,
        "turn": a.turn,
        "player": a.player,
        "shots": a.shots,
        "now": a.now,
        "deadline": a.deadline,
    }
    return ("turn", "", "", encode_json(body))


def _turn(a: m.TurnBegan) -> list[_Part]:
    return [_turn_part(a), ("current", "", "", a.player.encode())]


def _resumed(a: m.TurnResumed) -> list[_Part]:
    """Not ``current``, which a client of the plain specification would answer with another salvo."""
    return [_turn_part(a)]


def _salvo(a: m.SalvoResolved) -> list[_Part]:
    parts = [("hits", "", "", str(a.hits).encode()), ("result", "", "", encode_json(result_body(a)))]
    for ship in a.sunk:
        parts += [(name, ship.player, ship.spelling, b"true") for name in ("sunk", "sunk_as_printed")]
    for player in a.defeated:
        parts += [(name, player, "", b"true") for name in ("defeated", "defeated_as_printed")]
    return parts


def result_body(a: m.SalvoResolved) -> dict[str, Any]:
    """Return a salvo's result as JSON has it."""
    body: dict[str, Any] = {
        "game": a.game,
        "turn": a.turn,
        "player": a.player,
        "shots": a.shots,
        "hits": a.hits,
        "sunk": [{"player": ship.player, "ship": ship.ship} for ship in a.sunk],
        "defeated": list(a.defeated),
    }
    if a.outcomes is not None:
        body["outcomes"] = list(a.outcomes)
    if a.aims is not None:
        body["aims"] = [{"to": target, "x": x, "y": y} for target, x, y in a.aims]
    return body


def _shown(a: m.BoardShown) -> list[_Part]:
    return [("board", a.player, "", a.cells.encode())]


def fleet_body(fleet: Iterable[Placement]) -> list[dict[str, str]]:
    """Return ships on their places as JSON has them."""
    return [{"ship": place.ship, **placement_body(place)} for place in fleet]


def _revealed(a: m.FleetRevealed) -> list[_Part]:
    return [("fleet", a.player, "", encode_json({"fleet": fleet_body(a.fleet)}))]


def stats_body(a: m.PlayerStats) -> dict[str, int]:
    """Return a player's figures as JSON has them."""
    return {"shots": a.shots, "hits": a.hits, "sunk": a.sunk, "turns": a.turns, "place": a.place}


def _stats(a: m.PlayerStats) -> list[_Part]:
    return [("stats", a.player, "", encode_json(stats_body(a)))]


def _won(a: m.GameWon) -> list[_Part]:
    return [("winner", "", "", encode_json(list(a.tied)) if a.tied else a.winner.encode())]


def _landed(a: m.ShotLanded) -> list[_Part]:
    return [("hit", a.to, "", b'{"x": %d, "y": %d}' % (a.x, a.y))]


def _placement_refused(a: m.PlacementRefused) -> list[_Part]:
    return [("placement_error", a.to, a.spelling, f"{a.code}: {a.text}".encode())]


def _refused(a: m.CommandRefused) -> list[_Part]:
    return [("error", a.to, "", f"{a.code}: {a.text}".encode())]


def rules_body(a: m.RulesAnnounced) -> dict[str, Any]:
    """Return a table's rules as JSON has them."""
    body = {
        **_always_told(a.book),
        "placement_seconds": a.placement_seconds,
        "turn_seconds": a.turn_seconds,
        "over_seconds": a.over_seconds,
        "empty_turns": a.empty_turns,
        "table": a.table,
    }
    bank = {"bank_seconds": a.bank_seconds, "increment_seconds": a.increment_seconds}
    return body | _unlike_salvo(a.book) | {key: value for key, value in bank.items() if value is not None}


def book_body(book: RuleBook) -> dict[str, Any]:
    """Return a rule book as JSON has it, without a table's time limits."""
    return _always_told(book) | _unlike_salvo(book)


def _always_told(book: RuleBook) -> dict[str, Any]:
    return {
        "rules": book.name,
        "width": book.grid.width,
        "height": book.grid.height,
        "first": 1,
        "fleet": {ship.name: ship.length for ship in book.fleet},
        "spacing": book.spacing.value,
        "shots": book.shots.value,
        "order": book.order.value,
        "announce": book.announce.value,
        "ending": book.ending.value,
        "starter": book.starter.value,
    }


def _unlike_salvo(book: RuleBook) -> dict[str, Any]:
    """Salvo has none of these, and its rules read as they always did."""
    unlike_salvo: dict[str, Any] = {
        "sinkings": book.sinkings.value if book.sinkings is not Sinkings.TOLD else None,
        "targets": book.targets.value if book.targets is not Targets.EVERYBODY else None,
        "repeats": book.repeats.value if book.repeats is not Repeats.HIT else None,
        "goal": book.goal,
        "reveal": book.reveal or None,
        "skipping": book.skipping or None,
    }
    return {key: value for key, value in unlike_salvo.items() if value is not None}


def _rules(a: m.RulesAnnounced) -> list[_Part]:
    return [("rules", "", "", encode_json(rules_body(a)))]


def _server(a: m.ServerStatus) -> list[_Part]:
    body: dict[str, Any] = {"version": a.version, "game": a.game, "profile": a.profile}
    status = "paused" if a.paused else "online" if a.online else "offline"
    first = {"status_topic": a.status_topic} if a.status_topic else {"status": status}
    if a.keys is not None:
        keys = {"sign": a.keys.sign, "seal": a.keys.seal}
        body["keys"] = {use: base64.b64encode(key).decode() for use, key in keys.items()}
    if not a.chat:
        body["chat"] = False  # absent where it is on: a client that knows no chat reads the status as it always did
    return [("server", "", "", encode_json(first | body))]


def referee_body(a: m.RefereeView) -> dict[str, Any]:
    """Return the referee's view as JSON has it."""
    body: dict[str, Any] = {
        "game": a.game,
        "turn": a.turn,
        "at": a.at,
        "player": a.player,
        "shots": a.shots,
        "boards": [
            {"player": each.player, "rows": list(each.rows), "shots": each.shots, "hits": each.hits, "out": each.out}
            for each in a.boards
        ],
    }
    if a.last is not None:
        shots = [{"to": shot.target, "x": shot.x, "y": shot.y, "hit": shot.hit} for shot in a.last.shots]
        body["last"] = {"player": a.last.player, "shots": shots}
    if a.winner:
        body["winner"] = a.winner
    if a.tied:
        body["tied"] = list(a.tied)
    return body


def _referee(a: m.RefereeView) -> list[_Part]:
    return [("referee", "", "", encode_json(referee_body(a)))]


def _line_part(topic: str, reader: str, a: m.ChatSaid | m.MessageSaid) -> list[_Part]:
    return [(topic, reader, "", encode_json({"from": a.sender, "text": a.text}))]


def _chat(a: m.ChatSaid) -> list[_Part]:
    return _line_part("chat", "", a)


def _message(a: m.MessageSaid) -> list[_Part]:
    return _line_part("message", a.to, a)


_WRITERS: dict[type, Callable[[Any], list[_Part]]] = {
    m.StateChanged: _state,
    m.PlayersListed: _players,
    m.PlacementJudged: _judged,
    m.SpellingDropped: _dropped,
    m.TurnBegan: _turn,
    m.TurnResumed: _resumed,
    m.SalvoResolved: _salvo,
    m.BoardShown: _shown,
    m.FleetRevealed: _revealed,
    m.PlayerStats: _stats,
    m.GameWon: _won,
    m.ShotLanded: _landed,
    m.ShotGiven: lambda a: [],  # nothing is said on the way to the end of a round
    m.PlacementRefused: _placement_refused,
    m.CommandRefused: _refused,
    m.RulesAnnounced: _rules,
    m.ServerStatus: _server,
    m.RefereeView: _referee,
    m.ChatSaid: _chat,
    m.MessageSaid: _message,
}


# --- reading ----------------------------------------------------------------------------------------------------

_Count = Annotated[int, Field(ge=0)]
#: A row of the referee's view (SALVO-VIEW-5).
_Row = Annotated[str, Field(pattern=r"^[.*A-Za-z]+$", max_length=LARGEST_SIDE)]


class _TurnBody(Strict):
    game: _Count
    turn: _Count
    player: str
    shots: _Count
    now: _Count
    deadline: _Count


class _SunkBody(Strict):
    player: str
    ship: str


class _AimBody(Strict):
    to: str
    x: _Count
    y: _Count


class ResultBody(Strict):
    """What ``/game/result`` carries."""

    game: _Count
    turn: _Count
    player: str
    shots: _Count
    hits: _Count
    sunk: list[_SunkBody]
    defeated: list[str]
    outcomes: list[bool] | None = None
    aims: list[_AimBody] | None = None


class StatsBody(Strict):
    """What ``/game/stats/<p>`` carries."""

    shots: _Count
    hits: _Count
    sunk: _Count
    turns: _Count
    place: _Count


class _HitBody(Strict):
    x: _Count
    y: _Count


class BookBody(Strict):
    """A rule book."""

    rules: str
    width: _Count
    height: _Count
    first: _Count
    fleet: dict[str, int]
    spacing: str
    shots: str
    order: str
    announce: str
    ending: str
    starter: str
    sinkings: str = Sinkings.TOLD.value
    targets: str = Targets.EVERYBODY.value
    repeats: str = Repeats.HIT.value
    goal: _Count | None = None
    reveal: bool = False
    skipping: bool = False


class RulesBody(BookBody):
    """What ``/game/rules`` carries."""

    placement_seconds: _Count
    turn_seconds: _Count
    over_seconds: _Count
    empty_turns: _Count
    table: str
    bank_seconds: _Count | None = None
    increment_seconds: _Count | None = None


class _KeysBody(Strict):
    sign: str
    seal: str


class _ServerBody(Strict):
    status: str | None = None
    status_topic: str = ""
    version: str
    game: _Count
    profile: str
    keys: _KeysBody | None = None
    chat: bool = True


class _ChatLineBody(Strict):
    sender: Annotated[str, Field(alias="from")]
    text: str


class _AimedShotBody(Strict):
    to: str
    x: Annotated[int, Field(ge=1, le=LARGEST_SIDE)]
    y: Annotated[int, Field(ge=1, le=LARGEST_SIDE)]
    hit: bool


class _RefereeSalvoBody(Strict):
    player: str
    shots: list[_AimedShotBody]


class _RefereeBoardBody(Strict):
    player: str
    rows: Annotated[list[_Row], Field(min_length=1, max_length=LARGEST_SIDE)]
    shots: _Count
    hits: _Count
    out: bool


class _RefereeBody(Strict):
    game: _Count
    turn: _Count
    at: _Count
    player: str
    shots: _Count
    boards: list[_RefereeBoardBody]
    last: _RefereeSalvoBody | None = None
    winner: str = ""
    tied: list[str] = Field(default_factory=list)


class ShipPlace(Strict):
    """A ship of a fleet, on its place."""

    ship: str
    coordinates: str
    orientation: Annotated[str, Field(alias="Orientation")]


class _FleetBody(Strict):
    fleet: list[ShipPlace]


def read_announcement(address: Address, payload: bytes) -> m.Announcement | None:
    """Read what the server published.

    Returns:
        the announcement; None for a cleared topic and for the topics that say again, in the specification's words,
        what another one says in full (count, current, hits, sunk, defeated), and for a recap, which
        :func:`salvo.wire.read_recap` reads once it is opened.

    Raises:
        WireError: the server at the other end is not one of ours.
    """
    reader = _READERS.get(address.topic.name)
    return reader(address, payload) if payload and reader is not None else None


def _body(payload: bytes) -> Any:
    return parse_json(payload, LARGEST_ANNOUNCEMENT_BYTES)


def _read_state(address: Address, payload: bytes) -> m.StateChanged:
    text = read_text(payload)
    if text not in {state.value for state in m.State}:
        raise WireError("wrong_shape", f"state {text[:40]!r}; it is one of {', '.join(m.State)}")
    return m.StateChanged(m.State(text))


def _read_list(address: Address, payload: bytes) -> m.PlayersListed:
    names = _body(payload)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise WireError("wrong_shape", "the list of players is no array of texts")
    return m.PlayersListed(tuple(names))


def _read_turn(address: Address, payload: bytes) -> m.TurnBegan:
    body = validate(_TurnBody, _body(payload))
    return m.TurnBegan(body.game, body.turn, body.player, body.shots, body.now, body.deadline)


def _read_result(address: Address, payload: bytes) -> m.SalvoResolved:
    return result_of(validate(ResultBody, _body(payload)))


def result_of(body: ResultBody) -> m.SalvoResolved:
    """Return the salvo's result that a validated body tells.

    Raises:
        WireError: ``wrong_shape`` when its parts don't fit.
    """
    sunk = tuple(m.SunkShip(ship.player, ship.ship, ship.ship) for ship in body.sunk)
    outcomes = None if body.outcomes is None else tuple(body.outcomes)
    aims = None if body.aims is None else tuple((aim.to, aim.x, aim.y) for aim in body.aims)
    if {len(each) for each in (outcomes, aims) if each is not None} - {body.shots}:
        raise WireError("wrong_shape", f"a result of {body.shots} shots tells of more or fewer")
    return m.SalvoResolved(
        body.game, body.turn, body.player, body.shots, body.hits, sunk, tuple(body.defeated), outcomes, aims
    )


def _read_board(address: Address, payload: bytes) -> m.BoardShown:
    return m.BoardShown(address.player, read_text(payload))


def _read_fleet(address: Address, payload: bytes) -> m.FleetRevealed:
    return m.FleetRevealed(address.player, read_fleet(validate(_FleetBody, _body(payload)).fleet))


def read_fleet(ships: Iterable[ShipPlace]) -> tuple[Placement, ...]:
    """Return ships on their places.

    Raises:
        WireError: a place that cannot be read.
    """
    try:
        return tuple(
            Placement(ship.ship, *read_coordinates(ship.coordinates), Orientation(ship.orientation)) for ship in ships
        )
    except ValueError:
        raise WireError("bad_orientation", "a ship of the fleet lies neither HORIZONTAL nor VERTICAL") from None


def _read_stats(address: Address, payload: bytes) -> m.PlayerStats:
    body = validate(StatsBody, _body(payload))
    return m.PlayerStats(address.player, body.shots, body.hits, body.sunk, body.turns, body.place)


def _read_winner(address: Address, payload: bytes) -> m.GameWon:
    """Read a name, or several: no name begins with a bracket (SALVO-NAME-1)."""
    if not payload.startswith(b"["):
        return m.GameWon(read_text(payload))
    return m.GameWon("", _read_list(address, payload).names)


def _read_hit(address: Address, payload: bytes) -> m.ShotLanded:
    body = validate(_HitBody, _body(payload))
    return m.ShotLanded(address.player, body.x, body.y)


def _read_approved(address: Address, payload: bytes) -> m.PlacementJudged:
    return m.PlacementJudged(address.player, address.ship, payload == b"true")


def _code_and_text(payload: bytes) -> tuple[str, str]:
    code, colon, text = read_text(payload).partition(": ")
    return (code, text) if colon else ("", code)


def _read_placement_error(address: Address, payload: bytes) -> m.PlacementRefused:
    return m.PlacementRefused(address.player, address.ship, *_code_and_text(payload))


def _read_error(address: Address, payload: bytes) -> m.CommandRefused:
    return m.CommandRefused(address.player, *_code_and_text(payload))


def _read_rules(address: Address, payload: bytes) -> m.RulesAnnounced:
    """Read the rules of a table; whoever hears them draws a fleet for them next."""
    announced = rules_announced(validate(RulesBody, _body(payload)))
    check_playable(announced.book)
    return announced


def check_playable(book: RuleBook) -> None:
    """Make sure that a fleet can be drawn by a book.

    Raises:
        WireError: ``wrong_shape``.
    """
    try:
        check_room(book, generator("room"))
    except ValueError as error:
        raise _unplayable(error) from None


def _unplayable(error: ValueError) -> WireError:
    return WireError("wrong_shape", f"rules this SDK cannot play: {str(error)[:160]}")


def book_of(body: BookBody) -> RuleBook:
    """Return the rule book that a validated body tells.

    Raises:
        WireError: ``wrong_shape`` when these rules cannot be played.
    """
    try:
        return RuleBook(
            name=body.rules,
            grid=Grid(body.width, body.height),
            fleet=tuple(ShipClass(name, length) for name, length in body.fleet.items()),
            spacing=Spacing(body.spacing),
            shots=Shots(body.shots),
            order=Order(body.order),
            announce=Announce(body.announce),
            ending=Ending(body.ending),
            starter=Starter(body.starter),
            sinkings=Sinkings(body.sinkings),
            targets=Targets(body.targets),
            repeats=Repeats(body.repeats),
            goal=body.goal,
            reveal=body.reveal,
            skipping=body.skipping,
        )
    except ValueError as error:
        raise _unplayable(error) from None


def rules_announced(body: RulesBody) -> m.RulesAnnounced:
    """Return what a validated body says.

    Raises:
        WireError: ``wrong_shape`` when these rules cannot be played.
    """
    times = (body.placement_seconds, body.turn_seconds, body.over_seconds)
    bank = (body.bank_seconds, body.increment_seconds)
    return m.RulesAnnounced(book_of(body), body.table, *times, body.empty_turns, *bank)


def _read_server(address: Address, payload: bytes) -> m.ServerStatus:
    body = validate(_ServerBody, _body(payload))
    online, paused = body.status in ("online", "paused"), body.status == "paused"
    keys = None if body.keys is None else _read_keys(body.keys)
    return m.ServerStatus(online, body.version, body.game, body.profile, body.status_topic, paused, keys, body.chat)


def _read_keys(body: _KeysBody) -> m.ServerKeys:
    keys = m.ServerKeys(_key(body.sign), _key(body.seal))
    try:
        seal_for_server(b"", keys.seal)
    except SealError as error:
        raise WireError("wrong_shape", error.text) from None
    return keys


def _key(text: str) -> bytes:
    key = read_base64(text, "wrong_shape")
    if len(key) != KEY_BYTES:
        raise WireError("wrong_shape", f"a key of {len(key)} bytes; the server's keys have {KEY_BYTES}")
    return key


def _read_referee(address: Address, payload: bytes) -> m.RefereeView:
    body = validate(_RefereeBody, _body(payload))
    if len({len(row) for board in body.boards for row in board.rows}) > 1:
        raise WireError("wrong_shape", "the rows of the referee's boards differ in length")
    boards = tuple(m.RefereeBoard(b.player, tuple(b.rows), b.shots, b.hits, b.out) for b in body.boards)
    last = None
    if body.last is not None:
        shots = tuple(m.AimedShot(shot.to, shot.x, shot.y, shot.hit) for shot in body.last.shots)
        last = m.RefereeSalvo(body.last.player, shots)
    game = (body.game, body.turn, body.at, body.player, body.shots)
    return m.RefereeView(*game, boards, last, body.winner, tuple(body.tied))


def _read_line(payload: bytes) -> tuple[str, str]:
    """Return sender and text; on an open broker anybody may have written them, also for a terminal's sake."""
    body = validate(_ChatLineBody, _body(payload))
    check_text(body.text)
    return check_name(body.sender, "player") if body.sender else "", body.text


def _read_chat(address: Address, payload: bytes) -> m.ChatSaid:
    return m.ChatSaid(*_read_line(payload))


def _read_message(address: Address, payload: bytes) -> m.MessageSaid:
    return m.MessageSaid(address.player, *_read_line(payload))


_READERS: dict[str, Callable[[Address, bytes], m.Announcement]] = {
    "state": _read_state,
    "list": _read_list,
    "turn": _read_turn,
    "result": _read_result,
    "stats": _read_stats,
    "winner": _read_winner,
    "board": _read_board,
    "fleet": _read_fleet,
    "hit": _read_hit,
    "approved": _read_approved,
    "placement_error": _read_placement_error,
    "error": _read_error,
    "rules": _read_rules,
    "server": _read_server,
    "referee": _read_referee,
    "chat": _read_chat,
    "message": _read_message,
}
