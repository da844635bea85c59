"""Both brokers, and servers on them; the fixtures ``broker`` and ``start_server`` of every test."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from kit.mosquitto import Mosquitto
from kit.players import until_online
from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_server.brokers.embedded.limits import BrokerLimits
from salvo_server.contest import Contest
from salvo_server.settings import ServerSettings

Broker = EmbeddedBroker | Mosquitto
StartServer = Callable[..., contextlib.AbstractContextManager[Contest]]


def new_broker(kind: str) -> Broker:
    """Return a broker to run as a context: ``embedded`` or ``mosquitto``."""
    if kind == "mosquitto":
        return Mosquitto()
    # Nobody is given up as stuck whose thread a busy machine does not run for some seconds.
    return EmbeddedBroker(websocket="127.0.0.1:0", limits=BrokerLimits(stuck_seconds=60.0))


def serving(broker: EmbeddedBroker) -> Any:
    """Return what the embedded broker has on its thread, to look at."""
    return broker._serving


@contextlib.contextmanager
def server_on(broker: Broker, listener: Any = None, **settings: Any) -> Iterator[Contest]:
    """Run a server on the broker: ``with server_on(broker, players=2) as contest: ...``."""
    patient = {"over_seconds": 600, "turn_seconds": 600, "placement_seconds": 600}
    values: dict[str, Any] = {"broker": broker.url, "seed": "7"} | patient | settings
    contest = Contest(ServerSettings(**values), listener)
    with contest.in_background():
        until_online(broker.url)
        yield contest
