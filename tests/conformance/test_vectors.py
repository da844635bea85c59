"""The published vectors against our own reader."""

from __future__ import annotations

import functools
import json
import runpy
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kit.deriver import Deriver
from kit.services import serve
from kit.unbrokered import Wire
from salvo import messages as m
from salvo.codec.announcement_reader import read_announcement
from salvo.codec.command_reader import (
    SealedParticipation,
    SealedPlacement,
    SignedHost,
    SignedLeave,
    SignedShot,
    SignedSkip,
    read_chat,
    read_command,
    read_host,
    read_leave,
    read_participation,
    read_placement,
    read_shot,
    read_skip,
)
from salvo.codec.commands import HOST, ParticipationRequest, ResendRequest, read_ship
from salvo.codec.recap_reader import read_recap
from salvo.errors import CODES, Answered, SalvoError
from salvo.net.inbound import Inbound
from salvo.rules import SALVO, Fleet, generator
from salvo.rules.starter import draw_starter
from salvo.view import Feed, Shot, View, board_shots
from salvo.wire import seal, topics
from salvo.wire.roles_and_rights import Role
from salvo_game.log_verification import verify_lines
from salvo_server.core.authenticator import Authenticator
from salvo_server.settings import ServerSettings
from salvo_server.storage.identity import Identity
from salvo_server.storage.register import Account, Register

VECTORS = Path(__file__).parents[2] / "proto" / "vectors"
_key = functools.cache(seal.derive_key)


def _open(secret: str, blob: seal.Blob) -> bytes:
    return seal.open_blob(blob, _key(secret, blob.salt))


def _payload(given: Any, name: str = "payload") -> bytes:
    """A text as UTF-8, or what is no text from its hexadecimal digits."""
    return bytes.fromhex(given[f"{name}_hex"]) if f"{name}_hex" in given else given[name].encode()


def _blobs(given: Any) -> Any:
    return _open(given["secret"], seal.parse_blob(given["blob"])).decode()


def _shots(given: Any) -> Any:
    request = read_command(topics.parse("/players/rivals/fire"), _payload(given), SALVO)
    assert isinstance(request, SignedShot)
    shot = read_shot(request, "me", _open(given["secret"], request.blob))
    context = shot.context and [shot.context.game, shot.context.turn, shot.context.shot, shot.context.target]
    return {"x": shot.x, "y": shot.y, "context": context}


def _skips(given: Any) -> Any:
    request = read_command(topics.parse("/players/me/skip"), _payload(given), SALVO)
    assert isinstance(request, SignedSkip)
    skip = read_skip(request, _open(given["secret"], request.blob))
    return skip.context and [skip.context.game, skip.context.turn]


def _leaves(given: Any) -> Any:
    request = read_command(topics.parse("/players/me/leave"), _payload(given), SALVO)
    assert isinstance(request, SignedLeave)
    return read_leave(request, _open(given["secret"], request.blob)).game


def _hosts(given: Any) -> Any:
    request = read_command(topics.parse("/game/host"), _payload(given), SALVO)
    assert isinstance(request, SignedHost)
    return HOST.value(read_host(request, _open(given["secret"], request.blob)))


def _lines(given: Any) -> Any:
    line = read_chat(_payload(given))
    return [line.text, line.to]


def _resends(given: Any) -> Any:
    request = read_command(topics.parse("/players/me/resend"), given.encode(), SALVO)
    assert isinstance(request, ResendRequest)
    assert request.player == "me"
    return request.first


def _placements(given: Any) -> Any:
    blob = seal.Blob(b"", b"", b"")
    command = read_placement(SealedPlacement("", "me", "carrier", "carrier", blob), _payload(given, "text"))
    return [command.placement.x, command.placement.y, command.placement.orientation.value]


def _participations(given: Any) -> Any:
    request = read_command(topics.parse("/game/request_participation"), _payload(given), SALVO)
    assert isinstance(request, ParticipationRequest)
    return request.name


