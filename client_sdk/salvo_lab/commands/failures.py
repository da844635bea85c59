"""Print the failures of bots, and the commands that show them again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from textwrap import indent

from salvo.errors import BotError
from salvo_lab.arena import Failure


def failure_lines(
    failures: Sequence[Failure], command: Callable[[int], str], *, traceback: bool = False
) -> Iterator[str]:
    """Return of each bot that failed how often, the first time, and the command that shows it.

    Args:
        traceback: whether to return the whole of the error, too; else the command has it shown.
    """
    for name, count in Counter(failure.player for failure in failures).items():
        first = next(failure for failure in failures if failure.player == name)
        yield f"failed: {name} {count} {'time' if count == 1 else 'times'}, first {first.code}: {first.text}"
        if traceback and first.trace:
            yield indent(first.trace.rstrip(), " " * 8)
        yield f"        {traced(command(first.game), first.trace)}"


def traced(command: str, trace: str) -> str:
    """Return a command that plays a game again, with the option that shows an error whole where there is more of it."""
    return command + (" --traceback" if trace else "")


@contextmanager
def repeated_by(command: str) -> Iterator[None]:
    """Give the error of a bot that ends a command the command that plays the same again."""
    try:
        yield
    except BotError as error:
        error.again = command
        raise
