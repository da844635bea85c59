"""What strangers forge in the name of teams whose clients take a fresh salt a message, as the specification has it.

On the embedded broker, which knows its connections, also those of the web front's visitors, and on a mosquitto behind
the front, which marks them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from kit.cheap_keys import cheap_keys
from kit.forgeries import know_no_publishers, stage
from kit.programs import needs

BEHIND_THE_FRONT: Final = [needs("mosquitto"), needs("haproxy")]
WHERE: Final = [
    ("open", "embedded"),
    ("open", "web"),
    pytest.param("open", "front", marks=BEHIND_THE_FRONT),
    pytest.param("contest", "front", marks=BEHIND_THE_FRONT),
]
each = pytest.mark.parametrize(("profile", "place"), WHERE)
#: Before each message of an honest client: more than any bucket holds.
FORGED: Final = 20


@pytest.fixture(autouse=True)
def _keys_cost_little() -> Iterator[None]:
    """The server is in this process, and so are its clients."""
    with cheap_keys():
        yield


@each
def test_what_a_stranger_forges_costs_clients_with_a_fresh_salt_a_message_nothing(
    profile: str, place: str, tmp_path: Path
) -> None:
    with stage(profile, place, tmp_path) as game:
        game.join()
        shooter = game.place(FORGED if profile == "open" else 0)  # in a contest a team's topics are its own
        assert json.loads(game.fire(shooter, FORGED))["shots"] == 5


@each
def test_without_the_publishers_forged_shots_cost_such_a_client_its_own(
    profile: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    if place in ("embedded", "web"):
        know_no_publishers(monkeypatch)
    with stage(profile, "front without marks" if place == "front" else place, tmp_path) as game:
        game.join()
        shooter = game.place(0)
        assert game.fire(shooter, FORGED).startswith("rate_limited")
    assert caplog.text.count("clients reach the broker without the front") == (place == "front")
