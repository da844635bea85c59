"""The roster: the accounts of a contest and their secrets.

One file, written by ``salvo teams`` and read by a running server, which hands its accounts to whatever broker there is.
A team's secret is its password at the broker and what its key is derived from (SALVO-ACCESS-2). It is made here, shown
once, and kept sealed, with the key in a separate file: the server must be able to set up a new broker with it.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import datetime
import json
import re
import secrets
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from salvo.badges import Badges
from salvo.errors import MissingExtra, SalvoError, WireError
from salvo.system.atomic_file import create_file, replace_file
from salvo.system.text_files import SECRET_LENGTH, SECRET_LETTERS, read_text
from salvo.system.user_folders import private_folder
from salvo.wire.roles_and_rights import Role
from salvo.wire.topics import RESERVED, check_name
from salvo_server.storage.register import MAX_SCREENS, SCREENS, Account
from salvo_server.storage.vault import Vault

try:
    import filelock
    from pydantic import BaseModel, ConfigDict, Field, ValidationError
except ModuleNotFoundError:
    raise MissingExtra("the roster", "server") from None

#: The version of the file's form.
_FORM: Final = 1
#: What an account may be.
ROLES: Final = (Role.TEAM, Role.WATCHER, Role.REFEREE, Role.HOST)
#: The server's own users: one talks at the tables, the other one sets up users and rights at a broker.
SERVER_USER: Final = "salvo-server"
KEEPER_USER: Final = "salvo-roster"
#: And the one of its web front, which may read what everybody may.
WEB_USER: Final = "salvo-web"
#: And the host that runs the league of its contest.
LEAGUE_USER: Final = "salvo-league"
_LOCK_SECONDS: Final = 5.0
#: Faults that one error reports; of more, their number.
_MOST_FAULTS: Final = 20


class RosterError(SalvoError):
    """The roster cannot be used, or has no such name, or has it already."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a broker asks for at a connection."""

    user: str
    secret: str = field(repr=False)


