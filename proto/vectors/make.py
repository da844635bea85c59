"""Write the vectors: ``python proto/vectors/make.py``. PyNaCl only, fixed salts and nonces.

The file of a function is described by the function's docstring. Payloads are texts; what is no text is hexadecimal
under ``payload_hex`` or ``text_hex``.
"""

from __future__ import annotations

import base64
import hashlib
import inspect
import json
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nacl.bindings
import nacl.pwhash.argon2id
import nacl.signing

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
    """Opening a blob with a secret: the plaintext, or why it does not open (SALVO-SEAL)."""

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
    """The payload of a shot on /players/rivals/fire and its team's secret: the shot that is read, or the code."""

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
        case("nested too deep, and no JSON", "SALVO-WIRE-4", given('{"x": [[[[3', plain), error="too_deep"),
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
        case(
            "a lone byte of Latin-1",
            "SALVO-WIRE-1",
            {"secret": SECRET, "payload_hex": b'{"data": "\xe9"}'.hex()},
            error="not_utf8",
        ),
        case(
            "UTF-16", "SALVO-WIRE-1", {"secret": SECRET, "payload_hex": plain.encode("utf-16").hex()}, error="not_utf8"
        ),
    ]


def placements() -> list[dict[str, Any]]:
    """The text inside the blob on .../place: [x, y, orientation], or the code."""

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
        case(
            "cut in a letter", "SALVO-WIRE-1", {"text_hex": '{"coordinates": "é'.encode()[:-1].hex()}, error="not_utf8"
        ),
    ]


def participations() -> list[dict[str, Any]]:
    """The payload of /game/request_participation: the name that asks, or the code."""

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
            error="not_utf8",
        ),
        case(
            "an overlong slash in the name",
            "SALVO-WIRE-1",
            {"payload_hex": b'{"name": "a\xc0\xaf", "secret": "b"}'.hex()},
            error="not_utf8",
        ),
        case("a byte order mark", "SALVO-WIRE-1", {"payload": '\ufeff{"name": "a", "secret": "b"}'}, error="not_json"),
    ]


SERVER_PRIVATE = bytes(range(32))


def sealed_for_server(text: str) -> bytes:
    """A ``crypto_box_seal`` whose key of one use is not random, so that the vectors stay what they are."""
    public = nacl.bindings.crypto_scalarmult_base(SERVER_PRIVATE)
    once_private = bytes(range(100, 132))
    once_public = nacl.bindings.crypto_scalarmult_base(once_private)
    nonce = hashlib.blake2b(once_public + public, digest_size=24).digest()
    return once_public + nacl.bindings.crypto_box(text.encode(), nonce, public, once_private)


def sealed_participations() -> list[dict[str, Any]]:
    """The sealed payload of /game/request_participation and the server's private X25519 key: name and secret, or the
    code (SALVO-IDENT-4, SALVO-IDENT-5)."""

    def given(payload: str, private: bytes = SERVER_PRIVATE) -> dict[str, str]:
        public = nacl.bindings.crypto_scalarmult_base(private)
        return {"private_key_hex": private.hex(), "public_key_hex": public.hex(), "payload": payload}

    def asked(name: str, secret: str) -> str:
        return json.dumps({"name": name, "secret": secret}, ensure_ascii=False)

    def payload(text: str) -> str:
        return base64.b64encode(sealed_for_server(text)).decode()

    plain = asked("Henkiebunch", SECRET)
    good = payload(plain.ljust(96))
    box = sealed_for_server(plain.ljust(96))
    answer = ["Henkiebunch", SECRET]
    unreadable = {"sentence": "SALVO-IDENT-5", "error": "sealed_unreadable"}
    return [
        case("padded to 96 bytes", "SALVO-IDENT-4", given(good), result=answer),
        case("not padded", "SALVO-IDENT-4", given(payload(plain)), result=answer),
        case(
            "256 characters of four bytes",
            "SALVO-JOIN-3",
            given(payload(asked("a", "\U0001f6a2" * 256))),
            result=["a", "\U0001f6a2" * 256],
        ),
        case("for another server", given=given(good, SERVER_PRIVATE[::-1]), **unreadable),
        case("a changed bit", given=given(base64.b64encode(box[:-1] + bytes([box[-1] ^ 1])).decode()), **unreadable),
        case("the last byte is missing", given=given(base64.b64encode(box[:-1]).decode()), **unreadable),
        case("shorter than an empty box", given=given(base64.b64encode(box[:47]).decode()), **unreadable),
        case("no padding of base64", given=given(payload(plain.ljust(97)).rstrip("=")), **unreadable),
        case("loose bits at the end", given=given(_loosened(payload(plain.ljust(97)))), **unreadable),
        case("a word", given=given("null"), **unreadable),
        case("4097 characters", "SALVO-WIRE-5", given("A" * 4097), error="too_large"),
        case("no JSON inside", "SALVO-WIRE-1", given(payload("hello")), error="not_json"),
        case("a key twice inside", "SALVO-WIRE-2", given(payload('{"name":"a","name":"b"}')), error="duplicate_key"),
        case("no secret inside", "SALVO-JOIN-2", given(payload('{"name":"a"}')), error="wrong_shape"),
        case("a bad name inside", "SALVO-NAME-1", given(payload(asked("a/b", "c"))), error="bad_name"),
        case("sealed twice", "SALVO-WIRE-1", given(payload(good)), error="not_json"),
    ]


def _loosened(text: str) -> str:
    """The same bytes in base64 that is not canonical: the last letter has a bit that nobody reads."""
    body = text.rstrip("=")
    assert body != text
    letters = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"
    return body[:-1] + letters[letters.index(body[-1]) + 1] + text[len(body) :]


def ships() -> list[dict[str, Any]]:
    """The level of a topic that names a ship: the fleet's name of it, or the code (SALVO-NAME-5)."""

    good = ["carrier", "Carrier", "BATTLESHIP", "patrolboat", "Patrol-Boat", "patrol_boat", "patrol boat"]
    bad = ["", "cruiser", "carrier2", "c.arrier", "p" + "-" * 40 + "atrolboat"]
    return [
        *(
            case(f"the ship {ship!r}", "SALVO-NAME-5", ship, result="".join(c for c in ship.lower() if c.isalpha()))
            for ship in good
        ),
        *(case(f"the ship {ship[:20]!r}", "SALVO-NAME-5", ship, error="unknown_ship") for ship in bad),
    ]


# --- a whole server ---------------------------------------------------------------------------------------------------

TEAMS = {"ann": (SECRET, KEY, SALT), "bob": ("secret", key_of("secret", SALT[::-1]), SALT[::-1])}
HOSTS = {"desk": ("of the desk", key_of("of the desk", SALT[1:] + SALT[:1]), SALT[1:] + SALT[:1])}
FLEET = {"carrier": 5, "battleship": 4, "destroyer": 3, "submarine": 3, "patrolboat": 2}
ROWS = {ship: 2 * number for number, ship in enumerate(FLEET, start=1)}


