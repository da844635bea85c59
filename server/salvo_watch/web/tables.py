"""What the web front knows of a table, and its picture: the one value that a browser draws.

A broadcast is delayed as a whole. The server shows the boards to referees some seconds late (SALVO-VIEW-4); everything
else that arrives during a game is held for as long, so that the picture is of one moment. When a game is over, nothing
of it is secret any more: the salvos that are left play out quickly, and the end follows.

What is shown is a :class:`~salvo.table_state.TableState`, to which everything is applied when it is due.

With boards, the picture of a game is made from them alone; without, from what is public. Figures that nobody can know
who came late are None, never wrong.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from salvo import messages as m
from salvo import topics
from salvo.codec.published import read_published
from salvo.messages import State
from salvo.net.inbound import Inbound
from salvo.rules import Sinkings
from salvo.table_state import (
    MAX_FACTS,
    Change,
    EndSeen,
    Fact,
    GameForgotten,
    GameRejoined,
    GameState,
    ListChanged,
    NewConnection,
    News,
    SalvoCounted,
    StateMoved,
    TableState,
    TurnClock,
)
from salvo_display.replay import ship_letter
from salvo_display.replay_text import outcome
from salvo_display.web_page.badges import Badge, Badges
from salvo_server.core.lobby import MAX_PLACEMENT_TIMES
from salvo_watch.web.chances import Chances, Race
from salvo_watch.web.commentary import Salvo, Standing, comment

#: Salvos that were held when a game ended are shown within this time.
PLAY_OUT_SECONDS: Final = 8.0
#: For the last boards to arrive after the news that the game is over.
BOARDS_SECONDS: Final = 3.0
#: The end of a game is shown for so long at least, though its next lobby has opened: the page's splash takes five.
END_SECONDS: Final = 8.0
#: The time to place ships until the rules are known.
_PLACING_SECONDS: Final = 60
#: A time to place ships that has passed for so long without a game has begun none.
PASSED_SECONDS: Final = 2.0
#: A number of teams that is no number to wait for: as many as can ever take part.
_ANY_NUMBER: Final = m.Limits().most_players
#: A turn without a shot was given up if it ended before this share of its time; later, the time may have run out.
_EARLY: Final = 0.8
#: Chances are shown for so many salvos after theirs; where games go faster than playouts, they would be of long ago.
OLD_CHANCES: Final = 3
MAX_FEED: Final = 12
MAX_CHAT: Final = 30
#: Turns of each team after which it is said how long a game will take.
_TURNS_SEEN: Final = 3
#: Teams of the standings that a picture has.
MAX_STANDINGS: Final = 40
#: Topics that say something by being retained; the others repeat what announcements have.
_FACTS: Final = frozenset({topics.SUNK, topics.DEFEATED})


#: What is noted when it arrives, however late it is shown.
_NOTED: Final = frozenset({m.TurnBegan, m.TurnResumed, m.HostActed, m.SalvoResolved, m.StateChanged})


class Arrived(NamedTuple):
    """What arrived of a table.

    Attributes:
        retained: whether it says what was before.
    """

    news: News
    retained: bool = False


def read(message: Inbound) -> tuple[topics.Address, Arrived | m.ServerStatus | None] | None:
    """Return where a message belongs and what it says, None for a status that is cleared; None for what is not read."""
    published = read_published(message.topic, message.payload)
    if published is None:
        return None
    address, announcement = published
    if isinstance(announcement, m.ServerStatus):
        return address, announcement
    if announcement is not None:
        return address, Arrived(announcement, message.retain)
    if message.payload and address.topic not in _FACTS:
        return None
    if address.topic is topics.SERVER:
        return address, None
    return address, Arrived(Fact(address, message.payload != b""), message.retain)


class _Held(NamedTuple):
    due: float
    arrived: Arrived


@dataclass(slots=True)
class _Scene:
    """What is shown of a game beside its state."""

    salvo: Salvo | None = None
    comment: str = ""
    chances: Chances | None = None


class _Course(NamedTuple):
    """Where a game was, by the server's clock."""

    turn: int
    at: int
    hits: int

    @classmethod
    def of(cls, view: m.RefereeView) -> _Course:
        return cls(view.turn, view.at, sum(board.hits for board in view.boards))


