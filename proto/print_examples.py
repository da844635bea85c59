"""Examples below the requirements of proto/README.md, from the vectors and from the code that reads and writes them.

``print_contract.py`` prints them. Each function is about one requirement, which its name has: ``seal_1``, SALVO-SEAL-1.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import re
from pathlib import Path
from typing import Any, Final

import nacl.signing
from nacl.pwhash import argon2id

from salvo import messages as m
from salvo.codec import log, log_reader
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.recap_reader import read_recap
from salvo.rules import SALVO
from salvo.rules.starter import draw_fair_starter
from salvo.wire import seal

VECTORS: Final = Path(__file__).parent / "vectors"
SECRET: Final = "cockadoodledoo"
SALT: Final = bytes(range(16))
NONCE: Final = bytes(range(24))
#: The server of the vectors: Ed25519 and X25519 of the same 32 bytes.
PRIVATE: Final = bytes(range(32))
SIGNING_KEY: Final = bytes(nacl.signing.SigningKey(PRIVATE).verify_key)

Rows = list[tuple[str, object]]


def case(file: str, description: str) -> Any:
    """A case of a file of vectors, by its description."""
    [found] = [each for each in vectors(file) if each["description"] == description]
    return found


@functools.cache
def vectors(file: str) -> Any:
    """All cases of a file."""
    return json.loads((VECTORS / f"{file}.json").read_text())["cases"]


@functools.cache
def key(salt: bytes = SALT) -> bytes:
    """The key of the secret, with the numbers of SALVO-SEAL-2."""
    return argon2id.kdf(32, SECRET.encode(), salt, opslimit=2, memlimit=64 * 1024 * 1024)


def table(rows: Rows) -> str:
    """Names and values, one below the other."""
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)


def opened(blob: str) -> str:
    """The text inside a blob."""
    return seal.open_blob(seal.parse_blob(blob), key(seal.parse_blob(blob).salt)).decode()


def payload_of(announcement: m.Announcement, level: str) -> str:
    """The payload of an announcement on the topic that has this level."""
    [payload] = [each.payload for each in write_announcement(announcement) if level in each.topic.split("/")]
    return payload.decode() if isinstance(payload, bytes) else str(payload)


# --- blobs and signatures -----------------------------------------------------------------------------------------


def seal_1() -> str:
    """The parts of a blob."""
    text = case("blobs", "a shot")["input"]["blob"]
    blob = seal.parse_blob(text)
    assert opened(text) == case("blobs", "a shot")["result"]
    rows: Rows = [("salt", blob.salt.hex()), ("nonce", blob.nonce.hex()), ("ciphertext", blob.ciphertext.hex())]
    return table([*rows, ("blob", text)])


def seal_2() -> str:
    """A key."""
    return table([("secret", SECRET), ("salt", SALT.hex()), ("key", key().hex())])


def seal_3() -> str:
    """The sample of the specification, and the text of the example above it."""
    sample, shot = case("blobs", "the sample of the specification"), case("blobs", "a shot")
    texts = [opened(each["input"]["blob"]) for each in (sample, shot)]
    assert texts == [sample["result"], shot["result"]]
    rows: Rows = [("sample", sample["input"]["blob"]), ("opens to", texts[0])]
    return table([*rows, ("blob", "as in SALVO-SEAL-1"), ("opens to", texts[1])])


def seal_4() -> str:
    """A signed message."""
    payload: str = case("shots", "with data")["input"]["payload"]
    return payload


def seal_5() -> str:
    """Bodies that are equal values to what is sealed, and bodies that are not."""
    rows: Rows = [("open body", "text inside the blob")]
    for description in ("another order of keys and no white space", "another cell signed", "true for 1"):
        found = case("shots", description)
        body = json.loads(found["input"]["payload"])
        rows.append((json.dumps(body["data"]), f"{opened(body['signature']):<20}  {found.get('error', 'accepted')}"))
    return table(rows)


def seal_6() -> str:
    """The shortest blob."""
    found = case("blobs", "the shortest blob, 58 bytes")
    text = found["input"]["blob"]
    assert len(base64.b64decode(text)) == seal.SHORTEST_BLOB_BYTES
    return table([("plaintext", found["result"]), ("bytes", seal.SHORTEST_BLOB_BYTES), ("blob", text)])


def seal_9() -> str:
    """A padded message."""
    sealer = seal.Sealer(SECRET, SALT)
    sealer.key = key()
    message = sealer.sign({"x": 3, "y": 4}, NONCE).decode()
    body = json.loads(message)
    inside = opened(body["signature"])
    return table([("text inside", spaced(inside)), ("message", spaced(message))])


def spaced(text: str) -> str:
    """A padded text, with its spaces counted."""
    return f"{text.strip()}, and {len(text) - len(text.strip())} spaces: {len(text)} bytes"


def seal_10() -> str:
    """The key of the other direction."""
    return table([("team's key", key().hex()), ("server to team", seal.key_to_team(key()).hex())])


def place_2() -> str:
    """A placement."""
    text = case("placements", "as the specification prints it")["input"]["text"]
    blob = seal.make_blob(text.encode(), key(), SALT, NONCE)
    assert opened(blob).strip() == text
    return table([("topic", "/players/Henkiebunch/ships/carrier/place"), ("text inside", text), ("payload", blob)])


# --- freshness ----------------------------------------------------------------------------------------------------


def fresh_1() -> str:
    """The same command twice: the same nonce, and another one."""
    first, again = (seal.make_blob(b'{"x":3,"y":4}', key(), SALT, nonce) for nonce in (NONCE, NONCE[::-1]))
    rows: Rows = [("nonce", NONCE.hex()), ("blob", first), ("nonce", NONCE[::-1].hex()), ("blob", again)]
    assert opened(first) == opened(again)
    return table(rows)


def fresh_5() -> str:
    """A shot that is signed for its occasion."""
    payload: str = case("shots", "signed for its occasion")["input"]["payload"]
    return payload


def fresh_6() -> str:
    """A team's salt at one server."""
    rows: Rows = [("team", "Henkiebunch"), ("sign", SIGNING_KEY.hex())]
    return table([*rows, ("salt", seal.salt_of("Henkiebunch", SIGNING_KEY).hex())])


