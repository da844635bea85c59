"""Calls a program that is the protocol's server, over TCP."""

from __future__ import annotations

import logging
import socket
import threading
from typing import Final

from salvo_gateways.listener import Listener

log = logging.getLogger(__name__)

#: Between two calls, and for one.
_AGAIN_SECONDS: Final = 1.0
_CALL_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 0.1


def call_repeatedly(host: Listener, address: tuple[str, int], stop: threading.Event) -> None:
    """Call a program, and again a second after each call has ended, until ``stop`` is set.

    Args:
        host: admits the program as a client.
    """
    where, fault = f"{address[0]}:{address[1]}", ""
    while not stop.is_set():
        try:
            line = socket.create_connection(address, _CALL_SECONDS)
        except OSError as error:
            former, fault = fault, error.strerror or str(error)
            if fault != former:
                log.warning("%s: %s; called again every second", where, fault)
        else:
            fault = ""
            line.settimeout(None)
            host.admit(line, where)
            while line.fileno() != -1 and not stop.wait(_POLL_SECONDS):  # its handler closes it when it leaves
                pass
        stop.wait(_AGAIN_SECONDS)
