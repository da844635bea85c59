"""What the server says of a game in `/game/log`, entry by entry (SALVO-LOG).

A game's log follows from the server's signing key, the game's header and its steps, and from nothing else. So it comes
out bit by bit the same after a crash, from a journal, and in a check against what was revealed.

An entry is made for every public step. A shot in mid-salvo, of which only its target hears, waits as a commitment for
the next entry; a command that was refused without a public announcement is in none. An entry is built from public
facts: anything hidden gets into it only through :func:`salvo.codec.log.blind`.

Entries are published again when a team has missed them (SALVO-LOG-12). A team that lost its connection asks; all
subscribers hear the answer, so several requests are one. Entries go out again in portions, each only when the broker
has confirmed the one before: they never crowd out news. All of them were published before or are queued behind those
that were, so the journal has all that they follow from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Protocol
from weakref import WeakKeyDictionary

from salvo import messages as m
from salvo.codec.announcements import Publication
from salvo.codec.header import Header, write_header
from salvo.codec.log import (
    MAX_REVEAL_BYTES,
    OF_BYTES,
    SECRET_BYTES,
    Entry,
    LogEnd,
    LogStep,
    Opening,
    Reveal,
    blind,
    chunks,
    entry_digest,
    seed_commitment,
    sign_entry,
    write_entry,
    write_hidden,
)
from salvo.wire import topics
from salvo_game.rate_limit import Bucket, Rate
from salvo_game.table_step import Step

#: Inputs that are public.
PUBLIC_INPUTS: Final = (m.Participate, m.HostCommand, m.StruckOff, m.TimePassed, m.Resumed, m.TurnDelivered)
_BEGINS: Final = m.StateChanged(m.State.TURN)
#: What shows that a shot counts, before anything of it is public.
_SHOTS: Final = frozenset((m.ShotLanded, m.ShotAccepted))
#: What an entry with texts has besides them: numbers, digests, seed, secret, signature.
_AROUND_TEXTS_BYTES: Final = 512
#: Entries of all tables in a portion, and the pause to the next one: a team on a slow line must not lose news by it.
MAX_ENTRIES: Final = 32
PAUSE_MS: Final = 50
#: Requests of one player in a game: this many at once, then one in five seconds.
MAX_REQUESTS: Final = 6
REQUESTS_A_SECOND: Final = 0.2


class ServerIdentity(Protocol):
    """Signs the log, and has the key that teams seal requests with: a server's keys, handed in."""

    signing_key: bytes
    sealing_key: bytes

    def sign(self, message: bytes) -> bytes: ...
    def open(self, sealed: bytes) -> bytes: ...


def game_secret(header: Header, sign: Callable[[bytes], bytes]) -> bytes:
    """Return the secret of a game: what its commitments are keyed with, revealed when it is won.

    With a fair draw it is the header's fresh one. An explicit seed is not a secret, and is the same for every game of a
    run; so it is then drawn from the signing key, which no one else has: a signature of the header, never published.
    """
    if header.draw is m.Draw.FAIR:
        return bytes.fromhex(header.seed)
    signed = sign(b"salvo secret\0" + write_header(header).encode())
    return hashlib.blake2b(signed, digest_size=SECRET_BYTES).digest()


class GameLog:
    """The log of one game, as texts that are not signed yet.

    Attributes:
        entries: all texts so far.
        begun: whether the game has begun.
    """

    def __init__(self, header: Header, key: bytes, secret: bytes) -> None:
        """Begin with the opening.

        Args:
            key: the server's signing key.
            secret: of this game, 32 bytes.
        """
        self._header = header
        self._secret = secret
        self._of = ""
        self._prev = ""
        self._steps = 0
        self.entries: list[bytes] = []
        self._waiting: list[bytes] = []
        self._texts: list[str] = []
        self.begun = self._over = False
        seed = seed_commitment(secret, header.seed)
        opening = Opening(header.game, header.rules, header.limits, header.version, key, header.draw, seed)
        self._of = entry_digest(self._write(opening))[:OF_BYTES].hex()

    def take_in(self, step: Step) -> list[bytes]:
        """Return the texts that a step adds, in order."""
        if self._over or not step.recorded:
            return []
        public = [announcement for announcement in step.announcements if is_public(announcement)]
        if not public and not _counts(step):
            return []
        hidden = not isinstance(step.command, PUBLIC_INPUTS)
        if hidden:
            self._hide(step)
        if hidden and not public:
            return []
        self.begun = self.begun or _BEGINS in public
        return [self._write(self._logged(step, public)), *self._reveal(public)]

    def _hide(self, step: Step) -> None:
        text = write_hidden(step.at, step.text)
        self._waiting.append(blind(self._secret, len(self._texts), text))
        self._texts.append(text)

    def _logged(self, step: Step, public: Sequence[m.Announcement]) -> LogStep:
        self._steps += 1
        command = step.command if isinstance(step.command, PUBLIC_INPUTS) else None
        message = step.command.message if isinstance(step.command, m.PlaceShip) else b""
        hidden, self._waiting = tuple(self._waiting), []
        return LogStep(step.at, tuple(public), hidden, command=command, message=message)

    def _reveal(self, public: Iterable[m.Announcement]) -> list[bytes]:
        if m.GameWon not in map(type, public):
            return []
        self._over = True
        first, entries = 0, []
        for texts in chunks(self._texts, MAX_REVEAL_BYTES - _AROUND_TEXTS_BYTES):
            seed, secret = (None, None) if first else (self._header.seed, self._secret)
            entries.append(self._write(Reveal(first, texts, seed=seed, secret=secret)))
            first += len(texts)
        return [*entries, self._write(LogEnd(self._steps, first))]

    def _write(self, body: Opening | LogStep | Reveal | LogEnd) -> bytes:
        text = write_entry(Entry(len(self.entries), self._prev, body, of=self._of))
        self.entries.append(text)
        self._prev = entry_digest(text).hex()
        return text


