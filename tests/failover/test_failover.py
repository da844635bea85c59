"""A short run of the failover by cables; the long one, by network namespaces, is ``make failover``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kit.programs import needs

RUN = Path(__file__).with_name("run.py")


@pytest.mark.slow
@needs("mosquitto")
@pytest.mark.parametrize(
    ("arguments", "faults"),
    [
        pytest.param("--times 1 --cables", 4, marks=needs("postgresql")),
        pytest.param("--times 2 --journal sqlite --cables", 6),
    ],
)
def test_the_standby_goes_on_whatever_happens_to_the_first(arguments: str, faults: int) -> None:
    done = subprocess.run(
        [sys.executable, str(RUN), *arguments.split()], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout)
    assert result["wrong"] == []
    assert sum(result["faults"].values()) == faults
    assert result["games"] >= 1
