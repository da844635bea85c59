"""``salvo backup``, and what it has in common with ``salvo restore``."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from salvo.cli.checked import refuse_unused
from salvo.net.mqtt import without_password
from salvo.system.distribution import __version__
from salvo_server.commands.setting_options import setting_options
from salvo_server.operations.local_servers import only_server
from salvo_server.settings import ServerSettings, identity_path, load_settings, roster_path
from salvo_server.storage.backup import (
    IDENTITY,
    JOURNAL,
    JOURNAL_KEY,
    ROSTER,
    ROSTER_KEY,
    Backup,
    BackupError,
    Manifest,
    write_backup,
)
from salvo_server.storage.identity import load_identity
from salvo_server.storage.journal.database import copy_journal, journal_files
from salvo_server.storage.roster import Roster, has_begun, key_path

#: Settings that name one server among several with the same roster, or its journal.
_ONE_SERVER = frozenset({"listen", "broker", "identity", "journal", "journal_key"})
_FILE = click.Path(path_type=Path)


def places_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say which server's files are meant."""
    config = click.option("--config", metavar="FILE", type=_FILE, help="The server's TOML file with its settings.")
    return setting_options("journal")(config(command))


def places_of(settings: ServerSettings) -> dict[str, Path]:
    """Return where a server with these settings has its files, by their names in a backup.

    Raises:
        JournalError: ``bad_journal``.
    """
    roster = roster_path(settings.roster)
    places = {ROSTER: roster, ROSTER_KEY: key_path(roster), IDENTITY: identity_path(settings.identity)}
    if settings.journal not in (None, "none"):
        file, key = journal_files(str(settings.journal))
        places |= {JOURNAL_KEY: settings.journal_key or key} | ({} if file is None else {JOURNAL: file})
    return places


@click.command()
@click.argument("file", type=_FILE)
@places_options
@click.option("--no-database", is_flag=True, help="Leave out a journal on PostgreSQL, which pg_dump copies.")
def backup(file: Path, config: Path | None, no_database: bool, **given: Any) -> None:
    """Write roster, identity and journal with their keys to FILE, a .tar.gz, for salvo restore.

    The files are those of the running server, or of one that salvo serve with the same settings would start. A server
    that runs is not held up.
    """
    settings = settings_of(given, config)
    places = places_of(settings)
    on_server = JOURNAL_KEY in places and JOURNAL not in places
    if on_server and not no_database:
        raise BackupError(
            "journal_in_database",
            "the journal is on PostgreSQL: copy it with pg_dump --format=custom --file=journal.dump DATABASE, and add "
            "--no-database and the server's --journal URL to back up the rest, with the journal's key",
        )
    if not on_server:
        refuse_unused("no_database", "without a journal on PostgreSQL; leave it out")
    contents, running = _collect(settings, places)
    manifest = Manifest(
        version=__version__,
        at=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        running=running,
        listen=settings.listen,
        broker=None if settings.broker is None else without_password(settings.broker),
        profile=settings.profile,
        tables=list(settings.tables),
    )
    write_backup(file, Backup(manifest, contents))
    no_roster = "" if ROSTER in contents else f"; no roster at {places[ROSTER]}"
    no_journal = "" if JOURNAL_KEY in contents else "; no journal, which this server does not keep"
    click.echo(f"{file}: {', '.join(contents)}{no_roster}{no_journal}")
    click.echo("it has the teams' secrets and the server's keys, for anyone who reads it: keep it as safe as those")
    if running:
        click.echo("a server is writing this journal: what it accepts from now on is not in the backup")


def settings_of(given: Mapping[str, Any], config: Path | None) -> ServerSettings:
    """Return the settings of the server that runs with this roster, unless others are named."""
    settings = load_settings(given, config)
    if settings.model_fields_set & _ONE_SERVER:
        return settings.with_journal()
    server = only_server(roster_path(settings.roster), "name the journal of one with --journal FILE")
    return settings.with_journal() if server is None else server.settings


def _collect(settings: ServerSettings, places: Mapping[str, Path]) -> tuple[dict[str, bytes], bool]:
    """Return the files, by name, and whether a server is writing the journal.

    One that no server could use is an error now, and not when it is needed.
    """
    contents, running = {}, False
    if settings.roster is not None or has_begun(places[ROSTER]):  # servers in the profile open have none
        contents = {name: _read(places[name]) for name in (ROSTER, ROSTER_KEY)}
        Roster(places[ROSTER]).members()
    contents[IDENTITY] = _read(places[IDENTITY])
    load_identity(places[IDENTITY])
    if JOURNAL in places:
        contents[JOURNAL], running = copy_journal(places[JOURNAL])
    if JOURNAL_KEY in places:
        contents[JOURNAL_KEY] = _read(places[JOURNAL_KEY])
    return contents, running


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BackupError("backup_incomplete", f"{path}: {error.strerror}; name it as in salvo serve") from None
