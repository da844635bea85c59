"""Turns: when the client fires, how often, and how much."""

from __future__ import annotations

from salvo_audit.check.results import Case
from salvo_audit.check.scenario import scenario
from salvo_audit.check.stage import QUIET_SECONDS, Stage

#: Cells of a client's board at which rivals fire when nothing is to sink.
HARMLESS = ((1, 1), (10, 10))


@scenario(
    Case.of(
        "turn/count-falls",
        "FIRE-3 TOPIC-4",
        "sinks ships of the client one by one",
        "each salvo has one shot less",
        "Apply what comes before /game/current before you count: ships that sank in the turn before have no shot.",
    ),
    Case.of(
        "turn/count-own-ships",
        "FIRE-3",
        "announces that a rival's ship has sunk",
        "the client's salvo has as many shots as before",
        "Count your own ships only.",
    ),
    Case.of(
        "join/stops-when-listed",
        "JOIN-16",
        "lists the team and waits",
        "a listed team stops asking",
        "End the repetition once /players/list has the name.",
    ),
    Case.of(
        "place/no-repeat",
        "PLACE-7",
        "approves the fleet and waits",
        "an approved fleet is not placed again",
        "A complete fleet is final; place once after you are listed.",
    ),
    Case.of(
        "end/no-shot-after-over",
        "END-1 FIRE-12",
        "ends games",
        "no shot comes when the game is over",
        "Stop when /game/winner or the state over has come.",
    ),
)
async def a_whole_game(stage: Stage) -> None:
    table = stage.table
    await stage.join("blue")
    await stage.placed()
    await stage.quiet()
    requests, placements = len(stage.client.commands), len(table.rules["fleet"])
    table.list_player("passer-by")
    table.drop_player("passer-by")
    await stage.quiet(4.0)
    more = stage.client.commands[requests:]
    stage.judge("join/stops-when-listed", not any("participation" in each.kind for each in more), "another request")
    stage.judge("place/no-repeat", not any(each.kind == "place" for each in more), f"more than {placements} placements")
    table.begin("blue", stage.team)
    table.rival_turn("blue", stage.team, HARMLESS)
    blue = table.player("blue")
    assert blue is not None
    await stage.fire()
    table.fired = [("blue", cell) for cell in (*blue.ships["battleship"], (10, 10))]
    table.end_turn()  # a ship sinks while /game/current has the client's name
    await stage.quiet()
    for number, ship in enumerate(("patrolboat", "carrier", "destroyer")):
        salvo = table.sink("blue", stage.team, ship)
        assert salvo.sunk
        before = len(stage.client.shots)
        await stage.own_turn()
        judge_count(stage, "turn/count-falls", before, 4 - number)
    table.give_turn("blue")
    table.current = stage.team
    table.fired = [("blue", cell) for cell in blue.ships["submarine"]]
    table.announce(table.resolve())
    before = len(stage.client.shots)
    await stage.own_turn()
    judge_count(stage, "turn/count-own-ships", before, 2)
    await stage.over("blue")


def judge_count(stage: Stage, case: str, before: int, expected: int) -> None:
    """Judge the shots of a turn; a client whose shots have contexts may send a whole salvo again (SALVO-FIRE-13)."""
    fired = len(stage.client.shots) - before
    contexts = any(shot.body and "g" in shot.body for shot in stage.client.shots)
    fine = fired == expected or (contexts and fired % expected == 0)
    stage.judge(case, fine, f"{fired} shots", expected=f"{expected} shots")


@scenario(
    Case.of(
        "turn/current-alone",
        "TURN-4",
        "announces turns on /game/current only, as a server without additions does",
        "the client fires",
        "Do not wait for /game/turn: it is an addition.",
    ),
    claim="basics",
)
async def turns_without_additions(stage: Stage) -> None:
    await stage.game("blue")
    for _ in range(2):
        stage.table.rival_turn("blue", stage.team, HARMLESS)
        await stage.own_turn("turn/current-alone", publish_turn=False)


