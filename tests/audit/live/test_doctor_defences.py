"""Each defence of the organisers' table is taken away from a real contest, and the doctor names the hole.

What cannot be seen from outside says so in the table, and has no row here.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kit.front import Front
from kit.guarded import Guarded, guarded
from kit.mosquitto import ContestMosquitto
from kit.programs import needs
from salvo.net.mqtt import BrokerUrl
from salvo.permissions import Role
from salvo_audit.doctor import Finding, Target, Verdict, break_in, examine, reach, temporary_teams
from salvo_server.brokers.embedded.broker import HardenedBroker
from salvo_server.brokers.embedded.limits import Action, BrokerLimits
from salvo_server.brokers.embedded.roster_access import RosterAccess
from salvo_server.brokers.mosquitto import dynamic_security
from salvo_server.brokers.mosquitto.dynamic_security import Acl
from salvo_server.storage.register import Account

README = Path(__file__).parents[3] / "server" / "README.md"
Patch = pytest.MonkeyPatch
#: Of the doctor's own, so that a few sockets and tenths of a second show what hundreds and seconds do.
BRIEF = {"_FLOOD_SECONDS": 0.1, "_FLOOD_WAIT_SECONDS": 1.0, "_SILENT": 100, "_MAX_OF_AN_ADDRESS": 20, "_FILTERS": 200}
#: What is held back from a team by how busy this machine is, or by nothing on a plain mosquitto.
OF_THE_BROKER = {"flood", "silent sockets", "tls"}


@dataclass(frozen=True)
class Hole:
    """A defence that is taken away.

    Attributes:
        who_could: the table's row, in its first words.
        name: what was done to the contest.
        kind: the broker.
        found: the doctor's lines that fail.
        warned: those that warn.
        says: words of one of them.
        given: for :func:`guarded`.
        remove: what else is changed.
        front: a line of the front's that is left out; None when there is no front.
        profile: what the operator wants.
        shared: whether the server comes in where teams do.
        at_length: the doctor's own numbers, for what hangs on load.
    """

    who_could: str
    name: str
    kind: str
    found: frozenset[str] = frozenset()
    warned: frozenset[str] = frozenset()
    says: str = ""
    given: dict[str, Any] = field(default_factory=dict)
    remove: Callable[[Patch], None] = lambda _: None
    front: str | None = None
    profile: str | None = None
    shared: bool = False
    at_length: bool = False


# --- the server's own broker ----------------------------------------------------------------------------------------


class _Strangers(RosterAccess):
    def admits(self, client_id: str, username: str | None, password: str | None) -> bool:
        return username is None or super().admits(client_id, username, password)


class _AnyPassword(RosterAccess):
    def admits(self, client_id: str, username: str | None, password: str | None) -> bool:
        return username is not None and self.grant(username) is not None


class _AllTeamsRead(RosterAccess):
    def allows(self, client_id: str, username: str | None, action: Action, topic: str) -> bool:
        return (action == "receive" and "/error" in topic) or super().allows(client_id, username, action, topic)


class _RequestsRead(RosterAccess):
    def allows(self, client_id: str, username: str | None, action: Action, topic: str) -> bool:
        asked = topic.endswith("/request_participation")
        return (action == "receive" and asked) or super().allows(client_id, username, action, topic)


def _says(forged: str) -> type[RosterAccess]:
    class Says(RosterAccess):
        def allows(self, client_id: str, username: str | None, action: Action, topic: str) -> bool:
            said = action == "publish" and re.fullmatch(forged, topic) is not None
            return said or super().allows(client_id, username, action, topic)

    return Says


class _Defeats(RosterAccess):
    """Lets a team speak where its last will and its retained message go."""

    def allows(self, client_id: str, username: str | None, action: Action, topic: str) -> bool:
        own = topic == f"/players/{username}/defeated"
        return (action == "publish" and own) or super().allows(client_id, username, action, topic)

    def may_leave_messages(self, client_id: str, username: str | None, topic: str = "") -> bool:
        return True


class _Leaves(RosterAccess):
    """Lets a team leave messages where it may publish, which only the server reads."""

    def may_leave_messages(self, client_id: str, username: str | None, topic: str = "") -> bool:
        return True


class _ClientsNameThemselves(RosterAccess):
    def session_id(self, client_id: str, username: str | None) -> str:
        return client_id


class _NoPace(RosterAccess):
    messages_a_second = None  # type: ignore[assignment]


def _let_newcomers_stay(patch: Patch) -> None:
    patch.setattr(HardenedBroker, "make_room", lambda self: None)


# --- mosquitto ------------------------------------------------------------------------------------------------------


def _teams_may(*more: Acl) -> Callable[[Patch], None]:
    """Give all teams further rights; ``{name}`` in one is the team's."""
    roles_of = dynamic_security.roles_of

    def generous(account: Account, *rest: Any) -> dict[str, frozenset[Acl]]:
        roles = roles_of(account, *rest)
        if account.role is Role.TEAM:
            own = f"{dynamic_security.ROLE_PREFIX}{account.role} {account.name}"
            roles[own] |= {(kind, topic.format(name=account.name)) for kind, topic in more}
        return roles

    return lambda patch: patch.setattr(dynamic_security, "roles_of", generous)


