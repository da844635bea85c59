"""Who sent a sealed message, and whether it is fresh."""

from __future__ import annotations

import gc
import random
import sys
from types import FunctionType, ModuleType

import pytest

from kit.deriver import Deriver
from salvo import messages as m
from salvo.codec.command_reader import (
    Sealed,
    SealedPlacement,
    SignedLeave,
    SignedShot,
    SignedSkip,
    read_command,
    read_opened,
)
from salvo.codec.command_writer import write_placement
from salvo.rules import SALVO, Orientation, Placement
from salvo.wire import topics
from salvo.wire.seal import Sealer, make_blob, parse_blob
from salvo_game.rate_limit import Bucket
from salvo_server.core.authenticator import MAX_QUEUE_LENGTH, WAITING, Authenticator, Burned, Opened, Waiting
from salvo_server.core.senders import Sender

NOW = 1_000_000
SALT_A, SALT_B = bytes(16), bytes(range(16))
ANN, BOB = Sealer("ann's", SALT_A), Sealer("bob's", SALT_B)


@pytest.fixture
def worker() -> Deriver:
    return Deriver(held=True)


@pytest.fixture
def gate(worker: Deriver) -> Authenticator:
    gate = Authenticator(executor=worker)
    gate.keyring.admit("", "ann", "ann's", NOW)
    gate.keyring.admit("", "bob", "bob's", NOW)
    return gate


def shot(sealer: Sealer, target: str = "bob", x: int = 1, nonce: bytes | None = None) -> SignedShot:
    payload = sealer.sign({"x": x, "y": 1}, nonce)
    request = read_command(topics.parse(f"/players/{target}/fire"), payload, SALVO)
    assert isinstance(request, SignedShot)
    return request


def placement(sealer: Sealer, player: str = "ann") -> SealedPlacement:
    payload = write_placement(Placement("carrier", 1, 1, Orientation.HORIZONTAL), sealer)
    request = read_command(topics.parse(f"/players/{player}/ships/carrier/place"), payload, SALVO)
    assert isinstance(request, SealedPlacement)
    return request


def prove(gate: Authenticator, worker: Deriver, sealer: Sealer, name: str) -> None:
    """Make a salt known."""
    assert gate.open(placement(sealer, name), Sender(name), NOW, receipt="receipt") is WAITING
    worker.work()
    [(receipt, opened)] = gate.finished()
    assert receipt == "receipt"
    assert opened is not None
    assert isinstance(said(opened), m.PlaceShip)


def code(opened: Opened | Waiting | None) -> str:
    assert isinstance(opened, Opened)
    assert opened.refusal is not None
    return opened.refusal.code


def said(opened: Opened) -> m.Input:
    assert opened.refusal is None
    return read_opened(opened.request, opened.owner.name, opened.plaintext)


def test_a_namesake_at_another_table_burns_no_nonce_of_the_team(gate: Authenticator, worker: Deriver) -> None:
    """He took the name at a table of his own and copied the nonce of a message that waited for its derivation."""
    namesake = Sealer("a stranger's", SALT_B)
    gate.keyring.admit("blue", "ann", "a stranger's", NOW)
    waiting = shot(ANN)
    copied = shot(namesake, nonce=waiting.blob.nonce)
    overtaking = SignedShot("blue", copied.player, copied.body, copied.blob)
    gate.keyring.restore("blue", "ann", [(namesake.salt, namesake.key)])
    assert gate.open(waiting, Sender("ann"), NOW) is WAITING
    assert isinstance(gate.open(overtaking, Sender("ann"), NOW), Opened)
    worker.work()
    [(_, opened)] = gate.finished()
    assert opened is not None
    assert said(opened) == m.Fire("ann", "bob", 1, 1)


