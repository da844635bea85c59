"""What several processes of a contest work out from the same values is worked out once.

Every team checks the signature of every entry of the log and reads it; with the observer and the checks that is six
times the same bytes. These functions are pure: equal arguments give equal values.
So the real function takes each distinct argument of a contest once, and who comes later gets the value that it gave.
What it refuses is not kept: each finds that out for itself. A contest begins with nothing known, so that it is the same
course of events on its own and among others.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import salvo.codec.log_reader
import salvo.join.session.session
import salvo_game.log_verification.reading
import salvo_game.log_verification.reexecute
from simulation import checks


class Shared:
    """A pure function whose values are kept.

    Attributes:
        known: values by arguments.
    """

    def __init__(self, name: str, *modules: ModuleType) -> None:
        """Take the place of the function that these modules call by this name."""
        self.known: dict[Any, Any] = {}
        self.name = name
        self.modules = modules
        self.real: Callable[..., Any] = getattr(modules[0], name)

    def __call__(self, *given: Any) -> Any:
        try:
            return self.known[given]
        except KeyError:
            pass
        value = self.known[given] = self.real(*given)
        return value


SIGNED = Shared("read_signed", salvo.codec.log_reader, salvo_game.log_verification.reading)
ENTRIES = Shared("read_entry", salvo.codec.log_reader, checks)
HIDDEN = Shared("read_hidden", salvo.codec.log_reader, salvo_game.log_verification.reexecute)
BLINDED = Shared("blind", salvo.codec.log_reader)
ANNOUNCEMENTS = Shared("read_announcement", salvo.join.session.session)
ALL = (SIGNED, ENTRIES, HIDDEN, BLINDED, ANNOUNCEMENTS)


def share(patch: Callable[[Any, str, Any], None] = setattr) -> None:
    """Let the processes of a contest share what they work out."""
    for shared in ALL:
        for module in shared.modules:
            patch(module, shared.name, shared)


def forget() -> None:
    """Let nothing be known."""
    for shared in ALL:
        shared.known.clear()
