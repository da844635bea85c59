"""What becomes of a sealed message, for each state and event, with the real authenticator and real blobs."""

from __future__ import annotations

from enum import StrEnum, auto
from typing import Final

import pytest

from kit.deriver import Deriver
from salvo import messages as m
from salvo.codec.command_reader import SignedShot, read_command, read_opened
from salvo.rules import SALVO
from salvo.wire.seal import Sealer, make_blob, parse_blob
from salvo.wire.topics import parse
from salvo_game.journal_interface import BurnedMessage
from salvo_game.rate_limit import REFUSALS
from salvo_server.core import authenticator
from salvo_server.core.authenticator import MAX_QUEUE_LENGTH, WAITING, Authenticator, Opened, Waiting
from salvo_server.core.senders import Sender
from simulation import crypto

SECRET, SALT, NONCE, PEPPER = "ann's", bytes(range(16)), bytes(range(24)), bytes(32)
RECEIPT, OLDER = "the message", "an older one"
HOUR_MS = 3_600_000
REMEMBERED = 12


class Fate(StrEnum):
    """How a message stands with the server."""

    UNKNOWN = auto()
    WAITING = auto()
    OPENED = auto()
    TURNED_AWAY = auto()


class Event(StrEnum):
    """What happens to it; the first eight are arrivals. A salt is proven once a message of its team opened under it."""

    PROVEN = auto()
    NONCE_USED = auto()
    REFUSALS_SPENT = auto()
    FORGED = auto()
    FRESH = auto()
    DERIVATIONS_SPENT = auto()
    QUEUE_FULL = auto()
    STRANGER = auto()
    AGAIN = auto()
    MOVED = auto()  # its blob comes on another topic
    DERIVED = auto()
    DERIVED_NONCE_USED = auto()
    DERIVED_GONE = auto()  # its team has left or has another secret
    DERIVED_FORGED = auto()
    SALT_PROVEN = auto()  # by an older message
    FORGOTTEN = auto()  # thousands of later messages have come
    RESTARTED = auto()


class Outcome(StrEnum):
    """What comes of it; after ``MOVED``, what comes of the copy."""

    READ = auto()
    WAITS = auto()
    WAITS_WITH_IT = auto()
    IGNORED = auto()
    FORGED = auto()
    RATE_LIMITED = auto()  # the code of the refusal, as the next one
    NONCE_REUSED = auto()
    REMEMBERED = auto()
    NOTHING = auto()


#: What :attr:`Event.AGAIN` stands for in every state but the first.
ARRIVALS: Final = tuple(Event)[: tuple(Event).index(Event.AGAIN)]

