"""One game at a table, without its clock: the engine's game, the player of each seat, and the announcements."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter

from salvo import messages as m
from salvo.errors import IllegalCommand
from salvo.rules import Announce, Fleet, Order, Placement, Repeats, RuleBook, Salvo, Targets
from salvo.rules.game import begin

_TURN = attrgetter("turn")


@dataclass(frozen=True, slots=True)
class Terms:
    """What is settled when a lobby opens, and holds to the end of its result (SALVO-BACK-6).

    Attributes:
        table: its name; empty for the default one.
        number: the running number of the game, from 1.
        seed: what all draws of the game come from; for a fair draw a secret until the game is over.
    """

    table: str
    number: int
    seed: int | str = field(repr=False)
    draw: m.Draw
    book: RuleBook
    limits: m.Limits

    @property
    def rules(self) -> m.RulesAnnounced:
        """What ``/game/rules`` says."""
        limits = self.limits
        placing = m.MAX_SECONDS if limits.held else limits.placement_ms // 1000
        seconds = (placing, limits.turn_ms // 1000, limits.over_ms // 1000)
        bank = [None if each is None else each // 1000 for each in (limits.bank_ms, limits.increment_ms)]
        return m.RulesAnnounced(self.book, self.table, *seconds, limits.empty_turns, *bank)


#: Answers a player gets to refused commands, for each ship it has afloat, in one turn (SALVO-ERR-4).
ANSWERS_PER_SHIP = 3


@dataclass(slots=True)
class Team:
    """One team at the table.

    Attributes:
        placements: good placements so far, by ship.
        spellings: how the team wrote a ship's name when it placed it, by ship.
        answers: refusals that may still be answered.
        open_answers: the same for what came under its name without proof, kept apart so that a rival's noise does
            not silence the answers to the team itself.
    """

    name: str
    credential: bytes = field(repr=False)
    placements: dict[str, Placement] = field(default_factory=dict)
    spellings: dict[str, str] = field(default_factory=dict)
    answers: int = 0
    open_answers: int = 0

    def refill(self, ships_afloat: int) -> None:
        """Allow the answers of a new turn."""
        self.answers = self.open_answers = ANSWERS_PER_SHIP * max(ships_afloat, 1)

    def refuse(self, command: m.Command, error: IllegalCommand) -> list[m.Announcement]:
        """Answer a command that is not allowed, as long as there are answers left."""
        if not self._may_answer(proven=True):
            return []
        if isinstance(command, m.PlaceShip):
            return [m.PlacementRefused(self.name, command.spelling, error.code, error.text)]
        return [m.CommandRefused(self.name, error.code, error.text)]

    def answer_unreadable(self, command: m.Unreadable) -> list[m.Announcement]:
        """Answer what is not a command (SALVO-ERR-3)."""
        if not self._may_answer(proven=command.proven):
            return []
        if command.spelling:
            return [m.PlacementRefused(self.name, command.spelling, command.code, command.text)]
        return [m.CommandRefused(self.name, command.code, command.text)]

    def _may_answer(self, *, proven: bool) -> bool:
        left = self.answers if proven else self.open_answers
        if left and proven:
            self.answers -= 1
        elif left:
            self.open_answers -= 1
        return left > 0


@dataclass(slots=True)
class Player(Team):
    """A team with a seat in a game.

    Attributes:
        seat: its place in play order, from 0.
        bank_ms: what is left of the time for all salvos of the game, where there is such a limit.
        silent_turns: turns in a row without a shot.
        missed_turns: those of them, the last ones, that ended by their time and not by a skip.
        skipped: the last turn that it ended by a skip.
        shots: own ones that count, those of a round that is not resolved too.
        landed: cells of its own board that were shot at, as far as the player knows.
        seen: by rules that announce cells: those of its own board that were shot at, and whether they were hits.
    """

    seat: int = field(kw_only=True)
    bank_ms: int = field(kw_only=True)
    silent_turns: int = 0
    missed_turns: int = 0
    skipped: int | None = None
    shots: list[m.OwnShot] = field(default_factory=list)
    landed: list[tuple[int, int]] = field(default_factory=list)
    seen: dict[tuple[int, int], bool] = field(default_factory=dict)

    def shot(self, turn: int, number: int) -> m.OwnShot | None:
        """Return the shot of a turn with this number, from 1; None when there is none."""
        shots = self.shots
        if not shots or shots[-1].turn < turn:
            return None
        place = bisect_left(shots, turn, key=_TURN) + number - 1
        return shots[place] if 0 <= place < len(shots) else None


class Match:
    """A game from its first turn on.

    Attributes:
        game: the engine's.
        players: by name, in play order.
        seats: the same by seat.
        results: of all turns that are resolved, in order.
        cut_short: turns that ended before their last shot, by their time or by a skip.
        removed: players that a host has removed, in that order; each is out with the end of the turn.
    """

    __slots__ = ("cut_short", "game", "players", "removed", "results", "seats", "terms")

    def __init__(self, terms: Terms, teams: Iterable[Team], starter: int) -> None:
        """Seat teams with complete fleets in the order given."""
        bank_ms = terms.limits.bank_ms or 0
        self.terms = terms
        self.seats = [
            Player(team.name, team.credential, team.placements, team.spellings, seat=seat, bank_ms=bank_ms)
            for seat, team in enumerate(teams)
        ]
        self.players = {player.name: player for player in self.seats}
        fleets = [Fleet(terms.book, list(player.placements.values())) for player in self.seats]
        self.game = begin(terms.book, fleets, starter)
        self.results: list[m.SalvoResolved] = []
        self.cut_short: set[int] = set()
        self.removed: list[str] = []

    # --- queries ------------------------------------------------------------------------------------------------

    @property
    def current(self) -> Player:
        """Whose turn it is, or is to begin after a pause; whose turn ended the game."""
        return self.seats[self.game.current]

    def recap(self, name: str) -> m.Recap:
        """Return all that a player may know of the game so far."""
        player = self.players[name]
        return m.Recap(
            to=name,
            game=self.terms.number,
            turn=self.game.turn,
            fleet=tuple(player.placements.values()),
            shots=tuple(player.shots),
            landed=tuple(player.landed),
            results=tuple(self.results),
            players=tuple(self.players),
        )

    def has_had(self, command: m.Fire | m.Skip) -> bool:
        """Whether a player's shot or skip is the repetition of one that counted (SALVO-FIRE-13).

        Only a command that tells its occasion can be one: without it, the same shot again is another shot.
        """
        if isinstance(command, m.Skip):
            skipped = (self.terms.number, self.players[command.player].skipped)
            return command.context is not None and (command.context.game, command.context.turn) == skipped
        of = command.context
        if of is None or (of.game, of.target) != (self.terms.number, command.target):
            return False
        had = self.players[command.player].shot(of.turn, of.shot)
        return had is not None and had == m.OwnShot(of.turn, of.target, command.x, command.y)

    def is_absent(self, player: Player) -> bool:
        """Whether a player has missed so many turns that its next ones are short (SALVO-TURN-8)."""
        limits = self.terms.limits
        return limits.absent_ms is not None and player.missed_turns >= limits.empty_turns

    def turn_ms(self, player: Player) -> int:
        """How long a player's turn may take."""
        limits = self.terms.limits
        absent_ms = limits.absent_ms
        return limits.turn_ms if absent_ms is None or not self.is_absent(player) else absent_ms

    def _check_aim(self, player: Player, command: m.Fire) -> tuple[Player, int]:
        target = self.players.get(command.target)
        if target is None:
            raise IllegalCommand(
                "unknown_target", f"no player {command.target[:40]!r}; the players are {', '.join(self.players)}"
            )
        book = self.terms.book
        cell = book.grid.cell(command.x, command.y)
        if target is player and book.targets is Targets.OTHERS:
            raise IllegalCommand("own_board", f"the rules {book.name} have no shots at the own board")
        if book.repeats is Repeats.REFUSED and (command.x, command.y) in target.landed:
            text = f"{book.grid.name(cell)} of {target.name} was shot at before; take another cell"
            raise IllegalCommand("shot_before", text)
        if command.context is not None:
            self._check_context(command.context, target)
        return target, cell

    def _check_context(self, context: m.ShotContext, target: Player) -> None:
        game = self.game
        given = context.game, context.turn, context.shot, context.target
        if given != (self.terms.number, game.turn, game.shots_fired + 1, target.name):
            expected = m.ShotContext(self.terms.number, game.turn, game.shots_fired + 1, target.name)
            raise IllegalCommand(
                "stale_context",
                f"signed for game {context.game}, turn {context.turn}, shot {context.shot} "
                f"at {context.target[:40]!r}; this is game {expected.game}, turn {expected.turn}, "
                f"shot {expected.shot} at {expected.target!r}",
            )

    def out_of_turn(self, player: Player, whose: str, otherwise: str = "") -> IllegalCommand:
        """Return the refusal of a shot by a player whose turn it is not, or not any more.

        Args:
            whose: tells whose turn it is.
            otherwise: what is added for a player that has not just fired its last shot.
        """
        last = self.results[-1] if self.results else None
        if last is not None and last.player == player.name and last.turn not in self.cut_short:
            return IllegalCommand("too_many_shots", f"your salvo had {last.shots} shots; {whose}")
        return IllegalCommand("not_your_turn", whose + otherwise)

    # --- what happens -------------------------------------------------------------------------------------------

    def begin_turn(self) -> None:
        """Give the current player its increment, and everybody the answers of a turn."""
        self.current.bank_ms += self.terms.limits.increment_ms or 0
        for player in self.seats:
            player.refill(self.game.afloat[player.seat])

    def give_time(self, ms: int) -> None:
        """Add time to the current player's bank, where there is one."""
        if self.terms.limits.bank_ms is not None:
            self.current.bank_ms += ms

    def fire(self, player: Player, command: m.Fire) -> m.Announcement:
        """Carry out a shot of the current player; return its announcement.

        The target gets a ``ShotLanded``. In rounds it is a ``ShotAccepted``, which is published to nobody: it shows
        the log that the shot counts.

        Raises:
            IllegalCommand: ``unknown_target``, ``off_grid``, ``own_board``, ``shot_before`` or ``stale_context``.
        """
        target, cell = self._check_aim(player, command)
        x, y = command.x, command.y
        player.missed_turns = 0
        player.shots.append(m.OwnShot(self.game.turn, target.name, x, y))
        self.game.fire(((target.seat, cell),))
        if self.terms.book.order is Order.ROUNDS:
            return m.ShotAccepted(player.name, target.name, x, y)
        return self._land(target, x, y)

    def _land(self, target: Player, x: int, y: int) -> m.ShotLanded:
        target.landed.append((x, y))
        return m.ShotLanded(target.name, x, y)

    def cut_turn_short(self) -> bool:
        """Count a turn that ends before its last shot; return whether its player is defeated (SALVO-TURN-6)."""
        game, player = self.game, self.current
        self._defeat_removed()
        self.cut_short.add(game.turn)
        player.silent_turns = 0 if game.shots_fired else player.silent_turns + 1
        most = self.terms.limits.empty_turns
        # The next turns of a removed player are empty; yet all see that a game for points ends with an empty round.
        silent = [most if seat.silent_turns and seat.name in self.removed else seat.silent_turns for seat in self.seats]
        return not game.over and game.judge_silence(silent, most)

    def _defeat_removed(self) -> None:
        """Defeat those that a host has removed, before the end of the turn can defeat anybody else."""
        for name in self.removed:
            seat = self.players[name].seat
            if not self.game.over and not self.game.out[seat]:
                self.game.defeat(seat)

    def end_turn(self) -> tuple[list[m.Announcement], int]:
        """End the turn; return what is said of all turns that this resolves, and how many they are."""
        self._defeat_removed()
        self.game.end_turn()
        resolved = self.game.salvos[len(self.results) :]
        return [announcement for salvo in resolved for announcement in self._announce(salvo)], len(resolved)

    def _announce(self, salvo: Salvo) -> list[m.Announcement]:
        """Return what is announced of a turn, and to the targets of a round that it resolves."""
        book = self.terms.book
        result = self._result(salvo)
        self.results.append(result)
        in_rounds, all_see = book.order is Order.ROUNDS, book.announce is Announce.CELLS
        if not (in_rounds or all_see):
            return [result]
        aims = [(self.seats[seat], *book.grid.xy(cell)) for seat, cell in salvo.aims]
        landed = [self._land(*aim) for aim in aims] if in_rounds else []
        if not all_see:
            return [*landed, result]
        for (target, x, y), hit in zip(aims, salvo.outcomes, strict=True):
            target.seen[x, y] = hit or target.seen.get((x, y), False)
        targets = {target.name: target for target, _, _ in aims}
        return [*landed, result, *map(self._show, targets.values())]

    def _show(self, player: Player) -> m.BoardShown:
        grid, letter = self.terms.book.grid, {None: ".", False: "0", True: "X"}
        return m.BoardShown(player.name, "".join(letter[player.seen.get(grid.xy(cell))] for cell in range(grid.size)))

    def _result(self, salvo: Salvo) -> m.SalvoResolved:
        names, spellings = [p.name for p in self.seats], [p.spellings for p in self.seats]
        return m.SalvoResolved.of(self.terms.number, names, self.terms.book, salvo, spellings)

    # --- the end (SALVO-END) ------------------------------------------------------------------------------------

    def figures(self) -> list[m.Announcement]:
        """Return what is told of a game that is over, or aborted: fleets, figures, who won."""
        game = self.game
        places = game.places() if game.over else [0] * len(self.seats)
        figures = zip(self.seats, game.tally(), places, strict=True)
        stats = [m.PlayerStats(p.name, t.shots, t.hits, t.sank, t.turns, place) for p, t, place in figures]
        winners = tuple(self.seats[seat].name for seat in game.winners)
        won = m.GameWon(winners[0]) if len(winners) == 1 else m.GameWon("", winners)
        return [*self._reveal(), *stats, won]

    def _reveal(self) -> list[m.Announcement]:
        """Reveal all fleets where the rule book says so (SALVO-BOOK-11)."""
        fleets = self.game.fleets if self.terms.book.reveal else ()
        return [m.FleetRevealed(p.name, f.placements) for p, f in zip(self.seats, fleets, strict=False)]
