"""The thread that derives keys."""

from __future__ import annotations

from typing import Any

import pytest

from kit.deriver import Deriver
from salvo.seal import Blob, Sealer, parse_blob
from salvo_server.core import keyring
from salvo_server.core.keyring import MAX_DERIVED, Keyring, KeyWorker, Member

SALT = bytes(range(16))


@pytest.fixture
def derived(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bytes]]:
    """What was derived, cheaply."""
    asked: list[tuple[str, bytes]] = []

    def derive(secret: str, salt: bytes) -> bytes:
        asked.append((secret, salt))
        return (secret.encode() + salt).ljust(32, b".")[:32]

    monkeypatch.setattr(keyring, "derive_key", derive)
    monkeypatch.setattr("salvo.seal.derive_key", derive)
    return asked


def members(*names: str) -> list[Member]:
    keyring = Keyring()
    for name in names:
        keyring.admit("", name, f"{name}'s", 0)
    return [member for name in names if (member := keyring.member("", name))]


def blob(name: str, salt: bytes = SALT) -> Blob:
    return parse_blob(Sealer(f"{name}'s", salt).seal(b"{}"))


def test_so_many_keys_of_a_team_are_kept_and_no_more(derived: list[Any]) -> None:
    hand, (ann, bob) = Deriver(held=True), members("ann", "bob")
    for number in range(MAX_DERIVED + 1):
        hand.worker.find(blob("bob", number.to_bytes(16, "big")), [ann])
    hand.work()
    assert list(ann.derived) == [number.to_bytes(16, "big") for number in range(1, MAX_DERIVED + 1)]
    assert not bob.derived


def test_it_wakes_the_server_after_each(derived: list[Any]) -> None:
    hand, woken = Deriver(held=True), []
    worker = KeyWorker(lambda: woken.append(True), hand)
    worker.derive("ann's", SALT)
    worker.find(blob("ann"), members("ann"))
    assert woken == []
    hand.work()
    assert woken == [True, True]
