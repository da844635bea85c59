"""The interactive view of a replay in a terminal, with textual.

It shows frames and moves between them; what a frame contains in each view is :mod:`.replay`'s business.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from salvo.errors import MissingExtra
from salvo_display.pictures.marks import Mark
from salvo_display.replay import REFEREE, Frame, Replay, Sea
from salvo_display.replay_text import LEGEND, clock, news

try:
    from rich.text import Text
    from textual.app import App, ComposeResult
    from textual.binding import Binding
    from textual.containers import Container, VerticalScroll
    from textual.message import Message
    from textual.timer import Timer
    from textual.widgets import Footer, OptionList, Static

    from salvo_display.screen import Board, board_width, draw_boards
except ModuleNotFoundError:
    raise MissingExtra("the replay viewer (--plain does without)", "terminal") from None

#: Salvos a second; a game of two has about 60, one of eight about 400.
SPEEDS: Final = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
DEFAULT_SPEED: Final = 2.0

HELP: Final = """\
space      play, pause            b          play backwards
right      one turn on            left       one turn back
up, +      faster                 down, -    slower
Home       before the first turn  End        after the last one
g, number  jump to a turn         Enter does it, Escape does not
v, V       next, former view      the referee, then every player
PgUp PgDn  scroll the boards      a click on a salvo jumps there
?          this help              q          quit