def _rights_name_no_players(patch: Patch) -> None:
    patch.setattr(dynamic_security, "_MAX_TARGETS", 0)


class _Edited(ContestMosquitto):
    """Started from what is written for a contest, changed by an operator."""

    def __init__(self, change: Callable[[str], str], *given: Any) -> None:
        super().__init__(*given)
        self._change = change

    def _write_config(self) -> Path:
        config = super()._write_config()
        written = config.read_text()
        changed = self._change(written)
        assert changed != written
        config.write_text(changed)
        return config


def _without(*lines: str, more: str = "") -> dict[str, Any]:
    def change(text: str) -> str:
        for line in lines:
            text, count = re.subn(rf"^{line}\n", "", text, flags=re.MULTILINE)
            assert count, line
        return text + more

    return {"mosquitto": partial(_Edited, change)}


def _websocket(change: Callable[[str], str]) -> dict[str, Any]:
    """Change what is said of the listener for WebSockets."""

    def edit(text: str) -> str:
        before, word, after = text.partition("protocol websockets\n")
        listener, end, others = after.partition("listener ")
        return before + word + change(listener) + end + others

    return {"mosquitto": partial(_Edited, edit)}


def _plugin_of_one_listener(text: str) -> str:
    """Let the plugin guard the teams' listener alone, which per_listener_settings does; that for WebSockets is open."""
    plugin = "".join(re.findall(r"^plugin.*\n", text, re.MULTILINE))
    text = re.sub(r"^plugin.*\n|^allow_anonymous false\n", "", text, flags=re.MULTILINE)
    text = text.replace("per_listener_settings false", "per_listener_settings true")
    first, protocol, rest = text.partition("protocol mqtt\n")
    rest = rest.replace("protocol websockets\n", "protocol websockets\nallow_anonymous true\n")
    rest = rest.replace("use_username_as_clientid true\n", "", 2).replace(
        "protocol websockets\n", "protocol websockets\n"
    )
    return first + protocol + plugin + "use_username_as_clientid true\n" + rest


_SEND, _RECEIVE = "publishClientSend", "publishClientReceive"
#: mosquitto 2.0.11 holds one more for each login that it has refused.
_FEW = {"mosquitto": partial(ContestMosquitto, max_connections=30)}

COME_IN = "a stranger connects, reads and plays"
LISTEN = "an eavesdropper on the network reads passwords"
PRIVATE = "a team reads another's ships, hits and messages"
REQUESTS = "a team reads requests to take part, with their secrets"
FIGURES = "a team reads the broker's load and version"
FORGE = "a team publishes as the server: turns, results, the end"
FORGE_TEAM = "a team publishes as another team: chat, leaving, requests for the log"
COMMAND = "a team changes mosquitto's users and rights"
RETAIN = "a team leaves a retained message for later clients"
WILL = "a team publishes after it has disconnected"
FILL = "a team fills the broker's memory with retained commands"
TAKE_OVER = "a client ends another's connection, or takes its messages"
PACKETS = "a client fills memory with packets"
FILTERS = "a client uses up memory or time with filters"
FLOOD = "a team delays or drops others' shots with a flood"
SILENT = "a stranger blocks others with silent connections"
SERVER_OUT = "a stranger blocks the server with silent connections"

_OURS, _MOSQUITTO = "embedded", "mosquitto"
_KEPT_OUT, _NO_BOUND = "no one else is let in", "nothing bounds their number"
_NO_PACE = "nothing holds a team to a pace"
_IDS = frozenset({"client id, team", "client id, server"})
_LEFT = frozenset({"retained messages", "last will", "forged messages"})


def _hole(who_could: str, name: str, kind: str, *found: str, **given: Any) -> Hole:
    return Hole(who_could, name, kind, frozenset(found), **given)


