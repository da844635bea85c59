"""One scenario's stage: the client under test, the judge's broker and table, and what has happened so far."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from salvo import topics
from salvo_audit.check import keys
from salvo_audit.check.commands import Command, Reader
from salvo_audit.check.door import Door, Guest, Publication, matches
from salvo_audit.check.program import Program
from salvo_audit.check.results import Results
from salvo_audit.check.table import SALVO_RULES, Cell, Salvo, Table, cells_of

#: Long enough for an answer that must not come; it is never the limit of one that must.
QUIET_SECONDS: Final = 0.7
_MOST_FRESH_SALTS: Final = 12
_MOST_REFUSED: Final = 1000
_ACK_SECONDS: Final = 30.0
#: How long a whole fleet with a wrong ship, which is a failure already, may take to be corrected.
_REPAIR_SECONDS: Final = 5.0
_CONTEXT: Final = ("g", "t", "n", "to")


class Unreached(Exception):
    """A scenario cannot go on; the text says why."""


@dataclass(frozen=True)
class Limits:
    """How long the judge waits for the client, in seconds: as long as a contest does."""

    connecting: float = 60.0
    asking: float = 60.0
    placing: float = 60.0
    firing: float = 30.0
    coming_back: float = 60.0


@dataclass(frozen=True)
class Subject:
    """The client under test.

    Attributes:
        command: starts it; None if a person does.
        claims: what it claims beyond what every client has to do.
        limits: how long to wait for it.
    """

    command: tuple[str, ...] | None
    claims: frozenset[str] = frozenset()
    limits: Limits = Limits()
    host: str = "127.0.0.1"
    port: int = 0


class Stage:
    """Where a scenario plays.

    Attributes:
        commands: what the client has sent, judged and read, in order.
        lenient: whether shots that come when they must not are expected: the judge has provoked them.
        takes_requests: whether a request lists the team.
        places: whether right placements are approved.
        counts: whether the client's shots count.
        elsewhere: the broker where it plays, if that is not the judge's own.
    """

    def __init__(
        self, name: str, subject: Subject, results: Results, *, team: str = "red", secret: str = "cockadoodledoo"
    ) -> None:
        self.name = name
        self.subject = subject
        self.results = results
        self.team = team
        self.secret = secret
        self.table_name = ""
        self.limits = subject.limits
        self.door = Door(self)
        self.table = Table(self._publish)
        self.program: Program | None = None
        self.guests: list[Guest] = []
        self.filters: dict[str, int] = {}
        self.commands: list[Command] = []
        self.lenient = False
        self.takes_requests = True
        self.places = True
        self.counts = True
        self.refuses: Callable[[Command], str] = lambda command: ""
        self.twist: Callable[[str, bytes, bool], Sequence[tuple[str, bytes, bool]]] | None = None
        self.copies = 1
        self.elsewhere = ""
        self.tries = "mqtt/connects"
        self._told_state = False
        self._arrived: asyncio.Queue[Publication] = asyncio.Queue()
        self._reading = 0
        self._news = asyncio.Event()
        self._reader = Reader(secret, team, "", self._judge_message)
        self._task: asyncio.Task[None] | None = None
        self._nonces: dict[bytes, Publication] = {}
        self._salts: list[bytes] = []
        self._refused = 0
        self._faulty_ships = 0
        self._folder = tempfile.TemporaryDirectory(prefix="salvo-check-")
        self._time = asyncio.get_running_loop().time

    async def __aenter__(self) -> Stage:
        self._task = asyncio.create_task(self._read_all())
        await self.door.open(self.subject.host, self.subject.port)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self.program is not None:
            await self.program.kill()
        self.door.shut()
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        self._folder.cleanup()

    # --- verdicts ---------------------------------------------------------------------------------------------------

    def judge(
        self, case: str, fine: bool, seen: str, *, expected: str = "", publication: Publication | None = None
    ) -> bool:
        """Note whether a case went well."""
        if fine:
            self.results.passed(case)
        else:
            self.results.failed(case, seen, self.name, expected=expected, publication=publication)
        return fine

    def _judge_message(self, case: str, fine: bool, expected: str, seen: str, publication: Publication) -> None:
        self.judge(case, fine, seen, expected=expected, publication=publication)

    # --- waiting ----------------------------------------------------------------------------------------------------

    async def until(self, condition: Callable[[], object], seconds: float) -> bool:
        """Wait until a condition holds; return whether it does. It ends early once the client's program has ended."""
        end = self._time() + seconds
        while not condition():
            left = end - self._time()
            if left <= 0 or (self.program is not None and self.program.code is not None):
                await asyncio.sleep(0)
                return bool(condition())
            self._news.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), left)
        return True

    async def must(self, case: str, condition: Callable[[], object], seconds: float, expected: str = "") -> None:
        """Wait for what a right client does.

        Raises:
            Unreached: it does not; the case has failed.
        """
        if await self.until(condition, seconds):
            self.judge(case, True, "")
            return
        seen = self.ended or f"nothing of the kind in {seconds:g} s"
        self.judge(case, False, seen, expected=expected)
        raise Unreached(f"{case} has failed")

    @property
    def ended(self) -> str:
        """How the client's program has ended, in words; empty while it runs."""
        if self.program is None or self.program.code is None:
            return ""
        words = self.program.last_words
        return f"the client's program has ended with exit code {self.program.code}" + (f": {words}" if words else "")

    async def heard(self) -> None:
        """Wait until the client has acknowledged all that was published, and all that it sent is judged."""
        await self.until(lambda: not self.door.owed, _ACK_SECONDS)
        await self._judged()

    async def _judged(self) -> None:
        await self.until(lambda: self._arrived.empty() and not self._reading, _ACK_SECONDS)

    async def quiet(self, seconds: float = QUIET_SECONDS) -> None:
        """Give the client time for what it must not do, after it has received everything."""
        await self.heard()
        await self.until(lambda: False, seconds)
        await self._judged()

    async def settled(self) -> None:
        """Wait until the client has sent nothing for a while."""
        end, sent = self._time() + self.limits.firing, -1
        while sent != len(self.commands) and self._time() < end:
            sent = len(self.commands)
            await self.quiet()

    async def still_there(self, case: str) -> None:
        """Give the client time to fail at what it was told.

        Raises:
            Unreached: its program has ended; the case has failed.
        """
        await self.quiet()
        if not self.judge(case, not self.ended, self.ended, expected="the client plays on"):
            raise Unreached(f"{case} has failed")

    # --- the broker -------------------------------------------------------------------------------------------------

    def _publish(self, topic: str, payload: bytes, retain: bool) -> None:
        prefix = f"/{self.table_name}" if self.table_name else ""
        given = [(topic, payload, retain)]
        if self.twist is not None:
            given = list(self.twist(topic, payload, retain))
        for each, text, kept in given:
            self.door.publish(prefix + each, text, retain=kept, copies=self.copies)
        if topic == "/game/state":
            self._told_state = True

    def connected(self, guest: Guest, others: int) -> None:
        self.guests.append(guest)
        greeting = guest.greeting
        self.judge("mqtt/connects", True, "")
        self.judge(
            "mqtt/no-will",
            greeting.will is None,
            "a CONNECT with a last will",
            expected="a CONNECT without a last will",
        )
        login = (greeting.username, greeting.password)
        seen = f"the user {greeting.username!r} with {self._said_password(greeting.password)}"
        fine = login in ((None, None), (self.team, self.secret))
        self.judge(
            "mqtt/user-is-team", fine, seen, expected=f"the user {self.team!r} with the team's secret, or no login"
        )
        gap = others and any(each.client_id != greeting.client_id for each in self.door.connections)
        self.judge("mqtt/one-connection", not gap, f"{others + 1} connections at once")
        self._news.set()

    def _said_password(self, password: str | None) -> str:
        if password == self.secret:
            return "the team's secret"
        return "no password" if password is None else "another password"

    def subscribed(self, filters: Sequence[tuple[str, int]]) -> None:
        self.filters |= dict(filters)
        low = [name for name, qos in filters if not qos]
        self.judge("mqtt/qos-subscribe", not low, f"QoS 0 for {', '.join(low)}")
        prefix = f"/{self.table_name}" if self.table_name else ""
        greedy = [name for name, _ in filters if matches(name, f"{prefix}/game/request_participation")]
        self.judge("mqtt/no-greedy-filter", not greedy, f"the filter {', '.join(greedy)}")
        self._news.set()

    def published(self, publication: Publication) -> None:
        self.judge("mqtt/qos-publish", publication.qos == 1, f"QoS {publication.qos}", publication=publication)
        self.judge("mqtt/no-retain", not publication.retain, "the retain flag", publication=publication)
        self.judge(
            "join/waits-for-state",
            self._told_state and any(matches(each, self._topic("/game/state")) for each in self.filters),
            "a message before /game/state has come",
            publication=publication,
        )
        self._arrived.put_nowait(publication)
        self._reading += 1
        self._news.set()

    def _topic(self, topic: str) -> str:
        return f"/{self.table_name}{topic}" if self.table_name else topic

    def noticed(self) -> None:
        self._news.set()

    def broke(self, fault: str) -> None:
        self.judge("mqtt/well-formed", False, fault)
        self._news.set()

    # --- messages ---------------------------------------------------------------------------------------------------

    async def _read_all(self) -> None:
        while True:
            publication = await self._arrived.get()
            command = await self._reader.read(publication)
            self._judge_command(command)
            self.commands.append(command)
            self._answer(command)
            self._reading -= 1
            self._news.set()

    def _judge_command(self, command: Command) -> None:
        publication = command.publication
        is_request = command.kind == topics.REQUEST_PARTICIPATION.name
        leaks = self.secret.encode() in publication.payload or self.secret in publication.topic
        self.judge(
            "sec/secret-stays-secret", is_request or not leaks, "the secret in another message", publication=publication
        )
        if not command.nonce:
            return
        before = self._nonces.setdefault(command.nonce, publication)
        repeated = before is not publication and before[1:3] != publication[1:3]
        self.judge("seal/nonce-once", not repeated, f"the nonce {command.nonce.hex()} again", publication=publication)
        if command.opened and command.salt not in self._salts:
            self._salts.append(command.salt)
        self.judge("seal/one-salt", len(self._salts) < 2, f"{len(self._salts)} salts", publication=publication)

    def _answer(self, command: Command) -> None:
        """Do what a server does."""
        code = self.refuses(command)
        if code:
            self._refuse(command, code)
        elif command.kind == topics.REQUEST_PARTICIPATION.name:
            self._take_request(command)
        elif command.kind == topics.PLACE.name:
            self._take_placement(command)
        elif command.kind == topics.FIRE.name:
            self._take_shot(command)
        elif command.kind == topics.SKIP.name:
            self._take_skip(command)
        elif command.kind == topics.LEAVE.name and command.body is not None and self.table.phase == "lobby":
            self.table.drop_player(self.team)

    def _refuse(self, command: Command, code: str) -> None:
        self._refused += 1
        self.judge("turn/no-flood", self._refused < _MOST_REFUSED, f"{self._refused} refused messages")
        if self._refused >= _MOST_REFUSED:
            return
        player = self.table.player(self.team)
        if command.kind == topics.PLACE.name and player is not None:
            self.table.refuse_ship(player, command.ship, code, retain=command.ship not in player.ships)
        else:
            self.table.error(self.team, code)

    def _take_request(self, command: Command) -> None:
        body = command.body
        if body is None or body["name"] != self.team:
            return
        if self.table.player(self.team) is not None:
            self.send_recap()
        elif self.table.phase != "lobby":
            self._refuse(command, "wrong_state")
        elif self.takes_requests:
            self.table.list_player(self.team)

    def send_recap(self, **changes: Any) -> None:
        """Send the client its recap, with other fields."""
        self.send_sealed(self.table.recap(self.team) | changes)

    def send_sealed(self, value: object) -> None:
        """Send the client something under the key of what the server says to its team."""
        salt = self._salts[0] if self._salts else bytes(range(16))
        key = keys.key_to_team(keys.key_of(self.secret.encode(), salt))
        self.table.say(f"/players/{self.team}/recap", keys.seal(value, key, salt), retain=False)

    def _take_placement(self, command: Command) -> None:
        player, body, ship = self.table.player(self.team), command.body, command.ship
        fleet = self.table.rules["fleet"]
        plain = "".join(each for each in ship.lower() if each not in "-_ ")
        known = {"".join(each for each in name.lower() if each not in "-_ "): name for name in fleet}
        seen, expected = repr(ship), f"a ship of {', '.join(fleet)}"
        if not self.judge("place/known-ship", plain in known, seen, expected=expected, publication=command.publication):
            return
        if player is None or body is None or self.table.phase != "lobby":
            if player is None:
                self._refuse(command, "unknown_player")
            elif self.table.phase != "lobby":
                self._refuse(command, "wrong_state")
            return
        name = known[plain]
        if len(player.ships) == len(fleet):
            self._refuse(command, "fleet_final")
            return
        code = self._fault_of_ship(player.ships, name, command)
        if code:
            self._faulty_ships += 1
            self._refuse(command, code)
        elif self.places:
            self.table.place(player, name, body["coordinates"], body["Orientation"])

    def take_up_placements(self) -> None:
        """Answer the placements that have waited at the broker while the server was away."""
        for command in self.sent(topics.PLACE):
            player = self.table.player(self.team)
            if player is not None and command.ship not in player.ships:
                self._take_placement(command)

    def _fault_of_ship(self, ships: dict[str, list[Cell]], name: str, command: Command) -> str:
        body = command.body
        assert body is not None
        rules = self.table.rules
        x, y = (int(part) for part in body["coordinates"].split(";"))
        cells = cells_of(x, y, body["Orientation"], rules["fleet"][name])
        said = f"{name} of {rules['fleet'][name]} cells at {x};{y}, {body['Orientation']}"
        fits = all(1 <= each[0] <= rules["width"] and 1 <= each[1] <= rules["height"] for each in cells)
        if not self.judge("place/on-grid", fits, said, publication=command.publication):
            return "off_grid"
        others = [(other, each) for other, taken in ships.items() if other != name for each in taken]
        struck = [other for other, each in others if each in cells]
        seen = f"{said}, across {struck[0]}" if struck else ""
        if not self.judge("place/no-overlap", not struck, seen, publication=command.publication):
            return "overlap"
        return ""

    def _take_shot(self, command: Command) -> None:
        table, body = self.table, command.body
        if body is None:
            return
        cell, target = (body["x"], body["y"]), command.player
        if not self._check_context(command, cell):
            return
        mine = table.current == self.team and table.phase == "turn"
        if not mine or len(table.fired) >= table.wanted:
            self._take_surplus(command, mine)
            return
        on_grid = 1 <= cell[0] <= table.rules["width"] and 1 <= cell[1] <= table.rules["height"]
        expected = f"x from 1 to {table.rules['width']}, y from 1 to {table.rules['height']}"
        self.judge(
            "turn/on-grid", on_grid, f"x {cell[0]}, y {cell[1]}", expected=expected, publication=command.publication
        )
        struck = table.player(target)
        expected = f"a name of the list: {', '.join(table.names[:9])}"
        self.judge(
            "turn/target-listed", struck is not None, repr(target), expected=expected, publication=command.publication
        )
        self.judge("turn/not-itself", target != self.team, "a shot at its own board", publication=command.publication)
        out = struck is not None and struck.out
        self.judge("turn/not-the-defeated", not out, f"a shot at {target}", publication=command.publication)
        if not on_grid:
            self._refuse(command, "off_grid")
        elif struck is None:
            self._refuse(command, "unknown_target")
        elif self.counts:
            table.land(target, cell)

    def _check_context(self, command: Command, cell: Cell) -> bool:
        """Judge game, turn, number and target, if they are there; return whether the shot goes on."""
        body, table = command.body or {}, self.table
        given = {name: body[name] for name in _CONTEXT if name in body}
        if not given:
            return True
        mine = table.current == self.team
        if len(given) == len(_CONTEXT) and (given["g"], given["t"]) != (table.game, table.turn):
            late = (
                given["g"] == table.game
                and given["t"] < table.turn
                and any(
                    each.player == self.team and (command.player, cell) in each.shots and each.turn == given["t"]
                    for each in table.salvos
                )
            )
            if late:
                return False  # a repetition, which is not answered (SALVO-FIRE-13)
        known = (
            (command.player, cell) in table.fired
            and 1 <= given.get("n", 0) <= len(table.fired)
            and table.fired[given["n"] - 1] == (command.player, cell)
        )
        if known and mine:
            return False  # a repetition
        wanted = {"g": table.game, "t": table.turn, "n": len(table.fired) + 1, "to": command.player}
        if mine and self.counts and not self.lenient:
            expected = ", ".join(f"{name} {value}" for name, value in wanted.items())
            seen = ", ".join(f"{name} {value}" for name, value in given.items())
            if (
                not self.judge(
                    "turn/context-right", given == wanted, seen, expected=expected, publication=command.publication
                )
                and len(table.fired) < table.wanted
            ):
                self._refuse(command, "stale_context")
                return False
        return True

    def _take_surplus(self, command: Command, mine: bool) -> None:
        table = self.table
        if table.phase == "over":
            if not self.lenient:
                self.judge("end/no-shot-after-over", False, "a shot", publication=command.publication)
            return
        if not self.lenient:
            if mine:
                seen, expected = f"shot {len(table.fired) + 1} or later", f"{table.wanted} shots"
                self.judge("turn/count", False, seen, expected=expected, publication=command.publication)
            else:
                whose = f"in the turn of {table.current}" if table.current else "when it is nobody's turn"
                self.judge("turn/silent-otherwise", False, f"a shot {whose}", publication=command.publication)
        self._refuse(command, "too_many_shots" if mine else "not_your_turn")

    def _take_skip(self, command: Command) -> None:
        table, body = self.table, command.body
        if body is None or table.current != self.team:
            return
        fine = not body or body == {"g": table.game, "t": table.turn}
        self.judge("turn/skip-context", fine, str(body), publication=command.publication)
        if fine:
            table.wanted = len(table.fired)

    # --- what most scenarios begin with -----------------------------------------------------------------------------

    def seal_requests(self, private_key: bytes | None) -> None:
        """Let requests be sealed for the owner of this key."""
        self._reader.sealing_key = private_key

    def at_table(self, name: str) -> None:
        """Play at a further table."""
        self.table_name = name
        self.table.rules["table"] = name
        self._reader = Reader(self.secret, self.team, name, self._judge_message)

    async def start(self) -> None:
        """Start the client, or wait for it.

        Raises:
            Unreached: it does not connect or subscribe.
        """
        await self.launch()
        await self.must(
            "mqtt/connects",
            lambda: self.door.connections,
            self.limits.connecting,
            f"a connection to {self.url} with MQTT 3.1.1 or 5",
        )
        await self.must(
            "mqtt/subscribes",
            lambda: any(matches(each, self._topic("/game/state")) for each in self.filters),
            self.limits.connecting,
            "a subscription that has /game/state",
        )

    @property
    def url(self) -> str:
        """Where the client connects."""
        return self.elsewhere or f"mqtt://{self.subject.host}:{self.door.port}"

    async def launch(self) -> None:
        """Start the client's program, if the judge does that."""
        if self.subject.command is None:
            return
        folder = Path(self._folder.name)
        variables = {
            "SALVO_URL": self.url,
            "SALVO_TEAM": self.team,
            "SALVO_SECRET": self.secret,
            "SALVO_KNOWN_SERVERS": str(folder / "known_servers.json"),
        }
        if self.table_name:
            variables["SALVO_TABLE"] = self.table_name
        places = {
            "{url}": self.url,
            "{host}": urlsplit(self.url).hostname or "",
            "{port}": str(urlsplit(self.url).port),
            "{team}": self.team,
            "{secret}": self.secret,
        }
        command = [_filled(part, places) for part in self.subject.command]
        self._salts = []  # a process may draw one of its own
        self.program = Program(self._news.set)
        try:
            await self.program.start(command, variables)
        except OSError as error:
            raise Unreached(f"{command[0]} cannot be started: {error.strerror}") from None

    async def kill(self) -> None:
        """End the client's program without a warning.

        Raises:
            Unreached: a person has started it.
        """
        if self.program is None:
            raise Unreached("only a client that salvo check starts can be killed and started again")
        await self.program.kill()
        await self.until(lambda: not self.door.connections, self.limits.connecting)
        self.program = None

    async def join(self, *rivals: str) -> None:
        """Open the lobby with some rivals, start the client, and wait until it has asked.

        Raises:
            Unreached: it does not.
        """
        self.table.open()
        for rival in rivals:
            self.table.add_rival(rival)
        await self.start()
        await self.be_listed()

    async def be_listed(self, case: str = "join/asks") -> None:
        """Wait until the client is listed.

        Raises:
            Unreached: it does not ask.
        """
        requests = self.sent(topics.REQUEST_PARTICIPATION)
        await self.must(
            case,
            lambda: self.table.player(self.team) is not None or self._has_asked_wrongly(len(requests)),
            self.limits.asking,
            f"a request on {self._topic('/game/request_participation')}, in the lobby, with the name {self.team!r}",
        )

        if self.table.player(self.team) is None:
            raise Unreached("the client's request is not one of its team's")

    def _has_asked_wrongly(self, before: int) -> bool:
        """Whether a request came that lists nobody, after so many."""
        new = self.sent(topics.REQUEST_PARTICIPATION)[before:]
        return any(each.body is None or each.body["name"] != self.team for each in new)

    async def placed(self, case: str = "place/all-ships") -> None:
        """Wait until the client's fleet is complete.

        Raises:
            Unreached: it is not.
        """
        player, fleet = self.table.player(self.team), self.table.rules["fleet"]
        assert player is not None
        came = await self.until(lambda: len(player.ships) == len(fleet) or self._is_lost_fleet(), self.limits.placing)
        if came and self._faulty_ships and len(player.ships) < len(fleet):
            came = await self.until(lambda: len(player.ships) == len(fleet), _REPAIR_SECONDS)
        missing = ", ".join(ship for ship in fleet if ship not in player.ships)
        seen = self.ended or f"no placement that could be accepted of {missing}"
        if not came or missing:
            self.judge(case, False, seen)
            raise Unreached(f"{case} has failed")
        self.judge(case, True, "")

    def _is_lost_fleet(self) -> bool:
        """Whether the client has sent as many placements as it has ships, and none can be read or one is wrong."""
        sent = [each for each in self.commands if each.kind == topics.PLACE.name]
        whole = len(sent) >= len(self.table.rules["fleet"])
        return whole and (self._faulty_ships > 0 or not any(each.body for each in sent))

    async def game(self, *rivals: str) -> None:
        """Come to the beginning of a game, in which the client is the last in play order.

        Raises:
            Unreached: it does not join or place.
        """
        await self.join(*rivals)
        await self.placed()
        self.table.begin(*rivals, self.team)

    async def own_turn(
        self, case: str = "turn/fires-when-current", *, shots: int | None = None, say_turn: bool = True
    ) -> Salvo:
        """Give the client a turn, and wait for its salvo; announce what came of it.

        Raises:
            Unreached: it does not fire.
        """
        await self.fire(case, shots=shots, say_turn=say_turn)
        return self.table.end_turn()

    async def fire(
        self, case: str = "turn/fires-when-current", *, shots: int | None = None, say_turn: bool = True
    ) -> None:
        """Give the client a turn, and wait for its salvo; nothing is announced yet.

        Raises:
            Unreached: it does not fire.
        """
        before = len(self.shots)
        self.table.give_turn(self.team, shots=shots, say_turn=say_turn)
        await self.wait_for_salvo(case, before)

    async def wait_for_salvo(self, case: str, before: int) -> None:
        """Wait for the salvo of the turn that was given.

        Args:
            before: shots that the client had sent before.

        Raises:
            Unreached: it does not fire.
        """
        table, wanted = self.table, self.table.wanted
        await self.until(
            lambda: len(table.fired) >= table.wanted or len(self.shots) - before >= wanted, self.limits.firing
        )
        sent = len(self.shots) - before
        if not sent and table.wanted == wanted:
            seen = self.ended or f"no shot in {self.limits.firing:g} s"
            self.judge(case, False, seen, expected=f"{wanted} shots at once when /game/current is {self.team}")
            raise Unreached(f"{case} has failed")
        self.judge(case, True, "")
        await self.quiet(QUIET_SECONDS / 2)
        few = len(table.fired) < table.wanted and sent < wanted
        self.judge("turn/count", not few, f"{sent} shots", expected=f"{wanted} shots")

    @property
    def shots(self) -> list[Command]:
        """What the client has sent on fire topics."""
        return [each for each in self.commands if each.kind == topics.FIRE.name]

    def sent(self, kind: topics.Topic) -> list[Command]:
        """What the client has sent on topics of a kind."""
        return [each for each in self.commands if each.kind == kind.name]

    async def over(self, *winners: str) -> None:
        """End the game, and see that the client is silent."""
        self.table.end(*winners)
        await self.quiet()
        self.judge("end/no-shot-after-over", True, "")

    async def finish(self) -> None:
        """Judge what can be judged once a scenario is through."""
        await self.quiet()
        if self.door.connections and not self.ended:
            owed = self.door.owed
            self.judge("mqtt/acks", not owed, f"{owed} messages without a PUBACK after {_ACK_SECONDS:g} s")
        if self.guests:
            self.judge("mqtt/well-formed", True, "")
        if self.commands:
            self.judge("turn/silent-otherwise", True, "")
            self.judge("turn/no-flood", self._refused < _MOST_REFUSED, f"{self._refused} refused messages")