class _Member(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    name: str
    role: Literal["team", "watcher", "referee", "host"]
    since: str
    sealed: str
    door: str = ""
    screens: int = Field(SCREENS, ge=1, le=MAX_SCREENS)
    badge: int | None = Field(None, ge=0)


class _RosterFile(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    roster: Literal[1]
    members: list[_Member] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Member:
    """A name on the roster.

    Attributes:
        since: when the present secret was made, ISO 8601 in UTC.
        screens: how many further users it has, ``name.1`` and so on.
        door: the gateway that added it; empty for those that the operator added.
        badge: a team's (:attr:`salvo.badges.Badge.number`); None for others.
    """

    name: str
    role: Role
    since: str
    screens: int
    secret: str = field(repr=False)
    door: str = ""
    badge: int | None = None


@dataclass(frozen=True, slots=True)
class RosterEntry:
    """A name that shall be on the roster.

    Attributes:
        screens, door: as of a :class:`Member`.
        place: what an error begins with, such as file and line; empty for a name from nowhere.
        fault: why it cannot be one; None for one that can be checked further.
    """

    name: str
    role: Role = Role.TEAM
    screens: int = SCREENS
    door: str = ""
    place: str = ""
    fault: SalvoError | None = None


def has_begun(path: Path) -> bool:
    """Whether there is a roster, if only its key."""
    return _is_there(path) or _is_there(key_path(path))


def is_lost(path: Path) -> bool:
    """Whether a roster has its key and no file any more: they begin together."""
    return _is_there(key_path(path)) and not _is_there(path)


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # in a folder that this user may not look into
        return False


def key_path(path: Path) -> Path:
    """Return where the key of a roster is."""
    return path.with_name(path.name + ".key")


class Roster:
    """The roster in a file, whose key is next to it as ``<file>.key``."""

    def __init__(self, path: Path) -> None:
        """Use a file; the first use makes it, empty, and its key.

        Raises:
            RosterError: ``roster_key``, ``roster_unwritable``.
        """
        self.path = path
        try:
            private_folder(path.parent)
        except OSError as error:
            raise self._unwritable(error) from None
        if not has_begun(path):
            self._begin()
        self._vault = Vault.at(key_path(path), "roster", RosterError)

    # --- reading --------------------------------------------------------------------------------------------------

    @property
    def revision(self) -> tuple[int, int, int]:
        """What changes with the file."""
        try:
            found = self.path.stat()
        except OSError:
            return (0, 0, 0)
        return (found.st_mtime_ns, found.st_ino, found.st_size)

    def members(self) -> tuple[Member, ...]:
        """Return all names, in the order in which they were added.

        Raises:
            RosterError: ``roster_missing``, ``roster_corrupt``, ``roster_version``, ``roster_unreadable`` or
                ``roster_key``.
        """
        return tuple(
            Member(
                each.name,
                Role(each.role),
                each.since,
                each.screens,
                self._open(each, number),
                each.door,
                each.badge,
            )
            for number, each in enumerate(self._read().members, start=1)
        )

    def accounts(self) -> tuple[Account, ...]:
        """Return every user with rights at the tables, the server's own first.

        Raises:
            RosterError: see :meth:`members`.
        """
        found = [self.server, self.watcher, self.web, self.league]
        for member in self.members():
            found.append(Account(member.name, member.name, member.role, member.secret, member.badge))
            looking = Role.SCREEN if member.role is Role.TEAM else member.role
            found += (
                Account(f"{member.name}.{number}", member.name, looking, member.secret)
                for number in range(1, member.screens + 1)
            )
        return tuple(found)

    @property
    def server(self) -> Account:
        """The server's account at the tables."""
        return Account(SERVER_USER, SERVER_USER, Role.SERVER, self._own_secret(SERVER_USER))

    @property
    def watcher(self) -> Account:
        """The server's further account, which may only watch; it follows from its key alone."""
        return Account(f"{SERVER_USER}.1", SERVER_USER, Role.WATCHER, self.server.secret)

    @property
    def web(self) -> Account:
        """The account of the server's web front; no other follows from its secret."""
        return Account(f"{WEB_USER}.1", WEB_USER, Role.WATCHER, self._own_secret(WEB_USER))

    @property
    def league(self) -> Account:
        """The account of the host that runs the contest's league; no other follows from its secret."""
        return Account(LEAGUE_USER, LEAGUE_USER, Role.HOST, self._own_secret(LEAGUE_USER))

    @property
    def keeper(self) -> Credentials:
        """Those of the user that sets up users and rights at a broker; it has no rights at any table."""
        return Credentials(KEEPER_USER, self._own_secret(KEEPER_USER))

    def _own_secret(self, user: str) -> str:
        return self._vault.secret(f"account {user}")

    def _open(self, member: _Member, number: int) -> str:
        where = f"{self.path}, member {number}, {member.name!r}"
        try:
            box = base64.b64decode(member.sealed, validate=True)
        except (binascii.Error, ValueError):
            raise RosterError("roster_corrupt", f"{where}: the sealed secret is damaged; rotate it") from None
        name, _, secret = self._vault.open(box, where).decode().partition("\0")
        if name != member.name:
            raise RosterError("roster_key", f"{where} has the sealed secret of {name!r}; rotate it")
        return secret

    def _read(self) -> _RosterFile:
        try:
            text = read_text(self.path)
        except FileNotFoundError:
            raise RosterError(
                "roster_missing",
                f"{self.path} is gone, and its key is still there: restore it from a copy, or begin a new one with "
                "salvo teams add --new NAME, which ends all other accounts, also of a running server",
            ) from None
        except OSError as error:
            raise RosterError("roster_unreadable", f"{self.path}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise RosterError("roster_corrupt", f"{self.path} is not UTF-8; restore it from a copy") from None
        try:
            stored = _RosterFile.model_validate_json(text)
            for member in stored.members:
                check_name(member.name)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            if first["loc"] == ("roster",) and isinstance(first["input"], int) and first["input"] > _FORM:
                text = f"{self.path} has form {first['input']}, of a later version of Salvo"
                raise RosterError("roster_version", f"{text}; use that one, or restore an earlier copy") from None
            where = ".".join(map(str, first["loc"])) or "the whole"
            raise RosterError(
                "roster_corrupt", f"{self.path}: {where}: {first['msg'].lower()}; restore it from a copy"
            ) from None
        except SalvoError as error:
            raise RosterError("roster_corrupt", f"{self.path}: {error.text}; restore it from a copy") from None
        return stored

    # --- changing -------------------------------------------------------------------------------------------------

    def begin_anew(self) -> None:
        """Make an empty roster where the file is lost; one with names in it stays.

        Raises:
            RosterError: ``roster_exists``: it has names; or see :meth:`members`.
        """
        if not self._begin() and (there := self._read().members):
            names = ", ".join(each.name for each in there)
            raise RosterError("roster_exists", f"{self.path} exists, with {names}; add to it without --new")

    def _begin(self) -> bool:
        """Make the file, before any key, so that a key without it tells of a loss; whether it was not there yet."""
        try:
            return create_file(self.path, _text(_RosterFile(roster=_FORM)))
        except OSError as error:
            raise self._unwritable(error) from None

    def _unwritable(self, error: OSError) -> RosterError:
        cure = "name another file with SALVO_ROSTER, or a folder for all state with XDG_STATE_HOME"
        return RosterError("roster_unwritable", f"{self.path}: {error.strerror}; {cure}")

    def add(self, name: str, role: Role = Role.TEAM, screens: int = SCREENS, *, door: str = "") -> str:
        """Add a team, a watcher or a referee; return its new secret, which is shown only this once.

        Args:
            screens: how many users it has to watch as, 1 to 200; a team has four.
            door: the gateway that adds it.

        Raises:
            WireError, RosterError: see :meth:`add_all`.
        """
        [secret] = self.add_all([RosterEntry(name, role, screens, door)])
        return secret

    def add_all(self, entries: Sequence[RosterEntry]) -> list[str]:
        """Add all of these, or nobody; return their new secrets, in the same order.

        Raises:
            WireError: ``bad_name``.
            RosterError: ``name_in_roster``, ``bad_role``, ``bad_screens`` or an entry's own fault; of several faults
                the first one's code, with all in its text; or see :meth:`members`.
        """
        with self._changing() as stored:
            there = {each.name.lower() for each in stored.members}
            _refuse([fault for fault in self._faults(entries, there) if fault is not None])
            badges = Badges({each.name: each.badge for each in stored.members if each.badge is not None})
            given = badges.of(entry.name for entry in entries if entry.role is Role.TEAM)
            drawn = []
            for entry in entries:
                secret, member = self._draw(entry.name, entry.role.value, entry.screens, entry.door)
                member.badge = given[entry.name].number if entry.name in given else None
                stored.members.append(member)
                drawn.append(secret)
        return drawn

    def _faults(self, entries: Sequence[RosterEntry], there: Collection[str]) -> Iterator[SalvoError | None]:
        """Return of each entry why it cannot be added; None where it can.

        Args:
            there: names on the roster, in lower case.
        """
        wanted: set[str] = set()
        for entry in entries:
            name = entry.name.lower()
            fault = _fault(entry)
            if fault is None and name in wanted:
                text = f"{entry.place}{entry.name!r} is given twice; leave one of them out"
                fault = RosterError("name_in_roster", text)
            elif fault is None and name in there:
                fault = RosterError(
                    "name_in_roster",
                    f"{entry.place}{self.path} has {entry.name!r} already, in this or another spelling; "
                    "salvo teams rotate gives it another secret, and a card with --cards; "
                    "salvo teams screens gives it more viewers",
                )
            wanted.add(name)
            yield fault

    def rotate(self, name: str) -> str:
        """Give a name a new secret and return it; the old one is worthless from then on.

        Raises:
            RosterError: ``not_in_roster``, or see :meth:`members`.
        """
        [secret] = self.rotate_all([name])
        return secret

    def rotate_all(self, names: Sequence[str]) -> list[str]:
        """Give all of these names new secrets, or none of them; return the secrets, in the same order.

        Raises:
            RosterError: ``not_in_roster``, or see :meth:`members`.
        """
        drawn = []
        with self._changing() as stored:
            there = [each.name for each in stored.members]
            if unknown := [name for name in names if name not in there]:
                raise self._unknown(stored, unknown)
            for place in map(there.index, names):
                old = stored.members[place]
                secret, stored.members[place] = self._draw(old.name, old.role, old.screens, old.door)
                stored.members[place].badge = old.badge
                drawn.append(secret)
        return drawn

    def give_screens(self, name: str, screens: int) -> None:
        """Give a watcher or referee another number of users to watch as; its secret stays.

        Args:
            screens: 1 to 200; when there are fewer than before, the last ones are users no longer.

        Raises:
            RosterError: ``not_in_roster``, ``bad_screens``, or see :meth:`members`.
        """
        with self._changing() as stored:
            member = stored.members[self._find(stored, name)]
            _check_screens(Role(member.role), screens)
            member.screens = screens

    def remove(self, name: str) -> None:
        """Strike a name off.

        Raises:
            RosterError: ``not_in_roster``, or see :meth:`members`.
        """
        with self._changing() as stored:
            del stored.members[self._find(stored, name)]

    def _draw(self, name: str, role: str, screens: int, door: str) -> tuple[str, _Member]:
        # 130 bits, which cannot be guessed, whatever else is known.
        secret = "".join(secrets.choice(SECRET_LETTERS) for _ in range(SECRET_LENGTH))
        since = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        sealed = base64.b64encode(self._vault.seal(f"{name}\0{secret}".encode())).decode()
        drawn = {"name": name, "role": role, "since": since, "sealed": sealed, "screens": screens, "door": door}
        return secret, _Member.model_validate(drawn)

    def _find(self, stored: _RosterFile, name: str) -> int:
        for place, each in enumerate(stored.members):
            if each.name == name:
                return place
        raise self._unknown(stored, [name])

    def _unknown(self, stored: _RosterFile, names: Sequence[str]) -> RosterError:
        there = ", ".join(each.name for each in stored.members) or "nobody"
        return RosterError("not_in_roster", f"{self.path} has no {' and no '.join(map(repr, names))}; it has {there}")

    @contextlib.contextmanager
    def _changing(self) -> Iterator[_RosterFile]:
        """Read, let the caller change, and write as a whole, under a lock."""
        try:
            with filelock.FileLock(f"{self.path}.lock", timeout=_LOCK_SECONDS, mode=0o600):
                stored = self._read()
                yield stored
                replace_file(self.path, _text(stored), 0o600, durable=True)
        except filelock.Timeout:
            raise RosterError("roster_in_use", f"{self.path}: another program has been changing it for 5 s") from None
        except OSError as error:
            raise self._unwritable(error) from None


def _refuse(faults: Sequence[SalvoError]) -> None:
    """Report all that is wrong at once, each in a line.

    Raises:
        SalvoError: the only fault.
        RosterError: there are several; its code is that of the first.
    """
    if len(faults) == 1:
        raise faults[0]
    if faults:
        first, *more = faults
        lines = [first.text, *map(str, more[: _MOST_FAULTS - 1])]
        lines += [f"and {len(more) - _MOST_FAULTS + 1} more"] if len(more) >= _MOST_FAULTS else []
        raise RosterError(first.code, "\n".join(lines))


def _fault(entry: RosterEntry) -> SalvoError | None:
    """Return what is wrong with an entry, whatever else is on the roster."""
    if entry.fault is not None:
        return entry.fault
    try:
        check_name(entry.name)
        _check_screens(entry.role, entry.screens, entry.place)
    except WireError as error:
        return WireError(error.code, f"{entry.place}{error.text}; {_like(entry.name)}")
    except RosterError as error:
        return error
    if entry.name.lower() in (SERVER_USER, KEEPER_USER, WEB_USER, LEAGUE_USER):
        return RosterError("name_in_roster", f"{entry.place}{entry.name!r} is the server's own name; take another one")
    if entry.role not in ROLES:
        role = entry.role.value
        return RosterError("bad_role", f"{entry.place}{role!r} is not a role; the roles are {', '.join(ROLES)}")
    return None


def _like(name: str) -> str:
    """Return the cure of a name that is none: one that is like it, where letters are left."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    like = re.sub(r"[^A-Za-z0-9_-]+", "-", plain).strip("-_")[:32]
    like = f"team-{like}" if like.lower() in RESERVED else like
    return f"write {like}, for example" if like else "write it in these letters"


def _check_screens(role: Role, screens: int, place: str = "") -> None:
    if not 1 <= screens <= MAX_SCREENS:
        raise RosterError("bad_screens", f"{place}{screens} screens; 1 to {MAX_SCREENS} are allowed")
    if role is Role.TEAM and screens != SCREENS:
        raise RosterError(
            "bad_screens", f"{place}{screens} screens for a team; it has {SCREENS}, only others have more"
        )


def _text(stored: _RosterFile) -> bytes:
    return (json.dumps(stored.model_dump(), indent=1) + "\n").encode()
