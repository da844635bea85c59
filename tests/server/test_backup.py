"""What a backup has and refuses: other people's eyes, damage, tricks with names, and files that are there already."""

from __future__ import annotations

import hashlib
import io
import json
import re
import tarfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from kit import command_line
from salvo_game.journal_interface import GameOpened, JournalProgress
from salvo_server.operations.local_servers import announced
from salvo_server.settings import ServerSettings
from salvo_server.storage.backup import MANIFEST, BackupError, read_backup
from salvo_server.storage.identity import load_identity
from salvo_server.storage.journal.database import DatabaseJournal, DatabaseReader
from salvo_server.storage.journal.locks import lock_file
from salvo_server.storage.roster import Roster

_FILES = ("roster.json", "roster.json.key", "identity.key", "127.0.0.1-1883.journal", "127.0.0.1-1883.journal.key")
_GAME = GameOpened(1, "", 1, 0, "{}")


class Machine:
    """A machine's state folder, and what its user types."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "salvo"
        self._environment = {"XDG_STATE_HOME": str(folder)}

    def run(self, *words: object, **variables: object) -> CompletedProcess[str]:
        environment = self._environment | {name: str(value) for name, value in variables.items()}
        return command_line.run(*map(str, words), environment=environment)

    def contents(self) -> dict[str, bytes]:
        """What servers read here, by name."""
        return {path.name: path.read_bytes() for path in self.state.glob("*") if path.suffix != ".lock"}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine with the files of a server that has ended."""
    machine = Machine(tmp_path / "first")
    Roster(machine.state / "roster.json").add("red")
    load_identity(machine.state / "identity.key")
    journal = DatabaseJournal(str(machine.state / "127.0.0.1-1883.journal"))
    journal.commit([_GAME, JournalProgress(ended=True)])
    journal.close()
    return machine


@pytest.fixture
def empty(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "second")


@pytest.fixture
def archive(machine: Machine, tmp_path: Path) -> Path:
    archive = tmp_path / "evening.tar.gz"
    done = machine.run("backup", archive)
    assert (done.returncode, done.stderr) == (0, "")
    assert "the teams' secrets and the server's keys" in done.stdout
    return archive


def test_a_restored_backup_has_every_file_for_its_owner_only(archive: Path, machine: Machine, empty: Machine) -> None:
    assert archive.stat().st_mode & 0o777 == 0o600
    with tarfile.open(archive) as unpacked_by_hand:
        assert {member.mode for member in unpacked_by_hand} == {0o600}
    done = empty.run("restore", archive)
    assert (done.returncode, done.stderr) == (0, "")
    *paths, start, _ = done.stdout.splitlines()
    assert paths == [str(empty.state / name) for name in _FILES]
    assert start == "start:  salvo serve --listen 127.0.0.1:1883 --profile contest --resume always"
    assert {path.stat().st_mode & 0o777 for path in map(Path, paths)} == {0o600}
    stored, restored = machine.contents(), empty.contents()
    journal = restored.pop("127.0.0.1-1883.journal")
    assert stored.pop("127.0.0.1-1883.journal")[:16] == journal[:16]
    assert restored == stored
    assert DatabaseReader(paths[3]).games() == [(_GAME, 0)]
    opened = DatabaseJournal(paths[3])
    assert opened.load().ended
    opened.close()


def test_the_backup_of_an_evening_is_restored_where_its_settings_say(
    machine: Machine, empty: Machine, tmp_path: Path
) -> None:
    here, there = (tmp_path / name / "contest.toml" for name in ("here", "there"))
    for settings in (here, there):
        settings.parent.mkdir()
        settings.write_text('journal = "evening.journal"\n')
    journal = DatabaseJournal(str(here.with_name("evening.journal")))
    journal.commit([_GAME, JournalProgress(ended=True)])
    journal.close()
    archive = tmp_path / "evening.tar.gz"
    assert machine.run("backup", archive, "--config", here).returncode == 0
    done = empty.run("restore", archive, "--config", there)
    assert f"start:  salvo serve --config {there}" in done.stdout
    assert DatabaseReader(str(there.with_name("evening.journal"))).games() == [(_GAME, 0)]


def test_a_journal_is_copied_while_it_is_written_and_counts_as_ended(machine: Machine, tmp_path: Path) -> None:
    path = str(machine.state / "127.0.0.1-1883.journal")
    writer = DatabaseJournal(path)
    writer.commit([GameOpened(2, "", 2, 0, "{}"), JournalProgress(ended=False)])  # in the file next to it until it ends
    try:
        done = machine.run("backup", tmp_path / "b.tar.gz")
        assert not writer.load().ended
        writer.commit([GameOpened(3, "", 3, 0, "{}")])
    finally:
        writer.close()
    assert "a server is writing this journal" in done.stdout
    assert machine.run("restore", tmp_path / "b.tar.gz", "--force").stdout.count("--resume always") == 1
    restored = DatabaseJournal(path)
    saved = restored.load()
    restored.close()
    assert (saved.last_game, saved.ended) == (2, True)


def test_a_backup_or_a_restore_overwrites_nothing_unless_forced(
    archive: Path, machine: Machine, empty: Machine
) -> None:
    before = archive.read_bytes()
    assert "error: backup_exists: " in machine.run("backup", archive).stderr
    assert archive.read_bytes() == before
    (empty.state / "identity.key").parent.mkdir(parents=True)
    (empty.state / "identity.key").write_text("another one")
    (empty.state / "127.0.0.1-1883.journal-wal").write_text("of a journal that was here")
    done = empty.run("restore", archive)
    assert re.match(r"error: restore_exists: \S+/identity\.key, \S+/127\.0\.0\.1-1883\.journal-wal: ", done.stderr)
    assert sorted(empty.contents()) == ["127.0.0.1-1883.journal-wal", "identity.key"]
    assert empty.run("restore", archive, "--force").returncode == 0
    assert sorted(empty.contents()) == sorted(_FILES)


