"""The help line of each command, without importing it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

PLAY: Final = "Play"
ORGANISE: Final = "Organise"
WATCH: Final = "Watch"
CHECK: Final = "Check"
#: What packages add that name no other heading.
MORE: Final = "More"
HEADINGS: Final = (PLAY, ORGANISE, WATCH, CHECK, MORE)


class Listed(NamedTuple):
    """A command that is imported when it is called.

    Attributes:
        heading: which person it serves, one of ``HEADINGS``.
        text: one sentence.
        module: has the command under its name.
        needs_linux: it was tried nowhere else.
        extra: the optional part that it needs; empty if it needs none.
    """

    heading: str
    text: str
    module: str
    needs_linux: bool = False
    extra: str = ""


def listed(
    package: str,
    heading: str,
    needs_linux: Collection[str] = (),
    extras: Mapping[str, str] = MappingProxyType({}),
    /,
    **texts: str,
) -> dict[str, Listed]:
    """Return commands of a package, whose modules are called as they are.

    Args:
        needs_linux: the names of those that do.
        extras: the optional part that a command needs, by its name.
    """
    return {
        name: Listed(heading, text, f"{package}.{name}", name in needs_linux, extras.get(name, ""))
        for name, text in texts.items()
    }
