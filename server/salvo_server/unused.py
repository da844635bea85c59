"""Options and settings that do nothing in combination with others: giving one is an error, and nothing starts.

Rules are data, and are defined next to the options that they are about. What counts is that an option was given, not
its value: the default given by hand is refused as well. An option on the command line that overrides a variable or a
file is not such a case: that is what the order of sources is for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple

from salvo.errors import SalvoError


class UnusedOption(SalvoError):
    """``unused_option``: one that was given does nothing here."""


class Unused(NamedTuple):
    """When an option does nothing.

    Attributes:
        name: the option, or setting.
        when: whether it does nothing, from the values of all.
        why: what follows "does nothing": next to which option, why, and what to do instead.
    """

    name: str
    when: Callable[[Mapping[str, Any]], object]
    why: str


def refuse_unused(
    rules: Iterable[Unused], given: Collection[str], values: Mapping[str, Any], called: Callable[[str], str]
) -> None:
    """Refuse the first option that was given and does nothing.

    Args:
        given: what a person gave.
        values: of all options.
        called: how the person wrote an option.

    Raises:
        UnusedOption: ``unused_option``.
    """
    for rule in rules:
        if rule.name in given and rule.when(values):
            raise UnusedOption("unused_option", f"{called(rule.name)} does nothing {rule.why}")


def beside(other: str) -> Callable[[Mapping[str, Any]], object]:
    """Return the condition that another option is set."""
    return lambda values: values[other] not in (None, False, ())


def without(other: str) -> Callable[[Mapping[str, Any]], object]:
    """Return the condition that another option is not set."""
    return lambda values: values[other] in (None, False, ())


def unencrypted(url: str) -> Callable[[Mapping[str, Any]], object]:
    """Return the condition that a broker's URL is one without TLS."""
    return lambda values: not str(values[url]).startswith(("mqtts://", "wss://"))
