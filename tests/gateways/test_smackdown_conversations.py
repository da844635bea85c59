"""The protocol's text against the gateway: its example run, and whole games of a program written from the text."""

from __future__ import annotations

import collections
import dataclasses
import os
import re
import threading
from pathlib import Path
from random import Random

import pytest

from gateways.gateway_hall import Hall, Program
from gateways.smackdown_client import FORFEITS, HARMLESS
from gateways.smackdown_side import Player, tcp_gateway
from salvo.messages import GameWon
from salvo.rules import SMACKDOWN, Grid, RuleBook, ShipClass
from salvo_gateways.smackdown import door
from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_server.contest import Contest
from salvo_server.settings import ServerSettings

SCRIPTS = sorted((Path(__file__).parent / "conversations").glob("smackdown*.txt"))
GAMES = int(os.environ.get("SALVO_GATEWAY_GAMES", "4"))
TABLES = 4
ANSWER_SECONDS = 3.0


def contest(url: str, rules: str, **given: object) -> Contest:
    return Contest(ServerSettings(broker=url, players=2, rules=rules, **({"over_seconds": 600} | given)))  # type: ignore[arg-type]


def book_of(script: str) -> RuleBook:
    """Return the script's rules."""
    found = re.search(r"# rules: (\d+) (\d+) / ([\d ]+)", script)
    assert found is not None
    fleet = tuple(ShipClass(f"ship{number}", int(length)) for number, length in enumerate(found[3].split()))
    return dataclasses.replace(SMACKDOWN, name="example", grid=Grid(int(found[1]), int(found[2])), fleet=fleet)


@pytest.mark.parametrize("path", SCRIPTS, ids=[path.stem for path in SCRIPTS])
def test_the_run_goes_as_it_is_written(path: Path) -> None:
    script = path.read_text()
    steps = [line.split("\t") for line in script.splitlines() if not line.startswith("#")]
    book = book_of(script)
    hall, gateway = Hall(book, players=2), door(book)
    ends: dict[str, Program] = {}
    for way, message, source in steps:
        assert source.startswith("-- ")
        for player in way[:-1]:
            if player not in ends:
                ends[player] = hall.come(gateway, player)
            if way.endswith(">"):
                ends[player].say(message)
            else:
                assert (player, ends[player].hear()) == (player, message), source
    assert [end.hear() for end in ends.values()] == ["", ""]


@pytest.mark.parametrize("opponent_first", [False, True], ids=["as in the text", "as on the system's own server"])
def test_player_2_is_told_of_its_own_shots_first_or_of_those_on_its_board(opponent_first: bool) -> None:
    hall, gateway = Hall(SMACKDOWN, players=2), door(SMACKDOWN, opponent_first=opponent_first)
    ends = [hall.come(gateway, "player 1"), hall.come(gateway, "player 2")]
    for end in reversed(ends):  # whoever answers first, the first name is player 1
        end.say("|RESPONSE|ship locations|0 0 H|0 1 H|0 2 H|0 3 H|0 4 H|END|")
    for end in ends:
        end.hear_all()
        end.say("|RESPONSE|shots|0 0|9 9|END|")
    told = [[end.hear() for _ in range(4)] for end in ends]
    you = ["|INFO|you hit|0 0|END|", "|INFO|you miss|9 9|END|"]
    opponent = ["|INFO|opponent hit|0 0|END|", "|INFO|opponent miss|9 9|END|"]
    assert told == [you + opponent, opponent + you if opponent_first else you + opponent]


PLACED = "|RESPONSE|ship locations|0 0 H|0 1 H|0 2 H|0 3 H|0 4 H|END|"
OPENING = ["|INFO|grid size|10 10|END|", "|INFO|num ships|5|END|", "|INFO|ship sizes|2|3|3|4|5|END|"]
WON = ["|INFO|won game|END|", "|INFO|end game|END|"]
LOST = ["|INFO|lost game|END|", "|INFO|end game|END|"]


def test_player_2_is_asked_for_its_locations_when_player_1_has_placed() -> None:
    hall, gateway = Hall(SMACKDOWN, players=2), door(SMACKDOWN)
    first, second = hall.come(gateway, "player 1"), hall.come(gateway, "player 2")
    assert first.hear_all() == [*OPENING, "|QUERY|ship locations|END|"]
    assert second.hear_all() == OPENING
    first.say(PLACED)
    assert second.hear_all() == ["|QUERY|ship locations|END|"]
    second.say(PLACED)
    assert (first.hear_all(), second.hear_all()) == (["|QUERY|shots|5|END|"], [])
    first.say("|RESPONSE|shots|9 9|END|")
    assert second.hear_all() == ["|QUERY|shots|5|END|"]


def test_player_2_is_asked_in_the_end_although_player_1_says_nothing() -> None:
    hall, gateway = Hall(SMACKDOWN, players=2), door(SMACKDOWN, answer_seconds=10)
    first, second = hall.come(gateway, "player 1"), hall.come(gateway, "player 2")
    hall.wait(10.5)
    assert first.hear_all() == [*OPENING, "|QUERY|ship locations|END|", *LOST]
    assert second.hear_all() == [*OPENING, "|QUERY|ship locations|END|"]
    second.say(PLACED)
    assert second.hear_all() == WON


