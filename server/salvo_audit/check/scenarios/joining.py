"""Joining and placing: what a client does until its fleet is complete, and when it is refused."""

from __future__ import annotations

from salvo.wire import topics
from salvo_audit.check.results import Case, Grade
from salvo_audit.check.scenario import scenario
from salvo_audit.check.scenarios.turns import HARMLESS
from salvo_audit.check.stage import Stage


async def play_on(stage: Stage, case: str) -> None:
    """Come from a lobby to the client's first salvo, started again if it ended when its last game was over."""
    if stage.program is not None and stage.program.code == 0:
        await stage.kill()
        await stage.launch()
    await stage.be_listed(case)
    await stage.placed(case)
    rivals = [name for name in stage.table.names if name != stage.team]
    stage.table.begin(*rivals, stage.team)
    stage.table.rival_turn(rivals[0], stage.team, HARMLESS)
    await stage.own_turn(case)


@scenario(
    Case.of(
        "join/repeats",
        "JOIN-16",
        "loses the first two requests",
        "the client asks again, every 3 to 8 seconds",
        "Repeat the request until /players/list has the name: a full broker loses even what it has acknowledged.",
        grade=Grade.SHOULD,
    ),
)
async def a_request_that_is_lost(stage: Stage) -> None:
    stage.answers.takes_requests = False
    stage.table.open()
    stage.table.add_rival("blue")
    await stage.start()

    def requests() -> list[float]:
        return [each.at for each in stage.client.sent(topics.REQUEST_PARTICIPATION)]

    await stage.must("join/asks", lambda: len(requests()) >= 1, stage.limits.asking)
    await stage.must("join/repeats", lambda: len(requests()) >= 3, stage.limits.asking, "a third request")
    times = requests()
    gap = (times[2] - times[0]) / 2
    stage.judge("join/repeats", gap > 1, f"a request every {gap:.1f} s", expected="3 to 8 seconds between two requests")
    stage.table.list_player(stage.team)
    await stage.placed()


@scenario(
    Case.of(
        "join/in-lobby-only",
        "JOIN-9 GAME-6",
        "lets others play when the client comes, and opens a lobby afterwards",
        "the client stops asking during the game, and asks in the lobby",
        "Ask in state lobby: during a game new teams are refused.",
    ),
)
async def a_game_of_others(stage: Stage) -> None:
    table = stage.table
    for name in ("blue", "green"):
        table.add_rival(name)
    table.phase = "turn"
    table.open()
    table.give_turn("blue")
    await stage.start()
    await stage.quiet(9.0)
    asked = len(stage.client.sent(topics.REQUEST_PARTICIPATION))
    stage.judge("join/in-lobby-only", asked < 2, f"{asked} requests during the game", expected="no request, or one")
    table.end_turn()
    table.end("blue")
    table.next_lobby()
    table.add_rival("blue")
    await play_on(stage, "join/in-lobby-only")


@scenario(
    Case.of(
        "join/name-taken",
        "JOIN-8 ERR-1",
        "answers the request with name_taken",
        "the client places and fires nothing",
        "Wait for the list: a team that is not in it plays no game.",
    ),
)
async def a_name_that_is_taken(stage: Stage) -> None:
    stage.answers.refuses = lambda command: "name_taken" if command.kind == topics.REQUEST_PARTICIPATION.name else ""
    stage.table.open()
    stage.table.list_player("Red" if stage.team != "Red" else "red")
    await stage.start()
    await stage.must("join/asks", lambda: stage.client.sent(topics.REQUEST_PARTICIPATION), stage.limits.asking)
    await stage.quiet(4.0)
    others = [each for each in stage.client.commands if each.kind != topics.REQUEST_PARTICIPATION.name]
    seen = f"{len(others)} other messages"
    stage.judge("join/name-taken", not others, seen, publication=others[0].publication if others else None)


