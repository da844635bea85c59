from salvo.v1 import commands_pb2 as _commands_pb2
from salvo.v1 import options_pb2 as _options_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Hit(_message.Message):
    __slots__ = ("x", "y")
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    x: int
    y: int
    def __init__(self, x: _Optional[int] = ..., y: _Optional[int] = ...) -> None: ...

class Turn(_message.Message):
    __slots__ = ("game", "turn", "player", "shots", "now", "deadline")
    GAME_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    PLAYER_FIELD_NUMBER: _ClassVar[int]
    SHOTS_FIELD_NUMBER: _ClassVar[int]
    NOW_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_FIELD_NUMBER: _ClassVar[int]
    game: int
    turn: int
    player: str
    shots: int
    now: float
    deadline: float
    def __init__(self, game: _Optional[int] = ..., turn: _Optional[int] = ..., player: _Optional[str] = ..., shots: _Optional[int] = ..., now: _Optional[float] = ..., deadline: _Optional[float] = ...) -> None: ...

class Result(_message.Message):
    __slots__ = ("game", "turn", "player", "shots", "hits", "sunk", "defeated", "outcomes", "aims")
    GAME_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    PLAYER_FIELD_NUMBER: _ClassVar[int]
    SHOTS_FIELD_NUMBER: _ClassVar[int]
    HITS_FIELD_NUMBER: _ClassVar[int]
    SUNK_FIELD_NUMBER: _ClassVar[int]
    DEFEATED_FIELD_NUMBER: _ClassVar[int]
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    AIMS_FIELD_NUMBER: _ClassVar[int]
    game: int
    turn: int
    player: str
    shots: int
    hits: int
    sunk: _containers.RepeatedCompositeFieldContainer[SunkShip]
    defeated: _containers.RepeatedScalarFieldContainer[str]
    outcomes: _containers.RepeatedScalarFieldContainer[bool]
    aims: _containers.RepeatedCompositeFieldContainer[Aim]
    def __init__(self, game: _Optional[int] = ..., turn: _Optional[int] = ..., player: _Optional[str] = ..., shots: _Optional[int] = ..., hits: _Optional[int] = ..., sunk: _Optional[_Iterable[_Union[SunkShip, _Mapping]]] = ..., defeated: _Optional[_Iterable[str]] = ..., outcomes: _Optional[_Iterable[bool]] = ..., aims: _Optional[_Iterable[_Union[Aim, _Mapping]]] = ...) -> None: ...

class Aim(_message.Message):
    __slots__ = ("to", "x", "y")
    TO_FIELD_NUMBER: _ClassVar[int]
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    to: str
    x: int
    y: int
    def __init__(self, to: _Optional[str] = ..., x: _Optional[int] = ..., y: _Optional[int] = ...) -> None: ...

class Fleet(_message.Message):
    __slots__ = ("fleet",)
    FLEET_FIELD_NUMBER: _ClassVar[int]
    fleet: _containers.RepeatedCompositeFieldContainer[RecapShip]
    def __init__(self, fleet: _Optional[_Iterable[_Union[RecapShip, _Mapping]]] = ...) -> None: ...

class SunkShip(_message.Message):
    __slots__ = ("player", "ship")
    PLAYER_FIELD_NUMBER: _ClassVar[int]
    SHIP_FIELD_NUMBER: _ClassVar[int]
    player: str
    ship: str
    def __init__(self, player: _Optional[str] = ..., ship: _Optional[str] = ...) -> None: ...

class Stats(_message.Message):
    __slots__ = ("shots", "hits", "sunk", "turns", "place")
    SHOTS_FIELD_NUMBER: _ClassVar[int]
    HITS_FIELD_NUMBER: _ClassVar[int]
    SUNK_FIELD_NUMBER: _ClassVar[int]
    TURNS_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    shots: int
    hits: int
    sunk: int
    turns: int
    place: int
    def __init__(self, shots: _Optional[int] = ..., hits: _Optional[int] = ..., sunk: _Optional[int] = ..., turns: _Optional[int] = ..., place: _Optional[int] = ...) -> None: ...