@scenario(
    Case.of(
        "turn/refused",
        "FIRE-6 ERR-1",
        "refuses the shots of a turn with not_your_turn, and gives the client its next turn later",
        "the client stops, and fires in its next turn",
        "Wait for the next time that /game/current is your name.",
    ),
    Case.of(
        "turn/timed-out",
        "TURN-5 ERR-1",
        "ends the client's turn with turn_timeout, and gives it the next one later",
        "the client fires in its next turn",
        "turn_timeout costs the shots of one turn, and nothing else.",
    ),
    Case.of(
        "turn/strangers-refusal",
        "ERR-2 SEAL-8",
        "lets the client read refusals of shots that a stranger has forged in its name",
        "the client plays on, with a whole salvo in its turn",
        "An error out of your turn is not about you.",
    ),
    Case.of(
        "read/unknown-error",
        "ERR-1 VERSION-2",
        "sends an error with a new code",
        "the client plays on",
        "An error is `<code>: <sentence>`; a code that you do not know needs no answer.",
    ),
)
async def refusals(stage: Stage) -> None:
    table = stage.table
    await stage.game("blue")
    table.rival_turn("blue", stage.team, HARMLESS)
    stage.answers.lenient = True
    stage.answers.refuses = lambda command: "not_your_turn" if command.kind == "fire" else ""
    await stage.fire("turn/refused")
    table.resolve()
    await stage.settled()
    before = len(stage.client.shots)
    await stage.quiet()
    stage.judge("turn/refused", len(stage.client.shots) == before, f"{len(stage.client.shots) - before} more shots")
    stage.answers.refuses = lambda command: ""
    table.publish_result(table.salvos[-1])
    table.rival_turn("blue", stage.team, HARMLESS)
    await stage.own_turn("turn/refused")

    table.give_turn("blue")
    table.error(stage.team, "solar_flare", "a code of a later version")
    await stage.still_there("read/unknown-error")
    for code in ("nonce_reused", "not_your_turn", "rate_limited", "unknown_target"):
        table.error(stage.team, code, "of a message that a stranger has sent")
    await stage.still_there("turn/strangers-refusal")
    table.end_turn()
    await stage.own_turn("turn/strangers-refusal")

    table.rival_turn("blue", stage.team, HARMLESS)
    table.give_turn(stage.team)
    table.fired.clear()
    stage.answers.counts = False
    table.error(stage.team, "turn_timeout", "5 shots are lost")
    table.end_turn()
    table.rival_turn("blue", stage.team, HARMLESS)
    await stage.quiet()
    stage.answers.counts, stage.answers.lenient = True, False
    await stage.own_turn("turn/timed-out")


@scenario(
    Case.of(
        "turn/same-player-again",
        "TURN-3 BOOK-2",
        "gives the client two turns in a row, because the rival between them has fallen",
        "the client fires in both",
        "Every message on /game/current is a turn, also if it has your name again.",
    ),
    Case.of(
        "turn/announced-again",
        "BACK-2",
        "announces the same turn again with a new deadline, when the salvo is fired",
        "no shot comes that was not fired before",
        "A turn is known by its game and number; fire once for each.",
    ),
)
async def turns_in_a_row(stage: Stage) -> None:
    table = stage.table
    await stage.game("blue", "green")
    table.rival_turn("blue", stage.team, HARMLESS)
    await stage.own_turn()
    await stage.own_turn("turn/same-player-again")
    table.rival_turn("blue", "green", HARMLESS)
    await stage.fire()
    before = {(shot.player, str(shot.body and (shot.body["x"], shot.body["y"]))) for shot in stage.client.shots}
    stage.answers.lenient = True
    table.publish_turn()
    await stage.quiet()
    new = [
        shot
        for shot in stage.client.shots
        if shot.body and (shot.player, str((shot.body["x"], shot.body["y"]))) not in before
    ]
    stage.judge(
        "turn/announced-again", not new, f"{len(new)} new shots", publication=new[0].publication if new else None
    )


@scenario(
    Case.of(
        "turn/void-rest",
        "FIRE-12",
        "ends the game in the middle of the client's salvo",
        "nothing fails, and no shot comes after the winner",
        "What was sent before the winner came is void, and is not answered.",
    ),
)
async def a_game_that_ends_in_a_salvo(stage: Stage) -> None:
    table = stage.table
    await stage.game("blue")
    table.rival_turn("blue", stage.team, HARMLESS)
    blue = table.player("blue")
    assert blue is not None
    stage.answers.lenient = True
    stage.answers.counts = False
    before = len(stage.client.shots)
    table.give_turn(stage.team)
    await stage.must(
        "turn/fires-when-current", lambda: len(stage.client.shots) > before, stage.limits.firing, "a shot in its turn"
    )
    table.land("blue", (1, 1))
    table.fired = [("blue", cell) for cells in blue.ships.values() for cell in cells]
    table.end_turn()
    table.end(stage.team)
    await stage.delivered()
    before = len(stage.client.shots)
    await stage.quiet()
    fine = len(stage.client.shots) == before and not (stage.program is not None and stage.program.code)
    stage.judge("turn/void-rest", fine, stage.ended or f"{len(stage.client.shots) - before} shots after the winner")


