"""A table: the referee and its announcements, the deterministic core of a server.

The service, recovery and replay all drive this one class, so what they see is the same by construction. Every step
is chained: its check covers the step before, the time, the input and the bytes of every announcement that followed.
Equal checks mean equal games, and a record that was changed, lost or put elsewhere breaks the chain.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, MutableMapping, Sequence
from dataclasses import replace

from salvo import messages as m
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.announcements import Publication
from salvo.codec.header import Header, write_header
from salvo.codec.steps import write_input
from salvo.system.distribution import __version__
from salvo.wire import topics
from salvo_game.referee import Referee
from salvo_game.table_step import Step

#: What stays retained after a reset (SALVO-END-4).
_STAYS = (topics.STATE, topics.RULES, topics.SERVER)
CHECK_BYTES = 16


class Table:
    """One referee with the retained topics that it is responsible for.

    Attributes:
        name: empty for the default table.
        header: what the game in play, or the lobby, is played by.
        retained: payload by topic, of all that the broker should retain.
        steps: how many steps the game has had.
        check: the chain's value; the header's when there was no step yet.
    """

    def __init__(self, referee: Referee, status: Callable[[Referee], m.ServerStatus]) -> None:
        """Set a table; ``status`` makes what ``/game/server`` says of it."""
        self.referee = referee
        self.name = referee.table
        self._empty = {topics.COUNT.of(self.name): b"0", topics.LIST.of(self.name): b"[]"}
        self.retained = dict(self._empty)
        self._status = status
        self._begin_game()

    @property
    def title(self) -> str:
        """What an operator calls it."""
        return f"table {self.name}" if self.name else "the default table"

    def _begin_game(self) -> None:
        self._terms = terms = self.referee.terms
        self.header = Header(__version__, terms.number, str(terms.seed), terms.rules, terms.limits, terms.draw)
        self.steps = 0
        self.check = header_check(self.header)

    def open(self) -> tuple[Sequence[m.Announcement], list[Publication]]:
        """Say what a table says when it opens."""
        announcements = self.referee.open()
        return announcements, self._write(announcements)

    def carry_out(self, command: m.Input, at: int) -> Step:
        """Give the referee an input and write down what follows."""
        number = self._terms.number
        if self.header.draw is m.Draw.SEED and isinstance(command, m.PlaceShip) and command.message:
            command = replace(command, message=b"")  # its random bytes are not part of a game that the seed decides
        announcements, recorded = self.referee.decide(command, at)
        publications = self._write(announcements, command)
        text = ""
        if recorded:
            text = write_input(command)
            self.check = _chain(self.check, at, text, publications)
            self.steps += 1
        step = Step(self.name, number, at, command, recorded, text, announcements, publications, self.check)
        if self.referee.terms is not self._terms:
            self._begin_game()
        return step

    def give_up(self, at: int) -> Step:
        """Open the next lobby in place of a game that cannot go on; record and log of that game stay as they are."""
        number, check = self._terms.number, self.check
        command = m.HostCommand(m.TERMINAL_HOST, m.HostAction.NEXT)
        announcements = self.referee.give_up()
        publications = self._write(announcements)
        self._begin_game()
        return Step(self.name, number, at, command, False, "", announcements, publications, check)

    def write_status(self, status: m.ServerStatus) -> list[Publication]:
        """Write the server's status and keep it as retained."""
        return [changed for each in write_announcement(status, self.name) if (changed := self._retain(each))]

    def _write(self, announcements: Iterable[m.Announcement], command: m.Input | None = None) -> list[Publication]:
        written: list[Publication] = []
        for announcement in announcements:
            match announcement:
                case m.Recap():
                    pass  # sealed and published by the service, which has the keys
                case m.TableOpened():
                    written += self.write_status(self._status(self.referee))
                case m.PlayerLeft(player):
                    written += self._clear(player)
                case m.TableReset():
                    written += self._clear()
                case m.PlacementRefused():
                    written += self._write_refusal(announcement, command, written)
                case m.PlacementJudged(approved=False) if self._is_placed(announcement.player, announcement.spelling):
                    written += [each._replace(retain=False) for each in write_announcement(announcement, self.name)]
                case _:
                    for publication in write_announcement(announcement, self.name):
                        if not publication.retain or self._retain(publication):
                            written.append(publication)
        return written

    def _write_refusal(
        self, refusal: m.PlacementRefused, command: m.Input | None, written: Sequence[Publication]
    ) -> list[Publication]:
        """Write the refusal of a placement: first `false`, unless that is written already (SALVO-PLACE-9).

        It is not retained: the ship's last good placement stays in force. Without proof of the sender nothing is
        published against a ship that is in place.
        """
        error = write_announcement(refusal, self.name)
        approved = topics.APPROVED.of(self.name, player=refusal.to, ship=refusal.spelling)
        unproven = isinstance(command, m.Unreadable) and not command.proven
        decided = any(each.topic == approved for each in written)
        if decided or (unproven and self._is_placed(refusal.to, refusal.spelling)):
            return error
        return [Publication(approved, b"false", False), *error]

    def _is_placed(self, player: str, spelling: str) -> bool:
        """Whether a ship has its place, whatever is refused of it: its topic retains `true` (SALVO-PLACE-9)."""
        return self.retained.get(topics.APPROVED.of(self.name, player=player, ship=spelling)) == b"true"

    def _retain(self, publication: Publication) -> Publication | None:
        """Note what becomes retained; None for clearing what was not there."""
        topic, payload, retain = publication
        if retain:
            if payload:
                self.retained[topic] = payload
            elif self.retained.pop(topic, None) is None:
                return None
        return publication

    def _clear(self, player: str | None = None) -> list[Publication]:
        """Clear what is retained about a player, or at a reset about all: an empty lobby has 0 and []."""
        gone = []
        for topic, payload in self.retained.items():
            address = topics.parse(topic)
            cleared = self._empty.get(topic, b"")
            if payload != cleared and (address.topic not in _STAYS if player is None else address.player == player):
                gone.append(Publication(topic, cleared, True))
        return [changed for each in gone if (changed := self._retain(each))]


def header_check(header: Header) -> bytes:
    """Return the chain's value of a game before its first step.

    The server's version is not part of it: another one may execute the game again.
    """
    text = write_header(replace(header, version=""))
    return hashlib.blake2b(text.encode(), digest_size=CHECK_BYTES).digest()


def _chain(previous: bytes, at: int, text: str, publications: Iterable[Publication]) -> bytes:
    digest = hashlib.blake2b(previous, digest_size=CHECK_BYTES)
    digest.update(b"%d\0%s" % (at, text.encode()))
    for topic, payload, _ in publications:
        if not topic.endswith("/game/server"):  # contains the server's version, which is not part of the game
            digest.update(b"\0%s\0%s" % (topic.encode(), payload))
    return digest.digest()


def seat(header: Header) -> Referee:
    """Return a referee for the game of a header."""
    rules = header.rules
    return Referee(header.seed, rules.table, rules.book, header.limits, header.game, header.draw)


class Follower:
    """Follows the tables' steps, and publishes something about them; this one, nothing.

    Attributes:
        retained: payload by topic, of what the broker should retain for it now.
    """

    def __init__(self) -> None:
        self.retained: MutableMapping[str, bytes] = {}

    def open(self, table: Table) -> None:
        """Take in a table that opens its first lobby; what is retained of it is published with the connection."""

    def follow(self, table: Table, step: Step) -> list[Publication]:
        """Take in a step; return what is to be published at once."""
        return []

    def take_ready(self) -> list[Publication]:
        """Return what was made beside the loop since the last call; it wakes the loop for that."""
        return []