class Sender:
    """Makes messages of ann and bob, each with the next nonce."""

    def __init__(self, last_nonce: int = 0) -> None:
        self._number = last_nonce

    def _sealed(self, team: str, text: str, salt: bytes | None = None) -> str:
        _, key, own_salt = (TEAMS | HOSTS)[team]
        self._number += 1
        nonce = self._number.to_bytes(24, "big")
        return base64.b64encode(
            (salt or own_salt) + nonce + nacl.bindings.crypto_secretbox(text.encode(), nonce, key)
        ).decode()

    def ask(self, name: str, secret: str | None = None) -> dict[str, Any]:
        secret = TEAMS[name][0] if secret is None else secret
        return message("/game/request_participation", json.dumps({"name": name, "secret": secret}))

    def seal(self, name: str) -> dict[str, Any]:
        text = json.dumps({"name": name, "secret": TEAMS[name][0]}).ljust(96)
        return message("/game/request_participation", base64.b64encode(sealed_for_server(text)).decode())

    def place(
        self, team: str, ship: str, at: str = "", orientation: str = "HORIZONTAL", **given: Any
    ) -> dict[str, Any]:
        """``by`` seals with another team's key, ``salt`` puts a salt in front that the key was not made with."""
        text = json.dumps({"coordinates": at or f"1;{ROWS[ship]}", "Orientation": orientation})
        return message(
            f"/players/{team}/ships/{ship}/place", self._sealed(given.get("by", team), text, given.get("salt"))
        )

    def fire(self, team: str, target: str, x: int, y: int, **given: Any) -> dict[str, Any]:
        """``context`` is signed too, ``shown`` is the open body when it is to be another one."""
        body = {"x": x, "y": y} | given.get("context", {})
        signature = self._sealed(team, json.dumps(body))
        payload = json.dumps({"data": given.get("shown", body), "signature": signature})
        return message(f"/players/{target}/fire", payload)

    def fleet(self, team: str) -> list[dict[str, Any]]:
        return [self.place(team, ship) for ship in FLEET]

    def fleet_of(self, team: str, *ships: str) -> list[dict[str, Any]]:
        """Ships of another ruleset, in every second row."""
        return [self.place(team, ship, f"1;{2 * row}") for row, ship in enumerate(ships, start=1)]

    def leave(self, team: str, by: str = "", **body: int) -> dict[str, Any]:
        """``by`` signs with another team's key."""
        payload = json.dumps({"data": body, "signature": self._sealed(by or team, json.dumps(body))})
        return message(f"/players/{team}/leave", payload)

    def skip(self, team: str, shown: dict[str, int] | None = None, **body: int) -> dict[str, Any]:
        """``shown`` is the open body when it is to be another one."""
        signature = self._sealed(team, json.dumps(body))
        payload = json.dumps({"data": body if shown is None else shown, "signature": signature})
        return message(f"/players/{team}/skip", payload)

    def host(self, do: str, shown: dict[str, Any] | None = None, by: str = "desk", **body: Any) -> dict[str, Any]:
        """``shown`` is the open body when it is to be another one."""
        body = {"by": by, "do": do} | body
        signature = self._sealed(by if by in TEAMS else "desk", json.dumps(body))
        payload = json.dumps({"data": body if shown is None else shown, "signature": signature})
        return message("/game/host", payload)


def say(player: str, line: dict[str, str]) -> dict[str, Any]:
    return message(f"/players/{player}/say", json.dumps(line))


def message(topic: str, payload: str) -> dict[str, Any]:
    return {"topic": topic, "payload": payload}


def refusals() -> dict[str, Any]:
    """Messages to a server in a certain state, and the codes that it answers.

    A state is reached from an empty table with these settings by its messages, in their order; "starter" is whom the
    server has to draw (SALVO-TURN-1). A case then sends its own messages and lets "seconds" go by. "answers" are the
    error topics that the server publishes for it, with the code at the begin of each text; "logged" is a code that
    nobody is told. "retain" is the flag with which the broker delivers a message. A state may have a "profile", then
    "roster" has the teams and their secrets, "hosts" the hosts and theirs, and "private_key_hex" what requests are
    sealed for.
    """
    return {"states": _states(), "cases": _refused()}


def _states() -> dict[str, Any]:
    def state(messages: list[dict[str, Any]], **settings: int) -> dict[str, Any]:
        starter = {"starter": "ann"} if settings.get("players") else {}
        return {"settings": settings, **starter, "messages": messages}

    lobby, full, turn, over, strict, quiet, bank, hosted, invited = (Sender() for _ in range(9))
    secrets_of_all = {name: team[0] for name, team in TEAMS.items()}
    hosts = {name: host[0] for name, host in HOSTS.items()}
    with_host = {"state": "lobby", "profile": "contest", "roster": secrets_of_all, "hosts": hosts}
    return {
        "lobby": state([lobby.ask("ann"), lobby.ask("bob"), *lobby.fleet("ann"), lobby.place("bob", "carrier")]),
        "full": state([full.ask("ann"), full.ask("bob")], most_players=2),
        "turn": state(_seated(turn), players=2),
        "bank": state(_seated(bank), players=2, bank_seconds=5) | {"state": "turn"},
        "over": state([*_seated(over), *_game(over)], players=2),
        "quiet": state([quiet.ask("ann"), quiet.ask("bob")], chat=False) | {"state": "lobby"},
        "hosted": state([hosted.ask("ann"), hosted.ask("bob"), *hosted.fleet("ann")]) | with_host,
        "invited": state([invited.host("set", settings={"teams": ["ann", "cy"]}), invited.host("next")])
        | with_host
        | {"roster": {**secrets_of_all, "cy": "cocorico"}},
        "contest": state([]) | {"profile": "contest", "roster": {"ann": TEAMS["ann"][0]}},
        "strict": state([strict.seal("ann"), strict.seal("bob"), *strict.fleet("ann"), *strict.fleet("bob")], players=2)
        | {"profile": "strict", "roster": secrets_of_all, "private_key_hex": SERVER_PRIVATE.hex()},
    }


def _seated(sender: Sender) -> list[dict[str, Any]]:
    return [sender.ask("ann"), sender.ask("bob"), *sender.fleet("ann"), *sender.fleet("bob")]


def _game(sender: Sender) -> list[dict[str, Any]]:
    """Ann sinks bob's fleet, five cells a turn; bob hits the water with as many shots as he has ships."""
    cells = [(x, ROWS[ship], ship) for ship, length in FLEET.items() for x in range(1, length + 1)]
    left = dict(FLEET)
    shots = []
    for first in range(0, len(cells), len(FLEET)):
        for x, y, ship in cells[first : first + len(FLEET)]:
            shots.append(sender.fire("ann", "bob", x, y))
            left[ship] -= 1
        shots += [sender.fire("bob", "ann", 10, 1) for length in left.values() if length]
    return shots


