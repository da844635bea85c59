"""Recaps: what a team may know of its game, sealed for that team alone (SALVO-JOIN-12)."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future
from typing import NamedTuple

from salvo.codec.announcements import Publication
from salvo.codec.recap_writer import write_recap
from salvo.wire import topics
from salvo.wire.seal import NONCE_BYTES, SALT_BYTES, key_to_team, make_blob
from salvo_game.table import Table
from salvo_server.core.keyring import KeyOwner, Keyring, KeyWorker


class _Derivation(NamedTuple):
    table: str
    member: KeyOwner
    salt: bytes
    key: Future[bytes]


class Recaps:
    """Writes the recaps of all tables, as soon as there is a key to seal them with."""

    def __init__(self, tables: Mapping[str, Table], keyring: Keyring, worker: KeyWorker) -> None:
        """Seal with the teams' keys; the worker derives one for a team that has not proven any."""
        self._tables = tables
        self._keyring = keyring
        self._worker = worker
        self._waiting: deque[_Derivation] = deque()

    def recall(self, table: str, player: str) -> list[Publication]:
        """Return a player's recap, as of now; nothing while its key is being derived, and for one who does not play."""
        referee = self._tables[table].referee
        recap = referee.recap(player)
        if recap is None:
            return []
        sealed = self.seal(table, player, write_recap(recap, referee.book.grid))
        return [] if sealed is None else [Publication(topics.RECAP.of(table, player=player), sealed, False)]

    def seal(self, table: str, name: str, plaintext: bytes) -> bytes | None:
        """Seal a text for a team, or start to derive a key; :meth:`take_due` tries again when it is there."""
        member = self._keyring.member(table, name)
        if member is None:
            return None
        if member.keys:
            salt = next(reversed(member.keys))
            nonce = self._keyring.random_bytes(NONCE_BYTES)
            return make_blob(plaintext, key_to_team(member.keys[salt]), salt, nonce).encode()
        if not any(waiting.member is member for waiting in self._waiting):
            salt = self._keyring.random_bytes(SALT_BYTES)
            self._waiting.append(_Derivation(table, member, salt, self._worker.derive(member.secret, salt)))
        return None

    def take_due(self) -> list[Publication]:
        """Return the recaps that waited for a key that is there now.

        They are written now, because news may have gone out while the worker was busy.
        """
        ready: list[Publication] = []
        while self._waiting and self._waiting[0].key.done():
            table, member, salt, key = self._waiting.popleft()
            self._keyring.learn(table, member, salt, key.result())
            ready += self.recall(table, member.name)
        return ready
