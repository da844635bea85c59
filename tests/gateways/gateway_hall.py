"""A table, its gateway and the gateway's guests in this process: no broker, no sockets, no threads, no waiting.

The server is a contest's service, each guest the protocol's own with a session of the SDK's. What they publish reaches
the others when they are asked what has arrived. So a conversation is the same every time, and takes milliseconds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from random import Random
from typing import Any, cast

from kit.deriver import Deriver
from kit.services import serve
from kit.unbrokered import Wire
from salvo import messages as m
from salvo.join.seat import Seat
from salvo.join.session import Session
from salvo.net.inbound import Inbound
from salvo.rules import RuleBook
from salvo.wire.seal import Sealer
from salvo.wire.topics import check_name
from salvo_game.referee import Referee
from salvo_gateways.accounts import Accounts
from salvo_gateways.client_handler import ClientHandler
from salvo_gateways.listener import GatewayDoor
from salvo_gateways.peer import ClientConnection, PeerBroken
from salvo_gateways.table_watch import TableWatch
from salvo_server.core.authenticator import Authenticator
from salvo_server.core.keyring import Keyring
from simulation.broker import matches

#: Rounds after which those who still have something to say go round in circles.
MAX_ROUNDS = 400


@cache
def sealer_of(secret: str) -> Sealer:
    """Return a team's key, which takes 50 ms to derive."""
    return Sealer(secret, secret.encode()[:16].ljust(16, b"."))


class KnowingKeyring(Keyring):
    """Knows the key of a guest's session, which then need not be derived."""

    def admit(self, table: str, name: str, secret: str, now: int) -> None:
        super().admit(table, name, secret, now)
        sealer = sealer_of(secret)
        self.restore(table, name, [(sealer.salt, sealer.key)])


def knowing_gate() -> Authenticator:
    """A gate that need not derive the key of a guest's session."""
    gate = Authenticator(executor=Deriver())
    gate.keyring = KnowingKeyring()
    return gate


class NoAccounts:
    """Accounts of guests that are written down nowhere."""

    def secret_of(self, name: str) -> str:
        return f"the secret of {check_name(name)}"

    def release(self, name: str) -> None: ...

    def spelled_otherwise(self, name: str) -> bool:
        return False

    def onlooker(self, table: str) -> None: ...


class ServersWire(Wire):
    """The server's connection; what it says goes to everybody."""

    def __init__(self) -> None:
        super().__init__()
        self.spread: Callable[[str, bytes], None] = lambda topic, payload: None

    def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        super().publish(topic, payload, retain=retain)
        if retain and not payload:
            del self.retained[topic]
        self.spread(topic, payload)


class GuestsWire:
    """A guest's connection."""

    def __init__(self, hall: Hall) -> None:
        self.on_connect: Callable[[bool], None] | None = None
        self._hall = hall
        self._filters: list[str] = []
        self._inbox: deque[Inbound] = deque()
        self.connected = False

    def hear(self, topic: str, payload: bytes, *, retained: bool = False) -> None:
        if any(matches(wanted, topic) for wanted in self._filters):
            self._inbox.append(Inbound(topic, payload, retained, 0, 1))

    def poll(self, timeout_seconds: float) -> Sequence[Inbound]:
        if not self.connected:
            self.connected = True
            self._hall.wires.append(self)
            assert self.on_connect is not None
            self.on_connect(False)
        arrived, self._inbox = list(self._inbox), deque()
        self._hall.traffic += len(arrived)
        return arrived

    def subscribe(self, filters: Iterable[str]) -> None:
        self._filters += filters
        for topic, payload in self._hall.wire.retained.items():
            self.hear(topic, payload, retained=True)

    def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        self._hall.traffic += 1
        self._hall.wire.give(topic, payload)

    def acknowledge(self, message: Inbound) -> None: ...
    def wake(self) -> None: ...

    def close(self) -> None:
        if self in self._hall.wires:
            self._hall.wires.remove(self)


class HallSeat:
    """A place at the table; see :class:`salvo.join.seat.Seat`."""

    def __init__(self, hall: Hall, name: str, secret: str) -> None:
        self.session = Session(name, secret, Random(name), sealer=sealer_of(secret))
        self.connection = GuestsWire(hall)
        self.meet = None

    def close(self) -> None:
        self.connection.close()


class HallWatch(TableWatch):
    """The gateway's table, whose onlooker hears everything at once."""

    def __init__(self, hall: Hall, accounts: Accounts) -> None:
        super().__init__("mqtt://127.0.0.1", "", accounts, pin=False)
        self.clock = lambda: hall.now / 1000
        self._hall = hall

    def seat(self, name: str) -> Seat:
        return cast(Seat, HallSeat(self._hall, name, self.secret_of(name)))


