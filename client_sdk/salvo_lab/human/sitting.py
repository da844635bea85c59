"""What a person is at, and what comes of its keys, clicks and words; it knows no toolkit.

A screen and a page are skins of it: they hand it what came over the channel (:mod:`salvo_lab.human.channel`) and what
the person does, and draw what it says. Small letters are commands, capital letters rows and digits columns, so that
``d`` deletes and ``D`` is a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from time import monotonic
from typing import Final

from salvo.cli.output import places_line
from salvo.errors import CODES, SalvoError
from salvo.player import check_salvo
from salvo.rules import Announce, Grid, Orientation
from salvo.view import Shot
from salvo_display.boards.marks import Mark, display_name
from salvo_lab.human.channel import (
    Again,
    Broken,
    Channel,
    Clock,
    FleetAsked,
    Line,
    Link,
    News,
    Notice,
    Over,
    Salvo,
    Seen,
    Taunt,
)
from salvo_lab.human.cursor import Cursor
from salvo_lab.human.setup import Setup
from salvo_lab.human.snapshot import Snapshot, incoming_words

#: Lines of news that are stored.
_MAX_NEWS: Final = 40
#: Letters of a line of news: on an open broker any client may say anything, at any length.
_MAX_LINE: Final = 300
#: Actions of the set-up that a digit chooses; 0 is the last of them.
_NUMBERED: Final = 10
#: Actions by their keys, while a fleet is set up and in a game.
_SETUP_KEYS: Final = {
    "d": "delete", "delete": "delete", "backspace": "delete", "r": "random", "u": "undo", "escape": "cancel",
}  # fmt: skip
_GAME_KEYS: Final = {"f": "fire", "s": "skip", "escape": "none", "r": "restart"}
_TO_A_SQUARE: Final = "arrows, A-Z row, 0-9 column   Enter: this square"


class Mode(StrEnum):
    """What the person is at; the first word of the title line."""

    SETUP = "Setup"
    WAITING = "Waiting"
    SHOOT = "Shoot"
    END = "End"


@dataclass(frozen=True, slots=True)
class Action:
    """What the person may do now.

    Attributes:
        word: for :meth:`Sitting.act`.
        text: for the person.
        key: which does the same; empty for none.
        ready: whether it would do anything now.
    """

    word: str
    text: str
    key: str = ""
    ready: bool = True


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
        news: lines of what has happened, the latest last.
        trouble: what is wrong with the connection; empty if nothing is.
        ended: ``left`` or ``broken``; empty while the person plays.
        error: why the game could not go on.
        leaving: whether the person was asked if it wants to leave.
        setup: the fleet that is put together; the last one after that.
        sight: the game; None before the first turn.
        over: the end of the game that is shown.
        target: the player whose board is shown for shots.
        chosen: shots that are not fired yet.
        outcome: what came of the last salvo, below the target's board.
        cursor: the square that keys have chosen.
        at: the number of the action of the set-up's list that keys have chosen, from 0.
    """

    def __init__(self, desk: Channel) -> None:
        self.mode = Mode.WAITING
        self.message = ""
        self.news: list[str] = []
        self.trouble = ""
        self.ended = ""
        self.error: BaseException | None = None
        self.leaving = False
        self.setup: Setup | None = None
        self.sight: Snapshot | None = None
        self.over: Over | None = None
        self.target = ""
        self.chosen: list[Shot] = []
        self.outcome = ""
        self.cursor = Cursor()
        self.at = 0
        self._desk = desk
        self._asked: FleetAsked | None = None
        self._seen = 0  # how many shots at the own board were there when the person last fired
        self._next: FleetAsked | None = None  # the set-up that waits until the person has seen the end of a game
        self._clock = Clock()

    # --- what comes from the game ---------------------------------------------------------------------------------

    def receive(self, news: News) -> None:
        """Apply what came over the channel."""
        match news:
            case FleetAsked() if self.mode is Mode.END:
                self._next = news  # when the person has seen the end
            case FleetAsked():
                self._begin_setup(news)
            case Clock():
                self._clock = news
            case Seen(sight):
                self._see(sight)
            case Notice(text, player):
                self._note(f"{player}: {text}" if player else text)
                if self.sight is not None and player:
                    self.outcome = self._outcome_after(player, text, self.sight)
            case Over():
                self._end(news)
            case Link(trouble):
                self.trouble = trouble
            case Broken(error):
                self.error, self.ended = error, "broken"

    def _outcome_after(self, player: str, text: str, sight: Snapshot) -> str:
        """Return the text below the target: the last result, until an opponent plays, where the board has it, too."""
        if player == sight.me:
            return text
        return self.outcome if sight.rules.announce is Announce.COUNT else ""

    def _note(self, line: str) -> None:
        self.news = [*self.news, line[:_MAX_LINE]][-_MAX_NEWS:]

    def _begin_setup(self, asked: FleetAsked) -> None:
        before = self._asked
        again = before is not None and (before.game, before.rules) == (asked.game, asked.rules)
        if not again:  # a person who is asked again, after an outage, goes on
            self.setup = Setup(asked.rules)
            self.cursor.go(asked.rules.grid, 0)
            self.at = 0
        self.mode, self._asked = Mode.SETUP, asked
        self.sight, self.over, self.chosen, self._seen = None, None, [], 0
        self.outcome = ""
        self.message = "" if again else "choose a ship, then one end of it, then the other"

    def _see(self, sight: Snapshot) -> None:
        before, self.sight = self.sight, sight
        if before is None and (self._asked is None or self._asked.game != sight.game):
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

    def _end(self, over: Over) -> None:
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
        elif self.mode is Mode.SETUP:
            self._guarded(lambda: self._act_in_setup(word))
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
        if self.mode is Mode.SETUP and self.setup is not None and player == self.me:
            self.cursor.go(self.setup.book.grid, cell)
            self._guarded(self._click_in_setup)
        elif self.mode is not Mode.SETUP and self.sight is not None and player in self.sight.players:
            self.cursor.go(self.sight.rules.grid, cell)
            self._guarded(lambda: self._choose_square(player, fires=fires and player != self.me))

    def put(self, ship: str, cell: int, orientation: Orientation) -> None:
        """Place a ship from a cell on, to the right or downwards, wherever it was before; or say why it cannot be."""
        self.leaving = False
        setup = self.setup
        if self.mode is Mode.SETUP and setup is not None:
            self._guarded(lambda: self._placed(setup.put(ship, *setup.book.grid.xy(cell), orientation)))

    def press(self, key: str) -> None:
        """Do what a key does here."""
        leaving, self.leaving = self.leaving, False
        if key == "q":
            self._leave(leaving)
        elif self.mode is Mode.SETUP:
            self._guarded(lambda: self._press_in_setup(key))
        elif self.sight is not None:
            self._guarded(lambda: self._press_in_game(key))
        elif self.mode is Mode.END and key == "r":
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

    def _leave(self, leaving: bool) -> None:
        if self.mode is Mode.END or leaving:
            self.ended = "left"
            return
        self.leaving = True
        self.message = "the game is not over; q again leaves it"

    def _guarded(self, act: Callable[[], None]) -> None:
        """Do something that may not be allowed; then the reason is the message."""
        try:
            act()
        except SalvoError as error:
            self.message = error.text

    # --- setting up -----------------------------------------------------------------------------------------------

    def _press_in_setup(self, key: str) -> None:
        setup = self.setup
        assert setup is not None
        if key in _SETUP_KEYS:
            self._act_in_setup(_SETUP_KEYS[key])
        elif self.in_grid and key in ("enter", "space"):
            self._click_in_setup()
        elif self.in_grid:
            self.cursor.press(setup.book.grid, key)
        elif key in ("down", "tab", "right", "up", "shift+tab", "left"):
            by = 1 if key in ("down", "tab", "right") else -1
            self.at = (self.at + by) % len(self.actions())
        elif key.isdecimal():
            self._choose_action(int(key) or _NUMBERED)
        elif key in ("enter", "space"):
            self._choose_action(self.highlighted + 1)

    def _choose_action(self, number: int) -> None:
        actions = self.actions()
        if number <= len(actions):
            self._act_in_setup(actions[number - 1].word)

    def _act_in_setup(self, word: str) -> None:
        setup, asked = self.setup, self._asked
        assert setup is not None
        assert asked is not None
        match word.split(maxsplit=1):
            case ["ship", ship] if ship in setup.missing:
                setup.choose(ship)
                self.message = f"{display_name(ship)}: choose a square for one end"
            case ["cancel"]:
                setup.cancel()
                self.message = ""
            case ["delete"] if setup.placed:
                setup.delete()
                self.message = "choose a ship on the grid to remove it"
            case ["random"] if setup.missing:
                self._placed(setup.fill(asked.random))
            case ["undo"]:
                self._placed(setup.undo())
            case ["done"]:
                self._desk.answer(setup.fleet())
                self.mode = Mode.WAITING
                self.message = "your fleet is set; the game begins when all fleets are"

    def _click_in_setup(self) -> None:
        setup = self.setup
        assert setup is not None
        self._placed(setup.click(self.cursor.cell(setup.book.grid)))

    def _placed(self, words: str) -> None:
        """Say what came of it; unless a ship is being set, point at the next ship, or at what ends the set-up."""
        assert self.setup is not None
        self.message = words
        if self.setup.ship is None:
            self.at = 0 if self.setup.missing else len(self.actions()) - 1

    # --- playing --------------------------------------------------------------------------------------------------

    def _press_in_game(self, key: str) -> None:
        sight = self.sight
        assert sight is not None
        if key in ("tab", "shift+tab"):
            self.target = self.beside_target(sight, 1 if key == "tab" else -1)
        elif self.mode is Mode.END:
            if key == "r":
                self._restart()
        elif self.cursor.press(sight.rules.grid, key):
            pass
        elif key in ("enter", "space"):
            self._choose_square(self.target, fires=key == "enter")
        elif key in _GAME_KEYS:
            self._act_in_game(_GAME_KEYS[key])

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
        """Choose the square under the cursor, or no longer; fire where a turn has one shot."""
        sight = self._my_turn()
        if sight is None:
            return
        shot = Shot(player, *sight.rules.grid.xy(self.cursor.cell(sight.rules.grid)))
        if fires and sight.shots == 1:
            self.chosen = list(check_salvo([shot], sight))
            self._fire()
            return
        if shot in self.chosen:
            self.chosen.remove(shot)
        else:
            self.chosen = list(check_salvo([*self.chosen, shot], sight))
        done = "; f fires" if self.chosen else ""
        self.message = f"{len(self.chosen)} of {shots_of(sight.shots)} chosen{done}"

    def _fire(self) -> None:
        sight = self._my_turn()
        if sight is None:
            return
        shots = check_salvo(self.chosen, sight)
        if not shots:
            self.message = "choose a square first"
            return
        self._acted(sight.after(shots))
        self._desk.answer(Salvo(sight.game, sight.turn, shots))

    def _skip(self) -> None:
        sight = self._my_turn()
        if sight is None:
            return
        if not sight.rules.skipping:
            self.message = CODES["no_skipping"].meaning
            return
        self._acted(replace(sight, shots=0))
        self._desk.answer(Salvo(sight.game, sight.turn, ()))

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
        return self.sight.me if self.sight is not None else self._asked.me if self._asked is not None else ""

    @property
    def chat(self) -> bool:
        """Whether the person may write to others."""
        return self._desk.chat

    @property
    def grid(self) -> Grid | None:
        """The grid of the boards; None before there is a game."""
        if self.sight is not None:
            return self.sight.rules.grid
        return None if self.setup is None else self.setup.book.grid

    @property
    def in_grid(self) -> bool:
        """Whether the set-up waits for a square."""
        return self.setup is not None and (self.setup.ship is not None or self.setup.deleting)

    @property
    def about(self) -> tuple[str, ...]:
        """What is played: the game and its rules, and the turn."""
        if self.sight is not None:
            return f"game {self.sight.game}, {self.sight.rules.name}", f"turn {self.sight.turn}"
        return () if self._asked is None else (f"game {self._asked.game}, {self._asked.rules.name}",)

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

    def actions(self) -> list[Action]:
        """Return what the person may do besides choosing squares; in the set-up, in the order of its numbers."""
        if self.mode is Mode.SETUP and self.setup is not None:
            return list(self._setup_actions(self.setup))
        return list(self._game_actions())

    def _setup_actions(self, setup: Setup) -> Iterator[Action]:
        if self.in_grid:
            yield Action("cancel", "Cancel", "Esc")
            return
        length = {ship.name: ship.length for ship in setup.book.fleet}
        for name in setup.missing:
            yield Action(f"ship {name}", f"{Mark.SHIP * length[name]} {display_name(name)}")
        if setup.placed:
            yield Action("delete", "Delete a ship", "d")
        yield Action("random", "Random rest", "r") if setup.missing else Action("done", "Done")

    def _game_actions(self) -> Iterator[Action]:
        if self.mode is Mode.SHOOT and self.sight is not None:
            yield Action("fire", "Fire", "f", ready=bool(self.chosen))
            yield Action("none", "Take back", "Esc", ready=bool(self.chosen))
            if self.sight.rules.skipping:
                yield Action("skip", "Skip", "s")
        elif self._next is not None:
            yield Action("restart", f"Set up game {self._next.game}", "r")
        elif self.over is not None and self.over.again:
            yield Action("restart", "Restart", "r")

    @property
    def highlighted(self) -> int:
        """The number of the action that keys have chosen, from 0; where there is only Cancel, its place is not lost."""
        return 0 if self.in_grid else min(self.at, len(self.actions()) - 1)

    def hints(self) -> list[str]:
        """Return what keys do now."""
        hints = []
        if self.mode is Mode.SETUP and self.setup is not None:
            hints = [_TO_A_SQUARE, "Esc: cancel"] if self.in_grid else ["1-9, or Tab and Enter: choose"]
            hints += ["d: delete", "r: random rest"] + ["u: undo"] * self.setup.can_undo
        elif self.mode is Mode.SHOOT and self.sight is not None:
            hints = [_TO_A_SQUARE, "f: fire", "Esc: none"] + ["s: skip"] * self.sight.rules.skipping
        else:
            hints = [f"{action.key}: {action.text[0].lower()}{action.text[1:]}" for action in self._game_actions()]
        if self.sight is not None and len(self.sight.players) > 2:
            hints.append("Tab: next board")
        return [*hints, *["m: message"] * self.chat, "q: exit" if self.mode is Mode.END else "q: leave"]

    @property
    def setting(self) -> str:
        """What the next click in the set-up does."""
        assert self.setup is not None
        if self.setup.ship is not None:
            return f"setting {display_name(self.setup.ship)}"
        return "deleting" if self.setup.deleting else ""

    def own_board(self) -> BoardPicture | None:
        """Return the person's own board; None before there is a fleet."""
        if self.sight is not None and self.mode is not Mode.SETUP:
            marks = self.sight.aimed(self.me, self.chosen)
            heading = _heading(self.sight, self.me)
            return BoardPicture(self.me, heading, marks, active=self.mode is Mode.WAITING)
        if self.setup is None:
            return None
        return BoardPicture(self.me, "your fleet", self.setup.marks, active=self.mode is Mode.SETUP and self.in_grid)

    def rival_board(self, sight: Snapshot, player: str) -> BoardPicture:
        """Return another player's board; with its ships, where the end of a game has shown them."""
        fleets, rivals = self.over.fleets if self.over is not None else {}, rivals_of(sight)
        marks = sight.revealed(player, fleets[player]) if player in fleets else sight.aimed(player, self.chosen)
        which = f"{rivals.index(player) + 1}/{len(rivals)} " if len(rivals) > 1 else ""
        active = self.mode is Mode.SHOOT and player == self.target
        apart = sight.tells_sunk_cells and player not in fleets
        return BoardPicture(player, which + _heading(sight, player), marks, active=active, sunk_apart=apart)

    def beside_target(self, sight: Snapshot, by: int = 1) -> str:
        """Return the rival that comes so many places after the target."""
        rivals = rivals_of(sight)
        return rivals[(rivals.index(self.target) + by) % len(rivals)]

    def incoming(self, sight: Snapshot) -> str:
        """Return what shots did to the person's board since it last fired."""
        words = ", ".join(incoming_words(sight, self._seen))
        lost = self.over is not None and self.over.places.get(sight.me, 1) > 1
        return f"{words}. You lose" if words and lost else words


def _heading(sight: Snapshot, player: str) -> str:
    parts = ["you" if player == sight.me else player]
    if sight.sunk:
        parts.append(f"{len(sight.rules.fleet) - len(sight.sunk[player])} afloat")
    if sight.points:
        parts.append(f"{sight.points[player]} of {sight.rules.goal} points")
    if player in sight.out:
        parts.append("defeated")
    return ", ".join(parts)


def rivals_of(sight: Snapshot) -> list[str]:
    """Return the other players, in their order."""
    return [name for name in sight.players if name != sight.me]


def shots_of(count: int) -> str:
    """Return a number of shots in words."""
    return f"{count} shot{'s' * (count != 1)}"
