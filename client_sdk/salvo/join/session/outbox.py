"""The commands of one team, sealed and signed, and ready to be published."""

from __future__ import annotations

from collections.abc import Sequence

from salvo import messages as m
from salvo.codec import command_writer
from salvo.codec.announcements import Publication
from salvo.codec.log import message_digest
from salvo.join.fairness.witness import Witness
from salvo.join.session.known_table import KnownTable
from salvo.rules import Placement
from salvo.view import Shot
from salvo.wire import topics
from salvo.wire.seal import Sealer, salt_of


class Outbox:
    """Messages to publish, in order; the witness learns what the team commands; every method changes this object.

    Every command is signed when it is written: a repetition never has the bytes of the first one, whose nonce may be
    used up.
    """

    def __init__(self, table: KnownTable, secret: str, sealer: Sealer | None, witness: Witness) -> None:
        self.secret = secret
        self.sealer = sealer or Sealer(secret)
        self._salt_is_drawn = sealer is None
        self._table = table
        self.witness = witness
        self._waiting: list[Publication] = []

    def meet(self, signing_key: bytes) -> None:
        """Use the salt that this team has at this server after every restart, instead of one drawn by chance."""
        if self._salt_is_drawn:
            self.sealer = Sealer(self.secret, salt_of(self._table.team, signing_key))
            self._salt_is_drawn = False

    def take(self) -> list[Publication]:
        """Return the messages, and clear them."""
        waiting, self._waiting = self._waiting, []
        return waiting

    def ask_for_place(self, sealing_key: bytes | None) -> None:
        """Ask to take part; the secret is sealed if the server has a key (SALVO-IDENT-4)."""
        payload = command_writer.write_participation(self._table.team, self.secret, sealing_key)
        self.add(Publication(topics.REQUEST_PARTICIPATION.of(self._table.name), payload, False))

    def place(self, placements: Sequence[Placement]) -> None:
        """Place ships; the log names a message by its digest (SALVO-LOG-8)."""
        digests = []
        for placement in placements:
            topic = topics.PLACE.of(self._table.name, player=self._table.team, ship=placement.ship)
            payload = command_writer.write_placement(placement, self.sealer)
            digests.append(message_digest(topic, payload))
            self.add(Publication(topic, payload, False))
        self.witness.placed(self._table.game, placements, digests)

    def fire(self, context: m.ShotContext, shot: Shot) -> None:
        """Fire a shot, signed for exactly this game, turn, number and target."""
        self.witness.fired(context, shot)
        payload = command_writer.write_shot(shot.x, shot.y, context, self.sealer)
        self.add(Publication(topics.FIRE.of(self._table.name, player=shot.player), payload, False))

    def skip(self, context: m.TurnContext) -> None:
        """End the turn with the shots fired so far (SALVO-BOOK-7)."""
        self.witness.skipped(context)
        self.add(self._own(topics.SKIP, command_writer.write_skip(context, self.sealer)))

    def leave(self) -> None:
        """Leave the lobby (SALVO-JOIN-15)."""
        self.add(self._own(topics.LEAVE, command_writer.write_leave(self._table.game or None, self.sealer)))

    def add(self, publication: Publication) -> None:
        """Publish a message in its turn."""
        self._waiting.append(publication)

    def resend(self, first: int) -> Publication:
        """Return a request for entries of the log (SALVO-LOG-12); it is not part of the game."""
        return self._own(topics.RESEND, command_writer.write_resend(first))

    def say(self, text: str, to: str) -> Publication:
        """Return a chat line; it is not part of the game."""
        return self._own(topics.SAY, command_writer.write_chat(text, to))

    def _own(self, topic: topics.Topic, payload: bytes) -> Publication:
        return Publication(topic.of(self._table.name, player=self._table.team), payload, False)
