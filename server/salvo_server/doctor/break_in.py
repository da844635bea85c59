"""Attempts to break in. Every one is made for real, and every one must fail.

Each attack is judged from another connection, the victim's control, or by what came to the attacker. No attempt is
judged by waiting: an attack is over when the broker has acknowledged it, and all that it did to a listener has come
when the listener's ping is answered. What an attack managed to leave behind is cleared by it.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from salvo import codec, topics
from salvo.topics import Action, Publisher, Reader, Role
from salvo_server.doctor.finding import Finding, Verdict, failed, passed, skipped
from salvo_server.doctor.probe import Login, Probe, ProbeError
from salvo_server.doctor.reach import able
from salvo_server.doctor.target import PREFIX, Patient
from salvo_server.storage.roster import KEEPER_USER, SERVER_USER

#: Four times the largest packet that a broker of ours takes.
_OVERSIZED_BYTES: Final = 1024 * 1024
#: More than any client of ours has, many times over.
_FILTERS: Final = 2000
#: Filters a packet; a subscription stays below the 16 KiB of the embedded broker.
_FILTERS_AT_ONCE: Final = 100
#: A team that a flood slows down more than this would lose turns.
_SLOW_MS: Final = 250.0
#: Answers of the server to a victim come at once; a derivation that is under way delays them by 50 ms.
_SERVER_SECONDS: Final = 5.0
#: All ways to ask for everything.
_EVERYTHING: Final = ("#", "/#", "+/#", "+/+/+", "/+/+/#", "$share/doctor/#")
#: Names of topics that a message may list.
_MAX_NAMED: Final = 4
_CURE: Final = "run the contest with --profile contest, on a broker that is furnished from the roster"

Attack = Callable[[Patient], Iterator[Finding]]


def _mark() -> bytes:
    """Bytes that no one else sends, and that no reader of ours understands."""
    return f"doctor {secrets.token_hex(8)}".encode()


def _listed(names: Iterable[str]) -> str:
    found = sorted(set(names))
    more = f" and {len(found) - _MAX_NAMED} more" if len(found) > _MAX_NAMED else ""
    return ", ".join(found[:_MAX_NAMED]) + more


# --- strangers ----------------------------------------------------------------------------------------------------


def come_without_a_name(patient: Patient) -> Iterator[Finding]:
    """Anonymous connections are refused (SALVO-ACCESS-2)."""
    for client_id in (f"{PREFIX}{secrets.token_hex(4)}", ""):
        probe, greeting = patient.enter(None, client_id)
        probe.close()
        if greeting.accepted:
            yield failed(
                "anonymous", "any client that reaches the broker is admitted, without a name or password", _CURE
            )
            return
    yield passed("anonymous", f"a client without a name is turned away: {greeting}")


def come_with_a_wrong_password(patient: Patient) -> Iterator[Finding]:
    """A wrong password is refused, and disconnects no one."""
    control = patient.listen() if able(patient) else None
    for user in (patient.teams[0], f"{patient.teams[0]}.1", SERVER_USER, KEEPER_USER, "admin"):
        for word in (secrets.token_urlsafe(16), ""):
            if _comes_in(patient, Login(user, word)):
                yield failed("wrong password", f"any client is admitted as {user!r}, with any password", _CURE)
                return
    if control is not None and not control.ping():
        text = "an attempt in a team's name, with a wrong password, disconnects that team"
        yield failed("wrong password", text, "mosquitto 2, or the embedded broker")
        return
    yield passed("wrong password", f"refused, as {patient.teams[0]}, {SERVER_USER}, {KEEPER_USER} and admin")


def _comes_in(patient: Patient, login: Login) -> bool:
    """Whether a login is let in; no session is ended by it and none is left, but for the server's own."""
    with contextlib.closing(patient.connect()) as probe:
        accepted = probe.greet(login.user, login, clean=False).accepted
    if accepted and login.user != SERVER_USER:
        probe, _ = patient.enter(login)
        probe.close()
    return accepted


# --- reading ------------------------------------------------------------------------------------------------------


def read_private_topics(patient: Patient) -> Iterator[Finding]:
    """What one team alone may read reaches no other team, live or retained, by name or by wildcard."""
    control = patient.listen()
    victim, attacker = patient.teams
    own = [topic for topic in topics.TOPICS if topic.reader in (Reader.OWNER, Reader.REFEREE)]
    named = [topic.of(table, player=victim, ship="carrier") for topic in own for table in patient.tables]
    with patient.attacking() as attack:
        attack.subscribe(*named, f"/players/{victim}/#", f"/players/{victim}/+", "/players/+/hit", *_EVERYTHING)
        attack.ping()
        proven = _make_private_news(patient, control)
        attack.ping()
        seen = [
            heard.topic for heard in attack.heard if heard.payload and not _may_read(patient, attacker, heard.topic)
        ]
    if seen:
        text = f"a team reads what only another team may read, or no team, such as its hits and errors: {_listed(seen)}"
        yield failed("private topics", text, _CURE)
    elif not proven:
        yield skipped(
            "private topics", "nothing retained was read; the server gave no private answer to try it live on"
        )
    else:
        yield passed("private topics", f"what the server told {victim} alone did not come to {attacker}, by no filter")


