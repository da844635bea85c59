"""Attempts to break in. Every one is made for real, and every one must fail.

Each attack is judged from another connection, the victim's control, or by what came to the attacker. No attempt is
judged by waiting: an attack is over when the broker has acknowledged it, and all that it did to a listener has come
when the listener's ping is answered. What an attack managed to leave behind is cleared by it.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import selectors
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from salvo import permissions, topics
from salvo.codec.command_writer import write_participation
from salvo.errors import ConnectionLost
from salvo.net.mqtt import BrokerUrl, Connection
from salvo.permissions import Action, Role
from salvo.topics import Publisher, Reader
from salvo_audit.doctor.finding import Finding, Verdict, failed, passed, skipped, warned
from salvo_audit.doctor.probe import ANSWER_SECONDS, Heard, Login, Probe, ProbeError
from salvo_audit.doctor.reach import able
from salvo_audit.doctor.target import PREFIX, Target
from salvo_server.settings import OPEN_PROFILES
from salvo_server.storage.roster import KEEPER_USER, SERVER_USER

#: Four times the largest packet that our brokers accept.
_OVERSIZED_BYTES: Final = 1024 * 1024
#: Many times more than any of our clients has.
_FILTERS: Final = 2000
#: Filters a packet; a subscription stays below the 16 KiB of the embedded broker.
_FILTERS_AT_ONCE: Final = 100
#: A team that a flood slows down more than this would lose turns.
_SLOW_MS: Final = 250.0
#: Answers of the server to a victim come at once; a derivation that is under way delays them by 50 ms.
_SERVER_SECONDS: Final = 5.0
#: All ways to ask for everything.
_EVERYTHING: Final = ("#", "/#", "+/#", "+/+/+", "/+/+/#", "$share/doctor/#")
#: More than mosquitto holds at a listener, and fewer than a process may open.
_SILENT: Final = 600
#: Of one address, and still others get in: the front takes 200, mosquitto by itself all 512.
_MAX_OF_AN_ADDRESS: Final = 300
#: Twice the server's queue at mosquitto, at the speed that mosquitto takes messages.
_FLOOD_SECONDS: Final = 2.0
#: What another team says meanwhile. The server answers so many requests in a name at once.
_FLOOD_REQUESTS: Final = 8
_LATE_SECONDS: Final = 1.0
_FLOOD_WAIT_SECONDS: Final = 5.0
#: The most that a broker takes of one client, a second and at once; the front lets 3,000 and 1,500 of the smallest
#: messages through, the server's own broker takes 1,000 and 2,000.
_MAX_TAKEN: Final = 3_000
_FRONT: Final = "put the front before mosquitto: docker compose --profile public up"
_OWN_LISTENER: Final = "a listener of its own for the server, as salvo mosquitto writes it"
#: Names of topics that a message may list.
_MAX_NAMED: Final = 4
_CURE: Final = "run the contest with --profile contest, on a broker that gets its accounts from the roster"

_OPEN_CURE: Final = (
    "salvo mosquitto FOLDER --profile open sets up one that prevents it; so does the server's own broker"
)
#: What is open by its nature where nobody logs in.
_WITHOUT_LOGIN: Final = frozenset({"anonymous", "wrong password", "client id, team"})

Attack = Callable[[Target], Iterator[Finding]]


def _mark() -> bytes:
    """Bytes that no one else sends, and that no reader of ours understands."""
    return f"doctor {secrets.token_hex(8)}".encode()


def _listed(names: Iterable[str]) -> str:
    found = sorted(set(names))
    more = f" and {len(found) - _MAX_NAMED} more" if len(found) > _MAX_NAMED else ""
    return ", ".join(found[:_MAX_NAMED]) + more


# --- strangers ----------------------------------------------------------------------------------------------------


def come_without_a_name(target: Target) -> Iterator[Finding]:
    """Anonymous connections are refused (SALVO-ACCESS-2)."""
    for client_id in (f"{PREFIX}{secrets.token_hex(4)}", ""):
        probe, greeting = target.log_in(None, client_id)
        probe.close()
        if greeting.accepted:
            yield failed(
                "anonymous", "any client that reaches the broker is admitted, without a name or password", _CURE
            )
            return
    with _by_websocket(target, None, f"{PREFIX}{secrets.token_hex(4)}") as admitted:
        if admitted:
            yield failed(
                "anonymous", f"any client is admitted at {target.websocket}, without a name or password", _CURE
            )
            return
    yield passed("anonymous", f"a client without a name is turned away: {greeting}")


@contextlib.contextmanager
def _by_websocket(target: Target, login: Login | None, client_id: str) -> Iterator[bool]:
    """Connect to the WebSocket listener, if one is known, for a ``with`` block; yield whether that was accepted."""
    if target.websocket is None:
        yield False
        return
    user, secret = login or (None, None)
    connection = Connection(
        target.websocket, client_id, username=user, password=secret, clean_session=True, ca=target.ca
    )
    try:
        connection.connect(ANSWER_SECONDS)
    except ConnectionLost:
        yield False
    else:
        yield True
    finally:
        connection.close()


def come_with_a_wrong_password(target: Target) -> Iterator[Finding]:
    """A wrong password is refused, and disconnects no one."""
    control = target.listen() if able(target) else None
    for user in (target.teams[0], f"{target.teams[0]}.1", SERVER_USER, KEEPER_USER, "admin"):
        for word in (secrets.token_urlsafe(16), ""):
            if _comes_in(target, Login(user, word)):
                yield failed("wrong password", f"any client is admitted as {user!r}, with any password", _CURE)
                return
    if control is not None and not control.ping():
        text = "an attempt in a team's name, with a wrong password, disconnects that team"
        yield failed("wrong password", text, "mosquitto 2, or the embedded broker")
        return
    yield passed("wrong password", f"refused, as {target.teams[0]}, {SERVER_USER}, {KEEPER_USER} and admin")


def _comes_in(target: Target, login: Login) -> bool:
    """Whether a login is admitted; no session is ended by it and none is left, except the server's own."""
    with contextlib.closing(target.connect()) as probe:
        accepted = probe.greet(login.user, login, clean=False).accepted
    if accepted and login.user != SERVER_USER:
        probe, _ = target.log_in(login)
        probe.close()
    return accepted