def test_a_restore_over_the_files_of_a_running_server_is_refused(archive: Path, machine: Machine) -> None:
    before = machine.contents()
    settings = ServerSettings(roster=machine.state / "roster.json", profile="contest")
    with announced(settings, "mqtt://127.0.0.1:1883", None):
        done = machine.run("restore", archive, "--force")
    assert "error: restore_running: mqtt://127.0.0.1:1883: " in done.stderr
    with lock_file(machine.state / "127.0.0.1-1883.journal"):
        other = machine.run("restore", archive, "--force", SALVO_ROSTER=machine.state / "other.json")
    assert "error: journal_in_use: " in other.stderr
    assert machine.contents() == before


Members = list[tuple[tarfile.TarInfo, bytes]]


def _members(archive: Path) -> Members:
    with tarfile.open(archive) as tar:
        found = [(member, tar.extractfile(member)) for member in tar]
        return [(member, file.read()) for member, file in found if file is not None]


def _manifest(change: Callable[[dict[str, object]], object]) -> Callable[[Members], object]:
    def spoil(members: Members) -> None:
        manifest = json.loads(members[0][1])
        change(manifest)
        members[0] = members[0][0], json.dumps(manifest).encode()

    return spoil


def _named(name: str) -> Callable[[Members], object]:
    """Give a file another name, in the manifest, too."""

    def spoil(members: Members) -> None:
        _manifest(lambda manifest: manifest["files"][0].update(name=name))(members)  # type: ignore[index]
        members[1][0].name = name

    return spoil


def _filled(place: int, content: bytes) -> Callable[[Members], object]:
    """Give a file another content, as the manifest has it."""

    def spoil(members: Members) -> None:
        digest = hashlib.sha256(content).hexdigest()
        _manifest(lambda manifest: manifest["files"][place - 1].update(size=len(content), sha256=digest))(members)  # type: ignore[index]
        members[place] = members[place][0], content

    return spoil


def _linked(kind: bytes) -> Callable[[Members], object]:
    def spoil(members: Members) -> None:
        members[1][0].type, members[1][0].linkname = kind, "/etc/passwd"

    return spoil


_TRICKS: dict[str, Callable[[Members], object]] = {
    "changed": lambda members: members.__setitem__(1, (members[1][0], b"!" * len(members[1][1]))),
    "longer": lambda members: members.__setitem__(1, (members[1][0], members[1][1] + b"!")),
    "missing": lambda members: members.pop(),
    "twice": lambda members: members.append(members[-1]),
    "no manifest": lambda members: members.pop(0),
    "huge manifest": lambda members: members.__setitem__(0, (members[0][0], b" " * 70_000)),
    "manifest no JSON": lambda members: members.__setitem__(0, (members[0][0], b"\xff")),
    "manifest no object": lambda members: members.__setitem__(0, (members[0][0], b"[]")),
    "unknown field": _manifest(lambda manifest: manifest.update(more=1)),
    "absolute": _named("/etc/passwd"),
    "above": _named("../roster.json"),
    "unknown name": _named("authorized_keys"),
    "same name": _named("identity.key"),
    "zeros": _filled(1, bytes(100)),
    "a roster without end": _filled(1, b"{" + bytes(2**24)),
    "another identity": _filled(3, b"salvo"),
    "another database": _filled(4, b"zeros"),
    "symbolic link": _linked(tarfile.SYMTYPE),
    "hard link": _linked(tarfile.LNKTYPE),
    "device": _linked(tarfile.CHRTYPE),
}


def _packed(members: Sequence[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for member, content in members:
            member.size = len(content) if member.isreg() else 0
            tar.addfile(member, io.BytesIO(content))
    return packed.getvalue()


@pytest.mark.parametrize("trick", _TRICKS)
def test_a_damaged_or_manipulated_backup_is_refused(trick: str, archive: Path, empty: Machine) -> None:
    members = _members(archive)
    assert read_backup(archive).contents.keys() == {member.name for member, _ in members} - {MANIFEST}
    _TRICKS[trick](members)
    archive.write_bytes(_packed(members))
    assert "error: backup_damaged: " in empty.run("restore", archive, "--force").stderr
    assert not empty.state.exists()


def _cuts(whole: bytes) -> Iterator[bytes]:
    yield from (b"", b"no archive", whole[:5], whole[: len(whole) // 2])
    yield whole[:100] + bytes([whole[100] ^ 1]) + whole[101:]


def test_an_archive_cut_short_or_with_a_bit_turned_is_refused(archive: Path) -> None:
    for cut in _cuts(archive.read_bytes()):
        archive.write_bytes(cut)
        with pytest.raises(BackupError) as caught:
            read_backup(archive)
        assert caught.value.code == "backup_damaged"


def test_a_backup_of_a_later_form_is_refused_by_version(archive: Path, empty: Machine) -> None:
    members = _members(archive)
    _manifest(lambda manifest: manifest.update(backup=2, files="elsewhere"))(members)
    archive.write_bytes(_packed(members))
    assert "error: backup_version: " in empty.run("restore", archive).stderr
    assert "error: backup_unreadable: " in empty.run("restore", archive.with_name("no.tar.gz")).stderr
