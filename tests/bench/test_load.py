"""What ``make load`` predicts and how it reads what it measures."""

from __future__ import annotations

import asyncio
import functools
import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import fields, replace

import pytest

from bench.light import LightClient, packet, text
from bench.load import Result, Window, read_size, table
from bench.shares import part_of, shares
from bench.sizes import COSTS, Costs, Load, Size, predict

_NOTHING = Costs(**{each.name: 0.0 for each in fields(Costs)})
_SIZE = Size(tables=100, teams=2, spectators=500, pace=0.5)


def _with(**costs: float) -> Load:
    return predict(_SIZE, 100.0, replace(_NOTHING, echo_us=100.0, **costs))


def test_a_salvo_costs_what_it_costs_as_often_as_it_comes() -> None:
    assert _with(server_us=1000).server == pytest.approx(0.2)  # 200 salvos a second
    assert _with(broker_us=1000).broker == pytest.approx(0.2)
    assert _with(web_us=1000).web == pytest.approx(0.2)


def test_the_busier_the_server_the_more_salvos_share_a_round() -> None:
    assert _with(round_us=500).server == pytest.approx(0.2)  # two rounds a salvo
    assert _with(broker_round_us=500).broker == pytest.approx(0.2)
    assert _with(server_us=2500, round_us=500).server == pytest.approx(0.5 + 0.2 / 4)
    assert _with(server_us=6000, round_us=500).server == pytest.approx(1.2)  # more than it can do


def test_a_watcher_costs_the_broker_and_a_browser_the_web_front() -> None:
    # 500 spectators of 100 tables with two salvos a second each: 1000 results a second
    assert _with(watched=3, delivery_us=20).broker_watched == pytest.approx(0.06)
    assert _with(watched=3, delivery_us=20).broker == 0.0
    assert _with(browser_us=50).web_watched == pytest.approx(0.05)
    assert _with(browser_us=50).web == 0.0


def test_a_third_team_hears_as_much_as_each_of_two() -> None:
    costs = replace(_NOTHING, echo_us=100.0, broker_us=1000, heard=5, delivery_us=20)
    assert predict(_SIZE._replace(teams=3), 100.0, costs).broker == pytest.approx(0.2 + 200 * 5 * 20e-6)


def test_memory_grows_with_tables_teams_and_spectators() -> None:
    assert _with(server_kb=1024, table_kb=1024, team_kb=1024).server_mb == pytest.approx(1 + 99 + 200)
    assert _with(broker_kb=1024, broker_table_kb=1024, client_kb=1024).broker_mb == pytest.approx(1 + 100 + 700)
    assert _with(front_kb=1024, front_table_kb=1024, browser_kb=1024).web_mb == pytest.approx(1 + 99 + 500)


def test_a_game_that_goes_on_takes_memory_with_every_salvo() -> None:
    costs = replace(_NOTHING, echo_us=100.0, salvo_kb=4)
    assert predict(_SIZE, 100.0, costs, played=1024).server_mb == pytest.approx(4)


def test_pictures_are_made_of_the_tables_that_somebody_follows() -> None:
    costs = replace(_NOTHING, echo_us=100.0, picture_us=1000)
    assert predict(_SIZE, 100.0, costs).web_watched == pytest.approx(0.2)
    assert predict(_SIZE._replace(spectators=50), 100.0, costs).web_watched == pytest.approx(0.1)


def test_on_a_machine_half_as_fast_everything_takes_twice_as_long() -> None:
    once, twice = (predict(_SIZE, factor * COSTS.echo_us) for factor in (1, 2))
    for name in ("web", "web_watched"):
        assert getattr(twice, name) == pytest.approx(2 * getattr(once, name))
    for name in ("server", "broker", "broker_watched"):
        assert getattr(once, name) < getattr(twice, name) <= 2 * getattr(once, name)  # fewer rounds
    assert (twice.server_mb, twice.broker_mb, twice.web_mb) == (once.server_mb, once.broker_mb, once.web_mb)


