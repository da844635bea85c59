"""Bring docker-compose.yml up for real, play through it from outside, restart it, take it down.

    make compose-test

Uses the machine's own container engine where there is one. Elsewhere, as root on Debian, it starts an engine of its
own from Debian's packages in a network namespace of its own, with stand-ins made by debootstrap for the base images.
Every step is a line with PASS or FAIL; whatever happens, everything that it started is gone at the end.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docker-compose.yml"
PROJECT = "salvotest"
PACKAGES = ("docker.io", "docker-compose", "debootstrap", "iptables", "iproute2")
IN_IMAGE = "python3,python3-venv,mosquitto,mosquitto-clients,ca-certificates"
HEALTHY_SECONDS = 90
#: A result stands for seconds and not for minutes, so that the next lobby opens soon.
SETTINGS = {"SALVO_PLAYERS": "2", "SALVO_OVER_SECONDS": "5"}
PYTHON = sys.executable
SALVO = str(Path(sysconfig.get_path("scripts")) / "salvo")


def sh(*words: str, check: bool = True, timeout: float = 300, env: Mapping[str, str] | None = None) -> str:
    """Run a command; return what it printed."""
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=timeout, env=os.environ | (env or {}), cwd=ROOT, check=False
    )
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {(done.stdout + done.stderr)[-1500:]}")
    return done.stdout + done.stderr


def wait_for(what: str, holds: Callable[[], bool], seconds: float = HEALTHY_SECONDS) -> None:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise RuntimeError(f"{what}: not within {seconds:g} s")
        time.sleep(0.5)


class Steps:
    """Prints each step and how long it took."""

    def __init__(self) -> None:
        self.failed = False

    @contextlib.contextmanager
    def step(self, name: str) -> Iterator[None]:
        start = time.monotonic()
        try:
            yield
        except BaseException as error:
            self.failed = True
            print(f"FAIL {name} ({time.monotonic() - start:.1f} s): {error}", flush=True)
            raise
        print(f"PASS {name} ({time.monotonic() - start:.1f} s)", flush=True)


# --- an engine ----------------------------------------------------------------------------------------------------


class Engine:
    """The machine's own container engine."""

    inside: tuple[str, ...] = ()  # what commands need in front to reach the published ports

    def docker(self, *words: str) -> str:
        return sh("docker", *words)

    def compose(self, *words: str) -> str:
        return sh("docker", "compose", "-p", PROJECT, "-f", str(FILE), *words, timeout=600, env=SETTINGS)

    def build(self) -> None:
        self.compose("build")


class OwnEngine(Engine):
    """Debian's dockerd in a folder and a network namespace of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._space = f"salvo{os.getpid()}"
        self._socket = folder / "docker.sock"
        self._daemon: subprocess.Popen[bytes] | None = None
        self.inside = ("nsenter", f"--net=/run/netns/{self._space}")
        self._env = {"DOCKER_HOST": f"unix://{self._socket}", "DOCKER_BUILDKIT": "0"}

    def docker(self, *words: str) -> str:
        return sh("/usr/bin/docker", *words, timeout=600, env=self._env)

    def compose(self, *words: str) -> str:
        command = ("/usr/bin/docker-compose", "-p", PROJECT, "-f", str(FILE), *words)
        return sh(*command, timeout=600, env=self._env | SETTINGS)

    def start(self, *, apart: bool) -> None:
        """Start the daemon: in the namespace to run containers, in the machine's own to build with its network."""
        if apart:
            sh("ip", "netns", "add", self._space)
            sh(*self.inside, "ip", "link", "set", "lo", "up")
        network = [] if apart else ["--bridge=none", "--iptables=false"]
        log = (self._folder / "dockerd.log").open("ab")
        self._daemon = subprocess.Popen(
            [
                *(self.inside if apart else ()),
                "/usr/sbin/dockerd",
                f"--host=unix://{self._socket}",
                f"--data-root={self._folder / 'data'}",
                f"--exec-root={self._folder / 'exec'}",
                f"--pidfile={self._folder / 'pid'}",
                "--storage-driver=vfs" if not _overlay_works(self._folder) else "--storage-driver=overlay2",
                *network,
            ],
            stdout=log,
            stderr=log,
        )
        try:
            wait_for(
                "dockerd", lambda: "Server Version" in sh("/usr/bin/docker", "info", check=False, env=self._env), 60
            )
        except RuntimeError:
            raise RuntimeError((self._folder / "dockerd.log").read_text()[-2000:]) from None

    def stop(self) -> None:
        if self._daemon is not None:
            self._daemon.terminate()
            self._daemon.wait(30)
            self._daemon = None
        sh("ip", "netns", "del", self._space, check=False)

    def make_base_images(self) -> None:
        """One Debian tree serves as all three: the Python base, Debian itself and mosquitto's image."""
        tree = self._folder / "tree"
        sh("debootstrap", "--variant=minbase", f"--include={IN_IMAGE}", "bookworm", str(tree), timeout=600)
        self._lend_pip_settings(tree)
        archive = self._folder / "tree.tar"
        sh("tar", "-C", str(tree), "-cf", str(archive), ".")
        shutil.rmtree(tree)
        for name in ("debian:bookworm-slim", "python:3.12-slim"):
            self.docker("import", "--change", "ENV PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin", str(archive), name)
        archive.unlink()
        context = self._folder / "mosquitto"
        context.mkdir()
        (context / "Dockerfile").write_text(
            "FROM debian:bookworm-slim\n"
            "RUN mkdir -p /mosquitto/config /mosquitto/data /mosquitto/log && chown -R 1883:1883 /mosquitto\n"
            'CMD ["/usr/sbin/mosquitto", "-c", "/mosquitto/config/mosquitto.conf"]\n'
        )
        self.docker("build", "--network=host", "-t", "eclipse-mosquitto:2", str(context))

    def _lend_pip_settings(self, tree: Path) -> None:
        """pip inside the build reaches what pip reaches here: its settings and certificates go into the stand-in."""
        settings = sh(PYTHON, "-m", "pip", "config", "list", check=False)
        found = {}
        for line in settings.splitlines():
            key, _, value = line.partition("=")
            name = key.rpartition(".")[2].strip()
            if name in ("index-url", "cert", "trusted-host", "proxy"):
                found[name] = value.strip().strip("'")
        lines = [f"{name} = {value}" for name, value in found.items()]
        (tree / "etc" / "pip.conf").write_text("\n".join(["[global]", *lines, ""]))
        bundle = Path("/etc/ssl/certs/ca-certificates.crt")
        if bundle.exists():
            shutil.copy(bundle, tree / "etc" / "ssl" / "certs" / "ca-certificates.crt")

    def build(self) -> None:
        self.docker("build", "--network=host", "-f", "server/Dockerfile", "-t", "battleship-salvo", ".")


