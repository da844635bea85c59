"""Each attack achieves nothing, and achieves what it is for as soon as its defence is taken away.

The second half shows that the first one can fail: an attack that never works would pass it too. An attack returns
whether it got what it wanted.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import pytest

from kit.patches import Patch, without
from kit.stage import TEAMS, Stage, fleet, secret
from salvo.codec import command_reader, strict_json
from salvo.codec.announcements import LEAGUE
from salvo.codec.command_reader import read_participation
from salvo.codec.command_writer import (
    write_host,
    write_leave,
    write_participation,
    write_placement,
    write_resend,
    write_shot,
)
from salvo.codec.commands import Line
from salvo.codec.json_codec import Codec
from salvo.messages import HostAction, HostCommand, LeagueShown, Limits, ShotContext, State
from salvo.net.inbound import Inbound
from salvo.rules import Orientation, Placement
from salvo.wire import seal, topics
from salvo.wire.roles_and_rights import Role
from salvo.wire.seal import SALT_BYTES, Sealer, make_blob
from salvo_game import transitions
from salvo_game.lobby import Lobby
from salvo_game.log import Resends
from salvo_game.match import Match
from salvo_game.rate_limit import Bucket, Buckets
from salvo_server.core import authenticator as gates
from salvo_server.core import outages
from salvo_server.core.admission import Admission
from salvo_server.core.authenticator import Authenticator, Opened
from salvo_server.core.chat_relay import Chat
from salvo_server.core.effects import Effects
from salvo_server.core.inbox import Inbox
from salvo_server.core.keyring import KeyOwner, Keyring
from salvo_server.core.recaps import Recaps
from salvo_server.core.refusals import Refusals
from salvo_server.core.retained_sync import RetainedSync
from salvo_server.core.senders import Sender, Senders
from salvo_server.storage.register import Account, Register
from simulation import crypto


@pytest.fixture(autouse=True)
def _economy(monkeypatch: Patch) -> None:
    for module in crypto.DERIVING:
        monkeypatch.setattr(module, "derive_key", crypto.derive_key)


# --- freshness (SALVO-FRESH) --------------------------------------------------------------------------------------


def _replay_in_the_same_turn() -> bool:
    """The very same message once more: a second shot of the victim's salvo is spent."""
    stage = Stage()
    shot, target = stage.shot(stage.current), stage.others()[0]
    stage.fire(target, shot)
    stage.fire(target, shot)
    return stage.fired() == 2


def _replay_in_a_later_turn() -> bool:
    stage = Stage()
    shooter = stage.current
    shot, target = stage.shot(shooter), stage.others()[0]
    stage.fire(target, shot)
    stage.until_turn_of(shooter)
    stage.fire(target, shot)
    return stage.fired() == 1


def _replay_in_the_next_game() -> bool:
    """The next game has the same teams and, as people are, the same secrets."""
    stage = Stage(("ann", "bob"))
    shooter = stage.current
    shot, target = stage.shot(shooter), stage.others()[0]
    stage.fire(target, shot)
    while stage.referee.number == 1:
        stage.wait(31)
    for name in ("ann", "bob"):
        stage.join(name)
    stage.place(("ann", "bob"))
    if stage.current != shooter:
        stage.until_turn_of(shooter)
    stage.fire(target, shot)
    return stage.fired() == 1


def _reuse_a_refused_shot() -> bool:
    """A shot out of turn is refused; a rival fires it for the victim once it is its turn, at another target."""
    stage = Stage()
    early = stage.others()[0]
    shot = stage.shot(early)
    stage.fire(stage.current, shot)
    assert stage.codes()[-1] == "not_your_turn"
    elsewhere = next(name for name in TEAMS if name not in (early, stage.current))
    stage.until_turn_of(early)
    stage.fire(elsewhere, shot)
    return stage.fired() == 1


def _bring_back_what_was_turned_away_unopened() -> bool:
    """A shot that was one fresh salt too many comes back when there is room again, at another target."""
    stage = Stage()
    shooter, (one, other) = stage.current, stage.others()
    for number in range(20):
        stage.fire(one, _strange_shot(number))
    fresh = Sealer(secret(shooter), b"a fresh salt....").sign({"x": 1, "y": 1})
    stage.fire(one, fresh)
    assert stage.fired() == 0
    stage.wait(20)
    stage.fire(other, fresh)
    return stage.fired() == 1


def _leave_for(stage: Stage, name: str, sealer: Sealer) -> bytes:
    """Publish that a team leaves the lobby, signed by whomever."""
    message = write_leave(None, sealer)
    stage.say(topics.LEAVE.of(player=name), message)
    return message


def _take_a_rival_out_of_the_lobby() -> bool:
    """It would lose its fleet and its seat, and perhaps the game that begins meanwhile."""
    stage = Stage(play=False)
    _leave_for(stage, "ann", stage.sealers["bob"])
    return "ann" not in stage.referee.players


def _replay_how_a_rival_left() -> bool:
    """It has come back since, into the same lobby."""
    stage = Stage(play=False)
    left = _leave_for(stage, "ann", stage.sealers["ann"])
    stage.join("ann")
    assert "ann" in stage.referee.players
    stage.say(topics.LEAVE.of(player="ann"), left)
    return "ann" not in stage.referee.players


def _strict_stage() -> Stage:
    stage = Stage((), play=False, profile="strict", limits=Limits(players=len(TEAMS)))
    for name in TEAMS:
        request = write_participation(name, secret(name), stage.identity.sealing_key)
        stage.say(topics.REQUEST_PARTICIPATION.of(), request)
    stage.place(TEAMS)
    return stage