class Table:
    """Follows one table.

    Attributes:
        shown: how the table stands, as it is shown.
        delay_seconds: how late the boards are shown; everything else of a game is held for as long.
        players_wanted: with how many teams the game of the lobby begins at once; None where it waits for no number.
    """

    def __init__(
        self, name: str, *, boards: bool = False, delay_seconds: float = 0.0, badges: Badges | None = None
    ) -> None:
        """Follow a table of this name; nothing is known of it yet.

        Args:
            badges: of the contest's teams; of this table's alone by default.
            boards: whether the account may read the boards, and the server is expected to show them.
        """
        self.players_wanted: int | None = None
        self.name = name
        self.delay_seconds = delay_seconds
        self.shown = TableState()
        self._badges = badges or Badges()
        self._clock = TurnClock()
        self._scene = _Scene()
        self._lost_scene = _Scene()  # as it was when the connection was lost
        self._starting = False  # whether a game has begun that nothing is known of yet
        self.feed: deque[dict[str, Any]] = deque(maxlen=MAX_FEED)
        self.chat: deque[m.ChatPublished] = deque(maxlen=MAX_CHAT)
        self._notice = ""  # the host's last announcement in this game
        self._placing_began = 0.0
        self._placing_ends: float | None = None
        self._end_until = 0.0  # until when the end of the game is shown
        self._boards = boards  # whether the picture of a game is made from the referee's view
        self._view: m.RefereeView | None = None
        self._from: _Course | None = None  # the first boards of the game that were seen
        self._views: deque[m.RefereeView] = deque()
        self._next_view = 0.0
        self._pause = 0.0
        self._held: deque[_Held] = deque()
        self._secret = False  # whether a game is on, as far as has arrived
        self._latest_turn: tuple[m.TurnBegan | m.TurnResumed, float] | None = None  # and when it arrived
        # Of the game that arrives, which a delayed picture comes to later: turns that were given up, and players that
        # the host has removed.
        self._given_up: set[int] = set()
        self._removed: set[str] = set()

    # --- what arrives ---------------------------------------------------------------------------------------------

    def receive(self, arrived: Arrived, now: float) -> None:
        """Apply something, at once or, during a game that is shown late, when it is due."""
        news = arrived.news
        if isinstance(news, m.RulesAnnounced):
            self.shown.apply(news)
            return
        if isinstance(news, m.RefereeView):
            self._receive_boards(news)
            return
        if type(news) in _NOTED:
            self._note(news, now, retained=arrived.retained)
        if isinstance(news, m.StateChanged):
            self._secret = news.state is State.TURN
            if not self._secret and self._held:
                self._release(now)
        due = now + self.delay_seconds if self._secret and self._boards else now
        self._held.append(_Held(max(due, self._held[-1].due if self._held else due), arrived))

    def _note(self, news: News, now: float, *, retained: bool) -> None:
        """Note at once what explains a salvo that is shown later."""
        match news:
            case m.TurnBegan() | m.TurnResumed():
                self._latest_turn = None if retained else (news, now)
            case m.HostActed(do=m.HostAction.REMOVE, team=team):
                _note(self._removed, team)
                self._latest_turn = None
            case m.HostActed(do=m.HostAction.SKIP):
                self._latest_turn = None
            case m.SalvoResolved() if self._latest_turn is not None:
                turn, begun = self._latest_turn
                in_time = now - begun < _EARLY * (turn.deadline - turn.now) / 1000
                if turn.turn == news.turn and in_time and not (news.shots or self.shown.book.skipping):
                    _note(self._given_up, news.turn)
            case m.StateChanged(State.TURN) if not retained:
                self._given_up, self._removed = set(), set()
            case _:
                pass

    def _receive_boards(self, view: m.RefereeView) -> None:
        self._boards = True
        self._views.append(view)
        if view.winners and len(self._views) > 1:
            self._pause = min(0.7, PLAY_OUT_SECONDS / len(self._views))

    def _release(self, now: float) -> None:
        """Let what was held be shown, after the boards that are still to come."""
        due = now + BOARDS_SECONDS if self._boards and self.delay_seconds else now
        self._held = deque(held._replace(due=min(held.due, due)) for held in self._held)

    def next_due(self) -> float | None:
        """Return when there is something to show; None while nothing waits."""
        if self._views:
            return self._not_before_end(self._views[0], self._next_view)
        return self._not_before_end(self._held[0].arrived.news, self._held[0].due) if self._held else None

    def _not_before_end(self, news: News, due: float) -> float:
        """Return when something is due that may belong to the next game, of which nothing is shown too early."""
        if self.shown.state is not State.OVER:
            return due
        match news:
            case m.RefereeView(game=game):
                waits = game != self.shown.game.number
            case m.StateChanged() | m.PlayersListed() | Fact(present=False):
                waits = True
            case _:
                waits = False
        return max(due, self._end_until) if waits else due

    def advance(self, now: float) -> None:
        """Show what is due."""
        while self._views and self._not_before_end(self._views[0], self._next_view) <= now:
            self._begin_game(now)
            self._show_boards(self._views.popleft())
            self._next_view = (self._next_view or now) + self._pause if self._views else 0.0
        if not self._views and self._view is not None and self._view.winners and not self._secret:
            self._pause = 0.0
            self._held = deque(held._replace(due=min(held.due, now)) for held in self._held)
        while self._held and not (self._views and self._pause):
            if self._not_before_end(self._held[0].arrived.news, self._held[0].due) > now:
                break
            self._show(self._held.popleft().arrived, now)

    def _begin_game(self, now: float) -> None:
        """Show what was held up to the beginning of a game whose boards are there already."""
        begins = [isinstance(held.arrived.news, m.StateChanged) for held in self._held]
        if self.shown.state is not State.TURN and self._view is None and True in begins:
            for _ in range(begins.index(True) + 1):
                self._show(self._held.popleft().arrived, now)

    # --- what is public -------------------------------------------------------------------------------------------

    def _show(self, arrived: Arrived, now: float) -> None:
        news, retained = arrived
        if isinstance(news, (m.TurnBegan, m.TurnResumed)):
            self._clock.begin(news, now, retained=retained)
        elif isinstance(news, NewConnection):
            self._connect()
        elif isinstance(news, m.ChatPublished) and not retained:
            self.chat.append(news)
        state, game = self.shown.state, self.shown.game
        for change in self.shown.apply(news):
            self._follow(change, state, game, now, retained=retained)
        if isinstance(news, m.HostActed):
            self._host(news, now, retained=retained)
        if self.shown.hosted is None:
            self._notice = ""
        if self._starting:
            self._begin()

    def _connect(self) -> None:
        self._placing_ends, self._end_until = None, 0.0
        if self._scene.salvo is not None:
            self._lost_scene = self._scene
        self._scene = _Scene()

    def _follow(self, change: Change, state: State | None, game: GameState, now: float, *, retained: bool) -> None:
        """Show a change of the table.

        Args:
            state, game: as they were before.
        """
        match change:
            case StateMoved(moved):
                if moved is State.OVER and not retained:
                    self._end_until = now + END_SECONDS
                if moved is State.LOBBY:
                    self._open_lobby(game)
                self._starting = moved is State.TURN and state is State.LOBBY
            case ListChanged(joined=True) if self.shown.state is State.LOBBY and not retained:
                self._place_from(now)
            case GameForgotten():
                self._scene, self._lost_scene = _Scene(), _Scene()
            case GameRejoined() if self._scene.salvo is None:
                self._scene, self._lost_scene = self._lost_scene, _Scene()
            case SalvoCounted(result, fates) if not self._boards:
                hit = result.outcomes_if_announced or ()
                aims = tuple(
                    (target, x, y, hit[shot] if hit else None)
                    for shot, (target, x, y) in enumerate(result.aims_if_announced or ())
                )
                sunk = tuple((ship.player, ship.ship) for ship in result.sunk)
                figures = result.game, result.turn, result.player, result.shots, result.hits
                self._comment(Salvo(*figures, sunk, fates, aims, result.turn in self._given_up))
            case EndSeen(won):
                self._win(won.winners)
            case _:
                pass

    def _open_lobby(self, ended: GameState) -> None:
        if ended.winners and not (self._view and self._view.game == ended.number):
            self._boards = self._boards and bool(self.delay_seconds)
        self._scene, self._lost_scene, self._view = _Scene(), _Scene(), None
        self._placing_ends = None

    def _begin(self) -> None:
        """Report that a game has begun, as soon as its number is known."""
        if self.shown.game.number:
            self._starting = False
            began = {"kind": "began", "game": self.shown.game.number, "turn": 0, "players": list(self.shown.names)}
            self.feed.appendleft(began)

    def _host(self, acted: m.HostActed, now: float, *, retained: bool) -> None:
        self._notice = acted.text or self._notice
        if retained:
            return
        if acted.do is m.HostAction.PAUSE:
            self._placing_ends = None
        if acted.do is m.HostAction.RESUME and self.shown.names:
            self._place_from(now)
        if self._placing_ends is not None:
            self._placing_ends += acted.seconds or 0

    @property
    def _paused(self) -> bool:
        return self.shown.hosted is not None and self.shown.hosted.paused

    def _place_from(self, now: float) -> None:
        """Begin the time to place ships, or restart it (SALVO-JOIN-17)."""
        rules, ends = self.shown.rules, self._placing_ends
        seconds = _PLACING_SECONDS if rules is None else rules.placing_clock_seconds
        if seconds is None or self._paused:
            return
        if ends is None or now > ends:
            self._placing_began, ends = now, now
        self._placing_ends = max(ends, min(now + seconds, self._placing_began + MAX_PLACEMENT_TIMES * seconds))

    def _win(self, winners: tuple[str, ...]) -> None:
        game, newest = self.shown.game, self.feed[0] if self.feed else {}
        if winners and (newest.get("kind"), newest.get("game")) != ("won", game.number):
            self.feed.appendleft({"kind": "won", "game": game.number, "turn": self.turn, "players": list(winners)})

    # --- the referee's boards -------------------------------------------------------------------------------------

    def _show_boards(self, view: m.RefereeView) -> None:
        for change in self.shown.enter(view.game):
            self._follow(change, self.shown.state, self.shown.game, 0.0, retained=False)
        if self._starting:
            self._begin()
        before, last = self._view, view.last
        if before is not None and before.game != view.game:
            before = None
        if before is None:
            self._from = _Course.of(view)
        self._view = view
        if last is not None and (before is None or before.turn < view.turn):
            aims = tuple((shot.target, shot.x, shot.y, shot.hit) for shot in last.shots)
            figures = view.game, view.turn, last.player, len(aims), sum(shot.hit for shot in last.shots)
            sunk: tuple[tuple[str, str], ...] = ()
            defeated: tuple[str, ...] = ()
            if before is not None:
                sunk = tuple(sorted(self._sunk(view) - self._sunk(before)))
                defeated = tuple(board.player for board in view.boards if board.player in _out(view) - _out(before))
            result = m.SalvoResolved(*figures, (), defeated)
            fates = {name: result.fate(name, self._removed) for name in defeated}
            self.shown.game.fates |= fates
            self._comment(Salvo(*figures, sunk, fates, aims, view.turn in self._given_up))
        if view.winners and self.shown.state is not State.OVER:
            self._win(view.winners)

    def _sunk(self, view: m.RefereeView) -> set[tuple[str, str]]:
        return {(board.player, ship) for board in view.boards for ship in self._lost(board)}

    def _lost(self, board: m.RefereeBoard) -> Iterator[str]:
        letters = "".join(board.rows)
        for number, ship in enumerate(self.shown.book.fleet):
            letter = ship_letter(number)
            if letter not in letters and letter.upper() in letters:
                yield ship.name

    def race(self) -> Race | None:
        """Return what chances are worked out from; None while there is nothing to say, or it is known."""
        view, book, chances = self._view, self.shown.book, self._scene.chances
        if view is None or not view.boards or view.winners or book.ending != "last_afloat":
            return None
        if view.game != self.shown.game.number:
            return None
        race = Race.of(view, book)
        return None if chances is not None and (chances.game, chances.turn) == (race.game, race.turn) else race

    def show_chances(self, chances: Chances) -> bool:
        """Show chances; return whether they are of the game that is shown."""
        if chances.game == self.shown.game.number:
            self._scene.chances = chances
        return self._scene.chances is chances

    # --- the commentary -------------------------------------------------------------------------------------------

    def _comment(self, salvo: Salvo) -> None:
        after, lost = self._standing(), Counter(player for player, _ in salvo.sunk)
        before = Standing(
            {name: ships + lost[name] for name, ships in after.afloat.items()}, after.out - salvo.defeated.keys()
        )
        self._scene.salvo, self._scene.comment = salvo, comment(salvo, before, after)
        about = {"game": salvo.game, "turn": salvo.turn, "by": salvo.player}
        for player, ship in salvo.sunk:
            self.feed.appendleft({"kind": "sunk", **about, "player": player, "ship": ship})
        for player in salvo.defeated:
            self.feed.appendleft({"kind": "defeated", **about, "player": player, "fate": salvo.defeated[player]})

    def _standing(self) -> Standing:
        out = frozenset(self._out_now)
        if not self._shows_sinkings:
            return Standing({}, out)
        ships, sunk = len(self.shown.book.fleet), Counter(player for player, _ in self._sunk_now)
        return Standing({name: ships - sunk[name] for name in self.shown.names}, out)

    @property
    def _shows_sinkings(self) -> bool:
        return self._view is not None or self.shown.book.sinkings is Sinkings.TOLD

    @property
    def _sunk_now(self) -> Set[tuple[str, str]]:
        return self.shown.game.sunk if self._view is None else self._sunk(self._view)

    @property
    def _out_now(self) -> Set[str]:
        return self.shown.game.out if self._view is None else _out(self._view)

    # --- the picture ----------------------------------------------------------------------------------------------

    def picture(self, now: float, standings: Sequence[m.Standing] = ()) -> dict[str, Any]:
        """Return all that a page shows of this table, JSON-ready; ``static/hall.js`` draws it.

        Args:
            standings: of the evening, over all tables.
        """
        view, game, scene = self._view, self.shown.game, self._scene
        state = self.shown.state
        playing = state is State.TURN or (view is not None and state is not State.OVER)
        return {
            "table": self.name,
            "at": view.at if view is not None and self.delay_seconds else None,
            "delay": round(self.delay_seconds) if self._boards else 0,
            "state": State.TURN.value if playing else self.state,
            "game": game.number,
            "rules": self._rules(),
            "lobby": self._lobby(now),
            "players": self._players(),
            "turn": self._turn(now) if playing else None,
            "last": None if scene.salvo is None else scene.salvo._asdict(),
            "comment": scene.comment,
            "feed": list(self.feed),
            "seconds_left": self._seconds_left() if playing else None,
            "seconds": self._seconds(),
            "winners": list(self._winners),
            "aborted": game.aborted,
            "host": {"paused": self._paused, "text": self._notice},
            "chat": [{"from": line.sender, "text": line.text} for line in self.chat],
            "standings": self._standings(standings[:MAX_STANDINGS]),
        }

    @property
    def state(self) -> str:
        """The state as it is shown; empty until it is known."""
        return self.shown.state or ""

    @property
    def turn(self) -> int:
        """The turn of the last salvo that is shown; 0 before the first."""
        game, view = self.shown.game, self._view
        shown = view.turn if view is not None and view.game == game.number else 0
        return max(shown, game.last_turn)

    @property
    def _winners(self) -> tuple[str, ...]:
        game, view = self.shown.game, self._view
        if game.won is None and view is not None and view.game == game.number:
            return view.winners
        return game.winners

    def _seconds(self) -> int | None:
        """Return how long the game has taken; None if its beginning was not seen."""
        begun = self._from if self._view is not None else None
        return None if self._view is None or begun is None or begun.turn else round((self._view.at - begun.at) / 1000)

    def _seconds_left(self) -> int | None:
        """Return how long the game will take if hits come as they have so far; None while that says little.

        The winner's own fleet is taken to be half afloat at the end.
        """
        view, first = self._view, self._from
        if view is None or first is None or view.game != self.shown.game.number:
            return None
        now, players = _Course.of(view), len(view.boards)
        turns, hits = now.turn - first.turn, now.hits - first.hits
        cells = sum(ship.length for ship in self.shown.book.fleet)
        if turns < _TURNS_SEEN * players or hits < cells / 2 or self.shown.book.ending != "last_afloat":
            return None
        left = max(0.0, cells * (players - 0.5) - now.hits) * turns / hits
        return round(left * (now.at - first.at) / turns / 1000)

    def _rules(self) -> dict[str, Any]:
        book = self.shown.book
        return {
            "name": book.name,
            "width": book.grid.width,
            "height": book.grid.height,
            "fleet": [[ship.name, ship.length] for ship in book.fleet],
            "goal": book.goal,
            "sinkings": self._shows_sinkings,
        }

    def _lobby(self, now: float) -> dict[str, Any] | None:
        """Return when placing ends at the latest, and when a game that has begun will be shown, both if known."""
        if self.shown.state is not State.LOBBY:
            return None
        begun = next((held.due for held in self._held if held.arrived.news == m.StateChanged(State.TURN)), None)
        ends = self._placing_ends if self.shown.names and begun is None else None
        if ends is not None and now > ends + PASSED_SECONDS:
            ends = None
        left, begins = (None if at is None else round(1000 * max(0.0, at - now)) for at in (ends, begun))
        wanted = self.players_wanted if self.players_wanted != _ANY_NUMBER else None
        return {"left_ms": left, "begins_ms": begins, "players": wanted}

    def _turn(self, now: float) -> dict[str, Any] | None:
        view, turn, last = self._view, self.shown.game.turn, self.turn
        if turn is not None and turn.turn >= last:
            left = round(1000 * max(0.0, self._clock.ends - now))
            whose = {"turn": turn.turn, "player": turn.player, "shots": turn.shots, "fired": turn.turn == last}
            return {**whose, "left_ms": left, "whole_ms": turn.deadline - turn.now}
        if view is None or not view.player:
            return None
        whose = {"turn": last + 1, "player": view.player, "shots": view.shots, "fired": False}
        return {**whose, "left_ms": None, "whole_ms": None}

    def _players(self) -> list[dict[str, Any]]:
        view, state, places = self._view, self.shown.state, self.shown.game.places
        boards = {} if view is None else {board.player: board for board in view.boards}
        names = list(boards) if view is not None and state is not State.LOBBY else list(self.shown.names)
        if state is State.OVER:
            names.sort(key=lambda name: places.get(name, len(names)))
        badges, sunk, out = self._badges.of(names), self._sunk_now, self._out_now
        return [self._player(name, badges[name], boards.get(name), places, sunk, name in out) for name in names]

    def _player(
        self,
        name: str,
        badge: Badge,
        board: m.RefereeBoard | None,
        places: Mapping[str, int],
        sunk: Set[tuple[str, str]],
        out: bool,
    ) -> dict[str, Any]:
        shown, chances = self.shown, self._scene.chances
        over = shown.state is State.OVER
        shots, hits, turns = self._figures(name, board)
        rows = self._rows(name, board)
        return {
            "name": name,
            **badge._asdict(),
            "placed": len(shown.approved.get(name, ())) if shown.state is State.LOBBY else None,
            "out": out,
            "fate": shown.game.fates.get(name) if out else None,
            "place": places.get(name) if over else None,
            "won": over and name in self._winners,
            "sunk": [ship.name for ship in shown.book.fleet if (name, ship.name) in sunk],
            "shots": shots,
            "hits": hits,
            "turns": turns,
            "board": rows,
            "marks": board is None and rows is not None,
            "chance": None
            if chances is None or over or self.turn - chances.turn > OLD_CHANCES
            else chances.of.get(name),
        }

    def _figures(self, name: str, board: m.RefereeBoard | None) -> tuple[int | None, int | None, int | None]:
        """Return a player's shots, hits and turns, those that are known."""
        game = self.shown.game
        if (stats := game.stats.get(name)) is not None:
            return stats.shots, stats.hits, stats.turns
        if board is not None:
            return board.shots, board.hits, None
        if not game.whole:
            return None, None, None
        if (tally := game.tallies.get(name)) is not None:
            return tally.shots, tally.hits, tally.turns
        return (0, 0, 0) if self.turn else (None, None, None)

    def _rows(self, name: str, board: m.RefereeBoard | None) -> list[str] | None:
        if board is not None:
            return list(board.rows)
        grid, marks = self.shown.book.grid, self.shown.game.boards.get(name)
        if marks is None or len(marks) != grid.size:
            return None
        return [marks[first : first + grid.width] for first in range(0, grid.size, grid.width)]

    def _standings(self, standings: Sequence[m.Standing]) -> list[dict[str, Any]]:
        badges = self._badges.of(row.team for row in standings)
        return [
            {
                "name": row.team,
                **badges[row.team]._asdict(),
                "points": row.points / 1000,
                "games": row.games,
                "shots": row.shots,
                "hits": row.hits,
            }
            for row in standings
        ]

    def summary(self) -> dict[str, Any]:
        """Return what an overview of all tables shows of this one."""
        picture, ships = self.picture(0.0), len(self.shown.book.fleet)
        shown = ("name", "colour", "emblem", "out", "won", "chance")
        players = [
            {**{key: player[key] for key in shown}, "ships": ships, "afloat": ships - len(player["sunk"])}
            for player in picture["players"]
        ]
        return {
            "table": self.name,
            "state": picture["state"],
            "game": self.shown.game.number,
            "turn": self.turn,
            "headline": self._headline(picture),
            "players": players,
        }

    def _headline(self, picture: Mapping[str, Any]) -> str:
        turn, winners = picture["turn"], self._winners
        if picture["state"] == State.OVER and (winners or self.shown.game.aborted):
            return outcome(winners)
        if picture["host"]["paused"]:
            return "paused by the host"
        if turn is not None and turn["player"]:
            return f"{turn['player']} fires {turn['shots']}"
        return "in the lobby" if picture["state"] == State.LOBBY else ""


def _out(view: m.RefereeView) -> set[str]:
    return {board.player for board in view.boards if board.out}


def _note(facts: set[Any], fact: object) -> None:
    if len(facts) < MAX_FACTS:
        facts.add(fact)
