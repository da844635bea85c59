"""What one client is sent of its game: who is there, boards, turns, results. No sockets and no decisions here."""

from __future__ import annotations

from collections.abc import Callable

from salvo import messages as m
from salvo.view import View
from salvo_gateways.xbs.doorway import Doorway
from salvo_gateways.xbs.protocol_text import Names, masked, notice, square, write


class GameNarrator:
    """Reports a game, each change once; every method but the queries changes this object.

    Attributes:
        view: of the game that the client knows; None before it begins.
        names: how the client is shown the players.
        announced: the last turn that the table announced.
        skipped: whether the client has skipped the turn that it was given last.
    """

    def __init__(self, door: Doorway, me: str, names: Names, send: Callable[[str], None]) -> None:
        """Report to nobody yet.

        Args:
            me: the client's name at the table.
            send: sends a line to the client.
        """
        self.view: View | None = None
        self.announced: m.TurnBegan | None = None
        self.skipped = False
        self._door = door
        self._me = me
        self.names = names
        self._send = send
        self._players: set[str] = set()  # that were reported
        self._order: tuple[str, ...] = ()  # of the players, by turns
        self._turn = 0  # that was reported last
        self._boards: dict[str, str] = {}  # board messages by player, as reported
        self._as_of: object = None  # what they were made from

    # --- queries ----------------------------------------------------------------------------------------------------

    def turn_of(self, view: View | None) -> m.TurnBegan | None:
        """Return a game's current turn; on an open broker any client may have announced one of an unknown player."""
        turn = self.announced
        return turn if turn and view and turn.game == view.game and turn.player in view.players else None

    def is_my_turn(self, view: View) -> bool:
        """Whether the client knows that it may shoot."""
        return view.shots > 0 and self._turn == view.turn

    def target(self, view: View, text: str) -> str:
        """Return whom a shot is meant for: a name, the beginning of only one, or a number in turn order, from 1."""
        if text.isascii() and text.isdigit():
            return dict(enumerate(self._order, start=1)).get(int(text[:3]), "")
        begins = [name for name in view.players if text and self.names.shown(name).startswith(text)]
        meant = self.names.meant(text)
        return meant if meant in view.players else begins[0] if len(begins) == 1 else ""

    # --- the lobby --------------------------------------------------------------------------------------------------

    def welcome(self) -> None:
        """Report that the client has a place."""
        self._send(write("J", self.names.shown(self._me)))
        self._players.add(self._me)

    def list_players(self, names: tuple[str, ...]) -> None:
        """Report who has come and gone: a game begins with as many as a client knows of, or the client gives up."""
        gone = self._players.difference(names, (self._me,))
        for name in sorted(gone):
            self._send(write("L", self.names.shown(name), self._door.company.reason(name)))
            self.names.forget(name)
        for name in names:
            if name not in self._players:
                self._send(write("J", self.names.shown(name)))
        self._players = self._players.difference(gone).union(names)

    # --- the game ---------------------------------------------------------------------------------------------------

    def turn_began(self, turn: m.TurnBegan) -> None:
        """Note a turn, to be reported once boards and session are ready for the answer."""
        self.announced = turn

    def begin(self, view: View, *, back: bool) -> None:
        """Report the beginning of a game, or how a game stands to which the client comes back."""
        self.view = view
        self._order = self._turn_order(view)
        self._boards, self._as_of = self._written_boards(view), self._state_of_boards(view)
        if back:
            for name in self._order:
                if name != self._me:
                    self._send(write("J", self.names.shown(name)))
                    self._send(self._boards[name])
            self._players.update(self._order)
        else:
            self.list_players(self._order)
            for name in self._order:
                self._send(self._boards[name])
        self._send(write("S", *map(self.names.shown, self._order)))
        self.report_turn(view)
        if back:
            self._send(self._boards[self._me])
            self._send(notice(f"{self.names.shown(self._me)} reconnected"))

    def _turn_order(self, view: View) -> tuple[str, ...]:
        """The players, starting with the one who had the first turn; as no one is ever out, any turn tells which."""
        players, turn = view.players, self.turn_of(view)
        assert turn is not None
        first = (players.index(turn.player) - (turn.turn - 1)) % len(players)
        return players[first:] + players[:first]

    def report_turn(self, view: View) -> None:
        """Report whose turn it is, once boards and session are ready for the answer."""
        turn = self.turn_of(view)
        if turn is None or turn.turn <= self._turn:
            return
        if turn.player == self._me:
            ready = view.turn == turn.turn and (view.shots > 0 or bool(view.fired_this_turn))
        else:
            ready = view.resolved_turn >= turn.turn - 1
        if ready:
            self._turn = turn.turn
            self.skipped = False
            self._send(write("N", self.names.shown(turn.player)))

    def report_salvo(self, view: View, result: m.SalvoResolved, answer: Callable[[str, str, str], None]) -> None:
        """Report a turn's result: a hit before the boards, so that a client that counts points itself is put right.

        Args:
            answer: called with shooter, target, and ``hit`` or ``miss``, before the boards change.
        """
        self.view = view
        self.report_turn(view)
        aims, outcomes = result.aims_if_announced, result.outcomes_if_announced
        if not {result.player, *(target for target, _, _ in aims or ())} <= {*view.players}:
            return  # noise on an open broker
        if not aims or outcomes is None:
            self._report_skip(result)
            self.report_boards(result.player)
            return
        for (target, x, y), hit in zip(aims, outcomes, strict=True):
            if hit:
                shooter = self.names.shown(result.player)
                self._send(write("H", shooter, self.names.shown(target), square(x, y)))
            answer(result.player, target, "hit" if hit else "miss")
            self.report_boards(result.player, target)

    def _report_skip(self, result: m.SalvoResolved) -> None:
        mine = result.player == self._me
        if not (mine and self.skipped):
            reason = self._door.company.skip_reason(result.player, result.turn)
            self._send(write("K", self.names.shown(result.player), reason or ("out of time" if mine else "")))

    def report_results(self, state: str, tallies: dict[str, m.Tally]) -> None:
        """Report how the game ended."""
        view = self.view
        assert view is not None
        self._send(write("F", state, max(tally.turns for tally in tallies.values()), len(tallies)))
        for name in sorted(view.players, key=lambda name: -tallies[name].hits):
            tally = tallies[name]
            skips = tally.turns - tally.shots
            self._send(write("R", self.names.shown(name), tally.hits, skips, tally.turns, self._status(view, name)))

    # --- boards -----------------------------------------------------------------------------------------------------

    def report_boards(self, *first: str) -> None:
        """Report the boards that have changed, those of ``first`` before all others."""
        view = self.view
        assert view is not None
        as_of = self._state_of_boards(view)
        if as_of == self._as_of:
            return
        before, self._boards, self._as_of = self._boards, self._written_boards(view), as_of
        for name in sorted(self._boards, key=lambda name: first.index(name) if name in first else len(first)):
            if self._boards[name] != before[name]:
                self._send(self._boards[name])
                if before[name].split("|")[2] and not self._status(view, name):
                    self._send(notice(f"{self.names.shown(name)} reconnected"))

    def _state_of_boards(self, view: View) -> object:
        """Return what changes when a board message does."""
        return view.turns_known, *(self._status(view, name) for name in view.players)

    def _written_boards(self, view: View) -> dict[str, str]:
        tallies = view.tallies
        return {name: self._written_board(view, name, tallies[name]) for name in view.players}

    def _written_board(self, view: View, name: str, tally: m.Tally) -> str:
        board = masked(view.marks(name), self._door.book.grid)
        skips = tally.turns - tally.shots
        return write("B", self.names.shown(name), self._status(view, name), board, tally.hits, skips)

    def _status(self, view: View, name: str) -> str:
        return "disconnected" if self._door.company.is_missing(name, view.game) else ""