class Program:
    """The program at the other end of a handler: what it says, and what it hears, line by line."""

    def __init__(self, stage: Stage, door: GatewayDoor, name: str) -> None:
        self.name = name
        self.gone = self.ended = False
        self.silent = True
        self.arrived: Callable[[], None] = lambda: None
        self.received: deque[str] = deque()
        self.stage = stage
        self._framing = door.framing()
        self._sent: list[str | PeerBroken] = []
        self.handler: ClientHandler = door.open_to(cast(ClientConnection, self))
        self.handler.clock = lambda: stage.now / 1000
        self._rounds: Iterator[None] = self.handler.rounds()
        self.stays = True

    # --- the program's side ---------------------------------------------------------------------------------------

    def say(self, text: str, end: str = "\n") -> None:
        """Send a message, and let happen what follows from it."""
        self.say_at_once(text, end)
        self.stage.settle()

    def say_at_once(self, text: str, end: str = "\n") -> None:
        """Send a message while others send theirs."""
        self.silent = False
        found = self._framing.feed(f"{text}{end}".encode())
        self._sent += [each.decode() if isinstance(each, bytes) else each for each in found]

    def hear(self) -> str:
        """Return the next message that it got; empty when there is none and its connection has ended."""
        if self.received:
            return self.received.popleft()
        assert self.ended, f"{self.name} hears nothing, and its connection stands"
        return ""

    def hear_all(self) -> list[str]:
        """Return all that it got."""
        received = list(self.received)
        self.received.clear()
        return received

    def go(self) -> None:
        """Hang up."""
        self.gone = True
        self.stage.settle()

    # --- the handler's side: salvo_gateways.peer.Peer ---------------------------------------------------------------

    def take(self) -> list[str | PeerBroken]:
        sent, self._sent = self._sent, []
        return sent

    def send(self, *messages: str) -> None:
        if not self.gone:
            self.received.extend(messages)

    def wait(self, longest_seconds: float) -> None: ...

    def wake(self) -> None: ...

    def end_sending(self) -> None:
        self.ended = True

    def hang_up(self) -> None:
        self.gone = True

    def close(self) -> None:
        self.gone = self.ended = True

    # --- the stage's side ---------------------------------------------------------------------------------------------

    def serve(self) -> None:
        """Let its handler do one round."""
        before = len(self.received)
        if self.stays:
            self.stays = next(self._rounds, self) is None
            self.stage.traffic += (not self.stays) + abs(len(self.received) - before)


class Stage:
    """A gateway and its clients, and a clock."""

    def __init__(self) -> None:
        self.now = 1_000_000
        self.traffic = 0
        self.programs: list[Program] = []

    def come(self, door: GatewayDoor, name: str) -> Program:
        """Let a program come in."""
        program = Program(self, door, name)
        self.programs.append(program)
        self.settle()
        return program

    def wait(self, seconds: float) -> None:
        """Let time go by."""
        self.now += round(seconds * 1000)
        self.settle()

    def settle(self) -> None:
        """Continue until nobody has anything more to send."""
        still = 0
        for _ in range(MAX_ROUNDS):
            before = self.activity
            self.serve()
            still = still + 1 if self.activity == before else 0
            if still == 2:
                return
        raise AssertionError("it goes round in circles")

    @property
    def activity(self) -> int:
        """What grows whenever something happens."""
        return self.traffic

    def serve(self) -> None:
        for program in self.programs:
            program.serve()


class Hall(Stage):
    """A table with a gateway.

    Attributes:
        announced: what the server has announced.
        onlooker_is_late: whether the gateway's onlooker hears of everything later than its guests.
    """

    def __init__(self, book: RuleBook, accounts: Accounts | None = None, **limits: Any) -> None:
        super().__init__()
        self.wires: list[GuestsWire] = []
        self.wire = ServersWire()
        self.wire.spread = self._spread
        self.watch = HallWatch(self, accounts or NoAccounts())
        self.announced: list[m.Announcement] = []
        self.onlooker_is_late = False
        self._unheard: deque[tuple[str, bytes]] = deque()
        self.service = serve(
            self.wire,
            [""],
            seed="7",
            limits=m.Limits(**limits),
            book=book,
            clock=lambda: self.now,
            gate=knowing_gate(),
            listener=lambda table, now, command, announcements: self.announced.extend(announcements),
        )
        self.wire.connect()
        self.settle()

    def kill_gateway(self) -> None:
        """Let a gateway be gone with all its guests, without a goodbye."""
        self.programs.clear()
        self.wires.clear()

    @property
    def referee(self) -> Referee:
        """The table's."""
        return self.service.tables[""].referee

    @property
    def activity(self) -> int:
        return self.traffic + self.wire.published + len(self.wire.inbox)

    def serve(self) -> None:
        self.service.step()
        while self._unheard and not self.onlooker_is_late:
            self.watch.receive(*self._unheard.popleft())
        super().serve()

    def _spread(self, topic: str, payload: bytes) -> None:
        self._unheard.append((topic, payload))
        for each in self.wires:
            each.hear(topic, payload)
