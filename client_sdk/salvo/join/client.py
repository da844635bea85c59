"""A bot answers what its session asks, game after game.

:class:`Contestant` is that; :func:`play` gives it a seat and runs it. Single-threaded. A bot may print: the log goes to
standard error.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Protocol

from salvo.bots.adapter import NO_TEXT, Adapter
from salvo.bots.errors import placed
from salvo.bots.player import Bot
from salvo.errors import BotError, SalvoError
from salvo.join import events as e
from salvo.join.events import Event, GameVerified, LogDoubted
from salvo.join.seat import Seat
from salvo.join.seated_team import LAST_WORDS_SECONDS, SeatedTeam
from salvo.messages import PlayerStats
from salvo.rules import Fleet, generator, own_seed
from salvo.view import Shot, View
from salvo.wire.seal import fingerprint

log = logging.getLogger(__name__)

#: Refusals that no retry of the same program cures.
FINAL = frozenset({"name_taken", "bad_name", "not_in_roster", "sealed_required"})
#: Longest wait for the next message; short enough to notice a stop request and to ask again without being woken.
MAX_WAIT_SECONDS = 0.5
#: How long to wait after the last game for a proof of it, in case the server is restarting.
PROOF_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class GameReport:
    """How a game ended for this team; ``winner`` is empty after a tie and in an aborted game."""

    game: int
    winner: str
    place: int
    stats: Mapping[str, PlayerStats]
    aborted: bool = False

    def line(self, team: str) -> str:
        """Return it as a line for people."""
        if self.aborted:
            return f"game {self.game}: the host has aborted it"
        return f"game {self.game}: {self.winner or 'no one alone'} wins, {team} is number {self.place}"


class Contestant:
    """A bot that answers for a team.

    The owner calls :meth:`step` in a loop. Nothing happens in between.

    Attributes:
        reports: one for each game that is over, and was not when this team came.
    """

    def __init__(
        self,
        bot: Bot | Adapter,
        team: SeatedTeam,
        *,
        seed: int | str,
        games: int | None = 1,
        strict: bool = True,
        listener: Callable[[Event], None] | None = None,
    ) -> None:
        """Take the team's ``on_event``; the other arguments are those of :func:`play`."""
        self.reports: list[GameReport] = []
        self._team = team
        self._adapter = Adapter.of(bot)
        self._owns_adapter = self._adapter is not bot
        self._seed = seed
        self._games = games
        self._strict = strict
        self._listener = listener
        team.on_event = self.handle

    @property
    def done(self) -> bool:
        """Whether all requested games are over."""
        return self._games is not None and len(self.reports) >= self._games

    @property
    def settled(self) -> bool:
        """Whether all games are over, and the log of the last one as well."""
        return self.done and self._team.has_last_words()

    def step(self, longest_seconds: float) -> None:
        """Wait at most this long for the next message, and handle it."""
        self._team.receive(longest_seconds)
        if self.done:
            self._team.ask_for_log()
        else:
            self._team.follow()

    def close(self) -> None:
        """Release what the bot needed; the team belongs to the owner."""
        if self._owns_adapter:
            self._adapter.end()

    # --- what happens at the table --------------------------------------------------------------------------------

    def handle(self, event: Event) -> None:
        """Handle an event: ask the bot, tell it, or log what people should know."""
        if self._listener is not None:
            self._listener(event)
        name = self._team.session.name
        match event:
            case e.FleetWanted(game=game):
                self._prepare(game)
                self._team.place(self._fleet(game))
                log.info("%s: listed for game %d, fleet sent", name, game)
            case e.GameTakenUp(game):
                self._prepare(game)
                log.info("%s: back in game %d", name, game)
            case e.SalvoWanted(view):
                self._answer(view)
            case e.SalvoReported(result):
                self._call(f"turn {result.turn}, on_result", self._adapter.on_result, result)
            case e.GameEnded(game, winner, stats, aborted, missed):
                self._call("on_game_over", self._adapter.on_game_over, None if aborted else winner, stats)
                place = stats[name].place if name in stats else 0
                if not missed:
                    self.reports.append(GameReport(game, winner, place, stats, aborted))
                ended = "aborted by the host" if aborted else f"won by {winner or 'several'}, place {place}"
                log.info("%s: game %d %s%s", name, game, "was over already: " * missed, ended)
            case e.Seated() if not self._team.in_league:  # whose lines name the table
                log.info("%s: %s", name, event)
            case e.LeagueSeen(text):
                log.info("%s: %s", name, text)
            case e.HostSeen(acted):
                log.info("%s: %s", name, acted)
            case e.Refused(code, text):
                if code in FINAL:
                    raise SalvoError(code, text)
                log.warning("%s: %s: %s", name, code, text)
            case e.Said(sender, text, private) if sender != name:
                log.info("%s: %s says%s: %s", name, sender or "the server", " to us" * private, text)
                self._call("on_message", self._adapter.on_message, sender, text, private)
            case e.Waits(_, text):
                log.warning("%s: %s", name, text)
            case e.ServerMet(keys) if keys is not None:
                log.info("the server is %s", fingerprint(keys.sign))
            case LogDoubted(text):
                log.warning("%s: %s; asked the server how the game stands", name, text)
            case GameVerified(game, True):
                log.info("%s: game %d agrees with the server's commitment", name, game)
            case e.ServerSeen(_, presence):
                log.info("the server is %s", presence)
        self._pass_on()

    # --- the bot --------------------------------------------------------------------------------------------------

    def _prepare(self, game: int) -> None:
        name = self._team.session.name
        self._call("prepare", self._adapter.prepare, name, own_seed(self._seed, name, game), game)
        self._team.session.reseed(self._adapter.random)

    def _fleet(self, game: int) -> Fleet:
        session = self._team.session
        rules = session.rules
        assert rules is not None
        try:
            return self._adapter.fleet(rules)
        except BotError as error:
            self._blame("place_fleet", error, "a drawn fleet is placed instead")
            return rules.random_fleet(generator(own_seed(self._seed, session.name, game), "fleet"))

    def _answer(self, view: View) -> None:
        """Ask until the turn's shots are used up or the bot gives up the rest."""
        session = self._team.session
        while view.shots:
            shots = self._ask(view)
            if not shots:
                if view.untouched:  # else there is nothing left to shoot at: the shots on their way win the game
                    log.warning("%s: turn %d: %d shots given up", session.name, view.turn, view.shots)
                if view.untouched or view.rules.skipping:
                    session.skip()
                return
            session.fire(shots)

    def _ask(self, view: View) -> Sequence[Shot]:
        try:
            return self._adapter.salvo(view)
        except BotError as error:
            self._blame(f"turn {view.turn}", error, "the turn is lost")
            return ()

    def _call(self, where: str, method: Callable[..., None], *given: object) -> None:
        try:
            method(*given)
        except BotError as error:
            self._blame(where, error, "the game continues")

    def _blame(self, where: str, error: BotError, consequence: str) -> None:
        """Stop with the bot's error in development; in a contest, log it with its consequence."""
        session = self._team.session
        whose = f"{session.name}, {where}; seed {self._seed}, game {session.game}"
        text = placed(error.text, whose)
        if self._strict:
            raise BotError(error.code, text, error.trace) from error.__cause__
        log.error("%s: %s; %s%s", error.code, text, consequence, f"\n{error.trace}".rstrip())

    def _pass_on(self) -> None:
        """Send the bot's chat lines, if chat is on; an illegal line is the bot's error."""
        for text, to in self._adapter.lines():
            if self._team.session.chat:
                self._chat(text, to)

    def _chat(self, text: str | None, to: str | None) -> None:
        try:
            if text is None or to is None:
                raise BotError("bad_text", NO_TEXT)
            self._team.say(text, to)
        except SalvoError as error:
            self._blame("say", BotError(error.code, error.text), "the game continues")