def _refused() -> list[dict[str, Any]]:
    sender = Sender(last_nonce=1000)  # above every nonce of a state
    fire, place, ask, leave, host = sender.fire, sender.place, sender.ask, sender.leave, sender.host

    def refusal(topic: str, code: str) -> dict[str, str]:
        return {"topic": f"/players/{topic}", "code": code}

    def refusal_to_all(code: str) -> dict[str, str]:
        return {"topic": "/game/error", "code": code}

    def stranger(name: str) -> list[dict[str, str]]:
        return [refusal_to_all("not_in_roster"), refusal(f"{name}/error", "not_in_roster")]

    def when(
        state: str,
        description: str,
        sentence: str,
        *messages: dict[str, Any],
        answer: dict[str, str] | list[dict[str, str]] | None = None,
        **more: Any,
    ) -> dict[str, Any]:
        answers = answer if isinstance(answer, list) else [] if answer is None else [answer]
        found = {"description": description, "sentence": sentence, "state": state, "messages": list(messages)}
        return {**found, **more, "answers": answers}

    shot = fire("ann", "bob", 3, 4)
    placed = place("bob", "destroyer")
    foreign = [place("bob", "carrier", salt=bytes([number] * 16)) for number in range(1, 14)]
    stale = {"g": 1, "t": 2, "n": 1, "to": "bob"}
    elsewhere = {"g": 1, "t": 1, "n": 1, "to": "ann"}
    bobs, anns = "bob/ships/battleship/error", "ann/ships/carrier/error"
    return [
        when("lobby", "a host of an open contest", "SALVO-HOST-1", host("pause"), logged="not_a_host"),
        when("hosted", "a team as a host", "SALVO-HOST-1", host("pause", by="ann"), logged="not_a_host"),
        when("hosted", "a host's pause", "SALVO-HOST-4", host("pause")),
        when("hosted", "a pause", "SALVO-HOST-1", host("pause", g=2), answer=refusal("desk/error", "stale_context")),
        when(
            "hosted",
            "a host's command with another body than was signed",
            "SALVO-SEAL-5",
            host("pause", shown={"by": "desk", "do": "next"}),
            answer=refusal("desk/error", "body_mismatch"),
        ),
        when(
            "hosted",
            "more time of no length",
            "SALVO-HOST-4",
            host("extend"),
            answer=refusal("desk/error", "wrong_shape"),
        ),
        when("hosted", "one fleet", "SALVO-HOST-3", host("start"), answer=refusal("desk/error", "too_few_fleets")),
        when(
            "hosted",
            "a second pause",
            "SALVO-HOST-4",
            host("pause"),
            host("pause"),
            answer=refusal("desk/error", "clock_stopped"),
        ),
        when(
            "hosted",
            "a next game for a team that the roster lacks",
            "SALVO-HOST-7",
            host("set", settings={"teams": ["ann", "zed"]}),
            answer=refusal("desk/error", "not_in_roster"),
        ),
        when("hosted", "no pause", "SALVO-HOST-4", host("resume"), answer=refusal("desk/error", "not_paused")),
        when("hosted", "no game to abort", "SALVO-HOST-2", host("abort"), answer=refusal("desk/error", "wrong_state")),
        when(
            "hosted",
            "a team that is gone",
            "SALVO-HOST-6",
            host("remove", team="bob"),
            answer=refusal("bob/error", "removed"),
        ),
        when(
            "invited",
            "a team that is not invited",
            "SALVO-HOST-7",
            ask("bob"),
            answer=refusal("bob/error", "not_invited"),
        ),
        when("invited", "a team that is invited", "SALVO-HOST-7", ask("ann")),
        when("contest", "a team of nobody", "SALVO-ACCESS-3", ask("bob"), answer=stranger("bob")),
        when(
            "contest",
            "a team with another secret",
            "SALVO-ACCESS-3",
            ask("ann", "guess"),
            answer=stranger("ann"),
        ),
        when("contest", "a team of the roster", "SALVO-ACCESS-3", ask("ann")),
        when("strict", "an open request", "SALVO-ACCESS-7", ask("ann"), answer=refusal("ann/error", "sealed_required")),
        when(
            "strict",
            "a shot without its occasion",
            "SALVO-ACCESS-7",
            fire("ann", "bob", 3, 4),
            answer=refusal("ann/error", "context_required"),
        ),
        when(
            "strict",
            "a shot with its occasion",
            "SALVO-ACCESS-7",
            fire("ann", "bob", 3, 4, context={"g": 1, "t": 1, "n": 1, "to": "bob"}),
        ),
        when(
            "lobby",
            "a name that is taken",
            "SALVO-JOIN-8",
            ask("ann", "guess"),
            answer=refusal("ann/error", "name_taken"),
        ),
        when(
            "lobby",
            "in another spelling",
            "SALVO-JOIN-8",
            ask("Ann", SECRET),
            answer=refusal("Ann/error", "name_taken"),
        ),
        when("lobby", "a team that comes back is welcome", "SALVO-JOIN-7", ask("ann")),
        when("lobby", "no name", "SALVO-ERR-7", ask("a/b", "s"), answer=refusal_to_all("bad_name")),
        when(
            "lobby",
            "sealed for another server",
            "SALVO-IDENT-5",
            message(
                "/game/request_participation", base64.b64encode(sealed_for_server(ask("cy", "s")["payload"])).decode()
            ),
            answer=refusal_to_all("sealed_unreadable"),
        ),
        *(
            when(
                "lobby",
                f"a request that is {payload or 'empty'}",
                "SALVO-ERR-7",
                message("/game/request_participation", payload),
                answer=refusal_to_all(code),
            )
            for payload, code in {
                "": "not_json",
                "null": "sealed_unreadable",
                "7": "sealed_unreadable",
                "true": "sealed_unreadable",
                "[]": "wrong_shape",
            }.items()
        ),
        when(
            "lobby",
            "a whole salvo in one message, and no game",
            "SALVO-ERR-7",
            message("/players/bob/fire", "[]"),
            answer=refusal_to_all("wrong_shape"),
        ),
        *(
            when(
                "lobby",
                f"{what} of a team that is not listed",
                "SALVO-ERR-8",
                message(f"/players/cy/{topic}", payload),
                answer=refusal("cy/error", "unknown_player"),
            )
            for what, topic, payload in (
                ("a ship", "ships/carrier/place", placed["payload"]),
                ("no ship", "ships/carrier/place", "A1"),
                ("a skip", "skip", shot["payload"]),
            )
        ),
        when("full", "one team too many", "SALVO-JOIN-11", ask("cy", "s"), answer=refusal("cy/error", "table_full")),
        when(
            "turn", "a new team in mid-game", "SALVO-JOIN-9", ask("cy", "s"), answer=refusal("cy/error", "wrong_state")
        ),
        when("lobby", "too late", "SALVO-JOIN-5", answer=refusal("bob/error", "placement_timeout"), seconds=60),
        when(
            "lobby",
            "an overlap",
            "SALVO-PLACE-4",
            place("bob", "battleship", "5;1", "VERTICAL"),
            answer=refusal(bobs, "overlap"),
        ),
        when(
            "lobby",
            "over the edge",
            "SALVO-GAME-2",
            place("bob", "battleship", "8;4"),
            answer=refusal(bobs, "off_grid"),
        ),
        when(
            "lobby",
            "counted from 0",
            "SALVO-GAME-2",
            place("bob", "battleship", "0;4"),
            answer=refusal(bobs, "off_grid"),
        ),
        when(
            "lobby",
            "no coordinates",
            "SALVO-GAME-3",
            place("bob", "battleship", "B4"),
            answer=refusal(bobs, "bad_coordinates"),
        ),
        when(
            "lobby",
            "askew",
            "SALVO-PLACE-2",
            place("bob", "battleship", orientation="DIAGONAL"),
            answer=refusal(bobs, "bad_orientation"),
        ),
        when(
            "lobby", "a complete fleet", "SALVO-PLACE-7", place("ann", "carrier"), answer=refusal(anns, "fleet_final")
        ),
        when(
            "turn", "a ship in mid-game", "SALVO-GAME-6", place("ann", "carrier"), answer=refusal(anns, "wrong_state")
        ),
        when(
            "lobby",
            "a ship that no fleet has",
            "SALVO-NAME-5",
            {**placed, "topic": "/players/bob/ships/cruiser/place"},
            answer=refusal("bob/error", "unknown_ship"),
        ),
        when("lobby", "somebody else's ship", "SALVO-SEAL-8", place("bob", "battleship", by="ann"), logged="forged"),
        when(
            "lobby",
            "a placement again as another ship",
            "SALVO-FRESH-1",
            placed,
            {**placed, "topic": "/players/bob/ships/submarine/place"},
            answer=refusal("bob/ships/submarine/error", "nonce_reused"),
        ),
        when(
            "lobby",
            "thirteen fresh salts at once",
            "SALVO-FRESH-6",
            *foreign,
            answer=refusal("bob/ships/carrier/error", "rate_limited"),
        ),
        when(
            "lobby",
            "no UTF-8",
            "SALVO-WIRE-1",
            {"topic": "/players/bob/ships/battleship/place", "payload_hex": "ff"},
            answer=refusal(bobs, "not_utf8"),
        ),
        when("lobby", "a shot before the game", "SALVO-GAME-6", shot, answer=refusal("ann/error", "wrong_state")),
        when("turn", "a retained shot", "SALVO-FRESH-4", {**shot, "retain": True}, logged="retained_command"),
        when("turn", "a topic that is none", "SALVO-ERR-3", message("/players/bob/yield", "1"), logged="unknown_topic"),
        when("turn", "a topic of the server's", "SALVO-ERR-3", message("/game/winner", "bob")),
        when(
            "turn",
            "out of turn",
            "SALVO-FIRE-6",
            fire("bob", "ann", 3, 4),
            answer=refusal("bob/error", "not_your_turn"),
        ),
        when(
            "turn", "at nobody", "SALVO-FIRE-6", fire("ann", "cy", 3, 4), answer=refusal("ann/error", "unknown_target")
        ),
        when(
            "turn", "off the grid", "SALVO-GAME-2", fire("ann", "bob", 0, 11), answer=refusal("ann/error", "off_grid")
        ),
        when(
            "turn",
            "signed for another turn",
            "SALVO-FRESH-5",
            fire("ann", "bob", 3, 4, context=stale),
            answer=refusal("ann/error", "stale_context"),
        ),
        when(
            "turn",
            "signed for another target",
            "SALVO-FRESH-5",
            fire("ann", "bob", 3, 4, context=elsewhere),
            answer=refusal("ann/error", "stale_context"),
        ),
        when(
            "turn",
            "one thing shown, another one signed",
            "SALVO-SEAL-5",
            fire("ann", "bob", 3, 4, shown={"x": 9, "y": 9}),
            answer=refusal("ann/error", "body_mismatch"),
        ),
        when(
            "turn",
            "no JSON, in whose turn it is",
            "SALVO-ERR-3",
            message("/players/bob/fire", "B3"),
            answer=refusal("ann/error", "not_json"),
        ),
        when("turn", "the very same shot twice", "SALVO-FRESH-3", shot, shot),
        when(
            "turn",
            "the same shot at another target",
            "SALVO-FRESH-1",
            shot,
            {**shot, "topic": "/players/ann/fire"},
            answer=refusal("ann/error", "nonce_reused"),
        ),
        when(
            "turn",
            "a refused shot again, in its turn",
            "SALVO-FRESH-2",
            fired := fire("ann", "cy", 1, 1),
            {**fired, "topic": "/players/bob/fire"},
        )
        | {"answers": [refusal("ann/error", "unknown_target"), refusal("ann/error", "nonce_reused")]},
        when(
            "turn",
            "a sixth shot",
            "SALVO-FIRE-3",
            *(fire("ann", "bob", x, 1) for x in range(1, 7)),
            answer=refusal("ann/error", "too_many_shots"),
        ),
        when("turn", "a line", "SALVO-CHAT-1", say("bob", {"text": "Ahoy!"})),
        when(
            "turn",
            "a line of nobody's",
            "SALVO-CHAT-2",
            say("cy", {"text": "Ahoy!"}),
            answer=refusal("cy/error", "unknown_player"),
        ),
        when(
            "turn",
            "a line to nobody",
            "SALVO-CHAT-2",
            say("bob", {"text": "Ahoy!", "to": "cy"}),
            answer=refusal("bob/error", "unknown_player"),
        ),
        when(
            "turn",
            "a line to oneself",
            "SALVO-CHAT-2",
            say("bob", {"text": "Ahoy!", "to": "bob"}),
            answer=refusal("bob/error", "unknown_player"),
        ),
        when(
            "over", "nothing to say", "SALVO-CHAT-3", say("bob", {"text": " "}), answer=refusal("bob/error", "bad_text")
        ),
        when(
            "turn",
            "six lines at once",
            "SALVO-CHAT-4",
            *(say("bob", {"text": "Ahoy!"}) for _ in range(6)),
            answer=refusal("bob/error", "rate_limited"),
        ),
        when(
            "quiet",
            "a line where nothing may be said",
            "SALVO-CHAT-7",
            say("bob", {"text": "Ahoy!"}),
            answer=refusal("bob/error", "chat_off"),
        ),
        when("turn", "silence", "SALVO-TURN-5", answer=refusal("ann/error", "turn_timeout"), seconds=30),
        when("bank", "silence with a bank", "SALVO-TIME-3", answer=refusal("ann/error", "bank_empty"), seconds=5),
        when("over", "the rest of the winning salvo", "SALVO-FIRE-12", *(fire("ann", "bob", 9, 9) for _ in range(3))),
        when(
            "over",
            "after the end",
            "SALVO-GAME-6",
            fire("bob", "ann", 3, 4),
            answer=refusal("bob/error", "wrong_state"),
        ),
        when("lobby", "leaving", "SALVO-JOIN-15", leave("ann")),
        when("lobby", "leaving this lobby", "SALVO-JOIN-15", leave("ann", g=1)),
        when(
            "lobby",
            "leaving another lobby",
            "SALVO-JOIN-15",
            leave("ann", g=2),
            answer=refusal("ann/error", "stale_context"),
        ),
        when("lobby", "leaving in another's name", "SALVO-SEAL-8", leave("ann", by="bob"), logged="forged"),
        when("turn", "leaving in a game", "SALVO-JOIN-15", leave("ann"), answer=refusal("ann/error", "wrong_state")),
    ]


