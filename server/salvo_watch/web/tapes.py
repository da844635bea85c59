"""Games that are over, as tapes: each follows its record exactly, and is edited for people.

A tape is made from the game's signed log, which reveals the fleets at its end (SALVO-LOG-7), or from its recording. It
is cut at every salvo. A salvo without a hit runs by, a sinking is slow, and the decisive salvo is slower.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from salvo import messages as m
from salvo.codec.header import Header
from salvo.codec.log import END, HEAD, MIDDLE, OF_BYTES, entry_digest
from salvo.messages import State
from salvo.table_state import TableChange
from salvo_game.log import is_public
from salvo_game.log_verification import verify_lines
from salvo_game.table_step import Step
from salvo_server.spectators.referee_view import BoardSnapshots
from salvo_watch.web.screen import Scene
from salvo_watch.web.tables import Arrived, ShownTable

#: Of the logs of all games in play together; on an open broker any client may publish some.
MAX_LOG_BYTES: Final = 128 * 1024 * 1024
#: How long a cut stays on the screen, ms: the fleets before the first salvo, then salvos by what they did.
FLEETS_MS: Final = 2500
MISSED_MS: Final = 150
HIT_MS: Final = 1100
SUNK_MS: Final = 2800
DEFEATED_MS: Final = 3500
DECISIVE_MS: Final = 5000
#: A tape takes no longer than these, nor than its game if that is longer than the first: the next one is waiting.
SHORT_TAPE_MS: Final = 20_000
MAX_TAPE_MS: Final = 75_000
#: The payload of an entry up to its kind (SALVO-LOG-1, SALVO-LOG-3).
_ENTRY: Final = re.compile(
    rb'\{"entry":\{"n":([0-9]{1,9}),(?:"of":"([0-9a-f]{16})",)?"prev":"[0-9a-f]{0,64}",'
    rb'(?:"open":\{"log":[0-9]{1,9},"game":([0-9]{1,9}),|"(step|reveal|end)":)'
)
_SIGNATURE_BYTES: Final = len(MIDDLE) + 88 + len(END)


@dataclass
class TapeLog:
    """What has been received of one game's log.

    Attributes:
        of: the digest of its opening, which every later entry has (SALVO-LOG-4).
        game: its number.
        entries: payloads, by the number of their entry.
    """

    of: bytes
    game: int
    entries: dict[int, bytes] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether nothing is missing so far."""
        return len(self.entries) == max(self.entries) + 1

    @property
    def payloads(self) -> list[bytes]:
        """The payloads in order."""
        return [self.entries[number] for number in sorted(self.entries)]


class Logs:
    """The logs of the games in play, by table. Nothing of them is read before the game is over."""

    def __init__(self, most_bytes: int = MAX_LOG_BYTES) -> None:
        """Begin without a game.

        Args:
            most_bytes: of all logs together; what is beyond is left out, and with it the tape of its game.
        """
        self._logs: dict[str, TapeLog] = {}
        self._room = most_bytes

    def add(self, place: str, payload: bytes) -> TapeLog | None:
        """Note a payload of ``/game/log``; return the log if the game ends with it, and nothing is missing."""
        entry = _ENTRY.match(payload)
        if entry is None:
            return None
        number, of, game, kind = int(entry[1]), entry[2], entry[3], entry[4]
        if game is not None:
            of = entry_digest(payload[len(HEAD) : -_SIGNATURE_BYTES])[:OF_BYTES].hex().encode()
            if place not in self._logs or self._logs[place].of != of:
                self.forget(place)
                self._logs[place] = TapeLog(of, int(game))
        log = self._logs.get(place)
        if log is None or of != log.of or number in log.entries:
            return None
        if len(payload) > self._room:
            self.forget(place)
            return None
        self._room -= len(payload)
        log.entries[number] = payload
        if kind != b"end":
            return None
        self.forget(place)
        return log if log.whole else None

    def whole(self, place: str) -> bool:
        """Whether nothing is missing so far of the log of a table's game."""
        return place in self._logs and self._logs[place].whole

    def forget(self, place: str) -> None:
        """Forget a table's game."""
        log = self._logs.pop(place, None)
        if log is not None:
            self._room += sum(map(len, log.entries.values()))


class TapeCut(NamedTuple):
    """A piece of a tape.

    Attributes:
        at: when it happened, epoch ms.
        news: what a table receives for it.
        ms: how long it stays on the screen.
    """

    at: int
    news: tuple[TableChange, ...]
    ms: int


