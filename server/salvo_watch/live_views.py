"""Live views of a table, each from what its account may read: the public, a team's screen, the referee (SALVO-VIEW).

A watcher renders what :class:`~salvo.table_state.TableState` knows of the table: news, as lines for people and as
records for programs, and a page for a terminal. The kinds differ in the topics that they subscribe to and in what they
know of the boards.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from salvo import messages as m
from salvo import seal, topics
from salvo.cli.output import places_line
from salvo.codec import announcements
from salvo.codec.announcements import HOSTED, RESULT
from salvo.codec.published import read_published
from salvo.codec.recap_reader import read_recap
from salvo.errors import IllegalCommand, SalvoError, SealError, WireError, printable
from salvo.fairness.proof import ProofConnection
from salvo.messages import State
from salvo.net.inbound import Inbound
from salvo.net.mqtt import BrokerUrl
from salvo.rules import Fleet, Grid, RuleBook, Sinkings
from salvo.table_state import (
    Change,
    EndSeen,
    Fact,
    GameForgotten,
    ListChanged,
    NewConnection,
    SalvoCounted,
    StateMoved,
    TableState,
    TurnClock,
)
from salvo.topics import Reader
from salvo_display.boards.marks import Mark, picture
from salvo_display.boards.rich_boards import Board, draw_boards, draw_page, draw_players
from salvo_display.boards.text_boards import OUT
from salvo_display.replay import ship_letter
from salvo_display.replay_text import won_line

#: The view from public topics alone.
EVERYBODY: Final = "everybody"
REFEREE: Final = "referee"
#: Lines of news below the boards.
_NEWS_LINES: Final = 6
#: And what players say, below the news, so that it pushes none of them away.
_CHAT_LINES: Final = 4
#: Retained messages come at once; after silence for this long the watcher reports what is probably wrong.
PATIENCE_SECONDS: Final = 5.0
_NO_FLEET: Final = (
    "our fleet and where our bot has fired are not known here: they travel sealed from the bot to the server, which "
    "sends them to its screens only when the bot asks to take part again; restart the bot while this screen is on "
    "(with the team's secret), and it resumes its game"
)


class WatchError(SalvoError):
    """A view that this account cannot have."""


class News(NamedTuple):
    """What is new: a line for people, empty where another one reports the same later, and a record for programs."""

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


def _chat_line(line: m.ChatPublished | m.MessagePublished) -> News:
    private = isinstance(line, m.MessagePublished)
    text = f"{line.sender or 'the server'} says{' to us' * private}: {line.text}"
    return News(text, {"event": "chat", "from": line.sender, "text": line.text, "private": private})


class Watcher:
    """Follows a table from its public topics.

    Attributes:
        games_ended: how many winners were announced.
        seen: what is known of the table.
        noticed: what was reported as probably wrong.
    """

    def __init__(self, connection: ProofConnection, table: str) -> None:
        """Subscribe to the topics at every connection; nothing is sent before the first :meth:`poll`."""
        self.games_ended = 0
        self.table = table
        self.seen = TableState()
        self._connection = connection
        self._clock = TurnClock(time.time() - time.monotonic())
        self._news: deque[str] = deque(maxlen=_NEWS_LINES)
        self._chat: deque[str] = deque(maxlen=_CHAT_LINES)
        self._quiet_since: float | None = None
        self._known = False
        self.noticed: set[str] = set()
        self._online: bool | None = None
        self._status_topic = ""
        self._user = ""  # to be reported when the broker has admitted it
        self._admitted: list[News] = []
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
        self.seen.apply(NewConnection())
        self._connection.subscribe(self.filters())
        if self._user:
            user, self._user = self._user, ""
            self._admitted.append(News(f"watching as {user} now", {"event": "user", "user": user}))

    def poll(self, timeout_seconds: float) -> list[News]:
        """Return what is new."""
        arrived = self._connection.poll(timeout_seconds)
        news, self._admitted = self._admitted, []
        for message in arrived:
            self._connection.acknowledge(message)
            news += self._receive(message)
        news += self._warnings()
        # On an open broker any client may publish anything, even what moves a terminal's cursor.
        news = [News(printable(item.line), item.record) for item in news]
        for item in news:
            if item.line:
                (self._chat if item.record["event"] == "chat" else self._news).append(item.line)
        return news

    def change_user(self, user: str) -> None:
        """Watch as another user of the same account; nothing is forgotten."""
        self._connection.change_user(user)
        self._user = user

    def note(self, text: str) -> None:
        """Show among the news what is no event of the table."""
        self._news.append(printable(text))

    def close(self) -> str:
        """Disconnect; return whether the proof is whole, where one is written."""
        proof = self._connection.finish_proof(self.games_ended)
        self._connection.close()
        return proof

    def _receive(self, message: Inbound) -> list[News]:
        published = read_published(message.topic, message.payload)
        if published is None:
            return []
        address, announcement = published
        match announcement:
            case None if address.topic is topics.RECAP:
                return self.receive_recap(message.payload)
            case None:
                return self._apply(Fact(address, message.payload != b""))
            case m.ChatPublished() | m.MessagePublished():
                return [] if message.retain else [_chat_line(announcement)]
            case m.ServerStatus():
                return self._server(announcement, address.table)
            case m.HostActed() if not message.retain:
                self._apply(announcement)
                return [News(str(announcement), {"event": "host", **HOSTED.value(announcement)})]
            case m.TurnBegan():
                self._clock.begin(announcement, time.monotonic(), retained=message.retain)
            case _:
                pass
        self._known = True
        return self.receive(announcement)

    def receive_recap(self, payload: bytes) -> list[News]:
        """Read a blob for this watcher; this one has no key to any."""
        return []

    # --- what is probably wrong ---------------------------------------------------------------------------------

    def _warnings(self) -> list[News]:
        if self._quiet_since is None or time.monotonic() < self._quiet_since + PATIENCE_SECONDS:
            return []
        return self._notices(self.suspicions())

    def _notices(self, texts: Iterable[str]) -> list[News]:
        fresh = [text for text in texts if text not in self.noticed]
        self.noticed.update(fresh)
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

    def receive(self, announcement: m.Announcement) -> list[News]:
        """Apply what was announced; return what is new in it."""
        return self._apply(announcement)

    def _apply(self, news: m.Announcement | Fact) -> list[News]:
        return [item for change in self.seen.apply(news) for item in self.render(change)]

    def render(self, change: Change) -> list[News]:
        """Return a change of the table as news."""
        match change:
            case StateMoved(state):
                self._quiet_since = time.monotonic()
                return [News(f"state {state}", {"event": "state", "state": state})]
            case ListChanged(names):
                names = tuple(map(printable, names))
                return [News(f"players: {', '.join(names) or 'none'}", {"event": "players", "names": names})]
            case SalvoCounted(result):
                line = f"turn {result.turn}: {result.player} hits {_hits(result)}"
                line += "".join(f"; {ship.player}'s {ship.ship} sunk" for ship in result.sunk)
                line += "".join(f"; {name} {OUT[fate]}" for name, fate in change.fates.items())
                return [News(line, {"event": "salvo", **RESULT.value(result)})]
            case EndSeen(won):
                return [self._end(won)]
            case _:
                return []

    def _end(self, won: m.GameWon) -> News:
        self._count_end(won)
        places = self.seen.game.places
        record: dict[str, Any] = {"event": "won", "winner": won.winner, "places": places}
        record |= {"tied": list(won.tied)} if won.tied else {}
        order = f"; places: {places_line(places)}" if places else ""
        return News(f"{won_line(won.winner, won.tied)}{order}", record)

    def _count_end(self, won: m.GameWon) -> None:
        self.games_ended += 1

    def _server(self, status: m.ServerStatus, table: str) -> list[News]:
        """Report a status; a further table's only says which table has it."""
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
        word = "online" if status.online else "offline"
        return [News(f"server {word}", {"event": "server", "online": status.online})]

    # --- the page -------------------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The players, in play order, as a terminal may show them."""
        return tuple(map(printable, self.seen.names))

    @property
    def boards(self) -> dict[str, Board]:
        """What is known of each player, in play order."""
        return {name: self._board(name) for name in self.names}

    def _board(self, name: str) -> Board:
        game, book = self.seen.game, self.seen.book
        tally, stats = game.tallies.get(name), game.stats.get(name)
        figures = stats or tally
        shots, hits = (figures.shots, figures.hits) if figures is not None else (0, 0)
        fleet = book.fleet if book.sinkings is Sinkings.TOLD else ()
        ships = {ship.name: (name, ship.name) not in game.sunk for ship in fleet}
        last = _hits(tally.last) if tally is not None else ""
        return Board(ships, shots, hits, last, name in game.out, partial=not game.whole and stats is None)

    @property
    def current(self) -> str:
        """Whose turn it is."""
        return self.seen.playing.player if self.seen.playing is not None else ""

    def page(self) -> Any:
        """Return the picture of the moment."""
        return draw_page(printable(self.heading()), self.body(), [*self._news, *self._chat])

    def heading(self) -> str:
        """Return where this is and how long the turn still is."""
        table, turn = f" table {self.table}" if self.table else "", self.seen.playing
        line = f"{self._connection.url}{table}   {self.seen.state or 'waiting for a server'}"
        if turn is not None:
            left = f"has {max(0.0, self._clock.ends - time.monotonic()):.0f} s"
            if self.seen.game.last_turn >= turn.turn:  # a pause (SALVO-PACE-1)
                left = "has had its turn"
            line += f"   game {turn.game}, turn {turn.turn}: {turn.player} {left}"
        return line

    def body(self) -> Any:
        """Return what is known of the players."""
        return draw_players(self.boards, self.current)