# --- reading ------------------------------------------------------------------------------------------------------


def read_private_topics(target: Target) -> Iterator[Finding]:
    """What one team alone may read reaches no other team, live or retained, by name or by wildcard."""
    if target.meant_to_be_open:
        text = "any client reads what the server tells one team, such as its hits and errors"
        yield skipped("private topics", f"{text}; as the profile open has it")
        return
    control = target.listen()
    victim, attacker = target.teams
    own = [topic for topic in topics.TOPICS if topic.reader in (Reader.OWNER, Reader.REFEREE)]
    named = [topic.of(table, player=victim, ship="carrier") for topic in own for table in target.tables]
    with target.attacking() as attack:
        attack.subscribe(*named, f"/players/{victim}/#", f"/players/{victim}/+", "/players/+/hit", *_EVERYTHING)
        attack.ping()
        proven = _make_private_news(target, control)
        attack.ping()
        seen = [heard.topic for heard in attack.heard if heard.payload and not _may_read(target, attacker, heard.topic)]
    if seen:
        text = f"a team reads what only another team may read, or no team, such as its hits and errors: {_listed(seen)}"
        yield failed("private topics", text, _CURE)
    elif not proven:
        yield skipped(
            "private topics", "nothing retained was read; the server gave no private answer to try it live on"
        )
    else:
        yield passed("private topics", f"what the server told {victim} alone did not reach {attacker}, by any filter")


def _make_private_news(target: Target, control: Probe) -> bool:
    """Let something be said to the victim alone; return whether it came to the victim.

    A request with a wrong secret is answered to the name in it, and changes nothing. Where such a request could take a
    seat at the table, because the server has no roster, the broker is open and the victim says it itself.
    """
    [victim, _] = target.teams
    topic = topics.ERROR.of(target.tables[0], player=victim)
    already = sum(heard.topic == topic for heard in control.heard)
    status = target.status
    if target.is_open and (status is None or status.profile in OPEN_PROFILES):
        control.publish(topic, _mark())
    elif status is None or status.profile in OPEN_PROFILES or not status.online:
        return False
    else:
        asked = topics.REQUEST_PARTICIPATION.of(target.tables[0])
        control.publish(asked, write_participation(victim, secrets.token_urlsafe(16)))
    left = already

    def fresh(heard: object) -> bool:
        nonlocal left
        if getattr(heard, "topic", "") != topic:
            return False
        left -= 1
        return left < 0

    return control.wait_for(fresh, _SERVER_SECONDS) is not None