def skips() -> list[dict[str, Any]]:
    """A signed skip on `/players/me/skip`: game and turn that it was signed for, or why it is none (SALVO-BOOK-7)."""

    def given(body: str, signed: str | None = None, key: str = "data") -> dict[str, str]:
        signature = blob(body if signed is None else signed)
        return {"secret": SECRET, "payload": f'{{"{key}": {body}, "signature": "{signature}"}}'}

    text = "SALVO-BOOK-7"
    return [
        case("an empty body", text, given("{}"), result=None),
        case("game and turn", text, given('{"g": 1, "t": 9}'), result=[1, 9]),
        case("the body under payload", "SALVO-SEAL-4", given('{"g": 1, "t": 9}', key="payload"), result=[1, 9]),
        case("game without turn", text, given('{"g": 1}'), error="stale_context"),
        case("turn without game", text, given('{"t": 9}'), error="stale_context"),
        case(
            "another body signed", "SALVO-SEAL-5", given('{"g": 1, "t": 9}', '{"g": 1, "t": 8}'), error="body_mismatch"
        ),
        case("a field too many", "SALVO-WIRE-4", given('{"x": 1, "y": 1}'), error="wrong_shape"),
        case("a text for the turn", "SALVO-WIRE-4", given('{"g": 1, "t": "9"}'), error="wrong_shape"),
    ]


def leaves() -> list[dict[str, Any]]:
    """Leaving the lobby on `/players/me/leave`: the game that it was signed for, or why it is none (SALVO-JOIN-15)."""

    def given(body: str, signed: str | None = None, key: str = "data") -> dict[str, str]:
        signature = blob(body if signed is None else signed)
        return {"secret": SECRET, "payload": f'{{"{key}": {body}, "signature": "{signature}"}}'}

    text = "SALVO-JOIN-15"
    return [
        case("an empty body", text, given("{}"), result=None),
        case("the game", text, given('{"g": 1}'), result=1),
        case("the body under payload", "SALVO-SEAL-4", given('{"g": 1}', key="payload"), result=1),
        case("another body signed", "SALVO-SEAL-5", given('{"g": 1}', '{"g": 2}'), error="body_mismatch"),
        case("the body of a skip", "SALVO-WIRE-4", given('{"g": 1, "t": 9}'), error="wrong_shape"),
        case("a text for the game", "SALVO-WIRE-4", given('{"g": "1"}'), error="wrong_shape"),
    ]