def _hits(result: m.SalvoResolved) -> str:
    return f"{result.hits} of {result.shots}"


class TeamWatcher(Watcher):
    """A team's screen: the shots at its board, as they land, and what was announced to the team.

    Its fleet and its own shots travel sealed to the server and are on no topic that a screen can read; they are known
    from the recap, when the team asks for one (SALVO-JOIN-7).
    """

    def __init__(self, connection: ProofConnection, table: str, name: str, secret: str | None) -> None:
        super().__init__(connection, table)
        self.name = name
        self._secret = secret
        self._forget_game()

    def _forget_game(self) -> None:
        self._struck: list[int] = []
        self._fresh: set[int] = set()  # cells that were struck in this turn
        self._fleet: Fleet | None = None
        self._aimed: dict[str, set[int]] = {}
        self._recalled: m.Recap | None = None

    def filters(self) -> list[str]:
        """Return what is subscribed."""
        own = [topic for topic in topics.TOPICS if topic.reader is Reader.OWNER]
        return [*super().filters(), *(topic.of(self.table, player=self.name, ship="+") for topic in own)]

    def suspicions(self) -> Iterable[str]:
        """Return why nothing comes."""
        yield from super().suspicions()
        if self.seen.state is not State.TURN:
            return
        if self.name not in self.names:
            yield f"{self.name} is not at this table; the players are {', '.join(self.names)}"
        elif self._fleet is None:
            yield _NO_FLEET

    def receive(self, announcement: m.Announcement) -> list[News]:
        """Apply what was announced publicly, or to this team."""
        match announcement:
            case m.ShotLanded(_, x, y) if 1 <= x <= self._grid.width and 1 <= y <= self._grid.height:
                self._struck.append(self._grid.cell(x, y))
                self._fresh.add(self._grid.cell(x, y))
                where = Grid.name_at(x, y)
                news = News(f"a shot at our {where}{self._met(x, y)}", {"event": "hit", "x": x, "y": y})
                return [news] if self._fleet is not None else [news, *self._notices([_NO_FLEET])]
            case m.CommandRefused(_, code, text):
                return [News(f"error: {code}: {text}", {"event": "error", "code": code, "text": text})]
            case m.PlacementRefused(_, ship, code, text):
                record = {"event": "error", "ship": ship, "code": code, "text": text}
                return [News(f"error: {ship}: {code}: {text}", record)]
            case m.TurnBegan():
                self._fresh.clear()
            case _:
                pass
        return super().receive(announcement)

    def render(self, change: Change) -> list[News]:
        """Return a change of the table as news; another game begins with an empty board."""
        if isinstance(change, GameForgotten) or change == StateMoved(State.LOBBY):
            self._forget_game()
        return super().render(change)

    @property
    def _grid(self) -> Grid:
        return self.seen.book.grid

    def _met(self, x: int, y: int) -> str:
        if self._fleet is None:
            return ""
        ship = self._fleet.board[self._grid.cell(x, y)]
        return f": {self.seen.book.fleet[ship - 1].name}" if ship else ": water"

    def receive_recap(self, payload: bytes) -> list[News]:
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
            self._resume(recap)
        except IllegalCommand as error:  # rules that were made up on an open broker
            return [News(f"a recap that does not fit the rules: {error}", {"event": "notice", "text": str(error)})]
        return [News(f"recap: game {recap.game}, turn {recap.turn}", {"event": "recap", "game": recap.game})]

    def _resume(self, recap: m.Recap) -> None:
        grid, book, earlier = self._grid, self.seen.book, recap.earlier
        fleet = Fleet(book, list(recap.fleet)) if len(recap.fleet) == len(book.fleet) else self._fleet
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
        turn = self.seen.game.turn
        return turn is not None and (recap.game, recap.turn) < (turn.game, turn.turn)

    def body(self) -> Any:
        """Return the boards: the team's own, and of the others what it aimed at."""
        return draw_boards(self.boards, self._grid, self.current)

    def _board(self, name: str) -> Board:
        board = super()._board(name)
        if name == self.name:
            board.marks, board.latest = self.own_marks(), frozenset(self._fresh)
        else:
            aimed = self._aimed.get(name, ())
            board.marks = "".join(Mark.FIRED if cell in aimed else Mark.BLANK for cell in range(self._grid.size))
        return board

    def own_marks(self) -> str:
        """Return the team's own board, one letter a cell."""
        struck = set(self._struck)
        if self._fleet is not None:
            return picture(self._fleet.board, struck)
        return "".join(Mark.FIRED if cell in struck else Mark.BLANK for cell in range(self._grid.size))


