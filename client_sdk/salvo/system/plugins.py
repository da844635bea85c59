"""What packages add to ``salvo``, found by the entry points of all that is installed; our own packages use the same.

``salvo.commands``      a click command, or a mapping of names to :class:`salvo.cli.listing.Listed`
``salvo.bots``          a class derived from :class:`salvo.bots.player.Bot`, by the name that ``salvo play`` takes
``salvo.rulesets``      a :class:`salvo.rules.book.RuleBook`, by the name that ``--rules`` takes
``salvo.gateways``      a :class:`salvo.gateway.Gateway`, by the name of its system
``salvo.players``       a :class:`salvo.join.client.ContestPlayer`, who plays in a contest in place of a bot
``salvo.journals``      a :class:`salvo_game.journal_interface.JournalReader`, by what it reads: ``database``

Nothing is imported until it is asked for by name.
"""

from __future__ import annotations

import importlib.util
import logging
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import Distribution, EntryPoint, entry_points
from typing import Any, Final

from salvo.errors import MissingExtra, SalvoError, let_interruptions_pass, printable, quietly, shown
from salvo.system.distribution import NAME

COMMANDS: Final = "salvo.commands"
BOTS: Final = "salvo.bots"
RULESETS: Final = "salvo.rulesets"
GATEWAYS: Final = "salvo.gateways"
PLAYERS: Final = "salvo.players"
JOURNALS: Final = "salvo.journals"

_log: Final = logging.getLogger(__name__)


class PluginError(SalvoError):
    """``bad_plugin``: what an installed package adds cannot be loaded, or is something else than its group takes."""


def _in_a_worker() -> bool:
    """Whether this is a process of another command, which has warned already."""
    processes = sys.modules.get("multiprocessing.process")
    return processes is not None and processes.parent_process() is not None


#: The entry points of all that is installed. Finding them reads a file of every package, so it is done once.
_installed: Final = cache(entry_points)


@cache
def _is_ours(package: Distribution) -> bool:
    return package.name == NAME


@cache
def found(group: str) -> Mapping[str, EntryPoint]:
    """Return the entry points of a group by name, ours first; the second of one name is left out, and named."""
    ours: dict[str, EntryPoint] = {}
    others: list[EntryPoint] = []
    for point in sorted(_installed().select(group=group), key=lambda point: point.name):
        if point.dist is not None and _is_ours(point.dist):
            ours.setdefault(point.name, point)
        else:
            others.append(point)
    for point in others:
        if ours.setdefault(point.name, point).value != point.value and not _in_a_worker():
            _log.warning("%s is skipped: another package already adds %s", described(point), point.name)
    return ours


def load(group: str, name: str, kind: type | tuple[type, ...]) -> Any:
    """Return what a package adds under a name.

    Args:
        kind: what it has to be; a subclass of it where it is a class.

    Raises:
        KeyError: nothing is installed under this name.
        MissingExtra: what it needs is not installed.
        PluginError: ``bad_plugin``.
    """
    point = found(group)[name]
    try:
        loaded = point.load()
    except MissingExtra:
        raise
    except BaseException as error:
        let_interruptions_pass(error)
        text = printable(shown(error, 200, str))
        raise PluginError(
            "bad_plugin", f"{described(point)} cannot be loaded: {type(error).__name__}: {text}"
        ) from error
    if not quietly(lambda: isinstance(loaded, kind) or (isinstance(loaded, type) and issubclass(loaded, kind)), False):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        raise PluginError("bad_plugin", f"{described(point)} is not a {' or '.join(each.__name__ for each in kinds)}")
    return loaded


def misnamed(group: str, name: str, own: str) -> PluginError:
    """Return the error of what a package adds under another name than its own."""
    text = f"{described(found(group)[name])} is named {printable(own)[:80]!r} itself; one name for both"
    return PluginError("bad_plugin", text)


def is_there(package: str) -> bool:
    """Whether an annex of ours is installed."""
    return importlib.util.find_spec(package) is not None


def imported(where: str) -> Any:
    """Import what is written ``module:attribute``."""
    module, _, attribute = where.partition(":")
    return getattr(importlib.import_module(module), attribute)


def load_all(group: str, kind: type | tuple[type, ...]) -> Iterator[tuple[EntryPoint, Any]]:
    """Yield all that packages add to a group; what cannot be loaded is named in the log, and skipped."""
    for name, point in found(group).items():
        try:
            yield point, load(group, name, kind)
        except PluginError as error:
            _log.warning("%s; skipped", error.text)


def described(point: EntryPoint) -> str:
    """Return what adds something, in words."""
    return f"{point.group.removeprefix('salvo.').removesuffix('s')} {point.name} of {package_of(point)}"


def package_of(point: EntryPoint) -> str:
    """Return the package that adds something, with its version."""
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else "a package"
