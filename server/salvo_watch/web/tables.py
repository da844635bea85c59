"""What arrives of a table, and when it is shown.

A broadcast is delayed as a whole. The server shows the boards to referees some seconds late (SALVO-VIEW-4); everything
else that arrives during a game is held for as long, so that the picture is of one moment. When a game is over, nothing
of it is secret any more: the salvos that are left play out quickly, and the end follows.

What is shown is a :class:`~salvo_watch.web.picture.Screen`, to which everything is applied when it is due.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from salvo import messages as m
from salvo import topics
from salvo.codec.published import read_published
from salvo.messages import State
from salvo.net.inbound import Inbound
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
    TurnLength,
)
from salvo_display.web_page.badges import Badges
from salvo_server.core.lobby import MAX_PLACEMENT_TIMES
from salvo_watch.web.commentary import Salvo
from salvo_watch.web.picture import Course, Scene, Screen, out_of

#: Salvos that were held when a game ended are shown within this time.
PLAY_OUT_SECONDS: Final = 8.0
#: For the last boards to arrive after the news that the game is over.
BOARDS_SECONDS: Final = 3.0
#: The end of a game is shown for so long at least, though its next lobby has opened: the page's splash takes five.
END_SECONDS: Final = 8.0
#: The time to place ships until the rules are known.
_PLACING_SECONDS: Final = 60
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


class Table:
    """Follows one table.

    Attributes:
        shown: how the table stands, as it is shown.
        screen: what is shown of it beside that, from which its picture is made.
    """

    def __init__(
        self, name: str, *, boards: bool = False, delay_seconds: float = 0.0, badges: Badges | None = None
    ) -> None:
        """Follow a table of this name; nothing is known of it yet.

        Args:
            badges: of the contest's teams; of this table's alone by default.
            boards: whether the account may read the boards, and the server is expected to show them.
            delay_seconds: how late the boards are shown; everything else of a game is held for as long.
        """
        self.name = name
        self.screen = Screen(name, boards, delay_seconds, badges or Badges())
        self.shown = self.screen.table
        self._lost_scene = Scene()  # as it was when the connection was lost
        self._starting = False  # whether a game has begun that nothing is known of yet
        self._placing_began = 0.0
        self._end_until = 0.0  # until when the end of the game is shown
        self._views: deque[m.RefereeView] = deque()
        self._next_view = 0.0
        self._pause = 0.0
        self._held: deque[_Held] = deque()
        self._secret = False  # whether a game is on, as far as has arrived
        self._turn_length = TurnLength()  # of the turn that has arrived
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
        due = now + self.screen.delay_seconds if self._secret and self.screen.boards else now
        self._held.append(_Held(max(due, self._held[-1].due if self._held else due), arrived))

    def _note(self, news: News, now: float, *, retained: bool) -> None:
        """Note at once what explains a salvo that is shown later."""
        match news:
            case m.TurnBegan() | m.TurnResumed() | m.HostActed():
                self._turn_length.receive(news, now, retained=retained)
                if isinstance(news, m.HostActed) and news.do is m.HostAction.REMOVE:
                    _note(self._removed, news.team)
            case m.SalvoResolved() if not self.shown.book.skipping and self._turn_length.was_given_up(news, now):
                _note(self._given_up, news.turn)
            case m.StateChanged(State.TURN) if not retained:
                self._given_up, self._removed = set(), set()
            case _:
                pass

    def _receive_boards(self, view: m.RefereeView) -> None:
        self.screen.boards = True
        self._views.append(view)
        if view.winners and len(self._views) > 1:
            self._pause = min(0.7, PLAY_OUT_SECONDS / len(self._views))

    def _release(self, now: float) -> None:
        """Let what was held be shown, after the boards that are still to come."""
        due = now + BOARDS_SECONDS if self.screen.boards and self.screen.delay_seconds else now
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
        if not self._views and self.screen.view is not None and self.screen.view.winners and not self._secret:
            self._pause = 0.0
            self._held = deque(held._replace(due=min(held.due, now)) for held in self._held)
        while self._held and not (self._views and self._pause):
            if self._not_before_end(self._held[0].arrived.news, self._held[0].due) > now:
                break
            self._show(self._held.popleft().arrived, now)

    def _begin_game(self, now: float) -> None:
        """Show what was held up to the beginning of a game whose boards are there already."""
        begins = [isinstance(held.arrived.news, m.StateChanged) for held in self._held]
        if self.shown.state is not State.TURN and self.screen.view is None and True in begins:
            for _ in range(begins.index(True) + 1):
                self._show(self._held.popleft().arrived, now)

    # --- what is public -------------------------------------------------------------------------------------------

    def _show(self, arrived: Arrived, now: float) -> None:
        news, retained = arrived
        if isinstance(news, (m.TurnBegan, m.TurnResumed)):
            self.screen.clock.begin(news, now, retained=retained)
        elif isinstance(news, NewConnection):
            self._connect()
        elif isinstance(news, m.ChatPublished) and not retained:
            self.screen.chat.append(news)
        state, game = self.shown.state, self.shown.game
        for change in self.shown.apply(news):
            self._follow(change, state, game, now, retained=retained)
        if isinstance(news, m.HostActed):
            self._host(news, now, retained=retained)
        if self.shown.hosted is None:
            self.screen.notice = ""
        if self._starting:
            self._begin()

    def _connect(self) -> None:
        self.screen.placing_ends, self._end_until = None, 0.0
        if self.screen.scene.salvo is not None:
            self._lost_scene = self.screen.scene
        self.screen.scene = Scene()

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
                self.screen.scene, self._lost_scene = Scene(), Scene()
            case GameRejoined() if self.screen.scene.salvo is None:
                self.screen.scene, self._lost_scene = self._lost_scene, Scene()
            case SalvoCounted(result, fates) if not self.screen.boards:
                hit = result.outcomes_if_announced or ()
                aims = tuple(
                    (target, x, y, hit[shot] if hit else None)
                    for shot, (target, x, y) in enumerate(result.aims_if_announced or ())
                )
                sunk = tuple((ship.player, ship.ship) for ship in result.sunk)
                figures = result.game, result.turn, result.player, result.shots, result.hits
                self.screen.show_salvo(Salvo(*figures, sunk, fates, aims, result.turn in self._given_up))
            case EndSeen(won):
                self.screen.show_winners(won.winners)
            case _:
                pass

    def _open_lobby(self, ended: GameState) -> None:
        if ended.winners and not (self.screen.view and self.screen.view.game == ended.number):
            self.screen.boards = self.screen.boards and bool(self.screen.delay_seconds)
        self.screen.scene, self._lost_scene, self.screen.view = Scene(), Scene(), None
        self.screen.placing_ends = None

    def _begin(self) -> None:
        """Report that a game has begun, as soon as its number is known."""
        if self.shown.game.number:
            self._starting = False
            began = {"kind": "began", "game": self.shown.game.number, "turn": 0, "players": list(self.shown.names)}
            self.screen.feed.appendleft(began)

    def _host(self, acted: m.HostActed, now: float, *, retained: bool) -> None:
        self.screen.notice = acted.text or self.screen.notice
        if retained:
            return
        if acted.do is m.HostAction.PAUSE:
            self.screen.placing_ends = None
        if acted.do is m.HostAction.RESUME and self.shown.names:
            self._place_from(now)
        if self.screen.placing_ends is not None:
            self.screen.placing_ends += acted.seconds or 0

    def _place_from(self, now: float) -> None:
        """Begin the time to place ships, or restart it (SALVO-JOIN-17)."""
        rules, ends = self.shown.rules, self.screen.placing_ends
        seconds = _PLACING_SECONDS if rules is None else rules.placing_clock_seconds
        if seconds is None or self.shown.paused:
            return
        if ends is None or now > ends:
            self._placing_began, ends = now, now
        self.screen.placing_ends = max(ends, min(now + seconds, self._placing_began + MAX_PLACEMENT_TIMES * seconds))

    # --- the referee's boards -------------------------------------------------------------------------------------

    def _show_boards(self, view: m.RefereeView) -> None:
        for change in self.shown.enter(view.game):
            self._follow(change, self.shown.state, self.shown.game, 0.0, retained=False)
        if self._starting:
            self._begin()
        before, last = self.screen.view, view.last
        if before is not None and before.game != view.game:
            before = None
        if before is None:
            self.screen.first = Course.of(view)
        self.screen.view = view
        if last is not None and (before is None or before.turn < view.turn):
            aims = tuple((shot.target, shot.x, shot.y, shot.hit) for shot in last.shots)
            figures = view.game, view.turn, last.player, len(aims), sum(shot.hit for shot in last.shots)
            sunk: tuple[tuple[str, str], ...] = ()
            defeated: tuple[str, ...] = ()
            if before is not None:
                sunk = tuple(sorted(self.screen.sunk_of(view) - self.screen.sunk_of(before)))
                defeated = tuple(board.player for board in view.boards if board.player in out_of(view) - out_of(before))
            result = m.SalvoResolved(*figures, (), defeated)
            fates = {name: result.fate(name, self._removed) for name in defeated}
            self.shown.game.fates |= fates
            self.screen.show_salvo(Salvo(*figures, sunk, fates, aims, view.turn in self._given_up))
        if view.winners and self.shown.state is not State.OVER:
            self.screen.show_winners(view.winners)

    # --- what is shown ----------------------------------------------------------------------------------------------

    def picture(self, now: float, standings: Sequence[m.Standing] = ()) -> dict[str, Any]:
        """Return the picture of this moment; ``standings`` are those of the evening, over all tables."""
        begins = (held.due for held in self._held if held.arrived.news == m.StateChanged(State.TURN))
        return self.screen.picture(now, next(begins, None), standings)


def _note(facts: set[Any], fact: object) -> None:
    if len(facts) < MAX_FACTS:
        facts.add(fact)