def _make_private_news(patient: Patient, control: Probe) -> bool:
    """Let something be said to the victim alone; return whether it came to the victim.

    A request with a wrong secret is answered to the name in it, and changes nothing. Where such a request could take a
    seat at the table, because the server has no roster, the broker is open and the victim says it itself.
    """
    [victim, _] = patient.teams
    topic = topics.ERROR.of(patient.tables[0], player=victim)
    already = sum(heard.topic == topic for heard in control.heard)
    status = patient.status
    if patient.is_open and (status is None or status.profile == "literal"):
        control.publish(topic, _mark())
    elif status is None or status.profile == "literal" or not status.online:
        return False
    else:
        asked = topics.REQUEST_PARTICIPATION.of(patient.tables[0])
        control.publish(asked, codec.write_participation(victim, secrets.token_urlsafe(16)))
    left = already

    def fresh(heard: object) -> bool:
        nonlocal left
        if getattr(heard, "topic", "") != topic:
            return False
        left -= 1
        return left < 0

    return control.wait_for(fresh, _SERVER_SECONDS) is not None


def _may_read(patient: Patient, name: str, topic: str) -> bool:
    return topics.may(Role.TEAM, name, list(patient.tables), Action.RECEIVE, topic)


def read_requests(patient: Patient) -> Iterator[Finding]:
    """What is sent to the server alone, including secrets, reaches no one else (SALVO-JOIN-1)."""
    control = patient.listen()
    mark = _mark()
    asked = topics.REQUEST_PARTICIPATION.of(patient.tables[0])
    with patient.attacking() as attack:
        attack.subscribe(asked, "/game/+", *_EVERYTHING)
        control.publish(asked, b'{"doctor": "%s"}' % mark)
        attack.ping()
        seen = any(mark in heard.payload for heard in attack.heard)
    if seen:
        text = f"any team can read {asked}, and with it the secret of every team that asks to take part"
        yield failed("requests", text, _CURE)
    else:
        yield passed("requests", f"only the server reads {asked}")


def read_the_brokers_figures(patient: Patient) -> Iterator[Finding]:
    """``$SYS`` is not for teams."""
    with patient.attacking() as attack:
        attack.subscribe("$SYS/#", "$SYS/broker/clients/connected", "$SYS/broker/version")
        attack.ping()
        seen = [heard.topic for heard in attack.heard if heard.topic.startswith("$SYS")]
    if seen:
        text = f"a team reads the broker's own figures, its version and load: {_listed(seen)}"
        yield failed("$SYS", text, _CURE)
    else:
        yield passed("$SYS", "nothing of the broker's own figures is read")


# --- speaking -----------------------------------------------------------------------------------------------------


def speak_as_the_server(patient: Patient) -> Iterator[Finding]:
    """No one else can speak as the server."""
    control = patient.listen()
    victim, _ = patient.teams
    mark = _mark()
    said = [topic for topic in topics.TOPICS if topic.publisher is Publisher.SERVER]
    with patient.attacking() as attack:
        for table in patient.tables:
            for topic in said:
                if attack.alive:
                    attack.publish(topic.of(table, player=victim, ship="carrier"), mark)
    control.ping()
    seen = [heard.topic for heard in control.heard if heard.payload == mark]
    if seen:
        text = f"a team speaks as the server: says whose turn it is, who has won, what was hit, on {_listed(seen)}"
        yield failed("forged messages", text, _CURE)
    else:
        yield passed(
            "forged messages", f"nothing came of {len(said) * len(patient.tables)} messages in the server's name"
        )


def command_the_broker(patient: Patient) -> Iterator[Finding]:
    """``$CONTROL``, where mosquitto gets its users and rights, obeys no one else."""
    topic = "$CONTROL/dynamic-security/v1"
    command = json.dumps({"commands": [{"command": "listClients"}, {"command": "getDefaultACLAccess"}]}).encode()
    with patient.attacking() as attack:
        attack.subscribe("$CONTROL/#", f"{topic}/response", topic)
        if attack.alive:
            attack.publish(topic, command)
        if attack.alive:
            attack.ping()
        seen = [heard for heard in attack.heard if heard.topic.startswith("$CONTROL")]
    if seen:
        text = "a team commands the broker's plugin for users and rights: it can become any user"
        yield failed("$CONTROL", text, "give the right to $CONTROL to the roster's keeper alone")
    else:
        yield passed("$CONTROL", "commands to the broker are not obeyed")


