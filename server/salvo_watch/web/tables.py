"""Apply what is received of a table to what is shown of it, a :class:`~salvo_watch.web.screen.Screen`.

A tape plays to a table, too, which receives a game from its record (:mod:`salvo_watch.web.tapes`).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from salvo import messages as m
from salvo.badges import Badges
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
    ListChanged,
    NewConnection,
    SalvoCounted,
    StateMoved,
    TableChange,
    TurnLength,
)
from salvo.wire import topics
from salvo_game.lobby import MAX_PLACEMENT_TIMES
from salvo_watch.web.commentary import ShownSalvo
from salvo_watch.web.screen import Scene, Screen, out_of

#: The time to place ships until the rules are known.
_PLACING_SECONDS: Final = 60
#: Topics that say something by being retained; the others repeat what announcements have.
_FACTS: Final = frozenset({topics.SUNK, topics.DEFEATED})


class Arrived(NamedTuple):
    """What arrived of a table.

    Attributes:
        retained: whether it says what was before.
    """

    news: TableChange
    retained: bool = False


def read(message: Inbound) -> tuple[topics.Address, Arrived | m.ServerStatus | bytes | None] | None:
    """Return where a message belongs and what it says; None for what is not read.

    It says None where a status is cleared, and bytes are a payload of the signed log.
    """
    published = read_published(message.topic, message.payload)
    if published is None:
        return None
    address, announcement = published
    if address.topic is topics.LOG:
        return address, message.payload
    if isinstance(announcement, m.ServerStatus):
        return address, announcement
    if announcement is not None:
        return address, Arrived(announcement, message.retain)
    if message.payload and address.topic not in _FACTS:
        return None
    if address.topic is topics.SERVER:
        return address, None
    return address, Arrived(Fact(address, message.payload != b""), message.retain)


class ShownTable:
    """Follows one table.

    Attributes:
        shown: how the table stands, as it is shown.
        screen: what is shown of it beside that, from which its picture is made.
    """

    def __init__(self, name: str, *, boards: bool = False, badges: Badges | None = None) -> None:
        """Follow a table of this name; nothing is known of it yet.

        Args:
            badges: of the contest's teams; of this table's alone by default.
            boards: whether all boards arrive, too, and the picture of a game is made from them.
        """
        self.name = name
        self.screen = Screen(name, boards, badges or Badges())
        self.shown = self.screen.table
        self._lost_scene = Scene()  # as it was when the connection was lost
        self._starting = False  # whether a game has begun that nothing is known of yet
        self._placing_began = 0.0
        self._turn_length = TurnLength()
        self._given_up: set[int] = set()  # turns of this game
        self._removed: set[str] = set()  # by the host, from this game

    # --- what is received -----------------------------------------------------------------------------------------

    def receive(self, arrived: Arrived, now: float) -> None:
        """Show what was received; ``now`` in seconds that never go back."""
        news, retained = arrived
        self._note(news, now, retained=retained)
        if isinstance(news, m.RefereeView):
            self._show_boards(news)
            return
        if isinstance(news, (m.TurnBegan, m.TurnResumed)):
            self.screen.clock.begin(news, now, retained=retained)
        elif isinstance(news, NewConnection):
            self._connect()
        elif isinstance(news, m.ChatPublished) and not retained:
            self.screen.chat.append(news)
        state = self.shown.state
        for change in self.shown.apply(news):
            self._follow(change, state, now, retained=retained)
        if isinstance(news, m.HostActed):
            self._host(news, now, retained=retained)
        if self.shown.hosted is None:
            self.screen.notice = ""
        if self._starting:
            self._begin()

    def _note(self, news: TableChange, now: float, *, retained: bool) -> None:
        """Note what explains a salvo."""
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

    # --- what is public -------------------------------------------------------------------------------------------

    def _connect(self) -> None:
        self.screen.placing_ends = None
        if self.screen.scene.salvo is not None:
            self._lost_scene = self.screen.scene
        self.screen.scene = Scene()

    def _follow(self, change: Change, state: State | None, now: float, *, retained: bool) -> None:
        """Show a change of the table, whose state was another one before."""
        match change:
            case StateMoved(moved):
                if moved is State.LOBBY:
                    self._open_lobby()
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
                self.screen.show_salvo(ShownSalvo(*figures, sunk, fates, aims, result.turn in self._given_up))
            case EndSeen(won):
                self.screen.show_winners(won.winners)
            case _:
                pass

    def _open_lobby(self) -> None:
        self.screen.scene, self._lost_scene, self.screen.view = Scene(), Scene(), None
        self.screen.placing_ends = None

    def _begin(self) -> None:
        """Report that a game has begun, as soon as its number is known."""
        if self.shown.game.number:
            self._starting = False
            began = {"kind": "began", "game": self.shown.game.number, "turn": 0, "players": list(self.shown.names)}
            self.screen.feed.appendleft(began)

    def _host(self, acted: m.HostActed, now: float, *, retained: bool) -> None:
        if acted.do is m.HostAction.RESUME:
            self.screen.notice = ""
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
            self.screen.placing_ends = None
            return
        if ends is None or now > ends:
            self._placing_began, ends = now, now
        self.screen.placing_ends = max(ends, min(now + seconds, self._placing_began + MAX_PLACEMENT_TIMES * seconds))

    # --- the referee's boards -------------------------------------------------------------------------------------

    def _show_boards(self, view: m.RefereeView) -> None:
        self.screen.boards = True
        for change in self.shown.enter(view.game):
            self._follow(change, self.shown.state, 0.0, retained=False)
        if self._starting:
            self._begin()
        before, last = self.screen.view, view.last
        if before is not None and before.game != view.game:
            before = None
        if before is None:
            self.screen.first = view
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
            self.screen.show_salvo(ShownSalvo(*figures, sunk, fates, aims, view.turn in self._given_up))
        if view.winners and self.shown.state is not State.OVER:
            self.screen.show_winners(view.winners)

    # --- what is shown ----------------------------------------------------------------------------------------------

    @property
    def decided(self) -> bool:
        """Whether it is known how the game ends: it is over, or at most one player is left."""
        shown = self.shown
        if shown.state is State.OVER or shown.game.won is not None:
            return True
        return shown.state is State.TURN and self.screen.left <= 1

    def picture(self, now: float, *, withheld: bool = False) -> dict[str, Any]:
        """Return the picture of this moment.

        Args:
            withheld: whether nothing is shown of the game but who plays, because a tape is to show its end.
        """
        return self.screen.picture(now, withheld=withheld)


def _note(facts: set[Any], fact: object) -> None:
    if len(facts) < MAX_FACTS:
        facts.add(fact)