def test_a_message_is_known_as_another_teams_though_the_likeliest_sender_has_left(
    gate: Authenticator, worker: Deriver
) -> None:
    gate.keyring.retain("", ["bob"])
    gate.keyring.restore("", "bob", [(BOB.salt, BOB.key)])
    opened = gate.open(shot(BOB, target="cy"), Sender("ann", others=("bob",)), NOW)
    assert isinstance(opened, Opened)
    assert said(opened) == m.Fire("bob", "cy", 1, 1)


def test_no_shot_overtakes_an_older_one_of_its_salt(gate: Authenticator, worker: Deriver) -> None:
    """The first proved the salt; the third was then opened at once, before the second, and refused as out of order."""
    first, stranger, second, third = shot(ANN, x=1), shot(BOB, x=9), shot(ANN, x=2), shot(ANN, x=3)
    for request, sender in ((first, "ann"), (stranger, "bob"), (second, "ann")):
        assert gate.open(request, Sender(sender), NOW, receipt=request) is WAITING
    future, find, given = worker.waiting.pop(0)
    future.set_result(find(*given))
    opened = [said(message) for _, message in gate.finished() if message is not None]
    now = gate.open(third, Sender("ann"), NOW)
    assert isinstance(now, Opened)
    fired = [command.x for command in [*opened, said(now)] if isinstance(command, m.Fire)]
    assert fired == [1, 2, 3]
    worker.waiting = [job for job in worker.waiting if not job[0].cancelled()]
    worker.work()
    assert [receipt for receipt, _ in gate.finished()] == [stranger]


def test_a_proven_salt_opens_what_waits_under_it_in_the_teams_own_topics(gate: Authenticator, worker: Deriver) -> None:
    own, strange, more = placement(ANN), placement(ANN, "bob"), placement(ANN)
    for request in (own, strange, more):
        assert gate.open(request, Sender(request.player), NOW, receipt=request) is WAITING
    future, find, given = worker.waiting.pop(0)
    future.set_result(find(*given))
    assert [receipt for receipt, _ in gate.finished()] == [own, more]
    assert [derivation.cancelled() for derivation, *_ in worker.waiting] == [False, True], "more costs none"


def fresh(count: int) -> list[SignedShot]:
    """Shots under salts that nobody has seen; the key is wrong, so that making them is quick."""
    return [
        SignedShot("", "bob", {"x": 1, "y": 1}, parse_blob(make_blob(b"{}", bytes(32), number.to_bytes(16, "big"))))
        for number in range(1, count + 1)
    ]


def test_the_first_salt_of_each_team_has_its_place_however_many_come_at_once(worker: Deriver) -> None:
    gate = Authenticator(executor=worker)
    names = [f"team{number}" for number in range(3 * MAX_QUEUE_LENGTH)]
    for name in names:
        gate.keyring.admit("", name, name, NOW)
    sealers = {name: Sealer(name, salt=name.encode().ljust(16)) for name in names}
    for x in range(1, 6):
        for name, sealer in sealers.items():
            assert gate.open(shot(sealer, x=x), Sender(name), NOW) is WAITING, name
    worker.work()
    opened = [answer for _, answer in gate.finished()]
    assert len(opened) == 5 * len(names)
    assert all(isinstance(answer, Opened) and isinstance(said(answer), m.Fire) for answer in opened)
    assert gate.waiting == 0


def test_the_messages_under_a_first_salt_are_bounded_and_make_room_for_those_that_come_later(
    worker: Deriver,
) -> None:
    gate = Authenticator(executor=worker)
    gate.keyring.admit("", "ann", "ann", NOW)
    salt = bytes(range(1, 17))
    answers = [gate.open(under(salt), Sender("ann"), NOW) for _ in range(MAX_QUEUE_LENGTH + 2)]
    assert [answer is WAITING for answer in answers] == [True] * MAX_QUEUE_LENGTH + [False] * 2
    worker.work()
    gate.finished()  # they were forged
    assert gate.waiting == 0
    assert gate.open(under(bytes(range(2, 18))), Sender("ann"), NOW) is WAITING