def _hold_a_shot_back(*, with_context: bool) -> bool:
    """Who is between a team and a server in strict keeps a shot, and lets it go on a turn later, at another board."""
    stage = _strict_stage()
    shooter, (one, other) = stage.current, stage.others()
    context = ShotContext(stage.referee.number, 1, 1, one) if with_context else None
    stored = write_shot(1, 1, context, stage.sealers[shooter])
    stage.until_turn_of(shooter)
    stage.fire(other, stored)
    return stage.fired() == 1


def _hold_a_shot_back_that_says_what_it_is_for() -> bool:
    return _hold_a_shot_back(with_context=True)


def _hold_a_shot_back_that_says_nothing() -> bool:
    return _hold_a_shot_back(with_context=False)


_take_any_context = without(Match, "_check_context", lambda self, context, target: None)
_take_shots_without_context = without(Admission, "check", lambda self, table, command: None)


def _try_every_teams_key(patch: Patch) -> None:
    opened = Authenticator.open

    def generous(self: Authenticator, request: Any, sender: Sender, now: int, **more: Any) -> Any:
        return opened(self, request, sender._replace(others=dict(self.keyring.teams(request.table))), now, **more)

    patch.setattr(Authenticator, "open", generous)


def _remember_nothing(patch: Patch) -> None:
    opened = Authenticator.open

    def forgetful(self: Authenticator, *given: Any, **more: Any) -> Any:
        self._burned = gates.Burned()
        self._recent.clear()
        return opened(self, *given, **more)

    patch.setattr(Authenticator, "open", forgetful)


def _forget_nonces_with_the_game(patch: Patch) -> None:
    retain, opened = Keyring.retain, Authenticator.open
    emptied: list[Keyring] = []

    def noticed(self: Keyring, table: str, names: Any) -> None:
        retain(self, table, names)
        emptied.append(self)

    def forgetful(self: Authenticator, *given: Any, **more: Any) -> Any:
        if self.keyring in emptied:
            emptied.clear()
            self._burned = gates.Burned()
            self._recent.clear()
        return opened(self, *given, **more)

    patch.setattr(Keyring, "retain", noticed)
    patch.setattr(Authenticator, "open", forgetful)


def _burn_only_what_is_accepted(patch: Patch) -> None:
    patch.setattr(gates, "Burned", set)
    carry_out = Inbox._carry_out

    def lenient(self: Inbox, opened: Opened, message: Inbound, now: int) -> Effects:
        effects = carry_out(self, opened, message, now)
        refused = any(publication.topic.endswith("/error") for publication in effects.publications)
        if refused and opened.proof is not None:
            cast(set[bytes], self.gate._burned).discard(opened.proof.nonce)
        return effects

    patch.setattr(Inbox, "_carry_out", lenient)


_forget_what_was_turned_away = without(Authenticator, "_turn_away", lambda self, request, outcome: None)


# --- who it is ----------------------------------------------------------------------------------------------------


def _ask_for_a_listed_name() -> bool:
    """Be taken for a team that is listed already: the server answers with its recap."""
    stage = Stage()
    stage.hush()
    stage.join("ann", "a guess")
    return any(topic.endswith("/recap") for topic, _ in stage.received)


def _take_the_seat_of_a_team_of_the_roster() -> bool:
    """Be there first, under somebody else's name."""
    accounts = [Account(name, name, Role.TEAM, secret(name)) for name in TEAMS]
    stage = Stage((), play=False, register=Register(accounts))
    stage.join("ann", "a guess")
    return "ann" in stage.referee.players


def _take_a_name(name: str) -> Callable[[], bool]:
    def act() -> bool:
        stage = Stage(("ann",), play=False)
        stage.join(name, "mine")
        return name in stage.referee.players

    return act


def _believe_any_secret(patch: Patch) -> None:
    credential = Keyring.credential
    patch.setattr(Keyring, "credential", lambda self, name, secret: credential(self, name, ""))


_believe_any_name = without(Register, "has", lambda self, name, secret: (Role.TEAM, name) in self._secrets)
_check_no_names = without("salvo.wire.topics.check_name", lambda name: name)


class _Unfolded(str):
    """A name that knows no other case."""

    def lower(self) -> str:
        return str(self)


def _compare_names_by_bytes(patch: Patch) -> None:
    read = read_participation

    def exact(table: str, text: bytes) -> Any:
        request = read(table, text)
        return dataclasses.replace(request, name=_Unfolded(request.name))

    patch.setattr(command_reader, "read_participation", exact)


# --- what a message says ------------------------------------------------------------------------------------------


def _signed(body: str, blob: str) -> bytes:
    return f'{{"data": {body}, "signature": "{blob}"}}'.encode()


def _fire_with_another_body(change: Callable[[dict[str, Any]], str]) -> Callable[[], bool]:
    """Have a shot accepted whose open body somebody changed on its way."""

    def act() -> bool:
        stage = Stage()
        envelope = json.loads(stage.shot(stage.current, 1, 1))
        stage.fire(stage.others()[0], _signed(change(envelope["data"]), envelope["signature"]))
        return stage.fired() == 1

    return act


def _fire_with_a_signed_body(body: str) -> Callable[[], bool]:
    """Have a shot of an own making accepted that means one thing to one program and another thing to the next."""

    def act() -> bool:
        stage = Stage()
        blob = stage.sealers[stage.current].seal(body.encode())
        stage.fire(stage.others()[0], _signed(body, blob))
        return stage.fired() == 1

    return act