def _sealed_participations(given: Any) -> Any:
    request = read_command(topics.parse("/game/request_participation"), _payload(given), SALVO)
    assert isinstance(request, SealedParticipation)
    opened = seal.open_sealed(request.sealed, bytes.fromhex(given["private_key_hex"]))
    asked = read_participation("", opened)
    return [asked.name, asked.secret]


def _ships(given: Any) -> Any:
    return read_ship(given, SALVO)


def _referee_views(given: Any) -> Any:
    view = read_announcement(topics.parse("/game/referee"), _payload(given))
    assert isinstance(view, m.RefereeView)
    sunk = {board.player: "b" not in "".join(board.rows) for board in view.boards}
    return {"turn": view.turn, "next": view.player, "winner": view.winner, "second ship sunk": sunk}


def _standings(given: Any) -> Any:
    shown = read_announcement(topics.parse("/game/standings"), _payload(given))
    assert isinstance(shown, m.StandingsShown)
    table = shown.evening
    return {
        "teams": [[row.place, row.team, row.points] for row in table.rows],
        "games": table.games,
        "uncounted": [[each.table, each.game, each.by] for each in table.uncounted],
    }


def _log(given: Any) -> Any:
    finding = verify_lines(iter([payload.encode() + b"\n" for payload in given]), "the vector").finding
    return finding and {"payload": finding.line, "fault": finding.fault}


def _recaps(given: Any) -> Any:
    recap = read_recap("ann", given["text"].encode())
    view = View(SALVO, "ann", recap.players, recap.game, Fleet(SALVO, recap.fleet), generator(0))
    fired = {player: [0, 0] for player in recap.players}
    if recap.earlier is not None:
        Feed(view).summed_up(recap.earlier)
        fired = {player: [tally.shots, tally.hits] for player, tally in recap.earlier.tallies.items()}
    Feed(view).fired([Shot(shot.target, shot.x, shot.y) for shot in recap.shots])
    for result in recap.results:
        fired[result.player] = [fired[result.player][0] + result.shots, fired[result.player][1] + result.hits]
    aimed = set(board_shots("bob", SALVO.grid)) - set(view.untouched)
    for result in recap.results:
        Feed(view).resolved(result)
    for x, y in recap.landed:
        Feed(view).landed(Shot("ann", x, y))
    return {
        "first": recap.results[0].turn,
        "turn": recap.turn,
        "afloat": view.ships_afloat,
        "out": list(view.defeated),
        "fired": fired,
        "aimed": [list(shot) for shot in sorted(aimed)],
        "struck": [list(cell) for cell in sorted(set(view.incoming))],
    }


READERS = {
    "blobs": _blobs,
    "shots": _shots,
    "placements": _placements,
    "participations": _participations,
    "sealed_participations": _sealed_participations,
    "ships": _ships,
    "log": _log,
    "referee_views": _referee_views,
    "standings": _standings,
    "skips": _skips,
    "leaves": _leaves,
    "hosts": _hosts,
    "lines": _lines,
    "resends": _resends,
    "recaps": _recaps,
}
FILES = {path.stem: json.loads(path.read_text()) for path in sorted(VECTORS.glob("*.json"))}
CASES = [(name, case) for name in READERS for case in FILES[name]["cases"]]
#: Files with cases of a whole server.
REFUSALS = ("refusals", "book_refusals")
SERVER_CASES = [(name, case) for name in REFUSALS for case in FILES[name]["cases"]]


@pytest.mark.parametrize(("name", "case"), CASES, ids=[f"{name}: {case['description']}" for name, case in CASES])
def test_vector(name: str, case: dict[str, Any]) -> None:
    if "error" in case:
        with pytest.raises(SalvoError) as raised:
            READERS[name](case["input"])
        assert raised.value.code == case["error"]
        assert case["error"] in CODES
    else:
        assert READERS[name](case["input"]) == case["result"]


# --- a whole server -----------------------------------------------------------------------------------------------