def hosts() -> list[dict[str, Any]]:
    """What a host does on `/game/host`: the body that it signed, or why it is none (SALVO-HOST)."""

    def given(**body: Any) -> dict[str, str]:
        text = json.dumps({"by": "desk", **body})
        return {"secret": SECRET, "payload": f'{{"data": {text}, "signature": "{blob(text)}"}}'}

    def good(description: str, sentence: str, **body: Any) -> dict[str, Any]:
        return case(description, sentence, given(**body), result={"by": "desk", **body})

    text, settings = "SALVO-HOST-7", {"players": 2, "turn_seconds": 5, "pace_ms": 0, "teams": ["ann", "bob"]}
    return [
        good("a pause", "SALVO-HOST-4", do="pause"),
        good("a pause of one game", "SALVO-HOST-1", do="pause", g=3),
        good("more time", "SALVO-HOST-4", do="extend", seconds=3600),
        good("a team less", "SALVO-HOST-6", do="remove", team="ann"),
        good("a line", text, do="announce", text="Lunch is at noon."),
        good("settings", text, do="set", settings=settings),
        good("a pace in milliseconds", text, do="set", settings={"pace_ms": 400}),
        good("a result that does not count", text, do="annul", game=3),
        case("an hour and a second", "SALVO-HOST-4", given(do="extend", seconds=3601), error="wrong_shape"),
        case("something else", "SALVO-HOST-1", given(do="win"), error="wrong_shape"),
        case("a needless argument", "SALVO-HOST-1", given(do="pause", seconds=3), error="wrong_shape"),
        case("no argument", "SALVO-HOST-6", given(do="remove"), error="wrong_shape"),
        case("two lines", text, given(do="announce", text="Lunch\nis over"), error="bad_text"),
        case("one team", text, given(do="set", settings={"teams": ["ann"]}), error="wrong_shape"),
        case("a team twice", text, given(do="set", settings={"teams": ["ann", "Ann"]}), error="wrong_shape"),
        case("a team with a bad name", text, given(do="set", settings={"teams": ["ann", "+"]}), error="bad_name"),
        case("more players than teams", text, given(do="set", settings=settings | {"players": 3}), error="wrong_shape"),
        case(
            "a pace of more than ten minutes", text, given(do="set", settings={"pace_ms": 600_001}), error="wrong_shape"
        ),
        case("an unknown setting", text, given(do="set", settings={"seed": 1}), error="wrong_shape"),
    ]


def lines() -> list[dict[str, Any]]:
    """A payload on `/players/ann/say`: what ann says and to whom, or why it is no line (SALVO-CHAT-3)."""

    def given(text: str, **more: str) -> dict[str, str]:
        return {"payload": json.dumps({"text": text, **more})}

    rules = "SALVO-CHAT-3"
    return [
        case("to everybody", "SALVO-CHAT-1", given("Ahoy!"), result=["Ahoy!", ""]),
        case("to one", "SALVO-CHAT-1", given("Ahoy!", to="bob"), result=["Ahoy!", "bob"]),
        case("to nobody in particular", "SALVO-CHAT-1", given("Ahoy!", to=""), result=["Ahoy!", ""]),
        case("white space behind", rules, given("  Ahoy! \n"), result=["  Ahoy!", ""]),
        case("normalised", rules, given("e\u0301"), result=["\u00e9", ""]),
        case("200 characters", rules, given("x" * 200 + "  "), result=["x" * 200, ""]),
        case("200 of four bytes each", rules, given("\U0001f6a2" * 200), result=["\U0001f6a2" * 200, ""]),
        case(
            "a joined emoji", rules, given("\U0001f3f4\u200d\u2620\ufe0f"), result=["\U0001f3f4\u200d\u2620\ufe0f", ""]
        ),
        case("from right to left", rules, given("\u05e9\u05dc\u05d5\u05dd"), result=["\u05e9\u05dc\u05d5\u05dd", ""]),
        case("201 characters", rules, given("x" * 201), error="bad_text"),
        case("201 characters that come to fewer", rules, given("e\u0301" * 100 + "x"), error="bad_text"),
        case("100 characters that come to more", rules, given("\ufb2c" * 100), error="bad_text"),
        case("empty", rules, given(""), error="bad_text"),
        case("white space only", rules, given(" \t\u3000"), error="bad_text"),
        case("nothing to be seen", rules, given("\u200b\u2060\u0301"), error="bad_text"),
        case("two lines", rules, given("Ahoy!\nann wins"), error="bad_text"),
        case("a line separator", rules, given("Ahoy!\u2028ann wins"), error="bad_text"),
        case("an escape for terminals", rules, given("\u001b[2JAhoy!"), error="bad_text"),
        case("a control character of Latin-1", rules, given("\u009b2JAhoy!"), error="bad_text"),
        case("turned round", rules, given("\u202eyohA"), error="bad_text"),
        case("half a surrogate pair", "SALVO-WIRE-1", given("\ud83d"), error="not_utf8"),
        case("no text", "SALVO-WIRE-4", {"payload": '{"to": "bob"}'}, error="wrong_shape"),
        case("a number", "SALVO-WIRE-4", {"payload": '{"text": 1}'}, error="wrong_shape"),
        case("null for everybody", "SALVO-WIRE-4", {"payload": '{"text": "Ahoy!", "to": null}'}, error="wrong_shape"),
        case("with a sender", "SALVO-WIRE-4", given("Ahoy!", **{"from": "bob"}), error="wrong_shape"),
        case("bare text", "SALVO-WIRE-1", {"payload": "Ahoy!"}, error="not_json"),
    ]


def resends() -> list[dict[str, Any]]:
    """A request for the log on `/players/me/resend`: the first entry wanted, or why it is none (SALVO-LOG-12)."""
    text = "SALVO-LOG-12"
    return [
        case("from an entry on", text, '{"log": 17}', result=17),
        case("all of it", text, '{"log":0}', result=0),
        case("an entry before the opening", text, '{"log": -1}', error="wrong_shape"),
        case("an entry that no log has", text, '{"log": 1000000001}', error="wrong_shape"),
        case("a text", "SALVO-WIRE-4", '{"log": "17"}', error="wrong_shape"),
        case("a number with a point", "SALVO-WIRE-3", '{"log": 1.0}', error="not_integer"),
        case("a field too many", "SALVO-WIRE-4", '{"log": 1, "to": 2}', error="wrong_shape"),
        case("nothing", "SALVO-WIRE-4", "{}", error="wrong_shape"),
        case("no JSON", "SALVO-WIRE-1", "17;", error="not_json"),
    ]


