"""One scenario's stage: the client under test, the judge's broker and table, and what has happened so far."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from salvo.wire import topics
from salvo_audit.check.answers import MOST_REFUSED, ServerAnswers
from salvo_audit.check.observed import ObservedClient
from salvo_audit.check.own_broker import JudgeDoor, ReceivedPublication
from salvo_audit.check.program import ClientProgram
from salvo_audit.check.results import Results
from salvo_audit.check.table import StagedSalvo, StagedTable

#: Long enough for an answer that must not come; it is never the limit of one that must.
QUIET_SECONDS: Final = 0.7
_MOST_FRESH_SALTS: Final = 12
_ACK_SECONDS: Final = 30.0
#: How long a whole fleet with a wrong ship, which is a failure already, may take to be corrected.
_REPAIR_SECONDS: Final = 5.0


class Unreached(Exception):
    """A scenario cannot go on; the text says why.

    Attributes:
        cause: the case whose failure it is; empty if it is none's.
    """

    cause = ""

    @classmethod
    def after(cls, case: str) -> Unreached:
        """Return the error of a scenario that ends with a case's failure."""
        error = cls(f"{case} has failed")
        error.cause = case
        return error


@dataclass(frozen=True)
class WaitLimits:
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
    limits: WaitLimits = WaitLimits()
    host: str = "127.0.0.1"
    port: int = 0


