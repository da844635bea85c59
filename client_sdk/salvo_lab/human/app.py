"""The screen: a person sets up a fleet, shoots, and sees what comes of it, with keys or a mouse.

The screen knows what came over the channel (:mod:`salvo_lab.human.channel`) and not where the game is. Small letters
are commands, capital letters rows and digits columns, so that ``d`` deletes and ``D`` is a row.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import string
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from time import monotonic
from typing import Any, ClassVar, Final

from salvo.cli.output import places_line
from salvo.errors import CODES, MissingExtra, SalvoError, printable
from salvo.player import check_salvo
from salvo.rules import Announce
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
    Over,
    Salvo,
    Seen,
    Taunt,
    Told,
)
from salvo_lab.human.cursor import ARROWS, Cursor
from salvo_lab.human.setup import Setup
from salvo_lab.human.snapshot import Snapshot, incoming_words

try:
    from rich.text import Text
    from textual.app import App, ComposeResult
    from textual.binding import Binding
    from textual.containers import Horizontal, VerticalScroll
    from textual.css.query import NoMatches
    from textual.events import Key
    from textual.widgets import Input, OptionList, Static

    from salvo_lab.human.board import COLOURS, TARGET_COLOURS, BoardView
except ModuleNotFoundError:
    raise MissingExtra("playing yourself", "terminal") from None

#: How often the screen looks at its desk: no person notices, and nothing is drawn when there is nothing new.
_LOOK_SECONDS: Final = 0.03
_CLOCK_SECONDS: Final = 0.25
#: Lines of news that are kept, and those that are shown on a page without room for more.
_NEWS_KEPT: Final = 40
_NEWS_LINES: Final = 4
#: Lines of the page beside the news and the rows of a board: its frame and the lines around both.
_OTHER_LINES: Final = 11
#: Letters of a line of news: on an open broker any client may say anything, at any length.
_MAX_LINE: Final = 300
_COMMANDS: Final = "dfmqrs"
#: Actions of the set-up that a digit chooses; 0 is the last of them.
_NUMBERED: Final = 10
_KEYS: Final = (
    *("tab", "shift+tab", "enter", "escape", "delete", "backspace", "space"),
    *ARROWS,
    *string.digits,
    *_COMMANDS,
)


#: Columns of a board's view: at least, and beside the three of each square.
_LEAST_BOARD: Final = 36
_AROUND_BOARD: Final = 6


class Mode(StrEnum):
    """What the person is at; the first word of the title line."""

    SETUP = "Setup"
    WAITING = "Waiting"
    SHOOT = "Shoot"
    END = "End"


_TO_A_SQUARE: Final = "arrows, A-Z row, 0-9 column   Enter: this square"


class Table(App[str]):
    """Where a person plays. What it returns is ``interrupted`` after Ctrl-C.

    Attributes:
        mode: what the person is at.
        message: what the last key came to.
        error: why the game could not go on.
    """

    ENABLE_COMMAND_PALETTE = False
    AUTO_FOCUS = ""
    CSS = """
    #title { height: 1; text-style: bold; background: $primary; color: $text; }
    #body { height: 1fr; }
    #left, #right, #beside { width: 1fr; height: 1fr; overflow-x: auto; }
    BoardView { width: auto; min-width: 34; height: auto; padding: 0 1; }
    BoardView { border: round $surface-lighten-2; border-title-color: $text; }
    BoardView.active { border: heavy $success; }
    #actions > .option-list--option-highlighted {
        color: $block-cursor-foreground; background: $block-cursor-background; text-style: $block-cursor-text-style;
    }
    .caption { height: auto; max-height: 4; padding: 0 1; }
    #actions { width: 36; height: auto; max-height: 100%; border: round $success; }
    .hidden { display: none; }
    #message { height: auto; min-height: 1; color: $text-warning; }
    #news { height: auto; color: $text-muted; }
    #keys { height: auto; color: $text-muted; }
    #chat { display: none; }
    """
    # All of them with priority: what goes another way to its action is done in another order than it was typed.
    BINDINGS: ClassVar[list[Any]] = [
        Binding("ctrl+c", "interrupt", show=False, priority=True),
        *(Binding(key, f"press('{key}')", show=False, priority=True) for key in _KEYS),
        *(
            Binding(f"{row},shift+{row.lower()}", f"press('{row}')", show=False, priority=True)
            for row in string.ascii_uppercase
        ),
    ]

    def __init__(self, desk: Channel) -> None:
        super().__init__()
        self.mode = Mode.WAITING
        self.message = ""
        self.error: BaseException | None = None
        self._desk = desk
        self._cursor = Cursor()
        self._asked: FleetAsked | None = None
        self._setup: Setup | None = None
        self._at = 0  # the action that is highlighted
        self._sight: Snapshot | None = None
        self._target = ""
        self._chosen: list[Shot] = []
        self._seen = 0  # how many shots at the own board were there when the person last fired
        self._outcome = ""
        self._over: Over | None = None
        self._next: FleetAsked | None = None  # the set-up that waits until the person has seen the end of a game
        self._clock = Clock()
        self._trouble = ""
        self._news: list[str] = []
        self._leaving = False
        self._writing = False

    def compose(self) -> ComposeResult:
        """Lay out the page."""
        actions = OptionList(id="actions")
        actions.can_focus = False
        yield Static(id="title")
        with Horizontal(id="body"):
            with VerticalScroll(id="left", can_focus=False):
                yield BoardView(id="own")
                yield Static(id="incoming", classes="caption")
            with VerticalScroll(id="right", can_focus=False):
                yield actions
                yield BoardView(id="target")
                yield Static(id="outcome", classes="caption")
            with VerticalScroll(id="beside", can_focus=False):
                yield BoardView(id="next")
        yield Static(id="message")
        yield Static(id="news")
        yield Input(id="chat", compact=True)
        yield Static(id="keys")

    def on_mount(self) -> None:
        """Begin to listen to the game."""
        for number in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                asyncio.get_running_loop().add_signal_handler(number, self.action_interrupt)
        self.set_interval(_LOOK_SECONDS, self._look)
        self.set_interval(_CLOCK_SECONDS, self._tick)
        self._show()

    # --- what the game tells --------------------------------------------------------------------------------------

    def _look(self) -> None:
        news = self._desk.news()
        for item in news:
            self._hear(item)
        if news:
            with contextlib.suppress(NoMatches):  # the page is being taken down
                self._show()

    def _tick(self) -> None:
        with contextlib.suppress(NoMatches):
            self._show_title()

    def _hear(self, news: News) -> None:
        match news:
            case FleetAsked() if self.mode is Mode.END:
                self._next = news  # when the person has seen the end
            case FleetAsked():
                self._begin_setup(news)
            case Clock():
                self._clock = news
            case Seen(sight):
                self._see(sight)
            case Told(text, player):
                self._note(f"{player}: {text}" if player else text)
                if self._sight is not None and player:
                    self._outcome = self._outcome_after(player, text, self._sight)
            case Over():
                self._end(news)
            case Link(trouble):
                self._trouble = trouble
            case Broken(error):
                self.error = error
                self.exit("broken")

    def _outcome_after(self, player: str, text: str, sight: Snapshot) -> str:
        """Return the text below the target: the last result, until an opponent plays, where the board has it, too."""
        if player == sight.me:
            return text
        return self._outcome if sight.rules.announce is Announce.COUNT else ""

    def _note(self, line: str) -> None:
        self._news = [*self._news, line[:_MAX_LINE]][-_NEWS_KEPT:]

    def _begin_setup(self, asked: FleetAsked) -> None:
        before = self._asked
        again = before is not None and (before.game, before.rules) == (asked.game, asked.rules)
        if not again:  # a person who is asked again, after an outage, goes on
            self._setup = Setup(asked.rules)
            self._cursor.go(asked.rules.grid, 0)
            self._at = 0
        self.mode, self._asked = Mode.SETUP, asked
        self._sight, self._over, self._chosen, self._seen = None, None, [], 0
        self._outcome = ""
        self._say("" if again else "choose a ship, then one end of it, then the other")

    def _see(self, sight: Snapshot) -> None:
        before, self._sight = self._sight, sight
        if before is None and (self._asked is None or self._asked.game != sight.game):
            self._seen = len(sight.incoming)  # back in a game: what was long ago is no news
        rivals = _rivals(sight)
        if self._target not in rivals or (self._target in sight.out and sight.shots):
            self._target = next((name for name in rivals if name not in sight.out), rivals[0])
        if self.mode is Mode.END and self._over is not None and self._over.game == sight.game:
            return
        self.mode = Mode.SHOOT if sight.shots else Mode.WAITING
        if before is None or (before.game, before.turn) != (sight.game, sight.turn) or not sight.shots:
            if self._chosen:
                self._say("the turn was over before you fired")
            self._chosen = []
            if sight.shots:
                self._say(f"your turn: {_shots(sight.shots)}")
        elif before.shots != sight.shots:
            self._chosen = self._chosen[: sight.shots]

    def _end(self, over: Over) -> None:
        self.mode, self._over = Mode.END, over
        winners = [name for name, place in over.places.items() if place == 1]
        me = self._asked.me if self._asked is not None else self._sight.me if self._sight is not None else ""
        mine = "You win" if winners == [me] else "It is a tie" if me in winners else "You lose"
        if over.aborted:
            self._say(f"The host has aborted game {over.game}")
            return
        won = f"{over.winner} wins" if over.winner else f"{' and '.join(winners)} tie"
        self._say(f"{mine}. {won} game {over.game}. Places: {places_line(over.places)}")
        if self._outcome and winners == [me]:
            self._outcome += f". {mine}"

    # --- keys and mouse -------------------------------------------------------------------------------------------

    def action_press(self, key: str) -> None:
        """Do what a key does here."""
        leaving, self._leaving = self._leaving, False
        if key == "q":
            self._quit(leaving)
        elif key == "m" and self._desk.chat:
            self._write_line(True)
        elif self.mode is Mode.SETUP:
            self._guarded(lambda: self._press_in_setup(key))
        elif self._sight is not None:
            self._guarded(lambda: self._press_in_game(key))
        elif self.mode is Mode.END and key == "r":
            self._restart()
        self._show()

    def _quit(self, leaving: bool) -> None:
        if self.mode is Mode.END or leaving:
            self.exit("left")
            return
        self._leaving = True
        self._say("the game is not over; q again leaves it")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        """Leave the keys to the chat line while the person writes one."""
        return action != "press" or not self._writing

    def on_input_submitted(self, line: Input.Submitted) -> None:
        """Send a chat line: ``@name text`` goes to one player, and ``/hit text`` is kept as a taunt."""
        text = line.value.strip()
        self._write_line(False)
        first, _, rest = text.partition(" ")
        if first in ("/hit", "/miss"):
            self._desk.answer(Taunt(first == "/hit", rest.strip()))
        elif text and not text.startswith("@"):
            self._desk.answer(Line(text))
        elif rest.strip():
            self._desk.answer(Line(rest.strip(), first[1:]))

    def on_key(self, key: Key) -> None:
        """Give up a chat line that is not sent."""
        if key.key == "escape":
            self._write_line(False)

    def _write_line(self, writing: bool) -> None:
        self._writing = writing
        line = self.query_one("#chat", Input)
        line.value, line.placeholder = (
            "",
            "to all; @NAME TEXT: to one; /hit TEXT, /miss TEXT: a taunt for shots at you; Esc: cancel",
        )
        line.display = writing
        self.screen.set_focus(line if writing else None)  # at once: the next key may have been pressed already

    def action_interrupt(self) -> None:
        """Leave at once."""
        self.exit("interrupted")

    def on_board_view_clicked(self, click: BoardView.Clicked) -> None:
        """A click is the cursor and Enter in one."""
        if self.mode is Mode.SETUP and self._setup is not None and click.board == "own":
            self._cursor.go(self._setup.book.grid, click.cell)
            self._guarded(self._click_in_setup)
        elif self._sight is not None and self.mode is not Mode.SETUP and click.board == "next":
            self._target = self._beside(self._sight) or self._target
        elif self._sight is not None and self.mode is not Mode.SETUP:
            self._cursor.go(self._sight.rules.grid, click.cell)
            own = click.board == "own"  # there no click is meant to fire at once
            player = self._sight.me if own else self._target
            self._guarded(lambda: self._choose_square(player, fires=not own))
        self._show()

    def on_option_list_option_selected(self, chosen: OptionList.OptionSelected) -> None:
        """A click on an action does it."""
        self._at = chosen.option_index
        self._guarded(self._act)
        self._show()

    def _guarded(self, act: Callable[[], None]) -> None:
        """Do something that may not be allowed; then the reason is the message."""
        try:
            act()
        except SalvoError as error:
            self._say(error.text)

    def _say(self, message: str) -> None:
        self.message = message

    # --- setting up -----------------------------------------------------------------------------------------------

    def _actions(self) -> list[tuple[str, str]]:
        """Return the choices of the list: a word for the program, and the text."""
        setup = self._setup
        assert setup is not None
        if setup.ship is not None or setup.deleting:
            return [("cancel", "Cancel (Esc)")]
        length = {ship.name: ship.length for ship in setup.book.fleet}
        actions = [(f"ship {name}", f"{Mark.SHIP * length[name]} {display_name(name)}") for name in setup.missing]
        if setup.placed:
            actions.append(("delete", "Delete a ship (d)"))
        actions.append(("random", "Random rest (r)") if setup.missing else ("done", "Done"))
        return [
            (word, f"{number}  {text}" if number <= _NUMBERED else text)
            for number, (word, text) in enumerate(actions, start=1)
        ]

    def _press_in_setup(self, key: str) -> None:
        setup = self._setup
        assert setup is not None
        in_grid = setup.ship is not None or setup.deleting
        if key in ("d", "delete", "backspace"):
            self._do("delete")
        elif key == "r":
            self._do("random")
        elif key == "escape":
            self._do("cancel")
        elif in_grid and key in ("enter", "space"):
            self._click_in_setup()
        elif in_grid:
            self._cursor.press(setup.book.grid, key)
        elif key in ("down", "tab", "right", "up", "shift+tab", "left"):
            by = 1 if key in ("down", "tab", "right") else -1
            self._at = (self._at + by) % len(self._actions())
        elif key.isdecimal():
            self._choose_action(int(key) or _NUMBERED)
        elif key in ("enter", "space"):
            self._act()

    def _choose_action(self, number: int) -> None:
        actions = self._actions()
        if number <= len(actions):
            self._do(actions[number - 1][0])

    def _act(self) -> None:
        actions = self._actions()
        self._do(actions[min(self._at, len(actions) - 1)][0])

    def _do(self, word: str) -> None:
        setup, asked = self._setup, self._asked
        assert setup is not None
        assert asked is not None
        match word.split():
            case ["ship", ship]:
                setup.choose(ship)
                self._say(f"{display_name(ship)}: choose a square for one end")
            case ["cancel"]:
                setup.cancel()
                self._say("")
            case ["delete"] if setup.placed:
                setup.delete()
                self._say("choose a ship on the grid to remove it")
            case ["random"] if setup.missing:
                self._say(setup.fill(asked.random))
                self._at_end_of_list()
            case ["done"]:
                self._desk.answer(setup.fleet())
                self.mode = Mode.WAITING
                self._say("your fleet is set; the game begins when all fleets are")

    def _click_in_setup(self) -> None:
        setup = self._setup
        assert setup is not None
        self._say(setup.click(self._cursor.cell(setup.book.grid)))
        if setup.ship is None:
            self._at_end_of_list()

    def _at_end_of_list(self) -> None:
        """Point at the next ship, or at what ends the set-up."""
        assert self._setup is not None
        self._at = 0 if self._setup.missing else len(self._actions()) - 1

    # --- playing --------------------------------------------------------------------------------------------------

    def _press_in_game(self, key: str) -> None:
        sight = self._sight
        assert sight is not None
        if key in ("tab", "shift+tab"):
            rivals = _rivals(sight)
            by = 1 if key == "tab" else -1
            self._target = rivals[(rivals.index(self._target) + by) % len(rivals)]
        elif self.mode is Mode.END:
            if key == "r":
                self._restart()
        elif self._cursor.press(sight.rules.grid, key):
            pass
        elif key in ("enter", "space"):
            self._choose_square(self._target, fires=key == "enter")
        elif key == "f":
            self._fire()
        elif key == "s":
            self._skip()
        elif key == "escape":
            self._chosen = []
            self._say("")

    def _my_turn(self) -> Snapshot | None:
        if self._sight is not None and self._sight.shots and self.mode is Mode.SHOOT:
            return self._sight
        if self.mode is Mode.WAITING:
            self._say(CODES["not_your_turn"].meaning)
        return None

    def _choose_square(self, player: str, *, fires: bool) -> None:
        """Choose the square under the cursor, or no longer; fire where a turn has one shot."""
        sight = self._my_turn()
        if sight is None:
            return
        shot = Shot(player, *sight.rules.grid.xy(self._cursor.cell(sight.rules.grid)))
        if fires and sight.shots == 1:
            self._chosen = list(check_salvo([shot], sight))
            self._fire()
        elif shot in self._chosen:
            self._chosen.remove(shot)
            self._say_chosen(sight)
        else:
            self._chosen = list(check_salvo([*self._chosen, shot], sight))
            self._say_chosen(sight)

    def _say_chosen(self, sight: Snapshot) -> None:
        done = "; f fires" if self._chosen else ""
        self._say(f"{len(self._chosen)} of {_shots(sight.shots)} chosen{done}")

    def _fire(self) -> None:
        sight = self._my_turn()
        if sight is None:
            return
        shots = check_salvo(self._chosen, sight)
        if not shots:
            self._say("choose a square first")
            return
        self._acted(sight.after(shots))
        self._desk.answer(Salvo(sight.game, sight.turn, shots))

    def _skip(self) -> None:
        sight = self._my_turn()
        if sight is None:
            return
        if not sight.rules.skipping:
            self._say(CODES["no_skipping"].meaning)
            return
        self._acted(replace(sight, shots=0))
        self._desk.answer(Salvo(sight.game, sight.turn, ()))

    def _acted(self, after: Snapshot) -> None:
        self._seen, self._outcome = len(after.incoming), ""
        self._chosen, self._sight = [], after
        self.mode = Mode.SHOOT if after.shots else Mode.WAITING
        self._say("" if self.mode is Mode.WAITING else f"{_shots(after.shots)} left")

    def _restart(self) -> None:
        if self._next is not None:
            asked, self._next = self._next, None
            self._begin_setup(asked)
        elif self._over is not None and self._over.again:
            self._over = None
            self.mode = Mode.WAITING
            self._say("")
            self._desk.answer(Again())

    # --- drawing --------------------------------------------------------------------------------------------------

    def _show(self) -> None:
        self._show_title()
        setting_up = self.mode is Mode.SETUP and self._setup is not None
        self.query_one("#actions").set_class(not setting_up, "hidden")
        in_game = self._sight is not None
        self.query_one("#target").set_class(setting_up or not in_game, "hidden")
        self.query_one("#outcome").set_class(setting_up or not in_game, "hidden")
        self.query_one("#own").set_class(self._setup is None and not in_game, "hidden")
        two = not setting_up and self._sight is not None and self._beside(self._sight) is not None
        self.query_one("#beside").set_class(not two, "hidden")
        if setting_up:
            self._show_setup()
        elif self._sight is not None:
            self._show_game(self._sight)
        elif self._setup is not None:
            self._own_board().show(self._setup.book.grid, self._setup.marks, "your fleet", active=False)
        self._write("message", self.message)
        self._write("news", *self._news[-self._room_for_news :])
        self._write("keys", "   ".join(self._hints()))

    @property
    def _room_for_news(self) -> int:
        book = self._sight.rules if self._sight is not None else self._asked.rules if self._asked is not None else None
        rows = 0 if book is None else book.grid.height
        return max(_NEWS_LINES, self.size.height - rows - _OTHER_LINES)

    def _write(self, name: str, *lines: str) -> None:
        self.query_one(f"#{name}", Static).update(Text("\n".join(map(printable, lines))))

    def _hints(self) -> list[str]:
        """Return what keys do now."""
        sight, setup = self._sight, self._setup
        hints = []
        if self.mode is Mode.SETUP and setup is not None:
            in_grid = setup.ship is not None or setup.deleting
            hints = [_TO_A_SQUARE, "Esc: cancel"] if in_grid else ["1-9, or Tab and Enter: choose"]
            hints += ["d: delete", "r: random rest"]
        elif self.mode is Mode.SHOOT and sight is not None:
            hints = [_TO_A_SQUARE, "f: fire", "Esc: none"] + ["s: skip"] * sight.rules.skipping
        elif self._next is not None:
            hints = [f"r: set up game {self._next.game}"]
        elif self._over is not None and self._over.again:
            hints = ["r: restart"]
        if sight is not None and len(sight.players) > 2:
            hints.append("Tab: next board")
        if self._desk.chat:
            hints.append("m: message")
        return [*hints, "q: exit" if self.mode is Mode.END else "q: leave"]

    def _own_board(self) -> BoardView:
        return self.query_one("#own", BoardView)

    def _show_title(self) -> None:
        parts = [self.mode.value]
        if self._sight is not None:
            parts.append(f"game {self._sight.game}, {self._sight.rules.name}")
            parts.append(f"turn {self._sight.turn}")
        elif self._asked is not None:
            parts.append(f"game {self._asked.game}, {self._asked.rules.name}")
        if self.mode is Mode.SHOOT and self._sight is not None:
            parts.append(f"{_shots(self._sight.shots)}")
        elif self._others_turn:
            parts.append(f"{self._clock.player}'s turn")
        deadline = self._deadline
        in_lobby = self._sight is None or self.mode is Mode.END
        if deadline is not None and (deadline > monotonic() or not in_lobby):
            what = " to set up" if in_lobby else ""
            parts.append(f"{max(0, round(deadline - monotonic()))} s left{what}")
        if self._trouble:
            parts.append(f"! {self._trouble}")
        self._write("title", "   ".join(parts))

    @property
    def _others_turn(self) -> bool:
        sight = self._sight
        return sight is not None and self.mode is Mode.WAITING and self._clock.player in _rivals(sight)

    @property
    def _deadline(self) -> float | None:
        """When the time ends that the person, or another player, has for the next step."""
        if self._sight is not None and self.mode is Mode.SHOOT:
            return self._sight.deadline
        return self._clock.deadline if self._sight is None or self._others_turn or self._next is not None else None

    def _show_setup(self) -> None:
        setup = self._setup
        assert setup is not None
        grid, in_grid = setup.book.grid, setup.ship is not None or setup.deleting
        cursor = self._cursor.cell(grid) if in_grid else None
        self._own_board().show(grid, setup.marks, "your fleet", active=in_grid, cursor=cursor)
        ship = display_name(setup.ship or "")
        words = f"setting {ship}" if ship else "deleting" if setup.deleting else ""
        self._write("incoming", words)
        actions = self.query_one("#actions", OptionList)
        offered = self._actions()
        actions.border_title = ship or "ships and actions"
        actions.clear_options()
        actions.add_options([Text(text) for _, text in offered])
        if not in_grid:  # where there is only Cancel, the place in the list is not lost
            self._at = min(self._at, len(offered) - 1)
        actions.highlighted = 0 if in_grid else self._at

    def _show_game(self, sight: Snapshot) -> None:
        grid, shooting = sight.rules.grid, self.mode is Mode.SHOOT
        me, target = sight.me, self._target
        own = sight.aimed(me, self._chosen)
        self._own_board().show(grid, own, self._heading(sight, me), active=self.mode is Mode.WAITING)
        cursor = self._cursor.cell(grid) if shooting else None
        self._show_rival("target", sight, target, active=shooting, cursor=cursor)
        if (beside := self._beside(sight)) is not None:
            self._show_rival("next", sight, beside)
        self._write("incoming", self._incoming(sight))
        self._write("outcome", self._outcome)

    def _show_rival(
        self, place: str, sight: Snapshot, player: str, *, active: bool = False, cursor: int | None = None
    ) -> None:
        fleets, rivals = self._over.fleets if self._over is not None else {}, _rivals(sight)
        board = sight.revealed(player, fleets[player]) if player in fleets else sight.aimed(player, self._chosen)
        which = f"{rivals.index(player) + 1}/{len(rivals)} " if len(rivals) > 1 else ""
        styles = TARGET_COLOURS if sight.tells_sunk_cells and player not in fleets else COLOURS
        view = self.query_one(f"#{place}", BoardView)
        view.show(
            sight.rules.grid, board, which + self._heading(sight, player), active=active, cursor=cursor, styles=styles
        )

    def _beside(self, sight: Snapshot) -> str | None:
        """Return the rival that Tab would choose, if its board has room beside the target's."""
        rivals = _rivals(sight)
        board = max(_LEAST_BOARD, 3 * sight.rules.grid.width + _AROUND_BOARD)
        if len(rivals) < 2 or self.size.width < 3 * board:
            return None
        return rivals[(rivals.index(self._target) + 1) % len(rivals)]

    def _heading(self, sight: Snapshot, player: str) -> str:
        parts = ["you" if player == sight.me else player]
        if sight.sunk:
            parts.append(f"{len(sight.rules.fleet) - len(sight.sunk[player])} afloat")
        if sight.points:
            parts.append(f"{sight.points[player]} of {sight.rules.goal} points")
        if player in sight.out:
            parts.append("defeated")
        return ", ".join(parts)

    def _incoming(self, sight: Snapshot) -> str:
        words = ", ".join(incoming_words(sight, self._seen))
        lost = self._over is not None and self._over.places.get(sight.me, 1) > 1
        return f"{words}. You lose" if words and lost else words


def _rivals(sight: Snapshot) -> list[str]:
    return [name for name in sight.players if name != sight.me]


def _shots(count: int) -> str:
    return f"{count} shot{'s' * (count != 1)}"
