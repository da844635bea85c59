"""The authority over one table.

Pure: no broker, no clock, no randomness of its own. Commands arrive through :meth:`Referee.receive`, time through its
``now`` argument and :meth:`Referee.handle_timer`; the only output is announcements. Nothing a player does raises: what
is not allowed is answered with :class:`~salvo.messages.CommandRefused` or :class:`~salvo.messages.PlacementRefused` and
leaves the game as it was (SALVO-ERR-2).

What follows from each input in each state stands in :mod:`salvo_game.transitions`; here is the table's state,
and what others ask of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from salvo import messages as m
from salvo.errors import IllegalCommand
from salvo.rules import SALVO, RuleBook
from salvo.rules.game import Game
from salvo_game.game_states import Hosted, Turn
from salvo_game.lobby import Lobby
from salvo_game.match import Match, Player, Team, Terms
from salvo_game.transitions import TABLE, RefereeEvent, RefereeState, event_of, reopen


class Ruling(NamedTuple):
    """What follows from an input.

    Attributes:
        recorded: whether the input belongs to the record of the game. All do but a repetition, a request that lists or
            removes nobody, and noise that nobody has proven. A refusal does: it uses up a nonce, and an answer.
    """

    announcements: list[m.Announcement]
    recorded: bool


def _is_recorded(command: m.Input, announcements: Sequence[m.Announcement]) -> bool:
    if isinstance(command, (m.Participate, m.StruckOff)):
        return any(isinstance(announcement, m.PlayersListed) for announcement in announcements)
    return bool(announcements) or not isinstance(command, m.Unreadable) or command.proven


class Referee:
    """One table.

    Attributes:
        stage: what the table is doing, with all that it knows in it.
    """

    def __init__(
        self,
        seed: int | str,
        table: str = "",
        book: RuleBook = SALVO,
        limits: m.Limits | None = None,
        number: int = 1,
        draw: m.Draw = m.Draw.SEED,
    ) -> None:
        """Set up a table whose draws all come from ``seed``; nothing is announced before :meth:`open`.

        Args:
            number: of the game that the first lobby is for.
            draw: what ``seed`` is; for a fair one it is 32 secret bytes in hexadecimal, of the first game alone.
        """
        terms = Terms(table, number, seed, draw, book, limits or m.Limits())
        self.stage: RefereeState = Lobby(terms)
        self._following = terms  # but for the number and what a host has set, of the game after this one
        self._set: list[m.NextGame] = []  # by hosts, for the game after this one

    # --- inputs -------------------------------------------------------------------------------------------------

    def open(self) -> list[m.Announcement]:
        """Return what a table says when it opens."""
        return [m.TableOpened(self.number), self.rules, m.StateChanged(self.state)]

    def deadline(self) -> int | None:
        """When :meth:`handle_timer` is due, in epoch ms; None when no timer is running."""
        return self.stage.deadline

    def handle_timer(self, now: int) -> list[m.Announcement]:
        """Do what time does; nothing before the deadline."""
        due = self.stage.deadline
        return [] if due is None or now < due else self._step(RefereeEvent.DEADLINE, self._next, now)

    def receive(self, command: m.Input, now: int) -> list[m.Announcement]:
        """Carry out or refuse one command; return what is announced."""
        return self.decide(command, now).announcements

    def decide(self, command: m.Input, now: int) -> Ruling:
        """Carry out or refuse one command; due timers run first, so a shot after the deadline comes too late."""
        late = [] if isinstance(command, m.Resumed) else self.handle_timer(now)  # no time passed while it was away
        if isinstance(command, m.TimePassed):
            return Ruling(late, recorded=True)
        event = event_of(command, self.stage)
        try:
            input = Hosted(command, self._next) if isinstance(command, m.HostCommand) else command
            announced = self._step(event, input, now)
        except IllegalCommand as error:
            announced = self._refuse(command, error)
        else:
            if isinstance(command, m.HostCommand) and command.settings is not None:
                self._set.append(command.settings)
        announced = late + announced if late else announced
        return Ruling(announced, event is not RefereeEvent.REPEATED and _is_recorded(command, announced))

    def give_up(self) -> list[m.Announcement]:
        """Open the next lobby, whatever the table is doing: by no input, so that the game's record stays as it is."""
        announced, self.stage = reopen(self.stage, self._next)
        self._set.clear()
        return announced

    def _step(self, event: RefereeEvent, command: m.Input | Hosted | Terms, now: int) -> list[m.Announcement]:
        state = self.stage
        announced, self.stage = TABLE[type(state)][event].step(state, command, now)
        if self.stage is not state and self.stage.terms is not state.terms:
            self._set.clear()
        return announced

    def _refuse(self, command: m.Input, error: IllegalCommand) -> list[m.Announcement]:
        match command:
            case m.Participate(name) | m.HostCommand(name):
                return [m.CommandRefused(name, error.code, error.text)]
            case m.Leave(player) | m.PlaceShip(player) | m.Fire(player) | m.Skip(player):
                return self.players[player].refuse(command, error)
        raise error  # the server's own inputs are not refused

    @property
    def _next(self) -> Terms:
        limits = self._following.limits
        for settings in self._set:
            limits = settings.limits(limits)
        return self._following if limits is self._following.limits else replace(self._following, limits=limits)

    def configure(
        self, seed: int | str, limits: m.Limits, draw: m.Draw = m.Draw.SEED, book: RuleBook | None = None
    ) -> None:
        """Change seed, limits and rules from the next lobby on; the game in play keeps its own (SALVO-BACK-6)."""
        following = self._following
        self._following = replace(following, seed=seed, limits=limits, draw=draw, book=book or following.book)

    # --- queries ------------------------------------------------------------------------------------------------

    @property
    def state(self) -> m.State:
        """Lobby, turn or over; a pause is part of ``turn`` (SALVO-PACE-3)."""
        return self.stage.state

    @property
    def terms(self) -> Terms:
        """What the game in play, or the one that the lobby is for, is played by."""
        return self.stage.terms

    @property
    def table(self) -> str:
        """Its name; empty for the default one."""
        return self.stage.terms.table

    @property
    def number(self) -> int:
        """The running number of the game, from 1; the next game gets its number with its lobby."""
        return self.stage.terms.number

    @property
    def book(self) -> RuleBook:
        """The rules of the game."""
        return self.stage.terms.book

    @property
    def limits(self) -> m.Limits:
        """The limits of the game."""
        return self.stage.terms.limits

    @property
    def rules(self) -> m.RulesAnnounced:
        """What ``/game/rules`` says."""
        return self.stage.terms.rules

    @property
    def next_differs(self) -> bool:
        """Whether the next lobby has other limits or rules than this game; whether it is held is none of them."""
        following = self._next
        limits = replace(following.limits, held=self.limits.held)
        return (limits, following.book) != (self.limits, self.book)

    @property
    def players(self) -> Mapping[str, Team]:
        """All teams by name, in order of arrival; in play order once the game began."""
        return self.stage.players

    @property
    def extensions(self) -> int:
        """How often the placement time has been restarted since the newest team was listed; 0 in a game."""
        return self.stage.extensions if isinstance(self.stage, Lobby) else 0

    @property
    def match(self) -> Match:
        """The game in play, or the one whose result stands.

        Raises:
            LookupError: the table is in its lobby.
        """
        if isinstance(self.stage, Lobby):
            raise LookupError(f"game {self.number} has not begun")
        return self.stage.match

    @property
    def game(self) -> Game | None:
        """The engine's game; None in the lobby."""
        return None if isinstance(self.stage, Lobby) else self.stage.match.game

    @property
    def results(self) -> list[m.SalvoResolved]:
        """The results of the game so far; none in the lobby."""
        return [] if isinstance(self.stage, Lobby) else self.stage.match.results

    @property
    def current(self) -> Player | None:
        """Whose turn it is; None in lobby and pause and when the game is over."""
        return self.stage.match.current if isinstance(self.stage, Turn) else None

    def recap(self, name: str) -> m.Recap | None:
        """Return all that a player may know of the game so far; None for a player who is not at the table."""
        return self.stage.recap(name) if name in self.players else None

    def awaits_delivery(self) -> int | None:
        """Return the turn whose bank does not count yet: it does from :class:`~salvo.messages.TurnDelivered` on."""
        state = self.stage
        return state.match.game.turn if isinstance(state, Turn) and state.awaits_delivery else None

    def is_absent(self, name: str) -> bool:
        """Whether a player has missed so many turns that its next ones are short (SALVO-TURN-8)."""
        state = self.stage
        return not isinstance(state, Lobby) and name in state.players and state.match.is_absent(state.players[name])
