"""What an operator may set, from the command line, the environment and a TOML file, in that order.

The environment's names are the settings' names in capitals behind ``SALVO_``, a prefix that others use, too; see
:data:`VARIABLES_OF_OTHERS`. A TOML file has them at its top level, with paths as seen from its folder, and may have the
league of the same evening as a section. Every mistake is a :class:`SettingsError` that names
the source, the line in a file, and the nearest name that exists.
"""

from __future__ import annotations

import difflib
import logging
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field, ValidationError

from salvo.errors import MissingExtra, SalvoError
from salvo.messages import MAX_PACE_SECONDS, MAX_SECONDS, Limits
from salvo.rules import Ending, RuleBook
from salvo.rules.files import load_book
from salvo.system.text_files import line_of, read_text, read_toml
from salvo.system.user_folders import OURS, NoHome
from salvo.wire.topics import check_name
from salvo_server.settings_reference import reference, says

try:
    import platformdirs
    from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict
except ModuleNotFoundError:
    raise MissingExtra("the server", "server") from None

log = logging.getLogger(__name__)

#: The section of a file that is the league's.
_LEAGUE: Final = "league"
#: Settings of a file that are left out where the environment has the broker: containers have services of their own for
#: what listens there.
_ADDRESSES: Final = frozenset({"listen", "websocket", "web"})
#: Settings that are paths.
_PATHS: Final = frozenset({"roster", "identity", "tls_cert", "tls_key", "tls_ca", "journal_key", "transcripts"})

Seconds = Annotated[int, Field(ge=1, le=MAX_SECONDS)]

#: A turn of a player that is gone (SALVO-TURN-8): a program that comes back has time to fire, a person to press a key.
ABSENT_MS: Final = 2000
#: How long a result stays at a gateway's table: the older systems open the next game at once, and their programs do not
#: wait for one. In a second a team that was cut off at the last moment comes back and hears how it ended.
GATEWAY_OVER_SECONDS: Final = 1
#: A turn at a table to which people come through a gateway: their system has no limit. Who falls silent in spite of
#: that, or hangs up, holds up the others for :data:`ABSENT_MS` a turn.
PEOPLE_TURN_SECONDS: Final = 300


class SettingsError(SalvoError):
    """A setting that does not exist or has a value that it may not have."""


#: Names behind ``SALVO_`` that bots, other commands and the files of docker compose use. They are never the server's,
#: not even the two that it has settings of: a bot's seed, known to its author, would foretell what the server draws.
VARIABLES_OF_OTHERS: Final = frozenset(
    {
        *("ca", "games", "known_servers", "secret", "secret_file", "seed", "slow_seconds", "table", "team", "url"),
        *("ends_with_input", "lab_tls", "web_games"),
        *("address", "host", "https_port", "join", "metrics_port", "mqtt_port", "mqtts_port", "tls_folder"),
        *("web_port", "websocket_port", "cpus", "image", "trusted_proxies", "evening"),
    }
)
#: What Kubernetes and Docker add for services of this name, such as ``SALVO_PORT=tcp://10.0.0.1:1883``.
_OF_ORCHESTRATORS: Final = re.compile(
    r"(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?|ENV_\w+)|NAME"
)


