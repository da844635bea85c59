"""What is hidden has no influence on what others see: neither on bytes, nor on their number, order or moment.

Pairs of games are played that differ in hidden cells only, through the whole service with real cryptography. Everything
that everybody may read, and everything that an uninvolved team may read, is byte for byte the same; what teams send has
the same lengths. Who may read what is asked of the topic table.

Twenty pairs a run; ``SALVO_PAIRS=1000 pytest tests/game/test_non_interference.py`` plays a thousand.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kit.twin_games import NAMES, SIDE, Edge, Played, Recorded, Twin, draw_pair, play, read_by
from salvo import messages as m
from salvo.codec import announcement_writer
from salvo.wire import topics
from salvo.wire.roles_and_rights import Role
from simulation import crypto

PAIRS = int(os.environ.get("SALVO_PAIRS", "20"))


@pytest.fixture(autouse=True)
def _economy(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in crypto.DERIVING:
        monkeypatch.setattr(module, "derive_key", crypto.derive_key)


#: Looked at by itself: it commits to what is hidden.
_LOG = frozenset({topics.LOG.of()})


def _own(twin: Twin, seat: int, name: str) -> frozenset[str]:
    """Where a team is told of its own shots and board; of an uninvolved one, nothing is left out."""
    topics_of = {topics.RECAP: seat in twin.shooters | twin.struck, topics.HIT: seat in twin.struck}
    return frozenset(topic.of(player=name) for topic, differs in topics_of.items() if differs)


def _log(played: Played) -> Iterator[tuple[Recorded, dict[str, Any]]]:
    """The log's messages until the game is won; what follows reveals everything, on purpose."""
    for each in read_by(Role.WATCHER, "hall", played):
        if each.topic == topics.LOG.of():
            entry = json.loads(each.payload)
            if "reveal" in entry["entry"]:
                return
            yield each, entry


def _difference(seed: int, draw: m.Draw = m.Draw.SEED) -> str:
    """Play a pair; return who could tell its two games apart, and by what; empty if nobody can."""
    plan, twin = draw_pair(seed)
    names = NAMES[: len(plan.fleets)]
    one, other = play(plan, draw), play(twin.plan, draw)
    readers = [(Role.WATCHER, "hall", _LOG)]
    readers += [(Role.TEAM, name, _LOG | _own(twin, seat, name)) for seat, name in enumerate(names)]
    for role, name, but in readers:
        seen, again = ([e for e in read_by(role, name, each) if e.topic not in but] for each in (one, other))
        if seen != again:
            first = next((pair for pair in zip(seen, again, strict=False) if pair[0] != pair[1]), "their number")
            return f"pair {seed}: {name} sees {first}"
    if one.sent != other.sent:
        return f"pair {seed}: lengths of what teams send differ"
    return ""


# --- the tests ----------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, PAIRS, 50))
def test_games_that_differ_in_hidden_cells_look_the_same(first: int) -> None:
    for seed in range(first, min(first + 50, PAIRS)):
        assert not _difference(seed)


def test_twin_games_differ_and_have_a_player_not_involved() -> None:
    """Otherwise the test above compares a game with itself, or nobody's stream."""
    pairs = [draw_pair(seed) for seed in range(60)]
    assert sum(plan != twin.plan for plan, twin in pairs) > 50
    assert sum(bool(twin.uninvolved()) for _, twin in pairs) > 15
    plan, twin = next(pair for pair in pairs if pair[0].fleets != pair[1].plan.fleets)
    one, other = play(plan), play(twin.plan)
    assert one.announced != other.announced
    assert read_by(Role.REFEREE, "ref", one) != read_by(Role.REFEREE, "ref", other)


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, PAIRS // 5, 10))
def test_the_log_depends_on_hidden_cells_only_through_commitments(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the one function replaced that commits to them, the log is the same byte for byte."""
    monkeypatch.setattr("salvo_game.log.blind", lambda secret, number, text: number.to_bytes(32, "big"))
    for seed in range(first, first + 10):
        plan, twin = draw_pair(seed)
        one, other = ([each for each, _ in _log(play(game))] for game in (plan, twin.plan))
        assert one == other
        assert len(one) > len(plan.turns)


# --- leaks, planted -----------------------------------------------------------------------------------------------


def _publish_where_shots_fell(patch: pytest.MonkeyPatch) -> None:
    def landed(a: m.ShotLanded) -> Any:
        return [(topics.HITS, "", "", b"%d;%d" % (a.x, a.y))]

    patch.setitem(announcement_writer._WRITERS, m.ShotLanded, landed)


def _tell_each_shots_outcome(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("salvo.rules.Salvo.announced_outcomes", lambda self, book: tuple(self.outcomes))


def _pad_nothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("salvo.wire.seal.PADDING_BYTES", 1)


def _publish_in_a_hurry_when_it_was_a_hit(patch: pytest.MonkeyPatch) -> None:
    """A kept message once more, only after a shot that fell in the upper half: no byte of it is hidden."""
    publish = Edge.publish

    def hurried(self: Edge, topic: str, payload: bytes, *, retain: bool = False) -> None:
        publish(self, topic, payload, retain=retain)
        if topic.endswith("/hit") and json.loads(payload)["y"] < SIDE // 2:
            publish(self, topics.STATE.of(), b"turn", retain=True)

    patch.setattr(Edge, "publish", hurried)


LEAKS = [
    _publish_where_shots_fell,
    _tell_each_shots_outcome,
    _pad_nothing,
    _publish_in_a_hurry_when_it_was_a_hit,
]


@pytest.mark.parametrize("leak", LEAKS, ids=lambda leak: leak.__name__[1:].replace("_", " "))
def test_a_planted_leak_is_found(leak: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    leak(monkeypatch)
    assert any(_difference(seed) for seed in range(60))
