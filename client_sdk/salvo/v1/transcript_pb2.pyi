from salvo.v1 import announcements_pb2 as _announcements_pb2
from salvo.v1 import commands_pb2 as _commands_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TranscriptHeader(_message.Message):
    __slots__ = ("transcript", "version", "game", "seed", "rules", "limits", "check", "draw")
    TRANSCRIPT_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    GAME_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    CHECK_FIELD_NUMBER: _ClassVar[int]
    DRAW_FIELD_NUMBER: _ClassVar[int]
    transcript: int
    version: str
    game: int
    seed: str
    rules: _announcements_pb2.Rules
    limits: TranscriptLimits
    check: str
    draw: str
    def __init__(self, transcript: _Optional[int] = ..., version: _Optional[str] = ..., game: _Optional[int] = ..., seed: _Optional[str] = ..., rules: _Optional[_Union[_announcements_pb2.Rules, _Mapping]] = ..., limits: _Optional[_Union[TranscriptLimits, _Mapping]] = ..., check: _Optional[str] = ..., draw: _Optional[str] = ...) -> None: ...

class TranscriptLimits(_message.Message):
    __slots__ = ("players", "placement_ms", "turn_ms", "over_ms", "empty_turns", "most_players", "bank_ms", "increment_ms", "absent_ms", "pace_ms", "teams", "by_host", "held")
    PLAYERS_FIELD_NUMBER: _ClassVar[int]
    PLACEMENT_MS_FIELD_NUMBER: _ClassVar[int]
    TURN_MS_FIELD_NUMBER: _ClassVar[int]
    OVER_MS_FIELD_NUMBER: _ClassVar[int]
    EMPTY_TURNS_FIELD_NUMBER: _ClassVar[int]
    MOST_PLAYERS_FIELD_NUMBER: _ClassVar[int]
    BANK_MS_FIELD_NUMBER: _ClassVar[int]
    INCREMENT_MS_FIELD_NUMBER: _ClassVar[int]
    ABSENT_MS_FIELD_NUMBER: _ClassVar[int]
    PACE_MS_FIELD_NUMBER: _ClassVar[int]
    TEAMS_FIELD_NUMBER: _ClassVar[int]
    BY_HOST_FIELD_NUMBER: _ClassVar[int]
    HELD_FIELD_NUMBER: _ClassVar[int]
    players: int
    placement_ms: int
    turn_ms: int
    over_ms: int
    empty_turns: int
    most_players: int
    bank_ms: int
    increment_ms: int
    absent_ms: int
    pace_ms: int
    teams: _containers.RepeatedScalarFieldContainer[str]
    by_host: bool
    held: bool
    def __init__(self, players: _Optional[int] = ..., placement_ms: _Optional[int] = ..., turn_ms: _Optional[int] = ..., over_ms: _Optional[int] = ..., empty_turns: _Optional[int] = ..., most_players: _Optional[int] = ..., bank_ms: _Optional[int] = ..., increment_ms: _Optional[int] = ..., absent_ms: _Optional[int] = ..., pace_ms: _Optional[int] = ..., teams: _Optional[_Iterable[str]] = ..., by_host: bool = ..., held: bool = ...) -> None: ...

