"""Recaps are sealed for one team alone, as soon as there is a key."""

from __future__ import annotations

from typing import Any

import pytest

from kit.deriver import Deriver
from kit.stage import TEAMS, Stage
from salvo.seal import derive_key, key_to_team, open_blob, parse_blob
from salvo_server.core.keyring import Keyring
from salvo_server.core.recaps import Recaps

NOW = 1_000_000
ANN, BOB, CY = TEAMS


@pytest.fixture
def worker() -> Deriver:
    return Deriver(held=True)


@pytest.fixture
def keyring() -> Keyring:
    keyring = Keyring()
    for name in TEAMS:
        keyring.admit("", name, f"{name}'s", NOW)
    return keyring


@pytest.fixture
def recaps(keyring: Keyring, worker: Deriver) -> Recaps:
    return Recaps(Stage(TEAMS).service.tables, keyring, worker.worker)


def test_a_recap_waits_for_one_key_when_none_is_known(recaps: Recaps, keyring: Keyring, worker: Deriver) -> None:
    assert recaps.recall("", ANN) == []
    assert recaps.recall("", ANN) == []
    assert recaps.take_due() == []
    assert worker.work() == 1
    [(topic, payload, retain)] = recaps.take_due()
    assert (topic, retain) == (f"/players/{ANN}/recap", False)
    blob = parse_blob(payload.decode(), 100_000)
    assert b'"fleet"' in open_blob(blob, key_to_team(derive_key(f"{ANN}'s", blob.salt)))
    assert [each.salt for each in keyring.take_learned()] == [blob.salt]
    assert recaps.take_due() == []


def test_who_does_not_play_and_who_has_left_has_no_recap(recaps: Recaps, keyring: Keyring, worker: Deriver) -> None:
    assert recaps.recall("", "nobody") == []
    recaps.recall("", ANN)
    keyring.retain("", (BOB,))
    worker.work()
    assert recaps.take_due() == []
    assert keyring.learned == []
    assert recaps.seal("", ANN, b"{}") is None
    assert worker.waiting == []
    found: Any = keyring.member("", ANN)
    assert found is None