def _overlay_works(folder: Path) -> bool:
    for name in ("lower", "upper", "work", "merged"):
        (folder / name).mkdir(exist_ok=True)
    layers = f"lowerdir={folder}/lower,upperdir={folder}/upper,workdir={folder}/work"
    works = "error" not in (
        sh("mount", "-t", "overlay", "overlay", "-o", layers, str(folder / "merged"), check=False) or ""
    )
    sh("umount", str(folder / "merged"), check=False)
    return works


@contextlib.contextmanager
def engine(steps: Steps) -> Iterator[Engine]:
    """An engine with the image of the server built."""
    if shutil.which("docker") and "Server Version" in sh("docker", "info", check=False):
        own = Engine()
        with steps.step("the server's image is built on the machine's engine"):
            own.build()
        yield own
        return
    with steps.step("Debian's container engine is installed"):
        missing = [name for name in PACKAGES if "install ok" not in sh("dpkg", "-s", name, check=False)]
        if missing:
            sh("apt-get", "update", "-qq", timeout=300)
            sh("apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing, timeout=600)
    folder = Path(tempfile.mkdtemp(prefix="salvo-compose-"))
    made = OwnEngine(folder)
    try:
        with steps.step("an engine of our own starts"):
            made.start(apart=False)
        with steps.step("stand-ins for the base images are made"):
            made.make_base_images()
        with steps.step("the server's image is built"):
            made.build()
        made.stop()
        with steps.step("the engine starts in a network namespace of its own"):
            made.start(apart=True)
        yield made
    finally:
        made.stop()
        for mounted in reversed(Path("/proc/mounts").read_text().splitlines()):
            if str(folder) in mounted:
                sh("umount", "-l", mounted.split()[1], check=False)
        shutil.rmtree(folder, ignore_errors=True)


# --- what is shown ------------------------------------------------------------------------------------------------


def is_healthy(used: Engine, service: str) -> bool:
    identity = used.compose("ps", "-q", service).split()
    if not identity:
        return False
    state = json.loads(used.docker("inspect", identity[-1]))[0]["State"]
    return bool(state.get("Health", {}).get("Status") == "healthy")


def health(used: Engine) -> str:
    return sh(*used.inside, SALVO, "health", "--broker", "mqtt://127.0.0.1:1883", check=False)


def play(used: Engine, first: subprocess.Popen[str] | None = None) -> str:
    """Play a game with two clients outside of the containers; return the winner."""
    names = ["right"] if first else ["left", "right"]
    clients = [first] if first else []
    clients += [join(used, name) for name in names]
    said = [client.communicate(timeout=60)[0].strip() for client in clients]
    assert len(set(said)) == 1, said
    assert said[0].startswith("winner: "), said
    return said[0]


def join(used: Engine, name: str) -> subprocess.Popen[str]:
    """The client of the README that knows nothing of ours."""
    script = str(ROOT / "examples" / "spec_client_40_lines.py")
    command = [*used.inside, PYTHON, script, "127.0.0.1", "1883", name, f"secret of {name}"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def slow(used: Engine, name: str) -> subprocess.Popen[str]:
    """A bot that leaves time for somebody to kill the server."""
    command = [*used.inside, SALVO, "join", "mqtt://127.0.0.1:1883", "slow", "--team", name, "--games", "1"]
    environment = os.environ | {"SALVO_SLOW_SECONDS": "0.1"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)


def turn(used: Engine) -> int:
    said = retained(used, "/game/turn")
    return int(json.loads(said)["turn"]) if said else 0


def kill_server(used: Engine) -> None:
    """Kill the process itself: a container that the engine is told to kill would not start again."""
    identity = used.compose("ps", "-q", "server").split()[-1]
    lines = used.docker("top", identity, "-o", "pid,args").splitlines()[1:]
    [process] = [line.split()[0] for line in lines if "serve" in line and "init" not in line]
    os.kill(int(process), signal.SIGKILL)


def retained(used: Engine, topic: str) -> str:
    broker = used.compose("ps", "-q", "broker").split()[-1]
    return used.docker("exec", broker, "mosquitto_sub", "-t", topic, "-C", "1", "-W", "3").strip()


def roots(used: Engine) -> list[str]:
    """Processes in the containers that run as root."""
    found = []
    for service in ("broker", "server"):
        identity = used.compose("ps", "-q", service).split()[-1]
        lines = used.docker("top", identity, "-o", "uid,pid,comm").splitlines()[1:]
        found += [f"{service}: {line}" for line in lines if line.split()[0] == "0"]
    return found


def show(used: Engine, steps: Steps) -> None:
    """The steps of a contest's life."""
    with steps.step("up: broker and server become healthy"):
        used.compose("up", "-d", "--no-build")
        for service in ("broker", "server"):
            wait_for(service, lambda service=service: is_healthy(used, service))  # type: ignore[misc]
    with steps.step("the server is online from outside"):
        wait_for("online", lambda: health(used).startswith("online"))
    with steps.step("nothing runs as root"):
        assert not roots(used), roots(used)
    with steps.step("restart broker in the lobby, with a team listed, and the game is played all the same"):
        broker = used.compose("ps", "-q", "broker").split()[-1]
        waiting = join(used, "left")
        wait_for("listed", lambda: retained(used, "/players/list") == '["left"]')
        used.docker("exec", broker, "mosquitto_pub", "-r", "-t", "/marker", "-m", "survives")
        used.compose("restart", "broker")
        wait_for("broker", lambda: is_healthy(used, "broker"))
        wait_for("list is back", lambda: retained(used, "/players/list") == '["left"]')
        print("    " + play(used, waiting))
    with steps.step("kill -9 of the server in mid-game: its container starts again and the game goes on"):
        wait_for("the next lobby", lambda: retained(used, "/game/state") == "lobby")
        teams = [slow(used, name) for name in ("anna", "bert")]
        wait_for("mid-game", lambda: turn(used) > 5)
        kill_server(used)
        said = [team.communicate(timeout=90)[0].strip().splitlines()[-1] for team in teams]
        assert all("wins" in line for line in said), said
        assert said[0].split(",")[0] == said[1].split(",")[0], said
        print("    " + said[0])
    with steps.step("down and up: the data of both survives, the next lobby opens, a game is played"):
        used.compose("down")
        used.compose("up", "-d", "--no-build")
        for service in ("broker", "server"):
            wait_for(service, lambda service=service: is_healthy(used, service))  # type: ignore[misc]
        assert retained(used, "/marker") == "survives"
        wait_for("the next lobby", lambda: retained(used, "/game/state") == "lobby")
        print("    " + play(used))
    with steps.step("stop: the server says that it is offline, and ends by itself"):
        used.compose("stop", "-t", "10", "server")
        identity = json.loads(used.docker("inspect", used.compose("ps", "-q", "server").split()[-1]))
        assert identity[0]["State"]["ExitCode"] == 0, identity[0]["State"]
        assert '"offline"' in retained(used, "/game/server")
    with steps.step("down: everything is gone"):
        used.compose("down", "-v")
        assert not used.docker("ps", "-q").strip()


def main() -> int:
    steps = Steps()
    try:
        with engine(steps) as used:
            try:
                show(used, steps)
            except BaseException:
                print(used.compose("logs", "--tail", "40"))
                raise
            finally:
                with contextlib.suppress(RuntimeError):
                    used.compose("down", "-v")
    except (RuntimeError, AssertionError, subprocess.TimeoutExpired):
        return 1  # the step has said why
    print("all passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
