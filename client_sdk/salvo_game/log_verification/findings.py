"""The findings about a proof file: its games, what is wrong, and who is at fault."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple, NoReturn

from salvo import messages as m
from salvo.codec.header import Header
from salvo.codec.log import Entry, LogEnd, LogStep, Opening
from salvo.codec.log_reader import Fault
from salvo.errors import SalvoError
from salvo.join.fairness.proof import SentBody, has_begun
from salvo.wire import topics
from salvo_game.table_step import Step

#: How people read whose fault it is.
BLAME: Final = {
    Fault.FILE: "the file was changed",
    Fault.SERVER: "the server cheated",
    Fault.FORKED: "the server contradicts itself",
    Fault.INCOMPLETE: "the file is incomplete",
    Fault.UNDECIDED: "log and notes do not fit, and the notes are unsigned",
    Fault.STRANGER: "another server signed it",
    Fault.LATER: "a later version of Salvo wrote it",
    Fault.NO_PROOF: "this is not a proof",
}
#: Of these nothing is known about the game; the others are reproaches.
UNPROVEN: Final = frozenset(set(Fault) - {Fault.FILE, Fault.SERVER, Fault.FORKED})


class LogVerdict(StrEnum):
    """What is to be said of one game."""

    FAIR = "fair"
    UNDER_WAY = "under way"
    NOT_BEGUN = "not begun"
    NOT_FAIR = "not fair"
    NOT_PROVEN = "not proven"


class ProofError(SalvoError):
    """A file that cannot be read at all."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong.

    Attributes:
        line: the first bad one, from 1; the next one when the file ends too early.
    """

    file: str
    line: int
    fault: Fault
    text: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {BLAME[self.fault]}: {self.text}"


class Wrong(Exception):
    """Ends a check; the file's name is known further out.

    Attributes:
        of: the game that it is about, as far as it is known.
    """

    def __init__(self, line: int, fault: Fault, text: str, of: str = "") -> None:
        super().__init__(text)
        self.line, self.fault, self.text, self.of = line, fault, text, of


class LoggedLine(NamedTuple):
    """An entry and its place."""

    number: int
    text: bytes
    entry: Entry


def blame_server(line: LoggedLine, text: str) -> NoReturn:
    """Say that the server has signed what is not so."""
    raise Wrong(line.number, Fault.SERVER, text)


@dataclass(slots=True)
class LoggedGame:
    """One game of a file.

    Attributes:
        of: stands for it (SALVO-LOG-4).
        lines: its entries in their order, each once.
        steps: executed again; empty when something is wrong.
        header: the rules and seed it was played by, once that is revealed.
        finding: what is wrong with it first; None when nothing is.
    """

    of: str
    opening: Opening
    lines: list[LoggedLine] = field(default_factory=list)
    header: Header | None = None
    steps: list[Step] = field(default_factory=list)
    finding: Finding | None = None

    @property
    def verdict(self) -> LogVerdict:
        """What is to be said of it, once everything is checked."""
        if self.finding is not None:
            return LogVerdict.NOT_PROVEN if self.finding.fault in UNPROVEN else LogVerdict.NOT_FAIR
        if self.ended:
            return LogVerdict.FAIR
        return LogVerdict.UNDER_WAY if has_begun(self.published_steps) else LogVerdict.NOT_BEGUN

    @property
    def published_steps(self) -> list[LogStep]:
        """The public steps."""
        return [line.entry.body for line in self.lines if isinstance(line.entry.body, LogStep)]

    @property
    def announcements(self) -> Iterable[m.Announcement]:
        """All public announcements."""
        return (each for step in self.published_steps for each in step.announcements)

    @property
    def ended(self) -> bool:
        """Whether the last entry is there."""
        return any(isinstance(line.entry.body, LogEnd) for line in self.lines)

    @property
    def won(self) -> m.GameWon | None:
        """How the game has ended; None while it goes on."""
        return next((each for each in self.announcements if isinstance(each, m.GameWon)), None)

    @property
    def winner(self) -> str:
        """Who won, after a tie all of them; empty while there is no winner, and of an aborted game."""
        return " and ".join(self.won.winners) if self.won is not None else ""

    @property
    def annulled(self) -> list[m.HostActed]:
        """What hosts have annulled in it, of earlier games (SALVO-STAND-4)."""
        acts = [each for each in self.announcements if isinstance(each, m.HostActed)]
        return [act for act in acts if act.do is m.HostAction.ANNUL]

    @property
    def players(self) -> tuple[str, ...]:
        """Who takes part, by the last list."""
        lists = [each.names for each in self.announcements if isinstance(each, m.PlayersListed)]
        return lists[-1] if lists else ()

    def __str__(self) -> str:
        table = self.opening.table
        return f"game {self.opening.game}" + (f" of table {table}" if table else "")


class Sent(NamedTuple):
    """A command of the file's team, as the team noted it.

    Attributes:
        message: the digest of a placement's message, which the log has, too; empty for the others.
        body: the open body of a shot or a skip; None for a placement.
    """

    line: int
    team: str
    address: topics.Address
    message: bytes
    body: SentBody | None


class Loose(NamedTuple):
    """An entry without the opening of its game, which names who must have signed it."""

    number: int
    payload: bytes


@dataclass(slots=True)
class ProofReport:
    """What is to be said of a file.

    Attributes:
        key: the server's; None when not even the first line holds.
        aside: games with gaps that are not the file's to prove: a lobby in which no game begins, or others play.
        loose: entries of games that have no opening in the file.
        sent: what the file's team sent, as it noted it.
        finding: what is wrong first, in a game or anywhere; None when all is well.
        stray: what is wrong first of what belongs to no game of the file; None when nothing is.
        remarks: what is not a fault, but worth knowing.
    """

    file: str
    key: bytes | None = None
    games: list[LoggedGame] = field(default_factory=list)
    aside: list[LoggedGame] = field(default_factory=list)
    loose: list[Loose] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    finding: Finding | None = None
    stray: Finding | None = None
    remarks: list[str] = field(default_factory=list)

    @property
    def games_read(self) -> list[LoggedGame]:
        """All games whose opening is in the file."""
        return [*self.games, *self.aside]


def remarks_on(report: ProofReport, game: LoggedGame) -> list[str]:
    """Return what an operator may do by the rules, and others may want to know."""
    annulled = [f"in {game} {each.who} annulled the result of game {each.game}" for each in game.annulled]
    if game.ended:
        return [*_struck_off(game), *_begun_anew(game), *annulled]
    if annulled:
        return annulled
    return [_not_begun(report, game)] if game.published_steps and game.verdict is LogVerdict.NOT_BEGUN else []


def _struck_off(game: LoggedGame) -> list[str]:
    """Return the players that the operator removed: no rule forbids it, but it may change who begins."""
    struck = [step.command.name for step in game.published_steps if isinstance(step.command, m.StruckOff)]
    names = ", ".join(dict.fromkeys(struck))
    return [f"before {game} began the operator struck off {names}"] if struck else []


def _begun_anew(game: LoggedGame) -> list[str]:
    """Return whose turns had more time than others: no rule forbids a server to have been away."""
    names = [each.player for each in game.announcements if isinstance(each, m.TurnResumed)]
    restarted = ", ".join(f"{name} {names.count(name)}" for name in dict.fromkeys(names))
    text = f"in {game} the time of turns was restarted, as it is when server or broker were away: {restarted}"
    return [text] if names else []


def _not_begun(report: ProofReport, game: LoggedGame) -> str:
    """Report a lobby without a game: with its secret and some placements a server may foresee who begins."""
    text = f"{game} has not begun"
    placed = sum(bool(step.message) for step in game.published_steps)
    later = any(other.opening.table == game.opening.table for other in report.games[report.games.index(game) + 1 :])
    if not later or not placed:
        return text
    return f"{text}: the server gave it up after {placed} placements and opened another one, with another secret"
