"""TLS for the embedded broker: the operator's certificate, and handshakes that cannot cost more than connections do."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from asyncio import sslproto
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

from salvo.errors import SalvoError

DAY_SECONDS: Final = 86_400
#: A certificate that ends sooner is to be renewed; authorities that issue them for 90 days advise it 30 days before.
CERTIFICATE_DAYS: Final = 14
#: X509_V_FLAG_NO_CHECK_TIME of OpenSSL, x509_vfy.h, which the module ssl passes on without a name of its own.
_NO_CHECK_TIME: Final = 0x200000


class TlsError(SalvoError):
    """The operator's certificate or key cannot be used."""


@dataclass(frozen=True, slots=True)
class ServerTls:
    """Where the server's certificate is, with all that lead to its authority, and its private key; both PEM."""

    cert: Path
    key: Path

    def context(self) -> ssl.SSLContext:
        """Return what a listener needs: TLS 1.2 or 1.3, no certificate of the client's.

        Raises:
            TlsError: ``bad_tls``: a file is missing or unreadable, or the two do not belong together.
        """
        for what, path in (("certificate", self.cert), ("key", self.key)):
            try:
                path.read_bytes()
            except OSError as error:
                raise TlsError("bad_tls", f"{what} {path}: {error.strerror}") from None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.load_cert_chain(self.cert, self.key, password=_no_passphrase)
        except ssl.SSLError as error:
            if error.reason == "KEY_VALUES_MISMATCH":
                raise TlsError("bad_tls", f"key {self.key} is not the one of certificate {self.cert}") from None
            text = f"certificate {self.cert} and key {self.key} must be PEM files: {error.reason or error}"
            raise TlsError("bad_tls", text) from None
        except _HasPassphrase:
            text = f"key {self.key} has a passphrase, which cannot be entered when the server starts"
            raise TlsError("bad_tls", text) from None
        return context

    def doubt(self, context: ssl.SSLContext, now: float) -> str:
        """Return why clients refuse the certificate's dates, or soon will; empty if they do not.

        Args:
            context: what :meth:`context` returned, with the certificate as it was then.
            now: Unix seconds.
        """
        try:
            begins, ends = _dates(context)
        except ssl.SSLError:  # which says nothing of its dates
            return ""
        if now >= ends:
            return f"certificate {self.cert} is not valid: it ended on {_day(ends)}, and clients refuse it; renew it"
        if now < begins:
            cure = "renew it, or set this machine's clock"
            return f"certificate {self.cert} is not valid before {_day(begins)}, and clients refuse it; {cure}"
        days = (ends - now) / DAY_SECONDS
        if days < CERTIFICATE_DAYS:
            return f"certificate {self.cert} ends on {_day(ends)}, in {days:.0f} days; renew it, and start this again"
        return ""


def _day(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).date().isoformat()


def _dates(context: ssl.SSLContext) -> tuple[float, float]:
    """Return from when until when the certificate that a context shows is valid, in Unix seconds.

    The module ssl decodes only what it has verified: so a client that trusts this very certificate, at whatever time,
    meets it in memory.

    Raises:
        ssl.SSLError: no client takes it, for another reason than its dates.
    """
    anyone, confidant = (ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) for _ in range(2))
    anyone.check_hostname = confidant.check_hostname = False
    anyone.verify_mode = ssl.CERT_NONE
    confidant.load_verify_locations(cadata=_met(anyone, context).getpeercert(binary_form=True) or b"")
    confidant.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN | _NO_CHECK_TIME
    shown: Any = _met(confidant, context).getpeercert()
    return ssl.cert_time_to_seconds(shown["notBefore"]), ssl.cert_time_to_seconds(shown["notAfter"])


def _met(client: ssl.SSLContext, server: ssl.SSLContext) -> ssl.SSLObject:
    """Return a client's end after it has the server's certificate."""
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    own = client.wrap_bio(back, there)
    for end in (own, server.wrap_bio(there, back, server_side=True), own):
        with contextlib.suppress(ssl.SSLWantReadError):
            end.do_handshake()
    return own


