"""What the client has sent, read strictly: each message is judged alone, by the cases that hold everywhere."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import nacl.exceptions
import nacl.public

from salvo.errors import WireError
from salvo.v1 import commands_pb2 as pb
from salvo.wire import topics
from salvo_audit.check import keys, schema
from salvo_audit.check.own_broker import ReceivedPublication

#: Which message of the schema each topic carries, for those whose body is signed the message that says so.
_SIGNED: Final = {
    topics.FIRE: (pb.SignedShot.DESCRIPTOR, pb.Shot.DESCRIPTOR),
    topics.SKIP: (pb.SignedSkip.DESCRIPTOR, pb.Skip.DESCRIPTOR),
    topics.LEAVE: (pb.SignedLeave.DESCRIPTOR, pb.Leave.DESCRIPTOR),
}
_OPEN: Final = {topics.SAY: pb.Say.DESCRIPTOR, topics.RESEND: pb.Resend.DESCRIPTOR}
_TEAM_TOPICS: Final = {topics.REQUEST_PARTICIPATION, topics.PLACE, *_SIGNED, *_OPEN}
_MOST_SECRET: Final = 256
_LAST_ENTRY: Final = 1_000_000_000
#: Of one client; a right one has one a process, and each takes 50 ms and 64 MiB.
_MOST_SALTS: Final = 200
_PLACEMENT_CASE: Final = "place/shape"
_CELL: Final = re.compile(r" *([0-9]{1,3}) *; *([0-9]{1,3}|[A-Za-z]) *")
_CASES_OF_RULES: Final = {
    "length": "wire/length",
    "utf8": "wire/utf8",
    "json": "wire/json",
    "depth": "wire/depth",
    "key": "wire/keys-once",
    "number": "wire/integers",
}
_SHAPE_CASES: Final = {
    topics.REQUEST_PARTICIPATION: "join/request-shape",
    topics.PLACE: _PLACEMENT_CASE,
    topics.FIRE: "seal/signed-shape",
    topics.SKIP: "turn/skip-shape",
    topics.LEAVE: "join/leave-shape",
    topics.SAY: "chat/shape",
    topics.RESEND: "log/resend-shape",
}


class JudgedCommand(NamedTuple):
    """A message of the client.

    Attributes:
        kind: the topic's name in the topic table; empty if it is none of a team's.
        player: the name in its topic.
        ship: the ship in its topic.
        body: what it says; None if it cannot be read.
        opened: whether its blob opened; None without a blob.
        sealed: whether it is a sealed request.
        nonce: of its blob.
        salt: of its blob.
    """

    publication: ReceivedPublication
    kind: str = ""
    player: str = ""
    ship: str = ""
    body: dict[str, Any] | None = None
    opened: bool | None = None
    sealed: bool = False
    nonce: bytes = b""
    salt: bytes = b""

    @property
    def at(self) -> float:
        """When it came."""
        return self.publication.at


class CommandReader:
    """Reads the messages of one client.

    Args:
        judge: notes of a case whether it went well: its name, whether, and in words what was expected and seen.
        sealing_key: the private key that requests may be sealed for; None where the server has none.
    """

    def __init__(
        self,
        secret: str,
        name: str,
        table: str,
        judge: Callable[[str, bool, str, str, ReceivedPublication], None],
        sealing_key: bytes | None = None,
    ) -> None:
        self.sealing_key = sealing_key
        self._secret = secret
        self._name = name
        self._table = table
        self._judge = judge
        self._fault: str | None = None
        self._salts: set[bytes] = set()

    async def read(self, publication: ReceivedPublication) -> JudgedCommand:
        """Judge one message, and return what it says."""
        try:
            address = topics.parse(publication.topic)
        except WireError:
            address = None
        known = address is not None and address.topic in _TEAM_TOPICS and address.table == self._table
        self._note(
            "mqtt/only-known-topics",
            known,
            publication,
            "a topic that the table of topics gives to a team, of its own table",
            repr(publication.topic),
        )
        if address is None or not known:
            return JudgedCommand(publication)
        command = JudgedCommand(publication, address.topic.name, address.player, address.ship)
        self._note("wire/length", len(publication.payload) <= schema.MAX_BYTES, publication)
        if address.topic is topics.REQUEST_PARTICIPATION:
            return self._read_request(command)
        if address.topic is topics.PLACE:
            return await self._read_placement(command)
        if address.topic in _OPEN:
            return self._read_open(command, address.topic)
        return await self._read_signed(command, address.topic)

    def _note(
        self, case: str, fine: bool, publication: ReceivedPublication, expected: str = "", seen: str = ""
    ) -> bool:
        self._judge(case, fine, expected, seen, publication)
        return fine

    def _fields(
        self, topic: topics.Topic, payload: bytes, publication: ReceivedPublication, message: Any
    ) -> dict[str, Any] | None:
        """Return the fields of a message; None if the schema does not have it."""
        case = _SHAPE_CASES[topic]
        try:
            found = schema.read(payload, message)
        except schema.Misfit as misfit:
            self._note(_CASES_OF_RULES.get(misfit.rule, case), False, publication, misfit.expected, misfit.seen)
            return None
        for each in _CASES_OF_RULES.values():
            self._note(each, True, publication)
        self._note(case, True, publication)
        return found

    def _read_open(self, command: JudgedCommand, topic: topics.Topic) -> JudgedCommand:
        publication = command.publication
        body = self._fields(topic, publication.payload, publication, _OPEN[topic])
        if body is not None and topic is topics.RESEND:
            fine = 0 <= body["log"] <= _LAST_ENTRY
            self._note("log/resend-shape", fine, publication, f"an entry from 0 to {_LAST_ENTRY}", str(body["log"]))
        return command._replace(body=body)

    # --- requests ---------------------------------------------------------------------------------------------------

    def _read_request(self, command: JudgedCommand) -> JudgedCommand:
        publication, payload = command.publication, command.publication.payload
        if payload[:1].isalnum() or payload[:1] in (b"+", b"/"):
            opened = self._unseal(publication)
            if opened is None:
                return command._replace(sealed=True)
            command, payload = command._replace(sealed=True), opened
        body = self._fields(topics.REQUEST_PARTICIPATION, payload, publication, pb.Participation.DESCRIPTOR)
        if body is not None:
            own, name, secret = self._name, body["name"], body["secret"]
            long = f"a secret of {len(secret)} characters"
            self._note(
                "join/request-shape", 1 <= len(secret) <= _MOST_SECRET, publication, f"1 to {_MOST_SECRET}", long
            )
            self._note("join/name", name == own, publication, f"the name {own!r}", repr(name))
            if name == own:
                seen = f"a text of {len(secret)} characters that is another one"
                self._note("join/secret", secret == self._secret, publication, "the team's secret", seen)
        return command._replace(body=body)

    def _unseal(self, publication: ReceivedPublication) -> bytes | None:
        if self.sealing_key is None:
            self._note(
                "join/request-shape", False, publication, "a JSON object", "a text that is none, as if it were sealed"
            )
            return None
        try:
            box = keys.decode(publication.payload)
            opened: bytes = nacl.public.SealedBox(nacl.public.PrivateKey(self.sealing_key)).decrypt(box)
        except ValueError as error:
            self._note("join/sealed", False, publication, "canonical base64", str(error))
            return None
        except (nacl.exceptions.CryptoError, nacl.exceptions.TypeError):
            seen = "something that does not open with the key `seal` in /game/server"
            self._note("join/sealed", False, publication, "a crypto_box_seal for the server's key", seen)
            return None
        self._note("join/sealed", True, publication)
        return opened

    # --- blobs ------------------------------------------------------------------------------------------------------

    async def _open(self, command: JudgedCommand, text: bytes) -> tuple[JudgedCommand, bytes | None]:
        """Return the text inside a blob; None if it does not open."""
        publication = command.publication
        try:
            blob = keys.decode(text)
        except ValueError as error:
            case = "seal/bare-blob" if text[:1] in (b'"', b"{") else "seal/base64"
            self._note(case, False, publication, "canonical standard base64 with padding, and nothing else", str(error))
            return command._replace(opened=False), None
        self._note("seal/base64", True, publication)
        if command.kind == topics.PLACE.name:
            self._note("seal/bare-blob", True, publication)
        seen = f"{len(blob)} bytes"
        expected = f"{keys.SHORTEST} to {keys.LONGEST} bytes"
        if not self._note("seal/length", keys.SHORTEST <= len(blob) <= keys.LONGEST, publication, expected, seen):
            return command._replace(opened=False), None
        parts = keys.cut(blob)
        if parts.salt not in self._salts and len(self._salts) >= _MOST_SALTS:
            self._note(
                "seal/opens", False, publication, seen=f"a fresh salt after {_MOST_SALTS} others; it is not tried"
            )
            return command._replace(opened=False), None
        self._salts.add(parts.salt)
        inside = keys.open_with(await keys.derive(self._secret, parts.salt), parts)
        command = command._replace(opened=inside is not None, nonce=parts.nonce, salt=parts.salt)
        self._note(
            "seal/opens",
            inside is not None,
            publication,
            "a blob that opens with the key of the team's secret",
            await self._why_not(blob) if inside is None else "",
        )
        return command, inside

    async def _why_not(self, blob: bytes) -> str:
        """Return what is wrong with a blob that does not open; the first one tells it of all, and it takes seconds."""
        if self._fault is None:
            self._fault = await asyncio.to_thread(keys.diagnose, blob, self._secret, self._name)
        if self._fault:
            return f"a blob that does not open, because {self._fault}"
        return "a blob that opens with none of the layouts, parameters and ciphers that authors confuse"

    async def _read_placement(self, command: JudgedCommand) -> JudgedCommand:
        publication = command.publication
        own = command.player == self._name
        self._note("place/own-topic", own, publication, f"the name {self._name!r} in the topic", repr(command.player))
        command, inside = await self._open(command, publication.payload)
        if inside is None:
            return command
        body = self._fields(topics.PLACE, inside, publication, pb.Placement.DESCRIPTOR)
        if body is None:
            return command
        found = _CELL.fullmatch(body["coordinates"])
        expected, seen = '"x;y" with two numbers, or a letter for y', repr(body["coordinates"])
        if not self._note(_PLACEMENT_CASE, found is not None, publication, expected, seen) or found is None:
            return command
        body["coordinates"] = f"{int(found[1])};{row_of(found[2])}"
        return command._replace(body=body)

    async def _read_signed(self, command: JudgedCommand, topic: topics.Topic) -> JudgedCommand:
        publication = command.publication
        outer, inner = _SIGNED[topic]
        signed = self._fields(topic, publication.payload, publication, outer)
        if topic is topics.FIRE:
            text = publication.payload.decode(errors="replace")
            try:
                value = json.loads(text)
            except ValueError:
                value = None
            body = value.get("data", value.get("payload")) if isinstance(value, dict) else None
            several = isinstance(value, list) or isinstance(body, list)
            self._note("turn/one-shot-a-message", not several, publication, "one shot", "an array of them")
        if signed is None:
            return command
        shown = signed.get("data", signed.get("payload"))
        command, inside = await self._open(command, signed["signature"].encode())
        if inside is None:
            return command
        body = self._fields(topic, inside, publication, inner)
        if body is None:
            return command
        equal = shown == body
        self._note("seal/body-equal", equal, publication, json.dumps(shown), f"{json.dumps(body)} inside the signature")
        if not equal:
            return command
        if topic is topics.FIRE and isinstance(body["y"], str):
            body["y"] = row_of(body["y"])
        return command._replace(body=body)


def row_of(text: str) -> int:
    """Return the number of a row that is written as a number or as a letter (SALVO-GAME-3)."""
    return int(text) if text.isdecimal() else ord(text.upper()) - ord("A") + 1
