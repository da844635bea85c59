"""A game's page in a real browser, with keys and clicks; what it shows is what the view sees."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.browser import END, HOME, LEFT, RIGHT, SPACE, TAB, Browser, colour, contrast, text
from kit.golden_games import GOLDEN
from kit.pages import RUDE, large_game, rude_game
from kit.programs import needs
from salvo_display.boards.colours import luminance
from salvo_display.boards.marks import Mark
from salvo_display.replay import REFEREE, Replay
from salvo_display.replay_text import clock
from salvo_display.web_page import html_page
from salvo_game.recordings import open_recordings

pytestmark = needs("chromium")

_MARKS = {"hits": Mark.HIT, "misses": Mark.MISS, "unknown": Mark.FIRED}
_SHOWN = """
    const drawn = (board, name) => board.querySelector(`path.${name}`)?.getAttribute("d") || "";
    const cells = (board, name) => [...drawn(board, name).matchAll(/M([0-9.]+) ([0-9.]+)/g)]
        .map(([, x, y]) => [Math.floor(x / 10) + 1, Math.floor(y / 10) + 1]);
    return [...document.querySelectorAll(".player")].map((board) => ({
        name: board.querySelector("h2").textContent.trim(),
        marks: ["hits", "misses", "unknown"].flatMap((name) => cells(board, name).map((cell) => [name, ...cell])),
        latest: cells(board, "latest"),
        shots: Number(board.querySelector("[data-of=shots]").textContent),
        hits: Number(board.querySelector("[data-of=hits]").textContent),
        sunk: [...board.querySelectorAll(".fleet .sunk")].map((ship) => ship.textContent.split(" ")[0]),
        wrecks: cells(board, "wrecks").length,
        out: board.classList.contains("out"),
        firing: board.classList.contains("firing"),
    }));"""


@pytest.fixture
def window(shared: Browser) -> Iterator[Browser]:
    shared.resize(1400, 1000)
    shared.complaints()
    yield shared
    assert shared.complaints() == []
    assert shared.run("return performance.getEntriesByType('resource').length") == 0
    shared.tell("Emulation.setEmulatedMedia", features=[])


def _replay(name: str) -> Replay:
    return Replay(*open_recordings(str(GOLDEN / f"{name}.jsonl.gz")).executed())


def _write(folder: Path, replay: Replay, view: str = REFEREE, turn: int = 0) -> str:
    file = folder / "game.html"
    file.write_text(html_page(replay, view, turn), encoding="utf-8")
    return file.as_uri()


def _assert_shows(window: Browser, replay: Replay, view: str, turn: int) -> None:
    frame, grid = replay.frame(view, turn), replay.header.rules.book.grid
    boards = window.run(_SHOWN)
    assert [board["name"] for board in boards] == list(frame.seas)
    for board, (name, sea) in zip(boards, frame.seas.items(), strict=True):
        shots = {cell: Mark(mark) for cell, mark in enumerate(sea.marks) if mark not in (Mark.BLANK, Mark.SHIP)}
        assert {grid.cell(x, y): _MARKS[name] for name, x, y in board["marks"]} == shots
        assert {grid.cell(x, y) for x, y in board["latest"]} == sea.latest
        assert (board["shots"], board["hits"], board["out"]) == (sea.shots, sea.hits, sea.out)
        assert board["sunk"] == [ship.name for ship in replay.header.rules.book.fleet if ship.name in sea.sunk]
        assert board["wrecks"] == (len(sea.sunk) if view in (REFEREE, name) else 0)
        assert board["firing"] == (frame.result is not None and frame.result.player == name)
    shown = window.run("return document.getElementById('now').textContent")
    assert shown.startswith(f"Turn {turn}: ")
    assert window.run("return document.querySelector('.salvos [aria-current] a').textContent") == str(turn)
    assert int(window.run("return document.getElementById('slider').value")) == turn


def test_keys_move_through_a_game_page_in_both_directions_and_to_the_ends(window: Browser, tmp_path: Path) -> None:
    replay = _replay("2-players-1")
    window.open(_write(tmp_path, replay))
    _assert_shows(window, replay, REFEREE, 0)
    window.press(RIGHT, RIGHT, RIGHT)
    _assert_shows(window, replay, REFEREE, 3)
    window.press(LEFT)
    _assert_shows(window, replay, REFEREE, 2)
    window.press(END)
    _assert_shows(window, replay, REFEREE, replay.turns)
    window.press(RIGHT)
    _assert_shows(window, replay, REFEREE, replay.turns)
    window.press(LEFT, LEFT)
    _assert_shows(window, replay, REFEREE, replay.turns - 2)
    window.press(HOME, LEFT)
    _assert_shows(window, replay, REFEREE, 0)


def test_buttons_salvos_and_the_address_lead_to_a_turn_of_a_players_view(window: Browser, tmp_path: Path) -> None:
    replay = _replay("4-players-silent")
    player = replay.players[0]
    address = _write(tmp_path, replay, player, 7)
    window.open(address)
    _assert_shows(window, replay, player, 7)
    window.click("#on")
    window.click("#on")
    window.click("#back")
    _assert_shows(window, replay, player, 8)
    window.click("#last")
    _assert_shows(window, replay, player, replay.turns)
    window.click("#first")
    _assert_shows(window, replay, player, 0)
    window.open(address)
    window.click('.salvos a[href="#turn=4"]')
    _assert_shows(window, replay, player, 4)
    window.open(f"{address}#turn=20")
    _assert_shows(window, replay, player, 20)
    window.run("location.hash = '#turn=5'")
    window.wait_for("document.getElementById('slider').value === '5'")
    _assert_shows(window, replay, player, 5)
    window.open(f"{address}#turn=999999")
    _assert_shows(window, replay, player, replay.turns)


def test_all_boards_and_the_latest_salvo_are_on_one_screen(window: Browser, tmp_path: Path) -> None:
    replay, width, height = _replay("8-players-1"), 1280, 720
    window.resize(width, height)
    window.open(_write(tmp_path, replay, turn=30))
    assert window.run("return document.documentElement.scrollHeight") <= height
    boxes = window.run(
        "return [...document.querySelectorAll('.board, .controls, .chart, .salvos [aria-current]')]"
        ".map((each) => each.getBoundingClientRect()).map(({ top, bottom, width }) => [top, bottom, width])"
    )
    assert len(boxes) == len(replay.players) + 3
    assert all(0 <= top < bottom <= height for top, bottom, _ in boxes)
    assert min(wide for _, _, wide in boxes[: len(replay.players)]) >= width / 8


def test_a_game_page_plays_pauses_and_plays_again_from_the_start(window: Browser, tmp_path: Path) -> None:
    """Slow enough that a busy machine sees it play, and fast where only its end counts."""
    replay = _replay("2-players-small")
    window.open(_write(tmp_path, replay))
    slow, fast = (f"document.getElementById('speed').value = '{speed}'" for speed in (1, 32))
    window.run(slow)
    window.press(SPACE)
    window.wait_for("document.getElementById('slider').value > 1")
    assert window.label("#play") == "Pause"
    window.press(SPACE)
    assert window.label("#play") == "Play"
    stopped = int(window.run("return document.getElementById('slider').value"))
    _assert_shows(window, replay, REFEREE, stopped)
    window.run(fast)
    window.click("#play")
    window.wait_for("document.querySelector('main.end')")
    assert window.label("#play") == "Play"
    window.run(slow)
    window.click("#play")
    window.wait_for(f"document.getElementById('slider').value < {replay.turns}")


_STOPPED_TIME = """
    window.waits = [];
    performance.now = () => 0;
    window.setTimeout = (call, after, turn) => turn && waits.push({after, shows: () => call(turn)});"""


def test_a_game_page_plays_back_from_any_turn_at_the_recorded_pace(window: Browser, tmp_path: Path) -> None:
    replay, turn = _replay("2-players-clock"), 5
    frames = replay.frames(REFEREE)
    window.open(_write(tmp_path, replay, turn=turn))
    window.run(_STOPPED_TIME)
    window.run("document.querySelector('#speed').value = '0'")
    window.press(SPACE)
    waits = window.run("return waits.map(({after}) => after)")
    assert waits == [frame.clock - frames[turn].clock for frame in frames[turn + 1 :]]
    window.run("waits.slice(0, 4).forEach(({shows}) => shows())")
    _assert_shows(window, replay, REFEREE, turn + 4)
    assert text(window, "#clock") == clock(frames[turn + 4])
    window.run("waits.slice(4).forEach(({shows}) => shows())")
    _assert_shows(window, replay, REFEREE, replay.turns)
    assert window.label("#play") == "Play"


_CHANCES_SHOWN = """
    const visible = (each) => getComputedStyle(each).display !== "none";
    return {
        text: document.body.innerText,
        rows: [...document.querySelectorAll(".salvos tbody tr")].filter(visible).length,
        ended: visible(document.querySelector(".ended")),
        names: visible(document.querySelector(".chart .names")),
        slider: [document.getElementById("slider").value, document.getElementById("slider").max].map(Number),
        lines: [...document.querySelectorAll(".chart .line")].map((line) => line.getAttribute("d")),
        axes: [...document.querySelectorAll(".chart .most, .chart .turns")].map((each) => Number(each.textContent)),
        speed: document.getElementById("speed").value,
    };"""


def test_a_game_page_shows_nothing_of_the_turns_after_its_own(window: Browser, tmp_path: Path) -> None:
    """It told who wins, after how many salvos, when it was opened on a projector."""
    replay = _replay("smackdown-4-1")
    window.open(_write(tmp_path, replay))
    begin = window.run(_CHANCES_SHOWN)
    assert (begin["rows"], begin["ended"], begin["names"], begin["slider"]) == (1, False, False, [0, 0])
    assert "win" not in begin["text"]
    window.open(_write(tmp_path, replay, turn=5))
    five = window.run(_CHANCES_SHOWN)
    assert (five["rows"], five["ended"], five["names"], five["slider"]) == (6, False, False, [5, 5])
    assert five["axes"][1] == 20
    # The page of a game that ended soon after is the same until then.
    cut = Replay("cut", replay.header, [step for step in replay.steps if step.at <= replay.frame(REFEREE, 5).at])
    assert 5 <= cut.turns < replay.turns
    window.open(_write(tmp_path, cut, turn=4))
    four = window.run(_CHANCES_SHOWN)
    window.open(_write(tmp_path, replay, turn=4))
    assert window.run(_CHANCES_SHOWN) == four


def test_everything_can_be_reached_by_tab_and_has_a_name(window: Browser, tmp_path: Path) -> None:
    window.open(_write(tmp_path, _replay("2-players-1")))
    reached = []
    for _ in range(11):
        window.press(TAB)
        reached.append(window.run("const at = document.activeElement; return at.id || at.className || at.textContent"))
    moving = ["first", "former", "back", "play", "on", "next", "last", "slider", "speed", "link"]
    assert reached == [*moving, "salvos"]
    labels = [window.label(f"#{name}") for name in moving]
    sinkings = "To the sinking before", "To the next sinking"
    back, on = ["To the start", sinkings[0], "One salvo back"], ["One salvo on", sinkings[1], "To the end"]
    assert labels == [*back, "Play", *on, "Turn", "Speed", "Copy link"]
    assert window.label(".player .board").startswith("Board of ")


def test_a_rude_name_stays_text_in_a_browser(window: Browser, tmp_path: Path) -> None:
    replay = rude_game()
    for view in (REFEREE, RUDE):
        window.open(_write(tmp_path, replay, view, 1))
        _assert_shows(window, replay, view, 1)
        assert window.run("return document.images.length + document.scripts.length") == 2
        assert window.run("return document.querySelector('.player h2').textContent.trim()") == RUDE


_DRAWN = """
    const [paths, of] = ["path[d]:not([d=''], .halo)", (path) => [path.getAttribute("class"), path.getAttribute("d")]];
    return [...document.querySelectorAll(".board")].map((board) =>
        Object.fromEntries([...board.querySelectorAll(paths)].map(of)));"""


@pytest.mark.parametrize(("name", "view"), [("streak-2-1", REFEREE), ("4-players-silent", "hunter-1")])
def test_a_game_page_without_its_script_shows_the_end_as_the_script_draws_it(
    window: Browser, tmp_path: Path, name: str, view: str
) -> None:
    replay = _replay(name)
    window.open(_write(tmp_path, replay, view, replay.turns))
    boards, drawn = window.run(_SHOWN), window.run(_DRAWN)
    file = tmp_path / "dead.html"
    file.write_text(html_page(replay, view).replace('<script type="module">', '<script type="none">'), encoding="utf-8")
    window.open(file.as_uri())
    assert window.run("return getComputedStyle(document.getElementById('controls')).display") == "none"
    assert window.run(_SHOWN) == [{**board, "latest": [], "firing": False} for board in boards]
    assert window.run(_DRAWN) == [{key: path for key, path in each.items() if key != "latest"} for each in drawn]


def test_nothing_is_wider_than_a_phone(window: Browser, tmp_path: Path) -> None:
    width = 320
    window.resize(width, 800)
    for replay in (_replay("2-players-1"), rude_game(), large_game()):
        window.open(_write(tmp_path, replay, turn=replay.turns))
        assert window.run("return document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_marks_of_a_game_page_contrast_with_the_water(window: Browser, tmp_path: Path, scheme: str) -> None:
    window.tell("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    window.open(_write(tmp_path, _replay("2-players-1"), turn=9))
    behind = colour(window, "body", "backgroundColor")
    assert (luminance(behind) > 0.5) == (scheme == "light")
    water = colour(window, ".water", "fill")
    for selector, what in ((".board .ships", "stroke"), (".board .hits", "stroke"), (".board .misses", "stroke")):
        assert contrast(colour(window, selector, what), water) >= 3, selector
