"""A server never signs a second history of a game: what the journal has lost is noticed, and the game given up."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kit.proofs import IDENTITY
from kit.recovery import LoggedWorld
from salvo.codec.log import Opening
from salvo.codec.log_reader import Fault, read_signed
from salvo.messages import State
from salvo.net.inbound import Inbound
from salvo_game.log_verification import compare_stories, verify_lines
from salvo_server.storage.journal.database import DatabaseJournal, copy_journal
from salvo_server.storage.journal.losses import COPY

_FILES = ("", "-wal", "-shm")


class Crashing(LoggedWorld):
    """A server that is killed: its files are those of that moment, and what a test makes of them."""

    power_safe = False

    def files(self) -> dict[str, bytes]:
        paths = {name: Path(f"{self.path}{name}") for name in _FILES}
        return {name: path.read_bytes() for name, path in paths.items() if path.exists()}

    def crash(self, files: dict[str, bytes], boot: str | None = None, resume: Any = "crash") -> None:
        """Kill the server, and start one that finds these files, on another boot if one is named."""
        self.journal.close()
        for name in _FILES:
            Path(f"{self.path}{name}").unlink(missing_ok=True)
        for name, content in files.items():
            Path(f"{self.path}{name}").write_bytes(content)
        if boot is not None:
            with contextlib.closing(sqlite3.connect(self.path)) as database, database:
                database.execute("UPDATE progress SET relied_on = ? WHERE relied_on IS NOT NULL", [boot])
        self.journal = DatabaseJournal(str(self.path), power_safe=self.power_safe)
        self.wire.retained, retained = {}, self.wire.retained
        self.wire = type(self.wire)()
        self.wire.retained = retained
        self.service = self.open_service(resume=resume)

    def forget_broker(self) -> None:
        """Lose all that the broker has: the embedded one ends with its server."""
        self.wire.retained = {}

    def ask(self, name: str, first: int, **sender: Any) -> None:
        self.wire.inbox.append(Inbound(f"/players/{name}/resend", b'{"log":%d}' % first, False, 1, 1, **sender))
        self.run()

    @property
    def announced(self) -> str:
        """What a host has announced; empty if nothing."""
        hosted = self.wire.retained.get("/game/hosted")
        return json.loads(hosted)["text"] if hosted else ""

    def openings(self) -> list[tuple[int, str]]:
        """The games that were opened, by number and commitment, each once."""
        entries = (read_signed(payload, IDENTITY.signing_key)[1] for payload in self.received)
        opened = (entry.body for entry in entries if isinstance(entry.body, Opening))
        return list(dict.fromkeys((each.game, each.seed.hex()) for each in opened))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Crashing]:
    world = Crashing(tmp_path / "a.journal")
    yield world
    world.journal.close()


def one_history(world: Crashing) -> None:
    """Check that nothing that was signed contradicts anything else."""
    report = verify_lines(iter([payload + b"\n" for payload in world.received]), "proof")
    assert report.finding is None or report.finding.fault is Fault.INCOMPLETE, report.finding


def truncated(files: dict[str, bytes], early: dict[str, bytes]) -> dict[str, bytes]:
    return files | {"-wal": files["-wal"][: len(early["-wal"])]}


def garbled(files: dict[str, bytes], early: dict[str, bytes]) -> dict[str, bytes]:
    wal = bytearray(files["-wal"])
    wal[len(early["-wal"]) + 100] ^= 0xFF
    return files | {"-wal": bytes(wal)}


def emptied(files: dict[str, bytes], early: dict[str, bytes]) -> dict[str, bytes]:
    return files | {"-wal": b""}


def played(world: Crashing) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Play some turns; return the journal's files in mid-game, and later."""
    world.join()
    world.fire(3)
    early = world.files()
    world.fire(4)
    return early, world.files()


# --- what is noticed ----------------------------------------------------------------------------------------------


def test_a_game_goes_on_after_the_end_of_its_process(world: Crashing) -> None:
    _, late = played(world)
    steps = world.table.steps
    world.forget_broker()
    world.crash(late)
    assert world.table.referee.number == 1
    assert world.table.steps == steps + 1  # its time was restarted
    one_history(world)


