"""Games, restarts and annulments in any order: the journal, the signed logs and what is published say the same."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kit.evening import Evening
from kit.proofs import IDENTITY, entries_of
from salvo import messages as m
from salvo.codec.announcements import STANDINGS
from salvo.codec.log import END, HEAD, MIDDLE, OF_BYTES, entry_digest
from salvo.join.fairness.proof import PROOF
from salvo.messages import Limits
from salvo_game.journal_interface import Result, ResultAnnulled, when
from salvo_game.log_verification import verify_file
from salvo_game.standings.chronicle import EVENING_GAP_MS, Chronicle
from salvo_game.standings.from_logs import read_logs
from salvo_server.commands.serve_report import ServeReport
from salvo_server.service import Service
from salvo_server.spectators.live_standings import CountedJournal, LiveStandings
from salvo_server.storage.journal.database import DatabaseJournal
from salvo_server.storage.transcript_folder import TranscriptFolder

_SIGNATURE_BYTES = len(MIDDLE) + 88 + len(END)
TABLES = st.sampled_from(["", "blue", "red"])
TEAMS = [f"team{number}" for number in range(6)]


@st.composite
def results(draw: st.DrawFn) -> Result:
    teams = draw(st.lists(st.sampled_from(TEAMS), min_size=2, max_size=5, unique=True))
    places = sorted(draw(st.integers(1, len(teams))) for _ in teams)
    places = [1 + places.index(place) for place in places]
    players = tuple(m.PlayerStats(name, 20, 20 - place, 1, 5, place) for name, place in zip(teams, places, strict=True))
    at = draw(st.integers(0, 30)) * (EVENING_GAP_MS // 4) + draw(st.integers(0, 2))
    return Result(draw(TABLES), draw(st.integers(1, 30)), at, "salvo", players, draw(st.integers(0, 7)) == 0)


@st.composite
def contests(draw: st.DrawFn) -> list[Result | ResultAnnulled]:
    """Results in the order of their ends, and annulments of these and others between them."""
    found = draw(st.lists(results(), max_size=12, unique_by=lambda each: (each.table, each.number)))
    records: list[Result | ResultAnnulled] = [*sorted(found, key=when)]
    for _ in range(draw(st.integers(0, 4))):
        place = draw(st.integers(0, len(records)))
        now = max((each.at for each in records[:place]), default=0)
        meant = draw(st.sampled_from(found)) if found else None
        number = meant.number if meant is not None else 1
        table = meant.table if meant is not None else draw(TABLES)
        records.insert(place, ResultAnnulled(table, number, draw(st.sampled_from(["desk", "jury"])), now))
    return records


def followed(records: list[Result | ResultAnnulled], chronicle: Chronicle) -> Chronicle:
    for record in records:
        if isinstance(record, Result):
            chronicle.add(record)
        else:
            chronicle.annul(record)
    return chronicle


@given(contests(), st.integers(0, 16), st.booleans())
@settings(deadline=None, max_examples=40)
def test_wherever_a_server_starts_again_the_standings_go_on(
    records: list[Result | ResultAnnulled], place: int, looks: bool
) -> None:
    before = followed(records[:place], Chronicle())
    if looks:
        before.shown()
    again = followed(records[place:], Chronicle(before.results))
    assert again.shown() == followed(records, Chronicle()).shown()
    counted = again.shown().overall
    points = sum(len(each.players) / 2 for each in again.results if each.counts)
    assert sum(row.points for row in counted.rows) == pytest.approx(1000 * points, abs=len(counted.rows))
    assert sum(row.wins + row.ties + row.losses for row in counted.rows) == sum(row.games for row in counted.rows)


class Contest(Evening):
    """Games on a small board; the standings are published, and every game is written to a folder.

    Attributes:
        woken: set when there are standings to publish.
        report: writes the games; None for a server that dies before it does.
    """

    seed = None

    def __init__(self, path: Path) -> None:
        self.woken = threading.Event()
        self.live: LiveStandings | None = None
        self.report: ServeReport | None = None
        self.folder = path.with_name("games")
        super().__init__(path, limits=Limits(players=2, over_ms=1000))

    def open_service(self, **given: Any) -> Service:
        self.close()
        self.live = LiveStandings(self.journal, "", self.woken.set)
        self.journal = CountedJournal(self.journal, self.live)
        self.report = ServeReport(True, None)
        self.service = super().open_service(follower=self.live, listener=self._received, **given)
        self.report.contest, self.report.games_in_play = self, self.journal  # type: ignore[assignment]
        self.report.folder = TranscriptFolder(self.folder, lambda game, file: None, IDENTITY)
        self.report.report_resumed_games()
        return self.service

    def _received(self, *news: Any) -> None:
        if self.report is not None:
            self.report(*news)

    def close(self) -> None:
        if self.live is not None:
            self.live.close()
        if self.report is not None and self.report.folder is not None:
            self.report.folder.close()

    def write_no_more(self) -> None:
        """Finish the files of what has been played, and write none of what comes."""
        assert self.report is not None
        assert self.report.folder is not None
        self.report.folder.close()
        self.report = None

    def annul(self) -> None:
        """Let the host annul the last game at the table."""
        ended = self.journal.results()
        self.host(m.HostAction.ANNUL, game=ended[-1].number if ended else 1)

    def host(self, do: m.HostAction, **argument: Any) -> None:
        """Let the host act."""
        command = m.HostCommand("desk", do, **argument)
        self.service.pending += self.service.play.carry_out(self.table, command, self.now)[1]
        self.run()

    def published(self) -> m.StandingsShown | None:
        """Wait until what is published is of all results, and return it."""
        wanted = Chronicle(self.journal.results())
        if not wanted.results:
            return None
        while (shown := self.wire.retained.get("/game/standings")) is None or STANDINGS.read(shown) != wanted.shown():
            assert self.woken.wait(60), (shown, wanted.shown())
            self.woken.clear()
            self.run()
        return wanted.shown()

    def write_logs(self, folder: Path) -> list[Path]:
        """Write the log of each game to its own file, each entry as often as it was said."""
        files: dict[Path, list[bytes]] = {}
        paths: dict[str, Path] = {}  # by the opening, which the end of a game that was published again comes without
        for payload in self.received:
            [entry] = entries_of([payload + b"\n"])
            of = entry.get("of") or entry_digest(payload[len(HEAD) : -_SIGNATURE_BYTES])[:OF_BYTES].hex()
            if entry["n"] == 0:
                paths[of] = folder / f"{entry['open']['game']}.proof.jsonl"
            files.setdefault(paths[of], []).append(payload + b"\n")
        for path, lines in files.items():
            path.write_bytes(b"".join(lines))
        return list(files)


#: What goes on at the table; "abandon" is a server that does not resume the lobby.
ACTIONS = st.lists(
    st.sampled_from(["play", "play", "restart", "restart in mid-game", "annul", "die", "next", "abandon", "sleep"]),
    max_size=7,
)


@pytest.mark.long
@given(actions=ACTIONS)
@example(actions=["play", "annul", "die"])
@example(actions=["restart in mid-game", "restart in mid-game"])
@settings(deadline=None, max_examples=10)
def test_journal_signed_logs_and_standings_topic_agree(
    actions: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("contest")
    contest = Contest(folder / "a.journal")
    try:
        for action in actions:
            match action:
                case "play":
                    contest.join()
                    contest.play()
                    contest.forget()
                case "restart":
                    contest.restart(away=100)
                case "restart in mid-game":
                    contest.join()
                    contest.turn()
                    contest.restart(away=100)
                    contest.play()
                    contest.restart(away=100)
                    contest.forget()
                case "annul":
                    contest.annul()
                case "die":  # after the commit, and before any file is written
                    contest.write_no_more()
                    contest.annul()
                    contest.restart(away=100)
                case "next":
                    contest.host(m.HostAction.NEXT)
                case "abandon":
                    contest.restart("never", away=100)
                case "sleep":
                    contest.now += EVENING_GAP_MS
        shown = contest.published()
        games = actions.count("play") + actions.count("restart in mid-game")
        stored = contest.journal.results()
        assert len(stored) == games
        contest.close()
        if games:
            for logs in (contest.write_logs(folder), sorted(contest.folder.glob(f"*{PROOF}"))):
                chronicle, findings = read_logs(logs)
                assert findings == []
                assert chronicle.results == stored
                assert chronicle.shown() == shown
            assert [verify_file(path).finding for path in contest.folder.glob(f"*{PROOF}")] == [None] * len(logs)
    finally:
        contest.close()
        contest.journal.close()
    again = DatabaseJournal(str(folder / "a.journal"))
    assert again.results() == stored
    again.close()
