"""Rules for options and settings that have no effect in combination with others: giving one is an error.

Rules are data, defined next to the options that they apply to. What counts is that an option was given, not its value:
a default given explicitly is refused as well. An option on the command line that overrides a variable or a file is not
refused: that is what the precedence of sources is for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple

from salvo.errors import SalvoError


class UnusedOption(SalvoError):
    """``unused_option``: an option that was given has no effect."""


class Unused(NamedTuple):
    """When an option has no effect.

    Attributes:
        name: of the option or setting.
        when: takes the values of all options; whether this one has no effect.
        why: the rest of the message after "does nothing": with which option, why, and what to do instead.
    """

    name: str
    when: Callable[[Mapping[str, Any]], object]
    why: str


def refuse_unused(
    rules: Iterable[Unused], given: Collection[str], values: Mapping[str, Any], spelling: Callable[[str], str]
) -> None:
    """Refuse the first option that was given and has no effect.

    Args:
        given: names of the options that the user gave.
        values: of all options, by name.
        spelling: returns how the user writes an option.

    Raises:
        UnusedOption: ``unused_option``.
    """
    for rule in rules:
        if rule.name in given and rule.when(values):
            raise UnusedOption("unused_option", f"{spelling(rule.name)} does nothing {rule.why}")


def is_set(other: str) -> Callable[[Mapping[str, Any]], object]:
    """Return the condition that another option is set."""
    return lambda values: values[other] not in (None, False, ())


def is_unset(other: str) -> Callable[[Mapping[str, Any]], object]:
    """Return the condition that another option is not set."""
    return lambda values: values[other] in (None, False, ())


def unencrypted(url: str) -> Callable[[Mapping[str, Any]], object]:
    """Return the condition that the broker's URL, in this option, is without TLS; or each, where it has several."""

    def holds(values: Mapping[str, Any]) -> bool:
        urls = values[url] if isinstance(values[url], tuple) else [values[url]]
        return not any(str(each).startswith(("mqtts://", "wss://")) for each in urls)

    return holds
