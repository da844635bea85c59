"""Certificates: the files that ``salvo tls`` makes, and what a server reports of one whose time is over."""

from __future__ import annotations

import ssl
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trustme
from click.testing import CliRunner

from salvo.errors import SalvoError
from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_server.brokers.embedded.tls import ServerTls, TlsError
from salvo_server.commands.tls import make_certificates, tls


def test_tls_certificates_are_made_with_a_private_key_file(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "tls"
    made = CliRunner().invoke(tls, [str(folder), "--host", "broker.example", "--host", "192.0.2.7"])
    assert made.exit_code == 0, made.output
    assert sorted(path.name for path in folder.iterdir()) == ["ca.pem", "server.key", "server.pem"]
    assert stat.S_IMODE((folder / "server.key").stat().st_mode) == 0o600
    assert made.output.splitlines() == [
        f"salvo serve --listen 0.0.0.0:8883 --tls-cert {folder}/server.pem --tls-key {folder}/server.key",
        f"or in mosquitto.conf, behind its listener: certfile {folder}/server.pem and keyfile {folder}/server.key",
        f"salvo join mqtts://broker.example:8883 mybot.py --ca {folder}/ca.pem",
    ]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem", folder / "server.key")


@pytest.mark.parametrize("there", ["ca.pem", "server.pem", "server.key"])
def test_a_certificate_that_is_there_is_never_overwritten(tmp_path: Path, there: str) -> None:
    (tmp_path / there).write_text("precious")
    with pytest.raises(SalvoError, match=rf"tls_exists: .*{there} exists already and is not overwritten"):
        make_certificates(tmp_path, ["localhost"])
    assert [path.name for path in tmp_path.iterdir()] == [there]
    assert (tmp_path / there).read_text() == "precious"


_BEGINS, _ENDS = datetime(2020, 3, 1, tzinfo=UTC), datetime(2020, 6, 1, tzinfo=UTC)


def _issued(folder: Path) -> ServerTls:
    made = trustme.CA().issue_cert("localhost", not_before=_BEGINS, not_after=_ENDS)
    found = ServerTls(folder / "server.pem", folder / "server.key")
    found.cert.write_bytes(b"".join(pem.bytes() for pem in made.cert_chain_pems))
    made.private_key_pem.write_to_path(found.key)
    return found


def test_a_certificate_whose_time_is_over_or_nearly_so_is_reported_to_the_operator(tmp_path: Path) -> None:
    issued = _issued(tmp_path)
    context = issued.context()
    issued.cert.unlink()  # what was read counts: that is what clients see
    name = f"certificate {issued.cert}"
    for day, text in (
        (datetime(2020, 2, 28, tzinfo=UTC), f"{name} is not valid before 2020-03-01, and clients refuse it"),
        (_BEGINS, ""),
        (datetime(2020, 5, 18, tzinfo=UTC), ""),
        (datetime(2020, 5, 19, tzinfo=UTC), f"{name} ends on 2020-06-01, in 13 days; renew it, and start this again"),
        (_ENDS, f"{name} is not valid: it ended on 2020-06-01, and clients refuse it; renew it"),
    ):
        found = issued.doubt(context, day.timestamp())
        assert found.startswith(text)
        assert bool(found) is bool(text)


def test_a_server_reports_at_its_start_that_its_certificate_has_ended(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with EmbeddedBroker(tls=_issued(tmp_path)):
        pass
    assert "is not valid: it ended on 2020-06-01" in caplog.text


def test_a_web_front_refuses_a_certificate_that_it_cannot_use(tmp_path: Path) -> None:
    web = pytest.importorskip("salvo_watch.commands.web").web
    issued = _issued(tmp_path)
    words = ["--listen=127.0.0.1:0", f"--tls-cert={issued.cert}", f"--tls-key={issued.cert}", "mqtt://a..b"]
    with pytest.raises(TlsError, match="bad_tls"):
        CliRunner().invoke(web, words, catch_exceptions=False)
    words[2] = f"--tls-key={issued.key}"
    done = CliRunner().invoke(web, words)
    assert "is not valid: it ended on 2020-06-01" in done.stderr
