"""Live views of a table, each from what its account may read: the public, a team's screen, the referee (SALVO-VIEW).

A watcher is fed by a connection and has news, as lines for people and as records for programs, and a page for a
terminal. The kinds differ in the topics that they ask for and in what they know of the boards.

Retained messages arrive on every connection, in any order, so each such fact is kept separately, forgotten at a new
connection, and combined with others only for display. What is heard once, such as the shots of a salvo, is kept as long
as it is of the same game.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from salvo import messages as m
from salvo import seal, topics
from salvo.cli.output import places_line
from salvo.codec import announcements
from salvo.codec.announcements import HOSTED, RESULT
from salvo.codec.commands import plain_ship
from salvo.codec.published import read_published
from salvo.codec.recap_reader import read_recap
from salvo.errors import IllegalCommand, SalvoError, SealError, WireError, printable
from salvo.fairness.proof import ProofConnection
from salvo.messages import State
from salvo.net.inbound import Inbound
from salvo.net.mqtt import BrokerUrl
from salvo.rules import SALVO, Fleet, Grid, RuleBook, Sinkings
from salvo.topics import Reader
from salvo_display.pictures.lines import OUT
from salvo_display.pictures.marks import Mark, picture
from salvo_display.replay import ship_letter
from salvo_display.replay_text import won_line
from salvo_display.screen import Board, draw_boards, draw_page, draw_players

#: The view from public topics alone.
EVERYBODY: Final = "everybody"
REFEREE: Final = "referee"
#: Lines of news below the boards.
_NEWS_LINES: Final = 6
#: And what players say, below the news, so that it pushes none of them away.
_CHAT_LINES: Final = 4
#: Retained messages come at once; after silence for this long the watcher reports what is probably wrong.
PATIENCE_SECONDS: Final = 5.0
#: Facts of a kind that are kept: 26 ships of a thousand players. On an open broker any client may make some up.
MAX_FACTS: Final = 26_000


_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

_NO_FLEET: Final = (
    "our fleet and where our bot has fired are not known here: they travel sealed from the bot to the server, which "
    "tells them to its screens only when the bot asks to take part again; restart the bot while this screen is on "
    "(with the team's secret), and it comes back into its game"
)


class WatchError(SalvoError):
    """A view that this account cannot have."""


class News(NamedTuple):
    """What is new: a line for people, empty where another one tells the same later, and a record for programs."""

    line: str
    record: dict[str, Any]


class Credentials(NamedTuple):
    """What a broker asks for at a connection."""

    user: str | None
    secret: str | None


def screen_account(url: BrokerUrl, view: str, team: str | None, secret: str | None) -> Credentials:
    """Return the account to watch with, for :class:`~salvo_server.screen_users.ScreenUsers`.

    Args:
        url: its user and password come first.
        view: a team's name, ``everybody`` or ``referee``.
        team: the user where the URL has none, with ``secret`` for its password.

    Raises:
        WatchError: ``not_your_view``.
    """
    user, word = (url.username, url.password) if url.username else (team, secret)
    own_view = view not in (EVERYBODY, REFEREE)
    if own_view and user is not None and user.partition(".")[0] != view:
        raise WatchError("not_your_view", f"the view of {view!r} is for its own screens; this account is {user!r}")
    if user is None and own_view and secret is not None:
        user, word = view, secret
    return Credentials(user, word)


def _table_of(status_topic: str) -> str:
    """Return the table of a topic to subscribe, which any client of an open broker may have announced: no wildcard."""
    try:
        address = topics.parse(status_topic)
        return topics.check_name(address.table, "table") if address.table else ""
    except WireError:
        return ""


class _Tally(NamedTuple):
    """What was heard of a player's salvos."""

    shots: int
    hits: int
    last: str


_NO_TALLY: Final = _Tally(0, 0, "")


def _keep(facts: dict[_Key, _Value], key: _Key, value: _Value | None) -> None:
    """Keep a fact, or forget it (None)."""
    if value is None:
        facts.pop(key, None)
    elif key in facts or len(facts) < MAX_FACTS:
        facts[key] = value


