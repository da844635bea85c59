"""A mosquitto that anybody may use, and the request that a stranger sends to it."""

from __future__ import annotations

from pathlib import Path

from kit.mosquitto import Mosquitto
from salvo_server.brokers.mosquitto.config import MosquittoListener, write_open
from salvo_server.storage.register import Account

REQUEST = "/game/request_participation"


class OpenMosquitto(Mosquitto):
    """mosquitto from the configuration that is written for an open contest."""

    def __init__(self, server: Account, tables: tuple[str, ...] = ("",)) -> None:
        super().__init__()
        self._given = (server, tables)

    def write_config(self) -> Path:
        config = write_open(self._folder, *self._given, listeners=(MosquittoListener(self.port, "127.0.0.1"),))
        config.write_text(config.read_text() + "user root\n")
        return config
