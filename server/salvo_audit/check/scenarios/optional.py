"""Additions that a client may leave out, and has to do right if it claims them."""

from __future__ import annotations

import base64
import hashlib
import json

import nacl.public
import nacl.signing

from salvo.wire import topics
from salvo_audit.check import keys
from salvo_audit.check.results import Case
from salvo_audit.check.scenario import scenario
from salvo_audit.check.scenarios.absences import _in_a_game
from salvo_audit.check.scenarios.turns import HARMLESS
from salvo_audit.check.stage import Stage, Unreached


def announce_keys(stage: Stage, number: int = 1, *, sign: int = 1) -> None:
    """Give the server a key to sign with and one to seal for; the same numbers are the same keys."""
    signing = bytes(nacl.signing.SigningKey(bytes([sign]) * 32).verify_key)
    sealing = nacl.public.PrivateKey(bytes([100 + number]) * 32)
    stage.client.seal_requests(bytes(sealing))
    published = {"sign": signing, "seal": bytes(sealing.public_key)}
    stage.table.server["keys"] = {name: base64.b64encode(key).decode() for name, key in published.items()}


@scenario(
    Case.of(
        "join/sealed",
        "IDENT-4 IDENT-5",
        "announces a key `seal` in /game/server",
        "the request is canonical base64 of a crypto_box_seal for that key",
        "Seal the text of the request for the key in /game/server.",
    ),
    Case.of(
        "join/sealed-for-the-new-key",
        "IDENT-4 BACK-4",
        "announces another key `seal` after the server was away",
        "the next request is sealed for the new key",
        "Read the key in /game/server before every request.",
    ),
    claim="sealed",
)
async def a_server_with_keys(stage: Stage) -> None:
    table = stage.table
    announce_keys(stage)
    stage.answers.takes_requests = False
    table.open()
    table.add_rival("blue")
    await stage.start()

    def requests() -> list[bool]:
        return [each.sealed for each in stage.client.sent(topics.REQUEST_PARTICIPATION)]

    await stage.must("join/asks", requests, stage.limits.asking)
    stage.judge("join/sealed", all(requests()), "a request with the secret open")
    await stage.delivered()
    table.publish_server(status="offline")
    announce_keys(stage, 2)
    before = len(requests())
    table.publish_server(status="online")
    stage.answers.takes_requests = True
    await stage.must("join/sealed-for-the-new-key", lambda: len(requests()) > before, stage.limits.asking)
    await stage.be_listed("join/sealed-for-the-new-key")


@scenario(
    Case.of(
        "sec/other-key",
        "IDENT-2",
        "starts the client at the same address with another key `sign`",
        "the client sends no secret to the impostor",
        "Pin the key `sign` at the first contact, and compare it at every later one.",
    ),
    claim="keys",
)
async def an_impostor(stage: Stage) -> None:
    announce_keys(stage)
    await stage.join("blue")
    await stage.placed()
    await stage.kill()
    stage.table.drop_player(stage.team)
    announce_keys(stage, 3, sign=2)
    stage.table.publish_server()
    before = len(stage.client.sent(topics.REQUEST_PARTICIPATION))
    connections = len(stage.client.guests)
    await stage.launch()
    await stage.must("mqtt/connects", lambda: len(stage.client.guests) > connections, stage.limits.connecting)
    await stage.quiet(4.0)
    asked = stage.client.sent(topics.REQUEST_PARTICIPATION)[before:]
    stage.judge(
        "sec/other-key", not asked, "a request to the impostor", publication=asked[0].publication if asked else None
    )


@scenario(
    Case.of(
        "place/repairs",
        "PLACE-5 PLACE-7",
        "refuses one ship with overlap",
        "the client sends this ship again",
        "Read .../approved and .../error of each ship, and send a refused one again, in another place.",
    ),
    claim="repairs",
)
async def a_ship_that_is_refused(stage: Stage) -> None:
    refused: list[str] = []

    def once(command: object) -> str:
        kind, ship = getattr(command, "kind", ""), getattr(command, "ship", "")
        if kind == topics.PLACE.name and not refused:
            refused.append(ship)
            return "overlap"
        return ""

    stage.answers.refuses = once
    await stage.join("blue")
    await stage.placed("place/repairs")


