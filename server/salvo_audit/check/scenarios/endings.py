"""How games end, and what a client has to forget then."""

from __future__ import annotations

from salvo_audit.check.results import Case
from salvo_audit.check.scenario import scenario
from salvo_audit.check.scenarios.joining import play_on
from salvo_audit.check.scenarios.turns import HARMLESS
from salvo_audit.check.stage import Stage


async def _lose(stage: Stage, *winners: str) -> None:
    table = stage.table
    await stage.game("blue")
    table.sink("blue", stage.team, "carrier")
    await stage.own_turn()
    await stage.over(*winners)


def _fell(stage: Stage) -> bool:
    return stage.program is not None and bool(stage.program.code)


@scenario(
    Case.of(
        "end/next-game",
        "END-4",
        "opens the next lobby after a game in which the client has lost ships (a client that has ended is started "
        "again)",
        "the client asks, places a whole fleet and fires five shots",
        "Forget sunk ships, defeated players and your fleet when their topics are cleared.",
    ),
    Case.of(
        "read/cleared",
        "END-4",
        "clears the game with empty messages, and opens the next lobby",
        "nothing fails",
        "An empty payload clears the value: it is neither JSON nor a name.",
    ),
)
async def three_games(stage: Stage) -> None:
    await _lose(stage, "blue")
    for number in range(2):
        stage.table.next_lobby()
        stage.table.add_rival("blue")
        await stage.quiet()
        stage.judge("read/cleared", not _fell(stage), stage.ended)
        before = len(stage.client.shots)
        await play_on(stage, "end/next-game")
        fired = len(stage.client.shots) - before
        stage.judge("end/next-game", fired % 5 == 0, f"{fired} shots", expected="5 shots: all ships are afloat again")
        if not number:
            stage.table.sink("blue", stage.team, "submarine")
            await stage.own_turn()
            await stage.over("blue")


async def _ends(stage: Stage, case: str, *winners: str) -> None:
    await _lose(stage, *winners)
    if stage.judge(case, not _fell(stage), stage.ended):
        stage.table.next_lobby()
        stage.table.add_rival("blue")
        await play_on(stage, case)


@scenario(
    Case.of(
        "read/tie",
        "BOOK-8",
        "ends the game with a tie: /game/winner is an array of names",
        "nothing fails",
        "A winner that begins with [ is JSON: the names of those who share the first place.",
    ),
)
async def a_tie(stage: Stage) -> None:
    await _ends(stage, "read/tie", "blue", stage.team)


@scenario(
    Case.of(
        "read/aborted",
        "HOST-5",
        "ends the game without a winner: /game/winner is []",
        "nothing fails",
        "[] is a winner, too: a host has aborted the game.",
    ),
)
async def a_game_without_a_winner(stage: Stage) -> None:
    await _ends(stage, "read/aborted")


@scenario(
    Case.of(
        "end/defeated",
        "TURN-3 END-1",
        "defeats the client while two rivals play on",
        "the client is silent until the next lobby",
        "A player without ships has no turns.",
    ),
)
async def a_defeat(stage: Stage) -> None:
    table = stage.table
    await stage.game("blue", "green")
    own = table.player(stage.team)
    assert own is not None
    table.rival_turn("blue", stage.team, [cell for cells in own.ships.values() for cell in cells])
    for _ in range(2):
        table.rival_turn("green", "blue", HARMLESS)
        table.rival_turn("blue", "green", HARMLESS)
        await stage.quiet()
    stage.judge("end/defeated", not stage.client.shots, f"{len(stage.client.shots)} shots")
    table.end("blue")
    await stage.quiet()
    table.next_lobby()
    table.add_rival("blue")
    await play_on(stage, "end/defeated")