def test_a_message_under_a_further_salt_makes_room_for_a_later_one(gate: Authenticator, worker: Deriver) -> None:
    prove(gate, worker, ANN, "ann")
    for number in range(MAX_QUEUE_LENGTH + 1):
        sealed = under((number + (1 << 100)).to_bytes(16, "big"))
        assert gate.open(sealed, Sender("ann"), NOW + 60_000 * number) is WAITING
        worker.work()
        gate.finished()


# --- what a derivation costs, and whom ------------------------------------------------------------------------------


def bucket(gate: Authenticator, name: str = "ann") -> Bucket:
    member = gate.keyring.member("", name)
    assert member is not None
    return member.bucket


def empty(gate: Authenticator, name: str = "ann") -> None:
    while bucket(gate, name).take(NOW):
        pass


def under(salt: bytes, target: str = "bob", table: str = "") -> SignedShot:
    """A forged shot under a salt, another one at every call."""
    return SignedShot(table, target, {"x": 1, "y": 1}, parse_blob(make_blob(b"{}", bytes(32), salt)))


@pytest.mark.parametrize("command", [m.Skip("ann"), m.Leave("ann")], ids=["skip", "leave"])
def test_a_sealed_command_is_read_as_the_kind_of_its_topic(gate: Authenticator, command: m.Skip | m.Leave) -> None:
    gate.keyring.restore("", "ann", [(SALT_A, ANN.key)])
    topic = topics.parse(f"/players/ann/{type(command).__name__.lower()}")
    request = read_command(topic, ANN.sign({}), SALVO)
    assert isinstance(request, SignedSkip | SignedLeave)
    opened = gate.open(request, Sender("ann"), NOW)
    assert isinstance(opened, Opened)
    assert said(opened) == command


def test_a_key_that_opened_nothing_is_paid_for_again(gate: Authenticator, worker: Deriver) -> None:
    """As long as anything else waited, whoever had paid for a salt once could send under it without end."""
    salt = bytes(range(1, 17))
    assert gate.open(under(salt), Sender("ann"), NOW) is WAITING
    worker.work()
    assert gate.open(under(bytes(range(2, 18))), Sender("bob"), NOW) is WAITING  # the queue is never empty
    assert gate.finished() == [(None, None)]
    empty(gate)
    assert code(gate.open(under(salt), Sender("ann"), NOW)) == "rate_limited"


def test_repetitions_of_a_message_are_counted_while_it_waits_and_later(gate: Authenticator, worker: Deriver) -> None:
    request = shot(ANN)
    for times in (0, 1):
        assert gate.open(request, Sender("ann"), NOW) is WAITING
        assert gate.counts["duplicate"] == times
    worker.work()
    gate.finished()
    assert gate.open(request, Sender("ann"), NOW) is None
    assert gate.counts["duplicate"] == 2


def test_only_a_message_that_cost_a_key_derivation_is_marked_as_paid(gate: Authenticator, worker: Deriver) -> None:
    for x in (1, 2):
        assert gate.open(shot(ANN, x=x), Sender("ann"), NOW) is WAITING
    worker.work()
    waited = [opened for _, opened in gate.finished()]
    assert [opened and opened.spent for opened in waited] == [bucket(gate), None]  # the second one came for nothing
    at_once = gate.open(shot(ANN), Sender("ann"), NOW)
    assert isinstance(at_once, Opened)
    assert not at_once.spent


def test_a_derivation_paid_by_a_namesake_elsewhere_is_not_free_here(gate: Authenticator) -> None:
    gate.keyring.admit("blue", "ann", "a stranger's", NOW)
    salt = bytes(range(1, 17))
    assert gate.open(under(salt, table="blue"), Sender("ann"), NOW) is WAITING
    empty(gate)
    assert code(gate.open(under(salt), Sender("ann"), NOW)) == "rate_limited"