def _fire_a_blob_of_the_servers() -> bool:
    """Have what the server sealed for a team, such as where a shot fell, pass for the team's own signature."""
    stage = Stage()
    recaps = Recaps(stage.service.tables, stage.gate.keyring, stage.gate.worker)
    sealed = recaps.seal("", stage.current, b'{"x":4,"y":4}')
    assert sealed is not None
    stage.fire(stage.others()[0], json.dumps({"data": {"x": 4, "y": 4}, "signature": sealed.decode()}).encode())
    return stage.fired() == 1


def _burn_with_the_teams_recap() -> bool:
    """Have a recap, as it is published, opened as a message of the team."""
    stage = Stage()
    stage.hush()
    shooter = stage.current
    stage.join(shooter)
    [blob] = [payload.decode() for topic, payload in stage.received if topic.endswith("/recap")]
    before = stage.gate.counts["opened"]
    if len(blob) > 1300:
        return False
    stage.fire(stage.others()[0], json.dumps({"data": {}, "signature": blob}).encode())
    return stage.gate.counts["opened"] > before


def _fire_a_placement() -> bool:
    """Have a placement's blob, which a rival overheard, pass for the signature of a shot."""
    stage = Stage()
    shooter = stage.current
    blob = write_placement(Placement("carrier", 1, 1, Orientation.HORIZONTAL), stage.sealers[shooter]).decode()
    stage.hush()
    stage.fire(stage.others()[0], json.dumps({"data": {"x": 1, "y": 1}, "signature": blob}).encode())
    return stage.codes() != ["body_mismatch"]


def _loosely(one: Any, other: Any) -> bool:
    """Equality as languages have it that convert first."""

    def plain(value: Any) -> str:
        return str(int(value) if isinstance(value, (bool, float)) else value)

    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_loosely(one[key], other[key]) for key in one)
    return plain(one) == plain(other)


_compare_nothing = without(command_reader, "same_value", lambda one, other: True)


def _compare_loosely(patch: Patch) -> None:
    patch.setattr(command_reader, "same_value", _loosely)
    patch.setattr(strict_json, "_DECODER", json.JSONDecoder(object_pairs_hook=strict_json._unique_keys))


def _convert_types(patch: Patch) -> None:
    def validate(codec: Codec[Any], payload: bytes, *given: str) -> Any:
        read = codec.adapter.validator.validate_json(payload, strict=False)
        return codec._shape(*given, **read) if given else read

    patch.setattr(Codec, "validate", validate)
    patch.setattr(strict_json, "_DECODER", json.JSONDecoder())


_let_the_last_key_win = without(strict_json, "_DECODER", json.JSONDecoder())
_use_one_key_both_ways = without("salvo_server.core.recaps.key_to_team", lambda key: key)


# --- what it costs ------------------------------------------------------------------------------------------------


def _strange_shot(number: int) -> bytes:
    """A forged shot under a salt that nobody has seen."""
    blob = make_blob(b'{"x":1,"y":1}', bytes(32), b"flood" + number.to_bytes(SALT_BYTES - 5, "big"))
    return json.dumps({"data": {"x": 1, "y": 1}, "signature": blob}).encode()


def _have_keys_derived_without_end() -> bool:
    """A thousand forged shots under fresh salts: each costs the server 50 ms and 64 MiB."""
    stage = Stage()
    stage.worker.held = True
    for number in range(1000):
        stage.fire("bob", _strange_shot(number))
    return len(stage.worker.waiting) > 64


def _delay_a_team_whose_salt_is_known() -> bool:
    """The flood again; does the team's own shot wait behind it?"""
    stage = Stage()
    stage.worker.held = True
    for number in range(100):
        stage.fire(stage.others()[0], _strange_shot(number))
    stage.fire(stage.others()[0], stage.shot(stage.current))
    return stage.fired() == 0


def _spend_the_derivations_of_another_team() -> bool:
    """Forged shots in the turn of a client with a fresh salt a message, on a broker that tells who publishes."""
    stage = Stage()
    victim, attacker = stage.current, stage.others()[0]
    for number in range(50):
        stage.fire("bob", _strange_shot(number), by=attacker)
    stage.fire(attacker, Sealer(secret(victim), b"a fresh salt....").sign({"x": 1, "y": 1}), by=victim)
    return stage.fired() == 0


