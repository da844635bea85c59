"""Many players, and players with names that programs stumble over."""

from __future__ import annotations

from salvo_audit.check.results import Case, Grade
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


@scenario(
    Case.of(
        "names/digits",
        "NAME-1 TOPIC-2",
        "has rivals called 2 and 007",
        "the client fires at them, and is silent in their turns",
        "Plain values are texts: do not read /game/current as JSON or as a number.",
    ),
)
async def names_of_digits(stage: Stage) -> None:
    await _plays_against(stage, "names/digits", "2", "007")


@scenario(
    Case.of(
        "names/words",
        "NAME-1 TOPIC-2",
        "has rivals called null, true and NaN",
        "the client fires at them, and is silent in their turns",
        "Plain values are texts: do not read /game/current as JSON.",
    ),
)
async def names_that_are_words_of_json(stage: Stage) -> None:
    await _plays_against(stage, "names/words", "null", "true", "NaN")


@scenario(
    Case.of(
        "names/beginnings",
        "NAME-1 NAME-2",
        "has rivals whose names begin as the client's does",
        "the client is silent in their turns",
        "Compare whole names and whole topic levels.",
    ),
)
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


@scenario(
    Case.of(
        "names/properties",
        "NAME-1",
        "has rivals called constructor, toString and hasOwnProperty",
        "the client fires at them, and is silent in their turns",
        "Keep players in a map, not in an object with a prototype.",
    ),
)
async def names_of_properties(stage: Stage) -> None:
    await _plays_against(stage, "names/properties", "constructor", "toString", "hasOwnProperty")


@scenario(
    Case.of(
        "names/capitals",
        "NAME-2",
        "has rivals with capital letters, _ and -",
        "shots have the names as the list has them",
        "Brokers compare bytes: change no letter of a name.",
    ),
)
async def names_with_capitals(stage: Stage) -> None:
    await _plays_against(stage, "names/capitals", "Rival-One", "The_OTHER")


@scenario(
    Case.of(
        "names/long",
        "NAME-1",
        "gives the client a name of 32 characters, and a rival, too",
        "the client plays",
        "Names have up to 32 characters.",
    ),
    team="a-team-with-a-name-as-long-as-is",
)
async def long_names(stage: Stage) -> None:
    await _plays_against(stage, "names/long", "The-rival-has-a-name-as-long-too")


@scenario(
    Case.of(
        "names/own-digit",
        "NAME-1",
        "gives the client the name 7",
        "the client plays",
        "A name is a text, also if it looks like a number.",
    ),
    team="7",
)
async def a_name_of_one_digit(stage: Stage) -> None:
    await _plays_against(stage, "names/own-digit", "77")


@scenario(
    Case.of(
        "players/three",
        "GAME-1 FIRE-4",
        "plays a game of three, in which one is defeated early",
        "the client plays on until the game is over",
        "A defeat ends the game for the defeated only; /game/winner ends it for all.",
    ),
    Case.of(
        "turn/not-the-defeated",
        "GAME-5",
        "defeats a rival of several",
        "the client fires at those who are left",
        "Read /players/<name>/defeated: nothing is left to hit there.",
        grade=Grade.SHOULD,
    ),
)
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


@scenario(
    Case.of(
        "players/eight",
        "GAME-1 FIRE-4",
        "plays a game of eight",
        "the client fires",
        "Read the list as it is: it has any number of names.",
    ),
)
async def eight_players(stage: Stage) -> None:
    await _plays_against(stage, "players/eight", *(f"rival{number}" for number in range(1, 8)))


@scenario(
    Case.of(
        "players/hundred",
        "GAME-1 JOIN-10",
        "plays a game of a hundred",
        "the client fires",
        "Read messages of any length: this list has 1,300 bytes, and a hundred names.",
    ),
)
async def a_hundred_players(stage: Stage) -> None:
    rivals = [f"rival{number:02}" for number in range(1, 100)]
    await stage.game(*rivals)
    for _ in range(2):
        stage.table.rival_turn(rivals[0], rivals[1], HARMLESS)
        await stage.own_turn("players/hundred")
