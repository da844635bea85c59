"""The commands of one team, sealed and signed, and ready to be published."""

from __future__ import annotations

from salvo import messages as m
from salvo import topics
from salvo.codec.announcements import Publication
from salvo.codec.command_writer import (
    write_leave,
    write_participation,
    write_placement,
    write_resend,
    write_say,
    write_shot,
    write_skip,
)
from salvo.codec.log import message_digest
from salvo.rules import Placement
from salvo.seal import Sealer, salt_of
from salvo.topics import Topic
from salvo.view import Shot


class Outbox:
    """Messages to publish, in order.

    Every command is signed when it is written: a repetition never has the bytes of the first one, whose nonce may be
    used up.
    """

    def __init__(self, name: str, secret: str, table: str, sealer: Sealer | None) -> None:
        self.secret = secret
        self.sealer = sealer or Sealer(secret)
        self._salt_is_drawn = sealer is None
        self._name = name
        self._table = table
        self._waiting: list[Publication] = []

    def meet(self, signing_key: bytes) -> None:
        """Use the salt that this team has at this server after every restart, instead of one drawn by chance."""
        if self._salt_is_drawn:
            self.sealer = Sealer(self.secret, salt_of(self._name, signing_key))
            self._salt_is_drawn = False

    def take(self) -> list[Publication]:
        """Return the messages, and clear them."""
        waiting, self._waiting = self._waiting, []
        return waiting

    def ask_for_place(self, sealing_key: bytes | None) -> None:
        """Ask to take part; the secret is sealed if the server has a key (SALVO-IDENT-4)."""
        payload = write_participation(self._name, self.secret, sealing_key)
        self._waiting.append(Publication(topics.REQUEST_PARTICIPATION.of(self._table), payload, False))

    def place(self, placement: Placement) -> bytes:
        """Place a ship; return what stands for the message in the log (SALVO-LOG-8)."""
        topic = topics.PLACE.of(self._table, player=self._name, ship=placement.ship)
        payload = write_placement(placement, self.sealer)
        self._waiting.append(Publication(topic, payload, False))
        return message_digest(topic, payload)

    def fire(self, context: m.ShotContext, shot: Shot) -> None:
        """Fire a shot, signed for exactly this game, turn, number and target."""
        topic = topics.FIRE.of(self._table, player=shot.player)
        self._waiting.append(Publication(topic, write_shot(shot.x, shot.y, context, self.sealer), False))

    def skip(self, context: m.TurnContext) -> None:
        """End the turn with the shots fired so far (SALVO-BOOK-7)."""
        self._waiting.append(self._own(topics.SKIP, write_skip(context, self.sealer)))

    def leave(self, game: int) -> None:
        """Leave the lobby (SALVO-JOIN-15)."""
        self._waiting.append(self._own(topics.LEAVE, write_leave(game or None, self.sealer)))

    def add(self, publication: Publication) -> None:
        """Publish a message of another kind in its turn."""
        self._waiting.append(publication)

    def resend(self, first: int) -> Publication:
        """Return a request for entries of the log (SALVO-LOG-12); it is not part of the game."""
        return self._own(topics.RESEND, write_resend(first))

    def say(self, text: str, to: str) -> Publication:
        """Return a chat line; it is not part of the game."""
        return self._own(topics.SAY, write_say(text, to))

    def _own(self, topic: Topic, payload: bytes) -> Publication:
        return Publication(topic.of(self._table, player=self._name), payload, False)