@scenario(
    Case.of(
        "turn/no-repetition-without-context",
        "FIRE-13",
        "announces nothing about the client's salvo for some seconds",
        "shots without game, turn, number and target do not come again",
        "A shot without a context must not be sent again: it would be another shot.",
    ),
)
async def a_salvo_without_a_word(stage: Stage) -> None:
    await stage.game("blue")
    stage.table.rival_turn("blue", stage.team, HARMLESS)
    await stage.fire()
    if any(shot.body and "g" in shot.body for shot in stage.client.shots):
        stage.results.not_applicable("turn/no-repetition-without-context", "the client's shots have a context")
        return
    before = len(stage.client.shots)
    await stage.quiet(6.0)
    again = len(stage.client.shots) - before
    stage.judge("turn/no-repetition-without-context", not again, f"{again} more shots")
    stage.answers.lenient = True
    stage.table.end_turn()


@scenario(
    Case.of(
        "read/current-twice",
        "FIRE-6 MQTT-2",
        "delivers /game/current twice",
        "the client fires in this turn and in its next one, with the right number of shots",
        "Shots beyond the salvo are refused, which does no harm.",
    ),
    Case.of(
        "read/late-result",
        "FIRE-11 MQTT-3",
        "repeats the result and the hits of an old turn in the client's next turn",
        "the client fires a whole salvo",
        "A result belongs to the turn that it names.",
    ),
)
async def old_news_in_a_turn(stage: Stage) -> None:
    table = stage.table
    await stage.game("blue")
    table.rival_turn("blue", stage.team, HARMLESS)
    await stage.own_turn()
    stage.answers.lenient = True
    table.rival_turn("blue", stage.team, HARMLESS)
    table.give_turn(stage.team)
    before = len(stage.client.shots)
    table.say("/game/current", stage.team)
    await stage.wait_for_salvo("read/current-twice", before)
    table.end_turn()
    table.sink("blue", stage.team, "patrolboat")
    await stage.quiet()
    stage.answers.lenient = False
    before = len(stage.client.shots)
    await stage.own_turn("read/current-twice")
    judge_count(stage, "read/current-twice", before, 4)

    table.rival_turn("blue", stage.team, HARMLESS)
    old = table.salvos[1]
    before = len(stage.client.shots)
    table.give_turn(stage.team)
    table.say("/game/hits", str(old.hits), retain=False)
    table.publish_result(old)
    await stage.wait_for_salvo("read/late-result", before)
    judge_count(stage, "read/late-result", before, 4)
    table.end_turn()


@scenario(
    Case.of(
        "read/host-pauses",
        "HOST-2 HOST-4",
        "lets a host pause the table, announce a line, and resume it",
        "the client is silent, and fires when it is its turn",
        "/game/hosted changes nothing that a client has to do.",
    ),
    Case.of(
        "read/pause-after-result",
        "PACE-2 PACE-3",
        "makes a pause after each result, in which /game/current has the last player",
        "the client fires only when its turn begins",
        "A turn that has a result is over.",
    ),
)
async def pauses(stage: Stage) -> None:
    table = stage.table
    await stage.game("blue")
    table.rival_turn("blue", stage.team, HARMLESS)
    await stage.own_turn()
    await stage.quiet(2 * QUIET_SECONDS)
    stage.judge("read/pause-after-result", True, "")
    table.say("/game/hosted", {"by": "desk", "do": "pause", "paused": True})
    await stage.quiet(2 * QUIET_SECONDS)
    table.say("/game/hosted", {"by": "desk", "do": "announce", "text": "Pizza is here: /game/current", "paused": True})
    await stage.still_there("read/host-pauses")
    table.say("/game/hosted", {"by": "desk", "do": "resume"})
    table.rival_turn("blue", stage.team, HARMLESS)
    await stage.own_turn("read/pause-after-result")
    stage.judge("read/host-pauses", True, "")
