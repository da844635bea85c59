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
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from salvo.system.distribution import __version__
from salvo.wire import topics

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docker-compose.yml"
PROJECT = "salvotest"
PACKAGES = ("docker.io", "docker-compose", "debootstrap", "iptables", "iproute2")
IN_IMAGE = "python3,python3-venv,mosquitto,mosquitto-clients,haproxy,postgresql,ca-certificates"
HEALTHY_SECONDS = 90
#: What the image of PostgreSQL does at its first start with the variables of docker-compose.yml, and then at each.
STAND_IN_POSTGRES = r"""
RUN groupmod -o -g 999 postgres && usermod -o -u 999 postgres \
 && install -d -o postgres -g postgres -m 700 /var/lib/postgresql/data \
 && install -d -o postgres -g postgres -m 3777 /run/postgresql \
 && ln -s /usr/lib/postgresql/*/bin/* /usr/local/bin/
ENV PGDATA=/var/lib/postgresql/data
VOLUME /var/lib/postgresql/data
CMD ["sh", "-ec", "\
  if ! test -s $PGDATA/PG_VERSION; then \
    initdb --encoding=UTF8 --username=$POSTGRES_USER --auth=$POSTGRES_HOST_AUTH_METHOD; \
    echo host all all all $POSTGRES_HOST_AUTH_METHOD >>$PGDATA/pg_hba.conf; \
    echo create database $POSTGRES_USER | postgres --single postgres; \
  fi; \
  exec postgres -c listen_addresses=*"]
"""
#: A result stands for seconds and not for minutes, so that the next lobby opens soon.
SETTINGS = {"SALVO_PLAYERS": "2", "SALVO_OVER_SECONDS": "5", "SALVO_ADDRESS": "0.0.0.0"}
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
    files: tuple[Path, ...] = (FILE,)
    settings: Mapping[str, str] = SETTINGS
    _docker: tuple[str, ...] = ("docker",)
    _compose: tuple[str, ...] = ("docker", "compose")
    _env: Mapping[str, str] = {}

    def docker(self, *words: str) -> str:
        return sh(*self._docker, *words, timeout=600, env=self._env)

    def compose(self, *words: str) -> str:
        return sh(*self._words(), *words, timeout=600, env={**self._env, **self.settings})

    def pipe(self, *words: str, given: bytes = b"") -> bytes:
        """Run a command of compose with bytes as its input, and return its output."""
        env = os.environ | {**self._env, **self.settings}
        done = subprocess.run(
            [*self._words(), *words], input=given, capture_output=True, timeout=600, env=env, cwd=ROOT
        )
        assert done.returncode == 0, done.stderr.decode()[-1500:]
        return done.stdout

    def _words(self) -> list[str]:
        files = [word for file in self.files for word in ("-f", str(file))]
        return [*self._compose, "-p", PROJECT, *files]

    def container(self, service: str) -> str:
        return self.compose("ps", "-aq", service).split()[-1]

    def build(self) -> None:
        self.compose("build")

    def build_later_version(self, name: str) -> None:
        """Build another image with the same server in it."""
        with tempfile.TemporaryDirectory(prefix="salvo-later-") as context:
            (Path(context) / "Dockerfile").write_text(f"FROM battleship-salvo:{__version__}\nLABEL later=yes\n")
            self.docker("build", "-t", name, context)


