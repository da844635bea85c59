"""A journal lets go of a game whose transcript and proof are written, and of nothing else that it has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kit.evening import Evening
from kit.filed_journals import FILED, LOBBY_FILED, PROOFS, check_kills, fill
from kit.journals import connection_of
from kit.proofs import IDENTITY
from kit.recovery import SEALERS
from kit.unbrokered import learn
from salvo import messages as m
from salvo.codec.command_writer import write_participation, write_placement
from salvo.messages import HostAction, State
from salvo.rules import generator, random_fleet
from salvo_display.replay import Replay
from salvo_game.journal_interface import (
    GameFiled,
    GameOpened,
    JournalUnavailable,
    SavedGame,
)
from salvo_game.recordings import open_recordings
from salvo_game.transcript import check, read_transcript
from salvo_server.storage.journal.database import DatabaseJournal, DatabaseReader
from salvo_server.storage.transcript_folder import TranscriptFolder


class FiledEvening(Evening):
    """Games on a small board, whose files are written as a server does it.

    Attributes:
        shots: the first one of each game, as it was sent.
    """

    def __init__(self, path: Path) -> None:
        self.shots: list[tuple[str, bytes]] = []
        super().__init__(path)
        self.folder = self.open_folder()

    def open_folder(self) -> TranscriptFolder:
        games = self.path.with_name("games")
        return TranscriptFolder(games, lambda *_: None, IDENTITY, lambda *game: self.journal.file(*game))

    def game_closed(self, game: SavedGame) -> None:
        self.folder.read_lobby(game)

    def begin_again(self) -> None:
        """End server and folder, start both, and wait until the folder has what the journal has."""
        self.folder.close()
        self.change()
        self.folder = self.open_folder()
        self.folder.complete(str(self.path)).result()

    def play_games(self, count: int) -> None:
        for _ in range(count):
            self.join()
            self.shots.append(self.shot(1, 1))
            self.wire.give(*self.shots[-1])
            self.run()
            self.play()
            number = self.table.referee.number
            self.folder.write(self.journal.game("", number), m.EveningShown())
            self.forget()
            self.let_go()

    def let_go(self) -> None:
        """Wait until the folder has done what it has to, and the broker has received all."""
        self.folder._thread.submit(lambda: None).result()
        self.wire.delivered = self.wire.published
        self.run()

    def host(self, do: HostAction, **arguments: Any) -> None:
        self.service.act("", m.HostCommand(m.TERMINAL_HOST, do, **arguments))
        self.run()

    def close_lobby(self) -> tuple[str, bytes]:
        """Let a team place a ship, and a host open the next lobby; return the placement as it was sent."""
        self.wire.give("/game/request_participation", write_participation("ann", "secret ann"))
        self.run()
        learn(self.service.gate, "ann", SEALERS["ann"])
        place = random_fleet(self.table.referee.book, generator("ann")).placements[0]
        placed = f"/players/ann/ships/{place.ship}/place", write_placement(place, SEALERS["ann"])
        self.wire.give(*placed)
        self.run()
        assert len(self.table.referee.players["ann"].placements) == 1
        self.host(HostAction.NEXT)
        self.let_go()
        return placed

    @property
    def filed(self) -> list[int]:
        """The games that are filed, in their order."""
        files = DatabaseReader(str(self.path)).files()
        return sorted(int(file.name.removeprefix("game-").removesuffix(".jsonl.gz")) for file in files.values())

    def numbers(self) -> list[int]:
        """The games and lobbies that the journal lists."""
        return [number for number, _ in self.counts()]

    def stored_steps(self, game: int) -> int:
        """How many steps the journal has of the game with an ``id``."""
        connection = connection_of(self.journal._journal)
        stored = connection.exec_driver_sql(f"SELECT count(*) FROM steps WHERE game = {game}").scalar()
        connection.commit()
        assert stored is not None
        return int(stored)

    def counts(self) -> list[tuple[int, int]]:
        """Number and steps of each game of the journal."""
        return [(game.number, steps) for game, steps in DatabaseReader(str(self.path)).games()]


@pytest.fixture
def evening(tmp_path: Path) -> Iterator[FiledEvening]:
    evening = FiledEvening(tmp_path / "a.journal")
    yield evening
    evening.folder.close()
    evening.journal.close()


def test_all_but_the_two_latest_games_of_a_table_are_filed_and_are_read_from_their_files(evening: FiledEvening) -> None:
    evening.play_games(2)
    assert evening.filed == []
    [first, *_], exports = open_recordings(str(evening.path)).summaries(), []
    exports.append(_exported(evening))
    evening.play_games(3)
    assert evening.filed == [1, 2, 3]
    games = open_recordings(str(evening.path))
    summaries = [*games.summaries()]
    assert summaries[0] == first
    assert [each.state for each in summaries] == [*[State.OVER] * 5, State.LOBBY]
    assert len([*games.check()]) == 6
    assert Replay(*open_recordings(str(evening.path), game=1).executed()).turns > 0
    exports.append(_exported(evening))
    assert exports[0] == exports[1]


def _exported(evening: FiledEvening) -> bytes:
    """Return the first game as it is exported from the journal."""
    path = evening.path.with_name("1.jsonl")
    steps = open_recordings(str(evening.path), game=1).export(path)
    assert check(read_transcript(path))[0] == steps
    return path.read_bytes()


def test_a_filed_game_whose_file_is_gone_is_named_and_the_others_are_still_listed(evening: FiledEvening) -> None:
    evening.play_games(4)
    file = evening.path.with_name("games") / "game-1.jsonl.gz"
    file.unlink()
    first, *others = open_recordings(str(evening.path)).summaries()
    assert first.state == "corrupt"
    assert first.trouble.startswith("transcript_missing: ")
    assert str(file) in first.trouble
    assert [(each.state, each.steps) for each in others][-1] == (State.LOBBY, 0)
    assert {each.trouble for each in others} == {""}


def test_a_restart_after_games_were_filed_knows_their_numbers_results_and_nonces(evening: FiledEvening) -> None:
    evening.play_games(4)
    last_step, results = evening.service.last_step, evening.journal.results()
    evening.begin_again()
    assert (evening.service.last_step, evening.journal.results()) == (last_step, results)
    assert [result.number for result in results] == [1, 2, 3, 4]
    assert evening.table.referee.number == 5
    evening.join()
    assert evening.filed == [1, 2, 3, 4]  # to begin again, no game before the lobby is needed
    game = evening.table.referee.game
    assert game is not None
    before = game.turn, game.shots_left
    for used in evening.shots:
        evening.wire.give(*used)
    evening.run()
    assert (game.turn, game.shots_left) == before
    counts = evening.service.gate.counts
    assert (counts["nonce_reused"], counts["duplicate"]) == (3, 1)  # the last one's message is still known, too


def test_of_a_filed_games_steps_the_journal_has_16_bytes_for_each_nonce(evening: FiledEvening) -> None:
    evening.play_games(3)
    connection = connection_of(evening.journal._journal)
    [(steps, nonces)] = connection.exec_driver_sql("SELECT steps, length(nonces) FROM filed").all()
    connection.commit()
    assert (evening.stored_steps(1), evening.counts()[0]) == (0, (1, steps))
    assert 0 < nonces <= 16 * steps


def test_a_game_is_filed_later_if_the_journal_cannot_be_written(evening: FiledEvening) -> None:
    evening.play_games(2)
    evening.path.rename(away := evening.path.with_name("away"))
    with pytest.raises(JournalUnavailable):
        evening.journal.commit([])
    away.rename(evening.path)
    assert evening.filed == []
    evening.journal.commit([])
    assert evening.filed == [1]


# --- lobbies without a game ---------------------------------------------------------------------------------------


def test_a_lobby_that_closed_before_a_game_began_is_filed_without_a_file_and_is_no_game(evening: FiledEvening) -> None:
    placed = evening.close_lobby()
    assert evening.counts()[0] == (1, 3)
    evening.play_games(2)
    assert evening.numbers() == [2, 3, 4]
    assert evening.stored_steps(1) == 0
    assert evening.filed == []
    evening.begin_again()
    evening.join()
    evening.wire.give(*placed)
    evening.run()
    assert evening.service.gate.counts["nonce_reused"] == 1
    assert [each.state for each in open_recordings(str(evening.path)).summaries()] == [
        State.OVER,
        State.OVER,
        State.TURN,
    ]


def test_a_lobby_in_which_a_result_was_annulled_stays_in_the_journal(evening: FiledEvening) -> None:
    evening.play_games(1)
    evening.host(HostAction.ANNUL, game=1)
    evening.close_lobby()
    evening.play_games(3)
    assert evening.filed == [1, 3]
    assert evening.numbers() == [1, 2, 3, 4, 5, 6]
    assert evening.stored_steps(2) == 4


def test_a_game_that_was_abandoned_stays_in_the_journal(evening: FiledEvening) -> None:
    evening.join()
    steps = evening.counts()[0][1]
    evening.restart("never")
    evening.play_games(2)
    evening.begin_again()
    evening.play_games(1)
    assert evening.filed == [2, 3]
    assert evening.counts()[0] == (1, steps)
    assert evening.stored_steps(1) == steps


def test_lobbies_that_a_server_was_killed_before_it_let_go_of_are_filed_by_the_next(evening: FiledEvening) -> None:
    evening.folder.read_lobby = lambda game: None  # type: ignore[method-assign]
    evening.close_lobby()
    evening.close_lobby()
    evening.begin_again()
    assert evening.numbers() == [1, 2, 3]
    evening.play_games(1)
    assert evening.numbers() == [3, 4]


def test_a_lobby_that_was_open_when_a_server_started_stays_if_a_game_begins_in_it(evening: FiledEvening) -> None:
    evening.wire.give("/game/request_participation", write_participation("ann", "secret ann"))
    evening.run()
    evening.begin_again()
    evening.join("bob")
    evening.join("ann")
    assert evening.table.referee.state is State.TURN
    steps = evening.counts()[0][1]
    evening.service.pending += evening.service.play.give_up(evening.table, "its teams have more of it", evening.now)
    evening.run()
    evening.let_go()
    evening.play_games(2)
    assert evening.numbers()[0] == 1
    assert evening.stored_steps(1) == steps


# --- the database -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("filing", "given", "steps"),
    [
        (FILED, {"over": True}, 0),
        (FILED, {"over": False}, 8),
        (FILED, {"over": True, "sent_through": 7}, 8),
        (LOBBY_FILED, {"over": False}, 0),
        (LOBBY_FILED, {"over": True}, 8),
        (LOBBY_FILED, {"over": False, "sent_through": 7}, 8),
    ],
)
def test_only_a_game_that_is_over_or_never_began_and_that_is_sent_is_filed(
    filing: GameFiled, given: dict[str, Any], steps: int, tmp_path: Path
) -> None:
    journal = fill(DatabaseJournal(str(tmp_path / "a.journal")), **given)
    for _ in range(2):
        journal.commit([filing])
        reader = DatabaseReader(journal.name)
        listed = [count for _, count in reader.games()]
        assert listed == ([0] if filing.file is None and not steps else [8, 0])
        assert len(reader.saved(GameOpened(1, "", 1, 1000, "{}")).steps) == steps
        assert reader.files() == ({1: Path(str(FILED.file))} if filing.file is not None and not steps else {})
        saved = journal.load()
        assert saved.last_step == 8
        assert b"".join(saved.burned_before) == b"".join(proof.nonce for proof in PROOFS)
    journal.close()


@pytest.mark.long
@pytest.mark.parametrize("filing", [FILED, LOBBY_FILED])
def test_a_server_that_is_killed_while_it_files_a_game_has_all_of_it(filing: GameFiled, tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    fill(DatabaseJournal(str(path)), over=filing is FILED).close()
    check_kills(str(path), tmp_path / "a.journal.key", filing)
