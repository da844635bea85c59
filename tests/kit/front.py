"""The front of docker-compose.yml: HAProxy with its configuration, before a broker of the test's."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Self

from kit.certificates import Certificate, make_certificate
from kit.ports import Port
from kit.programs import path_of
from kit.waiting import until

DEPLOY = Path(__file__).parents[2] / "deploy"


class Front:
    """HAProxy on ports of its own.

    Attributes:
        port: MQTT under TLS.
        web_port: the web front, and MQTT over WebSocket.
    """

    def __init__(
        self,
        folder: Path,
        broker_port: int,
        websocket_port: int,
        *,
        web: int = 9,
        requests: int = 600,
        without: str = "",
    ) -> None:
        """Write what it needs; it starts as a context manager.

        Args:
            web: the port of the web front that is behind it; nothing is by default.
            requests: how many an address has in ten seconds.
            without: a line of the configuration that is left out.
        """
        self._ports = (Port(), Port())
        self.port, self.web_port = (port.number for port in self._ports)
        self.certificate: Certificate = make_certificate(folder)
        self.certificate.key.rename(folder / "server.pem.key")
        text = (DEPLOY / "front.cfg").read_text()
        places = {
            "bind :8883": f"bind 127.0.0.1:{self.port}",
            "bind :8443": f"bind 127.0.0.1:{self.web_port}",
            "broker:1883": f"127.0.0.1:{broker_port}",
            "broker:9001": f"127.0.0.1:{websocket_port}",
            "web:8080": f"127.0.0.1:{web}",
            "http_req_rate gt 600": f"http_req_rate gt {requests}",
            "/tls/server.pem": str(self.certificate.cert),
            **({without: ""} if without else {}),
        }
        for place, here in places.items():
            assert place in text, place
            text = text.replace(place, here)
        self._config = folder / "front.cfg"
        self._config.write_text(text)
        self._log = folder / "front.log"
        self._environment = {"FRONT_FOLDER": str(DEPLOY), "FRONT_NAME": f"pages-{self.port}"}

    @property
    def url(self) -> str:
        return f"mqtts://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        with self._log.open("wb") as log:
            command = [path_of("haproxy"), "-W", "-db", "-f", str(self._config)]
            environment = os.environ | self._environment
            self._process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        try:
            until(lambda: b"Loading success" in self._log.read_bytes() or self._process.poll(), self._log.read_text)
            assert self._process.poll() is None, self._log.read_text()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(60)
        for port in self._ports:
            port.close()
