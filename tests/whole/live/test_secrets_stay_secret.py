"""A whole contest with real processes, then every place where a secret must not be is searched for all of them."""

from __future__ import annotations

import base64
import contextlib
import json
import subprocess
import sysconfig
import threading
from pathlib import Path
from secrets import token_urlsafe

import pytest

from kit.command_line import run
from kit.processes import without_settings
from kit.waiting import until
from salvo.codec.announcement_reader import read_announcement
from salvo.errors import ConnectionLost, SalvoError
from salvo.messages import ServerStatus
from salvo.net.inbound import Inbound
from salvo.net.mqtt import Connection
from salvo.wire import topics
from salvo.wire.seal import derive_key, salt_of
from salvo.wire.topics import Reader

SALVO = str(Path(sysconfig.get_path("scripts")) / "salvo")
TEAMS = ("ann", "bob")
SECONDS = 90.0
#: Somebody's secret that is a number, and was sent as one.
NUMBER = "31415926.53589793"


# --- what to look for ---------------------------------------------------------------------------------------------


def forms(secret: bytes) -> set[bytes]:
    """Return a secret as it is, in hexadecimal, and the middle of its base64 at any place in a longer text."""
    found = {secret, secret.hex().encode(), secret.hex().upper().encode()}
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + secret)
        whole = encoded[4 if before else 0 : (before + len(secret)) // 3 * 4]
        found |= {whole, whole.translate(bytes.maketrans(b"+/", b"-_"))}
    return found


def leaks(places: dict[str, bytes], secrets: dict[str, bytes]) -> list[str]:
    """Return where which secret stands."""
    wanted = [(name, form) for name, secret in secrets.items() for form in forms(secret)]
    return [f"{name} in {place}" for place, text in places.items() for name, form in wanted if form in text]


@pytest.mark.parametrize("offset", range(4))
def test_a_leak_would_be_found_in_every_form(offset: int) -> None:
    secret = token_urlsafe(16).encode()
    around = b"x" * offset + secret + b"and more"
    texts = [around, around.hex().encode(), base64.b64encode(around), base64.urlsafe_b64encode(around)]
    for text in texts:
        assert leaks({"a log": b"before " + text + b" behind"}, {"it": secret}) != []
    assert leaks({"a log": b"nothing"}, {"it": secret}) == []


# --- the contest --------------------------------------------------------------------------------------------------


class Ear:
    """Somebody who subscribes to everything."""

    def __init__(self, url: str, user: str | None = None, secret: str | None = None) -> None:
        self.received: list[Inbound] = []
        self.status: dict[str, object] = {}
        self._stop = threading.Event()
        self._connection = Connection(url, "ear", clean_session=True, username=user, password=secret)
        self._connection.on_connect = lambda _: self._connection.subscribe(["#"])
        self._connection.connect(60)
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        with contextlib.suppress(ConnectionLost):
            while not self._stop.is_set():
                for message in self._connection.poll(0.1):
                    self._connection.acknowledge(message)
                    self.received.append(message)
                    if message.topic == topics.SERVER.of() and message.payload:
                        self.status = json.loads(message.payload)

    def close(self) -> None:
        self._stop.set()
        self._thread.join(60)
        self._connection.close()

    def until(self, topic: str, payload: bytes = b"") -> None:
        """Wait until something was published on a topic, or this."""
        until(
            lambda: any(seen.topic == topic and seen.payload and payload in seen.payload for seen in [*self.received]),
            lambda: sorted({message.topic for message in self.received}),
            SECONDS,
        )


class ProcessList(threading.Thread):
    """Looks at the command lines of all processes, again and again."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.lines: set[bytes] = set()
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.2):
            self.look()

    def look(self) -> None:
        """Look once."""
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                self.lines.add(path.read_bytes())


def _misbehave(url: str, wrong: str, user: str | None = None, secret: str | None = None) -> None:
    """Ask in other teams' names, and in all the ways in which a request can be misspelt."""
    rude = Connection(url, "rude", clean_session=True, username=user, password=secret)
    rude.connect(60)
    requests = [
        {"name": "ann", "secret": wrong},
        {"name": "ANN", "secret": wrong},
        {"name": "dan", "secret": wrong, "more": 1},
        {"name": "dan", "sekret": wrong},
        {"name": "d/n", "secret": wrong},
        {"name": 7, "secret": wrong},
        {"name": "dan", "secret": [wrong]},
        {"name": "dan", "secret": {"a": {"b": {"c": {"d": wrong}}}}},
        {"name": "dan", "secret": wrong * 20},
        {"name": f"+{wrong}", "secret": "dan"},
        {"name": "dan", "secret": float(NUMBER)},
    ]
    texts = [json.dumps(each).encode() for each in requests]
    texts += [texts[0][:-2], texts[0].replace(b'"dan"', b"dan"), b'{"name":"dan","secret":' + wrong.encode() + b"}"]
    texts += [b'{"name":"dan","secret":"%s","secret":"%s"}' % (wrong.encode(), wrong.encode())]
    texts += [b'{"secret":"%s\xff"}' % wrong.encode()]
    texts += [b"[" * 600 + wrong.encode(), base64.b64encode(wrong.encode() * 5), wrong.encode()]
    for text in texts:
        rude.publish(topics.REQUEST_PARTICIPATION.of(), text)
    rude.flush(SECONDS)
    rude.close()
    guessing = Connection(url, "guess", username="ann", password=wrong, clean_session=True)
    with contextlib.suppress(SalvoError), contextlib.closing(guessing):
        guessing.connect(2)


def _start(folder: Path, name: str, *arguments: str, **extra: str) -> subprocess.Popen[bytes]:
    environment = without_settings()
    environment |= {
        "XDG_CONFIG_HOME": str(folder),
        "XDG_STATE_HOME": str(folder / "state"),
        "SALVO_KNOWN_SERVERS": str(folder / f"{name}.servers"),
        **extra,
    }
    with open(folder / f"{name}.out", "wb") as out, open(folder / f"{name}.log", "wb") as err:
        command = [SALVO, "--log-level", "debug", *arguments]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment)


