"""``salvo tls``: the files that it makes."""

from __future__ import annotations

import ssl
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner

from salvo.errors import SalvoError
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
    with pytest.raises(SalvoError, match=rf"tls_exists: .*{there} is there already and is not overwritten"):
        make_certificates(tmp_path, ["localhost"])
    assert [path.name for path in tmp_path.iterdir()] == [there]
    assert (tmp_path / there).read_text() == "precious"