class Rules(_message.Message):
    __slots__ = ("rules", "width", "height", "first", "fleet", "spacing", "shots", "order", "announce", "ending", "starter", "placement_seconds", "turn_seconds", "over_seconds", "empty_turns", "table", "sinkings", "targets", "repeats", "goal", "reveal", "skipping", "bank_seconds", "increment_seconds")
    class FleetEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    RULES_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    FIRST_FIELD_NUMBER: _ClassVar[int]
    FLEET_FIELD_NUMBER: _ClassVar[int]
    SPACING_FIELD_NUMBER: _ClassVar[int]
    SHOTS_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    ANNOUNCE_FIELD_NUMBER: _ClassVar[int]
    ENDING_FIELD_NUMBER: _ClassVar[int]
    STARTER_FIELD_NUMBER: _ClassVar[int]
    PLACEMENT_SECONDS_FIELD_NUMBER: _ClassVar[int]
    TURN_SECONDS_FIELD_NUMBER: _ClassVar[int]
    OVER_SECONDS_FIELD_NUMBER: _ClassVar[int]
    EMPTY_TURNS_FIELD_NUMBER: _ClassVar[int]
    TABLE_FIELD_NUMBER: _ClassVar[int]
    SINKINGS_FIELD_NUMBER: _ClassVar[int]
    TARGETS_FIELD_NUMBER: _ClassVar[int]
    REPEATS_FIELD_NUMBER: _ClassVar[int]
    GOAL_FIELD_NUMBER: _ClassVar[int]
    REVEAL_FIELD_NUMBER: _ClassVar[int]
    SKIPPING_FIELD_NUMBER: _ClassVar[int]
    BANK_SECONDS_FIELD_NUMBER: _ClassVar[int]
    INCREMENT_SECONDS_FIELD_NUMBER: _ClassVar[int]
    rules: str
    width: int
    height: int
    first: int
    fleet: _containers.ScalarMap[str, int]
    spacing: str
    shots: str
    order: str
    announce: str
    ending: str
    starter: str
    placement_seconds: int
    turn_seconds: int
    over_seconds: int
    empty_turns: int
    table: str
    sinkings: str
    targets: str
    repeats: str
    goal: int
    reveal: bool
    skipping: bool
    bank_seconds: int
    increment_seconds: int
    def __init__(self, rules: _Optional[str] = ..., width: _Optional[int] = ..., height: _Optional[int] = ..., first: _Optional[int] = ..., fleet: _Optional[_Mapping[str, int]] = ..., spacing: _Optional[str] = ..., shots: _Optional[str] = ..., order: _Optional[str] = ..., announce: _Optional[str] = ..., ending: _Optional[str] = ..., starter: _Optional[str] = ..., placement_seconds: _Optional[int] = ..., turn_seconds: _Optional[int] = ..., over_seconds: _Optional[int] = ..., empty_turns: _Optional[int] = ..., table: _Optional[str] = ..., sinkings: _Optional[str] = ..., targets: _Optional[str] = ..., repeats: _Optional[str] = ..., goal: _Optional[int] = ..., reveal: bool = ..., skipping: bool = ..., bank_seconds: _Optional[int] = ..., increment_seconds: _Optional[int] = ...) -> None: ...

class Server(_message.Message):
    __slots__ = ("status", "status_topic", "version", "game", "profile", "keys", "chat", "protocol", "players")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    STATUS_TOPIC_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    GAME_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    KEYS_FIELD_NUMBER: _ClassVar[int]
    CHAT_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    PLAYERS_FIELD_NUMBER: _ClassVar[int]
    status: str
    status_topic: str
    version: str
    game: int
    profile: str
    keys: ServerKeys
    chat: bool
    protocol: Protocol
    players: int
    def __init__(self, status: _Optional[str] = ..., status_topic: _Optional[str] = ..., version: _Optional[str] = ..., game: _Optional[int] = ..., profile: _Optional[str] = ..., keys: _Optional[_Union[ServerKeys, _Mapping]] = ..., chat: bool = ..., protocol: _Optional[_Union[Protocol, _Mapping]] = ..., players: _Optional[int] = ...) -> None: ...

class Protocol(_message.Message):
    __slots__ = ("major", "minor")
    MAJOR_FIELD_NUMBER: _ClassVar[int]
    MINOR_FIELD_NUMBER: _ClassVar[int]
    major: int
    minor: int
    def __init__(self, major: _Optional[int] = ..., minor: _Optional[int] = ...) -> None: ...

