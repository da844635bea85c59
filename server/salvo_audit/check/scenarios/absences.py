"""Broker, server and client go away and come back, in every state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from salvo.wire import topics
from salvo_audit.check.results import Case, Grade
from salvo_audit.check.scenario import scenario
from salvo_audit.check.scenarios.joining import play_on
from salvo_audit.check.scenarios.turns import HARMLESS, judge_count
from salvo_audit.check.stage import Stage
from salvo_server.brokers.embedded.packets import Reason

#: How long a client that is back may take to subscribe again.
_SUBSCRIBING_SECONDS: Final = 20.0
_BACK_CURE: Final = (
    "Connect again, after a second or two, subscribe again to everything, and take what is retained as the present: it "
    "comes in any order."
)


def _back(name: str, when: str, rule: str, cure: str = "") -> Case:
    cure = f"{_BACK_CURE} {cure}".rstrip()
    return Case.of(name, "MQTT-3 BACK-4", f"is a broker that goes away and comes back {when}", rule, cure)


async def _away(
    stage: Stage, case: str, *, sessions: bool = True, meanwhile: Callable[[], None] = lambda: None
) -> None:
    """Be a broker that goes away and comes back, and wait until the client is there with its subscriptions.

    A connection is not ended again before it has any: what a client makes of that is a matter of its library's luck.

    Args:
        meanwhile: what happens at the table until it is back.

    Raises:
        Unreached: it does not come back.
    """
    await stage.delivered()
    stage.door.shut()
    if not sessions:
        stage.door.forget_sessions()
    await stage.until(lambda: False, 0.5)
    meanwhile()
    connections = len(stage.client.guests)
    stage.client.filters = dict(stage.client.filters) if sessions else {}
    await stage.door.open_again()
    await stage.must(
        case, lambda: len(stage.client.guests) > connections, stage.limits.coming_back, "the client connects again"
    )
    await stage.until(lambda: stage.door.has_subscriptions, _SUBSCRIBING_SECONDS)  # judged where it matters
    await stage.quiet()


@scenario(
    _back(
        "back/before-asking",
        "before the team is listed",
        "the client comes back and asks",
        "Ask until /players/list has the name: a request that was on its way is lost.",
    ),
)
async def a_broker_away_before_asking(stage: Stage) -> None:
    stage.table.open()
    stage.table.add_rival("blue")
    stage.answers.takes_requests = False
    await stage.start()
    await _away(stage, "back/before-asking")
    stage.answers.takes_requests = True
    await stage.be_listed("back/before-asking")
    await stage.placed("back/before-asking")


@scenario(
    _back(
        "back/while-placing",
        "after the team is listed",
        "the client comes back, and its fleet is complete",
        "Then place again each ship whose topic .../approved is not true: a placement that was on its way is lost.",
    ),
    _back(
        "back/after-placing",
        "when the fleet is complete",
        "the client comes back and fires in its turn",
    ),
)
async def a_broker_away_in_the_lobby(stage: Stage) -> None:
    await stage.join("blue")
    await _away(stage, "back/while-placing")
    await stage.placed("back/while-placing")
    await _away(stage, "back/after-placing")
    stage.table.begin("blue", stage.team)
    stage.table.rival_turn("blue", stage.team, HARMLESS)
    await stage.own_turn("back/after-placing")


@scenario(
    _back(
        "back/in-rivals-turn",
        "in a rival's turn",
        "the client comes back and fires in its turn",
    ),
    _back(
        "back/in-own-turn",
        "in the client's turn",
        "the client comes back, and fires in this turn or in its next one",
    ),
    _back(
        "back/session-lost",
        "in a rival's turn, without any session",
        "the client subscribes again and fires in its turn",
    ),
    Case.of(
        "back/subscribes-again",
        "MQTT-3",
        "is a broker that comes back without any session",
        "the client subscribes again",
        "Subscribe after every connection, not only after the first.",
    ),
)
async def a_broker_away_in_a_game(stage: Stage) -> None:
    table = stage.table
    await stage.game("blue")
    table.rival_turn("blue", stage.team, HARMLESS)
    await stage.own_turn()
    table.give_turn("blue")
    await _away(stage, "back/in-rivals-turn")
    table.end_turn()
    await stage.own_turn("back/in-rivals-turn")

    table.give_turn("blue")
    await _away(stage, "back/session-lost", sessions=False)
    await stage.must(
        "back/subscribes-again",
        lambda: stage.client.filters,
        stage.limits.coming_back,
        "subscriptions on the new connection, which has no session",
    )
    await stage.delivered()
    table.end_turn()
    await stage.own_turn("back/session-lost")

    table.rival_turn("blue", stage.team, HARMLESS)
    stage.answers.lenient = True
    await stage.fire()
    await _away(stage, "back/in-own-turn")
    table.publish_turn()
    table.end_turn()
    table.rival_turn("blue", stage.team, HARMLESS)
    await stage.quiet()
    await stage.own_turn("back/in-own-turn")


@scenario(
    Case.of(
        "back/when-over",
        "MQTT-3 END-4",
        "is a broker that goes away when the game is over, and comes back with the next lobby",
        "the client comes back and plays the next game, with all of its ships",
        "Forget the last game when the state is lobby: what was cleared while you were away is not repeated.",
    ),
)
async def a_broker_away_when_it_is_over(stage: Stage) -> None:
    await stage.game("blue")
    stage.table.sink("blue", stage.team, "carrier")
    await stage.own_turn()
    await stage.over("blue")
    if stage.ended:
        stage.table.next_lobby()
    else:
        await _away(stage, "back/when-over", meanwhile=stage.table.next_lobby)
    stage.table.add_rival("blue")
    before = len(stage.client.shots)
    await play_on(stage, "back/when-over")
    fired = len(stage.client.shots) - before
    stage.judge("back/when-over", fired % 5 == 0, f"{fired} shots", expected="5 shots: all ships are afloat again")


@scenario(
    Case.of(
        "back/refused-then-admitted",
        "ACCESS-6 BACK-4",
        "is a broker that refuses connections for a while when it comes back, as one does that is not ready",
        "the client comes back",
        "Try again after a refusal if you were admitted before, with growing pauses.",
        grade=Grade.SHOULD,
    ),
    claim="returns",
)
async def a_broker_that_is_not_ready(stage: Stage) -> None:
    await stage.game("blue")
    await stage.delivered()
    stage.door.refusal = Reason.NOT_AUTHORISED
    attempts = len(stage.door.attempts)
    stage.door.cut()
    await stage.must(
        "back/refused-then-admitted", lambda: len(stage.door.attempts) > attempts, stage.limits.coming_back
    )
    stage.door.refusal = None
    connections = len(stage.client.guests)
    await stage.must(
        "back/refused-then-admitted", lambda: len(stage.client.guests) > connections, stage.limits.coming_back
    )


@scenario(
    Case.of(
        "mqtt/takeover-no-war",
        "ACCESS-4",
        "ends the client's connection again and again, as a second program with the same user would",
        "the client waits before it connects again, a second on average",
        "Wait before you connect again, a second at first and longer after each connection that ends at once; set that "
        "in your library, if it connects again by itself. Two programs of one team else push each other out all day.",
        grade=Grade.SHOULD,
    ),
)
async def another_program_of_the_team(stage: Stage) -> None:
    await stage.game("blue")
    await stage.delivered()
    loop_time = stage.door.connections[0].time
    began, first = loop_time(), len(stage.client.guests)
    for number in range(1, 5):
        connections = list(stage.door.connections)
        for connection in connections:
            connection.end(Reason.TAKEN_OVER)
        if not await stage.until(lambda wanted=first + number: len(stage.client.guests) >= wanted, 8.0):  # type: ignore[misc]
            break
    times = [guest.at for guest in stage.client.guests[first:]]
    seconds = loop_time() - began
    fine = len(times) < 4 or seconds >= 3
    stage.judge("mqtt/takeover-no-war", fine, f"{len(times)} connections in {seconds:.1f} s")


@scenario(
    Case.of(
        "back/server-in-lobby",
        "BACK-4 MQTT-5",
        "announces that the server is offline, in the lobby, and then online",
        "the client's fleet is complete, and it fires in its turn",
        "While /game/server is offline nothing is answered; continue when it is online.",
    ),
    Case.of(
        "back/server-in-game",
        "BACK-2 BACK-4",
        "announces that the server is offline in a game, then online, and repeats the turn with a new deadline",
        "the client fires in its turn, and not twice",
        "A turn is known by its game and number; its time begins again.",
    ),
    Case.of(
        "back/paused",
        "BACK-3",
        "announces that the server is paused, because its disk is full, and then online",
        "the client plays on",
        "`paused` is as `offline`: wait.",
    ),
)
async def a_server_away(stage: Stage) -> None:
    table = stage.table
    stage.answers.places = False
    await stage.join("blue")
    await stage.delivered()
    table.publish_server(status="offline")
    await stage.quiet()
    stage.answers.places = True
    table.publish_server(status="online")
    stage.answers.take_up_placements(stage.client.sent(topics.PLACE))
    await stage.placed("back/server-in-lobby")
    table.begin("blue", stage.team)
    table.rival_turn("blue", stage.team, HARMLESS)
    await stage.own_turn("back/server-in-lobby")

    table.give_turn("blue")
    table.publish_server(status="offline")
    await stage.quiet()
    table.publish_server(status="online")
    table.publish_turn()
    table.end_turn()
    await stage.own_turn("back/server-in-game")

    table.give_turn("blue")
    table.publish_server(status="paused")
    await stage.quiet()
    table.publish_server(status="online")
    table.publish_turn()
    await stage.quiet()
    table.end_turn()
    await stage.own_turn("back/paused")


def _orders(*order: str) -> None:
    """Register a scenario for one order of what is retained."""
    name = "-".join(order)
    case = f"back/restart-{name}"

    async def play(stage: Stage) -> None:
        table = stage.table
        _in_a_game(stage)
        table.open()
        table.give_turn(stage.team)
        places = {"state": "/game/state", "list": "/players/list", "current": "/game/current"}
        last = [places[each] for each in order]
        retained = stage.door.retained
        for topic in last:
            retained[topic] = retained.pop(topic)
        stage.answers.lenient = True
        await stage.start()
        await stage.wait_for_salvo(case, 0)
        table.end_turn()

    play.__name__ = f"a_restart_with_{name.replace('-', '_')}"
    scenario(
        Case.of(
            case,
            "MQTT-3 JOIN-7",
            f"lets a client that was started again in its turn receive what is retained in the order {name}",
            "the client fires in this turn",
            "Act when you know state, list and current, whichever of them came last.",
        )
    )(play)


def _in_a_game(stage: Stage, lost: Sequence[str] = ()) -> None:
    """Make up a game that the client has begun, and is started again in."""
    table = stage.table
    table.add_rival("blue")
    player = table.list_player(stage.team)
    for number, ship in enumerate(table.rules["fleet"]):
        table.assign(player, ship, f"1;{2 * number + 1}", "HORIZONTAL")
        table.say(f"/players/{stage.team}/ships/{ship}/approved", "true")
    table.phase = "turn"
    for ship in lost:
        table.sink("blue", stage.team, ship)


for _order in (
    ("state", "list", "current"),
    ("state", "current", "list"),
    ("list", "state", "current"),
    ("list", "current", "state"),
    ("current", "state", "list"),
    ("current", "list", "state"),
):
    _orders(*_order)


@scenario(
    Case.of(
        "back/restart-with-losses",
        "FIRE-3 JOIN-7",
        "starts the client again in a game in which it has lost two ships",
        "the salvo has three shots",
        "What has sunk is retained: apply it before you count.",
    ),
)
async def a_restart_with_losses(stage: Stage) -> None:
    table = stage.table
    _in_a_game(stage, ("carrier", "patrolboat"))
    table.open()
    table.give_turn("blue")
    await stage.start()
    await stage.quiet()
    table.end_turn()
    await stage.own_turn("back/restart-with-losses")
    judge_count(stage, "back/restart-with-losses", 0, 3)


@scenario(
    Case.of(
        "back/restart-in-lobby",
        "JOIN-7 PLACE-7",
        "starts the client again after its fleet was approved, and begins the game",
        "the client fires in its turn",
        "The server has your fleet: a ship that you place again is refused, which does no harm.",
    ),
)
async def a_restart_in_the_lobby(stage: Stage) -> None:
    await stage.join("blue")
    await stage.placed()
    await stage.delivered()
    await stage.kill()
    await stage.launch()
    connections = len(stage.client.guests)
    await stage.must("mqtt/connects", lambda: len(stage.client.guests) > connections, stage.limits.connecting)
    await stage.quiet(3.0)
    stage.table.begin("blue", stage.team)
    stage.table.rival_turn("blue", stage.team, HARMLESS)
    await stage.own_turn("back/restart-in-lobby")


@scenario(
    Case.of(
        "back/restart-with-old-winner",
        "END-4 MQTT-3",
        "starts the client when the last game of others is over, with all that is retained of it, and opens a lobby",
        "the client asks and places a whole fleet",
        "What is retained of a game that you did not play is not yours.",
    ),
)
async def an_old_game_of_others(stage: Stage) -> None:
    table = stage.table
    table.add_rival("blue")
    table.add_rival("green")
    table.phase = "turn"
    table.open()
    for _ in range(2):
        table.sink("blue", "green", "carrier")
    table.give_turn("green")
    table.resolve()
    table.end("green")
    await stage.start()
    await stage.still_there("back/restart-with-old-winner")
    table.next_lobby()
    table.add_rival("blue")
    await play_on(stage, "back/restart-with-old-winner")
