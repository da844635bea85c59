"""What ``make load`` predicts and how it reads what it measures."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from dataclasses import fields, replace

import pytest

from bench.light import LightClient
from bench.load import Result, table
from bench.sizes import COSTS, Costs, Load, Size, predict
from kit.raw import packet, text

_NOTHING = Costs(**{each.name: 0.0 for each in fields(Costs)})
_SIZE = Size(tables=100, teams=2, spectators=500, pace=0.5)


def _with(**costs: float) -> Load:
    return predict(_SIZE, 100.0, replace(_NOTHING, echo_us=100.0, **costs))


def test_a_salvo_costs_what_it_costs_as_often_as_it_comes() -> None:
    assert _with(server_us=1000).server == pytest.approx(0.2)  # 200 salvos a second
    assert _with(broker_us=1000).broker == pytest.approx(0.2)
    assert _with(web_us=1000).web == pytest.approx(0.2)


def test_a_watcher_costs_the_broker_and_a_browser_the_web_front() -> None:
    # 500 spectators of 100 tables with two salvos a second each: 1000 results a second
    assert _with(watched=3, delivery_us=20).broker_watched == pytest.approx(0.06)
    assert _with(watched=3, delivery_us=20).broker == 0.0
    assert _with(browser_us=50).web_watched == pytest.approx(0.05)
    assert _with(browser_us=50).web == 0.0


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
        received: list[tuple[str, bytes]] = []
        client, wire = _client(lambda topic, payload: received.append((topic, payload)))
        wire.sent = b""
        long = b"z" * 20_000
        stream = packet(0x20, b"\0\0") + packet(0x90, b"\0\1\1\1")
        stream += packet(0x32, text("/x") + b"\0\7" + long) + packet(0x31, text("/y/1") + b"kept")
        for at in range(0, len(stream), 999):
            client.data_received(stream[at : at + 999])
        assert client.ready.done()
        assert received == [("/x", long), ("/y/1", b"kept")]
        assert wire.sent == b"\x40\2\0\7"  # the other came with QoS 0

    asyncio.run(run())
