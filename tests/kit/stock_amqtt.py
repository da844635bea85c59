"""Stock amqtt in a process of its own: it leaves tasks and transports to the garbage collector when it ends."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Self

from amqtt.broker import Broker
from amqtt.contexts import Action
from amqtt.plugins.base import BaseAuthPlugin, BaseTopicPlugin
from amqtt.session import Session

ANONYMOUS = "amqtt.plugins.authentication.AnonymousAuthPlugin"
#: Plugins below, by name; this file is the program of the process.
TOPIC_RULE, PASSWORDS = "__main__.TopicRule", "__main__.Passwords"


class TopicRule(BaseTopicPlugin):  # type: ignore[misc]
    """Topics below /alice belong to the user alice."""

    async def topic_filtering(
        self, *, session: Session | None = None, topic: str | None = None, action: Action | None = None
    ) -> bool | None:
        user = session.username if session else None
        return action != Action.PUBLISH or not (topic or "").startswith("/alice") or user == "alice"


class Passwords(BaseAuthPlugin):  # type: ignore[misc]
    """A password is the user's name backwards."""

    async def authenticate(self, *, session: Session) -> bool:
        return bool(session.password == (session.username or "")[::-1])


class StockAmqtt:
    """Stock amqtt as a child process."""

    def __init__(self, *plugins: str) -> None:
        from kit.ports import Port  # not when this file is the child's program

        self._port = Port()
        self.port = self._port.number
        self._plugins = plugins

    def __enter__(self) -> Self:
        command = [sys.executable, __file__, self._port.address, *self._plugins]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
        assert self._process.stdout is not None
        assert self._process.stdout.readline(), "stock amqtt did not start"
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()
        self._port.close()


async def _serve(address: str, *plugins: str) -> None:
    options = {ANONYMOUS: {"allow_anonymous": True}}
    listeners = {"default": {"type": "tcp", "bind": address}}
    broker = Broker({"listeners": listeners, "plugins": {plugin: options.get(plugin, {}) for plugin in plugins}})
    await broker.start()
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)  # until the parent is gone


if __name__ == "__main__":
    asyncio.run(_serve(*sys.argv[1:]))
