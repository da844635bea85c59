"""The gate: who sent it, is it fresh, and what a flood costs."""

from __future__ import annotations

import hashlib
from concurrent.futures import Executor, Future
from typing import Any

import pytest

from salvo import messages as m
from salvo import topics
from salvo.codec.command_reader import SealedPlacement, SignedShot, read_command
from salvo.codec.commands import write_placement
from salvo.rules import SALVO, Orientation, Placement
from salvo.seal import Sealer, derive_key, key_to_team, make_blob, open_blob, parse_blob
from salvo_server.core.authenticator import MAX_QUEUE_LENGTH, WAITING, Authenticator, Opened, Proof, Waiting

NOW = 1_000_000
SALT_A, SALT_B = bytes(16), bytes(range(16))
ANN, BOB = Sealer("ann's", SALT_A), Sealer("bob's", SALT_B)


@pytest.fixture(scope="module", autouse=True)
def _keys_cost_little() -> None:
    """Derive with the contract's work, in place of the other unit tests' least: ANN and BOB have done so on import."""


class ByHand(Executor):
    """Derives only when the test says so."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Future[Any], Any, tuple[Any, ...]]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.waiting.append((future, fn, args))
        return future

    def work(self) -> int:
        waiting, self.waiting = self.waiting, []
        for future, fn, args in waiting:
            future.set_result(fn(*args))
        return len(waiting)


@pytest.fixture
def worker() -> ByHand:
    return ByHand()


@pytest.fixture
def gate(worker: ByHand) -> Authenticator:
    gate = Authenticator(executor=worker)
    gate.admit("", "ann", "ann's", NOW)
    gate.admit("", "bob", "bob's", NOW)
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
    gate.retain("", ())
    gate.admit("blue", "ann", "ann's", NOW)
    moved = SignedShot("blue", "bob", request.body, request.blob)
    assert gate.open(moved, ["ann"], NOW) is WAITING  # its salt is unknown at this table: a derivation
    worker.work()
    assert [code(opened) for _, opened in gate.finished()] == ["nonce_reused"]


def test_a_namesake_at_another_table_burns_no_nonce_of_the_team(gate: Authenticator, worker: ByHand) -> None:
    """He took the name at a table of his own and copied the nonce of a message that waited for its derivation."""
    namesake = Sealer("a stranger's", SALT_B)
    gate.admit("blue", "ann", "a stranger's", NOW)
    waiting = shot(ANN)
    copied = shot(namesake, nonce=waiting.blob.nonce)
    overtaking = SignedShot("blue", copied.target, copied.body, copied.blob)
    gate.restore("blue", "ann", [(namesake.salt, namesake.key)])
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
        gate.admit("", "ann", "ann's", NOW)
        gate.restore("", "ann", [(ANN.salt, ANN.key)])
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
    gate.retain("", ())
    worker.work()
    assert gate.finished() == [(None, None)]
    gate.admit("", "ann", "ann's", NOW)
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
        gate.refund("", "ann")


def test_the_queue_of_derivations_is_bounded(worker: ByHand) -> None:
    gate = Authenticator(executor=worker)
    names = [f"team{number}" for number in range(10)]
    for name in names:
        gate.admit("", name, name, NOW)
    for number, request in enumerate(fresh(120)):
        gate.open(request, [names[number % 10]], NOW)
    assert len(worker.waiting) == MAX_QUEUE_LENGTH


def test_a_recap_opens_with_the_sub_key_only(gate: Authenticator, worker: ByHand) -> None:
    prove(gate, worker, ANN, "ann")
    recap = gate.seal_recap("", "ann", b'{"game": 1}')
    assert recap is not None
    blob = parse_blob(recap.payload.decode())
    assert open_blob(blob, key_to_team(ANN.key)).strip() == b'{"game": 1}'
    with pytest.raises(Exception, match="forged"):
        open_blob(blob, ANN.key)


def test_a_recap_waits_for_a_key_when_none_is_known(gate: Authenticator, worker: ByHand) -> None:
    assert gate.seal_recap("", "ann", b"{}") is None
    worker.work()
    assert gate.keyed() == [("", "ann")]
    recap = gate.seal_recap("", "ann", b"{}")
    assert recap is not None
    blob = parse_blob(recap.payload.decode())
    assert open_blob(blob, key_to_team(derive_key("ann's", blob.salt))).strip() == b"{}"


def test_equal_secrets_have_equal_credentials_and_the_secret_is_not_in_them(gate: Authenticator) -> None:
    assert gate.credential("ann", "s") == gate.credential("ann", "s")
    assert len({gate.credential("ann", "s"), gate.credential("ann", "t"), gate.credential("bob", "s")}) == 3
    assert gate.credential("ann", "s") != Authenticator(executor=ByHand()).credential("ann", "s")
    assert "secret" not in repr(m.Participate("ann", b"secret"))


def test_no_secret_and_no_key_is_left_of_a_team_that_is_gone(gate: Authenticator, worker: ByHand) -> None:
    """The worker kept its latest keys, by their secrets, for ever."""
    prove(gate, worker, ANN, "ann")
    prove(gate, worker, BOB, "bob")
    gate.learned.clear()  # the service has taken them to the journal
    gate.retain("", ["bob"])
    left = repr([vars(gate), [member.secret for members in gate._members.values() for member in members.values()]])
    assert "ann's" not in left
    assert repr(ANN.key) not in left
    assert "bob's" in left
