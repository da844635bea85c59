"""All state of a session, each value once; the functions of the modules beside this one read and change it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from random import Random
from typing import Any, TypeAlias

from salvo import messages as m
from salvo.errors import IllegalCommand
from salvo.join.events import Event, Refused
from salvo.join.session.known_table import KnownTable, Reports
from salvo.join.session.machine_states import (
    JoiningEvent,
    JoiningState,
    PlacingEvent,
    PlacingState,
    PlayingEvent,
    PlayingState,
    ReturningEvent,
    ReturningState,
    ServerEvent,
    ServerState,
    TableEvent,
    TablePhase,
)
from salvo.join.session.outbox import Outbox
from salvo.messages import State
from salvo.rules import Fleet
from salvo.state_machine import Machine
from salvo.view import View


@dataclass(slots=True)
class PendingRequest:
    """What is known of the request to take part, and of the server that it goes to.

    Attributes:
        pauses: draws when to ask again; not the bot's source: a lost message must not change what that draws.
        always_seal: never send the secret openly.
        awaits_recap: whether the answer is a recap, for which the team should not wait long.
        met: whether the server is known.
        keys: the server's; None of a server without.
        entered: when the request came to wait: for the server, or for the end of a dispute.
        due: when to send it again; None: not before the next tick.
        unanswered_since: when it was sent first without an answer.
        refused: the refusal of a disputed name.
    """

    pauses: Random
    always_seal: bool
    awaits_recap: bool = False
    met: bool = False
    keys: m.ServerKeys | None = None
    entered: float = 0.0
    due: float | None = None
    unanswered_since: float | None = None
    refused: Refused | None = None


@dataclass(slots=True)
class GameProgress:
    """What is known of the game in play beyond its view.

    Attributes:
        turn: the last one that was announced.
        deadline: of that turn, on the monotonic clock.
        begun: the turn that the view is in.
        due: when to send the salvo again; None: not before the next tick.
        stats: what each player has achieved, as far as it was announced.
        winners: who has won; none of an aborted game, None before it was announced.
        missed: whether it was over when the session took it up.
    """

    turn: m.TurnBegan | None = None
    deadline: float = 0.0
    begun: m.TurnContext | None = None
    due: float | None = None
    stats: dict[str, m.PlayerStats] = field(default_factory=dict)
    winners: tuple[str, ...] | None = None
    missed: bool = False


class SessionState:
    """What a session knows, has to send, and has to report.

    The states of the six machines decide; ``fleet`` and ``view`` are what exists in some of them.

    Attributes:
        table: the table's news.
        machines: by their events.
        now: the time of the latest input, in seconds on the monotonic clock.
        random: source of the bot's draws, passed to the view.
        events: what the player is to learn, until the session returns it.
        outbox: what is to be published, until it is taken.
        fleet: the one to place, or the one that the server has; exactly in the states `placing` and `placed`.
        approved: the ships of that fleet that the server has.
        fleet_sent_at: when ships were sent last.
        view: what the player knows of the game in play; in every state but `no_game`.
        newest_recap: the newest one of this game that was taken up.
        recap_payload: the bytes of the last one that was taken up, in any game.
        connected_at: when the connection came up; None before.
    """

    def __init__(
        self,
        table: KnownTable,
        outbox: Outbox,
        machines: Mapping[type[Enum], Machine[Any, Any, SessionAction]],
        request: PendingRequest,
        random: Random,
    ) -> None:
        self.table = table
        self.outbox = outbox
        self.witness = outbox.witness
        self.random = random
        self.now = 0.0
        self.events: list[Event] = []
        self.reports = Reports(table)
        self.wants_to_play = True
        self.chat = True
        self.host_acted: m.HostActed | None = None
        self.request = request
        self.fleet: Fleet | None = None
        self.approved: set[str] = set()
        self.fleet_sent_at = 0.0
        self.view: View | None = None
        self.play = GameProgress()
        self.newest_recap: m.Recap | None = None
        self.recap_payload = b""
        self.connected_at: float | None = None
        self.machines = machines

    def take(self, event: Enum) -> None:
        """Hand an event to its machine, and do what its table says."""
        action = self.machines[type(event)].handle(event)
        if action is not None:
            action(self)

    # --- where the machines are ---------------------------------------------------------------------------------

    @property
    def joining(self) -> JoiningState:
        """What has become of the request to take part."""
        state: JoiningState = self.machines[JoiningEvent].state
        return state

    @property
    def returning(self) -> ReturningState:
        """Whether the team knows how its game stands."""
        state: ReturningState = self.machines[ReturningEvent].state
        return state

    @property
    def following(self) -> TablePhase:
        """What the team takes the table's state to be."""
        state: TablePhase = self.machines[TableEvent].state
        return state

    @property
    def server_here(self) -> bool:
        """Whether the server is there, as far as is known."""
        return bool(self.machines[ServerEvent].state is ServerState.HERE)

    # --- what follows from that ---------------------------------------------------------------------------------

    @property
    def table_state(self) -> State | None:
        """The state of the table; None before it was announced."""
        if self.following is TablePhase.UNHEARD:
            return None
        return State.TURN if self.following is TablePhase.DOUBTED else State[self.following.name]

    @property
    def in_game(self) -> bool:
        """Whether the team plays a game, or one that has ended is still at the table."""
        return self.machines[PlayingEvent].state is not PlayingState.NO_GAME

    @property
    def has_fleet(self) -> bool:
        """Whether there is a fleet for this game."""
        return self.machines[PlacingEvent].state in (PlacingState.PLACING, PlacingState.PLACED)

    @property
    def has_place(self) -> bool:
        """Whether the team is at the table, as far as is known."""
        return self.table.listed or self.has_fleet or self.in_game

    @property
    def wants_place(self) -> bool:
        """Whether a place, or what happened in its game, is worth asking for."""
        return self.wants_to_play or self.in_game

    @property
    def missed_news(self) -> bool:
        """Whether the team may have missed news: then only a recap counts."""
        return self.returning is not ReturningState.CURRENT

    def game_in_play(self) -> View:
        """Return the view of the game that the team plays.

        Raises:
            IllegalCommand: ``wrong_state``: there is no game.
        """
        if self.view is None:
            raise IllegalCommand("wrong_state", f"{self.table.team} plays no game; fire and skip answer SalvoWanted")
        return self.view


#: What a transition asks for.
SessionAction: TypeAlias = Callable[[SessionState], None]
