"""What docker compose reads is well-formed and says what the code expects."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import click
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import salvo
from kit import command_line
from salvo.cli import cli
from salvo.system.distribution import __version__
from salvo_server.commands.serve import serve
from salvo_server.settings import ServerSettings, load_settings

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(sysconfig.get_path("scripts"))
#: What every command reads that connects to a broker, and what ``salvo teams`` prints.
_OF_ALL = {"ca", "secret_file", "join"}
COMPOSE = ("docker-compose.yml", "deploy/tls.yml", "deploy/evening.yml")
#: ``check-jsonschema`` without the grammar of IRIs, which takes two seconds to read; that schema has no format.
CHECK = "import sys; sys.modules['rfc3987_syntax'] = None; from check_jsonschema import main; main()"
_IMAGE = f"${{SALVO_IMAGE:-battleship-salvo:{__version__}}}"


@pytest.mark.long
def test_the_compose_files_fit_the_compose_schema() -> None:
    command = [sys.executable, "-c", CHECK, "--builtin-schema", "vendor.compose-spec", *COMPOSE]
    subprocess.run(command, cwd=ROOT, check=True)


def test_hadolint_finds_nothing_in_the_dockerfile() -> None:
    subprocess.run([SCRIPTS / "hadolint", "server/Dockerfile"], cwd=ROOT, check=True)


@pytest.mark.parametrize("file", COMPOSE[:2])
def test_compose_sets_only_settings_that_exist(file: str) -> None:
    environment = re.findall(r"^      SALVO_([A-Z_]+):", (ROOT / file).read_text(), re.MULTILINE)
    assert environment
    assert {name.lower() for name in environment} <= {*ServerSettings.model_fields, *_OF_ALL, *_of_the_web_front()}


def _of_the_web_front() -> set[str]:
    """What ``salvo web`` reads: its options' variables, and its account's user."""
    web = cli.get_command(click.Context(cli), "web")
    of_options = {str(option.envvar) for option in (web.params if web else ()) if option.envvar}
    return {name.removeprefix("SALVO_").lower() for name in of_options} | {"team", "secret_file"}


#: Settings that mean nothing to the server of docker-compose.yml, and why.
NOT_IN_COMPOSE = {
    "listen": "mosquitto listens",
    "websocket": "mosquitto listens",
    "tls_cert": "mosquitto's listeners have it (deploy/tls.yml)",
    "tls_key": "mosquitto's listeners have it (deploy/tls.yml)",
    "tls_ca": "SALVO_CA is for every command in the container (deploy/tls.yml)",
    "web": "the web front is a service of its own",
    "gateways": "clients would have to reach their ports: a gateway is a service of its own, salvo gateway",
    "games": "a server that has ended would be started again",
    "seed": "a variable of this name is a bot's",
}


def test_compose_passes_on_every_setting_that_means_something_there() -> None:
    server = (ROOT / "docker-compose.yml").read_text().partition("\n  server:\n")[2].partition("\n\n")[0]
    passed = {name.lower() for name in re.findall(r"^      SALVO_([A-Z_]+):", server, re.MULTILINE)}
    assert not passed & set(NOT_IN_COMPOSE)
    assert passed - {"join"} | set(NOT_IN_COMPOSE) == set(ServerSettings.model_fields)


@pytest.mark.skipif("evening" not in cli.list_commands(click.Context(cli)), reason="leagues are not here")
def test_the_file_of_an_evening_is_played_in_containers_on_the_broker_that_they_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command_line.run("evening", "cup", "--teams", "6", "--hours", "1", cwd=tmp_path)
    text = (ROOT / "deploy" / "evening.yml").read_text()
    assert '"--config", "/var/lib/salvo/evening/contest.toml"' in text
    monkeypatch.setenv("SALVO_BROKER", "mqtt://broker:1884")
    monkeypatch.setenv("SALVO_JOURNAL", "/var/lib/salvo/contest.journal")
    settings = load_settings({}, tmp_path / "cup/contest.toml")
    assert (settings.broker, settings.web, settings.tables) == ("mqtt://broker:1884", None, ("t1", "t2"))
    assert settings.journal == "/var/lib/salvo/contest.journal"


def test_the_unit_of_systemd_starts_what_there_is() -> None:
    text = (ROOT / "deploy" / "salvo.service").read_text()
    [command] = re.findall(r"^ExecStart=\S+/salvo (.*)$", text, re.MULTILINE)
    given = cli.make_context("salvo", command.split())
    assert serve.make_context("serve", given.args).params["standby"] is True
    assert {f"RestartPreventExitStatus={code}" for code in (2,)} <= set(text.splitlines())
    for name in re.findall(r"\bSALVO_([A-Z_]+)=", text):
        assert name.lower() in ServerSettings.model_fields


def test_every_service_is_locked_in_and_nobody_is_root() -> None:
    services = (ROOT / "docker-compose.yml").read_text().partition("\nservices:\n")[2].partition("\nnetworks:\n")[0]
    texts = re.split(r"^  (?=[a-z]+:$)", services, flags=re.MULTILINE)[1:]
    assert len(texts) >= 5
    bounds = (ROOT / "docker-compose.yml").read_text().partition("x-bounds: &bounds\n")[2].partition("\nservices:\n")[0]
    for line in (
        "read_only: true",
        "cap_drop: [ALL]",
        'security_opt: ["no-new-privileges:true"]',
        "pids_limit:",
        "max-size:",
    ):
        assert line in bounds
    user = re.findall(r"^USER (\S+)$", (ROOT / "server" / "Dockerfile").read_text(), re.MULTILINE)
    assert user == ["10001:10001"]
    for text in texts:
        assert "    <<: *bounds\n    mem_limit: " in text
        assert re.search(r'^    user: "[1-9]\d*:[1-9]\d*"', text, re.MULTILINE) or f"image: {_IMAGE}" in text


def test_images_are_pinned_and_the_brokers_ports_are_this_machines_own_unless_opened() -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    images = [image for image in re.findall(r"^    image: (\S+)$", text, re.MULTILINE) if image != _IMAGE]
    assert len(images) >= 2
    assert all(re.fullmatch(r"[a-z-]+:\d+\.\d+(\.\d+)?", image) for image in images), images
    broker = text.partition("\n  broker:\n")[2].partition("\n  server:\n")[0]
    published = re.findall(r'^      - "(.+):\d+"$', broker, re.MULTILINE)
    assert len(published) == 2
    assert all(port.startswith("${SALVO_ADDRESS:-127.0.0.1}:") for port in published)


def test_metrics_and_journal_are_for_this_machine_and_for_the_server_alone() -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    assert re.findall(r'^      - "(.*9464)"', text, re.MULTILINE) == ["127.0.0.1:${SALVO_METRICS_PORT:-9464}:9464"]
    assert "\nnetworks:\n  journal:\n    internal: true\n" in text
    members = re.findall(r"^  (\w+):\n(?:    .*\n|\n)*?    networks: \[.*journal\]$", text, re.MULTILINE)
    assert members == ["server", "standby", "postgres"]


def test_the_image_and_the_demo_install_from_a_lock_that_fits_what_they_need() -> None:
    lock = _locked("server/requirements.lock")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = [
        *extras["dependencies"],
        *extras["optional-dependencies"]["server"],
        *extras["optional-dependencies"]["postgresql"],
        # Shows the demo's boards on a terminal, and installs the clone.
        *(one for one in extras["optional-dependencies"]["terminal"] if one.startswith("rich")),
        "hatchling",
    ]
    for requirement in map(Requirement, needed):
        assert lock[canonicalize_name(requirement.name)] in requirement.specifier, str(requirement)


def test_the_workshop_has_the_versions_of_the_demo_so_that_it_only_adds_to_them() -> None:
    workshop, demo = _locked("requirements-dev.lock"), _locked("server/requirements.lock")
    assert demo.items() <= workshop.items()


def test_the_readme_says_what_every_extra_of_a_user_is_for() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    table = (ROOT / "README.md").read_text().partition("\n| extra | for |\n")[2].partition("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", table)) == set(extras) - {"dev", "docs", "fuzz", "image"}


def _locked(file: str) -> dict[str, str]:
    return dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / file).read_text(), re.MULTILINE))


@pytest.mark.slow
def test_the_workflows_of_the_forge_fit_their_schema() -> None:
    workflows = sorted(map(str, (ROOT / ".github" / "workflows").glob("*.yml")))
    assert len(workflows) == 2
    subprocess.run(
        [SCRIPTS / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows], check=True
    )


def test_every_file_that_names_the_version_names_this_one() -> None:
    named = {
        "pyproject.toml": rf'^version = "{__version__}"$',
        "CITATION.cff": rf"^version: {__version__}$",
        "CHANGELOG.md": rf"^## \[{__version__}\]",
        "client_sdk/javascript/package.json": rf'^  "version": "{__version__}",$',
        "client_sdk/javascript/package-lock.json": rf'^  "version": "{__version__}",$',
        "client_sdk/javascript/README.md": rf"/battleship-salvo-{__version__}\.tgz$",
        "server/Dockerfile": rf'image.version="{__version__}"$',
    }
    for file, line in named.items():
        assert re.search(line, (ROOT / file).read_text(), re.MULTILINE), file
    assert salvo.__version__ == __version__
    assert command_line.run("--version").stdout == f"salvo {__version__}, from {ROOT / 'client_sdk'}\n"


def test_pages_and_accounts_name_one_address_for_teams() -> None:
    """The pages had SALVO_JOIN, and `salvo teams add` in the server's container the listener of the server alone."""
    services = (ROOT / "docker-compose.yml").read_text().partition("\nservices:\n")[2].split("\n\n")
    joins = {each.split(":")[0].split()[-1]: re.findall("SALVO_JOIN: ([&*]join)", each) for each in services}
    assert joins["server"] == ["&join"]
    assert joins.get("web", ["*join"]) == ["*join"]