def _may_read(target: Target, name: str, topic: str) -> bool:
    return permissions.may(Role.TEAM, name, list(target.tables), Action.RECEIVE, topic)


def read_requests(target: Target) -> Iterator[Finding]:
    """What is sent to the server alone, including secrets, reaches no one else (SALVO-JOIN-1)."""
    control = target.listen()
    mark = _mark()
    asked = topics.REQUEST_PARTICIPATION.of(target.tables[0])
    with target.attacking() as attack:
        attack.subscribe(asked, "/game/+", *_EVERYTHING)
        control.publish(asked, b'{"doctor": "%s"}' % mark)
        attack.ping()
        seen = any(mark in heard.payload for heard in attack.heard)
    if seen:
        text = f"any team can read {asked}, and with it the secret of every team that asks to take part"
        yield failed("requests", text, _CURE)
    else:
        yield passed("requests", f"only the server reads {asked}")


def read_the_brokers_figures(target: Target) -> Iterator[Finding]:
    """``$SYS`` is not for teams."""
    with target.attacking() as attack:
        attack.subscribe("$SYS/#", "$SYS/broker/clients/connected", "$SYS/broker/version")
        attack.ping()
        seen = [heard.topic for heard in attack.heard if heard.topic.startswith("$SYS")]
    if seen:
        text = f"a team reads the broker's own figures, its version and load: {_listed(seen)}"
        yield failed("$SYS", text, _CURE)
    else:
        yield passed("$SYS", "nothing of the broker's own figures is read")


# --- speaking -----------------------------------------------------------------------------------------------------


def speak_as_another(target: Target) -> Iterator[Finding]:
    """No one else can speak as the server, nor as another team; what no team may read, MQTT 5 tells of."""
    control = target.listen()
    victim, _ = target.teams
    mark = _mark()
    others = {Publisher.SERVER} if target.is_open else {Publisher.SERVER, Publisher.OWNER}
    said = [topic for topic in topics.TOPICS if topic.publisher in others]
    places = [topic.of(table, player=victim, ship="carrier") for topic in said for table in target.tables]
    with target.attacking() as attack:
        for place in places:
            if attack.alive:
                attack.publish(place, mark)
    control.ping()
    seen = [heard.topic for heard in control.heard if heard.payload == mark]
    seen += _taken(target, places, mark).topics
    if seen:
        text = "a team speaks as the server or as another team: says whose turn it is, who has won, what was hit"
        yield failed("forged messages", f"{text}, on {_listed(seen)}", _CURE)
    else:
        yield passed("forged messages", f"nothing came of {len(places)} messages in another's name")


class _Taken(NamedTuple):
    """The topics on which a broker took messages, as MQTT 5 tells; whether it speaks that, and is the server's own."""

    topics: list[str]
    spoken: bool
    ours: bool


def _taken(target: Target, places: Iterable[str], payload: bytes, *, retain: bool = False) -> _Taken:
    """Publish as the attacker with MQTT 5, which tells what was taken; and clear it. Without MQTT 5 nothing is."""
    _, attacker = target.teams
    taken: list[str] = []
    with contextlib.closing(target.connect()) as attack:
        greeting = attack.greet(attacker, target.attacker, level=5)
        for topic in places if greeting.accepted else ():
            refused = attack.refused
            if attack.alive and attack.publish(topic, payload, retain=retain) and attack.refused == refused:
                taken.append(topic)
        _clear(attack, taken if retain else ())
    return _Taken(taken, greeting.accepted, greeting.ours)


def command_the_broker(target: Target) -> Iterator[Finding]:
    """``$CONTROL``, where mosquitto gets its users and rights, obeys no one else."""
    topic = "$CONTROL/dynamic-security/v1"
    command = json.dumps({"commands": [{"command": "listClients"}, {"command": "getDefaultACLAccess"}]}).encode()
    with target.attacking() as attack:
        attack.subscribe("$CONTROL/#", f"{topic}/response", topic)
        if attack.alive:
            attack.publish(topic, command)
        if attack.alive:
            attack.ping()
        seen = [heard.topic for heard in attack.heard if heard.topic.startswith("$CONTROL")]
    seen += _taken(target, [topic], command).topics  # obeyed, though the answer does not come to the team
    if seen:
        text = "a team commands the broker's plugin for users and rights: it can become any user"
        yield failed("$CONTROL", text, "give the right to $CONTROL to the roster's keeper alone")
    else:
        yield passed("$CONTROL", "commands to the broker are not obeyed")