class ChatLine(_message.Message):
    __slots__ = ("text",)
    FROM_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    text: str
    def __init__(self, text: _Optional[str] = ..., **kwargs) -> None: ...

class ServerKeys(_message.Message):
    __slots__ = ("sign", "seal")
    SIGN_FIELD_NUMBER: _ClassVar[int]
    SEAL_FIELD_NUMBER: _ClassVar[int]
    sign: str
    seal: str
    def __init__(self, sign: _Optional[str] = ..., seal: _Optional[str] = ...) -> None: ...

class RefereeView(_message.Message):
    __slots__ = ("game", "turn", "at", "player", "shots", "boards", "last", "winner", "tied")
    GAME_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    PLAYER_FIELD_NUMBER: _ClassVar[int]
    SHOTS_FIELD_NUMBER: _ClassVar[int]
    BOARDS_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    WINNER_FIELD_NUMBER: _ClassVar[int]
    TIED_FIELD_NUMBER: _ClassVar[int]
    game: int
    turn: int
    at: float
    player: str
    shots: int
    boards: _containers.RepeatedCompositeFieldContainer[RefereeBoard]
    last: RefereeSalvo
    winner: str
    tied: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, game: _Optional[int] = ..., turn: _Optional[int] = ..., at: _Optional[float] = ..., player: _Optional[str] = ..., shots: _Optional[int] = ..., boards: _Optional[_Iterable[_Union[RefereeBoard, _Mapping]]] = ..., last: _Optional[_Union[RefereeSalvo, _Mapping]] = ..., winner: _Optional[str] = ..., tied: _Optional[_Iterable[str]] = ...) -> None: ...

class RefereeBoard(_message.Message):
    __slots__ = ("player", "rows", "shots", "hits", "out")
    PLAYER_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    SHOTS_FIELD_NUMBER: _ClassVar[int]
    HITS_FIELD_NUMBER: _ClassVar[int]
    OUT_FIELD_NUMBER: _ClassVar[int]
    player: str
    rows: _containers.RepeatedScalarFieldContainer[str]
    shots: int
    hits: int
    out: bool
    def __init__(self, player: _Optional[str] = ..., rows: _Optional[_Iterable[str]] = ..., shots: _Optional[int] = ..., hits: _Optional[int] = ..., out: bool = ...) -> None: ...

class RefereeSalvo(_message.Message):
    __slots__ = ("player", "shots")
    PLAYER_FIELD_NUMBER: _ClassVar[int]
    SHOTS_FIELD_NUMBER: _ClassVar[int]
    player: str
    shots: _containers.RepeatedCompositeFieldContainer[AimedShot]
    def __init__(self, player: _Optional[str] = ..., shots: _Optional[_Iterable[_Union[AimedShot, _Mapping]]] = ...) -> None: ...

class AimedShot(_message.Message):
    __slots__ = ("to", "x", "y", "hit")
    TO_FIELD_NUMBER: _ClassVar[int]
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    HIT_FIELD_NUMBER: _ClassVar[int]
    to: str
    x: int
    y: int
    hit: bool
    def __init__(self, to: _Optional[str] = ..., x: _Optional[int] = ..., y: _Optional[int] = ..., hit: bool = ...) -> None: ...

class Standings(_message.Message):
    __slots__ = ("evening", "overall")
    EVENING_FIELD_NUMBER: _ClassVar[int]
    OVERALL_FIELD_NUMBER: _ClassVar[int]
    evening: StandingsTable
    overall: StandingsTable
    def __init__(self, evening: _Optional[_Union[StandingsTable, _Mapping]] = ..., overall: _Optional[_Union[StandingsTable, _Mapping]] = ...) -> None: ...