class ServerSettings(BaseSettings):
    """The settings of ``salvo serve``."""

    model_config = SettingsConfigDict(env_prefix="SALVO_", env_ignore_empty=True, extra="forbid", frozen=True)
    _reads_environment: ClassVar = True

    listen: Annotated[str, says("where the embedded broker listens", takes="HOST:PORT")] = "127.0.0.1:1883"
    web: Annotated[str | None, says("address of the web front, where people watch", takes="HOST:PORT")] = None
    websocket: Annotated[
        str | None, says("where the embedded broker speaks MQTT over WebSocket", takes="HOST:PORT")
    ] = None
    hosts: Annotated[
        tuple[str, ...],
        says("a name of this server for browsers, and a host of pages that may connect", takes="NAME"),
    ] = ()
    broker: Annotated[
        str | None, says("a broker to use instead of the embedded one, mqtt://HOST:PORT", takes="URL")
    ] = None
    tables: Annotated[
        tuple[str, ...], says("a further table besides the default one, with topics of its own", takes="NAME")
    ] = ()
    players: Annotated[
        int | None, says("start as soon as this many fleets are complete", ge=2, le=Limits().most_players)
    ] = None
    profile: Annotated[
        Literal["open", "contest", "strict"],
        says(
            "rights on the broker; open: no login, any client plays, only the server reads what is sent to it; "
            "contest: the roster's users, each what the topic table says; strict: that, under TLS, with sealed "
            "requests and signed contexts"
        ),
    ] = "contest"
    roster: Annotated[Path | None, says("the accounts of the contest; see salvo teams", "one per user")] = None
    identity: Annotated[Path | None, says("the server's signing key", "one per user")] = None
    tls_cert: Annotated[Path | None, says("certificate of the embedded broker with its chain, PEM")] = None
    tls_key: Annotated[Path | None, says("private key of that certificate, PEM")] = None
    tls_ca: Annotated[Path | None, says("CA that signs the broker's certificate, PEM", "the system's")] = None
    rules: Annotated[
        str, says("the ruleset: a name, or a TOML file", "at a gateway its system's", takes="NAME|FILE")
    ] = "salvo"
    placement_seconds: Annotated[Seconds, says("time to place a fleet, from the newest team on")] = 60
    turn_seconds: Annotated[
        Seconds, says("time for a salvo", f"{PEOPLE_TURN_SECONDS} at the table of an xbs gateway")
    ] = 30
    bank_seconds: Annotated[
        Seconds | None, says("time bank: a player's time for all its salvos of a game", "no limit")
    ] = None
    increment_seconds: Annotated[
        int | None, says("what each turn adds to the player's time bank", "nothing", ge=1, le=3600)
    ] = None
    pace_seconds: Annotated[
        float,
        says(
            "pause after each result, such as 0.8, so that people can follow",
            option="--pace",
            ge=0,
            le=MAX_PACE_SECONDS,
            allow_inf_nan=False,
        ),
    ] = 0
    over_seconds: Annotated[
        Seconds, says("how long a result is shown", f"{GATEWAY_OVER_SECONDS} at the table of a gateway")
    ] = 300
    chat: Annotated[bool, says("players may chat; the option turns that off", option="--no-chat")] = True
    seed: Annotated[str | None, says("seed of everything random, for development", "a new secret one")] = None
    journal: Annotated[
        str | None,
        says("where commands are stored: a file, postgresql://..., or none", "a file per broker", takes="FILE|URL"),
    ] = None
    journal_key: Annotated[Path | None, says("the key to the teams' secrets in it", "beside the journal")] = None
    journal_safe: Annotated[
        Literal["power", "process"],
        says("what a commit survives: a power failure, or only the end of the process"),
    ] = "power"
    resume: Annotated[
        Literal["crash", "always", "never"],
        says("when a game from the journal is resumed: after a crash, always or never", "always with a standby"),
    ] = "crash"
    transcripts: Annotated[
        Path | None, says("folder to write every game to when it is over, with its proof", takes="DIR")
    ] = None
    gateways: Annotated[
        tuple[str, ...],
        says("a gateway to run alongside the server, as salvo gateway would be called", takes="'PROTOCOL ...'"),
    ] = ()
    standby: Annotated[
        bool, says("serve only while no other server with the same broker and journal does, and wait for that")
    ] = False
    metrics: Annotated[
        str | None,
        says("where Prometheus reads the server's metrics, over HTTP without a login", takes="HOST:PORT"),
    ] = None
    log_format: Annotated[
        Literal["text", "json"],
        says("events and log as JSON, an object a line, instead of text", option="--json", flag="json"),
    ] = "text"
    games: Annotated[int | None, says("end after this many games of this run at every table", "no limit", ge=1)] = None

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read no variable that is not the server's."""
        assert isinstance(env_settings, EnvSettingsSource)
        names = _in_environment() if cls._reads_environment else ()
        env_settings.env_vars = {_variable(name).lower(): os.environ[_variable(name)] for name in names}
        return init_settings, env_settings

    def with_journal(self) -> ServerSettings:
        """Return these settings with the journal that belongs to the broker, unless one is named."""
        if self.journal is not None or not self.has_journal:
            return self
        address = (self.broker or self.listen).rpartition("@")[2]  # never a password in a file's name
        name = re.sub(r"[^A-Za-z0-9.]+", "-", address)
        path = _state("a journal", "or SALVO_JOURNAL to a file or none") / f"{name}.journal"
        return self.model_copy(update={"journal": str(path)})

    @property
    def has_journal(self) -> bool:
        """Whether there is one; none by default for a broker whose port the system chooses: it is never found again."""
        return self.journal != "none" and not (
            self.journal is None and self.broker is None and self.listen.endswith(":0")
        )

    @property
    def encrypted(self) -> bool:
        """Whether the connection to the broker is safe from eavesdropping."""
        if self.broker is None:
            return self.tls_cert is not None
        return self.broker.startswith(("mqtts:", "wss:"))

    @cached_property
    def book(self) -> RuleBook:
        """The ruleset of every table, read once: a file of one's own is tried out by drawing fleets.

        Raises:
            RuleFileError: there is no such book.
        """
        return load_book(self.rules)

    @property
    def limits(self) -> Limits:
        """The limits of every table without a gateway."""
        return Limits(
            players=self.players,
            placement_ms=self.placement_seconds * 1000,
            turn_ms=self.turn_seconds * 1000,
            over_ms=self.over_seconds * 1000,
            bank_ms=None if self.bank_seconds is None else self.bank_seconds * 1000,
            increment_ms=None if self.increment_seconds is None else self.increment_seconds * 1000,
            absent_ms=min(ABSENT_MS, self.turn_seconds * 1000) if self.book.ending is Ending.GOAL else None,
            pace_ms=round(self.pace_seconds * 1000) or None,
        )

    def gateway_limits(self, *, for_people: bool) -> Limits:
        """Return the limits of a table with a gateway: those of its system, where the operator sets none.

        Args:
            for_people: whether the gateway's system is one for people, who take their time.
        """
        limits = self.limits
        if "over_seconds" not in self.model_fields_set:
            limits = replace(limits, over_ms=GATEWAY_OVER_SECONDS * 1000)
        if for_people and "turn_seconds" not in self.model_fields_set:
            limits = replace(limits, turn_ms=PEOPLE_TURN_SECONDS * 1000)
        return limits


