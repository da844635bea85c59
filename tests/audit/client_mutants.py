"""Wrong clients, each with one mistake that authors make; the judge has to find every one.

The requirements were drawn by chance, before there was a case, from those that a case graded "must" tries.

A mutant of `examples/client.py` replaces texts in it. One of the SDK is a few lines that run before its bot plays.
"""

from __future__ import annotations

from typing import Final, NamedTuple

#: The client, playing on after a game: what a client has to forget shows in its second game only.
PLAYS_ON: Final = (('print("winner:", winner)\n        client.disconnect()', 'print("winner:", winner)'),)

#: What it has to do then: what was cleared while it was away is not repeated.
FORGETS: Final = (
    (
        'if message.topic == "/game/state":\n',
        'if message.topic == "/game/state":\n        if message.payload == b"lobby":\n'
        '            for topic in [each for each in latest if each[:8] == "/player/" or "/ships/" in each]: '
        "del latest[topic]\n",
    ),
)

_SHOT = 'shot = {"data": {"x": x, "y": y}, "signature": blob({"x": x, "y": y})}'
_REQUEST = 'json.dumps({"name": me, "secret": secret})'
_BLOB = "return base64.b64encode(salt + box.encrypt(json.dumps(body).encode())).decode()"
_TOPICS = '"/players/list", "/player/#"'
_RECEIVED = "latest[message.topic] = message.payload.decode()"
_FIRES = 'if state == "turn" and latest.get("/game/current") == me:'
_WINNER = 'if state and (winner := latest.pop("/game/winner", "")):'
_UNPLACED = 'if ship not in placed and latest.get(f"/players/{me}/ships/{ship}/approved") != "true":'
_LOGIN = "client.username_pw_set(me, secret)"
_PUBLISH_SHOT = 'client.publish(f"/players/{target}/fire", json.dumps(shot), qos=1)'


#: Where cases that are judged in passing are tried.
USUAL: Final = "turns in a row"


class Mutant(NamedTuple):
    """A client with one mistake.

    Attributes:
        requirement: which it breaks, without ``SALVO-``.
        case: the one that has to find it.
        scenario: where it has to, if the case is judged in many; empty for :data:`USUAL`.
        mistake: what its author did.
        edits: texts of `examples/client.py` and what replaces them; none if it is of the SDK.
        patch: Python that changes the SDK.
    """

    requirement: str
    case: str
    scenario: str
    mistake: str
    edits: tuple[tuple[str, str], ...] = ()
    patch: str = ""


def _spec(requirement: str, case: str, mistake: str, *edits: tuple[str, str]) -> Mutant:
    name, _, scenario = case.partition(":")
    return Mutant(requirement, name, scenario, mistake, edits)


def _sdk(requirement: str, case: str, mistake: str, patch: str) -> Mutant:
    name, _, scenario = case.partition(":")
    return Mutant(requirement, name, scenario, mistake, patch=patch)


_CONTEXT = """
from dataclasses import replace
from salvo.codec import command_writer as writer
write = writer.write_shot
def changed(x, y, context, sealer):
    return write(x, y, {context}, sealer)
writer.write_shot = changed
"""

