"""Who sent a sealed message, and whether it is fresh."""

from __future__ import annotations

import hashlib

import pytest

from by_hand import ByHand
from salvo import messages as m
from salvo import topics
from salvo.codec.command_reader import SealedPlacement, SignedShot, read_command
from salvo.codec.commands import write_placement
from salvo.rules import SALVO, Orientation, Placement
from salvo.seal import Sealer, make_blob, parse_blob
from salvo_server.core.authenticator import MAX_QUEUE_LENGTH, WAITING, Authenticator, Opened, Proof, Waiting

NOW = 1_000_000
SALT_A, SALT_B = bytes(16), bytes(range(16))
ANN, BOB = Sealer("ann's", SALT_A), Sealer("bob's", SALT_B)


@pytest.fixture(scope="module", autouse=True)
def _keys_cost_little() -> None:
    """Derive with the contract's work, in place of the other unit tests' least: ANN and BOB have done so on import."""


@pytest.fixture
def worker() -> ByHand:
    return ByHand()


@pytest.fixture
def gate(worker: ByHand) -> Authenticator:
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


def prove(gate: Authenticator, worker: ByHand, sealer: Sealer, name: str) -> None:
    """Make a salt known."""
    assert gate.open(placement(sealer, name), [name], NOW, receipt="receipt") is WAITING
    worker.work()
    [(receipt, opened)] = gate.finished()
    assert receipt == "receipt"
    assert opened is not None
    assert isinstance(opened.command, m.PlaceShip)


def code(opened: Opened | Waiting | None) -> str:
    assert isinstance(opened, Opened)
    assert isinstance(opened.command, m.Unreadable)
    return opened.command.code


def test_a_known_salt_opens_at_once_and_a_fresh_one_after_a_derivation(gate: Authenticator, worker: ByHand) -> None:
    prove(gate, worker, ANN, "ann")
    opened = gate.open(shot(ANN), ["ann", "bob"], NOW)
    assert isinstance(opened, Opened)
    assert opened.command == m.Fire("ann", "bob", 1, 1)
    assert worker.waiting == []


def test_a_shot_is_whose_key_opens_it_and_not_whose_turn_it_is(gate: Authenticator, worker: ByHand) -> None:
    prove(gate, worker, BOB, "bob")
    opened = gate.open(shot(BOB, "ann"), ["ann", "bob"], NOW)
    assert isinstance(opened, Opened)
    assert opened.command == m.Fire("bob", "ann", 1, 1)


def test_the_very_same_message_again_is_ignored(gate: Authenticator, worker: ByHand) -> None:
    prove(gate, worker, ANN, "ann")
    request = shot(ANN)
    assert gate.open(request, ["ann"], NOW) is not None
    assert gate.open(request, ["ann"], NOW) is None
    assert gate.counts["duplicate"] == 1


def test_a_repetition_waits_as_long_as_the_first_one(gate: Authenticator, worker: ByHand) -> None:
    """The connection was lost meanwhile. The repetition was acknowledged at once; a crash then lost the message."""
    request = shot(ANN)
    assert gate.open(request, ["ann"], NOW, receipt="first") is WAITING
    assert gate.open(request, ["ann"], NOW, receipt="again") is WAITING
    assert worker.work() == 1
    (first, opened), (again, nothing) = gate.finished()
    assert (first, again, nothing) == ("first", "again", None)
    assert opened is not None
    assert gate.open(request, ["ann"], NOW, receipt="late") is None


def test_a_shot_replayed_at_another_target_is_refused(gate: Authenticator, worker: ByHand) -> None:
    prove(gate, worker, ANN, "ann")
    request = shot(ANN)
    gate.open(request, ["ann"], NOW)
    replayed = SignedShot("", "cy", request.body, request.blob)
    assert code(gate.open(replayed, ["ann"], NOW)) == "nonce_reused"


