"""What a bot that fails means on a server of an older system."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from kit.failing_bots import GREETING, LINE, OURS, failing_bot
from salvo.bots.sources import make
from salvo_gateways.bot_clients.xbs import XbsBotClient


@pytest.mark.parametrize("method", ["prepare", "place_fleet", "choose_salvo"])
def test_a_bot_that_fails_on_an_older_system_plays_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, method: str
) -> None:
    client = XbsBotClient(make(str(failing_bot(tmp_path, method))), "mine", "1")
    with caplog.at_level(logging.ERROR):
        [joined] = client.receive(GREETING)
        assert joined.startswith("J|mine|")
        water = "." * 100
        for line in ("J|mine", "J|ann", f"B|ann||{water}|0|0", f"B|mine||{water}|0|0", "S|mine|ann"):
            client.receive(line)
        [shot] = client.receive("N|mine")
        assert shot.startswith("S|ann|")
    assert LINE in caplog.text
    assert not OURS.search("\n".join(record.getMessage() for record in caplog.records))
