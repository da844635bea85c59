"""What a team knows of its table, and what it reports when no news arrives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from salvo.join.events import Event, Waits
from salvo.messages import State
from salvo.rules import RuleBook

#: After this long without news, the cause is probably wrong settings: retained messages come at once, answers soon.
SILENCE_SECONDS: Final = 5.0


@dataclass(slots=True)
class KnownTable:
    """The table's news that more than one machine needs; the session changes it.

    Attributes:
        name: empty for the default table.
        team: this team's name.
        rules: None before they were announced.
        turn_ms: time for a turn; a shorter one is cut by the team's bank.
        game: its number; 0 before it was announced.
        players: the names on its list.
        listed: whether the list has this team's name, as far as is known since the connection came up.
    """

    name: str
    team: str
    rules: RuleBook | None = None
    turn_ms: int = 0
    game: int = 0
    players: tuple[str, ...] = ()
    listed: bool = False


class Reports:
    """Reports to the player, once a game, why nothing happens."""

    def __init__(self, table: KnownTable) -> None:
        self.table_known = False
        self.left_out_of: int | None = None  # the game whose lobby the team left without a complete fleet
        self._table = table
        self._reported: set[tuple[str, int]] = set()

    def once(self, code: str, game: int, event: Event) -> list[Event]:
        """Return the event, the first time."""
        if (code, game) in self._reported:
            return []
        self._reported.add((code, game))
        return [event]

    def _wait(self, code: str, text: str, game: int = 0) -> list[Event]:
        return self.once(code, game, Waits(code, f"{text}; waiting"))

    def game_on(self, state: State | None) -> list[Event]:
        """Report that the team plays the next game."""
        table = self._table
        game = f"game {table.game}" if table.game else "a game"
        how = "over" if state is State.OVER else "on"
        if self.left_out_of == table.game and state is State.TURN:
            how = f"on; it began with {', '.join(table.players)}, whose fleets were complete first"
        return self._wait("game_on", f"{game} is {how}; {table.team} plays the next one", table.game)

    def name_in_use(self) -> list[Event]:
        """Report that the name is listed, and a request for it was refused: perhaps ours."""
        team = self._table.team
        text = f"{team} is listed with another secret, perhaps by an earlier start of this program; "
        cure = "give that secret, or another name"
        return self._wait("name_taken", text + cure, self._table.game)

    def silence(self, connected_seconds: float, unanswered: bool) -> list[Event]:
        """Report that no news of the table arrives, or that a request has no answer."""
        table = self._table
        if not self.table_known:
            if connected_seconds <= SILENCE_SECONDS:
                return []
            where = f"table {table.name!r}" if table.name else "the default table"
            return self._wait("no_server", f"nothing arrives from {where}: it has no such table, or no server yet")
        if not unanswered:
            return []
        return self._wait(
            "no_answer",
            f"the request to take part is not answered; is {table.team!r} the account of a watcher or referee, which "
            "can only watch? Then use a team's",
        )
