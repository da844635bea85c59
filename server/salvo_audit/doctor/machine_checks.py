"""Checks of the machine that the server runs on: software, files, disk, ports. Nothing here speaks MQTT."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import stat
from collections.abc import Iterable, Iterator
from importlib import metadata
from typing import Final

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from salvo.system.distribution import HOME, __version__
from salvo_audit.doctor.finding import CheckFinding, failed, passed, skipped
from salvo_audit.doctor.target import ExaminedContest
from salvo_server.brokers.embedded.addresses import BrokerError, split_address
from salvo_server.settings import is_mounted_secret, journal_path, roster_path, secret_files
from salvo_server.storage.roster import is_lost

_DISTRIBUTION: Final = "battleship-salvo"
#: A journal of a day of games with 64 teams has some 50 MB; below four times that a contest day is at risk.
_LEAST_FREE_BYTES: Final = 200 * 1024 * 1024
#: Extras that no operator needs.
_OF_DEVELOPERS: Final = {"dev", "docs", "fuzz", "image"}


def check_python(target: ExaminedContest) -> Iterator[CheckFinding]:
    """The interpreter and every library that is installed, against what the distribution needs."""
    try:
        python, needs = _needs()
    except metadata.PackageNotFoundError:
        yield skipped("software", f"{_DISTRIBUTION} is not installed as a package, so what it needs is unknown")
        return
    here = platform.python_version()
    found = {name: version for name in needs if (version := _installed(name)) is not None}
    wrong = [] if _fits(here, python) else [f"Python {here} (needs {python})"]
    wrong += [f"{name} {found[name]} (needs {needs[name]})" for name in found if not _fits(found[name], needs[name])]
    if wrong:
        yield failed("software", f"unfit: {', '.join(wrong)}", 'pip install "battleship-salvo[server]"')
    else:
        yield passed("software", f"salvo {__version__} from {HOME}; Python {here} and {len(found)} libraries fit")


def _needs() -> tuple[SpecifierSet, dict[str, SpecifierSet]]:
    """Return which versions the distribution needs: of Python, and of libraries by name.

    Raises:
        PackageNotFoundError: it is not installed as a package.
    """
    about, needs = metadata.metadata(_DISTRIBUTION), dict[str, SpecifierSet]()
    extras = {"", *about.get_all("Provides-Extra", ())} - _OF_DEVELOPERS
    for each in map(Requirement, metadata.requires(_DISTRIBUTION) or ()):
        if _is_for(each, extras):
            needs[each.name] = needs.get(each.name, SpecifierSet()) & each.specifier
    return SpecifierSet(about["Requires-Python"] or ""), needs


def _is_for(requirement: Requirement, extras: Iterable[str]) -> bool:
    """Whether one of these extras, or the bare distribution (an empty one), has this requirement on this machine."""
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in extras)


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _fits(version: str, needed: SpecifierSet) -> bool:
    """Whether a version is one that is needed; one before a release counts if it is new enough."""
    try:
        return needed.contains(Version(version), prereleases=True)
    except InvalidVersion:
        return False


def check_files(target: ExaminedContest) -> Iterator[CheckFinding]:
    """Everything that holds a secret must be its owner's alone."""
    if target.settings is None:
        yield skipped("files", "the server's files are on another machine", "run salvo doctor there, without a URL")
        return
    present = [path for path in secret_files(target.settings) if path.exists()]
    loose = []
    for path in present:
        found = path.stat()
        if is_mounted_secret(found.st_mode):
            continue
        if found.st_uid != os.getuid():
            loose.append((f"{path} belongs to user {found.st_uid}, not to you", f"chown {os.getuid()} {path}"))
        elif stat.S_IMODE(found.st_mode) & 0o077:
            loose.append((f"{path} has mode {stat.S_IMODE(found.st_mode):o}: others can read it", f"chmod 600 {path}"))
    roster = roster_path(target.settings.roster)
    lost = target.settings.profile != "open" and is_lost(roster)
    if lost:
        text = f"{roster} is gone, and its key is still there; a server that runs keeps its users as they were"
        yield failed("files", text, "restore it from a copy, or begin a new one: salvo teams add --new NAME")
    for text, cure in loose:
        yield failed("files", text, cure)
    if not loose and not lost:
        names = ", ".join(path.name for path in present) or "none yet; they are made at the first start"
        yield passed("files", f"only you can read the files with secrets: {names}")


def check_disk(target: ExaminedContest) -> Iterator[CheckFinding]:
    """A server whose disk is full accepts nothing (SALVO-BACK-3)."""
    if target.settings is None:
        yield skipped("disk", "the journal is on another machine", "run salvo doctor there, without a URL")
        return
    journal = journal_path(target.settings)
    if journal is None:
        yield skipped("disk", "the journal is not in a file")
        return
    folder = next(path for path in (journal.absolute(), *journal.absolute().parents) if path.is_dir())
    free = shutil.disk_usage(folder).free
    amount = f"{free / 2**20:,.0f} MiB are free in {folder}"
    if free < _LEAST_FREE_BYTES:
        yield failed("disk", f"{amount}; the server accepts nothing when it is full", "make room, or --journal FILE")
    elif not os.access(folder, os.W_OK | os.X_OK):
        yield failed(
            "disk", f"the journal's folder {folder} cannot be written", f"chown it, or --journal FILE: {amount}"
        )
    else:
        yield passed("disk", amount)


def check_ports(target: ExaminedContest) -> Iterator[CheckFinding]:
    """The embedded broker's ports are free, or the contest has them."""
    settings = target.settings
    if settings is None or settings.broker is not None:
        yield skipped("ports", "the broker is not the embedded one of this machine")
        return
    if str(target.url.port) != settings.listen.rpartition(":")[2]:
        yield skipped("ports", f"these settings have the embedded broker on {settings.listen}, not on {target.url}")
        return
    for address in filter(None, (settings.listen, settings.websocket)):
        try:
            host, port = split_address(address)
        except BrokerError as error:
            yield failed("ports", error.text, "--listen HOST:PORT")
            continue
        yield _port(
            host, port, answering=target.serves or (target.url in target.answering and address == settings.listen)
        )


def _port(host: str, port: int, *, answering: bool) -> CheckFinding:
    where = f"{host}:{port}"
    if not port:
        return passed("ports", f"{where}: the system chooses a free one")
    if answering:
        return passed("ports", f"{where} is in use by the broker that is examined")
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family) as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind((host, port))
    except OSError as error:
        cure = f"end the program that has it (ss -ltnp 'sport = :{port}'), or choose another port"
        return failed("ports", f"{where} cannot be used: {error.strerror or error}", cure)
    return passed("ports", f"{where} is free")
