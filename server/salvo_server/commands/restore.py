"""``salvo restore``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from salvo.net.mqtt import without_password
from salvo_server.commands.backup import places_of, places_options
from salvo_server.operations.local_servers import running_servers
from salvo_server.settings import ServerSettings, SettingsError, load_settings, roster_path
from salvo_server.storage.backup import JOURNAL, JOURNAL_KEY, BackupError, Manifest, read_backup
from salvo_server.storage.backup import restore as put_back


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@places_options
@click.option("--force", is_flag=True, help="Replace existing files.")
def restore(file: Path, config: Path | None, force: bool, **given: Any) -> None:
    """Put roster, identity and journal of FILE, from salvo backup, where salvo serve with the same settings finds them.

    It restores everything or nothing. It replaces existing files only with --force, and refuses while a server runs.
    """
    settings = load_settings(given, config)
    backup = read_backup(file)
    manifest = backup.manifest
    if not settings.model_fields_set & {"listen", "broker"}:
        settings = settings.model_copy(update={"listen": manifest.listen, "broker": manifest.broker})
    places = places_of(settings.with_journal())
    if JOURNAL_KEY in backup.contents and JOURNAL not in backup.contents and JOURNAL in places:
        raise SettingsError(
            "bad_setting", f"{file} is of a server with its journal on PostgreSQL; name that with --journal URL"
        )
    if homeless := [name for name in backup.contents if name not in places]:
        raise SettingsError(
            "bad_setting", f"{file} has {', '.join(homeless)}, and the settings name no such file; add --journal FILE"
        )
    roster = roster_path(settings.roster)
    if servers := [*running_servers(roster), *running_servers(roster, standby=True)]:
        raise BackupError("restore_running", f"{servers[0].url}: a server with this roster runs; end it first")
    put_back(backup.contents, places, force=force)
    for name in backup.contents:
        click.echo(places[name])
    words = _words(manifest, settings, config, given["journal"])
    if JOURNAL_KEY in backup.contents and not manifest.running:
        words += ["--resume", "always"]
    click.echo(f"start:  {shlex.join(words)}")
    click.echo("        and any other settings that it had")
    if manifest.running:
        click.echo(
            f"        its server was running at {manifest.at}; a game that was on is abandoned, because teams may have "
            "received more of it; if not, --resume always resumes it"
        )


def _words(manifest: Manifest, settings: ServerSettings, config: Path | None, journal: str | None) -> list[str]:
    """Return the command that starts the server again, without passwords, as far as it is known here."""
    words = ["salvo", "serve"]
    if config is None:
        words += (
            ["--listen", settings.listen]
            if settings.broker is None
            else ["--broker", without_password(settings.broker)]
        )
        words += ["--profile", manifest.profile, *(word for table in manifest.tables for word in ("--table", table))]
    else:
        words += ["--config", str(config)]
    if journal is not None:
        words += ["--journal", without_password(journal) if "://" in journal else journal]
    return words