HOLES = (
    _hole(COME_IN, "no name", _OURS, "anonymous", "server", given={"guard": _Strangers}),
    _hole(COME_IN, "any password", _OURS, "wrong password", given={"guard": _AnyPassword}),
    _hole(
        COME_IN,
        "allow_anonymous",
        _MOSQUITTO,
        "anonymous",
        "server",
        *_IDS,
        given=_without("allow_anonymous false", "use_username_as_clientid true", more="allow_anonymous true\n"),
    ),
    _hole(
        COME_IN,
        "the plugin at one listener",
        _MOSQUITTO,
        "anonymous",
        "client id, team",
        given={"mosquitto": partial(_Edited, _plugin_of_one_listener)},
    ),
    _hole(LISTEN, "no certificate", _OURS, "tls", given={"profile": "strict"}, profile="strict"),
    _hole(PRIVATE, "all read errors", _OURS, "private topics", given={"guard": _AllTeamsRead}),
    _hole(
        PRIVATE,
        "a right to all",
        _MOSQUITTO,
        "private topics",
        remove=_teams_may((_RECEIVE, "/players/+/hit"), (_RECEIVE, "/players/+/error")),
    ),
    _hole(REQUESTS, "all read requests", _OURS, "requests", "private topics", given={"guard": _RequestsRead}),
    _hole(
        REQUESTS,
        "a right to read them",
        _MOSQUITTO,
        "requests",
        "private topics",
        remove=_teams_may((_RECEIVE, "/game/request_participation")),
    ),
    _hole(FIGURES, "a right to $SYS", _MOSQUITTO, "$SYS", remove=_teams_may((_RECEIVE, "$SYS/#"))),
    _hole(FORGE, "one topic", _OURS, "forged messages", given={"guard": _says("/game/current")}),
    _hole(FORGE, "one that no team reads", _OURS, "forged messages", given={"guard": _says("/game/referee")}),
    _hole(FORGE, "a right to one topic", _MOSQUITTO, "forged messages", remove=_teams_may((_SEND, "/game/current"))),
    _hole(
        FORGE, "a right to the referee's", _MOSQUITTO, "forged messages", remove=_teams_may((_SEND, "/game/referee"))
    ),
    _hole(FORGE_TEAM, "another's chat", _OURS, "forged messages", given={"guard": _says("/players/[^/]+/say")}),
    _hole(
        FORGE_TEAM, "a right to all chat", _MOSQUITTO, "forged messages", remove=_teams_may((_SEND, "/players/+/say"))
    ),
    _hole(
        FORGE_TEAM,
        "a right to all resends",
        _MOSQUITTO,
        "forged messages",
        remove=_teams_may((_SEND, "/players/+/resend")),
    ),
    _hole(COMMAND, "a right to $CONTROL", _MOSQUITTO, "$CONTROL", remove=_teams_may((_SEND, "$CONTROL/#"))),
    _hole(RETAIN, "where it publishes", _OURS, "retained messages", "invented names", given={"guard": _Leaves}),
    _hole(RETAIN, "a right to wildcards", _MOSQUITTO, *_LEFT, remove=_teams_may((_SEND, "/players/+/defeated"))),
    _hole(WILL, "wills", _OURS, "retained messages", "last will", "invented names", given={"guard": _Defeats}),
    _hole(
        WILL,
        "a right to its own topics",
        _MOSQUITTO,
        "retained messages",
        "last will",
        "invented names",
        remove=_teams_may((_SEND, "/players/{name}/#")),
    ),
    _hole(FILL, "rights that name no players", _MOSQUITTO, "invented names", remove=_rights_name_no_players),
    _hole(
        FILL,
        "rights that name no ships",
        _MOSQUITTO,
        "invented names",
        remove=_teams_may((_SEND, "/players/{name}/ships/+/place")),
    ),
    _hole(TAKE_OVER, "ids of their own", _OURS, *_IDS, given={"guard": _ClientsNameThemselves}),
    _hole(TAKE_OVER, "ids of their own", _MOSQUITTO, *_IDS, given=_without("use_username_as_clientid true")),
    _hole(
        TAKE_OVER,
        "ids of their own by WebSocket",
        _MOSQUITTO,
        "client id, team",
        given=_websocket(lambda listener: listener.replace("use_username_as_clientid true\n", "")),
    ),
    _hole(PACKETS, "any packet", _OURS, "oversized packet", given={"broker_limits": BrokerLimits(packet_bytes=2**21)}),
    _hole(PACKETS, "any packet", _MOSQUITTO, "oversized packet", given=_without(r"max_packet_size \d+")),
    _hole(
        FILTERS,
        "any number",
        _OURS,
        "subscriptions",
        given={"broker_limits": BrokerLimits(subscriptions=10**6, all_subscriptions=10**6)},
    ),
    _hole(
        SILENT,
        "newcomers stay",
        _OURS,
        says=_KEPT_OUT,
        warned=frozenset({"silent sockets"}),
        given={"broker_limits": BrokerLimits(connections=40, connect_seconds=1000.0)},
        remove=_let_newcomers_stay,
    ),
    _hole(SILENT, "no front", _MOSQUITTO, says=_KEPT_OUT, warned=frozenset({"silent sockets"}), given=_FEW),
    _hole(SERVER_OUT, "no listener of its own", _MOSQUITTO, "silent sockets", given=_FEW, shared=True),
)
#: What hangs on what this machine has to spare, and what takes hundreds of sockets.
HOLES_UNDER_LOAD = (
    _hole(
        FLOOD, "no pace", _OURS, says=_NO_PACE, warned=frozenset({"flood"}), given={"guard": _NoPace}, at_length=True
    ),
    _hole(FLOOD, "no front", _MOSQUITTO, says=_NO_PACE, warned=frozenset({"flood", "silent sockets"}), at_length=True),
    _hole(
        FLOOD,
        "a front without its pace",
        _MOSQUITTO,
        says=_NO_PACE,
        warned=frozenset({"flood"}),
        front="filter lua.pace",
        at_length=True,
    ),
    _hole(
        SILENT,
        "no max_connections",
        _MOSQUITTO,
        says=_NO_BOUND,
        warned=frozenset({"flood", "silent sockets"}),
        given=_without(r"max_connections \d+"),
        at_length=True,
    ),
    _hole(
        SILENT,
        "a front without its bounds",
        _MOSQUITTO,
        says=_NO_BOUND,
        warned=frozenset({"silent sockets"}),
        front="tcp-request connection reject if { sc0_conn_cur gt 200 } || { sc0_conn_rate gt 200 }",
        at_length=True,
    ),
)


