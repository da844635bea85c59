"""The screen of a terminal: a skin of a :class:`~salvo_lab.human.sitting.Sitting`, for keys and a mouse."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import string
from typing import Any, ClassVar, Final

from salvo.errors import MissingExtra, printable
from salvo.system.streams import let_go_of_terminal
from salvo_lab.human import keys
from salvo_lab.human.channel import Channel
from salvo_lab.human.setup_actions import NUMBERED, SettingUp
from salvo_lab.human.sitting import BoardPicture, Mode, Sitting, rivals_of, shots_of
from salvo_lab.human.snapshot import Snapshot

try:
    from rich.text import Text
    from textual.app import App, ComposeResult
    from textual.binding import Binding
    from textual.containers import Horizontal, VerticalScroll
    from textual.css.query import NoMatches
    from textual.events import Key
    from textual.widgets import Input, OptionList, Static

    from salvo_lab.human.terminal.board import COLOURS, TARGET_COLOURS, BoardView
except ModuleNotFoundError:
    raise MissingExtra("playing yourself", "terminal") from None

#: How often the screen looks at its desk: no person notices, and nothing is drawn when there is nothing new.
_LOOK_SECONDS: Final = 0.03
_CLOCK_SECONDS: Final = 0.25
#: Lines of news on a page without room for more.
_NEWS_LINES: Final = 4
#: Lines of the page beside the news and the rows of a board: its frame and the lines around both.
_OTHER_LINES: Final = 11
#: Columns of a board's view: at least, and beside the three of each square.
_LEAST_BOARD: Final = 36
_AROUND_BOARD: Final = 6


class TableScreen(App[str]):
    """Where a person plays.

    What it returns is ``interrupted`` after Ctrl-C, ``ended`` after SIGTERM and when the terminal was closed, else how
    the sitting ended.

    Attributes:
        sitting: what the person is at.
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
        *(Binding(key, f"press('{key}')", show=False, priority=True) for key in keys.ALL),
        *(
            Binding(f"{row},shift+{row.lower()}", f"press('{row}')", show=False, priority=True)
            for row in string.ascii_uppercase
        ),
    ]

    def __init__(self, desk: Channel) -> None:
        super().__init__()
        self.sitting = Sitting(desk)
        self._desk = desk
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
        for number, leave in ((signal.SIGINT, self.action_interrupt), (signal.SIGTERM, self._end)):
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                asyncio.get_running_loop().add_signal_handler(number, leave)
        self.set_interval(_LOOK_SECONDS, self._look)
        self.set_interval(_CLOCK_SECONDS, self._tick)
        self._show()

    def _look(self) -> None:
        news = self._desk.news()
        for item in news:
            self.sitting.receive(item)
        if news:
            with contextlib.suppress(NoMatches):  # the page is being taken down
                self._show()

    def _tick(self) -> None:
        if let_go_of_terminal():
            self._end()
            return
        with contextlib.suppress(NoMatches):
            self._show_title()

    # --- keys and mouse -------------------------------------------------------------------------------------------

    def action_press(self, key: str) -> None:
        """Do what a key does here."""
        if key == keys.MESSAGE and self.sitting.chat:
            self._write_line(True)
        self.sitting.press(key)
        self._show()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        """Leave the keys to the chat line while the person writes one."""
        return action != "press" or not self._writing

    def on_input_submitted(self, line: Input.Submitted) -> None:
        """Send a chat line."""
        self._write_line(False)
        self.sitting.write(line.value)

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

    def _end(self) -> None:
        self.exit("ended")

    def on_board_view_clicked(self, click: BoardView.Clicked) -> None:
        """Do what a click on a square does; on the board beside the target's, that is to choose it."""
        sitting = self.sitting
        if click.board == "next":
            if (beside := self._beside) is not None:
                sitting.act(f"aim {beside}")
        else:
            sitting.click(sitting.me if click.board == "own" else sitting.target, click.cell)
        self._show()

    def on_option_list_option_selected(self, chosen: OptionList.OptionSelected) -> None:
        """A click on an action does it."""
        if self.sitting.setting_up is not None:
            self.sitting.setting_up.at = chosen.option_index
        self.sitting.act(self.sitting.actions()[chosen.option_index].word)
        self._show()

    # --- drawing --------------------------------------------------------------------------------------------------

    def _show(self) -> None:
        sitting = self.sitting
        if sitting.ended:
            self.exit(sitting.ended)
        self._show_title()
        setting_up, sight = sitting.setting_up, sitting.sight
        own = sitting.own_board()
        self._hide("actions", setting_up is None)
        self._hide("target", setting_up is not None or sight is None)
        self._hide("outcome", setting_up is not None or sight is None)
        self._hide("own", own is None)
        self._hide("beside", self._beside is None)
        if own is not None:
            square = self._square if setting_up is not None and setting_up.in_grid else None
            self._show_board("own", own, cursor=square)
        if setting_up is not None:
            self._show_actions(setting_up)
        elif sight is not None:
            self._show_game(sight)
        self._write("message", sitting.message)
        self._write("news", *(line for line, _ in sitting.news[-self._room_for_news :]))
        self._write("keys", "   ".join(sitting.hints()))

    def _hide(self, name: str, hidden: bool) -> None:
        self.query_one(f"#{name}").set_class(hidden, "hidden")

    @property
    def _room_for_news(self) -> int:
        grid = self.sitting.grid
        return max(_NEWS_LINES, self.size.height - (grid.height if grid is not None else 0) - _OTHER_LINES)

    def _write(self, name: str, *lines: str) -> None:
        self.query_one(f"#{name}", Static).update(Text("\n".join(map(printable, lines))))

    def _show_title(self) -> None:
        sitting = self.sitting
        parts = [sitting.mode.value, *sitting.about]
        if sitting.sight is not None and sitting.mode is Mode.SHOOT:
            parts.append(shots_of(sitting.sight.shots))
        elif sitting.whose_turn:
            parts.append(f"{sitting.whose_turn}'s turn")
        if (left := sitting.seconds_left) is not None:
            parts.append(f"{round(left)} s left{' to set up' * sitting.before_turns}")
        if sitting.trouble:
            parts.append(f"! {sitting.trouble}")
        self._write("title", "   ".join(parts))

    @property
    def _square(self) -> int | None:
        """The square that keys have chosen."""
        grid = self.sitting.grid
        return None if grid is None else self.sitting.cursor.cell(grid)

    def _show_actions(self, setting_up: SettingUp) -> None:
        actions, next_click = self.query_one("#actions", OptionList), setting_up.next_click
        self._write("incoming", next_click)
        actions.border_title = next_click.removeprefix("setting ") if setting_up.setup.ship else "ships and actions"
        actions.clear_options()
        for number, action in enumerate(setting_up.actions(), start=1):
            text = f"{action.text} ({action.key})" if action.key else action.text
            numbered = number <= NUMBERED and not setting_up.in_grid
            actions.add_option(Text(f"{number}  {text}" if numbered else text))
        actions.highlighted = setting_up.highlighted

    def _show_game(self, sight: Snapshot) -> None:
        sitting = self.sitting
        square = self._square if sitting.mode is Mode.SHOOT else None
        self._show_board("target", sitting.rival_board(sight, sitting.target), cursor=square)
        if (beside := self._beside) is not None:
            self._show_board("next", sitting.rival_board(sight, beside))
        self._write("incoming", sitting.incoming(sight))
        self._write("outcome", sitting.outcome)

    def _show_board(self, place: str, board: BoardPicture, cursor: int | None = None) -> None:
        grid = self.sitting.grid
        assert grid is not None
        styles = TARGET_COLOURS if board.sunk_apart else COLOURS
        view = self.query_one(f"#{place}", BoardView)
        view.show(grid, board.marks, board.heading, active=board.active, cursor=cursor, styles=styles)

    @property
    def _beside(self) -> str | None:
        """The rival that Tab would choose, if its board has room beside the target's."""
        sight = self.sitting.sight
        if sight is None or self.sitting.mode is Mode.SETUP or len(rivals_of(sight)) < 2:
            return None
        board = max(_LEAST_BOARD, 3 * sight.rules.grid.width + _AROUND_BOARD)
        return self.sitting.beside_target(sight) if self.size.width >= 3 * board else None
