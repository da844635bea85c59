"""Checks of the way to the broker and of the server behind it: what every honest client needs."""

from __future__ import annotations

import secrets
import socket
import ssl
import time
from collections.abc import Iterator
from typing import Final

from salvo.errors import ConnectionLost, SalvoError
from salvo.messages import ServerStatus
from salvo.net.mqtt import BrokerUrl, Connection
from salvo.net.tls import client_context, distrust
from salvo.system.distribution import __version__
from salvo.wire.seal import fingerprint
from salvo_audit.doctor.finding import CheckFinding, failed, passed, skipped, warned
from salvo_audit.doctor.target import ANSWER_SECONDS, ExaminedContest, certificate_of
from salvo_server.brokers.embedded.addresses import is_loopback
from salvo_server.brokers.embedded.limits import PROBE
from salvo_server.brokers.embedded.tls import CERTIFICATE_DAYS, DAY_SECONDS
from salvo_server.operations.status import ask_status

#: A certificate that ends sooner than this may end during the contest.
_CONTEST_DAYS: Final = 3
#: Round trips, of which the fastest counts.
_ROUND_TRIPS: Final = 5
#: A broker without TCP_NODELAY takes 40 ms more; the slowest healthy one measured answers in 5.
_SLOW_ANSWER_MS: Final = 30.0
#: By what is wrong with a certificate.
_TLS_CURES: Final = {
    "tls_wrong_host": "a certificate for this very host, or salvo doctor mqtts://NAME:PORT with a name that it has",
    "tls_expired": "renew the certificate and start the server again, or set the clock that is wrong, here or there",
    "tls_unknown_ca": "an authority that clients know, or SALVO_CA or --ca FILE with your own",
}
_NO_TLS_CURE: Final = "the port at which the broker speaks TLS, or mqtt:// and ws:// for one without"
_MOSQUITTO_TLS: Final = (
    "certfile and keyfile behind the listener in mosquitto.conf, which salvo mosquitto --tls-cert --tls-key writes"
)
_FRONT: Final = "among strangers, deploy/front.cfg alone lets clients in: docker compose --profile public up"
_ACCOUNT: Final = (
    "run it on the server's machine, as its user, or with a viewer's name in the URL, mqtt://NAME.1@HOST, and its "
    "secret in SALVO_SECRET"
)


def check_address(target: ExaminedContest, url: BrokerUrl) -> Iterator[CheckFinding]:
    """Whether a broker's address takes connections, with which certificate, and whom it admits (SALVO-ACCESS-2)."""
    started = time.monotonic()
    try:
        socket.create_connection((url.host, url.port), ANSWER_SECONDS).close()
    except OSError as error:
        cure = "start the server, open the port in the firewall, or check the address"
        yield failed("network", f"{url} cannot be reached: {error.strerror or error}", cure)
        return
    target.answering.add(url)
    yield passed("network", f"{url} takes connections, in {1000 * (time.monotonic() - started):.1f} ms")
    tls = _judge_certificate(target, url) if url.scheme in ("mqtts", "wss") else judge_plain(target, url)
    yield tls
    yield from judge_past_the_front(target, url)
    if tls.check == "tls" and "refuse to connect" not in tls.text:
        yield _judge_strangers(target, url)


def _judge_certificate(target: ExaminedContest, url: BrokerUrl) -> CheckFinding:
    """Whether the certificate is for this host, of an authority that is trusted, and does not end soon."""
    try:
        certificate = certificate_of(url, client_context(target.ca))
    except ssl.SSLCertVerificationError as error:
        code = distrust(str(url), url.host, error, target.ca).code
        return failed("tls", f"clients refuse to connect: {url}: {error.verify_message}", _TLS_CURES[code])
    except OSError as error:
        return failed("tls", f"clients refuse to connect: {url}: {error.strerror or error}", _NO_TLS_CURE)
    days = (ssl.cert_time_to_seconds(str(certificate["notAfter"])) - time.time()) / DAY_SECONDS
    text = f"the certificate is for {url.host}, its chain is trusted, and it ends in {days:.0f} days"
    if days >= CERTIFICATE_DAYS:
        return passed("tls", text)
    return (failed if days < _CONTEST_DAYS else warned)("tls", text, "renew it before the contest")


