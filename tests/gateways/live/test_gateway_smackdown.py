"""Programs of Code Smackdown on real brokers: child processes, a mixed table, and coming back."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gateways.smackdown_side import COMMAND, Player, Socket, children, house, tcp_gateway
from kit.brokers import StartServer
from kit.guarded import guarded
from kit.mosquitto import Mosquitto
from kit.players import Heard, Slower, join, over, until_online
from kit.programs import needs
from salvo import messages as m
from salvo.rules import SALVO, SMACKDOWN, SPACED, STREAK, XBS, RuleBook
from salvo_gateways.accounts import GatewayError, RosterAccounts
from salvo_gateways.children import Child
from salvo_gateways.commands.gateway_smackdown import command
from salvo_gateways.host import Host
from salvo_gateways.smackdown import door
from salvo_gateways.table_watch import TableWatch
from salvo_lab.bots.random_bot import RandomBot
from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_server.contest import Contest
from salvo_server.settings import ServerSettings

SECONDS = 60.0


def until(holds: Callable[[], Any], seconds: float = SECONDS) -> Any:
    end = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


def program(folder: Path, text: str) -> list[str]:
    """Return the command of a program that is written for one test."""
    file = folder / "program.py"
    file.write_text("import sys, os, time\nhear = sys.stdin.readline\n" + textwrap.dedent(text))
    return [sys.executable, "-u", str(file)]


@pytest.mark.quick
def test_two_child_processes_play_games_one_after_the_other(
    start_server: StartServer, broker: Any, tmp_path: Path
) -> None:
    heard = Heard()
    commands = {name: [*COMMAND, name, other] for name, other in (("alice", "bob"), ("bob", "alice"))}
    server = start_server(heard, players=2, rules="smackdown", over_seconds=1)
    with server, children(broker.url, tmp_path, commands) as names:
        until(lambda: min(names.games_of("alice"), names.games_of("bob")) >= 2)
    ends = {name: names.record_of(name) for name in ("alice", "bob")}
    assert "won game" in "".join(ends.values())
    assert heard.of(m.GameWon)
    assert not heard.of(m.CommandRefused)
    first = {each.player for each in heard.of(m.TurnBegan) if each.turn == 1}
    assert first == {"alice"}, "the first name is player 1"


def test_a_program_plays_at_a_table_with_other_rules_and_several_rivals(tmp_path: Path) -> None:
    heard, book = Heard(), tmp_path / "short.toml"
    book.write_text('name = "short"\nlike = "xbs"\ngoal = 6\n')
    with EmbeddedBroker() as broker:
        settings = ServerSettings(broker=broker.url, players=3, rules=str(book), seed="5", over_seconds=600)
        with Contest(settings, heard).in_background():
            with (
                tcp_gateway(broker.url, tmp_path, names=["alice"]) as host,
                contextlib.closing(Socket(host.address)) as end,
            ):
                assert end.until("|QUERY|ship loc")
                end.say("|RESPONSE|ship locations|0 0 H|0 1 H|0 2 H|0 3 H|0 4 H|END|")
                for name in ("ann", "bob"):
                    join(broker.url, name, RandomBot(), seed="1")
                cells = [(x, y) for x in range(10) for y in range(10)]
                told: list[str] = []
                while (line := end.hear()) and not line.startswith(("|INFO|won", "|INFO|lost", "|INFO|tie")):
                    told.append(line)
                    if line == "|QUERY|shots|1|END|":
                        taken = {each.split("|")[3] for each in told if "|you " in each}
                        x, y = next(cell for cell in cells if f"{cell[0]} {cell[1]}" not in taken)
                        end.say(f"|RESPONSE|shots|{x} {y}|END|")
                    else:
                        assert line.startswith(("|INFO|you ", "|INFO|opponent ", "|QUERY|shots|1|")), line
                assert end.hear() == "|INFO|end game|END|"
            heard.until(over)
    results: list[m.SalvoResolved] = heard.of(m.SalvoResolved)
    order = heard.of(m.PlayersListed)[-1].names
    rival = order[(order.index("alice") + 1) % 3]
    aims = [
        (aim, hit)
        for each in results
        for aim, hit in zip(each.aims_if_told or (), each.outcomes_if_told or (), strict=True)
    ]
    own = [each for each in results if each.player == "alice"]
    assert all(each.shots == 1 and each.aims_if_told is not None and each.aims_if_told[0][0] == rival for each in own)

    def of(target: str, who: str) -> list[str]:
        return [
            f"|INFO|{who} {'hit' if hit else 'miss'}|{x - 1} {y - 1}|END|"
            for (aimed, x, y), hit in aims
            if aimed == target
        ]

    assert [line for line in told if "|you " in line] == of(rival, "you")
    assert [line for line in told if "|opponent " in line] == of("alice", "opponent")
    assert not heard.of(m.CommandRefused)


def test_a_cell_that_the_rules_refuse_is_answered_without_a_shot(tmp_path: Path) -> None:
    heard = Heard()
    with EmbeddedBroker() as broker:
        settings = ServerSettings(broker=broker.url, players=2, rules="xbs", over_seconds=600)
        with Contest(settings, heard).in_background(), tcp_gateway(broker.url, tmp_path) as host:
            ends = [Socket(host.address), Socket(host.address)]
            for end in ends:  # ahead of the queries, as either may be the one that is asked first
                end.say("|RESPONSE|ship locations|0 0 H|0 1 H|0 2 H|0 3 H|0 4 H|END|")
                for _ in range(40):  # the same hit again and again
                    end.say("|RESPONSE|shots|0 0|END|")
            for end in ends:
                told = [end.until("|INFO|you ") for _ in range(4)]
                assert told == ["|INFO|you hit|0 0|END|"] * 4
            heard.until(over)  # nobody fires any more, and so the game ends
            for end in ends:
                assert end.until("|INFO|tie")
                end.close()
    assert not heard.of(m.CommandRefused)
    assert sum(each.shots for each in heard.of(m.SalvoResolved)) == 2


@pytest.mark.parametrize(
    ("book", "why"),
    [(SALVO, "announce is count"), (SPACED, "spacing is no_common_edge"), (STREAK, "spacing is apart")],
)
def test_rules_that_the_protocol_cannot_tell_are_refused(book: RuleBook, why: str) -> None:
    with pytest.raises(GatewayError, match=why) as refused:
        door(book)
    assert refused.value.code == "wrong_rules"
    assert door(SMACKDOWN)
    assert door(XBS)


def test_a_forfeiting_program_skips_until_it_is_out_and_the_other_wins(
    start_server: StartServer, broker: Any, tmp_path: Path
) -> None:
    heard = Heard()
    with start_server(heard, players=2, rules="smackdown"), tcp_gateway(broker.url, tmp_path) as host:
        first = Player(host.address, 1, mistake="too_many", when=3)
        second = Player(host.address, 2)
        first.start()
        second.start()
        assert (first.result(), second.result()) == ("lost", "won")
        heard.until(over)
    silent = [each for each in heard.of(m.SalvoResolved) if each.shots == 0]
    assert len(silent) == 3
    assert not heard.of(m.CommandRefused)  # turn_timeout neither: a skip ends a turn, not its deadline


def test_a_child_that_crashes_has_forfeited_unless_it_has_answered_ahead(tmp_path: Path) -> None:
    heard = Heard()
    commands: dict[str, Sequence[str]] = {
        "alice": program(
            tmp_path,
            """
            print("|RESPONSE|ship locations|0 0 H|0 1 H|0 2 H|0 3 H|0 4 H|END|")
            print("|RESPONSE|shots|9 9|END|")
            print("|RESPONSE|shots|8 9|7 9|END|")
            sys.exit(3)
            """,
        ),
        "bob": [*COMMAND, "bob", "alice"],
    }
    with EmbeddedBroker() as broker:
        settings = ServerSettings(broker=broker.url, players=2, rules="smackdown", over_seconds=600)
        with Contest(settings, heard).in_background(), children(broker.url, tmp_path, commands) as names:
            until(lambda: names.games_of("bob"))
            assert names.record_of("bob") == "won game 1"
    fired = [each.shots for each in heard.of(m.SalvoResolved) if each.player == "alice"]
    assert fired[:3] == [1, 2, 0]


def test_a_child_gets_no_secrets_and_leaves_nobody_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SALVO_SECRET", "nobody's business")
    command = program(
        tmp_path,
        f"""
        import json, subprocess
        helper = subprocess.Popen(["sleep", "600"])
        found = {{"words": sys.argv[1:], "helper": helper.pid, "ours": [x for x in os.environ if "SALVO" in x]}}
        with open({str(tmp_path / "partial")!r}, "w") as file:
            json.dump(found, file)
        os.rename({str(tmp_path / "partial")!r}, {str(tmp_path / "found")!r})
        hear()
        time.sleep(600)
        """,
    )
    child = Child([*command, "alice", "bob"], "alice", lambda sock, _: socks.append(sock))
    socks: list[Any] = []
    child.start()
    until((tmp_path / "found").exists)
    found = json.loads((tmp_path / "found").read_text())
    assert found["words"] == ["alice", "bob"]
    assert found["ours"] == []
    child.close()
    socks[0].close()
    until(lambda: not _runs(found["helper"]))
    with pytest.raises(GatewayError, match="cannot_start"):
        Child([str(tmp_path / "nothing")], "alice", lambda *_: None).start()


def _runs(pid: int) -> bool:
    try:
        return "(sleep) Z" not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def test_a_childs_standard_error_is_logged_and_bounded(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    command = program(
        tmp_path, "print('\\x1b[2Jred', file=sys.stderr)\nfor _ in range(3000): print('x' * 3000, file=sys.stderr)"
    )
    socks: list[Any] = []
    with caplog.at_level("INFO", "salvo_gateways.children"):
        # As long as it is wanted, a slow machine has time for what it writes.
        child = Child(command, "alice", lambda sock, _: socks.append(sock), lambda: len(caplog.messages) < 1001)
        child.start()
        child.join()
        socks[0].close()
    assert caplog.messages[0] == "alice: \ufffd[2Jred"
    assert len(caplog.messages) == 1001
    assert max(map(len, caplog.messages)) < 600


def test_a_client_that_is_cut_off_comes_back_into_its_game_and_hears_how_it_stands(tmp_path: Path) -> None:
    with EmbeddedBroker() as broker:
        settings = ServerSettings(broker=broker.url, players=2, rules="smackdown", over_seconds=600)
        with Contest(settings).in_background(), tcp_gateway(broker.url, tmp_path, names=["alice", "carol"]) as host:
            end = Socket(host.address)
            end.until("|QUERY|ship loc")
            end.say("|RESPONSE|ship locations|0 0 H|0 1 H|0 2 H|0 3 H|0 4 H|END|")
            join(broker.url, "bob", Slower())
            before: list[str] = []
            for turn in range(6):
                while not (line := end.hear()).startswith("|QUERY|shots"):
                    before.append(line)
                if turn < 5:  # the sixth is unanswered when the client goes
                    end.say(f"|RESPONSE|shots|{turn} {turn}|END|")
            end.close()
            with contextlib.closing(Socket(host.address)) as again:
                assert again.hear() == "|INFO|grid size|10 10|END|"
                again.until("|QUERY|ship loc")
                again.say("|RESPONSE|ship locations|whatever|END|")  # the fleet stands
                told: list[str] = []
                while not (line := again.hear()).startswith("|QUERY"):
                    told.append(line)
                assert sorted(told) == sorted(before)
                assert [line.split("|")[3] for line in told if "|you " in line] == [
                    f"{turn} {turn}" for turn in range(5)
                ]
                again.say("|RESPONSE|shots|5 5|END|")
                assert again.until("|INFO|you").split("|")[3] == "5 5"


SERVE = [
    sys.executable,
    "-m",
    "salvo",
    "serve",
    "--players",
    "2",
    "--rules",
    "smackdown",
    "--profile",
    "open",
]


def start(arguments: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("ab") as out:
        return subprocess.Popen(arguments, stdout=out, stderr=out)


@needs("mosquitto")
@pytest.mark.parametrize("victim", ["gateway", "server"])
def test_games_go_on_after_the_gateway_or_the_server_was_killed(victim: str, tmp_path: Path) -> None:
    """Real processes. The program of one name is a child, which is started anew with the gateway."""
    slow = tmp_path / "slow.py"
    slow.write_text(
        textwrap.dedent(
            """
            import itertools, sys, time
            cells = itertools.cycle([(x, y) for y in range(10) for x in range(10)])
            taken = set()
            for line in sys.stdin:
                match line.strip().split("|")[1:-2]:
                    case ["QUERY", "ship locations"]:
                        print("|RESPONSE|ship locations|0 0 H|0 1 H|0 2 H|0 3 H|0 4 H|END|", flush=True)
                    case ["QUERY", "shots", most]:
                        time.sleep(0.05)
                        x, y = next(cell for cell in cells if cell not in taken or len(taken) == 100)
                        print(f"|RESPONSE|shots|{x} {y}|END|", flush=True)
                    case ["INFO", "you hit" | "you miss", cell]:
                        taken.add(tuple(map(int, cell.split())))
                    case ["INFO", "end game"]:
                        break
            """
        )
    )
    log = tmp_path / "log"
    with Mosquitto() as broker:
        serve = [*SERVE, "--broker", broker.url, "--journal", str(tmp_path / "journal")]
        gateway = [sys.executable, "-m", "salvo", "gateway", "smackdown", "--broker", broker.url, "--games", "1"]
        gateway += ["--exec", f"{sys.executable} {slow}", "--name", "alice"]
        gateway += ["--exec", f"{sys.executable} {slow}", "--name", "bob"]
        processes = {"server": start(serve, log)}
        until_online(broker.url)
        with house(broker.url, tmp_path) as onlooker:
            onlooker.open()
            processes["gateway"] = start(gateway, log)
            until(lambda: onlooker.news.turn is not None and onlooker.news.turn.turn > 12)
            processes[victim].send_signal(signal.SIGKILL)
            processes[victim].wait()
            assert onlooker.news.turn is not None
            before = onlooker.news.turn.turn
            processes[victim] = start(serve if victim == "server" else gateway, log)
            assert processes["gateway"].wait(SECONDS) == 0, log.read_text()
            assert onlooker.news.turn is None or onlooker.news.turn.turn > before
        processes["server"].terminate()
        processes["server"].wait(SECONDS)
    text = log.read_text()
    assert text.count("tie game 1") == 2 or ("won game 1" in text and "lost game 1" in text), text
    assert "forfeits" not in text, text


FLEET = "|RESPONSE|ship locations|0 0 H|0 1 H|0 2 H|0 3 H|0 4 H|END|"


def test_a_flood_of_answers_ahead_is_a_forfeit_and_the_table_goes_on(tmp_path: Path) -> None:
    with EmbeddedBroker() as broker:
        settings = ServerSettings(broker=broker.url, players=2, rules="smackdown", over_seconds=600)
        with Contest(settings).in_background(), tcp_gateway(broker.url, tmp_path) as host:
            flood = Socket(host.address)
            flood.until("|QUERY|ship loc")
            with contextlib.suppress(OSError):  # it is hung up on, maybe before it is through
                flood.write(f"{FLEET}\n".encode() + b"|RESPONSE|shots|0 0|END|\n" * 2000)
            other = Player(host.address, 1)
            other.start()
            assert flood.until("|INFO|lost") == "|INFO|lost game|END|"
            assert flood.hear() == "|INFO|end game|END|"
            flood.close()
            assert other.result() == "won"


def test_a_turn_that_ends_before_the_answer_is_a_forfeit(tmp_path: Path) -> None:
    with EmbeddedBroker() as broker:
        settings = ServerSettings(broker=broker.url, players=2, rules="smackdown", over_seconds=600, turn_seconds=5)
        with Contest(settings).in_background(), tcp_gateway(broker.url, tmp_path) as host:
            silent = Socket(host.address)
            silent.until("|QUERY|ship loc")
            silent.say(FLEET)
            other = Player(host.address, 1)
            other.start()
            assert silent.until("|QUERY|shots")
            assert silent.hear() == "|INFO|lost game|END|"
            assert silent.hear() == "|INFO|end game|END|"
            silent.close()
            assert other.result() == "won"


def test_a_game_that_the_server_gives_up_is_a_tie(tmp_path: Path) -> None:
    with EmbeddedBroker() as broker, contextlib.ExitStack() as stack:
        settings = ServerSettings(broker=broker.url, players=2, rules="smackdown", journal="none")
        with Contest(settings).in_background():
            host = stack.enter_context(tcp_gateway(broker.url, tmp_path))
            ends = []
            for _ in range(2):
                ends.append(stack.enter_context(contextlib.closing(Socket(host.address))))
                ends[-1].until("|QUERY|ship loc")
                ends[-1].say(FLEET)
            ends[0].until("|QUERY|shots")
            ends[0].say("|RESPONSE|shots|0 0|END|")
            ends[1].until("|QUERY|shots")
        with Contest(settings).in_background():
            for end in ends:
                assert [end.hear(), end.hear(), end.hear()] == ["|INFO|tie game|END|", "|INFO|end game|END|", ""]


def test_programs_play_in_a_contest_with_rights_of_their_own(tmp_path: Path) -> None:
    with guarded("embedded", tmp_path, book=SMACKDOWN) as contest:
        where = TableWatch(contest.url, "", RosterAccounts(contest.roster, "smackdown"), pin=False)
        with contextlib.closing(where):
            host = Host(where, door(where.open(), names=["alice", "bob"]))
            host.open("127.0.0.1", 0)
            with contextlib.closing(host):
                players = [Player(host.address, seed, mistake="fewer") for seed in range(2)]
                for player in players:
                    player.start()
                assert {player.result() for player in players} in ({"won", "lost"}, {"tie"})
        assert {member.name for member in contest.roster.members()} == {"alice", "bob", "smackdown-gateway"}


def test_the_command_line_says_what_is_missing() -> None:
    for arguments, why in (
        ([], "give --exec, or --listen"),
        (["--exec", "true"], "1 times --exec, but 0 times --name"),
        (["--exec", "true", "--name", "a", "--name", "b"], "no --listen"),
        (["--listen", "127.0.0.1:0", "--games", "1"], "counts the games of --exec"),
        (["--exec", "'", "--name", "a"], "No closing quotation"),
        (["--listen", "127.0.0.1:0", "--name", "a", "--name", "A"], "stands twice"),
    ):
        ended = CliRunner().invoke(command, arguments)
        assert ended.exit_code == 2
        assert why in ended.output