@pytest.mark.parametrize("offender", [0, 1])
@pytest.mark.parametrize("answer", ["|RESPONSE|shots|0 9|1 9|2 9|3 9|4 9|5 9|END|", "|RESPONSE|shots|END|", "hello"])
def test_a_forfeit_ends_the_game_for_both_programs_at_once(offender: int, answer: str) -> None:
    """The other program was asked on, until the server took the offender's player out."""
    hall, gateway = Hall(SMACKDOWN, players=2), door(SMACKDOWN)
    ends = [hall.come(gateway, "player 1"), hall.come(gateway, "player 2")]
    for end in ends:
        end.say(PLACED)
    for end in ends[:offender]:
        end.say("|RESPONSE|shots|9 9|END|")
    for end in ends:
        end.hear_all()
    ends[offender].say(answer)
    assert ends[offender].hear_all() == LOST
    assert ends[1 - offender].hear_all() == WON
    assert all(end.ended for end in ends)
    [won] = [said for said in hall.announced if isinstance(said, GameWon)]
    assert won.winners == (f"guest-{2 - offender}",)


def test_a_bad_fleet_is_a_forfeit_too() -> None:
    hall, gateway = Hall(SMACKDOWN, players=2), door(SMACKDOWN)
    ends = [hall.come(gateway, "player 1"), hall.come(gateway, "player 2")]
    ends[0].say("|RESPONSE|ship locations|9 9 H|0 1 H|0 2 H|0 3 H|0 4 H|END|")
    ends[1].say(PLACED)
    assert [end.hear_all() for end in ends] == [
        [*OPENING, "|QUERY|ship locations|END|", *LOST],
        [*OPENING, "|QUERY|ship locations|END|", *WON],
    ]


def test_among_three_a_forfeit_wins_nothing_yet() -> None:
    hall, gateway = Hall(SMACKDOWN, players=3), door(SMACKDOWN)
    ends = [hall.come(gateway, name) for name in ("player 1", "player 2", "player 3")]
    for end in ends:
        end.say(PLACED)
        end.hear_all()
    ends[0].say("hello")
    assert ends[0].hear_all()[-2:] == LOST
    assert ends[1].hear_all()[-1:] == ["|QUERY|shots|5|END|"]


def test_a_program_that_knows_the_fleet_without_listening_sinks_ship_by_ship() -> None:
    """It places 2 3 3 4 5 by index, as the text has the sizes; each lies in its own row, from the left."""
    hall, gateway = Hall(SMACKDOWN, players=2), door(SMACKDOWN)
    ends = [hall.come(gateway, "player 1"), hall.come(gateway, "player 2")]
    for end in ends:
        assert end.hear_all() == [*OPENING, "|QUERY|ship locations|END|"]
        end.say("|RESPONSE|ship locations|8 0 H|7 1 H|7 2 H|6 3 H|5 4 H|END|")
    asked = []
    for row, length in enumerate((2, 3, 3, 4, 5)):
        for x in range(10 - length, 10):
            asked += [line for line in ends[0].hear_all() if "QUERY" in line]
            ends[0].say(f"|RESPONSE|shots|{x} {row}|END|")
            ends[1].hear_all()
            ends[1].say("|RESPONSE|shots|0 9|END|")
    told = ends[1].hear_all()
    assert asked == ["|QUERY|shots|5|END|"] * 17
    assert told[-2:] == ["|INFO|lost game|END|", "|INFO|end game|END|"]


@pytest.mark.long
def test_whole_games_with_every_kind_of_wrong_line(tmp_path: Path) -> None:
    """Each game has a mistake of one program; what comes of it is what the text says, and the table goes on."""
    mistakes = collections.deque(["", *FORFEITS, *HARMLESS])
    mistakes.rotate(-Random(GAMES).randrange(len(mistakes)))
    kinds = [mistakes[game % len(mistakes)] for game in range(GAMES)]
    ended: collections.Counter[str] = collections.Counter()
    failures: list[str] = []

    def play(table: str, games: list[tuple[int, str]]) -> None:
        folder = tmp_path / (table or "main")
        folder.mkdir()
        try:
            with tcp_gateway(broker.url, folder, table, answer_seconds=ANSWER_SECONDS) as host:
                for game, kind in games:
                    rng = Random(f"{table} {game}")
                    when = rng.choice([1, 2, 5])
                    first = Player(host.address, (game, 1), mistake=kind, when=when, patience=ANSWER_SECONDS)
                    second = Player(host.address, (game, 2))
                    for each in (first, second):
                        each.start()
                    results = first.result(), second.result()
                    assert results in {("won", "lost"), ("lost", "won"), ("tie", "tie")}, (kind, results)
                    assert results[0] == "lost" or kind not in FORFEITS, (kind, results)
                    assert first.program.erred or kind in ("", "partial", *HARMLESS), kind
                    ended[first.program.erred] += 1
        except BaseException as error:
            failures.append(f"table {table!r}: {type(error).__name__}: {error}")

    tables = ["", *(f"table{number}" for number in range(2, TABLES + 1))]
    with EmbeddedBroker() as broker:
        serving = contest(broker.url, "smackdown", tables=tables, over_seconds=1)
        with serving.in_background():
            shares = [list(enumerate(kinds))[number::TABLES] for number in range(TABLES)]
            threads = [threading.Thread(target=play, args=each) for each in zip(tables, shares, strict=True)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    assert failures == []
    assert ended.total() == GAMES
