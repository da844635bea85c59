"""What the web front knows of a table, and its picture: the one value that a browser draws.

A broadcast is delayed as a whole. The server shows the boards to referees some seconds late (SALVO-VIEW-4); everything
else that is heard during a game is held for as long, so that the picture is of one moment. When a game is over, nothing
of it is secret any more: the salvos that are left play out quickly, and the end follows.

With boards, the picture of a game is made from them alone; without, from what is public. Figures that nobody can know
who came late are None, never wrong.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from salvo import messages as m
from salvo import topics
from salvo.codec.commands import plain_ship
from salvo.codec.published import read_published
from salvo.messages import State
from salvo.net.inbound import Inbound
from salvo.rules import SALVO, RuleBook, Sinkings
from salvo_display.page.badges import Badge, badge_of, badges_of
from salvo_display.replay import ship_letter
from salvo_display.replay_text import outcome
from salvo_server.core.lobby import MAX_PLACEMENT_TIMES
from salvo_watch.web.chances import Chances, Race
from salvo_watch.web.commentary import Salvo, Standing, comment

#: Salvos that were held when a game ended are shown within this time.
PLAY_OUT_SECONDS: Final = 8.0
#: For the last boards to arrive after the news that the game is over.
BOARDS_SECONDS: Final = 3.0
#: The end of a game is shown for so long at least, though its next lobby has opened: the page's splash takes five.
END_SECONDS: Final = 8.0
#: A time to place ships that has passed for so long without a game has begun none.
PASSED_SECONDS: Final = 2.0
#: A number of teams that is no number to wait for: as many as can ever take part.
_ANY_NUMBER: Final = m.Limits().most_players
#: A turn without a shot was given up if it ended before this share of its time; later, the time may have run out.
_EARLY: Final = 0.8
MAX_FEED: Final = 12
MAX_CHAT: Final = 30
#: Teams of the standings that a picture has.
MAX_STANDINGS: Final = 40
#: Facts of a kind: 26 ships of a thousand players. On an open broker any client may make some up.
MAX_FACTS: Final = 26_000
#: What is told by being there; the announcements have the rest.
_FACTS: Final = frozenset({topics.SUNK, topics.DEFEATED})


class Fact(NamedTuple):
    """What a retained topic says by being there, or no longer."""

    topic: topics.Topic
    player: str
    ship: str
    there: bool


class Forget(NamedTuple):
    """A new connection, on which all that is retained comes again."""


class Heard(NamedTuple):
    """What arrived: an announcement, a fact, or the news that a connection is new.

    Attributes:
        retained: whether it says what was before.
    """

    what: m.Announcement | Fact | Forget
    retained: bool = False


def read(message: Inbound) -> tuple[topics.Address, Heard | m.ServerStatus | None] | None:
    """Return where a message belongs and what it says, None for a status that is cleared; None for what is not read."""
    heard = read_published(message.topic, message.payload)
    if heard is None:
        return None
    address, announcement = heard
    if isinstance(announcement, m.ServerStatus):
        return address, announcement
    if announcement is not None:
        return address, Heard(announcement, message.retain)
    if message.payload and address.topic not in _FACTS:
        return None
    if address.topic is topics.SERVER:
        return address, None
    fact = Fact(address.topic, address.player, address.ship, message.payload != b"")
    return address, Heard(fact, message.retain)


class _Held(NamedTuple):
    due: float
    heard: Heard


@dataclass(slots=True)
class _Count:
    shots: int = 0
    hits: int = 0
    turns: int = 0


@dataclass(slots=True)
class _Game:
    """What is shown of a game.

    Attributes:
        whole: whether every turn so far was heard, so that the counts are right.
        result: of the last turn that was heard.
    """

    number: int = 0
    result: m.SalvoResolved | None = None
    turn: m.TurnBegan | m.TurnResumed | None = None
    turn_ends: float = 0.0
    last: Salvo | None = None
    last_turn: int = 0
    whole: bool = True
    counts: dict[str, _Count] = field(default_factory=dict)
    sunk: set[tuple[str, str]] = field(default_factory=set)
    out: set[str] = field(default_factory=set)
    fates: dict[str, m.Fate] = field(default_factory=dict)
    stats: dict[str, m.PlayerStats] = field(default_factory=dict)
    marks: dict[str, str] = field(default_factory=dict)
    winners: tuple[str, ...] = ()
    aborted: bool = False
    comment: str = ""
    chances: Chances | None = None


class Table:
    """Follows one table.

    Attributes:
        delay_seconds: how late the boards are shown; everything else of a game is held for as long.
        players_wanted: with how many teams the game of the lobby begins at once; None where it waits for no number.
    """

    def __init__(self, name: str, *, boards: bool = False, delay_seconds: float = 0.0) -> None:
        """Follow a table of this name; nothing is known of it yet.

        Args:
            boards: whether the account may read the boards, and the server is expected to show them.
        """
        self.players_wanted: int | None = None
        self.name = name
        self.delay_seconds = delay_seconds
        self.book: RuleBook = SALVO
        self.state = ""
        self.names: tuple[str, ...] = ()
        self.game = _Game()
        self._before = _Game()  # as it was when the connection was lost
        self._starting = False  # whether a game has begun that nothing is known of yet
        self.feed: deque[dict[str, Any]] = deque(maxlen=MAX_FEED)
        self.chat: deque[m.ChatSaid] = deque(maxlen=MAX_CHAT)
        self._paused, self._notice = False, ""  # what the host has said last in this game
        self._placing_seconds: int | None = 60
        self._placing_began = 0.0
        self._placing_ends: float | None = None
        self._end_until = 0.0  # until when the end of the game is shown
        self._approved: dict[str, set[str]] = {}
        self._boards = boards  # whether the picture of a game is made from the referee's view
        self._view: m.RefereeView | None = None
        self._views: deque[m.RefereeView] = deque()
        self._next_view = 0.0
        self._pause = 0.0
        self._held: deque[_Held] = deque()
        self._secret = False  # whether a game is on, as far as was heard
        self._heard_turn: tuple[m.TurnBegan | m.TurnResumed, float] | None = None  # the latest one, and when
        # Of the game that is heard, which a delayed picture comes to later: turns that were given up, and players
        # that the host has removed.
        self._given_up: set[int] = set()
        self._removed: set[str] = set()
        self._clock_ahead: float | None = None  # the server's clock before ours, seconds

    # --- hearing --------------------------------------------------------------------------------------------------

    def hear(self, heard: Heard, now: float) -> None:
        """Take something in, at once or, during a game that is shown late, when it is due."""
        what = heard.what
        if isinstance(what, m.RulesAnnounced):
            self.book, self._placing_seconds = what.book, what.placing_clock_seconds
            return
        if isinstance(what, m.RefereeView):
            self._hear_boards(what, now)
            return
        self._note(what, now, retained=heard.retained)
        if isinstance(what, m.StateChanged):
            self._secret = what.state == State.TURN
            if not self._secret and self._held:
                self._release(now)
        due = now + self.delay_seconds if self._secret and self._boards else now
        self._held.append(_Held(max(due, self._held[-1].due if self._held else due), heard))

    def _note(self, what: m.Announcement | Fact | Forget, now: float, *, retained: bool) -> None:
        """Note at once what explains a salvo that is shown later."""
        match what:
            case m.TurnBegan() | m.TurnResumed():
                if not retained:
                    self._clock_ahead = what.now / 1000 - now
                self._heard_turn = None if retained else (what, now)
            case m.HostActed(do=m.HostAction.REMOVE, team=team):
                _mark(self._removed, team, there=True)
                self._heard_turn = None
            case m.HostActed(do=m.HostAction.SKIP):
                self._heard_turn = None
            case m.SalvoResolved() if self._heard_turn is not None:
                turn, begun = self._heard_turn
                in_time = now - begun < _EARLY * (turn.deadline - turn.now) / 1000
                if turn.turn == what.turn and in_time and not (what.shots or self.book.skipping):
                    _mark(self._given_up, what.turn, there=True)
            case m.StateChanged(State.TURN) if not retained:
                self._given_up, self._removed = set(), set()
            case _:
                pass

    def _hear_boards(self, view: m.RefereeView, now: float) -> None:
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
        return self._not_before_end(self._held[0].heard.what, self._held[0].due) if self._held else None

    def _not_before_end(self, what: m.Announcement | Fact | Forget, due: float) -> float:
        """Return when something is due that may belong to the next game, of which nothing is shown too early."""
        match what:
            case m.RefereeView(game=game):
                waits = self.state == State.OVER and game != self.game.number
            case m.StateChanged() | m.PlayersListed() | Fact(there=False):
                waits = self.state == State.OVER
            case _:
                waits = False
        return max(due, self._end_until) if waits else due

    def advance(self, now: float) -> None:
        """Take in what is due."""
        while self._views and self._not_before_end(self._views[0], self._next_view) <= now:
            self._begin_game(now)
            self._show_boards(self._views.popleft(), now)
            self._next_view = (self._next_view or now) + self._pause if self._views else 0.0
        if not self._views and self._view is not None and self._view.winners and not self._secret:
            self._pause = 0.0
            self._held = deque(held._replace(due=min(held.due, now)) for held in self._held)
        while self._held and not (self._views and self._pause):
            if self._not_before_end(self._held[0].heard.what, self._held[0].due) > now:
                break
            self._take(self._held.popleft().heard, now)

    def _begin_game(self, now: float) -> None:
        """Take in what was held up to the beginning of a game whose boards are there already."""
        begins = [isinstance(held.heard.what, m.StateChanged) for held in self._held]
        if self.state != State.TURN and self._view is None and True in begins:
            for _ in range(begins.index(True) + 1):
                self._take(self._held.popleft().heard, now)

    # --- what is public -------------------------------------------------------------------------------------------

    def _take(self, heard: Heard, now: float) -> None:
        match heard.what:
            case Forget():
                self._forget_retained()
            case Fact() as fact:
                self._take_fact(fact)
            case m.StateChanged(state):
                if state is State.OVER and self.state != state and not heard.retained:
                    self._end_until = now + END_SECONDS
                self._change_state(state)
            case m.PlayersListed(names):
                if self.state == State.LOBBY and set(names) - set(self.names) and not heard.retained:
                    self._place_from(now)
                self.names = names
            case m.PlacementJudged(player, spelling, approved):
                self._judge(player, plain_ship(spelling), approved)
            case (m.TurnBegan() | m.TurnResumed()) as turn:
                self._begin_turn(turn, now, retained=heard.retained)
            case m.SalvoResolved() as result:
                self._resolve(result)
            case m.BoardShown(player, cells):
                _keep(self.game.marks, player, cells)
            case m.PlayerStats(player) as stats:
                _keep(self.game.stats, player, stats)
            case m.GameWon() as won:
                self.game.aborted = not won.winners
                self._win(won.winners)
            case m.HostActed() as acted:
                self._paused, self._notice = acted.paused, acted.text or self._notice
                if acted.do is m.HostAction.PAUSE and not heard.retained:
                    self._placing_ends = None
                if acted.do is m.HostAction.RESUME and self.names and not heard.retained:
                    self._place_from(now)
                if self._placing_ends is not None and not heard.retained:
                    self._placing_ends += acted.seconds or 0
            case m.ChatSaid() as said:
                if not heard.retained:
                    self.chat.append(said)
            case _:
                pass

    def _place_from(self, now: float) -> None:
        """Begin the time to place ships, or restart it (SALVO-JOIN-17)."""
        seconds, ends = self._placing_seconds, self._placing_ends
        if seconds is None or self._paused:
            return
        if ends is None or now > ends:
            self._placing_began, ends = now, now
        self._placing_ends = max(ends, min(now + seconds, self._placing_began + MAX_PLACEMENT_TIMES * seconds))

    def _forget_retained(self) -> None:
        self.state, self.names, self._approved = "", (), {}
        self._placing_ends, self._end_until = None, 0.0
        self._paused, self._notice = False, ""
        self._before, self.game = self.game, _Game()

    def _take_fact(self, fact: Fact) -> None:
        game = self.game
        match fact.topic:
            case topics.SUNK:
                _mark(game.sunk, (fact.player, self._ship(fact.ship)), fact.there)
            case topics.DEFEATED:
                _mark(game.out, fact.player, fact.there)
            case topics.APPROVED:
                self._judge(fact.player, plain_ship(fact.ship), approved=False)
            case topics.LIST:
                self.names = ()
            case topics.STATS:
                game.stats.pop(fact.player, None)
            case topics.BOARD:
                game.marks.pop(fact.player, None)
            case topics.TURN:
                game.turn = None
            case topics.WINNER:
                game.winners, game.aborted = (), False
            case topics.HOSTED:
                self._paused, self._notice = False, ""
            case _:
                pass  # such as the referee's boards: the last ones stand until the next lobby

    def _ship(self, spelling: str) -> str:
        plain = plain_ship(spelling)
        return next((ship.name for ship in self.book.fleet if plain_ship(ship.name) == plain), plain)

    def _judge(self, player: str, ship: str, approved: bool) -> None:
        ships = self._approved.get(player, set())
        if not approved:
            ships.discard(ship)
        elif len(ships) < len(self.book.fleet) and (player in self._approved or len(self._approved) < MAX_FACTS):
            self._approved[player] = ships | {ship}

    def _change_state(self, state: State) -> None:
        if state == self.state:
            return
        if state == State.LOBBY:
            if self.game.winners and not (self._view and self._view.game == self.game.number):
                self._boards = self._boards and bool(self.delay_seconds)
            self.game, self._before, self._view = _Game(), _Game(), None
            self._placing_ends = None
        self._starting = state == State.TURN and self.state == State.LOBBY
        self.state = state

    def _in_game(self, number: int) -> None:
        """Begin to show another game than before."""
        if self.game.number not in (0, number):
            self.game = _Game()
        self.game.number = number
        if self._starting:
            self._starting = False
            self.feed.appendleft({"kind": "began", "game": number, "turn": 0, "players": list(self.names)})

    def _begin_turn(self, turn: m.TurnBegan | m.TurnResumed, now: float, *, retained: bool) -> None:
        self._in_game(turn.game)
        left = (turn.deadline - turn.now) / 1000
        if retained and self._clock_ahead is not None:
            left = min(left, turn.deadline / 1000 - self._clock_ahead - now)
        self.game.turn, self.game.turn_ends = turn, now + max(0.0, left)

    def _resolve(self, result: m.SalvoResolved) -> None:
        self._in_game(result.game)
        if result == self._before.result:  # the game goes on where the connection was lost
            before, self._before = self._before, _Game()
            game = self.game
            game.counts, game.whole, game.chances = before.counts, before.whole, before.chances
            game.last, game.comment, game.last_turn = before.last, before.comment, before.last_turn
            game.result = result
            return
        if result.turn <= self.game.last_turn:
            return
        self.game.result = result
        if not self._boards:
            self._count(result)
            hit = result.outcomes_if_told or ()
            aims = tuple(
                (target, x, y, hit[shot] if hit else None)
                for shot, (target, x, y) in enumerate(result.aims_if_told or ())
            )
            sunk = tuple((each.player, each.ship) for each in result.sunk)
            figures = result.game, result.turn, result.player, result.shots, result.hits
            fates = {name: result.fate(name, self._removed) for name in result.defeated}
            self._tell(Salvo(*figures, sunk, fates, aims, result.turn in self._given_up))
        self.game.last_turn = max(self.game.last_turn, result.turn)

    def _count(self, result: m.SalvoResolved) -> None:
        game = self.game
        game.whole = game.whole and result.turn == game.last_turn + 1
        if result.player in game.counts or len(game.counts) < MAX_FACTS:
            count = game.counts.setdefault(result.player, _Count())
            count.shots, count.hits, count.turns = (
                count.shots + result.shots,
                count.hits + result.hits,
                count.turns + 1,
            )

    def _win(self, winners: tuple[str, ...]) -> None:
        if winners and winners != self.game.winners:
            newest = self.feed[0] if self.feed else {}
            if (newest.get("kind"), newest.get("game")) != ("won", self.game.number):
                turn = self.game.last_turn
                self.feed.appendleft({"kind": "won", "game": self.game.number, "turn": turn, "players": list(winners)})
        self.game.winners = winners

    # --- the referee's boards -------------------------------------------------------------------------------------

    def _show_boards(self, view: m.RefereeView, now: float) -> None:
        self._in_game(view.game)
        before = self._view if self._view is not None and self._view.game == view.game else None
        self._view = view
        self.game.out = {board.player for board in view.boards if board.out}
        lost = {(board.player, ship) for board in view.boards for ship in self._lost(board)}
        sunk, self.game.sunk = lost - (self.game.sunk if before else lost), lost
        if view.last is not None and (before is None or before.turn < view.turn):
            out = self.game.out - ({board.player for board in before.boards if board.out} if before else self.game.out)
            aims = tuple((shot.target, shot.x, shot.y, shot.hit) for shot in view.last.shots)
            hits = sum(shot.hit for shot in view.last.shots)
            figures = view.game, view.turn, view.last.player, len(aims), hits
            defeated = tuple(board.player for board in view.boards if board.player in out)
            result = m.SalvoResolved(*figures, (), defeated)
            fates = {name: result.fate(name, self._removed) for name in defeated}
            self._tell(Salvo(*figures, tuple(sorted(sunk)), fates, aims, view.turn in self._given_up))
        self.game.last_turn = view.turn
        if view.winners and self.state != State.OVER:
            self._win(view.winners)

    def _lost(self, board: m.RefereeBoard) -> Iterator[str]:
        letters = "".join(board.rows)
        for number, ship in enumerate(self.book.fleet):
            letter = ship_letter(number)
            if letter not in letters and letter.upper() in letters:
                yield ship.name

    def race(self) -> Race | None:
        """Return what chances are worked out from; None while there is nothing to say."""
        view = self._view
        if (
            view is None
            or not view.boards
            or view.winners
            or self.book.ending != "last_afloat"
            or view.game != self.game.number
        ):
            return None
        return Race.of(view, self.book)

    # --- telling --------------------------------------------------------------------------------------------------

    def _tell(self, salvo: Salvo) -> None:
        before = self._standing()
        game = self.game
        game.last = salvo
        game.sunk |= set(salvo.sunk) if len(game.sunk) < MAX_FACTS else set()
        game.out |= set(salvo.defeated)
        game.fates.update(salvo.defeated)
        game.comment = comment(salvo, before, self._standing())
        about = {"game": salvo.game, "turn": salvo.turn, "by": salvo.player}
        for player, ship in salvo.sunk:
            self.feed.appendleft({"kind": "sunk", **about, "player": player, "ship": ship})
        for player in salvo.defeated:
            self.feed.appendleft({"kind": "defeated", **about, "player": player, "fate": salvo.defeated[player]})

    def _standing(self) -> Standing:
        ships = len(self.book.fleet)
        sunk = Counter(player for player, _ in self.game.sunk)
        told = self._view is not None or self.book.sinkings is Sinkings.TOLD
        return Standing({name: ships - sunk[name] for name in self.names} if told else {}, frozenset(self.game.out))

    # --- the picture ----------------------------------------------------------------------------------------------

    def picture(self, now: float, standings: Sequence[m.Standing] = ()) -> dict[str, Any]:
        """Return all that a page shows of this table, JSON-ready; ``static/hall.js`` draws it.

        Args:
            standings: of the evening, over all tables.
        """
        view, game = self._view, self.game
        playing = self.state == State.TURN or (view is not None and self.state != State.OVER)
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
            "last": None if game.last is None else game.last._asdict(),
            "comment": game.comment,
            "feed": list(self.feed),
            "winners": list(game.winners),
            "aborted": game.aborted,
            "host": {"paused": self._paused, "text": self._notice},
            "chat": [{"from": said.sender, "text": said.text} for said in self.chat],
            "standings": self._standings(standings[:MAX_STANDINGS]),
        }

    def _rules(self) -> dict[str, Any]:
        book = self.book
        return {
            "name": book.name,
            "width": book.grid.width,
            "height": book.grid.height,
            "fleet": [[ship.name, ship.length] for ship in book.fleet],
            "goal": book.goal,
            "sinkings": self._view is not None or book.sinkings is Sinkings.TOLD,
        }

    def _lobby(self, now: float) -> dict[str, Any] | None:
        """Return when placing ends at the latest, and when a game that has begun will be shown, both if known."""
        if self.state != State.LOBBY:
            return None
        begun = next((held.due for held in self._held if held.heard.what == m.StateChanged(State.TURN)), None)
        ends = self._placing_ends if self.names and begun is None else None
        if ends is not None and now > ends + PASSED_SECONDS:
            ends = None
        left, begins = (None if at is None else round(1000 * max(0.0, at - now)) for at in (ends, begun))
        wanted = self.players_wanted if self.players_wanted != _ANY_NUMBER else None
        return {"left_ms": left, "begins_ms": begins, "players": wanted}

    def _turn(self, now: float) -> dict[str, Any] | None:
        view, turn, last = self._view, self.game.turn, self.game.last_turn
        if turn is not None and turn.turn >= last:
            left = round(1000 * max(0.0, self.game.turn_ends - now))
            told = {"turn": turn.turn, "player": turn.player, "shots": turn.shots, "fired": turn.turn == last}
            return {**told, "left_ms": left, "whole_ms": turn.deadline - turn.now}
        if view is None or not view.player:
            return None
        told = {"turn": last + 1, "player": view.player, "shots": view.shots, "fired": False}
        return {**told, "left_ms": None, "whole_ms": None}

    def _players(self) -> list[dict[str, Any]]:
        view, game = self._view, self.game
        boards = {} if view is None else {board.player: board for board in view.boards}
        names = list(boards) if view is not None and self.state != State.LOBBY else list(self.names)
        places = {name: stats.place for name, stats in game.stats.items()}
        if self.state == State.OVER:
            names.sort(key=lambda name: places.get(name, len(names)))
        badges = badges_of(names)
        return [self._player(name, badges[name], boards.get(name), places) for name in names]

    def _player(
        self, name: str, badge: Badge, board: m.RefereeBoard | None, places: Mapping[str, int]
    ) -> dict[str, Any]:
        game = self.game
        over = self.state == State.OVER
        stats = game.stats.get(name)
        count = game.counts.get(name, _Count()) if game.whole and game.last_turn else None
        figures: m.PlayerStats | m.RefereeBoard | _Count | None = stats or board or count
        marks = game.marks.get(name) if board is None else None
        rows = None if board is None else list(board.rows)
        width = self.book.grid.width
        if marks is not None and len(marks) == self.book.grid.size:
            rows = [marks[first : first + width] for first in range(0, len(marks), width)]
        chances = game.chances
        return {
            "name": name,
            **badge._asdict(),
            "placed": len(self._approved.get(name, ())) if self.state == State.LOBBY else None,
            "out": name in game.out,
            "fate": game.fates.get(name),
            "place": places.get(name) if over and not game.aborted else None,
            "won": over and name in game.winners,
            "sunk": [ship.name for ship in self.book.fleet if (name, ship.name) in game.sunk],
            "shots": None if figures is None else figures.shots,
            "hits": None if figures is None else figures.hits,
            "turns": None if figures is None or isinstance(figures, m.RefereeBoard) else figures.turns,
            "board": rows,
            "marks": board is None and rows is not None,
            "chance": None if chances is None or over else chances.of.get(name),
        }

    def _standings(self, standings: Sequence[m.Standing]) -> list[dict[str, Any]]:
        badges = badges_of(self.names)
        return [
            {
                "name": each.team,
                **(badges.get(each.team) or badge_of(each.team))._asdict(),
                "points": each.points / 1000,
                "games": each.games,
                "shots": each.shots,
                "hits": each.hits,
            }
            for each in standings
        ]

    def summary(self) -> dict[str, Any]:
        """Return what an overview of all tables shows of this one."""
        picture, ships = self.picture(0.0), len(self.book.fleet)
        kept = ("name", "colour", "emblem", "out", "won", "chance")
        players = [
            {**{key: each[key] for key in kept}, "ships": ships, "afloat": ships - len(each["sunk"])}
            for each in picture["players"]
        ]
        return {
            "table": self.name,
            "state": picture["state"],
            "game": self.game.number,
            "turn": self.game.last_turn,
            "headline": self._headline(picture),
            "players": players,
        }

    def _headline(self, picture: Mapping[str, Any]) -> str:
        turn, winners = picture["turn"], self.game.winners
        if picture["state"] == State.OVER and (winners or self.game.aborted):
            return outcome(winners)
        if picture["host"]["paused"]:
            return "paused by the host"
        if turn is not None and turn["player"]:
            return f"{turn['player']} fires {turn['shots']}"
        return "in the lobby" if picture["state"] == State.LOBBY else ""


def _keep(facts: dict[Any, Any], key: object, value: object, most: int = MAX_FACTS) -> None:
    if key in facts or len(facts) < most:
        facts[key] = value


def _mark(facts: set[Any], fact: object, there: bool) -> None:
    if not there:
        facts.discard(fact)
    elif len(facts) < MAX_FACTS:
        facts.add(fact)