class RefereeWatcher(Watcher):
    """Sees all boards, as late as the server shows them (SALVO-VIEW-4)."""

    def __init__(self, connection: ProofConnection, table: str) -> None:
        super().__init__(connection, table)
        self.view: m.RefereeView | None = None
        self._shown: m.RefereeView | None = None  # the last one, over all connections
        self._last_salvos: dict[str, str] = {}
        self._counted = (0, 0)  # game and turn of the end that was counted last

    def _connected(self, session_present: bool) -> None:
        self.view = None
        super()._connected(session_present)

    def filters(self) -> list[str]:
        """Return what is subscribed."""
        return [*super().filters(), topics.REFEREE.of(self.table)]

    def suspicions(self) -> Iterable[str]:
        """Return why nothing comes."""
        yield from super().suspicions()
        if self.seen.state is State.LOBBY:
            yield (
                "boards come when a game is running, to an account of the role referee (salvo teams add NAME --role "
                "referee), from a server with --referee-delay-seconds, that much later"
            )
        elif self.seen.state is not None and self.view is None:
            yield (
                "no boards come: this account does not have the role referee (salvo teams add "
                "NAME --role referee), the server does not show them (referee_delay_seconds), or the delay is not over"
            )

    def receive(self, announcement: m.Announcement) -> list[News]:
        """Apply what was announced publicly, or the boards."""
        if not isinstance(announcement, m.RefereeView):
            return super().receive(announcement)
        self.view, shown = announcement, self._shown
        if announcement == shown:
            return []
        self._shown = announcement
        if shown is None or (announcement.game, announcement.turn) != (shown.game, shown.turn + 1):
            self._last_salvos = {}
        if (last := announcement.last) is not None:
            self._last_salvos[last.player] = f"{sum(shot.hit for shot in last.shots)} of {len(last.shots)}"
        if announcement.winners and (announcement.game, announcement.turn) != self._counted:
            self.games_ended += 1
        return [News(boards_line(announcement), {"event": "boards", **announcements.REFEREE.value(announcement)})]

    def render(self, change: Change) -> list[News]:
        """Return a change of the table as news; people read a salvo where the boards show it."""
        news = super().render(change)
        if isinstance(change, SalvoCounted) and self.view is not None:
            return [item._replace(line="") for item in news]
        if change == StateMoved(State.LOBBY):
            self.view, self._counted = None, (0, 0)
        return news

    def _apply(self, news: m.Announcement | Fact) -> list[News]:
        if isinstance(news, Fact) and news.address.topic is topics.REFEREE:
            self.view = None
        return super()._apply(news)

    def _count_end(self, won: m.GameWon) -> None:
        """The boards with the winner come after the news, by as much as they are late; an aborted game has none."""
        if self.view is None or not won.winners:
            super()._count_end(won)
            turn = self.seen.game.turn
            self._counted = (turn.game, turn.turn) if turn is not None else (0, 0)

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
        if self.view is None or any(len("".join(board.rows)) != self.seen.book.grid.size for board in self.view.boards):
            return super().body()
        last = self.view.last
        shooter = last.player if last is not None else self.view.player
        return draw_boards(boards_of(self.view, self.seen.book, self._last_salvos), self.seen.book.grid, shooter)


def boards_of(view: m.RefereeView, book: RuleBook, last: dict[str, str] | None = None) -> dict[str, Board]:
    """Return the boards of a snapshot as the screen draws them.

    Args:
        last: the text for each player's last salvo.
    """
    boards = {}
    for board in view.boards:
        letters = "".join(board.rows)
        ships = {ship.name: ship_letter(number) in letters for number, ship in enumerate(book.fleet)}
        latest = frozenset(_cells(view.last.shots if view.last else (), board.player, book.grid))
        marks = "".join(map(_mark, letters))
        salvo = (last or {}).get(board.player, "")
        boards[board.player] = Board(ships, board.shots, board.hits, salvo, board.out, marks=marks, latest=latest)
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
    salvos = []
    for target in dict.fromkeys(shot.target for shot in view.last.shots):
        cells = [
            f"{Grid.name_at(shot.x, shot.y)} {'hit' if shot.hit else 'miss'}"
            for shot in view.last.shots
            if shot.target == target
        ]
        salvos.append(f"{target} {', '.join(cells)}")
    return f"turn {view.turn}: {view.last.player} fired at {'; '.join(salvos) or 'nobody'}"