class RecordedSettings(ServerSettings):
    """Those of another server, as it has recorded them: nothing of the environment here."""

    _reads_environment: ClassVar = False


def _without_effect(settings: ServerSettings) -> Iterator[tuple[str, str]]:
    """Return which settings have no effect with the others, and why."""
    if settings.broker is not None:
        yield "listen", "with --broker, which is used instead; leave one of them out"
        only = "only the embedded broker listens there; another one has listeners of its own"
        yield "websocket", f"with --broker: {only}"
    elif settings.profile == "open":
        yield "roster", "with --profile open, where any team may play; take --profile contest, or leave it out"
    if not settings.encrypted:
        yield "tls_ca", "without TLS; say --broker mqtts://HOST, or leave it out"
    if not settings.has_journal:
        for setting in ("journal_key", "journal_safe", "resume"):
            yield setting, "without a journal; name one with --journal FILE, or leave it out"


def load_settings(given: Mapping[str, Any], file: Path | None = None) -> ServerSettings:
    """Return the settings.

    Args:
        given: what the command line says, by setting; None and empty values mean not said.
        file: a TOML file.

    Raises:
        SettingsError: ``bad_setting``, ``unknown_setting`` or ``unused_option``.
        WireError: ``bad_name`` for a table.
        RuleFileError: ``bad_rules``.
    """
    chosen = {key: value for key, value in given.items() if value not in (None, ())}
    stored = _read_file(file) if file is not None else {}
    _check_environment()
    environment = _in_environment()
    if "broker" in environment:
        environment |= _ADDRESSES
    values = {key: value for key, value in stored.items() if key not in environment} | chosen
    try:
        settings = ServerSettings(**values)
    except ValidationError as error:
        raise _explain(error, chosen, stored, file) from None
    for table in settings.tables:
        check_name(table, "table")
    _check_profile(settings)
    _check_standby(settings)
    for name, why in _without_effect(settings):
        if name in settings.model_fields_set:
            raise SettingsError("unused_option", f"{_where(name, chosen, stored, file)} does nothing {why}")
    if settings.increment_seconds is not None and settings.bank_seconds is None:
        raise SettingsError("bad_setting", "--increment-seconds adds to a bank; --bank-seconds says how much is in it")
    _ = settings.book  # a mistake in it is reported before anything starts
    if settings.standby and "resume" not in settings.model_fields_set:
        return settings.model_copy(update={"resume": "always"})
    return settings


