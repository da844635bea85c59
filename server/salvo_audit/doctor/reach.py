"""Checks of the way to the broker and of the server behind it: what every honest client needs."""

from __future__ import annotations

import contextlib
import socket
import ssl
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Final

from salvo import messages as m
from salvo import topics
from salvo.codec.announcement_reader import read_announcement
from salvo.distribution import __version__
from salvo.errors import ConnectionLost, ProtocolError, WireError
from salvo.net.mqtt import Connection
from salvo.seal import fingerprint
from salvo_audit.doctor.finding import Finding, failed, passed, skipped, warned
from salvo_audit.doctor.probe import ANSWER_SECONDS, Heard, Login, Probe, ProbeError
from salvo_audit.doctor.target import Target, is_loopback
from salvo_server.settings import OPEN_PROFILES
from salvo_server.storage.roster import SCREENS

#: A certificate that ends sooner than this may end during the contest.
_CERTIFICATE_DAYS: Final = 3
#: Round trips, of which the median counts.
_ROUND_TRIPS: Final = 9
#: Without TCP_NODELAY a round trip takes 40 ms more; the slowest healthy broker measured answers in 5.
_SLOW_ANSWER_MS: Final = 30.0
#: A new turn tells the server's time; how long one is waited for.
_TURN_SECONDS: Final = 3.0
#: Beyond this, logs and certificates of two machines do not fit together.
_CLOCK_MS: Final = 5_000
#: A running server looks at its roster all the time, and mosquitto takes 65 ms a team.
_ADMISSION_SECONDS: Final = 10.0
_ADMISSION_PAUSE_SECONDS: Final = 0.2
_MOSQUITTO_TLS: Final = (
    "certfile and keyfile behind the listener in mosquitto.conf, which salvo mosquitto --tls-cert --tls-key writes"
)
_OTHER_ACCOUNTS: Final = (
    "run it on the server's machine, as its user, or with --as NAME:SECRETFILE of two teams that no one plays with"
)


def check_network(target: Target) -> Iterator[Finding]:
    """The broker's port takes connections."""
    started = time.monotonic()
    address = (target.url.host, target.url.port)
    try:
        socket.create_connection(address, ANSWER_SECONDS).close()
    except OSError as error:
        cure = "start the server, open the port in the firewall, or check the address"
        yield failed("network", f"{target.url} cannot be reached: {error.strerror or error}", cure)
        return
    target.reachable = True
    yield passed("network", f"{target.url} takes connections, in {1000 * (time.monotonic() - started):.1f} ms")


def check_tls(target: Target) -> Iterator[Finding]:
    """The certificate is for this host, of an authority that is believed, and does not end soon."""
    if target.url.scheme not in ("mqtts", "wss"):
        yield _judge_plain(target)
        return
    try:
        certificate = _certificate(target)
    except ProbeError as error:
        cure = (
            "a certificate for this very host name, or salvo doctor mqtts://NAME:PORT with a name that it has; "
            "an authority that clients know, or SALVO_CA or --ca FILE with your own"
        )
        yield failed("tls", f"clients refuse to connect: {error.text}", cure)
        return
    ends = ssl.cert_time_to_seconds(str(certificate["notAfter"]))
    days = (ends - time.time()) / 86_400
    text = f"the certificate is for {target.url.host}, its chain is believed, and it ends in {days:.0f} days"
    if days < _CERTIFICATE_DAYS:
        yield failed("tls", text, "renew it before the contest")
    else:
        yield passed("tls", text)


def _judge_plain(target: Target) -> Finding:
    """Report who can eavesdrop where nothing is encrypted, and what to do about it with this very broker."""
    settings, listens = target.settings, target.url.address
    cures = ["salvo serve --tls-cert and --tls-key", _MOSQUITTO_TLS]
    if settings is not None:
        cures = cures[1:] if settings.broker is not None else cures[:1]
        if settings.broker is None and settings.listen.endswith(f":{target.url.port}"):
            listens = settings.listen
    text, cure = f"{target.url} is not encrypted", f"mqtts://, with {' or '.join(cures)}"
    if target.profile == "strict":
        return failed("tls", f"{text}, and strict is wanted", cure)
    if is_loopback(target.url.host) and is_loopback(listens.rpartition(":")[0]):
        return skipped("tls", f"{text}: there is no one else on the way", cure)
    return warned("tls", f"{text}: anyone on the way to {listens} can read passwords and placements", cure)


def _certificate(target: Target) -> dict[str, object]:
    with contextlib.closing(Probe(target.url._replace(scheme="mqtts"), target.ca)) as probe:
        assert probe.certificate is not None
        return probe.certificate