def _line_said(said: m.ChatSaid | m.MessageSaid) -> News:
    private = isinstance(said, m.MessageSaid)
    line = f"{said.sender or 'the server'} says{' to us' * private}: {said.text}"
    return News(line, {"event": "chat", "from": said.sender, "text": said.text, "private": private})


class Watcher:
    """Follows a table from its public topics.

    Attributes:
        games_ended: how many winners were announced.
    """

    turn: m.TurnBegan | None
    _winner: m.GameWon | None
    _stats: dict[str, m.PlayerStats]
    _sunk: dict[tuple[str, str], bool]  # by player and ship
    _out: dict[str, bool]
    _begun: m.TurnBegan | None
    _last: m.SalvoResolved | None
    _before: tuple[m.TurnBegan | None, m.SalvoResolved | None]  # the last ones of the connection before
    _tallies: dict[str, _Tally]
    _removed: set[str]  # by the host

    def __init__(self, connection: ProofConnection, table: str) -> None:
        """Subscribe to the topics at every connection; nothing is sent before the first :meth:`poll`."""
        self.games_ended = 0
        self.book: RuleBook = SALVO
        self.table = table
        self.state = ""
        self.names: tuple[str, ...] = ()
        self.forget_retained()
        self.forget_heard()
        self._connection = connection
        self._deadline = 0.0
        self._clock_ahead_ms = 0.0  # the server's clock before ours, once a turn has begun before our eyes
        self._news: deque[str] = deque(maxlen=_NEWS_LINES)
        self._chat: deque[str] = deque(maxlen=_CHAT_LINES)
        self._quiet_since: float | None = None
        self._known = False
        self._told: set[str] = set()
        self._online: bool | None = None
        self._state_told = ""
        self._names_told: tuple[str, ...] | None = None
        self._end_told: tuple[m.TurnBegan, m.GameWon] | None = None
        self._end_counted = (0, 0)  # game and turn
        self._status_topic = ""
        self._user = ""  # to be reported when the broker has admitted it
        self._fresh_user: list[News] = []
        connection.on_connect = self._connected

    def filters(self) -> list[str]:
        """Return what is subscribed."""
        public = [topic for topic in topics.TOPICS if topic.reader is Reader.EVERYBODY and topic.retained]
        # Last: a watcher that comes after a game knows the places by then.
        public.sort(key=lambda topic: topic is topics.WINNER)
        own = [topic.filter(self.table) for topic in (*public, topics.CHAT)]
        return [*own, self._status_topic] if self._status_topic else own

    def _connected(self, session_present: bool) -> None:
        self._quiet_since = time.monotonic()
        self.state, self.names = "", ()
        self._before = (self._begun, self._last)
        self.forget_retained()
        self._connection.subscribe(self.filters())
        if self._user:
            user, self._user = self._user, ""
            self._fresh_user.append(News(f"watching as {user} now", {"event": "user", "user": user}))

    def poll(self, timeout_seconds: float) -> list[News]:
        """Return what is new."""
        arrived = self._connection.poll(timeout_seconds)
        news, self._fresh_user = self._fresh_user, []
        for message in arrived:
            self._connection.acknowledge(message)
            news += self._receive(message)
        news += self._warnings()
        # On an open broker any client may publish anything, even what moves a terminal's cursor.
        news = [News(printable(each.line), each.record) for each in news]
        for each in news:
            if each.line:
                (self._chat if each.record["event"] == "chat" else self._news).append(each.line)
        return news

    def change_user(self, user: str) -> None:
        """Look on as another user of the same account; nothing is forgotten."""
        self._connection.change_user(user)
        self._user = user

    def note(self, text: str) -> None:
        """Show among the news what is no event of the table."""
        self._news.append(printable(text))

    def close(self) -> str:
        """Hang up; return whether the proof is whole, where one is written."""
        told = self._connection.finish_proof(self.games_ended)
        self._connection.close()
        return told

    def _receive(self, message: Inbound) -> list[News]:
        heard = read_published(message.topic, message.payload)
        if heard is None:
            return []
        address, announcement = heard
        if isinstance(announcement, (m.ChatSaid, m.MessageSaid)):
            return [] if message.retain else [_line_said(announcement)]
        if isinstance(announcement, m.HostActed):
            return self._host_acted(announcement, retained=message.retain)
        if isinstance(announcement, m.ServerStatus):
            return self._server(announcement, address.table)
        if isinstance(announcement, (m.TurnBegan, m.SalvoResolved)) and message.retain:
            self._come_back_to(announcement)
        if isinstance(announcement, m.TurnBegan):
            self._set_clock(announcement, begun_before=message.retain)
        if announcement is not None:
            return self.take_in(announcement)
        if address.topic is topics.RECAP:
            return self.take_in_sealed(message.payload)
        self.take_in_fact(address, there=message.payload != b"")
        return []

    def take_in_sealed(self, payload: bytes) -> list[News]:
        """Take in a blob for this watcher; this one has no key to any."""
        return []

    # --- what is probably wrong ---------------------------------------------------------------------------------

    def _warnings(self) -> list[News]:
        if self._quiet_since is None or time.monotonic() < self._quiet_since + PATIENCE_SECONDS:
            return []
        return self._tell_once(self.suspicions())

    def _tell_once(self, texts: Iterable[str]) -> list[News]:
        fresh = [text for text in texts if text not in self._told]
        self._told.update(fresh)
        return [News(text, {"event": "notice", "text": text}) for text in fresh]

    def suspicions(self) -> Iterable[str]:
        """Return why nothing arrives, if nothing does; each reason once."""
        if not self._known:
            where = f"table {self.table!r}" if self.table else "the default table"
            yield (
                f"nothing is known of {where} here: no server is on this broker, it has no such table, "
                "or this account may not read its topics"
            )

    # --- news -----------------------------------------------------------------------------------------------------

    def take_in(self, announcement: m.Announcement) -> list[News]:
        """Take in what was announced; return what is new in it."""
        self._known = True
        match announcement:
            case m.RulesAnnounced(book=book):
                self.book = book
            case m.StateChanged(state):
                return self._state_changed(state)
            case m.PlayersListed(names):
                return self._listed(names)
            case m.TurnBegan():
                self._in_game(announcement.game)
                self.turn = self._begun = announcement
                return self._tell_of_the_end()
            case m.SalvoResolved():
                return self._salvo(announcement)
            case m.PlayerStats(player):
                _keep(self._stats, player, announcement)
            case m.GameWon():
                self._winner = announcement
                return self._tell_of_the_end()
            case _:
                pass
        return []

    def take_in_fact(self, address: topics.Address, *, there: bool) -> None:
        """Take in what a retained topic says by being there: a ship that sank, a defeat; or that a topic is cleared."""
        match address.topic:
            case topics.SUNK:
                _keep(self._sunk, (address.player, plain_ship(address.ship)), there or None)
            case topics.DEFEATED:
                _keep(self._out, address.player, there or None)
            case topics.STATS:
                self._stats.pop(address.player, None)
            case topics.LIST:
                self.names, self._names_told = (), None
            case topics.TURN:
                self.turn = None
            case topics.WINNER:
                self._winner = None
            case _:
                pass

    def _server(self, status: m.ServerStatus, table: str) -> list[News]:
        """Take in a status; a further table's only tells which table has it."""
        self._known = True
        if status.status_topic and table == self.table:
            topic = topics.SERVER.of(_table_of(status.status_topic))
            if topic == status.status_topic != self._status_topic:
                self._status_topic = topic
                self._connection.subscribe([topic])
            return []
        if status.online == self._online:
            return []
        self._online = status.online
        said = "online" if status.online else "offline"
        return [News(f"server {said}", {"event": "server", "online": status.online})]

    def _host_acted(self, acted: m.HostActed, *, retained: bool) -> list[News]:
        if acted.do is m.HostAction.REMOVE and len(self._removed) < MAX_FACTS:
            self._removed.add(acted.team)
        return [] if retained else [News(str(acted), {"event": "host", **HOSTED.value(acted)})]

    def _state_changed(self, state: State) -> list[News]:
        self.state = state
        self._quiet_since = time.monotonic()
        if state is State.LOBBY:
            self._end_told, self._end_counted = None, (0, 0)
            self.forget_retained()
            self.forget_heard()
        # Retained messages arrive again on every connection, and are not news then.
        if state is self._state_told:
            return []
        self._state_told = state
        if state is State.LOBBY:
            self._names_told = None
        return [News(f"state {state}", {"event": "state", "state": state})]

    def forget_retained(self) -> None:
        """Forget the retained facts of a game: the next one begins from nothing, and a connection brings all again."""
        self.turn = self._winner = None
        self._stats, self._sunk, self._out = {}, {}, {}

    def forget_heard(self) -> None:
        """Forget what was heard of a game, and comes no second time."""
        self._game = 0
        self._begun = self._last = None
        self._before = (None, None)
        self._tallies, self._partial = {}, False
        self._removed = set()

    def _in_game(self, game: int) -> None:
        """Forget what was heard of another game: this screen may have been away in the lobby between."""
        if self._game not in (0, game):
            self.forget_heard()
        self._game = game

    def _come_back_to(self, retained: m.TurnBegan | m.SalvoResolved) -> None:
        """Forget what was heard before the connection was lost if what is retained is not, or may not be, its sequel.

        Game numbers do not tell: a server without a journal counts from 1 again.
        """
        begun, last = self._before
        if last is None or retained in (begun, last):
            return
        if retained.turn <= last.turn:
            self.forget_heard()
        elif isinstance(retained, m.SalvoResolved):
            self._last = None

    def _listed(self, names: tuple[str, ...]) -> list[News]:
        self.names = names = tuple(map(printable, names))
        again, self._names_told = names == self._names_told, names
        return [] if again else [News(f"players: {', '.join(names) or 'none'}", {"event": "players", "names": names})]

    def _salvo(self, result: m.SalvoResolved) -> list[News]:
        self._in_game(result.game)
        turns_known = self._last.turn if self._last is not None else 0
        if result.turn <= turns_known:
            return []
        if result.turn > turns_known + 1:
            self._tallies, self._partial = {}, True
        self._last = result
        tally = self._tallies.get(result.player, _NO_TALLY)
        last = f"{result.hits} of {result.shots}"
        _keep(self._tallies, result.player, _Tally(tally.shots + result.shots, tally.hits + result.hits, last))
        line = f"turn {result.turn}: {result.player} hits {last}"
        line += "".join(f"; {ship.player}'s {ship.ship} sunk" for ship in result.sunk)
        line += "".join(f"; {name} {OUT[result.fate(name, self._removed)]}" for name in result.defeated)
        return [News(line, {"event": "salvo", **RESULT.value(result)})]

    def _tell_of_the_end(self) -> list[News]:
        """Tell who has won, once for each game; the last turn tells which one it was."""
        won, turn = self._winner, self.turn
        if won is None or turn is None or (turn, won) == self._end_told:
            return []
        self._end_told = (turn, won)
        if self._is_last():
            self.games_ended += 1
            self._end_counted = (turn.game, turn.turn)
        places = {name: stats.place for name, stats in self._stats.items() if won.winners}
        record: dict[str, Any] = {"event": "won", "winner": won.winner, "places": places}
        record |= {"tied": list(won.tied)} if won.tied else {}
        told = f"; places: {places_line(places)}" if places else ""
        return [News(f"{won_line(won.winner, won.tied)}{told}", record)]

    def _is_last(self) -> bool:
        """Whether nothing more of the game will come once the winner is known."""
        return True

    # --- the page -------------------------------------------------------------------------------------------------

    def _set_clock(self, turn: m.TurnBegan, *, begun_before: bool) -> None:
        """Reckon when a turn ends; of one that had begun before this connection, only what is left is still to come."""
        now_ms = time.time() * 1000
        left_ms: float = turn.deadline - turn.now
        if begun_before:
            left_ms = min(left_ms, turn.deadline - now_ms - self._clock_ahead_ms)
        else:
            self._clock_ahead_ms = turn.now - now_ms
        self._deadline = time.monotonic() + left_ms / 1000

    @property
    def boards(self) -> dict[str, Board]:
        """What is known of each player, in play order."""
        return {name: self._board(name) for name in self.names}

    def _board(self, name: str) -> Board:
        tally, stats = self._tallies.get(name, _NO_TALLY), self._stats.get(name)
        shots, hits = (tally.shots, tally.hits) if stats is None else (stats.shots, stats.hits)
        fleet = self.book.fleet if self.book.sinkings is Sinkings.TOLD else ()
        ships = {ship.name: (name, ship.name) not in self._sunk for ship in fleet}
        return Board(ships, shots, hits, tally.last, name in self._out, partial=self._partial and stats is None)

    @property
    def current(self) -> str:
        """Whose turn it is."""
        return self.turn.player if self.turn and self.state == State.TURN else ""

    def page(self) -> Any:
        """Return the picture of the moment."""
        return draw_page(printable(self.heading()), self.body(), [*self._news, *self._chat])

    def heading(self) -> str:
        """Return where this is and how long the turn still is."""
        table = f" table {self.table}" if self.table else ""
        line = f"{self._connection.url}{table}   {self.state or 'waiting for a server'}"
        if self.current and self.turn is not None:
            left = f"has {max(0.0, self._deadline - time.monotonic()):.0f} s"
            if self._last is not None and self._last.turn >= self.turn.turn:  # a pause (SALVO-PACE-1)
                left = "has had its turn"
            line += f"   game {self.turn.game}, turn {self.turn.turn}: {self.current} {left}"
        return line

    def body(self) -> Any:
        """Return what is known of the players."""
        return draw_players(self.boards, self.current)