def leave_a_retained_message(patient: Patient) -> Iterator[Finding]:
    """Only the server can leave a message for all who connect later."""
    control = patient.listen()
    _, attacker = patient.teams
    mark = _mark()
    # Nothing of the contest's ever stands there, so that clearing it afterwards takes away nothing.
    places = [topics.DEFEATED.of(table, player=attacker) for table in patient.tables]
    places += [f"{PREFIX}{mark.decode().split()[1]}", topics.FIRE.of(patient.tables[0], player=attacker)]
    with patient.attacking() as attack:
        for topic in places:
            if attack.alive:
                attack.publish(topic, mark, retain=True)
        control.subscribe(*places)
        control.ping()
        left = [heard.topic for heard in control.heard if heard.payload == mark and heard.retain]
        _clear(attack, places)
    if left:
        text = f"a team leaves messages for all who connect later, and for every server that starts: {_listed(left)}"
        yield failed("retained messages", text, _CURE)
    else:
        yield passed("retained messages", f"none was left on {len(places)} topics")


def leave_a_last_will(patient: Patient) -> Iterator[Finding]:
    """Only the server can leave a message that the broker publishes in its place."""
    control = patient.listen()
    _, attacker = patient.teams
    mark = _mark()
    topic = topics.DEFEATED.of(patient.tables[0], player=attacker)
    with contextlib.closing(patient.connect()) as attack:
        greeting = attack.greet(attacker, patient.attacker, will=(topic, mark))
        if greeting.accepted:
            attack.say(b"\0\0")  # no packet: the broker must hang up, and publish the will
            attack.wait_for_end()
    with patient.attacking() as after:  # whose session takes the place of the one that died
        control.ping()
        left = any(heard.payload == mark for heard in control.heard)
        _clear(after, [topic] if left else [])
    if left:
        text = f"a team's last will is published where it has no right to speak: on {topic}, retained"
        yield failed("last will", text, _CURE)
    elif greeting.accepted:
        yield passed("last will", "it is accepted, and not published")
    else:
        yield passed("last will", f"a client that brings one is turned away: {greeting}")


def _clear(probe: Probe, places: Iterable[str]) -> None:
    for topic in places:
        if probe.alive:
            probe.publish(topic, b"", retain=True)


# --- pretending to be another client ------------------------------------------------------------------------------


def take_over_a_team(patient: Patient) -> Iterator[Finding]:
    """Another team's client id does not end its connection (MQTT 3.1.1, 3.1.4-2, would want it to)."""
    control = patient.listen()
    victim, attacker = patient.teams
    probe, greeting = patient.enter(patient.attacker, victim)
    survived = control.ping()
    probe.close()
    if survived:
        answer = "is let in under its own name" if greeting.accepted else f"is turned away: {greeting}"
        yield passed(
            "client id, team", f"{attacker} came with the client id of {victim}, {answer}, and disturbed no one"
        )
    else:
        text = "any client that knows a team's client id disconnects it, and gets its messages"
        yield failed("client id, team", text, "bind client ids to users (mosquitto: use_username_as_clientid true)")


def take_over_the_server(patient: Patient) -> Iterator[Finding]:
    """The server's client id is worth nothing without the server's password."""
    control = patient.listen()
    topic = topics.SERVER.of(patient.tables[0])
    before = len(control.heard)
    with contextlib.closing(patient.connect()) as attack:
        # Not a clean session: the server's, if it falls into our hands, stays as it is for the server to come back to.
        greeting = attack.greet(SERVER_USER, patient.attacker, clean=False)
        control.ping()
        told = [heard for heard in control.heard[before:] if heard.topic == topic and b'"offline"' in heard.payload]
    if not greeting.session_present:
        with contextlib.closing(patient.connect()) as after:
            after.greet(SERVER_USER, patient.attacker)  # a clean one leaves no session behind
    if greeting.session_present or told:
        what = "gets the server's session, and with it the teams' secrets" if greeting.session_present else "ends it"
        text = f"a client with the id {SERVER_USER!r} disconnects the server and {what}"
        yield failed("client id, server", text, "bind client ids to users (mosquitto: use_username_as_clientid true)")
    else:
        answer = "let in under its own name" if greeting.accepted else f"turned away: {greeting}"
        yield passed(
            "client id, server", f"a client with the id {SERVER_USER!r} was {answer}, and the server is undisturbed"
        )


# --- being too much -----------------------------------------------------------------------------------------------