class Server:
    """A service on a clock that stands still, in the state that a vector names."""

    def __init__(self, state: dict[str, Any]) -> None:
        self.now = 1_000_000
        self.edge = Wire()
        given = dict(state["settings"])
        most = given.pop("most_players", m.Limits().most_players)  # no setting of a server's own
        settings = ServerSettings(**given)
        gate = Authenticator(executor=Deriver())
        seed = _seed_for(state.get("starter"))
        profile, roster = state.get("profile", "open"), state.get("roster")
        accounts = [Account(name, name, Role.TEAM, secret) for name, secret in (roster or {}).items()]
        accounts += [Account(name, name, Role.HOST, secret) for name, secret in state.get("hosts", {}).items()]
        self.service = serve(
            self.edge,
            [""],
            seed=seed,
            limits=replace(settings.limits, most_players=most),
            book=settings.book,
            clock=lambda: self.now,
            gate=gate,
            profile=profile,
            identity=_identity(state.get("private_key_hex")),
            register=None if roster is None else Register(accounts),
            chat=settings.chat,
        )
        self.referee = self.service.tables[""].referee
        self.edge.connect()
        self.service.step()
        self.hear(state["messages"])

    def hear(self, messages: Sequence[dict[str, Any]]) -> None:
        for message in messages:
            self.edge.inbox = [Inbound(message["topic"], _payload(message), message.get("retain", False), 1, 1)]
            self.service.step()
        self.edge.delivered = self.edge.published
        self.service.step()

    def answers(self) -> list[dict[str, str]]:
        """What was published on error topics since the last call."""
        published, self.edge.announced = self.edge.announced, []
        errors = [(topic, payload.decode()) for topic, payload in published if topic.endswith("/error")]
        return [{"topic": topic, "code": text.partition(":")[0]} for topic, text in errors]

    def counts(self) -> Counter[str]:
        return self.service.counts + self.service.gate.counts


def _identity(private_key_hex: str | None) -> Identity | None:
    if private_key_hex is None:
        return None
    identity = Identity.fresh()
    identity._unsealer = bytes.fromhex(private_key_hex)
    return identity


def _seed_for(starter: str | None) -> int:
    """A seed that draws the first fleet, ann's, or any."""
    assert starter in (None, "ann")
    return next(seed for seed in range(100) if draw_starter(SALVO, seed, "", 1, 2) == 0)


@pytest.mark.parametrize(
    ("name", "case"), SERVER_CASES, ids=[f"{case['state']}: {case['description']}" for _, case in SERVER_CASES]
)
def test_a_server_answers_as_the_vector_requires(
    name: str, case: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("salvo_server.core.keyring.derive_key", _key)
    state = FILES[name]["states"][case["state"]]
    server = Server(state)
    assert server.answers() == []
    reached = {"full": "lobby", "contest": "lobby", "strict": "turn"}
    assert server.referee.state == state.get("state", reached.get(case["state"], case["state"]))
    before = server.counts()
    server.hear(case["messages"])
    server.now += case.get("seconds", 0) * 1000
    server.service.step()
    answers = server.answers()
    assert answers == case["answers"]
    for answer in answers:
        assert CODES[answer["code"]].answered is not Answered.NOBODY
    if "logged" in case:
        assert CODES[case["logged"]].answered is Answered.NOBODY
        assert (server.counts() - before)[case["logged"]] == 1


# --- all files ----------------------------------------------------------------------------------------------------


def test_the_vectors_are_what_their_maker_writes() -> None:
    module = runpy.run_path(str(VECTORS / "make.py"))
    made = {make.__name__: json.loads(json.dumps(module["file_of"](make))) for make in module["MAKERS"]}
    assert made == FILES, "python proto/vectors/make.py"


def test_every_file_of_vectors_is_described_and_read() -> None:
    assert set(FILES) == {*READERS, *REFUSALS}
    assert all(len(file["description"]) > 40 for file in FILES.values())


def test_every_code_has_a_vector() -> None:
    read = {case["error"] for _, case in CASES if "error" in case}
    refused = {answer["code"] for _, case in SERVER_CASES for answer in case["answers"]}
    logged = {case["logged"] for _, case in SERVER_CASES if "logged" in case}
    assert read | refused | logged == set(CODES)