def judge_plain(target: ExaminedContest, url: BrokerUrl) -> CheckFinding:
    """Report who can eavesdrop where nothing is encrypted, and what to do about it with this very broker."""
    settings, listens = target.settings, url.address
    cures = ["salvo serve --tls-cert and --tls-key", _MOSQUITTO_TLS]
    if settings is not None:
        cures = cures[1:] if settings.broker is not None else cures[:1]
        if settings.broker is None and settings.listen.endswith(f":{url.port}"):
            listens = settings.listen
    text, cure = f"{url} is not encrypted", f"{url.scheme}s://, with {' or '.join(cures)}"
    if target.profile == "strict":
        return failed("tls", f"{text}, and strict is wanted", cure)
    if is_loopback(url.host) and is_loopback(listens.rpartition(":")[0]):
        return skipped("tls", f"{text}: nobody else is on the way", cure)
    return warned("tls", f"{text}: anyone on the way to {listens} can read passwords and placements", cure)


def judge_past_the_front(target: ExaminedContest, url: BrokerUrl) -> Iterator[CheckFinding]:
    """Report that other machines reach a mosquitto itself, which limits no client and reports no publisher."""
    settings = target.settings
    if settings is not None and settings.broker is not None and url.scheme in ("mqtt", "ws"):
        text = f"clients reach {url} without the front: a stranger's floods and forged shots cost teams their turns"
        yield (skipped if is_loopback(url.host) else warned)("front", text, _FRONT)


def _judge_strangers(target: ExaminedContest, url: BrokerUrl) -> CheckFinding:
    """Whether MQTT 3.1.1 is spoken, and a client without a name is admitted only where that is wanted."""
    stranger = Connection(
        url._replace(username=None, password=None),
        f"{PROBE}{secrets.token_hex(4)}",
        clean_session=True,
        ca=target.ca,
    )
    try:
        stranger.connect(ANSWER_SECONDS)
    except ConnectionLost as error:
        if error.code == "not_authorised":
            return passed("anonymous", f"{url} speaks MQTT 3.1.1, and turns away a client without a name")
        return failed("mqtt", error.text, "let it speak MQTT 3.1.1, or check that this is its MQTT port")
    finally:
        stranger.close()
    target.is_open = True
    if target.profile == "open":
        return passed("anonymous", f"{url} admits any client, as the profile open has it")
    text = f"any client that reaches {url} is admitted, without a name or password"
    return failed("anonymous", text, "--profile contest, and a broker that gets its accounts from the roster")


def check_server(target: ExaminedContest) -> Iterator[CheckFinding]:
    """Whether the broker knows the server's roster, and the server is online (SALVO-MQTT-5).

    Also how long an answer takes, which a broker without TCP_NODELAY delays (SALVO-MQTT-4).
    """
    if target.url not in target.answering:
        return
    account = None if target.is_open else target.account
    if account is None and target.url.username is None and not target.is_open:
        yield skipped("server", "its status cannot be read without an account", _ACCOUNT)
        return
    try:
        answers = [ask_status(target.url, "", ANSWER_SECONDS, account, target.ca) for _ in range(_ROUND_TRIPS)]
    except SalvoError as error:
        cure = "let the server use this roster (--roster), and this version of salvo; look into its log"
        yield failed("server", error.text, cure)
        return
    times = [answer.took_ms for answer in answers if answer is not None]
    if not times or answers[0] is None:
        yield failed("server", "no server has ever been on this broker", "salvo serve")
        return
    yield _judge_status(target, answers[0].status)
    if min(times) > _SLOW_ANSWER_MS:
        text = f"an answer takes {min(times):.1f} ms: a salvo takes as long"
        yield warned("round trip", text, "set TCP_NODELAY at the broker (mosquitto: set_tcp_nodelay true)")
    else:
        yield passed("round trip", f"an answer takes {min(times):.1f} ms")


def _judge_status(target: ExaminedContest, status: ServerStatus) -> CheckFinding:
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
    if status.profile != "open" and target.is_open:
        return failed(
            "server", f"online; {text}; and yet the broker is open", "start it from what salvo mosquitto writes"
        )
    return passed("server", f"online; {text}")