#: The next state and the outcome; a pair that is not here changes nothing.
FATES: Final = {
    (Fate.UNKNOWN, Event.PROVEN): (Fate.OPENED, Outcome.READ),
    (Fate.UNKNOWN, Event.NONCE_USED): (Fate.OPENED, Outcome.NONCE_REUSED),
    (Fate.UNKNOWN, Event.REFUSALS_SPENT): (Fate.TURNED_AWAY, Outcome.RATE_LIMITED),
    (Fate.UNKNOWN, Event.FORGED): (Fate.TURNED_AWAY, Outcome.FORGED),
    (Fate.UNKNOWN, Event.FRESH): (Fate.WAITING, Outcome.WAITS),
    (Fate.UNKNOWN, Event.DERIVATIONS_SPENT): (Fate.TURNED_AWAY, Outcome.RATE_LIMITED),
    (Fate.UNKNOWN, Event.QUEUE_FULL): (Fate.TURNED_AWAY, Outcome.RATE_LIMITED),
    (Fate.UNKNOWN, Event.STRANGER): (Fate.TURNED_AWAY, Outcome.FORGED),
    (Fate.UNKNOWN, Event.MOVED): (Fate.UNKNOWN, Outcome.READ),
    (Fate.WAITING, Event.AGAIN): (Fate.WAITING, Outcome.WAITS_WITH_IT),
    (Fate.WAITING, Event.MOVED): (Fate.WAITING, Outcome.WAITS),
    (Fate.WAITING, Event.DERIVED): (Fate.OPENED, Outcome.READ),
    (Fate.WAITING, Event.DERIVED_NONCE_USED): (Fate.OPENED, Outcome.NONCE_REUSED),
    (Fate.WAITING, Event.DERIVED_GONE): (Fate.OPENED, Outcome.IGNORED),
    (Fate.WAITING, Event.DERIVED_FORGED): (Fate.TURNED_AWAY, Outcome.FORGED),
    (Fate.WAITING, Event.SALT_PROVEN): (Fate.OPENED, Outcome.READ),
    (Fate.WAITING, Event.RESTARTED): (Fate.UNKNOWN, Outcome.NOTHING),
    (Fate.OPENED, Event.AGAIN): (Fate.OPENED, Outcome.IGNORED),
    (Fate.OPENED, Event.MOVED): (Fate.OPENED, Outcome.NONCE_REUSED),
    (Fate.OPENED, Event.FORGOTTEN): (Fate.UNKNOWN, Outcome.REMEMBERED),
    (Fate.OPENED, Event.RESTARTED): (Fate.OPENED, Outcome.REMEMBERED),
    (Fate.TURNED_AWAY, Event.AGAIN): (Fate.TURNED_AWAY, Outcome.IGNORED),
    (Fate.TURNED_AWAY, Event.MOVED): (Fate.TURNED_AWAY, Outcome.IGNORED),
    (Fate.TURNED_AWAY, Event.FORGOTTEN): (Fate.UNKNOWN, Outcome.NOTHING),
    (Fate.TURNED_AWAY, Event.RESTARTED): (Fate.UNKNOWN, Outcome.NOTHING),
}


