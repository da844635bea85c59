"""The evening as a state of the server, which all screens read from `/game/league` (SALVO-EVENING).

Leagues report their standings, hosts decide for all tables, and games begin; this module alone decides the effect on
the evening. The published state is the whole state, so the journal needs nothing else to resume it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields, replace
from typing import Any, Final

from salvo import messages as m
from salvo.badges import Badges
from salvo.codec.announcements import EVENING
from salvo.errors import IllegalCommand
from salvo.messages import HostAction, Phase
from salvo_game.lobby import Lobby
from salvo_game.referee import Referee
from salvo_game.table import Table

#: A league that has not reported for so long is called silent.
SILENT_MS: Final = 15_000
#: Teams that are published with their badges, or as missing; on an open broker anybody may make up names.
_MOST_TEAMS: Final = 64
#: Fields that a report has, too.
_REPORTED: Final = tuple(each.name for each in fields(m.LeagueShown))
_NOBODY: Final[Mapping[str, int]] = {}
_NO_LEAGUE: Final = {each: getattr(m.LeagueShown(), each) for each in _REPORTED}


class Evening:
    """An evening in progress.

    Attributes:
        shown: what is on.
    """

    def __init__(
        self, now: int, stored: str = "", of_roster: Callable[[], Mapping[str, int]] = lambda: _NOBODY
    ) -> None:
        """Begin an evening, or go on with the one of the journal.

        Args:
            now: epoch ms.
            stored: its state as :attr:`text` was; empty for none.
            of_roster: returns the badges that teams were given with their accounts, the same mapping until they change.

        Raises:
            WireError: the stored state cannot be read.
        """
        self.shown = EVENING.read(stored.encode()) if stored else m.EveningShown(at=now)
        self._of_roster = of_roster
        self._reported_at = now  # a league has as long to report to a server that has come back
        self._roster: Mapping[str, int] = {}  # of which :attr:`shown` has who is missing

    @property
    def text(self) -> str:
        """The state as it is published and stored."""
        return EVENING.write(self.shown).decode()

    @property
    def held(self) -> bool:
        """Whether no game begins but those that a host has set (SALVO-EVENING-2)."""
        return bool(self.shown.name) or self.shown.phase_but_for_break is Phase.OVER

    @property
    def paused(self) -> bool:
        """Whether a break is on."""
        return self.shown.phase is Phase.BREAK

    def deadline(self) -> int | None:
        """Return when :meth:`pass_time` has something to do; None for never."""
        return self._reported_at + SILENT_MS if self.shown.league_reports else None

    def pass_time(self, now: int) -> None:
        """Note that a league has fallen silent, and which teams of the roster have not come."""
        due = self.deadline()
        if due is not None and now >= due:
            self._change(now, silent=True)
        if self._roster is not self._of_roster():
            self._change(now)

    def begin_game(self, now: int) -> None:
        """Note that a game has begun at a table."""
        if self.shown.phase_but_for_break is Phase.ARRIVALS and not self.held:
            self._enter(Phase.FREE, now)

    def list_teams(self, names: Iterable[str], now: int) -> None:
        """Give the teams that are new their badges."""
        given, new = self.shown.badges, [name for name in names if name not in self.shown.badges]
        if not new or len(given) + len(new) > _MOST_TEAMS:
            return
        known = self._of_roster()
        badges = Badges(given)
        badges.take({name: known[name] for name in new if name in known})
        chosen = badges.of(new)
        self._change(now, badges=given | {name: chosen[name].number for name in new})

    # --- the league -------------------------------------------------------------------------------------------------

    def report(self, league: m.LeagueShown, now: int) -> None:
        """Take what a league's host reports.

        Raises:
            IllegalCommand: ``wrong_state``: another league runs.
        """
        shown = self.shown
        same = (shown.by, shown.name) == (league.by, league.name)
        if shown.league_reports and not same:
            text = f"{shown.by} runs {shown.name} at these tables; finish for all tables ends it"
            raise IllegalCommand("wrong_state", text)
        if league.over and not (same and shown.name):
            return  # the end of a league that a host has put away, or that ran elsewhere
        self._reported_at = now
        given: dict[str, Any] = {name: getattr(league, name) for name in _REPORTED}
        if not same or (shown.over and not league.over):  # another league, or the same one from the beginning
            given |= {"began": 0, "last": 0, "withdrawn": ()}
        ended = shown.over and league.over  # what follows its end is the host's to decide
        self._change(now, silent=False, **given)
        if not ended:
            self._enter(_phase_of(league), now)

    # --- the host ---------------------------------------------------------------------------------------------------

    def check(self, command: m.HostCommand, teams: Collection[str]) -> None:
        """Make sure that a host's command for all tables is possible now.

        Args:
            teams: those at the tables.

        Raises:
            IllegalCommand: ``clock_stopped``, ``not_paused``, ``unknown_target`` or ``wrong_state``.
        """
        shown = self.shown
        match command.do:
            case HostAction.PAUSE if self.paused:
                raise IllegalCommand("clock_stopped", "everything is paused already")
            case HostAction.RESUME if not self.paused:
                raise IllegalCommand("not_paused", "no break is on; resume one table without --all")
            case HostAction.START if shown.name and self.shown.phase_but_for_break not in (
                Phase.ARRIVALS,
                Phase.BETWEEN,
            ):
                text = f"the next round begins between two rounds; the phase is {shown.phase_but_for_break}"
                raise IllegalCommand("wrong_state", text)
            case HostAction.NEXT if shown.league_reports:
                raise IllegalCommand("wrong_state", f"{shown.name} is not over; finish ends it after its round")
            case HostAction.REMOVE if command.team not in {*teams, *(row.team for row in shown.rows)}:
                raise IllegalCommand("unknown_target", f"no team {command.team[:40]!r} is at a table or in the league")
            case HostAction.FINISH if shown.league_reports and shown.last:
                raise IllegalCommand("wrong_state", f"{shown.name} ends after round {shown.last} already")
            case HostAction.FINISH if self.shown.phase_but_for_break is Phase.OVER:
                raise IllegalCommand("wrong_state", "the evening is over; next opens the tables again")
            case _:
                pass

    def act(self, did: m.HostActed, now: int) -> None:
        """Take what a host has done at all tables."""
        shown = self.shown
        match did.do:
            case HostAction.PAUSE:
                self._change(now, resumes=shown.phase, phase=Phase.BREAK)
            case HostAction.RESUME:
                self._change(now, phase=self.shown.phase_but_for_break, resumes=None)
            case HostAction.START if shown.league_runs:
                self._change(now, began=shown.round + 1)
            case HostAction.REMOVE if shown.league_runs and did.team not in shown.withdrawn:
                self._change(now, withdrawn=(*shown.withdrawn, did.team))
            case HostAction.FINISH if shown.league_reports:
                self._change(now, last=max(1, shown.round))
            case HostAction.FINISH:
                self._enter(Phase.OVER, now)
            case HostAction.NEXT:
                self._change(now, silent=False, began=0, last=0, withdrawn=(), **_NO_LEAGUE)
                self._enter(Phase.FREE, now)
            case _:
                pass

    # --- changes ----------------------------------------------------------------------------------------------------

    def _enter(self, phase: Phase, now: int) -> None:
        if self.paused:
            self._change(now, resumes=phase)
        else:
            self._change(now, phase=phase)

    def _change(self, now: int, **changed: Any) -> None:
        following = replace(self.shown, **changed)
        following = replace(following, missing=self._missing(following))
        if following != self.shown:
            self.shown = replace(following, at=now)

    def _missing(self, shown: m.EveningShown) -> tuple[str, ...]:
        self._roster = self._of_roster()
        if not (shown.league_runs or shown.phase_but_for_break is Phase.ARRIVALS):
            return ()
        missing = tuple(sorted(self._roster.keys() - shown.badges.keys()))
        return missing if len(shown.badges) + len(missing) <= _MOST_TEAMS else ()


def _phase_of(league: m.LeagueShown) -> Phase:
    if league.over:
        return Phase.FINAL
    if not league.round:
        return Phase.ARRIVALS
    plays = any(len(match.teams) > 1 and not match.places for match in league.matches)
    return Phase.ROUND if plays else Phase.BETWEEN


def at_each(tables: Iterable[Table], did: m.HostActed, *, held: bool) -> list[tuple[Table, m.HostCommand]]:
    """Return what a host's command for all tables asks of each, where it can be done (SALVO-EVENING-3).

    Args:
        held: whether games begin by a league's command alone.
    """
    command = m.HostCommand(did.by, did.do, did.seconds, did.team, did.text)
    return [(table, command) for table in tables if _fits(table.referee, did, held=held)]


def _fits(referee: Referee, did: m.HostActed, *, held: bool) -> bool:
    stage, state = referee.stage, referee.state
    match did.do:
        case HostAction.PAUSE:
            return not stage.paused
        case HostAction.RESUME:
            return stage.paused
        case HostAction.EXTEND:
            return stage.deadline is not None
        case HostAction.ABORT:
            return state is m.State.TURN
        case HostAction.REMOVE:
            return state is not m.State.OVER and did.team in stage.standing
        case HostAction.START:
            return isinstance(stage, Lobby) and len(stage.complete) > 1 and not held
        case HostAction.NEXT:
            limits = referee.limits  # a lobby that a league has left is for its teams alone
            return state is m.State.OVER or (state is m.State.LOBBY and (limits.held or limits.by_host))
        case HostAction.ANNOUNCE:
            return True
        case _:
            return False