class ParticipateInput(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class StrikeInput(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class LeaveInput(_message.Message):
    __slots__ = ("player", "game")
    PLAYER_FIELD_NUMBER: _ClassVar[int]
    GAME_FIELD_NUMBER: _ClassVar[int]
    player: str
    game: int
    def __init__(self, player: _Optional[str] = ..., game: _Optional[int] = ...) -> None: ...

class PlaceInput(_message.Message):
    __slots__ = ("player", "spelling", "ship", "x", "y", "orientation", "message")
    PLAYER_FIELD_NUMBER: _ClassVar[int]
    SPELLING_FIELD_NUMBER: _ClassVar[int]
    SHIP_FIELD_NUMBER: _ClassVar[int]
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    ORIENTATION_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    player: str
    spelling: str
    ship: str
    x: int
    y: int
    orientation: str
    message: str
    def __init__(self, player: _Optional[str] = ..., spelling: _Optional[str] = ..., ship: _Optional[str] = ..., x: _Optional[int] = ..., y: _Optional[int] = ..., orientation: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class ShotOccasion(_message.Message):
    __slots__ = ("game", "turn", "shot", "target")
    GAME_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    SHOT_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    game: int
    turn: int
    shot: int
    target: str
    def __init__(self, game: _Optional[int] = ..., turn: _Optional[int] = ..., shot: _Optional[int] = ..., target: _Optional[str] = ...) -> None: ...

class FireInput(_message.Message):
    __slots__ = ("player", "target", "x", "y", "context")
    PLAYER_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    player: str
    target: str
    x: int
    y: int
    context: ShotOccasion
    def __init__(self, player: _Optional[str] = ..., target: _Optional[str] = ..., x: _Optional[int] = ..., y: _Optional[int] = ..., context: _Optional[_Union[ShotOccasion, _Mapping]] = ...) -> None: ...

class TurnOccasion(_message.Message):
    __slots__ = ("game", "turn")
    GAME_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    game: int
    turn: int
    def __init__(self, game: _Optional[int] = ..., turn: _Optional[int] = ...) -> None: ...

class SkipInput(_message.Message):
    __slots__ = ("player", "context")
    PLAYER_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    player: str
    context: TurnOccasion
    def __init__(self, player: _Optional[str] = ..., context: _Optional[_Union[TurnOccasion, _Mapping]] = ...) -> None: ...

class UnreadableInput(_message.Message):
    __slots__ = ("player", "spelling", "code", "text", "proven")
    PLAYER_FIELD_NUMBER: _ClassVar[int]
    SPELLING_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    PROVEN_FIELD_NUMBER: _ClassVar[int]
    player: str
    spelling: str
    code: str
    text: str
    proven: bool
    def __init__(self, player: _Optional[str] = ..., spelling: _Optional[str] = ..., code: _Optional[str] = ..., text: _Optional[str] = ..., proven: bool = ...) -> None: ...

class DeliveredInput(_message.Message):
    __slots__ = ("turn",)
    TURN_FIELD_NUMBER: _ClassVar[int]
    turn: int
    def __init__(self, turn: _Optional[int] = ...) -> None: ...

class Nothing(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class TranscriptStep(_message.Message):
    __slots__ = ("n", "at", "participate", "place", "fire", "unreadable", "time", "resume", "skip", "strike", "delivered", "leave", "host", "says", "check")
    N_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    PARTICIPATE_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    FIRE_FIELD_NUMBER: _ClassVar[int]
    UNREADABLE_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    RESUME_FIELD_NUMBER: _ClassVar[int]
    SKIP_FIELD_NUMBER: _ClassVar[int]
    STRIKE_FIELD_NUMBER: _ClassVar[int]
    DELIVERED_FIELD_NUMBER: _ClassVar[int]
    LEAVE_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    SAYS_FIELD_NUMBER: _ClassVar[int]
    CHECK_FIELD_NUMBER: _ClassVar[int]
    n: int
    at: float
    participate: ParticipateInput
    place: PlaceInput
    fire: FireInput
    unreadable: UnreadableInput
    time: Nothing
    resume: Nothing
    skip: SkipInput
    strike: StrikeInput
    delivered: DeliveredInput
    leave: LeaveInput
    host: _commands_pb2.HostCommand
    says: _containers.RepeatedCompositeFieldContainer[Said]
    check: str
    def __init__(self, n: _Optional[int] = ..., at: _Optional[float] = ..., participate: _Optional[_Union[ParticipateInput, _Mapping]] = ..., place: _Optional[_Union[PlaceInput, _Mapping]] = ..., fire: _Optional[_Union[FireInput, _Mapping]] = ..., unreadable: _Optional[_Union[UnreadableInput, _Mapping]] = ..., time: _Optional[_Union[Nothing, _Mapping]] = ..., resume: _Optional[_Union[Nothing, _Mapping]] = ..., skip: _Optional[_Union[SkipInput, _Mapping]] = ..., strike: _Optional[_Union[StrikeInput, _Mapping]] = ..., delivered: _Optional[_Union[DeliveredInput, _Mapping]] = ..., leave: _Optional[_Union[LeaveInput, _Mapping]] = ..., host: _Optional[_Union[_commands_pb2.HostCommand, _Mapping]] = ..., says: _Optional[_Iterable[_Union[Said, _Mapping]]] = ..., check: _Optional[str] = ...) -> None: ...

class Said(_message.Message):
    __slots__ = ("opened", "state", "players", "judged", "dropped", "turn", "turn_resumed", "result", "stats", "won", "left", "forgotten", "rules", "landed", "placement_refused", "refused", "shown", "revealed", "given", "hosted")
    OPENED_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    PLAYERS_FIELD_NUMBER: _ClassVar[int]
    JUDGED_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    TURN_RESUMED_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    STATS_FIELD_NUMBER: _ClassVar[int]
    WON_FIELD_NUMBER: _ClassVar[int]
    LEFT_FIELD_NUMBER: _ClassVar[int]
    FORGOTTEN_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    LANDED_FIELD_NUMBER: _ClassVar[int]
    PLACEMENT_REFUSED_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    SHOWN_FIELD_NUMBER: _ClassVar[int]
    REVEALED_FIELD_NUMBER: _ClassVar[int]
    GIVEN_FIELD_NUMBER: _ClassVar[int]
    HOSTED_FIELD_NUMBER: _ClassVar[int]
    opened: SaidOpened
    state: SaidState
    players: SaidPlayers
    judged: SaidJudged
    dropped: SaidDropped
    turn: _announcements_pb2.Turn
    turn_resumed: _announcements_pb2.Turn
    result: _announcements_pb2.Result
    stats: SaidStats
    won: SaidWon
    left: SaidLeft
    forgotten: Nothing
    rules: _announcements_pb2.Rules
    landed: SaidLanded
    placement_refused: SaidPlacementRefused
    refused: SaidRefused
    shown: SaidShown
    revealed: SaidRevealed
    given: SaidGiven
    hosted: _announcements_pb2.HostActed
    def __init__(self, opened: _Optional[_Union[SaidOpened, _Mapping]] = ..., state: _Optional[_Union[SaidState, _Mapping]] = ..., players: _Optional[_Union[SaidPlayers, _Mapping]] = ..., judged: _Optional[_Union[SaidJudged, _Mapping]] = ..., dropped: _Optional[_Union[SaidDropped, _Mapping]] = ..., turn: _Optional[_Union[_announcements_pb2.Turn, _Mapping]] = ..., turn_resumed: _Optional[_Union[_announcements_pb2.Turn, _Mapping]] = ..., result: _Optional[_Union[_announcements_pb2.Result, _Mapping]] = ..., stats: _Optional[_Union[SaidStats, _Mapping]] = ..., won: _Optional[_Union[SaidWon, _Mapping]] = ..., left: _Optional[_Union[SaidLeft, _Mapping]] = ..., forgotten: _Optional[_Union[Nothing, _Mapping]] = ..., rules: _Optional[_Union[_announcements_pb2.Rules, _Mapping]] = ..., landed: _Optional[_Union[SaidLanded, _Mapping]] = ..., placement_refused: _Optional[_Union[SaidPlacementRefused, _Mapping]] = ..., refused: _Optional[_Union[SaidRefused, _Mapping]] = ..., shown: _Optional[_Union[SaidShown, _Mapping]] = ..., revealed: _Optional[_Union[SaidRevealed, _Mapping]] = ..., given: _Optional[_Union[SaidGiven, _Mapping]] = ..., hosted: _Optional[_Union[_announcements_pb2.HostActed, _Mapping]] = ...) -> None: ...

class SaidOpened(_message.Message):
    __slots__ = ("game",)
    GAME_FIELD_NUMBER: _ClassVar[int]
    game: int
    def __init__(self, game: _Optional[int] = ...) -> None: ...

class SaidState(_message.Message):
    __slots__ = ("state",)
    STATE_FIELD_NUMBER: _ClassVar[int]
    state: str
    def __init__(self, state: _Optional[str] = ...) -> None: ...

class SaidPlayers(_message.Message):
    __slots__ = ("names",)
    NAMES_FIELD_NUMBER: _ClassVar[int]
    names: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, names: _Optional[_Iterable[str]] = ...) -> None: ...

class SaidJudged(_message.Message):
    __slots__ = ("player", "spelling", "approved")
    PLAYER_FIELD_NUMBER: _ClassVar[int]
    SPELLING_FIELD_NUMBER: _ClassVar[int]
    APPROVED_FIELD_NUMBER: _ClassVar[int]
    player: str
    spelling: str
    approved: bool
    def __init__(self, player: _Optional[str] = ..., spelling: _Optional[str] = ..., approved: bool = ...) -> None: ...

class SaidDropped(_message.Message):
    __slots__ = ("player", "spelling")
    PLAYER_FIELD_NUMBER: _ClassVar[int]
    SPELLING_FIELD_NUMBER: _ClassVar[int]
    player: str
    spelling: str
    def __init__(self, player: _Optional[str] = ..., spelling: _Optional[str] = ...) -> None: ...

class SaidStats(_message.Message):
    __slots__ = ("player", "shots", "hits", "sunk", "turns", "place")
    PLAYER_FIELD_NUMBER: _ClassVar[int]
    SHOTS_FIELD_NUMBER: _ClassVar[int]
    HITS_FIELD_NUMBER: _ClassVar[int]
    SUNK_FIELD_NUMBER: _ClassVar[int]
    TURNS_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    player: str
    shots: int
    hits: int
    sunk: int
    turns: int
    place: int
    def __init__(self, player: _Optional[str] = ..., shots: _Optional[int] = ..., hits: _Optional[int] = ..., sunk: _Optional[int] = ..., turns: _Optional[int] = ..., place: _Optional[int] = ...) -> None: ...

class SaidWon(_message.Message):
    __slots__ = ("winner", "tied")
    WINNER_FIELD_NUMBER: _ClassVar[int]
    TIED_FIELD_NUMBER: _ClassVar[int]
    winner: str
    tied: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, winner: _Optional[str] = ..., tied: _Optional[_Iterable[str]] = ...) -> None: ...

class SaidShown(_message.Message):
    __slots__ = ("player", "cells")
    PLAYER_FIELD_NUMBER: _ClassVar[int]
    CELLS_FIELD_NUMBER: _ClassVar[int]
    player: str
    cells: str
    def __init__(self, player: _Optional[str] = ..., cells: _Optional[str] = ...) -> None: ...

class SaidRevealed(_message.Message):
    __slots__ = ("player", "fleet")
    PLAYER_FIELD_NUMBER: _ClassVar[int]
    FLEET_FIELD_NUMBER: _ClassVar[int]
    player: str
    fleet: _containers.RepeatedCompositeFieldContainer[_announcements_pb2.RecapShip]
    def __init__(self, player: _Optional[str] = ..., fleet: _Optional[_Iterable[_Union[_announcements_pb2.RecapShip, _Mapping]]] = ...) -> None: ...

class SaidGiven(_message.Message):
    __slots__ = ("to", "target", "x", "y")
    TO_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    to: str
    target: str
    x: int
    y: int
    def __init__(self, to: _Optional[str] = ..., target: _Optional[str] = ..., x: _Optional[int] = ..., y: _Optional[int] = ...) -> None: ...

class SaidLeft(_message.Message):
    __slots__ = ("player",)
    PLAYER_FIELD_NUMBER: _ClassVar[int]
    player: str
    def __init__(self, player: _Optional[str] = ...) -> None: ...

class SaidLanded(_message.Message):
    __slots__ = ("to", "x", "y")
    TO_FIELD_NUMBER: _ClassVar[int]
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    to: str
    x: int
    y: int
    def __init__(self, to: _Optional[str] = ..., x: _Optional[int] = ..., y: _Optional[int] = ...) -> None: ...

class SaidPlacementRefused(_message.Message):
    __slots__ = ("to", "spelling", "code", "text")
    TO_FIELD_NUMBER: _ClassVar[int]
    SPELLING_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    to: str
    spelling: str
    code: str
    text: str
    def __init__(self, to: _Optional[str] = ..., spelling: _Optional[str] = ..., code: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class SaidRefused(_message.Message):
    __slots__ = ("to", "code", "text")
    TO_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    to: str
    code: str
    text: str
    def __init__(self, to: _Optional[str] = ..., code: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class TranscriptEnd(_message.Message):
    __slots__ = ("end",)
    END_FIELD_NUMBER: _ClassVar[int]
    end: EndOfGame
    def __init__(self, end: _Optional[_Union[EndOfGame, _Mapping]] = ...) -> None: ...

class EndOfGame(_message.Message):
    __slots__ = ("steps", "check")
    STEPS_FIELD_NUMBER: _ClassVar[int]
    CHECK_FIELD_NUMBER: _ClassVar[int]
    steps: int
    check: str
    def __init__(self, steps: _Optional[int] = ..., check: _Optional[str] = ...) -> None: ...