def is_public(announcement: m.Announcement) -> bool:
    """Whether an announcement is public: the others name their reader."""
    return not hasattr(announcement, "to")


def _counts(step: Step) -> bool:
    """Whether a step without a public announcement changed the game: a clock was restarted, a shot counts."""
    if isinstance(step.command, PUBLIC_INPUTS):
        return True
    return not _SHOTS.isdisjoint(map(type, step.announcements))


def proof_lines(header: Header, steps: Iterable[Step], signer: ServerIdentity) -> list[bytes]:
    """Return a game's log as a file has it: one payload a line, each once."""
    game_log = GameLog(header, signer.signing_key, game_secret(header, signer.sign))
    for step in steps:
        game_log.take_in(step)
    return [sign_entry(text, signer.sign) + b"\n" for text in game_log.entries]


class TableLog:
    """The log of a table's game, signed and ready to publish."""

    def __init__(self, header: Header, signer: ServerIdentity) -> None:
        """Begin the log of a game."""
        self._topic = topics.LOG.of(header.rules.table)
        self._sign = signer.sign
        self._log = GameLog(header, signer.signing_key, game_secret(header, signer.sign))

    def __len__(self) -> int:
        return len(self._log.entries)

    def opening(self) -> list[Publication]:
        """Return the opening."""
        return self.again(0, 1)

    def take_in(self, step: Step) -> list[Publication]:
        """Return what a step adds; when the game begins, all of the lobby once more before it (SALVO-LOG-9)."""
        begun = self._log.begun
        added = self._log.take_in(step)
        if not added:
            return []
        return self.say(self._log.entries if self._log.begun and not begun else added)

    def skip(self, step: Step) -> None:
        """Take in a step whose entries were all published before; nothing is signed for it."""
        self._log.take_in(step)

    def again(self, first: int, most: int) -> list[Publication]:
        """Return up to that many entries again from one on, the same bytes (SALVO-LOG-12)."""
        return self.say(self._log.entries[first : first + most])

    def say(self, texts: Iterable[bytes]) -> list[Publication]:
        """Sign texts."""
        return [Publication(self._topic, sign_entry(text, self._sign), False) for text in texts]


class _Wish:
    """Which part of one game's log is wanted, and who has asked for any of it."""

    def __init__(self) -> None:
        self.next: int | None = None  # the next entry to publish; None for none
        self.askers: dict[str, Bucket] = {}


class Resends:
    """What is to be said again at all tables."""

    def __init__(self, logs: Mapping[str, TableLog]) -> None:
        """Answer out of these logs, by table; a game's log is in there from its opening until the next one's."""
        self._logs = logs
        self._wishes: WeakKeyDictionary[TableLog, _Wish] = WeakKeyDictionary()
        self._wanted: list[str] = []  # tables that wait, the next one first
        self._due = 0
        self._confirmed_at = 0  # how many messages the broker must have confirmed before the next portion

    def ask(self, table: str, player: str, first: int, now: int) -> None:
        """Take a player's request; one that comes too often, or for nothing, changes nothing."""
        log = self._logs.get(table)
        if log is None or first >= len(log):
            return
        wish = self._wishes.setdefault(log, _Wish())
        asker = wish.askers.setdefault(player, Bucket(Rate(MAX_REQUESTS, REQUESTS_A_SECOND), now))
        if not asker.take(now):
            return
        wish.next = first if wish.next is None else min(first, wish.next)
        if table not in self._wanted:
            self._wanted.append(table)

    def is_beyond(self, table: str, first: int) -> bool:
        """Whether a number shows that its team has more of a table's log than there is: more than the next entry."""
        return table in self._logs and first > len(self._logs[table])

    def deadline(self, confirmed: int) -> int | None:
        """Return when the next portion may go out, epoch ms; None while there is none, or the broker is behind.

        Args:
            confirmed: how many messages the broker has confirmed.
        """
        return self._due if self._wanted and confirmed >= self._confirmed_at else None

    def take_due(self, now: int, confirmed: int, published: int) -> list[Publication]:
        """Return the next portion, when it is time for one.

        Args:
            confirmed: how many messages the broker has confirmed.
            published: how many it was sent, or will be before this portion.
        """
        due = self.deadline(confirmed)
        if due is None or now < due:
            return []
        portion: list[Publication] = []
        while self._wanted and len(portion) < MAX_ENTRIES:
            table = self._wanted.pop(0)
            log = self._logs[table]
            wish = self._wishes.get(log)
            if wish is None or wish.next is None:
                continue  # the game is forgotten, and with it who asked
            again = log.again(wish.next, MAX_ENTRIES - len(portion))
            portion += again
            wish.next += len(again)
            if wish.next < len(log):
                self._wanted.append(table)
            else:
                wish.next = None
        self._due = now + PAUSE_MS
        self._confirmed_at = published + len(portion)
        return portion
