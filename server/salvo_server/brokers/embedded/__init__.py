"""The embedded broker: it runs in the server's own process, and needs no installation.

It is enough for a contest in one room; a contest among strangers runs on mosquitto. A message goes

    tcp_and_websocket.TcpEdge or WebSocketEdge -> peers.Peer -> packets -> broker.publish -> retained
        -> routing -> sessions (lanes, in flight) -> packets -> peers.Peer -> edge

and the server of this process takes part without edges, peers and packets
(:mod:`~salvo_server.brokers.embedded.attached`).

In a contest :mod:`~salvo_server.brokers.embedded.roster_access` decides the rights, and
:mod:`~salvo_server.brokers.embedded.tls` may wrap the edges. The same accounts and rights for a mosquitto are in
:mod:`~salvo_server.brokers.mosquitto.dynamic_security`, and what it starts from in
:mod:`~salvo_server.brokers.mosquitto.config`.

:mod:`~salvo_server.brokers.embedded.runner` gives it a thread and addresses,
:mod:`~salvo_server.brokers.embedded.limits` says what clients may make it hold,
:mod:`~salvo_server.brokers.embedded.pace` what they may make it do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from salvo.errors import MissingExtra

if TYPE_CHECKING:
    from salvo_server.brokers.embedded.runner import EmbeddedBroker as EmbeddedBroker

__all__ = ["EmbeddedBroker"]

#: What the optional part brings that the broker imports.
_EXTRA = ("amqtt", "websockets")


def __getattr__(name: str) -> Any:
    if name != "EmbeddedBroker":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from salvo_server.brokers.embedded import runner
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.partition(".")[0] in _EXTRA:
            raise MissingExtra("the embedded broker", "server") from None
        raise
    return runner.EmbeddedBroker
