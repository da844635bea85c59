"""What docker compose reads is well-formed and says what the code expects."""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
from pathlib import Path

from salvo_server.settings import ServerSettings

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(sysconfig.get_path("scripts"))


def test_the_compose_file_fits_the_compose_schema() -> None:
    command = [str(SCRIPTS / "check-jsonschema"), "--builtin-schema", "vendor.compose-spec", "docker-compose.yml"]
    subprocess.run(command, cwd=ROOT, check=True)


def test_hadolint_finds_nothing_in_the_dockerfile() -> None:
    subprocess.run([SCRIPTS / "hadolint", "server/Dockerfile"], cwd=ROOT, check=True)


def test_compose_sets_only_settings_that_exist() -> None:
    environment = re.findall(r"^      SALVO_([A-Z_]+):", (ROOT / "docker-compose.yml").read_text(), re.MULTILINE)
    assert environment
    assert {name.lower() for name in environment} <= set(ServerSettings.model_fields)


def test_the_dockerfile_installs_what_the_project_is_made_of() -> None:
    dockerfile = (ROOT / "server" / "Dockerfile").read_text()
    for name in re.findall(r"^COPY (?!--from)(.+) \S+$", dockerfile, re.MULTILINE):
        for part in name.split():
            assert (ROOT / part).exists()
            assert f"!{part}" in (ROOT / ".dockerignore").read_text().split()


def test_the_gate_is_executable() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
