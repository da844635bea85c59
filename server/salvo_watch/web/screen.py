"""The picture of a table: the one value that a browser draws, made only from what is shown of the table.

With boards, the picture of a game is made from them alone; without, from what is public. Figures that nobody can know
who came late are None, never wrong.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Final

from salvo import messages as m
from salvo.badges import Badge, Badges
from salvo.messages import State
from salvo.rules import Sinkings
from salvo.table_state import TableState, TurnClock
from salvo_display.replay import ship_letter
from salvo_display.replay_text import outcome
from salvo_server.spectators.game_lengths import time_left_at
from salvo_watch.web.chances import Chances, Race
from salvo_watch.web.commentary import Moment, ShooterStanding, ShownSalvo, moments

#: A number of teams that is not a number to wait for: as many as can ever take part.
_ANY_NUMBER: Final = m.Limits().most_players
#: Chances are shown for so many salvos after theirs; where games go faster than playouts, they would be of long ago.
OLD_CHANCES: Final = 3
MAX_FEED: Final = 12
MAX_CHAT: Final = 30
#: Teams of the standings that a picture has.
MAX_STANDINGS: Final = 40
#: A time to place ships that has passed for so long without a game has begun none.
PASSED_SECONDS: Final = 2.0


@dataclass(slots=True)
class Scene:
    """What is shown of a game beside its state.

    Attributes:
        moments: what matters about the salvo.
        missed: how many turns in a row players have not fired.
    """

    salvo: ShownSalvo | None = None
    moments: tuple[Moment, ...] = ()
    missed: dict[str, int] = field(default_factory=dict)
    chances: Chances | None = None


class Screen:
    """What is shown of a table; :class:`~salvo_watch.web.tables.Table` changes it.

    Attributes:
        table: how the table stands, as it is shown.
        boards: whether the picture of a game is made from the referee's view: for commentators, and on a tape.
        view: the referee's view, and ``first`` the first one of the game.
        notice: the host's last announcement in this game.
        placing_ends: when the time to place ships is over; None where it does not run.
        players_wanted: with how many teams the game of the lobby begins at once; None where it waits for no number.
    """

    def __init__(self, name: str, boards: bool, badges: Badges) -> None:
        """Show nothing yet; the arguments are those of the table."""
        self.name = name
        self.boards = boards
        self.table = TableState()
        self.clock = TurnClock()
        self.scene = Scene()
        self.view: m.RefereeView | None = None
        self.first: m.RefereeView | None = None
        self.feed: deque[dict[str, Any]] = deque(maxlen=MAX_FEED)
        self.chat: deque[m.ChatPublished] = deque(maxlen=MAX_CHAT)
        self.notice = ""
        self.placing_ends: float | None = None
        self.players_wanted: int | None = None
        self._badges = badges

    # --- what is known ----------------------------------------------------------------------------------------------

    def _standing(self) -> ShooterStanding:
        out, lost = frozenset(self._out_now), Counter(player for player, _ in self._sunk_now)
        names, boards, ships = self._names, self._boards, len(self.table.book.fleet)
        worth = {name: ships - lost[name] for name in names} if self._shows_sinkings else {}
        if self.table.book.goal:
            hits = {name: self._figures(name, boards.get(name))[1] for name in names}
            worth = {name: points for name, points in hits.items() if points is not None}
        return ShooterStanding(worth if len(worth) == len(names) else {}, out, lost.total())

    @property
    def _boards(self) -> dict[str, m.RefereeBoard]:
        return {} if self.view is None else {board.player: board for board in self.view.boards}

    @property
    def _names(self) -> tuple[str, ...]:
        return self.table.names if self.view is None or self.table.state is State.LOBBY else tuple(self._boards)

    @property
    def _shows_sinkings(self) -> bool:
        return self.view is not None or self.table.book.sinkings is Sinkings.TOLD

    @property
    def _sunk_now(self) -> Set[tuple[str, str]]:
        return self.table.game.sunk if self.view is None else self.sunk_of(self.view)

    @property
    def _out_now(self) -> Set[str]:
        return self.table.game.out if self.view is None else out_of(self.view)

    def sunk_of(self, view: m.RefereeView) -> set[tuple[str, str]]:
        """Return the ships that have sunk in the referee's view, with their owners."""
        return {(board.player, ship) for board in view.boards for ship in self._lost(board)}

    def _lost(self, board: m.RefereeBoard) -> Iterator[str]:
        letters = "".join(board.rows)
        for number, ship in enumerate(self.table.book.fleet):
            letter = ship_letter(number)
            if letter not in letters and letter.upper() in letters:
                yield ship.name

    def race(self) -> Race | None:
        """Return what chances are worked out from; None while there is nothing to say, or it is known."""
        view, book, chances = self.view, self.table.book, self.scene.chances
        if view is None or not view.boards or view.winners or book.ending != "last_afloat":
            return None
        if view.game != self.table.game.number:
            return None
        race = Race.of(view, book)
        return None if chances is not None and (chances.game, chances.turn) == (race.game, race.turn) else race

    def show_salvo(self, salvo: ShownSalvo) -> None:
        """Show a salvo with what matters about it, and report what it brought about."""
        after, goal, scene = self._standing(), self.table.book.goal, self.scene
        gained = Counter({salvo.player: salvo.hits} if goal else {})
        gained.subtract(() if goal else [owner for owner, _ in salvo.sunk])
        before = ShooterStanding(
            {name: worth - gained[name] for name, worth in after.worth.items()},
            after.out - salvo.defeated.keys(),
            after.lost - len(salvo.sunk),
        )
        missed = scene.missed.pop(salvo.player, 0)
        if not salvo.shots and salvo.player in self._names:
            scene.missed[salvo.player] = missed + 1
        ships = bool(after.worth) and not goal
        scene.salvo, scene.moments = salvo, tuple(moments(salvo, before, after, missed, by_ships=ships))
        about = {"game": salvo.game, "turn": salvo.turn, "by": salvo.player}
        for player, ship in salvo.sunk:
            self.feed.appendleft({"kind": "sunk", **about, "player": player, "ship": ship})
        for player in salvo.defeated:
            self.feed.appendleft({"kind": "defeated", **about, "player": player, "fate": salvo.defeated[player]})

    def show_winners(self, winners: tuple[str, ...]) -> None:
        """Report who has won, or that a host has ended the game, once."""
        game, newest = self.table.game, self.feed[0] if self.feed else {}
        kind = "won" if winners else "aborted"
        if (newest.get("kind"), newest.get("game")) != (kind, game.number):
            self.feed.appendleft({"kind": kind, "game": game.number, "turn": self.turn, "players": list(winners)})

    def show_chances(self, chances: Chances) -> bool:
        """Show chances; return whether they are of the game that is shown."""
        if chances.game == self.table.game.number:
            self.scene.chances = chances
        return self.scene.chances is chances

    # --- the picture ------------------------------------------------------------------------------------------------

    def picture(self, now: float, *, withheld: bool = False) -> dict[str, Any]:
        """Return all that a page shows of this table, JSON-ready; ``static/hall.js`` draws it.

        Args:
            withheld: whether the game is decided, and nothing is shown of it but who plays.
        """
        view, game, scene = self.view, self.table.game, self.scene
        state = self.table.state
        playing = not withheld and (state is State.TURN or (view is not None and state is not State.OVER))
        picture = {
            "table": self.name,
            "state": State.OVER.value if withheld else State.TURN.value if playing else self.state,
            "withheld": withheld,
            "game": game.number,
            "rules": self._rules(),
            "lobby": self._lobby(now),
            "players": self._players(),
            "turn": self._turn(now) if playing else None,
            "last": None if scene.salvo is None else {**scene.salvo._asdict(), "moments": scene.moments},
            "lead": self._lead(playing=playing),
            "feed": list(self.feed),
            "left": "" if not playing or (left := time_left_at(self.table)) is None else str(left),
            "seconds": self._seconds(),
            "winners": list(self._winners),
            "aborted": game.aborted,
            "host": {"paused": self.table.paused, "text": self.notice},
            "chat": [{"from": line.sender, "text": line.text} for line in self.chat],
        }
        if withheld:
            nothing: dict[str, Any] = {"last": None, "lead": None, "feed": [], "winners": [], "aborted": False}
            picture |= {**nothing, "seconds": None, "players": self._who_plays()}
        return picture

    def summary(self, *, withheld: bool = False) -> dict[str, Any]:
        """Return what an overview of all tables shows of this one; see :meth:`picture`."""
        picture, ships = self.picture(0.0, withheld=withheld), len(self.table.book.fleet)
        shown = ("name", "colour", "emblem", "out", "won")
        tells_ships = not withheld and self.table.state is not State.LOBBY  # where none may be placed yet
        turn = 0 if withheld else self.turn if picture["turn"] is None else picture["turn"]["turn"]
        players = [
            {
                **{key: player[key] for key in shown},
                "ships": ships,
                "afloat": ships - len(player["sunk"]) if tells_ships else None,
            }
            for player in picture["players"]
        ]
        return {
            "table": self.name,
            "state": picture["state"],
            "withheld": withheld,
            "game": self.table.game.number,
            "turn": turn,
            "fires": "" if picture["turn"] is None else picture["turn"]["player"],
            "headline": self._headline(picture),
            "players": players,
        }

    @property
    def left(self) -> int:
        """How many players are not out, and have a ship afloat as far as that is announced."""
        sunk = Counter(player for player, _ in self._sunk_now)
        ships, out = len(self.table.book.fleet), self._out_now
        return sum(name not in out and sunk[name] < ships for name in self.table.names)

    @property
    def state(self) -> str:
        """The state as it is shown; empty until it is known."""
        return self.table.state or ""

    @property
    def turn(self) -> int:
        """The turn of the last salvo that is shown; 0 before the first."""
        game, view = self.table.game, self.view
        shown = view.turn if view is not None and view.game == game.number else 0
        return max(shown, game.last_turn)

    @property
    def _winners(self) -> tuple[str, ...]:
        game, view = self.table.game, self.view
        if game.won is None and view is not None and view.game == game.number:
            return view.winners
        return game.winners

    def _headline(self, picture: Mapping[str, Any]) -> str:
        turn, winners = picture["turn"], self._winners
        if picture["withheld"]:
            return "the game is over; its tape shows how"
        if picture["state"] == State.OVER and (winners or self.table.game.aborted):
            return outcome(winners)
        if picture["host"]["paused"]:
            return "paused by the host"
        if turn is not None and turn["player"]:
            return f"{turn['player']} fires {turn['shots']}"
        return ("in the lobby" if picture["players"] else "no game now") if picture["state"] == State.LOBBY else ""

    def _lead(self, *, playing: bool) -> dict[str, Any] | None:
        """Return who leads, and how far; at the end also before those who are out."""
        standing, over = self._standing(), self.table.state is State.OVER
        lead = (standing._replace(out=frozenset()) if over else standing).lead() if playing or over else None
        return None if lead is None else lead._asdict()

    def _seconds(self) -> int | None:
        """Return how long the game has taken; None if its beginning was not seen."""
        begun = self.first if self.view is not None else None
        return None if self.view is None or begun is None or begun.turn else round((self.view.at - begun.at) / 1000)

    def _rules(self) -> dict[str, Any]:
        book = self.table.book
        return {
            "name": book.name,
            "width": book.grid.width,
            "height": book.grid.height,
            "fleet": [[ship.name, ship.length] for ship in book.fleet],
            "goal": book.goal,
            "shots": book.shots,
            "sinkings": self._shows_sinkings,
        }

    def _lobby(self, now: float) -> dict[str, Any] | None:
        """Return when placing ends at the latest, if that is known, and the number of teams that is waited for."""
        if self.table.state is not State.LOBBY:
            return None
        ends = self.placing_ends if self.table.names else None
        if ends is not None and now > ends + PASSED_SECONDS:
            ends = None
        left = None if ends is None else round(1000 * max(0.0, ends - now))
        wanted = self.players_wanted if self.players_wanted != _ANY_NUMBER else None
        return {"left_ms": left, "players": wanted}

    def _turn(self, now: float) -> dict[str, Any] | None:
        view, turn, last = self.view, self.table.game.turn, self.turn
        if turn is not None and turn.turn >= last:
            left = round(1000 * max(0.0, self.clock.ends - now))
            whose = {"turn": turn.turn, "player": turn.player, "shots": turn.shots, "fired": turn.turn == last}
            return {**whose, "left_ms": left, "whole_ms": turn.deadline - turn.now}
        if view is None or not view.player:
            return None
        whose = {"turn": last + 1, "player": view.player, "shots": view.shots, "fired": False}
        return {**whose, "left_ms": None, "whole_ms": None}

    def _players(self) -> list[dict[str, Any]]:
        state, places = self.table.state, self.table.game.places
        boards, names = self._boards, list(self._names)
        if state is State.OVER:
            names.sort(key=lambda name: places.get(name, len(names)))
        badges, sunk, out = self._badges.of(names), self._sunk_now, self._out_now
        return [
            self._player(name, badges[name], boards.get(name), places, sunk, self._winners, out=name in out)
            for name in names
        ]

    def _who_plays(self) -> list[dict[str, Any]]:
        """Return the players of a game of which nothing else is to be shown, in play order."""
        names = self.table.names
        badges = self._badges.of(names)
        return [
            self._player(name, badges[name], None, {}, frozenset(), (), out=False)
            | {"shots": None, "hits": None, "turns": None, "sunk": None, "board": None, "marks": False}
            for name in names
        ]

    def _player(
        self,
        name: str,
        badge: Badge,
        board: m.RefereeBoard | None,
        places: Mapping[str, int],
        sunk: Set[tuple[str, str]],
        winners: Sequence[str],
        *,
        out: bool,
    ) -> dict[str, Any]:
        shown, chances = self.table, self.scene.chances
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
            "won": over and name in winners,
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
        game = self.table.game
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
        grid, marks = self.table.book.grid, self.table.game.boards.get(name)
        if marks is None or len(marks) != grid.size:
            return None
        return [marks[first : first + grid.width] for first in range(0, grid.size, grid.width)]


def table_of_standings(standings: Sequence[m.Standing], badges: Badges) -> list[dict[str, Any]]:
    """Return the first teams of the standings, JSON-ready, each with its badge."""
    shown = standings[:MAX_STANDINGS]
    of = badges.of(row.team for row in shown)
    return [
        {
            "name": row.team,
            **of[row.team]._asdict(),
            "place": row.place,
            "points": row.points / 1000,
            "games": row.games,
            "shots": row.shots,
            "hits": row.hits,
        }
        for row in shown
    ]


def out_of(view: m.RefereeView) -> set[str]:
    """Return who is out in the referee's view."""
    return {board.player for board in view.boards if board.out}