def _address(folder: Path) -> str:
    output = folder / "serve.out"
    until(lambda: "\n" in output.read_text(), lambda: (folder / "serve.log").read_text()[-2000:])
    return str(json.loads(output.read_text().splitlines()[0])["url"])


def _pond(folder: Path) -> str:
    """Rules of a game that is soon over."""
    file = folder / "pond.toml"
    file.write_text('name = "pond"\nlike = "salvo"\nwidth = 7\nheight = 6\n[fleet]\ncruiser = 3\nboat = 2\nraft = 1\n')
    return str(file)


class Contest:
    """A server, a spectator and two teams, each a process whose output is a file, and all command lines meanwhile."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.folder = folder
        self.command_lines = ProcessList()
        files = ["--journal", str(folder / "journal"), "--transcripts", str(folder / "transcripts")]
        serve = ["serve", "--listen", "127.0.0.1:0", "--json", "--players", "2", "--over-seconds", "2"]
        self._processes = [_start(folder, "serve", *serve, *files, "--rules", _pond(folder), *words)]
        self.url = ""

    def __enter__(self) -> Contest:
        self.command_lines.start()
        try:
            self.url = _address(self.folder)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            if process.poll() is None:
                process.terminate()
            process.wait(60)
        self.command_lines.over.set()
        self.command_lines.join()

    def watch(self, **account: str) -> None:
        self._processes.append(_start(self.folder, "watch", "watch", self.url, **account))
        until(lambda: (self.folder / "watch.out").stat().st_size)  # a game may be over before it looks

    def join(self, secrets: dict[str, str]) -> None:
        for name in TEAMS:
            proof = ("--games", "1", "--proof", str(self.folder / f"{name}.proof"))
            words = ("join", self.url, "hunter", "--team", name, *proof)
            self._processes.append(_start(self.folder, name, *words, SALVO_SECRET=secrets[name]))
        self.command_lines.look()

    def until_written(self) -> None:
        """Wait until the teams have gone home and the server has written the game."""
        for team in self._processes[2:]:
            team.wait(60)
        until(lambda: b'"transcript"' in (self.folder / "serve.out").read_bytes(), seconds=SECONDS)

    def places(self) -> dict[str, bytes]:
        """Return every file and every command line."""
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        found = {str(path.relative_to(self.folder)): path.read_bytes() for path in files}
        return found | {f"the process list: {line[:60]!r}": line for line in self.command_lines.lines}


@pytest.mark.long
def test_no_secret_is_anywhere_after_a_whole_contest(tmp_path: Path) -> None:
    """On an open broker a request in clear can be read by whoever listens to it; nothing but that topic is left out."""
    secrets = {name: token_urlsafe(16) for name in (*TEAMS, "wrong")}
    with Contest(tmp_path, "--profile", "open") as contest:
        ear = Ear(contest.url)
        ear.until(topics.STATE.of())
        contest.watch()
        contest.join(secrets)
        ear.until(topics.COUNT.of(), b"2")  # before that, on an open broker, a name is whose request comes first
        _misbehave(contest.url, secrets["wrong"])
        ear.until(topics.TURN.of())
        _misbehave(contest.url, secrets["wrong"])
        ear.until(topics.WINNER.of())
        contest.until_written()
    ear.close()

    places = contest.places()
    request = topics.REQUEST_PARTICIPATION.of()
    sealed = "keys" in ear.status
    messages = [message for message in ear.received if message.topic != request]
    places |= {f"message {number} on {each.topic}": each.payload for number, each in enumerate(messages)}
    if sealed:
        asked = [each.payload for each in ear.received if each.topic == request]
        teams = {name: secrets[name].encode() for name in TEAMS}
        assert leaks({f"request {number}": payload for number, payload in enumerate(asked)}, teams) == []
    secrets["number"] = NUMBER
    known = {name: secret.encode() for name, secret in secrets.items()} | _keys(messages, secrets)
    assert leaks(places, known) == []
    _check_that_something_was_searched(places, contest.command_lines.lines, tmp_path)


def _roster(folder: Path) -> dict[str, str]:
    """Make a roster; return the secrets by name."""
    found: dict[str, str] = {}
    for role, names in (("team", (*TEAMS, "rival")), ("watcher", ("hall",)), ("referee", ("booth",))):
        words = ("--log-level", "debug", "teams", "add", "--json", "--role", role, *names)
        done = run(*words, environment={"XDG_STATE_HOME": str(folder / "state")})
        found |= {line["name"]: line["secret"] for line in map(json.loads, done.stdout.splitlines())}
        assert not any(secret in done.stderr for secret in found.values())
    return found


@pytest.mark.long
def test_no_secret_is_anywhere_after_a_contest_with_rights(tmp_path: Path) -> None:
    """Nothing is left out: what a watcher, a rival and the referee hear, every file, every command line."""
    secrets = _roster(tmp_path)
    wrong = token_urlsafe(16)
    with Contest(tmp_path) as contest:
        ears = [Ear(contest.url, name, secrets[name]) for name in ("hall", "rival", "booth")]
        ears[0].until(topics.STATE.of())
        contest.watch(SALVO_TEAM="hall", SALVO_SECRET=secrets["hall"])
        contest.join(secrets)
        ears[0].until(topics.TURN.of())
        ears[1].close()  # a user has one connection
        _misbehave(contest.url, wrong, "rival", secrets["rival"])
        ears[2].until(topics.REFEREE.of())
        ears[0].until(topics.WINNER.of())
        contest.until_written()
    for ear in ears:
        ear.close()
    places = contest.places()
    for ear, name in zip(ears, ("hall", "rival", "booth"), strict=True):
        received = enumerate(ear.received)
        places |= {f"message {number} to {name} on {each.topic}": each.payload for number, each in received}
    known = {name: secret.encode() for name, secret in {**secrets, "wrong": wrong, "number": NUMBER}.items()}
    assert leaks(places, known) == []
    assert places["serve.log"]
    assert any("roster.json" in place for place in places)
    assert not any(topics.parse(each.topic).topic.reader is Reader.SERVER for ear in ears for each in ear.received)


def _keys(messages: list[Inbound], secrets: dict[str, str]) -> dict[str, bytes]:
    """Derive the keys that the teams used, with the salt that each has at this server: who has one needs no secret."""
    status = next(read_status(message.payload) for message in messages if message.topic == topics.SERVER.of())
    assert status.keys is not None
    return {f"the key of {name}": derive_key(secrets[name], salt_of(name, status.keys.sign)) for name in TEAMS}


def read_status(payload: bytes) -> ServerStatus:
    """Read what the server says of itself."""
    status = read_announcement(topics.parse(topics.SERVER.of()), payload)
    assert isinstance(status, ServerStatus)
    return status


def _check_that_something_was_searched(places: dict[str, bytes], lines: set[bytes], folder: Path) -> None:
    for name in ("serve.log", "serve.out", "ann.log", "watch.out", "journal"):
        assert places[name], sorted(places)
    assert b"refused a message" in places["serve.log"]
    assert any(b"--team\0ann" in line for line in lines)
    assert list((folder / "transcripts").iterdir())
    assert any("/players/ann/error" in place for place in places)
