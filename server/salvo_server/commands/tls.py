"""``salvo tls``: makes a test CA and a certificate for the broker."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from salvo.errors import MissingExtra, SalvoError
from salvo.net.tls import CA, CERTIFICATE, KEY
from salvo.system.atomic_file import create_file

if TYPE_CHECKING:
    import trustme


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--host",
    "hosts",
    metavar="NAME",
    multiple=True,
    default=("localhost", "127.0.0.1"),
    help="A host name or address that teams use for the broker; may be repeated.  [default: localhost, 127.0.0.1]",
    show_default=False,
)
def tls(folder: Path, hosts: tuple[str, ...]) -> None:
    """Make test files for TLS in DIR: a CA (ca.pem), a certificate (server.pem) and its key (server.key).

    They are for practice, and for a contest in one room. The CA's own key is discarded, so no one can issue another
    certificate with it. An existing file is never overwritten.
    """
    paths = make_certificates(folder, hosts)
    ca, certificate, key = (shlex.quote(str(path)) for path in paths)
    click.echo(f"salvo serve --listen 0.0.0.0:8883 --tls-cert {certificate} --tls-key {key}")
    click.echo(f"or in mosquitto.conf, behind its listener: certfile {certificate} and keyfile {key}")
    click.echo(f"salvo join mqtts://{_bracketed(hosts[0])}:8883 mybot.py --ca {ca}")


def make_certificates(folder: Path, hosts: Sequence[str]) -> tuple[Path, Path, Path]:
    """Make the three files; return their paths: CA certificate, certificate, key.

    Raises:
        SalvoError: ``tls_exists`` or ``file_unusable``, or ``bad_host``.
        MissingExtra: trustme, which issues the certificates, is not installed.
    """
    try:
        import trustme
    except ModuleNotFoundError as error:
        if error.name != "trustme":
            raise
        raise MissingExtra("salvo tls", "tls") from None
    paths = folder / CA, folder / CERTIFICATE, folder / KEY
    for path in paths:
        if path.exists():
            raise _exists(path)
    authority = trustme.CA(organization_name="salvo tls: for tests")
    certificate = _issue(authority, hosts)
    chain = b"".join(pem.bytes() for pem in certificate.cert_chain_pems)
    contents = authority.cert_pem.bytes(), chain, certificate.private_key_pem.bytes()
    try:
        for path, content, mode in zip(paths, contents, (0o644, 0o644, 0o600), strict=True):
            if not create_file(path, content, mode):
                raise _exists(path)
    except OSError as error:
        raise SalvoError("file_unusable", f"{error.filename}: {error.strerror}; name another folder") from None
    return paths


def _issue(authority: trustme.CA, hosts: Sequence[str]) -> trustme.LeafCert:
    try:
        return authority.issue_cert(*hosts)
    except ValueError as error:  # so are the errors of idna
        raise SalvoError("bad_host", f"{', '.join(hosts)}: {error}; give names or addresses, without a port") from None


def _exists(path: Path) -> SalvoError:
    return SalvoError("tls_exists", f"{path} exists already and is not overwritten; name another folder, or remove it")


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