class TeamWatcher(Watcher):
    """A team's screen: the shots at its board, as they land, and what was announced to the team.

    Its fleet and its own shots travel sealed to the server and are on no topic that a screen can read; they are known
    from the recap, when the team asks for one (SALVO-JOIN-7).
    """

    _struck: list[int]
    _fresh: set[int]
    _fleet: Fleet | None
    _aimed: dict[str, set[int]]
    _recalled: m.Recap | None

    def __init__(self, connection: ProofConnection, table: str, name: str, secret: str | None) -> None:
        super().__init__(connection, table)
        self.name = name
        self._secret = secret

    def filters(self) -> list[str]:
        """Return what is subscribed."""
        own = [topic for topic in topics.TOPICS if topic.reader is Reader.OWNER]
        return [*super().filters(), *(topic.of(self.table, player=self.name, ship="+") for topic in own)]

    def suspicions(self) -> Iterable[str]:
        """Return why nothing comes."""
        yield from super().suspicions()
        if self.state == State.TURN and self.name not in self.names:
            yield f"{self.name} is not at this table; the players are {', '.join(self.names)}"
        elif self.state == State.TURN and self._fleet is None:
            yield _NO_FLEET

    def take_in(self, announcement: m.Announcement) -> list[News]:
        """Take in what was announced publicly, or to this team."""
        match announcement:
            case m.ShotLanded(_, x, y) if 1 <= x <= self.book.grid.width and 1 <= y <= self.book.grid.height:
                self._struck.append(self.book.grid.cell(x, y))
                self._fresh.add(self.book.grid.cell(x, y))
                where = Grid.name_at(x, y)
                news = News(f"a shot at our {where}{self._met(x, y)}", {"event": "hit", "x": x, "y": y})
                return [news] if self._fleet is not None else [news, *self._tell_once([_NO_FLEET])]
            case m.CommandRefused(_, code, text):
                return [News(f"error: {code}: {text}", {"event": "error", "code": code, "text": text})]
            case m.PlacementRefused(_, ship, code, text):
                record = {"event": "error", "ship": ship, "code": code, "text": text}
                return [News(f"error: {ship}: {code}: {text}", record)]
            case m.TurnBegan():
                self._fresh.clear()
            case _:
                pass
        return super().take_in(announcement)

    def _met(self, x: int, y: int) -> str:
        if self._fleet is None:
            return ""
        ship = self._fleet.board[self.book.grid.cell(x, y)]
        return f": {self.book.fleet[ship - 1].name}" if ship else ": water"

    def take_in_sealed(self, payload: bytes) -> list[News]:
        """Read the recap that the team asked for."""
        if self._secret is None:
            return []
        try:
            blob = seal.parse_blob(payload.decode(errors="replace"), seal.MAX_RECAP_BLOB_BYTES)
            plain = seal.open_blob(blob, seal.key_to_team(seal.derive_key(self._secret, blob.salt)))
            recap = read_recap(self.name, plain)
        except (SealError, WireError) as error:
            return [News(f"a recap that cannot be read: {error}", {"event": "notice", "text": str(error)})]
        if self._is_old(recap):
            return []
        try:
            self._take_up(recap)
        except IllegalCommand as error:  # rules that were made up on an open broker
            return [News(f"a recap that does not fit the rules: {error}", {"event": "notice", "text": str(error)})]
        return [News(f"recap: game {recap.game}, turn {recap.turn}", {"event": "recap", "game": recap.game})]

    def _take_up(self, recap: m.Recap) -> None:
        grid, earlier = self.book.grid, recap.earlier
        fleet = Fleet(self.book, list(recap.fleet)) if len(recap.fleet) == len(self.book.fleet) else self._fleet
        landed = [grid.cell(x, y) for x, y in recap.landed]
        aimed = {} if earlier is None else {target: set(cells) for target, cells in earlier.aimed.items()}
        for shot in recap.shots:
            aimed.setdefault(shot.target, set()).add(grid.cell(shot.x, shot.y))
        self._struck = landed if earlier is None else [*earlier.struck, *landed]
        self._fleet, self._aimed, self._recalled = fleet, aimed, recap

    def _is_old(self, recap: m.Recap) -> bool:
        """Whether a recap comes late, or is replayed by another client (SALVO-JOIN-14)."""
        if self._recalled is not None and recap.progress < self._recalled.progress:
            return True
        return self.turn is not None and (recap.game, recap.turn) < (self.turn.game, self.turn.turn)

    def forget_heard(self) -> None:
        """Forget what was heard of a game, and comes no second time."""
        super().forget_heard()
        self._struck, self._fleet, self._aimed, self._recalled = [], None, {}, None
        self._fresh = set()

    def body(self) -> Any:
        """Return the boards: the team's own, and of the others what it aimed at."""
        return draw_boards(self.boards, self.book.grid, self.current)

    def _board(self, name: str) -> Board:
        board = super()._board(name)
        if name == self.name:
            board.marks, board.latest = self.own_marks(), frozenset(self._fresh)
        else:
            aimed = self._aimed.get(name, ())
            board.marks = "".join(Mark.FIRED if cell in aimed else Mark.BLANK for cell in range(self.book.grid.size))
        return board

    def own_marks(self) -> str:
        """Return the team's own board, one letter a cell."""
        struck = set(self._struck)
        if self._fleet is not None:
            return picture(self._fleet.board, struck)
        return "".join(Mark.FIRED if cell in struck else Mark.BLANK for cell in range(self.book.grid.size))


