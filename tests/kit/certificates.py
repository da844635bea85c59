"""A certificate for tests, signed by itself, for 127.0.0.1."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path
from typing import NamedTuple


class Certificate(NamedTuple):
    cert: Path
    key: Path

    def trusted(self) -> ssl.SSLContext:
        """What a client needs that trusts nobody else."""
        return ssl.create_default_context(cafile=str(self.cert))


def make_certificate(folder: Path, name: str = "server") -> Certificate:
    made = Certificate(folder / f"{name}.pem", folder / f"{name}.key")
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 90 -subj /CN=localhost"
    files = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(made.key), "-out", str(made.cert)]
    subprocess.run([*command.split(), *files], check=True, capture_output=True)
    return made
