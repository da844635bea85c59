"""Encrypted connections: which certificates to trust, and what to do when that fails.

Every failure that no retry cures is a :class:`~salvo.errors.ConnectionLost` with its own code and a text that names the
cure. When only one side speaks TLS, OpenSSL just reports a failed handshake; so the port is then tried once more the
other way.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from typing import Final

from salvo.errors import ConnectionLost

#: The files that `salvo tls` makes. Everyone may read the certificates, only the owner the key.
CA, CERTIFICATE, KEY = "ca.pem", "server.pem", "server.key"
#: How long the other side may take to show which protocol it speaks.
_PROBE_SECONDS: Final = 2.0
#: MQTT 3.1.1, 3.1: CONNECT with a clean session and an empty client id; every broker answers with a CONNACK, if only to
#: refuse it.
_MQTT_GREETING: Final = b"\x10\x0c\x00\x04MQTT\x04\x02\x00\x0a\x00\x00"
_CONNACK: Final = b"\x20"
#: RFC 6455, 4.1; mosquitto hangs up on a request that is not a WebSocket's.
_WEB_GREETING: Final = (
    "GET /mqtt HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: mqtt\r\n\r\n"
)
#: X509_V_ERR_... of OpenSSL, x509_vfy.h.
_NOT_YET_VALID, _EXPIRED, _WRONG_HOST, _WRONG_ADDRESS = 9, 10, 62, 64


def client_context(ca: str | None) -> ssl.SSLContext:
    """Return a context that checks certificate and host name.

    Args:
        ca: a PEM file with the only authorities to believe; None for the system's.

    Raises:
        ConnectionLost: ``bad_ca``.
    """
    try:
        return ssl.create_default_context(cafile=ca)
    except OSError as error:  # ssl.SSLError is one
        reason = "is not a certificate in PEM form" if isinstance(error, ssl.SSLError) else error.strerror
        raise ConnectionLost("bad_ca", f"{ca}: {reason}; SALVO_CA or --ca names the operator's CA file") from None


def distrust(where: str, host: str, error: ssl.SSLCertVerificationError, ca: str | None) -> ConnectionLost:
    """Return why a server's certificate is not trusted, and what to do."""
    if error.verify_code in (_WRONG_HOST, _WRONG_ADDRESS):
        return ConnectionLost(
            "tls_wrong_host",
            f"the certificate of {where} is for another name than {host}: use the host name that the operator gave, or "
            "let him make a certificate that has this one, too",
        )
    if error.verify_code in (_EXPIRED, _NOT_YET_VALID):
        return ConnectionLost(
            "tls_expired",
            f"the certificate of {where} is not valid now ({error.verify_message}): the operator has to renew it, or "
            "the clock of this machine is wrong",
        )
    reason = f"{ca} has not signed it" if ca else "no authority that this machine trusts has signed it"
    return ConnectionLost(
        "tls_unknown_ca",
        f"the certificate of {where} is not trusted: {reason} ({error.verify_message}); get the operator's CA file "
        "and name it with SALVO_CA or --ca",
    )


def mismatch(scheme: str, host: str, port: int) -> ConnectionLost | None:
    """Find out what a port that failed speaks; return what to do if the URL says otherwise.

    Takes up to two seconds.
    """
    if scheme in ("mqtts", "wss"):
        if not _answers_openly(host, port, web=scheme == "wss"):
            return None
        return ConnectionLost(
            "tls_not_spoken",
            f"{host}:{port} does not speak TLS: connect with {scheme[:-1]}://{host}:{port}, or name the port that does",
        )
    if not _answers_tls(host, port):
        return None
    return ConnectionLost(
        "tls_wanted",
        f"{host}:{port} speaks TLS only: connect with {scheme}s://{host}:{port}, with the operator's CA file in "
        "SALVO_CA or --ca if the system does not know it",
    )


def _answers_openly(host: str, port: int, *, web: bool) -> bool:
    greeting = _WEB_GREETING.format(host=host).encode() if web else _MQTT_GREETING
    with contextlib.suppress(OSError), socket.create_connection((host, port), _PROBE_SECONDS) as plain:
        plain.sendall(greeting)
        return plain.recv(1) == (b"H" if web else _CONNACK)
    return False


def _answers_tls(host: str, port: int) -> bool:
    """Only detects TLS: nothing is sent over it, so the certificate does not matter."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with contextlib.suppress(OSError), socket.create_connection((host, port), _PROBE_SECONDS) as plain:
        try:
            context.wrap_socket(plain, server_hostname=host).close()
        except ssl.SSLError as error:
            # A server that wants a certificate of the client, or another version, has answered in TLS as well.
            return "ALERT" in (error.reason or "")
        return True
    return False
