"""Both brokers, and servers on them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from integration.mosquitto import Mosquitto
from integration.players import send_all_home, until_online
from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_server.contest import Contest
from salvo_server.settings import ServerSettings

Broker = EmbeddedBroker | Mosquitto
StartServer = Callable[..., contextlib.AbstractContextManager[Contest]]


@pytest.fixture(autouse=True)
def _nobody_stays() -> Iterator[None]:
    yield
    send_all_home()


@pytest.fixture
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    """A broker of the test's own: the embedded one, or what ``on_both_brokers`` says."""
    kind = getattr(request, "param", "embedded")
    with EmbeddedBroker(websocket="127.0.0.1:0") if kind == "embedded" else Mosquitto() as running:
        yield running


@pytest.fixture
def start_server(broker: Broker) -> StartServer:
    """Start a server on the broker: ``with start_server(players=2) as contest: ...``."""

    @contextlib.contextmanager
    def start(listener: Any = None, **settings: Any) -> Iterator[Contest]:
        values: dict[str, Any] = {"broker": broker.url, "seed": "7", "over_seconds": 600} | settings
        contest = Contest(ServerSettings(**values), listener)
        with contest.in_background():
            until_online(broker.url)
            yield contest

    return start