def leave_a_retained_message(target: Target) -> Iterator[Finding]:
    """Only the server can leave a message for all who connect later."""
    control = target.listen()
    _, attacker = target.teams
    mark = _mark()
    # The contest retains nothing there, so that clearing it afterwards removes nothing.
    places = [topics.DEFEATED.of(table, player=attacker) for table in target.tables]
    places += [f"{PREFIX}{mark.decode().split()[1]}", topics.FIRE.of(target.tables[0], player=attacker)]
    with target.attacking() as attack:
        for topic in places:
            if attack.alive:
                attack.publish(topic, mark, retain=True)
        control.subscribe(*places)
        control.ping()
        left = [heard.topic for heard in control.heard if heard.payload == mark and heard.retain]
        _clear(attack, places)
    # What only the server reads; mosquitto has to take it where a team may publish, and the server clears it.
    taken = _taken(target, places, mark, retain=True)
    left += taken.topics if taken.ours else ()
    if left:
        text = f"a team leaves messages for all who connect later, and for every server that starts: {_listed(left)}"
        yield failed("retained messages", text, _CURE)
    else:
        yield passed("retained messages", f"none was left on {len(places)} topics")


def leave_a_last_will(target: Target) -> Iterator[Finding]:
    """Only the server can leave a message that the broker publishes in its place."""
    control = target.listen()
    _, attacker = target.teams
    mark = _mark()
    topic = topics.DEFEATED.of(target.tables[0], player=attacker)
    with contextlib.closing(target.connect()) as attack:
        greeting = attack.greet(attacker, target.attacker, will=(topic, mark))
        if greeting.accepted:
            attack.say(b"\0\0")  # no packet: the broker must hang up, and publish the will
            attack.wait_for_end()
    with target.attacking() as after:  # whose session takes the place of the one that died
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


def take_over_a_team(target: Target) -> Iterator[Finding]:
    """Another team's client id does not end its connection (MQTT 3.1.1, 3.1.4-2, would want it to)."""
    control = target.listen()
    victim, attacker = target.teams
    probe, greeting = target.log_in(target.attacker, victim)
    survived = control.ping()
    probe.close()
    if survived:
        with _by_websocket(target, target.attacker, victim):
            survived = control.ping()
    if survived:
        answer = "is let in under its own name" if greeting.accepted else f"is turned away: {greeting}"
        yield passed(
            "client id, team", f"{attacker} came with the client id of {victim}, {answer}, and disturbed no one"
        )
    else:
        text = "any client that knows a team's client id disconnects it, and gets its messages"
        yield failed("client id, team", text, "bind client ids to users (mosquitto: use_username_as_clientid true)")


def take_over_the_server(target: Target) -> Iterator[Finding]:
    """The server's client id is worth nothing without the server's password."""
    control = target.listen()
    topic = topics.SERVER.of(target.tables[0])
    before = len(control.heard)
    with contextlib.closing(target.connect()) as attack:
        # Not a clean session: the server's, if it falls into our hands, stays as it is for the server to come back to.
        greeting = attack.greet(SERVER_USER, target.attacker, clean=False)
        control.ping()
        told = [heard for heard in control.heard[before:] if heard.topic == topic and b'"offline"' in heard.payload]
    if not greeting.session_present:
        with contextlib.closing(target.connect()) as after:
            after.greet(SERVER_USER, target.attacker)  # a clean one leaves no session behind
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


def send_an_oversized_packet(target: Target) -> Iterator[Finding]:
    """A packet that no command needs is not even read."""
    control = target.listen()
    _, attacker = target.teams
    topic = topics.PLACE.of(target.tables[0], player=attacker, ship="carrier")
    with target.attacking() as attack:
        taken = attack.publish(topic, bytes(_OVERSIZED_BYTES))
    if not control.ping():
        yield failed("oversized packet", "one packet of 1 MiB disconnects others", "limit packets at the broker")
    elif taken:
        text = "a packet of 1 MiB is taken: a few connections fill the broker's memory"
        yield failed("oversized packet", text, "mosquitto: max_packet_size 262144")
    else:
        yield passed("oversized packet", "a client that sends 1 MiB in one packet is disconnected, and no one else")