class OwnEngine(Engine):
    """Debian's dockerd in a folder and a network namespace of its own."""

    _docker = ("/usr/bin/docker",)
    _compose = ("/usr/bin/docker-compose",)

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._space = f"salvo{os.getpid()}"
        self._socket = folder / "docker.sock"
        self._daemon: subprocess.Popen[bytes] | None = None
        self.inside = ("nsenter", f"--net=/run/netns/{self._space}")
        self._env = {"DOCKER_HOST": f"unix://{self._socket}", "DOCKER_BUILDKIT": "0"}

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
        """One Debian tree serves as all: Python's, Debian's, mosquitto's, HAProxy's and PostgreSQL's."""
        tree = self._folder / "tree"
        sh("debootstrap", "--variant=minbase", f"--include={IN_IMAGE}", "bookworm", str(tree), timeout=600)
        self._lend_pip_settings(tree)
        archive = self._folder / "tree.tar"
        sh("tar", "-C", str(tree), "-cf", str(archive), ".")
        shutil.rmtree(tree)
        pinned = r"^    image: ((eclipse-mosquitto|haproxy|postgres):\S+)$"
        mosquitto, haproxy, postgres = sorted(dict(re.findall(pinned, FILE.read_text(), re.MULTILINE)))
        for name in ("debian:bookworm-slim", "python:3.12-slim", haproxy):
            self.docker("import", "--change", "ENV PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin", str(archive), name)
        archive.unlink()
        self._make_image(
            mosquitto,
            "RUN mkdir -p /mosquitto/config /mosquitto/data /mosquitto/log && chown -R 1883:1883 /mosquitto\n"
            "RUN ln -s /usr/lib/*/mosquitto_dynamic_security.so /usr/lib/mosquitto_dynamic_security.so\n"
            'VOLUME ["/mosquitto/data", "/mosquitto/log"]\n'
            'CMD ["/usr/sbin/mosquitto", "-c", "/mosquitto/config/mosquitto.conf"]\n',
        )
        self._make_image(postgres, STAND_IN_POSTGRES)

    def _make_image(self, name: str, rest: str) -> None:
        """Make a stand-in from the Debian tree and the rest of a Dockerfile."""
        context = self._folder / name.partition(":")[0]
        context.mkdir()
        (context / "Dockerfile").write_text(f"FROM debian:bookworm-slim\n{rest}")
        self.docker("build", "--network=host", "-t", name, str(context))

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
        self.docker("build", "--network=host", "-f", "server/Dockerfile", "-t", f"battleship-salvo:{__version__}", ".")


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


# --- who is outside of the containers -----------------------------------------------------------------------------


