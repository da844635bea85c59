"""A ship may be placed again until the fleet is complete, and not for ever (SALVO-PLACE-7).

Each placement is an entry of the signed log, and the lobby's entries are published again when the game begins: after a
flood of 18 seconds that was 15.6 MB for every subscriber.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.proofs import verify
from kit.recovery import SEALERS, LoggedWorld
from kit.stage import Stage
from kit.unbrokered import learn
from salvo.codec.command_writer import write_participation, write_placement
from salvo.messages import Limits, State
from salvo.rules import Orientation, Placement
from salvo_server.core import lobby as lobbies
from simulation import crypto

MOST = 20


@pytest.fixture(autouse=True)
def _economy(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in crypto.DERIVING:
        monkeypatch.setattr(module, "derive_key", crypto.derive_key)


def place(stage: Stage, name: str, x: int = 1, y: int = 1, ship: str = "carrier") -> None:
    placement = Placement(ship, x, y, Orientation.HORIZONTAL)
    stage.say(f"/players/{name}/ships/{ship}/place", write_placement(placement, stage.sealers[name]))


def lobby(times: int = MOST) -> Stage:
    """A lobby in which ann has placed her carrier so often, each time a row further down."""
    stage = Stage(("ann", "bob"), play=False)
    for number in range(times):
        place(stage, "ann", y=number % 10 + 1)
    return stage


def test_a_ship_is_accepted_twenty_times_and_its_last_place_stays() -> None:
    stage = lobby(0)
    for number in range(MOST):
        stage.hush()
        place(stage, "ann", y=number % 10 + 1)
        assert ("/players/ann/ships/carrier/approved", b"true") in stage.heard
    steps = stage.service.last_step
    stage.hush()
    place(stage, "ann", y=5)
    text = b"rate_limited: carrier was placed 20 times, 20 at most; its last place stays"
    assert stage.heard == [
        ("/players/ann/ships/carrier/approved", b"false"),
        ("/players/ann/ships/carrier/error", text),
    ]
    assert stage.edge.retained["/players/ann/ships/carrier/approved"] == b"true"
    last = Placement("carrier", 1, 10, Orientation.HORIZONTAL)
    assert stage.referee.players["ann"].placements == {"carrier": last}
    assert stage.service.last_step == steps + 1  # its nonce is used up, as that of every refusal


def test_what_is_refused_does_not_count() -> None:
    stage = lobby(MOST - 1)
    place(stage, "ann", ship="battleship", y=2)
    for _ in range(10):
        place(stage, "ann", x=9)
        place(stage, "ann", y=2)
    stage.hush()
    place(stage, "ann")
    assert stage.codes() == []


APPROVED = "/players/ann/ships/carrier/approved"


def test_every_refusal_of_a_placement_says_false_and_what_is_kept_stays_true_for_a_ship_in_place() -> None:
    stage = lobby(1)
    for y, ship in enumerate(("battleship", "destroyer", "submarine", "patrolboat"), 2):
        place(stage, "ann", ship=ship, y=y)
    stage.hush()
    place(stage, "ann", y=7)
    assert stage.codes() == ["fleet_final"]
    assert [said for topic, said in stage.heard if topic == APPROVED] == [b"false"]
    for y, ship in enumerate(("carrier", "battleship", "destroyer", "submarine", "patrolboat"), 1):
        place(stage, "bob", ship=ship, y=y)
    stage.hush()
    place(stage, "ann", y=7)
    assert stage.codes() == ["wrong_state"]
    assert [said for topic, said in stage.heard if topic == APPROVED] == [b"false"]
    assert stage.edge.retained[APPROVED] == b"true"


def test_a_message_that_anybody_could_send_does_not_remove_a_placed_ship() -> None:
    stage = lobby(0)
    stage.hush()
    stage.say("/players/ann/ships/carrier/place", b"no blob")
    assert [said for topic, said in stage.heard if topic == APPROVED] == [b"false"]
    stage = lobby(0)
    place(stage, "ann")
    stage.hush()
    stage.say("/players/ann/ships/carrier/place", b"no blob")
    assert stage.codes() == ["blob_not_base64"]
    assert APPROVED not in dict(stage.heard)


def test_an_empty_lobby_says_0_and_an_empty_list_from_the_start_and_after_every_game() -> None:
    stage = Stage((), play=False, limits=Limits(players=2))
    stage.wait(0)  # until the server has heard what the broker retains
    assert [stage.edge.retained[f"/players/{name}"] for name in ("count", "list")] == [b"0", b"[]"]
    stage = Stage(("ann", "bob"))
    for _ in range(20):  # silent turns, then the result
        stage.wait(61)
    assert (stage.referee.state, stage.referee.number) == (State.LOBBY, 2)
    assert [stage.edge.retained[f"/players/{name}"] for name in ("count", "list")] == [b"0", b"[]"]


# --- kept and verified ----------------------------------------------------------------------------------------------


class Lobby(LoggedWorld):
    """A lobby with ann and bob in it, on a journal that outlives its servers."""

    def join(self) -> None:
        for name, sealer in SEALERS.items():
            self.wire.give("/game/request_participation", write_participation(name, f"secret {name}"))
            self.run()
            learn(self.service.gate, name, sealer)

    def place(self, name: str, *placements: Placement) -> None:
        for each in placements:
            blob = write_placement(each, SEALERS[name])
            self.wire.give(f"/players/{name}/ships/{each.ship}/place", blob)
        self.run()

    def again(self, count: int) -> None:
        """Let ann place her carrier so often, at two places by turns."""
        self.place("ann", *(Placement("carrier", 1, number % 2 + 1, Orientation.HORIZONTAL) for number in range(count)))

    def begin(self) -> None:
        """Complete both fleets."""
        ships = ("battleship", "destroyer", "submarine", "patrolboat")
        others = [Placement(ship, 1, y, Orientation.HORIZONTAL) for y, ship in enumerate(ships, 3)]
        self.place("bob", Placement("carrier", 1, 1, Orientation.HORIZONTAL), *others)
        self.place("ann", *others)
        assert self.table.referee.state is State.TURN

    @property
    def placed(self) -> int:
        stage = self.table.referee.stage
        assert isinstance(stage, lobbies.Lobby)
        return stage.players["ann"].placed["carrier"]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Lobby]:
    world = Lobby(tmp_path / "a.journal")
    world.join()
    yield world
    world.journal.close()


def test_a_killed_server_goes_on_counting(world: Lobby) -> None:
    world.again(MOST - 1)
    for _ in range(2):
        world.restart()
        world.again(2)
        assert world.placed == MOST


def test_a_lobby_without_the_bound_comes_out_of_the_journal_as_it_was(
    world: Lobby, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An earlier server wrote it; this one continues the game, and the log verifies."""
    with monkeypatch.context() as before:
        before.setattr(lobbies, "MAX_PLACEMENTS", 1000)
        world.again(3 * MOST)
    world.restart()
    assert world.placed == 3 * MOST
    world.again(1)
    assert world.placed == 3 * MOST
    world.begin()
    world.play()
    world.restart()
    assert world.table.referee.state is State.OVER
    assert verify(world.from_journal()).finding is None


def test_a_game_with_a_refused_flood_is_verified_and_what_is_said_again_is_bounded(world: Lobby) -> None:
    world.again(200)
    world.heard.clear()
    world.begin()
    assert len(world.heard) < 2 * MOST + 20
    world.play()
    assert verify(world.from_journal()).finding is None