def subscribe_to_too_much(target: Target) -> Iterator[Finding]:
    """Thousands of filters are refused, or at least cost no one else anything."""
    control = target.listen()
    granted, slowest, unharmed = 0, 0.0, True
    with target.attacking() as attack:
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
    elif granted >= _FILTERS and _taken(target, (), b"").ours:
        text = f"{granted} filters of one client are taken: each costs the broker memory, and every message time"
        yield failed("subscriptions", text, "restore BrokerLimits.subscriptions")
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


def fill_the_brokers_memory(target: Target) -> Iterator[Finding]:
    """No team can leave messages under names that it makes up; only MQTT 5 tells the sender that it was not taken."""
    if target.meant_to_be_open:
        yield skipped("invented names", "without accounts there are no names that would be invented")
        return
    _, attacker = target.teams
    invented = f"{PREFIX}{secrets.token_hex(4)}"
    places = [topics.FIRE.of(table, player=invented) for table in target.tables]
    places += [topics.PLACE.of(table, player=attacker, ship=invented) for table in target.tables]
    taken = _taken(target, places, b"x", retain=True)
    if not taken.spoken:
        text = "this broker does not speak MQTT 5, which alone tells whether a message was taken"
        yield skipped("invented names", text)
    elif taken.topics:
        text = f"a team leaves as many messages as it makes up names: {len(taken.topics)} of {len(places)} were taken"
        cure = "let the server keep the rights of this mosquitto: salvo mosquitto, and --broker without a user"
        yield failed("invented names", text, cure)
    else:
        yield passed("invented names", f"{len(places)} topics of players and ships that do not exist are refused")


def flood_the_server(target: Target) -> Iterator[Finding]:
    """What a team sends as fast as it can delays and loses nothing of another team's."""
    status = target.status
    control = target.listen()
    if status is None or not status.online or status.profile in OPEN_PROFILES:
        yield skipped("flood", "only a server with a roster answers what is sent meanwhile")
        return
    if any(heard.payload == b"turn" and heard.topic.endswith(topics.STATE.pattern) for heard in _latest(control)):
        yield skipped("flood", "a game is running, and might lose time")
        return
    victim, attacker = target.teams
    asked = topics.REQUEST_PARTICIPATION.of(target.tables[0])
    answers = topics.ERROR.of(target.tables[0], player=victim)
    before = sum(heard.topic == answers for heard in control.heard)
    due = time.monotonic() + _FLOOD_SECONDS / 2
    sent = 0

    def ask() -> None:
        nonlocal sent
        if sent < _FLOOD_REQUESTS and time.monotonic() >= due + sent * _FLOOD_SECONDS / 2 / _FLOOD_REQUESTS:
            sent += 1
            control.publish(asked, write_participation(victim, secrets.token_urlsafe(16)))

    probe, _ = target.log_in(target.attacker, attacker)
    with contextlib.closing(probe):
        flooded = probe.flood(topics.FIRE.of(target.tables[0], player=attacker), _FLOOD_SECONDS, ask)
    ended = time.monotonic()

    def answered() -> int:
        return sum(heard.topic == answers for heard in control.heard) - before

    while answered() < sent and time.monotonic() < ended + _FLOOD_WAIT_SECONDS:
        control.wait_for(lambda _: answered() >= sent, 0.2)
    late, lost = time.monotonic() - ended, sent - answered()
    text = f"{flooded} messages of a team taken in {_FLOOD_SECONDS:g} s"
    text += f", and {answered()} of {sent} of another's came through"
    held_up, unpaced = bool(lost) or late > _LATE_SECONDS, flooded > _MAX_TAKEN * (_FLOOD_SECONDS + 1)
    text += f", {late:.1f} s after its end" * held_up + "; nothing holds a team to a pace" * unpaced
    yield warned("flood", text, _FRONT) if held_up or unpaced else passed("flood", text)


def _latest(control: Probe) -> Iterable[Heard]:
    """The last message of each topic."""
    control.ping()
    return {heard.topic: heard for heard in control.heard}.values()