def send_an_oversized_packet(patient: Patient) -> Iterator[Finding]:
    """A packet that no command needs is not even read."""
    control = patient.listen()
    _, attacker = patient.teams
    topic = topics.PLACE.of(patient.tables[0], player=attacker, ship="carrier")
    with patient.attacking() as attack:
        taken = attack.publish(topic, bytes(_OVERSIZED_BYTES))
    if not control.ping():
        yield failed("oversized packet", "one packet of 1 MiB disconnects others", "limit packets at the broker")
    elif taken:
        text = "a packet of 1 MiB is taken: a few connections fill the broker's memory"
        yield failed("oversized packet", text, "mosquitto: max_packet_size 262144")
    else:
        yield passed("oversized packet", "a client that sends 1 MiB in one packet is disconnected, and no one else")


def subscribe_to_too_much(patient: Patient) -> Iterator[Finding]:
    """Thousands of filters are refused, or at least cost no one else anything."""
    control = patient.listen()
    granted, slowest, unharmed = 0, 0.0, True
    with patient.attacking() as attack:
        for first in range(0, _FILTERS, _FILTERS_AT_ONCE):
            wanted = [f"/players/x{number}/+/#" for number in range(first, first + _FILTERS_AT_ONCE)]
            answer = attack.subscribe(*wanted)
            granted += sum(code != 128 for code in answer)
            unharmed, took = _ping_ms(control)
            slowest = max(slowest, took)
            if not (attack.alive and unharmed) or 128 in answer:
                break
    if not unharmed or slowest > _SLOW_MS:
        text = f"{granted} filters of one client make others wait {slowest:.0f} ms"
        yield failed("subscriptions", text, "limit subscriptions at the broker")
    elif granted < _FILTERS:
        yield passed("subscriptions", f"a client is refused more than {granted} filters")
    else:
        yield passed("subscriptions", f"{granted} filters of one client are taken, and others wait {slowest:.1f} ms")


def _ping_ms(probe: Probe) -> tuple[bool, float]:
    """Return whether a probe is answered, and how fast; the best of three, as this machine may be busy itself."""
    took = []
    for _ in range(3):
        started = time.monotonic()
        if not probe.ping():
            return False, 0.0
        took.append(1000 * (time.monotonic() - started))
    return True, min(took)


# --- afterwards ---------------------------------------------------------------------------------------------------


def look_after(patient: Patient) -> Iterator[Finding]:
    """The server has lived through it all, and nothing of ours is left."""
    control = patient.listen()
    control.heard.clear()
    control.subscribe("#")
    control.ping()
    left = [heard.topic for heard in control.heard if heard.payload.startswith(b"doctor ") and heard.retain]
    if left:
        yield failed("afterwards", f"still retained: {_listed(left)}", "clear them: publish an empty retained message")
        return
    topic = topics.SERVER.of(patient.tables[0])
    if patient.status is not None and patient.status.online:
        alive = control.wait_for(
            lambda heard: heard.topic == topic and b'"offline"' not in heard.payload, _SERVER_SECONDS
        )
        if alive is None:
            yield failed("afterwards", "the server did not live through this", "look into its log")
            return
    yield passed("afterwards", "the server is as it was, and nothing of this examination is left behind")


#: In the order in which they are tried: what strangers can do, what a team can, and whether all is as before.
STRANGERS: Final[tuple[Attack, ...]] = (come_without_a_name, come_with_a_wrong_password)
TEAMS: Final[tuple[Attack, ...]] = (
    read_private_topics,
    read_requests,
    read_the_brokers_figures,
    speak_as_the_server,
    command_the_broker,
    leave_a_retained_message,
    leave_a_last_will,
    take_over_a_team,
    take_over_the_server,
    send_an_oversized_packet,
    subscribe_to_too_much,
    look_after,
)


def possible(patient: Patient) -> Sequence[Attack]:
    """Return what can be tried, as far as the broker answers and there are accounts."""
    if not patient.reachable or patient.is_open is None:
        return ()
    return (*STRANGERS, *TEAMS) if able(patient) else STRANGERS


def left_out(patient: Patient) -> Iterator[Finding]:
    """Tell what could not be tried."""
    missing = [attack for attack in (*STRANGERS, *TEAMS) if attack not in possible(patient)]
    if missing:
        why = "what a team could do takes an account" if patient.reachable else "the broker cannot be reached"
        yield skipped("break-in", f"{len(missing)} attempts are not made: {why}")


def attempt(patient: Patient, attack: Attack) -> Iterator[Finding]:
    """Make one attempt; a broker that falls silent has failed it."""
    try:
        for finding in attack(patient):
            yield _expected(patient, finding)
    except ProbeError as error:
        name = attack.__name__.replace("_", " ")
        yield failed("break-in", f"{name}: {error.text}", "look into the broker's log")


def _expected(patient: Patient, finding: Finding) -> Finding:
    """On a broker that is meant to be open, what it allows to all clients is no failure."""
    if (
        finding.verdict is Verdict.FAIL
        and patient.is_open
        and patient.profile == "literal"
        and finding.check != "afterwards"
    ):
        return skipped(finding.check, f"{finding.text}; as the profile literal has it")
    return finding