def check_mqtt(target: Target) -> Iterator[Finding]:
    """MQTT 3.1.1 is spoken; notes whether the broker is open."""
    probe, greeting = target.log_in(None)
    probe.close()
    if greeting.code is None or greeting.code == 1:
        cure = "let the broker speak MQTT 3.1.1, or check that this is its MQTT port"
        yield failed("mqtt", f"a greeting in MQTT 3.1.1 is not answered: {greeting}", cure)
        return
    target.is_open = greeting.accepted
    yield passed("mqtt", f"MQTT 3.1.1 is spoken; a client without a name is {greeting}")


def check_accounts(target: Target) -> Iterator[Finding]:
    """The accounts to examine the rest with are admitted, which happens once the server has seen the roster."""
    if target.victim is None or target.attacker is None:
        if target.is_open:
            yield skipped("accounts", "the broker asks for no name; any name does")
            return
        why = f"{target.no_accounts}: " if target.no_accounts else ""
        yield skipped("accounts", f"{why}without accounts, only what a stranger can do is tried", _OTHER_ACCOUNTS)
        return
    if target.named and (playing := _at_a_table(target)):
        text = f"{playing} plays at the moment, and would be thrown out; only what a stranger can do is tried"
        yield skipped("accounts", text, _OTHER_ACCOUNTS)
        target.victim = target.attacker = None
        return
    end = time.monotonic() + _ADMISSION_SECONDS
    for login in (target.victim, target.attacker):
        while True:
            probe, greeting = target.log_in(login)
            probe.close()
            if greeting.accepted or time.monotonic() > end:
                break
            time.sleep(_ADMISSION_PAUSE_SECONDS)
        if not greeting.accepted:
            cure = "let the server use this roster (--roster), and look into its log"
            yield failed("accounts", f"{login.user}, a team of the roster, is refused: {greeting}", cure)
            target.victim = target.attacker = None
            return
    whose = "two teams of the roster" if target.named else "two teams that were added for this examination"
    yield passed("accounts", f"{whose} are let in: {', '.join(target.teams)}")


def _at_a_table(target: Target) -> str:
    """Return which of two named teams is listed at a table, if any.

    One user has one connection, the newest: to come as a team is to throw out its bot. So it is looked up with a screen
    of the team's, the last one, which people take last. A broker without such users tells nothing.
    """
    for login in filter(None, (target.victim, target.attacker)):
        screen = Login(f"{login.user}.{SCREENS}", login.secret)
        probe, greeting = target.log_in(screen)
        with contextlib.closing(probe):
            if not greeting.accepted:
                continue
            lists = [topics.LIST.of(table) for table in target.tables]
            probe.subscribe(*lists)
            probe.ping()
            for heard in probe.heard:
                with contextlib.suppress(WireError):
                    listed = read_announcement(topics.parse(heard.topic), heard.payload)
                    if isinstance(listed, m.PlayersListed) and login.user in listed.names:
                        return login.user
    return ""


def able(target: Target) -> bool:
    """Whether the doctor can listen at the broker."""
    return target.reachable and (bool(target.is_open) or target.victim is not None)


def check_server(target: Target) -> Iterator[Finding]:
    """The server is online, as ``/game/server`` tells (SALVO-MQTT-5)."""
    if not able(target):
        yield skipped("server", "nothing can be read without an account")
        return
    topic = topics.SERVER.of(target.tables[0])
    found = target.listen().wait_for(lambda heard: heard.topic == topic and bool(heard.payload), 1.0)
    if found is None:
        yield failed("server", f"nothing is retained at {topic}: no server has ever been on this broker", "salvo serve")
        return
    try:
        status = read_announcement(topics.parse(topic), found.payload)
    except (ProtocolError, WireError) as error:
        yield failed("server", f"{topic} is unreadable: {error.text}", "use doctor and server of one version")
        return
    assert isinstance(status, m.ServerStatus)
    target.status = status
    yield _judge(target, status)


def _judge(target: Target, status: m.ServerStatus) -> Finding:
    key = f"key {fingerprint(status.keys.sign)}" if status.keys is not None else "no key"
    text = f"version {status.version}, game {status.game}, profile {status.profile}, {key}"
    if not status.online:
        return failed("server", f"offline; {text}", "salvo serve")
    if status.paused:
        return failed(
            "server", f"online, but accepts nothing: its journal has no room; {text}", "make room on its disk"
        )
    if status.version != __version__:
        return failed("server", f"online; {text}; this is {__version__}", "use one version on both sides")
    if target.profile not in (None, status.profile):
        cure = f"salvo serve --profile {target.profile}"
        return failed("server", f"online; {text}; and {target.profile} is wanted", cure)
    if status.profile not in OPEN_PROFILES and target.is_open:
        return failed(
            "server", f"online; {text}; and yet the broker is open", "start it from what salvo mosquitto writes"
        )
    return passed("server", f"online; {text}")