@scenario(
    Case.of(
        "place/answer-lost",
        "JOIN-16 FRESH-1",
        "does not answer the placements",
        "after three seconds they come again, with fresh nonces",
        "Send a placement that is not answered again.",
    ),
    Case.of(
        "turn/resends",
        "FIRE-13 FRESH-1",
        "loses a shot of the salvo",
        "after three seconds the salvo comes again, in order, with fresh nonces and the same numbers",
        "Send all shots of the turn again, newly signed, until their result arrives.",
    ),
    claim="resends",
)
async def answers_that_are_lost(stage: Stage) -> None:
    table = stage.table
    stage.answers.places = False
    await stage.join("blue")
    fleet = len(table.rules["fleet"])
    await stage.must("place/all-ships", lambda: len(stage.client.sent(topics.PLACE)) >= fleet, stage.limits.placing)
    stage.answers.places = True
    await stage.placed("place/answer-lost")
    table.begin("blue", stage.team)
    table.rival_turn("blue", stage.team, HARMLESS)
    lost: list[object] = []

    def lose_the_second(command: object) -> str:
        if getattr(command, "kind", "") == topics.FIRE.name:
            lost.append(command)
            stage.answers.counts = len(lost) != 2
        return ""

    stage.answers.refuses = lose_the_second
    stage.answers.lenient = True
    table.give_turn(stage.team)
    await stage.must(
        "turn/resends",
        lambda: len(table.fired) == table.wanted and len(stage.client.shots) >= 2 * table.wanted - 1,
        stage.limits.firing,
        "the whole salvo again, until the result arrives",
    )
    table.end_turn()


@scenario(
    Case.of(
        "turn/context-always",
        "ACCESS-7",
        "plays a whole game",
        "every shot has `g`, `t`, `n` and `to`, as profile strict demands",
        "Write all four into the body of every shot.",
    ),
    claim="context",
)
async def shots_with_a_context(stage: Stage) -> None:
    await stage.game("blue")
    for _ in range(2):
        stage.table.rival_turn("blue", stage.team, HARMLESS)
        await stage.own_turn()
    bare = [shot for shot in stage.client.shots if shot.body is not None and "g" not in shot.body]
    seen = f"{len(bare)} shots without a context"
    stage.judge("turn/context-always", not bare, seen, publication=bare[0].publication if bare else None)


@scenario(
    Case.of(
        "mqtt/table-prefix",
        "TOPIC-1",
        "names a further table in SALVO_TABLE",
        "all topics begin with the table's name",
        "Put /NAME in front of every topic, those that are read and those that are written.",
    ),
    claim="tables",
)
async def a_further_table(stage: Stage) -> None:
    stage.at_table("t3")
    await stage.game("blue")
    stage.table.rival_turn("blue", stage.team, HARMLESS)
    await stage.own_turn("mqtt/table-prefix")


@scenario(
    Case.of(
        "back/recap-asked",
        "JOIN-7 JOIN-16",
        "ends the connection in a game and takes it again",
        "the client asks with the same secret, and reads the recap",
        "Ask to take part again after an absence: the recap has all that you have missed.",
    ),
    Case.of(
        "back/recap-old",
        "JOIN-14",
        "sends a recap of an earlier turn after the newer one",
        "the client plays on where the game is",
        "Of two recaps the one with the lower game, turn or number of shots is older.",
    ),
    claim="recap",
)
async def a_recap(stage: Stage) -> None:
    table = stage.table
    await stage.game("blue")
    table.rival_turn("blue", stage.team, HARMLESS)
    old = table.recap(stage.team)
    await stage.own_turn()
    table.give_turn("blue")
    await stage.delivered()
    before = len(stage.client.sent(topics.REQUEST_PARTICIPATION))
    stage.door.cut()
    await stage.must(
        "back/recap-asked",
        lambda: len(stage.client.sent(topics.REQUEST_PARTICIPATION)) > before,
        stage.limits.coming_back,
        "a request with the same secret, after the connection was lost",
    )
    await stage.delivered()
    stage.answers.send_recap(**old)
    table.end_turn()
    await stage.own_turn("back/recap-old")


