"""The published vectors against our own reader."""

from __future__ import annotations

import functools
import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from salvo import seal, topics, wire
from salvo.errors import CODES, SalvoError
from salvo.rules import SALVO

VECTORS = Path(__file__).parents[2] / "proto" / "vectors"
_key = functools.cache(seal.derive_key)


def _open(secret: str, blob: seal.Blob) -> bytes:
    return seal.open_blob(blob, _key(secret, blob.salt))


def _blobs(given: Any) -> Any:
    return _open(given["secret"], seal.parse_blob(given["blob"])).decode()


def _shots(given: Any) -> Any:
    request = wire.read_command(topics.parse("/players/rivals/fire"), given["payload"].encode(), SALVO)
    assert isinstance(request, wire.SignedShot)
    shot = wire.read_shot(request, "me", _open(given["secret"], request.blob))
    context = shot.context and [shot.context.game, shot.context.turn, shot.context.shot, shot.context.target]
    return {"x": shot.x, "y": shot.y, "context": context}


def _placements(given: Any) -> Any:
    blob = seal.Blob(b"", b"", b"")
    command = wire.read_placement(wire.SealedPlacement("", "me", "carrier", "carrier", blob), given["text"].encode())
    return [command.placement.x, command.placement.y, command.placement.orientation.value]


def _participations(given: Any) -> Any:
    request = wire.read_command(topics.parse("/game/request_participation"), given["payload"].encode(), SALVO)
    assert isinstance(request, wire.ParticipationRequest)
    return request.name


def _ships(given: Any) -> Any:
    return wire.read_ship(given, SALVO)


READERS = {
    "blobs": _blobs,
    "shots": _shots,
    "placements": _placements,
    "participations": _participations,
    "ships": _ships,
}
CASES = [(name, case) for name in READERS for case in json.loads((VECTORS / f"{name}.json").read_text())]


@pytest.mark.parametrize(("name", "case"), CASES, ids=[f"{name}: {case['description']}" for name, case in CASES])
def test_vector(name: str, case: dict[str, Any]) -> None:
    if "error" in case:
        with pytest.raises(SalvoError) as raised:
            READERS[name](case["input"])
        assert raised.value.code == case["error"]
        assert case["error"] in CODES
    else:
        assert READERS[name](case["input"]) == case["result"]


def test_the_vectors_are_what_their_maker_writes() -> None:
    module = runpy.run_path(str(VECTORS / "make.py"))
    for name in READERS:
        assert json.loads(json.dumps(module[name]())) == json.loads((VECTORS / f"{name}.json").read_text())


def test_every_file_of_vectors_is_read() -> None:
    assert {path.stem for path in VECTORS.glob("*.json")} == set(READERS)
