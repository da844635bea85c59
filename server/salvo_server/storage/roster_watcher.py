"""Apply changes of the roster to a running server and its broker.

The roster's file is looked at twenty times a second. When it has changed, the server's register and the broker's
users and rights become what it says, while games go on. A roster that cannot be read, or whose file is gone, changes
nothing: all accounts stay. An empty one removes them all.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Final

from salvo.errors import ConnectionLost
from salvo_server.storage.register import Account, Register
from salvo_server.storage.roster import Roster, RosterError

log = logging.getLogger(__name__)

#: An account is admitted before a program that is started after ``salvo teams add`` connects. A look is one ``stat``.
LOOK_SECONDS: Final = 0.05
#: After a look that failed.
_RETRY_SECONDS: Final = 0.5


class RosterWatcher:
    """Looks at one roster for one server."""

    def __init__(self, roster: Roster, register: Register, furnish: Callable[[Sequence[Account]], None]) -> None:
        """Prepare; :meth:`look` or :meth:`start` does the first round.

        Args:
            furnish: gives the broker its users and rights; may raise ConnectionLost, then it is tried again.
        """
        self._roster = roster
        self._register = register
        self._furnish = furnish
        self._seen: tuple[int, int, int] | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def look(self) -> None:
        """Take over what the roster says, if it has changed.

        Raises:
            RosterError: it cannot be read; what was known before stays in force.
            ConnectionLost: the broker could not be updated; the next look tries again.
        """
        revision = self._roster.revision
        if revision == self._seen:
            return
        accounts = self._roster.accounts()
        self._register.replace(accounts)
        self._furnish(accounts)
        self._seen = revision
        log.info("the roster has %d users", len(accounts))

    def start(self) -> None:
        """Look again and again, on a separate thread."""
        self._thread = threading.Thread(target=self._run, name="roster", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(10)

    def _run(self) -> None:
        reported, pause = "", LOOK_SECONDS
        while not self._stop.wait(pause):
            try:
                self.look()
                reported, pause = "", LOOK_SECONDS
            except (RosterError, ConnectionLost) as error:
                pause = _RETRY_SECONDS
                if str(error) != reported:
                    reported = str(error)
                    log.error("%s; the users stay as they were", error)
