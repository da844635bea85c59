"""A ship may be placed again until the fleet is complete, and not for ever (SALVO-PLACE-7).

Each placement is an entry of the signed log, and the lobby's entries are published again when the game begins: after a
flood of 18 seconds that was 15.6 MB for every subscriber.
"""

from __future__ import annotations

from kit.stage import Stage
from salvo.codec.command_writer import write_placement
from salvo.messages import Limits, State
from salvo.rules import Orientation, Placement

MOST = 20


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
        assert ("/players/ann/ships/carrier/approved", b"true") in stage.received
    steps = stage.service.last_step
    stage.hush()
    place(stage, "ann", y=5)
    text = b"rate_limited: carrier was placed 20 times, 20 at most; its last place stays"
    assert stage.received == [
        ("/players/ann/ships/carrier/approved", b"false"),
        ("/players/ann/ships/carrier/error", text),
    ]
    assert stage.edge.retained["/players/ann/ships/carrier/approved"] == b"true"
    last = Placement("carrier", 1, 10, Orientation.HORIZONTAL)
    assert stage.referee.players["ann"].placements == {"carrier": last}
    assert stage.service.last_step == steps + 1  # its nonce is used up, as that of every refusal


APPROVED = "/players/ann/ships/carrier/approved"


def test_a_change_that_the_rules_refuse_leaves_the_ship_approved_where_it_was() -> None:
    """Who came later read `false` of a ship that was placed."""
    stage = lobby(1)
    stage.hush()
    place(stage, "ann", x=9)
    assert [payload for topic, payload in stage.received if topic == APPROVED] == [b"false"]
    assert stage.edge.retained[APPROVED] == b"true"
    place(stage, "bob", x=9)
    assert stage.edge.retained[APPROVED.replace("ann", "bob")] == b"false"  # of a ship that has no place


def test_a_message_that_anybody_could_send_does_not_remove_a_placed_ship() -> None:
    stage = lobby(0)
    stage.hush()
    stage.say("/players/ann/ships/carrier/place", b"no blob")
    assert [payload for topic, payload in stage.received if topic == APPROVED] == [b"false"]
    stage = lobby(0)
    place(stage, "ann")
    stage.hush()
    stage.say("/players/ann/ships/carrier/place", b"no blob")
    assert stage.codes() == ["blob_not_base64"]
    assert APPROVED not in dict(stage.received)


def test_an_empty_lobby_publishes_count_0_and_an_empty_list_also_after_a_game() -> None:
    stage = Stage((), play=False, limits=Limits(players=2))
    stage.wait(0)  # until the server has heard what the broker retains
    assert [stage.edge.retained[f"/players/{name}"] for name in ("count", "list")] == [b"0", b"[]"]
    stage = Stage(("ann", "bob"))
    for _ in range(20):  # silent turns, then the result
        stage.wait(61)
    assert (stage.referee.state, stage.referee.number) == (State.LOBBY, 2)
    assert [stage.edge.retained[f"/players/{name}"] for name in ("count", "list")] == [b"0", b"[]"]