class Stage:
    """Where a scenario plays.

    Attributes:
        client: the client under test, as the broker meets it.
        answers: what the server does with them.
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
        self.limits = subject.limits
        self._news = asyncio.Event()
        self.client = ObservedClient(team, secret, self.judge, self._news.set)
        self.door = JudgeDoor(self.client)
        self.table = StagedTable(self._publish)
        self.answers = self.client.answers = ServerAnswers(self.table, self.judge, team, secret)
        self.program: ClientProgram | None = None
        self.twist: Callable[[str, bytes, bool], Sequence[tuple[str, bytes, bool]]] | None = None
        self.copies = 1
        self.elsewhere = ""
        self.tries = "mqtt/connects"
        self._task: asyncio.Task[None] | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="salvo-check-")
        self._time = asyncio.get_running_loop().time

    async def __aenter__(self) -> Stage:
        self._task = asyncio.create_task(self.client.read_all())
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
        self, case: str, fine: bool, seen: str, *, expected: str = "", publication: ReceivedPublication | None = None
    ) -> bool:
        """Note whether a case went well."""
        if fine:
            self.results.passed(case)
        else:
            self.results.failed(case, seen, self.name, expected=expected, publication=publication)
        return fine

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
        seen = self.ended or f"nothing of the kind in {seconds:g} s{self._cut_off}"
        self.judge(case, False, seen, expected=expected)
        raise Unreached.after(case)

    @property
    def ended(self) -> str:
        """How the client's program has ended, in words; empty while it runs."""
        if self.program is None or self.program.code is None:
            return ""
        words = self.program.last_words
        return f"the client's program has ended: {self.program.how_it_ended}" + (f": {words}" if words else "")

    @property
    def _cut_off(self) -> str:
        """Why the client can know of nothing, in words; empty if it can."""
        if not self.door.connections:
            return "; it is not connected"
        return "" if self.door.has_subscriptions else "; its connection has no subscription"

    async def delivered(self) -> None:
        """Wait until the client has acknowledged all that was published, and all that it sent is judged."""
        await self.until(lambda: not self.door.owed, _ACK_SECONDS)
        await self._judged()

    async def _judged(self) -> None:
        await self.until(lambda: self.client.is_judged, _ACK_SECONDS)

    async def quiet(self, seconds: float = QUIET_SECONDS) -> None:
        """Give the client time for what it must not do, after it has received everything."""
        await self.delivered()
        await self.until(lambda: False, seconds)
        await self._judged()

    async def settled(self) -> None:
        """Wait until the client has sent nothing for a while."""
        end, sent = self._time() + self.limits.firing, -1
        while sent != len(self.client.commands) and self._time() < end:
            sent = len(self.client.commands)
            await self.quiet()

    async def still_there(self, case: str) -> None:
        """Give the client time to fail at what it was told.

        Raises:
            Unreached: its program has ended; the case has failed.
        """
        await self.quiet()
        if not self.judge(case, not self.ended, self.ended, expected="the client plays on"):
            raise Unreached.after(case)

    # --- the broker -------------------------------------------------------------------------------------------------

    def _publish(self, topic: str, payload: bytes, retain: bool) -> None:
        given = [(topic, payload, retain)]
        if self.twist is not None:
            given = list(self.twist(topic, payload, retain))
        for each, text, retained in given:
            self.door.publish(self.client.topic(each), text, retain=retained, copies=self.copies)
        if topic == "/game/state":
            self.client.state_published = True

    # --- messages ---------------------------------------------------------------------------------------------------

    # --- what most scenarios begin with -----------------------------------------------------------------------------

    def at_table(self, name: str) -> None:
        """Play at a further table."""
        self.table.rules["table"] = name
        self.client.play_at(name)

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
            lambda: self.client.has_subscribed("/game/state"),
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
        if self.client.table:
            variables["SALVO_TABLE"] = self.client.table
        places = {
            "{url}": self.url,
            "{host}": urlsplit(self.url).hostname or "",
            "{port}": str(urlsplit(self.url).port),
            "{team}": self.team,
            "{secret}": self.secret,
        }
        command = [_filled(part, places) for part in self.subject.command]
        self.answers.salts = []  # a process may draw one of its own
        self.program = ClientProgram(self._news.set)
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
        requests = self.client.sent(topics.REQUEST_PARTICIPATION)
        await self.must(
            case,
            lambda: self.table.player(self.team) is not None or self._has_asked_wrongly(len(requests)),
            self.limits.asking,
            f"a request on {self.client.topic('/game/request_participation')}, in the lobby, as {self.team!r}",
        )

        if self.table.player(self.team) is None:
            raise Unreached("the client's request is not one of its team's")

    def _has_asked_wrongly(self, before: int) -> bool:
        """Whether a request came that lists nobody, after so many."""
        new = self.client.sent(topics.REQUEST_PARTICIPATION)[before:]
        return any(each.body is None or each.body["name"] != self.team for each in new)

    async def placed(self, case: str = "place/all-ships") -> None:
        """Wait until the client's fleet is complete.

        Raises:
            Unreached: it is not.
        """
        player, fleet = self.table.player(self.team), self.table.rules["fleet"]
        assert player is not None
        came = await self.until(lambda: len(player.ships) == len(fleet) or self._is_lost_fleet(), self.limits.placing)
        if came and self.answers.faulty_ships and len(player.ships) < len(fleet):
            came = await self.until(lambda: len(player.ships) == len(fleet), _REPAIR_SECONDS)
        missing = ", ".join(ship for ship in fleet if ship not in player.ships)
        seen = self.ended or f"no placement that could be accepted of {missing}{self._cut_off}"
        if not came or missing:
            self.judge(case, False, seen)
            raise Unreached.after(case)
        self.judge(case, True, "")

    def _is_lost_fleet(self) -> bool:
        """Whether the client has sent as many placements as it has ships, and none can be read or one is wrong."""
        sent = self.client.sent(topics.PLACE)
        whole = len(sent) >= len(self.table.rules["fleet"])
        return whole and (self.answers.faulty_ships > 0 or not any(each.body for each in sent))

    async def game(self, *rivals: str) -> None:
        """Come to the beginning of a game, in which the client is the last in play order.

        Raises:
            Unreached: it does not join or place.
        """
        await self.join(*rivals)
        await self.placed()
        self.table.begin(*rivals, self.team)

    async def own_turn(self, case: str = "turn/fires-when-current", *, publish_turn: bool = True) -> StagedSalvo:
        """Give the client a turn, and wait for its salvo; announce what came of it.

        Raises:
            Unreached: it does not fire.
        """
        await self.fire(case, publish_turn=publish_turn)
        return self.table.end_turn()

    async def fire(self, case: str = "turn/fires-when-current", *, publish_turn: bool = True) -> None:
        """Give the client a turn, and wait for its salvo; nothing is announced yet.

        Raises:
            Unreached: it does not fire.
        """
        before = len(self.client.shots)
        self.table.give_turn(self.team, publish_turn=publish_turn)
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
            lambda: len(table.fired) >= table.wanted or len(self.client.shots) - before >= wanted, self.limits.firing
        )
        sent = len(self.client.shots) - before
        if not sent and table.wanted == wanted:
            seen = self.ended or f"no shot in {self.limits.firing:g} s{self._cut_off}"
            self.judge(case, False, seen, expected=f"{wanted} shots at once when /game/current is {self.team}")
            raise Unreached.after(case)
        self.judge(case, True, "")
        await self.quiet(QUIET_SECONDS / 2)
        few = len(table.fired) < table.wanted and sent < wanted
        self.judge("turn/count", not few, f"{sent} shots", expected=f"{wanted} shots")

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
        if self.client.guests:
            self.judge("mqtt/well-formed", True, "")
        if self.client.commands:
            self.judge("turn/silent-otherwise", True, "")
            self.judge("turn/no-flood", self.answers.refused < MOST_REFUSED, f"{self.answers.refused} refused messages")


def _filled(part: str, places: dict[str, str]) -> str:
    for name, value in places.items():
        part = part.replace(name, value)
    return part
