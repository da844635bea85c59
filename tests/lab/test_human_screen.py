"""The person's screen, driven by keys and clicks; the game's side of the desk is the test."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable, Coroutine
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from rich.text import Text
from textual.pilot import Pilot
from textual.widgets import OptionList, Static

from kit.person import fleet_in_rows, view_of
from salvo.rules import BOOKS, RuleBook, ShipClass
from salvo.view import Shot, View
from salvo_display.boards.marks import Mark, display_name
from salvo_lab import arena
from salvo_lab.bots.random_bot import RandomBot
from salvo_lab.human.channel import (
    Channel,
    DeskMessage,
    FiredSalvo,
    Line,
    Notice,
    PersonLeaves,
    PersonLeft,
    PlaceFleet,
    Seen,
    Taunt,
)
from salvo_lab.human.places.in_process import Human
from salvo_lab.human.sitting import Mode
from salvo_lab.human.snapshot import Snapshot
from salvo_lab.human.terminal.board import BoardView
from salvo_lab.human.terminal.screen import TableScreen

#: A screen takes half a second to open.
pytestmark = pytest.mark.long
Act = Callable[["Person"], Coroutine[Any, Any, None]]


class Person:
    """The screen and somebody at it."""

    def __init__(self, app: TableScreen, desk: Channel, pilot: Pilot[str]) -> None:
        self.app = app
        self.desk = desk
        self.press = pilot.press
        self.click = pilot.click
        self._pilot = pilot
        self._received = 0

    async def hear(self, *news: DeskMessage) -> None:
        for each in news:
            self.desk.show(each)
        self._received += 1
        last = f"heard {self._received}"
        self.desk.show(Notice(last))
        await self.until(lambda: self.text("news").endswith(last))
        await self._pilot.pause()  # until the page is laid out, too: clicks go by it

    async def ask_for_fleet(self, book: RuleBook, game: int = 1) -> None:
        await self.hear(PlaceFleet(book, "me", game, Random(1)))

    async def see(self, view: View) -> None:
        await self.hear(Seen(Snapshot.of(view)))

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(60):
            while not holds():
                await self._pilot.pause(0.01)

    def text(self, name: str) -> str:
        return str(self.app.query_one(f"#{name}", Static).render())

    def board(self, name: str) -> str:
        """The marks of a board, row by row, without frame and cursor."""
        rows = self.text(name).splitlines()[1:]
        return "".join(row[3::2] for row in rows)

    def title(self, board: str) -> str:
        return Text.from_markup(str(self.app.query_one(f"#{board}", BoardView).border_title)).plain

    @property
    def seconds_left(self) -> int:
        clock = re.search(r"(\d+) s left", self.text("title"))
        assert clock is not None
        return int(clock[1])

    @property
    def actions(self) -> list[str]:
        offered = self.app.query_one("#actions", OptionList)
        return [str(offered.get_option_at_index(number).prompt) for number in range(offered.option_count)]

    def shown(self, name: str) -> bool:
        return bool(self.app.query_one(f"#{name}").display)


def _run(act: Act, size: tuple[int, int] = (100, 40)) -> str | None:
    desk = Channel()
    app = TableScreen(desk)

    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await act(Person(app, desk, pilot))

    asyncio.run(run())
    return app.return_value


# --- setting up ---------------------------------------------------------------------------------------------------


def test_a_fleet_is_set_by_keys() -> None:
    fleet = (ShipClass("carrier", 5), ShipClass("raft", 1))  # one of a single cell has no other end
    book = replace(BOOKS["salvo"], fleet=fleet)
    wanted = fleet_in_rows(book)

    async def act(person: Person) -> None:
        await person.ask_for_fleet(book)
        assert person.text("title").startswith(f"Setup   game 1, {book.name}")
        for ship, place in zip(book.fleet, wanted.placements, strict=True):
            assert "Done" not in " ".join(person.actions)
            await person.press("1", "ABCDEFGHIJ"[place.y - 1], str(place.x), "enter")
            if ship.length > 1:
                assert person.board("own").count(Mark.OFFERED) > 0
                await person.press(*["right"] * (ship.length - 1), "enter")
            assert person.app.sitting.message.startswith(f"{display_name(ship.name)} placed at ")
        assert person.actions == ["1  Delete a ship (d)", "2  Done"]
        await person.press("2")
        assert person.text("title").startswith("Waiting")
        assert person.desk.answers() == [wanted]

    _run(act)


def test_the_mouse_does_what_keys_do() -> None:
    async def act(person: Person) -> None:
        await person.ask_for_fleet(BOOKS["salvo"])
        await person.click("#actions", offset=(5, 2))
        assert person.text("incoming") == "setting Battleship"
        await person.click("#own", offset=(2 + 3, 1 + 1))
        await person.click("#own", offset=(2 + 3 + 2 * 3, 1 + 1))
        assert person.app.sitting.message == "Battleship placed at A1-A4"
        await person.see(view_of("salvo"))
        await person.click("#target", offset=(2 + 3 + 2 * 9, 1 + 10))
        assert person.app.sitting.message == "1 of 5 shots chosen; Fire (f) sends it and gives up 4"
        assert person.board("target")[99] == Mark.AIMED

    _run(act)


# --- shooting -----------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("book", [BOOKS["salvo"], BOOKS["spaced"]], ids=["a salvo", "one shot"])
def test_a_turn_s_shots_are_chosen_and_fired(book: RuleBook) -> None:
    async def act(person: Person) -> None:
        await person.see(view_of(book.name))
        assert person.text("title").startswith(f"Your turn   game 1, {book.name}   turn 1   {book.longest_salvo} shot")
        if book.longest_salvo == 1:
            await person.press("J", "1", "0", "enter")
            shots = [Shot("ann", 10, 10)]
        else:
            await person.press("B", "3", "enter", "right", "space", "down", "enter", "enter", "f")
            shots = [Shot("ann", 3, 2), Shot("ann", 4, 2)]
        assert person.desk.answers() == [FiredSalvo(1, 1, tuple(shots))]
        assert [person.board("target")[(shot.y - 1) * 10 + shot.x - 1] for shot in shots] == [Mark.FIRED] * len(shots)
        assert person.app.sitting.mode is (Mode.SHOOT if book.longest_salvo > 1 else Mode.WAITING)

    _run(act)


# --- the end ------------------------------------------------------------------------------------------------------


def test_text_of_strangers_on_an_open_broker_does_not_control_the_screen() -> None:
    async def act(person: Person) -> None:
        await person.see(view_of("salvo", "[bold]ann\x1b[2J"))
        await person.hear(Notice("\x1b[31m" + "long" * 1000))
        assert person.title("target") == "[bold]ann\ufffd[2J, 5 afloat"
        first = person.text("news").splitlines()[-2]
        assert first.startswith("\ufffd[31mlong")
        assert len(first) == 300

    _run(act)


# --- with a game behind it ----------------------------------------------------------------------------------------


def test_a_person_who_leaves_in_a_game_ends_the_game_s_thread() -> None:
    left = threading.Event()

    async def act(person: Person) -> None:
        def play() -> None:
            with pytest.raises(PersonLeft):
                arena.play({"me": Human(person.desk), "bot": RandomBot()}, seed=1)
            left.set()

        threading.Thread(target=play, daemon=True).start()
        await person.until(lambda: person.app.sitting.mode is Mode.SETUP)
        await person.press("r", "enter")
        await person.until(lambda: person.app.sitting.mode is Mode.SHOOT)
        person.desk.answer(PersonLeaves())
        await person.until(left.is_set)

    _run(act)


def test_a_line_of_chat_takes_every_key_until_it_is_sent() -> None:
    lines: dict[str, Line | Taunt | None] = {
        "good luck, d'f!": Line("good luck, d'f!"),
        "@ann you first": Line("you first", "ann"),
        "@ann ": None,
        "/hit ouch, dq": Taunt(True, "ouch, dq"),
        "/miss": Taunt(False, ""),
        "": None,
    }

    async def act(person: Person) -> None:
        person.desk.chat = True
        await person.see(view_of("salvo", "ann"))
        assert "m: message" in person.text("keys")
        for typed, line in lines.items():
            await person.press("m")
            assert person.shown("chat")
            await person.press(*typed, "enter")
            assert not person.shown("chat")
            assert person.desk.answers() == ([line] if line else []), typed
            await person.press("A", "3")  # a row and a column again
            assert person.desk.answers() == []

    _run(act)
