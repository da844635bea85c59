"""Options that are settings: their help is what the settings' model says, and the model checks their values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from salvo_server.settings import ServerSettings
from salvo_server.settings_reference import SettingRow, reference

_Function = TypeVar("_Function", bound=Callable[..., Any])


def setting_options(*names: str) -> Callable[[_Function], _Function]:
    """Give a command the options of these settings, of all if none is named."""

    def decorate(command: _Function) -> _Function:
        known = reference(ServerSettings)
        for name in reversed(names or tuple(known)):
            command = _option(known[name])(command)
        return command

    return decorate


def _option(setting: SettingRow) -> Callable[[_Function], _Function]:
    # Not said is None; the value is a text, as in the environment.
    kind: dict[str, Any] = {"metavar": setting.takes, "multiple": setting.several}
    if setting.flag is not None:
        kind = {"is_flag": True, "flag_value": setting.flag}
    return click.option(setting.option, setting.name, default=None, help=help_of(setting), **kind)


def help_of(setting: SettingRow) -> str:
    """Return a setting in the words of ``--help``."""
    more = "; may be repeated" * setting.several
    ranged = setting.values if setting.flag is None and setting.takes.isupper() else ""
    default = f"default: {setting.default}" if setting.default and setting.flag is None else ""
    bounds = "; ".join(filter(None, (ranged, default)))
    text = f"{setting.sentence[0].upper()}{setting.sentence[1:]}{more}."
    return f"{text}  [{bounds}]" if bounds else text