# --- the server's identity ----------------------------------------------------------------------------------------


def ident_1() -> str:
    """A server's keys in its status."""
    sealing = bytes.fromhex(case("sealed_participations", "padded to 96 bytes")["input"]["public_key_hex"])
    keys = m.ServerKeys(SIGNING_KEY, sealing)
    return payload_of(m.ServerStatus(True, "1.0", 1, "contest", keys=keys), "server")


def ident_3() -> str:
    """A fingerprint."""
    digest = hashlib.blake2b(SIGNING_KEY, digest_size=32).hexdigest()
    rows: Rows = [("sign", SIGNING_KEY.hex()), ("BLAKE2b-256", digest)]
    return table([*rows, ("fingerprint", seal.fingerprint(SIGNING_KEY))])


def ident_4() -> str:
    """A sealed request to take part."""
    given = case("sealed_participations", "padded to 96 bytes")["input"]
    text = seal.open_sealed(base64.b64decode(given["payload"]), bytes.fromhex(given["private_key_hex"])).decode()
    rows: Rows = [("text", spaced(text))]
    rows += [("private key", given["private_key_hex"]), ("public key", given["public_key_hex"])]
    return table([*rows, ("payload", given["payload"])])


# --- recaps -------------------------------------------------------------------------------------------------------