def test_a_nonce_is_burned_by_a_refused_message_too(gate: Authenticator, worker: ByHand) -> None:
    prove(gate, worker, ANN, "ann")
    request = shot(ANN)
    mismatched = SignedShot("", "bob", {"x": 9, "y": 9}, request.blob)
    assert code(gate.open(mismatched, ["ann"], NOW)) == "body_mismatch"
    later = SignedShot("", "cy", request.body, request.blob)
    assert code(gate.open(later, ["ann"], NOW)) == "nonce_reused"


def test_a_nonce_stays_burned_over_games_and_tables(gate: Authenticator, worker: ByHand) -> None:
    prove(gate, worker, ANN, "ann")
    request = shot(ANN)
    gate.open(request, ["ann"], NOW)
    gate.keyring.retain("", ())
    gate.keyring.admit("blue", "ann", "ann's", NOW)
    moved = SignedShot("blue", "bob", request.body, request.blob)
    assert gate.open(moved, ["ann"], NOW) is WAITING  # its salt is unknown at this table: a derivation
    worker.work()
    assert [code(opened) for _, opened in gate.finished()] == ["nonce_reused"]


def test_a_namesake_at_another_table_burns_no_nonce_of_the_team(gate: Authenticator, worker: ByHand) -> None:
    """He took the name at a table of his own and copied the nonce of a message that waited for its derivation."""
    namesake = Sealer("a stranger's", SALT_B)
    gate.keyring.admit("blue", "ann", "a stranger's", NOW)
    waiting = shot(ANN)
    copied = shot(namesake, nonce=waiting.blob.nonce)
    overtaking = SignedShot("blue", copied.target, copied.body, copied.blob)
    gate.keyring.restore("blue", "ann", [(namesake.salt, namesake.key)])
    assert gate.open(waiting, ["ann"], NOW) is WAITING
    assert isinstance(gate.open(overtaking, ["ann"], NOW), Opened)
    worker.work()
    [(_, opened)] = gate.finished()
    assert opened is not None
    assert opened.command == m.Fire("ann", "bob", 1, 1)


def test_a_nonce_that_an_older_journal_has_is_burned(gate: Authenticator, worker: ByHand) -> None:
    """There a mark stood for name and nonce."""
    prove(gate, worker, ANN, "ann")
    request = shot(ANN)
    mark = hashlib.blake2b(b"ann\0" + request.blob.nonce, digest_size=16).digest()
    gate.burn([Proof(mark, bytes(16))])
    assert code(gate.open(request, ["ann"], NOW)) == "nonce_reused"


def test_what_one_run_has_burned_is_burned_in_the_next(worker: ByHand) -> None:
    """Its journal keeps the marks and what the teams' credentials are made with."""
    request = shot(ANN)
    proofs: list[Proof] = []
    for opens in (True, False):
        gate = Authenticator(executor=worker, pepper=bytes(32))
        gate.keyring.admit("", "ann", "ann's", NOW)
        gate.keyring.restore("", "ann", [(ANN.salt, ANN.key)])
        gate.burn(proofs)
        moved = SignedShot("", "bob" if opens else "cy", request.body, request.blob)
        opened = gate.open(moved, ["ann"], NOW)
        assert isinstance(opened, Opened)
        assert isinstance(opened.command, m.Fire) is opens
        proofs += [opened.proof] if opened.proof is not None else []
    assert code(opened) == "nonce_reused"


def test_no_shot_overtakes_an_older_one_of_its_salt(gate: Authenticator, worker: ByHand) -> None:
    """The first proved the salt; the third was then opened at once, before the second, and refused as out of order."""
    first, stranger, second, third = shot(ANN, x=1), shot(BOB, x=9), shot(ANN, x=2), shot(ANN, x=3)
    for request, sender in ((first, "ann"), (stranger, "bob"), (second, "ann")):
        assert gate.open(request, [sender], NOW, receipt=request) is WAITING
    future, find, given = worker.waiting.pop(0)
    future.set_result(find(*given))
    opened = [message.command for _, message in gate.finished() if message is not None]
    now = gate.open(third, ["ann"], NOW)
    assert isinstance(now, Opened)
    fired = [command.x for command in [*opened, now.command] if isinstance(command, m.Fire)]
    assert fired == [1, 2, 3]
    worker.waiting = [job for job in worker.waiting if not job[0].cancelled()]
    worker.work()
    assert [receipt for receipt, _ in gate.finished()] == [stranger]


