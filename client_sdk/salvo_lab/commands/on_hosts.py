"""The options of commands that may play on several hosts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from salvo.cli.checked import refuse_unused

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


def hosts(function: _Function) -> _Function:
    """Give a command ``--scheduler`` and ``--tls``, for :func:`connected`."""
    scheduler = click.option("--scheduler", metavar="URL", help="Play on the hosts of this salvo lab scheduler.")
    decorated: _Function = scheduler(TLS(function))
    return decorated


@contextmanager
def connected(scheduler: str | None, tls: Path | None) -> Iterator[Cluster | None]:
    """Connect to the hosts of a scheduler, and say which there are; None without a scheduler.

    Raises:
        SalvoError: ``unused_option``; and as in :class:`salvo_lab.cluster.Cluster`.
        MissingExtra: ``cluster`` is not installed.
    """
    if scheduler is None:
        refuse_unused("tls", "without --scheduler URL, which it is for; leave it out")
        yield None
        return
    refuse_unused("jobs", "with --scheduler, whose hosts have a --jobs each; leave one of them out")
    from salvo_lab.cluster import Cluster

    with closing(Cluster(scheduler, tls)) as cluster:
        click.echo(f"hosts: {cluster.in_words}", err=True)
        yield cluster
