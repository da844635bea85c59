"""Our bots as clients of older systems: what they answer, message by message."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import pytest

from kit.ports import Port
from salvo import messages as m
from salvo.bots.player import Answer, Bot
from salvo.rules import Fleet, Orientation, Placement, RuleBook, generator, own_seed
from salvo.rules.books.alternate import ALTERNATE
from salvo.rules.books.streak import STREAK
from salvo.rules.game import begin
from salvo.view import Shot, View
from salvo_gateways.bot_clients import TryLater
from salvo_gateways.bot_clients.connection import play
from salvo_gateways.bot_clients.jsonline import JsonBotClient
from salvo_gateways.bot_clients.smackdown import SmackdownBotClient
from salvo_gateways.bot_clients.xbs import XbsBotClient
from salvo_gateways.errors import GatewayError
from salvo_lab.bots.hunter import Hunter


class Scripted(Bot):
    """Fires given cells, (x, y), at its first opponent, and notes what it is told."""

    def __init__(self, *salvos: Sequence[tuple[int, int]], fleet: Sequence[tuple[int, int, Orientation]] = ()) -> None:
        self.salvos = list(salvos)
        self.fleet = fleet
        self.results: list[m.SalvoResolved] = []
        self.received: list[tuple[str, str, bool]] = []
        self.view: View | None = None
        self.winner: str | None = None

    def place_fleet(self, rules: RuleBook) -> Fleet:
        if not self.fleet:
            return super().place_fleet(rules)
        return Fleet(rules, [Placement(ship.name, *at) for ship, at in zip(rules.fleet, self.fleet, strict=True)])

    def choose_salvo(self, view: View) -> Answer:
        self.view = view
        return [Shot(view.opponents[0], x, y) for x, y in self.salvos.pop(0)]

    def on_result(self, result: m.SalvoResolved) -> None:
        self.results.append(result)

    def on_message(self, sender: str, text: str, private: bool) -> None:
        self.received.append((sender, text, private))

    def on_game_over(self, winner: str | None, stats: object) -> None:
        self.winner = winner


class Placing(Hunter):
    """Shows the fleet that it has placed."""

    fleet: Fleet

    def place_fleet(self, rules: RuleBook) -> Fleet:
        self.fleet = super().place_fleet(rules)
        return self.fleet


# --- Code Smackdown ---------------------------------------------------------------------------------------------------

#: The example run of the protocol's text, as player 2 reads it: lines with ``>`` are its answers.
EXAMPLE = """
|INFO|grid size|5 5|END|
|INFO|num ships|2|END|
|INFO|ship sizes|1|2|END|
|QUERY|ship locations|END|
>|RESPONSE|ship locations|0 2 H|0 3 H|END|
|QUERY|shots|2|END|
>|RESPONSE|shots|0 0|0 1|END|
|INFO|you hit|0 0|END|
|INFO|you miss|0 1|END|
|INFO|opponent miss|0 0|END|
|INFO|opponent hit|0 3|END|
|QUERY|shots|2|END|
>|RESPONSE|shots|1 0|1 1|END|
|INFO|you hit|1 0|END|
|INFO|you miss|1 1|END|
|INFO|opponent hit|1 3|END|
|QUERY|shots|1|END|
>|RESPONSE|shots|2 1|END|
|INFO|you hit|2 1|END|
|INFO|opponent miss|2 2|END|
|INFO|won game|END|
|INFO|end game|END|
"""


def test_the_example_run_of_smackdowns_text_is_played() -> None:
    across = Orientation.HORIZONTAL
    bot = Scripted([(1, 1), (1, 2)], [(2, 1), (2, 2)], [(3, 2)], fleet=[(1, 3, across), (1, 4, across)])
    client = SmackdownBotClient(bot, "two", "one", "seed")
    answers: list[str] = []
    for line in EXAMPLE.strip().splitlines():
        if line.startswith(">"):
            assert answers.pop(0) == line[1:]
        else:
            answers += client.receive(line)
    assert not answers
    assert [(result.player, result.shots, result.hits) for result in bot.results] == [
        ("two", 2, 1),
        ("one", 2, 1),
        ("two", 2, 1),
        ("one", 1, 1),
        ("two", 1, 1),
        ("one", 1, 0),
    ]
    assert bot.view is not None
    assert bot.view.incoming == [(1, 1), (1, 4), (2, 4), (3, 3)]
    assert bot.view.marks("one")[1, 1]
    assert bot.winner == "two"
    assert client.report is not None
    assert client.report.place == 1


# --- JSON lines -------------------------------------------------------------------------------------------------------


class JsonServer:
    """Plays by the rules of a book, with a fleet and shots of its own; refuses what comes out of turn."""

    def __init__(self, book: RuleBook, fleet: Fleet, *, xy: bool = False, names: bool = False) -> None:
        self.book, self.xy, self.names = book, xy, names
        random = generator("server", "json")
        self.game = begin(book, [fleet, book.random_fleet(random)], 0)
        self.cells = list(range(book.grid.size))
        random.shuffle(self.cells)
        self.refused: list[str] = []
        self.board: object = None

    def answer(self, line: str) -> str:
        sent = json.loads(line)
        kind, body = sent["type"], sent["body"]
        ok = True
        match kind:
            case "SHOT":
                body = self._shot(body)
                ok = body is not None
            case "SHOT_REQUEST":
                ok = self.game.current == 1
                body = self._cell(self.cells[-1]) if ok else None
            case "RESULT":
                self.game.fire_salvo([(0, self.cells.pop())])
                assert body == self._word()
            case "BOARD":
                self.board, body = body, None
        if not ok:
            self.refused.append(kind)
        status = ("OK" if ok else "ILLEGAL_ARGUMENTS") if self.names else (0 if ok else 2)
        return json.dumps({"type": kind, "status": status, "message": None, "body": body})

    def _shot(self, body: dict[str, object]) -> str | None:
        if self.game.current != 0 or ("x" in body) is not self.xy:
            return None
        x, y = (
            (int(str(body["x"])) + 1, int(str(body["y"])) + 1)
            if self.xy
            else (body["column"], ord(str(body["row"])) - 64)
        )
        self.game.fire_salvo([(1, self.book.grid.cell(int(str(x)), int(str(y))))])
        return self._word()

    def _cell(self, cell: int) -> dict[str, object]:
        x, y = self.book.grid.xy(cell)
        return {"x": x - 1, "y": y - 1} if self.xy else {"row": chr(64 + y), "column": x}

    def _word(self) -> str:
        salvo = self.game.salvos[-1]
        return "SINKING" if salvo.sunk else "HIT" if salvo.hits else "MISS"


@pytest.mark.parametrize(
    ("book", "xy", "names"), [(ALTERNATE, True, True), (STREAK, False, False), (STREAK, True, True)]
)
def test_a_bot_finds_out_how_a_json_lines_server_writes_and_whether_a_hit_shoots_again(
    book: RuleBook, xy: bool, names: bool
) -> None:
    bot = Placing()
    client = JsonBotClient(bot, "me", "seed")
    server = JsonServer(book, bot.fleet, xy=xy, names=names)
    waiting = list(client.begin())
    while waiting:
        waiting += client.receive(server.answer(waiting.pop(0)))
    assert server.game.over
    assert client.report is not None
    assert (client.report.winner == "me") is (server.game.winners == (0,))
    assert server.refused.count("SHOT") + server.refused.count("SHOT_REQUEST") == xy + (book is STREAK)
    if xy:
        assert isinstance(server.board, list)
        assert sorted(len(ship["position"]) for ship in server.board) == sorted(ship.length for ship in book.fleet)
        assert all(ship["isShipSinking"] for ship in server.board) is (client.report.winner != "me")
    else:
        assert isinstance(server.board, dict)
        assert {count: len(ships) if isinstance(ships, list) else 1 for count, ships in server.board.items()} == {
            "four": 1,
            "three": 2,
            "two": 3,
            "one": 4,
        }


def test_after_a_server_hung_up_on_the_first_shot_its_cells_are_written_otherwise() -> None:
    """A bot asked a server that ends at the other notation with the same one for ever."""
    greeting = '{"type": "GAME_INVITATION", "status": 0, "message": null, "body": null}'
    wrong = JsonBotClient(Hunter(), "me", "seed")
    wrong.begin()
    assert wrong.lessons() is None
    [shot] = wrong.receive(greeting)
    assert '"x"' not in shot
    known = wrong.lessons()
    bot = Placing()
    client = JsonBotClient(bot, "me", "seed", known)
    server = JsonServer(ALTERNATE, bot.fleet, xy=True)
    waiting = list(client.begin())
    while waiting:
        waiting += client.receive(server.answer(waiting.pop(0)))
    assert server.game.over
    assert server.refused == []
    assert client.lessons() is client


def test_a_busy_json_lines_server_is_asked_later_and_one_that_contradicts_itself_is_left() -> None:
    client = JsonBotClient(Hunter(), "me", "seed")
    client.begin()
    with pytest.raises(TryLater):
        client.receive('{"type": "GAME_INVITATION", "status": 1, "message": null, "body": null}')
    client.begin()
    client.receive('{"type": "GAME_INVITATION", "status": 0, "message": null, "body": null}')
    client.receive('{"type": "SHOT", "status": 0, "message": null, "body": "MISS"}')
    with pytest.raises(GatewayError, match="the server refuses SHOT_REQUEST: 3 out of order"):
        client.receive('{"type": "SHOT_REQUEST", "status": 3, "message": "out of order", "body": null}')


# --- Xterm Boat Sinker ------------------------------------------------------------------------------------------------

GREETING = "G|2.0.1|Friday|N|2|4|1|17|10|10|5|A5|B4|C3|D3|E2"
WATER = "." * 100


def _at_table(bot: Bot) -> XbsBotClient:
    client = XbsBotClient(bot, "we", "seed")
    assert client.begin() == ()
    [join] = client.receive(GREETING)
    assert join.startswith("J|we|")
    assert sorted(join[5:].replace(".", "")) == sorted("AAAAABBBBCCCDDDEE")
    for line in ("J|we", "J|ann", f"B|ann||{WATER}|0|0", f"B|we||{WATER}|0|0", "S|we|ann"):
        assert client.receive(line) == []
    return client


def _board(**marks: str) -> str:
    cells = list(WATER)
    for name, mark in marks.items():
        cells[int(name[1:])] = mark
    return "".join(cells)


@pytest.mark.parametrize("older", [False, True], ids=["newer order", "older order"])
def test_a_salvo_on_an_xbs_server_is_read_from_the_boards(older: bool) -> None:
    bot = Scripted([(3, 1)], [(4, 1)])
    client = _at_table(bot)
    assert client.receive("N|we") == ["S|ann|3|1"]
    hit = [f"B|we||{WATER}|1|0", f"B|ann||{_board(_2='X')}|0|0"]
    after = ["H|we|ann|c1", *hit, "N|ann"] if not older else [*hit[::-1], "N|ann", "H|we|ann|c1"]
    for line in (*after, f"B|we||{_board(_99='0')}|1|0"):
        assert client.receive(line) == []
    assert client.receive("N|we") == ["S|ann|4|1"]
    assert [(result.player, result.hits, result.aims) for result in bot.results] == [
        ("we", 1, (("ann", 3, 1),)),
        ("ann", 0, (("we", 10, 10),)),
    ]
    assert bot.view is not None
    assert bot.view.points == {"we": 1, "ann": 0}
    assert bot.view.incoming == [(10, 10)]
    assert Shot("ann", 3, 1) not in bot.view.untouched


@pytest.mark.parametrize("line", ["game is full", "game is already started", "E|name in use"])
def test_a_table_without_room_is_tried_later(line: str) -> None:
    with pytest.raises(TryLater):
        XbsBotClient(Hunter(), "we", "seed").receive(line)


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (["protocol error"], "protocol error"),
        ([GREETING, "E|name too long"], "name too long"),
        (["G|2.0|x|N|2|4|1|17|10|10|1|A50"], "cannot be played"),
        (["G|2.0"], "cannot be read"),
        ([GREETING, "F|finished|x|y"], "cannot be read"),
        ([GREETING, "B|ann||...|0|0"], "3 cells"),
        ([GREETING, "Y|AAAA"], "a board that cannot be read"),
    ],
)
def test_an_xbs_server_message_that_cannot_be_followed_ends_the_visit(lines: list[str], why: str) -> None:
    client = XbsBotClient(Hunter(), "we", "seed")
    *before, last = lines
    for line in before:
        client.receive(line)
    with pytest.raises(GatewayError, match=why):
        client.receive(last)


# --- whatever a server does when the game is over ---------------------------------------------------------------------


@contextmanager
def elsewhere(*talks: Callable[[socket.socket], None], port: int = 0) -> Iterator[str]:
    """Serve connections one after the other; yields HOST:PORT, where nobody answers after the last one."""

    def serve() -> None:
        for left, talk in zip(range(len(talks) - 1, -1, -1), talks, strict=True):
            line, _ = listener.accept()
            with line:
                if not left:
                    listener.close()
                talk(line)

    with socket.create_server(("127.0.0.1", port)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        thread.join()


def hang_up(line: socket.socket) -> None:
    """A server that ends its process a game, or that fails."""


def babble(line: socket.socket) -> None:
    line.sendall(b"Traceback (most recent call last):\n[[[[[[[\n")


def wait_in_silence(line: socket.socket) -> None:
    while line.recv(65_536):
        pass


def json_server(at: str, then: Callable[[socket.socket], None]) -> Callable[[socket.socket], None]:
    """Play a game, up to the first request of this type when it is over."""

    def talk(line: socket.socket) -> None:
        bot = Placing()
        JsonBotClient(bot, "we", own_seed("seed", "we", 1))
        server = JsonServer(ALTERNATE, bot.fleet)
        if at == "RESULT":  # so it wins
            server.cells.sort(key=lambda cell: cell in bot.fleet.cells)
        for request in line.makefile():
            answer = server.answer(request)
            if server.game.over and json.loads(request)["type"] == at:
                return then(line)
            line.sendall(f"{answer}\n".encode())
        raise AssertionError(f"no {at} came")

    return talk


def xbs_server(then: Callable[[socket.socket], None]) -> Callable[[socket.socket], None]:
    """Say that a game is over, and nothing of its results."""

    def talk(line: socket.socket) -> None:
        line.sendall(f"{GREETING}\n".encode())
        assert line.recv(65_536).startswith(b"J|we|")
        boards = (f"B|we||{WATER}|9|1", f"B|ann||{WATER}|17|0")
        line.sendall("\n".join(("J|we", "J|ann", *boards, "S|we|ann", "F|finished|40|2\n")).encode())
        then(line)

    return talk


@pytest.mark.parametrize(
    ("scheme", "serve", "winner", "then"),
    [
        pytest.param("jsonline", partial(json_server, "BOARD"), "we", hang_up, id="json lines, at the board"),
        pytest.param("jsonline", partial(json_server, "RESULT"), "server", babble, id="json lines, at the last result"),
        pytest.param("xbs", xbs_server, "ann", wait_in_silence, id="xbs"),
    ],
)
def test_a_finished_game_is_reported_whatever_the_server_does_then(
    scheme: str,
    serve: Callable[[Callable[[socket.socket], None]], Callable[[socket.socket], None]],
    winner: str,
    then: Callable[[socket.socket], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The story: a server read boards in another form and ended its process; ``--games 1`` played for ever."""
    monkeypatch.setattr("salvo_gateways.bot_clients.connection._END_SECONDS", 0.2)
    with elsewhere(serve(then)) as where:
        [report] = play(f"{scheme}://{where}", Hunter(), "we", (), "seed", 1)
    assert (report.winner, report.place) == (winner, 1 if winner == "we" else 2)