def test_a_game_whose_journal_was_not_safe_is_given_up_on_another_boot(world: Crashing) -> None:
    early, _ = played(world)
    world.forget_broker()
    world.crash({name: early[name] for name in ("", "-wal")}, "another boot")
    assert (world.table.referee.number, world.table.referee.state) == (2, State.LOBBY)
    assert world.announced.startswith("game 1 does not resume: the machine or the database has started again")
    world.crash(world.files())  # what follows is the journal of this boot
    assert world.table.referee.number == 2
    world.join()
    world.fire(1)
    one_history(world)


def test_nothing_but_a_backup_overrules_that_a_game_is_given_up(world: Crashing) -> None:
    early, _ = played(world)
    world.crash(early, "another boot", "always")
    assert world.table.referee.number == 2


def test_a_game_whose_journal_was_safe_goes_on_on_another_boot(world: Crashing) -> None:
    played(world)
    world.power_safe = True
    world.crash(world.files())
    world.fire(1)
    world.crash(world.files(), "another boot")
    assert world.table.referee.number == 1
    one_history(world)


def test_a_game_of_a_server_that_has_ended_goes_on_on_another_boot(world: Crashing) -> None:
    played(world)
    world.service.go_offline()
    world.crash(world.files(), "another boot", "always")
    assert world.table.referee.number == 1


@pytest.mark.parametrize("damage", [truncated, garbled, emptied])
@pytest.mark.parametrize("safe", [True, False])
def test_a_write_ahead_log_that_lacks_commits_gives_the_game_up(
    world: Crashing, damage: Callable[..., dict[str, bytes]], safe: bool
) -> None:
    world.power_safe = safe
    world.crash(world.files())
    early, late = played(world)
    if damage is emptied:  # the database has the opening, and some shots are in the log alone
        with contextlib.closing(sqlite3.connect(world.path)) as other:
            other.execute("PRAGMA wal_checkpoint(RESTART)")
        world.fire(3)
        late = world.files()
    world.forget_broker()
    world.crash(damage(late, early))
    assert world.announced == "game 1 does not resume: the end of its journal is lost"
    one_history(world)


def test_that_the_log_lacks_commits_is_known_until_the_game_is_given_up(world: Crashing) -> None:
    early, late = played(world)
    world.journal.close()
    for name, content in truncated(late, early).items():
        Path(f"{world.path}{name}").write_bytes(content)
    DatabaseJournal(str(world.path)).close()  # a server that fails before it does anything
    with contextlib.closing(DatabaseJournal(str(world.path))) as journal:
        assert journal.load().behind


def test_a_lobby_without_teams_gets_another_secret(world: Crashing) -> None:
    """Teams may have come since: with its old secret it would be the same game once more."""
    world.crash(world.files(), "another boot")
    [(first, commitment), (second, another)] = world.openings()
    assert (first, second) == (1, 2)
    assert commitment != another
    assert not world.announced


def test_a_lobby_of_a_backup_gets_another_secret(world: Crashing, tmp_path: Path) -> None:
    content, running = copy_journal(world.path)
    assert running
    world.join()
    world.crash({"": content})
    [(first, _), (second, _)] = world.openings()
    assert (first, second) == (1, 2)


def test_the_copy_of_a_journal_of_this_boot_needs_no_boot(world: Crashing, tmp_path: Path) -> None:
    played(world)
    for name, content in world.files().items():
        (tmp_path / f"killed{name}").write_bytes(content)
    shutil.copy(f"{world.path}.key", tmp_path / "killed.key")
    for path, expected in ((tmp_path / "killed", None), (world.path, COPY)):
        copy = tmp_path / "copy"
        copy.write_bytes(copy_journal(path)[0])
        with contextlib.closing(sqlite3.connect(copy)) as database:
            assert database.execute("SELECT relied_on FROM progress").fetchall() == [(expected,)]


# --- what others have ---------------------------------------------------------------------------------------------


