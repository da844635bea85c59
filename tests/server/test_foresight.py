"""Keys that are derived before a message needs them, and what is seen of that."""

from __future__ import annotations

import threading

import pytest

from kit.deriver import Deriver
from kit.services import serve
from kit.unbrokered import Wire
from kit.waiting import until
from salvo.codec.command_reader import SealedPlacement, read_command
from salvo.codec.command_writer import write_placement
from salvo.rules import SALVO, Orientation, Placement
from salvo.wire import topics
from salvo.wire.roles_and_rights import Role
from salvo.wire.seal import Sealer, derive_key, salt_of
from salvo_server.core.authenticator import Authenticator, Opened
from salvo_server.core.senders import Sender
from salvo_server.foresight import ForeseeingThreads, derivations
from salvo_server.storage.identity import Identity
from salvo_server.storage.register import Account, Register

NOW = 1_000_000
SERVER_KEY = bytes(32)


@pytest.fixture
def lanes() -> Deriver:
    return Deriver(held=True)


@pytest.fixture
def worker() -> Deriver:
    return Deriver(held=True)


@pytest.fixture
def gate(worker: Deriver, lanes: Deriver) -> Authenticator:
    gate = Authenticator(executor=worker)
    gate.keyring.foresight = ForeseeingThreads(SERVER_KEY, gate.keyring.credential, lanes, rest_seconds=0.0)
    return gate


@pytest.fixture
def derived(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The secrets whose keys were derived ahead of time, in order."""
    seen: list[str] = []

    def noted(secret: str, salt: bytes) -> bytes:
        seen.append(secret)
        return derive_key(secret, salt)

    monkeypatch.setattr("salvo_server.foresight.derive_key", noted)
    return seen


def test_keys_of_messages_are_derived_one_at_a_time() -> None:
    """Each takes a core and its memory, and the server needs the other core."""
    goes_on = threading.Event()

    def derived() -> int:
        goes_on.wait()
        return threading.get_ident()

    with derivations() as executor:
        running = [executor.submit(derived) for _ in range(3)]
        goes_on.set()
    assert len({each.result() for each in running}) == 1


def test_a_foresight_that_closes_drops_what_it_has_not_begun() -> None:
    goes_on = threading.Event()
    executor = derivations()
    foresight = ForeseeingThreads(SERVER_KEY, lambda table, name: b"", executor)
    executor.submit(goes_on.wait)
    later = executor.submit(goes_on.wait)
    closing = threading.Thread(target=foresight.close)
    closing.start()
    try:
        until(later.cancelled)
    finally:
        goes_on.set()
        closing.join()


def running() -> set[threading.Thread]:
    """The threads that derive keys ahead of time."""
    return {thread for thread in threading.enumerate() if thread.name.startswith("foresee")}


def placement(name: str, secret: str, salt: bytes | None = None) -> SealedPlacement:
    sealer = Sealer(secret, salt_of(name, SERVER_KEY) if salt is None else salt)
    payload = write_placement(Placement("carrier", 1, 1, Orientation.HORIZONTAL), sealer)
    request = read_command(topics.parse(f"/players/{name}/ships/carrier/place"), payload, SALVO)
    assert isinstance(request, SealedPlacement)
    return request


def test_the_first_message_of_a_foreseen_team_opens_at_once_and_its_key_is_worth_keeping(
    gate: Authenticator, worker: Deriver, lanes: Deriver
) -> None:
    gate.keyring.admit("", "ann", "ann's", NOW)
    lanes.work()
    opened = gate.open(placement("ann", "ann's"), Sender("ann"), NOW)
    assert isinstance(opened, Opened)
    assert opened.refusal is None
    assert worker.waiting == []
    assert [(known.name, known.salt) for known in gate.keyring.take_learned()] == [("ann", salt_of("ann", SERVER_KEY))]
    assert isinstance(gate.open(placement("ann", "ann's"), Sender("ann"), NOW), Opened)
    assert gate.keyring.take_learned() == []


def test_the_key_of_a_team_of_the_roster_is_there_when_it_comes(
    gate: Authenticator, lanes: Deriver, derived: list[str]
) -> None:
    foresight = gate.keyring.foresight
    assert isinstance(foresight, ForeseeingThreads)
    foresight.foresee([("ann", "ann's")])
    until(lambda: lanes.waiting)
    lanes.work()
    salt = salt_of("ann", SERVER_KEY)
    assert foresight.expect("ann", "ann's").key_of(salt) == derive_key("ann's", salt)
    assert derived == ["ann's"]


def test_a_key_that_the_journal_has_is_not_derived(gate: Authenticator, lanes: Deriver, derived: list[str]) -> None:
    for name in ("ann", "bob"):
        gate.keyring.admit("", name, f"{name}'s", NOW)
    member = gate.keyring.member("", "ann")
    assert member is not None
    salt = salt_of("ann", SERVER_KEY)
    member.learn(salt, derive_key("ann's", salt))
    lanes.work()
    assert derived == ["bob's"]


def test_a_server_with_a_key_foresees_its_roster_and_closes_what_it_began(derived: list[str]) -> None:
    identity = Identity.fresh()
    register = Register([Account("ann", "ann", Role.TEAM, "ann's"), Account("hall", "hall", Role.WATCHER, "hall's")])
    service = serve(Wire(), identity=identity, profile="contest", register=register)
    service.step()
    others = running()
    foresight = service.gate.keyring.foresight
    assert foresight is not None
    expected = foresight.expect("ann", "ann's")
    assert expected.derive() == Sealer("ann's", salt_of("ann", identity.signing_key)).key
    assert running() - others
    service.gate.close()
    assert not running() - others
    foresight.foresee([("bob", "bob's")])
    assert derived == ["ann's"]
    assert serve(Wire()).gate.keyring.foresight is None