@dataclass(frozen=True, eq=False)
class Tape:
    """A game that is over.

    Attributes:
        table: where it was played; empty for the default table.
        ended: when, epoch ms.
        cuts: in order; the last one is the end.
        thrill: how much happened: each change of the lead, each ship that the winner lost, and three for last ships
            that faced each other.
        teams: who played.
    """

    table: str
    game: int
    ended: int
    cuts: Sequence[TapeCut]
    thrill: int
    teams: frozenset[str] = frozenset()

    @property
    def ms(self) -> int:
        """How long it takes."""
        return sum(cut.ms for cut in self.cuts)


def tape_of_log(payloads: Iterable[bytes]) -> Tape | None:
    """Return the tape of a game's whole log; None if the log does not prove its game, which then has no tape."""
    report = verify_lines(iter([payload + b"\n" for payload in payloads]), "the log")
    for game in report.games:
        if game.ended and game.finding is None and game.header is not None:
            return tape_of(game.header, game.steps)
    return None


def tape_of(header: Header, steps: Iterable[Step]) -> Tape | None:
    """Return the tape of a game; None for one that is not over, or was aborted before it had begun."""
    cuts = list(_cut(header, steps))
    if not cuts or not any(isinstance(news, m.GameWon) for news in cuts[-1].news):
        return None
    views = [news for cut in cuts for news in cut.news if isinstance(news, m.RefereeView)]
    if not views:
        return None
    paced = _paced(cuts)
    teams = frozenset(board.player for board in views[0].boards)
    return Tape(header.rules.table, header.game, cuts[-1].at, paced, _thrill(views), teams)


def _cut(header: Header, steps: Iterable[Step]) -> Iterator[TapeCut]:
    """Yield the game's cuts, without a length: its beginning, every salvo with the boards after it, and its end."""
    snapshots = BoardSnapshots(header)
    # From the lobby on, so that a table that receives it reports the beginning, too.
    pending: list[TableChange] = [m.StateChanged(State.LOBBY), m.TableOpened(header.game), header.rules]
    for step in steps:
        views = list(snapshots.follow(step))
        for announcement in filter(is_public, step.announcements):
            if isinstance(announcement, m.TableReset):
                return
            pending.append(announcement)
            if isinstance(announcement, m.SalvoResolved) and views:
                # Who has won is not part of the boards yet: the decisive salvo is seen first.
                yield TapeCut(step.at, (*pending, replace(views.pop(0), winner="", tied=())), 0)
                pending.clear()
            if isinstance(announcement, m.StateChanged) and announcement.state is State.OVER:
                yield TapeCut(step.at, tuple(pending), 0)
                return
        if views:
            yield TapeCut(step.at, (*pending, *views), 0)
            pending.clear()


def _paced(cuts: Sequence[TapeCut]) -> list[TapeCut]:
    """Give every cut its length, by what matters about its salvo."""
    lengths: list[int] = []
    table = ShownTable("", boards=True)
    for cut in cuts[:-1]:
        for news in cut.news:
            table.receive(Arrived(news), cut.at / 1000)
        salvo = any(isinstance(news, m.SalvoResolved) for news in cut.news)
        lengths.append(_length(table.screen.scene) if salvo else FLEETS_MS)
    if lengths and lengths[-1] != FLEETS_MS:
        lengths[-1] = DECISIVE_MS
    most = min(MAX_TAPE_MS, max(SHORT_TAPE_MS, cuts[-1].at - cuts[0].at))
    faster = min(1.0, most / max(1, sum(lengths)))
    return [cut._replace(ms=int(ms * faster)) for cut, ms in zip(cuts, [*lengths, 0], strict=True)]


def _length(scene: Scene) -> int:
    if scene.salvo is None:
        return FLEETS_MS
    if scene.salvo.defeated:
        return DEFEATED_MS
    if scene.moments:
        return SUNK_MS
    return HIT_MS if scene.salvo.hits else MISSED_MS


def _afloat(view: m.RefereeView) -> dict[str, int]:
    """Return how many ships each player has afloat (SALVO-VIEW-5)."""
    return {
        board.player: 0 if board.out else len({cell for row in board.rows for cell in row if cell.islower()})
        for board in view.boards
    }


def _thrill(views: Sequence[m.RefereeView]) -> int:
    changes, leader, last_ships = 0, "", 0
    for view in views:
        afloat = _afloat(view)
        if sorted(afloat.values())[-2:] == [1, 1]:
            last_ships = 3
        first = [name for name, ships in afloat.items() if ships == max(afloat.values())]
        if len(first) == 1 and first[0] != leader:
            changes, leader = changes + bool(leader), first[0]
    most, left = max(_afloat(views[0]).values()), max(_afloat(views[-1]).values())
    return changes + most - left + last_ships