def open_silent_sockets(target: Target) -> Iterator[Finding]:
    """Connections that say nothing keep no one out, or few of one address are taken."""
    address = (target.url.host, target.url.port)
    shut_out = target.server is not None and _is_let_in(target, target.server)
    with contextlib.ExitStack() as stack:
        opened: list[socket.socket] = []
        with contextlib.suppress(OSError):
            while len(opened) < _SILENT:
                opened.append(stack.enter_context(socket.create_connection(address, ANSWER_SECONDS)))
        welcome = _is_let_in(target, target.url)
        shut_out = shut_out and not welcome and not _is_let_in(target, target.server or target.url)
        with selectors.DefaultSelector() as selector:
            for each in opened:
                selector.register(each, selectors.EVENT_READ)
            held = len(opened) - len(selector.select(0))
    text = f"of {len(opened)} connections that say nothing {held} are held"
    if held >= _SILENT:
        yield warned("silent sockets", f"{text}: nothing bounds their number", _FRONT)
    elif welcome:
        yield passed("silent sockets", f"{text}, and a team logs in")
    elif held <= _MAX_OF_AN_ADDRESS:
        yield passed("silent sockets", f"{text}, and no more of this address are let in for some seconds")
    elif shut_out:
        yield failed("silent sockets", f"{text}, and the server itself would not be let in again", _OWN_LISTENER)
    else:
        yield warned("silent sockets", f"{text}, and no one else is let in", _FRONT)


def _is_let_in(target: Target, url: BrokerUrl) -> bool:
    try:
        with Probe(url, target.ca) as probe:
            return probe.greet(target.teams[1], target.attacker).accepted
    except ProbeError:
        return False


# --- afterwards ---------------------------------------------------------------------------------------------------


def look_after(target: Target) -> Iterator[Finding]:
    """The server has lived through it all, and nothing of ours is left."""
    control = target.listen()
    control.heard.clear()
    control.subscribe("#")
    control.ping()
    left = [heard.topic for heard in control.heard if heard.payload.startswith(b"doctor ") and heard.retain]
    if left:
        yield failed("afterwards", f"still retained: {_listed(left)}", "clear them: publish an empty retained message")
        return
    topic = topics.SERVER.of(target.tables[0])
    if target.status is not None and target.status.online:
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
    speak_as_another,
    command_the_broker,
    leave_a_retained_message,
    leave_a_last_will,
    take_over_a_team,
    take_over_the_server,
    send_an_oversized_packet,
    subscribe_to_too_much,
    fill_the_brokers_memory,
    flood_the_server,
    open_silent_sockets,  # last: the front then closes what comes from here for ten seconds
    look_after,
)


def possible(target: Target) -> Sequence[Attack]:
    """Return what can be tried, as far as the broker answers and there are accounts."""
    if not target.reachable or target.is_open is None:
        return ()
    return (*STRANGERS, *TEAMS) if able(target) else STRANGERS


def left_out(target: Target) -> Iterator[Finding]:
    """Report what could not be tried."""
    missing = [attack for attack in (*STRANGERS, *TEAMS) if attack not in possible(target)]
    if missing:
        why = "what a team could do takes an account" if target.reachable else "the broker cannot be reached"
        yield skipped("break-in", f"{len(missing)} attempts are not made: {why}")


def attempt(target: Target, attack: Attack) -> Iterator[Finding]:
    """Make one attempt; a broker that falls silent has failed it."""
    try:
        for finding in attack(target):
            yield _expected(target, finding)
    except ProbeError as error:
        name = attack.__name__.replace("_", " ")
        yield failed("break-in", f"{name}: {error.text}", "look into the broker's log")


def _expected(target: Target, finding: Finding) -> Finding:
    """Where no login is wanted, what follows from that is no failure (SALVO-ACCESS-10, SALVO-ACCESS-11)."""
    meant = target.meant_to_be_open and finding.check != "afterwards"
    if finding.verdict is not Verdict.FAIL or not meant:
        return finding
    if finding.check in _WITHOUT_LOGIN:
        return skipped(finding.check, f"{finding.text}; as the profile open has it")
    if target.guards_itself:
        return finding
    return warned(finding.check, f"{finding.text}; as on every open broker that we have not set up", _OPEN_CURE)