def test_prediction_and_measurement_stand_side_by_side() -> None:
    figures: dict[str, float] = defaultdict(float, {"teams: turn / pace, p50": 1.02, "teams: turn / pace, p99": 1.4})
    load = Load(0.25, 0.1, 0.2, 0.05, 0.1, 90.4, 12.0, 70.0)
    result = Result(_SIZE, figures, COSTS, load, replace(load, server=0.5, web_mb=80.0))
    lines = table([result, result])
    assert lines[0] == "| measured | 100 tables of 2, 500 spectators | 100 tables of 2, 500 spectators |"
    assert "| turn time / pace, p50 and p99 | 1.02 / 1.40 x | 1.02 / 1.40 x |" in lines
    predicted = lines[lines.index("") + 1 :]
    assert "| server, of one core | 50.0% / 25.0% | 50.0% / 25.0% |" in predicted
    assert "| web front with the browsers, MB | 80 / 70 | 80 / 70 |" in predicted
    assert len(predicted) == 2 + len(fields(Load))


def test_a_window_tells_shares_of_one_core() -> None:
    window = Window(10.0, 14.0, {"server": 1.0}, [])
    assert window.share("server") == 0.25
    assert [window.has(at) for at in (9.9, 10.0, 13.9, 14.0)] == [False, True, True, False]


@pytest.mark.parametrize("words", [["--tables", "0"], ["--pace", "0"], ["--spectators", "0"], ["--teams", "1"]])
def test_sizes_that_cannot_be_played_are_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        read_size(words)
    assert words[0] in capsys.readouterr().err


def test_the_time_spent_waiting_has_no_share() -> None:
    counts = {"waiting for messages": 900, "journal": 75, "referee": 25}
    assert shares(counts) == [("journal", 0.75), ("referee", 0.25)]


def _part_within(*files: str) -> str:
    """The part of a stack with a frame in each of these files, the outermost first."""
    call: Callable[[], str] = lambda: part_of(sys._getframe(1))  # noqa: E731
    for file in reversed(files):
        code = compile("inner()", file, "eval")
        call = functools.partial(eval, code, {"inner": call})
    return call()


def test_a_stack_is_put_down_to_its_innermost_part() -> None:
    assert _part_within("/salvo_server/service.py") == "loop and effects"
    assert _part_within("/salvo_server/service.py", "/salvo_server/core/log.py", "/nacl/signing.py") == "libsodium"
    assert _part_within("/salvo_server/core/log.py", "/lib/hashlib.py") == "signed log"
    assert part_of(None) == "others"


class _Wire(asyncio.Transport):
    def __init__(self) -> None:
        super().__init__()
        self.sent = b""

    def write(self, data: object) -> None:
        assert isinstance(data, bytes)
        self.sent += data


def _client(hear: Callable[[str, bytes], None]) -> tuple[LightClient, _Wire]:
    client, wire = LightClient("a", ["/x", "/y/+"], hear), _Wire()
    client.connection_made(wire)
    return client, wire


def test_a_light_client_reads_messages_however_they_are_cut_and_acknowledges_each() -> None:
    async def run() -> None:
        heard: list[tuple[str, bytes]] = []
        client, wire = _client(lambda topic, payload: heard.append((topic, payload)))
        wire.sent = b""
        long = b"z" * 20_000
        stream = packet(0x20, b"\0\0") + packet(0x90, b"\0\1\1\1")
        stream += packet(0x32, text("/x") + b"\0\7" + long) + packet(0x31, text("/y/1") + b"kept")
        for at in range(0, len(stream), 999):
            client.data_received(stream[at : at + 999])
        assert client.ready.done()
        assert heard == [("/x", long), ("/y/1", b"kept")]
        assert wire.sent == b"\x40\2\0\7"  # the other came with QoS 0

    asyncio.run(run())


def test_a_light_client_numbers_what_it_sends() -> None:
    async def run() -> None:
        client, wire = _client(lambda topic, payload: None)
        wire.sent = b""
        client.publish("/x", b"1")
        client.publish("/x", b"2")
        assert wire.sent == b"\x32\7\0\2/x\0\0011" + b"\x32\7\0\2/x\0\0022"

    asyncio.run(run())
