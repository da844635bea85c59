from salvo.v1 import announcements_pb2 as _announcements_pb2
from salvo.v1 import commands_pb2 as _commands_pb2
from salvo.v1 import options_pb2 as _options_pb2
from salvo.v1 import transcript_pb2 as _transcript_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class LogPayload(_message.Message):
    __slots__ = ("entry", "sign")
    ENTRY_FIELD_NUMBER: _ClassVar[int]
    SIGN_FIELD_NUMBER: _ClassVar[int]
    entry: LogEntry
    sign: str
    def __init__(self, entry: _Optional[_Union[LogEntry, _Mapping]] = ..., sign: _Optional[str] = ...) -> None: ...

class LogEntry(_message.Message):
    __slots__ = ("n", "of", "prev", "open", "step", "reveal", "end")
    N_FIELD_NUMBER: _ClassVar[int]
    OF_FIELD_NUMBER: _ClassVar[int]
    PREV_FIELD_NUMBER: _ClassVar[int]
    OPEN_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    REVEAL_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    n: int
    of: str
    prev: str
    open: LogOpening
    step: LogStep
    reveal: LogReveal
    end: LogEnd
    def __init__(self, n: _Optional[int] = ..., of: _Optional[str] = ..., prev: _Optional[str] = ..., open: _Optional[_Union[LogOpening, _Mapping]] = ..., step: _Optional[_Union[LogStep, _Mapping]] = ..., reveal: _Optional[_Union[LogReveal, _Mapping]] = ..., end: _Optional[_Union[LogEnd, _Mapping]] = ...) -> None: ...

class LogOpening(_message.Message):
    __slots__ = ("log", "game", "rules", "limits", "version", "key", "draw", "seed")
    LOG_FIELD_NUMBER: _ClassVar[int]
    GAME_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    DRAW_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    log: int
    game: int
    rules: _announcements_pb2.Rules
    limits: _transcript_pb2.TranscriptLimits
    version: str
    key: str
    draw: str
    seed: str
    def __init__(self, log: _Optional[int] = ..., game: _Optional[int] = ..., rules: _Optional[_Union[_announcements_pb2.Rules, _Mapping]] = ..., limits: _Optional[_Union[_transcript_pb2.TranscriptLimits, _Mapping]] = ..., version: _Optional[str] = ..., key: _Optional[str] = ..., draw: _Optional[str] = ..., seed: _Optional[str] = ...) -> None: ...

class LogStep(_message.Message):
    __slots__ = ("at", "said", "input", "message", "hidden")
    AT_FIELD_NUMBER: _ClassVar[int]
    SAID_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    HIDDEN_FIELD_NUMBER: _ClassVar[int]
    at: float
    said: _containers.RepeatedCompositeFieldContainer[_transcript_pb2.Said]
    input: LogInput
    message: str
    hidden: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, at: _Optional[float] = ..., said: _Optional[_Iterable[_Union[_transcript_pb2.Said, _Mapping]]] = ..., input: _Optional[_Union[LogInput, _Mapping]] = ..., message: _Optional[str] = ..., hidden: _Optional[_Iterable[str]] = ...) -> None: ...

class LogInput(_message.Message):
    __slots__ = ("participate", "time", "resume", "strike", "delivered", "host")
    PARTICIPATE_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    RESUME_FIELD_NUMBER: _ClassVar[int]
    STRIKE_FIELD_NUMBER: _ClassVar[int]
    DELIVERED_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    participate: _transcript_pb2.ParticipateInput
    time: _transcript_pb2.Nothing
    resume: _transcript_pb2.Nothing
    strike: _transcript_pb2.StrikeInput
    delivered: _transcript_pb2.DeliveredInput
    host: _commands_pb2.HostCommand
    def __init__(self, participate: _Optional[_Union[_transcript_pb2.ParticipateInput, _Mapping]] = ..., time: _Optional[_Union[_transcript_pb2.Nothing, _Mapping]] = ..., resume: _Optional[_Union[_transcript_pb2.Nothing, _Mapping]] = ..., strike: _Optional[_Union[_transcript_pb2.StrikeInput, _Mapping]] = ..., delivered: _Optional[_Union[_transcript_pb2.DeliveredInput, _Mapping]] = ..., host: _Optional[_Union[_commands_pb2.HostCommand, _Mapping]] = ...) -> None: ...

class LogReveal(_message.Message):
    __slots__ = ("first", "seed", "secret", "texts")
    FIRST_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    SECRET_FIELD_NUMBER: _ClassVar[int]
    TEXTS_FIELD_NUMBER: _ClassVar[int]
    first: int
    seed: str
    secret: str
    texts: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, first: _Optional[int] = ..., seed: _Optional[str] = ..., secret: _Optional[str] = ..., texts: _Optional[_Iterable[str]] = ...) -> None: ...

class LogEnd(_message.Message):
    __slots__ = ("steps", "hidden")
    STEPS_FIELD_NUMBER: _ClassVar[int]
    HIDDEN_FIELD_NUMBER: _ClassVar[int]
    steps: int
    hidden: int
    def __init__(self, steps: _Optional[int] = ..., hidden: _Optional[int] = ...) -> None: ...

class SentLine(_message.Message):
    __slots__ = ("sent",)
    SENT_FIELD_NUMBER: _ClassVar[int]
    sent: SentCommand
    def __init__(self, sent: _Optional[_Union[SentCommand, _Mapping]] = ...) -> None: ...

class SentCommand(_message.Message):
    __slots__ = ("team", "topic", "message", "body")
    TEAM_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    team: str
    topic: str
    message: str
    body: SentBody
    def __init__(self, team: _Optional[str] = ..., topic: _Optional[str] = ..., message: _Optional[str] = ..., body: _Optional[_Union[SentBody, _Mapping]] = ...) -> None: ...

class SentBody(_message.Message):
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