def test_forgeries_are_not_charged_to_a_team_that_was_not_expected_to_send(gate: Authenticator) -> None:
    flood = fresh(14)
    for request in flood[:12]:
        assert gate.open(request, Sender("ann", pays=False), NOW) is WAITING
    assert code(gate.open(flood[12], Sender("ann", pays=False), NOW)) == "rate_limited"
    assert [bucket(gate).take(NOW) for _ in range(13)] == [True] * 12 + [False]


def test_a_derivation_that_finds_another_sender_is_paid_by_all(gate: Authenticator, worker: Deriver) -> None:
    flood = fresh(14)
    for request in flood[:12]:
        assert gate.open(request, Sender("ann", others=("bob",)), NOW) is WAITING
    assert bucket(gate, "bob").has_one(NOW)
    assert not bucket(gate).has_one(NOW)
    assert [len(given[1]) for _, _, given in worker.waiting] == [2] * 12
    bucket(gate).give_back()
    assert gate.open(flood[12], Sender("ann", others=("bob",)), NOW) is WAITING
    assert [member.name for member in worker.waiting[-1][2][1]] == ["ann"]  # nobody pays for bob's key


def test_a_known_team_that_did_not_send_it_does_not_pay(gate: Authenticator, worker: Deriver) -> None:
    gate.keyring.restore("", "ann", [(SALT_B, bytes(32))])
    empty(gate)
    assert gate.open(shot(BOB), Sender("ann", others=("bob",)), NOW) is WAITING
    worker.work()
    [(_, opened)] = gate.finished()
    assert opened is not None
    assert opened.owner.name == "bob"


# --- the order of things --------------------------------------------------------------------------------------------