"""


class Boards(VerticalScroll, can_focus=False):
    """Where the boards are; tells when it has another size."""

    class Resized(Message):
        """There is more room, or less."""

    def on_resize(self) -> None:
        """Report it."""
        self.post_message(self.Resized())


class Viewer(App[None]):
    """Shows a replay.

    Attributes:
        view: whose view it is.
        turn: the turn that has just ended, 0 before the first.
        speed: salvos a second.
        direction: 1 while it plays, -1 while it plays backwards, 0 while it is paused.
    """

    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012
    CSS = """
    #heading { height: 1; text-style: bold; }
    #state { height: 1; color: $text-muted; }
    #body { height: 1fr; }
    .-wide #body { layout: horizontal; }
    .-narrow #body { layout: vertical; }
    #boards { height: 1fr; width: 1fr; }
    .-wide #salvos { width: 48; height: 1fr; }
    .-narrow #salvos { width: 1fr; height: 7; }
    #salvos { border: none; padding: 0; text-wrap: nowrap; text-overflow: ellipsis; }
    #notes { height: auto; max-height: 3; color: $text-warning; }
    #help { display: none; height: auto; border: round $primary; padding: 0 1; }
    #help.shown { display: block; }
    """
    BINDINGS: ClassVar[list[Any]] = [
        Binding("space", "play(1)", "play"),
        Binding("left", "step(-1)", "back"),
        Binding("right", "step(1)", "on"),
        Binding("b", "play(-1)", "backwards", show=False),
        Binding("up,plus,equals_sign", "faster(1)", "faster"),
        Binding("down,minus", "faster(-1)", "slower"),
        Binding("home", "go(0)", "start", show=False),
        Binding("end", "go(-1)", "end", show=False),
        Binding("g", "type('')", "turn"),
        Binding("v", "look(1)", "view"),
        Binding("V,shift+v", "look(-1)", "former view", show=False),
        Binding("question_mark", "help", "help"),
        Binding("q", "quit", "quit"),
        Binding("enter", "jump", show=False),
        Binding("escape", "forget", show=False),
        Binding("backspace", "erase", show=False),
        Binding("pageup", "scroll_boards(-1)", show=False),
        Binding("pagedown", "scroll_boards(1)", show=False),
        *(Binding(digit, f"type('{digit}')", show=False) for digit in "0123456789"),
    ]

    def __init__(
        self, replay: Replay, *, view: str = REFEREE, turn: int | None = None, speed: float = DEFAULT_SPEED
    ) -> None:
        """Show a replay; it plays from the start unless a turn is given.

        Raises:
            ReplayError: ``unknown_view`` or ``unknown_turn``.
        """
        super().__init__()
        replay.frame(view, turn or 0)
        self.replay = replay
        self.view = view
        self.turn = turn or 0
        self.speed = speed
        self.direction = 0 if turn is not None else 1
        self._typed: str | None = None
        self._message = ""
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """Lay out the page."""
        salvos = OptionList(*short_lines(self.replay), id="salvos")
        salvos.can_focus = False
        legend = "   ".join(f"{mark} {text}" for mark, text in LEGEND)
        yield Static(id="heading")
        yield Static(id="state")
        yield Static(Text(f"{HELP}{legend}   {Mark.BLANK} water, or not known"), id="help")
        yield Container(Boards(Static(id="picture"), id="boards"), salvos, id="body")
        yield Static(id="notes")
        yield Footer()

    def on_mount(self) -> None:
        """Begin."""
        self._keep_time()
        self._show()

    def on_boards_resized(self) -> None:
        """Lay the boards out again."""
        self._show()

    # --- moving ---------------------------------------------------------------------------------------------------

    def action_play(self, direction: int) -> None:
        """Play in a direction, or pause; at the end of the game, begin at its other end."""
        self.direction = 0 if self.direction == direction else direction
        if self.direction and self._at_end():
            self.turn = 0 if direction > 0 else self.replay.turns
        self._keep_time()
        self._show()

    def action_step(self, turns: int) -> None:
        """Go some turns forward or back, and pause."""
        self._go(self.turn + turns)

    def action_go(self, turn: int) -> None:
        """Go to a turn, counted from the end when it is negative."""
        self._go(turn if turn >= 0 else self.replay.turns + 1 + turn)

    def action_faster(self, by: int) -> None:
        """Take the next speed."""
        faster = [speed for speed in SPEEDS if speed > self.speed]
        slower = [speed for speed in SPEEDS if speed < self.speed]
        if by > 0 and faster:
            self.speed = faster[0]
        elif by < 0 and slower:
            self.speed = slower[-1]
        self._keep_time()
        self._show()

    def action_look(self, by: int) -> None:
        """Take the next view."""
        views = self.replay.views
        self.view = views[(views.index(self.view) + by) % len(views)]
        self._show()

    def action_type(self, digit: str) -> None:
        """Type the number of a turn."""
        self._typed = (self._typed or "") + digit
        self.direction = 0
        self._show()

    def action_erase(self) -> None:
        """Take back the last digit."""
        if self._typed is not None:
            self._typed = self._typed[:-1]
            self._show()

    def action_forget(self) -> None:
        """Type no number after all; hide the help."""
        self._typed = None
        self.query_one("#help").remove_class("shown")
        self._show()

    def action_jump(self) -> None:
        """Go to the turn that was typed."""
        typed, self._typed = self._typed, None
        if typed and int(typed) > self.replay.turns:
            self._message = f"no turn {int(typed)}; the last one is {self.replay.turns}"
            self._show()
        elif typed:
            self._go(int(typed))
        else:
            self._show()

    def action_help(self) -> None:
        """Show the keys, or hide them."""
        self.query_one("#help").toggle_class("shown")
        self.call_after_refresh(self._show)

    def action_scroll_boards(self, by: int) -> None:
        """Scroll the boards by a page."""
        boards = self.query_one("#boards", Boards)
        if by > 0:
            boards.scroll_page_down(animate=False)
        else:
            boards.scroll_page_up(animate=False)

    def on_option_list_option_selected(self, chosen: OptionList.OptionSelected) -> None:
        """Jump to the salvo that was clicked."""
        self._go(chosen.option_index)

    def _go(self, turn: int) -> None:
        self.direction = 0
        self.turn = min(max(turn, 0), self.replay.turns)
        self._show()

    def _at_end(self) -> bool:
        return self.turn == (self.replay.turns if self.direction > 0 else 0)

    def _keep_time(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if self.direction:
            self._timer = self.set_interval(1 / self.speed, self._tick)

    def _tick(self) -> None:
        if not self.direction:
            return
        if not self._at_end():
            self.turn += self.direction
        if self._at_end():
            self.direction = 0
        self._show()

    # --- drawing --------------------------------------------------------------------------------------------------

    @property
    def frame(self) -> Frame:
        """What is shown."""
        return self.replay.frame(self.view, self.turn)

    def _show(self) -> None:
        frame = self.frame
        self.query_one("#heading", Static).update(Text(self._heading(frame)))
        self.query_one("#state", Static).update(Text(self._state()))
        self.query_one("#picture", Static).update(self._boards(frame))
        more = [f"and {len(frame.notes) - 2} more"] if len(frame.notes) > 2 else []
        self.query_one("#notes", Static).update(Text("\n".join([*frame.notes[:2], *more])))
        self.query_one("#salvos", OptionList).highlighted = self.turn

    def _heading(self, frame: Frame) -> str:
        todo = f"{frame.current} to fire {frame.shots}" if frame.current else ", ".join(news(frame)[-1:])
        header = self.replay.header
        table = f" at table {header.rules.table}" if header.rules.table else ""
        return f"game {header.game}{table}   turn {self.turn} of {self.replay.turns}   {todo}   clock {clock(frame)}"

    def _state(self) -> str:
        if self._typed is not None:
            return f"jump to turn: {self._typed}_"
        message, self._message = self._message, ""
        playing = {1: "▶ playing", -1: "◀ playing backwards", 0: "‖ paused"}[self.direction]
        view = "the referee's view" if self.view == REFEREE else f"{self.view}'s view"
        return message or f"{view}   {playing}, {self.speed:g} a second"

    def _boards(self, frame: Frame) -> Any:
        grid = self.replay.header.rules.book.grid
        shooter = frame.result.player if frame.result is not None else frame.current
        boards = {name: _board(sea) for name, sea in frame.seas.items()}
        return draw_boards(boards, grid, shooter, self._gap(len(boards)))

    def _gap(self, count: int) -> str:
        """Keep cells apart where all boards fit like that, and letters too wide for one line push nothing out."""
        grid = self.replay.header.rules.book.grid
        room = self.query_one("#boards").size
        in_a_row = max(1, (room.width + 1) // (board_width(grid) + 1))
        rows = -(-count // in_a_row)
        return " " if not room.height or rows * (grid.height + 3) <= room.height else ""


def short_lines(replay: Replay) -> list[Text]:
    """Return a line for the time before the first salvo and one for each, as short as a list at the side needs."""
    letters = max(map(len, replay.players))
    digits = len(str(replay.turns))
    lines = [f"{0:>{digits}}  before the first salvo"]
    for frame in replay.frames(REFEREE)[1:]:
        result = frame.result
        assert result is not None
        counts = f"{result.hits} of {result.shots}"
        lines.append(f"{result.turn:>{digits}}  {result.player:<{letters}}  {counts}  {', '.join(news(frame))}")
    return [Text(line, no_wrap=True, overflow="ellipsis") for line in lines]


def _board(sea: Sea) -> Board:
    ships = dict.fromkeys(sea.afloat, True) | dict.fromkeys(sea.sunk, False)
    return Board(ships, sea.shots, sea.hits, sea.last, sea.out, marks=sea.marks, latest=sea.latest)
