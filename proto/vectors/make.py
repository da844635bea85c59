"""Write the vectors: ``python proto/vectors/make.py``. PyNaCl only, fixed salts and nonces."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import nacl.bindings
import nacl.pwhash.argon2id

HERE = Path(__file__).parent
SECRET = "cockadoodledoo"
SAMPLE = "LRsNengquZ27OARrdN6ZuDjMIlitEopytYBYNeEcYscvNw3rld+fnr+iC0os/n8AhzhUoGYdNkkKAxqLPfzTRw+wI5wO6+U7m+t6fA=="
SALT = bytes(range(16))
NONCE = bytes(range(24))


def key_of(secret: str, salt: bytes = SALT) -> bytes:
    return nacl.pwhash.argon2id.kdf(32, secret.encode(), salt, opslimit=2, memlimit=64 * 1024 * 1024)


KEY = key_of(SECRET)


def raw(text: str, key: bytes = KEY) -> bytes:
    return SALT + NONCE + nacl.bindings.crypto_secretbox(text.encode(), NONCE, key)


def blob(text: str, key: bytes = KEY) -> str:
    return base64.b64encode(raw(text, key)).decode()


def case(
    description: str, sentence: str, given: Any, *, result: Any = None, error: str | None = None
) -> dict[str, Any]:
    outcome = {"error": error} if error else {"result": result}
    return {"description": description, "sentence": sentence, "input": given, **outcome}


def blobs() -> list[dict[str, Any]]:
    def given(text: str) -> dict[str, str]:
        return {"secret": SECRET, "blob": text}

    good = blob('{"x":3,"y":4}')
    whole = raw('{"x":3,"y":4}')
    b64 = base64.b64encode
    loose = SAMPLE.replace("fA==", "fB==")
    return [
        case("the sample of the specification", "SALVO-SEAL-1", given(SAMPLE), result='{"a": "b", "c": "d"}'),
        case("a shot", "SALVO-SEAL-1", given(good), result='{"x":3,"y":4}'),
        case("the shortest blob, 58 bytes", "SALVO-SEAL-6", given(blob("{}")), result="{}"),
        case("the longest blob, 1024 bytes", "SALVO-SEAL-6", given(blob("x" * 968)), result="x" * 968),
        case("padded with spaces", "SALVO-SEAL-9", given(blob("{}".ljust(96))), result="{}".ljust(96)),
        case("57 bytes", "SALVO-SEAL-6", given(blob("x")), error="blob_length"),
        case("1025 bytes", "SALVO-SEAL-6", given(blob("x" * 969)), error="blob_length"),
        case("empty", "SALVO-SEAL-6", given(""), error="blob_length"),
        case("no padding", "SALVO-SEAL-1", given(SAMPLE.rstrip("=")), error="blob_not_base64"),
        case(
            "the alphabet for URLs",
            "SALVO-SEAL-1",
            given(SAMPLE.replace("+", "-").replace("/", "_")),
            error="blob_not_base64",
        ),
        case("a line end inside", "SALVO-SEAL-1", given(good[:40] + "\n" + good[40:]), error="blob_not_base64"),
        case("white space behind", "SALVO-SEAL-1", given(good + " "), error="blob_not_base64"),
        case("loose bits at the end", "SALVO-SEAL-1", given(loose), error="blob_not_base64"),
        case("no base64 at all", "SALVO-SEAL-1", given("{" * 80), error="blob_not_base64"),
        case(
            "a changed tag",
            "SALVO-SEAL-8",
            given(b64(whole[:40] + bytes([whole[40] ^ 1]) + whole[41:]).decode()),
            error="forged",
        ),
        case(
            "a changed last byte",
            "SALVO-SEAL-8",
            given(b64(whole[:-1] + bytes([whole[-1] ^ 1])).decode()),
            error="forged",
        ),
        case(
            "a changed nonce", "SALVO-SEAL-8", given(b64(whole[:16] + bytes(24) + whole[40:]).decode()), error="forged"
        ),
        case("a changed salt", "SALVO-SEAL-2", given(b64(bytes(16) + whole[16:]).decode()), error="forged"),
        case("another secret", "SALVO-SEAL-2", given(blob("{}", key_of("another"))), error="forged"),
        case("truncated by one byte", "SALVO-SEAL-8", given(b64(whole[:-1]).decode()), error="forged"),
    ]


def shots() -> list[dict[str, Any]]:
    def given(body: str, sealed: str, key: str = "data") -> dict[str, str]:
        return {"secret": SECRET, "payload": f'{{"{key}": {body}, "signature": "{blob(sealed)}"}}'}

    at = {"x": 3, "y": 4, "context": None}
    plain = '{"x": 3, "y": 4}'
    signature = blob(plain)
    occasion = '{"x": 3, "y": 4, "g": 1, "t": 9, "n": 2, "to": "rivals"}'
    return [
        case("with data", "SALVO-SEAL-4", given(plain, plain), result=at),
        case("with payload", "SALVO-SEAL-4", given(plain, plain, "payload"), result=at),
        case("another order of keys and no white space", "SALVO-SEAL-5", given(plain, '{"y":4,"x":3}'), result=at),
        case("a letter for y", "SALVO-GAME-3", given('{"x": 3, "y": "D"}', '{"x": 3, "y": "D"}'), result=at),
        case("a small letter for y", "SALVO-GAME-3", given('{"x": 3, "y": "d"}', '{"x": 3, "y": "d"}'), result=at),
        case(
            "signed for its occasion",
            "SALVO-FRESH-5",
            given(occasion, occasion),
            result={"x": 3, "y": 4, "context": [1, 9, 2, "rivals"]},
        ),
        case(
            "off the grid is readable; the rules refuse it",
            "SALVO-FIRE-6",
            given('{"x": 0, "y": 11}', '{"x": 0, "y": 11}'),
            result={"x": 0, "y": 11, "context": None},
        ),
        case(
            "only half of an occasion",
            "SALVO-FRESH-5",
            given('{"x": 3, "y": 4, "g": 1}', '{"x": 3, "y": 4, "g": 1}'),
            error="stale_context",
        ),
        case("another cell signed", "SALVO-SEAL-5", given(plain, '{"x": 3, "y": 5}'), error="body_mismatch"),
        case(
            "a letter shown, a number signed", "SALVO-SEAL-5", given('{"x": 3, "y": "D"}', plain), error="body_mismatch"
        ),
        case("true for 1", "SALVO-SEAL-5", given('{"x": true, "y": 4}', '{"x": 1, "y": 4}'), error="body_mismatch"),
        case("true in both", "SALVO-WIRE-4", given('{"x": true, "y": 4}', '{"x": true, "y": 4}'), error="wrong_shape"),
        case("1.0 for 1", "SALVO-WIRE-3", given('{"x": 1.0, "y": 4}', '{"x": 1, "y": 4}'), error="not_integer"),
        case("an exponent", "SALVO-WIRE-3", given('{"x": 1e0, "y": 4}', plain), error="not_integer"),
        case("NaN", "SALVO-WIRE-3", given('{"x": NaN, "y": 4}', plain), error="not_integer"),
        case("a key twice", "SALVO-WIRE-2", given('{"x": 3, "x": 3, "y": 4}', plain), error="duplicate_key"),
        case(
            "a key twice in the signed text",
            "SALVO-WIRE-2",
            given(plain, '{"x": 3, "x": 3, "y": 4}'),
            error="duplicate_key",
        ),
        case(
            "an unknown field",
            "SALVO-WIRE-4",
            given('{"x": 3, "y": 4, "z": 5}', '{"x": 3, "y": 4, "z": 5}'),
            error="wrong_shape",
        ),
        case("no y", "SALVO-WIRE-4", given('{"x": 3}', '{"x": 3}'), error="wrong_shape"),
        case(
            "numbers as texts",
            "SALVO-WIRE-4",
            given('{"x": "3", "y": "4"}', '{"x": "3", "y": "4"}'),
            error="wrong_shape",
        ),
        case(
            "a text of two letters for y",
            "SALVO-GAME-3",
            given('{"x": 3, "y": "DD"}', '{"x": 3, "y": "DD"}'),
            error="bad_coordinates",
        ),
        case("the signed text is no JSON", "SALVO-SEAL-4", given(plain, "not JSON"), error="not_json"),
        case("nested too deep", "SALVO-WIRE-4", given('{"x": [[[[3]]]], "y": 4}', plain), error="too_deep"),
        case(
            "both data and payload",
            "SALVO-SEAL-4",
            {"secret": SECRET, "payload": f'{{"data": {plain}, "payload": {plain}, "signature": "{signature}"}}'},
            error="wrong_shape",
        ),
        case(
            "neither data nor payload",
            "SALVO-SEAL-4",
            {"secret": SECRET, "payload": f'{{"signature": "{signature}"}}'},
            error="wrong_shape",
        ),
        case(
            "no signature", "SALVO-SEAL-4", {"secret": SECRET, "payload": f'{{"data": {plain}}}'}, error="wrong_shape"
        ),
        case("an array", "SALVO-SEAL-4", {"secret": SECRET, "payload": "[]"}, error="wrong_shape"),
        case("no JSON", "SALVO-WIRE-1", {"secret": SECRET, "payload": "B3"}, error="not_json"),
        case("too large", "SALVO-WIRE-5", {"secret": SECRET, "payload": " " * 4097}, error="too_large"),
    ]


def placements() -> list[dict[str, Any]]:
    def given(text: str) -> dict[str, str]:
        return {"text": text}

    def body(coordinates: str, orientation: str = "HORIZONTAL") -> dict[str, str]:
        return given(json.dumps({"coordinates": coordinates, "Orientation": orientation}))

    return [
        case("as the specification prints it", "SALVO-PLACE-2", body("3;2"), result=[3, 2, "HORIZONTAL"]),
        case("vertical", "SALVO-PLACE-3", body("3;2", "VERTICAL"), result=[3, 2, "VERTICAL"]),
        case("a letter for y", "SALVO-GAME-3", body("3;B"), result=[3, 2, "HORIZONTAL"]),
        case("white space around the numbers", "SALVO-PLACE-2", body(" 3 ; b "), result=[3, 2, "HORIZONTAL"]),
        case("0 is readable; the rules refuse it", "SALVO-GAME-2", body("0;0"), result=[0, 0, "HORIZONTAL"]),
        case("a comma", "SALVO-PLACE-2", body("3,2"), error="bad_coordinates"),
        case("one number", "SALVO-PLACE-2", body("3"), error="bad_coordinates"),
        case("a letter for x", "SALVO-GAME-3", body("B;3"), error="bad_coordinates"),
        case("digits of another script", "SALVO-PLACE-2", body("\u0663;\u0662"), error="bad_coordinates"),
        case("small letters", "SALVO-PLACE-2", body("3;2", "horizontal"), error="bad_orientation"),
        case(
            "orientation in small letters as a key",
            "SALVO-WIRE-4",
            given('{"coordinates": "3;2", "orientation": "VERTICAL"}'),
            error="wrong_shape",
        ),
        case(
            "coordinates as an array",
            "SALVO-WIRE-4",
            given('{"coordinates": [3, 2], "Orientation": "VERTICAL"}'),
            error="wrong_shape",
        ),
        case("no orientation", "SALVO-WIRE-4", given('{"coordinates": "3;2"}'), error="wrong_shape"),
    ]


def participations() -> list[dict[str, Any]]:
    def named(name: Any, secret: Any = SECRET) -> dict[str, str]:
        return {"payload": json.dumps({"name": name, "secret": secret}, ensure_ascii=False)}

    good = ["Henkiebunch", "a", "7of9", "A_b-C", "x" * 32]
    bad = ["", "x" * 33, "_a", "-a", "a.b", "a b", "a/b", "a+", "a#", "a\0b", "\uff21", "\u0430dmiral", "café", "a\n"]
    reserved = ["game", "players", "Player", "COUNT", "list", "ships", "fire"]
    return [
        *(case(f"the name {name}", "SALVO-NAME-1", named(name), result=name) for name in good),
        *(case(f"the name {name!a}", "SALVO-NAME-1", named(name), error="bad_name") for name in bad),
        *(case(f"the topic's word {name}", "SALVO-NAME-3", named(name), error="bad_name") for name in reserved),
        case("an empty secret", "SALVO-JOIN-3", named("a", ""), error="wrong_shape"),
        case("a secret of 257 characters", "SALVO-JOIN-3", named("a", "x" * 257), error="wrong_shape"),
        case("a number as name", "SALVO-WIRE-4", named(7), error="wrong_shape"),
        case("no secret", "SALVO-JOIN-2", {"payload": '{"name": "a"}'}, error="wrong_shape"),
        case(
            "half a surrogate pair as secret",
            "SALVO-WIRE-1",
            {"payload": '{"name": "a", "secret": "\\ud800"}'},
            error="wrong_shape",
        ),
        case("a byte order mark", "SALVO-WIRE-1", {"payload": '\ufeff{"name": "a", "secret": "b"}'}, error="not_json"),
    ]


def ships() -> list[dict[str, Any]]:
    good = ["carrier", "Carrier", "BATTLESHIP", "patrolboat", "Patrol-Boat", "patrol_boat", "patrol boat"]
    bad = ["", "cruiser", "carrier2", "c.arrier", "p" + "-" * 40 + "atrolboat"]
    return [
        *(
            case(f"the ship {ship!r}", "SALVO-NAME-5", ship, result="".join(c for c in ship.lower() if c.isalpha()))
            for ship in good
        ),
        *(case(f"the ship {ship[:20]!r}", "SALVO-NAME-5", ship, error="unknown_ship") for ship in bad),
    ]


def main() -> None:
    for make in (blobs, shots, placements, participations, ships):
        path = HERE / f"{make.__name__}.json"
        path.write_text(json.dumps(make(), indent=1) + "\n")


if __name__ == "__main__":
    main()