class RefereeWatcher(Watcher):
    """Sees all boards, as late as the server shows them (SALVO-VIEW-4)."""

    view: m.RefereeView | None

    def __init__(self, connection: ProofConnection, table: str) -> None:
        super().__init__(connection, table)
        self._view_told: m.RefereeView | None = None
        self._last_salvos: dict[str, str] = {}

    def filters(self) -> list[str]:
        """Return what is subscribed."""
        return [*super().filters(), topics.REFEREE.of(self.table)]

    def suspicions(self) -> Iterable[str]:
        """Return why nothing comes."""
        yield from super().suspicions()
        if self.state == State.LOBBY:
            yield (
                "boards come when a game is running, to an account of the role referee (salvo teams add NAME --role "
                "referee), from a server with --referee-delay-seconds, that much later"
            )
        elif self.state and self.view is None:
            yield (
                "no boards come: this account does not have the role referee (salvo teams add "
                "NAME --role referee), the server does not show them (referee_delay_seconds), or the delay is not over"
            )

    def take_in(self, announcement: m.Announcement) -> list[News]:
        """Take in what was announced publicly, or the boards."""
        if not isinstance(announcement, m.RefereeView):
            news = super().take_in(announcement)
            if isinstance(announcement, m.SalvoResolved) and self.view is not None:  # people read what the boards tell
                news = [each._replace(line="") for each in news]
            return news
        self.view, told = announcement, self._view_told
        if announcement == told:
            return []
        self._view_told = announcement
        if told is None or (announcement.game, announcement.turn) != (told.game, told.turn + 1):
            self._last_salvos = {}
        if (last := announcement.last) is not None:
            self._last_salvos[last.player] = f"{sum(shot.hit for shot in last.shots)} of {len(last.shots)}"
        if announcement.winners and (announcement.game, announcement.turn) != self._end_counted:
            self.games_ended += 1
        return [News(boards_line(announcement), {"event": "boards", **announcements.REFEREE.value(announcement)})]

    def take_in_fact(self, address: topics.Address, *, there: bool) -> None:
        """Take in what a retained topic says by being there, or that a topic is cleared."""
        if address.topic is topics.REFEREE:
            self.view = None
        super().take_in_fact(address, there=there)

    def _is_last(self) -> bool:
        """The boards with the winner come after the news, by as much as they are late; an aborted game has none."""
        return self.view is None or (self._winner is not None and not self._winner.winners)

    def forget_retained(self) -> None:
        """Forget the retained facts of a game, the boards too."""
        super().forget_retained()
        self.view = None

    def heading(self) -> str:
        """Return where this is and what the boards show."""
        line = super().heading()
        if self.view is None:
            return line
        shown = f"{line}   shown: game {self.view.game} after turn {self.view.turn}"
        if self.view.winners:
            return f"{shown}, {won_line(self.view.winner, self.view.tied)}"
        return f"{shown}, {self.view.player} to fire {self.view.shots}" if self.view.player else shown

    def body(self) -> Any:
        """Return all boards; before there are any, what is public."""
        if self.view is None or any(len("".join(b.rows)) != self.book.grid.size for b in self.view.boards):
            return super().body()
        last = self.view.last
        shooter = last.player if last is not None else self.view.player
        return draw_boards(boards_of(self.view, self.book, self._last_salvos), self.book.grid, shooter)