def join_12() -> str:
    """A whole recap, list by list."""
    text = case("recaps", "with the outcome of every shot")["input"]["text"]
    body = json.loads(text)
    told = read_recap("ann", text.encode())
    results = body["results"]
    rows: Rows = [("players", json.dumps(body["players"])), ("first", body["first"]), ("results", results)]
    for result in told.results:
        rows.append(("", f"turn {result.turn}: {result.player} fired {result.shots}, {result.hits} hit"))
    rows.append(("sunk", body["sunk"]))
    rows += [("", f"turn {r.turn}: {s.player}'s {s.ship}") for r in told.results for s in r.sunk]
    rows.append(("shots", body["shots"]))
    rows += [("", f"turn {shot.turn}: at {shot.target}, x {shot.x}, y {shot.y}") for shot in told.shots]
    rows.append(("hits", body["hits"]))
    rows += [("", f"x {x}, y {y}") for x, y in told.landed]
    return table([*rows, ("outcomes", body["outcomes"])])


def join_13() -> str:
    """The same game, with two turns summed up."""
    text = case("recaps", "two turns left out")["input"]["text"]
    body, before = json.loads(text), json.loads(text)["before"]
    earlier = read_recap("ann", text.encode()).earlier
    assert earlier is not None
    rows: Rows = [("first", body["first"]), ("tallies", before["tallies"])]
    rows += [("", f"{name}: turns {t.turns}, shots {t.shots}, hits {t.hits}") for name, t in earlier.tallies.items()]
    rows += [("sunk", before["sunk"]), ("shots", before["shots"])]
    rows += [("aimed", json.dumps(before["aimed"])), ("", f"of bob: {cells(before['aimed'][1])}")]
    return table([*rows, ("hits", before["hits"]), ("struck", before["struck"]), ("", cells(before["struck"]))])


def cells(digits: str) -> str:
    """The cells in a bitmap."""
    bits = "".join(f"{int(digit, 16):04b}" for digit in digits)
    numbers = [number for number, bit in enumerate(bits) if bit == "1"]
    return ", ".join(f"x {n % SALVO.grid.width + 1}, y {n // SALVO.grid.width + 1}" for n in numbers)


def join_15() -> str:
    """A signed message by which a team leaves."""
    payload: str = case("leaves", "the game")["input"]["payload"]
    return payload


# --- the log ------------------------------------------------------------------------------------------------------


def game() -> list[bytes]:
    """The payloads of a fair game."""
    return [payload.encode() for payload in case("log", "a fair game")["input"]]


def entries() -> list[tuple[bytes, Any]]:
    """Its entries: text and value; their signatures are verified here."""
    return [(log_reader.read_signed(payload, SIGNING_KEY)[0], json.loads(payload)["entry"]) for payload in game()]


def log_1() -> str:
    """The frame around the shortest entry."""
    payload = game()[-1]
    rows: Rows = [("payload", payload.decode()), ("first 9 bytes", payload[:9].decode())]
    return table([*rows, ("signed text", payload[9:-99].decode()), ("last 99 bytes", payload[-99:].decode())])


def log_2() -> str:
    """What the signature is over."""
    text, signature = log_reader.take_apart(game()[-1])
    seal.verify(SIGNING_KEY, b"salvo log\0" + text, signature)
    rows: Rows = [("key", SIGNING_KEY.hex()), ("message", rf"salvo log\0{text.decode()}")]
    return table([*rows, ("signature", signature.hex())])


def log_4() -> str:
    """How two entries hang together."""
    (opening, _), (_, first) = entries()[:2]
    digest = log.entry_digest(opening).hex()
    assert first["prev"] == digest
    assert first["of"] == digest[:16]
    return table([("H of the opening's text", digest), ("prev of entry 1", first["prev"]), ("of", first["of"])])


def log_5() -> str:
    """The commitment to a seed."""
    revealed, committed = entries()[7][1]["reveal"], entries()[0][1]["open"]["seed"]
    assert log.seed_commitment(bytes.fromhex(revealed["secret"]), revealed["seed"]).hex() == committed
    return table([("secret", revealed["secret"]), ("seed's text", revealed["seed"]), ("seed in entry 0", committed)])


