from salvo.v1 import options_pb2 as _options_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Orientation(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ORIENTATION_UNSPECIFIED: _ClassVar[Orientation]
    HORIZONTAL: _ClassVar[Orientation]
    VERTICAL: _ClassVar[Orientation]
ORIENTATION_UNSPECIFIED: Orientation
HORIZONTAL: Orientation
VERTICAL: Orientation

class Participation(_message.Message):
    __slots__ = ("name", "secret")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SECRET_FIELD_NUMBER: _ClassVar[int]
    name: str
    secret: str
    def __init__(self, name: _Optional[str] = ..., secret: _Optional[str] = ...) -> None: ...

class Placement(_message.Message):
    __slots__ = ("coordinates", "orientation")
    COORDINATES_FIELD_NUMBER: _ClassVar[int]
    ORIENTATION_FIELD_NUMBER: _ClassVar[int]
    coordinates: str
    orientation: Orientation
    def __init__(self, coordinates: _Optional[str] = ..., orientation: _Optional[_Union[Orientation, str]] = ...) -> None: ...

class Shot(_message.Message):
    __slots__ = ("x", "y", "g", "t", "n", "to")
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    G_FIELD_NUMBER: _ClassVar[int]
    T_FIELD_NUMBER: _ClassVar[int]
    N_FIELD_NUMBER: _ClassVar[int]
    TO_FIELD_NUMBER: _ClassVar[int]
    x: int
    y: int
    g: int
    t: int
    n: int
    to: str
    def __init__(self, x: _Optional[int] = ..., y: _Optional[int] = ..., g: _Optional[int] = ..., t: _Optional[int] = ..., n: _Optional[int] = ..., to: _Optional[str] = ...) -> None: ...

class SignedShot(_message.Message):
    __slots__ = ("data", "payload", "signature")
    DATA_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    data: Shot
    payload: Shot
    signature: str
    def __init__(self, data: _Optional[_Union[Shot, _Mapping]] = ..., payload: _Optional[_Union[Shot, _Mapping]] = ..., signature: _Optional[str] = ...) -> None: ...

class Resend(_message.Message):
    __slots__ = ("log",)
    LOG_FIELD_NUMBER: _ClassVar[int]
    log: int
    def __init__(self, log: _Optional[int] = ...) -> None: ...

class Skip(_message.Message):
    __slots__ = ("g", "t")
    G_FIELD_NUMBER: _ClassVar[int]
    T_FIELD_NUMBER: _ClassVar[int]
    g: int
    t: int
    def __init__(self, g: _Optional[int] = ..., t: _Optional[int] = ...) -> None: ...

class SignedSkip(_message.Message):
    __slots__ = ("data", "payload", "signature")
    DATA_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    data: Skip
    payload: Skip
    signature: str
    def __init__(self, data: _Optional[_Union[Skip, _Mapping]] = ..., payload: _Optional[_Union[Skip, _Mapping]] = ..., signature: _Optional[str] = ...) -> None: ...

class Leave(_message.Message):
    __slots__ = ("g",)
    G_FIELD_NUMBER: _ClassVar[int]
    g: int
    def __init__(self, g: _Optional[int] = ...) -> None: ...

class SignedLeave(_message.Message):
    __slots__ = ("data", "payload", "signature")
    DATA_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    data: Leave
    payload: Leave
    signature: str
    def __init__(self, data: _Optional[_Union[Leave, _Mapping]] = ..., payload: _Optional[_Union[Leave, _Mapping]] = ..., signature: _Optional[str] = ...) -> None: ...

class NextGame(_message.Message):
    __slots__ = ("players", "placement_seconds", "turn_seconds", "over_seconds", "pace_ms", "teams")
    PLAYERS_FIELD_NUMBER: _ClassVar[int]
    PLACEMENT_SECONDS_FIELD_NUMBER: _ClassVar[int]
    TURN_SECONDS_FIELD_NUMBER: _ClassVar[int]
    OVER_SECONDS_FIELD_NUMBER: _ClassVar[int]
    PACE_MS_FIELD_NUMBER: _ClassVar[int]
    TEAMS_FIELD_NUMBER: _ClassVar[int]
    players: int
    placement_seconds: int
    turn_seconds: int
    over_seconds: int
    pace_ms: int
    teams: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, players: _Optional[int] = ..., placement_seconds: _Optional[int] = ..., turn_seconds: _Optional[int] = ..., over_seconds: _Optional[int] = ..., pace_ms: _Optional[int] = ..., teams: _Optional[_Iterable[str]] = ...) -> None: ...

class HostCommand(_message.Message):
    __slots__ = ("by", "do", "seconds", "team", "text", "game", "settings", "g", "everywhere")
    BY_FIELD_NUMBER: _ClassVar[int]
    DO_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    TEAM_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    GAME_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_FIELD_NUMBER: _ClassVar[int]
    G_FIELD_NUMBER: _ClassVar[int]
    EVERYWHERE_FIELD_NUMBER: _ClassVar[int]
    by: str
    do: str
    seconds: int
    team: str
    text: str
    game: int
    settings: NextGame
    g: int
    everywhere: bool
    def __init__(self, by: _Optional[str] = ..., do: _Optional[str] = ..., seconds: _Optional[int] = ..., team: _Optional[str] = ..., text: _Optional[str] = ..., game: _Optional[int] = ..., settings: _Optional[_Union[NextGame, _Mapping]] = ..., g: _Optional[int] = ..., everywhere: bool = ...) -> None: ...

class SignedHostCommand(_message.Message):
    __slots__ = ("data", "payload", "signature")
    DATA_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    data: HostCommand
    payload: HostCommand
    signature: str
    def __init__(self, data: _Optional[_Union[HostCommand, _Mapping]] = ..., payload: _Optional[_Union[HostCommand, _Mapping]] = ..., signature: _Optional[str] = ...) -> None: ...

class Say(_message.Message):
    __slots__ = ("text", "to")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TO_FIELD_NUMBER: _ClassVar[int]
    text: str
    to: str
    def __init__(self, text: _Optional[str] = ..., to: _Optional[str] = ...) -> None: ...
