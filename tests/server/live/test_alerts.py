"""The alert rules of deploy/, as Prometheus itself reads them, and with a real server that it watches."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from kit.programs import needs, path_of

ROOT = Path(__file__).parents[3]
RULES = ROOT / "deploy" / "alerts.yml"
CASES = Path(__file__).parent / "alerts.yml"


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


def test_each_alert_has_a_case() -> None:
    alerts = re.findall(r"^ +- alert: (\w+)$", RULES.read_text(), re.MULTILINE)
    fired = re.findall(r"^ +alertname: (\w+)\n +exp_alerts:$", CASES.read_text(), re.MULTILINE)
    assert alerts
    assert sorted(fired) == sorted(alerts)