def _filled(part: str, places: dict[str, str]) -> str:
    for name, value in places.items():
        part = part.replace(name, value)
    return part


#: What a scenario is: it plays on a stage.
Play = Callable[[Stage], Awaitable[None]]


@dataclass(frozen=True)
class Scenario:
    """A game, or a part of one, that decides some cases.

    Attributes:
        cases: those that it is there for; the ones that hold everywhere are judged in passing.
    """

    name: str
    cases: tuple[str, ...]
    play: Play
    team: str = "red"
    secret: str = "cockadoodledoo"
    claim: str = ""


#: All scenarios, in the order of their definition.
SCENARIOS: Final[list[Scenario]] = []


def scenario(*cases: str, team: str = "red", secret: str = "cockadoodledoo", claim: str = "") -> Callable[[Play], Play]:
    """Register a scenario.

    Args:
        claim: a capability without which it is not played; its cases do not apply then.
    """

    def register(play: Play) -> Play:
        name = getattr(play, "__name__", "").replace("_", " ")
        SCENARIOS.append(Scenario(name, cases, play, team, secret, claim))
        return play

    return register


def covering(names: Collection[str]) -> list[Scenario]:
    """Return the scenarios that decide some cases; all, if one of them holds everywhere."""
    special = {case for each in SCENARIOS for case in each.cases}
    if not special.issuperset(names):
        return list(SCENARIOS)
    return [each for each in SCENARIOS if set(each.cases) & set(names)]


__all__ = ["SALVO_RULES", "Limits", "Scenario", "Stage", "Subject", "Unreached", "covering", "scenario"]