class StandingsTable(_message.Message):
    __slots__ = ("since", "until", "games", "teams", "rows", "uncounted")
    SINCE_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    GAMES_FIELD_NUMBER: _ClassVar[int]
    TEAMS_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    UNCOUNTED_FIELD_NUMBER: _ClassVar[int]
    since: float
    until: float
    games: int
    teams: int
    rows: _containers.RepeatedCompositeFieldContainer[Standing]
    uncounted: _containers.RepeatedCompositeFieldContainer[UncountedGame]
    def __init__(self, since: _Optional[float] = ..., until: _Optional[float] = ..., games: _Optional[int] = ..., teams: _Optional[int] = ..., rows: _Optional[_Iterable[_Union[Standing, _Mapping]]] = ..., uncounted: _Optional[_Iterable[_Union[UncountedGame, _Mapping]]] = ...) -> None: ...

class Standing(_message.Message):
    __slots__ = ("place", "team", "points", "games", "wins", "ties", "losses", "opposition", "shots", "hits", "rating", "low", "high")
    PLACE_FIELD_NUMBER: _ClassVar[int]
    TEAM_FIELD_NUMBER: _ClassVar[int]
    POINTS_FIELD_NUMBER: _ClassVar[int]
    GAMES_FIELD_NUMBER: _ClassVar[int]
    WINS_FIELD_NUMBER: _ClassVar[int]
    TIES_FIELD_NUMBER: _ClassVar[int]
    LOSSES_FIELD_NUMBER: _ClassVar[int]
    OPPOSITION_FIELD_NUMBER: _ClassVar[int]
    SHOTS_FIELD_NUMBER: _ClassVar[int]
    HITS_FIELD_NUMBER: _ClassVar[int]
    RATING_FIELD_NUMBER: _ClassVar[int]
    LOW_FIELD_NUMBER: _ClassVar[int]
    HIGH_FIELD_NUMBER: _ClassVar[int]
    place: int
    team: str
    points: int
    games: int
    wins: int
    ties: int
    losses: int
    opposition: int
    shots: int
    hits: int
    rating: int
    low: int
    high: int
    def __init__(self, place: _Optional[int] = ..., team: _Optional[str] = ..., points: _Optional[int] = ..., games: _Optional[int] = ..., wins: _Optional[int] = ..., ties: _Optional[int] = ..., losses: _Optional[int] = ..., opposition: _Optional[int] = ..., shots: _Optional[int] = ..., hits: _Optional[int] = ..., rating: _Optional[int] = ..., low: _Optional[int] = ..., high: _Optional[int] = ...) -> None: ...

class UncountedGame(_message.Message):
    __slots__ = ("table", "game", "at", "by")
    TABLE_FIELD_NUMBER: _ClassVar[int]
    GAME_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    table: str
    game: int
    at: float
    by: str
    def __init__(self, table: _Optional[str] = ..., game: _Optional[int] = ..., at: _Optional[float] = ..., by: _Optional[str] = ...) -> None: ...

class Evening(_message.Message):
    __slots__ = ("by", "name", "round", "rounds", "over", "teams", "left", "matches", "rows", "phase", "at", "resumes", "silent", "began", "last", "withdrawn", "badges", "missing", "begins")
    class BadgesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    BY_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ROUND_FIELD_NUMBER: _ClassVar[int]
    ROUNDS_FIELD_NUMBER: _ClassVar[int]
    OVER_FIELD_NUMBER: _ClassVar[int]
    TEAMS_FIELD_NUMBER: _ClassVar[int]
    LEFT_FIELD_NUMBER: _ClassVar[int]
    MATCHES_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    RESUMES_FIELD_NUMBER: _ClassVar[int]
    SILENT_FIELD_NUMBER: _ClassVar[int]
    BEGAN_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    WITHDRAWN_FIELD_NUMBER: _ClassVar[int]
    BADGES_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    BEGINS_FIELD_NUMBER: _ClassVar[int]
    by: str
    name: str
    round: int
    rounds: int
    over: bool
    teams: int
    left: int
    matches: _containers.RepeatedCompositeFieldContainer[LeagueMatch]
    rows: _containers.RepeatedCompositeFieldContainer[LeagueStanding]
    phase: str
    at: float
    resumes: str
    silent: bool
    began: int
    last: int
    withdrawn: _containers.RepeatedScalarFieldContainer[str]
    badges: _containers.ScalarMap[str, int]
    missing: _containers.RepeatedScalarFieldContainer[str]
    begins: float
    def __init__(self, by: _Optional[str] = ..., name: _Optional[str] = ..., round: _Optional[int] = ..., rounds: _Optional[int] = ..., over: bool = ..., teams: _Optional[int] = ..., left: _Optional[int] = ..., matches: _Optional[_Iterable[_Union[LeagueMatch, _Mapping]]] = ..., rows: _Optional[_Iterable[_Union[LeagueStanding, _Mapping]]] = ..., phase: _Optional[str] = ..., at: _Optional[float] = ..., resumes: _Optional[str] = ..., silent: bool = ..., began: _Optional[int] = ..., last: _Optional[int] = ..., withdrawn: _Optional[_Iterable[str]] = ..., badges: _Optional[_Mapping[str, int]] = ..., missing: _Optional[_Iterable[str]] = ..., begins: _Optional[float] = ...) -> None: ...