def book_refusals() -> dict[str, Any]:
    """What is refused by the ruleset that is played; read like `refusals`, "rules" in the settings is its name."""

    def state(sender: Sender, rules: str, *ships: str, seated: int = 2) -> dict[str, Any]:
        seats = ("ann", "bob")
        messages = [sender.ask(name) for name in seats]
        for name in seats[:seated]:
            messages += sender.fleet_of(name, *ships)
        settings = {"players": 2, "rules": rules}
        return {
            "settings": settings,
            "starter": "ann",
            "state": "turn" if seated == 2 else "lobby",
            "messages": messages,
        }

    spaced = ("aircraftcarrier", "battleship", "cruiser", "submarine1", "submarine2")
    states = {
        "salvo": state(Sender(), "salvo", *FLEET),
        "xbs": state(Sender(), "xbs", *"abcde"),
        "smackdown": state(Sender(), "smackdown", *FLEET),
        "spaced lobby": state(Sender(), "spaced", *spaced, seated=1),
    }
    sender = Sender(last_nonce=1000)
    fire, skip = sender.fire, sender.skip
    anns, bobs = {"topic": "/players/ann/error"}, {"topic": "/players/bob/error"}
    cruisers = {"topic": "/players/bob/ships/cruiser/error"}

    def when(
        state: str, description: str, sentence: str, *messages: dict[str, Any], answer: dict[str, str] | None = None
    ) -> dict[str, Any]:
        found = {"description": description, "sentence": sentence, "state": state, "messages": list(messages)}
        return {**found, "answers": [] if answer is None else [answer]}

    cases = [
        when("salvo", "a skip", "SALVO-BOOK-7", skip("ann")),
        when("salvo", "a skip out of turn", "SALVO-BOOK-7", skip("bob"), answer=bobs | {"code": "not_your_turn"}),
        when("xbs", "a skip", "SALVO-BOOK-7", skip("ann")),
        when("xbs", "a skip for this turn", "SALVO-BOOK-7", skip("ann", g=1, t=1)),
        when(
            "xbs",
            "a skip for another turn",
            "SALVO-BOOK-7",
            skip("ann", g=1, t=2),
            answer=anns | {"code": "stale_context"},
        ),
        when("xbs", "a skip out of turn", "SALVO-BOOK-7", skip("bob"), answer=bobs | {"code": "not_your_turn"}),
        when("xbs", "a second skip", "SALVO-BOOK-7", skip("ann"), skip("ann"), answer=anns | {"code": "not_your_turn"}),
        when(
            "xbs",
            "a skip with another body than was signed",
            "SALVO-SEAL-5",
            skip("ann", shown={"g": 1, "t": 2}, g=1, t=1),
            answer=anns | {"code": "body_mismatch"},
        ),
        when(
            "xbs",
            "a skip that is no JSON",
            "SALVO-WIRE-1",
            message("/players/ann/skip", "skip"),
            answer=anns | {"code": "not_json"},
        ),
        when(
            "xbs",
            "a shot at the own board",
            "SALVO-BOOK-6",
            fire("ann", "ann", 9, 9),
            answer=anns | {"code": "own_board"},
        ),
        when(
            "xbs",
            "a cell that was shot at before",
            "SALVO-BOOK-6",
            fire("ann", "bob", 9, 9),
            skip("bob"),
            fire("ann", "bob", 9, 9),
            answer=anns | {"code": "shot_before"},
        ),
        when("smackdown", "a skip after a shot", "SALVO-BOOK-7", fire("ann", "bob", 9, 9), skip("ann", g=1, t=1)),
        when(
            "smackdown", "a cell twice in a salvo", "SALVO-BOOK-6", fire("ann", "bob", 9, 9), fire("ann", "bob", 9, 9)
        ),
        when(
            "smackdown",
            "a shot after the own salvo of the round",
            "SALVO-BOOK-5",
            skip("ann"),
            fire("ann", "bob", 9, 9),
            answer=anns | {"code": "not_your_turn"},
        ),
        when("spaced lobby", "ships that meet at a corner", "SALVO-PLACE-8", *_two(sender, "6;3")),
        when(
            "spaced lobby",
            "ships side by side",
            "SALVO-PLACE-8",
            *_two(sender, "1;3"),
            answer=cruisers | {"code": "too_close"},
        ),
    ]
    return {"states": states, "cases": cases}


def _two(sender: Sender, at: str) -> list[dict[str, Any]]:
    """Bob's carrier in row 2, columns 1 to 5, and his cruiser."""
    return [sender.place("bob", "aircraftcarrier", "1;2"), sender.place("bob", "cruiser", at)]


def recaps() -> list[dict[str, Any]]:
    """What ann learns from the text inside a recap's blob, or the code; the grid has 10 x 10 cells.

    ``afloat``: ships by player. ``fired``: shots and hits by player. ``aimed`` and ``struck``: cells that ann has fired
    at and cells of her board that were shot at, once each.
    """
    names = ("carrier", "battleship", "destroyer", "submarine", "patrolboat")
    fleet = [{"ship": ship, "coordinates": f"1;{y}", "Orientation": "HORIZONTAL"} for y, ship in enumerate(names, 1)]
    whole: dict[str, Any] = {
        "game": 1,
        "turn": 4,
        "players": ["ann", "bob"],
        "fleet": fleet,
        "first": 1,
        "results": [0, 5, 2, 1, 5, 0, 0, 5, 3],
        "sunk": [1, 1, 4, 3, 1, 2],
        "defeated": [],
        "shots": [1, 1, 9, 9, 3, 1, 2, 10],
        "hits": [4, 7, 4, 7, 10, 10],
    }
    aimed, struck = "0" * 22 + "8" + "0" * 2, "0" * 15 + "1" + "0" * 9  # cells 88 and 63
    before: dict[str, Any] = {
        "tallies": [1, 5, 2, 1, 5, 0],
        "sunk": [1, 4],
        "defeated": [],
        "shots": 1,
        "aimed": ["", aimed],
        "hits": 2,
        "struck": struck,
    }
    latest = {"first": 3, "results": [0, 5, 3], "sunk": [3, 1, 2], "shots": [3, 1, 2, 10], "hits": [10, 10]}
    left_out = latest | {"before": before}
    outcomes = {"outcomes": "110000000001011"}
    aims = {"aims": [1, 9, 9] * 5 + [0, 4, 7] * 5 + [1, 2, 10] * 5}
    # Where cells are announced, ``aimed`` has the shots of both.
    known = {"aimed": [struck, aimed], "met": ["", aimed]}
    cells = latest | {"outcomes": "01011", "aims": [1, 2, 10] * 5, "before": before | known}

    def given(**fields: Any) -> dict[str, str]:
        return {"text": json.dumps(whole | fields)}

    def wrong(description: str, **fields: Any) -> dict[str, Any]:
        return case(description, "SALVO-JOIN-12", given(**fields), error="wrong_shape")

    refusal = {
        "first": 1,
        "turn": 4,
        "afloat": {"ann": 5, "bob": 3},
        "out": [],
        "fired": {"ann": [10, 5], "bob": [5, 0]},
        "aimed": [["bob", 2, 10], ["bob", 9, 9]],
        "struck": [[4, 7], [10, 10]],
    }
    return [
        case("the whole game", "SALVO-JOIN-12", given(), result=refusal),
        case("with the outcome of every shot", "SALVO-JOIN-12", given(**outcomes), result=refusal),
        case("two turns left out", "SALVO-JOIN-13", given(**left_out), result=refusal | {"first": 3}),
        case("with the cell of every shot", "SALVO-BOOK-4", given(**outcomes, **aims), result=refusal),
        case("two turns left out, with cells", "SALVO-JOIN-13", given(**cells), result=refusal | {"first": 3}),
        case("bob is out", "SALVO-JOIN-12", given(defeated=[3, 1]), result=refusal | {"out": ["bob"]}),
        wrong("half a result", results=[0, 5]),
        wrong("a player that there is not", results=[2, 5, 1]),
        wrong("a ship that there is not", sunk=[1, 1, 5]),
        wrong("half a shot", shots=[1, 1, 9]),
        wrong("fewer outcomes than shots", outcomes="1"),
        wrong("fewer aims than shots", aims=[1, 9, 9]),
        wrong("half an aim", aims=[*aims["aims"], 1]),
        wrong("a ship sank in a turn that is neither told nor summed up", sunk=[9, 1, 4]),
        wrong("cells that are no hexadecimal digits", before={**before, "struck": "G"}),
        wrong("sums of one player only", before={**before, "tallies": [1, 5, 2]}),
        wrong("half a ship summed up", before={**before, "sunk": [1]}),
        wrong("hits of one player only", before={**before, "met": [""]}),
    ]