def _forge_shots_from_elsewhere() -> bool:
    """500 forged shots a second, in the turn of a client with a fresh salt a message, from other connections.

    On a broker that anybody may use, and that reports connections; one of them has a team of its own.
    """
    stage = Stage(reports=True)
    victim, (rival, other) = stage.current, stage.others()
    stage.hush()
    for number in range(1500):
        stage.now += 2
        stage.fire(other, _strange_shot(number), by=(rival, "elsewhere")[number % 2])
        if number % 300 == 299:
            sealer = Sealer(secret(victim), b"fresh" + number.to_bytes(SALT_BYTES - 5, "big"))
            stage.fire(other, sealer.sign({"x": number // 300 + 1, "y": 1}), by=victim)
    whole = stage.current != victim  # its salvo of five is complete
    return not whole or any(topic == topics.ERROR.of(player=victim) for topic, _ in stage.received)


def _forge_placements_from_elsewhere() -> bool:
    """500 forged placements a second while two teams place their fleets, each under its first salt."""
    stage = Stage(("ann", "bob"), play=False, reports=True)
    stage.worker.held = True
    for number in range(500):
        stage.now += 2
        blob = make_blob(b"{}", bytes(32), b"flood" + number.to_bytes(SALT_BYTES - 5, "big"))
        for name in ("ann", "bob"):
            stage.say(topics.PLACE.of(player=name, ship="carrier"), blob.encode(), by="elsewhere")
        if number % 100 == 99:
            for name, placement in (("ann", fleet(0).placements), ("bob", fleet(1).placements)):
                ship = placement[number // 100]
                topic = topics.PLACE.of(player=name, ship=ship.ship)
                stage.say(topic, write_placement(ship, stage.sealers[name]), by=name)
    stage.worker.release()
    stage.wait(0)
    return stage.referee.state is not State.TURN or bool(stage.codes())


def _have_what_anybody_sent_answered(*, reports: bool, contest: bool = False) -> Callable[[], bool]:
    """Noise and forged shots from anywhere, answered to the team whose turn it is, more than once a turn."""

    def act() -> bool:
        stage = Stage(reports=reports, register=Register(_roster("")) if contest else None)
        stage.hush()
        for number in range(50):
            stage.fire("bob", b"noise", by="elsewhere" if reports else "")
            stage.fire("bob", _strange_shot(number), by="elsewhere" if reports else "")
        return len(stage.codes()) > 1

    return act


def _have_a_rivals_noise_answered() -> bool:
    """Noise of one team, answered to the one whose turn it is, where connections are known."""
    stage = Stage(reports=True)
    victim, attacker = stage.current, stage.others()[0]
    stage.hush()
    stage.fire("bob", b"noise", by=attacker)
    return any(topic == topics.ERROR.of(player=victim) for topic, _ in stage.received)


def _have_another_team_answered() -> bool:
    """Noise of one team, answered on the error topic of the one whose turn it is."""
    stage = Stage()
    victim, attacker = stage.current, stage.others()[0]
    stage.hush()
    stage.fire("bob", b"noise", by=attacker)
    return any(topic == topics.ERROR.of(player=victim) for topic, _ in stage.received)


def _say_far_too_much() -> bool:
    """A megabyte of white space around a request."""
    stage = Stage((), play=False)
    stage.say("/game/request_participation", b'{"name":"big","secret":"s"}' + b" " * 1_000_000)
    return "big" in stage.referee.players


def _end_the_server_by_nesting() -> bool:
    """Levels enough that whoever counts them by calling itself runs out of stack."""
    stage = Stage()
    try:
        for levels in range(100, 2000, 100):
            stage.fire("bob", b"[" * levels + b"]" * levels)
            stage.say("/game/request_participation", b'{"a":' * (levels // 4) + b"1" + b"}" * (levels // 4))
    except RecursionError:
        return True
    return False


def _drown_a_team_in_refusals() -> bool:
    """Unreadable noise in a rival's name: its error topic becomes unreadable, and what it is told itself is lost."""
    stage = Stage()
    stage.hush()
    victim = stage.current
    for _ in range(500):
        stage.fire("bob", b"noise")
    noise = len(stage.codes())
    stage.fire(stage.others()[0], stage.shot(victim, 11, 1))
    return noise > 100 or stage.codes()[-1] != "off_grid"


def _drown_a_team_by_requests_in_its_name() -> bool:
    """Ask in a rival's name without end: the server, which no broker holds, answers at the rival's own topic."""
    accounts = [Account(name, name, Role.TEAM, secret(name)) for name in TEAMS]
    for register in (None, Register(accounts)):
        stage = Stage(("ann", "bob"), register=register)
        stage.hush()
        for _ in range(500):
            stage.join("ann", "a guess")
        if len(stage.codes()) > 100:
            return True
    return False


def _have_recaps_sent_without_end() -> bool:
    """A recap costs the server a thousand times what its request costs the team."""
    stage = Stage()
    stage.hush()
    for _ in range(500):
        stage.join("ann")
    return sum(topic.endswith("/recap") for topic, _ in stage.received) > 100


def _line(text: str, **more: str) -> bytes:
    return json.dumps({"text": text, **more}).encode()


def _lines(stage: Stage) -> list[dict[str, Any]]:
    """What was said to anybody."""
    return [json.loads(payload) for topic, payload in stage.received if topic.endswith(("/chat", "/message"))]


def _flood_the_chat(*payload: bytes) -> Callable[[], bool]:
    """A thousand lines: everybody's screen shows nothing else; or a thousand refusals at one's own topic."""

    def act() -> bool:
        stage = Stage()
        stage.hush()
        for _ in range(1000):
            stage.say("/players/ann/say", payload[0] if payload else _line("spam", to="bob"))
        return len(_lines(stage)) > 100 or len(stage.codes()) > 100

    return act


def _say_as(name: str) -> Callable[[], bool]:
    """Be read as somebody who is not at the table; a name may be a line of its own."""

    def act() -> bool:
        stage = Stage()
        stage.hush()
        stage.say(f"/players/{name}/say", _line("I am the server, all surrender"))
        return bool(_lines(stage))

    return act


def _say_in_anothers_name_by_the_payload() -> bool:
    stage = Stage()
    stage.hush()
    stage.say("/players/ann/say", _line("I give up", **{"from": "bob"}))
    return bool(_lines(stage))


def _have_shown(text: str) -> Callable[[], bool]:
    """Have a text shown as it is, on everybody's terminal."""

    def act() -> bool:
        stage = Stage()
        stage.hush()
        stage.say("/players/ann/say", _line(text))
        return any(line["text"] == text for line in _lines(stage))

    return act


_limit_no_lines = without(Buckets, "take", lambda self, key, now: True)


def _know_everybody(patch: Patch) -> None:
    receive = Chat.receive

    class Anybody:
        def __contains__(self, name: object) -> bool:
            return True

    patch.setattr(
        Chat, "receive", lambda self, address, payload, players, now: receive(self, address, payload, Anybody(), now)
    )


def _read_no_senders(patch: Patch) -> None:
    def lax(payload: bytes) -> Line:
        body = json.loads(payload)
        return Line(body["text"], body.get("to", ""))

    patch.setattr("salvo_server.core.chat_relay.read_chat", lax)


_check_no_text = without(command_reader, "clean_text", lambda text: text)


def _have_the_log_published_without_end() -> bool:
    """Ask for all of the log, again and again: every listener gets hundreds of kilobytes for a message of ten bytes."""
    stage = Stage()
    stage.hush()
    for _ in range(300):
        stage.edge.delivered = stage.edge.published
        stage.now += 100
        stage.say("/players/bob/resend", write_resend(0))
    stage.edge.delivered = stage.edge.published
    return sum(topic == "/game/log" for topic, _ in stage.received) > 400


def _outrun_a_slow_broker_by_the_log() -> bool:
    """Ask for all of the log while the broker takes its time: what is new waits behind what is old."""
    stage = Stage()
    stage.edge.delivered = stage.edge.published
    stage.hush()
    for name in TEAMS * 5:
        stage.now += 100
        stage.say(f"/players/{name}/resend", write_resend(0))
    return sum(topic == "/game/log" for topic, _ in stage.received) > 100


def _place_one_ship_without_end() -> bool:
    """Each placement is journalled, signed and published, and published again when the game begins."""
    stage = Stage(("ann", "bob"), play=False)
    stage.hush()
    for number in range(60):
        placement = Placement("carrier", 1, number % 10 + 1, Orientation.HORIZONTAL)
        stage.say("/players/ann/ships/carrier/place", write_placement(placement, stage.sealers["ann"]))
    return sum(topic == "/game/log" for topic, _ in stage.received) > 30


def _hold_a_lobby_open() -> bool:
    """Slow the server down again and again until it believes that it was away."""
    stage = Stage(("ann",), play=False)
    for _ in range(20):
        stage.hold_up(30)
    return bool(stage.referee.players)


def _come_and_go_in_the_lobby() -> bool:
    """Leave the lobby and come back, just before the time of those who have placed their fleets ends."""
    stage = _two_fleets_and("cy")
    for _ in range(4):  # less than the time lasts at most
        stage.wait(50)
        _leave_for(stage, "cy", stage.sealers["cy"])
        stage.join("cy")
    return stage.referee.state is State.LOBBY


def _come_under_new_names() -> bool:
    """Take part under another name each time, just before the time of those who have placed their fleets ends."""
    stage = _two_fleets_and()
    for number in range(10):
        stage.wait(50)
        stage.join(f"new{number}")
    return stage.referee.state is State.LOBBY


def _two_fleets_and(*others: str) -> Stage:
    limits = Limits(placement_ms=60_000)
    stage = Stage(("ann", "bob", *others), play=False, limits=limits)
    for number, name in enumerate(("ann", "bob")):
        for placement in fleet(number).placements:
            stage.say(
                topics.PLACE.of(player=name, ship=placement.ship), write_placement(placement, stage.sealers[name])
            )
    return stage


def _leave_a_command_behind() -> bool:
    """Leave a request with the broker: every server that starts will have a ghost at its table."""
    stage = Stage((), play=False)
    stage.say("/game/request_participation", b'{"name":"ghost","secret":"s"}', retained=True)
    return "ghost" in stage.referee.players


def _leave_false_standings_behind() -> bool:
    """Leave standings with a broker on which anybody publishes, for everybody who comes after the server."""
    stage = Stage((), play=False)
    topic, false = topics.STANDINGS.of(), b'{"evening":{"rows":[]}}'
    stage.edge.retained[topic] = false
    stage.edge.connect()
    stage.wait(1)
    stage.wait(1)
    return stage.edge.retained[topic] == false


# --- hosts --------------------------------------------------------------------------------------------------------

_HOST = topics.HOST.of()


def _roster(desk: str) -> list[Account]:
    return [*(Account(name, name, Role.TEAM, secret(name)) for name in TEAMS), Account("desk", "desk", Role.HOST, desk)]


def _hosted_stage() -> Stage:
    return Stage(register=Register(_roster(secret("desk"))))


def _as_host(do: HostAction, name: str = "desk", context: int | None = None, of: str = "") -> bytes:
    return write_host(HostCommand(name, do, context=context), Sealer(secret(of or name), b"the host's salt."))


def _act_as_a_host() -> bool:
    """Send a command in a host's name over a connection of its own, without its secret."""
    stage = _hosted_stage()
    stage.say(_HOST, _as_host(HostAction.ABORT, of="ann"))
    return stage.referee.state is State.OVER


def _act_as_a_team() -> bool:
    """A team signs a command with its own secret, in its own name."""
    stage = _hosted_stage()
    stage.say(_HOST, _as_host(HostAction.ABORT, "ann"))
    return stage.referee.state is State.OVER


def _have_a_command_opened_by_the_own_key() -> bool:
    """A command in a host's name waits for its key beside a shot of the team under the same salt."""
    stage = _hosted_stage()
    forger, sealer = stage.current, Sealer(secret(stage.current), b"one for two.....")
    stage.worker.held = True
    stage.fire(stage.others()[0], sealer.sign({"x": 1, "y": 1}))
    stage.say(_HOST, write_host(HostCommand("desk", HostAction.ABORT), sealer))
    stage.worker.release()
    stage.wait(0)
    assert forger in stage.referee.players
    return stage.referee.state is State.OVER


def _replay_a_command() -> bool:
    """The host has paused and resumed; somebody pauses once more, by a copy."""
    stage = _hosted_stage()
    pause = _as_host(HostAction.PAUSE)
    stage.say(_HOST, pause)
    stage.say(_HOST, _as_host(HostAction.RESUME))
    stage.say(_HOST, pause)
    return stage.referee.deadline() is None


def _hold_a_command_back() -> bool:
    """The host aborts a game; the command comes when the next one is on."""
    stage = _hosted_stage()
    abort = _as_host(HostAction.ABORT, context=1)
    while stage.referee.number == 1:
        stage.wait(31)
    for name in TEAMS:
        stage.join(name)
    stage.place(TEAMS)
    stage.say(_HOST, abort)
    return stage.referee.state is State.OVER


def _act_with_the_former_secret() -> bool:
    """The secret has leaked, and the operator has given the host another one while a command waited for its key."""
    register = Register(_roster(secret("desk")))
    stage = Stage(register=register)
    stage.worker.held = True
    stage.say(_HOST, _as_host(HostAction.ABORT))
    register.replace(_roster("another"))
    stage.worker.release()
    stage.wait(0)
    return stage.referee.state is State.OVER


def _begin_a_break(name: str) -> bytes:
    """Return a command to pause all tables."""
    return write_host(HostCommand(name, HostAction.PAUSE, everywhere=True), Sealer(secret(name), b"the host's salt."))


def _begin_a_break_as_a_team() -> bool:
    """A team pauses the whole evening, signed with its own secret."""
    stage = _hosted_stage()
    stage.say(_HOST, _begin_a_break("ann"))
    return stage.service.play.evening.paused


def _replay_a_break() -> bool:
    """The host's break is over; somebody begins one more, by a copy."""
    stage = _hosted_stage()
    pause = _begin_a_break("desk")
    resume = HostCommand("desk", HostAction.RESUME, everywhere=True)
    stage.say(_HOST, pause)
    assert stage.service.play.evening.paused
    stage.say(_HOST, write_host(resume, Sealer(secret("desk"), b"the host's salt.")))
    stage.say(_HOST, pause)
    return stage.service.play.evening.paused


def _begin_a_league(by: str) -> Callable[[], bool]:
    """A team reports a league, in its own name or in a host's: no game would begin but those of the league."""

    def act() -> bool:
        stage = _hosted_stage()
        report = LEAGUE.write(LeagueShown(by=by, name="ann's cup", round=1))
        stage.publish(Inbound(topics.LEAGUE_REPORT.of(), report, False, 1, 1, team="ann"))
        return stage.service.play.evening.held

    return act


def _try_every_key_as_a_host(patch: Patch) -> None:
    """Take a command in a host's name for that of a team that can open it."""
    member = Keyring.member

    def any_member(self: Keyring, table: str, name: str, *, host: bool = False) -> KeyOwner | None:
        return member(self, table, "ann" if host else name)

    patch.setattr(Keyring, "member", any_member)


_take_teams_for_hosts = without(Register, "host", lambda self, name: secret(name))
_drain_whatever_opens = without(gates, "_may_be_from", lambda request, member: True)
_take_commands_for_any_game = without(transitions, "_check_host", lambda command, state: None)
_let_everybody_lead = without(Senders, "host", lambda self, name, now: None)
_keep_hosts = without(Keyring, "renew_hosts", lambda self, secret_of, now: None)


def _tell_orientations_by_length() -> bool:
    """Whoever sees no more than lengths learns how ships lie, or where a shot went."""
    sealer = Sealer("s", bytes(16))
    lengths = {
        len(write_placement(Placement("carrier", x, 10, orientation), sealer))
        for x in (1, 10)
        for orientation in Orientation
    }
    shots = {len(json.loads(sealer.sign({"x": x, "y": y}))["signature"]) for x in (1, 10) for y in (9, 10)}
    return len(lengths) > 1 or len(shots) > 1


def _tell_secrets_by_length() -> bool:
    """How long is the secret in a sealed request?"""
    stage = Stage((), play=False)
    key = stage.identity.sealing_key
    return len({len(write_participation("ann", "x" * length, key)) for length in (1, 20, 40)}) > 1


def _limit_no_derivations(patch: Patch) -> None:
    patch.setattr(Bucket, "take", lambda self, now: True)
    patch.setattr(gates, "MAX_QUEUE_LENGTH", 1_000_000)


_let_retained_messages_be = without(RetainedSync, "receive", lambda self, address, message: [])
_answer_every_request = without(Refusals, "may_answer", lambda *given: True)


def _wait_for_no_broker(patch: Patch) -> None:
    take_due = Resends.take_due
    patch.setattr(Resends, "take_due", lambda self, now, confirmed, published: take_due(self, now, 10**9, published))


def _know_no_senders(patch: Patch) -> None:
    receive = Inbox.receive
    patch.setattr(Inbox, "receive", lambda self, message, now: receive(self, message._replace(team=None), now))


def _know_no_publishers(patch: Patch) -> None:
    receive = Inbox.receive
    patch.setattr(Inbox, "receive", lambda self, message, now: receive(self, message._replace(publisher=None), now))


_know_no_salts = without(KeyOwner, "learn", lambda self, salt, key: None)


def _read_any_size(patch: Patch) -> None:
    parse = strict_json.parse_json
    patch.setattr("salvo.codec.json_codec.parse_json", lambda payload, *bounds: parse(payload, 100_000_000))


def _count_levels_by_recursion(patch: Patch) -> None:
    def depth(value: Any) -> int:
        if not isinstance(value, (dict, list)):
            return 0
        return 1 + max(map(depth, value.values() if isinstance(value, dict) else value), default=0)

    patch.setattr(strict_json, "_levels", lambda text: depth(json.loads(text)))


def _answer_without_end(patch: Patch) -> None:
    patch.setattr("salvo_game.match.ANSWERS_PER_SHIP", 1_000_000)
    _answer_whatever_comes(patch)


_answer_whose_turn_it_is = without(Senders, "_shooter", lambda self, table, message: Sender(table.referee.current.name))
_answer_whatever_comes = without(Senders, "may_answer", lambda self, table, sender, topic: True)
_let_ships_be_placed_for_ever = without("salvo_game.lobby.MAX_PLACEMENTS", 1_000_000)
_may_restart = Lobby._may_restart
_let_every_listing_restart = without(
    Lobby, "_may_restart", lambda self, name, now: _may_restart(self, name, now) or True
)
_let_lobbies_stretch = without(Lobby, "_restart", lambda self, now: setattr(self, "deadline", now + 60_000))
_extend_lobbies_for_ever = without(outages, "MAX_EXTENSIONS", 1_000_000)


def _take_stored_commands(patch: Patch) -> None:
    receive = Inbox.receive
    patch.setattr(Inbox, "receive", lambda self, message, now: receive(self, message._replace(retain=False), now))


_pad_nothing = without(seal, "PADDING_BYTES", 1)


# --- the list -----------------------------------------------------------------------------------------------------


class Attack(NamedTuple):
    """Something a rival may try.

    Attributes:
        act: returns whether it got what it wanted.
        remove: takes the defence away.
    """

    name: str
    sentence: str
    act: Callable[[], bool]
    remove: Callable[[Patch], None]


def _another(x: Any) -> Callable[[dict[str, Any]], str]:
    return lambda body: json.dumps({**body, "x": x})


ATTACKS = [
    Attack("a shot replayed in the same turn", "SALVO-FRESH-3", _replay_in_the_same_turn, _remember_nothing),
    Attack("a shot replayed in a later turn", "SALVO-FRESH-1", _replay_in_a_later_turn, _remember_nothing),
    Attack("a shot replayed in the next game", "SALVO-END-4", _replay_in_the_next_game, _forget_nonces_with_the_game),
    Attack("leaving in another's name", "SALVO-JOIN-15", _take_a_rival_out_of_the_lobby, _try_every_teams_key),
    Attack("a shot held back", "SALVO-FRESH-5", _hold_a_shot_back_that_says_what_it_is_for, _take_any_context),
    Attack(
        "a shot without context held back",
        "SALVO-ACCESS-7",
        _hold_a_shot_back_that_says_nothing,
        _take_shots_without_context,
    ),
    Attack("leaving replayed in the same lobby", "SALVO-FRESH-1", _replay_how_a_rival_left, _remember_nothing),
    Attack("a refused shot used again", "SALVO-FRESH-2", _reuse_a_refused_shot, _burn_only_what_is_accepted),
    Attack(
        "a shot that was turned away unopened",
        "SALVO-FRESH-6",
        _bring_back_what_was_turned_away_unopened,
        _forget_what_was_turned_away,
    ),
    Attack("a listed name with a guess", "SALVO-JOIN-8", _ask_for_a_listed_name, _believe_any_secret),
    Attack(
        "the seat of a team of the roster",
        "SALVO-ACCESS-3",
        _take_the_seat_of_a_team_of_the_roster,
        _believe_any_name,
    ),
    *(
        Attack(f"the name {name!a}", "SALVO-NAME-1", _take_a_name(name), _check_no_names)
        for name in (
            *("+", "ann/hit", "a\0b", "$SYS", "ann ", "a.1", "x" * 33, "players"),
            *("\u0430nn", "ann\u200b", "\u212aate", "a\u0301nn", "ann\u202e"),
        )
    ),
    Attack("a look-alike", "SALVO-NAME-2", _take_a_name("aNN"), _compare_names_by_bytes),
    Attack("another body", "SALVO-SEAL-5", _fire_with_another_body(_another(9)), _compare_nothing),
    Attack(
        "a body with one more field",
        "SALVO-SEAL-5",
        _fire_with_another_body(lambda body: json.dumps({**body, "note": 1})),
        _compare_nothing,
    ),
    *(
        Attack(f"the body {x!r} for 1", "SALVO-SEAL-5", _fire_with_another_body(_another(x)), _compare_loosely)
        for x in (1.0, True, "1")
    ),
    *(
        Attack(f"the signed body {body}", "SALVO-WIRE-4", _fire_with_a_signed_body(body), _convert_types)
        for body in ('{"x":true,"y":1}', '{"x":"1","y":1}', '{"x":1.0,"y":1}')
    ),
    *(
        Attack(f"the body {body}", "SALVO-WIRE-2", _fire_with_a_signed_body(body), _let_the_last_key_win)
        for body in ('{"x":9,"x":1,"y":1}', '{"x":1,"y":2,"\\u0078":3}')
    ),
    Attack(
        "a second key beside the changed one",
        "SALVO-WIRE-2",
        _fire_with_another_body(lambda body: '{"x": 9, "y": 9}, "data": ' + json.dumps(body)),
        _let_the_last_key_win,
    ),
    Attack("a sealed hit as signature", "SALVO-SEAL-10", _fire_a_blob_of_the_servers, _use_one_key_both_ways),
    Attack("a recap as signature", "SALVO-SEAL-10", _burn_with_the_teams_recap, _use_one_key_both_ways),
    Attack("a placement as signature", "SALVO-SEAL-5", _fire_a_placement, _compare_nothing),
    Attack("derivations without end", "SALVO-FRESH-6", _have_keys_derived_without_end, _limit_no_derivations),
    Attack("a known team kept waiting", "SALVO-FRESH-7", _delay_a_team_whose_salt_is_known, _know_no_salts),
    Attack("another team's derivations", "SALVO-FRESH-9", _spend_the_derivations_of_another_team, _know_no_senders),
    Attack("forged shots from elsewhere", "SALVO-FRESH-9", _forge_shots_from_elsewhere, _know_no_publishers),
    Attack("forged placements from elsewhere", "SALVO-FRESH-9", _forge_placements_from_elsewhere, _know_no_publishers),
    *(
        Attack(
            f"what anybody sent answered, {'connections' if reports else 'nobody'} known",
            "SALVO-ERR-4",
            _have_what_anybody_sent_answered(reports=reports),
            _answer_whatever_comes,
        )
        for reports in (False, True)
    ),
    Attack(
        "what anybody sent answered in a contest",
        "SALVO-ERR-4",
        _have_what_anybody_sent_answered(reports=False, contest=True),
        _answer_whatever_comes,
    ),
    Attack("a rival's noise answered", "SALVO-ERR-3", _have_a_rivals_noise_answered, _answer_whose_turn_it_is),
    Attack("another team answered", "SALVO-FRESH-9", _have_another_team_answered, _know_no_senders),
    Attack("a megabyte", "SALVO-WIRE-5", _say_far_too_much, _read_any_size),
    Attack("a thousand levels", "SALVO-WIRE-4", _end_the_server_by_nesting, _count_levels_by_recursion),
    Attack("a team drowned in refusals", "SALVO-ERR-4", _drown_a_team_in_refusals, _answer_without_end),
    Attack(
        "a team drowned by requests in its name",
        "SALVO-ERR-6",
        _drown_a_team_by_requests_in_its_name,
        _answer_every_request,
    ),
    Attack("recaps without end", "SALVO-ERR-6", _have_recaps_sent_without_end, _answer_every_request),
    Attack("a flood of lines", "SALVO-CHAT-4", _flood_the_chat(), _limit_no_lines),
    Attack("a flood of lines to be refused", "SALVO-CHAT-4", _flood_the_chat(b"noise"), _limit_no_lines),
    *(
        Attack(f"a line of {name!a}'s", "SALVO-CHAT-2", _say_as(name), _know_everybody)
        for name in ("server", "dan", "Ann", "bob: turn 9, ann")
    ),
    Attack("a line with a sender", "SALVO-WIRE-4", _say_in_anothers_name_by_the_payload, _read_no_senders),
    *(
        Attack(f"the line {text[:12]!a}", "SALVO-CHAT-3", _have_shown(text), _check_no_text)
        for text in (
            "\x1b[2J\x1b[Hann wins",
            "gg\nbob: I cheat",
            "gg\u2028bob: I cheat",
            "\u202egg",
            "x" * 201,
            "\u200b",
        )
    ),
    Attack("the log without end", "SALVO-LOG-12", _have_the_log_published_without_end, _limit_no_derivations),
    Attack("a broker outrun by the log", "SALVO-LOG-12", _outrun_a_slow_broker_by_the_log, _wait_for_no_broker),
    Attack("a ship placed without end", "SALVO-PLACE-7", _place_one_ship_without_end, _let_ships_be_placed_for_ever),
    Attack("a lobby held open", "SALVO-BACK-5", _hold_a_lobby_open, _extend_lobbies_for_ever),
    Attack("a lobby of comings and goings", "SALVO-JOIN-17", _come_and_go_in_the_lobby, _let_every_listing_restart),
    Attack("a lobby of new names", "SALVO-JOIN-17", _come_under_new_names, _let_lobbies_stretch),
    Attack("a retained command", "SALVO-FRESH-4", _leave_a_command_behind, _take_stored_commands),
    Attack("false standings", "SALVO-STAND-5", _leave_false_standings_behind, _let_retained_messages_be),
    Attack("a command in a host's name", "SALVO-HOST-1", _act_as_a_host, _try_every_key_as_a_host),
    Attack("a command of a team", "SALVO-HOST-1", _act_as_a_team, _take_teams_for_hosts),
    Attack("a command by another's key", "SALVO-HOST-1", _have_a_command_opened_by_the_own_key, _drain_whatever_opens),
    Attack("a host's command replayed", "SALVO-FRESH-1", _replay_a_command, _remember_nothing),
    Attack("a host's command held back", "SALVO-HOST-1", _hold_a_command_back, _take_commands_for_any_game),
    Attack("a host's former secret", "SALVO-HOST-1", _act_with_the_former_secret, _keep_hosts),
    Attack("a break of a team's", "SALVO-HOST-1", _begin_a_break_as_a_team, _take_teams_for_hosts),
    Attack("a break replayed", "SALVO-FRESH-1", _replay_a_break, _remember_nothing),
    Attack("a league of a team's", "SALVO-LEAGUE-1", _begin_a_league("ann"), _let_everybody_lead),
    Attack("a league in a host's name", "SALVO-LEAGUE-1", _begin_a_league("desk"), _know_no_senders),
    Attack("how ships lie by length", "SALVO-SEAL-9", _tell_orientations_by_length, _pad_nothing),
    Attack("how long a secret is", "SALVO-IDENT-4", _tell_secrets_by_length, _pad_nothing),
]
each_attack = pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)


@each_attack
def test_an_attack_achieves_nothing(attack: Attack) -> None:
    assert not attack.act()


@each_attack
def test_an_attack_succeeds_without_its_defence(attack: Attack, monkeypatch: Patch) -> None:
    attack.remove(monkeypatch)
    assert attack.act()