class League(_message.Message):
    __slots__ = ("by", "name", "round", "rounds", "over", "teams", "left", "matches", "rows", "begins")
    BY_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ROUND_FIELD_NUMBER: _ClassVar[int]
    ROUNDS_FIELD_NUMBER: _ClassVar[int]
    OVER_FIELD_NUMBER: _ClassVar[int]
    TEAMS_FIELD_NUMBER: _ClassVar[int]
    LEFT_FIELD_NUMBER: _ClassVar[int]
    MATCHES_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    BEGINS_FIELD_NUMBER: _ClassVar[int]
    by: str
    name: str
    round: int
    rounds: int
    over: bool
    teams: int
    left: int
    matches: _containers.RepeatedCompositeFieldContainer[LeagueMatch]
    rows: _containers.RepeatedCompositeFieldContainer[LeagueStanding]
    begins: float
    def __init__(self, by: _Optional[str] = ..., name: _Optional[str] = ..., round: _Optional[int] = ..., rounds: _Optional[int] = ..., over: bool = ..., teams: _Optional[int] = ..., left: _Optional[int] = ..., matches: _Optional[_Iterable[_Union[LeagueMatch, _Mapping]]] = ..., rows: _Optional[_Iterable[_Union[LeagueStanding, _Mapping]]] = ..., begins: _Optional[float] = ...) -> None: ...

class LeagueMatch(_message.Message):
    __slots__ = ("teams", "table", "places")
    TEAMS_FIELD_NUMBER: _ClassVar[int]
    TABLE_FIELD_NUMBER: _ClassVar[int]
    PLACES_FIELD_NUMBER: _ClassVar[int]
    teams: _containers.RepeatedScalarFieldContainer[str]
    table: str
    places: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, teams: _Optional[_Iterable[str]] = ..., table: _Optional[str] = ..., places: _Optional[_Iterable[int]] = ...) -> None: ...

class LeagueStanding(_message.Message):
    __slots__ = ("place", "team", "points", "games", "wins")
    PLACE_FIELD_NUMBER: _ClassVar[int]
    TEAM_FIELD_NUMBER: _ClassVar[int]
    POINTS_FIELD_NUMBER: _ClassVar[int]
    GAMES_FIELD_NUMBER: _ClassVar[int]
    WINS_FIELD_NUMBER: _ClassVar[int]
    place: int
    team: str
    points: int
    games: int
    wins: int
    def __init__(self, place: _Optional[int] = ..., team: _Optional[str] = ..., points: _Optional[int] = ..., games: _Optional[int] = ..., wins: _Optional[int] = ...) -> None: ...

