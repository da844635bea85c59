"""The alert rules of deploy/, as Prometheus itself reads them, and with a real server that it watches."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from kit.ports import Port
from kit.processes import started
from kit.programs import needs, path_of

ROOT = Path(__file__).parents[3]
RULES = ROOT / "deploy" / "alerts.yml"
CASES = Path(__file__).parent / "alerts.yml"
_SECONDS = 120.0


def _promtool(*words: str | Path) -> None:
    done = subprocess.run(
        [path_of("prometheus", "promtool"), *words], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@needs("prometheus")
def test_prometheus_takes_its_configuration_and_the_rules_that_it_names() -> None:
    _promtool("check", "config", ROOT / "deploy" / "prometheus.yml")


@needs("prometheus")
def test_each_alert_fires_when_it_shall_and_not_before() -> None:
    _promtool("test", "rules", CASES)


def test_there_is_a_case_for_each_alert() -> None:
    alerts = re.findall(r"^ +- alert: (\w+)$", RULES.read_text(), re.MULTILINE)
    fired = re.findall(r"^ +alertname: (\w+)\n +exp_alerts:$", CASES.read_text(), re.MULTILINE)
    assert alerts
    assert sorted(fired) == sorted(alerts)


class _Prometheus:
    """Asks Prometheus."""

    def __init__(self, address: str, process: subprocess.Popen[str]) -> None:
        self._url = f"http://{address}/api/v1/"
        self._process = process

    def ask(self, what: str) -> Any:
        with urllib.request.urlopen(self._url + what, timeout=_SECONDS) as answer:
            return json.load(answer)["data"]

    def until(self, query: str) -> None:
        """Wait until a query has a result."""
        end = time.monotonic() + _SECONDS
        while not self._result(query):
            assert self._process.poll() is None, self._process.returncode
            assert time.monotonic() < end, query
            threading.Event().wait(0.1)

    def _result(self, query: str) -> Any:
        try:
            return self.ask(f"query?query={urllib.parse.quote(query)}")["result"]
        except urllib.error.URLError:  # it is still starting
            return []

    def firing(self) -> set[str]:
        return {each["labels"]["alertname"] for each in self.ask("alerts")["alerts"] if each["state"] == "firing"}


@needs("prometheus")
@pytest.mark.slow
def test_prometheus_reads_a_real_server_and_notices_that_it_stood_still(tmp_path: Path, port: Port) -> None:
    serve = [sys.executable, "-m", "salvo", "serve", "--profile", "open", "--listen", "127.0.0.1:0"]
    with started([*serve, "--metrics", "127.0.0.1:0", "--json"], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        url = next(line["url"] for line in map(json.loads, server.stdout) if line["event"] == "metrics")
        text = (ROOT / "deploy" / "prometheus.yml").read_text()
        for place, here in {"127.0.0.1:9464": url.split("/")[2], "alerts.yml": str(RULES), "5s": "1s"}.items():
            assert place in text, place
            text = text.replace(place, here)
        config = tmp_path / "prometheus.yml"
        config.write_text(text)
        with (
            (tmp_path / "log").open("w") as log,
            started(
                [
                    path_of("prometheus"),
                    f"--config.file={config}",
                    f"--storage.tsdb.path={tmp_path / 'data'}",
                    f"--web.listen-address={port.address}",
                ],
                stdout=log,
                stderr=log,
            ) as process,
        ):
            prometheus = _Prometheus(port.address, process)
            prometheus.until('salvo_connected == 1 and on (instance) salvo_build_info{version!=""}')
            assert prometheus.firing() == set()
            server.send_signal(signal.SIGSTOP)
            # An idle loop may wait for a second as it is; it has to stand still for another one, and more.
            prometheus.until("sum_over_time((1 - up)[1m:1s]) > 3")
            server.send_signal(signal.SIGCONT)
            prometheus.until('ALERTS{alertname="SalvoLate", alertstate="firing"}')
            assert prometheus.firing() == {"SalvoLate"}
