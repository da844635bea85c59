"""The judge's reader, which shares nothing with the server's, against the published vectors and the schema."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool
from nacl.bindings import crypto_secretbox
from nacl.pwhash import argon2i, argon2id

from salvo.v1 import commands_pb2
from salvo_audit.check import keys, schema
from salvo_audit.check.commands import CommandReader, JudgedCommand
from salvo_audit.check.own_broker import ReceivedPublication

VECTORS: Final = Path(__file__).parents[2] / "proto" / "vectors"
TOPICS: Final = {
    "shots": "/players/rivals/fire",
    "participations": "/game/request_participation",
    "sealed_participations": "/game/request_participation",
    "skips": "/players/me/skip",
    "leaves": "/players/me/leave",
    "resends": "/players/me/resend",
    "lines": "/players/ann/say",
}
#: Codes of what is wrong with a message alone, and the cases that find it.
CASES: Final = {
    "not_utf8": {"wire/utf8"},
    "not_json": {"wire/json", "join/sealed", "join/request-shape"},
    "duplicate_key": {"wire/keys-once"},
    "not_integer": {"wire/integers"},
    "too_deep": {"wire/depth"},
    "too_large": {"wire/length"},
    "wrong_shape": {"seal/signed-shape", "join/request-shape", "turn/skip-shape", "join/leave-shape"}
    | {"log/resend-shape", "chat/shape", "turn/one-shot-a-message"},
    "blob_not_base64": {"seal/base64", "seal/bare-blob"},
    "blob_length": {"seal/length"},
    "forged": {"seal/opens"},
    "body_mismatch": {"seal/body-equal", "seal/signed-shape"},
    "sealed_unreadable": {"join/sealed", "join/request-shape"},
}
#: Judged where the client's own name and secret are compared.
ABOUT_THE_CLIENT: Final = {"join/name", "join/secret", "place/own-topic"}


def _read(topic: str, payload: bytes, secret: str, private_key: bytes | None) -> tuple[JudgedCommand, set[str]]:
    failed: set[str] = set()

    def judge(case: str, fine: bool, expected: str, seen: str, publication: ReceivedPublication) -> None:
        if not fine:
            assert expected or seen or case == "wire/length"
            failed.add(case)

    reader = CommandReader(secret, "me", "", judge, private_key)
    return asyncio.run(reader.read(ReceivedPublication(0.0, topic, payload, 1, False))), failed - ABOUT_THE_CLIENT


def _vectors() -> list[Any]:
    found = []
    for name, topic in TOPICS.items():
        for case in json.loads((VECTORS / f"{name}.json").read_text())["cases"]:
            given = case["input"] if isinstance(case["input"], dict) else {"payload": case["input"]}
            payload = given["payload"].encode() if "payload" in given else bytes.fromhex(given["payload_hex"])
            key = bytes.fromhex(given["private_key_hex"]) if "private_key_hex" in given else None
            error = case.get("error", "")
            if not error or error in CASES:
                found.append(
                    pytest.param(
                        topic,
                        payload,
                        given.get("secret", ""),
                        key,
                        error,
                        id=f"{name}: {case['description']}",
                        marks=pytest.mark.long if error == "forged" else (),
                    )
                )
    return found


@pytest.mark.parametrize(("topic", "payload", "secret", "key", "error"), _vectors())
def test_the_judge_reads_what_the_vectors_accept_and_names_what_they_refuse(
    topic: str, payload: bytes, secret: str, key: bytes | None, error: str
) -> None:
    command, failed = _read(topic, payload, secret, key)
    if error:
        assert failed & CASES[error]
    else:
        assert failed == set()
        assert command.body is not None


@pytest.mark.parametrize(
    "case", json.loads((VECTORS / "placements.json").read_text())["cases"], ids=lambda case: str(case["description"])
)
def test_the_text_of_a_placement_is_read_as_in_the_vectors(case: dict[str, Any]) -> None:
    given = case["input"]
    text = given["text"].encode() if "text" in given else bytes.fromhex(given["text_hex"])
    salt = bytes(16)
    key = keys.key_of(b"s", salt)
    payload = keys.make_blob(text, key, salt, bytes(24)).encode()
    command, failed = _read("/players/me/ships/carrier/place", payload, "s", None)
    if "error" in case:
        assert failed
    else:
        assert failed == set()
        assert command.body is not None
        x, y, orientation = case["result"]
        assert command.body == {"coordinates": f"{x};{y}", "Orientation": orientation}


def test_a_field_that_changes_in_the_schema_changes_what_the_judge_reads() -> None:
    file = descriptor_pb2.FileDescriptorProto()
    commands_pb2.DESCRIPTOR.CopyToProto(file)
    [shot] = [each for each in file.message_type if each.name == "Shot"]
    shot.field[0].name = shot.field[0].json_name = "column"
    shot.oneof_decl[0].name = "_column"
    pool = descriptor_pool.DescriptorPool()
    for needed in (descriptor_pb2.DESCRIPTOR, *commands_pb2.DESCRIPTOR.dependencies):
        copy = descriptor_pb2.FileDescriptorProto()
        needed.CopyToProto(copy)
        pool.Add(copy)
    pool.Add(file)
    body = b'{"x": 3, "y": 4}'
    assert schema.read(body, commands_pb2.Shot.DESCRIPTOR) == {"x": 3, "y": 4}
    with pytest.raises(schema.Misfit, match="only column, y"):
        schema.read(body, pool.FindMessageTypeByName("salvo.v1.Shot"))


@pytest.mark.parametrize(
    ("body", "seen"),
    [
        (b'{"x": 3}', "no such field"),
        (b'{"x": null, "y": 1}', "null"),
        (b'{"x": true, "y": 1}', "true, true or false"),
        (b'{"x": "3", "y": 1}', '"3", a text'),
        (b'{"x": 3, "y": 4294967296}', "4294967296, an integer"),
    ],
)
def test_a_value_that_is_no_number_is_a_shape_mistake(body: bytes, seen: str) -> None:
    with pytest.raises(schema.Misfit) as misfit:
        schema.read(body, commands_pb2.Shot.DESCRIPTOR)
    assert (misfit.value.rule, misfit.value.seen) == ("shape", seen)


SECRET: Final = "a secret of more than thirty-two characters: \u00e9"
SALT: Final = bytes(range(16))
NONCE: Final = bytes(range(24))


def _blob(key: bytes, layout: str = "snc") -> bytes:
    sealed = crypto_secretbox(b'{"x":3,"y":4}', NONCE, key)
    parts = {"s": SALT, "n": NONCE, "c": sealed}
    return b"".join(parts[each] for each in layout)


@pytest.fixture
def a_thousandth_of_the_memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keys of other parameters are other keys still, and cost little."""

    def cheaply(derive: Callable[..., bytes]) -> Callable[..., bytes]:
        return lambda *given, opslimit, memlimit: derive(*given, opslimit=opslimit, memlimit=memlimit >> 10)

    cached = keys.key_of, keys.diagnose
    for algorithm in (argon2i, argon2id):
        monkeypatch.setattr(algorithm, "kdf", cheaply(algorithm.kdf))
    for function in cached:
        function.cache_clear()
    yield
    for function in cached:
        function.cache_clear()


@pytest.mark.usefixtures("a_thousandth_of_the_memory")
@pytest.mark.parametrize(
    ("blob", "fault"),
    [
        (lambda: _blob(keys.key_of(SECRET.encode(), SALT), "nsc"), "its parts are nonce, salt, ciphertext"),
        (lambda: _blob(keys.key_of(SECRET.encode(), SALT), "scn"), "its parts are salt, ciphertext, nonce"),
        (lambda: _blob(keys.key_of(SECRET.encode(), SALT, 3)), "opslimit 3 and memlimit 64 MiB"),
        (lambda: _blob(keys.key_of(SECRET[:32].encode(), SALT)), "the first 32 characters of the secret"),
        (lambda: _blob(keys.key_of(SECRET.encode() + b"\n", SALT)), "the secret and a line break"),
        (lambda: _blob(keys.key_of(b"red", SALT)), "the team's name"),
        (lambda: _blob(bytes(32)), ""),
    ],
)
def test_check_diagnoses_common_sealing_mistakes(blob: Any, fault: str) -> None:
    found = keys.diagnose(blob(), SECRET, "red")
    assert fault in found
    assert bool(found) is bool(fault)