class _HasPassphrase(Exception):
    pass


def _no_passphrase() -> str:
    raise _HasPassphrase


class TlsListener:
    """What the connections of all TLS listeners have in common: the certificate, and how many there may be.

    Attributes:
        connections: the open ones, including those that have not finished their handshake, the oldest first.
    """

    def __init__(
        self, context: ssl.SSLContext, most: int, handshake_seconds: float, warn: Callable[[str, str], None]
    ) -> None:
        """Prepare.

        Args:
            warn: logs a kind of refusal and its text.
            most: connections at once, including those that have not finished their handshake; the oldest of these makes
                room, as it may be a client without an account that keeps all others out.
        """
        self._context = context
        self._most = most
        self._handshake_seconds = handshake_seconds
        self._warn = warn
        self.connections: dict[_Tls, None] = {}

    def around(self, protocol: asyncio.BaseProtocol, read_bytes: int) -> asyncio.BaseProtocol:
        """Return the protocol for a new TCP connection over which another protocol is spoken through TLS."""
        loop = asyncio.get_running_loop()
        return _Tls(
            self.connections,
            self._most,
            self._warn,
            read_bytes,
            loop,
            protocol,
            self._context,
            loop.create_future(),
            server_side=True,
            ssl_handshake_timeout=self._handshake_seconds,
            ssl_shutdown_timeout=_GOODBYE_SECONDS,
        )


#: For the other side to say goodbye, too; a plain connection does not wait for it at all.
_GOODBYE_SECONDS = 0.5


#: Handshakes at once when all other connections have finished theirs: for the broker to see which have sent no CONNECT.
_HANDSHAKES = 16


class _Tls(cast(Any, sslproto.SSLProtocol)):  # type: ignore[misc]
    """asyncio's own TLS, that counts from the first byte, and reads as little at a time as a plain connection.

    ``create_server(ssl=...)`` tells of a connection when its handshake is done: half-open ones could come without a
    bound. It also reads 256 KiB at a time.
    """

    def __init__(
        self,
        others: dict[_Tls, None],
        most: int,
        warn: Callable[[str, str], None],
        read_bytes: int,
        *arguments: Any,
        **options: Any,
    ) -> None:
        self.max_size = read_bytes  # the name is asyncio's
        super().__init__(*arguments, **options)
        self._others = others
        self._most = most
        self._warn = warn
        self._name = ""
        self._waiter.add_done_callback(self._shaken)

    def _shaken(self, handshake: asyncio.Future[None]) -> None:
        """Take note of how the handshake ended; a client that has just gone was not refused."""
        error = None if handshake.cancelled() else handshake.exception()
        if isinstance(error, ssl.SSLError):
            self._warn("tls", f"{self._name} and this broker cannot speak TLS: {error.reason or error}; refused")
        elif isinstance(error, ConnectionAbortedError):
            self._warn("tls", f"{self._name} did not finish its TLS handshake; refused")

    def connection_made(self, transport: asyncio.Transport) -> None:
        self._name = str(transport.get_extra_info("peername"))
        if len(self._others) >= self._most:
            for eldest in self._others:
                if eldest._waiter is not None:  # asyncio takes it away when the handshake is done
                    eldest.give_way()
                    break
        full = len(self._others) >= self._most + _HANDSHAKES
        self._others[self] = None
        super().connection_made(transport)
        if full:
            self._warn("connections", f"{self._name} is turned away: {len(self._others)} connections are open")
            transport.abort()

    def give_way(self) -> None:
        """End a handshake that others wait for."""
        self._warn("tls", f"{self._name} did not finish its TLS handshake, and others are waiting; refused")
        self._others.pop(self, None)
        self.abort()

    def abort(self) -> None:
        """End the connection at once."""
        self._transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        self._others.pop(self, None)
        super().connection_lost(error)
