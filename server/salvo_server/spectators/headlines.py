"""`/game/headline`: the state of a table as one line for people (SALVO-TOPIC-5).

It is made of what is announced to everybody and of nothing else, so it says nothing that a player may not know. Like
the referee's view it follows the steps from outside, and is in no check, no log and no journal.
"""

from __future__ import annotations

from salvo import messages as m
from salvo.codec.announcements import Publication
from salvo.messages import State
from salvo.table_state import TableState
from salvo.wire import topics
from salvo_display.boards.text_boards import news
from salvo_display.replay_text import counted, outcome
from salvo_game.log import is_public
from salvo_game.table import Follower, Table
from salvo_game.table_step import Step


def headline(table: TableState) -> str:
    """Return the line: state, turn, who is to fire, and the last result."""
    game = f"game {table.opened}"
    if table.state is State.OVER and table.game.won is not None:
        after = f" after turn {table.game.last_turn}" if table.game.last_turn else ""
        line = f"{game} is over{after}: {outcome(table.game.winners)}"
    elif (turn := table.playing) is not None:
        parts = [f"{turn.player} to fire {counted(turn.shots, 'shot')}"] if turn.turn > table.game.last_turn else []
        parts += [_salvo(table.game.result, table.game.removed)] if table.game.result is not None else []
        line = f"{game}, turn {turn.turn}: {'; '.join(parts)}"
    else:
        line = f"{game}, lobby: {counted(len(table.names), 'team')}, {counted(len(table.complete), 'complete fleet')}"
    return f"{line}; paused by the host" if table.paused else line


def _salvo(result: m.SalvoResolved, removed: set[str]) -> str:
    fired = f"{result.player} fired {counted(result.shots, 'shot')}, {counted(result.hits, 'hit')}"
    return ", ".join([fired, *news(result, removed)])


class Headlines(Follower):
    """The headlines of all tables of a server."""

    def __init__(self) -> None:
        super().__init__()
        self._tables: dict[str, TableState] = {}

    def open(self, table: Table) -> None:
        """Begin with a lobby that nobody has come to."""
        self._take_in(table, [])

    def follow(self, table: Table, step: Step) -> list[Publication]:
        """Take in a step of the table; return the line if it is another one."""
        public = [announcement for announcement in step.announcements if is_public(announcement)]
        return self._take_in(table, public) if public else []

    def _take_in(self, table: Table, announcements: list[m.Announcement]) -> list[Publication]:
        state = self._tables.get(table.name)
        if state is None:
            header, state = table.header, TableState()
            self._tables[table.name] = state
            announcements = [m.TableOpened(header.game), header.rules, *announcements]
        for announcement in announcements:
            state.apply(announcement)
        topic, line = topics.HEADLINE.of(table.name), headline(state).encode()
        if self.retained.get(topic) == line:
            return []
        self.retained[topic] = line
        return [Publication(topic, line, True)]