def _check_profile(settings: ServerSettings) -> None:
    if (settings.tls_cert is None) != (settings.tls_key is None):
        raise SettingsError(
            "bad_setting", "--tls-cert and --tls-key belong together; salvo tls DIR makes both for a test"
        )
    if settings.tls_cert is not None and settings.broker is not None:
        raise SettingsError("bad_setting", "--tls-cert is the embedded broker's; one that is given has its own")
    if settings.profile == "strict" and not settings.encrypted:
        raise SettingsError(
            "bad_setting",
            "--profile strict needs TLS: --tls-cert and --tls-key for the embedded broker, else --broker mqtts://HOST",
        )


def _check_standby(settings: ServerSettings) -> None:
    if settings.standby and settings.broker is None:
        raise SettingsError(
            "bad_setting", "--standby takes over a broker, and the embedded one ends with its server: add --broker URL"
        )
    if settings.standby and settings.journal == "none":
        raise SettingsError("bad_setting", "--standby takes over a journal: name one with --journal, or leave it out")


def _state(what: str, also: str = "") -> Path:
    """Return this user's folder for what a server needs again.

    Raises:
        NoHome: ``no_home``.
    """
    try:
        folder = platformdirs.user_state_path(OURS)
    except RuntimeError:
        folder = Path()
    if not folder.is_absolute():
        raise NoHome(what, f"HOME or XDG_STATE_HOME to a folder{', ' * bool(also)}{also}")
    return folder


def roster_path(given: Path | None) -> Path:
    """Return where the roster is."""
    return _itself(given or _state("a roster", "or SALVO_ROSTER to a file") / "roster.json")


def roster_if_any(given: Path | None) -> Path | None:
    """Return where the roster is; None where this user has none, for what does without."""
    try:
        return roster_path(given)
    except NoHome:
        return None


def _itself(path: Path) -> Path:
    """Return what a symbolic link leads to: lock and key are beside that."""
    return path.resolve() if os.path.islink(path) else path  # no error where this user may not look


def identity_path(given: Path | None) -> Path:
    """Return where the server's key is."""
    return given or _state("the server's key", "or SALVO_IDENTITY to a file") / "identity.key"


def secret_files(settings: ServerSettings) -> list[Path]:
    """Return what the server keeps secrets in, whether it exists or not."""
    files = [identity_path(settings.identity)]
    if (roster := roster_if_any(settings.roster)) is not None:
        files += [roster, roster.with_name(roster.name + ".key")]
    journal = journal_path(settings)
    if journal is not None:
        beside = journal.with_name(journal.name + ".key")
        files += [journal, settings.journal_key or beside]
        files += [journal.with_name(journal.name + ending) for ending in ("-wal", "-shm")]
    if settings.tls_key is not None:
        files.append(settings.tls_key)
    return files


def journal_path(settings: ServerSettings) -> Path | None:
    """Return the journal's file; None when it is in a database server, or there is none."""
    journal = settings.with_journal().journal
    return None if journal in (None, "none") or "://" in str(journal) else _itself(Path(str(journal)))


def is_mounted_secret(mode: int) -> bool:
    """Whether nobody may write a file: so container engines mount secrets, by default for all to read (0444)."""
    return not mode & 0o222


def check_rights(settings: ServerSettings) -> None:
    """Make sure that no other user of the machine writes what the server trusts; warn where others read secrets.

    Raises:
        SettingsError: ``file_rights``.
    """
    if os.name != "posix":
        return
    for path in secret_files(settings):
        if path == identity_path(settings.identity):
            continue  # whoever loads it is stricter
        if not path.is_file():  # it is made later, or whoever opens it says why it cannot
            continue
        mode = path.stat().st_mode & 0o777
        if mode & 0o022:
            text = f"{path} has the rights {mode:04o}: others could change it; chmod 600 {path}"
            raise SettingsError("file_rights", f"{text}, if you know what is in it")
        if mode & 0o004 and not is_mounted_secret(mode):
            log.warning("%s has the rights %04o: others can read its secrets; chmod 600 %s", path, mode, path)


def gateway_key_path() -> Path:
    """Return where the key is that the secrets of gateways' guests are drawn from, when there is no roster."""
    return _state("a gateway's key") / "gateway.key"