def referee_views() -> list[dict[str, Any]]:
    """A payload on /game/referee: what it tells, or the code. A board is its rows from A on (SALVO-VIEW-5)."""
    rows = ["aa.*", "B..."]
    ann = {"player": "ann", "rows": rows, "shots": 3, "hits": 1, "out": False}
    bob = {"player": "bob", "rows": ["A.a.", "..B."], "shots": 2, "hits": 1, "out": False}
    began = {"game": 1, "turn": 0, "at": 1_760_000_000_000, "player": "ann", "shots": 2, "boards": [ann, bob]}
    last = {"player": "bob", "shots": [{"to": "ann", "x": 1, "y": 2, "hit": True}]}
    later = {**began, "turn": 2, "last": last}
    over = {**later, "player": "", "shots": 0, "winner": "ann"}

    def given(body: Any) -> dict[str, str]:
        return {"payload": json.dumps(body)}

    def wrong(description: str, sentence: str, body: Any, error: str = "wrong_shape") -> dict[str, Any]:
        return case(description, sentence, given(body), error=error)

    def refusal(body: dict[str, Any]) -> dict[str, Any]:
        sunk = {board["player"]: "b" not in "".join(board["rows"]) for board in body["boards"]}
        return {
            "turn": body["turn"],
            "next": body["player"],
            "winner": body.get("winner", ""),
            "second ship sunk": sunk,
        }

    return [
        case("before the first salvo", "SALVO-VIEW-4", given(began), result=refusal(began)),
        case("after a salvo", "SALVO-VIEW-4", given(later), result=refusal(later)),
        case("when it is over", "SALVO-VIEW-4", given(over), result=refusal(over)),
        wrong("a letter that no cell has", "SALVO-VIEW-5", {**began, "boards": [{**ann, "rows": ["aa#*", "B..."]}]}),
        wrong("rows of different lengths", "SALVO-VIEW-5", {**began, "boards": [{**ann, "rows": ["aa.*", "B.."]}]}),
        wrong("a board without rows", "SALVO-VIEW-5", {**began, "boards": [{**ann, "rows": []}]}),
        wrong("a salvo without its targets", "SALVO-VIEW-4", {**began, "last": {"player": "bob"}}),
        wrong(
            "a cell counted from 0",
            "SALVO-GAME-2",
            {**began, "last": {**last, "shots": [{**last["shots"][0], "x": 0}]}},
        ),  # type: ignore[index,dict-item]
        case(
            "a field of a later version",
            "SALVO-VERSION-3",
            {"payload": json.dumps({**json.loads(given(began)["payload"]), "later": 1})},
            result=refusal(began),
        ),
        wrong("true for a number", "SALVO-WIRE-4", {**began, "turn": True}),
        case(
            "a number with a point",
            "SALVO-WIRE-3",
            {"payload": json.dumps({**began, "turn": 1.0})},
            error="not_integer",
        ),
    ]


def standings() -> list[dict[str, Any]]:
    """A payload on /game/standings: places and rounded points of the evening and how many games count, or the code."""
    figures = {"games": 1, "wins": 1, "ties": 0, "losses": 0, "opposition": 0, "shots": 80, "hits": 19}
    ann = {"place": 1, "team": "ann", "points": 1000, **figures, "rating": 27_640, "low": 11_860, "high": 43_419}
    bob = {**ann, "place": 2, "team": "bob", "points": 0, "wins": 0, "losses": 1, "opposition": 1000, "rating": 22_360}
    bob |= {"low": -6_580, "high": 38_139}
    annulled = {"table": "", "game": 2, "at": 1_760_000_900_000, "by": "desk"}
    aborted = {"table": "blue", "game": 1, "at": 1_760_000_800_000}
    evening = {"since": 1_760_000_000_000, "until": 1_760_000_900_000, "games": 1, "teams": 2, "rows": [ann, bob]}
    evening |= {"uncounted": [annulled]}

    def refusal(body: dict[str, Any]) -> dict[str, Any]:
        table = body["evening"]
        return {
            "teams": [[row["place"], row["team"], row["points"]] for row in table["rows"]],
            "games": table["games"],
            "uncounted": [[each["table"], each["game"], each.get("by", "")] for each in table.get("uncounted", [])],
        }

    def right(description: str, body: dict[str, Any], sentence: str = "SALVO-STAND-5") -> dict[str, Any]:
        return case(description, sentence, {"payload": compact(body).decode()}, result=refusal(body))

    def wrong(description: str, sentence: str, error: str = "wrong_shape", **changed: Any) -> dict[str, Any]:
        body = {"evening": evening, "overall": {**evening, **changed}}
        return case(description, sentence, {"payload": compact(body).decode()}, error=error)

    whole = {"evening": evening, "overall": evening}
    without = {key: value for key, value in evening.items() if key != "uncounted"}
    return [
        right("after a game, and one that was annulled", whole),
        right("a game without a winner", {**whole, "evening": {**evening, "uncounted": [aborted]}}, "SALVO-STAND-4"),
        right("every game counts", {"evening": without, "overall": without}),
        right("a field of a later version", {**whole, "later": 1}, "SALVO-VERSION-3"),
        case("no evening", "SALVO-STAND-5", {"payload": compact({"overall": evening}).decode()}, error="wrong_shape"),
        wrong("a line without its place", "SALVO-STAND-2", rows=[{k: v for k, v in ann.items() if k != "place"}]),
        wrong("fewer than no games", "SALVO-STAND-5", games=-1),
        wrong("points with a point", "SALVO-WIRE-3", "not_integer", rows=[{**ann, "points": 1.5}]),
    ]


# --- the log ----------------------------------------------------------------------------------------------------------

SIGNER = nacl.signing.SigningKey(bytes(range(32)))
OTHER_SIGNER = nacl.signing.SigningKey(bytes(32))
GAME_SECRET = hashlib.sha256(b"a fresh secret of one game").digest()
POND = {"rules": "pond", "width": 2, "height": 2, "first": 1, "fleet": {"raft": 1}, "spacing": "touch"}
POND |= {"shots": "afloat", "order": "rotation", "announce": "count", "ending": "last_afloat", "starter": "random"}
POND |= {"placement_seconds": 60, "turn_seconds": 30, "over_seconds": 300, "empty_turns": 3, "table": ""}


def h(text: bytes, key: bytes = b"", length: int = 32) -> bytes:
    return hashlib.blake2b(text, digest_size=length, key=key).digest()


def compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