def _row(hole: Hole) -> Any:
    marks = [needs("mosquitto")] if hole.kind == _MOSQUITTO else []
    marks += [needs("haproxy")] if hole.front is not None else []
    marks += [pytest.mark.slow] if hole.at_length else []
    return pytest.param(hole, marks=marks, id=f"{hole.kind}: {hole.name}, so could {hole.who_could}")


@contextlib.contextmanager
def _doors(contest: Guarded, hole: Hole, folder: Path) -> Iterator[Target]:
    """Yield what teams come in by."""
    target = Target(BrokerUrl.parse(contest.url), profile=hole.profile)
    target.websocket = BrokerUrl.parse(contest.websocket_url)
    if contest.server_url:
        target.server = target.url if hole.shared else BrokerUrl.parse(contest.server_url)
    if hole.front is None:
        yield target
        return
    with Front(folder, target.url.port, target.websocket.port, without=hole.front) as front:
        target.url, target.ca = BrokerUrl.parse(front.url), str(front.certificate.cert)
        target.websocket = None
        yield target


def _of(findings: list[Finding], verdict: Verdict) -> set[str]:
    return {finding.check for finding in findings if finding.verdict is verdict}


@pytest.mark.parametrize("hole", [_row(hole) for hole in (*HOLES, *HOLES_UNDER_LOAD)])
def test_a_defence_that_is_taken_away_is_named_and_no_other(
    hole: Hole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not hole.at_length:
        for name, value in BRIEF.items():
            monkeypatch.setattr(break_in, name, value)
    monkeypatch.setattr(reach, "_CERTIFICATE_DAYS", 0)  # the front's is for a day
    hole.remove(monkeypatch)
    with (
        guarded(hole.kind, tmp_path, **hole.given) as contest,
        _doors(contest, hole, tmp_path) as target,
        temporary_teams(contest.roster) as (target.victim, target.attacker),
    ):
        findings = list(examine(target))
    assert _of(findings, Verdict.FAIL) == hole.found, [f.line for f in findings if f.verdict is not Verdict.PASS]
    warned = _of(findings, Verdict.WARN)
    assert hole.warned <= warned
    assert any(hole.says in finding.text for finding in findings if finding.check in hole.found | hole.warned)
    assert warned <= (hole.warned | {"tls"} if hole.at_length else OF_THE_BROKER)
    assert all(finding.cure for finding in findings if finding.verdict in (Verdict.FAIL, Verdict.WARN))


def test_each_defence_of_the_table_is_taken_away_or_said_not_to_be_seen() -> None:
    table = README.read_text().partition("<!-- defences -->")[2].partition("<!-- /defences -->")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")][1:]
    seen = {row[0]: set(re.findall(r"`([^`]+)`", row[-1])) for row in rows if not row[-1].startswith("not checked")}
    holes = (*HOLES, *HOLES_UNDER_LOAD)
    assert set(seen) == {hole.who_could for hole in holes}
    for who_could, lines in seen.items():
        found = [hole.found | hole.warned for hole in holes if hole.who_could == who_could]
        assert lines <= frozenset().union(*found), who_could
        assert all(lines & each for each in found), who_could