def check_clock(target: Target) -> Iterator[Finding]:
    """This machine's clock against the server's, whose time ``/game/turn`` tells (SALVO-TURN-7)."""
    if not able(target):
        yield skipped("clock", "nothing can be read without an account")
        return
    control = target.listen()
    states = {table: control.wait_for(_at(topics.STATE.of(table)), 0.0) for table in target.tables}
    in_play = [table for table, state in states.items() if state is not None and state.payload == b"turn"]
    if not in_play:
        yield skipped("clock", "the server tells its time with every turn, and no game is running")
        return
    topic = topics.TURN.of(in_play[0])
    kept = control.wait_for(_at(topic), 0.0)
    live = control.wait_for(lambda heard: heard.topic == topic and not heard.retain, _TURN_SECONDS)
    now = _clock_ms()
    result = _read(control.wait_for(_at(topics.RESULT.of(in_play[0])), 0.0))
    for heard in (live, kept):
        turn = _read(heard)
        if isinstance(turn, m.TurnBegan):
            ended = isinstance(result, m.SalvoResolved) and (result.game, result.turn) >= (turn.game, turn.turn)
            yield _compare(turn, now, exact=heard is live, ended=ended)
            return
    yield skipped("clock", f"no turn to be read at {topic}")


def _read(heard: Heard | None) -> m.Announcement | None:
    with contextlib.suppress(WireError):
        return None if heard is None else read_announcement(topics.parse(heard.topic), heard.payload)
    return None


def _clock_ms() -> float:
    return time.time() * 1000


def _at(topic: str) -> Callable[[Heard], bool]:
    def is_there(heard: Heard) -> bool:
        return heard.topic == topic and bool(heard.payload)

    return is_there


def _compare(turn: m.TurnBegan, now: float, *, exact: bool, ended: bool) -> Finding:
    if exact:
        off = now - turn.now
        side = "ahead of" if off > 0 else "behind"
        said = f"this machine's clock is {abs(off) / 1000:.3f} s {side} the server's, the way of a message included"
    else:
        # The turn is still on: the server's time is between its beginning and its deadline. In a pause it may be later.
        off = min(0.0, now - turn.now) or (0.0 if ended else max(0.0, now - turn.deadline))
        side = "ahead of" if off > 0 else "behind"
        said = f"this machine's clock is at least {abs(off) / 1000:.1f} s {side} the server's"
        if not off:
            which = f"turn {turn.turn}, which has ended" if ended else "the current turn"
            said = f"this machine's clock fits {which}, to {(turn.deadline - turn.now) / 1000:.0f} s"
    if abs(off) > _CLOCK_MS:
        return failed("clock", said, "set both clocks by NTP: timedatectl set-ntp true")
    return passed("clock", said)


def check_round_trip(target: Target) -> Iterator[Finding]:
    """How long an answer takes, and what TCP_NODELAY is worth here (SALVO-MQTT-4)."""
    if not able(target):
        yield skipped("round trip", "nothing can be read without an account")
        return
    with_it, without = (_answer_ms(target, no_delay=no_delay) for no_delay in (True, False))
    if with_it is None or without is None:
        yield skipped("round trip", "nothing retained to ask for")
        return
    text = f"{with_it:.1f} ms, and {without:.1f} ms for a client without TCP_NODELAY"
    if with_it > _SLOW_ANSWER_MS:
        cure = "set TCP_NODELAY at the broker (mosquitto: set_tcp_nodelay true), or come nearer to it"
        yield failed("round trip", f"{text}: a salvo takes as long", cure)
    else:
        yield passed("round trip", text)


def _answer_ms(target: Target, *, no_delay: bool) -> float | None:
    """Median time from a subscription to the retained message that answers it.

    The broker writes twice and the client acknowledges before it asks again, so that either side's delay shows.
    """
    topic = topics.STATE.of(target.tables[0])
    took = []
    with Probe(target.url, target.ca, no_delay=no_delay) as probe:
        login = target.attacker
        probe.greet(login.user if login is not None else target.teams[1], login)
        for _ in range(_ROUND_TRIPS):
            probe.heard.clear()
            began = time.monotonic()
            probe.subscribe(topic)
            if probe.wait_for(_at(topic), 1.0) is None:
                return None
            took.append(1000 * (time.monotonic() - began))
    return statistics.median(took)


def check_websocket(target: Target) -> Iterator[Finding]:
    """MQTT over WebSocket is spoken where it should be."""
    if target.websocket is None:
        yield skipped("websocket", "no address for MQTT over WebSocket is known", "--websocket ws://HOST:PORT/mqtt")
        return
    login = target.attacker
    url = target.websocket
    if login is not None:
        url = url._replace(username=login.user, password=login.secret)
    connection = Connection(url, target.teams[1], clean_session=True, ca=target.ca)
    try:
        connection.connect(ANSWER_SECONDS)
    except ConnectionLost as error:
        if error.code == "not_authorised" and login is None:
            yield passed("websocket", f"{target.websocket} speaks MQTT, and asks for a name")
        else:
            yield failed("websocket", error.text, "salvo serve --websocket HOST:PORT, or the broker's own listener")
        return
    finally:
        connection.close()
    yield passed("websocket", f"{target.websocket} speaks MQTT")