class Outside:
    """Teams and onlookers on the machine that runs the containers, with the accounts that they were given."""

    def __init__(
        self, used: Engine, folder: Path, scheme: str = "mqtt", ca: Path | None = None, port: int = 1883
    ) -> None:
        """Prepare; all of them remember the server's key in one file of this folder."""
        self._used = used
        self._folder = folder
        self._scheme = scheme
        self._port = port
        self._environment = {"SALVO_KNOWN_SERVERS": str(folder / "known_servers.json")}
        if ca is not None:
            self._environment["SALVO_CA"] = str(ca)
        self._secrets: dict[str, str] = {}
        self._running: list[subprocess.Popen[str]] = []

    def learn(self, answer: str) -> None:
        """Read the secrets that ``salvo teams add --json`` has shown."""
        for line in answer.splitlines():
            if line.startswith("{"):
                shown = json.loads(line)
                self._secrets[shown["name"]] = shown["secret"]

    def url(self, user: str = "") -> str:
        """Where the broker is, for a user."""
        return f"{self._scheme}://{f'{user}@' if user else ''}127.0.0.1:{self._port}"

    def environment_of(self, user: str, secret: str | None = None) -> dict[str, str]:
        """The environment of a user's program, with its own secret or another one."""
        return {**self._environment, "SALVO_SECRET": secret or self._secrets[user.partition(".")[0]]}

    def health(self, user: str = "", secret: str | None = None, url: str = "") -> str:
        """Ask whether the server is online; there is no roster here whose account could help."""
        nobody = () if user else ("--roster", str(self._folder / "none"))
        environment = self.environment_of(user, secret) if user else self._environment
        return sh(*self._used.inside, SALVO, "health", url or self.url(user), *nobody, check=False, env=environment)

    def is_refused(self, user: str = "", secret: str | None = None, url: str = "") -> bool:
        return "refused the connection" in self.health(user, secret, url)

    def retained(self, topic: str) -> str:
        """What an onlooker reads on a topic; empty when there is nothing."""
        broker = self._used.container("broker")
        words = ("mosquitto_sub", "-u", "hall.1", "-P", self._secrets["hall"], "-t", topic, "-C", "1", "-W", "3")
        try:
            return self._used.docker("exec", broker, *words).strip()
        except RuntimeError:  # nothing in time, or no broker yet
            return ""

    def turn(self) -> int:
        """The turn that is on; 0 if there is none."""
        answer = self.retained("/game/turn")
        return int(json.loads(answer)["turn"]) if answer else 0

    def join(self, name: str, bot: str = "hunter", slow_seconds: float = 0.1) -> subprocess.Popen[str]:
        return self._start(
            [SALVO, "join", self.url(), bot, "--team", name, "--games", "1"],
            {"SALVO_SECRET": self._secrets[name], "SALVO_SLOW_SECONDS": str(slow_seconds)},
        )

    def play_on(self, name: str) -> None:
        """Let a team play until all is over."""
        self._start([SALVO, "join", self.url(), "hunter", "--team", name], {"SALVO_SECRET": self._secrets[name]})

    def begin_round(self, host: str) -> bool:
        """Begin the round of a league; return whether all five teams are in it."""
        environment = {**self._environment, "SALVO_SECRET": self._secrets[host], "SALVO_TEAM": host}
        words = (*self._used.inside, SALVO, "control", "start", self.url(), "--all")
        screen = self._used.compose("logs", "--no-color", "server")
        if not all(f"team{number}" in screen for number in range(1, 6)):
            return False
        sh(*words, env=environment)
        return True

    def listen(self, user: str = "", *filters: str) -> subprocess.Popen[str]:
        words = [PYTHON, str(ROOT / "tests" / "compose" / "listen.py"), self.url(user), *filters]
        return self._start(words, self.environment_of(user) if user else None)

    def play_without_login(self, name: str) -> subprocess.Popen[str]:
        client = ROOT / "examples" / "client.py"
        return self._start([PYTHON, str(client), "127.0.0.1", "1883", name, f"secret-of-{name}"])

    def _start(self, command: list[str], environment: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        self._running.append(
            subprocess.Popen(
                [*self._used.inside, *command],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env={**os.environ, **self._environment, **(environment or {})},
            )
        )
        return self._running[-1]

    def end_of(self, *teams: subprocess.Popen[str]) -> str:
        """Wait for the end of a game; return what all teams say of it alike."""
        answer = [team.communicate(timeout=90)[0].strip().splitlines()[-1] for team in teams]
        ends = {line.partition(",")[0] for line in answer}
        assert len(ends) == 1, answer
        return ends.pop()

    def play(self, *teams: subprocess.Popen[str]) -> str:
        """Wait for the end of a game that all teams tell alike; return how it ended."""
        end = self.end_of(*teams)
        assert end.endswith((" red wins", " blue wins")), end
        return end

    def go(self) -> None:
        """End whoever is still there."""
        for process in self._running:
            process.kill()
            process.wait()


# --- what is shown ------------------------------------------------------------------------------------------------


def is_healthy(used: Engine, service: str) -> bool:
    identity = used.compose("ps", "-q", service).split()
    if not identity:
        return False
    state = json.loads(used.docker("inspect", identity[-1]))[0]["State"]
    return bool(state.get("Health", {}).get("Status") == "healthy")


def go_up(used: Engine, *services: str) -> None:
    used.compose("up", "-d", "--no-build", *services)
    for service in services or ("broker", "server", "web"):
        wait_for(service, lambda service=service: is_healthy(used, service))  # type: ignore[misc]


def roster(used: Engine, *words: str) -> str:
    """What an operator does with the roster while the server runs."""
    return used.compose("exec", "-T", "server", "salvo", "teams", *words)


def add_teams(used: Engine, outside: Outside) -> None:
    """Add two teams, and wait until they could play."""
    outside.learn(roster(used, "add", "red", "blue", "--json"))
    wait_for("online", lambda: outside.health("red.2").startswith("online"))


def kill_server(used: Engine) -> None:
    """Kill the process itself: a container that the engine is told to kill would not start again."""
    lines = used.docker("top", used.container("server"), "-o", "pid,args").splitlines()[1:]
    [process] = [line.split()[0] for line in lines if "serve" in line and "init" not in line]
    os.kill(int(process), signal.SIGKILL)


def roots(used: Engine) -> list[str]:
    """Processes in the containers that run as root, and containers that may start one."""
    found = []
    for service in ("broker", "server"):
        lines = used.docker("top", used.container(service), "-o", "uid,pid,comm").splitlines()[1:]
        assert lines
        found += [f"{service}: {line}" for line in lines if line.split()[0] == "0"]
    for service in ("setup", "broker", "server"):
        user = json.loads(used.docker("inspect", used.container(service)))[0]["Config"]["User"]
        if user.partition(":")[0] in ("", "0", "root"):
            found.append(f"{service}: user {user!r}")
    return found


def volumes(used: Engine) -> set[str]:
    return set(used.docker("volume", "ls", "-q").split())


def show(used: Engine, steps: Steps, folder: Path) -> None:
    """The steps of a contest's life."""
    outside = Outside(used, folder)
    before = volumes(used)
    try:
        show_the_door(used, steps, outside)
        show_deaths(used, steps, outside)
        show_backup(used, steps, outside)
        show_the_end(used, steps, outside, before)
    finally:
        outside.go()


def show_the_door(used: Engine, steps: Steps, outside: Outside) -> None:
    with steps.step("up: broker and server become healthy"):
        go_up(used)
    with steps.step("nothing runs as root"):
        assert not roots(used), roots(used)
    with steps.step("who has no name is refused, over WebSocket too"):
        for url in (outside.url(), "ws://127.0.0.1:9001/mqtt"):
            assert outside.is_refused(url=url), outside.health(url=url)
    with steps.step("docker compose exec server salvo teams add red blue, while it runs"):
        outside.learn(roster(used, "add", "red", "blue", "green", "--json"))
        outside.learn(roster(used, "add", "hall", "--role", "watcher", "--json"))
        assert "salvo join mqtt://localhost:1883 bot.py" in roster(used, "add", "grey")  # not the server's listener
        roster(used, "remove", "grey")
        wait_for("online", lambda: outside.health("hall.2").startswith("online"))
        print("    " + outside.health("hall.2").strip())
    with steps.step("a wrong password is refused"):
        assert outside.is_refused("red", "wrong"), outside.health("red", "wrong")
    with steps.step("a team that is struck off is gone, and does not come back"):
        green = outside.listen("green")
        assert green.stdout is not None
        assert green.stdout.readline().startswith("/")
        roster(used, "remove", "green")
        # Refused for a minute, it gives up: a broker that has just started may not have all accounts yet.
        assert green.communicate(timeout=180)[0].splitlines()[-1] == "not_authorised"
        assert outside.is_refused("green")
    with steps.step("red and blue play with the secrets that were shown; blue's screen is given nothing of red's"):
        screens = {name: outside.listen(f"{name}.1") for name in ("red", "blue")}
        print("    " + outside.play(outside.join("red"), outside.join("blue")))
        for name, screen in screens.items():
            screen.terminate()
            closed = closed_topics(screen.communicate(timeout=60)[0].split())
            assert f"/players/{name}/hit" in closed, closed
            assert all(topic.startswith(f"/players/{name}/") for topic in closed), closed
    with steps.step("the web front tells browsers of the table, and offers the game that is over"):
        shown = first_line(used, "http://127.0.0.1:8080/events?table=&live=1")  # without `live` it may be a tape
        assert '"state":"over"' in shown, shown
        wait_for("the list of games", lambda: "games/" in fetched(used, "http://127.0.0.1:8080/games"), 30)
    with steps.step("the server's metrics are on port 9464, and have the game"):
        assert (
            'salvo_games_total{result="finished",table=""} 1.0'
            in fetched(used, "http://127.0.0.1:9464/metrics").splitlines()
        )
    with steps.step("salvo doctor, from outside with a team's viewer"):
        tell_doctor(sh(*doctor(used), env=outside.environment_of("red")))
    with steps.step("salvo doctor, in the server's container"):
        tell_doctor(used.compose("exec", "-T", "server", "salvo", "doctor"))


def fetched(used: Engine, url: str, ca: Path | None = None) -> str:
    """Return a page as a browser outside gets it."""
    return _ask(used, url, ca, "read()")


def first_line(used: Engine, url: str) -> str:
    """Return the first line of a stream, which is a whole picture of a table."""
    return _ask(used, url, None, "readline()")


def _ask(used: Engine, url: str, ca: Path | None, how: str) -> str:
    context = "None" if ca is None else f"ssl.create_default_context(cafile={str(ca)!r})"
    script = f"import ssl, urllib.request as u; print(u.urlopen({url!r}, context={context}, timeout=60).{how}.decode())"
    return sh(*used.inside, PYTHON, "-c", script)


def closed_topics(seen: Iterable[str]) -> set[str]:
    """Those that not everybody may read; there are some, or nothing was seen at all."""
    rows = {topic: topics.parse(topic).topic for topic in seen}
    assert any(row.name == "winner" for row in rows.values()), rows
    return {topic for topic, row in rows.items() if row.reader is not topics.Reader.EVERYBODY}


def doctor(used: Engine) -> list[str]:
    """The command, by an address that is not the machine's own, as from another one."""
    [network] = used.docker("network", "ls", "-q", "--filter", f"name={PROJECT}_default").split()
    gateway = json.loads(used.docker("network", "inspect", network))[0]["IPAM"]["Config"][0]["Gateway"]
    return [*used.inside, SALVO, "doctor", f"mqtt://red.1@{gateway}:1883"]


def tell_doctor(answer: str) -> None:
    lines = answer.strip().splitlines()
    assert any(line.startswith("PASS") for line in lines), answer
    for line in lines:
        if not line.startswith("PASS"):
            print("    " + line)


def show_deaths(used: Engine, steps: Steps, outside: Outside) -> None:
    def state() -> str:
        return outside.retained("/game/state")

    with steps.step("restart broker in the lobby, with a team listed, and the game is played all the same"):
        wait_for("the next lobby", lambda: state() == "lobby")
        red = outside.join("red")
        wait_for("listed", lambda: outside.retained("/players/list") == '["red"]')
        used.compose("restart", "broker")
        wait_for("broker", lambda: is_healthy(used, "broker"))
        wait_for("list is back", lambda: outside.retained("/players/list") == '["red"]')
        print("    " + outside.play(red, outside.join("blue")))
    with steps.step("kill -9 of the server in mid-game: its container starts again and the game continues"):
        wait_for("the next lobby", lambda: state() == "lobby")
        teams = [outside.join(name, "slow") for name in ("red", "blue")]
        wait_for("mid-game", lambda: outside.turn() > 5)
        kill_server(used)
        print("    " + outside.play(*teams))
    with steps.step("down, and only the broker up: its users and what is retained have survived"):
        wait_for("the next lobby", lambda: state() == "lobby")
        used.compose("down")
        go_up(used, "broker")
        assert "is offline" in outside.health("red.1"), outside.health("red.1")
        assert state() == "lobby"
        for user, secret in (("", None), ("green", None), ("red", "wrong")):
            assert outside.is_refused(user, secret), outside.health(user, secret)
    with steps.step("all up: roster and identity have survived, and red and blue play with their old secrets"):
        go_up(used)
        assert [line.split()[0] for line in roster(used, "list").splitlines()] == ["red", "blue", "hall"]
        # Their SDK would end with server_changed if this were another server.
        print("    " + outside.play(outside.join("red"), outside.join("blue")))


def show_backup(used: Engine, steps: Steps, outside: Outside) -> None:
    """The commands of docs/docker.md, "Upgrade and restore"."""
    archive = "/var/lib/salvo/evening.tar.gz"
    later = "battleship-salvo:later"
    run = ("run", "--rm", "--no-deps", "-T")
    after_restore = {**SETTINGS, "SALVO_RESUME": "crash"}

    def back_up() -> bytes:
        used.compose("exec", "-T", "server", "rm", "-f", archive)
        used.compose("exec", "-T", "server", "salvo", "backup", archive)
        return used.pipe("exec", "-T", "server", "cat", archive)

    def restore(stored: bytes, *options: str) -> None:
        used.pipe(*run, "--entrypoint", "tee", "server", archive, given=stored)
        used.compose(*run, "server", "restore", *options, archive)

    def image_of_server() -> str:
        return str(json.loads(used.docker("inspect", used.container("server")))[0]["Config"]["Image"])

    with steps.step("backup in mid-game, then another image: the server starts from it and the game continues"):
        used.build_later_version(later)
        wait_for("the next lobby", lambda: outside.retained("/game/state") == "lobby")
        teams = [outside.join(name, "slow", slow_seconds=1) for name in ("red", "blue")]
        wait_for("mid-game", lambda: outside.turn() > 5)
        stored = back_up()
        used.settings = {**SETTINGS, "SALVO_IMAGE": later}
        go_up(used)
        assert image_of_server() == later
        assert "resumes: turn" in used.docker("logs", used.container("server"))
        print("    " + outside.play(*teams))
    with steps.step(
        "back to the image before, with what was backed up: its game is abandoned, and the next one played"
    ):
        used.compose("stop", "server")
        used.settings = after_restore
        restore(stored, "--force")
        go_up(used)
        assert image_of_server() != later
        used.docker("image", "rm", "--force", later)
        print("    " + outside.play(outside.join("red"), outside.join("blue")))
    with steps.step("backup, all volumes deleted, restore: red and blue play with their old secrets"):
        stored = back_up()
        used.compose("down", "-v")
        restore(stored)
        go_up(used)
        print("    " + outside.play(outside.join("red"), outside.join("blue")))


def show_the_end(used: Engine, steps: Steps, outside: Outside, before: set[str]) -> None:
    with steps.step("stop: the server says that it is offline, and ends by itself"):
        used.compose("stop", "-t", "10", "server")
        state = json.loads(used.docker("inspect", used.container("server")))[0]["State"]
        assert state["ExitCode"] == 0, state
        assert '"offline"' in outside.retained("/game/server")
    with steps.step("down: everything is gone"):
        used.compose("down", "-v")
        assert not used.docker("ps", "-aq", "--filter", f"name={PROJECT}_").strip()
        assert volumes(used) == before, volumes(used) - before


def make_certificates(folder: Path) -> Path:
    certificates = folder / "tls"
    sh(SALVO, "tls", str(certificates), "--host", "contest.test", "--host", "127.0.0.1")
    for path in (certificates, *certificates.iterdir()):
        os.chown(path, 10001, 10001)
    return certificates


def show_public(used: Engine, steps: Steps, folder: Path, certificates: Path) -> None:
    """Among strangers: broker and server behind the front."""
    settings = {name: value for name, value in SETTINGS.items() if name != "SALVO_ADDRESS"}
    used.settings = {**settings, "COMPOSE_PROFILES": "public", "SALVO_TLS_FOLDER": str(certificates)}
    (folder / "public").mkdir()
    outside = Outside(used, folder / "public", "mqtts", certificates / "ca.pem", port=8883)
    try:
        with steps.step("--profile public: the front is up, and only it is there for other machines"):
            go_up(used)
            for service, address in (("broker", "127.0.0.1"), ("front", "0.0.0.0")):
                ports = json.loads(used.docker("inspect", used.container(service)))[0]["NetworkSettings"]["Ports"]
                published = {each["HostIp"] for bound in ports.values() for each in bound or ()}
                assert published - {"::"} == {address}, ports
        with steps.step("--profile public: red and blue play through the front"):
            add_teams(used, outside)
            print("    " + outside.play(outside.join("red"), outside.join("blue")))
        with steps.step("--profile public: the web front is at https://127.0.0.1:8443/"):
            page = fetched(used, "https://127.0.0.1:8443/", certificates / "ca.pem")
            assert page.startswith("<!doctype html>"), page
    finally:
        outside.go()
        used.compose("down", "-v")


def show_postgres(used: Engine, steps: Steps, folder: Path) -> None:
    """The journal in a database, and the log in JSON."""
    used.settings = {
        **SETTINGS,
        "COMPOSE_PROFILES": "postgres",
        "SALVO_JOURNAL": "postgresql://salvo@postgres/salvo",
        "SALVO_LOG_FORMAT": "json",
    }
    (folder / "postgres").mkdir()
    outside = Outside(used, folder / "postgres")

    def steps_in_journal() -> int:
        words = ("psql", "-U", "salvo", "-tAc", "select count(*) from steps")
        return int(used.compose("exec", "-T", "postgres", *words).split()[-1])

    try:
        with steps.step("--profile postgres: the server comes up with its journal in PostgreSQL"):
            go_up(used, "postgres", "broker", "server", "web")
        with steps.step("--profile postgres: kill -9 of the server in mid-game, and the game continues"):
            add_teams(used, outside)
            teams = [outside.join(name, "slow") for name in ("red", "blue")]
            wait_for("mid-game", lambda: steps_in_journal() > 20)
            kill_server(used)
            print("    " + outside.play(*teams))
        with steps.step("SALVO_LOG_FORMAT=json: every line of the server's is an object"):
            events = [json.loads(line)["event"] for line in used.docker("logs", used.container("server")).splitlines()]
            assert {"listening", "resumed", "won"} <= set(events), events
    finally:
        outside.go()
        used.compose("down", "-v")


def show_standby(used: Engine, steps: Steps, folder: Path) -> None:
    """Two servers, one of which waits; they share the journal's volume."""
    used.settings = {
        **SETTINGS,
        "COMPOSE_PROFILES": "standby",
        "SALVO_STANDBY": "true",
        "SALVO_LOG_FORMAT": "json",
    }
    (folder / "standby").mkdir()
    outside = Outside(used, folder / "standby")
    servers = ("server", "standby")

    def has_logged(service: str, event: str) -> bool:
        lines = used.docker("logs", used.container(service)).splitlines()
        return event in {json.loads(line)["event"] for line in lines if line.startswith("{")}

    try:
        with steps.step("--profile standby: one of two servers serves, the other one waits"):
            go_up(used, "broker", *servers, "web")
            wait_for("one serves", lambda: any(has_logged(service, "active") for service in servers))
            active, waiting = sorted(servers, key=lambda service: not has_logged(service, "active"))
            wait_for("the other one waits", lambda: has_logged(waiting, "standby"))
        with steps.step("--profile standby: the one that serves is killed in mid-game, and the other one goes on"):
            outside.learn(roster(used, "add", "hall", "--role", "watcher", "--json"))
            add_teams(used, outside)
            teams = [outside.join(name, "slow") for name in ("red", "blue")]
            wait_for("mid-game", lambda: outside.turn() > 5)
            used.docker("kill", used.container(active))
            print("    " + outside.play(*teams))
            assert has_logged(waiting, "active")
    finally:
        outside.go()
        used.compose("down", "-v")


def show_tls(used: Engine, steps: Steps, folder: Path, certificates: Path) -> None:
    """The same under TLS, in the profile strict."""
    used.files = (FILE, ROOT / "deploy" / "tls.yml")
    used.settings = {
        **SETTINGS,
        "SALVO_HOST": "contest.test",
        "SALVO_TLS_FOLDER": str(certificates),
        "SALVO_PROFILE": "strict",
    }
    (folder / "strict").mkdir()
    outside = Outside(used, folder / "strict", "mqtts", certificates / "ca.pem")
    try:
        with steps.step("deploy/tls.yml: broker and server become healthy, nobody comes in without TLS"):
            go_up(used)
            answer = outside.health(url="mqtt://127.0.0.1:1883")
            assert "speaks TLS only" in answer, answer
            assert outside.is_refused()
        with steps.step("deploy/tls.yml: red and blue play"):
            add_teams(used, outside)
            print("    " + outside.health("red.2").strip())
            print("    " + outside.play(outside.join("red"), outside.join("blue")))
        with steps.step("deploy/tls.yml: the web front is at https://127.0.0.1:8080/, and sees the table"):
            assert fetched(used, "https://127.0.0.1:8080/healthz", certificates / "ca.pem").strip() == "ok"
    finally:
        outside.go()


def show_evening(used: Engine, steps: Steps, folder: Path, certificates: Path, *, tls: bool) -> None:
    """A round of the league of an evening's folder, with TLS and without."""
    used.compose("down", "-v")
    over = [ROOT / "deploy" / "tls.yml"] * tls
    used.files = (FILE, *over, ROOT / "deploy" / "evening.yml")
    where = folder / ("evening-tls" if tls else "evening")
    where.mkdir()
    used.settings = {
        **{name: value for name, value in SETTINGS.items() if name == "SALVO_ADDRESS"},
        "SALVO_EVENING": str(where / "cup"),
        "SALVO_HOST": "contest.test",
        "SALVO_TLS_FOLDER": str(certificates),
    }
    name = f"an evening{' under TLS' * tls}"
    outside = Outside(used, where, "mqtts" if tls else "mqtt", certificates / "ca.pem" if tls else None)
    contest = "/var/lib/salvo/evening/contest.toml"
    try:
        with steps.step(f"{name}: its folder is written by the image"):
            new = ("--user", str(os.geteuid()), "--volume", f"{where}:/here", "--workdir", "/here")
            size = ("--teams", "5", "--hours", "0.3")
            used.compose("run", "--rm", "--no-deps", "-T", *new, "server", "evening", "cup", *size)
            file = where / "cup" / "contest.toml"
            text = re.sub(r"rounds = \d+", "rounds = 1\nwait_seconds = 3600", file.read_text())
            file.write_text(re.sub(r"minutes = [\d.]+", "pace_seconds = 0", text))
        with steps.step(f"{name}: broker, server and pages become healthy, and the teams of the folder are added"):
            go_up(used)
            csv = ("--csv", "/evening/teams.csv")
            outside.learn(roster(used, "add", *csv, "--json", "--cards", "/var/lib/salvo/cards.html"))
            used.docker("cp", f"{used.container('server')}:/var/lib/salvo/cards.html", str(where))
            assert "team5" in (where / "cards.html").read_text()
        with steps.step(f"{name}: five teams play its round, and the table is there"):
            wait_for("online", lambda: outside.health("team1.2").startswith("online"))
            for number in range(1, 6):
                outside.play_on(f"team{number}")
            wait_for("the teams are here", lambda: outside.begin_round("desk"))
            shown = ("exec", "-T", "server", "salvo", "league", "show", contest, "--json")
            wait_for("the end", lambda: json.loads(used.compose(*shown).splitlines()[-1])["games_played"] == 2, 120)
    finally:
        outside.go()
        used.compose("down", "-v")


def show_open(used: Engine, steps: Steps, folder: Path) -> None:
    """The same without accounts, in the profile open."""
    used.compose("down", "-v")
    used.files = (FILE,)
    used.settings = {**SETTINGS, "SALVO_PROFILE": "open"}
    (folder / "open").mkdir()
    outside = Outside(used, folder / "open")
    try:
        with steps.step("SALVO_PROFILE=open: broker and server become healthy, and any client comes in"):
            go_up(used)
            wait_for("online", lambda: outside.health().startswith("online"))
            print("    " + outside.health().strip())
        with steps.step("the client without the SDK plays without a login, an explorer watches, a thief gets nothing"):
            explorer = outside.listen()
            thief = outside.listen("", "/game/request_participation", "/players/+/fire", "/players/+/ships/+/place")
            assert explorer.stdout is not None
            assert explorer.stdout.readline().startswith("/")
            print("    " + outside.end_of(*(outside.play_without_login(name) for name in ("ann", "bob"))))
            explorer.terminate()
            thief.terminate()
            seen = {topics.parse(topic).topic for topic in explorer.communicate(timeout=60)[0].split()}
            assert {topics.WINNER, topics.HITS, topics.CURRENT} <= seen, seen
            assert not [row for row in seen if row.reader is topics.Reader.SERVER], seen
            assert thief.communicate(timeout=60)[0] == ""
        with steps.step("salvo doctor in the server's container finds the profile open as it is meant to be"):
            tell_doctor(used.compose("exec", "-T", "server", "salvo", "doctor"))
    finally:
        outside.go()


def main() -> int:
    steps = Steps()
    try:
        with engine(steps) as used, tempfile.TemporaryDirectory(prefix="salvo-outside-") as folder:
            try:
                show(used, steps, Path(folder))
                certificates = make_certificates(Path(folder))
                show_public(used, steps, Path(folder), certificates)
                show_postgres(used, steps, Path(folder))
                show_standby(used, steps, Path(folder))
                show_tls(used, steps, Path(folder), certificates)
                for tls in (False, True):
                    show_evening(used, steps, Path(folder), certificates, tls=tls)
                show_open(used, steps, Path(folder))
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