MUTANTS: Final = (
    _spec("WIRE-3", "wire/integers", "writes coordinates as fractions", (_SHOT, "x, y = float(x), float(y); " + _SHOT)),
    _spec(
        "END-1",
        "end/no-shot-after-over",
        "fires once more when the game is over",
        (_WINNER, _WINNER + f"\n        x, y, target = 1, 1, players()[-1]; {_SHOT}; {_PUBLISH_SHOT}"),
        ("client.disconnect()", "threading.Timer(1, client.disconnect).start()"),
    ),
    _spec(
        "TOPIC-2",
        "turn/fires-when-current",
        "reads the current player as JSON",
        (_FIRES, _FIRES.replace(" == me", " == json.dumps(me)")),
    ),
    _sdk(
        "ACCESS-7",
        "turn/context-always",
        "fires without game, turn, number and target",
        _CONTEXT.format(context="None"),
    ),
    _spec(
        "NAME-2",
        "names/capitals",
        "writes names in small letters",
        ("/players/{target}/fire", "/players/{target.lower()}/fire"),
    ),
    _spec("SEAL-1", "seal/base64", "uses the alphabet for URLs", ("base64.b64encode", "base64.urlsafe_b64encode")),
    _spec(
        "TOPIC-4",
        "turn/count-falls",
        "counts the ships of the turn before",
        (
            "for target, x, y in cells[: len(afloat)]:",
            "before, latest['before'] = latest.get('before', afloat), afloat\n"
            "    for target, x, y in cells[: len(before)]:",
        ),
    ),
    _spec(
        "END-4",
        "end/next-game",
        "does not forget what is cleared",
        *PLAYS_ON,
        (_RECEIVED, f"if message.payload: {_RECEIVED}"),
    ),
    _spec(
        "SEAL-3",
        "seal/opens",
        "uses XChaCha20 in place of XSalsa20",
        ("import nacl.pwhash", "import nacl.bindings, nacl.pwhash"),
        (
            "box.encrypt(json.dumps(body).encode())",
            "(nonce := nacl.utils.random(24)) + nacl.bindings.crypto_aead_xchacha20poly1305_ietf_encrypt("
            'json.dumps(body).encode(), b"", nonce, bytes(box))',
        ),
    ),
    _spec(
        "WIRE-2",
        "wire/keys-once",
        "writes a key twice",
        (_REQUEST, f"{_REQUEST}.replace('{{', '{{\"name\": \"' + me + '\", ')"),
    ),
    _spec(
        "JOIN-1",
        "mqtt/only-known-topics",
        "asks on another topic",
        ("/game/request_participation", "/game/participate"),
    ),
    _spec("NAME-4", "place/known-ship", "calls a ship by another name", ('"patrolboat": 2', '"cruiser": 2')),
    _sdk(
        "PLACE-5",
        "place/repairs",
        "does nothing about a ship that was refused",
        """
from salvo.join.session import placing, tables
send = placing.send
def once(session):
    if not session.fleet_sent_at:
        send(session)
tables.PLACING = [line._replace(action=once) if line.action is send else line for line in tables.PLACING]
""",
    ),
    _spec(
        "FIRE-2",
        "seal/signed-shape",
        "calls x and y column and row",
        (_SHOT, _SHOT.replace('"x"', '"column"').replace('"y"', '"row"')),
    ),
    _sdk(
        "BACK-2",
        "turn/announced-again",
        "takes a turn that is announced again for a new one",
        """
from salvo import messages as m
from salvo.join.events import SalvoWanted
from salvo.join.session import playing
began = playing.turn_began
def again(session, turn):
    repeated = session.play.begun == m.TurnContext(turn.game, turn.turn) and turn.player == session.table.team
    began(session, turn)
    if repeated and not session.missed_news:
        playing.put_in_turn(session, session.view, session.play.turn, session.play.turn.shots)
        session.events.append(SalvoWanted(session.view))
playing.turn_began = again
""",
    ),
    _spec(
        "END-1",
        "players/three",
        "ends as soon as one player is defeated",
        (_WINNER, 'if state and (winner := "".join(n for n in players() if latest.get(f"/player/{n}/defeated"))):'),
    ),
    _spec(
        "PLACE-3",
        "place/on-grid",
        "swaps x and y of a ship",
        ('f"{x};{y}"', 'f"{y};{x}"'),
    ),
    _spec(
        "BOOK-8", "read/tie", "knows no winner but a player", (_WINNER, _WINNER + "\n        players().index(winner)")
    ),
    _spec(
        "TURN-4",
        "turn/silent-otherwise:names that begin alike",
        "fires whoever's turn it is",
        (_FIRES, 'if state == "turn" and latest.get("/game/current"):'),
    ),
    _spec("NAME-1", "join/name", "asks with a name that is none", (_REQUEST, _REQUEST.replace("me,", 'me + "!",'))),
    _spec("PLACE-7", "place/no-repeat", "places its fleet again with every message", (_UNPLACED, "if True:")),
    _spec("WIRE-1", "wire/utf8", "encodes its request as UTF-16", (_REQUEST, _REQUEST + '.encode("utf-16")')),
    _spec(
        "VERSION-2",
        "read/unknown-error",
        "fails at a refusal that it does not know",
        (_TOPICS, f'f"/players/{{me}}/error", {_TOPICS}'),
        (
            _RECEIVED,
            _RECEIVED + '\n    if message.topic.endswith("/error"): '
            '{"wrong_state": 1, "not_your_turn": 1, "name_taken": 1}[latest[message.topic].partition(":")[0]]',
        ),
    ),
    _spec(
        "VERSION-3",
        "read/unknown-fields",
        "fails at a field that it does not know",
        (_TOPICS, f'"/game/turn", {_TOPICS}'),
        (
            _RECEIVED,
            _RECEIVED + '\n    if message.topic == "/game/turn" and message.payload:\n        assert '
            'json.loads(message.payload).keys() == {"game", "turn", "player", "shots", "now", "deadline"}',
        ),
    ),
    _sdk(
        "ACCESS-7",
        "join/sealed",
        "never seals its request",
        """
from salvo.codec import command_writer as writer
write = writer.write_participation
writer.write_participation = lambda name, secret, key=None: write(name, secret)
""",
    ),
    _sdk(
        "FRESH-5",
        "turn/context-right",
        "counts its shots from 0",
        _CONTEXT.format(context="replace(context, shot=context.shot - 1)"),
    ),
    _spec(
        "STAND-5",
        "read/large",
        "reads no large message",
        (_TOPICS, f'"/game/standings", {_TOPICS}'),
        (_RECEIVED, "assert len(message.payload) < 4096\n    " + _RECEIVED),
    ),
    _spec("PLACE-4", "place/no-overlap", "places all ships in one row", ("2 * number", "5")),
    _spec(
        "BOOK-2",
        "turn/same-player-again",
        "waits for another player's turn before its next one",
        (
            _RECEIVED,
            'if message.topic == "/game/current" and message.payload.decode() == latest.get("last"): return\n    '
            'if message.topic == "/game/current": latest["last"] = message.payload.decode()\n    ' + _RECEIVED,
        ),
    ),
    _spec(
        "ACCESS-2", "mqtt/user-is-team", "connects with another password", (_LOGIN, "client.username_pw_set(me, me)")
    ),
    _spec(
        "TOPIC-2",
        "read/json-spelling",
        "takes the list apart at its commas",
        (
            'json.loads(latest.get("/players/list") or "[]")',
            '[n.strip(\'"\') for n in latest.get("/players/list", "").strip("[]").split(",") if n]',
        ),
    ),
    _spec(
        "NAME-1",
        "names/beginnings",
        "knows its turn by the beginning of a name",
        (_FIRES, 'if state == "turn" and latest.get("/game/current", "").startswith(me):'),
    ),
    _sdk(
        "VERSION-4",
        "read/major-version",
        "does not look at the major version",
        """
from salvo.codec import announcement_reader as reader
reader._ServerVersions.check = lambda self: None
""",
    ),
    _spec(
        "FRESH-6",
        "seal/one-salt",
        "draws a salt for every message",
        (
            "def blob(body):\n    return base64.b64encode(salt + box.",
            "def blob(body):\n    salt = nacl.utils.random(16)\n"
            "    box = nacl.secret.SecretBox(nacl.pwhash.argon2id.kdf("
            "32, secret.encode(), salt, opslimit=2, memlimit=2**26))\n    return base64.b64encode(salt + box.",
        ),
    ),
    _spec(
        "ACCESS-6",
        "mqtt/no-will",
        "has a last will",
        (_LOGIN, _LOGIN + '\nclient.will_set("/players/" + me + "/gone", "true")'),
    ),
    _spec(
        "JOIN-9",
        "join/in-lobby-only",
        "asks in a game, too",
        ('while latest["/game/state"] == "lobby" and me not in players():', "while me not in players():"),
    ),
    _spec(
        "MQTT-3",
        "join/asks",
        "takes what is retained for old news",
        (_RECEIVED, "if message.retain: return\n    " + _RECEIVED),
    ),
    _spec(
        "FIRE-4",
        "turn/one-shot-a-message",
        "sends its salvo as one message",
        (
            "for target, x, y in cells[: len(afloat)]:",
            "if True:\n        target = cells[0][0]; salvo = "
            '[{"x": x, "y": y} for _, x, y in cells[: len(afloat)]]\n        '
            'client.publish(f"/players/{target}/fire", '
            'json.dumps({"data": salvo, "signature": blob(salvo)}), qos=1)\n    for target, x, y in ():',
        ),
    ),
    _spec(
        "ACCESS-4",
        "mqtt/one-connection",
        "opens a second connection for its shots",
        (
            "client.connect(host, int(port))",
            "client.connect(host, int(port))\nsecond = mqtt.Client(mqtt."
            "CallbackAPIVersion.VERSION2)\nsecond.username_pw_set(me, secret)\nsecond.connect(host, int(port))\n"
            "second.loop_start()",
        ),
    ),
    _spec(
        "JOIN-4",
        "place/all-ships",
        "does not place all of its ships",
        ("enumerate(FLEET.items(), start=1)", "enumerate(list(FLEET.items())[:4], start=1)"),
    ),
    _spec(
        "FRESH-8",
        "turn/no-flood:refusals",
        "sends a refused message again at once",
        (_TOPICS, f'f"/players/{{me}}/error", {_TOPICS}'),
        (
            _RECEIVED,
            _RECEIVED + f'\n    if message.topic.endswith("/error"):\n        x, y, target = 1, 1, me; {_SHOT}\n'
            f"        {_PUBLISH_SHOT}",
        ),
    ),
    _spec(
        "JOIN-3",
        "seal/long-secret",
        "cuts a long secret",
        ("me, secret = sys.argv[1:5]", "me, secret = sys.argv[1:5]; secret = secret[:64]"),
    ),
    _spec("JOIN-1", "mqtt/no-retain", "retains its request", (f"{_REQUEST}, qos=1", f"{_REQUEST}, qos=1, retain=True")),
    _spec(
        "HOST-5",
        "read/aborted",
        "expects a winner of an aborted game",
        *PLAYS_ON,
        (_WINNER, _WINNER + '\n        winner = json.loads(winner)[0] if winner.startswith("[") else winner'),
    ),
    _spec(
        "SEAL-6",
        "seal/length",
        "pads its texts too much",
        ("json.dumps(body).encode()", "json.dumps(body).ljust(1200).encode()"),
    ),
    _spec(
        "FIRE-2",
        "turn/on-grid",
        "counts cells from 0",
        ("for x in range(1, 11) for y in range(1, 11)", "for x in range(10) for y in range(10)"),
    ),
)