def test_a_broker_that_has_a_later_turn_gives_the_game_up_before_anything_is_signed(world: Crashing) -> None:
    world.join()
    world.fire(3)
    early = world.files()
    world.fire(9)
    signed = len(world.received)
    world.crash({name: early[name] for name in ("", "-wal")})
    assert world.announced.startswith("game 1 does not resume: the broker has more of it than the journal")
    assert (world.table.referee.number, world.table.referee.state) == (2, State.LOBBY)
    assert json.loads(world.wire.retained["/game/server"])["game"] == 2
    assert not world.wire.retained["/game/turn"]
    assert isinstance(read_signed(world.received[signed], None)[1].body, Opening)
    one_history(world)
    world.join()
    world.fire(1)
    one_history(world)


def test_a_broker_that_has_what_the_journal_has_lets_the_game_go_on(world: Crashing) -> None:
    played(world)
    world.crash(world.files())
    assert world.table.referee.number == 1
    assert [topic for topic, _ in world.wire.announced].count("/game/server") == 1


def test_a_broker_that_never_answers_lets_the_game_go_on(world: Crashing) -> None:
    played(world)
    world.wire.publish = lambda *_, **__: None  # type: ignore[method-assign]
    world.forget_broker()
    world.crash(world.files())
    assert world.table.referee.number == 1


def test_teams_that_have_more_of_the_log_give_a_game_of_the_journal_up(world: Crashing) -> None:
    early, _ = played(world)
    world.forget_broker()
    world.crash({name: early[name] for name in ("", "-wal")})
    beyond = len(world.service.play.logs[""]) + 1
    for name in ("ann", "ann", "eve"):  # one player alone, and who is none
        world.ask(name, beyond, team=name)
    world.ask("bob", beyond - 1, team="bob")  # who may want what comes next
    world.ask("bob", beyond)  # from anybody, as far as the broker knows
    assert world.table.referee.number == 1
    world.ask("bob", beyond, team="bob")
    assert (world.table.referee.number, world.table.referee.state) == (2, State.LOBBY)
    assert world.announced.startswith("game 1 does not resume: its teams have more of its log than the journal")


def test_no_team_ends_a_game_that_this_server_has_begun(world: Crashing) -> None:
    played(world)
    for name in ("ann", "bob"):
        world.ask(name, 1000, team=name)
    assert world.table.referee.number == 1


# --- what the log can tell ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["lost", "on purpose"])
def test_two_histories_read_the_same_whether_the_journal_was_lost_or_put_back(world: Crashing, way: str) -> None:
    """An older journal that nothing shows to be one: neither file nor broker nor boot."""
    early, late = played(world)
    before = lines_of(world)
    world.forget_broker()
    world.crash(early if way == "on purpose" else {"": late[""], "-wal": late["-wal"][: len(early["-wal"])]})
    world.fire(9)
    both = lines_of(world)
    numbers = entries(both)
    common = next(number for number in numbers if numbers.count(number) > 1)
    words = f"two histories were signed after entry {common - 1}: by a lost journal or on purpose, the log cannot show"
    finding = verify_lines(iter(both), "witness").finding
    assert finding is not None
    assert (finding.fault, finding.text.partition(";")[0]) == (Fault.FORKED, words)
    assert str(finding).startswith(f"witness, line {finding.line}: the server contradicts itself: two histories")
    team, other = verify_lines(iter(before), "team"), verify_lines(iter(second(both)), "other")
    assert [each.finding and each.finding.fault for each in (team, other)] == [Fault.INCOMPLETE] * 2
    [finding] = compare_stories([team, other])
    assert finding.fault is Fault.FORKED
    assert f"of game 1 {words}; entry {common} is another one in team, line " in finding.text


def lines_of(world: Crashing) -> list[bytes]:
    return [payload + b"\n" for payload in dict.fromkeys(world.received)]


def entries(lines: list[bytes]) -> list[int]:
    return [json.loads(line)["entry"]["n"] for line in lines]


def second(both: list[bytes]) -> list[bytes]:
    """The lines of the second history: the latest of each number."""
    return list(dict(zip(entries(both), both, strict=True)).values())
