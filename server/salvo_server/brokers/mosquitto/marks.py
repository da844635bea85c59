"""The sender of a message: deploy/front.lua puts a mark of the connection in front of each command.

mosquitto delivers messages without their publisher. A client cannot guess another one's mark, and what comes past the
front has none; so a false mark helps nobody.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from typing import Final

from salvo.errors import WireError
from salvo.net.inbound import Inbound
from salvo.wire import topics

log = logging.getLogger(__name__)

_MARK: Final = re.compile(rb"@([0-9a-f]{16}) ")
#: As in deploy/front.lua.
COMMANDS: Final = (topics.FIRE, topics.PLACE, topics.SKIP, topics.LEAVE, topics.REQUEST_PARTICIPATION)


class Marks:
    """Takes the marks off."""

    def __init__(self) -> None:
        self._reported = False

    def take_off(self, messages: Iterable[Inbound]) -> list[Inbound]:
        """Return the messages as their clients have sent them, with their publishers.

        The first command without a mark is reported.
        """
        return [self._bare(message) for message in messages]

    def _bare(self, message: Inbound) -> Inbound:
        mark = _MARK.match(message.payload)
        if mark is None:
            if not self._reported and _is_command(message.topic):
                self._reported = True
                log.warning("clients reach the broker without the front (%s)", _CURE)
            return message
        return message._replace(payload=message.payload[mark.end() :], publisher=mark[1].decode())


_CURE: Final = "among strangers let them in through deploy/front.cfg alone: docker compose --profile public up"


def _is_command(topic: str) -> bool:
    try:
        return topics.parse(topic).topic in COMMANDS
    except WireError:
        return False
