"""What a team has heard of its table."""

from __future__ import annotations

from dataclasses import dataclass

from salvo.rules import RuleBook


@dataclass(slots=True)
class Table:
    """The table's news that more than one machine needs.

    Attributes:
        name: empty for the default table.
        team: this team's name.
        rules: None before they were heard.
        turn_ms: time for a turn; a shorter one is cut by the team's bank.
        game: its number; 0 before it was heard.
        players: the names on its list.
        listed: whether the list has this team's name, as far as was heard since the connection came up.
    """

    name: str
    team: str
    rules: RuleBook | None = None
    turn_ms: int = 0
    game: int = 0
    players: tuple[str, ...] = ()
    listed: bool = False
