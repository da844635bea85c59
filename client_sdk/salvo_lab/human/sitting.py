"""What a person is at, and what comes of its keys, clicks and words; it knows no toolkit.

A screen and a page are skins of it: they hand it what came over the channel (:mod:`salvo_lab.human.channel`) and what
the person does, and draw what it says. Small letters are commands, capital letters rows and digits columns, so that
``d`` deletes and ``D`` is a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from time import monotonic
from typing import Final

from salvo.bots.player import check_salvo
from salvo.cli.output import places_line
from salvo.errors import CODES, SalvoError
from salvo.rules import Announce, Fleet, Grid, Orientation
from salvo.view import Shot
from salvo_lab.human.channel import (
    Again,
    Broken,
    Channel,
    Clock,
    DeskMessage,
    FiredSalvo,
    GameOver,
    Line,
    LinkState,
    Notice,
    PlaceFleet,
    Revealed,
    Seen,
    TakeBack,
    Taunt,
)
from salvo_lab.human.cursor import Cursor
from salvo_lab.human.keys import AGAIN, CHANGE, CHOOSE, IN_GAME, LEAVE, NEXT_BOARD, TO_A_SQUARE
from salvo_lab.human.setup import Setup
from salvo_lab.human.setup_actions import SettingUp, SetupAction
from salvo_lab.human.snapshot import Snapshot, incoming_words

#: Lines of news that are stored.
_MAX_NEWS: Final = 40
#: Letters of a line of news: on an open broker any client may say anything, at any length.
_MAX_LINE: Final = 300


class Mode(StrEnum):
    """What the person is at; the first word of the title line."""

    SETUP = "Setup"
    WAITING = "Waiting"
    SHOOT = "Your turn"
    END = "End"


@dataclass(frozen=True, slots=True)
class BoardPicture:
    """A board as the person sees it.

    Attributes:
        marks: one letter a cell.
        active: whether a click on it is expected.
        sunk_apart: whether its sunk ships stand out from hits.
    """

    player: str
    heading: str
    marks: str
    active: bool = False
    sunk_apart: bool = False


class Sitting:
    """A person's side of all games that it plays until it leaves.

    Attributes:
        mode: what the person is at.
        message: what its last step came to.
        news: lines of what has happened, the latest last, each with the turn of its salvo; 0 for what is none.
        trouble: what is wrong with the connection; empty if nothing is.
        ended: ``left`` or ``broken``; empty while the person plays.
        error: why the game could not go on.
        leaving: whether the person was asked if it wants to leave.
        sight: the game; None before the first turn.
        over: the end of the game that is shown.
        target: the player whose board is shown for shots.
        chosen: shots that are not fired yet.
        outcome: what came of the last salvo, below the target's board.
        cursor: the square that keys have chosen.
    """

    def __init__(self, desk: Channel) -> None:
        self.mode = Mode.WAITING
        self.message = ""
        self.news: list[tuple[str, int]] = []
        self.trouble = ""
        self.ended = ""
        self.error: BaseException | None = None
        self.leaving = False
        self.sight: Snapshot | None = None
        self.over: GameOver | None = None
        self.target = ""
        self.chosen: list[Shot] = []
        self.outcome = ""
        self.cursor = Cursor()
        self._desk = desk
        self._setup: SettingUp | None = None  # the last one, after that
        self._fleet: Fleet | None = None  # that was sent last
        self._placed = False  # whether it was sent for the game that is to begin
        self._changing = False  # whether it is to be changed
        self._seen = 0  # how many shots at the own board were there when the person last fired
        self._next: PlaceFleet | None = None  # the set-up that waits until the person has seen the end of a game
        self._clock = Clock()
        self._revealed = Revealed(0, {})

    # --- what comes from the game ---------------------------------------------------------------------------------

    def receive(self, news: DeskMessage) -> None:
        """Apply what came over the channel."""
        match news:
            case PlaceFleet():
                self._ask_for_fleet(news)
            case Clock():
                self._clock = news
            case Seen(sight):
                self._see(sight)
            case Notice(text, player, turn):
                line = f"{player}: {text}" if player else text
                self.news = [*self.news, (line[:_MAX_LINE], turn)][-_MAX_NEWS:]
                if self.sight is not None and player:
                    self.outcome = self._outcome_after(player, text, self.sight)
            case GameOver():
                self._end(news)
            case Revealed():
                self._revealed = news
            case LinkState(trouble):
                self.trouble = trouble
            case Broken(error):
                self.error, self.ended = error, "broken"

    def _outcome_after(self, player: str, text: str, sight: Snapshot) -> str:
        """Return the text below the target: the last result, until an opponent plays, where the board has it, too."""
        if player == sight.me:
            return text
        return self.outcome if sight.rules.announce is Announce.COUNT else ""

    def _ask_for_fleet(self, asked: PlaceFleet) -> None:
        """Place the fleet of before at once where rivals wait for it; else let the person place one."""
        fleet, self._next = self._known_fleet(asked), None
        if asked.awaited and fleet is not None and not self._changing and self.mode is not Mode.SETUP:
            self._setup = SettingUp(asked, self.cursor, self._send_fleet, fleet)
            if self.mode is Mode.END:  # which the person may still look at
                self._place(fleet)
                return
            self._forget_game()
            self.message = "your fleet is placed as before; c changes it"
            self._send_fleet(fleet)
        elif self.mode is Mode.END and not self._changing:
            self._next = asked  # when the person has seen the end
        else:
            self._begin_setup(asked)

    def _known_fleet(self, asked: PlaceFleet) -> Fleet | None:
        """Return the fleet that was sent last, if it is by the same rules."""
        return self._fleet if self._fleet is not None and self._fleet.book == asked.rules else None

    def _begin_setup(self, asked: PlaceFleet) -> None:
        before, fleet = self._setup, self._known_fleet(asked)
        if self.mode is Mode.SETUP and before is not None and before.asked.rules == asked.rules:
            before.asked, self.message = asked, ""  # asked again, after an outage or at another table, it goes on
        else:
            self._setup = SettingUp(asked, self.cursor, self._send_fleet, fleet)
            self.message = "choose a ship, then one end of it, then the other"
            if fleet is not None:
                self.message = "your fleet stands as before: Done places it"
        self.mode = Mode.SETUP
        self._placed = self._changing = False
        self._forget_game()

    def _forget_game(self) -> None:
        self.sight, self.over, self.chosen, self._seen = None, None, [], 0
        self._revealed = Revealed(0, {})
        self.outcome = ""
        self.news = [(line, 0) for line, _ in self.news]

    def _send_fleet(self, fleet: Fleet) -> None:
        self._place(fleet)
        self.mode = Mode.WAITING

    def _place(self, fleet: Fleet) -> None:
        self._fleet, self._placed = fleet, self._desk.lobbies
        self._desk.answer(fleet)

    def _see(self, sight: Snapshot) -> None:
        if self._placed:  # this is the game that it was for
            self._placed = self._changing = False
            self.mode = Mode.WAITING
            self._forget_game()
        before, self.sight = self.sight, sight
        if before is None and (self._setup is None or self._setup.asked.game != sight.game):
            self._seen = len(sight.incoming)  # back in a game: what was long ago is no news
        rivals = rivals_of(sight)
        if self.target not in rivals or (self.target in sight.out and sight.shots):
            self.target = next((name for name in rivals if name not in sight.out), rivals[0])
        if self.mode is Mode.END and self.over is not None and self.over.game == sight.game:
            return
        self.mode = Mode.SHOOT if sight.shots else Mode.WAITING
        if before is None or (before.game, before.turn) != (sight.game, sight.turn) or not sight.shots:
            if self.chosen:
                self.message = "the turn was over before you fired"
            self.chosen = []
            if sight.shots:
                self.message = f"your turn: {shots_of(sight.shots)}"
        elif before.shots != sight.shots:
            self.chosen = self.chosen[: sight.shots]

    def _end(self, over: GameOver) -> None:
        self.mode, self.over = Mode.END, over
        winners = [name for name, place in over.places.items() if place == 1]
        mine = "You win" if winners == [self.me] else "It is a tie" if self.me in winners else "You lose"
        if over.aborted:
            self.message = f"The host has aborted game {over.game}"
            return
        won = f"{over.winner} wins" if over.winner else f"{' and '.join(winners)} tie"
        self.message = f"{mine}. {won} game {over.game}. Places: {places_line(over.places)}"
        if self.outcome and winners == [self.me]:
            self.outcome += f". {mine}"

    # --- what the person does -------------------------------------------------------------------------------------

    def act(self, word: str) -> None:
        """Do what a word of :meth:`actions` says; at another time it does nothing."""
        leaving, self.leaving = self.leaving, False
        if word == "leave":
            self._leave(leaving)
        elif word == "restart" and self.mode is Mode.END:
            self._restart()
        elif word == "change":
            self._change()
        elif (setting_up := self.setting_up) is not None:
            self._guarded(lambda: setting_up.act(word))
        elif self.sight is not None:
            self._guarded(lambda: self._act_in_game(word))

    def click(self, player: str, cell: int, *, fires: bool = True) -> None:
        """Do what a click on a square does: it is the cursor and Enter in one.

        Args:
            player: whose board it is.
            cell: its index, row by row; of the board that is shown.
            fires: whether it fires at once where a turn has one shot; on the own board none does.
        """
        self.leaving = False
        if (setting_up := self.setting_up) is not None:
            if player == self.me:
                self.cursor.go(setting_up.setup.book.grid, cell)
                self._guarded(setting_up.click)
        elif self.sight is not None and player in self.sight.players:
            self.cursor.go(self.sight.rules.grid, cell)
            self._guarded(lambda: self._choose_square(player, fires=fires and player != self.me))

    def put(self, ship: str, cell: int, orientation: Orientation) -> None:
        """Place a ship from a cell on, to the right or downwards, wherever it was before; or say why it cannot be."""
        self.leaving = False
        if (setting_up := self.setting_up) is not None:
            self._guarded(lambda: setting_up.put(ship, cell, orientation))

    def press(self, key: str) -> None:
        """Do what a key does here."""
        leaving, self.leaving = self.leaving, False
        if key == LEAVE:
            self._leave(leaving)
        elif key == CHANGE and self.may_change:
            self._change()
        elif (setting_up := self.setting_up) is not None:
            self._guarded(lambda: setting_up.press(key))
        elif self.sight is not None:
            self._guarded(lambda: self._press_in_game(key))
        elif self.mode is Mode.END and key == AGAIN:
            self._restart()

    def write(self, line: str) -> None:
        """Send a chat line: ``@name text`` goes to one player, and ``/hit text`` is kept as a taunt."""
        text = line.strip()
        first, _, rest = text.partition(" ")
        if not self._desk.chat:
            self.message = "nobody reads chat in a game on one machine"
        elif first in ("/hit", "/miss"):
            self._desk.answer(Taunt(first == "/hit", rest.strip()))
        elif text and not text.startswith("@"):
            self._desk.answer(Line(text))
        elif rest.strip():
            self._desk.answer(Line(rest.strip(), first[1:]))

    @property
    def may_change(self) -> bool:
        """Whether the person may change its fleet, which stands until its game begins."""
        return self._placed and not self._changing

    def _change(self) -> None:
        if self.may_change:
            self._changing = True
            self._desk.answer(TakeBack())

    def _leave(self, leaving: bool) -> None:
        if self.mode is Mode.END or leaving:
            self.ended = "left"
            return
        self.leaving = True
        self.message = "the game is not over; q again leaves it"

    def _guarded(self, act: Callable[[], str | None]) -> None:
        """Do something that may not be allowed; the message is what came of it, or the reason."""
        try:
            words = act()
        except SalvoError as error:
            words = error.text
        if words is not None:
            self.message = words

    # --- playing --------------------------------------------------------------------------------------------------

    def _press_in_game(self, key: str) -> None:
        sight = self.sight
        assert sight is not None
        if key in NEXT_BOARD:
            self.target = self.beside_target(sight, NEXT_BOARD[key])
        elif self.mode is Mode.END:
            if key == AGAIN:
                self._restart()
        elif self.cursor.press(sight.rules.grid, key):
            pass
        elif key in CHOOSE:
            self._choose_square(self.target, fires=key == "enter")
        elif key in IN_GAME:
            self._act_in_game(IN_GAME[key])

    def _act_in_game(self, word: str) -> None:
        assert self.sight is not None
        match word.split(maxsplit=1):
            case ["aim", player] if player in rivals_of(self.sight):
                self.target = player
            case ["fire"]:
                self._fire()
            case ["skip"]:
                self._skip()
            case ["none"] if self.mode is not Mode.END:
                self.chosen, self.message = [], ""

    def _my_turn(self) -> Snapshot | None:
        if self.sight is not None and self.sight.shots and self.mode is Mode.SHOOT:
            return self.sight
        if self.mode is Mode.WAITING:
            self.message = CODES["not_your_turn"].meaning
        return None

    def _choose_square(self, player: str, *, fires: bool) -> None:
        """Choose the square under the cursor, or no longer; fire where a turn has one shot.

        A square that was fired at before is only chosen, and the message says what came of it.
        """
        sight = self._my_turn()
        if sight is None:
            return
        shot = Shot(player, *sight.rules.grid.xy(self.cursor.cell(sight.rules.grid)))
        before = "" if shot in self.chosen else sight.before(shot)
        if fires and sight.shots == 1 and not before:
            self.chosen = list(check_salvo([shot], sight))
            self._fire()
            return
        if shot in self.chosen:
            self.chosen.remove(shot)
        else:
            others = self.chosen if sight.shots > 1 else []
            self.chosen = list(check_salvo([*others, shot], sight))
        said = f"{before}; " if before else ""
        more = sight.shots - len(self.chosen)
        gives_up = f" and gives up {more}" if more else ""
        done = f"; Fire (f) sends {'it' if len(self.chosen) == 1 else 'them'}{gives_up}" if self.chosen else ""
        self.message = f"{said}{len(self.chosen)} of {shots_of(sight.shots)} chosen{done}"

    def _fire(self) -> None:
        sight = self._my_turn()
        if sight is None:
            return
        shots = check_salvo(self.chosen, sight)
        if not shots:
            self.message = "choose a square first"
            return
        self._acted(sight.after(shots))
        self._desk.answer(FiredSalvo(sight.game, sight.turn, shots))

    def _skip(self) -> None:
        sight = self._my_turn()
        if sight is None:
            return
        if not sight.rules.skipping:
            self.message = "these rules do not allow skipping a turn"
            return
        self._acted(replace(sight, shots=0))
        self._desk.answer(FiredSalvo(sight.game, sight.turn, ()))

    def _acted(self, after: Snapshot) -> None:
        self._seen, self.outcome = len(after.incoming), ""
        self.chosen, self.sight = [], after
        self.mode = Mode.SHOOT if after.shots else Mode.WAITING
        self.message = "" if self.mode is Mode.WAITING else f"{shots_of(after.shots)} left"

    def _restart(self) -> None:
        if self._next is not None:
            asked, self._next = self._next, None
            self._begin_setup(asked)
        elif self.over is not None and self.over.again:
            self.over = None
            self.mode = Mode.WAITING
            self.message = ""
            self._desk.answer(Again())

    # --- what is drawn --------------------------------------------------------------------------------------------

    @property
    def me(self) -> str:
        """The person's name in the game; empty before the first one."""
        if self.sight is not None:
            return self.sight.me
        return "" if self._setup is None else self._setup.asked.me

    @property
    def chat(self) -> bool:
        """Whether the person may write to others."""
        return self._desk.chat

    @property
    def setting_up(self) -> SettingUp | None:
        """The fleet that the person puts together; None at another time."""
        return self._setup if self.mode is Mode.SETUP else None

    @property
    def fleet(self) -> Setup | None:
        """The fleet that the person puts together, or has put together last; None before."""
        return None if self._setup is None else self._setup.setup

    @property
    def grid(self) -> Grid | None:
        """The grid of the boards; None before there is a game."""
        if self.sight is not None:
            return self.sight.rules.grid
        return None if self._setup is None else self._setup.asked.rules.grid

    @property
    def about(self) -> tuple[str, ...]:
        """What is played: the game and its rules, and the turn."""
        if self.sight is not None:
            return f"game {self.sight.game}, {self.sight.rules.name}", f"turn {self.sight.turn}"
        asked = None if self._setup is None else self._setup.asked
        return () if asked is None else (f"game {asked.game}, {asked.rules.name}",)

    @property
    def whose_turn(self) -> str:
        """The other player whose time runs; empty when it is the person's own, or nobody's."""
        sight = self.sight
        waits = sight is not None and self.mode is Mode.WAITING and self._clock.player in rivals_of(sight)
        return self._clock.player if waits else ""

    @property
    def before_turns(self) -> bool:
        """Whether the time that runs is the one for setting up."""
        return self.sight is None or self.mode is Mode.END

    @property
    def seconds_left(self) -> float | None:
        """How long the person, or another player, has for the next step; None where no clock runs."""
        if self.sight is not None and self.mode is Mode.SHOOT:
            deadline = self.sight.deadline
        else:
            shown = self.sight is None or self.whose_turn or self._next is not None
            deadline = self._clock.deadline if shown else None
        left = None if deadline is None else deadline - monotonic()
        return None if left is None or (left <= 0 and self.before_turns) else max(0.0, left)

    def actions(self) -> list[SetupAction]:
        """Return what the person may do besides choosing squares."""
        return list(self._game_actions()) if self.setting_up is None else self.setting_up.actions()

    def _game_actions(self) -> Iterator[SetupAction]:
        if self.may_change:
            yield SetupAction("change", "Change your fleet", CHANGE)
        if self.mode is Mode.SHOOT and self.sight is not None:
            yield SetupAction("fire", "Fire", "f", ready=bool(self.chosen))
            yield SetupAction("none", "Take back", "Esc", ready=bool(self.chosen))
            if self.sight.rules.skipping:
                yield SetupAction("skip", "Skip", "s")
        elif self._next is not None:
            yield SetupAction("restart", f"Set up game {self._next.game}", "r")
        elif self.over is not None and self.over.again:
            yield SetupAction("restart", "Restart", "r")

    def hints(self) -> list[str]:
        """Return what keys do now."""
        if (setting_up := self.setting_up) is not None:
            hints = setting_up.hints()
        elif self.mode is Mode.SHOOT and self.sight is not None:
            hints = [TO_A_SQUARE, "f: fire", "Esc: none"] + ["s: skip"] * self.sight.rules.skipping
        else:
            hints = [f"{action.key}: {action.text[0].lower()}{action.text[1:]}" for action in self._game_actions()]
        if self.sight is not None and len(self.sight.players) > 2:
            hints.append("Tab: next board")
        return [*hints, *["m: message"] * self.chat, "q: exit" if self.mode is Mode.END else "q: leave"]

    def own_board(self) -> BoardPicture | None:
        """Return the person's own board; None before there is a fleet."""
        if self.sight is not None and self.mode is not Mode.SETUP:
            marks = self.sight.aimed(self.me, self.chosen)
            heading = _heading(self.sight, self.me)
            return BoardPicture(self.me, heading, marks, active=self.mode is Mode.WAITING)
        if self._setup is None:
            return None
        active = self.setting_up is not None and self.setting_up.in_grid
        return BoardPicture(self.me, "your fleet", self._setup.setup.marks, active=active)

    def rival_board(self, sight: Snapshot, player: str) -> BoardPicture:
        """Return another player's board; with its ships, where the end of a game has shown them."""
        fleets, rivals = self.fleets_shown, rivals_of(sight)
        marks = sight.revealed(player, fleets[player]) if player in fleets else sight.aimed(player, self.chosen)
        which = f"{rivals.index(player) + 1}/{len(rivals)} " if len(rivals) > 1 else ""
        active = self.mode is Mode.SHOOT and player == self.target
        apart = sight.tells_sunk_cells and player not in fleets
        return BoardPicture(player, which + _heading(sight, player), marks, active=active, sunk_apart=apart)

    @property
    def fleets_shown(self) -> Mapping[str, Fleet]:
        """All fleets by player, once the game is over and as far as they have been revealed."""
        if self.over is None:
            return {}
        return self.over.fleets or (self._revealed.fleets if self._revealed.game == self.over.game else {})

    def beside_target(self, sight: Snapshot, by: int = 1) -> str:
        """Return the rival that comes so many places after the target."""
        rivals = rivals_of(sight)
        return rivals[(rivals.index(self.target) + by) % len(rivals)]

    def incoming(self, sight: Snapshot) -> str:
        """Return what shots did to the person's board since it last fired."""
        words = ", ".join(incoming_words(sight, self._seen))
        if not words and self.outcome and self.mode is Mode.SHOOT:
            return "no shot at you since your last turn"
        lost = self.over is not None and self.over.places.get(sight.me, 1) > 1
        return f"{words}. You lose" if words and lost else words


def _heading(sight: Snapshot, player: str) -> str:
    return ", ".join(["you" if player == sight.me else player, *standing_of(sight, player)])


def standing_of(sight: Snapshot, player: str) -> list[str]:
    """Return what is told of a player beside its board: ships afloat, points, whether it is defeated."""
    parts = []
    if sight.sunk:
        parts.append(f"{len(sight.rules.fleet) - len(sight.sunk[player])} afloat")
    if sight.points:
        parts.append(f"{sight.points[player]} of {sight.rules.goal} points")
    if player in sight.out:
        parts.append("defeated")
    return parts


def rivals_of(sight: Snapshot) -> list[str]:
    """Return the other players, in their order."""
    return [name for name in sight.players if name != sight.me]


def shots_of(count: int) -> str:
    """Return a number of shots in words."""
    return f"{count} shot{'s' * (count != 1)}"