class Log:
    """Writes a game's log, entry by entry (SALVO-LOG-1..6)."""

    def __init__(self, draw: str = "fair", signer: nacl.signing.SigningKey = SIGNER) -> None:
        self.payloads: list[str] = []
        self.texts: list[str] = []
        self._signer = signer
        self._waiting: list[str] = []
        self._of: dict[str, str] = {}
        self._prev = ""
        seed = h(b"salvo seed\0" + GAME_SECRET.hex().encode(), GAME_SECRET).hex()
        limits = {"players": 2, "placement_ms": 60000, "turn_ms": 30000, "over_ms": 300000, "empty_turns": 3}
        limits["most_players"] = 64
        key = base64.b64encode(bytes(signer.verify_key)).decode()
        opening = {"log": 1, "game": 1, "rules": POND, "limits": limits, "version": "1.0", "key": key, "draw": draw}
        text = self._write("open", {**opening, "seed": seed})
        self._of = {"of": h(text)[:8].hex()}

    def _write(self, kind: str, body: dict[str, Any]) -> bytes:
        text = compact({"n": len(self.payloads), **self._of, "prev": self._prev, kind: body})
        sign = base64.b64encode(self._signer.sign(b"salvo log\0" + text).signature)
        self.payloads.append((b'{"entry":' + text + b',"sign":"' + sign + b'"}').decode())
        self._prev = h(text).hex()
        return text

    def hide(self, at: int, **given: Any) -> None:
        text = compact({"at": at, **given})
        key = h(b"salvo blind" + len(self.texts).to_bytes(8, "big"), GAME_SECRET)
        self._waiting.append(h(text, key).hex())
        self.texts.append(text.decode())

    def step(self, at: int, *said: dict[str, Any], **given: Any) -> None:
        self._write("step", {"at": at, "said": list(said), **given, "hidden": self._waiting})
        self._waiting = []

    def reveal(self, texts: list[str]) -> None:
        self._write("reveal", {"first": 0, "seed": GAME_SECRET.hex(), "secret": GAME_SECRET.hex(), "texts": texts})
        self._write("end", {"steps": len(self.payloads) - 2, "hidden": len(texts)})


def pond_game(log: Log, cheat: str = "") -> list[str]:
    """Ann and bob have a raft each; who begins misses, and the other one hits."""
    at = 1_790_000_000_000
    rafts = {"ann": (1, 1), "bob": (2, 2)}
    names, messages = list(rafts), {}
    for name in names:
        log.step(at, {"players": {"names": names[: names.index(name) + 1]}}, input={"participate": {"name": name}})
    turn = {"game": 1, "turn": 1, "player": "", "shots": 1, "now": at, "deadline": at + 30_000}
    for name, (x, y) in rafts.items():
        payload = base64.b64encode(h(name.encode(), length=58))
        messages[name] = h(f"/players/{name}/ships/raft/place".encode() + b"\0" + payload, length=16)
        placed = {"player": name, "spelling": "raft", "ship": "raft", "x": x, "y": y, "orientation": "HORIZONTAL"}
        log.hide(at, place={**placed, "message": messages[name].hex()})
        said: list[dict[str, Any]] = [{"judged": {"player": name, "spelling": "raft", "approved": True}}]
        if len(messages) == 2:
            drawn = h(b"salvo start" + b"".join(messages.values()), GAME_SECRET)
            number = int.from_bytes(drawn, "big") + (cheat == "starter")
            first, second = names[number % 2], names[(number + 1) % 2]
            said += [{"state": {"state": "turn"}}, {"turn": {**turn, "player": first}}]
        log.step(at, *said, message=messages[name].hex())
    _pond_shots(log, at, turn, rafts, first, second, cheat)
    texts = list(log.texts)
    if cheat == "board":
        texts[0] = texts[0].replace('"x":1', '"x":2')
    log.reveal(texts)
    return log.payloads


def _pond_shots(log: Log, at: int, turn: dict[str, Any], rafts: Any, first: str, second: str, cheat: str) -> None:
    salvo = {"game": 1, "turn": 1, "player": first, "shots": 1, "hits": int(cheat == "hits"), "sunk": []}
    log.hide(at, fire={"player": first, "target": second, "x": 2, "y": 1})
    log.step(at, {"result": {**salvo, "defeated": []}}, {"turn": {**turn, "turn": 2, "player": second}})
    x, y = rafts[first]
    log.hide(at, fire={"player": second, "target": first, "x": x, "y": y})
    sunk = {"sunk": [{"player": first, "ship": "raft"}], "defeated": [first]}
    won = {"shots": 1, "hits": 1, "sunk": 1, "turns": 1, "place": 1}
    lost = {"shots": 1, "hits": 0, "sunk": 0, "turns": 1, "place": 2}
    log.step(
        at,
        {"result": {"game": 1, "turn": 2, "player": second, "shots": 1, "hits": 1, **sunk}},
        *({"stats": {"player": name, **(won if name == second else lost)}} for name in rafts),
        {"won": {"winner": second}},
        {"state": {"state": "over"}},
    )


def log() -> list[dict[str, Any]]:
    """A game's payloads of /game/log, in order: null when it was fair, else the first bad payload, counted from 1, and
    whose fault it is: "server" signed what is not so, "file" is not signed by it, "incomplete" lacks something,
    "forked" continues another entry that the server signed.

    The server's key is Ed25519 of the seed 00 01 02 ... 1f (SALVO-LOG-11).
    """

    def found(payload: int, fault: str) -> dict[str, Any]:
        return {"payload": payload, "fault": fault}

    fair = pond_game(Log())
    elsewhere = pond_game(Log(signer=OTHER_SIGNER))
    entry, sign = fair[3][:-99], fair[3][-99:]
    return [
        case("a fair game", "SALVO-LOG-11", fair, result=None),
        case(
            "a changed digit",
            "SALVO-LOG-2",
            [*fair[:3], entry.replace("approved", "approvee") + sign, *fair[4:]],
            result=found(4, "file"),
        ),
        case("white space", "SALVO-LOG-1", [*fair[:3], fair[3] + " ", *fair[4:]], result=found(4, "file")),
        case(
            "another signature", "SALVO-LOG-2", [*fair[:3], entry + fair[2][-99:], *fair[4:]], result=found(4, "file")
        ),
        case("another server's entry", "SALVO-LOG-2", [*fair[:3], *elsewhere[3:]], result=found(4, "file")),
        case("an entry is missing", "SALVO-LOG-4", [*fair[:3], *fair[4:]], result=found(4, "incomplete")),
        case("an entry twice", "SALVO-LOG-10", [*fair[:4], *fair[3:]], result=None),
        case("entries in another order", "SALVO-LOG-10", [*fair[3:], *fair[:3]], result=None),
        case("no opening", "SALVO-LOG-5", fair[1:], result=found(1, "incomplete")),
        case("no end", "SALVO-LOG-7", fair[:-1], result=found(len(fair), "incomplete")),
        case(
            "another entry of this number",
            "SALVO-LOG-4",
            [*fair[:6], *pond_game(Log(), "hits")[5:]],
            result=found(7, "forked"),
        ),
        case("another board than placed", "SALVO-LOG-7", pond_game(Log(), "board"), result=found(8, "server")),
        case("a hit that was none", "SALVO-LOG-11", pond_game(Log(), "hits"), result=found(6, "server")),
        case("another starter", "SALVO-LOG-8", pond_game(Log(), "starter"), result=found(5, "server")),
    ]


MAKERS: tuple[Callable[[], Any], ...] = (
    blobs,
    shots,
    placements,
    participations,
    sealed_participations,
    ships,
    log,
    refusals,
    referee_views,
    standings,
    skips,
    leaves,
    hosts,
    lines,
    resends,
    book_refusals,
    recaps,
)


def file_of(make: Callable[[], Any]) -> dict[str, Any]:
    """A file's content: what it is about, and its cases."""
    made = make()
    description = " ".join((inspect.getdoc(make) or "").split())
    return {"description": description, **(made if isinstance(made, dict) else {"cases": made})}


def main() -> None:
    for make in MAKERS:
        (HERE / f"{make.__name__}.json").write_text(json.dumps(file_of(make), indent=1) + "\n")


if __name__ == "__main__":
    main()