def log_6() -> str:
    """A step with the commitment to a hidden input, and what opens it."""
    text, step = entries()[3]
    revealed = entries()[7][1]["reveal"]
    secret, hidden = bytes.fromhex(revealed["secret"]), revealed["texts"][0]
    inner = hashlib.blake2b(b"salvo blind" + bytes(8), digest_size=32, key=secret).hexdigest()
    assert log.blind(secret, 0, hidden).hex() == step["step"]["hidden"][0]
    rows: Rows = [("entry", text.decode()), ("secret", revealed["secret"]), ("text 0", hidden)]
    return table([*rows, ("its key", inner), ("hidden", step["step"]["hidden"][0])])


def log_7() -> str:
    """The entries after a game that was won."""
    return "\n".join(text.decode() for text, _ in entries()[7:])


def log_8() -> str:
    """What stands for a message, and a draw."""
    topic = "/players/Henkiebunch/ships/carrier/place"
    blob = seal.make_blob(b'{"coordinates": "3;2", "Orientation": "HORIZONTAL"}', key(), SALT, NONCE)
    messages = [entries()[number][1]["step"]["message"] for number in (3, 4)]
    secret = bytes.fromhex(entries()[7][1]["reveal"]["secret"])
    digest = hashlib.blake2b(b"salvo start" + bytes.fromhex("".join(messages)), digest_size=32, key=secret)
    starter = draw_fair_starter(SALVO, secret, [bytes.fromhex(each) for each in messages], 2)
    assert int(digest.hexdigest(), 16) % 2 == starter
    rows: Rows = [("topic", topic), ("payload", "as in SALVO-PLACE-2")]
    rows += [("message", log.message_digest(topic, blob.encode()).hex()), ("", "")]
    rows += [("secret", secret.hex()), ("placements", " ".join(messages)), ("H", digest.hexdigest())]
    starter_name = entries()[4][1]["step"]["said"][-1]["turn"]["player"]
    return table([*rows, ("modulo 2 players", f"{starter}: {starter_name}")])


# --- what the server says -----------------------------------------------------------------------------------------


def turn_7() -> str:
    """A turn."""
    return payload_of(m.TurnBegan(1, 9, "ann", 5, 1_760_000_000_000, 1_760_000_030_000), "turn")


def fire_11() -> str:
    """A result."""
    return payload_of(m.SalvoResolved(1, 9, "ann", 5, 2, (m.SunkShip("bob", "carrier", "carrier"),), ()), "result")


def game_7() -> str:
    """The rules of a table."""
    return payload_of(m.RulesAnnounced(SALVO, "", 60, 30, 300, 3), "rules")


def book_4() -> str:
    """A board after three shots."""
    shots = {(3, 1): "X", (4, 1): "0", (10, 10): "X"}
    rows = ["".join(shots.get((x, y), ".") for x in range(1, 11)) for y in range(1, 11)]
    return "".join(rows)


def view_5() -> str:
    """A board in the referee's view."""
    body = json.loads(case("referee_views", "before the first salvo")["input"]["payload"])
    [ann, _] = body["boards"]
    return json.dumps(ann)


def stand_5() -> str:
    """Standings after a game, and one that was annulled."""
    return str(case("standings", "after a game, and one that was annulled")["input"]["payload"])


def exec_4() -> str:
    """A question in mid-game, and its answer."""
    lines = (VECTORS.parent / "exec" / "example.jsonl").read_text().splitlines()
    number = next(n for n, line in enumerate(lines) if json.loads(line).get("type") == "turn" and '"fired":[{' in line)
    return "\n".join(lines[number : number + 2])


#: Each by its requirement.
EXAMPLES: Final = {
    f"SALVO-{name.replace('_', '-').upper()}": write
    for name, write in list(globals().items())
    if re.fullmatch(r"[a-z]+_\d+", name)
}
