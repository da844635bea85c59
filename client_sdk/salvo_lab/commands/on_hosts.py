"""The options of commands that may play on several hosts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from salvo.unused_options import Unused, is_set, is_unset

if TYPE_CHECKING:
    from salvo_lab.cluster import Cluster

_Function = TypeVar("_Function", bound=Callable[..., Any])

#: Of ``salvo tls``: the same folder for scheduler, workers and commands.
TLS: Final = click.option(
    "--tls",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="SALVO_LAB_TLS",
    help="The folder of salvo tls, the same on all hosts.  [env var: SALVO_LAB_TLS]",
)
#: Rules for options that have no effect with these, or without.
UNUSED: Final = (
    Unused("jobs", is_set("scheduler"), "with --scheduler, whose hosts have a --jobs each; leave one of them out"),
    Unused("tls", is_unset("scheduler"), "without --scheduler URL, which it is for; leave it out"),
)


def hosts(function: _Function) -> _Function:
    """Give a command ``--scheduler`` and ``--tls``, for :func:`connected`."""
    scheduler = click.option("--scheduler", metavar="URL", help="Play on the hosts of this salvo lab scheduler.")
    decorated: _Function = scheduler(TLS(function))
    return decorated


@contextmanager
def connected(scheduler: str | None, tls: Path | None) -> Iterator[Cluster | None]:
    """Connect to the hosts of a scheduler, and say which there are; None without a scheduler.

    Raises:
        SalvoError: as in :class:`salvo_lab.cluster.Cluster`.
        MissingExtra: ``cluster`` is not installed.
    """
    if scheduler is None:
        yield None
        return
    from salvo_lab.cluster import Cluster

    with Cluster(scheduler, tls) as cluster:
        click.echo(f"hosts: {cluster.in_words}", err=True)
        yield cluster
