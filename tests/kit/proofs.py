"""Games for tests of the log: played at a table with all that goes wrong in one, and logs with something changed."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from salvo import messages as m
from salvo.codec.header import Header
from salvo.codec.log import OF_BYTES, entry_digest, sign_entry
from salvo.codec.log_reader import take_apart
from salvo.messages import Draw, Limits, State
from salvo.rules import (
    SALVO,
    SMACKDOWN,
    SPACED,
    STREAK,
    XBS,
    Grid,
    Orientation,
    Placement,
    RuleBook,
    ShipClass,
    Shots,
)
from salvo.rules.book import Announce
from salvo_game.log import proof_lines
from salvo_game.log_verification import ProofReport, verify_lines
from salvo_game.referee import Referee
from salvo_game.table import Table
from salvo_game.table_step import Step
from salvo_game.transcript import no_status
from salvo_server.storage.identity import Identity

IDENTITY = Identity(bytes(range(32)))


def book(name: str, width: int, height: int, lengths: Sequence[int], **given: Any) -> RuleBook:
    fleet = tuple(ShipClass(f"raft{number}", length) for number, length in enumerate(lengths))
    parts: dict[str, Any] = {
        "spacing": SALVO.spacing,
        "shots": SALVO.shots,
        "order": SALVO.order,
        "announce": SALVO.announce,
    }
    parts |= {"ending": SALVO.ending, "starter": SALVO.starter} | given
    return RuleBook(name=name, grid=Grid(width, height), fleet=fleet, **parts)


TINY = book("tiny", 2, 2, (1,))
SMALL = book("small", 4, 3, (2, 1))
LOOSE = book("loose", 4, 4, (2, 1), shots=Shots.UNTIL_MISS, announce=Announce.EACH_SHOT)
OTHERS = tuple(
    replace(each, name=f"small-{each.name}", grid=SMALL.grid, fleet=SMALL.fleet, goal=None)
    for each in (SMACKDOWN, XBS, STREAK, SPACED)
)
BOOKS = (TINY, SMALL, LOOSE, *OTHERS)


class Played:
    """A game at a table, step by step, on a clock of its own.

    Attributes:
        steps: those that are recorded.
        sent: topic and message of every placement, as if somebody had published it.
    """

    def __init__(
        self,
        seed: object,
        rules: RuleBook = TINY,
        players: int = 2,
        draw: Draw = Draw.FAIR,
        trouble: float = 0.0,
        number: int = 1,
    ) -> None:
        self.random = Random(str(seed))
        self.trouble = trouble
        self.at = 1_790_000_000_000
        secret = hashlib.sha256(str(seed).encode()).hexdigest() if draw is Draw.FAIR else str(seed)
        self.names = [f"team{number}" for number in range(players)]
        limits = Limits(players=players)
        self.table = Table(Referee(secret, "", rules, limits, number, draw), no_status)
        self.table.open()
        self.header: Header = self.table.header
        self.steps: list[Step] = []
        self.message = 0

    def do(self, command: m.Input, at: int | None = None) -> Step:
        self.at = max(self.at + self.random.randrange(3), at or 0)
        step = self.table.carry_out(command, self.at)
        if step.recorded:
            self.steps.append(step)
        return step

    def unlucky(self) -> bool:
        return self.random.random() < self.trouble

    def place(self, name: str, placement: Placement) -> None:
        self.message += 1
        message = hashlib.blake2b(b"%d" % self.message, digest_size=16).digest()
        self.do(m.PlaceShip(name, placement.ship, placement, message))

    def lobby(self) -> Played:
        for name in self.names:
            self.do(m.Participate(name, b""))
            if self.unlucky():
                self.do(m.Resumed())
        for name in self.names:
            for placement in self.header.rules.book.random_fleet(self.random).placements:
                while self.unlucky():
                    self.place(name, Placement(placement.ship, 9, 9, Orientation.HORIZONTAL))
                    self.do(m.Unreadable(name, placement.ship, "not_json", "no", proven=True))
                self.place(name, placement)
            if self.table.referee.state is State.LOBBY:
                self.place(name, placement)  # the fleet is final
        return self

    def shot(self, target: str, x: int, y: int) -> None:
        referee = self.table.referee
        assert referee.current is not None
        assert referee.game is not None
        game = referee.game
        context = (
            m.ShotContext(referee.number, game.turn, game.shots_fired + 1, target)
            if self.random.random() < 0.5
            else None
        )
        self.do(m.Fire(referee.current.name, target, x, y, context))

    def fight(self) -> Played:
        referee, grid = self.table.referee, self.header.rules.book.grid
        while (current := referee.current) is not None:
            rival = self.random.choice([name for name in referee.players if name != current.name])
            if self.unlucky():
                self.annoy(current.name, rival)
                continue
            self.shot(rival, *grid.xy(self.random.randrange(grid.size)))
        for _ in range(2):
            self.do(m.Fire(self.names[0], self.names[1], 1, 1))  # void, or too late
        return self

    def annoy(self, current: str, rival: str) -> None:
        deadline = self.table.referee.deadline()
        assert deadline is not None
        if self.header.rules.book.skipping and self.random.random() < 0.3:
            self.do(m.Skip(current))
            return
        match self.random.randrange(6):
            case 0:
                self.do(m.TimePassed(), deadline)
            case 1:
                self.do(m.Resumed())
            case 2:
                self.do(m.Fire(rival, current, 1, 1))
            case 3:
                self.do(m.Fire(current, rival, 77, 1))
            case 4:
                self.do(m.Unreadable(current, "", "not_json", "«no»", proven=True))
            case 5:  # a deadline that passes with the command that came too late
                self.do(m.Fire(current, rival, 1, 1), deadline + 1)

    def play(self) -> Played:
        return self.lobby().fight()

    def proof(self) -> list[bytes]:
        return proof_lines(self.header, self.steps, IDENTITY)


def random_games(count: int) -> Iterator[Played]:
    for number in range(count):
        rules, players, draw = BOOKS[number % 3], 2 + number % 2, Draw.SEED if number % 5 == 0 else Draw.FAIR
        yield Played(number, rules, players, draw, trouble=(number % 4) / 10).play()


def verify(lines: Sequence[bytes]) -> ProofReport:
    return verify_lines(iter(lines), "proof")


# --- a server that signs what is not so -------------------------------------------------------------------------------

Entries = list[dict[str, Any]]


def entries_of(lines: Sequence[bytes]) -> Entries:
    return [json.loads(take_apart(line[:-1])[0]) for line in lines]


def signed(entries: Entries, identity: Identity = IDENTITY) -> list[bytes]:
    """Number, chain and sign entries, whatever stands in them."""
    lines: list[bytes] = []
    of, prev = "", ""
    for number, entry in enumerate(entries):
        links = {"n": number, **({"of": of} if of else {}), "prev": prev}
        body = {key: value for key, value in entry.items() if key not in ("n", "of", "prev")}
        text = json.dumps({**links, **body}, separators=(",", ":")).encode()
        lines.append(sign_entry(text, identity.sign) + b"\n")
        prev = entry_digest(text).hex()
        of = of or prev[: 2 * OF_BYTES]
    return lines


def cheated(lines: Sequence[bytes], cheat: Callable[[Entries], object]) -> list[bytes]:
    """Return a log in which something is otherwise, signed with the right key."""
    entries = copy.deepcopy(entries_of(lines))
    cheat(entries)
    return signed(entries)


def notes_of(played: Played, team: str) -> list[bytes]:
    """What the team would have noted, had it sent its commands over a broker."""
    notes = []
    note: dict[str, Any]
    body: dict[str, Any]
    for step in played.steps:
        command = step.command
        if isinstance(command, m.PlaceShip) and command.player == team:
            topic = f"/players/{team}/ships/{command.spelling}/place"
            note = {"team": team, "topic": topic, "message": command.message.hex()}
        elif isinstance(command, m.Fire) and command.player == team:
            topic, body = f"/players/{command.target}/fire", {"x": command.x, "y": command.y}
            if c := command.context:
                body |= {"g": c.game, "t": c.turn, "n": c.shot, "to": c.target}
            note = {"team": team, "topic": topic, "body": body}
        elif isinstance(command, m.Skip) and command.player == team:
            body = {"g": command.context.game, "t": command.context.turn} if command.context else {}
            note = {"team": team, "topic": f"/players/{team}/skip", "body": body}
        else:
            continue
        notes.append(json.dumps({"sent": note}, separators=(",", ":")).encode() + b"\n")
    return notes