class ContestPlayer(Protocol):
    """Plays in a contest in place of a bot: a person."""

    def check(self, *, browser: bool) -> None:
        """Make sure that it can play here.

        Args:
            browser: whether it is to play in a browser instead of at the terminal.

        Raises:
            SalvoError: it cannot, such as a person without a terminal.
        """

    def play(
        self,
        seat: Seat,
        random: Random,
        games: int | None,
        listener: Callable[[Event], None] | None,
        *,
        browser: bool,
    ) -> list[GameReport]:
        """Take the seat, and play until it leaves; it closes the seat.

        Args:
            random: to fill fleets with.
            games: how many to play; None for as many as there are.
            listener: gets every event first.
            browser: as for :meth:`check`.
        """


def play(
    bot: Bot | Adapter,
    url: str,
    team: str,
    secret: str | None,
    *,
    table: str = "",
    games: int | None = 1,
    seed: int | str | None = None,
    strict: bool = True,
    stop: threading.Event | None = None,
    listener: Callable[[Event], None] | None = None,
    username: str | None = None,
    password: str | None = None,
    ca: str | None = None,
    pin: bool = True,
    proof: Path | None = None,
) -> list[GameReport]:
    """Play games at a contest until ``games`` are over, or without end.

    A team that goes in the lobby, by ``stop``, Ctrl-C or an error of its bot, leaves the list; in a game it may come
    back.

    The other arguments are those of :class:`~salvo.join.seat.Seat`.

    Args:
        table: its name; without one, the bot plays at the default table, and follows the seats that a host gives.
        games: how many; None continues until ``stop`` is set. seed: of everything random in the bot; keep it secret,
        since others could derive the fleet from it. 128 random bits if None.
        strict: whether an error of the bot ends the program; otherwise it loses the turn.
        listener: gets every event first.

    Raises:
        BotError: the bot failed, with ``strict``.
        SalvoError: ``name_taken``: another team plays under this name; ``not_in_roster``; ``secret_wanted``: the
            server only admits teams on its roster, and no secret was given.
        ImpostorError: ``server_changed`` or ``impostor``: this is not the same server as before.
        UnfairGame: ``unfair``: the server has signed a contradiction.
        ConnectionLost: the broker refuses this client, or is not trusted; ``account_in_use``: another program connects
            as this team.
    """
    seed = secrets.token_hex(16) if seed is None else seed
    random = generator(own_seed(seed, team, 1), team, 1)
    seat = Seat(
        url, team, secret, random, table=table, username=username, password=password, ca=ca, pin=pin, proof=proof
    )
    if secret is None:
        listener = secret_teller(team, seat.secret, listener)
    with contextlib.closing(seat):
        seated = SeatedTeam(
            seat.session,
            seat.connection,
            meet=seat.meet,
            elsewhere=seat.elsewhere,
            last_words_seconds=LAST_WORDS_SECONDS if proof is None else PROOF_SECONDS,
        )
        contestant = Contestant(bot, seated, seed=seed, games=games, strict=strict, listener=listener)
        with contextlib.closing(contestant):
            try:
                with seated.leaving():
                    while not contestant.settled and not (stop is not None and stop.is_set()):
                        contestant.step(MAX_WAIT_SECONDS)
                return contestant.reports
            finally:
                if note := seat.connection.finish_proof(len(contestant.reports)):
                    log.info("%s", note)


def secret_teller(team: str, secret: str, listener: Callable[[Event], None] | None = None) -> Callable[[Event], None]:
    """Return a listener that keeps a drawn secret from a server that has a roster, and else shows it to the team once.

    Args:
        listener: gets every event, too.
    """
    shown = False

    def tell(event: Event) -> None:
        nonlocal shown
        if isinstance(event, e.ServerMet) and event.profile in ("contest", "strict"):
            raise SalvoError(
                "secret_wanted",
                f"the server's profile is {event.profile}, and no secret was given: put {team}'s into SALVO_SECRET, as "
                "the operator gave it",
            )
        if isinstance(event, e.FleetWanted) and not shown:
            log.info("secret of %s: %s (put it into SALVO_SECRET to come back)", team, secret)
            shown = True
        if listener is not None:
            listener(event)

    return tell