def boards_of(view: m.RefereeView, book: RuleBook, last: dict[str, str] | None = None) -> dict[str, Board]:
    """Return the boards of a snapshot as the screen draws them.

    Args:
        last: the text for each player's last salvo.
    """
    boards = {}
    for each in view.boards:
        letters = "".join(each.rows)
        ships = {ship.name: ship_letter(number) in letters for number, ship in enumerate(book.fleet)}
        latest = frozenset(_cells(view.last.shots if view.last else (), each.player, book.grid))
        marks = "".join(map(_mark, letters))
        told = (last or {}).get(each.player, "")
        boards[each.player] = Board(ships, each.shots, each.hits, told, each.out, marks=marks, latest=latest)
    return boards


def _cells(shots: Sequence[m.AimedShot], player: str, grid: Grid) -> Iterable[int]:
    on_grid = (shot for shot in shots if shot.x <= grid.width and shot.y <= grid.height)
    return (grid.cell(shot.x, shot.y) for shot in on_grid if shot.target == player)


def _mark(letter: str) -> Mark:
    if letter in ".*":
        return Mark.BLANK if letter == "." else Mark.MISS
    return Mark.SHIP if letter.islower() else Mark.HIT


def boards_line(view: m.RefereeView) -> str:
    """Return a snapshot's salvo in a line, cells as people name them (SALVO-GAME-4)."""
    if view.last is None:
        return f"game {view.game}: {view.player} begins with {view.shots} shots"
    told = []
    for target in dict.fromkeys(shot.target for shot in view.last.shots):
        cells = [
            f"{Grid.name_at(shot.x, shot.y)} {'hit' if shot.hit else 'miss'}"
            for shot in view.last.shots
            if shot.target == target
        ]
        told.append(f"{target} {', '.join(cells)}")
    return f"turn {view.turn}: {view.last.player} fired at {'; '.join(told) or 'nobody'}"