def league_name(file: Path | None) -> str | None:
    """Return what the league of a file of settings is called; None where it has no section of one."""
    if file is None:
        return None
    _, values = read_toml(file, partial(SettingsError, "bad_setting"))
    section = values.get(_LEAGUE)
    return str(section.get("name", "")) if isinstance(section, dict) else None


def _read_file(file: Path) -> dict[str, Any]:
    text, values = read_toml(file, partial(SettingsError, "bad_setting"))
    if isinstance(values.get(_LEAGUE), dict):
        del values[_LEAGUE]  # the league's own command reads it
    for key in values:
        if key not in ServerSettings.model_fields:
            where = f"{file}, line {line_of(text, key)}: {key!r}"
            near = _nearest(key, list(ServerSettings.model_fields))
            hint = f"did you mean {near}?" if near else f"the settings are {', '.join(ServerSettings.model_fields)}"
            raise SettingsError("unknown_setting", f"{where} is not a setting; {hint}")
    for several in ("tables", "hosts", "gateways"):
        if isinstance(values.get(several), list):
            values[several] = tuple(values[several])
    return values | {key: str(file.parent / values[key]) for key in values if _is_path(key, values[key])}


def _is_path(name: str, value: object) -> bool:
    """Whether a setting's value is where a file or folder is."""
    if not isinstance(value, str) or not value:
        return False
    if name == "journal":
        return value != "none" and "://" not in value
    return name in _PATHS or (name == "rules" and value.endswith(".toml"))


def _variable(name: str) -> str:
    return f"SALVO_{name.upper()}"


def _in_environment() -> set[str]:
    """Return the settings that the environment has; an empty variable is not set."""
    return {
        name for name in ServerSettings.model_fields.keys() - VARIABLES_OF_OTHERS if os.environ.get(_variable(name))
    }


def _check_environment() -> None:
    """Find the variables behind our prefix that are neither settings nor somebody else's.

    Raises:
        SettingsError: ``unknown_setting``: it is nearly the name of a setting.
    """
    names = [name for name in ServerSettings.model_fields if name not in VARIABLES_OF_OTHERS]
    ignored = []
    for variable in sorted(os.environ):
        name = variable.removeprefix("SALVO_")
        if name == variable or name.startswith("BOT_") or name.lower() in VARIABLES_OF_OTHERS.union(names):
            continue
        if not _OF_ORCHESTRATORS.fullmatch(name) and (near := _nearest(name.lower(), names)):
            text = f"environment variable {variable} is not a setting; did you mean {_variable(near)}?"
            raise SettingsError("unknown_setting", text)
        ignored.append(variable)
    if ignored:
        log.warning("ignored, since no setting has this name: %s", ", ".join(ignored))
    for name in sorted(VARIABLES_OF_OTHERS & ServerSettings.model_fields.keys()):
        if os.environ.get(_variable(name)):
            log.warning("ignored: %s is a bot's; the server's %s is an option, or in a file", _variable(name), name)


def _nearest(name: str, names: list[str]) -> str:
    """Return the setting that was probably meant; empty for none."""
    for setting in reference(ServerSettings).values():
        if setting.option == f"--{name.replace('_', '-')}":
            return setting.name
    begun = [each for each in names if each.startswith(f"{name}_")]
    return next(iter(begun or difflib.get_close_matches(name, names, n=1, cutoff=0.7)), "")


def _explain(
    error: ValidationError, chosen: Mapping[str, Any], stored: Mapping[str, Any], file: Path | None
) -> SettingsError:
    first = error.errors(include_url=False)[0]
    name = str(first["loc"][0])
    values = reference(ServerSettings)[name].values
    wrong = f"give {values}" if values else first["msg"].lower()
    return SettingsError("bad_setting", f"{_where(name, chosen, stored, file)}: {first['input']!r}: {wrong}")


def _where(name: str, chosen: Mapping[str, Any], stored: Mapping[str, Any], file: Path | None) -> str:
    """Return how a setting was given: as an option, as a variable, or where in a file."""
    if name in chosen:
        return reference(ServerSettings)[name].option
    if name in _in_environment():
        return f"environment variable {_variable(name)}"
    if name in stored and file is not None:
        return f"{file}, line {line_of(read_text(file), name)}: {name}"
    return name