def test_a_message_of_a_team_that_left_meanwhile_still_burns_its_nonce(gate: Authenticator, worker: ByHand) -> None:
    request = shot(ANN)
    gate.open(request, ["ann"], NOW)
    gate.keyring.retain("", ())
    worker.work()
    assert gate.finished() == [(None, None)]
    gate.keyring.admit("", "ann", "ann's", NOW)
    gate.open(SignedShot("", "cy", request.body, request.blob), ["ann"], NOW)
    worker.work()
    assert [code(opened) for _, opened in gate.finished()] == ["nonce_reused"]


def test_a_placement_is_no_signature(gate: Authenticator, worker: ByHand) -> None:
    prove(gate, worker, ANN, "ann")
    stolen = SignedShot("", "bob", {"x": 1, "y": 1}, placement(ANN).blob)
    assert code(gate.open(stolen, ["ann"], NOW)) == "body_mismatch"


def test_a_forged_message_changes_nothing_and_is_not_looked_at_twice(gate: Authenticator, worker: ByHand) -> None:
    forged = shot(Sealer("a thief's", bytes(range(1, 17))))
    assert gate.open(forged, ["ann", "bob"], NOW) is WAITING
    assert worker.work() == 1
    assert gate.finished() == [(None, None)]
    assert (gate.counts["forged"], gate.counts["opened"]) == (1, 0)
    assert gate.open(forged, ["ann", "bob"], NOW) is None
    assert worker.waiting == []


def test_a_rival_under_a_known_salt_costs_no_derivation_of_its_owner(gate: Authenticator, worker: ByHand) -> None:
    prove(gate, worker, ANN, "ann")
    forged = shot(ANN)
    broken = SignedShot("", "bob", forged.body, parse_blob(make_blob(b"{}", bytes(32), SALT_A)))
    assert gate.open(broken, ["ann"], NOW) is None
    assert worker.waiting == []


def fresh(count: int) -> list[SignedShot]:
    """Shots under salts that nobody has seen; the key is wrong, so that making them is quick."""
    return [
        SignedShot("", "bob", {"x": 1, "y": 1}, parse_blob(make_blob(b"{}", bytes(32), number.to_bytes(16, "big"))))
        for number in range(1, count + 1)
    ]


def test_fresh_salts_are_limited_by_a_bucket_and_refilled_by_time(gate: Authenticator, worker: ByHand) -> None:
    flood = fresh(40)
    answers = [gate.open(request, ["ann"], NOW) for request in flood[:20]]
    assert [answer is WAITING for answer in answers] == [True] * 12 + [False] * 8
    assert code(answers[-1]) == "rate_limited"
    again = [gate.open(request, ["ann"], NOW + 1000) for request in flood[20:30]]
    assert [answer is WAITING for answer in again] == [True] * 2 + [False] * 8


def test_what_was_turned_away_cannot_come_back_at_another_target(gate: Authenticator, worker: ByHand) -> None:
    flood = fresh(13)
    for request in flood:
        gate.open(request, ["ann"], NOW)
    late = SignedShot("", "cy", flood[-1].body, flood[-1].blob)
    assert gate.open(late, ["ann"], NOW + 60_000) is None
    assert gate.counts["duplicate"] == 1


def test_an_accepted_command_gives_its_derivation_back(gate: Authenticator, worker: ByHand) -> None:
    requests = fresh(30)
    for number, request in enumerate(requests):
        assert gate.open(request, ["ann"], NOW) is WAITING, number
        gate.keyring.refund("", "ann")


def test_the_queue_of_derivations_is_bounded(worker: ByHand) -> None:
    gate = Authenticator(executor=worker)
    names = [f"team{number}" for number in range(10)]
    for name in names:
        gate.keyring.admit("", name, name, NOW)
    for number, request in enumerate(fresh(120)):
        gate.open(request, [names[number % 10]], NOW)
    assert len(worker.waiting) == MAX_QUEUE_LENGTH