@scenario(
    Case.of(
        "join/stranger-refused",
        "JOIN-8 ERR-7",
        "lets listed client read name_taken, and an error on /game/error, both of another's request",
        "the client plays on",
        "Ignore name_taken once the list has your name, and /game/error if you did not just ask.",
    ),
    Case.of(
        "place/refused-late",
        "PLACE-9",
        "refuses a ship of the complete fleet with fleet_final, unretained",
        "the client does not place again",
        "fleet_final means that the server has your fleet.",
        grade=Grade.SHOULD,
    ),
)
async def a_refusal_of_another_client(stage: Stage) -> None:
    table = stage.table
    await stage.join("blue")
    await stage.placed()
    table.error(stage.team, "name_taken", "another team has this name")
    table.say("/game/error", "not_json: the payload is not JSON", retain=False)
    await stage.still_there("join/stranger-refused")
    before = len(stage.client.sent(topics.PLACE))
    player = table.player(stage.team)
    assert player is not None
    table.refuse_ship(player, "carrier", "fleet_final", retain=False)
    await stage.still_there("place/refused-late")
    again = stage.client.sent(topics.PLACE)[before:]
    stage.judge("place/refused-late", not again, f"{len(again)} placements")
    table.begin("blue", stage.team)
    table.rival_turn("blue", stage.team, HARMLESS)
    await stage.own_turn("join/stranger-refused")


@scenario(
    Case.of(
        "join/table-full",
        "JOIN-11",
        "answers the request with table_full, and opens the next lobby after a game of others",
        "the client asks again in the next lobby",
        "Stay subscribed: ask whenever /game/state becomes lobby.",
        grade=Grade.SHOULD,
    ),
)
async def a_full_table(stage: Stage) -> None:
    table = stage.table
    table.open()
    for name in ("blue", "green"):
        table.add_rival(name)
    stage.answers.refuses = lambda command: "table_full" if command.kind == topics.REQUEST_PARTICIPATION.name else ""
    await stage.start()
    await stage.must("join/asks", lambda: stage.client.sent(topics.REQUEST_PARTICIPATION), stage.limits.asking)
    table.begin("blue", "green")
    table.give_turn("blue")
    await stage.still_there("join/table-full")
    table.end_turn()
    table.end("blue")
    stage.answers.refuses = lambda command: ""
    table.next_lobby()
    table.add_rival("blue")
    await play_on(stage, "join/table-full")


@scenario(
    Case.of(
        "join/after-timeout",
        "JOIN-5",
        "takes the listed team from the list with placement_timeout, and opens the next lobby",
        "the client asks again in the next lobby and places a whole fleet",
        "Forget the fleet when the list has lost your name.",
        grade=Grade.SHOULD,
    ),
)
async def a_team_that_was_too_late(stage: Stage) -> None:
    table = stage.table
    stage.answers.places = False
    await stage.join("blue", "green")
    await stage.must("place/all-ships", lambda: stage.client.sent(topics.PLACE), stage.limits.placing)
    table.drop_player(stage.team)
    table.begin("blue", "green")
    table.error(stage.team, "placement_timeout", "the fleet was not complete in time")
    table.give_turn("blue")
    await stage.still_there("join/after-timeout")
    table.end_turn()
    table.end("blue")
    stage.answers.places = True
    table.next_lobby()
    table.add_rival("blue")
    await play_on(stage, "join/after-timeout")


@scenario(
    Case.of(
        "seal/secret-in-utf8",
        "SEAL-2",
        "gives the client a secret with letters beyond ASCII",
        "the key is derived from the secret's UTF-8, not normalised",
        "Encode the secret as UTF-8 once, and derive the key from these bytes.",
    ),
    secret="kuckuck-\u00e9-\u65e5\u672c-e\u0301",
)
async def a_secret_in_utf8(stage: Stage) -> None:
    await _opens(stage, "seal/secret-in-utf8")


@scenario(
    Case.of(
        "seal/long-secret",
        "JOIN-3 SEAL-2",
        "gives the client a secret of 256 characters",
        "the key is derived from the whole secret",
        "Do not cut the secret: it has up to 256 characters.",
    ),
    secret="0123456789abcdef" * 16,
)
async def a_long_secret(stage: Stage) -> None:
    await _opens(stage, "seal/long-secret")


async def _opens(stage: Stage, case: str) -> None:
    await stage.join("blue")
    await stage.must(
        "place/all-ships",
        lambda: any(command.opened is not None for command in stage.client.commands),
        stage.limits.placing,
    )
    blob = next(each for each in stage.client.commands if each.opened is not None)
    stage.judge(case, bool(blob.opened), "a blob that does not open", publication=blob.publication)