class Recap(_message.Message):
    __slots__ = ("game", "turn", "players", "fleet", "first", "results", "sunk", "defeated", "shots", "hits", "outcomes", "aims", "before")
    GAME_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    PLAYERS_FIELD_NUMBER: _ClassVar[int]
    FLEET_FIELD_NUMBER: _ClassVar[int]
    FIRST_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    SUNK_FIELD_NUMBER: _ClassVar[int]
    DEFEATED_FIELD_NUMBER: _ClassVar[int]
    SHOTS_FIELD_NUMBER: _ClassVar[int]
    HITS_FIELD_NUMBER: _ClassVar[int]
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    AIMS_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    game: int
    turn: int
    players: _containers.RepeatedScalarFieldContainer[str]
    fleet: _containers.RepeatedCompositeFieldContainer[RecapShip]
    first: int
    results: _containers.RepeatedScalarFieldContainer[int]
    sunk: _containers.RepeatedScalarFieldContainer[int]
    defeated: _containers.RepeatedScalarFieldContainer[int]
    shots: _containers.RepeatedScalarFieldContainer[int]
    hits: _containers.RepeatedScalarFieldContainer[int]
    outcomes: str
    aims: _containers.RepeatedScalarFieldContainer[int]
    before: RecapBefore
    def __init__(self, game: _Optional[int] = ..., turn: _Optional[int] = ..., players: _Optional[_Iterable[str]] = ..., fleet: _Optional[_Iterable[_Union[RecapShip, _Mapping]]] = ..., first: _Optional[int] = ..., results: _Optional[_Iterable[int]] = ..., sunk: _Optional[_Iterable[int]] = ..., defeated: _Optional[_Iterable[int]] = ..., shots: _Optional[_Iterable[int]] = ..., hits: _Optional[_Iterable[int]] = ..., outcomes: _Optional[str] = ..., aims: _Optional[_Iterable[int]] = ..., before: _Optional[_Union[RecapBefore, _Mapping]] = ...) -> None: ...

class RecapBefore(_message.Message):
    __slots__ = ("tallies", "sunk", "defeated", "shots", "aimed", "met", "hits", "struck")
    TALLIES_FIELD_NUMBER: _ClassVar[int]
    SUNK_FIELD_NUMBER: _ClassVar[int]
    DEFEATED_FIELD_NUMBER: _ClassVar[int]
    SHOTS_FIELD_NUMBER: _ClassVar[int]
    AIMED_FIELD_NUMBER: _ClassVar[int]
    MET_FIELD_NUMBER: _ClassVar[int]
    HITS_FIELD_NUMBER: _ClassVar[int]
    STRUCK_FIELD_NUMBER: _ClassVar[int]
    tallies: _containers.RepeatedScalarFieldContainer[int]
    sunk: _containers.RepeatedScalarFieldContainer[int]
    defeated: _containers.RepeatedScalarFieldContainer[int]
    shots: int
    aimed: _containers.RepeatedScalarFieldContainer[str]
    met: _containers.RepeatedScalarFieldContainer[str]
    hits: int
    struck: str
    def __init__(self, tallies: _Optional[_Iterable[int]] = ..., sunk: _Optional[_Iterable[int]] = ..., defeated: _Optional[_Iterable[int]] = ..., shots: _Optional[int] = ..., aimed: _Optional[_Iterable[str]] = ..., met: _Optional[_Iterable[str]] = ..., hits: _Optional[int] = ..., struck: _Optional[str] = ...) -> None: ...

class RecapShip(_message.Message):
    __slots__ = ("ship", "coordinates", "orientation")
    SHIP_FIELD_NUMBER: _ClassVar[int]
    COORDINATES_FIELD_NUMBER: _ClassVar[int]
    ORIENTATION_FIELD_NUMBER: _ClassVar[int]
    ship: str
    coordinates: str
    orientation: str
    def __init__(self, ship: _Optional[str] = ..., coordinates: _Optional[str] = ..., orientation: _Optional[str] = ...) -> None: ...

class HostActed(_message.Message):
    __slots__ = ("by", "do", "seconds", "team", "text", "game", "settings", "paused", "everywhere")
    BY_FIELD_NUMBER: _ClassVar[int]
    DO_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    TEAM_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    GAME_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_FIELD_NUMBER: _ClassVar[int]
    PAUSED_FIELD_NUMBER: _ClassVar[int]
    EVERYWHERE_FIELD_NUMBER: _ClassVar[int]
    by: str
    do: str
    seconds: int
    team: str
    text: str
    game: int
    settings: _commands_pb2.NextGame
    paused: bool
    everywhere: bool
    def __init__(self, by: _Optional[str] = ..., do: _Optional[str] = ..., seconds: _Optional[int] = ..., team: _Optional[str] = ..., text: _Optional[str] = ..., game: _Optional[int] = ..., settings: _Optional[_Union[_commands_pb2.NextGame, _Mapping]] = ..., paused: bool = ..., everywhere: bool = ...) -> None: ...
