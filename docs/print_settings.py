"""Print the table of settings in docs/settings.md: ``python docs/print_settings.py`` rewrites it in place."""

from __future__ import annotations

import re
from pathlib import Path

from salvo_server.settings import ServerSettings
from salvo_server.settings_reference import reference

PAGE = Path(__file__).with_name("settings.md")


def settings() -> str:
    """The table: every setting with its option, its values, its default and what it is."""
    rows = [
        [
            f"`{each.name}`",
            f"`{each.option}`",
            each.values or each.takes.replace("|", " or "),
            each.default,
            each.sentence,
        ]
        for each in reference(ServerSettings).values()
    ]
    table = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(["| setting | option | values | default | |", "|---|---|---|---|---|", *table])


def printed(text: str) -> str:
    """Return the page with its table printed again."""
    section = re.compile(r"(<!-- settings -->\n).*?(<!-- /settings -->)", re.DOTALL)
    return section.sub(lambda found: f"{found[1]}{settings()}\n{found[2]}", text)


if __name__ == "__main__":
    PAGE.write_text(printed(PAGE.read_text("utf-8")), encoding="utf-8")
