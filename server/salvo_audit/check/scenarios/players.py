"""Many players, and players with names that programs stumble over."""

from __future__ import annotations

from salvo_audit.check.scenario import scenario
from salvo_audit.check.scenarios.turns import HARMLESS
from salvo_audit.check.stage import Stage


async def _plays_against(stage: Stage, case: str, *rivals: str) -> None:
    """Let every rival have a turn before the client's, twice; it has to aim at each of them in the end."""
    table = stage.table
    await stage.game(*rivals)
    for _ in range(2):
        for rival in rivals:
            table.give_turn(rival)
            await stage.quiet(0.2)
            table.end_turn()
        before = len(stage.client.shots)
        await stage.own_turn(case)
        strays = [shot for shot in stage.client.shots[before:] if table.player(shot.player) is None]
        stage.judge(case, not strays, f"a shot at {strays[0].player!r}" if strays else "")


@scenario("names/digits")
async def names_of_digits(stage: Stage) -> None:
    await _plays_against(stage, "names/digits", "2", "007")


@scenario("names/words")
async def names_that_are_words_of_json(stage: Stage) -> None:
    await _plays_against(stage, "names/words", "null", "true", "NaN")


@scenario("names/beginnings")
async def names_that_begin_alike(stage: Stage) -> None:
    await _silent(stage, "names/beginnings", f"{stage.team}2", f"{stage.team}-too", stage.team[:-1])


async def _silent(stage: Stage, case: str, *rivals: str) -> None:
    table = stage.table
    await stage.game(*rivals)
    for rival in rivals:
        before = len(stage.client.shots)
        table.give_turn(rival)
        await stage.quiet()
        strays = stage.client.shots[before:]
        seen = f"a shot in the turn of {rival}"
        stage.judge(case, not strays, seen, publication=strays[0].publication if strays else None)
        table.sink(rival, rivals[0], "patrolboat") if rival != rivals[0] else table.end_turn()
    before = len(stage.client.shots)
    await stage.own_turn(case)
    fired = len(stage.client.shots) - before
    stage.judge(case, fired >= 5, f"{fired} shots", expected="5 shots: no ship of the client has sunk")


@scenario("names/properties")
async def names_of_properties(stage: Stage) -> None:
    await _plays_against(stage, "names/properties", "constructor", "toString", "hasOwnProperty")


@scenario("names/capitals")
async def names_with_capitals(stage: Stage) -> None:
    await _plays_against(stage, "names/capitals", "Rival-One", "The_OTHER")


@scenario("names/long", team="a-team-with-a-name-as-long-as-is")
async def long_names(stage: Stage) -> None:
    await _plays_against(stage, "names/long", "The-rival-has-a-name-as-long-too")


@scenario("names/own-digit", team="7")
async def a_name_of_one_digit(stage: Stage) -> None:
    await _plays_against(stage, "names/own-digit", "77")


@scenario("players/three", "turn/not-the-defeated")
async def three_players(stage: Stage) -> None:
    table = stage.table
    await stage.game("blue", "green")
    blue = table.player("blue")
    assert blue is not None
    table.rival_turn("green", "blue", [cell for cells in blue.ships.values() for cell in cells])
    await stage.delivered()
    await stage.own_turn("players/three")
    table.rival_turn("green", stage.team, HARMLESS)
    await stage.own_turn("players/three")
    stage.judge("turn/not-the-defeated", True, "")
    await stage.over(stage.team)


@scenario("players/eight")
async def eight_players(stage: Stage) -> None:
    await _plays_against(stage, "players/eight", *(f"rival{number}" for number in range(1, 8)))


@scenario("players/hundred")
async def a_hundred_players(stage: Stage) -> None:
    rivals = [f"rival{number:02}" for number in range(1, 100)]
    await stage.game(*rivals)
    for _ in range(2):
        stage.table.rival_turn(rivals[0], rivals[1], HARMLESS)
        await stage.own_turn("players/hundred")
