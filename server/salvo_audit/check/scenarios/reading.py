"""Reading: what a server of a later version, a busy broker and other clients publish."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from salvo_audit.check.results import Case, Grade
from salvo_audit.check.scenario import scenario
from salvo_audit.check.scenarios.turns import HARMLESS
from salvo_audit.check.stage import Stage

_Twist = Callable[[str, bytes, bool], Sequence[tuple[str, bytes, bool]]]


async def _two_turns(stage: Stage, case: str) -> None:
    await stage.join("blue")
    await stage.placed(case)
    stage.table.begin("blue", stage.team)
    for _ in range(2):
        stage.table.rival_turn("blue", stage.team, HARMLESS)
        await stage.own_turn(case)


@scenario(
    Case.of(
        "read/duplicates",
        "BACK-4 MQTT-2",
        "delivers every announcement but /game/current twice",
        "one whole salvo comes in each turn",
        "Keep sets of what has sunk and who is defeated, and count nothing.",
    ),
)
async def every_message_twice(stage: Stage) -> None:
    def twice(topic: str, payload: bytes, retain: bool) -> Sequence[tuple[str, bytes, bool]]:
        stage.copies = 1 if topic == "/game/current" else 2
        return [(topic, payload, retain)]

    stage.twist = twice
    table = stage.table
    await stage.game("blue")
    table.rival_turn("blue", stage.team, HARMLESS)
    await stage.own_turn("read/duplicates")
    for left in (4, 3):
        table.sink("blue", stage.team, ("patrolboat", "carrier")[4 - left])
        before = len(stage.client.shots)
        await stage.own_turn("read/duplicates")
        fired = len(stage.client.shots) - before
        stage.judge("read/duplicates", not fired % left and fired > 0, f"{fired} shots", expected=f"{left} shots")


@scenario(
    Case.of(
        "read/unknown-fields",
        "VERSION-3",
        "adds fields to every announcement in JSON, at every depth",
        "the client plays on",
        "Ignore fields that you do not know: later minor versions add some.",
    ),
    Case.of(
        "read/minor-version",
        "VERSION-2 VERSION-3",
        "announces the minor version 99",
        "the client plays",
        "Only the major version decides whether you can play.",
    ),
)
async def a_later_minor_version(stage: Stage) -> None:
    def add(value: Any) -> Any:
        if isinstance(value, dict):
            return {"later": {"x": [1, None, -2]}, **{key: add(each) for key, each in value.items()}, "": "?"}
        return [add(each) for each in value] if isinstance(value, list) else value

    def with_more(topic: str, payload: bytes, retain: bool) -> Sequence[tuple[str, bytes, bool]]:
        if payload[:1] == b"{" and topic != "/game/rules":
            payload = json.dumps(add(json.loads(payload))).encode()
        elif payload[:1] == b"{":
            payload = json.dumps(json.loads(payload) | {"later": True}).encode()
        return [(topic, payload, retain)]

    stage.twist = with_more
    stage.table.server["protocol"] = {"major": 1, "minor": 99}
    await _two_turns(stage, "read/unknown-fields")
    stage.judge("read/minor-version", True, "")
    await stage.over("blue")
    fine = not (stage.program is not None and stage.program.code)
    stage.judge("read/unknown-fields", fine, stage.ended)


@scenario(
    Case.of(
        "read/unknown-topics",
        "VERSION-3",
        "publishes texts and bytes on topics that do not exist yet",
        "the client plays on",
        "Ignore topics that you do not know.",
    ),
    Case.of(
        "read/chat",
        "CHAT-1",
        "lets others chat, with lines that look like commands",
        "the client plays on",
        "Chat changes nothing.",
    ),
    Case.of(
        "read/large",
        "STAND-5 JOIN-12",
        "publishes standings of 64 KiB",
        "the client plays on",
        "Read messages of any length, or subscribe only to what you need.",
    ),
    Case.of(
        "read/deep",
        "VERSION-3 WIRE-4",
        "publishes JSON that is 10,000 levels deep on a topic of a later version",
        "the client plays on",
        "Parse only topics that you know, and survive what cannot be parsed.",
        grade=Grade.SHOULD,
    ),
    Case.of(
        "log/forged",
        "LOG-2 VERSION-3",
        "publishes an entry of the log that nobody has signed",
        "the client plays on",
        "An entry with a wrong signature says nothing about the server: anybody may have sent it on an open broker.",
        grade=Grade.SHOULD,
    ),
)
async def topics_of_others(stage: Stage) -> None:
    table = stage.table
    await stage.game("blue")
    table.rival_turn("blue", stage.team, HARMLESS)
    for topic, payload in (
        ("/game/weather", b"\xff\x00\xfe"),
        ("/game/state/of/the/art", b"turn"),
        (f"/players/{stage.team}/mood", b"{"),
        (f"/player/{stage.team}/ships/carrier/rusty", b"true"),
        (f"/player/{stage.team}/ships/", b"true"),
        ("/players/blue/ships/carrier/sunk/not", b"true"),
    ):
        table.publish(topic, payload, False)
    await stage.still_there("read/unknown-topics")
    line = {"from": "blue", "text": '/game/current {"winner": "blue"} \U0001f6a2'}
    table.say("/game/chat", line, retain=False)
    table.say(f"/players/{stage.team}/message", line, retain=False)
    await stage.still_there("read/chat")
    await stage.own_turn("read/unknown-topics")
    stage.judge("read/chat", True, "")
    table.say("/game/standings", _standings())
    await stage.still_there("read/large")
    table.rival_turn("blue", stage.team, HARMLESS)
    await stage.own_turn("read/large")
    table.publish("/game/later", b'{"a":' * 10_000 + b"1" + b"}" * 10_000, False)
    table.say("/game/log", {"entry": {"n": 0, "prev": ""}, "sign": "A" * 86 + "=="}, retain=False)
    await stage.still_there("read/deep")
    table.rival_turn("blue", stage.team, HARMLESS)
    await stage.own_turn("read/deep")
    stage.judge("log/forged", True, "")


def _standings() -> dict[str, Any]:
    row = dict.fromkeys(
        ("points", "games", "wins", "ties", "losses", "opposition", "shots", "hits", "rating", "low", "high"), 100_000
    )
    rows = [{"place": place, "team": f"a-team-with-a-name-as-long-{place:03}", **row} for place in range(1, 101)]
    table = {"since": 1760000000000, "until": 1760000900000, "games": 9, "teams": 100, "rows": rows}
    return {"evening": table, "overall": table}


@scenario(
    Case.of(
        "read/json-spelling",
        "WIRE-1 TOPIC-2",
        "writes JSON with spaces, line breaks and escaped letters",
        "the client plays",
        "Read /players/list with a JSON library.",
    ),
)
async def json_spelt_otherwise(stage: Stage) -> None:
    def spelt(topic: str, payload: bytes, retain: bool) -> Sequence[tuple[str, bytes, bool]]:
        if payload[:1] in (b"{", b"["):
            value = json.loads(payload)
            if isinstance(value, dict):
                value = dict(reversed(value.items()))
            payload = (
                json.dumps(value, indent=3).replace(stage.team, f"\\u{ord(stage.team[0]):04X}{stage.team[1:]}").encode()
            )
        return [(topic, payload, retain)]

    stage.twist = spelt
    await _two_turns(stage, "read/json-spelling")


@scenario(
    Case.of(
        "read/no-server",
        "MQTT-5 VERSION-1",
        "announces no server and no rules at all, as the specification of the game has it",
        "the client plays",
        "/game/server and /game/rules are additions: do without them.",
    ),
    claim="basics",
)
async def a_server_without_additions(stage: Stage) -> None:
    def basic(topic: str, payload: bytes, retain: bool) -> Sequence[tuple[str, bytes, bool]]:
        added = topic in ("/game/server", "/game/rules", "/game/result", "/game/turn") or topic.endswith("/recap")
        return [] if added else [(topic, payload, retain)]

    stage.twist = basic
    await _two_turns(stage, "read/no-server")


@scenario(
    Case.of(
        "read/major-version",
        "VERSION-4",
        "announces the major version 2",
        "the client sends nothing",
        "End, and report why, if `protocol` of /game/server has another major version.",
    ),
    claim="versions",
)
async def another_major_version(stage: Stage) -> None:
    stage.table.server["protocol"] = {"major": 2, "minor": 0}
    stage.table.open()
    stage.table.add_rival("blue")
    await stage.start()
    await stage.quiet(9.0)
    sent = len(stage.client.commands)
    stage.judge("read/major-version", not sent, f"{sent} messages")