@pytest.fixture(autouse=True)
def _economy(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in crypto.DERIVING:
        monkeypatch.setattr(module, "derive_key", crypto.derive_key)
    monkeypatch.setattr(authenticator, "MAX_RECENT", REMEMBERED)
    monkeypatch.setattr(authenticator, "MAX_TURNED_AWAY", REMEMBERED)


class Bench:
    """One message of ann's, at the default table, and what a test makes happen to it."""

    def __init__(self, state: Fate, event: Event) -> None:
        self.now = HOUR_MS
        self.proofs: list[BurnedMessage] = []
        self._start()
        self.ann = Sealer(SECRET, SALT)
        self.key = self.ann.key
        self.request = self._shot("bob", NONCE)
        self.older = self._shot("bob", bytes(24), x=9)
        if state is Fate.WAITING and event is Event.SALT_PROVEN:
            self.open(self.older, OLDER)
        match state:
            case Fate.WAITING:
                assert self.open(self.request) is WAITING
            case Fate.OPENED:
                self.prove(self.key)
                assert self.outcome(self.open(self.request)) is Outcome.READ
                self._start_afresh_but_for_what_is_remembered()
            case Fate.TURNED_AWAY:
                self.spend_derivations()
                assert self.outcome(self.open(self.request)) is Outcome.RATE_LIMITED
            case Fate.UNKNOWN:
                pass
        self.later()

    def _start(self) -> None:
        self.worker = Deriver(held=True)
        self.gate = Authenticator(executor=self.worker, pepper=PEPPER)
        self.gate.burn(self.proofs)
        self.admit()

    def _start_afresh_but_for_what_is_remembered(self) -> None:
        """Forget that the salt was proven, which is a matter of the event."""
        self.gate.keyring.retain("", ())
        self.admit()

    def admit(self) -> None:
        self.gate.keyring.admit("", "ann", SECRET, self.now)

    def later(self) -> None:
        """Let every bucket fill again."""
        self.now += HOUR_MS

    def _shot(self, target: str, nonce: bytes, x: int = 1) -> SignedShot:
        request = read_command(parse(f"/players/{target}/fire"), self.ann.sign({"x": x, "y": 1}, nonce), SALVO)
        assert isinstance(request, SignedShot)
        return request

    @property
    def moved(self) -> SignedShot:
        return SignedShot("", "cy", self.request.body, self.request.blob)

    def open(self, request: SignedShot, receipt: str = RECEIPT) -> Opened | Waiting | None:
        before = len(self.worker.waiting)
        counted = self.gate.counts["forged"]
        opened = self.gate.open(request, Sender("ann"), self.now, receipt=receipt)
        self.asked_for_a_key = len(self.worker.waiting) > before
        self.forged = self.gate.counts["forged"] > counted
        self._note(opened)
        return opened

    def _note(self, opened: Opened | Waiting | None) -> None:
        if isinstance(opened, Opened) and opened.proof is not None:
            self.proofs.append(opened.proof)

    def outcome(self, opened: Opened | Waiting | None) -> Outcome:
        if isinstance(opened, Waiting):
            return Outcome.WAITS if self.asked_for_a_key else Outcome.WAITS_WITH_IT
        if opened is None:
            return Outcome.FORGED if self.forged else Outcome.IGNORED
        if opened.refusal is not None:
            return Outcome(opened.refusal.code)
        fired = read_opened(opened.request, opened.owner.name, opened.plaintext)
        assert fired == m.Fire("ann", opened.request.player, 1, 1)
        return Outcome.READ

    def prove(self, key: bytes) -> None:
        self.gate.keyring.restore("", "ann", [(SALT, key)])

    def spend_derivations(self) -> None:
        member = self.gate.keyring.member("", "ann")
        assert member is not None
        while member.bucket.take(self.now):
            pass

    def use_the_nonce(self) -> None:
        """Ann plays at another table, too, with the same secret."""
        self.gate.keyring.admit("blue", "ann", SECRET, self.now)
        self.gate.keyring.restore("blue", "ann", [(SALT, self.key)])
        other = SignedShot("blue", "dee", self.request.body, self.request.blob)
        opened = self.gate.open(other, Sender("ann"), self.now)
        self._note(opened)

    def fill_the_queue(self) -> None:
        for number in range(2 * MAX_QUEUE_LENGTH):
            name = f"team{number // 2}"
            self.gate.keyring.admit("hall", name, name, self.now)
            noise = parse_blob(make_blob(b"{}", bytes(32), number.to_bytes(16, "big")))
            self.gate.open(SignedShot("hall", "bob", {}, noise), Sender(name), self.now)
        first = parse_blob(make_blob(b"{}", bytes(32), b"ann's first salt"))
        self.gate.open(SignedShot(self.request.table, "bob", {}, first), Sender("ann"), self.now)

    def work(self) -> Outcome:
        """Derive what waits; return what came of the message."""
        self.worker.work()
        counted = self.gate.counts["forged"]
        for receipt, opened in self.gate.finished():
            self._note(opened)
            if receipt == RECEIPT:
                self.forged = self.gate.counts["forged"] > counted
                return self.outcome(opened)
        return Outcome.NOTHING

    # --- what happens -------------------------------------------------------------------------------------------

    def happen(self, event: Event) -> Outcome:
        match event:
            case Event.PROVEN | Event.AGAIN:
                self.prove(self.key)
            case Event.FORGED:
                self.prove(bytes(32))
            case Event.REFUSALS_SPENT:
                self.prove(self.key)
                member = self.gate.keyring.member("", "ann")
                assert member is not None
                for _ in range(int(REFUSALS.size)):
                    member.refused.take(self.now)
            case Event.NONCE_USED:
                self.prove(self.key)
                self.use_the_nonce()
            case Event.DERIVATIONS_SPENT:
                self.spend_derivations()
            case Event.QUEUE_FULL:
                self.fill_the_queue()
            case Event.STRANGER:
                self.gate.keyring.retain("", ())
            case Event.MOVED:
                if not self.worker.waiting:
                    self.prove(self.key)
                return self.outcome(self.open(self.moved, "a copy"))
            case Event.DERIVED_NONCE_USED:
                self.use_the_nonce()
                return self.work()
            case Event.DERIVED_FORGED:
                member = self.gate.keyring.member("", "ann")
                assert member is not None
                member.derived[SALT] = bytes(32)
                return self.work()
            case Event.DERIVED_GONE:
                self.gate.keyring.admit("", "ann", "another", self.now)
                return self.work()
            case Event.DERIVED:
                return self.work()
            case Event.SALT_PROVEN:
                return self.prove_by_the_older_one()
            case Event.FORGOTTEN:
                return self.forget()
            case Event.RESTARTED:
                self._start()
                return self._whether_remembered()
        return self.outcome(self.open(self.request))

    def prove_by_the_older_one(self) -> Outcome:
        if not self.worker.waiting:
            self.open(self.older, OLDER)
        if self.worker.waiting:
            future, find, given = self.worker.waiting.pop(0)
            future.set_result(find(*given))
        return next((self.outcome(opened) for receipt, opened in self.gate.finished() if receipt == RECEIPT), _NONE)

    def forget(self) -> Outcome:
        self.gate.keyring.admit("blue", "ann", SECRET, self.now)
        self.gate.keyring.restore("blue", "ann", [(SALT, self.key)])
        for number in range(REMEMBERED):
            sealed = parse_blob(make_blob(b"{}", self.key, SALT, number.to_bytes(24, "big")))
            assert isinstance(self.gate.open(SignedShot("blue", "bob", {}, sealed), Sender("ann"), self.now), Opened)
            noise = parse_blob(make_blob(b"{}", bytes(32), SALT))
            assert self.gate.open(SignedShot("blue", "bob", {}, noise), Sender("ann"), self.now) is None
        return self._whether_remembered()

    def _whether_remembered(self) -> Outcome:
        """Whether another gate with the same burned nonces knows this one's."""
        other = Authenticator(executor=Deriver(held=True), pepper=PEPPER)
        other.burn(self.proofs)
        other.keyring.admit("", "ann", SECRET, self.now)
        other.keyring.restore("", "ann", [(SALT, self.key)])
        opened = other.open(self.moved, Sender("ann"), self.now)
        used = isinstance(opened, Opened) and opened.refusal is not None
        return Outcome.REMEMBERED if used else Outcome.NOTHING

    # --- how it stands ------------------------------------------------------------------------------------------

    def state(self) -> Fate:
        """Ask by repeating the message and by its copy on another topic, with a proven salt and full buckets."""
        self.later()
        self.admit()
        self.prove(self.key)
        repeated = self.outcome(self.open(self.request))
        if repeated is Outcome.WAITS_WITH_IT:
            return Fate.WAITING
        if repeated is not Outcome.IGNORED:
            return Fate.UNKNOWN
        copied = self.outcome(self.open(SignedShot("", "dee", self.request.body, self.request.blob)))
        return Fate.TURNED_AWAY if copied is Outcome.IGNORED else Fate.OPENED


_NONE = Outcome.NOTHING


def expected(state: Fate, event: Event) -> tuple[Fate, Outcome]:
    if state is not Fate.UNKNOWN and event in ARRIVALS:
        event = Event.AGAIN
    unchanged = Outcome.READ if event is Event.AGAIN else Outcome.NOTHING
    return FATES.get((state, event), (state, unchanged))


PAIRS = [(state, event) for state in Fate for event in Event if (state, event) != (Fate.UNKNOWN, Event.AGAIN)]


@pytest.mark.parametrize(("state", "event"), PAIRS)
def test_the_authenticator_handles_every_event_as_the_table_specifies(state: Fate, event: Event) -> None:
    bench = Bench(state, event)
    target, outcome = expected(state, event)
    assert bench.happen(event) is outcome
    assert bench.state() is target