def test_a_repetition_waits_however_much_has_come_meanwhile(
    gate: Authenticator, worker: Deriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was taken for another message, derived again and refused as nonce_reused."""
    monkeypatch.setattr("salvo_server.core.authenticator.MAX_RECENT", 2)
    gate = Authenticator(executor=worker)
    for name in ("ann", "bob"):
        gate.keyring.admit("", name, f"{name}'s", NOW)
    gate.keyring.restore("", "bob", [(SALT_B, BOB.key)])
    request = shot(ANN)
    assert gate.open(request, Sender("ann"), NOW, receipt=1) is WAITING
    for x in range(1, 5):
        assert isinstance(gate.open(shot(BOB, x=x), Sender("bob"), NOW), Opened)
    assert gate.open(request, Sender("ann"), NOW, receipt=2) is WAITING
    worker.work()
    [(_, opened), again] = gate.finished()
    assert opened is not None
    assert said(opened) == m.Fire("ann", "bob", 1, 1)
    assert again == (2, None)


def test_a_sealed_command_copied_to_another_topic_is_not_taken_for_a_repeat(
    gate: Authenticator, worker: Deriver
) -> None:
    """Else a rival who sends a skip's blob as somebody's shot would have the skip ignored as repeated."""
    prove(gate, worker, ANN, "ann")
    body, blob = {"x": 1}, parse_blob(ANN.seal(b'{"x":1}'))
    places: list[Sealed] = [
        SignedShot("", "ann", body, blob),
        SignedShot("blue", "ann", body, blob),
        SignedSkip("", "ann", body, blob),
        SignedLeave("", "ann", body, blob),
        SignedSkip("", "bob", body, blob),
        SealedPlacement("", "ann", "carrier", "carrier", blob),
        SealedPlacement("", "ann", "cruiser", "cruiser", blob),
        SealedPlacement("", "bob", "cruiser", "cruiser", blob),
    ]
    gate.keyring.admit("blue", "ann", "ann's", NOW)
    gate.keyring.restore("blue", "ann", [(SALT_A, ANN.key)])
    opened = [gate.open(request, Sender("ann"), NOW) for request in places]
    assert [code(each) for each in opened[1:]] == ["nonce_reused"] * 7
    assert [gate.open(request, Sender("ann"), NOW) for request in places] == [None] * 8


def test_the_authenticator_remembers_a_bounded_number_of_messages(
    gate: Authenticator, worker: Deriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("salvo_server.core.authenticator.MAX_RECENT", 3)
    gate = Authenticator(executor=worker)
    gate.keyring.admit("", "ann", "ann's", NOW)
    gate.keyring.restore("", "ann", [(SALT_A, ANN.key)])
    requests = [shot(ANN, x=x) for x in range(1, 5)]
    for request in requests[:3]:
        assert isinstance(gate.open(request, Sender("ann"), NOW), Opened)
    assert gate.open(requests[0], Sender("ann"), NOW) is None
    assert isinstance(gate.open(requests[3], Sender("ann"), NOW), Opened)
    assert gate.open(requests[1], Sender("ann"), NOW) is None
    assert code(gate.open(requests[0], Sender("ann"), NOW)) == "nonce_reused"


# --- how much is remembered -----------------------------------------------------------------------------------------


def reachable(value: object) -> set[object]:
    """Return every text and every bytes that can be reached from a value."""
    found: set[object] = set()
    seen: set[int] = set()
    left = [value]
    while left:
        each = left.pop()
        if id(each) in seen or isinstance(each, (type, ModuleType, FunctionType)):
            continue
        seen.add(id(each))
        if isinstance(each, (str, bytes)):
            found.add(each)
        left += gc.get_referents(each)
    return found


def test_a_burned_mark_is_found_as_a_whole_and_takes_little_more_than_its_bytes() -> None:
    burned, empty = Burned(), Burned()
    first, second = bytes([1, 2, 3, 4] * 4), bytes([1, 2, 9, 9] * 4)
    between = first[8:] + second[:8]
    burned.extend(first + second)
    assert (first in burned, second in burned, between in burned) == (True, True, False)
    burned.add(between)
    burned.add(first)
    assert (between in burned, len(burned)) == (True, 3)
    many = random.Random(7).randbytes(16 * 50_000)
    burned.extend(many)
    assert len(burned) == 50_003
    assert all(many[at : at + 16] in burned for at in range(0, len(many), 16 * 1000))
    assert _size(burned) - _size(empty) < 24 * len(burned)


def _size(burned: Burned) -> int:
    return sum(map(sys.getsizeof, burned._groups))


def test_no_secret_and_no_key_is_left_of_a_team_that_is_gone(gate: Authenticator, worker: Deriver) -> None:
    """The worker kept its latest keys, by their secrets, for ever."""
    prove(gate, worker, ANN, "ann")
    prove(gate, worker, BOB, "bob")
    assert {"ann's", ANN.key, "bob's", BOB.key} <= reachable(gate)
    gate.keyring.retain("", ["bob"])
    assert not {"ann's", ANN.key} & reachable(gate)
    assert {"bob's", BOB.key} <= reachable(gate)


def test_no_key_is_left_of_a_secret_that_another_one_has_replaced(gate: Authenticator, worker: Deriver) -> None:
    """Until a hundred other keys had been derived, the worker kept the former one."""
    prove(gate, worker, ANN, "ann")
    gate.keyring.admit("", "ann", "rotated", NOW)
    assert not {"ann's", ANN.key} & reachable(gate)


def test_forgeries_under_a_known_salt_cost_no_other_team_its_derivations(gate: Authenticator, worker: Deriver) -> None:
    """Their key fails, so they may be another team's, but that is no more than a guess."""
    prove(gate, worker, ANN, "ann")
    for number in range(20):
        nonce = number.to_bytes(24, "big")
        gate.open(shot(Sealer("nobody's", SALT_A), nonce=nonce), Sender("ann", others=("bob",)), NOW)
        worker.work()
        gate.finished()
    fresh = Sealer("bob's", b"a fresh salt....")
    assert gate.open(placement(fresh, "bob"), Sender("bob"), NOW) is WAITING
