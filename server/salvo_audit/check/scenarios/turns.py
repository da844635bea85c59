"""Turns: when the client fires, how often, and how much."""

from __future__ import annotations

from salvo_audit.check.scenario import scenario
from salvo_audit.check.stage import QUIET_SECONDS, Stage

#: Cells of a client's board at which rivals fire when nothing is to sink.
HARMLESS = ((1, 1), (10, 10))


@scenario(
    "turn/count-falls", "turn/count-own-ships", "join/stops-when-listed", "place/no-repeat", "end/no-shot-after-over"
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


@scenario("turn/current-alone", claim="basics")
async def turns_without_additions(stage: Stage) -> None:
    await stage.game("blue")
    for _ in range(2):
        stage.table.rival_turn("blue", stage.team, HARMLESS)
        await stage.own_turn("turn/current-alone", publish_turn=False)


@scenario("turn/refused", "turn/timed-out", "turn/strangers-refusal", "read/unknown-error")
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


@scenario("turn/same-player-again", "turn/announced-again")
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


@scenario("turn/void-rest")
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


@scenario("turn/no-repetition-without-context")
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


@scenario("read/current-twice", "read/late-result")
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


@scenario("read/host-pauses", "read/pause-after-result")
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
