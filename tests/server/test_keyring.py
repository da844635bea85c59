"""The teams at the tables: their secrets, their keys, their recaps, and what is left when they go."""

from __future__ import annotations

import pytest

from kit.deriver import Deriver
from kit.stage import TEAMS, Stage
from salvo import messages as m
from salvo.wire.seal import derive_key, key_to_team, make_blob, open_blob, parse_blob
from salvo_server.core.keyring import MAX_DERIVED, MAX_SALTS, KeyOwner, Keyring, KeyWorker
from salvo_server.core.recaps import Recaps

NOW = 1_000_000


@pytest.fixture
def keyring() -> Keyring:
    keyring = Keyring()
    keyring.admit("", "ann", "ann's", NOW)
    keyring.admit("", "bob", "bob's", NOW)
    return keyring


def member(keyring: Keyring, name: str = "ann") -> KeyOwner:
    found = keyring.member("", name)
    assert found is not None
    return found


def salt(number: int) -> bytes:
    return number.to_bytes(16, "big")


def learn(keyring: Keyring, *numbers: int) -> None:
    for number in numbers:
        assert keyring.learn("", member(keyring), salt(number), bytes([number]))


def test_only_the_latest_salts_of_a_team_are_stored(keyring: Keyring) -> None:
    learn(keyring, *range(MAX_SALTS + 3))
    assert list(member(keyring).keys) == [salt(number) for number in range(3, MAX_SALTS + 3)]
    assert member(keyring).keys[salt(MAX_SALTS)] == bytes([MAX_SALTS])


def test_equal_secrets_have_equal_credentials_and_the_secret_is_not_in_them(keyring: Keyring) -> None:
    credential = keyring.credential("ann", "s")
    assert keyring.credential("ann", "s") == credential
    assert len({credential, keyring.credential("ann", "t"), keyring.credential("bob", "s")}) == 3
    assert credential != Keyring().credential("ann", "s")
    assert "secret" not in repr(m.Participate("ann", b"secret"))
    assert len(credential) == 16


def test_another_secret_opens_nothing_and_spends_from_the_same_buckets(keyring: Keyring) -> None:
    """Otherwise a team of a roster could have its buckets filled by asking for another secret."""
    learn(keyring, 1)
    former = member(keyring)
    assert keyring.learn("", member(keyring, "bob"), salt(2), b"2")
    keyring.admit("", "ann", "rotated", NOW)
    now = member(keyring)
    assert (now.secret, dict(now.keys), dict(now.derived)) == ("rotated", {}, {})
    assert (now.bucket, now.refused) == (former.bucket, former.refused)
    assert [each.name for each in keyring.learned] == ["bob"]


def test_a_key_of_a_removed_team_or_an_old_secret_is_not_stored(keyring: Keyring) -> None:
    ann, bob = member(keyring), member(keyring, "bob")
    keyring.admit("", "ann", "rotated", NOW)
    keyring.retain("", ["ann"])
    assert not keyring.learn("", ann, salt(1), b"1")
    assert not keyring.learn("", bob, salt(1), b"1")
    assert keyring.learned == []
    assert not member(keyring).keys


def test_a_team_that_leaves_is_forgotten_with_its_unwritten_keys(keyring: Keyring) -> None:
    """Its key went to the journal after the reset, as one of the next game, where nothing deletes it in time."""
    learn(keyring, 1)
    keyring.admit("blue", "ann", "ann's", NOW)
    blue = keyring.member("blue", "ann")
    assert blue is not None
    keyring.learn("blue", blue, salt(2), b"2")
    keyring.learn("", member(keyring, "bob"), salt(3), b"3")
    keyring.retain("", ["bob"])
    assert keyring.teams("") == [("bob", "bob's")]
    assert keyring.teams("blue") == [("ann", "ann's")]
    assert [(each.table, each.name) for each in keyring.learned] == [("blue", "ann"), ("", "bob")]
    assert keyring.member("", "ann") is None


# --- the thread that derives keys -----------------------------------------------------------------------------------


@pytest.fixture
def worker() -> Deriver:
    return Deriver(held=True)


def test_derived_keys_of_a_team_are_bounded(keyring: Keyring, worker: Deriver) -> None:
    for number in range(MAX_DERIVED + 1):
        noise = parse_blob(make_blob(b"{}", bytes(32), salt(number)))
        worker.worker.find(noise, [member(keyring)])
    worker.work()
    assert list(member(keyring).derived) == [salt(number) for number in range(1, MAX_DERIVED + 1)]
    assert not member(keyring, "bob").derived


def test_the_server_is_woken_after_each_derivation(worker: Deriver) -> None:
    woken: list[bool] = []
    KeyWorker(worker, lambda: woken.append(True)).derive("ann's", salt(1))
    assert woken == []
    worker.work()
    assert woken == [True]


# --- recaps ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def recaps(keyring: Keyring, worker: Deriver) -> Recaps:
    return Recaps(Stage(TEAMS).service.tables, keyring, worker.worker)


def test_a_recap_waits_for_one_key_when_none_is_known(recaps: Recaps, keyring: Keyring, worker: Deriver) -> None:
    assert recaps.recall("", "ann") == []
    assert recaps.recall("", "ann") == []
    assert recaps.take_due() == []
    assert worker.work() == 1
    [(topic, payload, retain)] = recaps.take_due()
    assert (topic, retain) == ("/players/ann/recap", False)
    blob = parse_blob(payload.decode(), 100_000)
    assert b'"fleet"' in open_blob(blob, key_to_team(derive_key("ann's", blob.salt)))
    assert [each.salt for each in keyring.take_learned()] == [blob.salt]
    assert recaps.take_due() == []


def test_a_team_that_does_not_play_or_has_left_has_no_recap(recaps: Recaps, keyring: Keyring, worker: Deriver) -> None:
    assert recaps.recall("", "nobody") == []
    recaps.recall("", "ann")
    keyring.retain("", ("bob",))
    worker.work()
    assert recaps.take_due() == []
    assert keyring.learned == []
    assert recaps.seal("", "ann", b"{}") is None
    assert worker.waiting == []