@scenario(
    Case.of(
        "back/recap-forged",
        "SEAL-10",
        "sends the restarted client a recap under the team's own key, as a stranger might replay one of its messages",
        "the client does not believe it, and fires at players of the table",
        "Open recaps with the key of SALVO-SEAL-10 only.",
    ),
    claim="recap",
)
async def a_forged_recap(stage: Stage) -> None:
    table = stage.table
    _in_a_game(stage, ("carrier",))
    table.open()
    table.give_turn("blue")
    await stage.start()
    salt = bytes(range(16))
    key = keys.key_of(stage.secret.encode(), salt)
    forged = table.recap(stage.team) | {"players": ["victim", stage.team], "turn": 9}
    table.say(f"/players/{stage.team}/recap", keys.seal(forged, key, salt), retain=False)
    await stage.quiet()
    table.end_turn()
    await stage.own_turn("back/recap-forged")
    strays = [shot for shot in stage.client.shots if shot.player == "victim"]
    stage.judge("back/recap-forged", not strays, "a shot at a player whom only the forged recap has")


@scenario(
    Case.of(
        "log/contradiction",
        "LOG-4 LOG-11",
        "signs two different entries of the log with one number, as a server does that shows different histories",
        "the client reports it, or ends",
        "Keep the hash of the last entry, and show both entries to your user: nobody but the server can have signed "
        "them.",
    ),
    claim="log",
)
async def two_stories(stage: Stage) -> None:
    table = stage.table
    announce_keys(stage)
    await stage.join("blue")
    await stage.placed()
    await stage.delivered()
    opening = _opening(stage)
    table.publish("/game/log", _signed(opening), False)
    await stage.still_there("log/forged")
    if stage.program is None:
        raise Unreached("what a client says is seen of one that salvo check starts")
    of = hashlib.blake2b(opening.encode(), digest_size=32).hexdigest()
    written = len(stage.program.lines)
    for name in ("blue", "green"):
        step = {
            "at": 1790000000000,
            "said": [{"players": {"names": [name]}}],
            "input": {"participate": {"name": name}},
            "hidden": [],
        }
        entry = json.dumps({"n": 1, "of": of[:16], "prev": of, "step": step}, separators=(",", ":"))
        table.publish("/game/log", _signed(entry), False)
    program = stage.program
    await stage.until(lambda: len(program.lines) > written, stage.limits.firing)
    output = " ".join(list(program.lines)[written:]).lower()
    fine = program.code is not None or any(word in output for word in ("log", "sign", "unfair"))
    stage.judge(
        "log/contradiction", fine, output or "nothing", expected="the program ends, or writes what it has found"
    )


def _signed(entry: str) -> bytes:
    """Return the payload of an entry of the log, signed with the judge's key."""
    signature = nacl.signing.SigningKey(bytes([1]) * 32).sign(b"salvo log\0" + entry.encode()).signature
    return f'{{"entry":{entry},"sign":"{base64.b64encode(signature).decode()}"}}'.encode()


def _opening(stage: Stage) -> str:
    rules, seed = stage.table.rules, "00" * 32
    limits = {"players": 2, "placement_ms": 60000, "turn_ms": 30000, "over_ms": 300000, "empty_turns": 3}
    opening = {
        "log": 1,
        "game": stage.table.game,
        "rules": rules,
        "limits": limits | {"most_players": 64},
        "version": stage.table.server["version"],
        "key": stage.table.server["keys"]["sign"],
        "draw": "fair",
        "seed": seed,
    }
    return json.dumps({"n": 0, "prev": "", "open": opening}, separators=(",", ":"))
