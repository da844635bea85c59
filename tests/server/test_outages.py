"""What the service does when broker, journal or machine are away: every state and every event, on a real service."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from kit.stage import Stage
from salvo import messages as m
from salvo_game.journal_interface import Batch, Journal, JournalUnavailable
from salvo_server.core.outages import OUTAGES, OutageEvent, Presence
from salvo_server.service import JOURNAL_RETRY_MS

TURN_MS = 30_000


class Refusing(Journal):
    """A journal that takes nothing while a test says so."""

    refuses = False

    def commit(self, batch: Batch) -> None:
        self.check()

    def check(self) -> None:
        if self.refuses:
            raise JournalUnavailable("journal_full", "no room")


class Bench:
    """A game with two teams, in one of the states."""

    def __init__(self, state: Presence = "serving") -> None:
        self.journal = Refusing()
        self.stage = Stage(("ann", "bob"), journal=self.journal, limits=m.Limits(players=2, turn_ms=TURN_MS))
        self.shots = 0
        if state.startswith("journal stalled"):
            self.journal.refuses = True
            self.shoot()
            self.stage.service.step()
        if state == "broker away":
            self.stage.edge.connected = False
        if state.endswith("just back"):
            self.stage.edge.connect()
        self.fired, self.turn = self.stage.fired(), self.turn_now()
        self.stage.hush()

    def turn_now(self) -> int:
        game = self.stage.referee.game
        assert game is not None
        return game.turn

    def shoot(self) -> None:
        self.shots += 1
        current = self.stage.current
        target = self.stage.others()[0]
        self.stage.edge.give(f"/players/{target}/fire", self.stage.shot(current, self.shots, 1))

    def happen(self, event: OutageEvent) -> None:
        service = self.stage.service
        match event:
            case "connected":
                self.stage.edge.connect()
                return
            case "disconnected":
                self.stage.edge.connected = False
                return
            case "journal refuses":
                self.journal.refuses = True
                self.shoot()
            case "journal accepts":
                self.journal.refuses = False
                self.stage.now += JOURNAL_RETRY_MS
            case "held up":
                self.stage.hold_up(TURN_MS / 5000)
                return
            case "messages arrive":
                self.shoot()
            case "timer due":
                self.stage.now += TURN_MS + 1
            case "round begins":
                pass
        service.step()

    def done(self) -> set[str]:
        """What could be seen since the event: of the shot, of the turn, and in what was published."""
        statuses = {json.loads(payload)["status"] for topic, payload in self.stage.received if topic == "/game/server"}
        if self.stage.fired() > self.fired:
            statuses.add("read")
        if self.turn_now() > self.turn:
            statuses.add("timed out")
        elif any(topic == "/game/turn" for topic, _ in self.stage.received):
            statuses.add("restarted")
        return statuses

    def left_ms(self) -> int:
        due = self.stage.referee.deadline()
        assert due is not None
        return due - self.stage.now

    def state(self) -> Presence:
        """Tell the state by how long the service would wait, and by what it says in the next round."""
        waits = self.stage.service.wait_seconds(600.0)
        if waits == 600.0:
            return "broker away"
        if waits == JOURNAL_RETRY_MS / 1000:
            return "journal stalled"
        if waits > 0:
            return "serving"
        self.stage.hush()
        self.stage.service.step()
        return "journal stalled, just back" if "paused" in self.done() else "just back"


DONE: dict[Presence, dict[OutageEvent, tuple[Presence, set[str]]]] = {
    "serving": {
        "connected": ("just back", set()),
        "disconnected": ("broker away", set()),
        "journal refuses": ("journal stalled", {"read", "paused"}),
        "journal accepts": ("serving", set()),
        "round begins": ("serving", set()),
        "held up": ("serving", {"restarted"}),
        "messages arrive": ("serving", {"read"}),
        "timer due": ("serving", {"timed out"}),
    },
    "broker away": {
        "connected": ("just back", set()),
        "disconnected": ("broker away", set()),
        "journal refuses": ("journal stalled", {"read", "paused"}),
        "journal accepts": ("broker away", set()),
        "round begins": ("broker away", set()),
        "held up": ("broker away", set()),
        "messages arrive": ("broker away", {"read"}),
        "timer due": ("broker away", set()),
    },
    "just back": {
        "connected": ("just back", set()),
        "disconnected": ("just back", set()),  # what came in between is not late: the time is restarted all the same
        "journal refuses": ("journal stalled", {"read", "paused"}),
        "journal accepts": ("serving", {"online", "restarted"}),
        "round begins": ("serving", {"online", "restarted"}),
        "held up": ("serving", {"online", "restarted"}),
        "messages arrive": ("serving", {"online", "restarted", "read"}),
        "timer due": ("serving", {"online", "restarted"}),
    },
    "journal stalled": {
        "connected": ("journal stalled, just back", set()),
        "disconnected": ("journal stalled", set()),
        "journal refuses": ("journal stalled", set()),
        "journal accepts": ("serving", {"online", "restarted"}),
        "round begins": ("journal stalled", set()),
        "held up": ("journal stalled", set()),
        "messages arrive": ("journal stalled", set()),
        "timer due": ("journal stalled", set()),
    },
    "journal stalled, just back": {
        "connected": ("journal stalled, just back", set()),
        "disconnected": ("journal stalled, just back", set()),
        "journal refuses": ("journal stalled", {"paused"}),
        "journal accepts": ("serving", {"paused", "online", "restarted"}),
        "round begins": ("journal stalled", {"paused"}),
        "held up": ("journal stalled", {"paused"}),
        "messages arrive": ("journal stalled", {"paused"}),
        "timer due": ("journal stalled", {"paused"}),
    },
}
PAIRS = [(state, event) for state in get_args(Presence) for event in get_args(OutageEvent)]


@pytest.mark.parametrize(("state", "event"), PAIRS)
def test_every_event_during_an_outage_has_its_specified_effects_in_every_state(
    state: Presence, event: OutageEvent
) -> None:
    bench = Bench(state)
    target, done = DONE[state][event]
    bench.happen(event)
    assert bench.done() == done
    assert bench.state() == target


def test_the_outage_table_has_no_duplicate_and_reads_or_holds_only_messages() -> None:
    pairs = [(source, line.event) for line in OUTAGES for source in line.sources]
    assert len(set(pairs)) == len(pairs)
    assert {line.event for line in OUTAGES if line.action in ("read", "hold")} == {"messages arrive"}
    silent = {"connected", "disconnected", "journal accepts"}
    assert {line.action for line in OUTAGES if line.event in silent} == {None}


@pytest.mark.parametrize("state", ["serving", "just back", "journal stalled"])
def test_a_server_that_ends_with_a_stalled_journal_publishes_offline_last(state: Presence) -> None:
    """It was `paused`, which then stood at the broker until the next server came."""
    bench = Bench(state)
    bench.journal.refuses = True
    bench.stage.service.go_offline()
    statuses = [json.loads(payload)["status"] for topic, payload in bench.stage.received if topic == "/game/server"]
    assert statuses[-1] == "offline"
    assert ("paused" in statuses) == (state != "journal stalled")


def test_a_shot_that_the_journal_held_up_is_not_late_if_the_broker_left_meanwhile() -> None:
    """The times to act began anew only if the broker was there at that moment: the turn had run out unseen."""
    bench = Bench("journal stalled")
    bench.happen("messages arrive")
    bench.stage.edge.connected = False
    bench.stage.now += 2 * TURN_MS
    bench.happen("journal accepts")
    assert bench.turn_now() == bench.turn
    assert bench.stage.fired() == 2


# --- a server that stands still for a while, by its machine or its disk -----------------------------------------------


def test_a_shot_that_came_while_the_server_stood_still_is_not_late() -> None:
    bench = Bench()
    bench.shoot()
    bench.stage.hold_up(2 * TURN_MS / 1000)
    assert (bench.turn_now(), bench.stage.fired()) == (1, 1)
    assert bench.left_ms() == TURN_MS
    assert bench.done() == {"read", "restarted"}


@pytest.mark.parametrize(
    ("turn_ms", "stood_ms", "restarted"),
    [(30_000, 2999, False), (30_000, 3000, True), (1000, 249, False), (1000, 250, True)],
)
def test_the_time_to_act_restarts_after_a_tenth_of_it_and_a_quarter_of_a_second(
    turn_ms: int, stood_ms: int, restarted: bool
) -> None:
    stage = Stage(("ann", "bob"), limits=m.Limits(players=2, turn_ms=turn_ms))
    due = stage.referee.deadline()
    stage.hold_up(stood_ms / 1000)
    assert (stage.referee.deadline() != due) == restarted


def test_a_lobbys_time_restarts_three_times_until_another_team_is_listed() -> None:
    stage = Stage(("ann",), play=False, limits=m.Limits(players=3, placement_ms=10_000))
    for name in ("bob", "cy"):
        for restarted in (True, True, True, False):
            due = stage.referee.deadline()
            stage.hold_up(1)
            assert (stage.referee.deadline() != due) == restarted
        stage.join(name)


def test_a_turn_whose_begin_a_slow_disk_held_back_has_its_whole_time(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench()
    for _ in range(4):
        bench.happen("messages arrive")
    with monkeypatch.context() as patch:
        patch.setattr(bench.journal, "commit", lambda batch: setattr(bench.stage, "now", bench.stage.now + TURN_MS - 1))
        bench.happen("messages arrive")
    assert (bench.turn_now(), bench.left_ms()) == (2, 1)
    bench.happen("round begins")
    assert (bench.turn_now(), bench.left_ms()) == (2, TURN_MS)