def busy(line: socket.socket) -> None:
    line.recv(65_536)
    line.sendall(b'{"type": "GAME_INVITATION", "status": 1, "message": null, "body": null}\n')


def test_a_bot_comes_back_to_a_server_that_was_busy_or_hung_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("salvo_gateways.bot_clients.connection._AGAIN_SECONDS", 0.001)
    with elsewhere(busy, hang_up, json_server("BOARD", hang_up)) as where:
        [report] = play(f"jsonline://{where}", Hunter(), "we", (), "seed", 1)
    assert report.winner == "we"


def end_at_the_first_shot(line: socket.socket) -> None:
    """A server whose process cannot read how a cell is written."""
    line.recv(65_536)
    line.sendall(b'{"type": "GAME_INVITATION", "status": 0, "message": null, "body": null}\n')
    line.recv(65_536)


@pytest.mark.parametrize(
    ("address", "talks", "advice"),
    [
        ("", 1, "it ended at the first shot; start it again, and join jsonline://HOST:PORT?cells=xy"),
        ("?cells=xy", 1, "it ended at the first shot; start it again, and join jsonline://HOST:PORT?cells=text"),
        ("", 2, "it ends at the first shot, written as row and column or as x and y"),
    ],
)
def test_a_bot_gives_up_a_server_that_the_first_shot_ends(
    address: str, talks: int, advice: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It tried for ever, and named the option that helps nowhere."""
    monkeypatch.setattr("salvo_gateways.bot_clients.connection._AGAIN_SECONDS", 0.001)
    with Port() as port:
        with (
            elsewhere(*[end_at_the_first_shot] * talks, port=port.number) as where,
            pytest.raises(GatewayError) as told,
        ):
            list(play(f"jsonline://{where}{address}", Hunter(), "we", (), "seed", 1))
        assert told.value.code == "refused_there"
        assert told.value.text.endswith(advice.replace("HOST:PORT", where))
        other = "text" if address else "xy"
        assert f"at the first shot, which is written as with ?cells={other} now" in caplog.messages[0]


def test_a_bot_gets_its_result_though_the_referee_hangs_up_right_after_it() -> None:
    for sent, winner in (("won", "me"), ("lost", "it"), ("tie", "")):
        bot = Scripted()
        client = SmackdownBotClient(bot, "me", "it", "seed")
        client.cut_off()
        assert client.report is None
        client.receive(f"|INFO|{sent} game|END|")
        client.cut_off()
        assert client.report is not None
        assert (client.report.winner, bot.winner) == (winner, winner)


@pytest.mark.parametrize(("query", "first"), [("", '"row"'), ("?cells=text", '"row"'), ("?cells=xy", '"x"')])
def test_the_url_of_a_json_lines_server_may_set_how_cells_are_written(query: str, first: str) -> None:
    shots: list[str] = []

    def talk(line: socket.socket) -> None:
        requests = iter(line.makefile())
        next(requests)
        line.sendall(b'{"type": "GAME_INVITATION", "status": 0, "message": null, "body": null}\n')
        shots.append(next(requests))
        line.sendall(b'{"type": "SHOT", "status": 3, "message": null, "body": null}\n' * 2)
        wait_in_silence(line)

    with elsewhere(talk) as where, pytest.raises(GatewayError, match="refuses SHOT"):
        next(play(f"jsonline://{where}{query}", Hunter(), "me", (), "seed", 1))
    assert first in shots[0]
